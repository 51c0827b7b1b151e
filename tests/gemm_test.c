// Matrix products against a triple loop in doubles: random sizes, memory layouts, offset tables,
// batches smaller than planned, every precision and every kernel that this CPU supports. Operands
// are surrounded by guards, and padding between their cells is NaN.
#define _POSIX_C_SOURCE 200809L
#include "run/engine/prebuilt/gemm_kernel.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

#ifdef LIMN_GUARD // the sanitizer sees every overrun
enum { GUARD = 0 };
#else
enum { GUARD = 67 };
#endif

static uint64_t seed;
static int64_t draw(int64_t n) { // 0 … n-1
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((seed >> 33) % (uint64_t)n);
}

// An operand of rows × columns somewhere in memory.
typedef struct {
  GemmAxis row, column;
  int32_t *table[2];
  int64_t rows, columns, cells; // cells: from the first to the last
  bool wide;                    // doubles
  void *memory;                 // with the guards
} Operand;

static size_t cell_bytes(const Operand *o) { return o->wide ? sizeof(double) : sizeof(float); }
static char *operand_data(const Operand *o) { return (char *)o->memory + GUARD * cell_bytes(o); }
static int64_t at(GemmAxis l, int64_t i) { return l.at ? l.at[i] : i * l.step; }

static double get(const Operand *o, int64_t i, int64_t j) {
  int64_t x = at(o->row, i) + at(o->column, j);
  return o->wide ? ((double *)(void *)operand_data(o))[x] : ((float *)(void *)operand_data(o))[x];
}
static void set(Operand *o, int64_t i, int64_t j, double v) {
  int64_t x = at(o->row, i) + at(o->column, j);
  if (o->wide)
    ((double *)(void *)operand_data(o))[x] = v;
  else
    ((float *)(void *)operand_data(o))[x] = (float)v;
}

static int32_t *shuffled(int64_t n, int64_t step) {
  int32_t *t = malloc((size_t)(n + 1) * sizeof *t);
  for (int64_t i = 0; i < n; i++) {
    int64_t j = draw(i + 1);
    t[i] = t[j];
    t[j] = (int32_t)(i * step);
  }
  return t;
}

enum {
  BY_ROWS,
  BY_COLUMNS,
  APART,
  ROW_TABLE,
  COLUMN_TABLE,
  TABLES,
  DISTINCT,
  WINDOWS = DISTINCT,
  ORDERS
};

static void lay_out(Operand *o, int64_t order, int64_t pad) {
  int64_t r = o->rows, c = o->columns;
  o->row.step = c + pad, o->column.step = 1;
  if (order == BY_COLUMNS) o->row.step = 1, o->column.step = r + pad;
  if (order == APART) o->column.step = 3, o->row.step = 3 * c + pad;
  if (order == ROW_TABLE || order == TABLES) o->row.at = o->table[0] = shuffled(r, c + pad);
  if (order == COLUMN_TABLE || order == TABLES) o->column.at = o->table[1] = shuffled(c, 1);
  if (order == WINDOWS) { // cells are shared, as those of a convolution are
    o->row.at = o->table[0] = shuffled(r, 1);
    o->column.at = o->table[1] = shuffled(c, 2);
  }
  int64_t last_row = 0, last_column = 0;
  for (int64_t i = 0; i < r; i++) last_row = at(o->row, i) > last_row ? at(o->row, i) : last_row;
  for (int64_t i = 0; i < c; i++)
    last_column = at(o->column, i) > last_column ? at(o->column, i) : last_column;
  o->cells = r && c ? last_row + last_column + 1 : 0;
}

