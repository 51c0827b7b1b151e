// Private to c: a text under way. emit_c.c writes nests and kernels, emit_step.c puts them together.
#ifndef LIMN_RUN_ENGINE_C_EMIT_OWN_H
#define LIMN_RUN_ENGINE_C_EMIT_OWN_H

#include "run/engine/c/emit.h"
#include "run/engine/kernel/loop_levels.h"

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
  Stretch stretch;     // of the innermost loop
  const uint8_t *held; // wires that are variables here (scan_registers.c); NULL: none
  const char *alone;   // in front of its names, in a text that stands for itself; NULL: it does not
} Emit;

// -- emit_c.c -------------------------------------------------------------------------------------
__attribute__((format(printf, 2, 3))) void emit_line(Emit *, const char *format, ...);
void emit_open(Emit *); // the lines up to the matching `close` stand inside
void emit_close(Emit *);
void emit_close_all(Emit *, uint32_t n);
void emit_open_loop(Emit *, char letter, uint32_t v, const char *n); // for (long i3 = 0; …) {
const char *emit_cell(const Emit *, Number);                         // what a pointer points at
const char *emit_extent(Emit *, Extent);
const char *emit_moves(Emit *, uint32_t wire); // how the positions of scans move it, in cells
void emit_loops(Emit *);                       // the body of kernel k
void emit_order(Emit *);

#endif
