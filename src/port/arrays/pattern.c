// Recognises operators that ONNX has and limn composes: activation functions, and normalisations
// that take several boxes. A pattern is the text of a scalar expression over variables a, b, … (any
// value) and k, l (any constant); sums and products match in both orders.
#include "core/diagram/ops.h"
#include "core/diagram/print.h"
#include "port/arrays/arrays.h"

bool scalar_number(const ArrayGraph *o, const Loop *loop, uint32_t at, double *k) {
  const Scalar *s = &loop->scalar[at];
  if (s->fn == FN_CONST) return *k = s->k, true;
  return s->fn == FN_SIZE && size_number(o->w, s->ref, k);
}

static bool bind_variable(uint32_t *to, uint32_t at) {
  if (*to) return *to == at + 1;
  *to = at + 1;
  return true;
}

static bool matches_scalar(const ArrayGraph *o, const Loop *loop, uint32_t at, const Loop *pattern,
                           uint32_t with, ScalarMatch *m) {
  const Scalar *s = &loop->scalar[at], *p = &pattern->scalar[with];
  double k;
  if (p->fn == FN_ARG && p->ref < PATTERN_VALUES) return bind_variable(&m->value[p->ref], at);
  if (p->fn == FN_ARG)
    return scalar_number(o, loop, at, &k) && bind_variable(&m->number[p->ref - PATTERN_VALUES], at);
  if (p->fn == FN_CONST) return scalar_number(o, loop, at, &k) && k == p->k;
  if (s->fn != p->fn) return false;
  uint32_t n = fn_rows[p->fn].arity, i = 0;
  ScalarMatch before = *m;
  while (i < n && matches_scalar(o, loop, s->arg[i], pattern, p->arg[i], m)) i++;
  if (i == n) return true;
  *m = before;
  return (p->fn == FN_add || p->fn == FN_mul) &&
         matches_scalar(o, loop, s->arg[1], pattern, p->arg[0], m) &&
         matches_scalar(o, loop, s->arg[0], pattern, p->arg[1], m);
}

bool matches_text(ArrayGraph *o, const Loop *loop, uint32_t at, const char *text, ScalarMatch *m) {
  static const char *const name[] = {"a", "b", "c", "d", "e", "k", "l"};
  Loop *pattern = NEW(o->a, Loop);
  uint32_t value[COUNT(name)], whole;
  for (uint32_t i = 0; i < COUNT(name); i++)
    value[i] = scalar_push(o->w, pattern, (Scalar){.fn = FN_ARG, .base = BASE_R, .ref = i});
  *m = (ScalarMatch){0};
  return scalar_read(o->w, pattern, text, name, value, COUNT(name), &whole) &&
         matches_scalar(o, loop, at, pattern, whole, m);
}

double match_number(const ArrayGraph *o, const Loop *loop, const ScalarMatch *m, uint32_t which) {
  double k = 0;
  if (m->number[which]) scalar_number(o, loop, m->number[which] - 1, &k);
  return k;
}

// -- functions ------------------------------------------------------------------------------------
#define BELOW_0 "expm1(select(a <= 0, a, 0))"
static const struct {
  Fn outer;
  const char *text, *op;
  const char *k, *l;     // attributes set to k and l
  const char *attribute; // a fixed attribute,
  const char *word;      // its text,
  double number[2];      // or its numbers (alpha and beta)
} functions[] = {
    {.outer = FN_mul, .text = "0.5*a*(1 + erf(a/1.4142135623730951))", .op = "Gelu"},
    {.outer = FN_mul,
     .op = "Gelu",
     .attribute = "approximate",
     .word = "tanh",
     .text = "0.5*a*(1 + tanh(0.7978845608028654*(a + 0.044715*a*a*a)))"},
    {.outer = FN_mul, .text = "a*tanh(softplus(a))", .op = "Mish"},
    {.outer = FN_mul,
     .text = "l*select(0 < a, a, k*" BELOW_0 ")",
     .op = "Selu",
     .k = "alpha",
     .l = "gamma"},
    {.outer = FN_select, .text = "select(0 < a, a, k*" BELOW_0 ")", .op = "Elu", .k = "alpha"},
    {.outer = FN_select, .text = "select(0 < a, a, " BELOW_0 ")", .op = "Elu"},
    {.outer = FN_select, .text = "select(0 < a, a, k*a)", .op = "LeakyRelu", .k = "alpha"},
    {.outer = FN_minimum,
     .text = "minimum(maximum(a/6 + 0.5, 0), 1)",
     .op = "HardSigmoid",
     .attribute = "alpha",
     .number = {1.0 / 6, 0.5}},
};

