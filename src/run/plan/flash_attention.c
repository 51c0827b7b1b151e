// Flash attention: scores are computed tile by tile in registers, and never stored. Scores are the
// result of a product whose sum is short (Q Kᵀ, a number for each pair of positions), and all that
// is made of it element by element. Every reduction over a position computes the scores that it
// needs again.
//
// In: a plan with products and bfloat16 factors. Score products, element-wise nodes and results are
// found; results are row reductions, and products that contract one position (weights times
// values). Score wires that any other node reads stay in memory. Each result, or several results
// that do not depend on each other, becomes a group of nodes: clones of the score nodes that it
// needs, then the results. Each group becomes one kernel.
#include "run/plan/plan.h"

// Numbers of positions: kernels count them with ints.
enum { LEAST_POSITIONS = 64, MOST_POSITIONS = 1 << 24 };

typedef enum { NOT_SCORES, SCORE_PRODUCT, SCORE_POINTWISE, SCORE_RESULT, SOFTMAX_ROW } ScoreKind;

typedef struct {
  uint32_t low, high; // the wire's two axes of positions; equal: no score wire
} ScoreAxes;

typedef struct {
  Plan *p;
  uint32_t n;                    // nodes
  ScoreKind *kind;               // [node]
  uint32_t *summed_axis;         // [node] of a result: the axis that it reduces
  ScoreAxes *axes;               // [wire]
  bool *materialised;            // [wire] must be in memory
  uint32_t *maker;               // [wire] the node that makes it, of score wires
  uint32_t *group;               // [node] of a result: the last node of its group
  const OnlineSoftmax **softmax; // [node] of a result: its online softmax, or NULL
} Attention;

static bool is_scores(const Attention *g, uint32_t wire) {
  return g->axes[wire].low != g->axes[wire].high && !g->materialised[wire];
}

// -- recognition ----------------------------------------------------------------------------------
static bool is_position_axis(Extent e) {
  return !e.per && !e.part && e.c >= LEAST_POSITIONS && e.c <= MOST_POSITIONS;
}
static bool is_head_axis(Extent e) {
  return !e.per && !e.part && (e.c == 32 || e.c == 64 || e.c == 128);
}

// Bfloat16 with stride 1 along this index, and strides that are multiples of 8 otherwise.
static bool is_row_factor(const Plan *p, const PlanNode *x, const Operand *o, uint32_t along) {
  enum { EIGHT = 8 };
  if (p->wire.at[o->wire].number != NUMBER_BF16 || operand_step(p, o, along) != 1 ||
      operand_start(p, o) % EIGHT)
    return false;
  for (uint32_t i = 0; i < x->nindex; i++)
    if (i != along && operand_step(p, o, i) % EIGHT) return false;
  return true;
}

static uint32_t axis_of(const uint32_t *index, uint32_t rank, uint32_t wanted) {
  uint32_t i = 0;
  while (i < rank && index[i] != wanted) i++;
  return i;
}

static bool is_unconstrained(const PlanNode *x) {
  return !x->depth && !x->pinned && !x->scatter && !x->noise && !node_wants_winner(x);
}

// Are m and n positions, and k the components of a head?
static bool has_score_axes(const PlanNode *x) {
  const Product *q = x->product;
  return product_has_single_indices(q) && is_position_axis(x->index[q->m[0]]) &&
         is_position_axis(x->index[q->n[0]]) && is_head_axis(x->index[q->k[0]]);
}

static bool is_score_product(const Plan *p, const PlanNode *x, ScoreAxes *axes) {
  const Product *q = x->product;
  uint32_t index[PLAN_AXES], rank = p->wire.at[x->out.wire].rank;
  if (x->kind != NODE_PRODUCT || !is_unconstrained(x) || !has_score_axes(x)) return false;
  if (p->wire.at[x->out.wire].alias_of != PLAN_NONE || !operand_is_permutation(p, &x->out, index) ||
      !is_row_factor(p, x, &x->in[q->a], q->k[0]) || !is_row_factor(p, x, &x->in[q->b], q->k[0]))
    return false;
  uint32_t m = axis_of(index, rank, q->m[0]), n = axis_of(index, rank, q->n[0]);
  *axes = (ScoreAxes){m < n ? m : n, m < n ? n : m};
  return true;
}

