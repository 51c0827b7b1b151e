// Elaborates a machine, share or wiring to a lens: ports, states, modes and lines.
//
//   text ─► lens: (inputs, outputs of parts, states) ─► (outputs, inputs of parts, rates,
//                                                         next states, guards)
//
// Each line is a Change of a port or a state, perhaps only in one mode or under a condition; in the
// end the changes of each thing are folded into one value, in which the first that holds wins. In
// continuous time a change under a condition is an event instead.
//
// A member of an array of parts is elaborated once for all members: its values have the array's
// axes in front, as batch axes.
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "core/diagram/ops.h"
#include "core/pass/rewrite.h"
#include "lang/machine/machine_own.h"

// -- helpers --------------------------------------------------------------------------------------
int port_named(const Port *port, uint32_t n, Name name) {
  for (uint32_t i = 0; i < n; i++)
    if (port[i].name == name) return (int)i;
  return -1;
}

int own_state(const MachineBuilder *m, Name name) {
  for (uint32_t i = 0; i < m->s->own.n; i++)
    if (m->s->own.at[i].name == name) return (int)i;
  return -1;
}

uint32_t last_change(const MachineBuilder *m, ChangeKind kind, uint32_t at) {
  return table_get(m->changed, (uint32_t[2]){kind, at}, 2 * sizeof(uint32_t));
}

void add_change(MachineBuilder *m, Change c) {
  if (!c.value) return;
  c.before = last_change(m, c.kind, c.at);
  vec_push(m->w->arena, &m->change, c);
  table_put(m->changed, (uint32_t[2]){c.kind, c.at}, 2 * sizeof(uint32_t), m->change.n);
}

void add_change_always(MachineBuilder *m, ChangeKind kind, uint32_t at, Id value, Span span) {
  add_change(m, (Change){.kind = kind, .at = at, .mode = ANY_MODE, .value = value, .span = span});
}

Type full_type(MachineBuilder *m, const Type *own) {
  Axis axis[RANK_LIMIT * 2];
  for (uint32_t i = 0; i < m->npass; i++) axis[i] = m->pass[i];
  if (own->rank) memcpy(axis + m->npass, own->axis, own->rank * sizeof(Axis));
  return type_like(m->w, own, m->npass + own->rank, axis);
}

// Broadcasts along the first `axes` axes of `own`, which the value lacks.
static Val along_array(MachineBuilder *m, Val v, const Type *own, uint32_t axes, Span span) {
  enum { ALONG = RANK_LIMIT };
  Axis pass[2 * RANK_LIMIT];
  memcpy(pass, m->pass, m->npass * sizeof(Axis));
  for (uint32_t i = 0; i < axes; i++)
    pass[m->npass + i] = own->axis[i], pass[m->npass + i].pass = ALONG + i;
  v = broadcast_to(m->b, v, pass, m->npass + axes, span);
  v.type.axis = arena_copy(m->w->arena, v.type.axis, v.type.rank * sizeof(Axis));
  uint32_t order[RANK_LIMIT], n = 0;
  for (uint32_t i = 0; i < v.type.rank; i++)
    if (v.type.axis[i].pass && v.type.axis[i].pass < ALONG) order[n++] = i;
  for (uint32_t k = 0; k < axes; k++)
    for (uint32_t i = 0; i < v.type.rank; i++)
      if (v.type.axis[i].pass == ALONG + k) order[n++] = i;
  for (uint32_t i = 0; i < v.type.rank; i++)
    if (!v.type.axis[i].pass) order[n++] = i;
  for (uint32_t i = 0; i < v.type.rank; i++)
    if (v.type.axis[i].pass >= ALONG) v.type.axis[i].pass = 0;
  Id wire = val_to_wire(m->b, &v, 0);
  m->b->d->wire.at[wire].type = v.type;
  return val_permute(m->b, val_wire(m->b, wire, span), order, v.type.rank);
}

