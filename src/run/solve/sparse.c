// A matrix with few numbers in it as a product of triangles.
//
// Column by column, in a given order (Gilbert and Peierls): what a column of the factors will hold is
// found by following the columns before it, and only that is computed, so the cost is that of the
// multiplications. The pivot is the diagonal where it is not small against the column, otherwise the
// largest: then the order keeps what it promised. Afterwards the places are known, and another matrix
// with the same places is factored without looking for them, as long as its pivots are good.
#include "run/solve/solve_own.h"

#include <math.h>

#define NOT_YET UINT32_MAX

typedef struct {
  uint32_t *start; // [n + 1]
  VEC(uint32_t) row;
  VEC(double) value;
} SparseColumns;

struct SparseFactor {
  Arena *arena;
  const Pattern *p;
  const uint32_t *order; // [n] which column, and if possible which row, comes when
  uint32_t *place;       // [n] of a row: when it is the pivot
  SparseColumns low, up; // of `low` without its diagonal; that of `up` is the last of its column
  double *x;             // [n]
  uint32_t *stack, *from, *found, *mark;
  bool known; // the places
};

SparseFactor *sparse_new(Arena *a, const Pattern *p, const uint32_t *order) {
  SparseFactor *f = NEW(a, SparseFactor);
  size_t n = p->n;
  *f = (SparseFactor){.arena = a, .p = p, .order = order};
  f->low.start = NEW_ARRAY(a, uint32_t, n + 1);
  f->up.start = NEW_ARRAY(a, uint32_t, n + 1);
  f->x = NEW_ARRAY(a, double, n + 1);
  uint32_t **row[] = {&f->place, &f->stack, &f->from, &f->found, &f->mark};
  for (uint32_t i = 0; i < COUNT(row); i++) *row[i] = NEW_ARRAY(a, uint32_t, n + 1);
  return f;
}

static void add(SparseFactor *f, SparseColumns *c, uint32_t row, double value) {
  vec_push(f->arena, &c->row, row);
  vec_push(f->arena, &c->value, value);
}

// What can be reached from row i by columns that are done, behind `n` in `found`: a row after all
// that it leads to.
static uint32_t reach(SparseFactor *f, uint32_t i, uint32_t stamp, uint32_t n) {
  uint32_t depth = 0;
  f->stack[0] = i, f->mark[i] = stamp;
  f->from[0] = f->place[i] == NOT_YET ? 0 : f->low.start[f->place[i]];
  for (;;) {
    uint32_t row = f->stack[depth], k = f->place[row];
    uint32_t end = k == NOT_YET ? 0 : f->low.start[k + 1];
    uint32_t *at = &f->from[depth];
    while (*at < end && f->mark[f->low.row.at[*at]] == stamp) ++*at;
    if (*at < end) {
      uint32_t to = f->low.row.at[(*at)++];
      f->mark[to] = stamp;
      f->stack[++depth] = to;
      f->from[depth] = f->place[to] == NOT_YET ? 0 : f->low.start[f->place[to]];
      continue;
    }
    f->found[n++] = row;
    if (depth-- == 0) return n;
  }
}

// The row of the pivot of column j, among those found that are not yet one; false: there is none.
static bool choose_pivot(const SparseFactor *f, uint32_t j, uint32_t n, uint32_t *row) {
  const double diagonal = 0.1; // of the largest: small enough to be preferred
  double most = 0;
  for (uint32_t k = 0; k < n; k++) {
    uint32_t i = f->found[k];
    if (f->place[i] != NOT_YET) continue;
    if (!isfinite(f->x[i])) return false;
    if (fabs(f->x[i]) > most) most = fabs(f->x[i]), *row = i;
  }
  uint32_t wanted = f->order[j];
  if (f->place[wanted] == NOT_YET && f->mark[wanted] == j + 1 &&
      fabs(f->x[wanted]) >= diagonal * most)
    *row = wanted;
  return most > 0;
}

