// Removes transposes: moves them below elementwise operations, reductions, slices, pads and
// concatenations, until adjacent ones merge or cancel. Then fuses additions after convolutions into
// their bias, and ties weights.
#include "port/export/onnx_own.h"

typedef struct {
  ArrayGraph *o;
  Id *now; // [value] its replacement
} Tidying;

static Id now(const Tidying *t, Id value) { return t->now[value] ? t->now[value] : value; }

static const int64_t *transpose_of(ArrayGraph *o, Id value) {
  const GraphValue *v = arrays_value(o, value);
  if (!v->node || strcmp(arrays_maker(o, value)->op, "Transpose") != 0) return NULL;
  return arrays_maker(o, value)->attribute.at[0].numbers;
}

// A broadcast constant, permuted so that it can be applied before the transpose; 0: impossible.
static Id permute_constant(ArrayGraph *o, Id value, uint32_t rank, const int64_t *turn) {
  GraphValue v = *arrays_value(o, value);
  bool *fresh = NEW_ARRAY(o->a, bool, rank + 1);
  uint32_t *axis = NEW_ARRAY(o->a, uint32_t, rank + 1), lead = 0;
  if (v.count == 1) return value;
  for (uint32_t k = 0; k < rank; k++) {
    fresh[k] = k + v.rank < rank;
    axis[turn[k]] = k;
  }
  Id turned = arrays_transpose(o, arrays_unsqueeze(o, value, rank, fresh), axis);
  v = *arrays_value(o, turned);
  while (lead + 1 < v.rank && arrays_is_one(o, v.dim[lead])) lead++;
  return arrays_reshape(o, turned, v.rank - lead,
                        arena_copy(o->a, v.dim + lead, (v.rank - lead) * sizeof *v.dim));
}

// A transpose after a convolution (channels last). It is worth transposing another operand the
// other way, since the result usually enters the next convolution.
static bool is_channels_last(const int64_t *turn, uint32_t rank) {
  for (uint32_t k = 1; k + 1 < rank; k++)
    if (turn[k] != k + 1) return false;
  return rank > 2 && turn[0] == 0 && turn[rank - 1] == 1;
}

// The common permutation of all operands that are not constants; with `some`, others may be
// untransposed.
static const int64_t *common_permutation(ArrayGraph *o, const Id *in, uint32_t n, uint32_t rank,
                                         bool some) {
  const int64_t *turn = NULL;
  bool bare = false;
  for (uint32_t i = 0; i < n; i++) {
    const GraphValue *v = arrays_value(o, in[i]);
    const int64_t *own = transpose_of(o, in[i]);
    if (v->data || !v->rank) continue;
    if (v->rank != rank || (turn && own && memcmp(turn, own, rank * sizeof *own) != 0)) return NULL;
    bare |= !own;
    if (own) turn = own;
  }
  return bare && !(some && turn && is_channels_last(turn, rank)) ? NULL : turn;
}

// A copy of a node with other operands.
static Id copy_node(ArrayGraph *o, Id of, const Id *in) {
  GraphNode n = *arrays_maker(o, of);
  Id made = arrays_each(o, n.op, arrays_value(o, of)->type, n.in.n, in);
  arrays_maker(o, made)->attribute.at = n.attribute.at;
  arrays_maker(o, made)->attribute.n = arrays_maker(o, made)->attribute.cap = n.attribute.n;
  return made;
}

static bool move_below(Tidying *t, Id out, Id *in, uint32_t n) {
  ArrayGraph *o = t->o;
  uint32_t rank = arrays_value(o, out)->rank;
  const int64_t *turn = common_permutation(o, in, n, rank, true);
  if (!turn) return false;
  uint32_t *axis = NEW_ARRAY(o->a, uint32_t, rank + 1),
           *against = NEW_ARRAY(o->a, uint32_t, rank + 1);
  for (uint32_t k = 0; k < rank; k++) axis[k] = (uint32_t)turn[k], against[turn[k]] = k;
  for (uint32_t i = 0; i < n; i++) {
    if (arrays_is_known(o, in[i]))
      in[i] = permute_constant(o, in[i], rank, turn);
    else if (arrays_value(o, in[i])->rank)
      in[i] = arrays_transpose(o, in[i], against);
  }
  Id before = copy_node(o, out, in);
  arrays_value(o, before)->name = arrays_value(o, out)->name;
  t->now[out] = arrays_transpose(o, before, axis);
  return true;
}

