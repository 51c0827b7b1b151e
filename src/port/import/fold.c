// Constant folding: arithmetic on constants and sizes, and moving them. Symbolic sizes are kept
// symbolic (`known`), so chains of `Shape`, `Gather`, `Concat`, `Reshape` disappear for any batch
// size.
//
// Weights are not folded: they stay trainable.
#include "port/import/own.h"

#include <math.h>

enum { FOLD_LIMIT = 1 << 20, FOLD_IN_MOST = 4 };

static const ImpShape *shape_in(const ImpNode *n, uint32_t k) { return &op_value(n, k)->shape; }

static bool can_fold(const ImpNode *n) {
  if (!n->nin) return false;
  for (uint32_t i = 0; i < n->nin; i++) {
    if (!n->in[i]) continue;
    const ImpValue *v = op_value(n, i);
    if (v->kind == IMP_WEIGHT || (!v->data && !v->known)) return false;
    int64_t count = shape_count(&v->shape);
    if (count < 0 || count > FOLD_LIMIT) return false;
  }
  return true;
}

static bool all_numbers(const ImpNode *n) {
  for (uint32_t i = 0; i < n->nin; i++)
    if (n->in[i] && !op_value(n, i)->data) return false;
  return true;
}

// The value as its type stores it.
static double held(OnnxType t, double x) { return t == ONNX_FLOAT ? (double)(float)x : x; }

// -- places ---------------------------------------------------------------------------------------
static void unravel(const ImpShape *s, int64_t k, int64_t *at) {
  for (uint32_t i = s->rank; i-- > 0;) {
    at[i] = k % s->dim[i].n;
    k /= s->dim[i].n;
  }
}

static int64_t ravel(const ImpShape *s, const int64_t *at) {
  int64_t k = 0;
  for (uint32_t i = 0; i < s->rank; i++) k = k * s->dim[i].n + at[i];
  return k;
}

// The offset in a value that is broadcast to a shape.
static int64_t broadcast_offset(const ImpShape *s, const ImpShape *to, const int64_t *at) {
  int64_t k = 0;
  for (uint32_t i = 0; i < s->rank; i++) {
    int64_t here = s->dim[i].n == 1 ? 0 : at[to->rank - s->rank + i];
    k = k * s->dim[i].n + here;
  }
  return k;
}

// -- arithmetic -----------------------------------------------------------------------------------
typedef double FoldFunction(const double *, OnnxType);
#define FOLD(name, expression)                                                                     \
  static double fold_##name(const double *x, OnnxType t) {                                         \
    (void)t;                                                                                       \
    return expression;                                                                             \
  }
FOLD(add, x[0] + x[1])
FOLD(sub, x[0] - x[1])
FOLD(mul, x[0] * x[1])
FOLD(div, is_whole(t) ? (x[1] != 0 ? trunc(x[0] / x[1]) : 0) : x[0] / x[1])
FOLD(mod, x[0] - floor(x[0] / x[1]) * x[1])
FOLD(pow, pow(x[0], x[1]))
FOLD(max, x[0] > x[1] ? x[0] : x[1])
FOLD(min, x[0] < x[1] ? x[0] : x[1])
FOLD(equal, x[0] == x[1])
FOLD(less, x[0] < x[1])
FOLD(greater, x[0] > x[1])
FOLD(less_equal, x[0] <= x[1])
FOLD(greater_equal, x[0] >= x[1])
FOLD(and, x[0] != 0 && x[1] != 0)
FOLD(or, x[0] != 0 || x[1] != 0)
FOLD(not, x[0] == 0)
FOLD(neg, -x[0])
FOLD(abs, fabs(x[0]))
FOLD(floor, floor(x[0]))
FOLD(ceil, ceil(x[0]))
FOLD(sqrt, sqrt(x[0]))
FOLD(reciprocal, 1 / x[0])
FOLD(exp, exp(x[0]))
FOLD(log, log(x[0]))
FOLD(relu, x[0] > 0 ? x[0] : 0)
FOLD(where, x[0] != 0 ? x[1] : x[2])
#undef FOLD

