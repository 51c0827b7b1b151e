// Values under construction: scalar expressions with named axes, and their lowering to boxes.
// Combining values first unifies their axes: batch axes by number, indices of an equation by name,
// others by label or from the right. A value becomes one loop whose indices are its axes.

#include "lang/value/value.h"
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/ops.h"

#include <math.h>

Id origin_at(Body *b, Span span) { return origin_new(b->w, span, 0, WHY_SOURCE); }

Val val_error(Span span) { return (Val){.error = true, .span = span}; }
Val val_ghost(Id wire, Span span) { return (Val){.error = true, .ghost = wire, .span = span}; }

Value value_one(Body *b, Val v) { return (Value){1, arena_copy(b->w->arena, &v, sizeof v), NULL}; }
Value value_error(Body *b, Span span) { return value_one(b, val_error(span)); }

Value value_concat(Body *b, Value left, Value right) {
  Value all = {.n = left.n + right.n, .at = NEW_ARRAY(b->w->arena, Val, left.n + right.n)};
  if (left.n) memcpy(all.at, left.at, left.n * sizeof(Val));
  if (right.n) memcpy(all.at + left.n, right.at, right.n * sizeof(Val));
  return all;
}

bool value_join(Body *b, WideValue *all, Value more, Span span) {
  uint32_t n = all->value.n + more.n;
  if (n > WIRES_LIMIT) {
    all->value = value_error(b, span);
    return diag_refuse(b->w->diags, span, "%u wires side by side are too many: %d are the most", n,
                       WIRES_LIMIT);
  }
  if (n > all->room) {
    all->room = 2 * n;
    Val *at = NEW_ARRAY(b->w->arena, Val, all->room);
    if (all->value.n) memcpy(at, all->value.at, all->value.n * sizeof(Val));
    all->value.at = at;
  }
  if (more.n) memcpy(all->value.at + all->value.n, more.at, more.n * sizeof(Val));
  all->value.n = n;
  return true;
}

Value value_copy(Body *b, Value v) {
  v.at = arena_copy(b->w->arena, v.at, v.n * sizeof(Val));
  return v;
}

bool value_failed(const Value *v) {
  for (uint32_t i = 0; i < v->n; i++)
    if (v->at[i].error) return true;
  return false;
}

static Expr *x_new(Body *b, XKind kind, Base base, uint32_t rank) {
  Expr *x = NEW(b->w->arena, Expr);
  x->kind = kind;
  x->base = (uint8_t)base;
  x->rank = rank;
  x->turn = b->d->turn;
  return x;
}

Val val_literal(Body *b, double k, Span span) {
  Expr *x = x_new(b, X_CONST, BASE_R, 0);
  x->k = k;
  return (Val){.x = x, .type = {.base = BASE_R}, .span = span, .literal = true};
}

Val val_size(Body *b, Size size, Span span) {
  Expr *x = x_new(b, X_SIZE, BASE_R, 0);
  x->size = size;
  return (Val){.x = x, .type = {.base = BASE_R}, .span = span};
}

bool rank_fits(World *w, uint64_t rank, Span span) {
  return rank <= RANK_LIMIT ||
         diag_refuse(w->diags, span, "this would have %llu axes, and %d are the most",
                     (unsigned long long)rank, RANK_LIMIT);
}

// Every value of a wire is made here, so none exceeds RANK_LIMIT axes.
Val val_wire(Body *b, Id wire, Span span) {
  Type t = b->d->wire.at[wire].type;
  if (!rank_fits(b->w, t.rank, span)) return val_error(span);
  Expr *x = x_new(b, X_WIRE, t.base, t.rank);
  x->wire = wire;
  x->coord = NEW_ARRAY(b->w->arena, Coord, t.rank);
  for (uint32_t i = 0; i < t.rank; i++) x->coord[i] = coord_index(b->w, i);
  return (Val){.x = x, .type = t, .span = span};
}

// Can the number be an element of this type? Reports it if not. In a generic body the number of
// labels may be unknown: instances are checked again.
bool number_fits(Body *b, double k, const Type *type, Span span) {
  World *w = b->w;
  Type one = {.base = type->base, .count = type->count, .names = type->names};
  int64_t count = 2;
  if (type->base == BASE_R) return true;
  bool known = type->base == BASE_BIT || size_value(w, type->count, &count);
  if (k >= 0 && k == floor(k) && (known ? k < (double)count : k == 0 || b->generic)) return true;
  if (type->base == BASE_BIT)
    return diag_refuse(w->diags, span, "%.10g is not a bit: a bit is 0 or 1", k);
  if (!known)
    return diag_refuse(w->diags, span,
                       "%.10g may not be one of the labels %s: their number is not "
                       "known here",
                       k, own_text(w, &one));
  return diag_refuse(w->diags, span,
                     "%.10g is not one of the labels %s: they are the whole numbers from 0 to %lld",
                     k, own_text(w, &one), (long long)count - 1);
}