// -- moving transposes below slices, pads, concatenations and reductions --------------------------
static const int64_t *single_permutation(ArrayGraph *o, const GraphNode *n, const Id *in,
                                         uint32_t known) {
  if (n->in.n <= known || !arrays_is_known(o, in[known])) return NULL;
  return transpose_of(o, in[0]);
}

static Id transpose_back(ArrayGraph *o, Id value, const int64_t *turn, uint32_t rank) {
  uint32_t *axis = NEW_ARRAY(o->a, uint32_t, rank + 1);
  for (uint32_t k = 0; k < rank; k++) axis[k] = (uint32_t)turn[k];
  return arrays_transpose(o, value, axis);
}

// The type of a transposed result before its transpose.
static GraphValue sizes_before(ArrayGraph *o, Id out, const int64_t *turn) {
  GraphValue v = *arrays_value(o, out);
  Size *dim = NEW_ARRAY(o->a, Size, v.rank + 1);
  for (uint32_t k = 0; k < v.rank; k++) dim[turn[k]] = v.dim[k];
  v.dim = dim;
  return v;
}

static Id slice_before_transpose(ArrayGraph *o, const GraphNode *n, Id *in) {
  const int64_t *turn = n->in.n == 5 ? single_permutation(o, n, in, 3) : NULL;
  if (!turn) return 0;
  GraphValue like = sizes_before(o, n->out.at[0], turn);
  in[3] = arrays_list(o, 1, &turn[(int64_t)arrays_value(o, in[3])->data[0]]);
  in[0] = arrays_maker(o, in[0])->in.at[0];
  return transpose_back(o, arrays_node(o, "Slice", 5, in, &like), turn, like.rank);
}

static Id pad_before_transpose(ArrayGraph *o, const GraphNode *n, Id *in) {
  const int64_t *turn = single_permutation(o, n, in, 1);
  if (!turn) return 0;
  GraphValue like = sizes_before(o, n->out.at[0], turn);
  int64_t *pads = NEW_ARRAY(o->a, int64_t, 2 * like.rank + 1);
  const double *was = arrays_value(o, in[1])->data;
  for (uint32_t k = 0; k < like.rank; k++) {
    pads[turn[k]] = (int64_t)was[k];
    pads[like.rank + (uint32_t)turn[k]] = (int64_t)was[like.rank + k];
  }
  in[1] = arrays_list(o, 2 * like.rank, pads);
  in[0] = arrays_maker(o, in[0])->in.at[0];
  return transpose_back(o, arrays_node(o, "Pad", n->in.n, in, &like), turn, like.rank);
}

static Id concat_before_transpose(ArrayGraph *o, const GraphNode *n, Id *in) {
  uint32_t rank = arrays_value(o, n->out.at[0])->rank;
  const int64_t *turn = common_permutation(o, in, n->in.n, rank, false);
  for (uint32_t i = 0; i < n->in.n; i++)
    if (!turn || !transpose_of(o, in[i])) return 0;
  GraphValue like = sizes_before(o, n->out.at[0], turn);
  for (uint32_t i = 0; i < n->in.n; i++) in[i] = arrays_maker(o, in[i])->in.at[0];
  Id made = arrays_node(o, "Concat", n->in.n, in, &like);
  arrays_attribute_number(o, made, "axis", turn[n->attribute.at[0].number]);
  return transpose_back(o, made, turn, rank);
}

// The axes that remain keep their order, and need a permutation of their own.
static Id reduce_before_transpose(ArrayGraph *o, const GraphNode *n, Id *in) {
  const int64_t *turn = n->in.n == 2 ? single_permutation(o, n, in, 1) : NULL;
  if (!turn) return 0;
  GraphValue from = *arrays_value(o, in[0]), axes = *arrays_value(o, in[1]),
             like = *arrays_value(o, n->out.at[0]);
  bool *gone = NEW_ARRAY(o->a, bool, from.rank + 1); // indexed before the transpose
  int64_t *list = NEW_ARRAY(o->a, int64_t, from.rank + 1),
          *left = NEW_ARRAY(o->a, int64_t, from.rank + 1);
  for (int64_t i = 0; i < axes.count; i++) {
    int64_t k = (int64_t)axes.data[i];
    gone[list[i] = turn[k < 0 ? k + from.rank : k]] = true;
  }
  Size *dim = NEW_ARRAY(o->a, Size, from.rank + 1);
  uint32_t kept = 0;
  for (uint32_t k = 0; k < from.rank; k++) {
    if (gone[turn[k]]) continue;
    int64_t at = 0;
    for (int64_t b = 0; b < turn[k]; b++) at += !gone[b];
    dim[at] = from.dim[k];
    left[kept++] = at;
  }
  in[1] = arrays_list(o, (uint32_t)axes.count, list);
  in[0] = arrays_maker(o, in[0])->in.at[0];
  like.dim = dim;
  Id made = arrays_node(o, n->op, 2, in, &like);
  arrays_attribute_number(o, made, "keepdims", 0);
  return transpose_back(o, made, left, kept);
}

