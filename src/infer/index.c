// Index equations: Y[left] = terms. An access x[2*i+p (h w) 0] becomes a read with affine coordinates; a product of accesses sums
// the indices that are not free; the left side says where results are written. Sizes of indices are variables until the
// equation is complete, then come from: a plain place, a size written with the index, an axis of that name, the declared type of a
// result, and last the largest range for which every read is inside.
#include "elab.h"

#include <math.h>

bool eq_has(const Eq *eq, Name name, uint32_t *out) {
  for (uint32_t i = 0; name && i < eq->index.n; i++)
    if (eq->index.at[i].name == name && !eq->index.at[i].gone) {
      if (out) *out = i;
      return true;
    }
  return false;
}

uint32_t eq_index(Body *b, Eq *eq, Name name, Span span) {
  uint32_t i;
  if (eq_has(eq, name, &i)) return i;
  EqIndex index = {.name = name, .size = size_var(b->w, name, VAR_INDEX, span), .span = span};
  vec_push(b->w->arena, &eq->index, index);
  return eq->index.n - 1;
}

// -- coordinates ----------------------------------------------------------------------------------
// A coordinate while it is read: a constant, and coefficients of indices and of labels.
typedef struct {
  uint32_t n;
  Size coef[RANK_LIMIT];
  uint32_t var[RANK_LIMIT]; // index of the equation, or label
  bool label[RANK_LIMIT];
  Size c;
  bool group, range;
} Affine;

typedef struct {
  Body *b;
  Env *env;
  Eq *eq;
  VEC(Val) label; // labels met
  bool named;     // an index was met
} Reader;

static bool affine(Reader *, const Node *, Affine *);

static bool add_term(Reader *r, Affine *a, Size coef, uint32_t var, bool label, Span span) {
  for (uint32_t i = 0; i < a->n; i++)
    if (a->var[i] == var && a->label[i] == label) {
      a->coef[i] = size_add(r->b->w, a->coef[i], coef);
      return true;
    }
  if (a->n == RANK_LIMIT) {
    diag_error(r->b->w->diags, span, "too many indices in one place");
    return false;
  }
  a->coef[a->n] = coef;
  a->var[a->n] = var;
  a->label[a->n++] = label;
  return true;
}

static bool index_term(Reader *r, Affine *a, Name name, Span span) {
  uint32_t i = eq_index(r->b, r->eq, name, span);
  vec_push(r->b->w->arena, &r->eq->mention, i);
  r->named = true;
  return add_term(r, a, size_of(r->b->w, 1), i, false, span);
}

static bool label_term(Reader *r, Affine *a, Val v, Span span) {
  World *w = r->b->w;
  if (v.error) return false;
  if (v.type.base != BASE_LABEL) {
    Id e = diag_error(w->diags, span, "an index is a name, a number or a label, but this is %s", own_text(w, &v.type));
    diag_help(w->diags, e, "only labels `{n}` can point into an axis");
    return false;
  }
  val_settle(r->b, &v);
  if (v.x->kind != X_WIRE || v.x->nlabel) {
    bool indexed = v.indexed;
    val_to_wire(r->b, &v, 0);
    v.indexed = indexed;
  }
  vec_push(w->arena, &r->label, v);
  return add_term(r, a, size_of(w, 1), r->label.n - 1, true, span);
}

// An index if it is one already, or if it labels an axis; a number if it is an option or loop variable that labels none.
static bool name_term(Reader *r, const Node *n, Affine *a) {
  Binding *bind = env_find(r->env, n->name);
  if (eq_has(r->eq, n->name, NULL)) return index_term(r, a, n->name, n->span);
  if (bind && (bind->kind == BIND_LOOP || bind->kind == BIND_OPTION) && !(r->b->labels && table_get(r->b->labels, &n->name, sizeof n->name))) {
    a->c = size_eval(r->b, r->env, n, false);
    return a->c != 0;
  }
  if (bind && bind->kind == BIND_VALUE) {
    if (bind->value.n != 1) {
      diag_error(r->b->w->diags, n->span, "a tuple cannot be an index");
      return false;
    }
    Val v = bind->value.at[0];
    v.span = n->span;
    return label_term(r, a, v, n->span);
  }
  Def *d = bind ? NULL : scope_find(r->env->scope, n->name);
  if (d && ((d->kind == DEF_GIVEN && r->b->fields) || d->kind == DEF_CONST)) {
    double k;
    if (d->kind == DEF_CONST && static_number(r->b, r->env, n, &k)) {
      a->c = size_eval(r->b, r->env, n, false);
      return a->c != 0;
    }
    return label_term(r, a, eval_one(r->b, r->env, n, r->eq), n->span);
  }
  if (!bind && !d && strcmp(name_text(r->b->w->names, n->name), "batch") == 0) {
    diag_error(r->b->w->diags, n->span, "the axis batch is never written: it can only be reduced, as in `mean[batch](x)`");
    return false;
  }
  return index_term(r, a, n->name, n->span);
}

static bool scale(Reader *r, Affine *a, Size by) {
  World *w = r->b->w;
  a->c = size_mul(w, a->c, by);
  for (uint32_t i = 0; i < a->n; i++) a->coef[i] = size_mul(w, a->coef[i], by);
  return true;
}

static bool add_affine(Reader *r, Affine *a, const Affine *more, bool minus, Span span) {
  World *w = r->b->w;
  Size zero = size_of(w, 0);
  a->c = minus ? size_sub(w, a->c, more->c) : size_add(w, a->c, more->c);
  for (uint32_t i = 0; i < more->n; i++)
    if (!add_term(r, a, minus ? size_sub(w, zero, more->coef[i]) : more->coef[i], more->var[i], more->label[i], span)) return false;
  return true;
}

static bool sum_affine(Reader *r, const Node *n, Affine *a) {
  if (!affine(r, n->kid[0], a)) return false;
  for (uint32_t i = 1; i < n->nkid; i++) {
    Affine more;
    if (!affine(r, n->kid[i], &more) || !add_affine(r, a, &more, n->op[i - 1] == '-', n->span)) return false;
  }
  return true;
}

