// Left limits of observed values. At a moment where an observed value is not finite although it is
// finite directly before (the square root of a level that reached 0, and is -1e-16 by rounding),
// the value directly before is used, if values converge there. Moments closer together than 1e-12
// of the time count as one. Values that diverge, such as a logarithm, have no limit.
#include "run/sim/continuous_own.h"

#include <math.h>

typedef struct {
  ContinuousRun *g;
  double *x;
  uint64_t n; // number of values
} LeftLimit;

static uint64_t count_numbers(const ContinuousRun *g) {
  const SimRecord *r = &g->f->record;
  uint64_t n = g->watchers.n;
  for (uint32_t i = 0; i < g->shows; i++)
    n += (uint64_t)r->channel.at[sight_channel(&g->see, r, i)].cells;
  return n;
}

static void copy_numbers(const LeftLimit *e, double *out) {
  const ContinuousRun *g = e->g;
  const SimRecord *r = &g->f->record;
  for (uint32_t i = 0; i < g->shows; i++) {
    int64_t cells = r->channel.at[sight_channel(&g->see, r, i)].cells;
    engine_get(g->observer, i, out, cells);
    out += cells;
  }
  for (uint32_t i = 0; i < g->watchers.n; i++) engine_get(g->observer, g->shows + i, out++, 1);
}

static bool is_finite_at(const LeftLimit *e, double t) {
  ContinuousRun *g = e->g;
  bool finite = false;
  solver_at(g->solver, t, e->x);
  flow_set_point(g->flow, t, e->x, solver_delayed_inside(g->solver, t));
  return sim_run_trial(g->m, g->observer, 0, &finite) && finite;
}

// Is x the end of the last step? An event may have changed the state since.
static bool is_end_of_step(const LeftLimit *e, double t, const double *x) {
  solver_at(e->g->solver, t, e->x);
  for (uint32_t i = 0; i < e->g->flow->n; i++)
    if (!(fabs(e->x[i] - x[i]) <= 1e-12 * (1 + fabs(x[i])))) return false;
  return true;
}

// Do the values converge: is the nearer one closer to the last, and are both close?
static bool converges(double far, double near, double last) {
  double scale = fmax(fabs(last), 1);
  return fabs(near - last) <= 0.5 * fabs(far - last) + 1e-9 * scale &&
         fabs(far - last) <= 1e-3 * scale;
}

bool left_limit(ContinuousRun *g, double t, const double *x, double hair) {
  LeftLimit e = {.g = g, .n = count_numbers(g)};
  double good = t - hair / 16, bad = t;
  if (!g->solver || !(t > 0) || solver_from(g->solver) > t - hair) return false;
  e.x = NEW_ARRAY(g->m->arena, double, g->flow->n + 1);
  double *far = NEW_ARRAY(g->m->arena, double, 3 * e.n + 1), *near = far + e.n, *last = near + e.n;
  if (!is_end_of_step(&e, t, x) || !is_finite_at(&e, t - hair)) return false;
  copy_numbers(&e, far);
  if (!is_finite_at(&e, good)) return false;
  copy_numbers(&e, near);
  for (double middle; (middle = good + (bad - good) / 2) > good && middle < bad;)
    *(is_finite_at(&e, middle) ? &good : &bad) = middle;
  if (!is_finite_at(&e, good)) return false;
  copy_numbers(&e, last);
  for (uint64_t i = 0; i < e.n; i++)
    if (!converges(far[i], near[i], last[i])) return false;
  return true;
}
