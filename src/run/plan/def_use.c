// Definitions and uses of wires before fusion, and the questions about nodes, operands and wires
// that the rewrites of nodes share.
#include "core/diagram/ops.h"
#include "run/plan/plan.h"

PlanUses plan_uses(const Plan *p) {
  PlanUses u = {.maker = plan_nones(p, p->wire.n),
                .escapes = NEW_ARRAY(p->arena, bool, p->wire.n + 1),
                .reader = NEW_ARRAY(p->arena, Ids, p->wire.n + 1)};
  const Ids *outside[] = {&p->in, &p->out, &p->param, &p->next};
  for (uint32_t k = 0; k < COUNT(outside); k++)
    for (uint32_t i = 0; i < outside[k]->n; i++)
      if (outside[k]->at[i] != PLAN_NONE) u.escapes[outside[k]->at[i]] = true;
  for (uint32_t i = 0; i < p->wire.n; i++)
    if (p->wire.at[i].alias_of != PLAN_NONE)
      u.escapes[i] = u.escapes[p->wire.at[i].alias_of] = true;
  for (uint32_t i = 0; i < p->node.n; i++) {
    const PlanNode *x = &p->node.at[i];
    if (x->kind == NODE_GONE || x->kind == NODE_SCAN || x->kind == NODE_SCAN_END) continue;
    u.maker[x->out.wire] = u.maker[x->out.wire] == PLAN_NONE ? i : PLAN_SEVERAL;
    for (uint32_t k = 0; k < x->nin; k++) {
      Ids *r = &u.reader[x->in[k].wire];
      if (!r->n || r->at[r->n - 1] != i) vec_push(p->arena, r, i);
    }
  }
  return u;
}

bool node_is_elementwise(const PlanNode *x) {
  return x->kind == NODE_NEST && !node_has_reduction(x) && node_is_plain(x) && node_may_move(x);
}

bool node_reads_position(const PlanNode *x) {
  for (uint32_t i = 0; i < x->nscalar; i++)
    if (x->scalar[i].fn == FN_AT) return true;
  return false;
}

bool node_is_sum_of_two(const PlanNode *x) {
  const Scalar *s = x->scalar;
  return node_is_elementwise(x) && x->nin == 2 && x->nscalar == 3 && s[0].fn == FN_ARG &&
         s[1].fn == FN_ARG && s[0].ref != s[1].ref && s[2].fn == FN_add &&
         s[2].arg[0] != s[2].arg[1];
}

bool node_is_copy(const PlanNode *x) {
  return x->kind == NODE_NEST && x->nin == 1 && x->nscalar == 1 && x->scalar[0].fn == FN_ARG;
}

uint32_t wire_clone(Plan *p, uint32_t of) {
  PlanWire w = p->wire.at[of];
  Extent *shape = NEW_ARRAY(p->arena, Extent, w.rank + 1);
  int64_t *stride = NEW_ARRAY(p->arena, int64_t, w.rank + 1);
  for (uint32_t i = 0; i < w.rank; i++) shape[i] = w.shape[i], stride[i] = w.stride[i];
  w.shape = shape;
  w.stride = stride;
  vec_push(p->arena, &p->wire, w);
  return p->wire.n - 1;
}

bool wire_is_row_major(const Plan *p, uint32_t wire) {
  const PlanWire *w = &p->wire.at[wire];
  int64_t step = 1;
  for (uint32_t i = w->rank; i-- > 0; step *= extent_most(p, w->shape[i]))
    if (w->stride[i] != step) return false;
  return true;
}

void wire_set_row_major(Plan *p, uint32_t wire) {
  PlanWire *w = &p->wire.at[wire];
  w->stride = NEW_ARRAY(p->arena, int64_t, w->rank + 1); // a clone may share the old strides
  w->count = 1;
  for (uint32_t i = w->rank; i-- > 0;) {
    w->stride[i] = w->count;
    w->count *= extent_most(p, w->shape[i]);
  }
}

uint32_t wire_new_like(Plan *p, uint32_t of) {
  uint32_t wire = wire_clone(p, of);
  PlanWire *w = &p->wire.at[wire];
  w->alias_of = PLAN_NONE;
  w->offset = 0;
  w->scan_moves = w->needs_memory = false;
  w->place = AT_NOWHERE;
  wire_set_row_major(p, wire);
  return wire;
}

uint32_t wire_new_bf16(Plan *p, uint32_t of) {
  uint32_t wire = wire_new_like(p, of);
  p->wire.at[wire].number = NUMBER_BF16;
  return wire;
}

bool wire_is_materialised(const Plan *p, const PlanUses *u, uint32_t wire) {
  uint32_t maker = u->maker[wire];
  if (maker == PLAN_NONE) return true;
  return maker != PLAN_SEVERAL &&
         (p->node.at[maker].kind == NODE_PRODUCT || p->node.at[maker].attention);
}

bool operand_is_permutation(const Plan *p, const Operand *o, uint32_t *index) {
  uint32_t rank = p->wire.at[o->wire].rank;
  if (rank > PLAN_AXES || o->padded) return false;
  for (uint32_t i = 0; i < rank; i++) {
    if (!operand_axis_is_index(p, o, i, &index[i])) return false;
    for (uint32_t k = 0; k < i; k++)
      if (index[k] == index[i]) return false;
  }
  return true;
}

bool operands_same_access(const Plan *p, const Operand *a, const Operand *b) {
  uint32_t one[PLAN_AXES], other[PLAN_AXES], rank = p->wire.at[a->wire].rank;
  if (rank != p->wire.at[b->wire].rank || !operand_is_permutation(p, a, one) ||
      !operand_is_permutation(p, b, other))
    return false;
  return memcmp(one, other, rank * sizeof *one) == 0;
}

bool nodes_movable(const Plan *p, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i <= to; i++) {
    const PlanNode *x = &p->node.at[i];
    if (x->pinned || x->kind == NODE_SCAN || x->kind == NODE_SCAN_END) return false;
  }
  return true;
}
