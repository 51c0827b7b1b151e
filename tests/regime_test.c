// Training regimes, run by the interpreter. Ten steps of small programs are compared with PyTorch's
// numbers (regime_numbers.h), with formulas written here, and with each other: accumulating equals
// a large batch.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/interpret.h"
#include "diagram_help.h"
#include "regime_numbers.h"
#include "run/step/step.h"

enum { STEPS = 10, SAMPLES = 6 };

typedef struct {
  const char *path;
  Tensor value;
} State;
typedef struct {
  Arena *arena;
  World *w;
  Elab *in;
  Program *p;
  Regime r;
  VEC(State) state;
  int64_t samples;
} Run;

// -- where everything starts ----------------------------------------------------------------------
static double letters(const char *text) {
  double n = 0;
  for (; *text; text++) n += (unsigned char)*text;
  return n;
}

static double start_value(const char *path, int64_t i) {
  return 0.5 * sin(1 + 0.37 * (double)i + 0.11 * letters(path));
}

static Tensor *state_of(Run *r, const char *path) {
  for (uint32_t i = 0; i < r->state.n; i++)
    if (strcmp(r->state.at[i].path, path) == 0) return &r->state.at[i].value;
  return NULL;
}

static const RowMember *member_of(const Run *r, const char *path, const WeightRow **in) {
  for (uint32_t f = 0; f < r->r.flat.n; f++)
    for (uint32_t i = 0; i < r->r.flat.at[f].member.n; i++)
      if (strcmp(r->r.flat.at[f].member.at[i].path, path) == 0) {
        *in = &r->r.flat.at[f];
        return &r->r.flat.at[f].member.at[i];
      }
  return NULL;
}

// Where the numbers of a weight or state are, in a row or for themselves.
static double *numbers_of(Run *r, const char *path) {
  const WeightRow *flat;
  const RowMember *m = member_of(r, path, &flat);
  Tensor *t = state_of(r, m ? flat->path : path);
  if (!t) fail_msg("there is no state %s", path);
  return t->data + (m ? m->offset : 0);
}

static void fill(Run *r, const char *path, const Type *t, uint8_t base) {
  int64_t n;
  assert_true(type_count(r->w, t, &n));
  for (int64_t i = 0; i < n; i++)
    numbers_of(r, path)[i] = base == BASE_BIT ? 0 : start_value(path, i);
}

static void add_states(Run *r, const Diagram *d) {
  for (uint32_t i = 0; i < d->param.n; i++) {
    const Param *p = &d->param.at[i];
    if (state_of(r, p->path)) continue;
    State s = {.path = p->path};
    const Type *t = &d->wire.at[p->wire].type;
    assert_true(init_eval(r->w, r->arena, &p->init, t, 0, 0, &s.value));
    if (strcmp(p->path, "steps") == 0) s.value.data[0] = STEPS;
    vec_push(r->arena, &r->state, s);
    if (p->role == ROLE_WEIGHT && p->rooted) fill(r, p->path, t, t->base);
  }
}

static void start(Run *r) {
  for (uint32_t i = 0; i < r->r.step.n; i++) {
    Buf why = buf_new(r->arena);
    if (!diagram_valid(r->w, r->r.step.at[i].diagram, &why)) fail_msg("%s", why.at);
    add_states(r, r->r.step.at[i].diagram);
  }
  for (uint32_t f = 0; f < r->r.flat.n; f++) {
    const WeightRow *flat = &r->r.flat.at[f];
    int64_t end = 0, n;
    for (uint32_t i = 0; i < flat->member.n; i++) {
      const RowMember *m = &flat->member.at[i];
      assert_true(type_count(r->w, &m->type, &n));
      assert_true(m->offset >= end && m->offset % 16 == 0);
      end = m->offset + n;
      if (state_of(r, flat->path)) fill(r, m->path, &m->type, (uint8_t)flat->base);
    }
    assert_true(end <= flat->count);
  }
  for (uint32_t i = 0; i < r->r.start.n; i++) {
    Tensor *to = state_of(r, r->r.start.at[i].path);
    for (int64_t k = 0; k < to->count; k++) to->data[k] = numbers_of(r, r->r.start.at[i].as)[k];
  }
}

