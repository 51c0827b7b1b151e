// Along axes: sums and their kin, the largest and its place, softmax, running sums, sorting.
#include "port/import/own.h"

#include <math.h>

// -- reductions ----------------------------------------------------------------------------------
// {} of a template is the list of indices that go away; `none`: what is left if there are no numbers.
static const struct {
  const char *op, *right;
  double none;
} reductions[] = {
    {"ReduceSum", "sum[{}]($0)", 0},
    {"ReduceMean", "mean[{}]($0)", (double)NAN},
    {"ReduceMax", "max[{}]($0)", -(double)INFINITY},
    {"ReduceMin", "min[{}]($0)", (double)INFINITY},
    {"ReduceProd", "prod[{}]($0)", 1},
    {"ReduceL1", "sum[{}](abs($0))", 0},
    {"ReduceL2", "sqrt(sum[{}]($0 * $0))", 0},
    {"ReduceLogSum", "log(sum[{}]($0))", -(double)INFINITY},
    {"ReduceLogSumExp", "$1 + log(sum[{}](exp($0 - $1)))", -(double)INFINITY},
    {"ReduceSumSquare", "sum[{}]($0 * $0)", 0},
};

typedef struct {
  ImpShape out;
  const char *in, *left, *gone, *kept; // kept: what the result is read at, where no axis is new
  uint32_t count;                      // of axes that go away
  bool empty;
} Reduced;

static void reduced_shape(Importer *m, const ImpShape *x, const bool *gone, bool keep, Reduced *r) {
  const char *in[ONNX_RANK_LIMIT], *left[ONNX_RANK_LIMIT], *away[ONNX_RANK_LIMIT],
      *kept[ONNX_RANK_LIMIT];
  *r = (Reduced){0};
  for (uint32_t i = 0; i < x->rank; i++) {
    bool go = gone[i];
    in[i] = go ? imp_letter[ONNX_RANK_LIMIT + i] : imp_letter[i];
    r->empty |= dim_is(x->dim[i], 0);
    if (go) away[r->count++] = in[i];
    if (go && !keep) continue;
    kept[r->out.rank] = go ? "0" : imp_letter[i];
    left[r->out.rank] = imp_letter[i];
    r->out.dim[r->out.rank++] = go ? dim_of(1) : x->dim[i];
  }
  r->in = words(m, x->rank, in);
  r->left = words(m, r->out.rank, left);
  r->kept = words(m, r->out.rank, kept);
  r->gone = words(m, r->count, away);
}

// Axes of an attribute or an input; none: all, unless the node says otherwise.
static bool reduced_axes(ImpNode *n, uint32_t rank, bool *gone) {
  ImpInts axes;
  if (!op_list(n, "axes", 1, &axes)) return false;
  bool all = !axes.n && !attr_int(n, "noop_with_empty_axes", 0);
  for (uint32_t i = 0; i < rank; i++) gone[i] = all;
  for (uint32_t i = 0; i < axes.n; i++) {
    uint32_t axis;
    if (!op_axis(n, axes.at[i], rank, &axis)) return false;
    gone[axis] = true;
  }
  return true;
}

static const char *with_indices(Importer *m, const char *right, const char *list) {
  Buf b = buf_new(m->arena);
  for (const char *at = right; *at; at++) {
    bool hole = at[0] == '{' && at[1] == '}';
    if (hole)
      buf_text(&b, list), at++;
    else
      buf_char(&b, *at);
  }
  return b.at;
}

// Without axes there is nothing to go along: `sum[]($0)` is `($0)`.
static const char *without_axes(Importer *m, const char *right) {
  Buf b = buf_new(m->arena);
  for (const char *at = right; *at; at++) {
    const char *end = at;
    while (char_is_letter(*end)) end++;
    if (!strncmp(end, "[{}]", 4) && end > at) at = end + 4;
    buf_char(&b, *at);
  }
  return b.at;
}

static Id say_reduced(ImpNode *n, Id v, OnnxType type, const Reduced *r, const char *right) {
  Importer *m = n->m;
  right = r->count ? with_indices(m, right, r->gone) : without_axes(m, right);
  return say(n, type, &r->out, (ImpForm){.left = r->left, .right = right}, READS({v, r->in}));
}

