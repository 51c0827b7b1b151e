// Solving: orders of methods, numbers of known systems, events, delays, and what is said when it
// cannot go on.
#include "time/solve.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

static void near_(double found, double wanted, double by, int line) {
  if (fabs(found - wanted) <= by) return;
  print_error("line %d: found %.15g, wanted %.15g within %g\n", line, found, wanted, by);
  fail();
}
#define near(found, wanted, by) near_(found, wanted, by, __LINE__)

static void said(const Solver *s, const char *part) {
  if (solver_error(s) && strstr(solver_error(s), part)) return;
  print_error("wanted `%s` in: %s\n", part, solver_error(s) ? solver_error(s) : "(no error)");
  fail();
}

static void run_to(Solver *s, double end) {
  while (solver_step(s, end)) {
  }
  if (solver_error(s)) print_error("%s\n", solver_error(s));
  assert_null(solver_error(s));
  assert_true(solver_time(s) == end);
}

// --- orders ---

// y' = -y + sin(t) z, z' = cos(t) - z y: smooth, not linear, depends on time
static bool bent(void *c, double t, const double *x, const double *late, double *dx) {
  (void)c, (void)late;
  dx[0] = -x[0] + sin(t) * x[1];
  dx[1] = cos(t) - x[1] * x[0];
  return true;
}

static bool bent_jacobian(void *c, double t, const double *x, const double *late, double *j) {
  (void)c, (void)late;
  j[0] = -1, j[1] = sin(t), j[2] = -x[1], j[3] = -x[0];
  return true;
}

static const double bent_start[] = {1, 0.5};

typedef struct {
  double end, inside; // error at the end; the largest one inside steps
} Off;

