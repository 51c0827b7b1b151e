// Diagrams: the table of scalar functions, the reference interpreter, and the text form.
//
// Diagrams are written as text, which is shorter than building them and tests the reader. Expected
// numbers are computed by plain loops here, not by the code under test.
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "core/diagram/interpret.h"
#include "core/diagram/ops.h"
#include "core/diagram/print.h"
#include "diagram_help.h"
#include "random_diagram.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct {
  Arena *arena;
  World *w;
} Stage;

static int setup(void **state) {
  Stage *s = calloc(1, sizeof *s);
  s->arena = arena_new();
  s->w = world_new(s->arena);
  *state = s;
  return 0;
}

static int teardown(void **state) {
  Stage *s = *state;
  arena_free(s->arena);
  free(s);
  return 0;
}

static void say_diags(Stage *s) {
  Buf b = buf_new(s->arena);
  diags_print(s->w->diags, &b);
  print_error("%s", b.at);
}

static Diagram *try_read(Stage *s, const char *text) {
  return diagram_read(s->w, source_add(s->w->sources, "test", text, strlen(text)));
}

static Diagram *read(Stage *s, const char *text) {
  Diagram *d = try_read(s, text);
  if (!d) say_diags(s);
  assert_non_null(d);
  return d;
}

static const char *print(Stage *s, const Diagram *d) {
  Buf b = buf_new(s->arena);
  diagram_print(s->w, d, &b, false);
  return b.at;
}

static Tensor tensor(Stage *s, uint32_t rank, const int64_t *shape, const double *data) {
  Tensor t = tensor_new(s->arena, rank, shape);
  for (int64_t i = 0; i < t.count; i++) t.data[i] = data[i];
  return t;
}
#define SHAPE(...)                                                                                 \
  (sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]) { __VA_ARGS__ }
#define SCALAR 0, NULL
#define T(shape, ...) tensor(s, shape, (double[]){__VA_ARGS__})

static bool try_eval(Stage *s, const Diagram *d, const Tensor *in, Eval *e) {
  e->arena = s->arena;
  if (in) e->in = in, e->param = in + d->in.n;
  e->out = NEW_ARRAY(s->arena, Tensor, d->out.n);
  e->next = NEW_ARRAY(s->arena, Tensor, d->param.n);
  return diagram_eval(s->w, d, e);
}

static Eval eval(Stage *s, const Diagram *d, const Tensor *in) {
  Eval e = {.seed = 7};
  bool ok = try_eval(s, d, in, &e);
  if (!ok) print_error("%s\n", e.error);
  assert_true(ok);
  return e;
}

static void expect(const Tensor *t, const double *want, int64_t n) {
  assert_int_equal(t->count, n);
  for (int64_t i = 0; i < n; i++) {
    if (isnan(want[i]) ? !isnan(t->data[i])
                       : !(t->data[i] == want[i] || fabs(t->data[i] - want[i]) < 1e-12))
      print_error("at %lld: %.17g, not %.17g\n", (long long)i, t->data[i], want[i]);
    assert_true(isnan(want[i]) ? isnan(t->data[i])
                               : t->data[i] == want[i] || fabs(t->data[i] - want[i]) < 1e-12);
  }
}
#define EXPECT(t, ...)                                                                             \
  expect(t, (double[]){__VA_ARGS__}, (int64_t)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)))

// The result of a diagram must be the same when it is printed and read again, and so must its text.
static void round_trip(Stage *s, const Diagram *d) {
  const char *first = print(s, d);
  Diagram *again = try_read(s, first);
  if (!again) say_diags(s), print_error("%s\n", first);
  assert_non_null(again);
  const char *second = print(s, again);
  if (strcmp(first, second) != 0) print_error("%s\n---\n%s\n", first, second);
  assert_string_equal(first, second);
  assert_true(diagram_equal(s->w, d, again));
}

// -- the table ------------------------------------------------------------------------------------
static Base base_of(char c) { return c == 'B' ? BASE_BIT : BASE_R; }

static double argument(const FnRow *row, uint32_t k, uint32_t i) {
  if (row->sig[k] == 'B') return (i >> k) & 1;
  return row->low + (row->high - row->low) * noise_uniform(1, k, 2, i);
}

// f(x, y, z) at 16 points through a loop, against the function itself.
static void test_every_row(void **state) {
  Stage *s = *state;
  for (int fn = FN_SIZE + 1; fn < FN_COUNT; fn++) {
    const FnRow *row = &fn_rows[fn];
    Diagram *d = diagram_new(s->w, name_from(s->w->names, row->name));
    Axis axis = {.size = size_of(s->w, 16)};
    Loop loop = {
        .nin = row->arity, .nindex = 1, .index = &(Index){name_from(s->w->names, "i"), axis.size}};
    Id in[3] = {0};
    uint32_t arg[3] = {0};
    Tensor x[3];
    loop.in = NEW_ARRAY(s->arena, Access, 3);
    for (uint32_t k = 0; k < row->arity; k++) {
      in[k] = diagram_input(s->w, d, type_make(s->w, base_of(row->sig[k]), 1, &axis), 0, 0);
      loop.in[k] = access_plain(s->w, 1, (uint32_t[]){0});
      arg[k] = scalar_push(s->w, &loop,
                           (Scalar){.fn = FN_ARG, .base = (uint8_t)base_of(row->sig[k]), .ref = k});
      x[k] = tensor_new(s->arena, SHAPE(16));
      for (uint32_t i = 0; i < 16; i++) x[k].data[i] = argument(row, k, i);
    }
    loop.out = access_plain(s->w, 1, (uint32_t[]){0});
    scalar_fn(s->w, &loop, (Fn)fn, arg[0], arg[1], arg[2]);
    Type out = type_make(s->w, base_of(row->sig[row->arity + 1]), 1, &axis);
    diagram_output(s->w, d, box_loop(s->w, d, &loop, in, row->arity, out, 0));
    Eval e = eval(s, d, x);
    for (uint32_t i = 0; i < 16; i++)
      assert_true(e.out[0].data[i] ==
                  row->value(argument(row, 0, i), argument(row, 1, i), argument(row, 2, i)));
    round_trip(s, d);
  }
}

static double scalar_value(const Loop *loop, uint32_t i, const double *arg) {
  const Scalar *x = &loop->scalar[i];
  if (x->fn == FN_CONST) return x->k;
  if (x->fn == FN_ARG) return arg[x->ref];
  double a = scalar_value(loop, x->arg[0], arg), b = scalar_value(loop, x->arg[1], arg);
  return fn_rows[x->fn].value(a, b, scalar_value(loop, x->arg[2], arg));
}

