// Compiled code equals the interpreter. Many random diagrams are combined to one, so that one
// compilation is enough; the engine runs it, and every result and next state is compared with
// diagram_eval.
#define _DEFAULT_SOURCE
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/interpret.h"
#include "core/pass/pass.h"
#include "core/pass/rewrite.h"
#include "gpu_help.h"
#include "random_diagram.h"
#include "run/engine/c/compile.h"
#include "run/engine/cuda/blas.h"
#include "run/engine/engine.h"
#include "run/plan/plan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { TOGETHER = 40 };

typedef struct {
  World *w;
  Arena *arena;
  Diagram *all; // one after the other
  VEC(Tensor) in, param;
} Row;

// `d` beside what is there: its inputs and params are appended, its params under names of their
// own.
static void add_diagram(Row *r, const Diagram *d, uint64_t seed) {
  World *w = r->w;
  Tensor *given = random_tensors(w, r->arena, d, seed);
  Eval e = {
      .arena = arena_child(r->arena), .seed = 5, .step = 3, .in = given, .param = given + d->in.n};
  e.out = NEW_ARRAY(r->arena, Tensor, d->out.n + 1);
  bool runs = diagram_eval(w, d, &e);
  arena_free(e.arena);
  if (!runs) return;
  Id *map = new_map(w, d);
  for (uint32_t i = 0; i < d->in.n; i++) {
    const Wire *x = &d->wire.at[d->in.at[i]];
    map[d->in.at[i]] = diagram_input(w, r->all, x->type, x->name, 0);
    vec_push(r->arena, &r->in, given[i]);
  }
  uint32_t first = r->all->param.n;
  for (uint32_t i = 0; i < d->param.n; i++) {
    Param p = d->param.at[i];
    const Wire *x = &d->wire.at[p.wire];
    p.path = arena_format(r->arena, "%llu/%s", (unsigned long long)seed, p.path);
    p.next = 0;
    uint32_t k = diagram_param(w, r->all, p, x->type, x->name, 0);
    map[d->param.at[i].wire] = r->all->param.at[k].wire;
    vec_push(r->arena, &r->param, given[d->in.n + i]);
  }
  copy_boxes(w, r->all, d, map);
  for (uint32_t i = 0; i < d->out.n; i++) diagram_output(w, r->all, map[d->out.at[i]]);
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].next) r->all->param.at[first + i].next = map[d->param.at[i].next];
  r->all->noisy |= d->noisy;
}

static Store *store_of(const Row *r, Precision precision) {
  Store *s = store_new(precision);
  for (uint32_t i = 0; i < r->all->param.n; i++) {
    const Tensor *t = &r->param.at[i];
    Base base = r->w && r->all->param.at[i].wire
                    ? r->all->wire.at[r->all->param.at[i].wire].type.base
                    : BASE_R;
    uint32_t k = store_add(s, r->all->param.at[i].path, base, t->rank, t->shape);
    state_set(store_at(s, k), t->data);
  }
  return s;
}

static bool is_near(double x, double y, double within) {
  return x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= within * (1 + fabs(y));
}

static void compare(const Tensor *want, Number number, const void *got, double within,
                    const char *what, uint32_t i) {
  double *x = malloc((size_t)(want->count + 1) * sizeof *x);
  numbers_get(number, got, x, want->count);
  for (int64_t k = 0; k < want->count; k++) {
    if ((number == NUMBER_I32 || number == NUMBER_U8) && !isfinite(want->data[k])) continue;
    if (!is_near(x[k], want->data[k], within))
      fail_msg("%s %u, number %lld is %.17g, should be %.17g", what, i, (long long)k, x[k],
               want->data[k]);
  }
  free(x);
}

