// Online softmax. Three results of the same scores s depend on each other:
//
//   M = max_j s_j      m = max(M, lowest)      L = Σ_j exp(s_j - m)      R = Σ_j w(exp(s_j - m), L) V_j
//
// M only shifts the exponents. So one pass over the scores can use the largest score so far, and
// rescale L and R whenever that grows. w scales the exponential by a factor that is the same for
// the whole row, so it can be applied to the sum at the end.
//
// This file matches the pattern by the scalars of the nodes. Softmaxes of another form are left
// alone.
#include "core/diagram/ops.h"
#include "run/plan/plan.h"

#include <math.h>

typedef struct {
  const Plan *p;
  const uint32_t *maker, *summed_axis;
  OnlineSoftmax *to;
  uint32_t rank;
  uint32_t row[PLAN_AXES]; // [axis of M] its axis of the scores
} SoftmaxSearch;

static const PlanNode *node_of(const SoftmaxSearch *g, uint32_t i) { return &g->p->node.at[i]; }

// Does the operand hold one number for each row, and is it accessed at the row of these scores?
static bool is_row_operand(const SoftmaxSearch *g, const Operand *o, const uint32_t *scores) {
  uint32_t at[PLAN_AXES];
  if (g->p->wire.at[o->wire].rank != g->rank - 1 || !operand_is_permutation(g->p, o, at))
    return false;
  for (uint32_t i = 0; i + 1 < g->rank; i++)
    if (at[i] != scores[g->row[i]]) return false;
  return true;
}

static bool is_max(SoftmaxSearch *g, const PlanNode *x) {
  uint32_t in[PLAN_AXES], out[PLAN_AXES];
  if (!node_is_copy(x) || x->combine != MAX || !operand_is_permutation(g->p, &x->in[0], in) ||
      !operand_is_permutation(g->p, &x->out, out))
    return false;
  g->rank = g->p->wire.at[x->in[0].wire].rank;
  for (uint32_t i = 0; i + 1 < g->rank; i++) {
    uint32_t axis = 0;
    while (axis < g->rank && in[axis] != out[i]) axis++;
    if (axis == g->rank) return false;
    g->row[i] = axis;
  }
  return true;
}

// Is the node a function of one number of the row, `of`, for each row?
static bool is_map_of_rows(const SoftmaxSearch *g, const PlanNode *x, uint32_t of) {
  uint32_t in[PLAN_AXES], out[PLAN_AXES];
  if (x->kind != NODE_NEST || node_has_reduction(x) || x->scatter || x->noise) return false;
  if (x->depth || x->pinned || x->nin != 1 || x->in[0].wire != of || x->nindex != g->rank - 1)
    return false;
  return operand_is_permutation(g->p, &x->in[0], in) &&
         operand_is_permutation(g->p, &x->out, out) && !memcmp(in, out, (g->rank - 1) * sizeof *in);
}

// m = max(M, a finite number), and nothing else: monotonic in M, and finite where M is not.
static bool is_finite_max(const SoftmaxSearch *g, const PlanNode *x, uint32_t of) {
  bool bounded = false;
  if (!is_map_of_rows(g, x, of)) return false;
  for (uint32_t i = 0; i < x->nscalar; i++) {
    const Scalar *s = &x->scalar[i];
    if (s->fn == FN_maximum)
      bounded |= x->scalar[s->arg[1]].fn == FN_CONST && isfinite(x->scalar[s->arg[1]].k);
    else if (s->fn != FN_ARG && s->fn != FN_CONST && s->fn != FN_stop)
      return false;
  }
  return bounded;
}

// exp(s - m)
static bool is_shifted_exp(const SoftmaxSearch *g, const PlanNode *x, uint32_t s, uint32_t m) {
  uint32_t at[PLAN_AXES];
  if (x->kind != NODE_NEST || x->nin != 2 || x->nscalar != 4 || x->scalar[3].fn != FN_exp ||
      x->scalar[x->scalar[3].arg[0]].fn != FN_sub)
    return false;
  const Scalar *sub = &x->scalar[x->scalar[3].arg[0]], *a = &x->scalar[sub->arg[0]],
               *b = &x->scalar[sub->arg[1]];
  return a->fn == FN_ARG && b->fn == FN_ARG && x->in[a->ref].wire == s && x->in[b->ref].wire == m &&
         operand_is_permutation(g->p, &x->in[a->ref], at) && is_row_operand(g, &x->in[b->ref], at);
}

// -- weights --------------------------------------------------------------------------------------
// Is the body this operand, times a factor that is the same for the whole row?
static bool is_scaling(const PlanNode *x, uint32_t scores) {
  bool has[64] = {false};
  if (x->nscalar > COUNT(has)) return false;
  for (uint32_t i = 0; i < x->nscalar; i++) {
    const Scalar *s = &x->scalar[i];
    bool a = s->fn > FN_SIZE && has[s->arg[0]],
         b = s->fn > FN_SIZE && fn_rows[s->fn].arity > 1 && has[s->arg[1]],
         c = s->fn > FN_SIZE && fn_rows[s->fn].arity > 2 && has[s->arg[2]];
    has[i] = s->fn == FN_ARG ? s->ref == scores : a || b || c;
    if (has[i] && s->fn > FN_SIZE &&
        !((s->fn == FN_mul && a != b) || (s->fn == FN_div && a && !b) || s->fn == FN_neg))
      return false;
  }
  return has[x->nscalar - 1];
}

