// RNN, GRU and LSTM become scans. The input part z = x W + b is computed for all steps at once; the
// cell is a box with the recurrent weights that carries h (and c). The batch axis is mapped over.
//
// ONNX stacks gates and directions in one tensor [gates*s …]; here each direction has its own.
// Weights that are not constant are passed to every step.
#include "base/diag.h"
#include "port/import/own.h"

typedef struct {
  uint32_t gates;
  bool lstm, gru, turned; // turned: reverse direction
  uint32_t way, ways;     // the direction, of how many
  int64_t s;              // the size of the state
  ImpSize steps, samples, inputs;
  Id x;                    // [steps samples inputs]
  Buf head, learn;         // of the cell: further inputs, and its weights
  VEC(Id) along, own;      // values passed as inputs, and the weights
  const char *cell, *time; // time: the index by which a step reads per-step values
} Recurrent;

// -- activations ----------------------------------------------------------------------------------
typedef struct {
  const char *name, *text; // {} is the argument, @ and # are alpha and beta; NULL: not known
  float alpha, beta;
} Activation;
static const Activation activations[] = {
    {"Affine", "(@ * ({}) + #)", 1, 0},
    {"LeakyRelu", "leaky_relu[@]({})", 0.01F, 0},
    {"ScaledTanh", "(@ * tanh(# * ({})))", 1, 1},
    {"HardSigmoid", "min(max(@ * ({}) + #, 0), 1)", 0.2F, 0.5F},
    {"Elu", "elu[@]({})", 1, 0},
    {"Softsign", "softsign({})", 0, 0},
};

static Activation activation_find(Arena *a, const char *name) {
  for (uint32_t i = 0; i < COUNT(activations); i++)
    if (strcmp(activations[i].name, name) == 0) return activations[i];
  const char *function = scalar_function(name);
  return (Activation){name, function ? arena_format(a, "%s({})", function) : NULL, 0, 0};
}

// A parameter of the activation function at a position of the list: lists may skip functions
// without parameters.
static float parameter(ImpNode *n, const char *attribute, uint32_t at, char mark, float otherwise) {
  const OnnxAttribute *list = onnx_attribute(n->node, "activations"),
                      *given = onnx_attribute(n->node, attribute);
  uint32_t takers = 0, before = 0;
  if (!given || !given->floats.n || !list) return otherwise;
  if (given->floats.n == list->strings.n) return given->floats.at[at];
  for (uint32_t i = 0; i < list->strings.n; i++) {
    const char *text = activation_find(n->m->arena, list->strings.at[i]).text;
    bool takes = text && strchr(text, mark);
    takers += takes;
    before += takes && i < at;
  }
  if (given->floats.n == takers) return given->floats.at[before];
  return op_refuse(n, "%s has %u numbers, but its functions take %u", attribute, given->floats.n,
                   takers),
         otherwise;
}

// The k-th activation of a direction, applied to an argument.
static const char *active(ImpNode *n, const Recurrent *r, uint32_t k, const char *otherwise,
                          const char *x) {
  Importer *m = n->m;
  const OnnxAttribute *list = onnx_attribute(n->node, "activations");
  uint32_t each = r->lstm ? 3 : r->gru ? 2 : 1, at = r->way * each + k;
  const char *name = list && at < list->strings.n ? list->strings.at[at] : otherwise;
  Activation f = activation_find(m->arena, name);
  if (!f.text)
    return op_refuse(n, "activation `%s` is not known", text_shown(m->arena, name, strlen(name))),
           "";
  Buf b = buf_new(m->arena);
  for (const char *c = f.text; *c; c++) {
    if (*c == '@')
      buf_text(&b, short_term(m, parameter(n, "activation_alpha", at, '@', f.alpha)));
    else if (*c == '#')
      buf_text(&b, short_term(m, parameter(n, "activation_beta", at, '#', f.beta)));
    else if (*c == '{')
      buf_text(&b, x), c++;
    else
      buf_char(&b, *c);
  }
  return b.at;
}

