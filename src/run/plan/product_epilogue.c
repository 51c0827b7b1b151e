// Epilogues of small matrix products. An element-wise kernel that follows a product, such as a bias
// and a ReLU, becomes part of the product's kernel, while the cells are in registers: on a GPU a
// small product takes hardly longer than another launch. Such a kernel is KERNEL_PRODUCT with one
// nest, whose loops are the axes of the result.
#include "run/plan/plan.h"

// Most operations of a product with an epilogue.
static const int64_t SMALL_WORK = 100 * 1000 * 1000;
// The longest sum of a product with an epilogue. Longer sums are split over several thread blocks.
enum { MOST_DEPTH = 1024 };

// The loop of the kernel for each axis of a product's result, as this operand reads it. All loops
// must be there, none twice.
static bool axes_of(const Plan *p, const Kernel *k, const PlanNode *x, const Operand *o,
                    uint32_t *loop) {
  uint32_t index[PLAN_AXES], rank = p->wire.at[o->wire].rank;
  if (rank != k->np + k->nest.at[0].ndim || x->nindex != rank ||
      !operand_is_permutation(p, o, index))
    return false;
  for (uint32_t axis = 0; axis < rank; axis++) loop[axis] = x->var[index[axis]];
  return true;
}

// Does the kernel read of the product's result only the cell at the current point?
static bool reads_own_cell(const Plan *p, const Kernel *k, uint32_t wire) {
  uint32_t first[PLAN_AXES], loop[PLAN_AXES], found = 0, rank = p->wire.at[wire].rank;
  for (uint32_t j = 0; j < k->node.n; j++) {
    const PlanNode *x = &p->node.at[k->node.at[j]];
    for (uint32_t i = 0; i < x->nin; i++) {
      if (wire_root(p, x->in[i].wire) != wire) continue;
      if (x->in[i].wire != wire || !operand_is_affine(p, &x->in[i]) ||
          !axes_of(p, k, x, &x->in[i], loop))
        return false;
      if (found++ && memcmp(first, loop, rank * sizeof *loop)) return false;
      memcpy(first, loop, rank * sizeof *loop);
    }
  }
  return found > 0;
}

// Is the wire a state's next value, or a part of one?
static bool is_next(const Plan *p, uint32_t wire) {
  for (uint32_t i = 0; i < p->next.n; i++)
    if (p->next.at[i] != PLAN_NONE && wire_root(p, p->next.at[i]) == wire_root(p, wire))
      return true;
  for (uint32_t i = 0; i < p->part.n; i++)
    if (p->part.at[i].wire == wire) return true;
  return false;
}

// An element-wise kernel of one nest. Optimisers are excluded: their own lanes read and write
// contiguous memory, which is faster than here, and the product could no longer be split along its
// sum.
static bool is_pointwise(const Plan *p, const Kernel *k) {
  if (k->kind != KERNEL_LOOPS || k->nest.n != 1 || k->depth || k->block || k->tile_bytes)
    return false;
  for (uint32_t j = 0; j < k->node.n; j++) {
    const PlanNode *x = &p->node.at[k->node.at[j]];
    if (!node_is_elementwise(x) || is_next(p, x->out.wire)) return false;
  }
  return true;
}

static int64_t depth_of(const Plan *p, const PlanNode *x) {
  int64_t depth = 1;
  for (uint32_t i = 0; i < x->nindex; i++)
    if (x->reduced[i]) depth *= extent_most(p, x->index[i]);
  return depth;
}

bool epilogue_allowed(const Plan *p, const PlanNode *x) {
  uint32_t index[PLAN_AXES];
  if (!p->epilogues || x->kind != NODE_PRODUCT || !node_may_move(x)) return false;
  if (node_work(p, x) > SMALL_WORK || depth_of(p, x) > MOST_DEPTH) return false;
  for (uint32_t v = 0; v < node_wires(x); v++)
    if (p->wire.at[node_wire(x, v)].count > INT32_MAX) return false;
  return operand_is_permutation(p, &x->out, index);
}

static bool may_have_epilogue(const Plan *p, const Kernel *k) {
  const PlanNode *x = k->kind == KERNEL_PRODUCT ? &p->node.at[k->node.at[0]] : NULL;
  return x && epilogue_allowed(p, x) && p->wire.at[x->out.wire].alias_of == PLAN_NONE;
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

// May the kernel `by` be moved directly after the product?
static bool may_follow(const Plan *p, const Footprint *footprint, uint32_t product, uint32_t by) {
  for (uint32_t i = product + 1; i < by; i++)
    if (!kernels_commute(p, footprint, i, by)) return false;
  return true;
}

// Joins the product with the kernel directly after it.
static void fuse_epilogue(Plan *p, Footprint *footprint, uint32_t product) {
  Kernel *k = &p->kernel.at[product];
  Kernel last = p->kernel.at[product + 1];
  k->np = last.np;
  k->p = last.p;
  k->nest = last.nest;
  for (uint32_t j = 0; j < last.node.n; j++) vec_push(p->arena, &k->node, last.node.at[j]);
  for (uint32_t j = 0; j < footprint[product + 1].n; j++)
    vec_push(p->arena, &footprint[product], footprint[product + 1].at[j]);
  p->node.at[k->node.at[0]].nest = 0;
  kernel_drop(p, footprint, product + 1);
  for (uint32_t j = 0; j < last.node.n; j++) p->node.at[last.node.at[j]].kernel = product;
}

void plan_product_epilogues(Plan *p) {
  Footprint *footprint = plan_footprints(p);
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    if (!may_have_epilogue(p, &p->kernel.at[i])) continue;
    uint32_t by = first_reader(p, i);
    if (by == PLAN_NONE || !is_pointwise(p, &p->kernel.at[by]) ||
        !reads_own_cell(p, &p->kernel.at[by], p->node.at[p->kernel.at[i].node.at[0]].out.wire))
      continue;
    if (!may_follow(p, footprint, i, by)) continue;
    kernel_move(p, footprint, by, i + 1);
    fuse_epilogue(p, footprint, i);
  }
}

uint32_t epilogue_loop(const Plan *p, const Kernel *k, uint32_t axis) {
  uint32_t wire = p->node.at[k->node.at[0]].out.wire, loop[PLAN_AXES];
  for (uint32_t j = 1; j < k->node.n; j++) {
    const PlanNode *x = &p->node.at[k->node.at[j]];
    for (uint32_t i = 0; i < x->nin; i++)
      if (x->in[i].wire == wire && axes_of(p, k, x, &x->in[i], loop)) return loop[axis];
  }
  return PLAN_NONE;
}
