// Optimiser steps, and the operators of ai.onnx.ml that are arithmetic.
#include "port/import/own.h"

// Inputs are the rate, the step, and lists of one length: values, gradients, states. The row's
// equations are those of one value; results are the values, then the states.
bool op_optimiser(ImpNode *n) {
  Id in[6];
  Named named = {0};
  uint32_t lists = 3 + (strstr(n->row->right, "y2[") != NULL), k = (n->nin - 2) / lists;
  for (uint32_t i = 0; i < 2; i++)
    in[i] = op_value(n, i)->shape.rank ? equation(n, IN(n->in[i]), "[] = $0[0]") : n->in[i];
  for (uint32_t i = 0; i < k; i++) {
    Id result[3] = {0};
    for (uint32_t l = 0; l < lists; l++) in[2 + l] = n->in[2 + l * k + i];
    if (!row_equations(n, value_at(n->m, in[2])->type, in, &named, result)) return false;
    for (uint32_t l = 0; l + 1 < lists; l++) op_set_result(n, l * k + i, result[l]);
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