static const struct FoldRow {
  const char *op;
  FoldFunction *f;
  uint32_t inputs;
  bool logical;
  char size; // the operation on symbolic sizes; 0: unknown
} fold_rows[] = {
    {"Add", fold_add, 2, false, '+'},
    {"Sub", fold_sub, 2, false, '-'},
    {"Mul", fold_mul, 2, false, '*'},
    {"Div", fold_div, 2, false, '/'},
    {"Mod", fold_mod, 2, false, 0},
    {"Pow", fold_pow, 2, false, 0},
    {"Max", fold_max, 2, false, 0},
    {"Min", fold_min, 2, false, 0},
    {"Equal", fold_equal, 2, true, 0},
    {"Less", fold_less, 2, true, 0},
    {"Greater", fold_greater, 2, true, 0},
    {"LessOrEqual", fold_less_equal, 2, true, 0},
    {"GreaterOrEqual", fold_greater_equal, 2, true, 0},
    {"And", fold_and, 2, true, 0},
    {"Or", fold_or, 2, true, 0},
    {"Not", fold_not, 1, true, 0},
    {"Neg", fold_neg, 1, false, 0},
    {"Abs", fold_abs, 1, false, 0},
    {"Floor", fold_floor, 1, false, 0},
    {"Ceil", fold_ceil, 1, false, 0},
    {"Sqrt", fold_sqrt, 1, false, 0},
    {"Exp", fold_exp, 1, false, 0},
    {"Log", fold_log, 1, false, 0},
    {"Relu", fold_relu, 1, false, 0},
    {"Reciprocal", fold_reciprocal, 1, false, 0},
    {"Where", fold_where, 3, false, 0},
};

static ImpSize size_in(const ImpValue *v, int64_t k) {
  return v->known ? v->known[k] : dim_of(whole_of(v->data[k]));
}

// Folds one element of symbolic sizes, which are integers of at least 1. False: undetermined.
static bool fold_size(ImpNode *n, const struct FoldRow *row, const ImpSize *x, ImpSize *out) {
  const char *op = row->op;
  if (row->size) return *out = dim_op(n->m, row->size, x[0], x[1]), true;
  bool named = x[0].text && !x[1].text, other = !x[0].text && x[1].text;
  int64_t number = named ? x[1].n : x[0].n;
  if (!strcmp(op, "Where")) return !x[0].text && (*out = x[x[0].n ? 1 : 2], true);
  if (!strcmp(op, "Equal") && dim_same(x[0], x[1])) return *out = dim_of(1), true;
  if (!strcmp(op, "Equal")) return (named || other) && number < 1 && (*out = dim_of(0), true);
  if (!strcmp(op, "Max"))
    return (named || other) && number <= 1 && (*out = named ? x[0] : x[1], true);
  return false;
}

static Id fold_sizes(ImpNode *n, const struct FoldRow *row, const ImpShape *shape, int64_t count) {
  int64_t at[ONNX_RANK_LIMIT];
  if (count > ONNX_RANK_LIMIT) return 0;
  for (uint32_t i = 0; i < n->nin; i++)
    if (!is_whole(op_value(n, i)->type) && op_value(n, i)->type != ONNX_BOOL) return 0;
  ImpSize *known = NEW_ARRAY(n->m->arena, ImpSize, count + 1);
  for (int64_t k = 0; k < count; k++) {
    ImpSize x[FOLD_IN_MOST] = {{0}};
    unravel(shape, k, at);
    for (uint32_t i = 0; i < n->nin; i++)
      x[i] = size_in(op_value(n, i), broadcast_offset(shape_in(n, i), shape, at));
    bool numbers = !x[0].text && !x[1].text && !x[2].text;
    double y[FOLD_IN_MOST] = {(double)x[0].n, (double)x[1].n, (double)x[2].n};
    if (numbers)
      known[k] = dim_of(whole_of(row->f(y, ONNX_INT64)));
    else if (!fold_size(n, row, x, &known[k]))
      return 0;
  }
  OnnxType type = row->logical ? ONNX_BOOL : op_value(n, n->nin > 2)->type;
  Id v = value_new(n->m, type, shape, IMP_CONST, "");
  value_at(n->m, v)->known = known;
  return v;
}