// Broadcasts a literal to a type.
Val val_fill(Body *b, Val v, Type type) {
  if (!v.literal || v.error) return v;
  double k = number_fits(b, v.x->k, &type, v.span) ? v.x->k : 0;
  Expr *x = x_new(b, X_CONST, type.base, type.rank);
  x->k = k;
  return (Val){.x = x, .type = type, .span = v.span};
}

uint32_t own_axes(const Type *t, uint32_t *position) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < t->rank; i++)
    if (!t->axis[i].pass) position[n++] = i;
  return n;
}

Type type_like(World *w, const Type *t, uint32_t rank, const Axis *axis) {
  Type like = *t;
  like.rank = rank;
  like.axis = arena_copy(w->arena, axis, rank * sizeof(Axis));
  return like;
}

Type own_type(World *w, const Type *t) {
  uint32_t own[RANK_LIMIT], n = own_axes(t, own);
  Axis axis[RANK_LIMIT];
  for (uint32_t i = 0; i < n; i++) axis[i] = t->axis[own[i]];
  return type_like(w, t, n, axis);
}

Type type_without(World *w, const Type *t, uint32_t axis) {
  Type less = type_like(w, t, t->rank, t->axis);
  less.rank--;
  for (uint32_t i = axis; i < less.rank; i++) less.axis[i] = less.axis[i + 1];
  return less;
}

bool label_is_in(World *w, Name label, Name group) {
  const char *text = name_text(w->names, label), *outer = name_text(w->names, group);
  size_t n = strlen(outer);
  return label == group || (!strncmp(text, outer, n) && text[n] == '.');
}

int label_named(World *w, const Type *t, Name name) {
  if (t->base != BASE_LABEL || !t->names) return -1;
  const Ids *names = &w->label_names.at[t->names];
  for (uint32_t i = 0; i < names->n; i++)
    if (names->at[i] == name) return (int)i;
  for (uint32_t i = 0; i < names->n; i++)
    if (label_is_in(w, names->at[i], name)) return (int)i;
  return -1;
}

bool shapes_agree(Body *b, const Type *left, const Type *right, Span span, const char *what) {
  bool fits = left->base == right->base && left->rank == right->rank;
  if (fits && left->base == BASE_LABEL)
    fits = sizes_agree(b, left->count, right->count, span, span, what);
  for (uint32_t i = 0; fits && i < left->rank; i++)
    fits = sizes_agree(b, left->axis[i].size, right->axis[i].size, span, span, what);
  return fits;
}

const char *nearest_label(World *w, const Type *t, Name label) {
  Nearest near = nearest_to(name_text(w->names, label));
  for (uint32_t i = 0; i < t->rank; i++)
    if (!t->axis[i].pass && t->axis[i].label)
      nearest_try(&near, name_text(w->names, t->axis[i].label));
  nearest_try(&near, "batch");
  return near.best;
}

// A type as the user wrote it: without batch axes and generated labels.
const char *own_text(World *w, const Type *t) {
  Axis axis[RANK_LIMIT];
  Type shown = *t;
  shown.rank = 0;
  shown.axis = axis;
  for (uint32_t i = 0; i < t->rank; i++)
    if (!t->axis[i].pass) {
      axis[shown.rank] = t->axis[i];
      const char *end = strrchr(name_text(w->names, t->axis[i].label), '_');
      if (end && end[1] && !end[1 + strspn(end + 1, "0123456789")]) axis[shown.rank].label = 0;
      shown.rank++;
    }
  return type_text(w, &shown);
}

// -- joining axes ---------------------------------------------------------------------------------
typedef struct {
  Body *b;
  Span span;
  const Eq *eq;
  uint32_t n;
  Axis axis[RANK_LIMIT];
  uint32_t npass;
} Joined;

static bool too_many_axes(Joined *j) { return !rank_fits(j->b->w, (uint64_t)j->n + 1, j->span); }

