// Aligns two outlines.
#include "show/diff/diff.h"

enum { MOST_LEVELS = 12, LEAST_WORTH = 1, NOBODY = -1 };

// [box] its partner on the other side, or NOBODY.
typedef struct {
  int32_t *a, *b;
} Meeting;

// The weight of pairing two boxes; 0: never. Equal boxes weigh most, then equal names, then equal
// forms.
static uint32_t pair_weight_of(const OutlineBox *a, const OutlineBox *b) {
  if (strcmp(a->kind, b->kind) != 0) return 0;
  bool name = !strcmp(a->name, b->name), word = !strcmp(a->word, b->word);
  if (a->hash == b->hash) return name ? 6 : word ? 5 : 4;
  if (!word && a->inside) return a->form == b->form ? LEAST_WORTH : 0;
  return name ? 3 : 2;
}

// Maximal total weight of pairs in order: a weighted longest common subsequence.
static Meeting align(Arena *arena, const Outline *a, const Outline *b) {
  size_t n = a->box.n, k = b->box.n, wide = k + 1;
  Arena *scratch = arena_child(arena);
  uint32_t *best = NEW_ARRAY(scratch, uint32_t, (n + 1) * wide);
  Meeting m = {NEW_ARRAY(arena, int32_t, n + 1), NEW_ARRAY(arena, int32_t, k + 1)};
  for (size_t i = n; i-- > 0;)
    for (size_t j = k; j-- > 0;) {
      uint32_t w = pair_weight_of(&a->box.at[i], &b->box.at[j]);
      uint32_t most = w ? w + best[(i + 1) * wide + j + 1] : 0;
      if (best[(i + 1) * wide + j] > most) most = best[(i + 1) * wide + j];
      if (best[i * wide + j + 1] > most) most = best[i * wide + j + 1];
      best[i * wide + j] = most;
    }
  for (size_t i = 0; i < n; i++) m.a[i] = NOBODY;
  for (size_t j = 0; j < k; j++) m.b[j] = NOBODY;
  for (size_t i = 0, j = 0; i < n && j < k;) {
    uint32_t w = pair_weight_of(&a->box.at[i], &b->box.at[j]), here = best[i * wide + j];
    if (w && here == w + best[(i + 1) * wide + j + 1])
      m.a[i] = (int32_t)j, m.b[j] = (int32_t)i, i++, j++;
    else if (here == best[(i + 1) * wide + j])
      i++;
    else
      j++;
  }
  arena_free(scratch);
  return m;
}

// Pairs boxes without partner that occur on both sides: they were moved.
static Meeting pair_moved(Arena *arena, const Outline *a, const Outline *b, const Meeting *m) {
  Meeting moved = {NEW_ARRAY(arena, int32_t, a->box.n + 1),
                   NEW_ARRAY(arena, int32_t, b->box.n + 1)};
  for (uint32_t j = 0; j < b->box.n; j++) moved.b[j] = NOBODY;
  for (uint32_t i = 0; i < a->box.n; i++) {
    const OutlineBox *x = &a->box.at[i];
    moved.a[i] = NOBODY;
    for (uint32_t j = 0; m->a[i] == NOBODY && moved.a[i] == NOBODY && j < b->box.n; j++) {
      const OutlineBox *y = &b->box.at[j];
      if (m->b[j] != NOBODY || moved.b[j] != NOBODY || x->hash != y->hash ||
          strcmp(x->kind, y->kind))
        continue;
      moved.a[i] = (int32_t)j, moved.b[j] = (int32_t)i;
    }
  }
  return moved;
}

// Pairs replaced boxes: between two pairs, if both sides have equally many boxes without partner,
// and calls only with calls.
static void pair_replaced(const Outline *a, const Outline *b, Meeting *m, const Meeting *moved) {
  for (uint32_t i = 0, j = 0; i < a->box.n; i++) {
    if (m->a[i] != NOBODY) {
      j = (uint32_t)m->a[i] + 1;
      continue;
    }
    uint32_t n = 0, k = 0;
    bool fits = true;
    while (i + n < a->box.n && m->a[i + n] == NOBODY) n++;
    while (j + k < b->box.n && m->b[j + k] == NOBODY) k++;
    for (uint32_t s = 0; n == k && s < n; s++)
      fits &= moved->a[i + s] == NOBODY && moved->b[j + s] == NOBODY &&
              !a->box.at[i + s].inside == !b->box.at[j + s].inside;
    for (uint32_t s = 0; n == k && fits && s < n; s++)
      m->a[i + s] = (int32_t)(j + s), m->b[j + s] = (int32_t)(i + s);
    i += n - 1;
  }
}

// -- describing differences -----------------------------------------------------------------------
static const char *read_name(const Outline *o, int64_t from) {
  if (from == NO_BOX) return "a weight";
  if (from >= 0 && from < o->box.n) return o->box.at[from].name;
  const char *name = from < 0 && -from <= o->input.n ? o->input.at[-from - 1] : "";
  return *name ? name : "the input";
}

