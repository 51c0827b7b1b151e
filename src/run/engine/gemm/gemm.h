// gemm: C[m n] = Σ_k A[m k] · B[k n], where each operand is addressed by lines of offsets, so that
// einsum, convolution without patches, groups, and the gradients of all these are the same product.
// Kernels are prebuilt for each kind of CPU.
//
// Cell (m, k) of A is a[am(m) + ak(k)], and so on; a line is a table of offsets or a constant step.
// Lines lie inside their operand: padding is the caller's business (a halo of zeros).
//
// A product is up to three phases (pack what is shared, multiply, add up the pieces of a long sum),
// each a number of tasks that may run on any thread in any order. Tasks depend on shapes only, so
// results do not depend on the threads.
#ifndef LIMN_RUN_ENGINE_GEMM_GEMM_H
#define LIMN_RUN_ENGINE_GEMM_GEMM_H

#include "run/engine/kernel/kernel.h"

typedef struct {
  const int32_t *at; // a table of offsets in cells, or NULL
  int64_t step;      // without a table: offset i is i * step
} GemmLine;

typedef struct {
  int64_t m, n, k; // the largest; a run may use fewer of m, n and k
  GemmLine am, ak, bk, bn, cm, cn;
  Precision precision; // 32: float; 64: double; BF16: float in memory, bf16 factors, float sums
} Gemm;

typedef struct {
  Gemm g;
  int64_t tasks[3];    // of each phase at the largest size; 0 = no such phase
  size_t shared_bytes; // memory for all tasks together, aligned to 64
  size_t thread_bytes; // memory for each thread, aligned to 64
  // What gemm.c decides
  const struct GemmKernel *kernel;
  Gemm in;                    // the product as it is computed: g, or its transpose
  bool turned;                // it is the transpose
  bool pack_a, pack_b;        // rows of A by each task, tile by tile; all of B in phase 0
  int64_t mb, nb, kb;         // rows and columns of a task, places of k in a chunk
  int64_t m_blocks, n_blocks; // how many tasks beside each other
  int64_t pieces, piece;      // of a long sum, and how long each is
  int64_t dots;               // how many of the last columns are summed along k
  size_t partial_at;          // where the sums of the pieces are in shared memory
  size_t tile_at, column_at;  // where a tile of A and columns of B are in a thread's memory
} GemmPlan;

typedef struct {
  const void *a, *b;
  void *c;
  int64_t m, n, k; // of this run
  bool add;        // C += instead of C =
  void *shared, *thread;
} GemmRun;

void gemm_plan(const Gemm *, GemmPlan *);
void gemm_task(const GemmPlan *, const GemmRun *, int phase, int64_t task);
// All phases on one thread, at once: for the many small products inside one kernel (attention
// heads). `scratch` is gemm_small_bytes(plan), aligned to 64; it becomes the run's memory.
size_t gemm_small_bytes(const GemmPlan *);
void gemm_small(const GemmPlan *, GemmRun, void *scratch);

// What multiplies floats: avx512, avx2, neon, plain. $LIMN_CPU chooses among those the CPU has, and
// for bf16 also amx, avx512bf16.
const char *gemm_kernel_name(void);
double gemm_peak(Precision); // measured multiply-adds, as flop/s of one core, in registers
#endif
