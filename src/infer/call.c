// Calls. A box takes the last axes of its arguments, as many as its parameters name; the other axes pass over it, and so does
// everything inside. Each different set of options and argument types is one instance: the body is worked off again with these
// sizes, and the result is a diagram of its own, called from here.
#include "elab.h"

#include <math.h>

// -- what is called -------------------------------------------------------------------------------
typedef struct {
  const Node *type; // N_TYPE with its axes as written; NULL: no type was written
  Type known;       // of a space: fixed
  bool fixed;
  Name name;
  Span span;
} Formal;
typedef VEC(Formal) Formals;

typedef struct {
  const Node *cfg, *params, *result, *body, *reverse;
  Scope *scope;
} Header;

static bool is_learner(const Def *d) { return d->kind == DEF_LEARNER || d->kind == DEF_STALE; }

static Header header_of(const Def *d) {
  Header h = {.scope = d->scope};
  if (d->kind == DEF_STALE) d = d->of;
  if (!d) return h;
  const Node *n = d->node;
  if (d->kind == DEF_BOX) {
    h = (Header){n->kid[0], n->kid[1], n->kid[2], n->kid[3], n->nkid > 4 ? n->kid[4] : NULL, d->scope};
    return h;
  }
  h.scope = d->scope;
  h.params = n->kid[2];
  h.result = n->kid[3];
  h.body = n->kid[4];
  if (d->refined) {
    if (d->refined->kid[0]) h.params = NULL; // its names come from the refinement, its types from the declaration
    h.body = d->refined->kid[1];
  }
  return h;
}

bool learner_has_input(const Def *d) {
  if (d->kind == DEF_STALE) d = d->of;
  if (!d || d->kind != DEF_LEARNER) return false;
  const Node *n = d->node;
  if (n->kid[2]) return true;
  if (n->kid[3] && n->kid[3]->kind == N_SIG) return n->kid[3]->nkid > 1 && n->kid[3]->kid[1];
  return !n->kid[3] && n->kid[4]; // learn norm = layer_norm
}

static bool space_named(Env *env, const Node *type, Def **out) {
  if (type->kind != N_TYPE || type->kid[0]->kind != N_NAME) return false;
  Def *d = scope_find(env->scope, type->kid[0]->name);
  *out = d;
  return d && d->kind == DEF_SPACE;
}

// Parameters as wires: a space that is a tuple is as many.
static bool add_formals(Body *b, Env *env, const Node *type, Name name, Span span, Formals *out) {
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
    for (uint32_t i = 0; i < types.n; i++) vec_push(b->w->arena, out, (Formal){.known = types.at[i], .fixed = true, .name = name, .span = span});
    return true;
  }
  vec_push(b->w->arena, out, (Formal){.type = type, .name = name, .span = span});
  return true;
}

// False: nothing is said about the inputs, whatever comes is taken as it is.
static bool header_formals(Body *b, Env *env, const Header *h, Formals *out, bool *good) {
  *good = true;
  if (h->params) {
    for (uint32_t i = 0; i < h->params->nkid; i++) {
      const Node *p = h->params->kid[i];
      *good &= add_formals(b, env, p->nkid ? p->kid[0] : NULL, p->name, p->name_span, out);
    }
    return true;
  }
  if (!h->result || h->result->kind != N_SIG) return false;
  const Node *types = h->result->nkid > 1 && h->result->kid[1] ? h->result->kid[0] : NULL;
  for (uint32_t i = 0; types && i < types->nkid; i++) *good &= add_formals(b, env, types->kid[i], 0, types->kid[i]->span, out);
  return true;
}

static const Node *result_types(const Header *h) {
  if (!h->result || h->result->kind != N_SIG) return h->result;
  return h->result->nkid > 1 && h->result->kid[1] ? h->result->kid[1] : h->result->kid[0];
}

// -- options --------------------------------------------------------------------------------------
static bool is_size_like(Body *b, Env *env, const Node *n) {
  switch (n->kind) {
  case N_NUM: return true;
  case N_NAME: {
    Binding *bind = env_find(env, n->name);
    if (bind) return bind->size != 0 || bind->has_number;
    Def *d = scope_find(env->scope, n->name);
    double k;
    return d && (d->kind == DEF_AXIS || (d->kind == DEF_CONST && static_number(b, env, n, &k)));
  }
  case N_PAREN:
  case N_NEG:
  case N_SUM:
  case N_PROD:
  case N_POW:
    for (uint32_t i = 0; i < n->nkid; i++)
      if (!is_size_like(b, env, n->kid[i])) return false;
    return true;
  case N_GROUP: return n->nkid == 1 && n->kid[0]->nkid == 1 && is_size_like(b, env, n->kid[0]->kid[0]);
  case N_AT: return n->kid[0]->kind == N_NAME && strcmp(name_text(b->w->names, n->kid[0]->name), "size") == 0;
  default: return false;
  }
}

static void option_size(Body *b, Env *env, const Node *n, Binding *out) {
  double k;
  out->has_number = static_number(b, env, n, &k);
  if (out->has_number) out->number = k;
  if (out->has_number && (!(fabs(k) < 9e15) || k != (double)(int64_t)k)) return; // 0.5: a number, not a size
  out->size = size_eval(b, env, n, false);
}

static bool option_item(Body *b, Env *env, const Node *n, Binding *out) {
  *out = (Binding){.kind = BIND_OPTION, .span = n->span};
  if (n->kind == N_STR) {
    out->text = n->text;
    return true;
  }
  if (n->kind == N_NAME) {
    Binding *bind = env_find(env, n->name);
    out->label = n->name;
    if (bind && bind->kind == BIND_OPTION) {
      *out = *bind;
      out->span = n->span;
      out->label = n->name;
      if (bind->box.node) out->box = (Closure){n, env}; // through this body's words to its own
      return true;
    }
    if (bind && (bind->kind == BIND_VALUE || bind->kind == BIND_STATE)) {
      Id e = diag_error(b->w->diags, n->span, "`%s` is a wire; brackets hold what is fixed before anything runs", name_text(b->w->names, n->name));
      diag_help(b->w->diags, e, "wires stand in parentheses");
      return false;
    }
    out->decl = bind ? bind->decl : 0;
    Def *d = bind ? NULL : scope_find(env->scope, n->name);
    if (d && d->kind == DEF_AXIS) out->decl = d->id;
    if (is_box(b, env, n)) out->box = (Closure){n, bind ? env : scope_env(env->scope)}, out->label = 0;
  } else if (n->kind == N_SIZED) { // an axis with label and size
    out->label = n->name;
    option_size(b, env, n->kid[0], out);
    return out->size != 0;
  }
  if (is_size_like(b, env, n)) option_size(b, env, n, out);
  else if (n->kind != N_NAME) out->box = (Closure){n->kind == N_GROUP && n->nkid == 1 && n->kid[0]->nkid == 1 ? n->kid[0]->kid[0] : n, env};
  return true;
}

// conv[...o]: a row of axes, each with an inner label of its own.
static bool option_spread(Body *b, Env *env, const Node *items, Binding *out) {
  World *w = b->w;
  Axis axis[RANK_LIMIT];
  uint32_t n = 0;
  *out = (Binding){.kind = BIND_SPREAD, .span = items->span};
  for (uint32_t i = 0; i < items->nkid; i++) {
    const Node *item = items->kid[i];
    if (item->kind == N_SPREAD) {
      Binding *s = env_find(env, item->name);
      if (!s || s->kind != BIND_SPREAD) {
        diag_error(w->diags, item->span, "`...%s` is not a row of axes here", name_text(w->names, item->name));
        return false;
      }
      for (uint32_t k = 0; k < s->naxis && n < RANK_LIMIT; k++) axis[n++] = s->axis[k];
      continue;
    }
    Binding one;
    if (!option_item(b, env, item, &one)) return false;
    if (!one.size) {
      if (one.open) one.size = size_var(w, one.label, VAR_LOCAL, item->span);
      else if (one.has_number) {
        diag_error(w->diags, item->span, "a size is a whole number, and this is %g", one.number);
        return false;
      } else if (!one.box.node && one.label) {
        Def *d = scope_find(env->scope, item->name);
        if (d && !d->broken) diag_error(w->diags, item->span, "a size is wanted here, and `%s` is none", name_text(w->names, item->name));
        else if (!d) unknown_name(b, env, item, "size");
        return false;
      } else {
        diag_error(w->diags, item->span, one.box.node ? "a size is wanted here, and this is a box" : "a size is wanted here");
        return false;
      }
    }
    int64_t v;
    if (size_value(w, one.size, &v) && v <= 0) {
      diag_error(w->diags, item->span, "an axis has at least one place, but this size is %lld", (long long)v);
      return false;
    }
    if (n < RANK_LIMIT) axis[n++] = (Axis){.label = item->kind == N_NAME || item->kind == N_SIZED ? one.label : 0, .size = one.size, .decl = one.decl};
  }
  out->naxis = n;
  out->axis = arena_copy(w->arena, axis, n * sizeof(Axis));
  return true;
}

// A row of axes bound under a name: inside they are called name_0, name_1, …
static void bind_spread(Env *env, World *w, Name name, Binding s) {
  Axis *inner = arena_copy(w->arena, s.axis, s.naxis * sizeof(Axis));
  for (uint32_t i = 0; i < s.naxis; i++) {
    Name label = name_from(w->names, arena_format(w->arena, "%s_%u", name_text(w->names, name), i));
    env_bind(env, label, (Binding){.kind = BIND_SIZE, .size = s.axis[i].size, .label = s.axis[i].label, .decl = s.axis[i].decl, .span = s.span});
    inner[i].label = label;
    inner[i].decl = 0;
  }
  s.axis = inner;
  env_bind(env, name, s);
}

static const Node *cfg_named(const Node *cfg, Name name, uint32_t *at) {
  for (uint32_t i = 0; cfg && i < cfg->nkid; i++)
    if (cfg->kid[i]->name == name) {
      *at = i;
      return cfg->kid[i];
    }
  return NULL;
}

