// A loop as an index equation:
//
//   y[i o] = sum[j](x[i j] * W[j o])
//
// If the left side is not a list of plain indices, the equation is placed in a helper box whose
// result type gives its size. Points that read out of bounds are skipped: by `pad 0` if the body is
// 0 there, otherwise by a condition.
// `pad 0`, anything else is guarded by a condition.
#include "base/table.h"
#include "core/diagram/ops.h"
#include "port/json/json_own.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
  const char *key, *name, *size;
  bool plain;  // some coordinate of the result is this index alone
  bool left;   // it occurs in the result
  bool hidden; // it runs along a hidden sample axis
} EquationIndex;
typedef struct {
  const Json *at, *pad; // coordinates
  uint32_t wire;        // the wire that is read
  bool product;         // the body is 0 where this operand is 0
} EquationRead;
typedef struct {
  Writing *w;
  const ReadBox *box;
  const char *combine;
  uint32_t nindex, nread, nscalar;
  EquationIndex *index;
  EquationRead *read;
  const Json *at; // coordinates of the result
  const Json **scalar;
  uint32_t known;    // operands before this one may be used as coordinates
  bool as_number;    // writing a coordinate inside a value: labels are converted to numbers
  const char *one;   // an index of size 1, when another one covers only a part of an axis; or NULL
  const char **kept; // [scalar] the wire that stores its value at every point; NULL: written inline
} Equation;
// Longer bodies are split where scalars are shared or nested deeply. Lookup in the lists of a loop
// is linear, so long lists are refused.
enum { WRITTEN_OUT = 60, LEVELS = 40, TERMS = 64, PLACES = 64 };

static bool equation_error(Equation *e, const char *what) {
  return reading_error(e->w->r, e->w->d, "the loop that gives `%s`: %s",
                       e->w->d->wire.at[e->box->first].name, what);
}

static const Json *item_of(const Json *list, uint32_t number) {
  EACH_ITEM(item, i, list) {
    if (i == number) return item;
  }
  return NULL;
}

static EquationIndex *index_find(Equation *e, const Json *key) {
  for (uint32_t i = 0; key && key->kind == JSON_TEXT && i < e->nindex; i++)
    if (strcmp(e->index[i].key, key->text) == 0) return &e->index[i];
  return NULL;
}

// Reads an integer below `limit`.
static bool number_below(const Json *j, uint32_t limit, uint32_t *out) {
  if (!j || j->kind != JSON_NUMBER || !(j->number >= 0 && j->number < limit)) return false;
  *out = (uint32_t)j->number;
  return *out == j->number;
}

static bool is_number(const Json *j, double k) {
  return j && j->kind == JSON_NUMBER && j->number == k;
}

// The index if the coordinate is nothing else; or NULL.
static EquationIndex *plain_index(Equation *e, const Json *coord) {
  if (!coord || coord->kind != JSON_LIST || coord->n != 2 || !is_number(json_first(coord), 0))
    return NULL;
  const Json *term = item_of(coord, 1);
  if (term->kind != JSON_LIST || term->n != 2 || !is_number(json_first(term), 1)) return NULL;
  return index_find(e, item_of(term, 1));
}

// -- coordinates ----------------------------------------------------------------------------------
static bool read_write(Equation *e, uint32_t number, Buf *out);

static bool term_write(Equation *e, const Json *term, bool first, Buf *out) {
  const Json *coef = item_of(term, 0), *var = item_of(term, 1);
  const char *size = reading_size(e->w->r, coef);
  if (!size || !var) return equation_error(e, "a term of a place is [coefficient, index]");
  if (strcmp(size, "1") == 0)
    buf_text(out, first ? "" : "+");
  else if (strcmp(size, "-1") == 0)
    buf_text(out, first ? "0-" : "-");
  else if (coef->kind == JSON_NUMBER)
    buf_printf(out, "%s%s*", first || *size == '-' ? (first && *size == '-' ? "0" : "") : "+",
               size);
  else
    buf_printf(out, "%s%s*", first ? "" : "+", place_size(e->w->r, size));
  uint32_t operand;
  if (number_below(var, e->known, &operand)) {
    buf_text(out, e->as_number ? "number(" : "");
    bool good = read_write(e, operand, out);
    buf_text(out, e->as_number ? ")" : "");
    return good;
  }
  EquationIndex *index = index_find(e, var);
  if (!index) return equation_error(e, "a place has an index that is not in \"indices\"");
  buf_text(out, index->name);
  return true;
}

