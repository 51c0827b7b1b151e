// Connects a lens and its parts into one flat system.
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "core/diagram/each.h"
#include "core/diagram/ops.h"
#include "core/diagram/subst.h"
#include "core/pass/pass.h"
#include "core/pass/rewrite.h"
#include "lang/declare/statements.h"
#include "lang/machine/machine_own.h"
#include "lang/machine/units.h"

// -- ports and states -----------------------------------------------------------------------------
// Checks that a port has a value in every mode in which it is open.
static void check_port(MachineBuilder *m, uint32_t at) {
  World *w = m->w;
  const Port *port = &m->s->out.at[at];
  uint64_t said = 0;
  bool always = false;
  for (uint32_t i = last_change(m, CHANGE_PORT, at); i; i = m->change.at[i - 1].before) {
    const Change *c = &m->change.at[i - 1];
    if (c->mode == ANY_MODE)
      always = true;
    else
      said |= mode_bits(m, c->mode);
  }
  if (always || m->s->shares) return;
  uint64_t all = m->s->mode.n >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << m->s->mode.n) - 1;
  for (uint32_t k = 0; k < m->s->mode.n; k++)
    if (port->modes >> k & 1 && !(said >> k & 1)) {
      diag_error(w->diags, port->span, "port `%s` is not defined in mode `%s`",
                 name_text(w->names, port->name), name_text(w->names, m->s->mode.at[k]));
      return;
    }
  if (!m->s->mode.n || (port->modes & all) == 0) {
    Nearest near = nearest_to(name_text(w->names, port->name));
    for (uint32_t i = 0; i < m->s->own.n; i++)
      nearest_try(&near, name_text(w->names, m->s->own.at[i].name));
    Id e = diag_error(w->diags, port->span, "port `%s` is not defined", near.text);
    diag_help(w->diags, e, "an equation says what it shows: `%s = %s`", near.text,
              near.best ? near.best : "…");
  }
}

static void settle_ports(MachineBuilder *m) {
  World *w = m->w;
  for (uint32_t i = 0; i < m->s->out.n; i++) {
    const Port *port = &m->s->out.at[i];
    const char *what = arena_format(w->arena, "port `%s`", name_text(w->names, port->name));
    check_port(m, i);
    Id wire = fold_changes(m, CHANGE_PORT, i, 0, &port->type, what);
    if (m->s->shares && i < m->s->in.n) note_sharers(m, i);
    if (!wire) {
      Val zero = filled_value(m, 0, &port->type, port->span);
      wire = val_to_wire(m->b, &zero, 0);
    }
    bool mode = m->s->shares && i >= m->s->in.n; // the mode follows the variables
    diagram_output(w, m->b->d, mode ? wire : live_shown(m, &port->type, wire));
  }
  for (uint32_t i = 0; i < m->target.n; i++) {
    LineTarget *t = &m->target.at[i];
    if (t->part) diagram_output(w, m->b->d, t->wire);
  }
}

static bool is_shared(const MachineBuilder *m, uint32_t own) {
  for (uint32_t i = 0; i < m->s->junction.n; i++)
    if (m->s->junction.at[i].name == m->s->own.at[own].name) return true;
  return false;
}

static void settle_states(MachineBuilder *m) {
  World *w = m->w;
  for (uint32_t i = 0; i < m->s->own.n; i++) {
    const Held *held = &m->held.at[i];
    const char *name = name_text(w->names, m->s->own.at[i].name);
    SystemState s = {
        .param = held->param, .path = name, .every = 1, .constrained = held->constrained};
    s.rate = fold_changes(m, CHANGE_RATE, i, 0, &held->own, arena_format(w->arena, "`%s'`", name));
    s.next = fold_changes(m, CHANGE_NEXT, i, held->wire, &held->own,
                          arena_format(w->arena, "`next %s`", name));
    if (s.next == held->wire) s.next = 0;
    note_writers(m, i);
    s.next = s.rate ? s.next : live_next(m, i, s.next);
    s.rate = live_rate(m, i, s.rate);
    s.reborn = m->alive != 0;
    if (s.rate && s.next) {
      Id e = diag_error(w->diags, m->s->own.at[i].span,
                        is_shared(m, i) ? "`%s` has a rate, which shares add up to, and a `next %s`"
                                        : "`%s` has a rate, `%s' = …`, and a `next %s`",
                        name, name, name);
      diag_help(w->diags, e, "what flows is set by events: `next %s = … when …`", name);
    }
    vec_push(w->arena, &m->s->state, s);
    m->s->flows |= s.rate != 0;
  }
  add_birth(m);
}

// Sums what the parts add to shared variables.
static void settle_junctions(MachineBuilder *m) {
  for (uint32_t i = 0; i < m->s->junction.n; i++) {
    const Junction *j = &m->s->junction.at[i];
    bool flows = false;
    for (uint32_t k = 0; k < j->member.n; k++)
      flows |= m->s->part.at[j->member.at[k].end.part - 1].of->flows;
    int state = own_state(m, j->name);
    Id sum = sum_of_members(m, i);
    Span span = m->def->span;
    if (state < 0) {
      int port = port_named(m->s->in.at, m->s->in.n, j->name);
      add_change_always(m, CHANGE_PORT, (uint32_t)port, sum, span);
      continue;
    }
    if (!flows) {
      Val pair[2] = {val_wire(m->b, m->held.at[state].wire, span), val_wire(m->b, sum, span)};
      sum = fit_value(m, val_fn(m->b, FN_add, pair, 2, span, NULL), &m->held.at[state].own, span,
                      "a shared variable");
    }
    add_change_always(m, flows ? CHANGE_RATE : CHANGE_NEXT, (uint32_t)state, sum, span);
  }
}

