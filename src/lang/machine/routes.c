// Routes (wires between ports): ports of parts as names, and the routes into a port as one value.
//
// An output of a part is an input of the lens named `p.y`; an input of a part is an output of the
// lens. So a route is an equation, `p.a = …`, with all that equations can do. Several routes into
// one port have guards; they are merged to `x when g else y when h else 0`.
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "base/table.h"
#include "lang/machine/machine_own.h"

// -- ports as names -------------------------------------------------------------------------------
static const Part *part_named(const MachineBuilder *m, const Syntax *n, bool *broken) {
  Id k = n->kind == N_NAME ? table_get(m->parts, &n->name, sizeof n->name) : 0;
  *broken = k == UINT32_MAX;
  return k && !*broken ? &m->s->part.at[k - 1] : NULL;
}

static void try_ports(World *w, Nearest *near, const Port *port, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) nearest_try(near, name_text(w->names, port[i].name));
}

static void put_ports(World *w, Buf *to, const char *words, const Port *port, uint32_t n) {
  enum { PORTS_TOLD = 12 };
  for (uint32_t i = 0; i < n && i < PORTS_TOLD; i++)
    buf_printf(to, "%s`%s`", i ? ", " : words, name_text(w->names, port[i].name));
  if (n > PORTS_TOLD) buf_text(to, ", …");
}

// An input of a part cannot be read.
static bool report_input(MachineBuilder *m, const Part *p, const Syntax *dot) {
  const char *part = name_text(m->w->names, p->name), *port = name_text(m->w->names, dot->name);
  Id e = diag_error(m->w->diags, dot->span,
                    "`%s.%s` is what `%s` takes: it is not read, a wire leads to it", part, port,
                    part);
  Buf text = buf_new(m->w->arena);
  put_ports(m->w, &text, "it shows ", p->of->out.at, p->of->out.n);
  if (text.n) diag_help(m->w->diags, e, "%s", text.at);
  return false;
}

static bool has_port(MachineBuilder *m, const Part *p, const Syntax *dot) {
  World *w = m->w;
  int out = port_named(p->of->out.at, p->of->out.n, dot->name),
      in = port_named(p->of->in.at, p->of->in.n, dot->name);
  if (in >= 0 && out < 0 && !m->leads && !p->of->shares) return report_input(m, p, dot);
  if (out >= 0 || in >= 0) {
    const Port *port = out >= 0 ? &p->of->out.at[out] : &p->of->in.at[in];
    use_of_name(m->in, dot, port->span, NAMED_WIRE);
    return true;
  }
  Nearest near = nearest_to(name_text(w->names, dot->name));
  try_ports(w, &near, p->of->in.at, p->of->in.n);
  try_ports(w, &near, p->of->out.at, p->of->out.n);
  Id e = diag_error(w->diags, dot->span, "part `%s` has no port `%s`", name_text(w->names, p->name),
                    name_text(w->names, dot->name));
  if (diag_suggest(w->diags, e, near.best)) return false;
  Buf text = buf_new(w->arena);
  put_ports(w, &text, "it takes ", p->of->in.at, p->of->in.n - p->of->quiet);
  put_ports(w, &text, text.n ? ", and shows " : "it shows ", p->of->out.at, p->of->out.n);
  return diag_help(w->diags, e, "%s", text.n ? text.at : "it has no ports");
}

static Syntax *joined_brackets(World *w, const Syntax *a, const Syntax *b) {
  const Syntax *first = nodes_only(brackets_slots(a)), *second = nodes_only(brackets_slots(b));
  if (!first || !second) return (Syntax *)b;
  return brackets_of(w->arena, span_join(a->span, b->span),
                     nodes_join(w->arena, items_in(first), items_in(second)));
}

// Reports p where a `for` makes p[0], p[1], ….
static bool is_family(MachineBuilder *m, const Syntax *base, const Syntax *brackets) {
  World *w = m->w;
  const char *name = base->kind == N_NAME ? name_text(w->names, base->name) : "";
  size_t n = strlen(name);
  const Part *one = NULL;
  for (uint32_t i = 0; n && i < m->s->part.n && !one; i++) {
    const char *part = name_text(w->names, m->s->part.at[i].name);
    if (!strncmp(part, name, n) && part[n] == '[') one = &m->s->part.at[i];
  }
  if (!one) return false;
  Name member = brackets ? member_name(m, base->name, brackets) : 0;
  Id e = member ? diag_error(w->diags, base->span, "there is no part `%s` here",
                             name_text(w->names, member))
                : diag_error(w->diags, base->span,
                             "parts that a `for` makes are read by their numbers");
  diag_note(w->diags, e, one->span, "this is `%s`", name_text(w->names, one->name));
  return true;
}

