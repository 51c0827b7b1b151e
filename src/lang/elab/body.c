// Elaborates bodies: statements in order, between declared inputs and results.
#include "lang/elab/body.h"
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "base/stop.h"
#include "base/table.h"
#include "lang/elab/partial.h"
#include "lang/value/results.h"

#include <math.h>

Body *body_new(Elab *in, Name name) {
  Body *b = NEW(in->w->arena, Body);
  b->in = in;
  b->w = in->w;
  b->id = ++in->bodies;
  b->d = diagram_new(in->w, name);
  return b;
}

void body_pass(Body *b, uint32_t number, Axis axis) {
  if (!b->pass) b->pass = NEW_ARRAY(b->w->arena, Axis, RANK_LIMIT);
  axis.pass = number;
  b->pass[number - 1] = axis;
  if (number > b->npass) b->npass = number;
}

// Counts work against the limit. While messages are muted, the error is left to the next caller.
bool work_on(Body *b, uint32_t steps, Span span) {
  Elab *in = b->in;
  if (in->work <= in->work_limit) in->work += steps;
  if (stop_asked(in->stop)) in->work = in->work_limit + 1;
  if (in->work <= in->work_limit) return true;
  if (in->stopped || b->w->diags->muted) return false;
  in->stopped = true;
  return diag_refuse(
      b->w->diags, span,
      "this program is too large: its loops and boxes, written out, are more than %llu steps",
      (unsigned long long)in->work_limit);
}

void work_stop(Elab *in) {
  in->work = in->work_limit + 1;
  in->stopped |= !in->w->diags->muted;
}

void sync_sites(Body *b) {
  while (b->param_site.n < b->d->param.n) vec_push(b->w->arena, &b->param_site, 0);
}

uint64_t noise_site(Body *b) {
  const char *path =
      arena_format(b->w->arena, "%s/%s%u%s", b->edge ? b->edge : name_text(b->w->names, b->d->name),
                   b->inside ? b->inside : "", ++b->noises, b->suffix ? b->suffix : "");
  return site_hash(0, path);
}

// -- statements -----------------------------------------------------------------------------------
static bool refuse_redefinition(Body *b, Env *env, const Syntax *lhs) {
  Binding *old = env_meaning(env, lhs);
  if (!old || (!old->fixed && (old->kind == BIND_VALUE || old->kind == BIND_KEPT))) return false;
  static const char *const word[] = {"an option",       "an axis", "a row of axes", "", "a learner",
                                     "a loop variable", "",        "a state"};
  const char *name = name_text(b->w->names, lhs->name);
  Id e = diag_error(b->w->diags, lhs->name_span, "`%s` is %s and cannot be a wire too", name,
                    old->fixed ? "a weight" : word[old->kind]);
  diag_note(b->w->diags, e, old->span, "it comes from here");
  if (old->kind == BIND_STATE) diag_help(b->w->diags, e, "write `next %s = …`", name);
  return true;
}

// Records the labels of axes: such names are indices in brackets, even if they are options too.
static void learn_labels(Body *b, const Value *v) {
  for (uint32_t i = 0; b->labels && i < v->n; i++)
    for (uint32_t k = 0; k < v->at[i].type.rank && !v->at[i].error; k++) {
      const Axis *axis = &v->at[i].type.axis[k];
      if (!axis->pass && axis->label) table_put(b->labels, &axis->label, sizeof axis->label, 1);
    }
}

static void bind_wire(Body *b, Env *env, const Syntax *lhs, Value v) {
  if (refuse_redefinition(b, env, lhs)) return;
  learn_labels(b, &v);
  for (uint32_t i = 0; i < v.n; i++)
    if (!v.at[i].error && !v.at[i].literal) val_to_wire(b, &v.at[i], lhs->name);
  bind_value(env, lhs->name, v, lhs->name_span);
}

