// Partition of an optimiser. The weights of a learner are one wire, and so is their gradient. The
// element-wise nodes that make moments and new weights (the members) would be one kernel that waits
// for the last slice of the gradient. This pass splits them at boundaries between slices;
// neighbouring slices form one part, large enough for a kernel. A part can run as soon as its
// gradient is known, beside the rest of the backward pass, and its gradient need not be stored
// until the end (hoist_kernels.c).
#include "run/plan/plan.h"

// A range of cells.
typedef struct {
  int64_t from, to;
} Part;

typedef struct {
  Plan *p;
  PlanUses u;
  uint32_t gradient, wires; // the gradient; number of wires that `u` knows
  Ids slice;                // aliases that cover the gradient, in their order
  bool *member;             // [node] to be split
  uint32_t first, last;     // members
  bool steps;               // some member makes the next value of a state
  bool read_whole;          // another node reads the whole gradient
  uint32_t *next_of; // [wire] the param whose next value it is; PLAN_NONE: none's; PLAN_SEVERAL
  bool *external;    // [wire] an input, output or param
  bool *has_slices;  // [wire] it has aliases
  VEC(Part) part;
} Partition;

// -- the gradient and its slices ------------------------------------------------------------------
static void sort_slices(const Plan *p, Ids *slice) {
  for (uint32_t i = 1; i < slice->n; i++) { // insertion sort: they nearly always are in order
    uint32_t wire = slice->at[i], k = i;
    for (; k && p->wire.at[slice->at[k - 1]].offset > p->wire.at[wire].offset; k--)
      slice->at[k] = slice->at[k - 1];
    slice->at[k] = wire;
  }
}

static bool is_visible(const Partition *a, uint32_t wire) {
  return a->external[wire] || a->next_of[wire] != PLAN_NONE;
}

// Is the gradient a vector that contiguous aliases cover without gaps or overlaps?
static bool find_slices(Partition *a) {
  Plan *p = a->p;
  const PlanWire *gradient = &p->wire.at[a->gradient];
  int64_t end = 0;
  if (gradient->alias_of != PLAN_NONE || is_visible(a, a->gradient) || gradient->shape[0].per ||
      gradient->shape[0].part || a->u.maker[a->gradient] != PLAN_NONE)
    return false;
  for (uint32_t w = 0; w < p->wire.n; w++)
    if (p->wire.at[w].alias_of == a->gradient) vec_push(p->arena, &a->slice, w);
  sort_slices(p, &a->slice);
  for (uint32_t i = 0; i < a->slice.n; i++) {
    const PlanWire *w = &p->wire.at[a->slice.at[i]];
    if (w->scan_moves || w->offset != end || w->number != gradient->number ||
        is_visible(a, a->slice.at[i]) || !wire_is_row_major(p, a->slice.at[i]))
      return false;
    for (uint32_t k = 0; k < w->rank; k++)
      if (w->shape[k].per || w->shape[k].part) return false;
    end += w->count;
  }
  return a->slice.n > 1 && end == gradient->count;
}

// -- members --------------------------------------------------------------------------------------
static bool is_current_cell(const Partition *a, const Operand *o) {
  const Plan *p = a->p;
  const PlanWire *w = &p->wire.at[o->wire];
  uint32_t index;
  if (!w->rank) return !o->padded;
  return w->rank == 1 && w->count == p->wire.at[a->gradient].count && w->stride[0] == 1 &&
         !w->scan_moves && !o->padded && operand_axis_is_index(p, o, 0, &index);
}

// May the wire be replaced by parts? Nothing but its readers and one state may refer to it.
static bool may_be_split(const Partition *a, uint32_t wire) {
  return wire_is_unplaced(a->p, wire) && !a->external[wire] && !a->has_slices[wire] &&
         a->next_of[wire] != PLAN_SEVERAL;
}

// Does the node loop over the cells of its output, a vector, and over nothing else?
static bool loops_over_output(const Partition *a, const PlanNode *x) {
  const PlanWire *w = &a->p->wire.at[x->out.wire];
  return x->nindex == 1 && w->rank && is_current_cell(a, &x->out) && x->index[0].c == w->count &&
         !x->index[0].per;
}

