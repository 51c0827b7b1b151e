// The Jacobian of the rates, by forward-mode derivative of their diagram: for one direction, or for
// all, column by column.
#include "run/sim/rates_own.h"

static bool open_tangent(Flow *f) {
  if (f->tangent) return true;
  f->tangent = sim_engine(f->m, pick_tangent(f->m->w, f->m->s));
  return f->tangent != NULL;
}

// inputs: ports, states, time, then a tangent of each state
bool flow_change(void *flow, double t, const double *x, const double *delayed, const double *v,
                 double *out) {
  Flow *f = flow;
  if (!open_tangent(f)) return false;
  flow_set_point(f, t, x, delayed);
  uint32_t ports = f->m->s->in.n, n = f->flowing.n;
  uint32_t i;
  for (i = 0; i < n; i++) {
    const Flowing *y = &f->flowing.at[i];
    engine_set(f->tangent, ports + i, x + y->offset, y->count);
    uint32_t d = ports + n + 1 + i;
    engine_set(f->tangent, d, v + y->offset, y->count);
  }
  engine_set(f->tangent, ports + n, &t, 1);
  bool finite; // the solver checks whether values are finite
  if (!sim_run_trial(f->m, f->tangent, 0, &finite)) return false;
  for (i = 0; i < f->rate_cells.n; out += f->rate_cells.at[i++])
    engine_get(f->tangent, i, out, f->rate_cells.at[i]);
  return true;
}

bool flow_jacobian(void *flow, double t, const double *x, const double *delayed, double *j) {
  Flow *f = flow;
  memset(f->unit, 0, f->n * sizeof(double));
  for (uint32_t c = 0; c < f->n; c++) {
    f->unit[c] = 1;
    if (!flow_change(f, t, x, delayed, f->unit, f->column)) return false;
    f->unit[c] = 0;
    for (uint32_t r = 0; r < f->n; r++) j[(size_t)r * f->n + c] = f->column[r];
  }
  return true;
}

const Pattern *flow_pattern(void *flow) {
  Flow *f = flow;
  const Diagram *d = system_rates(f->m->w, f->m->s);
  return structure_find(f->m->w, f->m->arena, d, f->m->s->in.n, d->out.n);
}

const uint8_t *flow_constrained(const Flow *f) {
  uint8_t *constrained = NEW_ARRAY(f->m->arena, uint8_t, f->n + 1);
  bool any = false;
  for (uint32_t i = 0; i < f->flowing.n; i++) {
    const Flowing *y = &f->flowing.at[i];
    if (!f->m->s->state.at[y->number].constrained) continue;
    memset(constrained + y->offset, 1, (size_t)y->count);
    any = true;
  }
  return any ? constrained : NULL;
}