// Is it C[l] = X inside a loop, with only numbers and loop variables in the brackets?
static bool is_kept(Body *b, Env *env, const Syntax *lhs, int64_t *which) {
  const Syntax *n = nodes_only(brackets_items(lhs_brackets(lhs)));
  if (!n) return false;
  if (n->kind == N_NAME) {
    Binding *bind = env_meaning(env, n);
    if (!bind || bind->kind != BIND_LOOP ||
        (b->labels && table_get(b->labels, &n->name, sizeof n->name)))
      return false;
  } else if (n->kind != N_NUM) {
    return false;
  }
  Size s = size_eval(b, env, n, false);
  return s && size_value(b->w, s, which);
}

static void bind_kept(Body *b, Env *env, const Syntax *lhs, int64_t which, Value v) {
  Binding *bind = env_meaning(env, lhs);
  if (!bind || bind->kind != BIND_KEPT) {
    if (refuse_redefinition(b, env, lhs)) return;
    bind = env_bind(
        env, lhs->name,
        (Binding){.kind = BIND_KEPT, .kept = table_new(b->w->arena), .span = lhs->name_span});
  }
  for (uint32_t i = 0; i < v.n; i++) {
    if (v.at[i].error || v.at[i].literal) continue;
    b->d->wire.at[val_to_wire(b, &v.at[i], lhs->name)].kept = lhs->name;
  }
  vec_push(b->w->arena, &bind->kept_value, v);
  table_put(bind->kept, &which, sizeof which, bind->kept_value.n);
}

static void eval_equation_statement(Body *b, Env *env, const Syntax *n) {
  World *w = b->w;
  const Syntax *lhss = equation_lhss(n), *expr = equation_value(n), *pad = equation_pad(n),
               *guard = equation_cond(n);
  if (guard)
    diag_error(w->diags, guard->span, "a guard is for machines; in a box write `… when … else …`");
  if (lhss_in(lhss).n == 1) {
    const Syntax *lhs = lhss_in(lhss).at[0];
    const Syntax *brackets = lhs_brackets(lhs);
    int64_t which;
    bool kept = brackets && is_kept(b, env, lhs, &which);
    Value v = eval_equation(b, env, kept ? NULL : brackets, expr, pad, NULL, n->span);
    if (kept)
      bind_kept(b, env, lhs, which, v);
    else
      bind_wire(b, env, lhs, v);
    return;
  }
  Value v = eval_equation(b, env, NULL, expr, pad, NULL, n->span);
  bool failed = v.n == 1 && v.at[0].error;
  bool fits = v.n == lhss_in(lhss).n;
  if (!failed && !fits)
    diag_error(w->diags, n->span, "%u names on the left, but %u %s on the right", lhss_in(lhss).n,
               v.n, v.n == 1 ? "value" : "values");
  if (b->trace && !fits)
    v = trace_parts(b, v, lhss_in(lhss).n, n->span), failed = false, fits = true;
  for (uint32_t i = 0; i < lhss_in(lhss).n; i++) {
    Value one = failed || !fits ? value_error(b, n->span) : value_one(b, v.at[i]);
    bind_wire(b, env, lhss_in(lhss).at[i], one);
  }
}

// A declaration in a loop is met again in each iteration.
static bool same_place(Span a, Span b) { return a.file == b.file && a.at == b.at; }

static void local_learner(Body *b, Env *env, const Syntax *n) {
  World *w = b->w;
  Nodes names = names_in(learner_names(n));
  for (uint32_t i = 0; i < names.n; i++) {
    Name name = names.at[i]->name;
    Span span = names.at[i]->span;
    Binding *old = env_find(env, name);
    bool learned = old && (old->fixed || old->kind == BIND_LEARNER);
    if (learned && !same_place(old->span, span)) {
      Id e =
          diag_error(w->diags, span, "`%s` is declared twice: in one scope a name has one meaning",
                     name_text(w->names, name));
      diag_note(w->diags, e, old->span, "and here");
      continue;
    }
    if (!learned && refuse_redefinition(b, env, &(Syntax){.name = name, .name_span = span}))
      continue;
    Def *d = def_new(b->in, DEF_LEARNER, name, span, env->scope, n);
    if (b->suffix)
      d->name =
          name_from(w->names, arena_format(w->arena, "%s%s", name_text(w->names, name), b->suffix));
    if (learner_has_input(d) || learner_family(n)) {
      env_bind(env, name, (Binding){.kind = BIND_LEARNER, .def = d, .home = b, .span = d->span});
      continue;
    }
    if (learner_from(n))
      diag_error(w->diags, learner_from(n)->span, "`from` is for learners at the top of a program");
    WeightDecl decl = {
        .path = name_text(w->names, d->name), .role = ROLE_WEIGHT, .name = name, .span = d->span};
    Value v = typed_weight(b, env, learner_result(n), learner_body(n), &decl);
    env_bind(env, name, (Binding){.kind = BIND_VALUE, .value = v, .span = d->span, .fixed = true});
  }
}

