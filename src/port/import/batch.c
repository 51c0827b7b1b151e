// Samples pass over a model: where one axis with a name leads every input and output and nothing else is ever done with it, it is
// left out of the types, so that the model takes one sample and can be trained on samples.
#include "port/import/own.h"

typedef struct {
  Importer *m;
  const char *name; // of the size
  const bool *live; // [line]
} Batch;

static bool word_in(const char *text, const char *word, size_t n) {
  for (const char *at = text; *at;) {
    size_t k = 0;
    while (char_is_word(at[k]) || at[k] == '_') k++;
    if (k == n && !memcmp(at, word, n)) return true;
    at += k ? k : 1;
  }
  return false;
}

// Which axis of a value is that of the samples; -1: none. False: it is mixed with others.
static bool axis_of(const Batch *b, const ImpValue *v, int *axis) {
  *axis = -1;
  for (uint32_t i = 0; i < v->shape.rank; i++) {
    const char *text = v->shape.dim[i].text;
    if (!text || !word_in(text, b->name, strlen(b->name))) continue;
    if (*axis >= 0 || strcmp(text, b->name) != 0) return false;
    *axis = (int)i;
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

static const char *index_without(Importer *m, const char *list, int axis) {
  size_t n;
  const char *at = index_at(list, axis, &n);
  Buf b = buf_new(m->arena);
  buf_add(&b, list, (size_t)(at - list));
  for (at += n; *at == ' '; at++) {
  }
  buf_text(&b, at);
  while (b.n && b.at[b.n - 1] == ' ') b.at[--b.n] = 0;
  return b.n ? b.at : "";
}

// The letter of the samples in a line, the same wherever it stands.
typedef struct {
  const char *at;
  size_t n;
} BatchLetter;

static bool same_letter(BatchLetter *letter, const char *list, int axis) {
  size_t n = 0;
  const char *at = index_at(list, axis, &n);
  if (!at || !char_is_letter(*at)) return false;
  for (size_t i = 0; i < n; i++)
    if (!char_is_word(at[i])) return false;
  if (letter->at && (letter->n != n || memcmp(letter->at, at, n) != 0)) return false;
  *letter = (BatchLetter){at, n};
  return true;
}

static bool line_passes(const Batch *b, const ImpLine *l) {
  Importer *m = b->m;
  BatchLetter letter = {0};
  int axis;
  const char *left = l->form.left;
  if (word_in(l->form.right, b->name, strlen(b->name))) return false;
  for (uint32_t i = 0; i < l->out.n; i++) {
    if (!axis_of(b, value_at(m, l->out.at[i]), &axis)) return false;
    if (left && axis >= 0 && !same_letter(&letter, left, axis)) return false;
    if (left && axis >= 0) left = index_without(m, left, axis);
  }
  for (uint32_t i = 0; i < l->read.n; i++) {
    const char *at = l->read.at[i].index;
    if (!axis_of(b, value_at(m, l->read.at[i].value), &axis)) return false;
    if (axis >= 0 && (at ? !same_letter(&letter, at, axis) : l->form.left != NULL)) return false;
  }
  if (!letter.at) return true;
  if (word_in(l->form.right, letter.at, letter.n)) return false;
  if (left && word_in(left, letter.at, letter.n)) return false;
  for (uint32_t i = 0; i < l->read.n; i++) {
    const char *at = l->read.at[i].index;
    axis_of(b, value_at(m, l->read.at[i].value), &axis);
    if (at && axis >= 0) at = index_without(m, at, axis);
    if (at && word_in(at, letter.at, letter.n)) return false;
  }
  return true;
}

static void line_strip(const Batch *b, ImpLine *l) {
  Importer *m = b->m;
  int axis;
  axis_of(b, value_at(m, l->out.at[0]), &axis);
  if (l->form.left && axis >= 0) l->form.left = index_without(m, l->form.left, axis);
  for (uint32_t i = 0; i < l->read.n; i++) {
    axis_of(b, value_at(m, l->read.at[i].value), &axis);
    if (l->read.at[i].index && axis >= 0)
      l->read.at[i].index = index_without(m, l->read.at[i].index, axis);
  }
}

static bool leads(const Batch *b, const Ids *list) {
  int axis;
  for (uint32_t i = 0; i < list->n; i++)
    if (!axis_of(b, value_at(b->m, list->at[i]), &axis) || axis != 0) return false;
  return list->n;
}

void batch_leave_out(Importer *m, const bool *live) {
  Batch b = {.m = m, .live = live};
  if (!m->input.n || !value_at(m, m->input.at[0])->shape.rank) return;
  b.name = value_at(m, m->input.at[0])->shape.dim[0].text;
  if (!b.name || !leads(&b, &m->input) || !leads(&b, &m->output)) return;
  for (uint32_t i = 0; i < m->line.n; i++)
    if (live[i] && !line_passes(&b, &m->line.at[i])) return;
  for (uint32_t i = 0; i < m->box.n; i++)
    if (word_in(m->box.at[i], b.name, strlen(b.name))) return;
  for (uint32_t i = 0; i < m->line.n; i++)
    if (live[i]) line_strip(&b, &m->line.at[i]);
  for (uint32_t i = 1; i < m->value.n; i++) {
    ImpShape *s = &value_at(m, i)->shape;
    int axis;
    if (!axis_of(&b, value_at(m, i), &axis) || axis < 0) continue;
    s->rank--;
    for (uint32_t k = (uint32_t)axis; k < s->rank; k++) s->dim[k] = s->dim[k + 1];
  }
}