static bool near_kink(const FnRow *row, double x) {
  for (const char *k = row->kinks; k; k = strchr(k, ',') ? strchr(k, ',') + 1 : NULL)
    if (fabs(x - strtod(k, NULL)) < 1e-3) return true;
  return false;
}

// The text of a derivative, evaluated at arguments a, b, c and cotangent g.
static double derivative(Stage *s, const FnRow *row, const char *text, const double *arg,
                         double g) {
  static const char *const name[] = {"a", "b", "c", "y", "g"};
  Loop loop = {.nin = 5};
  uint32_t value[5], out = 0;
  double all[5] = {arg[0], arg[1], arg[2], row->value(arg[0], arg[1], arg[2]), g};
  for (uint32_t k = 0; k < 5; k++) {
    char c = k < 3 ? k < row->arity ? row->sig[k] : 'R' : row->sig[row->arity + 1];
    value[k] =
        scalar_push(s->w, &loop, (Scalar){.fn = FN_ARG, .base = (uint8_t)base_of(c), .ref = k});
  }
  assert_true(scalar_read(s->w, &loop, text, name, value, 5, &out));
  if (strcmp(text, "0") != 0)
    assert_int_equal(loop.scalar[out].base, base_of(row->sig[row->arity + 1]));
  return scalar_value(&loop, out, all);
}

static void test_derivatives_of_rows(void **state) {
  Stage *s = *state;
  for (int fn = FN_SIZE + 1; fn < FN_COUNT; fn++) {
    const FnRow *row = &fn_rows[fn];
    bool bits = row->sig[row->arity + 1] == 'B';
    for (uint32_t i = 0; i < 32; i++)
      for (uint32_t k = 0; k < row->arity; k++) {
        double x[3] = {argument(row, 0, i), argument(row, 1, i), argument(row, 2, i)}, up[3],
               down[3], h = 1e-6;
        if (!row->d[k] || near_kink(row, x[k]) || fn == FN_stop || fn == FN_through) continue;
        if (fn == FN_mod && fabs(x[0] / x[1] - round(x[0] / x[1])) < 1e-3) continue;
        memcpy(up, x, sizeof x);
        memcpy(down, x, sizeof x);
        up[k] += bits ? 1 - 2 * x[k] : h;
        down[k] -= bits ? 0 : h;
        double found = derivative(s, row, row->d[k], x, bits ? 1 : 0.5);
        double want = row->value(up[0], up[1], up[2]) - row->value(down[0], down[1], down[2]);
        want = bits ? fabs(want) : 0.5 * want / (2 * h);
        if (fabs(found - want) > 1e-7 * (1 + fabs(want)))
          print_error("%s by %u: %g, not %g\n", row->name, k, found, want);
        assert_true(fabs(found - want) <= 1e-7 * (1 + fabs(want)));
        assert_true(derivative(s, row, row->d[k], x, 0) == 0); // linear in g
      }
  }
}

// Reads a text over the real number a and the bit b.
static bool read_over(Stage *s, Loop *loop, const char *text, uint32_t *out) {
  static const char *const name[] = {"a", "b"};
  uint32_t value[2];
  *loop = (Loop){.nin = 2};
  for (uint32_t k = 0; k < 2; k++)
    value[k] = scalar_push(
        s->w, loop, (Scalar){.fn = FN_ARG, .base = (uint8_t)(k ? BASE_BIT : BASE_R), .ref = k});
  return scalar_read(s->w, loop, text, name, value, 2, out);
}

static void test_scalars_of_text(void **state) {
  static const struct {
    const char *text;
    double value; // at a = 3, b = 1
    Base base;
    uint32_t count; // scalars beside a and b: equal ones are one
  } right[] = {
      {"a", 3, BASE_R, 0},
      {"7", 7, BASE_R, 1},
      {"inf", INFINITY, BASE_R, 1},
      {" 1 + 2*a - 6 / 4 ", 5.5, BASE_R, 8},
      {"-2^2", -4, BASE_R, 3},
      {"2^-2", 0.25, BASE_R, 3},
      {"- 2*a", -6, BASE_R, 2},
      {"-(a - 1e-1)", -2.9, BASE_R, 3},
      {"sin(a)*sin(a)", 0.019914856674817, BASE_R, 2},
      {"select(a >= 3, b, 0)", 1, BASE_BIT, 4},
      {"select(b, a, 3) = 3", 1, BASE_BIT, 3},
      {"select(2 > a, 1, a != 3)", 0, BASE_BIT, 6},
  };
  static const char *const wrong[] = {
      "",      "a b",       "(a",    "a)",
      "sin(a", "sinus(a)",  "d + 1", "select(b, a)",
      "a +",   "and(a, b)", "a ! b", "select(b = 1, 1, a)"}; // a bit and a real number
  Stage *s = *state;
  Loop loop;
  uint32_t out;
  for (uint32_t i = 0; i < COUNT(right); i++) {
    assert_true(read_over(s, &loop, right[i].text, &out));
    assert_float_equal(scalar_value(&loop, out, (double[]){3, 1}), right[i].value, 1e-12);
    assert_int_equal(loop.scalar[out].base, right[i].base);
    assert_int_equal(loop.nscalar, 2 + right[i].count);
  }
  for (uint32_t i = 0; i < COUNT(wrong); i++) assert_false(read_over(s, &loop, wrong[i], &out));
}

static void slope(Stage *s, Fn fn, uint32_t k, double a, double b, double want) {
  double x = derivative(s, &fn_rows[fn], fn_rows[fn].d[k], (double[]){a, b, 0}, 1);
  if (x != want) print_error("%s'(%g, %g) = %g, not %g\n", fn_rows[fn].name, a, b, x, want);
  assert_true(x == want);
}

static void test_edges(void **state) {
  Stage *s = *state;
  slope(s, FN_sqrt, 0, 0, 0, 0);
  slope(s, FN_relu, 0, 0, 0, 0);
  slope(s, FN_abs, 0, 0, 0, 0);
  slope(s, FN_maximum, 0, 2, 2, 0.5);
  slope(s, FN_maximum, 1, 2, 2, 0.5);
  slope(s, FN_minimum, 1, 2, 2, 0.5);
  slope(s, FN_pow, 0, 0, 1, 1);
  slope(s, FN_pow, 0, 0, 2, 0);
  slope(s, FN_pow, 0, 0, 0.5, 0);
  slope(s, FN_pow, 0, 0, 0, 0);
  slope(s, FN_pow, 0, -2, 3, 12);
  slope(s, FN_pow, 1, 0, 2, 0);
  slope(s, FN_pow, 1, -2, 3, 0);
  slope(s, FN_through, 0, 1, 5, 0);
  slope(s, FN_through, 1, 1, 5, 1);
  slope(s, FN_stop, 0, 1, 0, 0);
  static const Fn pass[] = {FN_relu,    FN_abs,     FN_sign,     FN_floor,
                            FN_maximum, FN_minimum, FN_softplus, FN_sqrt};
  for (uint32_t i = 0; i < COUNT(pass); i++) {
    assert_true(isnan(fn_rows[pass[i]].value(NAN, 1, 0)));
    if (fn_rows[pass[i]].arity == 2) assert_true(isnan(fn_rows[pass[i]].value(1, NAN, 0)));
  }
}

