// A protobuf reader, as far as ONNX needs it. A message is a sequence of fields: a number and a
// varint, 4 or 8 bytes, or a byte string with its length, which may be a nested message. Unknown
// fields are skipped. Repeated numbers may be packed or not; both are accepted.
#include "base/files.h"
#include "port/onnx/onnx.h"

typedef struct {
  Arena *arena;
  const char **error;
  uint32_t things; // objects read so far: nodes, names, attributes, …
} OnnxReader;

typedef struct {
  const uint8_t *at, *end;
} Wire;

typedef struct {
  uint32_t number, kind; // wire type: 0 varint, 1 eight bytes, 2 bytes, 5 four bytes
  uint64_t value;
  View bytes;
} WireField;

static bool read_varint(Wire *w, uint64_t *out) {
  *out = 0;
  for (uint32_t shift = 0; shift < 64 && w->at < w->end; shift += 7) {
    uint8_t byte = *w->at++;
    *out |= (uint64_t)(byte & 0x7F) << shift;
    if (!(byte & 0x80)) return true;
  }
  return false;
}

static uint64_t read_fixed(const uint8_t *at, uint32_t n) {
  uint64_t x = 0;
  for (uint32_t i = 0; i < n; i++) x |= (uint64_t)at[i] << (8 * i);
  return x;
}

static bool fail(OnnxReader *r, const char *what) {
  return file_error(r->arena, r->error, "this is no ONNX file: %s", what);
}

static bool too_many(OnnxReader *r) {
  return ++r->things > ONNX_COUNT_LIMIT &&
         !file_error(r->arena, r->error, "the file has more than %d nodes, names and attributes",
                     ONNX_COUNT_LIMIT);
}

// Reads the next field. False at the end, or with r->error on malformed input.
static bool next_field(OnnxReader *r, Wire *w, WireField *f) {
  uint64_t key;
  if (w->at == w->end || *r->error) return false;
  if (!read_varint(w, &key) || key >> 3 == 0 || key >> 3 > UINT32_MAX)
    return fail(r, "a field has no number");
  *f = (WireField){.number = (uint32_t)(key >> 3), .kind = key & 7, .bytes = {w->at, 0}};
  size_t left = (size_t)(w->end - w->at), n = f->kind == 1 ? 8 : f->kind == 5 ? 4 : 0;
  if (f->kind == 0) return read_varint(w, &f->value) || fail(r, "a number does not end");
  if (n) {
    if (left < n) return fail(r, "a number does not end");
    f->value = read_fixed(w->at, (uint32_t)n);
  } else {
    uint64_t length;
    if (f->kind != 2) return fail(r, "a field is of a kind that there is not");
    if (!read_varint(w, &length) || length > (uint64_t)(w->end - w->at))
      return fail(r, "a field is longer than what is left of the file");
    n = (size_t)length;
  }
  f->bytes = (View){w->at, n};
  w->at += n;
  return true;
}

static Wire inside(const WireField *f) { return (Wire){f->bytes.at, f->bytes.at + f->bytes.n}; }

static const char *read_text(OnnxReader *r, const WireField *f) {
  if (too_many(r)) return "";
  if (memchr(f->bytes.at, 0, f->bytes.n)) return fail(r, "a name has a 0 inside"), "";
  return arena_text(r->arena, (const char *)f->bytes.at, f->bytes.n);
}

static float as_float(uint64_t bits) {
  uint32_t low = (uint32_t)bits;
  float x;
  memcpy(&x, &low, sizeof x);
  return x;
}

// -- tensors --------------------------------------------------------------------------------------
// Dimensions, packed or not.
static bool read_dims(OnnxReader *r, const WireField *f, OnnxTensor *t) {
  Wire w = inside(f);
  uint64_t value = f->value;
  do {
    if (f->kind == 2 && w.at == w.end) return true;
    if (f->kind == 2 && !read_varint(&w, &value)) return fail(r, "a size does not end");
    if (t->rank == ONNX_RANK_LIMIT)
      return file_error(r->arena, r->error, "a tensor has more than %d axes", ONNX_RANK_LIMIT);
    t->dim[t->rank++] = (int64_t)value;
  } while (f->kind == 2);
  return true;
}

