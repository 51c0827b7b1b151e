// Values stored as bfloat16, so that tensor cores read half of the bytes. Each factor of a large
// product gets a bfloat16 copy, one for all products that read it. The copy is an ordinary node: it
// is fused with the factor's maker, and if nothing else reads the factor, the factor is never
// stored. A product whose result only the copy reads writes bfloat16 itself. Results are those of a
// product that rounds its factors.
//
// Other kernels are bound by memory. So a large value with a sample axis that a product makes is
// stored as bfloat16 only, whatever reads it, and reductions over a factor (the gradient of a bias)
// read the copy. Weights, their gradients, sums and values that accumulate from layer to layer stay
// floats.
#include "run/plan/plan.h"

// Is the product large enough? In a scan a factor may change with each iteration, so there factors
// are rounded when they are read.
static bool has_bf16_factors(const Plan *p, const PlanNode *x) {
  if (x->kind != NODE_PRODUCT || x->depth) return false;
  double work = 1;
  for (uint32_t i = 0; i < x->nindex; i++) work *= (double)extent_most(p, x->index[i]);
  return work >= (double)p->target->bf16_work;
}

// Wires that another node than the copy reads, that are visible from outside, or that are aliased.
static bool *find_other_readers(const Plan *p, const uint32_t *copy) {
  bool *other_reader = NEW_ARRAY(p->arena, bool, p->wire.n + 1);
  const Ids *outside[] = {&p->in, &p->out, &p->param, &p->next};
  for (uint32_t k = 0; k < COUNT(outside); k++)
    for (uint32_t i = 0; i < outside[k]->n; i++)
      if (outside[k]->at[i] != PLAN_NONE) other_reader[outside[k]->at[i]] = true;
  for (uint32_t i = 0; i < p->wire.n; i++) {
    if (p->wire.at[i].alias_of == PLAN_NONE) continue;
    other_reader[i] = other_reader[p->wire.at[i].alias_of] = true;
  }
  for (uint32_t i = 0; i < p->node.n; i++) {
    const PlanNode *x = &p->node.at[i];
    for (uint32_t k = 0; k < x->nin; k++)
      if (copy[x->in[k].wire] == PLAN_NONE || copy[x->in[k].wire] != x->out.wire)
        other_reader[x->in[k].wire] = true;
  }
  return other_reader;
}

// A product whose result only the copy reads writes the copy.
static void write_bf16_results(Plan *p, const uint32_t *copy) {
  const bool *other_reader = find_other_readers(p, copy);
  for (uint32_t i = 0; i < p->node.n; i++) {
    PlanNode *x = &p->node.at[i];
    uint32_t made = x->out.wire;
    if (x->kind != NODE_PRODUCT || x->depth || other_reader[made] || copy[made] == PLAN_NONE)
      continue;
    for (uint32_t k = i + 1; k < p->node.n; k++)
      if (p->node.at[k].kind == NODE_NEST && p->node.at[k].out.wire == copy[made])
        p->node.at[k].kind = NODE_GONE;
    x->out.wire = copy[made];
  }
}

// -- values stored as bfloat16 only ---------------------------------------------------------------
static bool has_sample_axis(const PlanWire *w) {
  for (uint32_t i = 0; i < w->rank; i++)
    if (w->shape[i].per) return true;
  return false;
}

// A large wire that one node makes, and that only nests and products outside of scans read.
static bool may_store_bf16(const Plan *p, const PlanUses *u, uint32_t wire) {
  const PlanWire *w = &p->wire.at[wire];
  if (w->base != BASE_R || w->number != NUMBER_F32 || w->count < p->target->bf16_cells ||
      u->escapes[wire] || !has_sample_axis(w) || u->maker[wire] >= p->node.n ||
      p->node.at[u->maker[wire]].depth)
    return false;
  for (uint32_t i = 0; i < u->reader[wire].n; i++) {
    const PlanNode *y = &p->node.at[u->reader[wire].at[i]];
    if ((y->kind != NODE_NEST && y->kind != NODE_PRODUCT) || y->depth || y->pinned) return false;
  }
  return true;
}

// A copy to other positions.
static bool is_pure_copy(const PlanNode *x) { return node_is_copy(x) && node_is_elementwise(x); }

// May the node write bfloat16 in place of floats? Sums stay floats.
static bool may_round_output(const Plan *p, const PlanNode *x) {
  const PlanWire *w = &p->wire.at[x->out.wire];
  bool nest = x->kind == NODE_NEST && !node_has_reduction(x) && !x->scatter;
  return (nest || has_bf16_factors(p, x)) && w->base == BASE_R && w->number == NUMBER_F32 &&
         !x->depth && !x->pinned;
}

