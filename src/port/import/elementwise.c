// Elementwise operators: templates with broadcasting, and those with attributes.
#include "port/import/own.h"

#include <math.h>

// -- templates ------------------------------------------------------------------------------------
// Integers up to 32 bits wrap around. 64-bit integers are exact up to 2^53 and are not wrapped.
const char *wrap_integer(Importer *m, OnnxType type, const char *right) {
  const OnnxTypeInfo *t = &onnx_type_info[type];
  if (!is_whole(type) || t->bits > 32) return right;
  long long range = 1LL << t->bits;
  if (t->kind == 'u') return arena_format(m->arena, "mod(%s, %lld)", right, range);
  return arena_format(m->arena, "wrap[%lld](%s)", range / 2, right);
}

// Applies a template to all inputs, broadcast.
static bool add_map(ImpNode *n, OnnxType type, const char *right) {
  return op_set_result(n, 0, add_equation(n, type, n->in, "[*] = %s", right));
}

bool op_map(ImpNode *n) {
  OnnxType type = op_value(n, 0)->type;
  const char *right = is_whole(type) && n->row->whole ? n->row->whole : n->row->right;
  if (n->row->result == IMP_WRAP) right = wrap_integer(n->m, type, right);
  return add_map(n,
                 n->row->result == IMP_BOOL  ? ONNX_BOOL
                 : n->row->result == IMP_INT ? ONNX_INT64
                                             : type,
                 right);
}

// -- with attributes ------------------------------------------------------------------------------
bool op_swish(ImpNode *n) {
  float a = attr_float(n, "alpha", 1);
  return add_map(n, op_value(n, 0)->type,
                 a == 1 ? "silu($0)"
                        : arena_format(n->m->arena, "$0 * sigmoid(%s * $0)", short_term(n->m, a)));
}

// Exporters deduplicate weights with equal initial values, such as scales of 1; these must not be
// shared.
static bool starts_alike(const ImpValue *x) {
  if (x->kind != IMP_WEIGHT || !x->data) return false;
  for (int64_t i = 1; i < shape_count(&x->shape); i++)
    if (x->data[i] != x->data[0]) return false;
  return true;
}

bool op_identity(ImpNode *n) {
  ImpValue x = *op_value(n, 0);
  Id v = n->in[0];
  if (starts_alike(&x)) {
    v = value_new(n->m, x.type, &x.shape, IMP_WEIGHT, n->node->out.at[0]);
    value_at(n->m, v)->data = x.data;
  }
  op_set_result(n, 0, v);
  return true;
}

// A bound as text, if it is constant.
static const char *bound_text(Importer *m, Id v) {
  const ImpValue *x = value_at(m, v);
  if (!x->data || shape_count(&x->shape) != 1 || !isfinite(x->data[0])) return NULL;
  return x->type == ONNX_FLOAT ? short_term(m, (float)x->data[0]) : number_term(m, x->data[0]);
}

// Bounds are attributes before version 11, inputs later; either may be missing.
bool op_clip(ImpNode *n) {
  Importer *m = n->m;
  const OnnxAttribute *low = onnx_attribute(n->node, "min"), *high = onnx_attribute(n->node, "max");
  ImpValue *x = op_value(n, 0);
  OnnxType type = x->type;
  Id least = low ? value_number(m, type, (double)low->f) : op_in(n, 1);
  Id most = high ? value_number(m, type, (double)high->f) : op_in(n, 2);
  if (!least && !most) return op_set_result(n, 0, n->in[0]), true;
  const char *from = least ? bound_text(m, least) : NULL, *to = most ? bound_text(m, most) : NULL;
  Id in[] = {n->in[0], least ? least : most, most};
  ImpNode same = *n;
  same.in = in;
  same.nin = from && to ? 1 : least && most ? 3 : 2;
  if (from && to)
    return add_map(&same, type, arena_format(m->arena, "clamp[%s, %s]($0)", from, to));
  return add_map(&same, type,
                 !most    ? "max($0, $1)"
                 : !least ? "min($0, $1)"
                          : "min(max($0, $1), $2)");
}

bool op_equal(ImpNode *n) {
  bool bits = op_value(n, 0)->type == ONNX_BOOL;
  return add_map(n, ONNX_BOOL, bits ? "(number($0) = number($1))" : "($0 = $1)");
}

// Sum, Mean, Max, Min with any number of inputs.
bool op_variadic(ImpNode *n) {
  Importer *m = n->m;
  const char *op = n->node->op;
  bool larger = !strcmp(op, "Max"), smaller = !strcmp(op, "Min"), mean = !strcmp(op, "Mean");
  Buf b = buf_new(m->arena);
  if (n->nin == 1) return op_set_result(n, 0, n->in[0]), true;
  if (mean) buf_char(&b, '(');
  for (uint32_t i = 1; i < n->nin && (larger || smaller); i++)
    buf_text(&b, larger ? "max(" : "min(");
  for (uint32_t i = 0; i < n->nin; i++)
    buf_printf(&b, larger || smaller ? (i ? ", $%u)" : "$%u") : (i ? " + $%u" : "$%u"), i);
  if (mean) buf_printf(&b, ") / %u", n->nin);
  return add_map(n, op_value(n, 0)->type, b.at);
}

bool op_where(ImpNode *n) { return add_map(n, op_value(n, 1)->type, "$1 when $0 else $2"); }
