// Steps of optimisers, and the few operators of ai.onnx.ml that are arithmetic.
#include "port/import/own.h"

// r = rate / (1 + count * decay)
static Id say_rate(ImpNode *n, const char *decay) {
  ImpShape none = {0};
  const char *right =
      arena_format(n->m->arena, "$0 / (1 + $1 * %s)", short_term(n->m, attr_float(n, decay, 0)));
  const char *a = op_value(n, 0)->shape.rank ? "0" : "", *b = op_value(n, 1)->shape.rank ? "0" : "";
  return say(n, ONNX_FLOAT, &none, (ImpForm){.right = right}, READS({n->in[0], a}, {n->in[1], b}));
}

static Id say_each(ImpNode *n, const char *right, const Id *in, uint32_t count) {
  Importer *m = n->m;
  ImpShape x = value_at(m, in[0])->shape;
  ImpRead *read = NEW_ARRAY(m->arena, ImpRead, count);
  const char *all = letters(m, x.rank);
  for (uint32_t i = 0; i < count; i++) {
    const ImpShape *s = &value_at(m, in[i])->shape;
    read[i] = (ImpRead){in[i], s->rank == x.rank && shape_count(s) == shape_count(&x) ? all
                               : s->rank                                              ? "0"
                                                                                      : ""};
  }
  return say(n, value_at(m, in[0])->type, &x, (ImpForm){.left = all, .right = right}, read, count);
}

bool op_adagrad(ImpNode *n) {
  Importer *m = n->m;
  uint32_t k = (n->nin - 2) / 3;
  const char *norm = short_term(m, attr_float(n, "norm_coefficient", 0)),
             *eps = short_term(m, attr_float(n, "epsilon", 1e-6F));
  Id rate = say_rate(n, "decay_factor");
  for (uint32_t i = 0; i < k; i++) {
    Id x = n->in[2 + i], g = n->in[2 + k + i], h = n->in[2 + 2 * k + i];
    g = say_each(n, arena_format(m->arena, "%s * $0 + $1", norm), (Id[]){x, g}, 2);
    h = say_each(n, "$0 + $1 * $1", (Id[]){h, g}, 2);
    op_give(n, i,
            say_each(n, arena_format(m->arena, "$0 - $1 * $2 / (sqrt($3) + %s)", eps),
                     (Id[]){x, rate, g, h}, 4));
    op_give(n, k + i, h);
  }
  return true;
}

bool op_adam(ImpNode *n) {
  Importer *m = n->m;
  uint32_t k = (n->nin - 2) / 4;
  const char *norm = short_term(m, attr_float(n, "norm_coefficient", 0)),
             *eps = short_term(m, attr_float(n, "epsilon", 1e-6F));
  const char *after = short_term(m, attr_float(n, "norm_coefficient_post", 0));
  const char *a = short_term(m, attr_float(n, "alpha", 0.9F)),
             *b = short_term(m, attr_float(n, "beta", 0.999F));
  ImpShape none = {0};
  const char *right =
      arena_format(m->arena, "$0 * (sqrt(1 - %s^$1) / (1 - %s^$1) when $1 > 0 else 1)", b, a);
  Id rate = say(n, ONNX_FLOAT, &none, (ImpForm){.right = right},
                READS({n->in[0], op_value(n, 0)->shape.rank ? "0" : ""},
                      {n->in[1], op_value(n, 1)->shape.rank ? "0" : ""}));
  for (uint32_t i = 0; i < k; i++) {
    Id x = n->in[2 + i], g = n->in[2 + k + i], v = n->in[2 + 2 * k + i], h = n->in[2 + 3 * k + i];
    g = say_each(n, arena_format(m->arena, "%s * $0 + $1", norm), (Id[]){x, g}, 2);
    v = say_each(n, arena_format(m->arena, "%s * $0 + (1 - %s) * $1", a, a), (Id[]){v, g}, 2);
    h = say_each(n, arena_format(m->arena, "%s * $0 + (1 - %s) * $1 * $1", b, b), (Id[]){h, g}, 2);
    right = arena_format(m->arena, "(1 - %s) * ($0 - $1 * $2 / (sqrt($3) + %s))", after, eps);
    op_give(n, i, say_each(n, right, (Id[]){x, rate, v, h}, 4));
    op_give(n, k + i, v);
    op_give(n, 2 * k + i, h);
  }
  return true;
}

// In the first step the gradient counts whole.
bool op_momentum(ImpNode *n) {
  Importer *m = n->m;
  uint32_t k = (n->nin - 2) / 3;
  bool nesterov = !strcmp(attr_text(n, "mode", "standard"), "nesterov");
  const char *norm = short_term(m, attr_float(n, "norm_coefficient", 0));
  const char *a = short_term(m, attr_float(n, "alpha", 0)),
             *b = short_term(m, attr_float(n, "beta", 0));
  for (uint32_t i = 0; i < k; i++) {
    Id x = n->in[2 + i], g = n->in[2 + k + i], v = n->in[2 + 2 * k + i];
    g = say_each(n, arena_format(m->arena, "%s * $0 + $1", norm), (Id[]){x, g}, 2);
    v = say_each(n, arena_format(m->arena, "%s * $0 + $1 * (%s when $2 > 0 else 1)", a, b),
                 (Id[]){v, g, n->in[1]}, 3);
    const char *right =
        nesterov ? arena_format(m->arena, "$0 - $1 * ($2 + %s * $3)", a) : "$0 - $1 * $3";
    op_give(n, i, say_each(n, right, (Id[]){x, n->in[0], g, v}, 4));
    op_give(n, k + i, v);
  }
  return true;
}

// -- ai.onnx.ml ----------------------------------------------------------------------------------
bool op_binarizer(ImpNode *n) {
  const char *right =
      arena_format(n->m->arena, "number($0 > %s)", short_term(n->m, attr_float(n, "threshold", 0)));
  op_give(n, 0, say_each(n, right, n->in, 1));
  return true;
}

// The last axis at a list of places.
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
  Id v = say_taken(n, n->in[0], x.rank - 1, place, count);
  ImpShape row = {2, {dim_of(1), dim_of(count)}};
  if (x.rank == 1) v = say_reshaped(n, v, &row);
  if (v) op_give(n, 0, v);
  return v;
}
