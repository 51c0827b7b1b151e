// Weights that are kept rounded from step to step. Large products read weights as bfloat16 (narrow.c), and a kernel for each would
// read all weights as floats once more in every step. Where most cells of a state are copied so, the copies are pieces of one wire
// that is a state of its own: what makes the next value of the weights, cell by cell, makes that of the copy, too. Whoever runs the
// plan sees to it that the copy is that of the weights in front of a step, if others have changed them (p->rounded).
//
// Such a state takes memory all the time, copies only between their first and last reader: where a step needs most of its memory
// while few of them are there, they stay copies, unless all weights are little.
#include "run/plan/plan.h"

enum { MEMORY_SHARE = 1000 }; // one part of so many may come on top
enum { BEGINS_BY = 8 }; // cells: what the matrix units are fed with begins at multiples of 16 bytes
static const int64_t SHARE[2] = {3, 4}; // of the cells, at least

typedef struct {
  Plan *p;
  PlanUses u;
  uint32_t param;
  Ids copy; // nodes that copy pieces of it
} Rounding;

// The cells of a param that a node copies, as they lie, into a narrow wire of its own.
static bool copies_piece(const Rounding *r, const PlanNode *x) {
  const Plan *p = r->p;
  if (!node_copies(x) || !node_plain(x) || x->in[0].padded) return false;
  const PlanWire *to = &p->wire.at[x->out.wire], *from = &p->wire.at[x->in[0].wire];
  uint32_t state = p->param.at[r->param];
  bool piece = x->in[0].wire == state || (from->of == state && !from->moves);
  return piece && to->number == NUMBER_BF16 && from->number == NUMBER_F32 && to->of == PLAN_NONE &&
         !r->u.seen[x->out.wire] && r->u.maker[x->out.wire] == (uint32_t)(x - p->node.at) &&
         wire_lies_plain(p, x->in[0].wire) && wire_lies_plain(p, x->out.wire) &&
         operands_alike(p, &x->in[0], &x->out) && from->count == to->count &&
         from->offset % BEGINS_BY == 0;
}

// Does one node make the next value, cell by cell as it lies? What has none stays as it is.
static bool steps_by_cells(const Rounding *r) {
  const Plan *p = r->p;
  uint32_t next = p->next.at[r->param], state = p->param.at[r->param];
  if (next == PLAN_NONE) return true;
  uint32_t maker = r->u.maker[next];
  if (maker >= p->node.n || !node_plain(&p->node.at[maker])) return false;
  uint32_t index[PLAN_AXES];
  const PlanWire *w = &p->wire.at[next];
  return w->rank == 1 && w->number == NUMBER_F32 && w->of == PLAN_NONE &&
         w->count == p->wire.at[state].count && operand_whole(p, &p->node.at[maker].out, index);
}

static bool find_copies(Rounding *r) {
  Plan *p = r->p;
  const PlanWire *state = &p->wire.at[p->param.at[r->param]];
  int64_t cells = 0;
  if (!state->rank || state->number != NUMBER_F32 || !wire_lies_plain(p, p->param.at[r->param]) ||
      !steps_by_cells(r))
    return false;
  for (uint32_t i = 0; i < p->node.n; i++) {
    if (!copies_piece(r, &p->node.at[i])) continue;
    vec_push(p->arena, &r->copy, i);
    cells += p->wire.at[p->node.at[i].out.wire].count;
  }
  return r->copy.n && cells * SHARE[1] >= state->count * SHARE[0];
}

// -- memory ---------------------------------------------------------------------------------------
// What a step takes without the copies.
static int64_t most_without(const Rounding *r) {
  Plan *p = r->p;
  for (uint32_t i = 0; i < r->copy.n; i++)
    p->wire.at[p->node.at[r->copy.at[i]].out.wire].place = AT_STATE;
  int64_t most = plan_most_at_once(p);
  for (uint32_t i = 0; i < r->copy.n; i++)
    p->wire.at[p->node.at[r->copy.at[i]].out.wire].place = AT_NOWHERE;
  return most;
}

static bool has_room(const Rounding *r) {
  const Plan *p = r->p;
  int64_t more = p->wire.at[p->param.at[r->param]].count * (int64_t)number_bytes(NUMBER_BF16);
  if (more <= p->target->rounded_bytes) return true;
  int64_t most = plan_most_at_once(r->p);
  return most_without(r) + more <= most + most / MEMORY_SHARE;
}

// -- the state --------------------------------------------------------------------------------------
// The state itself, of which the copies are pieces now.
static void add_state(Rounding *r) {
  Plan *p = r->p;
  uint32_t from = p->param.at[r->param], state = plan_wire_narrow(p, from);
  p->wire.at[state].place = AT_STATE;
  p->wire.at[state].number_of = p->param.n;
  for (uint32_t i = 0; i < r->copy.n; i++) {
    PlanNode *x = &p->node.at[r->copy.at[i]];
    PlanWire *w = &p->wire.at[x->out.wire];
    w->of = state;
    w->offset = p->wire.at[x->in[0].wire].offset;
    x->kind = NODE_GONE;
  }
  vec_push(p->arena, &p->rounded, ((PlanRounded){.param = r->param, .as = p->param.n}));
  vec_push(p->arena, &p->param, state);
}

// Its next value, behind that of the weights.
static void add_next(Rounding *r) {
  Plan *p = r->p;
  uint32_t from = p->next.at[r->param], next = PLAN_NONE;
  if (from != PLAN_NONE) {
    uint32_t maker = r->u.maker[from], n = p->node.n;
    next = plan_wire_narrow(p, from);
    p->wire.at[next].kept = true;
    PlanNode copy = plan_copy(p, from, next, p->node.at[maker].origin);
    vec_push(p->arena, &p->node, copy);
    memmove(&p->node.at[maker + 2], &p->node.at[maker + 1], (n - maker - 1) * sizeof *p->node.at);
    p->node.at[maker + 1] = copy;
  }
  vec_push(p->arena, &p->next, next);
}

void plan_rounded(Plan *p) {
  for (uint32_t i = 0, n = p->param.n; i < n; i++) {
    Rounding r = {.p = p, .param = i, .u = plan_uses(p)};
    if (!find_copies(&r) || !has_room(&r)) continue;
    add_state(&r);
    add_next(&r);
  }
}
