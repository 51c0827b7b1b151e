// Options: the brackets of a box. Each is a size, a number, a text, a label, a spread of axes, or a
// box; the syntax decides which.
#include "base/diag.h"
#include "base/names.h"
#include "lang/elab/call.h"
#include "lang/value/domain.h"

#include <math.h>

// The only item of (f), otherwise the node itself.
static const Syntax *in_group(const Syntax *n) {
  const Syntax *slot = n->kind == N_GROUP ? nodes_only(group_slots(n)) : NULL;
  const Syntax *only = slot ? nodes_only(syntax_parts(slot)) : NULL;
  return only ? only : n;
}

static bool is_size_like(Body *b, Env *env, const Syntax *n) {
  switch (n->kind) {
  case N_NUM: return true;
  case N_NAME: {
    Binding *bind = env_meaning(env, n);
    if (bind) return bind->size != 0 || bind->has_number;
    Def *d = scope_meaning(env->scope, n);
    double k;
    return (d && d->kind == DEF_AXIS) || static_number(b, env, n, &k);
  }
  case N_PAREN:
  case N_NEG:
  case N_SUM:
  case N_PROD:
  case N_POW:
    for (uint32_t i = 0; i < syntax_parts(n).n; i++)
      if (!is_size_like(b, env, syntax_parts(n).at[i])) return false;
    return true;
  case N_GROUP: return in_group(n) != n && is_size_like(b, env, in_group(n));
  case N_AT:
    return at_base(n)->kind == N_NAME &&
           strcmp(name_text(b->w->names, at_base(n)->name), "size") == 0;
  default: return false;
  }
}

static void option_size(Body *b, Env *env, const Syntax *n, Binding *out) {
  double k;
  out->has_number = static_number(b, env, n, &k);
  if (out->has_number) out->number = k;
  if (out->has_number && (!(fabs(k) < 9e15) || k != (double)(int64_t)k))
    return; // 0.5: a number, not a size
  out->size = out->has_number ? size_of(b->w, (int64_t)k) : size_eval(b, env, n, false);
}

static bool option_item(Body *b, Env *env, const Syntax *n, Binding *out) {
  *out = (Binding){.kind = BIND_OPTION, .span = n->span};
  if (n->kind == N_STR) {
    out->text = n->text;
    return true;
  }
  if (n->kind == N_NAME) {
    Binding *bind = env_meaning(env, n);
    out->label = n->name;
    if (bind && bind->kind == BIND_OPTION) {
      *out = *bind; // including the position where its value is written
      if (bind->open) out->span = n->span;
      out->label = n->name;
      if (bind->box.node) out->box = (Closure){n, env}; // resolved through this environment
      return true;
    }
    if (bind && (bind->kind == BIND_VALUE || bind->kind == BIND_STATE)) {
      Id e = diag_error(b->w->diags, n->span,
                        "`%s` is a wire; brackets hold what is fixed before anything runs",
                        name_text(b->w->names, n->name));
      return diag_help(b->w->diags, e, "wires go in parentheses");
    }
    out->decl = bind ? bind->decl : 0;
    Def *d = bind ? NULL : scope_meaning(env->scope, n);
    if (d && d->kind == DEF_AXIS) out->decl = d->id;
    if (is_box(b, env, n) || (d && d->kind == DEF_MACHINE))
      out->box = (Closure){n, bind ? env : scope_env(env->scope)}, out->label = 0;
  } else if (n->kind == N_SIZED) { // an axis with label and size
    out->label = n->name;
    option_size(b, env, sized_value(n), out);
    return out->size != 0;
  }
  if (is_size_like(b, env, n))
    option_size(b, env, n, out);
  else if (n->kind != N_NAME)
    out->box = (Closure){in_group(n), env};
  return true;
}

// dense[Code]: the axes of a point of that space, open or not.
static bool space_axes(Body *b, Def *d, Span span, Axis *axis, uint32_t *n) {
  World *w = b->w;
  Types point = {0};
  d->used = true;
  if (d->broken || !space_points(b->in, d, &point)) return false;
  if (point.n != 1)
    return diag_refuse(w->diags, span, "the axes of one wire are wanted here, but `%s` is %u wires",
                       name_text(w->names, d->name), point.n);
  if (!rank_fits(w, (uint64_t)*n + point.at[0].rank, span)) return false;
  for (uint32_t i = 0; i < point.at[0].rank; i++) axis[(*n)++] = point.at[0].axis[i];
  return true;
}

