// Reshapes as index equations, which copy nothing. A reshape that splits or merges axes is a group,
// `y[(i j) k] = x[i j k]`; any other goes through a flat axis.
#include "port/import/own.h"

bool op_constant(ImpNode *n) {
  Importer *m = n->m;
  const OnnxAttribute *a = NULL;
  const char *why;
  double *data;
  if (n->node->attribute.n == 1) a = &n->node->attribute.at[0];
  if (!a) return op_refuse(n, "it has not one value");
  if (!strcmp(a->name, "value") && a->t) {
    ImpShape shape = shape_of(a->t->rank, a->t->dim);
    if (!onnx_numbers(m->arena, a->t, m->model->folder, &data, &why))
      return op_refuse(n, "%s", why);
    op_set_result(n, 0, value_const(m, a->t->type, &shape, data));
    return true;
  }
  bool ints = !strcmp(a->name, "value_ints"), floats = !strcmp(a->name, "value_floats");
  if (!strcmp(a->name, "value_float"))
    return op_set_result(n, 0, value_number(m, ONNX_FLOAT, (double)a->f)), true;
  if (!strcmp(a->name, "value_int"))
    return op_set_result(n, 0, value_number(m, ONNX_INT64, (double)a->i)), true;
  if (!ints && !floats)
    return op_refuse(n, "a constant of strings, or a sparse one, has no numbers");
  ImpShape shape = {1, {dim_of(ints ? a->ints.n : a->floats.n)}};
  data = NEW_ARRAY(m->arena, double, shape.dim[0].n + 1);
  for (int64_t i = 0; i < shape.dim[0].n; i++)
    data[i] = ints ? (double)a->ints.at[i] : (double)a->floats.at[i];
  op_set_result(n, 0, value_const(m, ints ? ONNX_INT64 : ONNX_FLOAT, &shape, data));
  return true;
}

// -- sizes as values ------------------------------------------------------------------------------
static int64_t clamp_axis(int64_t axis, int64_t rank) {
  if (axis < 0) axis += rank;
  return axis < 0 ? 0 : axis > rank ? rank : axis;
}

bool op_shape(ImpNode *n) {
  Importer *m = n->m;
  ImpShape x = op_value(n, 0)->shape;
  int64_t start = clamp_axis(attr_int(n, "start", 0), x.rank);
  int64_t end = clamp_axis(attr_int(n, "end", x.rank), x.rank),
          count = end > start ? end - start : 0;
  double *data = NEW_ARRAY(m->arena, double, count + 1);
  ImpSize *known = NEW_ARRAY(m->arena, ImpSize, count + 1);
  bool numbers = true;
  for (int64_t i = 0; i < count; i++) {
    known[i] = x.dim[start + i];
    data[i] = (double)known[i].n;
    numbers = numbers && !known[i].text;
  }
  Id v = value_const(m, ONNX_INT64, &(ImpShape){1, {dim_of(count)}}, numbers ? data : NULL);
  if (!numbers) value_at(m, v)->known = known;
  op_set_result(n, 0, v);
  return true;
}

// -- reshape --------------------------------------------------------------------------------------
static ImpSize product(Importer *m, const ImpShape *s, uint32_t from, uint32_t to) {
  ImpSize p = dim_of(1);
  for (uint32_t i = from; i < to; i++) p = dim_op(m, '*', p, s->dim[i]);
  return p;
}

// In a target shape, 0 keeps the axis, -1 is inferred.
bool reshape_shape(ImpNode *n, ImpShape *out) {
  Importer *m = n->m;
  const ImpShape *x = &op_value(n, 0)->shape;
  bool zero = attr_int(n, "allowzero", 0);
  uint32_t open = ONNX_RANK_LIMIT;
  ImpShape rest = *x;
  if (!op_sizes(n, 1, out)) return false;
  for (uint32_t i = 0; i < out->rank; i++) {
    if (dim_is(out->dim[i], 0) && !zero) {
      if (i >= x->rank) return op_refuse(n, "there is no axis %u to keep", i);
      out->dim[i] = x->dim[i];
    }
    if (!out->dim[i].text && out->dim[i].n < -1)
      return op_refuse(n, "%lld is no size of axis %u", (long long)out->dim[i].n, i);
    if (!dim_is(out->dim[i], -1)) continue;
    if (open != ONNX_RANK_LIMIT) return op_refuse(n, "axes %u and %u are both -1", open, i);
    open = i;
  }
  if (open == ONNX_RANK_LIMIT) return true;
  // cancels equal sizes, so that symbolic sizes need no division
  ImpSize others = dim_of(1);
  for (uint32_t i = 0; i < out->rank; i++) {
    bool found = i == open;
    for (uint32_t k = 0; k < rest.rank && !found; k++)
      if (dim_same(rest.dim[k], out->dim[i])) found = true, rest.dim[k] = dim_of(1);
    if (!found) others = dim_op(m, '*', others, out->dim[i]);
  }
  ImpSize total = product(m, &rest, 0, rest.rank);
  out->dim[open] = dim_op(m, '/', total, others);
  return true;
}

