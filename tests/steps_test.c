// Queued steps on a GPU: for any number of steps queued before the first result is read, losses and
// states have the bytes of single steps. Several short steps are one graph
// (src/run/engine/cuda_steps.c) or one launch.
#define _XOPEN_SOURCE 700
#include "base/diag.h"
#include "core/diagram/interpret.h"
#include "core/pass/pass.h"
#include "gpu_help.h"
#include "run/engine/cuda/cuda.h"
#include "run/feed/feed.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum {
  SAMPLES = 72,
  ROWS = 200,
  RUNS = 22,
  AT_ONCE = 19,
  BAD_RUN = 13,
  BY_HAND_RUN = 8,
  FEW_RUNS = 12
};

// What varies from program to program.
typedef struct {
  const char *text;
  bool short_batches; // each fifth one
  bool bad;           // there is a run whose loss is not finite
  bool by_samples;    // each seventh batch comes as samples, where there is a table of rows
  bool
      by_hand; // in front of a run, somebody changes weights; one by one, engines are opened for each run
  bool fixed; // no run changes anything
  Precision precision;
} Tried;

typedef struct {
  World *w;
  Device *d;
  Regime regime;
  Store *store;
  Engine **engine;
  int32_t ***rows; // [step][input] or NULL
  uint64_t runs;
  double loss[RUNS];
} Bench;

static char own_cache[] = "/tmp/limn-steps-XXXXXX";
static const char *cache; // $LIMN_CACHE, where that is set

// -- a program ------------------------------------------------------------------------------------
static void stop_with_messages(World *w) {
  Buf b = buf_new(w->arena);
  diags_print(w->diags, &b);
  fail_msg("%s", b.at);
}

static bool read_program(Bench *b, const Tried *g) {
  Elab *in = elab_new(b->w);
  Program *p = elab_program(in, "steps.limn", g->text, strlen(g->text));
  if (b->w->diags->errors || !learn_regime(in, p, p->train.at[0], &b->regime)) return false;
  for (uint32_t i = 0; i < b->regime.step.n; i++) {
    Step *s = &b->regime.step.at[i];
    s->diagram = compose_noise(in, p, s->diagram, &s->fields);
    if (!s->diagram) return false;
    for (uint32_t k = 0; g->fixed && k < s->diagram->param.n; k++) s->diagram->param.at[k].next = 0;
  }
  return true;
}

static bool fill_store(Bench *b, Precision precision) {
  bool good = true;
  b->store = store_new(precision);
  for (uint32_t i = 0; i < b->regime.flat.n; i++)
    good = good && store_add_flat(b->w, b->store, &b->regime.flat.at[i], 0);
  for (uint32_t i = 0; i < b->regime.step.n; i++)
    good = good && store_add_params(b->w, b->store, b->regime.step.at[i].diagram, 0);
  return good;
}

// -- data -----------------------------------------------------------------------------------------
static int64_t cells_of_sample(const Bench *b, uint32_t step, uint32_t input) {
  const Diagram *d = b->regime.step.at[step].diagram;
  const Type *t = &d->wire.at[d->in.at[input]].type;
  int64_t shape[ARRAY_RANK_LIMIT], count = 1;
  assert_true(engine_shape(b->w, t, 1, shape));
  for (uint32_t k = 0; k < t->rank; k++) count *= shape[k];
  return count;
}

static double cell(const Bench *b, uint32_t step, uint32_t input, uint64_t place) {
  const Diagram *d = b->regime.step.at[step].diagram;
  const Type *t = &d->wire.at[d->in.at[input]].type;
  double x = noise_uniform(1, 0, input, place);
  int64_t labels = 2;
  if (t->base == BASE_LABEL) size_value(b->w, t->count, &labels);
  return t->base == BASE_R ? x : (double)(int64_t)(x * (double)labels);
}

typedef struct {
  Bench *b;
  uint32_t step, input;
} Whole;