static bool fold_map(ImpNode *n, const struct FoldRow *row) {
  ImpShape shape;
  int64_t at[ONNX_RANK_LIMIT];
  if (n->nin != row->inputs || !broadcast_shape(n, n->in, n->nin, &shape)) return false;
  int64_t count = shape_count(&shape);
  if (count < 0 || count > FOLD_LIMIT) return false;
  if (!all_numbers(n)) {
    Id v = fold_sizes(n, row, &shape, count);
    if (v) op_set_result(n, 0, v);
    return v;
  }
  OnnxType in = op_value(n, row->inputs == 3 ? 1 : 0)->type, out = row->logical ? ONNX_BOOL : in;
  double *data = NEW_ARRAY(n->m->arena, double, count + 1);
  for (int64_t k = 0; k < count; k++) {
    double x[FOLD_IN_MOST];
    unravel(&shape, k, at);
    for (uint32_t i = 0; i < n->nin; i++)
      x[i] = op_value(n, i)->data[broadcast_offset(shape_in(n, i), &shape, at)];
    data[k] = held(out, row->f(x, in));
    if (is_whole(out) && !(fabs(data[k]) < 0x1p53)) return false;
  }
  op_set_result(n, 0, value_const(n->m, out, &shape, data));
  return true;
}

// -- moving ---------------------------------------------------------------------------------------
// The numbers or sizes of the first input at these offsets.
static Id gather_folded(ImpNode *n, const ImpShape *shape, const int64_t *from) {
  Importer *m = n->m;
  ImpValue x = *op_value(n, 0);
  int64_t count = shape_count(shape);
  Id v = value_new(m, x.type, shape, IMP_CONST, "");
  double *data = x.data ? NEW_ARRAY(m->arena, double, count + 1) : NULL;
  ImpSize *known = x.known ? NEW_ARRAY(m->arena, ImpSize, count + 1) : NULL;
  for (int64_t k = 0; k < count; k++) {
    if (data) data[k] = x.data[from[k]];
    if (known) known[k] = x.known[from[k]];
  }
  value_at(m, v)->data = data;
  value_at(m, v)->known = known;
  return v;
}

static void set_moved_result(ImpNode *n, const ImpShape *shape, const int64_t *from) {
  op_set_result(n, 0, gather_folded(n, shape, from));
}

static int64_t *new_places(ImpNode *n, const ImpShape *shape) {
  int64_t count = shape_count(shape);
  return count < 0 || count > FOLD_LIMIT ? NULL : NEW_ARRAY(n->m->arena, int64_t, count + 1);
}

static bool fold_gather(ImpNode *n) {
  uint32_t axis;
  if (n->nin != 2 || !op_value(n, 1)->data || !shape_in(n, 0)->rank) return false;
  const ImpShape *x = shape_in(n, 0), *index = shape_in(n, 1);
  if (!op_axis(n, attr_int(n, "axis", 0), x->rank, &axis)) return false;
  if (x->rank - 1 + index->rank > ONNX_RANK_LIMIT) return false;
  ImpShape out = {.rank = x->rank - 1 + index->rank};
  for (uint32_t i = 0; i < axis; i++) out.dim[i] = x->dim[i];
  for (uint32_t i = 0; i < index->rank; i++) out.dim[axis + i] = index->dim[i];
  for (uint32_t i = axis + 1; i < x->rank; i++) out.dim[index->rank + i - 1] = x->dim[i];
  int64_t *from = new_places(n, &out), at[ONNX_RANK_LIMIT], in[ONNX_RANK_LIMIT];
  for (int64_t k = 0; from && k < shape_count(&out); k++) {
    unravel(&out, k, at);
    int64_t where = whole_of(op_value(n, 1)->data[ravel(index, at + axis)]);
    if (where < 0) where += x->dim[axis].n;
    if (where < 0 || where >= x->dim[axis].n)
      return op_refuse(n, "an index is outside of its axis");
    for (uint32_t i = 0; i < axis; i++) in[i] = at[i];
    in[axis] = where;
    for (uint32_t i = axis + 1; i < x->rank; i++) in[i] = at[index->rank + i - 1];
    from[k] = ravel(x, in);
  }
  if (from) set_moved_result(n, &out, from);
  return from;
}

