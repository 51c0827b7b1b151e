// Slices, splits, pads, tiles; and operators whose results depend on sizes only.
#include "base/diag.h"
#include "port/import/own.h"

#include <math.h>
#include <stdlib.h>

// -- places along one axis ------------------------------------------------------------------------
// Gathers positions of an axis in the shortest form: a range, a stride, or a list of labels.
Id add_gather(ImpNode *n, Id v, uint32_t axis, const int64_t *place, int64_t count) {
  Importer *m = n->m;
  ImpShape x = value_at(m, v)->shape, out = x;
  OnnxType type = value_at(m, v)->type;
  int64_t size = x.dim[axis].n, step = count > 1 ? place[1] - place[0] : 1;
  bool even = step != 0;
  const char *at[ONNX_RANK_LIMIT];
  for (int64_t i = 0; i < count; i++) even = even && place[i] == place[0] + i * step;
  for (uint32_t i = 0; i < x.rank; i++) at[i] = imp_letter[i];
  if (even && step == 1 && count == size) return v;
  out.dim[axis] = dim_of(count);
  if (even && step == 1) {
    at[axis] = arena_format(m->arena, "%lld..%lld", (long long)place[0],
                            (long long)(place[0] + count - 1));
    return add_line(n, type, &out, (ImpForm){.right = "$0"}, READS({v, join_words(m, x.rank, at)}));
  }
  if (even) {
    long long by = step < 0 ? -step : step;
    const char *letter = imp_letter[axis];
    const char *steps = by == 1 ? letter : arena_format(m->arena, "%lld*%s", by, letter);
    at[axis] = step < 0 ? arena_format(m->arena, "%lld-%s", (long long)place[0], steps)
                        : arena_format(m->arena, "%s+%lld", steps, (long long)place[0]);
    return equation(n, IN(v), "[%s] = $0[%s]", letters_sized(m, &out, axis, axis + 1),
                    join_words(m, x.rank, at));
  }
  double *data = NEW_ARRAY(m->arena, double, count + 1);
  for (int64_t i = 0; i < count; i++) data[i] = (double)place[i];
  Id list = value_const(m, ONNX_INT64, &(ImpShape){1, {dim_of(count)}}, data);
  value_at(m, list)->labels = size;
  at[axis] = arena_format(m->arena, "$1[%s]", imp_letter[axis]);
  return equation(n, IN(v, list), "[%s] = $0[%s]", index_letters(m, x.rank),
                  join_words(m, x.rank, at));
}

// A range of an axis whose size may be symbolic.
static Id add_range(ImpNode *n, Id v, uint32_t axis, ImpSize from, ImpSize count) {
  Importer *m = n->m;
  ImpShape x = value_at(m, v)->shape, out = x;
  const char *at[ONNX_RANK_LIMIT];
  if (dim_is(from, 0) && dim_same(count, x.dim[axis])) return v;
  for (uint32_t i = 0; i < x.rank; i++) at[i] = imp_letter[i];
  ImpSize last = dim_op(m, '-', dim_op(m, '+', from, count), dim_of(1));
  at[axis] = arena_format(m->arena, "%s..%s", dim_text(m, from), dim_text(m, last));
  out.dim[axis] = count;
  return add_line(n, value_at(m, v)->type, &out, (ImpForm){.right = "$0"},
                  READS({v, join_words(m, x.rank, at)}));
}

