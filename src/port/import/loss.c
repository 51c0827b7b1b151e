// Losses: minus the logarithm of what was given to the right class.
#include "port/import/own.h"

// x: [i j k …] log-probabilities, j the class; t: [i k …]. Weights of classes, a class that is not counted, and a way to reduce.
static bool give_nll(ImpNode *n, Id x, Id t, Id weight) {
  Importer *m = n->m;
  const char *how = attr_text(n, "reduction", "mean");
  const OnnxAttribute *ignore = onnx_attribute(n->node, "ignore_index");
  ImpShape xs = value_at(m, x)->shape, ts = value_at(m, t)->shape, none = {0};
  OnnxType type = value_at(m, x)->type;
  const char *at[ONNX_RANK_LIMIT], *c = imp_letter[ONNX_RANK_LIMIT];
  if (xs.rank < 2 || ts.rank + 1 != xs.rank)
    return op_refuse(n, "its targets have %u axes, its input %u", ts.rank, xs.rank);
  for (uint32_t i = 0; i < ts.rank; i++) at[i < 1 ? 0 : i + 1] = imp_letter[i];
  at[1] = c;
  const char *all = letters(m, ts.rank), *in = words(m, xs.rank, at);
  const char *counts =
      ignore ? arena_format(m->arena, "number($0 != %s)", number_term(m, (double)ignore->i)) : NULL;
  const char *weighs =
      !weight  ? counts
      : counts ? arena_format(m->arena, "%s * sum[%s](($1 when (%s = $0) else 0))", counts, c, c)
               : arena_format(m->arena, "sum[%s](($1 when (%s = $0) else 0))", c, c);
  Id w = 0;
  if (weighs)
    w = say(n, type, &ts, (ImpForm){.left = all, .right = weighs},
            READS({t, all}, {weight ? weight : t, weight ? c : all}));
  ImpForm form = {all,
                  arena_format(m->arena,
                               w ? "0 - $2 * sum[%s](($0 when (%s = $1) else 0))"
                                 : "0 - sum[%s](($0 when (%s = $1) else 0))",
                               c, c),
                  NULL};
  Id loss = say(n, type, &ts, form, READS({x, in}, {t, all}, {w ? w : t, all}));
  if (!strcmp(how, "none")) return op_give(n, 0, loss), true;
  bool mean = !strcmp(how, "mean");
  const char *right = !mean ? arena_format(m->arena, "sum[%s]($0)", all)
                      : w   ? arena_format(m->arena, "sum[%s]($0) / sum[%s]($1)", all, all)
                            : arena_format(m->arena, "mean[%s]($0)", all);
  op_give(n, 0,
          say(n, type, &none, (ImpForm){.right = right}, READS({loss, all}, {w ? w : loss, all})));
  return true;
}

bool op_nllloss(ImpNode *n) { return give_nll(n, n->in[0], n->in[1], op_in(n, 2)); }

bool op_crossentropy(ImpNode *n) {
  ImpShape x = op_value(n, 0)->shape;
  const char *all = letters(n->m, x.rank);
  Id y = say(n, op_value(n, 0)->type, &x, (ImpForm){.right = "log_softmax[j]($0)"},
             READS({n->in[0], all}));
  op_give(n, 1, y);
  return give_nll(n, y, n->in[1], op_in(n, 2));
}
