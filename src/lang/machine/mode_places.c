// Ports that a mode assigns by elements: y[0] = x, y[i+1] = u[i].
#include "base/names.h"
#include "lang/machine/machine_own.h"

// The left side of a line that assigns elements of a port, or NULL.
static const Syntax *placed_lhs(MachineBuilder *m, const Syntax *n) {
  if (n->kind != N_EQUATION || equation_cond(n) || m->s->shares) return NULL;
  const Syntax *lhs = nodes_only(lhss_in(equation_lhss(n)));
  if (!lhs || lhs_is_rate(lhs) || !lhs_brackets(lhs)) return NULL;
  return port_named(m->s->out.at, m->s->out.n, lhs->name) >= 0 ? lhs : NULL;
}

bool mode_says_places(MachineBuilder *m, const Syntax *block, const Syntax *n) {
  const Syntax *lhs = placed_lhs(m, n), *other;
  uint32_t lines = 0;
  for (uint32_t i = 0; lhs && i < block_statements(block).n; i++)
    lines += (other = placed_lhs(m, block_statements(block).at[i])) && other->name == lhs->name;
  return lines > 1 || (lhs && place_route(m, n));
}

static Id port_by_places(MachineBuilder *m, const Syntax *block, uint32_t port, uint32_t number) {
  const Port *of = &m->s->out.at[port];
  PlacesSaid said = {.own = &of->type, .number = number};
  said.what = arena_format(m->w->arena, "port `%s`", name_text(m->w->names, of->name));
  for (uint32_t i = 0; i < block_statements(block).n; i++) {
    const Syntax *n = block_statements(block).at[i];
    if (!mode_says_places(m, block, n) || placed_lhs(m, n)->name != of->name) continue;
    n = with_ports(m, n);
    const Syntax *at = lhs_brackets(nodes_only(lhss_in(equation_lhss(n))));
    PlaceLine line = {at, equation_value(n), equation_pad(n), said.span = n->span};
    vec_push(m->w->arena, &said.line, line);
  }
  return said.line.n ? said_by_places(m, &said) : 0;
}

void mode_places(MachineBuilder *m, Env *env, const Syntax *block, int mode) {
  const uint32_t others = 1u << 30; // above the indices of routes
  Env *outer = m->env;
  m->env = env;
  for (uint32_t i = 0; i < m->s->out.n; i++) {
    Change c = {.kind = CHANGE_PORT, .at = i, .mode = mode, .span = m->s->out.at[i].span};
    c.value = port_by_places(m, block, i, others + (uint32_t)mode * m->s->out.n + i);
    if (c.value) add_change(m, c);
  }
  m->env = outer;
}
