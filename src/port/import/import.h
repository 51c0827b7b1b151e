// import: converts an ONNX model to a program.
//
//   ImportOptions how = {.path = "model.onnx", .weights = "model.safetensors"};
//   Imported out;
//   if (!import_onnx(arena, diags, &how, &out)) return; // see the messages
//   // out.text is the program, out.weights the contents of model.safetensors (empty: no file)
//
// Stages:
//
//   onnx.h      parses the file into structs (port/onnx)
//   import.c    visits the nodes in order. Functions are inlined; names become values with an element type and sizes, which are
//               numbers or symbols of the file. Some values are known: constants, and what is computed from sizes (fold.c), so
//               chains of Shape, Gather, Concat and Reshape disappear.
//   ops.def     one row for each operator: a template (`relu($0)`), equations, or a function. They add *lines*: the results, their
//               indices, the right side as a template, and its reads with their indices.
//   equation.c  makes a line from an equation, `[i j] = $0[i k] $1[k j]`, inferring its sizes from its reads.
//   lines.h     simplifies the lines and writes the program, with inputs, constants, weights and helper boxes (port/lines).
//
// To add an operator, add a row to ops.def. `MAP(Name, "template", type)` is enough for an elementwise operator with broadcasting,
// `EQUATIONS(Name, "m[i] = mean[&]($0[i &]); y[i &] = $0[i &] - $m[i] * {alpha=1}")` for one that need not inspect sizes or
// attributes. Otherwise a function `bool op_name(ImpNode *n)` gets its inputs from n->in[k] (0: omitted) and attributes by attr_int
// and others, adds lines by `equation`, and sets results by `op_set_result`. Unsupported cases are refused: `return op_refuse(n, "…")`
// names the node. `tests/onnx/nodes.sh FOLDER` reports which operator tests pass.
//
// Numeric types are R, bool is B. Integers are exact up to 2^53 in double precision; integer semantics (division, wrapping,
// saturation) are written as arithmetic.
#ifndef LIMN_PORT_IMPORT_IMPORT_H
#define LIMN_PORT_IMPORT_IMPORT_H

#include "port/lines/lines.h"

bool import_onnx(Arena *, Diags *, const ImportOptions *, Imported *);

#endif
