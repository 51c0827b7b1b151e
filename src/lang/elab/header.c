// What a box or learner says of itself: its inputs as wires, how many there are, and their types. A
// parameter whose type is a tuple is as many wires; a box without a header has the inputs of the
// first box in it.
#include "lang/elab/call.h"

// -- what is called -------------------------------------------------------------------------------

bool is_learner(const Def *d) { return d->kind == DEF_LEARNER || d->kind == DEF_STALE; }
const Def *learner_of(const Def *d) { return d && d->kind == DEF_STALE ? d->of : d; }

Header header_of(const Def *d) {
  Header h = {.scope = d->scope};
  d = learner_of(d);
  if (!d) return h;
  const Syntax *n = d->node;
  if (d->kind == DEF_BOX || d->kind == DEF_MACHINE) {
    h = (Header){n->kid[0], n->kid[1], n->kid[2], n->kid[3], n->nkid > 4 ? n->kid[4] : NULL,
                 d->scope};
    return h;
  }
  h.scope = d->scope;
  h.params = n->kid[2];
  h.result = n->kid[3];
  h.body = n->kid[4];
  if (d->refined) {
    if (d->refined->kid[0])
      h.params = NULL; // its names come from the refinement, its types from the declaration
    h.body = d->refined->kid[1];
  }
  return h;
}

bool learner_has_input(const Def *d) {
  d = learner_of(d);
  if (!d || d->kind != DEF_LEARNER) return false;
  const Syntax *n = d->node;
  if (n->kid[2]) return true;
  if (n->kid[3] && n->kid[3]->kind == N_SIG) return n->kid[3]->nkid > 1 && n->kid[3]->kid[1];
  return !n->kid[3] && n->kid[4]; // learn norm = layer_norm
}

static bool space_named(Env *env, const Syntax *type, Def **out) {
  if (type->kind != N_TYPE || type->kid[0]->kind != N_NAME) return false;
  Def *d = scope_find(env->scope, type->kid[0]->name);
  *out = d;
  return d && d->kind == DEF_SPACE;
}

// Parameters as wires: a space that is a tuple is as many.
static bool add_formals(Body *b, Env *env, const Syntax *type, Name name, Span span, Formals *out) {
  Def *space;
  if (!type) {
    vec_push(b->w->arena, out, (Formal){.name = name, .span = span});
    return true;
  }
  if (type->kind == N_TYPE && type->kid[0]->kind == N_TYPES) {
    for (uint32_t i = 0; i < type->kid[0]->nkid; i++)
      if (!add_formals(b, env, type->kid[0]->kid[i], name, span, out)) return false;
    return true;
  }
  if (space_named(env, type, &space)) {
    Types types = {0};
    if (!types_eval(b, env, type, false, &types, NULL)) return false;
    for (uint32_t i = 0; i < types.n; i++)
      vec_push(b->w->arena, out,
               (Formal){.known = types.at[i], .fixed = true, .name = name, .span = span});
    return true;
  }
  vec_push(b->w->arena, out, (Formal){.type = type, .name = name, .span = span});
  return true;
}

// False: nothing is said about the inputs, whatever comes is taken as it is.
bool header_formals(Body *b, Env *env, const Header *h, Formals *out, bool *good) {
  *good = true;
  if (h->params) {
    for (uint32_t i = 0; i < h->params->nkid; i++) {
      const Syntax *p = h->params->kid[i];
      *good &= add_formals(b, env, p->nkid ? p->kid[0] : NULL, p->name, p->name_span, out);
    }
    return true;
  }
  if (!h->result || h->result->kind != N_SIG) return false;
  const Syntax *types = h->result->nkid > 1 && h->result->kid[1] ? h->result->kid[0] : NULL;
  for (uint32_t i = 0; types && i < types->nkid; i++)
    *good &= add_formals(b, env, types->kid[i], 0, types->kid[i]->span, out);
  return true;
}