static void local_states(Body *b, Env *env, const Syntax *n) {
  World *w = b->w;
  for (uint32_t i = 0; i < states_in(n).n; i++) {
    const Syntax *typed = states_in(n).at[i];
    Types t = {0};
    if (!name_is_new(b, env, typed->name, typed->name_span)) continue;
    bool clear = typed_type(typed) && !typed_brackets(typed);
    if (!clear)
      diag_error(w->diags, typed->span,
                 typed_type(typed) ? "a state in a box has no indices: `state m : R[c] = 0`"
                                   : "a state in a box wants its type: `state m : R[c] = 0`");
    if (!clear || !types_eval(b, env, typed_type(typed), false, &t, NULL) || t.n != 1) {
      env_bind(env, typed->name,
               (Binding){.kind = BIND_STATE,
                         .value = value_error(b, typed->span),
                         .span = typed->name_span});
      continue;
    }
    const char *path = arena_format(w->arena, "%s%s", name_text(w->names, typed->name),
                                    b->suffix ? b->suffix : "");
    WeightDecl decl = {.path = path, .role = ROLE_BUFFER, .name = typed->name, .span = typed->span};
    Val v = add_weight(b, t.at[0], init_from(b, env, typed_value(typed), &t.at[0]), &decl);
    uint32_t param = b->d->param.n - 1;
    env_bind(env, typed->name,
             (Binding){.kind = BIND_STATE,
                       .value = value_one(b, v),
                       .param = param,
                       .span = typed->name_span});
  }
}

static void next_state(Body *b, Env *env, const Syntax *n) {
  World *w = b->w;
  Binding *bind = env_meaning(env, n);
  if (!bind || bind->kind != BIND_STATE) {
    const char *name = name_text(w->names, n->name);
    if (bind && bind->kind == BIND_VALUE && bind->value.n && bind->value.at[0].error) return;
    Id e = diag_error(w->diags, n->name_span,
                      bind ? "`%s` is not a state" : "there is no state `%s` here", name);
    diag_help(w->diags, e, "`state %s : R[…] = 0` declares one", name);
    if (bind)
      diag_note(w->diags, e, bind->span, "it comes from here");
    else
      env_bind(
          env, n->name,
          (Binding){.kind = BIND_STATE, .value = value_error(b, n->span), .span = n->name_span});
    return;
  }
  if (bind->value.at[0].error) return;
  Type want = bind->value.at[0].type;
  uint32_t param = bind->param;
  Value v = eval_equation(b, env, step_brackets(n), step_value(n), NULL, &want, n->span);
  Val one = value_single(b, v, step_value(n)->span);
  if (one.error) return;
  one = val_fill(b, one, want);
  val_settle(b, &one);
  one = along_members(b, one, n->span);
  bool fits = one.type.rank == want.rank && one.type.base == want.base;
  if (fits && want.base == BASE_LABEL)
    fits = sizes_agree(b, one.type.count, want.count, n->span, n->span, "a state");
  for (uint32_t i = 0; fits && i < want.rank; i++)
    fits = one.type.axis[i].pass == want.axis[i].pass &&
           sizes_agree(b, one.type.axis[i].size, want.axis[i].size, n->span, n->span, "a state");
  if (!fits) {
    bool sample = false;
    for (uint32_t i = 0; i < one.type.rank; i++) sample |= one.type.axis[i].pass != 0;
    if (sample) {
      Id e = diag_error(
          w->diags, n->span,
          "the next value of state `%s` depends on the sample, but there is one state for all",
          name_text(w->names, n->name));
      diag_help(w->diags, e, "use `mean[batch](…)`");
    } else {
      Id e = diag_error(w->diags, n->span, "state `%s` is %s, but its next value is %s",
                        name_text(w->names, n->name), own_text(w, &want), own_text(w, &one.type));
      diag_note(w->diags, e, bind->span, "declared here");
    }
    return;
  }
  Id wire = val_to_wire(b, &one, 0);
  bind = env_meaning(env, n);
  bind->next = value_one(b, one);
  if (wire && b->in->training)
    vec_push(w->arena, &b->proposal, (Proposal){param, wire, 1, n->span});
}