// -- flattening -----------------------------------------------------------------------------------
typedef VEC(Id *) WirePlaces;

static void wires_of(MachineBuilder *m, WirePlaces *p) {
  System *s = m->s;
  Arena *a = m->w->arena;
  for (uint32_t i = 0; i < s->state.n; i++) {
    if (s->state.at[i].rate) vec_push(a, p, &s->state.at[i].rate);
    if (s->state.at[i].next) vec_push(a, p, &s->state.at[i].next);
  }
  for (uint32_t i = 0; i < s->event.n; i++) {
    vec_push(a, p, &s->event.at[i].guard);
    for (uint32_t k = 0; k < s->event.at[i].value.n; k++) {
      vec_push(a, p, &s->event.at[i].value.at[k]);
      if (s->event.at[i].named.at[k]) vec_push(a, p, &s->event.at[i].named.at[k]);
    }
  }
  for (uint32_t i = 0; i < s->writer.n; i++) {
    SystemWriter *x = &s->writer.at[i];
    if (x->when) vec_push(a, p, &x->when);
    if (x->named) vec_push(a, p, &x->named);
    vec_push(a, p, &x->value);
  }
  for (uint32_t i = 0; i < s->lag.n; i++) vec_push(a, p, &s->lag.at[i].value);
  for (uint32_t i = 0; i < s->line.n; i++) vec_push(a, p, &s->line.at[i].wire);
  for (uint32_t i = 0; i < m->learned.n; i++) {
    vec_push(a, p, &m->learned.at[i].loss);
    if (m->learned.at[i].when) vec_push(a, p, &m->learned.at[i].when);
    for (uint32_t k = 0; k < m->learned.at[i].becomes.n; k++)
      vec_push(a, p, &m->learned.at[i].becomes.at[k]);
  }
  if (m->alive) vec_push(a, p, &m->alive);
  for (uint32_t i = 0; i < s->halt.n; i++) vec_push(a, p, &s->halt.at[i].is);
  for (uint32_t i = 0; i < m->born.n; i++)
    if (m->born.at[i]) vec_push(a, p, &m->born.at[i]);
}

// Inlines calls, so that only true algebraic loops are cycles.
static void flatten_lens(MachineBuilder *m) {
  World *w = m->w;
  Diagram *d = m->b->d;
  bool calls = false;
  for (Id i = 1; i < d->box.n; i++) calls |= d->box.at[i].op == OP_call;
  if (!calls) {
    m->s->lens = d;
    return;
  }
  WirePlaces places = {0};
  wires_of(m, &places);
  uint32_t outs = d->out.n;
  for (uint32_t i = 0; i < places.n; i++) diagram_output(w, d, *places.at[i]);
  diagram_resolve(w, d);
  Diagram *flat = diagram_inline(w, d);
  for (uint32_t i = 0; i < places.n; i++) *places.at[i] = flat->out.at[outs + i];
  d->out.n = flat->out.n = outs;
  m->s->lens = flat;
}

static uint32_t *params_by_wire(World *w, const Diagram *d) {
  uint32_t *param = NEW_ARRAY(w->arena, uint32_t, d->wire.n);
  for (uint32_t i = 0; i < d->param.n; i++) param[d->param.at[i].wire] = i;
  return param;
}

static void find_time(System *s) {
  for (uint32_t i = 0; i < s->d->param.n; i++)
    if (s->d->param.at[i].role == ROLE_CLOCK && !strcmp(s->d->param.at[i].path, "time"))
      s->time = s->d->param.at[i].wire;
}

static void keep_nexts(System *s) {
  for (uint32_t i = 0; i < s->state.n; i++) {
    const SystemState *x = &s->state.at[i];
    s->d->param.at[x->param].next = x->next ? x->next : x->rate;
  }
}

