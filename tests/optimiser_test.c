// State over several steps: the library's optimisers, and the running statistics of batch_norm,
// compared with formulas for a single number, and with PyTorch's numbers (optimiser_numbers.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/diag.h"
#include "core/diagram/interpret.h"
#include "diagram_help.h"
#include "lang/program/program.h"
#include "optimiser_numbers.h"

enum { STEPS = 10 };

typedef struct {
  Arena *arena;
  World *w;
  Elab *in;
  Program *program;
  Diagram *d;
  Tensor p, look;
  Tensor *param; // the states
} Run;

static Tensor tensor_from(Arena *a, uint32_t rank, const int64_t *shape, const double *data) {
  Tensor t = tensor_new(a, rank, shape);
  for (int64_t i = 0; i < t.count; i++) t.data[i] = data[i];
  return t;
}

static Type type_of_shape(World *w, uint32_t rank, const int64_t *shape) {
  Axis axis[8] = {0};
  for (uint32_t i = 0; i < rank; i++) axis[i].size = size_of(w, shape[i]);
  return type_make(w, BASE_R, rank, axis);
}

static void start_states(Run *r) {
  r->param = NEW_ARRAY(r->arena, Tensor, r->d->param.n + 1);
  for (uint32_t i = 0; i < r->d->param.n; i++) {
    const Param *p = &r->d->param.at[i];
    assert_true(
        init_eval(r->w, r->arena, &p->init, &r->d->wire.at[p->wire].type, 0, 0, &r->param[i]));
  }
}

static Run run_new(const char *text) {
  Run r = {.arena = arena_new()};
  r.w = world_new(r.arena);
  r.in = elab_new(r.w);
  r.program = elab_program(r.in, "test.limn", text, strlen(text));
  assert_int_equal(r.w->diags->errors, 0);
  return r;
}

static void run_step(Run *r, const double *grad) {
  Tensor in[2] = {r->p, tensor_from(r->arena, r->p.rank, r->p.shape, grad)}, out[2] = {{0}};
  Tensor *next = NEW_ARRAY(r->arena, Tensor, r->d->param.n + 1);
  Eval e = {.arena = r->arena, .in = in, .param = r->param, .out = out, .next = next};
  assert_int_equal(r->d->in.n, 2);
  assert_int_equal(r->d->out.n, 2);
  assert_true(diagram_eval(r->w, r->d, &e));
  r->look = out[0];
  r->p = out[1];
  for (uint32_t i = 0; i < r->d->param.n; i++)
    if (r->d->param.at[i].next) r->param[i] = next[i];
}

// Where the model would look at the weights now: a step that is not kept.
static Tensor look_now(const Run *r) {
  static const double none[16];
  Run copy = *r;
  copy.param = arena_copy(r->arena, r->param, sizeof(Tensor) * (r->d->param.n + 1));
  run_step(&copy, none);
  return copy.look;
}

static Run optimiser(const char *name, uint32_t rank, const int64_t *shape, const double *from) {
  Run r = run_new("const nothing = 0\n");
  r.d = elab_optimiser(r.in, r.program, name, NULL, type_of_shape(r.w, rank, shape), false);
  Buf why = buf_new(r.arena);
  if (!r.d) diags_print(r.w->diags, &why);
  if (!r.d) fail_msg("%s: %s", name, why.at);
  if (!diagram_valid(r.w, r.d, &why)) fail_msg("%s: %s", name, why.at);
  r.p = tensor_from(r.arena, rank, shape, from);
  start_states(&r);
  return r;
}

static void near(const char *what, double got, double want) {
  if (!(fabs(got - want) <= 1e-12 * (1 + fabs(want))))
    fail_msg("%s: %.17g, wanted %.17g", what, got, want);
}

// -- formulas: one number p, its states s, a slope g; t counts from 1 -----------------------------
typedef void Formula(double *p, double *s, double g, int t);

static void f_gd(double *p, double *s, double g, int t) {
  (void)s, (void)t;
  *p -= 0.01 * g;
}

static void f_momentum(double *p, double *s, double g, int t) {
  (void)t;
  s[0] = 0.9 * s[0] +
         g; // PyTorch's form: the rate stands outside, which is the same while it is constant
  *p -= 0.01 * s[0];
}

