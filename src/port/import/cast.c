// Casts. Numbers stay real; arithmetic removes what the target type cannot represent.
#include "port/import/own.h"

// Small float types: mantissa bits, least exponent, largest value.
static const struct {
  OnnxType type;
  int fraction, down;
  const char *most;
  bool has_inf, has_nan;
} small_floats[] = {
    {ONNX_FLOAT16, 10, 14, "65504", true, true},
    {ONNX_BFLOAT16, 7, 126, "3.3895313892515355e38", true, true},
    {ONNX_FLOAT8E4M3FN, 3, 6, "448", false, true},
    {ONNX_FLOAT8E4M3FNUZ, 3, 7, "240", false, true},
    {ONNX_FLOAT8E5M2, 2, 14, "57344", true, true},
    {ONNX_FLOAT8E5M2FNUZ, 2, 15, "57344", false, true},
    {ONNX_FLOAT4E2M1, 1, 0, "6", false, false},
};

static const char *to_small_float(Importer *m, uint32_t k, const char *x, bool saturate) {
  OnnxType type = small_floats[k].type;
  const char *most = small_floats[k].most;
  const char *rounded = arena_format(m->arena, "round_float[%d, %d](%s)", small_floats[k].fraction,
                                     small_floats[k].down, x);
  bool wide = type == ONNX_FLOAT16 || type == ONNX_BFLOAT16;
  if (!small_floats[k].has_nan)
    return arena_format(m->arena, "saturate[%s](%s when (%s = %s) else 0)", most, rounded, x, x);
  if (saturate && !wide) return arena_format(m->arena, "saturate[%s](%s)", most, rounded);
  return arena_format(m->arena, small_floats[k].has_inf ? "overflow[%s](%s)" : "vanish[%s](%s)",
                      most, rounded);
}

// Rounds to a power of two: up, down, or nearest.
static const char *to_power(Importer *m, const char *x, const char *mode) {
  const char *how = !strcmp(mode, "up") ? "1" : !strcmp(mode, "down") ? "2" : "1.5";
  return arena_format(m->arena, "power_of_two[%s](%s)", how, x);
}

// A template of x, of one type, as another.
const char *cast_text(Importer *m, const char *x, OnnxType from, OnnxType to, bool saturate,
                      const char *mode) {
  const OnnxTypeInfo *was = &onnx_type_info[from], *is = &onnx_type_info[to];
  if (from == to) return x;
  if (was->kind == 'b') x = arena_format(m->arena, "number(%s)", x);
  if (is->kind == 'b') return arena_format(m->arena, "(%s != 0)", x);
  if (was->kind == 'b') return x;
  if (is_whole(to)) {
    bool fits =
        is_whole(from) &&
        (was->kind == is->kind ? was->bits <= is->bits : was->kind == 'u' && was->bits < is->bits);
    if (fits) return x;
    return wrap_integer(m, to, is_whole(from) ? x : arena_format(m->arena, "truncate(%s)", x));
  }
  for (uint32_t k = 0; k < COUNT(small_floats); k++)
    if (small_floats[k].type == to) return to_small_float(m, k, x, saturate);
  return to == ONNX_FLOAT8E8M0 ? to_power(m, x, mode) : x;
}

// A small float type is widened without conversion if it is a subset of the target.
bool op_cast(ImpNode *n) {
  bool like = !strcmp(n->node->op, "CastLike");
  int64_t to = like ? (int64_t)op_value(n, 1)->type : attr_int(n, "to", 0);
  OnnxType from = op_value(n, 0)->type;
  if (to < 0 || to >= ONNX_TYPES || !onnx_type_info[to].bits || onnx_type_info[to].kind == 'c')
    return op_refuse(n, "it makes elements of type %s, which are no real numbers",
                     to >= 0 && to < ONNX_TYPES ? onnx_type_info[to].name : "?");
  const char *mode = attr_text(n, "round_mode", "up");
  const char *right = cast_text(n->m, "$0", from, (OnnxType)to, attr_int(n, "saturate", 1), mode);
  if (!strcmp(right, "$0") && (OnnxType)to == from) return op_set_result(n, 0, n->in[0]);
  return op_set_result(n, 0, add_equation(n, (OnnxType)to, n->in, "[*] = %s", right));
}
