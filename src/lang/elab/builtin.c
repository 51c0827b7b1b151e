// The few boxes that cannot be written in the language: reductions, which take part in index
// equations; noise; joining; scan; and the derivatives of a box as boxes.
#include "lang/elab/builtin.h"
#include "core/pass/pass.h"

#include <math.h>

// -- reductions -----------------------------------------------------------------------------------
static bool stands_in_brackets(const Syntax *n, Name name, bool inside) {
  if (!n) return false;
  if (inside && (n->kind == N_NAME || n->kind == N_SIZED) && n->name == name) return true;
  if (n->kind == N_CALL && call_callee(n)->kind == N_AT) { // options of a box are not indices
    for (uint32_t i = 0; i < call_args(n).n; i++)
      if (stands_in_brackets(call_args(n).at[i], name, inside)) return true;
    return false;
  }
  for (uint32_t i = 0; i < syntax_parts(n).n; i++)
    if (stands_in_brackets(syntax_parts(n).at[i], name, inside || n->kind == N_BRACKETS))
      return true;
  return false;
}

typedef struct {
  uint32_t n;
  Name name[RANK_LIMIT];
  Span span[RANK_LIMIT];
  uint32_t index[RANK_LIMIT]; // of the equation, or UINT32_MAX: a label
  bool batch;
} JoinAlong;

static bool read_along(Body *b, Env *env, const Syntax *config, const Syntax *inner, Eq *eq,
                       JoinAlong *a) {
  World *w = b->w;
  if (config && brackets_slots(config).n > 1)
    return diag_refuse(w->diags, config->span, "axes are separated by spaces: `sum[p q](…)`");
  const Syntax *items = config && brackets_slots(config).n ? brackets_slots(config).at[0] : NULL;
  for (uint32_t i = 0; items && i < items_in(items).n && a->n < RANK_LIMIT; i++) {
    const Syntax *n = items_in(items).at[i];
    if (n->kind == N_SPREAD) {
      Binding *s = env_find(env, n->name);
      for (uint32_t k = 0; s && s->kind == BIND_SPREAD && k < s->naxis; k++) {
        a->name[a->n] = s->axis[k].label;
        a->span[a->n] = n->span;
        a->index[a->n++] = UINT32_MAX;
      }
      continue;
    }
    if (n->kind != N_NAME && n->kind != N_SIZED)
      return diag_refuse(w->diags, n->span,
                         n->kind == N_NUM
                             ? "the name of an axis or index is wanted here, not a number"
                             : "the name of an axis or index is wanted here");
    if (n->kind == N_NAME && strcmp(name_text(w->names, n->name), "batch") == 0 &&
        !env_find(env, n->name)) {
      a->batch = true;
      continue;
    }
    a->name[a->n] = n->name;
    a->span[a->n] = n->span;
    a->index[a->n] = UINT32_MAX;
    if (inner && (n->kind == N_SIZED || stands_in_brackets(inner, n->name, false))) {
      if (eq_has(eq, n->name, NULL))
        return diag_refuse(w->diags, n->span, "index %s is already used outside this reduction",
                           name_text(w->names, n->name));
      uint32_t k = eq_index(b, eq, n->name, n->span);
      eq->index.at[k].bound = true;
      if (n->kind == N_SIZED) {
        Size s = size_eval(b, env, sized_value(n), false);
        if (!s) return false;
        size_equate(w, eq->index.at[k].size, s, true);
      }
      a->index[a->n] = k;
    }
    a->n++;
  }
  return true;
}

