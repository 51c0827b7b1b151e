// The method of Dormand and Prince: order 5, with an error estimate of order 4 and a dense output
// of order 4.
//
// Seven stages, of which the last is the first of the next step. The dense output is Shampine's:
// both ends with their slopes, and one more term made of all stages.
//
// On a stiff system an explicit method is correct but slow: its step is limited by stability, not
// by accuracy. Stiffness is detected as by Hairer and Wanner: the last two inner stages are at the
// same time, so the difference of their rates divided by the difference of their states estimates
// the largest eigenvalue; a step that stays at the limit of stability is not chosen for accuracy.
// The same holds for a shorter step, if the solution is a hundred times slower than that
// eigenvalue: its stages leave the slow manifold and return, with an error that falls only as the
// square of the step. Then the stiff method takes over, with a note.
#include "run/solve/solve_own.h"

#include <math.h>

// k[0] is s->rate, k[6] is s->next_rate; a[i] of stage c.
static bool stage(Solver *s, double c, double h, double *restrict out, double *rate) {
  return solver_rates(s, s->t + c * h, out, SIDE_LEFT, rate);
}

// Evaluates the inner stages of the tableau.
static bool inner_stages(Solver *s, double h) {
  const double *restrict x = s->x, *restrict a = s->rate;
  double *restrict b = s->k[1], *restrict c = s->k[2], *restrict d = s->k[3], *restrict e = s->k[4];
  double *restrict y = s->trial;
  uint32_t n = s->n;
  for (uint32_t i = 0; i < n; i++) y[i] = x[i] + h * (1.0 / 5 * a[i]);
  if (!stage(s, 1.0 / 5, h, y, b)) return false;
  for (uint32_t i = 0; i < n; i++) y[i] = x[i] + h * (3.0 / 40 * a[i] + 9.0 / 40 * b[i]);
  if (!stage(s, 3.0 / 10, h, y, c)) return false;
  for (uint32_t i = 0; i < n; i++)
    y[i] = x[i] + h * (44.0 / 45 * a[i] - 56.0 / 15 * b[i] + 32.0 / 9 * c[i]);
  if (!stage(s, 4.0 / 5, h, y, d)) return false;
  for (uint32_t i = 0; i < n; i++)
    y[i] = x[i] + h * (19372.0 / 6561 * a[i] - 25360.0 / 2187 * b[i] + 64448.0 / 6561 * c[i] -
                       212.0 / 729 * d[i]);
  if (!stage(s, 8.0 / 9, h, y, e)) return false;
  for (uint32_t i = 0; i < n; i++)
    y[i] = x[i] + h * (9017.0 / 3168 * a[i] - 355.0 / 33 * b[i] + 46732.0 / 5247 * c[i] +
                       49.0 / 176 * d[i] - 5103.0 / 18656 * e[i]);
  return stage(s, 1, h, y, s->k[5]);
}

static void find_nonfinite(Solver *s, double h) {
  static const double at[] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1};
  for (int j = 1; j < 6 && !s->nonfinite; j++) solver_note_nonfinite(s, s->t + at[j] * h, s->k[j]);
  solver_note_nonfinite(s, s->t + h, s->next_rate);
}

static bool try(Solver *s, double h) {
  if (!inner_stages(s, h)) return false;
  const double *restrict x = s->x, *restrict a = s->rate, *restrict c = s->k[2];
  const double *restrict d = s->k[3], *restrict e = s->k[4], *restrict f = s->k[5];
  double *restrict y = s->next, *restrict g = s->next_rate, *restrict error = s->look;
  uint32_t n = s->n;
  for (uint32_t i = 0; i < n; i++)
    y[i] = x[i] + h * (35.0 / 384 * a[i] + 500.0 / 1113 * c[i] + 125.0 / 192 * d[i] -
                       2187.0 / 6784 * e[i] + 11.0 / 84 * f[i]);
  if (!stage(s, 1, h, y, g)) return false;
  for (uint32_t i = 0; i < n; i++)
    error[i] = h * (71.0 / 57600 * a[i] - 71.0 / 16695 * c[i] + 71.0 / 1920 * d[i] -
                    17253.0 / 339200 * e[i] + 22.0 / 525 * f[i] - 1.0 / 40 * g[i]);
  solver_norm(s, error, y);
  if (!isfinite(s->error)) find_nonfinite(s, h);
  return true;
}

