// Private to the printers of CUDA C.
#ifndef LIMN_RUN_ENGINE_CUDA_EMIT_CUDA_OWN_H
#define LIMN_RUN_ENGINE_CUDA_EMIT_CUDA_OWN_H

#include "run/engine/cuda/emit_cuda.h"

enum { WARP = 32 };
enum {
  FOUR = 4,
  EIGHT = 8,
  ROWS = 4,
  AHEAD_WORDS = 48,        // the most registers for loads of unrolled turns
  AHEAD_TURNS = 8,         // the most turns that are unrolled together
  BUCKETS = 128,           // of labels
  LOOKS = 8,               // labels that a lane loads at a time
  LISTED = 2048,           // the most labels that are compacted into one list
  VALUES = 8,              // entries of the list that are added at a time
  SHARED_BYTES = 96 * 1024 // the most shared memory for tiles
};

// How the lanes of a team share a loop nest: the loops [0, cell_loops) are output cells; the loops
// [cell_loops, split_loop) are run by every lane; the points of the loops [split_loop, ndim) are turns,
// dealt out to the lanes of a cell.
typedef struct TeamNest {
  Emit *e;
  const Nest *s;
  NodeLevels *w;
  uint32_t cell_loops;
  uint32_t split_loop;
  uint32_t lanes_per_cell; // a power of two
  uint32_t cells_at_once;  // cells that the team works on at the same time
  // Neighbouring lanes have neighbouring cells, not neighbouring turns of one cell.
  bool lanes_across_cells;
  bool sliced;      // a point is a slice of a reduction
  bool bucketed;    // a point is a bucket of labels
  bool vectorised;  // the last loop counts vectors: contiguous operands use vector loads and stores
  bool column_sums; // a cell is a vector of contiguous output cells, each with an accumulator
  uint32_t vector;  // the cells of a vector: FOUR or EIGHT
  uint32_t unrolled;   // turns that are unrolled together, with all their loads first; 0: not
  bool no_remainder;   // `unrolled` divides the turns of every lane
  uint32_t row_turns;  // the nest is one short row: turns of each lane, all unrolled; 0: not
  int64_t row_vectors; // … and the vectors in the row
  uint32_t lanes;      // of the team
  const struct TeamNest *all; // all nests of the kernel; NULL: this nest is considered alone
  uint32_t number;            // in `all`
  // The next nest is printed inside this one, before its stores, because loads may not pass stores.
  bool holds_next;
} TeamNest;

// -- emit_nest.c ----------------------------------------------------------------------------------
// The product of the lengths of the loops [from, to).
const char *cuda_length(Emit *, const Extent *, uint32_t from, uint32_t to);
int64_t cuda_length_most(const Plan *, const Extent *, uint32_t from, uint32_t to);
// Declares the indices i<first + from> … of the loops [from, to), from the linear index `of`.
void cuda_digits(Emit *, const char *of, uint32_t first, const Extent *, uint32_t from,
                 uint32_t to);
void cuda_uniforms(Emit *, const NodeLevels *, uint32_t n); // prints the uniform scalars
// Combines this lane's accumulator with that of lane `other`. way: "near", a warp shuffle; "far", through
// shared memory; "seen", from the array `all` in shared memory.
void cuda_join(Emit *, const NodeLevels *, const char *way);

uint32_t cuda_power_up(int64_t n, uint32_t most); // the least power of two ≥ n, at most `most`

TeamNest team_nest(Emit *, uint32_t nest, uint32_t team); // chooses how `team` lanes share the nest
const Extent *team_loops(const TeamNest *); // lengths of the loops, a vectorised one in vectors
void team_levels(const TeamNest *, uint32_t from, uint32_t to);
void team_last_level(const TeamNest *);
TeamNest *team_nests(Emit *, const CudaKernel *); // of a kernel
bool team_may_hold(const TeamNest *);             // another nest may be printed inside it
void team_emit(const TeamNest *, uint32_t nest);  // prints a nest, with the nests that it holds
// Each lane has an accumulator for this node.
bool team_keeps_sum(const TeamNest *, const NodeLevels *);
void team_open_turns(const TeamNest *, const char *name, uint32_t step);
// Prints all loads of the unrolled turns, at the loops from `from` on. A turn after the last one loads the
// first one again.
void team_preloads(const TeamNest *, uint32_t from, const char *last, uint32_t step);

