// Masks of attention kernels. A mask sets a score to -inf unless one position is at most (or less
// than) the other. If all that is made of masked scores is 0, or -inf under a maximum, tiles wholly
// outside of the mask can be skipped. The value of each node outside of the mask is inferred from
// its scalars (constant propagation). Values from outside the kernel are taken to be finite: if one
// is not, the scores inside of the mask are not finite either.
#include "core/diagram/ops.h"
#include "run/plan/plan.h"

#include <math.h>

typedef enum { ANYTHING, ZERO, MINUS_INFINITY } Outside;

// A comparison of both positions: at(less) <= at(more), or < if strict.
static bool is_comparison(const PlanNode *x, uint32_t i, AttentionMask *m) {
  const Scalar *s = &x->scalar[i];
  if (s->fn != FN_le && s->fn != FN_lt) return false;
  const Scalar *a = &x->scalar[s->arg[0]], *b = &x->scalar[s->arg[1]];
  if (a->fn != FN_AT || b->fn != FN_AT) return false;
  *m = (AttentionMask){x->var[a->ref], x->var[b->ref], s->fn == FN_lt};
  return m->less != m->more;
}

static bool same_mask(AttentionMask a, AttentionMask b) {
  return a.less == b.less && a.more == b.more && a.strict == b.strict;
}

static bool is_lowest(const Scalar *s) { return s->fn == FN_CONST && s->k == -INFINITY; }

// Finds a select between a value inside of the mask and -inf outside.
static bool find_mask(const Plan *p, const Kernel *k, AttentionMask *m) {
  for (uint32_t n = 0; n < k->node.n; n++) {
    const PlanNode *x = &p->node.at[k->node.at[n]];
    for (uint32_t i = 0; x->kind == NODE_NEST && i < x->nscalar; i++) {
      const Scalar *s = &x->scalar[i];
      if (s->fn == FN_select && is_lowest(&x->scalar[s->arg[2]]) &&
          is_comparison(x, s->arg[0], m) && m->less >= k->np && m->more >= k->np)
        return true;
    }
  }
  return false;
}

static Outside value_outside(const PlanNode *x, const Outside *known, uint32_t i,
                             AttentionMask mask) {
  const Scalar *s = &x->scalar[i];
  AttentionMask own;
  Outside a = s->fn > FN_SIZE ? known[s->arg[0]] : ANYTHING,
          b = s->fn > FN_SIZE && fn_rows[s->fn].arity > 1 ? known[s->arg[1]] : ANYTHING;
  switch (s->fn) {
  case FN_CONST: return s->k == 0 ? ZERO : is_lowest(s) ? MINUS_INFINITY : ANYTHING;
  case FN_select:
    if (is_comparison(x, s->arg[0], &own) && same_mask(own, mask)) return known[s->arg[2]];
    return b == known[s->arg[2]] ? b : ANYTHING;
  case FN_exp: return a == MINUS_INFINITY ? ZERO : ANYTHING;
  case FN_sub: return a == MINUS_INFINITY && b == ANYTHING ? MINUS_INFINITY : ANYTHING;
  case FN_add:
    return (a == MINUS_INFINITY) != (b == MINUS_INFINITY) && a != ZERO && b != ZERO ? MINUS_INFINITY
                                                                                    : ANYTHING;
  case FN_neg: return a == ZERO ? ZERO : ANYTHING;
  case FN_mul:
    return (a == ZERO && b != MINUS_INFINITY) || (b == ZERO && a != MINUS_INFINITY) ? ZERO
                                                                                    : ANYTHING;
  case FN_div: return a == ZERO && b == ANYTHING ? ZERO : ANYTHING;
  default: return ANYTHING;
  }
}

// The value of a node outside of the mask. made[i]: the value of node i of the kernel, i < n.
static Outside node_outside(const Plan *p, const Kernel *k, uint32_t n, const Outside *made,
                            AttentionMask mask) {
  const PlanNode *x = &p->node.at[k->node.at[n]];
  Outside *known = NEW_ARRAY(p->arena, Outside, x->nscalar + 1);
  for (uint32_t i = 0; i < x->nscalar; i++) {
    known[i] = value_outside(x, known, i, mask);
    for (uint32_t m = 0; x->scalar[i].fn == FN_ARG && m < n; m++)
      if (p->node.at[k->node.at[m]].out.wire == x->in[x->scalar[i].ref].wire) known[i] = made[m];
  }
  return known[x->nscalar - 1];
}

static Outside weight_outside(const Plan *p, const Kernel *k, uint32_t n, const Outside *made) {
  const PlanNode *x = &p->node.at[k->node.at[n]];
  for (uint32_t m = 0; m < n; m++)
    for (uint32_t i = 0; i < x->nin; i++)
      if (p->node.at[k->node.at[m]].out.wire == x->in[i].wire) return made[m];
  return ANYTHING;
}

bool attention_mask(const Plan *p, const Kernel *k, AttentionMask *mask) {
  Outside *made = NEW_ARRAY(p->arena, Outside, k->node.n + 1);
  if (!find_mask(p, k, mask)) return false;
  for (uint32_t n = 0; n < k->node.n; n++) {
    const PlanNode *x = &p->node.at[k->node.at[n]];
    bool product = x->kind == NODE_PRODUCT;
    made[n] = product ? ANYTHING : node_outside(p, k, n, made, *mask);
    if (product && !node_makes_scores(x) && weight_outside(p, k, n, made) != ZERO) return false;
    if (!product && node_has_reduction(x) &&
        !(x->combine == SUM ? made[n] == ZERO : x->combine == MAX && made[n] == MINUS_INFINITY))
      return false;
  }
  return true;
}

const PlanNode *attention_inside_mask(const Plan *p, const PlanNode *x, AttentionMask mask) {
  PlanNode *y = NEW(p->arena, PlanNode);
  AttentionMask own;
  *y = *x;
  y->scalar = arena_copy(p->arena, x->scalar, x->nscalar * sizeof *x->scalar);
  for (uint32_t i = 0; i < x->nscalar; i++)
    if (is_comparison(x, i, &own) && same_mask(own, mask))
      y->scalar[i] = (Scalar){.fn = FN_CONST, .base = x->scalar[i].base, .k = 1};
  return y;
}
