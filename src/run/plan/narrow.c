// Factors of large products as bfloat16 in memory, so that a GPU's matrix units are fed with half of the
// bytes. In comes a plan whose products are known; each factor gets a copy in bfloat16, once for all
// products that read it. The copy is a node like others: it joins the kernel that makes the factor,
// and where nothing else reads it, the factor itself never gets to memory. What a product makes only for
// other products is written as bfloat16 at once. Numbers are rounded where they would be when they are
// multiplied, so results are those of a product that rounds.
//
// Beside the products, kernels are bound by what they move. So what a product makes for each sample is in memory
// as bfloat16 alone where it is large, whoever reads it, and sums over what is there as a factor anyway (the gradient of
// a bias) read that: half of the bytes, half of the memory. Weights, their gradients and every sum stay floats, and so
// does what is added up from layer to layer.
#include "run/plan/plan.h"

// Inside a scan a factor may be another one in each turn: there factors are rounded when they are read.
static bool is_narrowed(const Plan *p, const PlanNode *x) {
  if (x->kind != NODE_PRODUCT || x->depth) return false;
  double work = 1;
  for (uint32_t i = 0; i < x->nindex; i++) work *= (double)extent_most(p, x->index[i]);
  return work >= (double)p->target->narrow_work;
}

// Wires that something else reads than the copy, or that others lie in.
static bool *find_wanted(const Plan *p, const uint32_t *copy) {
  bool *wanted = NEW_ARRAY(p->arena, bool, p->wire.n + 1);
  const Ids *outside[] = {&p->in, &p->out, &p->param, &p->next};
  for (uint32_t k = 0; k < COUNT(outside); k++)
    for (uint32_t i = 0; i < outside[k]->n; i++)
      if (outside[k]->at[i] != PLAN_NONE) wanted[outside[k]->at[i]] = true;
  for (uint32_t i = 0; i < p->wire.n; i++) {
    if (p->wire.at[i].of == PLAN_NONE) continue;
    wanted[i] = wanted[p->wire.at[i].of] = true;
  }
  for (uint32_t i = 0; i < p->node.n; i++) {
    const PlanNode *x = &p->node.at[i];
    for (uint32_t k = 0; k < x->nin; k++)
      if (copy[x->in[k].wire] == PLAN_NONE || copy[x->in[k].wire] != x->out.wire)
        wanted[x->in[k].wire] = true;
  }
  return wanted;
}

// A product whose result is read by the copy alone makes the copy.
static void make_narrow(Plan *p, const uint32_t *copy) {
  const bool *wanted = find_wanted(p, copy);
  for (uint32_t i = 0; i < p->node.n; i++) {
    PlanNode *x = &p->node.at[i];
    uint32_t made = x->out.wire;
    if (x->kind != NODE_PRODUCT || x->depth || wanted[made] || copy[made] == PLAN_NONE) continue;
    for (uint32_t k = i + 1; k < p->node.n; k++)
      if (p->node.at[k].kind == NODE_NEST && p->node.at[k].out.wire == copy[made])
        p->node.at[k].kind = NODE_GONE;
    x->out.wire = copy[made];
  }
}

// -- narrow in memory, whoever reads it -----------------------------------------------------------
static bool is_for_samples(const PlanWire *w) {
  for (uint32_t i = 0; i < w->rank; i++)
    if (w->shape[i].per) return true;
  return false;
}

// A large wire that is one node's, which nests outside of scans and products alone read.
static bool may_be_narrow(const Plan *p, const PlanUses *u, uint32_t wire) {
  const PlanWire *w = &p->wire.at[wire];
  if (w->base != BASE_R || w->number != NUMBER_F32 || w->count < p->target->narrow_cells ||
      u->seen[wire] || !is_for_samples(w) || u->maker[wire] >= p->node.n ||
      p->node.at[u->maker[wire]].depth)
    return false;
  for (uint32_t i = 0; i < u->reader[wire].n; i++) {
    const PlanNode *y = &p->node.at[u->reader[wire].at[i]];
    if ((y->kind != NODE_NEST && y->kind != NODE_PRODUCT) || y->depth || y->pinned) return false;
  }
  return true;
}

// Nothing but cells at other places.
static bool is_move(const PlanNode *x) { return node_copies(x) && node_plain(x); }