static bool mark_along(Body *b, const Val *v, const JoinAlong *a, bool all, bool *axes,
                       const char *word) {
  World *w = b->w;
  for (uint32_t i = 0; i < v->type.rank; i++)
    axes[i] = all ? !v->type.axis[i].pass : a->batch && v->type.axis[i].pass;
  for (uint32_t k = 0; k < a->n; k++) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < v->type.rank; i++)
      if (!v->type.axis[i].pass && v->type.axis[i].label == a->name[k]) axes[i] = true, found++;
    if (found == 1) continue;
    Id e = diag_error(w->diags, a->span[k],
                      found ? "%s has two axes called %s: which one `%s` goes over is not clear"
                            : "%s has no axis %s for `%s` to go over",
                      own_text(w, &v->type), name_text(w->names, a->name[k]), word);
    if (!found) diag_suggest(w->diags, e, nearest_label(w, &v->type, a->name[k]));
    return false;
  }
  return true;
}

static Size places(Body *b, const Val *v, const bool *axes) {
  Size n = size_of(b->w, 1);
  for (uint32_t i = 0; i < v->type.rank; i++)
    if (axes[i]) n = size_mul(b->w, n, v->type.axis[i].size);
  return n;
}

// Padding that the combine ignores is the same as skipping.
static void skip_padding(Body *b, Val *v, Combine combine) {
  double same = combine == MAX ? -INFINITY : combine == MIN ? INFINITY : combine == PROD ? 1 : 0;
  if (v->x->kind != X_WIRE || !v->x->padded || v->x->pad != same) return;
  v->x = arena_copy(b->w->arena, v->x, sizeof *v->x);
  v->x->padded = false;
}

static const Syntax *argument(const Syntax *use) {
  return use->kind == N_CALL ? nodes_only(call_args(use)) : NULL;
}

static Value two_way(Body *b, Env *env, const Syntax *use, Value args, Fn fn, Span span, Eq *eq) {
  Val pair[2];
  if (args.n == 2) {
    pair[0] = args.at[0];
    pair[1] = args.at[1];
  } else {
    eq->inside++;
    pair[0] = eval_one(b, env, call_args(use).at[0], eq);
    pair[1] = eval_one(b, env, call_args(use).at[1], eq);
    eq->inside--;
  }
  return value_one(b, val_fn(b, fn, pair, 2, span, eq));
}

// sum[i](x), and others that make one number of many
typedef struct {
  const char *word;
  Env *env;
  const Syntax *use, *config;
  Value args;
  Span span;
} Reduction;

static Val operand(Body *b, const Reduction *r, Eq *eq) {
  if (r->args.n == 1) return r->args.at[0];
  if (!r->args.n && argument(r->use)) {
    uint32_t inside = eq->inside;
    eq->inside = 0;
    Val v = eval_one(b, r->env, argument(r->use), eq);
    eq->inside = inside;
    return v;
  }
  diag_error(b->w->diags, r->span, "`%s` takes one value", r->word);
  return val_error(r->span);
}

static Value reduce(Body *b, const Reduction *how, Eq *eq, Combine combine, bool mean) {
  Span span = how->span;
  const char *word = how->word;
  JoinAlong along = {0};
  bool axes[RANK_LIMIT] = {false};
  if (!read_along(b, how->env, how->config, how->args.n ? NULL : argument(how->use), eq, &along))
    return value_error(b, span);
  Val v = operand(b, how, eq);
  if (v.error) return value_error(b, span);
  if (v.literal) return value_one(b, v);
  val_settle(b, &v);
  if (v.type.base == BASE_LABEL || (v.type.base == BASE_BIT && mean)) {
    diag_error(b->w->diags, span, "`%s` wants numbers, but this is %s", word,
               own_text(b->w, &v.type));
    return value_error(b, span);
  }
  if (!mark_along(b, &v, &along, !how->config, axes, word)) return value_error(b, span);
  Size n = places(b, &v, axes);
  skip_padding(b, &v, combine);
  v.span = span;
  Val r = val_reduce(b, v, combine, axes);
  for (uint32_t i = 0; i < along.n; i++)
    if (along.index[i] != UINT32_MAX) eq->index.at[along.index[i]].gone = true;
  if (!how->config || along.batch) val_settle(b, &r);
  uint32_t own[RANK_LIMIT];
  if (!r.nreduce && !own_axes(&r.type, own)) r.indexed = false;
  if (!mean) return value_one(b, r);
  Val pair[2] = {r, val_size(b, n, span)};
  return value_one(b, val_fn(b, FN_div, pair, 2, span, eq));
}

