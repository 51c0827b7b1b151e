// The rates of a system as a function, and a step of Runge and Kutta (or Euler) made of it: both
// are diagrams like any other, so a run with fixed steps can be compiled as a whole, and has a
// derivative.
#include "core/pass/pipeline.h"
#include "core/pass/rewrite.h"
#include "lang/machine/machine_own.h"

// -- steps of states ------------------------------------------------------------------------------
// x + c h y, or x + c h where y is 0; h is a number for each of the first axes
static Id moved(World *w, Diagram *d, Id x, double c, Id h, Id y) {
  Each e = each_of(w, d->wire.at[x].type);
  uint32_t a = each_read(w, &e, x, BASE_R, e.t.rank),
           b = y ? each_read(w, &e, y, BASE_R, e.t.rank) : 0,
           step = each_read(w, &e, h, BASE_R, d->wire.at[h].type.rank);
  if (c != 1) step = scalar_fn(w, &e.loop, FN_mul, each_number(w, &e, c), step, 0);
  scalar_fn(w, &e.loop, FN_add, a, y ? scalar_fn(w, &e.loop, FN_mul, step, b, 0) : step, 0);
  return each_make(w, d, &e);
}

// a + 2 b + 2 c + d
static Id weighed(World *w, Diagram *d, const Id k[4]) {
  Each e = each_of(w, d->wire.at[k[0]].type);
  uint32_t x[4], two;
  for (int i = 0; i < 4; i++) x[i] = each_read(w, &e, k[i], BASE_R, e.t.rank);
  two = each_number(w, &e, 2);
  uint32_t middle =
      scalar_fn(w, &e.loop, FN_mul, two, scalar_fn(w, &e.loop, FN_add, x[1], x[2], 0), 0);
  uint32_t ends = scalar_fn(w, &e.loop, FN_add, x[0], x[3], 0);
  scalar_fn(w, &e.loop, FN_add, ends, middle, 0);
  return each_make(w, d, &e);
}

// -- rates ----------------------------------------------------------------------------------------
static Id changed_by(const SystemState *x, bool ticks) { return ticks ? x->next : x->rate; }

// The rates of the states that flow, or what states are after a tick, as a function of them.
static Diagram *system_function(World *w, const System *s, bool ticks) {
  const Diagram *d = s->d;
  Diagram *to = diagram_new(w, name_from(w->names, ticks ? "nexts" : "rates"));
  Id *map = new_map(w, d);
  copy_inputs(w, to, d, map);
  for (uint32_t i = 0; i < s->state.n; i++) {
    const SystemState *x = &s->state.at[i];
    const Wire *wire = &d->wire.at[d->param.at[x->param].wire];
    if (changed_by(x, ticks))
      map[d->param.at[x->param].wire] = diagram_input(w, to, wire->type, wire->name, wire->origin);
  }
  Id time = diagram_input(w, to, (Type){.base = BASE_R}, name_from(w->names, "time"), 0);
  if (s->time) map[s->time] = time;
  for (uint32_t i = 0; i < d->param.n; i++) {
    if (map[d->param.at[i].wire]) continue;
    Param p = d->param.at[i];
    const Wire *x = &d->wire.at[p.wire];
    p.next = 0;
    if (p.role == ROLE_CLOCK) p.role = ROLE_BUFFER;
    uint32_t k = diagram_param(w, to, p, x->type, x->name, x->origin);
    map[d->param.at[i].wire] = to->param.at[k].wire;
  }
  copy_boxes(w, to, d, map);
  for (uint32_t i = 0; i < s->state.n; i++)
    if (changed_by(&s->state.at[i], ticks))
      diagram_output(w, to, map[changed_by(&s->state.at[i], ticks)]);
  diagram_resolve(w, to);
  return passes_flat(w, to);
}

Diagram *system_rates(World *w, const System *s) { return system_function(w, s, false); }
Diagram *system_nexts(World *w, const System *s) { return system_function(w, s, true); }

// The rates at x, called from a step.
typedef struct {
  Diagram *d, *rates;
  Ids port, param;
} RatesCall;

static Id rates_at(World *w, const RatesCall *c, const Id *x, uint32_t n, Id time) {
  Ids in = {0};
  for (uint32_t i = 0; i < c->port.n; i++) vec_push(w->arena, &in, c->port.at[i]);
  for (uint32_t i = 0; i < n; i++) vec_push(w->arena, &in, x[i]);
  vec_push(w->arena, &in, time);
  for (uint32_t i = 0; i < c->param.n; i++) vec_push(w->arena, &in, c->param.at[i]);
  return box_call(w, c->d, c->rates, in.at, in.n, 0);
}

Diagram *system_step(World *w, const System *s, bool euler, const Type *length) {
  static const double at[4] = {0, 0.5, 0.5, 1};
  Diagram *f = system_rates(w, s), *d = diagram_new(w, name_from(w->names, "step"));
  uint32_t n = f->out.n, ports = s->d->in.n;
  RatesCall call = {.d = d, .rates = f};
  Id *x = NEW_ARRAY(w->arena, Id, n + 1), *y = NEW_ARRAY(w->arena, Id, n + 1);
  Id(*k)[4] = (Id(*)[4])NEW_ARRAY(w->arena, Id, 4 * (size_t)n + 4);
  for (uint32_t i = 0; i < f->in.n - 1; i++) {
    const Wire *wire = &f->wire.at[f->in.at[i]];
    Id in = diagram_input(w, d, wire->type, wire->name, 0);
    if (i < ports)
      vec_push(w->arena, &call.port, in);
    else
      x[i - ports] = in;
  }
  Id time = diagram_input(w, d, (Type){.base = BASE_R}, name_from(w->names, "time"), 0);
  Id h = diagram_input(w, d, *length, name_from(w->names, "h"), 0);
  for (uint32_t i = 0; i < f->param.n; i++) {
    const Wire *wire = &f->wire.at[f->param.at[i].wire];
    uint32_t p = diagram_param(w, d, f->param.at[i], wire->type, wire->name, 0);
    vec_push(w->arena, &call.param, d->param.at[p].wire);
  }
  for (uint32_t stage = 0; stage < (euler ? 1 : 4); stage++) {
    for (uint32_t i = 0; i < n; i++)
      y[i] = stage ? moved(w, d, x[i], at[stage], h, k[i][stage - 1]) : x[i];
    Id now = stage && !length->rank ? moved(w, d, time, at[stage], h, 0) : time;
    Id first = rates_at(w, &call, y, n, now);
    for (uint32_t i = 0; i < n; i++) k[i][stage] = first + i;
  }
  for (uint32_t i = 0; i < n; i++)
    diagram_output(w, d,
                   euler ? moved(w, d, x[i], 1, h, k[i][0])
                         : moved(w, d, x[i], 1.0 / 6, h, weighed(w, d, k[i])));
  return passes_flat(w, d);
}