static void misfit(Joined *j, const Val *a, const Val *v) {
  World *w = j->b->w;
  Type left = a->type, right = v->type;
  Id e = diag_error(w->diags, j->span, "%s and %s do not fit together axis by axis",
                    own_text(w, &left), own_text(w, &right));
  Buf a_text = buf_new(w->arena), b_text = buf_new(w->arena);
  bool labelled = true;
  for (int side = 0; side < 2; side++) {
    const Type *t = side ? &right : &left;
    for (uint32_t i = 0; i < t->rank; i++) {
      if (t->axis[i].pass) continue;
      labelled &= t->axis[i].label != 0;
      buf_printf(side ? &b_text : &a_text, " %s", name_text(w->names, t->axis[i].label));
    }
  }
  if (labelled && a_text.n && b_text.n)
    diag_help(w->diags, e,
              "say which axis meets which with an index equation, as in `Y[%s] = a[%s] - b[%s]`",
              a_text.at + 1, a_text.at + 1, b_text.at + 1);
  else
    diag_help(w->diags, e,
              "say which axis meets which with an index equation, as in `Y[i j] = a[i j] - b[i]`");
}

// Unifies an axis of an operand with the axis of the result.
static bool unify_axis(Joined *j, uint32_t at, const Axis *axis) {
  Axis *have = &j->axis[at];
  World *w = j->b->w;
  if (have->decl && axis->decl && have->decl != axis->decl && have->label != axis->label) {
    Id e = diag_error(w->diags, j->span, "axis %s meets axis %s", name_text(w->names, have->label),
                      name_text(w->names, axis->label));
    diag_help(w->diags, e, "both are declared, and they are not the same even if their sizes are");
    diag_note(w->diags, e, def_of(j->b->in, axis->decl)->span, "axis %s is declared here",
              name_text(w->names, axis->label));
    clash_note(j->b, *have, *axis);
    return false;
  }
  if (!sizes_agree(j->b, have->size, axis->size, j->span, j->span, "axes that meet")) {
    Type one = {.base = BASE_R, .rank = 1, .axis = have},
         other = {.base = BASE_R, .rank = 1, .axis = (Axis *)axis};
    const char *left = own_text(w, &one), *right = own_text(w, &other);
    Id e = diag_error(w->diags, j->span, "an axis of %.*s meets one of %.*s", (int)strlen(left) - 3,
                      left + 2, (int)strlen(right) - 3, right + 2);
    int64_t a, c;
    bool single =
        (size_value(w, have->size, &a) && a == 1) || (size_value(w, axis->size, &c) && c == 1);
    return diag_help(
        w->diags, e,
        single ? "a size of 1 does not stretch: omit that axis, or write the index equation"
               : "axes are matched by label, or from the right if they have none");
  }
  if (!have->label) have->label = axis->label, have->decl = axis->decl;
  return true;
}

static uint32_t find_label(const Joined *j, Name label, uint32_t from, uint32_t *count) {
  uint32_t at = 0;
  *count = 0;
  for (uint32_t i = from; i < j->n; i++)
    if (label && j->axis[i].label == label) at = i, ++*count;
  return at;
}

static bool add_passing(Joined *j, const Val *arg, uint32_t n) {
  for (uint32_t id = 1; id <= j->b->npass; id++)
    for (uint32_t a = 0, found = 0; a < n && !found; a++)
      for (uint32_t i = 0; i < arg[a].type.rank && !found; i++)
        if (arg[a].type.axis[i].pass == id) {
          if (too_many_axes(j)) return false;
          j->axis[j->n++] = arg[a].type.axis[i];
          found = 1;
        }
  j->npass = j->n;
  return true;
}

static bool seems_indexed(const Val *v,
                          const Eq *eq) { // does every own axis bear the name of an index?
  if (v->indexed) return true;
  if (!eq) return false;
  bool any = false;
  for (uint32_t i = 0; i < v->type.rank; i++) {
    if (v->type.axis[i].pass) continue;
    Name label = v->type.axis[i].label;
    if (!eq_has(eq, label, NULL) && !names_have(&eq->called, label) && !index_around(eq, label))
      return false;
    any = true;
  }
  return any;
}

// Inside an index equation: the union of the indices, by name.
static bool join_indices(Joined *j, const Val *arg, uint32_t n) {
  World *w = j->b->w;
  for (uint32_t a = 0; a < n; a++)
    for (uint32_t i = 0; i < arg[a].type.rank; i++) {
      const Axis *axis = &arg[a].type.axis[i];
      uint32_t count;
      if (axis->pass) continue;
      if (!seems_indexed(&arg[a], j->eq)) {
        Id e =
            diag_error(w->diags, arg[a].span, "%s is used in an index equation without its indices",
                       own_text(w, &arg[a].type));
        return diag_help(w->diags, e, "as many indices as axes, always");
      }
      find_label(j, axis->label, j->npass, &count);
      if (count || too_many_axes(j)) continue;
      j->axis[j->n++] = *axis;
    }
  return true;
}

