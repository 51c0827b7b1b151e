// A softmax in one walk. Three results of the same pairs s need each other:
//
//   M = max_j s_j      m = max(M, lowest)      L = Σ_j exp(s_j - m)      R = Σ_j w(exp(s_j - m), L) V_j
//
// but M only as something that numbers are made smaller by: a walk may use the largest number so far, and make
// what it has smaller when that grows. L and R need not wait for M then. w multiplies the exponential by what
// is the same for the whole row, so it may be applied to the sum in the end.
//
// Here such results are found, by what their nodes say; whatever is written otherwise is left as it is.
#include "run/plan/plan.h"

#include <math.h>

typedef struct {
  const Plan *p;
  const uint32_t *maker, *over;
  PairWalk *to;
  uint32_t rank;
  uint32_t row[PLAN_AXES]; // [axis of M] the axis of pairs
} WalkSearch;

static const PlanNode *node_of(const WalkSearch *g, uint32_t i) { return &g->p->node.at[i]; }

// Is this operand of one number for each row, at the row of these pairs?
static bool is_row(const WalkSearch *g, const Operand *o, const uint32_t *pairs) {
  uint32_t at[PLAN_AXES];
  if (g->p->wire.at[o->wire].rank != g->rank - 1 || !operand_whole(g->p, o, at)) return false;
  for (uint32_t i = 0; i + 1 < g->rank; i++)
    if (at[i] != pairs[g->row[i]]) return false;
  return true;
}

static bool is_max(WalkSearch *g, const PlanNode *x) {
  uint32_t in[PLAN_AXES], out[PLAN_AXES];
  if (!node_copies(x) || x->combine != MAX || !operand_whole(g->p, &x->in[0], in) ||
      !operand_whole(g->p, &x->out, out))
    return false;
  g->rank = g->p->wire.at[x->in[0].wire].rank;
  for (uint32_t i = 0; i + 1 < g->rank; i++) {
    uint32_t axis = 0;
    while (axis < g->rank && in[axis] != out[i]) axis++;
    if (axis == g->rank) return false;
    g->row[i] = axis;
  }
  return true;
}

// max(M, a finite number), and nothing else: it grows with M, and is finite where M is not.
static bool is_finite_max(const WalkSearch *g, const PlanNode *x, uint32_t of) {
  uint32_t in[PLAN_AXES], out[PLAN_AXES];
  bool bounded = false;
  if (x->kind != NODE_NEST || node_sums(x) || x->scatter || x->noise || x->depth || x->pinned ||
      x->nin != 1 || x->in[0].wire != of || x->nindex != g->rank - 1 ||
      !operand_whole(g->p, &x->in[0], in) || !operand_whole(g->p, &x->out, out) ||
      memcmp(in, out, (g->rank - 1) * sizeof *in))
    return false;
  for (uint32_t i = 0; i < x->nscalar; i++) {
    const Scalar *s = &x->scalar[i];
    if (s->fn == FN_maximum)
      bounded |= x->scalar[s->arg[1]].fn == FN_CONST && isfinite(x->scalar[s->arg[1]].k);
    else if (s->fn != FN_ARG && s->fn != FN_CONST && s->fn != FN_stop)
      return false;
  }
  return bounded;
}

// exp(s - m)
static bool is_shrunk_exp(const WalkSearch *g, const PlanNode *x, uint32_t s, uint32_t m) {
  uint32_t at[PLAN_AXES];
  if (x->kind != NODE_NEST || x->nin != 2 || x->nscalar != 4 || x->scalar[3].fn != FN_exp ||
      x->scalar[x->scalar[3].arg[0]].fn != FN_sub)
    return false;
  const Scalar *sub = &x->scalar[x->scalar[3].arg[0]], *a = &x->scalar[sub->arg[0]],
               *b = &x->scalar[sub->arg[1]];
  return a->fn == FN_ARG && b->fn == FN_ARG && x->in[a->ref].wire == s && x->in[b->ref].wire == m &&
         operand_whole(g->p, &x->in[a->ref], at) && is_row(g, &x->in[b->ref], at);
}

// -- what weighs ----------------------------------------------------------------------------------
// Is the value of a point the one of these pairs, times what is the same for the whole row?
static bool is_factor(const PlanNode *x, uint32_t pairs) {
  bool has[64] = {false};
  if (x->nscalar > COUNT(has)) return false;
  for (uint32_t i = 0; i < x->nscalar; i++) {
    const Scalar *s = &x->scalar[i];
    bool a = s->fn > FN_SIZE && has[s->arg[0]],
         b = s->fn > FN_SIZE && fn_rows[s->fn].arity > 1 && has[s->arg[1]],
         c = s->fn > FN_SIZE && fn_rows[s->fn].arity > 2 && has[s->arg[2]];
    has[i] = s->fn == FN_ARG ? s->ref == pairs : a || b || c;
    if (has[i] && s->fn > FN_SIZE &&
        !((s->fn == FN_mul && a != b) || (s->fn == FN_div && a && !b) || s->fn == FN_neg))
      return false;
  }
  return has[x->nscalar - 1];
}

