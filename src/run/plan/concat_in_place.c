// Concatenation in place. The gradient of a tensor that was split (queries, keys and values of one
// product) is a sum of slices, each at its own position of an axis among zeros. Where each position
// has a slice, and the slices are made by kernels of their own, the makers write into the whole,
// and the sum is dropped.
#include "core/diagram/ops.h"
#include "run/plan/plan.h"

typedef struct {
  const Operand *source;
  uint32_t node, index; // the node that places the slice, and the index of the concatenated axis
  int64_t position;
} Slice;

static bool is_number(Plan *p, const Scalar *s, int64_t *number) {
  Extent size = s->fn == FN_SIZE ? plan_extent(p, s->ref) : (Extent){.c = (int64_t)s->k};
  *number = size.c;
  return (s->fn == FN_SIZE && !size.per && !size.part) ||
         (s->fn == FN_CONST && (double)size.c == s->k);
}

// at(index) = position, or the other way round
static bool is_position_test(Plan *p, const PlanNode *x, const Scalar *s, Slice *slice) {
  if (s->fn != FN_eq) return false;
  for (uint32_t k = 0; k < 2; k++) {
    const Scalar *at = &x->scalar[s->arg[k]], *number = &x->scalar[s->arg[1 - k]];
    slice->index = at->ref;
    if (at->fn == FN_AT && is_number(p, number, &slice->position)) return true;
  }
  return false;
}

// The node is its operand where the index has one value, and 0 elsewhere.
static bool is_slice_among_zeros(Plan *p, uint32_t node, Slice *slice) {
  const PlanNode *x = &p->node.at[node];
  if (!node_is_elementwise(x) || x->nin != 1 || !x->nscalar) return false;
  const Scalar *s = &x->scalar[x->nscalar - 1];
  if (s->fn != FN_select) return false;
  const Scalar *inside = &x->scalar[s->arg[1]], *outside = &x->scalar[s->arg[2]];
  slice->node = node;
  slice->source = &x->in[0];
  return inside->fn == FN_ARG && outside->fn == FN_CONST && outside->k == 0 &&
         is_position_test(p, x, &x->scalar[s->arg[0]], slice);
}

// The body adds all operands, each once.
static bool only_adds(const Plan *p, const PlanNode *x) {
  uint32_t args = 0, *uses = NEW_ARRAY(p->arena, uint32_t, x->nscalar + 1);
  for (uint32_t i = 0; i < x->nscalar; i++) {
    const Scalar *s = &x->scalar[i];
    if (s->fn != FN_ARG && s->fn != FN_add) return false;
    args += s->fn == FN_ARG;
    for (uint32_t k = 0; s->fn == FN_add && k < 2; k++) uses[s->arg[k]]++;
  }
  for (uint32_t i = 0; i + 1 < x->nscalar; i++)
    if (uses[i] != 1) return false;
  return args == x->nin && x->nin > 1;
}

// The axis of a wire that is accessed by this index; PLAN_NONE: none is.
static uint32_t axis_of(const Plan *p, const Operand *o, uint32_t index) {
  uint32_t at;
  for (uint32_t i = 0; i < p->wire.at[o->wire].rank; i++)
    if (operand_axis_is_index(p, o, i, &at) && at == index) return i;
  return PLAN_NONE;
}

// May the source of a slice be an alias into the whole? It must own its memory, be in memory
// anyway, and have all axes but the concatenated one.
static bool may_alias(const Plan *p, const PlanUses *u, const Slice *slice, uint32_t whole) {
  const PlanNode *x = &p->node.at[slice->node];
  const PlanWire *w = &p->wire.at[slice->source->wire], *to = &p->wire.at[whole];
  uint32_t index[PLAN_AXES], wire = slice->source->wire, maker = u->maker[wire];
  if (!wire_is_unplaced(p, wire) || u->escapes[wire] || maker >= p->node.n) return false;
  if (w->number != to->number || w->rank + 1 != to->rank) return false;
  if (p->node.at[maker].depth || p->node.at[maker].pinned || !wire_is_materialised(p, u, wire) ||
      !operand_is_permutation(p, slice->source, index))
    return false;
  for (uint32_t i = 0; i < w->rank; i++)
    if (index[i] == slice->index || axis_of(p, &x->out, index[i]) == PLAN_NONE ||
        !extent_same(w->shape[i], x->index[index[i]]))
      return false;
  return true;
}