bool name_is_new(const Body *b, const Env *env, Name name, Span span) {
  Id old = env->names ? table_get(env->names, &name, sizeof name) : 0;
  if (!old || same_place(env->binding.at[old - 1].named, span)) return true;
  Id e = diag_error(b->w->diags, span, "there are two things called `%s` here",
                    name_text(b->w->names, name));
  return diag_note(b->w->diags, e, env->binding.at[old - 1].named, "the other one");
}

// want: the declared type, or NULL.
static Value local_const_value(Body *b, Env *env, const Syntax *typed, const Type *want) {
  const Syntax *value = typed_value(typed);
  const char *name = name_text(b->w->names, typed->name);
  if (value->kind == N_LIST) return list_value(b, env, value, name, false, want, typed->span);
  Value v = eval_alone(b, env, value);
  if (!want || v.n != 1 || v.at[0].error) return v;
  Val one = val_fill(b, v.at[0], *want);
  val_settle(b, &one);
  if (shapes_agree(b, &one.type, want, value->span, "a constant")) return value_one(b, one);
  return value_refuse(b, value->span, value->span, "`%s` is %s, but its value is %s", name,
                      own_text(b->w, want), own_text(b->w, &one.type));
}

static void local_consts(Body *b, Env *env, const Syntax *n) {
  for (uint32_t i = 0; i < consts_in(n).n; i++) {
    const Syntax *typed = consts_in(n).at[i];
    double k;
    if (!name_is_new(b, env, typed->name, typed->name_span)) continue;
    if (!typed_value(typed)) {
      diag_error(b->w->diags, typed->span, "constant `%s` has no value",
                 name_text(b->w->names, typed->name));
      bind_value(env, typed->name, value_error(b, typed->span), typed->name_span);
      continue;
    }
    if (typed_value(typed)->kind == N_STR) {
      diag_error(b->w->diags, typed->span,
                 "a constant from a file goes at the top of a program, not in a box");
      continue;
    }
    Binding bind = {.kind = BIND_OPTION, .span = typed->name_span};
    if (!typed_type(typed) && static_number(b, env, typed_value(typed), &k)) {
      bind.has_number = true;
      bind.number = k;
      if (k == floor(k) && fabs(k) < 1e15) bind.size = size_of(b->w, (int64_t)k);
    } else {
      Types t = {0};
      if (typed_type(typed) && !types_eval(b, env, typed_type(typed), false, &t, NULL)) continue;
      bind.kind = BIND_VALUE;
      bind.value = local_const_value(b, env, typed, t.n ? &t.at[0] : NULL);
    }
    env_bind(env, typed->name, bind);
  }
}

static void local_axes(Body *b, Env *env, const Syntax *n) {
  for (uint32_t i = 0; i < axes_in(n).n; i++) {
    const Syntax *axis = axes_in(n).at[i];
    if (!name_is_new(b, env, axis->name, axis->name_span)) continue;
    Size s = axis_length(axis) ? size_eval(b, env, axis_length(axis), false)
                               : size_var(b->w, axis->name, VAR_LOCAL, axis->span);
    if (s)
      env_bind(
          env, axis->name,
          (Binding){.kind = BIND_SIZE, .size = s, .label = axis->name, .span = axis->name_span});
  }
}

typedef struct {
  Value value;
  bool done;
} Outcome;

