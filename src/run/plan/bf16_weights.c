// Weights with a persistent bfloat16 copy. Large products read weights as bfloat16 (bf16_values.c);
// without this pass every step would convert all weights once more. If most cells of a param are
// copied to bfloat16, the copies become slices of one new state, and the node that makes the next
// weights makes the next copy, too. The caller must refresh the copy before a step if the weights
// were changed otherwise (Plan.bf16_copy).
//
// The new state is live all the time, temporary copies only between their first and last reader. So
// the peak of memory may not grow by more than a thousandth, unless the weights are small.
#include "run/plan/plan.h"

enum { MEMORY_SHARE = 1000 };           // the peak may grow by one part in so many
enum { ALIGNED_CELLS = 8 };             // cells: tensor cores read from multiples of 16 bytes
static const int64_t SHARE[2] = {3, 4}; // least part of the param's cells that are copied

typedef struct {
  Plan *p;
  PlanUses u;
  uint32_t param;
  Ids copy; // nodes that copy slices of the param
} Bf16State;

// Is the output a bfloat16 wire that this node alone makes and that is no alias?
static bool makes_own_bf16(const Bf16State *r, const PlanNode *x) {
  const PlanWire *to = &r->p->wire.at[x->out.wire];
  return to->number == NUMBER_BF16 && to->alias_of == PLAN_NONE && !r->u.escapes[x->out.wire] &&
         r->u.maker[x->out.wire] == (uint32_t)(x - r->p->node.at);
}

// Are both wires contiguous and accessed in the same order?
static bool copies_in_order(const Plan *p, const PlanNode *x) {
  return wire_is_row_major(p, x->in[0].wire) && wire_is_row_major(p, x->out.wire) &&
         operands_same_access(p, &x->in[0], &x->out);
}

// Does a node copy a contiguous slice of the param into a bfloat16 wire of its own?
static bool is_slice_copy(const Bf16State *r, const PlanNode *x) {
  const Plan *p = r->p;
  if (!node_is_copy(x) || !node_is_elementwise(x) || x->in[0].padded) return false;
  const PlanWire *to = &p->wire.at[x->out.wire], *from = &p->wire.at[x->in[0].wire];
  uint32_t state = p->param.at[r->param];
  bool piece = x->in[0].wire == state || (from->alias_of == state && !from->scan_moves);
  return piece && from->number == NUMBER_F32 && makes_own_bf16(r, x) && copies_in_order(p, x) &&
         from->count == to->count && from->offset % ALIGNED_CELLS == 0;
}

// Does one node make the next value, element by element and contiguously? A param without a next
// value stays as it is.
static bool is_updated_elementwise(const Bf16State *r) {
  const Plan *p = r->p;
  uint32_t next = p->next.at[r->param], state = p->param.at[r->param];
  if (next == PLAN_NONE) return true;
  uint32_t maker = r->u.maker[next];
  if (maker >= p->node.n || !node_is_elementwise(&p->node.at[maker])) return false;
  uint32_t index[PLAN_AXES];
  const PlanWire *w = &p->wire.at[next];
  return w->rank == 1 && w->number == NUMBER_F32 && w->alias_of == PLAN_NONE &&
         w->count == p->wire.at[state].count &&
         operand_is_permutation(p, &p->node.at[maker].out, index);
}

static bool find_copies(Bf16State *r) {
  Plan *p = r->p;
  const PlanWire *state = &p->wire.at[p->param.at[r->param]];
  int64_t cells = 0;
  if (!state->rank || state->number != NUMBER_F32 || !wire_is_row_major(p, p->param.at[r->param]) ||
      !is_updated_elementwise(r))
    return false;
  for (uint32_t i = 0; i < p->node.n; i++) {
    if (!is_slice_copy(r, &p->node.at[i])) continue;
    vec_push(p->arena, &r->copy, i);
    cells += p->wire.at[p->node.at[i].out.wire].count;
  }
  return r->copy.n && cells * SHARE[1] >= state->count * SHARE[0];
}

// -- memory ---------------------------------------------------------------------------------------
// Peak memory of a step without the copies.
static int64_t peak_without_copies(const Bf16State *r) {
  Plan *p = r->p;
  for (uint32_t i = 0; i < r->copy.n; i++)
    p->wire.at[p->node.at[r->copy.at[i]].out.wire].place = AT_STATE;
  int64_t most = plan_peak_bytes(p);
  for (uint32_t i = 0; i < r->copy.n; i++)
    p->wire.at[p->node.at[r->copy.at[i]].out.wire].place = AT_NOWHERE;
  return most;
}

static bool fits_memory(const Bf16State *r) {
  const Plan *p = r->p;
  int64_t more = p->wire.at[p->param.at[r->param]].count * (int64_t)number_bytes(NUMBER_BF16);
  if (more <= p->target->bf16_weight_bytes) return true;
  int64_t most = plan_peak_bytes(r->p);
  return peak_without_copies(r) + more <= most + most / MEMORY_SHARE;
}

// -- the state ------------------------------------------------------------------------------------
// Adds the state; the copies become aliases of its slices.
static void add_copy_state(Bf16State *r) {
  Plan *p = r->p;
  uint32_t from = p->param.at[r->param], state = wire_new_bf16(p, from);
  p->wire.at[state].place = AT_STATE;
  p->wire.at[state].number_of = p->param.n;
  for (uint32_t i = 0; i < r->copy.n; i++) {
    PlanNode *x = &p->node.at[r->copy.at[i]];
    PlanWire *w = &p->wire.at[x->out.wire];
    w->alias_of = state;
    w->offset = p->wire.at[x->in[0].wire].offset;
    x->kind = NODE_GONE;
  }
  vec_push(p->arena, &p->bf16_copy, ((PlanBf16Copy){.param = r->param, .copy = p->param.n}));
  vec_push(p->arena, &p->param, state);
}

// Adds the copy's next value. Its node follows the node that makes the next weights.
static void add_copy_next(Bf16State *r) {
  Plan *p = r->p;
  uint32_t from = p->next.at[r->param], next = PLAN_NONE;
  if (from != PLAN_NONE) {
    uint32_t maker = r->u.maker[from], n = p->node.n;
    next = wire_new_bf16(p, from);
    p->wire.at[next].needs_memory = true;
    PlanNode copy = node_for_copy(p, from, next, p->node.at[maker].origin);
    vec_push(p->arena, &p->node, copy);
    memmove(&p->node.at[maker + 2], &p->node.at[maker + 1], (n - maker - 1) * sizeof *p->node.at);
    p->node.at[maker + 1] = copy;
  }
  vec_push(p->arena, &p->next, next);
}

void plan_bf16_weights(Plan *p) {
  for (uint32_t i = 0, n = p->param.n; i < n; i++) {
    Bf16State r = {.p = p, .param = i, .u = plan_uses(p)};
    if (!find_copies(&r) || !fits_memory(&r)) continue;
    add_copy_state(&r);
    add_copy_next(&r);
  }
}
