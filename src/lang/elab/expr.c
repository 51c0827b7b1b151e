// Elaborates expressions to values.
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "base/table.h"
#include "core/diagram/ops.h"
#include "lang/elab/body.h"
#include "lang/elab/partial.h"

#include <math.h>

Value eval_alone(Body *b, Env *env, const Syntax *n) {
  return eval_equation(b, env, NULL, n, NULL, NULL, n->span);
}

Val value_single(Body *b, Value v, Span span) {
  if (v.n == 1) return v.at[0];
  if (value_failed(&v)) return val_error(span);
  Id e = diag_error(b->w->diags, span, "one value is wanted here, but this is a tuple of %u", v.n);
  if (v.n) diag_help(b->w->diags, e, "give its parts names: `a, b = …`");
  return val_error(span);
}

Val eval_one(Body *b, Env *env, const Syntax *n, Eq *eq) {
  return value_single(b, eval(b, env, n, eq), n->span);
}

// -- names ----------------------------------------------------------------------------------------
static Val index_position(Body *b, Eq *eq, uint32_t i, Span span) {
  Expr *x = NEW(b->w->arena, Expr);
  *x = (Expr){.kind = X_AT, .base = BASE_R, .rank = 1, .turn = b->d->turn};
  EqIndex *index = &eq->index.at[i];
  Axis axis = {.label = index->name, .size = index->size};
  return (Val){.x = x, .type = type_make(b->w, BASE_R, 1, &axis), .span = span, .indexed = true};
}

static Value no_value(Body *b, const Syntax *n, const char *what, Span declared) {
  World *w = b->w;
  const char *name = name_text(w->names, n->name);
  Id e = diag_error(w->diags, n->span, "`%s` is %s; a value is wanted here", name, what);
  diag_note(w->diags, e, declared, "declared here");
  if (!strcmp(what, "a machine")) diag_help(w->diags, e, "`p : %s` makes it a part", name);
  return value_error(b, n->span);
}

// A bare learner name or family member: for a weight, its value.
static Value learned_value(Body *b, Env *env, Def *d, Body *home, const char *family,
                           const Syntax *n) {
  BoxUse use = {d, home, family, n, use_base(n)->name, n->span};
  return call_def(b, env, &use, NULL, (Value){0}, NULL);
}

// Describes an option that is not a number.
static const char *option_word(const Body *b, const Binding *bind) {
  if (bind->box.node) return "a box";
  if (bind->text) return "a text";
  return arena_format(b->w->arena, "`%s`, which nothing is called",
                      name_text(b->w->names, bind->label));
}

static Value bound_value(Body *b, Env *env, const Syntax *n, Binding *bind) {
  Value v;
  switch (bind->kind) {
  case BIND_VALUE:
  case BIND_STATE:
    v = value_copy(b, bind->value);
    for (uint32_t i = 0; i < v.n; i++) v.at[i].span = n->span;
    return v;
  case BIND_SIZE: return value_one(b, val_size(b, bind->size, n->span));
  case BIND_LOOP: {
    int64_t k = 0;
    size_value(b->w, bind->size, &k);
    return value_one(b, val_literal(b, (double)k, n->span));
  }
  case BIND_OPTION:
    if (bind->has_number) return value_one(b, val_literal(b, bind->number, n->span));
    if (bind->size) return value_one(b, val_size(b, bind->size, n->span));
    if (bind->open) return value_error(b, n->span);
    return no_value(b, n, option_word(b, bind), bind->span);
  case BIND_LEARNER: return learned_value(b, env, (Def *)bind->def, bind->home, NULL, n);
  case BIND_SPREAD: return no_value(b, n, "a row of axes", bind->span);
  case BIND_KEPT: {
    const char *name = name_text(b->w->names, n->name);
    Id e =
        diag_error(b->w->diags, n->span,
                   "`%s` is a row of wires kept in a loop: say which, as in `%s[1]`", name, name);
    diag_note(b->w->diags, e, bind->span, "kept here");
    return value_error(b, n->span);
  }
  }
  return value_error(b, n->span);
}

static Value clock_value(Body *b, const char *name, Span span) {
  Param p = {.path = name, .rooted = true, .role = ROLE_CLOCK, .init = {.kind = INIT_CONST}};
  uint32_t i = diagram_param(b->w, b->d, p, (Type){.base = BASE_R}, name_from(b->w->names, name),
                             origin_at(b, span));
  sync_sites(b);
  return value_one(b, val_wire(b, b->d->param.at[i].wire, span));
}

