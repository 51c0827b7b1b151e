// next net by adam(0.01) on err unroll 8: truncated backpropagation through time.
//
// The gradient is that of this tick's loss as a function of the weights, had they been the same
// over the last k ticks: starting from the states k - 1 ticks ago, with the recorded inputs, noise
// and clock.
//
//   kept:  ports, noise, `time` and states of the k - 1 ticks before, as states of the system with an
//          axis in front, oldest first; and a bit for each: whether there was such a tick
//   scan:  a tick of the system over these rows; in continuous time, then the flow to the next tick
//          (unroll_flow.c)
//   loss:  of this tick, from the states after the scan
//
// Trained states are held fixed. So unroll 1 is the plain gradient.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/each.h"
#include "core/diagram/ops.h"
#include "lang/machine/unroll_own.h"

// -- dependencies ---------------------------------------------------------------------------------
static bool *needed_by(World *w, const Diagram *d, const Ids *what) {
  bool *need = NEW_ARRAY(w->arena, bool, d->wire.n + 1);
  for (uint32_t i = 0; i < what->n; i++) need[what->at[i]] = true;
  mark_needed(d, need);
  return need;
}

static Id state_wire(const System *s, uint32_t state) {
  return s->d->param.at[s->state.at[state].param].wire;
}

bool unroll_reads(const Unrolling *u, Id wire) {
  return u->judges[wire] || u->steps[wire] || u->rates[wire];
}

static void add_state(Unrolling *u, uint32_t i, Ids *nexts, Ids *rates) {
  const SystemState *x = &u->s->state.at[i];
  u->flows |= x->rate != 0;
  vec_push(u->w->arena, &u->state, i);
  if (x->next) vec_push(u->w->arena, nexts, x->next);
  if (x->rate) vec_push(u->w->arena, rates, x->rate);
}

// Transitive closure: the states the loss depends on. Continuous states are taken all or none.
static bool find_states(Unrolling *u) {
  World *w = u->w;
  Ids what = {0}, nexts = {0}, rates = {0};
  bool *taken = NEW_ARRAY(w->arena, bool, u->s->state.n + 1);
  vec_push(w->arena, &what, u->l->loss);
  u->judges = needed_by(w, u->d, &what);
  for (uint32_t before = UINT32_MAX; before != u->state.n;) {
    before = u->state.n;
    u->steps = needed_by(w, u->d, &nexts);
    u->rates = needed_by(w, u->d, &rates);
    for (uint32_t i = 0; i < u->s->state.n; i++) {
      const SystemState *x = &u->s->state.at[i];
      bool read = unroll_reads(u, state_wire(u->s, i)) || (u->flows && x->rate);
      if (taken[i] || x->held || !read || !(x->next || x->rate)) continue;
      if (x->next && x->every != 1)
        return diag_refuse(w->diags, u->l->span,
                           "`unroll` goes back by ticks, and `%s` does not step at each", x->path);
      taken[i] = true;
      add_state(u, i, &nexts, &rates);
    }
  }
  return unroll_flows_well(u);
}

static bool reaches_weights(const Unrolling *u) {
  for (uint32_t i = 0; i < u->l->weight.n; i++) {
    Id wire = u->d->param.at[u->l->weight.at[i]].wire;
    if (unroll_reads(u, wire)) return true;
  }
  return diag_refuse(u->w->diags, u->l->span, "this loss does not depend on `%s`",
                     name_text(u->w->names, u->l->name));
}

static bool find_kept(Unrolling *u) {
  World *w = u->w;
  Diagram *d = u->d;
  for (uint32_t i = 0; i < u->state.n; i++)
    vec_push(w->arena, &u->kept, state_wire(u->s, u->state.at[i]));
  for (uint32_t i = 0; i < d->in.n; i++)
    if (u->steps[d->in.at[i]] || u->rates[d->in.at[i]]) vec_push(w->arena, &u->kept, d->in.at[i]);
  if (u->flows) unroll_find_ended(u);
  if (u->flows || (u->s->time && u->steps[u->s->time])) vec_push(w->arena, &u->kept, u->s->time);
  for (Id i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    bool read = false;
    for (uint32_t k = 0; k < b->nout; k++) read |= u->steps[b->out[k]];
    if (!read) continue;
    if (b->op != OP_random && draws_noise(b)) // no wire of the system
      return diag_refuse(
          w->diags, u->l->span,
          "`unroll` cannot keep the noise inside of a scan or a box with its own `reverse`");
    if (b->op == OP_random) vec_push(w->arena, &u->kept, b->out[0]);
  }
  return true;
}

// -- history --------------------------------------------------------------------------------------
static Type row_type(World *w, const Type *t, uint32_t rows) {
  return type_along(w, *t, &(Index){name_from(w->names, "ago"), size_of(w, rows)});
}

