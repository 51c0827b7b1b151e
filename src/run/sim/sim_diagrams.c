// Diagrams derived from a system's diagram: some of its wires as a function of the states, a scan
// of ticks, a scan of steps. All read and write states by path, so they share one store.
#include "base/names.h"
#include "core/diagram/each.h"
#include "core/pass/pipeline.h"
#include "run/sim/sim_own.h"

// -- inlining -------------------------------------------------------------------------------------
// A clock becomes an ordinary param, which the caller sets.
static Param plain_param(const Param *p) {
  Param copy = *p;
  copy.next = 0;
  if (copy.role == ROLE_CLOCK) copy.role = ROLE_BUFFER;
  return copy;
}

static Id add_param(World *w, Diagram *to, const Diagram *from, uint32_t i) {
  const Param *p = &from->param.at[i];
  const Wire *x = &from->wire.at[p->wire];
  uint32_t k = diagram_param(w, to, plain_param(p), x->type, x->name, x->origin);
  return to->param.at[k].wire;
}

static Id *paste_all(World *w, Diagram *to, const Diagram *from) {
  Id *map = new_map(w, from);
  copy_inputs(w, to, from, map);
  for (uint32_t i = 0; i < from->param.n; i++)
    map[from->param.at[i].wire] = add_param(w, to, from, i);
  copy_boxes(w, to, from, map);
  to->noisy |= from->noisy;
  return map;
}

Id sight_wire(const System *s, const Sight *x) {
  switch (x->kind) {
  case SEES_IN: return s->d->in.at[x->at];
  case SEES_OUT: return s->d->out.at[x->at];
  case SEES_INSIDE: return s->inside.at[x->at].wire;
  default: return s->d->param.at[s->state.at[x->at].param].wire;
  }
}

// A system inlined into a diagram.
typedef struct {
  Diagram *to;
  const System *s;
  const Id *map;
  Id time; // its clock in the diagram, or 0
} Pasted;

// Adds an expression over observables of an inlined system.
static Id paste_seen(World *w, const Pasted *p, const Sights *sights, const Seen *seen,
                     uint32_t number) {
  const Diagram *f = seen->diagram;
  Id *own = new_map(w, f);
  for (uint32_t i = 0; i < f->in.n; i++)
    own[f->in.at[i]] = p->map[sight_wire(p->s, &sights->at[seen->sight.at[i]])];
  for (uint32_t i = 0; i < f->param.n; i++) {
    Param param = plain_param(&f->param.at[i]);
    const Wire *x = &f->wire.at[f->param.at[i].wire];
    if (p->time && f->param.at[i].role == ROLE_CLOCK && !strcmp(param.path, "time")) {
      own[f->param.at[i].wire] = p->time;
      continue;
    }
    if (!param.rooted) param.path = arena_format(w->arena, "seen.%u/%s", number, param.path);
    uint32_t k = diagram_param(w, p->to, param, x->type, x->name, x->origin);
    own[f->param.at[i].wire] = p->to->param.at[k].wire;
  }
  copy_boxes(w, p->to, f, own);
  return own[f->out.at[0]];
}

static void see_all(World *w, const Pasted *p, const SightList *see) {
  for (uint32_t i = 0; i < see->n; i++)
    diagram_output(w, p->to, p->map[sight_wire(p->s, &see->sights->at[see->sight[i]])]);
  for (uint32_t i = 0; i < see->nseen; i++)
    diagram_output(w, p->to, paste_seen(w, p, see->sights, see->seen[i], i));
}

static Diagram *flat(World *w, Diagram *d) {
  diagram_resolve(w, d);
  return passes_flat(w, d);
}

static Diagram *up_to(World *w, const System *s, const Id *wire, uint32_t n) {
  Diagram *to = diagram_new(w, s->name);
  Id *map = paste_all(w, to, s->d);
  for (uint32_t i = 0; i < n; i++) diagram_output(w, to, map[wire[i]]);
  return to;
}

