// A loop as an index equation:
//
//   y[i o] = sum[j](x[i j] * W[j o])
//
// If the left side is not a list of plain indices, the equation is placed in a helper box whose
// result type gives its size. Points that read out of bounds are skipped: by `pad 0` if the body is
// 0 there, otherwise by a condition.
#include "base/table.h"
#include "core/diagram/ops.h"
#include "port/json/json_own.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
  const char *key, *name, *size;
  bool left;   // it occurs in the result
  bool hidden; // it runs along a hidden sample axis
} EquationIndex;
typedef struct {
  const char *coef;
  EquationIndex *index; // NULL: the label that an operand is
  uint32_t operand;
} EquationTerm;
typedef struct {
  const char *c; // the constant
  bool named;    // which is an expression
  uint32_t n;
  EquationTerm *term;
} EquationPlace;
typedef struct {
  uint32_t wire, n;  // the wire that is read, and its axes
  EquationPlace *at; // [n]
  const Json *pad;   // or NULL
  bool product;      // the body is 0 where this operand is 0
} EquationRead;
typedef struct {
  const Json *json;
  Fn fn; // FN_COUNT: a leaf, or unknown
  uint32_t arg[3];
} EquationScalar;
typedef struct {
  Writing *w;
  const ReadBox *box;
  const char *combine;
  uint32_t nindex, nread, nscalar;
  EquationIndex *index;
  EquationRead *read, out;
  EquationScalar *scalar;
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

// The index if the coordinate is nothing else; or NULL.
static EquationIndex *plain_index(const EquationPlace *p) {
  bool plain = p->n == 1 && strcmp(p->c, "0") == 0 && strcmp(p->term[0].coef, "1") == 0;
  return plain ? p->term[0].index : NULL;
}

// -- reading --------------------------------------------------------------------------------------
// `known`: operands before this one may be used as coordinates.
static bool place_read(Equation *e, const Json *j, uint32_t known, EquationPlace *p) {
  if (j->kind != JSON_LIST || !j->n || j->n > TERMS)
    return equation_error(e, "a place is [constant, [coefficient, index], …]");
  p->named = json_first(j)->kind == JSON_TEXT;
  p->term = NEW_ARRAY(e->w->r->arena, EquationTerm, j->n);
  EACH_ITEM(term, i, j) {
    const Json *size = i ? item_of(term, 0) : term, *var = i ? item_of(term, 1) : NULL;
    const char *text = reading_size(e->w->r, size);
    if (!text || (i && !var)) return equation_error(e, "a term of a place is [coefficient, index]");
    if (!i) p->c = text;
    if (!i) continue;
    EquationTerm *t = &p->term[p->n++];
    t->coef = text, t->index = index_find(e, var);
    if (!t->index && !number_below(var, known, &t->operand))
      return equation_error(e, "a place has an index that is not in \"indices\"");
  }
  return true;
}

static bool places_read(Equation *e, const Json *list, uint32_t known, EquationRead *to) {
  to->n = e->w->d->wire.at[to->wire].type.rank;
  if ((list && list->kind == JSON_LIST ? list->n : 0) != to->n || to->n > PLACES)
    return equation_error(e, "\"at\" has as many places as there are axes, at most 64");
  to->at = NEW_ARRAY(e->w->r->arena, EquationPlace, to->n + 1);
  e->w->r->at = list ? list : e->w->r->at;
  EACH_ITEM(place, i, list) {
    if (!place_read(e, place, known, &to->at[i])) return false;
  }
  e->w->r->at = e->box->json;
  return true;
}

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
    EquationRead *read = &e->read[e->nread];
    r->at = j;
    uint32_t wire = j->kind == JSON_OBJECT ? reading_wire(r, e->w->d, json_get(j, "wire")) : 0;
    if (!wire) return equation_error(e, "an operand has a \"wire\" and places \"at\"");
    if (wire > e->box->first) return equation_error(e, "it reads what is made later");
    *read = (EquationRead){.wire = wire - 1, .pad = json_get(j, "pad")};
    if (!places_read(e, json_get(j, "at"), e->nread++, read)) return false;
  }
  e->out.wire = e->box->first;
  return places_read(e, json_get(e->box->json, "at"), e->nread, &e->out);
}