static Id clipped(LoopWork *l, uint32_t scalar, const Id *value) {
  ArrayGraph *o = l->o;
  ScalarMatch m;
  if (!matches_text(o, l->loop, scalar, "minimum(maximum(a, k), l)", &m)) return 0;
  Id in[] = {value[m.value[0] - 1], arrays_number(o, o->real, match_number(o, l->loop, &m, 0)),
             arrays_number(o, o->real, match_number(o, l->loop, &m, 1))};
  return arrays_each(o, "Clip", o->real, 3, in);
}

// Only for floats: few runtimes implement these for doubles.
Id body_operator(LoopWork *l, uint32_t scalar, const Id *value) {
  ArrayGraph *o = l->o;
  Fn fn = (Fn)l->loop->scalar[scalar].fn;
  if (o->real != OUT_FLOAT || (fn != FN_mul && fn != FN_select && fn != FN_minimum)) return 0;
  for (uint32_t i = 0; i < COUNT(functions); i++) {
    ScalarMatch m;
    if (functions[i].outer != fn || !matches_text(o, l->loop, scalar, functions[i].text, &m))
      continue;
    Id in = value[m.value[0] - 1];
    if (arrays_is_known(o, in)) return 0;
    Id made = arrays_each(o, functions[i].op, o->real, 1, &in);
    if (functions[i].k)
      arrays_attribute_real(o, made, functions[i].k, match_number(o, l->loop, &m, 0));
    if (functions[i].l)
      arrays_attribute_real(o, made, functions[i].l, match_number(o, l->loop, &m, 1));
    if (functions[i].word)
      arrays_attribute_text(o, made, functions[i].attribute, functions[i].word);
    else if (functions[i].attribute) {
      arrays_attribute_real(o, made, "alpha", functions[i].number[0]);
      arrays_attribute_real(o, made, "beta", functions[i].number[1]);
    }
    return made;
  }
  return fn == FN_minimum ? clipped(l, scalar, value) : 0;
}

// -- boxes ----------------------------------------------------------------------------------------
// The operand that a variable of a match is bound to; false: it is no operand.
bool match_operand(const Loop *loop, const ScalarMatch *m, uint32_t which, uint32_t *operand) {
  if (!m->value[which]) return false;
  const Scalar *s = &loop->scalar[m->value[which] - 1];
  *operand = s->ref;
  return s->fn == FN_ARG;
}

const Box *loop_maker(const Diagram *d, Id wire) {
  const Wire *w = &d->wire.at[wire];
  return w->box && w->port == 0 && d->box.at[w->box].op == OP_loop ? &d->box.at[w->box] : NULL;
}

// The index of each axis, if every coordinate is a single index and all differ.
uint32_t *plain_axes(ArrayGraph *o, const Loop *loop, const Access *a, const Type *t) {
  uint32_t *index = NEW_ARRAY(o->a, uint32_t, a->rank + 1);
  bool *taken = NEW_ARRAY(o->a, bool, loop->nindex + 1);
  for (uint32_t k = 0; k < a->rank; k++) {
    if (a->padded || !coord_is_plain(o->w, &a->coord[k], &index[k]) || taken[index[k]]) return NULL;
    if (loop->index[index[k]].size != t->axis[k].size) return NULL;
    taken[index[k]] = true;
  }
  return index;
}

static const Type *wire_type(const Diagram *d, Id wire) { return &d->wire.at[wire].type; }

