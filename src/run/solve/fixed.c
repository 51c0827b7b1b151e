// Steps of a fixed size: Euler, and the classical Runge–Kutta method of order 4.
//
// The rate at the end of a step is the first stage of the next one, and gives the slope for the
// dense output. There is no error estimate; only values that are not finite are reported. Compiled
// scans of steps sum in the same order, so both give the same bits. A problem may also supply its
// own step function.
#include "run/solve/solve_own.h"

#include <math.h>

// next = x + h (sum of the stages). False: next or its rate is not finite.
static bool finish_step(Solver *s, double h) {
  double sum = 0;
  if (!solver_rates(s, s->t + h, s->next, SIDE_LEFT, s->next_rate)) return false;
  for (uint32_t i = 0; i < s->n; i++) sum += fabs(s->next[i]) + fabs(s->next_rate[i]);
  s->error = isfinite(sum) ? 0 : INFINITY;
  if (s->error > 0)
    solver_note_nonfinite(s, s->t + h, s->next_rate), solver_note_nonfinite(s, s->t + h, s->next);
  return true;
}

static bool euler(Solver *s, double h) {
  for (uint32_t i = 0; i < s->n; i++) s->next[i] = s->x[i] + h * s->rate[i];
  return finish_step(s, h);
}

static bool stage(Solver *s, double h, const double *slope, double *rate) {
  for (uint32_t i = 0; i < s->n; i++) s->trial[i] = s->x[i] + h * slope[i];
  return solver_rates(s, s->t + h, s->trial, SIDE_LEFT, rate);
}

static bool rk4(Solver *s, double h) {
  double *a = s->rate, *b = s->k[0], *c = s->k[1], *d = s->k[2];
  if (!stage(s, h / 2, a, b) || !stage(s, h / 2, b, c) || !stage(s, h, c, d)) return false;
  for (uint32_t i = 0; i < s->n; i++)
    s->next[i] = s->x[i] + 1.0 / 6 * h * (a[i] + d[i] + 2 * (b[i] + c[i]));
  return finish_step(s, h);
}

static void dense(Solver *s, double h) {
  dense_hermite(&s->dense, s->n, s->t, h, (StepEnds){s->x, s->next, s->rate, s->next_rate});
}

// A step by the problem's own function; between its ends it is linear.
static bool given_step(Solver *s, double h) {
  const Problem *p = &s->problem;
  double sum = 0;
  if (p->delayed) delays_read(s, s->t, SIDE_RIGHT);
  s->rates++;
  if (!p->step(p->context, s->t, h, s->x, s->delayed, s->next))
    return solver_fail(s, "the step from t = %.10g cannot be made", s->t);
  for (uint32_t i = 0; i < s->n; i++) {
    s->k[0][i] = (s->next[i] - s->x[i]) / h;
    sum += fabs(s->next[i]);
  }
  s->error = isfinite(sum) ? 0 : INFINITY;
  if (s->error > 0) solver_note_nonfinite(s, s->t + h, s->next);
  return true;
}

static void linear_dense(Solver *s, double h) {
  dense_hermite(&s->dense, s->n, s->t, h, (StepEnds){s->x, s->next, s->k[0], s->k[0]});
}

const SolverStepper given_stepper = {.name = "This method",
                                     .stages = 1,
                                     .fixed = true,
                                     .given = true,
                                     .exponent = 1,
                                     .try = given_step,
                                     .dense = linear_dense};
const SolverStepper euler_stepper = {.name = "Euler",
                                     .fixed = true,
                                     .gives_rate = true,
                                     .exponent = 1,
                                     .try = euler,
                                     .dense = dense};
const SolverStepper rk4_stepper = {.name = "Runge–Kutta 4",
                                   .stages = 3,
                                   .fixed = true,
                                   .gives_rate = true,
                                   .exponent = 1,
                                   .try = rk4,
                                   .dense = dense};