static Value do_sum(Body *b, Env *env, const Syntax *use, const Syntax *config, Value args,
                    Span span, Eq *eq) {
  return reduce(b, &(Reduction){"sum", env, use, config, args, span}, eq, SUM, false);
}
static Value do_mean(Body *b, Env *env, const Syntax *use, const Syntax *config, Value args,
                     Span span, Eq *eq) {
  return reduce(b, &(Reduction){"mean", env, use, config, args, span}, eq, SUM, true);
}
static Value do_prod(Body *b, Env *env, const Syntax *use, const Syntax *config, Value args,
                     Span span, Eq *eq) {
  return reduce(b, &(Reduction){"prod", env, use, config, args, span}, eq, PROD, false);
}
static bool is_two_way(const Syntax *use, const Syntax *config, const Value *args) {
  return !config && (args->n == 2 || (!args->n && use->kind == N_CALL && call_args(use).n == 2));
}
static Value do_max(Body *b, Env *env, const Syntax *use, const Syntax *config, Value args,
                    Span span, Eq *eq) {
  if (is_two_way(use, config, &args)) return two_way(b, env, use, args, FN_maximum, span, eq);
  return reduce(b, &(Reduction){"max", env, use, config, args, span}, eq, MAX, false);
}
static Value do_min(Body *b, Env *env, const Syntax *use, const Syntax *config, Value args,
                    Span span, Eq *eq) {
  if (is_two_way(use, config, &args)) return two_way(b, env, use, args, FN_minimum, span, eq);
  return reduce(b, &(Reduction){"min", env, use, config, args, span}, eq, MIN, false);
}

// The place of the largest: the winner of a maximum.
static Value winner(Body *b, const Reduction *how, Combine combine) {
  Span span = how->span;
  const char *word = how->word;
  const Syntax *config = how->config;
  Value args = how->args;
  JoinAlong along = {0};
  Eq eq = {0};
  bool axes[RANK_LIMIT] = {false};
  uint32_t own[RANK_LIMIT], count = 0;
  if (!read_along(b, how->env, config, NULL, &eq, &along)) return value_error(b, span);
  if (!args.n && argument(how->use)) args = eval_alone(b, how->env, argument(how->use));
  if (args.n != 1) {
    Id e = diag_error(b->w->diags, span, "`%s` wants one value: `%s(x)`", word, word);
    if (!args.n)
      diag_help(b->w->diags, e,
                "inside brackets nothing is called: give it a name first, `k = %s(x)`", word);
    return value_error(b, span);
  }
  Val v = args.at[0];
  if (v.error) return value_error(b, span);
  val_settle(b, &v);
  if (v.type.base != BASE_R) {
    diag_error(b->w->diags, span, "`%s` wants numbers, but this is %s", word,
               own_text(b->w, &v.type));
    return value_error(b, span);
  }
  uint32_t n = own_axes(&v.type, own);
  if (!n) {
    diag_error(b->w->diags, span, "`%s` wants an axis to choose along, but this is one number",
               word);
    return value_error(b, span);
  }
  if (config && !mark_along(b, &v, &along, false, axes, word)) return value_error(b, span);
  if (!config) axes[own[n - 1]] = true;
  for (uint32_t i = 0; i < v.type.rank; i++) count += axes[i];
  if (count != 1) {
    diag_error(b->w->diags, span, "`%s` chooses along one axis", word);
    return value_error(b, span);
  }
  Val r = val_reduce(b, v, combine, axes);
  r.span = span;
  val_settle(b, &r);
  return value_one(b, val_wire(b, r.x->wire + 1, span)); // the winner follows the value
}
static Value do_argmax(Body *b, Env *env, const Syntax *use, const Syntax *config, Value args,
                       Span span, Eq *eq) {
  (void)eq;
  return winner(b, &(Reduction){"argmax", env, use, config, args, span}, MAX);
}
static Value do_argmin(Body *b, Env *env, const Syntax *use, const Syntax *config, Value args,
                       Span span, Eq *eq) {
  (void)eq;
  return winner(b, &(Reduction){"argmin", env, use, config, args, span}, MIN);
}

