// Weights and constants: start values, constraints, and their params in the diagram.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/interpret.h"
#include "lang/elab/body.h"

static bool label_among(const Types *types, Name label) {
  for (uint32_t i = 0; label && i < types->n; i++)
    for (uint32_t k = 0; k < types->at[i].rank; k++)
      if (!types->at[i].axis[k].pass && types->at[i].axis[k].label == label) return true;
  return false;
}

// Fan in: the product of axes that are not outputs; fan out: of those that are not inputs.
static void set_fans(Body *b, const Type *t, Init *init) {
  World *w = b->w;
  Types in = {0};
  for (uint32_t i = 0; i < b->d->in.n; i++)
    vec_push(w->arena, &in, b->d->wire.at[b->d->in.at[i]].type);
  init->fan_in = init->fan_out = size_of(w, 1);
  bool known = false;
  for (uint32_t i = 0; i < t->rank; i++)
    known |= label_among(&in, t->axis[i].label) || label_among(&b->want, t->axis[i].label);
  for (uint32_t i = 0; i < t->rank; i++) {
    bool out = known ? label_among(&b->want, t->axis[i].label) : i + 1 == t->rank;
    bool comes = known ? label_among(&in, t->axis[i].label) : i + 1 < t->rank;
    if (!out || (comes && t->rank == 1)) init->fan_in = size_mul(w, init->fan_in, t->axis[i].size);
    if (!comes) init->fan_out = size_mul(w, init->fan_out, t->axis[i].size);
  }
}

static bool is_given_data(Env *env, const Syntax *name) {
  const Def *d = env_meaning(env, name) ? NULL : scope_meaning(env->scope, name);
  return d && d->kind == DEF_GIVEN;
}

// A wire of the body, or given data, that the text mentions, or NULL.
static const Syntax *wire_in(Env *env, const Syntax *n) {
  if (!n) return NULL;
  if (n->kind == N_NAME) {
    const Binding *bind = env_meaning(env, n);
    if (is_given_data(env, n)) return n;
    return bind && (bind->kind == BIND_STATE ||
                    (bind->kind == BIND_VALUE && bind->value.n && !bind->value.at[0].literal &&
                     !bind->value.at[0].error))
               ? n
               : NULL;
  }
  for (uint32_t i = 0; i < syntax_parts(n).n; i++) {
    const Syntax *found = wire_in(env, syntax_parts(n).at[i]);
    if (found) return found;
  }
  return NULL;
}

bool start_is_known(Body *b, Env *env, const Syntax *n) {
  const Syntax *wire = wire_in(env, n);
  return !wire || diag_refuse(b->w->diags, wire->span,
                              "a start is something known beforehand, and `%s` is %s",
                              name_text(b->w->names, wire->name),
                              is_given_data(env, wire) ? "given data" : "a wire");
}

// glorot[9, 16], he[9]: explicit fan in and fan out.
static Init init_with_fans(Body *b, Env *env, const Syntax *n, Init init) {
  Nodes slots = brackets_slots(at_brackets(n));
  bool glorot = init.kind == INIT_GLOROT, good = slots.n == (glorot ? 2 : 1);
  for (uint32_t i = 0; good && i < slots.n; i++) {
    Axis axis[RANK_LIMIT];
    BracketsParts only = {NODES(slots.at[i])};
    uint32_t sizes = axes_eval(b, env, node_brackets(b->w->arena, n->span, only), false, axis);
    if (sizes == UINT32_MAX) return init;
    good = sizes == 1;
    if (good) *(i ? &init.fan_out : &init.fan_in) = axis[0].size;
  }
  const char *wants = glorot ? "`glorot[9, 16]` wants two sizes: how many come in, and go out"
                             : "`he[9]` wants one size: how many come in";
  if (!good) diag_error(b->w->diags, n->span, "%s", wants);
  return init;
}

