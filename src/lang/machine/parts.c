// Wirings: parts, what they show, and where the wires into them come from.
//
// What a part shows is an input of the lens, under the name `p.y`; what it takes is an output of
// the lens. So a wire is an equation, `p.a = …`, and everything that equations can do, wires can.
// Several wires into one port have guards; they become one value, `x when g else y when h else 0`.
#include "lang/machine/machine_own.h"

#include <math.h>

static Name dotted(World *w, Name part, Name port) {
  return name_from(w->names, arena_format(w->arena, "%s.%s", name_text(w->names, part),
                                          name_text(w->names, port)));
}

// -- parts ----------------------------------------------------------------------------------------
typedef struct {
  Def *def;
  const Syntax *config; // its brackets
  Env *env;             // in which they are read
} Called;

// p : Name, p : Name[8], p : gate, where `gate` is an option and stands for one of these.
static Called machine_called(MachineBuilder *m, const Syntax *n) {
  Called c = {.env = m->env};
  Binding *bind = NULL;
  for (;;) {
    c.config = use_brackets(n);
    const Syntax *name = use_base(n);
    bind = name->kind == N_NAME ? env_find(c.env, name->name) : NULL;
    if (!bind || bind->kind != BIND_OPTION || !bind->box.node || c.config) {
      n = name;
      break;
    }
    n = bind->box.node;
    c.env = bind->box.env;
  }
  Def *d = n->kind == N_NAME && !bind ? scope_find(c.env->scope, n->name) : NULL;
  if (d && (d->kind == DEF_MACHINE || d->kind == DEF_BOX || d->kind == DEF_LEARNER)) {
    c.def = d;
  } else if (bind && bind->kind == BIND_OPTION && bind->open) {
    Id e =
        diag_error(m->w->diags, n->span, "option `%s` has no default, so its machine is not known",
                   name_text(m->w->names, n->name));
    diag_help(m->w->diags, e, "an option that is a part has a default: `%s: Name`",
              name_text(m->w->names, n->name));
  } else if (n->kind == N_NAME && !d && !bind) {
    unknown_name(m->b, c.env, n, "machine");
  } else {
    diag_error(m->w->diags, n->span, "a part is a machine, a box or a learner: `p : Name`");
  }
  return c;
}

// What the lens sees of a port: the axis of an array is its own.
static Type seen_type(MachineBuilder *m, const Part *p, const Type *own) {
  Axis axis[RANK_LIMIT * 2];
  uint32_t n = 0;
  if (p->array) axis[n++] = p->axis;
  for (uint32_t i = 0; i < own->rank; i++, n++) {
    axis[n] = own->axis[i];
    if (p->array && axis[n].label == p->axis.label) axis[n].label = 0;
  }
  return type_like(m->w, own, n, axis);
}

// Its out-ports are wires here.
static void show_part(MachineBuilder *m, const Part *p) {
  World *w = m->w;
  for (uint32_t i = 0; i < p->of->out.n; i++) {
    Type own = seen_type(m, p, &p->of->out.at[i].type), full = full_type(m, &own);
    Name name = dotted(w, p->name, p->of->out.at[i].name);
    Id wire = diagram_input(w, m->b->d, full, name, origin_at(m->b, p->span));
    bind_port(m, name, wire, p->span);
  }
}

static bool array_axis(MachineBuilder *m, const Syntax *brackets, Axis *axis) {
  const Syntax *item = nodes_only(brackets_items(brackets));
  if (!item)
    return diag_refuse(m->w->diags, brackets->span,
                       "an array of parts has one size: `p[n] : Name`");
  *axis = (Axis){.size = size_eval(m->b, m->env, item, false)};
  int64_t n;
  if (axis->size && size_value(m->w, axis->size, &n) && n < 1)
    return diag_refuse(m->w->diags, item->span,
                       "an array of parts has at least one member, not %lld", (long long)n);
  if (item->kind == N_NAME) axis->label = item->name;
  return axis->size != 0;
}

