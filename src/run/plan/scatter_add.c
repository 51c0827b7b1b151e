// Scatter-add into a dense sum. A table that is both indexed and multiplied by has a gradient of
// two terms: a scatter into few rows, and a dense matrix. In place of a zeroed table and a sum of
// both, the dense term is written to the result, and the scatter adds its cells to that.
#include "run/plan/plan.h"

// An element-wise sum whose operands have the indices and the type of the output.
static bool is_sum_of_same_cells(const Plan *p, const PlanNode *x) {
  if (!node_is_sum_of_two(x)) return false;
  for (uint32_t i = 0; i < 2; i++)
    if (!operands_same_access(p, &x->in[i], &x->out) ||
        p->wire.at[x->in[i].wire].number != p->wire.at[x->out.wire].number)
      return false;
  return true;
}

// The node that alone makes an operand that only the sum reads: it may write the sum's output.
static PlanNode *sole_producer(Plan *p, const PlanUses *u, const Operand *o) {
  uint32_t maker = u->maker[o->wire];
  if (maker == PLAN_NONE || maker == PLAN_SEVERAL || u->escapes[o->wire] ||
      u->reader[o->wire].n != 1)
    return NULL;
  PlanNode *x = &p->node.at[maker];
  bool known = x->kind == NODE_NEST || x->kind == NODE_PRODUCT;
  return known && node_may_move(x) && !x->nwinner ? x : NULL;
}

static bool scatter_into_sum(Plan *p, const PlanUses *u, uint32_t node, uint32_t k) {
  PlanNode *sum = &p->node.at[node], *added = sole_producer(p, u, &sum->in[k]),
           *first = sole_producer(p, u, &sum->in[1 - k]);
  if (!added || !first || first >= added || !added->scatter || added->combine != SUM ||
      first->scatter || u->maker[sum->out.wire] != node ||
      !nodes_movable(p, (uint32_t)(first - p->node.at), node))
    return false;
  first->out.wire = added->out.wire = sum->out.wire;
  added->accumulate = true;
  sum->kind = NODE_GONE;
  return true;
}

void plan_scatter_add(Plan *p) {
  PlanUses u = plan_uses(p);
  for (uint32_t i = 0; i < p->node.n; i++)
    if (is_sum_of_same_cells(p, &p->node.at[i]) && !scatter_into_sum(p, &u, i, 0))
      scatter_into_sum(p, &u, i, 1);
}