static bool may_be_member(const Partition *a, const PlanNode *x) {
  uint32_t wire = x->out.wire, node = (uint32_t)(x - a->p->node.at);
  if (!node_is_elementwise(x) || a->u.maker[wire] != node || !may_be_split(a, wire) ||
      !loops_over_output(a, x))
    return false;
  for (uint32_t i = 0; i < x->nin; i++)
    if (!is_current_cell(a, &x->in[i])) return false;
  return !node_reads_position(x);
}

static void add_member(Partition *a, uint32_t node, Ids *queue) {
  if (a->member[node]) return;
  a->member[node] = true;
  if (a->first == PLAN_NONE || node < a->first) a->first = node;
  if (a->last < node) a->last = node;
  a->steps |= a->next_of[a->p->node.at[node].out.wire] != PLAN_NONE;
  vec_push(a->p->arena, queue, a->p->node.at[node].out.wire);
}

// Every reader of a member's output must be a member. Other readers of the gradient itself are
// allowed.
static bool add_readers(Partition *a, Ids *queue) {
  while (queue->n) {
    uint32_t wire = queue->at[--queue->n];
    for (uint32_t i = 0; i < a->u.reader[wire].n; i++) {
      uint32_t node = a->u.reader[wire].at[i];
      if (may_be_member(a, &a->p->node.at[node]))
        add_member(a, node, queue);
      else if (wire != a->gradient)
        return false;
      else
        a->read_whole = true;
    }
  }
  return true;
}

static bool shares_tensor(const Partition *a, const PlanNode *x) {
  const Plan *p = a->p;
  for (uint32_t i = 0; i < x->nin; i++)
    for (uint32_t k = 0; p->wire.at[x->in[i].wire].rank && k < a->u.reader[x->in[i].wire].n; k++)
      if (a->member[a->u.reader[x->in[i].wire].at[k]]) return true;
  return false;
}

// Adds nodes that make next values of other states out of tensors that members read. Both must be
// split: whichever is written first, the other one reads the tensor before.
static bool add_siblings(Partition *a, Ids *queue) {
  const Plan *p = a->p;
  uint32_t n = queue->n;
  for (uint32_t i = 0; i < p->next.n; i++) {
    uint32_t maker = p->next.at[i] == PLAN_NONE ? PLAN_NONE : a->u.maker[p->next.at[i]];
    if (maker < p->node.n && !a->member[maker] && may_be_member(a, &p->node.at[maker]) &&
        shares_tensor(a, &p->node.at[maker]))
      add_member(a, maker, queue);
  }
  return queue->n > n;
}

static bool find_members(Partition *a) {
  Plan *p = a->p;
  Ids queue = {0};
  a->member = NEW_ARRAY(p->arena, bool, p->node.n + 1);
  a->first = PLAN_NONE;
  vec_push(p->arena, &queue, a->gradient);
  do
    if (!add_readers(a, &queue)) return false;
  while (add_siblings(a, &queue));
  return a->steps && nodes_movable(p, a->first, a->last);
}

// Is every part independent of the others? The norm of the whole gradient is a dependence.
static bool parts_are_independent(const Partition *a) {
  const Plan *p = a->p;
  bool *needs = NEW_ARRAY(p->arena, bool, p->wire.n + 1);
  needs[a->gradient] = true;
  for (uint32_t i = 0; i < p->node.n; i++) {
    const PlanNode *x = &p->node.at[i];
    if (x->kind == NODE_GONE || x->kind == NODE_SCAN || x->kind == NODE_SCAN_END) continue;
    bool any = false;
    for (uint32_t k = 0; k < x->nin; k++) {
      bool these = needs[wire_root(p, x->in[k].wire)];
      if (a->member[i] && these && x->in[k].wire != a->gradient &&
          !(a->u.maker[x->in[k].wire] < p->node.n && a->member[a->u.maker[x->in[k].wire]]))
        return false;
      any |= these;
    }
    if (!any) continue;
    needs[wire_root(p, x->out.wire)] = true;
    for (uint32_t k = 0; k < x->nwinner; k++)
      if (x->winner[k] != PLAN_NONE) needs[x->winner[k]] = true;
  }
  return true;
}

