// Gather and scatter by one index for each number. Indices that are computed are compared with every place, from the front or the
// end: `mod` takes both.
#include "port/import/own.h"

// -- an index for each number --------------------------------------------------------------------
// GatherElements and ScatterElements: along one axis an index says where, along the others a number stays at its place. `in` are the
// indices of the side that is gone through, `gone` those that are no index of the result, `test` whether it is that place, `order`
// the number of what is gone through, row by row.
typedef struct {
  const char *in, *gone, *test, *order;
} Elements;

// One index more, the fastest.
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
  const char *in[ONNX_RANK_LIMIT];
  const char *order = NULL;
  Buf test = buf_new(m->arena), gone = buf_new(m->arena);
  for (uint32_t i = 0; i < x.rank; i++) {
    bool same = i != axis && dim_same(x.dim[i], at.dim[i]);
    in[i] = same ? imp_letter[i] : imp_letter[ONNX_RANK_LIMIT + i];
    if (same) continue;
    const char *place = scatter ? imp_letter[i] : in[i];
    buf_printf(&gone, "%s%s:%s", gone.n ? " " : "", in[i], dim_text(m, (scatter ? at : x).dim[i]));
    order = order_behind(m, order, in[i], (scatter ? at : x).dim[i]);
    if (i == axis)
      buf_printf(&test, " and (%s = mod($%d, %s))", place, 1 + scatter, dim_inside(m, x.dim[i]));
    else
      buf_printf(&test, " and (%s = %s)", in[i], imp_letter[i]);
  }
  *e = (Elements){words(m, x.rank, in), gone.at, test.at + 5, order};
  return true;
}

// -- gather --------------------------------------------------------------------------------------
bool op_gatherelements(ImpNode *n) {
  Importer *m = n->m;
  Elements e;
  if (!elements_read(n, false, &e)) return false;
  ImpShape out = op_value(n, 1)->shape;
  const char *all = letters(m, out.rank);
  Id from = say_number(n, n->in[0]);
  bool bits = op_value(n, 0)->type == ONNX_BOOL;
  ImpForm form = {.left = all,
                  .right = arena_format(m->arena, "sum[%s](($0 when %s else 0))", e.gone, e.test)};
  Id y = say(n, bits ? ONNX_INT64 : op_value(n, 0)->type, &out, form,
             READS({from, e.in}, {n->in[1], all}));
  op_give(n, 0, bits ? say_bits(n, y) : y);
  return true;
}

bool op_gathernd(ImpNode *n) {
  Importer *m = n->m;
  uint32_t batch = (uint32_t)attr_int(n, "batch_dims", 0);
  ImpShape x = op_value(n, 0)->shape, at = op_value(n, 1)->shape, out = {0};
  ImpSize deep = at.rank ? at.dim[at.rank - 1] : dim_of(0);
  if (!at.rank || deep.text || deep.n < 1 || batch + deep.n > x.rank || batch >= at.rank)
    return op_refuse(n, "its indices do not fit the axes of its first input");
  uint32_t depth = (uint32_t)deep.n, rest = x.rank - batch - depth;
  if (at.rank - 1 + rest > ONNX_RANK_LIMIT) return op_refuse(n, "it would have too many axes");
  const char *in[ONNX_RANK_LIMIT], *index[ONNX_RANK_LIMIT];
  ImpRead read[ONNX_RANK_LIMIT + 1];
  Buf test = buf_new(m->arena), gone = buf_new(m->arena);
  for (uint32_t i = 0; i + 1 < at.rank; i++)
    index[i] = imp_letter[i], out.dim[out.rank++] = at.dim[i];
  for (uint32_t i = 0; i < batch; i++) in[i] = imp_letter[i];
  for (uint32_t i = 0; i < depth; i++) {
    in[batch + i] = imp_letter[ONNX_RANK_LIMIT + i];
    index[at.rank - 1] = arena_format(m->arena, "%u", i);
    read[1 + i] = (ImpRead){n->in[1], words(m, at.rank, index)};
    buf_printf(&gone, "%s%s", i ? " " : "", in[batch + i]);
    buf_printf(&test, "%s(%s = mod($%u, %s))", i ? " and " : "", in[batch + i], 1 + i,
               dim_inside(m, x.dim[batch + i]));
  }
  for (uint32_t i = 0; i < rest; i++) {
    in[batch + depth + i] = imp_letter[out.rank];
    out.dim[out.rank++] = x.dim[batch + depth + i];
  }
  read[0] = (ImpRead){say_number(n, n->in[0]), words(m, x.rank, in)};
  bool bits = op_value(n, 0)->type == ONNX_BOOL;
  ImpForm form = {letters(m, out.rank),
                  arena_format(m->arena, "sum[%s](($0 when %s else 0))", gone.at, test.at), NULL};
  Id y = say(n, bits ? ONNX_INT64 : op_value(n, 0)->type, &out, form, read, 1 + depth);
  op_give(n, 0, bits ? say_bits(n, y) : y);
  return true;
}