static System *part_system(MachineBuilder *m, const Called *c, const Axis *array, PartLife life,
                           Span span) {
  Axis pass[RANK_LIMIT];
  uint32_t n = m->npass;
  memcpy(pass, m->pass, sizeof pass);
  if (array) {
    pass[n] = *array;
    pass[n].pass = FIRST_PASS + n;
    n++;
  }
  MachineUse use = {c->def, c->env, c->config, pass, n, m->b->generic, life, span};
  return system_of(m->in, &use);
}

static void add_part(MachineBuilder *m, Part part) {
  World *w = m->w;
  Id other = table_get(m->parts, &part.name, sizeof part.name);
  if (other) {
    Id e =
        diag_error(w->diags, part.span, "there are two parts `%s`", name_text(w->names, part.name));
    if (other <= m->s->part.n)
      diag_note(w->diags, e, m->s->part.at[other - 1].span, "the other one");
    return;
  }
  vec_push(w->arena, &m->s->part, part);
  table_put(m->parts, &part.name, sizeof part.name, m->s->part.n);
  show_part(m, &m->s->part.at[m->s->part.n - 1]);
  for (uint32_t i = 0; i < part.of->in.n; i++) {
    LineTarget t = {
        .name = dotted(w, part.name, part.of->in.at[i].name), .part = m->s->part.n, .port = i};
    vec_push(w->arena, &m->target, t);
    table_put(m->targets, &t.name, sizeof t.name, m->target.n);
  }
}

static void named_parts(MachineBuilder *m, const Syntax *n) {
  Called c = machine_called(m, part_machine(n));
  Def *d = c.def;
  for (uint32_t i = 0; i < lhss_in(part_lhss(n)).n; i++) {
    const Syntax *lhs = lhss_in(part_lhss(n)).at[i];
    Part part = {.name = lhs->name, .span = lhs->name_span};
    part.array = lhs_brackets(lhs);
    read_period(m, n, &part);
    bool good = d && (!part.array || array_axis(m, lhs_brackets(lhs), &part.axis));
    if (good)
      part.of = part_system(m, &c, part.array ? &part.axis : NULL, part_life(m, n),
                            part_machine(n)->span);
    if (part.of && part.of->shares) {
      Id e = diag_error(m->w->diags, part_machine(n)->span, "`%s` shares its variables",
                        name_text(m->w->names, d->name));
      diag_help(m->w->diags, e, "say which: `%s(x)`", name_text(m->w->names, d->name));
      part.of = NULL;
    }
    if (part.of && period_fits(m, &part)) {
      add_part(m, part);
      continue;
    }
    table_put(m->parts, &part.name, sizeof part.name, UINT32_MAX);
    m->broken = true;
  }
}

static Junction *junction_named(MachineBuilder *m, Name name) {
  for (uint32_t i = 0; i < m->s->junction.n; i++)
    if (m->s->junction.at[i].name == name) return &m->s->junction.at[i];
  Junction j = {.name = name, .outer = port_named(m->s->in.at, m->s->in.n, name) >= 0};
  vec_push(m->w->arena, &m->s->junction, j);
  return &m->s->junction.at[m->s->junction.n - 1];
}

// Growth(rabbits): its ports are these variables.
static void sharing_part(MachineBuilder *m, const Syntax *n) {
  World *w = m->w;
  Called c = machine_called(m, call_callee(n));
  Def *d = c.def;
  System *of = d ? part_system(m, &c, NULL, (PartLife){0}, n->span) : NULL;
  m->broken |= !of;
  if (!of || !live_share(m, of, n->span)) return;
  const char *name = name_text(w->names, d->name);
  if (!of->shares) {
    Id e = diag_error(w->diags, n->span, "`%s` does not share variables", name);
    diag_help(w->diags, e, "a part has a name: `p : %s`, and wires `x -> p.%s`", name,
              of->in.n ? name_text(w->names, of->in.at[0].name) : "a");
    return;
  }
  Nodes shared = call_args(n);
  if (shared.n != of->in.n) {
    Id e = diag_error(w->diags, n->span, "`%s` shares %u %s, but %u %s given", name, of->in.n,
                      of->in.n == 1 ? "variable" : "variables", shared.n,
                      shared.n == 1 ? "is" : "are");
    diag_note(w->diags, e, d->span, "declared here");
    return;
  }
  Part part = {.name = d->name, .of = of, .span = n->span, .every = 1};
  for (uint32_t k = 2; table_get(m->parts, &part.name, sizeof part.name); k++)
    part.name = name_from(w->names, arena_format(w->arena, "%s.%u", name, k));
  add_part(m, part);
  for (uint32_t i = 0; i < of->in.n; i++) {
    const Syntax *x = shared.at[i];
    bool known =
        x->kind == N_NAME && ((m->s->shares && port_named(m->s->in.at, m->s->in.n, x->name) >= 0) ||
                              own_state(m, x->name) >= 0);
    if (!known) {
      Id e = diag_error(w->diags, x->span, "this is not a variable that can be shared");
      diag_help(w->diags, e, "a shared variable is a port of this wiring, or a `state` in it");
      continue;
    }
    LineTarget *t = &m->target.at[m->target.n - of->in.n + i];
    vec_push(w->arena, &t->route,
             node_route(w->arena, x->span,
                        (RouteParts){.value = (Syntax *)x,
                                     .to = syntax_name(w->arena, t->name, x->span)}));
    vec_push(w->arena, &junction_named(m, x->name)->member, (PortEnd){m->s->part.n, i});
  }
}