// Do all score operands of a nest have the same access, which is written into `index`, and the same
// two axes of positions?
static bool reads_scores(const Attention *g, const PlanNode *x, uint32_t *index, ScoreAxes *axes) {
  const Plan *p = g->p;
  uint32_t found = 0, rank = 0;
  for (uint32_t i = 0; i < x->nin; i++) {
    uint32_t now[PLAN_AXES], w = x->in[i].wire;
    if (!is_scores(g, w)) continue;
    if (!operand_is_permutation(p, &x->in[i], now)) return false;
    if (found++ && (p->wire.at[w].rank != rank || memcmp(now, index, rank * sizeof *now) ||
                    axes->low != g->axes[w].low || axes->high != g->axes[w].high))
      return false;
    rank = p->wire.at[w].rank;
    memcpy(index, now, rank * sizeof *now);
    *axes = g->axes[w];
  }
  return found && x->nindex == rank;
}

static bool is_pointwise_on_scores(const Attention *g, const PlanNode *x, const uint32_t *index) {
  const Plan *p = g->p;
  uint32_t out[PLAN_AXES];
  return !node_has_reduction(x) && p->wire.at[x->out.wire].alias_of == PLAN_NONE &&
         p->wire.at[x->out.wire].rank == x->nindex && operand_is_permutation(p, &x->out, out) &&
         !memcmp(out, index, x->nindex * sizeof *out);
}

// A nest that reduces one position. `summed_axis`: that axis of the scores.
static bool is_row_reduction(const Attention *g, const PlanNode *x, const uint32_t *index,
                             ScoreAxes axes, uint32_t *summed_axis) {
  uint32_t out[PLAN_AXES], reduced = 0;
  for (uint32_t i = 0; i < x->nindex; i++) reduced += x->reduced[i];
  *summed_axis = x->reduced[index[axes.low]] ? axes.low : axes.high;
  return reduced == 1 && x->reduced[index[*summed_axis]] && x->combine != PROD &&
         g->p->wire.at[x->out.wire].base == BASE_R && operand_is_permutation(g->p, &x->out, out);
}

// A product that contracts one position of the scores with rows of another factor.
static bool is_weighted_sum(const Attention *g, const PlanNode *x, uint32_t *summed_axis) {
  const Plan *p = g->p;
  const Product *q = x->product;
  bool a = is_scores(g, x->in[q->a].wire), b = is_scores(g, x->in[q->b].wire);
  if (x->kind != NODE_PRODUCT || !is_unconstrained(x) || a == b || !product_has_single_indices(q))
    return false;
  const Operand *o = &x->in[a ? q->a : q->b], *rows = &x->in[a ? q->b : q->a];
  uint32_t index[PLAN_AXES], rank = p->wire.at[o->wire].rank, stays = a ? q->m[0] : q->n[0],
                             along = a ? q->n[0] : q->m[0];
  ScoreAxes axes = g->axes[o->wire];
  if (!operand_is_permutation(p, o, index)) return false;
  *summed_axis = axis_of(index, rank, q->k[0]);
  uint32_t other = axis_of(index, rank, stays);
  return (*summed_axis == axes.low || *summed_axis == axes.high) &&
         (other == axes.low || other == axes.high) && is_head_axis(x->index[along]) &&
         is_row_factor(p, x, rows, along) && operand_is_affine(p, &x->out);
}