static void run_row(Row *r, Precision precision, const Target *how, double within) {
  Store *s = store_of(r, precision);
  Diagram *d = r->all;
  Engine *e = engine_new(r->w, d, s, 4, how);
  Buf b = buf_new(r->arena);
  diags_print(r->w->diags, &b);
  if (!e) fail_msg("%s", b.at);
  for (uint32_t i = 0; i < d->in.n; i++)
    numbers_set(engine_in_number(e, i), engine_in(e, i), r->in.at[i].data, r->in.at[i].count);
  Eval v = {.arena = r->arena, .seed = how->seed, .step = 3, .in = r->in.at, .param = r->param.at};
  v.out = NEW_ARRAY(r->arena, Tensor, d->out.n + 1);
  v.next = NEW_ARRAY(r->arena, Tensor, d->param.n + 1);
  assert_true(diagram_eval(r->w, d, &v));
  engine_run(e, 4, 3);
  for (uint32_t i = 0; i < d->out.n; i++)
    compare(&v.out[i], engine_out_number(e, i), engine_out(e, i), within, "output", i);
  bool finite = true; // otherwise states stay
  for (uint32_t i = 0; i < d->out.n; i++)
    finite &= d->wire.at[d->out.at[i]].type.rank || isfinite(v.out[i].data[0]);
  for (uint32_t i = 0; finite && i < d->param.n; i++) {
    if (!d->param.at[i].next) continue;
    const State *state = store_find(s, d->param.at[i].path);
    compare(&v.next[i], state->number, state_data(state), within, "state", i);
  }
  engine_free(e);
  store_free(s);
}

static Row random_row(Arena *a, uint64_t seed, bool reverse) {
  World *w = world_new(a);
  Row r = {.w = w, .arena = a, .all = diagram_new(w, name_from(w->names, "row"))};
  for (uint64_t i = 0; i < TOGETHER; i++) {
    Chance c = {
        .boxes = 4 + (uint32_t)((seed + i) % 6), .smooth = reverse, .odd = (seed + i) % 4 == 0};
    Diagram *d = random_diagram(w, seed + i, &c);
    if (reverse) d = diagram_reverse(w, d, &(Wanted){0});
    d = diagram_simplify(w, inline_calls(w, d, false));
    if (is_testable(d)) add_diagram(&r, d, seed + i);
  }
  return r;
}

static void check_row(uint64_t seed, bool reverse, Precision precision, Target how, double within) {
  Arena *a = arena_new();
  Row r = random_row(a, seed, reverse);
  how.seed = 5;
  run_row(&r, precision, &how, within);
  arena_free(a);
}

static bool has_clang(void) { return access("/usr/bin/clang", X_OK) == 0; }
static uint64_t rows(uint64_t few) { // LIMN_LONG=1: two thousand programs
  return getenv("LIMN_LONG") ? 50 : few;
}

static void fused(void **state) {
  for (uint64_t i = 0; i < rows(2); i++)
    check_row(i * TOGETHER, i % 2, PRECISION_64, (Target){.threads = 1}, 1e-9);
  (void)state;
}

static void fused_reverse(void **state) {
  for (uint64_t i = 0; i < rows(2); i++)
    check_row(10000 + i * TOGETHER, true, PRECISION_64, (Target){.threads = 2}, 1e-9);
  (void)state;
}

static void unfused(void **state) {
  for (uint64_t i = 0; i < rows(1); i++)
    check_row(20000 + i * TOGETHER, i % 2, PRECISION_64, (Target){.threads = 2, .unfused = true},
              1e-9);
  (void)state;
}

static void by_clang(void **state) {
  if (!has_clang()) skip();
  for (uint64_t i = 0; i < rows(1); i++)
    check_row(30000 + i * TOGETHER, i % 2, PRECISION_64, (Target){.threads = 1, .cc = "clang"},
              1e-9);
  (void)state;
}

// Wires of the arena that some kernel finds both there have no byte in common.
static int64_t end_of(const PlanWire *w) {
  return w->at + w->count * (int64_t)number_bytes(w->number);
}

static bool share_bytes(const PlanWire *x, const PlanWire *y) {
  bool together = x->first <= y->last && y->first <= x->last;
  return together && x->at < end_of(y) && y->at < end_of(x);
}

static void check_places(const Plan *p) {
  assert_null(p->error);
  for (uint32_t i = 0; i < p->node.n; i++) {
    const PlanNode *x = &p->node.at[i];
    if (x->kind > NODE_ORDER || x->kernel == PLAN_NONE) continue;
    for (uint32_t k = 0; k < node_wires(x); k++) {
      uint32_t wire = node_wire(x, k);
      const PlanWire *w = wire == PLAN_NONE ? NULL : &p->wire.at[wire_root(p, wire)];
      if (w && w->place == AT_ARENA) assert_true(w->first <= x->kernel && x->kernel <= w->last);
    }
  }
  for (uint32_t i = 0; i < p->wire.n; i++) {
    const PlanWire *x = &p->wire.at[i];
    if (x->place != AT_ARENA) continue;
    assert_true(x->at >= 0 && end_of(x) <= p->arena_bytes);
    for (uint32_t k = 0; k < i; k++)
      if (p->wire.at[k].place == AT_ARENA && share_bytes(x, &p->wire.at[k]))
        fail_msg("wires %u and %u share bytes", k, i);
  }
}

