// print.h: diagrams as text (text_names.c, text_print.c), and scalar expressions read from text
// (scalar_text.c).
#ifndef LIMN_CORE_DIAGRAM_PRINT_H
#define LIMN_CORE_DIAGRAM_PRINT_H

#include "core/diagram/diagram.h"

// -- text_names.c ---------------------------------------------------------------------------------
// Unique names for a diagram and all diagrams that it calls, as used by the printed text.
typedef VEC(const Diagram *) Diagrams;
typedef struct {
  Diagrams diagrams;    // callees first; diagrams used only as reverse derivatives last
  const char **diagram; // [Diagram.id] unique name
  Ids vars;             // size variables in use, ascending
  const char **var;     // [variable] unique name; NULL if not in use
  Ids label_names;      // lists of label names in use, in order of use
} PrintNames;
PrintNames *print_names(World *, const Diagram *root);
const char *size_by_names(World *, const PrintNames *, Size);
bool is_plain_name(const char *text); // true if the name needs no quotes
const char *name_unique(World *, Table *taken, Name);
Ids wires_in_order(World *, const Diagram *);      // inputs, params, outputs of boxes
const char **wire_names(World *, const Diagram *); // [wire] unique name
// The size variables that these diagrams and their callees mention, ascending.
Ids diagrams_sizes(World *, uint32_t n, const Diagram *const *root);

// -- text_print.c, scalar_text.c ------------------------------------------------------------------
// Prints the diagram and all diagrams that it calls, callees first; `origins` adds source
// positions.
void diagram_print(World *, const Diagram *, Buf *, bool origins);
// Parses a scalar expression over the given names (scalar numbers in `value`), appends its scalars
// to the loop and gives the result's number. Derivatives in ops.def use the same syntax. False: a
// syntax or type error.
bool scalar_read(World *, Loop *, const char *text, const char *const *name, const uint32_t *value,
                 uint32_t n, uint32_t *out);

#endif
