// Which scans need no memory. The body of a small scan is often numbers only: a step of Runge and
// Kutta, a tick of some gates. Then what it makes and what it carries from one time to the next is
// held in variables of the loop around it, which a compiler keeps in registers; memory is read in
// front and written behind. In: a scan of a plan. Out: the wires that are held.
//
// A wire that is held stands for itself alone, is one number, and nothing in the scan sees its
// memory in another way; so it makes no difference when its memory is written.
#include "run/engine/kernel/loop_levels.h"

enum { NODES_LIMIT = 512 }; // they become one function

static bool is_numbers(const Plan *p, const Kernel *k) {
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
    if (!is_numbers(p, &p->kernel.at[i]) || nodes > NODES_LIMIT) return PLAN_NONE;
  }
  return i;
}

static void see(const Plan *p, uint32_t wire, uint8_t how, uint8_t *held) {
  if (wire == PLAN_NONE || !wire_has_memory(&p->wire.at[wire])) return;
  const PlanWire *w = &p->wire.at[wire];
  bool place = w->place == AT_ARENA || w->place == AT_TILE || w->place == AT_STATE;
  bool alone = w->of == PLAN_NONE && !w->rank && place;
  held[wire_root(p, wire)] |= alone ? how : HELD_NOT;
}

uint8_t *scan_holds(const Plan *p, uint32_t scan, uint32_t *end) {
  *end = scan_end(p, scan);
  if (*end == PLAN_NONE) return NULL;
  uint8_t *held = NEW_ARRAY(p->arena, uint8_t, p->wire.n + 1);
  for (uint32_t i = scan + 1; i < *end; i++)
    for (uint32_t j = 0; j < p->kernel.at[i].node.n; j++) {
      const PlanNode *x = &p->node.at[p->kernel.at[i].node.at[j]];
      see(p, x->out.wire, HELD_WRITTEN, held);
      for (uint32_t k = 0; k < x->nin; k++) see(p, x->in[k].wire, HELD_READ, held);
      for (uint32_t k = 0; k < x->nwinner; k++) see(p, x->winner[k], HELD_NOT, held);
    }
  for (uint32_t i = 0; i < p->wire.n; i++)
    if (held[i] & HELD_NOT) held[i] = 0;
  return held;
}
