// Norms over samples, places and groups of channels; and dropout, which does nothing to a model that is used.
#include "port/import/own.h"

// "i j k l" of x: samples, channels, places.
bool op_batchnorm(ImpNode *n) {
  Importer *m = n->m;
  float keep = attr_float(n, "momentum", 0.9F);
  ImpShape x = op_value(n, 0)->shape;
  OnnxType type = op_value(n, 0)->type;
  if (x.rank < 2) return op_refuse(n, "it wants samples and channels");
  const char *all = letters(m, x.rank), *eps = short_term(m, attr_float(n, "epsilon", 1e-5F));
  Id mean = n->in[3], var = n->in[4];
  if (attr_int(n, "training_mode", 0)) {
    ImpShape c = {1, {x.dim[1]}};
    const char *in[ONNX_RANK_LIMIT], *gone[ONNX_RANK_LIMIT];
    for (uint32_t i = 0, k = 0; i < x.rank; i++) {
      in[i] = i == 1 ? "j" : imp_letter[ONNX_RANK_LIMIT + i];
      if (i != 1) gone[k++] = in[i];
    }
    const char *at = words(m, x.rank, in), *list = words(m, x.rank - 1, gone);
    mean = say(n, type, &c, (ImpForm){"j", arena_format(m->arena, "mean[%s]($0)", list), NULL},
               READS({n->in[0], at}));
    var = say(n, type, &c,
              (ImpForm){"j", arena_format(m->arena, "mean[%s](($0 - $1) * ($0 - $1))", list), NULL},
              READS({n->in[0], at}, {mean, "j"}));
    const char *k = short_term(m, keep);
    ImpForm mix = {"j", arena_format(m->arena, "%s * $0 + (1 - %s) * $1", k, k), NULL};
    op_give(n, 1, say(n, type, &c, mix, READS({n->in[3], "j"}, {mean, "j"})));
    op_give(n, 2, say(n, type, &c, mix, READS({n->in[4], "j"}, {var, "j"})));
  }
  ImpForm form = {all, arena_format(m->arena, "($0 - $3) / sqrt($4 + %s) * $1 + $2", eps), NULL};
  op_give(n, 0,
          say(n, type, &x, form,
              READS({n->in[0], all}, {n->in[1], "j"}, {n->in[2], "j"}, {mean, "j"}, {var, "j"})));
  return true;
}

// Over all axes from `first` on, each with its mean and variance; scale and shift are read at their own indices.
static Id say_norm(ImpNode *n, Id v, uint32_t first, const char *eps) {
  Importer *m = n->m;
  ImpShape x = value_at(m, v)->shape, front = x;
  OnnxType type = value_at(m, v)->type;
  const char *in[ONNX_RANK_LIMIT];
  front.rank = first;
  for (uint32_t i = 0; i < x.rank; i++)
    in[i] = i < first ? imp_letter[i] : imp_letter[ONNX_RANK_LIMIT + i];
  const char *at = words(m, x.rank, in), *gone = words(m, x.rank - first, in + first),
             *left = letters(m, first);
  const char *all = letters(m, x.rank);
  Id mean =
      say(n, type, &front, (ImpForm){left, arena_format(m->arena, "mean[%s]($0)", gone), NULL},
          READS({v, at}));
  Id var =
      say(n, type, &front,
          (ImpForm){left, arena_format(m->arena, "mean[%s](($0 - $1) * ($0 - $1))", gone), NULL},
          READS({v, at}, {mean, left}));
  ImpForm form = {all, arena_format(m->arena, "($0 - $1) / sqrt($2 + %s)", eps), NULL};
  return say(n, type, &x, form, READS({v, all}, {mean, left}, {var, left}));
}

static void give_scaled(ImpNode *n, Id v) {
  Importer *m = n->m;
  ImpShape x = value_at(m, v)->shape;
  const char *all = letters(m, x.rank);
  ImpForm form = {.left = all, .right = "$0 * $1 + $2"};
  op_give(
      n, 0,
      say(n, value_at(m, v)->type, &x, form, READS({v, all}, {n->in[1], "j"}, {n->in[2], "j"})));
}

