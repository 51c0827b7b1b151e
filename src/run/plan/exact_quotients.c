// Marks quotients that must be rounded correctly, because a function with jumps reads them: 41 times the
// inverse of 41 is less than 1, and its floor is 0. All other quotients by a value that is invariant in a
// loop may be products with its inverse.
//
// Goes backwards over the nodes until nothing changes: a wire is sharp if a jump depends on it.
#include "core/diagram/ops.h"
#include "run/plan/plan.h"

static bool is_zero(const Scalar *s) { return s->fn == FN_CONST && s->k == 0; }

// The function jumps where its argument k passes some number other than 0. The sign of a quotient does not
// depend on its rounding.
static bool jumps_by(const PlanNode *x, const Scalar *s, uint32_t k) {
  switch (s->fn) {
  case FN_floor:
  case FN_mod:
  case FN_bit: return true;
  case FN_lt:
  case FN_le:
  case FN_eq:
  case FN_ne: return !is_zero(&x->scalar[s->arg[1 - k]]);
  default: return false;
  }
}

// True if another wire has become sharp.
static bool mark_node(const Plan *p, PlanNode *x, bool *sharp) {
  bool more = false, *need = NEW_ARRAY(p->arena, bool, x->nscalar + 1);
  need[x->nscalar - 1] = sharp[wire_root(p, x->out.wire)];
  for (uint32_t i = x->nscalar; i-- > 0;) {
    const Scalar *s = &x->scalar[i];
    for (uint32_t k = 0; s->fn > FN_SIZE && k < fn_rows[s->fn].arity; k++)
      need[s->arg[k]] |= need[i] || jumps_by(x, s, k);
    if (need[i] && s->fn == FN_div) {
      if (!x->exact) x->exact = NEW_ARRAY(p->arena, bool, x->nscalar);
      x->exact[i] = true;
    }
    if (s->fn != FN_ARG || !need[i]) continue;
    uint32_t root = wire_root(p, x->in[s->ref].wire);
    more |= !sharp[root];
    sharp[root] = true;
  }
  return more;
}

void plan_exact_quotients(Plan *p) {
  bool more = true, *sharp = NEW_ARRAY(p->arena, bool, p->wire.n + 1);
  while (more) {
    more = false;
    for (uint32_t i = p->node.n; i-- > 0;)
      if (p->node.at[i].nscalar) more |= mark_node(p, &p->node.at[i], sharp);
  }
}
