// Access to a node's inputs, attributes and results, and its refusals.
#include "base/diag.h"
#include "port/import/own.h"

#include <math.h>

bool is_float(OnnxType t) { return onnx_type_info[t].kind == 'f'; }
bool is_whole(OnnxType t) { return onnx_type_info[t].kind == 'i' || onnx_type_info[t].kind == 'u'; }

bool op_refuse(ImpNode *n, const char *format, ...) {
  Arena *a = n->m->arena;
  va_list list;
  va_start(list, format);
  const char *why = arena_vformat(a, format, list);
  va_end(list);
  return diag_refuse(n->m->diags, (Span){0}, "%s: %s", node_shown(a, n->node), why);
}

// Drops the symbolic form if all sizes are numbers.
static void drop_symbols(Importer *m, ImpValue *v) {
  int64_t count = shape_count(&v->shape);
  if (!v->known || v->data || v->kind != IMP_CONST) return;
  for (int64_t i = 0; i < count; i++)
    if (v->known[i].text) return;
  v->data = NEW_ARRAY(m->arena, double, count + 1);
  for (int64_t i = 0; i < count; i++) v->data[i] = (double)v->known[i].n;
}

bool op_set_result(ImpNode *n, uint32_t k, Id v) {
  if (!v) return false;
  drop_symbols(n->m, value_at(n->m, v));
  if (k >= n->node->out.n || !*n->node->out.at[k]) return true;
  ImpValue *value = value_at(n->m, v);
  if (!*value->onnx || value->kind == IMP_MADE) value->onnx = n->node->out.at[k];
  imp_put(n->scope, n->node->out.at[k], v);
  return true;
}

Id op_in(const ImpNode *n, uint32_t k) { return k < n->nin ? n->in[k] : 0; }
ImpValue *op_value(const ImpNode *n, uint32_t k) { return value_at(n->m, n->in[k]); }

// -- attributes -----------------------------------------------------------------------------------
int64_t attr_int(const ImpNode *n, const char *name, int64_t otherwise) {
  const OnnxAttribute *a = onnx_attribute(n->node, name);
  return a && a->type == ONNX_ATTR_INT ? a->i : otherwise;
}

float attr_float(const ImpNode *n, const char *name, float otherwise) {
  const OnnxAttribute *a = onnx_attribute(n->node, name);
  return a && a->type == ONNX_ATTR_FLOAT ? a->f : otherwise;
}

const char *attr_text(const ImpNode *n, const char *name, const char *otherwise) {
  const OnnxAttribute *a = onnx_attribute(n->node, name);
  return a && a->type == ONNX_ATTR_STRING ? a->s : otherwise;
}

ImpInts attr_ints(const ImpNode *n, const char *name) {
  const OnnxAttribute *a = onnx_attribute(n->node, name);
  if (!a || a->type != ONNX_ATTR_INTS) return (ImpInts){0};
  return (ImpInts){true, a->ints.n, a->ints.at};
}

// -- inputs whose numbers must be known -----------------------------------------------------------
// Adds that a symbolic size of the model is needed.
bool op_wants_sizes(ImpNode *n) {
  diag_help(n->m->diags, n->m->diags->list.n - 1,
            "`--set NAME=NUMBER` gives sizes at import; the model has %s", symbol_names(n->m));
  return false;
}

bool op_misfit(ImpNode *n, ImpSize a, ImpSize b) {
  op_refuse(n, "sizes %s and %s do not fit together", dim_text(n->m, a), dim_text(n->m, b));
  return (a.text || b.text) && op_wants_sizes(n);
}

