// prelude_text.h: the beginning of generated C, as text.
#ifndef LIMN_RUN_ENGINE_KERNEL_PRELUDE_TEXT_H
#define LIMN_RUN_ENGINE_KERNEL_PRELUDE_TEXT_H

#include "run/engine/kernel/kernel.h"

// prelude.h with everything it includes, embedded by tools/embed.sh.
extern const char prelude_text[];
extern const size_t prelude_text_size;

// prelude_rows.c: prints the prelude, then two macros for each row of ops.def: op_add(a, b), op_tanh(a), …
// for reals, op_wide_add(a, b), … for doubles. Comparisons give an int.
void prelude_write(Buf *, Precision);

#endif
