// Diagrams made of a system's: a function of its states to some of its wires, a row of ticks, a row
// of steps. All of them read and write states by their paths, so they share one store.
#include "time/sim.h"

// -- pasting --------------------------------------------------------------------------------------
// A clock is nothing special here: whoever follows the system sets it.
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
  default: return s->d->param.at[s->state.at[x->at].param].wire;
  }
}

// An expression over what is seen, behind a pasted system.
static Id paste_seen(World *w, Diagram *to, const System *s, const Id *map, const Sights *sights,
                     const Seen *seen, uint32_t number) {
  const Diagram *f = seen->diagram;
  Id *own = new_map(w, f);
  for (uint32_t i = 0; i < f->in.n; i++)
    own[f->in.at[i]] = map[sight_wire(s, &sights->at[seen->sight.at[i]])];
  for (uint32_t i = 0; i < f->param.n; i++) {
    Param p = plain_param(&f->param.at[i]);
    const Wire *x = &f->wire.at[f->param.at[i].wire];
    if (!p.rooted) p.path = arena_format(w->arena, "seen.%u/%s", number, p.path);
    uint32_t k = diagram_param(w, to, p, x->type, x->name, x->origin);
    own[f->param.at[i].wire] = to->param.at[k].wire;
  }
  copy_boxes(w, to, f, own);
  return own[f->out.at[0]];
}

static Diagram *flat(World *w, Diagram *d) {
  diagram_zonk(w, d);
  return diagram_simplify(w, diagram_inline_all(w, d));
}

Diagram *pick_wires(World *w, const System *s, const Id *wire, uint32_t n) {
  Diagram *to = diagram_new(w, s->name);
  Id *map = paste_all(w, to, s->d);
  for (uint32_t i = 0; i < n; i++) diagram_output(w, to, map[wire[i]]);
  return flat(w, to);
}

Diagram *pick_seen(World *w, const System *s, const Sights *sights, const uint32_t *sight,
                   uint32_t n, const Seen *const *seen, uint32_t nseen) {
  Diagram *to = diagram_new(w, s->name);
  Id *map = paste_all(w, to, s->d);
  for (uint32_t i = 0; i < n; i++)
    diagram_output(w, to, map[sight_wire(s, &sights->at[sight[i]])]);
  for (uint32_t i = 0; i < nseen; i++)
    diagram_output(w, to, paste_seen(w, to, s, map, sights, seen[i], i));
  return flat(w, to);
}

// -- small loops ----------------------------------------------------------------------------------
typedef struct {
  Loop loop;
  Access in[4];
  Id wire[4];
  Type t;
} Each;

// A loop over every element of tensors of one type.
static Each each_of(World *w, Type t) {
  Each e = {.t = t, .loop = {.combine = SUM, .nindex = t.rank}};
  e.loop.index = NEW_ARRAY(w->arena, Index, t.rank + 1);
  uint32_t *all = NEW_ARRAY(w->arena, uint32_t, t.rank + 1);
  for (uint32_t i = 0; i < t.rank; i++) {
    all[i] = i;
    e.loop.index[i] = (Index){name_from(w->names, arena_format(w->arena, "i%u", i)), t.axis[i].size};
  }
  e.loop.out = access_plain(w, t.rank, all);
  return e;
}

static uint32_t each_read(World *w, Each *e, Id wire, Base base, uint32_t rank) {
  uint32_t *all = NEW_ARRAY(w->arena, uint32_t, rank + 1), k = e->loop.nin++;
  for (uint32_t i = 0; i < rank; i++) all[i] = i;
  e->in[k] = access_plain(w, rank, all);
  e->wire[k] = wire;
  return scalar_push(w, &e->loop, (Scalar){.fn = FN_ARG, .base = (uint8_t)base, .ref = k});
}

static uint32_t each_number(World *w, Each *e, double k) {
  return scalar_push(w, &e->loop, (Scalar){.fn = FN_CONST, .base = BASE_R, .k = k});
}

static Id each_make(World *w, Diagram *d, Each *e) {
  e->loop.in = e->in;
  return box_loop(w, d, &e->loop, e->wire, e->loop.nin, e->t, 0);
}

// x + c y
static Id plus_times(World *w, Diagram *d, Id x, double c, Id y) {
  Each e = each_of(w, d->wire.at[x].type);
  uint32_t a = each_read(w, &e, x, BASE_R, e.t.rank), b = each_read(w, &e, y, BASE_R, e.t.rank);
  uint32_t product = scalar_fn(w, &e.loop, FN_mul, each_number(w, &e, c), b, 0);
  scalar_fn(w, &e.loop, FN_add, a, product, 0);
  return each_make(w, d, &e);
}

