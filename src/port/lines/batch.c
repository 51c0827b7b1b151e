// Removes the sample axis. If one symbolic axis leads every input and output and all lines only map
// over it, it is removed from the types, so that the model takes one sample and can be trained on
// data. The axis may be merged with others on the way, as samples with heads; then the rest of the
// merged axis stays.
#include "base/number.h"
#include "base/words.h"
#include "port/lines/lines.h"

// Where the sample axis is in a value. If merged: `inner` is the number of elements per sample.
typedef struct {
  int axis; // -1: nowhere
  bool grouped;
  ImpSize inner, rest; // rest: the merged size without the samples
} BatchPlace;

typedef struct {
  Importer *m;
  const char *name;  // of the size
  BatchPlace *place; // [value]
} Batch;

// The letter of the sample axis in a line, and that of a merged axis which is mapped over as a
// whole.
typedef struct {
  const char *at;
  size_t n;
} BatchLetter;
typedef struct {
  const ImpLine *line;
  BatchLetter sample, group;
} BatchLine;

// False: samples are merged with other axes in an unsupported way.
static bool place_find(const Batch *b, const ImpValue *v, BatchPlace *out) {
  *out = (BatchPlace){.axis = -1};
  for (uint32_t i = 0; i < v->shape.rank; i++) {
    ImpSize size = v->shape.dim[i];
    if (!text_has_word(size.text, b->name)) continue;
    if (out->axis >= 0 || !dim_divide(b->m, size, (ImpSize){-1, b->name}, &out->rest)) return false;
    if (text_has_word(out->rest.text, b->name)) return false;
    out->axis = (int)i;
    out->grouped = strcmp(size.text, b->name) != 0;
  }
  return true;
}

static const char *index_at(const char *list, int axis, size_t *n) {
  const char *at = list;
  if (*at == '@') at++;
  for (int k = 0; (at = next_index(at, n)); at += *n, k++)
    if (k == axis) return at;
  return NULL;
}

static bool is_letter(const char *at, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!char_is_word(at[i])) return false;
  return n && char_is_letter(*at);
}

static bool letter_agrees(BatchLetter *letter, const char *at, size_t n) {
  if (letter->at) return letter->n == n && !memcmp(letter->at, at, n);
  *letter = (BatchLetter){at, n};
  return true;
}

// -- groups ---------------------------------------------------------------------------------------
// The next element of a group "(j:N k l)": its letter, and its size if written; or NULL.
static const char *element(const char *at, size_t *n, const char **size, size_t *wide) {
  while (*at == ' ' || *at == '(') at++;
  for (*n = 0; char_is_word(at[*n]);) (*n)++;
  *size = at[*n] == ':' ? at + *n + 1 : NULL;
  *wide = *size ? strcspn(*size, " )") : 0;
  return *n && char_is_letter(*at) ? at : NULL;
}

static bool size_find(const char *list, const ImpValue *v, BatchLetter letter, ImpSize *out) {
  size_t n;
  for (uint32_t k = 0; list && k < v->shape.rank; k++) {
    const char *at = index_at(list, (int)k, &n);
    if (!at || n != letter.n || memcmp(at, letter.at, n) != 0) continue;
    *out = v->shape.dim[k];
    return true;
  }
  return false;
}

// A size written in the list, as in "(k:2 l)".
static bool size_written(const Batch *b, const char *list, BatchLetter letter, ImpSize *out) {
  for (const char *at = list; at && *at;) {
    size_t k = 0;
    while (char_is_word(at[k])) k++;
    if (k == letter.n && !memcmp(at, letter.at, k) && at[k] == ':') {
      const char *rest, *text = arena_text(b->m->arena, at + k + 1, strcspn(at + k + 1, " )"));
      double x = number_read(text, &rest);
      *out = *rest ? (ImpSize){-1, text} : dim_of((int64_t)x);
      return true;
    }
    at += k ? k : 1;
  }
  return false;
}

static bool letter_size(const Batch *b, const ImpLine *l, BatchLetter letter, ImpSize *out) {
  if (size_find(l->form.left, value_at(b->m, l->out.at[0]), letter, out)) return true;
  if (size_written(b, l->form.left, letter, out)) return true;
  for (uint32_t i = 0; i < l->read.n; i++)
    if (size_find(l->read.at[i].index, value_at(b->m, l->read.at[i].value), letter, out) ||
        size_written(b, l->read.at[i].index, letter, out))
      return true;
  return false;
}

// The number of elements after the samples in a group.
static bool group_inner(const Batch *b, const BatchLine *l, const char *group, ImpSize *inner) {
  size_t n, wide;
  const char *size, *end = group + strcspn(group, ")");
  bool seen = false;
  *inner = dim_of(1);
  for (const char *at = group; (at = element(at, &n, &size, &wide)) && at < end;
       at += n + (size ? wide + 1 : 0)) {
    bool sample = n == l->sample.n && !memcmp(at, l->sample.at, n);
    if (sample && seen) return false;
    ImpSize one;
    if (seen && !letter_size(b, l->line, (BatchLetter){at, n}, &one)) return false;
    if (seen) *inner = dim_op(b->m, '*', *inner, one);
    seen |= sample;
  }
  return seen;
}

