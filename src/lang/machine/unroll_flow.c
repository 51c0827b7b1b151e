// Backpropagation through continuous time: between ticks, states with rates are advanced by some
// Runge-Kutta steps, with everything else fixed. Ports have their values right before the next
// tick, so discrete parts are exact.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/each.h"
#include "lang/machine/unroll_own.h"

enum { STRETCH_STEPS = 8 };

static Id param_wire(const Unrolling *u, uint32_t param) { return u->d->param.at[param].wire; }

static bool refuse_unroll(const Unrolling *u, const char *why, const char *what) {
  return diag_refuse(u->w->diags, u->l->span, "`unroll` does not go through %s%s%s", why,
                     what ? what : "", what ? "`" : "");
}

bool unroll_flows_well(Unrolling *u) {
  const System *s = u->s;
  if (!s->flows) return true;
  for (uint32_t i = 0; i < s->state.n; i++) {
    const SystemState *x = &s->state.at[i];
    if (!unroll_reads(u, param_wire(u, x->param))) continue;
    if (x->constrained) return refuse_unroll(u, "equations `0 = …`, and one says `", x->path);
    if (event_setting(s, i, false)) return refuse_unroll(u, "events, and one sets `", x->path);
  }
  for (uint32_t i = 0; i < s->lag.n; i++)
    if (unroll_reads(u, param_wire(u, s->lag.at[i].param)))
      return refuse_unroll(u, "delays where time flows", NULL);
  for (uint32_t i = 0; i < s->white.n; i++)
    if (u->rates[param_wire(u, s->white.at[i].param)]) return refuse_unroll(u, "white noise", NULL);
  return true;
}

// The clock, which the system may not read otherwise.
static Id clock_wire(Unrolling *u) {
  World *w = u->w;
  Param p = {.path = "time", .rooted = true, .role = ROLE_CLOCK, .init = {.kind = INIT_CONST}};
  for (uint32_t i = 0; i < u->d->param.n; i++)
    if (u->d->param.at[i].role == ROLE_CLOCK && !strcmp(u->d->param.at[i].path, p.path))
      return u->d->param.at[i].wire;
  uint32_t k = diagram_param(w, u->d, p, (Type){.base = BASE_R}, name_from(w->names, p.path), 0);
  return u->d->param.at[k].wire;
}

void unroll_find_ended(Unrolling *u) {
  if (!u->s->time) u->s->time = clock_wire(u);
  vec_push(u->w->arena, &u->ended, u->s->time);
  for (uint32_t i = 0; i < u->d->in.n; i++)
    if (u->rates[u->d->in.at[i]]) vec_push(u->w->arena, &u->ended, u->d->in.at[i]);
}

// One of STRETCH_STEPS equal parts between two moments.
static Id step_length(World *w, Diagram *d, Id from, Id to) {
  const char *text = arena_format(w->arena, "%.17g*(b - a)", 1.0 / STRETCH_STEPS);
  return map_text(w, d, (Type){.base = BASE_R}, text, (Id[]){from, to}, 2, 0);
}

// The states with rates, in the order of the system, as indices into u->state.
static Ids flowing_states(const Unrolling *u) {
  Ids out = {0};
  for (uint32_t i = 0; i < u->s->state.n; i++)
    for (uint32_t k = 0; u->s->state.at[i].rate && k < u->state.n; k++)
      if (u->state.at[k] == i) vec_push(u->w->arena, &out, k);
  return out;
}

// One step as the body of a scan: states and time are carried; ports and the length are constant.
static Diagram *step_as_scan_body(const Unrolling *u, Diagram *step, uint32_t states) {
  World *w = u->w;
  Diagram *d = diagram_new(w, name_from(w->names, "stretch"));
  uint32_t ports = u->d->in.n;
  Ids x = {0}, in = {0};
  for (uint32_t i = 0; i < states; i++)
    vec_push(w->arena, &x, diagram_input(w, d, step->wire.at[step->in.at[ports + i]].type, 0, 0));
  Id time = diagram_input(w, d, (Type){.base = BASE_R}, 0, 0);
  for (uint32_t i = 0; i < ports; i++)
    vec_push(w->arena, &in, diagram_input(w, d, step->wire.at[step->in.at[i]].type, 0, 0));
  Id h = diagram_input(w, d, (Type){.base = BASE_R}, 0, 0);
  for (uint32_t i = 0; i < states; i++) vec_push(w->arena, &in, x.at[i]);
  vec_push(w->arena, &in, time);
  vec_push(w->arena, &in, h);
  called_params(w, d, step, &in);
  Id first = box_call(w, d, step, in.at, in.n, 0);
  for (uint32_t i = 0; i < states; i++) diagram_output(w, d, first + i);
  diagram_output(w, d, step_moved(w, d, time, 1, h, 0));
  return d;
}

// A param of the stretch inside the body: a state after the tick, or a constant.
static Id held_wire(Unrolling *u, const Diagram *of, const Param *p, const Id *after) {
  for (uint32_t i = 0; i < u->d->param.n; i++) {
    const Param *q = &u->d->param.at[i];
    if (q->rooted != p->rooted || strcmp(q->path, p->path)) continue;
    for (uint32_t k = 0; k < u->state.n; k++)
      if (u->s->state.at[u->state.at[k]].param == i) return after[k];
    if (u->in_body[q->wire]) return u->in_body[q->wire];
    const Wire *x = &of->wire.at[p->wire];
    uint32_t k = diagram_param(u->w, u->body, *p, x->type, x->name, 0);
    return u->in_body[q->wire] = u->body->param.at[k].wire;
  }
  return 0;
}

static Id port_at_end(const Unrolling *u, Id port) {
  for (uint32_t i = 0; i < u->ended.n; i++)
    if (u->ended.at[i] == port) return u->at_end[i];
  return wire_filled(u->w, u->body, &u->d->wire.at[port].type, 0, 0, 0);
}

void unroll_flow(Unrolling *u, Id *after) {
  World *w = u->w;
  Type number = {.base = BASE_R};
  Ids flowing = flowing_states(u), in = {0};
  Diagram *d = step_as_scan_body(u, system_step(w, u->s, STEP_RK4, &number), flowing.n);
  Id time = u->in_body[u->s->time];
  for (uint32_t i = 0; i < flowing.n; i++) vec_push(w->arena, &in, after[flowing.at[i]]);
  vec_push(w->arena, &in, time);
  for (uint32_t i = 0; i < u->d->in.n; i++) vec_push(w->arena, &in, port_at_end(u, u->d->in.at[i]));
  vec_push(w->arena, &in, step_length(w, u->body, time, u->at_end[0]));
  for (uint32_t i = 0; i < d->param.n; i++)
    vec_push(w->arena, &in, held_wire(u, d, &d->param.at[i], after));
  Scan scan = {.body = d, .carry = flowing.n + 1, .hold = u->d->in.n + 1};
  scan.axis = (Index){name_from(w->names, "step"), size_of(w, STRETCH_STEPS)};
  Id first = box_scan(w, u->body, &scan, in.at, in.n, 0);
  for (uint32_t i = 0; i < flowing.n; i++) after[flowing.at[i]] = first + i;
}
