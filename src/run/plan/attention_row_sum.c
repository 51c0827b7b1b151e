// Row sums of attention without scores. Where A and S are scores, and S is a product,
//
//   Σ_j A_ij S_ij = Σ_j A_ij Σ_d X_id Y_jd = Σ_d X_id (Σ_j A_ij Y_jd)
//
// If the plan computes the parenthesis anyway (the output of attention, when its gradient is
// needed), the sum over all positions becomes a sum over d, which is short. In: a row sum. Out: two
// nodes that replace the row sum: the short sum, and a function of it.
#include "core/diagram/ops.h"
#include "run/plan/plan.h"

typedef struct {
  Plan *p;
  const uint32_t *maker;           // [wire] of scores: the node that makes it; else PLAN_NONE
  const PlanNode *x;               // the row sum
  uint32_t a, s;                   // its operands that are scores; s is made by a product
  uint32_t rank, summed;           // axes of scores; the one that is summed over
  uint32_t at[PLAN_AXES];          // [axis] the row sum's index
  const PlanNode *scores, *output; // the product that makes S; Σ_j A_ij Y_jd
  uint32_t scores_at[PLAN_AXES], output_at[PLAN_AXES]; // [axis] their indices
  uint32_t output_column;                              // the output's index d
} ShortRowSum;

// -- the body of the row sum ----------------------------------------------------------------------
// Degrees of a scalar as a monomial in A and S. `zero`: 0 for all A and S; `other`: no monomial.
typedef struct {
  uint32_t a, s;
  bool zero, other;
} Degree;

static bool same_degree(Degree x, Degree y) { return x.a == y.a && x.s == y.s; }

static Degree chosen_degree(Degree by, Degree x, Degree y) {
  if (by.a || by.s || (!x.zero && !y.zero && !same_degree(x, y))) return (Degree){.other = true};
  return x.zero ? y : x;
}