static void test_page(void **state) {
  Stage *s = *state;
  Buf b = buf_new(s->arena);
  ops_markdown(&b);
  assert_non_null(strstr(b.at, "| `tanh` | `R>R` | hyperbolic tangent | `g*(1 - y*y)` |"));
  assert_non_null(strstr(b.at, "| `scan` | a diagram repeated"));
  assert_int_equal(fn_find("nothing"), FN_COUNT);
  assert_int_equal(fn_find("exp"), FN_exp);
  assert_int_equal(fn_find("const"), FN_COUNT);
}

// -- loops ----------------------------------------------------------------------------------------
static void test_matrix_product(void **state) {
  Stage *s = *state;
  Diagram *d =
      read(s, "diagram product(A: R[2 3], B: R[3 2])\n"
              "  C[i k]: R[2 2] = sum A[i j] B[j k] over i:2 j:3 k:2 : $0 * $1\n  return C\n");
  Eval e =
      eval(s, d, (Tensor[]){T(SHAPE(2, 3), 1, 2, 3, 4, 5, 6), T(SHAPE(3, 2), 1, 0, 0, 1, 1, 1)});
  EXPECT(&e.out[0], 4, 5, 10, 11);
  assert_int_equal(e.multiplications, 12);
  round_trip(s, d);
}

static void test_convolution(void **state) {
  Stage *s = *state;
  // stride 2, dilation 2, padded on the left; x has 7 places, w has 2
  Diagram *d = read(s, "diagram conv(x: R[7], w: R[2])\n"
                       "  y[i]: R[4] = sum x[2*i+2*p-1] w[p] over i:4 p:2 : $0 * $1\n"
                       "  z[i]: R[4] = sum x[2*i+2*p-1] else 10 w[p] over i:4 p:2 : $0 * $1\n"
                       "  return y z\n");
  double x[] = {1, 2, 3, 4, 5, 6, 7}, w[] = {1, 100}, want[4] = {0}, padded[4] = {0};
  for (int i = 0; i < 4; i++)
    for (int p = 0; p < 2; p++) {
      int at = 2 * i + 2 * p - 1;
      want[i] += at >= 0 && at < 7 ? x[at] * w[p] : 0;
      padded[i] += (at >= 0 && at < 7 ? x[at] : 10) * w[p];
    }
  Eval e = eval(s, d, (Tensor[]){tensor(s, SHAPE(7), x), tensor(s, SHAPE(2), w)});
  expect(&e.out[0], want, 4);
  expect(&e.out[1], padded, 4);
  assert_int_equal(e.multiplications, 16); // skipped points count
}

static void test_transposed_convolution(void **state) {
  Stage *s = *state;
  Diagram *d = read(s, "diagram up(x: R[3], w: R[3])\n"
                       "  y[2*i+p-1]: R[6] = sum x[i] w[p] over i:3 p:3 : $0 * $1\n  return y\n");
  double x[] = {1, 2, 3}, w[] = {1, 10, 100}, want[6] = {0};
  for (int i = 0; i < 3; i++)
    for (int p = 0; p < 3; p++)
      if (2 * i + p - 1 >= 0 && 2 * i + p - 1 < 6) want[2 * i + p - 1] += x[i] * w[p];
  Eval e = eval(s, d, (Tensor[]){tensor(s, SHAPE(3), x), tensor(s, SHAPE(3), w)});
  expect(&e.out[0], want, 6);
}

static void test_guards(void **state) {
  Stage *s = *state; // an operand the body does not mention still guards; diagonals write and read
  Diagram *d = read(s, "diagram guards(x: R[3], g: R[2])\n"
                       "  y[i]: R[3] = sum x[i] g[i] over i:3 : $0\n"
                       "  m[i i]: R[3 3] = sum x[i] over i:3 : $0\n"
                       "  t: R = sum m[i i] over i:3 : $0\n"
                       "  r[i]: R[3] = sum x[-i+2] over i:3 : $0\n"
                       "  v[2*a+b]: R[4] = sum x[a+b] over a:2 b:2 : $0\n"
                       "  return y m t r v\n");
  Eval e = eval(s, d, (Tensor[]){T(SHAPE(3), 5, 6, 7), T(SHAPE(2), 0, 0)});
  EXPECT(&e.out[0], 5, 6, 0);
  EXPECT(&e.out[1], 5, 0, 0, 0, 6, 0, 0, 0, 7);
  EXPECT(&e.out[2], 18);
  EXPECT(&e.out[3], 7, 6, 5);
  EXPECT(&e.out[4], 5, 6, 6, 7);
  round_trip(s, d);
}

static void test_pool(void **state) {
  Stage *s = *state;
  Diagram *d = read(s, "diagram pool(x: R[6])\n"
                       "  y[i]: R[3], w: {3}[3] = max x[2*i+p] over i:3 p:3 : $0\n"
                       "  z[i]: R[3], v: {3}[3] = min x[2*i+p] over i:3 p:3 : $0\n"
                       "  n[i]: R[2], u: {2}[2] = max x[i+p+9] over i:2 p:2 : $0\n"
                       "  q: R = prod x[i] over i:6 : $0\n"
                       "  return y w z v n u q\n");
  Eval e = eval(s, d, (Tensor[]){T(SHAPE(6), 1, 3, 3, 2, NAN, 5)});
  EXPECT(&e.out[0], 3, NAN, NAN);
  EXPECT(&e.out[1], 1, 2, 0); // the first of equal ones; NaN wins
  EXPECT(&e.out[2], 1, NAN, NAN);
  EXPECT(&e.out[3], 0, 2, 0);
  EXPECT(&e.out[4], -INFINITY, -INFINITY); // nothing was in bounds
  EXPECT(&e.out[5], 0, 0);
  EXPECT(&e.out[6], NAN);
  round_trip(s, d);
}