static uint32_t own_rank(const Val *v) {
  uint32_t position[RANK_LIMIT];
  return own_axes(&v->type, position);
}

static const Val *largest(const Val *arg, uint32_t n) {
  const Val *best = &arg[0];
  for (uint32_t a = 1; a < n; a++)
    if (own_rank(&arg[a]) > own_rank(best)) best = &arg[a];
  return best;
}

// In generic elaboration: two differently named axes whose sizes are unconstrained.
bool two_unknowns(Body *b, const Axis *left, const Axis *right) {
  World *w = b->w;
  Size one = size_now(w, left->size), other = size_now(w, right->size);
  return b->generic && left->label && right->label && left->label != right->label && one != other &&
         size_is_var(w, one, NULL) && size_is_var(w, other, NULL);
}

// Maps the own axes of v (fewer, or as many) to those of the operand with the most.
static bool match_own(Joined *j, const Val *big, const Val *v, uint32_t *map) {
  uint32_t position[RANK_LIMIT], n = own_axes(&v->type, position), whole = j->n - j->npass,
                                 labelled = 0, found = 0, count;
  for (uint32_t i = 0; i < n; i++) {
    const Axis *axis = &v->type.axis[position[i]];
    if (!axis->label) continue;
    labelled++;
    find_label(j, axis->label, j->npass, &count);
    found += count == 1;
  }
  bool by_label = n < whole && labelled == n && found == n;
  if (n < whole && !by_label && labelled) {
    misfit(j, big, v);
    return false;
  }
  for (uint32_t i = 0; i < n; i++) {
    const Axis *axis = &v->type.axis[position[i]];
    uint32_t at = j->n - n + i, named = find_label(j, axis->label, j->npass, &count);
    if (by_label)
      at = named;
    else if (axis->label && j->axis[at].label && j->axis[at].label != axis->label &&
             count == 1) { // the same labels in another order
      misfit(j, big, v);
      return false;
    }
    if (!by_label && !count && two_unknowns(j->b, &j->axis[at], axis)) {
      World *w = j->b->w;
      const char *left = name_text(w->names, j->axis[at].label),
                 *right = name_text(w->names, axis->label);
      Id e = diag_error(w->diags, j->span,
                        "axis %s meets axis %s, and nothing says that they are equally long", left,
                        right);
      if (n == 1 && whole == 1)
        diag_help(w->diags, e,
                  "limn never makes an outer product by itself: write `Y[%s %s] = a[%s] * b[%s]`",
                  left, right, left, right);
      return false;
    }
    if (!unify_axis(j, at, axis)) return false;
    map[position[i]] = at;
  }
  for (uint32_t i = 1; by_label && i < n; i++)
    if (map[position[i]] < map[position[i - 1]]) {
      misfit(j, big, v);
      return false;
    }
  return true;
}

static void map_passing(Joined *j, const Val *v, uint32_t *map) {
  for (uint32_t i = 0; i < v->type.rank; i++)
    for (uint32_t k = 0; v->type.axis[i].pass && k < j->npass; k++)
      if (j->axis[k].pass == v->type.axis[i].pass) map[i] = k;
}

static bool map_indices(Joined *j, const Val *v, uint32_t *map) {
  for (uint32_t i = 0; i < v->type.rank; i++) {
    uint32_t count;
    if (v->type.axis[i].pass) continue;
    map[i] = find_label(j, v->type.axis[i].label, j->npass, &count);
    if (!unify_axis(j, map[i], &v->type.axis[i])) return false;
  }
  return true;
}

// Results of boxes or draws in an index equation whose axes all bear names of indices join by name.
static bool all_indexed(const Joined *j, const Val *arg, uint32_t n) {
  uint32_t with = 0;
  for (uint32_t a = 0; a < n; a++) {
    if (!own_rank(&arg[a])) continue;
    if (!seems_indexed(&arg[a], j->eq)) return false;
    with++;
  }
  return with > 1;
}

