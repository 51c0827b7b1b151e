// Shared variables: `share`s called in a wiring, and the sum of what they add.
//
//   Leak(v)                     the whole variable
//   Leak(v[0])                  one element
//   Resistor(v[i], v[i+1])      one part for each i for which all elements exist
//
// A loop gathers the elements for such a part; the transposed loop scatters what it adds. The sum
// is taken in an order given by the text of the calls, so it does not depend on their textual
// order, to the last bit.
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "core/diagram/ops.h"
#include "lang/machine/machine_own.h"

#include <stdlib.h>

typedef struct {
  Name index;  // 0: a single element
  Size offset; // v[i+1]: 1; v[0]: 0
} SharePlace;

typedef struct {
  const Syntax *node;
  Name name; // of the variable
  Type type;
  uint32_t places; // indexed axes; the others are taken whole
  SharePlace place[RANK_LIMIT];
} ShareArg;

typedef struct {
  MachineBuilder *m;
  const Syntax *call;
  uint32_t n; // number of free indices
  Name index[PART_AXES];
  Size low[PART_AXES], high[PART_AXES]; // their range, for which all elements exist
} ShareCall;

static Junction *junction_named(MachineBuilder *m, Name name) {
  for (uint32_t i = 0; i < m->s->junction.n; i++)
    if (m->s->junction.at[i].name == name) return &m->s->junction.at[i];
  Junction j = {.name = name, .outer = port_named(m->s->in.at, m->s->in.n, name) >= 0};
  vec_push(m->w->arena, &m->s->junction, j);
  return &m->s->junction.at[m->s->junction.n - 1];
}

static const Type *variable_type(const MachineBuilder *m, Name name) {
  int port = m->s->shares ? port_named(m->s->in.at, m->s->in.n, name) : -1,
      state = own_state(m, name);
  return port >= 0 ? &m->s->in.at[port].type : state >= 0 ? &m->held.at[state].own : NULL;
}

// -- elements -------------------------------------------------------------------------------------
// An unbound name; or the name of an axis, if it stands alone.
static bool is_index(MachineBuilder *m, const Syntax *n, bool alone) {
  if (n->kind != N_NAME) return false;
  const Binding *bind = env_meaning(m->env, n);
  const Def *def = bind ? NULL : scope_meaning(m->env->scope, n);
  if (bind) return alone && bind->kind == BIND_SIZE;
  return !def || (alone && def->kind == DEF_AXIS);
}

// i, 3, i+1, n-1
static bool read_place(MachineBuilder *m, const Syntax *n, SharePlace *out) {
  World *w = m->w;
  *out = (SharePlace){.offset = size_of(w, 0)};
  if (is_index(m, n, true)) {
    out->index = n->name;
    return true;
  }
  Nodes term = n->kind == N_SUM ? chain_terms(n) : NODES((Syntax *)n);
  for (uint32_t i = 0; i < term.n; i++) {
    bool minus = i && chain_sign(n, i) == SIGN_MINUS;
    if (!out->index && !minus && is_index(m, term.at[i], false)) {
      out->index = term.at[i]->name;
      continue;
    }
    Size k = size_eval(m->b, m->env, term.at[i], false);
    if (!k) return false;
    out->offset = minus ? size_sub(w, out->offset, k) : size_add(w, out->offset, k);
  }
  return true;
}

// Takes the minimum or maximum; false: unknown.
static bool settle_bound(World *w, Size *bound, Size other, bool larger) {
  int64_t by;
  if (!*bound) *bound = other;
  if (!size_value(w, size_sub(w, other, *bound), &by)) return false;
  if (larger ? by > 0 : by < 0) *bound = other;
  return true;
}

