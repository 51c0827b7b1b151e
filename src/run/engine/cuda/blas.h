// blas: matrix products by NVIDIA's cuBLASLt, opened at run time. If the library is missing or does not
// support a product, limn's own kernels compute it.
//
//   BlasProduct p = {.m = 64, .n = 512, .k = 784, .batch = 1, .am = 784, .ak = 1, …};
//   const BlasChoice *choice = blas_choose(blas, device, arena, &folder, &p, clock_seconds() + 1);
//   if (blas_supports(&p) && blas_multiply(blas, device, &p, choice, &result)) …   // launched, or result is an error
#ifndef LIMN_RUN_ENGINE_CUDA_BLAS_H
#define LIMN_RUN_ENGINE_CUDA_BLAS_H

#include "run/engine/c/code_cache.h"
#include "run/engine/cuda/driver.h"
#include "run/engine/kernel/kernel.h"

// A batch of products C[m n] = Σ_k A[m k] B[k n], with strides in cells.
typedef struct {
  int64_t m, n, k, batch;
  int64_t am, ak, bk, bn, cm, cn; // the strides of each loop in each operand
  int64_t ta, tb, tc;             // the strides of the batch
  DeviceAddress a, b, c;
  DeviceAddress row; // bfloat16, along n: a bias that is added to each row of C
  bool has_row;
  Precision precision;   // of C and of sums
  bool narrow;           // A and B are bfloat16 in memory
  bool narrow_c;         // C is bfloat16 in memory
  uint32_t stream_index; // of the device
} BlasProduct;

typedef struct Blas Blas;
Blas *blas_open(const Device *, Arena *); // NULL: the library is missing
void blas_start(Blas *); // when the device is ready, before the first product; may be NULL
void blas_close(Blas *, const Device *);
int64_t blas_bytes(const Blas *);        // device memory of workspaces; may be NULL
bool blas_supports(const BlasProduct *); // the rows or columns of each matrix are contiguous
// Autotuning: the fastest of the library's algorithms for a product of these sizes and alignments. It is
// taken from the cache, or found by running them, which overwrites C, and cached. After `until`, by
// clock_seconds, no more are tried. NULL: use the library's first algorithm, because nothing can be cached.
typedef struct BlasChoice BlasChoice;
const BlasChoice *blas_choose(Blas *, const Device *, Arena *, CodeFolder *, const BlasProduct *,
                              double until);
// Launches a product by the chosen algorithm, or by the library's first one if the choice is for another
// product or is refused. False, and nothing was launched: the library has no algorithm.
bool blas_multiply(Blas *, const Device *, const BlasProduct *, const BlasChoice *, CudaResult *);

#endif