static bool read_whole(void *of, int64_t first, int64_t n, void *to) {
  const Whole *w = of;
  int64_t each = cells_of_sample(w->b, w->step, w->input);
  double *x = malloc((size_t)(n * each + 1) * sizeof *x);
  for (int64_t k = 0; k < n * each; k++)
    x[k] = cell(w->b, w->step, w->input, (uint64_t)(first * each + k));
  numbers_set(engine_in_number(w->b->engine[w->step], w->input), to, x, n * each);
  free(x);
  return true;
}

static void open_engines(Bench *b) {
  b->engine = NEW_ARRAY(b->w->arena, Engine *, b->regime.step.n + 1);
  b->rows = NEW_ARRAY(b->w->arena, int32_t **, b->regime.step.n + 1);
  for (uint32_t i = 0; i < b->regime.step.n; i++) {
    const Diagram *step = b->regime.step.at[i].diagram;
    b->engine[i] = engine_new(b->w, step, b->store, SAMPLES,
                              &(Target){.device = b->d, .seed = 5, .cache = cache});
    if (!b->engine[i]) stop_with_messages(b->w);
    b->rows[i] = NEW_ARRAY(b->w->arena, int32_t *, step->in.n + 1);
    for (uint32_t k = 0; k < step->in.n; k++) {
      Whole whole = {b, i, k};
      b->rows[i][k] = engine_table(b->engine[i], k, &(EngineTable){ROWS, &whole, read_whole});
    }
  }
}

static void close_engines(Bench *b) {
  for (uint32_t i = 0; i < b->regime.step.n; i++) engine_free(b->engine[i]);
}

// Every run has rows of its own.
static int32_t row_of(uint64_t run, int64_t sample) {
  return (int32_t)((run * 31 + (uint64_t)sample * 7) % ROWS);
}

static void put_input(Bench *b, const Tried *g, uint32_t step, uint32_t input) {
  Engine *e = b->engine[step];
  int32_t *rows = b->rows[step][input];
  int64_t each = cells_of_sample(b, step, input);
  if (rows && !(g->by_samples && b->runs % 7 == 3)) {
    for (int64_t k = 0; k < SAMPLES; k++) rows[k] = row_of(b->runs, k);
    rows[-ROWS_HEAD] = 1;
    return;
  }
  double *x = malloc((size_t)(SAMPLES * each) * sizeof *x);
  for (int64_t k = 0; k < SAMPLES * each; k++)
    x[k] = cell(b, step, input, (uint64_t)(row_of(b->runs, k / each) * each + k % each));
  if (g->bad && b->runs == BAD_RUN && engine_in_number(e, input) == NUMBER_F32) x[0] = NAN;
  engine_set(e, input, x, SAMPLES * each);
  free(x);
}

// -- runs -----------------------------------------------------------------------------------------
static void begin_run(Bench *b, const Tried *g) {
  uint32_t step = (uint32_t)(b->runs % b->regime.step.n);
  int64_t n = g->short_batches && b->runs % 5 == 4 ? SAMPLES / 3 : SAMPLES;
  for (uint32_t i = 0; i < b->regime.step.at[step].diagram->in.n; i++) put_input(b, g, step, i);
  if (!engine_queue(b->engine[step], n, b->runs)) fail_msg("%s", engine_error(b->engine[step]));
  b->runs++;
}

// False: what is behind it was not done.
static bool end_run(Bench *b, uint64_t run) {
  Engine *e = b->engine[run % b->regime.step.n];
  RunStatus status = engine_next(e);
  if (status == RUN_FAILED) fail_msg("%s", engine_error(e));
  b->loss[run] = status == RUN_GOOD ? *(const double *)engine_out(e, 0) : NAN;
  return status == RUN_GOOD;
}

// What other engines were to do behind a run that is not finite is not asked for any more, and must not be done: this one's next
// run is the last.
static void end_early(Bench *b, const Tried *g, uint64_t bad) {
  b->runs = bad + b->regime.step.n;
  begin_run(b, g);
  assert_true(end_run(b, b->runs - 1));
}