static bool along_an_axis(const Header *h, Name name) { // the option names an axis of a parameter
  for (uint32_t i = 0; h->params && i < h->params->nkid; i++) {
    const Node *type = h->params->kid[i]->nkid ? h->params->kid[i]->kid[0] : NULL;
    const Node *items = type && type->nkid > 1 && type->kid[1] && type->kid[1]->nkid ? type->kid[1]->kid[0] : NULL;
    for (uint32_t k = 0; items && k < items->nkid; k++)
      if (items->kid[k]->kind == N_NAME && items->kid[k]->name == name) return true;
  }
  return false;
}

static void say_options(Body *b, const Def *d, const Node *cfg, Name wrong, Id e) {
  Buf text = buf_new(b->w->arena);
  VEC(const char *) names = {0};
  for (uint32_t i = 0; cfg && i < cfg->nkid; i++) vec_push(b->w->arena, &names, name_text(b->w->names, cfg->kid[i]->name));
  const char *near = wrong ? nearest_name(name_text(b->w->names, wrong), names.at, names.n) : NULL;
  if (near) buf_printf(&text, "did you mean `%s`? ", near);
  buf_printf(&text, cfg && cfg->nkid == 1 ? "its option is " : "its options are ");
  for (uint32_t i = 0; cfg && i < cfg->nkid; i++)
    buf_printf(&text, "%s%s%s", i ? ", " : "", cfg->kid[i]->op && cfg->kid[i]->op[0] == '.' ? "..." : "", name_text(b->w->names, cfg->kid[i]->name));
  if (cfg && cfg->nkid == 1 && cfg->kid[0]->op && !wrong) diag_help(b->w->diags, e, "more axes are separated by spaces: `%s[3 4]`", name_text(b->w->names, d->name));
  else if (cfg && cfg->nkid) diag_help(b->w->diags, e, "%s", text.at);
  diag_note(b->w->diags, e, d->span, "declared here");
}

// Which of the written options goes to which parameter.
static bool match_options(Body *b, const Def *d, const Node *cfg, const Node *config, const Node **given, Span span) {
  World *w = b->w;
  const char *name = name_text(w->names, d->name);
  uint32_t next = 0, count = cfg ? cfg->nkid : 0;
  for (uint32_t i = 0; config && i < config->nkid; i++) {
    const Node *items = config->kid[i];
    uint32_t at = next;
    bool named = items->kind == N_ITEMS && items->nkid == 1 && items->kid[0]->kind == N_SIZED && cfg_named(cfg, items->kid[0]->name, &at);
    if (!named) {
      if (items->kind == N_ITEMS && items->nkid == 1 && items->kid[0]->kind == N_SIZED && !(next < count && cfg->kid[next]->op && cfg->kid[next]->op[0] == '.')) {
        Id e = diag_error(w->diags, items->span, "`%s` has no option `%s`", name, name_text(w->names, items->kid[0]->name));
        say_options(b, d, cfg, items->kid[0]->name, e);
        return false;
      }
      at = next++;
    }
    if (at >= count) {
      if (is_learner(d)) {
        Id e = diag_error(w->diags, items->span, "`%s` is one learner, not a family: it takes no brackets", name);
        diag_note(w->diags, e, d->span, "declared here");
        return false;
      }
      Id e = diag_error(w->diags, items->span, count ? "`%s` has only %u %s" : "`%s` has no options", name, count, count == 1 ? "option" : "options");
      say_options(b, d, cfg, 0, e);
      return false;
    }
    if (given[at]) {
      Id e = diag_error(w->diags, items->span, "option `%s` of `%s` is given twice", name_text(w->names, cfg->kid[at]->name), name);
      diag_note(w->diags, e, given[at]->span, "here first");
      return false;
    }
    given[at] = named ? items->kid[0]->kid[0] : items;
  }
  (void)span;
  return true;
}

static bool bind_options(Body *b, Env *from, const Def *d, const Header *h, const Node *config, Env *to, bool generic, Span span) {
  World *w = b->w;
  const Node *given[OPTIONS_LIMIT] = {NULL};
  uint32_t n = h->cfg ? h->cfg->nkid : 0;
  if (n > OPTIONS_LIMIT) {
    diag_error(w->diags, h->cfg->span, "more than %d options", OPTIONS_LIMIT);
    return false;
  }
  if (!match_options(b, d, h->cfg, config, given, span)) return false;
  for (uint32_t i = 0; i < n; i++) {
    const Node *par = h->cfg->kid[i], *fallback = par->nkid ? par->kid[0] : NULL;
    for (uint32_t k = 0; k < i; k++)
      if (h->cfg->kid[k]->name == par->name) {
        Id e = diag_error(w->diags, par->name_span, "there are two options `%s`", name_text(w->names, par->name));
        diag_note(w->diags, e, h->cfg->kid[k]->name_span, "the other one");
        return false;
      }
    const Node *text = given[i] ? given[i] : fallback;
    Env *env = given[i] ? from : to;
    Binding bind = {.kind = BIND_OPTION, .span = par->span};
    bool spread = par->op && par->op[0] == '.';
    if (!text && spread && config && !config->nkid) { // dense[]: no axes, one number
      bind_spread(to, w, par->name, (Binding){.kind = BIND_SPREAD, .span = config->span});
      continue;
    }
    if (!text && generic) {
      if (spread) {
        Axis one = {.label = par->name, .size = size_var(w, par->name, VAR_LOCAL, par->span)};
        bind_spread(to, w, par->name, (Binding){.kind = BIND_SPREAD, .naxis = 1, .axis = arena_copy(w->arena, &one, sizeof one), .span = par->span});
        continue;
      }
      bind.open = true;
      bind.size = size_var(w, par->name, VAR_LOCAL, par->span);
      bind.label = par->name;
    } else if (!text) {
      if (along_an_axis(h, par->name)) continue; // the last axis, then
      Id e = diag_error(w->diags, span, "`%s` wants its option `%s`", name_text(w->names, d->name), name_text(w->names, par->name));
      if (i == 0) diag_help(w->diags, e, "for example `%s[8]`", name_text(w->names, d->name));
      else diag_help(w->diags, e, "for example `%s[%s: 8]`", name_text(w->names, d->name), name_text(w->names, par->name));
      diag_note(w->diags, e, d->span, "declared here");
      return false;
    } else if (spread) {
      if (text->kind != N_ITEMS) {
        Node *items = NEW(w->arena, Node);
        *items = (Node){.kind = N_ITEMS, .nkid = 1, .span = text->span, .kid = arena_copy(w->arena, &text, sizeof text)};
        text = items;
      }
      if (!option_spread(b, env, text, &bind)) return false;
      bind_spread(to, w, par->name, bind);
      continue;
    } else {
      if (text->kind == N_ITEMS && text->nkid != 1) {
        Id e = diag_error(w->diags, text->span, "one thing is wanted for option `%s`, but %u stand here", name_text(w->names, par->name), text->nkid);
        uint32_t at;
        if (text->kid[0]->kind == N_NAME && cfg_named(h->cfg, text->kid[0]->name, &at)) diag_help(w->diags, e, "an option is given by name with a colon: `%s: …`", name_text(w->names, text->kid[0]->name));
        else diag_help(w->diags, e, "options are separated by commas; a space makes one more axis");
        return false;
      }
      if (!option_item(b, env, text->kind == N_ITEMS ? text->kid[0] : text, &bind)) return false;
    }
    env_bind(to, par->name, bind);
  }
  return true;
}

// -- matching an argument with a parameter --------------------------------------------------------
typedef struct {
  uint32_t take[RANK_LIMIT], ntake; // positions of the axes that are consumed, in the parameter's order
  uint32_t rest[RANK_LIMIT], nrest; // positions of own axes that pass over
  Type type;                        // inside the callee, without passing axes
} Match;

typedef struct {
  Body *b;
  Env *env;   // of the caller
  Env *to;    // of the callee
  Def *def;
  const Header *h;
  const Node *over;
  Span span;
} Call;

static const char *call_name(const Call *c) { return name_text(c->b->w->names, c->def->name); }

static bool is_over(const Call *c, Name label) {
  for (uint32_t i = 1; c->over && label && i < c->over->nkid; i++)
    if (c->over->kid[i]->name == label) return true;
  return false;
}

static Name along_label(const Call *c, const Node *item) {
  if (item->kind != N_NAME) return 0;
  uint32_t at;
  if (!cfg_named(c->h->cfg, item->name, &at)) return 0;
  Binding *bind = env_find(c->to, item->name);
  return bind && bind->kind == BIND_OPTION && !bind->open ? bind->label : 0;
}

// Where to complain about an argument: at itself if it is written in the call, at the box if it comes along a pipe.
static bool inside(Span s, Span whole) { return s.file == whole.file && s.at >= whole.at && s.at + s.n <= whole.at + whole.n; }

static Span place_of(const Call *c, const Val *arg) {
  return inside(arg->span, c->span) || !c->span.file || c->b->distance ? arg->span : c->span;
}

