// Quantisation with integer semantics: rounds half to even, adds the zero point, saturates to the
// type's range.
#include "port/import/own.h"

#include <math.h>

// -- the range of a type --------------------------------------------------------------------------
static const char *cut_to(Importer *m, OnnxType type, const char *x) {
  const OnnxTypeInfo *t = &onnx_type_info[type];
  double most = ldexp(1, (int)t->bits - (t->kind == 'i')) - 1,
         least = t->kind == 'i' ? -most - 1 : 0;
  return arena_format(m->arena, "min(max(%s, %s), %s)", x, number_term(m, least),
                      number_term(m, most));
}

// Converts x to a quantised type; 8-bit floats have a zero point of 0 only.
static const char *quantised(Importer *m, OnnxType type, const char *x, const char *zero,
                             bool saturate) {
  if (is_whole(type)) {
    const char *shifted = zero ? arena_format(m->arena, "round_even(float32(%s)) + %s", x, zero)
                               : arena_format(m->arena, "round_even(float32(%s))", x);
    return cut_to(m, type, shifted);
  }
  if (zero) x = arena_format(m->arena, "%s + %s", x, zero);
  return cast_text(m, arena_format(m->arena, "(%s)", x), ONNX_FLOAT, type, saturate, "up");
}

// -- one scale for all, for each place of an axis, or for each block ------------------------------
typedef struct {
  const char *x, *scale; // index lists
} Scaled;

static bool scaled_at(ImpNode *n, const ImpShape *x, const ImpShape *scale, Scaled *out) {
  Importer *m = n->m;
  uint32_t axis;
  const char *at[ONNX_RANK_LIMIT];
  int64_t block = attr_int(n, "block_size", 0);
  *out = (Scaled){index_letters(m, x->rank), ""};
  if (!scale->rank) return true;
  if (dim_is(scale->dim[0], 1) && scale->rank == 1) return out->scale = "0", true;
  if (!op_axis(n, attr_int(n, "axis", 1), x->rank, &axis)) return false;
  if (scale->rank == 1 && !block) {
    if (!dim_same(scale->dim[0], x->dim[axis]))
      return op_refuse(n, "its scale does not fit axis %u", axis);
    return out->scale = imp_letter[axis], true;
  }
  if (scale->rank != x->rank || x->dim[axis].text || scale->dim[axis].text)
    return op_refuse(n, "its blocks do not fit its input");
  if (!block) block = (x->dim[axis].n + scale->dim[axis].n - 1) / scale->dim[axis].n;
  if (block < 1 || block * scale->dim[axis].n != x->dim[axis].n)
    return op_refuse(n, "axis %u has %lld places, which are not whole blocks of %lld", axis,
                     (long long)x->dim[axis].n, (long long)block);
  for (uint32_t i = 0; i < x->rank; i++) at[i] = imp_letter[i];
  out->scale = join_words(m, x->rank, at);
  at[axis] = arena_format(m->arena, "(%s %s:%lld)", imp_letter[axis], imp_letter[ONNX_RANK_LIMIT],
                          (long long)block);
  out->x = join_words(m, x->rank, at);
  return true;
}

// The zero point is indexed like the scale, but a single element may have an axis or not.
static const char *zero_at(Importer *m, Id zero, const Scaled *s) {
  const ImpShape *z = zero ? &value_at(m, zero)->shape : NULL;
  return z && shape_count(z) == 1
             ? join_words(m, z->rank, (const char *const[]){"0", "0", "0", "0"})
             : s->scale;
}

bool op_quantizelinear(ImpNode *n) {
  Importer *m = n->m;
  Scaled s;
  Id zero = op_in(n, 2);
  int64_t wanted = attr_int(n, "output_dtype", 0);
  OnnxType type = zero                                ? value_at(m, zero)->type
                  : wanted > 0 && wanted < ONNX_TYPES ? (OnnxType)wanted
                                                      : ONNX_UINT8;
  ImpShape x = op_value(n, 0)->shape;
  if (!scaled_at(n, &x, &op_value(n, 1)->shape, &s)) return false;
  bool plain = !zero || is_float(type);
  // A computed scale has not been rounded to float yet.
  bool made = op_value(n, 1)->kind == IMP_MADE;
  const char *by =
      arena_format(m->arena, made ? "$0[%s] / float32($1[%s])" : "$0[%s] / $1[%s]", s.x, s.scale);
  const char *shift = plain ? NULL : arena_format(m->arena, "$2[%s]", zero_at(m, zero, &s));
  return op_set_result(n, 0,
                       add_equation(n, type, n->in, "[%s] = %s", s.x,
                                    quantised(m, type, by, shift, attr_int(n, "saturate", 1))));
}

bool op_dequantizelinear(ImpNode *n) {
  Scaled s;
  Id zero = op_in(n, 2);
  OnnxType type = op_value(n, 1)->type;
  ImpShape x = op_value(n, 0)->shape;
  if (!scaled_at(n, &x, &op_value(n, 1)->shape, &s)) return false;
  return op_set_result(
      n, 0,
      zero ? add_equation(n, type, n->in, "[%s] = ($0[%s] - $2[%s]) * $1[%s]", s.x, s.x,
                          zero_at(n->m, zero, &s), s.scale)
           : add_equation(n, type, n->in, "[%s] = $0[%s] * $1[%s]", s.x, s.x, s.scale));
}

