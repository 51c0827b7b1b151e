// write: an ONNX model as structs that refer to each other by name, and its serialisation.
//
//   OutGraph g = {.name = "f"};
//   vec_push(arena, &g.node, (OutNode){.op = "Relu", .nin = 1, .in = (const char *[]){"x"}, …});
//   Bytes bytes;
//   if (!onnx_bytes(arena, &g, &bytes, &error)) return complain(error);
//
// Nothing is checked: the structs come from our own code.
#ifndef LIMN_PORT_ONNX_WRITE_H
#define LIMN_PORT_ONNX_WRITE_H

#include "io/bytes/bytes.h"

// By ONNX's numbers.
typedef enum { OUT_FLOAT = 1, OUT_INT64 = 7, OUT_BOOL = 9, OUT_DOUBLE = 11 } OutType;

typedef struct {
  const char *name;
  OutType type;
  uint32_t rank;
  const int64_t *dim; // [rank]
  int64_t count;      // their product
  const double *data; // [count]
  bool weight;        // trainable: an initializer; otherwise a Constant
} OutTensor;

typedef struct {
  int64_t size;       // used if `symbol` is NULL
  const char *symbol; // "N"; NULL: the size is fixed
} OutDim;
typedef struct {
  const char *name;
  OutType type;
  uint32_t rank;
  const OutDim *dim; // [rank]
} OutInfo;

typedef struct OutGraph OutGraph;
typedef enum { OUT_A_REAL, OUT_A_NUMBER, OUT_A_TEXT, OUT_A_NUMBERS, OUT_A_GRAPH } OutAttributeKind;
typedef struct {
  const char *name;
  OutAttributeKind kind;
  double real;
  int64_t number;
  const char *text;
  uint32_t n;
  const int64_t *numbers; // [n]
  const OutGraph *graph;
} OutAttribute;

typedef struct {
  const char *op;
  uint32_t nin, nout, nattribute;
  const char *const *in; // "": omitted
  const char *const *out;
  const OutAttribute *attribute;
} OutNode;

struct OutGraph {
  const char *name;
  VEC(OutNode) node;
  VEC(OutTensor) tensor; // initializers, and values of Constant nodes
  VEC(OutInfo) input, output;
};

enum { ONNX_OPSET = 21, ONNX_IR = 10 };
bool onnx_bytes(Arena *, const OutGraph *, Bytes *, const char **error);

#endif