// Splits the axes of both shapes into common factors, from the front. Each factor is an index; an
// axis of several is a group.
typedef struct {
  uint32_t n;
  ImpSize size[IMP_LETTERS];
  uint32_t of[2][IMP_LETTERS]; // the axis of each side that it belongs to
} Parts;

static bool part_axes(Importer *m, const ImpShape *x, const ImpShape *y, Parts *p) {
  uint32_t i = 0, j = 0;
  ImpSize a = dim_of(1), b = dim_of(1), q;
  p->n = 0;
  for (;;) {
    while (i < x->rank && dim_is(a, 1)) a = x->dim[i++];
    while (j < y->rank && dim_is(b, 1)) b = y->dim[j++];
    if (dim_is(a, 1) && dim_is(b, 1)) return true;
    if (p->n == IMP_LETTERS) return false;
    bool less = dim_divide(m, b, a, &q);
    if (dim_is(a, 1) || dim_is(b, 1) || (!less && !dim_divide(m, a, b, &q))) return false;
    p->of[0][p->n] = i - 1, p->of[1][p->n] = j - 1;
    p->size[p->n++] = less ? a : b;
    a = less ? dim_of(1) : q;
    b = less ? q : dim_of(1);
  }
}

// One side as text. `sizes`: factors in groups have sizes, unless the other side has the factor as
// an axis.
static const char *parts_text(Importer *m, const Parts *p, uint32_t side, uint32_t rank,
                              const char *none) {
  Buf b = buf_new(m->arena);
  uint32_t spare = p->n;
  for (uint32_t axis = 0, k = 0; axis < rank; axis++) {
    uint32_t first = k;
    while (k < p->n && p->of[side][k] == axis) k++;
    if (axis) buf_char(&b, ' ');
    if (first == k) buf_text(&b, none ? none : imp_letter[spare++ % IMP_LETTERS]);
    if (k - first > 1) buf_char(&b, '(');
    for (uint32_t i = first; i < k; i++) {
      bool alone = (!i || p->of[!side][i - 1] != p->of[!side][i]) &&
                   (i + 1 == p->n || p->of[!side][i + 1] != p->of[!side][i]);
      buf_printf(&b, "%s%s", i > first ? " " : "", imp_letter[i]);
      if (!side && k - first > 1 && !alone) buf_printf(&b, ":%s", dim_text(m, p->size[i]));
    }
    if (k - first > 1) buf_char(&b, ')');
  }
  return b.at;
}

static bool grouped(Importer *m, const ImpShape *x, const ImpShape *y, const char **in,
                    const char **out) {
  Parts p;
  if (!part_axes(m, x, y, &p)) return false;
  *in = parts_text(m, &p, 0, x->rank, "0");
  *out = parts_text(m, &p, 1, y->rank, NULL);
  return true;
}

// Reshapes a value. 0 with a message.
Id add_reshape(ImpNode *n, Id v, const ImpShape *out) {
  Importer *m = n->m;
  const char *in, *left;
  ImpShape x = value_at(m, v)->shape;
  OnnxType type = value_at(m, v)->type;
  if (x.rank == out->rank) {
    bool same = true;
    for (uint32_t i = 0; i < x.rank; i++) same = same && dim_same(x.dim[i], out->dim[i]);
    if (same) return v;
  }
  if (grouped(m, &x, out, &in, &left))
    return add_line(n, type, out, (ImpForm){.left = left, .right = "$0"}, READS({v, in}));
  ImpShape row = {1, {product(m, &x, 0, x.rank)}};
  if (x.rank == 1 || !grouped(m, &row, out, &in, &left)) {
    op_refuse(n, "whether the sizes of its result fit cannot be told");
    return 0;
  }
  return add_reshape(n, add_reshape(n, v, &row), out);
}

static bool set_reshaped_result(ImpNode *n, const ImpShape *out) {
  Importer *m = n->m;
  ImpShape x = op_value(n, 0)->shape;
  ImpSize have = product(m, &x, 0, x.rank), want = product(m, out, 0, out->rank);
  if (!have.text && !want.text && have.n != want.n)
    return op_refuse(n, "%s numbers cannot have a shape of %s", dim_text(m, have),
                     dim_text(m, want));
  return op_set_result(n, 0, add_reshape(n, n->in[0], out));
}

bool op_reshape(ImpNode *n) {
  ImpShape out;
  return reshape_shape(n, &out) && set_reshaped_result(n, &out);
}

bool op_flatten(ImpNode *n) {
  uint32_t axis;
  ImpShape x = op_value(n, 0)->shape;
  if (attr_int(n, "axis", 1) == x.rank)
    axis = x.rank;
  else if (!op_axis(n, attr_int(n, "axis", 1), x.rank, &axis))
    return false;
  ImpShape out = {2, {product(n->m, &x, 0, axis), product(n->m, &x, axis, x.rank)}};
  return set_reshaped_result(n, &out);
}

