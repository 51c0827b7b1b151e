// Ticks in continuous time. Each period has a clock; tick k is at k times the period, computed
// without accumulating, so rounding does not grow with the length of the run. A decimal period is
// treated as an exact fraction: the third tick of 0.1 is at 0.3. All ticks of one moment are
// simultaneous: all lines read the values before, then all states are written.
#include "run/sim/rates_own.h"

#include <math.h>
#include <stdio.h>

// 3 * 0.1 and 1 * 0.3 are one moment although they differ by rounding
static const double rounding = 1e-13;

static bool is_same(double a, double b) { return fabs(a - b) <= rounding * fabs(b); }

static double period_of(const TickClock *c) { return c->every / c->by; }

static double next_of(const TickClock *c) { return (double)(c->done + 1) * c->every / c->by; }

static TickClock clock_of(double every) {
  for (double by = 1; by <= 1e9; by *= 10)
    if (round(every * by) / by == every) return (TickClock){.every = round(every * by), .by = by};
  return (TickClock){.every = every, .by = 1};
}

void flow_clocks(Flow *f) {
  for (uint32_t i = 0; i < f->stepping.n; i++) {
    double every = f->m->s->state.at[f->stepping.at[i]].every;
    uint32_t k = 0;
    while (k < f->clock.n && !is_same(period_of(&f->clock.at[k]), every)) k++;
    if (k == f->clock.n) vec_push(f->m->arena, &f->clock, clock_of(every));
  }
}

double flow_next_tick(const Flow *f, double end) {
  double next = INFINITY;
  for (uint32_t i = 0; i < f->clock.n; i++) next = fmin(next, next_of(&f->clock.at[i]));
  return is_same(next, end) ? end : next;
}

static bool is_due(const Flow *f, double every, double t) {
  for (uint32_t i = 0; i < f->clock.n; i++)
    if (is_same(period_of(&f->clock.at[i]), every)) return is_same(next_of(&f->clock.at[i]), t);
  return false;
}

// The random number key of a tick: its time as a reduced fraction, so parts with other periods do
// not change it.
static uint64_t moment_key(const TickClock *c) {
  double n = (double)(c->done + 1) * c->every;
  uint64_t when, by = (uint64_t)c->by;
  memcpy(&when, &n, sizeof when);
  if (n != floor(n)) return when;
  when = (uint64_t)n;
  uint64_t a = when, b = by;
  for (uint64_t rest; b; a = b, b = rest) rest = a % b;
  return by == a ? when / a : site_step(when / a, by / a);
}

static uint64_t drawn_at(const Flow *f, double t) {
  for (uint32_t i = 0; i < f->clock.n; i++)
    if (is_same(next_of(&f->clock.at[i]), t)) return moment_key(&f->clock.at[i]);
  return 0;
}

typedef struct {
  const Flow *f;
  double t;
} FlowMoment;

static bool ticks_then(const void *context, const SystemWriter *x) {
  const FlowMoment *c = context;
  bool steps = x->state == NO_STATE;
  for (uint32_t i = 0; i < c->f->stepping.n; i++) steps |= c->f->stepping.at[i] == x->state;
  return steps && is_due(c->f, x->every, c->t);
}

static bool lines_agree(Flow *f, double t) {
  FlowMoment c = {f, t};
  char when[40];
  if (!f->lines) return true;
  snprintf(when, sizeof when, "t = %.10g", t);
  return sim_run(f->m, f->lines, drawn_at(f, t)) &&
         conflict_report(f->m, f->lines, ticks_then, &c, when);
}

bool flow_tick(Flow *f, double t, const double *x) {
  flow_set_point(f, t, x, NULL);
  f->moment = NAN;
  if (!sim_run(f->m, f->nexts, drawn_at(f, t)) || !lines_agree(f, t)) return false;
  for (uint32_t i = 0; i < f->stepping.n; i++) {
    State *state = sim_state(f->m, f->stepping.at[i]);
    if (!is_due(f, f->m->s->state.at[f->stepping.at[i]].every, t)) continue;
    engine_get(f->nexts, i, f->value, state->count);
    state_set(state, f->value);
  }
  for (uint32_t i = 0; i < f->clock.n; i++)
    if (is_same(next_of(&f->clock.at[i]), t)) f->clock.at[i].done++;
  return true;
}