bool op_known(ImpNode *n, uint32_t k) {
  if (!op_in(n, k)) return op_refuse(n, "input %u is missing", k + 1);
  const ImpValue *v = op_value(n, k);
  if (v->data) return true;
  int64_t sizes = v->known ? shape_count(&v->shape) : 0;
  for (int64_t i = 0; i < sizes; i++)
    if (v->known[i].text) {
      op_refuse(n, "input %u is the size %s, and a number is wanted there", k + 1,
                v->known[i].text);
      return op_wants_sizes(n);
    }
  const char *from = v->kind == IMP_INPUT ? v->onnx : v->from;
  op_refuse(n, "input %u decides about sizes, and its numbers are not known before it runs", k + 1);
  if (from) diag_help(n->m->diags, n->m->diags->list.n - 1, "`--in %s=V` gives it at import", from);
  return false;
}

bool op_list(ImpNode *n, const char *name, uint32_t k, ImpInts *out) {
  *out = name ? attr_ints(n, name) : (ImpInts){0};
  if (out->there || !op_in(n, k)) return true;
  if (!op_known(n, k)) return false;
  ImpValue *v = op_value(n, k);
  int64_t count = shape_count(&v->shape);
  *out = (ImpInts){true, (uint32_t)count, NEW_ARRAY(n->m->arena, int64_t, count + 1)};
  for (int64_t i = 0; i < count; i++) out->at[i] = whole_of(v->data[i]);
  return true;
}

bool op_sizes(ImpNode *n, uint32_t k, ImpShape *out) {
  ImpValue *v = op_in(n, k) ? op_value(n, k) : NULL;
  ImpInts list;
  if (v && !v->known && !op_list(n, NULL, k, &list)) return false;
  if (!v) return op_refuse(n, "input %u is missing", k + 1);
  int64_t count = shape_count(&v->shape);
  if (v->shape.rank > 1 || count > ONNX_RANK_LIMIT)
    return op_refuse(n, "a shape of %lld axes is not one", (long long)count);
  out->rank = (uint32_t)count;
  for (uint32_t i = 0; i < out->rank; i++)
    out->dim[i] = v->known ? v->known[i] : dim_of(list.at[i]);
  return true;
}

bool op_axis(ImpNode *n, int64_t axis, uint32_t rank, uint32_t *out) {
  int64_t at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank)
    return op_refuse(n, "axis %lld is not one of %u", (long long)axis, rank);
  *out = (uint32_t)at;
  return true;
}

bool op_scalar(ImpNode *n, uint32_t k, double *out) {
  if (!op_known(n, k)) return false;
  ImpValue *v = op_value(n, k);
  if (shape_count(&v->shape) != 1) return op_refuse(n, "input %u is not one number", k + 1);
  *out = v->data[0];
  return true;
}

bool op_fixed_axis(ImpNode *n, uint32_t k, uint32_t axis) {
  const char *size = op_value(n, k)->shape.dim[axis].text;
  if (!size) return true;
  op_refuse(n, "axis %u of input %u has size %s, and a number is wanted there", axis, k + 1, size);
  return op_wants_sizes(n);
}

bool op_fixed(ImpNode *n, uint32_t k) {
  for (uint32_t i = 0; i < op_value(n, k)->shape.rank; i++)
    if (!op_fixed_axis(n, k, i)) return false;
  return true;
}

// -- broadcasting ---------------------------------------------------------------------------------
bool broadcast_shape(ImpNode *n, const Id *in, uint32_t count, ImpShape *out) {
  *out = (ImpShape){0};
  for (uint32_t i = 0; i < count; i++) {
    const ImpShape *s = &value_at(n->m, in[i])->shape;
    ImpShape wide = s->rank > out->rank ? *s : *out, thin = s->rank > out->rank ? *out : *s;
    uint32_t front = wide.rank - thin.rank;
    for (uint32_t k = 0; k < thin.rank; k++) {
      ImpSize a = wide.dim[front + k], b = thin.dim[k];
      if (!dim_same(a, b) && !dim_is(a, 1) && !dim_is(b, 1)) return op_misfit(n, a, b);
      if (dim_is(a, 1)) wide.dim[front + k] = b;
    }
    *out = wide;
  }
  return true;
}
