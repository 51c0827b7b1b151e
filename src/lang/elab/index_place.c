// Positions in brackets, as in `x[2*i+p (h w) 0 t[i]]`. Each is read as an affine form over the
// indices of the equation and over labels; together they make an access of a wire.
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "lang/elab/index_own.h"

uint32_t eq_index(Body *b, Eq *eq, Name name, Span span) {
  uint32_t i;
  bool known = eq_has(eq, name, &i);
  use_of_index(b->in, name, span, known ? eq->index.at[i].span : span);
  if (known) return i;
  EqIndex index = {.name = name, .size = size_var(b->w, name, VAR_INDEX, span), .span = span};
  index.outer = index.bound = index_around(eq, name) != NULL;
  vec_push(b->w->arena, &eq->index, index);
  return eq->index.n - 1;
}

// -- coordinates ----------------------------------------------------------------------------------

static bool affine(PlaceReader *, const Syntax *, Affine *);

static bool add_term(PlaceReader *r, Affine *a, Size coef, uint32_t var, bool label, Span span) {
  for (uint32_t i = 0; i < a->n; i++)
    if (a->var[i] == var && a->label[i] == label) {
      a->coef[i] = size_add(r->b->w, a->coef[i], coef);
      return true;
    }
  if (a->n == RANK_LIMIT) return diag_refuse(r->b->w->diags, span, "too many indices in one place");
  a->coef[a->n] = coef;
  a->var[a->n] = var;
  a->label[a->n++] = label;
  return true;
}

static bool index_term(PlaceReader *r, Affine *a, Name name, Span span) {
  uint32_t i = eq_index(r->b, r->eq, name, span);
  vec_push(r->b->w->arena, &r->eq->mention, i);
  r->named = true;
  return add_term(r, a, size_of(r->b->w, 1), i, false, span);
}

