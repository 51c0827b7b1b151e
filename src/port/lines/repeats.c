// Finds repeated blocks: sequences of lines that occur several times in a row, each applied to the
// previous result, become a box, `block ^ 12`, with its weights inside. Candidates are found by
// hashes of lines; then the reads are compared.
#include "base/hash.h"
#include "base/number.h"
#include "port/lines/lines.h"

enum { LINES_LIMIT = 4000, LEAST_SAVED = 4 };
#define NOWHERE UINT32_MAX // a macro: an enumerator of this value would not fit int

typedef struct {
  Importer *m;
  bool *live;
  uint32_t *order; // the live lines in order
  uint32_t n;
  uint64_t *hash;     // [n]
  bool generic;       // repetitions may differ in sizes
  uint32_t *position; // [value] the position of the line that makes it
} Repeats;

// `n` lines from `first`, repeated `times` times.
typedef struct {
  uint32_t first, n, times;
  uint32_t carry; // the line whose result enters the next repetition
  Id in;
  Ids more; // values read by every repetition
  struct {
    uint32_t line, part; // its first occurrence
  } size[3];             // options of boxes that differ between repetitions
  uint32_t sizes;
} Repeat;

static ImpLine *live_line(const Repeats *r, uint32_t i) { return &r->m->line.at[r->order[i]]; }

// -- hashes of lines ------------------------------------------------------------------------------
static uint64_t hash_text(uint64_t h, const char *text) {
  return hash_bytes(h, text ? text : "-", text ? strlen(text) + 1 : 2);
}

static uint64_t hash_shape(const Repeats *r, uint64_t h, const ImpValue *v) {
  h = hash_bytes(h, &v->type, sizeof v->type);
  h = hash_bytes(h, &v->labels, sizeof v->labels);
  for (uint32_t i = 0; i < v->shape.rank; i++) h = hash_text(h, dim_text(r->m, v->shape.dim[i]));
  return hash_text(h, ";");
}

static bool is_private(const ImpValue *v) {
  return v->kind == IMP_WEIGHT && v->reads == 1 && !v->box;
}

static uint64_t hash_line(const Repeats *r, const ImpLine *l) {
  uint64_t h =
      hash_text(hash_text(hash_text(HASH_START, l->form.left), l->form.right), l->form.pad);
  for (uint32_t i = 0; i < l->part.n; i++) h = hash_text(h, l->part.at[i].text);
  for (uint32_t i = 0; i < l->out.n; i++) h = hash_shape(r, h, value_at(r->m, l->out.at[i]));
  for (uint32_t i = 0; i < l->read.n; i++) {
    const ImpValue *v = value_at(r->m, l->read.at[i].value);
    h = hash_shape(r, hash_text(h, l->read.at[i].index), v);
    h = hash_text(h, is_private(v) ? "own" : "");
    if (value_is_number(v)) h = hash_bytes(h, v->data, sizeof *v->data);
  }
  return h;
}

// -- sizes that differ ----------------------------------------------------------------------------
// The leading number of a box's options, `conv2d[16, …`: its offset and length; 0: none.
static size_t number_at(const char *text, size_t *n) {
  size_t at = strcspn(text, "[");
  *n = 0;
  if (!text[at]) return 0;
  while (text[at + 1 + *n] >= '0' && text[at + 1 + *n] <= '9') (*n)++;
  return *n ? at + 1 : 0;
}

static bool is_wire_read(const Repeats *r, const ImpRead *read) {
  const ImpValue *v = value_at(r->m, read->value);
  return value_is_number(v) || (v->kind != IMP_WEIGHT && v->kind != IMP_CONST && !v->labels);
}

// A hash independent of sizes. Only boxes and elementwise arithmetic have no sizes written in them.
static uint64_t hash_generic(const Repeats *r, uint32_t i, const ImpLine *l) {
  uint64_t alone = hash_bytes(HASH_START, &i, sizeof i), h = hash_text(HASH_START, l->form.right);
  if (l->out.n != 1 || (!l->part.n && !line_is_placewise(r->m, l))) return alone;
  for (uint32_t k = 0; k < l->part.n; k++) {
    const char *text = l->part.at[k].text;
    size_t n, at = number_at(text, &n);
    h = hash_text(hash_bytes(h, text, at), text + at + (at ? n : 0));
  }
  for (uint32_t k = 0; k < l->read.n; k++) {
    const ImpValue *v = value_at(r->m, l->read.at[k].value);
    if (!is_wire_read(r, &l->read.at[k])) return alone;
    h = hash_bytes(h, &v->shape.rank, sizeof v->shape.rank);
    if (value_is_number(v)) h = hash_bytes(h, v->data, sizeof *v->data);
  }
  return h;
}