// -- slice ----------------------------------------------------------------------------------------
static bool slice_axis(ImpNode *n, Id *v, uint32_t axis, int64_t start, int64_t end, int64_t step) {
  Importer *m = n->m;
  ImpSize size = value_at(m, *v)->shape.dim[axis];
  if (!step) return op_refuse(n, "a step of 0 goes nowhere");
  if (size.text) { // symbolic: stride 1, both ends relative to the same side
    ImpSize from = start < 0 ? dim_op(m, '+', size, dim_of(start)) : dim_of(start);
    ImpSize to = end < 0            ? dim_op(m, '-', size, dim_of(-end))
                 : end >= INT32_MAX ? size
                                    : dim_of(end);
    if (step != 1)
      return op_refuse(n, "axis %u has size %s, and a number is wanted there", axis, size.text);
    ImpSize count = start < 0 && end >= INT32_MAX ? dim_of(-start) : dim_op(m, '-', to, from);
    if (start < 0 && end >= INT32_MAX)
      from = (ImpSize){-1, arena_format(m->arena, "%s-%lld", size.text, (long long)-start)};
    *v = add_range(n, *v, axis, from, count);
    return true;
  }
  int64_t from = slice_from(start, size.n, step),
          count = slice_count(from, slice_to(end, size.n, step), step);
  int64_t *place = NEW_ARRAY(m->arena, int64_t, count + 1);
  if (!count)
    return op_refuse(n, "nothing is left of axis %u: an axis has at least one place", axis);
  for (int64_t i = 0; i < count; i++) place[i] = from + i * step;
  *v = add_gather(n, *v, axis, place, count);
  return true;
}

bool slice_cuts(ImpNode *n, SliceCut *cut, uint32_t *count) {
  ImpInts start, end, axes, step;
  bool seen[ONNX_RANK_LIMIT] = {false};
  uint32_t rank = op_value(n, 0)->shape.rank;
  if (!op_list(n, "starts", 1, &start) || !op_list(n, "ends", 2, &end) ||
      !op_list(n, "axes", 3, &axes) || !op_list(n, NULL, 4, &step))
    return false;
  if (end.n != start.n || (axes.there && axes.n != start.n) || (step.there && step.n != start.n))
    return op_refuse(n, "it has not as many ends, axes or steps as starts");
  for (uint32_t i = 0; i < start.n; i++) {
    uint32_t axis;
    if (!op_axis(n, axes.there ? axes.at[i] : i, rank, &axis)) return false;
    if (seen[axis]) return op_refuse(n, "axis %u is cut twice", axis);
    seen[axis] = true;
    cut[i] = (SliceCut){axis, start.at[i], end.at[i], step.there ? step.at[i] : 1};
    if (!cut[i].step) return op_refuse(n, "a step of 0 goes nowhere");
  }
  *count = start.n;
  return true;
}

bool op_slice(ImpNode *n) {
  SliceCut cut[ONNX_RANK_LIMIT];
  uint32_t count;
  Id v = n->in[0];
  if (!slice_cuts(n, cut, &count)) return false;
  for (uint32_t i = 0; i < count; i++)
    if (!slice_axis(n, &v, cut[i].axis, cut[i].start, cut[i].end, cut[i].step)) return false;
  op_set_result(n, 0, v);
  return true;
}

// -- split ----------------------------------------------------------------------------------------
// An empty slice, which Concat can use. 0 with a message.
static Id add_empty_slice(ImpNode *n, Id v, uint32_t axis) {
  ImpShape none = value_at(n->m, v)->shape;
  none.dim[axis] = dim_of(0);
  if (shape_count(&none) != 0)
    return op_refuse(n, "a part has no places: an axis has at least one"), 0;
  return value_const(n->m, value_at(n->m, v)->type, &none, NEW(n->m->arena, double));
}

// The sizes of the parts: as listed, or equal with a smaller last one.
bool split_sizes(ImpNode *n, uint32_t *axis, int64_t **sizes) {
  ImpInts parts;
  uint32_t count = n->node->out.n;
  ImpShape x = op_value(n, 0)->shape;
  int64_t asked = attr_int(n, "num_outputs", count);
  if (!op_list(n, "split", 1, &parts) || !op_axis(n, attr_int(n, "axis", 0), x.rank, axis))
    return false;
  if (!parts.there && x.dim[*axis].text) return op_fixed(n, 0);
  if (parts.there && onnx_attribute(n->node, "num_outputs"))
    return op_refuse(n, "it has both sizes of its parts and num_outputs");
  if (asked != count || (parts.there && parts.n != count))
    return op_refuse(n, "it has %u outputs, but %lld parts are wanted", count,
                     parts.there ? (long long)parts.n : (long long)asked);
  int64_t size = x.dim[*axis].n, each = (size + count - 1) / count, from = 0;
  *sizes = NEW_ARRAY(n->m->arena, int64_t, count);
  for (uint32_t i = 0; i < count; i++) {
    int64_t left = size - from, here = parts.there ? parts.at[i] : each < left ? each : left;
    if (here < 0) return op_refuse(n, "part %u has a negative size", i + 1);
    (*sizes)[i] = here;
    from += here;
    if (from > INT32_MAX) break;
  }
  if (!x.dim[*axis].text && from != size)
    return op_refuse(n, "its parts have %lld places together, but the axis has %lld",
                     (long long)from, (long long)size);
  return true;
}