static Run run_new(const char *text) {
  Run r = {.arena = arena_new(), .samples = SAMPLES};
  r.w = world_new(r.arena);
  r.in = elab_new(r.w);
  r.p = elab_program(r.in, "test.limn", text, strlen(text));
  bool good = !r.w->diags->errors && learn_regime(r.in, r.p, r.p->train.at[0], &r.r);
  if (!good) {
    Buf b = buf_new(r.arena);
    diags_print(r.w->diags, &b);
    fail_msg("%s", b.at);
  }
  start(&r);
  return r;
}

// -- one step -------------------------------------------------------------------------------------
static Tensor batch(Run *r, const Wire *x, uint64_t t) {
  int64_t shape[8], labels = 1;
  for (uint32_t i = 0; i < x->type.rank; i++)
    if (!size_value(r->w, x->type.axis[i].size, &shape[i])) shape[i] = r->samples;
  Tensor v = tensor_new(r->arena, x->type.rank, shape);
  double k = 0.29 * letters(name_text(r->w->names, x->name));
  if (x->type.base == BASE_LABEL) assert_true(size_value(r->w, x->type.count, &labels));
  for (int64_t i = 0; i < v.count; i++)
    v.data[i] = x->type.base == BASE_LABEL ? (double)((7 * i + 3 * (int64_t)t) % labels)
                                           : cos(0.5 * (double)i + k + 1.7 * (double)t);
  for (int64_t i = 0; x->type.base == BASE_BIT && i < v.count; i++) v.data[i] = v.data[i] > 0.2;
  return v;
}

static Tensor *run_on(Run *r, uint32_t step, const Tensor *in, uint64_t t) {
  const Diagram *d = r->r.step.at[step].diagram;
  Tensor *param = NEW_ARRAY(r->arena, Tensor, d->param.n + 1),
         *next = NEW_ARRAY(r->arena, Tensor, d->param.n + 1),
         *out = NEW_ARRAY(r->arena, Tensor, d->out.n + 1);
  for (uint32_t i = 0; i < d->param.n; i++) param[i] = *state_of(r, d->param.at[i].path);
  Eval e = {.arena = r->arena, .step = t, .in = in, .param = param, .out = out, .next = next};
  if (!diagram_eval(r->w, d, &e)) fail_msg("%s", e.error);
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].next) *state_of(r, d->param.at[i].path) = next[i];
  assert_int_equal(d->out.n, r->r.step.at[step].goals.n);
  return out;
}

static Tensor *run_step(Run *r, uint32_t step, uint64_t t) {
  const Diagram *d = r->r.step.at[step].diagram;
  Tensor *in = NEW_ARRAY(r->arena, Tensor, d->in.n + 1);
  for (uint32_t i = 0; i < d->in.n; i++) in[i] = batch(r, &d->wire.at[d->in.at[i]], t);
  return run_on(r, step, in, t);
}

static void run_rounds(Run *r, uint32_t rounds) {
  uint64_t t = 0;
  for (uint32_t k = 0; k < rounds; k++)
    for (uint32_t i = 0; i < r->r.turn.n; i++)
      for (uint32_t n = 0; n < r->r.turn.at[i].times; n++) run_step(r, r->r.turn.at[i].step, t++);
}

static void near(const char *what, double got, double want) {
  if (!(fabs(got - want) <= 1e-10 * (1 + fabs(want))))
    fail_msg("%s: %.17g, wanted %.17g", what, got, want);
}

static void check_end(Run *r, const Known *end, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    for (int64_t k = 0; k < end[i].count; k++)
      near(end[i].path, numbers_of(r, end[i].path)[k], end[i].value[k]);
}

