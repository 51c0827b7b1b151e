// Gather and scatter with an index per element. Computed indices are compared with every position;
// `mod` handles negative ones.
#include "port/import/own.h"

#include <math.h>

// -- an index for each number ---------------------------------------------------------------------
// GatherElements and ScatterElements: the index selects along one axis, other axes are aligned.
// `in`: the indices of the side that is iterated, `gone`: those that are reduced, `test`: the
// comparison, `order`: the row-major number of an element.
typedef struct {
  const char *in, *gone, *test, *order;
} Elements;

// Appends an index as the fastest one.
static const char *order_behind(Importer *m, const char *order, const char *index, ImpSize size) {
  return order ? arena_format(m->arena, "(%s * %s + %s)", order, dim_inside(m, size), index)
               : index;
}

static bool elements_read(ImpNode *n, bool scatter, Elements *e) {
  Importer *m = n->m;
  uint32_t axis;
  ImpShape x = op_value(n, 0)->shape, at = op_value(n, 1)->shape;
  if (x.rank != at.rank) return op_refuse(n, "its inputs have %u and %u axes", x.rank, at.rank);
  if (!op_axis(n, attr_int(n, "axis", 0), x.rank, &axis)) return false;
  const char *in[ONNX_RANK_LIMIT], *order = NULL;
  Buf test = buf_new(m->arena), gone = buf_new(m->arena);
  for (uint32_t i = 0; i < x.rank; i++)
    in[i] = imp_letter[i != axis && dim_same(x.dim[i], at.dim[i]) ? i : ONNX_RANK_LIMIT + i];
  const char *all = join_words(m, x.rank, in);
  for (uint32_t i = 0; i < x.rank; i++) {
    if (in[i] == imp_letter[i]) continue;
    const char *place = scatter ? imp_letter[i] : in[i];
    buf_printf(&gone, "%s%s:%s", gone.n ? " " : "", in[i], dim_text(m, (scatter ? at : x).dim[i]));
    order = order_behind(m, order, in[i], (scatter ? at : x).dim[i]);
    if (i == axis)
      buf_printf(&test, " and (%s = mod($1[%s], %s))", place, scatter ? all : "*",
                 dim_inside(m, x.dim[i]));
    else
      buf_printf(&test, " and (%s = %s)", in[i], imp_letter[i]);
  }
  *e = (Elements){all, gone.at, test.at + 5, order};
  return true;
}

// -- gather ---------------------------------------------------------------------------------------
bool op_gatherelements(ImpNode *n) {
  Elements e;
  if (!elements_read(n, false, &e)) return false;
  bool bits = op_value(n, 0)->type == ONNX_BOOL;
  Id y = add_equation(n, bits ? ONNX_INT64 : op_value(n, 0)->type,
                      IN(bits_to_number(n, n->in[0]), n->in[1]),
                      "[*] = sum[%s](($0[%s] when %s else 0))", e.gone, e.in, e.test);
  return op_set_result(n, 0, bits ? number_to_bits(n, y) : y);
}

bool op_gathernd(ImpNode *n) {
  Importer *m = n->m;
  uint32_t batch = (uint32_t)attr_int(n, "batch_dims", 0);
  ImpShape x = op_value(n, 0)->shape, at = op_value(n, 1)->shape;
  ImpSize deep = at.rank ? at.dim[at.rank - 1] : dim_of(0);
  if (!at.rank || deep.text || deep.n < 1 || batch + deep.n > x.rank || batch >= at.rank)
    return op_refuse(n, "its indices do not fit the axes of its first input");
  uint32_t depth = (uint32_t)deep.n, rest = x.rank - batch - depth;
  if (at.rank - 1 + rest > ONNX_RANK_LIMIT) return op_refuse(n, "it would have too many axes");
  const char *in[ONNX_RANK_LIMIT], *places = index_letters(m, at.rank - 1);
  Buf test = buf_new(m->arena), gone = buf_new(m->arena);
  for (uint32_t i = 0; i < batch; i++) in[i] = imp_letter[i];
  for (uint32_t i = 0; i < depth; i++) {
    in[batch + i] = imp_letter[ONNX_RANK_LIMIT + i];
    buf_printf(&gone, "%s%s", i ? " " : "", in[batch + i]);
    buf_printf(&test, "%s(%s = mod($1[%s %u], %s))", i ? " and " : "", in[batch + i], places, i,
               dim_inside(m, x.dim[batch + i]));
  }
  for (uint32_t i = 0; i < rest; i++) in[batch + depth + i] = imp_letter[at.rank - 1 + i];
  bool bits = op_value(n, 0)->type == ONNX_BOOL;
  Id y = add_equation(
      n, bits ? ONNX_INT64 : op_value(n, 0)->type, IN(bits_to_number(n, n->in[0]), n->in[1]),
      "[%s] = sum[%s](($0[%s] when %s else 0))", index_letters(m, at.rank - 1 + rest), gone.at,
      join_words(m, x.rank, in), test.at);
  return op_set_result(n, 0, bits ? number_to_bits(n, y) : y);
}

