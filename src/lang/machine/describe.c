// What a wiring says, for its picture: which value comes from which ports, states and lines.
#include "lang/machine/machine_own.h"

enum { FOLLOWED = 500 }; // lines that one value is followed through: enough for a picture

typedef struct {
  MachineBuilder *m;
  Table *line;              // [name] the number of the line that makes it + 1
  Table *seen;              // names, while one route is described
  VEC(const Syntax *) todo; // values of lines that are still to be looked at
} Describer;

static Nodes lines_of(const MachineBuilder *m) { // one expression has none
  const Syntax *body = m->h.body;
  return body && body->kind == N_BLOCK ? block_statements(body) : (Nodes){0, NULL};
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

// The line that makes this name: a, b = f(x). NULL: there is none.
static const Syntax *line_of(const Describer *d, Name name) {
  uint32_t at = table_get(d->line, &name, sizeof name);
  return at ? with_ports(d->m, lines_of(d->m).at[at - 1]) : NULL;
}

// Which ports and states a value is made of, each once. Lines are what they stand for.
static void ends_in(Describer *d, const Syntax *n, WireRoute *r) {
  MachineBuilder *m = d->m;
  if (!n) return;
  if (n->kind == N_NAME && !table_get(d->seen, &n->name, sizeof n->name)) {
    int own = port_named(m->s->in.at, m->s->in.n, n->name), state = own_state(m, n->name);
    PortEnd end = {0, (uint32_t)own};
    table_put(d->seen, &n->name, sizeof n->name, 1);
    bool port = own >= 0 || port_of_part(m, n->name, &end);
    if (port) vec_push(m->w->arena, &r->from, end);
    if (state >= 0) vec_push(m->w->arena, &r->states, (uint32_t)state);
    const Syntax *line = port || state >= 0 ? NULL : line_of(d, n->name);
    if (line) r->line = true, vec_push(m->w->arena, &d->todo, equation_value(line));
  }
  for (uint32_t i = 0; i < syntax_parts(n).n; i++) ends_in(d, syntax_parts(n).at[i], r);
}

static void all_ends(Describer *d, const Syntax *value, WireRoute *r) {
  d->seen = table_new(d->m->w->arena);
  d->todo.n = 0;
  ends_in(d, value, r);
  for (uint32_t i = 0; i < d->todo.n && i < FOLLOWED; i++) ends_in(d, d->todo.at[i], r);
}

// What a name stands for, if it is that of a line of its own
static const Syntax *written_out(const Describer *d, const Syntax *value) {
  enum { AS_OFTEN = 16 };
  for (uint32_t i = 0; i < AS_OFTEN && value->kind == N_NAME; i++) {
    const Syntax *line = line_of(d, value->name);
    if (!line || lhss_in(equation_lhss(line)).n != 1) break;
    value = equation_value(line);
  }
  return value;
}

// i of x[i j]; 0: there is none
static Name first_index(const Syntax *n) {
  Nodes slot = n && n->kind == N_AT ? brackets_slots(at_brackets(n)) : (Nodes){0, NULL};
  Nodes item = slot.n ? items_in(slot.at[0]) : (Nodes){0, NULL};
  return item.n && item.at[0]->kind == N_NAME ? item.at[0]->name : 0;
}

static void describe(Describer *d, PortEnd to, const Syntax *place, const Syntax *value,
                     const Syntax *guard) {
  MachineBuilder *m = d->m;
  value = written_out(d, value);
  WireRoute r = {.to = to, .value = value, .guard = guard};
  r.each = first_index(place) && first_index(place) == first_index(value);
  all_ends(d, value, &r);
  const Syntax *base = use_base(value);
  r.plain = base->kind == N_NAME && r.from.n == 1 && !r.states.n && !r.line;
  WireRoute guarded = {0};
  all_ends(d, guard, &guarded);
  for (uint32_t i = 0; i < guarded.states.n; i++)
    vec_push(m->w->arena, &r.asked, guarded.states.at[i]);
  vec_push(m->w->arena, &m->s->route, r);
}

// A state that is a port of the wiring too has no line of its own for that.
static void describe_states(MachineBuilder *m) {
  for (uint32_t i = 0; i < m->s->out.n; i++) {
    int state = own_state(m, m->s->out.at[i].name);
    WireRoute r = {.to = {0, i}, .plain = true};
    if (state < 0) continue;
    vec_push(m->w->arena, &r.states, (uint32_t)state);
    vec_push(m->w->arena, &m->s->route, r);
  }
}

void describe_routes(MachineBuilder *m) {
  if (!m->s->wiring) return;
  Describer d = {.m = m, .line = table_new(m->w->arena)};
  find_lines(&d);
  for (uint32_t i = 0; i < m->target.n; i++) {
    const LineTarget *t = &m->target.at[i];
    const System *of = t->part ? m->s->part.at[t->part - 1].of : NULL;
    if (of && (of->shares || t->port >= of->in.n - of->quiet)) continue;
    for (uint32_t k = 0; k < t->route.n; k++)
      describe(&d, (PortEnd){t->part, t->port}, route_to(t->route.at[k]),
               route_value(t->route.at[k]), route_cond(t->route.at[k]));
  }
  Nodes line = lines_of(m);
  for (uint32_t i = 0; i < line.n; i++) {
    if (line.at[i]->kind != N_EQUATION) continue;
    const Syntax *n = with_ports(m, line.at[i]), *to = lhss_in(equation_lhss(n)).at[0];
    int port = lhs_is_rate(to) ? -1 : port_named(m->s->out.at, m->s->out.n, to->name);
    if (port >= 0) describe(&d, (PortEnd){0, (uint32_t)port}, NULL, equation_value(n), NULL);
  }
  for (uint32_t i = 0; m->h.body && m->h.body->kind != N_BLOCK && i < m->s->out.n; i++)
    describe(&d, (PortEnd){0, i}, NULL, m->h.body, NULL);
  describe_states(m);
}