// The form of PyTorch and of Sutskever et al. for the weights that the model sees, θ = p - γv. With
// v' = γv + εg and p' = p - v':
//   θ' = p' - γv' = θ + γv - v' - γv' = θ - εg - γv',   and with v = εb:   b' = γb + g,   θ' = θ -
//   ε(g + γb').
// So `look` is what PyTorch calls the parameter, exactly, from the first step (v = 0, θ = p).
static void f_nesterov(double *p, double *s, double g, int t) {
  (void)t;
  s[0] = 0.9 * s[0] + g;
  *p -= 0.01 * (g + 0.9 * s[0]);
}

static void f_adagrad(double *p, double *s, double g, int t) {
  (void)t;
  s[0] += g * g;
  *p -= 0.01 * g / (sqrt(s[0]) + 1e-8);
}

static void f_rmsprop(double *p, double *s, double g, int t) {
  (void)t;
  s[0] += 0.01 * (g * g - s[0]);
  *p -= 0.01 * g / (sqrt(s[0]) + 1e-8);
}

static void f_adam(double *p, double *s, double g, int t) {
  s[0] += 0.1 * (g - s[0]);
  s[1] += 0.001 * (g * g - s[1]);
  double c1 = 1 - pow(0.9, t), c2 = 1 - pow(0.999, t);
  *p -= 0.001 / c1 * s[0] / (sqrt(s[1]) / sqrt(c2) + 1e-8);
}

// The form of PyTorch: eps is added to the slope.
static void f_adamax(double *p, double *s, double g, int t) {
  s[0] += 0.1 * (g - s[0]);
  s[1] = fmax(0.999 * s[1], fabs(g) + 1e-8);
  *p -= 0.002 / (1 - pow(0.9, t)) * s[0] / s[1];
}

static void f_adamw(double *p, double *s, double g, int t) {
  *p *= 1 - 0.001 * 0.01;
  f_adam(p, s, g, t);
}

static double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

static void f_lion(double *p, double *s, double g, int t) {
  (void)t;
  *p -= 1e-4 * sign_of(0.9 * s[0] + 0.1 * g);
  s[0] = 0.99 * s[0] + 0.01 * g;
}

static void f_optimistic(double *p, double *s, double g, int t) {
  (void)t;
  *p -= 0.1 * g + 0.1 * (g - s[0]);
  s[0] = g;
}

static void f_extragradient(double *p, double *s, double g, int t) {
  if (t % 2) s[0] = *p;
  *p = s[0] - 0.1 * g;
}

typedef struct {
  const char *name;
  Formula *formula;
  const double (*torch)[4];
  bool look; // what to compare is `look`
} Case;
static const Case cases[] = {
    {"gd", f_gd, torch_gd, false},
    {"momentum", f_momentum, torch_momentum, false},
    {"nesterov", f_nesterov, torch_nesterov, true},
    {"adagrad", f_adagrad, torch_adagrad, false},
    {"rmsprop", f_rmsprop, torch_rmsprop, false},
    {"adam", f_adam, torch_adam, false},
    {"adamw", f_adamw, torch_adamw, false},
    {"adamax", f_adamax, NULL, false},
    {"lion", f_lion, NULL, false},
    {"optimistic", f_optimistic, NULL, false},
    {"extragradient", f_extragradient, NULL, false},
    {"ema", f_gd, NULL, false},
};

static void given_slopes(void **state) {
  (void)state;
  for (uint32_t c = 0; c < COUNT(cases); c++) {
    double p[4], s[4][2] = {{0}};
    memcpy(p, start[0], sizeof p);
    Run r = optimiser(cases[c].name, 1, (int64_t[]){4}, start[0]);
    for (int t = 0; t < STEPS; t++) {
      run_step(&r, slope[t]);
      Tensor at = cases[c].look ? look_now(&r) : r.p;
      for (int i = 0; i < 4; i++) {
        cases[c].formula(&p[i], s[i], slope[t][i], t + 1);
        near(cases[c].name, at.data[i], p[i]);
        if (cases[c].torch) near(cases[c].name, at.data[i], cases[c].torch[t][i]);
      }
    }
    arena_free(r.arena);
  }
}