Id fit_value(MachineBuilder *m, Val v, const Type *own, Span span, const char *what) {
  World *w = m->w;
  if (v.error) { // reported already
    m->broken = true;
    return 0;
  }
  if (v.literal) {
    v = val_fill(m->b, v, full_type(m, own));
    return val_to_wire(m->b, &v, 0);
  }
  val_settle(m->b, &v);
  uint32_t at[RANK_LIMIT], n = own_axes(&v.type, at), most = m->spread > 1 ? m->spread : 1,
                           skip = n < own->rank ? own->rank - n : 0;
  bool fits = v.type.base == own->base && n <= own->rank && skip <= most;
  for (uint32_t i = 0; fits && i < n; i++)
    fits = sizes_agree(m->b, own->axis[i + skip].size, v.type.axis[at[i]].size, span, span, what);
  if (fits && own->base == BASE_LABEL)
    fits = sizes_agree(m->b, own->count, v.type.count, span, span, what);
  if (!fits) {
    diag_error(w->diags, span, "%s is %s, but this is %s", what, own_text(w, own),
               own_text(w, &v.type));
    return 0;
  }
  v = broadcast_to(m->b, v, m->pass, m->npass, span);
  if (skip) v = along_array(m, v, own, skip, span);
  Id wire = val_to_wire(m->b, &v, 0);
  if (own->names && !m->b->d->wire.at[wire].type.names) // select drops the names of labels
    m->b->d->wire.at[wire].type.names = own->names;
  return wire;
}

Val filled_value(MachineBuilder *m, double k, const Type *own, Span span) {
  return val_fill(m->b, val_literal(m->b, k, span), full_type(m, own));
}

static Id select_value(MachineBuilder *m, Val bits, Id yes, Val no, const Type *own, Span span,
                       const char *what) {
  Val one = val_select(m->b, bits, val_wire(m->b, yes, span), no, span, NULL);
  return fit_value(m, one, own, span, what);
}

Id where_set(MachineBuilder *m, Id bits, Id yes, Id no, const Type *own, Span span,
             const char *what) {
  if (!bits || !yes) return yes;
  Val other = no ? val_wire(m->b, no, span) : filled_value(m, 0, own, span);
  return select_value(m, val_wire(m->b, bits, span), yes, other, own, span, what);
}

// -- ports ----------------------------------------------------------------------------------------
bool is_simplex_type(MachineBuilder *m, const Syntax *type) {
  return type->kind == N_TYPE && type_base(type)->kind == N_NAME &&
         !strcmp(name_text(m->w->names, type_base(type)->name), "simplex");
}

static bool port_type(MachineBuilder *m, Env *env, const Syntax *type, Type *out) {
  Types t = {0};
  *out = (Type){.base = BASE_R};
  if (!type) return true;
  if (is_simplex_type(m, type)) {
    Axis axis[RANK_LIMIT];
    uint32_t n = type_brackets(type) ? axes_eval(m->b, env, type_brackets(type), true, axis) : 0;
    if (n == UINT32_MAX) return false;
    *out = type_make(m->w, BASE_R, n, axis);
    return true;
  }
  if (!types_eval(m->b, env, type, true, &t, NULL)) return false;
  if (t.n != 1) return diag_refuse(m->w->diags, type->span, "a port carries one value");
  *out = t.at[0];
  return true;
}

static bool name_is_free(MachineBuilder *m, Name name, Span span) {
  const Port *other = NULL;
  int k = port_named(m->s->in.at, m->s->in.n, name);
  if (k >= 0) other = &m->s->in.at[k];
  k = port_named(m->s->out.at, m->s->out.n, name);
  if (k >= 0) other = &m->s->out.at[k];
  if (!other) return true;
  Id e = diag_error(m->w->diags, span, "`%s` has two ports `%s`",
                    name_text(m->w->names, m->def->name), name_text(m->w->names, name));
  return diag_note(m->w->diags, e, other->span, "the other one");
}