static bool product_affine(Reader *r, const Node *n, Affine *a) {
  World *w = r->b->w;
  if (!affine(r, n->kid[0], a)) return false;
  for (uint32_t i = 1; i < n->nkid; i++) {
    Affine by;
    if (!affine(r, n->kid[i], &by)) return false;
    char op = n->op[i - 1];
    if (op == '*' && a->n && by.n) {
      diag_error(w->diags, n->span, "an index times an index is not affine: a place is a sum of numbers times indices");
      return false;
    }
    if (op != '*' && (a->n || by.n)) {
      diag_error(w->diags, n->span, "an index cannot be divided: a place is a sum of numbers times indices");
      return false;
    }
    if (op == '*' && by.n) {
      Size k = a->c;
      *a = by;
      scale(r, a, k);
    } else if (op == '*') {
      scale(r, a, by.c);
    } else {
      a->c = op == '/' ? size_quotient(w, a->c, by.c) : size_floor(w, a->c, by.c);
      if (!a->c) {
        diag_error(w->diags, n->span, "division by 0");
        return false;
      }
    }
  }
  return true;
}

// (h w): row-major, plain indices.
static bool group_affine(Reader *r, const Node *n, Affine *a) {
  World *w = r->b->w;
  Size all = size_of(w, 1);
  VEC(Affine) part = {0};
  for (uint32_t i = 0; i < n->nkid; i++)
    for (uint32_t k = 0; k < n->kid[i]->nkid; k++) {
      const Node *item = n->kid[i]->kid[k];
      if (item->kind == N_SPREAD) {
        Binding *s = env_find(r->env, item->name);
        for (uint32_t j = 0; s && s->kind == BIND_SPREAD && j < s->naxis; j++) {
          Affine one = {.c = size_of(w, 0)};
          Name name = s->axis[j].label ? s->axis[j].label : name_from(w->names, arena_format(w->arena, "%s_%u", name_text(w->names, item->name), j));
          index_term(r, &one, name, item->span);
          vec_push(w->arena, &part, one);
        }
        continue;
      }
      Affine one;
      if (!affine(r, item, &one)) return false;
      if (one.n != 1 || one.label[0] || one.c != size_of(w, 0) || one.coef[0] != size_of(w, 1)) {
        diag_error(w->diags, item->span, "a group holds plain indices");
        return false;
      }
      vec_push(w->arena, &part, one);
    }
  for (uint32_t i = part.n; i-- > 0;) {
    if (!add_term(r, a, all, part.at[i].var[0], false, n->span)) return false;
    all = size_mul(w, all, r->eq->index.at[part.at[i].var[0]].size);
  }
  a->group = part.n > 1;
  return true;
}

static Val access_one(Reader *r, const Node *n) {
  Value v = eval_access(r->b, r->env, n, r->eq);
  return v.n == 1 ? v.at[0] : val_error(n->span);
}

static bool affine(Reader *r, const Node *n, Affine *a) {
  World *w = r->b->w;
  memset(a, 0, sizeof *a);
  a->c = size_of(w, 0);
  switch (n->kind) {
  case N_NAME: return name_term(r, n, a);
  case N_SUM: return sum_affine(r, n, a);
  case N_PROD: return product_affine(r, n, a);
  case N_PAREN: return affine(r, n->kid[0], a);
  case N_NEG: return affine(r, n->kid[0], a) && scale(r, a, size_of(w, -1));
  case N_SIZED: {
    uint32_t i = eq_index(r->b, r->eq, n->name, n->name_span);
    Size s = size_eval(r->b, r->env, n->kid[0], false);
    if (!s) return false;
    if (!sizes_agree(r->b, r->eq->index.at[i].size, s, n->span, n->span, "an index")) {
      diag_error(w->diags, n->span, "index %s is given %s places, but it has %s", name_text(w->names, n->name), size_text(w, s), size_text(w, r->eq->index.at[i].size));
      return false;
    }
    return index_term(r, a, n->name, n->name_span);
  }
  case N_GROUP:
    if (n->nkid == 1 && n->kid[0]->nkid == 1 && n->kid[0]->kid[0]->kind != N_SPREAD) return affine(r, n->kid[0]->kid[0], a);
    return group_affine(r, n, a);
  case N_AT:
    if (n->kid[0]->kind == N_NAME && strcmp(name_text(w->names, n->kid[0]->name), "size") == 0) break;
    return label_term(r, a, access_one(r, n), n->span);
  case N_CALL:
  case N_DOT: return label_term(r, a, eval_one(r->b, r->env, n, r->eq), n->span);
  default: break;
  }
  a->c = size_eval(r->b, r->env, n, false);
  return a->c != 0;
}

// -- an access ------------------------------------------------------------------------------------
typedef struct {
  Reader r;
  Affine *place; // one for each own axis
  Span *span;
  Name *range;   // the axis kept by a range, or 0
  uint32_t n;
} Places;

static void add_place(Places *p, const Affine *a, Span span) {
  if (p->n == RANK_LIMIT) return;
  p->span[p->n] = span;
  p->place[p->n++] = *a;
}

// x[2..5]: the axis stays, shorter.
static bool range_place(Places *p, const Node *n, const Axis *axis) {
  Body *b = p->r.b;
  World *w = b->w;
  Size from = size_eval(b, p->r.env, n->kid[0], false), to = size_eval(b, p->r.env, n->kid[1], false);
  if (!from || !to) return false;
  Name name = axis && axis->label ? axis->label : name_from(w->names, arena_format(w->arena, "_%u", p->n));
  uint32_t i = eq_index(b, p->r.eq, name, n->span);
  p->r.eq->index.at[i].nameless = !(axis && axis->label);
  p->r.eq->index.at[i].ranged = true;
  Size length = size_add(w, size_sub(w, to, from), size_of(w, 1));
  int64_t v;
  if (size_value(w, length, &v) && v <= 0) {
    diag_error(w->diags, n->span, "this range is empty: %s to %s", size_text(w, from), size_text(w, to));
    return false;
  }
  if (!sizes_agree(b, p->r.eq->index.at[i].size, length, n->span, n->span, "a range")) {
    diag_error(w->diags, n->span, "this range has %s places, but its index has %s already", size_text(w, length), size_text(w, p->r.eq->index.at[i].size));
    return false;
  }
  Affine a = {.n = 1, .coef = {size_of(w, 1)}, .var = {i}, .c = from, .range = true};
  p->range[p->n] = name;
  add_place(p, &a, n->span);
  return true;
}

static bool spread_places(Places *p, const Node *n) {
  World *w = p->r.b->w;
  Binding *s = env_find(p->r.env, n->name);
  if (!s || s->kind != BIND_SPREAD) {
    diag_error(w->diags, n->span, "`...%s` is not a row of axes here", name_text(w->names, n->name));
    return false;
  }
  for (uint32_t j = 0; j < s->naxis; j++) {
    Affine a = {.c = size_of(w, 0)};
    Name name = s->axis[j].label ? s->axis[j].label : name_from(w->names, arena_format(w->arena, "%s_%u", name_text(w->names, n->name), j));
    if (!index_term(&p->r, &a, name, n->span)) return false;
    if (!sizes_agree(p->r.b, p->r.eq->index.at[a.var[0]].size, s->axis[j].size, n->span, n->span, "an index")) return false;
    add_place(p, &a, n->span);
  }
  return true;
}