// -- noise and positions --------------------------------------------------------------------------
static Value noise(Body *b, Env *env, const Syntax *config, Span span, Noise kind) {
  Axis axis[RANK_LIMIT];
  uint32_t n = 0;
  for (uint32_t i = 0; i < b->npass; i++)
    if (b->pass[i].size) axis[n] = b->pass[i], axis[n++].pass = i + 1;
  if (n == RANK_LIMIT) return value_error(b, span);
  Axis own[RANK_LIMIT];
  uint32_t k = axes_eval(b, env, config, false, own);
  if (k == UINT32_MAX) return value_error(b, span);
  for (uint32_t i = 0; i < k && n < RANK_LIMIT; i++) axis[n++] = own[i];
  Type t = type_make(b->w, BASE_R, n, axis);
  return value_one(
      b, val_wire(b, box_random(b->w, b->d, kind, noise_site(b), t, origin_at(b, span)), span));
}
static Value do_normal(Body *b, Env *env, const Syntax *use, const Syntax *config, Value args,
                       Span span, Eq *eq) {
  (void)eq, (void)args, (void)use;
  return noise(b, env, config, span, NOISE_NORMAL);
}
static Value do_uniform(Body *b, Env *env, const Syntax *use, const Syntax *config, Value args,
                        Span span, Eq *eq) {
  (void)eq, (void)args, (void)use;
  return noise(b, env, config, span, NOISE_UNIFORM);
}

// positions[n]: the labels 0, 1, …, in a row
static Value do_positions(Body *b, Env *env, const Syntax *use, const Syntax *config, Value args,
                          Span span, Eq *eq) {
  Axis axis[RANK_LIMIT];
  (void)use, (void)args, (void)eq;
  if (!config || axes_eval(b, env, config, false, axis) != 1) {
    diag_error(b->w->diags, span, "`positions` wants one size: `positions[8]`");
    return value_error(b, span);
  }
  Expr *x = NEW(b->w->arena, Expr);
  *x = (Expr){.kind = X_AT, .base = BASE_LABEL, .rank = 1, .turn = b->d->turn};
  return value_one(b, (Val){.x = x, .type = type_label(b->w, axis[0].size, 1, axis), .span = span});
}

// -- joining --------------------------------------------------------------------------------------
// The same value along axes that it does not have yet.
// The value with `more` axes added behind its own, all of them in the order `out`: it is the same
// along those that are added.
static Val spread_along(Body *b, Val v, const Axis *added, uint32_t more, const uint32_t *out,
                        uint32_t n, Span span) {
  Axis axis[RANK_LIMIT], final[RANK_LIMIT];
  uint32_t all = v.type.rank + more;
  if (!more) return val_permute(b, v, out, n);
  if (v.type.rank) memcpy(axis, v.type.axis, v.type.rank * sizeof(Axis));
  memcpy(axis + v.type.rank, added, more * sizeof(Axis));
  Val wide = v;
  wide.type = type_make(b->w, v.type.base, all, axis);
  wide.type.count = v.type.count;
  for (uint32_t k = 0; k < n; k++) final[k] = axis[out[k]];
  Type t = type_make(b->w, v.type.base, n, final);
  t.count = v.type.count;
  t.names = v.type.names;
  Access access = access_plain(b->w, n, out);
  return val_wire(b, val_emit(b, &wide, &access, t, span), span);
}