static void test_labels(void **state) {
  Stage *s = *state;
  Diagram *d = read(s, "diagram labels(E: R[4 2], x: {4}[3], v: R[3])\n"
                       "  y[t m]: R[3 2] = sum x[t] E[$0 m] over t:3 m:2 : $1\n"
                       "  h[$0]: R[4] = sum x[t] v[t] over t:3 : $1\n"
                       "  n[t]: R[3] = sum x[t] over t:3 : number($0) + at(t)\n"
                       "  o[t c]: B[3 4] = sum x[t] over t:3 c:4 : $0 = at(c)\n"
                       "  return y h n o\n");
  Tensor in[] = {T(SHAPE(4, 2), 0, 1, 10, 11, 20, 21, 30, 31), T(SHAPE(3), 3, 1, 3),
                 T(SHAPE(3), 1, 2, 4)};
  Eval e = eval(s, d, in);
  EXPECT(&e.out[0], 30, 31, 10, 11, 30, 31);
  EXPECT(&e.out[1], 0, 2, 0, 5);
  EXPECT(&e.out[2], 3, 2, 5);
  EXPECT(&e.out[3], 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1);
  round_trip(s, d);
  in[1].data[0] = 4;
  Eval bad = {0};
  assert_false(try_eval(s, d, in, &bad));
  assert_string_equal(bad.error, "`x` of labels holds 4, which is not one of its 4 values");
}

static void test_bits(void **state) {
  Stage *s = *state;
  Diagram *d = read(s, "diagram bits(x: B[4])\n"
                       "  parity: B = sum x[i] over i:4 : $0\n  all: B = prod x[i] over i:4 : $0\n"
                       "  any: B, who: {4} = max x[i] over i:4 : $0\n  each: B, first: {4} = min "
                       "x[i] over i:4 : $0\n"
                       "  none: B = prod x[i+4] over i:4 : $0\n"
                       "  c[i]: B[4] = sum x[i] over i:4 : select($0, 0, not($0)) != 1\n"
                       "  return parity all any who each first none c\n");
  Eval e = eval(s, d, (Tensor[]){T(SHAPE(4), 0, 1, 1, 1)});
  static const double want[] = {1, 0, 1, 1, 0, 0, 1};
  for (uint32_t i = 0; i < 7; i++) expect(&e.out[i], &want[i], 1);
  EXPECT(&e.out[7], 0, 1, 1, 1);
  round_trip(s, d);
}

static void test_empty(void **state) {
  Stage *s = *state;
  Diagram *d =
      read(s, "sizes n\ndiagram empty(x: R[n])\n"
              "  a: R = sum x[i] over i:n : $0\n  b: R, w: {n} = max x[i] over i:n : $0\n"
              "  o: {n}[n] = order 0 x\n  j: R[2*n] = join 0 x x\n  m: R = sum over : size(n + 1)\n"
              "  return a b o j m\n");
  Eval e = eval(s, d, (Tensor[]){tensor_new(s->arena, SHAPE(0))});
  EXPECT(&e.out[0], 0);
  EXPECT(&e.out[1], -INFINITY);
  assert_int_equal(e.out[2].count + e.out[3].count, 0);
  EXPECT(&e.out[4], 1);
}

// -- other boxes ----------------------------------------------------------------------------------
static void test_join_and_order(void **state) {
  Stage *s = *state;
  Diagram *d = read(s, "diagram both(x: R[2 2], y: R[2 1])\n"
                       "  j: R[2 5] = join 1 x y x\n  o: {5}[2 5] = order 1 j\n  p: {2}[2 5] = "
                       "order 0 j\n  return j o p\n");
  Eval e = eval(s, d, (Tensor[]){T(SHAPE(2, 2), 3, 1, NAN, 2), T(SHAPE(2, 1), 2, 9)});
  EXPECT(&e.out[0], 3, 1, 2, 3, 1, NAN, 2, 9, NAN, 2);
  EXPECT(&e.out[1], 1, 4, 2, 0, 3, 1, 4, 2, 0, 3);
  EXPECT(&e.out[2], 0, 0, 0, 0, 0, 1, 1, 1, 1, 1);
  round_trip(s, d);
}

static void test_scan(void **state) {
  Stage *s = *state;
  const char *text = "diagram step(x: R, a: R, b: R, k: R)\n"
                     "  c: R = map x a k over : $0 * $2 + $1\n  return b c a\n\n"
                     "diagram running(x: R[t:4], k: R)\n"
                     "  z: R = map over : 0\n"
                     "  e: R, f: R, g: R[t:4] = scan step over t:4 (x; z z; k; )\n"
                     "  p: R, q: R, r: R[t:4] = scan step over t:4 back (x; z z; k; )\n"
                     "  return e f g p q r\n";
  Diagram *d = read(s, text);
  assert_string_equal(print(s, d), text);
  Eval e = eval(s, d, (Tensor[]){T(SHAPE(4), 1, 2, 3, 4), T(SCALAR, 10)});
  double x[] = {1, 2, 3, 4}, a = 0, b = 0, g[4];
  for (int t = 0; t < 4; t++) { // the carries change places at every step
    g[t] = a;
    double c = x[t] * 10 + a;
    a = b, b = c;
  }
  expect(&e.out[0], &a, 1);
  expect(&e.out[1], &b, 1);
  expect(&e.out[2], g, 4);
  a = b = 0;
  for (int t = 3; t >= 0; t--) {
    g[t] = a;
    double c = x[t] * 10 + a;
    a = b, b = c;
  }
  expect(&e.out[3], &a, 1);
  expect(&e.out[5], g, 4);
  assert_int_equal(e.multiplications, 8);
  round_trip(s, d);
}

static void test_call(void **state) {
  Stage *s = *state;
  const char *text = "sizes n:sample\n\n"
                     "diagram linear(x: R[n~1 3])\n"
                     "  weight W: R[3 2] \"W\" init glorot 3 2\n"
                     "  buffer seen: R \"seen\" init const 0\n"
                     "  y[n o]: R[n~1 2] = sum x[n i] W[i o] over n:n i:3 o:2 : $0 * $1\n"
                     "  more: R = map seen over : $0 + size(n)\n"
                     "  return y\n  next seen = more\n\n"
                     "diagram net(x: R[n~1 3])\n"
                     "  weight %: R[3 2] \"linear/W\" init glorot 3 2\n"
                     "  buffer %.2: R \"linear/seen\" rooted\n"
                     "  y: R[n~1 2], %.3: R = call linear(x; % %.2)\n"
                     "  return y\n  next %.2 = %.3\n";
  Diagram *d = read(s, text);
  assert_string_equal(print(s, d), text);
  Tensor in[] = {T(SHAPE(2, 3), 1, 2, 3, 4, 5, 6), T(SHAPE(3, 2), 1, 0, 0, 1, 1, 1), T(SCALAR, 40)};
  Eval e = eval(s, d, in);
  EXPECT(&e.out[0], 4, 5, 10, 11);
  EXPECT(&e.next[1], 42);
  assert_int_equal(e.multiplications, 12);
  in[1] = tensor_new(s->arena, SHAPE(4, 2));
  Eval bad = {0};
  assert_false(try_eval(s, d, in, &bad));
  assert_string_equal(bad.error, "wire 2 of net: axis 1 has length 4, but 3 is wanted");
}

