// Switches: comparisons, rounding and signs in rates, which make the rates discontinuous.
//
// In: the rates of a system, the delayed values, and the conditions of its events. Out: one diagram
// with all of them, in which every switch of the rates reads its last known value (`held`), so the
// rates are smooth while no switch turns; for each switch, a guard that rises through 0 where its
// value would change, which the solver locates like an event; and the actual value of each switch,
// which is read when it turns. Conditions of events read no held values. A switch that turns
// repeatedly at one place is released: it is evaluated at every point, and the solver sees its
// jumps.
//
// In the body of a scan (a chain of parts) each iteration has its own switches: held values are
// slices of the scan, each carry exists twice, with actual and with held values, and guards are
// emitted.
//
// Only switches that change in continuous time are held, not comparisons of indices or of values
// that events alone change. Equality, sorting, and loops with too many cells are not held either.
#include "core/diagram/each.h"
#include "core/diagram/ops.h"
#include "core/diagram/print.h"
#include "run/sim/rates_own.h"

#include "core/pass/pass.h"

#include <assert.h>
#include <math.h>

enum { CELLS_HELD = 1 << 16 };

typedef struct Switching Switching;
struct Switching {
  World *w;
  const Diagram *from;
  Diagram *to;
  Id *live, *held;   // [wire of from] the wire in `to`, with actual and with held values
  bool *moves;       // [wire of from] does it change between events?
  Ids guard, value;  // in `to`, one for each switch
  Counts cells;      // of each switch
  VEC(uint8_t) bits; // is it a comparison?
  int64_t all;
  bool jumps;          // some discontinuity is not held
  Switching *around;   // the diagram with the scan whose body is `from`; or NULL
  const Scan *scan;    // that scan
  int64_t steps;       // number of iterations of `from`; 1: not a body
  Ids slice, slice_of; // states that the body reads, in `to` and in the `to` of the surrounding
                       // diagram
};

// -- what changes between events ------------------------------------------------------------------
static bool *scalars_moving(const Switching *x, const Box *b) {
  const Loop *l = b->loop;
  bool *moves = NEW_ARRAY(x->w->arena, bool, l->nscalar + 1);
  for (uint32_t i = 0; i < l->nscalar; i++) {
    const Scalar *s = &l->scalar[i];
    if (s->fn == FN_ARG) moves[i] = x->moves[b->in[s->ref]];
    for (uint32_t k = 0; k < fn_rows[s->fn].arity; k++) moves[i] |= moves[s->arg[k]];
  }
  return moves;
}

static bool may_turn(const Loop *l, const Scalar *s) {
  switch (s->fn) {
  case FN_lt:
  case FN_le: return l->scalar[s->arg[0]].base == BASE_R;
  case FN_sign:
  case FN_floor:
  case FN_mod: return true;
  default: return false;
  }
}

static bool jumps_otherwise(const Loop *l, const Scalar *s) {
  bool equal = s->fn == FN_eq || s->fn == FN_ne;
  return s->fn == FN_bit || (equal && l->scalar[s->arg[0]].base == BASE_R);
}

static bool any_inside(const Diagram *d) {
  for (Id i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    if (b->op == OP_scan && any_inside(b->scan->body)) return true;
    for (uint32_t k = 0; b->op == OP_loop && k < b->loop->nscalar; k++)
      if (may_turn(b->loop, &b->loop->scalar[k]) || jumps_otherwise(b->loop, &b->loop->scalar[k]))
        return true;
  }
  return false;
}

// -- one switch -----------------------------------------------------------------------------------
typedef struct { // the part of the loop that is copied so far, and its operands
  Loop loop;
  Ids in;
  uint32_t *at; // [scalar of the old loop] the new scalar
} SwitchLoop;

static Type over_indices(World *w, const Loop *l) {
  Axis *axis = NEW_ARRAY(w->arena, Axis, l->nindex + 1);
  for (uint32_t i = 0; i < l->nindex; i++) axis[i] = (Axis){.size = l->index[i].size};
  return type_make(w, BASE_R, l->nindex, axis);
}

static bool has_room(Switching *x, const Loop *l) {
  int64_t n;
  Type t = over_indices(x->w, l);
  if (!type_count(x->w, &t, &n) || n < 1 || n > (CELLS_HELD - x->all) / x->steps) return false;
  n *= x->steps;
  x->all += n;
  vec_push(x->w->arena, &x->cells, n);
  return true;
}