// p.y, p[i].y: as `p.y` and `p.y`[i]; NULL: not a port.
static Syntax *port_name(MachineBuilder *m, const Syntax *n) {
  if (n->kind != N_DOT) return NULL;
  const Syntax *base = dot_base(n), *brackets = NULL;
  if (base->kind == N_AT) brackets = at_brackets(base), base = at_base(base);
  bool broken;
  const Part *p = part_named(m, base, &broken);
  Syntax *error = node_error(m->w->arena, n->span, (ErrorParts){.names = {0, NULL}});
  if (!p) return broken || is_family(m, base, brackets) ? error : NULL;
  use_of_name(m->in, base, p->span, NAMED_PART);
  if (!has_port(m, p, n)) return error;
  if (brackets && !p->axes) {
    Id e = diag_error(m->w->diags, n->span, "`%s` is one part and has no members",
                      name_text(m->w->names, p->name));
    diag_note(m->w->diags, e, p->span, "an array is `%s[3] : …`", name_text(m->w->names, p->name));
    return error;
  }
  Syntax *name = syntax_name(m->w->arena, dotted_name(m->w, p->name, n->name), n->span);
  return brackets ? node_at(m->w->arena, n->span, (AtParts){name, (Syntax *)brackets}) : name;
}

static Syntax *with_ports_inside(void *m, const Syntax *n) { return with_ports(m, n); }

// The target of a route is an input port, its value reads output ports.
static Syntax *route_with_ports(MachineBuilder *m, const Syntax *n) {
  RouteParts parts = {.value = with_ports(m, route_value(n))};
  m->leads = true;
  parts.to = with_ports(m, route_to(n));
  m->leads = false;
  if (route_cond(n)) parts.cond = with_ports(m, route_cond(n));
  if (route_pad(n)) parts.pad = with_ports(m, route_pad(n));
  return node_route(m->w->arena, n->span, parts);
}

Syntax *with_ports(MachineBuilder *m, const Syntax *n) {
  if (n->kind == N_ROUTE) return route_with_ports(m, n);
  Syntax *port = port_name(m, n);
  if (port) return port;
  if (n->kind == N_AT && at_base(n)->kind == N_DOT) { // p[i].y[j]
    port = port_name(m, at_base(n));
    if (port && port->kind == N_AT)
      return node_at(m->w->arena, n->span,
                     (AtParts){.base = at_base(port),
                               .brackets = joined_brackets(m->w, at_brackets(port),
                                                           with_ports(m, at_brackets(n)))});
  }
  return syntax_map(m->w->arena, n, with_ports_inside, m);
}

// -- routes ---------------------------------------------------------------------------------------
static void no_part(MachineBuilder *m, const Syntax *name) {
  World *w = m->w;
  const char *text = name_text(w->names, name->name);
  Nearest near = nearest_to(text);
  for (uint32_t i = 0; i < m->s->part.n; i++)
    nearest_try(&near, name_text(w->names, m->s->part.at[i].name));
  Id e = diag_error(w->diags, name->span, "there is no part `%s` here", text);
  if (!diag_suggest(w->diags, e, near.best))
    diag_help(w->diags, e, "`%s : Name` declares one", text);
}

static void no_target(MachineBuilder *m, const Syntax *to) {
  World *w = m->w;
  const char *text = to->kind == N_NAME ? name_text(w->names, to->name) : NULL;
  Nearest near = nearest_to(text ? text : "");
  for (uint32_t i = 0; i < m->target.n; i++)
    nearest_try(&near, name_text(w->names, m->target.at[i].name));
  try_ports(w, &near, m->s->out.at, m->s->out.n);
  if (to->kind == N_ERROR) return;
  if (to->kind == N_DOT && dot_base(to)->kind == N_NAME) {
    no_part(m, dot_base(to));
    return;
  }
  PortEnd shown;
  Id e = diag_error(w->diags, to->span,
                    text && port_of_part(m, to->name, &shown)
                        ? "`%s` is what the part shows: a wire leads to what a part takes"
                    : text ? "`%s` is not a port that a wire can lead to"
                           : "a wire leads to a port: `p.a`, or one of this wiring",
                    text ? text : "");
  diag_suggest(w->diags, e, near.best);
}

static Syntax *as_equation(MachineBuilder *m, const LineTarget *t, Syntax *value, Syntax *brackets,
                           Syntax *pad) {
  World *w = m->w;
  Span span = t->route.at[0]->span, name = route_to(t->route.at[0])->span;
  Syntax *lhs = syntax_named(node_lhs(w->arena, name, (LhsParts){brackets}), t->name, name);
  Syntax *lhss = node_lhss(w->arena, name, (LhssParts){NODES(lhs)});
  return node_equation(w->arena, span, (EquationParts){.lhss = lhss, .value = value, .pad = pad});
}

