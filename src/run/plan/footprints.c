// Memory footprints: the ranges of cells that each kernel reads and writes. Passes that reorder
// kernels compare them. A wire that will be written over a state (memory.c) counts as that state.
#include "run/plan/plan.h"

typedef struct {
  const Plan *p;
  uint32_t *state; // [wire] the param that it will overwrite; PLAN_NONE: none
  int64_t *offset; // [wire] first cell of the param that it overwrites
} States;

static States find_states(const Plan *p) {
  States s = {.p = p,
              .state = plan_nones(p, p->wire.n),
              .offset = NEW_ARRAY(p->arena, int64_t, p->wire.n + 1)};
  for (uint32_t i = 0; i < p->next.n; i++)
    if (p->next.at[i] != PLAN_NONE) s.state[wire_root(p, p->next.at[i])] = p->param.at[i];
  for (uint32_t i = 0; i < p->part.n; i++) {
    s.state[p->part.at[i].wire] = p->param.at[p->part.at[i].param];
    s.offset[p->part.at[i].wire] = p->part.at[i].offset;
  }
  return s;
}

void wire_cells(const Plan *p, uint32_t wire, int64_t *from, int64_t *to) {
  const PlanWire *w = &p->wire.at[wire];
  uint32_t root = wire_root(p, wire);
  *from = 0;
  *to = p->wire.at[root].count;
  for (uint32_t v = wire; v != PLAN_NONE; v = p->wire.at[v].alias_of)
    if (p->wire.at[v].scan_moves) return;
  *from = wire_offset(p, wire, NULL, &root);
  *to = *from + 1;
  for (uint32_t i = 0; i < w->rank; i++) *to += (extent_most(p, w->shape[i]) - 1) * w->stride[i];
}

static void add_access(const States *s, Footprint *footprint, uint32_t wire, bool written) {
  const Plan *p = s->p;
  FootprintRange cells = {.root = wire_root(p, wire), .written = written};
  wire_cells(p, wire, &cells.from, &cells.to);
  if (s->state[cells.root] != PLAN_NONE) {
    cells.from += s->offset[cells.root];
    cells.to += s->offset[cells.root];
    cells.root = s->state[cells.root];
  }
  vec_push(p->arena, footprint, cells);
}

Footprint *plan_footprints(const Plan *p) {
  States s = find_states(p);
  Footprint *footprint = NEW_ARRAY(p->arena, Footprint, p->kernel.n + 1);
  for (uint32_t k = 0; k < p->kernel.n; k++)
    for (uint32_t j = 0; j < p->kernel.at[k].node.n; j++) {
      const PlanNode *x = &p->node.at[p->kernel.at[k].node.at[j]];
      if (x->kind == NODE_SCAN || x->kind == NODE_SCAN_END) continue;
      for (uint32_t v = 0; v < node_wires(x); v++)
        if (node_wire(x, v) != PLAN_NONE)
          add_access(&s, &footprint[k], node_wire(x, v), v == 0 || v > x->nin);
    }
  return footprint;
}

static bool conflict(const Footprint *a, const Footprint *b) {
  for (uint32_t i = 0; i < a->n; i++)
    for (uint32_t j = 0; j < b->n; j++) {
      const FootprintRange *x = &a->at[i], *y = &b->at[j];
      if (x->root == y->root && (x->written || y->written) && x->from < y->to && y->from < x->to)
        return true;
    }
  return false;
}

bool kernel_in_scan(const Kernel *k) {
  return k->depth || k->kind == KERNEL_SCAN || k->kind == KERNEL_SCAN_END;
}

bool kernels_commute(const Plan *p, const Footprint *footprint, uint32_t a, uint32_t b) {
  return !kernel_in_scan(&p->kernel.at[a]) && !kernel_in_scan(&p->kernel.at[b]) &&
         !conflict(&footprint[a], &footprint[b]);
}

static void move_footprint(Footprint *footprint, uint32_t from, uint32_t to) {
  Footprint its = footprint[from];
  if (from < to)
    memmove(&footprint[from], &footprint[from + 1], (to - from) * sizeof its);
  else
    memmove(&footprint[to + 1], &footprint[to], (from - to) * sizeof its);
  footprint[to] = its;
}

void kernel_move(Plan *p, Footprint *footprint, uint32_t from, uint32_t to) {
  Kernel kernel = p->kernel.at[from];
  if (from < to)
    memmove(&p->kernel.at[from], &p->kernel.at[from + 1], (to - from) * sizeof kernel);
  else
    memmove(&p->kernel.at[to + 1], &p->kernel.at[to], (from - to) * sizeof kernel);
  p->kernel.at[to] = kernel;
  if (footprint) move_footprint(footprint, from, to);
  for (uint32_t i = from < to ? from : to; i <= (from < to ? to : from); i++)
    for (uint32_t j = 0; j < p->kernel.at[i].node.n; j++)
      p->node.at[p->kernel.at[i].node.at[j]].kernel = i;
}

void kernel_drop(Plan *p, Footprint *footprint, uint32_t kernel) {
  kernel_move(p, footprint, kernel, p->kernel.n - 1);
  p->kernel.n--;
}

uint32_t plan_after_losses(const Plan *p) {
  uint32_t behind = 0;
  for (uint32_t i = 0; i < p->out.n; i++) {
    uint32_t root = wire_root(p, p->out.at[i]);
    for (uint32_t k = 0; !p->wire.at[root].rank && k < p->node.n; k++) {
      const PlanNode *x = &p->node.at[k];
      if (x->kind != NODE_GONE && x->kernel != PLAN_NONE && x->kernel >= behind &&
          wire_root(p, x->out.wire) == root)
        behind = x->kernel + 1;
    }
  }
  return behind;
}