// An elementwise loop over its output that reads operand `whole` at all indices, in order, and
// others at some of them; or NULL. Its body must match the pattern.
const Box *each_box(ArrayGraph *o, const Diagram *d, Id wire, const char *text, ScalarMatch *m) {
  const Box *b = loop_maker(d, wire);
  if (!b || b->loop->combine != SUM || b->nout != 1) return NULL;
  const Loop *loop = b->loop;
  uint32_t *out = plain_axes(o, loop, &loop->out, wire_type(d, b->out[0]));
  if (!out || loop->out.rank != loop->nindex) return NULL;
  return matches_text(o, loop, loop->nscalar - 1, text, m) ? b : NULL;
}

// Does an operand have all axes of the output, in order, possibly except `but`?
bool reads_in_order(ArrayGraph *o, const Diagram *d, const Box *b, uint32_t operand, uint32_t but) {
  const Loop *loop = b->loop;
  uint32_t *out = plain_axes(o, loop, &loop->out, wire_type(d, b->out[0])), n = 0;
  uint32_t *in = plain_axes(o, loop, &loop->in[operand], wire_type(d, b->in[operand]));
  if (!in || !out) return false;
  for (uint32_t k = 0; k < loop->out.rank; k++) {
    if (k == but) continue;
    if (n >= loop->in[operand].rank || in[n++] != out[k]) return false;
  }
  return n == loop->in[operand].rank;
}

// The only output axis that an operand has; UINT32_MAX: other access.
static uint32_t reads_one(ArrayGraph *o, const Diagram *d, const Box *b, uint32_t operand) {
  const Loop *loop = b->loop;
  uint32_t *out = plain_axes(o, loop, &loop->out, wire_type(d, b->out[0]));
  uint32_t *in = plain_axes(o, loop, &loop->in[operand], wire_type(d, b->in[operand]));
  if (!in || !out || loop->in[operand].rank != 1) return UINT32_MAX;
  for (uint32_t k = 0; k < loop->out.rank; k++)
    if (in[0] == out[k]) return k;
  return UINT32_MAX;
}

static bool reads_last(ArrayGraph *o, const Diagram *d, const Box *b, uint32_t operand) {
  return reads_one(o, d, b, operand) == b->loop->out.rank - 1;
}

// A sum over the last axis whose body matches `text` with one operand: that operand, or 0.
static Id summed_last(ArrayGraph *o, const Diagram *d, Id wire, Combine how, const char *text) {
  const Box *b = loop_maker(d, wire);
  ScalarMatch m;
  uint32_t operand;
  if (!b || b->loop->combine != how || b->nin != 1) return 0;
  const Loop *loop = b->loop;
  uint32_t *out = plain_axes(o, loop, &loop->out, wire_type(d, wire)),
           *in = plain_axes(o, loop, &loop->in[0], wire_type(d, b->in[0]));
  if (!in || !out || loop->in[0].rank != loop->nindex || loop->out.rank + 1 != loop->nindex)
    return 0;
  for (uint32_t k = 0; k < loop->out.rank; k++)
    if (in[k] != out[k]) return 0;
  return matches_text(o, loop, loop->nscalar - 1, text, &m) && match_operand(loop, &m, 0, &operand)
             ? b->in[0]
             : 0;
}

// Is a matched constant the length of a wire's last axis?
static bool is_length(ArrayGraph *o, const Diagram *d, const Loop *loop, const ScalarMatch *m,
                      uint32_t which, Id wire) {
  const Type *t = wire_type(d, wire);
  double n;
  return t->rank && size_number(o->w, t->axis[t->rank - 1].size, &n) &&
         match_number(o, loop, m, which) == n;
}

