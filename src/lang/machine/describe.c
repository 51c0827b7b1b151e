// The routes of a wiring, for its picture: which value comes from which ports, states and lines.
//
// A line that computes something is a node of its own; a line that only renames a port is that
// port. Only lines that are read are kept.
#include "base/names.h"
#include "base/table.h"
#include "lang/machine/machine_own.h"

typedef struct {
  MachineBuilder *m;
  Table *line;  // [name] index of the line that defines it + 1
  Table *said;  // [index of a line + 1] index into `said` + 1
  Table *seen;  // names visited in the current value
  uint32_t end; // entries of `said` before it are described
} Describer;

static Nodes lines_of(const MachineBuilder *m) { // a single expression has none
  return lines_of_block(m->h.body);
}

static void find_lines(Describer *d) {
  Nodes line = lines_of(d->m);
  for (uint32_t i = 0; i < line.n; i++) {
    const Syntax *n = line.at[i];
    Nodes to = n->kind == N_EQUATION ? lhss_in(equation_lhss(n)) : (Nodes){0, NULL};
    for (uint32_t k = 0; k < to.n; k++)
      if (!lhs_is_rate(to.at[k]) && !table_get(d->line, &to.at[k]->name, sizeof(Name)))
        table_put(d->line, &to.at[k]->name, sizeof(Name), i + 1);
  }
}

// The index + 1 of the line that defines a name: a, b = f(x). 0: none.
static uint32_t line_of(const Describer *d, Name name) {
  return table_get(d->line, &name, sizeof name);
}

static bool is_delay(void *names, const Syntax *n) {
  const Syntax *callee = n->kind == N_CALL ? use_base(use_callee(n)) : n;
  return n->kind == N_CALL && callee->kind == N_NAME &&
         !strcmp(name_text(names, callee->name), "delay");
}

// x, p.y, x[0]: a reference.
static bool is_place(const Syntax *n) {
  while (n->kind == N_AT) n = at_base(n);
  return n->kind == N_NAME;
}

// The definition of a name if it is only a reference; otherwise NULL.
static const Syntax *other_name(const Describer *d, const Syntax *n, bool (*fits)(const Syntax *)) {
  uint32_t at = n->kind == N_NAME ? line_of(d, n->name) : 0;
  const Syntax *line = at ? with_ports(d->m, lines_of(d->m).at[at - 1]) : NULL;
  Nodes to = line ? lhss_in(equation_lhss(line)) : (Nodes){0, NULL};
  bool alone = to.n == 1 && !lhs_brackets(to.at[0]) && fits(equation_value(line));
  return alone ? equation_value(line) : NULL;
}

enum { AS_OFTEN = 16 }; // longest chain of renamings

static bool is_name(const Syntax *n) { return n->kind == N_NAME; }

// Resolves renamed names to their origins. describer: a Describer
static Syntax *first_names(void *describer, const Syntax *n) {
  const Describer *d = describer;
  for (uint32_t i = 0; i < AS_OFTEN; i++) {
    const Syntax *other = other_name(d, n, is_name);
    if (!other) break;
    n = other;
  }
  if (n->kind == N_NAME) return (Syntax *)n;
  return syntax_map(d->m->w->arena, n, first_names, describer);
}

// The same; a value that is a reference is resolved too.
static const Syntax *written_out(Describer *d, const Syntax *value) {
  for (uint32_t i = 0; i < AS_OFTEN; i++) {
    const Syntax *other = other_name(d, value, is_place);
    if (!other) break;
    value = other;
  }
  return first_names(d, value);
}

// The end of a line's value, for one of its names.
static PortEnd said_end(Describer *d, uint32_t line, Name name) {
  MachineBuilder *m = d->m;
  const Syntax *n = with_ports(m, lines_of(m).at[line - 1]);
  Nodes to = lhss_in(equation_lhss(n));
  uint32_t at = table_get(d->said, &line, sizeof line), which = 0;
  if (!at) {
    WireLine said = {.node = n, .late = syntax_any(n, is_delay, m->w->names)};
    for (uint32_t i = 0; i < to.n; i++) vec_push(m->w->arena, &said.name, to.at[i]->name);
    said.route.value = written_out(d, equation_value(n));
    vec_push(m->w->arena, &m->s->said, said);
    at = m->s->said.n;
    table_put(d->said, &line, sizeof line, at);
  }
  for (uint32_t i = 0; i < to.n; i++)
    if (to.at[i]->name == name) which = i;
  return (PortEnd){at, which};
}

