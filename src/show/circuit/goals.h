// goals: the goals of a program as equations, as lenses, and as a table.
#ifndef LIMN_SHOW_CIRCUIT_GOALS_H
#define LIMN_SHOW_CIRCUIT_GOALS_H

#include "lang/program/claim.h"
#include "lang/program/program.h"
#include "show/circuit/circuit.h"

// -- equation.c: the goals of a program, each as two pictures that should be equal ----------------
// places: look up source positions of uses of wires
Canvas *goals_draw(Elab *, Arena *, Program *, bool places);

// lens.c: a goal, a learner or (NULL) all goals as parametric lenses. NULL: not found
Canvas *lens_draw(Elab *, Arena *, Program *, const char *name, const CircuitOptions *);

// -- who.c: which goals move which learners -------------------------------------------------------
Canvas *who_draw(Elab *, Arena *, Program *);

#endif
