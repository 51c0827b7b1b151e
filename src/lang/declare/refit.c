// refit[h, adam, steps: 100, rate: 0.1](x, y, q): the value h(q) after training h for some steps on
// x and y, from its current weights (inner loop of meta-learning). Each sample is a task of its
// own.
//
//   loss       x, y → the distance of h(x) from y, and its gradient by the weights
//   one step   weights, optimiser states → the next ones
//   one task   a scan of that step, then h(q) with the final weights
//   all tasks  a scan of one task along each batch axis
//
// The result is an ordinary diagram: it is compiled, and can be differentiated by the initial
// weights.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/ops.h"
#include "core/pass/pass.h"
#include "lang/declare/statements.h"
#include "lang/elab/builtin.h"

typedef struct {
  Body *b;
  Env *env;
  const Syntax *use, *head;
  Span span;
  Size steps;
  const char *optimiser;
  const Syntax *call; // its settings
  const Syntax *by;
  Type type[3];     // of x, y, q, without batch axes
  Body *loss, *ask; // x, y → loss; q → h(q)
  bool *moved;      // [param of the loss] a weight that is trained
  Diagram *gradient;
} Refit;

typedef struct {  // a trained weight of the head
  uint32_t param; // index in the params of the loss
  Type type;
  Diagram *optimiser;
} Moved;
typedef VEC(Moved) Moves;
typedef VEC(Syntax *) RefitNodes;

// -- options --------------------------------------------------------------------------------------
static bool refuse_refit(const Refit *r, const char *what) {
  Id e = diag_error(r->b->w->diags, r->span, "%s", what);
  return diag_help(r->b->w->diags, e, "as in `refit[h, adam, steps: 100, rate: 0.1](x, y, q)`");
}

// A named option: `steps` and `by` belong to refit, the others to the optimiser.
static bool read_named(Refit *r, const Syntax *sized, RefitNodes *settings) {
  World *w = r->b->w;
  const char *word = name_text(w->names, sized->name);
  Syntax *value = sized_value(sized);
  if (strcmp(word, "steps") == 0) return (r->steps = size_eval(r->b, r->env, value, false)) != 0;
  if (strcmp(word, "by") == 0) return r->by = value, true;
  double k;
  if (!static_number(r->b, r->env, value, &k)) return refuse_refit(r, "a setting is a number");
  Syntax *number = syntax_num(w->arena, k, value->span);
  number->text = arena_format(w->arena, "%.17g", k);
  Syntax *arg = node_arg(w->arena, sized->span, (ArgParts){.value = number});
  arg->name = sized->name;
  arg->name_span = sized->name_span;
  vec_push(w->arena, settings, arg);
  return true;
}

static bool read_options(Refit *r, const Syntax *config) {
  World *w = r->b->w;
  RefitNodes settings = {0};
  Name optimiser = name_from(w->names, default_optimiser(BASE_R));
  r->head = boxed_option(r->b, config, 0, r->span, "refit");
  if (!r->head) return false;
  Def *head = r->head->kind == N_NAME ? scope_meaning(r->env->scope, r->head) : NULL;
  if (head) head->refitted = true;
  for (uint32_t i = 1; i < brackets_slots(config).n; i++) {
    const Syntax *one = slot_item(brackets_slots(config).at[i]);
    if (one->kind == N_NAME)
      optimiser = one->name;
    else if (one->kind == N_CALL && call_callee(one)->kind == N_NAME)
      r->call = one, optimiser = call_callee(one)->name;
    else if (one->kind != N_SIZED)
      return refuse_refit(r, "`refit` wants an optimiser and its settings by name");
    else if (!read_named(r, one, &settings))
      return false;
  }
  if (!r->steps) r->steps = size_of(w, 100);
  r->optimiser = name_text(w->names, optimiser);
  if (!r->call)
    r->call = node_call(w->arena, r->span,
                        (CallParts){.callee = syntax_name(w->arena, optimiser, r->span),
                                    .args = {settings.n, settings.at}});
  const Def *d = optimiser_named(r->b->in, r->b->in->program, r->optimiser);
  uint32_t errors = w->diags->met;
  if (!d)
    return refuse_refit(r, arena_format(w->arena, "there is no optimiser `%s`", r->optimiser));
  check_optimiser_call(r->b->in, r->b->in->program, d, r->call);
  return w->diags->met == errors;
}

