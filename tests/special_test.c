// The law of special numbers: at zeros of both signs, denormal, huge, infinite and undefined numbers, every scalar
// function, every reduction and their derivatives have the values of the interpreter in every engine: prebuilt
// kernels, compiled C, and kernels for a GPU (emulated on this CPU). NaN equals NaN. For floats, the engines are
// compared with one another: prelude_test compares their functions with the interpreter.
#define _DEFAULT_SOURCE
#include "base/diag.h"
#include "core/diagram/interpret.h"
#include "core/diagram/ops.h"
#include "core/pass/pass.h"
#include "core/pass/pipeline.h"
#include "derive_help.h"
#include "gpu_help.h"
#include "prelude_help.h"
#include "run/engine/cuda/driver.h"
#include "run/engine/engine.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { PREBUILT, COMPILED, ON_GPU, ENGINES };
static const char *const engine_names[] = {"prebuilt kernels", "compiled code", "a GPU"};

// A function of its own inputs, at all combinations of special numbers.
typedef struct {
  const char *name, *body;
  Fn fn; // or FN_COUNT: a reduction
  Combine combine;
  int64_t rows, columns; // of a reduction: of each row one number
  Arguments at;
  uint32_t arity;
  bool bit[3];
} Function;

typedef struct {
  T *t;
  const Kind *kind;
  VEC(Function) function;
  uint32_t wrong;
} Law;

// Engines take denormal numbers for 0; libm's functions see their bits.
static void flush_arguments(const Kind *k, Function *f) {
  for (uint32_t i = 0; i < f->arity; i++)
    for (uint32_t n = 0; n < f->at.n; n++)
      if (fabs(f->at.x[i][n]) < k->least) f->at.x[i][n] *= 0;
}

static void add_scalar_function(Law *l, Fn fn) {
  static const char *const body[] = {"%s", "%s(a)", "%s(a, b)", "%s(a, b, c)"};
  const FnRow *row = &fn_rows[fn];
  Function f = {.name = row->name, .fn = fn, .arity = row->arity};
  f.body = arena_format(l->t->arena, body[row->arity], row->name);
  f.at = row_arguments(l->t->arena, l->kind, fn, 0);
  for (uint32_t i = 0; i < row->arity; i++) f.bit[i] = row->sig[i] == 'B';
  flush_arguments(l->kind, &f);
  vec_push(l->t->arena, &l->function, f);
}

// Rows of special numbers by chance. A row of them all would be NaN.
static void add_reduction(Law *l, const char *name, Combine combine) {
  static const double some[] = {0, -0.0, 1, -2, 0.5, INFINITY, -INFINITY, NAN, 1e7, -1e7, 1e-7};
  Function f = {.name = name, .fn = FN_COUNT, .combine = combine, .body = "a", .arity = 1};
  f.rows = 200, f.columns = 5;
  f.at.n = (uint32_t)(f.rows * f.columns);
  f.at.x[0] = NEW_ARRAY(l->t->arena, double, f.at.n);
  uint64_t random = 7;
  for (uint32_t i = 0; i < f.at.n; i++) {
    uint64_t kinds_of_row = 2 + i / (uint32_t)f.columns % (COUNT(some) - 1);
    f.at.x[0][i] = some[next_random(&random) % kinds_of_row];
  }
  vec_push(l->t->arena, &l->function, f);
}

static Law law_of(const Kind *kind) {
  Law l = {.t = t_new(1), .kind = kind};
  for (int fn = FN_SIZE + 1; fn < FN_COUNT; fn++) add_scalar_function(&l, (Fn)fn);
  add_reduction(&l, "the sum of a row", SUM);
  add_reduction(&l, "the product of a row", PROD);
  add_reduction(&l, "the largest of a row", MAX);
  add_reduction(&l, "the smallest of a row", MIN);
  return l;
}