// The formal axis meets an actual one: its name is bound, or must agree with what it is bound to.
static bool bind_axis(const Call *c, const Node *item, const Axis *actual, const Val *arg, Axis *inner) {
  World *w = c->b->w;
  Binding *bind = item->kind == N_NAME ? env_find(c->to, item->name) : NULL;
  if (item->kind == N_NAME && !bind) {
    Def *d = scope_find(c->to->scope, item->name);
    if (!d || d->kind != DEF_AXIS) {
      *inner = (Axis){.label = item->name, .size = actual->size};
      env_bind(c->to, item->name, (Binding){.kind = BIND_SIZE, .size = actual->size, .label = actual->label, .decl = actual->decl, .span = arg->span});
      return true;
    }
  }
  Axis formal[RANK_LIMIT];
  Node items = {.kind = N_ITEMS, .nkid = 1, .kid = (Node *[]){(Node *)item}, .span = item->span};
  Node brackets = {.kind = N_BRACKETS, .nkid = 1, .kid = (Node *[]){&items}, .span = item->span};
  if (axes_eval(c->b, c->to, &brackets, true, formal) != 1) return false;
  *inner = formal[0];
  if (bind && bind->kind == BIND_OPTION && !bind->label) bind->label = actual->label;
  if (item->kind == N_SIZED && env_find(c->to, item->name)) env_find(c->to, item->name)->label = actual->label;
  if (formal[0].decl && actual->decl && formal[0].decl != actual->decl) {
    Id e = diag_error(w->diags, place_of(c, arg), "`%s` wants axis %s here, but this is axis %s", call_name(c), name_text(w->names, formal[0].label), name_text(w->names, actual->label));
    diag_help(w->diags, e, "both are declared, and they are not the same even if their sizes are");
    diag_note(w->diags, e, item->span, "declared here");
    return false;
  }
  if (sizes_agree(c->b, formal[0].size, actual->size, arg->span, item->span, "an argument")) return true;
  const char *label = name_text(w->names, actual->label), *wanted = size_text(w, formal[0].size);
  Id e;
  if (arg->type.base == BASE_LABEL && !actual->label && actual->size == arg->type.count)
    e = diag_error(w->diags, place_of(c, arg), "`%s` wants labels of %s%s%s, but this is %s", call_name(c), name_text(w->names, formal[0].label), formal[0].label ? " = " : "", wanted, own_text(w, &arg->type));
  else if (formal[0].label)
    e = diag_error(w->diags, place_of(c, arg), "`%s` wants its axis %s to be %s, but %s has %s%s%s there", call_name(c), name_text(w->names, formal[0].label), wanted, own_text(w, &arg->type), label, *label ? " = " : "", size_text(w, actual->size));
  else e = diag_error(w->diags, place_of(c, arg), "`%s` wants an axis of %s, but %s has %s%s%s there", call_name(c), wanted, own_text(w, &arg->type), label, *label ? " = " : "", size_text(w, actual->size));
  Size all = size_of(w, 1);
  uint32_t own = 0;
  for (uint32_t i = 0; i < arg->type.rank; i++)
    if (!arg->type.axis[i].pass) all = size_mul(w, all, arg->type.axis[i].size), own++;
  if (own > 1 && size_now(w, all) == size_now(w, formal[0].size)) diag_help(w->diags, e, "`flatten` makes one axis of all");
  if (bind && bind->span.file) diag_note(w->diags, e, bind->span, "%s = %s comes from here", name_text(w->names, item->name), size_text(w, formal[0].size));
  else diag_note(w->diags, e, item->span, "declared here");
  return false;
}

static const Node *formal_items(const Formal *f, uint32_t *n) {
  const Node *brackets = f->type && f->type->nkid > 1 ? f->type->kid[1] : NULL;
  const Node *items = brackets && brackets->nkid ? brackets->kid[0] : NULL;
  *n = items ? items->nkid : 0;
  return items;
}

static bool wrong_base(const Call *c, const Formal *f, const Val *arg, Base want) {
  if (arg->type.base == want) return false;
  World *w = c->b->w;
  const char *word = want == BASE_R ? "real numbers" : want == BASE_BIT ? "bits" : "labels";
  Id e = diag_error(w->diags, place_of(c, arg), "`%s` wants %s, but this is %s", call_name(c), word, own_text(w, &arg->type));
  if (arg->type.base == BASE_LABEL) diag_help(w->diags, e, "labels are not numbers: `one_hot(x)`, `number(x)`, `embed[m](x)`, or the label as an index");
  diag_note(w->diags, e, f->span, "the parameter");
  return true;
}

static bool take_spread(const Call *c, const Node *item, const Val *arg, const uint32_t *own, uint32_t n, Match *m, Axis *inner) {
  World *w = c->b->w;
  Binding *s = env_find(c->to, item->name);
  if (s && s->kind == BIND_SPREAD) {
    bool same = s->naxis == n;
    for (uint32_t i = 0; same && i < n; i++) same = sizes_agree(c->b, s->axis[i].size, arg->type.axis[own[i]].size, arg->span, s->span, "a row of axes");
    if (!same) {
      Type first = {.base = BASE_R, .rank = s->naxis, .axis = arena_copy(w->arena, s->axis, s->naxis * sizeof(Axis))};
      for (uint32_t i = 0; i < s->naxis; i++) first.axis[i].label = 0;
      Id e = diag_error(w->diags, place_of(c, arg), "`%s` wants the same axes in both: %s here, but %s before", call_name(c), own_text(w, &arg->type), own_text(w, &first));
      diag_note(w->diags, e, s->span, "the other one");
      return false;
    }
  } else {
    Binding row = {.kind = BIND_SPREAD, .naxis = n, .axis = NEW_ARRAY(w->arena, Axis, n), .span = arg->span};
    for (uint32_t i = 0; i < n; i++) row.axis[i] = arg->type.axis[own[i]];
    bind_spread(c->to, w, item->name, row);
    s = env_find(c->to, item->name);
  }
  for (uint32_t i = 0; i < n; i++) m->take[m->ntake++] = own[i], *inner++ = s->axis[i];
  return true;
}

static bool find_along(const Call *c, Name label, const Val *arg, uint32_t *own, uint32_t n, uint32_t *at) {
  World *w = c->b->w;
  uint32_t found = 0;
  for (uint32_t i = 0; i < n; i++)
    if (own[i] != UINT32_MAX && arg->type.axis[own[i]].label == label) *at = i, found++;
  if (found == 1) return true;
  if (found) diag_error(w->diags, arg->span, "%s has two axes called %s: which one `%s` works along is not clear", own_text(w, &arg->type), name_text(w->names, label), call_name(c));
  return false;
}

static bool match_formal(const Call *c, const Formal *f, const Val *arg, Match *m) {
  World *w = c->b->w;
  uint32_t own[RANK_LIMIT], n = 0, count;
  Axis inner[RANK_LIMIT];
  for (uint32_t i = 0; i < arg->type.rank; i++) {
    if (arg->type.axis[i].pass) continue;
    if (is_over(c, arg->type.axis[i].label)) m->rest[m->nrest++] = i;
    else own[n++] = i;
  }
  m->type = arg->type;
  if (!f->type && !f->fixed) { // nothing said: everything is taken as it is
    for (uint32_t i = 0; i < n; i++) m->take[m->ntake++] = own[i], inner[i] = arg->type.axis[own[i]];
    m->type.axis = arena_copy(w->arena, inner, n * sizeof(Axis));
    m->type.rank = n;
    return true;
  }
  const Node *items = formal_items(f, &count), *base = f->type ? f->type->kid[0] : NULL;
  if (f->fixed) count = f->known.rank;
  Base want = f->fixed ? (Base)f->known.base : base->kind == N_LABELS ? BASE_LABEL : strcmp(name_text(w->names, base->name), "B") == 0 ? BASE_BIT : BASE_R;
  if (base && base->kind == N_NAME && want == BASE_R && strcmp(name_text(w->names, base->name), "R") != 0) {
    Types none = {0};
    types_eval(c->b, c->to, f->type, true, &none, NULL); // says what is wrong with the type
    return false;
  }
  if (wrong_base(c, f, arg, want)) return false;
  if (want == BASE_LABEL && !f->fixed) {
    const Node *size = base->nkid == 1 ? base->kid[0] : NULL;
    Axis a = {.size = arg->type.count}, ignored;
    if (size && !bind_axis(c, size, &a, arg, &ignored)) return false;
    m->type.count = arg->type.count;
  }
  uint32_t spread = 0;
  for (uint32_t i = 0; items && i < count; i++) spread += items->kid[i]->kind == N_SPREAD;
  if (spread > 1 || count > RANK_LIMIT) {
    diag_error(w->diags, f->span, spread > 1 ? "one row of axes is enough: where the first ends and the next begins is not clear" : "more than %d axes", RANK_LIMIT);
    return false;
  }
  if (n + spread < count) {
    Id e = diag_error(w->diags, place_of(c, arg), "`%s` wants %u %s, but %s has %u", call_name(c), count - spread, count - spread == 1 ? "axis" : "axes", own_text(w, &arg->type), n);
    diag_note(w->diags, e, f->span, "the parameter");
    return false;
  }
  // First the axes that an option selects by label, wherever they stand; then the last ones.
  uint32_t chosen[RANK_LIMIT], picked[RANK_LIMIT];
  for (uint32_t i = 0; i < count && !f->fixed; i++) {
    Name label = along_label(c, items->kid[i]);
    chosen[i] = UINT32_MAX;
    if (!label) continue;
    uint32_t at;
    if (!find_along(c, label, arg, own, n, &at)) {
      Binding *bind = env_find(c->to, items->kid[i]->name);
      if (bind->size && n && own[n - 1] != UINT32_MAX && !arg->type.axis[own[n - 1]].label) continue; // an axis without a label meets anything of its size
      Id e = diag_error(w->diags, place_of(c, arg), "`%s` works along %s, but %s has no such axis", call_name(c), name_text(w->names, label), own_text(w, &arg->type));
      diag_note(w->diags, e, bind->span, "chosen here");
      const char *near = nearest_label(w, &arg->type, label);
      if (near) diag_help(w->diags, e, "did you mean `%s`?", near);
      return false;
    }
    chosen[i] = own[at];
    own[at] = UINT32_MAX;
  }
  uint32_t left = 0;
  for (uint32_t i = 0; i < n; i++)
    if (own[i] != UINT32_MAX) picked[left++] = own[i];
  uint32_t need = 0;
  for (uint32_t i = 0; i < count; i++) need += f->fixed || (items->kid[i]->kind != N_SPREAD && chosen[i] == UINT32_MAX);
  uint32_t taken = spread ? left : need; // ...s takes all
  uint32_t at = left - taken;
  for (uint32_t i = 0; i < at; i++) m->rest[m->nrest++] = picked[i];
  for (uint32_t i = 0; i < count; i++) {
    const Node *item = items ? items->kid[i] : NULL;
    if (item && item->kind == N_SPREAD) {
      uint32_t many = left - at;
      for (uint32_t k = i + 1; k < count; k++) many -= chosen[k] == UINT32_MAX;
      if (!take_spread(c, item, arg, picked + at, many, m, inner + m->ntake)) return false;
      at += many;
      continue;
    }
    uint32_t from = !f->fixed && chosen[i] != UINT32_MAX ? chosen[i] : picked[at++];
    const Axis *actual = &arg->type.axis[from];
    if (f->fixed) {
      inner[m->ntake] = f->known.axis[i];
      const Axis *formal = &f->known.axis[i];
      if (formal->decl && actual->decl && formal->decl != actual->decl) {
        diag_error(w->diags, arg->span, "`%s` wants axis %s here, but this is axis %s", call_name(c), name_text(w->names, formal->label), name_text(w->names, actual->label));
        return false;
      }
      if (!sizes_agree(c->b, formal->size, actual->size, arg->span, f->span, "an argument")) {
        Id e = diag_error(w->diags, place_of(c, arg), "`%s` wants %s, but this is %s", call_name(c), own_text(w, &f->known), own_text(w, &arg->type));
        diag_note(w->diags, e, f->span, "the parameter");
        return false;
      }
    } else if (!bind_axis(c, item, actual, arg, &inner[m->ntake])) {
      return false;
    }
    m->take[m->ntake++] = from;
  }
  // keep what is in front in the order in which it stands
  for (uint32_t i = 1; i < m->nrest; i++)
    for (uint32_t k = i; k > 0 && m->rest[k] < m->rest[k - 1]; k--) {
      uint32_t swap = m->rest[k];
      m->rest[k] = m->rest[k - 1];
      m->rest[k - 1] = swap;
    }
  m->type.axis = arena_copy(w->arena, inner, m->ntake * sizeof(Axis));
  m->type.rank = m->ntake;
  return true;
}

