// A row that a product adds. Where a bias added to a large product is not made beside what reads it (late.c), because products
// or pairs do, the product itself adds it to each of its rows: libraries do so for next to nothing, and a kernel that reads and
// writes the whole result once more is saved. The row is bfloat16, as the result is.
#include "run/plan/plan.h"

static const double ROW_WORK = 1e8; // multiplications and additions; less is finished (finish.c)

static double product_work(const Plan *p, const PlanNode *x) {
  double work = 2;
  for (uint32_t i = 0; i < x->nindex; i++) work *= (double)extent_most(p, x->index[i]);
  return work;
}

// The product whose result an operand is, if nothing else reads it.
static PlanNode *product_for(Plan *p, const PlanUses *u, const Operand *o) {
  uint32_t maker = u->maker[o->wire];
  if (maker >= p->node.n || u->seen[o->wire] || u->reader[o->wire].n != 1) return NULL;
  PlanNode *x = &p->node.at[maker];
  bool large = x->kind == NODE_PRODUCT && product_work(p, x) > ROW_WORK;
  return large && !x->pinned && !x->depth && !x->pairs && x->nin == 2 ? x : NULL;
}

// Does it stand along the last axes of the sum, which are the columns of the product?
static bool is_row(const Plan *p, const PlanNode *sum, const Operand *row, const PlanNode *x) {
  uint32_t to[PLAN_AXES], of[PLAN_AXES], made[PLAN_AXES];
  uint32_t rank = p->wire.at[sum->out.wire].rank, n = p->wire.at[row->wire].rank;
  if (!n || n >= rank || p->wire.at[row->wire].number != NUMBER_F32 || x->product->nn != n ||
      !operand_whole(p, &sum->out, to) || !operand_whole(p, row, of) ||
      !operand_whole(p, &x->out, made))
    return false;
  for (uint32_t i = 0; i < n; i++)
    if (of[i] != to[rank - n + i] || x->product->n[i] != made[rank - n + i]) return false;
  return true;
}

// A library writes a matrix whose rows lie along memory. The sum may lie in another order, in which pairs like it best, but
// read as well in the order of its axes.
static bool may_lie_plain(const Plan *p, const PlanUses *u, uint32_t wire) {
  const PlanWire *w = &p->wire.at[wire];
  if (w->of != PLAN_NONE || u->seen[wire]) return false;
  for (uint32_t i = 0; i < u->reader[wire].n; i++) {
    const PlanNode *y = &p->node.at[u->reader[wire].at[i]];
    if (y->kind != NODE_NEST && !y->pairs) return false;
  }
  return true;
}

// The row as the product's third operand.
static void take_row(Plan *p, PlanNode *x, uint32_t wire) {
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

// What is to be copied in front of which node.
typedef struct {
  uint32_t row, copy;
} RowCopy;

static bool add_row(Plan *p, const PlanUses *u, uint32_t node, uint32_t k, RowCopy *copy) {
  PlanNode *sum = &p->node.at[node];
  const Operand *row = &sum->in[1 - k];
  PlanNode *x = product_for(p, u, &sum->in[k]);
  if (!x || !operands_alike(p, &sum->in[k], &sum->out) || !is_row(p, sum, row, x) ||
      u->maker[row->wire] != PLAN_NONE || u->maker[sum->out.wire] != node ||
      !(wire_lies_plain(p, sum->out.wire) || may_lie_plain(p, u, sum->out.wire)) ||
      !nodes_movable(p, (uint32_t)(x - p->node.at), node))
    return false;
  RowCopy *c = &copy[x - p->node.at];
  c->row = row->wire;
  c->copy = plan_wire_narrow(p, row->wire);
  take_row(p, x, c->copy);
  x->out.wire = sum->out.wire;
  plan_lay_plain(p, x->out.wire);
  sum->kind = NODE_GONE;
  return true;
}

void plan_rows(Plan *p) {
  uint32_t n = p->node.n;
  PlanUses u = plan_uses(p);
  RowCopy *copy = NEW_ARRAY(p->arena, RowCopy, n + 1);
  bool any = false;
  for (uint32_t i = 0; i < n; i++) copy[i].copy = PLAN_NONE;
  for (uint32_t i = 0; i < n; i++)
    if (node_adds_two(&p->node.at[i]) && p->wire.at[p->node.at[i].out.wire].number == NUMBER_BF16)
      any |= add_row(p, &u, i, 0, copy) || add_row(p, &u, i, 1, copy);
  if (!any) return;
  const PlanNode *all = arena_copy(p->arena, p->node.at, n * sizeof *all);
  p->node.n = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (copy[i].copy != PLAN_NONE)
      vec_push(p->arena, &p->node, plan_copy(p, copy[i].row, copy[i].copy, all[i].origin));
    vec_push(p->arena, &p->node, all[i]);
  }
}
