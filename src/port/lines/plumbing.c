// Removes lines that only permute, split or merge axes: their readers read the source at
// transformed indices.
#include "port/lines/lines.h"

typedef struct {
  Importer *m;
  bool *live;
} Plumbing;

static bool plain_letters(const char *list) {
  for (const char *at = list; *at; at++)
    if (!char_is_word(*at) && *at != ' ') return false;
  size_t n;
  for (const char *at = list; (at = next_index(at, &n)); at += n)
    if (!char_is_letter(*at)) return false;
  return true;
}

static uint32_t count_of(const char *list, const char *word, size_t n) {
  uint32_t count = 0;
  for (const char *at = list; *at;) {
    size_t k = 0;
    while (char_is_word(at[k])) k++;
    count += k == n && !memcmp(at, word, n);
    at += k ? k : 1;
  }
  return count;
}

// Matches y[j k l] = x[…] where … contains each letter once (except for axes of size 1),
// parentheses and numbers only.
static bool only_moves(const Importer *m, const ImpLine *l) {
  if (l->part.n || l->out.n != 1 || l->read.n != 1 || l->form.pad || !l->form.left) return false;
  const char *left = l->form.left, *from = l->read.at[0].index;
  if (strcmp(l->form.right, "$0") != 0 || !from || !plain_letters(left)) return false;
  const ImpValue *x = &m->value.at[l->read.at[0].value];
  const ImpShape *shape = &m->value.at[l->out.at[0]].shape;
  if (x->labels || x->kind == IMP_CONST) return false;
  uint32_t axis = 0;
  size_t n;
  for (const char *at = left; (at = next_index(at, &n)); at += n, axis++) {
    uint32_t times = count_of(from, at, n);
    if (times > 1 || (!times && !dim_is(shape->dim[axis], 1)) || count_of(left, at, n) != 1)
      return false;
  }
  for (const char *at = from; *at;) {
    size_t k = 0;
    while (char_is_word(at[k])) k++;
    if (!k && *at != ' ' && *at != '(' && *at != ')') return false;
    if (k && char_is_letter(*at) && count_of(left, at, k) != 1) return false;
    at += k ? k : 1;
  }
  return axis;
}

// The indices at which to read the source instead, for a read of the result at `index`.
static const char *moved_indices(Importer *m, const ImpLine *l, const char *index) {
  Buf b = buf_new(m->arena);
  for (const char *at = l->read.at[0].index; *at;) {
    size_t k = 0, n, wide;
    while (char_is_word(at[k])) k++;
    const char *to = index, *left = l->form.left;
    bool letter = k && char_is_letter(*at);
    for (; letter && (left = next_index(left, &n)); left += n, to += wide) {
      to = next_index(to, &wide);
      if (!to) return NULL;
      if (n == k && !memcmp(left, at, n)) break;
    }
    buf_add(&b, letter ? to : at, letter ? wide : k ? k : 1);
    at += k ? k : 1;
  }
  return b.at;
}

static bool must_stay(const ImpLine *mover) {
  return !strcmp(mover->form.left, mover->read.at[0].index);
}

// An axis of size 1 is lost: the reader must not reduce over it, as `mean[k]` does, or read out of
// its bounds.
static bool can_lose_axes(const ImpLine *l, const ImpLine *mover, const char *index) {
  size_t n, wide;
  const char *to = index;
  for (const char *left = mover->form.left; (left = next_index(left, &n)); left += n, to += wide) {
    to = next_index(to, &wide);
    if (!to) return false;
    if (count_of(mover->read.at[0].index, left, n)) continue;
    for (size_t i = 0; i < wide; i++)
      if (!char_is_word(to[i])) return false;
    if (!count_of(l->form.left, to, wide) && count_of(l->form.right, to, wide)) return false;
  }
  return true;
}

// Loops refer to axes by name, so only lines that name their axes can read through.
static bool can_read_through(const Importer *m, const ImpLine *l, const ImpLine *mover,
                             const ImpRead *r) {
  if (must_stay(mover) && !has_loops(m)) return true;
  if (l->part.n || !l->form.left || !r->index || strpbrk(r->index, "@$")) return false;
  if (!can_lose_axes(l, mover, r->index)) return false;
  if (!strchr(mover->read.at[0].index, '(')) return true;
  return !strcmp(l->form.right, "$0") && !l->form.pad && plain_letters(r->index) &&
         plain_letters(l->form.left); // the left side then gives the sizes of the axes
}

static bool all_read_through(const Plumbing *p, const ImpLine *mover) {
  Id v = mover->out.at[0];
  if (is_output(p->m, v)) return false;
  for (uint32_t i = 0; i < p->m->line.n; i++)
    for (uint32_t k = 0; p->live[i] && k < p->m->line.at[i].read.n; k++)
      if (p->m->line.at[i].read.at[k].value == v &&
          !can_read_through(p->m, &p->m->line.at[i], mover, &p->m->line.at[i].read.at[k]))
        return false;
  return true;
}

// Removes sizes written in a group, `(k:2 l)`, that the left side has too.
static void drop_sizes(Importer *m, ImpLine *l) {
  if (l->part.n || l->read.n != 1 || l->form.pad || !l->form.left) return;
  const char *from = l->read.at[0].index;
  if (strcmp(l->form.right, "$0") != 0 || !from || !strchr(from, ':')) return;
  if (!plain_letters(l->form.left)) return;
  Buf b = buf_new(m->arena);
  for (const char *at = from; *at; at++) {
    size_t n = *at == ':' ? 1 : 0, k = b.n;
    while (n && at[n] && !strchr(" )", at[n])) n++;
    while (k && char_is_word(b.at[k - 1])) k--;
    if (n && count_of(l->form.left, b.at + k, b.n - k) != 1) return;
    if (n && strpbrk(arena_text(m->arena, at, n), "(")) return;
    if (n) at += n;
    if (!*at) break;
    buf_char(&b, *at);
  }
  l->read.at[0].index = b.at;
}

void axis_moves_fold(Importer *m, bool *live) {
  Plumbing p = {m, live};
  if (m->line.n > 4000) return;
  for (uint32_t at = 0; at < m->line.n; at++)
    if (live[at]) drop_sizes(m, &m->line.at[at]);
  for (uint32_t at = 0; at < m->line.n; at++) {
    const ImpLine *mover = &m->line.at[at];
    if (!live[at] || !only_moves(m, mover) || !all_read_through(&p, mover)) continue;
    live[at] = false;
    uint32_t reads = 0;
    for (uint32_t i = at + 1; i < m->line.n; i++)
      for (uint32_t k = 0; live[i] && k < m->line.at[i].read.n; k++) {
        ImpRead *r = &m->line.at[i].read.at[k];
        if (r->value != mover->out.at[0]) continue;
        if (!must_stay(mover)) r->index = moved_indices(m, mover, r->index);
        r->value = mover->read.at[0].value;
        reads++;
      }
    value_at(m, mover->read.at[0].value)->reads += reads - 1;
  }
}