static bool scalars_read(Equation *e) {
  const Json *body = json_get(e->box->json, "body");
  e->scalar = NEW_ARRAY(e->w->r->arena, EquationScalar, (body ? body->n : 0) + 1);
  EACH_ITEM(s, i, body) {
    EquationScalar *to = &e->scalar[e->nscalar++];
    if (s->kind != JSON_LIST || !s->n)
      return equation_error(e, "a scalar is [function, arguments …]");
    const char *name = json_first(s)->kind == JSON_TEXT ? json_first(s)->text : "";
    Fn fn = fn_find(name);
    *to = (EquationScalar){.json = s, .fn = fn <= FN_SIZE ? FN_COUNT : fn};
    e->w->r->at = s;
    if (to->fn != FN_COUNT && s->n != fn_rows[fn].arity + 1) to->fn = FN_COUNT;
    for (uint32_t k = 0; to->fn != FN_COUNT && k < fn_rows[fn].arity; k++)
      if (!number_below(item_of(s, k + 1), i, &to->arg[k]))
        return equation_error(e, "a scalar has arguments that stand before it");
  }
  e->w->r->at = e->box->json;
  e->kept = NEW_ARRAY(e->w->r->arena, const char *, e->nscalar + 1);
  return e->nscalar || equation_error(e, "it has no \"body\"");
}

// Indices of a label that is a coordinate of the result occur in the result too.
static void mark_left(Equation *e, const EquationRead *read) {
  for (uint32_t i = 0; i < read->n; i++)
    for (uint32_t k = 0; k < read->at[i].n; k++) {
      const EquationTerm *t = &read->at[i].term[k];
      if (t->index)
        t->index->left = true;
      else
        mark_left(e, &e->read[t->operand]);
    }
}

static void indices_study(Equation *e) {
  const ReadType *t = &e->w->d->wire.at[e->box->first].type;
  mark_left(e, &e->out);
  for (uint32_t i = 0; i < e->out.n; i++) {
    EquationIndex *plain = plain_index(&e->out.at[i]);
    if (plain && !axis_is_visible(e->w->d, t, i)) plain->hidden = true;
  }
}

// -- coordinates ----------------------------------------------------------------------------------
static void read_write(Equation *e, uint32_t number, Buf *out);

static void term_write(Equation *e, const EquationTerm *t, bool first, Buf *out) {
  const char *size = t->coef;
  bool minus = *size == '-';
  if (strcmp(size, "1") == 0)
    buf_text(out, first ? "" : "+");
  else if (strcmp(size, "-1") == 0)
    buf_text(out, first ? "0-" : "-");
  else
    buf_printf(out, "%s%s*",
               first   ? (minus ? "0" : "")
               : minus ? ""
                       : "+",
               place_size(e->w->r, size));
  if (t->index) {
    buf_text(out, t->index->name);
    return;
  }
  buf_text(out, e->as_number ? "number(" : "");
  read_write(e, t->operand, out);
  buf_text(out, e->as_number ? ")" : "");
}