static bool join_axes(Joined *j, const Val *arg, uint32_t n, uint32_t **map, bool *indexed) {
  *indexed = all_indexed(j, arg, n);
  for (uint32_t a = 0; a < n; a++) *indexed |= arg[a].indexed;
  if (!add_passing(j, arg, n)) return false;
  const Val *big = largest(arg, n);
  if (*indexed) {
    if (!join_indices(j, arg, n)) return false;
  } else {
    for (uint32_t i = 0; i < big->type.rank; i++)
      if (!big->type.axis[i].pass && !too_many_axes(j)) j->axis[j->n++] = big->type.axis[i];
  }
  for (uint32_t a = 0; a < n; a++) {
    map[a] = NEW_ARRAY(j->b->w->arena, uint32_t, arg[a].type.rank);
    map_passing(j, &arg[a], map[a]);
    if (*indexed ? !map_indices(j, &arg[a], map[a]) : !match_own(j, big, &arg[a], map[a]))
      return false;
  }
  return true;
}

// -- functions ------------------------------------------------------------------------------------
static Fn fn_over_bits(Fn fn) {
  if (fn == FN_add || fn == FN_sub) return FN_xor;
  if (fn == FN_mul) return FN_and;
  return fn;
}

// The operator or name of a function in the language.
static const char *fn_word(Fn fn) {
  return fn_rows[fn].written ? fn_rows[fn].written : fn_rows[fn].name;
}

static const char *base_word(uint8_t base) {
  return base == BASE_LABEL ? "a label" : base == BASE_BIT ? "a bit" : "a real number";
}

static bool bases_fit(Body *b, Fn fn, Fn as, const Val *arg, uint32_t n,
                      Span span) { // as: the function as written
  const FnRow *row = &fn_rows[fn];
  uint8_t star = BASE_NONE;
  const Val *first = NULL; // of the arguments that have one type, `*`
  for (uint32_t i = 0; i < n; i++) {
    uint8_t want = row->sig[i] == 'R'   ? BASE_R
                   : row->sig[i] == 'B' ? BASE_BIT
                   : star               ? star
                                        : arg[i].type.base;
    if (row->sig[i] == '*') star = want;
    if (row->sig[i] == '*' && !first) first = &arg[i];
    if (want == arg[i].type.base && want == BASE_LABEL && first && first != &arg[i]) {
      if (sizes_agree(b, first->type.count, arg[i].type.count, arg[i].span, first->span, "labels"))
        continue;
      return diag_refuse(b->w->diags, span, "labels of %s and of %s are not the same",
                         own_text(b->w, &first->type), own_text(b->w, &arg[i].type));
    }
    if (want == arg[i].type.base) continue;
    Span at = arg[i].span.file ? arg[i].span : span;
    Id e = diag_error(b->w->diags, at, "`%s` wants %s here, but this is %s: %s", fn_word(as),
                      base_word(want), base_word(arg[i].type.base), own_text(b->w, &arg[i].type));
    if (arg[i].type.base == BASE_LABEL)
      diag_help(b->w->diags, e,
                "labels are not numbers: use `number(x)`, `one_hot(x)`, or the label as an index");
    if (arg[i].type.base == BASE_BIT)
      diag_help(b->w->diags, e, "`number(x)` makes a bit a number, 0 or 1");
    if (as != fn && want == BASE_BIT)
      diag_help(b->w->diags, e, "the other side is a bit: `number(x)` makes it a number, 0 or 1");
    return false;
  }
  return true;
}

static bool fold_literals(Body *b, Fn fn, const Val *arg, uint32_t n, Span span, Val *out) {
  for (uint32_t i = 0; i < n; i++)
    if (!arg[i].literal) return false;
  double k[3] = {0};
  for (uint32_t i = 0; i < n; i++) k[i] = arg[i].x->k;
  if (strchr(fn_rows[fn].sig, 'B')) return false;
  *out = val_literal(b, fn_rows[fn].value(k[0], k[1], k[2]), span);
  return true;
}

static uint8_t wanted_base(const FnRow *row, uint32_t i, const Val *arg, uint32_t n) {
  if (row->sig[i] == 'R') return BASE_R;
  if (row->sig[i] == 'B') return BASE_BIT;
  for (uint32_t k = 0; k < n; k++)
    if (row->sig[k] == '*' && !arg[k].literal) return arg[k].type.base;
  return BASE_R;
}

