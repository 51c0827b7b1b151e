// The store, and the interpreter as an engine: memory by kind of number, parts, next states that
// are written only if the step succeeds, clocks, samples, and the source of numbers that are not
// finite.
#include "base/diag.h"
#include "base/source.h"
#include "core/diagram/interpret.h"
#include "diagram_help.h"
#include "lang/program/program.h"
#include "run/engine/engine.h"

#include <math.h>
#include <setjmp.h>

#include <cmocka.h>

typedef struct {
  Arena *arena;
  World *w;
  Elab *in;
  Program *p;
  Diagram *d;
  Store *store;
  Engine *engine;
} Setup;

static void show_errors(Setup *s) {
  Buf b = buf_new(s->arena);
  diags_print(s->w->diags, &b);
  if (s->w->diags->errors) fail_msg("%s", b.at);
}

static Setup setup(void) {
  Setup s = {.arena = arena_new()};
  s.w = world_new(s.arena);
  s.in = elab_new(s.w);
  return s;
}

static Setup from_program(const char *text, const char *name) {
  Setup s = setup();
  s.p = elab_program(s.in, "test.limn", text, strlen(text));
  show_errors(&s);
  s.d = elab_diagram(s.in, s.p, name, NULL);
  show_errors(&s);
  return s;
}

static Setup from_diagram(const char *text) {
  Setup s = setup();
  s.d = diagram_read(s.w, source_add(s.w->sources, "test.graph", text, strlen(text)));
  show_errors(&s);
  return s;
}

static void start(Setup *s, Precision precision, int64_t samples, const Target *how) {
  s->store = store_new(precision);
  for (uint32_t i = 0; i < s->d->param.n; i++) {
    const Param *p = &s->d->param.at[i];
    const Type *t = &s->d->wire.at[p->wire].type;
    int64_t shape[8];
    if (p->role == ROLE_CLOCK) continue;
    assert_true(engine_shape(s->w, t, 0, shape));
    uint32_t k = store_add(s->store, p->path, t->base, t->rank, shape);
    Tensor x;
    assert_true(init_eval(s->w, s->arena, &p->init, t, 1, site_hash(0, p->path), &x));
    state_set(store_at(s->store, k), x.data);
  }
  s->engine = engine_new(s->w, s->d, s->store, samples, how);
  show_errors(s);
  assert_non_null(s->engine);
}

static void stop(Setup *s) {
  engine_free(s->engine);
  store_free(s->store);
  arena_free(s->arena);
}

// -- first values ---------------------------------------------------------------------------------
// By any number of threads they are those of the interpreter, rounded.
static void first_values_by_threads(void **state) {
  (void)state;
  const char *text = "learn f(x: R[601]) -> R[503] {\n"
                     "  learn a : R[601 503] = 0.02 * normal[601 503], b : R[601 503]\n"
                     "  learn c : R[503] = normal, d : R[601 503] = 1e-40 * uniform[601 503]\n"
                     "  learn e : R[601 503] = 0, g : R[601 503] = 0.5\n"
                     "  w = a + b + d + e + g\n  y[j] = x[i] w[i j]\n  return y + c\n}\n";
  for (Precision p = PRECISION_32; p <= PRECISION_64; p++)
    for (uint32_t threads = 1; threads <= 3; threads++) {
      Setup s = from_program(text, "f");
      start(&s, p, 0, &(Target){.reference = true});
      Store *drawn = store_new(p);
      store_set_threads(drawn, threads);
      assert_true(store_add_params(s.w, drawn, s.d, 1));
      assert_int_equal(store_count(drawn), 6);
      assert_true(store_hash(drawn) == store_hash(s.store));
      store_free(drawn);
      stop(&s);
    }
}

