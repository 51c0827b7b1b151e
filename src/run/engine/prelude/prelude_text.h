// prelude_text.h: what generated C begins with.
#ifndef LIMN_RUN_ENGINE_PRELUDE_PRELUDE_TEXT_H
#define LIMN_RUN_ENGINE_PRELUDE_PRELUDE_TEXT_H

#include "run/engine/kernel/kernel.h"

extern const char
    prelude_text[]; // prelude.h with everything it includes, embedded by tools/embed.sh
extern const size_t prelude_text_size;

// prelude_rows.c: the prelude, and behind it a macro for each row of ops.def: op_add(a, b),
// op_tanh(a), … The type of the result follows from the arguments: float from floats, int from
// comparisons, else double.
void prelude_write(Buf *, Precision);

#endif
