// Private to run/engine/c. emit_c.c prints the bodies of kernels, emit_step.c the functions around them.
#ifndef LIMN_RUN_ENGINE_C_EMIT_OWN_H
#define LIMN_RUN_ENGINE_C_EMIT_OWN_H

#include "run/engine/c/emit.h"

void emit_loops(Emit *); // the body of kernel k
void emit_order(Emit *);

#endif
