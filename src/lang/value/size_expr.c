// Elaborates sizes, axes and types, and evaluates constant expressions.

#include "base/diag.h"
#include "base/names.h"
#include "base/number.h"
#include "base/table.h"
#include "core/diagram/ops.h"
#include "lang/value/value.h"
#include <math.h>
#include <stdlib.h>

// -- unification ----------------------------------------------------------------------------------
// Unifies two sizes. An equation that cannot be solved yet is stored and checked again at the end.
bool sizes_agree(Body *b, Size left, Size right, Span span, Span other, const char *what) {
  SizeAnswer answer = size_equate(b->w, left, right, b->generic);
  if (answer == SIZES_CLASH) {
    clash_note(b, (Axis){.size = left}, (Axis){.size = right});
    return false;
  }
  if (answer == SIZES_OPEN && !b->generic)
    vec_push(b->w->arena, &b->in->open, (OpenEquation){left, right, span, other, what});
  return true;
}

// -- axes declared in a file ----------------------------------------------------------------------
static const char *setting_of(Elab *in, Name name) {
  const char *text = name_text(in->w->names, name);
  Id id = table_get(in->sets, text, strlen(text));
  return id ? in->set_value.at[id - 1] : NULL;
}

// The largest integer range that a double holds exactly.
static const int64_t size_most = (int64_t)1 << 53;

static bool is_size(double k) { return k == floor(k) && fabs(k) <= (double)size_most; }

static Size size_from_text(Elab *in, const char *text) {
  char *end;
  long long v = strtoll(text, &end, 10); // strtoll saturates on overflow
  return *end || v <= 0 || v > size_most ? 0 : size_of(in->w, v);
}

static void size_is_no_size(World *w, Span span, double k) {
  char text[NUMBER_ROOM];
  number_print(text, k);
  if (k != floor(k))
    diag_error(w->diags, span, "a size is a whole number, and this is %s", text);
  else
    diag_error(w->diags, span, "this size is too large: %s, and the largest is %lld", text,
               (long long)size_most);
}

static bool computed_too_large(World *w, Size s, Span span) {
  if (!size_too_large(w, s)) return false;
  diag_error(w->diags, span, "this size is too large: sizes are counted up to %lld",
             (long long)INT64_MAX);
  return true;
}

Size axis_size(Elab *in, Def *d) {
  World *w = in->w;
  if (d->size) return d->size;
  const char *set = d->scope->library && d->scope == in->scope.at[in->scope.n > 1 ? 1 : 0]
                        ? setting_of(in, d->name)
                        : NULL;
  if (set) {
    d->size = size_from_text(in, set);
    if (!d->size)
      diag_error(w->diags, d->span, "`--set %s=%s`: a size is a whole number from 1 to %lld",
                 name_text(w->names, d->name), set, (long long)size_most);
  } else if (d->busy) {
    diag_error(w->diags, d->span, "the size of axis %s depends on itself",
               name_text(w->names, d->name));
  } else if (in->chain >= CHAIN_LIMIT) {
    diag_error(w->diags, d->span, "the size of axis %s is reached through more than %d others",
               name_text(w->names, d->name), CHAIN_LIMIT);
  } else if (axis_length(d->node)) {
    d->busy = true;
    in->chain++;
    Body b = {.in = in, .w = w};
    d->size = size_eval(&b, env_new(in, NULL, d->scope, &b), axis_length(d->node), false);
    in->chain--;
    d->busy = false;
    int64_t v;
    double number;
    if (d->size && computed_too_large(w, d->size, axis_length(d->node)->span)) d->size = 0;
    if (d->size && size_number(w, d->size, &number) && (!size_value(w, d->size, &v) || v <= 0)) {
      diag_error(w->diags, axis_length(d->node)->span,
                 "an axis has a whole number of places, at least 1; this is %s",
                 size_text(w, d->size));
      d->size = 0;
    }
  }
  if (!d->size) d->size = size_var(w, d->name, VAR_AXIS, d->span);
  return d->size;
}

// -- sizes ----------------------------------------------------------------------------------------
static Size const_size(Body *b, Def *d) {
  const Syntax *value = typed_value(d->node);
  double k;
  if (d->busy) return 0;
  d->busy = true;
  b->in->chain++;
  bool good =
      value && b->in->chain < CHAIN_LIMIT && scope_number(b->in, d->scope, value, &k) && is_size(k);
  b->in->chain--;
  d->busy = false;
  return good ? size_of(b->w, (int64_t)k) : 0;
}