// Wires that end as bfloat16 whoever reads them, since they are moved only: rounded where they are made, they have the
// same digits.
static bool *find_rounded(const Plan *p, const PlanUses *u) {
  bool *rounded = NEW_ARRAY(p->arena, bool, p->wire.n + 1);
  for (uint32_t i = p->node.n; i-- > 0;) { // who reads comes behind
    uint32_t wire = p->node.at[i].out.wire;
    const PlanWire *w = &p->wire.at[wire];
    const PlanNode *x = &p->node.at[i];
    const Ids *r = &u->reader[wire];
    bool nest = x->kind == NODE_NEST && !node_sums(x) && !x->scatter; // sums are kept as floats
    if (!(nest || is_narrowed(p, x)) || u->maker[wire] != i || u->seen[wire] || !r->n ||
        w->base != BASE_R || w->number != NUMBER_F32 || x->depth || x->pinned)
      continue;
    rounded[wire] = true;
    for (uint32_t k = 0; k < r->n; k++) {
      const PlanNode *y = &p->node.at[r->at[k]];
      rounded[wire] &=
          is_move(y) && (p->wire.at[y->out.wire].number == NUMBER_BF16 || rounded[y->out.wire]);
    }
  }
  return rounded;
}

// Sums read the copy; and all do so, if the maker of the wire may make the copy itself. Otherwise it is followed by the
// copy at once.
static void read_copy(Plan *p, const PlanUses *u, uint32_t wire, uint32_t copy, bool all,
                      uint32_t *behind) {
  uint32_t maker = u->maker[wire], copier = u->maker[copy];
  for (uint32_t i = 0; i < u->reader[wire].n; i++) {
    PlanNode *y = &p->node.at[u->reader[wire].at[i]];
    if (u->reader[wire].at[i] == copier || !(all || node_sums(y))) continue;
    for (uint32_t k = 0; k < y->nin; k++)
      if (y->in[k].wire == wire) y->in[k].wire = copy;
  }
  if (all) {
    p->node.at[maker].out.wire = copy;
    p->node.at[copier].kind = NODE_GONE;
  } else {
    behind[maker] = copier;
  }
}

// Nodes `behind` others follow them at once.
static void move_nodes(Plan *p, const uint32_t *behind) {
  uint32_t n = p->node.n;
  const PlanNode *all = arena_copy(p->arena, p->node.at, n * sizeof *all);
  bool *moved = NEW_ARRAY(p->arena, bool, n + 1);
  for (uint32_t i = 0; i < n; i++)
    if (behind[i] != PLAN_NONE) moved[behind[i]] = true;
  p->node.n = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (!moved[i]) vec_push(p->arena, &p->node, all[i]);
    if (behind[i] != PLAN_NONE) vec_push(p->arena, &p->node, all[behind[i]]);
  }
}

static void keep_narrow(Plan *p, const uint32_t *copy, uint32_t wires) {
  PlanUses u = plan_uses(p);
  const bool *rounded = find_rounded(p, &u);
  uint32_t *behind = plan_nones(p, p->node.n);
  for (uint32_t i = 0; i < wires; i++) {
    if (!rounded[i] && !may_be_narrow(p, &u, i)) continue;
    const PlanNode *maker = &p->node.at[u.maker[i]];
    bool copied = copy[i] != PLAN_NONE && u.maker[copy[i]] < p->node.n &&
                  p->node.at[u.maker[copy[i]]].kind == NODE_NEST;
    if (copied)
      read_copy(p, &u, i, copy[i], rounded[i] || maker->kind == NODE_PRODUCT, behind);
    else if (copy[i] == PLAN_NONE && (rounded[i] || is_narrowed(p, maker)))
      p->wire.at[i].number = NUMBER_BF16;
  }
  move_nodes(p, behind);
}

// -- small products -------------------------------------------------------------------------------
// One that reads what others have in bfloat16 has its other factor so, too: a product reads both of one kind, and units
// round them anyway.
static void match_factors(Plan *p, PlanNode *x) {
  Operand *a = &x->in[x->product->a], *b = &x->in[x->product->b];
  bool narrow_a = p->wire.at[a->wire].number == NUMBER_BF16,
       narrow_b = p->wire.at[b->wire].number == NUMBER_BF16;
  if (narrow_a == narrow_b) return;
  Operand *wide = narrow_a ? b : a;
  uint32_t copy = plan_wire_narrow(p, wide->wire);
  vec_push(p->arena, &p->node, plan_copy(p, wide->wire, copy, x->origin));
  wide->wire = copy;
}

