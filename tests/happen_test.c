// Events and delays: times of events, their order, and delayed values.
#include "solve_help.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

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
static bool room(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)t, (void)delayed;
  dx[0] = -0.1 * (x[0] - 5) + 2.5 * x[1];
  dx[1] = 0;
  return true;
}

static bool room_guards(void *c, double t, const double *x, const double *delayed, double *g) {
  (void)c, (void)t, (void)delayed;
  g[0] = x[1] > 0.5 ? x[0] - 21 : -1;
  g[1] = x[1] > 0.5 ? -1 : 19 - x[0];
  return true;
}

static bool room_switches(void *c, double t, uint8_t *which, const double *delayed, double *x) {
  (void)delayed;
  x[1] = which[1];
  return note(c, t, which[1]);
}

static void thermostat(void **state) {
  (void)state;
  const SolveOptions ways[] = {{.method = SOLVE_DORMAND, .relative = 1e-11},
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

// Large steps: the end of a step of order 5 is far better than its inside, and events are at an
// end.
static void moments_are_as_exact_as_steps(void **state) {
  (void)state;
  const Method ways[] = {SOLVE_DORMAND, SOLVE_STIFF};
  for (uint32_t k = 0; k < COUNT(ways); k++) {
    Log seen = {.stop_at = 1};
    Problem p = {.context = &seen,
                 .n = 2,
                 .events = 2,
                 .rates = room,
                 .guards = room_guards,
                 .happen = room_switches};
    SolveOptions how = {.method = ways[k], .step = 4, .relative = 1};
    Run r = begin(p, how, (double[]){19, 1});
    while (solver_step(r.s, 20)) {
    }
    near(seen.t[0], 10 * log(11.0 / 9), 1e-6);
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
  Run r = begin(p, (SolveOptions){.relative = 1e-11}, (double[]){19, 1});
  run_to(r.s, 20);
  p.context = &cut;
  Run g = begin(p, (SolveOptions){.relative = 1e-11}, (double[]){19, 1});
  for (int i = 1; i <= 2000; i++) run_to(g.s, i / 100.0);
  assert_int_equal(whole.n, cut.n);
  for (uint32_t i = 0; i < cut.n; i++) near(cut.t[i], whole.t[i], 1e-9);
  end_run(&r);
  end_run(&g);
}

static bool fall(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)t, (void)delayed;
  dx[0] = x[1], dx[1] = -9.81;
  return true;
}

static bool below(void *c, double t, const double *x, const double *delayed, double *g) {
  (void)c, (void)t, (void)delayed;
  g[0] = -x[0];
  return true;
}

static bool bounce(void *c, double t, uint8_t *which, const double *delayed, double *x) {
  (void)delayed, (void)which;
  x[1] *= -0.8;
  return note(c, t, 0);
}

static const char *bounce_name(void *c, uint32_t i) {
  (void)c, (void)i;
  return "`bounce`";
}

static void ball(void **state) {
  (void)state;
  const SolveOptions ways[] = {
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
    said(r.s, "too many events: `bounce` happened ");
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
  Run r = begin(p, (SolveOptions){.storm = 3}, (double[]){1, 0});
  while (solver_step(r.s, 10)) {
  }
  said(r.s, "`bounce` happened 4 times within");
  end_run(&r);
}

// A clock with rate 1, and guards as the test wants them
typedef struct {
  Log log;
  uint32_t events;
  bool (*guards)(const double *x, double *g);
  void (*happen)(uint32_t which, double *x);
} Clock;

static bool ticking(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)t, (void)x, (void)delayed;
  dx[0] = 1, dx[1] = 0;
  return true;
}

static bool clock_guards(void *c, double t, const double *x, const double *delayed, double *g) {
  (void)t, (void)delayed;
  return ((Clock *)c)->guards(x, g);
}

static bool clock_happens(void *c, double t, uint8_t *which, const double *delayed, double *x) {
  Clock *clock = c;
  bool goes_on = true;
  (void)delayed;
  for (uint32_t i = 0; i < clock->events; i++) {
    if (!which[i]) continue;
    if (clock->happen) clock->happen(i, x);
    goes_on &= note(&clock->log, t, i);
  }
  return goes_on;
}

static void run_clock(Clock *c, uint32_t events, double end) {
  c->events = events;
  Problem p = {.context = c,
               .n = 2,
               .events = events,
               .rates = ticking,
               .guards = clock_guards,
               .happen = clock_happens};
  Run r = begin(p, (SolveOptions){0}, (double[]){0, 0});
  while (solver_step(r.s, end)) {
  }
  assert_null(solver_error(r.s));
  end_run(&r);
}

static bool three_at_once(const double *x, double *g) {
  g[0] = x[0] + 10 - 10.7; // rounding sets it a few digits apart from 2
  g[1] = x[1] - 0.5;       // lifted by 2
  g[2] = (x[0] - 0.7) / 3;
  g[3] = 0.9 - x[0]; // above 0 at the start: it happens there
  return true;
}

static void two_lifts(uint32_t which, double *x) {
  if (which == 2) x[1] = 1;
}

static void all_of_one_moment(void **state) {
  (void)state;
  Clock c = {.guards = three_at_once, .happen = two_lifts};
  run_clock(&c, 4, 2);
  assert_int_equal(c.log.n, 4);
  const uint32_t order[] = {3, 0, 2, 1};
  assert_true(c.log.t[0] == 0);
  for (int i = 0; i < 4; i++) {
    assert_int_equal(c.log.which[i], order[i]);
    if (i == 0) continue;
    assert_true(c.log.t[i] == c.log.t[1]);
    near(c.log.t[i], 0.7, 2e-14);
  }
}

static bool bump(const double *x, double *g) {
  g[0] = 1e-5 - (x[0] - 5.3) * (x[0] - 5.3); // above 0 for 0.006
  return true;
}

static void what_rises_and_falls_in_one_step(void **state) {
  (void)state;
  Clock c = {.guards = bump};
  run_clock(&c, 1, 40);
  assert_int_equal(c.log.n, 1);
  near(c.log.t[0], 5.3 - sqrt(1e-5), 1e-12);
}

// Pushed against x = 0 from both sides, by one mode and by the other.
static bool to_the_wall(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)t, (void)delayed;
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
    Clock c = {.events = 2, .guards = wall_guards, .happen = turns};
    Problem p = {.context = &c,
                 .n = 2,
                 .events = 2,
                 .rates = to_the_wall,
                 .guards = clock_guards,
                 .happen = clock_happens};
    Run r = begin(p, (SolveOptions){.method = ways[k], .step = 0.01}, (double[]){0.25, 1});
    while (solver_step(r.s, 1)) {
    }
    said(r.s, "too many events: `event ");
    said(r.s, "up to t = 0.25.");
    end_run(&r);
  }
}