Val val_fn(Body *b, Fn fn, const Val *given, uint32_t n, Span span, const Eq *eq) {
  Val arg[3] = {0}, folded;
  bool bits = false, labels = false;
  for (uint32_t i = 0; i < n; i++) {
    if (given[i].error) return val_error(span);
    bits |= !given[i].literal && given[i].type.base == BASE_BIT;
    labels |= !given[i].literal && given[i].type.base == BASE_LABEL;
  }
  if (fold_literals(b, fn, given, n, span, &folded)) return folded;
  Fn as = fn;
  if (bits) fn = fn_over_bits(fn);
  const FnRow *row = &fn_rows[fn];
  for (uint32_t i = 0; i < n; i++) {
    arg[i] = given[i];
    if (arg[i].literal) {
      if (labels && row->sig[i] == '*')
        return val_refuse(
            b, span, arg[i].span,
            "a number is not a label: compare `number(x)`, or write a label by its name");
      Type want = {.base = wanted_base(row, i, given, n)};
      if (want.base == BASE_BIT && arg[i].x->k != 0 && arg[i].x->k != 1)
        return val_refuse(b, span, arg[i].span, "over bits the only literals are 0 and 1");
      arg[i] = val_fill(b, arg[i], want);
    }
    val_settle(b, &arg[i]);
    if (arg[i].x->weight > X_LIMIT && !arg[i].indexed)
      val_to_wire(b, &arg[i], 0); // cut long expressions into several loops
  }
  if (!bases_fit(b, fn, as, arg, n, span)) return val_error(span);
  Joined j = {.b = b, .span = span, .eq = eq};
  Expr *x = x_new(b, X_FN, BASE_R, 0);
  bool indexed;
  x->fn = fn;
  if (!join_axes(&j, arg, n, x->map, &indexed)) return val_error(span);
  x->weight = 1;
  for (uint32_t i = 0; i < n; i++) x->arg[i] = arg[i].x, x->weight += arg[i].x->weight;
  if (x->weight > 2 * X_LIMIT)
    return val_refuse(b, span, span,
                      "this expression is too long for one equation: give its parts names");
  char result = row->sig[row->arity + 1];
  x->base = (uint8_t)(result == 'R'   ? BASE_R
                      : result == 'B' ? BASE_BIT
                                      : arg[row->sig[0] == '*' ? 0 : 1].type.base);
  x->rank = j.n;
  Type type = type_make(b->w, x->base, j.n, j.axis);
  if (x->base == BASE_LABEL) type.count = arg[row->sig[0] == '*' ? 0 : 1].type.count;
  return (Val){.x = x, .type = type, .span = span, .indexed = indexed};
}

Val val_select(Body *b, Val cond, Val yes, Val no, Span span, const Eq *eq) {
  if (cond.error || yes.error || no.error) return val_error(span);
  if (yes.literal && no.literal) yes = val_fill(b, yes, (Type){.base = BASE_R});
  if (cond.type.base != BASE_BIT)
    return val_refuse(b, span, cond.span,
                      "a condition is a bit, but this is %s: compare it with something",
                      own_text(b->w, &cond.type));
  Val arg[3] = {cond, yes, no};
  return val_fn(b, FN_select, arg, 3, span, eq);
}

// -- lowering to a box ----------------------------------------------------------------------------
typedef struct {
  Body *b;
  Loop loop;
  VEC(Access) access;
  Ids wire;
} ValueBuilder;

static bool coords_equal(const Access *a, const Access *c) {
  if (a->rank != c->rank || a->padded != c->padded || (a->padded && a->pad != c->pad)) return false;
  for (uint32_t i = 0; i < a->rank; i++) {
    if (a->coord[i].c != c->coord[i].c || a->coord[i].n != c->coord[i].n) return false;
    for (uint32_t k = 0; k < a->coord[i].n; k++) {
      const Term *s = &a->coord[i].term[k], *t = &c->coord[i].term[k];
      if (s->coef != t->coef || s->var != t->var || s->operand != t->operand) return false;
    }
  }
  return true;
}

static uint32_t add_operand(ValueBuilder *u, const Expr *x, const uint32_t *index) {
  World *w = u->b->w;
  uint32_t label[RANK_LIMIT];
  for (uint32_t i = 0; i < x->nlabel; i++) label[i] = add_operand(u, x->label[i], index);
  uint32_t rank = u->b->d->wire.at[x->wire].type.rank;
  Access a = {
      .rank = rank, .coord = NEW_ARRAY(w->arena, Coord, rank), .padded = x->padded, .pad = x->pad};
  for (uint32_t i = 0; i < rank; i++) {
    a.coord[i] = (Coord){x->coord[i].c, x->coord[i].n,
                         arena_copy(w->arena, x->coord[i].term, x->coord[i].n * sizeof(Term))};
    for (uint32_t k = 0; k < a.coord[i].n; k++) {
      Term *t = &a.coord[i].term[k];
      t->var = t->operand ? label[t->var] : index[t->var];
    }
  }
  for (uint32_t i = 0; i < u->wire.n; i++)
    if (u->wire.at[i] == x->wire && coords_equal(&u->access.at[i], &a)) return i;
  vec_push(w->arena, &u->access, a);
  vec_push(w->arena, &u->wire, x->wire);
  return u->wire.n - 1;
}