// The score operand of a node that scales it by numbers of its row, L among them; PLAN_NONE: the
// node is of another form.
static uint32_t scaled_operand(const SoftmaxSearch *g, const PlanNode *x, uint32_t l) {
  uint32_t at[PLAN_AXES], scores = PLAN_NONE;
  if (x->kind != NODE_NEST) return PLAN_NONE;
  for (uint32_t i = 0; i < x->nin; i++) {
    if (!operand_is_affine(g->p, &x->in[i])) return PLAN_NONE;
    if (g->maker[x->in[i].wire] == PLAN_NONE) continue;
    if (scores != PLAN_NONE) return PLAN_NONE;
    scores = i;
  }
  if (scores == PLAN_NONE || !operand_is_permutation(g->p, &x->in[scores], at)) return PLAN_NONE;
  uint32_t summed = at[g->summed_axis[g->to->max]], max = node_of(g, g->to->max)->out.wire,
           row = node_of(g, g->to->row)->out.wire;
  for (uint32_t i = 0; i < x->nin; i++) {
    if (i == scores) continue;
    if (x->in[i].wire == max || x->in[i].wire == row) return PLAN_NONE;
    if (operand_uses_index(g->p, &x->in[i], summed)) return PLAN_NONE;
    if (x->in[i].wire == l && !is_row_operand(g, &x->in[i], at)) return PLAN_NONE;
  }
  for (uint32_t i = 0; i < x->nscalar; i++)
    if (x->scalar[i].fn == FN_AT && x->scalar[i].ref == summed) return PLAN_NONE;
  return is_scaling(x, scores) ? scores : PLAN_NONE;
}

static bool is_weighted_by(const SoftmaxSearch *g, const PlanNode *x, uint32_t e, uint32_t l) {
  if (x->kind != NODE_PRODUCT) return false;
  uint32_t a = x->in[x->product->a].wire,
           wire = g->maker[a] == PLAN_NONE ? x->in[x->product->b].wire : a;
  while (wire != e) {
    if (g->maker[wire] == PLAN_NONE) return false;
    const PlanNode *y = node_of(g, g->maker[wire]);
    uint32_t next = scaled_operand(g, y, l);
    if (next == PLAN_NONE) return false;
    wire = y->in[next].wire;
  }
  return true;
}

// -- the whole pattern ----------------------------------------------------------------------------
static bool same_axis(const SoftmaxSearch *g, uint32_t i) {
  return g->summed_axis[i] == g->summed_axis[g->to->max];
}

static bool find_row_max(SoftmaxSearch *g) {
  uint32_t m = node_of(g, g->to->max)->out.wire;
  for (uint32_t i = g->to->max + 1; i < g->p->node.n; i++)
    if (is_finite_max(g, node_of(g, i), m)) {
      g->to->row = i;
      return true;
    }
  return false;
}

static bool find_sum(SoftmaxSearch *g) {
  uint32_t s = node_of(g, g->to->max)->in[0].wire, m = node_of(g, g->to->row)->out.wire, e;
  for (uint32_t i = g->to->row + 1; i < g->p->node.n; i++) {
    const PlanNode *x = node_of(g, i);
    if (!same_axis(g, i) || !node_is_copy(x) || x->combine != SUM) continue;
    e = g->maker[x->in[0].wire];
    if (e == PLAN_NONE || !is_shifted_exp(g, node_of(g, e), s, m)) continue;
    uint32_t in[PLAN_AXES];
    if (!operand_is_permutation(g->p, &x->in[0], in) || !is_row_operand(g, &x->out, in)) continue;
    g->to->sum = i;
    return true;
  }
  return false;
}

static void find_weighted_sum(SoftmaxSearch *g) {
  const PlanNode *sum = node_of(g, g->to->sum);
  g->to->weighted_sum = PLAN_NONE;
  for (uint32_t i = g->to->sum + 1; i < g->p->node.n && g->to->weighted_sum == PLAN_NONE; i++)
    if (same_axis(g, i) && is_weighted_by(g, node_of(g, i), sum->in[0].wire, sum->out.wire))
      g->to->weighted_sum = i;
}

bool online_softmax_match(const Plan *p, const uint32_t *maker, const uint32_t *summed_axis,
                          uint32_t node, OnlineSoftmax *to) {
  SoftmaxSearch g = {.p = p, .maker = maker, .summed_axis = summed_axis, .to = to};
  to->max = node;
  if (summed_axis[node] == PLAN_NONE || !is_max(&g, &p->node.at[node]) || !find_row_max(&g) ||
      !find_sum(&g))
    return false;
  find_weighted_sum(&g);
  return true;
}