static Size name_size(Body *b, Env *env, const Syntax *n, bool declare) {
  World *w = b->w;
  Binding *bind = env_meaning(env, n);
  if (bind) {
    if (bind->size) return bind->size;
    if (bind->kind == BIND_OPTION && bind->has_number) {
      if (is_size(bind->number)) return size_of(w, (int64_t)bind->number);
      size_is_no_size(w, n->span, bind->number);
      return 0;
    }
    if (bind->kind == BIND_VALUE || bind->kind == BIND_STATE) {
      Id e = diag_error(w->diags, n->span, "`%s` is a wire; a size is wanted here",
                        name_text(w->names, n->name));
      diag_note(w->diags, e, bind->span, "`%s` comes from here", name_text(w->names, n->name));
    } else {
      diag_error(w->diags, n->span, "`%s` is not a size", name_text(w->names, n->name));
    }
    return 0;
  }
  Def *d = scope_meaning(env->scope, n);
  if (d && d->kind == DEF_AXIS) {
    d->used = true;
    return axis_size(b->in, d);
  }
  if (d && d->kind == DEF_CONST) {
    Size s = d->broken ? 0 : const_size(b, d);
    double k;
    if (s || d->broken) return s;
    bool large = static_number(b, env, n, &k) && k == floor(k);
    Id e = diag_error(w->diags, n->span, "`%s` is %s, so it cannot be a size",
                      name_text(w->names, n->name), large ? "too large" : "not a whole number");
    diag_note(w->diags, e, d->span, "declared here");
    return 0;
  }
  if (declare) {
    Size s = size_var(w, n->name, VAR_LOCAL, n->span);
    env_bind(env, n->name, (Binding){.kind = BIND_SIZE, .size = s, .span = n->span});
    return s;
  }
  if (d && d->broken) return 0;
  if (d) {
    Id e = diag_error(w->diags, n->span, "`%s` is not a size", name_text(w->names, n->name));
    diag_note(w->diags, e, d->span, "declared here");
  } else
    unknown_name(b, env, n, "size");
  return 0;
}

static Size chain_size(Body *b, Env *env, const Syntax *n, bool declare) {
  World *w = b->w;
  Nodes term = chain_terms(n);
  Size s = size_eval(b, env, term.at[0], declare);
  for (uint32_t i = 1; s && i < term.n; i++) {
    Size right = size_eval(b, env, term.at[i], declare);
    if (!right) return 0;
    switch (chain_sign(n, i)) {
    case SIGN_PLUS: s = size_add(w, s, right); break;
    case SIGN_MINUS: s = size_sub(w, s, right); break;
    case SIGN_TIMES: s = size_mul(w, s, right); break;
    case SIGN_DIVIDE: s = size_quotient(w, s, right); break;
    default: s = size_floor(w, s, right); break;
    }
    if (!s) diag_error(w->diags, term.at[i]->span, "division by a size of 0");
  }
  return s;
}

// size[k]: the length of axis k, where a bare k would be an index
static Size sized_size(Body *b, Env *env, const Syntax *n, bool declare) {
  const Syntax *item = nodes_only(brackets_items(at_brackets(n)));
  if (at_base(n)->kind == N_NAME && at_base(n)->name == name_from(b->w->names, "size") && item)
    return size_eval(b, env, item, declare);
  diag_error(b->w->diags, n->span, "this is not a size");
  return 0;
}

Size size_eval(Body *b, Env *env, const Syntax *n, bool declare) {
  World *w = b->w;
  Size left, right;
  switch (n->kind) {
  case N_NUM:
    if (is_size(n->num)) return size_of(w, (int64_t)n->num);
    size_is_no_size(w, n->span, n->num);
    return 0;
  case N_NAME: return name_size(b, env, n, declare);
  case N_PAREN: return size_eval(b, env, paren_inner(n), declare);
  case N_GROUP:
  case N_ITEMS:
  case N_BRACKETS:
    if (nodes_only(syntax_parts(n))) return size_eval(b, env, nodes_only(syntax_parts(n)), declare);
    diag_error(w->diags, n->span, "one size is wanted here");
    return 0;
  case N_SUM:
  case N_PROD: return chain_size(b, env, n, declare);
  case N_NEG:
    left = size_eval(b, env, neg_operand(n), declare);
    return left ? size_sub(w, size_of(w, 0), left) : 0;
  case N_POW:
    left = size_eval(b, env, pow_base(n), declare);
    right = left ? size_eval(b, env, pow_exponent(n), declare) : 0;
    return right ? size_power(w, left, right) : 0;
  case N_AT: return sized_size(b, env, n, declare);
  case N_ERROR: return 0;
  case N_RANGE:
    diag_error(w->diags, n->span,
               "a size is wanted here, not a range; a run of axes has three dots, `...o`");
    return 0;
  default: diag_error(w->diags, n->span, "a size is wanted here"); return 0;
  }
}

