// Products of matrices.
#include "port/import/own.h"

// -- MatMul --------------------------------------------------------------------------------------
// The last two axes are matrices, those before them are broadcast; one axis alone is a row or a column.
typedef struct {
  ImpShape shape;
  const char *a, *b, *left, *summed;
} Product;

static bool product_shape(ImpNode *n, const ImpShape *a, const ImpShape *b, Product *p) {
  ImpShape front_a = *a, front_b = *b;
  Importer *m = n->m;
  if (!a->rank || !b->rank) return op_refuse(n, "a single number is no matrix");
  ImpSize inner = a->dim[a->rank - 1], other = b->dim[b->rank > 1 ? b->rank - 2 : 0];
  if (!dim_same(inner, other))
    return op_refuse(n, "it multiplies over %s and %s places", dim_text(m, inner),
                     dim_text(m, other));
  front_a.rank = a->rank > 2 ? a->rank - 2 : 0;
  front_b.rank = b->rank > 2 ? b->rank - 2 : 0;
  Id fronts[] = {value_new(m, ONNX_FLOAT, &front_a, IMP_MADE, ""),
                 value_new(m, ONNX_FLOAT, &front_b, IMP_MADE, "")};
  if (!broadcast(n, fronts, 2, &p->shape)) return false;
  const char *in_a = letters_of(m, fronts[0], &p->shape),
             *in_b = letters_of(m, fronts[1], &p->shape);
  const char *left = letters(m, p->shape.rank);
  uint32_t next = p->shape.rank;
  const char *row = a->rank > 1 ? imp_letter[next++] : "",
             *column = b->rank > 1 ? imp_letter[next++] : "";
  const char *summed = p->summed = imp_letter[next];
  p->left = arena_format(m->arena, "%s %s %s", left, row, column);
  p->a = arena_format(m->arena, "%s %s %s", in_a, row, summed);
  p->b = arena_format(m->arena, "%s %s %s", in_b, summed, column);
  if (a->rank > 1) p->shape.dim[p->shape.rank++] = a->dim[a->rank - 2];
  if (b->rank > 1) p->shape.dim[p->shape.rank++] = b->dim[b->rank - 1];
  return true;
}

Id say_product(ImpNode *n, Id a, Id b, OnnxType type) {
  Product p;
  ImpShape left = value_at(n->m, a)->shape, right = value_at(n->m, b)->shape;
  if (!product_shape(n, &left, &right, &p)) return 0;
  bool wraps = is_whole(type) && onnx_type_info[type].bits <= 32;
  const char *sum = wraps ? arena_format(n->m->arena, "sum[%s]($0 * $1)", p.summed) : "$0 $1";
  ImpForm form = {.left = p.left, .right = wrapped(n->m, type, sum)};
  return say(n, type, &p.shape, form, READS({a, p.a}, {b, p.b}));
}

bool op_matmul(ImpNode *n) {
  Id y = say_product(n, n->in[0], n->in[1], op_value(n, 0)->type);
  if (y) op_give(n, 0, y);
  return y;
}

// -- Gemm ----------------------------------------------------------------------------------------
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
  ImpRead read[] = {
      {n->in[0], turn_a ? "k i" : "i k"}, {n->in[1], turn_b ? "j k" : "k j"}, {0, NULL}};
  Buf right = buf_new(m->arena);
  buf_printf(&right, "%s$0 $1", scaled);
  if (op_in(n, 2) && op_value(n, 2)->shape.rank > 2)
    return op_refuse(n, "what it adds has more than two axes");
  if (op_in(n, 2)) {
    read[2] = (ImpRead){n->in[2], letters_of(m, n->in[2], &shape)};
    buf_printf(&right, beta == 1 ? " + $2" : " + %s * $2", short_term(m, beta));
  }
  ImpForm form = {.left = "i j", .right = right.at};
  op_give(n, 0, say(n, op_value(n, 0)->type, &shape, form, read, op_in(n, 2) ? 3 : 2));
  return true;
}