void make_parts(MachineBuilder *m, const Syntax *block) {
  Nodes line = block_statements(block);
  for (uint32_t i = 0; i < line.n; i++) {
    if (line.at[i]->kind == N_PART) named_parts(m, line.at[i]);
    if (line.at[i]->kind == N_CALL) sharing_part(m, line.at[i]);
  }
}

// All members of a variable flow, or all step: rates and differences cannot be added.
static bool of_one_time(MachineBuilder *m, const Junction *j) {
  const Part *first = &m->s->part.at[j->member.at[0].part - 1];
  for (uint32_t i = 1; i < j->member.n; i++) {
    const Part *p = &m->s->part.at[j->member.at[i].part - 1];
    if (p->of->flows == first->of->flows) continue;
    const Part *flows = p->of->flows ? p : first, *steps = p->of->flows ? first : p;
    Id e = diag_error(m->w->diags, steps->span, "`%s` flows in `%s`, and steps in `%s`",
                      name_text(m->w->names, j->name), name_text(m->w->names, flows->of->name),
                      name_text(m->w->names, steps->of->name));
    diag_note(m->w->diags, e, flows->span, "here it flows");
    return false;
  }
  return true;
}

// What its members add to a variable, in the order of the text.
Id joined(MachineBuilder *m, uint32_t junction) {
  const Junction *j = &m->s->junction.at[junction];
  Val sum = {0};
  if (j->member.n && !of_one_time(m, j)) return 0;
  for (uint32_t i = 0; i < j->member.n; i++) {
    PortEnd end = j->member.at[i];
    const Part *p = &m->s->part.at[end.part - 1];
    Binding *bind = env_find(m->env, dotted(m->w, p->name, p->of->out.at[end.port].name));
    Val pair[2] = {sum, bind->value.at[0]};
    sum = i ? val_fn(m->b, FN_add, pair, 2, p->span, NULL) : bind->value.at[0];
  }
  return j->member.n ? val_to_wire(m->b, &sum, 0) : 0;
}

// -- ports as names -------------------------------------------------------------------------------
static const Part *part_named(const MachineBuilder *m, const Syntax *n, bool *broken) {
  Id k = n->kind == N_NAME ? table_get(m->parts, &n->name, sizeof n->name) : 0;
  *broken = k == UINT32_MAX;
  return k && !*broken ? &m->s->part.at[k - 1] : NULL;
}

static void try_ports(World *w, Nearest *near, const Port *port, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) nearest_try(near, name_text(w->names, port[i].name));
}

static bool has_port(MachineBuilder *m, const Part *p, const Syntax *dot) {
  World *w = m->w;
  if (port_named(p->of->out.at, p->of->out.n, dot->name) >= 0 ||
      port_named(p->of->in.at, p->of->in.n, dot->name) >= 0)
    return true;
  Nearest near = nearest_to(name_text(w->names, dot->name));
  try_ports(w, &near, p->of->in.at, p->of->in.n);
  try_ports(w, &near, p->of->out.at, p->of->out.n);
  Id e = diag_error(w->diags, dot->span, "part `%s` has no port `%s`", name_text(w->names, p->name),
                    name_text(w->names, dot->name));
  if (!diag_suggest(w->diags, e, near.best))
    diag_note(w->diags, e, p->of->span, "its ports are here");
  return false;
}