// Column j of both triangles; `low` has rows by their own numbers until all are done.
static bool one_column(SparseFactor *f, uint32_t j, const double *value) {
  const Pattern *p = f->p;
  uint32_t c = f->order[j], n = 0, row = 0;
  for (uint32_t k = p->start[c]; k < p->start[c + 1]; k++)
    if (f->mark[p->row[k]] != j + 1) n = reach(f, p->row[k], j + 1, n);
  for (uint32_t k = 0; k < n; k++) f->x[f->found[k]] = 0;
  for (uint32_t k = p->start[c]; k < p->start[c + 1]; k++) f->x[p->row[k]] = value[k];
  for (uint32_t k = n; k-- > 0;) {
    uint32_t done = f->place[f->found[k]];
    if (done == NOT_YET) continue;
    double x = f->x[f->found[k]];
    add(f, &f->up, done, x);
    for (uint32_t m = f->low.start[done]; m < f->low.start[done + 1]; m++)
      f->x[f->low.row.at[m]] -= f->low.value.at[m] * x;
  }
  if (!choose_pivot(f, j, n, &row)) return false;
  f->place[row] = j;
  add(f, &f->up, j, f->x[row]);
  for (uint32_t k = 0; k < n; k++)
    if (f->place[f->found[k]] == NOT_YET)
      add(f, &f->low, f->found[k], f->x[f->found[k]] / f->x[row]);
  f->low.start[j + 1] = f->low.row.n, f->up.start[j + 1] = f->up.row.n;
  return true;
}

static bool factor_anew(SparseFactor *f, const double *value) {
  uint32_t n = f->p->n;
  f->known = false;
  f->low.row.n = f->low.value.n = f->up.row.n = f->up.value.n = 0;
  memset(f->place, 0xff, n * sizeof *f->place);
  memset(f->mark, 0, n * sizeof *f->mark);
  for (uint32_t j = 0; j < n; j++)
    if (!one_column(f, j, value)) return false;
  for (uint32_t k = 0; k < f->low.row.n; k++) f->low.row.at[k] = f->place[f->low.row.at[k]];
  memset(f->x, 0, n * sizeof *f->x);
  return f->known = true;
}

// With places that are known; false: a pivot is too small for it.
static bool factor_again(SparseFactor *f, const double *value) {
  const double least = 1e-3; // of the largest in its column
  const Pattern *p = f->p;
  double *restrict x = f->x;
  double *low = f->low.value.at, *up = f->up.value.at;
  const uint32_t *low_row = f->low.row.at, *up_row = f->up.row.at;
  for (uint32_t j = 0; j < p->n; j++) {
    uint32_t c = f->order[j], last = f->up.start[j + 1] - 1;
    for (uint32_t k = p->start[c]; k < p->start[c + 1]; k++) x[f->place[p->row[k]]] = value[k];
    for (uint32_t k = f->up.start[j]; k < last; k++) {
      uint32_t done = up_row[k];
      double y = up[k] = x[done];
      x[done] = 0;
      for (uint32_t m = f->low.start[done]; m < f->low.start[done + 1]; m++)
        x[low_row[m]] -= low[m] * y;
    }
    double pivot = up[last] = x[j], most = 0;
    x[j] = 0;
    for (uint32_t m = f->low.start[j]; m < f->low.start[j + 1]; m++) {
      double y = x[low_row[m]];
      most = fabs(y) > most ? fabs(y) : most;
      low[m] = y / pivot;
      x[low_row[m]] = 0;
    }
    if (!(fabs(pivot) > least * most)) {
      memset(x, 0, p->n * sizeof *x);
      return false;
    }
  }
  return true;
}

bool sparse_factor(SparseFactor *f, const double *value) {
  return (f->known && factor_again(f, value)) || factor_anew(f, value);
}

void sparse_solve(const SparseFactor *f, double *b) {
  uint32_t n = f->p->n;
  double *x = f->x;
  for (uint32_t i = 0; i < n; i++) x[f->place[i]] = b[i];
  for (uint32_t j = 0; j < n; j++)
    for (uint32_t k = f->low.start[j]; k < f->low.start[j + 1]; k++)
      x[f->low.row.at[k]] -= f->low.value.at[k] * x[j];
  for (uint32_t j = n; j-- > 0;) {
    uint32_t last = f->up.start[j + 1] - 1;
    x[j] /= f->up.value.at[last];
    for (uint32_t k = f->up.start[j]; k < last; k++) x[f->up.row.at[k]] -= f->up.value.at[k] * x[j];
  }
  for (uint32_t j = 0; j < n; j++) b[f->order[j]] = x[j];
  memset(x, 0, n * sizeof *x);
}
