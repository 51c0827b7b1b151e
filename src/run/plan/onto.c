// Onto what is there. A table that is looked up and multiplied by has a gradient of two parts: cells that are added up in
// places, and a matrix. The places are among many others, most of which get nothing: rather than filling a table with zeros
// and adding both, what makes the matrix writes the sum's cells, and the scatter adds to them.
#include "run/plan/plan.h"

// It adds two operands, each as it lies.
static bool adds_alike(const Plan *p, const PlanNode *x) {
  if (!node_adds_two(x)) return false;
  for (uint32_t i = 0; i < 2; i++)
    if (!operands_alike(p, &x->in[i], &x->out) ||
        p->wire.at[x->in[i].wire].number != p->wire.at[x->out.wire].number)
      return false;
  return true;
}

// The node that makes an operand of the sum and nothing else's: it may write the sum instead.
static PlanNode *maker_for(Plan *p, const PlanUses *u, const Operand *o) {
  uint32_t maker = u->maker[o->wire];
  if (maker == PLAN_NONE || maker == PLAN_SEVERAL || u->seen[o->wire] || u->reader[o->wire].n != 1)
    return NULL;
  PlanNode *x = &p->node.at[maker];
  bool known = x->kind == NODE_NEST || x->kind == NODE_PRODUCT;
  return known && !x->pinned && !x->depth && !x->pairs && !x->nwinner ? x : NULL;
}

static bool put_onto(Plan *p, const PlanUses *u, uint32_t node, uint32_t k) {
  PlanNode *sum = &p->node.at[node], *added = maker_for(p, u, &sum->in[k]),
           *first = maker_for(p, u, &sum->in[1 - k]);
  if (!added || !first || first >= added || !added->scatter || added->combine != SUM ||
      first->scatter || u->maker[sum->out.wire] != node ||
      !nodes_movable(p, (uint32_t)(first - p->node.at), node))
    return false;
  first->out.wire = added->out.wire = sum->out.wire;
  added->onto = true;
  sum->kind = NODE_GONE;
  return true;
}

void plan_onto(Plan *p) {
  PlanUses u = plan_uses(p);
  for (uint32_t i = 0; i < p->node.n; i++)
    if (adds_alike(p, &p->node.at[i]) && !put_onto(p, &u, i, 0)) put_onto(p, &u, i, 1);
}
