// Stopping, and parts that are born and die.
//
//   mode done stop                      nothing changes in it any more
//   cell[64] : Cell while alive[i]      a part that exists only while a condition holds
//
// Both are input bits of a part: `while` says that it exists, `stop` that the system around it has
// stopped. Without existence, or when stopped, rates are 0, states hold and guards are negative. A
// part that does not exist has outputs 0; its states wait at their initial values, or at those of
// `born (x: …)`. Inner parts get the same bits. So mortal parts need no support in the simulator,
// except that in continuous time a birth is an event.
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "core/diagram/each.h"
#include "core/diagram/ops.h"
#include "core/pass/rewrite.h"
#include "lang/machine/machine_own.h"

#include <assert.h>

static Name alive_name(World *w) {
  return name_from(w->names, "is alive");
} // names that no text can contain
static Name stopped_name(World *w) { return name_from(w->names, "has stopped"); }

static const Type bit = {.base = BASE_BIT};

static Val wire_val(MachineBuilder *m, Id wire) { return val_wire(m->b, wire, m->def->span); }

static Id port_added(MachineBuilder *m, const char *name, Type type) {
  World *w = m->w;
  Port port = {
      .name = name_from(w->names, name), .type = type, .modes = ~(uint64_t)0, .span = m->def->span};
  vec_push(w->arena, &m->s->in, port);
  return diagram_input(w, m->b->d, full_type(m, &type), port.name, origin_at(m->b, m->def->span));
}

// `yes` if the bit is set, otherwise `no`, or 0.
static Id select_wire(MachineBuilder *m, Id cond, Id yes, Id no, const Type *own) {
  return where_set(m, cond, yes, no, own, m->def->span, "a state");
}

static Id logic_wire(MachineBuilder *m, Fn fn, Id a, Id b) {
  Val pair[2] = {wire_val(m, a), b ? wire_val(m, b) : (Val){0}};
  return fit_value(m, val_fn(m->b, fn, pair, b ? 2 : 1, m->def->span, NULL), &bit, m->def->span,
                   "a condition");
}

// -- life bits ------------------------------------------------------------------------------------
static bool is_time(void *names, const Syntax *n) {
  return n->kind == N_NAME && !strcmp(name_text(names, n->name), "time");
}

// A stopped machine reads no inputs and no time. Inner parts get theirs from it.
static void close_inputs(MachineBuilder *m, uint32_t ports) {
  Id going = logic_wire(m, FN_not, m->stopped, 0);
  for (uint32_t i = 0; i < ports; i++) {
    const Port *port = &m->s->in.at[i];
    bind_port(m, port->name, select_wire(m, going, m->b->d->in.at[i], 0, &port->type), port->span);
  }
  if (!syntax_any(m->h.body, is_time, m->w->names)) return;
  Name time = name_from(m->w->names, "time");
  Syntax *name = syntax_name(m->w->arena, time, m->def->span);
  Value v = eval_alone(m->b, m->env, name);
  Type number = {.base = BASE_R};
  Id wire = v.n == 1 ? fit_value(m, v.at[0], &number, m->def->span, "time") : 0;
  bind_port(m, time, select_wire(m, going, wire, 0, &number), m->def->span);
}

static void add_born(MachineBuilder *m) {
  World *w = m->w;
  for (uint32_t i = 0; i < m->s->own.n; i++) vec_push(w->arena, &m->born, 0);
  for (uint32_t i = 0; i < m->life.born.n; i++) {
    Name name = m->life.born.at[i];
    int at = own_state(m, name);
    const char *text = name_text(w->names, name);
    if (at < 0) {
      Nearest near = nearest_to(text);
      for (uint32_t k = 0; k < m->s->own.n; k++)
        nearest_try(&near, name_text(w->names, m->s->own.at[k].name));
      Id e = diag_error(w->diags, m->life.span, "`%s` has no state `%s` that it could be born with",
                        name_text(w->names, m->def->name), text);
      diag_suggest(w->diags, e, near.best);
      continue;
    }
    m->born.at[at] = port_added(m, arena_format(w->arena, "born %s", text), m->held.at[at].own);
  }
}

