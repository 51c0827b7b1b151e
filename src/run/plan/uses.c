// Who makes and who reads each wire, before there are kernels: what passes over nodes ask for.
#include "run/plan/plan.h"

PlanUses plan_uses(const Plan *p) {
  PlanUses u = {.maker = plan_nones(p, p->wire.n),
                .seen = NEW_ARRAY(p->arena, bool, p->wire.n + 1),
                .reader = NEW_ARRAY(p->arena, Ids, p->wire.n + 1)};
  const Ids *outside[] = {&p->in, &p->out, &p->param, &p->next};
  for (uint32_t k = 0; k < COUNT(outside); k++)
    for (uint32_t i = 0; i < outside[k]->n; i++)
      if (outside[k]->at[i] != PLAN_NONE) u.seen[outside[k]->at[i]] = true;
  for (uint32_t i = 0; i < p->wire.n; i++)
    if (p->wire.at[i].of != PLAN_NONE) u.seen[i] = u.seen[p->wire.at[i].of] = true;
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

bool node_plain(const PlanNode *x) {
  return x->kind == NODE_NEST && !node_sums(x) && !x->scatter && !x->noise && !x->nwinner &&
         !x->depth && !x->pinned && !x->pairs;
}

bool node_reads_position(const PlanNode *x) {
  for (uint32_t i = 0; i < x->nscalar; i++)
    if (x->scalar[i].fn == FN_AT) return true;
  return false;
}

bool node_adds_two(const PlanNode *x) {
  const Scalar *s = x->scalar;
  return node_plain(x) && x->nin == 2 && x->nscalar == 3 && s[0].fn == FN_ARG &&
         s[1].fn == FN_ARG && s[0].ref != s[1].ref && s[2].fn == FN_add &&
         s[2].arg[0] != s[2].arg[1];
}

bool node_copies(const PlanNode *x) {
  return x->kind == NODE_NEST && x->nin == 1 && x->nscalar == 1 && x->scalar[0].fn == FN_ARG;
}

uint32_t plan_wire_again(Plan *p, uint32_t of) {
  PlanWire w = p->wire.at[of];
  Extent *shape = NEW_ARRAY(p->arena, Extent, w.rank + 1);
  int64_t *stride = NEW_ARRAY(p->arena, int64_t, w.rank + 1);
  for (uint32_t i = 0; i < w.rank; i++) shape[i] = w.shape[i], stride[i] = w.stride[i];
  w.shape = shape;
  w.stride = stride;
  vec_push(p->arena, &p->wire, w);
  return p->wire.n - 1;
}

bool wire_lies_plain(const Plan *p, uint32_t wire) {
  const PlanWire *w = &p->wire.at[wire];
  int64_t step = 1;
  for (uint32_t i = w->rank; i-- > 0; step *= extent_most(p, w->shape[i]))
    if (w->stride[i] != step) return false;
  return true;
}

void plan_lay_plain(Plan *p, uint32_t wire) {
  PlanWire *w = &p->wire.at[wire];
  w->stride = NEW_ARRAY(p->arena, int64_t, w->rank + 1); // the old ones may be another wire's, too
  w->count = 1;
  for (uint32_t i = w->rank; i-- > 0;) {
    w->stride[i] = w->count;
    w->count *= extent_most(p, w->shape[i]);
  }
}

uint32_t plan_wire_like(Plan *p, uint32_t of) {
  uint32_t wire = plan_wire_again(p, of);
  PlanWire *w = &p->wire.at[wire];
  w->of = PLAN_NONE;
  w->offset = 0;
  w->moves = w->kept = false;
  w->place = AT_NOWHERE;
  plan_lay_plain(p, wire);
  return wire;
}

uint32_t plan_wire_narrow(Plan *p, uint32_t of) {
  uint32_t wire = plan_wire_like(p, of);
  p->wire.at[wire].number = NUMBER_BF16;
  return wire;
}

bool uses_memory(const Plan *p, const PlanUses *u, uint32_t wire) {
  uint32_t maker = u->maker[wire];
  if (maker == PLAN_NONE) return true;
  return maker != PLAN_SEVERAL &&
         (p->node.at[maker].kind == NODE_PRODUCT || p->node.at[maker].pairs);
}

bool operand_whole(const Plan *p, const Operand *o, uint32_t *index) {
  uint32_t rank = p->wire.at[o->wire].rank;
  if (rank > PLAN_AXES || o->padded) return false;
  for (uint32_t i = 0; i < rank; i++) {
    if (!operand_plain(p, o, i, &index[i])) return false;
    for (uint32_t k = 0; k < i; k++)
      if (index[k] == index[i]) return false;
  }
  return true;
}

bool operands_alike(const Plan *p, const Operand *a, const Operand *b) {
  uint32_t one[PLAN_AXES], other[PLAN_AXES], rank = p->wire.at[a->wire].rank;
  if (rank != p->wire.at[b->wire].rank || !operand_whole(p, a, one) || !operand_whole(p, b, other))
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