// The index list without the sample axis.
static const char *index_without(const Batch *b, const BatchLine *l, const char *list, int axis) {
  Buf out = buf_new(b->m->arena);
  size_t n, k, wide;
  const char *at = index_at(list, axis, &n), *size;
  buf_add(&out, list, (size_t)(at - list));
  const char *after = at + n;
  if (*at == '(') {
    Buf inside = buf_new(b->m->arena);
    uint32_t left = 0;
    for (const char *e = at; (e = element(e, &k, &size, &wide)) && e < after;
         e += k + (size ? wide + 1 : 0)) {
      if (k == l->sample.n && !memcmp(e, l->sample.at, k)) continue;
      buf_printf(&inside, "%s%.*s", left++ ? " " : "", (int)(k + (size ? wide + 1 : 0)), e);
    }
    const char *colon = left == 1 ? strchr(inside.at, ':') : NULL;
    if (colon) inside.n = (size_t)(colon - inside.at), inside.at[inside.n] = 0;
    buf_printf(&out, left > 1 ? "(%s)" : "%s", left ? inside.at : "");
  } else {
    while (*after == ' ') after++;
  }
  buf_text(&out, after);
  while (out.n && out.at[out.n - 1] == ' ') out.at[--out.n] = 0;
  return out.n ? out.at : "";
}

static const char *list_without_samples(const Batch *b, const BatchLine *l, const char *list,
                                        const BatchPlace *p) {
  size_t n;
  const char *at = list && p->axis >= 0 ? index_at(list, p->axis, &n) : NULL;
  return !at || (p->grouped && *at != '(') ? list : index_without(b, l, list, p->axis);
}

// -- lines ----------------------------------------------------------------------------------------
// Finds the letter of the sample axis, from where it is alone or has its size written.
static bool sample_letter(const Batch *b, BatchLine *l, const char *list, const BatchPlace *p) {
  size_t n, wide;
  const char *size, *at = list && p->axis >= 0 ? index_at(list, p->axis, &n) : NULL;
  if (p->axis < 0 || !list) return true;
  if (!at) return false;
  if (!p->grouped) return is_letter(at, n) && letter_agrees(&l->sample, at, n);
  if (*at != '(') return is_letter(at, n) && letter_agrees(&l->group, at, n);
  const char *end = at + n;
  for (at++; at < end && (at = element(at, &n, &size, &wide)); at += n + (size ? wide + 1 : 0))
    if (size && wide == strlen(b->name) && !memcmp(size, b->name, wide) &&
        !letter_agrees(&l->sample, at, n))
      return false;
  return true;
}

// A merged axis must be split as it was merged.
static bool group_agrees(const Batch *b, const BatchLine *l, const char *list, BatchPlace *p,
                         ImpSize *passing) {
  size_t n;
  ImpSize inner;
  if (p->axis < 0 || !p->grouped) return true;
  if (!list) return false;
  if (*index_at(list, p->axis, &n) == '(') {
    if (!l->sample.at || !group_inner(b, l, index_at(list, p->axis, &n), &inner)) return false;
    bool first = dim_is(p->inner, 0);
    if (first) p->inner = inner;
    return first || dim_same(p->inner, inner);
  }
  if (dim_is(p->inner, 0)) p->inner = *passing;
  if (dim_is(*passing, 0)) *passing = p->inner;
  return !dim_is(p->inner, 0) && dim_same(*passing, p->inner);
}

static bool line_groups(const Batch *b, const BatchLine *l) {
  const ImpLine *line = l->line;
  ImpSize passing = dim_of(0);
  for (uint32_t i = 0; i < line->read.n; i++) {
    BatchPlace *p = &b->place[line->read.at[i].value];
    if (p->axis >= 0 && p->grouped && dim_is(p->inner, 0)) return false;
    if (!group_agrees(b, l, line->read.at[i].index, p, &passing)) return false;
  }
  BatchPlace *out = &b->place[line->out.at[0]];
  if (out->axis < 0 || !out->grouped) return !l->group.at;
  if (line->form.left) return group_agrees(b, l, line->form.left, out, &passing);
  out->inner = passing;
  return !dim_is(passing, 0);
}

static bool letter_elsewhere(const Batch *b, const BatchLine *l, BatchLetter letter) {
  const ImpLine *line = l->line;
  const char *left = list_without_samples(b, l, line->form.left, &b->place[line->out.at[0]]);
  if (text_has_part(line->form.right, letter.at, letter.n)) return true;
  if (text_has_part(left, letter.at, letter.n)) return true;
  for (uint32_t i = 0; i < line->read.n; i++) {
    const ImpRead *r = &line->read.at[i];
    const char *list = list_without_samples(b, l, r->index, &b->place[r->value]);
    if (text_has_part(list, letter.at, letter.n)) return true;
  }
  return false;
}