bool op_split(ImpNode *n) {
  int64_t *sizes, from = 0;
  uint32_t axis;
  if (!split_sizes(n, &axis, &sizes)) return false;
  for (uint32_t i = 0; i < n->node->out.n; i++) {
    Id part = 0;
    if (*n->node->out.at[i])
      part = sizes[i] ? add_range(n, n->in[0], axis, dim_of(from), dim_of(sizes[i]))
                      : add_empty_slice(n, n->in[0], axis);
    if (part) op_set_result(n, i, part);
    if (n->m->diags->errors) return false;
    from += sizes[i];
  }
  return true;
}

// -- pad ------------------------------------------------------------------------------------------
// The source position of position i for modes without a constant.
static int64_t pad_place(const char *mode, int64_t i, int64_t size) {
  if (!strcmp(mode, "edge")) return i < 0 ? 0 : i >= size ? size - 1 : i;
  if (!strcmp(mode, "wrap")) return (i % size + size) % size;
  int64_t round = size > 1 ? 2 * (size - 1) : 1, at = (i % round + round) % round;
  return at < size ? at : round - at;
}

static Id pad_moved(ImpNode *n, Id v, const char *mode, const int64_t *before,
                    const int64_t *after) {
  ImpShape x = value_at(n->m, v)->shape;
  for (uint32_t i = 0; i < x.rank; i++) {
    int64_t size = x.dim[i].n, count = before[i] + size + after[i];
    if (!before[i] && !after[i]) continue;
    if (count < 1)
      return op_refuse(n, "nothing is left of axis %u: an axis has at least one place", i), 0;
    int64_t *place = NEW_ARRAY(n->m->arena, int64_t, count);
    for (int64_t k = 0; k < count; k++) place[k] = pad_place(mode, k - before[i], size);
    v = add_gather(n, v, i, place, count);
  }
  return v;
}

// Negative pads remove elements; they are set to 0.
static Id pad_cut(ImpNode *n, Id v, int64_t *before, int64_t *after) {
  ImpShape x = value_at(n->m, v)->shape;
  for (uint32_t i = 0; i < x.rank; i++) {
    int64_t cut = before[i] < 0 ? -before[i] : 0, end = after[i] < 0 ? -after[i] : 0;
    if (before[i] < 0) before[i] = 0;
    if (after[i] < 0) after[i] = 0;
    if (!cut && !end) continue;
    if (!x.dim[i].text && x.dim[i].n - cut - end < 1)
      return op_refuse(n, "it cuts off more than axis %u has", i), 0;
    v = add_range(n, v, i, dim_of(cut), dim_op(n->m, '-', x.dim[i], dim_of(cut + end)));
  }
  return v;
}