// -- bodies ---------------------------------------------------------------------------------------
static Body *part_new(const Refit *r, const char *name) {
  Body *b = r->b, *part = body_new(b->in, name_from(b->w->names, name));
  part->generic = b->generic;
  part->labels = b->labels;
  part->inside = arena_format(b->w->arena, "%s%u/", b->inside ? b->inside : "", ++b->noises);
  part->env = r->env;
  part->def = b->def;
  return part;
}

static Val input(const Refit *r, Body *part, Type t) {
  return val_wire(part, diagram_input(r->b->w, part->d, t, 0, 0), r->span);
}

static bool finish_body(Body *part, Val v) {
  Id wire = v.error ? 0 : val_to_wire(part, &v, 0);
  if (!wire) return false;
  diagram_output(part->w, part->d, wire);
  vec_push(part->w->arena, &part->out_type, part->d->wire.at[wire].type);
  body_finish(part);
  diagram_resolve(part->w, part->d);
  return true;
}

static bool make_loss(Refit *r) {
  World *w = r->b->w;
  Body *part = r->loss = part_new(r, "refit_loss");
  Value x = value_one(part, input(r, part, r->type[0]));
  Value y = value_one(part, input(r, part, r->type[1]));
  Value guess = apply(part, r->env, r->head, x, NULL, r->span);
  if (value_single(part, guess, r->span).error) return false;
  const char *distance = r->type[1].base == BASE_LABEL ? "cross_entropy" : "l2";
  const Syntax *by = r->by ? r->by : syntax_name(w->arena, name_from(w->names, distance), r->span);
  Value far = apply(part, r->env, by, value_concat(part, guess, y), NULL, r->span);
  return far.n == 1 && !far.at[0].error && finish_body(part, mean_of_all(part, far.at[0], r->span));
}

static bool make_ask(Refit *r) {
  r->ask = box_alone(r->b, r->env, r->head, 1, &r->type[2], r->span);
  if (!r->ask) return false;
  diagram_resolve(r->b->w, r->ask->d);
  return r->ask->d->out.n == 1 || refuse_refit(r, "what is refitted must give one value");
}

static bool find_moves(Refit *r, Moves *moves) {
  World *w = r->b->w;
  const Diagram *d = r->loss->d;
  bool *mask = r->moved = NEW_ARRAY(w->arena, bool, d->param.n + 1);
  for (uint32_t i = 0; i < d->param.n; i++) {
    const Param *p = &d->param.at[i];
    if (p->next) return refuse_refit(r, "what is refitted cannot have a `state` of its own");
    if (p->role != ROLE_WEIGHT || is_frozen(r->b->in, r->b->in->program, p)) continue;
    Type t = d->wire.at[p->wire].type;
    Diagram *o = elab_optimiser(r->b->in, r->b->in->program, r->optimiser, r->call, t, false);
    if (!o)
      return refuse_refit(r, arena_format(w->arena, "optimiser `%s` cannot step %s", r->optimiser,
                                          own_text(w, &t)));
    if (o->out.at[0] != o->in.at[0])
      return refuse_refit(r, "an optimiser with a `look` cannot refit");
    mask[i] = true;
    vec_push(w->arena, moves, (Moved){i, t, o});
  }
  if (!moves->n)
    return refuse_refit(r, "there is nothing to refit: this has no weights that may move");
  r->gradient = diagram_gradient(w, d, (const bool *const[]){mask});
  return true;
}