// Matches an axis read as several indices, (a b c): each coefficient is the product of the
// following sizes. `at`: the terms, last first.
static bool group_of(Equation *e, const Json *coord, const char *whole, uint32_t at[8]) {
  uint32_t n = coord->n - 1;
  double want[SIZE_ROUNDS], have[SIZE_ROUNDS], size[SIZE_ROUNDS];
  if (n < 2 || n > 8 || !is_number(json_first(coord), 0)) return false;
  size_samples("1", want);
  for (uint32_t k = 0; k < n; k++) {
    bool found = false;
    for (uint32_t i = 1; i <= n && !found; i++) {
      const Json *term = item_of(coord, i), *coef = item_of(term, 0);
      EquationIndex *index = term->kind == JSON_LIST ? index_find(e, item_of(term, 1)) : NULL;
      const char *times = index && coef ? reading_size(e->w->r, coef) : NULL;
      bool used = false;
      for (uint32_t u = 0; u < k; u++) used |= at[u] == i;
      if (used || !times) continue;
      bool one = strcmp(index->size, "1") == 0;
      // The last index of size 1 is always 0, so its coefficient does not matter.
      if (one && k + 1 < n) continue;
      size_samples(times, have);
      if (!one && !samples_equal(want, have)) continue;
      size_samples(index->size, size);
      for (uint32_t r = 0; r < SIZE_ROUNDS; r++) want[r] *= size[r];
      at[k] = i, found = true;
    }
    if (!found) return false;
  }
  size_samples(whole, have);
  return samples_equal(want, have);
}

static bool group_write(Equation *e, const Json *coord, const char *whole, bool sizes, Buf *out) {
  uint32_t n = coord->n - 1, at[8];
  if (!group_of(e, coord, whole, at)) return false;
  for (uint32_t k = n; k-- > 0;) {
    const EquationIndex *index = index_find(e, item_of(item_of(coord, at[k]), 1));
    buf_printf(out, "%s%s", k == n - 1 ? "(" : " ", index->name);
    if (sizes) buf_printf(out, ":%s", index->size);
  }
  buf_char(out, ')');
  return true;
}

// `whole`: the size of the axis; `sizes`: write the sizes of indices too.
static bool coord_write(Equation *e, const Json *coord, const char *whole, bool sizes, Buf *out) {
  if (!coord || coord->kind != JSON_LIST || !coord->n || coord->n > TERMS)
    return equation_error(e, "a place is [constant, [coefficient, index], …]");
  if (group_write(e, coord, whole, sizes, out)) return true;
  const Json *first = json_first(coord);
  const char *size = reading_size(e->w->r, first);
  if (!size) return false;
  for (uint32_t i = 1; i < coord->n; i++)
    if (!term_write(e, item_of(coord, i), i == 1, out)) return false;
  EquationIndex *alone = plain_index(e, coord);
  if (alone && !sizes && strcmp(alone->size, whole) != 0) {
    // a single index as coordinate would have to cover the whole axis
    if (!e->one) e->one = reading_name(e->w->r, e->w->d->taken, "one");
    buf_printf(out, "+%s", e->one);
  }
  if (coord->n == 1)
    buf_text(out, place_size(e->w->r, size));
  else if (first->kind == JSON_TEXT)
    buf_printf(out, "+%s", place_size(e->w->r, size));
  else if (!is_number(first, 0))
    buf_printf(out, "%s%s", *size == '-' ? "" : "+", size);
  return true;
}

static bool places_write(Equation *e, const Json *at, const ReadType *t, Buf *out) {
  bool any = false;
  if ((at && at->kind == JSON_LIST ? at->n : 0) != t->rank || t->rank > PLACES)
    return equation_error(e, "\"at\" has as many places as there are axes, at most 64");
  if (!type_rank(e->w->d, t)) return true;
  buf_char(out, '[');
  EACH_ITEM(coord, i, at) {
    if (!axis_is_visible(e->w->d, t, i)) continue;
    if (any) buf_char(out, ' ');
    any = true;
    if (!coord_write(e, coord, t->size[i], false, out)) return false;
  }
  buf_char(out, ']');
  return true;
}

static bool read_write(Equation *e, uint32_t number, Buf *out) {
  const EquationRead *read = &e->read[number];
  const ReadWire *wire = &e->w->d->wire.at[read->wire];
  uint32_t before = e->known;
  const Json *at = e->w->r->at;
  e->w->r->at = read->at ? read->at : at;
  buf_text(out, wire->name);
  e->known = number;
  bool good = places_write(e, read->at, &wire->type, out);
  e->known = before;
  if (good) e->w->r->at = at;
  return good;
}

// -- the body -------------------------------------------------------------------------------------
static bool value_write(Equation *e, uint32_t scalar, Buf *out);