static void classify(Attention *g, uint32_t i) {
  const PlanNode *x = &g->p->node.at[i];
  uint32_t index[PLAN_AXES];
  ScoreAxes axes = {0, 0};
  g->kind[i] = NOT_SCORES;
  if (x->kind == NODE_PRODUCT && is_score_product(g->p, x, &axes)) {
    g->kind[i] = SCORE_PRODUCT;
  } else if (x->kind == NODE_PRODUCT) {
    if (is_weighted_sum(g, x, &g->summed_axis[i])) g->kind[i] = SCORE_RESULT;
    return;
  } else if (x->kind != NODE_NEST || !is_unconstrained(x) || !reads_scores(g, x, index, &axes)) {
    return;
  } else if (is_pointwise_on_scores(g, x, index)) {
    g->kind[i] = SCORE_POINTWISE;
  } else {
    if (is_row_reduction(g, x, index, axes, &g->summed_axis[i])) g->kind[i] = SCORE_RESULT;
    return;
  }
  g->axes[x->out.wire] = axes;
  g->maker[x->out.wire] = i;
}

// Marks scores that other nodes read, or that are made of no scores, as materialised. False:
// nothing changed.
static bool materialise_read(Attention *g) {
  const Plan *p = g->p;
  bool found = false;
  for (uint32_t i = 0; i < g->n; i++) {
    const PlanNode *x = &p->node.at[i];
    if (x->kind == NODE_GONE) continue;
    bool inside = g->kind[i] == SCORE_RESULT ||
                  (g->kind[i] == SCORE_POINTWISE && is_scores(g, x->out.wire)),
         any = false;
    for (uint32_t k = 0; k < x->nin; k++) {
      uint32_t w = x->in[k].wire;
      any |= is_scores(g, w);
      if (inside || !is_scores(g, w)) continue;
      g->materialised[w] = found = true;
    }
    if (g->kind[i] == SCORE_RESULT && !any) g->kind[i] = NOT_SCORES;
    if (g->kind[i] == SCORE_POINTWISE && is_scores(g, x->out.wire) && !any)
      g->materialised[x->out.wire] = found = true;
  }
  return found;
}

static void find_scores(Attention *g) {
  for (uint32_t i = 0; i < g->n; i++) classify(g, i);
  while (materialise_read(g)) {
  }
}

// -- groups ---------------------------------------------------------------------------------------
// The nodes after `from`, up to `to`, that depend on it directly or indirectly.
static bool *find_dependents(const Attention *g, uint32_t from, uint32_t to) {
  const Plan *p = g->p;
  bool *wire = NEW_ARRAY(p->arena, bool, p->wire.n + 1),
       *needs = NEW_ARRAY(p->arena, bool, g->n + 1);
  wire[wire_root(p, p->node.at[from].out.wire)] = true;
  for (uint32_t i = from + 1; i <= to; i++) {
    const PlanNode *x = &p->node.at[i];
    for (uint32_t k = 0; x->kind != NODE_GONE && k < x->nin; k++)
      needs[i] |= wire[wire_root(p, x->in[k].wire)];
    for (uint32_t k = 0; needs[i] && k <= x->nwinner; k++) {
      uint32_t w = k ? x->winner[k - 1] : x->out.wire;
      if (w != PLAN_NONE) wire[wire_root(p, w)] = true;
    }
  }
  return needs;
}

static const Operand *score_operand(const Attention *g, const PlanNode *x) {
  for (uint32_t i = 0; i < x->nin; i++)
    if (is_scores(g, x->in[i].wire)) return &x->in[i];
  return NULL;
}

// Do two wires have the same batch and the same positions?
static bool same_score_shape(const Attention *g, uint32_t a, uint32_t b) {
  const PlanWire *x = &g->p->wire.at[a], *y = &g->p->wire.at[b];
  if (x->rank != y->rank) return false;
  for (uint32_t k = 0; k < x->rank; k++)
    if (!extent_same(x->shape[k], y->shape[k])) return false;
  return g->axes[a].low == g->axes[b].low && g->axes[a].high == g->axes[b].high;
}

// Do two results reduce scores of the same shape along the same axis?
static bool same_traversal(const Attention *g, uint32_t i, uint32_t j) {
  const Operand *a = score_operand(g, &g->p->node.at[i]), *b = score_operand(g, &g->p->node.at[j]);
  return g->summed_axis[i] == g->summed_axis[j] && same_score_shape(g, a->wire, b->wire);
}

