// next w by gd(0.05) on e: the state steps against the gradient of e, with everything else held.
//
// The gradient is the reverse derivative of the woven system, parts included, so a wiring learns
// through what its parts do at the same moment. The optimiser is the same diagram that `train`
// uses; its own states become states of the system.
#include "core/pass/pass.h"
#include "core/pass/rewrite.h"
#include "lang/declare/statements.h"
#include "lang/machine/machine_own.h"

// The system as a function of its ports and params to one number.
static Diagram *only_loss(World *w, const Diagram *d, Id loss) {
  Diagram *to = diagram_new(w, d->name);
  Id *map = new_map(w, d);
  copy_inputs(w, to, d, map);
  copy_params(w, to, d, map);
  copy_boxes(w, to, d, map);
  to->noisy = d->noisy;
  diagram_output(w, to, map[loss]);
  return to;
}

static Id constant_one(World *w, Diagram *d) {
  Loop loop = {.combine = SUM};
  scalar_push(w, &loop, (Scalar){.fn = FN_CONST, .base = BASE_R, .k = 1});
  return box_loop(w, d, &loop, NULL, 0, (Type){.base = BASE_R}, 0);
}

static uint32_t param_at(const Diagram *d, const char *path) {
  for (uint32_t i = 0; i < d->param.n; i++)
    if (!strcmp(d->param.at[i].path, path)) return i;
  return UINT32_MAX;
}

static Id gradient_wire(MachineBuilder *m, const Learned *l, uint32_t param) {
  World *w = m->w;
  Diagram *d = m->s->d, *e = only_loss(w, d, l->loss);
  bool *want = NEW_ARRAY(w->arena, bool, e->param.n + 1),
       *none = NEW_ARRAY(w->arena, bool, e->in.n + 1);
  want[param] = true;
  diagram_resolve(w, e);
  Diagram *back = diagram_reverse(w, e, &(Wanted){.want_in = none, .want_param = want});
  Ids in = {0};
  for (uint32_t i = 0; i < d->in.n; i++) vec_push(w->arena, &in, d->in.at[i]);
  vec_push(w->arena, &in, constant_one(w, d));
  for (uint32_t i = 0; i < back->param.n; i++)
    vec_push(w->arena, &in, d->param.at[param_at(d, back->param.at[i].path)].wire);
  back->name = name_from(w->names, "rev");
  return box_call(w, d, back, in.at, in.n, origin_at(m->b, l->span));
}

// Does this wire need the other one?
static bool depends(World *w, const Diagram *d, Id wire, Id on) {
  bool *needs = NEW_ARRAY(w->arena, bool, d->wire.n);
  needs[on] = true;
  for (Id i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    bool any = false;
    for (uint32_t k = 0; k < b->nin; k++) any |= needs[b->in[k]];
    for (uint32_t k = 0; k < b->nout; k++) needs[b->out[k]] |= any;
  }
  return needs[wire];
}

static const char *optimiser_word(World *w, const Syntax *n) {
  if (n->kind == N_CALL) n = call_callee(n);
  return n->kind == N_NAME ? name_text(w->names, n->name) : NULL;
}

// `next` where the condition holds, `old` elsewhere; the condition has the axes of arrays only.
static Id only_when(MachineBuilder *m, Id when, Id next, Id old) {
  World *w = m->w;
  Diagram *d = m->s->d;
  if (!when) return next;
  Type t = d->wire.at[old].type;
  Each e = each_of(w, t);
  uint32_t c = each_read(w, &e, when, BASE_BIT, d->wire.at[when].type.rank),
           x = each_read(w, &e, next, (Base)t.base, t.rank),
           y = each_read(w, &e, old, (Base)t.base, t.rank);
  e.loop.scalar[scalar_fn(w, &e.loop, FN_select, c, x, y)].base = t.base;
  return each_make(w, d, &e);
}

static bool step_state(MachineBuilder *m, Program *p, const Learned *l) {
  World *w = m->w;
  System *s = m->s;
  SystemState *state = &s->state.at[l->at];
  const char *word = optimiser_word(w, l->optimiser), *name = state->path;
  Def *d = word ? optimiser_named(m->in, p, word) : NULL;
  if (!d)
    return diag_refuse(w->diags, l->optimiser->span,
                       word ? "there is no optimiser `%s` here"
                            : "an optimiser is wanted here, as in `gd(0.1)`",
                       word);
  check_optimiser_call(m->in, p, d, l->optimiser);
  Type own = m->held.at[l->at].own;
  if (state->next)
    return diag_refuse(w->diags, l->span, "`%s` learns, but there is a `next %s = …` too", name,
                       name);
  if (own.base != BASE_R)
    return diag_refuse(w->diags, l->span, "only numbers learn, and `%s` is %s", name,
                       own_text(w, &own));
  if (!depends(w, s->d, l->loss, s->d->param.at[state->param].wire))
    return diag_refuse(w->diags, l->span, "this loss does not depend on `%s`", name);
  const Syntax *call = l->optimiser->kind == N_CALL ? l->optimiser : NULL;
  Diagram *o = elab_optimiser(m->in, p, word, call, full_type(m, &own), false);
  if (!o) return false;
  uint32_t param = state->param;
  Id grad = gradient_wire(m, l, param);
  Ids in = {0}, number = {0};
  vec_push(w->arena, &in, s->d->param.at[param].wire);
  vec_push(w->arena, &in, grad);
  for (uint32_t i = 0; i < o->param.n; i++) {
    Param q = o->param.at[i];
    const Wire *x = &o->wire.at[q.wire];
    if (!q.rooted) q.path = arena_format(w->arena, "%s/%s", name, q.path);
    q.next = 0;
    uint32_t k = diagram_param(w, s->d, q, x->type, x->name, x->origin);
    vec_push(w->arena, &number, k);
    vec_push(w->arena, &in, s->d->param.at[k].wire);
  }
  Id out = box_call(w, s->d, o, in.at, in.n, origin_at(m->b, l->span)), after = out + o->out.n;
  s->state.at[l->at].next = only_when(m, l->when, out + 1, s->d->param.at[param].wire);
  for (uint32_t i = 0; i < o->param.n; i++) {
    if (!o->param.at[i].next) continue;
    SystemState x = {.param = number.at[i], .path = s->d->param.at[number.at[i]].path, .every = 1};
    x.next = only_when(m, l->when, after++, s->d->param.at[number.at[i]].wire);
    vec_push(w->arena, &s->state, x);
  }
  return true;
}

bool learn_states(MachineBuilder *m, Program *p) {
  m->s->learnt_from = m->s->state.n;
  for (uint32_t i = 0; i < m->learned.n; i++)
    if (!step_state(m, p, &m->learned.at[i])) return false;
  m->s->learnt_to = m->s->state.n;
  return true;
}