static void change_by_hand(Bench *b) {
  State *s = store_at(b->store, 0);
  float *x = state_writable_data(s);
  for (int64_t i = 0; i < s->count; i++) x[i] *= 0.5f;
}

// So many are queued at a time, from one to `most`; one by one, maybe each by engines that know nothing of those before.
static void run_all(Bench *b, const Tried *g, uint64_t most) {
  uint64_t runs = g->by_hand ? FEW_RUNS : RUNS;
  for (uint64_t first = 0, turn = 0; first < runs; first = b->runs, turn++) {
    uint64_t n = 1 + turn * 6 % most;
    if (first + n > runs) n = runs - first;
    if (g->by_hand && first == BY_HAND_RUN) change_by_hand(b);
    if (most == 1 && g->by_hand) close_engines(b), open_engines(b);
    begin_run(b, g); // before the first one it is not known how many have room
    while (b->runs < first + n &&
           b->runs - first < engine_queue_limit(b->engine[b->runs % b->regime.step.n]))
      begin_run(b, g);
    for (uint64_t k = first, end = b->runs; k < end; k++) {
      if (end_run(b, k)) continue;
      b->runs = end = k + 1;
      if (b->regime.step.n == 1) continue;
      end_early(b, g, k);
      return;
    }
  }
}

static void open_bench(Bench *b, const Tried *g, Device *d) {
  *b = (Bench){.w = world_new(arena_new()), .d = d};
  if (!read_program(b, g) || !fill_store(b, g->precision)) stop_with_messages(b->w);
  open_engines(b);
}

static void close_bench(Bench *b) {
  Arena *a = b->w->arena;
  close_engines(b);
  store_free(b->store);
  arena_free(a);
}

// -- laws -----------------------------------------------------------------------------------------
static void same_runs(const Bench *x, const Bench *y, uint64_t most) {
  for (uint32_t i = 0; i < RUNS; i++)
    if (memcmp(&x->loss[i], &y->loss[i], sizeof *x->loss) &&
        !(isnan(x->loss[i]) && isnan(y->loss[i])))
      fail_msg("up to %llu at once: the loss of run %u is %.17g, one by one it is %.17g",
               (unsigned long long)most, i, y->loss[i], x->loss[i]);
  for (uint32_t i = 0; i < store_count(x->store); i++) {
    const State *a = store_at(x->store, i), *b = store_at(y->store, i);
    if (memcmp(state_data(a), state_data(b), (size_t)a->count * number_bytes(a->number)))
      fail_msg("up to %llu at once: state %u differs", (unsigned long long)most, i);
  }
}

static void check(const Tried *g) {
  static const char *const ways[] = {"", "askew,late"};
  Arena *a = arena_new();
  const char *why = NULL;
  Device *d = device_open(0, a, &why);
  if (!d) fail_msg("%s", why);
  Bench one, several;
  setenv("FAKE_CUDA", "", 1);
  open_bench(&one, g, d);
  run_all(&one, g, 1);
  for (uint64_t i = 0; i < FEW_RUNS; i++)
    assert_true(isfinite(one.loss[i]) && (!i || one.loss[i] != one.loss[i - 1]));
  assert_true(isnan(one.loss[BAD_RUN]) == g->bad);
  for (uint32_t i = 0; i < COUNT(ways); i++) {
    setenv("FAKE_CUDA", ways[i], 1);
    open_bench(&several, g, d);
    run_all(&several, g, AT_ONCE);
    same_runs(&one, &several, AT_ONCE);
    close_bench(&several);
  }
  setenv("FAKE_CUDA", "", 1);
  close_bench(&one);
  device_close(d);
  arena_free(a);
}

