// Kernels that need not wait for their turn. The parts of an optimiser stand behind the whole way back (apart.c), but each of
// them may be made as soon as nothing before it writes what it reads, or touches what it writes. Its kernel is moved there,
// yet not in front of the losses: states are written over when losses are known to be finite.
#include "run/plan/plan.h"

static bool is_early(const Plan *p, const Kernel *k) {
  for (uint32_t j = 0; j < k->node.n; j++)
    if (!p->node.at[k->node.at[j]].early) return false;
  return k->node.n > 0;
}

void plan_early(Plan *p) {
  if (!p->part.n) return;
  PlanTouched *touched = plan_touched(p);
  uint32_t least = plan_behind_losses(p);
  for (uint32_t k = least; k < p->kernel.n; k++) {
    uint32_t to = k;
    if (!is_early(p, &p->kernel.at[k])) continue;
    while (to > least && kernels_exchange(p, touched, to - 1, k)) to--;
    kernel_move(p, touched, k, to);
  }
}