// Numbers of a typed field: the pieces are referenced in place.
static void reference_numbers(OnnxReader *r, const WireField *f, OnnxTensor *t, OnnxWhere where) {
  t->where = where;
  View v = f->bytes;
  if (f->kind == 0) { // one unpacked varint: reference its bytes
    uint8_t *at = arena_alloc(r->arena, 10);
    uint64_t x = f->value;
    for (; x >= 0x80; x >>= 7) at[v.n++] = (uint8_t)(x | 0x80);
    at[v.n++] = (uint8_t)x;
    v.at = at;
    if (too_many(r)) return;
  }
  vec_push(r->arena, &t->part, v);
}

static bool read_external(OnnxReader *r, const WireField *f, OnnxTensor *t) {
  Wire w = inside(f);
  WireField g;
  const char *key = "", *value = "";
  while (next_field(r, &w, &g)) {
    if (g.number == 1) key = read_text(r, &g);
    if (g.number == 2) value = read_text(r, &g);
  }
  uint64_t n = 0;
  const char *digit = value;
  for (; *digit >= '0' && *digit <= '9' && n < UINT64_MAX / 16; digit++)
    n = 10 * n + (uint64_t)(*digit - '0');
  if (!strcmp(key, "location")) t->location = value;
  bool number = !strcmp(key, "offset") || !strcmp(key, "length");
  if (number && (*digit || !*value)) return fail(r, "an offset into a file is not a number");
  if (!strcmp(key, "offset")) t->offset = n;
  if (!strcmp(key, "length")) t->length = n;
  return !*r->error;
}

// The typed field for an element type.
static uint32_t field_of(OnnxType t) {
  switch (t) {
  case ONNX_FLOAT:
  case ONNX_COMPLEX64: return 4;
  case ONNX_DOUBLE:
  case ONNX_COMPLEX128: return 10;
  case ONNX_INT64: return 7;
  case ONNX_UINT32:
  case ONNX_UINT64: return 11;
  case ONNX_STRING: return 6;
  default: return 5;
  }
}

// Is all data in one field that fits the element type? `seen` has a bit for each field.
static bool fields_fit(OnnxReader *r, const OnnxTensor *t, uint32_t seen) {
  const uint32_t fields = 1U << 4 | 1U << 5 | 1U << 6 | 1U << 7 | 1U << 9 | 1U << 10 | 1U << 11;
  seen &= fields;
  return !seen || seen == 1U << 9 || seen == 1U << field_of(t->type) ||
         file_error(r->arena, r->error, "the numbers of tensor `%s` are not where those of %s are",
                    text_shown(r->arena, t->name, strlen(t->name)), onnx_type_info[t->type].name);
}

static bool read_tensor(OnnxReader *r, const WireField *of, OnnxTensor *t) {
  Wire w = inside(of);
  WireField f;
  bool beside = false;
  uint32_t seen = 0;
  *t = (OnnxTensor){.name = "", .dim = NEW_ARRAY(r->arena, int64_t, ONNX_RANK_LIMIT)};
  if (too_many(r)) return false;
  while (next_field(r, &w, &f)) {
    if (f.number < 32) seen |= 1U << f.number;
    switch (f.number) {
    case 1: read_dims(r, &f, t); break;
    case 2: t->type = f.value < ONNX_TYPES ? (OnnxType)f.value : ONNX_UNDEFINED; break;
    case 4: reference_numbers(r, &f, t, ONNX_FLOATS); break;
    case 5:
    case 7:
    case 11: reference_numbers(r, &f, t, ONNX_VARINTS); break;
    case 6: vec_push(r->arena, &t->text, read_text(r, &f)); break;
    case 8: t->name = read_text(r, &f); break;
    case 9: reference_numbers(r, &f, t, ONNX_RAW); break;
    case 10: reference_numbers(r, &f, t, ONNX_DOUBLES); break;
    case 13: read_external(r, &f, t); break;
    case 14: beside = f.value == 1; break;
    default: break;
    }
  }
  if (*r->error) return false;
  if (!fields_fit(r, t, seen)) return false;
  if (beside) t->where = ONNX_EXTERNAL, t->part.n = 0;
  if (beside && !t->location) return fail(r, "numbers beside it have no file");
  if (!array_count(t->rank, t->dim, &t->count))
    return file_error(r->arena, r->error, "the sizes of tensor `%s` are negative or too large",
                      text_shown(r->arena, t->name, strlen(t->name)));
  return true;
}