// Matches an axis read as several indices, (a b c): each coefficient is the product of the
// following sizes. `at`: the terms, last first.
static bool group_of(const EquationPlace *p, const char *whole, uint32_t at[8]) {
  double want[SIZE_ROUNDS], have[SIZE_ROUNDS], size[SIZE_ROUNDS];
  if (p->n < 2 || p->n > 8 || strcmp(p->c, "0") != 0) return false;
  size_samples("1", want);
  for (uint32_t k = 0; k < p->n; k++) {
    bool found = false;
    for (uint32_t i = 0; i < p->n && !found; i++) {
      const EquationIndex *index = p->term[i].index;
      bool used = !index;
      for (uint32_t u = 0; u < k; u++) used |= at[u] == i;
      if (used) continue;
      bool one = strcmp(index->size, "1") == 0;
      // The last index of size 1 is always 0, so its coefficient does not matter.
      if (one && k + 1 < p->n) continue;
      size_samples(p->term[i].coef, have);
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

static bool group_write(const EquationPlace *p, const char *whole, bool sizes, Buf *out) {
  uint32_t at[8];
  if (!group_of(p, whole, at)) return false;
  for (uint32_t k = p->n; k-- > 0;) {
    const EquationIndex *index = p->term[at[k]].index;
    buf_printf(out, "%s%s", k == p->n - 1 ? "(" : " ", index->name);
    if (sizes) buf_printf(out, ":%s", index->size);
  }
  buf_char(out, ')');
  return true;
}

// `whole`: the size of the axis; `sizes`: write the sizes of indices too.
static void place_write(Equation *e, const EquationPlace *p, const char *whole, bool sizes,
                        Buf *out) {
  const char *size = place_size(e->w->r, p->c);
  if (group_write(p, whole, sizes, out)) return;
  for (uint32_t i = 0; i < p->n; i++) term_write(e, &p->term[i], !i, out);
  const EquationIndex *alone = plain_index(p);
  if (alone && !sizes && strcmp(alone->size, whole) != 0) {
    // a single index as coordinate would have to cover the whole axis
    if (!e->one) e->one = reading_name(e->w->r, e->w->d->taken, "one");
    buf_printf(out, "+%s", e->one);
  }
  if (!p->n || p->named || strcmp(p->c, "0") != 0)
    buf_printf(out, "%s%s", p->n && (p->named || *size != '-') ? "+" : "", size);
}

static void read_write(Equation *e, uint32_t number, Buf *out) {
  const EquationRead *read = &e->read[number];
  const ReadWire *wire = &e->w->d->wire.at[read->wire];
  bool any = false;
  buf_text(out, wire->name);
  if (!type_rank(e->w->d, &wire->type)) return;
  for (uint32_t i = 0; i < read->n; i++) {
    if (!axis_is_visible(e->w->d, &wire->type, i)) continue;
    buf_char(out, any ? ' ' : '[');
    any = true;
    place_write(e, &read->at[i], wire->type.size[i], false, out);
  }
  buf_char(out, ']');
}

// -- the body -------------------------------------------------------------------------------------
static bool value_write(Equation *e, uint32_t scalar, Buf *out);

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
               ? (read_write(e, operand, out), true)
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
  const EquationScalar *s = &e->scalar[scalar];
  const Json *name = json_first(s->json);
  const char *fn = name->kind == JSON_TEXT ? name->text : "";
  e->w->r->at = s->json;
  if (s->json->n >= 2 && (strcmp(fn, "arg") == 0 || strcmp(fn, "at") == 0 ||
                          strcmp(fn, "size") == 0 || strcmp(fn, "const") == 0))
    return leaf_write(e, fn, item_of(s->json, 1), item_of(s->json, 2), out);
  if (s->fn == FN_COUNT)
    return equation_error(e,
                          "a scalar is [function, arguments …], with the functions of `limn ops`");
  static const char *const calls[] = {"", "(%0)", "(%0, %1)", "(%0, %1, %2)"};
  const char *form = form_of(s->fn);
  if (!form) buf_text(out, fn), form = calls[fn_rows[s->fn].arity];
  for (; *form; form++) {
    if (*form != '%')
      buf_char(out, *form);
    else if (!value_write(e, s->arg[*++form - '0'], out))
      return false;
  }
  return true;
}

// Marks operands that are factors of the whole body: it is 0 where they are 0.
static void mark_factors(Equation *e) {
  bool *factor = NEW_ARRAY(e->w->r->arena, bool, e->nscalar);
  factor[e->nscalar - 1] = true;
  for (uint32_t i = e->nscalar; i-- > 0;) {
    const EquationScalar *s = &e->scalar[i];
    const Json *name = json_first(s->json);
    uint32_t a;
    if (!factor[i]) continue;
    if (name->kind == JSON_TEXT && strcmp(name->text, "arg") == 0 &&
        number_below(item_of(s->json, 1), e->nread, &a))
      e->read[a].product = true;
    if (s->fn == FN_mul || s->fn == FN_neg || s->fn == FN_div) factor[s->arg[0]] = true;
    if (s->fn == FN_mul) factor[s->arg[1]] = true;
  }
}

// -- points out of bounds -------------------------------------------------------------------------
// Is the coordinate a label whose range equals the axis?
static bool label_alone(Equation *e, const EquationPlace *p, const char *size) {
  if (p->n != 1 || strcmp(p->c, "0") != 0 || strcmp(p->term[0].coef, "1") != 0 || p->term[0].index)
    return false;
  const char *count = e->w->d->wire.at[e->read[p->term[0].operand].wire].type.count;
  return count && strcmp(count, size) == 0;
}

// May the coordinate be out of bounds? Plain indices, labels and constants are known to be in
// bounds.
static bool may_be_outside(Equation *e, const EquationPlace *p, const char *size) {
  const EquationIndex *index = plain_index(p);
  uint32_t at[8];
  if (index) return strcmp(index->size, size) != 0;
  if (label_alone(e, p, size) || group_of(p, size, at)) return false;
  double low[SIZE_ROUNDS], high[SIZE_ROUNDS], have[SIZE_ROUNDS], coef[SIZE_ROUNDS], n[SIZE_ROUNDS];
  size_samples(p->c, low), size_samples(p->c, high), size_samples(size, have);
  for (uint32_t i = 0; i < p->n; i++) {
    const EquationIndex *over = p->term[i].index;
    if (!over) return false;
    size_samples(p->term[i].coef, coef), size_samples(over->size, n);
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
    for (uint32_t k = 0; k < read->n; k++) {
      if (read->pad || !axis_is_visible(e->w->d, t, k)) continue;
      if (!may_be_outside(e, &read->at[k], t->size[k])) continue;
      bool free = read->product && strcmp(e->combine, "sum") == 0;
      if (isnan(pad)) pad = 0;
      if (free && pad == 0) continue;
      Buf at = buf_new(r->arena);
      e->as_number = true;
      place_write(e, &read->at[k], t->size[k], false, &at);
      e->as_number = false;
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
// Stores scalars that are used twice in wires of their own, to avoid writing them twice.
static bool split_shared(Equation *e, const Outside *o) {
  Writing *w = e->w;
  double *written = NEW_ARRAY(w->r->arena, double, e->nscalar);
  uint32_t *uses = NEW_ARRAY(w->r->arena, uint32_t, e->nscalar),
           *level = NEW_ARRAY(w->r->arena, uint32_t, e->nscalar);
  for (uint32_t i = 0; i < e->nscalar; i++) {
    written[i] = 1;
    Fn fn = e->scalar[i].fn;
    for (uint32_t k = 0; fn != FN_COUNT && k < fn_rows[fn].arity; k++) {
      uint32_t arg = e->scalar[i].arg[k];
      written[i] += written[arg];
      uses[arg]++;
      if (level[arg] >= level[i]) level[i] = level[arg] % LEVELS + 1;
    }
  }
  if (written[e->nscalar - 1] <= WRITTEN_OUT) return true;
  for (uint32_t i = 0; i + 1 < e->nscalar; i++) {
    if (e->scalar[i].fn == FN_COUNT || (uses[i] < 2 && level[i] < LEVELS)) continue;
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

// plain: every coordinate is an index that covers its axis.
static bool left_write(Equation *e, const ReadType *t, Buf *out) {
  bool any = false, plain = true;
  if (!type_rank(e->w->d, t)) return true;
  for (uint32_t i = 0; i < e->out.n; i++) {
    if (!axis_is_visible(e->w->d, t, i)) continue;
    const EquationIndex *index = plain_index(&e->out.at[i]);
    buf_char(out, any ? ' ' : '[');
    any = true;
    plain &= index && strcmp(index->size, t->size[i]) == 0;
    if (index)
      buf_printf(out, "%s:%s", index->name, index->size);
    else
      place_write(e, &e->out.at[i], t->size[i], true, out);
  }
  buf_char(out, ']');
  return plain;
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
  for (uint32_t i = 0; i < e->out.n; i++) {
    const EquationPlace *p = &e->out.at[i];
    uint32_t at[8];
    if (!axis_is_visible(e->w->d, t, i) || plain_index(p) || group_of(p, t->size[i], at)) continue;
    for (uint32_t k = 0; k < p->n; k++) {
      bool said = !p->term[k].index;
      for (uint32_t r = 0; r < e->nread && !said; r++)
        for (uint32_t n = 0; n < e->read[r].n; n++)
          said |= plain_index(&e->read[r].at[n]) == p->term[k].index;
      if (!said)
        return equation_error(
            e, "an index on the left is read nowhere by itself: how far it runs cannot be said");
    }
  }
  return true;
}

// Points whose result is out of bounds are dropped.
static void drop_outside(Equation *e, const ReadType *t, Buf *right, Outside *o) {
  for (uint32_t i = 0; i < e->out.n; i++) {
    const EquationPlace *p = &e->out.at[i];
    if (o->pad || plain_index(p) || !may_be_outside(e, p, t->size[i])) continue;
    o->pad = "0";
    buf_text(right, "   pad 0");
  }
}

static bool equation_write(Equation *e) {
  Writing *w = e->w;
  const ReadWire *result = &w->d->wire.at[e->box->first];
  Buf left = buf_new(w->r->arena), right = buf_new(w->r->arena);
  Outside o;
  mark_factors(e);
  bool plain = left_write(e, &result->type, &left);
  if (!outside_of(e, &o) || !split_shared(e, &o) || !right_write(e, &o, &right)) return false;
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
// The leaf that the body is; NULL: it is more.
static const Json *body_leaf(const Equation *e, const char *word) {
  const Json *s = e->scalar[0].json, *name = json_first(s);
  bool is = e->nscalar == 1 && name->kind == JSON_TEXT && strcmp(name->text, word) == 0;
  return is ? item_of(s, 1) : NULL;
}

// Writes y = x[i 2..3] for a slice of one wire; false: the loop is something else.
static bool part_write(Equation *e) {
  Writing *w = e->w;
  const EquationRead *r = &e->read[0];
  uint32_t operand, parts = 0, any = 0;
  if (e->nread != 1 || r->pad || e->box->n != 1 || e->out.n != r->n || e->nindex != r->n)
    return false;
  if (!number_below(body_leaf(e, "arg"), 1, &operand)) return false;
  const ReadWire *x = &w->d->wire.at[r->wire], *y = &w->d->wire.at[e->box->first];
  Buf b = buf_new(w->r->arena);
  for (uint32_t i = 0; i < r->n; i++) {
    const EquationPlace *p = &r->at[i];
    const EquationIndex *left = plain_index(&e->out.at[i]);
    if (!left || p->n != 1 || p->term[0].index != left || strcmp(p->term[0].coef, "1") != 0 ||
        p->named)
      return false;
    char *end;
    bool all = plain_index(p) && strcmp(left->size, x->type.size[i]) == 0,
         visible = axis_is_visible(w->d, &x->type, i);
    long long from = strtoll(p->c, NULL, 10), n = strtoll(left->size, &end, 10);
    if (!all && (from < 0 || *end || n < 1 || !visible)) return false;
    if (!visible) continue;
    buf_text(&b, any++ ? " " : "");
    if (all)
      buf_text(&b, left->name);
    else
      buf_printf(&b, "%lld..%lld", from, from + n - 1), parts++;
  }
  if (!parts) return false;
  buf_printf(w->out, "  %s = %s[%s]\n", y->name, x->name, b.at);
  return true;
}

// Writes y = positions[n] for the positions of an axis; false: the loop is something else.
static bool positions_write(Equation *e) {
  Writing *w = e->w;
  const ReadWire *y = &w->d->wire.at[e->box->first];
  const EquationIndex *index = &e->index[0];
  if (!y->type.count || e->nread || e->nindex != 1 || y->type.rank != 1) return false;
  if (!axis_is_visible(w->d, &y->type, 0) || index_find(e, body_leaf(e, "at")) != index ||
      plain_index(&e->out.at[0]) != index || strcmp(index->size, y->type.size[0]) != 0 ||
      strcmp(index->size, y->type.count) != 0)
    return false;
  buf_printf(w->out, "  %s = positions[%s]\n", y->name, index->size);
  return true;
}

bool loop_equation(Writing *w, const ReadBox *box) {
  Equation e = {.w = w, .box = box, .combine = json_word(box->json, "combine")};
  if (!indices_read(&e) || !reads_read(&e)) return false;
  if (strcmp(e.combine, "sum") != 0 && strcmp(e.combine, "prod") != 0 &&
      strcmp(e.combine, "max") != 0 && strcmp(e.combine, "min") != 0)
    return equation_error(&e, "\"combine\" is \"sum\", \"prod\", \"max\" or \"min\"");
  if (!scalars_read(&e)) return false;
  indices_study(&e);
  return part_write(&e) || positions_write(&e) || equation_write(&e);
}