// May result i be computed in the group of the later result `last`? No other result between them
// may depend on i, and the nodes between must be movable.
static bool may_join_group(const Attention *g, uint32_t i, uint32_t last) {
  const bool *needs = find_dependents(g, i, last);
  for (uint32_t k = i + 1; k <= last; k++)
    if (needs[k] && g->kind[k] == SCORE_RESULT) return false;
  return nodes_movable(g->p, i + 1, last);
}

// Does an online softmax read this wire, apart from its own m and L?
static bool softmax_reads(const Attention *g, const OnlineSoftmax *w, uint32_t from,
                          uint32_t wire) {
  const PlanNode *x = &g->p->node.at[from];
  for (uint32_t i = 0; i < x->nin; i++) {
    uint32_t in = x->in[i].wire;
    bool own = in == g->p->node.at[w->row].out.wire || in == g->p->node.at[w->sum].out.wire;
    if (!own && wire_root(g->p, in) == wire_root(g->p, wire)) return true;
    if (is_scores(g, in) && softmax_reads(g, w, g->maker[in], wire)) return true;
  }
  return false;
}

// An online softmax knows the row maximum only at the end: no other node of the softmax, and no
// result before its last one, may depend on that.
static bool may_run_online(const Attention *g, const OnlineSoftmax *w) {
  uint32_t last = w->weighted_sum == PLAN_NONE ? w->sum : w->weighted_sum;
  const bool *needs = find_dependents(g, w->max, last);
  for (uint32_t k = w->max + 1; k < last; k++) {
    if (!needs[k] || k == w->sum) continue;
    if (g->kind[k] == SCORE_RESULT) return false;
    if (g->kind[k] == NOT_SCORES && k != w->row &&
        (softmax_reads(g, w, w->sum, g->p->node.at[k].out.wire) ||
         softmax_reads(g, w, last, g->p->node.at[k].out.wire)))
      return false;
  }
  return nodes_movable(g->p, w->max + 1, last);
}

static void find_softmaxes(Attention *g) {
  for (uint32_t i = 0; i < g->n; i++) {
    OnlineSoftmax *w = NEW(g->p->arena, OnlineSoftmax);
    if (g->kind[i] != SCORE_RESULT || !online_softmax_match(g->p, g->maker, g->summed_axis, i, w) ||
        !may_run_online(g, w))
      continue;
    uint32_t last = w->weighted_sum == PLAN_NONE ? w->sum : w->weighted_sum;
    g->softmax[i] = g->softmax[w->sum] = g->softmax[last] = w;
    g->group[i] = g->group[w->sum] = g->group[last] = last;
    g->kind[w->row] = SOFTMAX_ROW;
  }
}

static void find_groups(Attention *g) {
  for (uint32_t i = g->n; i-- > 0;) {
    uint32_t j = i + 1;
    if (g->softmax[i]) continue;
    g->group[i] = i;
    if (g->kind[i] != SCORE_RESULT) continue;
    while (j < g->n && !(g->kind[j] == SCORE_RESULT && !g->softmax[j] && same_traversal(g, i, j)))
      j++;
    if (j < g->n && may_join_group(g, i, g->group[j])) g->group[i] = g->group[j];
  }
}

// -- rewriting ------------------------------------------------------------------------------------
static uint32_t register_copy(Plan *p, uint32_t of) {
  uint32_t copy = wire_clone(p, of);
  PlanWire *w = &p->wire.at[copy];
  if (w->number == NUMBER_BF16) w->number = NUMBER_F32; // scores in registers are floats
  return copy;
}

// A group that is being written.
typedef struct {
  Attention *g;
  PlanNode *all;
  uint32_t id, *copy;   // [wire] its clone in this group
  uint32_t *substitute; // [wire] the wire that is read instead
  // [axis of scores] its loop: those of the batch, the position that stays, the position that is
  // reduced
  uint32_t var[PLAN_AXES];
} GroupWriter;