void bind_port(MachineBuilder *m, Name name, Id wire, Span span) {
  Value v = value_one(m->b, val_wire(m->b, wire, span));
  env_bind(m->env, name, (Binding){.kind = BIND_VALUE, .value = v, .fixed = true, .span = span});
}

void add_in_ports(MachineBuilder *m, Env *env, const Syntax *params, uint64_t modes) {
  World *w = m->w;
  for (uint32_t i = 0; params && i < params_in(params).n; i++) {
    const Syntax *p = params_in(params).at[i];
    Port port = {.name = p->name, .modes = modes, .span = p->name_span};
    if (!name_is_free(m, p->name, p->name_span)) continue;
    if (!name_is_new(m->b, m->env, p->name, p->name_span)) continue;
    if (!port_type(m, env, param_type(p), &port.type)) continue;
    Id wire =
        diagram_input(w, m->b->d, full_type(m, &port.type), p->name, origin_at(m->b, p->name_span));
    bind_port(m, p->name, wire, p->name_span);
    vec_push(w->arena, &m->s->in, port);
  }
}

void add_out_ports(MachineBuilder *m, Env *env, const Syntax *result, uint64_t modes) {
  World *w = m->w;
  for (uint32_t i = 0; result && i < syntax_parts(result).n; i++) { // N_PARAMS or N_TYPES
    const Syntax *p = syntax_parts(result).at[i];
    bool named = p->kind == N_PARAM;
    Port port = {.modes = modes, .span = named ? p->name_span : p->span};
    port.name = named ? p->name
                : syntax_parts(result).n == 1
                    ? name_from(w->names, "out")
                    : name_from(w->names, arena_format(w->arena, "out%u", i + 1));
    if (!name_is_free(m, port.name, port.span)) continue;
    if (!port_type(m, env, named ? param_type(p) : p, &port.type)) continue;
    if (named) use_of_name(m->in, p, p->name_span, NAMED_WIRE);
    vec_push(w->arena, &m->s->out, port);
  }
}

// -- states ---------------------------------------------------------------------------------------
Val new_state(MachineBuilder *m, Name name, Type own, Init init, Span span) {
  World *w = m->w;
  Type full = full_type(m, &own);
  Param p = {
      .path = name_text(w->names, name), .role = ROLE_BUFFER, .init = start_for_all(m, init, &own)};
  uint32_t k = diagram_param(w, m->b->d, p, full, name, origin_at(m->b, span));
  sync_sites(m->b);
  Id wire = m->b->d->param.at[k].wire;
  vec_push(w->arena, &m->s->own, (OwnState){.name = name, .type = own, .span = span});
  vec_push(w->arena, &m->held, (Held){.wire = wire, .param = k, .own = own});
  return val_wire(m->b, wire, span);
}

void add_states(MachineBuilder *m, Env *env, const Syntax *n) {
  for (uint32_t i = 0; i < states_in(n).n; i++) {
    const Syntax *typed = states_in(n).at[i];
    Type own;
    if (says_places(m, typed)) continue;
    if (!name_is_new(m->b, m->env, typed->name, typed->name_span)) continue;
    if (!start_is_clear(m, typed) || !port_type(m, env, typed_type(typed), &own)) {
      env_bind(m->env, typed->name,
               (Binding){.kind = BIND_STATE, .value = value_error(m->b, typed->span)});
      continue;
    }
    Val v = new_state(m, typed->name, own, state_start(m, env, typed, &own), typed->name_span);
    int shown = port_named(m->s->out.at, m->s->out.n,
                           typed->name); // an output port of this name shows the state
    env_bind(m->env, typed->name,
             (Binding){.kind = BIND_STATE,
                       .value = value_one(m->b, v),
                       .named = shown >= 0 ? m->s->out.at[shown].span : typed->name_span,
                       .span = typed->name_span});
    env_meaning(m->env, typed);
  }
}

// -- conditions -----------------------------------------------------------------------------------
static Syntax *call_of_two(World *w, const char *box, Syntax *a, Syntax *b, Span span) {
  Syntax *callee = syntax_name(w->arena, name_from(w->names, box), span);
  return node_call(w->arena, span, (CallParts){callee, NODES(a, b)});
}