static Value free_name(Body *b, Env *env, const Syntax *n) {
  const char *text = name_text(b->w->names, n->name);
  if (strcmp(text, "inf") == 0) return value_one(b, val_literal(b, INFINITY, n->span));
  if ((b->maker || b->timed) && strcmp(text, "time") == 0) return clock_value(b, text, n->span);
  if (strcmp(text, "step") == 0 || strcmp(text, "steps") == 0) return clock_value(b, text, n->span);
  if (strcmp(text, "training") == 0) {
    Val v = val_fill(b, val_literal(b, b->in->training, n->span), (Type){.base = BASE_BIT});
    return value_one(b, v);
  }
  if (builtin_find(b->in, n->name) || fn_find(text) != FN_COUNT) {
    Id e = diag_error(b->w->diags, n->span, "`%s` is a box; a value is wanted here", text);
    diag_help(b->w->diags, e, "give it its wires: `%s(x)`", text);
    return value_error(b, n->span);
  }
  unknown_name(b, env, n, "wire or value");
  bind_value(env, n->name, value_error(b, n->span), n->span); // reported once
  return value_error(b, n->span);
}

static Value given_unseen(Body *b, const Def *d, const Syntax *n) {
  bool machine = b->maker || b->timed || b->in->machine;
  Id e = diag_error(b->w->diags, n->span,
                    "`%s` is given data, and a %s sees only what is passed to it",
                    name_text(b->w->names, n->name), machine ? "machine" : "box");
  diag_note(b->w->diags, e, d->span, "given here");
  diag_help(b->w->diags, e, "%s",
            machine ? "`run Name on \"table.csv\"` brings each column to the port of its name"
                    : "make it a parameter of the box");
  return value_error(b, n->span);
}

static Value given_value(Body *b, Def *d, const Syntax *n) {
  Id wire = b->fields ? table_get(b->fields, &d->id, sizeof d->id) : 0;
  if (wire) return value_one(b, val_wire(b, wire, n->span));
  if (d->broken || (b->fields && b->in->program->given.at[d->given].type.n <= d->field))
    return value_error(b, n->span);
  if (!b->fields) return given_unseen(b, d, n);
  Type t = b->in->program->given.at[d->given].type.at[d->field];
  if (!t.base) return value_error(b, n->span);
  Axis axis[RANK_LIMIT];
  axis[0] = b->pass[0];
  if (t.rank) memcpy(axis + 1, t.axis, t.rank * sizeof(Axis));
  t = type_like(b->w, &t, t.rank + 1, axis);
  wire = diagram_input(b->w, b->d, t, d->name, origin_at(b, n->span));
  table_put(b->fields, &d->id, sizeof d->id, wire);
  d->used = true;
  return value_one(b, val_wire(b, wire, n->span));
}

static Value def_value(Body *b, Env *env, Def *d, const Syntax *n) {
  if (d->broken) return value_error(b, n->span);
  d->used = true;
  switch (d->kind) {
  case DEF_AXIS: return value_one(b, val_size(b, axis_size(b->in, d), n->span));
  case DEF_CONST: return const_value(b, d, n->span);
  case DEF_GIVEN: return given_value(b, d, n);
  case DEF_LEARNER:
  case DEF_STALE: return learned_value(b, env, d, NULL, NULL, n);
  case DEF_SPACE: return no_value(b, n, "a space", d->span);
  case DEF_BOX: return no_value(b, n, "a box", d->span);
  case DEF_OPTIMISER: return no_value(b, n, "an optimiser", d->span);
  case DEF_DIAGRAM: return no_value(b, n, "a learning diagram", d->span);
  case DEF_MACHINE: return no_value(b, n, "a machine", d->span);
  }
  return value_error(b, n->span);
}

static Value name_value(Body *b, Env *env, const Syntax *n, Eq *eq) {
  uint32_t i;
  if (eq_has(eq, n->name, &i)) {
    use_of_index(b->in, n->name, n->span, eq->index.at[i].span);
    return value_one(b, index_position(b, eq, i, n->span));
  }
  Binding *bind = env_meaning(env, n);
  if (bind) return bound_value(b, env, n, bind);
  Def *d = scope_meaning(env->scope, n);
  if (d) return def_value(b, env, d, n);
  if (index_around(eq, n->name))
    return value_one(b, index_position(b, eq, eq_index(b, eq, n->name, n->span), n->span));
  return free_name(b, env, n);
}

