// Headers: the inputs of a box or learner as wires. A parameter whose type is a tuple is several
// wires; a box without a header has the inputs of the first box in its body.
#include "base/names.h"
#include "core/diagram/ops.h"
#include "lang/elab/builtin.h"

// -- headers --------------------------------------------------------------------------------------

Header header_of(const Def *d) {
  Header h = {.scope = d->scope};
  d = learner_of(d);
  if (!d) return h;
  const Syntax *n = d->node;
  if (d->kind == DEF_BOX || d->kind == DEF_MACHINE) {
    bool box = d->kind == DEF_BOX;
    h.cfg = box ? box_cfg(n) : machine_cfg(n);
    h.params = declared_params(n);
    h.result = declared_result(n);
    h.body = declared_body(n);
    h.reverse = box ? box_reverse(n) : NULL;
    return h;
  }
  h.scope = d->scope;
  h.params = learner_params(n);
  h.result = learner_result(n);
  h.body = learner_body(n);
  if (d->refined) {
    if (refine_params(d->refined))
      h.params = NULL; // names from the refinement, types from the declaration
    h.body = refine_body(d->refined);
  }
  return h;
}

bool learner_has_input(const Def *d) {
  d = learner_of(d);
  if (!d || d->kind != DEF_LEARNER) return false;
  const Syntax *n = d->node;
  if (learner_params(n)) return true;
  if (learner_result(n) && learner_result(n)->kind == N_SIG) return sig_to(learner_result(n));
  return !learner_result(n) && learner_body(n); // learn norm = layer_norm
}

static bool space_named(Env *env, const Syntax *type, Def **out) {
  if (type->kind != N_TYPE || type_base(type)->kind != N_NAME) return false;
  Def *d = scope_meaning(env->scope, type_base(type));
  *out = d;
  return d && d->kind == DEF_SPACE;
}

// Adds a parameter as wires; a tuple space is several.
static bool add_formals(Body *b, Env *env, const Syntax *type, Name name, Span span, Formals *out) {
  Def *space;
  if (!type) {
    vec_push(b->w->arena, out, (Formal){.name = name, .span = span});
    return true;
  }
  if (type->kind == N_TYPE && type_base(type)->kind == N_TYPES) {
    Nodes each = types_in(type_base(type));
    for (uint32_t i = 0; i < each.n; i++)
      if (!add_formals(b, env, each.at[i], name, span, out)) return false;
    return true;
  }
  if (space_named(env, type, &space)) {
    Types types = {0};
    if (!types_eval(b, env, type, false, &types, NULL)) return false;
    for (uint32_t i = 0; i < types.n; i++)
      vec_push(b->w->arena, out,
               (Formal){.known = types.at[i],
                        .fixed = true,
                        .space = types.n == 1 ? space : NULL,
                        .name = name,
                        .span = span});
    return true;
  }
  vec_push(b->w->arena, out, (Formal){.type = type, .name = name, .span = span});
  return true;
}

// False: no types are declared, so any arguments are accepted.
bool header_formals(Body *b, Env *env, const Header *h, Formals *out, bool *good) {
  *good = true;
  if (h->params) {
    for (uint32_t i = 0; i < params_in(h->params).n; i++) {
      const Syntax *p = params_in(h->params).at[i];
      *good &= add_formals(b, env, param_type(p), p->name, p->name_span, out);
    }
    return true;
  }
  if (!h->result || h->result->kind != N_SIG) return false;
  const Syntax *types = sig_to(h->result) ? sig_from(h->result) : NULL;
  for (uint32_t i = 0; types && i < types_in(types).n; i++)
    *good &= add_formals(b, env, types_in(types).at[i], 0, types_in(types).at[i]->span, out);
  return true;
}

bool formals_of(Body *b, Env *env, const Def *d, const Header *h, Formals *out, bool *good) {
  bool typed = header_formals(b, env, h, out, good);
  const Def *real = learner_of(d);
  if (out->n || !real || real->kind != DEF_LEARNER || !real->refined || !learner_params(real->node))
    return typed;
  Header declared = *h;
  declared.params = learner_params(real->node);
  return header_formals(b, env, &declared, out, good);
}

bool formal_types(Body *b, Env *env, const Formal *f, Types *out) {
  if (!f->fixed) return f->type && types_eval(b, env, f->type, true, out, NULL);
  vec_push(b->w->arena, out, f->known);
  return true;
}

const Syntax *result_types(const Header *h) {
  if (!h->result || h->result->kind != N_SIG) return h->result;
  return sig_to(h->result) ? sig_to(h->result) : sig_from(h->result);
}

const BuiltinBox *derivative_named(Body *b, Env *env, const Syntax *n) {
  const Syntax *name = use_base(n);
  if (n->kind != N_AT || name->kind != N_NAME || env_meaning(env, name) ||
      scope_meaning(env->scope, name))
    return NULL;
  const BuiltinBox *f = builtin_find(b->in, name->name);
  return f && f->make == builtin_derivative ? f : NULL;
}

static int derivative_arity(Body *b, Env *env, const BuiltinBox *word, const Syntax *n) {
  BoxInputs in = {0};
  return derivative_inputs(b, env, word, at_brackets(n), &in) ? (int)in.n : -1;
}