static Id filled_with(ImpNode *n, OnnxType type, const ImpShape *shape, double x) {
  int64_t count = shape_count(shape);
  double *data = NEW_ARRAY(n->m->arena, double, count > 0 ? count : 1);
  for (int64_t i = 0; i < count; i++) data[i] = x;
  return value_const(n->m, type, shape, data);
}

// The smallest and largest of a type, where there are no numbers to choose from.
static double bound(OnnxType type, double x) {
  const OnnxTypeInfo *t = &onnx_type_info[type];
  if (!isinf(x) || t->kind == 'f') return x;
  if (t->kind == 'b') return x < 0 ? 0 : 1;
  double most = ldexp(1, (int)t->bits - (t->kind == 'i')) - 1;
  return x > 0 ? most : t->kind == 'i' ? -most - 1 : 0;
}

bool op_reduce(ImpNode *n) {
  bool gone[ONNX_RANK_LIMIT], bits;
  uint32_t k = 0;
  Reduced r;
  while (strcmp(reductions[k].op, n->node->op) != 0) k++;
  ImpShape x = op_value(n, 0)->shape;
  OnnxType type = op_value(n, 0)->type;
  if (!reduced_axes(n, x.rank, gone)) return false;
  reduced_shape(n->m, &x, gone, attr_int(n, "keepdims", 1), &r);
  if (r.empty)
    return op_give(n, 0, filled_with(n, type, &r.out, bound(type, reductions[k].none))), true;
  Id in = say_number(n, n->in[0]), y;
  bits = type == ONNX_BOOL;
  if (!strcmp(n->node->op, "ReduceLogSumExp")) {
    Id most = say_reduced(n, in, type, &r, "max(max[{}]($0), 0 - 1e300)");
    const char *right = r.count ? with_indices(n->m, reductions[k].right, r.gone) : "$0";
    y = say(n, type, &r.out, (ImpForm){.left = r.left, .right = right},
            READS({in, r.in}, {most, r.left}));
  } else {
    y = say_reduced(n, in, bits ? ONNX_INT64 : type, &r, reductions[k].right);
  }
  op_give(n, 0, bits ? say_bits(n, y) : y);
  return true;
}

// -- the place of the largest --------------------------------------------------------------------
bool op_argmax(ImpNode *n) {
  Importer *m = n->m;
  bool gone[ONNX_RANK_LIMIT] = {false}, last = attr_int(n, "select_last_index", 0);
  bool largest = !strcmp(n->node->op, "ArgMax");
  uint32_t axis;
  Reduced r;
  ImpShape x = op_value(n, 0)->shape;
  if (!op_axis(n, attr_int(n, "axis", 0), x.rank, &axis)) return false;
  gone[axis] = true;
  reduced_shape(m, &x, gone, attr_int(n, "keepdims", 1), &r);
  if (!last) {
    const char *right = largest ? "number(argmax[{}]($0))" : "number(argmin[{}]($0))";
    op_give(n, 0, say_reduced(n, n->in[0], ONNX_INT64, &r, right));
    return true;
  }
  Id most =
      say_reduced(n, n->in[0], op_value(n, 0)->type, &r, largest ? "max[{}]($0)" : "min[{}]($0)");
  const char *right = arena_format(m->arena, "max[%s]((%s when ($0 = $1) else 0))", r.gone, r.gone);
  ImpForm form = {.left = r.left, .right = right};
  op_give(n, 0, say(n, ONNX_INT64, &r.out, form, READS({n->in[0], r.in}, {most, r.left})));
  return true;
}

// -- softmax -------------------------------------------------------------------------------------
// Before version 13 all axes from the given one on are one.
static bool softmax_as_matrix(ImpNode *n, const char *box) {
  Importer *m = n->m;
  ImpShape x = op_value(n, 0)->shape, flat = {2, {dim_of(1), dim_of(1)}};
  uint32_t axis;
  if (!op_axis(n, attr_int(n, "axis", 1), x.rank, &axis)) return false;
  for (uint32_t i = 0; i < x.rank; i++) {
    uint32_t side = i >= axis;
    flat.dim[side] = dim_op(m, '*', flat.dim[side], x.dim[i]);
  }
  Id rows = say_reshaped(n, n->in[0], &flat);
  if (!rows) return false;
  const char *right = arena_format(m->arena, "%s[j]($0)", box);
  Id y = say(n, op_value(n, 0)->type, &flat, (ImpForm){.right = right}, READS({rows, "i j"}));
  y = say_reshaped(n, y, &x);
  if (y) op_give(n, 0, y);
  return y;
}

