// Optimisers as diagrams.
//
// Inputs: p and grad, of one type; outputs: the value of p that the model sees (`look`), and the
// next p. Settings are bound as values in the block, as `train` writes them or by their defaults. A
// computed setting (a schedule) is a wire, computed once per step and not per weight.
//
// A state has the type of the weight if its next value depends on a value of that type; otherwise
// it is one number, like Adam's step count.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/interpret.h"
#include "core/diagram/ops.h"
#include "core/pass/pass.h"
#include "core/pass/rewrite.h"
#include "lang/declare/statements.h"
#include "lang/value/domain.h"

#include <math.h>

typedef VEC(Name) NameList;

typedef struct {
  Body *b;
  Env *env;
  Type type;       // of the weight
  NameList shaped; // p, grad, and states of the weight's type
  Id look, next;
  const Syntax *look_node;
} OptimiserBuilder;

// -- types of states ------------------------------------------------------------------------------
static bool name_among(const NameList *list, Name name) {
  for (uint32_t i = 0; i < list->n; i++)
    if (list->at[i] == name) return true;
  return false;
}

static bool is_name_among(void *list, const Syntax *n) {
  return (n->kind == N_NAME || n->kind == N_NEXT) && name_among(list, n->name);
}

static NameList shaped_names(World *w, const Syntax *block) {
  NameList list = {0};
  vec_push(w->arena, &list, name_from(w->names, "p"));
  vec_push(w->arena, &list, name_from(w->names, "grad"));
  for (uint32_t before = 0; before != list.n;) {
    before = list.n;
    for (uint32_t i = 0; i < block_statements(block).n; i++) {
      const Syntax *n = block_statements(block).at[i];
      if (n->kind == N_STEP && !name_among(&list, n->name) && syntax_any(n, is_name_among, &list))
        vec_push(w->arena, &list, n->name);
    }
  }
  return list;
}

// A scalar state is one number for each batch axis of the weight.
static Type state_type(const OptimiserBuilder *m, Name name) {
  if (name_among(&m->shaped, name)) return m->type;
  Axis axis[RANK_LIMIT];
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->type.rank; i++)
    if (m->type.axis[i].pass) axis[n++] = m->type.axis[i];
  return type_make(m->b->w, (Base)m->type.base, n, axis);
}

// -- the block ------------------------------------------------------------------------------------
static void make_states(OptimiserBuilder *m, const Syntax *n) {
  Body *b = m->b;
  for (uint32_t i = 0; i < states_in(n).n; i++) {
    const Syntax *typed = states_in(n).at[i];
    double k = 0;
    if (typed_brackets(typed) ||
        (typed_value(typed) && !static_number(b, m->env, typed_value(typed), &k)))
      diag_error(b->w->diags, typed_brackets(typed) ? typed->span : typed_value(typed)->span,
                 "a state of an optimiser starts as a number");
    Param p = {.path = name_text(b->w->names, typed->name),
               .role = ROLE_BUFFER,
               .init = {.kind = INIT_CONST, .k = k}};
    uint32_t at = diagram_param(b->w, b->d, p, state_type(m, typed->name), typed->name,
                                origin_at(b, typed->span));
    vec_push(b->w->arena, &b->param_site, 0);
    Val v = val_wire(b, b->d->param.at[at].wire, typed->span);
    env_bind(
        m->env, typed->name,
        (Binding){
            .kind = BIND_STATE, .value = value_one(b, v), .param = at, .span = typed->name_span});
  }
}

// Broadcasts a scalar to the type. 0 after an error.
static Id wire_of_type(Body *b, Val *v, const Type *t, const char *what, Span span) {
  *v = val_fill(b, *v, *t);
  val_settle(b, v);
  if (!v->type.rank && t->rank && v->type.base == t->base) {
    Val zero = val_fill(b, val_literal(b, t->base == BASE_R ? -0.0 : 0, span), *t);
    Val pair[2] = {*v, zero};
    *v = val_fn(b, t->base == BASE_BIT ? FN_xor : FN_add, pair, 2, span, NULL);
  }
  if (v->error) return 0;
  if (shapes_agree(b, t, &v->type, span, "an optimiser")) return val_to_wire(b, v, 0);
  diag_error(b->w->diags, span, "%s is %s here, but this is %s", what, own_text(b->w, t),
             own_text(b->w, &v->type));
  return 0;
}

