// Noise in continuous time: steps with white noise, and random values of events.
//
// White noise is the increment of a Brownian path that does not depend on the step; a step is one
// diagram with the increments as inputs. The random numbers of an event depend on the number of
// earlier events in its part (for an array: its member), not on time, so they do not depend on
// steps and recorded moments. All events of one part at one moment draw the same numbers.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/interpret.h"
#include "run/sim/rates_own.h"

#include <math.h>

// -- events ---------------------------------------------------------------------------------------
void flow_open_draws(Flow *f) {
  const System *s = f->m->s;
  uint32_t n = f->events, at = 0;
  f->event_count = NEW_ARRAY(f->m->arena, uint64_t, n + 1);
  f->first_guard = NEW_ARRAY(f->m->arena, uint32_t, n + 1);
  f->had_event = NEW_ARRAY(f->m->arena, bool, n + 1);
  f->chance = s->d->noisy;
  for (uint32_t i = 0; i < s->event.n; i++) {
    uint32_t first = 0, same = 0;
    for (; same < i; first += (uint32_t)f->guard_cells.at[same++])
      if (!strcmp(s->event.at[same].path, s->event.at[i].path) &&
          f->guard_cells.at[same] == f->guard_cells.at[i])
        break;
    for (uint32_t k = 0; k < f->guard_cells.at[i]; k++) f->first_guard[at++] = first + k;
  }
}

uint64_t flow_event_key(Flow *f, uint32_t guard) {
  uint32_t event = 0, k = guard;
  for (; k >= f->guard_cells.at[event]; event++) k -= (uint32_t)f->guard_cells.at[event];
  uint64_t site = site_hash(0, f->m->s->event.at[event].path);
  if (f->m->s->event.at[event].each) site = site_step(site, k + 1); // elements draw separately
  return site_step(site, f->event_count[f->first_guard[guard]]);
}

void flow_count_events(Flow *f, const uint8_t *which) {
  uint32_t n = f->chance ? f->events : 0, guard = 0;
  for (uint32_t i = 0; n && i < f->guard_cells.n; i++)
    for (int64_t k = 0; k < f->guard_cells.at[i]; k++, guard++) // a death draws nothing
      if (which[guard] && !f->m->s->event.at[i].death) f->had_event[f->first_guard[guard]] = true;
  for (uint32_t i = 0; i < n; i++) {
    f->event_count[i] += f->had_event[i];
    f->had_event[i] = false;
  }
}

// -- white noise ----------------------------------------------------------------------------------
StepMethod flow_step_kind(const Run *r) {
  return r->follow == FOLLOW_MARUYAMA   ? STEP_MARUYAMA
         : r->follow == FOLLOW_MILSTEIN ? STEP_MILSTEIN
         : r->follow == FOLLOW_EULER    ? STEP_EULER
                                        : STEP_RK4;
}

static void set_point(Flow *f, Engine *e, double t, const double *x) {
  uint32_t ports = f->m->s->in.n, n = f->flowing.n;
  for (uint32_t i = 0; i < n; i++)
    engine_set(e, ports + i, x + f->flowing.at[i].offset, f->flowing.at[i].count);
  engine_set(e, ports + n, &t, 1);
}

static bool get_row(Flow *f, Engine *e, double *out) {
  if (!sim_run(f->m, e, 0)) return false;
  for (uint32_t i = 0; i < f->flowing.n; i++)
    engine_get(e, i, out + f->flowing.at[i].offset, f->flowing.at[i].count);
  return true;
}

// inputs: ports, states, time, step, then the increments of each noise
static bool noisy_step(void *flow, double t, double h, const double *x, const double *delayed,
                       double *next) {
  Flow *f = flow;
  uint32_t at = f->m->s->in.n + f->flowing.n + 1;
  flow_set_point(f, t, x, delayed);
  set_point(f, f->step, t, x);
  engine_set(f->step, at, &h, 1);
  for (uint32_t i = 0; i < f->white.n; i++) {
    FlowWhite *y = &f->white.at[i];
    brownian_between(y->path, t, t + h, y->increment);
    engine_set(f->step, at + 1 + i, y->increment, y->cells);
  }
  return get_row(f, f->step, next);
}

