// The values and nodes of a graph under construction.
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "port/arrays/arrays.h"

bool arrays_refuse(ArrayGraph *o, Id origin, const char *format, ...) {
  va_list args;
  va_start(args, format);
  diag_verror(o->w->diags, origin_span(o->w, origin), format, args);
  va_end(args);
  o->failed = true;
  o->e->status = OUTCOME_WRONG;
  return false;
}

OutType arrays_type_of(const ArrayGraph *o, Base base) {
  return base == BASE_R ? o->real : base == BASE_LABEL ? OUT_INT64 : OUT_BOOL;
}

GraphValue *arrays_value(ArrayGraph *o, Id id) { return &o->value.at[id]; }
GraphNode *arrays_maker(ArrayGraph *o, Id value) { return &o->node.at[o->value.at[value].node]; }
bool arrays_is_known(const ArrayGraph *o, Id id) { return o->value.at[id].data; }
Size arrays_one(ArrayGraph *o) { return size_of(o->w, 1); }
bool arrays_is_number(ArrayGraph *o, Size s, int64_t *n) { return size_value(o->w, s, n); }
bool arrays_is_one(ArrayGraph *o, Size s) { return s == arrays_one(o); }

static Id add_value(ArrayGraph *o, GraphValue v) {
  v.dim = arena_copy(o->a, v.dim, v.rank * sizeof *v.dim);
  for (uint32_t k = 0; k < v.rank; k++) v.dim[k] = size_now(o->w, v.dim[k]);
  vec_push(o->a, &o->value, v);
  return o->value.n - 1;
}

Id arrays_input(ArrayGraph *o, const char *name, OutType type, uint32_t rank, const Size *dim) {
  Size *own = arena_copy(o->a, dim, rank * sizeof *dim);
  return add_value(o, (GraphValue){.name = name, .type = type, .rank = rank, .dim = own});
}

// -- constants ------------------------------------------------------------------------------------
enum { SHARED_CONSTANT = 64 }; // elements; longer constants are not deduplicated

Id arrays_data(ArrayGraph *o, OutType type, uint32_t rank, const Size *dim, const double *data) {
  int64_t count = 1, n;
  Buf key = buf_new(o->a);
  for (uint32_t i = 0; i < rank; i++) {
    bool number = arrays_is_number(o, dim[i], &n);
    count *= number ? n : 0;
    buf_add(&key, (const char *)&dim[i], sizeof dim[i]);
  }
  buf_printf(&key, " %d ", type);
  buf_add(&key, (const char *)data, (size_t)(count > SHARED_CONSTANT ? 0 : count) * sizeof *data);
  Id there = count > SHARED_CONSTANT ? 0 : table_get(o->constant, key.at, key.n);
  if (there) return there;
  Id made = arrays_input(o, "", type, rank, dim);
  GraphValue *v = arrays_value(o, made);
  v->data = arena_copy(o->a, data, (size_t)count * sizeof *data);
  v->count = count;
  if (count <= SHARED_CONSTANT) table_put(o->constant, key.at, key.n, made);
  return made;
}

Id arrays_number(ArrayGraph *o, OutType type, double x) {
  return arrays_data(o, type, 0, NULL, &x);
}

Id arrays_list(ArrayGraph *o, uint32_t n, const int64_t *list) {
  double *data = NEW_ARRAY(o->a, double, n + 1);
  Size size = size_of(o->w, n);
  for (uint32_t i = 0; i < n; i++) data[i] = (double)list[i];
  return arrays_data(o, OUT_INT64, 1, &size, data);
}

// -- nodes ----------------------------------------------------------------------------------------
Id arrays_node(ArrayGraph *o, const char *op, uint32_t nin, const Id *in, const GraphValue *like) {
  GraphNode n = {.op = op};
  GraphValue v = *like;
  for (uint32_t i = 0; i < nin; i++) vec_push(o->a, &n.in, in[i]);
  vec_push(o->a, &o->node, n);
  v.node = o->node.n - 1;
  v.name = o->said ? name_text(o->w->names, o->said) : "";
  v.data = NULL;
  v.weight = false;
  v.form_of = 0, v.turn = NULL; // `like` may describe a weight in another form
  vec_push(o->a, &o->level->node, v.node);
  Id made = add_value(o, v);
  vec_push(o->a, &o->node.at[v.node].out, made);
  return made;
}

Id arrays_add_result(ArrayGraph *o, Id value, OutType type, uint32_t rank, const Size *dim) {
  Id made = arrays_input(o, "", type, rank, dim);
  GraphNode *n = arrays_maker(o, value);
  arrays_value(o, made)->node = arrays_value(o, value)->node;
  arrays_value(o, made)->port = n->out.n;
  vec_push(o->a, &n->out, made);
  return made;
}

static void add_attribute(ArrayGraph *o, Id value, OutAttribute x) {
  vec_push(o->a, &arrays_maker(o, value)->attribute, x);
}

void arrays_attribute_number(ArrayGraph *o, Id value, const char *name, int64_t x) {
  add_attribute(o, value, (OutAttribute){.name = name, .kind = OUT_A_NUMBER, .number = x});
}

void arrays_attribute_real(ArrayGraph *o, Id value, const char *name, double x) {
  add_attribute(o, value, (OutAttribute){.name = name, .kind = OUT_A_REAL, .real = x});
}

void arrays_attribute_text(ArrayGraph *o, Id value, const char *name, const char *x) {
  add_attribute(o, value, (OutAttribute){.name = name, .kind = OUT_A_TEXT, .text = x});
}

void arrays_attribute_list(ArrayGraph *o, Id value, const char *name, uint32_t n,
                           const int64_t *x) {
  const int64_t *own = arena_copy(o->a, x, n * sizeof *x);
  add_attribute(o, value,
                (OutAttribute){.name = name, .kind = OUT_A_NUMBERS, .n = n, .numbers = own});
}

GraphValue arrays_common(ArrayGraph *o, OutType type, uint32_t nin, const Id *in) {
  GraphValue like = {.type = type};
  for (uint32_t i = 0; i < nin; i++)
    if (arrays_value(o, in[i])->rank > like.rank) like.rank = arrays_value(o, in[i])->rank;
  like.dim = NEW_ARRAY(o->a, Size, like.rank + 1);
  for (uint32_t k = 0; k < like.rank; k++) like.dim[k] = arrays_one(o);
  for (uint32_t i = 0; i < nin; i++) {
    const GraphValue *v = arrays_value(o, in[i]);
    uint32_t skip = like.rank - v->rank;
    for (uint32_t k = 0; k < v->rank; k++)
      if (!arrays_is_one(o, v->dim[k])) like.dim[skip + k] = v->dim[k];
  }
  return like;
}

Id arrays_each(ArrayGraph *o, const char *op, OutType type, uint32_t nin, const Id *in) {
  GraphValue like = arrays_common(o, type, nin, in);
  Id made = arrays_node(o, op, nin, in, &like);
  arrays_maker(o, made)->each = true;
  return made;
}