static Degree degree_of(const ShortRowSum *g, const Degree *known, uint32_t i) {
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

// Is the body A · S, times a factor that is the same for the whole row?
static bool is_product_of_both(const ShortRowSum *g) {
  const PlanNode *x = g->x;
  Degree *known = NEW_ARRAY(g->p->arena, Degree, x->nscalar + 1);
  for (uint32_t i = 0; i < x->nscalar; i++) {
    if (x->scalar[i].fn == FN_AT && x->scalar[i].ref == g->at[g->summed]) return false;
    known[i] = degree_of(g, known, i);
  }
  Degree d = known[x->nscalar - 1];
  return !d.other && d.a == 1 && d.s == 1;
}

// -- makers of the factors ------------------------------------------------------------------------
static bool find_factors(ShortRowSum *g) {
  const PlanNode *x = g->x;
  uint32_t pairs = 0;
  g->a = g->s = PLAN_NONE;
  for (uint32_t i = 0; i < x->nin; i++) {
    uint32_t maker = g->maker[x->in[i].wire];
    if (!operand_is_affine(g->p, &x->in[i])) return false;
    if (maker == PLAN_NONE) continue;
    pairs++;
    *(g->p->node.at[maker].kind == NODE_PRODUCT ? &g->s : &g->a) = i;
  }
  if (pairs != 2 || g->a == PLAN_NONE || g->s == PLAN_NONE) return false;
  g->scores = &g->p->node.at[g->maker[x->in[g->s].wire]];
  g->rank = g->p->wire.at[x->in[g->a].wire].rank;
  if (!operand_is_permutation(g->p, &x->in[g->a], g->at)) return false;
  for (uint32_t i = 0; i < g->rank; i++)
    if (x->reduced[g->at[i]]) g->summed = i;
  for (uint32_t i = 0; i < x->nin; i++)
    if (i != g->a && i != g->s && operand_uses_index(g->p, &x->in[i], g->at[g->summed]))
      return false;
  return operand_is_permutation(g->p, &g->scores->out, g->scores_at) &&
         g->scores->nindex == g->rank + 1;
}

// The source of a chain of copies.
static uint32_t copy_source(const ShortRowSum *g, uint32_t wire) {
  uint32_t maker, in[PLAN_AXES], out[PLAN_AXES];
  while ((maker = g->maker[wire]) != PLAN_NONE) {
    const PlanNode *y = &g->p->node.at[maker];
    if (!node_is_copy(y) || !operand_is_permutation(g->p, &y->in[0], in) ||
        !operand_is_permutation(g->p, &y->out, out) || memcmp(in, out, g->rank * sizeof *in))
      break;
    wire = y->in[0].wire;
  }
  return wire;
}

// The factor of S that is accessed by the summed position (Y), or the other one (X).
static const Operand *scores_factor(const ShortRowSum *g, bool summed) {
  const Product *q = g->scores->product;
  bool first = q->m[0] == g->scores_at[g->summed];
  return &g->scores->in[first == summed ? q->a : q->b];
}

// Does the output's product access the same cells of Y as S does?
static bool is_same_rows(const ShortRowSum *g, const Operand *rows) {
  const Plan *p = g->p;
  const Operand *y = scores_factor(g, true);
  uint32_t d = g->scores->product->k[0];
  if (y->wire != rows->wire || !operand_is_affine(p, y) || !operand_is_affine(p, rows) ||
      operand_start(p, y) != operand_start(p, rows) ||
      operand_step(p, y, d) != operand_step(p, rows, g->output_column) ||
      !extent_same(g->scores->index[d], g->output->index[g->output_column]))
    return false;
  for (uint32_t i = 0; i < g->rank; i++)
    if (operand_step(p, y, g->scores_at[i]) != operand_step(p, rows, g->output_at[i])) return false;
  return true;
}

static bool is_same_weighted_sum(ShortRowSum *g, const PlanNode *o) {
  const Product *q = o->product;
  if (o->kind != NODE_PRODUCT || o->depth || o->pinned || !product_has_single_indices(q))
    return false;
  if (o->nindex != g->rank + 1 || !operand_is_affine(g->p, &o->out)) return false;
  for (uint32_t k = 0; k < 2; k++) {
    const Operand *weights = &o->in[k ? q->b : q->a], *rows = &o->in[k ? q->a : q->b];
    if (copy_source(g, weights->wire) != copy_source(g, g->x->in[g->a].wire) ||
        !operand_is_permutation(g->p, weights, g->output_at) || g->output_at[g->summed] != q->k[0])
      continue;
    g->output = o;
    g->output_column = k ? q->m[0] : q->n[0];
    if (is_same_rows(g, rows)) return true;
  }
  return false;
}

// -- replacement ----------------------------------------------------------------------------------
// The operand with its indices renumbered.
static Operand renumbered(const ShortRowSum *g, const Operand *o, const uint32_t *to) {
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

// Σ_d X_id · output_id. The index d replaces the summed position.
static PlanNode short_sum(const ShortRowSum *g, uint32_t out) {
  Plan *p = g->p;
  PlanNode y = node_clone(p, g->x);
  uint32_t from_scores[PLAN_AXES + 1], from_output[PLAN_AXES + 1], d = g->scores->product->k[0];
  for (uint32_t i = 0; i < g->rank; i++) {
    from_scores[g->scores_at[i]] = g->at[i];
    from_output[g->output_at[i]] = g->at[i];
  }
  from_scores[d] = from_output[g->output_column] = g->at[g->summed];
  y.index = arena_copy(p->arena, y.index, y.nindex * sizeof *y.index);
  y.index[g->at[g->summed]] = g->scores->index[d];
  y.nin = 2;
  y.in = NEW_ARRAY(p->arena, Operand, 2);
  y.in[0] = renumbered(g, scores_factor(g, false), from_scores);
  y.in[1] = renumbered(g, &g->output->out, from_output);
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

// The row sum's body with the short sum in place of S, and 1 in place of A. The summed loop is
// gone.
static PlanNode scaled_sum(const ShortRowSum *g, uint32_t in) {
  Plan *p = g->p;
  const PlanNode *x = g->x;
  uint32_t gone = g->at[g->summed], to[PLAN_AXES + 1] = {0};
  PlanNode y = node_clone(p, x);
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

bool attention_short_row_sum(Plan *p, const uint32_t *maker, uint32_t node, PlanNode to[2]) {
  ShortRowSum g = {.p = p, .maker = maker, .x = &p->node.at[node]};
  if (g.x->kind != NODE_NEST || g.x->combine != SUM || !find_factors(&g) || !is_product_of_both(&g))
    return false;
  uint32_t o = 0;
  while (o < node && !is_same_weighted_sum(&g, &p->node.at[o])) o++;
  if (o == node) return false;
  uint32_t wire = wire_new_like(p, g.x->out.wire);
  to[0] = short_sum(&g, wire);
  to[1] = scaled_sum(&g, wire);
  return true;
}
