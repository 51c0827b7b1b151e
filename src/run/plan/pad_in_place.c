// Padding in place. A convolution reads pictures with a border of zeros, which a kernel of its own
// would copy. Instead the larger tensor is filled with zeros first, and the picture's maker writes
// into it: the picture is written and stored once.
#include "core/diagram/ops.h"
#include "run/plan/plan.h"

// Is the coordinate this index, shifted by a border that is not negative?
static bool is_shifted_index(const PlanCoord *c, uint32_t index) {
  return c->n == 1 && !c->term[0].operand && c->term[0].coef == 1 && c->term[0].var == index &&
         c->c <= 0;
}

// Does the shifted axis fit into the larger one, for every number of samples?
static bool axis_fits(Extent small, Extent large, int64_t shift) {
  if (small.per != large.per || small.part || large.part || small.c + shift > large.c) return false;
  return !small.per || (!shift && small.c == large.c);
}

// Does the node copy its operand into a larger tensor of zeros? *offset: the operand's first cell
// there.
static bool is_border(const Plan *p, const PlanNode *x, int64_t *offset) {
  const Operand *in = &x->in[0];
  const PlanWire *to = &p->wire.at[x->out.wire], *from = &p->wire.at[in->wire];
  uint32_t index[PLAN_AXES];
  if (!in->padded || in->pad != 0 || from->rank != to->rank || from->number != to->number ||
      !operand_is_permutation(p, &x->out, index))
    return false;
  *offset = 0;
  for (uint32_t i = 0; i < to->rank; i++) {
    const PlanCoord *c = &in->coord[i];
    if (!is_shifted_index(c, index[i]) || !axis_fits(from->shape[i], to->shape[i], -c->c))
      return false;
    *offset -= c->c * to->stride[i];
  }
  return true;
}

// A wire that one node makes and that is no alias.
static bool is_free(const Plan *p, const PlanUses *u, uint32_t wire) {
  const PlanWire *w = &p->wire.at[wire];
  return wire_is_unplaced(p, wire) && !w->needs_memory && !u->escapes[wire] &&
         u->maker[wire] < p->node.n;
}

static bool is_strided(const Plan *p, const PlanNode *x, const Operand *o, uint32_t group) {
  const Product *q = x->product;
  const uint32_t *index[] = {q->m, q->n, q->k, q->batch}, n[] = {q->nm, q->nn, q->nk, q->nbatch};
  return product_group_is_strided(p, x, o, index[group], n[group]);
}

// A product that reads the picture by a table of offsets may read it in the padded tensor as well.
// One that reads with strides must still do so: a library may need them.
static bool product_allows_alias(Plan *p, const PlanNode *x, uint32_t wire, uint32_t border) {
  enum { GROUPS = 4 };
  PlanWire *w = &p->wire.at[wire];
  int64_t *own = w->stride;
  bool may = true;
  for (uint32_t i = 0; i < x->nin; i++) {
    for (uint32_t group = 0; x->in[i].wire == wire && group < GROUPS; group++) {
      bool straight = is_strided(p, x, &x->in[i], group);
      w->stride = p->wire.at[border].stride;
      may &= !straight || is_strided(p, x, &x->in[i], group);
      w->stride = own;
    }
  }
  return may;
}

// May the picture have the strides of the padded tensor?
static bool may_alias(Plan *p, const PlanUses *u, uint32_t wire, uint32_t border) {
  const PlanNode *maker = &p->node.at[u->maker[wire]];
  if (maker->kind != NODE_NEST || maker->scatter || maker->depth || maker->pinned ||
      p->kernel.at[maker->kernel].kind != KERNEL_LOOPS)
    return false;
  for (uint32_t i = 0; i < u->reader[wire].n; i++) {
    const PlanNode *y = &p->node.at[u->reader[wire].at[i]];
    if (!node_may_move(y)) return false;
    if (y->kind == NODE_PRODUCT ? !product_allows_alias(p, y, wire, border) : y->kind != NODE_NEST)
      return false;
  }
  return true;
}

static bool may_move_kernel(const Plan *p, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i <= to; i++)
    if (kernel_in_scan(&p->kernel.at[i])) return false;
  return from < to;
}

// The copying kernel becomes a fill, and moves before the kernel that makes the picture.
static void fill_before_maker(Plan *p, PlanNode *x, int64_t offset, uint32_t before) {
  PlanWire *w = &p->wire.at[x->in[0].wire];
  w->stride = arena_copy(p->arena, p->wire.at[x->out.wire].stride, w->rank * sizeof *w->stride);
  w->alias_of = x->out.wire;
  w->offset = offset;
  w->needs_memory = true;
  x->nin = 0;
  x->scalar = NEW(p->arena, Scalar);
  *x->scalar = (Scalar){.fn = FN_CONST, .base = BASE_R};
  kernel_move(p, NULL, x->kernel, before);
}

// The picture is in an equal padded tensor already: readers of this one read that.
static void reuse_padded(Plan *p, PlanNode *x) {
  uint32_t there = p->wire.at[x->in[0].wire].alias_of, kernel = x->kernel;
  for (uint32_t i = 0; i < p->node.n; i++)
    for (uint32_t k = 0; k < p->node.at[i].nin; k++)
      if (p->node.at[i].in[k].wire == x->out.wire) p->node.at[i].in[k].wire = there;
  x->kind = NODE_GONE;
  kernel_drop(p, NULL, kernel);
}

static bool is_in_same_padding(const Plan *p, const PlanNode *x, const bool *filled,
                               int64_t offset) {
  const PlanWire *w = &p->wire.at[x->in[0].wire], *to = &p->wire.at[x->out.wire];
  if (w->alias_of == PLAN_NONE || !filled[w->alias_of] || w->offset != offset) return false;
  const PlanWire *there = &p->wire.at[w->alias_of];
  for (uint32_t i = 0; i < to->rank; i++)
    if (!extent_same(there->shape[i], to->shape[i]) || there->stride[i] != to->stride[i])
      return false;
  return there->rank == to->rank;
}

void plan_pad_in_place(Plan *p) {
  PlanUses u = plan_uses(p);
  bool *filled = NEW_ARRAY(p->arena, bool, p->wire.n + 1); // [wire] a fill makes it first
  for (uint32_t i = 0; i < p->node.n; i++) {
    PlanNode *x = &p->node.at[i];
    int64_t offset;
    if (!node_is_elementwise(x) || !node_is_copy(x) || !is_border(p, x, &offset)) continue;
    const Kernel *k = &p->kernel.at[x->kernel];
    uint32_t from = x->in[0].wire, to = x->out.wire;
    if (k->kind != KERNEL_LOOPS || k->node.n != 1 || !is_free(p, &u, to) || u.maker[to] != i)
      continue;
    if (is_in_same_padding(p, x, filled, offset)) {
      reuse_padded(p, x);
    } else if (is_free(p, &u, from) && may_alias(p, &u, from, to) &&
               may_move_kernel(p, p->node.at[u.maker[from]].kernel, x->kernel)) {
      fill_before_maker(p, x, offset, p->node.at[u.maker[from]].kernel);
      filled[to] = u.escapes[from] = true;
    }
  }
}