// -- cells ----------------------------------------------------------------------------------------
// A part of a constant tensor, as weight of the cell.
static void own_weight(ImpNode *n, Recurrent *r, const char *name, const ImpShape *shape, Id from,
                       int64_t begin) {
  Importer *m = n->m;
  const ImpValue *x = value_at(m, from);
  int64_t count = shape_count(shape);
  double *data = arena_copy(m->arena, x->data + begin, sizeof *data * (size_t)count);
  Id v = value_new(m, x->type, shape, IMP_WEIGHT, name);
  value_at(m, v)->data = data;
  value_at(m, v)->name = name;
  value_at(m, v)->box = r->cell;
  vec_push(m->arena, &r->own, v);
  buf_printf(&r->learn, "  learn %s : R[", name);
  for (uint32_t i = 0; i < shape->rank; i++)
    buf_printf(&r->learn, "%s%lld", i ? " " : "", (long long)shape->dim[i].n);
  buf_text(&r->learn, "] = 0\n");
}

static void pass_to_steps(ImpNode *n, Recurrent *r, const char *name, const ImpShape *shape, Id v) {
  buf_printf(&r->head, ", %s: R[", name);
  for (uint32_t i = 0; i < shape->rank; i++)
    buf_printf(&r->head, "%s%s", i ? " " : "", dim_text(n->m, shape->dim[i]));
  buf_char(&r->head, ']');
  vec_push(n->m->arena, &r->along, v);
}

// From a tensor [ways (a s) …], the part [a s …] of this direction, from gate `skip` on.
static void add_cell_weight(ImpNode *n, Recurrent *r, const char *name, Id from, uint32_t skip,
                            const ImpShape *shape) {
  Importer *m = n->m;
  int64_t all = shape_count(&value_at(m, from)->shape) / r->ways, before = (int64_t)skip * r->s;
  if (value_at(m, from)->data) {
    own_weight(n, r, name, shape, from, all * r->way + before);
    return;
  }
  int64_t parts = value_at(m, from)->shape.dim[1].n / r->s;
  const char *rest = shape->rank == 3 ? " l" : "", *steps = dim_text(m, r->steps);
  ImpShape split = {.rank = shape->rank == 1 ? 3 : shape->rank + 1, // a bias: one of its two halves
                    .dim = {dim_of(r->ways), dim_of(parts), dim_of(r->s), dim_of(r->s)}};
  Id v = add_reshape(n, from, &split);
  pass_to_steps(n, r, name, shape,
                shape->rank == 1
                    ? equation(n, IN(v), "[i:%s k] = $0[%u %u k]", steps, r->way, skip)
                    : equation(n, IN(v), "[i:%s j k%s] = $0[%u j k%s]", steps, rest, r->way, rest));
}

// z of all steps, [steps samples gates s]: the part that does not depend on the state.
static Id add_input_part(ImpNode *n, const Recurrent *r, bool apart) {
  Importer *m = n->m;
  ImpShape split = {4, {dim_of(r->ways), dim_of(r->gates), dim_of(r->s), r->inputs}};
  Id w = add_reshape(n, n->in[1], &split), b = 0;
  ImpShape biases = {4, {dim_of(r->ways), dim_of(2), dim_of(r->gates), dim_of(r->s)}};
  if (op_in(n, 3) && !(b = add_reshape(n, n->in[3], &biases))) return 0;
  if (!w) return 0;
  const char *biases_text =
      !b ? ""
         : arena_format(m->arena,
                        apart ? " + $2[%u 0 k l] + ($2[%u 1 k l] when (k < 2) else 0)"
                              : " + $2[%u 0 k l] + $2[%u 1 k l]",
                        r->way, r->way);
  return equation(n, IN(r->x, w, b), "[i:%s j k l] = $0[%s j m] $1[%u k l m]%s",
                  dim_text(m, r->steps), r->time, r->way, biases_text);
}