static void no_state(OptimiserBuilder *m, const Syntax *n, const Binding *bind) {
  Body *b = m->b;
  const char *name = name_text(b->w->names, n->name);
  if (bind && bind->kind == BIND_VALUE && bind->value.n && bind->value.at[0].error) return;
  Id e = diag_error(b->w->diags, n->name_span, "there is no state `%s` in this optimiser", name);
  diag_help(b->w->diags, e, "`state %s = 0` declares one", name);
  if (!bind) bind_value(m->env, n->name, value_error(b, n->span), n->name_span);
}

// Reports a condition that depends on an open size: elsewhere it stays open silently, but here the
// weights would not change. (Not after an error.)
static bool is_decided(OptimiserBuilder *m, const Value *v, const Syntax *what) {
  bool known = v->n == 1 && !v->at[0].error;
  if (!known && !m->b->w->diags->errors)
    diag_error(m->b->w->diags, what->span,
               "this depends on the size of the weight, and an optimiser is one for all sizes");
  return known;
}

static void make_next(OptimiserBuilder *m, const Syntax *n) {
  Body *b = m->b;
  const char *name = name_text(b->w->names, n->name);
  Binding *bind = env_meaning(m->env, n);
  bool weight = strcmp(name, "p") == 0;
  if (!weight && (!bind || bind->kind != BIND_STATE)) {
    no_state(m, n, bind);
    return;
  }
  Type t = state_type(m, n->name);
  Value v = eval_equation(b, m->env, step_brackets(n), step_value(n), NULL, &t, n->span);
  if (!is_decided(m, &v, step_value(n))) return;
  Val one = v.at[0];
  Id wire = wire_of_type(b, &one, &t, arena_format(b->w->arena, "the next `%s`", name),
                         step_value(n)->span);
  if (!wire) return;
  bind = env_meaning(m->env, n);
  bind->next = value_one(b, one);
  if (weight)
    m->next = wire;
  else
    b->d->param.at[bind->param].next = wire;
}

static void make_look(OptimiserBuilder *m, const Syntax *n) {
  Value v = eval_alone(m->b, m->env, look_value(n));
  m->look_node = n;
  if (!is_decided(m, &v, look_value(n))) return;
  Id wire = wire_of_type(m->b, &v.at[0], &m->type, "what the model sees", look_value(n)->span);
  if (wire) m->look = wire;
}

// The gradient is taken at `look`, so `look` cannot depend on it.
static void check_look(const OptimiserBuilder *m) {
  const Diagram *d = m->b->d;
  bool *moved = NEW_ARRAY(m->b->w->arena, bool, d->wire.n);
  moved[d->in.at[1]] = true;
  mark_dependent(d, moved);
  if (moved[m->look])
    diag_error(m->b->w->diags, m->look_node->span,
               "`look` says where the gradient is taken, so it cannot depend on `grad`");
}

static void make_block(OptimiserBuilder *m, const Syntax *block) {
  Body *b = m->b;
  for (uint32_t i = 0; i < block_statements(block).n; i++) {
    const Syntax *n = block_statements(block).at[i];
    for (uint32_t k = 0; n->kind == N_ERROR && k < error_names(n).n; k++)
      bind_value(m->env, error_names(n).at[k]->name, value_error(b, n->span), n->span);
    if (n->kind == N_STATES) make_states(m, n);
    if (n->kind == N_LOOK) make_look(m, n);
    if (n->kind == N_STEP) make_next(m, n);
  }
  if (m->look_node) check_look(m);
}