// Runs all rounds and compares with numbers[step][width], then with the end.
static void check_run(Run *r, const double *numbers, uint32_t width, const Known *end, uint32_t n) {
  uint64_t t = 0;
  for (uint32_t round = 0; round < STEPS; round++)
    for (uint32_t i = 0; i < r->r.turn.n; i++)
      for (uint32_t k = 0; k < r->r.turn.at[i].times; k++, t++) {
        uint32_t step = r->r.turn.at[i].step;
        Tensor *shown = run_step(r, step, t);
        for (uint32_t g = 0; g < r->r.step.at[step].goals.n; g++)
          near("shown", shown[g].data[0], numbers[t * width + g]);
      }
  check_end(r, end, n);
}
#define CHECK_RUN(r, name)                                                                         \
  check_run(r, &name##_shown[0][0], COUNT(name##_shown[0]), name##_end, COUNT(name##_end))

#define MLP                                                                                        \
  "given x, label from iris\n"                                                                     \
  "learn f : R[4] -> R[3] = dense[5] ; tanh ; dense[3]\n"                                          \
  "goal fit : f(x) ~ label by cross_entropy\n"

// -- against PyTorch ------------------------------------------------------------------------------
static void by_adam(void **state) {
  (void)state;
  Run r = run_new(MLP "train 10 steps, adam(0.01)\n");
  assert_int_equal(r.r.flat.n, 1);
  assert_int_equal(r.r.flat.at[0].member.n, 4);
  assert_string_equal(r.r.flat.at[0].path, "weights/adam");
  assert_int_equal(state_of(&r, "adam/t")->rank, 0);
  assert_int_equal(state_of(&r, "adam/m")->count, r.r.flat.at[0].count);
  assert_null(state_of(&r, "step"));
  assert_true(r.r.training.steps == 10 && r.r.training.epochs == 0);
  CHECK_RUN(&r, adam);
  for (int64_t i = 5; i < 16; i++) // between the first two weights
    assert_true(state_of(&r, "weights/adam")->data[i] == 0);
  arena_free(r.arena);
}

// The model sees look(p) = p - 0.9 v, and the slope is taken there: PyTorch's parameter is what is
// seen.
static void by_nesterov(void **state) {
  (void)state;
  Run r = run_new(MLP "train 10 steps, nesterov(0.05)\n");
  check_run(&r, &nesterov_shown[0][0], 1, NULL, 0);
  for (uint32_t i = 0; i < COUNT(nesterov_end); i++)
    for (int64_t k = 0; k < nesterov_end[i].count; k++) {
      double *p = numbers_of(&r, nesterov_end[i].path);
      double v = state_of(&r, "nesterov/v")->data[p - state_of(&r, "weights/nesterov")->data + k];
      near(nesterov_end[i].path, p[k] - 0.9 * v, nesterov_end[i].value[k]);
    }
  arena_free(r.arena);
}

static void clipped_then_decayed(void **state) {
  (void)state;
  Run r = run_new(MLP "train 10 steps, momentum(0.05), decay 0.02, clip 0.3\n");
  CHECK_RUN(&r, decay);
  arena_free(r.arena);
}

static void by_a_schedule(void **state) {
  (void)state;
  Run r = run_new(MLP "train 10 steps, adamw(warmup[4](cosine(0.01)), decay: 0.1), clip 0.5\n");
  CHECK_RUN(&r, schedule);
  assert_true(state_of(&r, "step")->data[0] == STEPS);
  arena_free(r.arena);
}

static void through_time(void **state) {
  (void)state;
  Run r = run_new("given x from normal[5 3]\n"
                  "learn f : R[5 3] -> R[2] = lstm[4] ; last ; dense[2]\n"
                  "goal fit : f(x) ~ 1 by l2\n"
                  "train 10 steps, adam(0.01)\n");
  CHECK_RUN(&r, lstm);
  const Diagram *d = r.r.step.at[0].diagram;
  uint32_t products = 0; // one for each direction: the others are taken for all rows at once
  for (Id i = 1; i < d->box.n; i++) {
    const Diagram *body = d->box.at[i].op == OP_scan ? d->box.at[i].scan->body : NULL;
    for (Id k = 1; body && k < body->box.n; k++)
      products += body->box.at[k].op == OP_loop && body->box.at[k].loop->nindex == 4;
  }
  assert_int_equal(products, 2);
  arena_free(r.arena);
}

#define GAN                                                                                        \
  "given flower from normal[5]\n"                                                                  \
  "given n from normal[3]\n"                                                                       \
  "learn gen : R[3] -> R[5] = dense[4] ; tanh ; dense[5]\n"                                        \
  "learn dis : R[5] -> R[] = dense[4] ; tanh ; dense[]\n"                                          \
  "goal real : dis(flower) ~ 1 by bce trains dis\n"                                                \
  "goal fake : dis(gen(n)) ~ 0 by bce trains dis\n"                                                \
  "goal fool : dis(gen(n)) ~ 1 by bce trains gen times 0.5\n"

static void two_optimisers(void **state) {
  (void)state;
  Run r = run_new(GAN "train 10 steps, gen: adam(2e-3, 0.5), momentum(0.05)\n");
  assert_int_equal(r.r.flat.n, 2);
  CHECK_RUN(&r, gan);
  arena_free(r.arena);
  r = run_new(GAN "train 10 steps, gen: adam(2e-3, 0.5), dis: adam(2e-3, 0.5)\n");
  assert_int_equal(r.r.flat.n, 2); // the same settings, but one of them may be changed in a run
  arena_free(r.arena);
  r = run_new(GAN "train 10 steps, gen: adam(2e-3, 0.5), dis: adam(2e-3)\n");
  assert_int_equal(r.r.flat.n, 2);
  assert_string_equal(r.r.flat.at[0].path, "weights/adam");
  assert_string_equal(r.r.flat.at[1].path, "weights/adam.2");
  arena_free(r.arena);
}

static void in_turns(void **state) {
  (void)state;
  Run r = run_new(GAN "train 10 steps, adam(fade(0.01)), turns[dis: 3, gen: 1]\n");
  assert_int_equal(r.r.step.n, 2);
  assert_int_equal(r.r.turn.n, 2);
  assert_int_equal(r.r.turn.at[0].times, 3);
  assert_int_equal(r.r.step.at[0].goals.n, 2);
  assert_int_equal(r.r.step.at[1].goals.n, 1);
  CHECK_RUN(&r, turns);
  assert_true(state_of(&r, "step")->data[0] == STEPS);
  arena_free(r.arena);
  // the last turn has several steps: only the last of them counts the round
  r = run_new(GAN "train 10 steps, adam(fade(0.01)), turns[gen: 1, dis: 3]\n");
  assert_int_equal(r.r.step.n, 3);
  run_rounds(&r, STEPS);
  assert_true(state_of(&r, "step")->data[0] == STEPS);
  arena_free(r.arena);
  r = run_new(GAN "train 10 steps, adam(0.01), turns[gen: 1, dis: 3]\n"); // nobody counts
  assert_int_equal(r.r.step.n, 2);
  arena_free(r.arena);
}

static void stale_copies(void **state) {
  (void)state;
  Run r = run_new("given x from normal[4]\n"
                  "learn f : R[4] -> R[4] = dense[4]\n"
                  "stale g = f every 3\n"
                  "stale h = f by 0.9\n"
                  "goal follow : f(x) ~ 0.5 * g(x) + 0.4 * h(x) + x by l2\n"
                  "train 10 steps, gd(0.05)\n");
  assert_int_equal(r.r.start.n, 4);
  CHECK_RUN(&r, stale);
  arena_free(r.arena);
}

// The reference takes the mean over goals. Here it is over uses, so each goal uses f twice.
static void running_means(void **state) {
  (void)state;
  Run r = run_new("given x from normal[4]\n"
                  "given y from normal[4]\n"
                  "learn f : R[4] -> R[2] = dense[4] ; batch_norm ; tanh ; dense[2]\n"
                  "learn g : R[2] -> R[2] = dense[2]\n"
                  "goal one : 0.5 * f(x) + 0.5 * f(x) ~ 1 by l2 trains f\n"
                  "goal two : f(y) ~ 0 - f(x) by l2 trains f\n"
                  "goal three : g(f(x)) ~ 0.5 by l2 trains g\n"
                  "train 10 steps, adam(0.01)\n");
  CHECK_RUN(&r, norm);
  arena_free(r.arena);
}

static void a_game(void **state) {
  (void)state;
  Run r = run_new("axis a = 3, b = 3\n"
                  "const U : R[a b] = [[0, -1, 1], [1, 0, -1], [-1, 1, 0]]\n"
                  "learn p : simplex[a]\n"
                  "learn q : simplex[b]\n"
                  "goal maximise p[i] U[i j] q[j] trains p\n"
                  "goal minimise p[i] U[i j] q[j] trains q\n"
                  "train 10 steps, optimistic(0.1)\n");
  CHECK_RUN(&r, game);
  arena_free(r.arena);
}

static void matrices_by_muon(void **state) {
  (void)state;
  Run r = run_new("given x from normal[5 2]\n"
                  "given label from iris.label\n"
                  "learn f : R[5 2] -> R[3] = conv1[4] ; tanh ; flatten ; dense[3]\n"
                  "goal fit : f(x) ~ label by cross_entropy\n"
                  "train 10 steps, muon(0.04, 0.9)\n");
  assert_non_null(strstr(r.r.says, "muon steps weights with two axes or more"));
  assert_int_equal(r.r.flat.n, 1); // the bias
  CHECK_RUN(&r, muon);
  arena_free(r.arena);
}

// -- against each other ---------------------------------------------------------------------------
// Four batches that are accumulated are one batch of all their samples.
static void accumulating(void **state) {
  (void)state;
  enum { PARTS = 4 };
  Run parts = run_new(MLP "train 10 steps, adam(fade(0.01)), clip 0.5, accumulate 4\n"),
      whole = run_new(MLP "train 10 steps, adam(fade(0.01)), clip 0.5\n");
  assert_int_equal(parts.r.step.n, 2);
  assert_int_equal(parts.r.turn.n, 2);
  assert_int_equal(parts.r.turn.at[0].times, PARTS - 1);
  whole.samples = PARTS * SAMPLES;
  for (uint64_t t = 0; t < STEPS; t++) {
    const Diagram *d = whole.r.step.at[0].diagram;
    Tensor all[2];
    for (uint32_t i = 0; i < 2; i++) all[i] = batch(&whole, &d->wire.at[d->in.at[i]], t);
    double mean = 0, want = run_on(&whole, 0, all, t)[0].data[0];
    for (uint64_t k = 0; k < PARTS; k++) {
      Tensor part[2];
      for (uint32_t i = 0; i < 2; i++) {
        part[i] = all[i];
        part[i].shape = arena_copy(parts.arena, all[i].shape, all[i].rank * sizeof(int64_t));
        part[i].shape[0] = SAMPLES;
        part[i].count = all[i].count / PARTS;
        part[i].data = all[i].data + (int64_t)k * part[i].count;
      }
      uint32_t step = parts.r.turn.at[k + 1 == PARTS].step;
      mean += run_on(&parts, step, part, PARTS * t + k)[0].data[0] / PARTS;
    }
    near("mean of the parts", mean, want);
    near("steps", state_of(&parts, "step")->data[0], (double)t + 1);
  }
  const Tensor *a = state_of(&parts, "weights/adam"), *b = state_of(&whole, "weights/adam");
  for (int64_t i = 0; i < a->count; i++) near("weights", a->data[i], b->data[i]);
  const Tensor *gathered = state_of(&parts, "adam/gathered");
  for (int64_t i = 0; i < gathered->count; i++) assert_true(gathered->data[i] == 0);
  arena_free(parts.arena);
  arena_free(whole.arena);
}

// Turns of learners with accumulation: the gathered gradients do not mix.
static void accumulating_in_turns(void **state) {
  (void)state;
  Run r = run_new(GAN "train 10 steps, adam(0.01), turns[dis: 2, gen: 1], accumulate 3\n");
  static const uint32_t times[] = {2, 1, 2, 1, 2, 1};
  assert_int_equal(r.r.step.n, 4);
  assert_int_equal(r.r.turn.n, COUNT(times));
  for (uint32_t i = 0; i < COUNT(times); i++) assert_int_equal(r.r.turn.at[i].times, times[i]);
  run_rounds(&r, STEPS);
  near("adam/t", state_of(&r, "adam/t")->data[0] + state_of(&r, "adam.2/t")->data[0], 3 * STEPS);
  arena_free(r.arena);
}

// Over bits: θ ← θ ⊕ Σ_s onehot(x_s) ∧ (y_s ⊕ f(x_s)), the sum being ⊕ too.
static void flipping_bits(void **state) {
  (void)state;
  Run r = run_new("given x, y from iris[bits: 1]\n"
                  "learn table : B[4] -> B[3] = lut\n"
                  "goal fit : table(x) ~ y by xor\n"
                  "train 1 pass\n");
  assert_non_null(strstr(r.r.says, "no optimiser is given for table: rda"));
  assert_string_equal(r.r.flat.at[0].path, "weights/rda");
  assert_int_equal(r.r.flat.at[0].base, BASE_BIT);
  assert_true(r.r.training.epochs == 1);
  int theta[16][3] = {{0}}, moved = 0;
  for (uint64_t t = 0; t < STEPS; t++) {
    const Diagram *d = r.r.step.at[0].diagram;
    Tensor x = batch(&r, &d->wire.at[d->in.at[0]], t), y = batch(&r, &d->wire.at[d->in.at[1]], t);
    int wrong = 0, flip[16][3] = {{0}};
    for (int s = 0; s < SAMPLES; s++) {
      int at = 0;
      for (int i = 0; i < 4; i++) at |= (int)x.data[4 * s + i] << i;
      for (int k = 0; k < 3; k++) {
        int differs = theta[at][k] ^ (int)y.data[3 * s + k];
        wrong += differs;
        flip[at][k] ^= differs;
      }
    }
    near("fit", run_step(&r, 0, t)[0].data[0], (double)wrong / SAMPLES);
    for (int i = 0; i < 48; i++) moved += (&flip[0][0])[i], (&theta[0][0])[i] ^= (&flip[0][0])[i];
    for (int i = 0; i < 48; i++)
      near("theta", numbers_of(&r, "table/lut/theta")[i], (&theta[0][0])[i]);
  }
  assert_true(moved > 10);
  arena_free(r.arena);
}

// -- who is stepped by what -----------------------------------------------------------------------
static void inside_others(void **state) {
  (void)state;
  Run r = run_new("given x from normal[3]\n"
                  "learn a : R[3] -> R[3] = dense[3]\n"
                  "learn b : R[3] -> R[3] = a ; dense[3]\n"
                  "learn c : R[3] -> R[3] = b ; dense[3]\n"
                  "learn d : R[3] -> R[3] = dense[3]\n"
                  "freeze d\n"
                  "goal one : c(d(x)) ~ x by l2\n"
                  "train 3 steps, c: momentum(0.1), a: adam(0.1), seed 7, batch 32, patience 2\n");
  const WeightRow *flat;
  assert_non_null(member_of(&r, "b/dense/b", &flat)); // inside c
  assert_string_equal(flat->path, "weights/momentum");
  assert_non_null(member_of(&r, "a/dense/b", &flat)); // its own
  assert_string_equal(flat->path, "weights/adam");
  assert_null(member_of(&r, "d/dense/b", &flat));
  assert_non_null(state_of(&r, "d/dense/b"));
  assert_string_equal(r.r.says, "");
  assert_true(r.r.training.seed == 7 && r.r.training.has_seed && r.r.training.batch == 32 &&
              r.r.training.patience == 2 && r.r.training.steps == 3);
  run_rounds(&r, 2);
  near("a frozen weight", numbers_of(&r, "d/dense/b")[1], start_value("d/dense/b", 1));
  arena_free(r.arena);
  r = run_new(GAN "train 10 steps, gen: gd(0.1)\n");
  assert_string_equal(r.r.says, "no optimiser is given for dis: adam(0.001)\n");
  assert_int_equal(r.r.flat.n, 2);
  arena_free(r.arena);
}

// An optimiser that looks at all numbers of a weight steps weights one by one, of any rank.
static void by_the_norm(void **state) {
  (void)state;
  Run r = run_new("optimiser mine(rate: 0.1) {\n"
                  "  next p = p - rate * grad / (sqrt(sum(grad * grad)) + 1)\n"
                  "}\n" MLP "train 10 steps, mine\n");
  assert_int_equal(r.r.flat.n, 0);
  double before = start_value("f/dense.1/b", 2);
  run_rounds(&r, 1);
  assert_true(numbers_of(&r, "f/dense.1/b")[2] != before);
  arena_free(r.arena);
}

// Paths of states stay clear of those of weights.
static void names_do_not_meet(void **state) {
  (void)state;
  Run r = run_new("given x from normal[3]\n"
                  "optimiser mine(rate: 0.1) {\n"
                  "  state v = 0\n"
                  "  next v = v + grad\n"
                  "  next p = p - rate * next v\n"
                  "}\n"
                  "box bend(x: R[3]) -> R[3] {\n"
                  "  learn mine : R[3] = 1\n"
                  "  return x * mine\n"
                  "}\n"
                  "learn weights : R[3] -> R[3] = bend\n"
                  "learn adam : R[3] -> R[3] = bend\n"
                  "goal one : adam(weights(x)) ~ x by l2\n"
                  "train 3 steps, weights: mine(0.1)\n");
  assert_int_equal(r.r.flat.n, 2);
  run_rounds(&r, 3);
  arena_free(r.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(by_adam),
      cmocka_unit_test(by_nesterov),
      cmocka_unit_test(clipped_then_decayed),
      cmocka_unit_test(by_a_schedule),
      cmocka_unit_test(through_time),
      cmocka_unit_test(two_optimisers),
      cmocka_unit_test(in_turns),
      cmocka_unit_test(stale_copies),
      cmocka_unit_test(running_means),
      cmocka_unit_test(a_game),
      cmocka_unit_test(matrices_by_muon),
      cmocka_unit_test(accumulating),
      cmocka_unit_test(accumulating_in_turns),
      cmocka_unit_test(flipping_bits),
      cmocka_unit_test(inside_others),
      cmocka_unit_test(by_the_norm),
      cmocka_unit_test(names_do_not_meet),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