// Pads with a constant (0: zeros). An index that starts at 0 and exceeds its axis is written i+z
// with z of size 1.
Id add_pad(ImpNode *n, Id v, int64_t *before, int64_t *after, Id with) {
  Importer *m = n->m;
  if (!(v = pad_cut(n, v, before, after))) return 0;
  ImpShape x = value_at(m, v)->shape, out = x;
  const char *at[ONNX_RANK_LIMIT], *one = imp_letter[IMP_LETTERS - 1], *sum = "";
  Buf inside = buf_new(m->arena);
  for (uint32_t i = 0; i < x.rank; i++) {
    const char *letter = at[i] = imp_letter[i];
    if (!before[i] && !after[i]) continue;
    if (!before[i]) sum = arena_format(m->arena, "sum[%s:1](", one);
    at[i] = before[i] ? arena_format(m->arena, "%s-%lld", letter, (long long)before[i])
                      : arena_format(m->arena, "%s+%s", letter, one);
    out.dim[i] = dim_op(m, '+', x.dim[i], dim_of(before[i] + after[i]));
    ImpSize end = dim_op(m, '+', dim_of(before[i]), x.dim[i]);
    buf_printf(&inside, "%s%s >= %lld and %s < %s", inside.n ? " and " : "", letter,
               (long long)before[i], letter, dim_inside(m, end));
  }
  if (!inside.n) return v;
  const ImpValue *c = with ? value_at(m, with) : NULL;
  const char *left = letters_sized(m, &out, 0, x.rank), *read = join_words(m, x.rank, at);
  const char *close = *sum ? ")" : "";
  if (!c || c->data)
    return equation(n, IN(v), "[%s] = %s$0[%s]%s pad %s", left, sum, read, close,
                    c ? number_term(m, c->data[0]) : "0");
  return equation(n, IN(v, with), "[%s] = %s$0[%s]%s when %s else $1[%s] pad 0", left, sum, read,
                  close, inside.at, c->shape.rank ? "0" : "");
}

bool op_pad(ImpNode *n) {
  Importer *m = n->m;
  ImpInts pads, axes;
  int64_t before[ONNX_RANK_LIMIT] = {0}, after[ONNX_RANK_LIMIT] = {0};
  const char *mode = attr_text(n, "mode", "constant");
  uint32_t rank = op_value(n, 0)->shape.rank;
  if (!op_list(n, "pads", 1, &pads) || !op_list(n, NULL, 3, &axes)) return false;
  uint32_t count = axes.there ? axes.n : rank;
  if (pads.n != 2 * count)
    return op_refuse(n, "%u pads for %u axes are not two each", pads.n, count);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t axis;
    if (!op_axis(n, axes.there ? axes.at[i] : i, rank, &axis)) return false;
    if (llabs(pads.at[i]) > INT32_MAX || llabs(pads.at[count + i]) > INT32_MAX)
      return op_refuse(n, "a pad is too large");
    before[axis] = pads.at[i], after[axis] = pads.at[count + i];
  }
  OnnxType type = op_value(n, 0)->type;
  const OnnxAttribute *value = onnx_attribute(n->node, "value");
  Id with = value ? value_number(m, type, (double)value->f) : op_in(n, 2), v = n->in[0];
  bool constant = !strcmp(mode, "constant"), bits = type == ONNX_BOOL && constant;
  for (uint32_t i = 0; i < rank && !constant; i++)
    if ((before[i] || after[i]) && !op_fixed_axis(n, 0, i)) return false;
  if (bits) v = bits_to_number(n, v);
  v = constant ? add_pad(n, v, before, after, with) : pad_moved(n, v, mode, before, after);
  return op_set_result(n, 0, v && bits ? number_to_bits(n, v) : v);
}

// Crops or pads to a size, centred.
bool op_centercroppad(ImpNode *n) {
  ImpInts size, axes = attr_ints(n, "axes");
  if (!op_list(n, NULL, 1, &size)) return false;
  ImpShape x = op_value(n, 0)->shape;
  int64_t before[ONNX_RANK_LIMIT] = {0}, after[ONNX_RANK_LIMIT] = {0};
  for (uint32_t i = 0; i < size.n; i++) {
    uint32_t axis;
    if (!op_axis(n, axes.there && i < axes.n ? axes.at[i] : i, x.rank, &axis)) return false;
    if (!op_fixed_axis(n, 0, axis)) return false;
    int64_t more = size.at[i] - x.dim[axis].n;
    before[axis] = more >= 0 ? more / 2 : -(-more / 2);
    after[axis] = more - before[axis];
  }
  return op_set_result(n, 0, add_pad(n, n->in[0], before, after, 0));
}

