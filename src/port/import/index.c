// Values that point: gather and its kin. An index that is known, or an input that does nothing else, is a label and points; one that
// is computed is compared with every place.
#include "port/import/own.h"

#include <math.h>

// -- what points ---------------------------------------------------------------------------------
// A constant as labels, with places from the end counted from the front. 0 with a message.
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

// A value that points into an axis; 0: it has to be compared. An input of the graph points into a table of numbers that are known, as
// words do into an embedding, and then counts from the front; elsewhere it may count from the end too.
Id pointer(ImpNode *n, Id v, ImpSize axis, bool table) {
  ImpValue *x = value_at(n->m, v);
  if (axis.text) return 0;
  if (x->data) return pointer_const(n, x, axis.n);
  if (!table || x->kind != IMP_INPUT || (x->labels && x->labels != axis.n)) return 0;
  x->labels = axis.n;
  return v;
}

// A constant that points as the number it is; otherwise it is read.
static const char *one_place(Importer *m, Id p) {
  const ImpValue *v = value_at(m, p);
  return v->kind == IMP_CONST ? arena_format(m->arena, "%.0f", v->data[0]) : "$1";
}

// -- gather --------------------------------------------------------------------------------------
bool op_gather(ImpNode *n) {
  Importer *m = n->m;
  uint32_t axis;
  ImpShape x = op_value(n, 0)->shape, at = op_value(n, 1)->shape, out = {0};
  OnnxType type = op_value(n, 0)->type;
  if (!op_axis(n, attr_int(n, "axis", 0), x.rank, &axis)) return false;
  if (x.rank + at.rank > ONNX_RANK_LIMIT) return op_refuse(n, "it would have too many axes");
  const char *in[ONNX_RANK_LIMIT], *index[ONNX_RANK_LIMIT], *left[ONNX_RANK_LIMIT];
  Id p = pointer(n, n->in[1], x.dim[axis], op_value(n, 0)->data != NULL);
  if (!p && m->diags->errors) return false;
  const char *place = imp_letter[ONNX_RANK_LIMIT];
  for (uint32_t i = 0; i < x.rank; i++) {
    for (uint32_t k = 0; i == axis && k < at.rank; k++) {
      index[k] = left[out.rank] = imp_letter[out.rank];
      out.dim[out.rank++] = at.dim[k];
    }
    if (i == axis) in[i] = !p ? place : at.rank ? "$1" : one_place(m, p);
    if (i == axis) continue;
    in[i] = left[out.rank] = imp_letter[out.rank];
    out.dim[out.rank++] = x.dim[i];
  }
  const char *size = dim_inside(m, x.dim[axis]);
  bool bits = type == ONNX_BOOL && !p;
  Id from = bits ? say_number(n, n->in[0]) : n->in[0];
  ImpForm form = {.left = words(m, out.rank, left), .right = "$0"};
  if (!p)
    form.right =
        arena_format(m->arena, "sum[%s](($0 when (%s = mod($1, %s)) else 0))", place, place, size);
  const char *at_index = words(m, at.rank, index);
  ImpRead read[] = {{from, words(m, x.rank, in)},
                    {p ? p : n->in[1], p ? arena_format(m->arena, "@%s", at_index) : at_index}};
  bool fixed = p && !at.rank && value_at(m, p)->kind == IMP_CONST;
  Id y = say(n, bits ? ONNX_INT64 : type, &out, form, read, fixed ? 1 : 2);
  op_give(n, 0, bits ? say_bits(n, y) : y);
  return true;
}
