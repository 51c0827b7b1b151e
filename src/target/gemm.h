// gemm: C[m n] = Σ_k A[m k] · B[k n], where each operand is addressed by lines of offsets, so that einsum, convolution
// without patches, groups, and the gradients of all these are the same product. Kernels are prebuilt for each kind of CPU.
//
// Cell (m, k) of A is a[am(m) + ak(k)], and so on; a line is a table of offsets or a constant step. Lines lie inside their
// operand: padding is the caller's business (a halo of zeros).
//
// A product is up to three phases (pack what is shared, multiply, add up the pieces of a long sum), each a number of tasks
// that may run on any thread in any order. Tasks depend on shapes only, so results do not depend on the threads.
#ifndef LIMN_GEMM_H
#define LIMN_GEMM_H

#include "target/target.h"

typedef struct {
  const int32_t *at; // a table of offsets in cells, or NULL
  int64_t step;      // without a table: offset i is i * step
} Line;

// What is done with a finished piece of C while it is hot: rows [m0, m1), columns [n0, n1).
typedef void GemmEnd(void *context, int64_t m0, int64_t m1, int64_t n0, int64_t n1);

typedef struct {
  int64_t m, n, k; // the largest; a run may use fewer of m, n and k
  Line am, ak, bk, bn, cm, cn;
  bool add;            // C += instead of C =
  Precision precision; // 32: float; 64: double; BF16: float in memory, bf16 factors, float sums
} Gemm;

typedef struct {
  Gemm g;
  int64_t tasks[3];    // of each phase at the largest size; 0 = no such phase
  size_t shared_bytes; // memory for all tasks together, aligned to 64
  size_t thread_bytes; // memory for each thread, aligned to 64
  // … and what gemm.c decides: blocks, which operand is packed, pieces of k, kernel
  int64_t mb, nb, kb, pieces;
  int kernel, pack_a, pack_b;
} GemmPlan;

typedef struct {
  const void *a, *b;
  void *c;
  int64_t m, n, k; // of this run
  void *shared, *thread;
  GemmEnd *end; // or NULL. Called once for each piece, after its last k
  void *end_context;
} GemmRun;

void gemm_plan(const Gemm *, GemmPlan *);
void gemm_task(const GemmPlan *, const GemmRun *, int phase, int64_t task);
// A small product on one thread, at once: for the many products inside one kernel (attention heads).
// `thread` is scratch of gemm_small_bytes(m, n, k, precision).
size_t gemm_small_bytes(int64_t m, int64_t n, int64_t k, Precision);
void gemm_small(const Gemm *, const void *a, const void *b, void *c, void *thread);

const char *gemm_kernel_name(void);             // avx512, avx2, neon, plain
double gemm_peak(Precision);                    // measured multiply-adds, as flop/s of one core, in registers
#endif