void add_life(MachineBuilder *m) {
  World *w = m->w;
  uint32_t ports = m->s->in.n;
  if (m->life.mortal && !m->life.quiet) m->alive = port_added(m, "while", bit);
  add_born(m);
  uint32_t known = m->s->in.n;
  if (m->life.mortal && m->life.quiet) m->alive = port_added(m, "while", bit);
  if (m->life.halts) m->stopped = port_added(m, "stop", bit);
  m->s->quiet = m->s->in.n - known;
  bool own = false;
  for (uint32_t i = 0; i < m->modes.n; i++) {
    if (!m->modes.at[i].stops) continue;
    Val v = in_mode(m, (int)i, m->def->span);
    Id here = fit_value(m, v, &bit, m->def->span, "a condition");
    m->stopped = m->stopped ? logic_wire(m, FN_or, m->stopped, here) : here;
    own = true;
  }
  if (own) {
    uint32_t mode = (uint32_t)own_state(m, name_from(w->names, "mode"));
    vec_push(w->arena, &m->s->halt, ((SystemHalt){mode, m->s->stops, m->stopped}));
  }
  if (m->stopped) close_inputs(m, own ? ports : 0);
  m->live = m->stopped ? logic_wire(m, FN_not, m->stopped, 0) : 0;
  if (m->alive) m->live = m->live ? logic_wire(m, FN_and, m->alive, m->live) : m->alive;
  if (m->alive) bind_port(m, alive_name(w), m->alive, m->def->span);
  if (m->stopped) bind_port(m, stopped_name(w), m->stopped, m->def->span);
}

// -- states ---------------------------------------------------------------------------------------
// The initial value of a state, as a value: a number, or a constant param.
static Id start_wire(MachineBuilder *m, uint32_t own) {
  World *w = m->w;
  while (m->born.n <= own) vec_push(w->arena, &m->born, 0);
  if (m->born.at[own]) return m->born.at[own];
  const Held *held = &m->held.at[own];
  Param p = m->b->d->param.at[held->param];
  if (p.init.kind == INIT_CONST) {
    Val v = filled_value(m, p.init.k, &held->own, m->def->span);
    return m->born.at[own] = val_to_wire(m->b, &v, 0);
  }
  p.path = arena_format(w->arena, "%s.start", p.path);
  p.next = 0;
  const Wire *x = &m->b->d->wire.at[held->wire];
  uint32_t k = diagram_param(w, m->b->d, p, x->type, name_from(w->names, p.path), x->origin);
  sync_sites(m->b);
  return m->born.at[own] = m->b->d->param.at[k].wire;
}

static bool is_given(const MachineBuilder *m, Name state) {
  for (uint32_t i = 0; i < m->life.born.n; i++)
    if (m->life.born.at[i] == state) return true;
  return false;
}

Id live_rate(MachineBuilder *m, uint32_t own, Id rate) {
  return rate ? select_wire(m, m->live, rate, 0, &m->held.at[own].own) : 0;
}

Id live_next(MachineBuilder *m, uint32_t own, Id next) {
  const Held *held = &m->held.at[own];
  bool given = is_given(m, m->s->own.at[own].name) && !m->flows && !m->s->own.at[own].learns;
  if (!m->live || (!next && !given)) return next;
  Id then = next ? next : held->wire;
  if (m->stopped) then = select_wire(m, m->stopped, held->wire, then, &held->own);
  return m->alive ? select_wire(m, m->alive, then, start_wire(m, own), &held->own) : then;
}

Id live_guard(MachineBuilder *m, Id guard, const Type *own) {
  Val down = filled_value(m, -1, own, m->def->span);
  return m->live && guard ? select_wire(m, m->live, guard, val_to_wire(m->b, &down, 0), own)
                          : guard;
}

Id live_shown(MachineBuilder *m, const Type *own, Id wire) {
  if (m->s->shares && m->stopped) // a stopped share adds nothing
    return select_wire(m, logic_wire(m, FN_not, m->stopped, 0), wire, 0, own);
  return select_wire(m, m->alive, wire, 0, own);
}

void live_learned(MachineBuilder *m, Learned *l) {
  if (m->live && l->unroll > 1)
    diag_error(m->w->diags, l->span,
               "`unroll` goes back over the last ticks, and `%s` stops or dies between them",
               name_text(m->w->names, m->def->name));
  if (m->live) l->when = l->when ? logic_wire(m, FN_and, l->when, m->live) : m->live;
  if (m->alive && l->at < m->s->own.n) start_wire(m, l->at);
}

void add_birth(MachineBuilder *m) {
  Arena *a = m->w->arena;
  if (!m->alive || !(m->s->own.n + m->learned.n)) return;
  Type number = {.base = BASE_R};
  Val up = filled_value(m, 1, &number, m->def->span),
      down = filled_value(m, -1, &number, m->def->span);
  Id high = val_to_wire(m->b, &up, 0), low = val_to_wire(m->b, &down, 0);
  SystemEvent e = {.birth = true, .path = "", .span = m->def->span};
  SystemEvent end = {.death = true, .path = "", .span = m->def->span};
  e.guard = select_wire(m, m->alive, high, low, &number);
  end.guard = select_wire(m, m->alive, low, high, &number);
  for (uint32_t i = 0; i < m->s->own.n; i++) {
    vec_push(a, &e.state, i);
    vec_push(a, &e.value, start_wire(m, i));
    vec_push(a, &e.named, 0);
  }
  vec_push(a, &m->s->event, e);
  vec_push(a, &m->s->event, end);
}