static uint32_t add_scalar(ValueBuilder *u, const Expr *x, const uint32_t *index) {
  World *w = u->b->w;
  Scalar s = {.base = x->base};
  switch (x->kind) {
  case X_CONST: s.fn = FN_CONST, s.k = x->k; break;
  case X_SIZE: s.fn = FN_SIZE, s.ref = x->size; break;
  case X_AT: s.fn = FN_AT, s.ref = index[0]; break;
  case X_WIRE: s.fn = FN_ARG, s.ref = add_operand(u, x, index); break;
  case X_FN:
    s.fn = (uint8_t)x->fn;
    for (uint32_t i = 0; i < fn_rows[x->fn].arity; i++) {
      uint32_t *inner = NEW_ARRAY(w->arena, uint32_t, x->arg[i]->rank);
      for (uint32_t k = 0; k < x->arg[i]->rank; k++) inner[k] = index[x->map[i][k]];
      s.arg[i] = add_scalar(u, x->arg[i], inner);
    }
    break;
  }
  return scalar_push(w, &u->loop, s);
}

static Name index_name(Body *b, const Val *v, uint32_t i) {
  static const char *const plain[] = {"i", "j", "k", "l", "m", "n"};
  Name label = v->type.axis[i].label;
  for (uint32_t k = 0; label && k < i; k++)
    if (v->type.axis[k].label == label) label = 0;
  if (label) return label;
  return name_from(b->w->names, arena_format(b->w->arena, "%s%u", plain[i % COUNT(plain)], i));
}

bool val_reduces(const Val *v, uint32_t axis) {
  for (uint32_t k = 0; k < v->nreduce; k++)
    if (v->reduce[k] == axis) return true;
  return false;
}

Id val_emit(Body *b, const Val *v, const Access *out, Type type, Span span) {
  World *w = b->w;
  ValueBuilder u = {.b = b};
  uint32_t rank = v->type.rank, index[RANK_LIMIT], plain[RANK_LIMIT], n = 0;
  u.loop.combine = v->nreduce ? v->combine : SUM;
  u.loop.nindex = rank;
  u.loop.index = NEW_ARRAY(w->arena, Index, rank);
  for (uint32_t i = 0; i < rank; i++) {
    if (!val_reduces(v, i)) plain[n++] = i;
    index[i] = i;
    u.loop.index[i] = (Index){index_name(b, v, i), v->type.axis[i].size};
  }
  u.loop.out = out ? *out : access_plain(w, n, plain);
  add_scalar(&u, v->x, index);
  u.loop.nin = u.wire.n;
  u.loop.in = u.access.at;
  Id wire = box_loop(w, b->d, &u.loop, u.wire.at, u.wire.n, type, origin_at(b, span));
  b->d->box.at[b->d->wire.at[wire].box].turn = v->x->turn;
  if (b->in->watch) value_watch(b, v, u.loop.index, wire);
  return wire;
}

static Type type_reduced(Body *b, const Val *v) {
  Axis axis[RANK_LIMIT];
  uint32_t n = 0;
  for (uint32_t i = 0; i < v->type.rank; i++)
    if (!val_reduces(v, i)) axis[n++] = v->type.axis[i];
  return type_like(b->w, &v->type, n, axis);
}

void val_settle(Body *b, Val *v) {
  if (!v->nreduce || v->error) return;
  Val done = val_wire(b, val_emit(b, v, NULL, type_reduced(b, v), v->span), v->span);
  done.indexed = v->indexed;
  *v = done;
}

// `x[0..1]` reads only part of the axis.
static bool whole_axis(Body *b, const Val *v, uint32_t i) {
  Size mine = v->type.axis[i].size, all = b->d->wire.at[v->x->wire].type.axis[i].size;
  return mine == all || size_now(b->w, mine) == size_now(b->w, all);
}