void flow_noise_rows(Flow *f, Engine *e, uint64_t first, int64_t steps) {
  for (uint32_t i = 0; i < f->white.n; i++) {
    FlowWhite *y = &f->white.at[i];
    if (y->room < steps) {
      y->room = steps;
      y->increments = NEW_ARRAY(f->m->arena, double, steps * y->cells + 1);
    }
    for (int64_t k = 0; k < steps; k++)
      memcpy(y->increments + k * y->cells, brownian_step(y->path, first + (uint64_t)k),
             (size_t)y->cells * sizeof(double));
    engine_set(e, f->m->s->in.n + i, y->increments, steps * y->cells);
  }
}

// -- default step ---------------------------------------------------------------------------------
// An estimate of the largest rate constant at the start: the largest directional derivative along
// random signs.
static bool fastest(Flow *f, double *out) {
  enum { PROBES = 8 };
  double *x = NEW_ARRAY(f->m->arena, double, f->n + 1),
         *v = NEW_ARRAY(f->m->arena, double, f->n + 1),
         *delayed = NEW_ARRAY(f->m->arena, double, f->problem.delayed + 1);
  flow_start(f, x);
  *out = 0;
  for (uint64_t p = 0; p < PROBES; p++) {
    for (uint32_t i = 0; i < f->n; i++) v[i] = noise_uniform(1, p, 0, i) < 0.5 ? -1 : 1;
    if (!flow_change(f, 0, x, delayed, v, f->column)) return false;
    for (uint32_t i = 0; i < f->n; i++)
      if (isfinite(f->column[i])) *out = fmax(*out, fabs(f->column[i]));
  }
  return true;
}

bool flow_default_step(Sim *m) {
  const Run *r = m->run;
  double fast;
  if ((r->follow != FOLLOW_MARUYAMA && r->follow != FOLLOW_MILSTEIN) || r->step > 0) return true;
  Flow *f = flow_open(m, false);
  if (!f || !fastest(f, &fast)) return false;
  double h = fmin(r->end > 0 ? r->end / 1000 : 1, 0.01 / fmax(fast, 1e-300));
  if (r->every > 0) h = fmin(h, r->every);
  if (r->end / h > 1e7) {
    Id e = diag_error(m->w->diags, r->span,
                      "the rates change so fast that steps of %.2g are wanted", h);
    return diag_help(m->w->diags, e, "say so, `by maruyama[%.2g]`, or how long a step may be", h);
  }
  Run *own = NEW(m->arena, Run);
  *own = *r;
  own->step = r->end > 0 ? r->end / ceil(r->end / h * (1 - 1e-9)) : h;
  m->run = own;
  return true;
}

// -- opening --------------------------------------------------------------------------------------
bool flow_noise(Flow *f, const Run *r) {
  Sim *m = f->m;
  const Diagram *d = m->s->d;
  Type number = {.base = BASE_R};
  StepMethod kind = flow_step_kind(r);
  if (kind != STEP_MARUYAMA && kind != STEP_MILSTEIN) return true;
  uint64_t system = site_hash(0, name_text(m->w->names, m->s->name));
  for (uint32_t i = 0; i < m->s->white.n; i++) {
    const Param *p = &d->param.at[m->s->white.at[i].param];
    FlowWhite y = {.cells = sim_cells(m, &d->wire.at[p->wire].type)};
    y.path = brownian_new(m->arena, m->how->seed, site_hash(system, p->path), y.cells, r->step);
    y.increment = NEW_ARRAY(m->arena, double, y.cells + 1);
    vec_push(m->arena, &f->white, y);
  }
  f->step = sim_engine(m, system_step(m->w, m->s, kind, &number));
  f->problem.step = noisy_step;
  return f->step != NULL;
}
