// next net by adam(0.01) on err: which states and learners are trained, and on what.
//
// A machine owns a copy of each learner it names here, and so does each member of an array of
// parts. Everything inside the machine uses the copy (lang/elab/own_learner.c); its weights are
// params of the lens under the learner's name, and learn.c makes them states of the system.
#include "base/diag.h"
#include "base/names.h"
#include "lang/machine/machine_own.h"

#include <math.h>

// -- owned learners -------------------------------------------------------------------------------
static bool is_declared_state(const Syntax *block, Name name) {
  for (uint32_t i = 0; i < block_statements(block).n; i++) {
    const Syntax *n = block_statements(block).at[i];
    for (uint32_t k = 0; n->kind == N_STATES && k < states_in(n).n; k++)
      if (states_in(n).at[k]->name == name) return true;
  }
  return false;
}

static bool learn_names(const Syntax *learn, Name name) {
  for (uint32_t i = 0; i < learn_learners(learn).n; i++) {
    Nodes names = names_in(learner_names(learn_learners(learn).at[i]));
    for (uint32_t k = 0; k < names.n; k++)
      if (names.at[k]->name == name) return true;
  }
  return false;
}

static bool is_declared_learner(const Syntax *block, Name name) {
  for (uint32_t i = 0; i < block_statements(block).n; i++) {
    const Syntax *n = block_statements(block).at[i];
    if (n->kind == N_LEARN && learn_names(n, name)) return true;
  }
  return false;
}

// The learner that `next net by …` names in this machine; 0: none.
static Name learner_meant(MachineBuilder *m, Name name) {
  if (is_declared_state(m->h.body, name)) return 0;
  if (is_declared_learner(m->h.body, name)) return name;
  const Def *d = scope_find(m->env->scope, name);
  return d && d->kind == DEF_LEARNER ? d->name : 0;
}

// gate[1]: the member; NULL: all.
static const char *member_meant(MachineBuilder *m, const Syntax *lhs) {
  const Def *d = scope_meaning(m->env->scope, lhs);
  if (!lhs_brackets(lhs)) return NULL;
  if (d && family_of(d)) return family_member(m->b, m->env, d, lhs_brackets(lhs));
  diag_error(m->w->diags, lhs_brackets(lhs)->span, "`%s` learns as a whole",
             name_text(m->w->names, lhs->name));
  return NULL;
}

void find_learners(MachineBuilder *m) {
  m->text = (MachineText){.home = m->b, .members = m->npass, .member = m->pass};
  Nodes line = lines_of_block(m->def->kind == DEF_MACHINE ? m->h.body : NULL);
  for (uint32_t i = 0; i < line.n; i++) {
    const Syntax *n = line.at[i];
    for (uint32_t k = 0; n->kind == N_STEPBY && k < lhss_in(stepby_lhss(n)).n; k++) {
      const Syntax *lhs = lhss_in(stepby_lhss(n)).at[k];
      OwnLearner own = {.name = learner_meant(m, lhs->name)};
      if (!own.name) continue;
      own.member = member_meant(m, lhs);
      vec_push(m->w->arena, &m->text.learner, own);
    }
  }
}

bool declares_learner(MachineBuilder *m, const Syntax *learn) {
  for (uint32_t i = 0; i < m->text.learner.n; i++)
    if (learn_names(learn, m->text.learner.at[i].name)) return true;
  return false;
}

// -- the statement --------------------------------------------------------------------------------
// Unbound names in the brackets of reads are indices.
void free_indices(MachineBuilder *m, Env *env, const Syntax *n, Ids *out) {
  if (!n) return;
  if (n->kind == N_AT && at_base(n)->kind == N_NAME && brackets_slots(at_brackets(n)).n == 1) {
    const Syntax *items = brackets_slots(at_brackets(n)).at[0];
    for (uint32_t i = 0; i < items_in(items).n; i++) {
      const Syntax *x = items_in(items).at[i];
      if (x->kind != N_NAME || env_find(env, x->name) || scope_find(env->scope, x->name)) continue;
      bool known = false;
      for (uint32_t k = 0; k < out->n; k++) known |= out->at[k] == x->name;
      if (!known) vec_push(m->w->arena, out, x->name);
    }
  }
  uint32_t first = out->n;
  for (uint32_t i = 0; i < syntax_parts(n).n; i++) free_indices(m, env, syntax_parts(n).at[i], out);
  uint32_t all = out->n;
  out->n = first;
  for (uint32_t k = first; k < all; k++)
    if (!binds_index(n, out->at[k])) out->at[out->n++] = out->at[k];
}

