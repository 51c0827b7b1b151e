// Which weights are stepped together.
//
// In: goals with their masks, and what `train` says about optimisers. Out: every trained weight
// belongs to one group. An optimiser that works on each number alone steps all weights with the
// same settings at once: they lie in one row, each beginning at a multiple of 16, so that kernels
// may use vectors. What lies between them starts at 0 and has gradient 0.
//
// An optimiser of matrices (muon) steps its weights one by one: those with more than two axes as
// matrices, all axes but the last as one. What it cannot step goes to a stand-in.
#include "core/pass/pipeline.h"
#include "run/step/step_own.h"

enum { ALIGN = 16 };

// -- optimisers -----------------------------------------------------------------------------------
typedef struct {
  const char *name;
  const Syntax *call;
} Choice;

static Type symbolic_type(World *w, Base base, uint32_t rank) {
  Axis *axis = NEW_ARRAY(w->arena, Axis, rank);
  for (uint32_t i = 0; i < rank; i++) {
    Name name = name_from(w->names, arena_format(w->arena, "n%u", i + 1));
    axis[i].size = size_var(w, name, VAR_LOCAL, (Span){0});
  }
  return type_make(w, base, rank, axis);
}

// The optimiser on tensors of some rank, flat; NULL if it does not work on these.
static Diagram *optimiser_for(Regimen *plan, const Choice *c, Base base, uint32_t rank) {
  World *w = plan->w;
  const char *key =
      arena_format(w->arena, "%s %p %d %u", c->name, (const void *)c->call, base, rank);
  Id old = table_get(plan->made, key, strlen(key));
  if (old) return plan->optimiser.at[old - 1];
  Diagram *d =
      elab_optimiser(plan->in, plan->p, c->name, c->call, symbolic_type(w, base, rank), true);
  if (d) d = passes_flat(w, d);
  vec_push(w->arena, &plan->optimiser, d);
  table_put(plan->made, key, strlen(key), plan->optimiser.n);
  return d;
}

static bool loop_is_by_number(World *w, const Diagram *d, const Box *b) {
  const Loop *loop = b->loop;
  const Type *out = &d->wire.at[b->out[0]].type;
  int64_t size;
  uint32_t index;
  if (loop->combine != SUM || loop->nindex != out->rank || out->rank > 1) return false;
  if (out->rank && !coord_is_plain(w, &loop->out.coord[0], &index)) return false;
  for (uint32_t i = 0; i < b->nin; i++) {
    const Type *in = &d->wire.at[b->in[i]].type;
    if (in->rank && (in->rank != out->rank || !coord_is_plain(w, &loop->in[i].coord[0], &index)))
      return false;
  }
  for (uint32_t i = 0; i < loop->nscalar; i++) {
    const Scalar *s = &loop->scalar[i];
    if (s->fn == FN_AT || (s->fn == FN_SIZE && !size_value(w, s->ref, &size))) return false;
  }
  return true;
}

// Whether a flat optimiser of rows does the same to each number, whatever stands beside it.
static bool is_by_number(World *w, const Diagram *d) {
  for (Id i = 1; i < d->box.n; i++)
    if (d->box.at[i].op != OP_loop || !loop_is_by_number(w, d, &d->box.at[i])) return false;
  return true;
}

// How a choice steps a weight of this type; false if it cannot.
static bool find_way(Regimen *plan, const Choice *c, const Type *t, WeightGroup *g) {
  Base base = (Base)t->base;
  *g = (WeightGroup){.optimiser = c->name, .call = c->call, .base = base};
  g->diagram = optimiser_for(plan, c, base, 1);
  g->flat = g->diagram && is_by_number(plan->w, g->diagram);
  if (!g->flat && t->rank != 1) {
    g->matrix = t->rank > 2 && (g->diagram = optimiser_for(plan, c, base, 2));
    if (!g->matrix) g->diagram = optimiser_for(plan, c, base, t->rank);
  }
  g->looks = g->diagram && g->diagram->out.at[0] != g->diagram->in.at[0];
  return g->diagram != NULL;
}

// -- which optimiser steps which weight -----------------------------------------------------------
static void note_unasked(Regimen *plan, const Param *p) {
  World *w = plan->w;
  Name name = name_of(w->names, p->path, strcspn(p->path, "/."));
  for (uint32_t i = 0; i < plan->unasked.n; i++)
    if (plan->unasked.at[i] == name) return;
  vec_push(w->arena, &plan->unasked, name);
}

static bool way_of(Regimen *plan, const Param *p, const Type *t, WeightGroup *g,
                   uint32_t *stand_ins) {
  World *w = plan->w;
  const Stepper *s = training_stepper(plan->in, plan->training, p);
  const Stepper *first = plan->training->stepper.at;
  Choice c = {t->base == BASE_BIT ? "rda" : "adam", NULL};
  if (s)
    c = (Choice){s->name, plan->call[s - first]};
  else
    note_unasked(plan, p);
  if (!s && t->base == BASE_R) c.call = plan->call[plan->training->stepper.n];
  if (find_way(plan, &c, t, g)) return g->stepper = s, true;
  Choice other = {"adam", elab_stand_in(plan->in, plan->p, c.name, c.call)};
  if (t->base == BASE_R && find_way(plan, &other, t, g)) {
    g->stepper = s;
    if (!(*stand_ins)++)
      buf_printf(&plan->says, "%s steps weights with two axes or more; adam%s steps the others\n",
                 c.name, other.call ? ", with a twentieth of its rate," : "");
    return true;
  }
  return diag_refuse(w->diags, s ? s->span : plan->node->span,
                     "`%s` cannot step weight %s, which is %s", c.name, p->path, type_text(w, t));
}