static void test_random(void **state) {
  Stage *s = *state;
  Diagram *d =
      read(s, "diagram draw(z: R)\n  r: R[3] = random normal 0x0000000000000005\n  return r z\n\n"
              "diagram noise(x: R[4])\n"
              "  a: R[1000] = random normal 0x0000000000000001\n  b: R[1000] = random uniform "
              "0x0000000000000001\n"
              "  z: R = map over : 0\n"
              "  p: R[4 3], q: R[4] = scan draw over t:4 (x; ; ; )\n"
              "  r: R[4 3], t: R[4] = scan draw over t:4 back (x; ; ; )\n"
              "  return a b p r\n");
  Tensor in[] = {T(SHAPE(4), 1, 2, 3, 4)};
  Eval e = eval(s, d, in), f = eval(s, d, in), g = {.seed = 8}, h = {.seed = 7, .step = 1};
  assert_true(try_eval(s, d, in, &g) && try_eval(s, d, in, &h));
  double mean[2] = {0}, square[2] = {0};
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 1000; i++) {
      double x = e.out[k].data[i];
      assert_true(x == f.out[k].data[i] && x != g.out[k].data[i] && x != h.out[k].data[i]);
      mean[k] += x / 1000, square[k] += x * x / 1000;
    }
  assert_true(fabs(mean[0]) < 0.1 && fabs(square[0] - 1) < 0.2 && fabs(mean[1] - 0.5) < 0.05 &&
              fabs(square[1] - 1.0 / 3) < 0.05);
  expect(&e.out[3], e.out[2].data, 12); // backward sees the same numbers at the same place
  assert_true(e.out[2].data[0] != e.out[2].data[3]);
  assert_true(e.out[2].data[0] == noise_normal(7, 0, site_step(5, 0), 0));
  round_trip(s, d);
}

static void test_philox(void **state) {
  (void)
      state; // the first word for the counter and key 0, from the paper's known answers: 0x6627e8d5
  assert_true(noise_uniform(0, 0, 0, 0) == (0x6627e8d5u + 0.5) / 4294967296.0);
  assert_true(noise_uniform(0, 0, 0, 1) == (0xe169c58du + 0.5) / 4294967296.0);
  assert_true(site_hash(0, "ab") != site_hash(site_hash(0, "a"), "b"));
}

// Many at once are what each is alone, from anywhere on, also where the counter has a carry.
static void test_stretches(void **state) {
  (void)state;
  static double x[5000];
  const int64_t from[] = {0, 1, 2, 3, 30, 4093, ((int64_t)1 << 34) - 70};
  const NoisePlace at = {11, ((uint64_t)3 << 32) + 5, site_hash(0, "f/W")};
  for (size_t k = 0; k < COUNT(from); k++)
    for (int64_t n = 0; n <= 5000; n = 3 * n + 1 + (int64_t)k)
      for (Noise noise = NOISE_NORMAL; noise <= NOISE_UNIFORM; noise++) {
        noise_stretch(noise, &at, from[k], n, x);
        for (int64_t i = 0; i < n; i++)
          assert_true(x[i] == (noise == NOISE_NORMAL ? noise_normal : noise_uniform)(
                                  at.seed, at.step, at.site, (uint64_t)(from[k] + i)));
      }
}

// Cells by themselves are those of the whole; a sum or a position has no cells by themselves.
static void cells_are(Stage *s, const Init *init, const Type *t, bool alone) {
  Tensor x;
  double part[40];
  const InitCells *c = init_cells(s->w, s->arena, init, t, 1, 2);
  assert_int_equal(c != NULL, alone);
  if (!c) return;
  assert_true(init_eval(s->w, s->arena, init, t, 1, 2, &x));
  assert_int_equal(init_cells_count(c), x.count);
  for (int64_t first = 0; first < x.count; first += 37) {
    int64_t n = x.count - first < 40 ? x.count - first : 40;
    init_draw(c, first, n, part);
    assert_memory_equal(part, x.data + first, (size_t)n * sizeof(double));
  }
}

static void test_cells(void **state) {
  Stage *s = *state;
  World *w = s->w;
  Axis axis[] = {{.size = size_of(w, 21)}, {.size = size_of(w, 17)}};
  Type t = type_make(w, BASE_R, 2, axis), bits = type_make(w, BASE_BIT, 2, axis);
  double data[21 * 17];
  for (int i = 0; i < 21 * 17; i++) data[i] = i;
  for (InitKind kind = INIT_CONST; kind <= INIT_HE; kind++) {
    Init init = {.kind = kind, .k = -0.0, .fan_in = size_of(w, 3), .fan_out = size_of(w, 5)};
    cells_are(s, &init, &t, true);
    cells_are(s, &init, &bits, true);
    init.as = "g/W";
    cells_are(s, &init, &t, true);
  }
  cells_are(s, &(Init){.kind = INIT_DATA, .data = data}, &t, true);
  cells_are(s, &(Init){.kind = INIT_ORTHOGONAL}, &t, false);
  cells_are(s, &(Init){.kind = INIT_NORMAL, .members = 1}, &t, false);
  cells_are(s, &(Init){.kind = INIT_GLOROT}, &t, false);
  assert_true(init_cells_zero(init_cells(w, s->arena, &(Init){.kind = INIT_CONST}, &t, 1, 2)));
  assert_false(
      init_cells_zero(init_cells(w, s->arena, &(Init){.kind = INIT_CONST, .k = -0.0}, &t, 1, 2)));
  static const struct {
    const char *text;
    bool alone;
  } start[] = {
      {"  x: R[21 17] = random normal 0x0000000000000005\n  k: R = random uniform "
       "0x0000000000000009\n"
       "  y[i j]: R[21 17] = sum x[i j] k over i:21 j:17 : $0 * 0.02 + sin($1 * 3)\n  return y\n",
       true},
      {"  y[i j]: R[21 17] = sum over i:21 j:17 : 1 / 3\n  return y\n", true},
      {"  y[i j]: R[21 17] = sum over i:21 j:17 : at(i) - at(j)\n  return y\n", false},
      {"  x: R[17 21] = random normal 0x0000000000000005\n"
       "  y[i j]: R[21 17] = sum x[j i] over i:21 j:17 : $0\n  return y\n",
       false},
      {"  x: R[21 17] = random normal 0x0000000000000005\n"
       "  y[i j]: R[21 17] = sum x[i k] over i:21 j:17 k:17 : $0\n  return y\n",
       false}};
  for (size_t i = 0; i < COUNT(start); i++) {
    Diagram *d = read(s, arena_format(s->arena, "diagram start%d()\n%s", (int)i, start[i].text));
    cells_are(s, &(Init){.kind = INIT_DIAGRAM, .diagram = d}, &t, start[i].alone);
  }
}

