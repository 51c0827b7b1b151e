// The names of the results in the header of a box, one for each wire.
#ifndef LIMN_LANG_VALUE_RESULTS_H
#define LIMN_LANG_VALUE_RESULTS_H

#include "lang/value/value.h"

// The number of wires of a type: several for a tuple or a space, otherwise one.
uint32_t type_wires(Body *, Env *, const Syntax *type);
// Fills Body.want_name from a header; the wires of one result with several get numbered names.
void results_name(Body *, Env *, const Syntax *result);

#endif