bool op_instancenorm(ImpNode *n) {
  if (op_value(n, 0)->shape.rank < 3)
    return op_refuse(n, "it wants samples, channels and at least one axis more");
  give_scaled(n, say_norm(n, n->in[0], 2, short_term(n->m, attr_float(n, "epsilon", 1e-5F))));
  return true;
}

// Before version 21 scale and shift are of groups, afterwards of channels.
bool op_groupnorm(ImpNode *n) {
  Importer *m = n->m;
  int64_t groups = attr_int(n, "num_groups", 0);
  ImpShape x = op_value(n, 0)->shape, parted = x;
  if (x.rank < 2 || x.rank == ONNX_RANK_LIMIT || groups < 1)
    return op_refuse(n, "it wants samples, channels and groups");
  parted.rank = x.rank + 1;
  parted.dim[1] = dim_of(groups);
  parted.dim[2] = dim_op(m, '/', x.dim[1], dim_of(groups));
  for (uint32_t i = 2; i < x.rank; i++) parted.dim[i + 1] = x.dim[i];
  Id v = say_reshaped(n, n->in[0], &parted);
  if (!v) return false;
  v = say_norm(n, v, 2, short_term(m, attr_float(n, "epsilon", 1e-5F)));
  bool of_groups = n->version < 21;
  if (of_groups) {
    const char *all = letters(m, parted.rank);
    ImpForm form = {.left = all, .right = "$0 * $1 + $2"};
    v = say(n, value_at(m, v)->type, &parted, form,
            READS({v, all}, {n->in[1], "j"}, {n->in[2], "j"}));
  }
  v = say_reshaped(n, v, &x);
  if (v && of_groups) op_give(n, 0, v);
  if (v && !of_groups) give_scaled(n, v);
  return v;
}

// By the sum of squares of channels nearby.
bool op_lrn(ImpNode *n) {
  Importer *m = n->m;
  int64_t size = attr_int(n, "size", 1);
  ImpShape x = op_value(n, 0)->shape;
  if (x.rank < 2 || size < 1 || size > 1 << 20)
    return op_refuse(n, "it wants channels, and a size");
  const char *all = letters(m, x.rank), *in[ONNX_RANK_LIMIT], *p = imp_letter[ONNX_RANK_LIMIT];
  for (uint32_t i = 0; i < x.rank; i++) in[i] = imp_letter[i];
  in[1] = arena_format(m->arena, "j+%s-%lld", p, (long long)(size - 1) / 2);
  const char *sum = arena_format(m->arena, "sum[%s:%lld]($0 * $0)", p, (long long)size);
  Id near = say(n, op_value(n, 0)->type, &x, (ImpForm){all, sum, "0"},
                READS({n->in[0], words(m, x.rank, in)}));
  const char *right = arena_format(m->arena, "$0 / (%s + %s / %lld * $1)^%s",
                                   short_term(m, attr_float(n, "bias", 1)),
                                   short_term(m, attr_float(n, "alpha", 1e-4F)), (long long)size,
                                   short_term(m, attr_float(n, "beta", 0.75F)));
  op_give(n, 0,
          say(n, op_value(n, 0)->type, &x, (ImpForm){.left = all, .right = right},
              READS({n->in[0], all}, {near, all})));
  return true;
}

// -- dropout -------------------------------------------------------------------------------------
bool op_dropout(ImpNode *n) {
  Importer *m = n->m;
  double ratio = 0.5, training = 0;
  if (op_in(n, 1) && !op_scalar(n, 1, &ratio)) return false;
  if (op_in(n, 2) && !op_scalar(n, 2, &training)) return false;
  if (training != 0 && ratio != 0)
    return op_refuse(n, "it draws numbers as in training, and no two systems draw the same");
  ImpShape x = op_value(n, 0)->shape;
  op_give(n, 0, n->in[0]);
  if (n->node->out.n > 1)
    op_give(
        n, 1,
        say(n, ONNX_BOOL, &x, (ImpForm){.left = letters(m, x.rank), .right = "bit(1)"}, NULL, 0));
  return true;
}