// The index among its states, then its learners; -1: neither.
static int moved_state(MachineBuilder *m, Name name) {
  int state = own_state(m, name);
  for (uint32_t i = 0; state < 0 && i < m->s->learner.n; i++)
    if (m->s->learner.at[i].name == name) state = (int)(m->s->own.n + i);
  return state;
}

// Collects the ports, states and lines a value reads, without duplicates.
static void ends_in(Describer *d, const Syntax *n, WireRoute *r) {
  MachineBuilder *m = d->m;
  if (!n) return;
  if (n->kind == N_NAME && !table_get(d->seen, &n->name, sizeof n->name)) {
    int own = port_named(m->s->in.at, m->s->in.n, n->name), state = moved_state(m, n->name);
    PortEnd end = {0, (uint32_t)own};
    table_put(d->seen, &n->name, sizeof n->name, 1);
    bool port = own >= 0 || port_of_part(m, n->name, &end);
    uint32_t line = port || state >= 0 ? 0 : line_of(d, n->name);
    if (port) vec_push(m->w->arena, &r->from, end);
    if (state >= 0) vec_push(m->w->arena, &r->states, (uint32_t)state);
    if (line) vec_push(m->w->arena, &r->lines, said_end(d, line, n->name));
  }
  for (uint32_t i = 0; i < syntax_parts(n).n; i++) ends_in(d, syntax_parts(n).at[i], r);
}

static void all_ends(Describer *d, const Syntax *value, WireRoute *r) {
  d->seen = table_new(d->m->w->arena);
  ends_in(d, value, r);
}

// The index i of x[i j], or 0.
static Name first_index(const Syntax *n) {
  Nodes slot = n && n->kind == N_AT ? brackets_slots(at_brackets(n)) : (Nodes){0, NULL};
  Nodes item = slot.n ? items_in(slot.at[0]) : (Nodes){0, NULL};
  return item.n && item.at[0]->kind == N_NAME ? item.at[0]->name : 0;
}

static WireRoute make_route(Describer *d, PortEnd to, const Syntax *value, const Syntax *guard) {
  value = written_out(d, value);
  WireRoute r = {.to = to, .value = value};
  all_ends(d, value, &r);
  const Syntax *base = use_base(value);
  r.plain = base->kind == N_NAME && r.from.n + r.lines.n == 1 && !r.states.n;
  WireRoute guarded = {0};
  if (guard) all_ends(d, guard = first_names(d, guard), &guarded);
  r.guard = guard;
  r.asked.at = guarded.states.at, r.asked.n = guarded.states.n, r.asked.cap = guarded.states.cap;
  for (uint32_t i = 0; i < guarded.from.n; i++)
    vec_push(d->m->w->arena, &r.asked_ports, guarded.from.at[i]);
  for (uint32_t i = 0; i < guarded.lines.n; i++)
    vec_push(d->m->w->arena, &r.asked_lines, guarded.lines.at[i]);
  return r;
}

static void describe_route(Describer *d, PortEnd to, const Syntax *place, const Syntax *value,
                           const Syntax *guard, const Syntax *pad) {
  WireRoute r = make_route(d, to, value, guard);
  r.pad = pad;
  r.at = place;
  r.each = first_index(place) && first_index(place) == first_index(r.value);
  vec_push(d->m->w->arena, &d->m->s->route, r);
}

// An output port that is a state needs no line.
static void describe_states(MachineBuilder *m) {
  for (uint32_t i = 0; i < m->s->out.n; i++) {
    int state = own_state(m, m->s->out.at[i].name);
    WireRoute r = {.to = {0, i}, .plain = true};
    if (state < 0) continue;
    vec_push(m->w->arena, &r.states, (uint32_t)state);
    vec_push(m->w->arena, &m->s->route, r);
  }
}