// Less than 1, and up and down too often to be looked at.
static bool trembling(void *c, double t, const double *x, const double *delayed, double *g) {
  (void)c, (void)t, (void)delayed;
  g[0] = 0.9 * sin(1e6 * x[0]) - 1;
  return true;
}

static bool runs_on(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)t, (void)x, (void)delayed;
  dx[0] = 1;
  return true;
}

static bool turns_nothing(void *c, double t, const double *x, const double *delayed) {
  (void)c, (void)t, (void)x, (void)delayed;
  return true;
}

static void what_trembles_is_said(void **state) {
  (void)state;
  Log seen = {0};
  Problem p = {.context = &seen, .n = 1, .events = 1, .rates = runs_on, .guards = trembling};
  p.happen = bounce, p.event_name = bounce_name, p.turn = turns_nothing;
  Problem of[] = {p, p, {.n = 1, .rates = runs_on, .delayed = 1}};
  const char *const said_of[] = {"the guard of `bounce`", "what a rate compares or rounds",
                                 "a delayed value"};
  of[1].switches = 1;
  of[2].lag = (const double[]){10}, of[2].to_delay = trembling;
  for (uint32_t k = 0; k < COUNT(of); k++) {
    Run r = begin(of[k], (SolveOptions){0}, (double[]){0});
    while (solver_step(r.s, 1000)) {
    }
    said(r.s, "after t = ");
    said(r.s, said_of[k]);
    said(r.s, " oscillates or jumps too often to be resolved: make the run shorter");
    end_run(&r);
  }
}

// Another number at every moment, however close: nothing between two looks is known.
static bool rough(void *c, double t, const double *x, const double *delayed, double *g) {
  (void)c, (void)x, (void)delayed;
  uint64_t bits;
  memcpy(&bits, &t, sizeof bits);
  bits = (bits ^ bits >> 31) * 0x9e3779b97f4a7c15u;
  g[0] = (double)(bits >> 40) / (1 << 24) - 1.5;
  return true;
}

static void what_cannot_be_told_is_said(void **state) {
  (void)state;
  Log seen = {0};
  Problem p = {.context = &seen, .n = 1, .events = 1, .rates = runs_on, .guards = rough};
  p.happen = bounce, p.event_name = bounce_name;
  Run r = begin(p, (SolveOptions){.largest = 1}, (double[]){0});
  assert_null(solver_unsure(r.s));
  while (solver_step(r.s, 3)) {
  }
  assert_null(solver_error(r.s));
  assert_non_null(strstr(solver_unsure(r.s), "after t = "));
  assert_non_null(
      strstr(solver_unsure(r.s), "the guard of `bounce` varies by rounding errors only"));
  end_run(&r);
}