// -- axes and types -------------------------------------------------------------------------------
static bool axis_sound(Body *b, Size s, Span span) {
  int64_t v;
  double number;
  World *w = b->w;
  if (computed_too_large(w, s, span)) return false;
  if (size_value(w, s, &v)) {
    if (v > 0) return true;
    return diag_refuse(w->diags, span, "an axis has at least one place, but this size is %lld",
                       (long long)v);
  }
  if (size_number(w, s, &number)) {
    Id e = diag_error(w->diags, span, "this size is a fraction, %s: `/` must divide exactly",
                      size_text(w, s));
    return diag_help(w->diags, e, "`//` rounds down");
  }
  return true;
}

static Id axis_decl(Env *env, Name name) {
  if (env_find(env, name)) return env_find(env, name)->decl;
  Def *d = scope_find(env->scope, name);
  return d && d->kind == DEF_AXIS ? d->id : 0;
}

// One item in the brackets of a type: an axis, or several for ...s.
static bool item_axes(Body *b, Env *env, const Syntax *n, bool declare, Axis *out,
                      uint32_t *count) {
  World *w = b->w;
  if (n->kind == N_SPREAD) {
    Binding *s = env_meaning(env, n);
    if (!s && declare) { // generic elaboration: one axis stands for all
      Axis *one = NEW(w->arena, Axis);
      *one = (Axis){.label = n->name, .size = size_var(w, n->name, VAR_LOCAL, n->span)};
      s = env_bind(env, n->name,
                   (Binding){.kind = BIND_SPREAD,
                             .naxis = 1,
                             .axis = one,
                             .span = n->span,
                             .named = n->name_span});
    }
    if (!s || s->kind != BIND_SPREAD)
      return diag_refuse(w->diags, n->span, "`...%s` is not a row of axes here",
                         name_text(w->names, n->name));
    if (!rank_fits(w, (uint64_t)*count + s->naxis, n->span)) return false;
    for (uint32_t i = 0; i < s->naxis; i++) out[(*count)++] = s->axis[i];
    return true;
  }
  Axis a = {0};
  if (n->kind == N_SIZED) {
    a.label = n->name;
    a.size = size_eval(b, env, sized_value(n), declare);
    Binding *known = env_meaning(env, n);
    if (a.size && declare && !known)
      env_bind(env, n->name,
               (Binding){.kind = BIND_SIZE,
                         .size = a.size,
                         .label = n->name,
                         .span = n->span,
                         .named = n->name_span});
  } else if (n->kind == N_GROUP) {
    Axis inner[RANK_LIMIT];
    uint32_t k = 0;
    for (uint32_t i = 0; i < group_slots(n).n; i++)
      for (uint32_t j = 0; j < items_in(group_slots(n).at[i]).n; j++)
        if (!item_axes(b, env, items_in(group_slots(n).at[i]).at[j], declare, inner, &k))
          return false;
    a.size = size_of(w, 1);
    for (uint32_t i = 0; i < k; i++) a.size = size_mul(w, a.size, inner[i].size);
  } else {
    if (n->kind == N_NAME) a.label = n->name, a.decl = axis_decl(env, n->name);
    a.size = size_eval(b, env, n, declare);
  }
  if (!a.size || !axis_sound(b, a.size, n->span)) return false;
  if (!rank_fits(w, (uint64_t)*count + 1, n->span)) return false;
  out[(*count)++] = a;
  return true;
}

uint32_t axes_eval(Body *b, Env *env, const Syntax *brackets, bool declare, Axis *out) {
  uint32_t n = 0;
  bool good = true;
  for (uint32_t i = 0; brackets && i < brackets_slots(brackets).n; i++) {
    if (i == 1) {
      Id e = diag_error(b->w->diags, brackets->span, "axes are separated by spaces");
      diag_help(b->w->diags, e, "`R[28 28]`, not `R[28, 28]`");
      return UINT32_MAX;
    }
    const Syntax *items = brackets_slots(brackets).at[i];
    if (items->kind != N_ITEMS) {
      diag_error(b->w->diags, items->span, "axes are wanted here");
      return UINT32_MAX;
    }
    for (uint32_t k = 0; k < items_in(items).n; k++)
      good &= item_axes(b, env, items_in(items).at[k], declare, out, &n);
  }
  return good ? n : UINT32_MAX;
}