static void eval_statements(Body *, Env *, const Syntax *, Outcome *);

bool loop_numbers(Body *b, Env *env, const Syntax *range, LoopNumbers *out) {
  World *w = b->w;
  if (range->kind == N_LIST) {
    for (uint32_t i = 0; i < list_entries(range).n; i++) {
      double k;
      if (!static_number(b, env, list_entries(range).at[i], &k) || k != floor(k) || fabs(k) > 9e15)
        return diag_refuse(w->diags, list_entries(range).at[i]->span,
                           "a loop runs over whole numbers");
      vec_push(w->arena, out, (int64_t)k);
    }
    return true;
  }
  int64_t from, to;
  Size low = size_eval(b, env, range_low(range), false),
       high = size_eval(b, env, range_high(range), false);
  if (!low || !high) return false;
  if (!size_value(w, low, &from) || !size_value(w, high, &to)) {
    if (!b->generic) diag_error(w->diags, range->span, "the bounds of this loop are not known");
    return false;
  }
  if (to < from && range_low(range)->kind == N_NUM && range_high(range)->kind == N_NUM)
    return diag_refuse(w->diags, range->span, "a loop counts up, and nothing is from %lld to %lld",
                       (long long)from, (long long)to);
  if (to > from && (uint64_t)to - (uint64_t)from > 100000)
    return diag_refuse(
        w->diags, range->span,
        "this loop would run %llu times; each turn is written out, so at most 100000",
        (unsigned long long)to - (unsigned long long)from + 1);
  for (int64_t i = from; i <= to; i++) vec_push(w->arena, out, i);
  return true;
}

static void
bind_unknown(Body *b, Env *env,
             const Syntax *block) { // after a loop of unknown length, what it assigns is unknown
  for (uint32_t i = 0; i < block_statements(block).n; i++) {
    const Syntax *n = block_statements(block).at[i];
    Nodes lhs = n->kind == N_EQUATION ? lhss_in(equation_lhss(n)) : (Nodes){0, NULL};
    for (uint32_t k = 0; k < lhs.n; k++)
      bind_value(env, lhs.at[k]->name, value_error(b, lhs.at[k]->span), lhs.at[k]->span);
  }
}

// What an iteration adds to the names of its weights: ".16", and ".16_2" if it is the second with
// this number.
static const char *iteration_name(Body *b, Table *times, const char *outer, int64_t k) {
  uint32_t n = table_get(times, &k, sizeof k) + 1;
  const char *name = arena_format(b->w->arena, "%s.%lld", outer ? outer : "", (long long)k);
  table_put(times, &k, sizeof k, n);
  return n > 1 ? arena_format(b->w->arena, "%s_%u", name, n) : name;
}

static void for_loop(Body *b, Env *env, const Syntax *n, Outcome *out) {
  LoopNumbers numbers = {0};
  if (!loop_numbers(b, env, for_range(n), &numbers)) {
    bind_unknown(b, env, for_body(n));
    return;
  }
  const char *suffix = b->suffix;
  Id outer = b->d->turn, first = 0;
  bool down = for_is_down(n);
  uint32_t errors = b->w->diags->met;
  Table *times = table_new(b->w->arena);
  for (uint32_t i = 0; i < numbers.n && !out->done && b->w->diags->met == errors; i++) {
    int64_t k = numbers.at[down ? numbers.n - 1 - i : i];
    b->suffix = iteration_name(b, times, suffix, k);
    b->d->turn = turn_new(b->w, first, outer, n->name, k);
    if (!first) first = b->d->turn;
    env_bind(env, n->name,
             (Binding){.kind = BIND_LOOP, .size = size_of(b->w, k), .span = n->name_span});
    eval_statements(b, env, for_body(n), out);
  }
  b->suffix = suffix;
  b->d->turn = outer;
}

