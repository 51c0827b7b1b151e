// Equations `0 = …` that hold at every moment, in time that flows.
//
// Such an equation says of a state that has neither a rate nor a `next` what it is, though not how it
// is computed: that is the solver's work. As many equations as such states; the first one is noted
// with the first state, and so on. Which goes with which means nothing: all hold together.
// From here on, what has to be 0 stands where a rate would stand.
#include "lang/machine/machine_own.h"

// "0 = value", or a refusal
void add_constraint(MachineBuilder *m, Env *env, const Syntax *n, int mode) {
  if (mode != ANY_MODE) {
    diag_error(
        m->w->diags, n->span,
        "an equation `0 = …` holds in every mode: write `0 = … when … else …` outside of them");
    return;
  }
  Value v = eval_equation(m->b, env, NULL, constraint_value(n), constraint_pad(n), NULL, n->span);
  if (v.n != 1 || v.at[0].error) {
    m->broken = true;
    if (v.n != 1) diag_error(m->w->diags, n->span, "one value is 0, but these are %u", v.n);
    return;
  }
  vec_push(m->w->arena, &m->constraint, ((Constraint){v.at[0], constraint_value(n)->span}));
}

static bool is_free(const MachineBuilder *m, uint32_t state) {
  for (uint32_t i = 0; i < m->s->event.n; i++)
    for (uint32_t k = 0; k < m->s->event.at[i].state.n; k++)
      if (m->s->event.at[i].state.at[k] == state) return false;
  return m->held.at[state].own.base == BASE_R && !last_change(m, CHANGE_RATE, state) &&
         !last_change(m, CHANGE_NEXT, state) && !m->s->own.at[state].learns;
}

void settle_constraints(MachineBuilder *m) {
  World *w = m->w;
  Ids free = {0};
  Buf names = buf_new(w->arena);
  if (!m->constraint.n) return;
  for (uint32_t i = 0; i < m->s->own.n; i++) {
    if (!is_free(m, i)) continue;
    buf_printf(&names, "%s `%s`", free.n ? "," : ":", name_text(w->names, m->s->own.at[i].name));
    vec_push(w->arena, &free, i);
  }
  if (free.n != m->constraint.n) {
    Id e = diag_error(
        w->diags, m->constraint.at[0].span,
        "there %s %u equation%s `0 = …`, but %u state%s with neither a rate nor a `next`%s",
        m->constraint.n == 1 ? "is" : "are", m->constraint.n, m->constraint.n == 1 ? "" : "s",
        free.n, free.n == 1 ? "" : "s", free.n ? names.at : "");
    diag_help(w->diags, e, "each such state is found from one equation");
    return;
  }
  for (uint32_t i = 0; i < free.n; i++) {
    Held *held = &m->held.at[free.at[i]];
    const Constraint *c = &m->constraint.at[i];
    const char *name = name_text(w->names, m->s->own.at[free.at[i]].name);
    Id wire = fit_value(m, c->value, &held->own, c->span, arena_format(w->arena, "`%s`", name));
    held->constrained = true;
    if (wire) always(m, CHANGE_RATE, free.at[i], wire, c->span);
  }
}

const SystemState *first_constrained(const System *s) {
  for (uint32_t i = 0; i < s->state.n; i++)
    if (s->state.at[i].constrained) return &s->state.at[i];
  return NULL;
}
