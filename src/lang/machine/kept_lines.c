// Lines that a `check` or `show` names become wires; others are inlined where they are read.
#include "base/table.h"
#include "lang/machine/machine_own.h"

static void ask_names(Table *asked, const Syntax *n) {
  if (!n) return;
  if (n->kind == N_NAME || n->kind == N_DOT) table_put(asked, &n->name, sizeof n->name, 1);
  for (uint32_t i = 0; i < syntax_parts(n).n; i++) ask_names(asked, syntax_parts(n).at[i]);
}

static bool is_asked(MachineBuilder *m, Name name) {
  Program *p = m->in->program;
  if (!p || !p->tree) return false;
  if (!p->asked) {
    p->asked = table_new(m->w->arena);
    for (uint32_t i = 0; i < program_declarations(p->tree).n; i++) {
      const Syntax *n = program_declarations(p->tree).at[i];
      if (n->kind == N_CHECK || n->kind == N_SHOW || n->kind == N_FOR) ask_names(p->asked, n);
    }
  }
  return table_get(p->asked, &name, sizeof name);
}

// Outside its mode a line is 0, like a port.
static void keep_line(MachineBuilder *m, Env *env, const Syntax *lhs, int mode) {
  World *w = m->w;
  const Binding *bind = env_meaning(env, lhs);
  if (!bind || bind->kind != BIND_VALUE || bind->value.n != 1 || bind->value.at[0].error) return;
  Val v = bind->value.at[0];
  val_settle(m->b, &v);
  if (v.literal) v = val_fill(m->b, v, (Type){.base = BASE_R});
  Type own = own_type(w, &v.type);
  SystemLine line = {.name = lhs->name, .own = own}, *before = NULL;
  for (uint32_t i = 0; i < m->s->line.n; i++)
    if (m->s->line.at[i].name == lhs->name) before = &m->s->line.at[i];
  if (before && !type_equal(w, &before->own, &own)) return;
  if (mode != ANY_MODE) {
    Val other =
        before ? val_wire(m->b, before->wire, lhs->span) : filled_value(m, 0, &own, lhs->span);
    v = val_select(m->b, in_mode(m, mode, lhs->span), v, other, lhs->span, NULL);
  }
  line.wire = fit_value(m, v, &own, lhs->span, "a line");
  if (!line.wire) return;
  if (before)
    *before = line;
  else
    vec_push(w->arena, &m->s->line, line);
}

void keep_lines(MachineBuilder *m, Env *env, const LineNodes *lines, int mode) {
  for (uint32_t i = 0; i < lines->n; i++) {
    if (lines->at[i]->kind != N_EQUATION) continue;
    Nodes to = lhss_in(equation_lhss(lines->at[i]));
    for (uint32_t k = 0; k < to.n; k++) {
      Name name = to.at[k]->name;
      bool port = port_named(m->s->out.at, m->s->out.n, name) >= 0;
      if (!lhs_is_rate(to.at[k]) && !port && own_state(m, name) < 0 && is_asked(m, name))
        keep_line(m, env, to.at[k], mode);
    }
  }
}