// -- the diagram of all functions, and that of their derivatives ----------------------------------
static Id put_function(Law *l, Diagram *d, const Function *f) {
  T *t = l->t;
  Operand operand[3];
  const char *size = arena_format(t->arena, "%u", f->at.n), *box, *access = "i";
  if (f->rows) {
    size = arena_format(t->arena, "%lld %lld", (long long)f->rows, (long long)f->columns);
    box = arena_format(t->arena, "i:%lld j:%lld", (long long)f->rows, (long long)f->columns);
    access = "i j";
  } else {
    box = arena_format(t->arena, "i:%s", size);
  }
  for (uint32_t i = 0; i < f->arity; i++)
    operand[i] = (Operand){t_input(t, d, f->bit[i] ? BASE_BIT : BASE_R, size), access};
  const char *out = f->rows ? arena_format(t->arena, "%lld", (long long)f->rows) : size;
  return t_loop(t, d, box, f->rows ? f->combine : SUM, "i", out, f->body, f->arity, operand);
}

static Diagram *values_diagram(Law *l) {
  Diagram *d = t_diagram(l->t, "values");
  for (uint32_t i = 0; i < l->function.n; i++)
    diagram_output(l->t->w, d, put_function(l, d, &l->function.at[i]));
  return d;
}

static Tensor cotangent(T *t, const Type *type) {
  Tensor g = t_tensor(t, type, 0, 1);
  static const double some[] = {1, -2, 0.5, 0};
  for (int64_t i = 0; i < g.count; i++)
    g.data[i] = type->base == BASE_BIT ? (double)(i & 1) : some[i % 4];
  return g;
}

static Tensor *inputs_of(Law *l, const Diagram *d) {
  Tensor *in = NEW_ARRAY(l->t->arena, Tensor, d->in.n + 1);
  uint32_t n = 0;
  for (uint32_t i = 0; i < l->function.n; i++)
    for (uint32_t k = 0; k < l->function.at[i].arity; k++, n++) {
      in[n] = t_tensor(l->t, &d->wire.at[d->in.at[n]].type, 0, 1);
      in[n].data = l->function.at[i].at.x[k];
    }
  for (; n < d->in.n; n++) in[n] = cotangent(l->t, &d->wire.at[d->in.at[n]].type);
  return in;
}

// -- engines --------------------------------------------------------------------------------------
static Tensor *by_engine_of(Law *l, const Diagram *d, const Tensor *in, Target how) {
  Arena *a = l->t->arena;
  Store *s = store_new(l->kind->wide ? PRECISION_64 : PRECISION_32);
  Engine *e = engine_new(l->t->w, passes_step(l->t->w, d), s, 0, &how);
  Buf b = buf_new(a);
  diags_print(l->t->w->diags, &b);
  if (!e) fail_msg("%s", b.at);
  for (uint32_t i = 0; i < d->in.n; i++)
    numbers_set(engine_in_number(e, i), engine_in(e, i), in[i].data, in[i].count);
  assert_int_equal(engine_run(e, 0, 0), RUN_GOOD);
  Tensor *out = NEW_ARRAY(a, Tensor, d->out.n + 1);
  for (uint32_t i = 0; i < d->out.n; i++) {
    const Type *type = &d->wire.at[d->out.at[i]].type;
    out[i] = t_tensor(l->t, type, 0, 1);
    numbers_get(engine_out_number(e, i), engine_out(e, i), out[i].data, out[i].count);
  }
  engine_free(e);
  store_free(s);
  return out;
}

static Tensor *by_interpreter(Law *l, const Diagram *d, const Tensor *in) {
  Eval e = {.arena = l->t->arena, .in = in};
  e.out = NEW_ARRAY(l->t->arena, Tensor, d->out.n + 1);
  if (!diagram_eval(l->t->w, d, &e)) fail_msg("%s", e.error);
  return e.out;
}

// -- comparison -----------------------------------------------------------------------------------
static bool near(const Kind *k, double have, double want) {
  if (isnan(have) || isnan(want)) return isnan(have) && isnan(want);
  if (isinf(have) || isinf(want))
    return have == want || fabs(isinf(have) ? want : have) > k->most * (1 - 1e-6);
  return fabs(have - want) <= (k->wide ? 1e-11 : 1e-4) * fabs(want) + 4 * k->least;
}

// Far from 0 an angle's last digit is a large part of a turn, and a quotient has no digits behind the point.
static bool rounding_decides(const Function *f, uint32_t i) {
  double a = f->at.x[0][i], b = f->arity > 1 ? f->at.x[1][i] : 0, q = a / b;
  if (f->fn == FN_sin || f->fn == FN_cos || f->fn == FN_tan) return isfinite(a) && fabs(a) > 1e6;
  if (f->fn != FN_mod || !isfinite(q)) return false;
  return fabs(q) > 1e6 || fabs(q - nearbyint(q)) < 1e-6 * (1 + fabs(q));
}