// Sets the loop of each index by the scores that a node reads or makes.
static void assign_loops(const GroupWriter *w, PlanNode *x, const Operand *scores) {
  const Plan *p = w->g->p;
  uint32_t index[PLAN_AXES];
  x->var = plan_nones(p, x->nindex);
  operand_is_permutation(p, scores, index);
  for (uint32_t i = 0; i < p->wire.at[scores->wire].rank; i++) x->var[index[i]] = w->var[i];
}

// Appends a node, and before that clones of the nodes that make its scores.
static void push_with_scores(GroupWriter *w, PlanNode x, ScoreKind kind) {
  Plan *p = w->g->p;
  assign_loops(w, &x, kind == SCORE_RESULT ? score_operand(w->g, &x) : &x.out);
  x.in = arena_copy(p->arena, x.in, x.nin * sizeof *x.in);
  for (uint32_t i = 0; i < x.nin; i++) {
    uint32_t of = x.in[i].wire;
    if (w->substitute[of] != PLAN_NONE) x.in[i].wire = w->substitute[of];
    if (!is_scores(w->g, of)) continue;
    if (w->copy[of] == PLAN_NONE) {
      PlanNode y = node_clone(p, &w->all[w->g->maker[of]]);
      y.out.wire = w->copy[of] = register_copy(p, of);
      push_with_scores(w, y, w->g->kind[w->g->maker[of]]);
    }
    x.in[i].wire = w->copy[of];
  }
  x.attention = w->id;
  vec_push(p->arena, &p->node, x);
}

// Should the reduced loop be the outer one? Values that depend on the outer position only are
// computed once for several scores, so the outer position is the one by which more operands are
// accessed. But row reductions need the reduced loop as the inner one.
static bool summed_loop_is_outer(const Attention *g, uint32_t last, const PlanNode *all,
                                 const Operand *scores) {
  const Plan *p = g->p;
  ScoreAxes axes = g->axes[scores->wire];
  int more = 0;
  for (uint32_t i = 0; i < g->n; i++) {
    const PlanNode *x = &all[i];
    if (g->kind[i] == SCORE_RESULT && g->group[i] == last && x->kind == NODE_NEST) return false;
    if (g->kind[i] != SCORE_POINTWISE || !score_operand(g, x) ||
        !same_score_shape(g, x->out.wire, scores->wire))
      continue;
    uint32_t index[PLAN_AXES];
    operand_is_permutation(p, &x->out, index);
    for (uint32_t k = 0; k < x->nin; k++) {
      bool low = operand_uses_index(p, &x->in[k], index[axes.low]),
           high = operand_uses_index(p, &x->in[k], index[axes.high]);
      if (low != high) more += (g->summed_axis[last] == axes.low) == low ? 1 : -1;
    }
  }
  return more > 0;
}

// A wire of one cell, held in a register.
static uint32_t wire_in_register(Plan *p, uint32_t of) {
  uint32_t copy = register_copy(p, of);
  PlanWire *w = &p->wire.at[copy];
  w->place = AT_TILE;
  w->count = 1;
  w->alias_of = PLAN_NONE;
  w->needs_memory = false;
  memset(w->stride, 0, w->rank * sizeof *w->stride);
  return copy;
}

// Appends the node that makes m of the largest score so far, once for each row. The original node
// is dropped.
static void push_row_node(GroupWriter *w, const OnlineSoftmax *of) {
  Plan *p = w->g->p;
  const PlanNode *max = &w->all[of->max], *sum = &w->all[of->sum];
  PlanNode x = node_clone(p, &w->all[of->row]);
  uint32_t in[PLAN_AXES], out[PLAN_AXES], row[PLAN_AXES], rank = p->wire.at[max->in[0].wire].rank;
  operand_is_permutation(p, &max->in[0], in);
  operand_is_permutation(p, &max->out, out);
  operand_is_permutation(p, &x.in[0], row);
  x.var = plan_nones(p, x.nindex);
  for (uint32_t i = 0; i < rank; i++)
    for (uint32_t k = 0; k + 1 < rank; k++)
      if (in[i] == out[k]) x.var[row[k]] = w->var[i];
  x.in = arena_copy(p->arena, x.in, sizeof *x.in);
  x.in[0].wire = wire_in_register(p, max->out.wire);
  w->substitute[sum->out.wire] = wire_in_register(p, sum->out.wire);
  x.attention = w->id;
  vec_push(p->arena, &p->node, x);
}

