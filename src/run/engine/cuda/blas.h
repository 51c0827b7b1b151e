// blas: matrix products by NVIDIA's cuBLASLt, opened at run time. Where it is not there, or does not
// take a product, limn's own kernels do the work.
//
//   BlasProduct p = {.m = 64, .n = 512, .k = 784, .batch = 1, .am = 784, .ak = 1, …};
//   const BlasChoice *choice = blas_choose(blas, device, arena, &folder, &p, clock_seconds() + 1);
//   if (blas_takes(&p) && blas_multiply(blas, device, &p, choice, &result)) …   // asked for, or result says why not
#ifndef LIMN_RUN_ENGINE_CUDA_BLAS_H
#define LIMN_RUN_ENGINE_CUDA_BLAS_H

#include "run/engine/c/code_cache.h"
#include "run/engine/cuda/driver.h"
#include "run/engine/kernel/kernel.h"

// C[m n] = Σ_k A[m k] B[k n], so many times: an address is a sum of steps, in cells.
typedef struct {
  int64_t m, n, k, batch;
  int64_t am, ak, bk, bn, cm, cn; // steps of each loop in each operand
  int64_t ta, tb, tc;             // … of the batch
  DeviceAddress a, b, c;
  DeviceAddress row; // bfloat16, along n, which lies along C's memory: added to each of C's rows
  bool has_row;
  Precision precision; // of C and of sums
  bool narrow;         // A and B are bfloat16 in memory
  bool narrow_c;       // so is C
  uint32_t track;      // of the device
} BlasProduct;

typedef struct Blas Blas;
Blas *blas_open(const Device *, Arena *); // NULL: it is not there
void blas_start(Blas *);                  // once the device is ready, before products; NULL: none
void blas_close(Blas *, const Device *);
int64_t blas_bytes(const Blas *);     // of the device, for what it puts down; NULL: none
bool blas_takes(const BlasProduct *); // matrices whose rows or columns lie along memory
// The fastest of the library's ways for a product of these sizes and alignments: as the cache has it, or
// found by trying them now, which overwrites C, and kept from then on. Beyond `until`, by clock_seconds,
// no more are tried. NULL, the library's first way: nothing can be kept.
typedef struct BlasChoice BlasChoice;
const BlasChoice *blas_choose(Blas *, const Device *, Arena *, CodeFolder *, const BlasProduct *,
                              double until);
// Launches it, by the choice if that was made for such a product and is not refused. False, and nothing
// was launched: the library has no way for it.
bool blas_multiply(Blas *, const Device *, const BlasProduct *, const BlasChoice *, CudaResult *);

#endif