static Def *space_named(Env *env, const Syntax *n) {
  Def *d = n->kind == N_NAME && !env_meaning(env, n) ? scope_meaning(env->scope, n) : NULL;
  return d && d->kind == DEF_SPACE ? d : NULL;
}

// conv[...o]: a spread of axes, each with a label of its own.
static bool option_spread(Body *b, Env *env, const Syntax *items, Binding *out) {
  World *w = b->w;
  Axis axis[RANK_LIMIT];
  uint32_t n = 0;
  *out = (Binding){.kind = BIND_SPREAD, .span = items->span};
  for (uint32_t i = 0; i < items_in(items).n; i++) {
    const Syntax *item = items_in(items).at[i];
    if (item->kind == N_SPREAD) {
      Binding *s = env_meaning(env, item);
      if (!s || s->kind != BIND_SPREAD)
        return diag_refuse(w->diags, item->span, "`...%s` is not a row of axes here",
                           name_text(w->names, item->name));
      if (!rank_fits(w, (uint64_t)n + s->naxis, item->span)) return false;
      for (uint32_t k = 0; k < s->naxis; k++) axis[n++] = s->axis[k];
      continue;
    }
    Def *space = space_named(env, item);
    if (space) {
      if (!space_axes(b, space, item->span, axis, &n)) return false;
      continue;
    }
    Binding one;
    if (!option_item(b, env, item, &one)) return false;
    if (!one.size) {
      if (one.open)
        one.size = size_var(w, one.label, VAR_LOCAL, item->span);
      else if (one.has_number) {
        return diag_refuse(w->diags, item->span, "a size is a whole number, and this is %g",
                           one.number);
      } else if (!one.box.node && one.label) {
        Def *d = scope_meaning(env->scope, item);
        if (d && !d->broken)
          diag_error(w->diags, item->span, "a size is wanted here, and `%s` is not one",
                     name_text(w->names, item->name));
        else if (!d)
          unknown_name(b, env, item, "size");
        return false;
      } else {
        return diag_refuse(w->diags, item->span,
                           one.box.node ? "a size is wanted here, and this is a box"
                                        : "a size is wanted here");
      }
    }
    int64_t v;
    if (size_value(w, one.size, &v) && v <= 0)
      return diag_refuse(w->diags, item->span,
                         "an axis has at least one place, but this size is %lld", (long long)v);
    if (!rank_fits(w, (uint64_t)n + 1, item->span)) return false;
    axis[n++] = (Axis){.label = item->kind == N_NAME || item->kind == N_SIZED ? one.label : 0,
                       .size = one.size,
                       .decl = one.decl};
  }
  out->naxis = n;
  out->axis = arena_copy(w->arena, axis, n * sizeof(Axis));
  return true;
}

// Binds a spread: inside, its axes are name_0, name_1, …
void bind_spread(Env *env, World *w, Name name, Binding s) {
  Axis *inner = arena_copy(w->arena, s.axis, s.naxis * sizeof(Axis));
  for (uint32_t i = 0; i < s.naxis; i++) {
    Name label = name_from(w->names, arena_format(w->arena, "%s_%u", name_text(w->names, name), i));
    env_bind(env, label,
             (Binding){.kind = BIND_SIZE,
                       .size = s.axis[i].size,
                       .label = s.axis[i].label,
                       .decl = s.axis[i].decl,
                       .span = s.span});
    inner[i].label = label;
    inner[i].decl = 0;
  }
  s.axis = inner;
  env_bind(env, name, s);
}

const Syntax *cfg_named(const Syntax *cfg, Name name, uint32_t *at) {
  for (uint32_t i = 0; cfg && i < cfg_in(cfg).n; i++)
    if (cfg_in(cfg).at[i]->name == name) {
      *at = i;
      return cfg_in(cfg).at[i];
    }
  return NULL;
}

static bool along_an_axis(const Header *h, Name name) { // the option names an axis of a parameter
  for (uint32_t i = 0; h->params && i < params_in(h->params).n; i++) {
    const Syntax *type = param_type(params_in(h->params).at[i]);
    const Syntax *items = type ? brackets_first(type_brackets(type)) : NULL;
    for (uint32_t k = 0; items && k < items_in(items).n; k++)
      if (items_in(items).at[k]->kind == N_NAME && items_in(items).at[k]->name == name) return true;
  }
  return false;
}