// -- what passes over -----------------------------------------------------------------------------
typedef struct {
  uint32_t n;
  Axis axis[RANK_LIMIT]; // as the caller sees them
} Passing;

// A label that all arguments have, though not as their last axis: was it meant to pass over?
static Name common_label(const Value *args) {
  for (uint32_t k = 0; args->n && k + 1 < args->at[0].type.rank; k++) {
    const Axis *axis = &args->at[0].type.axis[k];
    bool all = !axis->pass && axis->label;
    for (uint32_t a = 1; a < args->n && all; a++) {
      all = false;
      for (uint32_t i = 0; i + 1 < args->at[a].type.rank; i++) all |= !args->at[a].type.axis[i].pass && args->at[a].type.axis[i].label == axis->label;
    }
    if (all) return axis->label;
  }
  return 0;
}

static void outer_product(const Call *c, const Value *args, const Val *arg, const Val *other) {
  World *w = c->b->w;
  Name label = c->over ? 0 : common_label(args);
  Id e = diag_error(w->diags, place_of(c, arg), "the axes that pass over `%s` do not fit: %s here, %s there", call_name(c), own_text(w, &arg->type), own_text(w, &other->type));
  if (label) diag_help(w->diags, e, "did you mean `%s(…) over %s`?", call_name(c), name_text(w->names, label));
  else diag_help(w->diags, e, "limn never makes an outer product by itself: write the index equation");
  if (other->span.at != arg->span.at) diag_note(w->diags, e, other->span, "the other one");
}

static bool same_axis(const Axis *a, const Axis *z) { return a->label && z->label ? a->label == z->label : !a->label && !z->label; }

// All arguments' passing axes as one list; where[i][k] is the place of the k-th passing axis of argument i.
static bool merge_passing(const Call *c, const Value *args, const Match *m, Passing *p, uint32_t (*where)[RANK_LIMIT]) {
  uint32_t most = 0;
  for (uint32_t i = 1; i < args->n; i++)
    if (m[i].nrest > m[most].nrest) most = i;
  for (uint32_t i = 0; args->n && i < m[most].nrest; i++) p->axis[p->n++] = args->at[most].type.axis[m[most].rest[i]];
  for (uint32_t a = 0; a < args->n; a++) {
    const Val *arg = &args->at[a];
    uint32_t at = p->n;
    for (uint32_t k = m[a].nrest; k-- > 0;) {
      const Axis *axis = &arg->type.axis[m[a].rest[k]];
      uint32_t found = UINT32_MAX;
      bool over = is_over(c, axis->label); // found by its name wherever it stands
      for (uint32_t i = over ? p->n : at; i-- > 0 && found == UINT32_MAX;)
        if (same_axis(&p->axis[i], axis) || (!axis->label && i == at - 1) || (!p->axis[i].label && i == at - 1)) found = i;
      if (found == UINT32_MAX || !sizes_agree(c->b, p->axis[found].size, axis->size, arg->span, c->span, "axes that pass over")) {
        outer_product(c, args, arg, &args->at[most]);
        return false;
      }
      where[a][k] = found;
      if (!over) at = found;
    }
  }
  return true;
}

// -- instances ------------------------------------------------------------------------------------
typedef struct {
  Type *in; // as the callee sees the arguments
  uint32_t n;
} Inputs;

// Keys are rows of numbers: each part says how long it is, so that no two rows are read in two ways.
static void key_numbers(Buf *key, const uint32_t *number, uint32_t n) { buf_add(key, (const char *)number, n * sizeof *number); }

static void key_type(Buf *key, World *w, const Type *t, bool labels) {
  key_numbers(key, (uint32_t[]){t->base, t->base == BASE_LABEL ? size_now(w, t->count) : 0, t->names, t->rank}, 4);
  for (uint32_t i = 0; i < t->rank; i++) {
    const Axis *a = &t->axis[i];
    key_numbers(key, (uint32_t[]){a->pass, size_now(w, a->size), labels ? a->label : 0, labels ? a->decl : 0}, 4);
  }
}

static void key_binding(Buf *key, World *w, const Binding *bind) {
  uint32_t turn = 0; // a box that mentions a loop's variable is another one in each turn
  for (const Env *e = bind->box.node ? bind->box.env : NULL; e; e = e->outer) turn = e->turn > turn ? e->turn : turn;
  const char *text = bind->text ? bind->text : "";
  Closure box = bind->box.node ? bind->box : (Closure){0};
  double number = bind->has_number ? bind->number : 0;
  key_numbers(key, (uint32_t[]){bind->kind, size_now(w, bind->size), bind->has_number, turn, (uint32_t)strlen(text), bind->naxis}, 6);
  buf_add(key, (const char *)&box.node, sizeof box.node);
  buf_add(key, (const char *)&box.env, sizeof box.env);
  buf_add(key, (const char *)&number, sizeof number);
  buf_text(key, text);
  for (uint32_t i = 0; i < bind->naxis; i++) key_numbers(key, (uint32_t[]){size_now(w, bind->axis[i].size)}, 1);
}

static Buf instance_key(const Call *c, Body *home, const char *family, const Inputs *in, bool labels) {
  World *w = c->b->w;
  Buf key = buf_new(w->arena);
  uint32_t named = family ? (uint32_t)strlen(family) : 0;
  key_numbers(&key, (uint32_t[]){c->def->id, home ? home->id : 0, c->b->in->training, c->b->generic, named, c->to->binding.n}, 6);
  if (family) buf_text(&key, family);
  for (uint32_t i = 0; i < c->to->binding.n; i++) key_binding(&key, w, &c->to->binding.at[i]);
  for (uint32_t i = 0; i < in->n; i++) key_type(&key, w, &in->in[i], labels);
  for (uint32_t i = 0; i < c->to->binding.n; i++) // a box that is passed in may speak of the caller's axes
    if (c->to->binding.at[i].box.node)
      for (uint32_t k = 0; k < c->to->binding.n; k++) key_numbers(&key, &c->to->binding.at[k].label, 1);
  return key;
}

static void collect_labels(Body *b, const Node *n) {
  if (!n) return;
  if (n->kind == N_TYPE && n->nkid > 1 && n->kid[1] && n->kid[1]->nkid) {
    const Node *items = n->kid[1]->kid[0];
    for (uint32_t i = 0; i < items->nkid; i++)
      if (items->kid[i]->kind == N_NAME || items->kid[i]->kind == N_SIZED) table_put(b->labels, &items->kid[i]->name, sizeof(Name), 1);
  }
  if (n->kind == N_LHS && n->nkid && n->kid[0] && n->kid[0]->nkid && n->kid[0]->kid[0]->kind == N_ITEMS) {
    const Node *items = n->kid[0]->kid[0];
    for (uint32_t i = 0; i < items->nkid && items->nkid > 1; i++)
      if (items->kid[i]->kind == N_SIZED) table_put(b->labels, &items->kid[i]->name, sizeof(Name), 1);
  }
  for (uint32_t i = 0; i < n->nkid; i++) collect_labels(b, n->kid[i]);
}

// A result axis in the caller's words.
static Axis outer_axis(Env *inner, const Axis *axis, bool flows) {
  Axis a = *axis;
  Binding *bind = axis->label ? env_find(inner, axis->label) : NULL;
  if (flows) return a;
  a.label = bind && (bind->kind == BIND_SIZE || bind->kind == BIND_OPTION) ? bind->label : 0;
  a.decl = bind ? bind->decl : 0;
  if (!bind && axis->decl) a.label = axis->label, a.decl = axis->decl;
  return a;
}

static const Node *only_type(const Node *types) {
  if (!types) return NULL;
  if (types->kind == N_TYPE) return types;
  if (types->nkid != 1) return NULL;
  return types->kid[0]->kind == N_PARAM ? (types->kid[0]->nkid ? types->kid[0]->kid[0] : NULL) : types->kid[0];
}

// The result names the axes of the first parameter, in the same order: every axis stays where it was.
static bool keeps_places(const Header *h, const Formals *f, const Node *result) {
  if (!f->n || !f->at[0].type || !result || result->kind != N_TYPE || result->nkid < 2 || !result->kid[1]) return false;
  const Node *a = f->at[0].type->nkid > 1 ? f->at[0].type->kid[1] : NULL, *z = result->kid[1];
  (void)h;
  if (!a || a->nkid != z->nkid || a->nkid != 1 || a->kid[0]->nkid != z->kid[0]->nkid) return false;
  for (uint32_t i = 0; i < a->kid[0]->nkid; i++) {
    const Node *x = a->kid[0]->kid[i], *y = z->kid[0]->kid[i];
    if (x->kind != y->kind || x->name != y->name || (x->kind != N_NAME && x->kind != N_SPREAD)) return false;
  }
  return true;
}