static bool read_places(Places *p, const Node *brackets, const Axis *axis, const uint32_t *own, uint32_t nown) {
  World *w = p->r.b->w;
  p->place = NEW_ARRAY(w->arena, Affine, RANK_LIMIT);
  p->span = NEW_ARRAY(w->arena, Span, RANK_LIMIT);
  p->range = NEW_ARRAY(w->arena, Name, RANK_LIMIT);
  if (brackets->nkid > 1) {
    Id e = diag_error(w->diags, brackets->span, "indices are separated by spaces");
    diag_help(w->diags, e, "`x[i j]`, not `x[i, j]`");
    return false;
  }
  const Node *items = brackets->nkid ? brackets->kid[0] : NULL;
  if (items && items->kind != N_ITEMS) {
    diag_error(w->diags, items->span, "indices are wanted here, not a box");
    return false;
  }
  for (uint32_t i = 0; items && i < items->nkid; i++) {
    const Node *item = items->kid[i];
    Affine a;
    bool good;
    if (item->kind == N_RANGE) good = range_place(p, item, p->n < nown ? &axis[own[p->n]] : NULL);
    else if (item->kind == N_SPREAD) good = spread_places(p, item);
    else if ((good = affine(&p->r, item, &a))) add_place(p, &a, item->span);
    if (!good) return false;
  }
  return true;
}

typedef struct {
  uint32_t n;
  Axis axis[RANK_LIMIT];
} AxisList;

static uint32_t axis_for(AxisList *list, const Axis *axis) {
  for (uint32_t i = 0; i < list->n; i++) {
    const Axis *a = &list->axis[i];
    if (axis->pass ? a->pass == axis->pass : !a->pass && a->label == axis->label) return i;
  }
  if (list->n < RANK_LIMIT) list->axis[list->n++] = *axis;
  return list->n - 1;
}

static Axis index_axis(const Eq *eq, uint32_t i) { return (Axis){.label = eq->index.at[i].name, .size = eq->index.at[i].size}; }

// A label points into an axis of its own number of places.
static bool is_label(World *w, const Affine *a) { return a->n == 1 && a->label[0] && a->coef[0] == size_of(w, 1) && a->c == size_of(w, 0); }

static bool label_fits(Places *p, const Affine *a, const Axis *axis, Span span) {
  World *w = p->r.b->w;
  const Val *v = &p->r.label.at[a->var[0]];
  if (sizes_agree(p->r.b, v->type.count, axis->size, span, span, "a label and its axis")) return true;
  diag_error(w->diags, span, "a label of %s points into an axis of %s", own_text(w, &v->type), size_text(w, axis->size));
  return false;
}

// In a sum, as in `x[t[i]+1]`, a label reaches as far as an index of its number of places.
static uint32_t label_range(Body *b, Eq *eq, const Val *v, Span span) {
  EqIndex index = {.size = v->type.count, .span = span, .gone = true};
  vec_push(b->w->arena, &eq->index, index);
  return eq->index.n - 1;
}

// The size rule of a plain place, and a note of every other place, to be looked at when all sizes are known.
static bool note_place(Places *p, Eq *eq, const Affine *a, const Axis *axis, Span span) {
  Body *b = p->r.b;
  World *w = b->w;
  if (is_label(w, a)) return label_fits(p, a, axis, span);
  if (a->n == 1 && !a->label[0] && !a->range && a->coef[0] == size_of(w, 1) && a->c == size_of(w, 0)) {
    const EqIndex *index = &eq->index.at[a->var[0]];
    if (sizes_agree(b, index->size, axis->size, span, index->span, "an index")) return true;
    Id e = diag_error(w->diags, span, "index %s runs over %s places, but this axis%s%s has %s", name_text(w->names, index->name), size_text(w, index->size),
                      axis->label ? " " : "", name_text(w->names, axis->label), size_text(w, axis->size));
    diag_note(w->diags, e, index->span, "%s = %s comes from here", name_text(w->names, index->name), size_text(w, index->size));
    return false;
  }
  Reach reach = {.size = axis->size, .coord = {.c = a->c}, .span = span, .padded = eq->padded, .group = a->group, .range = a->range};
  for (uint32_t i = 0; i < a->n; i++) {
    uint32_t var = a->label[i] ? label_range(b, eq, &p->r.label.at[a->var[i]], span) : a->var[i];
    reach.coord = coord_add(w, reach.coord, a->coef[i], var, false);
  }
  vec_push(w->arena, &eq->reach, reach);
  return true;
}

static X *label_leaf(Body *b, AxisList *list, const Val *v) {
  X *x = arena_copy(b->w->arena, v->x, sizeof *v->x);
  uint32_t rank = b->d->wire.at[x->wire].type.rank, where[RANK_LIMIT];
  for (uint32_t i = 0; i < v->type.rank; i++) where[i] = axis_for(list, &v->type.axis[i]);
  x->coord = NEW_ARRAY(b->w->arena, Coord, rank);
  for (uint32_t i = 0; i < rank; i++) {
    Coord c = v->x->coord[i];
    x->coord[i] = (Coord){c.c, c.n, arena_copy(b->w->arena, c.term, c.n * sizeof(Term))};
    for (uint32_t k = 0; k < c.n; k++) x->coord[i].term[k].var = where[c.term[k].var];
  }
  return x;
}

static bool wrong_count(Body *b, const Val *base, uint32_t have, Span span) {
  uint32_t own[RANK_LIMIT], n = own_axes(&base->type, own);
  if (n == have) return false;
  Id e = diag_error(b->w->diags, span, "%s has %u %s, but %u %s written", own_text(b->w, &base->type), n, n == 1 ? "axis" : "axes", have, have == 1 ? "index is" : "indices are");
  diag_help(b->w->diags, e, "as many indices as axes, always");
  return true;
}