// -- nodes and graphs -----------------------------------------------------------------------------
static bool read_graph(OnnxReader *, const WireField *, uint32_t depth, OnnxGraph **);

static void read_attribute_list(OnnxReader *r, const WireField *f, OnnxAttribute *a) {
  Wire w = inside(f);
  uint64_t x = f->value;
  if (f->number == 7 && f->kind == 5) vec_push(r->arena, &a->floats, as_float(x));
  if (f->number == 7 && f->kind == 2)
    for (; w.end - w.at >= 4; w.at += 4)
      vec_push(r->arena, &a->floats, as_float(read_fixed(w.at, 4)));
  if (f->number == 8 && f->kind == 0) vec_push(r->arena, &a->ints, (int64_t)x);
  if (f->number == 8 && f->kind == 2)
    while (w.at < w.end && read_varint(&w, &x)) vec_push(r->arena, &a->ints, (int64_t)x);
}

// The type of an attribute: as declared, if it has a value of that type; undeclared, as its value.
// `has` has a bit for each type of value present.
static OnnxAttributeType attribute_kind(const OnnxAttribute *a, uint32_t has) {
  OnnxAttributeType type = a->type;
  for (int t = ONNX_ATTR_FLOAT; t < ONNX_ATTR_OTHER && type == ONNX_ATTR_UNDEFINED; t++)
    if (has & 1U << t) type = (OnnxAttributeType)t;
  bool empty = (type == ONNX_ATTR_GRAPH && !a->g) || (type == ONNX_ATTR_TENSOR && !a->t);
  return empty || has & ~(1U << type) ? ONNX_ATTR_OTHER : type;
}

static bool read_attribute(OnnxReader *r, const WireField *of, uint32_t depth, OnnxAttribute *a) {
  Wire w = inside(of);
  WireField f;
  static const OnnxAttributeType types[] = {
      [2] = ONNX_ATTR_FLOAT,  [3] = ONNX_ATTR_INT,     [4] = ONNX_ATTR_STRING,
      [5] = ONNX_ATTR_TENSOR, [6] = ONNX_ATTR_GRAPH,   [7] = ONNX_ATTR_FLOATS,
      [8] = ONNX_ATTR_INTS,   [9] = ONNX_ATTR_STRINGS, [10] = ONNX_ATTR_TENSORS,
      [11] = ONNX_ATTR_GRAPHS};
  uint32_t has = 0;
  *a = (OnnxAttribute){.name = ""};
  if (too_many(r)) return false;
  while (next_field(r, &w, &f)) {
    if (f.number > 1 && f.number < COUNT(types)) has |= 1U << types[f.number];
    switch (f.number) {
    case 1: a->name = read_text(r, &f); break;
    case 2: a->f = as_float(f.value); break;
    case 3: a->i = (int64_t)f.value; break;
    case 4: a->s = read_text(r, &f); break;
    case 5: read_tensor(r, &f, a->t = NEW(r->arena, OnnxTensor)); break;
    case 6: read_graph(r, &f, depth + 1, &a->g); break;
    case 7:
    case 8: read_attribute_list(r, &f, a); break;
    case 9: vec_push(r->arena, &a->strings, read_text(r, &f)); break;
    case 20:
      a->type = f.value < ONNX_ATTR_OTHER ? (OnnxAttributeType)f.value : ONNX_ATTR_OTHER;
      break;
    case 21: a->ref = read_text(r, &f); break;
    default: break;
    }
  }
  if (!a->s) a->s = "";
  a->type = attribute_kind(a, has);
  return !*r->error;
}