static Value next_value(Body *b, Env *env, const Syntax *n) {
  Binding *bind = env_meaning(env, n);
  if (bind && bind->kind == BIND_STATE && bind->partly)
    return value_refuse(
        b, n->span, n->span,
        "`next` of this state is said under a condition, in a mode or for some places, "
        "so that its value is not known here");
  if (bind && bind->kind == BIND_STATE && bind->next.n) return bind->next;
  Id e = diag_error(b->w->diags, n->span, "there is no `next %s` before this line",
                    name_text(b->w->names, n->name));
  if (!bind || bind->kind != BIND_STATE)
    diag_help(b->w->diags, e, "`state %s` declares it, `next %s = …` moves it",
              name_text(b->w->names, n->name), name_text(b->w->names, n->name));
  return value_error(b, n->span);
}

// -- arithmetic -----------------------------------------------------------------------------------
static Val sum_value(Body *b, Env *env, const Syntax *n, Eq *eq) {
  Val v = eval_one(b, env, sum_terms(n).at[0], eq);
  for (uint32_t i = 1; i < sum_terms(n).n; i++) {
    Val pair[2] = {v, eval_one(b, env, sum_terms(n).at[i], eq)};
    v = val_fn(b, sum_sign(n, i) == SIGN_MINUS ? FN_sub : FN_add, pair, 2,
               span_join(sum_terms(n).at[0]->span, sum_terms(n).at[i]->span), eq);
  }
  return v;
}

// normal[2] takes no arguments, so it is a value here.
static bool is_drawn(Body *b, Env *env, const Syntax *n) {
  while (n->kind == N_PAREN) n = paren_inner(n);
  if (n->kind != N_AT || at_base(n)->kind != N_NAME) return false;
  Name name = at_base(n)->name;
  const char *text = name_text(b->w->names, name);
  bool noise = !strcmp(text, "normal") || !strcmp(text, "uniform") || !strcmp(text, "white");
  return noise && !env_find(env, name) && !scope_find(env->scope, name);
}

static Val power_value(Body *b, Env *env, const Syntax *n, Eq *eq) {
  if (is_box(b, env, pow_base(n)) && !is_drawn(b, env, pow_base(n)))
    return val_refuse(b, n->span, n->span, "this is a repeated box; a value is wanted here");
  eq->inside++;
  Val base = eval_one(b, env, pow_base(n), eq), exponent = eval_one(b, env, pow_exponent(n), eq);
  eq->inside--;
  val_settle(b, &base);
  if (!base.error && !base.literal && exponent.literal && exponent.x->k == 2) {
    Val pair[2] = {base, base};
    return val_fn(b, FN_mul, pair, 2, n->span, eq);
  }
  Val pair[2] = {base, exponent};
  return val_fn(b, FN_pow, pair, 2, n->span, eq);
}

static Val negative(Body *b, Env *env, const Syntax *n, Eq *eq) {
  Val v = eval_one(b, env, neg_operand(n), eq);
  if (!v.error && !v.literal && v.type.base == BASE_BIT) return v;
  return val_fn(b, FN_neg, &v, 1, n->span, eq);
}

static Val as_bit(Body *b, Val v) {
  return v.literal ? val_fill(b, v, (Type){.base = BASE_BIT}) : v;
}

static Val logic(Body *b, Env *env, const Syntax *n, Eq *eq) {
  if (n->kind == N_NOT) {
    Val v = as_bit(b, eval_one(b, env, not_operand(n), eq));
    return val_fn(b, FN_not, &v, 1, n->span, eq);
  }
  Nodes term = chain_terms(n);
  Val v = as_bit(b, eval_one(b, env, term.at[0], eq));
  for (uint32_t i = 1; i < term.n; i++) {
    Val pair[2] = {v, as_bit(b, eval_one(b, env, term.at[i], eq))};
    v = val_fn(b, n->kind == N_AND ? FN_and : FN_or, pair, 2, n->span, eq);
  }
  return v;
}

// on, on.hot: a name that may be a label, being otherwise unbound; or 0.
static Name label_path(Elab *in, Env *env, const Syntax *n) {
  if (n->kind == N_NAME) return env_meaning(env, n) ? 0 : n->name;
  const char *path = n->kind == N_DOT ? path_text(in, n) : NULL;
  const Syntax *root = path ? path_root(n) : NULL;
  return root && root->kind == N_NAME && !env_meaning(env, root) ? name_from(in->w->names, path)
                                                                 : 0;
}

