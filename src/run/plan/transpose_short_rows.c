// Transposed layout of short rows. In a small step a wire [n 3] would make loops of three
// iterations, which cannot be vectorised. Inner matrices with a short last axis and a long first
// axis are stored column by column, so that loops over samples are contiguous. Only strides change.
//
// Not changed are wires that are visible from outside, aliases, and wires that other nodes than
// nests access.
#include "run/plan/plan.h"

enum { SHORT = 8, LONG = 16 }; // columns: half of a vector of floats; rows: a whole one

static void mark_fixed(bool *fixed, const Ids *wires) {
  for (uint32_t i = 0; i < wires->n; i++)
    if (wires->at[i] != PLAN_NONE) fixed[wires->at[i]] = true;
}

static void mark_wires_of(bool *fixed, const PlanNode *x) {
  for (uint32_t k = 0; k < node_wires(x); k++)
    if (node_wire(x, k) != PLAN_NONE) fixed[node_wire(x, k)] = true;
}

static bool *find_fixed(const Plan *p) {
  bool *fixed = NEW_ARRAY(p->arena, bool, p->wire.n + 1);
  mark_fixed(fixed, &p->in);
  mark_fixed(fixed, &p->out);
  mark_fixed(fixed, &p->param);
  mark_fixed(fixed, &p->next);
  for (uint32_t i = 0; i < p->wire.n; i++)
    if (p->wire.at[i].alias_of != PLAN_NONE) fixed[i] = fixed[p->wire.at[i].alias_of] = true;
  for (uint32_t i = 0; i < p->node.n; i++)
    if (p->node.at[i].kind != NODE_NEST || p->node.at[i].noise || p->node.at[i].depth)
      mark_wires_of(fixed, &p->node.at[i]);
  return fixed;
}

void plan_transpose_short_rows(Plan *p) {
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