static bool read_node(OnnxReader *r, const WireField *of, uint32_t depth, OnnxNode *n) {
  Wire w = inside(of);
  WireField f;
  OnnxAttribute a;
  *n = (OnnxNode){.name = "", .op = "", .domain = ""};
  if (too_many(r)) return false;
  while (next_field(r, &w, &f)) {
    switch (f.number) {
    case 1: vec_push(r->arena, &n->in, read_text(r, &f)); break;
    case 2: vec_push(r->arena, &n->out, read_text(r, &f)); break;
    case 3: n->name = read_text(r, &f); break;
    case 4: n->op = read_text(r, &f); break;
    case 5:
      if (read_attribute(r, &f, depth, &a)) vec_push(r->arena, &n->attribute, a);
      break;
    case 7: n->domain = read_text(r, &f); break;
    default: break;
    }
  }
  if (!strcmp(n->domain, "ai.onnx")) n->domain = "";
  return !*r->error;
}

static void read_dimension(OnnxReader *r, const WireField *of, OnnxValueInfo *v) {
  Wire w = inside(of);
  WireField f;
  OnnxDim d = {.size = -1};
  while (next_field(r, &w, &f)) {
    if (f.number == 1) d.size = (int64_t)f.value;
    if (f.number == 2) d.symbol = read_text(r, &f);
  }
  if (d.size >= 0) d.symbol = NULL;
  vec_push(r->arena, &v->dim, d);
  if (v->dim.n > ONNX_RANK_LIMIT)
    file_error(r->arena, r->error, "a tensor has more than %d axes", ONNX_RANK_LIMIT);
}

// A TypeProto.Tensor: element type and shape.
static void read_tensor_type(OnnxReader *r, const WireField *of, OnnxValueInfo *v) {
  Wire w = inside(of), shape;
  WireField f, d;
  while (next_field(r, &w, &f)) {
    if (f.number == 1) v->type = f.value < ONNX_TYPES ? (OnnxType)f.value : ONNX_UNDEFINED;
    if (f.number != 2) continue;
    v->has_shape = true;
    shape = inside(&f);
    while (next_field(r, &shape, &d))
      if (d.number == 1) read_dimension(r, &d, v);
  }
}

static bool read_value_info(OnnxReader *r, const WireField *of, OnnxValueInfo *v) {
  Wire w = inside(of), type;
  WireField f, t;
  *v = (OnnxValueInfo){.name = "", .kind = ONNX_UNTYPED};
  if (too_many(r)) return false;
  while (next_field(r, &w, &f)) {
    if (f.number == 1) v->name = read_text(r, &f);
    if (f.number != 2) continue;
    type = inside(&f);
    while (next_field(r, &type, &t)) {
      if (t.number == 1) v->kind = ONNX_TENSOR, read_tensor_type(r, &t, v);
      if (t.number == 4) v->kind = ONNX_SEQUENCE;
      if (t.number == 5) v->kind = ONNX_MAP;
      if (t.number == 8) v->kind = ONNX_SPARSE;
      if (t.number == 9) v->kind = ONNX_OPTIONAL;
    }
  }
  return !*r->error;
}

static bool read_graph(OnnxReader *r, const WireField *of, uint32_t depth, OnnxGraph **out) {
  Wire w = inside(of);
  WireField f;
  OnnxGraph *g = *out = NEW(r->arena, OnnxGraph);
  OnnxNode n;
  OnnxTensor t;
  OnnxValueInfo v;
  g->name = "";
  if (depth > ONNX_DEPTH_LIMIT)
    return file_error(r->arena, r->error, "graphs are nested more than %d deep", ONNX_DEPTH_LIMIT);
  while (next_field(r, &w, &f)) {
    switch (f.number) {
    case 1:
      if (read_node(r, &f, depth, &n)) vec_push(r->arena, &g->node, n);
      break;
    case 2: g->name = read_text(r, &f); break;
    case 5:
      if (read_tensor(r, &f, &t)) vec_push(r->arena, &g->initializer, t);
      break;
    case 11:
      if (read_value_info(r, &f, &v)) vec_push(r->arena, &g->input, v);
      break;
    case 12:
      if (read_value_info(r, &f, &v)) vec_push(r->arena, &g->output, v);
      break;
    case 13:
      if (read_value_info(r, &f, &v)) vec_push(r->arena, &g->value, v);
      break;
    case 15: g->sparse = true; break;
    default: break;
    }
  }
  return !*r->error;
}

