// The matrix of an implicit step: its sparsity, its values, and memory for its factors.
//
// The kind of factorization is chosen once, by estimated cost: dense, as a band (in reverse
// Cuthill–McKee order), or sparse (in minimum degree order). A multiplication of the sparse kind
// costs several of the others, which work on rows.
#include "run/solve/solve_own.h"

#include <math.h>

struct Matrix {
  const Pattern *p;
  MatrixWay way;
  double *value;   // [places] of the pattern; sparse: the matrix to be factored
  double *room;    // dense, band
  uint32_t *swap;  // dense, band
  uint32_t *order; // band, sparse
  uint32_t *place; // band: the inverse of `order`
  double *turned;  // band: a right-hand side in that order
  Band band;
  SparseFactor *sparse;
};

enum { SMALL = 16, SOLVES = 8 }; // solutions per step
#define LARGEST_ROOM 2.5e8       // doubles

// The pattern with the diagonal added.
static Pattern *with_diagonal(Arena *a, const Pattern *p) {
  Pattern *q = NEW(a, Pattern);
  uint32_t n = p->n, at = 0, *start = NEW_ARRAY(a, uint32_t, (size_t)n + 1),
           *row = NEW_ARRAY(a, uint32_t, (size_t)p->start[n] + n + 1);
  for (uint32_t c = 0; c < n; c++) {
    bool met = false;
    for (uint32_t k = p->start[c]; k < p->start[c + 1]; k++) {
      if (!met && p->row[k] > c) row[at++] = c;
      met |= p->row[k] >= c;
      row[at++] = p->row[k];
    }
    if (!met) row[at++] = c;
    start[c + 1] = at;
  }
  *q = (Pattern){n, start, row};
  return q;
}

// Estimated costs of one factorization and its solutions.
static double dense_cost(double n) { return n * n * n * 2 / 3 + SOLVES * 2 * n * n; }
static double band_cost(double n, Band b) {
  double below = b.below + 1.0, reach = (double)b.below + b.above + 1;
  return 2 * n * below * reach + SOLVES * 2 * n * (below + reach);
}

static void choose(Matrix *m, Arena *a) {
  const double slower = 5; // cost of a sparse multiplication, in dense ones
  uint32_t n = m->p->n;
  m->way = MATRIX_DENSE;
  if (n <= SMALL || m->p->start[n] > (double)n * n / 2) return;
  uint32_t *order = NEW_ARRAY(a, uint32_t, n);
  m->order = NEW_ARRAY(a, uint32_t, n);
  m->band = order_band(a, m->p, m->order);
  double band = band_cost(n, m->band), best = dense_cost(n);
  if ((double)n * n > LARGEST_ROOM) best = INFINITY;
  if ((double)n * (double)band_width(m->band) > LARGEST_ROOM) band = INFINITY;
  if (band < best) m->way = MATRIX_BAND, best = band;
  if (best < 100.0 * n * slower) return; // nothing is much cheaper
  double sparse = slower * order_least(a, m->p, order);
  if (sparse < best) m->way = MATRIX_SPARSE, m->order = order;
}

Matrix *matrix_new(Arena *a, const Pattern *p) {
  Matrix *m = NEW(a, Matrix);
  size_t n = p->n, room = 0;
  m->p = with_diagonal(a, p);
  choose(m, a);
  if (m->way == MATRIX_DENSE) room = n * n;
  if (m->way == MATRIX_BAND) room = n * band_width(m->band);
  m->room = NEW_ARRAY(a, double, room + 1);
  m->swap = NEW_ARRAY(a, uint32_t, n + 1);
  if (m->way == MATRIX_SPARSE) {
    m->sparse = sparse_new(a, m->p, m->order);
    m->value = NEW_ARRAY(a, double, m->p->start[n] + 1);
  }
  if (m->way == MATRIX_BAND) {
    m->place = NEW_ARRAY(a, uint32_t, n + 1);
    m->turned = NEW_ARRAY(a, double, n + 1);
    for (uint32_t i = 0; i < n; i++) m->place[m->order[i]] = i;
  }
  return m;
}

const Pattern *matrix_pattern(const Matrix *m) { return m->p; }
MatrixWay matrix_way(const Matrix *m, Band *b) {
  if (b) *b = m->band;
  return m->way;
}

// The position of row r, column c.
static double *cell(const Matrix *m, uint32_t r, uint32_t c, uint32_t k) {
  if (m->way == MATRIX_SPARSE) return m->value + k;
  if (m->way == MATRIX_DENSE) return m->room + (size_t)r * m->p->n + c;
  size_t i = m->place[r], j = m->place[c];
  return m->room + i * band_width(m->band) + m->band.below + j - i;
}

bool matrix_factor(Matrix *m, const double *j, const double *diagonal, const double *share) {
  const Pattern *p = m->p;
  uint32_t n = p->n;
  size_t room = m->way == MATRIX_DENSE  ? (size_t)n * n
                : m->way == MATRIX_BAND ? n * band_width(m->band)
                                        : 0;
  memset(m->room, 0, room * sizeof(double));
  for (uint32_t c = 0; c < n; c++)
    for (uint32_t k = p->start[c]; k < p->start[c + 1]; k++) {
      uint32_t r = p->row[k];
      *cell(m, r, c, k) = (r == c ? diagonal[r] : 0) - share[r] * j[k];
    }
  switch (m->way) {
  case MATRIX_DENSE: return lu_factor(n, m->room, m->swap);
  case MATRIX_BAND: return band_factor(n, m->band, m->room, m->swap);
  default: return sparse_factor(m->sparse, m->value);
  }
}

void matrix_solve(Matrix *m, double *b) {
  uint32_t n = m->p->n;
  switch (m->way) {
  case MATRIX_DENSE: lu_solve(n, m->room, m->swap, b); break;
  case MATRIX_BAND:
    for (uint32_t i = 0; i < n; i++) m->turned[i] = b[m->order[i]];
    band_solve(n, m->band, m->room, m->swap, m->turned);
    for (uint32_t i = 0; i < n; i++) b[m->order[i]] = m->turned[i];
    break;
  case MATRIX_SPARSE: sparse_solve(m->sparse, b); break;
  }
}