Diagram *pick_wires(World *w, const System *s, const Id *wire, uint32_t n) {
  return flat(w, up_to(w, s, wire, n));
}

Diagram *pick_whole(World *w, const System *s, const Id *wire, uint32_t n) {
  Diagram *d = up_to(w, s, wire, n);
  diagram_resolve(w, d);
  return diagram_simplify(w, diagram_inline_all(w, d));
}

Diagram *pick_seen(World *w, const System *s, const SightList *see) {
  Diagram *to = diagram_new(w, s->name);
  Id *map = paste_all(w, to, s->d);
  see_all(w, &(Pasted){to, s, map, s->time ? map[s->time] : 0}, see);
  return flat(w, to);
}

// -- small loops ----------------------------------------------------------------------------------
// The next value at ticks that are multiples of `every`, the old one otherwise.
static Id only_every(World *w, Diagram *d, Id time, double every, Id next, Id old) {
  const char *text = arena_format(w->arena, "select(mod(a, %.17g) < 0.5, b, c)", every);
  return map_text(w, d, d->wire.at[old].type, text, (Id[]){time, next, old}, 3, 0);
}

// -- ticks ----------------------------------------------------------------------------------------
typedef struct {
  World *w;
  const System *s;
  Diagram *to, *body;
  Id *map;     // from the system's wires to the body's
  Ids outside; // operands of the scan
  Id time;     // in the body
} TickRows;

static Type row_type(World *w, const Type *t, int64_t n) {
  return type_along(w, *t, &(Index){name_from(w->names, "tick"), size_of(w, n)});
}

static void add_ports(TickRows *r, Scan *scan, const bool *rows, const Id *port, bool slices) {
  const Diagram *d = r->s->d;
  for (uint32_t i = 0; i < d->in.n; i++) {
    if (rows[i] != slices) continue;
    const Wire *x = &d->wire.at[d->in.at[i]];
    r->map[d->in.at[i]] = diagram_input(r->w, r->body, x->type, x->name, x->origin);
    vec_push(r->w->arena, &r->outside, port[i]);
    if (slices)
      scan->slice++;
    else
      scan->hold++;
  }
}

static void add_clock(TickRows *r, Scan *scan) {
  Param clock = {.path = "time", .rooted = true, .role = ROLE_BUFFER, .init = {.kind = INIT_CONST}};
  Type number = {.base = BASE_R};
  Name name = name_from(r->w->names, "time");
  uint32_t k = diagram_param(r->w, r->to, clock, number, name, 0);
  vec_push(r->w->arena, &r->outside, r->to->param.at[k].wire);
  r->time = diagram_input(r->w, r->body, number, name, 0);
  if (r->s->time) r->map[r->s->time] = r->time;
  scan->carry++;
}

// Adds states as carries: those with next values, or those with rates; and the clock.
static void add_carries(TickRows *r, Scan *scan, bool flows) {
  const Diagram *d = r->s->d;
  for (uint32_t i = 0; i < r->s->state.n; i++) {
    const SystemState *x = &r->s->state.at[i];
    Id old = d->param.at[x->param].wire;
    const Wire *wire = &d->wire.at[old];
    if (!(flows ? x->rate : x->next)) continue;
    vec_push(r->w->arena, &r->outside, add_param(r->w, r->to, d, x->param));
    r->map[old] = diagram_input(r->w, r->body, wire->type, wire->name, flows ? 0 : wire->origin);
    scan->carry++;
  }
  add_clock(r, scan);
}

// Values that do not change are params of the body, too.
static void add_rest(TickRows *r) {
  const Diagram *d = r->s->d;
  for (uint32_t i = 0; i < d->param.n; i++) {
    if (r->map[d->param.at[i].wire]) continue;
    r->map[d->param.at[i].wire] = add_param(r->w, r->body, d, i);
  }
}