Val arranged(Body *b, Val v, const Axis *want, uint32_t n, Span span) {
  Axis added[RANK_LIMIT];
  uint32_t out[RANK_LIMIT], own[RANK_LIMIT], more = 0, next = 0;
  own_axes(&v.type, own);
  for (uint32_t k = 0; k < n; k++) {
    uint32_t at = want[k].pass ? UINT32_MAX : own[next++];
    for (uint32_t i = 0; want[k].pass && i < v.type.rank; i++)
      if (v.type.axis[i].pass == want[k].pass) at = i;
    if (at == UINT32_MAX) added[more] = want[k], at = v.type.rank + more++;
    out[k] = at;
  }
  return spread_along(b, v, added, more, out, n, span);
}

Val widen(Body *b, Val v, const Axis *pass, uint32_t npass, Span span) {
  Axis want[RANK_LIMIT];
  uint32_t n = npass;
  memcpy(want, pass, npass * sizeof(Axis));
  for (uint32_t i = 0; i < v.type.rank; i++)
    if (!v.type.axis[i].pass) want[n++] = v.type.axis[i];
  return arranged(b, v, want, n, span);
}

uint32_t all_passing(const Value *args, Axis *pass) {
  uint32_t n = 0;
  for (uint32_t id = 1; id <= RANK_LIMIT; id++)
    for (uint32_t a = 0, found = 0; a < args->n && !found; a++)
      for (uint32_t i = 0; i < args->at[a].type.rank && !found; i++)
        if (args->at[a].type.axis[i].pass == id) pass[n++] = args->at[a].type.axis[i], found = 1;
  return n;
}

static bool join_place(Body *b, const Value *args, const Syntax *config, uint32_t *at, Span span) {
  World *w = b->w;
  const Syntax *items = config && brackets_slots(config).n ? brackets_slots(config).at[0] : NULL;
  uint32_t own[RANK_LIMIT], n = own_axes(&args->at[0].type, own);
  if (!n)
    return diag_refuse(w->diags, span, "`concat` joins along an axis, but this is one number");
  *at = n - 1;
  if (!items) return true;
  if (items_in(items).n != 1 || items_in(items).at[0]->kind != N_NAME)
    return diag_refuse(w->diags, config->span, "`concat` joins along one axis: `concat[n](a, b)`");
  for (uint32_t a = 0; a < args->n; a++) {
    uint32_t k = own_axes(&args->at[a].type, own);
    for (uint32_t i = 0; i < k; i++)
      if (args->at[a].type.axis[own[i]].label == items_in(items).at[0]->name) {
        *at = i;
        return true;
      }
  }
  return diag_refuse(w->diags, items_in(items).at[0]->span,
                     "no argument of `concat` has an axis %s",
                     name_text(w->names, items_in(items).at[0]->name));
}

static Value do_concat(Body *b, Env *env, const Syntax *use, const Syntax *config, Value args,
                       Span span, Eq *eq) {
  World *w = b->w;
  (void)eq;
  if (!args.n && use->kind == N_CALL) args = eval_args(b, env, use);
  if (!args.n) {
    diag_error(w->diags, span, "`concat` wants values to join");
    return value_error(b, span);
  }
  for (uint32_t i = 0; i < args.n; i++) {
    if (args.at[i].error) return value_error(b, span);
    if (args.at[i].literal) {
      diag_error(w->diags, args.at[i].span, "a bare number has no axis to join along");
      return value_error(b, span);
    }
    val_settle(b, &args.at[i]);
  }
  uint32_t at, own[RANK_LIMIT], first[RANK_LIMIT], n = own_axes(&args.at[0].type, first);
  if (!join_place(b, &args, config, &at, span)) return value_error(b, span);
  Axis pass[RANK_LIMIT];
  uint32_t npass = all_passing(&args, pass);
  Ids wire = {0};
  for (uint32_t a = 0; a < args.n; a++) {
    const Type *t = &args.at[a].type, *z = &args.at[0].type;
    bool fits = own_axes(t, own) == n && t->base == z->base;
    for (uint32_t i = 0; fits && i < n; i++)
      if (i != at)
        fits = sizes_agree(b, z->axis[first[i]].size, t->axis[own[i]].size, span, span,
                           "joined values");
    if (!fits) {
      diag_error(w->diags, args.at[a].span,
                 "%s cannot be joined to %s: all axes but the joined one must agree",
                 own_text(w, t), own_text(w, z));
      return value_error(b, span);
    }
    Val v = widen(b, args.at[a], pass, npass, span);
    vec_push(w->arena, &wire, val_to_wire(b, &v, 0));
    if (!wire.at[a]) return value_error(b, span);
  }
  Id out = box_join(w, b->d, npass + at, wire.at, wire.n, origin_at(b, span));
  b->d->wire.at[out].type.axis[npass + at].label = 0;
  return value_one(b, val_wire(b, out, span));
}