// Do partners read different values? Boxes inserted or removed between are reported on their own.
static const char *changed_reads(Arena *arena, const DiffBody *d, const Meeting *m, uint32_t i) {
  const OutlineBox *x = &d->a->box.at[i], *y = &d->b->box.at[m->a[i]];
  for (uint32_t k = 0; k < x->args && k < y->args; k++) {
    int64_t from = x->in[k], to = y->in[k];
    bool box = from >= 0 && from < d->a->box.n, other = to >= 0 && to < d->b->box.n;
    if (box && (m->a[from] == NOBODY || m->a[from] == to)) continue;
    if (other && m->b[to] == NOBODY) continue;
    if (!box && !other && from == to) continue;
    return arena_format(arena, "reads %s instead of %s", read_name(d->b, to),
                        read_name(d->a, from));
  }
  return NULL;
}

// All boxes have equal partners: says what else differs.
static const char *other_difference(Arena *arena, const DiffBody *d) {
  const Outline *a = d->a, *b = d->b;
  for (uint32_t i = 0; i < a->weight.n && i < b->weight.n; i++) {
    const OutlineWeight *x = &a->weight.at[i], *y = &b->weight.at[i];
    if (strcmp(x->type, y->type) != 0)
      return arena_format(arena, "%s  %s -> %s", x->path, x->type, y->type);
    if (x->begin != y->begin) return arena_format(arena, "%s begins otherwise", x->path);
  }
  if (a->weight.n != b->weight.n) return "weights are shared otherwise";
  return "it is wired otherwise";
}

static DiffBody *body_of(Arena *arena, const Outline *a, const Outline *b, uint32_t level);

static void put_box(Arena *arena, DiffBody *d, DiffMark mark, int64_t i, int64_t j) {
  DiffBox box = {.mark = mark};
  if (i >= 0) box.a = &d->a->box.at[i], d->at_a[i] = d->box.n;
  if (j >= 0) box.b = &d->b->box.at[j], d->at_b[j] = d->box.n;
  d->count.of[mark]++;
  vec_push(arena, &d->box, box);
}

static bool put_pair(Arena *arena, DiffBody *d, const Meeting *m, uint32_t i, uint32_t level) {
  const OutlineBox *x = &d->a->box.at[i], *y = &d->b->box.at[m->a[i]];
  const char *reads = changed_reads(arena, d, m, i);
  bool same = x->hash == y->hash;
  put_box(arena, d, same && !reads ? DIFF_SAME : DIFF_CHANGED, i, m->a[i]);
  DiffBox *box = &d->box.at[d->box.n - 1];
  box->reads = reads;
  bool open = !same && x->inside && y->inside && x->form != y->form;
  if (!open || strcmp(x->word, y->word) != 0 || level >= MOST_LEVELS) return true;
  DiffBody *inside = body_of(arena, x->inside, y->inside, level + 1);
  d->box.at[d->box.n - 1].inside = inside;
  return inside != NULL;
}

static DiffBody *body_of(Arena *arena, const Outline *a, const Outline *b, uint32_t level) {
  if (a->box.n > MOST_BOXES || b->box.n > MOST_BOXES) return NULL;
  DiffBody *d = NEW(arena, DiffBody);
  *d = (DiffBody){.a = a, .b = b};
  d->at_a = NEW_ARRAY(arena, uint32_t, a->box.n + 1);
  d->at_b = NEW_ARRAY(arena, uint32_t, b->box.n + 1);
  Meeting m = align(arena, a, b), moved = pair_moved(arena, a, b, &m);
  pair_replaced(a, b, &m, &moved);
  for (uint32_t i = 0, j = 0; i <= a->box.n; i++) {
    uint32_t until = i == a->box.n ? b->box.n : m.a[i] == NOBODY ? j : (uint32_t)m.a[i];
    for (; j < until; j++) // the boxes before it
      if (m.b[j] == NOBODY && moved.b[j] == NOBODY) put_box(arena, d, DIFF_ADDED, -1, j);
    if (i == a->box.n) break;
    if (m.a[i] == NOBODY)
      put_box(arena, d, moved.a[i] == NOBODY ? DIFF_GONE : DIFF_MOVED, i, moved.a[i]);
    else if (!put_pair(arena, d, &m, i, level))
      return NULL;
    else
      j = (uint32_t)m.a[i] + 1;
  }
  bool said = d->count.of[DIFF_SAME] < d->box.n;
  if (!said && a->whole != b->whole) d->otherwise = other_difference(arena, d);
  return d;
}

// Equal functions are equal whatever order they are written in.
static void mark_all_same(DiffBody *d) {
  d->count = (DiffCount){{0}};
  for (uint32_t i = 0; i < d->box.n; i++) {
    DiffBox *box = &d->box.at[i];
    box->mark = DIFF_SAME, box->reads = NULL, box->inside = NULL;
    d->count.of[DIFF_SAME]++;
  }
}

DiffBody *outlines_align(Arena *arena, const Outline *a, const Outline *b) {
  static const Outline nothing = {.name = ""};
  DiffBody *d = body_of(arena, a ? a : &nothing, b ? b : &nothing, 0);
  if (d && (!a || !b)) d->otherwise = NULL;
  if (d && a && b && a->whole == b->whole) mark_all_same(d);
  return d;
}
