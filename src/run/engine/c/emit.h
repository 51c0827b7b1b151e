// emit: the text of a plan's kernels. Private to target/.
#ifndef LIMN_EMIT_H
#define LIMN_EMIT_H

#include "run/plan/plan.h"

// What a kernel sees. The generated text declares the same struct.
typedef struct KernelContext {
  int64_t n; // samples in this run
  uint64_t seed, step;
  int64_t at[8]; // positions of the scans around
  char ***table; // of each kernel: its table of pointers
  void **out;    // of each output: its memory
  void (*small)(const void *gemm, const void *a, const void *b, void *c, void *scratch, int64_t m,
                int64_t n, int64_t k, int add);
  void (*copy)(struct KernelContext *, uint32_t kernel); // a state's next value put in its place
} KernelContext;
typedef void KernelFn(const KernelContext *, char **table, int64_t low, int64_t high,
                      char *scratch);
typedef int StepFn(KernelContext *, char *scratch); // 1: stopped, because a loss is not finite

typedef struct {
  uint32_t fn; // its function is limn_k<fn>
  Ids slot;    // its table of pointers (kernel_slots in level.h)
} EmitKernel;

// With `whole`, `limn_step` runs all kernels on one thread (`limn_full` is for the largest number
// of samples only), and looks at the losses before kernel check_at.
void emit_c(Plan *, bool whole, uint32_t check_at, EmitKernel *kernel, Buf *);

#endif