static bool argument_write(Equation *e, uint32_t of, uint32_t k, Buf *out) {
  const Json *arg = item_of(e->scalar[of], k + 1);
  uint32_t number;
  if (!number_below(arg, of, &number))
    return equation_error(e, "a scalar has arguments that stand before it");
  return value_write(e, number, out);
}

// A label written as a number needs a label constant: adds one.
static bool label_write(Equation *e, double x, Buf *out) {
  Writing *w = e->w;
  const ReadType *t = &w->d->wire.at[e->box->first].type;
  char *end;
  int64_t count = t->count ? strtoll(t->count, &end, 10) : 0;
  if (!t->count || *end || !(x >= 0 && x < (double)count) || x != floor(x))
    return equation_error(e, "a label that is constant is one of those that it gives");
  const char *name = reading_name(w->r, w->d->taken, "label");
  buf_printf(w->out, "  const %s : %s[1] = [%lld]\n", name, t->base, (long long)x);
  buf_printf(out, "%s[0]", name);
  return true;
}

static bool leaf_write(Equation *e, const char *fn, const Json *arg, const Json *base, Buf *out) {
  uint32_t operand;
  if (strcmp(fn, "arg") == 0)
    return number_below(arg, e->nread, &operand)
               ? read_write(e, operand, out)
               : equation_error(e, "`arg` names an operand it has");
  if (strcmp(fn, "at") == 0) {
    EquationIndex *index = index_find(e, arg);
    if (!index || index->hidden)
      return equation_error(e, "`at` names an index that cannot be read");
    buf_text(out, index->name);
    return true;
  }
  if (strcmp(fn, "size") == 0) {
    const char *size = reading_size(e->w->r, arg);
    if (size) buf_printf(out, "(%s)", strstr(size, "//") ? place_size(e->w->r, size) : size);
    return size;
  }
  double x = json_real(arg);
  if (!base && arg && arg->kind == JSON_TEXT && !strcmp(arg->text, "nan")) {
    buf_text(out, "(inf-inf)");
    return true;
  }
  if (isnan(x)) return equation_error(e, "a constant is a number, \"inf\", \"-inf\" or \"nan\"");
  bool bit = base && base->kind == JSON_TEXT && strcmp(base->text, "B") == 0;
  if (base && !bit) return label_write(e, x, out);
  bool minus = signbit(x);
  buf_text(out, bit ? "bit(" : minus ? "(-" : "");
  if (isinf(x))
    buf_text(out, "inf");
  else
    buf_number(out, fabs(x));
  buf_text(out, bit || minus ? ")" : "");
  return true;
}

// The form of a function, with %0, %1, %2 for its arguments; NULL: name(a, b).
static const char *form_of(Fn fn) {
  switch (fn) {
  case FN_add: return "(%0 + %1)";
  case FN_sub: return "(%0 - %1)";
  case FN_mul: return "(%0 * %1)";
  case FN_div: return "(%0 / %1)";
  case FN_neg: return "(-%0)";
  case FN_pow: return "(%0)^(%1)";
  case FN_maximum: return "max(%0, %1)";
  case FN_minimum: return "min(%0, %1)";
  case FN_select: return "(%1 when %0 else %2)";
  case FN_lt: return "(%0 < %1)";
  case FN_le: return "(%0 <= %1)";
  case FN_eq: return "(%0 = %1)";
  case FN_ne: return "(%0 != %1)";
  case FN_xor: return "(%0 + %1)";
  case FN_and: return "(%0 and %1)";
  case FN_or: return "(%0 or %1)";
  case FN_not: return "(not %0)";
  default: return NULL;
  }
}

static void points_write(const Equation *e, Buf *out, bool sizes) {
  bool any = false;
  for (uint32_t i = 0; i < e->nindex; i++) {
    if (e->index[i].hidden) continue;
    buf_printf(out, "%s%s", any ? " " : "[", e->index[i].name);
    if (sizes) buf_printf(out, ":%s", e->index[i].size);
    any = true;
  }
  if (any) buf_char(out, ']');
}

static bool value_write(Equation *e, uint32_t scalar, Buf *out) {
  if (e->kept[scalar]) {
    buf_text(out, e->kept[scalar]);
    points_write(e, out, false);
    return true;
  }
  const Json *s = e->scalar[scalar], *name = json_first(s);
  const char *fn = name && name->kind == JSON_TEXT ? name->text : "";
  e->w->r->at = s;
  if (s->n >= 2 && (strcmp(fn, "arg") == 0 || strcmp(fn, "at") == 0 || strcmp(fn, "size") == 0 ||
                    strcmp(fn, "const") == 0))
    return leaf_write(e, fn, item_of(s, 1), item_of(s, 2), out);
  Fn row = fn_find(fn);
  if (row == FN_COUNT || row <= FN_SIZE || s->n != fn_rows[row].arity + 1)
    return equation_error(e,
                          "a scalar is [function, arguments …], with the functions of `limn ops`");
  const char *form = form_of(row);
  if (!form) {
    buf_printf(out, "%s(", fn);
    for (uint32_t k = 0; k < fn_rows[row].arity; k++) {
      if (k) buf_text(out, ", ");
      if (!argument_write(e, scalar, k, out)) return false;
    }
    buf_char(out, ')');
    return true;
  }
  for (; *form; form++) {
    if (*form != '%')
      buf_char(out, *form);
    else if (!argument_write(e, scalar, (uint32_t)(*++form - '0'), out))
      return false;
  }
  return true;
}