Init init_from(Body *b, Env *env, const Syntax *n, const Type *t) {
  World *w = b->w;
  Init init = {.kind = t->rank > 1 ? INIT_GLOROT : INIT_CONST};
  double k;
  if (t->base != BASE_R) init.kind = INIT_CONST;
  set_fans(b, t, &init);
  if (!n) return init;
  const Syntax *word = n->kind == N_AT ? at_base(n) : n;
  if (word->kind == N_NAME && !env_meaning(env, word) && !scope_meaning(env->scope, word)) {
    const char *text = name_text(w->names, word->name);
    InitKind kind = init_word(text);
    if (kind && (word == n || kind == INIT_GLOROT || kind == INIT_HE)) {
      init.kind = kind;
      if (strcmp(text, "one") == 0) init.k = 1;
      return word == n ? init : init_with_fans(b, env, n, init);
    }
  }
  if (static_number(b, env, n, &k)) {
    init.kind = INIT_CONST;
    init.k = number_fits(b, k, t, n->span) ? k : 0;
    return init;
  }
  if (!start_is_known(b, env, n)) return init;
  if (!work_on(b, INSTANCE_WORK, n->span)) return init;
  Body *own = body_new(b->in, name_from(w->names, "init"));
  own->generic = b->generic;
  own->env = env;
  const MachineText *machine = b->in->machine; // the start of one member
  b->in->machine = NULL;
  Value v = n->kind == N_LIST ? list_value(own, env, n, NULL, false, t, n->span)
                              : eval_equation(own, env, NULL, n, NULL, t, n->span);
  b->in->machine = machine;
  Val one = value_single(own, v, n->span);
  if (one.error) return init;
  one = val_fill(own, one, *t);
  Id wire = val_to_wire(own, &one, 0);
  if (!wire) return init;
  bool fits = one.type.rank == t->rank && one.type.base == t->base;
  if (fits && t->base == BASE_LABEL)
    fits = sizes_agree(b, t->count, one.type.count, n->span, n->span, "a start value");
  for (uint32_t i = 0; fits && i < t->rank; i++)
    fits =
        sizes_agree(b, t->axis[i].size, one.type.axis[i].size, n->span, n->span, "a start value");
  if (!fits) {
    diag_error(w->diags, n->span, "the weight is %s, but it starts as %s", own_text(w, t),
               own_text(w, &one.type));
    return init;
  }
  diagram_output(w, own->d, wire);
  body_finish(own);
  init.kind = INIT_DIAGRAM;
  init.diagram = own->d;
  return init;
}

Val add_weight(Body *b, Type t, Init init, const WeightDecl *decl) {
  Param p = {.path = decl->path, .rooted = decl->rooted, .home = decl->home, .role = decl->role};
  p.init = init;
  p.init.as = decl->as;
  p.init.of = decl->of;
  for (uint32_t i = 0; i < t.rank; i++) t.axis[i].pass = 0;
  if (b->in->owned) t = for_each_member(b, t, &p.init);
  uint32_t i = diagram_param(b->w, b->d, p, t, decl->name, origin_at(b, decl->span));
  sync_sites(b);
  return val_wire(b, b->d->param.at[i].wire, decl->span);
}

// learn p : simplex[a]: a constraint, that is a box from the free weight.
static bool find_constraint(Env *env, const Syntax *type, Def **out) {
  if (type->kind != N_TYPE || type_base(type)->kind != N_NAME || env_meaning(env, type_base(type)))
    return false;
  Def *d = scope_meaning(env->scope, type_base(type));
  *out = d;
  if (!d || d->kind != DEF_BOX || !box_params(d->node)) return false;
  Nodes params = params_in(box_params(d->node));
  return params.n == 1 &&
         param_type(params.at[0]); // its parameter's type is that of the free weight
}

static const Syntax *start_of(Body *b, const Syntax *init,
                              const Def *box) { // the free weight of a start value
  World *w = b->w;
  Name from =
      name_from(w->names, arena_format(w->arena, "%s_from", name_text(w->names, box->name)));
  Def *inverse = init ? scope_find(box->scope, from) : NULL;
  if (!inverse) return init;
  Syntax *callee = syntax_name(w->arena, from, init->span);
  return node_call(w->arena, init->span, (CallParts){callee, NODES((Syntax *)init)});
}

