// Nested sums are merged into one. The gradient of a bias is summed over positions and then over
// samples. On a GPU each sum is a kernel or two; both are made by one, if the summed wire is in
// memory anyway.
#include "run/plan/plan.h"

static bool is_sum(const PlanNode *x) {
  return x->kind == NODE_NEST && x->combine == SUM && node_has_reduction(x) && node_is_plain(x) &&
         node_may_move(x);
}

// A sum of one wire's cells whose access is a permutation of indices.
static bool is_plain_sum(const Plan *p, const PlanNode *y, uint32_t *index) {
  return is_sum(y) && node_is_copy(y) && p->wire.at[y->in[0].wire].rank == y->nindex &&
         operand_is_permutation(p, &y->in[0], index) && operand_is_affine(p, &y->out);
}

// Are all large wires that the inner sum reads in memory anyway?
static bool reads_memory(const Plan *p, const PlanUses *u, const PlanNode *x) {
  int64_t size = p->wire.at[x->out.wire].count;
  for (uint32_t i = 0; i < x->nin; i++) {
    uint32_t w = x->in[i].wire;
    bool shared = u->escapes[w] || u->maker[w] == PLAN_SEVERAL || u->reader[w].n > 1;
    if (p->wire.at[w].count > size && !shared && !wire_is_materialised(p, u, w)) return false;
  }
  return true;
}

// y becomes the sum over both: the loops of x, of which those that y reduces are reduced, too.
static void join_sums(Plan *p, PlanNode *x, PlanNode *y, const uint32_t *index,
                      const uint32_t *inner) {
  uint32_t to[PLAN_AXES];
  PlanNode both = node_clone(p, x);
  both.out = y->out;
  both.origin = y->origin;
  for (uint32_t i = 0; i < y->nindex; i++) {
    to[index[i]] = inner[i];
    both.reduced[inner[i]] = y->reduced[index[i]];
  }
  uint32_t rank = p->wire.at[y->out.wire].rank;
  both.out.coord = NEW_ARRAY(p->arena, PlanCoord, rank + 1);
  for (uint32_t i = 0; i < rank; i++) {
    PlanCoord c = y->out.coord[i];
    c.term = NEW_ARRAY(p->arena, PlanTerm, c.n + 1);
    for (uint32_t k = 0; k < c.n; k++) {
      c.term[k] = y->out.coord[i].term[k];
      c.term[k].var = to[c.term[k].var];
    }
    both.out.coord[i] = c;
  }
  x->kind = NODE_GONE;
  *y = both;
}

void plan_merge_sums(Plan *p) {
  PlanUses u = plan_uses(p);
  for (uint32_t i = 0; i < p->node.n; i++) {
    PlanNode *y = &p->node.at[i];
    uint32_t index[PLAN_AXES], made[PLAN_AXES];
    if (!is_plain_sum(p, y, index)) continue;
    uint32_t wire = y->in[0].wire, maker = u.maker[wire];
    if (maker >= i || u.escapes[wire] || u.reader[wire].n != 1) continue;
    PlanNode *x = &p->node.at[maker];
    if (is_sum(x) && operand_is_permutation(p, &x->out, made) && reads_memory(p, &u, x) &&
        nodes_movable(p, maker, i))
      join_sums(p, x, y, index, made);
  }
}