Val index_value(Body *b, Env *env, Val base, const Node *brackets, Span span, Eq *eq) {
  World *w = b->w;
  if (base.error) return val_error(span);
  Id wire = val_to_wire(b, &base, 0);
  if (!wire) return val_error(span);
  uint32_t own[RANK_LIMIT], nown = own_axes(&base.type, own);
  Places p = {.r = {.b = b, .env = env, .eq = eq}};
  if (!read_places(&p, brackets, base.type.axis, own, nown) || wrong_count(b, &base, p.n, span)) return val_error(span);
  AxisList list = {0};
  X *x = NEW(w->arena, X);
  *x = (X){.kind = X_WIRE, .base = base.type.base, .wire = wire, .coord = NEW_ARRAY(w->arena, Coord, base.type.rank)};
  for (uint32_t i = 0; i < base.type.rank; i++) // what passes over stays
    if (base.type.axis[i].pass) x->coord[i] = coord_index(w, axis_for(&list, &base.type.axis[i]));
  x->nlabel = p.r.label.n;
  x->label = NEW_ARRAY(w->arena, X *, x->nlabel);
  bool skewed = false;
  for (uint32_t k = 0; k < p.n; k++) {
    const Affine *a = &p.place[k];
    const Axis *axis = &base.type.axis[own[k]];
    if (!note_place(&p, eq, a, axis, p.span[k])) return val_error(span);
    Coord c = coord_const(w, a->c);
    for (uint32_t i = 0; i < a->n; i++) {
      if (a->label[i]) {
        x->label[a->var[i]] = label_leaf(b, &list, &p.r.label.at[a->var[i]]);
        c = coord_add(w, c, a->coef[i], a->var[i], true);
        continue;
      }
      Axis ia = index_axis(eq, a->var[i]);
      c = coord_add(w, c, a->coef[i], axis_for(&list, &ia), false);
    }
    skewed |= a->n != 1 || a->c != size_of(w, 0) || a->coef[0] != size_of(w, 1);
    x->coord[own[k]] = c;
  }
  x->padded = eq->padded && skewed;
  x->pad = eq->pad;
  x->rank = list.n;
  Type t = type_make(w, base.type.base, list.n, list.axis);
  t.count = base.type.count;
  t.names = base.type.names;
  bool label_indexed = false;
  for (uint32_t i = 0; i < p.r.label.n; i++) label_indexed |= p.r.label.at[i].indexed;
  return (Val){.x = x, .type = t, .span = span, .indexed = p.r.named || label_indexed, .access = true};
}

// -- products -------------------------------------------------------------------------------------
typedef struct {
  const Node *node;
  bool divides;
} FactorNode;
typedef VEC(FactorNode) FactorNodes;

bool is_access(Env *env, const Node *n) {
  if (n->kind != N_AT) return false;
  const Node *base = n->kid[0];
  if (base->kind != N_NAME) return base->kind == N_AT || base->kind == N_CALL || base->kind == N_DOT || base->kind == N_PAREN;
  Binding *bind = env_find(env, base->name);
  if (bind) return bind->kind == BIND_VALUE || bind->kind == BIND_STATE || (bind->kind == BIND_LEARNER && !bind->def->node->kid[1]);
  Def *d = scope_find(env->scope, base->name);
  return d && (d->kind == DEF_CONST || d->kind == DEF_GIVEN || (d->kind == DEF_LEARNER && !d->node->kid[1]));
}

static bool is_product(Env *env, const Node *n) {
  if (n->kind == N_PAREN || n->kind == N_NEG) return is_product(env, n->kid[0]);
  return n->kind == N_RUN || n->kind == N_PROD || is_access(env, n);
}

static void flatten(Body *b, Env *env, const Node *n, bool divides, FactorNodes *out, bool *minus) {
  if (n->kind == N_RUN) {
    for (uint32_t i = 0; i < n->nkid; i++) flatten(b, env, n->kid[i], divides, out, minus);
  } else if (n->kind == N_PROD && !divides) {
    for (uint32_t i = 0; i < n->nkid; i++) flatten(b, env, n->kid[i], i && n->op[i - 1] == '/', out, minus);
  } else if ((n->kind == N_PAREN || n->kind == N_NEG) && !divides && is_product(env, n)) {
    *minus ^= n->kind == N_NEG;
    flatten(b, env, n->kid[0], divides, out, minus);
  } else {
    vec_push(b->w->arena, out, (FactorNode){n, divides});
  }
}

static bool index_summed_elsewhere(Body *b, Eq *eq, uint32_t from, uint32_t mentions_to, Span span) {
  for (uint32_t s = from; s < eq->summed.n; s++)
    for (uint32_t m = 0; m < mentions_to; m++)
      if (eq->mention.at[m] == eq->summed.at[s]) {
        const EqIndex *index = &eq->index.at[eq->summed.at[s]];
        Id e = diag_error(b->w->diags, span, "index %s is summed inside this factor and stands outside it too", name_text(b->w->names, index->name));
        diag_help(b->w->diags, e, "multiply out, or write `sum[%s](…)` around the whole product", name_text(b->w->names, index->name));
        return true;
      }
  return false;
}

// Which axes of a product are summed: with a left side, those not on it; without, those that occur twice.
static bool mark_summed(Body *b, Eq *eq, const Val *v, uint32_t first_mention, bool *sum, bool *bad) {
  World *w = b->w;
  bool any = false;
  for (uint32_t i = 0; i < v->type.rank; i++) {
    uint32_t index, times = 0;
    if (v->type.axis[i].pass || !eq_has(eq, v->type.axis[i].label, &index)) continue;
    EqIndex *e = &eq->index.at[index];
    for (uint32_t m = first_mention; m < eq->mention.n; m++) times += eq->mention.at[m] == index;
    sum[i] = !e->bound && !e->left && (eq->left || times > 1);
    if (e->left || e->bound) continue;
    Span *mine = sum[i] ? &e->summed : &e->free, other = sum[i] ? e->free : e->summed;
    if (!mine->file) *mine = v->span;
    if (!eq->left && other.file) {
      Id d = diag_error(w->diags, v->span, "index %s is %s here but %s in another term: write a left side, `Y[…] = …`", name_text(w->names, e->name),
                        sum[i] ? "summed" : "free", sum[i] ? "free" : "summed");
      diag_note(w->diags, d, other, "the other term");
      *bad = true;
    }
    if (sum[i] && eq->inside) {
      const char *name = name_text(w->names, e->name);
      Id d = e->told ? 0 : diag_error(w->diags, v->span, "index %s would be summed inside a function, and which sum is meant is not guessed", name);
      diag_help(w->diags, d, "write `sum[%s](…)` where the sum is meant", name);
      e->told = *bad = true;
      sum[i] = false;
    }
    if (sum[i]) vec_push(w->arena, &eq->summed, index);
    any |= sum[i];
  }
  return any;
}

// In a sum of products a place outside counts as 0 by being skipped.
static X *without_padding(Body *b, X *x, double pad) {
  if (x->kind == X_WIRE && x->padded && x->pad == pad) {
    x = arena_copy(b->w->arena, x, sizeof *x);
    x->padded = false;
  } else if (x->kind == X_FN && x->fn == FN_mul && pad == 0) {
    x = arena_copy(b->w->arena, x, sizeof *x);
    x->arg[0] = without_padding(b, x->arg[0], pad);
    x->arg[1] = without_padding(b, x->arg[1], pad);
  }
  return x;
}

