// The ODE solver: orders of methods, known solutions, and messages of failures.
#include "run/solve/solve_own.h"
#include "solve_help.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

// --- orders ---

// y' = -y + sin(t) z, z' = cos(t) - z y: smooth, not linear, depends on time
static bool bent(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)delayed;
  dx[0] = -x[0] + sin(t) * x[1];
  dx[1] = cos(t) - x[1] * x[0];
  return true;
}

static bool bent_change(void *c, double t, const double *x, const double *delayed, const double *v,
                        double *out) {
  (void)c, (void)delayed;
  out[0] = -v[0] + sin(t) * v[1];
  out[1] = -x[1] * v[0] - x[0] * v[1];
  return true;
}

static const double bent_start[] = {1, 0.5};

typedef struct {
  double end, inside; // error at the end; the largest one inside steps
} Off;

// Fixed steps with any method: a wide tolerance, and the step as the largest one.
static Off bent_off(Method method, double step, bool change) {
  Arena *arena = arena_new();
  Problem p = {.n = 2, .rates = bent, .change = change ? bent_change : NULL};
  SolveOptions how = {
      .method = method, .relative = 1e6, .absolute = 1e6, .step = step, .largest = step};
  Solver *s = solver_new(arena, &p, &how, 0, bent_start);
  Solver *exact =
      solver_new(arena, &p, &(SolveOptions){.relative = 1e-14, .absolute = 1e-14}, 0, bent_start);
  Off off = {0};
  while (solver_step(s, 2))
    for (int i = 1; i <= 7; i++) {
      double x[2], t = solver_from(s) + i / 7.0 * (solver_time(s) - solver_from(s));
      if (i == 7) t = solver_time(s);
      solver_at(s, t, x);
      run_to(exact, t);
      for (int j = 0; j < 2; j++) {
        double e = fabs(x[j] - solver_state(exact)[j]);
        off.inside = fmax(off.inside, e);
        if (t == 2) off.end = fmax(off.end, e);
      }
    }
  assert_null(solver_error(s));
  arena_free(arena);
  return off;
}

static void order_is(Method method, double step, bool change, double end, double inside) {
  Off a = bent_off(method, step, change), b = bent_off(method, step / 2, change);
  double o = log2(a.end / b.end), i = log2(a.inside / b.inside);
  assert_true(o > end - 0.35);
  assert_true(i > inside - 0.35);
}

static void orders(void **state) {
  (void)state;
  order_is(SOLVE_EULER, 0.01, false, 1, 1);
  order_is(SOLVE_RK4, 0.05, false, 4, 4);
  order_is(SOLVE_DORMAND, 0.1, false, 5, 5);
  order_is(SOLVE_STIFF, 0.1, true, 5, 5);
  order_is(SOLVE_STIFF, 0.1, false, 5, 5);
}

// --- systems with known numbers ---

static bool lotka(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)t, (void)delayed;
  dx[0] = 0.3 * x[0] - 0.015 * x[0] * x[1];
  dx[1] = 0.015 * x[0] * x[1] - 0.7 * x[1];
  return true;
}

static double lotka_energy(const double *x) {
  return 0.015 * x[0] - 0.7 * log(x[0]) + 0.015 * x[1] - 0.3 * log(x[1]);
}

// Where number i grows (sign 1) or falls (-1) through a level inside the last step; false: nowhere.
static bool crosses(const Solver *s, int i, double level, double sign, double *t) {
  double low = solver_from(s), high = solver_time(s), x[3];
  solver_at(s, low, x);
  bool below = sign * (x[i] - level) <= 0;
  solver_at(s, high, x);
  if (!below || sign * (x[i] - level) <= 0) return false;
  while (*t = (low + high) / 2, *t > low && *t < high) {
    solver_at(s, *t, x);
    *(sign * (x[i] - level) <= 0 ? &low : &high) = *t;
  }
  return *t = high, true;
}