// What `train` gives its settings at two places are two groups, also where they are the same: one of
// them may be changed.
static bool joins(const WeightGroup *old, const WeightGroup *g) {
  return old->flat && g->flat && old->base == g->base && old->turns == g->turns &&
         old->stepper == g->stepper && strcmp(old->optimiser, g->optimiser) == 0;
}

static uint64_t turns_of(Regimen *plan, const Param *p) {
  uint64_t turns = 0;
  for (uint32_t i = 0; i < plan->training->turn.n; i++)
    if (learner_holds(plan->in, plan->training->turn.at[i].learner, p)) turns |= (uint64_t)1 << i;
  return turns;
}

static bool uncounted(Regimen *plan, const Param *p, const Type *t) {
  World *w = plan->w;
  int64_t n;
  bool known = true;
  if (type_over_open(w, t, plan->node->span)) return false;
  for (uint32_t i = 0; i < t->rank; i++) known &= size_value(w, t->axis[i].size, &n);
  return diag_refuse(w->diags, plan->node->span,
                     known ? "weight %s, %s, is too large: it has more numbers than can be counted"
                           : "the size of weight %s, %s, is not known",
                     p->path, type_text(w, t));
}

static bool add_weight(Regimen *plan, const Diagram *d, const Param *p, uint32_t *stand_ins) {
  World *w = plan->w;
  const Wire *x = &d->wire.at[p->wire];
  WeightGroup g;
  int64_t count;
  if (table_get(plan->weight_of, p->path, strlen(p->path))) return true;
  if (!type_count(w, &x->type, &count)) return uncounted(plan, p, &x->type);
  if (!way_of(plan, p, &x->type, &g, stand_ins)) return false;
  g.turns = turns_of(plan, p);
  uint32_t k = 0;
  while (k < plan->group.n && !joins(&plan->group.at[k], &g)) k++;
  if (k == plan->group.n) vec_push(w->arena, &plan->group, g);
  vec_push(w->arena, &plan->weight,
           (Weight){p->path, p->rooted, x->name, x->type, p->init, x->origin, k, 0});
  vec_push(w->arena, &plan->group.at[k].weight, plan->weight.n - 1);
  table_put(plan->weight_of, p->path, strlen(p->path), plan->weight.n);
  return true;
}

const Weight *plan_weight(const Regimen *plan, const Param *p) {
  Id k = p->role == ROLE_WEIGHT && p->rooted ? table_get(plan->weight_of, p->path, strlen(p->path))
                                             : 0;
  return k ? &plan->weight.at[k - 1] : NULL;
}

// -- names and places -----------------------------------------------------------------------------
const char *plan_path(Regimen *plan, const char *wanted) {
  const char *path = wanted;
  for (uint32_t k = 2; table_get(plan->paths, path, strlen(path)); k++)
    path = arena_format(plan->w->arena, "%s.%u", wanted, k);
  table_put(plan->paths, path, strlen(path), 1);
  return path;
}

static void lay_out(Regimen *plan, WeightGroup *g) {
  World *w = plan->w;
  Weight *first = &plan->weight.at[g->weight.at[0]];
  if (!g->flat) {
    g->path = first->path;
    g->type = first->type;
    g->states = plan_path(plan, arena_format(w->arena, "%s/%s", g->optimiser, first->path));
    return;
  }
  Flat flat = {.base = g->base};
  for (uint32_t i = 0; i < g->weight.n; i++) {
    Weight *x = &plan->weight.at[g->weight.at[i]];
    int64_t count = 0;
    type_count(w, &x->type, &count);
    x->offset = g->count;
    g->count += (count + ALIGN - 1) / ALIGN * ALIGN;
    vec_push(w->arena, &flat.member, (Member){x->path, x->type, x->init, x->offset});
  }
  g->states = plan_path(plan, g->optimiser);
  g->path = plan_path(plan, arena_format(w->arena, "weights/%s", g->states));
  g->type = type_make(w, g->base, 1, &(Axis){.size = size_of(w, g->count)});
  flat.path = g->path;
  flat.count = g->count;
  vec_push(w->arena, &plan->out->flat, flat);
}

static void say_unasked(Regimen *plan) {
  if (!plan->unasked.n) return;
  buf_text(&plan->says, "no optimiser is given for ");
  for (uint32_t i = 0; i < plan->unasked.n; i++)
    buf_printf(&plan->says, "%s%s", i ? ", " : "", name_text(plan->w->names, plan->unasked.at[i]));
  bool bits = false, numbers = false;
  for (uint32_t i = 0; i < plan->group.n; i++) {
    const WeightGroup *g = &plan->group.at[i];
    bits |= !g->call && g->base == BASE_BIT;
    numbers |= !g->call && g->base == BASE_R;
  }
  buf_printf(&plan->says, ": %s\n",
             bits && numbers ? "adam(0.001), and rda for bits"
             : bits          ? "rda"
                             : "adam(0.001)");
}

bool plan_groups(Regimen *plan) {
  uint32_t stand_ins = 0;
  for (uint32_t g = 0; g < plan->training->goals.n; g++) {
    const Goal *goal = &plan->p->goal.at[plan->training->goals.at[g]];
    for (uint32_t i = 0; i < goal->diagram->param.n; i++)
      if (goal->trains[i] &&
          !add_weight(plan, goal->diagram, &goal->diagram->param.at[i], &stand_ins))
        return false;
  }
  if (!plan->weight.n)
    return diag_refuse(plan->w->diags, plan->node->span,
                       "there is nothing to train: no goal moves a learner");
  for (uint32_t i = 0; i < plan->group.n; i++) lay_out(plan, &plan->group.at[i]);
  say_unasked(plan);
  return true;
}