static bool fold_concat(ImpNode *n) {
  Importer *m = n->m;
  uint32_t axis;
  ImpShape out = *shape_in(n, 0);
  bool numbers = all_numbers(n);
  if (!out.rank || !op_axis(n, attr_int(n, "axis", 0), out.rank, &axis)) return false;
  for (uint32_t i = 1; i < n->nin; i++) {
    if (shape_in(n, i)->rank != out.rank) return false;
    out.dim[axis].n += shape_in(n, i)->dim[axis].n;
  }
  int64_t count = shape_count(&out), at[ONNX_RANK_LIMIT];
  if (count < 0 || count > FOLD_LIMIT || (!numbers && out.rank > 1)) return false;
  double *data = numbers ? NEW_ARRAY(m->arena, double, count + 1) : NULL;
  ImpSize *known = numbers ? NULL : NEW_ARRAY(m->arena, ImpSize, count + 1);
  for (int64_t k = 0; k < count; k++) {
    uint32_t i = 0;
    unravel(&out, k, at);
    for (; at[axis] >= shape_in(n, i)->dim[axis].n; i++) at[axis] -= shape_in(n, i)->dim[axis].n;
    if (data) data[k] = op_value(n, i)->data[ravel(shape_in(n, i), at)];
    if (known) known[k] = size_in(op_value(n, i), at[0]);
  }
  Id v = value_const(m, op_value(n, 0)->type, &out, data);
  value_at(m, v)->known = known;
  op_set_result(n, 0, v);
  return true;
}

static bool fold_slice(ImpNode *n) {
  SliceCut cut[ONNX_RANK_LIMIT];
  uint32_t cuts;
  const ImpShape *x = shape_in(n, 0);
  if (!slice_cuts(n, cut, &cuts)) return false;
  int64_t first[ONNX_RANK_LIMIT] = {0}, by[ONNX_RANK_LIMIT], at[ONNX_RANK_LIMIT];
  ImpShape out = *x;
  for (uint32_t i = 0; i < x->rank; i++) by[i] = 1;
  for (uint32_t i = 0; i < cuts; i++) {
    uint32_t axis = cut[i].axis;
    int64_t size = x->dim[axis].n, step = by[axis] = cut[i].step;
    first[axis] = slice_from(cut[i].start, size, step);
    out.dim[axis] = dim_of(slice_count(first[axis], slice_to(cut[i].end, size, step), step));
  }
  int64_t *from = new_places(n, &out);
  for (int64_t k = 0; from && k < shape_count(&out); k++) {
    unravel(&out, k, at);
    for (uint32_t i = 0; i < x->rank; i++) at[i] = first[i] + by[i] * at[i];
    from[k] = ravel(x, at);
  }
  if (from) set_moved_result(n, &out, from);
  return from;
}

static bool fold_split(ImpNode *n) {
  uint32_t axis;
  ImpShape x = *shape_in(n, 0);
  int64_t at[ONNX_RANK_LIMIT], before = 0, *sizes;
  if (!split_sizes(n, &axis, &sizes)) return false;
  for (uint32_t i = 0; i < n->node->out.n; i++) {
    ImpShape out = x;
    out.dim[axis] = dim_of(sizes[i]);
    int64_t *from = new_places(n, &out);
    for (int64_t k = 0; from && k < shape_count(&out); k++) {
      unravel(&out, k, at);
      at[axis] += before;
      from[k] = ravel(&x, at);
    }
    if (!from) return false;
    if (*n->node->out.at[i]) op_set_result(n, i, gather_folded(n, &out, from));
    before += sizes[i];
  }
  return true;
}

