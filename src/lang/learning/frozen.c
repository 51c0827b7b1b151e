// The learners that are frozen in the goal of a pair.
//
// Input: the `freeze` statements, on edges and learners. Output: the learners that a goal does not
// train. A frozen edge freezes whatever map it has, so its learners are collected when goals are
// made, after every `set` and `find`.
//
// `freeze` in a diagram holds for all its pairs. In a glued diagram, what a part freezes holds for
// pairs that follow from that part's orders: another part may train the same learner. If several
// parts state an order, the intersection is frozen; along a chain of orders, the union. Without
// orders, a pair belongs to the parts that contain it; one that no part contains freezes what any
// part freezes.
#include "lang/learning/learning_own.h"

void ids_add(Arena *a, const Ids *from, Ids *to) {
  for (uint32_t i = 0; i < from->n; i++)
    if (!names_have(to, from->at[i])) vec_push(a, to, from->at[i]);
}

static Ids ids_common(Arena *a, const Ids *one, const Ids *other) {
  Ids both = {0};
  for (uint32_t i = 0; i < one->n; i++)
    if (names_have(other, one->at[i]) && !names_have(&both, one->at[i]))
      vec_push(a, &both, one->at[i]);
  return both;
}

// -- a part inside the whole ----------------------------------------------------------------------
// A diagram seen from one it is a part of, directly or not; or from itself.
typedef struct {
  Elab *in;
  const Learning *g, *whole;
  const uint32_t *edge; // [edge of the part] index in the whole, or NOWHERE; NULL: the same
} DiagramView;

static DiagramView view_part(const DiagramView *s, const GraphPart *part) {
  uint32_t n = part->of->graph->edge.n, *edge = NEW_ARRAY(s->in->w->arena, uint32_t, n + 1);
  for (uint32_t e = 0; e < n; e++) {
    uint32_t own = part->in.edge[e];
    edge[e] = own != NOWHERE && s->edge ? s->edge[own] : own;
  }
  return (DiagramView){s->in, part->of, s->whole, edge};
}

// Learners of targets; a removed edge gives those it had.
static void add_learners(const DiagramView *s, const OrderTargets *targets, Ids *out) {
  for (uint32_t i = 0; i < targets->n; i++) {
    OrderTarget t = targets->at[i];
    uint32_t at = t.edge == NOWHERE || !s->edge ? t.edge : s->edge[t.edge];
    const Learning *of = at == NOWHERE ? s->g : s->whole;
    if (at != NOWHERE) t.edge = at;
    target_learners(s->in, of, &t, out);
  }
}

static void add_order(const DiagramView *s, uint32_t order, Ids *out) {
  const GraphOrder *o = &s->g->order.at[order];
  Ids common = {0};
  for (uint32_t i = 0; i < o->frozen.n; i++) {
    Ids one = {0};
    add_learners(s, &o->frozen.at[i], &one);
    common = i ? ids_common(s->in->w->arena, &common, &one) : one;
  }
  ids_add(s->in->w->arena, &common, out);
}

// -- without orders -------------------------------------------------------------------------------
// The route with the indices of a part; false: the part does not contain it.
static bool route_in_part(Arena *a, const GraphPart *part, const Route *whole, Route *own) {
  for (uint32_t i = 0; i < whole->n; i++) {
    uint32_t e = 0, n = part->of->graph->edge.n;
    while (e < n && part->in.edge[e] != whole->at[i]) e++;
    if (e == n) return false;
    vec_push(a, own, e);
  }
  return true;
}

static void add_all(const DiagramView *s, Ids *out) {
  add_learners(s, &s->g->frozen, out);
  for (uint32_t i = 0; i < s->g->part.n; i++) {
    DiagramView part = view_part(s, &s->g->part.at[i]);
    add_all(&part, out);
  }
}

static Ids frozen_for(const DiagramView *, const Pair *);

static Ids frozen_unsaid(const DiagramView *s, const Pair *p) {
  Arena *a = s->in->w->arena;
  Ids all = {0}, common = {0};
  bool lies = false;
  for (uint32_t i = 0; i < s->g->part.n; i++) {
    Pair own = {.to = p->to};
    const GraphPart *part = &s->g->part.at[i];
    DiagramView seen = view_part(s, part);
    bool inside = route_in_part(a, part, &p->left, &own.left) &&
                  route_in_part(a, part, &p->right, &own.right);
    add_all(&seen, &all);
    if (!inside) continue;
    Ids frozen = frozen_for(&seen, &own);
    common = lies ? ids_common(a, &common, &frozen) : frozen;
    lies = true;
  }
  return lies ? common : all;
}

// -- all ------------------------------------------------------------------------------------------
static Ids frozen_for(const DiagramView *s, const Pair *p) {
  Ids all = {0};
  add_learners(s, &s->g->frozen, &all);
  if (!p->order) {
    Ids more = frozen_unsaid(s, p);
    ids_add(s->in->w->arena, &more, &all);
    return all;
  }
  if (!p->chain.n) add_order(s, p->order - 1, &all);
  for (uint32_t i = 0; i < p->chain.n; i++) add_order(s, p->chain.at[i], &all);
  return all;
}

Ids pair_frozen(Elab *in, const Learning *g, const Pair *p) {
  return frozen_for(&(DiagramView){in, g, g, NULL}, p);
}

Ids pair_frozen_in_part(Elab *in, const Learning *g, const GraphPart *part, const Pair *p) {
  DiagramView whole = {in, g, g, NULL}, seen = view_part(&whole, part);
  return frozen_for(&seen, p);
}

Ids learning_frozen(Elab *in, const Learning *g) {
  Ids all = {0};
  add_learners(&(DiagramView){in, g, g, NULL}, &g->frozen, &all);
  return all;
}

bool pair_freezes(Elab *in, const Learning *g, const Pair *p, Id learner) {
  Ids all = pair_frozen(in, g, p);
  return names_have(&all, learner) || def_of(in, learner)->frozen;
}

bool learning_freezes(Elab *in, const Learning *g, Id learner) {
  Ids own = learning_frozen(in, g);
  if (names_have(&own, learner) || def_of(in, learner)->frozen) return true;
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