static bool line_letters(const Batch *b, BatchLine *l) {
  const ImpLine *line = l->line;
  const BatchPlace *out = &b->place[line->out.at[0]];
  if (line->out.n > 1 && (line->form.left || out->grouped)) return false;
  if (!sample_letter(b, l, line->form.left, out)) return false;
  for (uint32_t i = 0; i < line->read.n; i++) {
    const ImpRead *r = &line->read.at[i];
    if (!r->index && line->form.left && b->place[r->value].axis >= 0) return false;
    if (!sample_letter(b, l, r->index, &b->place[r->value])) return false;
  }
  return true;
}

static bool line_passes(const Batch *b, BatchLine *l) {
  bool loops = !strncmp(l->line->form.right, "scan[", 5); // a scan runs along the first axis
  if (loops && b->place[l->line->read.at[0].value].axis == 0) return false;
  if (text_has_word(l->line->form.right, b->name) || !line_letters(b, l)) return false;
  if (l->group.at && text_has_part(l->line->form.right, l->group.at, l->group.n)) return false;
  if (!line_groups(b, l)) return false;
  return !l->sample.at || !letter_elsewhere(b, l, l->sample);
}

static void line_strip(const Batch *b, ImpLine *line) {
  BatchLine l = {.line = line};
  line_letters(b, &l);
  const char *left = list_without_samples(b, &l, line->form.left, &b->place[line->out.at[0]]);
  for (uint32_t i = 0; i < line->read.n; i++) {
    ImpRead *r = &line->read.at[i];
    r->index = list_without_samples(b, &l, r->index, &b->place[r->value]);
  }
  line->form.left = left;
}

// -- the model ------------------------------------------------------------------------------------
static bool samples_lead(const Batch *b, const Ids *list) {
  for (uint32_t i = 0; i < list->n; i++)
    if (b->place[list->at[i]].axis != 0 || b->place[list->at[i]].grouped) return false;
  return list->n;
}

static bool lines_pass(const Batch *b, const ImpLine *line, uint32_t n, const bool *live) {
  Importer *m = b->m;
  for (uint32_t i = 0; i < n; i++) {
    const ImpLine *l = &line[i];
    if (live && !live[i]) continue;
    for (uint32_t k = 0; k < l->out.n; k++)
      if (!place_find(b, value_at(m, l->out.at[k]), &b->place[l->out.at[k]])) return false;
    if (!line_passes(b, &(BatchLine){.line = l})) return false;
  }
  return true;
}

static bool cell_passes(const Batch *b, const ImpCell *c) {
  for (uint32_t i = 0; i < c->in.n; i++)
    if (!place_find(b, value_at(b->m, c->in.at[i]), &b->place[c->in.at[i]])) return false;
  return lines_pass(b, c->line.at, c->line.n, NULL);
}

static bool all_pass(const Batch *b, const bool *live) {
  Importer *m = b->m;
  if (!lines_pass(b, m->line.at, m->line.n, live)) return false;
  for (uint32_t i = 0; i < m->cell.n; i++)
    if (!cell_passes(b, &m->cell.at[i])) return false;
  for (uint32_t i = 0; i < m->box.n; i++)
    if (text_has_word(m->box.at[i], b->name)) return false;
  return samples_lead(b, &m->output);
}

void batch_axis_remove(Importer *m, const bool *live) {
  Batch b = {.m = m, .place = NEW_ARRAY(m->arena, BatchPlace, m->value.n)};
  if (!m->input.n || !value_at(m, m->input.at[0])->shape.rank) return;
  b.name = value_at(m, m->input.at[0])->shape.dim[0].text;
  if (!b.name || strpbrk(b.name, "+-*/(")) return;
  for (uint32_t i = 1; i < m->value.n; i++) b.place[i].axis = -1;
  for (uint32_t i = 0; i < m->input.n; i++)
    if (!place_find(&b, value_at(m, m->input.at[i]), &b.place[m->input.at[i]])) return;
  if (!samples_lead(&b, &m->input) || !all_pass(&b, live)) return;
  for (uint32_t i = 0; i < m->line.n; i++)
    if (live[i]) line_strip(&b, &m->line.at[i]);
  for (uint32_t i = 0; i < m->cell.n; i++)
    for (uint32_t k = 0; k < m->cell.at[i].line.n; k++) line_strip(&b, &m->cell.at[i].line.at[k]);
  for (uint32_t i = 1; i < m->value.n; i++) {
    ImpShape *s = &value_at(m, i)->shape;
    int axis = b.place[i].axis;
    if (axis < 0) continue;
    if (b.place[i].grouped) {
      s->dim[axis] = b.place[i].rest;
      continue;
    }
    s->rank--;
    for (uint32_t k = (uint32_t)axis; k < s->rank; k++) s->dim[k] = s->dim[k + 1];
  }
}