// Adds states, events and lags of a system connected into another, as a part of it or (NULL) beside
// it.
static void add_system(World *w, System *to, const System *of, const Id *map, const uint32_t *param,
                       const char *prefix, const Part *as) {
  uint32_t first = to->state.n, writers = to->writer.n;
  for (uint32_t i = 0; i < of->state.n; i++) {
    SystemState x = of->state.at[i];
    x.param = param[map[of->d->param.at[x.param].wire]];
    x.path = arena_format(w->arena, "%s%s", prefix, x.path);
    x.rate = x.rate ? map[x.rate] : 0;
    x.next = x.next ? map[x.next] : 0;
    x.every *= as ? as->every : 1;
    vec_push(w->arena, &to->state, x);
  }
  for (uint32_t i = 0; i < of->event.n; i++) {
    SystemEvent e = of->event.at[i], copy = e;
    if (as && as->sampled && !of->flows && e.either) continue; // tested at its ticks
    copy.guard = map[e.guard];
    copy.path = *e.path   ? arena_format(w->arena, "%s%s", prefix, e.path)
                : *prefix ? arena_text(w->arena, prefix, strlen(prefix) - 1)
                          : "";
    copy.state.at = NULL, copy.state.n = copy.state.cap = 0;
    copy.value = copy.named = (Ids){0};
    for (uint32_t k = 0; k < e.state.n; k++) {
      vec_push(w->arena, &copy.named, e.named.at[k] ? map[e.named.at[k]] : 0);
      vec_push(w->arena, &copy.state, e.state.at[k] + first);
      vec_push(w->arena, &copy.value, map[e.value.at[k]]);
    }
    vec_push(w->arena, &to->event, copy);
  }
  for (uint32_t i = 0; i < of->writer.n; i++) {
    SystemWriter x = of->writer.at[i];
    if (x.state != NO_STATE) x.state += first;
    x.group += writers;
    x.path = arena_format(w->arena, "%s%s", prefix, x.path);
    x.every *= as ? as->every : 1;
    x.when = x.when ? map[x.when] : 0;
    x.named = x.named ? map[x.named] : 0;
    x.value = map[x.value];
    vec_push(w->arena, &to->writer, x);
  }
  for (uint32_t i = 0; i < of->lag.n; i++) {
    SystemLag lag = of->lag.at[i];
    lag.param = param[map[of->d->param.at[lag.param].wire]];
    lag.value = map[lag.value];
    vec_push(w->arena, &to->lag, lag);
  }
  for (uint32_t i = 0; i < of->white.n; i++) {
    SystemWhite white = of->white.at[i];
    white.param = param[map[of->d->param.at[white.param].wire]];
    vec_push(w->arena, &to->white, white);
  }
  to->flows |= of->flows;
  to->timeless |= of->timeless;
}

static void add_lens(MachineBuilder *m, const Id *map, const uint32_t *param) {
  System *s = m->s;
  WirePlaces places = {0};
  for (uint32_t i = 0; i < s->state.n; i++) {
    vec_push(m->w->arena, &s->own_param, s->state.at[i].param);
    vec_push(m->w->arena, &s->own_rate, s->state.at[i].rate);
    vec_push(m->w->arena, &s->own_next, s->state.at[i].next);
  }
  wires_of(m, &places);
  for (uint32_t i = 0; i < places.n; i++) *places.at[i] = map[*places.at[i]];
  for (uint32_t i = 0; i < s->state.n; i++)
    s->state.at[i].param = param[map[s->lens->param.at[s->state.at[i].param].wire]];
  for (uint32_t i = 0; i < s->lag.n; i++)
    s->lag.at[i].param = param[map[s->lens->param.at[s->lag.at[i].param].wire]];
  for (uint32_t i = 0; i < s->white.n; i++)
    s->white.at[i].param = param[map[s->lens->param.at[s->white.at[i].param].wire]];
  for (uint32_t i = 0; i < m->learned.n; i++) {
    Learned *l = &m->learned.at[i];
    for (uint32_t k = 0; k < l->weight.n; k++)
      l->weight.at[k] = param[map[s->lens->param.at[l->weight.at[k]].wire]];
    for (uint32_t k = 0; k < l->counted.n; k++)
      l->counted.at[k] = param[map[s->lens->param.at[l->counted.at[k]].wire]];
  }
}

static const char no_order[] =
    "which member of an array needs which can only be told when their number is known";

// bit[2], cell[… 1]: the member of an array, as far as known.
static void put_member(MachineBuilder *m, Buf *to, const ConnectPlace *p) {
  const Part *part = &m->s->part.at[p->part - 1];
  buf_printf(to, "`%s", name_text(m->w->names, part->name));
  bool any = false;
  for (uint32_t i = 0; i < p->n; i++)
    any |= p->at[i] >= 0 && p->axis[i] >= m->npass && p->axis[i] < m->npass + part->axes;
  for (uint32_t axis = 0; any && axis < part->axes; axis++) {
    int64_t at = -1;
    for (uint32_t i = 0; i < p->n; i++)
      if (p->axis[i] == m->npass + axis) at = p->at[i];
    buf_text(to, axis ? " " : "[");
    if (at < 0)
      buf_text(to, "…");
    else
      buf_printf(to, "%lld", (long long)at);
  }
  buf_text(to, any ? "]`" : "`");
}