static Operand operand_padded(int64_t rows, int64_t columns, int64_t order, bool wide,
                              int64_t pad) {
  Operand o = {.rows = rows, .columns = columns, .wide = wide};
  lay_out(&o, order, pad);
  size_t bytes = (size_t)(o.cells + 2 * GUARD) * cell_bytes(&o);
  o.memory = malloc(bytes ? bytes : 1);
  memset(o.memory, 0xff, bytes); // NaN
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) // many are between two bf16
      set(&o, i, j, (double)(draw(2001) - 1000) / (draw(2) ? 777.0 : 512.0));
  return o;
}
static Operand operand_new(int64_t rows, int64_t columns, int64_t order, bool wide) {
  return operand_padded(rows, columns, order, wide, draw(3) * draw(20));
}
static void operand_free(Operand *o) {
  free(o->memory);
  free(o->table[0]);
  free(o->table[1]);
}
static size_t operand_bytes(const Operand *o) {
  return (size_t)(o->cells + 2 * GUARD) * cell_bytes(o);
}

typedef struct {
  Gemm g;
  GemmPlan plan;
  Operand a, b, c;
  int64_t m, n, k; // of the run
  bool add;
  char *before; // C, before the run
} Case;

static GemmRun run_of(const Case *x) {
  return (GemmRun){.a = operand_data(&x->a),
                   .b = operand_data(&x->b),
                   .c = operand_data(&x->c),
                   .m = x->m,
                   .n = x->n,
                   .k = x->k,
                   .add = x->add};
}

static void *scratch(size_t bytes) {
  size_t room = (bytes + 63) / 64 * 64 + (GUARD > 0 ? 64 : 0);
  if (!room) return NULL;
  char *p = aligned_alloc(64, room);
  memset(p, 0xff, room);
  return p;
}
static void scratch_free(char *p, size_t bytes) {
  for (size_t i = bytes; p && GUARD > 0 && i < (bytes + 63) / 64 * 64 + 64; i++)
    assert_int_equal((unsigned char)p[i], 0xff);
  free(p);
}

// Runs all tasks, in order or shuffled, each with the memory of another thread.
static void run(Case *x, bool shuffle) {
  memcpy(x->c.memory, x->before, operand_bytes(&x->c));
  char *shared = scratch(x->plan.shared_bytes), *thread[2];
  for (int i = 0; i < 2; i++) thread[i] = scratch(x->plan.thread_bytes);
  GemmRun r = run_of(x);
  r.shared = shared;
  for (int phase = 0; phase < 3; phase++) {
    int32_t *order = shuffled(x->plan.tasks[phase], 1);
    for (int64_t i = 0; i < x->plan.tasks[phase]; i++) {
      r.thread = thread[i % 2];
      gemm_task(&x->plan, &r, phase, shuffle ? order[i] : i);
    }
    free(order);
  }
  for (int i = 0; i < 2; i++) scratch_free(thread[i], x->plan.thread_bytes);
  scratch_free(shared, x->plan.shared_bytes);
}

static double rounded(double v, Precision p) {
  if (p != PRECISION_BF16) return v;
  float f = (float)v;
  uint32_t u;
  memcpy(&u, &f, sizeof u);
  u = (u + 0x7fffu + (u >> 16 & 1u)) & 0xffff0000u;
  memcpy(&f, &u, sizeof f);
  return f;
}

// A cell is near the sum in doubles.
static void check_cell(Case *x, const Operand *was, int64_t m, int64_t n) {
  double unit = x->g.precision == PRECISION_64 ? 0x1p-53 : 0x1p-24;
  double sum = x->add ? get(was, m, n) : 0, all = fabs(sum), got = get(&x->c, m, n);
  for (int64_t k = 0; k < x->k; k++) {
    double t =
        rounded(get(&x->a, m, k), x->g.precision) * rounded(get(&x->b, k, n), x->g.precision);
    sum += t, all += fabs(t);
  }
  if (!(fabs(got - sum) <= (double)(x->k + 4) * unit * all))
    fail_msg("cell %d %d of %d %d %d: %.9g, not %.9g", (int)m, (int)n, (int)x->m, (int)x->n,
             (int)x->k, got, sum);
}

