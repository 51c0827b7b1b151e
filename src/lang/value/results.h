// results: what the header of a box calls its results, wire by wire.
#ifndef LIMN_LANG_VALUE_RESULTS_H
#define LIMN_LANG_VALUE_RESULTS_H

#include "lang/value/value.h"

// How many wires a type is: a tuple and a space may be several, anything else is one.
uint32_t type_wires(Body *, Env *, const Syntax *type);
// Body.want_name by the results of a header; one that is several wires has numbers behind its name.
void results_name(Body *, Env *, const Syntax *result);

#endif