static uint32_t number_of_next(const Switching *x) {
  return x->guard.n + (x->around ? number_of_next(x->around) : 0);
}

// A state of the run; in the body of a scan, a slice of it.
static Id state_wire(Switching *x, Type t, const char *path) {
  World *w = x->w;
  if (x->around) {
    Id outside = state_wire(x->around, type_along(w, t, &x->scan->axis), path);
    Id inside = diagram_wire(w, x->to, t, 0, 0);
    vec_push(w->arena, &x->slice_of, outside);
    vec_push(w->arena, &x->slice, inside);
    return inside;
  }
  Param p = {.path = path, .rooted = true, .role = ROLE_BUFFER, .init.kind = INIT_CONST};
  uint32_t k = diagram_param(w, x->to, p, t, 0, 0);
  return x->to->param.at[k].wire;
}

// A state of the run that the loop reads at each point.
static uint32_t read_state(Switching *x, SwitchLoop *l, const char *what) {
  World *w = x->w;
  const char *path = arena_format(w->arena, "switch.%u/%s", number_of_next(x), what);
  Id state = state_wire(x, over_indices(w, &l->loop), path);
  uint32_t n = l->loop.nin;
  Access *in = NEW_ARRAY(w->arena, Access, n + 1);
  if (n) memcpy(in, l->loop.in, n * sizeof *in);
  in[n] = access_from(w, 0, l->loop.nindex);
  l->loop.in = in, l->loop.nin = n + 1;
  vec_push(w->arena, &l->in, state);
  return scalar_push(w, &l->loop, (Scalar){.fn = FN_ARG, .base = BASE_R, .ref = n});
}

static uint32_t constant(World *w, Loop *l, double k) {
  return scalar_push(w, l, (Scalar){.fn = FN_CONST, .base = BASE_R, .k = k});
}

// An expression that is above 0 if the switch would have another value than `held`. a, b: its
// operands; h: the held value. Equality is decided by adding the smallest number that changes
// nothing else.
static const char *turning_text(Fn fn) {
  switch (fn) {
  case FN_lt: return "select(h > 0, a - b + 1e-300, b - a)";
  case FN_le: return "select(h > 0, a - b, b - a + 1e-300)";
  case FN_sign: return "select(h > 0, 1e-300 - a, select(h < 0, a + 1e-300, abs(a)))";
  case FN_floor: return "maximum(a - h - 1 + 1e-300, h - a)";
  default: return "maximum(a/b - h - 1 + 1e-300, h - a/b)"; // mod
  }
}

static const char *value_text(Fn fn) {
  return fn == FN_mod ? "floor(a/b)" : fn == FN_floor ? "floor(a)" : "sign(a)";
}

static uint32_t push_expression(World *w, Loop *l, const char *text, const uint32_t value[3]) {
  static const char *const name[] = {"a", "b", "h"};
  uint32_t out = 0;
  bool good = scalar_read(w, l, text, name, value, 3, &out);
  assert(good);
  (void)good;
  return out;
}

static Id push_loop(Switching *x, const Loop *l, const Ids *in, Id origin) {
  Loop own = *l;
  own.combine = SUM;
  own.out = access_from(x->w, 0, l->nindex);
  return box_loop(x->w, x->to, &own, in->at, in->n, over_indices(x->w, l), origin);
}

// Adds the actual value of the switch as a number.
static void add_value(Switching *x, const Box *b, uint32_t i) {
  Loop *l = loop_copy(x->w, b->loop);
  const Scalar *s = &b->loop->scalar[i];
  Ids in = {0};
  for (uint32_t k = 0; k < b->nin; k++) vec_push(x->w->arena, &in, x->live[b->in[k]]);
  l->nscalar = 0, l->scalar = NULL; // reset for scalar_push
  for (uint32_t k = 0; k <= i; k++) scalar_push(x->w, l, b->loop->scalar[k]);
  const uint32_t value[] = {s->arg[0], s->arg[fn_rows[s->fn].arity - 1], i};
  if (s->base == BASE_BIT)
    scalar_fn(x->w, l, FN_number, i, 0, 0);
  else
    push_expression(x->w, l, value_text(s->fn), value);
  vec_push(x->w->arena, &x->value, push_loop(x, l, &in, b->origin));
  vec_push(x->w->arena, &x->bits, s->base == BASE_BIT);
}

