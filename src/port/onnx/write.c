// Serialises a model as protobuf: each field has a key (number and wire type) and a value: a
// varint, four or eight bytes, or a byte string with its length. Nested messages are byte strings,
// so they are written first; tensor data, which is most of the file, is written in place.
#include "port/onnx/write.h"
#include "base/version.h"

enum { WIRE_NUMBER, WIRE_EIGHT, WIRE_BYTES, WIRE_FOUR = 5 };

// -- protobuf -------------------------------------------------------------------------------------
static void put_varint(Buf *b, uint64_t x) {
  for (; x >= 0x80; x >>= 7) buf_char(b, (char)(x | 0x80));
  buf_char(b, (char)x);
}

static void put_key(Buf *b, uint32_t field, uint32_t wire) { put_varint(b, field << 3 | wire); }

static void put_number(Buf *b, uint32_t field, int64_t x) {
  put_key(b, field, WIRE_NUMBER);
  put_varint(b, (uint64_t)x);
}

static void put_float(Buf *b, uint32_t field, double x) {
  float f = (float)x;
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  put_key(b, field, WIRE_FOUR);
  for (uint32_t i = 0; i < 4; i++) buf_char(b, (char)(bits >> 8 * i));
}

static void put_bytes(Buf *b, uint32_t field, const char *bytes, size_t n) {
  put_key(b, field, WIRE_BYTES);
  put_varint(b, n);
  buf_add(b, bytes, n);
}

static void put_text(Buf *b, uint32_t field, const char *text) {
  put_bytes(b, field, text, strlen(text));
}

static void put_message(Buf *b, uint32_t field, const Buf *inside) {
  put_bytes(b, field, inside->n ? inside->at : "", inside->n);
}

// -- tensors --------------------------------------------------------------------------------------
static ElementKind kind_of(OutType type) {
  switch (type) {
  case OUT_INT64: return EL_I64;
  case OUT_BOOL: return EL_BOOL;
  case OUT_DOUBLE: return EL_F64;
  default: return EL_F32;
  }
}

static bool put_tensor(Arena *a, Buf *b, uint32_t field, const OutTensor *t, const char **error) {
  Array x = {.name = t->name,
             .rank = t->rank,
             .shape = arena_copy(a, t->dim, t->rank * sizeof *t->dim),
             .count = t->count,
             .data = (double *)(uintptr_t)t->data, // read only
             .kind = kind_of(t->type)};
  size_t n = (size_t)t->count * element_info[x.kind].bytes;
  Buf head = buf_new(a), key = buf_new(a);
  uint8_t *raw = arena_alloc(a, n + 1);
  if (!array_store(a, &x, raw, error)) return false;
  for (uint32_t i = 0; i < t->rank; i++) put_number(&head, 1, t->dim[i]);
  put_number(&head, 2, t->type);
  put_text(&head, 8, t->name);
  put_key(&key, 9, WIRE_BYTES);
  put_varint(&key, n);
  put_key(b, field, WIRE_BYTES);
  put_varint(b, head.n + key.n + n);
  buf_add(b, head.at, head.n);
  buf_add(b, key.at, key.n);
  buf_add(b, (const char *)raw, n);
  return true;
}

// -- graphs ---------------------------------------------------------------------------------------
static bool put_graph(Arena *, Buf *, const OutGraph *, const char **error);

static bool put_attribute(Arena *a, Buf *b, const OutAttribute *from, const char **error) {
  static const int type[] = {[OUT_A_REAL] = 1,
                             [OUT_A_NUMBER] = 2,
                             [OUT_A_TEXT] = 3,
                             [OUT_A_NUMBERS] = 7,
                             [OUT_A_GRAPH] = 5};
  Buf in = buf_new(a), graph = buf_new(a);
  put_text(&in, 1, from->name);
  switch (from->kind) {
  case OUT_A_REAL: put_float(&in, 2, from->real); break;
  case OUT_A_NUMBER: put_number(&in, 3, from->number); break;
  case OUT_A_TEXT: put_text(&in, 4, from->text); break;
  case OUT_A_NUMBERS:
    for (uint32_t i = 0; i < from->n; i++) put_number(&in, 8, from->numbers[i]);
    break;
  case OUT_A_GRAPH:
    if (!put_graph(a, &graph, from->graph, error)) return false;
    put_message(&in, 6, &graph);
    break;
  }
  put_number(&in, 20, type[from->kind]);
  put_message(b, 5, &in);
  return true;
}