static bool fold_transpose(ImpNode *n) {
  const ImpShape *x = shape_in(n, 0);
  ImpInts perm = attr_ints(n, "perm");
  int64_t at[ONNX_RANK_LIMIT], in[ONNX_RANK_LIMIT];
  ImpShape out = *x;
  uint32_t axis[ONNX_RANK_LIMIT];
  bool seen[ONNX_RANK_LIMIT] = {false}; // op_transpose refuses repeated axes
  for (uint32_t i = 0; i < x->rank; i++) {
    int64_t to = perm.there && perm.n == x->rank ? perm.at[i] : (int64_t)(x->rank - 1 - i);
    if (!op_axis(n, to, x->rank, &axis[i]) || seen[axis[i]]) return false;
    seen[axis[i]] = true;
    out.dim[i] = x->dim[axis[i]];
  }
  int64_t *from = new_places(n, &out);
  for (int64_t k = 0; from && k < shape_count(&out); k++) {
    unravel(&out, k, at);
    for (uint32_t i = 0; i < x->rank; i++) in[axis[i]] = at[i];
    from[k] = ravel(x, in);
  }
  if (from) set_moved_result(n, &out, from);
  return from;
}

static bool fold_trilu(ImpNode *n) {
  ImpValue x = *op_value(n, 0);
  double far = 0;
  bool upper = attr_int(n, "upper", 1);
  if (x.shape.rank < 2 || !x.data || (op_in(n, 1) && !op_scalar(n, 1, &far))) return false;
  int64_t count = shape_count(&x.shape), at[ONNX_RANK_LIMIT];
  double *data = NEW_ARRAY(n->m->arena, double, count + 1);
  for (int64_t i = 0; i < count; i++) {
    unravel(&x.shape, i, at);
    double right = (double)(at[x.shape.rank - 1] - at[x.shape.rank - 2]);
    data[i] = (upper ? right >= far : right <= far) ? x.data[i] : 0;
  }
  op_set_result(n, 0, value_const(n->m, x.type, &x.shape, data));
  return true;
}

// To a shape given by the second input: Expand.
static bool fold_expand(ImpNode *n) {
  ImpShape want, out;
  if (n->nin != 2 || !op_value(n, 1)->data || !op_sizes(n, 1, &want)) return false;
  Id in[] = {n->in[0], value_new(n->m, ONNX_FLOAT, &want, IMP_MADE, "")};
  if (!broadcast_shape(n, in, 2, &out)) return false;
  int64_t *from = new_places(n, &out), at[ONNX_RANK_LIMIT];
  for (int64_t k = 0; from && k < shape_count(&out); k++) {
    unravel(&out, k, at);
    from[k] = broadcast_offset(shape_in(n, 0), &out, at);
  }
  if (from) set_moved_result(n, &out, from);
  return from;
}

// The same elements in another shape.
static bool fold_shaped(ImpNode *n, const ImpShape *out) {
  Importer *m = n->m;
  ImpValue x = *op_value(n, 0);
  if (shape_count(out) != shape_count(&x.shape)) return false;
  Id v = value_const(m, x.type, out, x.data);
  value_at(m, v)->known = x.known;
  op_set_result(n, 0, v);
  return true;
}

static bool fold_reshape(ImpNode *n) {
  ImpShape out;
  if (!reshape_shape(n, &out)) return false;
  for (uint32_t i = 0; i < out.rank; i++)
    if (out.dim[i].text) return false;
  return fold_shaped(n, &out);
}

static bool fold_squeeze(ImpNode *n) {
  ImpShape out;
  return squeeze_shape(n, &out) && fold_shaped(n, &out);
}

static bool fold_unsqueeze(ImpNode *n) {
  ImpShape out;
  return unsqueeze_shape(n, &out) && fold_shaped(n, &out);
}