// -- rows one after the other ---------------------------------------------------------------------
static Val with_new_axis(Body *b, Val v, uint32_t npass, Span span) {
  Axis one = {.size = size_of(b->w, 1)};
  uint32_t out[RANK_LIMIT];
  for (uint32_t k = 0; k <= v.type.rank; k++)
    out[k] = k < npass ? k : k == npass ? v.type.rank : k - 1;
  return spread_along(b, v, &one, 1, out, v.type.rank + 1, span);
}

// Numbers take the type of the wires beside them.
static bool fill_rows(Body *b, Value *rows) {
  const Val *model = NULL;
  for (uint32_t i = 0; i < rows->n; i++)
    if (!rows->at[i].literal) {
      val_settle(b, &rows->at[i]);
      if (!model || rows->at[i].type.rank > model->type.rank) model = &rows->at[i];
    }
  Type t = {.base = BASE_R};
  if (model) t = model->type;
  for (uint32_t i = 0; i < rows->n; i++) {
    if (!rows->at[i].literal) continue;
    if (t.base == BASE_LABEL)
      return diag_refuse(b->w->diags, rows->at[i].span, "a number is not a label");
    rows->at[i] = val_fill(b, rows->at[i], t);
  }
  return true;
}

Value stack_rows(Body *b, Value rows, Span span) {
  World *w = b->w;
  Axis pass[RANK_LIMIT];
  Ids wire = {0};
  uint32_t first[RANK_LIMIT], own[RANK_LIMIT];
  if (!fill_rows(b, &rows)) return value_error(b, span);
  uint32_t npass = all_passing(&rows, pass);
  const Type *z = &rows.at[0].type;
  uint32_t n = own_axes(z, first);
  for (uint32_t a = 0; a < rows.n; a++) {
    const Type *t = &rows.at[a].type;
    bool fits = own_axes(t, own) == n && t->base == z->base &&
                (t->base != BASE_LABEL || sizes_agree(b, z->count, t->count, span, span, "labels"));
    for (uint32_t i = 0; fits && i < n; i++)
      fits = sizes_agree(b, z->axis[first[i]].size, t->axis[own[i]].size, span, span, "rows");
    if (!fits || npass + n + 1 >= RANK_LIMIT) {
      diag_error(w->diags, rows.at[a].span, "the first entry of this list is %s, but this is %s",
                 own_text(w, z), own_text(w, t));
      return value_error(b, span);
    }
    Val v = with_new_axis(b, widen(b, rows.at[a], pass, npass, span), npass, span);
    vec_push(w->arena, &wire, val_to_wire(b, &v, 0));
    if (!wire.at[a]) return value_error(b, span);
  }
  Id out = box_join(w, b->d, npass, wire.at, wire.n, origin_at(b, span));
  return value_one(b, val_wire(b, out, span));
}

