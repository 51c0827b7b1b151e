// import: an ONNX model becomes a program.
//
//   ImportOptions how = {.path = "model.onnx", .weights = "model.safetensors"};
//   Imported out;
//   if (!import_onnx(arena, diags, &how, &out)) return; // the messages say why
//   // out.text is the program, out.weights what belongs into model.safetensors (none: no file)
//
// A model goes through four stages.
//
//   onnx.h      the file as structs                                                     (port/onnx)
//   import.c    walks the nodes in their order. Functions are opened, names become values. Of each value the element type and the
//               sizes are known (numbers, or symbols of the file); of some the numbers too: constants, and what is computed from
//               sizes (fold.c). So Shape, Gather, Concat, Reshape chains vanish here.
//   ops.def     one row for each operator: a template (`relu($0)`), equations, or a function. They add *lines*: what is made, its
//               indices, the right side as a template, and what is read there with which indices.
//   equation.c  an equation of the language, `[i j] = $0[i k] $1[k j]`, becomes a line: its sizes follow from what it reads.
//   lines.h     the lines are made short, and become text, with their inputs, constants, weights and the small boxes (boxes.def) that they mention. (port/lines)
//
// To add an operator: a row in ops.def. `MAP(Name, "template", type)` is enough for what works at each place, with broadcasting,
// `EQUATIONS(Name, "m[i] = mean[&]($0[i &]); y[i &] = $0[i &] - $m[i] * {alpha=1}")` for what needs no look at sizes or attributes.
// A function `bool op_name(ImpNode *n)` in the family's file gets its inputs by n->in[k] (0: left out), attributes by attr_int and
// others, adds lines by `equation`, and hands its results over by `op_give`. What it cannot do right it refuses:
// `return op_refuse(n, "…")` names the node. `tests/onnx/nodes.sh FOLDER` then says what passes.
//
// Numbers: every numeric type is R, bool is B. Whole numbers are exact up to 2^53 in double precision; what an integer type means (division, wrapping,
// saturation) is written as arithmetic.
#ifndef LIMN_PORT_IMPORT_IMPORT_H
#define LIMN_PORT_IMPORT_IMPORT_H

#include "port/lines/lines.h"

bool import_onnx(Arena *, Diags *, const ImportOptions *, Imported *);

#endif
