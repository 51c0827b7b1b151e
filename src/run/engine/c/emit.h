// emit: prints the kernels of a plan as C.
#ifndef LIMN_RUN_ENGINE_C_EMIT_H
#define LIMN_RUN_ENGINE_C_EMIT_H

#include "run/engine/kernel/kernel.h"
#include "run/engine/kernel/point.h"

// One function for each kernel. With `whole`, also `limn_step`, which runs all kernels on one thread and
// tests the losses before kernel check_at, and `limn_full`, the same for full batches only.
void emit_c(Plan *, bool whole, uint32_t check_at, EmitKernel *kernel, Buf *);

// Exported C for full batches: the functions of all kernels and `static int NAME_kernels(Context *, char
// *scratch)`, which runs them and gives 1 when a loss is not finite. It calls c->small for products,
// limn_copy, and functions of the prelude.
typedef VEC(const PlanNode *) ProductNodes;
typedef struct {
  const char *name;  // the prefix of its functions
  uint32_t check_at; // as above
  // Results:
  EmitKernel *kernel;   // products (A, B, C, description) and copies (to, from) have tables, too
  ProductNodes product; // slot p->wire.n + i is the description of product i
} EmitExport;
void emit_export_header(Arena *, Buf *); // once at the beginning of a file
void emit_export(Plan *, EmitExport *, Buf *);

#endif
