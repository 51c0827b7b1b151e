// Batch, instance, group and local response normalisation; and dropout, which is the identity in
// use.
#include "port/import/own.h"

// i batch, j channels, & positions.
bool op_batchnorm(ImpNode *n) {
  OnnxType type = op_value(n, 0)->type;
  const char *keep = short_term(n->m, attr_float(n, "momentum", 0.9F));
  Id x = n->in[0], mean = n->in[3], var = n->in[4];
  if (op_value(n, 0)->shape.rank < 2) return op_refuse(n, "it wants samples and channels");
  if (attr_int(n, "training_mode", 0)) {
    mean = equation(n, IN(x), "[j] = mean[i &]($0[i j &])");
    var = equation(n, IN(x, mean), "[j] = mean[i &](($0[i j &] - $1[j]) * ($0[i j &] - $1[j]))");
    const char *mix = "[*] = %s * $0 + (1 - %s) * $1";
    op_set_result(n, 1, add_equation(n, type, IN(n->in[3], mean), mix, keep, keep));
    op_set_result(n, 2, add_equation(n, type, IN(n->in[4], var), mix, keep, keep));
  }
  return op_set_result(n, 0,
                       equation(n, IN(x, n->in[1], n->in[2], mean, var),
                                "[i j &] = ($0[i j &] - $3[j]) / sqrt($4[j] + %s) * $1[j] + $2[j]",
                                short_term(n->m, attr_float(n, "epsilon", 1e-5F))));
}

// Normalises over all axes after the first two.
static Id add_normalisation(ImpNode *n, Id v) {
  Id mean = equation(n, IN(v), "[i j] = mean[&]($0[i j &])");
  Id var =
      equation(n, IN(v, mean), "[i j] = mean[&](($0[i j &] - $1[i j]) * ($0[i j &] - $1[i j]))");
  return equation(n, IN(v, mean, var), "[i j &] = ($0[i j &] - $1[i j]) / sqrt($2[i j] + %s)",
                  short_term(n->m, attr_float(n, "epsilon", 1e-5F)));
}

static Id add_scale_and_shift(ImpNode *n, Id v) {
  return equation(n, IN(v, n->in[1], n->in[2]), "[i j &] = $0[i j &] * $1[j] + $2[j]");
}

bool op_instancenorm(ImpNode *n) {
  if (op_value(n, 0)->shape.rank < 3)
    return op_refuse(n, "it wants samples, channels and at least one axis more");
  return op_set_result(n, 0, add_scale_and_shift(n, add_normalisation(n, n->in[0])));
}

// Before version 21, scale and shift are per group; later per channel.
bool op_groupnorm(ImpNode *n) {
  int64_t groups = attr_int(n, "num_groups", 0);
  ImpShape x = op_value(n, 0)->shape, parted = x;
  if (x.rank < 2 || x.rank == ONNX_RANK_LIMIT || groups < 1)
    return op_refuse(n, "it wants samples, channels and groups");
  parted.rank = x.rank + 1;
  parted.dim[1] = dim_of(groups);
  parted.dim[2] = dim_op(n->m, '/', x.dim[1], dim_of(groups));
  for (uint32_t i = 2; i < x.rank; i++) parted.dim[i + 1] = x.dim[i];
  Id v = add_reshape(n, n->in[0], &parted);
  bool of_groups = n->version < 21;
  if (v) v = add_normalisation(n, v);
  if (v && of_groups) v = add_scale_and_shift(n, v);
  if (v) v = add_reshape(n, v, &x);
  return op_set_result(n, 0, v && !of_groups ? add_scale_and_shift(n, v) : v);
}

// Divides by the sum of squares of nearby channels.
bool op_lrn(ImpNode *n) {
  Importer *m = n->m;
  int64_t size = attr_int(n, "size", 1);
  ImpShape x = op_value(n, 0)->shape;
  if (x.rank < 2 || size < 1 || size > 1 << 20)
    return op_refuse(n, "it wants channels, and a size");
  Id near = equation(
      n, n->in, "[i j:%s &] = sum[p:%lld]($0[i j+p-%lld &] * $0[i j+p-%lld &]) pad 0",
      dim_text(m, x.dim[1]), (long long)size, (long long)(size - 1) / 2, (long long)(size - 1) / 2);
  return op_set_result(n, 0,
                       equation(n, IN(n->in[0], near), "[*] = $0 / (%s + %s / %lld * $1)^%s",
                                short_term(m, attr_float(n, "bias", 1)),
                                short_term(m, attr_float(n, "alpha", 1e-4F)), (long long)size,
                                short_term(m, attr_float(n, "beta", 0.75F))));
}

// -- dropout --------------------------------------------------------------------------------------
bool op_dropout(ImpNode *n) {
  Importer *m = n->m;
  double ratio = 0.5, training = 0;
  if (op_in(n, 1) && !op_scalar(n, 1, &ratio)) return false;
  if (op_in(n, 2) && !op_scalar(n, 2, &training)) return false;
  if (training != 0 && ratio != 0)
    return op_refuse(n, "it draws numbers as in training, and no two systems draw the same");
  ImpShape x = op_value(n, 0)->shape;
  op_set_result(n, 0, n->in[0]);
  if (n->node->out.n > 1)
    op_set_result(n, 1,
                  add_line(n, ONNX_BOOL, &x,
                           (ImpForm){.left = index_letters(m, x.rank), .right = "bit(1)"}, NULL,
                           0));
  return true;
}
