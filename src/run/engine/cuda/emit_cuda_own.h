// Private to the writing of CUDA text.
#ifndef LIMN_RUN_ENGINE_CUDA_EMIT_CUDA_OWN_H
#define LIMN_RUN_ENGINE_CUDA_EMIT_CUDA_OWN_H

#include "run/engine/cuda/emit_cuda.h"

enum { WARP = 32 };
enum {
  FOUR = 4,
  EIGHT = 8,
  ROWS = 4,
  AHEAD_WORDS = 48,
  AHEAD_TURNS = 8,
  BUCKETS = 128, // of labels
  LOOKS = 8,     // at labels, of a lane at a time
  LISTED = 2048, // labels of which those of a bucket are one list, at most
  VALUES = 8,    // of a list, at a time
  SHARED_BYTES = 96 * 1024
};

// How the lanes of a team share a nest.
typedef struct TeamNest {
  Emit *e;
  const Nest *s;
  NodeLevels *w;
  uint32_t kept;   // loops that are cells: the first ones
  uint32_t summed; // the first loop that lanes take turns at; loops between are every lane's
  uint32_t turns;  // lanes that take turns at one cell
  uint32_t width;  // cells that the team works on at once
  bool across;     // neighbouring lanes have neighbouring cells, not neighbouring turns
  bool sliced;     // a point is a slice of one
  bool bucketed;   // … or a bucket of labels
  bool vectorised; // the last loop goes by lots: operands and results along memory are moved so
  bool columns;    // a cell is a lot of them, side by side in memory, each with a sum of its own
  uint32_t lot;    // how many that is: FOUR or EIGHT
  uint32_t ahead;  // so many turns are taken together, their loads first; 0: one by one
  bool even;       // … and that comes out even
  uint32_t trips;  // the nest goes over one short row: so many turns for each lane; 0: not
  int64_t lots;    // … of so many lots in all
  uint32_t lanes;  // of the team
  const struct TeamNest *all; // the nests of the kernel, of which this is
  uint32_t number;            // … the one of this number; NULL: it is looked at by itself
  bool
      holds; // the next one stands inside, in front of what this one stores: loads may not pass stores
} TeamNest;

// -- emit_nest.c ----------------------------------------------------------------------------------
const char *cuda_length(Emit *, const Extent *, uint32_t from,
                        uint32_t to); // of these loops together
int64_t cuda_length_most(const Plan *, const Extent *, uint32_t from, uint32_t to);
// The loops [from, to) of a number that counts all their points, the last one fastest, as i<first + …>.
void cuda_digits(Emit *, const char *of, uint32_t first, const Extent *, uint32_t from,
                 uint32_t to);
void cuda_same(Emit *, const NodeLevels *, uint32_t n); // scalars that are the same at every point
// What lane `other` has joins what this one has, `near` in the same warp or `far` in the same block.
void cuda_join(Emit *, const NodeLevels *, const char *way);

uint32_t cuda_power_up(int64_t n, uint32_t most); // the next power of two

TeamNest team_nest(Emit *, uint32_t nest, uint32_t team); // how so many lanes share it
const Extent *team_loops(const TeamNest *); // as they are dealt out: by lots, some of them
void team_levels(const TeamNest *, uint32_t from, uint32_t to);
void team_last_level(const TeamNest *);
TeamNest *team_nests(Emit *, const CudaKernel *); // of a kernel
bool team_may_hold(const TeamNest *);             // may another nest stand inside it?
void team_emit(const TeamNest *, uint32_t nest);  // all of one of them, and of those that it holds
bool team_keeps_sum(const TeamNest *, const NodeLevels *); // does the lane have a sum of this node?
void team_open_turns(const TeamNest *, const char *name, uint32_t step);
// All loads of several turns at the loops from `from` on. Beyond the last turn, the first is read once more.
void team_loads_ahead(const TeamNest *, uint32_t from, const char *last, uint32_t step);

// -- emit_lots.c ----------------------------------------------------------------------------------
bool lot_divides(Extent, uint32_t lot);
// Is a lot of an operand's cells along this loop of the nest moved at once?
bool lot_loads(const TeamNest *, const NodeLevels *, uint32_t operand, uint32_t loop);
uint32_t lot_choose(const TeamNest *,
                    uint32_t loop); // how many cells that is, where it may be four
bool lots_choose(const TeamNest *); // may the last loop go by lots, and is anything moved so?
void lots_load(const TeamNest *);
// Do two operands without tests and labels have the same cell at every point of these loops?
bool lot_same_cells(const Plan *, const PlanNode *, const Operand *, const PlanNode *,
                    const Operand *, uint32_t loops);
void lot_hands(const TeamNest *); // what stays for later nests is declared in front of its own
// Loads that stand in front of what they are for: which, how many words of a turn, and their text.
bool ahead_has(const TeamNest *, const NodeLevels *, uint32_t operand);
uint32_t ahead_words(const TeamNest *);
void ahead_arrays(const TeamNest *, uint32_t loop);
void ahead_loads(const TeamNest *, uint32_t loop);
void ahead_held(const TeamNest *, uint32_t loop); // all of them are wanted here
void ahead_mark(const TeamNest *, uint32_t loop);
void ahead_open_row(const TeamNest *, const char *first, const char *last, uint32_t step);
void ahead_open_doubt(const TeamNest *); // behind the last turn nothing is added
void ahead_close_doubt(const TeamNest *);

// -- emit_walk.c ----------------------------------------------------------------------------------
// Do this nest and the next but one make a largest number and a sum of exponentials, by one walk?
bool team_walks(const TeamNest *, uint32_t nest);
void team_emit_walk(const TeamNest *, uint32_t nest); // both of them; the one between comes behind

// -- emit_scatter.c -------------------------------------------------------------------------------
void scatter_emit(const TeamNest *);
// The operand that says which rows, or PLAN_NONE; whether each value of the index has cells of its own.
uint32_t scatter_label(const Plan *, const PlanNode *);
bool scatter_owns(const Plan *, const Kernel *, const PlanNode *, uint32_t index);
// That a team of so many lanes needs for a bucket of labels, behind the kernel's own tiles.
int64_t scatter_list_bytes(const Plan *, const Kernel *, const PlanNode *, uint32_t lanes);

// -- emit_whole.c ---------------------------------------------------------------------------------
typedef struct Whole Whole;
Whole *whole_new(Emit *, const CudaKernel *, CudaWhole *); // NULL: each kernel is a launch
void whole_before(const Whole *, uint32_t kernel);         // in front of the text of a kernel
// Has a nest to do with what lanes have touched since they last met? With what each has touched itself, if it is OWN_CELLS; with
// MEETING, they meet in front of it.
typedef enum { APART, OWN_CELLS, MEETING } Meeting;
Meeting whole_meets(Emit *, const TeamNest *);
void whole_emit(const Whole *);                // the function, behind all kernels
bool whole_beside(const Emit *, const Nest *); // the warp beside the others makes this nest
void whole_put_back(Emit *, const Nest *);     // … and what it made of states is put in its place

// -- emit_pairs.c ---------------------------------------------------------------------------------
void pairs_choose(Emit *, CudaKernel *);
void pairs_emit(Emit *, const CudaKernel *);

#endif
