// What the files share that make the program of a kernel (strip.h). Private to them.
#ifndef LIMN_RUN_ENGINE_STRIP_STRIP_OWN_H
#define LIMN_RUN_ENGINE_STRIP_STRIP_OWN_H

#include "run/engine/strip/strip.h"

typedef struct {
  RegKind kind;
  uint32_t level; // at which it is made
  bool spread;    // all its cells are filled
  bool fixed;     // it is read by more than the steps' arguments: its memory is not given out again
  bool uniform;   // it is one constant
  bool here;      // it lies in memory, or is constant
  const void *constant;
  size_t at; // in working memory
} Reg;

// A node and its registers.
typedef struct {
  const NodeLevels *w;
  uint32_t *operand, *guard;           // [operand] or PLAN_NONE
  uint32_t *scalar, *narrow, *inverse; // [scalar] or PLAN_NONE
  uint32_t value;                      // for readers in the nest
  bool read;                           // there are such
} StripMade;

typedef struct {
  Strip *s;
  Arena *arena;
  Plan *p;
  const Kernel *k; // perhaps with fewer parallel loops
  VEC(Reg) reg;
  size_t registers; // bytes
  // the nest at hand
  uint32_t number; // in k
  StripNest *nest;
  uint32_t inner;       // level of the strip
  uint32_t first, dims; // loops of the nest that are the strip's: from `first` on, `dims` of them
  int64_t rows;         // above 0: the first of these is taken so many at a time
  const Extent *dim;    // all loops of the nest
  StripMade *made;
  uint32_t nmade;
} StripBuild;

// -- strip_place.c --------------------------------------------------------------------------------
bool reg_is_eight(const StripBuild *, RegKind); // bytes in a cell: 8, or 4
uint32_t reg_new(StripBuild *, RegKind, uint32_t level);
const void *reg_cell(const StripBuild *, RegKind, double value); // one cell
uint32_t reg_constant(StripBuild *, RegKind, double value);
uint32_t reg_positions(StripBuild *, RegKind, uint32_t var); // of a loop of the strip
RegKind reg_kind(const StripBuild *, Base, bool same);
const StripLoops *reg_loops(const StripBuild *, RegKind);
uint32_t reg_use(StripBuild *, uint32_t reg,
                 uint32_t level); // as an argument of a step of this level
StripStep *step_push(StripBuild *, uint32_t level, StripDo, uint32_t out);
uint32_t strip_level(const StripBuild *, uint32_t level); // of levels in the strip, the innermost
bool strip_has(const StripBuild *, uint32_t var);         // the strip runs over this loop variable
bool strip_takes_rows(const StripBuild *, uint32_t var);  // … some rows at a time
void reach_term(StripBuild *, ReachTerm **list, uint32_t *n, uint32_t of, int64_t step);
StripMemory memory_bare(const StripBuild *, uint32_t wire); // without a place
StripMemory *memory_of(StripBuild *, const StripMade *, const Operand *, RegKind);
// Its cells are those of a register: side by side, so that it can stand for one; or that, perhaps
// again and again.
bool memory_is_register(const StripBuild *, const StripMemory *, RegKind);
bool memory_has_strips(const StripBuild *, const StripMemory *, RegKind);
uint32_t guard_operand(StripBuild *, const StripMade *, const Operand *, uint32_t level);
uint32_t guard_node(StripBuild *, const StripMade *); // all that must hold for a point of the node

// -- strip_node.c ---------------------------------------------------------------------------------
StripMade node_made(StripBuild *, const NodeLevels *);
void node_front(StripBuild *, StripMade *); // what is done before the loops of the nest
void node_steps(StripBuild *, StripMade *, uint32_t level); // and what at each level

#endif
