// Labels: Gather and related operators. A constant index, or an input used only as index, becomes a
// label; a computed one is compared with every position.
#include "base/diag.h"
#include "port/import/own.h"

#include <math.h>

// -- labels ---------------------------------------------------------------------------------------
// A constant as labels; negative indices count from the end. 0 with a message.
static Id pointer_const(ImpNode *n, const ImpValue *v, int64_t places) {
  int64_t count = shape_count(&v->shape);
  double *data = NEW_ARRAY(n->m->arena, double, count + 1);
  for (int64_t i = 0; i < count; i++) {
    data[i] = v->data[i] < 0 ? v->data[i] + (double)places : v->data[i];
    if (!(data[i] >= 0 && data[i] < (double)places))
      return op_refuse(n, "an index is outside of its axis"), 0;
  }
  ImpShape shape = v->shape;
  const char *name = v->onnx;
  Id p = value_const(n->m, v->type, &shape, data);
  value_at(n->m, p)->labels = places;
  value_at(n->m, p)->onnx = name;
  return p;
}

// A value as label for an axis; 0: it has to be compared. An input is a label if it indexes a
// constant table, as word ids do an embedding, where negative ids do not occur; elsewhere it may be
// negative.
Id label_index(ImpNode *n, Id v, ImpSize axis, bool table) {
  ImpValue *x = value_at(n->m, v);
  if (axis.text) return 0;
  if (x->data) return pointer_const(n, x, axis.n);
  if (!table || x->kind != IMP_INPUT || (x->labels && x->labels != axis.n)) return 0;
  x->labels = axis.n;
  return v;
}

// A constant index written as a number; otherwise a read.
static const char *one_place(Importer *m, Id p, const char *index) {
  const ImpValue *v = value_at(m, p);
  return v->kind == IMP_CONST && !v->shape.rank ? arena_format(m->arena, "%.0f", v->data[0])
                                                : arena_format(m->arena, "$1[%s]", index);
}

// -- gather ---------------------------------------------------------------------------------------
bool op_gather(ImpNode *n) {
  Importer *m = n->m;
  uint32_t axis;
  ImpShape x = op_value(n, 0)->shape, at = op_value(n, 1)->shape;
  OnnxType type = op_value(n, 0)->type;
  if (!op_axis(n, attr_int(n, "axis", 0), x.rank, &axis)) return false;
  if (x.rank + at.rank > ONNX_RANK_LIMIT) return op_refuse(n, "it would have too many axes");
  const char *in[ONNX_RANK_LIMIT], *place = imp_letter[ONNX_RANK_LIMIT];
  Id p = label_index(n, n->in[1], x.dim[axis], op_value(n, 0)->data != NULL);
  if (!p && m->diags->errors) return false;
  const char *index = join_words(m, at.rank, imp_letter + axis);
  for (uint32_t i = 0; i < x.rank; i++)
    in[i] = i == axis ? !p ? place : one_place(m, p, index)
                      : imp_letter[i + (i > axis) * at.rank - (i > axis)];
  const char *left = index_letters(m, x.rank - 1 + at.rank), *all = join_words(m, x.rank, in);
  if (p) return op_set_result(n, 0, equation(n, IN(n->in[0], p), "[%s] = $0[%s]", left, all));
  bool bits = type == ONNX_BOOL;
  Id y = add_equation(n, bits ? ONNX_INT64 : type, IN(bits_to_number(n, n->in[0]), n->in[1]),
                      "[%s] = sum[%s](($0[%s] when (%s = mod($1[%s], %s)) else 0))", left, place,
                      all, place, index, dim_inside(m, x.dim[axis]));
  return op_set_result(n, 0, bits ? number_to_bits(n, y) : y);
}
