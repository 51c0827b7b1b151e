// Detection of pulses that fall between the stages of a step.
//
// The stages sample the rates at a few times, and a rate that is nonzero only between them is not
// seen: a light that is on by day, a pulse. Then the estimated error is far smaller than the
// tolerance, and steps grow. So if the error of a step is that small, or the step is much longer
// than those before it, the rates are compared with the slope of the dense output at further
// points. In stiff systems rates are large near the solution, so there the deviation is measured as
// an error of the state.
#include "run/solve/solve_own.h"

#include <math.h>

static void dense_slope(const Dense *d, uint32_t n, double q, double *slope) {
  double p = 1 - q;
  size_t m = n;
  const double *b = d->part + m, *c = b + m, *e = c + m, *f = e + m;
  for (size_t i = 0; i < m; i++) {
    double u = e[i] + p * f[i], v = c[i] + q * u, w = b[i] + p * v;
    slope[i] = (w + q * (p * (u - q * f[i]) - v)) / d->h;
  }
}

// The deviation must exceed the tolerance by this factor: the dense output is less accurate than
// the ends of the step.
static const double deviation_factor = 100;

// A step that was shortened by an event or by the end of the run has a small error for that reason:
// the error is extrapolated to the length that was wanted.
static bool may_miss_pulses(const Solver *s, double h) {
  const double small = 0.01, long_step = 1.5;
  bool jumps = s->problem.jumps || s->released;
  if ((s->problem.adds && !jumps) || s->stepper->fixed || s->stepper->given) return false;
  // a pulse of one component leaves no trace in the error of the others
  if (jumps || h > long_step * s->known_length) return true;
  double cut = fmax(fmin(s->h, s->how.largest) / h, 1);
  return s->error * pow(cut, 1 / s->stepper->exponent) < small;
}

static void note_length(Solver *s, double h) {
  s->known_length = fmax(h, fmin(s->known_length, s->h));
}

// Writes into `slope` the deviation as an error of the state; 0 for components found by equations.
static void deviation_at(Solver *s, double h, const double *rate, double *slope) {
  const uint8_t *constrained = s->problem.constrained;
  double share = 1 / deviation_factor;
  for (uint32_t i = 0; i < s->n; i++)
    slope[i] = (constrained && constrained[i] ? rate[i] : rate[i] - slope[i]) * share;
  if (s->stepper->error_of)
    s->stepper->error_of(s, slope);
  else
    for (uint32_t i = 0; i < s->n; i++) slope[i] *= h;
}

bool step_check_pulses(Solver *s, double h) {
  double looks = s->how.look > 0 ? floor(h / s->how.look) : 0, before = s->error;
  if (looks < 1 || !may_miss_pulses(s, h)) {
    note_length(s, h);
    return true;
  }
  double *rate = s->k[1], *slope = s->k[2];
  for (double k = 0; k < looks; k++) {
    double q = (k + 0.5) / looks, t = s->t + q * h;
    dense_at(&s->dense, s->n, t, s->look);
    if (!solver_rates(s, t, s->look, SIDE_LEFT, rate)) return false;
    dense_slope(&s->dense, s->n, q, slope);
    deviation_at(s, h, rate, slope);
    solver_norm(s, slope, s->next);
    if (s->error > 1) return true; // too large: the step is repeated with a shorter length
  }
  s->error = before;
  note_length(s, h);
  return true;
}