// -- LayerNormalization ---------------------------------------------------------------------------
//   s = sum[m](x);  d = x - s/n;  v = sum[m](d*d);  d / sqrt(v/n + eps) * g + b
static Id layer_norm(ArrayGraph *o, const Diagram *d, const Box *box, const Id *of_wire) {
  ScalarMatch m, dm;
  uint32_t at[4], x, s;
  const Box *b = each_box(o, d, box->out[0], "a/sqrt(b/k + l)*c + d", &m);
  if (!b) return 0;
  const Loop *loop = b->loop;
  uint32_t last = loop->out.rank - 1;
  for (uint32_t i = 0; i < 4; i++)
    if (!match_operand(loop, &m, i, &at[i])) return 0;
  if (!reads_in_order(o, d, b, at[0], UINT32_MAX) || !reads_in_order(o, d, b, at[1], last) ||
      !reads_last(o, d, b, at[2]) || !reads_last(o, d, b, at[3]))
    return 0;
  Id diff = b->in[at[0]], var = b->in[at[1]];
  if (summed_last(o, d, var, SUM, "a*a") != diff || !is_length(o, d, loop, &m, 0, diff)) return 0;
  const Box *minus = each_box(o, d, diff, "a - b/k", &dm);
  if (!minus || !match_operand(minus->loop, &dm, 0, &x) || !match_operand(minus->loop, &dm, 1, &s))
    return 0;
  if (!reads_in_order(o, d, minus, x, UINT32_MAX) || !reads_in_order(o, d, minus, s, last) ||
      !is_length(o, d, minus->loop, &dm, 0, diff) ||
      summed_last(o, d, minus->in[s], SUM, "a") != minus->in[x])
    return 0;
  Id in[] = {of_wire[minus->in[x]], of_wire[b->in[at[2]]], of_wire[b->in[at[3]]]};
  GraphValue like = *arrays_value(o, in[0]);
  Id made = arrays_node(o, "LayerNormalization", 3, in, &like);
  arrays_attribute_number(o, made, "axis", -1);
  arrays_attribute_real(o, made, "epsilon", match_number(o, loop, &m, 1));
  return made;
}

// -- BatchNormalization ---------------------------------------------------------------------------
// Channels are the second axis in ONNX: transposes inputs and output if necessary.
static Id batch_norm(ArrayGraph *o, const Diagram *d, const Box *box, const Id *of_wire) {
  ScalarMatch m;
  uint32_t at[5];
  static const char *const texts[] = {"(a - b)/sqrt(c + k)*d + e", "d*(a - b)/sqrt(c + k) + e"};
  const Box *b = NULL;
  for (uint32_t i = 0; i < COUNT(texts) && !b; i++) b = each_box(o, d, box->out[0], texts[i], &m);
  if (!b || b->loop->out.rank < 2) return 0;
  for (uint32_t i = 0; i < 5; i++)
    if (!match_operand(b->loop, &m, i, &at[i])) return 0;
  if (!reads_in_order(o, d, b, at[0], UINT32_MAX)) return 0;
  uint32_t channel = reads_one(o, d, b, at[1]);
  if (!channel || channel == UINT32_MAX) return 0;
  for (uint32_t i = 1; i < 5; i++)
    if (reads_one(o, d, b, at[i]) != channel || !arrays_is_known(o, of_wire[b->in[at[i]]]))
      return 0;
  uint32_t rank = b->loop->out.rank, *to = NEW_ARRAY(o->a, uint32_t, rank + 1),
           *back = NEW_ARRAY(o->a, uint32_t, rank + 1);
  for (uint32_t k = 0; k < rank; k++) {
    to[k] = k == 0 ? 0 : k == 1 ? channel : k <= channel ? k - 1 : k;
    back[to[k]] = k;
  }
  Id in[] = {arrays_transpose(o, of_wire[b->in[at[0]]], to), of_wire[b->in[at[3]]],
             of_wire[b->in[at[4]]], of_wire[b->in[at[1]]], of_wire[b->in[at[2]]]};
  GraphValue like = *arrays_value(o, in[0]);
  Id made = arrays_node(o, "BatchNormalization", 5, in, &like);
  arrays_attribute_real(o, made, "epsilon", match_number(o, b->loop, &m, 0));
  return arrays_transpose(o, made, back);
}

Id known_pattern(ArrayGraph *o, const Diagram *d, const Box *box, const Id *of_wire) {
  if (o->real != OUT_FLOAT || box->nout != 1) return 0;
  Id made = layer_norm(o, d, box, of_wire);
  if (!made) made = batch_norm(o, d, box, of_wire);
  return made ? made : known_softmax(o, d, box, of_wire);
}