// A label name, resolved by the type of the other operand.
static bool named_label(Body *b, Env *env, const Syntax *n, const Type *like, Val *out) {
  Name name = label_path(b->in, env, n);
  int label = name ? label_named(b->w, like, name) : -1;
  if (label >= 0)
    *out = val_fill(b, val_literal(b, label, n->span), type_like(b->w, like, 0, NULL));
  return label >= 0;
}

// Membership of a label in a group: `x = on` with labels on.warm and on.hot. False: a single label.
static bool in_group(Body *b, Env *env, const Syntax *n, Val left, Val *out, Eq *eq) {
  World *w = b->w;
  SyntaxSign sign = cmp_sign(n);
  Name group = label_path(b->in, env, cmp_right(n));
  int first = group ? label_named(w, &left.type, group) : -1;
  if (first < 0 || (sign != SIGN_EQUAL && sign != SIGN_UNEQUAL)) return false;
  const Ids *names = &w->label_names.at[left.type.names];
  if (names->at[first] == group) return false;
  for (uint32_t i = (uint32_t)first; i < names->n; i++) {
    if (!label_is_in(w, names->at[i], group)) continue;
    Type one = type_like(w, &left.type, 0, NULL);
    Val pair[2] = {left, val_fill(b, val_literal(b, i, n->span), one)};
    Val same = val_fn(b, FN_eq, pair, 2, n->span, eq);
    *out = i == (uint32_t)first ? same : val_fn(b, FN_or, (Val[2]){*out, same}, 2, n->span, eq);
  }
  if (sign == SIGN_UNEQUAL) *out = val_fn(b, FN_not, out, 1, n->span, eq);
  return true;
}

static bool no_such_label(Body *b, Env *env, const Syntax *n, const Type *like) {
  World *w = b->w;
  Name name = label_path(b->in, env, n);
  if (!name || like->base != BASE_LABEL || !like->names ||
      scope_find(env->scope, n->kind == N_NAME ? name : path_root(n)->name))
    return false;
  const Ids *names = &w->label_names.at[like->names];
  Nearest near = nearest_to(name_text(w->names, name));
  for (uint32_t i = 0; i < names->n; i++) nearest_try(&near, name_text(w->names, names->at[i]));
  Type set = {.base = BASE_LABEL, .names = like->names};
  Id e = diag_error(w->diags, n->span, "`%s` is not a label of %s", near.text, own_text(w, &set));
  diag_suggest(w->diags, e, near.best);
  return true;
}

static Val comparison(Body *b, Env *env, const Syntax *n, Eq *eq) {
  SyntaxSign sign = cmp_sign(n);
  eq->inside++;
  Val left = eval_one(b, env, cmp_left(n), eq), right;
  if (!left.error && !left.literal && in_group(b, env, n, left, &right, eq)) {
    eq->inside--;
    return right;
  }
  if (left.error || !named_label(b, env, cmp_right(n), &left.type, &right)) {
    bool none = !left.error && !left.literal && no_such_label(b, env, cmp_right(n), &left.type);
    right = none ? val_error(n->span) : eval_one(b, env, cmp_right(n), eq);
  }
  eq->inside--;
  bool swap = sign == SIGN_MORE || sign == SIGN_AT_LEAST;
  Fn fn = sign == SIGN_EQUAL                       ? FN_eq
          : sign == SIGN_UNEQUAL                   ? FN_ne
          : sign == SIGN_LESS || sign == SIGN_MORE ? FN_lt
                                                   : FN_le;
  if (left.literal && right.literal) left = val_fill(b, left, (Type){.base = BASE_R});
  Val pair[2] = {swap ? right : left, swap ? left : right};
  return val_fn(b, fn, pair, 2, n->span, eq);
}

static bool is_index(void *eq, const Syntax *n) {
  return n->kind == N_NAME && eq_has(eq, n->name, NULL);
}

static Value choice(Body *b, Env *env, const Syntax *n, Eq *eq) {
  const Syntax *yes = when_then(n), *cond = when_cond(n), *no = when_otherwise(n);
  if (!syntax_any(cond, is_index, eq)) {
    Truth t = static_truth(b, env, cond);
    if (t == IS_TRUE) return eval(b, env, yes, eq);
    if (t == IS_FALSE) return eval(b, env, no, eq);
    if (t == IS_OPEN && b->generic)
      return value_error(b, n->span); // depends on a size that only a use determines
    if (t == IS_OPEN)
      return value_refuse(b, n->span, cond->span,
                          "this condition is about sizes, but they are not known yet");
  }
  Val a = eval_one(b, env, yes, eq);
  Val c = as_bit(b, eval_one(b, env, cond, eq));
  Val z = eval_one(b, env, no, eq);
  return value_one(b, val_select(b, c, a, z, n->span, eq));
}