// Every cell is made, and right; of many, some are computed anew.
static void check_cells(Case *x) {
  Operand was = x->c;
  was.memory = x->before;
  int64_t step = x->m * x->n > 40000 ? 37 : 1;
  int64_t same = 0; // by chance, as numbers of 16 bits may be
  for (int64_t i = 0; x->k && i < x->m * x->n; i++)
    same += get(&x->c, i / x->n, i % x->n) == get(&was, i / x->n, i % x->n);
  assert_true(same <= 1 + x->m * x->n / 100);
  for (int64_t i = 0; i < x->m * x->n; i += step) check_cell(x, &was, i / x->n, i % x->n);
}

// What is not a cell of the run's C has its old bytes.
static void check_rest(Case *x) {
  Operand c = x->c;
  char *now = malloc(operand_bytes(&c) + 1);
  memcpy(now, c.memory, operand_bytes(&c));
  Operand clean = c, was = c;
  clean.memory = now, was.memory = x->before;
  for (int64_t m = 0; m < x->m; m++)
    for (int64_t n = 0; n < x->n; n++) set(&clean, m, n, get(&was, m, n));
  assert_memory_equal(now, x->before, operand_bytes(&c));
  free(now);
}

static void check(Case *x) {
  size_t bytes = operand_bytes(&x->c);
  x->before = malloc(bytes + 1);
  memcpy(x->before, x->c.memory, bytes);
  run(x, false);
  check_cells(x);
  check_rest(x);
  char *first = malloc(bytes + 1);
  memcpy(first, x->c.memory, bytes);
  for (int i = 0; i < 2; i++) {
    run(x, true);
    assert_memory_equal(first, x->c.memory, bytes);
  }
  free(first);
  free(x->before);
}

static void case_plan(Case *x, Precision precision) {
  x->g = (Gemm){.m = x->m,
                .n = x->n,
                .k = x->k,
                .am = x->a.row,
                .ak = x->a.column,
                .bk = x->b.row,
                .bn = x->b.column,
                .cm = x->c.row,
                .cn = x->c.column,
                .precision = precision};
  x->add = draw(2);
  gemm_plan(&x->g, &x->plan);
}
static Case case_new(int64_t m, int64_t n, int64_t k, Precision precision, int64_t orders) {
  bool wide = precision == PRECISION_64;
  Case x = {.m = m, .n = n, .k = k};
  x.a = operand_new(m, k, draw(orders), wide);
  x.b = operand_new(k, n, draw(orders), wide);
  x.c = operand_new(m, n, draw(orders < DISTINCT ? orders : DISTINCT), wide);
  case_plan(&x, precision);
  return x;
}
static void case_free(Case *x) {
  operand_free(&x->a);
  operand_free(&x->b);
  operand_free(&x->c);
}

static void check_sizes(int64_t m, int64_t n, int64_t k, Precision precision) {
  Case x = case_new(m, n, k, precision, draw(2) ? ORDERS : 2);
  if (draw(3) == 0) { // fewer than planned
    x.m -= draw(m + 1), x.n -= draw(n + 1), x.k -= draw(k + 1);
    if (draw(2)) x.n = n, x.k = k;
  }
  check(&x);
  case_free(&x);
}

static int64_t draw_size(void) { return draw(4) ? draw(40) : draw(140); }

static void check_precision(Precision precision) {
  for (int i = 0; i < 120; i++) check_sizes(draw_size(), draw_size(), draw_size(), precision);
  for (int i = 0; i < 6; i++) check_sizes(1 + draw(30), 1 + draw(30), 2000 + draw(3000), precision);
  check_sizes(200 + draw(40), 300 + draw(40), 20 + draw(30), precision); // several blocks
  check_sizes(50, 65, 1200 + draw(200), precision);                      // several chunks
}