// A constant param of the flattened system: the initial value of another param.
static Id begins_at(World *w, Diagram *d, uint32_t param) {
  Param p = d->param.at[param];
  const Wire *x = &d->wire.at[p.wire];
  p.path = arena_format(w->arena, "%s.start", p.path);
  p.role = ROLE_BUFFER;
  p.next = 0;
  uint32_t k = diagram_param(w, d, p, x->type, x->name, x->origin);
  return d->param.at[k].wire;
}

void live_learnt(MachineBuilder *m) {
  World *w = m->w;
  System *s = m->s;
  SystemEvent *birth = NULL;
  for (uint32_t i = 0; m->alive && i < s->event.n; i++)
    if (s->event.at[i].birth && !*s->event.at[i].path) birth = &s->event.at[i];
  for (uint32_t i = 0; birth && i < s->state.n; i++) {
    SystemState *x = &s->state.at[i];
    bool own = i < s->own.n && s->own.at[i].learns, more = i >= s->learnt_from && i < s->learnt_to;
    if ((!own && !more) || !x->next) continue;
    assert(s->d->wire.at[s->d->param.at[x->param].wire].type.rank >= m->npass);
    Id start = own ? m->born.at[i] : begins_at(w, s->d, x->param);
    x->next = wire_choice(w, s->d, m->alive, x->next, start);
    x->reborn = true;
    if (!more) continue;
    vec_push(w->arena, &birth->state, i);
    vec_push(w->arena, &birth->value, start);
    vec_push(w->arena, &birth->named, 0);
  }
}

// -- wirings stop when all parts have stopped -----------------------------------------------------
// A shared variable that only shares change stops with them.
static bool is_shared_alone(const MachineBuilder *m, uint32_t own) {
  for (uint32_t i = 0; i < m->s->junction.n; i++) {
    if (m->s->junction.at[i].name != m->s->own.at[own].name) continue;
    uint32_t rate = last_change(m, CHANGE_RATE, own), next = last_change(m, CHANGE_NEXT, own);
    return !(rate && next) && !m->change.at[(rate | next) - 1].before;
  }
  return false;
}

// Can anything still change, in any mode? `m`: the builder of a wiring, for its own states.
static bool goes_on(const MachineBuilder *m, const System *s, uint32_t states) {
  for (uint32_t i = 0; i < states; i++)
    if ((s->state.at[i].rate || s->state.at[i].next) && !(m && is_shared_alone(m, i))) return true;
  for (uint32_t i = 0; i < s->event.n; i++)
    for (uint32_t k = 0; k < s->event.at[i].state.n; k++)
      if (s->event.at[i].state.at[k] < states) return true;
  return false;
}

static bool is_reborn(const System *s) {
  for (uint32_t i = 0; i < s->state.n; i++)
    if (s->state.at[i].reborn) return true;
  return false;
}

void halt_with_parts(MachineBuilder *m, Id *const *map) {
  System *s = m->s;
  uint32_t first = s->own.n;
  if (s->halt.n || m->learned.n || s->lag.n || goes_on(m, s, s->own.n)) return;
  for (uint32_t p = 0; p < s->part.n; p++) {
    const System *of = s->part.at[p].of;
    if (is_reborn(of) || (!of->halt.n && goes_on(NULL, of, of->state.n))) {
      s->halt.n = 0;
      return;
    }
    for (uint32_t i = 0; i < of->halt.n; i++) {
      SystemHalt x = of->halt.at[i];
      x.state += first;
      x.is = map[p + 1][x.is];
      vec_push(m->w->arena, &s->halt, x);
    }
    first += of->state.n;
  }
}

// -- parts ----------------------------------------------------------------------------------------
PartLife part_life(MachineBuilder *m, const Syntax *part) {
  PartLife life = {.halts = m->stopped != 0, .span = part->span};
  life.quiet = !part_alive(part);
  life.mortal = m->alive || !life.quiet;
  const Syntax *born = part_born(part);
  for (uint32_t i = 0; born && i < params_in(born).n; i++)
    vec_push(m->w->arena, &life.born, params_in(born).at[i]->name);
  return life;
}

bool live_share(MachineBuilder *m, const System *of, Span span) {
  if (!m->live || !of->state.n) return true;
  return diag_refuse(m->w->diags, span,
                     "`%s` has states of its own, and `%s` stops or dies: they would go on",
                     name_text(m->w->names, of->name), name_text(m->w->names, m->def->name));
}