static Id plus_number(World *w, Diagram *d, Id x, double k) {
  Each e = each_of(w, d->wire.at[x].type);
  uint32_t a = each_read(w, &e, x, BASE_R, e.t.rank);
  scalar_fn(w, &e.loop, FN_add, a, each_number(w, &e, k), 0);
  return each_make(w, d, &e);
}

// The next value at ticks that are multiples of `every`, the old one at others.
static Id only_every(World *w, Diagram *d, Id time, double every, Id next, Id old) {
  Type t = d->wire.at[old].type;
  Each e = each_of(w, t);
  uint32_t clock = each_read(w, &e, time, BASE_R, 0);
  uint32_t a = each_read(w, &e, next, (Base)t.base, t.rank),
           b = each_read(w, &e, old, (Base)t.base, t.rank);
  uint32_t rest = scalar_fn(w, &e.loop, FN_mod, clock, each_number(w, &e, every), 0);
  uint32_t now = scalar_fn(w, &e.loop, FN_lt, rest, each_number(w, &e, 0.5), 0);
  uint32_t all = scalar_fn(w, &e.loop, FN_select, now, a, b);
  e.loop.scalar[all].base = t.base;
  return each_make(w, d, &e);
}

// -- ticks ----------------------------------------------------------------------------------------
typedef struct {
  World *w;
  const System *s;
  Diagram *to, *body;
  Id *map;      // of the system's wires in the body
  Ids outside;  // what the scan reads
  Id time;      // in the body
  bool *carry;  // [param]
} Rows;

static Type row_type(World *w, const Type *t, int64_t n) {
  Axis axis[64];
  axis[0] = (Axis){.label = name_from(w->names, "tick"), .size = size_of(w, n)};
  if (t->rank) memcpy(axis + 1, t->axis, t->rank * sizeof(Axis));
  Type row = *t;
  row.rank = t->rank + 1;
  row.axis = arena_copy(w->arena, axis, row.rank * sizeof(Axis));
  return row;
}