// Marks operands that are factors of the whole body: it is 0 where they are 0.
static void mark_factors(Equation *e) {
  bool *factor = NEW_ARRAY(e->w->r->arena, bool, e->nscalar);
  factor[e->nscalar - 1] = true;
  for (uint32_t i = e->nscalar; i-- > 0;) {
    const Json *s = e->scalar[i], *name = json_first(s);
    const char *fn = name->kind == JSON_TEXT ? name->text : "";
    uint32_t a;
    if (!factor[i]) continue;
    if (strcmp(fn, "arg") == 0 && number_below(item_of(s, 1), e->nread, &a))
      e->read[a].product = true;
    bool product = strcmp(fn, "mul") == 0;
    if (!product && strcmp(fn, "neg") != 0 && strcmp(fn, "div") != 0) continue;
    if (number_below(item_of(s, 1), i, &a)) factor[a] = true;
    if (product && number_below(item_of(s, 2), i, &a)) factor[a] = true;
  }
}

// -- points out of bounds -------------------------------------------------------------------------
// Is the coordinate a label whose range equals the axis?
static bool label_alone(Equation *e, const Json *coord, const char *size) {
  uint32_t operand;
  if (coord->kind != JSON_LIST || coord->n != 2 || !is_number(json_first(coord), 0)) return false;
  const Json *term = item_of(coord, 1);
  if (term->kind != JSON_LIST || term->n != 2 || !is_number(json_first(term), 1) ||
      !number_below(item_of(term, 1), e->nread, &operand))
    return false;
  const char *count = e->w->d->wire.at[e->read[operand].wire].type.count;
  return count && strcmp(count, size) == 0;
}

// May the coordinate be out of bounds? Plain indices, labels and constants are known to be in
// bounds.
static bool may_be_outside(Equation *e, const Json *coord, const char *size) {
  EquationIndex *index = plain_index(e, coord);
  Buf ignored = buf_new(e->w->r->arena);
  if (index) return strcmp(index->size, size) != 0;
  if (label_alone(e, coord, size)) return false;
  if (coord->kind == JSON_LIST && coord->n > 1 && group_write(e, coord, size, false, &ignored))
    return false;
  double low[SIZE_ROUNDS], high[SIZE_ROUNDS], have[SIZE_ROUNDS], coef[SIZE_ROUNDS], n[SIZE_ROUNDS];
  const char *first = reading_size(e->w->r, json_first(coord));
  if (!first) return true;
  size_samples(first, low), size_samples(first, high), size_samples(size, have);
  for (uint32_t i = 1; i < coord->n; i++) {
    const Json *term = item_of(coord, i);
    EquationIndex *over = index_find(e, item_of(term, 1));
    const char *times = reading_size(e->w->r, item_of(term, 0));
    if (!over) return !item_of(term, 1) || item_of(term, 1)->kind != JSON_NUMBER;
    if (!times) return true;
    size_samples(times, coef), size_samples(over->size, n);
    for (uint32_t r = 0; r < SIZE_ROUNDS; r++)
      (coef[r] < 0 ? low : high)[r] += coef[r] * (n[r] - 1);
  }
  for (uint32_t r = 0; r < SIZE_ROUNDS; r++)
    if (low[r] < 0 || high[r] >= have[r]) return true;
  return false;
}

typedef struct {
  const char *pad; // after the equation; NULL: none
  Buf condition;   // a condition for being in bounds; ""
} Outside;

