// Private to c: a text under way. emit_c.c writes nests and kernels, emit_step.c puts them together.
#ifndef LIMN_RUN_ENGINE_C_EMIT_OWN_H
#define LIMN_RUN_ENGINE_C_EMIT_OWN_H

#include "run/engine/c/emit.h"

void emit_loops(Emit *); // the body of kernel k
void emit_order(Emit *);

#endif