static void every_kernel(void (*test)(Precision)) {
  static const char *const names[] = {"amx", "avx512bf16", "avx512", "avx2", "neon", "plain"};
  int tried = 0;
  seed = 1;
  for (uint32_t i = 0; i < COUNT(names); i++) {
    setenv("LIMN_CPU", names[i], 1);
    for (int p = PRECISION_32; p <= PRECISION_BF16; p++) {
      if (strcmp(gemm_kernel((Precision)p)->name, names[i]) != 0) continue; // it is not here
      tried++;
      test((Precision)p);
    }
  }
  unsetenv("LIMN_CPU");
  assert_true(tried > 0);
}

static void products_are_right(void **state) {
  (void)state;
  every_kernel(check_precision);
}

static void check_empty(Precision precision) {
  for (int i = 0; i < 8; i++) check_sizes(i & 1 ? 3 : 0, i & 2 ? 5 : 0, i & 4 ? 7 : 0, precision);
}
static void empty_products_are_zero(void **state) {
  (void)state;
  every_kernel(check_empty);
}

// Lines that share few places of a cache, or straddle its lines: both operands are packed.
static void check_far(Precision precision) {
  bool wide = precision == PRECISION_64;
  for (int i = 0; i < 2; i++) {
    int64_t step = i ? 1025 : 1024;
    Case x = {.m = 515, .n = 516, .k = 66};
    x.a = operand_padded(x.m, x.k, BY_COLUMNS, wide, step - x.m);
    x.b = operand_padded(x.k, x.n, BY_ROWS, wide, step - x.n);
    x.c = operand_new(x.m, x.n, BY_ROWS, wide);
    case_plan(&x, precision);
    assert_true(x.plan.pack_b && (x.plan.pack_a || i));
    check(&x);
    case_free(&x);
  }
}
static void lines_far_apart_are_packed(void **state) {
  (void)state;
  every_kernel(check_far);
}

// y[b i j o] = Σ x[b i+p j+q c] w[p q c o], its dw, and its dx with a halo of zeros around dy
static void check_convolution(Precision precision) {
  enum { B = 3, I = 7, J = 6, P = 3, C = 5, O = 17, H = I + P - 1, W = J + P - 1 };
  int32_t place[B * I * J], window[P * P * C];
  for (int b = 0, r = 0; b < B; b++)
    for (int i = 0; i < I; i++)
      for (int j = 0; j < J; j++) place[r++] = ((b * H + i) * W + j) * C;
  for (int p = 0, r = 0; p < P; p++)
    for (int q = 0; q < P; q++)
      for (int c = 0; c < C; c++) window[r++] = (p * W + q) * C + c;
  bool wide = precision == PRECISION_64;
  Operand x = operand_new(1, B * H * W * C, BY_ROWS, wide),
          y = operand_new(B * I * J, O, BY_ROWS, wide);
  Operand w = operand_new(P * P * C, O, BY_ROWS, wide);
  Case forward = {.a = x, .b = w, .c = y, .m = B * I * J, .n = O, .k = P * P * C};
  forward.a.row.at = place, forward.a.column.at = window;
  Case weights = {.a = x, .b = y, .c = w, .m = P * P * C, .n = O, .k = B * I * J};
  weights.a.row.at = window, weights.a.column.at = place;
  Case *both[] = {&forward, &weights};
  for (int i = 0; i < 2; i++) {
    Case *t = both[i];
    case_plan(t, precision);
    check(t);
  }
  operand_free(&x);
  operand_free(&y);
  operand_free(&w);
}
static void convolutions_are_products(void **state) {
  (void)state;
  every_kernel(check_convolution);
}

static void check_small(Precision precision) {
  for (int i = 0; i < 30; i++) {
    Case x = case_new(1 + draw(130), 1 + draw(130), 1 + draw(130), precision, DISTINCT);
    size_t bytes = operand_bytes(&x.c);
    x.before = malloc(bytes);
    memcpy(x.before, x.c.memory, bytes);
    run(&x, false);
    char *by_tasks = malloc(bytes), *memory = scratch(gemm_small_bytes(&x.plan));
    memcpy(by_tasks, x.c.memory, bytes);
    memcpy(x.c.memory, x.before, bytes);
    gemm_small(&x.plan, run_of(&x), memory);
    assert_memory_equal(by_tasks, x.c.memory, bytes);
    scratch_free(memory, gemm_small_bytes(&x.plan));
    free(by_tasks), free(x.before);
    case_free(&x);
  }
}
static void small_products_are_the_same(void **state) {
  (void)state;
  every_kernel(check_small);
}