static Value eval_return(Body *b, Env *env, const Syntax *n) {
  const Syntax *what = return_what(n), *pad = return_pad(n);
  const Type *want = b->want.n == 1 ? &b->want.at[0] : NULL;
  if (what->kind != N_EQUATION) return eval_equation(b, env, NULL, what, pad, want, what->span);
  const Syntax *lhss = equation_lhss(what);
  if (lhss_in(lhss).n != 1)
    return value_refuse(b, what->span, what->span,
                        "`return` takes one equation, or several values");
  use_of_name(b->in, lhss_in(lhss).at[0], lhss_in(lhss).at[0]->name_span, NAMED_WIRE);
  return eval_equation(b, env, lhs_brackets(lhss_in(lhss).at[0]), equation_value(what),
                       equation_pad(what), want, what->span);
}

static void eval_statement(Body *b, Env *env, const Syntax *n, Outcome *out) {
  switch (n->kind) {
  case N_EQUATION: eval_equation_statement(b, env, n); break;
  case N_LEARN:
    for (uint32_t i = 0; i < learn_learners(n).n; i++)
      local_learner(b, env, learn_learners(n).at[i]);
    break;
  case N_STATES: local_states(b, env, n); break;
  case N_STEP: next_state(b, env, n); break;
  case N_CONSTS: local_consts(b, env, n); break;
  case N_AXES: local_axes(b, env, n); break;
  case N_FOR: for_loop(b, env, n, out); break;
  case N_RETURN:
    out->value = eval_return(b, env, n);
    out->done = true;
    break;
  case N_STALE:
    diag_error(b->w->diags, n->span,
               "`stale` goes at the top of a program, beside the learner it follows");
    bind_value(env, n->name, value_error(b, n->span), n->name_span);
    break;
  case N_ERROR:
    for (uint32_t i = 0; i < error_names(n).n; i++)
      bind_value(env, error_names(n).at[i]->name, value_error(b, n->span), n->span);
    break;
  default: diag_error(b->w->diags, n->span, "this is not allowed in the body of a box"); break;
  }
}

void body_statement(Body *b, Env *env, const Syntax *n) {
  Outcome none = {0};
  eval_statement(b, env, n, &none);
}

static void eval_statements(Body *b, Env *env, const Syntax *block, Outcome *out) {
  for (uint32_t i = 0; i < block_statements(block).n; i++) {
    const Syntax *n = block_statements(block).at[i];
    if (out->done) {
      diag_error(b->w->diags, n->span, "nothing comes after `return`");
      return;
    }
    if (!work_on(b, 1, n->span)) {
      *out = (Outcome){.value = value_error(b, n->span), .done = true};
      return;
    }
    eval_statement(b, env, n, out);
    if (!out->done) trace_statement(b);
  }
}

// -- results --------------------------------------------------------------------------------------
static bool fits_declared(Body *b, Val *v, const Type *want, Span span) {
  World *w = b->w;
  if (v->error) return false;
  if (v->literal && want->base == BASE_LABEL)
    return diag_refuse(w->diags, v->span, "a number is not a label, and %s is wanted here",
                       type_text(w, want));
  if (v->literal) *v = val_fill(b, *v, *want);
  val_settle(b, v);
  uint32_t own[RANK_LIMIT], n = own_axes(&v->type, own);
  bool fits = v->type.base == want->base && n == want->rank;
  if (fits && want->base == BASE_LABEL)
    fits = sizes_agree(b, v->type.count, want->count, span, span, "a result");
  for (uint32_t i = 0; fits && i < n; i++) {
    const Axis *have = &v->type.axis[own[i]], *need = &want->axis[i];
    if ((have->decl && need->decl && have->decl != need->decl) || two_unknowns(b, have, need)) {
      fits = false;
      clash_note(b, *have, *need);
    } else
      fits = sizes_agree(b, need->size, have->size, span, span, "a result");
  }
  if (!fits) {
    Type shown = v->type;
    Id e = diag_error(w->diags, v->span.file ? v->span : span,
                      "`%s` is declared to give %s, but this is %s",
                      name_text(w->names, b->d->name), own_text(w, want), own_text(w, &shown));
    if (b->header_result) diag_note(w->diags, e, b->header_result->span, "declared here");
    bool sizes = n == want->rank && v->type.base == want->base,
         tail = n > want->rank && v->type.base == want->base;
    for (uint32_t i = 0; i < want->rank && sizes; i++)
      sizes = size_now(w, v->type.axis[own[i]].size) == size_now(w, want->axis[i].size);
    for (uint32_t i = 0; i < want->rank && tail; i++)
      tail = size_now(w, v->type.axis[own[n - want->rank + i]].size) ==
             size_now(w, want->axis[i].size);
    if (sizes)
      diag_help(w->diags, e, "axes that are declared are not the same even if their sizes are");
    else if (tail)
      diag_help(w->diags, e,
                "axes that a box does not name pass over it; `flatten` makes one of several");
    return false;
  }
  v->type.axis = arena_copy(w->arena, v->type.axis, v->type.rank * sizeof(Axis));
  for (uint32_t i = 0; i < n; i++)
    v->type.axis[own[i]].label = want->axis[i].label,
    v->type.axis[own[i]].decl = want->axis[i].decl;
  if (want->names) v->type.names = want->names;
  return true;
}