// -- the cell -------------------------------------------------------------------------------------
// A gate of the cell: the k-th activation of a sum, clipped if requested. The sum is a line of its
// own, since terms of a box must not share an index.
static void gate(ImpNode *n, const Recurrent *r, Buf *b, const char *name, uint32_t k,
                 const char *sum) {
  Importer *m = n->m;
  const OnnxAttribute *clip = onnx_attribute(n->node, "clip");
  const char *x = arena_format(m->arena, "%s_sum[j]", name);
  buf_printf(b, "  %s = %s\n", x, sum);
  if (clip) x = arena_format(m->arena, "saturate[%s](%s)", short_term(m, clip->f), x);
  const char *usual = k || (!r->lstm && !r->gru) ? "Tanh" : "Sigmoid";
  buf_printf(b, "  %s[j] = %s\n", name, active(n, r, k, usual, x));
}

static const char *lstm_body(ImpNode *n, const Recurrent *r, bool peeps) {
  Buf b = buf_new(n->m->arena);
  buf_text(&b, "  a[i j] = z[i j] + h[k] W[i j k]\n");
  gate(n, r, &b, "enter", 0, peeps ? "a[0 j] + P[0 j] * c[j]" : "a[0 j]");
  if (attr_int(n, "input_forget", 0))
    buf_text(&b, "  keep[j] = 1 - enter[j]\n");
  else
    gate(n, r, &b, "keep", 0, peeps ? "a[2 j] + P[2 j] * c[j]" : "a[2 j]");
  gate(n, r, &b, "fresh", 1, "a[3 j]");
  buf_text(&b, "  C[j] = keep[j] * c[j] + enter[j] * fresh[j]\n");
  gate(n, r, &b, "open", 0, peeps ? "a[1 j] + P[1 j] * C[j]" : "a[1 j]");
  buf_printf(&b, "  H[j] = open[j] * %s\n", active(n, r, 2, "Tanh", "C[j]"));
  return b.at;
}

// apart: the reset gate is applied after the recurrent weights (linear_before_reset), with a bias
// of its own.
static const char *gru_body(ImpNode *n, const Recurrent *r, bool apart, bool bias) {
  Buf b = buf_new(n->m->arena);
  buf_text(&b, "  a[i j] = h[k] W[i j k]\n");
  gate(n, r, &b, "keep", 0, "z[0 j] + a[0 j]");
  gate(n, r, &b, "reset", 0, "z[1 j] + a[1 j]");
  if (!apart) buf_text(&b, "  left[j] = reset[j] * h[j]\n");
  const char *old = !apart ? "z[2 j] + left[k] W[2 j k]"
                    : bias ? "z[2 j] + reset[j] * (a[2 j] + V[j])"
                           : "z[2 j] + reset[j] * a[2 j]";
  gate(n, r, &b, "fresh", 1, old);
  buf_text(&b, "  H[j] = (1 - keep[j]) * fresh[j] + keep[j] * h[j]\n");
  return b.at;
}

static const char *rnn_body(ImpNode *n, const Recurrent *r) {
  Buf b = buf_new(n->m->arena);
  gate(n, r, &b, "H", 0, "z[0 j] + h[k] W[0 j k]");
  return b.at;
}

static void add_cell(ImpNode *n, Recurrent *r, const char *body, bool masked) {
  Importer *m = n->m;
  long long s = r->s;
  Buf b = buf_new(m->arena);
  buf_printf(&b, "box %s(z: R[%u %lld]%s, h: R[%lld]", r->cell, r->gates, s, r->head.at, s);
  if (r->lstm) buf_printf(&b, ", c: R[%lld]", s);
  buf_printf(&b, ") -> R[%lld]", s);
  if (r->lstm) buf_printf(&b, ", R[%lld]", s);
  buf_printf(&b, " {\n%s%s", r->learn.at, body);
  if (masked) buf_text(&b, "  state_h[j] = H[j] when lasts > 0 else h[j]\n");
  if (masked && r->lstm) buf_text(&b, "  state_c[j] = C[j] when lasts > 0 else c[j]\n");
  buf_printf(&b, "  return %s%s\n}\n", masked ? "state_h" : "H",
             !r->lstm ? ""
             : masked ? ", state_c"
                      : ", C");
  vec_push(m->arena, &m->box, b.at);
}