// The mean time between upward crossings of rabbits through `level`, up to `end`.
static double period(Solver *s, double level, double end) {
  double first = 0, last = 0, t;
  int n = 0;
  while (solver_step(s, end))
    if (crosses(s, 0, level, 1, &t)) {
      if (n++ == 0) first = t;
      last = t;
    }
  assert_null(solver_error(s));
  assert_true(n > 2);
  return (last - first) / (n - 1);
}

static void lotka_volterra(void **state) {
  (void)state;
  Run r = begin((Problem){.n = 2, .rates = lotka}, (SolveOptions){.relative = 1e-11},
                (double[]){10, 100});
  double most[2] = {0}, level = 140.0 / 3, t, x[2];
  while (solver_step(r.s, 100)) {
    near(lotka_energy(solver_state(r.s)), -1.3433606209, 1e-9);
    double middle = (solver_from(r.s) + solver_time(r.s)) / 2;
    solver_at(r.s, middle, x);
    near(lotka_energy(x), -1.3433606209, 1e-9);
    // rabbits are most where foxes grow through 20, and foxes where rabbits fall through 46.67
    if (crosses(r.s, 1, 20, 1, &t)) solver_at(r.s, t, x), most[0] = fmax(most[0], x[0]);
    if (crosses(r.s, 0, level, -1, &t)) solver_at(r.s, t, x), most[1] = fmax(most[1], x[1]);
  }
  near(solver_state(r.s)[0], 119.770567, 1e-6);
  near(solver_state(r.s)[1], 0.509421, 1e-6);
  near(most[0], 196.8778, 1e-4);
  near(most[1], 142.2722, 1e-4);
  end_run(&r);
  r = begin((Problem){.n = 2, .rates = lotka}, (SolveOptions){0}, (double[]){10, 100});
  near(period(r.s, level, 200), 20.914604775, 1e-6);
  end_run(&r);
  r = begin((Problem){.n = 2, .rates = lotka}, (SolveOptions){.relative = 1e-12},
            (double[]){level, 20.01});
  near(period(r.s, level, 100), 13.711034, 1e-6);
  end_run(&r);
}

static bool lorenz(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)t, (void)delayed;
  dx[0] = 10 * (x[1] - x[0]);
  dx[1] = x[0] * (28 - x[2]) - x[1];
  dx[2] = x[0] * x[1] - 8.0 / 3 * x[2];
  return true;
}

static void lorenz_at_five(void **state) {
  (void)state;
  for (int stiff = 0; stiff < 2; stiff++) {
    SolveOptions how = {
        .method = stiff ? SOLVE_STIFF : SOLVE_DORMAND, .relative = 1e-11, .absolute = 1e-12};
    Run r = begin((Problem){.n = 3, .rates = lorenz}, how, (double[]){1, 1, 1});
    run_to(r.s, 5);
    near(solver_state(r.s)[0], -6.512114, 1e-6);
    near(solver_state(r.s)[1], -6.974043, 1e-6);
    near(solver_state(r.s)[2], 23.924130, 1e-6);
    end_run(&r);
  }
}

static bool sir(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)t, (void)delayed;
  double ill = 0.5 * x[0] * x[1], well = 0.25 * x[1];
  dx[0] = -ill, dx[1] = ill - well, dx[2] = well;
  return true;
}

static void epidemic(void **state) {
  (void)state;
  Run r = begin((Problem){.n = 3, .rates = sir}, (SolveOptions){0}, (double[]){1 - 1e-6, 1e-6, 0});
  double peak = 0, x[3], t = 0;
  while (solver_step(r.s, 1000)) {
    const double *y = solver_state(r.s);
    near(y[0] + y[1] + y[2], 1, 1e-12);
    if (crosses(r.s, 0, 0.5, -1, &t)) peak = t, solver_at(r.s, t, x);
  }
  near(peak, 54.7, 0.05);
  near(x[1], 0.1534269, 1e-7);
  near(solver_state(r.s)[2], 0.796812472, 1e-9);
  end_run(&r);
}