static void compare_function(Law *l, const Function *f, const char *what, const Tensor *have,
                             const Tensor *want) {
  for (uint32_t i = 0; i < have->count; i++) {
    if (!f->rows && rounding_decides(f, i)) continue;
    if (near(l->kind, have->data[i], want->data[i])) continue;
    uint32_t at = f->rows && have->count == f->rows ? i * (uint32_t)f->columns : i;
    print_message("%s, %s, %d bits: of", f->name, what, l->kind->digits);
    for (uint32_t k = 0; k < f->arity; k++) print_message(" %.17g", f->at.x[k][at]);
    for (uint32_t k = 1; k < f->columns; k++) print_message(" %.17g", f->at.x[0][at / 5 * 5 + k]);
    print_message(" it is %.17g, should be %.17g\n", have->data[i], want->data[i]);
    l->wrong++;
    return;
  }
}

// Values are one for each function; derivatives one for each argument, then, of the second order, one for each
// function: the derivative by the first one's cotangent.
// The second derivatives of a power are differences of numbers that are far larger.
static void compare_all(Law *l, uint32_t order, const char *engine, const Tensor *have,
                        const Tensor *want) {
  const char *what =
      order ? arena_format(l->t->arena, "derivative %u by %s", order, engine) : engine;
  uint32_t n = 0;
  for (uint32_t i = 0; order && i < l->function.n; i++)
    for (uint32_t k = 0; k < l->function.at[i].arity; k++, n++)
      if (order == 1 || l->function.at[i].fn != FN_pow)
        compare_function(l, &l->function.at[i], what, &have[n], &want[n]);
  for (uint32_t i = 0; order != 1 && i < l->function.n; i++, n++)
    compare_function(l, &l->function.at[i], what, &have[n], &want[n]);
}

static void check(Law *l, uint32_t order, struct Device *gpu) {
  Diagram *d = values_diagram(l);
  for (uint32_t i = 0; i < order; i++) d = diagram_reverse(l->t->w, d, &(Wanted){0});
  const Tensor *in = inputs_of(l, d), *want = l->kind->wide ? by_interpreter(l, d, in) : NULL;
  for (int engine = PREBUILT; engine < ENGINES; engine++) {
    Target how = {.threads = 1, .no_compiler = engine == PREBUILT};
    if (engine == ON_GPU) how.device = gpu;
    if (engine == ON_GPU && !gpu) continue;
    const Tensor *have = by_engine_of(l, d, in, how);
    if (want) compare_all(l, order, engine_names[engine], have, want);
    if (!want) want = have; // floats: the first engine's
  }
}

static void check_kind(const Kind *kind) {
  Arena *a = arena_new();
  const char *why = NULL;
  struct Device *gpu = NULL;
#ifndef __SANITIZE_ADDRESS__ // it does not know the stacks of fibers
  have_gpu();
  gpu = device_open(0, a, &why);
  if (!gpu) fail_msg("%s", why);
#endif
  uint32_t wrong = 0;
  for (uint32_t order = 0; order <= 2; order++) {
    Law l = law_of(kind);
    check(&l, order, gpu);
    wrong += l.wrong;
    t_free(l.t);
  }
  if (gpu) device_close(gpu);
  arena_free(a);
  assert_int_equal(wrong, 0);
}

static void special_doubles(void **state) { (void)state, check_kind(&kinds[1]); }
static void special_floats(void **state) { (void)state, check_kind(&kinds[0]); }

int main(void) {
  char cache[] = "/tmp/limn-special-XXXXXX";
  pool_flush_denormals(); // as kernels do: the interpreter and the emulated GPU run on this thread
  if (!getenv("LIMN_CACHE") && mkdtemp(cache)) setenv("LIMN_CACHE", cache, 1);
  const struct CMUnitTest tests[] = {cmocka_unit_test(special_doubles),
                                     cmocka_unit_test(special_floats)};
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  if (!strncmp(cache, "/tmp/limn-special-", 18)) {
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", cache);
    if (system(command)) return 1;
  }
  return failed;
}
