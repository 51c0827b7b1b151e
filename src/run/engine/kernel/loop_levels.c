// Loop-invariant code motion: the analysis. Takes a kernel of a plan; gives, for each node of a nest, the
// outermost loop at which each load, bounds check and scalar is invariant, which scalars are uniform over
// the kernel, and where a reduction accumulates: in a variable if its loops are the innermost ones, else
// in memory.
//
// The level of a value is the largest level of its operands.
#include "run/engine/kernel/loop_levels.h"
#include "core/diagram/ops.h"

#include <math.h>

enum { ROW_LIMIT = 512 }; // numbers in a row of accumulators

bool operand_checked(const Plan *p, const Operand *o) {
  for (uint32_t i = 0; i < p->wire.at[o->wire].rank; i++)
    if (o->coord[i].check) return true;
  return false;
}

double real_constant(const Plan *p, double k) {
  if (p->wide || !isfinite(k) || k == 0) return k;
  double size = fmin(fmax(fabs(k), 1.1754943508222875e-38), 3.4028234663852886e38);
  return k < 0 ? -size : size;
}

uint32_t node_reduced(const PlanNode *x, uint32_t k) {
  for (uint32_t i = 0; i < x->nindex; i++)
    if (x->reduced[i] && k-- == 0) return i;
  return 0;
}

uint32_t node_position(const Kernel *k, uint32_t node) {
  uint32_t i = 0;
  while (k->node.at[i] != node) i++;
  return i;
}

const PlanNode *producer_in_nest(const Plan *p, const Kernel *k, const NodeLevels *w, uint32_t wire,
                                 uint32_t *node) {
  const Nest *s = &k->nest.at[w->nest];
  if (k->kind == KERNEL_PRODUCT && p->node.at[k->node.at[0]].out.wire == wire) {
    *node = k->node.at[0];
    return &p->node.at[*node];
  }
  for (uint32_t i = 0; i < s->node.n && s->node.at[i] != w->node; i++) {
    const PlanNode *y = &p->node.at[s->node.at[i]];
    if (y->out.wire == wire && !y->scatter && !node_has_reduction(y)) {
      *node = s->node.at[i];
      return y;
    }
  }
  return NULL;
}

bool divides_by_invariant(const NodeLevels *w, uint32_t i) {
  const Scalar *s = &w->x->scalar[i];
  if (s->fn != FN_div || w->uniform[i] || w->wide) return false; // doubles: see NodeLevels.wide
  if (w->x->exact && w->x->exact[i]) return false;
  return w->x->scalar[s->arg[1]].fn == FN_CONST || w->uniform[s->arg[1]] ||
         w->scalar_level[s->arg[1]] < w->scalar_level[i];
}

bool selects_by_invariant(const NodeLevels *w, uint32_t i) {
  const Scalar *s = &w->x->scalar[i];
  return s->fn == FN_select && !w->uniform[i] && w->x->scalar[s->arg[0]].fn != FN_CONST &&
         w->scalar_level[s->arg[0]] < w->scalar_level[i];
}

// -- levels ---------------------------------------------------------------------------------------
static uint32_t level_of(const Kernel *k, uint32_t var) {
  return var < k->np ? 0 : var - k->np + 1;
}

static uint32_t address_level(const Plan *p, const Kernel *k, const NodeLevels *w,
                              const Operand *o) {
  uint32_t level = 0;
  for (uint32_t i = 0; i < p->wire.at[o->wire].rank; i++)
    for (uint32_t j = 0; j < o->coord[i].n; j++) {
      const PlanTerm *t = &o->coord[i].term[j];
      uint32_t l = t->operand ? w->load_level[t->var] : level_of(k, w->x->var[t->var]);
      if (l > level) level = l;
    }
  return level;
}

// The value of an earlier node of the same nest is known in the innermost loop only.
static void find_loads(const Plan *p, const Kernel *k, NodeLevels *w) {
  const PlanNode *x = w->x;
  uint32_t node;
  for (uint32_t i = 0; i < x->nin; i++) {
    w->load_level[i] = address_level(p, k, w, &x->in[i]);
    if (operand_checked(p, &x->in[i])) {
      w->test_level[i] = w->load_level[i];
      if (!x->in[i].padded) w->bounds_checked = true;
    }
    if (producer_in_nest(p, k, w, x->in[i].wire, &node))
      w->load_level[i] = k->nest.at[w->nest].ndim;
  }
  if (operand_checked(p, &x->out)) w->bounds_checked = true;
}

static void find_scalar(const Plan *p, const Kernel *k, NodeLevels *w, uint32_t i) {
  const PlanNode *x = w->x;
  const Scalar *s = &x->scalar[i];
  uint32_t level = 0, node;
  bool same = s->base == BASE_R;
  if (s->fn == FN_AT) level = level_of(k, x->var[s->ref]), same = false;
  if (s->fn == FN_ARG) {
    const PlanWire *wire = &p->wire.at[x->in[s->ref].wire];
    level = w->load_level[s->ref];
    same = !wire->rank && wire->number == NUMBER_F64 && !p->wide &&
           !producer_in_nest(p, k, w, x->in[s->ref].wire, &node);
  }
  if (s->fn > FN_SIZE)
    for (uint32_t j = 0; j < fn_rows[s->fn].arity; j++) {
      if (w->scalar_level[s->arg[j]] > level) level = w->scalar_level[s->arg[j]];
      same &= w->uniform[s->arg[j]];
    }
  w->scalar_level[i] = level;
  w->uniform[i] = same && level == 0;
}