// A cell of C does not depend on how many others there are.
static void check_neighbours(Precision precision) {
  for (int i = 0; i < 6; i++) {
    Case x = case_new(1 + draw(90), 1 + draw(90), 1 + draw(1200), precision, 2);
    size_t bytes = operand_bytes(&x.c);
    x.before = malloc(bytes);
    memcpy(x.before, x.c.memory, bytes);
    run(&x, false);
    Operand all = x.c;
    all.memory = malloc(bytes);
    memcpy(all.memory, x.c.memory, bytes);
    x.m = 1 + draw(x.m), x.n = 1 + draw(x.n);
    run(&x, false);
    for (int64_t m = 0; m < x.m; m++)
      for (int64_t n = 0; n < x.n; n++) assert_true(get(&all, m, n) == get(&x.c, m, n));
    free(all.memory), free(x.before);
    case_free(&x);
  }
}
static void cells_do_not_mind_each_other(void **state) {
  (void)state;
  every_kernel(check_neighbours);
}

// What is not finite stays in its row and its column, and is not lost on the way to bf16.
static void check_not_finite(Precision precision) {
  for (int i = 0; i < 10; i++) {
    Case x = case_new(2 + draw(40), 2 + draw(40), 2 + draw(90), precision, DISTINCT);
    int64_t bad_m = draw(x.m), bad_n = draw(x.n), k = draw(x.k);
    for (int64_t m = 0; m < x.m; m++) set(&x.a, m, k, m == bad_m ? NAN : 1);
    set(&x.b, k, bad_n, i % 2 ? INFINITY : 3.4e38);
    char *memory = scratch(gemm_small_bytes(&x.plan));
    gemm_small(&x.plan, run_of(&x), memory);
    for (int64_t m = 0; m < x.m; m++)
      for (int64_t n = 0; n < x.n; n++) {
        assert_true((m == bad_m) == (bool)isnan(get(&x.c, m, n)));
        if (i % 2 && n != bad_n && m != bad_m) assert_true(isfinite(get(&x.c, m, n)));
      }
    scratch_free(memory, gemm_small_bytes(&x.plan));
    case_free(&x);
  }
}
static void what_is_not_finite_stays(void **state) {
  (void)state;
  every_kernel(check_not_finite);
}

static void tasks_follow_the_work(void **state) {
  (void)state;
  Gemm g = {.m = 512,
            .n = 512,
            .k = 784,
            .am.step = 784,
            .ak.step = 1,
            .bk.step = 512,
            .bn.step = 1,
            .cm.step = 512,
            .cn.step = 1};
  GemmPlan big, tiny, conv;
  gemm_plan(&g, &big);
  assert_true(big.tasks[1] >= 64 && big.tasks[1] <= 1024);
  g.m = 32, g.n = 16, g.k = 4;
  gemm_plan(&g, &tiny);
  assert_int_equal(tiny.tasks[1], 1);
  g.m = 9, g.n = 16, g.k = 43264;
  gemm_plan(&g, &conv); // a long sum and a small result
  assert_true(conv.tasks[1] >= 8 && conv.tasks[2] > 0);
  assert_true(gemm_peak(PRECISION_32) > 1e8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_are_right),          cmocka_unit_test(empty_products_are_zero),
      cmocka_unit_test(lines_far_apart_are_packed),  cmocka_unit_test(convolutions_are_products),
      cmocka_unit_test(small_products_are_the_same), cmocka_unit_test(cells_do_not_mind_each_other),
      cmocka_unit_test(what_is_not_finite_stays),    cmocka_unit_test(tasks_follow_the_work)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
