// Products of accesses: which indices are summed, and the one loop that a product becomes.
#include "lang/elab/index_own.h"

typedef struct {
  const Syntax *node;
  bool divides;
} FactorNode;
typedef VEC(FactorNode) FactorNodes;

bool is_access(Env *env, const Syntax *n) {
  if (n->kind != N_AT) return false;
  const Syntax *base = at_base(n);
  if (base->kind != N_NAME)
    return base->kind == N_AT || base->kind == N_CALL || base->kind == N_DOT ||
           base->kind == N_PAREN;
  Binding *bind = env_find(env, base->name);
  if (bind)
    return bind->kind == BIND_VALUE || bind->kind == BIND_STATE ||
           (bind->kind == BIND_LEARNER && !family_of(bind->def));
  Def *d = scope_find(env->scope, base->name);
  return d && (d->kind == DEF_CONST || d->kind == DEF_GIVEN || (is_learner(d) && !family_of(d)));
}

static bool is_product(Env *env, const Syntax *n) {
  if (n->kind == N_PAREN || n->kind == N_NEG) return is_product(env, inner_of(n));
  return n->kind == N_RUN || n->kind == N_PROD || is_access(env, n);
}

static void flatten(Body *b, Env *env, const Syntax *n, bool divides, FactorNodes *out,
                    bool *minus) {
  if (n->kind == N_RUN) {
    for (uint32_t i = 0; i < run_factors(n).n; i++)
      flatten(b, env, run_factors(n).at[i], divides, out, minus);
  } else if (n->kind == N_PROD && !divides) {
    for (uint32_t i = 0; i < prod_factors(n).n; i++)
      flatten(b, env, prod_factors(n).at[i], prod_sign(n, i) == SIGN_DIVIDE, out, minus);
  } else if ((n->kind == N_PAREN || n->kind == N_NEG) && !divides && is_product(env, n)) {
    *minus ^= n->kind == N_NEG;
    flatten(b, env, inner_of(n), divides, out, minus);
  } else {
    vec_push(b->w->arena, out, (FactorNode){n, divides});
  }
}

static bool index_summed_elsewhere(Body *b, Eq *eq, uint32_t from, uint32_t mentions_to,
                                   Span span) {
  for (uint32_t s = from; s < eq->summed.n; s++)
    for (uint32_t m = 0; m < mentions_to; m++)
      if (eq->mention.at[m] == eq->summed.at[s]) {
        const EqIndex *index = &eq->index.at[eq->summed.at[s]];
        Id e = diag_error(b->w->diags, span,
                          "index %s is summed inside this factor and used outside it too",
                          name_text(b->w->names, index->name));
        diag_help(b->w->diags, e, "multiply out, or write `sum[%s](…)` around the whole product",
                  name_text(b->w->names, index->name));
        return true;
      }
  return false;
}

// Which axes of a product are summed: with a left side, those not on it; without, those that occur
// twice.
static bool mark_summed(Body *b, Eq *eq, const Val *v, uint32_t first_mention, bool *sum,
                        bool *bad) {
  World *w = b->w;
  bool any = false;
  for (uint32_t i = 0; i < v->type.rank; i++) {
    uint32_t index, times = 0;
    if (v->type.axis[i].pass || !eq_has(eq, v->type.axis[i].label, &index)) continue;
    EqIndex *e = &eq->index.at[index];
    for (uint32_t m = first_mention; m < eq->mention.n; m++) times += eq->mention.at[m] == index;
    sum[i] = !e->bound && !e->left && (eq->left || times > 1);
    if (e->left || e->bound) continue;
    Span *mine = sum[i] ? &e->summed : &e->free, other = sum[i] ? e->free : e->summed;
    if (!mine->file) *mine = v->span;
    if (!eq->left && other.file) {
      Id d = diag_error(w->diags, v->span,
                        "index %s is %s here but %s in another term: write a left side, `Y[…] = …`",
                        name_text(w->names, e->name), sum[i] ? "summed" : "free",
                        sum[i] ? "free" : "summed");
      diag_note(w->diags, d, other, "the other term");
      *bad = true;
    }
    if (sum[i] && eq->inside && eq->left) {
      const char *name = name_text(w->names, e->name);
      Id d =
          e->told
              ? 0
              : diag_error(w->diags, v->span,
                           "index %s would be summed inside a function, where the sum is ambiguous",
                           name);
      diag_help(w->diags, d, "write `sum[%s](…)` where the sum is meant", name);
      e->told = *bad = true;
      sum[i] = false;
    }
    if (sum[i]) vec_push(w->arena, &eq->summed, index);
    any |= sum[i];
  }
  return any;
}