// large - small; if equality counts, 0 is mapped above 0.
static Syntax *difference(World *w, Syntax *large, Syntax *small, bool equal, Span span) {
  Syntax *d = syntax_signed(w->arena, node_sum(w->arena, span, (SumParts){NODES(large, small)}),
                            SIGN_MINUS);
  if (!equal) return d;
  Syntax *least = syntax_number(w->arena, 1e-300, span); // too small to matter otherwise
  return syntax_signed(w->arena, node_sum(w->arena, span, (SumParts){NODES(d, least)}), SIGN_PLUS);
}

// The zero-crossing function of a condition or its negation: positive where it holds.
static Syntax *root_of(World *w, const Syntax *c, bool is) {
  Span span = c->span;
  if (c->kind == N_PAREN) return root_of(w, paren_inner(c), is);
  if (c->kind == N_NOT) return root_of(w, not_operand(c), !is);
  if (c->kind == N_AND || c->kind == N_OR) {
    Nodes term = chain_terms(c);
    const char *word = (c->kind == N_AND) == is ? "minimum" : "maximum";
    Syntax *root = root_of(w, term.at[0], is);
    for (uint32_t i = 1; i < term.n; i++)
      root = call_of_two(w, word, root, root_of(w, term.at[i], is), span);
    return root;
  }
  SyntaxSign sign = c->kind == N_CMP ? cmp_sign(c) : SIGN_NONE;
  bool more = sign == SIGN_MORE || sign == SIGN_AT_LEAST;
  bool equal = sign == SIGN_AT_LEAST || sign == SIGN_AT_MOST;
  if (more || sign == SIGN_LESS || sign == SIGN_AT_MOST) {
    Syntax *left = cmp_left(c), *right = cmp_right(c);
    return more == is ? difference(w, left, right, equal == is, span)
                      : difference(w, right, left, equal == is, span);
  }
  Syntax *yes = syntax_number(w->arena, is ? 1 : -1, span),
         *no = syntax_number(w->arena, is ? -1 : 1, span);
  return node_when(w->arena, span, (WhenParts){yes, (Syntax *)c, no});
}

Syntax *as_root(World *w, const Syntax *c) { return root_of(w, c, true); }

static Type condition_type(const Condition *c, Base base) {
  Type t = {.base = (uint8_t)base};
  if (c->brackets) t.rank = c->own->rank, t.axis = c->own->axis;
  return t;
}

// The value of a line; a tuple is an error.
static Value only_value(MachineBuilder *m, Value v, Span span) {
  if (v.n == 1) return v;
  if (!value_failed(&v)) {
    Id e =
        diag_error(m->w->diags, span, "one value is wanted here, but this is a tuple of %u", v.n);
    if (v.n) diag_help(m->w->diags, e, "give its parts names: `a, b = …`");
  }
  return value_error(m->b, span);
}

static Value condition_value(MachineBuilder *m, Env *env, const Condition *c, const Syntax *expr,
                             const Type *own) {
  Span span = c->cond->span;
  if (!c->brackets) return only_value(m, eval_alone(m->b, env, expr), span);
  expr = over_places(m, c->brackets, c->value, c->own, expr);
  return only_value(m, eval_equation(m->b, env, c->brackets, expr, NULL, own, span), span);
}

Id condition_wire(MachineBuilder *m, Env *env, Condition c) {
  Type bit = condition_type(&c, BASE_BIT);
  Value v = condition_value(m, env, &c, c.cond, &bit);
  return v.n == 1 ? fit_value(m, v.at[0], &bit, c.cond->span, "a condition") : 0;
}

Id guard_wire(MachineBuilder *m, Env *env, Condition c) {
  Span span = c.cond->span;
  Type number = condition_type(&c, BASE_R);
  Value v = condition_value(m, env, &c, as_root(m->w, c.cond), &number);
  Id wire = v.n == 1 ? fit_value(m, v.at[0], &number, span, "a compared value") : 0;
  if (!wire || c.mode == ANY_MODE) return wire;
  return select_value(m, in_mode(m, c.mode, span), wire, filled_value(m, -1, &number, span),
                      &number, span, "a compared value");
}