// Copies the names of a result's labels to its wire, for runs.
static void name_labels(Body *b, Id wire, const Type *t) {
  for (uint32_t i = 0; i < b->d->in.n; i++)
    if (b->d->in.at[i] == wire) return; // inputs have names from the header
  if (t->names) b->d->wire.at[wire].type.names = t->names;
}

static Val passing_first(Body *b, Val v) {
  uint32_t order[RANK_LIMIT], n = 0;
  for (uint32_t id = 1; id <= b->npass; id++)
    for (uint32_t i = 0; i < v.type.rank; i++)
      if (v.type.axis[i].pass == id) order[n++] = i;
  for (uint32_t i = 0; i < v.type.rank; i++)
    if (!v.type.axis[i].pass) order[n++] = i;
  return val_permute(b, v, order, n);
}

static bool add_outputs(Body *b, Value v, Span span) {
  World *w = b->w;
  if (value_failed(&v)) return false;
  if (b->want.n && v.n != b->want.n) {
    if (v.n && v.at[0].span.file && v.at[v.n - 1].span.file == v.at[0].span.file)
      span = span_join(v.at[0].span, v.at[v.n - 1].span);
    Id e = diag_error(w->diags, span, "`%s` is declared to give %u %s, but its body gives %u",
                      name_text(w->names, b->d->name), b->want.n, b->want.n == 1 ? "wire" : "wires",
                      v.n);
    if (b->header_result) diag_note(w->diags, e, b->header_result->span, "declared here");
    return false;
  }
  for (uint32_t i = 0; i < v.n; i++) {
    Val one = v.at[i];
    if (b->want.n && !fits_declared(b, &one, &b->want.at[i], span)) return false;
    one = passing_first(b, one);
    Id wire = val_to_wire(b, &one, 0);
    if (!wire) return false;
    name_labels(b, wire, &one.type);
    diagram_output_as(w, b->d, wire, i < b->want_name.n ? b->want_name.at[i] : 0);
    vec_push(w->arena, &b->out_type, one.type);
  }
  return true;
}