static bool note_index(ShareCall *c, const ShareArg *a, uint32_t axis) {
  World *w = c->m->w;
  const SharePlace *p = &a->place[axis];
  uint32_t k = 0;
  while (k < c->n && c->index[k] != p->index) k++;
  if (k == PART_AXES)
    return diag_refuse(w->diags, c->call->span, "an array of parts has at most %d indices",
                       PART_AXES);
  if (k == c->n) c->index[c->n++] = p->index, c->low[k] = c->high[k] = 0;
  Size low = size_sub(w, size_of(w, 0), p->offset),
       high = size_sub(w, size_sub(w, a->type.axis[axis].size, size_of(w, 1)), p->offset);
  bool known = settle_bound(w, &c->low[k], low, true) && settle_bound(w, &c->high[k], high, false);
  if (known || c->m->b->generic) return true; // checked again with known sizes
  Id e = diag_error(w->diags, a->node->span, "how far `%s` runs depends on sizes that are open",
                    name_text(w->names, p->index));
  return diag_help(w->diags, e, "`for %s in 0..2 { … }` says how far",
                   name_text(w->names, p->index));
}

static bool check_place(ShareCall *c, const ShareArg *a, uint32_t axis) {
  World *w = c->m->w;
  int64_t at, n;
  if (a->place[axis].index) return note_index(c, a, axis);
  if (!size_value(w, a->place[axis].offset, &at) || !size_value(w, a->type.axis[axis].size, &n))
    return true;
  return (at >= 0 && at < n) ||
         diag_refuse(w->diags, a->node->span, "`%s` has the places 0 to %lld, and no place %lld",
                     name_text(w->names, a->name), (long long)n - 1, (long long)at);
}

static bool read_arg(ShareCall *c, const Syntax *n, ShareArg *a) {
  MachineBuilder *m = c->m;
  const Syntax *base = use_base(n);
  const Type *type = base->kind == N_NAME ? variable_type(m, base->name) : NULL;
  if (!type) {
    Id e = diag_error(m->w->diags, n->span, "this is not a variable that can be shared");
    return diag_help(m->w->diags, e,
                     "a shared variable is a port of this wiring, or a `state` in it");
  }
  Nodes item = brackets_items(use_brackets(n));
  *a = (ShareArg){.node = n, .name = base->name, .type = *type, .places = item.n};
  if (item.n > type->rank)
    return diag_refuse(m->w->diags, n->span, "`%s` is %s: it does not have %u %s",
                       name_text(m->w->names, a->name), own_text(m->w, type), item.n,
                       item.n == 1 ? "axis" : "axes");
  for (uint32_t i = 0; i < item.n; i++)
    if (!read_place(m, item.at[i], &a->place[i]) || !check_place(c, a, i)) return false;
  return true;
}

// none: the range is empty, so there is no part. That is an error unless the wiring has options.
static bool find_axes(ShareCall *c, Part *part, bool *none) {
  World *w = c->m->w;
  for (uint32_t i = 0; i < c->n; i++) {
    int64_t n;
    part->axis[i] = (Axis){.size = size_add(w, size_sub(w, c->high[i], c->low[i]), size_of(w, 1))};
    if (!size_value(w, part->axis[i].size, &n) || n > 0) continue;
    *none = c->m->h.cfg != NULL;
    return *none ||
           diag_refuse(w->diags, c->call->span, "there is no `%s` for which all these places exist",
                       name_text(w->names, c->index[i]));
  }
  part->axes = c->n;
  return true;
}

// -- gather and scatter ---------------------------------------------------------------------------
// The element of the variable for each point of the port.
static Access variable_access(const ShareCall *c, const ShareArg *a) {
  const MachineBuilder *m = c->m;
  World *w = m->w;
  Access access = {.rank = m->npass + a->type.rank};
  access.coord = NEW_ARRAY(w->arena, Coord, access.rank + 1);
  for (uint32_t i = 0; i < m->npass; i++) access.coord[i] = coord_index(w, i);
  for (uint32_t i = 0; i < a->type.rank; i++) {
    Coord *to = &access.coord[m->npass + i];
    const SharePlace *p = &a->place[i];
    uint32_t k = 0;
    if (i >= a->places) {
      *to = coord_index(w, m->npass + c->n + i - a->places);
      continue;
    }
    while (k < c->n && c->index[k] != p->index) k++;
    *to = coord_const(w, p->index ? size_add(w, p->offset, c->low[k]) : p->offset);
    if (p->index) *to = coord_add(w, *to, size_of(w, 1), m->npass + k, false);
  }
  return access;
}