static bool outside_of(Equation *e, Outside *o) {
  Reading *r = e->w->r;
  *o = (Outside){.condition = buf_new(r->arena)};
  double pad = NAN;
  for (uint32_t i = 0; i < e->nread; i++) {
    const EquationRead *read = &e->read[i];
    const ReadType *t = &e->w->d->wire.at[read->wire].type;
    if (read->pad) {
      double x = json_real(read->pad);
      if (!isnan(pad) && pad != x)
        return equation_error(e, "its operands are padded with two numbers");
      pad = x;
    }
    EACH_ITEM(coord, k, read->at) {
      if (k >= t->rank || read->pad || !axis_is_visible(e->w->d, t, k)) continue;
      if (!may_be_outside(e, coord, t->size[k])) continue;
      bool free = read->product && strcmp(e->combine, "sum") == 0;
      if (isnan(pad)) pad = 0;
      if (free && pad == 0) continue;
      Buf at = buf_new(r->arena);
      e->as_number = true;
      bool written = coord_write(e, coord, t->size[k], false, &at);
      e->as_number = false;
      if (!written) return false;
      buf_printf(&o->condition, "%s0 <= %s and %s < %s", o->condition.n ? " and " : "", at.at,
                 at.at, place_size(r, t->size[k]));
    }
  }
  if (isnan(pad)) return true;
  Buf b = buf_new(r->arena);
  if (isinf(pad))
    buf_text(&b, pad < 0 ? "-inf" : "inf");
  else
    buf_number(&b, pad);
  o->pad = b.at;
  return true;
}

// -- splitting long bodies ------------------------------------------------------------------------
static bool is_leaf(const Json *s) {
  const Json *name = json_first(s);
  Fn row = name->kind == JSON_TEXT ? fn_find(name->text) : FN_COUNT;
  return row == FN_COUNT || row <= FN_SIZE;
}

// Stores scalars that are used twice in wires of their own, to avoid writing them twice.
static bool split_shared(Equation *e, const Outside *o) {
  Writing *w = e->w;
  double *written = NEW_ARRAY(w->r->arena, double, e->nscalar);
  uint32_t *uses = NEW_ARRAY(w->r->arena, uint32_t, e->nscalar),
           *level = NEW_ARRAY(w->r->arena, uint32_t, e->nscalar);
  for (uint32_t i = 0; i < e->nscalar; i++) {
    written[i] = 1;
    for (uint32_t k = 1; !is_leaf(e->scalar[i]) && k < e->scalar[i]->n; k++) {
      uint32_t arg;
      if (!number_below(item_of(e->scalar[i], k), i, &arg))
        return equation_error(e, "a scalar has arguments that stand before it");
      written[i] += written[arg];
      uses[arg]++;
      if (level[arg] >= level[i]) level[i] = level[arg] % LEVELS + 1;
    }
  }
  if (written[e->nscalar - 1] <= WRITTEN_OUT) return true;
  for (uint32_t i = 0; i + 1 < e->nscalar; i++) {
    if (is_leaf(e->scalar[i]) || (uses[i] < 2 && level[i] < LEVELS)) continue;
    Buf value = buf_new(w->r->arena);
    if (!value_write(e, i, &value)) return false;
    e->kept[i] = reading_name(w->r, w->d->taken, "part");
    buf_printf(w->out, "  %s", e->kept[i]);
    points_write(e, w->out, true);
    buf_printf(w->out, " = %s%s%s\n", value.at, o->pad ? "   pad " : "", o->pad ? o->pad : "");
  }
  return true;
}

// -- the equation ---------------------------------------------------------------------------------
static const char *identity_of(const char *combine) {
  if (strcmp(combine, "max") == 0) return "-inf";
  if (strcmp(combine, "min") == 0) return "inf";
  return strcmp(combine, "prod") == 0 ? "1" : "0";
}

// The right side of the equation: reduces over indices that are not on the left.
static bool right_write(Equation *e, const Outside *o, Buf *out) {
  bool reduced = false;
  for (uint32_t i = 0; i < e->nindex; i++) {
    if (e->index[i].left || e->index[i].hidden) continue;
    buf_printf(out, "%s%s:%s", reduced ? " " : "", e->index[i].name, e->index[i].size);
    reduced = true;
  }
  Buf value = buf_new(e->w->r->arena);
  if (!value_write(e, e->nscalar - 1, &value)) return false;
  if (e->one) buf_printf(out, "%s%s:1", reduced ? " " : "", e->one);
  if (reduced || e->one) { // inserts the reduction before the text just written
    const char *list = arena_text(e->w->r->arena, out->at, out->n);
    out->n = 0;
    buf_printf(out, "%s[%s](", e->combine, list);
  }
  buf_text(out, value.at);
  if (o->condition.n) buf_printf(out, " when %s else %s", o->condition.at, identity_of(e->combine));
  if (reduced || e->one) buf_char(out, ')');
  if (o->pad) buf_printf(out, "   pad %s", o->pad);
  return true;
}