static void dense(Solver *s, double h) {
  const double *restrict a = s->rate, *restrict c = s->k[2], *restrict d = s->k[3];
  const double *restrict e = s->k[4], *restrict f = s->k[5], *restrict g = s->next_rate;
  dense_hermite(&s->dense, s->n, s->t, h, (StepEnds){s->x, s->next, a, g});
  double *restrict last = s->dense.part + 4 * (size_t)s->n;
  for (uint32_t i = 0; i < s->n; i++)
    last[i] = h * (-12715105075.0 / 11282082432 * a[i] + 87487479700.0 / 32700410799 * c[i] -
                   10690763975.0 / 1880347072 * d[i] + 701980252875.0 / 199316789632 * e[i] -
                   1453857185.0 / 822651844 * f[i] + 69997945.0 / 29380423 * g[i]);
}

// h times the largest eigenvalue, and the component that has it.
static double largest_eigenvalue(Solver *s, double h, uint32_t *which) {
  double rates = 0, states = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    double allowed = s->how.absolute + s->how.relative * fabs(s->next[i]);
    double rate = fabs(s->next_rate[i] - s->k[5][i]) / allowed;
    states = fmax(states, fabs(s->next[i] - s->trial[i]) / allowed);
    if (rate > rates) rates = rate, *which = i;
  }
  return states > 0 ? h * rates / states : 0;
}

// The relative change of the rates over the step: h times the speed of the solution.
static double solution_speed(const Solver *s) {
  double change = 0, size = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    double allowed = solver_allowed(s, fabs(s->next[i]));
    change = fmax(change, fabs(s->next_rate[i] - s->rate[i]) / allowed);
    size = fmax(size, fabs(s->rate[i]) / allowed);
  }
  return size > 0 ? change / size : INFINITY;
}

// Is the step limited by a mode that has decayed?
static bool is_stiff(const Solver *s, double h, double reach) {
  const double edge = 3.25; // of the region of stability, on the negative real axis
  const double felt = 0.25, slower = 100, longer = 8;
  if (reach > edge) return true;
  return reach > felt && longer * h < s->how.largest && slower * solution_speed(s) < reach;
}

static bool watch_stiffness(Solver *s, double h, double end) {
  enum { EVERY = 16, HITS = 15, MISSES = 6 };
  const double many = 5000; // steps; fewer cost little
  uint32_t which = 0;
  if (s->steps % EVERY != 0 && s->stiff_hits == 0) return true;
  double reach = largest_eigenvalue(s, h, &which);
  if (!is_stiff(s, h, reach)) {
    if (++s->stiff_misses == MISSES) s->stiff_hits = 0;
    return true;
  }
  s->stiff_misses = 0;
  double left = (end - s->t) / h;
  if (++s->stiff_hits < HITS || left < many || s->stiff) return true;
  solver_stiffen(
      s,
      arena_format(s->arena,
                   "stiff: from t = %.6g on, `%s` changes on a time scale of %.2g, and stability "
                   "would force %s to make %.0f more steps of %.2g: the stiff method takes over",
                   s->t, solver_name(s, which), h / reach, s->stepper->name, left, h));
  return true;
}

const SolverStepper dormand_stepper = {.name = "Dormand–Prince",
                                       .stages = 6,
                                       .gives_rate = true,
                                       .exponent = 1.0 / 5,
                                       .try = try,
                                       .dense = dense,
                                       .accepted = watch_stiffness};
