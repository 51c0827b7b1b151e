// A sum of pairs that another result knows already. Where A and S are numbers of pairs, and S is a product,
//
//   Σ_j A_ij S_ij = Σ_j A_ij Σ_d X_id Y_jd = Σ_d X_id (Σ_j A_ij Y_jd)
//
// and if the plan makes what stands in parentheses anyway (attention's result, when its gradient is wanted), the
// sum over all pairs becomes one over a short row. In comes a sum over one place; out go two nodes that
// take its place: the short sum, and what is made of it.
#include "run/plan/plan.h"

typedef struct {
  Plan *p;
  const uint32_t *maker;           // [wire] of pairs: the node that makes it; else PLAN_NONE
  const PlanNode *x;               // the sum
  uint32_t a, s;                   // its operands that are pairs; s is a product's
  uint32_t rank, over;             // axes of pairs; the one that is summed over
  uint32_t at[PLAN_AXES];          // [axis] the sum's index
  const PlanNode *seed, *weighing; // what makes S, and the other result
  uint32_t seed_at[PLAN_AXES], weighing_at[PLAN_AXES]; // [axis] their indices
  uint32_t along;                                      // the weighing's index along its rows
} WeighedSum;

// -- what is summed -------------------------------------------------------------------------------
// How often A and S are factors of a number; `zero`: it is 0 whatever they are; `other`: they are more than factors.
typedef struct {
  uint32_t a, s;
  bool zero, other;
} Degree;

static bool same_degree(Degree x, Degree y) { return x.a == y.a && x.s == y.s; }

static Degree chosen_degree(Degree by, Degree x, Degree y) {
  if (by.a || by.s || (!x.zero && !y.zero && !same_degree(x, y))) return (Degree){.other = true};
  return x.zero ? y : x;
}

static Degree degree_of(const WeighedSum *g, const Degree *known, uint32_t i) {
  const Scalar *f = &g->x->scalar[i];
  if (f->fn == FN_CONST) return (Degree){.zero = f->base == BASE_R && f->k == 0};
  if (f->fn == FN_ARG) return (Degree){.a = f->ref == g->a, .s = f->ref == g->s};
  if (f->fn <= FN_SIZE) return (Degree){0};
  Degree d[3] = {{0}, {0}, {0}}, none = {.other = true};
  bool fixed = true;
  for (uint32_t k = 0; k < fn_rows[f->fn].arity; k++) {
    d[k] = known[f->arg[k]];
    if (d[k].other) return none;
    fixed &= !d[k].a && !d[k].s;
  }
  if (fixed) return (Degree){0};
  switch (f->fn) {
  case FN_neg: return d[0];
  case FN_mul: return (Degree){.a = d[0].a + d[1].a, .s = d[0].s + d[1].s};
  case FN_div: return d[1].a || d[1].s ? none : d[0];
  case FN_select: return chosen_degree(d[0], d[1], d[2]);
  default: return none;
  }
}

// Is the value A · S, times what is the same for all that is summed?
static bool is_product_of_both(const WeighedSum *g) {
  const PlanNode *x = g->x;
  Degree *known = NEW_ARRAY(g->p->arena, Degree, x->nscalar + 1);
  for (uint32_t i = 0; i < x->nscalar; i++) {
    if (x->scalar[i].fn == FN_AT && x->scalar[i].ref == g->at[g->over]) return false;
    known[i] = degree_of(g, known, i);
  }
  Degree d = known[x->nscalar - 1];
  return !d.other && d.a == 1 && d.s == 1;
}