// 1 while a sequence lasts, [steps samples].
static Id add_sequence_mask(ImpNode *n, const Recurrent *r) {
  return add_equation(n, ONNX_INT64, IN(n->in[4]), "[i:%s j] = number(%s < $0[j])",
                      dim_text(n->m, r->steps), r->time);
}

// The initial state, [samples s], with the same batch axis name as other values.
static Id add_initial_state(ImpNode *n, const Recurrent *r, Id given) {
  Importer *m = n->m;
  if (!given)
    return add_equation(n, ONNX_FLOAT, NULL, "[j:%s k:%lld] = 0", dim_text(m, r->samples),
                        (long long)r->s);
  return equation(n, IN(given),
                  attr_int(n, "layout", 0) ? "[j k] = $0[j %u k]" : "[j k] = $0[%u j k]", r->way);
}

typedef struct {
  Id all, last, cell; // [steps samples s], [samples s], [samples s]
} States;

static Id add_last_state(ImpNode *n, const Recurrent *r, Id all) {
  ImpSize end = dim_op(n->m, '-', r->steps, dim_of(1));
  return equation(n, IN(all), "[i j] = $0[%s i j]", dim_inside(n->m, end));
}

// Runs one direction. False with a message.
static bool run_direction(ImpNode *n, Recurrent *r, States *out) {
  Importer *m = n->m;
  bool apart = r->gru && attr_int(n, "linear_before_reset", 0), peeps = r->lstm && op_in(n, 7),
       masked = op_in(n, 4) != 0;
  ImpShape w = {3, {dim_of(r->gates), dim_of(r->s), dim_of(r->s)}},
           p = {2, {dim_of(3), dim_of(r->s)}}, v = {1, {dim_of(r->s)}};
  r->cell = name_make(m, r->lstm ? "lstm_step" : r->gru ? "gru_step" : "rnn_step", "step");
  r->head = buf_new(m->arena), r->learn = buf_new(m->arena);
  r->along.n = r->own.n = 0;
  Id z = add_input_part(n, r, apart), lasting = masked ? add_sequence_mask(n, r) : 0;
  if (!z) return false;
  if (masked) pass_to_steps(n, r, "lasts", &(ImpShape){0}, lasting);
  add_cell_weight(n, r, "W", n->in[2], 0, &w);
  if (peeps) add_cell_weight(n, r, "P", n->in[7], 0, &p);
  if (apart && op_in(n, 3)) add_cell_weight(n, r, "V", n->in[3], 2 * r->gates - 1, &v);
  const char *body = r->lstm  ? lstm_body(n, r, peeps)
                     : r->gru ? gru_body(n, r, apart, op_in(n, 3))
                              : rnn_body(n, r);
  add_cell(n, r, body, masked);
  VEC(ImpRead) read = {0};
  vec_push(m->arena, &read, (ImpRead){z, NULL});
  for (uint32_t i = 0; i < r->along.n; i++)
    vec_push(m->arena, &read, (ImpRead){r->along.at[i], NULL});
  vec_push(m->arena, &read, (ImpRead){add_initial_state(n, r, op_in(n, 5)), NULL});
  if (r->lstm) vec_push(m->arena, &read, (ImpRead){add_initial_state(n, r, op_in(n, 6)), NULL});
  Buf right = buf_new(m->arena);
  buf_printf(&right, "scan[i, %s](", r->cell);
  for (uint32_t i = 0; i < read.n; i++) buf_printf(&right, "%s$%u", i ? ", " : "", i);
  buf_char(&right, ')');
  for (uint32_t i = 0; i < r->own.n; i++) vec_push(m->arena, &read, (ImpRead){r->own.at[i], NULL});
  ImpShape rows = {3, {r->steps, r->samples, dim_of(r->s)}};
  OnnxType type = value_at(m, r->x)->type;
  out->all = add_line(n, type, &rows, (ImpForm){.right = right.at}, read.at, read.n);
  Id cells = r->lstm ? value_new(m, type, &rows, IMP_MADE, "") : 0;
  if (cells) vec_push(m->arena, &m->line.at[m->line.n - 1].out, cells);
  out->last = add_last_state(n, r, out->all);
  if (cells) out->cell = add_last_state(n, r, cells);
  // after its end a sequence gives zeros; steps are put back in order
  if (masked)
    out->all = equation(n, IN(out->all, lasting), "[i:%s j k] = $0[%s j k] * $1[%s j]",
                        dim_text(m, r->steps), r->time, r->time);
  else if (r->turned)
    out->all = equation(n, IN(out->all), "[i:%s j k] = $0[%s j k]", dim_text(m, r->steps), r->time);
  return !m->diags->errors;
}