bool op_softmax(ImpNode *n) {
  Importer *m = n->m;
  const char *box = !strcmp(n->node->op, "Softmax") ? "softmax" : "log_softmax";
  uint32_t axis;
  ImpShape x = op_value(n, 0)->shape;
  if (n->version < 13 && !(x.rank == 2 && attr_int(n, "axis", 1) == 1))
    return softmax_as_matrix(n, box);
  if (!op_axis(n, attr_int(n, "axis", n->version < 13 ? 1 : -1), x.rank, &axis)) return false;
  const char *right = arena_format(m->arena, "%s[%s]($0)", box, imp_letter[axis]);
  op_give(n, 0,
          say(n, op_value(n, 0)->type, &x, (ImpForm){.right = right},
              READS({n->in[0], letters(m, x.rank)})));
  return true;
}

// 1 at the first place of the largest, 0 elsewhere.
bool op_hardmax(ImpNode *n) {
  Importer *m = n->m;
  bool gone[ONNX_RANK_LIMIT] = {false};
  uint32_t axis;
  Reduced r;
  ImpShape x = op_value(n, 0)->shape;
  if (!op_axis(n, attr_int(n, "axis", n->version < 13 ? 1 : -1), x.rank, &axis)) return false;
  if (n->version < 13 && axis + 1 != x.rank)
    return op_refuse(n, "before version 13 it is known along the last axis only");
  gone[axis] = true;
  reduced_shape(m, &x, gone, true, &r);
  Id at = say_reduced(n, n->in[0], ONNX_INT64, &r, "number(argmax[{}]($0))");
  ImpForm form = {.left = letters(m, x.rank),
                  .right = arena_format(m->arena, "number(%s = $0)", imp_letter[axis])};
  op_give(n, 0, say(n, op_value(n, 0)->type, &x, form, READS({at, r.kept})));
  return true;
}

// x by its length along an axis: p is 1 or 2.
bool op_lpnormalization(ImpNode *n) {
  Importer *m = n->m;
  bool gone[ONNX_RANK_LIMIT] = {false};
  uint32_t axis;
  int64_t p = attr_int(n, "p", 2);
  Reduced r;
  ImpShape x = op_value(n, 0)->shape;
  OnnxType type = op_value(n, 0)->type;
  if (!op_axis(n, attr_int(n, "axis", -1), x.rank, &axis)) return false;
  if (p != 1 && p != 2) return op_refuse(n, "p is 1 or 2, not %lld", (long long)p);
  gone[axis] = true;
  reduced_shape(m, &x, gone, true, &r);
  Id length =
      say_reduced(n, n->in[0], type, &r, p == 1 ? "sum[{}](abs($0))" : "sqrt(sum[{}]($0 * $0))");
  const char *at = letters(m, x.rank);
  ImpForm form = {.left = at, .right = "$0 / $1"};
  op_give(n, 0, say(n, type, &x, form, READS({n->in[0], at}, {length, r.kept})));
  return true;
}

// Less its mean, by its deviation, over axes.
bool op_meanvariance(ImpNode *n) {
  Importer *m = n->m;
  bool gone[ONNX_RANK_LIMIT] = {false};
  ImpInts axes = attr_ints(n, "axes");
  int64_t usual[] = {0, 2, 3};
  Reduced r;
  if (!axes.there) axes = (ImpInts){true, COUNT(usual), usual};
  ImpShape x = op_value(n, 0)->shape;
  OnnxType type = op_value(n, 0)->type;
  for (uint32_t i = 0; i < axes.n; i++) {
    uint32_t axis;
    if (!op_axis(n, axes.at[i], x.rank, &axis)) return false;
    gone[axis] = true;
  }
  reduced_shape(m, &x, gone, true, &r);
  const char *at = letters(m, x.rank);
  Id mean = say_reduced(n, n->in[0], type, &r, "mean[{}]($0)");
  Id d = say(n, type, &x, (ImpForm){.left = at, .right = "$0 - $1"},
             READS({n->in[0], at}, {mean, r.kept}));
  Id square = say_reduced(n, d, type, &r, "mean[{}]($0 * $0)");
  ImpForm form = {.left = at, .right = "$0 / (sqrt($1) + 1e-9)"};
  op_give(n, 0, say(n, type, &x, form, READS({d, at}, {square, r.kept})));
  return true;
}