static Val times(Body *b, Val left, Val right, Fn fn, Span span, Eq *eq) {
  Val pair[2] = {left, right};
  return val_fn(b, fn, pair, 2, span, eq);
}

// Without a left side the axes stand in the order in which the indices are written.
static Val in_order(Body *b, Val v, const Val *factor, uint32_t n) {
  uint32_t order[RANK_LIMIT], k = 0;
  bool put[RANK_LIMIT] = {false}, same = true;
  if (v.error || !v.indexed) return v;
  for (uint32_t i = 0; i < v.nreduce; i++) put[v.reduce[i]] = true;
  for (uint32_t i = 0; i < v.type.rank; i++)
    if (v.type.axis[i].pass) put[i] = true, order[k++] = i;
  for (uint32_t f = 0; f < n; f++)
    for (uint32_t a = 0; a < factor[f].type.rank; a++)
      for (uint32_t i = 0; i < v.type.rank; i++)
        if (!put[i] && v.type.axis[i].label == factor[f].type.axis[a].label) put[i] = true, order[k++] = i;
  for (uint32_t i = 1; i < k; i++) same &= order[i] > order[i - 1];
  if (same) return v;
  if (v.nreduce) {
    val_settle(b, &v);
    return in_order(b, v, factor, n);
  }
  v = val_permute(b, v, order, k);
  v.indexed = true;
  return v;
}

static Val product_of_accesses(Body *b, Env *env, const FactorNodes *f, Eq *eq, Span span, bool *found, Val *factors) {
  Val v = {0};
  *found = false;
  uint32_t first = eq->mention.n;
  for (uint32_t i = 0; i < f->n; i++) {
    const Node *n = f->at[i].node;
    if (f->at[i].divides || !is_access(env, n)) continue;
    Value access = eval_access(b, env, n, eq);
    Val factor = access.n == 1 ? access.at[0] : val_error(n->span);
    factors[i] = factor;
    v = *found ? times(b, v, factor, FN_mul, span, eq) : factor;
    *found = true;
  }
  if (!*found || v.error || !v.indexed) return v;
  bool sum[RANK_LIMIT] = {false}, bad = false;
  v.span = span;
  bool any = mark_summed(b, eq, &v, first, sum, &bad);
  if (bad) return val_error(span);
  if (!any) return v;
  v.x = without_padding(b, v.x, 0);
  bool access = v.access;
  v = val_reduce(b, v, SUM, sum);
  v.access = access;
  return v;
}

Val eval_product(Body *b, Env *env, const Node *n, Eq *eq) {
  FactorNodes f = {0};
  bool minus = false, found;
  flatten(b, env, n, false, &f, &minus);
  uint32_t summed = eq->summed.n;
  Val *factors = NEW_ARRAY(b->w->arena, Val, f.n), v = product_of_accesses(b, env, &f, eq, n->span, &found, factors);
  uint32_t mentions = eq->mention.n;
  if (found && f.n == 1 && !minus) return v;
  summed = eq->summed.n;
  for (uint32_t i = 0; i < f.n; i++) {
    const Node *node = f.at[i].node;
    if (!f.at[i].divides && is_access(env, node)) continue;
    Val factor = factors[i] = eval_one(b, env, node, eq);
    if (!factor.error && index_summed_elsewhere(b, eq, summed, mentions, node->span)) return val_error(n->span);
    if (!found && f.at[i].divides) v = val_literal(b, 1, node->span), found = true;
    v = found ? times(b, v, factor, f.at[i].divides ? FN_div : FN_mul, n->span, eq) : factor;
    found = true;
  }
  if (minus && !v.error && v.type.base != BASE_BIT) v = val_fn(b, FN_neg, &v, 1, n->span, eq);
  return eq->left ? v : in_order(b, v, factors, f.n);
}

// -- sizes of indices -----------------------------------------------------------------------------
static bool unsolved(World *w, const EqIndex *index) {
  Id var;
  return size_is_var(w, index->size, &var) && size_var_kind(w, var) == VAR_INDEX;
}

static void solve_groups(Body *b, Eq *eq) {
  World *w = b->w;
  for (uint32_t i = 0; i < eq->reach.n; i++) {
    Reach *r = &eq->reach.at[i];
    if (!r->group) continue;
    Size product = size_of(w, 1);
    for (uint32_t k = 0; k < r->coord.n; k++) product = size_mul(w, product, eq->index.at[r->coord.term[k].var].size);
    if (size_equate(w, r->size, product, b->generic) != SIZES_CLASH) continue;
    diag_error(w->diags, r->span, "this group has %s places, but its axis has %s", size_text(w, product), size_text(w, r->size));
    r->group = false;
    for (uint32_t k = 0; k < r->coord.n; k++)
      if (unsolved(w, &eq->index.at[r->coord.term[k].var])) eq->index.at[r->coord.term[k].var].told = true;
  }
}

static void solve_by_name(Body *b, Env *env, Eq *eq) {
  World *w = b->w;
  for (uint32_t i = 0; i < eq->index.n; i++) {
    EqIndex *index = &eq->index.at[i];
    if (!index->name || index->ranged) continue;
    Binding *bind = env_find(env, index->name);
    Def *d = bind ? NULL : scope_find(env->scope, index->name);
    Size s = 0;
    if (bind && (bind->kind == BIND_SIZE || bind->kind == BIND_OPTION)) s = bind->size;
    if (d && d->kind == DEF_AXIS) s = axis_size(b->in, d), d->used = true;
    if (!s || sizes_agree(b, index->size, s, index->span, index->span, "an index")) continue;
    Id e = diag_error(w->diags, index->span, "index %s runs over %s places, but %s is %s", name_text(w->names, index->name), size_text(w, index->size),
                      name_text(w->names, index->name), size_text(w, s));
    diag_note(w->diags, e, bind ? bind->span : d->span, "%s = %s comes from here", name_text(w->names, index->name), size_text(w, s));
  }
}

