// Normalises the target elements of routes: constants become literals, and all routes into a port
// use the same index names. Then they can be merged into one value and compared.
#include "base/diag.h"
#include "base/names.h"
#include "lang/machine/machine_own.h"

typedef struct {
  World *w;
  Name one, other;
} TwoNames;

static Syntax *names_exchanged(void *context, const Syntax *n) {
  const TwoNames *c = context;
  Name to = n->kind != N_NAME ? 0 : n->name == c->one ? c->other : n->name == c->other ? c->one : 0;
  if (to) return syntax_name(c->w->arena, to, n->span);
  return syntax_map(c->w->arena, n, names_exchanged, context);
}

static const Syntax *with_names_exchanged(World *w, const Syntax *route, Name one, Name other) {
  TwoNames c = {w, one, other};
  return one == other ? route : syntax_map(w->arena, route, names_exchanged, &c);
}

Type target_type(MachineBuilder *m, const LineTarget *t) {
  if (!t->part) return m->s->out.at[t->port].type;
  const Part *part = &m->s->part.at[t->part - 1];
  return seen_type(m, part, &part->of->in.at[t->port].type);
}

static bool is_unknown_name(void *builder, const Syntax *n) {
  MachineBuilder *m = builder;
  return n->kind == N_NAME && !env_meaning(m->env, n) && !scope_meaning(m->env->scope, n);
}

// A name that labels an axis of the port is an index there, whatever else it is bound to.
static bool is_target_index(MachineBuilder *m, const Type *own, const Syntax *n) {
  if (n->kind != N_NAME) return false;
  for (uint32_t i = 0; i < own->rank; i++)
    if (own->axis[i].label == n->name) return true;
  const Binding *bind = env_meaning(m->env, n);
  return (bind && bind->kind == BIND_SIZE) || is_unknown_name(m, n);
}

PlaceKind place_kind(MachineBuilder *m, const Type *own, const Syntax *item) {
  if (item->kind == N_NUM) return PLACE_NUMBER;
  if (is_target_index(m, own, item)) return PLACE_INDEX;
  return syntax_any(item, is_unknown_name, m) ? PLACE_OTHER : PLACE_OPEN;
}

static Syntax *number_of(MachineBuilder *m, const Type *own, Syntax *item) {
  double k;
  if (place_kind(m, own, item) != PLACE_OPEN || !static_number(m->b, m->env, item, &k)) return item;
  return syntax_number(m->w->arena, k, item->span);
}

static const Syntax *with_numbers(MachineBuilder *m, const Type *own, const Syntax *route) {
  World *w = m->w;
  Nodes item = brackets_items(route_brackets(route)), now = nodes_join(w->arena, item, (Nodes){0});
  bool changed = false;
  for (uint32_t i = 0; i < item.n; i++) {
    now.at[i] = number_of(m, own, item.at[i]);
    changed |= now.at[i] != item.at[i];
  }
  if (!changed) return route;
  Syntax *to = route_to(route), *brackets = brackets_of(w->arena, to->span, now);
  return node_route(
      w->arena, route->span,
      (RouteParts){.value = route_value(route),
                   .to = node_at(w->arena, to->span, (AtParts){use_base(to), brackets}),
                   .cond = route_cond(route),
                   .pad = route_pad(route)});
}

bool counts_at(const LineTarget *t, uint32_t axis) {
  for (uint32_t r = 0; r < t->route.n; r++) {
    Nodes item = brackets_items(route_brackets(t->route.at[r]));
    if (axis < item.n && item.at[axis]->kind == N_NUM) return true;
  }
  return false;
}

Name counting_index(World *w, uint32_t axis) {
  return name_from(w->names, arena_format(w->arena, "index %u", axis));
}

// The index name of an axis in all routes into a port; 0: none
static Name common_index(MachineBuilder *m, const LineTarget *t, const Type *own, uint32_t axis) {
  if (counts_at(t, axis)) return counting_index(m->w, axis);
  for (uint32_t r = 0; r < t->route.n; r++) {
    Nodes item = brackets_items(route_brackets(t->route.at[r]));
    if (axis < item.n && place_kind(m, own, item.at[axis]) == PLACE_INDEX)
      return item.at[axis]->name;
  }
  return 0;
}

// Does a route assign shifted elements (p[i+1].x, m[i i]) or have its own pad, with no guard on
// any?
static bool is_placed(MachineBuilder *m, const LineTarget *t, const Type *own) {
  bool other = false;
  for (uint32_t r = 0; r < t->route.n; r++) {
    Nodes item = brackets_items(route_brackets(t->route.at[r]));
    if (route_cond(t->route.at[r]) || item.n != own->rank) return false;
    other |= !route_pad(t->route.at[r]) != !route_pad(t->route.at[0]);
    for (uint32_t i = 0; i < item.n; i++) {
      PlaceKind kind = place_kind(m, own, item.at[i]);
      other |= kind == PLACE_OTHER;
      for (uint32_t k = 0; k < i; k++)
        other |= kind == PLACE_INDEX && tree_equal(item.at[i], item.at[k]);
    }
  }
  const System *of = t->part ? m->s->part.at[t->part - 1].of : NULL;
  const Port *port = of ? &of->in.at[t->port] : &m->s->out.at[t->port];
  return other && port->modes == ~(uint64_t)0 && !(of && of->shares);
}