// simplex[a]: its sizes as options of the box.
static bool bind_sizes(Body *b, Env *env, const Def *box, const Syntax *type, Env *inner) {
  World *w = b->w;
  const Syntax *config = type_brackets(type), *cfg = box_cfg(box->node);
  for (uint32_t i = 0; cfg && i < cfg_in(cfg).n; i++) {
    const Syntax *items =
        config && i < brackets_slots(config).n ? brackets_slots(config).at[i] : NULL;
    Axis axis[RANK_LIMIT];
    BracketsParts only = {NODES((Syntax *)items)};
    if (!items || axes_eval(b, env, node_brackets(w->arena, type->span, only), false, axis) != 1)
      return diag_refuse(w->diags, type->span, "`%s` wants its size, as in `%s[3]`",
                         name_text(w->names, box->name), name_text(w->names, box->name));
    env_bind(inner, cfg_in(cfg).at[i]->name,
             (Binding){.kind = BIND_OPTION,
                       .size = axis[0].size,
                       .label = axis[0].label,
                       .decl = axis[0].decl,
                       .named = cfg_in(cfg).at[i]->name_span,
                       .span = items->span});
  }
  return true;
}

// The type of the free weight.
static bool free_type(Body *b, Env *env, const Def *box, const Syntax *type, Type *out) {
  World *w = b->w;
  Env *inner = env_new(b->in, NULL, box->scope, b);
  if (!bind_sizes(b, env, box, type, inner)) return false;
  Types t = {0};
  Axis axis[RANK_LIMIT];
  const Syntax *config = type_brackets(type),
               *formal = param_type(params_in(box_params(box->node)).at[0]);
  const Syntax *brackets = type_brackets(formal),
               *slot = brackets ? nodes_only(brackets_slots(brackets)) : NULL;
  if (slot && items_in(slot).at[0]->kind == N_SPREAD) {
    uint32_t n = axes_eval(b, env, config, false, axis);
    if (n == UINT32_MAX) return false;
    vec_push(w->arena, &t, type_make(w, BASE_R, n, axis));
  } else if (!types_eval(b, inner, formal, true, &t, NULL)) {
    return false;
  }
  *out = t.at[0];
  for (uint32_t i = 0; config && i < out->rank; i++) // with the caller's labels
    if (brackets_slots(config).n == 1 && axes_eval(b, env, config, false, axis) == out->rank)
      out->axis[i] = axis[i];
  return true;
}

static Value constrained_weight(Body *b, Env *env, Def *box, const Syntax *type, const Syntax *init,
                                const WeightDecl *decl) {
  Type t;
  if (!free_type(b, env, box, type, &t)) return value_error(b, decl->span);
  const Syntax *reached = start_of(b, init, box);
  uint32_t errors = b->w->diags->met;
  Init start = init_from(b, env, reached, &t);
  BoxUse use = {.def = box, .node = type, .name = box->name, .span = decl->span};
  if (!init) start = (Init){.kind = INIT_NORMAL};
  if (reached != init && b->w->diags->met == errors) start_is_point(b, env, &use, init, &t, &start);
  Val free = add_weight(b, t, start, decl);
  return call_def(b, env, &use, NULL, value_one(b, free), NULL);
}

Value typed_weight(Body *b, Env *env, const Syntax *sig, const Syntax *init,
                   const WeightDecl *decl) {
  Span span = decl->span;
  const Syntax *types = sig && sig->kind == N_SIG ? sig_from(sig) : sig;
  if (!types) {
    Id e = diag_error(b->w->diags, span, "a weight wants its type");
    diag_help(b->w->diags, e, "as in `learn W : R[3 4]`");
    return value_error(b, span);
  }
  Def *box;
  if (types_in(types).n == 1 && find_constraint(env, types_in(types).at[0], &box))
    return constrained_weight(b, env, box, types_in(types).at[0], init, decl);
  Types t = {0};
  const Def *space;
  if (!types_eval(b, env, types, false, &t, &space)) return value_error(b, span);
  if (t.n != 1) return value_refuse(b, span, types->span, "a weight is one tensor");
  if (t.at[0].base == BASE_LABEL)
    return value_refuse(b, span, types->span,
                        "labels cannot be learned: a weight is made of real numbers or bits");
  Value v = value_one(b, add_weight(b, t.at[0], init_from(b, env, init, &t.at[0]), decl));
  v.space = space;
  return v;
}