static Value do_order(Body *b, Env *env, const Syntax *use, const Syntax *config, Value args,
                      Span span, Eq *eq) {
  JoinAlong along = {0};
  bool axes[RANK_LIMIT] = {false};
  uint32_t own[RANK_LIMIT];
  if (!args.n && use->kind == N_CALL) args = eval_args(b, env, use);
  if (args.n != 1 || args.at[0].error || !read_along(b, env, config, NULL, eq, &along))
    return value_error(b, span);
  Val v = args.at[0];
  Id wire = val_to_wire(b, &v, 0);
  uint32_t n = own_axes(&v.type, own), at = UINT32_MAX;
  if (!wire || v.type.base != BASE_R || !n) {
    diag_error(b->w->diags, span, "`order` wants numbers along an axis, but this is %s",
               own_text(b->w, &v.type));
    return value_error(b, span);
  }
  if (config && !mark_along(b, &v, &along, false, axes, "order")) return value_error(b, span);
  if (!config) axes[own[n - 1]] = true;
  for (uint32_t i = 0; i < v.type.rank; i++)
    if (axes[i]) at = i;
  return value_one(b, val_wire(b, box_order(b->w, b->d, at, wire, origin_at(b, span)), span));
}

// -- a box inside a box ---------------------------------------------------------------------------
// The box applied to wires of these types, as a diagram of its own.
Body *box_watched(Body *b, Env *env, const Syntax *box, const Inputs *given, uint64_t *over,
                  Span span) {
  World *w = b->w;
  Body *sub = body_new(b->in, b->d->name);
  sub->generic = b->generic;
  sub->npass = b->npass;
  sub->pass = b->pass;
  sub->labels = b->labels;
  sub->inside = arena_format(w->arena, "%s%u/", b->inside ? b->inside : "", ++b->noises);
  sub->env = env;
  sub->def = b->def;
  sub->over = over;
  Value in = {.n = given->n, .at = NEW_ARRAY(w->arena, Val, given->n)};
  for (uint32_t i = 0; i < in.n; i++)
    in.at[i] = val_wire(sub, diagram_input(w, sub->d, given->in[i], 0, 0), span);
  Value out = apply(sub, env, box, in, NULL, span);
  for (uint32_t i = 0; i < out.n; i++) {
    Id wire = out.at[i].error ? 0 : val_to_wire(sub, &out.at[i], 0);
    if (!wire) return NULL;
    diagram_output(w, sub->d, wire);
    vec_push(w->arena, &sub->out_type, out.at[i].type);
  }
  body_finish(sub);
  return sub;
}

Body *box_alone(Body *b, Env *env, const Syntax *box, uint32_t n, const Type *types, Span span) {
  return box_watched(b, env, box, &(Inputs){(Type *)types, n}, NULL, span);
}

const Syntax *boxed_option(Body *b, const Syntax *config, uint32_t at, Span span,
                           const char *word) {
  const Syntax *n = config && at < brackets_slots(config).n ? brackets_slots(config).at[at] : NULL;
  if (n && n->kind == N_ITEMS && items_in(n).n == 1) return items_in(n).at[0];
  if (n && n->kind != N_ITEMS) return n;
  bool scan = strcmp(word, "scan") == 0;
  diag_error(b->w->diags, span,
             scan ? "`scan` wants an axis and a cell in its brackets: `scan[t, cell](x)`"
                  : "`%s` wants a box in its brackets: `%s[f](…)`",
             word, word);
  return NULL;
}

Def *box_called(Body *b, const char *name) {
  Def *d = NEW(b->w->arena, Def);
  *d = (Def){.kind = DEF_BOX, .name = name_from(b->w->names, name)};
  return d;
}

// -- the table ------------------------------------------------------------------------------------
static const BuiltinBox boxes[] = {
    {"sum", do_sum, true},
    {"mean", do_mean, true},
    {"prod", do_prod, true},
    {"max", do_max, true},
    {"min", do_min, true},
    {"argmax", do_argmax, false},
    {"argmin", do_argmin, false},
    {"concat", do_concat, false},
    {"normal", do_normal, false},
    {"uniform", do_uniform, false},
    {"positions", do_positions, false},
    {"order", do_order, false},
    {"rev", builtin_rev, false},
    {"fwd", builtin_fwd, false},
    {"scan", builtin_scan, false},
};

void core_builtins(Elab *in) { builtins_add(in, boxes, COUNT(boxes)); }