// Ross and Macdonald: mosquitos z and people x
static const double bite = 0.3, to_people = 0.55, to_mosquitos = 0.15, death = 0.1, hatch = 10,
                    recover = 1.0 / 200, ratio = 0.5;

static bool malaria(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)t, (void)delayed;
  dx[0] = bite * to_mosquitos * x[1] * (exp(-death * hatch) - x[0]) - death * x[0];
  dx[1] = ratio * bite * to_people * x[0] * (1 - x[1]) - recover * x[1];
  return true;
}

// With those that carry it and cannot pass it on yet: y; what is late is the number infected
static bool malaria_infected(void *c, double t, const double *x, const double *delayed,
                             double *value) {
  (void)c, (void)t, (void)delayed;
  value[0] = bite * to_mosquitos * x[2] * (1 - x[0] - x[1]);
  return true;
}

static bool malaria_late(void *c, double t, const double *x, const double *delayed, double *dx) {
  double infected;
  malaria_infected(c, t, x, delayed, &infected);
  double hatched = delayed[0] * exp(-death * hatch);
  dx[0] = infected - hatched - death * x[0];
  dx[1] = hatched - death * x[1];
  dx[2] = ratio * bite * to_people * x[1] * (1 - x[2]) - recover * x[2];
  return true;
}

static void malaria_both_ways(void **state) {
  (void)state;
  double reach =
      ratio * bite * bite * to_people * to_mosquitos * exp(-death * hatch) / recover / death;
  near(reach, 2.731505, 1e-6);
  Run r = begin((Problem){.n = 2, .rates = malaria}, (SolveOptions){0}, (double[]){0.1, 0.3});
  run_to(r.s, 730);
  near(solver_state(r.s)[0], 0.072091624, 1e-9);
  near(solver_state(r.s)[1], 0.541757965, 1e-9);
  run_to(r.s, 5000);
  near(solver_state(r.s)[0], 0.072372199, 1e-9);
  near(solver_state(r.s)[1], 0.544240833, 1e-9);
  end_run(&r);
  Problem p = {
      .n = 3, .rates = malaria_late, .delayed = 1, .lag = &hatch, .to_delay = malaria_infected};
  r = begin(p, (SolveOptions){0}, (double[]){0.09, 0.01, 0.3});
  run_to(r.s, 8000);
  near(solver_state(r.s)[1], 0.072372199, 1e-9);
  near(solver_state(r.s)[2], 0.544240833, 1e-9);
  end_run(&r);
}

static bool hutchinson(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)t;
  dx[0] = *(double *)c * x[0] * (1 - delayed[0]);
  return true;
}

static void hutchinson_cycle(void **state) {
  (void)state;
  double rate = 1.4, low = INFINITY, high = 0;
  Problem p = {.context = &rate,
               .n = 1,
               .delayed = 1,
               .lag = &one_,
               .rates = hutchinson,
               .to_delay = itself};
  Run r = begin(p, (SolveOptions){0}, (double[]){0.5});
  run_to(r.s, 400);
  near(solver_state(r.s)[0], 1, 1e-9);
  end_run(&r);
  rate = 1.8;
  r = begin(p, (SolveOptions){0}, (double[]){0.5});
  run_to(r.s, 200);
  size_t used = arena_used(r.arena);
  while (solver_step(r.s, 260))
    for (int i = 0; i < 32; i++) {
      double x;
      solver_at(r.s, solver_from(r.s) + i / 32.0 * (solver_time(r.s) - solver_from(r.s)), &x);
      low = fmin(low, x), high = fmax(high, x);
    }
  near(low, 0.197254, 1e-6);
  near(high, 2.298533, 1e-6);
  near(period(r.s, 1, 320), 4.1835, 5e-5);
  assert_int_equal(arena_used(r.arena), used);
  end_run(&r);
}

static bool robertson(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)t, (void)delayed;
  dx[0] = -0.04 * x[0] + 1e4 * x[1] * x[2];
  dx[2] = 3e7 * x[1] * x[1];
  dx[1] = -dx[0] - dx[2];
  return true;
}

