// Built-in boxes that cannot be written in the language: reductions, which take part in index
// equations; noise; concatenation; scan; derivatives.
#include "lang/elab/builtin.h"
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/ops.h"
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
  uint32_t index[RANK_LIMIT]; // into Eq.index, or UINT32_MAX: a label
  bool batch;
} JoinAlong;

static bool read_along(Body *b, Env *env, const Syntax *config, const Syntax *inner, Eq *eq,
                       JoinAlong *a) {
  World *w = b->w;
  if (config && brackets_slots(config).n > 1)
    return diag_refuse(w->diags, config->span, "axes are separated by spaces: `sum[p q](…)`");
  const Syntax *items = brackets_first(config);
  for (uint32_t i = 0; items && i < items_in(items).n && a->n < RANK_LIMIT; i++) {
    const Syntax *n = items_in(items).at[i];
    if (n->kind == N_SPREAD) {
      Binding *s = env_meaning(env, n);
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
        !env_meaning(env, n)) {
      a->batch = true;
      continue;
    }
    a->name[a->n] = n->name;
    a->span[a->n] = n->span;
    a->index[a->n] = UINT32_MAX;
    use_label_as_axis(env, n);
    if (inner && (n->kind == N_SIZED || stands_in_brackets(inner, n->name, false))) {
      if (eq_has(eq, n->name, NULL))
        return diag_refuse(w->diags, n->span, "index %s is already used outside this reduction",
                           name_text(w->names, n->name));
      uint32_t k = eq_index(b, eq, n->name, n->span);
      eq->index.at[k].bound = true;
      eq->index.at[k].outer = false;
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
    axes[i] =
        all ? !v->type.axis[i].pass
            : a->batch && v->type.axis[i].pass && !is_member_axis(b->in, v->type.axis[i].pass);
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

// A learner inside a machine is trained on one sample per tick, so a reduction over the batch is an
// error.
static bool batch_is_there(Body *b, const JoinAlong *a, const bool *axes, uint32_t rank,
                           Span span) {
  bool any = !a->batch || !b->in->owned;
  for (uint32_t i = 0; i < rank; i++) any |= axes[i];
  if (any) return true;
  Id e = diag_error(b->w->diags, span,
                    "a machine learns from one sample at a tick: there is no batch here");
  return diag_help(b->w->diags, e, "`layer_norm` looks at one sample");
}

// Solves the size of an index that occurs only in a result of a call, as in sum[i](softmax(x[i])).
static void size_indices(const BuiltinUse *u, const Val *v, const JoinAlong *a) {
  for (uint32_t k = 0; k < a->n; k++)
    for (uint32_t i = 0; i < v->type.rank && a->index[k] != UINT32_MAX; i++) {
      EqIndex *e = &u->eq->index.at[a->index[k]];
      if (!v->type.axis[i].pass && v->type.axis[i].label == a->name[k])
        sizes_agree(u->b, e->size, v->type.axis[i].size, e->span, e->span, "an index");
    }
}

static Size count_places(Body *b, const Val *v, const bool *axes) {
  Size n = size_of(b->w, 1);
  for (uint32_t i = 0; i < v->type.rank; i++)
    if (axes[i]) n = size_mul(b->w, n, v->type.axis[i].size);
  return n;
}

// Padding with the neutral element is the same as skipping.
static void skip_padding(Body *b, Val *v, Combine combine) {
  double same = combine == MAX ? -INFINITY : combine == MIN ? INFINITY : combine == PROD ? 1 : 0;
  if (v->x->kind != X_WIRE || !v->x->padded || v->x->pad != same) return;
  v->x = arena_copy(b->w->arena, v->x, sizeof *v->x);
  v->x->padded = false;
}

static const Syntax *argument(const Syntax *use) {
  return use->kind == N_CALL ? nodes_only(call_args(use)) : NULL;
}

// max(x, y)
static bool is_two_way(const BuiltinUse *u) {
  return (u->box->kind == MAX || u->box->kind == MIN) && !u->config &&
         (u->args.n == 2 || (!u->args.n && u->use->kind == N_CALL && call_args(u->use).n == 2));
}

static Value two_way(const BuiltinUse *u) {
  Val pair[2];
  if (u->args.n == 2) {
    memcpy(pair, u->args.at, sizeof pair);
  } else {
    u->eq->inside++;
    pair[0] = eval_one(u->b, u->env, call_args(u->use).at[0], u->eq);
    pair[1] = eval_one(u->b, u->env, call_args(u->use).at[1], u->eq);
    u->eq->inside--;
  }
  Fn fn = u->box->kind == MAX ? FN_maximum : FN_minimum;
  return value_one(u->b, val_fn(u->b, fn, pair, 2, u->span, u->eq));
}

static Val operand_value(const BuiltinUse *u) {
  if (u->args.n == 1) return u->args.at[0];
  if (!u->args.n && argument(u->use)) {
    uint32_t inside = u->eq->inside;
    u->eq->inside = 0;
    u->eq->whole += !u->config;
    Val v = eval_one(u->b, u->env, argument(u->use), u->eq);
    u->eq->whole -= !u->config;
    u->eq->inside = inside;
    return v;
  }
  return val_refuse(u->b, u->span, u->span, "`%s` takes one value", u->box->name);
}

// Broadcasts a value to all batch axes before it is summed over the batch.
static Val for_all_that_pass(Body *b, Val v, Span span) {
  Axis pass[RANK_LIMIT];
  uint32_t n = 0;
  for (uint32_t i = 0; i < b->npass; i++)
    if (b->pass[i].size && !is_member_axis(b->in, i + 1)) pass[n++] = b->pass[i];
  if (!n && !b->d->in.n && !b->in->owned)
    return val_refuse(b, span, span,
                      "nothing passes over what takes no input: there is no batch here");
  return for_each_row(b, v, pass, n, span);
}

// sum[i](x) and the other reductions
static Value reduce(const BuiltinUse *u, bool mean) {
  Body *b = u->b;
  Span span = u->span;
  Combine combine = (Combine)u->box->kind;
  JoinAlong along = {0};
  bool axes[RANK_LIMIT] = {false};
  const Syntax *inner = u->args.n ? NULL : argument(u->use);
  if (!read_along(b, u->env, u->config, inner, u->eq, &along)) return value_error(b, span);
  uint32_t first = b->d->box.n;
  Val v = operand_value(u);
  if (v.error) return value_error(b, span);
  warn_shared_draws(b, &v, u->eq, first, false);
  bool counts = along.batch && !mean && (combine == SUM || combine == PROD);
  if (counts && v.literal) v = val_fill(b, v, (Type){.base = BASE_R});
  if (v.literal && along.n && !mean && (combine == SUM || combine == PROD))
    return value_refuse(b, span, along.span[0], "a bare number has no axis %s for `%s` to go over",
                        name_text(b->w->names, along.name[0]), u->box->name);
  if (v.literal) return value_one(b, v);
  val_settle(b, &v);
  if (counts) v = for_all_that_pass(b, v, span);
  if (v.error) return value_error(b, span);
  if (v.type.base == BASE_LABEL || (v.type.base == BASE_BIT && mean))
    return value_refuse(b, span, span, "`%s` wants numbers, but this is %s", u->box->name,
                        own_text(b->w, &v.type));
  if (!mark_along(b, &v, &along, !u->config, axes, u->box->name)) return value_error(b, span);
  if (!batch_is_there(b, &along, axes, v.type.rank, span)) return value_error(b, span);
  size_indices(u, &v, &along);
  Size n = count_places(b, &v, axes);
  skip_padding(b, &v, combine);
  v.span = span;
  Val r = val_reduce(b, v, combine, axes);
  for (uint32_t i = 0; i < along.n; i++)
    if (along.index[i] != UINT32_MAX) u->eq->index.at[along.index[i]].gone = true;
  if (!u->config || along.batch) val_settle(b, &r);
  uint32_t own[RANK_LIMIT];
  if (!r.nreduce && !own_axes(&r.type, own)) r.indexed = false;
  if (!mean) return value_one(b, r);
  Val pair[2] = {r, val_size(b, n, span)};
  return value_one(b, val_fn(b, FN_div, pair, 2, span, u->eq));
}

static Value do_mean(const BuiltinUse *u) { return reduce(u, true); }
static Value do_reduce(const BuiltinUse *u) {
  return is_two_way(u) ? two_way(u) : reduce(u, false);
}

// argmax and argmin.
static Value do_winner(const BuiltinUse *u) {
  Body *b = u->b;
  Span span = u->span;
  const char *word = u->box->name;
  JoinAlong along = {0};
  bool axes[RANK_LIMIT] = {false};
  uint32_t own[RANK_LIMIT], count = 0;
  if (!read_along(b, u->env, u->config, NULL, &(Eq){0}, &along)) return value_error(b, span);
  if (u->args.n != 1) {
    Id e = diag_error(b->w->diags, span, "`%s` wants one value: `%s(x)`", word, word);
    if (!u->args.n)
      diag_help(b->w->diags, e,
                "inside brackets nothing is called: give it a name first, `k = %s(x)`", word);
    return value_error(b, span);
  }
  Val v = u->args.at[0];
  if (v.error) return value_error(b, span);
  val_settle(b, &v);
  if (v.type.base != BASE_R)
    return value_refuse(b, span, span, "`%s` wants numbers, but this is %s", word,
                        own_text(b->w, &v.type));
  uint32_t n = own_axes(&v.type, own);
  if (!n)
    return value_refuse(b, span, span, "`%s` wants an axis to choose along, but this is one number",
                        word);
  if (u->config && !mark_along(b, &v, &along, false, axes, word)) return value_error(b, span);
  if (!u->config) axes[own[n - 1]] = true;
  for (uint32_t i = 0; i < v.type.rank; i++) count += axes[i];
  if (count != 1) return value_refuse(b, span, span, "`%s` chooses along one axis", word);
  Val r = val_reduce(b, v, (Combine)u->box->kind, axes);
  r.span = span;
  val_settle(b, &r);
  return value_one(
      b, val_wire(b, r.x->wire + 1, span)); // the wire of the winner follows that of the value
}

// -- noise and positions --------------------------------------------------------------------------
static Value do_noise(const BuiltinUse *u) {
  Body *b = u->b;
  Axis axis[RANK_LIMIT];
  uint32_t n = 0;
  for (uint32_t i = 0; i < b->npass; i++)
    if (b->pass[i].size) axis[n] = b->pass[i], axis[n++].pass = i + 1;
  Axis own[RANK_LIMIT], index[RANK_LIMIT];
  uint32_t k = axes_eval(b, u->env, u->config, false, own), each = 0;
  if (k == UINT32_MAX) return value_error(b, u->span);
  each = draw_axes(b, own, k, index);
  if (!rank_fits(b->w, (uint64_t)n + k + each, u->span)) return value_error(b, u->span);
  for (uint32_t i = 0; i < each; i++) axis[n++] = index[i];
  for (uint32_t i = 0; i < k; i++) axis[n++] = own[i];
  Type t = type_make(b->w, BASE_R, n, axis);
  Id wire = box_random(b->w, b->d, (Noise)u->box->kind, noise_site(b), t, origin_at(b, u->span));
  return value_one(b, val_wire(b, wire, u->span));
}

// positions[n]: the vector of the labels 0, 1, …
static Value do_positions(const BuiltinUse *u) {
  Body *b = u->b;
  Axis axis[RANK_LIMIT];
  if (!u->config || axes_eval(b, u->env, u->config, false, axis) != 1)
    return value_refuse(b, u->span, u->span, "`positions` wants one size: `positions[8]`");
  Expr *x = NEW(b->w->arena, Expr);
  *x = (Expr){.kind = X_AT, .base = BASE_LABEL, .rank = 1, .turn = b->d->turn};
  return value_one(b, (Val){x, type_label(b->w, axis[0].size, 1, axis), .span = u->span});
}

static Value do_order(const BuiltinUse *u) {
  Body *b = u->b;
  Span span = u->span;
  JoinAlong along = {0};
  bool axes[RANK_LIMIT] = {false};
  uint32_t own[RANK_LIMIT];
  if (u->args.n != 1 || u->args.at[0].error ||
      !read_along(b, u->env, u->config, NULL, u->eq, &along))
    return value_error(b, span);
  Val v = u->args.at[0];
  Id wire = val_to_wire(b, &v, 0);
  uint32_t n = own_axes(&v.type, own), at = UINT32_MAX;
  if (!wire || v.type.base != BASE_R || !n)
    return value_refuse(b, span, span, "`order` wants numbers along an axis, but this is %s",
                        own_text(b->w, &v.type));
  if (u->config && !mark_along(b, &v, &along, false, axes, "order")) return value_error(b, span);
  if (!u->config) axes[own[n - 1]] = true;
  uint32_t along_n = 0;
  for (uint32_t i = 0; i < v.type.rank; i++)
    if (axes[i]) at = i, along_n++;
  if (along_n != 1 || v.type.axis[at].pass)
    return value_refuse(b, span, span, "`order` goes along one axis of the value: `order[n](x)`");
  return value_one(b, val_wire(b, box_order(b->w, b->d, at, wire, origin_at(b, span)), span));
}

// -- boxes as arguments ---------------------------------------------------------------------------
// Elaborates a box on inputs of these types as a diagram of its own.
Body *box_for_itself(Body *b, const Alone *how) {
  World *w = b->w;
  Span span = how->span;
  Axis pass[RANK_LIMIT];
  Body *sub = body_new(b->in, b->d->name);
  sub->generic = b->generic;
  sub->npass = b->npass;
  sub->pass = b->pass;
  sub->labels = b->labels;
  sub->inside = arena_format(w->arena, "%s%u/", b->inside ? b->inside : "", ++b->noises);
  sub->edge = b->edge;
  sub->env = how->env;
  sub->def = b->def;
  sub->over = how->over;
  Value in = {.n = how->n, .at = NEW_ARRAY(w->arena, Val, how->n)};
  for (uint32_t i = 0; i < in.n; i++)
    in.at[i] = val_wire(sub, diagram_input(w, sub->d, how->in[i], 0, 0), span);
  Value out = apply(sub, how->env, how->box, in, how->named, span);
  uint32_t npass = how->rows ? all_passing(&in, pass) : 0;
  for (uint32_t i = 0; i < out.n; i++) {
    if (npass && !out.at[i].error) out.at[i] = for_each_row(sub, out.at[i], pass, npass, span);
    Id wire = out.at[i].error ? 0 : val_to_wire(sub, &out.at[i], 0);
    if (!wire) return NULL;
    diagram_output(w, sub->d, wire);
    vec_push(w->arena, &sub->out_type, out.at[i].type);
  }
  body_finish(sub);
  return sub;
}

Body *box_alone(Body *b, Env *env, const Syntax *box, uint32_t n, const Type *types, Span span) {
  return box_for_itself(b, &(Alone){.env = env, .box = box, .in = types, .n = n, .span = span});
}

const Syntax *boxed_option(Body *b, const Syntax *config, uint32_t at, Span span,
                           const char *word) {
  const Syntax *n = config && at < brackets_slots(config).n ? brackets_slots(config).at[at] : NULL;
  if (n && slot_item(n)->kind != N_ITEMS) return slot_item(n);
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

// -- table ----------------------------------------------------------------------------------------
static const BuiltinBox boxes[] = {
    {"sum", do_reduce, true, SUM, false},
    {"mean", do_mean, true, SUM, false},
    {"prod", do_reduce, true, PROD, false},
    {"max", do_reduce, true, MAX, false},
    {"min", do_reduce, true, MIN, false},
    {"argmax", do_winner, false, MAX, false},
    {"argmin", do_winner, false, MIN, false},
    {"concat", builtin_concat, false, 0, false},
    {"normal", do_noise, false, NOISE_NORMAL, false},
    {"uniform", do_noise, false, NOISE_UNIFORM, false},
    {"positions", do_positions, false, 0, false},
    {"order", do_order, false, 0, false},
    {"rev", builtin_derivative, false, BACK, true},
    {"fwd", builtin_derivative, false, FORTH, true},
    {"scan", builtin_scan, false, 0, false},
};

void core_builtins(Elab *in) { builtins_add(in, boxes, COUNT(boxes)); }

// The text of an option; a name bound to a box option gives the text of that box.
static const char *slot_word(Body *b, Env *env, const Syntax *slot) {
  const Syntax *item = slot_item(slot);
  if (item->kind == N_NAME) return box_word(b->w, &(Closure){.node = item, .env = env});
  return span_words(b->w, slot->span);
}

// Stores the options with the diagram, as written, for pictures: refit (head, gd, steps: 50).
void config_keep(Body *b, Env *env, const Syntax *config, uint32_t from, Diagram *to) {
  for (uint32_t i = from; config && i < brackets_slots(config).n; i++)
    vec_push(b->w->arena, &to->option,
             (Option){.text = slot_word(b, env, brackets_slots(config).at[i])});
}
