// Borders of zeros. A convolution reads pictures with a border, so what makes a picture would be followed by a kernel that
// copies it into a larger one. Instead the larger one is filled with zeros first, and the picture is written into it: it is read
// and written once less, and is in memory once.
#include "run/plan/plan.h"

// It copies its operand into something larger, whose other cells are zeros. *offset: the operand's first cell there.
static bool is_border(const Plan *p, const PlanNode *x, int64_t *offset) {
  const Operand *in = &x->in[0];
  const PlanWire *to = &p->wire.at[x->out.wire], *from = &p->wire.at[in->wire];
  uint32_t index[PLAN_AXES];
  if (!in->padded || in->pad != 0 || from->rank != to->rank || from->number != to->number ||
      !operand_whole(p, &x->out, index))
    return false;
  *offset = 0;
  for (uint32_t i = 0; i < to->rank; i++) {
    const PlanCoord *c = &in->coord[i];
    Extent small = from->shape[i], large = to->shape[i];
    if (c->n != 1 || c->term[0].operand || c->term[0].coef != 1 || c->term[0].var != index[i] ||
        c->c > 0 || small.per != large.per || small.part || large.part ||
        small.c - c->c > large.c || (small.per && (c->c || small.c != large.c)))
      return false;
    *offset -= c->c * to->stride[i];
  }
  return true;
}

// A wire that stands for itself, and is made by one node.
static bool is_free(const Plan *p, const PlanUses *u, uint32_t wire) {
  const PlanWire *w = &p->wire.at[wire];
  return w->place == AT_NOWHERE && w->of == PLAN_NONE && !w->kept && !u->seen[wire] &&
         u->maker[wire] < p->node.n;
}

static bool lies_straight(const Plan *p, const PlanNode *x, const Operand *o, uint32_t group) {
  const Product *q = x->product;
  const uint32_t *index[] = {q->m, q->n, q->k, q->batch}, n[] = {q->nm, q->nn, q->nk, q->nbatch};
  return product_straight(p, x, o, index[group], n[group]);
}

// A product that finds the cells of a picture by a table finds them in a border as well. One whose loops are steps in the
// picture keeps them: a library may want them so.
static bool product_may_follow(Plan *p, const PlanNode *x, uint32_t wire, uint32_t border) {
  enum { GROUPS = 4 };
  PlanWire *w = &p->wire.at[wire];
  int64_t *own = w->stride;
  bool may = true;
  for (uint32_t i = 0; i < x->nin; i++) {
    for (uint32_t group = 0; x->in[i].wire == wire && group < GROUPS; group++) {
      bool straight = lies_straight(p, x, &x->in[i], group);
      w->stride = p->wire.at[border].stride;
      may &= !straight || lies_straight(p, x, &x->in[i], group);
      w->stride = own;
    }
  }
  return may;
}

// May the picture lie in steps that are not its own?
static bool may_lie_inside(Plan *p, const PlanUses *u, uint32_t wire, uint32_t border) {
  const PlanNode *maker = &p->node.at[u->maker[wire]];
  if (maker->kind != NODE_NEST || maker->scatter || maker->depth || maker->pinned ||
      p->kernel.at[maker->kernel].kind != KERNEL_LOOPS)
    return false;
  for (uint32_t i = 0; i < u->reader[wire].n; i++) {
    const PlanNode *y = &p->node.at[u->reader[wire].at[i]];
    if (y->depth || y->pinned || y->pairs) return false;
    if (y->kind == NODE_PRODUCT ? !product_may_follow(p, y, wire, border) : y->kind != NODE_NEST)
      return false;
  }
  return true;
}

static bool are_loops_apart(const Plan *p, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i <= to; i++)
    if (kernel_scans(&p->kernel.at[i])) return false;
  return from < to;
}

// The kernel that was to copy fills, in front of the one that makes the picture.
static void fill_first(Plan *p, PlanNode *x, int64_t offset, uint32_t before) {
  PlanWire *w = &p->wire.at[x->in[0].wire];
  w->stride = arena_copy(p->arena, p->wire.at[x->out.wire].stride, w->rank * sizeof *w->stride);
  w->of = x->out.wire;
  w->offset = offset;
  w->kept = true;
  x->nin = 0;
  x->scalar = NEW(p->arena, Scalar);
  *x->scalar = (Scalar){.fn = FN_CONST, .base = BASE_R};
  kernel_move(p, NULL, x->kernel, before);
}

// The picture lies in such a border already: what reads this one reads that.
static void share_border(Plan *p, PlanNode *x) {
  uint32_t there = p->wire.at[x->in[0].wire].of, kernel = x->kernel;
  for (uint32_t i = 0; i < p->node.n; i++)
    for (uint32_t k = 0; k < p->node.at[i].nin; k++)
      if (p->node.at[i].in[k].wire == x->out.wire) p->node.at[i].in[k].wire = there;
  x->kind = NODE_GONE;
  kernel_drop(p, NULL, kernel);
}

static bool lies_in_same(const Plan *p, const PlanNode *x, const bool *filled, int64_t offset) {
  const PlanWire *w = &p->wire.at[x->in[0].wire], *to = &p->wire.at[x->out.wire];
  if (w->of == PLAN_NONE || !filled[w->of] || w->offset != offset) return false;
  const PlanWire *there = &p->wire.at[w->of];
  for (uint32_t i = 0; i < to->rank; i++)
    if (!extent_same(there->shape[i], to->shape[i]) || there->stride[i] != to->stride[i])
      return false;
  return there->rank == to->rank;
}

void plan_borders(Plan *p) {
  PlanUses u = plan_uses(p);
  bool *filled = NEW_ARRAY(p->arena, bool, p->wire.n + 1); // with zeros, first
  for (uint32_t i = 0; i < p->node.n; i++) {
    PlanNode *x = &p->node.at[i];
    int64_t offset;
    if (!node_plain(x) || !node_copies(x) || !is_border(p, x, &offset)) continue;
    const Kernel *k = &p->kernel.at[x->kernel];
    uint32_t from = x->in[0].wire, to = x->out.wire;
    if (k->kind != KERNEL_LOOPS || k->node.n != 1 || !is_free(p, &u, to) || u.maker[to] != i)
      continue;
    if (lies_in_same(p, x, filled, offset)) {
      share_border(p, x);
    } else if (is_free(p, &u, from) && may_lie_inside(p, &u, from, to) &&
               are_loops_apart(p, p->node.at[u.maker[from]].kernel, x->kernel)) {
      fill_first(p, x, offset, p->node.at[u.maker[from]].kernel);
      filled[to] = u.seen[from] = true;
    }
  }
}