// -- expand, tile ---------------------------------------------------------------------------------
bool op_expand(ImpNode *n) {
  Importer *m = n->m;
  ImpShape want, out;
  if (!op_sizes(n, 1, &want)) return false;
  Id in[] = {n->in[0], value_new(m, ONNX_FLOAT, &want, IMP_MADE, "")};
  if (!broadcast_shape(n, in, 2, &out)) return false;
  return op_gives(n, "[%s] = $0[%s]", letters_sized(m, &out, 0, out.rank),
                  letters_of(m, n->in[0], &out));
}

bool op_tile(ImpNode *n) {
  Importer *m = n->m;
  ImpInts times;
  if (!op_list(n, NULL, 1, &times)) return false;
  ImpShape x = op_value(n, 0)->shape;
  const char *left[ONNX_RANK_LIMIT];
  if (times.n != x.rank) return op_refuse(n, "%u repeats for %u axes", times.n, x.rank);
  for (uint32_t i = 0; i < x.rank; i++) {
    if (times.at[i] < 1)
      return op_refuse(n, "nothing is left of axis %u: an axis has at least one place", i);
    left[i] = times.at[i] == 1
                  ? imp_letter[i]
                  : arena_format(m->arena, "(%s:%lld %s)", imp_letter[ONNX_RANK_LIMIT + i],
                                 (long long)times.at[i], imp_letter[i]);
  }
  return op_gives(n, "[%s] = $0[%s]", join_words(m, x.rank, left), index_letters(m, x.rank));
}

// -- of sizes alone -------------------------------------------------------------------------------
bool op_constantofshape(ImpNode *n) {
  Importer *m = n->m;
  const OnnxAttribute *a = onnx_attribute(n->node, "value");
  ImpShape shape;
  double x = 0, *data;
  OnnxType type = a && a->t ? a->t->type : ONNX_FLOAT;
  const char *why;
  if (!op_sizes(n, 0, &shape)) return false;
  if (a && a->t) {
    if (!onnx_numbers(m->arena, a->t, m->model->folder, &data, &why))
      return op_refuse(n, "%s", why);
    if (a->t->count != 1) return op_refuse(n, "its value is not one number");
    x = data[0];
  }
  int64_t count = shape_count(&shape);
  if (count >= 0 && count <= 65536) {
    data = NEW_ARRAY(m->arena, double, count + 1);
    for (int64_t i = 0; i < count; i++) data[i] = x;
    return op_set_result(n, 0, value_const(m, type, &shape, data));
  }
  return op_set_result(n, 0,
                       add_equation(n, type, NULL,
                                    type == ONNX_BOOL ? "[%s] = bit(%s)" : "[%s] = %s",
                                    letters_sized(m, &shape, 0, shape.rank), number_term(m, x)));
}

// Range up to a symbolic size: the positions of an axis.
static bool range_to_size(ImpNode *n, double start) {
  Importer *m = n->m;
  ImpSize end = op_value(n, 1)->known[0];
  const char *more = start != 0 ? arena_format(m->arena, " + %s", number_term(m, start)) : "";
  return op_set_result(n, 0,
                       add_equation(n, op_value(n, 1)->type, NULL, "[i:%s] = i%s",
                                    dim_text(m, dim_op(m, '-', end, dim_of(whole_of(start)))),
                                    more));
}

bool op_range(ImpNode *n) {
  double start, step;
  bool named = op_value(n, 1)->known && !op_value(n, 1)->data;
  if (named && op_scalar(n, 0, &start) && op_scalar(n, 2, &step) && step == 1 &&
      is_whole(op_value(n, 1)->type))
    return range_to_size(n, start);
  return !n->m->diags->errors && op_known(n, 0) && op_known(n, 1) && op_known(n, 2) &&
         op_refuse(n, "a range of more than 2^20 numbers is not made");
}

