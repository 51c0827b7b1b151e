// Sparse matrices: all factorisations have the same result, columns of a group have no row in
// common, and a run does not depend on the known sparsity.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "run/solve/solve_own.h"
#include "solve_help.h"

// -- patterns -------------------------------------------------------------------------------------
typedef bool Place(uint32_t n, uint32_t r, uint32_t c);
static bool in_band(uint32_t n, uint32_t r, uint32_t c) {
  (void)n;
  return r + 2 >= c && c + 1 >= r;
}
static bool in_ring(uint32_t n, uint32_t r, uint32_t c) {
  uint32_t d = (r + n - c) % n;
  return d <= 1 || d == n - 1;
}
static bool in_arrow(uint32_t n, uint32_t r, uint32_t c) {
  (void)n;
  return r == c || r == 0 || c == 0;
}
static bool in_grid(uint32_t n, uint32_t r, uint32_t c) {
  uint32_t side = (uint32_t)sqrt(n), x = r % side, y = r / side, u = c % side, v = c / side;
  uint32_t dx = x > u ? x - u : u - x, dy = y > v ? y - v : v - y;
  return dx + dy <= 1;
}
static bool scattered(uint32_t n, uint32_t r, uint32_t c) {
  return (r * 7919u + c * 104729u) % n < 3; // the diagonal may be missing
}
static bool crossed(uint32_t n, uint32_t r, uint32_t c) { return r + c + 1 == n || r == c; }
static bool anywhere(uint32_t n, uint32_t r, uint32_t c) {
  (void)n, (void)r, (void)c;
  return true;
}

static Pattern *pattern_of(Arena *a, uint32_t n, Place *place) {
  Pattern *p = NEW(a, Pattern);
  uint32_t *start = NEW_ARRAY(a, uint32_t, (size_t)n + 1);
  VEC(uint32_t) row = {0};
  for (uint32_t c = 0; c < n; c++) {
    for (uint32_t r = 0; r < n; r++)
      if (place(n, r, c)) vec_push(a, &row, r);
    start[c + 1] = row.n;
  }
  *p = (Pattern){n, start, row.at};
  return p;
}

static const struct {
  Place *place;
  uint32_t n;
  MatrixWay way;
} shapes[] = {{in_band, 500, MATRIX_BAND},    {in_ring, 400, MATRIX_BAND},
              {in_arrow, 400, MATRIX_SPARSE}, {in_grid, 900, MATRIX_SPARSE},
              {scattered, 60, MATRIX_BAND},   {anywhere, 40, MATRIX_DENSE},
              {in_band, 10, MATRIX_DENSE},    {crossed, 300, MATRIX_BAND}};

// Random numbers; without a diagonal of its own a factor must exchange rows.
static void fill(uint32_t *seed, uint32_t n, double *value) {
  for (uint32_t i = 0; i < n; i++) value[i] = some(seed) - 0.5;
}

static void whole(const Pattern *p, const double *j, const double *diagonal, double *a) {
  uint32_t n = p->n;
  memset(a, 0, (size_t)n * n * sizeof *a);
  for (uint32_t c = 0; c < n; c++)
    for (uint32_t k = p->start[c]; k < p->start[c + 1]; k++)
      a[(size_t)p->row[k] * n + c] = (p->row[k] == c ? diagonal[c] : 0) - j[k];
}

// All ways against each other, by what is left of the right side.
static void solved(const Pattern *p, const double *a, const double *b, const double *x) {
  for (uint32_t r = 0; r < p->n; r++) {
    double sum = -b[r], size = fabs(b[r]);
    for (uint32_t c = 0; c < p->n; c++) {
      sum += a[(size_t)r * p->n + c] * x[c];
      size += fabs(a[(size_t)r * p->n + c] * x[c]);
    }
    near(sum, 0, 1e-12 * size);
  }
}

static void ways_agree(void **state) {
  (void)state;
  uint32_t seed = 7;
  for (uint32_t s = 0; s < COUNT(shapes); s++) {
    Arena *a = arena_new();
    uint32_t n = shapes[s].n;
    Matrix *m = matrix_new(a, pattern_of(a, n, shapes[s].place));
    const Pattern *p = matrix_pattern(m);
    assert_int_equal(matrix_way(m, NULL), shapes[s].way);
    uint32_t *order = NEW_ARRAY(a, uint32_t, n);
    order_least(a, p, order);
    SparseFactor *sparse = sparse_new(a, p, order);
    double *j = NEW_ARRAY(a, double, p->start[n] + 1), *wide = NEW_ARRAY(a, double, (size_t)n *n),
           *row = NEW_ARRAY(a, double, 5 * (size_t)n), *b = row + n, *x = b + n, *y = x + n,
           *share = y + n;
    for (uint32_t i = 0; i < n; i++) share[i] = 1;
    for (int turn = 0; turn < 4; turn++) { // the second time places are known; then pivots are bad
      fill(&seed, p->start[n], j);
      fill(&seed, n, b);
      for (uint32_t i = 0; i < n; i++) row[i] = turn == 3 ? 0 : turn == 2 ? 1e-9 : 4;
      whole(p, j, row, wide);
      if (!matrix_factor(m, j, row, share)) continue;
      memcpy(x, b, n * sizeof *x), memcpy(y, b, n * sizeof *y);
      matrix_solve(m, x);
      solved(p, wide, b, x);
      double *value = NEW_ARRAY(a, double, p->start[n] + 1);
      for (uint32_t c = 0; c < n; c++)
        for (uint32_t k = p->start[c]; k < p->start[c + 1]; k++)
          value[k] = wide[(size_t)p->row[k] * n + c];
      assert_true(sparse_factor(sparse, value));
      sparse_solve(sparse, y);
      solved(p, wide, b, y);
    }
    arena_free(a);
  }
}