static void push_group(Attention *g, uint32_t last, PlanNode *all) {
  GroupWriter w = {.g = g,
                   .all = all,
                   .id = last + 1,
                   .copy = plan_nones(g->p, g->p->wire.n),
                   .substitute = plan_nones(g->p, g->p->wire.n)};
  const Operand *scores = score_operand(g, &all[last]);
  ScoreAxes axes = g->axes[scores->wire];
  uint32_t rank = g->p->wire.at[scores->wire].rank, batch = 0;
  bool summed_outer = summed_loop_is_outer(g, last, all, scores);
  for (uint32_t i = 0; i < rank; i++)
    w.var[i] = i == g->summed_axis[last]         ? rank - 1 - summed_outer
               : i == axes.low || i == axes.high ? rank - 2 + summed_outer
                                                 : batch++;
  for (uint32_t i = 0; i <= last; i++) {
    if (g->kind[i] != SCORE_RESULT || g->group[i] != last) continue;
    push_with_scores(&w, all[i], SCORE_RESULT);
    if (g->softmax[i] && g->softmax[i]->max == i) push_row_node(&w, g->softmax[i]);
  }
}

// For each node, the group that must precede it, because it depends on one of its results;
// PLAN_NONE: none.
static uint32_t *find_delayed(const Attention *g) {
  uint32_t *after = plan_nones(g->p, g->n);
  for (uint32_t i = 0; i < g->n; i++) {
    if (g->kind[i] != SCORE_RESULT || g->group[i] == i) continue;
    const bool *needs = find_dependents(g, i, g->group[i]);
    for (uint32_t j = i + 1; j < g->group[i]; j++)
      if (needs[j] && (after[j] == PLAN_NONE || after[j] < g->group[i])) after[j] = g->group[i];
  }
  return after;
}

static void write_nodes(Attention *g) {
  Plan *p = g->p;
  PlanNode *all = arena_copy(p->arena, p->node.at, g->n * sizeof *all);
  const uint32_t *after = find_delayed(g);
  p->node.n = 0;
  for (uint32_t i = 0; i < g->n; i++) {
    if (g->kind[i] == NOT_SCORES && after[i] == PLAN_NONE) vec_push(p->arena, &p->node, all[i]);
    if (g->kind[i] != SCORE_RESULT || g->group[i] != i) continue;
    push_group(g, i, all);
    for (uint32_t j = 0; j < i; j++)
      if (g->kind[j] == NOT_SCORES && after[j] == i) vec_push(p->arena, &p->node, all[j]);
  }
}

static Attention find_attention(Plan *p) {
  uint32_t n = p->node.n, wires = p->wire.n;
  Attention g = {.p = p,
                 .n = n,
                 .kind = NEW_ARRAY(p->arena, ScoreKind, n + 1),
                 .summed_axis = plan_nones(p, n),
                 .axes = NEW_ARRAY(p->arena, ScoreAxes, wires + 1),
                 .materialised = plan_uses(p).escapes,
                 .maker = plan_nones(p, wires),
                 .group = plan_nones(p, n),
                 .softmax = NEW_ARRAY(p->arena, const OnlineSoftmax *, n + 1)};
  find_scores(&g);
  for (uint32_t i = 0; i < n; i++) {
    bool made = g.kind[i] == SCORE_PRODUCT || g.kind[i] == SCORE_POINTWISE;
    if (g.kind[i] != SCORE_RESULT) g.summed_axis[i] = PLAN_NONE;
    if (!made || is_scores(&g, p->node.at[i].out.wire)) continue;
    g.kind[i] = NOT_SCORES;
    g.maker[p->node.at[i].out.wire] = PLAN_NONE;
  }
  return g;
}