// -- lists ----------------------------------------------------------------------------------------
static bool is_list_of_numbers(Body *b, Env *env, const Syntax *n) {
  double k;
  for (uint32_t i = 0; i < list_entries(n).n; i++) {
    const Syntax *entry = list_entries(n).at[i];
    if (entry->kind == N_LIST ? !is_list_of_numbers(b, env, entry)
                              : !static_number(b, env, entry, &k))
      return false;
  }
  return true;
}

// [x, y]: wires of one type stacked along a new first axis.
static Value stacked(Body *b, Env *env, const Syntax *n) {
  Value rows = {.n = list_entries(n).n, .at = NEW_ARRAY(b->w->arena, Val, list_entries(n).n)};
  for (uint32_t i = 0; i < rows.n; i++) {
    rows.at[i] = eval_one(b, env, list_entries(n).at[i], &(Eq){0});
    if (rows.at[i].error) return value_error(b, n->span);
  }
  return stack_rows(b, rows, n->span);
}

typedef struct {
  const Type *want; // NULL: numbers
  int64_t shape[RANK_LIMIT];
  uint32_t rank;
  VEC(double) data;
} ListNumbers;

static bool list_entry(Body *b, Env *env, const Syntax *n, ListNumbers *out) {
  double k;
  if (!static_number(b, env, n, &k)) {
    Id e =
        diag_error(b->w->diags, n->span, "entries of a list are numbers that are known beforehand");
    return diag_help(b->w->diags, e, "wires are joined by `concat`");
  }
  vec_push(b->w->arena, &out->data, k);
  return !out->want || number_fits(b, k, out->want, n->span);
}

static bool list_read(Body *b, Env *env, const Syntax *n, uint32_t depth, ListNumbers *out) {
  if (depth >= RANK_LIMIT) return false;
  if (depth >= out->rank) {
    out->shape[depth] = list_entries(n).n;
    out->rank = depth + 1;
  }
  if (out->shape[depth] != (int64_t)list_entries(n).n)
    return diag_refuse(b->w->diags, n->span, "this row has %u %s, the first has %lld",
                       list_entries(n).n, list_entries(n).n == 1 ? "entry" : "entries",
                       (long long)out->shape[depth]);
  for (uint32_t i = 0; i < list_entries(n).n; i++) {
    const Syntax *entry = list_entries(n).at[i];
    bool list = entry->kind == N_LIST;
    if (i && list != (list_entries(n).at[0]->kind == N_LIST))
      return diag_refuse(b->w->diags, entry->span, "a list cannot mix rows and numbers");
    if (list ? !list_read(b, env, entry, depth + 1, out) : !list_entry(b, env, entry, out))
      return false;
  }
  return true;
}

Value list_value(Body *b, Env *env, const Syntax *n, const char *path, bool rooted,
                 const Type *want, Span span) {
  World *w = b->w;
  ListNumbers list = {.want = want};
  if (!list_read(b, env, n, 0, &list)) return value_error(b, span);
  if (!list.data.n) return value_refuse(b, span, n->span, "this list is empty");
  const int64_t *shape = list.shape;
  uint32_t rank = list.rank;
  Axis axis[RANK_LIMIT];
  for (uint32_t i = 0; i < rank; i++) axis[i] = (Axis){.size = size_of(w, shape[i])};
  Type t = type_make(w, want ? (Base)want->base : BASE_R, rank, axis);
  if (want && want->rank != rank)
    return value_refuse(b, span, n->span, "this list has %u %s, but %s has %u", rank,
                        rank == 1 ? "axis" : "axes", own_text(w, want), want->rank);
  for (uint32_t i = 0; want && i < rank; i++) {
    if (!sizes_agree(b, want->axis[i].size, t.axis[i].size, n->span, n->span, "a list"))
      return value_refuse(b, span, n->span, "%s has %lld %s, but %s %s wanted",
                          rank == 1 ? "this list"
                          : i       ? "a row of this list"
                                    : "this list of rows",
                          (long long)shape[i], shape[i] == 1 ? "entry" : "entries",
                          size_text(w, want->axis[i].size),
                          size_now(w, want->axis[i].size) == size_of(w, 1) ? "is" : "are");
    t.axis[i] = want->axis[i];
  }
  if (want) t.count = want->count;
  if (!path)
    path = "list";
  else if (!rooted)
    path = list_path(b->in, name_text(w->names, b->d->name), path, &t, list.data.at);
  Param p = {.path = path,
             .rooted = rooted,
             .role = ROLE_CONST,
             .init = {.kind = INIT_DATA, .data = list.data.at}};
  uint32_t i = diagram_param(w, b->d, p, t, name_from(w->names, path), origin_at(b, span));
  sync_sites(b);
  return value_one(b, val_wire(b, b->d->param.at[i].wire, span));
}