// -- the node -------------------------------------------------------------------------------------
static bool recurrent_read(ImpNode *n, Recurrent *r) {
  Importer *m = n->m;
  const char *way = attr_text(n, "direction", "forward");
  r->lstm = !strcmp(n->node->op, "LSTM"), r->gru = !strcmp(n->node->op, "GRU");
  r->gates = r->lstm ? 4 : r->gru ? 3 : 1;
  r->ways = !strcmp(way, "bidirectional") ? 2 : 1;
  r->x = n->in[0];
  ImpShape x = op_value(n, 0)->shape, w = op_value(n, 2)->shape;
  if (x.rank != 3 || w.rank != 3 || w.dim[2].text || w.dim[2].n < 1 || !op_fixed(n, 1) ||
      !op_fixed(n, 2))
    return m->diags->errors ? false : op_refuse(n, "its inputs have other axes than it wants");
  r->s = w.dim[2].n;
  if (!dim_is(w.dim[0], r->ways) || !dim_is(w.dim[1], r->gates * r->s))
    return op_refuse(n, "its weights do not fit its gates");
  if (attr_int(n, "layout", 0)) {
    r->x = equation(n, n->in, "[j i k] = $0[i j k]");
    x = value_at(m, r->x)->shape;
  }
  r->steps = x.dim[0], r->samples = x.dim[1], r->inputs = x.dim[2];
  return true;
}

// Stacks the directions along an axis l, at its position in `left`.
static void set_direction_results(ImpNode *n, uint32_t k, const Id *v, uint32_t ways,
                                  const char *left) {
  Importer *m = n->m;
  Id part[2];
  if (k >= n->node->out.n || !*n->node->out.at[k]) return;
  uint32_t rank = value_at(m, v[0])->shape.rank + 1,
           axis = (uint32_t)(strchr(left, 'l') - left) / 2;
  const char *one =
                 arena_format(m->arena, "%.*s:1%s", (int)(2 * axis + 1), left, left + 2 * axis + 1),
             *all = index_letters(m, rank);
  for (uint32_t i = 0; i < ways; i++)
    part[i] = equation(n, IN(v[i]), "[%s] = $0[%s]", one, rank == 4 ? "i j k" : "j k");
  op_set_result(n, k,
                ways == 1
                    ? part[0]
                    : equation(n, part, "concat[%s]($0[%s], $1[%s])", imp_letter[axis], all, all));
}

bool op_recurrent(ImpNode *n) {
  Recurrent r = {0};
  States state[2];
  if (!recurrent_read(n, &r)) return false;
  for (r.way = 0; r.way < r.ways; r.way++) {
    r.turned = r.way == 1 || !strcmp(attr_text(n, "direction", "forward"), "reverse");
    r.time = r.turned ? arena_format(n->m->arena, "%s-1-i", dim_inside(n->m, r.steps)) : "i";
    if (!run_direction(n, &r, &state[r.way])) return false;
  }
  bool samples_first = attr_int(n, "layout", 0);
  set_direction_results(n, 0, IN(state[0].all, state[1].all), r.ways,
                        samples_first ? "j i l k" : "i l j k");
  const char *last = samples_first ? "j l k" : "l j k";
  set_direction_results(n, 1, IN(state[0].last, state[1].last), r.ways, last);
  if (r.lstm) set_direction_results(n, 2, IN(state[0].cell, state[1].cell), r.ways, last);
  return true;
}