// Rows of a table, labels in slots, noise that is another in each step, means that are kept, a rate that changes.
static const char normed[] =
    "given x : R[15 4], y : {3}[15] from iris\n"
    "learn f : R[15 4] -> R[15 3] = dropout[0.1] ; dense[16] ; batch_norm ; dense[3]\n"
    "goal near : f(x) ~ y   by cross_entropy\n"
    "train 40 steps, adam(warmup[3](0.01))\n";
static void rows_of_a_table(void **state) {
  (void)state;
  check(&(Tried){.text = normed, .short_batches = true, .by_samples = true});
}

#define TWO                                                                                        \
  "given x, y from iris\n"                                                                         \
  "learn f : R[4] -> R[3] = dense[3]\n"                                                            \
  "learn g : R[3] -> R[4] = dense[4]\n"                                                            \
  "goal there : f(x) ~ y   by cross_entropy trains f\n"                                            \
  "goal back : g(f(x)) ~ x   by l2 trains g\n"                                                     \
  "train 40 steps, f: adam(0.01), g: gd(0.1)"
static const char both[] = TWO "\n", turns[] = TWO ", turns[f: 1, g: 1]\n";
static void turn_by_turn(void **state) {
  (void)state;
  check(&(Tried){.text = turns, .bad = true});
  check(&(Tried){.text = both, .bad = true});
  check(&(Tried){.text = both, .fixed = true});
}

static const char alone[] = "given x, y from iris\n"
                            "learn f : R[4] -> R[3] = dense[8] ; tanh ; dense[3]\n"
                            "goal near : f(x) ~ y   by cross_entropy\n"
                            "train 40 steps, adam(0.01)\n";
static void not_finite(void **state) {
  (void)state;
  check(&(Tried){.text = alone, .bad = true});
  check(&(Tried){.text = alone, .short_batches = true});
}

// Products whose calls depend on the number of samples.
static const char products[] = "given x, y from iris\n"
                               "learn f : R[4] -> R[3] = dense[48] ; tanh ; dense[48] ; dense[3]\n"
                               "goal near : f(x) ~ y   by cross_entropy\n"
                               "train 40 steps, adam(0.01)\n";
static void by_size(void **state) {
  (void)state;
  check(&(Tried){.text = products, .short_batches = true});
}

// Weights that are kept rounded: those of f are g's engine's too, which does not change them.
#define WIDE                                                                                       \
  "given x, y from iris\n"                                                                         \
  "learn f : R[4] -> R[128] = dense[128] ; tanh ; dense[128]\n"                                    \
  "learn g : R[128] -> R[3] = dense[3]\n"                                                          \
  "goal near : g(f(x)) ~ y   by cross_entropy\n"                                                   \
  "train 40 steps, adam(0.01)"
static const char wide[] = WIDE "\n", wide_turns[] = WIDE ", turns[f: 1, g: 1]\n";
static void rounded(void **state) {
  (void)state;
  check(&(Tried){.text = wide, .by_hand = true, .precision = PRECISION_BF16});
  check(&(Tried){.text = wide_turns, .by_hand = true, .precision = PRECISION_BF16});
}

// A small step is one function, and several are one launch.
static void in_one_launch(void **state) {
  (void)state;
  unsetenv("LIMN_LAUNCHES");
  check(&(Tried){.text = alone, .bad = true});
  check(&(Tried){.text = turns, .short_batches = true});
  setenv("LIMN_LAUNCHES", "1", 1);
}

static int setup(void **state) {
  (void)state;
  cache = getenv("LIMN_CACHE");
  if (!cache) cache = mkdtemp(own_cache);
  if (!cache) return 1;
  have_gpu();
  setenv("LIMN_LAUNCHES", "1", 1);
  return 0;
}

static int teardown(void **state) {
  char command[64];
  (void)state;
  snprintf(command, sizeof command, "rm -rf %s", own_cache);
  return system(command);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_of_a_table), cmocka_unit_test(turn_by_turn),
      cmocka_unit_test(not_finite),      cmocka_unit_test(by_size),
      cmocka_unit_test(rounded),         cmocka_unit_test(in_one_launch)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