// Makes the scan: params of the body become params of the diagram, and final carries become next
// values. Gives its first result.
static Id close_scan(TickRows *r, Scan *scan) {
  for (uint32_t i = 0; i < r->body->param.n; i++) {
    Param p = r->body->param.at[i];
    const Wire *x = &r->body->wire.at[p.wire];
    uint32_t k = diagram_param(r->w, r->to, p, x->type, x->name, x->origin);
    vec_push(r->w->arena, &r->outside, r->to->param.at[k].wire);
  }
  scan->body = r->body;
  Id first = box_scan(r->w, r->to, scan, r->outside.at, r->outside.n, 0);
  Id *next = NEW_ARRAY(r->w->arena, Id, r->to->wire.n);
  for (uint32_t i = 0; i < scan->carry; i++) next[r->outside.at[scan->slice + i]] = first + i;
  for (uint32_t k = 0; k < r->to->param.n; k++)
    if (next[r->to->param.at[k].wire]) r->to->param.at[k].next = next[r->to->param.at[k].wire];
  return first;
}

Diagram *pick_ticks(World *w, const System *s, int64_t ticks, const bool *rows,
                    const SightList *see) {
  const Diagram *d = s->d;
  TickRows r = {.w = w, .s = s, .to = diagram_new(w, s->name), .body = diagram_new(w, s->name)};
  Scan scan = {.axis = {name_from(w->names, "tick"), size_of(w, ticks)}};
  Id *port = NEW_ARRAY(w->arena, Id, d->in.n + 1);
  r.map = new_map(w, d);
  for (uint32_t i = 0; i < d->in.n; i++) { // inputs in the order of the ports
    const Wire *x = &d->wire.at[d->in.at[i]];
    port[i] = diagram_input(w, r.to, rows[i] ? row_type(w, &x->type, ticks) : x->type, x->name, 0);
  }
  add_ports(&r, &scan, rows, port, true);
  add_carries(&r, &scan, false);
  add_ports(&r, &scan, rows, port, false);
  add_rest(&r);
  copy_boxes(w, r.body, d, r.map);
  r.body->noisy = r.to->noisy = d->noisy;
  for (uint32_t i = 0; i < s->state.n; i++) {
    const SystemState *x = &s->state.at[i];
    if (!x->next) continue;
    Id next = r.map[x->next], old = r.map[d->param.at[x->param].wire];
    diagram_output(w, r.body,
                   x->every > 1 ? only_every(w, r.body, r.time, x->every, next, old) : next);
  }
  diagram_output(w, r.body, map_text(w, r.body, (Type){.base = BASE_R}, "a + 1", &r.time, 1, 0));
  see_all(w, &(Pasted){r.body, s, r.map, r.time}, see);
  if (s->writer.n) diagram_output(w, r.body, conflict_flag(w, s, r.body, r.map, r.time));
  if (s->halt.n) diagram_output(w, r.body, going_flag(w, s, r.body, r.map));
  Id first = close_scan(&r, &scan);
  for (uint32_t i = 0; i < see->n + see->nseen + (s->writer.n > 0) + (s->halt.n > 0); i++)
    diagram_output(w, r.to, first + scan.carry + i);
  return flat(w, r.to);
}

// -- rates ----------------------------------------------------------------------------------------
// The forward derivative of f by the states.
static Diagram *with_changes(World *w, const System *s, Diagram *f) {
  uint32_t states = f->out.n, ports = s->d->in.n;
  bool *want = NEW_ARRAY(w->arena, bool, f->in.n + 1),
       *none = NEW_ARRAY(w->arena, bool, f->param.n + 1);
  for (uint32_t i = 0; i < states; i++) want[ports + i] = true;
  return diagram_forward(w, f, &(Wanted){.want_in = want, .want_param = none});
}

Diagram *pick_tick_tangent(World *w, const System *s) {
  return passes_flat(w, with_changes(w, s, system_nexts(w, s)));
}