static Body *instance_body(const Call *c, Body *home, const char *family, const Formals *formals, const Inputs *in, bool open, bool *good) {
  Infer *infer = c->b->in;
  World *w = c->b->w;
  Body *body = body_new(infer, c->def->name);
  (void)family;
  body->generic = c->b->generic;
  body->def = c->def;
  body->env = c->to;
  c->to->body = body;
  body->labels = table_new(w->arena);
  body->header_params = c->h->params;
  body->header_result = result_types(c->h);
  collect_labels(body, c->h->params);
  collect_labels(body, c->h->result);
  collect_labels(body, c->h->body);
  Value args = {.n = in->n, .at = NEW_ARRAY(w->arena, Val, in->n)};
  for (uint32_t i = 0; i < in->n; i++) {
    Name name = i < formals->n ? formals->at[i].name : 0;
    Span span = i < formals->n ? formals->at[i].span : c->span;
    for (uint32_t k = 0; k < in->in[i].rank; k++)
      if (in->in[i].axis[k].pass) {
        uint32_t id = in->in[i].axis[k].pass;
        body->pass[id - 1] = in->in[i].axis[k];
        if (id > body->npass) body->npass = id;
      }
    args.at[i] = val_wire(body, diagram_input(w, body->d, in->in[i], name, origin_at(body, span)), span);
  }
  (void)home;
  *good = body_work(body, c->to, c->def, c->h->params, result_types(c->h), c->h->body, args, open);
  return body;
}

static void note_call(Infer *in, const Call *c, uint32_t before) {
  Diags *d = in->w->diags;
  uint32_t library = in->library->file;
  for (uint32_t i = before; i < d->list.n; i++) // what goes wrong inside the library is shown where it is used
    if (d->list.at[i].span.file == library && c->span.file != library && !d->list.at[i].note) {
      diag_note(d, i, d->list.at[i].span, "here, in `%s`", call_name(c));
      d->list.at[i].span = c->span;
    }
  for (uint32_t i = before; i < d->list.n; i++)
    if (c->span.at != c->def->span.at && !d->list.at[i].note && d->list.at[i].span.file && !inside(d->list.at[i].span, c->span) && (d->list.at[i].span.file != c->span.file || d->list.at[i].span.at != c->span.at))
      diag_note(d, i, c->span, "in this use of `%s`", call_name(c));
}

// box f … reverse g: g takes the inputs of f and a cotangent for each output, and gives a cotangent for each input.
static bool own_reverse(const Call *c, Body *body) {
  World *w = body->w;
  const Node *g = c->h->reverse;
  Diagram *d = body->d;
  uint32_t n = d->in.n + d->out.n;
  Type *types = NEW_ARRAY(w->arena, Type, n);
  for (uint32_t i = 0; i < d->in.n; i++) types[i] = d->wire.at[d->in.at[i]].type;
  for (uint32_t i = 0; i < d->out.n; i++) types[d->in.n + i] = body->out_type.at[i];
  Body *back = box_alone(body, env_new(body->in, NULL, c->h->scope, body), g, n, types, g->span);
  if (!back) return false;
  bool fits = back->d->out.n == d->in.n;
  for (uint32_t i = 0; fits && i < d->in.n; i++) {
    const Type *want = &types[i], *have = &back->out_type.at[i];
    fits = want->base == BASE_LABEL || (want->base == have->base && want->rank == have->rank);
    for (uint32_t k = 0; fits && want->base != BASE_LABEL && k < want->rank; k++)
      fits = sizes_agree(body, want->axis[k].size, have->axis[k].size, g->span, g->span, "an own reverse");
  }
  if (!fits || back->d->param.n) {
    Id e = diag_error(w->diags, g->span, back->d->param.n ? "the reverse of `%s` may not have weights of its own" : "`%s` wants a reverse that gives a cotangent for each of its inputs", call_name(c));
    diag_note(w->diags, e, c->def->span, "its inputs are here");
    return false;
  }
  d->reverse = back->d;
  return true;
}

static Body *instance(const Call *c, Body *home, const char *family, const Formals *formals, const Inputs *in, bool open) {
  Infer *infer = c->b->in;
  Buf key = instance_key(c, home, family, in, true);
  Id known = table_get(infer->instances, key.at, key.n);
  if (known) {
    Body *old = infer->made_body.at[known - 1];
    if (old && old->env) { // label bindings are this call's own
      for (uint32_t i = 0; i < c->to->binding.n && i < old->env->binding.n; i++) {
        old->env->binding.at[i].label = c->to->binding.at[i].label;
        old->env->binding.at[i].decl = c->to->binding.at[i].decl;
      }
    }
    return old;
  }
  if (table_get(infer->working, key.at, key.n)) { // met again before it is done
    Buf cycle = buf_new(infer->w->arena);
    uint32_t first = infer->stack.n;
    while (first && infer->stack.at[first - 1] != c->def) first--;
    for (uint32_t i = first; i < infer->stack.n; i++) buf_printf(&cycle, ", through `%s`", name_text(infer->w->names, infer->stack.at[i]->name));
    Id e = diag_error(infer->w->diags, c->span, "`%s` is made of itself%s", call_name(c), cycle.n ? cycle.at : "");
    diag_note(infer->w->diags, e, c->def->span, "declared here");
    diag_help(infer->w->diags, e, "there is no recursion: a loop is `scan`, `^` or `for`");
    c->def->broken = true;
    return NULL;
  }
  if (infer->depth >= DEPTH_LIMIT) {
    diag_error(infer->w->diags, c->span, "boxes are nested more than %d deep here", DEPTH_LIMIT);
    return NULL;
  }
  uint32_t before = infer->w->diags->list.n, errors = infer->w->diags->errors;
  bool good;
  infer->depth++;
  table_put(infer->working, key.at, key.n, 1);
  vec_push(infer->w->arena, &infer->stack, c->def);
  Body *body = instance_body(c, home, family, formals, in, open, &good);
  table_put(infer->working, key.at, key.n, 0);
  infer->stack.n--;
  infer->depth--;
  if (good && c->h->reverse) good = own_reverse(c, body);
  if (infer->w->diags->errors > errors) note_call(infer, c, before);
  if (!good) body = NULL;
  vec_push(infer->w->arena, &infer->made_body, body);
  table_put(infer->instances, key.at, key.n, infer->made_body.n);
  return body;
}

// -- the call itself ------------------------------------------------------------------------------
static uint32_t passing_number(const Body *b, const Value *args, uint32_t *number) {
  uint32_t next = 2; // 1 is the sample axis
  for (uint32_t id = 1; id <= b->npass; id++) {
    bool used = false;
    for (uint32_t i = 0; i < args->n; i++)
      for (uint32_t k = 0; k < args->at[i].type.rank; k++) used |= args->at[i].type.axis[k].pass == id;
    number[id] = !used ? 0 : id == PASS_SAMPLE && b->pass[0].pass == PASS_SAMPLE ? 1 : next++;
  }
  return next;
}

static Type callee_type(Body *b, const Val *arg, const Match *m, const uint32_t *number, const uint32_t *where, uint32_t first, uint32_t *order, uint32_t *norder) {
  Axis axis[RANK_LIMIT];
  uint32_t n = 0;
  for (uint32_t i = 0; i < arg->type.rank; i++) {
    if (!arg->type.axis[i].pass) continue;
    axis[n] = arg->type.axis[i];
    axis[n].pass = number[arg->type.axis[i].pass];
    order[n++] = i;
  }
  for (uint32_t i = 0; i < m->nrest; i++) {
    axis[n] = arg->type.axis[m->rest[i]];
    axis[n].pass = first + where[i];
    axis[n].label = 0;
    axis[n].decl = 0;
    order[n++] = m->rest[i];
  }
  for (uint32_t i = 0; i < m->ntake; i++) {
    axis[n] = m->type.axis[i];
    axis[n].pass = 0;
    order[n++] = m->take[i];
  }
  *norder = n;
  Type t = arg->type;
  t.rank = n;
  t.axis = arena_copy(b->w->arena, axis, n * sizeof(Axis));
  return t;
}

static bool fill_literals(const Call *c, const Formals *f, Value *args) {
  for (uint32_t i = 0; i < args->n; i++) {
    if (!args->at[i].literal || i >= f->n) continue;
    Types t = {0};
    uint32_t count;
    const Node *items = formal_items(&f->at[i], &count);
    for (uint32_t k = 0; k < count; k++) // ...s of a bare number is no axes at all
      if (items->kid[k]->kind == N_SPREAD && !env_find(c->to, items->kid[k]->name)) bind_spread(c->to, c->b->w, items->kid[k]->name, (Binding){.kind = BIND_SPREAD, .span = args->at[i].span});
    if (f->at[i].fixed) vec_push(c->b->w->arena, &t, f->at[i].known);
    else if (f->at[i].type && !types_eval(c->b, c->to, f->at[i].type, true, &t, NULL)) return false;
    if (!t.n) vec_push(c->b->w->arena, &t, (Type){.base = BASE_R});
    if (t.at[0].base == BASE_LABEL) {
      diag_error(c->b->w->diags, args->at[i].span, "a number is not a label");
      return false;
    }
    args->at[i] = val_fill(c->b, args->at[i], t.at[0]);
    for (uint32_t k = 0; k < args->at[i].type.rank; k++) args->at[i].type.axis[k].decl = 0;
  }
  return true;
}

