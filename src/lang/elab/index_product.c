// Products of accesses: which indices are summed (contraction), and the one loop that a product
// becomes.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/ops.h"
#include "lang/elab/index_own.h"

typedef struct {
  const Syntax *node;
  bool divides, read;
} FactorNode;
typedef VEC(FactorNode) FactorNodes;

static const Span NOWHERE = {0};

typedef struct {
  Body *b;
  Env *env;
  Eq *eq;
  Span span;
  FactorNodes f;
  Val *factor;          // their values, once evaluated
  uint32_t first, last; // range of Eq.mention written by the reads among the factors
  uint32_t held;        // start of the names in Eq.held that this product holds
} Product;

bool is_access(Env *env, const Syntax *n) {
  if (n->kind != N_AT) return false;
  const Syntax *base = at_base(n);
  if (base->kind != N_NAME)
    return base->kind == N_AT || base->kind == N_CALL || base->kind == N_DOT ||
           base->kind == N_PAREN;
  Binding *bind = env_meaning(env, base);
  if (bind)
    return bind->kind == BIND_VALUE || bind->kind == BIND_STATE ||
           (bind->kind == BIND_LEARNER && !family_of(bind->def));
  Def *d = scope_meaning(env->scope, base);
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
    vec_push(b->w->arena, out, (FactorNode){n, divides, !divides && is_access(env, n)});
  }
}

