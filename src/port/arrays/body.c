// Lowers the body of a loop: each scalar becomes a value broadcast to the iteration space. The ONNX
// form of a function is a text in ops.def; functions of constants are folded.
#include "base/number.h"
#include "core/diagram/ops.h"
#include "port/arrays/arrays.h"

#include <float.h>
#include <math.h>

// -- the texts of ops.def -------------------------------------------------------------------------
//   text = Operator "(" text { "," text } ")" | a | b | c | number
typedef struct {
  ArrayGraph *o;
  const char *at;
  const Id *arg;
} OperatorText;

static bool gives_bits(const char *op) {
  static const char *const all[] = {"Less", "LessOrEqual", "Equal", "Greater",
                                    "And",  "Or",          "Xor",   "Not"};
  for (uint32_t i = 0; i < COUNT(all); i++)
    if (!strcmp(op, all[i])) return true;
  return false;
}

static Id operator_value(OperatorText *t);

static Id operator_applied(OperatorText *t, const char *op) {
  Id in[3];
  uint32_t n = 0;
  do {
    t->at++;
    in[n++] = operator_value(t);
  } while (*t->at == ',' && n < COUNT(in));
  t->at++;
  if (!strcmp(op, "Real")) return arrays_cast(t->o, in[0], t->o->real);
  OutType type = gives_bits(op) ? OUT_BOOL : arrays_value(t->o, in[n > 2 ? 1 : 0])->type;
  return arrays_each(t->o, op, type, n, in);
}

static Id operator_value(OperatorText *t) {
  while (*t->at == ' ') t->at++;
  const char *from = t->at, *end;
  double k = number_read(from, &end);
  if (end != from) return t->at = end, arrays_number(t->o, t->o->real, k);
  while (char_is_word(*t->at)) t->at++;
  if (*t->at == '(') return operator_applied(t, arena_text(t->o->a, from, (size_t)(t->at - from)));
  return t->arg[*from - 'a'];
}

static Id row_applied(ArrayGraph *o, Fn fn, bool bits, const Id *arg) {
  const FnRow *row = &fn_rows[fn];
  OutType type = row->sig[strlen(row->sig) - 1] == 'R' ? o->real
                 : row->sig[strlen(row->sig) - 1] == 'B'
                     ? OUT_BOOL
                     : arrays_value(o, arg[row->arity - 1])->type;
  if (o->calls && fn != FN_number) return arrays_each(o, row->name, type, row->arity, arg);
  const char *text = fn_rows[fn].onnx, *bar = strchr(text, '|');
  return operator_value(&(OperatorText){o, bits && bar ? bar + 1 : text, arg});
}

// -- known numbers --------------------------------------------------------------------------------
// Functions of weights are not folded: weights stay trainable parameters.
static bool all_known(ArrayGraph *o, uint32_t n, const Id *arg) {
  for (uint32_t i = 0; i < n; i++)
    if (!arrays_is_known(o, arg[i]) || arrays_value(o, arg[i])->weight) return false;
  return true;
}

static int64_t count_of(ArrayGraph *o, const GraphValue *like) {
  int64_t all = 1, n;
  for (uint32_t k = 0; k < like->rank; k++) {
    if (!arrays_is_number(o, like->dim[k], &n)) return INT64_MAX;
    all *= n;
  }
  return all;
}

// The offset in v of the i-th element of the broadcast shape.
static int64_t place_in(ArrayGraph *o, const GraphValue *v, const GraphValue *all, int64_t i) {
  int64_t at = 0, step = 1;
  for (uint32_t k = 0; k < all->rank; k++) {
    uint32_t mine = v->rank - 1 - k, its = all->rank - 1 - k;
    int64_t n, own;
    arrays_is_number(o, all->dim[its], &n);
    if (k < v->rank && arrays_is_number(o, v->dim[mine], &own)) {
      at += own == 1 ? 0 : i % n * step;
      step *= own;
    }
    i /= n;
  }
  return at;
}

enum { KNOWN_MOST = 1 << 20 };

