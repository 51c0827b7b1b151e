// Kernels that need not wait for their turn. The parts of an optimiser stand behind the whole way back (apart.c), but each of
// them may be made as soon as nothing before it writes what it reads, or touches what it writes. If its kernel is moved there,
// the gradient's memory is free for others; yet the way back, for which all else waits, then shares the device with it. So this
// is done where it makes the arena notably smaller, and never in front of the losses: states are written over when losses are
// known to be finite.
#include "run/plan/plan.h"

static bool is_early(const Plan *p, const Kernel *k) {
  for (uint32_t j = 0; j < k->node.n; j++)
    if (!p->node.at[k->node.at[j]].early) return false;
  return k->node.n > 0;
}

static void move_early(Plan *p) {
  PlanTouched *touched = plan_touched(p);
  uint32_t least = plan_behind_losses(p);
  for (uint32_t k = least; k < p->kernel.n; k++) {
    uint32_t to = k;
    if (!is_early(p, &p->kernel.at[k])) continue;
    while (to > least && kernels_exchange(p, touched, to - 1, k)) to--;
    kernel_move(p, touched, k, to);
  }
}

static void set_kernels(Plan *p, const Kernel *kernel) {
  memcpy(p->kernel.at, kernel, p->kernel.n * sizeof *kernel);
  for (uint32_t k = 0; k < p->kernel.n; k++)
    for (uint32_t j = 0; j < kernel[k].node.n; j++) p->node.at[kernel[k].node.at[j]].kernel = k;
}

void plan_early(Plan *p) {
  if (!p->part.n) return;
  const Kernel *in_turn = arena_copy(p->arena, p->kernel.at, p->kernel.n * sizeof *in_turn);
  int64_t most = plan_most_at_once(p), saves = p->target->early_saves;
  move_early(p);
  if (saves && plan_most_at_once(p) > most - most / saves) set_kernels(p, in_turn);
}
