// Bounds of guards over an interval of time, by interval arithmetic from bounds of the states. If 0
// is not between the bounds, the guard has no zero crossing in the interval.
//
// Only for conditions that do more than add and multiply (others have no pulses), and that do not
// read delayed values or table inputs.
#include "core/pass/bounds.h"
#include "run/sim/rates_own.h"

static State *high_of(const Flow *f, const char *path) {
  return store_find(f->m->store, bounds_high(f->m->w, path));
}

static const char *flowing_path(const Flow *f, uint32_t i) {
  const System *s = f->m->s;
  return s->d->param.at[s->state.at[f->flowing.at[i].number].param].path;
}

// Does it change in continuous time?
static bool is_moving(const Flow *f, const char *path) {
  for (uint32_t i = 0; i < f->flowing.n; i++)
    if (!strcmp(path, flowing_path(f, i))) return true;
  return !strcmp(path, "time");
}

static bool is_late(const Flow *f, const char *path) {
  const System *s = f->m->s;
  for (uint32_t i = 0; i < s->lag.n; i++)
    if (!strcmp(path, s->d->param.at[s->lag.at[i].param].path)) return true;
  return false;
}

void ranges_open(Flow *f, const Diagram *conditions) {
  World *w = f->m->w;
  bool *moves = NEW_ARRAY(w->arena, bool, conditions->param.n + 1);
  for (uint32_t i = 0; i < conditions->param.n; i++) {
    const char *path = conditions->param.at[i].path;
    if (is_late(f, path)) return;
    moves[i] = is_moving(f, path);
  }
  Diagram *d = diagram_bounds(w, conditions, moves);
  FlowRanges *r = &f->ranges;
  if (!d || !(r->e = sim_engine(f->m, d))) return;
  r->outs = conditions->out.n;
  r->time = high_of(f, "time");
  r->high = NEW_ARRAY(f->m->arena, State *, f->flowing.n + 1);
  for (uint32_t i = 0; i < f->flowing.n; i++) r->high[i] = high_of(f, flowing_path(f, i));
}

static void read_bounds(const Flow *f, uint32_t first, double *g) {
  const FlowRanges *r = &f->ranges;
  const FlowSwitches *s = &f->switches;
  for (uint32_t i = 0; i < r->outs; i++) {
    bool event = i < f->guard_cells.n;
    int64_t n = event ? f->guard_cells.at[i] : s->cells.at[i - f->guard_cells.n];
    engine_get(r->e, first + i, g, n);
    g += n;
  }
}

bool ranges_between(void *flow, const double t[2], const double *const x[2], double *const g[2]) {
  Flow *f = flow;
  const FlowRanges *r = &f->ranges;
  bool finite;
  flow_set_point(f, t[0], x[0], NULL);
  if (r->time) state_set(r->time, &t[1]);
  for (uint32_t i = 0; i < f->flowing.n; i++)
    if (r->high[i]) state_set(r->high[i], x[1] + f->flowing.at[i].offset);
  if (!sim_run_trial(f->m, r->e, 0, &finite)) return false;
  read_bounds(f, 0, g[0]);
  read_bounds(f, r->outs, g[1]);
  return true;
}
