// Applies a box expression to values: `;` `&` `(f, g)` `^`, and names of any kind.
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "core/diagram/ops.h"
#include "lang/elab/call.h"
#include "lang/elab/partial.h"

static bool is_number_of_times(Body *b, Env *env, const Syntax *n, int64_t *times) {
  Size s = size_eval(b, env, n, false);
  if (!s) return false;
  if (size_value(b->w, s, times) && *times >= 0 && *times <= 100000) return true;
  if (size_value(b->w, s, times))
    return diag_refuse(b->w->diags, n->span,
                       "a box is repeated 0 to 100000 times, and this is %lld", (long long)*times);
  if (!b->generic)
    diag_error(b->w->diags, n->span,
               "how often a box is repeated must be a number that is known beforehand");
  return false;
}

// The part of `over h` for one of several boxes: none if no argument has such an axis.
static const Syntax *remaining_over(const Value *args, const Syntax *over) {
  for (uint32_t i = 0; over && i < over_names(over).n; i++)
    for (uint32_t a = 0; a < args->n; a++)
      for (uint32_t k = 0; k < args->at[a].type.rank; k++)
        if (!args->at[a].type.axis[k].pass &&
            args->at[a].type.axis[k].label == over_names(over).at[i]->name)
          return over;
  return NULL;
}

static Value apply_power(Body *b, Env *env, const Syntax *n, Value args, const Syntax *over,
                         Span span) {
  int64_t times;
  if (!is_number_of_times(b, env, pow_exponent(n), &times)) return value_error(b, span);
  const char *suffix = b->suffix;
  Id outer = b->d->turn, first = 0;
  for (int64_t i = 1; i <= times; i++) {
    b->suffix = arena_format(b->w->arena, "%s.%lld", suffix ? suffix : "", (long long)i);
    b->d->turn = turn_new(b->w, first, outer, 0, i);
    if (!first) first = b->d->turn;
    args = apply(b, env, pow_base(n), args, remaining_over(&args, over), span);
    if (args.n && args.at[0].error) break;
  }
  b->suffix = suffix;
  b->d->turn = outer;
  return args;
}

// (f, g) takes as many wires as f and g have inputs, in this order.
static Value apply_tuple(Body *b, Env *env, const Syntax *n, Value args, const Syntax *over,
                         Span span) {
  WideValue all = {0};
  uint32_t at = 0;
  for (uint32_t i = 0; i < tuple_values(n).n; i++) {
    int want = arity_of(b, env, tuple_values(n).at[i]);
    if (want < 0) want = tuple_values(n).n == args.n ? 1 : -1;
    if (want < 0 || at + (uint32_t)want > args.n) {
      int sum = arity_of(b, env, n);
      if (uses_broken(env, n)) return value_error(b, span);
      if (sum < 0)
        return value_refuse(b, span, span, "these boxes side by side take more than %u %s", args.n,
                            args.n == 1 ? "wire" : "wires");
      return value_refuse(b, span, span, "these boxes side by side take %d wires, but %u %s there",
                          sum, args.n, args.n == 1 ? "is" : "are");
    }
    Value own = {(uint32_t)want, args.at + at, NULL};
    Value one = apply(b, env, tuple_values(n).at[i], own, remaining_over(&own, over), span);
    if (!value_join(b, &all, one, span)) return all.value;
    at += (uint32_t)want;
  }
  if (at == args.n) return all.value;
  return value_refuse(b, span, span, "these boxes side by side take %u %s, but %u are there", at,
                      at == 1 ? "wire" : "wires", args.n);
}

static Value apply_fan(Body *b, Env *env, const Syntax *n, Value args, const Syntax *over,
                       Span span) {
  WideValue all = {0};
  for (uint32_t i = 0; i < args.n; i++) val_to_wire(b, &args.at[i], 0);
  for (uint32_t i = 0; i < fan_branches(n).n; i++) {
    Value one = apply(b, env, fan_branches(n).at[i], value_copy(b, args),
                      remaining_over(&args, over), span);
    if (!value_join(b, &all, one, span)) break;
  }
  return all.value;
}

static Value apply_pipe(Body *b, Env *env, const Syntax *n, Value args, const Syntax *over,
                        Span span) {
  for (uint32_t i = 0; i < pipe_stages(n).n; i++) {
    args = apply(b, env, pipe_stages(n).at[i], args, remaining_over(&args, over), span);
    if (!b->trace && value_failed(&args)) return value_error(b, span);
  }
  return args;
}

bool fn_takes(Body *b, Fn fn, uint32_t given, Span span) {
  const FnRow *row = &fn_rows[fn];
  if (given == row->arity) return true;
  return diag_refuse(b->w->diags, span, "`%s` takes %u %s, but %u %s given", row->name, row->arity,
                     row->arity == 1 ? "value" : "values", given, given == 1 ? "is" : "are");
}