static bool put_node(Arena *a, Buf *b, const OutNode *n, const char **error) {
  Buf in = buf_new(a);
  for (uint32_t i = 0; i < n->nin; i++) put_text(&in, 1, n->in[i]);
  for (uint32_t i = 0; i < n->nout; i++) put_text(&in, 2, n->out[i]);
  put_text(&in, 3, n->out[0]);
  put_text(&in, 4, n->op);
  for (uint32_t i = 0; i < n->nattribute; i++)
    if (!put_attribute(a, &in, &n->attribute[i], error)) return false;
  put_message(b, 1, &in);
  return true;
}

static void put_info(Arena *a, Buf *b, uint32_t field, const OutInfo *v) {
  Buf shape = buf_new(a), tensor = buf_new(a), type = buf_new(a), in = buf_new(a);
  for (uint32_t i = 0; i < v->rank; i++) {
    Buf dim = buf_new(a);
    if (v->dim[i].symbol) put_text(&dim, 2, v->dim[i].symbol);
    if (!v->dim[i].symbol) put_number(&dim, 1, v->dim[i].size);
    put_message(&shape, 1, &dim);
  }
  put_number(&tensor, 1, v->type);
  put_message(&tensor, 2, &shape);
  put_message(&type, 1, &tensor);
  put_text(&in, 1, v->name);
  put_message(&in, 2, &type);
  put_message(b, field, &in);
}

// A Constant node: unlike an initializer, readers do not treat it as trainable.
static bool put_constant(Arena *a, Buf *b, const OutTensor *t, const char **error) {
  Buf in = buf_new(a), value = buf_new(a);
  put_text(&value, 1, "value");
  if (!put_tensor(a, &value, 5, t, error)) return false;
  put_number(&value, 20, 4); // type TENSOR
  put_text(&in, 2, t->name);
  put_text(&in, 3, t->name);
  put_text(&in, 4, "Constant");
  put_message(&in, 5, &value);
  put_message(b, 1, &in);
  return true;
}

static bool put_graph(Arena *a, Buf *b, const OutGraph *g, const char **error) {
  for (uint32_t i = 0; i < g->tensor.n; i++)
    if (!g->tensor.at[i].weight && !put_constant(a, b, &g->tensor.at[i], error)) return false;
  for (uint32_t i = 0; i < g->node.n; i++)
    if (!put_node(a, b, &g->node.at[i], error)) return false;
  put_text(b, 2, g->name);
  for (uint32_t i = 0; i < g->tensor.n; i++)
    if (g->tensor.at[i].weight && !put_tensor(a, b, 5, &g->tensor.at[i], error)) return false;
  for (uint32_t i = 0; i < g->input.n; i++) put_info(a, b, 11, &g->input.at[i]);
  for (uint32_t i = 0; i < g->output.n; i++) put_info(a, b, 12, &g->output.at[i]);
  return true;
}

bool onnx_bytes(Arena *a, const OutGraph *g, Bytes *out, const char **error) {
  Buf graph = buf_new(a), opset = buf_new(a), model = buf_new(a);
  if (!put_graph(a, &graph, g, error)) return false;
  put_number(&model, 1, ONNX_IR);
  put_text(&model, 2, "limn");
  put_text(&model, 3, LIMN_VERSION);
  put_message(&model, 7, &graph);
  put_text(&opset, 1, "");
  put_number(&opset, 2, ONNX_OPSET);
  put_message(&model, 8, &opset);
  *out = (Bytes){(uint8_t *)model.at, model.n};
  return true;
}
