// point: prints the statements of a kernel at one point of its loops.
//
//   Emit e = {.p = plan, .b = &buf, …};
//   e.k = kernel, e.entry = its slots;
//   const NodeLevels *w = nest_levels(plan, kernel, nest);
//   emit_level(&e, w, n, level, ndim);     // what is invariant in the loops inside; innermost: values
//
// The text is both C99 and CUDA C. The callers print loops, threads and functions.
#ifndef LIMN_RUN_ENGINE_KERNEL_POINT_H
#define LIMN_RUN_ENGINE_KERNEL_POINT_H

#include "run/engine/kernel/loop_levels.h"

typedef struct {
  uint32_t fn; // the kernel calls limn_k<fn>; kernels with equal text share a function
  size_t at;   // where the text of limn_k<fn> begins, if fn is this kernel's number
  Ids slot;    // its table of pointers (kernel_slots in loop_levels.h)
} EmitKernel;

// What is known about the checked coordinates that depend on the innermost loop: nothing; all are in
// bounds; or the only one is out of bounds.
typedef enum { BOUNDS_UNKNOWN, BOUNDS_INSIDE, BOUNDS_OUTSIDE } BoundsState;

typedef struct {
  Plan *p;
  Buf *b;
  const Kernel *k;
  EmitKernel *entry;   // of kernel k
  uint32_t *slot;      // [wire] its index in the table of pointers of kernel k
  uint32_t small_slot; // the slot of the next small product
  uint32_t indent;
  bool full_batch; // for the largest number of samples only: every length is a constant
  bool lanes;      // GPU: each point is a lane; noise is not generated in rows
  // A lane computes several consecutive points, numbered u: packed operands are p<id>_<k>[u], and
  // vector stores take the floats o<id>[u].
  bool vectorised;
  bool streaming_stores;   // vector stores bypass the cache: the cells are not read soon
  bool preload_struct;     // preloaded operands are fields of the variable `read`
  bool exp_less;           // for exp(x - y) with one y for a row, print limn_exp_less (units.h)
  const char *accumulator; // a scatter adds to this variable; NULL: to its cell in memory
  BoundsState bounds;      // of the innermost loop
  const uint8_t *held;     // [wire] it is a local variable (scan_registers.c); NULL: none is
  // Of a step that runs in one thread block: [wire] its address as text, or NULL: use its pointer.
  const char *const *wire_address;
  bool all_shared;               // … all of these addresses are in shared memory
  struct LaneAccesses *accesses; // … the cells that lanes have accessed since the last barrier
  const char *export_prefix;     // in exported C, the prefix of all names; otherwise NULL
} Emit;

// -- point.c --------------------------------------------------------------------------------------
__attribute__((format(printf, 2, 3))) void emit_line(Emit *, const char *format, ...);
void emit_open(Emit *); // opens a block, up to the matching emit_close
void emit_close(Emit *);
void emit_close_all(Emit *, uint32_t n);
void emit_open_loop(Emit *, char letter, uint32_t v, const char *n); // for (long i3 = 0; …) {
const char *emit_number(Number);
const char *emit_cell(const Emit *, Number); // the type that pointers to such cells point to
const char *emit_extent(Emit *, Extent);
const char *emit_constant(Emit *, double, bool wide);
void emit_coord(Emit *, const NodeLevels *, const PlanCoord *, Buf *);
const char *emit_cell_at(Emit *, const NodeLevels *, const Operand *); // the cell of an access
// The term of a coordinate with the innermost loop's index; NULL: there is none.
const PlanTerm *emit_inner_term(const Emit *, const NodeLevels *, const PlanCoord *);
// An expression: all checked coordinates are in bounds.
const char *emit_bounds_test(Emit *, const NodeLevels *, const Operand *);
// The offset of a wire, in cells, at the current positions of its scans.
const char *emit_scan_offset(Emit *, uint32_t wire);
// A scalar as an argument of scalar `of`.
const char *emit_argument(Emit *, const NodeLevels *, uint32_t scalar, uint32_t of);
// Copies packed operands into local arrays, contiguous along the innermost loop.
void emit_packed_copies(Emit *, const NodeLevels *);
const char *emit_load(Emit *, const NodeLevels *, uint32_t operand);
void emit_operands(Emit *, const NodeLevels *, uint32_t level);
void emit_scalar(Emit *, const NodeLevels *, uint32_t scalar);
// Operations of a node at one point. but[scalar]: do not count this one; NULL: count all.
uint32_t emit_flops(const PlanNode *, const bool *but);

// -- point_value.c --------------------------------------------------------------------------------
// [is bit][Combine] the operator of a reduction.
extern const char *const emit_combine_text[2][4];
const char *emit_identity(Emit *, const PlanNode *);
// The type of an accumulator: a long reduction to a scalar accumulates in double.
const char *emit_sum_type(const Emit *, const PlanNode *);
// The cell of the k-th winner (the position of a maximum or minimum).
const char *emit_winner(Emit *, const NodeLevels *, uint32_t k);
void emit_open_sum(Emit *, const NodeLevels *);
void emit_close_sum(Emit *, const NodeLevels *);
// Prints what all nodes of a nest compute at this loop level; at level ndim also their values and stores.
void emit_level(Emit *, const NodeLevels *, uint32_t n, uint32_t level, uint32_t ndim);

#endif