// Puts the result's axes into the caller's words and places.
static Val outer_value(const Call *c, Body *callee, Id wire, const Type *inner, const Passing *p, const uint32_t *number, uint32_t first, const uint32_t *stay, uint32_t nstay, bool flows) {
  Body *b = c->b;
  World *w = b->w;
  Axis axis[RANK_LIMIT];
  uint32_t n = inner->rank;
  bool has[RANK_LIMIT + 2] = {false};
  for (uint32_t i = 0; i < n; i++) {
    uint32_t pass = inner->axis[i].pass;
    if (pass >= first) {
      axis[i] = p->axis[pass - first];
      has[pass - first] = true;
    } else if (pass) {
      for (uint32_t id = 1; id <= b->npass; id++)
        if (number[id] == pass) axis[i] = b->pass[id - 1], axis[i].pass = id;
    } else {
      axis[i] = outer_axis(callee->env, &inner->axis[i], flows);
    }
  }
  Type t = type_make(w, inner->base, n, axis);
  t.count = inner->count;
  t.names = inner->names;
  b->d->wire.at[wire].type = t;
  Val v = val_wire(b, wire, c->span);
  bool missing = false;
  for (uint32_t i = 0; i < p->n; i++) missing |= !has[i];
  if (missing) { // a result that does not depend on an axis is the same along it
    Axis all[RANK_LIMIT];
    uint32_t k = 0, out[RANK_LIMIT], at = n;
    Val wide = v;
    memcpy(all, axis, n * sizeof(Axis));
    for (uint32_t i = 0; i < n; i++)
      if (axis[i].pass) out[k++] = i;
    for (uint32_t i = 0; i < p->n; i++) {
      uint32_t have = UINT32_MAX;
      for (uint32_t j = 0; j < n; j++)
        if (inner->axis[j].pass == first + i) have = j;
      if (have == UINT32_MAX) all[at] = p->axis[i], have = at++;
      out[k++] = have;
    }
    for (uint32_t i = 0; i < n; i++)
      if (!inner->axis[i].pass) out[k++] = i;
    wide.type = type_make(w, t.base, at, all);
    wide.type.count = t.count;
    Axis final[RANK_LIMIT];
    for (uint32_t i = 0; i < k; i++) final[i] = all[out[i]];
    Access access = access_plain(w, k, out);
    Type ft = type_make(w, t.base, k, final);
    ft.count = t.count;
    ft.names = t.names;
    return val_wire(b, val_emit(b, &wide, &access, ft, c->span), c->span);
  }
  if (nstay == n) return val_permute(b, v, stay, n);
  return v;
}

static bool check_arity(const Call *c, uint32_t want, uint32_t have) {
  if (want == have) return true;
  World *w = c->b->w;
  Id e = diag_error(w->diags, c->span, "`%s` takes %u %s, but %u %s given", call_name(c), want, want == 1 ? "input" : "inputs", have, have == 1 ? "is" : "are");
  diag_note(w->diags, e, c->def->span, "declared here");
  return false;
}

// Of several headers, the one whose number and bases of inputs fit.
static Def *choose_overload(Body *b, Def *d, const Value *args) {
  for (Def *o = d; o && d->overload; o = o->overload) {
    Header h = header_of(o);
    Formals f = {0};
    bool good, fits;
    Env *env = env_new(b->in, NULL, o->scope, b);
    if (!header_formals(b, env, &h, &f, &good) || f.n != args->n) continue;
    fits = good;
    for (uint32_t i = 0; fits && i < f.n; i++) {
      if (args->at[i].literal || args->at[i].error || !f.at[i].type) continue;
      const Node *base = f.at[i].type->kid[0];
      Base want = base->kind == N_LABELS ? BASE_LABEL : strcmp(name_text(b->w->names, base->name), "B") == 0 ? BASE_BIT : BASE_R;
      fits = args->at[i].type.base == want;
      uint32_t count, own[RANK_LIMIT];
      const Node *items = formal_items(&f.at[i], &count);
      if (fits && count && items->kid[0]->kind != N_SPREAD) fits = own_axes(&args->at[i].type, own) >= count;
    }
    if (fits) return o;
  }
  return d;
}

static bool weight_learner(const Def *d) { return is_learner(d) && !learner_has_input(d); }

Value call_def(Body *b, Env *env, Def *d, Body *home, const char *family, const Node *config, Value args, const Node *over, Span span, const Node *use, Name site_name) {
  World *w = b->w;
  d->used = true;
  if (d->broken) return value_error(b, span);
  if (d->kind == DEF_STALE && !d->of) return value_error(b, span);
  if (weight_learner(d)) {
    if (args.n) {
      Id e = diag_error(w->diags, span, "`%s` is a weight, not a function: it takes no input", name_text(w->names, d->name));
      diag_note(w->diags, e, d->span, "declared here");
      return value_error(b, span);
    }
    if (home == b) return value_error(b, span); // its value is bound by its statement
    return learner_weight(b, env, d, home, family, span);
  }
  for (uint32_t i = 0; i < args.n; i++) {
    if (args.at[i].error) return value_error(b, span);
    val_settle(b, &args.at[i]);
  }
  if (is_learner(d) && !args.n) {
    Id e = diag_error(w->diags, span, "`%s` is a learner with inputs; a value is wanted here", name_text(w->names, d->name));
    diag_help(w->diags, e, "give it its wires: `%s(x)`", name_text(w->names, d->name));
    return value_error(b, span);
  }
  d = choose_overload(b, d, &args);
  Header h = header_of(d);
  Call c = {.b = b, .env = env, .def = d, .h = &h, .over = over, .span = span};
  Env *outer = home ? home->env : NULL;
  c.to = env_new(b->in, outer, h.scope, NULL);
  Formals formals = {0};
  bool good = true;
  if (!bind_options(b, env, d, &h, config, c.to, false, span)) return value_error(b, span);
  bool typed = header_formals(b, c.to, &h, &formals, &good);
  if (is_learner(d) && !h.params && !(h.result && h.result->kind == N_SIG)) {
    const Def *real = d->kind == DEF_STALE ? d->of : d;
    if (real->refined && real->node->kid[2]) { // types from the declaration, names from the refinement
      Header declared = h;
      declared.params = real->node->kid[2];
      typed = header_formals(b, c.to, &declared, &formals, &good);
    }
  }
  if (!good) return value_error(b, span);
  if (typed && !check_arity(&c, formals.n, args.n)) return value_error(b, span);
  if (!typed)
    for (uint32_t i = 0; i < args.n; i++) vec_push(w->arena, &formals, (Formal){.span = span});
  Match *m = NEW_ARRAY(w->arena, Match, args.n);
  bool literals = false;
  for (uint32_t i = 0; i < args.n; i++) {
    literals |= args.at[i].literal;
    if (!args.at[i].literal && !match_formal(&c, &formals.at[i], &args.at[i], &m[i])) return value_error(b, span);
  }
  if (literals && !fill_literals(&c, &formals, &args)) return value_error(b, span);
  for (uint32_t i = 0; i < args.n; i++)
    if (!m[i].type.base && !match_formal(&c, &formals.at[i], &args.at[i], &m[i])) return value_error(b, span);
  for (uint32_t i = 1; over && i < over->nkid; i++) {
    bool met = false;
    for (uint32_t a = 0; a < args.n; a++)
      for (uint32_t k = 0; k < m[a].nrest; k++) met |= args.at[a].type.axis[m[a].rest[k]].label == over->kid[i]->name;
    if (!met) {
      diag_error(w->diags, over->kid[i]->span, "no argument has an axis %s to go over", name_text(w->names, over->kid[i]->name));
      return value_error(b, span);
    }
  }
  Passing passing = {0};
  uint32_t(*where)[RANK_LIMIT] = arena_alloc(w->arena, sizeof(uint32_t[RANK_LIMIT]) * (args.n + 1));
  if (!merge_passing(&c, &args, m, &passing, where)) return value_error(b, span);
  uint32_t number[RANK_LIMIT + 2] = {0}, first = passing_number(b, &args, number);
  if (first + passing.n >= RANK_LIMIT) {
    diag_error(w->diags, span, "more than %d axes", RANK_LIMIT);
    return value_error(b, span);
  }
  Inputs in = {NEW_ARRAY(w->arena, Type, args.n), args.n};
  Id *wires = NEW_ARRAY(w->arena, Id, args.n);
  for (uint32_t i = 0; i < args.n; i++) {
    uint32_t order[RANK_LIMIT], n;
    in.in[i] = callee_type(b, &args.at[i], &m[i], number, where[i], first, order, &n);
    Val v = val_permute(b, args.at[i], order, n);
    wires[i] = val_to_wire(b, &v, 0);
    if (!wires[i]) return value_error(b, span);
  }
  bool training = b->in->training;
  if (is_learner(d) && (d->frozen || d->kind == DEF_STALE)) b->in->training = false;
  Body *callee = instance(&c, home, family, &formals, &in, false);
  b->in->training = training;
  if (!callee || !work_on(b, callee->d->param.n, span)) return value_error(b, span);
  // Where the first argument's axes stood, if the result has the same ones.
  uint32_t stay[RANK_LIMIT], nstay = 0;
  const Node *result = result_types(&h);
  if (args.n && keeps_places(&h, &formals, only_type(result))) {
    uint32_t at[RANK_LIMIT], n = 0; // at[old position] = place in the callee's order
    const Type *t = &args.at[0].type;
    for (uint32_t i = 0; i < t->rank; i++)
      if (t->axis[i].pass) at[i] = n++;
    for (uint32_t i = 0; i < m[0].nrest; i++) at[m[0].rest[i]] = n++;
    for (uint32_t i = 0; i < m[0].ntake; i++) at[m[0].take[i]] = n++;
    for (uint32_t i = 0; i < t->rank; i++) stay[nstay++] = at[i];
  }
  Id first_out = body_call(b, callee, wires, d, home, family, use, site_name, span);
  Value out = {.n = callee->d->out.n, .at = NEW_ARRAY(w->arena, Val, callee->d->out.n), .space = callee->space};
  bool flows = !typed && !result;
  for (uint32_t i = 0; i < out.n; i++) {
    Type inner = callee->out_type.at[i];
    out.at[i] = outer_value(&c, callee, first_out + i, &inner, &passing, number, first, stay, out.n == 1 ? nstay : 0, flows);
  }
  return out;
}

// -- boxes made of boxes --------------------------------------------------------------------------
static bool is_number_of_times(Body *b, Env *env, const Node *n, int64_t *times) {
  Size s = size_eval(b, env, n, false);
  if (!s) return false;
  if (size_value(b->w, s, times) && *times >= 0 && *times <= 100000) return true;
  if (!b->generic) diag_error(b->w->diags, n->span, "how often a box is repeated must be a number that is known beforehand");
  return false;
}

