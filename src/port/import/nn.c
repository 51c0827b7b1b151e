// Matrix products.
#include "port/import/own.h"

// -- MatMul ---------------------------------------------------------------------------------------
// The last two axes are matrices, the others are broadcast; a vector is a row or a column.
Id add_matmul(ImpNode *n, Id left, Id right, OnnxType type) {
  Importer *m = n->m;
  ImpShape a = value_at(m, left)->shape, b = value_at(m, right)->shape, front;
  if (!a.rank || !b.rank) return op_refuse(n, "a single number is no matrix"), 0;
  ImpSize inner = a.dim[a.rank - 1], other = b.dim[b.rank > 1 ? b.rank - 2 : 0];
  if (!dim_same(inner, other)) {
    op_refuse(n, "it multiplies over %s and %s places", dim_text(m, inner), dim_text(m, other));
    return 0;
  }
  bool row = a.rank > 1, column = b.rank > 1;
  a.rank = a.rank > 2 ? a.rank - 2 : 0;
  b.rank = b.rank > 2 ? b.rank - 2 : 0;
  Id fronts[] = {value_new(m, ONNX_FLOAT, &a, IMP_MADE, ""),
                 value_new(m, ONNX_FLOAT, &b, IMP_MADE, "")};
  if (!broadcast_shape(n, fronts, 2, &front)) return 0;
  const char *const *letter = imp_letter + front.rank;
  const char *i = row ? letter[0] : "", *j = column ? letter[row] : "", *k = letter[row + column];
  bool wraps = is_whole(type) && onnx_type_info[type].bits <= 32;
  const char *x = arena_format(m->arena, "$0[%s %s %s]", letters_of(m, fronts[0], &front), i, k),
             *y = arena_format(m->arena, "$1[%s %s %s]", letters_of(m, fronts[1], &front), k, j);
  const char *product = wraps ? arena_format(m->arena, "sum[%s](%s * %s)", k, x, y)
                              : arena_format(m->arena, "%s %s", x, y);
  return add_equation(n, type, IN(left, right), "[%s %s %s] = %s", index_letters(m, front.rank), i,
                      j, wrap_integer(m, type, product));
}

bool op_matmul(ImpNode *n) {
  return op_set_result(n, 0, add_matmul(n, n->in[0], n->in[1], op_value(n, 0)->type));
}

// -- Gemm -----------------------------------------------------------------------------------------
bool op_gemm(ImpNode *n) {
  Importer *m = n->m;
  ImpShape a = op_value(n, 0)->shape, b = op_value(n, 1)->shape;
  bool turn_a = attr_int(n, "transA", 0), turn_b = attr_int(n, "transB", 0);
  float alpha = attr_float(n, "alpha", 1), beta = attr_float(n, "beta", 1);
  if (a.rank != 2 || b.rank != 2) return op_refuse(n, "matrices have two axes");
  ImpShape shape = {2, {a.dim[turn_a], b.dim[!turn_b]}};
  if (!dim_same(a.dim[!turn_a], b.dim[turn_b]))
    return op_refuse(n, "it multiplies over %s and %s places", dim_text(m, a.dim[!turn_a]),
                     dim_text(m, b.dim[turn_b]));
  const char *scaled = alpha == 1 ? "" : arena_format(m->arena, "%s * ", short_term(m, alpha));
  Buf right = buf_new(m->arena);
  buf_printf(&right, "%s$0[%s] $1[%s]", scaled, turn_a ? "k i" : "i k", turn_b ? "j k" : "k j");
  if (op_in(n, 2) && op_value(n, 2)->shape.rank > 2)
    return op_refuse(n, "what it adds has more than two axes");
  if (op_in(n, 2))
    buf_printf(&right, " + %s$2[%s]",
               beta == 1 ? "" : arena_format(m->arena, "%s * ", short_term(m, beta)),
               letters_of(m, n->in[2], &shape));
  return op_gives(n, "[i j] = %s", right.at);
}
