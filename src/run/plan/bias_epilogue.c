// Bias as an epilogue of a large matrix product. A bias that is not added by the product's readers
// (sink_producers.c), because these are products or attention, is added by the product itself:
// libraries do so almost for free, and a kernel that reads and writes the whole result is saved.
// The bias is bfloat16, as the result is.
#include "run/plan/plan.h"

// Operations. Smaller products have epilogues (product_epilogue.c).
static const double LIBRARY_WORK = 1e8;

static double product_work(const Plan *p, const PlanNode *x) {
  double work = 2;
  for (uint32_t i = 0; i < x->nindex; i++) work *= (double)extent_most(p, x->index[i]);
  return work;
}

// The product that makes an operand, if nothing else reads its result.
static PlanNode *product_feeding(Plan *p, const PlanUses *u, const Operand *o) {
  uint32_t maker = u->maker[o->wire];
  if (maker >= p->node.n || u->escapes[o->wire] || u->reader[o->wire].n != 1) return NULL;
  PlanNode *x = &p->node.at[maker];
  bool large = x->kind == NODE_PRODUCT && product_work(p, x) > LIBRARY_WORK;
  return large && node_may_move(x) && x->nin == 2 ? x : NULL;
}

// Is the operand a row along the last axes of the sum, which are the columns of the product?
static bool is_column_bias(const Plan *p, const PlanNode *sum, const Operand *row,
                           const PlanNode *x) {
  uint32_t to[PLAN_AXES], of[PLAN_AXES], made[PLAN_AXES];
  uint32_t rank = p->wire.at[sum->out.wire].rank, n = p->wire.at[row->wire].rank;
  if (!n || n >= rank || p->wire.at[row->wire].number != NUMBER_F32 || x->product->nn != n ||
      !operand_is_permutation(p, &sum->out, to) || !operand_is_permutation(p, row, of) ||
      !operand_is_permutation(p, &x->out, made))
    return false;
  for (uint32_t i = 0; i < n; i++)
    if (of[i] != to[rank - n + i] || x->product->n[i] != made[rank - n + i]) return false;
  return true;
}

// A library writes a row-major matrix. The sum may have another layout, chosen for attention
// kernels; it may be made row-major if its readers accept any layout.
static bool may_be_row_major(const Plan *p, const PlanUses *u, uint32_t wire) {
  const PlanWire *w = &p->wire.at[wire];
  if (w->alias_of != PLAN_NONE || u->escapes[wire]) return false;
  for (uint32_t i = 0; i < u->reader[wire].n; i++) {
    const PlanNode *y = &p->node.at[u->reader[wire].at[i]];
    if (y->kind != NODE_NEST && !y->attention) return false;
  }
  return true;
}

// Appends the bias as the product's third operand.
static void append_bias(Plan *p, PlanNode *x, uint32_t wire) {
  uint32_t n = x->product->nn;
  Operand *in = NEW_ARRAY(p->arena, Operand, 3);
  PlanTerm *term = NEW_ARRAY(p->arena, PlanTerm, n);
  memcpy(in, x->in, 2 * sizeof *in);
  in[2] = (Operand){.wire = wire, .coord = NEW_ARRAY(p->arena, PlanCoord, n), .used = true};
  for (uint32_t i = 0; i < n; i++) {
    term[i] = (PlanTerm){.coef = 1, .var = x->product->n[i]};
    in[2].coord[i] = (PlanCoord){.n = 1, .term = &term[i]};
  }
  x->in = in;
  x->nin = 3;
}

// The bias to be copied to bfloat16 before a node; PLAN_NONE: none.
typedef struct {
  uint32_t row, copy;
} BiasCopy;

static bool fuse_bias(Plan *p, const PlanUses *u, uint32_t node, uint32_t k, BiasCopy *copy) {
  PlanNode *sum = &p->node.at[node];
  const Operand *row = &sum->in[1 - k];
  PlanNode *x = product_feeding(p, u, &sum->in[k]);
  if (!x || !operands_same_access(p, &sum->in[k], &sum->out) || !is_column_bias(p, sum, row, x) ||
      u->maker[row->wire] != PLAN_NONE || u->maker[sum->out.wire] != node ||
      !(wire_is_row_major(p, sum->out.wire) || may_be_row_major(p, u, sum->out.wire)) ||
      !nodes_movable(p, (uint32_t)(x - p->node.at), node))
    return false;
  BiasCopy *c = &copy[x - p->node.at];
  c->row = row->wire;
  c->copy = wire_new_bf16(p, row->wire);
  append_bias(p, x, c->copy);
  x->out.wire = sum->out.wire;
  wire_set_row_major(p, x->out.wire);
  sum->kind = NODE_GONE;
  return true;
}

void plan_bias_epilogue(Plan *p) {
  uint32_t n = p->node.n;
  PlanUses u = plan_uses(p);
  BiasCopy *copy = NEW_ARRAY(p->arena, BiasCopy, n + 1);
  bool any = false;
  for (uint32_t i = 0; i < n; i++) copy[i].copy = PLAN_NONE;
  for (uint32_t i = 0; i < n; i++)
    if (node_is_sum_of_two(&p->node.at[i]) &&
        p->wire.at[p->node.at[i].out.wire].number == NUMBER_BF16)
      any |= fuse_bias(p, &u, i, 0, copy) || fuse_bias(p, &u, i, 1, copy);
  if (!any) return;
  const PlanNode *all = arena_copy(p->arena, p->node.at, n * sizeof *all);
  p->node.n = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (copy[i].copy != PLAN_NONE)
      vec_push(p->arena, &p->node, node_for_copy(p, copy[i].row, copy[i].copy, all[i].origin));
    vec_push(p->arena, &p->node, all[i]);
  }
}