// -- brackets -------------------------------------------------------------------------------------
static Value kept_value(Body *b, Env *env, Binding *bind, const Syntax *n) {
  World *w = b->w;
  int64_t k;
  const Syntax *item = nodes_only(brackets_items(at_brackets(n)));
  Size s = item ? size_eval(b, env, item, false) : 0;
  if (!s || !size_value(w, s, &k)) {
    if (!s && !b->w->diags->errors)
      diag_error(w->diags, n->span, "a kept wire is chosen by one number");
    return value_error(b, n->span);
  }
  Id id = table_get(bind->kept, &k, sizeof k);
  if (!id) {
    Id e = diag_error(w->diags, n->span, "`%s[%lld]` was never kept",
                      name_text(w->names, at_base(n)->name), (long long)k);
    diag_note(w->diags, e, bind->span, "`%s` is kept here", name_text(w->names, at_base(n)->name));
    return value_error(b, n->span);
  }
  return bind->kept_value.at[id - 1];
}

// learn p[3]: p[0] is the first member. Is its index an open option?
static bool is_open_option(Env *env, const Syntax *n) {
  const Binding *bind = n->kind == N_NAME ? env_meaning(env, n) : NULL;
  if (bind) return bind->open;
  for (uint32_t i = 0; i < syntax_parts(n).n; i++)
    if (syntax_parts(n).at[i] && is_open_option(env, syntax_parts(n).at[i])) return true;
  return false;
}

const char *family_member(Body *b, Env *env, const Def *learner, const Syntax *brackets) {
  World *w = b->w;
  int64_t k, n;
  const Syntax *item = nodes_only(brackets_items(brackets)),
               *count = brackets_first(family_of(learner));
  Size which = item ? size_eval(b, env, item, false) : 0;
  Size size = count ? size_eval(b, family_env(b, env, learner), count, false) : 0;
  if (!which || !size) return NULL;
  if (!size_value(w, which, &k) && b->generic && is_open_option(env, item))
    return ".0"; // any member: all are alike
  if (!size_value(w, which, &k)) {
    diag_error(w->diags, brackets->span, "a member of a family is chosen by a number");
    return NULL;
  }
  if (k < 0 || (size_value(w, size, &n) && k >= n)) {
    diag_error(w->diags, brackets->span,
               "there is no member %lld: the family has %s, counted from 0", (long long)k,
               size_text(w, size));
    return NULL;
  }
  return arena_format(w->arena, ".%lld", (long long)k);
}

static Value family_value(Body *b, Env *env, Def *d, Body *home, const Syntax *n) {
  const char *member = family_member(b, env, d, at_brackets(n));
  return member ? learned_value(b, env, d, home, member, n) : value_error(b, n->span);
}

Value eval_access(Body *b, Env *env, const Syntax *n, Eq *eq) {
  const Syntax *base = at_base(n);
  if (base->kind == N_NAME) {
    Binding *bind = env_meaning(env, base);
    Def *d = bind ? NULL : scope_meaning(env->scope, base);
    if (bind && bind->kind == BIND_KEPT) return kept_value(b, env, bind, n);
    if (bind && bind->kind == BIND_LEARNER && family_of(bind->def))
      return family_value(b, env, (Def *)bind->def, bind->home, n);
    if (d && family_of(d)) return family_value(b, env, d, NULL, n);
    if (d && d->broken) return value_error(b, n->span);
    const char *text = name_text(b->w->names, base->name);
    if (!bind && !d && strcmp(text, "size") == 0) {
      Size s = size_eval(b, env, n, false);
      return s ? value_one(b, val_size(b, s, n->span)) : value_error(b, n->span);
    }
    const BuiltinBox *f = bind || d ? NULL : builtin_find(b->in, base->name);
    if (f && !f->nodes)
      return f->make(&(BuiltinUse){f, b, env, n, at_brackets(n), {0}, n->span, eq, NULL});
    if ((d && d->kind == DEF_BOX && !box_params(d->node) && box_result(d->node) &&
         box_result(d->node)->kind == N_SIG) ||
        (d && d->kind == DEF_BOX && box_params(d->node) && params_in(box_params(d->node)).n == 0))
      return call_def(b, env, &(BoxUse){.def = d, .node = n, .name = base->name, .span = n->span},
                      at_brackets(n), (Value){0}, NULL); // a box without inputs
    if ((d && d->kind == DEF_BOX) || f || (!bind && !d && fn_find(text) != FN_COUNT)) {
      Id e = diag_error(b->w->diags, n->span, "`%s[…]` is a box; a value is wanted here", text);
      bool options = d && d->kind == DEF_BOX ? box_cfg(d->node) != NULL : f != NULL;
      if (options)
        diag_help(b->w->diags, e, "give it its wires: `%s[…](x)`", text);
      else
        diag_help(b->w->diags, e, "wires go in parentheses: `%s(…)`", text);
      return value_error(b, n->span);
    }
  }
  eq->whole++;
  Val v = eval_one(b, env, base, eq);
  eq->whole--;
  v.indexed = false;
  return value_one(b, index_value(b, env, v, at_brackets(n), n->span, eq));
}