// The largest n for which every read is inside.
static void solve_by_reach(Body *b, Eq *eq) {
  World *w = b->w;
  Size one = size_of(w, 1);
  for (uint32_t i = 0; i < eq->index.n; i++) {
    if (!unsolved(w, &eq->index.at[i])) continue;
    Size best = 0;
    for (uint32_t r = 0; r < eq->reach.n; r++) {
      const Reach *reach = &eq->reach.at[r];
      Size coef = 0, rest = size_sub(w, size_sub(w, reach->size, one), reach->coord.c), low = reach->coord.c;
      double sign;
      bool known = !reach->padded && !reach->write && !reach->group;
      for (uint32_t k = 0; k < reach->coord.n; k++) {
        const Term *t = &reach->coord.term[k];
        if (t->var == i) coef = t->coef;
        else {
          known &= !unsolved(w, &eq->index.at[t->var]);
          Size last = size_mul(w, t->coef, size_sub(w, eq->index.at[t->var].size, one));
          if (size_number(w, t->coef, &sign) && sign < 0) low = size_add(w, low, last);
          else rest = size_sub(w, rest, last);
        }
      }
      if (!coef || !known || coef == size_of(w, 0)) continue;
      bool back = size_number(w, coef, &sign) && sign < 0; // x[3-i] ends where the axis begins
      Size n = size_add(w, back ? size_floor(w, low, size_sub(w, size_of(w, 0), coef)) : size_floor(w, rest, coef), one);
      int64_t x, y;
      if (!best || (size_value(w, n, &x) && size_value(w, best, &y) && x < y)) best = n;
    }
    if (best) size_equate(w, eq->index.at[i].size, best, true);
  }
}

static void check_reach(Body *b, const Eq *eq, const Reach *r) {
  World *w = b->w;
  Size low = r->coord.c, high = r->coord.c, one = size_of(w, 1);
  if (r->padded || r->group) return;
  for (uint32_t k = 0; k < r->coord.n; k++) {
    const Term *t = &r->coord.term[k];
    Size last = size_mul(w, t->coef, size_sub(w, eq->index.at[t->var].size, one));
    double sign;
    if (size_number(w, t->coef, &sign) && sign < 0) low = size_add(w, low, last);
    else high = size_add(w, high, last);
  }
  double over, under;
  Size beyond = size_sub(w, high, size_sub(w, r->size, one));
  bool outside = (size_number(w, size_now(w, beyond), &over) && over > 0) || (size_number(w, size_now(w, low), &under) && under < 0);
  if (outside && (!r->coord.n || r->range)) { // written as numbers: pad is not the answer
    Id e = diag_error(w->diags, r->span, r->range ? "this range leaves the axis, whose places are 0 to %s" : "there is no such place: those of the axis are 0 to %s", size_text(w, size_sub(w, r->size, one)));
    if (r->range) diag_help(w->diags, e, "the last place of a range belongs to it");
    return;
  }
  if (size_number(w, size_now(w, beyond), &over) && over > 0) {
    Id e = diag_error(w->diags, r->span, "this place reaches %s, but the axis ends at %s: it hangs over by %.0f", size_text(w, high), size_text(w, size_sub(w, r->size, one)), over);
    diag_help(w->diags, e, "`pad 0` after the equation says what is %s outside", r->write ? "dropped" : "read");
  } else if (size_number(w, size_now(w, low), &under) && under < 0) {
    Id e = diag_error(w->diags, r->span, "this place begins at %s, before the axis does", size_text(w, low));
    diag_help(w->diags, e, "`pad 0` after the equation says what is %s outside", r->write ? "dropped" : "read");
  }
}

// (i j) from one axis: only one of them can be found.
static void check_groups(Body *b, Eq *eq) {
  World *w = b->w;
  for (uint32_t i = 0; i < eq->reach.n; i++) {
    const Reach *r = &eq->reach.at[i];
    Buf names = buf_new(w->arena);
    uint32_t n = 0;
    Name first = 0;
    for (uint32_t k = r->coord.n; r->group && k-- > 0;) {
      EqIndex *index = &eq->index.at[r->coord.term[k].var];
      if (!unsolved(w, index) || index->told) continue;
      if (!n) first = index->name;
      buf_printf(&names, "%s%s", n++ ? " and " : "", name_text(w->names, index->name));
    }
    if (n < 2) continue;
    Id e = diag_error(w->diags, r->span, "the %s places of this axis do not say how many %s have", size_text(w, r->size), names.at);
    diag_help(w->diags, e, "write one of them with its size, as in `%s:3`", name_text(w->names, first));
    for (uint32_t k = 0; k < r->coord.n; k++) eq->index.at[r->coord.term[k].var].told = true;
  }
}

// quiet: something is said already, and what would be said here may follow from it.
void eq_finish(Body *b, Env *env, Eq *eq, bool quiet) {
  World *w = b->w;
  solve_groups(b, eq);
  solve_by_name(b, env, eq);
  solve_groups(b, eq);
  solve_by_reach(b, eq);
  solve_groups(b, eq);
  solve_by_reach(b, eq);
  if (!quiet) check_groups(b, eq);
  for (uint32_t i = 0; i < eq->index.n; i++) {
    EqIndex *index = &eq->index.at[i];
    int64_t v;
    if (unsolved(w, index) && (quiet || index->told)) {
      size_equate(w, index->size, size_of(w, 1), true);
    } else if (unsolved(w, index)) {
      Id e = diag_error(w->diags, index->span, "how many places index %s has is not known", name_text(w->names, index->name));
      diag_help(w->diags, e, "write it with its size, `%s:3`", name_text(w->names, index->name));
      size_equate(w, index->size, size_of(w, 1), true);
    } else if (size_value(w, index->size, &v) && v <= 0) {
      diag_error(w->diags, index->span, "index %s would have %lld places", name_text(w->names, index->name), (long long)v);
    }
  }
  for (uint32_t i = 0; i < eq->reach.n && !quiet; i++) check_reach(b, eq, &eq->reach.at[i]);
}

// -- equations ------------------------------------------------------------------------------------
static void eq_pad(Body *b, Env *env, Eq *eq, const Node *pad) {
  if (!pad) return;
  bool known = static_number(b, env, pad, &eq->pad);
  eq->padded = true;
  if (!known) diag_error(b->w->diags, pad->span, "`pad` wants a number that is known beforehand");
}