// -- values with an expected type -----------------------------------------------------------------
// Label names are resolved by the expected type: `next link = B when far > 1 else A`.
static bool label_value(MachineBuilder *m, Env *env, const Syntax *n, const Type *own, Val *out) {
  if (n->kind == N_PAREN) return label_value(m, env, paren_inner(n), own, out);
  if (n->kind == N_NAME && !env_meaning(env, n)) {
    int label = label_named(m->w, own, n->name);
    if (label >= 0) *out = filled_value(m, label, own, n->span);
    return label >= 0;
  }
  Val side[2];
  if (n->kind != N_WHEN) return false;
  for (int i = 0; i < 2; i++) {
    const Syntax *x = i ? when_otherwise(n) : when_then(n);
    if (label_value(m, env, x, own, &side[i])) continue;
    Value v = eval_alone(m->b, env, x);
    if (v.n != 1) return false;
    side[i] = v.at[0];
  }
  Value cond = eval_alone(m->b, env, when_cond(n));
  if (cond.n != 1 || cond.at[0].error || side[0].error || side[1].error) {
    *out = val_error(n->span);
    return true;
  }
  *out = val_select(m->b, cond.at[0], side[0], side[1], n->span, NULL);
  return true;
}

Value eval_typed(MachineBuilder *m, Env *env, const Syntax *brackets, const Syntax *expr,
                 const Syntax *pad, const Type *own, Span span) {
  Val v;
  if (!brackets && own->base == BASE_LABEL && own->names && label_value(m, env, expr, own, &v))
    return value_one(m->b, v);
  return only_value(m, eval_equation(m->b, env, brackets, expr, pad, own, span), expr->span);
}

// -- lines ----------------------------------------------------------------------------------------
void no_state(MachineBuilder *m, Name name, Span span) {
  World *w = m->w;
  const Binding *bind = env_find(m->env, name);
  if (m->broken) return; // its declaration may be what failed to parse
  if (bind && bind->kind == BIND_STATE && bind->value.n && bind->value.at[0].error)
    return; // reported already
  const char *text = name_text(w->names, name);
  bool in = port_named(m->s->in.at, m->s->in.n, name) >= 0,
       out = port_named(m->s->out.at, m->s->out.n, name) >= 0;
  Nearest near = nearest_to(text);
  for (uint32_t i = 0; i < m->s->own.n; i++)
    nearest_try(&near, name_text(w->names, m->s->own.at[i].name));
  Id e = diag_error(w->diags, span,
                    in    ? "`%s` is an input: it cannot be changed here"
                    : out ? "`%s` is a port that shows something, and no state: only states change"
                          : "there is no state `%s` here",
                    text);
  if (in)
    diag_help(w->diags, e, "only states change; an input is what a wire or a run brings");
  else if (!diag_suggest(w->diags, e, near.best))
    diag_help(w->diags, e, "`state %s : R[] = 0` declares one", text);
}