// -- calls ----------------------------------------------------------------------------------------
static Value fn_call(Body *b, Env *env, const Syntax *n, Fn fn, Eq *eq) {
  const FnRow *row = &fn_rows[fn];
  Val arg[3];
  if (!fn_takes(b, fn, call_args(n).n, n->span)) return value_error(b, n->span);
  bool linear = fn == FN_stop || fn == FN_neg;
  eq->inside += !linear;
  for (uint32_t i = 0; i < row->arity; i++) arg[i] = eval_one(b, env, call_args(n).at[i], eq);
  eq->inside -= !linear;
  for (uint32_t i = 0; i < row->arity; i++)
    if (arg[i].literal && row->arity == 1)
      arg[i] = row->sig[0] == 'R' ? arg[i] : val_fill(b, arg[i], (Type){.base = BASE_R});
  return value_one(b, val_fn(b, fn, arg, row->arity, n->span, eq));
}

Value eval_args(Body *b, Env *env, const Syntax *call, const Eq *around) {
  WideValue all = {0};
  for (uint32_t i = 0; i < call_args(call).n; i++) {
    Value v = eval_argument(b, env, arg_given(call_args(call).at[i]), around);
    if (!value_join(b, &all, v, call->span)) break;
  }
  return all.value;
}

static const Syntax *strip(const Syntax *n) {
  while (n->kind == N_PAREN) n = paren_inner(n);
  return n;
}

static bool name_is_free(Env *env, Name name) {
  return !env_find(env, name) && !scope_find(env->scope, name);
}

static Value call_value(Body *b, Env *env, const Syntax *n, const Syntax *over, Eq *eq) {
  const Syntax *callee = strip(call_callee(n));
  const Syntax *named = use_base(callee);
  if (named->kind == N_NAME && name_is_free(env, named->name)) {
    const BuiltinBox *f = builtin_find(b->in, named->name);
    if (f && f->nodes) // evaluates its argument inside the enclosing index equation
      return over && !f->takes_over
                 ? refuse_over(b, over, f->name)
                 : f->make(
                       &(BuiltinUse){f, b, env, n, use_brackets(callee), {0}, n->span, eq, over});
    if (!f && callee->kind == N_NAME) {
      Fn fn = fn_find(name_text(b->w->names, named->name));
      if (fn != FN_COUNT) return fn_call(b, env, n, fn, eq);
    }
  }
  Value v = apply_call(b, env, callee, n, over, eq);
  for (uint32_t i = 0; i < v.n; i++) note_called(b, env, eq, n, &v.at[i]);
  return v;
}

static Value over_value(Body *b, Env *env, const Syntax *n, Eq *eq) {
  const Syntax *call = strip(over_base(n));
  if (call->kind == N_CALL) return call_value(b, env, call, n, eq);
  return value_refuse(b, n->span, n->span, "`over` goes after a call: `f(x) over h`");
}

static Value tuple_value(Body *b, Env *env, const Syntax *n, Eq *eq) {
  WideValue all = {0};
  for (uint32_t i = 0; i < tuple_values(n).n; i++)
    if (!value_join(b, &all, eval(b, env, tuple_values(n).at[i], eq), n->span)) break;
  return all.value;
}