static Value apply_power(Body *b, Env *env, const Node *n, Value args, Span span) {
  int64_t times;
  if (!is_number_of_times(b, env, n->kid[1], &times)) return value_error(b, span);
  const char *suffix = b->suffix;
  for (int64_t i = 1; i <= times; i++) {
    b->suffix = arena_format(b->w->arena, "%s.%lld", suffix ? suffix : "", (long long)i);
    args = apply(b, env, n->kid[0], args, NULL, span);
    if (args.n && args.at[0].error) break;
  }
  b->suffix = suffix;
  return args;
}

// (f, g): side by side, each takes as many wires as it has inputs.
static Value apply_tuple(Body *b, Env *env, const Node *n, Value args, Span span) {
  Value all = {0};
  uint32_t at = 0;
  for (uint32_t i = 0; i < n->nkid; i++) {
    int want = arity_of(b, env, n->kid[i]);
    if (want < 0) want = n->nkid == args.n ? 1 : -1;
    if (want < 0 || at + (uint32_t)want > args.n) {
      int sum = arity_of(b, env, n);
      if (sum < 0) diag_error(b->w->diags, span, "these boxes side by side take more than %u %s", args.n, args.n == 1 ? "wire" : "wires");
      else diag_error(b->w->diags, span, "these boxes side by side take %d wires, but %u %s there", sum, args.n, args.n == 1 ? "is" : "are");
      return value_error(b, span);
    }
    all = value_concat(b, all, apply(b, env, n->kid[i], (Value){(uint32_t)want, args.at + at, NULL}, NULL, span));
    at += (uint32_t)want;
  }
  if (at == args.n) return all;
  diag_error(b->w->diags, span, "these boxes side by side take %u %s, but %u are there", at, at == 1 ? "wire" : "wires", args.n);
  return value_error(b, span);
}

static Value apply_fan(Body *b, Env *env, const Node *n, Value args, Span span) {
  Value all = {0};
  for (uint32_t i = 0; i < args.n; i++) val_to_wire(b, &args.at[i], 0);
  for (uint32_t i = 0; i < n->nkid; i++) {
    Value copy = {args.n, arena_copy(b->w->arena, args.at, args.n * sizeof(Val)), NULL};
    all = value_concat(b, all, apply(b, env, n->kid[i], copy, NULL, span));
  }
  return all;
}

static Value apply_pipe(Body *b, Env *env, const Node *n, Value args, Span span) {
  for (uint32_t i = 0; i < n->nkid; i++) {
    args = apply(b, env, n->kid[i], args, NULL, span);
    for (uint32_t k = 0; k < args.n; k++)
      if (args.at[k].error) return value_error(b, span);
  }
  return args;
}

static Value apply_fn(Body *b, Fn fn, Value args, Span span) {
  if (args.n != fn_rows[fn].arity) {
    diag_error(b->w->diags, span, "`%s` takes %u %s, but %u %s given", fn_rows[fn].name, fn_rows[fn].arity, fn_rows[fn].arity == 1 ? "value" : "values", args.n, args.n == 1 ? "is" : "are");
    return value_error(b, span);
  }
  return value_one(b, val_fn(b, fn, args.at, args.n, span, NULL));
}

// A box that was passed as an option speaks of axes in the words of where it was written: labels are put into those words on the way
// in, and back into this body's on the way out.
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

static bool names_in_brackets(const Node *n, bool inside) {
  if (!n) return false;
  if (inside && (n->kind == N_NAME || n->kind == N_SIZED)) return true;
  for (uint32_t i = 0; i < n->nkid; i++)
    if (names_in_brackets(n->kid[i], inside || n->kind == N_BRACKETS)) return true;
  return false;
}

static bool speaks_of_axes(const Closure *box) {
  if (box->node->kind != N_NAME) return names_in_brackets(box->node, false);
  const Binding *bind = env_find(box->env, box->node->name);
  return bind && bind->kind == BIND_OPTION && bind->box.node && speaks_of_axes(&bind->box);
}

static Value apply_option(Body *b, Env *env, const Binding *bind, Value args, const Node *over, Span span) {
  Closure box = bind->box;
  if (box.env == env || over || !speaks_of_axes(&box)) return apply(b, box.env, box.node, args, over, span);
  for (uint32_t i = 0; i < args.n; i++) val_settle(b, &args.at[i]);
  relabel(b, env, &args, label_outside);
  Value v = apply(b, box.env, box.node, args, over, span);
  for (uint32_t i = 0; i < v.n; i++)
    if (!v.at[i].error) val_settle(b, &v.at[i]);
  relabel(b, env, &v, label_inside);
  return v;
}

static Value apply_name(Body *b, Env *env, const Node *name, const Node *config, Value args, const Node *over, Span span, const Node *use) {
  World *w = b->w;
  const char *text = name_text(w->names, name->name);
  Binding *bind = env_find(env, name->name);
  if (bind) {
    if (bind->kind == BIND_LEARNER) {
      const char *member = NULL;
      if (bind->def->node->kid[1]) {
        if (!config) {
          diag_error(w->diags, name->span, "`%s` is a family: say which member, as in `%s[0]`", text, text);
          return value_error(b, span);
        }
        member = family_member(b, env, bind->def->node, config);
        if (!member) return value_error(b, span);
        config = NULL;
      }
      return call_def(b, env, (Def *)bind->def, bind->home, member, config, args, over, span, use, name->name);
    }
    if (bind->kind == BIND_OPTION && bind->box.node) return apply_option(b, env, bind, args, over, span);
    if (bind->open) return value_error(b, span); // a box that only a use will give
    if (bind->kind == BIND_VALUE && bind->value.n && bind->value.at[0].error) return value_error(b, span);
    if (bind->kind == BIND_OPTION && bind->span.file) { // what was given is at fault, not the box that wants it
      Id e = diag_error(w->diags, bind->span, "a box is wanted for option `%s`, and this is a size or a number", text);
      diag_note(w->diags, e, name->span, "used as a box here");
      return value_error(b, span);
    }
    Id e = diag_error(w->diags, name->span, bind->kind == BIND_VALUE ? "`%s` is a wire, not a box" : "`%s` is not a box", text);
    diag_note(w->diags, e, bind->span, "it comes from here");
    return value_error(b, span);
  }
  Def *d = scope_find(env->scope, name->name);
  if (d && (d->kind == DEF_BOX || is_learner(d))) {
    const char *member = NULL;
    if (d->kind == DEF_LEARNER && d->node->kid[1] && !config && !d->broken) {
      Id e = diag_error(w->diags, name->span, "`%s` is a family: say which member, as in `%s[0]`", text, text);
      diag_note(w->diags, e, d->span, "declared here");
      return value_error(b, span);
    }
    if (d->kind == DEF_LEARNER && d->node->kid[1] && config) {
      member = family_member(b, env, d->node, config);
      if (!member) return value_error(b, span);
      config = NULL;
    }
    return call_def(b, env, d, NULL, member, config, args, over, span, use, name->name);
  }
  if (d) {
    if (d->broken) return value_error(b, span);
    Id e = diag_error(w->diags, name->span, "`%s` is not a box", text);
    diag_note(w->diags, e, d->span, "it is declared here");
    return value_error(b, span);
  }
  bool nodes;
  Builtin f = builtin_find(name->name, w, &nodes);
  if (f) {
    Eq eq = {0};
    Value v = f(b, env, use, config, args, span, &eq);
    return v;
  }
  Fn fn = fn_find(text);
  if (fn != FN_COUNT && !config) return apply_fn(b, fn, args, span);
  if (fn != FN_COUNT) {
    Id e = diag_error(w->diags, config->span, "`%s` has no options", text);
    diag_help(w->diags, e, "an index belongs to the wire: `%s(x[i])`", text);
    return value_error(b, span);
  }
  unknown_name(b, env, name, "box");
  return value_error(b, span);
}

Value apply(Body *b, Env *env, const Node *n, Value args, const Node *over, Span span) {
  if (!work_on(b, 1 + args.n, n->span)) return value_error(b, span);
  for (uint32_t i = 0; i < args.n; i++)
    if (args.at[i].error) return value_error(b, span);
  switch (n->kind) {
  case N_PAREN: return apply(b, env, n->kid[0], args, over, span);
  case N_PIPE: return apply_pipe(b, env, n, args, span);
  case N_FAN: return apply_fan(b, env, n, args, span);
  case N_TUPLE: return apply_tuple(b, env, n, args, span);
  case N_POW: return apply_power(b, env, n, args, span);
  case N_OVER: return apply(b, env, n->kid[0], args, n, span);
  case N_GROUP:
  case N_ITEMS:
    if (n->nkid == 1) return apply(b, env, n->kid[0], args, over, span);
    break;
  case N_NAME: return apply_name(b, env, n, NULL, args, over, n->span, n);
  case N_AT:
    if (n->kid[0]->kind == N_NAME) return apply_name(b, env, n->kid[0], n->kid[1], args, over, n->span, n);
    break;
  case N_WHEN: {
    Truth t = static_truth(b, env, n->kid[1]);
    if (t == IS_TRUE || t == IS_FALSE) return apply(b, env, n->kid[t == IS_TRUE ? 0 : 2], args, over, span);
    if (t == IS_DYNAMIC) diag_error(b->w->diags, n->kid[1]->span, "which box is used must be decided before anything runs: by sizes, options or `training`");
    return value_error(b, span);
  }
  case N_ERROR: return value_error(b, span);
  default: break;
  }
  Id e = diag_error(b->w->diags, n->span, "a box is wanted here, and this is a value");
  const Node *name = n->kind == N_CALL ? n->kid[0] : n;
  Def *d = name->kind == N_NAME ? scope_find(env->scope, name->name) : NULL;
  if (n->kind == N_CALL && d && d->kind == DEF_BOX && d->node->kid[0]) diag_help(b->w->diags, e, "options stand in brackets: `%s[…]`", name_text(b->w->names, name->name));
  else diag_help(b->w->diags, e, "a value goes into a box as `f(x)`");
  return value_error(b, span);
}