// -- models ---------------------------------------------------------------------------------------
static void read_opset(OnnxReader *r, const WireField *of, OnnxOpsets *list) {
  Wire w = inside(of);
  WireField f;
  OnnxOpset o = {.domain = ""};
  if (too_many(r)) return;
  while (next_field(r, &w, &f)) {
    if (f.number == 1) o.domain = read_text(r, &f);
    if (f.number == 2) o.version = (int64_t)f.value;
  }
  if (!strcmp(o.domain, "ai.onnx")) o.domain = "";
  vec_push(r->arena, list, o);
}

static bool read_function(OnnxReader *r, const WireField *of, OnnxFunction *out) {
  Wire w = inside(of);
  WireField f;
  OnnxNode n;
  OnnxAttribute a;
  *out = (OnnxFunction){.name = "", .domain = ""};
  if (too_many(r)) return false;
  while (next_field(r, &w, &f)) {
    switch (f.number) {
    case 1: out->name = read_text(r, &f); break;
    case 4: vec_push(r->arena, &out->in, read_text(r, &f)); break;
    case 5: vec_push(r->arena, &out->out, read_text(r, &f)); break;
    case 6: vec_push(r->arena, &out->attribute, read_text(r, &f)); break;
    case 7:
      if (read_node(r, &f, 1, &n)) vec_push(r->arena, &out->node, n);
      break;
    case 9: read_opset(r, &f, &out->opset); break;
    case 10: out->domain = read_text(r, &f); break;
    case 11:
      if (read_attribute(r, &f, 1, &a)) vec_push(r->arena, &out->standard, a);
      break;
    default: break;
    }
  }
  return !*r->error;
}

bool onnx_read_bytes(Arena *a, const void *bytes, size_t n, const char *folder, OnnxModel **out,
                     const char **error) {
  OnnxReader r = {a, error, 0};
  Wire w = {bytes, (const uint8_t *)bytes + n};
  WireField f;
  OnnxFunction fun;
  OnnxModel *m = *out = NEW(a, OnnxModel);
  *m = (OnnxModel){.producer = "", .folder = folder, .size = n};
  *error = NULL;
  while (next_field(&r, &w, &f)) {
    switch (f.number) {
    case 1: m->ir_version = (int64_t)f.value; break;
    case 2: m->producer = read_text(&r, &f); break;
    case 7:
      if (m->graph) fail(&r, "it has two graphs");
      read_graph(&r, &f, 1, &m->graph);
      break;
    case 8: read_opset(&r, &f, &m->opset); break;
    case 25:
      if (read_function(&r, &f, &fun)) vec_push(a, &m->function, fun);
      break;
    default: break;
    }
  }
  if (!*error && !m->graph) fail(&r, "it has no graph");
  return !*error;
}

bool onnx_read(Arena *a, const char *path, OnnxModel **out, const char **error) {
  FileText file = file_bytes(a, path);
  const char *name, *why = NULL;
  if (!file.text) return file_error(a, error, "cannot read %s: %s", path, file.error);
  const char *folder = path_folder(a, path, &name);
  if (onnx_read_bytes(a, file.text, file.n, folder, out, &why)) return true;
  return file_error(a, error, "%s: %s", path, why);
}

bool onnx_read_tensor(Arena *a, const void *bytes, size_t n, OnnxTensor *t, const char **error) {
  OnnxReader r = {a, error, 0};
  WireField f = {.bytes = {bytes, n}};
  *error = NULL;
  return read_tensor(&r, &f, t);
}

const OnnxAttribute *onnx_attribute(const OnnxNode *n, const char *name) {
  for (uint32_t i = 0; i < n->attribute.n; i++)
    if (!strcmp(n->attribute.at[i].name, name)) return &n->attribute.at[i];
  return NULL;
}