static bool left_write(Equation *e, const ReadType *t, Buf *out, bool *plain) {
  bool any = false;
  *plain = true;
  if ((e->at && e->at->kind == JSON_LIST ? e->at->n : 0) != t->rank)
    return equation_error(e, "\"at\" has as many places as the result has axes");
  if (!type_rank(e->w->d, t)) return true;
  buf_char(out, '[');
  EACH_ITEM(coord, i, e->at) {
    if (!axis_is_visible(e->w->d, t, i)) continue;
    EquationIndex *index = plain_index(e, coord);
    if (any) buf_char(out, ' ');
    any = true;
    if (index) {
      *plain &= strcmp(index->size, t->size[i]) == 0;
      buf_printf(out, "%s:%s", index->name, index->size);
    } else {
      *plain = false;
      if (!coord_write(e, coord, t->size[i], true, out)) return false;
    }
  }
  buf_char(out, ']');
  return true;
}

// Writes the equation in a helper box, since the type of its result has to be stated.
static void in_own_box(Equation *e, const char *left, const char *right) {
  Writing *w = e->w;
  const ReadWire *result = &w->d->wire.at[e->box->first];
  Buf name = buf_new(w->r->arena), *b = w->boxes;
  buf_printf(&name, "%s_%s", w->d->name, result->name);
  const char *word = reading_name(w->r, w->r->taken, name.at);
  w->helpers++;
  buf_printf(b, "box %s(", word);
  buf_printf(w->out, "  %s = %s(", result->name, word);
  for (uint32_t i = 0; i < e->nread; i++) {
    bool before = false;
    for (uint32_t k = 0; k < i; k++) before |= e->read[k].wire == e->read[i].wire;
    if (before) continue;
    const ReadWire *wire = &w->d->wire.at[e->read[i].wire];
    buf_printf(b, "%s%s: ", i ? ", " : "", wire->name);
    type_write(w->d, &wire->type, b);
    buf_printf(w->out, "%s%s", i ? ", " : "", wire->name);
  }
  for (uint32_t i = 0; i < e->nscalar; i++) {
    if (!e->kept[i]) continue;
    bool any = false;
    buf_printf(b, ", %s: R[", e->kept[i]);
    for (uint32_t k = 0; k < e->nindex; k++) {
      if (e->index[k].hidden) continue;
      buf_printf(b, "%s%s", any ? " " : "", e->index[k].size);
      any = true;
    }
    buf_text(b, "]");
    buf_printf(w->out, ", %s", e->kept[i]);
  }
  buf_text(w->out, ")\n");
  buf_text(b, ") -> ");
  type_write(w->d, &result->type, b);
  buf_printf(b, " {\n  return y%s = %s\n}\n", left, right);
}

static bool winner_write(Equation *e, const Outside *o) {
  Writing *w = e->w;
  const EquationIndex *over = NULL;
  Buf left = buf_new(w->r->arena);
  if (!e->w->d->wire.at[e->box->first + 1].used) return true;
  for (uint32_t i = 0; i < e->nindex; i++) {
    if (e->index[i].hidden) continue;
    if (!e->index[i].left) over = &e->index[i];
    buf_printf(&left, "%s%s:%s", left.n ? " " : "", e->index[i].name, e->index[i].size);
  }
  const char *winner = w->d->wire.at[e->box->first + 1].name;
  if (!over) return equation_error(e, "it has a winner, and nothing is reduced");
  Buf value = buf_new(w->r->arena);
  if (!value_write(e, e->nscalar - 1, &value)) return false;
  const char *all = reading_name(w->r, w->d->taken, "all");
  buf_printf(w->out, "  %s[%s] = %s%s%s\n", all, left.at, value.at, o->pad ? "   pad " : "",
             o->pad ? o->pad : "");
  buf_printf(w->out, "  %s = arg%s[%s](%s)\n", winner, e->combine, over->name, all);
  return true;
}

// If a coordinate on the left is a sum, do the reads determine the sizes of all its indices?
static bool sizes_are_determined(Equation *e, const ReadType *t) {
  if (strcmp(e->combine, "sum") != 0)
    return equation_error(e, "only sums may have a result at places that are no plain indices");
  if (e->one) return equation_error(e, "an index of a sum on the left runs over a part of an axis");
  EACH_ITEM(coord, i, e->at) {
    Buf ignored = buf_new(e->w->r->arena);
    if (i >= t->rank || !axis_is_visible(e->w->d, t, i) || plain_index(e, coord)) continue;
    if (group_write(e, coord, t->size[i], true, &ignored)) continue;
    for (uint32_t k = 1; k < coord->n; k++) {
      const EquationIndex *index = index_find(e, item_of(item_of(coord, k), 1));
      bool said = !index;
      for (uint32_t r = 0; r < e->nread && !said; r++) {
        EACH_ITEM(place, n, e->read[r].at) said |= plain_index(e, place) == index;
      }
      if (!said)
        return equation_error(
            e, "an index on the left is read nowhere by itself: how far it runs cannot be said");
    }
  }
  return true;
}

