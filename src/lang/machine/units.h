// Units of ports, states and constants: `flow: R[] in m^3/s`.
#ifndef LIMN_LANG_MACHINE_UNITS_H
#define LIMN_LANG_MACHINE_UNITS_H

#include "lang/value/value.h"

// Checks the units in every machine of the file.
void check_units(Elab *, Scope *);

// The declared unit of a port or state: "kg*m/s^2", or NULL.
const char *unit_declared(World *, const Syntax *machine, Name);

// clock_name.c: does it declare nothing called `time`? False with a diagnostic.
bool time_is_free(World *, const Syntax *);

#endif
