// cuda: kernels of a plan as CUDA C, NVIDIA's libraries, and the embedded device functions. Private to the
// engine.
#ifndef LIMN_RUN_ENGINE_CUDA_CUDA_H
#define LIMN_RUN_ENGINE_CUDA_CUDA_H

#include "run/engine/cuda/driver.h"
#include "run/engine/cuda/emit_cuda.h"

extern const char team_text[]; // team.h, embedded
extern const size_t team_text_size;
extern const char tiles_text[]; // tiles.h
extern const size_t tiles_text_size;
extern const char stripes_text[]; // stripes.h
extern const size_t stripes_text_size;
extern const char units_text[]; // units.h
extern const size_t units_text_size;

#endif