// -- emit_vectors.c -------------------------------------------------------------------------------
bool vector_divides(Extent, uint32_t vector);
// The operand can use vector loads along this loop of the nest.
bool vector_loads(const TeamNest *, const NodeLevels *, uint32_t operand, uint32_t loop);
uint32_t choose_vector(const TeamNest *, uint32_t loop); // FOUR or EIGHT, where four is possible
bool choose_vectorised(
    const TeamNest *); // marks vector loads and stores along the last loop; false: none
void emit_vector_loads(const TeamNest *);
// Two operands without bounds checks and labels access the same cell at every point of the first loops.
bool same_cells_in_loops(const Plan *, const PlanNode *, const Operand *, const PlanNode *,
                         const Operand *, uint32_t loops);
void declare_reused(const TeamNest *); // declares the registers that later nests reuse
// Preloads: the loads of unrolled turns, issued together before their uses.
bool preload_has(const TeamNest *, const NodeLevels *, uint32_t operand);
uint32_t preload_words(const TeamNest *); // registers of one turn
void preload_declare(const TeamNest *, uint32_t loop);
void preload_emit(const TeamNest *, uint32_t loop);
// Keeps the compiler from moving the loads to their uses.
void preload_hold(const TeamNest *, uint32_t loop);
void preload_mark(const TeamNest *, uint32_t loop);
void preload_open_row(const TeamNest *, const char *first, const char *last, uint32_t step);
// Around the additions of an unrolled turn: after the last turn, the accumulators are restored.
void remainder_save(const TeamNest *);
void remainder_restore(const TeamNest *);

// -- emit_online_softmax.c ------------------------------------------------------------------------
// This nest and the next but one are the maximum and the sum of exponentials of a softmax.
bool softmax_matches(const TeamNest *, uint32_t nest);
// Prints both in one pass; the nest between them is printed after.
void softmax_emit(const TeamNest *, uint32_t nest);

// -- emit_scatter.c -------------------------------------------------------------------------------
void scatter_emit(const TeamNest *);
// The operand whose labels name the rows of the output, or PLAN_NONE.
uint32_t scatter_label(const Plan *, const PlanNode *);
// Different values of the index add to different cells, so lanes can share this loop.
bool scatter_owns(const Plan *, const Kernel *, const PlanNode *, uint32_t index);
// Scratch bytes of a team for the list of a bucket, after the kernel's tiles.
int64_t scatter_list_bytes(const Plan *, const Kernel *, const PlanNode *, uint32_t lanes);

// -- emit_fused_step.c ----------------------------------------------------------------------------
typedef struct FusedStep FusedStep;
FusedStep *fused_new(Emit *, const CudaKernel *, CudaFusedStep *); // NULL: the step is not fused
void fused_before(const FusedStep *, uint32_t kernel);             // before a kernel is printed
// How a nest conflicts with the lanes' memory accesses since the last barrier: not at all; each lane with
// its own accesses only; or between lanes, which needs a barrier.
typedef enum { NO_CONFLICT, OWN_CELLS, NEEDS_BARRIER } Conflict;
Conflict fused_conflict(Emit *, const TeamNest *);
void fused_emit(const FusedStep *);                // prints the function, after all kernels
bool fused_is_on_side(const Emit *, const Nest *); // the side warp runs this nest
void fused_store_side(Emit *, const Nest *);       // copies the side warp's results into the states

// -- emit_flash_attention.c -----------------------------------------------------------------------
void attention_choose(Emit *, CudaKernel *);
void attention_emit(Emit *, const CudaKernel *);

#endif
