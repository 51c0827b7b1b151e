// Units of ports, states and constants: `flow: R[] in m^3/s`.
#ifndef LIMN_LANG_UNITS_UNITS_H
#define LIMN_LANG_UNITS_UNITS_H

#include "lang/value/value.h"

// Do they agree, in every machine of the file? Where they do not, with a diagnostic.
void check_units(Elab *, Scope *);

#endif