static uint32_t copied(World *w, SwitchLoop *l, Scalar s) {
  for (uint32_t k = 0; k < fn_rows[s.fn].arity; k++) s.arg[k] = l->at[s.arg[k]];
  return scalar_push(w, &l->loop, s);
}

static uint32_t add_switch(Switching *x, SwitchLoop *l, const Box *b, uint32_t i) {
  World *w = x->w;
  Scalar s = b->loop->scalar[i];
  uint32_t held = read_state(x, l, "held"), flag = read_state(x, l, "loose");
  uint32_t loose = scalar_fn(w, &l->loop, FN_bit, flag, 0, 0);
  const uint32_t value[] = {l->at[s.arg[0]], l->at[s.arg[fn_rows[s.fn].arity - 1]], held};
  Loop *g = loop_copy(w, &l->loop);
  uint32_t turn = push_expression(w, g, turning_text(s.fn), value);
  scalar_fn(w, g, FN_select, loose, constant(w, g, -1), turn);
  add_value(x, b, i);
  vec_push(w->arena, &x->guard, push_loop(x, g, &l->in, b->origin));
  uint32_t live = copied(w, l, s), still = held;
  if (s.base == BASE_BIT) still = scalar_fn(w, &l->loop, FN_bit, held, 0, 0);
  if (s.fn == FN_mod) still = push_expression(w, &l->loop, "a - b*h", value);
  return scalar_fn(w, &l->loop, FN_select, loose, live, still);
}

// -- the diagram ----------------------------------------------------------------------------------
static void switch_loop(Switching *x, const Box *b, const bool *moves) {
  World *w = x->w;
  SwitchLoop l = {.loop = *b->loop, .at = NEW_ARRAY(w->arena, uint32_t, b->loop->nscalar + 1)};
  for (uint32_t k = 0; k < b->nin; k++) vec_push(w->arena, &l.in, x->held[b->in[k]]);
  l.loop.nscalar = 0, l.loop.scalar = NULL;
  for (uint32_t i = 0; i < b->loop->nscalar; i++) {
    const Scalar *s = &b->loop->scalar[i];
    bool turns = moves[i] && may_turn(b->loop, s), holds = turns && has_room(x, b->loop);
    x->jumps |= (turns && !holds) || (moves[i] && jumps_otherwise(b->loop, s));
    l.at[i] = holds ? add_switch(x, &l, b, i) : copied(w, &l, *s);
  }
  Id first =
      box_loop(w, x->to, &l.loop, l.in.at, l.in.n, x->from->wire.at[b->out[0]].type, b->origin);
  for (uint32_t i = 0; i < b->nout; i++) x->held[b->out[i]] = first + i;
}

static bool has_switch(const Box *b, const bool *moves) {
  for (uint32_t i = 0; i < b->loop->nscalar; i++) {
    const Scalar *s = &b->loop->scalar[i];
    if (moves[i] && (may_turn(b->loop, s) || jumps_otherwise(b->loop, s))) return true;
  }
  return false;
}

static void switch_box(Switching *, const Box *);

// Copies the body of a scan with its switches; its inputs exist twice, with actual and with held
// values.
static void switch_body(Switching *y, const Box *b) {
  World *w = y->w;
  Switching *x = y->around;
  const Diagram *body = y->from;
  y->to = diagram_new(w, body->name);
  y->live = new_map(w, body), y->held = new_map(w, body);
  y->moves = NEW_ARRAY(w->arena, bool, body->wire.n + 1);
  copy_inputs(w, y->to, body, y->held);
  copy_inputs(w, y->to, body, y->live);
  copy_params(w, y->to, body, y->live);
  for (uint32_t i = 0; i < b->nin; i++) {
    Id wire = diagram_source(body, i);
    bool carry = i >= y->scan->slice && i < y->scan->slice + y->scan->carry;
    y->moves[wire] = carry || x->moves[b->in[i]];
    if (i >= body->in.n) y->held[wire] = y->live[wire];
  }
  for (Id i = 1; i < body->box.n; i++) switch_box(y, &body->box.at[i]);
}

