// Short rows, turned. In a small step a wire [n 3] would make loops of three numbers, which no wide
// instruction fills. In comes a plan of nodes; inner wires of two axes whose last is short and
// whose first is long get their memory turned, column after column, so that loops over samples run
// along it. Only strides change: whatever computes addresses from them follows.
//
// What is seen from outside (inputs, outputs, states), lies inside another wire, or is touched by
// anything but nests keeps its rows.
#include "run/plan/plan.h"

enum { SHORT = 8, LONG = 16 }; // half of the lanes of floats; all of them

static void keep(bool *fixed, const Ids *wires) {
  for (uint32_t i = 0; i < wires->n; i++)
    if (wires->at[i] != PLAN_NONE) fixed[wires->at[i]] = true;
}

static void keep_touched(bool *fixed, const PlanNode *x) {
  for (uint32_t k = 0; k < node_wires(x); k++)
    if (node_wire(x, k) != PLAN_NONE) fixed[node_wire(x, k)] = true;
}

static bool *find_fixed(const Plan *p) {
  bool *fixed = NEW_ARRAY(p->arena, bool, p->wire.n + 1);
  keep(fixed, &p->in);
  keep(fixed, &p->out);
  keep(fixed, &p->param);
  keep(fixed, &p->next);
  for (uint32_t i = 0; i < p->wire.n; i++)
    if (p->wire.at[i].of != PLAN_NONE) fixed[i] = fixed[p->wire.at[i].of] = true;
  for (uint32_t i = 0; i < p->node.n; i++)
    if (p->node.at[i].kind != NODE_NEST || p->node.at[i].noise || p->node.at[i].depth)
      keep_touched(fixed, &p->node.at[i]);
  return fixed;
}

void plan_turn(Plan *p) {
  const bool *fixed = find_fixed(p);
  for (uint32_t i = 0; i < p->wire.n; i++) {
    PlanWire *w = &p->wire.at[i];
    if (fixed[i] || w->rank != 2) continue;
    int64_t rows = extent_most(p, w->shape[0]), columns = extent_most(p, w->shape[1]);
    if (columns < 2 || columns >= SHORT || rows < LONG) continue;
    w->stride[0] = 1;
    w->stride[1] = rows;
  }
}
