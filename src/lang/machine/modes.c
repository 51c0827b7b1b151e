// Modes: what a machine is doing, one at a time. The mode is a state of its own, a label; lines of a
// mode hold while it lasts, and a jump is a line that sets it.
#include "lang/machine/machine_own.h"

bool add_modes(MachineBuilder *m, const Syntax *block) {
  World *w = m->w;
  Ids names = {0};
  for (uint32_t i = 0; i < block_statements(block).n; i++) {
    const Syntax *n = block_statements(block).at[i];
    if (n->kind != N_MODE) continue;
    if (m->s->mode.n == MODES_LIMIT)
      return diag_refuse(w->diags, n->span, "a machine has at most %d modes", MODES_LIMIT);
    for (uint32_t k = 0; k < names.n; k++)
      if (names.at[k] == n->name)
        diag_error(w->diags, n->name_span, "there are two modes `%s`",
                   name_text(w->names, n->name));
    uint64_t bit = (uint64_t)1 << m->s->mode.n;
    vec_push(w->arena, &names, n->name);
    vec_push(w->arena, &m->s->mode, n->name);
    add_in_ports(m, m->env, mode_params(n), bit);
    add_out_ports(m, m->env, mode_result(n), bit);
  }
  if (!names.n) return true;
  if (!w->label_names.n) vec_push(w->arena, &w->label_names, (Ids){0});
  vec_push(w->arena, &w->label_names, names);
  Type own = {.base = BASE_LABEL, .count = size_of(w, names.n), .names = w->label_names.n - 1};
  Name mode = name_from(w->names, "mode");
  Val v = new_state(m, mode, own, (Init){.kind = INIT_CONST}, m->def->span);
  m->mode = m->held.at[m->held.n - 1].wire;
  env_bind(m->env, mode,
           (Binding){.kind = BIND_STATE, .value = value_one(m->b, v), .span = m->def->span});
  vec_push(w->arena, &m->s->out,
           (Port){.name = mode, .type = own, .modes = ~(uint64_t)0, .span = m->def->span});
  return true;
}

static Val label_constant(MachineBuilder *m, const Type *own, uint32_t k, Span span) {
  return val_fill(m->b, val_literal(m->b, k, span), full_type(m, own));
}

Val in_mode(MachineBuilder *m, int mode, Span span) {
  int at = own_state(m, name_from(m->w->names, "mode"));
  const Held *held = &m->held.at[at];
  Val pair[2] = {val_wire(m->b, held->wire, span),
                 label_constant(m, &held->own, (uint32_t)mode, span)};
  return val_fn(m->b, FN_eq, pair, 2, span, NULL);
}

// -- jumps ------------------------------------------------------------------------------------------
void do_jump(MachineBuilder *m, Env *env, const Syntax *n, int mode) {
  World *w = m->w;
  int at = own_state(m, name_from(w->names, "mode"));
  uint32_t k = 0;
  while (k < m->s->mode.n && m->s->mode.at[k] != n->name) k++;
  if (at < 0 || k == m->s->mode.n) {
    Nearest near = nearest_to(name_text(w->names, n->name));
    for (uint32_t i = 0; i < m->s->mode.n; i++)
      nearest_try(&near, name_text(w->names, m->s->mode.at[i]));
    Id e = diag_error(w->diags, n->name_span, "there is no mode `%s` here", near.text);
    if (!diag_suggest(w->diags, e, near.best) && !m->s->mode.n)
      diag_help(w->diags, e, "`mode %s { … }` declares one", near.text);
    return;
  }
  Val to = label_constant(m, &m->held.at[at].own, k, n->span);
  Id value = val_to_wire(m->b, &to, 0);
  if (m->flows || m->waits)
    add_event(m, guard_wire(m, env, jump_cond(n), mode), (uint32_t)at, value, n->name, n->span);
  if (m->flows) return;
  Id when = condition_wire(m, env, jump_cond(n));
  if (when)
    add_change(m, (Change){.kind = CHANGE_NEXT,
                           .at = (uint32_t)at,
                           .mode = mode,
                           .value = value,
                           .when = when,
                           .span = n->span});
}
