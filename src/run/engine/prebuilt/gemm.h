// gemm: C[m n] = Σ_k A[m k] · B[k n] with generalised strides: cell (m, k) of A is a[am(m) + ak(k)], and
// so on, where each axis is a table of offsets or a constant stride. So einsum, convolution without
// im2col, grouped convolution, and the gradients of all these are products. Micro-kernels are prebuilt for
// each kind of CPU.
//
// All offsets are inside their operand; the caller pads with a halo of zeros.
//
// A product has up to three phases (pack B, multiply, add up the parts of a split-K sum), each a number
// of tasks that may run on any thread in any order. Tasks depend on shapes only, so results do not depend
// on the number of threads.
#ifndef LIMN_RUN_ENGINE_PREBUILT_GEMM_H
#define LIMN_RUN_ENGINE_PREBUILT_GEMM_H

#include "run/engine/kernel/kernel.h"

typedef struct {
  const int32_t *at; // a table of offsets in cells, or NULL
  int64_t step;      // the stride if there is no table: offset i is i * step
} GemmAxis;

typedef struct {
  int64_t m, n, k; // the largest sizes; a run may use smaller ones
  GemmAxis am, ak, bk, bn, cm, cn;
  Precision precision; // 32: float; 64: double; BF16: float in memory, bf16 factors, float sums
} Gemm;

typedef struct {
  Gemm g;
  int64_t tasks[3];    // of each phase at the largest size; 0 = no such phase
  size_t shared_bytes; // memory for all tasks together, aligned to 64
  size_t thread_bytes; // memory for each thread, aligned to 64
  // Private to gemm.c:
  const struct GemmKernel *kernel;
  Gemm in;                      // the product as it is computed: g or its transpose
  bool transposed;              // `in` is the transpose of g
  bool pack_a, pack_b;          // each task packs A tile by tile; phase 0 packs all of B
  int64_t mb, nb, kb;           // rows and columns of a task's block of C; k in a chunk
  int64_t m_blocks, n_blocks;   // the grid of blocks
  int64_t splits, split_length; // split-K: the parts of a long sum, and k in a part
  int64_t dots;                 // the last columns, computed as dot products along k
  size_t partial_at;            // of the partial sums, in shared memory
  size_t tile_at, column_at; // of a packed tile of A and of dot columns of B, in a thread's memory
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
// All phases on one thread, for the many small products inside one kernel (attention heads). `scratch`
// has gemm_small_bytes(plan) bytes, aligned to 64, and replaces the run's `shared` and `thread`.
size_t gemm_small_bytes(const GemmPlan *);
void gemm_small(const GemmPlan *, GemmRun, void *scratch);

// The kernels for floats: avx512, avx2, neon or plain. $LIMN_CPU chooses among those that the CPU
// supports; for bf16 there are also amx and avx512bf16.
const char *gemm_kernel_name(void);
double gemm_peak(Precision); // the measured flop/s of one core's multiply-adds in registers
#endif