static uint32_t param_find(const Diagram *d, const char *path) {
  uint32_t i = 0;
  while (i < d->param.n && strcmp(d->param.at[i].path, path) != 0) i++;
  return i;
}

static bool is_clock(const Param *p) { return p->role == ROLE_CLOCK; }

// -- one step -------------------------------------------------------------------------------------
typedef struct {
  Body *part;
  Id tick;
  Ids weight, state;  // inputs
  Ids held;           // [param of the loss] wires of frozen params; 0 for trained ones
  Ids next, remember; // outputs
} Stepping;

static void step_inputs(Refit *r, const Moves *moves, Stepping *s) {
  World *w = r->b->w;
  Diagram *d = s->part->d;
  s->tick = diagram_input(w, d, (Type){.base = BASE_R}, 0, 0);
  for (uint32_t i = 0; i < moves->n; i++)
    vec_push(w->arena, &s->weight, diagram_input(w, d, moves->at[i].type, 0, 0));
  for (uint32_t i = 0; i < moves->n; i++) {
    const Diagram *o = moves->at[i].optimiser;
    for (uint32_t k = 0; k < o->param.n; k++)
      if (!is_clock(&o->param.at[k]))
        vec_push(w->arena, &s->state,
                 diagram_input(w, d, o->wire.at[o->param.at[k].wire].type, 0, 0));
  }
}

static void step_held(Refit *r, Stepping *s, Id *x, Id *y) {
  World *w = r->b->w;
  const Diagram *loss = r->loss->d;
  *x = diagram_input(w, s->part->d, r->type[0], 0, 0);
  *y = diagram_input(w, s->part->d, r->type[1], 0, 0);
  for (uint32_t i = 0; i < loss->param.n; i++) {
    Type t = loss->wire.at[loss->param.at[i].wire].type;
    vec_push(w->arena, &s->held, r->moved[i] ? 0 : diagram_input(w, s->part->d, t, 0, 0));
  }
}

static Id call_gradient(Refit *r, const Moves *moves, Stepping *s, Id x, Id y) {
  World *w = r->b->w;
  Ids in = {0};
  vec_push(w->arena, &in, x), vec_push(w->arena, &in, y);
  for (uint32_t i = 0; i < r->gradient->param.n; i++) {
    uint32_t at = param_find(r->loss->d, r->gradient->param.at[i].path);
    Id wire = s->held.at[at];
    for (uint32_t k = 0; k < moves->n; k++)
      if (moves->at[k].param == at) wire = s->weight.at[k];
    vec_push(w->arena, &in, wire);
  }
  return box_call(w, s->part->d, r->gradient, in.at, in.n, origin_at(r->b, r->span));
}

static void call_optimiser(Refit *r, Stepping *s, const Moved *m, Id weight, Id slope,
                           uint32_t *state) {
  World *w = r->b->w;
  const Diagram *o = m->optimiser;
  Ids in = {0};
  vec_push(w->arena, &in, weight), vec_push(w->arena, &in, slope);
  for (uint32_t k = 0; k < o->param.n; k++) {
    Id wire = s->tick;
    if (strcmp(o->param.at[k].path, "steps") == 0 && is_clock(&o->param.at[k])) {
      Val all = val_size(s->part, r->steps, r->span);
      wire = val_to_wire(s->part, &all, 0);
    } else if (!is_clock(&o->param.at[k])) {
      wire = s->state.at[(*state)++];
    }
    vec_push(w->arena, &in, wire);
  }
  Id first = box_call(w, s->part->d, m->optimiser, in.at, in.n, origin_at(r->b, r->span));
  vec_push(w->arena, &s->next, first + 1);
  for (uint32_t k = 0, at = first + 2; k < o->param.n; k++) {
    if (is_clock(&o->param.at[k])) continue;
    vec_push(w->arena, &s->remember,
             o->param.at[k].next ? at++ : in.at[2 + k]); // a constant state is carried on
  }
}

