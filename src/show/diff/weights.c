// Pairs weights: through the boxes that use them, then by name, then by equal values, also
// permuted, then by the suffix after the learner's name.
#include "base/table.h"
#include "show/diff/diff.h"

#include <math.h>

enum { MOST_DEPTH = 24, TURNED_MOST = 6 };

// -- by the boxes that use them -------------------------------------------------------------------
typedef struct {
  Arena *arena;
  DiffPairs *to;
  const char **path[2]; // [weight of the outline] its path in the program; NULL: none
} PairWalk;

static void pair_paths(PairWalk *p, int64_t a, int64_t b) {
  const char *x = a < 0 ? NULL : p->path[0][a], *y = b < 0 ? NULL : p->path[1][b];
  if (!x || !y || table_get(p->to->to, x, strlen(x))) return;
  vec_push(p->arena, &p->to->path, y);
  table_put(p->to->to, x, strlen(x), p->to->path.n);
}

static const char **paths_below(PairWalk *p, int side, const OutlineBox *box) {
  const char **path = NEW_ARRAY(p->arena, const char *, box->inside->weight.n + 1);
  for (uint32_t k = 0; k < box->inside->weight.n && box->args + k < box->nin; k++) {
    int64_t at = box->weight[box->args + k];
    path[k] = at < 0 ? NULL : p->path[side][at];
  }
  return path;
}

static void pair_bodies(PairWalk *p, const DiffBody *d, uint32_t depth);

static void pair_boxes(PairWalk *p, const DiffBox *box, uint32_t depth) {
  const OutlineBox *x = box->a, *y = box->b;
  if (!x || !y) return;
  for (uint32_t k = 0; k < x->args && k < y->args; k++) pair_paths(p, x->weight[k], y->weight[k]);
  if (!x->inside || !y->inside || depth >= MOST_DEPTH) return;
  if (x->inside->weight.n + y->inside->weight.n == 0) return;
  DiffBody *inside = outlines_align(p->arena, x->inside, y->inside);
  PairWalk below = {p->arena, p->to, {paths_below(p, 0, x), paths_below(p, 1, y)}};
  if (inside) pair_bodies(&below, inside, depth + 1);
}

static void pair_bodies(PairWalk *p, const DiffBody *d, uint32_t depth) {
  for (uint32_t i = 0; i < d->box.n; i++) pair_boxes(p, &d->box.at[i], depth);
}

const char **outline_paths(Arena *arena, const Outline *o) {
  const char **path = NEW_ARRAY(arena, const char *, o->weight.n + 1);
  for (uint32_t i = 0; i < o->weight.n; i++) {
    const OutlineWeight *w = &o->weight.at[i];
    path[i] = w->rooted ? w->path : arena_format(arena, "%s/%s", o->name, w->path);
  }
  return path;
}

void weights_pair(Arena *arena, const DiffBody *d, DiffPairs *to) {
  if (!to->to) to->to = table_new(arena);
  PairWalk p = {arena, to, {outline_paths(arena, d->a), outline_paths(arena, d->b)}};
  pair_bodies(&p, d, 0);
}

// -- numbers --------------------------------------------------------------------------------------
static bool same_shape(const Array *a, const Array *b) {
  if (a->rank != b->rank) return false;
  for (uint32_t i = 0; i < a->rank; i++)
    if (a->shape[i] != b->shape[i]) return false;
  return true;
}

bool weight_fits(const DiffWeight *w) {
  return w->array[0] && w->array[1] && same_shape(w->array[0], w->array[1]);
}

static bool same_number(double x, double y) { return x == y || (isnan(x) && isnan(y)); }

static bool same_numbers(const Array *a, const Array *b) {
  bool same = same_shape(a, b);
  for (int64_t i = 0; same && i < a->count; i++) same = same_number(a->data[i], b->data[i]);
  return same;
}

// Are the elements equal if a's axes are permuted so?
static bool same_in_order(const Array *a, const Array *b, const uint32_t *axis) {
  int64_t stride[TURNED_MOST], at[TURNED_MOST] = {0}, from = 0, run = 1;
  for (uint32_t k = a->rank; k-- > 0; run *= a->shape[k]) stride[k] = run;
  for (int64_t i = 0; i < b->count; i++) {
    if (!same_number(a->data[from], b->data[i])) return false;
    for (uint32_t k = a->rank; k-- > 0;) {
      from += stride[axis[k]];
      if (++at[k] < a->shape[axis[k]]) break;
      from -= at[k] * stride[axis[k]], at[k] = 0;
    }
  }
  return true;
}

// The next permutation in lexicographic order; false: none.
static bool next_order(uint32_t *axis, uint32_t n) {
  uint32_t i = n > 1 ? n - 1 : 0, j = n;
  while (i && axis[i - 1] > axis[i]) i--;
  if (!i) return false;
  while (axis[--j] < axis[i - 1]) {
  }
  uint32_t swap = axis[i - 1];
  axis[i - 1] = axis[j], axis[j] = swap;
  for (j = n - 1; i < j; i++, j--) swap = axis[i], axis[i] = axis[j], axis[j] = swap;
  return true;
}

