// Groups of weights that are stepped together.
//
// In: goals with their masks, and the optimisers of `train`. Out: each trained weight belongs to
// one group. An element-wise optimiser steps all weights with the same settings at once: they are
// stored in one row, each from a multiple of 16 on, so that kernels can use vector instructions.
// Padding starts as 0 and has gradient 0.
//
// An optimiser of matrices (muon) steps its weights one by one; in weights with more than two axes
// all axes but the last are merged. Weights that it cannot step get a stand-in optimiser.
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "core/diagram/ops.h"
#include "core/pass/pipeline.h"
#include "run/step/step_own.h"

enum { ALIGN = 16 };

// -- optimisers -----------------------------------------------------------------------------------
typedef struct {
  const char *name;
  const Syntax *call;
} OptimiserChoice;

static Type symbolic_type(World *w, Base base, uint32_t rank) {
  Axis *axis = NEW_ARRAY(w->arena, Axis, rank);
  for (uint32_t i = 0; i < rank; i++) {
    Name name = name_from(w->names, arena_format(w->arena, "n%u", i + 1));
    axis[i].size = size_var(w, name, VAR_LOCAL, (Span){0});
  }
  return type_make(w, base, rank, axis);
}

// The optimiser for tensors of this rank, inlined; NULL: it does not take such tensors.
static Diagram *optimiser_for(RegimeBuilder *regime, const OptimiserChoice *c, Base base,
                              uint32_t rank) {
  World *w = regime->w;
  const char *key =
      arena_format(w->arena, "%s %p %d %u", c->name, (const void *)c->call, base, rank);
  Id old = table_get(regime->made, key, strlen(key));
  if (old) return regime->optimiser.at[old - 1];
  Diagram *d =
      elab_optimiser(regime->in, regime->p, c->name, c->call, symbolic_type(w, base, rank), true);
  if (d) d = passes_flat(w, d);
  vec_push(w->arena, &regime->optimiser, d);
  table_put(regime->made, key, strlen(key), regime->optimiser.n);
  return d;
}