// What a place on the left becomes: the coordinate written, its size, its label.
static Axis left_axis(Body *b, Eq *eq, const Affine *a, const Axis *want, Span span) {
  World *w = b->w;
  Axis axis = {0};
  bool plain = a->n == 1 && a->c == size_of(w, 0) && a->coef[0] == size_of(w, 1);
  if (plain) {
    const EqIndex *index = &eq->index.at[a->var[0]];
    axis = (Axis){.label = index->name, .size = index->size};
    return axis;
  }
  Size one = size_of(w, 1);
  axis.size = size_add(w, a->c, one);
  for (uint32_t k = 0; k < a->n; k++) {
    double sign;
    if (a->label[k]) axis.size = 0;
    if (!axis.size) break;
    if (size_number(w, a->coef[k], &sign) && sign < 0) continue;
    axis.size = size_add(w, axis.size, size_mul(w, a->coef[k], size_sub(w, eq->index.at[a->var[k]].size, one)));
  }
  if (want && !a->group) axis.size = want->size;
  if (want && a->group) sizes_agree(b, axis.size, want->size, span, span, "a group");
  if (!axis.size) return axis;
  if (!a->group) {
    Reach reach = {.size = axis.size, .coord = {.c = a->c}, .span = span, .padded = eq->padded, .write = true};
    for (uint32_t k = 0; k < a->n; k++)
      if (!a->label[k]) reach.coord = coord_add(w, reach.coord, a->coef[k], a->var[k], false);
    vec_push(w->arena, &eq->reach, reach);
  }
  return axis;
}

typedef struct {
  Places p;
  Eq eq;
} Left;

static bool read_left(Left *l, Body *b, Env *env, const Node *brackets, const Type *want) {
  World *w = b->w;
  l->p.r = (Reader){.b = b, .env = env, .eq = &l->eq};
  if (!read_places(&l->p, brackets, NULL, NULL, 0)) return false;
  for (uint32_t i = 0; i < l->eq.index.n; i++) l->eq.index.at[i].left = true;
  l->eq.left = true;
  l->eq.mention.n = 0;
  if (want && want->rank != l->p.n) {
    diag_error(w->diags, brackets->span, "%u indices on the left for a result of %s", l->p.n, own_text(w, want));
    return false;
  }
  for (uint32_t k = 0; want && k < l->p.n; k++) {
    const Affine *a = &l->p.place[k];
    if (a->n != 1 || a->label[0] || a->c != size_of(w, 0) || a->coef[0] != size_of(w, 1)) continue;
    if (sizes_agree(b, l->eq.index.at[a->var[0]].size, want->axis[k].size, l->p.span[k], l->p.span[k], "a result")) continue;
    diag_error(w->diags, l->p.span[k], "index %s has %s places, but the result wants %s there", name_text(w->names, l->eq.index.at[a->var[0]].name),
               size_text(w, l->eq.index.at[a->var[0]].size), size_text(w, want->axis[k].size));
    return false;
  }
  return true;
}

static bool left_is_plain(World *w, const Left *l) {
  for (uint32_t k = 0; k < l->p.n; k++) {
    const Affine *a = &l->p.place[k];
    if (a->n != 1 || a->label[0] || a->c != size_of(w, 0) || a->coef[0] != size_of(w, 1)) return false;
    for (uint32_t i = 0; i < k; i++)
      if (l->p.place[i].var[0] == a->var[0]) return false;
  }
  return true;
}

static uint32_t value_axis(Val *v, Axis *room, const Axis *axis) {
  for (uint32_t i = 0; i < v->type.rank; i++)
    if (!v->type.axis[i].pass && v->type.axis[i].label == axis->label) return i;
  room[v->type.rank] = *axis;
  return v->type.rank++;
}

// Writes the value at the places of the left side. Indices that only the left side has repeat it.
static Val write_left(Body *b, Left *l, Val v, const Type *want, Span span) {
  World *w = b->w;
  bool plain = left_is_plain(w, l);
  if (v.nreduce && (v.combine != SUM) && !plain) val_settle(b, &v);
  Axis room[RANK_LIMIT * 2], out_axis[RANK_LIMIT * 2];
  Access out = {.coord = NEW_ARRAY(w->arena, Coord, RANK_LIMIT * 2)};
  uint32_t old = v.type.rank;
  if (old + l->eq.index.n > RANK_LIMIT) {
    diag_error(w->diags, span, "more than %d axes", RANK_LIMIT);
    return val_error(span);
  }
  if (old) memcpy(room, v.type.axis, old * sizeof(Axis));
  v.type.axis = room;
  for (uint32_t i = 0; i < old; i++)
    if (room[i].pass) {
      out_axis[out.rank] = room[i];
      out.coord[out.rank++] = coord_index(w, i);
    }
  for (uint32_t k = 0; k < l->p.n; k++) {
    const Affine *a = &l->p.place[k];
    Coord c = coord_const(w, a->c);
    for (uint32_t i = 0; i < a->n; i++) {
      Axis axis = index_axis(&l->eq, a->var[i]);
      c = coord_add(w, c, a->coef[i], value_axis(&v, room, &axis), false);
    }
    out_axis[out.rank] = left_axis(b, &l->eq, a, want ? &want->axis[k] : NULL, l->p.span[k]);
    if (!out_axis[out.rank].size) return val_error(span);
    out.coord[out.rank++] = c;
  }
  Type t = type_make(w, v.type.base, out.rank, out_axis);
  t.count = v.type.count;
  t.names = v.type.names;
  if (plain && old == v.type.rank && !v.nreduce) {
    uint32_t order[RANK_LIMIT];
    for (uint32_t i = 0; i < out.rank; i++) order[i] = out.coord[i].term[0].var;
    v.type.axis = arena_copy(w->arena, room, old * sizeof(Axis));
    v = val_permute(b, v, order, out.rank);
    v.type = t;
    return v;
  }
  if (v.x->kind == X_WIRE && v.x->padded && v.x->pad == 0 && !plain) v.x = without_padding(b, v.x, 0);
  return val_wire(b, val_emit(b, &v, &out, t, span), span);
}