static void test_init(void **state) {
  Stage *s = *state;
  World *w = s->w;
  Axis axis[] = {{.size = size_of(w, 3)}, {.size = size_of(w, 5)}};
  Type t = type_make(w, BASE_R, 2, axis), bits = type_make(w, BASE_BIT, 2, axis);
  Tensor x;
  assert_true(init_eval(w, s->arena, &(Init){.kind = INIT_ORTHOGONAL}, &t, 1, 2, &x));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double dot = 0;
      for (int k = 0; k < 5; k++) dot += x.data[i * 5 + k] * x.data[j * 5 + k];
      assert_true(fabs(dot - (i == j)) < 1e-12);
    }
  Init glorot = {.kind = INIT_GLOROT, .fan_in = size_of(w, 1), .fan_out = size_of(w, 5)};
  assert_true(init_eval(w, s->arena, &glorot, &t, 1, 2, &x));
  for (int i = 0; i < 15; i++) assert_true(fabs(x.data[i]) < 1);
  assert_true(init_eval(w, s->arena, &(Init){.kind = INIT_UNIFORM}, &bits, 1, 2, &x));
  for (int i = 0; i < 15; i++) assert_true(x.data[i] == 0 || x.data[i] == 1);
  assert_false(init_eval(w, s->arena, &(Init){.kind = INIT_GLOROT}, &t, 1, 2, &x));
  Diagram *d = read(s, "diagram start()\n  x[i]: R[3] = sum over i:3 : at(i) * 2\n  return x\n");
  assert_true(init_eval(w, s->arena, &(Init){.kind = INIT_DIAGRAM, .diagram = d}, &t, 1, 2, &x));
  EXPECT(&x, 0, 2, 4);
}

// -- sizes ----------------------------------------------------------------------------------------
static void test_sizes(void **state) {
  Stage *s = *state;
  Diagram *d = read(s, "sizes n k\ndiagram sizes(x: R[t:2*n+1], y: R[n+k k])\n"
                       "  z[i]: R[n] = sum x[2*i+1] y[i {k-1}] over i:n : $0 + $1\n  return z\n");
  Tensor in[] = {T(SHAPE(5), 1, 2, 3, 4, 5),
                 T(SHAPE(5, 3), 0, 0, 10, 0, 0, 20, 0, 0, 30, 0, 0, 0, 0, 0, 0)};
  Eval e = eval(s, d, in);
  EXPECT(&e.out[0], 12, 24);
  round_trip(s, d);
  in[1] = tensor_new(s->arena, SHAPE(6, 3));
  Eval bad = {0};
  assert_false(try_eval(s, d, in, &bad));
  assert_string_equal(bad.error, "`y` of sizes: axis 1 has length 6, but 5 is wanted");
  in[0] = tensor_new(s->arena, SHAPE(4));
  assert_false(try_eval(s, d, in, &bad));
  assert_string_equal(bad.error, "`x` of sizes: axis 1 (t) has length 4, but 7 is wanted");
}

static void test_too_large(void **state) {
  Stage *s = *state;
  Eval e = {0};
  Tensor in[] = {T(SHAPE(1), 1)};
  Diagram *d = read(
      s,
      "diagram big(x: R[1])\n  y[i j]: R[99999999 99999999] = sum over i:1 j:1 : 0\n  return y\n");
  assert_false(try_eval(s, d, in, &e));
  assert_non_null(strstr(e.error, "needs more memory"));
  d = read(s, "diagram long(x: R[1])\n  y: R = sum over i:99999999 j:99999999 : 0\n  return y\n");
  assert_false(try_eval(s, d, in, &e));
  assert_non_null(strstr(e.error, "is more than the interpreter allows"));
  d = read(s, "diagram less(x: R[1])\n  y[i]: R[-3] = sum over i:1 : 0\n  return y\n");
  assert_false(try_eval(s, d, in, &e));
  assert_non_null(strstr(e.error, "is negative"));
  in[0] = tensor_new(s->arena, 0, NULL);
  assert_false(try_eval(s, d, in, &e));
  assert_non_null(strstr(e.error, "has 1 axes, but the tensor for it has 0"));
}

// -- text -----------------------------------------------------------------------------------------
static void test_text_of_everything(void **state) {
  Stage *s = *state;
  const char *text = "sizes n:sample n.2 \"a b\":local z:space\n"
                     "names 1 = cat \"old dog\" %\n"
                     "\n"
                     "diagram start()\n"
                     "  x[i]: R[2] = map over i:2 : -at(i) - -2 + neg(3) * (-2)^2\n"
                     "  return x\n"
                     "\n"
                     "diagram f(x: R[n~1 k:n.2 n.2+1], l: {3 of 1}[n n:2], b: B)\n"
                     "  weight W: R[2] \"a/W\" rooted init diagram start\n"
                     "  const c: R[2] \"c\" init data [1 -inf]\n"
                     "  clock %: R \"t\" init const -0.5\n"
                     "  S[i i.2+{n.2-1}*%]: R[n 2] = sum x[i i.2 %] else -inf W[-i+3] b over i:n "
                     "i.2:n.2 %:(n.2//2) : "
                     "t1 := exp($0); t2 := t1 * $1; select($2, t1 / (t2 + t1), -t2^2)\n"
                     "  q: B = map l[0 1] b over : xor(1:B = 0:B, $0 = 2:L)\n"
                     "  x.2: R[2] = call start()\n"
                     "  return S q\n"
                     "  next % = %\n"
                     "\n"
                     "diagram \"over\"(x: R[\"a b\" z])\n"
                     "  return x\n"
                     "reverse f = \"over\"\n"
                     "main f\n";
  Diagram *d = read(s, text);
  assert_string_equal(print(s, d), text);
  round_trip(s, d);
  assert_string_equal(name_text(s->w->names, d->name), "f");
  assert_string_equal(name_text(s->w->names, d->reverse->name), "over");
}

static void test_origins(void **state) {
  Stage *s = *state;
  Diagram *d = read(s, "diagram f(x: R)\n  y: R = map x over : $0\n  return y\n");
  d->box.at[1].origin = origin_new(s->w, (Span){1, 18, 1}, 0, WHY_SOURCE);
  Buf b = buf_new(s->arena);
  diagram_print(s->w, d, &b, true);
  assert_string_equal(b.at, "diagram f(x: R)\n  y: R = map x over : $0  @2:3\n  return y\n");
  assert_true(diagram_equal(s->w, d, read(s, b.at)));
}