// The operands of a scan in its order: slices, carries, then broadcasts; for the body or for the
// box.
static Ids inputs_of(const Switching *y, const Id *live, const Id *held, const Ids *states) {
  const Scan *s = y->scan;
  Arena *a = y->w->arena;
  Ids in = {0};
  const uint32_t end[] = {s->slice, s->slice + s->carry, s->slice + s->carry + s->hold};
  for (uint32_t k = 0, from = 0; k < COUNT(end); from = end[k++]) {
    for (uint32_t i = from; i < end[k]; i++) vec_push(a, &in, live[i]);
    for (uint32_t i = from; i < end[k]; i++) vec_push(a, &in, held[i]);
    for (uint32_t i = 0; !k && i < states->n; i++) vec_push(a, &in, states->at[i]);
  }
  return in;
}

static void mapped(const Switching *y, const Id *wire, uint32_t n, Ids *live, Ids *held) {
  for (uint32_t i = 0; i < n; i++) {
    vec_push(y->w->arena, live, y->live[wire[i]]);
    vec_push(y->w->arena, held, y->held[wire[i]]);
  }
}

static void body_outputs(const Switching *y) {
  World *w = y->w;
  const Ids *out = &y->from->out;
  const uint32_t end[] = {y->scan->carry, out->n};
  for (uint32_t k = 0, from = 0; k < COUNT(end); from = end[k++]) {
    for (uint32_t i = from; i < end[k]; i++) diagram_output(w, y->to, y->live[out->at[i]]);
    for (uint32_t i = from; i < end[k]; i++) diagram_output(w, y->to, y->held[out->at[i]]);
  }
  for (uint32_t i = 0; i < y->guard.n; i++) diagram_output(w, y->to, y->guard.at[i]);
  for (uint32_t i = 0; i < y->value.n; i++) diagram_output(w, y->to, y->value.at[i]);
}

// The outputs of the switched scan: with actual values, with held values, then the switches of its
// body.
static void map_outputs(const Switching *y, const Box *b, Id first) {
  Switching *x = y->around;
  Arena *a = x->w->arena;
  uint32_t carry = y->scan->carry;
  for (uint32_t i = 0; i < b->nout; i++) {
    uint32_t n = i < carry ? carry : b->nout - carry, at = i < carry ? i : carry + i;
    x->live[b->out[i]] = first + at;
    x->held[b->out[i]] = first + at + n;
  }
  first += 2 * b->nout;
  for (uint32_t i = 0; i < y->guard.n; i++) {
    vec_push(a, &x->guard, first + i);
    vec_push(a, &x->value, first + y->guard.n + i);
    vec_push(a, &x->cells, y->cells.at[i]);
    vec_push(a, &x->bits, y->bits.at[i]);
  }
  x->all = y->all;
}

// The body must not learn or write states: a next value would be written twice.
static bool body_is_plain(const Switching *x, const Box *b) {
  const Diagram *body = b->scan->body;
  for (uint32_t i = 0; i < body->param.n; i++) {
    Id wire = b->in[body->in.n + i];
    if (body->param.at[i].next || x->live[wire] != x->held[wire]) return false;
  }
  return !body->noisy;
}

// Switches in the body of a scan; false: the scan is copied unchanged.
static bool switch_scan(Switching *x, const Box *b) {
  World *w = x->w;
  Switching y = {.w = w, .from = b->scan->body, .around = x, .scan = b->scan, .all = x->all};
  if (!size_value(w, b->scan->axis.size, &y.steps) || y.steps < 1 || !body_is_plain(x, b) ||
      x->steps > CELLS_HELD / y.steps) {
    x->jumps = true;
    return false;
  }
  y.steps *= x->steps;
  switch_body(&y, b);
  x->jumps |= y.jumps;
  if (!y.guard.n) return false;
  Ids live = {0}, held = {0};
  mapped(&y, y.from->in.at, y.from->in.n, &live, &held);
  y.to->in = inputs_of(&y, live.at, held.at, &y.slice);
  body_outputs(&y);
  live.n = held.n = 0;
  mapped(x, b->in, y.from->in.n, &live, &held);
  Ids in = inputs_of(&y, live.at, held.at, &y.slice_of);
  for (uint32_t i = y.from->in.n; i < b->nin; i++) vec_push(w->arena, &in, x->live[b->in[i]]);
  Scan twice = *b->scan;
  twice.body = y.to;
  twice.slice = 2 * twice.slice + y.slice.n, twice.carry *= 2, twice.hold *= 2;
  map_outputs(&y, b, box_scan(w, x->to, &twice, in.at, in.n, b->origin));
  return true;
}

