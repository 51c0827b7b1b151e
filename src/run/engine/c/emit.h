// emit: the text of a plan's kernels.
#ifndef LIMN_RUN_ENGINE_C_EMIT_H
#define LIMN_RUN_ENGINE_C_EMIT_H

#include "run/engine/kernel/kernel.h"
#include "run/engine/point/point.h"

// With `whole`, `limn_step` runs all kernels on one thread (`limn_full` is for the largest number
// of samples only), and looks at the losses before kernel check_at.
void emit_c(Plan *, bool whole, uint32_t check_at, EmitKernel *kernel, Buf *);

// A text that stands for itself, for the largest number of samples: functions of all kernels and
// `static int NAME_kernels(Context *, char *scratch)`, which runs them and gives 1 when a loss is not
// finite. It calls c->small for products, limn_copy, and what the prelude has.
typedef VEC(const PlanNode *) ProductNodes;
typedef struct {
  const char *name;  // in front of its functions
  uint32_t check_at; // as above
  // out
  EmitKernel *kernel; // with tables also for products (A, B, C, description) and copies (to, from)
  ProductNodes product; // whose descriptions slots ask for, from the number of wires on
} EmitAlone;
void emit_alone_front(Arena *, Buf *); // once in a file, in front
void emit_alone(Plan *, EmitAlone *, Buf *);

#endif