// -- the store ------------------------------------------------------------------------------------
static void store_keeps_numbers(void **state) {
  (void)state;
  Store *s = store_new(PRECISION_32);
  int64_t shape[] = {2, 3};
  uint32_t a = store_add(s, "f/W", BASE_R, 2, shape), b = store_add(s, "t", BASE_R, 0, NULL),
           c = store_add(s, "l", BASE_LABEL, 1, shape), d = store_add(s, "x", BASE_BIT, 2, shape);
  assert_int_equal(store_count(s), 4);
  assert_int_equal(store_at(s, a)->number, NUMBER_F32);
  assert_int_equal(store_at(s, b)->number, NUMBER_F64);
  assert_int_equal(store_at(s, c)->number, NUMBER_I32);
  assert_int_equal(store_at(s, d)->number, NUMBER_U8);
  assert_int_equal(store_at(s, a)->count, 6);
  for (uint32_t i = 0; i < 4; i++) assert_int_equal((uintptr_t)store_at(s, i)->data % 64, 0);
  double in[] = {1, 2, 1e-30, -4, 0.1, 6}, out[6];
  state_set(store_at(s, a), in);
  state_get(store_at(s, a), out);
  for (int i = 0; i < 6; i++) assert_true(out[i] == (double)(float)in[i]);
  assert_ptr_equal(store_find(s, "f/W"), store_at(s, a));
  assert_null(store_find(s, "f/w"));
  assert_true(store_add(s, "f/W", BASE_R, 0, NULL) == STORE_NONE);
  int64_t huge[] = {INT64_MAX / 2, 4};
  assert_true(store_add(s, "huge", BASE_R, 2, huge) == STORE_NONE);
  assert_int_equal(store_count(s), 4);
  store_free(s);
  s = store_new(PRECISION_64);
  assert_int_equal(store_at(s, store_add(s, "f/W", BASE_R, 2, shape))->number, NUMBER_F64);
  store_free(s);
}

static void parts_lie_in_wholes(void **state) {
  (void)state;
  Store *s = store_new(PRECISION_32);
  int64_t ten = 10, shape[] = {2, 3};
  uint32_t flat = store_add(s, "adam", BASE_R, 1, &ten);
  uint32_t part = store_part(s, "f/W", flat, 4, 2, shape);
  assert_true(part != STORE_NONE);
  assert_true(store_part(s, "f/b", flat, 5, 2, shape) == STORE_NONE);
  assert_true(store_part(s, "f/b", flat, -1, 2, shape) == STORE_NONE);
  uint64_t empty = store_hash(s);
  double in[] = {1, 2, 3, 4, 5, 6}, out[10];
  state_set(store_at(s, part), in);
  state_get(store_at(s, flat), out);
  for (int i = 0; i < 6; i++) assert_true(out[4 + i] == in[i]);
  assert_true(store_hash(s) != empty);
  state_set(store_at(s, part), (double[6]){0});
  assert_true(store_hash(s) == empty);
  store_free(s);
}

// -- running --------------------------------------------------------------------------------------
static const char counter[] = "diagram counter(x: R[3])\n"
                              "  buffer n: R[3] \"n\" rooted init const 2\n"
                              "  clock step: R \"step\" rooted init const 0\n"
                              "  clock steps: R \"steps\" rooted init const 0\n"
                              "  y[i]: R[3] = map n[i] x[i] over i:3 : $0 + $1\n"
                              "  z: R = sum y[i] over i:3 : log($0)\n"
                              "  c: R = map step steps over : $0 + 100 * $1\n"
                              "  return y z c\n"
                              "  next n = y\n";

static void states_move(void **state) {
  (void)state;
  Setup s = from_diagram(counter);
  start(&s, PRECISION_32, 0, &(Target){.reference = true, .steps = 7});
  float *x = engine_in(s.engine, 0);
  assert_int_equal(engine_in_number(s.engine, 0), NUMBER_F32);
  assert_int_equal(engine_out_number(s.engine, 1), NUMBER_F64);
  x[0] = 1, x[1] = 2, x[2] = 3;
  assert_int_equal(engine_run(s.engine, 0, 5), RUN_GOOD);
  const float *y = engine_out(s.engine, 0);
  assert_true(y[0] == 3 && y[1] == 4 && y[2] == 5);
  assert_true(*(const double *)engine_out(s.engine, 1) == log(3) + log(4) + log(5));
  assert_true(*(const double *)engine_out(s.engine, 2) == 705);
  assert_int_equal(engine_run(s.engine, 0, 6), RUN_GOOD);
  const float *n = store_find(s.store, "n")->data;
  assert_true(n[0] == 4 && n[1] == 6 && n[2] == 8);
  x[1] = -6; // log 0
  uint64_t before = store_hash(s.store);
  assert_int_equal(engine_run(s.engine, 0, 7), RUN_NOT_FINITE);
  assert_true(store_hash(s.store) == before);
  stop(&s);
}

