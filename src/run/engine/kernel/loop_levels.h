// level: where in a kernel's loops each thing is known, and what memory a kernel sees. What every
// way to run a kernel shares.
#ifndef LIMN_RUN_ENGINE_KERNEL_LOOP_LEVELS_H
#define LIMN_RUN_ENGINE_KERNEL_LOOP_LEVELS_H

#include "run/plan/plan.h"

// One node of a nest. Level 0 knows the parallel loops, level d + 1 also loop d of the nest.
typedef struct {
  const PlanNode *x;
  uint32_t node, nest;
  uint32_t id;      // its place in the kernel
  uint32_t *load;   // level of each operand's value
  uint32_t *test;   // level at which each operand's bounds are known
  bool *packed;     // each operand: read from a copy, made in front, that runs along the inner loop
  bool *early;      // each operand: read in front of several turns, into early<id>_<k>[row]
  bool four;        // its cells are stored four or eight at a time
  uint32_t *scalar; // level of each scalar
  bool *same;       // each scalar: the same at every point of the kernel, in double
  bool tested;      // some operand or the output may lie outside
  bool wide; // reals are doubles: then a quotient has the same digits in every kernel, since where
             // something turns is told by the last of them
  uint32_t reduce; // first nest loop of a sum over the last loops; ndim + 1 when it sums in memory;
                   // PLAN_NONE when it does not sum
  uint32_t row; // sums into a row of the innermost loop's length, from this loop on; PLAN_NONE: not
} NodeLevels;

NodeLevels *nest_work(const Plan *, const Kernel *, uint32_t nest); // one for each of its nodes
bool operand_checked(const Plan *, const Operand *);                // a coordinate may lie outside
// The index of the node behind each loop of its nest.
void node_dims(const Kernel *, const PlanNode *, uint32_t *of_dim);
// The node before w in its nest whose value at the same point is this wire; NULL: it is in memory.
const PlanNode *maker_here(const Plan *, const Kernel *, const NodeLevels *w, uint32_t wire,
                           uint32_t *node);
uint32_t kernel_place(const Kernel *, uint32_t node);
// Scalar i divides by what an outer loop knows: a multiplication by its inverse, made there.
bool divides_by_fixed(const NodeLevels *, uint32_t i);
// Scalar i chooses by what an outer loop knows.
bool chooses_by_fixed(const NodeLevels *, uint32_t i);
uint32_t node_reduced(const PlanNode *,
                      uint32_t k); // the k-th reduced index, in the order of the box
// What a float cannot hold becomes the nearest it can, and never 0 or infinite.
double real_constant(const Plan *, double);
bool wire_has_memory(const PlanWire *);
// Of each kernel: its table of pointers. Wires first; from the number of wires on, small products,
// counted over the whole plan.
Ids *kernel_slots(const Plan *);

// scan_registers.c: of each wire, whether a scan holds it in a variable, and how; NULL: the scan has loops
// inside. `end`: the kernel that ends it.
enum { HELD_READ = 1, HELD_WRITTEN = 2, HELD_NOT = 4 };
uint8_t *scan_holds(const Plan *, uint32_t scan, uint32_t *end);

#endif