// Points whose result is out of bounds are dropped.
static void drop_outside(Equation *e, const ReadType *t, Buf *right, Outside *o) {
  EACH_ITEM(coord, i, e->at) {
    if (o->pad || i >= t->rank || plain_index(e, coord) || !may_be_outside(e, coord, t->size[i]))
      continue;
    o->pad = "0";
    buf_text(right, "   pad 0");
  }
}

static bool equation_write(Equation *e) {
  Writing *w = e->w;
  const ReadWire *result = &w->d->wire.at[e->box->first];
  Buf left = buf_new(w->r->arena), right = buf_new(w->r->arena);
  Outside o;
  bool plain;
  mark_factors(e);
  if (!left_write(e, &result->type, &left, &plain) || !outside_of(e, &o) || !split_shared(e, &o) ||
      !right_write(e, &o, &right))
    return false;
  w->r->at = e->box->json;
  for (uint32_t i = 2; i < e->box->n; i++)
    if (w->d->wire.at[e->box->first + i].used || w->d->wire.at[e->box->first + 1].used)
      return equation_error(e, "one of several winners is used, which cannot be read back");
  bool winner = e->box->n > 1 && w->d->wire.at[e->box->first + 1].used;
  if (winner && !result->used) return winner_write(e, &o);
  if (!plain && !sizes_are_determined(e, &result->type)) return false;
  if (!plain) drop_outside(e, &result->type, &right, &o);
  if (!plain && w->returns && e->box->n == 1) {
    buf_printf(w->out, "  return %s%s = %s\n", result->name, left.at, right.at);
    w->returned = true;
  } else if (!plain)
    in_own_box(e, left.at, right.at);
  else
    buf_printf(w->out, "  %s%s = %s\n", result->name, left.at, right.at);
  return e->box->n < 2 || winner_write(e, &o);
}

// -- slices ---------------------------------------------------------------------------------------
// Matches an index that covers a part of an axis, [3, [1, "i"]]: its offset and length.
static bool part_of(Equation *e, const Json *coord, const Json *left, uint32_t *from, int64_t *n) {
  if (coord->kind != JSON_LIST || coord->n != 2 || !number_below(json_first(coord), 1U << 30, from))
    return false;
  const Json *term = item_of(coord, 1);
  if (term->kind != JSON_LIST || term->n != 2 || !is_number(json_first(term), 1)) return false;
  const EquationIndex *index = index_find(e, item_of(term, 1));
  char *end;
  if (!index || plain_index(e, left) != index) return false;
  *n = strtoll(index->size, &end, 10);
  return !*end && *n > 0;
}

// Writes y = x[i 2..3] for a slice of one wire; false: the loop is something else.
static bool part_write(Equation *e) {
  Writing *w = e->w;
  const EquationRead *r = &e->read[0];
  uint32_t operand, parts = 0, any = 0;
  if (e->nread != 1 || e->nscalar != 1 || r->pad || e->box->n != 1) return false;
  if (!r->at || !e->at || e->at->kind != JSON_LIST || e->at->n != r->at->n) return false;
  const Json *word = json_first(e->scalar[0]);
  if (word->kind != JSON_TEXT || strcmp(word->text, "arg") != 0 ||
      !number_below(item_of(e->scalar[0], 1), 1, &operand))
    return false;
  const ReadWire *x = &w->d->wire.at[r->wire], *y = &w->d->wire.at[e->box->first];
  Buf b = buf_new(w->r->arena);
  if (x->type.rank != y->type.rank || e->nindex != x->type.rank) return false;
  EACH_ITEM(coord, i, r->at) {
    const Json *left = item_of(e->at, i);
    uint32_t from;
    int64_t n;
    if (i >= x->type.rank) return false;
    const EquationIndex *whole = plain_index(e, coord);
    bool all = whole && whole == plain_index(e, left) && strcmp(whole->size, x->type.size[i]) == 0;
    if (!all && (!part_of(e, coord, left, &from, &n) || !axis_is_visible(w->d, &x->type, i)))
      return false;
    if (!axis_is_visible(w->d, &x->type, i)) continue;
    buf_text(&b, any++ ? " " : "");
    if (all)
      buf_text(&b, whole->name);
    else
      buf_printf(&b, "%u..%lld", from, (long long)(from + n - 1)), parts++;
  }
  if (!parts) return false;
  buf_printf(w->out, "  %s = %s[%s]\n", y->name, x->name, b.at);
  return true;
}

