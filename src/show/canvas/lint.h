// lint: finds faults of pictures.
#ifndef LIMN_SHOW_CANVAS_LINT_H
#define LIMN_SHOW_CANVAS_LINT_H

#include "core/diagram/diagram.h"
#include "show/canvas/canvas.h"

// -- lint.c: what is wrong with a picture, in words; docs/drawing.md says when each is found ------
typedef enum {
#define FAULT(name, words) FAULT_##name,
#include "show/canvas/faults.def"
#undef FAULT
  FAULT_KINDS
} FaultKind;
typedef struct {
  FaultKind kind;
  double x, y;
  const char *text; // "labels meet at 120, 44: a and b"
} Fault;
typedef VEC(Fault) Faults;
void canvas_check(Arena *, const Canvas *, Faults *);
// Does every wire have a source? For pictures in which all wires run to the right.
void beginnings_check(Arena *, const Canvas *, Faults *);
// Do the lines of a picture correspond to the axes of the diagram's wires? strings: one line per
// wire.
void circuit_check(World *, Arena *, const Diagram *, bool strings, const Canvas *, Faults *);
void faults_print(const Faults *, Buf *); // a line for each, and the count of each kind

#endif