// -- settings -------------------------------------------------------------------------------------
// The setting at this position, as `train` writes it; NULL = default.
static const Syntax *written_setting(const Syntax *call, uint32_t number, Name name) {
  if (!call || call->kind != N_CALL) return NULL;
  for (uint32_t i = 0; i < call_args(call).n; i++) {
    const Syntax *n = call_args(call).at[i];
    if (n->kind == N_ARG ? n->name == name : i == number) return arg_given(n);
  }
  return NULL;
}

static void bind_settings(OptimiserBuilder *m, const Program *p, const Def *d, const Syntax *call) {
  Body *b = m->b;
  const Syntax *params = optimiser_settings(d->node);
  for (uint32_t i = 0; params && i < params_in(params).n; i++) {
    const Syntax *setting = params_in(params).at[i];
    const Syntax *written = written_setting(call, i, setting->name);
    Env *env = written ? env_new(b->in, NULL, p->scope, b) : m->env;
    Value v = eval_alone(b, env, written ? written : arg_value(setting));
    for (uint32_t k = 0; k < v.n; k++)
      if (!v.at[k].error && !v.at[k].literal) val_to_wire(b, &v.at[k], setting->name);
    bind_value(m->env, setting->name, v, setting->span);
  }
}

static Nodes settings_of(const Def *d) {
  const Syntax *settings = d ? optimiser_settings(d->node) : NULL;
  return settings ? params_in(settings) : (Nodes){0, NULL};
}

// -- domains --------------------------------------------------------------------------------------
typedef struct {
  const Syntax *domain; // NULL: all settings are in their domains
  const char *values;   // the values of the settings it mentions
  Span span;            // of one of these settings
} BrokenDomain;

// Evaluates a schedule at a step; it may depend on clocks only.
static bool number_in(World *w, const Diagram *d, double step, double steps, double *out) {
  Arena *room = arena_new();
  Tensor result = {0}, *param = room ? NEW_ARRAY(room, Tensor, d->param.n + 1) : NULL;
  bool good = room != NULL;
  for (uint32_t i = 0; good && i < d->param.n; i++) {
    good = d->param.at[i].role == ROLE_CLOCK;
    param[i] = tensor_new(room, 0, NULL);
    param[i].data[0] = strcmp(d->param.at[i].path, "steps") == 0 ? steps : step;
  }
  Eval e = {.arena = room, .param = param, .out = &result};
  good = good && diagram_eval(w, d, &e) && result.count == 1;
  if (good) *out = result.data[0];
  arena_free(room);
  return good;
}

static const Diagram *schedule_alone(Elab *in, Scope *scope, const Syntax *n) {
  World *w = in->w;
  DiagMark before = diags_mark(w->diags);
  Body *b = body_new(in, name_from(w->names, "setting"));
  b->env = env_new(in, NULL, scope, b);
  w->diags->muted++;
  Value v = eval_alone(b, b->env, n);
  bool good = v.n == 1 && !v.at[0].error && !v.at[0].type.rank && v.at[0].type.base == BASE_R;
  Id wire = good ? val_to_wire(b, &v.at[0], 0) : 0;
  if (wire) diagram_output(w, b->d, wire);
  if (wire) body_finish(b);
  if (wire) diagram_resolve(w, b->d);
  w->diags->muted--;
  diags_rewind(w->diags, before);
  return wire && !b->d->noisy ? b->d : NULL;
}

// A constant setting, or the initial value of a schedule if that does not depend on the number of
// steps.
static bool setting_number(Body *b, Env *env, Scope *scope, const Syntax *n, double *out) {
  double other;
  if (static_number(b, env, n, out)) return true;
  const Diagram *d = schedule_alone(b->in, scope, n);
  return d && number_in(b->w, d, 0, 10, out) && number_in(b->w, d, 0, 1e6, &other) && *out == other;
}