void node_dims(const Kernel *k, const PlanNode *x, uint32_t *of_dim) {
  for (uint32_t i = 0; i < x->nindex; i++)
    if (x->var[i] >= k->np) of_dim[x->var[i] - k->np] = i;
}

// The first of the reduced loops directly before loop `end`; PLAN_NONE: there is none, or another loop
// before them is reduced too.
static uint32_t first_summed(const PlanNode *x, const uint32_t *of_dim, uint32_t end) {
  uint32_t first = end;
  while (first > 0 && x->reduced[of_dim[first - 1]]) first--;
  for (uint32_t d = 0; d < first; d++)
    if (x->reduced[of_dim[d]]) return PLAN_NONE;
  return first < end ? first : PLAN_NONE;
}

static void find_sum(const Plan *p, const Kernel *k, NodeLevels *w) {
  const PlanNode *x = w->x;
  const Nest *s = &k->nest.at[w->nest];
  uint32_t of_dim[64];
  w->sum_loop = w->row_loop = PLAN_NONE;
  if (!node_has_reduction(x) || x->scatter) return;
  node_dims(k, x, of_dim);
  w->sum_loop = first_summed(x, of_dim, s->ndim);
  if (w->sum_loop != PLAN_NONE) return;
  w->sum_loop = s->ndim + 1;
  if (!s->ndim || x->reduced[of_dim[s->ndim - 1]] || operand_checked(p, &x->out)) return;
  const Extent *last = &s->dim[s->ndim - 1];
  if (!last->per && !last->part && last->c <= ROW_LIMIT)
    w->row_loop = first_summed(x, of_dim, s->ndim - 1);
}

static bool is_written_in(const Plan *p, const Nest *s, uint32_t wire) {
  for (uint32_t i = 0; i < s->node.n; i++)
    if (wire_root(p, p->node.at[s->node.at[i]].out.wire) == wire_root(p, wire)) return true;
  return false;
}

static void find_packed(const Plan *p, const Kernel *k, NodeLevels *w) {
  const Nest *s = &k->nest.at[w->nest];
  uint32_t of_dim[64];
  if (k->np || !s->ndim || w->x->scatter) return;
  node_dims(k, w->x, of_dim);
  for (uint32_t i = 0; i < w->x->nin; i++)
    w->packed[i] = w->load_level[i] == s->ndim && !is_written_in(p, s, w->x->in[i].wire) &&
                   operand_packed_cells(p, w->x, &w->x->in[i], of_dim[s->ndim - 1]);
}

NodeLevels *nest_levels(const Plan *p, const Kernel *k, uint32_t nest) {
  const Nest *s = &k->nest.at[nest];
  NodeLevels *all = NEW_ARRAY(p->arena, NodeLevels, s->node.n);
  for (uint32_t i = 0; i < s->node.n; i++) {
    const PlanNode *x = &p->node.at[s->node.at[i]];
    NodeLevels *w = &all[i];
    *w = (NodeLevels){.x = x,
                      .node = s->node.at[i],
                      .nest = nest,
                      .id = node_position(k, s->node.at[i]),
                      .load_level = NEW_ARRAY(p->arena, uint32_t, x->nin + 1),
                      .test_level = NEW_ARRAY(p->arena, uint32_t, x->nin + 1),
                      .packed = NEW_ARRAY(p->arena, bool, x->nin + 1),
                      .preloaded = NEW_ARRAY(p->arena, bool, x->nin + 1),
                      .scalar_level = NEW_ARRAY(p->arena, uint32_t, x->nscalar + 1),
                      .uniform = NEW_ARRAY(p->arena, bool, x->nscalar + 1),
                      .wide = p->wide};
    find_loads(p, k, w);
    for (uint32_t j = 0; j < x->nscalar; j++) find_scalar(p, k, w, j);
    find_sum(p, k, w);
    find_packed(p, k, w);
  }
  return all;
}

// -- memory ---------------------------------------------------------------------------------------
bool wire_has_memory(const PlanWire *w) {
  return w->place != AT_REGISTER && (w->place != AT_NOWHERE || w->alias_of != PLAN_NONE);
}

static void add_slot(const Plan *p, Ids *slot, uint32_t wire) {
  if (wire == PLAN_NONE || !wire_has_memory(&p->wire.at[wire])) return;
  for (uint32_t i = 0; i < slot->n; i++)
    if (slot->at[i] == wire) return;
  vec_push(p->arena, slot, wire);
}

Ids *kernel_slots(const Plan *p) {
  Ids *slot = NEW_ARRAY(p->arena, Ids, p->kernel.n + 1);
  uint32_t small = 0;
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    const Kernel *k = &p->kernel.at[i];
    bool product = k->kind == KERNEL_PRODUCT; // its epilogue has a table of pointers
    if (!kernel_has_text(k) && !product) continue;
    for (uint32_t j = product; j < k->node.n; j++) {
      const PlanNode *x = &p->node.at[k->node.at[j]];
      for (uint32_t v = 0; v < node_wires(x); v++) add_slot(p, &slot[i], node_wire(x, v));
    }
    for (uint32_t j = 0; k->kind == KERNEL_LOOPS && j < k->nest.n; j++)
      if (p->node.at[k->nest.at[j].node.at[0]].kind == NODE_PRODUCT)
        vec_push(p->arena, &slot[i], p->wire.n + small++);
  }
  return slot;
}