bool is_box(Body *b, Env *env, const Syntax *n) {
  switch (n->kind) {
  case N_PIPE:
  case N_FAN: return true;
  case N_PAREN:
  case N_POW:
  case N_OVER:
  case N_WHEN:
  case N_TUPLE: return is_box(b, env, first_box(n));
  case N_AT:
    if (at_base(n)->kind != N_NAME) return false;
    n = at_base(n); // continue with the name below
    break;
  case N_NAME: break;
  default: return false;
  }
  Binding *bind = env_meaning(env, n);
  if (bind) {
    if (bind->kind == BIND_LEARNER) return learner_has_input(bind->def);
    return bind->kind == BIND_OPTION && (bind->box.node || (bind->open && !bind->has_number));
  }
  Def *d = scope_meaning(env->scope, n);
  if (d) return d->kind == DEF_BOX || (is_learner(d) && learner_has_input(d));
  return builtin_find(b->in, n->name) || fn_find(name_text(b->w->names, n->name)) != FN_COUNT;
}

// An edge of a learning diagram numbers its draws by itself, so that all paths through it share
// them.
static Value edge_value(Body *b, Env *env, const Syntax *n, Eq *eq) {
  const char *edge = b->edge, *inside = b->inside;
  uint32_t noises = b->noises;
  b->edge = arena_format(b->w->arena, "edge %s", name_text(b->w->names, n->name));
  b->inside = NULL, b->noises = 0;
  Value v = eval(b, env, paren_inner(n), eq);
  b->edge = edge, b->inside = inside, b->noises = noises;
  return v;
}

static Value eval_node(Body *b, Env *env, const Syntax *n, Eq *eq) {
  switch (n->kind) {
  case N_NUM: return value_one(b, val_literal(b, n->num, n->span));
  case N_NAME: return name_value(b, env, n, eq);
  case N_NEXT: return next_value(b, env, n);
  case N_PAREN: return n->name ? edge_value(b, env, n, eq) : eval(b, env, paren_inner(n), eq);
  case N_TUPLE: return tuple_value(b, env, n, eq);
  case N_LIST:
    if (!is_list_of_numbers(b, env, n)) return stacked(b, env, n);
    return list_value(b, env, n, arena_format(b->w->arena, "list.%u", n->span.at), false, NULL,
                      n->span);
  case N_CALL: return call_value(b, env, n, NULL, eq);
  case N_OVER: return over_value(b, env, n, eq);
  case N_AT:
    return is_access(env, n) ? value_one(b, eval_product(b, env, n, eq))
                             : eval_access(b, env, n, eq);
  case N_SUM: return value_one(b, sum_value(b, env, n, eq));
  case N_RUN:
  case N_PROD: return value_one(b, eval_product(b, env, n, eq));
  case N_POW: return value_one(b, power_value(b, env, n, eq));
  case N_NEG: return value_one(b, negative(b, env, n, eq));
  case N_NOT:
  case N_AND:
  case N_OR: return value_one(b, logic(b, env, n, eq));
  case N_CMP: return value_one(b, comparison(b, env, n, eq));
  case N_WHEN: return choice(b, env, n, eq);
  case N_PIPE:
  case N_FAN: {
    if (n->kind == N_PIPE && !is_box(b, env, pipe_stages(n).at[0]) &&
        pipe_stages(n).at[0]->kind != N_ERROR) {
      Value first = eval(b, env, pipe_stages(n).at[0], eq);
      if (value_failed(&first)) return value_error(b, n->span);
      Id e = diag_error(b->w->diags, pipe_stages(n).at[0]->span,
                        "this is a value, and `;` joins boxes");
      diag_help(b->w->diags, e, "a value goes into a box as `f(x)`");
      return value_error(b, n->span);
    }
    Id e = diag_error(b->w->diags, n->span, "this is a box; a value is wanted here");
    diag_help(b->w->diags, e, "give it its wires: `(f ; g)(x)`");
    return value_error(b, n->span);
  }
  case N_STR:
    return value_refuse(b, n->span, n->span,
                        "a text is a row of labels of a text source, and there is none here");
  case N_ERROR: return value_error(b, n->span);
  default: return value_refuse(b, n->span, n->span, "a value is wanted here");
  }
}

Value eval(Body *b, Env *env, const Syntax *n, Eq *eq) {
  if (b->in->nest >= NEST_LIMIT) {
    diag_error(b->w->diags, n->span, "boxes and calls are nested too deeply here");
    work_stop(b->in);
    return value_error(b, n->span);
  }
  b->in->nest++;
  uint32_t mark = trace_begin(b);
  const Eq *around = b->eq;
  b->eq = eq;
  Value v = trace_value(b, env, n, mark, eval_node(b, env, n, eq), false);
  b->eq = around;
  b->in->nest--;
  return v;
}