static int64_t part_number(const Repeats *r, uint32_t line, uint32_t part) {
  const char *text = live_line(r, line)->part.at[part].text;
  size_t n, at = number_at(text, &n);
  return at ? (int64_t)number_read(arena_text(r->m->arena, text + at, n), NULL) : 0;
}

static bool numbers_same(const Repeats *r, const Repeat *p, uint32_t line, uint32_t part,
                         uint32_t as_line, uint32_t as_part) {
  for (uint32_t time = 0; time < p->times; time++)
    if (part_number(r, p->first + time * p->n + line, part) !=
        part_number(r, p->first + time * p->n + as_line, as_part))
      return false;
  return true;
}

// The index of the size that this option is; p->sizes: none.
static uint32_t size_of_part(const Repeats *r, const Repeat *p, uint32_t line, uint32_t part) {
  uint32_t k = 0;
  while (k < p->sizes && !numbers_same(r, p, line, part, p->size[k].line, p->size[k].part)) k++;
  return k;
}

static bool part_differs(const Repeats *r, const Repeat *p, uint32_t line, uint32_t part) {
  for (uint32_t time = 1; time < p->times; time++)
    if (part_number(r, p->first + time * p->n + line, part) !=
        part_number(r, p->first + line, part))
      return true;
  return false;
}

// Collects the options that differ; false: too many.
static bool sizes_found(const Repeats *r, Repeat *p) {
  p->sizes = 0;
  for (uint32_t i = 0; i < p->n; i++)
    for (uint32_t k = 0; k < live_line(r, p->first + i)->part.n; k++) {
      if (!part_differs(r, p, i, k)) continue;
      uint32_t which = size_of_part(r, p, i, k);
      if (which == COUNT(p->size)) return false;
      if (which == p->sizes) p->size[p->sizes].line = i, p->size[p->sizes++].part = k;
    }
  return true;
}

static uint32_t weight_of(const Repeats *r, uint32_t first, uint32_t n) {
  uint32_t sum = 0;
  for (uint32_t i = first; i < first + n; i++)
    sum += live_line(r, i)->part.n ? live_line(r, i)->part.n : 1;
  return sum;
}

// -- whether it is a repeat -----------------------------------------------------------------------
// The position of a value's line within a repetition; NOWHERE: not made in it.
static uint32_t place_in(const Repeats *r, const Repeat *p, uint32_t time, Id v) {
  uint32_t at = r->position[v], from = p->first + time * p->n;
  return at != NOWHERE && at >= from && at < from + p->n ? at - from : NOWHERE;
}

static bool ids_has(const Ids *list, Id v) {
  for (uint32_t i = 0; i < list->n; i++)
    if (list->at[i] == v) return true;
  return false;
}

static bool same_numbers(const ImpValue *a, const ImpValue *b) {
  if (a->kind != IMP_CONST || b->kind != IMP_CONST || !a->data || !b->data) return false;
  int64_t n = shape_count(&a->shape);
  return n >= 0 && n == shape_count(&b->shape) &&
         !memcmp(a->data, b->data, (size_t)n * sizeof *a->data);
}

// Compares a read of the first repetition with that of a later one.
static bool read_repeats(const Repeats *r, Repeat *p, uint32_t time, Id first, Id later) {
  uint32_t here = place_in(r, p, 0, first), there = place_in(r, p, time, later);
  const ImpValue *a = value_at(r->m, first), *b = value_at(r->m, later);
  if (here != NOWHERE || there != NOWHERE) return here == there;
  if ((is_private(a) && is_private(b)) || same_numbers(a, b)) return true;
  if (first == later) {
    if (!ids_has(&p->more, first)) vec_push(r->m->arena, &p->more, first);
    return true;
  }
  uint32_t before = place_in(r, p, time - 1, later);
  if (before == NOWHERE) return false;
  if (p->carry == NOWHERE) p->carry = before, p->in = first;
  return p->carry == before && p->in == first;
}

// Values made in a repetition are read in it only; the result is read by the next one, and the last
// result by anyone.
static bool stays_inside(const Repeats *r, const Repeat *p) {
  uint32_t end = p->first + p->n * p->times, last = p->first + p->n * (p->times - 1) + p->carry;
  for (uint32_t i = p->first; i < r->n; i++)
    for (uint32_t k = 0; k < live_line(r, i)->read.n; k++) {
      uint32_t at = r->position[live_line(r, i)->read.at[k].value];
      if (at == NOWHERE || at < p->first || at >= end) continue;
      uint32_t from = (at - p->first) / p->n, to = (i - p->first) / p->n;
      if (i < end && from == to) continue;
      bool pass_to_steps =
          (at - p->first) % p->n == p->carry && (i < end ? to == from + 1 : at == last);
      if (!pass_to_steps) return false;
    }
  for (uint32_t i = 0; i < r->m->output.n; i++) {
    uint32_t at = r->position[r->m->output.at[i]];
    if (at != NOWHERE && at >= p->first && at < end && at != last) return false;
  }
  return true;
}

