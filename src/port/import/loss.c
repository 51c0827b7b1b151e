// Losses: the negative logarithm of the probability of the target class.
#include "port/import/own.h"

// x: [i j k …] log-probabilities with classes j; t: [i k …]. Optional: class weights, an ignored
// class, a reduction.
static bool set_nll_result(ImpNode *n, Id x, Id t, Id weight) {
  Importer *m = n->m;
  const char *how = attr_text(n, "reduction", "mean");
  const OnnxAttribute *ignore = onnx_attribute(n->node, "ignore_index");
  uint32_t rank = value_at(m, x)->shape.rank, targets = value_at(m, t)->shape.rank;
  OnnxType type = value_at(m, x)->type;
  if (rank < 2 || targets + 1 != rank)
    return op_refuse(n, "its targets have %u axes, its input %u", targets, rank);
  const char *counts =
      ignore ? arena_format(m->arena, "number($0 != %s)", number_term(m, (double)ignore->i)) : "";
  Id w = !weight && !ignore ? 0
                            : add_equation(n, type, IN(t, weight), "[*] = %s%s%s", counts,
                                           weight && ignore ? " * " : "",
                                           weight ? "sum[i1](($1[i1] when (i1 = $0) else 0))" : "");
  Id loss = equation(n, IN(x, t, w),
                     w ? "[i &] = 0 - $2[i &] * sum[i1](($0[i i1 &] when (i1 = $1[i &]) else 0))"
                       : "[i &] = 0 - sum[i1](($0[i i1 &] when (i1 = $1[i &]) else 0))");
  if (!strcmp(how, "none")) return op_set_result(n, 0, loss);
  return op_set_result(n, 0,
                       equation(n, IN(loss, w),
                                strcmp(how, "mean") != 0 ? "[] = sum[*]($0)"
                                : w                      ? "[] = sum[*]($0) / sum[*]($1)"
                                                         : "[] = mean[*]($0)"));
}

bool op_nllloss(ImpNode *n) { return set_nll_result(n, n->in[0], n->in[1], op_in(n, 2)); }

bool op_crossentropy(ImpNode *n) {
  Id y = equation(n, n->in, "log_softmax[j]($0)");
  op_set_result(n, 1, y);
  return y && set_nll_result(n, y, n->in[1], op_in(n, 2));
}
