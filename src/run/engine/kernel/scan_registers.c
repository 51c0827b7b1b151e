// Scalar promotion for scans. Takes a scan of a plan; gives the wires that can be held in registers.
// The body of a small scan often computes scalars only (a Runge–Kutta step, a tick of some gates). Its
// results and carried values then become local variables of the loop; memory is read before the loop
// and written after it.
//
// A promoted wire is a scalar, is no view of another wire, and has no alias in the scan, so the time at
// which its memory is written makes no difference.
#include "run/engine/kernel/loop_levels.h"

enum { NODES_LIMIT = 512 }; // of a scan: its body becomes one function

static bool is_scalar_kernel(const Plan *p, const Kernel *k) {
  if (k->kind != KERNEL_LOOPS || k->np || k->ranged || k->block) return false;
  for (uint32_t i = 0; i < k->nest.n; i++)
    if (k->nest.at[i].ndim || p->node.at[k->nest.at[i].node.at[0]].kind == NODE_PRODUCT)
      return false;
  return true;
}

static uint32_t scan_end(const Plan *p, uint32_t scan) {
  uint32_t nodes = 0, i = scan + 1;
  for (; p->kernel.at[i].kind != KERNEL_SCAN_END; i++) {
    nodes += p->kernel.at[i].node.n;
    if (!is_scalar_kernel(p, &p->kernel.at[i]) || nodes > NODES_LIMIT) return PLAN_NONE;
  }
  return i;
}

static void mark_use(const Plan *p, uint32_t wire, uint8_t how, uint8_t *held) {
  if (wire == PLAN_NONE || !wire_has_memory(&p->wire.at[wire])) return;
  const PlanWire *w = &p->wire.at[wire];
  bool place = w->place == AT_ARENA || w->place == AT_TILE || w->place == AT_STATE;
  bool alone = w->alias_of == PLAN_NONE && !w->rank && place;
  held[wire_root(p, wire)] |= alone ? how : HELD_NOT;
}

uint8_t *scan_registers(const Plan *p, uint32_t scan, uint32_t *end) {
  *end = scan_end(p, scan);
  if (*end == PLAN_NONE) return NULL;
  uint8_t *held = NEW_ARRAY(p->arena, uint8_t, p->wire.n + 1);
  for (uint32_t i = scan + 1; i < *end; i++)
    for (uint32_t j = 0; j < p->kernel.at[i].node.n; j++) {
      const PlanNode *x = &p->node.at[p->kernel.at[i].node.at[j]];
      mark_use(p, x->out.wire, HELD_WRITTEN, held);
      for (uint32_t k = 0; k < x->nin; k++) mark_use(p, x->in[k].wire, HELD_READ, held);
      for (uint32_t k = 0; k < x->nwinner; k++) mark_use(p, x->winner[k], HELD_NOT, held);
    }
  for (uint32_t i = 0; i < p->wire.n; i++)
    if (held[i] & HELD_NOT) held[i] = 0;
  return held;
}