static bool shapes_equal(const ImpValue *a, const ImpValue *b) {
  if (a->shape.rank != b->shape.rank || a->type != b->type || a->labels || b->labels) return false;
  for (uint32_t i = 0; i < a->shape.rank; i++)
    if (!dim_same(a->shape.dim[i], b->shape.dim[i])) return false;
  return true;
}

static bool is_repeat(const Repeats *r, Repeat *p) {
  p->carry = NOWHERE, p->in = 0, p->more.n = 0;
  for (uint32_t i = 0; i < p->n; i++) {
    const ImpLine *first = live_line(r, p->first + i);
    if (first->out.n != 1 || !strncmp(first->form.right, "scan[", 5)) return false;
    for (uint32_t k = 0; k < first->part.n; k++)
      if (first->part.at[k].block) return false;
    for (uint32_t time = 1; time < p->times; time++) {
      const ImpLine *later = live_line(r, p->first + time * p->n + i);
      for (uint32_t k = 0; k < first->read.n; k++)
        if (!read_repeats(r, p, time, first->read.at[k].value, later->read.at[k].value))
          return false;
    }
  }
  if (p->carry == NOWHERE || ids_has(&p->more, p->in)) return false;
  if (r->generic)
    return !p->more.n && value_at(r->m, p->in)->kind != IMP_CONST && sizes_found(r, p) &&
           stays_inside(r, p);
  const ImpValue *in = value_at(r->m, p->in),
                 *out = value_at(r->m, live_line(r, p->first + p->carry)->out.at[0]);
  return in->kind != IMP_CONST && shapes_equal(in, out) && stays_inside(r, p);
}

// The number of repetitions of the lines from here on; 1: not repeated.
static uint32_t count_repetitions(const Repeats *r, uint32_t first, uint32_t n) {
  uint32_t times = 1;
  for (;; times++) {
    uint32_t at = first + times * n;
    if (at + n > r->n) return times;
    for (uint32_t i = 0; i < n; i++)
      if (r->hash[first + i] != r->hash[at + i]) return times;
  }
}

static bool best_repeat(const Repeats *r, Repeat *best) {
  uint32_t saved = LEAST_SAVED;
  for (uint32_t first = 0; first < r->n; first++)
    for (uint32_t n = 1; first + 2 * n <= r->n; n++) {
      if (r->hash[first] != r->hash[first + n]) continue;
      Repeat p = {.first = first, .n = n, .times = count_repetitions(r, first, n)};
      for (; p.times > 1; p.times--) {
        uint32_t saves = weight_of(r, first, n) * (p.times - 1);
        if (saves <= saved) break;
        if (!is_repeat(r, &p)) continue;
        saved = saves, *best = p;
        break;
      }
    }
  return saved > LEAST_SAVED;
}

// -- the box --------------------------------------------------------------------------------------
static size_t common(const char *a, const char *b) {
  size_t n = 0;
  while (a[n] && a[n] == b[n]) n++;
  return n;
}

// The common prefix of all names of the first repetition, up to a /; or "".
static const char *scope_of(const Repeats *r, const Repeat *p) {
  const char *scope = NULL;
  for (uint32_t i = p->first; i < p->first + p->n; i++) {
    const char *name = value_at(r->m, live_line(r, i)->out.at[0])->onnx;
    size_t n = scope ? common(scope, name) : strlen(name);
    scope = arena_text(r->m->arena, scope ? scope : name, n);
  }
  size_t n = strlen(scope);
  while (n && scope[n - 1] != '/') n--;
  return arena_text(r->m->arena, scope, n);
}

// "/encoder/layers.0/" becomes `layers`.
static const char *box_name(const Repeats *r, const char *scope) {
  size_t end = strlen(scope);
  while (end && !char_is_letter(scope[end - 1])) end--;
  size_t from = end;
  while (from && (char_is_word(scope[from - 1]) || scope[from - 1] == '_')) from--;
  const char *name = arena_text(r->m->arena, scope + from, end - from);
  return name_make(r->m, *name ? name : "block", "block");
}

static const char *const size_letter[] = {"o", "p", "q"};

