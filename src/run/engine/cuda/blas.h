// blas: matrix products by NVIDIA's cuBLASLt, opened at run time. Where it is not there, or does not
// take a product, limn's own kernels do the work.
//
//   BlasProduct p = {.m = 64, .n = 512, .k = 784, .batch = 1, .am = 784, .ak = 1, …};
//   if (blas_takes(&p) && blas_multiply(blas, stream, &p, &result)) …   // asked for, or result says why not
#ifndef LIMN_RUN_ENGINE_CUDA_BLAS_H
#define LIMN_RUN_ENGINE_CUDA_BLAS_H

#include "run/engine/cuda/driver.h"
#include "run/engine/kernel/kernel.h"

// C[m n] = Σ_k A[m k] B[k n], so many times: an address is a sum of steps, in cells.
typedef struct {
  int64_t m, n, k, batch;
  int64_t am, ak, bk, bn, cm, cn; // steps of each loop in each operand
  int64_t ta, tb, tc;             // … of the batch
  DeviceAddress a, b, c;
  Precision precision; // of C and of sums
  bool narrow;         // A and B are bfloat16 in memory
  bool narrow_c;       // so is C
} BlasProduct;

typedef struct Blas Blas;
Blas *blas_open(const Device *, Arena *); // NULL: it is not there
void blas_close(Blas *, const Device *);
bool blas_takes(const BlasProduct *); // matrices whose rows or columns lie along memory
// Launches it. False, and nothing was launched: the library has no way for it.
bool blas_multiply(Blas *, const Device *, const BlasProduct *, CudaResult *);

#endif