// Fixed steps with any method: a wide tolerance, and the step as the largest one.
static Off bent_off(Method method, double step, bool jacobian) {
  Arena *arena = arena_new();
  Problem p = {.n = 2, .rates = bent, .jacobian = jacobian ? bent_jacobian : NULL};
  SolveHow how = {
      .method = method, .relative = 1e6, .absolute = 1e6, .step = step, .largest = step};
  Solver *s = solver_new(arena, &p, &how, 0, bent_start);
  Solver *exact =
      solver_new(arena, &p, &(SolveHow){.relative = 1e-14, .absolute = 1e-14}, 0, bent_start);
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

static void order_is(Method method, double step, bool jacobian, double end, double inside) {
  Off a = bent_off(method, step, jacobian), b = bent_off(method, step / 2, jacobian);
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

typedef struct {
  Arena *arena;
  Solver *s;
} Run;

static Run begin(Problem p, SolveHow how, const double *x) {
  Arena *arena = arena_new();
  return (Run){arena, solver_new(arena, &p, &how, 0, x)};
}

static void end_run(Run *r) { arena_free(r->arena); }

static bool lotka(void *c, double t, const double *x, const double *late, double *dx) {
  (void)c, (void)t, (void)late;
  dx[0] = 0.3 * x[0] - 0.015 * x[0] * x[1];
  dx[1] = 0.015 * x[0] * x[1] - 0.7 * x[1];
  return true;
}

static double lotka_energy(const double *x) {
  return 0.015 * x[0] - 0.7 * log(x[0]) + 0.015 * x[1] - 0.3 * log(x[1]);
}

static double rabbits_above(void *c, double t, const double *x) {
  (void)t;
  return x[0] - *(double *)c;
}

static double foxes_above(void *c, double t, const double *x) {
  (void)t;
  return x[1] - *(double *)c;
}

// The mean time between upward crossings of rabbits through `level`, up to `end`.
static double period(Solver *s, double level, double end) {
  double first = 0, last = 0, t;
  int n = 0;
  while (solver_step(s, end))
    if (solver_crossing(s, rabbits_above, &level, true, &t)) {
      if (n++ == 0) first = t;
      last = t;
    }
  assert_null(solver_error(s));
  assert_true(n > 2);
  return (last - first) / (n - 1);
}

static void lotka_volterra(void **state) {
  (void)state;
  Run r =
      begin((Problem){.n = 2, .rates = lotka}, (SolveHow){.relative = 1e-11}, (double[]){10, 100});
  double most[2] = {0}, level = 140.0 / 3, t, x[2];
  while (solver_step(r.s, 100)) {
    near(lotka_energy(solver_state(r.s)), -1.3433606209, 1e-9);
    double middle = (solver_from(r.s) + solver_time(r.s)) / 2, twenty = 20;
    solver_at(r.s, middle, x);
    near(lotka_energy(x), -1.3433606209, 1e-9);
    // rabbits are most where foxes grow through 20, and foxes where rabbits fall through 46.67
    if (solver_crossing(r.s, foxes_above, &twenty, true, &t))
      solver_at(r.s, t, x), most[0] = fmax(most[0], x[0]);
    if (solver_crossing(r.s, rabbits_above, &level, false, &t))
      solver_at(r.s, t, x), most[1] = fmax(most[1], x[1]);
  }
  near(solver_state(r.s)[0], 119.770567, 1e-6);
  near(solver_state(r.s)[1], 0.509421, 1e-6);
  near(most[0], 196.8778, 1e-4);
  near(most[1], 142.2722, 1e-4);
  end_run(&r);
  r = begin((Problem){.n = 2, .rates = lotka}, (SolveHow){0}, (double[]){10, 100});
  near(period(r.s, level, 200), 20.914604775, 1e-6);
  end_run(&r);
  r = begin((Problem){.n = 2, .rates = lotka}, (SolveHow){.relative = 1e-12},
            (double[]){level, 20.01});
  near(period(r.s, level, 100), 13.711034, 1e-6);
  end_run(&r);
}

static bool lorenz(void *c, double t, const double *x, const double *late, double *dx) {
  (void)c, (void)t, (void)late;
  dx[0] = 10 * (x[1] - x[0]);
  dx[1] = x[0] * (28 - x[2]) - x[1];
  dx[2] = x[0] * x[1] - 8.0 / 3 * x[2];
  return true;
}

static void lorenz_at_five(void **state) {
  (void)state;
  for (int stiff = 0; stiff < 2; stiff++) {
    SolveHow how = {
        .method = stiff ? SOLVE_STIFF : SOLVE_DORMAND, .relative = 1e-11, .absolute = 1e-12};
    Run r = begin((Problem){.n = 3, .rates = lorenz}, how, (double[]){1, 1, 1});
    run_to(r.s, 5);
    near(solver_state(r.s)[0], -6.512114, 1e-6);
    near(solver_state(r.s)[1], -6.974043, 1e-6);
    near(solver_state(r.s)[2], 23.924130, 1e-6);
    end_run(&r);
  }
}

static bool sir(void *c, double t, const double *x, const double *late, double *dx) {
  (void)c, (void)t, (void)late;
  double ill = 0.5 * x[0] * x[1], well = 0.25 * x[1];
  dx[0] = -ill, dx[1] = ill - well, dx[2] = well;
  return true;
}

static void epidemic(void **state) {
  (void)state;
  Run r = begin((Problem){.n = 3, .rates = sir}, (SolveHow){0}, (double[]){1 - 1e-6, 1e-6, 0});
  double half = 0.5, peak = 0, x[3], t = 0;
  while (solver_step(r.s, 1000)) {
    const double *y = solver_state(r.s);
    near(y[0] + y[1] + y[2], 1, 1e-12);
    if (solver_crossing(r.s, rabbits_above, &half, false, &t)) peak = t, solver_at(r.s, t, x);
  }
  near(peak, 54.7, 0.05);
  near(x[1], 0.1534269, 1e-7);
  near(solver_state(r.s)[2], 0.796812472, 1e-9);
  end_run(&r);
}

// Ross and Macdonald: mosquitos z and people x
static const double bite = 0.3, to_people = 0.55, to_mosquitos = 0.15, death = 0.1, hatch = 10,
                    recover = 1.0 / 200, ratio = 0.5;

static bool malaria(void *c, double t, const double *x, const double *late, double *dx) {
  (void)c, (void)t, (void)late;
  dx[0] = bite * to_mosquitos * x[1] * (exp(-death * hatch) - x[0]) - death * x[0];
  dx[1] = ratio * bite * to_people * x[0] * (1 - x[1]) - recover * x[1];
  return true;
}

// With those that carry it and cannot pass it on yet: y; what is late is the number infected
static bool malaria_infected(void *c, double t, const double *x, const double *late,
                             double *value) {
  (void)c, (void)t, (void)late;
  value[0] = bite * to_mosquitos * x[2] * (1 - x[0] - x[1]);
  return true;
}

static bool malaria_late(void *c, double t, const double *x, const double *late, double *dx) {
  double infected;
  malaria_infected(c, t, x, late, &infected);
  double hatched = late[0] * exp(-death * hatch);
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
  Run r = begin((Problem){.n = 2, .rates = malaria}, (SolveHow){0}, (double[]){0.1, 0.3});
  run_to(r.s, 730);
  near(solver_state(r.s)[0], 0.072091624, 1e-9);
  near(solver_state(r.s)[1], 0.541757965, 1e-9);
  run_to(r.s, 5000);
  near(solver_state(r.s)[0], 0.072372199, 1e-9);
  near(solver_state(r.s)[1], 0.544240833, 1e-9);
  end_run(&r);
  Problem p = {.n = 3, .rates = malaria_late, .late = 1, .lag = &hatch, .lates = malaria_infected};
  r = begin(p, (SolveHow){0}, (double[]){0.09, 0.01, 0.3});
  run_to(r.s, 8000);
  near(solver_state(r.s)[1], 0.072372199, 1e-9);
  near(solver_state(r.s)[2], 0.544240833, 1e-9);
  end_run(&r);
}

static bool hutchinson(void *c, double t, const double *x, const double *late, double *dx) {
  (void)t;
  dx[0] = *(double *)c * x[0] * (1 - late[0]);
  return true;
}

static bool itself(void *c, double t, const double *x, const double *late, double *value) {
  (void)c, (void)t, (void)late;
  value[0] = x[0];
  return true;
}

static const double one_ = 1;

static void hutchinson_cycle(void **state) {
  (void)state;
  double rate = 1.4, low = INFINITY, high = 0;
  Problem p = {
      .context = &rate, .n = 1, .late = 1, .lag = &one_, .rates = hutchinson, .lates = itself};
  Run r = begin(p, (SolveHow){0}, (double[]){0.5});
  run_to(r.s, 400);
  near(solver_state(r.s)[0], 1, 1e-9);
  end_run(&r);
  rate = 1.8;
  r = begin(p, (SolveHow){0}, (double[]){0.5});
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

static bool robertson(void *c, double t, const double *x, const double *late, double *dx) {
  (void)c, (void)t, (void)late;
  dx[0] = -0.04 * x[0] + 1e4 * x[1] * x[2];
  dx[2] = 3e7 * x[1] * x[1];
  dx[1] = -dx[0] - dx[2];
  return true;
}

static bool robertson_jacobian(void *c, double t, const double *x, const double *late, double *j) {
  (void)c, (void)t, (void)late;
  const double row[] = {-0.04, 1e4 * x[2], 1e4 * x[1], 0, 0, 0, 0, 6e7 * x[1], 0};
  memcpy(j, row, sizeof row);
  for (int i = 0; i < 3; i++) j[3 + i] = -row[i] - row[6 + i];
  return true;
}

static const char *abc(void *c, uint32_t i) {
  (void)c;
  return (const char *[]){"a", "b", "c"}[i];
}

static void robertson_is_stiff(void **state) {
  (void)state;
  Problem p = {.n = 3, .rates = robertson, .jacobian = robertson_jacobian, .name = abc};
  const double start[] = {1, 0, 0}, wanted[] = {0.71582706872, 9.18553476456e-6, 0.28416374575};
  for (int differences = 0; differences < 2; differences++) {
    if (differences) p.jacobian = NULL;
    Run r = begin(p, (SolveHow){.method = SOLVE_STIFF}, start);
    run_to(r.s, 40);
    const double *y = solver_state(r.s);
    for (int i = 0; i < 3; i++) near(y[i], wanted[i], 1e-9 * wanted[i]);
    near(y[0] + y[1] + y[2], 1, 1e-12);
    assert_true(solver_count(r.s, NULL, NULL) < 200);
    end_run(&r);
  }
  Run r = begin(p, (SolveHow){.method = SOLVE_DORMAND}, start);
  while (solver_step(r.s, 40)) {
  }
  said(r.s, "stiff: at t = ");
  said(r.s, "`b` can change within");
  said(r.s, "Use the stiff method");
  assert_true(solver_count(r.s, NULL, NULL) < 3000);
  end_run(&r);
}

// A linear decay that is fast, but not for long: an explicit method is right to go through with it.
static bool decay(void *c, double t, const double *x, const double *late, double *dx) {
  (void)t, (void)late;
  dx[0] = -*(double *)c * (x[0] - 1);
  return true;
}

static void a_little_stiff_is_no_error(void **state) {
  (void)state;
  double speed = 100;
  Run r = begin((Problem){.context = &speed, .n = 1, .rates = decay}, (SolveHow){0}, (double[]){0});
  run_to(r.s, 20);
  near(solver_state(r.s)[0], 1, 1e-8);
  end_run(&r);
}

static bool pair(void *c, double t, const double *x, const double *late, double *dx) {
  (void)c, (void)t, (void)late;
  dx[0] = 1.5 + 0.5 * sin(x[1] - x[0]);
  dx[1] = 1.0 + 0.5 * sin(x[0] - x[1]);
  return true;
}

static void kuramoto_pair(void **state) {
  (void)state;
  Run r = begin((Problem){.n = 2, .rates = pair}, (SolveHow){.relative = 1e-11}, (double[]){0, 0});
  run_to(r.s, 60);
  near(solver_state(r.s)[0] - solver_state(r.s)[1], 0.523598776, 1e-9);
  end_run(&r);
}

// --- events ---

enum { MANY = 64 };
typedef struct {
  uint32_t n, which[MANY];
  double t[MANY];
  uint32_t stop_at; // this many; 0: never
} Log;

static bool note(Log *seen, double t, uint32_t which) {
  if (seen->n < MANY) seen->t[seen->n] = t, seen->which[seen->n] = which;
  return ++seen->n != seen->stop_at;
}

// x[1]: 1 while it heats
static bool room(void *c, double t, const double *x, const double *late, double *dx) {
  (void)c, (void)t, (void)late;
  dx[0] = -0.1 * (x[0] - 5) + 2.5 * x[1];
  dx[1] = 0;
  return true;
}

static bool room_guards(void *c, double t, const double *x, const double *late, double *g) {
  (void)c, (void)t, (void)late;
  g[0] = x[1] > 0.5 ? x[0] - 21 : -1;
  g[1] = x[1] > 0.5 ? -1 : 19 - x[0];
  return true;
}

static bool room_switches(void *c, double t, uint32_t which, const double *late, double *x) {
  (void)late;
  x[1] = which;
  return note(c, t, which);
}

static void thermostat(void **state) {
  (void)state;
  const SolveHow ways[] = {{.method = SOLVE_DORMAND, .relative = 1e-11},
                           {.method = SOLVE_STIFF, .relative = 1e-11},
                           {.method = SOLVE_RK4, .step = 0.05},
                           {.method = SOLVE_DORMAND, .relative = 1e-6},
                           {.method = SOLVE_DORMAND, .relative = 1e-9}};
  for (uint32_t k = 0; k < COUNT(ways); k++) {
    Log seen = {0};
    Problem p = {.context = &seen,
                 .n = 2,
                 .events = 2,
                 .rates = room,
                 .guards = room_guards,
                 .happen = room_switches};
    Run r = begin(p, ways[k], (double[]){19, 1});
    run_to(r.s, 20);
    assert_int_equal(seen.n, 12 - (20 < 6 * 3.342020865));
    double t = 0, by = ways[k].relative > 0 ? 100 * ways[k].relative : 1e-9;
    for (uint32_t i = 0; i < seen.n; i++) {
      assert_int_equal(seen.which[i], i % 2);
      t += i % 2 ? 10 * log1p(2.0 / 14) : 10 * log(11.0 / 9);
      near(seen.t[i], t, by);
    }
    end_run(&r);
  }
}

static void moments_do_not_depend_on_the_grid(void **state) {
  (void)state;
  Log whole = {0}, cut = {0};
  Problem p = {.context = &whole,
               .n = 2,
               .events = 2,
               .rates = room,
               .guards = room_guards,
               .happen = room_switches};
  Run r = begin(p, (SolveHow){.relative = 1e-11}, (double[]){19, 1});
  run_to(r.s, 20);
  p.context = &cut;
  Run g = begin(p, (SolveHow){.relative = 1e-11}, (double[]){19, 1});
  for (int i = 1; i <= 2000; i++) run_to(g.s, i / 100.0);
  assert_int_equal(whole.n, cut.n);
  for (uint32_t i = 0; i < cut.n; i++) near(cut.t[i], whole.t[i], 1e-9);
  end_run(&r);
  end_run(&g);
}

static bool fall(void *c, double t, const double *x, const double *late, double *dx) {
  (void)c, (void)t, (void)late;
  dx[0] = x[1], dx[1] = -9.81;
  return true;
}

static bool below(void *c, double t, const double *x, const double *late, double *g) {
  (void)c, (void)t, (void)late;
  g[0] = -x[0];
  return true;
}

static bool bounce(void *c, double t, uint32_t which, const double *late, double *x) {
  (void)late;
  x[1] *= -0.8;
  return note(c, t, which);
}

static const char *bounce_name(void *c, uint32_t i) {
  (void)c, (void)i;
  return "`bounce`";
}

static void ball(void **state) {
  (void)state;
  const SolveHow ways[] = {
      {.method = SOLVE_DORMAND}, {.method = SOLVE_STIFF}, {.method = SOLVE_RK4, .step = 0.01}};
  for (uint32_t k = 0; k < COUNT(ways); k++) {
    Log seen = {0};
    Problem p = {.context = &seen,
                 .n = 2,
                 .events = 1,
                 .rates = fall,
                 .guards = below,
                 .happen = bounce,
                 .event_name = bounce_name};
    Run r = begin(p, ways[k], (double[]){1, 0});
    while (solver_step(r.s, 10)) {
    }
    double first = sqrt(2 / 9.81), t = first, flight = 2 * first;
    near(first, 0.451523641, 1e-9);
    for (int i = 0; i < 40; i++, t += flight *= 0.8) near(seen.t[i], t, 1e-9);
    near(solver_time(r.s), 4.063712769, 1e-8);
    said(r.s, "a storm of events: `bounce` happened ");
    said(r.s, "up to t = 4.063712");
    said(r.s, "a mode of rest");
    end_run(&r);
  }
}

static void storm_by_number(void **state) {
  (void)state;
  Log seen = {0};
  Problem p = {.context = &seen,
               .n = 2,
               .events = 1,
               .rates = fall,
               .guards = below,
               .happen = bounce,
               .event_name = bounce_name};
  Run r = begin(p, (SolveHow){.storm = 3}, (double[]){1, 0});
  while (solver_step(r.s, 10)) {
  }
  said(r.s, "`bounce` happened 4 times within");
  end_run(&r);
}

// A clock with rate 1, and guards as the test wants them
typedef struct {
  Log log;
  bool (*guards)(const double *x, double *g);
  void (*happen)(uint32_t which, double *x);
} Clock;

static bool ticking(void *c, double t, const double *x, const double *late, double *dx) {
  (void)c, (void)t, (void)x, (void)late;
  dx[0] = 1, dx[1] = 0;
  return true;
}

static bool clock_guards(void *c, double t, const double *x, const double *late, double *g) {
  (void)t, (void)late;
  return ((Clock *)c)->guards(x, g);
}

static bool clock_happens(void *c, double t, uint32_t which, const double *late, double *x) {
  (void)late;
  if (((Clock *)c)->happen) ((Clock *)c)->happen(which, x);
  return note(&((Clock *)c)->log, t, which);
}

static void run_clock(Clock *c, uint32_t events, double end) {
  Problem p = {.context = c,
               .n = 2,
               .events = events,
               .rates = ticking,
               .guards = clock_guards,
               .happen = clock_happens};
  Run r = begin(p, (SolveHow){0}, (double[]){0, 0});
  while (solver_step(r.s, end)) {
  }
  assert_null(solver_error(r.s));
  end_run(&r);
}

static bool three_at_once(const double *x, double *g) {
  g[0] = 3 * (x[0] - 0.7);
  g[1] = x[1] - 0.5; // lifted by 2
  g[2] = (x[0] - 0.7) / 3;
  g[3] = 0.9 - x[0]; // above 0 at the start
  return true;
}

static void two_lifts(uint32_t which, double *x) {
  if (which == 2) x[1] = 1;
}

static void all_of_one_moment(void **state) {
  (void)state;
  Clock c = {.guards = three_at_once, .happen = two_lifts};
  run_clock(&c, 4, 2);
  assert_int_equal(c.log.n, 3);
  const uint32_t order[] = {0, 2, 1};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(c.log.which[i], order[i]);
    assert_true(c.log.t[i] == c.log.t[0]);
    near(c.log.t[i], 0.7, 1e-14);
  }
}

static bool bump(const double *x, double *g) {
  g[0] = 1e-5 - (x[0] - 5.3) * (x[0] - 5.3); // above 0 for 0.006
  g[1] = x[0] - 5.301;
  return true;
}

static void what_rises_and_falls_in_one_step(void **state) {
  (void)state;
  Clock c = {.guards = bump};
  run_clock(&c, 2, 40);
  assert_int_equal(c.log.n, 2);
  near(c.log.t[0], 5.3 - sqrt(1e-5), 1e-12);
  near(c.log.t[1], 5.301, 1e-14);
}

// Pushed against x = 0 from both sides, by one mode and by the other.
static bool to_the_wall(void *c, double t, const double *x, const double *late, double *dx) {
  (void)c, (void)t, (void)late;
  dx[0] = x[1] > 0 ? -1 : 1, dx[1] = 0;
  return true;
}

static bool wall_guards(const double *x, double *g) {
  g[0] = x[1] > 0 ? -x[0] : -1;
  g[1] = x[1] > 0 ? -1 : x[0];
  return true;
}

static void turns(uint32_t which, double *x) { x[1] = which; }

static void sliding_is_a_storm(void **state) {
  (void)state;
  const Method ways[] = {SOLVE_DORMAND, SOLVE_STIFF, SOLVE_RK4};
  for (uint32_t k = 0; k < COUNT(ways); k++) {
    Clock c = {.guards = wall_guards, .happen = turns};
    Problem p = {.context = &c,
                 .n = 2,
                 .events = 2,
                 .rates = to_the_wall,
                 .guards = clock_guards,
                 .happen = clock_happens};
    Run r = begin(p, (SolveHow){.method = ways[k], .step = 0.01}, (double[]){0.25, 1});
    while (solver_step(r.s, 1)) {
    }
    said(r.s, "a storm of events: `event ");
    said(r.s, "up to t = 0.25.");
    end_run(&r);
  }
}

// An oscillator that is hit at one height and damped at another: every method sees the same.
typedef struct {
  Log log;
  double stiffness, damping, high, low;
} Swing;

static bool swinging(void *c, double t, const double *x, const double *late, double *dx) {
  const Swing *w = c;
  (void)late;
  dx[0] = x[1];
  dx[1] = -w->stiffness * x[0] - w->damping * x[1] + cos(t);
  return true;
}

static bool swing_guards(void *c, double t, const double *x, const double *late, double *g) {
  const Swing *w = c;
  (void)t, (void)late;
  g[0] = x[0] - w->high, g[1] = w->low - x[0];
  return true;
}

static bool swing_happens(void *c, double t, uint32_t which, const double *late, double *x) {
  Swing *w = c;
  (void)late;
  x[1] *= which ? 0.5 : -0.9;
  return note(&w->log, t, which);
}

static double some(uint32_t *seed) { // in 0 … 1
  *seed = *seed * 1664525 + 1013904223;
  return (*seed >> 8) / 16777216.0;
}

static void methods_agree_on_moments(void **state) {
  (void)state;
  uint32_t seed = 7, all = 0;
  for (int round = 0; round < 20; round++) {
    Swing w = {.stiffness = 0.5 + 9 * some(&seed), .damping = 0.3 * some(&seed)};
    w.high = 0.2 + 0.5 * some(&seed), w.low = -0.2 - 0.5 * some(&seed);
    const SolveHow ways[] = {{.relative = 1e-11},
                             {.method = SOLVE_STIFF, .relative = 1e-11},
                             {.method = SOLVE_RK4, .step = 2e-3}};
    Swing seen[COUNT(ways)];
    for (uint32_t k = 0; k < COUNT(ways); k++) {
      seen[k] = w;
      Problem p = {.context = &seen[k],
                   .n = 2,
                   .events = 2,
                   .rates = swinging,
                   .guards = swing_guards,
                   .happen = swing_happens};
      Run r = begin(p, ways[k], (double[]){0, 2});
      run_to(r.s, 12);
      end_run(&r);
      assert_int_equal(seen[k].log.n, seen[0].log.n);
      for (uint32_t i = 0; i < seen[0].log.n && i < MANY; i++) {
        assert_int_equal(seen[k].log.which[i], seen[0].log.which[i]);
        near(seen[k].log.t[i], seen[0].log.t[i], 1e-7);
      }
    }
    all += seen[0].log.n;
  }
  assert_true(all > 50);
}

// Nothing flows: only time goes on, from below 0.
static bool nothing(void *c, double t, const double *x, const double *late, double *dx) {
  (void)c, (void)t, (void)x, (void)late, (void)dx;
  return true;
}

static bool alarm_guards(void *c, double t, const double *x, const double *late, double *g) {
  (void)c, (void)x, (void)late;
  g[0] = t, g[1] = t - 1.25;
  return true;
}

static bool alarm_rings(void *c, double t, uint32_t which, const double *late, double *x) {
  (void)late, (void)x;
  return note(c, t, which);
}

static void alarms_without_a_state(void **state) {
  (void)state;
  Log seen = {0};
  Problem p = {.context = &seen,
               .events = 2,
               .rates = nothing,
               .guards = alarm_guards,
               .happen = alarm_rings};
  Arena *arena = arena_new();
  Solver *s = solver_new(arena, &p, &(SolveHow){0}, -3, (double[]){0});
  run_to(s, 100);
  assert_int_equal(seen.n, 2);
  near(seen.t[0], 0, 1e-15);
  near(seen.t[1], 1.25, 1e-15);
  arena_free(arena);
}

static bool wave(const double *x, double *g) { return g[0] = sin(x[0]), true; }

static void comes_back_after_it_was_down(void **state) {
  (void)state;
  Clock c = {.guards = wave, .log = {.stop_at = 4}};
  Problem p = {.context = &c,
               .n = 2,
               .events = 1,
               .rates = ticking,
               .guards = clock_guards,
               .happen = clock_happens};
  Run r = begin(p, (SolveHow){.largest = 1}, (double[]){0.1, 0});
  while (solver_step(r.s, 100)) {
  }
  assert_null(solver_error(r.s));
  assert_int_equal(c.log.n, 4); // and it stopped there
  for (int i = 0; i < 4; i++) near(c.log.t[i], 2 * acos(-1) * (i + 1) - 0.1, 1e-13);
  assert_true(solver_time(r.s) == c.log.t[3]);
  end_run(&r);
}

// --- what is late ---

static bool minus_late(void *c, double t, const double *x, const double *late, double *dx) {
  (void)c, (void)t, (void)x;
  dx[0] = -late[0];
  return true;
}

static double steps_of_one(double t) { // x' = -x(t - 1), 1 before 0
  double sum = 1, up = 1;
  for (int k = 1; t > k - 1; k++) up *= k, sum += (k % 2 ? -1 : 1) * pow(t - k + 1, k) / up;
  return sum;
}

static void steps_of_a_delay(void **state) {
  (void)state;
  const SolveHow ways[] = {
      {.method = SOLVE_DORMAND}, {.method = SOLVE_STIFF}, {.method = SOLVE_RK4, .step = 0.04}};
  for (uint32_t k = 0; k < COUNT(ways); k++) {
    Problem p = {.n = 1, .late = 1, .lag = &one_, .rates = minus_late, .lates = itself};
    Run r = begin(p, ways[k], &one_);
    while (solver_step(r.s, 9)) {
      double x, t = (solver_from(r.s) + 2 * solver_time(r.s)) / 3;
      solver_at(r.s, t, &x);
      near(x, steps_of_one(t), 2e-8);
      near(*solver_state(r.s), steps_of_one(solver_time(r.s)), 1e-8);
    }
    assert_null(solver_error(r.s));
    end_run(&r);
  }
}

// A chain: late[1] is late[0] as it was 1 ago, so it is x as it was 2 ago.
static bool chain_rates(void *c, double t, const double *x, const double *late, double *dx) {
  (void)c, (void)t;
  dx[0] = -late[1];
  dx[1] = -late[2];
  (void)x;
  return true;
}

static bool chain_values(void *c, double t, const double *x, const double *late, double *value) {
  (void)c, (void)t;
  value[0] = x[0], value[1] = late[0], value[2] = x[1];
  return true;
}

static void what_is_late_of_late(void **state) {
  (void)state;
  const double lag[] = {1, 1, 2}, start[] = {1, 1};
  Problem p = {.n = 2, .late = 3, .lag = lag, .rates = chain_rates, .lates = chain_values};
  Run r = begin(p, (SolveHow){0}, start);
  while (solver_step(r.s, 30)) near(solver_state(r.s)[0], solver_state(r.s)[1], 1e-7);
  assert_null(solver_error(r.s));
  end_run(&r);
}

// x' = mean of -x as it was at many different times: against fine fixed steps.
enum { LAGS = 100 };
static bool mean_rates(void *c, double t, const double *x, const double *late, double *dx) {
  (void)c, (void)t, (void)x;
  dx[0] = 0;
  for (int i = 0; i < LAGS; i++) dx[0] -= late[i] / LAGS;
  return true;
}

static bool mean_values(void *c, double t, const double *x, const double *late, double *value) {
  (void)c, (void)t, (void)late;
  for (int i = 0; i < LAGS; i++) value[i] = x[0];
  return true;
}

static void many_delays(void **state) {
  (void)state;
  const uint32_t lags[] = {3, 12, LAGS};
  for (uint32_t k = 0; k < COUNT(lags); k++) {
    double lag[LAGS], found[2];
    for (uint32_t i = 0; i < LAGS; i++) lag[i] = 0.5 + sqrt(2) * (i % lags[k]) / lags[k];
    Problem p = {.n = 1, .late = LAGS, .lag = lag, .rates = mean_rates, .lates = mean_values};
    for (int fine = 0; fine < 2; fine++) {
      SolveHow how = {.method = fine ? SOLVE_RK4 : SOLVE_DORMAND, .step = fine ? 5e-3 : 0};
      Run r = begin(p, how, &one_);
      run_to(r.s, 6);
      found[fine] = *solver_state(r.s);
      end_run(&r);
    }
    near(found[0], found[1], lags[k] == LAGS ? 1e-7 : 1e-8); // fine steps pass over kinks there
  }
}

// x jumps by 1 at 0.5; y' is x as it was 1 ago, and an event sees that jump itself.
static bool echo_rates(void *c, double t, const double *x, const double *late, double *dx) {
  (void)c, (void)t, (void)x;
  dx[0] = 0, dx[1] = late[0];
  return true;
}

static bool echo_guards(void *c, double t, const double *x, const double *late, double *g) {
  (void)c, (void)x;
  g[0] = t - 0.5, g[1] = late[0] - 0.5;
  return true;
}

static bool echo_happens(void *c, double t, uint32_t which, const double *late, double *x) {
  near(late[0], which, 0);
  if (which == 0) x[0] += 1;
  return note(c, t, which);
}

static void a_jump_comes_back(void **state) {
  (void)state;
  const SolveHow ways[] = {
      {.method = SOLVE_DORMAND}, {.method = SOLVE_STIFF}, {.method = SOLVE_RK4, .step = 0.3}};
  for (uint32_t k = 0; k < COUNT(ways); k++) {
    Log seen = {0};
    Problem p = {.context = &seen,
                 .n = 2,
                 .late = 1,
                 .events = 2,
                 .rates = echo_rates,
                 .guards = echo_guards,
                 .happen = echo_happens,
                 .lag = &one_,
                 .lates = itself};
    Run r = begin(p, ways[k], (double[]){0, 0});
    run_to(r.s, 4);
    assert_int_equal(seen.n, 2);
    near(seen.t[0], 0.5, 1e-14);
    near(seen.t[1], 1.5, 1e-14);
    near(solver_state(r.s)[1], 2.5, 1e-12);
    end_run(&r);
  }
}

// --- what cannot be done ---

static bool square(void *c, double t, const double *x, const double *late, double *dx) {
  (void)c, (void)t, (void)late;
  dx[0] = x[0] * x[0];
  return true;
}

static bool root_of(void *c, double t, const double *x, const double *late, double *dx) {
  (void)c, (void)t, (void)late;
  dx[0] = -1 / sqrt(x[0]);
  return true;
}

static bool refuse(void *c, double t, const double *x, const double *late, double *dx) {
  (void)c, (void)x, (void)late;
  dx[0] = 1;
  return t < 0.5;
}

static const char *level_name(void *c, uint32_t i) {
  (void)c, (void)i;
  return "tank/level";
}

static void fails(Problem p, SolveHow how, double x, const char *one, const char *two) {
  Run r = begin(p, how, &x);
  while (solver_step(r.s, 10)) {
  }
  said(r.s, one);
  said(r.s, two);
  assert_false(solver_step(r.s, 20));
  end_run(&r);
}

static void messages(void **state) {
  (void)state;
  Problem p = {.n = 1, .rates = square, .name = level_name};
  fails(p, (SolveHow){0}, 1, "at t = 0.9999999999 no step is small enough",
        "`tank/level` changes too fast");
  fails(p, (SolveHow){.method = SOLVE_STIFF}, 1, "at t = ", "`tank/level`");
  fails(p, (SolveHow){.method = SOLVE_RK4, .step = 0.01}, 1, "rate of `tank/level` is not finite",
        "smaller step");
  fails(p, (SolveHow){.method = SOLVE_RK4}, 1, "Runge–Kutta 4 needs a step above 0", "it is 0");
  fails(p, (SolveHow){.steps = 20}, 1, "20 steps were made", "of 10 is reached");
  fails(p, (SolveHow){0}, NAN, "`tank/level` is not finite at the start", "");
  p.rates = root_of;
  fails(p, (SolveHow){0}, 1, "rate of `tank/level` is not finite at t = 0.666666", "");
  fails(p, (SolveHow){.method = SOLVE_STIFF}, 1, "`tank/level`", "at t = 0.666666");
  fails(p, (SolveHow){0}, 0, "rate of `tank/level` is not finite at t = 0", "");
  p.rates = refuse;
  fails(p, (SolveHow){0}, 0, "the rates cannot be computed at t = ", "");
  p.rates = minus_late, p.lates = itself, p.late = 1, p.lag = (double[]){0};
  fails(p, (SolveHow){0}, 0, "a delay of 0 was found", "above 0 is wanted");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(orders),
      cmocka_unit_test(lotka_volterra),
      cmocka_unit_test(lorenz_at_five),
      cmocka_unit_test(epidemic),
      cmocka_unit_test(malaria_both_ways),
      cmocka_unit_test(hutchinson_cycle),
      cmocka_unit_test(robertson_is_stiff),
      cmocka_unit_test(a_little_stiff_is_no_error),
      cmocka_unit_test(kuramoto_pair),
      cmocka_unit_test(thermostat),
      cmocka_unit_test(moments_do_not_depend_on_the_grid),
      cmocka_unit_test(ball),
      cmocka_unit_test(storm_by_number),
      cmocka_unit_test(all_of_one_moment),
      cmocka_unit_test(what_rises_and_falls_in_one_step),
      cmocka_unit_test(comes_back_after_it_was_down),
      cmocka_unit_test(sliding_is_a_storm),
      cmocka_unit_test(methods_agree_on_moments),
      cmocka_unit_test(alarms_without_a_state),
      cmocka_unit_test(steps_of_a_delay),
      cmocka_unit_test(many_delays),
      cmocka_unit_test(what_is_late_of_late),
      cmocka_unit_test(a_jump_comes_back),
      cmocka_unit_test(messages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
