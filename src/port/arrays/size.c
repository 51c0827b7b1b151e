// Sizes as values of the graph. Known sizes are constants; others are computed from shapes of
// inputs by parsing their text: + - * / // ^ over variables and numbers.
#include "base/names.h"
#include "core/diagram/subst.h"
#include "port/arrays/arrays.h"

#include <math.h>

// -- integers -------------------------------------------------------------------------------------
enum { FOLDED_MOST = 1 << 22 };

static bool fold_operation(const char *op, double a, double b, double *out) {
  if (!strcmp(op, "Add")) return *out = a + b, true;
  if (!strcmp(op, "Sub")) return *out = a - b, true;
  if (!strcmp(op, "Mul")) return *out = a * b, true;
  if (!strcmp(op, "Div") && b > 0) return *out = floor(a / b), true;
  if (!strcmp(op, "Max")) return *out = a > b ? a : b, true;
  if (!strcmp(op, "Min")) return *out = a < b ? a : b, true;
  if (!strcmp(op, "Less")) return *out = a < b, true;
  if (!strcmp(op, "And")) return *out = a != 0 && b != 0, true;
  return false;
}

typedef struct {
  uint32_t rank;
  int64_t n[ARRAY_RANK_LIMIT], count;
  Size dim[ARRAY_RANK_LIMIT];
} FoldedShape;

static bool common_shape(ArrayGraph *o, const GraphValue *a, const GraphValue *b, FoldedShape *s) {
  *s = (FoldedShape){.rank = a->rank > b->rank ? a->rank : b->rank, .count = 1};
  for (uint32_t k = 0; k < s->rank; k++) {
    uint32_t i = k + a->rank - s->rank, j = k + b->rank - s->rank;
    Size x = k + a->rank >= s->rank ? a->dim[i] : arrays_one(o),
         y = k + b->rank >= s->rank ? b->dim[j] : arrays_one(o);
    s->dim[k] = arrays_is_one(o, x) ? y : x;
    if (!arrays_is_number(o, s->dim[k], &s->n[k])) return false;
    s->count *= s->n[k];
  }
  return s->count <= FOLDED_MOST;
}

// The element at an index of the broadcast shape.
static double at_place(ArrayGraph *o, const GraphValue *v, const FoldedShape *s,
                       const int64_t *place) {
  int64_t at = 0, n;
  for (uint32_t k = 0; k < v->rank; k++) {
    arrays_is_number(o, v->dim[k], &n);
    at = at * n + (n == 1 ? 0 : place[k + s->rank - v->rank]);
  }
  return v->data[at];
}

static Id fold_values(ArrayGraph *o, const char *op, Id a, Id b) {
  GraphValue x = *arrays_value(o, a), y = *arrays_value(o, b);
  FoldedShape s;
  int64_t place[ARRAY_RANK_LIMIT] = {0};
  bool bits = !strcmp(op, "Less") || !strcmp(op, "And");
  if (!x.data || !y.data || !common_shape(o, &x, &y, &s)) return 0;
  double *to = NEW_ARRAY(o->a, double, s.count + 1);
  for (int64_t i = 0; i < s.count; i++) {
    if (!fold_operation(op, at_place(o, &x, &s, place), at_place(o, &y, &s, place), &to[i]))
      return 0;
    for (uint32_t k = s.rank; k-- > 0;) {
      if (++place[k] < s.n[k]) break;
      place[k] = 0;
    }
  }
  return arrays_data(o, bits ? OUT_BOOL : OUT_INT64, s.rank, s.dim, to);
}

Id arrays_whole(ArrayGraph *o, const char *op, Id a, Id b) {
  bool bits = !strcmp(op, "Less") || !strcmp(op, "And");
  Id known = fold_values(o, op, a, b);
  return known ? known : arrays_each(o, op, bits ? OUT_BOOL : OUT_INT64, 2, (const Id[]){a, b});
}

// -- the text of a size ---------------------------------------------------------------------------
typedef struct {
  ArrayGraph *o;
  const char *at;
} SizeText;

static Id size_sum(SizeText *);

static bool size_sign(SizeText *t, const char *sign) {
  while (*t->at == ' ') t->at++;
  size_t n = strlen(sign);
  if (strncmp(t->at, sign, n) != 0) return false;
  t->at += n;
  return true;
}

static Id size_variable(ArrayGraph *o, uint32_t number) {
  for (uint32_t i = 0; i < o->source.n; i++) {
    const SizeSource *s = &o->source.at[i];
    if (s->var != number) continue;
    Size one = arrays_one(o);
    Id made = arrays_node(o, "Shape", 1, &s->value,
                          &(GraphValue){.type = OUT_INT64, .rank = 1, .dim = &one});
    arrays_attribute_number(o, made, "start", s->axis);
    arrays_attribute_number(o, made, "end", s->axis + 1);
    return made;
  }
  arrays_refuse(o, 0, "the size `%s` of `%s` is open, and no input has an axis of just this size",
                name_text(o->w->names, size_var_name(o->w, number)), o->e->name);
  return arrays_list(o, 1, (const int64_t[]){1});
}

