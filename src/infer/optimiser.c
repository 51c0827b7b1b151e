// Optimisers as diagrams, and the settings of `train`.
#include "program.h"

// -- train and show -------------------------------------------------------------------------------
// A setting of an optimiser is one number, perhaps one that changes with the step.
static void check_setting(Infer *in, Program *p, const Node *n) {
  if (n->kind == N_CMP && n->op[0] == '=' && n->kid[0]->kind == N_NAME) {
    diag_error(in->w->diags, n->span, "a setting is given with a colon: `%s: …`",
               name_text(in->w->names, n->kid[0]->name));
    return;
  }
  Body *b = body_new(in, name_from(in->w->names, "setting"));
  b->env = env_new(in, NULL, p->scope, b);
  Value v = eval_alone(b, b->env, n);
  if (v.n == 1 && !v.at[0].error && (v.at[0].type.rank || v.at[0].type.base != BASE_R))
    diag_error(in->w->diags, n->span, "a setting is one number, but this is %s",
               own_text(in->w, &v.at[0].type));
}

static void check_optimiser(Infer *in, Program *p, const Node *n) {
  World *w = in->w;
  const Node *base = n;
  while (base->kind == N_CALL || base->kind == N_AT) base = base->kid[0];
  static const char *const words[] = {"batch",      "clip",     "seed", "turns",
                                      "accumulate", "patience", "decay"};
  if (base->kind != N_NAME) return;
  const char *text = name_text(w->names, base->name);
  Def *d = scope_find(p->scope, base->name);
  for (uint32_t i = 0; i < COUNT(words); i++)
    if (strcmp(text, words[i]) == 0) return;
  if (d && d->kind == DEF_OPTIMISER) {
    const Node *params = d->node->kid[0];
    for (uint32_t i = 1; n->kind == N_CALL && i < n->nkid; i++) {
      bool found = n->kid[i]->kind != N_ARG && params && i - 1 < params->nkid;
      for (uint32_t k = 0; n->kid[i]->kind == N_ARG && params && k < params->nkid; k++)
        found |= params->kid[k]->name == n->kid[i]->name;
      if (found) {
        check_setting(in, p, n->kid[i]->kind == N_ARG ? n->kid[i]->kid[0] : n->kid[i]);
        continue;
      }
      VEC(const char *) names = {0};
      Buf all = buf_new(w->arena);
      uint32_t count = params ? params->nkid : 0;
      for (uint32_t k = 0; k < count; k++) {
        vec_push(w->arena, &names, name_text(w->names, params->kid[k]->name));
        buf_printf(&all, "%s%s", k ? ", " : "", names.at[k]);
      }
      bool named = n->kid[i]->kind == N_ARG;
      const char *wrong = named ? name_text(w->names, n->kid[i]->name) : "",
                 *near = named ? nearest_name(wrong, names.at, names.n) : NULL;
      Id e = named ? diag_error(w->diags,
                                n->kid[i]->name_span.file ? n->kid[i]->name_span : n->kid[i]->span,
                                "optimiser `%s` has no setting `%s`", text, wrong)
                   : diag_error(w->diags, n->kid[i]->span,
                                count ? "optimiser `%s` has only %u %s"
                                      : "optimiser `%s` has no settings",
                                text, count, count == 1 ? "setting" : "settings");
      if (count)
        diag_help(w->diags, e, "%s%s%sits setting%s %s", near ? "did you mean `" : "",
                  near ? near : "", near ? "`? " : "", count == 1 ? " is" : "s are", all.at);
      diag_note(w->diags, e, d->span, "declared here");
    }
    return;
  }
  if (d && d->broken) return;
  if (d) {
    Id e = diag_error(w->diags, base->span, "`%s` is not an optimiser", text);
    diag_note(w->diags, e, d->span, "declared here");
    return;
  }
  Body b = {.in = in, .w = w};
  unknown_name(&b, env_new(in, NULL, p->scope, &b), base, "optimiser or setting");
}

void do_train(Infer *in, Program *p, const Node *n) {
  World *w = in->w;
  const char *unit = name_text(w->names, n->name);
  if (strcmp(unit, "epochs") && strcmp(unit, "epoch") && strcmp(unit, "steps") &&
      strcmp(unit, "step") && strcmp(unit, "pass") && strcmp(unit, "passes"))
    diag_error(w->diags, n->name_span.file ? n->name_span : n->span,
               "training lasts a number of `epochs` or `steps`, not `%s`", unit);
  for (uint32_t i = 2; i < n->nkid; i++) {
    const Node *o = n->kid[i];
    if (o->kind == N_ARG) {
      Node name = {
          .kind = N_NAME, .name = o->name, .span = o->name_span, .name_span = o->name_span};
      learner_named(in, p->scope, &name);
      check_optimiser(in, p, o->kid[0]);
    } else if (o->kind == N_OPTION) {
      check_optimiser(in, p, o->kid[0]);
    }
  }
  vec_push(w->arena, &p->train, n);
}