static void do_rate(MachineBuilder *m, Env *env, const Syntax *n, int mode) {
  World *w = m->w;
  const Syntax *lhs = lhss_in(equation_lhss(n)).at[0];
  const char *name = name_text(w->names, lhs->name);
  env_meaning(m->env, lhs);
  int at = own_state(m, lhs->name), port = port_named(m->s->in.at, m->s->in.n, lhs->name);
  const Type *own = at >= 0                     ? &m->held.at[at].own
                    : port >= 0 && m->s->shares ? &m->s->in.at[port].type
                                                : NULL;
  if (lhss_in(equation_lhss(n)).n != 1) {
    diag_error(w->diags, n->span, "rates are given one by one: `x' = …`");
    return;
  }
  if (!own) {
    no_state(m, lhs->name, lhs->name_span);
    return;
  }
  if (own->base != BASE_R) {
    diag_error(w->diags, lhs->name_span, "only numbers flow, and `%s` is %s", name,
               own_text(w, own));
    return;
  }
  if (equation_cond(n))
    diag_error(w->diags, equation_cond(n)->span,
               "a rate holds always, or in a mode; write `… when … else …`");
  Value v = only_value(
      m,
      eval_equation(m->b, env, lhs_brackets(lhs), equation_value(n), equation_pad(n), own, n->span),
      equation_value(n)->span);
  Id wire =
      fit_value(m, v.at[0], own, equation_value(n)->span, arena_format(w->arena, "`%s`", name));
  LinePlaces places =
      line_places(m, env, lhs_brackets(lhs), equation_value(n), equation_pad(n), own);
  if (at >= 0)
    m->held.at[at].flows = true;
  else
    m->s->flows = true;
  add_change(m, (Change){.kind = at >= 0 ? CHANGE_RATE : CHANGE_PORT,
                         .at = (uint32_t)(at >= 0 ? at : port),
                         .mode = mode,
                         .value = wire,
                         .places = places,
                         .span = n->span});
}

// A machine with conditions only may be used in continuous or discrete time, so it gets events and
// next values.
void add_event(MachineBuilder *m, SystemEvent e, uint32_t state, Id value, Id named) {
  Type number = {.base = BASE_R};
  if (e.each) number.rank = m->held.at[state].own.rank, number.axis = m->held.at[state].own.axis;
  e.guard = live_guard(m, e.guard, &number);
  if (!e.guard || !value) return;
  e.path = "";
  e.either = m->waits;
  vec_push(m->w->arena, &e.state, state);
  vec_push(m->w->arena, &e.value, value);
  vec_push(m->w->arena, &e.named, named);
  vec_push(m->w->arena, &m->s->event, e);
}

// Guards of elements that the line does not name stay negative.
static Id only_named(MachineBuilder *m, Id guard, Id named, const Type *own, Span span) {
  Type number = {.base = BASE_R, .rank = own->rank, .axis = own->axis};
  if (!guard || !named) return guard;
  return select_value(m, val_wire(m->b, named, span), guard, filled_value(m, -1, &number, span),
                      &number, span, "a compared value");
}

static void do_step(MachineBuilder *m, Env *env, const Syntax *n, int mode) {
  World *w = m->w;
  const char *name = name_text(w->names, n->name);
  int at = own_state(m, n->name), port = port_named(m->s->in.at, m->s->in.n, n->name);
  bool shared = at < 0 && port >= 0 && m->s->shares;
  if (at < 0 && !shared) {
    no_state(m, n->name, n->name_span);
    return;
  }
  if (shared && m->flows) {
    Id e = diag_error(w->diags, n->span,
                      "`%s` is shared and flows here, and `next` is for what steps", name);
    diag_help(w->diags, e, "a `machine` that has `%s` as its state has events", name);
    return;
  }
  const Type *own = shared ? &m->s->in.at[port].type : &m->held.at[at].own;
  Value v = eval_typed(m, env, step_brackets(n), step_value(n), NULL, own, n->span);
  Id value = fit_value(m, v.at[0], own, step_value(n)->span, arena_format(w->arena, "`%s`", name));
  if (!value) return;
  if (shared) { // the amount to add
    Val pair[2] = {val_wire(m->b, value, n->span), val_wire(m->b, m->b->d->in.at[port], n->span)};
    value = fit_value(m, val_fn(m->b, FN_sub, pair, 2, n->span, NULL), own, n->span, name);
  }
  LinePlaces places = line_places(m, env, step_brackets(n), step_value(n), NULL, own);
  Binding *bind = env_meaning(env, n);
  if (bind && bind->kind == BIND_STATE) {
    bind->partly |= step_cond(n) || places.named || mode != ANY_MODE || bind->next.n;
    bind->next = value_one(m->b, val_wire(m->b, value, n->span));
  }
  Condition cond = {step_cond(n), NULL, own, mode, step_value(n)};
  bool each = condition_for_each(m, step_brackets(n), step_cond(n), own);
  if (each) cond.brackets = step_brackets(n);
  if (step_cond(n) && (m->flows || m->waits) && !shared) {
    SystemEvent e = {.guard = guard_wire(m, env, cond), .each = each, .span = n->span};
    if (each) e.guard = only_named(m, e.guard, places.named, own, n->span);
    add_event(m, e, (uint32_t)at, value, places.named);
    if (m->flows) return;
  }
  Id when = step_cond(n) ? condition_wire(m, env, cond) : 0;
  if (step_cond(n) && !when) return;
  add_change(m, (Change){.kind = shared ? CHANGE_PORT : CHANGE_NEXT,
                         .at = (uint32_t)(shared ? port : at),
                         .mode = mode,
                         .value = value,
                         .when = when,
                         .places = places,
                         .span = n->span});
}