static void match_all(Plan *p) {
  uint32_t nodes = p->node.n;
  PlanNode *all = arena_copy(p->arena, p->node.at, nodes * sizeof *all);
  p->node.n = 0;
  for (uint32_t i = 0; i < nodes; i++) {
    if (all[i].kind == NODE_PRODUCT) match_factors(p, &all[i]);
    vec_push(p->arena, &p->node, all[i]);
  }
}

// -- the order of axes in memory ------------------------------------------------------------------
// A narrow wire is written by one node and stands for itself, so its axes may lie in memory in any
// order: in the one in which most products find each of their groups of loops to be one stretch.
enum { AXES = 5 };

static bool is_along(const Plan *p, const Operand *o, const uint32_t *group, uint32_t n) {
  return !n || operand_step(p, o, group[n - 1]) == 1;
}

// How well a product takes this operand, which has two of its three groups.
static int taken(const Plan *p, const PlanNode *x, const Operand *o) {
  const Product *q = x->product;
  const uint32_t *one = o == &x->in[q->b] ? q->n : q->m, *other = o == &x->out ? q->n : q->k;
  uint32_t n_one = o == &x->in[q->b] ? q->nn : q->nm, n_other = o == &x->out ? q->nn : q->nk;
  if (!product_straight(p, x, o, one, n_one) || !product_straight(p, x, o, other, n_other))
    return 0;
  if (!is_along(p, o, one, n_one) && !is_along(p, o, other, n_other)) return 0;
  return 4 + product_straight(p, x, o, q->batch, q->nbatch);
}

static int score_order(const Plan *p, uint32_t wire) {
  int score = 0;
  for (uint32_t i = 0; i < p->node.n; i++) {
    const PlanNode *x = &p->node.at[i];
    for (uint32_t k = 0; x->kind == NODE_NEST && k < x->nin; k++) // nests like the order they know
      score += x->in[k].wire == wire && p->wire.at[wire].stride[p->wire.at[wire].rank - 1] == 1;
    if (x->kind != NODE_PRODUCT) continue;
    if (x->out.wire == wire) score += taken(p, x, &x->out);
    if (x->in[x->product->a].wire == wire) score += taken(p, x, &x->in[x->product->a]);
    if (x->in[x->product->b].wire == wire) score += taken(p, x, &x->in[x->product->b]);
  }
  return score;
}

static void lay_axes(const Plan *p, PlanWire *w, const uint32_t *order) {
  int64_t step = 1;
  for (uint32_t i = w->rank; i-- > 0;) {
    w->stride[order[i]] = step;
    step *= extent_most(p, w->shape[order[i]]);
  }
}

// The next order of n axes, as words in a dictionary follow each other; false: there is none.
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

static void choose_order(Plan *p, uint32_t wire) {
  PlanWire *w = &p->wire.at[wire];
  uint32_t order[AXES], best[AXES], n = w->rank;
  if (n < 3 || n > AXES) return;
  for (uint32_t i = 0; i < n; i++) best[i] = order[i] = i;
  int most = score_order(p, wire);
  // the sample axis, if it is the first, stays: fewer samples are a shorter stretch
  bool samples = w->shape[0].per != 0;
  while (next_order(order + samples, n - samples)) {
    lay_axes(p, w, order);
    int score = score_order(p, wire);
    if (score <= most) continue;
    most = score;
    memcpy(best, order, sizeof best);
  }
  lay_axes(p, w, best);
}

void plan_narrow(Plan *p) {
  uint32_t wires = p->wire.n, nodes = p->node.n, *copy = plan_nones(p, wires + 2 * nodes);
  const PlanNode *all = arena_copy(p->arena, p->node.at, nodes * sizeof *all);
  p->node.n = 0;
  for (uint32_t i = 0; i < nodes; i++) {
    PlanNode x = all[i];
    for (uint32_t k = 0, n = is_narrowed(p, &x) ? 2 : 0; k < n; k++) {
      uint32_t *wire = &x.in[k ? x.product->b : x.product->a].wire;
      if (copy[*wire] == PLAN_NONE) {
        copy[*wire] = plan_wire_narrow(p, *wire);
        vec_push(p->arena, &p->node, plan_copy(p, *wire, copy[*wire], x.origin));
      }
      *wire = copy[*wire];
    }
    vec_push(p->arena, &p->node, x);
  }
  make_narrow(p, copy);
  if (p->fuse) {
    keep_narrow(p, copy, wires);
    match_all(p);
  }
  for (uint32_t i = wires; i < p->wire.n; i++) choose_order(p, i);
}
