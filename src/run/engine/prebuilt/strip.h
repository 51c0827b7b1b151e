// strip: an interpreter of kernels by prebuilt loops, for machines without a compiler. Private to the
// engine.
//
//   Strip *s = strip_new(arena, plan, kernel, &kernel_slots(plan)[kernel]);
//   char *work = … strip_bytes(s), for each thread …
//   strip_run(s, context, table, low, high, scratch, work);     // as a KernelFn would
//
// The loop nests are those of compiled code, with the innermost loop strip-mined: a strip has up to STRIP
// elements, and each scalar operation is one vectorised loop over a strip. A kernel is translated once
// into a program of instructions; a run allocates nothing.
#ifndef LIMN_RUN_ENGINE_PREBUILT_STRIP_H
#define LIMN_RUN_ENGINE_PREBUILT_STRIP_H

#include "run/engine/kernel/kernel.h"
#include "run/engine/kernel/loop_levels.h"
#include "run/engine/prebuilt/strip_loops.h"

typedef struct Strip Strip;

// -- strip_kernel.c -------------------------------------------------------------------------------
Strip *strip_new(Arena *, Plan *, uint32_t kernel, const Ids *slot);
const char *strip_cpu(void); // avx512, avx2 or plain; $LIMN_CPU chooses among the supported ones

// -- strip.c --------------------------------------------------------------------------------------
void strip_lay_out(Strip *, size_t registers); // of working memory; `registers`: their bytes
size_t strip_bytes(const Strip *);             // of a thread's working memory, aligned to 64
void strip_run(const Strip *, const KernelContext *, char **table, int64_t low, int64_t high,
               char *scratch, char *work);

// -- the program: made by strip_kernel.c, run by strip.c ------------------------------------------
// A register's cell type: the plan's reals; double, for uniform scalars; int32_t.
typedef enum { REG_REAL, REG_WIDE, REG_INT } RegKind;

typedef struct {
  uint32_t of; // a loop variable or a register of labels
  int64_t step;
} AddressTerm;

// An affine access: its address, in cells, as a function of surrounding loops, labels, and the element of
// the strip.
typedef struct {
  int64_t start;
  uint32_t nloop, nouter, ninner;
  AddressTerm *loop, *outer, *inner; // loops; labels invariant in the strip; labels of each element
  int64_t step;                      // the stride along the strip
  const int64_t *line;               // the offset of each element, if not affine; else NULL
  int64_t run;                       // of `line`: elements in each contiguous run; 0: no such runs
  bool repeats;                      // all runs are at the same cells
} StripAddress;

typedef struct {
  uint32_t slot;
  Number number;
  int64_t size;            // of a cell, in bytes
  const StripCells *cells; // functions between the register's cell type and memory's
  StripAddress at;
} StripMemory;

// A bounds check of a strip: the elements in bounds are a contiguous span, intersected with a mask if the
// coordinates depend on labels.
typedef struct {
  uint32_t n;
  StripAddress *at;  // [n] coordinates
  Extent *size;      // [n]
  uint32_t nof, *of; // other guards that must hold, too
  uint32_t mask;     // a register, or PLAN_NONE
} StripGuard;

typedef struct {
  StripMemory to;
  uint32_t var; // the loop variable that is stored; PLAN_NONE: the strip's
} StripWinner;

// A reduction over the last loops, with an accumulator (total), or one that accumulates in memory.
typedef struct {
  Combine combine;
  double identity;
  StripMemory to;
  uint32_t level; // of the loop that the reduction surrounds; PLAN_NONE: accumulates in memory
  uint32_t total; // the first of its totals: the value, then one for each winner
  uint32_t nwinner;
  StripWinner *winner;
} StripSum;

// Initialises the cells that a reduction in memory adds to.
typedef struct {
  StripMemory to;
  double value;
  uint32_t ndim;
  Extent *dim;
  int64_t *stride;
} StripFill;

typedef struct {
  const PlanNode *x;
  uint32_t rank, *var; // [axis] its loop variable
  bool *in_strip;      // [axis] this loop is part of the strip
} StripNoise;

typedef enum {
  DO_OP,              // out = op(a, b, c)
  DO_GUARD,           // evaluate guard
  DO_LOAD,            // out = memory; out of bounds: *other
  DO_ALIAS,           // out is an alias of memory: its cells are loaded or stored in place
  DO_COUNT,           // out = the value of loop variable a; PLAN_NONE: of the strip's loop
  DO_SIZE,            // out = size
  DO_NARROW,          // out = a, from doubles to reals
  DO_BROADCAST,       // all cells of out = its first cell
  DO_NOISE,           // out = noise
  DO_SELECT,          // out = a; out of bounds: *other
  DO_STORE,           // memory = a
  DO_COMBINE,         // memory ⊕= a, in bounds
  DO_COMBINE_WINNERS, // the same for a maximum or minimum and its winners
  DO_REDUCE,          // total of sum ⊕= a
  DO_REDUCE_WINNER    // the same for a maximum or minimum and its winners
} StripOpcode;

typedef struct {
  StripOpcode what;
  bool eight_bytes; // cells of out (or of a) have 8 bytes, not 4
  uint32_t out, a, b, c, guard;
  Combine combine;
  StripOp *op;
  void (*count)(void *out, int64_t first, int64_t n);
  Extent size;
  const StripMemory *memory;
  const void *other;
  const StripSum *sum;
  const StripNoise *noise;
} StripInstr;
typedef VEC(StripInstr) StripCode;

typedef struct {
  const PlanNode *product; // a small product: A, B and C begin at to[…]; NULL: a loop nest
  uint32_t slot;
  StripMemory to[3];
  uint32_t nloop, *var; // loops around the strip, and their variables
  Extent *loop;
  bool has_strip; // false: the nest has no loops, and a strip is one element
  Extent length;  // of the strip's loop
  // rows > 0: a strip is `rows` iterations of a loop of `length`, each of `row` elements.
  int64_t rows, row;
  int64_t unit; // > 0: a task's range [low, high) is [unit · low, unit · high) of the strip's loop
  StripCode *code; // [level], nloop + has_strip + 1 levels
  VEC(StripFill) fill;
  VEC(StripSum *) sum;
} StripNest;

typedef struct {
  const void *constant; // NULL: the register is in working memory,
  size_t at;            // at this offset
} StripRegister;

struct Strip {
  Plan *p;
  const Kernel *k;
  const Ids *slot;
  const StripLoops *real, *wide;
  uint32_t np, split; // parallel loops, and those divided into tasks, of the transformed kernel
  uint32_t nvar, ntotal, nregister;
  StripRegister *reg;
  VEC(StripGuard *) guard;
  VEC(StripNest) nest;
  // Offsets in working memory, and its size.
  size_t reg_at, var_at, inside_at, total_at, memory_at, place_at, won_at, bytes;
};

#endif