static void test_unequal(void **state) {
  Stage *s = *state;
  static const char *const text[] = {
      "diagram f(x: R[2])\n  y[i]: R[2] = sum x[i] over i:2 : $0\n  return y\n",
      "diagram f(x: R[2])\n  y[i]: R[2] = prod x[i] over i:2 : $0\n  return y\n",
      "diagram f(x: R[2])\n  y[i]: R[2] = sum x[i] over i:2 : $0 + 1\n  return y\n",
      "diagram f(x: R[2])\n  y[i]: R[2] = sum x[i+1] over i:2 : $0\n  return y\n",
      "diagram f(x: R[2])\n  y[i]: R[2] = sum x[i] else 0 over i:2 : $0\n  return y\n",
      "diagram f(x: R[a:2])\n  y[i]: R[2] = sum x[i] over i:2 : $0\n  return y\n",
      "diagram f(x: R[2~1])\n  y[i]: R[2] = sum x[i] over i:2 : $0\n  return y\n",
      "diagram f(x: R[2])\n  y[i]: R[2] = sum x[i] over i:2 : $0\n  return x\n",
      "diagram f(x: R[2])\n  z[i]: R[2] = sum x[i] over i:2 : $0\n  return z\n",
      "diagram g(x: R[2])\n  y[i]: R[2] = sum x[i] over i:2 : $0\n  return y\n",
      "sizes n\ndiagram f(x: R[n])\n  y[i]: R[n] = sum x[i] over i:n : $0\n  return y\n",
      "sizes n\ndiagram f(x: R[n])\n  y[i]: R[n+1] = sum x[i] over i:n : $0\n  return y\n"};
  for (uint32_t i = 0; i < COUNT(text); i++)
    for (uint32_t k = 0; k < COUNT(text); k++) {
      Diagram *a = read(s, text[i]), *b = read(s, text[k]);
      assert_int_equal(diagram_equal(s->w, a, b), i == k);
    }
}

static void refuse(Stage *s, const char *text, const char *why) {
  uint32_t before = s->w->diags->list.n;
  Diagram *d = try_read(s, text);
  assert_null(d);
  assert_int_equal(s->w->diags->list.n, before + 1);
  if (!strstr(s->w->diags->list.at[before].text, why))
    print_error("%s\n", s->w->diags->list.at[before].text);
  assert_non_null(strstr(s->w->diags->list.at[before].text, why));
}

static void test_refused(void **state) {
  Stage *s = *state;
  refuse(s, "", "there is no diagram here");
  refuse(s, "diagram f(x: R", "a `)` is wanted here");
  refuse(s, "diagram f(x: Q)", "a type is wanted here");
  refuse(s, "diagram f(x: R[n])", "this axis has no size");
  refuse(s, "diagram f(x: R[:n])", "there is no size `n`");
  refuse(s, "diagram f(x: R[1/0])", "this divides by zero");
  refuse(s, "diagram f(x: R, x: R)", "two wires of this name");
  refuse(s, "diagram f(x: R) return y", "there is no wire `y`");
  refuse(s, "diagram f(x: R) y: R = sum x over : $1 return y", "there is no operand 1");
  refuse(s, "diagram f(x: R) y: R = sum x over : nothing($0) return y",
         "there is no function `nothing`");
  refuse(s, "diagram f(x: R) y: R = sum x over : $0 < 1 return y",
         "this mixes a bit with a real number");
  refuse(s, "diagram f(x: R) y: B = sum x over : $0 return y", "mixes");
  refuse(s, "diagram f(x: R[2]) y[i]: R[2] = sum x[j] over i:2 : $0 return y",
         "this is not an index of the loop");
  refuse(s, "diagram f(x: R[2]) y[i]: R[2] = sum x[$0] over i:2 : $0 return y",
         "a coordinate reads only operands before it");
  refuse(s, "diagram f(x: R[2]) y[i]: R[2] = sum x over i:2 : $0 return y",
         "an access of 0 coordinates");
  refuse(s, "diagram f(x: R[2]) y: R[2] = max x[i] over i:2 : $0 return y",
         "this box has 2 results, but 1 are named");
  refuse(s, "diagram f(x: R[2]) y: R = join 1 x return y", "these wires cannot be joined");
  refuse(s, "diagram f(x: R[2]) y: {2}[2] = order 1 x return y", "this wire has no axis 1");
  refuse(s, "diagram f(x: R[2]) y: R[2] = order 0 x return y", "this is {2}[2]");
  refuse(s, "diagram f(x: R) y: R = call f(x) return y", "there is no diagram `f`");
  refuse(s, "diagram f(x: R) return x diagram g(x: R) y: R = call f(x x) return y",
         "2 wires are given, but 1 are wanted");
  refuse(s, "diagram f(x: R) return x diagram g(x: B) y: R = call f(x) return y", "f wants R");
  refuse(s, "diagram f(x: R) weight W: R \"a\" weight V: R \"a\" return x",
         "two params of this path");
  refuse(s, "diagram f(x: R) const W: R[2] \"a\" init data [1] return x",
         "1 numbers do not fill R[2]");
  refuse(s, "diagram f(x: R) return x next x = x", "only a param has a next value");
  refuse(s, "diagram f(\"x: R)", "this \" is not closed");
  refuse(s, "diagram f(x: R) & return x", "has no meaning here");
  Buf deep = buf_new(s->arena);
  buf_text(&deep, "diagram f(x: R) y: R = sum x over : ");
  for (int i = 0; i < 5000; i++) buf_char(&deep, '(');
  refuse(s, deep.at, "this is nested too deeply");
}