static Body *make_step(Refit *r, const Moves *moves, Stepping *s) {
  World *w = r->b->w;
  Id x, y;
  uint32_t state = 0;
  s->part = part_new(r, "refit_step");
  step_inputs(r, moves, s);
  step_held(r, s, &x, &y);
  Id slope = call_gradient(r, moves, s, x, y) + 1;
  for (uint32_t i = 0; i < moves->n; i++)
    call_optimiser(r, s, &moves->at[i], s->weight.at[i], slope + i, &state);
  for (uint32_t i = 0; i < s->next.n; i++) diagram_output(w, s->part->d, s->next.at[i]);
  for (uint32_t i = 0; i < s->remember.n; i++) diagram_output(w, s->part->d, s->remember.at[i]);
  body_finish(s->part);
  return s->part;
}

// -- one task -------------------------------------------------------------------------------------
static Id step_numbers(const Refit *r, Body *part) {
  World *w = r->b->w;
  Expr *x = NEW(w->arena, Expr);
  *x = (Expr){.kind = X_AT, .base = BASE_LABEL, .rank = 1};
  Axis axis = {.size = r->steps};
  Val v = {.x = x, .type = type_label(w, r->steps, 1, &axis), .span = r->span};
  v = val_fn(part, FN_number, &v, 1, r->span, NULL);
  return val_to_wire(part, &v, 0);
}

static void start_states(Refit *r, Body *part, const Moves *moves, Ids *in) {
  for (uint32_t i = 0; i < moves->n; i++) {
    const Diagram *o = moves->at[i].optimiser;
    for (uint32_t k = 0; k < o->param.n; k++) {
      if (is_clock(&o->param.at[k])) continue;
      Val v = val_literal(part, o->param.at[k].init.k, r->span);
      v = val_fill(part, v, o->wire.at[o->param.at[k].wire].type);
      vec_push(r->b->w->arena, in, val_to_wire(part, &v, 0));
    }
  }
}

static BoxUse use_of_refit(const Refit *r) {
  return (BoxUse){.def = box_called(r->b, "refit"),
                  .node = r->use,
                  .name = name_from(r->b->w->names, "refit"),
                  .span = r->span};
}

static void own_params(Refit *r, Body *part, Body *of, Ids *in) {
  BoxUse use = use_of_refit(r);
  body_params(part, of, &use, in, NULL);
}

static Body *make_task(Refit *r, const Moves *moves, Stepping *s) {
  World *w = r->b->w;
  Body *part = part_new(r, "refit_task");
  Id x = diagram_input(w, part->d, r->type[0], 0, 0),
     y = diagram_input(w, part->d, r->type[1], 0, 0);
  Id q = diagram_input(w, part->d, r->type[2], 0, 0);
  Ids in = {0}, param = {0}, asked = {0}, other = {0};
  own_params(r, part, r->loss, &param);
  own_params(r, part, r->ask, &other);
  vec_push(w->arena, &in, step_numbers(r, part));
  for (uint32_t i = 0; i < moves->n; i++) vec_push(w->arena, &in, param.at[moves->at[i].param]);
  start_states(r, part, moves, &in);
  Scan scan = {.body = s->part->d, .slice = 1, .carry = s->next.n + s->remember.n};
  scan.hold = 2;
  scan.axis = (Index){name_from(w->names, "step"), r->steps};
  vec_push(w->arena, &in, x), vec_push(w->arena, &in, y);
  for (uint32_t i = 0; i < s->held.n; i++)
    if (s->held.at[i]) vec_push(w->arena, &in, param.at[i]), scan.hold++;
  Id first = box_scan(w, part->d, &scan, in.at, in.n, origin_at(r->b, r->span));
  vec_push(w->arena, &asked, q);
  for (uint32_t i = 0; i < r->ask->d->param.n; i++) {
    uint32_t at = param_find(r->loss->d, r->ask->d->param.at[i].path);
    Id wire = other.at[i];
    for (uint32_t k = 0; k < moves->n; k++)
      if (moves->at[k].param == at) wire = first + k;
    vec_push(w->arena, &asked, wire);
  }
  Id out = box_call(w, part->d, r->ask->d, asked.at, asked.n, origin_at(r->b, r->span));
  return finish_body(part, val_wire(part, out, r->span)) ? part : NULL;
}

