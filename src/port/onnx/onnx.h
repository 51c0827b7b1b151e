// onnx: reads an ONNX file into structs. It does not depend on limn: interpreting nodes is up to
// others.
//
//   OnnxModel *m;
//   const char *error;
//   if (!onnx_read(arena, "model.onnx", &m, &error)) return complain(error);
//   for (uint32_t i = 0; i < m->graph->node.n; i++) puts(m->graph->node.at[i].op);
//
// The input is untrusted: lengths are checked against the bytes present, nesting depth and the
// number of objects are limited, so that n bytes need at most 10 n + 64 MB of memory. Strings are
// zero-terminated and contain no zero. Tensor data stays in the file until requested; external data
// is only read from below the model's folder, without following links.
#ifndef LIMN_PORT_ONNX_ONNX_H
#define LIMN_PORT_ONNX_ONNX_H

#include "io/bytes/bytes.h"

// Element types, by ONNX's numbers.
typedef enum {
  ONNX_UNDEFINED,
  ONNX_FLOAT,
  ONNX_UINT8,
  ONNX_INT8,
  ONNX_UINT16,
  ONNX_INT16,
  ONNX_INT32,
  ONNX_INT64,
  ONNX_STRING,
  ONNX_BOOL,
  ONNX_FLOAT16,
  ONNX_DOUBLE,
  ONNX_UINT32,
  ONNX_UINT64,
  ONNX_COMPLEX64,
  ONNX_COMPLEX128,
  ONNX_BFLOAT16,
  ONNX_FLOAT8E4M3FN,
  ONNX_FLOAT8E4M3FNUZ,
  ONNX_FLOAT8E5M2,
  ONNX_FLOAT8E5M2FNUZ,
  ONNX_UINT4,
  ONNX_INT4,
  ONNX_FLOAT4E2M1,
  ONNX_FLOAT8E8M0,
  ONNX_UINT2,
  ONNX_INT2,
  ONNX_TYPES
} OnnxType;

typedef struct {
  const char *name; // "float16"
  uint32_t bits;    // 0: strings, or unknown
  char kind; // 'f' float, 'i' signed, 'u' unsigned, 'b' bool, 's' string, 'c' complex, '?' none
  int8_t exponent; // exponent bits, of floats
  int8_t fraction; // mantissa bits
  int16_t bias;
} OnnxTypeInfo;
extern const OnnxTypeInfo onnx_type_info[ONNX_TYPES];

typedef struct OnnxGraph OnnxGraph;

typedef enum { ONNX_RAW, ONNX_FLOATS, ONNX_DOUBLES, ONNX_VARINTS, ONNX_EXTERNAL } OnnxWhere;

typedef struct {
  const char *name;
  OnnxType type;
  uint32_t rank;
  int64_t *dim;  // [rank]
  int64_t count; // their product
  // How the data is stored: little-endian in raw_data, as packed floats, doubles or varints in a
  // typed field, or in an external file.
  OnnxWhere where;
  VEC(View) part;          // consecutive pieces
  const char *location;    // of ONNX_EXTERNAL: the file name,
  uint64_t offset, length; // offset and length in it; length 0: to its end
  VEC(const char *) text;  // of ONNX_STRING
} OnnxTensor;

typedef enum {
  ONNX_ATTR_UNDEFINED,
  ONNX_ATTR_FLOAT,
  ONNX_ATTR_INT,
  ONNX_ATTR_STRING,
  ONNX_ATTR_TENSOR,
  ONNX_ATTR_GRAPH,
  ONNX_ATTR_FLOATS,
  ONNX_ATTR_INTS,
  ONNX_ATTR_STRINGS,
  ONNX_ATTR_TENSORS,
  ONNX_ATTR_GRAPHS,
  ONNX_ATTR_OTHER, // sparse tensors, types
} OnnxAttributeType;

typedef struct {
  // ref: in a function body, the attribute of the call that this one refers to; or NULL.
  const char *name, *ref;
  OnnxAttributeType type;
  float f;
  int64_t i;
  const char *s;
  OnnxTensor *t;
  OnnxGraph *g;
  VEC(float) floats;
  VEC(int64_t) ints;
  VEC(const char *) strings;
} OnnxAttribute;

typedef struct {
  const char *name, *op, *domain; // "" if absent; the default domain is "" too
  VEC(const char *) in, out;      // "": omitted
  VEC(OnnxAttribute) attribute;
} OnnxNode;

typedef struct {
  int64_t size;       // -1: unknown
  const char *symbol; // or NULL
} OnnxDim;
typedef struct {
  const char *name;
  enum { ONNX_TENSOR, ONNX_SEQUENCE, ONNX_OPTIONAL, ONNX_MAP, ONNX_SPARSE, ONNX_UNTYPED } kind;
  OnnxType type;  // of a tensor
  bool has_shape; // if false, not even the rank is known
  VEC(OnnxDim) dim;
} OnnxValueInfo;

struct OnnxGraph {
  const char *name;
  VEC(OnnxNode) node;
  VEC(OnnxTensor) initializer;
  VEC(OnnxValueInfo) input, output, value;
  bool sparse; // has sparse initializers
};

typedef struct {
  const char *domain; // "": the default domain
  int64_t version;
} OnnxOpset;
typedef VEC(OnnxOpset) OnnxOpsets;

typedef struct {
  const char *name, *domain;
  VEC(const char *) in, out;
  VEC(const char *) attribute; // attributes that a call must give
  VEC(OnnxAttribute) standard; // attributes with default values
  VEC(OnnxNode) node;
  OnnxOpsets opset;
} OnnxFunction;

typedef struct {
  int64_t ir_version;
  size_t size;                   // of the file
  const char *producer, *folder; // folder: of the file, for external data
  OnnxOpsets opset;
  OnnxGraph *graph;
  VEC(OnnxFunction) function;
} OnnxModel;

// read.c
enum { ONNX_DEPTH_LIMIT = 24, ONNX_COUNT_LIMIT = 200000, ONNX_RANK_LIMIT = 16 };
bool onnx_read(Arena *, const char *path, OnnxModel **, const char **error);
// The same from bytes, which must outlive the model; `folder` for external data, or NULL: none.
bool onnx_read_bytes(Arena *, const void *bytes, size_t n, const char *folder, OnnxModel **,
                     const char **error);
// A single tensor, as in test data files.
bool onnx_read_tensor(Arena *, const void *bytes, size_t n, OnnxTensor *, const char **error);
const OnnxAttribute *onnx_attribute(const OnnxNode *, const char *name); // NULL: absent

// signature.c: checks inputs, outputs and attributes of a node against its operator in this opset
// version: the fault, or NULL. in: [count] the type of each input; ONNX_UNDEFINED: omitted.
const char *onnx_node_fault(Arena *, const OnnxNode *, int64_t version, const OnnxType *in,
                            uint32_t count);

// tensor.c: reads the data, [count]; `folder` as above
bool onnx_numbers(Arena *, const OnnxTensor *, const char *folder, double **, const char **error);
double onnx_small_float(OnnxType, uint32_t bits); // decodes a float of at most 16 bits

#endif