static Value apply_compound(Body *b, Env *env, const Syntax *n, Value args, const Syntax *over,
                            Span span) {
  switch (n->kind) {
  case N_PIPE: return apply_pipe(b, env, n, args, over, span);
  case N_FAN: return apply_fan(b, env, n, args, over, span);
  case N_TUPLE: return apply_tuple(b, env, n, args, over, span);
  default: return apply_power(b, env, n, args, over, span);
  }
}

static Value apply_fn(Body *b, Fn fn, Value args, Span span) {
  if (!fn_takes(b, fn, args.n, span)) return value_error(b, span);
  return value_one(b, val_fn(b, fn, args.at, args.n, span, NULL));
}

// A box passed as an option refers to axes by the labels of its call site: labels are translated to
// those on the way in, and back on the way out.
static Name label_outside(Env *env, Name label) {
  Binding *bind = label ? env_find(env, label) : NULL;
  return bind && bind->kind == BIND_SIZE ? bind->label : label;
}

static Name label_inside(Env *env, Name label) {
  for (Env *e = env; e && label; e = e->outer)
    for (uint32_t i = 0; e->names && i < table_count(e->names); i++) {
      const Binding *bind = &e->binding.at[table_value(e->names, i) - 1];
      Name name;
      memcpy(&name, table_key(e->names, i, NULL), sizeof name);
      if (bind->kind == BIND_SIZE && bind->label == label) return name;
    }
  return label;
}

static void relabel(Body *b, Env *env, Value *v, Name (*word)(Env *, Name)) {
  for (uint32_t i = 0; i < v->n; i++) {
    Type *t = &v->at[i].type;
    if (v->at[i].error || !t->rank) continue;
    t->axis = arena_copy(b->w->arena, t->axis, t->rank * sizeof(Axis));
    for (uint32_t k = 0; k < t->rank; k++)
      if (!t->axis[k].pass) t->axis[k].label = word(env, t->axis[k].label);
  }
}

static bool names_in_brackets(const Syntax *n, bool inside) {
  if (!n) return false;
  if (inside && (n->kind == N_NAME || n->kind == N_SIZED)) return true;
  for (uint32_t i = 0; i < syntax_parts(n).n; i++)
    if (names_in_brackets(syntax_parts(n).at[i], inside || n->kind == N_BRACKETS)) return true;
  return false;
}

static bool mentions_axes(const Closure *box) {
  if (box->node->kind != N_NAME) return names_in_brackets(box->node, false);
  const Binding *bind = env_meaning(box->env, box->node);
  return bind && bind->kind == BIND_OPTION && bind->box.node && mentions_axes(&bind->box);
}

static Value apply_option(Body *b, Env *env, const Binding *bind, Value args, const Syntax *over,
                          Span span) {
  Closure box = bind->box;
  if (box.env == env || over || !mentions_axes(&box))
    return apply(b, box.env, box.node, args, over, span);
  for (uint32_t i = 0; i < args.n; i++) val_settle(b, &args.at[i]);
  relabel(b, env, &args, label_outside);
  Value v = apply(b, box.env, box.node, args, over, span);
  for (uint32_t i = 0; i < v.n; i++)
    if (!v.at[i].error) val_settle(b, &v.at[i]);
  relabel(b, env, &v, label_inside);
  return v;
}

// A call of a box or a learner by name, with or without brackets.
typedef struct {
  Body *b;
  Env *env;
  const Syntax *name, *config;
  const Syntax *use; // the whole use: the name with its brackets and arguments
  const Syntax *over;
} NamedCall;

static const char *call_text(const NamedCall *c) {
  return name_text(c->b->w->names, c->name->name);
}

// Calls a box or a learner of the file, or a learner declared in a body (`home`).
static Value apply_def(const NamedCall *c, Def *d, Body *home, Value args) {
  BoxUse use = {
      .def = d, .home = home, .node = c->use, .name = c->name->name, .span = c->use->span};
  const Syntax *config = c->config;
  bool family = family_of(d);
  if (family && !config && !d->broken) {
    Id e =
        diag_error(c->b->w->diags, c->name->span,
                   "`%s` is a family: say which member, as in `%s[0]`", call_text(c), call_text(c));
    if (!home) diag_note(c->b->w->diags, e, d->span, "declared here");
    return value_error(c->b, use.span);
  }
  if (family && config) {
    use.family = family_member(c->b, c->env, d, config);
    if (!use.family) return value_error(c->b, use.span);
    config = NULL;
  }
  return call_def(c->b, c->env, &use, config, args, c->over);
}