// Shifts the rows by one tick and appends the present value.
static Id moved_up(World *w, Diagram *d, Id rows, Id now, uint32_t n) {
  Type t = d->wire.at[rows].type;
  Each e = each_of(w, t);
  uint32_t old = each_read(w, &e, rows, (Base)t.base, t.rank),
           new = each_read(w, &e, now, (Base)t.base, t.rank - 1);
  e.in[0].coord[0].c = size_of(w, 1);
  e.in[0].padded = true;
  e.in[1] = access_from(w, 1, t.rank - 1);
  uint32_t at = scalar_push(w, &e.loop, (Scalar){.fn = FN_AT, .base = BASE_R, .ref = 0});
  uint32_t inner = scalar_fn(w, &e.loop, FN_lt, at, each_number(w, &e, n - 1.5), 0);
  scalar_fn(w, &e.loop, FN_select, inner, old, new);
  return each_make(w, d, &e);
}

// Adds a state that records the history of a wire; returns its wire.
static Id keep_rows(Unrolling *u, Id now, Type t) {
  World *w = u->w;
  Diagram *d = u->d;
  uint32_t n = u->l->unroll - 1, number = u->m->rows++;
  const char *path = arena_format(w->arena, "unroll.%u", number + 1);
  Param p = {.path = path, .role = ROLE_BUFFER, .init = {.kind = INIT_CONST}};
  uint32_t k = diagram_param(w, d, p, row_type(w, &t, n), name_from(w->names, path), 0);
  Id rows = d->param.at[k].wire;
  SystemState x = {.param = k, .path = path, .every = 1, .inner = true, .held = true};
  x.next = moved_up(w, d, rows, now, n);
  vec_push(w->arena, &u->s->state, x);
  return rows;
}

// Selects a if the bit is set, else b, which has the last axes of a; the bit has the first.
static Id row_or_now(World *w, Diagram *d, Id bit, Id a, Id b) {
  Type t = d->wire.at[a].type;
  Each e = each_of(w, t);
  uint32_t rank = d->wire.at[b].type.rank;
  uint32_t c = each_read(w, &e, bit, BASE_BIT, d->wire.at[bit].type.rank),
           x = each_read(w, &e, a, (Base)t.base, t.rank),
           y = each_read(w, &e, b, (Base)t.base, rank);
  e.in[2] = access_from(w, t.rank - rank, rank);
  scalar_fn(w, &e.loop, FN_select, c, x, y);
  return each_make(w, d, &e);
}

// -- the diagram ----------------------------------------------------------------------------------
static void copy_needed(World *w, Diagram *to, const Diagram *from, const bool *need, Id *map) {
  for (Id i = 1; i < from->box.n; i++) {
    const Box *b = &from->box.at[i];
    bool any = false;
    for (uint32_t k = 0; k < b->nout; k++) any |= need[b->out[k]] && !map[b->out[k]];
    if (any) copy_box(w, to, from, b, map, b->origin);
  }
  to->noisy |= from->noisy;
}

static void add_rows(Unrolling *u) {
  World *w = u->w;
  Type bit = {.base = BASE_BIT};
  Ids was = {0};
  for (uint32_t i = 0; i < u->kept.n; i++) {
    Type t = row_type(w, &u->d->wire.at[u->kept.at[i]].type, u->l->unroll - 1);
    vec_push(w->arena, &was, diagram_input(w, u->to, t, name_from(w->names, "was"), 0));
  }
  Type bits = row_type(w, &bit, u->l->unroll - 1);
  u->there = diagram_input(w, u->to, bits, name_from(w->names, "there"), 0);
  for (uint32_t i = 0; i < u->kept.n; i++) {
    Id now = u->in_to[u->kept.at[i]];
    vec_push(w->arena, &u->row, row_or_now(w, u->to, u->there, was.at[i], now));
  }
  for (uint32_t i = 0; i < u->ended.n; i++)
    for (uint32_t k = 0; k < u->kept.n; k++)
      if (u->kept.at[k] == u->ended.at[i])
        vec_push(w->arena, &u->end_row,
                 moved_up(w, u->to, u->row.at[k], u->in_to[u->kept.at[k]], u->l->unroll - 1));
}

// Params used in the copied body.
static void add_body_params(Unrolling *u) {
  Diagram *d = u->d;
  for (uint32_t i = 0; i < d->param.n; i++) {
    Param p = d->param.at[i];
    const Wire *x = &d->wire.at[p.wire];
    if (!u->steps[p.wire] || u->in_body[p.wire]) continue;
    p.next = 0;
    uint32_t k = diagram_param(u->w, u->body, p, x->type, x->name, x->origin);
    u->in_body[d->param.at[i].wire] = u->body->param.at[k].wire;
  }
}

