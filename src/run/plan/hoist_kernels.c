// Hoisting of kernels. The parts of an optimiser (optimiser_partition.c) come after the whole
// backward pass. A part may be hoisted over kernels that do not write what it reads and do not
// access what it writes. The gradient's memory is then free earlier, but the backward pass, which
// is the critical path, shares the device with the optimiser. So kernels are hoisted only if the
// peak of memory becomes notably smaller, and never before the losses: states are overwritten when
// losses are known to be finite.
#include "run/plan/plan.h"

static bool may_hoist(const Plan *p, const Kernel *k) {
  for (uint32_t j = 0; j < k->node.n; j++)
    if (!p->node.at[k->node.at[j]].hoist) return false;
  return k->node.n > 0;
}

static void hoist_all(Plan *p) {
  Footprint *footprint = plan_footprints(p);
  uint32_t least = plan_after_losses(p);
  for (uint32_t k = least; k < p->kernel.n; k++) {
    uint32_t to = k;
    if (!may_hoist(p, &p->kernel.at[k])) continue;
    while (to > least && kernels_commute(p, footprint, to - 1, k)) to--;
    kernel_move(p, footprint, k, to);
  }
}

static void restore_order(Plan *p, const Kernel *kernel) {
  memcpy(p->kernel.at, kernel, p->kernel.n * sizeof *kernel);
  for (uint32_t k = 0; k < p->kernel.n; k++)
    for (uint32_t j = 0; j < kernel[k].node.n; j++) p->node.at[kernel[k].node.at[j]].kernel = k;
}

void plan_hoist_kernels(Plan *p) {
  if (!p->part.n) return;
  const Kernel *original = arena_copy(p->arena, p->kernel.at, p->kernel.n * sizeof *original);
  int64_t most = plan_peak_bytes(p), saves = p->target->hoist_saves;
  hoist_all(p);
  if (saves && plan_peak_bytes(p) > most - most / saves) restore_order(p, original);
}