// Checks the domains of settings, of schedules at step 0.
static BrokenDomain broken_setting(Elab *in, const Program *p, const Def *d, const Syntax *call,
                                   bool sound) {
  World *w = in->w;
  Body *b = body_new(in, d->name);
  Env *own = env_new(in, NULL, d->scope, b), *env = env_new(in, NULL, p->scope, b);
  Nodes all = settings_of(d);
  BrokenDomain out = {0};
  double *value = NEW_ARRAY(w->arena, double, all.n + 1);
  for (uint32_t i = 0; i < all.n; i++) {
    const Syntax *written = written_setting(call, i, all.at[i]->name);
    Binding bind = {.kind = BIND_OPTION, .span = all.at[i]->span, .open = true};
    bind.has_number = written ? setting_number(b, env, p->scope, written, &value[i])
                              : static_number(b, own, arg_value(all.at[i]), &value[i]);
    bind.number = value[i];
    env_bind(own, all.at[i]->name, bind);
  }
  for (uint32_t i = 0; i < all.n && !out.domain; i++)
    if (!sound || domains_sound(b, own, arg_domains(all.at[i])))
      out.domain = domain_broken(b, own, arg_domains(all.at[i]));
  if (!out.domain) return out;
  Buf text = buf_new(w->arena);
  out.span = out.domain->span;
  for (uint32_t k = all.n; k-- > 0;) {
    const Syntax *written = written_setting(call, k, all.at[k]->name);
    if (!domain_names(out.domain, all.at[k]->name)) continue;
    if (written) out.span = written->span;
    domain_value(&text, name_text(w->names, all.at[k]->name), value[k]);
  }
  out.values = text.at;
  return out;
}

// -- schedules ------------------------------------------------------------------------------------
enum {
  STEPS_LOOKED_AT = 20000
}; // evaluated steps of a longer plan, evenly spaced, with the first and the last

typedef struct {
  Elab *in;
  const Def *optimiser;
  Nodes all; // its settings
  const Syntax *call;
  Body *b;
  Env *own;                 // binds the settings as numbers
  const Diagram **schedule; // [setting] its diagram; NULL: no schedule
} ScheduleCheck;

// Binds constant settings and elaborates schedules; false: none is a schedule.
static bool find_schedules(ScheduleCheck *c, const Program *p) {
  Env *env = env_new(c->in, NULL, p->scope, c->b);
  bool any = false;
  c->schedule = NEW_ARRAY(c->in->w->arena, const Diagram *, c->all.n + 1);
  for (uint32_t i = 0; i < c->all.n; i++) {
    const Syntax *setting = c->all.at[i], *written = written_setting(c->call, i, setting->name),
                 *n = written ? written : arg_value(setting);
    Binding bind = {.kind = BIND_OPTION, .span = setting->span, .open = true};
    bind.has_number = static_number(c->b, written ? env : c->own, n, &bind.number);
    if (!bind.has_number)
      c->schedule[i] = schedule_alone(c->in, written ? p->scope : c->optimiser->scope, n);
    any |= c->schedule[i] != NULL;
    env_bind(c->own, setting->name, bind);
  }
  return any;
}

// Checks one step; false with a diagnostic.
static bool step_holds(const ScheduleCheck *c, double step, double steps) {
  World *w = c->in->w;
  for (uint32_t i = 0; i < c->all.n; i++) {
    Binding *bind = env_find(c->own, c->all.at[i]->name);
    if (c->schedule[i]) bind->has_number = number_in(w, c->schedule[i], step, steps, &bind->number);
  }
  for (uint32_t i = 0; i < c->all.n; i++) {
    const Syntax *broken = domain_broken(c->b, c->own, arg_domains(c->all.at[i]));
    if (!broken) continue;
    Buf text = buf_new(w->arena);
    Span span = broken->span;
    for (uint32_t k = c->all.n; k-- > 0;) {
      Name name = c->all.at[k]->name;
      const Syntax *written = written_setting(c->call, k, name);
      if (!domain_names(broken, name)) continue;
      if (written) span = written->span;
      domain_value(&text, name_text(w->names, name), env_find(c->own, name)->number);
    }
    buf_printf(&text, " in step %.0f of %.0f", step + 1, steps);
    domain_refuse(c->b, name_text(w->names, c->optimiser->name), broken, text.at, span);
    return false;
  }
  return true;
}