const Syntax *result_types(const Header *h) {
  if (!h->result || h->result->kind != N_SIG) return h->result;
  return h->result->nkid > 1 && h->result->kid[1] ? h->result->kid[1] : h->result->kid[0];
}

static int arity_in_chain(Body *b, Env *env, const Syntax *n) {
  switch (n->kind) {
  case N_PAREN:
  case N_PIPE:
  case N_FAN:
  case N_OVER:
  case N_POW:
  case N_WHEN: return arity_of(b, env, n->kid[0]);
  case N_GROUP:
  case N_ITEMS: return n->nkid == 1 ? arity_of(b, env, n->kid[0]) : -1;
  case N_TUPLE: {
    int sum = 0;
    for (uint32_t i = 0; i < n->nkid; i++) {
      int k = arity_of(b, env, n->kid[i]);
      if (k < 0 || sum > WIRES_LIMIT) return -1;
      sum += k;
    }
    return sum;
  }
  case N_AT: return n->kid[0]->kind == N_NAME ? arity_of(b, env, n->kid[0]) : -1;
  case N_NAME: break;
  default: return -1;
  }
  Binding *bind = env_find(env, n->name);
  if (bind && bind->kind == BIND_OPTION && bind->box.node)
    return arity_of(b, bind->box.env, bind->box.node);
  const Def *d = bind && bind->kind == BIND_LEARNER ? bind->def
                 : bind                             ? NULL
                                                    : scope_find(env->scope, n->name);
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

// A box without a header takes what the first box in it takes, which may have none either, and so
// on.
int arity_of(Body *b, Env *env, const Syntax *n) {
  if (b->in->chain >= CHAIN_LIMIT || !work_on(b, 1, n->span)) return -1;
  b->in->chain++;
  int n_in = arity_in_chain(b, env, n);
  b->in->chain--;
  return n_in;
}

// -- a box or learner for itself ------------------------------------------------------------------
// The declared types of a box's inputs. A box without a header has those of the first box in it.
static bool formals_in_chain(Body *b, Env *env, const Syntax *n, Types *out) {
  if (n->kind == N_TUPLE) {
    for (uint32_t i = 0; i < n->nkid; i++)
      if (!box_formals(b, env, n->kid[i], out)) return false;
    return true;
  }
  while (n->kind == N_PAREN || n->kind == N_PIPE || n->kind == N_FAN || n->kind == N_POW)
    n = n->kid[0];
  const Syntax *config = n->kind == N_AT ? n->kid[1] : NULL;
  if (n->kind == N_AT) n = n->kid[0];
  if (n->kind != N_NAME) return false;
  Binding *bind = env_find(env, n->name);
  if (bind && bind->kind == BIND_OPTION && bind->box.node)
    return box_formals(b, bind->box.env, bind->box.node, out);
  Def *d = bind && bind->kind == BIND_LEARNER ? (Def *)bind->def
           : bind                             ? NULL
                                              : scope_find(env->scope, n->name);
  if (!d || (d->kind != DEF_BOX && d->kind != DEF_LEARNER)) return false;
  Header h = header_of(d);
  Formals f = {0};
  bool good;
  Env *inner = env_new(b->in, bind ? bind->home->env : NULL, h.scope, b);
  if (!bind_options(b, env, d, &h, d->kind == DEF_LEARNER ? NULL : config, inner, true, n->span))
    return false;
  if (!header_formals(b, inner, &h, &f, &good))
    return h.body && h.body->kind != N_BLOCK && box_formals(b, inner, h.body, out);
  for (uint32_t i = 0; good && i < f.n; i++) {
    if (f.at[i].fixed)
      vec_push(b->w->arena, out, f.at[i].known);
    else
      good = f.at[i].type && types_eval(b, inner, f.at[i].type, true, out, NULL);
  }
  return good;
}

bool box_formals(Body *b, Env *env, const Syntax *n, Types *out) {
  if (b->in->chain >= CHAIN_LIMIT) return false;
  b->in->chain++;
  bool good = formals_in_chain(b, env, n, out);
  b->in->chain--;
  return good;
}