static void add_route(MachineBuilder *m, const Syntax *n) {
  World *w = m->w;
  const Syntax *route = with_ports(m, n), *to = use_base(route_to(route));
  int own = to->kind == N_NAME ? port_named(m->s->out.at, m->s->out.n, to->name) : -1;
  Id known = to->kind == N_NAME ? table_get(m->targets, &to->name, sizeof to->name) : 0;
  if (own >= 0) use_of_name(m->in, to, m->s->out.at[own].span, NAMED_WIRE);
  if (own >= 0 && !known) {
    LineTarget t = {.name = to->name, .port = (uint32_t)own};
    vec_push(w->arena, &m->target, t);
    table_put(m->targets, &t.name, sizeof t.name, known = m->target.n);
  }
  if (!known) {
    no_target(m, to);
    return;
  }
  vec_push(w->arena, &m->target.at[known - 1].route, route);
}

const Syntax *route_brackets(const Syntax *route) { return use_brackets(route_to(route)); }

// The conjunction; `second` alone if `first` is NULL.
static Syntax *conjunction(World *w, Syntax *first, Syntax *second) {
  if (!first) return second;
  return node_and(w->arena, second->span, (AndParts){NODES(first, second)});
}

// x -> p.a[0], y -> p.a[1]: rewritten to an equation over an index, with a condition on it.
static Syntax *over_numbers(MachineBuilder *m, const LineTarget *t, const Syntax *brackets,
                            Syntax **condition) {
  World *w = m->w;
  *condition = NULL;
  const Syntax *items = brackets ? nodes_only(brackets_slots(brackets)) : NULL;
  if (!items) return (Syntax *)brackets;
  Nodes written = items_in(items), each = nodes_join(w->arena, written, (Nodes){0, NULL});
  bool any = false;
  for (uint32_t i = 0; i < written.n; i++) {
    if (!counts_at(t, i)) continue;
    any = true;
    Syntax *name = syntax_name(w->arena, counting_index(w, i), written.at[i]->span);
    Syntax *test = node_cmp(w->arena, name->span, (CmpParts){name, written.at[i]});
    syntax_signed(w->arena, test, SIGN_EQUAL);
    if (written.at[i]->kind == N_NUM) *condition = conjunction(w, *condition, test);
    each.at[i] = name;
  }
  return any ? brackets_of(w->arena, brackets->span, each) : (Syntax *)brackets;
}

// Merges all routes into a port to one value.
static Syntax *joined_routes(MachineBuilder *m, const LineTarget *t, Syntax **brackets) {
  World *w = m->w;
  Syntax *value = NULL;
  for (uint32_t i = t->route.n; i-- > 0;) {
    const Syntax *r = t->route.at[i];
    Syntax *condition;
    *brackets = over_numbers(m, t, route_brackets(r), &condition);
    Syntax *guard = route_cond(r);
    guard = guard ? conjunction(w, condition, guard) : condition;
    if (!value && guard) value = syntax_number(w->arena, 0, r->span);
    value = value && guard ? node_when(w->arena, r->span, (WhenParts){route_value(r), guard, value})
                           : route_value(r);
  }
  return value;
}

// All values of a port that is assigned by elements.
static Syntax *all_values(World *w, const LineTarget *t) {
  Nodes all = {t->route.n, NEW_ARRAY(w->arena, Syntax *, t->route.n + 1)};
  for (uint32_t i = 0; i < t->route.n; i++) all.at[i] = route_value(t->route.at[i]);
  return node_tuple(w->arena, t->route.at[0]->span, (TupleParts){all});
}

// The merged value has one pad, so all routes must agree.
static Syntax *pad_of_routes(MachineBuilder *m, const LineTarget *t) {
  Syntax *pad = t->route.n ? route_pad(t->route.at[0]) : NULL;
  for (uint32_t i = 1; i < t->route.n; i++) {
    Syntax *other = route_pad(t->route.at[i]);
    bool same = pad && other ? pad->kind == N_NUM && other->kind == N_NUM && pad->num == other->num
                             : pad == other;
    if (same) continue;
    Id e = diag_error(m->w->diags, t->route.at[i]->span,
                      "the wires into `%s` do not have the same `pad`",
                      name_text(m->w->names, t->name));
    diag_note(m->w->diags, e, t->route.at[0]->span, "the other one");
    break;
  }
  return pad;
}

