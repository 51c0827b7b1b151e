// What works at each place: a template with broadcasting, and those that have attributes.
#include "port/import/own.h"

#include <math.h>

// -- templates -----------------------------------------------------------------------------------
// Whole numbers of up to 32 bits wrap around. Those of 64 are exact up to 2^53, and nothing wraps below that.
const char *wrapped(Importer *m, OnnxType type, const char *right) {
  const OnnxTypeInfo *t = &onnx_type_info[type];
  if (!is_whole(type) || t->bits > 32) return right;
  long long range = 1LL << t->bits;
  if (t->kind == 'u') return arena_format(m->arena, "mod(%s, %lld)", right, range);
  return arena_format(m->arena, "wrap[%lld](%s)", range / 2, right);
}

// The template with all inputs, broadcast.
static bool map(ImpNode *n, OnnxType type, const char *right) {
  ImpShape shape;
  ImpRead *read = NEW_ARRAY(n->m->arena, ImpRead, n->nin + 1);
  if (!broadcast(n, n->in, n->nin, &shape)) return false;
  for (uint32_t i = 0; i < n->nin; i++)
    read[i] = (ImpRead){n->in[i], letters_of(n->m, n->in[i], &shape)};
  ImpForm form = {.left = letters(n->m, shape.rank), .right = right};
  op_give(n, 0, say(n, type, &shape, form, read, n->nin));
  return true;
}

bool op_map(ImpNode *n) {
  OnnxType type = op_value(n, 0)->type;
  const char *right = is_whole(type) && n->row->whole ? n->row->whole : n->row->right;
  if (n->row->result == IMP_WRAP) right = wrapped(n->m, type, right);
  return map(n,
             n->row->result == IMP_BOOL  ? ONNX_BOOL
             : n->row->result == IMP_INT ? ONNX_INT64
                                         : type,
             right);
}

// -- with attributes -----------------------------------------------------------------------------
// {a} and {b} of a template are attributes: their names, what they are otherwise, and the template.
static const struct {
  const char *op, *a, *b;
  float a0, b0;
  const char *right;
} activations[] = {
    {"Celu", "alpha", "", 1, 0, "max($0, 0) + min(0, {a} * expm1(min($0, 0) / {a}))"},
    {"Elu", "alpha", "", 1, 0, "elu[{a}]($0)"},
    {"HardSigmoid", "alpha", "beta", 0.2F, 0.5F, "min(max({a} * $0 + {b}, 0), 1)"},
    {"LeakyRelu", "alpha", "", 0.01F, 0, "leaky_relu[{a}]($0)"},
    {"Selu", "alpha", "gamma", 1.67326319217681884765625F, 1.05070102214813232421875F,
     "{b} * ($0 when $0 > 0 else {a} * expm1(min($0, 0)))"},
    {"Shrink", "bias", "lambd", 0, 0.5F,
     "$0 + {a} when $0 < 0 - {b} else ($0 - {a} when $0 > {b} else 0)"},
    {"Swish", "alpha", "", 1, 0, "$0 * sigmoid({a} * $0)"},
    {"ThresholdedRelu", "alpha", "", 1, 0, "$0 when $0 > {a} else 0"},
};

static const char *filled(Importer *m, const char *right, float a, float b) {
  Buf out = buf_new(m->arena);
  for (const char *at = right; *at; at++) {
    bool hole = *at == '{' && at[1] && at[2] == '}';
    if (hole)
      buf_text(&out, short_term(m, at[1] == 'a' ? a : b)), at += 2;
    else
      buf_char(&out, *at);
  }
  return out.at;
}

bool op_activation(ImpNode *n) {
  uint32_t k = 0;
  while (strcmp(activations[k].op, n->node->op) != 0) k++;
  float a = attr_float(n, activations[k].a, activations[k].a0);
  float b = attr_float(n, activations[k].b, activations[k].b0);
  if (!strcmp(n->node->op, "Swish") && a == 1) return map(n, op_value(n, 0)->type, "silu($0)");
  return map(n, op_value(n, 0)->type, filled(n->m, activations[k].right, a, b));
}

bool op_gelu(ImpNode *n) {
  bool tanh = !strcmp(attr_text(n, "approximate", "none"), "tanh");
  return map(n, op_value(n, 0)->type, tanh ? "gelu_tanh($0)" : "gelu($0)");
}