static Syntax *joined_brackets(World *w, const Syntax *a, const Syntax *b) {
  const Syntax *first = nodes_only(brackets_slots(a)), *second = nodes_only(brackets_slots(b));
  if (!first || !second) return (Syntax *)b;
  return brackets_of(w->arena, span_join(a->span, b->span),
                     nodes_join(w->arena, items_in(first), items_in(second)));
}

// p.y, p[i].y: as `p.y` and `p.y`[i]; NULL: it is not a port.
static Syntax *port_name(MachineBuilder *m, const Syntax *n) {
  if (n->kind != N_DOT) return NULL;
  const Syntax *base = dot_base(n), *brackets = NULL;
  if (base->kind == N_AT) brackets = at_brackets(base), base = at_base(base);
  bool broken;
  const Part *p = part_named(m, base, &broken);
  Syntax *error = node_error(m->w->arena, n->span, (ErrorParts){.names = {0, NULL}});
  if (!p) return broken ? error : NULL;
  if (!has_port(m, p, n)) return error;
  if (brackets && !p->array) {
    Id e = diag_error(m->w->diags, n->span, "`%s` is one part and has no members",
                      name_text(m->w->names, p->name));
    diag_note(m->w->diags, e, p->span, "an array is `%s[3] : …`", name_text(m->w->names, p->name));
    return error;
  }
  Syntax *name = syntax_name(m->w->arena, dotted(m->w, p->name, n->name), n->span);
  return brackets ? node_at(m->w->arena, n->span, (AtParts){name, (Syntax *)brackets}) : name;
}

static Syntax *with_ports_inside(void *m, const Syntax *n) { return with_ports(m, n); }

Syntax *with_ports(MachineBuilder *m, const Syntax *n) {
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

// -- wires ----------------------------------------------------------------------------------------
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
  Id e = diag_error(w->diags, to->span,
                    text ? "`%s` is not a port that a wire can lead to"
                         : "a wire leads to a port: `p.a`, or one of this wiring",
                    text ? text : "");
  diag_suggest(w->diags, e, near.best);
}

static Syntax *as_equation(MachineBuilder *m, const LineTarget *t, Syntax *value, Syntax *brackets,
                           Syntax *pad) {
  World *w = m->w;
  Span span = t->route.at[0]->span, name = route_to(t->route.at[0])->span;
  Syntax *lhs = node_lhs(w->arena, name, (LhsParts){brackets});
  lhs->name = t->name;
  lhs->name_span = name;
  Syntax *lhss = node_lhss(w->arena, name, (LhssParts){NODES(lhs)});
  return node_equation(w->arena, span, (EquationParts){.lhss = lhss, .value = value, .pad = pad});
}