static void samples_and_noise(void **state) {
  (void)state;
  Setup s = from_program("learn f : R[4] -> R[2] = dense[8] ; dropout[0.5] ; tanh ; dense[2]\n"
                         "given x, y from iris\n"
                         "learn g : R[4] -> R[3] = dense[3]\n"
                         "goal fit : g(x) ~ y by cross_entropy\n"
                         "goal small : f(x) ~ 0 by l2\n",
                         "small");
  start(&s, PRECISION_64, 6, &(Target){.reference = true, .seed = 3});
  double *x = engine_in(s.engine, 0);
  for (int i = 0; i < 24; i++) x[i] = sin(i);
  int64_t shape[] = {5, 4};
  Tensor in = {2, shape, 20, x}, out[1] = {{0}}, *param = NEW_ARRAY(s.arena, Tensor, s.d->param.n);
  for (uint32_t i = 0; i < s.d->param.n; i++) {
    State *p = store_find(s.store, s.d->param.at[i].path);
    param[i] = (Tensor){p->rank, p->shape, p->count, p->data};
  }
  for (uint64_t step = 0; step < 3; step++) {
    Eval e = {.arena = s.arena, .seed = 3, .step = step, .in = &in, .param = param, .out = out};
    out[0] = (Tensor){0};
    assert_true(diagram_eval(s.w, s.d, &e));
    assert_int_equal(engine_run(s.engine, 5, step), RUN_GOOD);
    assert_true(*(const double *)engine_out(s.engine, 0) == out[0].data[0]);
  }
  stop(&s);
}

static void missing_and_misfit(void **state) {
  (void)state;
  Setup s = from_diagram(counter);
  s.store = store_new(PRECISION_32);
  assert_null(engine_new(s.w, s.d, s.store, 0, &(Target){.reference = true}));
  assert_int_equal(s.w->diags->errors, 1);
  int64_t four = 4;
  store_add(s.store, "n", BASE_R, 1, &four);
  s.w->diags->list.n = 1;
  assert_null(engine_new(s.w, s.d, s.store, 0, &(Target){.reference = true}));
  assert_int_equal(s.w->diags->errors, 2);
  s.engine = NULL;
  stop(&s);
}

// -- blame ----------------------------------------------------------------------------------------
static void blamed(const char *text, const char *at, const char *says, double x0) {
  Setup s = from_program(text, "f");
  start(&s, PRECISION_32, 0, &(Target){.reference = true});
  float *x = engine_in(s.engine, 0);
  x[0] = (float)x0, x[1] = 1, x[2] = 2;
  assert_int_equal(engine_run(s.engine, 0, 0), RUN_NOT_FINITE);
  Span span;
  const char *why = engine_trace_nonfinite(s.engine, 0, 0, &span);
  if (!strstr(why, says)) fail_msg("\"%s\" does not say \"%s\"", why, says);
  const char *place = strstr(text, at);
  uint32_t first = (uint32_t)(place - text), last = first + (uint32_t)strlen(at);
  if (*at && (span.at < first || span.at + span.n > last))
    fail_msg("blamed %.*s, not %s", (int)span.n, text + span.at, at);
  stop(&s);
}

static void blame_finds_the_box(void **state) {
  (void)state;
  blamed("box f(x: R[3]) -> R[] {\n  a = exp(x)\n  b = log(a - 1)\n  return sum(b * b)\n}\n",
         "log(a - 1)", "log", 0);
  blamed("box f(x: R[3]) -> R[] {\n  a = exp(x * 1000)\n  b = a / (1 + a)\n  return sum(b)\n}\n",
         "exp(x * 1000)", "exp", 1);
  // a mask of infinities is no one's fault
  blamed("box f(x: R[3]) -> R[] {\n"
         "  m = x when x > 0 else -inf\n"
         "  w = softmax(m)\n"
         "  return sum(w) + sum(log(x))\n}\n",
         "sum(log(x))", "log", 0);
  blamed("box f(x: R[3]) -> R[] = sum(x)\n", "", "the data are not finite", NAN);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(first_values_by_threads), cmocka_unit_test(store_keeps_numbers),
      cmocka_unit_test(parts_lie_in_wholes),     cmocka_unit_test(states_move),
      cmocka_unit_test(samples_and_noise),       cmocka_unit_test(missing_and_misfit),
      cmocka_unit_test(blame_finds_the_box),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