// An output port defined by a line comes from that line, or from what the line renames.
static void describe_ports(Describer *d, const Syntax *n) {
  MachineBuilder *m = d->m;
  n = with_ports(m, n);
  Nodes to = lhss_in(equation_lhss(n));
  for (uint32_t i = 0; i < to.n; i++) {
    int port = lhs_is_rate(to.at[i]) ? -1 : port_named(m->s->out.at, m->s->out.n, to.at[i]->name);
    if (port < 0 || table_get(m->targets, &to.at[i]->name, sizeof(Name)))
      continue; // assigned by elements
    Syntax *name = syntax_name(m->w->arena, to.at[i]->name, n->span);
    describe_route(d, (PortEnd){0, (uint32_t)port}, NULL, name, NULL, NULL);
  }
}

// The update of a state: its rate, its next value, or the loss it is trained on.
static void describe_move(Describer *d, const Syntax *n) {
  MachineBuilder *m = d->m;
  n = with_ports(m, n);
  const Syntax *value = NULL, *guard = NULL;
  Name name = n->name;
  if (n->kind == N_STEP) value = step_value(n), guard = step_cond(n);
  if (n->kind == N_STEPBY) value = stepby_value(n), guard = stepby_cond(n);
  if (n->kind == N_EQUATION && lhs_is_rate(lhss_in(equation_lhss(n)).at[0]))
    value = equation_value(n), name = lhss_in(equation_lhss(n)).at[0]->name;
  int state = value ? moved_state(m, name) : -1;
  if (state < 0) return;
  vec_push(m->w->arena, &m->s->move, make_route(d, (PortEnd){0, (uint32_t)state}, value, guard));
}

// The i-th algebraic equation is drawn at the i-th constrained state.
static void describe_constraint(Describer *d, const Syntax *n, uint32_t number) {
  MachineBuilder *m = d->m;
  uint32_t found = 0, last = UINT32_MAX;
  for (uint32_t i = 0; i < m->held.n && found <= number; i++)
    if (m->held.at[i].constrained) last = i, found++;
  if (last == UINT32_MAX) return;
  WireRoute r = make_route(d, (PortEnd){0, last}, constraint_value(with_ports(m, n)), NULL);
  r.pad = constraint_pad(n);
  r.zero = true;
  vec_push(m->w->arena, &m->s->move, r);
}

static void find_mode_ports(MachineBuilder *m, const Syntax *n) {
  if (!n) return;
  bool moves = n->kind == N_STEP || (n->kind == N_LHS && lhs_is_rate(n));
  int port = n->kind == N_LHS && !moves ? port_named(m->s->out.at, m->s->out.n, n->name) : -1,
      state = moves ? own_state(m, n->name) : -1;
  for (uint32_t i = 0; i < m->s->mode_port.n; i++)
    if (m->s->mode_port.at[i] == (uint32_t)port) port = -1;
  for (uint32_t i = 0; i < m->s->mode_state.n; i++)
    if (m->s->mode_state.at[i] == (uint32_t)state) state = -1;
  if (port >= 0) vec_push(m->w->arena, &m->s->mode_port, (uint32_t)port);
  if (state >= 0) vec_push(m->w->arena, &m->s->mode_state, (uint32_t)state);
  for (uint32_t i = 0; i < syntax_parts(n).n; i++) find_mode_ports(m, syntax_parts(n).at[i]);
}