// Copies a box for actual and for held values, if these differ.
static void switch_box(Switching *x, const Box *b) {
  bool same = true, moves = false;
  for (uint32_t i = 0; i < b->nin; i++) {
    same &= x->held[b->in[i]] == x->live[b->in[i]];
    moves |= x->moves[b->in[i]];
  }
  for (uint32_t i = 0; i < b->nout; i++) x->moves[b->out[i]] = moves;
  x->jumps |= moves && b->op == OP_order;
  if (moves && b->op == OP_scan && any_inside(b->scan->body) && switch_scan(x, b)) return;
  copy_box(x->w, x->to, x->from, b, x->live, b->origin);
  const bool *scalars = b->op == OP_loop ? scalars_moving(x, b) : NULL;
  if (scalars && has_switch(b, scalars))
    switch_loop(x, b, scalars);
  else if (!same)
    copy_box(x->w, x->to, x->from, b, x->held, b->origin);
  else
    for (uint32_t i = 0; i < b->nout; i++) x->held[b->out[i]] = x->live[b->out[i]];
}

// Does it change between events? Not weights, constants, and states that only events and ticks set.
static bool is_moved(const Flow *f, const Param *p) {
  const System *s = f->m->s;
  for (uint32_t i = 0; i < s->state.n; i++)
    if (!strcmp(p->path, s->d->param.at[s->state.at[i].param].path)) return s->state.at[i].rate;
  return p->role != ROLE_WEIGHT && p->role != ROLE_CONST;
}

static void find_moving(const Flow *f, Switching *x) {
  const Diagram *d = x->from;
  const Run *run = f->m->run;
  x->moves = NEW_ARRAY(x->w->arena, bool, d->wire.n + 1);
  for (uint32_t i = 0; i < d->in.n; i++) x->moves[d->in.at[i]] = run->path || run->set;
  for (uint32_t i = 0; i < d->param.n; i++)
    x->moves[d->param.at[i].wire] = is_moved(f, &d->param.at[i]);
}

// The first `held` outputs read held values, the others actual ones; then guards, then values of
// switches.
static Switching switch_all(const Flow *f, const Diagram *from, uint32_t held) {
  World *w = f->m->w;
  Switching x = {
      .w = w, .from = from, .to = diagram_new(w, from->name), .live = new_map(w, from), .steps = 1};
  copy_inputs(w, x.to, from, x.live);
  copy_params(w, x.to, from, x.live);
  find_moving(f, &x);
  x.held = new_map(w, from);
  memcpy(x.held, x.live, from->wire.n * sizeof(Id));
  for (Id i = 1; i < from->box.n; i++) switch_box(&x, &from->box.at[i]);
  for (uint32_t i = 0; i < from->out.n; i++)
    diagram_output(w, x.to, (i < held ? x.held : x.live)[from->out.at[i]]);
  for (uint32_t i = 0; i < x.guard.n; i++) diagram_output(w, x.to, x.guard.at[i]);
  for (uint32_t i = 0; i < x.value.n; i++) diagram_output(w, x.to, x.value.at[i]);
  return x;
}

static void add_wires(Arena *a, Ids *to, const Ids *from) {
  for (uint32_t i = 0; i < from->n; i++) vec_push(a, to, from->at[i]);
}

void switches_find(Flow *f, const FlowWires *of) {
  Sim *m = f->m;
  FlowSwitches *s = &f->switches;
  Ids all = {0};
  add_wires(m->arena, &all, &of->rate);
  add_wires(m->arena, &all, &of->delayed);
  add_wires(m->arena, &all, &of->guard);
  Switching x = switch_all(f, pick_whole(m->w, m->s, all.at, all.n), of->rate.n + of->delayed.n);
  f->problem.jumps = x.jumps;
  if (!x.guard.n) return;
  *s = (FlowSwitches){.d = x.to, .cells = x.cells, .n = (uint32_t)x.all};
  s->rates = of->rate.n, s->to_delay = of->delayed.n, s->guards = of->guard.n;
  s->bit = NEW_ARRAY(m->arena, bool, s->n + 1);
  s->row = NEW_ARRAY(m->arena, double, s->n + 1);
  s->kept = NEW_ARRAY(m->arena, double, s->n + 1);
  for (uint32_t i = 0, at = 0; i < x.cells.n; i++)
    for (int64_t k = 0; k < x.cells.at[i]; k++) s->bit[at++] = x.bits.at[i];
}