// -- optimisers -----------------------------------------------------------------------------------
static void optimiser_states(Body *b, Env *env, const Node *n, const Type *t) {
  for (uint32_t i = 0; i < n->nkid; i++) {
    const Node *typed = n->kid[i];
    double k = 0;
    if (typed->kid[2] && !static_number(b, env, typed->kid[2], &k))
      diag_error(b->w->diags, typed->kid[2]->span, "a state of an optimiser starts as a number");
    Param p = {.path = name_text(b->w->names, typed->name),
               .role = ROLE_BUFFER,
               .init = {.kind = INIT_CONST, .k = k}};
    uint32_t at = diagram_param(b->w, b->d, p, *t, typed->name, origin_at(b, typed->span));
    vec_push(b->w->arena, &b->param_site, 0);
    Val v = val_wire(b, b->d->param.at[at].wire, typed->span);
    env_bind(
        env, typed->name,
        (Binding){
            .kind = BIND_STATE, .value = value_one(b, v), .param = at, .span = typed->name_span});
  }
}

static Id optimiser_step(Body *b, Env *env, const Node *n, const Type *t) {
  World *w = b->w;
  Binding *bind = env_find(env, n->name);
  bool weight = strcmp(name_text(w->names, n->name), "p") == 0;
  if (!weight && (!bind || bind->kind != BIND_STATE)) {
    if (bind && bind->kind == BIND_VALUE && bind->value.n && bind->value.at[0].error) return 0;
    Id e = diag_error(w->diags, n->name_span, "there is no state `%s` in this optimiser",
                      name_text(w->names, n->name));
    diag_help(w->diags, e, "`state %s = 0` declares one", name_text(w->names, n->name));
    if (!bind)
      env_bind(
          env, n->name,
          (Binding){.kind = BIND_VALUE, .value = value_error(b, n->span), .span = n->name_span});
    return 0;
  }
  Value v = eval_equation(b, env, n->kid[0], n->kid[1], NULL, t, n->span);
  if (v.n != 1 || v.at[0].error) return 0;
  Val one = val_fill(b, v.at[0], *t);
  val_settle(b, &one);
  if (one.type.rank < t->rank) { // a number for all: spread out
    Val pair[2] = {one, val_fill(b, val_literal(b, 0, n->span), *t)};
    one = val_fn(b, FN_add, pair, 2, n->span, NULL);
  }
  Id wire = val_to_wire(b, &one, 0);
  bind = env_find(env, n->name);
  bind->next = value_one(b, one);
  if (weight) return wire;
  b->d->param.at[bind->param].next = wire;
  return 0;
}

Diagram *infer_optimiser(Infer *in, Program *p, const char *name, Type t) {
  World *w = in->w;
  Name id = name_from(w->names, name);
  Def *d = scope_find(p->scope, id);
  if (!d || d->kind != DEF_OPTIMISER) return NULL;
  Body *b = body_new(in, id);
  Env *env = env_new(in, NULL, d->scope, b);
  b->env = env;
  b->generic = true;
  uint32_t errors = w->diags->errors;
  const Node *params = d->node->kid[0], *block = d->node->kid[1];
  for (uint32_t i = 0; params && i < params->nkid; i++)
    env_bind(env, params->kid[i]->name,
             (Binding){.kind = BIND_VALUE,
                       .value = eval_alone(b, env, params->kid[i]->kid[0]),
                       .span = params->kid[i]->span});
  Val weight = val_wire(b, diagram_input(w, b->d, t, name_from(w->names, "p"), 0), d->span);
  Val grad = val_wire(b, diagram_input(w, b->d, t, name_from(w->names, "grad"), 0), d->span);
  env_bind(env, name_from(w->names, "p"),
           (Binding){.kind = BIND_STATE, .value = value_one(b, weight), .span = d->span});
  env_bind(env, name_from(w->names, "grad"),
           (Binding){.kind = BIND_VALUE, .value = value_one(b, grad), .span = d->span});
  Id look = b->d->in.at[0], next = look;
  for (uint32_t i = 0; i < block->nkid; i++) {
    const Node *n = block->kid[i];
    for (uint32_t k = 0; n->kind == N_ERROR && k < n->nkid; k++)
      env_bind(env, n->kid[k]->name,
               (Binding){.kind = BIND_VALUE, .value = value_error(b, n->span), .span = n->span});
    if (n->kind == N_STATES)
      optimiser_states(b, env, n, &t);
    else if (n->kind == N_LOOK) {
      Value v = eval_alone(b, env, n->kid[0]);
      if (v.n == 1 && !v.at[0].error) look = val_to_wire(b, &v.at[0], 0);
    } else if (n->kind == N_STEP) {
      Id wire = optimiser_step(b, env, n, &t);
      if (wire) next = wire;
    }
  }
  diagram_output(w, b->d, look);
  diagram_output(w, b->d, next);
  body_finish(b);
  diagram_zonk(w, b->d);
  return w->diags->errors == errors ? b->d : NULL;
}