static void places(void **state) {
  static const PlanTarget *const target[] = {&plan_cpu, &plan_gpu, &plan_gpu_launches};
  for (uint64_t i = 0; i < rows(4); i++)
    for (uint32_t t = 0; t < COUNT(target); t++) {
      Arena *a = arena_new();
      Row r = random_row(a, 60000 + i * TOGETHER, i % 2);
      PlanOptions o = {.samples = 3, .fuse = i % 4 != 3, .target = target[t]};
      o.bf16 = o.epilogues = i / 2 % 2 && t;
      check_places(plan_make(r.w, r.all, &o));
      arena_free(a);
    }
  (void)state;
}

static Device *open_gpu(Arena *a) {
  const char *why = NULL;
  have_gpu();
  Device *d = device_open(0, a, &why);
  if (!d) fail_msg("%s", why);
  return d;
}

static void on_gpu(void **state) {
#ifdef __SANITIZE_ADDRESS__
  if (!getenv("LIMN_GPU")) skip(); // it does not know the stacks of fibers
#endif
  Arena *a = arena_new();
  Device *d = open_gpu(a);
  for (uint64_t i = 0; i < rows(4); i++) {
    if (i / 2 % 2) setenv("LIMN_LAUNCHES", "1", 1);
    check_row(40000 + i * TOGETHER, i % 2, PRECISION_64, (Target){.device = d}, 1e-9);
  }
  unsetenv("LIMN_LAUNCHES");
  check_row(50000, true, PRECISION_64, (Target){.device = d, .unfused = true}, 1e-9);
  device_close(d);
  arena_free(a);
  (void)state;
}

// Products by cuBLASLt: matrices that lie either way, with room between their rows, one or many.
enum { CELLS = 4096, TRIES = 300 };

static uint64_t draw(uint64_t *state, uint64_t below) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (*state >> 33) % below;
}

static double small_number(uint64_t *state) { return (double)draw(state, 1000) / 1000 - 0.5; }

static BlasProduct random_product(uint64_t *r) {
  BlasProduct p = {.precision = draw(r, 2) ? PRECISION_64 : PRECISION_32};
  p.m = 1 + (int64_t)draw(r, 9), p.n = 1 + (int64_t)draw(r, 9);
  p.k = 1 + (int64_t)draw(r, 9), p.batch = 1 + (int64_t)draw(r, 3);
  int64_t more = (int64_t)draw(r, 3);
  bool a = draw(r, 2), b = draw(r, 2), c = draw(r, 2);
  p.am = a ? 1 : p.k + more, p.ak = a ? p.m + more : 1;
  p.bk = b ? 1 : p.n + more, p.bn = b ? p.k + more : 1;
  p.cm = c ? 1 : p.n + more, p.cn = c ? p.m + more : 1;
  p.ta = 150, p.tb = 200, p.tc = 160;
  return p;
}

static double cell_of(const BlasProduct *p, const double *memory, int64_t i) {
  return p->precision == PRECISION_64 ? memory[i] : ((const float *)memory)[i];
}

static void check_product(Blas *blas, const Device *d, BlasProduct *p, double *a, double *b,
                          double *c) {
  CudaResult result = 1;
  p->a = (DeviceAddress)(uintptr_t)a, p->b = (DeviceAddress)(uintptr_t)b;
  p->c = (DeviceAddress)(uintptr_t)c;
  assert_true(blas_supports(p));
  assert_true(blas_multiply(blas, d, p, NULL, &result));
  assert_int_equal(result, 0);
  for (int64_t t = 0; t < p->batch; t++)
    for (int64_t y = 0; y < p->m; y++)
      for (int64_t x = 0; x < p->n; x++) {
        double sum = 0;
        for (int64_t k = 0; k < p->k; k++)
          sum += cell_of(p, a, t * p->ta + y * p->am + k * p->ak) *
                 cell_of(p, b, t * p->tb + k * p->bk + x * p->bn);
        assert_true(fabs(cell_of(p, c, t * p->tc + y * p->cm + x * p->cn) - sum) < 1e-5);
      }
}