static bool robertson_change(void *c, double t, const double *x, const double *delayed,
                             const double *v, double *out) {
  (void)c, (void)t, (void)delayed;
  out[0] = -0.04 * v[0] + 1e4 * (x[2] * v[1] + x[1] * v[2]);
  out[2] = 6e7 * x[1] * v[1];
  out[1] = -out[0] - out[2];
  return true;
}

static const char *abc(void *c, uint32_t i) {
  (void)c;
  return (const char *[]){"a", "b", "c"}[i];
}

static void robertson_is_stiff(void **state) {
  (void)state;
  Problem p = {.n = 3, .rates = robertson, .change = robertson_change, .name = abc};
  const double start[] = {1, 0, 0}, wanted[] = {0.71582706872, 9.18553476456e-6, 0.28416374575};
  for (int differences = 0; differences < 2; differences++) {
    if (differences) p.change = NULL;
    Run r = begin(p, (SolveOptions){.method = SOLVE_STIFF}, start);
    run_to(r.s, 40);
    const double *y = solver_state(r.s);
    for (int i = 0; i < 3; i++) near(y[i], wanted[i], 1e-9 * wanted[i]);
    near(y[0] + y[1] + y[2], 1, 1e-12);
    assert_true(solver_count(r.s, NULL, NULL) < 200);
    assert_null(solver_note(r.s));
    end_run(&r);
  }
  Run r = begin(p, (SolveOptions){.method = SOLVE_DORMAND}, start);
  run_to(r.s, 40);
  assert_non_null(strstr(solver_note(r.s), "stiff: from t = "));
  assert_non_null(strstr(solver_note(r.s), "`b` changes on a time scale of"));
  assert_non_null(strstr(solver_note(r.s), "the stiff method takes over"));
  for (int i = 0; i < 3; i++) near(solver_state(r.s)[i], wanted[i], 1e-8 * wanted[i]);
  assert_true(solver_count(r.s, NULL, NULL) < 3000);
  end_run(&r);
}

// Too many for a matrix: it goes on as it is, and says nothing.
enum { MANY = 9000 };
static bool decays(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)t, (void)delayed;
  for (int i = 0; i < MANY; i++) dx[i] = i ? -x[i] : -1e6 * (x[i] - 1);
  return true;
}

static void stiff_without_room_goes_on(void **state) {
  (void)state;
  Arena *a = arena_new();
  double *start = NEW_ARRAY(a, double, MANY);
  Run r = begin((Problem){.n = MANY, .rates = decays},
                (SolveOptions){.relative = 1e-4, .absolute = 1e-4, .steps = 400}, start);
  while (solver_step(r.s, 1)) {
  }
  said(r.s, "400 steps were made");
  assert_null(solver_note(r.s));
  end_run(&r);
  arena_free(a);
}

// A linear decay that is fast, but not for long: an explicit method is right to go through with it.
static bool decay(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)t, (void)delayed;
  dx[0] = -*(double *)c * (x[0] - 1);
  return true;
}

static void a_little_stiff_is_no_error(void **state) {
  (void)state;
  double speed = 100;
  Run r =
      begin((Problem){.context = &speed, .n = 1, .rates = decay}, (SolveOptions){0}, (double[]){0});
  run_to(r.s, 20);
  near(solver_state(r.s)[0], 1, 1e-8);
  end_run(&r);
}

static bool pair(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)t, (void)delayed;
  dx[0] = 1.5 + 0.5 * sin(x[1] - x[0]);
  dx[1] = 1.0 + 0.5 * sin(x[0] - x[1]);
  return true;
}

static void kuramoto_pair(void **state) {
  (void)state;
  Run r =
      begin((Problem){.n = 2, .rates = pair}, (SolveOptions){.relative = 1e-11}, (double[]){0, 0});
  run_to(r.s, 60);
  near(solver_state(r.s)[0] - solver_state(r.s)[1], 0.523598776, 1e-9);
  end_run(&r);
}