static bool label_type(Body *b, Env *env, const Syntax *base, bool declare, Type *t) {
  World *w = b->w;
  t->base = BASE_LABEL;
  if (labels_in(base).n == 1) {
    t->count = size_eval(b, env, labels_in(base).at[0], declare);
    return t->count && axis_sound(b, t->count, base->span);
  }
  Ids names = {0};
  for (uint32_t i = 0; i < labels_in(base).n; i++) {
    if (labels_in(base).at[i]->kind != N_NAME)
      return diag_refuse(w->diags, labels_in(base).at[i]->span,
                         "labels are written by name: `{yes, no}`, or counted: `{10}`");
    vec_push(w->arena, &names, labels_in(base).at[i]->name);
  }
  for (Id i = 1; i < w->label_names.n; i++) {
    const Ids *old = &w->label_names.at[i];
    if (old->n == names.n && memcmp(old->at, names.at, names.n * sizeof(Id)) == 0) t->names = i;
  }
  if (!t->names) {
    vec_push(w->arena, &w->label_names, names);
    t->names = w->label_names.n - 1;
  }
  t->count = size_of(w, labels_in(base).n);
  return true;
}

// A point of an open space is a vector whose length is a fresh variable.
static Type open_point(World *w, Def *d) {
  if (!d->size) d->size = size_var(w, d->name, VAR_SPACE, d->span);
  return type_make(w, BASE_R, 1, &(Axis){.label = d->name, .size = d->size});
}

// Types in the scope of a file.
static bool scope_types(Elab *in, Scope *s, const Syntax *types, Types *out) {
  Body b = {.in = in, .w = in->w};
  return types_eval(&b, env_new(in, NULL, s, &b), types, false, out, NULL);
}

bool space_points(Elab *in, Def *d, Types *out) {
  const Syntax *types = space_types(d->node);
  if (types) return scope_types(in, d->scope, types, out);
  vec_push(in->w->arena, out, open_point(in->w, d));
  return true;
}

static bool types_of_space(Body *b, Def *d, Types *out) {
  if (d->busy) {
    diag_error(b->w->diags, d->span, "space %s is made of itself", name_text(b->w->names, d->name));
    d->broken = true;
  }
  if (d->broken) return false;
  uint32_t before = out->n;
  bool good = b->in->chain < CHAIN_LIMIT;
  if (!good)
    diag_error(b->w->diags, d->span, "space %s is reached through more than %d others",
               name_text(b->w->names, d->name), CHAIN_LIMIT);
  d->busy = true;
  b->in->chain++;
  good = good && space_points(b->in, d, out);
  b->in->chain--;
  d->busy = false;
  if (good && out->n - before > WIRES_LIMIT) {
    diag_error(b->w->diags, d->span, "space %s has more than %d wires",
               name_text(b->w->names, d->name), WIRES_LIMIT);
    good = false;
  }
  if (!good) d->broken = true;
  return good;
}

static bool named_type(Body *b, Env *env, const Syntax *n, bool declare, Types *out,
                       const Def **space) {
  World *w = b->w;
  const Syntax *base = type_base(n);
  const char *name = name_text(w->names, base->name);
  Def *d = scope_meaning(env->scope, base);
  if (d && d->kind == DEF_SPACE) {
    d->used = true;
    if (type_brackets(n))
      return diag_refuse(w->diags, type_brackets(n)->span, "space %s has its axes already", name);
    if (space_is_index(b->in, d->scope, space_types(d->node))) {
      Id e = diag_error(w->diags, base->span, "space %s is a set of data, not a type", name);
      return diag_note(w->diags, e, d->span, "declared here");
    }
    if (space) *space = d;
    return types_of_space(b, d, out);
  }
  if (strcmp(name, "R") != 0 && strcmp(name, "B") != 0) {
    if (d && d->broken) return false;
    if (d)
      diag_error(w->diags, base->span, "`%s` is not a type", name);
    else
      unknown_name(b, env, base, "type or space");
    return false;
  }
  if (!type_brackets(n))
    return diag_refuse(w->diags, n->span,
                       "`%s` wants its axes: `%s[]` for one number, `%s[28 28]` for a table", name,
                       name, name);
  Axis axis[RANK_LIMIT];
  uint32_t rank = axes_eval(b, env, type_brackets(n), declare, axis);
  if (rank == UINT32_MAX) return false;
  vec_push(w->arena, out, type_make(w, *name == 'R' ? BASE_R : BASE_BIT, rank, axis));
  return true;
}

