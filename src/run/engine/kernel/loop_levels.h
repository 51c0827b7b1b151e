// Loop levels: the outermost loop at which each value of a kernel is invariant (for loop-invariant code
// motion), and the table of pointers of each kernel. All back ends share these.
#ifndef LIMN_RUN_ENGINE_KERNEL_LOOP_LEVELS_H
#define LIMN_RUN_ENGINE_KERNEL_LOOP_LEVELS_H

#include "run/plan/plan.h"

// One node of a nest. At level 0 the parallel loops are known, at level d + 1 also loop d of the nest.
typedef struct {
  const PlanNode *x;
  uint32_t node, nest;
  uint32_t id;            // position of the node in the kernel
  uint32_t *load_level;   // [operand] of its value
  uint32_t *test_level;   // [operand] of its bounds check
  bool *packed;           // [operand] read from a packed copy, contiguous along the innermost loop
  bool *preloaded;        // [operand] loaded before several unrolled turns, into early<id>_<k>[row]
  bool vector_store;      // the output's cells are stored four or eight at a time
  uint32_t *scalar_level; // [scalar]
  bool *uniform;          // [scalar] the same at every point of the kernel; computed in double
  bool bounds_checked;    // some operand or the output may be out of bounds
  // Reals are doubles. A quotient is then computed in the same way in every kernel, because its last
  // digit may decide when an event happens.
  bool wide;
  // The first nest loop of a reduction over the last loops; ndim + 1: the reduction accumulates in
  // memory; PLAN_NONE: no reduction.
  uint32_t sum_loop;
  // The reduction accumulates into a row as long as the innermost loop, from this loop on; PLAN_NONE: not.
  uint32_t row_loop;
} NodeLevels;

NodeLevels *nest_levels(const Plan *, const Kernel *, uint32_t nest); // one for each of its nodes
// The reduction accumulates in a variable, not in memory.
static inline bool sums_in_variable(const Kernel *k, const NodeLevels *w) {
  return w->sum_loop != PLAN_NONE && w->sum_loop <= k->nest.at[w->nest].ndim;
}
bool operand_checked(const Plan *, const Operand *); // a coordinate may be out of bounds
// of_dim[d]: the index of the node that loop d of its nest runs over.
void node_dims(const Kernel *, const PlanNode *, uint32_t *of_dim);
// The node before w in its nest that computes this wire at the same point; NULL: load the wire from memory.
const PlanNode *producer_in_nest(const Plan *, const Kernel *, const NodeLevels *w, uint32_t wire,
                                 uint32_t *node);
uint32_t node_position(const Kernel *, uint32_t node);
// Scalar i divides by a value that is invariant in an inner loop: multiply by the inverse, computed outside.
bool divides_by_invariant(const NodeLevels *, uint32_t i);
// Scalar i is a select whose condition is invariant in an inner loop.
bool selects_by_invariant(const NodeLevels *, uint32_t i);
// The k-th reduced index, in the order of the box.
uint32_t node_reduced(const PlanNode *, uint32_t k);
// Clamps a constant to the normal floats when reals are floats; finite values never become 0 or infinite.
double real_constant(const Plan *, double);
bool wire_has_memory(const PlanWire *);
// [kernel] its table of pointers: numbers of wires, then of small products. Small product s, counted over
// the whole plan, has the number p->wire.n + s.
Ids *kernel_slots(const Plan *);

// scan_registers.c. [wire] HELD_READ and HELD_WRITTEN: a scan holds the wire in a variable; 0: not. NULL:
// the scan has loops inside. *end: the kernel that ends the scan.
enum { HELD_READ = 1, HELD_WRITTEN = 2, HELD_NOT = 4 };
uint8_t *scan_registers(const Plan *, uint32_t scan, uint32_t *end);

#endif