static bool index_summed_elsewhere(Body *b, const Eq *eq, uint32_t from, const uint32_t *other,
                                   uint32_t n, Span span) {
  for (uint32_t s = from; s < eq->summed.n; s++)
    for (uint32_t m = 0; m < n; m++)
      if (other[m] == eq->summed.at[s]) {
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

// Does this text read at an index of this name, or use it as a number?
static bool writes_index(Env *env, const Eq *eq, const Syntax *n, Name index, bool place) {
  if (!n) return false;
  if ((n->kind == N_NAME || n->kind == N_SIZED) && n->name == index)
    if (place || eq_has(eq, index, NULL)) return true;
  bool options = n->kind == N_AT && !is_access(env, n); // dense[n]: options are not positions
  place |= n->kind == N_BRACKETS;
  for (uint32_t i = 0; i < syntax_parts(n).n; i++) {
    const Syntax *part = syntax_parts(n).at[i];
    if (options && part->kind == N_BRACKETS) continue;
    if (writes_index(env, eq, part, index, place)) return true;
  }
  return false;
}

static bool has_own_axis(const Val *v, Name label) {
  for (uint32_t i = 0; !v->error && i < v->type.rank; i++)
    if (!v->type.axis[i].pass && v->type.axis[i].label == label && !val_reduces(v, i)) return true;
  return false;
}

// The remaining axes of a call's result, i of softmax[j](S[i j]), are indices of the equation by
// name.
void note_called(Body *b, Env *env, Eq *eq, const Syntax *call, const Val *v) {
  for (uint32_t i = 0; !v->error && i < v->type.rank; i++) {
    Name name = v->type.axis[i].label;
    if (!name || v->type.axis[i].pass || names_have(&eq->called, name)) continue;
    if (writes_index(env, eq, call, name, false)) vec_push(b->w->arena, &eq->called, name);
  }
}

// Does a factor that is not a plain read, such as a function or a sum, have this index?
static bool factor_has(const Product *p, uint32_t i, Name name) {
  return !p->f.at[i].read && has_own_axis(&p->factor[i], name) &&
         writes_index(p->env, p->eq, p->f.at[i].node, name, false);
}

// The number of occurrences of an index in a product: each one in a read, and one for each other
// factor. Divisors do not count.
static uint32_t times_written(const Product *p, Name name) {
  uint32_t times = 0, index;
  for (uint32_t m = p->first; m < p->last && eq_has(p->eq, name, &index); m++)
    times += p->eq->mention.at[m] == index;
  for (uint32_t i = 0; i < p->f.n; i++) times += !p->f.at[i].divides && factor_has(p, i, name);
  return times;
}

static bool summed_inside(Body *b, EqIndex *e, Span span) {
  const char *name = name_text(b->w->names, e->name);
  Id d = e->told
             ? 0
             : diag_error(b->w->diags, span,
                          "index %s would be summed inside a function, where the sum is ambiguous",
                          name);
  diag_help(b->w->diags, d, "write `sum[%s](…)` where the sum is meant", name);
  return e->told = true;
}

static bool free_elsewhere(Body *b, const EqIndex *e, bool sum, Span other, Span span) {
  Id d =
      diag_error(b->w->diags, span,
                 "index %s is %s here but %s in another term: write a left side, `Y[…] = …`",
                 name_text(b->w->names, e->name), sum ? "summed" : "free", sum ? "free" : "summed");
  diag_note(b->w->diags, d, other, "the other term");
  return true;
}

// With a left side nothing is summed implicitly inside functions or boxes; a parenthesised sum, or
// a linear function of one, sums in each term.
static bool sums_nothing(const Product *p, const Syntax *n) {
  if (n->kind == N_OVER) n = over_base(n);
  if (n->kind != N_CALL) return n->kind == N_POW || n->kind == N_NAME || n->kind == N_CMP;
  const Syntax *box = use_base(call_callee(n));
  if (box->kind != N_NAME || env_meaning(p->env, box) || scope_meaning(p->env->scope, box))
    return true;
  const BuiltinBox *f = builtin_find(p->b->in, box->name);
  if (f && f->nodes) return call_args(n).n == 2; // max(x, y)
  Fn fn = fn_find(name_text(p->b->w->names, box->name));
  return fn != FN_stop && fn != FN_neg;
}

// An index shared by several factors, one of them not a read, is summed by the product as a whole
// and not by each factor.
static void hold_if_shared(Product *p, Name name) {
  uint32_t times = 0, index;
  if (eq_has(p->eq, name, &index) && (p->eq->index.at[index].left || p->eq->index.at[index].bound))
    return;
  for (uint32_t i = 0; i < p->f.n; i++) {
    const FactorNode *f = &p->f.at[i];
    if (f->divides || !writes_index(p->env, p->eq, f->node, name, false)) continue;
    if (!f->read && !sums_nothing(p, f->node)) return;
    times++;
  }
  if (times > 1) vec_push(p->b->w->arena, &p->eq->held, name);
}

static void hold_shared(Product *p, const Syntax *n, Ids *seen) {
  if (!n) return;
  if ((n->kind == N_NAME || n->kind == N_SIZED) && !names_have(seen, n->name)) {
    vec_push(p->b->w->arena, seen, n->name);
    hold_if_shared(p, n->name);
  }
  for (uint32_t i = 0; i < syntax_parts(n).n; i++) hold_shared(p, syntax_parts(n).at[i], seen);
}

static void hold_indices(Product *p) {
  Ids seen = {0};
  p->held = p->eq->held.n;
  for (uint32_t i = 0; i < p->f.n && p->eq->left; i++)
    if (!p->f.at[i].read && !p->f.at[i].divides) hold_shared(p, p->f.at[i].node, &seen);
}

// Is the sum over this index held for this product?
static bool held_here(const Product *p, Name name) {
  for (uint32_t i = p->held; i < p->eq->held.n; i++)
    if (p->eq->held.at[i] == name) return true;
  return false;
}

bool range_left_over(Body *b, const EqIndex *e) {
  return diag_refuse(b->w->diags, e->span,
                     "a range keeps its axis, but no index on the left stands for it: `x[i+1 j]` "
                     "has one");
}

// Marks the axes to sum: with a left side, those not on it; without, those that occur twice.
static bool mark_summed(const Product *p, const Val *v, bool *sum, bool *bad) {
  Eq *eq = p->eq;
  bool any = false;
  for (uint32_t i = 0; i < v->type.rank; i++) {
    uint32_t index;
    if (v->type.axis[i].pass || !eq_has(eq, v->type.axis[i].label, &index)) continue;
    EqIndex *e = &eq->index.at[index];
    if (e->left || e->bound || held_here(p, e->name)) continue;
    bool all = eq->left && !names_have(&eq->held, e->name);
    sum[i] = all || times_written(p, e->name) > 1;
    Span *mine = sum[i] ? &e->summed : &e->free, other = sum[i] ? e->free : e->summed;
    if (!mine->file) *mine = v->span;
    if (!eq->left && other.file) *bad = free_elsewhere(p->b, e, sum[i], other, v->span);
    if (sum[i] && e->ranged) sum[i] = range_left_over(p->b, e), *bad = true;
    if (sum[i] && eq->inside && eq->left) {
      *bad = summed_inside(p->b, e, v->span);
      sum[i] = false;
    }
    if (sum[i]) vec_push(p->b->w->arena, &eq->summed, index);
    any |= sum[i];
  }
  return any;
}

// In a sum of products, a padded 0 equals skipping.
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

static Val multiply_values(Body *b, Val left, Val right, Fn fn, Span span, Eq *eq) {
  Val pair[2] = {left, right};
  return val_fn(b, fn, pair, 2, span, eq);
}

// Without a left side the axes stand in textual order of their indices.
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

// Multiplies the reads among the factors; false: there is none.
static bool multiply_reads(Product *p, Val *v) {
  bool found = false;
  p->first = p->eq->mention.n;
  for (uint32_t i = 0; i < p->f.n; i++) {
    const Syntax *n = p->f.at[i].node;
    if (!p->f.at[i].read) continue;
    Value access = eval_access(p->b, p->env, n, p->eq);
    Val one = p->factor[i] = access.n == 1 ? access.at[0] : val_error(n->span);
    *v = found ? multiply_values(p->b, *v, one, FN_mul, p->span, p->eq) : one;
    found = true;
  }
  p->last = p->eq->mention.n;
  return found;
}

static Val sum_product(const Product *p, Val v, bool reads_only) {
  bool sum[RANK_LIMIT] = {false}, bad = false;
  if (v.error || (reads_only && !v.indexed)) return v;
  v.span = p->span;
  bool any = mark_summed(p, &v, sum, &bad), access = v.access;
  if (bad) return val_error(p->span);
  if (!any) return v;
  if (reads_only) v.x = without_padding(p->b, v.x, 0);
  v = val_reduce(p->b, v, SUM, sum);
  v.access = access;
  return v;
}

// Evaluates the other factors in textual order. Their index marks are kept apart: they count only
// if the product does not sum the index.
static bool eval_others(Product *p) {
  Eq *eq = p->eq;
  uint32_t summed = eq->summed.n;
  for (uint32_t i = 0; i < eq->index.n; i++)
    eq->index.at[i].free = eq->index.at[i].summed = NOWHERE;
  for (uint32_t i = 0; i < p->f.n; i++) {
    const Syntax *node = p->f.at[i].node;
    if (p->f.at[i].read) continue;
    uint32_t own = eq->summed.n, others = eq->left ? own - summed : 0;
    p->factor[i] = eval_one(p->b, p->env, node, eq);
    if (p->factor[i].error) continue;
    if (index_summed_elsewhere(p->b, eq, summed, eq->mention.at, p->last, node->span) ||
        index_summed_elsewhere(p->b, eq, own, eq->summed.at + summed, others, node->span))
      return false;
  }
  return true;
}

static Span first_of(Span one, Span other) { return one.file ? one : other; }

// Merges the index marks with those made before this product.
static bool merge_marks(const Product *p, const Eq *before) {
  bool good = true;
  for (uint32_t i = 0; i < before->index.n; i++) {
    EqIndex *e = &p->eq->index.at[i];
    const EqIndex *old = &before->index.at[i];
    bool clash = !p->eq->left && !e->left && !e->bound;
    if (clash && e->free.file && old->summed.file)
      good = !free_elsewhere(p->b, e, false, old->summed, e->free);
    else if (clash && e->summed.file && old->free.file)
      good = !free_elsewhere(p->b, e, true, old->free, e->summed);
    e->free = first_of(old->free, e->free);
    e->summed = first_of(old->summed, e->summed);
  }
  return good;
}

static Val multiply_others(const Product *p, Val v, bool found, bool multiply, bool divide) {
  for (uint32_t i = 0; i < p->f.n; i++) {
    bool divides = p->f.at[i].divides;
    if (p->f.at[i].read || !(divides ? divide : multiply)) continue;
    if (!found && divides) v = val_literal(p->b, 1, p->f.at[i].node->span), found = true;
    v = found ? multiply_values(p->b, v, p->factor[i], divides ? FN_div : FN_mul, p->span, p->eq)
              : p->factor[i];
    found = true;
  }
  return v;
}

// Finds indices shared by factors that are not both reads: the product sums them as a whole.
static bool shares_index(Product *p) {
  bool any = false;
  for (uint32_t k = 0; k < p->f.n; k++)
    for (uint32_t a = 0; a < p->factor[k].type.rank; a++) {
      const Axis *axis = &p->factor[k].type.axis[a];
      if (p->f.at[k].divides || axis->pass || !factor_has(p, k, axis->label) ||
          times_written(p, axis->label) < 2 || (p->eq->left && !held_here(p, axis->label)))
        continue;
      uint32_t index = eq_index(p->b, p->eq, axis->label, p->f.at[k].node->span);
      EqIndex *e = &p->eq->index.at[index];
      if (e->bound) continue;
      e->plain = true;
      sizes_agree(p->b, e->size, axis->size, e->span, e->span, "an index");
      e->free = NOWHERE;
      for (uint32_t d = 0; d < p->f.n; d++)
        if (p->f.at[d].divides && factor_has(p, d, axis->label)) e->free = p->f.at[d].node->span;
      any = true;
    }
  return any;
}

Val eval_product(Body *b, Env *env, const Syntax *n, Eq *eq) {
  Product p = {.b = b, .env = env, .eq = eq, .span = n->span};
  bool minus = false;
  flatten(b, env, n, false, &p.f, &minus);
  p.factor = NEW_ARRAY(b->w->arena, Val, p.f.n);
  Val v = {0};
  hold_indices(&p);
  bool reads = multiply_reads(&p, &v), early = reads && (eq->left || p.f.n == 1);
  if (early) v = sum_product(&p, v, true);
  if (reads && p.f.n == 1 && !minus) return v;
  Eq before = *eq;
  before.index.at = arena_copy(b->w->arena, eq->index.at, eq->index.n * sizeof(EqIndex));
  bool good = eval_others(&p), shares = good && shares_index(&p);
  eq->held.n = p.held;
  if (!good) return val_error(n->span);
  if (!merge_marks(&p, &before)) return val_error(n->span);
  if (shares) {
    v = sum_product(&p, multiply_others(&p, v, reads, true, false), false);
    v = multiply_others(&p, v, true, false, true);
  } else {
    if (reads && !early) v = sum_product(&p, v, true);
    v = multiply_others(&p, v, reads, true, true);
  }
  if (minus && !v.error && v.type.base != BASE_BIT) v = val_fn(b, FN_neg, &v, 1, n->span, eq);
  return eq->left ? v : in_order(b, v, p.factor, p.f.n);
}