bool schedules_hold(Elab *in, Program *p, const Training *t, double steps) {
  for (uint32_t i = 0; i < t->stepper.n; i++) {
    ScheduleCheck c = {.in = in, .call = t->stepper.at[i].call};
    c.optimiser = optimiser_named(in, p, t->stepper.at[i].name);
    if (!c.optimiser) continue;
    c.all = settings_of(c.optimiser);
    c.b = body_new(in, c.optimiser->name);
    c.own = env_new(in, NULL, c.optimiser->scope, c.b);
    if (!find_schedules(&c, p)) continue;
    double points = steps < STEPS_LOOKED_AT ? steps : STEPS_LOOKED_AT;
    for (double k = 0; k < points; k++)
      if (!step_holds(&c, points > 1 ? floor(k * (steps - 1) / (points - 1)) : 0, steps))
        return false;
  }
  return true;
}

void check_domains(Elab *in, const Program *p, const Def *d, const Syntax *call) {
  BrokenDomain broken = broken_setting(in, p, d, call, true);
  Body b = {.in = in, .w = in->w};
  if (broken.domain)
    domain_refuse(&b, name_text(in->w->names, d->name), broken.domain, broken.values, broken.span);
}

const char *setting_outside(Elab *in, Program *p, const char *name, const Syntax *call,
                            Setting other) {
  const Def *d = optimiser_named(in, p, name);
  if (!d) return NULL;
  BrokenDomain broken = broken_setting(in, p, d, elab_call_with(in, p, name, call, other), false);
  return broken.domain ? arena_format(in->w->arena, "`%s` wants %s, but %s", name,
                                      span_words(in->w, broken.domain->span), broken.values)
                       : NULL;
}

Def *optimiser_named(Elab *in, Program *p, const char *name) {
  Name id = name_from(in->w->names, name);
  Def *d = scope_find(p->scope, id);
  if (!d || d->kind != DEF_OPTIMISER) d = scope_find(in->library, id);
  return d && d->kind == DEF_OPTIMISER ? d : NULL;
}

static Diagram *make_optimiser(Elab *in, Program *p, Def *d, const Syntax *call, Type t) {
  World *w = in->w;
  Body *b = body_new(in, d->name);
  OptimiserBuilder m = {.b = b, .env = env_new(in, NULL, d->scope, b), .type = t};
  uint32_t errors = w->diags->met;
  b->env = m.env;
  b->generic = true;
  for (uint32_t i = 0; i < t.rank; i++)
    if (t.axis[i].pass) body_pass(b, t.axis[i].pass, t.axis[i]);
  Val weight = val_wire(b, diagram_input(w, b->d, t, name_from(w->names, "p"), 0), d->span);
  Val grad = val_wire(b, diagram_input(w, b->d, t, name_from(w->names, "grad"), 0), d->span);
  bind_settings(&m, p, d, call);
  env_bind(m.env, name_from(w->names, "p"),
           (Binding){.kind = BIND_STATE, .value = value_one(b, weight), .span = d->span});
  bind_value(m.env, name_from(w->names, "grad"), value_one(b, grad), d->span);
  m.look = m.next = b->d->in.at[0];
  m.shaped = shaped_names(w, optimiser_block(d->node));
  make_block(&m, optimiser_block(d->node));
  diagram_output(w, b->d, m.look);
  diagram_output(w, b->d, m.next);
  body_finish(b);
  diagram_clamp_step(w, b->d);
  diagram_resolve(w, b->d);
  return w->diags->met == errors ? b->d : NULL;
}

