// each.h: element-wise loops.
#ifndef LIMN_CORE_DIAGRAM_EACH_H
#define LIMN_CORE_DIAGRAM_EACH_H

#include "core/diagram/diagram.h"

// An element-wise loop over the type: one index per axis, a plain output access, no operands and an
// empty body.
Loop *loop_over(World *, const Type *);
// Coordinates are the indices first, first + 1, ….
Access access_from(World *, uint32_t first, uint32_t rank);
Id wire_filled(World *, Diagram *, const Type *, double, Name, Id origin); // filled with one number
// An element-wise map of scalars given as text. `a` is the first operand, `b` the second, …; an
// operand has the leading axes of the type, and is broadcast along the others.
Id map_text(World *, Diagram *, Type, const char *text, const Id *in, uint32_t n, Id origin);
// The same text, reduced over all cells of the first operand.
Id fold_text(World *, Diagram *, Combine, const char *text, const Id *in, uint32_t n, Id origin);
// `yes` where the bit is set, otherwise `no`; the bit may lack axes of both.
Id wire_choice(World *, Diagram *, Id bit, Id yes, Id no);
// Most operands of an Each.
enum { EACH_LIMIT = 4 };
typedef struct {
  Loop loop;
  Access in[EACH_LIMIT];
  Id wire[EACH_LIMIT];
  Type t;
  Id origin;
} Each;
Each each_of(World *, Type);
// Indexed by the first `rank` indices.
uint32_t each_read(World *, Each *, Id wire, Base, uint32_t rank);
uint32_t each_number(World *, Each *, double);
Id each_make(World *, Diagram *, Each *); // adds the box; the last scalar is the value

#endif
