// Units of ports, states and constants: `flow: R[] in m^3/s`.
#ifndef LIMN_LANG_UNITS_UNITS_H
#define LIMN_LANG_UNITS_UNITS_H

#include "lang/value/value.h"

// Do they agree, in every machine of the file? Where they do not, with a diagnostic.
void check_units(Elab *, Scope *);

// What a port or state of this machine's text is said to be measured in: "kg*m/s^2"; NULL: nothing is.
const char *unit_declared(World *, const Syntax *machine, Name);

// clock_name.c: is nothing that it declares called `time`? False with a diagnostic.
bool time_is_free(World *, const Syntax *);

#endif