// Is it a read of a whole wire, axis for axis?
bool val_is_plain(Body *b, const Val *v) {
  const Expr *x = v->x;
  uint32_t at;
  if (v->error || v->nreduce || !x || x->kind != X_WIRE || x->nlabel || x->padded) return false;
  if (b->d->wire.at[x->wire].type.rank != x->rank) return false;
  for (uint32_t i = 0; i < x->rank; i++)
    if (!coord_is_plain(b->w, &x->coord[i], &at) || at != i || !whole_axis(b, v, i)) return false;
  return true;
}

static bool labels_equal(const Type *a, const Type *c) {
  for (uint32_t i = 0; i < a->rank; i++)
    if (a->axis[i].label != c->axis[i].label || a->axis[i].pass != c->axis[i].pass) return false;
  return true;
}

Id val_to_wire(Body *b, Val *v, Name name) {
  if (v->error) return 0;
  if (v->literal) *v = val_fill(b, *v, (Type){.base = BASE_R});
  val_settle(b, v);
  if (!val_is_plain(b, v)) {
    Type t = v->type;
    *v = val_wire(b, val_emit(b, v, NULL, t, v->span), v->span);
  }
  Wire *wire = &b->d->wire.at[v->x->wire];
  if (!wire->name && wire->box) wire->name = name;
  if (!labels_equal(&wire->type,
                    &v->type)) { // another name for the same wire keeps the labels of the value
    Type t = v->type;
    *v = val_wire(b, v->x->wire, v->span);
    v->type = t;
  }
  return v->x->wire;
}

// -- shapes ---------------------------------------------------------------------------------------
Val val_permute(Body *b, Val v, const uint32_t *order, uint32_t n) {
  bool same = n == v.type.rank;
  for (uint32_t i = 0; same && i < n; i++) same = order[i] == i;
  if (v.error || same) return v;
  val_settle(b, &v);
  if (v.x->kind != X_WIRE || v.x->nlabel) val_to_wire(b, &v, 0);
  Expr *x = arena_copy(b->w->arena, v.x, sizeof *v.x);
  uint32_t where[RANK_LIMIT] = {0}, rank = b->d->wire.at[x->wire].type.rank;
  Axis axis[RANK_LIMIT];
  for (uint32_t i = 0; i < n; i++) where[order[i]] = i, axis[i] = v.type.axis[order[i]];
  x->coord = NEW_ARRAY(b->w->arena, Coord, rank);
  for (uint32_t i = 0; i < rank; i++) {
    Coord c = v.x->coord[i];
    x->coord[i] = (Coord){c.c, c.n, arena_copy(b->w->arena, c.term, c.n * sizeof(Term))};
    for (uint32_t k = 0; k < c.n; k++) x->coord[i].term[k].var = where[c.term[k].var];
  }
  v.x = x;
  v.type = type_like(b->w, &v.type, n, axis);
  return v;
}

Val val_reduce(Body *b, Val v, Combine combine, const bool *axes) {
  if (v.error) return v;
  val_settle(b, &v);
  v.reduce = NEW_ARRAY(b->w->arena, uint32_t, v.type.rank);
  for (uint32_t i = 0; i < v.type.rank; i++)
    if (axes[i]) v.reduce[v.nreduce++] = i;
  v.combine = combine;
  v.access = false;
  return v;
}

void clash_note(Body *b, Axis left, Axis right) { b->in->clash[0] = left, b->in->clash[1] = right; }

bool names_have(const Ids *names, Name name) {
  for (uint32_t i = 0; i < names->n; i++)
    if (names->at[i] == name) return true;
  return false;
}

bool eq_has(const Eq *eq, Name name, uint32_t *out) {
  for (uint32_t i = 0; name && i < eq->index.n; i++)
    if (eq->index.at[i].name == name && !eq->index.at[i].gone) {
      if (out) *out = i;
      return true;
    }
  return false;
}

const EqIndex *index_around(const Eq *eq, Name name) {
  uint32_t i;
  for (const Eq *e = eq->around; e; e = e->around)
    if (eq_has(e, name, &i) && (e->index.at[i].left || e->index.at[i].bound))
      return &e->index.at[i];
  return NULL;
}

void no_mean_of_states(World *w, Span span, const Type *t) {
  const char *what = t->base == BASE_BIT ? "bits" : "labels";
  Id e = diag_error(w->diags, span,
                    "a state of %s moves by several uses here, and there is no mean of %s", what,
                    what);
  diag_help(w->diags, e, "use the learner once in a step, or make the state a number");
}