// -- scatter --------------------------------------------------------------------------------------
// Updates that arrive at an element of the first input: `update`: how updates are read, `gone`:
// their reduced indices, `test`: the comparison, `order`: the number of an update, or NULL for a
// single one.
typedef struct {
  const char *update, *gone, *test, *order;
} Arriving;

static bool add_scatter(ImpNode *n, const Arriving *s) {
  const char *how = attr_text(n, "reduction", "none");
  const char *all = letters_sized(n->m, &op_value(n, 0)->shape, 0, ONNX_RANK_LIMIT);
  OnnxType type = op_value(n, 0)->type;
  static const struct {
    const char *how, *before, *between, *behind;
  } reductions[] = {{"add", "$0 + sum", "0", ""},
                    {"mul", "$0 * prod", "1", ""},
                    {"max", "max($0, max", "-inf", ")"},
                    {"min", "min($0, min", "inf", ")"}};
  for (uint32_t i = 0; i < COUNT(reductions); i++)
    if (!strcmp(reductions[i].how, how))
      return op_set_result(n, 0,
                           add_equation(n, type, n->in, "[*] = %s[%s](($2[%s] when %s else %s))%s",
                                        reductions[i].before, s->gone, s->update, s->test,
                                        reductions[i].between, reductions[i].behind));
  if (!s->order)
    return op_set_result(
        n, 0, add_equation(n, type, n->in, "[*] = $2[%s] when %s else $0", s->update, s->test));
  // the last write wins: `last` is its number from 1; 0: no write
  Id last = add_equation(n, ONNX_INT64, n->in, "[%s] = max[%s]((%s + 1 when %s else 0))", all,
                         s->gone, s->order, s->test);
  Id value =
      add_equation(n, type, IN(last, n->in[2]), "[*] = sum[%s](($1[%s] when $0 = %s + 1 else 0))",
                   s->gone, s->update, s->order);
  return op_set_result(
      n, 0, add_equation(n, type, IN(n->in[0], value, last), "[*] = $1 when $2 > 0 else $0"));
}

bool op_scatterelements(ImpNode *n) {
  Elements e;
  return elements_read(n, true, &e) && add_scatter(n, &(Arriving){e.in, e.gone, e.test, e.order});
}

bool op_scatternd(ImpNode *n) {
  Importer *m = n->m;
  ImpShape x = op_value(n, 0)->shape, at = op_value(n, 1)->shape;
  ImpSize deep = at.rank ? at.dim[at.rank - 1] : dim_of(0);
  if (!at.rank || deep.text || deep.n < 1 || deep.n > x.rank ||
      op_value(n, 2)->shape.rank + deep.n != at.rank - 1 + x.rank)
    return op_refuse(n, "its indices do not fit the axes of its first input");
  uint32_t depth = (uint32_t)deep.n;
  const char *update[2 * ONNX_RANK_LIMIT], *order = NULL;
  Buf test = buf_new(m->arena), gone = buf_new(m->arena);
  for (uint32_t i = 0; i + 1 < at.rank; i++) {
    update[i] = imp_letter[ONNX_RANK_LIMIT + i];
    order = order_behind(m, order, update[i], at.dim[i]);
    buf_printf(&gone, "%s%s:%s", i ? " " : "", update[i], dim_text(m, at.dim[i]));
  }
  for (uint32_t i = depth; i < x.rank; i++) update[at.rank - 1 + i - depth] = imp_letter[i];
  for (uint32_t i = 0; i < depth; i++)
    buf_printf(&test, "%s(%s = mod($1[%s %u], %s))", i ? " and " : "", imp_letter[i],
               join_words(m, at.rank - 1, update), i, dim_inside(m, x.dim[i]));
  return add_scatter(n, &(Arriving){join_words(m, at.rank - 1 + x.rank - depth, update),
                                    gone.n ? gone.at : "", test.at, order});
}