// Variables are written as v12.
static Id size_atom(SizeText *t) {
  if (size_sign(t, "(")) {
    Id inside = size_sum(t);
    size_sign(t, ")");
    return inside;
  }
  bool variable = size_sign(t, "v");
  int64_t n = 0;
  for (; *t->at >= '0' && *t->at <= '9'; t->at++) n = 10 * n + (*t->at - '0');
  return variable ? size_variable(t->o, (uint32_t)n) : arrays_list(t->o, 1, &n);
}

static Id size_powers(SizeText *t) {
  Id base = size_atom(t), all = base;
  if (!size_sign(t, "^")) return all;
  Id times = size_atom(t);
  if (!arrays_is_known(t->o, times))
    return arrays_each(t->o, "Pow", OUT_INT64, 2, (const Id[]){base, times});
  for (double k = arrays_value(t->o, times)->data[0]; k > 1; k--)
    all = arrays_whole(t->o, "Mul", all, base);
  return all;
}

// Multiplies before dividing, so that intermediate results stay integers.
static Id size_term(SizeText *t) {
  Id all = size_powers(t), under = 0;
  for (;;) {
    bool times = size_sign(t, "*"), over = !times && (size_sign(t, "//") || size_sign(t, "/"));
    if (!times && !over) break;
    Id next = size_powers(t);
    if (times) all = arrays_whole(t->o, "Mul", all, next);
    if (over) under = under ? arrays_whole(t->o, "Mul", under, next) : next;
  }
  return under ? arrays_whole(t->o, "Div", all, under) : all;
}

static Id size_sum(SizeText *t) {
  bool minus = size_sign(t, "-");
  Id all = size_term(t);
  if (minus) all = arrays_whole(t->o, "Sub", arrays_list(t->o, 1, (const int64_t[]){0}), all);
  for (;;) {
    bool add = size_sign(t, "+"), sub = !add && size_sign(t, "-");
    if (!add && !sub) return all;
    all = arrays_whole(t->o, add ? "Add" : "Sub", all, size_term(t));
  }
}

// The common denominator of the terms: n^2/2+n/2 is an integer though n/2 may not be.
static int64_t denominator(const char *text) {
  int64_t all = 1;
  int depth = 0;
  for (; *text; text++) {
    depth += *text == '(' ? 1 : *text == ')' ? -1 : 0;
    if (depth || text[0] != '/' || text[1] < '0' || text[1] > '9') continue;
    int64_t n = 0, m = all;
    for (const char *at = text + 1; *at >= '0' && *at <= '9'; at++) n = 10 * n + (*at - '0');
    while (all % n) all += m;
  }
  return all;
}

Id arrays_size(ArrayGraph *o, Size size) {
  int64_t n;
  if (arrays_is_number(o, size, &n)) return arrays_list(o, 1, &n);
  for (const GraphLevel *g = o->level; g; g = g->around)
    for (uint32_t i = 0; i < g->size.n; i++)
      if (g->size.at[i].value == size) return g->size.at[i].var;
  uint32_t all = size_var_count(o->w);
  const char **name = NEW_ARRAY(o->a, const char *, all + 1);
  for (uint32_t i = 0; i < all; i++) name[i] = arena_format(o->a, "v%u", i);
  Buf text = buf_new(o->a);
  size_print_as(o->w, size, name, &text);
  int64_t under = denominator(text.at);
  Id made = under == 1
                ? size_sum(&(SizeText){o, text.at})
                : arrays_whole(o, "Div", arrays_size(o, size_mul(o->w, size, size_of(o->w, under))),
                               arrays_list(o, 1, &under));
  vec_push(o->a, &o->level->size, (Replaced){made, size});
  return made;
}

Id arrays_shape(ArrayGraph *o, uint32_t rank, const Size *dim) {
  int64_t *n = NEW_ARRAY(o->a, int64_t, rank + 1);
  Id *part = NEW_ARRAY(o->a, Id, rank + 1);
  bool known = true;
  for (uint32_t k = 0; k < rank; k++) known &= arrays_is_number(o, dim[k], &n[k]);
  if (known) return arrays_list(o, rank, n);
  for (uint32_t k = 0; k < rank; k++) part[k] = arrays_size(o, dim[k]);
  if (rank == 1) return part[0];
  Size size = size_of(o->w, rank);
  Id made = arrays_node(o, "Concat", rank, part,
                        &(GraphValue){.type = OUT_INT64, .rank = 1, .dim = &size});
  arrays_attribute_number(o, made, "axis", 0);
  return made;
}

Id arrays_count_up(ArrayGraph *o, Size size) {
  int64_t n;
  if (arrays_is_number(o, size, &n) && n <= FOLDED_MOST) {
    double *up = NEW_ARRAY(o->a, double, n + 1);
    for (int64_t i = 0; i < n; i++) up[i] = (double)i;
    return arrays_data(o, OUT_INT64, 1, &size, up);
  }
  Id in[] = {arrays_number(o, OUT_INT64, 0), arrays_reshape(o, arrays_size(o, size), 0, NULL),
             arrays_number(o, OUT_INT64, 1)};
  return arrays_node(o, "Range", 3, in, &(GraphValue){.type = OUT_INT64, .rank = 1, .dim = &size});
}

Size arrays_product(ArrayGraph *o, uint32_t n, const Size *dim) {
  Size all = arrays_one(o);
  for (uint32_t i = 0; i < n; i++) all = size_mul(o->w, all, dim[i]);
  return all;
}