// Sums over free indices, as in "for each i".
static const Syntax *over_all(MachineBuilder *m, Env *env, const Syntax *e) {
  World *w = m->w;
  Ids index = {0};
  free_indices(m, env, e, &index);
  if (!index.n) return e;
  Nodes items = {index.n, NEW_ARRAY(w->arena, Syntax *, index.n)};
  for (uint32_t i = 0; i < index.n; i++) items.at[i] = syntax_name(w->arena, index.at[i], e->span);
  Syntax *sum = syntax_name(w->arena, name_from(w->names, "sum"), e->span);
  Syntax *over = brackets_of(w->arena, e->span, items);
  sum = node_at(w->arena, e->span, (AtParts){sum, over});
  return node_call(w->arena, e->span, (CallParts){sum, NODES((Syntax *)e)});
}

// The loss as a scalar; 0 after an error.
static Id loss_wire(MachineBuilder *m, Env *env, const Syntax *n) {
  Value v = eval_alone(m->b, env, over_all(m, env, stepby_value(n)));
  Val loss = value_single(m->b, v, stepby_value(n)->span);
  if (loss.error) {
    m->broken = true; // reported already
    return 0;
  }
  val_settle(m->b, &loss);
  if (loss.literal || loss.type.base != BASE_R) {
    diag_error(m->w->diags, stepby_value(n)->span, "the loss after `on` must be a real number");
    return 0;
  }
  bool axes[RANK_LIMIT];
  for (uint32_t i = 0; i < RANK_LIMIT; i++) axes[i] = true;
  if (loss.type.rank) loss = val_reduce(m->b, loss, SUM, axes);
  val_settle(m->b, &loss);
  return val_to_wire(m->b, &loss, 0);
}

static void nothing_learns(MachineBuilder *m, const Syntax *lhs) {
  World *w = m->w;
  const Def *d = scope_meaning(m->env->scope, lhs);
  const char *name = name_text(w->names, lhs->name);
  if (port_named(m->s->in.at, m->s->in.n, lhs->name) >= 0) {
    no_state(m, lhs->name, lhs->name_span);
    return;
  }
  if (d) {
    Id e = diag_error(w->diags, lhs->name_span,
                      "what learns is a state or a learner, and `%s` is neither", name);
    diag_note(w->diags, e, d->span, "declared here");
    return;
  }
  Nearest near = nearest_to(name);
  for (uint32_t i = 0; i < m->s->own.n; i++)
    nearest_try(&near, name_text(w->names, m->s->own.at[i].name));
  for (uint32_t i = 0; m->in->program && i < m->in->program->learner.n; i++)
    nearest_try(&near, name_text(w->names, m->in->program->learner.at[i]->name));
  Id e = diag_error(w->diags, lhs->name_span, "there is no state or learner `%s` here", name);
  if (!diag_suggest(w->diags, e, near.best))
    diag_help(w->diags, e,
              "`state %s : R[] = 0` declares a state, `learn %s : R[] -> R[]` a learner", name,
              name);
}

static bool is_taken(MachineBuilder *m, const Learned *l, Span span) {
  for (uint32_t i = 0; i < m->learned.n; i++) {
    const Learned *o = &m->learned.at[i];
    if (o->name != l->name || (o->member && l->member && strcmp(o->member, l->member))) continue;
    Id e = diag_error(m->w->diags, span, "`%s` learns twice", name_text(m->w->names, l->name));
    diag_note(m->w->diags, e, o->span, "the other line");
    return true;
  }
  return false;
}

