// Sparse LU factorization.
//
// Column by column, in a given order (Gilbert and Peierls): the nonzeros of a column of the factors
// are found by a depth-first search through earlier columns, so the cost is proportional to the
// number of multiplications. The pivot is the diagonal entry unless it is small relative to the
// column, otherwise the largest entry; diagonal pivots preserve the fill-reducing order. When the
// pattern of the factors is known, another matrix of the same pattern is factored without
// searching, as long as its pivots are large enough.
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
  const uint32_t *order; // [n] order of columns, and of rows if possible
  uint32_t *place;       // [n] position of a row as a pivot
  SparseColumns low, up; // `low` without its diagonal; in `up` the diagonal is the last of its
                         // column
  double *x;             // [n]
  uint32_t *stack, *from, *found, *mark;
  bool known; // the pattern of the factors is known
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

// Depth-first search from row i through finished columns: appends the reached rows to `found` in
// reverse topological order.
static uint32_t reach_rows(SparseFactor *f, uint32_t i, uint32_t stamp, uint32_t n) {
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

// The pivot row of column j, among the found rows that are no pivots yet; false: none.
static bool choose_pivot(const SparseFactor *f, uint32_t j, uint32_t n, uint32_t *row) {
  const double diagonal = 0.1; // of the largest entry: large enough to be preferred
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

// Column j of both factors; `low` has original row numbers until the end.
static bool factor_column(SparseFactor *f, uint32_t j, const double *value) {
  const Pattern *p = f->p;
  uint32_t c = f->order[j], n = 0, row = 0;
  for (uint32_t k = p->start[c]; k < p->start[c + 1]; k++)
    if (f->mark[p->row[k]] != j + 1) n = reach_rows(f, p->row[k], j + 1, n);
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
    if (!factor_column(f, j, value)) return false;
  for (uint32_t k = 0; k < f->low.row.n; k++) f->low.row.at[k] = f->place[f->low.row.at[k]];
  memset(f->x, 0, n * sizeof *f->x);
  return f->known = true;
}

// With a known pattern; false: a pivot is too small.
static bool factor_again(SparseFactor *f, const double *value) {
  const double least = 1e-3; // of the largest entry in its column
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