static void report_loop(MachineBuilder *m, const ConnectFault *f) {
  World *w = m->w;
  Buf names = buf_new(w->arena);
  Span span = m->def->span;
  uint32_t shown = 0;
  uint32_t before = 0;
  for (uint32_t i = 0; i < f->loop.n; i++) {
    ConnectPlace p = f->loop.at[i];
    if (f->answer == CONNECT_WHOLE) p.n = 0;
    if (!p.part || (!p.n && p.part == before)) continue;
    before = p.part;
    if (!shown) span = m->s->part.at[p.part - 1].span;
    if (++shown > 8) continue;
    if (shown > 1) buf_text(&names, " → ");
    put_member(m, &names, &p);
  }
  if (f->answer == CONNECT_OPEN) {
    diag_error(w->diags, span, no_order);
    return;
  }
  if (f->answer == CONNECT_LARGE) {
    Id e = diag_error(
        w->diags, span,
        "too many members of arrays need each other at the same moment here: more than 20000");
    diag_help(w->diags, e,
              "members that need only those before them, as in `p[i-1].y pad 0 -> p[i].x`, may be "
              "any number");
    return;
  }
  const char *what = shown == 1 ? "this part needs what it shows itself, at the same moment"
                                : "these parts need each other at the same moment";
  if (f->answer == CONNECT_WHOLE)
    what = "these parts need each other at the same moment, through a `scan`, which is taken whole";
  Id e = diag_error(w->diags, span, "%s: %s%s", what, names.n ? names.at : "the wiring itself",
                    shown > 8 ? " → …" : "");
  diag_help(w->diags, e, "a part with a `state` that shows only the state breaks the loop");
}

// Copies the axes, which may be shared with another use.
static void forget_passing(World *w, Diagram *d) {
  for (Id i = 1; i < d->wire.n; i++) {
    Type *t = &d->wire.at[i].type;
    bool passes = false;
    for (uint32_t k = 0; k < t->rank; k++) passes |= t->axis[k].pass >= FIRST_PASS;
    if (!passes) continue;
    t->axis = arena_copy(w->arena, t->axis, t->rank * sizeof(Axis));
    for (uint32_t k = 0; k < t->rank; k++)
      if (t->axis[k].pass >= FIRST_PASS) t->axis[k].pass = 0;
  }
}

bool flat_fits(MachineBuilder *m, uint64_t wires) {
  return wires <= FLAT_LIMIT ||
         diag_refuse(m->w->diags, m->def->span,
                     "`%s` is too large: with all that is in its parts it has "
                     "more than %d wires",
                     name_text(m->w->names, m->def->name), FLAT_LIMIT);
}

// Connects lens and parts.
static bool weave_system(MachineBuilder *m) {
  World *w = m->w;
  System *s = m->s;
  if (!flat_fits(m, m->flat + s->lens->wire.n)) return false;
  Diagram *lens = s->lens;
  uint32_t n = s->part.n + 1, showing = s->in.n, taking = s->out.n;
  ConnectPart *part = NEW_ARRAY(w->arena, ConnectPart, n);
  ConnectEnd *in = NEW_ARRAY(w->arena, ConnectEnd, lens->in.n + 1);
  ConnectEnd *like = NEW_ARRAY(w->arena, ConnectEnd, s->in.n + 1),
             *out = NEW_ARRAY(w->arena, ConnectEnd, s->out.n + 1);
  for (uint32_t i = 0; i < s->in.n; i++) in[i] = (ConnectEnd){0, i}, like[i] = (ConnectEnd){1, i};
  for (uint32_t i = 0; i < s->out.n; i++) out[i] = (ConnectEnd){1, i};
  for (uint32_t p = 0; p < s->part.n; p++) {
    const System *of = s->part.at[p].of;
    ConnectEnd *takes = NEW_ARRAY(w->arena, ConnectEnd, of->in.n + 1);
    for (uint32_t i = 0; i < of->in.n; i++) takes[i] = (ConnectEnd){1, taking++};
    for (uint32_t i = 0; i < of->out.n; i++) in[showing++] = (ConnectEnd){p + 2, i};
    part[p + 1] = (ConnectPart){
        of->d, arena_format(w->arena, "%s/", name_text(w->names, s->part.at[p].name)), takes};
  }
  part[0] = (ConnectPart){lens, NULL, in};
  Connect how = {.nparts = n,
                 .nin = s->in.n,
                 .nout = s->out.n,
                 .part = part,
                 .like = like,
                 .out = out,
                 .stub = m->b->generic};
  Id **map;
  ConnectFault fault = {0};
  s->d = diagram_connect(w, m->def->name, &how, &map, &fault);
  if (!s->d) {
    report_loop(m, &fault);
    return false;
  }
  s->unordered = m->open_places || fault.answer == CONNECT_OPEN;
  if (m->open_places && !m->b->generic) diag_error(w->diags, m->def->span, no_order);
  for (uint32_t p = 0; p < s->part.n; p++) s->unordered |= s->part.at[p].of->unordered;
  uint32_t *param = params_by_wire(w, s->d);
  add_lens(m, map[0], param);
  for (uint32_t p = 0; p < s->part.n; p++) {
    const Part *x = &s->part.at[p];
    add_system(w, s, x->of, map[p + 1], param, part[p + 1].prefix, x);
    vec_push(w->arena, &s->inner, (SystemInner){x->name, x->of, map[p + 1], x->axes > 0});
  }
  halt_with_parts(m, map);
  find_time(s);
  return true;
}

// -- elaboration ----------------------------------------------------------------------------------
static bool is_error(void *none, const Syntax *n) {
  (void)none;
  return n->kind == N_ERROR;
}

static bool is_rate(void *none, const Syntax *n) {
  (void)none;
  return n->kind == N_CONSTRAINT || (n->kind == N_LHS && lhs_is_rate(n));
}

