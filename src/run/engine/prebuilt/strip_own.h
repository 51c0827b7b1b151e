// The compiler of strip programs (strip.h): what its files share.
#ifndef LIMN_RUN_ENGINE_PREBUILT_STRIP_OWN_H
#define LIMN_RUN_ENGINE_PREBUILT_STRIP_OWN_H

#include "run/engine/prebuilt/strip.h"

typedef struct {
  RegKind kind;
  uint32_t level; // at which it is computed
  bool broadcast; // all its cells are filled
  bool pinned;    // live for the whole nest: addresses and guards read it, too
  bool uniform;   // all cells are one constant
  bool in_memory; // it needs no working memory: an alias of a wire's memory, or a constant
  const void *constant;
  size_t at; // in working memory
} Reg;

// A node and its registers.
typedef struct {
  const NodeLevels *w;
  uint32_t *operand, *guard;           // [operand] or PLAN_NONE
  uint32_t *scalar, *narrow, *inverse; // [scalar] or PLAN_NONE
  uint32_t value;                      // the register that other nodes of the nest read
  bool has_readers;                    // other nodes of the nest read it
} StripNode;

typedef struct {
  Strip *s;
  Arena *arena;
  Plan *p;
  const Kernel *k; // perhaps a copy with fewer parallel loops
  VEC(Reg) reg;
  size_t registers; // their bytes
  // The current nest:
  uint32_t number; // in k
  StripNest *nest;
  uint32_t inner;       // the level of the strip
  uint32_t first, dims; // the strip runs over the `dims` loops of the nest from loop `first` on
  int64_t rows;         // > 0: a strip takes this many iterations of the first of them
  const Extent *dim;    // all loops of the nest
  StripNode *nodes;
  uint32_t nnodes;
} StripBuild;

// -- strip_address.c ------------------------------------------------------------------------------
bool reg_is_8_bytes(const StripBuild *, RegKind); // a cell has 8 bytes, not 4
uint32_t reg_new(StripBuild *, RegKind, uint32_t level);
const void *reg_cell(const StripBuild *, RegKind, double value); // one cell
uint32_t reg_constant(StripBuild *, RegKind, double value);
// The values of a loop variable of the strip, at each of its elements.
uint32_t reg_positions(StripBuild *, RegKind, uint32_t var);
RegKind reg_kind(const StripBuild *, Base, bool same);
const StripLoops *reg_loops(const StripBuild *, RegKind);
// The register as an argument of an instruction of this level; broadcasts it if needed.
uint32_t reg_use(StripBuild *, uint32_t reg, uint32_t level);
StripInstr *instr_push(StripBuild *, uint32_t level, StripOpcode, uint32_t out);
// Levels inside the strip become the strip's level.
uint32_t strip_level(const StripBuild *, uint32_t level);
bool strip_has(const StripBuild *, uint32_t var);        // the strip runs over this loop variable
bool strip_takes_rows(const StripBuild *, uint32_t var); // … some iterations at a time
void address_term(StripBuild *, AddressTerm **list, uint32_t *n, uint32_t of, int64_t step);
StripMemory memory_without_address(const StripBuild *, uint32_t wire);
StripMemory *memory_of(StripBuild *, const StripNode *, const Operand *, RegKind);
// The cells have the register's type and are contiguous: a register can be an alias of them.
bool memory_is_register(const StripBuild *, const StripMemory *, RegKind);
// The same, or contiguous runs at the same cells.
bool memory_has_strips(const StripBuild *, const StripMemory *, RegKind);
uint32_t guard_operand(StripBuild *, const StripNode *, const Operand *, uint32_t level);
uint32_t guard_node(StripBuild *, const StripNode *); // all bounds checks of a point of the node

// -- strip_node.c ---------------------------------------------------------------------------------
StripNode strip_node(StripBuild *, const NodeLevels *);
void node_prologue(StripBuild *, StripNode *);              // instructions before the nest's loops
void node_level(StripBuild *, StripNode *, uint32_t level); // instructions at a level

#endif