// Equal values with permuted or reshaped axes: other systems store weights so.
static bool same_permuted(const Array *a, const Array *b) {
  uint32_t axis[TURNED_MOST];
  if (a->count != b->count || a->rank > TURNED_MOST) return false;
  for (uint32_t k = 0; k < a->rank; k++) axis[k] = k;
  do
    if (same_in_order(a, b, axis)) return true;
  while (next_order(axis, a->rank));
  return false;
}

// A difference that is not finite on one side only is reported as such.
static void measure_difference(DiffWeight *w) {
  const Array *a = w->array[0], *b = w->array[1];
  double far = 0, length = 0, sum = 0;
  for (int64_t i = 0; i < a->count; i++) {
    double x = a->data[i], y = b->data[i], off = same_number(x, y) ? 0 : fabs(x - y);
    if (off > w->largest || isnan(off)) w->largest = off;
    sum += off, far += off * off, length += isfinite(x) ? x * x : 0;
  }
  w->mean = a->count ? sum / (double)a->count : 0;
  w->relative = far > 0 || isnan(far) ? sqrt(far) / sqrt(length) : 0;
}

static DiffWeight weight_met(const Array *a, const Array *b) {
  DiffWeight w = {DIFF_SAME, {a->name, b->name}, {a, b}, 0, 0, 0};
  if (!same_numbers(a, b) && !same_permuted(a, b)) w.mark = DIFF_CHANGED;
  if (w.mark == DIFF_CHANGED && same_shape(a, b)) measure_difference(&w);
  return w;
}

// -- pairing --------------------------------------------------------------------------------------
typedef struct {
  const Arrays *a, *b;
  int32_t *to; // [a] its partner, or -1
  bool *taken; // [b]
} WeightMeeting;

static void pair_weight(WeightMeeting *m, uint32_t i, const Array *other) {
  uint32_t j = other ? (uint32_t)(other - m->b->array.at) : 0;
  if (!other || m->taken[j] || m->to[i] >= 0) return;
  m->to[i] = (int32_t)j, m->taken[j] = true;
}

// The part after the learner's name.
static const char *name_suffix(const char *name) {
  const char *slash = strchr(name, '/');
  return slash ? slash : name;
}

static void pair_by_suffix(WeightMeeting *m, uint32_t i) {
  const Array *x = &m->a->array.at[i];
  for (uint32_t j = 0; m->to[i] < 0 && j < m->b->array.n; j++) {
    const Array *y = &m->b->array.at[j];
    if (!m->taken[j] && same_shape(x, y) && !strcmp(name_suffix(x->name), name_suffix(y->name)))
      pair_weight(m, i, y);
  }
}

static void pair_equal_weights(WeightMeeting *m, uint32_t i,
                               bool (*equal)(const Array *, const Array *)) {
  for (uint32_t j = 0; m->to[i] < 0 && j < m->b->array.n; j++)
    if (!m->taken[j] && equal(&m->a->array.at[i], &m->b->array.at[j]))
      pair_weight(m, i, &m->b->array.at[j]);
}

DiffWeights weights_match(Arena *arena, const Arrays *a, const Arrays *b, const DiffPairs *pairs) {
  DiffWeights out = {0};
  WeightMeeting m = {a, b, NEW_ARRAY(arena, int32_t, a->array.n + 1),
                     NEW_ARRAY(arena, bool, b->array.n + 1)};
  for (uint32_t i = 0; i < a->array.n; i++) {
    const char *name = a->array.at[i].name;
    Id met = pairs->to ? table_get(pairs->to, name, strlen(name)) : 0;
    m.to[i] = -1;
    if (met) pair_weight(&m, i, arrays_find(b, pairs->path.at[met - 1]));
  }
  for (uint32_t i = 0; i < a->array.n; i++) pair_weight(&m, i, arrays_find(b, a->array.at[i].name));
  for (uint32_t i = 0; i < a->array.n; i++) pair_equal_weights(&m, i, same_numbers);
  for (uint32_t i = 0; i < a->array.n; i++) pair_equal_weights(&m, i, same_permuted);
  for (uint32_t i = 0; i < a->array.n; i++) pair_by_suffix(&m, i);
  for (uint32_t i = 0; i < a->array.n; i++) {
    const Array *x = &a->array.at[i];
    DiffWeight gone = {DIFF_GONE, {x->name, NULL}, {x, NULL}, 0, 0, 0};
    vec_push(arena, &out, m.to[i] < 0 ? gone : weight_met(x, &b->array.at[m.to[i]]));
  }
  for (uint32_t j = 0; j < b->array.n; j++) {
    const Array *y = &b->array.at[j];
    DiffWeight added = {DIFF_ADDED, {NULL, y->name}, {NULL, y}, 0, 0, 0};
    if (!m.taken[j]) vec_push(arena, &out, added);
  }
  return out;
}