Value learner_weight(Body *b, Def *d, Body *home, const char *family, Span span) {
  const Def *real = learner_of(d);
  const Syntax *n = real->node;
  if (family_of(d) && !family) {
    const char *text = name_text(b->w->names, d->name);
    return value_refuse(b, span, span, "`%s` is a family: say which member, as in `%s[0]`", text,
                        text);
  }
  const char *path =
      arena_format(b->w->arena, "%s%s", name_text(b->w->names, d->name), family ? family : "");
  Env *scope = home ? home_env(home, d) : NULL;
  if (!scope) scope = env_new(b->in, NULL, real->scope, b);
  const Syntax *init = real->refined ? refine_body(real->refined) : learner_body(n);
  WeightDecl decl = {.path = path,
                     .rooted = !home,
                     .home = home && home != b ? home->id : 0,
                     .role = d->kind == DEF_STALE ? ROLE_BUFFER : ROLE_WEIGHT,
                     .name = d->name,
                     .span = span,
                     .of = own_origin(b->in, &(BoxUse){.def = d, .home = home}, path)};
  if (d->kind == DEF_STALE)
    decl.as = arena_format(b->w->arena, "%s%s", learner_path(b->w, d), family ? family : "");
  if (d->busy)
    return value_refuse(b, span, span, "weight `%s` starts as what depends on itself",
                        name_text(b->w->names, d->name));
  d->busy = true;
  Value v = typed_weight(b, scope, learner_result(n), init, &decl);
  d->busy = false;
  return v;
}

static Value broken_const(Body *b, Def *d, Span span) {
  d->broken = true;
  return value_error(b, span);
}

Value const_value(Body *b, Def *d, Span span) {
  World *w = b->w;
  const Syntax *n = d->node, *value = typed_value(n);
  Syntax name = {.kind = N_NAME, .name = d->name, .span = span};
  double k;
  Env *env = env_new(b->in, NULL, d->scope, b);
  if (!typed_type(n) && static_number(b, env, &name, &k))
    return value_one(b, val_literal(b, k, span));
  const char *text = name_text(w->names, d->name);
  if (!value) {
    diag_error(w->diags, d->span, "constant `%s` has no value", text);
    return broken_const(b, d, span);
  }
  Types t = {0};
  if (typed_type(n) && !types_eval(b, env, typed_type(n), false, &t, NULL))
    return broken_const(b, d, span);
  const Type *want = t.n == 1 ? &t.at[0] : NULL;
  if (d->busy) {
    diag_error(w->diags, d->span, "constant `%s` depends on itself", text);
    return broken_const(b, d, span);
  }
  const char *path = const_path(b->in, d);
  WeightDecl decl = {
      .path = path, .rooted = true, .role = ROLE_CONST, .name = d->name, .span = span};
  if (value->kind == N_STR) {
    Type file;
    if (!const_file_read(b, d, value, want, &file)) return value_error(b, span);
    Init init = {.kind = INIT_DATA, .data = d->file->data};
    return value_one(b, add_weight(b, file, init, &decl));
  }
  if (value->kind == N_LIST) return list_value(b, env, value, path, true, want, span);
  if (b->in->chain >= CHAIN_LIMIT) {
    diag_error(w->diags, d->span, "constant `%s` is reached through more than %d others", text,
               CHAIN_LIMIT);
    return broken_const(b, d, span);
  }
  d->busy = true;
  b->in->chain++;
  Value v = want ? value_one(b, add_weight(b, *want, init_from(b, env, value, want), &decl))
                 : eval_alone(b, env, value);
  b->in->chain--;
  d->busy = false;
  return v;
}