// What modes, and jumps outside of modes, read and set.
static void describe_modes(Describer *d) {
  MachineBuilder *m = d->m;
  int mode = own_state(m, name_from(m->w->names, "mode"));
  WireRoute r = {.to = {0, (uint32_t)(mode + 1)}}, all = {0};
  d->seen = table_new(m->w->arena);
  for (uint32_t i = 0; mode >= 0 && i < lines_of(m).n; i++) {
    const Syntax *n = lines_of(m).at[i];
    if (n->kind != N_MODE && n->kind != N_JUMP) continue;
    ends_in(d, first_names(d, with_ports(m, n)), &all);
    find_mode_ports(m, n);
  }
  for (uint32_t i = 0; i < all.from.n; i++) vec_push(m->w->arena, &r.from, all.from.at[i]);
  for (uint32_t i = 0; i < all.lines.n; i++) vec_push(m->w->arena, &r.lines, all.lines.at[i]);
  for (uint32_t i = 0; i < all.states.n; i++)
    if (all.states.at[i] != (uint32_t)mode) vec_push(m->w->arena, &r.states, all.states.at[i]);
  m->s->modes = r;
}

// Learners that it trains.
static void describe_learners(MachineBuilder *m) {
  Nodes line = lines_of(m);
  for (uint32_t i = 0; i < line.n; i++) {
    Nodes to = line.at[i]->kind == N_STEPBY ? lhss_in(stepby_lhss(line.at[i])) : (Nodes){0, NULL};
    for (uint32_t k = 0; k < to.n; k++)
      if (moved_state(m, to.at[k]->name) < 0)
        vec_push(m->w->arena, &m->s->learner,
                 ((OwnState){.name = to.at[k]->name, .learns = true, .span = to.at[k]->span}));
  }
}

static void describe_said(Describer *d) {
  for (; d->end < d->m->s->said.n; d->end++) {
    const WireLine *line = &d->m->s->said.at[d->end];
    WireRoute r = {.value = line->route.value, .pad = equation_pad(line->node)};
    all_ends(d, r.value, &r); // may append to `said`
    d->m->s->said.at[d->end].route = r;
  }
}

// For wirings, and for machines with learners.
void describe_routes(MachineBuilder *m) {
  describe_learners(m);
  if (!m->s->wiring && !m->s->learner.n) return;
  Arena *a = m->w->arena;
  Describer d = {.m = m, .line = table_new(a), .said = table_new(a)};
  find_lines(&d);
  for (uint32_t i = 0; i < m->target.n; i++) {
    const LineTarget *t = &m->target.at[i];
    const System *of = t->part ? m->s->part.at[t->part - 1].of : NULL;
    if (of && (of->shares || t->port >= of->in.n - of->quiet)) continue;
    for (uint32_t k = 0; k < t->route.n; k++)
      describe_route(&d, (PortEnd){t->part, t->port}, route_to(t->route.at[k]),
                     route_value(t->route.at[k]), route_cond(t->route.at[k]),
                     route_pad(t->route.at[k]));
  }
  Nodes line = lines_of(m);
  for (uint32_t i = 0, equations = 0; i < line.n; i++) {
    if (line.at[i]->kind == N_EQUATION) describe_ports(&d, line.at[i]);
    if (line.at[i]->kind == N_CONSTRAINT) describe_constraint(&d, line.at[i], equations++);
    describe_move(&d, line.at[i]);
  }
  describe_modes(&d);
  for (uint32_t i = 0; m->h.body && m->h.body->kind != N_BLOCK && i < m->s->out.n; i++)
    describe_route(&d, (PortEnd){0, i}, NULL, m->h.body, NULL, NULL);
  describe_states(m);
  describe_said(&d);
}

// -- transitive routes ----------------------------------------------------------------------------
static void follow_lines(Arena *a, const System *s, const WireRoute *r, uint8_t *been,
                         WireRoute *out) {
  for (uint32_t i = 0; i < r->from.n; i++) vec_push(a, &out->from, r->from.at[i]);
  for (uint32_t i = 0; i < r->lines.n; i++) {
    uint32_t line = r->lines.at[i].part - 1;
    if (been[line]) continue;
    been[line] = 1;
    follow_lines(a, s, &s->said.at[line].route, been, out);
  }
}

WireRoute route_through(Arena *a, const System *s, const WireRoute *r) {
  WireRoute all = *r;
  all.from.at = NULL, all.from.n = all.from.cap = 0;
  follow_lines(a, s, r, NEW_ARRAY(a, uint8_t, s->said.n + 1), &all);
  return all;
}