static bool is_frozen_learner(MachineBuilder *m, const Syntax *lhs) {
  const Def *d = scope_meaning(m->env->scope, lhs);
  if (!d || d->kind != DEF_LEARNER || !d->frozen || is_declared_learner(m->h.body, lhs->name))
    return false;
  Id e = diag_error(m->w->diags, lhs->name_span, "`%s` is frozen, so it does not learn",
                    name_text(m->w->names, lhs->name));
  diag_note(m->w->diags, e, d->span, "declared here");
  return true;
}

// The number of ticks to backpropagate through; 0 after an error.
static uint32_t ticks_back(MachineBuilder *m, Env *env, const Syntax *n) {
  enum { MOST = 10000 };
  double k = 1;
  bool known = !stepby_unroll(n) || static_number(m->b, env, stepby_unroll(n), &k);
  if (known && k >= 1 && k <= MOST && k == floor(k)) return (uint32_t)k;
  if (known || (!m->b->generic && !uses_broken(env, stepby_unroll(n))))
    diag_error(m->w->diags, stepby_unroll(n)->span,
               "`unroll` wants a whole number of ticks, 1 to %d", MOST);
  return 0;
}

void do_learn(MachineBuilder *m, Env *env, const Syntax *n) {
  Nodes who = lhss_in(stepby_lhss(n));
  uint32_t unroll = ticks_back(m, env, n);
  Id loss = loss_wire(m, env, n), when = 0;
  if (loss && stepby_cond(n)) when = condition_wire(m, env, (Condition){.cond = stepby_cond(n)});
  bool good = loss && unroll && (when || !stepby_cond(n));
  for (uint32_t i = 0; i < who.n; i++) {
    int at = own_state(m, who.at[i]->name);
    Learned l = {.at = (uint32_t)at, .loss = loss, .when = when, .span = n->span};
    l.unroll = unroll;
    l.name = at >= 0 ? who.at[i]->name : learner_meant(m, who.at[i]->name);
    l.optimiser = stepby_optimiser(n);
    if (!l.name) {
      nothing_learns(m, who.at[i]);
      continue;
    }
    if (lhs_brackets(who.at[i])) l.member = member_meant(m, who.at[i]);
    if (!good || is_frozen_learner(m, who.at[i])) continue;
    if (is_taken(m, &l, who.at[i]->span)) continue;
    if (at >= 0) m->s->own.at[at].learns = true;
    live_learned(m, &l);
    vec_push(m->w->arena, &m->learned, l);
  }
}

// -- weights --------------------------------------------------------------------------------------
// Is net, net/dense/W or net.2/W a param of the learner, or of that member?
static bool is_of(World *w, const Param *p, const Learned *l) {
  const char *name = name_text(w->names, l->name);
  size_t n = strlen(name), k = l->member ? strlen(l->member) : 0;
  if (p->rooted || strncmp(p->path, name, n) != 0 || p->role == ROLE_CONST) return false;
  if (l->member) return !strncmp(p->path + n, l->member, k) && strchr("/", p->path[n + k]);
  return strchr("/.", p->path[n]);
}

static bool weights_of(MachineBuilder *m, Learned *l) {
  World *w = m->w;
  Diagram *d = m->b->d;
  for (uint32_t i = 0; i < d->param.n; i++) {
    Param *p = &d->param.at[i];
    if (!is_of(w, p, l)) continue;
    if (p->role == ROLE_WEIGHT) vec_push(w->arena, &l->weight, i);
    if (p->role != ROLE_WEIGHT && p->next) {
      vec_push(w->arena, &l->counted, i);
      vec_push(w->arena, &l->becomes, p->next);
    }
    p->next = 0;
  }
  if (l->weight.n) return true;
  Id e = diag_error(w->diags, l->span, "`%s` has no weights of its own in this machine",
                    name_text(w->names, l->name));
  return diag_help(w->diags, e, "what learns here is used here, as in `y = %s(x)`",
                   name_text(w->names, l->name));
}

bool find_weights(MachineBuilder *m) {
  bool good = true;
  for (uint32_t i = 0; i < m->learned.n; i++) {
    Learned *l = &m->learned.at[i];
    if (l->at != UINT32_MAX)
      vec_push(m->w->arena, &l->weight, m->held.at[l->at].param);
    else
      good &= weights_of(m, l);
  }
  return good;
}