// An oscillator that is hit at one height and damped at another: every method sees the same.
typedef struct {
  Log log;
  double stiffness, damping, high, low;
} Swing;

static bool swinging(void *c, double t, const double *x, const double *delayed, double *dx) {
  const Swing *w = c;
  (void)delayed;
  dx[0] = x[1];
  dx[1] = -w->stiffness * x[0] - w->damping * x[1] + cos(t);
  return true;
}

static bool swing_guards(void *c, double t, const double *x, const double *delayed, double *g) {
  const Swing *w = c;
  (void)t, (void)delayed;
  g[0] = x[0] - w->high, g[1] = w->low - x[0];
  return true;
}

static bool swing_happens(void *c, double t, uint8_t *which, const double *delayed, double *x) {
  Swing *w = c;
  (void)delayed;
  x[1] *= which[1] ? 0.5 : -0.9;
  return note(&w->log, t, which[1]);
}

static void methods_agree_on_moments(void **state) {
  (void)state;
  uint32_t seed = 7, all = 0;
  for (int round = 0; round < 20; round++) {
    Swing w = {.stiffness = 0.5 + 9 * some(&seed), .damping = 0.3 * some(&seed)};
    w.high = 0.2 + 0.5 * some(&seed), w.low = -0.2 - 0.5 * some(&seed);
    const SolveOptions ways[] = {{.relative = 1e-11},
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
static bool nothing(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)t, (void)x, (void)delayed, (void)dx;
  return true;
}

static bool alarm_guards(void *c, double t, const double *x, const double *delayed, double *g) {
  (void)c, (void)x, (void)delayed;
  g[0] = t, g[1] = t - 1.25;
  return true;
}

static bool alarm_rings(void *c, double t, uint8_t *which, const double *delayed, double *x) {
  (void)delayed, (void)x;
  return note(c, t, which[1]);
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
  Solver *s = solver_new(arena, &p, &(SolveOptions){0}, -3, (double[]){0});
  run_to(s, 100);
  assert_int_equal(seen.n, 2);
  near(seen.t[0], 0, 1e-15);
  near(seen.t[1], 1.25, 1e-15);
  arena_free(arena);
}

static bool wave(const double *x, double *g) { return g[0] = sin(x[0]), true; }

static void comes_back_after_it_was_down(void **state) {
  (void)state;
  Clock c = {.events = 1, .guards = wave, .log = {.stop_at = 5}};
  Problem p = {.context = &c,
               .n = 2,
               .events = 1,
               .rates = ticking,
               .guards = clock_guards,
               .happen = clock_happens};
  Run r = begin(p, (SolveOptions){.largest = 1}, (double[]){0.1, 0});
  while (solver_step(r.s, 100)) {
  }
  assert_null(solver_error(r.s));
  assert_int_equal(c.log.n, 5); // and it stopped there
  assert_true(c.log.t[0] == 0); // it was up
  for (int i = 1; i < 5; i++) near(c.log.t[i], 2 * acos(-1) * i - 0.1, 1e-13);
  assert_true(solver_time(r.s) == c.log.t[4]);
  end_run(&r);
}

// --- delays ---

static bool minus_late(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)t, (void)x;
  dx[0] = -delayed[0];
  return true;
}

static double steps_of_one(double t) { // x' = -x(t - 1), 1 before 0
  double sum = 1, up = 1;
  for (int k = 1; t > k - 1; k++) up *= k, sum += (k % 2 ? -1 : 1) * pow(t - k + 1, k) / up;
  return sum;
}

static void steps_of_a_delay(void **state) {
  (void)state;
  const SolveOptions ways[] = {
      {.method = SOLVE_DORMAND}, {.method = SOLVE_STIFF}, {.method = SOLVE_RK4, .step = 0.04}};
  for (uint32_t k = 0; k < COUNT(ways); k++) {
    Problem p = {.n = 1, .delayed = 1, .lag = &one_, .rates = minus_late, .to_delay = itself};
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
static bool chain_rates(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)t;
  dx[0] = -delayed[1];
  dx[1] = -delayed[2];
  (void)x;
  return true;
}

static bool chain_values(void *c, double t, const double *x, const double *delayed, double *value) {
  (void)c, (void)t;
  value[0] = x[0], value[1] = delayed[0], value[2] = x[1];
  return true;
}

static void what_is_late_of_late(void **state) {
  (void)state;
  const double lag[] = {1, 1, 2}, start[] = {1, 1};
  Problem p = {.n = 2, .delayed = 3, .lag = lag, .rates = chain_rates, .to_delay = chain_values};
  Run r = begin(p, (SolveOptions){0}, start);
  while (solver_step(r.s, 30)) near(solver_state(r.s)[0], solver_state(r.s)[1], 1e-7);
  assert_null(solver_error(r.s));
  end_run(&r);
}

// x' = mean of -x as it was at many different times: against fine fixed steps.
enum { LAGS = 100 };
static bool mean_rates(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)t, (void)x;
  dx[0] = 0;
  for (int i = 0; i < LAGS; i++) dx[0] -= delayed[i] / LAGS;
  return true;
}

static bool mean_values(void *c, double t, const double *x, const double *delayed, double *value) {
  (void)c, (void)t, (void)delayed;
  for (int i = 0; i < LAGS; i++) value[i] = x[0];
  return true;
}

static void many_delays(void **state) {
  (void)state;
  const uint32_t lags[] = {3, 12, LAGS};
  for (uint32_t k = 0; k < COUNT(lags); k++) {
    double lag[LAGS], found[2];
    for (uint32_t i = 0; i < LAGS; i++) lag[i] = 0.5 + sqrt(2) * (i % lags[k]) / lags[k];
    Problem p = {.n = 1, .delayed = LAGS, .lag = lag, .rates = mean_rates, .to_delay = mean_values};
    for (int fine = 0; fine < 2; fine++) {
      SolveOptions how = {.method = fine ? SOLVE_RK4 : SOLVE_DORMAND, .step = fine ? 5e-3 : 0};
      Run r = begin(p, how, &one_);
      run_to(r.s, 6);
      found[fine] = *solver_state(r.s);
      end_run(&r);
    }
    near(found[0], found[1], lags[k] == LAGS ? 1e-7 : 1e-8); // fine steps pass over kinks there
  }
}

// x jumps by 1 at 0.5; y' is x as it was 1 ago, and an event sees that jump itself.
static bool echo_rates(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)t, (void)x;
  dx[0] = 0, dx[1] = delayed[0];
  return true;
}