static int arity_in_chain(Body *b, Env *env, const Syntax *n) {
  switch (n->kind) {
  case N_PAREN:
  case N_PIPE:
  case N_FAN:
  case N_OVER:
  case N_POW:
  case N_WHEN: return arity_of(b, env, first_box(n));
  case N_GROUP:
  case N_ITEMS: {
    const Syntax *only = nodes_only(syntax_parts(n));
    return only ? arity_of(b, env, only) : -1;
  }
  case N_TUPLE: {
    int sum = 0;
    for (uint32_t i = 0; i < tuple_values(n).n; i++) {
      int k = arity_of(b, env, tuple_values(n).at[i]);
      if (k < 0 || sum > WIRES_LIMIT) return -1;
      sum += k;
    }
    return sum;
  }
  case N_AT: {
    const BuiltinBox *word = derivative_named(b, env, n);
    if (word) return derivative_arity(b, env, word, n);
    return at_base(n)->kind == N_NAME ? arity_of(b, env, at_base(n)) : -1;
  }
  case N_NAME: break;
  default: return -1;
  }
  Binding *bind = env_meaning(env, n);
  if (bind && bind->kind == BIND_OPTION && bind->box.node)
    return arity_of(b, bind->box.env, bind->box.node);
  const Def *d = bind && bind->kind == BIND_LEARNER ? bind->def
                 : bind                             ? NULL
                                                    : scope_meaning(env->scope, n);
  if (!d) {
    Fn fn = bind ? FN_COUNT : fn_find(name_text(b->w->names, n->name));
    return fn == FN_COUNT ? 1 : (int)fn_rows[fn].arity;
  }
  if (d->kind != DEF_BOX && !is_learner(d)) return -1;
  Header h = header_of(d);
  Formals f = {0};
  bool good;
  b->w->diags->muted++;
  bool typed = header_formals(
      b, env_new(b->in, bind && bind->home ? bind->home->env : NULL, h.scope, b), &h, &f, &good);
  b->w->diags->muted--;
  if (typed) return (int)f.n;
  return h.body && h.body->kind != N_BLOCK ? arity_of(b, env_new(b->in, NULL, h.scope, b), h.body)
                                           : -1;
}

// The number of inputs; a box without a header has that of its first box, recursively.
int arity_of(Body *b, Env *env, const Syntax *n) {
  if (b->in->chain >= CHAIN_LIMIT || !work_on(b, 1, n->span)) return -1;
  b->in->chain++;
  int n_in = arity_in_chain(b, env, n);
  b->in->chain--;
  return n_in;
}

bool uses_broken(Env *env, const Syntax *n) {
  if (n->kind == N_ERROR) return true;
  const Binding *bind = n->kind == N_NAME ? env_meaning(env, n) : NULL;
  if (bind && bind->kind == BIND_OPTION && bind->box.node)
    return uses_broken(bind->box.env, bind->box.node);
  const Def *d = n->kind == N_NAME && !bind ? scope_meaning(env->scope, n) : NULL;
  if (d && d->broken) return true;
  for (uint32_t i = 0; i < syntax_parts(n).n; i++)
    if (syntax_parts(n).at[i] && uses_broken(env, syntax_parts(n).at[i])) return true;
  return false;
}

// -- declared inputs ------------------------------------------------------------------------------
// A stale copy has the inputs of its learner, a box without a header those of its first box.
static bool inputs_of_def(Body *b, Env *env, Def *d, const Binding *bind, const Syntax *use,
                          BoxInputs *out) {
  Header h = header_of(d);
  Formals f = {0};
  bool good;
  Env *inner = env_new(b->in, bind ? bind->home->env : NULL, h.scope, b);
  Call c = {.b = b, .env = env, .to = inner, .def = d, .h = &h, .span = use->span};
  if (!bind_options(&c, is_learner(d) ? NULL : use_brackets(use), true)) return false;
  if (!formals_of(b, inner, d, &h, &f, &good))
    return h.body && h.body->kind != N_BLOCK && box_inputs(b, inner, h.body, out);
  for (uint32_t i = 0; good && i < f.n; i++) {
    Types types = {0};
    good = formal_types(b, inner, &f.at[i], &types);
    for (uint32_t k = 0; good && k < types.n; k++)
      vec_push(b->w->arena, out, (BoxInput){types.at[k], f.at[i].space, f.at[i].name});
  }
  return good;
}

static bool inputs_in_chain(Body *b, Env *env, const Syntax *n, BoxInputs *out) {
  if (n->kind == N_TUPLE) {
    for (uint32_t i = 0; i < tuple_values(n).n; i++)
      if (!box_inputs(b, env, tuple_values(n).at[i], out)) return false;
    return true;
  }
  if (n->kind == N_PAREN || n->kind == N_PIPE || n->kind == N_FAN || n->kind == N_POW)
    return box_inputs(b, env, first_box(n), out);
  const BuiltinBox *word = derivative_named(b, env, n);
  if (word) return derivative_inputs(b, env, word, at_brackets(n), out);
  const Syntax *name = use_base(n);
  if (name->kind != N_NAME) return false;
  Binding *bind = env_meaning(env, name);
  if (bind && bind->kind == BIND_OPTION && bind->box.node)
    return box_inputs(b, bind->box.env, bind->box.node, out);
  Def *d = bind && bind->kind == BIND_LEARNER ? (Def *)bind->def
           : bind                             ? NULL
                                              : scope_meaning(env->scope, name);
  if (!d || (d->kind != DEF_BOX && !is_learner(d))) return false;
  return inputs_of_def(b, env, d, bind, n, out);
}

bool box_inputs(Body *b, Env *env, const Syntax *n, BoxInputs *out) {
  if (b->in->chain >= CHAIN_LIMIT) return false;
  b->in->chain++;
  bool good = inputs_in_chain(b, env, n, out);
  b->in->chain--;
  return good;
}

bool box_formals(Body *b, Env *env, const Syntax *n, Types *out) {
  BoxInputs in = {0};
  if (!box_inputs(b, env, n, &in)) return false;
  for (uint32_t i = 0; i < in.n; i++) vec_push(b->w->arena, out, in.at[i].type);
  return true;
}