// An unconditional `next x = …`, or one by an optimiser.
static bool is_tick(void *none, const Syntax *n) {
  (void)none;
  return n->kind == N_STEPBY || (n->kind == N_STEP && !step_cond(n));
}

// Is a share called on one of these ports?
static bool calls_on(const Syntax *block, Nodes port) {
  Nodes line = lines_of_block(block);
  for (uint32_t i = 0; i < line.n; i++) {
    if (line.at[i]->kind == N_FOR && calls_on(for_body(line.at[i]), port)) return true;
    Nodes arg = line.at[i]->kind == N_CALL ? call_args(line.at[i]) : (Nodes){0, NULL};
    for (uint32_t k = 0; k < arg.n; k++)
      for (uint32_t p = 0; p < port.n; p++)
        if (use_base(arg.at[k])->kind == N_NAME && use_base(arg.at[k])->name == port.at[p]->name)
          return true;
  }
  return false;
}

static bool is_sharing(const Def *d, const Header *h) {
  if (d->kind != DEF_MACHINE || machine_form(d->node) == SIGN_MACHINE || h->result || !h->params)
    return false;
  if (machine_form(d->node) == SIGN_SHARE || calls_on(h->body, params_in(h->params))) return true;
  for (uint32_t i = 0; i < params_in(h->params).n; i++)
    if (param_type(params_in(h->params).at[i])) return false;
  return params_in(h->params).n > 0;
}

// machine Nand(a, b: B[]) -> (y: B[]) = 1 + a * b
static void one_expression(MachineBuilder *m, const Syntax *expr) {
  World *w = m->w;
  const Type *want = m->s->out.n == 1 ? &m->s->out.at[0].type : NULL;
  Value v = eval_equation(m->b, m->env, NULL, expr, NULL, want, expr->span);
  if (v.n != m->s->out.n) {
    if (!(v.n == 1 && v.at[0].error))
      diag_error(w->diags, expr->span, "`%s` has %u %s, but this is %u",
                 name_text(w->names, m->def->name), m->s->out.n,
                 m->s->out.n == 1 ? "port to show" : "ports to show", v.n);
    return;
  }
  for (uint32_t i = 0; i < v.n; i++) {
    Id wire = fit_value(m, v.at[i], &m->s->out.at[i].type, expr->span, "what it shows");
    add_change_always(m, CHANGE_PORT, i, wire, expr->span);
  }
}

// A box or learner as a part: its outputs are functions of its inputs.
static void call_as_part(MachineBuilder *m) {
  Value args = {.n = m->s->in.n, .at = NEW_ARRAY(m->w->arena, Val, m->s->in.n + 1)};
  for (uint32_t i = 0; i < args.n; i++)
    args.at[i] = val_wire(m->b, m->b->d->in.at[i], m->def->span);
  BoxUse use = {.def = m->def, .node = m->def->node, .name = m->def->name, .span = m->def->span};
  Value v = call_def(m->b, m->env, &use, NULL, args, NULL);
  for (uint32_t i = 0; i < v.n; i++) {
    if (v.at[i].error) return;
    val_settle(m->b, &v.at[i]);
    Port port = {.modes = ~(uint64_t)0, .span = m->def->span};
    port.type = own_type(m->w, &v.at[i].type);
    const Syntax *result = m->h.result;
    bool named = result && result->kind == N_PARAMS && i < params_in(result).n;
    port.name = named      ? params_in(result).at[i]->name
                : v.n == 1 ? name_from(m->w->names, "out")
                           : name_from(m->w->names, arena_format(m->w->arena, "out%u", i + 1));
    vec_push(m->w->arena, &m->s->out, port);
    Id wire = fit_value(m, v.at[i], &port.type, m->def->span, "what it gives");
    add_change_always(m, CHANGE_PORT, i, wire, m->def->span);
  }
}

static void elaborate_body(MachineBuilder *m) {
  const Syntax *body = m->h.body;
  Nodes line = block_statements(body);
  for (uint32_t i = 0; i < line.n; i++) {
    SyntaxKind k = (SyntaxKind)line.at[i]->kind;
    if (k == N_CONSTS || k == N_AXES) body_statement(m->b, m->env, line.at[i]);
    if (k == N_LEARN) {
      m->in->owned = declares_learner(m, line.at[i]);
      body_statement(m->b, m->env, line.at[i]);
      m->in->owned = false;
    }
    if (k == N_STATES) add_states(m, m->env, line.at[i]);
  }
  if (!write_out_loops(m)) return;
  body = m->h.body;
  line = block_statements(body);
  if (!add_modes(m, body)) return;
  add_life(m);
  if (!make_parts(m, body)) return;
  make_block(m, m->env, body, ANY_MODE);
  make_modes(m);
  set_targets(m, m->env);
}