// -- who makes it ---------------------------------------------------------------------------------
static bool find_factors(WeighedSum *g) {
  const PlanNode *x = g->x;
  uint32_t pairs = 0;
  g->a = g->s = PLAN_NONE;
  for (uint32_t i = 0; i < x->nin; i++) {
    uint32_t maker = g->maker[x->in[i].wire];
    if (!operand_free(g->p, &x->in[i])) return false;
    if (maker == PLAN_NONE) continue;
    pairs++;
    *(g->p->node.at[maker].kind == NODE_PRODUCT ? &g->s : &g->a) = i;
  }
  if (pairs != 2 || g->a == PLAN_NONE || g->s == PLAN_NONE) return false;
  g->seed = &g->p->node.at[g->maker[x->in[g->s].wire]];
  g->rank = g->p->wire.at[x->in[g->a].wire].rank;
  if (!operand_whole(g->p, &x->in[g->a], g->at)) return false;
  for (uint32_t i = 0; i < g->rank; i++)
    if (x->reduced[g->at[i]]) g->over = i;
  for (uint32_t i = 0; i < x->nin; i++)
    if (i != g->a && i != g->s && operand_has(g->p, &x->in[i], g->at[g->over])) return false;
  return operand_whole(g->p, &g->seed->out, g->seed_at) && g->seed->nindex == g->rank + 1;
}

// The wire that this one is a copy of, cell by cell.
static uint32_t copied(const WeighedSum *g, uint32_t wire) {
  uint32_t maker, in[PLAN_AXES], out[PLAN_AXES];
  while ((maker = g->maker[wire]) != PLAN_NONE) {
    const PlanNode *y = &g->p->node.at[maker];
    if (!node_copies(y) || !operand_whole(g->p, &y->in[0], in) ||
        !operand_whole(g->p, &y->out, out) || memcmp(in, out, g->rank * sizeof *in))
      break;
    wire = y->in[0].wire;
  }
  return wire;
}

// Of S's factors, the one that has the place that is summed over, or the other one.
static const Operand *seed_factor(const WeighedSum *g, bool summed) {
  const Product *q = g->seed->product;
  bool first = q->m[0] == g->seed_at[g->over];
  return &g->seed->in[first == summed ? q->a : q->b];
}

// Does the weighing product read the same cells of Y as S does?
static bool is_same_rows(const WeighedSum *g, const Operand *rows) {
  const Plan *p = g->p;
  const Operand *y = seed_factor(g, true);
  uint32_t d = g->seed->product->k[0];
  if (y->wire != rows->wire || !operand_free(p, y) || !operand_free(p, rows) ||
      operand_start(p, y) != operand_start(p, rows) ||
      operand_step(p, y, d) != operand_step(p, rows, g->along) ||
      !extent_same(g->seed->index[d], g->weighing->index[g->along]))
    return false;
  for (uint32_t i = 0; i < g->rank; i++)
    if (operand_step(p, y, g->seed_at[i]) != operand_step(p, rows, g->weighing_at[i])) return false;
  return true;
}

static bool weighs_the_same(WeighedSum *g, const PlanNode *o) {
  const Product *q = o->product;
  if (o->kind != NODE_PRODUCT || o->depth || o->pinned || q->nm != 1 || q->nn != 1 || q->nk != 1 ||
      o->nindex != g->rank + 1 || !operand_free(g->p, &o->out))
    return false;
  for (uint32_t k = 0; k < 2; k++) {
    const Operand *weights = &o->in[k ? q->b : q->a], *rows = &o->in[k ? q->a : q->b];
    if (copied(g, weights->wire) != copied(g, g->x->in[g->a].wire) ||
        !operand_whole(g->p, weights, g->weighing_at) || g->weighing_at[g->over] != q->k[0])
      continue;
    g->weighing = o;
    g->along = k ? q->m[0] : q->n[0];
    if (is_same_rows(g, rows)) return true;
  }
  return false;
}

// -- what takes its place -------------------------------------------------------------------------
// An operand whose indices have other numbers.
static Operand renumbered(const WeighedSum *g, const Operand *o, const uint32_t *to) {
  Operand y = *o;
  uint32_t rank = g->p->wire.at[o->wire].rank;
  y.coord = arena_copy(g->p->arena, o->coord, rank * sizeof *o->coord);
  for (uint32_t i = 0; i < rank; i++) {
    PlanCoord *c = &y.coord[i];
    c->term = arena_copy(g->p->arena, c->term, c->n * sizeof *c->term);
    for (uint32_t k = 0; k < c->n; k++) c->term[k].var = to[c->term[k].var];
  }
  return y;
}