// -- running sums --------------------------------------------------------------------------------
bool op_cumsum(ImpNode *n) {
  Importer *m = n->m;
  double which;
  uint32_t axis;
  bool reverse = attr_int(n, "reverse", 0), exclusive = attr_int(n, "exclusive", 0);
  if (!op_scalar(n, 1, &which)) return false;
  ImpShape x = op_value(n, 0)->shape;
  if (!op_axis(n, whole_of(which), x.rank, &axis)) return false;
  const char *at[ONNX_RANK_LIMIT], *step = imp_letter[ONNX_RANK_LIMIT];
  for (uint32_t i = 0; i < x.rank; i++) at[i] = imp_letter[i];
  at[axis] = arena_format(m->arena, "%s%c%s%s", imp_letter[axis], reverse ? '+' : '-', step,
                          !exclusive ? ""
                          : reverse  ? "+1"
                                     : "-1");
  bool product = !strcmp(n->node->op, "CumProd");
  const char *right = arena_format(m->arena, "%s[%s:%s]($0)", product ? "prod" : "sum", step,
                                   dim_text(m, x.dim[axis]));
  ImpForm form = {.left = letters(m, x.rank), .right = right, .pad = product ? "1" : "0"};
  op_give(n, 0, say(n, op_value(n, 0)->type, &x, form, READS({n->in[0], words(m, x.rank, at)})));
  return true;
}

// -- sorting -------------------------------------------------------------------------------------
// Are all places of the axis asked for, though only their name is known?
static bool takes_all(ImpNode *n, ImpSize places) {
  const ImpValue *k = op_in(n, 1) ? op_value(n, 1) : NULL;
  return k && places.text && k->known && dim_same(k->known[0], places);
}

bool op_topk(ImpNode *n) {
  Importer *m = n->m;
  uint32_t axis;
  double k = (double)attr_int(n, "k", 0);
  ImpShape x = op_in(n, 0) ? op_value(n, 0)->shape : (ImpShape){0}, out = x;
  if (!op_in(n, 0) || !op_axis(n, attr_int(n, "axis", -1), x.rank, &axis)) return false;
  bool whole = takes_all(n, x.dim[axis]);
  if (!whole) {
    if ((n->version >= 10 && !op_scalar(n, 1, &k)) || !op_fixed_axis(n, 0, axis)) return false;
    if (!(k >= 1 && k <= (double)x.dim[axis].n))
      return op_refuse(n, "it takes %g of %lld", k, (long long)x.dim[axis].n);
    out.dim[axis] = dim_of((int64_t)k);
  }
  int64_t places = whole ? 1 : x.dim[axis].n; // of labels that are only pointed with, any number
  const char *all = letters(m, x.rank), *at[ONNX_RANK_LIMIT], *from[ONNX_RANK_LIMIT];
  for (uint32_t i = 0; i < x.rank; i++) at[i] = from[i] = imp_letter[i];
  at[axis] = arena_format(m->arena, "0..%lld", (long long)k - 1);
  from[axis] = "$1";
  const char *right = attr_int(n, "largest", 1) ? "order[%s](0 - $0)" : "order[%s]($0)";
  Id o = say(n, ONNX_INT64, &x, (ImpForm){.right = arena_format(m->arena, right, imp_letter[axis])},
             READS({n->in[0], all}));
  value_at(m, o)->labels = places;
  const char *cut = arena_format(m->arena, "@%s", words(m, x.rank, at)),
             *pick = arena_format(m->arena, "@%s", all);
  Id first = whole ? o : say(n, ONNX_INT64, &out, (ImpForm){.right = "$0"}, READS({o, cut}));
  value_at(m, first)->labels = places;
  ImpForm form = {.left = all, .right = "$0"};
  op_give(n, 0,
          say(n, op_value(n, 0)->type, &out, form,
              READS({n->in[0], words(m, x.rank, from)}, {first, pick})));
  op_give(n, 1, say(n, ONNX_INT64, &out, form, READS({first, all})));
  return true;
}
