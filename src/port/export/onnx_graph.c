// The values and nodes of a graph under construction.
#include "port/export/onnx_own.h"

bool onnx_refuse(Onnx *o, Id origin, const char *format, ...) {
  va_list args;
  va_start(args, format);
  diag_verror(o->w->diags, origin_span(o->w, origin), format, args);
  va_end(args);
  o->failed = true;
  o->e->status = OUTCOME_WRONG;
  return false;
}

OutType onnx_type_of(const Onnx *o, Base base) {
  return base == BASE_R ? o->real : base == BASE_LABEL ? OUT_INT64 : OUT_BOOL;
}

GraphValue *onnx_value(Onnx *o, Id id) { return &o->value.at[id]; }
GraphNode *onnx_maker(Onnx *o, Id value) { return &o->node.at[o->value.at[value].node]; }
bool onnx_is_known(const Onnx *o, Id id) { return o->value.at[id].data; }
Size onnx_one(Onnx *o) { return size_of(o->w, 1); }
bool onnx_is_number(Onnx *o, Size s, int64_t *n) { return size_value(o->w, s, n); }
bool onnx_is_one(Onnx *o, Size s) { return s == onnx_one(o); }

static Id add_value(Onnx *o, GraphValue v) {
  v.dim = arena_copy(o->a, v.dim, v.rank * sizeof *v.dim);
  for (uint32_t k = 0; k < v.rank; k++) v.dim[k] = size_now(o->w, v.dim[k]);
  vec_push(o->a, &o->value, v);
  return o->value.n - 1;
}

Id onnx_input(Onnx *o, const char *name, OutType type, uint32_t rank, const Size *dim) {
  Size *own = arena_copy(o->a, dim, rank * sizeof *dim);
  return add_value(o, (GraphValue){.name = name, .type = type, .rank = rank, .dim = own});
}

// -- constants ------------------------------------------------------------------------------------
enum { SHARED_CONSTANT = 64 }; // numbers: longer ones are not compared

Id onnx_data(Onnx *o, OutType type, uint32_t rank, const Size *dim, const double *data) {
  int64_t count = 1, n;
  Buf key = buf_new(o->a);
  for (uint32_t i = 0; i < rank; i++) {
    bool number = onnx_is_number(o, dim[i], &n);
    count *= number ? n : 0;
    buf_add(&key, (const char *)&dim[i], sizeof dim[i]);
  }
  buf_printf(&key, " %d ", type);
  buf_add(&key, (const char *)data, (size_t)(count > SHARED_CONSTANT ? 0 : count) * sizeof *data);
  Id there = count > SHARED_CONSTANT ? 0 : table_get(o->constant, key.at, key.n);
  if (there) return there;
  Id made = onnx_input(o, "", type, rank, dim);
  GraphValue *v = onnx_value(o, made);
  v->data = arena_copy(o->a, data, (size_t)count * sizeof *data);
  v->count = count;
  if (count <= SHARED_CONSTANT) table_put(o->constant, key.at, key.n, made);
  return made;
}

Id onnx_number(Onnx *o, OutType type, double x) { return onnx_data(o, type, 0, NULL, &x); }

Id onnx_list(Onnx *o, uint32_t n, const int64_t *list) {
  double *data = NEW_ARRAY(o->a, double, n + 1);
  Size size = size_of(o->w, n);
  for (uint32_t i = 0; i < n; i++) data[i] = (double)list[i];
  return onnx_data(o, OUT_INT64, 1, &size, data);
}

// -- nodes ----------------------------------------------------------------------------------------
Id onnx_node(Onnx *o, const char *op, uint32_t nin, const Id *in, const GraphValue *like) {
  GraphNode n = {.op = op};
  GraphValue v = *like;
  for (uint32_t i = 0; i < nin; i++) vec_push(o->a, &n.in, in[i]);
  vec_push(o->a, &o->node, n);
  v.node = o->node.n - 1;
  v.name = o->said ? name_text(o->w->names, o->said) : "";
  v.data = NULL;
  v.weight = false;
  vec_push(o->a, &o->level->node, v.node);
  Id made = add_value(o, v);
  vec_push(o->a, &o->node.at[v.node].out, made);
  return made;
}

Id onnx_more(Onnx *o, Id value, OutType type, uint32_t rank, const Size *dim) {
  Id made = onnx_input(o, "", type, rank, dim);
  GraphNode *n = onnx_maker(o, value);
  onnx_value(o, made)->node = onnx_value(o, value)->node;
  onnx_value(o, made)->port = n->out.n;
  vec_push(o->a, &n->out, made);
  return made;
}

static void add_attribute(Onnx *o, Id value, OutAttribute x) {
  vec_push(o->a, &onnx_maker(o, value)->attribute, x);
}

void onnx_attribute_number(Onnx *o, Id value, const char *name, int64_t x) {
  add_attribute(o, value, (OutAttribute){.name = name, .kind = OUT_A_NUMBER, .number = x});
}

void onnx_attribute_real(Onnx *o, Id value, const char *name, double x) {
  add_attribute(o, value, (OutAttribute){.name = name, .kind = OUT_A_REAL, .real = x});
}

void onnx_attribute_text(Onnx *o, Id value, const char *name, const char *x) {
  add_attribute(o, value, (OutAttribute){.name = name, .kind = OUT_A_TEXT, .text = x});
}

void onnx_attribute_list(Onnx *o, Id value, const char *name, uint32_t n, const int64_t *x) {
  const int64_t *own = arena_copy(o->a, x, n * sizeof *x);
  add_attribute(o, value,
                (OutAttribute){.name = name, .kind = OUT_A_NUMBERS, .n = n, .numbers = own});
}

GraphValue onnx_common(Onnx *o, OutType type, uint32_t nin, const Id *in) {
  GraphValue like = {.type = type};
  for (uint32_t i = 0; i < nin; i++)
    if (onnx_value(o, in[i])->rank > like.rank) like.rank = onnx_value(o, in[i])->rank;
  like.dim = NEW_ARRAY(o->a, Size, like.rank + 1);
  for (uint32_t k = 0; k < like.rank; k++) like.dim[k] = onnx_one(o);
  for (uint32_t i = 0; i < nin; i++) {
    const GraphValue *v = onnx_value(o, in[i]);
    uint32_t skip = like.rank - v->rank;
    for (uint32_t k = 0; k < v->rank; k++)
      if (!onnx_is_one(o, v->dim[k])) like.dim[skip + k] = v->dim[k];
  }
  return like;
}

Id onnx_each(Onnx *o, const char *op, OutType type, uint32_t nin, const Id *in) {
  GraphValue like = onnx_common(o, type, nin, in);
  Id made = onnx_node(o, op, nin, in, &like);
  onnx_maker(o, made)->each = true;
  return made;
}
