// Optimiser steps, and the operators of ai.onnx.ml that are arithmetic.
#include "port/import/own.h"

// A number with or without an axis.
static const char *one_number(const ImpNode *n, uint32_t k) {
  return op_value(n, k)->shape.rank ? "[0]" : "";
}

bool op_adagrad(ImpNode *n) {
  Importer *m = n->m;
  uint32_t k = (n->nin - 2) / 3;
  const char *norm = short_term(m, attr_float(n, "norm_coefficient", 0)),
             *eps = short_term(m, attr_float(n, "epsilon", 1e-6F));
  Id rate = add_equation(n, ONNX_FLOAT, n->in, "[] = $0%s / (1 + $1%s * %s)", one_number(n, 0),
                         one_number(n, 1), short_term(m, attr_float(n, "decay_factor", 0)));
  for (uint32_t i = 0; i < k; i++) {
    Id x = n->in[2 + i], g = n->in[2 + k + i], h = n->in[2 + 2 * k + i];
    g = equation(n, IN(x, g), "[*] = %s * $0 + $1", norm);
    h = equation(n, IN(h, g), "[*] = $0 + $1 * $1");
    op_set_result(n, i,
                  equation(n, IN(x, rate, g, h), "[*] = $0 - $1 * $2 / (sqrt($3) + %s)", eps));
    op_set_result(n, k + i, h);
  }
  return true;
}

bool op_adam(ImpNode *n) {
  Importer *m = n->m;
  uint32_t k = (n->nin - 2) / 4;
  const char *norm = short_term(m, attr_float(n, "norm_coefficient", 0)),
             *eps = short_term(m, attr_float(n, "epsilon", 1e-6F)),
             *after = short_term(m, attr_float(n, "norm_coefficient_post", 0)),
             *a = short_term(m, attr_float(n, "alpha", 0.9F)),
             *b = short_term(m, attr_float(n, "beta", 0.999F));
  const char *t = one_number(n, 1);
  Id rate = add_equation(n, ONNX_FLOAT, n->in,
                         "[] = $0%s * (sqrt(1 - %s^$1%s) / (1 - %s^$1%s) when $1%s > 0 else 1)",
                         one_number(n, 0), b, t, a, t, t);
  for (uint32_t i = 0; i < k; i++) {
    Id x = n->in[2 + i], g = n->in[2 + k + i], v = n->in[2 + 2 * k + i], h = n->in[2 + 3 * k + i];
    g = equation(n, IN(x, g), "[*] = %s * $0 + $1", norm);
    v = equation(n, IN(v, g), "[*] = %s * $0 + (1 - %s) * $1", a, a);
    h = equation(n, IN(h, g), "[*] = %s * $0 + (1 - %s) * $1 * $1", b, b);
    op_set_result(n, i,
                  equation(n, IN(x, rate, v, h),
                           "[*] = (1 - %s) * ($0 - $1 * $2 / (sqrt($3) + %s))", after, eps));
    op_set_result(n, k + i, v);
    op_set_result(n, 2 * k + i, h);
  }
  return true;
}

// In the first step the gradient is not dampened.
bool op_momentum(ImpNode *n) {
  Importer *m = n->m;
  uint32_t k = (n->nin - 2) / 3;
  bool nesterov = !strcmp(attr_text(n, "mode", "standard"), "nesterov");
  const char *norm = short_term(m, attr_float(n, "norm_coefficient", 0)),
             *a = short_term(m, attr_float(n, "alpha", 0)),
             *b = short_term(m, attr_float(n, "beta", 0));
  const char *rate = one_number(n, 0), *t = one_number(n, 1);
  for (uint32_t i = 0; i < k; i++) {
    Id x = n->in[2 + i], g = n->in[2 + k + i], v = n->in[2 + 2 * k + i];
    g = equation(n, IN(x, g), "[*] = %s * $0 + $1", norm);
    v = equation(n, IN(v, g, n->in[1]), "[*] = %s * $0 + $1 * (%s when $2%s > 0 else 1)", a, b, t);
    op_set_result(
        n, i,
        nesterov ? equation(n, IN(x, n->in[0], g, v), "[*] = $0 - $1%s * ($2 + %s * $3)", rate, a)
                 : equation(n, IN(x, n->in[0], g, v), "[*] = $0 - $1%s * $3", rate));
    op_set_result(n, k + i, v);
  }
  return true;
}

// -- ai.onnx.ml -----------------------------------------------------------------------------------
// Gathers positions of the last axis.
bool op_arrayfeatureextractor(ImpNode *n) {
  if (!op_known(n, 1)) return false;
  ImpShape x = op_value(n, 0)->shape;
  const ImpValue *at = op_value(n, 1);
  int64_t count = shape_count(&at->shape), *place = NEW_ARRAY(n->m->arena, int64_t, count + 1);
  if (!x.rank || x.dim[x.rank - 1].text)
    return op_refuse(n, "it wants a last axis whose size is a number");
  for (int64_t i = 0; i < count; i++) {
    place[i] = whole_of(at->data[i]);
    if (place[i] < 0 || place[i] >= x.dim[x.rank - 1].n)
      return op_refuse(n, "an index is outside of its axis");
  }
  Id v = add_gather(n, n->in[0], x.rank - 1, place, count);
  ImpShape row = {2, {dim_of(1), dim_of(count)}};
  if (x.rank == 1) v = add_reshape(n, v, &row);
  return op_set_result(n, 0, v);
}