// The scan body: one tick. Inputs: a recorded row, the part of it at the next tick, a bit whether
// the tick existed; then the states, and a bit whether they are valid. Outputs: the states after
// it.
static Scan one_tick(Unrolling *u) {
  World *w = u->w;
  Diagram *d = u->d, *body = u->body;
  Type bit = {.base = BASE_BIT};
  uint32_t n = u->state.n;
  Ids slice = {0}, before = {0};
  for (uint32_t i = 0; i < u->kept.n; i++)
    vec_push(w->arena, &slice, diagram_input(w, body, d->wire.at[u->kept.at[i]].type, 0, 0));
  for (uint32_t i = 0; i < u->ended.n; i++)
    u->at_end[i] = diagram_input(w, body, d->wire.at[u->ended.at[i]].type, 0, 0);
  Id there = diagram_input(w, body, bit, 0, 0);
  for (uint32_t i = 0; i < n; i++)
    vec_push(w->arena, &before, diagram_input(w, body, d->wire.at[u->kept.at[i]].type, 0, 0));
  Id going = diagram_input(w, body, bit, 0, 0);
  for (uint32_t i = 0; i < u->kept.n; i++)
    u->in_body[u->kept.at[i]] =
        i < n ? wire_choice(w, body, going, before.at[i], slice.at[i]) : slice.at[i];
  add_body_params(u);
  copy_needed(w, body, d, u->steps, u->in_body);
  Id *after = NEW_ARRAY(w->arena, Id, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    Id next = u->s->state.at[u->state.at[i]].next;
    after[i] = u->in_body[next ? next : u->kept.at[i]];
  }
  if (u->flows) unroll_flow(u, after);
  for (uint32_t i = 0; i < n; i++)
    diagram_output(w, body, wire_choice(w, body, there, after[i], u->in_body[u->kept.at[i]]));
  diagram_output(w, body, there);
  Size rows = size_of(w, u->l->unroll - 1);
  return (Scan){.body = body,
                .slice = u->kept.n + u->ended.n + 1,
                .carry = n + 1,
                .axis = {name_from(w->names, "ago"), rows}};
}

// The present states, recomputed by the scan.
static void add_scan(Unrolling *u) {
  World *w = u->w;
  Type bit = {.base = BASE_BIT};
  uint32_t n = u->state.n;
  Scan scan = one_tick(u);
  Ids in = {0};
  for (uint32_t i = 0; i < u->row.n; i++) vec_push(w->arena, &in, u->row.at[i]);
  for (uint32_t i = 0; i < u->end_row.n; i++) vec_push(w->arena, &in, u->end_row.at[i]);
  vec_push(w->arena, &in, u->there);
  for (uint32_t i = 0; i < n; i++) vec_push(w->arena, &in, u->in_to[u->kept.at[i]]);
  vec_push(w->arena, &in, wire_filled(w, u->to, &bit, 0, 0, 0));
  for (uint32_t i = 0; i < u->body->param.n; i++)
    for (uint32_t k = 0; k < u->d->param.n; k++)
      if (u->in_body[u->d->param.at[k].wire] == u->body->param.at[i].wire)
        vec_push(w->arena, &in, u->in_to[u->d->param.at[k].wire]);
  Id first = box_scan(w, u->to, &scan, in.at, in.n, 0);
  for (uint32_t i = 0; i < n; i++) {
    Id now = u->in_to[u->kept.at[i]];
    u->in_to[u->kept.at[i]] = wire_choice(w, u->to, first + n, first + i, now);
  }
}

Diagram *unrolled_loss(MachineBuilder *m, const Learned *l, Ids *more) {
  World *w = m->w;
  Unrolling u = {.m = m, .w = w, .s = m->s, .d = m->s->d, .l = l};
  if (!find_states(&u) || !reaches_weights(&u) || !find_kept(&u)) return NULL;
  u.to = diagram_new(w, u.d->name);
  u.body = diagram_new(w, u.d->name);
  u.in_to = new_map(w, u.d);
  u.in_body = new_map(w, u.d);
  u.at_end = NEW_ARRAY(w->arena, Id, u.ended.n + 1);
  copy_inputs(w, u.to, u.d, u.in_to);
  copy_params(w, u.to, u.d, u.in_to);
  for (uint32_t i = 0; i < u.kept.n; i++) // the same draw as in the system
    if (!u.in_to[u.kept.at[i]])
      copy_box(w, u.to, u.d, &u.d->box.at[u.d->wire.at[u.kept.at[i]].box], u.in_to, 0);
  if (u.state.n) {
    add_rows(&u);
    add_scan(&u);
  }
  copy_needed(w, u.to, u.d, u.judges, u.in_to);
  diagram_output(w, u.to, u.in_to[l->loss]);
  Type bit = {.base = BASE_BIT};
  for (uint32_t i = 0; i < u.kept.n; i++)
    vec_push(w->arena, more, keep_rows(&u, u.kept.at[i], u.d->wire.at[u.kept.at[i]].type));
  if (u.state.n) vec_push(w->arena, more, keep_rows(&u, wire_filled(w, u.d, &bit, 1, 0, 0), bit));
  return u.to;
}