// -- scatter -------------------------------------------------------------------------------------
// The updates that come to a place, and how they are put there: $0 the value, $1 the updates.
typedef struct {
  const char *gone, *test; // indices of updates, and whether they come here
  const char *order;       // the number of an update; NULL: there is one
  ImpRead read[ONNX_RANK_LIMIT + 2];
  uint32_t reads;
} Arriving;

static bool say_scattered(ImpNode *n, Arriving *s) {
  Importer *m = n->m;
  const char *how = attr_text(n, "reduction", "none"), *all;
  ImpShape x = op_value(n, 0)->shape;
  OnnxType type = op_value(n, 0)->type;
  all = letters(m, x.rank);
  s->read[0] = (ImpRead){n->in[0], all};
  const char *format = !strcmp(how, "add")   ? "$0 + sum[%s](($1 when %s else 0))"
                       : !strcmp(how, "mul") ? "$0 * prod[%s](($1 when %s else 1))"
                       : !strcmp(how, "max") ? "max($0, max[%s](($1 when %s else -inf)))"
                       : !strcmp(how, "min") ? "min($0, min[%s](($1 when %s else inf)))"
                                             : NULL;
  if (format) {
    ImpForm form = {all, arena_format(m->arena, format, s->gone, s->test), NULL};
    op_give(n, 0, say(n, type, &x, form, s->read, s->reads));
    return true;
  }
  // What is written last stays: `last` is its number, from 1 on, and 0 where nothing comes.
  if (!s->order) {
    ImpForm one = {all, arena_format(m->arena, "$1 when %s else $0", s->test), NULL};
    op_give(n, 0, say(n, type, &x, one, s->read, s->reads));
    return true;
  }
  ImpForm lasts = {
      all, arena_format(m->arena, "max[%s]((%s + 1 when %s else 0))", s->gone, s->order, s->test),
      NULL};
  Id last = say(n, ONNX_INT64, &x, lasts, s->read, s->reads);
  ImpForm written = {
      all, arena_format(m->arena, "sum[%s](($0 when $1 = %s + 1 else 0))", s->gone, s->order),
      NULL};
  Id value = say(n, type, &x, written, READS(s->read[1], {last, all}));
  ImpForm form = {.left = all, .right = "$1 when $2 > 0 else $0"};
  op_give(n, 0, say(n, type, &x, form, READS({n->in[0], all}, {value, all}, {last, all})));
  return true;
}

bool op_scatterelements(ImpNode *n) {
  Elements e;
  if (!elements_read(n, true, &e)) return false;
  Arriving s = {.gone = e.gone, .test = e.test, .order = e.order, .reads = 3};
  s.read[1] = (ImpRead){n->in[2], e.in}, s.read[2] = (ImpRead){n->in[1], e.in};
  return say_scattered(n, &s);
}

bool op_scatternd(ImpNode *n) {
  Importer *m = n->m;
  ImpShape x = op_value(n, 0)->shape, at = op_value(n, 1)->shape;
  ImpSize deep = at.rank ? at.dim[at.rank - 1] : dim_of(0);
  if (!at.rank || deep.text || deep.n < 1 || deep.n > x.rank ||
      op_value(n, 2)->shape.rank + deep.n != at.rank - 1 + x.rank)
    return op_refuse(n, "its indices do not fit the axes of its first input");
  uint32_t depth = (uint32_t)deep.n;
  const char *update[2 * ONNX_RANK_LIMIT], *index[ONNX_RANK_LIMIT], *order = NULL;
  Buf test = buf_new(m->arena), gone = buf_new(m->arena);
  for (uint32_t i = 0; i + 1 < at.rank; i++) {
    update[i] = index[i] = imp_letter[ONNX_RANK_LIMIT + i];
    order = order_behind(m, order, index[i], at.dim[i]);
    buf_printf(&gone, "%s%s:%s", i ? " " : "", index[i], dim_text(m, at.dim[i]));
  }
  for (uint32_t i = depth; i < x.rank; i++) update[at.rank - 1 + i - depth] = imp_letter[i];
  Arriving s = {.reads = 2 + depth};
  for (uint32_t i = 0; i < depth; i++) {
    index[at.rank - 1] = arena_format(m->arena, "%u", i);
    s.read[2 + i] = (ImpRead){n->in[1], words(m, at.rank, index)};
    buf_printf(&test, "%s(%s = mod($%u, %s))", i ? " and " : "", imp_letter[i], 2 + i,
               dim_inside(m, x.dim[i]));
  }
  s.gone = gone.at, s.test = test.at, s.order = order;
  s.read[1] = (ImpRead){n->in[2], words(m, at.rank - 1 + x.rank - depth, update)};
  return say_scattered(n, &s);
}