// -- all tasks ------------------------------------------------------------------------------------
static Type with_axis(World *w, const Axis *axis, const Type *t) {
  Type r = *t;
  r.axis = NEW_ARRAY(w->arena, Axis, t->rank + 1);
  r.axis[0] = (Axis){.label = axis->label, .size = axis->size, .decl = axis->decl};
  if (t->rank) memcpy(r.axis + 1, t->axis, t->rank * sizeof(Axis));
  r.rank++;
  return r;
}

static Body *scan_along(Refit *r, Body *task, const Axis *axis) {
  World *w = r->b->w;
  Body *part = part_new(r, "refit_tasks");
  Ids in = {0};
  for (uint32_t i = 0; i < 3; i++) {
    Type t = with_axis(w, axis, &task->d->wire.at[task->d->in.at[i]].type);
    vec_push(w->arena, &in, diagram_input(w, part->d, t, 0, 0));
  }
  own_params(r, part, task, &in);
  Scan scan = {.body = task->d, .slice = 3, .axis = {axis->label, axis->size}};
  Id out = box_scan(w, part->d, &scan, in.at, in.n, origin_at(r->b, r->span));
  return finish_body(part, val_wire(part, out, r->span)) ? part : NULL;
}

static Value call_all(Refit *r, Body *all, const Id *wire, const Axis *pass, uint32_t n) {
  World *w = r->b->w;
  BoxUse use = use_of_refit(r);
  Id out = body_call(r->b, all, wire, &use);
  Type *t = &r->b->d->wire.at[out].type;
  t->axis = arena_copy(w->arena, t->axis, t->rank * sizeof(Axis));
  for (uint32_t i = 0; i < n; i++) t->axis[i] = pass[i];
  return value_one(r->b, val_wire(r->b, out, r->span));
}

static Value do_refit(const BuiltinUse *u) {
  Body *b = u->b;
  Span span = u->span;
  Value args = u->args;
  Refit r = {.b = b, .env = u->env, .use = u->use, .span = span};
  Axis pass[RANK_LIMIT];
  Moves moves = {0};
  Stepping step = {0};
  Id wire[3];
  if (!read_options(&r, u->config)) return value_error(b, span);
  if (args.n != 3) {
    refuse_refit(&r, "`refit` takes samples, their labels, and what to predict");
    return value_error(b, span);
  }
  uint32_t n = all_passing(&args, pass);
  for (uint32_t i = 0; i < 3; i++) {
    if (args.at[i].error) return value_error(b, span);
    val_settle(b, &args.at[i]);
    r.type[i] = own_type(b->w, &args.at[i].type);
    Val v = broadcast_to(b, args.at[i], pass, n, span);
    wire[i] = val_to_wire(b, &v, 0);
    if (!wire[i]) return value_error(b, span);
  }
  if (!make_loss(&r) || !make_ask(&r) || !find_moves(&r, &moves)) return value_error(b, span);
  make_step(&r, &moves, &step);
  Body *all = make_task(&r, &moves, &step);
  for (uint32_t i = n; all && i-- > 0;) all = scan_along(&r, all, &pass[i]);
  if (all)
    config_keep(b, u->env, u->config, 0, all->d), all->d->name = name_from(b->w->names, "refit");
  return all ? call_all(&r, all, wire, pass, n) : value_error(b, span);
}

static const BuiltinBox boxes[] = {{"refit", do_refit, false, 0, false}};

void declare_builtins(Elab *in) { builtins_add(in, boxes, COUNT(boxes)); }