// Replaces row sums that need no scores (attention_row_sum.c). False: there are none.
static bool shorten_row_sums(const Attention *g) {
  Plan *p = g->p;
  PlanNode to[2], *all = arena_copy(p->arena, p->node.at, g->n * sizeof *all);
  VEC(PlanNode) node = {0};
  for (uint32_t i = 0; i < g->n; i++)
    if (g->kind[i] == SCORE_RESULT && attention_short_row_sum(p, g->maker, i, to)) {
      vec_push(p->arena, &node, to[0]);
      vec_push(p->arena, &node, to[1]);
    } else {
      vec_push(p->arena, &node, all[i]);
    }
  if (node.n == g->n) return false;
  p->node.n = 0;
  for (uint32_t i = 0; i < node.n; i++) vec_push(p->arena, &p->node, node.at[i]);
  return true;
}

void plan_flash_attention(Plan *p) {
  Attention g = find_attention(p);
  if (shorten_row_sums(&g)) g = find_attention(p);
  bool any = false;
  for (uint32_t i = 0; i < g.n; i++) any |= g.kind[i] == SCORE_RESULT;
  if (!any) return;
  find_softmaxes(&g);
  find_groups(&g);
  write_nodes(&g);
}

// -- kernels --------------------------------------------------------------------------------------
bool node_makes_scores(const PlanNode *x) {
  return x->kind == NODE_PRODUCT && x->var[x->product->k[0]] == PLAN_NONE;
}

uint32_t attention_summed_loop(const Plan *p, const Kernel *k) {
  const PlanNode *x = &p->node.at[k->node.at[k->node.n - 1]];
  if (x->kind == NODE_PRODUCT) return x->var[x->product->k[0]];
  uint32_t i = 0;
  while (!x->reduced[i]) i++;
  return x->var[i];
}

uint32_t attention_row_node(const Plan *p, const Kernel *k) {
  const Nest *s = &k->nest.at[0];
  uint32_t summed = attention_summed_loop(p, k);
  for (uint32_t i = 0; i < s->node.n; i++) {
    const PlanNode *x = &p->node.at[s->node.at[i]];
    uint32_t v = 0;
    while (v < x->nindex && x->var[v] != summed) v++;
    if (v == x->nindex) return i;
  }
  return PLAN_NONE;
}

void attention_kernel(Plan *p, Kernel *k) {
  Extent loop[PLAN_AXES];
  Nest s = {.ndim = 2, .dim = NEW_ARRAY(p->arena, Extent, 2)};
  k->np = 0;
  for (uint32_t i = 0; i < k->node.n; i++) {
    PlanNode *x = &p->node.at[k->node.at[i]];
    PlanWire *out = &p->wire.at[x->out.wire];
    for (uint32_t v = 0; v < x->nindex; v++) {
      if (x->var[v] == PLAN_NONE) continue;
      loop[x->var[v]] = x->index[v];
      if (x->var[v] > k->np + 1) k->np = x->var[v] - 1;
    }
    x->nest = 0;
    if (x->kind == NODE_NEST) vec_push(p->arena, &s.node, k->node.at[i]);
    if (x->kind == NODE_NEST && !node_has_reduction(x) && x->nindex == k->np + 2)
      out->place = AT_REGISTER;
    if (x->kind != NODE_PRODUCT || !node_makes_scores(x)) continue;
    out->place = AT_TILE; // of one cell: a score is in a register where it is read
    out->count = 1;
    memset(out->stride, 0, out->rank * sizeof *out->stride);
  }
  k->p = arena_copy(p->arena, loop, (k->np + 1) * sizeof *loop);
  memcpy(s.dim, loop + k->np, 2 * sizeof *loop);
  vec_push(p->arena, &k->nest, s);
}
