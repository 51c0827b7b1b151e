// Bitwise operators as arithmetic: bit b of x is mod(floor(x / 2^b), 2), also for negative x in
// two's complement.
#include "port/import/own.h"

enum { EXACT_BITS = 52 };

// `op` applied to two bits, each 0 or 1.
static const char *bit_of(const char *op) {
  return !strcmp(op, "BitwiseAnd")  ? "$b * $c"
         : !strcmp(op, "BitwiseOr") ? "max($b, $c)"
                                    : "abs($b - $c)";
}

static const char *bits_replaced(Importer *m, const char *form, const char *a, const char *b) {
  Buf out = buf_new(m->arena);
  for (const char *at = form; *at; at++) {
    bool hole = *at == '$';
    if (hole)
      buf_text(&out, at[1] == 'b' ? a : b), at++;
    else
      buf_char(&out, *at);
  }
  return out.at;
}

bool op_bitwise(ImpNode *n) {
  Importer *m = n->m;
  OnnxType type = op_value(n, 0)->type;
  const OnnxTypeInfo *t = &onnx_type_info[type];
  const char *b = imp_letter[ONNX_RANK_LIMIT], *form = bit_of(n->node->op);
  uint32_t bits = t->bits > EXACT_BITS ? EXACT_BITS : t->kind == 'i' ? t->bits - 1 : t->bits;
  const char *one = arena_format(m->arena, "mod(floor($0 / 2^%s), 2)", b),
             *two = arena_format(m->arena, "mod(floor($1 / 2^%s), 2)", b);
  Buf right = buf_new(m->arena);
  buf_printf(&right, "sum[%s:%u](2^%s * %s)", b, bits, b, bits_replaced(m, form, one, two));
  if (t->kind == 'i') // all higher bits equal the sign
    buf_printf(&right, " - 2^%u * %s", bits,
               bits_replaced(m, form, "number($0 < 0)", "number($1 < 0)"));
  return op_gives(n, "[*] = %s", right.at);
}

bool op_bitwisenot(ImpNode *n) {
  OnnxType type = op_value(n, 0)->type;
  const OnnxTypeInfo *t = &onnx_type_info[type];
  if (t->kind == 'u' && t->bits > EXACT_BITS)
    return op_refuse(n, "the opposite of a %s is not exact", t->name);
  long long most = t->kind == 'u' ? (1LL << t->bits) - 1 : -1;
  return op_gives(n, "[*] = %s - $0", most < 0 ? "0 - 1" : arena_format(n->m->arena, "%lld", most));
}

bool op_bitshift(ImpNode *n) {
  OnnxType type = op_value(n, 0)->type;
  bool left = !strcmp(attr_text(n, "direction", ""), "LEFT");
  return op_set_result(
      n, 0,
      left ? equation(n, n->in, "[*] = mod($0 * 2^$1, 2^%u)", onnx_type_info[type].bits)
           : equation(n, n->in, "[*] = floor($0 / 2^$1)"));
}
