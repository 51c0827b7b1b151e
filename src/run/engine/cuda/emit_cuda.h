// emit_cuda: prints the kernels of a plan as CUDA C, and chooses the launch configuration of each.
//
//   CudaKernel *kernel = NEW_ARRAY(arena, CudaKernel, plan->kernel.n);
//   emit_cuda(plan, kernel, &fused, text, parts);
#ifndef LIMN_RUN_ENGINE_CUDA_EMIT_CUDA_H
#define LIMN_RUN_ENGINE_CUDA_EMIT_CUDA_H

#include "run/engine/kernel/point.h"

// A point of the parallel loops is computed by a team of lanes (threads). A block has one team or several.
typedef struct {
  EmitKernel emit;    // its function and its table of pointers
  uint32_t part;      // the text that has its function
  uint32_t team;      // lanes in a team; 1: every point is a thread
  uint32_t teams;     // in a block
  int64_t points;     // at the largest number of samples
  int64_t tile_bytes; // scratch memory of each team
  bool shared; // tiles are in shared memory; otherwise in the step's scratch in global memory
  uint32_t min_blocks; // the least blocks on a multiprocessor (__launch_bounds__); 0: any
  uint32_t max_blocks; // the most blocks launched for each multiprocessor; 0: any
  // A reduction with much to add and few output cells is split into slices: each slice has a copy of the
  // whole output, and limn_k<fn>_sum adds the copies in order.
  uint32_t slices; // 0: not split
  int64_t slice_bytes;
  // A scatter by labels whose output is too large for slices: each bucket of labels is a point, and the
  // output is cleared before the launch.
  uint32_t buckets; // 0: no buckets
} CudaKernel;

// The memory layout of a fused step: whole entries of the store (pieces), and the slots of the ring buffer.
typedef struct {
  uint32_t of; // the piece that contains its state; PLAN_NONE: it is a clock in the slot
  size_t at;   // offset in the piece
  bool widens; // stored as a float, used as a double among the clocks
  bool back;   // the step overwrites it
} CudaParamAt;
typedef struct {
  size_t shared_limit; // bytes of shared memory that a block may use
  size_t bytes, clock_at;
  const size_t *input_at, *output_at; // [input], [output]
  const CudaParamAt *param;
  const size_t *piece_bytes; // multiples of 16
  uint32_t params, pieces;
  bool changes; // the step overwrites some state
} CudaSlot;

// A fused step: the function limn_step runs whole steps in one thread block, several in a launch. Its
// arguments are a CudaSteps, the addresses of pieces, and the pointers of each kernel.
typedef struct {
  const CudaSlot *slot;
  uint32_t lanes;            // that run the kernels; 0: the step is not fused
  uint32_t threads;          // of the block: the lanes, perhaps with a side warp
  uint32_t steps_per_launch; // at most
  size_t shared;             // bytes: tiles; then the arena, states and slots, if they fit
  bool scratch; // tiles do not fit in shared memory: they use scratch_bytes of the step's scratch
  size_t scratch_bytes;
} CudaFusedStep;

// Prints the epilogues of products (plan/product_epilogue.c): one function limn_finish<fn>, for one cell, for each
// different epilogue. The kernel's arguments have the type LimnProduct<fn>: a product, then pointers.
void emit_epilogues(Plan *, CudaKernel *, Buf *);

// Prints all kernels into `parts` texts of about the same length. For products, only sets their pointers.
void emit_cuda(Plan *, CudaKernel *, CudaFusedStep *, Buf *, uint32_t parts);

#endif