static void add_ports(Rows *r, Scan *scan, const bool *rows, const Id *port, bool slices) {
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

static Id outer_param(Rows *r, uint32_t i) { return add_param(r->w, r->to, r->s->d, i); }

static void add_carries(Rows *r, Scan *scan) {
  const Diagram *d = r->s->d;
  for (uint32_t i = 0; i < r->s->state.n; i++) {
    const SystemState *x = &r->s->state.at[i];
    const Wire *wire = &d->wire.at[d->param.at[x->param].wire];
    if (!x->next) continue;
    r->carry[x->param] = true;
    vec_push(r->w->arena, &r->outside, outer_param(r, x->param));
    r->map[d->param.at[x->param].wire] =
        diagram_input(r->w, r->body, wire->type, wire->name, wire->origin);
    scan->carry++;
  }
  Param clock = {.path = "time", .rooted = true, .role = ROLE_BUFFER, .init = {.kind = INIT_CONST}};
  Type number = {.base = BASE_R};
  Name name = name_from(r->w->names, "time");
  uint32_t k = diagram_param(r->w, r->to, clock, number, name, 0);
  vec_push(r->w->arena, &r->outside, r->to->param.at[k].wire);
  r->time = diagram_input(r->w, r->body, number, name, 0);
  if (r->s->time) r->map[r->s->time] = r->time;
  scan->carry++;
}

// What stays the same is a param of the body too.
static void add_rest(Rows *r) {
  const Diagram *d = r->s->d;
  for (uint32_t i = 0; i < d->param.n; i++) {
    if (r->map[d->param.at[i].wire]) continue;
    r->map[d->param.at[i].wire] = add_param(r->w, r->body, d, i);
  }
}

Diagram *pick_ticks(World *w, const System *s, int64_t ticks, const bool *rows, const Sights *sights,
                    const uint32_t *sight, uint32_t n, const Seen *const *seen, uint32_t nseen) {
  const Diagram *d = s->d;
  Rows r = {.w = w, .s = s, .to = diagram_new(w, s->name), .body = diagram_new(w, s->name)};
  Scan scan = {.axis = {name_from(w->names, "tick"), size_of(w, ticks)}};
  Id *port = NEW_ARRAY(w->arena, Id, d->in.n + 1);
  r.map = new_map(w, d);
  r.carry = NEW_ARRAY(w->arena, bool, d->param.n + 1);
  for (uint32_t i = 0; i < d->in.n; i++) { // inputs in the order of the ports
    const Wire *x = &d->wire.at[d->in.at[i]];
    port[i] = diagram_input(w, r.to, rows[i] ? row_type(w, &x->type, ticks) : x->type, x->name, 0);
  }
  add_ports(&r, &scan, rows, port, true);
  add_carries(&r, &scan);
  add_ports(&r, &scan, rows, port, false);
  add_rest(&r);
  copy_boxes(w, r.body, d, r.map);
  r.body->noisy = r.to->noisy = d->noisy;
  for (uint32_t i = 0; i < s->state.n; i++) {
    const SystemState *x = &s->state.at[i];
    if (!x->next) continue;
    Id next = r.map[x->next], old = r.map[d->param.at[x->param].wire];
    diagram_output(w, r.body, x->every > 1 ? only_every(w, r.body, r.time, x->every, next, old) : next);
  }
  diagram_output(w, r.body, plus_number(w, r.body, r.time, 1));
  for (uint32_t i = 0; i < n; i++)
    diagram_output(w, r.body, r.map[sight_wire(s, &sights->at[sight[i]])]);
  for (uint32_t i = 0; i < nseen; i++)
    diagram_output(w, r.body, paste_seen(w, r.body, s, r.map, sights, seen[i], i));
  for (uint32_t i = 0; i < r.body->param.n; i++) {
    Param p = r.body->param.at[i];
    const Wire *x = &r.body->wire.at[p.wire];
    uint32_t k = diagram_param(w, r.to, p, x->type, x->name, x->origin);
    vec_push(w->arena, &r.outside, r.to->param.at[k].wire);
  }
  scan.body = r.body;
  Id first = box_scan(w, r.to, &scan, r.outside.at, r.outside.n, 0), after = first;
  for (uint32_t i = 0; i < scan.carry; i++) {
    Id start = r.outside.at[scan.slice + i];
    for (uint32_t k = 0; k < r.to->param.n; k++)
      if (r.to->param.at[k].wire == start) r.to->param.at[k].next = after;
    after++;
  }
  for (uint32_t i = 0; i < n + nseen; i++) diagram_output(w, r.to, after + i);
  return flat(w, r.to);
}

// -- rates ----------------------------------------------------------------------------------------
// The rates as a function of the states that flow and the time; everything else is a param.
static Diagram *rates_of(World *w, const System *s) {
  const Diagram *d = s->d;
  Diagram *to = diagram_new(w, name_from(w->names, "rates"));
  Id *map = new_map(w, d);
  copy_inputs(w, to, d, map);
  for (uint32_t i = 0; i < s->state.n; i++) {
    const SystemState *x = &s->state.at[i];
    const Wire *wire = &d->wire.at[d->param.at[x->param].wire];
    if (x->rate)
      map[d->param.at[x->param].wire] = diagram_input(w, to, wire->type, wire->name, wire->origin);
  }
  Id time = diagram_input(w, to, (Type){.base = BASE_R}, name_from(w->names, "time"), 0);
  if (s->time) map[s->time] = time;
  for (uint32_t i = 0; i < d->param.n; i++)
    if (!map[d->param.at[i].wire]) map[d->param.at[i].wire] = add_param(w, to, d, i);
  copy_boxes(w, to, d, map);
  for (uint32_t i = 0; i < s->state.n; i++)
    if (s->state.at[i].rate) diagram_output(w, to, map[s->state.at[i].rate]);
  return flat(w, to);
}

Diagram *pick_tangent(World *w, const System *s) {
  Diagram *f = rates_of(w, s);
  uint32_t flows = f->out.n, ports = s->d->in.n;
  bool *want = NEW_ARRAY(w->arena, bool, f->in.n + 1), *none = NEW_ARRAY(w->arena, bool, f->param.n + 1);
  for (uint32_t i = 0; i < flows; i++) want[ports + i] = true;
  Diagram *g = diagram_forward(w, f, &(Wanted){.want_in = want, .want_param = none});
  uint32_t outs = g->out.n - flows;
  for (uint32_t i = 0; i < flows; i++) g->out.at[i] = g->out.at[outs + i];
  g->out.n = flows;
  return diagram_simplify(w, diagram_inline_all(w, g));
}

// One step in the body of a scan: x is moved in place.
static void one_step(World *w, Diagram *d, Diagram *f, const Id *port, uint32_t ports, Id *x,
                     uint32_t n, Id *time, const Id *param, double h, bool euler) {
  static const double at[4] = {0, 0.5, 0.5, 1};
  Id k[4][1024];
  uint32_t stages = euler ? 1 : 4;
  for (uint32_t stage = 0; stage < stages; stage++) {
    Ids in = {0};
    for (uint32_t i = 0; i < ports; i++) vec_push(w->arena, &in, port[i]);
    for (uint32_t i = 0; i < n; i++)
      vec_push(w->arena, &in, stage ? plus_times(w, d, x[i], h * at[stage], k[stage - 1][i]) : x[i]);
    vec_push(w->arena, &in, stage ? plus_number(w, d, *time, h * at[stage]) : *time);
    for (uint32_t i = 0; i < f->param.n; i++) vec_push(w->arena, &in, param[i]);
    Id first = box_call(w, d, f, in.at, in.n, 0);
    for (uint32_t i = 0; i < n; i++) k[stage][i] = first + i;
  }
  for (uint32_t i = 0; i < n; i++) {
    if (euler) {
      x[i] = plus_times(w, d, x[i], h, k[0][i]);
      continue;
    }
    Id sum = plus_times(w, d, k[0][i], 2, k[1][i]);
    sum = plus_times(w, d, sum, 2, k[2][i]);
    sum = plus_times(w, d, sum, 1, k[3][i]);
    x[i] = plus_times(w, d, x[i], h / 6, sum);
  }
  *time = plus_number(w, d, *time, h);
}

Diagram *pick_steps(World *w, const System *s, int64_t steps, double h, bool euler) {
  Diagram *f = rates_of(w, s), *to = diagram_new(w, s->name), *body = diagram_new(w, s->name);
  uint32_t ports = s->d->in.n, n = f->out.n;
  if (n > 1024) return NULL;
  Scan scan = {.axis = {name_from(w->names, "step"), size_of(w, steps)}, .carry = n + 1, .hold = ports};
  Ids outside = {0};
  Id x[1024], time, *port = NEW_ARRAY(w->arena, Id, ports + 1), *hold = NEW_ARRAY(w->arena, Id, ports + 1);
  // a scan runs along something: a row of zeros that nobody reads
  Type tick = type_make(w, BASE_R, 1, &(Axis){.size = size_of(w, steps)});
  Each zero = each_of(w, tick);
  each_number(w, &zero, 0);
  scan.slice = 1;
  for (uint32_t i = 0; i < ports; i++) {
    const Wire *wire = &f->wire.at[f->in.at[i]];
    hold[i] = diagram_input(w, to, wire->type, wire->name, 0);
  }
  vec_push(w->arena, &outside, each_make(w, to, &zero));
  diagram_input(w, body, (Type){.base = BASE_R}, 0, 0);
  uint32_t at = 0;
  Ids moved = {0};
  for (uint32_t i = 0; i < s->state.n; i++) {
    const SystemState *y = &s->state.at[i];
    if (!y->rate) continue;
    const Param *p = &s->d->param.at[y->param];
    const Wire *wire = &s->d->wire.at[p->wire];
    uint32_t k = diagram_param(w, to, plain_param(p), wire->type, wire->name, 0);
    vec_push(w->arena, &outside, to->param.at[k].wire);
    vec_push(w->arena, &moved, k);
    x[at++] = diagram_input(w, body, wire->type, wire->name, 0);
  }
  Param clock = {.path = "time", .rooted = true, .role = ROLE_BUFFER, .init = {.kind = INIT_CONST}};
  uint32_t t = diagram_param(w, to, clock, (Type){.base = BASE_R}, name_from(w->names, "time"), 0);
  vec_push(w->arena, &outside, to->param.at[t].wire);
  vec_push(w->arena, &moved, t);
  time = diagram_input(w, body, (Type){.base = BASE_R}, name_from(w->names, "time"), 0);
  for (uint32_t i = 0; i < ports; i++) {
    const Wire *wire = &f->wire.at[f->in.at[i]];
    port[i] = diagram_input(w, body, wire->type, wire->name, 0);
    vec_push(w->arena, &outside, hold[i]);
  }
  Id *param = NEW_ARRAY(w->arena, Id, f->param.n + 1);
  for (uint32_t i = 0; i < f->param.n; i++) param[i] = add_param(w, body, f, i);
  one_step(w, body, f, port, ports, x, n, &time, param, h, euler);
  for (uint32_t i = 0; i < n; i++) diagram_output(w, body, x[i]);
  diagram_output(w, body, time);
  for (uint32_t i = 0; i < body->param.n; i++) {
    const Wire *wire = &body->wire.at[body->param.at[i].wire];
    uint32_t k = diagram_param(w, to, body->param.at[i], wire->type, wire->name, 0);
    vec_push(w->arena, &outside, to->param.at[k].wire);
  }
  scan.body = body;
  Id first = box_scan(w, to, &scan, outside.at, outside.n, 0);
  for (uint32_t i = 0; i < moved.n; i++) to->param.at[moved.at[i]].next = first + i;
  diagram_output(w, to, first + n);
  return flat(w, to);
}