// Binds the inputs. A parameter whose type is a tuple is several wires.
static bool bind_params(Body *b, Env *env, const Def *def, const Syntax *params, Value args) {
  const Def *real = learner_of(def);
  const Syntax *refine =
      real && real->kind == DEF_LEARNER && real->refined ? refine_params(real->refined) : NULL;
  const Syntax *sig = real && real->kind == DEF_LEARNER ? learner_result(real->node) : NULL;
  const Syntax *declared = real && real->kind == DEF_LEARNER ? learner_params(real->node) : params;
  const Syntax *names = refine ? refine : params;
  uint32_t at = 0;
  for (uint32_t i = 0; names && i < params_in(names).n; i++) {
    const Syntax *type =
        declared && i < params_in(declared).n ? (param_type(params_in(declared).at[i]))
        : sig && sig->kind == N_SIG && i < types_in(sig_from(sig)).n ? types_in(sig_from(sig)).at[i]
                                                                     : NULL;
    uint32_t n = type_wires(b, env, type);
    if (refine && params_in(names).n == args.n) n = 1;
    if (at + n > args.n) n = args.n - at;
    if (!n)
      return diag_refuse(b->w->diags, names->span, "more names than inputs: `%s` takes %u",
                         name_text(b->w->names, b->d->name), args.n);
    Value v = {n, args.at + at, NULL};
    const Syntax *name = params_in(names).at[i];
    const char *text = name_text(b->w->names, name->name);
    Binding *old = env_meaning(env, name);
    if (old && old->kind != BIND_VALUE) {
      Id e = diag_error(b->w->diags, name->name_span,
                        "`%s` is an input and %s too: in one scope a name has one meaning", text,
                        old->kind == BIND_OPTION ? "an option" : "an axis");
      return diag_note(b->w->diags, e, old->span, "here it is the other one");
    }
    if (old && env->names && table_get(env->names, &name->name, sizeof(Name))) {
      Id e = diag_error(b->w->diags, name->name_span, "there are two inputs `%s`", text);
      return diag_note(b->w->diags, e, old->span, "the other one");
    }
    bind_value(env, name->name, v, name->name_span);
    at += n;
  }
  if (names && at != args.n)
    return diag_refuse(b->w->diags, names->span, "%u %s for %u inputs", params_in(names).n,
                       params_in(names).n == 1 ? "name" : "names", args.n);
  return true;
}

static bool has_line(const Syntax *block, SyntaxKind kind) {
  for (uint32_t i = 0; i < block_statements(block).n; i++)
    if (block_statements(block).at[i]->kind == kind) return true;
  return false;
}

// { … return x }. In generic elaboration, or after a syntax error, a missing `return` is not
// reported.
static bool block_returns(Body *b, Env *env, const Def *def, const Syntax *block, Outcome *out) {
  uint32_t errors = b->w->diags->met;
  eval_statements(b, env, block, out);
  if (out->done) return true;
  bool may = has_line(block, N_ERROR) ||
             (b->generic && (has_line(block, N_RETURN) || has_line(block, N_FOR)));
  if (!may && b->w->diags->met == errors)
    diag_error(b->w->diags, def->span, "the body of `%s` never returns",
               name_text(b->w->names, def->name));
  trace_no_result(b);
  return false;
}

bool body_work(Body *b, Env *env, const Def *def, const Syntax *params, const Syntax *result,
               const Syntax *body, Value args) {
  World *w = b->w;
  const Def *real = learner_of(def);
  Scope *scope = real->kind == DEF_LEARNER && real->refined ? real->refined_in : env->scope;
  Env *inner = env_new(b->in, env, scope, b);
  Span span = body ? body->span : def->span;
  if (result && !types_eval(b, env, result, true, &b->want, &b->space) && !trace_result_types(b))
    return false;
  results_name(b, env, result);
  if (!bind_params(b, inner, def, params, args)) return false;
  bool named =
      params || (real->kind == DEF_LEARNER && real->refined && refine_params(real->refined));
  Outcome out = {0};
  uint32_t errors = w->diags->met;
  b->env = env;
  if (!body && b->trace && (def->kind == DEF_BOX || !b->want.n || value_failed(&args))) {
    out.value = trace_nothing(b, args, def->span);
  } else if (!body) {
    out.value = default_body_value(b, args, def->span, &((Def *)real)->fallback);
  } else if (body->kind == N_BLOCK) {
    if (!block_returns(b, inner, def, body, &out)) return false;
  } else if (named || (!args.n && !is_box(b, inner, body))) {
    const Type *want = b->want.n == 1 ? &b->want.at[0] : NULL;
    const Syntax *expr = body->kind == N_PADDED ? padded_value(body) : body;
    out.value = eval_equation(b, inner, NULL, expr,
                              body->kind == N_PADDED ? padded_pad(body) : NULL, want, expr->span);
  } else {
    out.value = apply(b, inner, body, value_copy(b, args), NULL, body->span);
  }
  if (!b->want.n && !b->space) b->space = out.value.space;
  bool fits = add_outputs(b, out.value, span);
  trace_results(b, out.value, fits);
  if (!fits) return false;
  body_finish(b);
  return w->diags->met == errors;
}