static Id along_before_transpose(ArrayGraph *o, const GraphNode *n, Id *in) {
  if (!strcmp(n->op, "Slice")) return slice_before_transpose(o, n, in);
  if (!strcmp(n->op, "Pad")) return pad_before_transpose(o, n, in);
  if (!strcmp(n->op, "Concat")) return concat_before_transpose(o, n, in);
  return !strncmp(n->op, "Reduce", 6) ? reduce_before_transpose(o, n, in) : 0;
}

// Redirects reads of outer values inside the body of a Scan.
static void redirect_body_reads(const Tidying *t, GraphLevel *body) {
  for (uint32_t i = 0; i < body->node.n; i++) {
    const GraphNode *n = &t->o->node.at[body->node.at[i]];
    for (uint32_t k = 0; k < n->in.n; k++) n->in.at[k] = now(t, n->in.at[k]);
    if (n->inside) redirect_body_reads(t, n->inside);
  }
  for (uint32_t i = 0; i < body->out.n; i++) body->out.at[i] = now(t, body->out.at[i]);
}

static void move_below_node(Tidying *t, Id node) {
  ArrayGraph *o = t->o;
  GraphNode n = o->node.at[node];
  Id *in = NEW_ARRAY(o->a, Id, n.in.n + 1);
  for (uint32_t i = 0; i < n.in.n; i++) in[i] = now(t, n.in.at[i]);
  o->said = 0;
  if (n.each && move_below(t, n.out.at[0], in, n.in.n)) return;
  Id sunk = along_before_transpose(o, &n, in);
  if (sunk) {
    arrays_value(o, sunk)->name = arrays_value(o, n.out.at[0])->name;
    t->now[n.out.at[0]] = sunk;
    return;
  }
  if (!strcmp(n.op, "Transpose")) {
    uint32_t *axis = NEW_ARRAY(o->a, uint32_t, n.attribute.at[0].n + 1);
    for (uint32_t k = 0; k < n.attribute.at[0].n; k++)
      axis[k] = (uint32_t)n.attribute.at[0].numbers[k];
    t->now[n.out.at[0]] = arrays_transpose(o, in[0], axis);
    return;
  }
  for (uint32_t i = 0; i < n.in.n; i++) o->node.at[node].in.at[i] = in[i];
  if (n.inside) redirect_body_reads(t, n.inside);
  vec_push(o->a, &o->level->node, node);
}

// -- biases ---------------------------------------------------------------------------------------
// How often each live value is read.
static uint32_t *count_reads(ArrayGraph *o) {
  bool *node = NEW_ARRAY(o->a, bool, o->node.n), *value = NEW_ARRAY(o->a, bool, o->value.n);
  uint32_t *reads = NEW_ARRAY(o->a, uint32_t, o->value.n + 1);
  onnx_mark_live(o, node, value);
  for (Id i = 1; i < o->node.n; i++)
    for (uint32_t k = 0; node[i] && k < o->node.at[i].in.n; k++) reads[o->node.at[i].in.at[k]]++;
  for (uint32_t i = 0; i < o->level->out.n; i++) reads[o->level->out.at[i]]++;
  return reads;
}

// Has it one number for each channel: [c 1 1]?
static bool is_bias(ArrayGraph *o, Id value, const GraphValue *conv) {
  const GraphValue *v = arrays_value(o, value);
  int64_t n;
  if (!v->data || !v->rank || v->rank + 1 != conv->rank) return false;
  if (!arrays_is_number(o, conv->dim[1], &n)) return false;
  return v->count == n && v->dim[0] == conv->dim[1];
}

