// subst.h: substitution of size variables.
#ifndef LIMN_CORE_DIAGRAM_SUBST_H
#define LIMN_CORE_DIAGRAM_SUBST_H

#include "core/diagram/diagram.h"

typedef struct {
  Id var;
  Size value;
} Replaced;
typedef VEC(Replaced) Subst;

// Matches the callee's input types with the types of the wires `in` of d, and solves for the
// callee's size variables. On entry the substitution holds bindings known from the context. The
// first `slices` inputs lose their first axis (slices of a scan).
void subst_call(World *, Subst *, const Diagram *callee, const Diagram *d, const Id *in,
                uint32_t slices);
Size subst_size(World *, const Subst *, Size);
Type subst_type(World *, const Subst *, Type);
void subst_loop(World *, const Subst *,
                Loop *);                      // in place; without entries: the sizes as now known
void type_vars(World *, const Type *, Ids *); // adds the size variables of the type

#endif