Diagram *pick_tangent(World *w, const System *s) {
  Diagram *f = system_rates(w, s);
  uint32_t flows = f->out.n;
  Diagram *g = with_changes(w, s, f);
  uint32_t outs = g->out.n - flows;
  for (uint32_t i = 0; i < flows; i++) g->out.at[i] = g->out.at[outs + i];
  g->out.n = flows;
  return passes_flat(w, g);
}

// The time after some steps of length h, as a multiple of h, which is where the solver ends its
// steps; accumulated times would drift.
static Id step_end(World *w, Diagram *d, Id time, double h, double steps) {
  const char *text = arena_format(w->arena, "floor(a/%.17g + %.17g)*%.17g", h, steps + 0.5, h);
  return map_text(w, d, (Type){.base = BASE_R}, text, &time, 1, 0);
}

// Adds the increments of each noise, with a row for each step.
static void add_whites(TickRows *r, Scan *scan, int64_t steps, Ids *inside) {
  World *w = r->w;
  const Diagram *d = r->s->d;
  for (uint32_t i = 0; i < r->s->white.n; i++) {
    const Wire *x = &d->wire.at[d->param.at[r->s->white.at[i].param].wire];
    vec_push(w->arena, &r->outside,
             diagram_input(w, r->to, row_type(w, &x->type, steps), x->name, 0));
    vec_push(w->arena, inside, diagram_input(w, r->body, x->type, x->name, 0));
    scan->slice++;
  }
}

Diagram *pick_steps(World *w, const System *s, int64_t steps, double h, StepMethod kind) {
  Type number = {.base = BASE_R};
  Diagram *f = system_step(w, s, kind, &number);
  TickRows r = {.w = w, .s = s, .to = diagram_new(w, s->name), .body = diagram_new(w, s->name)};
  Scan scan = {.axis = {name_from(w->names, "step"), size_of(w, steps)}};
  Ids in = {0}, white = {0};
  uint32_t ports = s->d->in.n;
  r.map = new_map(w, s->d);
  Id *hold = NEW_ARRAY(w->arena, Id, ports + 1);
  for (uint32_t i = 0; i < ports; i++) {
    const Wire *wire = &f->wire.at[f->in.at[i]];
    hold[i] = diagram_input(w, r.to, wire->type, wire->name, 0);
  }
  if (kind == STEP_MARUYAMA || kind == STEP_MILSTEIN) add_whites(&r, &scan, steps, &white);
  add_carries(&r, &scan, true);
  for (uint32_t i = 0; i < ports; i++) {
    const Wire *wire = &f->wire.at[f->in.at[i]];
    vec_push(w->arena, &in, diagram_input(w, r.body, wire->type, wire->name, 0));
    vec_push(w->arena, &r.outside, hold[i]);
    scan.hold++;
  }
  for (uint32_t i = 0; i < s->state.n; i++)
    if (s->state.at[i].rate)
      vec_push(w->arena, &in, r.map[s->d->param.at[s->state.at[i].param].wire]);
  Id now = step_end(w, r.body, r.time, h, 0), end = step_end(w, r.body, r.time, h, 1);
  vec_push(w->arena, &in, now);
  vec_push(w->arena, &in, wire_filled(w, r.body, &number, h, 0, 0));
  for (uint32_t i = 0; i < white.n; i++) vec_push(w->arena, &in, white.at[i]);
  for (uint32_t i = 0; i < f->param.n; i++) vec_push(w->arena, &in, add_param(w, r.body, f, i));
  Id after = box_call(w, r.body, f, in.at, in.n, 0);
  for (uint32_t i = 0; i + 1 < scan.carry; i++) diagram_output(w, r.body, after + i);
  diagram_output(w, r.body, end);
  diagram_output(w, r.to, close_scan(&r, &scan) + scan.carry - 1);
  return flat(w, r.to);
}