// -- parts ----------------------------------------------------------------------------------------
static void find_parts(Partition *a) {
  enum { ALONG = 8 }; // vector loads: a part begins at a multiple of so many cells
  const Plan *p = a->p;
  int64_t from = 0, end = 0;
  for (uint32_t i = 0; i < a->slice.n; i++) {
    end += p->wire.at[a->slice.at[i]].count;
    bool last = i + 1 == a->slice.n;
    if (!last && (end - from < p->target->partition_cells || end % ALONG)) continue;
    vec_push(p->arena, &a->part, ((Part){from, end}));
    from = end;
  }
}

// A vector as long as the part: an alias into wire `of`, or with memory of its own (PLAN_NONE).
static uint32_t part_wire(Partition *a, const Part *part, uint32_t like, uint32_t of) {
  Plan *p = a->p;
  uint32_t wire = wire_clone(p, like);
  PlanWire *w = &p->wire.at[wire];
  w->rank = 1;
  w->shape = NEW(p->arena, Extent);
  w->shape[0] = (Extent){.c = part->to - part->from};
  w->place = AT_NOWHERE;
  w->alias_of = of;
  w->offset = of == PLAN_NONE ? 0 : part->from;
  w->needs_memory = of != PLAN_NONE;
  wire_set_row_major(p, wire);
  return wire;
}

// The gradient of a part. If nothing else reads the whole gradient, the part gets memory of its
// own, and the slices become aliases into that.
static uint32_t part_of_gradient(Partition *a, const Part *part) {
  Plan *p = a->p;
  if (a->read_whole) return part_wire(a, part, a->gradient, a->gradient);
  uint32_t row = part_wire(a, part, a->gradient, PLAN_NONE);
  p->wire.at[row].needs_memory = true; // several nodes make it
  for (uint32_t i = 0; i < a->slice.n; i++) {
    PlanWire *w = &p->wire.at[a->slice.at[i]];
    if (w->alias_of != a->gradient || w->offset < part->from || w->offset >= part->to) continue;
    w->alias_of = row;
    w->offset -= part->from;
  }
  return row;
}

static Operand current_cell(const Plan *p, const Operand *o, uint32_t wire) {
  Operand cell = *o;
  PlanTerm *term = NEW(p->arena, PlanTerm);
  *term = (PlanTerm){.coef = 1};
  cell.wire = wire;
  cell.coord = NEW(p->arena, PlanCoord);
  cell.coord[0] = (PlanCoord){.n = 1, .term = term};
  return cell;
}

// The node that makes one part of a member's output. part_of[wire]: this part of a wire; PLAN_NONE:
// none yet.
static PlanNode part_node(Partition *a, const Part *part, const PlanNode *x, uint32_t *part_of) {
  Plan *p = a->p;
  PlanNode y = *x;
  uint32_t param = a->next_of[x->out.wire], to = part_wire(a, part, x->out.wire, PLAN_NONE);
  y.index = p->wire.at[to].shape;
  y.reduced = NEW(p->arena, bool);
  y.in = NEW_ARRAY(p->arena, Operand, x->nin + 1);
  for (uint32_t i = 0; i < x->nin; i++) {
    uint32_t from = x->in[i].wire;
    y.in[i] = x->in[i];
    if (!p->wire.at[from].rank) continue;
    if (part_of[from] == PLAN_NONE) part_of[from] = part_wire(a, part, from, from);
    y.in[i] = current_cell(p, &x->in[i], part_of[from]);
  }
  y.out = current_cell(p, &x->out, to);
  y.hoist = true;
  part_of[x->out.wire] = to;
  if (param == PLAN_NONE) return y;
  p->wire.at[to].needs_memory = true;
  vec_push(p->arena, &p->part, ((PlanPart){.wire = to, .param = param, .offset = part->from}));
  return y;
}

