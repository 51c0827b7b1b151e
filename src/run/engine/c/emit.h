// emit: the text of a plan's kernels.
#ifndef LIMN_RUN_ENGINE_C_EMIT_H
#define LIMN_RUN_ENGINE_C_EMIT_H

#include "run/engine/kernel/kernel.h"
#include "run/plan/plan.h"

typedef struct {
  uint32_t fn; // its function is limn_k<fn>
  size_t at;   // where the text of that function begins, if it is the first one with it
  Ids slot;    // its table of pointers (kernel_slots in loop_levels.h)
} EmitKernel;

// With `whole`, `limn_step` runs all kernels on one thread (`limn_full` is for the largest number
// of samples only), and looks at the losses before kernel check_at.
void emit_c(Plan *, bool whole, uint32_t check_at, EmitKernel *kernel, Buf *);

#endif