static void products_of_gpu(void **state) {
  if (getenv("LIMN_GPU")) skip(); // its memory is not ours
  Arena *arena = arena_new();
  Device *d = open_gpu(arena);
  Blas *blas = blas_open(d, arena);
  const char *why;
  assert_non_null(blas);
  assert_true(device_ready(d, arena, &why));
  blas_start(blas);
  uint64_t r = 7;
  static double a[CELLS], b[CELLS], c[CELLS];
  for (int i = 0; i < TRIES; i++) {
    BlasProduct p = random_product(&r);
    for (int k = 0; k < CELLS; k++)
      if (p.precision == PRECISION_64)
        a[k] = small_number(&r), b[k] = small_number(&r);
      else
        ((float *)a)[k] = (float)(small_number(&r)), ((float *)b)[k] = (float)small_number(&r);
    check_product(blas, d, &p, a, b, c);
  }
  BlasProduct across = {.m = 4, .n = 4, .k = 4, .batch = 1, .am = 8, .ak = 2, .bk = 4, .bn = 1};
  across.cm = 4, across.cn = 1;
  assert_false(blas_supports(&across)); // neither its rows nor its columns lie along memory
  blas_close(blas, d);
  device_close(d);
  arena_free(arena);
  (void)state;
}

// On aarch64 a compiler is told which extensions there are, and never to go by the CPU's name: each
// is one that the kernel lists, for a virtual machine may hide what the CPU has.
static void for_this_cpu(void **state) {
  (void)state;
#if defined __aarch64__ && defined __linux__
  const char *flag[COMPILE_FLAGS];
  char cpu[4096] = "";
  FILE *f = fopen("/proc/cpuinfo", "r");
  while (f && strncmp(cpu, "Features", 8) && fgets(cpu, sizeof cpu, f)) continue;
  if (f) fclose(f);
  cpu[strcspn(cpu, "\n")] = 0;
  strcat(cpu, " ");
  uint32_t n = compile_flags(flag), told = 0;
  for (uint32_t i = 0; i < n; i++) {
    char machine[64], word[80], *next = machine;
    assert_true(strncmp(flag[i], "-mcpu=", 6));
    if (strncmp(flag[i], "-march=", 7)) continue;
    snprintf(machine, sizeof machine, "%s", flag[i] + 7);
    assert_string_equal(strsep(&next, "+"), "armv8-a");
    for (told++; next;) {
      snprintf(word, sizeof word, " %s ", strsep(&next, "+"));
      assert_non_null(strstr(cpu, word));
    }
  }
  assert_int_equal(told, 1);
#else
  skip();
#endif
}

// Many small jobs, one after the other, whose data are gone behind them: each is done once, whoever
// comes too late for it.
typedef struct {
  int64_t *done; // [task]
  int64_t job;
} SmallJob;

static void small_task(void *context, int64_t task, uint32_t thread) {
  const SmallJob *j = context;
  (void)thread;
  j->done[task] += j->job + task;
}

static void small_jobs(void **state) {
  (void)state;
  Pool *pool = pool_new(4);
  assert_non_null(pool);
  for (int64_t job = 0; job < 5000; job++) {
    int64_t done[40] = {0}, tasks = 2 + job % 38;
    pool_run(pool, small_task, &(SmallJob){done, job}, tasks);
    for (int64_t i = 0; i < tasks; i++) assert_int_equal(done[i], job + i);
  }
  pool_free(pool);
}

int main(void) {
  char cache[] = "/tmp/limn-engine-XXXXXX";
  if (!getenv("LIMN_CACHE") && mkdtemp(cache)) setenv("LIMN_CACHE", cache, 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fused),           cmocka_unit_test(fused_reverse),
      cmocka_unit_test(unfused),         cmocka_unit_test(by_clang),
      cmocka_unit_test(places),          cmocka_unit_test(on_gpu),
      cmocka_unit_test(products_of_gpu), cmocka_unit_test(for_this_cpu),
      cmocka_unit_test(small_jobs),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  if (!strncmp(cache, "/tmp/limn-engine-", 17)) {
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", cache);
    if (system(command)) return 1;
  }
  return failed;
}