// The slope is taken where the model looks: down a bowl.
static void own_slopes(void **state) {
  (void)state;
  static const double bowl[4] = {1, 0.3, 5, 0.01};
  for (uint32_t c = 0; c < COUNT(cases); c++) {
    double p[4], s[4][2] = {{0}};
    memcpy(p, start[0], sizeof p);
    Run r = optimiser(cases[c].name, 1, (int64_t[]){4}, start[0]);
    for (int t = 0; t < 5 * STEPS; t++) {
      Tensor at = look_now(&r);
      double g[4];
      for (int i = 0; i < 4; i++) {
        near(cases[c].name, at.data[i], p[i]);
        g[i] = bowl[i] * at.data[i];
        cases[c].formula(&p[i], s[i], g[i], t + 1);
      }
      run_step(&r, g);
    }
    arena_free(r.arena);
  }
}

// The average that stands beside: a' = keep a + (1 - keep) p'.
static void slow_average(void **state) {
  (void)state;
  Run r = optimiser("ema", 1, (int64_t[]){4}, start[0]);
  double a[4] = {0};
  assert_int_equal(r.d->param.n, 1);
  for (int t = 0; t < STEPS; t++) {
    run_step(&r, slope[t]);
    for (int i = 0; i < 4; i++) {
      a[i] = 0.999 * a[i] + 0.001 * torch_gd[t][i];
      near("ema", r.param[0].data[i], a[i]);
    }
  }
  arena_free(r.arena);
}

// Any type of weight: a single number, and three axes.
static void other_shapes(void **state) {
  (void)state;
  static const int64_t shape[3] = {2, 1, 2};
  for (uint32_t c = 0; c < COUNT(cases); c++)
    for (uint32_t rank = 0; rank <= 3; rank += 3) {
      Run r = optimiser(cases[c].name, rank, shape, start[0]);
      double p[4], s[4][2] = {{0}};
      memcpy(p, start[0], sizeof p);
      for (int t = 0; t < STEPS; t++) run_step(&r, slope[t]);
      Tensor at = cases[c].look ? look_now(&r) : r.p;
      for (int i = 0; i < at.count; i++) {
        for (int t = 0; t < STEPS; t++) cases[c].formula(&p[i], s[i], slope[t][i], t + 1);
        near(cases[c].name, at.data[i], p[i]);
      }
      arena_free(r.arena);
    }
}

// -- muon: X ← aX + (bA + cA²)X with A = XXᵀ, five times, on 2 × 3 numbers ------------------------
enum { ROWS = 2, COLUMNS = 3 };

static void newton_schulz(double x[ROWS][COLUMNS]) {
  double a[ROWS][ROWS] = {{0}}, m[ROWS][ROWS] = {{0}}, y[ROWS][COLUMNS] = {{0}};
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < ROWS; j++)
      for (int k = 0; k < COLUMNS; k++) a[i][j] += x[i][k] * x[j][k];
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < ROWS; j++) {
      m[i][j] = -4.7750 * a[i][j] + (i == j ? 3.4445 : 0);
      for (int k = 0; k < ROWS; k++) m[i][j] += 2.0315 * a[i][k] * a[k][j];
    }
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++)
      for (int k = 0; k < ROWS; k++) y[i][j] += m[i][k] * x[k][j];
  memcpy(x, y, sizeof y);
}

static void muon(void **state) {
  (void)state;
  double p[ROWS][COLUMNS] = {{0}}, m[ROWS][COLUMNS] = {{0}}, x[ROWS][COLUMNS];
  Run r = optimiser("muon", 2, (int64_t[]){ROWS, COLUMNS}, &p[0][0]);
  for (int t = 0; t + 1 < STEPS; t++) {
    const double *g = slope[t]; // and the beginning of the next row
    double six[6] = {g[0], g[1], g[2], slope[t + 1][0], slope[t + 1][1], slope[t + 1][2]}, norm = 0;
    for (int i = 0; i < 6; i++) {
      double *mi = &m[0][0] + i;
      *mi = 0.95 * *mi + six[i];
      (&x[0][0])[i] = six[i] + 0.95 * *mi;
      norm += (&x[0][0])[i] * (&x[0][0])[i];
    }
    for (int i = 0; i < 6; i++) (&x[0][0])[i] /= sqrt(norm) + 1e-7;
    for (int i = 0; i < 5; i++) newton_schulz(x);
    run_step(&r, six);
    for (int i = 0; i < 6; i++) {
      (&p[0][0])[i] -= 0.02 * (&x[0][0])[i];
      near("muon", r.p.data[i], (&p[0][0])[i]);
    }
  }
  arena_free(r.arena);
}