// Calls what a name is bound to in the body: a learner, an option, or something that is not a box.
static Value apply_binding(const NamedCall *c, const Binding *bind, Value args) {
  World *w = c->b->w;
  Span span = c->use->span;
  if (bind->kind == BIND_LEARNER) return apply_def(c, (Def *)bind->def, bind->home, args);
  if (bind->kind == BIND_OPTION && bind->box.node)
    return apply_option(c->b, c->env, bind, args, c->over, span);
  if (bind->open) return value_error(c->b, span); // a box option in generic elaboration
  if (bind->kind == BIND_VALUE && bind->value.n && bind->value.at[0].error)
    return value_error(c->b, span);
  if (bind->kind == BIND_OPTION &&
      bind->span.file) { // the option was given something that is not a box
    bool unknown = bind->label && !bind->has_number && !size_value(w, bind->size, &(int64_t){0});
    const char *what = unknown ? "there is no box of this name" : "this is a size or a number";
    Id e = diag_error(w->diags, bind->span, "a box is wanted for option `%s`, and %s", call_text(c),
                      what);
    diag_note(w->diags, e, c->name->span, "used as a box here");
    return value_error(c->b, span);
  }
  Id e = diag_error(w->diags, c->name->span,
                    bind->kind == BIND_VALUE ? "`%s` is a wire, not a box" : "`%s` is not a box",
                    call_text(c));
  diag_note(w->diags, e, bind->span, "it comes from here");
  return value_error(c->b, span);
}

static Value apply_declared(const NamedCall *c, Def *d, Value args) {
  if (d->kind == DEF_BOX || is_learner(d)) return apply_def(c, d, NULL, args);
  if (d->broken) return value_error(c->b, c->use->span);
  Id e = diag_error(c->b->w->diags, c->name->span, "`%s` is not a box", call_text(c));
  diag_note(c->b->w->diags, e, d->span, "it is declared here");
  if (d->kind == DEF_MACHINE)
    diag_help(c->b->w->diags, e, "as a part of a wiring it is `p : %s`, with wires to its ports",
              call_text(c));
  return value_error(c->b, c->use->span);
}

// `over` needs a box with a header, which tells its own axes from batch axes.
Value refuse_over(Body *b, const Syntax *over, const char *what) {
  Id e = diag_error(b->w->diags, over->span, "`over` has no meaning for `%s`", what);
  diag_help(b->w->diags, e,
            "give it a box of its own, whose inputs have types, and write `over` behind that");
  return value_error(b, over->span);
}

// callee: a name, perhaps with brackets; use: the callee, or the call it stands in
static Value apply_name(Body *b, Env *env, const Syntax *callee, const Syntax *use, Value args,
                        const Syntax *over) {
  NamedCall c = {b, env, use_base(callee), use_brackets(callee), use, over};
  Binding *bind = env_meaning(env, c.name);
  if (bind) return apply_binding(&c, bind, args);
  Def *d = scope_meaning(env->scope, c.name);
  if (d) return apply_declared(&c, d, args);
  const BuiltinBox *f = builtin_find(b->in, c.name->name);
  if (f && over && !f->takes_over) return refuse_over(b, over, call_text(&c));
  if (f) return f->make(&(BuiltinUse){f, b, env, use, c.config, args, use->span, &(Eq){0}, over});
  Fn fn = fn_find(call_text(&c));
  if (fn != FN_COUNT && !c.config) return apply_fn(b, fn, args, use->span);
  if (fn != FN_COUNT) {
    Id e = diag_error(b->w->diags, c.config->span, "`%s` has no options", call_text(&c));
    diag_help(b->w->diags, e, "an index belongs to the wire: `%s(x[i])`", call_text(&c));
    return value_error(b, use->span);
  }
  unknown_name(b, env, c.name, "box");
  return value_error(b, use->span);
}