bool op_size(ImpNode *n) {
  Importer *m = n->m;
  ImpShape x = op_value(n, 0)->shape;
  ImpSize *known = NEW(m->arena, ImpSize);
  *known = dim_of(1);
  for (uint32_t i = 0; i < x.rank; i++) *known = dim_op(m, '*', *known, x.dim[i]);
  Id v = value_number(m, ONNX_INT64, (double)known->n);
  if (known->text) value_at(m, v)->known = known, value_at(m, v)->data = NULL;
  op_set_result(n, 0, v);
  return true;
}

bool op_eyelike(ImpNode *n) {
  Importer *m = n->m;
  ImpShape x = op_value(n, 0)->shape;
  OnnxType type = (OnnxType)attr_int(n, "dtype", op_value(n, 0)->type);
  if (x.rank != 2 || type >= ONNX_TYPES) return op_refuse(n, "a diagonal wants two axes");
  return op_set_result(
      n, 0,
      add_equation(n, type, NULL,
                   type == ONNX_BOOL ? "[%s] = (j = i + %s)" : "[%s] = number(j = i + %s)",
                   letters_sized(m, &x, 0, 2), number_term(m, (double)attr_int(n, "k", 0))));
}

// The elements above or below a diagonal.
bool op_trilu(ImpNode *n) {
  uint32_t rank = op_value(n, 0)->shape.rank;
  bool upper = attr_int(n, "upper", 1), bits = op_value(n, 0)->type == ONNX_BOOL;
  if (rank < 2) return op_refuse(n, "a triangle wants two axes");
  Id k = op_in(n, 1) ? n->in[1] : value_number(n->m, ONNX_INT64, 0);
  return op_set_result(n, 0,
                       equation(n, IN(n->in[0], k), "[*] = $0 when (%s %s %s + $1[%s]) else %s",
                                imp_letter[rank - 1], upper ? ">=" : "<=", imp_letter[rank - 2],
                                value_at(n->m, k)->shape.rank ? "0" : "", bits ? "bit(0)" : "0"));
}

// -- blocks of pixels -----------------------------------------------------------------------------
bool op_depthtospace(ImpNode *n) {
  Importer *m = n->m;
  int64_t b = attr_int(n, "blocksize", 0);
  bool crd = !strcmp(attr_text(n, "mode", "DCR"), "CRD"), up = !strcmp(n->node->op, "DepthToSpace");
  if (op_value(n, 0)->shape.rank != 4 || b < 1 || b > 1 << 20)
    return op_refuse(n, "it wants four axes and a block size");
  const char *deep =
      arena_format(m->arena, crd ? "i (j p:%lld q:%lld) k l" : "i (p:%lld q:%lld j) k l",
                   (long long)b, (long long)b);
  const char *wide =
      arena_format(m->arena, "i j (k p:%lld) (l q:%lld)", (long long)b, (long long)b);
  return op_gives(n, "[%s] = $0[%s]", up ? wide : deep, up ? deep : wide);
}

// -- the first so many of each row turned round ---------------------------------------------------
bool op_reversesequence(ImpNode *n) {
  Importer *m = n->m;
  int64_t time = attr_int(n, "time_axis", 0), batch = attr_int(n, "batch_axis", 1);
  ImpShape x = op_value(n, 0)->shape;
  uint32_t t, b;
  if (!op_axis(n, time, x.rank, &t) || !op_axis(n, batch, x.rank, &b)) return false;
  const char *at[ONNX_RANK_LIMIT], *place = imp_letter[ONNX_RANK_LIMIT], *now = imp_letter[t];
  for (uint32_t i = 0; i < x.rank; i++) at[i] = i == t ? place : imp_letter[i];
  const char *list = join_words(m, x.rank, at),
             *many = arena_format(m->arena, "$1[%s]", imp_letter[b]);
  return op_gives(n,
                  "[%s] = sum[%s](($0[%s] when (%s = ((%s - 1 - %s) when (%s < %s) else "
                  "%s)) else 0))",
                  letters_sized(m, &x, t, t + 1), place, list, place, many, now, now, many, now);
}