// Scalars that members read are hoisted as well, and what these are made of.
static void hoist_scalar(Partition *a, uint32_t wire) {
  if (wire >= a->wires || a->u.maker[wire] >= a->p->node.n) return;
  PlanNode *x = &a->p->node.at[a->u.maker[wire]];
  if (x->hoist || x->kind != NODE_NEST || x->depth || x->pinned || a->p->wire.at[wire].rank) return;
  x->hoist = true;
  for (uint32_t i = 0; i < x->nin; i++) hoist_scalar(a, x->in[i].wire);
}

static void split_members(Partition *a) {
  Plan *p = a->p;
  uint32_t n = p->node.n, *part_of = NEW_ARRAY(p->arena, uint32_t, a->wires + 1);
  for (uint32_t i = a->first; i <= a->last; i++)
    for (uint32_t k = 0; a->member[i] && k < p->node.at[i].nin; k++)
      hoist_scalar(a, p->node.at[i].in[k].wire);
  for (uint32_t i = 0; i < a->slice.n; i++) { // padding between the weights
    uint32_t maker = a->u.maker[a->slice.at[i]];
    if (maker < n && node_is_elementwise(&p->node.at[maker]) && !p->node.at[maker].nin)
      p->node.at[maker].hoist = true;
  }
  const PlanNode *all = arena_copy(p->arena, p->node.at, n * sizeof *all);
  p->node.n = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (!a->member[i]) vec_push(p->arena, &p->node, all[i]);
    for (uint32_t s = 0; i == a->last && s < a->part.n; s++) {
      for (uint32_t w = 0; w < a->wires; w++) part_of[w] = PLAN_NONE;
      part_of[a->gradient] = part_of_gradient(a, &a->part.at[s]);
      for (uint32_t k = a->first; k <= a->last; k++)
        if (a->member[k])
          vec_push(p->arena, &p->node, part_node(a, &a->part.at[s], &all[k], part_of));
    }
  }
}

// -- all gradients --------------------------------------------------------------------------------
static void find_outside(Partition *a) {
  const Plan *p = a->p;
  const Ids *outside[] = {&p->in, &p->out, &p->param};
  a->next_of = plan_nones(p, p->wire.n);
  a->external = NEW_ARRAY(p->arena, bool, p->wire.n + 1);
  a->has_slices = NEW_ARRAY(p->arena, bool, p->wire.n + 1);
  for (uint32_t k = 0; k < COUNT(outside); k++)
    for (uint32_t i = 0; i < outside[k]->n; i++) a->external[outside[k]->at[i]] = true;
  for (uint32_t i = 0; i < p->wire.n; i++)
    if (p->wire.at[i].alias_of != PLAN_NONE) a->has_slices[p->wire.at[i].alias_of] = true;
  for (uint32_t i = 0; i < p->next.n; i++) {
    uint32_t w = p->next.at[i];
    if (w != PLAN_NONE) a->next_of[w] = a->next_of[w] == PLAN_NONE ? i : PLAN_SEVERAL;
  }
}

void plan_partition_optimisers(Plan *p) {
  uint32_t wires = p->wire.n;
  bool *has_slices = NEW_ARRAY(p->arena, bool, wires + 1);
  for (uint32_t i = 0; i < wires; i++)
    if (p->wire.at[i].alias_of != PLAN_NONE) has_slices[p->wire.at[i].alias_of] = true;
  for (uint32_t i = 0; i < wires; i++) {
    if (!has_slices[i] || p->wire.at[i].place != AT_NOWHERE || p->wire.at[i].rank != 1) continue;
    Partition a = {.p = p, .gradient = i, .wires = p->wire.n, .u = plan_uses(p)};
    find_outside(&a);
    if (!find_slices(&a) || !find_members(&a) || !parts_are_independent(&a)) continue;
    find_parts(&a);
    if (a.part.n > 1) split_members(&a);
  }
}