// -- casts, sums ----------------------------------------------------------------------------------
// Only if values are preserved, or truncated as a double would be.
static bool fold_cast(ImpNode *n) {
  const ImpValue *x = op_value(n, 0);
  bool like = !strcmp(n->node->op, "CastLike");
  OnnxType to = like ? op_value(n, 1)->type : (OnnxType)attr_int(n, "to", ONNX_FLOAT);
  int64_t count = shape_count(&x->shape);
  if (to >= ONNX_TYPES) return false;
  const OnnxTypeInfo *t = &onnx_type_info[to];
  if (!x->data) {
    if (!is_whole(to)) return false;
    Id v = value_new(n->m, to, &x->shape, IMP_CONST, "");
    value_at(n->m, v)->known = op_value(n, 0)->known;
    op_set_result(n, 0, v);
    return true;
  }
  double *data = NEW_ARRAY(n->m->arena, double, count + 1);
  for (int64_t i = 0; i < count; i++) {
    double y = x->data[i];
    if (t->kind == 'b') y = y != 0;
    if (is_whole(to)) {
      double most = ldexp(1, (int)t->bits - (t->kind == 'i')), least = t->kind == 'i' ? -most : 0;
      y = trunc(y);
      if (!(y >= least && y < most)) return false;
    }
    if (t->kind == 'f' && t->bits < 32 && y != floor(y)) return false;
    if (t->kind == 'f' && t->bits < 32 && fabs(y) > 1 << t->fraction) return false;
    data[i] = held(to, y);
  }
  ImpShape shape = x->shape;
  op_set_result(n, 0, value_const(n->m, to, &shape, data));
  return true;
}

// Reduces a vector of numbers to one, as ReduceProd does.
static bool fold_reduce(ImpNode *n) {
  const ImpValue *x = op_value(n, 0);
  ImpInts axes;
  bool keep = attr_int(n, "keepdims", 1), product = !strcmp(n->node->op, "ReduceProd");
  if (!op_list(n, "axes", 1, &axes) || x->shape.rank != 1) return false;
  if (axes.there && !axes.n) return false;
  int64_t count = x->shape.dim[0].n;
  ImpSize total = dim_of(product);
  ImpShape one = {keep, {{1, NULL}}};
  if (!is_whole(x->type)) return false;
  for (int64_t i = 0; i < count; i++)
    total = dim_op(n->m, product ? '*' : '+', total, size_in(x, i));
  double *number = NEW(n->m->arena, double);
  ImpSize *known = NEW(n->m->arena, ImpSize);
  *number = (double)total.n, *known = total;
  Id v = value_const(n->m, x->type, &one, total.text ? NULL : number);
  value_at(n->m, v)->known = total.text ? known : NULL;
  op_set_result(n, 0, v);
  return true;
}

// -- without numbers as input ---------------------------------------------------------------------
static bool fold_range(ImpNode *n) {
  double start, end, step;
  if (n->nin != 3 || !all_numbers(n)) return false;
  if (!op_scalar(n, 0, &start) || !op_scalar(n, 1, &end) || !op_scalar(n, 2, &step)) return false;
  double count = step != 0 ? ceil((end - start) / step) : 0;
  if (!(count <= FOLD_LIMIT)) return false;
  ImpShape shape = {1, {dim_of(count > 0 ? (int64_t)count : 0)}};
  double *data = NEW_ARRAY(n->m->arena, double, shape.dim[0].n + 1);
  OnnxType type = op_value(n, 0)->type;
  for (int64_t i = 0; i < shape.dim[0].n; i++) data[i] = held(type, start + (double)i * step);
  op_set_result(n, 0, value_const(n->m, type, &shape, data));
  return true;
}

static const struct {
  const char *op;
  bool (*fold)(ImpNode *);
} folds[] = {
    {"Gather", fold_gather},       {"Concat", fold_concat},
    {"Slice", fold_slice},         {"Split", fold_split},
    {"Transpose", fold_transpose}, {"Expand", fold_expand},
    {"Reshape", fold_reshape},     {"Flatten", NULL},
    {"Squeeze", fold_squeeze},     {"Unsqueeze", fold_unsqueeze},
    {"Cast", fold_cast},           {"CastLike", fold_cast},
    {"ReduceProd", fold_reduce},   {"ReduceSum", fold_reduce},
    {"Range", fold_range},         {"Trilu", fold_trilu},
};

bool fold_node(ImpNode *n) {
  if (*n->node->domain) return false;
  if (!can_fold(n)) return false;
  for (uint32_t i = 0; i < COUNT(fold_rows); i++)
    if (!strcmp(fold_rows[i].op, n->node->op)) return fold_map(n, &fold_rows[i]);
  for (uint32_t i = 0; i < COUNT(folds); i++)
    if (!strcmp(folds[i].op, n->node->op)) return folds[i].fold && folds[i].fold(n);
  return false;
}