// A loop over the port: gathers from the variable, or scatters to it (`back`).
static Id move_elements(const ShareCall *c, const ShareArg *a, const Type *port, Id from,
                        bool back) {
  Body *b = c->m->b;
  World *w = b->w;
  Loop loop = {.combine = SUM, .nindex = port->rank, .nin = 1};
  uint32_t each[RANK_LIMIT * 2];
  loop.index = NEW_ARRAY(w->arena, Index, port->rank + 1);
  for (uint32_t i = 0; i < port->rank; i++) {
    each[i] = i;
    loop.index[i] = (Index){port->axis[i].label, port->axis[i].size};
  }
  Access plain = access_plain(w, port->rank, each), there = variable_access(c, a);
  loop.in = arena_copy(w->arena, back ? &plain : &there, sizeof plain);
  loop.out = back ? there : plain;
  scalar_push(w, &loop, (Scalar){.fn = FN_ARG, .base = port->base});
  Type out = back ? full_type(c->m, &a->type) : *port;
  return box_loop(w, b->d, &loop, &from, 1, out, origin_at(b, a->node->span));
}

static bool fits_port(ShareCall *c, const ShareArg *a, const Part *part, const Type *port) {
  Body *b = c->m->b;
  Span span = a->node->span;
  uint32_t rest = a->type.rank - a->places;
  bool fits = a->type.base == port->base && rest == port->rank;
  for (uint32_t i = 0; fits && i < rest; i++)
    fits = sizes_agree(b, port->axis[i].size, a->type.axis[a->places + i].size, span, span,
                       "a shared variable");
  Type here = type_like(b->w, &a->type, rest, a->type.axis + a->places);
  return fits || diag_refuse(b->w->diags, span, "`%s` shares %s here, but this is %s",
                             name_text(b->w->names, part->of->name), own_text(b->w, port),
                             own_text(b->w, &here));
}

// Connects a port: its value is gathered, what it adds is scattered.
static bool share_variable(ShareCall *c, const ShareArg *a, LineTarget *t) {
  MachineBuilder *m = c->m;
  World *w = m->w;
  const Part *part = &m->s->part.at[t->part - 1];
  const Port *port = &part->of->in.at[t->port];
  if (!fits_port(c, a, part, &port->type)) return false;
  Binding *variable = env_find(m->env, a->name),
          *shown = env_find(m->env, dotted_name(w, part->name, port->name));
  JunctionMember member = {.end = {t->part, t->port}, .at = a->node, .call = c->call};
  t->wire = val_to_wire(m->b, &variable->value.at[0], 0);
  member.adds = val_to_wire(m->b, &shown->value.at[0], 0);
  if (c->n || a->places) {
    Type seen = seen_type(m, part, &port->type), full = full_type(m, &seen);
    t->wire = move_elements(c, a, &full, t->wire, false);
    member.adds = move_elements(c, a, &full, member.adds, true);
  }
  Syntax *to = syntax_name(w->arena, t->name, a->node->span);
  vec_push(w->arena, &t->route,
           node_route(w->arena, to->span, (RouteParts){.value = (Syntax *)a->node, .to = to}));
  vec_push(w->arena, &junction_named(m, a->name)->member, member);
  return true;
}

static bool takes_these(ShareCall *c, const Def *d, const System *of) {
  World *w = c->m->w;
  const char *name = name_text(w->names, d->name);
  Nodes shared = call_args(c->call);
  if (!of->shares) {
    Id e = diag_error(w->diags, c->call->span, "`%s` does not share variables", name);
    return diag_help(w->diags, e, "a part has a name: `p : %s`, and wires `x -> p.%s`", name,
                     of->in.n ? name_text(w->names, of->in.at[0].name) : "a");
  }
  if (shared.n == of->in.n) return true;
  Id e =
      diag_error(w->diags, c->call->span, "`%s` shares %u %s, but %u %s given", name, of->in.n,
                 of->in.n == 1 ? "variable" : "variables", shared.n, shared.n == 1 ? "is" : "are");
  return diag_note(w->diags, e, d->span, "declared here");
}