Diagram *elab_optimiser(Elab *in, Program *p, const char *name, const Syntax *call, Type t,
                        bool quiet) {
  Diags *diags = in->w->diags;
  Def *d = optimiser_named(in, p, name);
  if (!d) return NULL;
  DiagMark before = diags_mark(diags);
  Diagram *made = make_optimiser(in, p, d, call, t);
  if (quiet && !made) diags_rewind(diags, before);
  d->broken |= !quiet && !made;
  return made;
}

Type weight_type(World *w, Base base, uint32_t rank, Span span) {
  Axis axis[2];
  for (uint32_t k = 0; k < 2; k++) {
    Name label = name_from(w->names, k ? "b" : "a");
    axis[k] = (Axis){.label = label, .size = size_var(w, label, VAR_LOCAL, span)};
  }
  return type_make(w, base, rank, axis);
}

const char *default_optimiser(Base base) { return base == BASE_BIT ? "rda" : "adam"; }

// -- replacement for weights that are no matrices -------------------------------------------------
// adam(rate: 0.05 * r), where r is the rate of the other optimiser
const Syntax *elab_stand_in(Elab *in, Program *p, const char *name, const Syntax *call) {
  World *w = in->w;
  const Def *d = optimiser_named(in, p, name),
            *adam = optimiser_named(in, p, default_optimiser(BASE_R));
  Name rate = name_from(w->names, "rate");
  const Syntax *found = NULL;
  bool takes = false;
  Nodes own = settings_of(d), its = settings_of(adam);
  for (uint32_t i = 0; i < own.n; i++) {
    if (own.at[i]->name != rate) continue;
    found = written_setting(call, i, rate);
    if (!found) found = arg_value(own.at[i]);
  }
  for (uint32_t i = 0; i < its.n; i++) takes |= its.at[i]->name == rate;
  if (!found || !takes) return NULL;
  Arena *a = w->arena;
  Span span = found->span;
  Syntax *share = syntax_num(a, 0.05, span);
  share->text = "0.05";
  Syntax *product = node_prod(a, span, (ProdParts){NODES(share, (Syntax *)found)});
  syntax_signed(a, product, SIGN_TIMES);
  Syntax *arg = node_arg(a, span, (ArgParts){.value = product});
  arg->name = rate;
  Syntax *callee = syntax_name(a, name_from(w->names, default_optimiser(BASE_R)), span);
  return node_call(a, span, (CallParts){callee, NODES(arg)});
}

// -- changing settings ----------------------------------------------------------------------------
Settings optimiser_has(Elab *in, Program *p, const char *name, const Syntax *call) {
  Nodes own = settings_of(optimiser_named(in, p, name));
  Settings all = {0};
  for (uint32_t i = 0; i < own.n; i++) {
    const Syntax *written = written_setting(call, i, own.at[i]->name);
    if (!written) written = arg_value(own.at[i]);
    bool known = written->kind == N_NUM;
    Setting s = {name_text(in->w->names, own.at[i]->name), known ? written->num : 0, known};
    vec_push(in->w->arena, &all, s);
  }
  return all;
}

// All settings are given by name, so that positions do not matter.
const Syntax *elab_call_with(Elab *in, Program *p, const char *name, const Syntax *call,
                             Setting other) {
  World *w = in->w;
  Nodes own = settings_of(optimiser_named(in, p, name));
  Span span = call ? call->span : (Span){0};
  VEC(Syntax *) arg = {0};
  for (uint32_t i = 0; i < own.n; i++) {
    Name setting = own.at[i]->name;
    bool changed = strcmp(name_text(w->names, setting), other.name) == 0;
    const Syntax *value =
        changed ? syntax_num(w->arena, other.value, span) : written_setting(call, i, setting);
    if (!value) continue;
    Syntax *one = node_arg(w->arena, span, (ArgParts){.value = (Syntax *)value});
    one->name = setting;
    vec_push(w->arena, &arg, one);
  }
  Syntax *callee = syntax_name(w->arena, name_from(w->names, name), span);
  return node_call(w->arena, span, (CallParts){callee, {arg.n, arg.at}});
}