static Value apply_node(Body *b, Env *env, const Syntax *n, Value args, const Syntax *over,
                        Span span) {
  if (!work_on(b, 1 + args.n, n->span) || value_failed(&args)) return value_error(b, span);
  switch (n->kind) {
  case N_PAREN: return apply(b, env, paren_inner(n), args, over, span);
  case N_PIPE:
  case N_FAN:
  case N_TUPLE:
  case N_POW: return apply_compound(b, env, n, args, over, span);
  case N_OVER: return apply(b, env, over_base(n), args, n, span);
  case N_GROUP:
  case N_ITEMS:
    if (nodes_only(syntax_parts(n)))
      return apply(b, env, nodes_only(syntax_parts(n)), args, over, span);
    break;
  case N_NAME: return apply_name(b, env, n, n, args, over);
  case N_AT:
    if (at_base(n)->kind == N_NAME) return apply_name(b, env, n, n, args, over);
    break;
  case N_WHEN: {
    Truth t = static_truth(b, env, when_cond(n));
    if (t == IS_TRUE || t == IS_FALSE)
      return apply(b, env, t == IS_TRUE ? when_then(n) : when_otherwise(n), args, over, span);
    if (t == IS_DYNAMIC)
      diag_error(b->w->diags, when_cond(n)->span,
                 "which box is used must be decided before anything runs: by sizes, options or "
                 "`training`");
    return value_error(b, span);
  }
  case N_ERROR: return value_error(b, span);
  default: break;
  }
  Id e = diag_error(b->w->diags, n->span, "a box is wanted here, and this is a value");
  const Syntax *name = use_callee(n);
  Def *d = name->kind == N_NAME ? scope_meaning(env->scope, name) : NULL;
  if (n->kind == N_CALL && d && d->kind == DEF_BOX && box_cfg(d->node))
    diag_help(b->w->diags, e, "options go in brackets: `%s[…]`",
              name_text(b->w->names, name->name));
  else
    diag_help(b->w->diags, e, "a value goes into a box as `f(x)`");
  return value_error(b, span);
}

Value apply(Body *b, Env *env, const Syntax *n, Value args, const Syntax *over, Span span) {
  if (!b->trace) return apply_node(b, env, n, args, over, span);
  while (n->kind == N_PAREN) n = paren_inner(n);
  if (n->kind == N_PIPE && value_failed(&args)) return apply_pipe(b, env, n, args, over, span);
  uint32_t mark = trace_begin(b);
  Value given = value_copy(b, args);
  return trace_apply(b, n, mark, given, apply_node(b, env, n, args, over, span));
}

// Reorders named arguments, f(a, b: x), to the order of the header.
static bool order_args(Body *b, Env *env, const Syntax *callee, const Syntax *call, Value *out) {
  World *w = b->w;
  bool named = false;
  Nodes given = call_args(call);
  for (uint32_t i = 0; i < given.n; i++) named |= given.at[i]->kind == N_ARG;
  if (!named) return true;
  const Syntax *name = use_base(callee);
  Def *d = name->kind == N_NAME ? scope_meaning(env->scope, name) : NULL;
  Header h = d && (d->kind == DEF_BOX || d->kind == DEF_LEARNER) ? header_of(d) : (Header){0};
  if (!h.params || params_in(h.params).n != given.n)
    return diag_refuse(w->diags, call->span,
                       "arguments by name need a box whose inputs have names, each given once");
  Value ordered = {.n = given.n, .at = NEW_ARRAY(w->arena, Val, given.n)};
  bool *filled = NEW_ARRAY(w->arena, bool, given.n + 1);
  Nodes param = params_in(h.params);
  for (uint32_t i = 0; i < given.n; i++) {
    uint32_t at = i;
    if (given.at[i]->kind == N_ARG)
      for (at = 0; at < param.n && param.at[at]->name != given.at[i]->name;) at++;
    if (at >= param.n || filled[at] || out->n != ordered.n) {
      bool known = at < param.n;
      Buf all = buf_new(w->arena);
      for (uint32_t k = 0; k < param.n; k++)
        buf_printf(&all, "%s%s", k ? ", " : "", name_text(w->names, param.at[k]->name));
      Id e =
          diag_error(w->diags, given.at[i]->span,
                     known ? "input `%s` of `%s` is given twice" : "there is no input `%s` of `%s`",
                     name_text(w->names, known ? param.at[at]->name : given.at[i]->name),
                     name_text(w->names, d->name));
      diag_help(w->diags, e, "its inputs are %s", all.at);
      return diag_note(w->diags, e, d->span, "declared here");
    }
    filled[at] = true;
    ordered.at[at] = out->at[i];
  }
  *out = ordered;
  return true;
}

Value apply_call(Body *b, Env *env, const Syntax *callee, const Syntax *call, const Syntax *over,
                 const Eq *around) {
  Value args = eval_args(b, env, call, around);
  if (value_failed(&args)) {
    if (callee->kind == N_NAME && !env_meaning(env, callee)) { // report an unknown box too
      Def *d = scope_meaning(env->scope, callee);
      if (d)
        d->used = true;
      else if (!builtin_find(b->in, callee->name) &&
               fn_find(name_text(b->w->names, callee->name)) == FN_COUNT)
        unknown_name(b, env, callee, "box");
    }
    if (b->trace) return apply(b, env, callee, args, over, call->span);
    return value_error(b, call->span);
  }
  if (!order_args(b, env, callee, call, &args)) return value_error(b, call->span);
  if (use_base(callee)->kind == N_NAME) return apply_name(b, env, callee, call, args, over);
  return apply(b, env, callee, args, over, call->span);
}
