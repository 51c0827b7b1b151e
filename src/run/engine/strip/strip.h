// strip: kernels run by prebuilt loops, for machines without a compiler. Private to the engine.
//
//   Strip *s = strip_new(arena, plan, kernel, &kernel_slots(plan)[kernel]);
//   char *work = … strip_bytes(s), for each thread …
//   strip_run(s, context, table, low, high, scratch, work);     // as a KernelFn would
//
// The nests are those of compiled code, but the innermost loop is taken in strips of up to STRIP
// elements, and each scalar operation is one loop over a strip. A program is made once for each
// kernel; a run allocates nothing.
#ifndef LIMN_RUN_ENGINE_STRIP_STRIP_H
#define LIMN_RUN_ENGINE_STRIP_STRIP_H

#include "run/engine/kernel/kernel.h"
#include "run/engine/kernel/loop_levels.h"
#include "run/engine/strip/strip_loops.h"

typedef struct Strip Strip;

// -- strip_kernel.c -------------------------------------------------------------------------------
Strip *strip_new(Arena *, Plan *, uint32_t kernel, const Ids *slot);
const char *strip_cpu(void); // avx512, avx2, plain; $LIMN_CPU chooses among those the CPU has

// -- strip.c --------------------------------------------------------------------------------------
void strip_lay(Strip *, size_t registers); // working memory, for registers of so many bytes
size_t strip_bytes(const Strip *);         // of working memory a thread needs, aligned to 64
void strip_run(const Strip *, const KernelContext *, char **table, int64_t low, int64_t high,
               char *scratch, char *work);

// -- the program: what strip_kernel.c makes and strip.c runs --------------------------------------
// What a register's cells are: the plan's reals, doubles that are the same at every point, and
// int32_t.
typedef enum { REG_REAL, REG_WIDE, REG_INT } RegKind;

typedef struct {
  uint32_t of; // a loop variable, or a register of labels
  int64_t step;
} ReachTerm;

// Where an access lies: a straight line in the loops around, in labels, and along the strip.
typedef struct {
  int64_t start;
  uint32_t nloop, nouter, ninner;
  ReachTerm *loop, *outer, *inner; // labels known before the strip; labels of each element
  int64_t step;                    // along the strip,
  const int64_t *line;             // or offsets of its elements, where they are not in a line
  int64_t run;                     // … but go on by 1 for so many, above 0,
  bool again;                      // at the same cells each time
} StripReach;

typedef struct {
  uint32_t slot;
  Number number;
  int64_t size;            // of a cell, in bytes
  const StripCells *cells; // between its register and memory
  StripReach at;
} StripMemory;

// Whether elements lie inside: a span of the strip, and a mask where labels decide.
typedef struct {
  uint32_t n;
  StripReach *at; // coordinates
  Extent *size;
  uint32_t nof, *of; // other guards that must hold too
  uint32_t mask;     // a register, or PLAN_NONE
} StripGuard;

typedef struct {
  StripMemory to;
  uint32_t var; // its loop; PLAN_NONE: the strip's own
} StripWinner;

// A sum over the last loops, kept in a total while they run; or the best so far, in memory.
typedef struct {
  Combine combine;
  double identity;
  StripMemory to;
  uint32_t level; // it begins and ends around this loop; PLAN_NONE: in memory
  uint32_t total; // of totals: its own, then one for each winner
  uint32_t nwinner;
  StripWinner *winner;
} StripSum;

// Cells that a sum in memory will add to.
typedef struct {
  StripMemory to;
  double value;
  uint32_t ndim;
  Extent *dim;
  int64_t *stride;
} StripFill;

typedef struct {
  const PlanNode *x;
  uint32_t rank, *var; // the loop of each axis
  bool *in_strip;      // it is part of the strip's loop
} StripNoise;

typedef enum {
  DO_OP,      // out = op(a, b, c)
  DO_GUARD,   // of guard
  DO_LOAD,    // out = memory; outside of guard: *other
  DO_HERE,    // out lies in memory itself
  DO_COUNT,   // out = the position of loop variable a; PLAN_NONE: of the strip's loop
  DO_SIZE,    // out = size
  DO_NARROW,  // out = a, from doubles to reals
  DO_SPREAD,  // all of out = its first cell
  DO_NOISE,   // out = noise
  DO_CHOOSE,  // out = a; outside of guard: *other
  DO_STORE,   // memory = a
  DO_COMBINE, // memory ⊕= a inside of guard
  DO_BEST,    // the same for the winners of sum
  DO_REDUCE,  // total of sum ⊕= a
  DO_WIN      // the same with winners
} StripDo;

typedef struct {
  StripDo what;
  bool eight; // cells of 8 bytes in out
  uint32_t out, a, b, c, guard;
  Combine combine;
  StripOp *op;
  void (*count)(void *out, int64_t first, int64_t n);
  Extent size;
  const StripMemory *memory;
  const void *other;
  const StripSum *sum;
  const StripNoise *noise;
} StripStep;
typedef VEC(StripStep) StripCode;

typedef struct {
  const PlanNode *product; // a small product instead of loops: its corners are to[…]
  uint32_t slot;
  StripMemory to[3];
  uint32_t nloop, *var; // loops around the strip and their numbers
  Extent *loop;
  bool has_strip;    // false: there is no loop at all, a strip is one element
  Extent length;     // of the strip's loop,
  int64_t rows, row; // or, where rows is above 0, of the loop that is taken so many rows at a time
  int64_t unit;      // above 0: the range of a task, times this, is that of the strip's loop
  StripCode *code;   // [nloop + has_strip + 1] of each level
  VEC(StripFill) fill;
  VEC(StripSum *) sum;
} StripNest;

typedef struct {
  const void *constant; // or NULL:
  size_t at;            // in working memory
} StripRegister;

struct Strip {
  Plan *p;
  const Kernel *k;
  const Ids *slot;
  const StripLoops *real, *wide;
  uint32_t np, split; // parallel loops, as they are run
  uint32_t nvar, ntotal, nregister;
  StripRegister *reg;
  VEC(StripGuard *) guard;
  VEC(StripNest) nest;
  // working memory
  size_t reg_at, var_at, inside_at, total_at, memory_at, place_at, won_at, bytes;
};

#endif
