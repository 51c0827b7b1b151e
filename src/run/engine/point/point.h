// point: what a kernel does at one point of its loops, as text.
//
//   Emit e = {.p = plan, .b = &buf, …};
//   e.k = kernel, e.now = its slots;
//   const NodeLevels *w = nest_work(plan, kernel, nest);
//   emit_level(&e, w, n, level, ndim);     // what is known at this loop; at the innermost: values
//
// The text is C99 and CUDA C at once: loops, threads and functions are of those who call.
#ifndef LIMN_RUN_ENGINE_POINT_POINT_H
#define LIMN_RUN_ENGINE_POINT_POINT_H

#include "run/engine/kernel/loop_levels.h"

typedef struct {
  uint32_t fn; // its function is limn_k<fn>
  size_t at;   // where the text of that function begins, if it is the first one with it
  Ids slot;    // its table of pointers (kernel_slots in loop_levels.h)
} EmitKernel;

// What is known of coordinates that the innermost loop moves: nothing, that all of them lie inside of
// their axes, or that the only one lies outside.
typedef enum { STRETCH_ANY, STRETCH_INSIDE, STRETCH_OUTSIDE } Stretch;

typedef struct {
  Plan *p;
  Buf *b;
  const Kernel *k;
  EmitKernel *now; // of kernel k
  uint32_t *slot;  // of each wire that kernel k has memory for: its place in the table of pointers
  uint32_t small;  // the slot of the next small product
  uint32_t indent;
  bool full;           // for the largest number of samples only: every length is a number
  bool lanes;          // points are lanes of their own: nothing is made a row at a time
  bool fours;          // a lane has four points or more that follow each other, number u: packed
                       // operands are p<id>_<k>[u], and what is stored so goes to o<id>[u], a float
  bool passes;         // what is stored by lots is not read soon
  bool read;           // what is read early is a field of `read`
  bool exp_less;       // exp(x - y) has the same y for all of a row (limn_exp_less of units.h)
  const char *onto;    // what is added up in places is added to this variable; NULL: to its cell
  Stretch stretch;     // of the innermost loop
  const uint8_t *held; // wires that are variables here (scan_registers.c); NULL: none
  // Of a step that is one block's: where each wire lies, as text, or NULL where it is found by a pointer.
  const char *const *near;
  bool at_hand;            // … and all of that is memory that the block shares
  struct Touched *touched; // … and what its lanes have touched since they met
  const char *alone; // in front of its names, in a text that stands for itself; NULL: it does not
} Emit;

// -- point.c --------------------------------------------------------------------------------------
__attribute__((format(printf, 2, 3))) void emit_line(Emit *, const char *format, ...);
void emit_open(Emit *); // the lines up to the matching `close` stand inside
void emit_close(Emit *);
void emit_close_all(Emit *, uint32_t n);
void emit_open_loop(Emit *, char letter, uint32_t v, const char *n); // for (long i3 = 0; …) {
const char *emit_number(Number);
const char *emit_cell(const Emit *, Number); // what a pointer points at
const char *emit_extent(Emit *, Extent);
const char *emit_constant(Emit *, double, bool wide);
void emit_coord(Emit *, const NodeLevels *, const PlanCoord *, Buf *);
const char *emit_cell_at(Emit *, const NodeLevels *, const Operand *); // the cell of an access
// How the innermost loop moves a coordinate; NULL: not at all.
const PlanTerm *emit_inner_term(const Emit *, const NodeLevels *, const PlanCoord *);
const char *emit_test(Emit *, const NodeLevels *, const Operand *); // all coordinates lie inside
const char *emit_moves(Emit *, uint32_t wire); // how the positions of scans move it, in cells
// A scalar as an argument of scalar `of`.
const char *emit_argument(Emit *, const NodeLevels *, uint32_t scalar, uint32_t of);
void emit_packs(Emit *, const NodeLevels *); // copies that run along the inner loop
const char *emit_load(Emit *, const NodeLevels *, uint32_t operand);
void emit_operands(Emit *, const NodeLevels *, uint32_t level);
void emit_scalar(Emit *, const NodeLevels *, uint32_t scalar);
// Operations that a point of a node takes, but for these scalars; NULL: all of them.
uint32_t emit_work(const PlanNode *, const bool *but);

// -- point_value.c --------------------------------------------------------------------------------
extern const char
    *const emit_combine_text[2][4]; // ⊕ of numbers and of bits, in the order of Combine
const char *emit_identity(Emit *, const PlanNode *);
const char *emit_sum_type(const Emit *, const PlanNode *); // long sums without axes are in double
const char *emit_winner(Emit *, const NodeLevels *, uint32_t k); // the cell of the k-th winner
void emit_open_sum(Emit *, const NodeLevels *);
void emit_close_sum(Emit *, const NodeLevels *);
// What all nodes of a nest do at this loop; at the innermost one also their values.
void emit_level(Emit *, const NodeLevels *, uint32_t n, uint32_t level, uint32_t ndim);

#endif
