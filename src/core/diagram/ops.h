// ops.h: the scalar functions, which are rows of ops.def. The build keeps fn_names.def, the list of their
// names, equal to ops.def; another column of a row changes only the objects that include ops.def.
#ifndef LIMN_CORE_DIAGRAM_OPS_H
#define LIMN_CORE_DIAGRAM_OPS_H

#include "core/diagram/diagram.h"

typedef enum {
  FN_CONST, // k
  FN_ARG,   // the value of operand `ref`
  FN_AT,    // the value of loop index `ref`
  FN_SIZE,  // the size `ref` as a real number
#define FN(name) FN_##name,
#include "core/diagram/fn_names.def"
#undef FN
  FN_COUNT
} Fn;

typedef enum {
  UNIT_UNKNOWN,
  UNIT_OF_PURE,      // arguments and result are pure numbers
  UNIT_OF_ARGUMENTS, // all of one unit
  UNIT_ROOT          // the square root of the argument's unit
} FnUnit;
typedef struct {
  const char *name;
  const char *sig; // "RR>R"; * is any base, the same at every *
  uint32_t arity;
  double (*value)(double a, double b, double c); // NULL for FN_CONST … FN_SIZE
  const char *text;                              // the value as a C expression of a, b, c
  // The vector–Jacobian product by each argument, as text: a b c are the arguments, y the result, g
  // the cotangent. NULL: the derivative is zero.
  const char *d[3];
  uint32_t flops;
  const char *glyph;
  double low, high;  // range of arguments for tests
  const char *kinks; // points where it is not differentiable, as in "0" or "0,1"; NULL if smooth
  const char *doc;
  const char *written;      // in the language, where that is not the name: "+"
  const char *least, *most; // bounds, as text: a A, b B, c C are those of the arguments; NULL: none
  FnUnit unit;
  const char *onnx;        // the value in ONNX operators: "Sub(Exp(a), 1)"
  const char *torch, *jax; // and in Python: "T.tanh($0)"; jax: NULL: as for PyTorch
} FnRow;
extern const FnRow fn_rows[FN_COUNT];
Fn fn_find(const char *name); // FN_COUNT if not found
void ops_markdown(Buf *);     // prints docs/ops.md

// Appends an application of `fn`; the base follows from the signature.
uint32_t scalar_fn(World *, Loop *, Fn, uint32_t a, uint32_t b, uint32_t c);

#endif