// In a sum of products a place outside counts as 0 by being skipped.
Expr *without_padding(Body *b, Expr *x, double pad) {
  if (x->kind == X_WIRE && x->padded && x->pad == pad) {
    x = arena_copy(b->w->arena, x, sizeof *x);
    x->padded = false;
  } else if (x->kind == X_FN && x->fn == FN_mul && pad == 0) {
    x = arena_copy(b->w->arena, x, sizeof *x);
    x->arg[0] = without_padding(b, x->arg[0], pad);
    x->arg[1] = without_padding(b, x->arg[1], pad);
  }
  return x;
}

Val times(Body *b, Val left, Val right, Fn fn, Span span, Eq *eq) {
  Val pair[2] = {left, right};
  return val_fn(b, fn, pair, 2, span, eq);
}

// Without a left side the axes stand in the order in which the indices are written.
static Val in_order(Body *b, Val v, const Val *factor, uint32_t n) {
  uint32_t order[RANK_LIMIT], k = 0;
  bool put[RANK_LIMIT] = {false}, same = true;
  if (v.error || !v.indexed) return v;
  for (uint32_t i = 0; i < v.nreduce; i++) put[v.reduce[i]] = true;
  for (uint32_t i = 0; i < v.type.rank; i++)
    if (v.type.axis[i].pass) put[i] = true, order[k++] = i;
  for (uint32_t f = 0; f < n; f++)
    for (uint32_t a = 0; a < factor[f].type.rank; a++)
      for (uint32_t i = 0; i < v.type.rank; i++)
        if (!put[i] && v.type.axis[i].label == factor[f].type.axis[a].label)
          put[i] = true, order[k++] = i;
  for (uint32_t i = 1; i < k; i++) same &= order[i] > order[i - 1];
  if (same) return v;
  if (v.nreduce) {
    val_settle(b, &v);
    return in_order(b, v, factor, n);
  }
  v = val_permute(b, v, order, k);
  v.indexed = true;
  return v;
}

static Val product_of_accesses(Body *b, Env *env, const FactorNodes *f, Eq *eq, Span span,
                               bool *found, Val *factors) {
  Val v = {0};
  *found = false;
  uint32_t first = eq->mention.n;
  for (uint32_t i = 0; i < f->n; i++) {
    const Syntax *n = f->at[i].node;
    if (f->at[i].divides || !is_access(env, n)) continue;
    Value access = eval_access(b, env, n, eq);
    Val factor = access.n == 1 ? access.at[0] : val_error(n->span);
    factors[i] = factor;
    v = *found ? times(b, v, factor, FN_mul, span, eq) : factor;
    *found = true;
  }
  if (!*found || v.error || !v.indexed) return v;
  bool sum[RANK_LIMIT] = {false}, bad = false;
  v.span = span;
  bool any = mark_summed(b, eq, &v, first, sum, &bad);
  if (bad) return val_error(span);
  if (!any) return v;
  v.x = without_padding(b, v.x, 0);
  bool access = v.access;
  v = val_reduce(b, v, SUM, sum);
  v.access = access;
  return v;
}

Val eval_product(Body *b, Env *env, const Syntax *n, Eq *eq) {
  FactorNodes f = {0};
  bool minus = false, found;
  flatten(b, env, n, false, &f, &minus);
  uint32_t summed = eq->summed.n;
  Val *factors = NEW_ARRAY(b->w->arena, Val, f.n),
      v = product_of_accesses(b, env, &f, eq, n->span, &found, factors);
  uint32_t mentions = eq->mention.n;
  if (found && f.n == 1 && !minus) return v;
  summed = eq->summed.n;
  for (uint32_t i = 0; i < f.n; i++) {
    const Syntax *node = f.at[i].node;
    if (!f.at[i].divides && is_access(env, node)) continue;
    Val factor = factors[i] = eval_one(b, env, node, eq);
    if (!factor.error && index_summed_elsewhere(b, eq, summed, mentions, node->span))
      return val_error(n->span);
    if (!found && f.at[i].divides) v = val_literal(b, 1, node->span), found = true;
    v = found ? times(b, v, factor, f.at[i].divides ? FN_div : FN_mul, n->span, eq) : factor;
    found = true;
  }
  if (minus && !v.error && v.type.base != BASE_BIT) v = val_fn(b, FN_neg, &v, 1, n->span, eq);
  return eq->left ? v : in_order(b, v, factors, f.n);
}