static void add_route(MachineBuilder *m, const Syntax *n) {
  World *w = m->w;
  const Syntax *route = with_ports(m, n), *to = use_base(route_to(route));
  int own = to->kind == N_NAME ? port_named(m->s->out.at, m->s->out.n, to->name) : -1;
  Id known = to->kind == N_NAME ? table_get(m->targets, &to->name, sizeof to->name) : 0;
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

static const Syntax *route_brackets(const Syntax *route) { return use_brackets(route_to(route)); }

static bool is_number_item(const Syntax *n) { return n->kind == N_NUM; }

// Does a wire into this port say a number at place i?
static bool some_route_counts(const LineTarget *t, uint32_t i) {
  for (uint32_t r = 0; r < t->route.n; r++) {
    Nodes item = brackets_items(route_brackets(t->route.at[r]));
    if (i < item.n && is_number_item(item.at[i])) return true;
  }
  return false;
}

// The first and the second; the second alone where there is no first.
static Syntax *both(World *w, Syntax *first, Syntax *second) {
  if (!first) return second;
  return node_and(w->arena, second->span, (AndParts){NODES(first, second)});
}

// x -> p.a[0], y -> p.a[1]: as one equation over an index, with a condition on it.
static Syntax *over_numbers(MachineBuilder *m, const LineTarget *t, const Syntax *brackets,
                            Syntax **condition) {
  World *w = m->w;
  *condition = NULL;
  const Syntax *items = brackets ? nodes_only(brackets_slots(brackets)) : NULL;
  if (!items) return (Syntax *)brackets;
  Nodes written = items_in(items), each = nodes_join(w->arena, written, (Nodes){0, NULL});
  bool any = false;
  for (uint32_t i = 0; i < written.n; i++) {
    if (!some_route_counts(t, i)) continue;
    any = true;
    Name index = name_from(w->names, arena_format(w->arena, "index %u", i));
    Syntax *name = syntax_name(w->arena, index, written.at[i]->span);
    Syntax *test = node_cmp(w->arena, name->span, (CmpParts){name, written.at[i]});
    syntax_signed(w->arena, test, SIGN_EQUAL);
    if (is_number_item(written.at[i])) *condition = both(w, *condition, test);
    each.at[i] = name;
  }
  return any ? brackets_of(w->arena, brackets->span, each) : (Syntax *)brackets;
}

// All wires of a port as one value.
static Syntax *joined_routes(MachineBuilder *m, const LineTarget *t, Syntax **brackets) {
  World *w = m->w;
  Syntax *value = NULL;
  for (uint32_t i = t->route.n; i-- > 0;) {
    const Syntax *r = t->route.at[i];
    Syntax *condition;
    *brackets = over_numbers(m, t, route_brackets(r), &condition);
    Syntax *guard = route_cond(r);
    guard = guard ? both(w, condition, guard) : condition;
    if (!value && guard) {
      value = syntax_num(w->arena, 0, r->span);
      value->text = "0";
    }
    value = value && guard ? node_when(w->arena, r->span, (WhenParts){route_value(r), guard, value})
                           : route_value(r);
  }
  return value;
}

// What is read outside is the same for all wires of a port, since they are one value.
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

static void take_target(MachineBuilder *m, Env *env, LineTarget *t) {
  if (!t->route.n || !t->part) return;
  const Part *part = &m->s->part.at[t->part - 1];
  Type own = seen_type(m, part, &part->of->in.at[t->port].type);
  Syntax *brackets = NULL, *value = joined_routes(m, t, &brackets);
  Span span = t->route.at[0]->span;
  Value v = eval_typed(m, env, brackets, value, pad_of_routes(m, t), &own, span);
  if (v.n == 1)
    t->wire = fit_value(m, v.at[0], &own, span,
                        arena_format(m->w->arena, "port `%s`", name_text(m->w->names, t->name)));
}

// Wires to ports of the wiring itself are equations beside the others.
void gather_routes(MachineBuilder *m, const Syntax *block, LineNodes *lines) {
  Nodes line = block_statements(block);
  for (uint32_t i = 0; i < line.n; i++)
    if (line.at[i]->kind == N_ROUTE) add_route(m, line.at[i]);
  add_life_routes(m, block, add_route);
  for (uint32_t i = 0; i < m->target.n; i++) {
    const LineTarget *t = &m->target.at[i];
    if (t->part) continue;
    Syntax *brackets = NULL, *value = joined_routes(m, t, &brackets);
    vec_push(m->w->arena, lines, as_equation(m, t, value, brackets, pad_of_routes(m, t)));
  }
}

void take_routes(MachineBuilder *m, Env *env) {
  for (uint32_t i = 0; i < m->target.n; i++) take_target(m, env, &m->target.at[i]);
}

// -- every port has one source --------------------------------------------------------------------
enum { SITUATIONS_LIMIT = 65536 };
typedef enum { NO, YES, MAYBE } Holds;

typedef struct {
  Name name; // the value: p.mode, link
  const Ids *label;
  uint32_t now;
} Tag;

typedef struct {
  MachineBuilder *m;
  VEC(Tag) tag;
} Tags;

static const Ids *labels_of(MachineBuilder *m, Name name) {
  const Binding *bind = env_find(m->env, name);
  if (!bind || !bind->value.n || bind->value.at[0].error) return NULL;
  const Type *t = &bind->value.at[0].type;
  return t->base == BASE_LABEL && t->names ? &m->w->label_names.at[t->names] : NULL;
}

static Tag *tag_named(Tags *t, Name name) {
  for (uint32_t i = 0; i < t->tag.n; i++)
    if (t->tag.at[i].name == name) return &t->tag.at[i];
  const Ids *labels = labels_of(t->m, name);
  if (!labels) return NULL;
  vec_push(t->m->w->arena, &t->tag, (Tag){name, labels, 0});
  return &t->tag.at[t->tag.n - 1];
}

static void find_tags(Tags *t, const Syntax *n) {
  if (!n) return;
  if (n->kind == N_CMP && cmp_left(n)->kind == N_NAME && path_text(t->m->in, cmp_right(n)))
    tag_named(t, cmp_left(n)->name);
  for (uint32_t i = 0; i < syntax_parts(n).n; i++) find_tags(t, syntax_parts(n).at[i]);
}

static Holds holds(Tags *t, const Syntax *n) {
  if (!n) return YES;
  switch (n->kind) {
  case N_PAREN: return holds(t, paren_inner(n));
  case N_NOT: {
    Holds h = holds(t, not_operand(n));
    return h == MAYBE ? MAYBE : h == YES ? NO : YES;
  }
  case N_AND:
  case N_OR: {
    Holds neutral = n->kind == N_AND ? YES : NO, h = neutral;
    Nodes term = chain_terms(n);
    for (uint32_t i = 0; i < term.n; i++) {
      Holds k = holds(t, term.at[i]);
      if (k == (neutral == YES ? NO : YES)) return k;
      if (k == MAYBE) h = MAYBE;
    }
    return h;
  }
  case N_CMP: {
    const char *right = path_text(t->m->in, cmp_right(n));
    if (cmp_left(n)->kind != N_NAME || !right) return MAYBE;
    if (cmp_sign(n) != SIGN_EQUAL && cmp_sign(n) != SIGN_UNEQUAL) return MAYBE;
    const Tag *tag = tag_named(t, cmp_left(n)->name);
    if (!tag) return MAYBE;
    Name group = name_from(t->m->w->names, right);
    return label_is_in(t->m->w, tag->label->at[tag->now], group) == (cmp_sign(n) == SIGN_EQUAL)
               ? YES
               : NO;
  }
  default: return MAYBE;
  }
}

static const char *situation(Tags *t) {
  World *w = t->m->w;
  Buf b = buf_new(w->arena);
  for (uint32_t i = 0; i < t->tag.n; i++)
    buf_printf(&b, "%s%s = %s", i ? ", " : "", name_text(w->names, t->tag.at[i].name),
               name_text(w->names, t->tag.at[i].label->at[t->tag.at[i].now]));
  return b.at;
}

static bool next_situation(Tags *t) {
  for (uint32_t i = 0; i < t->tag.n; i++) {
    if (++t->tag.at[i].now < t->tag.at[i].label->n) return true;
    t->tag.at[i].now = 0;
  }
  return false;
}

static bool too_many(const Tags *t) {
  uint64_t situations = 1;
  for (uint32_t i = 0; i < t->tag.n && situations <= SITUATIONS_LIMIT; i++)
    situations *= t->tag.at[i].label->n;
  return situations > SITUATIONS_LIMIT;
}

// The mode of a part, or of the wiring itself.
static Name mode_of(MachineBuilder *m, const Part *part) {
  Name mode = name_from(m->w->names, "mode");
  return part ? dotted(m->w, part->name, mode) : mode;
}

static bool port_is_open(Tags *t, const Part *part, const Port *port) {
  if (port->modes == ~(uint64_t)0) return true;
  const Tag *tag = tag_named(t, mode_of(t->m, part));
  return !tag || (port->modes >> tag->now & 1);
}

// One situation after the other; the first that is wrong is reported.
static void check_guards(MachineBuilder *m, Tags *tags, const LineTarget *t, const Part *part,
                         const Port *port) {
  World *w = m->w;
  const char *name = name_text(w->names, t->name);
  if (too_many(tags)) {
    diag_error(w->diags, part ? part->span : port->span,
               "the wires into `%s` depend on too many modes to be checked", name);
    return;
  }
  do {
    uint32_t sources = 0;
    const Syntax *first = NULL;
    for (uint32_t i = 0; i < t->route.n; i++) {
      Holds h = holds(tags, route_cond(t->route.at[i]));
      if (h == MAYBE) {
        Id e = diag_error(w->diags, route_cond(t->route.at[i])->span,
                          "whether this wire is there must depend on modes and labels only");
        diag_help(w->diags, e, "a choice by numbers has both sides: `x when … else y -> %s`", name);
        return;
      }
      if (h == YES && !sources++) first = t->route.at[i];
      if (h == YES && sources > 1) {
        Id e = diag_error(w->diags, t->route.at[i]->span, "port `%s` has two sources%s%s", name,
                          tags->tag.n ? " when " : "", situation(tags));
        diag_note(w->diags, e, first->span, "the other one");
        return;
      }
    }
    bool open = port_is_open(tags, part, port);
    if (open && !sources) {
      Id e = diag_error(w->diags, part ? part->span : port->span, "port `%s` has no source%s%s",
                        name, tags->tag.n ? " when " : "", situation(tags));
      if (part) diag_note(w->diags, e, port->span, "the port");
      diag_help(w->diags, e, "a wire leads to it as `x -> %s`", name);
      return;
    }
    if (!open && sources) {
      Id e =
          diag_error(w->diags, first->span, "port `%s` is closed when %s, but this wire is there",
                     name, situation(tags));
      diag_note(w->diags, e, port->span, "the port");
      diag_help(w->diags, e, "give the wire a guard, as in `… -> %s when %s = …`", name,
                name_text(w->names, mode_of(m, part)));
      return;
    }
  } while (next_situation(tags));
}

// Ports whose elements are wired one by one: each exactly once.
static bool wired_by_numbers(MachineBuilder *m, const LineTarget *t, const Part *part,
                             const Port *port) {
  World *w = m->w;
  bool any = false, each = true, whole = false; // each: has one number, and nothing else
  for (uint32_t i = 0; i < t->route.n; i++) {
    Nodes item = brackets_items(route_brackets(t->route.at[i]));
    for (uint32_t k = 0; k < item.n; k++) any |= is_number_item(item.at[k]);
    each &= item.n == 1 && is_number_item(item.at[0]);
    whole |= !item.n;
  }
  if (!any || whole) return false;
  Type own = part ? seen_type(m, part, &port->type) : port->type;
  int64_t n = 0;
  if (!each || own.rank != 1 || !size_value(w, own.axis[0].size, &n) || n > 100000) return true;
  uint8_t *seen = NEW_ARRAY(w->arena, uint8_t, n);
  for (uint32_t i = 0; i < t->route.n; i++) {
    double at = brackets_items(route_brackets(t->route.at[i])).at[0]->num;
    if (at < 0 || at >= (double)n || at != floor(at)) {
      diag_error(w->diags, route_to(t->route.at[i])->span, "port `%s` has the places 0 to %lld",
                 name_text(w->names, t->name), (long long)n - 1);
      return true;
    }
    if (seen[(int64_t)at]++)
      diag_error(w->diags, t->route.at[i]->span, "place %g of port `%s` has two sources", at,
                 name_text(w->names, t->name));
  }
  for (int64_t i = 0; i < n; i++)
    if (!seen[i]) {
      diag_error(w->diags, part ? part->span : port->span, "place %lld of port `%s` has no source",
                 (long long)i, name_text(w->names, t->name));
      break;
    }
  return true;
}

// -- what is read is open -------------------------------------------------------------------------
bool port_of_part(MachineBuilder *m, Name name, PortEnd *out) {
  const char *text = name_text(m->w->names, name), *dot = strrchr(text, '.');
  if (!dot) return false;
  Name part = name_of(m->w->names, text, (size_t)(dot - text)),
       port = name_from(m->w->names, dot + 1);
  Id k = table_get(m->parts, &part, sizeof part);
  const System *of = k && k != UINT32_MAX ? m->s->part.at[k - 1].of : NULL;
  int at = of ? port_named(of->out.at, of->out.n, port) : -1;
  *out = (PortEnd){k, (uint32_t)at};
  return at >= 0;
}

// The part and port of `p.y`; false: it is another name.
static bool shown_port(MachineBuilder *m, Name name, const Part **part, const Port **port) {
  PortEnd end;
  if (!port_of_part(m, name, &end)) return false;
  *part = &m->s->part.at[end.part - 1];
  *port = &(*part)->of->out.at[end.port];
  return true;
}

static void find_read_tags(Tags *t, const Syntax *n) {
  const Part *part;
  const Port *port;
  if (!n) return;
  if (n->kind == N_NAME && shown_port(t->m, n->name, &part, &port) && port->modes != ~(uint64_t)0)
    tag_named(t, mode_of(t->m, part));
  for (uint32_t i = 0; i < syntax_parts(n).n; i++) find_read_tags(t, syntax_parts(n).at[i]);
}

// The name of a closed port that is read in this situation; NULL: none.
static const Syntax *closed_read(Tags *t, const Syntax *n) {
  const Part *part;
  const Port *port;
  if (!n) return NULL;
  if (n->kind == N_NAME && shown_port(t->m, n->name, &part, &port))
    return port_is_open(t, part, port) ? NULL : n;
  Holds first = n->kind == N_WHEN ? holds(t, when_cond(n)) : MAYBE;
  for (uint32_t i = 0; i < syntax_parts(n).n; i++) {
    if (n->kind == N_WHEN && i != 1 && first == (i ? YES : NO)) continue;
    const Syntax *found = closed_read(t, syntax_parts(n).at[i]);
    if (found) return found;
  }
  return NULL;
}

static void check_read(MachineBuilder *m, const Syntax *value, const Syntax *guard) {
  World *w = m->w;
  Tags tags = {.m = m};
  find_read_tags(&tags, value);
  if (!tags.tag.n) return;
  find_tags(&tags, guard);
  find_tags(&tags, value);
  if (too_many(&tags)) {
    diag_error(w->diags, value->span, "what is read here depends on too many modes to be checked");
    return;
  }
  do {
    const Syntax *n = holds(&tags, guard) == NO ? NULL : closed_read(&tags, value);
    if (!n) continue;
    const char *name = name_text(w->names, n->name);
    const Part *part = NULL;
    const Port *port = NULL;
    shown_port(m, n->name, &part, &port);
    Id e = diag_error(w->diags, n->span, "`%s` is closed when %s, but it is read here", name,
                      situation(&tags));
    diag_note(w->diags, e, port->span, "the port");
    diag_help(w->diags, e, "say when it is read, as in `%s -> … when %s = …`", name,
              name_text(w->names, mode_of(m, part)));
    return;
  } while (next_situation(&tags));
}

static void check_reads(MachineBuilder *m) {
  const Syntax *body = m->h.body;
  for (uint32_t i = 0; m->s->part.n && i < block_statements(body).n; i++) {
    const Syntax *n = block_statements(body).at[i];
    if (n->kind == N_PART && part_alive(n)) check_read(m, with_ports(m, part_alive(n)), NULL);
    if (n->kind != N_ROUTE && n->kind != N_EQUATION && n->kind != N_STEP) continue;
    n = with_ports(m, n);
    if (n->kind == N_ROUTE) check_read(m, route_value(n), route_cond(n));
    if (n->kind == N_EQUATION) check_read(m, equation_value(n), NULL);
    if (n->kind == N_STEP) check_read(m, step_value(n), step_cond(n));
  }
}

void check_targets(MachineBuilder *m) {
  for (uint32_t i = 0; i < m->target.n; i++) {
    const LineTarget *t = &m->target.at[i];
    const Part *part = t->part ? &m->s->part.at[t->part - 1] : NULL;
    const Port *port = part ? &part->of->in.at[t->port] : &m->s->out.at[t->port];
    if (wired_by_numbers(m, t, part, port)) continue;
    Tags tags = {.m = m};
    for (uint32_t k = 0; k < t->route.n; k++) find_tags(&tags, route_cond(t->route.at[k]));
    if (port->modes != ~(uint64_t)0) tag_named(&tags, mode_of(m, part));
    check_guards(m, &tags, t, part, port);
  }
  check_reads(m);
}