typedef struct {
  MachineBuilder *m;
  const Syntax *part, *lhs;
  uint32_t axes; // rank of the array; 0: a single part
  void (*add)(MachineBuilder *, const Syntax *);
} LifeRoutes;

static bool has_sized(Nodes item, Name name) {
  for (uint32_t i = 0; i < item.n; i++)
    if (item.at[i]->kind == N_SIZED && item.at[i]->name == name) return true;
  return false;
}

// `while alive[i]`, `born (w: v[i j])`: unbound names in brackets are indices of the port, after
// those of the part's declaration, `cell[i:64]`.
static Ids life_indices(const LifeRoutes *r, const Syntax *value) {
  World *w = r->m->w;
  Nodes item = brackets_items(lhs_brackets(r->lhs));
  Ids free = {0}, index = {0};
  uint32_t next = 0;
  bool declared = false;
  free_indices(r->m, r->m->env, value, &free);
  for (uint32_t i = 0; i < item.n; i++) declared |= item.at[i]->kind == N_SIZED;
  if (!declared) return free;
  for (uint32_t i = 0; i < item.n; i++) {
    bool sized = item.at[i]->kind == N_SIZED;
    while (!sized && next < free.n && has_sized(item, free.at[next])) next++;
    vec_push(w->arena, &index,
             sized           ? item.at[i]->name
             : next < free.n ? free.at[next++]
                             : counting_index(w, i));
  }
  for (; next < free.n; next++)
    if (!has_sized(item, free.at[next])) vec_push(w->arena, &index, free.at[next]);
  return index;
}

static Syntax *indices_of(const LifeRoutes *r, const Syntax *value) {
  World *w = r->m->w;
  Ids index = life_indices(r, value);
  if (!index.n) return NULL;
  Nodes items = {index.n, NEW_ARRAY(w->arena, Syntax *, index.n)};
  for (uint32_t i = 0; i < index.n; i++)
    items.at[i] = syntax_name(w->arena, index.at[i], value->span);
  return brackets_of(w->arena, value->span, items);
}

static void route_to_part(const LifeRoutes *r, Syntax *value, const char *port) {
  Arena *a = r->m->w->arena;
  Span span = value->span;
  Syntax *brackets = indices_of(r, value), *part = syntax_name(a, r->lhs->name, span);
  Syntax *to = node_dot(a, span, (DotParts){part});
  to->name = name_from(r->m->w->names, port);
  if (brackets) to = node_at(a, span, (AtParts){to, brackets});
  r->add(r->m, node_route(a, span, (RouteParts){.value = value, .to = to}));
}

static bool is_for_one(const LifeRoutes *r, const Syntax *cond) {
  Ids index = life_indices(r, cond);
  if (index.n <= r->axes) return true;
  return diag_refuse(r->m->w->diags, cond->span, "`%s` has %u %s, but there %s %u %s here",
                     name_text(r->m->w->names, r->lhs->name), r->axes,
                     r->axes == 1 ? "axis" : "axes", index.n == 1 ? "is" : "are", index.n,
                     index.n == 1 ? "index" : "indices");
}

static void routes_of(const LifeRoutes *r) {
  MachineBuilder *m = r->m;
  World *w = m->w;
  Span span = r->lhs->name_span;
  Syntax *cond = part_alive(r->part);
  if (cond && !is_for_one(r, cond)) return;
  if (m->alive) {
    Syntax *around = syntax_name(w->arena, alive_name(w), span);
    cond = cond ? node_and(w->arena, cond->span, (AndParts){NODES(cond, around)}) : around;
  }
  if (cond) route_to_part(r, cond, "while");
  const Syntax *born = part_born(r->part);
  for (uint32_t i = 0; born && i < params_in(born).n; i++) {
    const Syntax *arg = params_in(born).at[i];
    const char *port = arena_format(w->arena, "born %s", name_text(w->names, arg->name));
    route_to_part(r, arg_value(arg), port);
  }
  if (m->stopped) route_to_part(r, syntax_name(w->arena, stopped_name(w), span), "stop");
}

void add_life_routes(MachineBuilder *m, const Syntax *block,
                     void (*add)(MachineBuilder *, const Syntax *)) {
  Nodes line = block_statements(block);
  for (uint32_t i = 0; i < line.n; i++) {
    Nodes named = line.at[i]->kind == N_PART ? lhss_in(part_lhss(line.at[i])) : (Nodes){0, NULL};
    for (uint32_t k = 0; k < named.n; k++) {
      Id number = table_get(m->parts, &named.at[k]->name, sizeof(Name));
      LifeRoutes r = {.m = m, .part = line.at[i], .lhs = named.at[k], .add = add};
      if (!number || number == UINT32_MAX) continue;
      r.axes = m->s->part.at[number - 1].axes;
      routes_of(&r);
    }
  }
}
