// onnx: an ONNX file as structs. No limn here: what a node means is for others to say.
//
//   OnnxModel *m;
//   const char *error;
//   if (!onnx_read(arena, "model.onnx", &m, &error)) return complain(error);
//   for (uint32_t i = 0; i < m->graph->node.n; i++) puts(m->graph->node.at[i].op);
//
// The reader trusts nothing: every length is held against the bytes that are there, nesting is limited, and so is the number of
// things in a file, so that n bytes take at most 10 n and 64 MB. Texts are ended by 0 and have no 0 inside. Numbers of tensors stay
// where they are in the file until they are asked for; numbers in a file beside the model are looked for in the model's folder
// alone, below it and without links.
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
  int8_t exponent; // bits of the exponent, of floats
  int8_t fraction; // and of what is behind the point
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
  // Where the numbers are: little-endian and packed as in raw_data (raw), as a list of floats, doubles or whole numbers of a
  // field of their own, or in a file beside the model.
  OnnxWhere where;
  VEC(View) part;          // one after the other
  const char *location;    // of ONNX_EXTERNAL: the file's name,
  uint64_t offset, length; // where in it, and how long: 0: up to its end
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
  const char *name, *ref; // ref: in a function, the attribute of the call that is meant; or NULL
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
  const char *name, *op, *domain; // "" where there is none; of the usual domain too
  VEC(const char *) in, out;      // "": left out
  VEC(OnnxAttribute) attribute;
} OnnxNode;

typedef struct {
  int64_t size;       // -1: not known
  const char *symbol; // or NULL
} OnnxDim;
typedef struct {
  const char *name;
  enum { ONNX_TENSOR, ONNX_SEQUENCE, ONNX_OPTIONAL, ONNX_MAP, ONNX_SPARSE, ONNX_UNTYPED } kind;
  OnnxType type;  // of a tensor
  bool has_shape; // otherwise not even the rank is known
  VEC(OnnxDim) dim;
} OnnxValueInfo;

struct OnnxGraph {
  const char *name;
  VEC(OnnxNode) node;
  VEC(OnnxTensor) initializer;
  VEC(OnnxValueInfo) input, output, value;
  bool sparse; // it has sparse initializers
};

typedef struct {
  const char *domain; // "": the usual one
  int64_t version;
} OnnxOpset;
typedef VEC(OnnxOpset) OnnxOpsets;

typedef struct {
  const char *name, *domain;
  VEC(const char *) in, out;
  VEC(const char *) attribute; // that a call must give
  VEC(OnnxAttribute) standard; // those that have a value of their own
  VEC(OnnxNode) node;
  OnnxOpsets opset;
} OnnxFunction;

typedef struct {
  int64_t ir_version;
  size_t size;                   // of the file
  const char *producer, *folder; // folder: of the file, for numbers beside it
  OnnxOpsets opset;
  OnnxGraph *graph;
  VEC(OnnxFunction) function;
} OnnxModel;

// read.c
enum { ONNX_DEPTH_LIMIT = 24, ONNX_COUNT_LIMIT = 200000, ONNX_RANK_LIMIT = 16 };
bool onnx_read(Arena *, const char *path, OnnxModel **, const char **error);
// The same from bytes, which must live as long; `folder` is for files beside it, or NULL: there are none.
bool onnx_read_bytes(Arena *, const void *bytes, size_t n, const char *folder, OnnxModel **,
                     const char **error);
// One tensor alone, as tests have them in files.
bool onnx_read_tensor(Arena *, const void *bytes, size_t n, OnnxTensor *, const char **error);
const OnnxAttribute *onnx_attribute(const OnnxNode *, const char *name); // NULL: it has none

// signature.c: whether a node is one of its operator, in that version of the operator set: what is wrong with its inputs, outputs and
// attributes, or NULL. Of each input the type, [count]; ONNX_UNDEFINED: left out.
const char *onnx_node_fault(Arena *, const OnnxNode *, int64_t version, const OnnxType *in,
                            uint32_t count);

// tensor.c: its numbers, [count]. `folder` as above.
bool onnx_numbers(Arena *, const OnnxTensor *, const char *folder, double **, const char **error);
double onnx_small_float(OnnxType, uint32_t bits); // of a float of 16 bits or less, by its bits

#endif