// Wires that only copies read, the last of which writes bfloat16. Rounding them where they are made
// gives the same digits.
static bool *find_only_moved(const Plan *p, const PlanUses *u) {
  bool *only_moved = NEW_ARRAY(p->arena, bool, p->wire.n + 1);
  for (uint32_t i = p->node.n; i-- > 0;) { // readers come after makers
    uint32_t wire = p->node.at[i].out.wire;
    const Ids *r = &u->reader[wire];
    if (!may_round_output(p, &p->node.at[i]) || u->maker[wire] != i || u->escapes[wire] || !r->n)
      continue;
    only_moved[wire] = true;
    for (uint32_t k = 0; k < r->n; k++) {
      const PlanNode *y = &p->node.at[r->at[k]];
      only_moved[wire] &= is_pure_copy(y) && (p->wire.at[y->out.wire].number == NUMBER_BF16 ||
                                              only_moved[y->out.wire]);
    }
  }
  return only_moved;
}

// Redirects readers of `wire` to its copy: all of them if `all`, which makes the maker write the
// copy itself; otherwise the reductions only, and the copy is then placed directly after the maker.
static void redirect_readers(Plan *p, const PlanUses *u, uint32_t wire, uint32_t copy, bool all,
                             uint32_t *followed_by) {
  uint32_t maker = u->maker[wire], copier = u->maker[copy];
  for (uint32_t i = 0; i < u->reader[wire].n; i++) {
    PlanNode *y = &p->node.at[u->reader[wire].at[i]];
    if (u->reader[wire].at[i] == copier || !(all || node_has_reduction(y))) continue;
    for (uint32_t k = 0; k < y->nin; k++)
      if (y->in[k].wire == wire) y->in[k].wire = copy;
  }
  if (all) {
    p->node.at[maker].out.wire = copy;
    p->node.at[copier].kind = NODE_GONE;
  } else {
    followed_by[maker] = copier;
  }
}

// Places node followed_by[i] directly after node i.
static void place_after(Plan *p, const uint32_t *followed_by) {
  uint32_t n = p->node.n;
  const PlanNode *all = arena_copy(p->arena, p->node.at, n * sizeof *all);
  bool *placed = NEW_ARRAY(p->arena, bool, n + 1);
  for (uint32_t i = 0; i < n; i++)
    if (followed_by[i] != PLAN_NONE) placed[followed_by[i]] = true;
  p->node.n = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (!placed[i]) vec_push(p->arena, &p->node, all[i]);
    if (followed_by[i] != PLAN_NONE) vec_push(p->arena, &p->node, all[followed_by[i]]);
  }
}

static void store_bf16(Plan *p, const uint32_t *copy, uint32_t wires) {
  PlanUses u = plan_uses(p);
  const bool *only_moved = find_only_moved(p, &u);
  uint32_t *followed_by = plan_nones(p, p->node.n);
  for (uint32_t i = 0; i < wires; i++) {
    if (!only_moved[i] && !may_store_bf16(p, &u, i)) continue;
    const PlanNode *maker = &p->node.at[u.maker[i]];
    bool copied = copy[i] != PLAN_NONE && u.maker[copy[i]] < p->node.n &&
                  p->node.at[u.maker[copy[i]]].kind == NODE_NEST;
    if (copied)
      redirect_readers(p, &u, i, copy[i], only_moved[i] || maker->kind == NODE_PRODUCT,
                       followed_by);
    else if (copy[i] == PLAN_NONE && (only_moved[i] || has_bf16_factors(p, maker)))
      p->wire.at[i].number = NUMBER_BF16;
  }
  place_after(p, followed_by);
}

// -- small products -------------------------------------------------------------------------------
// A product that has one bfloat16 factor gets a bfloat16 copy of the other: both factors must be of
// one type, and tensor cores round them anyway.
static void match_factors(Plan *p, PlanNode *x) {
  Operand *a = &x->in[x->product->a], *b = &x->in[x->product->b];
  bool narrow_a = p->wire.at[a->wire].number == NUMBER_BF16,
       narrow_b = p->wire.at[b->wire].number == NUMBER_BF16;
  if (narrow_a == narrow_b) return;
  Operand *wide = narrow_a ? b : a;
  uint32_t copy = wire_new_bf16(p, wide->wire);
  vec_push(p->arena, &p->node, node_for_copy(p, wide->wire, copy, x->origin));
  wide->wire = copy;
}

static void match_all_factors(Plan *p) {
  uint32_t nodes = p->node.n;
  PlanNode *all = arena_copy(p->arena, p->node.at, nodes * sizeof *all);
  p->node.n = 0;
  for (uint32_t i = 0; i < nodes; i++) {
    if (all[i].kind == NODE_PRODUCT) match_factors(p, &all[i]);
    vec_push(p->arena, &p->node, all[i]);
  }
}