static void make_ports(MachineBuilder *m) {
  World *w = m->w;
  if (m->def->kind != DEF_MACHINE) {
    Formals formals = {0};
    bool good = true;
    if (!header_formals(m->b, m->env, &m->h, &formals, &good) || !good) {
      diag_error(w->diags, m->def->span, "as a part, `%s` wants inputs with types",
                 name_text(w->names, m->def->name));
      return;
    }
    for (uint32_t i = 0; i < formals.n; i++) {
      Port port = {.name = formals.at[i].name, .modes = ~(uint64_t)0, .span = formals.at[i].span};
      Types t = {0};
      bool typed = formal_types(m->b, m->env, &formals.at[i], &t) && t.n == 1;
      port.type = typed ? t.at[0] : (Type){.base = BASE_R};
      if (!port.name)
        port.name =
            name_from(w->names, formals.n == 1 ? "in" : arena_format(w->arena, "in%u", i + 1));
      diagram_input(w, m->b->d, full_type(m, &port.type), port.name, origin_at(m->b, port.span));
      vec_push(w->arena, &m->s->in, port);
    }
    return;
  }
  if (m->h.result && m->h.result->kind == N_SIG) {
    Id e = diag_error(w->diags, m->h.result->span, "found a type, wanted the ports of `%s`",
                      name_text(w->names, m->def->name));
    diag_help(w->diags, e, "ports have names, as in `(x: R[]) -> (y: R[])`");
    return;
  }
  add_in_ports(m, m->env, m->h.params, ~(uint64_t)0);
  if (m->s->shares)
    for (uint32_t i = 0; i < m->s->in.n; i++) vec_push(w->arena, &m->s->out, m->s->in.at[i]);
  else
    add_out_ports(m, m->env, m->h.result, ~(uint64_t)0);
}

static System *make_system(MachineBuilder *m) {
  uint32_t errors = m->w->diags->met;
  if (m->def->kind == DEF_MACHINE && !time_is_free(m->w, m->def->node)) return NULL;
  make_ports(m);
  if (m->w->diags->met == errors) {
    bool block = m->def->kind == DEF_MACHINE && m->h.body && m->h.body->kind == N_BLOCK;
    if (m->def->kind != DEF_MACHINE)
      call_as_part(m);
    else if (block)
      elaborate_body(m);
    else if (m->h.body)
      one_expression(m, m->h.body);
    if (!block) add_life(m);
  }
  if (m->w->diags->met > errors || m->broken || m->open_loops) return NULL;
  check_targets(m);
  if (m->w->diags->met > errors) return NULL;
  settle_junctions(m);
  settle_constraints(m);
  settle_states(m);
  settle_ports(m);
  if (m->w->diags->met > errors) return NULL;
  body_finish(m->b);
  if (!find_weights(m)) return NULL;
  describe_routes(m);
  flatten_lens(m);
  if (!weave_system(m) || !learn_states(m, m->in->program)) return NULL;
  live_learnt(m);
  forget_passing(m->w, m->s->d);
  return m->s;
}

enum { INNER_LIMIT = 64 };

// It has no open sizes, so it can be reused.
static bool is_closed(World *w, const Diagram *d) {
  Ids vars = {0};
  for (Id i = 1; i < d->wire.n && !vars.n; i++) type_vars(w, &d->wire.at[i].type, &vars);
  return !vars.n;
}

static bool is_plain(const MachineUse *use) { return !use->config && !use->npass; }

// It does not depend on its use.
static bool is_usual(const MachineUse *use) {
  return is_plain(use) && !use->life.mortal && !use->life.halts;
}

// Limits the nesting of machines and arrays.
static bool check_nesting(Elab *in, const MachineUse *use) {
  World *w = in->w;
  Def *d = use->def;
  if (d->busy && is_plain(use)) {
    Id e =
        diag_error(w->diags, use->span, "`%s` is a part of itself", name_text(w->names, d->name));
    return diag_note(w->diags, e, d->span, "declared here");
  }
  if (in->inner ==
      INNER_LIMIT) { // Manager[of: Manager[…]] is finite, Manager[of: Manager[of]] may not be
    in->inner++;
    return diag_refuse(w->diags, use->span, "machines are nested more than %d levels deep here",
                       INNER_LIMIT);
  }
  if (use->npass > 8)
    return diag_refuse(w->diags, use->span,
                       "arrays of parts are nested more than 8 levels deep here");
  return true;
}

static void begin_body(MachineBuilder *m, const MachineUse *use) {
  Arena *a = m->w->arena;
  m->b = body_new(m->in, m->def->name);
  m->b->generic = use->generic;
  m->b->maker = m;
  m->b->labels = table_new(a);
  m->b->env = m->env = env_new(m->in, NULL, m->def->scope, m->b);
  for (uint32_t i = 0; i < m->npass; i++) {
    m->pass[i] = use->pass[i];
    m->pass[i].pass = FIRST_PASS + i;
    body_pass(m->b, FIRST_PASS + i, m->pass[i]);
  }
  m->parts = table_new(a);
  m->members = table_new(a);
  m->changed = table_new(a);
  m->targets = table_new(a);
}

// Properties of its text, before elaboration.
static void begin_system(MachineBuilder *m) {
  const Def *d = m->def;
  SyntaxSign form = d->kind == DEF_MACHINE ? machine_form(d->node) : SIGN_NONE;
  m->s = NEW(m->w->arena, System);
  *m->s = (System){.def = m->def, .name = d->name, .span = d->span};
  m->s->shares = is_sharing(d, &m->h);
  m->s->wiring = form == SIGN_WIRING;
  m->flows = syntax_any(m->h.body, is_rate, NULL);
  m->waits = !m->flows && !m->s->shares && !syntax_any(m->h.body, is_tick, NULL);
  m->broken = syntax_any(d->node, is_error, NULL);
}