static bool echo_guards(void *c, double t, const double *x, const double *delayed, double *g) {
  (void)c, (void)x;
  g[0] = t - 0.5, g[1] = delayed[0] - 0.5;
  return true;
}

static bool first_guard(void *c, double t, const double *x, const double *delayed, double *g) {
  (void)c, (void)x, (void)delayed;
  g[0] = t - 0.5;
  return true;
}

static bool echo_happens(void *c, double t, uint8_t *which, const double *delayed, double *x) {
  near(delayed[0], which[0] ? 0 : 1, 0);
  if (which[0]) x[0] += 1;
  return note(c, t, which[0] ? 0 : 1);
}

static void a_jump_comes_back(void **state) {
  (void)state;
  const SolveOptions ways[] = {
      {.method = SOLVE_DORMAND}, {.method = SOLVE_STIFF}, {.method = SOLVE_RK4, .step = 0.3}};
  for (uint32_t k = 0; k < COUNT(ways); k++) {
    Log seen = {0};
    Problem p = {.context = &seen,
                 .n = 2,
                 .delayed = 1,
                 .events = 2,
                 .rates = echo_rates,
                 .guards = echo_guards,
                 .happen = echo_happens,
                 .lag = &one_,
                 .to_delay = itself};
    for (p.events = 1; p.events <= 2; p.events++) {
      seen.n = 0;
      p.guards = p.events == 1 ? first_guard : echo_guards;
      Run r = begin(p, ways[k], (double[]){0, 0});
      run_to(r.s, 4);
      assert_int_equal(seen.n, p.events);
      near(seen.t[0], 0.5, 1e-14);
      if (seen.n > 1) near(seen.t[1], 1.5, 1e-14);
      near(solver_state(r.s)[1], 2.5, 1e-12);
      end_run(&r);
    }
  }
}

// y' is what x was 2 ago, by two delays of 1 that follow each other; x jumps at 0.5.
static bool relay_rates(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)t, (void)x;
  dx[0] = 0, dx[1] = delayed[1];
  return true;
}

static void a_jump_goes_through_a_chain(void **state) {
  (void)state;
  const double lag[] = {1, 1, 1};
  Log seen = {0};
  Problem p = {.context = &seen,
               .n = 2,
               .delayed = 3,
               .events = 1,
               .rates = relay_rates,
               .guards = first_guard,
               .happen = echo_happens,
               .lag = lag,
               .to_delay = chain_values};
  Run r = begin(p, (SolveOptions){.method = SOLVE_RK4, .step = 0.3}, (double[]){0, 0});
  run_to(r.s, 5);
  near(solver_state(r.s)[1], 2.5, 1e-12);
  end_run(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
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
      cmocka_unit_test(a_jump_goes_through_a_chain),
      cmocka_unit_test(moments_are_as_exact_as_steps),
      cmocka_unit_test(what_trembles_is_said),
      cmocka_unit_test(what_cannot_be_told_is_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