// A cache of so many places along an axis, written from a place on that each row has.
bool op_tensorscatter(ImpNode *n) {
  Importer *m = n->m;
  uint32_t axis;
  bool circular = !strcmp(attr_text(n, "mode", "linear"), "circular");
  ImpShape x = op_value(n, 0)->shape, u = op_value(n, 1)->shape;
  if (!op_axis(n, attr_int(n, "axis", -2), x.rank, &axis)) return false;
  const char *in[ONNX_RANK_LIMIT], *all = letters(m, x.rank), *p = imp_letter[ONNX_RANK_LIMIT];
  for (uint32_t i = 0; i < x.rank; i++) in[i] = i == axis ? p : imp_letter[i];
  Id from = op_in(n, 2) ? n->in[2] : value_number(m, ONNX_INT64, 0);
  const char *size = dim_inside(m, x.dim[axis]), *here = imp_letter[axis];
  const char *behind =
      arena_format(m->arena, circular ? "mod(%s - $2, %s)" : "(%s - $2)", here, size);
  const char *right =
      arena_format(m->arena, "sum[%s](($1 when (%s = %s) else 0)) when %s >= 0 and %s < %s else $0",
                   p, p, behind, behind, behind, dim_inside(m, u.dim[axis]));
  ImpForm form = {.left = all, .right = right};
  op_give(n, 0,
          say(n, op_value(n, 0)->type, &x, form,
              READS({n->in[0], all}, {n->in[1], words(m, x.rank, in)}, {from, imp_letter[0]})));
  return true;
}

// -- one-hot -------------------------------------------------------------------------------------
bool op_onehot(ImpNode *n) {
  Importer *m = n->m;
  double depth;
  uint32_t axis;
  if (!op_scalar(n, 1, &depth)) return false;
  ImpShape x = op_value(n, 0)->shape, out = {.rank = x.rank + 1};
  if (out.rank > ONNX_RANK_LIMIT || !(depth >= 1 && depth < 0x1p40))
    return op_refuse(n, "its depth is not a size");
  if (!op_axis(n, attr_int(n, "axis", -1), out.rank, &axis)) return false;
  const char *at[ONNX_RANK_LIMIT];
  for (uint32_t i = 0, k = 0; i < out.rank; i++) {
    out.dim[i] = i == axis ? dim_of((int64_t)depth) : x.dim[k];
    if (i != axis) at[k++] = imp_letter[i];
  }
  const char *here = imp_letter[axis];
  const char *right = arena_format(m->arena, "$2 when (%s = $0) or (%s = $0 + %lld) else $1", here,
                                   here, (long long)depth);
  ImpForm form = {.left = letters(m, out.rank), .right = right};
  op_give(n, 0,
          say(n, op_value(n, 2)->type, &out, form,
              READS({n->in[0], words(m, x.rank, at)}, {n->in[2], "0"}, {n->in[2], "1"})));
  return true;
}

// -- what is true --------------------------------------------------------------------------------
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
    v = say_reshaped(n, v, &row);
    x = row;
  }
  const ImpValue *c = op_value(n, 1);
  int64_t count = 0, most = shape_count(&c->shape), *place = NEW_ARRAY(m->arena, int64_t, most + 1);
  for (int64_t i = 0; i < most && i < x.dim[axis].n; i++)
    if (c->data[i] != 0) place[count++] = i;
  if (!count)
    return op_refuse(n, "nothing is left of axis %u: an axis has at least one place", axis);
  op_give(n, 0, say_taken(n, v, axis, place, count));
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
  op_give(n, 0, value_const(m, ONNX_INT64, &out, data));
  return true;
}