static System *make_inside(MachineBuilder *m) {
  Def *d = m->def;
  bool busy = d->busy, owned = m->in->owned;
  const MachineText *around = m->in->machine;
  d->busy = true;
  m->in->inner++;
  find_learners(m);
  m->in->machine = &m->text;
  m->in->owned = false;
  System *made = make_system(m);
  m->in->machine = around;
  m->in->owned = owned;
  if (m->in->inner <= INNER_LIMIT) m->in->inner--;
  d->busy = busy;
  return made;
}

System *system_of(Elab *in, const MachineUse *use) {
  World *w = in->w;
  Def *d = use->def;
  if (d->broken || in->inner > INNER_LIMIT) return NULL;
  bool timed = !use->time || !d->system || !d->system->timeless;
  if (is_usual(use) && d->system && timed) return d->system;
  if (!check_nesting(in, use)) return NULL;
  MachineBuilder m = {.in = in,
                      .w = w,
                      .def = d,
                      .npass = use->npass,
                      .h = header_of(d),
                      .time = use->time,
                      .life = use->life};
  begin_body(&m, use);
  begin_system(&m);
  bool unread = m.broken;
  uint32_t errors = w->diags->met;
  Call c = {.b = m.b, .env = use->from, .to = m.env, .def = d, .h = &m.h, .span = use->span};
  if (!bind_options(&c, use->config, use->generic)) return NULL;
  if (d->kind == DEF_MACHINE && machine_form(d->node) == SIGN_SHARE && m.h.result) {
    Id e = diag_error(w->diags, m.h.result->span, "a share shows nothing: its ports are variables");
    diag_help(w->diags, e, "a `machine` has ports to show");
  }
  System *made = make_inside(&m);
  if (w->diags->met > errors || !made) {
    bool told = w->diags->met > errors, options = m.h.cfg && !unread;
    d->open_loops |= m.open_loops && !told; // elaborated again with known sizes
    if (is_plain(use) && !d->open_loops && (told || !options))
      d->broken = true; // unless its options are at fault
    return NULL;
  }
  keep_nexts(made);
  keep_options(&c, made->d);
  diagram_resolve(w, made->d);
  if (is_usual(use) && is_closed(w, made->d) && (!use->time || !made->timeless)) d->system = made;
  return made;
}

// -- systems made without a text ------------------------------------------------------------------
// It stops when `of` stops, whose states begin at `first`.
static void add_halts(World *w, System *to, const System *of, const Id *map, uint32_t first) {
  to->halt.at = NULL, to->halt.n = to->halt.cap = 0;
  for (uint32_t i = 0; i < of->halt.n; i++) {
    const SystemHalt *x = &of->halt.at[i];
    vec_push(w->arena, &to->halt, ((SystemHalt){x->state + first, x->stops, map[x->is]}));
  }
}

// Its inner parts are found through the system it was made of.
static void keep_inner(World *w, System *s, const System *of, const Id *map) {
  s->inner.at = NULL, s->inner.n = s->inner.cap = 0;
  s->line.at = NULL, s->line.n = s->line.cap = 0;
  s->inside.at = NULL, s->inside.n = s->inside.cap = 0;
  vec_push(w->arena, &s->inner, (SystemInner){0, of, map, false});
}

static Id wire_sum(World *w, Diagram *d, Id a, Id b) {
  Each e = each_of(w, d->wire.at[a].type);
  Base base = (Base)e.t.base;
  uint32_t x = each_read(w, &e, a, base, e.t.rank), y = each_read(w, &e, b, base, e.t.rank);
  scalar_fn(w, &e.loop, FN_add, x, y, 0);
  return each_make(w, d, &e);
}

