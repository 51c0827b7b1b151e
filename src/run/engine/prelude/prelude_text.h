// prelude_text.h: what generated C begins with.
#ifndef LIMN_RUN_ENGINE_PRELUDE_PRELUDE_TEXT_H
#define LIMN_RUN_ENGINE_PRELUDE_PRELUDE_TEXT_H

#include "run/engine/kernel/kernel.h"

extern const char
    prelude_text[]; // prelude.h with everything it includes, embedded by tools/embed.sh
extern const size_t prelude_text_size;

// prelude_rows.c: the prelude, and behind it two macros for each row of ops.def: op_add(a, b),
// op_tanh(a), … of reals, op_wide_add(a, b), … of doubles. Comparisons give an int.
void prelude_write(Buf *, Precision);

#endif