static bool label_term(PlaceReader *r, Affine *a, Val v, Span span) {
  World *w = r->b->w;
  if (v.error) return false;
  if (v.type.base != BASE_LABEL) {
    Id e = diag_error(w->diags, span, "an index is a name, a number or a label, but this is %s",
                      own_text(w, &v.type));
    return diag_help(w->diags, e, "only labels `{n}` can point into an axis");
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

// A name in a position: an index if it is one already or labels an axis; a number if it is an
// option or loop variable that labels none.
static bool name_term(PlaceReader *r, const Syntax *n, Affine *a) {
  Binding *bind = env_meaning(r->env, n);
  if (eq_has(r->eq, n->name, NULL)) return index_term(r, a, n->name, n->span);
  if (bind && (bind->kind == BIND_LOOP || bind->kind == BIND_OPTION) &&
      !(r->b->labels && table_get(r->b->labels, &n->name, sizeof n->name))) {
    a->c = size_eval(r->b, r->env, n, false);
    return a->c != 0;
  }
  if (bind && (bind->kind == BIND_VALUE || bind->kind == BIND_STATE)) {
    if (bind->value.n != 1)
      return diag_refuse(r->b->w->diags, n->span, "a tuple cannot be an index");
    Val v = bind->value.at[0];
    v.span = n->span;
    return label_term(r, a, v, n->span);
  }
  Def *d = bind ? NULL : scope_meaning(r->env->scope, n);
  if (d && ((d->kind == DEF_GIVEN && r->b->fields) || d->kind == DEF_CONST)) {
    double k;
    if (d->kind == DEF_CONST && static_number(r->b, r->env, n, &k)) {
      a->c = size_eval(r->b, r->env, n, false);
      return a->c != 0;
    }
    return label_term(r, a, eval_one(r->b, r->env, n, r->eq), n->span);
  }
  if (!bind && !d && strcmp(name_text(r->b->w->names, n->name), "batch") == 0)
    return diag_refuse(
        r->b->w->diags, n->span,
        "the axis batch is never written: it can only be reduced, as in `mean[batch](x)`");
  return index_term(r, a, n->name, n->span);
}

static bool scale(PlaceReader *r, Affine *a, Size by) {
  World *w = r->b->w;
  a->c = size_mul(w, a->c, by);
  for (uint32_t i = 0; i < a->n; i++) a->coef[i] = size_mul(w, a->coef[i], by);
  return true;
}

static bool add_affine(PlaceReader *r, Affine *a, const Affine *more, bool minus, Span span) {
  World *w = r->b->w;
  Size zero = size_of(w, 0);
  a->c = minus ? size_sub(w, a->c, more->c) : size_add(w, a->c, more->c);
  for (uint32_t i = 0; i < more->n; i++)
    if (!add_term(r, a, minus ? size_sub(w, zero, more->coef[i]) : more->coef[i], more->var[i],
                  more->label[i], span))
      return false;
  return true;
}

static bool sum_affine(PlaceReader *r, const Syntax *n, Affine *a) {
  if (!affine(r, sum_terms(n).at[0], a)) return false;
  for (uint32_t i = 1; i < sum_terms(n).n; i++) {
    Affine more;
    if (!affine(r, sum_terms(n).at[i], &more) ||
        !add_affine(r, a, &more, sum_sign(n, i) == SIGN_MINUS, n->span))
      return false;
  }
  return true;
}

static bool product_affine(PlaceReader *r, const Syntax *n, Affine *a) {
  World *w = r->b->w;
  if (!affine(r, prod_factors(n).at[0], a)) return false;
  for (uint32_t i = 1; i < prod_factors(n).n; i++) {
    Affine by;
    if (!affine(r, prod_factors(n).at[i], &by)) return false;
    SyntaxSign sign = prod_sign(n, i);
    if (sign == SIGN_TIMES && a->n && by.n)
      return diag_refuse(
          w->diags, n->span,
          "an index times an index is not affine: a place is a sum of numbers times indices");
    if (sign != SIGN_TIMES && (a->n || by.n))
      return diag_refuse(w->diags, n->span,
                         "an index cannot be divided: a place is a sum of numbers times indices");
    if (sign == SIGN_TIMES && by.n) {
      Size k = a->c;
      *a = by;
      scale(r, a, k);
    } else if (sign == SIGN_TIMES) {
      scale(r, a, by.c);
    } else {
      a->c = sign == SIGN_DIVIDE ? size_quotient(w, a->c, by.c) : size_floor(w, a->c, by.c);
      if (!a->c) return diag_refuse(w->diags, n->span, "division by 0");
    }
  }
  return true;
}

// The label of axis i of a spread.
static Name row_label(World *w, const Binding *row, Name name, uint32_t i) {
  if (row->axis[i].label) return row->axis[i].label;
  return name_from(w->names, arena_format(w->arena, "%s_%u", name_text(w->names, name), i));
}

// (h w): row-major index of plain indices.
static bool group_affine(PlaceReader *r, const Syntax *n, Affine *a) {
  World *w = r->b->w;
  Size all = size_of(w, 1);
  VEC(Affine) part = {0};
  for (uint32_t i = 0; i < group_slots(n).n; i++)
    for (uint32_t k = 0; k < items_in(group_slots(n).at[i]).n; k++) {
      const Syntax *item = items_in(group_slots(n).at[i]).at[k];
      if (item->kind == N_SPREAD) {
        Binding *s = env_meaning(r->env, item);
        for (uint32_t j = 0; s && s->kind == BIND_SPREAD && j < s->naxis; j++) {
          Affine one = {.c = size_of(w, 0)};
          index_term(r, &one, row_label(w, s, item->name, j), item->span);
          vec_push(w->arena, &part, one);
        }
        continue;
      }
      Affine one;
      if (!affine(r, item, &one)) return false;
      if (!is_plain_index(w, &one))
        return diag_refuse(w->diags, item->span, "a group holds plain indices");
      vec_push(w->arena, &part, one);
    }
  for (uint32_t i = part.n; i-- > 0;) {
    if (!add_term(r, a, all, part.at[i].var[0], false, n->span)) return false;
    all = size_mul(w, all, r->eq->index.at[part.at[i].var[0]].size);
  }
  a->group = part.n > 1;
  return true;
}

static Val access_one(PlaceReader *r, const Syntax *n) {
  Value v = eval_access(r->b, r->env, n, r->eq);
  return v.n == 1 ? v.at[0] : val_error(n->span);
}

static bool affine(PlaceReader *r, const Syntax *n, Affine *a) {
  World *w = r->b->w;
  memset(a, 0, sizeof *a);
  a->c = size_of(w, 0);
  switch (n->kind) {
  case N_NAME: return name_term(r, n, a);
  case N_SUM: return sum_affine(r, n, a);
  case N_PROD: return product_affine(r, n, a);
  case N_PAREN: return affine(r, paren_inner(n), a);
  case N_NEG: return affine(r, neg_operand(n), a) && scale(r, a, size_of(w, -1));
  case N_SIZED: {
    uint32_t i = eq_index(r->b, r->eq, n->name, n->name_span);
    Size s = size_eval(r->b, r->env, sized_value(n), false);
    if (!s) return false;
    if (!sizes_agree(r->b, r->eq->index.at[i].size, s, n->span, n->span, "an index"))
      return diag_refuse(w->diags, n->span, "index %s is given %s places, but it has %s",
                         name_text(w->names, n->name), size_text(w, s),
                         size_text(w, r->eq->index.at[i].size));
    return index_term(r, a, n->name, n->name_span);
  }
  case N_GROUP:
    if (group_slots(n).n == 1 && items_in(group_slots(n).at[0]).n == 1 &&
        items_in(group_slots(n).at[0]).at[0]->kind != N_SPREAD)
      return affine(r, items_in(group_slots(n).at[0]).at[0], a);
    return group_affine(r, n, a);
  case N_AT:
    if (at_base(n)->kind == N_NAME && strcmp(name_text(w->names, at_base(n)->name), "size") == 0)
      break;
    return label_term(r, a, access_one(r, n), n->span);
  case N_CALL:
  case N_DOT: return label_term(r, a, eval_one(r->b, r->env, n, r->eq), n->span);
  default: break;
  }
  a->c = size_eval(r->b, r->env, n, false);
  return a->c != 0;
}

// -- an access ------------------------------------------------------------------------------------

static void add_place(IndexPlaces *p, const Affine *a, Span span) {
  if (p->n == p->room) return;
  p->span[p->n] = span;
  p->place[p->n++] = *a;
}

// The name of the index that iterates over a range. A program cannot contain such a name, so a range never
// captures an index that is written in the equation. Ranges of axes with the same label share an index, as in
// `x[0..1] + y[0..1]`, but not within one access: `x[0..1 0..1]` of R[n n] is a block, not its diagonal.
static Name range_index(const IndexPlaces *p, const Axis *axis) {
  World *w = p->r.b->w;
  Name name =
      axis && axis->label
          ? name_from(w->names, arena_format(w->arena, "%s..", name_text(w->names, axis->label)))
          : 0;
  bool taken = !name;
  for (uint32_t k = 0; k < p->n && !taken; k++)
    taken = p->place[k].range && p->r.eq->index.at[p->place[k].var[0]].name == name;
  return taken ? name_from(w->names, arena_format(w->arena, "_%u", p->n)) : name;
}

// x[2..5]: a slice.
static bool range_place(IndexPlaces *p, const Syntax *n, const Axis *axis) {
  Body *b = p->r.b;
  World *w = b->w;
  Size from = size_eval(b, p->r.env, range_low(n), false),
       to = size_eval(b, p->r.env, range_high(n), false);
  if (!from || !to) return false;
  uint32_t i = eq_index(b, p->r.eq, range_index(p, axis), n->span);
  p->r.eq->index.at[i].ranged = true;
  p->r.eq->index.at[i].label = axis ? axis->label : 0;
  p->r.eq->index.at[i].plain = true; // it determines its axis
  Size length = size_add(w, size_sub(w, to, from), size_of(w, 1));
  int64_t v;
  if (size_value(w, length, &v) && v <= 0)
    return diag_refuse(w->diags, n->span, "this range is empty: %s to %s", size_text(w, from),
                       size_text(w, to));
  if (!sizes_agree(b, p->r.eq->index.at[i].size, length, n->span, n->span, "a range"))
    return diag_refuse(w->diags, n->span, "this range has %s places, but its index has %s already",
                       size_text(w, length), size_text(w, p->r.eq->index.at[i].size));
  Affine a = {.n = 1, .coef = {size_of(w, 1)}, .var = {i}, .c = from, .range = true};
  add_place(p, &a, n->span);
  return true;
}

static bool spread_places(IndexPlaces *p, const Syntax *n) {
  World *w = p->r.b->w;
  Binding *s = env_meaning(p->r.env, n);
  if (!s || s->kind != BIND_SPREAD)
    return diag_refuse(w->diags, n->span, "`...%s` is not a row of axes here",
                       name_text(w->names, n->name));
  for (uint32_t j = 0; j < s->naxis; j++) {
    Affine a = {.c = size_of(w, 0)};
    if (!index_term(&p->r, &a, row_label(w, s, n->name, j), n->span)) return false;
    if (!sizes_agree(p->r.b, p->r.eq->index.at[a.var[0]].size, s->axis[j].size, n->span, n->span,
                     "an index"))
      return false;
    add_place(p, &a, n->span);
  }
  return true;
}

// Reports a lone constant, which could be meant as an index.
static bool names_constant(const PlaceReader *r, const Syntax *n) {
  if (n->kind != N_NAME || eq_has(r->eq, n->name, NULL) || env_meaning(r->env, n)) return false;
  const Def *d = scope_meaning(r->env->scope, n);
  double k;
  if (!d || d->kind != DEF_CONST || !static_number(r->b, r->env, n, &k)) return false;
  World *w = r->b->w;
  const char *name = name_text(w->names, n->name);
  Id e = diag_error(w->diags, n->span, "`%s` is no index here, but the constant %g", name, k);
  diag_note(w->diags, e, d->span, "declared here");
  diag_help(w->diags, e, "`(%s)` is that place; an index wants another name", name);
  return true;
}

bool read_places(IndexPlaces *p, const Syntax *brackets, const Axis *axis, const uint32_t *own,
                 uint32_t nown) {
  World *w = p->r.b->w;
  const Syntax *items = brackets_first(brackets);
  p->room = items && items_in(items).n < RANK_LIMIT ? items_in(items).n : RANK_LIMIT;
  for (uint32_t i = 0; items && i < items_in(items).n; i++)
    if (items_in(items).at[i]->kind == N_SPREAD) p->room = RANK_LIMIT; // any number of positions
  p->place = NEW_ARRAY(w->arena, Affine, p->room);
  p->span = NEW_ARRAY(w->arena, Span, p->room);
  if (brackets_slots(brackets).n > 1) {
    Id e = diag_error(w->diags, brackets->span, "indices are separated by spaces");
    return diag_help(w->diags, e, "`x[i j]`, not `x[i, j]`");
  }
  if (items && items->kind != N_ITEMS)
    return diag_refuse(w->diags, items->span, "indices are wanted here, not a box");
  for (uint32_t i = 0; items && i < items_in(items).n; i++) {
    const Syntax *item = items_in(items).at[i];
    Affine a;
    bool good;
    if (item->kind == N_RANGE)
      good = range_place(p, item, p->n < nown ? &axis[own[p->n]] : NULL);
    else if (item->kind == N_SPREAD)
      good = spread_places(p, item);
    else if ((good = !names_constant(&p->r, item) && affine(&p->r, item, &a)))
      add_place(p, &a, item->span);
    if (!good) return false;
  }
  return true;
}

uint32_t axis_for(AxisList *list, const Axis *axis) {
  for (uint32_t i = 0; i < list->n && i < RANK_LIMIT; i++) {
    const Axis *a = &list->axis[i];
    if (axis->pass ? a->pass == axis->pass : !a->pass && a->label == axis->label) return i;
  }
  if (list->n < RANK_LIMIT) list->axis[list->n] = *axis;
  return list->n++;
}

Axis index_axis(const Eq *eq, uint32_t i) {
  return (Axis){.label = eq->index.at[i].name, .size = eq->index.at[i].size};
}

static bool is_one_term(World *w, const Affine *a) {
  return a->n == 1 && a->coef[0] == size_of(w, 1) && a->c == size_of(w, 0);
}

bool is_plain_index(World *w, const Affine *a) { return is_one_term(w, a) && !a->label[0]; }

// A label must have the count of the axis it indexes.
static bool is_label(World *w, const Affine *a) { return is_one_term(w, a) && a->label[0]; }

static bool label_fits(IndexPlaces *p, const Affine *a, const Axis *axis, Span span) {
  World *w = p->r.b->w;
  const Val *v = &p->r.label.at[a->var[0]];
  if (sizes_agree(p->r.b, v->type.count, axis->size, span, span, "a label and its axis"))
    return true;
  return diag_refuse(w->diags, span, "a label of %s points into an axis of %s",
                     own_text(w, &v->type), size_text(w, axis->size));
}

// In a sum such as `x[t[i]+1]`, a label ranges over its count like an index.
static uint32_t label_range(Body *b, Eq *eq, const Val *v, Span span) {
  EqIndex index = {.size = v->type.count, .span = span, .gone = true};
  vec_push(b->w->arena, &eq->index, index);
  return eq->index.n - 1;
}

// A plain index unifies with its axis; every other position is recorded and checked when all sizes
// are known.
static bool note_place(IndexPlaces *p, Eq *eq, const Affine *a, const Axis *axis, Span span) {
  Body *b = p->r.b;
  World *w = b->w;
  if (is_label(w, a)) return label_fits(p, a, axis, span);
  if (is_plain_index(w, a) && !a->range) {
    EqIndex *index = &eq->index.at[a->var[0]];
    index->plain = true;
    if (sizes_agree(b, index->size, axis->size, span, index->span, "an index")) return true;
    Id e = diag_error(w->diags, span, "index %s runs over %s places, but this axis%s%s has %s",
                      name_text(w->names, index->name), size_text(w, index->size),
                      axis->label ? " " : "", name_text(w->names, axis->label),
                      size_text(w, axis->size));
    return diag_note(w->diags, e, index->span, "%s = %s comes from here",
                     name_text(w->names, index->name), size_text(w, index->size));
  }
  IndexReach reach = {.size = axis->size,
                      .coord = {.c = a->c},
                      .span = span,
                      .padded = eq->padded,
                      .group = a->group,
                      .range = a->range};
  for (uint32_t i = 0; i < a->n; i++) {
    uint32_t var = a->label[i] ? label_range(b, eq, &p->r.label.at[a->var[i]], span) : a->var[i];
    reach.coord = coord_add(w, reach.coord, a->coef[i], var, false);
  }
  vec_push(w->arena, &eq->reach, reach);
  return true;
}

Expr *label_leaf(Body *b, AxisList *list, const Val *v) {
  Expr *x = arena_copy(b->w->arena, v->x, sizeof *v->x);
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
  Id e =
      diag_error(b->w->diags, span, "%s has %u %s, but %u %s written", own_text(b->w, &base->type),
                 n, n == 1 ? "axis" : "axes", have, have == 1 ? "index is" : "indices are");
  diag_help(b->w->diags, e, "as many indices as axes, always");
  return true;
}

Val index_value(Body *b, Env *env, Val base, const Syntax *brackets, Span span, Eq *eq) {
  World *w = b->w;
  if (base.error) return val_error(span);
  Id wire = val_to_wire(b, &base, 0);
  if (!wire) return val_error(span);
  uint32_t own[RANK_LIMIT], nown = own_axes(&base.type, own);
  IndexPlaces p = {.r = {.b = b, .env = env, .eq = eq}};
  if (!read_places(&p, brackets, base.type.axis, own, nown) || wrong_count(b, &base, p.n, span))
    return val_error(span);
  AxisList list = {0};
  Expr *x = NEW(w->arena, Expr);
  *x = (Expr){.kind = X_WIRE,
              .base = base.type.base,
              .wire = wire,
              .turn = b->d->turn,
              .coord = NEW_ARRAY(w->arena, Coord, base.type.rank)};
  for (uint32_t i = 0; i < base.type.rank; i++) // batch axes stay
    if (base.type.axis[i].pass) x->coord[i] = coord_index(w, axis_for(&list, &base.type.axis[i]));
  x->nlabel = p.r.label.n;
  x->label = NEW_ARRAY(w->arena, Expr *, x->nlabel);
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
    skewed |= !is_one_term(w, a);
    x->coord[own[k]] = c;
  }
  x->padded = eq->padded && skewed;
  if (x->padded && !number_fits(b, eq->pad, &base.type, span)) return val_error(span);
  x->pad = eq->pad;
  if (!rank_fits(w, list.n, span)) return val_error(span);
  x->rank = list.n;
  Type t = type_like(w, &base.type, list.n, list.axis);
  bool label_indexed = false;
  for (uint32_t i = 0; i < p.r.label.n; i++) label_indexed |= p.r.label.at[i].indexed;
  return (Val){
      .x = x, .type = t, .span = span, .indexed = p.r.named || label_indexed, .access = true};
}