System *system_closed(Elab *in, System *s) {
  World *w = in->w;
  uint32_t n = s->in.n;
  Diagram *held = diagram_new(w, s->name);
  ConnectEnd *in_end = NEW_ARRAY(w->arena, ConnectEnd, n + 1),
             *out = NEW_ARRAY(w->arena, ConnectEnd, s->out.n + 1);
  for (uint32_t i = n; i < s->out.n; i++) out[i] = (ConnectEnd){2, i}; // its mode
  for (uint32_t i = 0; i < n; i++) {
    const Port *port = &s->in.at[i];
    Param p = {
        .path = name_text(w->names, port->name), .role = ROLE_BUFFER, .init = {.kind = INIT_CONST}};
    uint32_t k = diagram_param(w, held, p, s->d->wire.at[s->d->in.at[i]].type, port->name, 0);
    diagram_output(w, held, held->param.at[k].wire);
    in_end[i] = out[i] = (ConnectEnd){1, i};
  }
  System *closed = NEW(w->arena, System);
  *closed = *s;
  closed->state.at = NULL, closed->state.n = closed->state.cap = 0;
  closed->event.at = NULL, closed->event.n = closed->event.cap = 0;
  closed->writer.at = NULL, closed->writer.n = closed->writer.cap = 0;
  closed->lag.at = NULL, closed->lag.n = closed->lag.cap = 0;
  closed->white.at = NULL, closed->white.n = closed->white.cap = 0;
  closed->in.n = 0;
  closed->shares = false;
  ConnectPart part[2] = {{held, NULL, NULL}, {s->d, NULL, in_end}};
  Connect how = {.nparts = 2, .nout = s->out.n, .part = part, .out = out};
  Id **map;
  ConnectFault fault = {0};
  closed->d = diagram_connect(w, s->name, &how, &map, &fault);
  uint32_t *param = params_by_wire(w, closed->d);
  for (uint32_t i = 0; i < n; i++) {
    SystemState x = {
        .param = param[map[0][held->param.at[i].wire]], .path = held->param.at[i].path, .every = 1};
    Id added = map[1][s->d->out.at[i]];
    if (s->flows)
      x.rate = added;
    else
      x.next = wire_sum(w, closed->d, map[0][held->param.at[i].wire], added);
    vec_push(w->arena, &closed->state, x);
  }
  add_halts(w, closed, s, map[1], closed->state.n);
  add_system(w, closed, s, map[1], param, "", NULL);
  keep_inner(w, closed, s, map[1]);
  closed->flows = s->flows;
  find_time(closed);
  keep_nexts(closed);
  return closed;
}

void system_woven(World *w, System *both, const System *s, const System *source, Id *const *map,
                  const char *prefix) {
  uint32_t *param = params_by_wire(w, both->d);
  add_halts(w, both, s, map[0], 0);
  add_system(w, both, s, map[0], param, "", NULL);
  add_system(w, both, source, map[1], param, prefix, NULL);
  keep_inner(w, both, s, map[0]);
  vec_push(w->arena, &both->inner, (SystemInner){source->name, source, map[1], false});
  find_time(both);
  keep_nexts(both);
}

// -- entry points ---------------------------------------------------------------------------------
// Refuses a constant or learner named `time`, which would hide the clock.
static void check_clock(Elab *in, Scope *s) {
  const Def *named = scope_find(s, name_from(in->w->names, "time"));
  for (uint32_t i = 0; named && i < table_count(s->names); i++) {
    const Def *d = in->def.at[table_value(s->names, i)];
    if (d->kind != DEF_MACHINE || d->scope != s) continue;
    Id e = diag_error(in->w->diags, named->span,
                      "`time` is the clock of machines: another name is wanted here");
    diag_note(in->w->diags, e, d->span, "the machine");
    return;
  }
}

void check_machines(Elab *in, Scope *s) {
  check_clock(in, s);
  for (uint32_t i = 0; i < table_count(s->names); i++) {
    Def *d = in->def.at[table_value(s->names, i)];
    if (d->kind != DEF_MACHINE || d->scope != s || d->broken) continue;
    uint32_t errors = in->w->diags->met;
    MachineUse alone = {.def = d, .from = scope_env(s), .generic = true, .span = d->span};
    System *made = d->system ? d->system : system_of(in, &alone);
    if (made) noise_has_place(in->w, made, true);
    if (in->w->diags->met > errors) d->broken = true;
  }
  check_units(in, s);
}

Diagram *machine_diagram(Elab *in, Def *d) {
  MachineUse alone = {.def = d, .from = scope_env(d->scope), .generic = true, .span = d->span};
  System *s = system_of(in, &alone);
  if (s && s->unordered) diag_error(in->w->diags, d->span, no_order);
  if (!s && d->open_loops && !d->broken)
    diag_error(in->w->diags, d->span, "a `for` of `%s` runs over sizes that are open",
               name_text(in->w->names, d->name));
  return s && !s->unordered ? s->d : NULL;
}

System *system_in(Elab *in, Program *p, const Syntax *call, MachineTime time) {
  const Syntax *name = use_base(call);
  Def *d = scope_meaning(p->scope, name);
  MachineUse use = {.def = d,
                    .from = scope_env(p->scope),
                    .config = use_brackets(call),
                    .span = call->span,
                    .time = time};
  return system_of(in, &use);
}

MachineTime time_of(const System *s, MachineTime alone) {
  bool ticks = false;
  for (uint32_t i = 0; i < s->state.n; i++) ticks |= s->state.at[i].next != 0;
  return s->flows ? TIME_FLOWS : ticks ? TIME_TICKS : alone;
}

System *elab_system(Elab *in, Program *p, const char *name, const Syntax *call) {
  Def *d = scope_find(p->scope, name_from(in->w->names, name));
  Span span = call ? call->span : d ? d->span : (Span){0};
  if (!d || d->kind != DEF_MACHINE) {
    diag_error(in->w->diags, span, "there is no machine `%s` here", name);
    return NULL;
  }
  MachineUse use = {.def = d,
                    .from = scope_env(p->scope),
                    .config = call ? use_brackets(call) : NULL,
                    .span = span};
  System *s = system_of(in, &use);
  if (s && s->timeless) use.time = time_of(s, TIME_OPEN);
  return use.time ? system_of(in, &use) : s;
}
