// Private to the writing of CUDA text: what emit_cuda.c and emit_pairs.c share.
#ifndef LIMN_RUN_ENGINE_CUDA_EMIT_CUDA_OWN_H
#define LIMN_RUN_ENGINE_CUDA_EMIT_CUDA_OWN_H

#include "run/engine/cuda/emit_cuda.h"

enum { WARP = 32 };

// -- emit_cuda.c ----------------------------------------------------------------------------------
const char *cuda_length(Emit *, const Extent *, uint32_t from,
                        uint32_t to); // of these loops together
int64_t cuda_length_most(const Plan *, const Extent *, uint32_t from, uint32_t to);
// The loops [from, to) of a number that counts all their points, the last one fastest, as i<first + …>.
void cuda_digits(Emit *, const char *of, uint32_t first, const Extent *, uint32_t from,
                 uint32_t to);
void cuda_same(Emit *, const NodeLevels *, uint32_t n); // scalars that are the same at every point
// What lane `other` has joins what this one has, `near` in the same warp or `far` in the same block.
void cuda_join(Emit *, const NodeLevels *, const char *way);

// -- emit_pairs.c ---------------------------------------------------------------------------------
void pairs_choose(Emit *, CudaKernel *);
void pairs_emit(Emit *, const CudaKernel *);

#endif
