// next w by gd(0.05) on e: adds the training step to a system: the gradient of e by the weights,
// with all else held fixed.
//
// The gradient is the reverse derivative of the flattened system, parts included, so a wiring
// trains through what its parts compute within a tick. The optimiser is the diagram that `train`
// uses; its states, and the weights of learners, become states of the system.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/each.h"
#include "core/diagram/ops.h"
#include "core/pass/pass.h"
#include "core/pass/rewrite.h"
#include "lang/declare/statements.h"
#include "lang/machine/machine_own.h"

static uint32_t param_at(const Diagram *d, const Param *p) {
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].rooted == p->rooted && !strcmp(d->param.at[i].path, p->path)) return i;
  return UINT32_MAX;
}

// The gradients of the loss by these params, in ascending order: the first of their wires. 0 with a
// diagnostic.
static Id gradient_wires(MachineBuilder *m, const Learned *l, const Ids *by) {
  World *w = m->w;
  Ids more = {0};
  Diagram *d = m->s->d;
  Ids loss = {.at = (Id[]){l->loss}, .n = 1};
  Diagram *e = l->unroll > 1 ? unrolled_loss(m, l, &more) : diagram_up_to(w, d, &loss);
  if (!e) return 0;
  bool *want = NEW_ARRAY(w->arena, bool, e->param.n + 1),
       *none = NEW_ARRAY(w->arena, bool, e->in.n + 1);
  for (uint32_t i = 0; i < by->n; i++) want[by->at[i]] = true;
  diagram_resolve(w, e);
  Diagram *back = diagram_reverse(w, e, &(Wanted){.want_in = none, .want_param = want});
  Ids in = {0};
  for (uint32_t i = 0; i < d->in.n; i++) vec_push(w->arena, &in, d->in.at[i]);
  for (uint32_t i = 0; i < more.n; i++) vec_push(w->arena, &in, more.at[i]);
  vec_push(w->arena, &in, wire_filled(w, d, &(Type){.base = BASE_R}, 1, 0, 0));
  for (uint32_t i = 0; i < back->param.n; i++)
    vec_push(w->arena, &in, d->param.at[param_at(d, &back->param.at[i])].wire);
  back->name = name_from(w->names, "rev");
  return box_call(w, d, back, in.at, in.n, origin_at(m->b, l->span));
}

// Does `wire` depend on `on`?
static bool depends(World *w, const Diagram *d, Id wire, Id on) {
  bool *needs = NEW_ARRAY(w->arena, bool, d->wire.n);
  needs[on] = true;
  mark_dependent(d, needs);
  return needs[wire];
}

static const char *optimiser_word(World *w, const Syntax *n) {
  if (n->kind == N_CALL) n = call_callee(n);
  return n->kind == N_NAME ? name_text(w->names, n->name) : NULL;
}

// `next` if the condition holds, otherwise `old`. The condition has the axes of arrays of parts only.
static Id only_when(MachineBuilder *m, Id when, Id next, Id old) {
  return when ? wire_choice(m->w, m->s->d, when, next, old) : next;
}

// -- training step of one line --------------------------------------------------------------------
typedef struct {
  MachineBuilder *m;
  Program *p;
  const Learned *l;
  const char *word; // name of the optimiser
  const Syntax *call;
} Stepping;

// The optimiser diagram for this type; NULL with a diagnostic.
static Diagram *find_optimiser(const Stepping *g, Type t, const char *path) {
  World *w = g->m->w;
  bool learner = g->l->at == UINT32_MAX;
  uint32_t own[RANK_LIMIT], rank = own_axes(&t, own);
  Type row = weight_type(w, (Base)t.base, 1, g->l->span);
  bool large = learner && rank > 2 && // `train` would flatten them to matrices
               !elab_optimiser(g->m->in, g->p, g->word, g->call, row, true);
  Diagram *o = large ? NULL : elab_optimiser(g->m->in, g->p, g->word, g->call, t, learner);
  if (!o && learner && rank <= 2) { // as `train` does
    const Syntax *other = elab_stand_in(g->m->in, g->p, g->word, g->call);
    o = other ? elab_optimiser(g->m->in, g->p, default_optimiser(BASE_R), other, t, true) : NULL;
  }
  if (!o && learner)
    diag_error(w->diags, g->l->optimiser->span, "`%s` cannot step %s, which is %s", g->word, path,
               own_text(w, &t));
  if (!o) return NULL;
  if (o->out.at[0] != o->in.at[0]) {
    Id e = diag_error(w->diags, g->l->optimiser->span,
                      "`%s` lets the model see something else than the weight", g->word);
    diag_help(w->diags, e,
              "in a machine, a weight is what is seen: such an optimiser is for `train`");
    return NULL;
  }
  for (uint32_t i = 0; i < o->param.n; i++)
    if (o->param.at[i].role == ROLE_CLOCK) {
      diag_error(w->diags, g->l->optimiser->span,
                 "`%s` counts the rounds of `train`, which a machine does not have",
                 o->param.at[i].path);
      return NULL;
    }
  return o;
}