// Refuses a guard together with a shifted element: the guard would have to be shifted too.
static bool guards_have_places(MachineBuilder *m, const LineTarget *t, const Type *own) {
  const Syntax *guard = NULL;
  bool moved = false;
  for (uint32_t r = 0; r < t->route.n; r++) {
    Nodes item = brackets_items(route_brackets(t->route.at[r]));
    if (route_cond(t->route.at[r])) guard = route_cond(t->route.at[r]);
    for (uint32_t i = 0; i < item.n; i++) moved |= place_kind(m, own, item.at[i]) == PLACE_OTHER;
  }
  if (!guard || !moved) return true;
  Id e = diag_error(m->w->diags, guard->span,
                    "a wire with a guard leads to places like [i] or [0], and one into `%s` to a "
                    "shifted one",
                    name_text(m->w->names, t->name));
  return diag_help(m->w->diags, e, "say both sides in one wire: `(x when … else y) -> …`");
}

void settle_places(MachineBuilder *m, LineTarget *t) {
  Type own = target_type(m, t);
  for (uint32_t r = 0; r < t->route.n; r++) t->route.at[r] = with_numbers(m, &own, t->route.at[r]);
  if (!guards_have_places(m, t, &own)) {
    t->route.n = 1;
    m->broken = true;
  }
  t->placed = is_placed(m, t, &own);
  if (t->placed) return;
  for (uint32_t axis = 0; axis < own.rank; axis++) {
    Name name = common_index(m, t, &own, axis);
    for (uint32_t r = 0; name && r < t->route.n; r++) {
      Nodes item = brackets_items(route_brackets(t->route.at[r]));
      if (axis < item.n && item.at[axis]->kind == N_NAME && item.at[axis]->name != name &&
          is_target_index(m, &own, item.at[axis]))
        t->route.at[r] = with_names_exchanged(m->w, t->route.at[r], item.at[axis]->name, name);
    }
  }
}

// -- shifting -------------------------------------------------------------------------------------
typedef struct {
  World *w;
  Name name;
  Syntax *by; // i-1
} MovedIndex;

static Syntax *with_moved(void *context, const Syntax *n) {
  const MovedIndex *c = context;
  if (n->kind == N_NAME && n->name == c->name) return c->by;
  return syntax_map(c->w->arena, n, with_moved, context);
}

// i+1, i-1, 1+i: the index and the offset
static const Syntax *moved_index(const Syntax *item, double *by) {
  Nodes term = item->kind == N_SUM ? chain_terms(item) : (Nodes){0, NULL};
  if (term.n != 2) return NULL;
  bool first = term.at[0]->kind == N_NAME;
  const Syntax *name = term.at[!first], *number = term.at[first];
  if (name->kind != N_NAME || number->kind != N_NUM) return NULL;
  bool minus = chain_sign(item, 1) == SIGN_MINUS;
  if (minus && !first) return NULL;
  *by = minus ? -number->num : number->num;
  return name;
}

static Syntax *index_less(World *w, const Syntax *name, double by) {
  Span span = name->span;
  Syntax *number = syntax_number(w->arena, by < 0 ? -by : by, span);
  Syntax *sum = node_sum(w->arena, span, (SumParts){NODES((Syntax *)name, number)});
  return node_paren(w->arena, span,
                    (ParenParts){syntax_signed(w->arena, sum, by < 0 ? SIGN_PLUS : SIGN_MINUS)});
}

PlaceLine line_moved(MachineBuilder *m, const PlaceLine *l, const Type *own) {
  World *w = m->w;
  Nodes item = brackets_items(l->brackets), now = nodes_join(w->arena, item, (Nodes){0, NULL});
  PlaceLine out = *l;
  bool moved = false;
  for (uint32_t i = 0; i < item.n; i++) {
    double by = 0;
    PlaceKind kind = place_kind(m, own, item.at[i]);
    const Syntax *name = kind == PLACE_INDEX ? item.at[i] : moved_index(item.at[i], &by);
    if (kind == PLACE_NUMBER) name = syntax_name(w->arena, counting_index(w, i), item.at[i]->span);
    if (!name) return *l;
    now.at[i] = (Syntax *)name;
    for (uint32_t k = 0; k < i; k++)
      if (now.at[k]->name == name->name) return *l;
    moved |= name != item.at[i];
    if (by == 0) continue;
    MovedIndex c = {w, name->name, index_less(w, name, by)};
    out.value = with_moved(&c, out.value);
  }
  if (!moved) return *l;
  out.brackets = brackets_of(w->arena, l->brackets->span, now);
  if (!out.pad) out.pad = syntax_number(w->arena, 0, l->span);
  return out;
}