static void list_options(Body *b, const Def *d, const Syntax *cfg, Name wrong, Id e) {
  Buf text = buf_new(b->w->arena);
  Nearest near = nearest_to(name_text(b->w->names, wrong));
  for (uint32_t i = 0; cfg && i < cfg_in(cfg).n; i++)
    nearest_try(&near, name_text(b->w->names, cfg_in(cfg).at[i]->name));
  if (near.best) buf_printf(&text, "did you mean `%s`? ", near.best);
  buf_printf(&text, cfg && cfg_in(cfg).n == 1 ? "its option is " : "its options are ");
  for (uint32_t i = 0; cfg && i < cfg_in(cfg).n; i++)
    buf_printf(&text, "%s%s%s", i ? ", " : "", cfgpar_is_spread(cfg_in(cfg).at[i]) ? "..." : "",
               name_text(b->w->names, cfg_in(cfg).at[i]->name));
  if (cfg && cfg_in(cfg).n == 1 && cfgpar_is_spread(cfg_in(cfg).at[0]) && !wrong)
    diag_help(b->w->diags, e, "more axes are separated by spaces: `%s[3 4]`",
              name_text(b->w->names, d->name));
  else if (cfg && cfg_in(cfg).n)
    diag_help(b->w->diags, e, "%s", text.at);
  diag_note(b->w->diags, e, d->span, "declared here");
}

// Assigns the written options to the parameters.
static bool match_options(Body *b, const Def *d, const Syntax *cfg, const Syntax *config,
                          const Syntax **given) {
  World *w = b->w;
  const char *name = name_text(w->names, d->name);
  uint32_t next = 0, count = cfg ? cfg_in(cfg).n : 0;
  for (uint32_t i = 0; config && i < brackets_slots(config).n; i++) {
    const Syntax *items = brackets_slots(config).at[i];
    uint32_t at = next;
    const Syntax *sized = slot_item(items)->kind == N_SIZED ? slot_item(items) : NULL;
    bool named = sized && cfg_named(cfg, sized->name, &at);
    if (!named) {
      if (sized && !(next < count && cfgpar_is_spread(cfg_in(cfg).at[next]))) {
        Id e = diag_error(w->diags, items->span, "`%s` has no option `%s`", name,
                          name_text(w->names, sized->name));
        list_options(b, d, cfg, sized->name, e);
        return false;
      }
      at = next++;
    }
    if (at >= count) {
      if (is_learner(d)) {
        Id e = diag_error(w->diags, items->span,
                          "`%s` is one learner, not a family: it takes no brackets", name);
        return diag_note(w->diags, e, d->span, "declared here");
      }
      Id e =
          diag_error(w->diags, items->span, count ? "`%s` has only %u %s" : "`%s` has no options",
                     name, count, count == 1 ? "option" : "options");
      list_options(b, d, cfg, 0, e);
      return false;
    }
    if (given[at]) {
      Id e = diag_error(w->diags, items->span, "option `%s` of `%s` is given twice",
                        name_text(w->names, cfg_in(cfg).at[at]->name), name);
      return diag_note(w->diags, e, given[at]->span, "here first");
    }
    if (named) use_of_name(b->in, sized, cfg_in(cfg).at[at]->name_span, NAMED_OPTION);
    given[at] = named ? sized_value(sized) : items;
  }
  return true;
}

static bool is_new_option(const Call *c, uint32_t i) {
  World *w = c->b->w;
  Nodes par = cfg_in(c->h->cfg);
  for (uint32_t k = 0; k < i; k++)
    if (par.at[k]->name == par.at[i]->name) {
      Id e = diag_error(w->diags, par.at[i]->name_span, "there are two options `%s`",
                        name_text(w->names, par.at[i]->name));
      return diag_note(w->diags, e, par.at[k]->name_span, "the other one");
    }
  return true;
}

// Generic elaboration: the option is a size variable.
static void bind_open(const Call *c, const Syntax *par) {
  World *w = c->b->w;
  Size size = size_var(w, par->name, VAR_LOCAL, par->span);
  if (cfgpar_is_spread(par)) {
    Axis one = {.label = par->name, .size = size};
    bind_spread(c->to, w, par->name,
                (Binding){.kind = BIND_SPREAD,
                          .naxis = 1,
                          .axis = arena_copy(w->arena, &one, sizeof one),
                          .named = par->name_span,
                          .span = par->span});
    return;
  }
  env_bind(c->to, par->name,
           (Binding){.kind = BIND_OPTION,
                     .open = true,
                     .size = size,
                     .label = par->name,
                     .span = par->span,
                     .named = par->name_span});
}