// Σ_d X_id · what the weighing has made: its index d is where the sum had its place.
static PlanNode short_sum(const WeighedSum *g, uint32_t out) {
  Plan *p = g->p;
  PlanNode y = plan_again(p, g->x);
  uint32_t from_seed[PLAN_AXES + 1], from_weighing[PLAN_AXES + 1], d = g->seed->product->k[0];
  for (uint32_t i = 0; i < g->rank; i++) {
    from_seed[g->seed_at[i]] = g->at[i];
    from_weighing[g->weighing_at[i]] = g->at[i];
  }
  from_seed[d] = from_weighing[g->along] = g->at[g->over];
  y.index = arena_copy(p->arena, y.index, y.nindex * sizeof *y.index);
  y.index[g->at[g->over]] = g->seed->index[d];
  y.nin = 2;
  y.in = NEW_ARRAY(p->arena, Operand, 2);
  y.in[0] = renumbered(g, seed_factor(g, false), from_seed);
  y.in[1] = renumbered(g, &g->weighing->out, from_weighing);
  y.in[0].used = y.in[1].used = true;
  y.out.wire = out;
  y.nscalar = 3;
  y.scalar = NEW_ARRAY(p->arena, Scalar, 3);
  y.scalar[0] = (Scalar){.fn = FN_ARG, .base = BASE_R, .ref = 0};
  y.scalar[1] = (Scalar){.fn = FN_ARG, .base = BASE_R, .ref = 1};
  y.scalar[2] = (Scalar){.fn = FN_mul, .base = BASE_R, .arg = {0, 1}};
  y.product = NULL;
  return y;
}

// The sum's own value, of the short sum instead of S, and of 1 instead of A; its loop is gone.
static PlanNode value_of_sum(const WeighedSum *g, uint32_t in) {
  Plan *p = g->p;
  const PlanNode *x = g->x;
  uint32_t gone = g->at[g->over], to[PLAN_AXES + 1] = {0};
  PlanNode y = plan_again(p, x);
  y.nindex = 0;
  y.index = NEW_ARRAY(p->arena, Extent, x->nindex);
  y.reduced = NEW_ARRAY(p->arena, bool, x->nindex);
  for (uint32_t i = 0; i < x->nindex; i++) {
    to[i] = y.nindex;
    if (i != gone) y.index[y.nindex++] = x->index[i];
  }
  y.in = NEW_ARRAY(p->arena, Operand, x->nin);
  for (uint32_t i = 0; i < x->nin; i++)
    y.in[i] = renumbered(g, i == g->a || i == g->s ? &x->out : &x->in[i], to);
  y.in[g->s].wire = y.in[g->a].wire = in;
  y.in[g->s].used = y.in[g->a].used = true;
  y.out = renumbered(g, &x->out, to);
  y.scalar = arena_copy(p->arena, x->scalar, x->nscalar * sizeof *x->scalar);
  for (uint32_t i = 0; i < x->nscalar; i++) {
    Scalar *f = &y.scalar[i];
    if (f->fn == FN_AT) f->ref = to[f->ref];
    if (f->fn == FN_ARG && f->ref == g->a) *f = (Scalar){.fn = FN_CONST, .base = BASE_R, .k = 1};
  }
  y.product = NULL;
  return y;
}

bool pairs_weighed(Plan *p, const uint32_t *maker, uint32_t node, PlanNode to[2]) {
  WeighedSum g = {.p = p, .maker = maker, .x = &p->node.at[node]};
  if (g.x->kind != NODE_NEST || g.x->combine != SUM || !find_factors(&g) || !is_product_of_both(&g))
    return false;
  uint32_t o = 0;
  while (o < node && !weighs_the_same(&g, &p->node.at[o])) o++;
  if (o == node) return false;
  uint32_t wire = plan_wire_like(p, g.x->out.wire);
  to[0] = short_sum(&g, wire);
  to[1] = value_of_sum(&g, wire);
  return true;
}