static void fuse_bias(ArrayGraph *o, Id node, const uint32_t *reads) {
  GraphNode *add = &o->node.at[node];
  for (uint32_t i = 0; i < 2; i++) {
    Id conv = add->in.at[i], bias = add->in.at[1 - i];
    GraphValue v = *arrays_value(o, conv);
    if (!v.node || reads[conv] != 1) continue;
    GraphNode *maker = arrays_maker(o, conv);
    if (strncmp(maker->op, "Conv", 4) != 0 || maker->in.n != 2 || !is_bias(o, bias, &v)) continue;
    Id row = arrays_reshape(o, bias, 1, &v.dim[1]);
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

// -- weights in several forms ---------------------------------------------------------------------
// A weight that is read both directly and transposed, or transposed in two ways, is stored once, and
// nodes compute its other forms: it stays one parameter. A weight read in one form only is stored in
// that form.
typedef struct {
  ArrayGraph *o;
  uint32_t *forms; // [value] for a stored weight: the number of forms in which it is read
  Id *made;        // [value] for a form: the node's value; 0: not made yet
  uint32_t values; // the number of values before
} Tying;

static Id stored_form(ArrayGraph *o, Id value) {
  while (arrays_value(o, value)->form_of) value = arrays_value(o, value)->form_of;
  return value;
}

static Id make_form(Tying *t, Id value) {
  ArrayGraph *o = t->o;
  GraphValue v = *arrays_value(o, value);
  if (!v.form_of || t->made[value]) return v.form_of ? t->made[value] : value;
  Id from = make_form(t, v.form_of), in[2] = {from};
  int64_t *n = NEW_ARRAY(o->a, int64_t, v.rank + 1);
  for (uint32_t k = 0; k < v.rank; k++) arrays_is_number(o, v.dim[k], &n[k]);
  if (!v.turn) in[1] = arrays_list(o, v.rank, n);
  Id made = arrays_node(o, v.turn ? "Transpose" : "Reshape", v.turn ? 1 : 2, in, &v);
  if (v.turn) arrays_attribute_list(o, made, "perm", v.rank, v.turn);
  return t->made[value] = made;
}

static void count_forms(Tying *t, Ids *in) {
  for (uint32_t i = 0; i < in->n; i++)
    if (in->at[i] < t->values && t->forms[stored_form(t->o, in->at[i])] > 1)
      in->at[i] = make_form(t, in->at[i]);
}

static void tie_weights(ArrayGraph *o) {
  uint32_t nodes = o->node.n;
  bool *node = NEW_ARRAY(o->a, bool, nodes), *value = NEW_ARRAY(o->a, bool, o->value.n);
  Tying t = {o, NEW_ARRAY(o->a, uint32_t, o->value.n), NEW_ARRAY(o->a, Id, o->value.n), o->value.n};
  Ids before = o->level->node;
  onnx_mark_live(o, node, value);
  for (Id i = 1; i < t.values; i++)
    if (value[i] && arrays_value(o, i)->weight) t.forms[stored_form(o, i)]++;
  o->level->node = (Ids){0}; // nodes that make forms come first
  for (Id i = 1; i < nodes; i++) {
    Ids in = o->node.at[i].in; // shared, not copied: only the list of nodes is rebuilt
    if (node[i]) count_forms(&t, &in);
    if (node[i] && o->node.at[i].inside) count_forms(&t, &o->node.at[i].inside->out);
  }
  for (uint32_t i = 0; i < before.n; i++) vec_push(o->a, &o->level->node, before.at[i]);
}

// -- the whole ------------------------------------------------------------------------------------
// Results of a level must be made in it and keep their names, so a transposed result stays
// transposed.
static void tidy_level(ArrayGraph *o) {
  Tidying t = {.o = o};
  Ids before = o->level->node;
  uint32_t room = o->value.n;
  t.now = NEW_ARRAY(o->a, Id, room + 1);
  o->level->node = (Ids){0};
  for (uint32_t i = 0; i < before.n; i++) move_below_node(&t, before.at[i]);
  for (uint32_t i = 0; i < o->level->out.n; i++) {
    Id was = o->level->out.at[i], is = now(&t, was);
    if (is == was) continue;
    bool own = arrays_value(o, is)->node && is >= room;
    for (uint32_t k = 0; k < i; k++) own &= o->level->out.at[k] != is;
    GraphValue v = *arrays_value(o, is);
    if (!own) is = arrays_node(o, "Identity", 1, &is, &v);
    arrays_value(o, is)->name = arrays_value(o, was)->name;
    o->level->out.at[i] = is;
  }
}

void onnx_tidy(ArrayGraph *o) {
  tidy_level(o);
  uint32_t *reads = count_reads(o);
  for (uint32_t i = 0; i < o->level->node.n; i++)
    if (!strcmp(o->node.at[o->level->node.at[i]].op, "Add"))
      fuse_bias(o, o->level->node.at[i], reads);
  tie_weights(o);
}
