// Transposes sink: what is done element by element is done before the turn instead of after it, so
// that a turn meets the next one, and both are one or none. Then an addition behind a convolution
// is its bias.
#include "port/export/onnx_own.h"

typedef struct {
  Onnx *o;
  Id *now; // [value] what stands for it
} Tidying;

static Id now(const Tidying *t, Id value) { return t->now[value] ? t->now[value] : value; }

static const int64_t *turn_of(Onnx *o, Id value) {
  const GraphValue *v = onnx_value(o, value);
  if (!v->node || strcmp(onnx_maker(o, value)->op, "Transpose") != 0) return NULL;
  return onnx_maker(o, value)->attribute.at[0].numbers;
}

// A constant that is broadcast to `rank` axes, as it is before the turn; 0: it cannot be.
static Id constant_before(Onnx *o, Id value, uint32_t rank, const int64_t *turn) {
  GraphValue v = *onnx_value(o, value);
  bool *fresh = NEW_ARRAY(o->a, bool, rank + 1);
  uint32_t *axis = NEW_ARRAY(o->a, uint32_t, rank + 1), lead = 0;
  if (v.count == 1) return value;
  for (uint32_t k = 0; k < rank; k++) {
    fresh[k] = k + v.rank < rank;
    axis[turn[k]] = k;
  }
  Id turned = onnx_transpose(o, onnx_unsqueeze(o, value, rank, fresh), axis);
  v = *onnx_value(o, turned);
  while (lead + 1 < v.rank && onnx_is_one(o, v.dim[lead])) lead++;
  return onnx_reshape(o, turned, v.rank - lead,
                      arena_copy(o->a, v.dim + lead, (v.rank - lead) * sizeof *v.dim));
}

// Whether every operand is turned alike, or a constant.
static const int64_t *common_turn(Onnx *o, const Id *in, uint32_t n, uint32_t rank) {
  const int64_t *turn = NULL;
  for (uint32_t i = 0; i < n; i++) {
    const GraphValue *v = onnx_value(o, in[i]);
    const int64_t *own = turn_of(o, in[i]);
    if (v->data || !v->rank) continue;
    if (!own || v->rank != rank || (turn && memcmp(turn, own, rank * sizeof *own) != 0))
      return NULL;
    turn = own;
  }
  return turn;
}

// The same node on other operands.
static Id node_again(Onnx *o, Id of, const Id *in) {
  GraphNode n = *onnx_maker(o, of);
  Id made = onnx_each(o, n.op, onnx_value(o, of)->type, n.in.n, in);
  onnx_maker(o, made)->attribute.at = n.attribute.at;
  onnx_maker(o, made)->attribute.n = onnx_maker(o, made)->attribute.cap = n.attribute.n;
  return made;
}

static bool sink(Tidying *t, Id out, Id *in, uint32_t n) {
  Onnx *o = t->o;
  uint32_t rank = onnx_value(o, out)->rank;
  const int64_t *turn = common_turn(o, in, n, rank);
  if (!turn) return false;
  uint32_t *axis = NEW_ARRAY(o->a, uint32_t, rank + 1);
  for (uint32_t k = 0; k < rank; k++) axis[k] = (uint32_t)turn[k];
  for (uint32_t i = 0; i < n; i++) {
    if (onnx_is_known(o, in[i]))
      in[i] = constant_before(o, in[i], rank, turn);
    else if (turn_of(o, in[i]))
      in[i] = onnx_maker(o, in[i])->in.at[0];
  }
  Id before = node_again(o, out, in);
  onnx_value(o, before)->name = onnx_value(o, out)->name;
  t->now[out] = onnx_transpose(o, before, axis);
  return true;
}