// --- linear systems ---

static void rows_are_exchanged(void **state) {
  (void)state;
  enum { N = 9 };
  double a[N * N], lu[N * N], x[N], b[N] = {0};
  uint32_t swap[N], seed = 3;
  for (int i = 0; i < N * N; i++)
    a[i] = i % (N + 1) ? some(&seed) - 0.5 : 0; // nothing on the diagonal
  for (int i = 0; i < N; i++) x[i] = some(&seed);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) b[i] += a[i * N + j] * x[j];
  memcpy(lu, a, sizeof a);
  assert_true(lu_factor(N, lu, swap));
  lu_solve(N, lu, swap, b);
  for (int i = 0; i < N; i++) near(b[i], x[i], 1e-13);
  for (int i = 0; i < N; i++) a[i * N + 4] = 0;
  assert_false(lu_factor(N, a, swap));
}

// --- what cannot be done ---

static bool square(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)t, (void)delayed;
  dx[0] = x[0] * x[0];
  return true;
}

static bool root_of(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)t, (void)delayed;
  dx[0] = -1 / sqrt(x[0]);
  return true;
}

static bool refuse(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)x, (void)delayed;
  dx[0] = 1;
  return t < 0.5;
}

static const char *level_name(void *c, uint32_t i) {
  (void)c, (void)i;
  return "tank/level";
}

static void fails(Problem p, SolveOptions how, double x, const char *one, const char *two) {
  Run r = begin(p, how, &x);
  while (solver_step(r.s, 10)) {
  }
  said(r.s, one);
  said(r.s, two);
  assert_false(solver_step(r.s, 20));
  end_run(&r);
}

static bool no_step(void *context, double t, double h, const double *x, const double *delayed,
                    double *next) {
  (void)context, (void)t, (void)h, (void)x, (void)delayed, (void)next;
  return false;
}

static void messages(void **state) {
  (void)state;
  Problem p = {.n = 1, .rates = square, .name = level_name};
  fails(p, (SolveOptions){0}, 1, "at t = 0.9999999999 no step is small enough",
        "`tank/level` changes too fast");
  fails(p, (SolveOptions){.method = SOLVE_STIFF}, 1, "at t = ", "`tank/level`");
  fails(p, (SolveOptions){.method = SOLVE_RK4, .step = 0.01}, 1,
        "rate of `tank/level` is not finite", "smaller step");
  fails(p, (SolveOptions){.method = SOLVE_RK4}, 1, "Runge–Kutta 4 needs a step above 0", "it is 0");
  fails(p, (SolveOptions){.steps = 20}, 1,
        "20 steps were made, and only t = ", " of 10 is reached: ask for less precision");
  fails(p, (SolveOptions){0}, NAN, "`tank/level` is not finite at the start", "");
  p.rates = root_of;
  fails(p, (SolveOptions){0}, 1, "rate of `tank/level` is not finite at t = 0.666666", "");
  fails(p, (SolveOptions){.method = SOLVE_STIFF}, 1, "`tank/level`", "at t = 0.666666");
  fails(p, (SolveOptions){0}, 0, "rate of `tank/level` is not finite at t = 0", "");
  p.rates = refuse;
  fails(p, (SolveOptions){0}, 0, "the rates cannot be computed at t = ", "");
  p.step = no_step;
  fails(p, (SolveOptions){.method = SOLVE_GIVEN, .step = 0.1}, 0,
        "the step from t = 0 cannot be made", "");
  p.rates = square, p.to_delay = itself, p.delayed = 1, p.lag = (double[]){0};
  fails(p, (SolveOptions){0}, 0, "found a delay of 0", "wanted one above 0");
}

// --- switches ---

typedef struct {
  bool on, loose;
  int turned, loosened;
  double border; // x is compared with
  double up, down;
} Turning;

