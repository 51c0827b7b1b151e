// Ten training steps of the compiled engine have PyTorch's losses (torch_steps/losses.h, made by
// make_losses.py) for the same weights and batches, in floats and in doubles. Weights and batches
// are computed from a name and an index, by the same rule on both sides. LIMN_GPU=1: on a GPU.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "base/diag.h"
#include "base/files.h"
#include "base/names.h"
#include "run/feed/feed.h"
#include "torch_steps/losses.h"

enum { STEPS = 10 };

typedef struct {
  Arena *arena;
  World *w;
  Regime r;
  Store *store;
  Engine *engine;
} Run;

static double number_at(const char *name, uint64_t t, int64_t i) { // in 0..1
  uint64_t x = 0xCBF29CE484222325u;
  for (; *name; name++) x = (x ^ (unsigned char)*name) * 0x100000001B3u;
  x += 0x632BE59BD9B4E019u * t + 0x9E3779B97F4A7C15u * (uint64_t)(i + 1);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  x ^= x >> 31;
  return (double)(x >> 11) * 0x1p-53;
}

static void fail_with_messages(World *w) {
  Buf b = buf_new(w->arena);
  diags_print(w->diags, &b);
  fail_msg("%s", b.at);
}

// A constant is shaken a little; others are spread by what flows into a place.
static void start_weight(Run *r, const RowMember *m) {
  State *s = store_find(r->store, m->path);
  double *x = NEW_ARRAY(r->arena, double, s->count);
  int64_t fan = 1;
  if (m->init.kind == INIT_GLOROT) assert_true(size_value(r->w, m->init.fan_in, &fan));
  for (int64_t i = 0; i < s->count; i++) {
    double v = 2 * number_at(m->path, 0, i) - 1;
    x[i] = m->init.kind == INIT_CONST ? m->init.k + 0.1 * v : v * sqrt(3.0 / (double)fan);
  }
  state_set(s, x);
}

static Run run_new(const char *path, Precision precision, const Target *how) {
  Run r = {.arena = arena_new(), .store = store_new(precision)};
  r.w = world_new(r.arena);
  Elab *in = elab_new(r.w);
  FileText f = file_read(r.arena, path, TEXT_LIMIT);
  if (!f.text) fail_msg("cannot read %s: %s", path, f.error);
  Program *p = elab_program(in, path, f.text, f.n);
  if (r.w->diags->errors || !learn_regime(in, p, p->train.at[0], &r.r)) fail_with_messages(r.w);
  assert_int_equal(r.r.step.n, 1);
  assert_int_equal(r.r.flat.n, 1);
  const WeightRow *flat = &r.r.flat.at[0];
  if (!store_add_flat(r.w, r.store, flat, 0) ||
      !store_add_params(r.w, r.store, r.r.step.at[0].diagram, 0))
    fail_with_messages(r.w);
  for (uint32_t i = 0; i < flat->member.n; i++) start_weight(&r, &flat->member.at[i]);
  Target target = *how;
  const char *why;
  if (getenv("LIMN_GPU") && !engine_device(r.w, "cuda", &target.device, &why)) fail_msg("%s", why);
  r.engine = engine_new(r.w, r.r.step.at[0].diagram, r.store, r.r.training.batch, &target);
  if (!r.engine) fail_with_messages(r.w);
  return r;
}

static void feed(Run *r, uint64_t t) {
  const Diagram *d = r->r.step.at[0].diagram;
  for (uint32_t i = 0; i < d->in.n; i++) {
    const Wire *wire = &d->wire.at[d->in.at[i]];
    int64_t shape[ARRAY_RANK_LIMIT], labels = 0, n = 1;
    assert_true(engine_shape(r->w, &wire->type, r->r.training.batch, shape));
    for (uint32_t k = 0; k < wire->type.rank; k++) n *= shape[k];
    if (wire->type.base == BASE_LABEL) assert_true(size_value(r->w, wire->type.count, &labels));
    double *x = NEW_ARRAY(r->arena, double, n);
    for (int64_t k = 0; k < n; k++) {
      x[k] = number_at(name_text(r->w->names, wire->name), t, k);
      if (labels) x[k] = floor(x[k] * (double)labels);
    }
    numbers_set(engine_in_number(r->engine, i), engine_in(r->engine, i), x, n);
  }
}

static void compare(const char *name, const double *losses) {
  char path[64];
  snprintf(path, sizeof path, "tests/torch_steps/%s.limn", name);
  const struct {
    Precision precision;
    double limit;
  } ways[] = {{PRECISION_32, 1e-5}, {PRECISION_64, 1e-10}};
  for (uint32_t k = 0; k < COUNT(ways); k++) {
    Run r = run_new(path, ways[k].precision, &(Target){.threads = 2, .steps = STEPS});
    for (uint64_t t = 0; t < STEPS; t++) {
      feed(&r, t);
      assert_int_equal(engine_run(r.engine, r.r.training.batch, t), RUN_GOOD);
      double loss = *(const double *)engine_out(r.engine, 0);
      if (!(fabs(loss - losses[t]) <= ways[k].limit * losses[t]))
        fail_msg("%s, %s, step %d: %.12g, but PyTorch has %.12g (off by %.1e)", name,
                 k ? "double" : "float", (int)t, loss, losses[t], fabs(loss / losses[t] - 1));
    }
    store_free(r.store);
    arena_free(r.arena);
  }
}

static void test_mlp(void **state) { (void)state, compare("mlp", mlp_losses); }
static void test_conv(void **state) { (void)state, compare("conv", conv_losses); }
static void test_lstm(void **state) { (void)state, compare("lstm", lstm_losses); }
static void test_attention(void **state) { (void)state, compare("attention", attention_losses); }

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_mlp), cmocka_unit_test(test_conv),
                                     cmocka_unit_test(test_lstm), cmocka_unit_test(test_attention)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