static bool loop_is_elementwise(World *w, const Diagram *d, const Box *b) {
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

// Does an inlined optimiser of rows treat each number alone?
static bool is_elementwise(World *w, const Diagram *d) {
  for (Id i = 1; i < d->box.n; i++)
    if (d->box.at[i].op != OP_loop || !loop_is_elementwise(w, d, &d->box.at[i])) return false;
  return true;
}

// Finds the form in which the optimiser steps a weight of this type; false: there is none.
static bool choose_form(RegimeBuilder *regime, const OptimiserChoice *c, const Type *t,
                        WeightGroup *g) {
  Base base = (Base)t->base;
  *g = (WeightGroup){.optimiser = c->name, .call = c->call, .base = base};
  g->diagram = optimiser_for(regime, c, base, 1);
  g->flat = g->diagram && is_elementwise(regime->w, g->diagram);
  if (!g->flat && t->rank != 1) {
    g->matrix = t->rank > 2 && (g->diagram = optimiser_for(regime, c, base, 2));
    if (!g->matrix) g->diagram = optimiser_for(regime, c, base, t->rank);
  }
  g->has_look = g->diagram && g->diagram->out.at[0] != g->diagram->in.at[0];
  return g->diagram != NULL;
}

// -- which optimiser steps which weight -----------------------------------------------------------
static void note_default(RegimeBuilder *regime, const Param *p) {
  World *w = regime->w;
  Name name = name_of(w->names, p->path, strcspn(p->path, "/."));
  for (uint32_t i = 0; i < regime->defaulted.n; i++)
    if (regime->defaulted.at[i] == name) return;
  vec_push(w->arena, &regime->defaulted, name);
}

static bool choose_optimiser(RegimeBuilder *regime, const Param *p, const Type *t, WeightGroup *g,
                             uint32_t *stand_ins) {
  World *w = regime->w;
  const Stepper *s = training_stepper(regime->in, regime->training, p);
  const Stepper *first = regime->training->stepper.at;
  OptimiserChoice c = {default_optimiser((Base)t->base), NULL};
  if (s)
    c = (OptimiserChoice){s->name, regime->call[s - first]};
  else
    note_default(regime, p);
  if (!s && t->base == BASE_R) c.call = regime->call[regime->training->stepper.n];
  if (choose_form(regime, &c, t, g)) return g->stepper = s, true;
  OptimiserChoice other = {default_optimiser(BASE_R),
                           elab_stand_in(regime->in, regime->p, c.name, c.call)};
  if (t->base == BASE_R && choose_form(regime, &other, t, g)) {
    g->stepper = s;
    if (!(*stand_ins)++)
      buf_printf(&regime->says, "%s steps weights with two axes or more; adam%s steps the others\n",
                 c.name, other.call ? ", with a twentieth of its rate," : "");
    return true;
  }
  return diag_refuse(w->diags, s ? s->span : regime->node->span,
                     "`%s` cannot step weight %s, which is %s", c.name, p->path, type_text(w, t));
}

// Settings that `train` gives at two places make two groups, even if they are equal: one of them
// may be changed during the run.
static bool is_same_group(const WeightGroup *old, const WeightGroup *g) {
  return old->flat && g->flat && old->base == g->base && old->turns == g->turns &&
         old->stepper == g->stepper && strcmp(old->optimiser, g->optimiser) == 0;
}

static uint64_t turns_of(RegimeBuilder *regime, const Param *p) {
  uint64_t turns = 0;
  for (uint32_t i = 0; i < regime->training->turn.n; i++)
    if (learner_holds(regime->in, regime->training->turn.at[i].learner, p))
      turns |= (uint64_t)1 << i;
  return turns;
}

static bool refuse_size(RegimeBuilder *regime, const Param *p, const Type *t) {
  World *w = regime->w;
  int64_t n;
  bool known = true;
  if (type_over_open(w, t, regime->node->span)) return false;
  for (uint32_t i = 0; i < t->rank; i++) known &= size_value(w, t->axis[i].size, &n);
  return diag_refuse(w->diags, regime->node->span,
                     known ? "weight %s, %s, is too large: it has more numbers than can be counted"
                           : "the size of weight %s, %s, is not known",
                     p->path, type_text(w, t));
}

static bool add_weight(RegimeBuilder *regime, const Diagram *d, const Param *p,
                       uint32_t *stand_ins) {
  World *w = regime->w;
  const Wire *x = &d->wire.at[p->wire];
  WeightGroup g;
  int64_t count;
  if (table_get(regime->weight_of, p->path, strlen(p->path))) return true;
  if (!type_count(w, &x->type, &count)) return refuse_size(regime, p, &x->type);
  if (!choose_optimiser(regime, p, &x->type, &g, stand_ins)) return false;
  g.turns = turns_of(regime, p);
  uint32_t k = 0;
  while (k < regime->group.n && !is_same_group(&regime->group.at[k], &g)) k++;
  if (k == regime->group.n) vec_push(w->arena, &regime->group, g);
  vec_push(w->arena, &regime->weight,
           (Weight){p->path, p->rooted, x->name, x->type, p->init, x->origin, k, 0});
  vec_push(w->arena, &regime->group.at[k].weight, regime->weight.n - 1);
  table_put(regime->weight_of, p->path, strlen(p->path), regime->weight.n);
  return true;
}

const Weight *regime_weight(const RegimeBuilder *regime, const Param *p) {
  Id k = p->role == ROLE_WEIGHT && p->rooted
             ? table_get(regime->weight_of, p->path, strlen(p->path))
             : 0;
  return k ? &regime->weight.at[k - 1] : NULL;
}

// -- names and places -----------------------------------------------------------------------------
const char *regime_unique_path(RegimeBuilder *regime, const char *wanted) {
  const char *path = wanted;
  for (uint32_t k = 2; table_get(regime->paths, path, strlen(path)); k++)
    path = arena_format(regime->w->arena, "%s.%u", wanted, k);
  table_put(regime->paths, path, strlen(path), 1);
  return path;
}

static void lay_out_group(RegimeBuilder *regime, WeightGroup *g) {
  World *w = regime->w;
  Weight *first = &regime->weight.at[g->weight.at[0]];
  if (!g->flat) {
    g->path = first->path;
    g->type = first->type;
    g->states =
        regime_unique_path(regime, arena_format(w->arena, "%s/%s", g->optimiser, first->path));
    return;
  }
  WeightRow flat = {.base = g->base};
  for (uint32_t i = 0; i < g->weight.n; i++) {
    Weight *x = &regime->weight.at[g->weight.at[i]];
    int64_t count = 0;
    type_count(w, &x->type, &count);
    x->offset = g->count;
    g->count += (count + ALIGN - 1) / ALIGN * ALIGN;
    vec_push(w->arena, &flat.member, (RowMember){x->path, x->type, x->init, x->offset});
  }
  g->states = regime_unique_path(regime, g->optimiser);
  g->path = regime_unique_path(regime, arena_format(w->arena, "weights/%s", g->states));
  g->type = type_make(w, g->base, 1, &(Axis){.size = size_of(w, g->count)});
  flat.path = g->path;
  flat.count = g->count;
  vec_push(w->arena, &regime->out->flat, flat);
}

static void report_defaults(RegimeBuilder *regime) {
  if (!regime->defaulted.n) return;
  buf_text(&regime->says, "no optimiser is given for ");
  for (uint32_t i = 0; i < regime->defaulted.n; i++)
    buf_printf(&regime->says, "%s%s", i ? ", " : "",
               name_text(regime->w->names, regime->defaulted.at[i]));
  bool bits = false, numbers = false;
  for (uint32_t i = 0; i < regime->group.n; i++) {
    const WeightGroup *g = &regime->group.at[i];
    bits |= !g->call && g->base == BASE_BIT;
    numbers |= !g->call && g->base == BASE_R;
  }
  buf_printf(&regime->says, ": %s\n",
             bits && numbers ? "adam(0.001), and rda for bits"
             : bits          ? "rda"
                             : "adam(0.001)");
}

bool regime_group_weights(RegimeBuilder *regime) {
  uint32_t stand_ins = 0;
  for (uint32_t g = 0; g < regime->training->goals.n; g++) {
    const Goal *goal = &regime->p->goal.at[regime->training->goals.at[g]];
    for (uint32_t i = 0; i < goal->diagram->param.n; i++)
      if (goal->trains[i] &&
          !add_weight(regime, goal->diagram, &goal->diagram->param.at[i], &stand_ins))
        return false;
  }
  if (!regime->weight.n)
    return diag_refuse(regime->w->diags, regime->node->span,
                       "there is nothing to train: no goal moves a learner");
  for (uint32_t i = 0; i < regime->group.n; i++) lay_out_group(regime, &regime->group.at[i]);
  report_defaults(regime);
  return true;
}