// Folds a function of constants, in doubles.
static Id known_row(ArrayGraph *o, Fn fn, OutType type, const Id *arg) {
  uint32_t n = fn_rows[fn].arity;
  GraphValue in[3] = {{0}};
  if (!all_known(o, n, arg)) return 0;
  GraphValue like = arrays_common(o, type, n, arg);
  int64_t count = count_of(o, &like);
  if (count > KNOWN_MOST) return 0;
  for (uint32_t i = 0; i < n; i++) in[i] = *arrays_value(o, arg[i]);
  double *to = NEW_ARRAY(o->a, double, count + 1);
  for (int64_t i = 0; i < count; i++) {
    double x[3] = {0};
    for (uint32_t k = 0; k < n; k++) x[k] = in[k].data[place_in(o, &in[k], &like, i)];
    to[i] = fn_rows[fn].value(x[0], x[1], x[2]);
  }
  return arrays_data(o, type, like.rank, like.dim, to);
}

// -- scalars --------------------------------------------------------------------------------------
// Clamps to the range of float: the largest doubles, as masks use them, become the largest floats.
static double in_range(const ArrayGraph *o, double k) {
  if (o->real != OUT_FLOAT || isinf(k) || isnan(k) || k == 0) return k;
  if (fabs(k) > FLT_MAX) return k > 0 ? FLT_MAX : -FLT_MAX;
  return fabs(k) < FLT_MIN ? (k > 0 ? FLT_MIN : -FLT_MIN) : k;
}

static Id leaf_value(LoopWork *l, const Scalar *s) {
  ArrayGraph *o = l->o;
  OutType type = arrays_type_of(o, (Base)s->base);
  if (s->fn == FN_ARG) return l->operand[s->ref];
  if (s->fn == FN_CONST) return arrays_number(o, type, type == o->real ? in_range(o, s->k) : s->k);
  double x;
  if (s->fn == FN_SIZE && size_number(o->w, s->ref, &x)) return arrays_number(o, type, x);
  if (s->fn == FN_SIZE)
    return arrays_cast(o, arrays_reshape(o, arrays_size(o, s->ref), 0, NULL), type);
  if (arrays_is_one(o, l->loop->index[s->ref].size)) return arrays_number(o, type, 0);
  Placed up = {.value = arrays_count_up(o, l->loop->index[s->ref].size),
               .rank = 1,
               .index = (uint32_t *)(uintptr_t)&s->ref};
  return arrays_cast(o, place_on_box(l, &up), type);
}

static bool of_bits(const Loop *loop, const Scalar *s) {
  const FnRow *row = &fn_rows[s->fn];
  for (uint32_t i = 0; i < row->arity; i++)
    if (row->sig[i] == '*') return loop->scalar[s->arg[i]].base == BASE_BIT;
  return false;
}

static void mark_used(const Loop *loop, uint32_t at, bool *used) {
  const Scalar *s = &loop->scalar[at];
  if (used[at]) return;
  used[at] = true;
  for (uint32_t i = 0; s->fn > FN_SIZE && i < fn_rows[s->fn].arity; i++)
    mark_used(loop, s->arg[i], used);
}

Id body_value(LoopWork *l) {
  ArrayGraph *o = l->o;
  const Loop *loop = l->loop;
  Id *value = NEW_ARRAY(o->a, Id, loop->nscalar + 1);
  bool *used = NEW_ARRAY(o->a, bool, loop->nscalar + 1);
  mark_used(loop, loop->nscalar - 1, used);
  for (uint32_t i = 0; i < loop->nscalar; i++) {
    const Scalar *s = &loop->scalar[i];
    if (!used[i]) continue;
    if (s->fn <= FN_SIZE) {
      value[i] = leaf_value(l, s);
      continue;
    }
    Id arg[3] = {0};
    for (uint32_t k = 0; k < fn_rows[s->fn].arity; k++) arg[k] = value[s->arg[k]];
    value[i] = o->calls ? 0 : body_operator(l, i, value);
    if (!value[i]) value[i] = known_row(o, (Fn)s->fn, arrays_type_of(o, (Base)s->base), arg);
    if (!value[i]) value[i] = row_applied(o, (Fn)s->fn, of_bits(loop, s), arg);
  }
  return value[loop->nscalar - 1];
}