// Growth(rabbits): a part whose ports are these variables.
void sharing_part(MachineBuilder *m, const Syntax *n) {
  World *w = m->w;
  Called called = machine_called(m, call_callee(n));
  Def *d = called.def;
  ShareCall c = {.m = m, .call = n};
  Nodes shared = call_args(n);
  ShareArg *arg = NEW_ARRAY(w->arena, ShareArg, shared.n + 1);
  bool good = d != NULL;
  for (uint32_t i = 0; good && i < shared.n; i++) good = read_arg(&c, shared.at[i], &arg[i]);
  Part part = {.span = n->span, .every = 1};
  bool none = false;
  good = good && find_axes(&c, &part, &none);
  if (none) return;
  part.of = good ? part_system(m, &called, &part, (PartLife){0}, n->span) : NULL;
  m->open_loops |= !part.of && d && d->open_loops;
  m->broken |= !part.of;
  if (!part.of || !takes_these(&c, d, part.of) || !live_share(m, part.of, n->span)) return;
  part.name = d->name;
  for (uint32_t k = 2; table_get(m->parts, &part.name, sizeof part.name); k++)
    part.name =
        name_from(w->names, arena_format(w->arena, "%s.%u", name_text(w->names, d->name), k));
  if (part.of->flows) m->flows = true, m->waits = false; // the shared variable has a rate here
  add_part(m, part);
  for (uint32_t i = 0; i < shared.n; i++)
    m->broken |= !share_variable(&c, &arg[i], &m->target.at[m->target.n - shared.n + i]);
}

// -- sums -----------------------------------------------------------------------------------------
// All members of a variable must be continuous, or all discrete: rates and differences cannot be
// added.
static bool of_one_time(MachineBuilder *m, const Junction *j) {
  const Part *first = &m->s->part.at[j->member.at[0].end.part - 1];
  for (uint32_t i = 1; i < j->member.n; i++) {
    const Part *p = &m->s->part.at[j->member.at[i].end.part - 1];
    if (p->of->flows == first->of->flows) continue;
    const Part *flows = p->of->flows ? p : first, *steps = p->of->flows ? first : p;
    Id e = diag_error(m->w->diags, steps->span, "`%s` flows in `%s`, and steps in `%s`",
                      name_text(m->w->names, j->name), name_text(m->w->names, flows->of->name),
                      name_text(m->w->names, steps->of->name));
    return diag_note(m->w->diags, e, flows->span, "here it flows");
  }
  return true;
}

typedef struct {
  const char *text; // source text of the call
  uint32_t port, at;
} MemberKey;

static int by_text(const void *a, const void *b) {
  const MemberKey *x = a, *y = b;
  int order = strcmp(x->text, y->text);
  if (!order) order = (x->port > y->port) - (x->port < y->port);
  return order ? order : (x->at > y->at) - (x->at < y->at);
}

static MemberKey *members_in_order(World *w, const Junction *j) {
  MemberKey *key = NEW_ARRAY(w->arena, MemberKey, j->member.n + 1);
  for (uint32_t i = 0; i < j->member.n; i++) {
    Buf text = buf_new(w->arena);
    tree_print(w->names, j->member.at[i].call, &text);
    key[i] = (MemberKey){text.at, j->member.at[i].end.port, i};
  }
  qsort(key, j->member.n, sizeof *key, by_text);
  return key;
}

Id sum_of_members(MachineBuilder *m, uint32_t junction) {
  const Junction *j = &m->s->junction.at[junction];
  if (!j->member.n || !of_one_time(m, j)) return 0;
  const MemberKey *key = members_in_order(m->w, j);
  Val sum = {0};
  for (uint32_t i = 0; i < j->member.n; i++) {
    const JunctionMember *member = &j->member.at[key[i].at];
    Val pair[2] = {sum, val_wire(m->b, member->adds, member->call->span)};
    sum = i ? val_fn(m->b, FN_add, pair, 2, member->call->span, NULL) : pair[1];
  }
  return fit_value(m, sum, variable_type(m, j->name), j->member.at[0].call->span,
                   "a shared variable");
}