static void push_state(const Stepping *g, uint32_t param, Id next) {
  System *s = g->m->s;
  Id old = s->d->param.at[param].wire;
  SystemState x = {.param = param, .path = s->d->param.at[param].path, .every = 1};
  x.inner = g->l->at == UINT32_MAX;
  x.held = true;
  x.next = only_when(g->m, g->l->when, next, old);
  vec_push(g->m->w->arena, &s->state, x);
}

// The next value of a weight; the optimiser's states become states of the system.
static bool step_weight(const Stepping *g, uint32_t param, Id grad) {
  MachineBuilder *m = g->m;
  World *w = m->w;
  Diagram *d = m->s->d;
  const char *path = d->param.at[param].path;
  Id old = d->param.at[param].wire;
  Diagram *o = find_optimiser(g, d->wire.at[old].type, path);
  if (!o) return false;
  Ids in = {0}, number = {0};
  vec_push(w->arena, &in, old);
  vec_push(w->arena, &in, grad);
  for (uint32_t i = 0; i < o->param.n; i++) {
    Param q = o->param.at[i];
    const Wire *x = &o->wire.at[q.wire];
    if (!q.rooted) q.path = arena_format(w->arena, "%s/%s", path, q.path);
    q.next = 0;
    uint32_t k = diagram_param(w, d, q, x->type, x->name, x->origin);
    vec_push(w->arena, &number, k);
    vec_push(w->arena, &in, d->param.at[k].wire);
  }
  Id out = box_call(w, d, o, in.at, in.n, origin_at(m->b, g->l->span)), after = out + o->out.n;
  if (g->l->at != UINT32_MAX)
    m->s->state.at[g->l->at].next = only_when(m, g->l->when, out + 1, old);
  else
    push_state(g, param, out + 1);
  for (uint32_t i = 0; i < o->param.n; i++)
    if (o->param.at[i].next) push_state(g, number.at[i], after++);
  return true;
}

static bool is_a_state_that_learns(MachineBuilder *m, const Learned *l) {
  World *w = m->w;
  const SystemState *state = &m->s->state.at[l->at];
  const Type *own = &m->held.at[l->at].own;
  if (state->next)
    return diag_refuse(w->diags, l->span, "`%s` learns, but there is a `next %s = …` too",
                       state->path, state->path);
  return own->base == BASE_R || diag_refuse(w->diags, l->span, "only numbers learn, and `%s` is %s",
                                            state->path, own_text(w, own));
}

// The trained weights the loss depends on.
static Ids moved_weights(MachineBuilder *m, const Learned *l) {
  Ids by = {0};
  for (uint32_t i = 0; i < l->weight.n; i++) {
    Id wire = m->s->d->param.at[l->weight.at[i]].wire;
    bool moves = l->unroll > 1 || depends(m->w, m->s->d, l->loss, wire);
    if (m->s->d->wire.at[wire].type.base == BASE_R && moves)
      vec_push(m->w->arena, &by, l->weight.at[i]);
  }
  return by;
}

static bool step_learned(MachineBuilder *m, Program *p, const Learned *l) {
  World *w = m->w;
  const char *word = optimiser_word(w, l->optimiser);
  Def *d = word ? optimiser_named(m->in, p, word) : NULL;
  if (!d)
    return diag_refuse(w->diags, l->optimiser->span,
                       word ? "there is no optimiser `%s` here"
                            : "an optimiser is wanted here, as in `gd(0.1)`",
                       word);
  check_optimiser_call(m->in, p, d, l->optimiser);
  if (l->at != UINT32_MAX && !is_a_state_that_learns(m, l)) return false;
  Ids by = moved_weights(m, l);
  if (!by.n)
    return diag_refuse(w->diags, l->span, "this loss does not depend on `%s`",
                       name_text(w->names, l->name));
  Stepping g = {m, p, l, word, l->optimiser->kind == N_CALL ? l->optimiser : NULL};
  Id grad = gradient_wires(m, l, &by);
  if (!grad) return false;
  for (uint32_t i = 0; i < by.n; i++)
    if (!step_weight(&g, by.at[i], grad + i)) return false;
  for (uint32_t i = 0; i < l->counted.n; i++) push_state(&g, l->counted.at[i], l->becomes.at[i]);
  return true;
}

bool learn_states(MachineBuilder *m, Program *p) {
  m->s->learnt_from = m->s->state.n;
  for (uint32_t i = 0; i < m->learned.n; i++)
    if (m->learned.at[i].at != UINT32_MAX) m->s->state.at[m->learned.at[i].at].held = true;
  for (uint32_t i = 0; i < m->learned.n; i++)
    if (!step_learned(m, p, &m->learned.at[i])) return false;
  m->s->learnt_to = m->s->state.n;
  return true;
}
