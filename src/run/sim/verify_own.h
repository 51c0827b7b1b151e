// Private to sim: kinds of checks.
#ifndef LIMN_RUN_SIM_VERIFY_OWN_H
#define LIMN_RUN_SIM_VERIFY_OWN_H

#include "run/sim/sim.h"

// nested.c: the system as it is nested, part by part, against the flat one
bool verify_nested(Elab *, Program *, const Check *, const SimOptions *, Verdict *);

#endif