static void what_is_singular_is_refused(void **state) {
  (void)state;
  for (uint32_t s = 0; s < COUNT(shapes); s++) {
    Arena *a = arena_new();
    uint32_t n = shapes[s].n;
    Matrix *m = matrix_new(a, pattern_of(a, n, shapes[s].place));
    double *j = NEW_ARRAY(a, double, matrix_pattern(m)->start[n] + 1);
    double *zero = NEW_ARRAY(a, double, n + 1), *one = NEW_ARRAY(a, double, n + 1);
    for (uint32_t i = 0; i < n; i++) one[i] = i != n / 2;
    assert_false(matrix_factor(m, j, zero, one));
    assert_false(matrix_factor(m, j, one, one)); // a row of zeros
    one[n / 2] = 1;
    assert_true(matrix_factor(m, j, one, one));
    arena_free(a);
  }
}

static void groups_are_apart(void **state) {
  (void)state;
  static const uint32_t most[] = {4, 5, 400, 9, 60, 40, 4, 300};
  for (uint32_t s = 0; s < COUNT(shapes); s++) {
    Arena *a = arena_new();
    uint32_t n = shapes[s].n, *group = NEW_ARRAY(a, uint32_t, n);
    const Pattern *p = pattern_of(a, n, shapes[s].place);
    uint32_t groups = pattern_colours(a, p, group);
    assert_true(groups <= most[s]);
    uint32_t *owner = NEW_ARRAY(a, uint32_t, (size_t)n * groups);
    for (uint32_t c = 0; c < n; c++)
      for (uint32_t k = p->start[c]; k < p->start[c + 1]; k++) {
        uint32_t *x = &owner[(size_t)p->row[k] * groups + group[c]];
        assert_int_equal(*x, 0);
        *x = c + 1;
      }
    arena_free(a);
  }
}

// -- runs -----------------------------------------------------------------------------------------
enum { CELLS = 60 };
static bool spread(void *c, double t, const double *x, const double *delayed, double *dx) {
  const uint32_t *far = c;
  (void)t, (void)delayed;
  for (uint32_t i = 0; i < CELLS; i++)
    dx[i] = 300 * (x[(i + CELLS - 1) % CELLS] - 2 * x[i] + x[(i + 1) % CELLS]) + x[i] * (1 - x[i]) +
            x[far[i]] * cos(x[i]);
  return true;
}
static uint32_t far_of[CELLS];
static bool spreads(uint32_t n, uint32_t r, uint32_t c) {
  return in_ring(n, r, c) || far_of[r] == c;
}
static Pattern *spread_pattern;
static const Pattern *get_pattern(void *c) {
  (void)c;
  return spread_pattern;
}

// By differences or not, with far connections or without: zeros that are known change nothing.
static void runs_agree(void **state) {
  (void)state;
  uint32_t seed = 3;
  for (int kind = 0; kind < 4; kind++) {
    double start[CELLS];
    for (uint32_t i = 0; i < CELLS; i++) {
      start[i] = some(&seed);
      far_of[i] = kind % 2 ? (uint32_t)(CELLS * some(&seed)) : i;
    }
    Problem p = {.n = CELLS, .rates = spread, .context = far_of, .timeless = true};
    Run full = begin(p, (SolveOptions){.method = SOLVE_STIFF}, start);
    Arena *a = arena_new();
    spread_pattern = pattern_of(a, CELLS, spreads);
    p.pattern = get_pattern, p.timeless = kind < 2;
    Run sparse = begin(p, (SolveOptions){.method = SOLVE_STIFF}, start);
    run_to(full.s, 1), run_to(sparse.s, 1);
    for (uint32_t i = 0; i < CELLS; i++)
      near(solver_state(sparse.s)[i], solver_state(full.s)[i], 1e-10);
    uint64_t most, least;
    solver_count(full.s, NULL, &most), solver_count(sparse.s, NULL, &least);
    assert_true(least * 2 < most);
    end_run(&full), end_run(&sparse);
    arena_free(a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ways_agree),
      cmocka_unit_test(what_is_singular_is_refused),
      cmocka_unit_test(groups_are_apart),
      cmocka_unit_test(runs_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