static void sink_node(Tidying *t, Id node) {
  Onnx *o = t->o;
  GraphNode n = o->node.at[node];
  Id *in = NEW_ARRAY(o->a, Id, n.in.n + 1);
  for (uint32_t i = 0; i < n.in.n; i++) in[i] = now(t, n.in.at[i]);
  o->said = 0;
  if (n.each && sink(t, n.out.at[0], in, n.in.n)) return;
  if (!strcmp(n.op, "Transpose")) {
    uint32_t *axis = NEW_ARRAY(o->a, uint32_t, n.attribute.at[0].n + 1);
    for (uint32_t k = 0; k < n.attribute.at[0].n; k++)
      axis[k] = (uint32_t)n.attribute.at[0].numbers[k];
    t->now[n.out.at[0]] = onnx_transpose(o, in[0], axis);
    return;
  }
  for (uint32_t i = 0; i < n.in.n; i++) o->node.at[node].in.at[i] = in[i];
  vec_push(o->a, &o->level->node, node);
}

// -- biases ---------------------------------------------------------------------------------------
// How often each value is read by what is read itself.
static uint32_t *count_reads(Onnx *o) {
  bool *node = NEW_ARRAY(o->a, bool, o->node.n), *value = NEW_ARRAY(o->a, bool, o->value.n);
  uint32_t *reads = NEW_ARRAY(o->a, uint32_t, o->value.n + 1);
  onnx_what_is_read(o, node, value);
  for (Id i = 1; i < o->node.n; i++)
    for (uint32_t k = 0; node[i] && k < o->node.at[i].in.n; k++) reads[o->node.at[i].in.at[k]]++;
  for (uint32_t i = 0; i < o->level->out.n; i++) reads[o->level->out.at[i]]++;
  return reads;
}

// One number for each channel: [c 1 1].
static bool is_bias(Onnx *o, Id value, const GraphValue *conv) {
  const GraphValue *v = onnx_value(o, value);
  int64_t n;
  if (!v->data || v->rank + 1 != conv->rank || !onnx_is_number(o, conv->dim[1], &n)) return false;
  return v->count == n && v->dim[0] == conv->dim[1];
}

static void give_bias(Onnx *o, Id node, const uint32_t *reads) {
  GraphNode *add = &o->node.at[node];
  for (uint32_t i = 0; i < 2; i++) {
    Id conv = add->in.at[i], bias = add->in.at[1 - i];
    GraphValue v = *onnx_value(o, conv);
    if (!v.node || reads[conv] != 1 || !is_bias(o, bias, &v)) continue;
    GraphNode *maker = onnx_maker(o, conv);
    if (strncmp(maker->op, "Conv", 4) != 0 || maker->in.n != 2) continue;
    Id row = onnx_reshape(o, bias, 1, &v.dim[1]);
    add = &o->node.at[node];
    maker = &o->node.at[v.node];
    add->op = maker->op;
    add->each = false;
    add->attribute.at = maker->attribute.at;
    add->attribute.n = add->attribute.cap = maker->attribute.n;
    Ids in = {0};
    vec_push(o->a, &in, maker->in.at[0]);
    vec_push(o->a, &in, maker->in.at[1]);
    vec_push(o->a, &in, row);
    add->in = in;
    return;
  }
}

// -- the whole ------------------------------------------------------------------------------------
// What a level gives must be made there and keep its name; a result that is turned stays turned.
static void tidy_level(Onnx *o) {
  Tidying t = {.o = o};
  Ids before = o->level->node;
  uint32_t room = o->value.n;
  t.now = NEW_ARRAY(o->a, Id, room + 1);
  o->level->node = (Ids){0};
  for (uint32_t i = 0; i < before.n; i++) sink_node(&t, before.at[i]);
  for (uint32_t i = 0; i < o->level->out.n; i++) {
    Id was = o->level->out.at[i], is = now(&t, was);
    if (is == was) continue;
    bool own = onnx_value(o, is)->node && is >= room;
    for (uint32_t k = 0; k < i; k++) own &= o->level->out.at[k] != is;
    GraphValue v = *onnx_value(o, is);
    if (!own) is = onnx_node(o, "Identity", 1, &is, &v);
    onnx_value(o, is)->name = onnx_value(o, was)->name;
    o->level->out.at[i] = is;
  }
}

void onnx_tidy(Onnx *o) {
  tidy_level(o);
  uint32_t *reads = count_reads(o);
  for (uint32_t i = 0; i < o->level->node.n; i++)
    if (!strcmp(o->node.at[o->level->node.at[i]].op, "Add"))
      give_bias(o, o->level->node.at[i], reads);
}