// A point that multiplies the pairs it reads, whose operand's number is given back, by numbers of its row, L among
// them; PLAN_NONE: it is none.
static uint32_t factor_operand(const WalkSearch *g, const PlanNode *x, uint32_t l) {
  uint32_t at[PLAN_AXES], pairs = PLAN_NONE;
  if (x->kind != NODE_NEST) return PLAN_NONE;
  for (uint32_t i = 0; i < x->nin; i++) {
    if (!operand_free(g->p, &x->in[i])) return PLAN_NONE;
    if (g->maker[x->in[i].wire] == PLAN_NONE) continue;
    if (pairs != PLAN_NONE) return PLAN_NONE;
    pairs = i;
  }
  if (pairs == PLAN_NONE || !operand_whole(g->p, &x->in[pairs], at)) return PLAN_NONE;
  uint32_t gone = at[g->over[g->to->max]], max = node_of(g, g->to->max)->out.wire,
           row = node_of(g, g->to->row)->out.wire;
  for (uint32_t i = 0; i < x->nin; i++) {
    if (i == pairs) continue;
    if (x->in[i].wire == max || x->in[i].wire == row) return PLAN_NONE;
    if (operand_has(g->p, &x->in[i], gone)) return PLAN_NONE;
    if (x->in[i].wire == l && !is_row(g, &x->in[i], at)) return PLAN_NONE;
  }
  for (uint32_t i = 0; i < x->nscalar; i++)
    if (x->scalar[i].fn == FN_AT && x->scalar[i].ref == gone) return PLAN_NONE;
  return is_factor(x, pairs) ? pairs : PLAN_NONE;
}

static bool weighs_by(const WalkSearch *g, const PlanNode *x, uint32_t e, uint32_t l) {
  if (x->kind != NODE_PRODUCT) return false;
  uint32_t a = x->in[x->product->a].wire,
           wire = g->maker[a] == PLAN_NONE ? x->in[x->product->b].wire : a;
  while (wire != e) {
    if (g->maker[wire] == PLAN_NONE) return false;
    const PlanNode *y = node_of(g, g->maker[wire]);
    uint32_t next = factor_operand(g, y, l);
    if (next == PLAN_NONE) return false;
    wire = y->in[next].wire;
  }
  return true;
}

// -- all of them ----------------------------------------------------------------------------------
static bool walks_alike(const WalkSearch *g, uint32_t i) {
  return g->over[i] == g->over[g->to->max];
}

static bool find_row(WalkSearch *g) {
  uint32_t m = node_of(g, g->to->max)->out.wire;
  for (uint32_t i = g->to->max + 1; i < g->p->node.n; i++)
    if (is_finite_max(g, node_of(g, i), m)) {
      g->to->row = i;
      return true;
    }
  return false;
}

static bool find_sum(WalkSearch *g) {
  uint32_t s = node_of(g, g->to->max)->in[0].wire, m = node_of(g, g->to->row)->out.wire, e;
  for (uint32_t i = g->to->row + 1; i < g->p->node.n; i++) {
    const PlanNode *x = node_of(g, i);
    if (!walks_alike(g, i) || !node_copies(x) || x->combine != SUM) continue;
    e = g->maker[x->in[0].wire];
    if (e == PLAN_NONE || !is_shrunk_exp(g, node_of(g, e), s, m)) continue;
    uint32_t in[PLAN_AXES];
    if (!operand_whole(g->p, &x->in[0], in) || !is_row(g, &x->out, in)) continue;
    g->to->sum = i;
    return true;
  }
  return false;
}

static void find_weighing(WalkSearch *g) {
  const PlanNode *sum = node_of(g, g->to->sum);
  g->to->weighing = PLAN_NONE;
  for (uint32_t i = g->to->sum + 1; i < g->p->node.n && g->to->weighing == PLAN_NONE; i++)
    if (walks_alike(g, i) && weighs_by(g, node_of(g, i), sum->in[0].wire, sum->out.wire))
      g->to->weighing = i;
}

bool pairs_walk(const Plan *p, const uint32_t *maker, const uint32_t *over, uint32_t node,
                PairWalk *to) {
  WalkSearch g = {.p = p, .maker = maker, .over = over, .to = to};
  to->max = node;
  if (over[node] == PLAN_NONE || !is_max(&g, &p->node.at[node]) || !find_row(&g) || !find_sum(&g))
    return false;
  find_weighing(&g);
  return true;
}