// -- layout ---------------------------------------------------------------------------------------
enum { MOST_AXES = 5 };

static bool is_along(const Plan *p, const Operand *o, const uint32_t *group, uint32_t n) {
  return !n || operand_step(p, o, group[n - 1]) == 1;
}

// How well the layout of this operand suits the product. The operand has two of the three groups m,
// n and k.
static int layout_fit(const Plan *p, const PlanNode *x, const Operand *o) {
  const Product *q = x->product;
  const uint32_t *one = o == &x->in[q->b] ? q->n : q->m, *other = o == &x->out ? q->n : q->k;
  uint32_t n_one = o == &x->in[q->b] ? q->nn : q->nm, n_other = o == &x->out ? q->nn : q->nk;
  if (!product_group_is_strided(p, x, o, one, n_one) ||
      !product_group_is_strided(p, x, o, other, n_other))
    return 0;
  if (!is_along(p, o, one, n_one) && !is_along(p, o, other, n_other)) return 0;
  return 4 + product_group_is_strided(p, x, o, q->batch, q->nbatch);
}

static int score_layout(const Plan *p, uint32_t wire) {
  int score = 0;
  for (uint32_t i = 0; i < p->node.n; i++) {
    const PlanNode *x = &p->node.at[i];
    // Nests prefer the order of the axes
    for (uint32_t k = 0; x->kind == NODE_NEST && k < x->nin; k++)
      score += x->in[k].wire == wire && p->wire.at[wire].stride[p->wire.at[wire].rank - 1] == 1;
    if (x->kind != NODE_PRODUCT) continue;
    if (x->out.wire == wire) score += layout_fit(p, x, &x->out);
    if (x->in[x->product->a].wire == wire) score += layout_fit(p, x, &x->in[x->product->a]);
    if (x->in[x->product->b].wire == wire) score += layout_fit(p, x, &x->in[x->product->b]);
  }
  return score;
}

static void set_axis_order(const Plan *p, PlanWire *w, const uint32_t *order) {
  int64_t step = 1;
  for (uint32_t i = w->rank; i-- > 0;) {
    w->stride[order[i]] = step;
    step *= extent_most(p, w->shape[order[i]]);
  }
}

// The next permutation of n axes in lexicographic order; false: there is none.
static bool next_order(uint32_t *order, uint32_t n) {
  uint32_t i = n - 1, k = n - 1;
  while (i > 0 && order[i - 1] >= order[i]) i--;
  if (!i) return false;
  while (order[k] <= order[i - 1]) k--;
  uint32_t t = order[i - 1];
  order[i - 1] = order[k];
  order[k] = t;
  for (k = n - 1; i < k; i++, k--) {
    t = order[i];
    order[i] = order[k];
    order[k] = t;
  }
  return true;
}

static void choose_axis_order(Plan *p, uint32_t wire) {
  PlanWire *w = &p->wire.at[wire];
  uint32_t order[MOST_AXES], best[MOST_AXES], n = w->rank;
  if (n < 3 || n > MOST_AXES) return;
  for (uint32_t i = 0; i < n; i++) best[i] = order[i] = i;
  int most = score_layout(p, wire);
  // A leading sample axis stays first: a smaller batch is then a prefix of the memory.
  bool samples = w->shape[0].per != 0;
  while (next_order(order + samples, n - samples)) {
    set_axis_order(p, w, order);
    int score = score_layout(p, wire);
    if (score <= most) continue;
    most = score;
    memcpy(best, order, sizeof best);
  }
  set_axis_order(p, w, best);
}

void plan_bf16_values(Plan *p) {
  uint32_t wires = p->wire.n, nodes = p->node.n, *copy = plan_nones(p, wires + 2 * nodes);
  const PlanNode *all = arena_copy(p->arena, p->node.at, nodes * sizeof *all);
  p->node.n = 0;
  for (uint32_t i = 0; i < nodes; i++) {
    PlanNode x = all[i];
    for (uint32_t k = 0, n = has_bf16_factors(p, &x) ? 2 : 0; k < n; k++) {
      uint32_t *wire = &x.in[k ? x.product->b : x.product->a].wire;
      if (copy[*wire] == PLAN_NONE) {
        copy[*wire] = wire_new_bf16(p, *wire);
        vec_push(p->arena, &p->node, node_for_copy(p, *wire, copy[*wire], x.origin));
      }
      *wire = copy[*wire];
    }
    vec_push(p->arena, &p->node, x);
  }
  write_bf16_results(p, copy);
  if (p->fuse) {
    store_bf16(p, copy, wires);
    match_all_factors(p);
  }
  for (uint32_t i = wires; i < p->wire.n; i++) choose_axis_order(p, i);
}