// Writes into a cache along an axis, from a position per row.
bool op_tensorscatter(ImpNode *n) {
  Importer *m = n->m;
  uint32_t axis;
  bool circular = !strcmp(attr_text(n, "mode", "linear"), "circular");
  ImpShape x = op_value(n, 0)->shape, u = op_value(n, 1)->shape;
  if (!op_axis(n, attr_int(n, "axis", -2), x.rank, &axis)) return false;
  const char *in[ONNX_RANK_LIMIT], *p = imp_letter[ONNX_RANK_LIMIT], *here = imp_letter[axis];
  for (uint32_t i = 0; i < x.rank; i++) in[i] = i == axis ? p : imp_letter[i];
  Id from = op_in(n, 2) ? n->in[2] : value_number(m, ONNX_INT64, 0);
  const char *start = value_at(m, from)->shape.rank ? "$2[i]" : "$2[]";
  const char *behind =
      circular ? arena_format(m->arena, "mod(%s - %s, %s)", here, start, dim_inside(m, x.dim[axis]))
               : arena_format(m->arena, "(%s - %s)", here, start);
  return op_set_result(
      n, 0,
      equation(n, IN(n->in[0], n->in[1], from),
               "[*] = sum[%s](($1[%s] when (%s = %s) else 0)) when %s >= 0 and %s < %s "
               "else $0",
               p, join_words(m, x.rank, in), p, behind, behind, behind,
               dim_inside(m, u.dim[axis])));
}

// -- one-hot --------------------------------------------------------------------------------------
bool op_onehot(ImpNode *n) {
  Importer *m = n->m;
  double depth;
  uint32_t axis;
  if (!op_scalar(n, 1, &depth)) return false;
  uint32_t rank = op_value(n, 0)->shape.rank + 1;
  if (rank > ONNX_RANK_LIMIT || !(depth >= 1 && depth < 0x1p40))
    return op_refuse(n, "its depth is not a size");
  if (!op_axis(n, attr_int(n, "axis", -1), rank, &axis)) return false;
  const char *at[ONNX_RANK_LIMIT], *here = imp_letter[axis];
  for (uint32_t i = 0, k = 0; i < rank; i++)
    if (i != axis) at[k++] = imp_letter[i];
  const char *in = join_words(m, rank - 1, at);
  return op_set_result(
      n, 0,
      add_equation(n, op_value(n, 2)->type, n->in,
                   "[%s %s:%.0f %s] = $2[1] when (%s = $0[%s]) or (%s = $0[%s] + %.0f) else "
                   "$2[0]",
                   index_letters(m, axis), here, floor(depth),
                   join_words(m, rank - axis - 1, imp_letter + axis + 1), here, in, here, in,
                   floor(depth)));
}

// -- what is true ---------------------------------------------------------------------------------
bool op_compress(ImpNode *n) {
  Importer *m = n->m;
  uint32_t axis = 0;
  const OnnxAttribute *along = onnx_attribute(n->node, "axis");
  if (!op_known(n, 1)) return false;
  ImpShape x = op_value(n, 0)->shape;
  Id v = n->in[0];
  if (along ? !op_axis(n, along->i, x.rank, &axis) || !op_fixed_axis(n, 0, axis) : !op_fixed(n, 0))
    return false;
  if (!along) {
    ImpShape row = {1, {dim_of(shape_count(&x))}};
    v = add_reshape(n, v, &row);
    x = row;
  }
  const ImpValue *c = op_value(n, 1);
  int64_t count = 0, most = shape_count(&c->shape), *place = NEW_ARRAY(m->arena, int64_t, most + 1);
  for (int64_t i = 0; i < most && i < x.dim[axis].n; i++)
    if (c->data[i] != 0) place[count++] = i;
  if (!count)
    return op_refuse(n, "nothing is left of axis %u: an axis has at least one place", axis);
  op_set_result(n, 0, add_gather(n, v, axis, place, count));
  return true;
}

bool op_nonzero(ImpNode *n) {
  Importer *m = n->m;
  if (!op_known(n, 0)) return false;
  const ImpValue *x = op_value(n, 0);
  int64_t all = shape_count(&x->shape), count = 0, k = 0;
  uint32_t rank = x->shape.rank;
  for (int64_t i = 0; i < all; i++) count += x->data[i] != 0;
  ImpShape out = {2, {dim_of(rank), dim_of(count)}};
  double *data = NEW_ARRAY(m->arena, double, rank *count + 1);
  for (int64_t i = 0; i < all; i++) {
    if (x->data[i] == 0) continue;
    int64_t rest = i;
    for (uint32_t a = rank; a-- > 0; rest /= x->shape.dim[a].n)
      data[a * count + k] = (double)(rest % x->shape.dim[a].n);
    k++;
  }
  op_set_result(n, 0, value_const(m, ONNX_INT64, &out, data));
  return true;
}