// Writes y = positions[n] for the positions of an axis; false: the loop is something else.
static bool positions_write(Equation *e) {
  Writing *w = e->w;
  const ReadWire *y = &w->d->wire.at[e->box->first];
  if (!y->type.count || e->nread || e->nscalar != 1 || e->nindex != 1 || y->type.rank != 1)
    return false;
  const Json *word = json_first(e->scalar[0]);
  const EquationIndex *index = &e->index[0];
  if (word->kind != JSON_TEXT || strcmp(word->text, "at") != 0 ||
      !axis_is_visible(w->d, &y->type, 0) || index_find(e, item_of(e->scalar[0], 1)) != index ||
      plain_index(e, item_of(e->at, 0)) != index || strcmp(index->size, y->type.size[0]) != 0 ||
      strcmp(index->size, y->type.count) != 0)
    return false;
  buf_printf(w->out, "  %s = positions[%s]\n", y->name, index->size);
  return true;
}

// -- reading --------------------------------------------------------------------------------------
static bool indices_read(Equation *e) {
  Reading *r = e->w->r;
  const Json *list = json_get(e->box->json, "indices");
  Table *own = table_new(r->arena);
  e->index = NEW_ARRAY(r->arena, EquationIndex, (list ? list->n : 0) + 1);
  EACH_ITEM(j, i, list) {
    EquationIndex *index = &e->index[e->nindex++];
    r->at = j;
    index->key = json_word(j, "name");
    if (!*index->key || !(index->size = reading_size(r, json_get(j, "size"))))
      return equation_error(e, "an index has a \"name\" and a \"size\"");
    // a wire or size of that name would be hidden
    const char *name = reading_new_name(r, own, index->key);
    while (table_get(e->w->d->taken, name, strlen(name)))
      name = reading_new_name(r, own, index->key);
    index->name = name;
  }
  r->at = e->box->json;
  return true;
}

static bool reads_read(Equation *e) {
  Reading *r = e->w->r;
  const Json *list = json_get(e->box->json, "in");
  e->read = NEW_ARRAY(r->arena, EquationRead, (list ? list->n : 0) + 1);
  EACH_ITEM(j, i, list) {
    EquationRead *read = &e->read[e->nread++];
    r->at = j;
    uint32_t wire = j->kind == JSON_OBJECT ? reading_wire(r, e->w->d, json_get(j, "wire")) : 0;
    if (!wire) return equation_error(e, "an operand has a \"wire\" and places \"at\"");
    if (wire > e->box->first) return equation_error(e, "it reads what is made later");
    read->wire = wire - 1;
    read->at = json_get(j, "at");
    read->pad = json_get(j, "pad");
  }
  r->at = e->box->json;
  return true;
}

// Indices of a label that is a coordinate of the result occur in the result too.
static void mark_left(Equation *e, const Json *coord, uint32_t before) {
  for (uint32_t k = 1; coord->kind == JSON_LIST && k < coord->n; k++) {
    const Json *var = item_of(item_of(coord, k), 1);
    EquationIndex *index = index_find(e, var);
    uint32_t operand;
    if (index) index->left = true;
    if (index || !number_below(var, before, &operand)) continue;
    EACH_ITEM(place, i, e->read[operand].at) mark_left(e, place, operand);
  }
}

static void indices_study(Equation *e) {
  const ReadType *t = &e->w->d->wire.at[e->box->first].type;
  EACH_ITEM(coord, i, e->at) {
    EquationIndex *plain = plain_index(e, coord);
    if (plain) plain->left = plain->plain = true;
    if (plain && i < t->rank && !axis_is_visible(e->w->d, t, i)) plain->hidden = true;
    mark_left(e, coord, e->nread);
  }
}

bool loop_equation(Writing *w, const ReadBox *box) {
  Equation e = {.w = w, .box = box, .combine = json_word(box->json, "combine")};
  const Json *body = json_get(box->json, "body");
  e.at = json_get(box->json, "at");
  if (!indices_read(&e) || !reads_read(&e)) return false;
  if (strcmp(e.combine, "sum") != 0 && strcmp(e.combine, "prod") != 0 &&
      strcmp(e.combine, "max") != 0 && strcmp(e.combine, "min") != 0)
    return equation_error(&e, "\"combine\" is \"sum\", \"prod\", \"max\" or \"min\"");
  e.scalar = NEW_ARRAY(w->r->arena, const Json *, (body ? body->n : 0) + 1);
  EACH_ITEM(s, i, body) {
    if (s->kind != JSON_LIST || !s->n)
      return equation_error(&e, "a scalar is [function, arguments …]");
    e.scalar[e.nscalar++] = s;
  }
  e.kept = NEW_ARRAY(w->r->arena, const char *, e.nscalar + 1);
  if (!e.nscalar) return equation_error(&e, "it has no \"body\"");
  e.known = e.nread;
  indices_study(&e);
  return part_write(&e) || positions_write(&e) || equation_write(&e);
}