static bool type_eval(Body *b, Env *env, const Syntax *n, bool declare, Types *out,
                      const Def **space) {
  const Syntax *base = type_base(n);
  if (base->kind == N_TYPES) return types_eval(b, env, base, declare, out, NULL);
  if (base->kind == N_NAME) return named_type(b, env, n, declare, out, space);
  if (base->kind == N_LABELS) {
    Type t = {0};
    Axis axis[RANK_LIMIT];
    bool good = label_type(b, env, base, declare, &t);
    uint32_t rank = axes_eval(b, env, type_brackets(n), declare, axis);
    if (!good || rank == UINT32_MAX) return false;
    vec_push(b->w->arena, out, type_like(b->w, &t, rank, axis));
    return true;
  }
  if (base->kind != N_ERROR)
    diag_error(b->w->diags, n->span, "a type is wanted here: `R[…]`, `{n}`, `B[…]` or a space");
  return false;
}

bool types_eval(Body *b, Env *env, const Syntax *n, bool declare, Types *out, const Def **space) {
  if (space) *space = NULL;
  if (n->kind == N_TYPE) return type_eval(b, env, n, declare, out, space);
  bool good = true;
  const Def *only = NULL;
  Nodes each = syntax_parts(n); // types, or parameters with types
  for (uint32_t i = 0; i < each.n; i++) {
    const Syntax *type = each.at[i]->kind == N_PARAM ? param_type(each.at[i]) : each.at[i];
    if (!type || type->kind == N_ERROR) return false;
    good &= type_eval(b, env, type, declare, out, each.n == 1 ? &only : NULL);
  }
  if (space) *space = only;
  return good;
}

// -- constant expressions -------------------------------------------------------------------------
static bool static_name(Body *b, Env *env, const Syntax *n, double *out) {
  Binding *bind = env_meaning(env, n);
  const char *text = name_text(b->w->names, n->name);
  if (bind) {
    if (bind->kind == BIND_VALUE || bind->kind == BIND_STATE) return false;
    if (bind->kind == BIND_OPTION && bind->has_number) {
      *out = bind->number;
      return true;
    }
    return bind->size && size_number(b->w, bind->size, out);
  }
  if (strcmp(text, "inf") == 0) {
    *out = INFINITY;
    return true;
  }
  Def *d = scope_meaning(env->scope, n);
  if (d && d->kind == DEF_AXIS) return size_number(b->w, axis_size(b->in, d), out);
  if (d && d->kind == DEF_CONST && typed_value(d->node) && !typed_type(d->node) && !d->busy) {
    if (d->has_number) *out = d->number;
    if (d->has_number || b->in->chain >= CHAIN_LIMIT) return d->has_number;
    d->busy = true;
    b->in->chain++;
    d->has_number = scope_number(b->in, d->scope, typed_value(d->node), out);
    d->number = *out;
    b->in->chain--;
    d->busy = false;
    return d->has_number;
  }
  return false;
}

static bool static_chain(Body *b, Env *env, const Syntax *n, double *out) {
  Nodes term = chain_terms(n);
  if (!static_number(b, env, term.at[0], out)) return false;
  for (uint32_t i = 1; i < term.n; i++) {
    double k;
    if (!static_number(b, env, term.at[i], &k)) return false;
    switch (chain_sign(n, i)) {
    case SIGN_PLUS: *out += k; break;
    case SIGN_MINUS: *out -= k; break;
    case SIGN_TIMES: *out *= k; break;
    case SIGN_DIVIDE: *out /= k; break;
    default: *out = floor(*out / k); break;
    }
  }
  return true;
}