// Weights that start all alike, as scales do at 1, are written once by exporters, and are not the same weight for that.
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
  op_give(n, 0, v);
  return true;
}

// A bound as text, where it is a number.
static const char *bound_text(Importer *m, Id v) {
  const ImpValue *x = value_at(m, v);
  if (!x->data || shape_count(&x->shape) != 1 || !isfinite(x->data[0])) return NULL;
  return x->type == ONNX_FLOAT ? short_term(m, (float)x->data[0]) : number_term(m, x->data[0]);
}

// Bounds are attributes before version 11, and inputs from then on; either may be missing.
bool op_clip(ImpNode *n) {
  Importer *m = n->m;
  const OnnxAttribute *low = onnx_attribute(n->node, "min"), *high = onnx_attribute(n->node, "max");
  ImpValue *x = op_value(n, 0);
  OnnxType type = x->type;
  Id least = low ? value_number(m, type, (double)low->f) : op_in(n, 1);
  Id most = high ? value_number(m, type, (double)high->f) : op_in(n, 2);
  if (!least && !most) return op_give(n, 0, n->in[0]), true;
  const char *from = least ? bound_text(m, least) : NULL, *to = most ? bound_text(m, most) : NULL;
  Id in[] = {n->in[0], least ? least : most, most};
  ImpNode same = *n;
  same.in = in;
  same.nin = from && to ? 1 : least && most ? 3 : 2;
  if (from && to) return map(&same, type, arena_format(m->arena, "clamp[%s, %s]($0)", from, to));
  return map(&same, type, !most ? "max($0, $1)" : !least ? "min($0, $1)" : "min(max($0, $1), $2)");
}

bool op_equal(ImpNode *n) {
  bool bits = op_value(n, 0)->type == ONNX_BOOL;
  return map(n, ONNX_BOOL, bits ? "(number($0) = number($1))" : "($0 = $1)");
}

bool op_xor(ImpNode *n) { return map(n, ONNX_BOOL, "$0 + $1"); }

bool op_isinf(ImpNode *n) {
  bool up = attr_int(n, "detect_positive", 1), down = attr_int(n, "detect_negative", 1);
  return map(n, ONNX_BOOL,
             up && down ? "(abs($0) = inf)"
             : up       ? "($0 = inf)"
             : down     ? "($0 = -inf)"
                        : "($0 < $0)");
}

// Sum, Mean, Max, Min of any number of inputs.
bool op_fan(ImpNode *n) {
  Importer *m = n->m;
  const char *op = n->node->op;
  bool larger = !strcmp(op, "Max"), smaller = !strcmp(op, "Min"), mean = !strcmp(op, "Mean");
  Buf b = buf_new(m->arena);
  if (n->nin == 1) return op_give(n, 0, n->in[0]), true;
  if (mean) buf_char(&b, '(');
  for (uint32_t i = 1; i < n->nin && (larger || smaller); i++)
    buf_text(&b, larger ? "max(" : "min(");
  for (uint32_t i = 0; i < n->nin; i++)
    buf_printf(&b, larger || smaller ? (i ? ", $%u)" : "$%u") : (i ? " + $%u" : "$%u"), i);
  if (mean) buf_printf(&b, ") / %u", n->nin);
  return map(n, op_value(n, 0)->type, b.at);
}

// fmod: the remainder has the sign of the first number; otherwise that of the second.
bool op_mod(ImpNode *n) {
  bool fmod = attr_int(n, "fmod", 0);
  return map(n, op_value(n, 0)->type, fmod ? "sign($0) * mod(abs($0), abs($1))" : "mod($0, $1)");
}

// The result has the type of the base: whole ones are cut, and wrap.
bool op_pow(ImpNode *n) {
  OnnxType type = op_value(n, 0)->type;
  const char *right = is_whole(type) ? wrapped(n->m, type, "truncate($0^$1)") : "$0^$1";
  return map(n, type, right);
}

// The slope is broadcast to the input, never the other way round.
bool op_prelu(ImpNode *n) { return map(n, op_value(n, 0)->type, "$0 when $0 >= 0 else $1 * $0"); }

bool op_where(ImpNode *n) { return map(n, op_value(n, 1)->type, "$1 when $0 else $2"); }