// The text of the box's parts, with parameters where numbers differ.
static void name_sizes(const Repeats *r, const Repeat *p, ImpBlock *b) {
  Importer *m = r->m;
  Buf names = buf_new(m->arena);
  for (uint32_t i = 0; i < p->sizes; i++) buf_printf(&names, "%s%s", i ? ", " : "", size_letter[i]);
  b->sizes = names.n ? names.at : "";
  for (uint32_t i = 0; i < p->n; i++) {
    ImpLine *l = &b->line[i];
    if (!l->part.n) continue;
    l->part.at = arena_copy(m->arena, l->part.at, sizeof *l->part.at * l->part.n);
    l->part.cap = l->part.n;
    for (uint32_t k = 0; k < l->part.n; k++) {
      ImpPart *part = &l->part.at[k];
      size_t n, at = number_at(part->text, &n);
      if (part_differs(r, p, i, k))
        part->text = arena_format(m->arena, "%.*s%s%s", (int)at, part->text,
                                  size_letter[size_of_part(r, p, i, k)], part->text + at + n);
    }
  }
}

// `block ^ 3`, or `block[16] ; block[32]`
static const char *uses_text(const Repeats *r, const Repeat *p, const char *name) {
  Importer *m = r->m;
  Buf b = buf_new(m->arena);
  if (!r->generic) return arena_format(m->arena, "%s ^ %u", name, p->times);
  for (uint32_t time = 0; time < p->times; time++) {
    buf_printf(&b, "%s%s", time ? " ; " : "", name);
    for (uint32_t i = 0; i < p->sizes; i++)
      buf_printf(
          &b, "%s%lld%s", i ? ", " : "[",
          (long long)part_number(r, p->first + time * p->n + p->size[i].line, p->size[i].part),
          i + 1 == p->sizes ? "]" : "");
  }
  return b.at;
}

static void make_box(Repeats *r, const Repeat *p) {
  Importer *m = r->m;
  ImpBlock b = {.n = p->n, .times = p->times, .in = p->in, .more = p->more};
  const char *scope = scope_of(r, p);
  size_t skip = strlen(scope);
  b.name = box_name(r, scope);
  const char *uses = uses_text(r, p, b.name);
  b.out = live_line(r, p->first + p->carry)->out.at[0];
  b.line = NEW_ARRAY(m->arena, ImpLine, p->n * p->times);
  for (uint32_t i = 0; i < p->n * p->times; i++) {
    b.line[i] = *live_line(r, p->first + i);
    r->live[r->order[p->first + i]] = false;
  }
  if (r->generic) name_sizes(r, p, &b);
  for (uint32_t i = 0; i < p->n; i++) {
    ImpValue *v = value_at(m, b.line[i].out.at[0]);
    if (skip && strlen(v->onnx) > skip) v->onnx += skip - 1;
  }
  for (uint32_t i = p->n; i < p->n * p->times; i++) // constants of later repetitions are dead now
    for (uint32_t k = 0; k < b.line[i].read.n; k++) {
      ImpValue *v = value_at(m, b.line[i].read.at[k].value);
      if (v->kind == IMP_CONST && v->reads) v->reads--;
    }
  vec_push(m->arena, &m->block, b);
  uint32_t at = r->order[p->first + p->n * p->times - 1];
  Id out = live_line(r, p->first + p->n * (p->times - 1) + p->carry)->out.at[0];
  ImpLine *l = &m->line.at[at];
  *l = (ImpLine){.form = {.right = ""}, .node = l->node, .scope = l->scope};
  ImpPart part = {.box = b.name, .text = uses, .block = m->block.n};
  vec_push(m->arena, &l->part, part);
  vec_push(m->arena, &l->out, out);
  vec_push(m->arena, &l->read, (ImpRead){.value = p->in});
  for (uint32_t i = 0; i < p->more.n; i++)
    vec_push(m->arena, &l->read, (ImpRead){.value = p->more.at[i]});
  r->live[at] = true;
}

static void find_repeats(Repeats *r) {
  Importer *m = r->m;
  r->n = 0;
  for (uint32_t i = 0; i < m->value.n; i++) r->position[i] = NOWHERE;
  for (uint32_t i = 0; i < m->line.n; i++) {
    if (!r->live[i]) continue;
    for (uint32_t k = 0; k < m->line.at[i].out.n; k++) r->position[m->line.at[i].out.at[k]] = r->n;
    r->hash[r->n] = r->generic ? hash_generic(r, i, &m->line.at[i]) : hash_line(r, &m->line.at[i]);
    r->order[r->n++] = i;
  }
}

void repeats_to_blocks(Importer *m, bool *live) {
  Repeats r = {.m = m,
               .live = live,
               .order = NEW_ARRAY(m->arena, uint32_t, m->line.n + 1),
               .hash = NEW_ARRAY(m->arena, uint64_t, m->line.n + 1),
               .position = NEW_ARRAY(m->arena, uint32_t, m->value.n)};
  Repeat best = {0};
  for (find_repeats(&r); r.n < LINES_LIMIT && best_repeat(&r, &best); find_repeats(&r))
    make_box(&r, &best);
  r.generic = true;
  for (find_repeats(&r); r.n < LINES_LIMIT && best_repeat(&r, &best); find_repeats(&r))
    make_box(&r, &best);
}