// -- players: steps of the logarithms of σ are factors of σ itself --------------------------------
enum { MOVES = 4 };

static void shares(const double *p, double *s) {
  double sum = 0;
  for (int i = 0; i < MOVES; i++) sum += s[i] = exp(p[i]);
  for (int i = 0; i < MOVES; i++) s[i] /= sum;
}

// The slope by p that a slope u by σ makes: σ_i (u_i - Σ σ u).
static void slope_by_logs(const double *s, const double *u, double *g) {
  double mean = 0;
  for (int i = 0; i < MOVES; i++) mean += s[i] * u[i];
  for (int i = 0; i < MOVES; i++) g[i] = s[i] * (u[i] - mean);
}

// σ' ∝ σ exp(-0.1 (2u - u before)); `mean`: what is kept is the mean of all σ, and the model looks
// at the last.
static void play(const char *name, bool mean) {
  Run r = optimiser(name, 1, (int64_t[]){MOVES}, start[0]);
  double s[MOVES], before[MOVES] = {0}, sum[MOVES] = {0}, g[MOVES], kept[MOVES];
  shares(start[0], s);
  for (int t = 0; t < STEPS; t++) {
    double seen[MOVES], total = 0;
    shares(look_now(&r).data, seen);
    for (int i = 0; i < MOVES; i++) near(name, seen[i], s[i]);
    slope_by_logs(s, slope[t], g);
    run_step(&r, g);
    for (int i = 0; i < MOVES; i++) {
      sum[i] += s[i];
      total += s[i] *= exp(-0.1 * (2 * slope[t][i] - before[i]));
      before[i] = slope[t][i];
    }
    for (int i = 0; i < MOVES; i++) s[i] /= total;
    shares(r.p.data, kept);
    for (int i = 0; i < MOVES; i++) near(name, kept[i], mean ? sum[i] / (t + 1) : s[i]);
  }
  arena_free(r.arena);
}

static void players(void **state) {
  (void)state;
  play("optimistic_mw", false);
  play("average_mw", true);
}

// -- batch norm -----------------------------------------------------------------------------------
// PyTorch normalises with the plain variance but keeps the unbiased one, n/(n - 1) of it, for
// later; so does limn.
static void running_statistics(void **state) {
  (void)state;
  enum { N = 10 };
  Run r = run_new("learn net : R[4] -> R[4] = batch_norm\n");
  Type type = type_of_shape(r.w, 2, (int64_t[]){N, 4});
  r.d = elab_diagram(r.in, r.program, "net", &(Instance){.training = true, .nin = 1, .in = &type});
  assert_non_null(r.d);
  start_states(&r);
  for (int t = 0; t < 3; t++) {
    Tensor in = tensor_from(r.arena, 2, (int64_t[]){N, 4}, samples[N * t]), out = {0};
    Tensor *next = NEW_ARRAY(r.arena, Tensor, r.d->param.n);
    Eval e = {.arena = r.arena, .in = &in, .param = r.param, .out = &out, .next = next};
    assert_true(diagram_eval(r.w, r.d, &e));
    int seen = 0;
    for (uint32_t k = 0; k < r.d->param.n; k++) {
      if (!r.d->param.at[k].next) continue;
      bool mean = strcmp(r.d->param.at[k].path, "net/batch_norm/m") == 0;
      if (!mean) assert_string_equal(r.d->param.at[k].path, "net/batch_norm/v");
      for (int i = 0; i < 4; i++) {
        near(r.d->param.at[k].path, next[k].data[i], torch_statistics[2 * t + !mean][i]);
      }
      r.param[k] = next[k];
      seen++;
    }
    assert_int_equal(seen, 2);
  }
  arena_free(r.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(given_slopes), cmocka_unit_test(own_slopes),
      cmocka_unit_test(slow_average), cmocka_unit_test(other_shapes),
      cmocka_unit_test(muon),         cmocka_unit_test(running_statistics),
      cmocka_unit_test(players),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