bool squeeze_shape(ImpNode *n, ImpShape *out) {
  ImpShape x = op_value(n, 0)->shape;
  ImpInts axes;
  bool gone[ONNX_RANK_LIMIT] = {false};
  if (!op_list(n, "axes", 1, &axes)) return false;
  for (uint32_t i = 0; i < x.rank && !axes.there; i++) gone[i] = dim_is(x.dim[i], 1);
  for (uint32_t i = 0; i < axes.n; i++) {
    uint32_t axis;
    if (!op_axis(n, axes.at[i], x.rank, &axis)) return false;
    if (!dim_is(x.dim[axis], 1))
      return op_refuse(n, "axis %u has size %s, not 1", axis, dim_text(n->m, x.dim[axis]));
    gone[axis] = true;
  }
  *out = (ImpShape){0};
  for (uint32_t i = 0; i < x.rank; i++)
    if (!gone[i]) out->dim[out->rank++] = x.dim[i];
  return true;
}

bool op_squeeze(ImpNode *n) {
  ImpShape out;
  return squeeze_shape(n, &out) && set_reshaped_result(n, &out);
}

bool unsqueeze_shape(ImpNode *n, ImpShape *out) {
  ImpShape x = op_value(n, 0)->shape;
  ImpInts axes;
  bool added[ONNX_RANK_LIMIT] = {false};
  if (!op_list(n, "axes", 1, &axes)) return false;
  uint32_t rank = x.rank + axes.n, from = 0;
  if (rank > ONNX_RANK_LIMIT) return op_refuse(n, "%u axes are too many", rank);
  for (uint32_t i = 0; i < axes.n; i++) {
    uint32_t axis;
    if (!op_axis(n, axes.at[i], rank, &axis)) return false;
    if (added[axis]) return op_refuse(n, "axis %u is added twice", axis);
    added[axis] = true;
  }
  *out = (ImpShape){.rank = rank};
  for (uint32_t i = 0; i < rank; i++) out->dim[i] = added[i] ? dim_of(1) : x.dim[from++];
  return true;
}

bool op_unsqueeze(ImpNode *n) {
  ImpShape out;
  return unsqueeze_shape(n, &out) && set_reshaped_result(n, &out);
}

// -- transpose ------------------------------------------------------------------------------------
bool op_transpose(ImpNode *n) {
  Importer *m = n->m;
  ImpShape x = op_value(n, 0)->shape;
  ImpInts perm = attr_ints(n, "perm");
  const char *in[ONNX_RANK_LIMIT];
  bool seen[ONNX_RANK_LIMIT] = {false};
  if (perm.there && perm.n != x.rank)
    return op_refuse(n, "perm has %u axes, not %u", perm.n, x.rank);
  for (uint32_t i = 0; i < x.rank; i++) {
    uint32_t axis;
    if (!op_axis(n, perm.there ? perm.at[i] : (int64_t)(x.rank - 1 - i), x.rank, &axis))
      return false;
    if (seen[axis]) return op_refuse(n, "perm has axis %u twice", axis);
    seen[axis] = true;
    in[axis] = imp_letter[i]; // an axis has the letter of its position in the result
  }
  return op_gives(n, "[%s] = $0[%s]", index_letters(m, x.rank), join_words(m, x.rank, in));
}

// -- concat ---------------------------------------------------------------------------------------
bool op_concat(ImpNode *n) {
  Importer *m = n->m;
  uint32_t axis, rank = op_value(n, 0)->shape.rank, reads = 0;
  if (!op_axis(n, attr_int(n, "axis", 0), rank, &axis)) return false;
  Id *in = NEW_ARRAY(m->arena, Id, n->nin);
  Buf list = buf_new(m->arena);
  for (uint32_t i = 0; i < n->nin; i++) {
    const ImpShape *s = &op_value(n, i)->shape;
    if (s->rank != rank) return op_refuse(n, "its inputs have %u and %u axes", rank, s->rank);
    if (dim_is(s->dim[axis], 0)) continue; // an empty part of a Split
    value_at(m, n->in[i])->spelt = true;   // a scalar literal has no axis to join along
    buf_printf(&list, "%s$%u[%s]", reads ? ", " : "", reads, index_letters(m, rank));
    in[reads++] = n->in[i];
  }
  if (reads < 2) return op_set_result(n, 0, reads ? in[0] : n->in[0]);
  return op_set_result(
      n, 0, add_equation(n, op_value(n, 0)->type, in, "concat[%s](%s)", imp_letter[axis], list.at));
}

// -- slices: where they begin and end -------------------------------------------------------------
int64_t slice_from(int64_t start, int64_t size, int64_t step) {
  if (start < 0) start += size;
  int64_t most = step > 0 ? size : size - 1;
  return start < 0 ? 0 : start > most ? most : start;
}

int64_t slice_to(int64_t end, int64_t size, int64_t step) {
  if (end < 0) end += size;
  int64_t least = step > 0 ? 0 : -1;
  return end < least ? least : end > size ? size : end;
}

int64_t slice_count(int64_t from, int64_t to, int64_t step) {
  int64_t count = step > 0   ? (to - from + step - 1) / step
                  : step < 0 ? (from - to - step - 1) / -step
                             : 0;
  return count > 0 ? count : 0;
}