static void report_missing(const Call *c, const Syntax *par, bool first) {
  World *w = c->b->w;
  const char *box = name_text(w->names, c->def->name), *name = name_text(w->names, par->name);
  Id e = diag_error(w->diags, c->span, "`%s` wants its option `%s`", box, name);
  if (first)
    diag_help(w->diags, e, "for example `%s[8]`", box);
  else
    diag_help(w->diags, e, "for example `%s[%s: 8]`", box, name);
  diag_note(w->diags, e, c->def->span, "declared here");
}

static void report_several(const Call *c, const Syntax *par, const Syntax *items) {
  World *w = c->b->w;
  Nodes item = items_in(items);
  uint32_t at;
  Id e = diag_error(w->diags, items->span, "option `%s` wants one thing, but %u are given",
                    name_text(w->names, par->name), item.n);
  if (item.n && item.at[0]->kind == N_NAME && cfg_named(c->h->cfg, item.at[0]->name, &at))
    diag_help(w->diags, e, "an option is given by name with a colon: `%s: …`",
              name_text(w->names, item.at[0]->name));
  else
    diag_help(w->diags, e, "options are separated by commas; a space makes one more axis");
}

// ...o: a spread
static bool bind_row(const Call *c, const Syntax *par, const Syntax *text, bool given) {
  World *w = c->b->w;
  Binding bind = {.kind = BIND_OPTION, .span = par->span};
  if (text->kind != N_ITEMS)
    text = node_items(w->arena, text->span, (ItemsParts){NODES((Syntax *)text)});
  if (!option_spread(c->b, given ? c->env : c->to, text, &bind)) return false;
  bind.by_default = !given;
  bind.named = par->name_span;
  bind_spread(c->to, w, par->name, bind);
  return true;
}

static bool bind_one(const Call *c, const Syntax *par, const Syntax *text, bool given) {
  Binding bind = {.kind = BIND_OPTION, .span = par->span};
  if (text->kind == N_ITEMS && items_in(text).n != 1) {
    report_several(c, par, text);
    return false;
  }
  const Syntax *one = text->kind == N_ITEMS ? items_in(text).at[0] : text;
  if (!option_item(c->b, given ? c->env : c->to, one, &bind)) return false;
  bind.by_default = !given && !bind.open;
  bind.named = par->name_span;
  env_bind(c->to, par->name, bind);
  return true;
}

// Binds option i; `given`: as written in the call, or NULL.
static bool bind_option(const Call *c, const Syntax *config, uint32_t i, const Syntax *given,
                        bool generic) {
  const Syntax *par = cfg_in(c->h->cfg).at[i], *text = given ? given : cfgpar_value(par);
  bool spread = cfgpar_is_spread(par);
  if (!is_new_option(c, i)) return false;
  if (text) return spread ? bind_row(c, par, text, given) : bind_one(c, par, text, given);
  if (spread && config && !brackets_slots(config).n) { // dense[]: no axes
    bind_spread(c->to, c->b->w, par->name,
                (Binding){.kind = BIND_SPREAD, .span = config->span, .named = par->name_span});
    return true;
  }
  if (generic) {
    bind_open(c, par);
    return true;
  }
  if (along_an_axis(c->h, par->name)) return true; // defaults to the last axis
  report_missing(c, par, i == 0);
  return false;
}

bool bind_options(const Call *c, const Syntax *config, bool generic) {
  const Syntax *given[OPTIONS_LIMIT] = {NULL}, *cfg = c->h->cfg;
  uint32_t n = cfg ? cfg_in(cfg).n : 0;
  if (n > OPTIONS_LIMIT)
    return diag_refuse(c->b->w->diags, cfg->span, "more than %d options", OPTIONS_LIMIT);
  if (!match_options(c->b, c->def, cfg, config, given)) return false;
  for (uint32_t i = 0; i < n; i++)
    if (!bind_option(c, config, i, given[i], generic)) return false;
  return !cfg || domains_hold(c->b, c->to, call_name(c), cfg_in(cfg), given, generic);
}
