// What is made of a product's cells one by one, such as a bias added and what is negative cut off, is made by the product's own
// kernel, where the cells still are in registers: on a GPU a small product takes hardly longer than the launch of the kernel
// that would follow it. Such a kernel is a product with one nest, whose loops are the axes of the result.
#include "run/plan/plan.h"

static const int64_t FINISH_WORK = 100 * 1000 * 1000; // operations of a product that is small
enum {
  FINISH_DEPTH = 1024
}; // the longest sum that one block makes as fast as several would in parts

// Which loop of a kernel is which axis of a product's result, as this operand reads it: all loops, and nothing twice.
static bool axes_of(const Plan *p, const Kernel *k, const PlanNode *x, const Operand *o,
                    uint32_t *loop) {
  uint32_t index[PLAN_AXES], rank = p->wire.at[o->wire].rank;
  if (rank != k->np + k->nest.at[0].ndim || x->nindex != rank || !operand_whole(p, o, index))
    return false;
  for (uint32_t axis = 0; axis < rank; axis++) loop[axis] = x->var[index[axis]];
  return true;
}

// Is every use of the product's result, in this kernel, the cell at hand?
static bool reads_at_hand(const Plan *p, const Kernel *k, uint32_t wire) {
  uint32_t first[PLAN_AXES], loop[PLAN_AXES], found = 0, rank = p->wire.at[wire].rank;
  for (uint32_t j = 0; j < k->node.n; j++) {
    const PlanNode *x = &p->node.at[k->node.at[j]];
    for (uint32_t i = 0; i < x->nin; i++) {
      if (wire_root(p, x->in[i].wire) != wire) continue;
      if (x->in[i].wire != wire || !operand_free(p, &x->in[i]) ||
          !axes_of(p, k, x, &x->in[i], loop))
        return false;
      if (found++ && memcmp(first, loop, rank * sizeof *loop)) return false;
      memcpy(first, loop, rank * sizeof *loop);
    }
  }
  return found > 0;
}

// Is it a state's next value, or a part of one?
static bool is_next(const Plan *p, uint32_t wire) {
  for (uint32_t i = 0; i < p->next.n; i++)
    if (p->next.at[i] != PLAN_NONE && wire_root(p, p->next.at[i]) == wire_root(p, wire))
      return true;
  for (uint32_t i = 0; i < p->part.n; i++)
    if (p->part.at[i].wire == wire) return true;
  return false;
}

// One nest of points that nothing sums up, and that may be made earlier. (What an optimiser makes takes longer here than by
// lanes of its own, which read and write along memory, and would keep the product from being made in parts.)
static bool is_pointwise(const Plan *p, const Kernel *k) {
  if (k->kind != KERNEL_LOOPS || k->nest.n != 1 || k->depth || k->block || k->tile_bytes)
    return false;
  for (uint32_t j = 0; j < k->node.n; j++) {
    const PlanNode *x = &p->node.at[k->node.at[j]];
    if (!node_plain(x) || is_next(p, x->out.wire)) return false;
  }
  return true;
}

static int64_t depth_of(const Plan *p, const PlanNode *x) {
  int64_t depth = 1;
  for (uint32_t i = 0; i < x->nindex; i++)
    if (x->reduced[i]) depth *= extent_most(p, x->index[i]);
  return depth;
}

bool finish_suits(const Plan *p, const PlanNode *x) {
  uint32_t index[PLAN_AXES];
  if (!p->finish || x->kind != NODE_PRODUCT || x->depth || x->pinned || x->pairs ||
      node_work(p, x) > FINISH_WORK || depth_of(p, x) > FINISH_DEPTH)
    return false;
  for (uint32_t v = 0; v < node_wires(x); v++)
    if (p->wire.at[node_wire(x, v)].count > INT32_MAX) return false;
  return operand_whole(p, &x->out, index);
}

static bool may_be_finished(const Plan *p, const Kernel *k) {
  const PlanNode *x = k->kind == KERNEL_PRODUCT ? &p->node.at[k->node.at[0]] : NULL;
  return x && finish_suits(p, x) && p->wire.at[x->out.wire].of == PLAN_NONE;
}

// The first kernel that reads the product's result.
static uint32_t first_reader(const Plan *p, uint32_t product) {
  uint32_t wire = p->node.at[p->kernel.at[product].node.at[0]].out.wire;
  for (uint32_t i = product + 1; i < p->kernel.n; i++)
    for (uint32_t j = 0; j < p->kernel.at[i].node.n; j++) {
      const PlanNode *x = &p->node.at[p->kernel.at[i].node.at[j]];
      for (uint32_t v = 0; v < x->nin; v++)
        if (wire_root(p, x->in[v].wire) == wire) return i;
    }
  return PLAN_NONE;
}

// May the later kernel come directly behind the product?
static bool may_follow(const Plan *p, const PlanTouched *touched, uint32_t product, uint32_t by) {
  for (uint32_t i = product + 1; i < by; i++)
    if (!kernels_exchange(p, touched, i, by)) return false;
  return true;
}

// By the kernel directly behind it.
static void finish(Plan *p, PlanTouched *touched, uint32_t product) {
  Kernel *k = &p->kernel.at[product];
  Kernel last = p->kernel.at[product + 1];
  k->np = last.np;
  k->p = last.p;
  k->nest = last.nest;
  for (uint32_t j = 0; j < last.node.n; j++) vec_push(p->arena, &k->node, last.node.at[j]);
  for (uint32_t j = 0; j < touched[product + 1].n; j++)
    vec_push(p->arena, &touched[product], touched[product + 1].at[j]);
  p->node.at[k->node.at[0]].nest = 0;
  kernel_drop(p, touched, product + 1);
  for (uint32_t j = 0; j < last.node.n; j++) p->node.at[last.node.at[j]].kernel = product;
}

void plan_finish(Plan *p) {
  PlanTouched *touched = plan_touched(p);
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    if (!may_be_finished(p, &p->kernel.at[i])) continue;
    uint32_t by = first_reader(p, i);
    if (by == PLAN_NONE || !is_pointwise(p, &p->kernel.at[by]) ||
        !reads_at_hand(p, &p->kernel.at[by], p->node.at[p->kernel.at[i].node.at[0]].out.wire))
      continue;
    if (!may_follow(p, touched, i, by)) continue;
    kernel_move(p, touched, by, i + 1);
    finish(p, touched, i);
  }
}

uint32_t finish_loop(const Plan *p, const Kernel *k, uint32_t axis) {
  uint32_t wire = p->node.at[k->node.at[0]].out.wire, loop[PLAN_AXES];
  for (uint32_t j = 1; j < k->node.n; j++) {
    const PlanNode *x = &p->node.at[k->node.at[j]];
    for (uint32_t i = 0; i < x->nin; i++)
      if (x->in[i].wire == wire && axes_of(p, k, x, &x->in[i], loop)) return loop[axis];
  }
  return PLAN_NONE;
}