// Y[y[i] m] += v: the label wires become operands of the write.
static Val scatter(Body *b, Left *l, Val v, const Type *want, Span span) {
  World *w = b->w;
  if (!want) {
    diag_error(w->diags, span, "a label on the left needs the size of its axis: use it in a `return` with a declared type");
    return val_error(span);
  }
  val_settle(b, &v);
  AxisList list = {0};
  for (uint32_t i = 0; i < v.type.rank; i++) axis_for(&list, &v.type.axis[i]);
  X **leaf = NEW_ARRAY(w->arena, X *, l->p.r.label.n);
  for (uint32_t i = 0; i < l->p.r.label.n; i++) leaf[i] = label_leaf(b, &list, &l->p.r.label.at[i]);
  Id wire = val_to_wire(b, &v, 0);
  if (!wire) return val_error(span);
  Loop loop = {.combine = SUM};
  Access out = {.coord = NEW_ARRAY(w->arena, Coord, RANK_LIMIT * 2)};
  Axis out_axis[RANK_LIMIT * 2];
  for (uint32_t i = 0; i < list.n; i++)
    if (list.axis[i].pass) out_axis[out.rank] = list.axis[i], out.coord[out.rank++] = coord_index(w, i);
  for (uint32_t k = 0; k < l->p.n; k++) {
    const Affine *a = &l->p.place[k];
    Coord c = coord_const(w, a->c);
    for (uint32_t i = 0; i < a->n; i++) {
      Axis axis = a->label[i] ? (Axis){0} : index_axis(&l->eq, a->var[i]);
      c = coord_add(w, c, a->coef[i], a->label[i] ? a->var[i] : axis_for(&list, &axis), a->label[i]);
    }
    out_axis[out.rank] = want->axis[k];
    out.coord[out.rank++] = c;
  }
  loop.nindex = list.n;
  loop.index = NEW_ARRAY(w->arena, Index, list.n);
  uint32_t all[RANK_LIMIT];
  for (uint32_t i = 0; i < list.n; i++) {
    all[i] = i;
    Name name = list.axis[i].label ? list.axis[i].label : name_from(w->names, arena_format(w->arena, "i%u", i));
    loop.index[i] = (Index){name, list.axis[i].size};
  }
  loop.nin = l->p.r.label.n + 1;
  loop.in = NEW_ARRAY(w->arena, Access, loop.nin);
  Id in[RANK_LIMIT + 1];
  for (uint32_t i = 0; i + 1 < loop.nin; i++) {
    loop.in[i] = (Access){.rank = b->d->wire.at[leaf[i]->wire].type.rank, .coord = leaf[i]->coord};
    in[i] = leaf[i]->wire;
  }
  loop.in[loop.nin - 1] = access_plain(w, v.type.rank, all);
  in[loop.nin - 1] = wire;
  loop.out = out;
  scalar_push(w, &loop, (Scalar){.fn = FN_ARG, .base = v.type.base, .ref = loop.nin - 1});
  Type t = type_make(w, v.type.base, out.rank, out_axis);
  return val_wire(b, box_loop(w, b->d, &loop, in, loop.nin, t, origin_at(b, span)), span);
}

// An index that is summed has no value outside its product.
static bool summed_left_over(Body *b, Eq *eq, const Val *v) {
  World *w = b->w;
  for (uint32_t i = 0; i < v->type.rank; i++) {
    uint32_t at = 0;
    bool reduced = v->type.axis[i].pass || !eq_has(eq, v->type.axis[i].label, &at);
    for (uint32_t k = 0; k < v->nreduce; k++) reduced |= v->reduce[k] == i;
    if (reduced) continue;
    const EqIndex *index = &eq->index.at[at];
    if (index->left || index->bound || index->nameless || !index->summed.file) continue;
    Id e = diag_error(w->diags, v->span, "index %s is summed, and has no value outside of its product", name_text(w->names, index->name));
    if (index->summed.at != v->span.at || index->summed.n != v->span.n) diag_note(w->diags, e, index->summed, "summed here");
    return true;
  }
  return false;
}

static Val equation_with_left(Body *b, Env *env, const Node *brackets, const Node *expr, const Node *pad, const Type *want, Span span) {
  Left l = {0};
  uint32_t errors = b->w->diags->errors;
  eq_pad(b, env, &l.eq, pad);
  if (!read_left(&l, b, env, brackets, want)) return val_error(span);
  Val v = eval_one(b, env, expr, &l.eq);
  if (v.error || summed_left_over(b, &l.eq, &v)) return val_error(span);
  if (v.literal) v = val_fill(b, v, (Type){.base = (uint8_t)(want ? want->base : BASE_R)});
  uint32_t own[RANK_LIMIT];
  if (!v.indexed && own_axes(&v.type, own)) {
    bool all = true;
    for (uint32_t i = 0; i < v.type.rank; i++) all &= v.type.axis[i].pass || eq_has(&l.eq, v.type.axis[i].label, NULL);
    if (!all) {
      Id e = diag_error(b->w->diags, expr->span, "the left side has indices, but the right side is %s without them", own_text(b->w, &v.type));
      diag_help(b->w->diags, e, "as many indices as axes, always");
      return val_error(span);
    }
  }
  Val written = l.p.r.label.n ? scatter(b, &l, v, want, span) : write_left(b, &l, v, want, span);
  eq_finish(b, env, &l.eq, written.error || b->w->diags->errors > errors);
  written.span = span;
  written.indexed = written.access = false;
  return written;
}

// A declared result gives its sizes to the indices that stay.
static void take_sizes(Body *b, const Val *v, const Type *want, Span span) {
  uint32_t stay[RANK_LIMIT], n = 0;
  for (uint32_t i = 0; i < v->type.rank; i++) {
    bool reduced = v->type.axis[i].pass != 0;
    for (uint32_t k = 0; k < v->nreduce; k++) reduced |= v->reduce[k] == i;
    if (!reduced) stay[n++] = i;
  }
  for (uint32_t k = 0; k < n && n == want->rank; k++) sizes_agree(b, v->type.axis[stay[k]].size, want->axis[k].size, span, span, "a result");
}

// A range of an axis without a label gives an axis without a label.
static void forget_labels(Body *b, const Eq *eq, Val *v) {
  uint32_t index;
  v->type.axis = arena_copy(b->w->arena, v->type.axis, v->type.rank * sizeof(Axis));
  for (uint32_t i = 0; i < v->type.rank; i++)
    if (eq_has(eq, v->type.axis[i].label, &index) && eq->index.at[index].nameless) v->type.axis[i].label = 0;
}

Value eval_equation(Body *b, Env *env, const Node *brackets, const Node *expr, const Node *pad, const Type *want, Span span) {
  if (brackets) return value_one(b, equation_with_left(b, env, brackets, expr, pad, want, span));
  if (expr->kind == N_TUPLE) { // each part has its own indices
    Value all = {0};
    for (uint32_t i = 0; i < expr->nkid; i++) all = value_concat(b, all, eval_equation(b, env, NULL, expr->kid[i], pad, NULL, expr->kid[i]->span));
    return all;
  }
  Eq eq = {0};
  uint32_t errors = b->w->diags->errors;
  eq_pad(b, env, &eq, pad);
  Value v = eval(b, env, expr, &eq);
  bool failed = false;
  for (uint32_t i = 0; i < v.n; i++) {
    Val *one = &v.at[i];
    if (!one->error && summed_left_over(b, &eq, one)) *one = val_error(span);
    failed |= one->error;
    if (one->error) continue;
    if (want && one->indexed && v.n == 1) take_sizes(b, one, want, span);
    one->indexed = one->access = false;
    forget_labels(b, &eq, one);
  }
  eq_finish(b, env, &eq, failed || b->w->diags->errors > errors);
  return v;
}