// Every element of an output port needs a value; missing ones are an error.
static bool says_all(MachineBuilder *m, Env *env, const Syntax *n, const Port *port) {
  World *w = m->w;
  const Syntax *lhs = lhss_in(equation_lhss(n)).at[0];
  LinePlaces places =
      line_places(m, env, lhs_brackets(lhs), equation_value(n), equation_pad(n), &port->type);
  const char *left = places_left(m, &places, 1, &port->type),
             *name = name_text(w->names, lhs->name);
  if (!left) return true;
  Id e =
      *left ? diag_error(w->diags, lhs->span, "no line says what port `%s` shows at %s", name, left)
            : diag_error(w->diags, lhs->span,
                         "which places of port `%s` this line gives a value is not known before "
                         "it runs, and the others would have none",
                         name);
  return diag_help(w->diags, e, "say all of them, as in `%s[i] = … when … else 0`", name);
}

static void do_equation(MachineBuilder *m, Env *env, const Syntax *n) {
  const Syntax *lhs = lhss_in(equation_lhss(n)).at[0];
  int port =
      lhss_in(equation_lhss(n)).n == 1 ? port_named(m->s->out.at, m->s->out.n, lhs->name) : -1;
  if (lhss_in(equation_lhss(n)).n == 1 && port_named(m->s->in.at, m->s->in.n, lhs->name) >= 0) {
    diag_error(m->w->diags, lhs->name_span, "`%s` is an input: it cannot be defined here",
               name_text(m->w->names, lhs->name));
    return;
  }
  if (equation_cond(n)) {
    Id e =
        diag_error(m->w->diags, equation_cond(n)->span,
                   "an equation holds at every moment, but this one only while a condition does");
    diag_help(m->w->diags, e, "write `%s = … when … else …`", name_text(m->w->names, lhs->name));
    bind_value(env, lhs->name, value_error(m->b, n->span), lhs->name_span);
    return;
  }
  if (port < 0) {
    body_statement(m->b, env, n);
    return;
  }
  const Type *own = &m->s->out.at[port].type;
  use_of_name(m->in, lhs, m->s->out.at[port].span, NAMED_WIRE);
  Id target = table_get(m->targets, &lhs->name, sizeof lhs->name);
  if (target && m->target.at[target - 1].placed) {
    Id all = placed_value(m, &m->target.at[target - 1]);
    Value whole = all ? value_one(m->b, val_wire(m->b, all, n->span)) : value_error(m->b, n->span);
    bind_value(env, lhs->name, whole, lhs->name_span);
    return;
  }
  Value v = eval_typed(m, env, lhs_brackets(lhs), equation_value(n), equation_pad(n), own, n->span);
  if (!v.at[0].error && !says_all(m, env, n, &m->s->out.at[port])) v = value_error(m->b, n->span);
  Id wire = fit_value(m, v.at[0], own, equation_value(n)->span,
                      arena_format(m->w->arena, "port `%s`", name_text(m->w->names, lhs->name)));
  v = wire ? value_one(m->b, val_wire(m->b, wire, n->span)) : value_error(m->b, n->span);
  bind_value(env, lhs->name, v, lhs->name_span);
}

