// Reductions, arg-reductions, softmax, cumulative sums, sorting.
#include "port/import/own.h"

#include <math.h>

// -- reductions -----------------------------------------------------------------------------------
// In a template {} is the list of reduced indices, $0 is read with them, $1 is the previous
// reduction. `none`: the result without elements.
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
  const char *in, *left, *gone; // left: with sizes of axes kept with size 1
  const char *own, *kept;       // the result at its own indices, and at those of the operand
  bool empty;
} Reduced;

static void reduced_indices(Importer *m, const ImpShape *x, const bool *gone, bool keep,
                            Reduced *r) {
  Buf in = buf_new(m->arena), left = buf_new(m->arena), away = buf_new(m->arena),
      kept = buf_new(m->arena), own = buf_new(m->arena);
  *r = (Reduced){0};
  for (uint32_t i = 0; i < x->rank; i++) {
    const char *letter = imp_letter[gone[i] ? ONNX_RANK_LIMIT + i : i];
    r->empty |= dim_is(x->dim[i], 0);
    buf_printf(&in, "%s ", letter);
    if (gone[i]) buf_printf(&away, "%s%s", away.n ? " " : "", letter);
    if (gone[i] && !keep) continue;
    buf_printf(&own, "%s ", imp_letter[i]);
    buf_printf(&kept, "%s ", gone[i] ? "0" : letter);
    buf_printf(&left, gone[i] ? "%s:1 " : "%s ", imp_letter[i]);
    r->out.dim[r->out.rank++] = gone[i] ? dim_of(1) : x->dim[i];
  }
  r->in = in.at, r->left = left.at, r->kept = kept.at, r->gone = away.at, r->own = own.at;
}

// Axes of an attribute or input; default: all, or none if the node says so.
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

static Id add_reduction(ImpNode *n, OnnxType type, const Id *in, const Reduced *r,
                        const char *right) {
  Buf b = buf_new(n->m->arena);
  for (const char *at = right; *at; at++) {
    const char *list = at[1] == '0' ? r->in : r->own;
    if (*at == '{')
      buf_text(&b, r->gone), at++;
    else if (*at == '$')
      buf_printf(&b, "$%c[%s]", *++at, list);
    else
      buf_char(&b, *at);
  }
  return add_equation(n, type, in, "[%s] = %s", r->left, b.at);
}

// The indices of a reduction along one axis.
static bool reduce_along(ImpNode *n, int64_t along, bool keep, uint32_t *axis, Reduced *r) {
  bool gone[ONNX_RANK_LIMIT] = {false};
  const ImpShape *x = &op_value(n, 0)->shape;
  if (!op_axis(n, along, x->rank, axis)) return false;
  gone[*axis] = true;
  reduced_indices(n->m, x, gone, keep, r);
  return true;
}

static Id filled_with(ImpNode *n, OnnxType type, const ImpShape *shape, double x) {
  int64_t count = shape_count(shape);
  double *data = NEW_ARRAY(n->m->arena, double, count > 0 ? count : 1);
  for (int64_t i = 0; i < count; i++) data[i] = x;
  return value_const(n->m, type, shape, data);
}

// The smallest or largest value of a type, for reductions over nothing.
static double bound(OnnxType type, double x) {
  const OnnxTypeInfo *t = &onnx_type_info[type];
  if (!isinf(x) || t->kind == 'f') return x;
  if (t->kind == 'b') return x < 0 ? 0 : 1;
  double most = ldexp(1, (int)t->bits - (t->kind == 'i')) - 1;
  return x > 0 ? most : t->kind == 'i' ? -most - 1 : 0;
}

bool op_reduce(ImpNode *n) {
  bool gone[ONNX_RANK_LIMIT];
  uint32_t k = 0;
  Reduced r;
  while (strcmp(reductions[k].op, n->node->op) != 0) k++;
  ImpShape x = op_value(n, 0)->shape;
  OnnxType type = op_value(n, 0)->type;
  if (!reduced_axes(n, x.rank, gone)) return false;
  reduced_indices(n->m, &x, gone, attr_int(n, "keepdims", 1), &r);
  if (r.empty)
    return op_set_result(n, 0, filled_with(n, type, &r.out, bound(type, reductions[k].none)));
  bool bits = type == ONNX_BOOL, scaled = !strcmp(n->node->op, "ReduceLogSumExp");
  Id in[2] = {bits_to_number(n, n->in[0])};
  if (scaled && !*r.gone) return op_set_result(n, 0, add_equation(n, type, in, "[*] = $0"));
  if (scaled) in[1] = add_reduction(n, type, in, &r, "max(max[{}]($0), 0 - 1e300)");
  Id y = add_reduction(n, bits ? ONNX_INT64 : type, in, &r, reductions[k].right);
  return op_set_result(n, 0, bits ? number_to_bits(n, y) : y);
}

// -- the place of the largest ---------------------------------------------------------------------
bool op_argmax(ImpNode *n) {
  bool last = attr_int(n, "select_last_index", 0), largest = !strcmp(n->node->op, "ArgMax");
  uint32_t axis;
  Reduced r;
  if (!reduce_along(n, attr_int(n, "axis", 0), attr_int(n, "keepdims", 1), &axis, &r)) return false;
  if (!last)
    return op_set_result(
        n, 0,
        add_reduction(n, ONNX_INT64, n->in, &r,
                      largest ? "number(argmax[{}]($0))" : "number(argmin[{}]($0))"));
  Id most =
      add_reduction(n, op_value(n, 0)->type, n->in, &r, largest ? "max[{}]($0)" : "min[{}]($0)");
  return op_set_result(
      n, 0,
      add_reduction(n, ONNX_INT64, IN(n->in[0], most), &r, "max[{}](({} when ($0 = $1) else 0))"));
}