static Diagram *pick_outputs(const Flow *f, uint32_t first, uint32_t n) {
  World *w = f->m->w;
  Diagram d = *f->switches.d;
  d.out = (Ids){.at = d.out.at + first, .n = n, .cap = n};
  return diagram_fuse(w, diagram_simplify(w, diagram_prune(w, &d)));
}

Diagram *switched_rates(const Flow *f) { return pick_outputs(f, 0, f->switches.rates); }

Diagram *switched_to_delay(const Flow *f) {
  return pick_outputs(f, f->switches.rates, f->switches.to_delay);
}

Diagram *switched_guards(const Flow *f) {
  const FlowSwitches *s = &f->switches;
  return pick_outputs(f, s->rates + s->to_delay, s->guards + s->cells.n);
}

// -- at run time ----------------------------------------------------------------------------------
static State *state_of(const Flow *f, uint32_t i, const char *what) {
  return store_find(f->m->store, arena_format(f->m->arena, "switch.%u/%s", i, what));
}

bool switches_open(Flow *f) {
  FlowSwitches *s = &f->switches;
  uint32_t n = s->cells.n;
  if (!n) return true;
  s->values = sim_engine(f->m, pick_outputs(f, s->rates + s->to_delay + s->guards + n, n));
  s->held = NEW_ARRAY(f->m->arena, State *, n);
  s->loose = NEW_ARRAY(f->m->arena, State *, n);
  for (uint32_t i = 0; s->values && i < n; i++) {
    s->held[i] = state_of(f, i, "held");
    s->loose[i] = state_of(f, i, "loose");
  }
  return s->values != NULL;
}

bool switches_turn(void *flow, double t, const double *x, const double *delayed) {
  Flow *f = flow;
  FlowSwitches *s = &f->switches;
  bool finite; // values that are not finite are ignored
  flow_set_point(f, t, x, delayed);
  if (!sim_run_trial(f->m, s->values, 0, &finite)) return false;
  for (uint32_t i = 0; i < s->cells.n; i++) {
    engine_get(s->values, i, s->row, s->cells.at[i]);
    for (int64_t k = 0; k < s->cells.at[i]; k++)
      if (!isfinite(s->row[k])) s->row[k] = 0;
    state_set(s->held[i], s->row);
  }
  return true;
}

void switches_release_all(Flow *f, bool free) {
  FlowSwitches *s = &f->switches;
  double *kept = s->kept;
  for (uint32_t i = 0; i < s->cells.n; kept += s->cells.at[i++]) {
    if (free) state_get(s->loose[i], kept);
    for (int64_t k = 0; free && k < s->cells.at[i]; k++) s->row[k] = 1;
    state_set(s->loose[i], free ? s->row : kept);
  }
}

void switches_release(void *flow, uint32_t which) {
  FlowSwitches *s = &((Flow *)flow)->switches;
  uint32_t i = 0;
  for (; which >= s->cells.at[i]; i++) which -= (uint32_t)s->cells.at[i];
  state_get(s->loose[i], s->row);
  s->row[which] = 1;
  state_set(s->loose[i], s->row);
}

// NAN becomes the smallest number.
void switches_replace_nan(const Flow *f, double *turn) {
  const FlowSwitches *s = &f->switches;
  const double far = 1e300;
  bool odd = false;
  for (uint32_t i = 0; i < s->n; i++) odd |= !(fabs(turn[i]) <= far);
  if (!odd) return;
  double *row = s->row;
  for (uint32_t i = 0; i < s->cells.n; row += s->cells.at[i++]) state_get(s->held[i], row);
  for (uint32_t i = 0; i < s->n; i++)
    if (isnan(turn[i]))
      turn[i] = s->bit[i] && s->row[i] > 0 ? 1 : -1;
    else
      turn[i] = fmax(fmin(turn[i], far), -far);
}