Id placed_value(MachineBuilder *m, const LineTarget *t) {
  Type own = target_type(m, t);
  PlacesSaid said = {.own = &own, .number = (uint32_t)(t - m->target.at)};
  said.span = t->part ? m->s->part.at[t->part - 1].span : m->s->out.at[t->port].span;
  said.what = arena_format(m->w->arena, "port `%s`", name_text(m->w->names, t->name));
  for (uint32_t i = 0; i < t->route.n; i++) {
    const Syntax *r = t->route.at[i];
    PlaceLine line = {route_brackets(r), route_value(r), route_pad(r), r->span};
    vec_push(m->w->arena, &said.line, line);
  }
  return said_by_places(m, &said);
}

static void set_target(MachineBuilder *m, Env *env, LineTarget *t) {
  if (!t->route.n || !t->part || t->wire) return;
  if (t->placed) {
    t->wire = placed_value(m, t);
    return;
  }
  const Part *part = &m->s->part.at[t->part - 1];
  Type own = seen_type(m, part, &part->of->in.at[t->port].type);
  Syntax *brackets = NULL, *value = joined_routes(m, t, &brackets);
  Span span = t->route.at[0]->span;
  Value v = eval_typed(m, env, brackets, value, pad_of_routes(m, t), &own, span);
  m->spread = part->axes;
  if (v.n == 1)
    t->wire = fit_value(m, v.at[0], &own, span,
                        arena_format(m->w->arena, "port `%s`", name_text(m->w->names, t->name)));
  m->spread = 0;
}

// The number of lines that assign this port.
static uint32_t times_said(MachineBuilder *m, Name port) {
  Nodes line = block_statements(m->h.body);
  uint32_t times = 0;
  for (uint32_t i = 0; i < line.n; i++)
    for (uint32_t k = 0; line.at[i]->kind == N_EQUATION && k < lhss_in(equation_lhss(line.at[i])).n;
         k++)
      times += lhss_in(equation_lhss(line.at[i])).at[k]->name == port;
  return times;
}

// y[0] = x, y[1] = 2 * x: elements of a port assigned by number, or by several lines, are treated
// as routes. NULL: another kind of line.
Syntax *place_route(MachineBuilder *m, const Syntax *n) {
  if (n->kind != N_EQUATION || equation_cond(n) || m->s->shares) return NULL;
  const Syntax *lhs = nodes_only(lhss_in(equation_lhss(n)));
  int port = lhs && !lhs_is_rate(lhs) ? port_named(m->s->out.at, m->s->out.n, lhs->name) : -1;
  Nodes item = port >= 0 ? brackets_items(lhs_brackets(lhs)) : (Nodes){0, NULL};
  bool number = false;
  for (uint32_t i = 0; i < item.n; i++) {
    PlaceKind kind = place_kind(m, &m->s->out.at[port].type, item.at[i]);
    double k;
    number |=
        kind == PLACE_NUMBER || (kind == PLACE_OPEN && static_number(m->b, m->env, item.at[i], &k));
    if (kind == PLACE_OTHER && times_said(m, lhs->name) < 2) return NULL;
    number |= kind == PLACE_OTHER;
  }
  if (!number) return NULL;
  Arena *a = m->w->arena;
  Syntax *name = syntax_name(a, lhs->name, lhs->name_span);
  return node_route(
      a, n->span,
      (RouteParts){.value = equation_value(n),
                   .to = node_at(a, lhs->span, (AtParts){name, (Syntax *)lhs_brackets(lhs)}),
                   .pad = equation_pad(n)});
}

// Routes to ports of the wiring itself become equations.
void gather_routes(MachineBuilder *m, const Syntax *block, LineNodes *lines) {
  Nodes line = block_statements(block);
  for (uint32_t i = 0; i < line.n; i++) {
    const Syntax *place = place_route(m, line.at[i]);
    if (place || line.at[i]->kind == N_ROUTE) add_route(m, place ? place : line.at[i]);
  }
  add_life_routes(m, block, add_route);
  for (uint32_t i = 0; i < m->target.n; i++) settle_places(m, &m->target.at[i]);
  for (uint32_t i = 0; i < m->target.n; i++) {
    const LineTarget *t = &m->target.at[i];
    if (t->part) continue;
    Syntax *brackets = NULL,
           *value = t->placed ? all_values(m->w, t) : joined_routes(m, t, &brackets);
    Syntax *pad = t->placed ? NULL : pad_of_routes(m, t);
    vec_push(m->w->arena, lines, as_equation(m, t, value, brackets, pad));
  }
}

void set_targets(MachineBuilder *m, Env *env) {
  for (uint32_t i = 0; i < m->target.n; i++) set_target(m, env, &m->target.at[i]);
}
