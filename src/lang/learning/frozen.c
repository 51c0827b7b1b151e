// What is frozen while the goal of a pair is made.
//
// `freeze` in a diagram is for all of its pairs. In a diagram that is glued, what a part has frozen
// holds for the pairs that follow from that part's orders: another part may move the same learner.
// What several parts state is frozen where all of them freeze it; what follows along a chain is
// frozen where any statement on it says so. With nothing stated, a pair is of the parts that it lies
// in; one that lies in none of them leaves alone what any has frozen.
#include "lang/learning/learning_own.h"

static bool has_id(const Ids *all, Id id) {
  for (uint32_t i = 0; i < all->n; i++)
    if (all->at[i] == id) return true;
  return false;
}

void ids_add(Arena *a, const Ids *from, Ids *to) {
  for (uint32_t i = 0; i < from->n; i++)
    if (!has_id(to, from->at[i])) vec_push(a, to, from->at[i]);
}

Ids ids_common(Arena *a, const Ids *one, const Ids *other) {
  Ids both = {0};
  for (uint32_t i = 0; i < one->n; i++)
    if (has_id(other, one->at[i]) && !has_id(&both, one->at[i])) vec_push(a, &both, one->at[i]);
  return both;
}

// -- with nothing stated --------------------------------------------------------------------------
// The route in the numbers of a part; false: it is not in it.
static bool route_in_part(Arena *a, const GraphPart *part, const Route *whole, Route *own) {
  for (uint32_t i = 0; i < whole->n; i++) {
    uint32_t e = 0, n = part->of->graph->edge.n;
    while (e < n && part->in.edge[e] != whole->at[i]) e++;
    if (e == n) return false;
    vec_push(a, own, e);
  }
  return true;
}

static void add_all_frozen(Arena *a, const Learning *g, Ids *out) {
  ids_add(a, &g->frozen, out);
  for (uint32_t i = 0; i < g->part.n; i++) add_all_frozen(a, g->part.at[i].of, out);
}

static Ids frozen_unsaid(Elab *in, const Learning *g, const Pair *p) {
  Arena *a = in->w->arena;
  Ids all = {0}, common = {0};
  bool lies = false;
  for (uint32_t i = 0; i < g->part.n; i++) {
    Pair own = {.to = p->to};
    const GraphPart *part = &g->part.at[i];
    bool inside = route_in_part(a, part, &p->left, &own.left) &&
                  route_in_part(a, part, &p->right, &own.right);
    add_all_frozen(a, part->of, &all);
    if (!inside) continue;
    Ids frozen = pair_frozen(in, part->of, &own);
    common = lies ? ids_common(a, &common, &frozen) : frozen;
    lies = true;
  }
  return lies ? common : all;
}

// -- all ------------------------------------------------------------------------------------------
Ids pair_frozen(Elab *in, const Learning *g, const Pair *p) {
  Arena *a = in->w->arena;
  Ids all = {0};
  ids_add(a, &g->frozen, &all);
  if (!p->order) {
    Ids more = frozen_unsaid(in, g, p);
    ids_add(a, &more, &all);
    return all;
  }
  if (!p->chain.n) ids_add(a, &g->order.at[p->order - 1].frozen, &all);
  for (uint32_t i = 0; i < p->chain.n; i++) ids_add(a, &g->order.at[p->chain.at[i]].frozen, &all);
  return all;
}

bool pair_freezes(Elab *in, const Learning *g, const Pair *p, Id learner) {
  Ids all = pair_frozen(in, g, p);
  return has_id(&all, learner) || def_of(in, learner)->frozen;
}

bool learning_freezes(Elab *in, const Learning *g, Id learner) {
  if (has_id(&g->frozen, learner) || def_of(in, learner)->frozen) return true;
  for (uint32_t i = 0; i < g->pairs.n; i++)
    if (!pair_freezes(in, g, &g->pairs.at[i], learner)) return false;
  return g->pairs.n > 0;
}

FreezeStack learning_freeze(Elab *in, const Learning *g, const Pair *p) {
  FreezeStack f = {.learner = pair_frozen(in, g, p)};
  f.was = NEW_ARRAY(in->w->arena, bool, f.learner.n + 1);
  for (uint32_t i = 0; i < f.learner.n; i++) {
    Def *d = def_of(in, f.learner.at[i]);
    f.was[i] = d->frozen;
    d->frozen = true;
  }
  in->freezes = f.learner.n ? same_learners(in, &f.learner) : 0;
  return f;
}

void learning_thaw(Elab *in, const FreezeStack *f) {
  for (uint32_t i = f->learner.n; i-- > 0;) def_of(in, f->learner.at[i])->frozen = f->was[i];
  in->freezes = 0;
}