// Each text is wrong at one place, and the message says what was wanted there.
static void test_refused_words(void **state) {
  Stage *s = *state;
  static const char *const wrong[][2] = {
      {"diagram (x: R)", "a name is wanted here"},
      {"diagram \"a\\u0000\"(x: R)", "a name cannot hold this character"},
      {"diagram \"a\\q\"(x: R)", "unknown escape after \\"},
      {"diagram f(x: R[2~a])", "a number up to 4294967295 is wanted here"},
      {"diagram f(x: {2 of 7})", "there is no such list of names"},
      {"diagram f(x: R) weight W: R a return x", "a path in quotes is wanted here"},
      {"diagram f(x: R) weight W: R \"a\" init by return x", "a start value is wanted here: const"},
      {"diagram f(x: R) buffer W: R[2] \"a\" return x next W = x",
       "the next value has another type"},
      {"diagram f(x: R) return x diagram f(x: R) return x", "there are two diagrams of this name"},
      {"graph f(x: R) return x", "a diagram is wanted here"},
      {"sizes n n", "there are two sizes of this name"},
      {"sizes n: large", "a size is axis, local, index, sample or space"},
      {"diagram f(x: R[2]) y: R = sum x[1.5] over : $0 return y", "a whole number is wanted here"},
      {"diagram f(x: R) y: R = sum x over : $a return y",
       "$ is followed by the number of an operand"},
      {"diagram f(x: R) y: R = sum x over : 1:Q return y", "a base is wanted here: R, B or L"},
      {"diagram f(x: R) y: R = sum x over : * return y", "a scalar is wanted here"},
      {"diagram f(x: R) y: R = copy x return y", "an operation is wanted here: sum, prod"},
      {"diagram f(x: R) y: R = random normal x return y", "the number of a site is wanted here"},
      {"diagram f(x: R) y: B = random normal 1 return y", "noise is real"},
      {"diagram g(x: R, h: R, k: R) return h diagram f(x: R[2], h: R) y: R, z: R = scan g over t:2 "
       "(x; h h; ;) return y",
       "the body gives fewer results than there are carries"},
  };
  for (uint32_t i = 0; i < COUNT(wrong); i++) refuse(s, wrong[i][0], wrong[i][1]);
  Buf wide = buf_new(s->arena);
  buf_text(&wide, "diagram f(x: R) y: R = sum x over ");
  for (int i = 0; i < 80; i++) buf_printf(&wide, "i%d:2 ", i);
  buf_text(&wide, ": $0 return y");
  refuse(s, wide.at, "a loop has at most 64 indices");
  Buf deep = buf_new(s->arena);
  buf_text(&deep, "diagram f(x: R[");
  for (int i = 0; i < 80; i++) buf_text(&deep, "2 ");
  buf_text(&deep, "])");
  refuse(s, deep.at, "a wire has at most 64 axes");
}

static void test_deep_body(void **state) {
  Stage *s = *state; // deep and much shared: the text must stay short and shallow
  Diagram *d = diagram_new(s->w, name_from(s->w->names, "deep"));
  Type t = type_make(s->w, BASE_R, 0, NULL);
  Id x = diagram_input(s->w, d, t, name_from(s->w->names, "x"), 0);
  Loop loop = {.nin = 1, .in = &(Access){0}};
  uint32_t last = scalar_push(s->w, &loop, (Scalar){.fn = FN_ARG, .base = BASE_R});
  for (int i = 0; i < 500; i++) last = scalar_fn(s->w, &loop, FN_sin, last, 0, 0);
  for (int i = 0; i < 100; i++) last = scalar_fn(s->w, &loop, FN_mul, last, last, 0);
  diagram_output(s->w, d, box_loop(s->w, d, &loop, &x, 1, t, 0));
  assert_true(strlen(print(s, d)) < 10000);
  round_trip(s, d);
}

// -- laws -----------------------------------------------------------------------------------------
static void test_random_diagrams(void **state) {
  uint32_t used[OP_COUNT] = {0}, evaluated = 0, cells = 0, zero = 0;
  (void)state;
  for (uint64_t seed = 0; seed < 2000; seed++) {
    Stage s = {.arena = arena_new()};
    s.w = world_new(s.arena);
    Diagram *d = random_diagram(s.w, seed, &(Chance){.odd = seed % 2, .smooth = seed % 3 == 0});
    Buf why = buf_new(s.arena);
    bool valid = diagram_valid(s.w, d, &why);
    if (!valid) print_error("seed %llu: %s\n", (unsigned long long)seed, why.at);
    assert_true(valid);
    round_trip(&s, d);
    for (uint32_t i = 1; i < d->box.n; i++) used[d->box.at[i].op]++;
    Tensor *in = random_tensors(s.w, s.arena, d, seed);
    Eval e = {.seed = seed}, f = {.seed = seed};
    bool ok = try_eval(&s, d, in, &e);
    if (!ok) print_error("seed %llu: %s\n%s\n", (unsigned long long)seed, e.error, print(&s, d));
    assert_true(ok);
    Diagram *again = read(&s, print(&s, d));
    assert_true(try_eval(&s, again, in, &f));
    for (uint32_t i = 0; i < d->out.n; i++) {
      expect(&f.out[i], e.out[i].data, e.out[i].count);
      for (int64_t k = 0; k < e.out[i].count; k++) cells++, zero += e.out[i].data[k] == 0;
    }
    evaluated++;
    arena_free(s.arena);
  }
  assert_int_equal(evaluated, 2000);
  for (int op = OP_NONE + 1; op < OP_COUNT; op++) assert_true(used[op] > 100);
  assert_true(zero < cells / 2);
}

// Any damage to a text is either refused or read; it is never fatal.
static void test_damaged_text(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 1500; seed++) {
    Stage s = {.arena = arena_new()};
    s.w = world_new(s.arena);
    Diagram *d = random_diagram(s.w, seed % 100, &(Chance){.odd = true});
    const char *text = print(&s, d);
    size_t n = strlen(text);
    char *damaged = arena_text(s.arena, text, n);
    for (uint64_t k = 0; k < 1 + seed % 3; k++) {
      size_t at = (size_t)(noise_uniform(seed, 0, 0, k) * (double)n);
      damaged[at] = text[(size_t)(noise_uniform(seed, 1, 0, k) * (double)n)];
    }
    Diagram *again = try_read(&s, damaged);
    if (again) {
      round_trip(&s, again);
      bool same = again->in.n == d->in.n && again->param.n == d->param.n;
      Eval e = {0};
      if (same) try_eval(&s, again, random_tensors(s.w, s.arena, d, seed), &e);
    }
    arena_free(s.arena);
  }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void) {
  const struct CMUnitTest tests[] = {TEST(test_every_row),
                                     TEST(test_scalars_of_text),
                                     TEST(test_derivatives_of_rows),
                                     TEST(test_edges),
                                     TEST(test_page),
                                     TEST(test_matrix_product),
                                     TEST(test_convolution),
                                     TEST(test_transposed_convolution),
                                     TEST(test_guards),
                                     TEST(test_pool),
                                     TEST(test_labels),
                                     TEST(test_bits),
                                     TEST(test_empty),
                                     TEST(test_join_and_order),
                                     TEST(test_scan),
                                     TEST(test_call),
                                     TEST(test_random),
                                     TEST(test_philox),
                                     TEST(test_stretches),
                                     TEST(test_cells),
                                     TEST(test_init),
                                     TEST(test_sizes),
                                     TEST(test_too_large),
                                     TEST(test_text_of_everything),
                                     TEST(test_origins),
                                     TEST(test_unequal),
                                     TEST(test_refused),
                                     TEST(test_refused_words),
                                     TEST(test_deep_body),
                                     TEST(test_random_diagrams),
                                     TEST(test_damaged_text)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