static bool turning_rates(void *c, double t, const double *x, const double *delayed, double *dx) {
  const Turning *k = c;
  (void)t, (void)delayed;
  dx[0] = (k->loose ? x[0] > k->border : k->on) ? k->up : k->down;
  return true;
}

static bool turning_guard(void *c, double t, const double *x, const double *delayed, double *g) {
  const Turning *k = c;
  (void)t, (void)delayed;
  g[0] = k->loose ? -1 : k->on ? k->border - x[0] + 1e-300 : x[0] - k->border;
  return true;
}

static bool turn_it(void *c, double t, const double *x, const double *delayed) {
  Turning *k = c;
  (void)t, (void)delayed;
  k->turned++;
  k->on = x[0] > k->border;
  return true;
}

static void loosen_it(void *c, uint32_t which) {
  Turning *k = c;
  assert_int_equal(which, 0);
  k->loose = true, k->loosened++;
}

// A tall jump is met to the last digits, and is no event; one that leads back to itself is loosened,
// and told as sliding.
static void switches_turn(void **state) {
  (void)state;
  for (int stiff = 0; stiff < 2; stiff++) {
    Turning k = {.border = 1, .up = 1e6, .down = 1};
    Problem p = {.context = &k, .n = 1, .rates = turning_rates, .events = 1, .switches = 1};
    p.guards = turning_guard, p.turn = turn_it, p.release = loosen_it;
    SolveOptions how = {.method = stiff ? SOLVE_STIFF : SOLVE_DORMAND, .largest = 0.1};
    Run r = begin(p, how, (double[]){0});
    while (solver_step(r.s, 2)) assert_false(solver_happened(r.s, NULL));
    assert_null(solver_error(r.s));
    near(solver_state(r.s)[0], 1 + 1e6, 1e-6);
    assert_int_equal(k.turned, 2); // at the start, too
    assert_int_equal(k.loosened, 0);
    end_run(&r);
    k = (Turning){.border = 1, .up = -1, .down = 1};
    r = begin(p, how, (double[]){0});
    while (solver_step(r.s, 2)) continue;
    said(r.s, "slides: its rate jumps between -1 and 1 there");
    assert_int_equal(k.loosened, 1);
    end_run(&r);
  }
}

// --- what rounding sets behind the end ---

static bool shortly(void *c, double t, const double *x, const double *delayed, double *g) {
  (void)c, (void)x, (void)delayed;
  g[0] = t - 1.0000000000001;
  return true;
}

static bool reset(void *c, double t, uint8_t *which, const double *delayed, double *x) {
  (void)c, (void)t, (void)which, (void)delayed;
  x[0] = 7;
  return true;
}

static void the_end_is_one_moment(void **state) {
  (void)state;
  Problem p = {.n = 1, .rates = turning_rates, .events = 1, .guards = shortly, .happen = reset};
  Turning k = {.border = 1, .up = 1, .down = 1, .loose = true};
  p.context = &k;
  Run r = begin(p, (SolveOptions){0}, (double[]){0});
  run_to(r.s, 1);
  assert_false(solver_events_at_end(r.s, 1e-14));
  near(solver_state(r.s)[0], 1, 1e-9);
  assert_true(solver_events_at_end(r.s, 1e-12));
  near(solver_state(r.s)[0], 7, 0);
  assert_false(solver_events_at_end(r.s, 1e-14));
  end_run(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(switches_turn),
      cmocka_unit_test(the_end_is_one_moment),
      cmocka_unit_test(orders),
      cmocka_unit_test(lotka_volterra),
      cmocka_unit_test(lorenz_at_five),
      cmocka_unit_test(epidemic),
      cmocka_unit_test(malaria_both_ways),
      cmocka_unit_test(hutchinson_cycle),
      cmocka_unit_test(robertson_is_stiff),
      cmocka_unit_test(stiff_without_room_goes_on),
      cmocka_unit_test(a_little_stiff_is_no_error),
      cmocka_unit_test(kuramoto_pair),
      cmocka_unit_test(rows_are_exchanged),
      cmocka_unit_test(messages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