// f(a, b: x): arguments by name go where the header has them.
static bool order_args(Body *b, Env *env, const Node *callee, const Node *call, Value *out) {
  World *w = b->w;
  bool named = false;
  for (uint32_t i = 1; i < call->nkid; i++) named |= call->kid[i]->kind == N_ARG;
  if (!named) return true;
  const Node *name = callee->kind == N_AT ? callee->kid[0] : callee;
  Def *d = name->kind == N_NAME ? scope_find(env->scope, name->name) : NULL;
  Header h = d && (d->kind == DEF_BOX || d->kind == DEF_LEARNER) ? header_of(d) : (Header){0};
  if (!h.params || h.params->nkid != call->nkid - 1) {
    diag_error(w->diags, call->span, "arguments by name need a box whose inputs have names, each given once");
    return false;
  }
  Value ordered = {.n = call->nkid - 1, .at = NEW_ARRAY(w->arena, Val, call->nkid - 1)};
  bool *filled = NEW_ARRAY(w->arena, bool, call->nkid);
  for (uint32_t i = 1; i < call->nkid; i++) {
    uint32_t at = i - 1;
    if (call->kid[i]->kind == N_ARG)
      for (at = 0; at < h.params->nkid && h.params->kid[at]->name != call->kid[i]->name;) at++;
    if (at >= h.params->nkid || filled[at] || out->n != ordered.n) {
      bool known = at < h.params->nkid;
      Buf all = buf_new(w->arena);
      for (uint32_t k = 0; k < h.params->nkid; k++) buf_printf(&all, "%s%s", k ? ", " : "", name_text(w->names, h.params->kid[k]->name));
      Id e = diag_error(w->diags, call->kid[i]->span, known ? "input `%s` of `%s` is given twice" : "there is no input `%s` of `%s`", name_text(w->names, known ? h.params->kid[at]->name : call->kid[i]->name), name_text(w->names, d->name));
      diag_help(w->diags, e, "its inputs are %s", all.at);
      diag_note(w->diags, e, d->span, "declared here");
      return false;
    }
    filled[at] = true;
    ordered.at[at] = out->at[i - 1];
  }
  *out = ordered;
  return true;
}

Value apply_call(Body *b, Env *env, const Node *callee, const Node *call, const Node *over) {
  Value args = eval_args(b, env, call, NULL);
  for (uint32_t i = 0; i < args.n; i++)
    if (args.at[i].error) {
      if (callee->kind == N_NAME && !env_find(env, callee->name)) { // still say so if the box is unknown
        Def *d = scope_find(env->scope, callee->name);
        bool nodes;
        if (d) d->used = true;
        else if (!builtin_find(callee->name, b->w, &nodes) && fn_find(name_text(b->w->names, callee->name)) == FN_COUNT) unknown_name(b, env, callee, "box");
      }
      return value_error(b, call->span);
    }
  if (!order_args(b, env, callee, call, &args)) return value_error(b, call->span);
  bool simple = callee->kind == N_NAME || callee->kind == N_AT;
  if (simple) {
    const Node *name = callee->kind == N_AT ? callee->kid[0] : callee;
    if (name->kind == N_NAME) return apply_name(b, env, name, callee->kind == N_AT ? callee->kid[1] : NULL, args, over, call->span, call);
  }
  return apply(b, env, callee, args, over, call->span);
}

static int arity_in_chain(Body *b, Env *env, const Node *n) {
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
  if (bind && bind->kind == BIND_OPTION && bind->box.node) return arity_of(b, bind->box.env, bind->box.node);
  const Def *d = bind && bind->kind == BIND_LEARNER ? bind->def : bind ? NULL : scope_find(env->scope, n->name);
  if (!d) {
    Fn fn = bind ? FN_COUNT : fn_find(name_text(b->w->names, n->name));
    return fn == FN_COUNT ? 1 : (int)fn_rows[fn].arity;
  }
  if (d->kind != DEF_BOX && !is_learner(d)) return -1;
  Header h = header_of(d);
  Formals f = {0};
  bool good;
  b->w->diags->muted++;
  bool typed = header_formals(b, env_new(b->in, bind && bind->home ? bind->home->env : NULL, h.scope, b), &h, &f, &good);
  b->w->diags->muted--;
  if (typed) return (int)f.n;
  return h.body && h.body->kind != N_BLOCK ? arity_of(b, env_new(b->in, NULL, h.scope, b), h.body) : -1;
}

// A box without a header takes what the first box in it takes, which may have none either, and so on.
int arity_of(Body *b, Env *env, const Node *n) {
  if (b->in->chain >= CHAIN_LIMIT || !work_on(b, 1, n->span)) return -1;
  b->in->chain++;
  int n_in = arity_in_chain(b, env, n);
  b->in->chain--;
  return n_in;
}

// -- a box or learner for itself ------------------------------------------------------------------
// The declared types of a box's inputs. A box without a header has those of the first box in it.
static bool formals_in_chain(Body *b, Env *env, const Node *n, Types *out) {
  while (n->kind == N_PAREN || n->kind == N_PIPE || n->kind == N_FAN || n->kind == N_POW) n = n->kid[0];
  const Node *config = n->kind == N_AT ? n->kid[1] : NULL;
  if (n->kind == N_AT) n = n->kid[0];
  if (n->kind != N_NAME) return false;
  Binding *bind = env_find(env, n->name);
  if (bind && bind->kind == BIND_OPTION && bind->box.node) return box_formals(b, bind->box.env, bind->box.node, out);
  Def *d = bind && bind->kind == BIND_LEARNER ? (Def *)bind->def : bind ? NULL : scope_find(env->scope, n->name);
  if (!d || (d->kind != DEF_BOX && d->kind != DEF_LEARNER)) return false;
  Header h = header_of(d);
  Formals f = {0};
  bool good;
  Env *inner = env_new(b->in, bind ? bind->home->env : NULL, h.scope, b);
  if (!bind_options(b, env, d, &h, d->kind == DEF_LEARNER ? NULL : config, inner, true, n->span)) return false;
  if (!header_formals(b, inner, &h, &f, &good)) return h.body && h.body->kind != N_BLOCK && box_formals(b, inner, h.body, out);
  for (uint32_t i = 0; good && i < f.n; i++) {
    if (f.at[i].fixed) vec_push(b->w->arena, out, f.at[i].known);
    else good = f.at[i].type && types_eval(b, inner, f.at[i].type, true, out, NULL);
  }
  return good;
}

bool box_formals(Body *b, Env *env, const Node *n, Types *out) {
  if (b->in->chain >= CHAIN_LIMIT) return false;
  b->in->chain++;
  bool good = formals_in_chain(b, env, n, out);
  b->in->chain--;
  return good;
}

Body *instance_alone(Infer *in, Def *d, const char *family, const Node *config, const Instance *how) {
  World *w = in->w;
  Body *b = NEW(w->arena, Body);
  b->in = in;
  b->w = w;
  b->generic = !how || !how->nin;
  Header h = header_of(d);
  Env *env = env_new(in, NULL, d->scope, b);
  Call c = {.b = b, .env = env, .def = d, .h = &h, .span = d->span};
  c.to = env_new(in, NULL, h.scope, NULL);
  Formals formals = {0};
  bool good = true;
  if (!bind_options(b, env, d, &h, config, c.to, true, d->span)) return NULL;
  bool typed = header_formals(b, c.to, &h, &formals, &good);
  const Def *real = d->kind == DEF_STALE ? d->of : d;
  if (is_learner(d) && real && real->refined && real->node->kid[2] && !formals.n) {
    Header declared = h;
    declared.params = real->node->kid[2];
    typed = header_formals(b, c.to, &declared, &formals, &good);
  }
  if (!good) return NULL;
  if (!typed) {
    int n = h.body && h.body->kind != N_BLOCK ? arity_of(b, c.to, h.body) : -1;
    if (n < 0 && !(how && how->nin)) return NULL;
    Types types = {0};
    if (!(how && how->nin) && (!box_formals(b, c.to, h.body, &types) || types.n != (uint32_t)n)) return NULL;
    for (uint32_t i = 0; i < types.n; i++) vec_push(w->arena, &formals, (Formal){.known = types.at[i], .fixed = true, .span = d->span});
    for (uint32_t i = 0; how && i < how->nin; i++) vec_push(w->arena, &formals, (Formal){.span = d->span});
  }
  Inputs inputs = {NEW_ARRAY(w->arena, Type, formals.n), formals.n};
  if (how && how->nin) {
    if (how->nin != formals.n && typed) {
      diag_error(w->diags, d->span, "`%s` takes %u %s, but %u %s given", name_text(w->names, d->name), formals.n, formals.n == 1 ? "input" : "inputs", how->nin, how->nin == 1 ? "is" : "are");
      return NULL;
    }
    // as a call with wires of these types
    Body *caller = body_new(in, d->name);
    Value args = {.n = how->nin, .at = NEW_ARRAY(w->arena, Val, how->nin)};
    for (uint32_t i = 0; i < how->nin; i++) {
      Name name = i < formals.n ? formals.at[i].name : 0;
      args.at[i] = val_wire(caller, diagram_input(w, caller->d, how->in[i], name, 0), d->span);
    }
    caller->env = env_new(in, NULL, d->scope, caller);
    Value out = call_def(caller, caller->env, d, NULL, family, config, args, NULL, d->span, d->node, d->name);
    for (uint32_t i = 0; i < out.n; i++) {
      Id wire = out.at[i].error ? 0 : val_to_wire(caller, &out.at[i], 0);
      if (!wire) return NULL;
      diagram_output(w, caller->d, wire);
    }
    body_finish(caller);
    return caller;
  }
  for (uint32_t i = 0; i < formals.n; i++) {
    Types t = {0};
    if (formals.at[i].fixed) vec_push(w->arena, &t, formals.at[i].known);
    else if (formals.at[i].type && !types_eval(b, c.to, formals.at[i].type, true, &t, NULL)) return NULL;
    if (t.n != 1) return NULL;
    inputs.in[i] = t.at[0];
  }
  return instance(&c, NULL, family, &formals, &inputs, true);
}
