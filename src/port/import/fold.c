// Constant folding: arithmetic on constants and sizes, and moving them. Symbolic sizes are kept
// symbolic (`known`), so chains of `Shape`, `Gather`, `Concat`, `Reshape` disappear for any batch
// size.
//
// Weights are not folded: they stay trainable.
#include "core/diagram/ops.h"
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
// The function of an operator that is folded at each place; FN_COUNT: none. swapped: of its inputs
// in the other order.
static Fn folded_function(const ImpNode *n, bool *swapped) {
  const char *op = n->node->op;
  *swapped = !strncmp(op, "Greater", 7);
  if (!strcmp(op, "Mod")) return FN_mod;
  if (!strcmp(op, "Ceil")) return FN_floor;
  if (!strcmp(op, "Reciprocal")) return FN_div;
  return operator_function(*swapped ? arena_format(n->m->arena, "Less%s", op + 7) : op);
}

static double folded_number(const char *op, Fn fn, const double *x, OnnxType t) {
  if (!strcmp(op, "Ceil")) return ceil(x[0]);
  if (!strcmp(op, "Reciprocal")) return 1 / x[0];
  if (fn == FN_div && is_whole(t)) return x[1] != 0 ? trunc(x[0] / x[1]) : 0;
  return fn_rows[fn].value(x[0], x[1], x[2]);
}

static ImpSize size_in(const ImpValue *v, int64_t k) {
  return v->known ? v->known[k] : dim_of(whole_of(v->data[k]));
}

// Folds one element of symbolic sizes, which are integers of at least 1. False: undetermined.
static bool fold_size(ImpNode *n, Fn fn, const ImpSize *x, ImpSize *out) {
  bool named = x[0].text && !x[1].text, other = !x[0].text && x[1].text;
  int64_t number = named ? x[1].n : x[0].n;
  switch (fn) {
  case FN_add: return *out = dim_op(n->m, '+', x[0], x[1]), true;
  case FN_sub: return *out = dim_op(n->m, '-', x[0], x[1]), true;
  case FN_mul: return *out = dim_op(n->m, '*', x[0], x[1]), true;
  case FN_div: return n->nin == 2 && (*out = dim_op(n->m, '/', x[0], x[1]), true);
  case FN_select: return !x[0].text && (*out = x[x[0].n ? 1 : 2], true);
  case FN_eq:
    if (dim_same(x[0], x[1])) return *out = dim_of(1), true;
    return (named || other) && number < 1 && (*out = dim_of(0), true);
  case FN_maximum: return (named || other) && number <= 1 && (*out = named ? x[0] : x[1], true);
  default: return false;
  }
}

static Id fold_sizes(ImpNode *n, Fn fn, OnnxType type, const ImpShape *shape, int64_t count) {
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
      known[k] = dim_of(whole_of(folded_number(n->node->op, fn, y, ONNX_INT64)));
    else if (!fold_size(n, fn, x, &known[k]))
      return 0;
  }
  Id v = value_new(n->m, type, shape, IMP_CONST, "");
  value_at(n->m, v)->known = known;
  return v;
}

static bool fold_map(ImpNode *n, Fn fn, bool swapped) {
  ImpShape shape;
  int64_t at[ONNX_RANK_LIMIT];
  const char *op = n->node->op;
  uint32_t inputs = !strcmp(op, "Reciprocal") ? 1 : fn_rows[fn].arity;
  if (n->nin != inputs || !broadcast_shape(n, n->in, n->nin, &shape)) return false;
  int64_t count = shape_count(&shape);
  if (count < 0 || count > FOLD_LIMIT) return false;
  OnnxType in = op_value(n, inputs == 3)->type,
           out = text_ends(fn_rows[fn].sig, ">B") ? ONNX_BOOL : in;
  if (!all_numbers(n)) {
    Id v = swapped ? 0 : fold_sizes(n, fn, out, &shape, count);
    if (v) op_set_result(n, 0, v);
    return v;
  }
  double *data = NEW_ARRAY(n->m->arena, double, count + 1);
  for (int64_t k = 0; k < count; k++) {
    double x[FOLD_IN_MOST] = {0};
    unravel(&shape, k, at);
    for (uint32_t i = 0; i < n->nin; i++)
      x[swapped ? 1 - i : i] = op_value(n, i)->data[broadcast_offset(shape_in(n, i), &shape, at)];
    data[k] = held(out, folded_number(op, fn, x, in));
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
  bool swapped;
  if (*n->node->domain || !can_fold(n)) return false;
  Fn fn = folded_function(n, &swapped);
  if (fn != FN_COUNT) return fold_map(n, fn, swapped);
  for (uint32_t i = 0; i < COUNT(folds); i++)
    if (!strcmp(folds[i].op, n->node->op)) return folds[i].fold && folds[i].fold(n);
  return false;
}