// Chooses scale and zero point from the data; 0 is always representable.
bool op_dynamicquantizelinear(ImpNode *n) {
  Importer *m = n->m;
  Id least = add_equation(n, ONNX_FLOAT, n->in, "[] = min(min[*]($0), 0)"),
     most = add_equation(n, ONNX_FLOAT, n->in, "[] = max(max[*]($0), 0)"),
     scale = add_equation(n, ONNX_FLOAT, IN(most, least), "[] = float32(($0 - $1) / 255)"),
     zero = add_equation(n, ONNX_UINT8, IN(least, scale), "[] = %s",
                         cut_to(m, ONNX_UINT8, "round_even(float32((0 - $0) / $1))"));
  op_set_result(n, 1, scale);
  op_set_result(n, 2, zero);
  return op_set_result(n, 0,
                       add_equation(n, ONNX_UINT8, IN(n->in[0], scale, zero), "[*] = %s",
                                    quantised(m, ONNX_UINT8, "$0 / $1", "$2", true)));
}

// -- products -------------------------------------------------------------------------------------
// Subtracts the zero point, per tensor or per axis. 0 with a message.
static Id add_centred(ImpNode *n, Id v, Id zero, uint32_t axis) {
  Importer *m = n->m;
  if (!zero) return v;
  ImpShape z = value_at(m, zero)->shape;
  const ImpValue *known = value_at(m, zero);
  if (known->data && shape_count(&z) == 1 && known->data[0] == 0) return v;
  const char *at = z.rank > 1 ? "*" : !z.rank ? "" : dim_is(z.dim[0], 1) ? "0" : imp_letter[axis];
  return add_equation(n, ONNX_INT32, IN(v, zero), "[*] = $0 - $1[%s]", at);
}

// Requantises accumulators by a scale per tensor or per axis.
static Id add_requantised(ImpNode *n, Id sum, const Id scale[3], Id zero, uint32_t axis) {
  Importer *m = n->m;
  ImpShape x = value_at(m, sum)->shape;
  const char *at[4];
  for (uint32_t i = 0; i < 4; i++) {
    Id v = i < 3 ? scale[i] : zero;
    const ImpShape *s = &value_at(m, v)->shape;
    bool one = !s->rank || shape_count(s) == 1;
    at[i] = one            ? join_words(m, s->rank, (const char *const[]){"0", "0", "0", "0"})
            : s->rank == 1 ? imp_letter[axis]
                           : letters_of(m, v, &x);
  }
  const char *by = arena_format(m->arena, "$0 * ($1[%s] * $2[%s] / $3[%s])", at[0], at[1], at[2]);
  return add_equation(
      n, value_at(m, zero)->type, IN(sum, scale[0], scale[1], scale[2], zero), "[*] = %s",
      quantised(m, value_at(m, zero)->type, by, arena_format(m->arena, "$4[%s]", at[3]), true));
}

bool op_qlinearmatmul(ImpNode *n) {
  uint32_t rank = op_value(n, 0)->shape.rank, other = op_value(n, 3)->shape.rank;
  Id a = add_centred(n, n->in[0], n->in[2], rank > 1 ? rank - 2 : 0);
  Id b = add_centred(n, n->in[3], n->in[5], other > 0 ? other - 1 : 0);
  Id y = add_matmul(n, a, b, ONNX_INT32);
  if (!y) return false;
  const Id scale[] = {n->in[1], n->in[4], n->in[6]};
  uint32_t axis = value_at(n->m, y)->shape.rank ? value_at(n->m, y)->shape.rank - 1 : 0;
  return op_set_result(n, 0, add_requantised(n, y, scale, n->in[7], axis));
}

bool op_matmulinteger(ImpNode *n) {
  uint32_t rank = op_value(n, 0)->shape.rank, other = op_value(n, 1)->shape.rank;
  Id a = add_centred(n, n->in[0], op_in(n, 2), rank > 1 ? rank - 2 : 0);
  Id b = add_centred(n, n->in[1], op_in(n, 3), other > 0 ? other - 1 : 0);
  return op_set_result(n, 0, add_matmul(n, a, b, ONNX_INT32));
}

bool op_convinteger(ImpNode *n) {
  Id x = add_centred(n, n->in[0], op_in(n, 2), 1), w = add_centred(n, n->in[1], op_in(n, 3), 0);
  return op_set_result(n, 0, add_convolution(n, x, w, 0, ONNX_INT32));
}

bool op_qlinearconv(ImpNode *n) {
  Id x = add_centred(n, n->in[0], n->in[2], 1), w = add_centred(n, n->in[3], n->in[5], 0);
  Id y = add_convolution(n, x, w, op_in(n, 8), ONNX_INT32);
  const Id scale[] = {n->in[1], n->in[4], n->in[6]};
  return op_set_result(n, 0, y ? add_requantised(n, y, scale, n->in[7], 1) : 0);
}