bool static_number(Body *b, Env *env, const Syntax *n, double *out) {
  double k;
  switch (n->kind) {
  case N_NUM: *out = n->num; return true;
  case N_NAME: return static_name(b, env, n, out);
  case N_PAREN: return static_number(b, env, paren_inner(n), out);
  case N_ITEMS:
  case N_GROUP:
    return nodes_only(syntax_parts(n)) && static_number(b, env, nodes_only(syntax_parts(n)), out);
  case N_SUM:
  case N_PROD: return static_chain(b, env, n, out);
  case N_NEG:
    if (!static_number(b, env, neg_operand(n), out)) return false;
    *out = -*out;
    return true;
  case N_POW:
    if (!static_number(b, env, pow_base(n), out) || !static_number(b, env, pow_exponent(n), &k))
      return false;
    *out = pow(*out, k);
    return true;
  case N_CALL: {
    Fn fn = call_args(n).n == 1 && call_callee(n)->kind == N_NAME
                ? fn_find(name_text(b->w->names, call_callee(n)->name))
                : FN_COUNT;
    if (fn == FN_COUNT || fn_rows[fn].arity != 1 || strcmp(fn_rows[fn].sig, "R>R") != 0 ||
        !static_number(b, env, call_args(n).at[0], &k))
      return false;
    *out = fn_rows[fn].value(k, 0, 0);
    return true;
  }
  default: return false;
  }
}

bool scope_number(Elab *in, Scope *s, const Syntax *n, double *out) {
  Body b = {.in = in, .w = in->w};
  return static_number(&b, env_new(in, NULL, s, &b), n, out);
}

// Does this depend on an option or size that is unknown in generic elaboration?
static bool is_open_number(Body *b, Env *env, const Syntax *n) {
  if (n->kind == N_NAME) {
    Binding *bind = env_meaning(env, n);
    if (bind) return bind->open || (bind->size && bind->kind != BIND_VALUE);
    Def *d = scope_meaning(env->scope, n);
    return d && d->kind == DEF_AXIS;
  }
  if (n->kind == N_NUM || n->kind == N_STR) return true;
  if (n->kind != N_SUM && n->kind != N_PROD && n->kind != N_PAREN && n->kind != N_NEG &&
      n->kind != N_POW)
    return false;
  Nodes part = syntax_parts(n);
  for (uint32_t i = 0; i < part.n; i++)
    if (!is_open_number(b, env, part.at[i])) return false;
  return true;
}

static const char *static_text(Env *env, const Syntax *n) {
  if (n->kind == N_STR) return n->text;
  if (n->kind != N_NAME) return NULL;
  Binding *bind = env_meaning(env, n);
  return bind ? bind->text : NULL;
}

static Truth compare_static(Body *b, Env *env, const Syntax *n) {
  double x, y;
  const char *s = static_text(env, cmp_left(n)), *t = static_text(env, cmp_right(n));
  SyntaxSign sign = cmp_sign(n);
  if (s && t && (sign == SIGN_EQUAL || sign == SIGN_UNEQUAL))
    return (strcmp(s, t) == 0) == (sign == SIGN_EQUAL) ? IS_TRUE : IS_FALSE;
  if (static_number(b, env, cmp_left(n), &x) && static_number(b, env, cmp_right(n), &y)) {
    bool holds = sign == SIGN_EQUAL     ? x == y
                 : sign == SIGN_UNEQUAL ? x != y
                 : sign == SIGN_LESS    ? x < y
                 : sign == SIGN_MORE    ? x > y
                 : sign == SIGN_AT_MOST ? x <= y
                                        : x >= y;
    return holds ? IS_TRUE : IS_FALSE;
  }
  if (is_open_number(b, env, cmp_left(n)) && is_open_number(b, env, cmp_right(n))) return IS_OPEN;
  return IS_DYNAMIC;
}

Truth static_truth(Body *b, Env *env, const Syntax *n) {
  Truth t, other;
  switch (n->kind) {
  case N_PAREN: return static_truth(b, env, paren_inner(n));
  case N_NOT:
    t = static_truth(b, env, not_operand(n));
    return t == IS_TRUE ? IS_FALSE : t == IS_FALSE ? IS_TRUE : t;
  case N_AND:
  case N_OR:
    t = static_truth(b, env, chain_terms(n).at[0]);
    for (uint32_t i = 1; i < chain_terms(n).n; i++) {
      Truth decides = n->kind == N_AND ? IS_FALSE : IS_TRUE;
      other = static_truth(b, env, chain_terms(n).at[i]);
      if (t == IS_DYNAMIC || other == IS_DYNAMIC)
        t = IS_DYNAMIC;
      else if (t == decides || other == decides)
        t = decides;
      else if (t == IS_OPEN || other == IS_OPEN)
        t = IS_OPEN;
    }
    return t;
  case N_CMP: return compare_static(b, env, n);
  case N_NAME:
    if (!env_meaning(env, n) && strcmp(name_text(b->w->names, n->name), "training") == 0)
      return b->in->training ? IS_TRUE : IS_FALSE;
    return IS_DYNAMIC;
  default: return IS_DYNAMIC;
  }
}