// In a mode that stops, only ports may have lines.
static bool changes_nothing(MachineBuilder *m, const Syntax *n, int mode) {
  bool changes = n->kind == N_STEP || n->kind == N_JUMP ||
                 (n->kind == N_EQUATION && lhs_is_rate(lhss_in(equation_lhss(n)).at[0]));
  if (!changes || mode == ANY_MODE || !m->modes.at[mode].stops) return true;
  return diag_refuse(m->w->diags, n->span, "nothing changes%s: it has stopped",
                     mode_words(m, mode));
}

static void do_line(MachineBuilder *m, Env *env, const Syntax *n, int mode) {
  if (!changes_nothing(m, n, mode)) return;
  switch (n->kind) {
  case N_EQUATION:
    if (lhs_is_rate(lhss_in(equation_lhss(n)).at[0]))
      do_rate(m, env, n, mode);
    else
      do_equation(m, env, n);
    break;
  case N_STEP: do_step(m, env, n, mode); break;
  case N_STEPBY:
    if (mode != ANY_MODE)
      diag_error(m->w->diags, n->span, "a state learns in every mode: this goes outside of modes");
    else
      do_learn(m, env, n);
    break;
  case N_JUMP: do_jump(m, env, n, mode); break;
  case N_CONSTRAINT: add_constraint(m, env, n, mode); break;
  default: body_statement(m->b, env, n); break;
  }
}

// Output ports defined by a block, found in its environment.
static void bind_out_ports(MachineBuilder *m, Env *env, int mode) {
  for (uint32_t i = m->s->shares ? m->s->in.n : 0; i < m->s->out.n; i++) { // variables come first
    Name name = m->s->out.at[i].name;
    Id id = env->names ? table_get(env->names, &name, sizeof name) : 0;
    const Binding *bind = id ? &env->binding.at[id - 1] : NULL;
    if (!bind || !bind->value.n) continue;
    m->broken |= bind->value.at[0].error; // reported already
    if (m->broken) continue;
    const char *what = arena_format(m->w->arena, "port `%s`", name_text(m->w->names, name));
    if (bind->kind != BIND_STATE && bind->kind != BIND_VALUE) continue;
    Id wire = fit_value(m, bind->value.at[0], &m->s->out.at[i].type, bind->span, what);
    add_change(
        m, (Change){.kind = CHANGE_PORT, .at = i, .mode = mode, .value = wire, .span = bind->span});
  }
}

void make_block(MachineBuilder *m, Env *env, const Syntax *block, int mode) {
  LineNodes lines = {0}, sorted = {0};
  for (uint32_t i = 0; i < block_statements(block).n; i++) {
    const Syntax *n = block_statements(block).at[i];
    switch (n->kind) {
    case N_MODE: break;
    case N_PART:
    case N_ROUTE:
    case N_CALL:
      if (mode != ANY_MODE) diag_error(m->w->diags, n->span, "parts and wires go outside of modes");
      break;
    case N_STATES:
      if (mode != ANY_MODE)
        diag_error(m->w->diags, n->span, "states go outside of modes: every mode has them");
      break;
    case N_CONSTS:
    case N_AXES:
      if (mode != ANY_MODE) body_statement(m->b, env, n);
      break;
    default:
      if (mode == ANY_MODE ? !place_route(m, n) : !mode_says_places(m, block, n))
        vec_push(m->w->arena, &lines, with_ports(m, n));
    }
  }
  if (mode == ANY_MODE) gather_routes(m, block, &lines);
  if (!order_statements(m, &lines, &sorted)) return;
  for (uint32_t i = 0; i < sorted.n; i++) do_line(m, env, sorted.at[i], mode);
  bind_out_ports(m, env, mode);
  if (mode != ANY_MODE) mode_places(m, env, block, mode);
  keep_lines(m, env, &sorted, mode);
}
