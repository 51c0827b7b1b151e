// emit_cuda: the kernels of a plan as CUDA C, and how each is to be launched.
//
//   CudaKernel *kernel = NEW_ARRAY(arena, CudaKernel, plan->kernel.n);
//   emit_cuda(plan, kernel, &text);
#ifndef LIMN_RUN_ENGINE_CUDA_EMIT_CUDA_H
#define LIMN_RUN_ENGINE_CUDA_EMIT_CUDA_H

#include "run/engine/point/point.h"

// A kernel is launched with as many blocks as its points need. A team of lanes works on one point; a
// block has one team or several.
typedef struct {
  EmitKernel emit;    // its function, and its pointers
  uint32_t part;      // of the text: the one that has its function
  uint32_t team;      // lanes; 1: every point is a thread of its own
  uint32_t teams;     // in a block
  int64_t points;     // at the largest number of samples
  int64_t tile_bytes; // that each team needs
  bool shared;        // they are in memory that a block shares; else in the scratch of the step
  uint32_t room;    // blocks that a multiprocessor should have room for, by their registers; 0: any
  uint32_t at_once; // blocks that a multiprocessor is given; 0: any
  // Of one that adds up much in few places: each slice of what is added has the whole output for
  // itself, and limn_k<fn>_sum adds them up, in order.
  uint32_t slices; // 0: no such
  int64_t slice_bytes;
  // Of one that adds to rows by their labels, in an output too large for slices: each bucket of labels is
  // a point of its own, and the output is cleared in front of it.
  uint32_t buckets; // 0: no such
} CudaKernel;

// What the engine knows of a step that is one function: pieces of memory that states lie in, and what a slot of the ring has
// where.
typedef struct {
  uint32_t of; // the piece that its state lies in; PLAN_NONE: it is a clock in the slot
  size_t at;   // … in the piece
  bool brings; // a float there, which the step has as a double among the clocks
  bool back;   // … and which the step changes
} CudaParamAt;
typedef struct {
  size_t room; // that a block may share
  size_t bytes, clock_at;
  const size_t *input_at, *output_at; // [input], [output]
  const CudaParamAt *param;
  const size_t *piece_bytes; // multiples of 16
  uint32_t params, pieces;
  bool changes; // some state does
} CudaSlot;

// A whole step as one function, limn_step, by the lanes of one block, as often as it is told to. What it is given
// begins with what every launch has (CudaSteps); then follow the pieces of states and the pointers of each kernel.
typedef struct {
  const CudaSlot *slot;
  uint32_t lanes;    // 0: each kernel is a launch
  uint32_t threads;  // lanes, and a warp beside them if there is work for it
  uint32_t together; // steps in a launch
  size_t shared;     // tiles; then the arena, states and slots if they have room
  bool scratch;      // its tiles are too large to be shared, and take so much of the step's scratch
  size_t scratch_bytes;
} CudaWhole;

// What finishes a product (plan/product_epilogue.c), as the functions of so many kinds of them: limn_finish<fn>, of the cell at hand.
// What such a kernel is given is of type LimnProduct<fn>: a product, then pointers.
void emit_finishes(Plan *, CudaKernel *, Buf *);

// Into so many parts, which get about the same length. Of a kernel that is not loops: only its pointers.
void emit_cuda(Plan *, CudaKernel *, CudaWhole *, Buf *, uint32_t parts);

#endif