// -- softmax --------------------------------------------------------------------------------------
// Before version 13, softmax flattens all axes from the given one on.
static bool softmax_as_matrix(ImpNode *n, const char *box) {
  Importer *m = n->m;
  ImpShape x = op_value(n, 0)->shape, flat = {2, {dim_of(1), dim_of(1)}};
  uint32_t axis;
  if (!op_axis(n, attr_int(n, "axis", 1), x.rank, &axis)) return false;
  for (uint32_t i = 0; i < x.rank; i++) {
    uint32_t side = i >= axis;
    flat.dim[side] = dim_op(m, '*', flat.dim[side], x.dim[i]);
  }
  Id rows = add_reshape(n, n->in[0], &flat);
  if (!rows) return false;
  Id y = add_equation(n, op_value(n, 0)->type, IN(rows), "%s[j]($0)", box);
  return op_set_result(n, 0, y ? add_reshape(n, y, &x) : 0);
}

bool op_softmax(ImpNode *n) {
  const char *box = !strcmp(n->node->op, "Softmax") ? "softmax" : "log_softmax";
  uint32_t axis;
  ImpShape x = op_value(n, 0)->shape;
  if (n->version < 13 && !(x.rank == 2 && attr_int(n, "axis", 1) == 1))
    return softmax_as_matrix(n, box);
  if (!op_axis(n, attr_int(n, "axis", n->version < 13 ? 1 : -1), x.rank, &axis)) return false;
  return op_gives(n, "%s[%s]($0)", box, imp_letter[axis]);
}

// 1 at the first maximum, 0 elsewhere.
bool op_hardmax(ImpNode *n) {
  uint32_t axis;
  Reduced r;
  ImpShape x = op_value(n, 0)->shape;
  if (!reduce_along(n, attr_int(n, "axis", n->version < 13 ? 1 : -1), true, &axis, &r))
    return false;
  if (n->version < 13 && axis + 1 != x.rank)
    return op_refuse(n, "before version 13 it is known along the last axis only");
  Id at = add_reduction(n, ONNX_INT64, n->in, &r, "number(argmax[{}]($0))");
  const char *here = imp_letter[axis];
  return op_set_result(n, 0,
                       add_equation(n, op_value(n, 0)->type, IN(at), "[%s] = number(%s = $0[%s])",
                                    letters_sized(n->m, &x, axis, axis + 1), here, r.kept));
}

// Divides x by its norm along an axis: p is 1 or 2.
bool op_lpnormalization(ImpNode *n) {
  uint32_t axis;
  int64_t p = attr_int(n, "p", 2);
  Reduced r;
  OnnxType type = op_value(n, 0)->type;
  if (!reduce_along(n, attr_int(n, "axis", -1), true, &axis, &r)) return false;
  if (p != 1 && p != 2) return op_refuse(n, "p is 1 or 2, not %lld", (long long)p);
  Id length =
      add_reduction(n, type, n->in, &r, p == 1 ? "sum[{}](abs($0))" : "sqrt(sum[{}]($0 * $0))");
  return op_set_result(n, 0, equation(n, IN(n->in[0], length), "[*] = $0 / $1"));
}

// Subtracts the mean and divides by the standard deviation over axes.
bool op_meanvariance(ImpNode *n) {
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
  reduced_indices(n->m, &x, gone, true, &r);
  Id mean = add_reduction(n, type, n->in, &r, "mean[{}]($0)"),
     d = equation(n, IN(n->in[0], mean), "[*] = $0 - $1"),
     square = add_reduction(n, type, IN(d), &r, "mean[{}]($0 * $0)");
  return op_set_result(n, 0, equation(n, IN(d, square), "[*] = $0 / (sqrt($1) + 1e-9)"));
}

// -- running sums ---------------------------------------------------------------------------------
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
  return op_gives(n, "[%s] = %s[%s:%s]($0[%s]) pad %s", letters_sized(m, &x, axis, axis + 1),
                  product ? "prod" : "sum", step, dim_text(m, x.dim[axis]),
                  join_words(m, x.rank, at), product ? "1" : "0");
}

// -- sorting --------------------------------------------------------------------------------------
// Is k the whole axis, given symbolically?
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
  int64_t places = whole ? 1 : x.dim[axis].n; // arbitrary for labels that are only used as index
  const char *all = index_letters(m, x.rank), *at[ONNX_RANK_LIMIT], *from[ONNX_RANK_LIMIT];
  for (uint32_t i = 0; i < x.rank; i++) at[i] = from[i] = imp_letter[i];
  at[axis] = arena_format(m->arena, "0..%lld", (long long)k - 1);
  OnnxType type = op_value(n, 0)->type;
  Id o = add_equation(n, ONNX_INT64, n->in, "order[%s](%s$0)", imp_letter[axis],
                      attr_int(n, "largest", 1) ? "0 - " : "");
  if (!o) return false;
  value_at(m, o)->labels = places;
  const char *cut = arena_format(m->arena, "@%s", join_words(m, x.rank, at));
  Id first = whole ? o : add_line(n, ONNX_INT64, &out, (ImpForm){.right = "$0"}, READS({o, cut}));
  value_at(m, first)->labels = places;
  from[axis] = arena_format(m->arena, "$1[%s]", all);
  Id y =
      add_equation(n, type, IN(n->in[0], first), "[%s] = $0[%s]", all, join_words(m, x.rank, from));
  return op_set_result(n, 0, y) &&
         op_set_result(n, 1, add_equation(n, ONNX_INT64, IN(first), "[*] = $0"));
}