// The wire of the concatenation: the sum's, or that of the only copy that reads it.
static uint32_t final_tensor(const Plan *p, const PlanUses *u, uint32_t sum, uint32_t *copy) {
  const PlanNode *x = &p->node.at[sum];
  const Ids *r = &u->reader[x->out.wire];
  *copy = PLAN_NONE;
  if (r->n != 1 || u->escapes[x->out.wire]) return x->out.wire;
  const PlanNode *y = &p->node.at[r->at[0]];
  if (!node_is_elementwise(y) || !node_is_copy(y) || !operands_same_access(p, &y->in[0], &y->out))
    return x->out.wire;
  *copy = r->at[0];
  return y->out.wire;
}

static void alias_slice(Plan *p, const Slice *slice, uint32_t whole, uint32_t axis) {
  const PlanNode *x = &p->node.at[slice->node];
  PlanWire *w = &p->wire.at[slice->source->wire], *to = &p->wire.at[whole];
  uint32_t index[PLAN_AXES];
  operand_is_permutation(p, slice->source, index);
  w->stride = NEW_ARRAY(p->arena, int64_t, w->rank + 1);
  for (uint32_t i = 0; i < w->rank; i++) w->stride[i] = to->stride[axis_of(p, &x->out, index[i])];
  w->alias_of = whole;
  w->offset = slice->position * to->stride[axis];
  w->needs_memory = to->needs_memory = true;
}

// The slices that a node adds: one for each position of an axis.
static bool find_slices(Plan *p, const PlanUses *u, const PlanNode *x, uint32_t whole, Slice *slice,
                        uint32_t *axis) {
  const PlanWire *to = &p->wire.at[whole];
  *axis = PLAN_NONE;
  for (uint32_t i = 0; i < x->nin; i++) {
    uint32_t wire = x->in[i].wire, maker = u->maker[wire];
    if (maker >= p->node.n || u->reader[wire].n != 1 || u->escapes[wire] ||
        !operands_same_access(p, &x->in[i], &x->out) ||
        !is_slice_among_zeros(p, maker, &slice[i]) || !may_alias(p, u, &slice[i], whole))
      return false;
    uint32_t at = axis_of(p, &p->node.at[maker].out, slice[i].index);
    if (at == PLAN_NONE || (*axis != PLAN_NONE && at != *axis)) return false;
    *axis = at;
    if (slice[i].position < 0 || slice[i].position >= to->shape[at].c) return false;
    for (uint32_t k = 0; k < i; k++)
      if (slice[k].position == slice[i].position || slice[k].source->wire == slice[i].source->wire)
        return false;
  }
  return !to->shape[*axis].per && to->shape[*axis].c == x->nin;
}

void plan_concat_in_place(Plan *p) {
  PlanUses u = plan_uses(p);
  for (uint32_t n = 0; n < p->node.n; n++) {
    PlanNode *x = &p->node.at[n];
    uint32_t axis, copy;
    if (!node_is_elementwise(x) || !only_adds(p, x)) continue;
    uint32_t whole = final_tensor(p, &u, n, &copy);
    const PlanWire *to = &p->wire.at[whole];
    Slice *slice = NEW_ARRAY(p->arena, Slice, x->nin);
    if (to->place != AT_NOWHERE || to->alias_of != PLAN_NONE || u.escapes[whole] ||
        u.maker[whole] >= p->node.n || !find_slices(p, &u, x, whole, slice, &axis))
      continue;
    for (uint32_t i = 0; i < x->nin; i++) {
      alias_slice(p, &slice[i], whole, axis);
      p->node.at[slice[i].node].kind = NODE_GONE;
      u.escapes[slice[i].source->wire] = true;
    }
    u.escapes[whole] = true;
    x->kind = NODE_GONE;
    if (copy != PLAN_NONE) p->node.at[copy].kind = NODE_GONE;
  }
}
