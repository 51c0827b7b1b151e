// strip_loops: prebuilt loops over a strip of up to STRIP elements, one for each operation, made
// anew for each kind of CPU. Private to strip.
//
// A register is an array of cells: REAL for reals (float or double, each with a table of its own),
// int32_t for labels and bits. A total holds what a sum has so far: float, double or int32_t.
#ifndef LIMN_RUN_ENGINE_STRIP_STRIP_LOOPS_H
#define LIMN_RUN_ENGINE_STRIP_STRIP_LOOPS_H

#include "core/diagram/diagram.h"
#include "io/data/data.h"

#ifdef LIMN_GUARD
enum { STRIP = 8 }; // so that small tests have several strips
#else
enum { STRIP = 256 };
#endif
enum { NUMBERS = NUMBER_U8 + 1 };

typedef void StripOp(void *out, const void *a, const void *b, const void *c, int64_t n);

// Between registers and one kind of cell in memory. Lists of places are in cells; where `mask` is
// not NULL, elements with 0 there are left alone.
typedef struct {
  void (*load)(void *out, const void *from, int64_t step, int64_t n);
  // Masked elements become *other, a cell of a register.
  void (*gather)(void *out, const void *from, const int64_t *at, const int32_t *mask,
                 const void *other, int64_t n);
  void (*store)(void *to, int64_t step, const void *v, int64_t n);
  void (*put)(void *to, const int64_t *at, const void *v, int64_t n);
  void (*fill)(void *to, int64_t step, double value, int64_t n);
  // to[i·step] ⊕= v[i], where no two are the same cell
  void (*join)(Combine, void *to, int64_t step, const void *v, int64_t n);
  // to[at] ⊕= v, one after the other
  void (*combine)(Combine, void *to, const int64_t *at, const int32_t *mask, const void *v,
                  int64_t n);
  // The same for max and min with NaN as the greatest; won[i]: v[i] took the cell. Without a list
  // of places, and then without a mask, cells lie side by side.
  void (*best)(Combine, void *to, const int64_t *at, const int32_t *mask, const void *v, int64_t n,
               int32_t *won);
  void (*reduce)(Combine, void *total, const void *v, int64_t n); // total ⊕= all of v
  int64_t (*win)(Combine, void *total, const void *v,
                 int64_t n); // the element that took the total; -1 = none
} StripCells;

typedef struct {
  const char *name;              // of the kind of CPU; NULL: not built
  StripOp *op[FN_COUNT];         // of reals; bits among the arguments are int32_t
  StripOp *op_of_ints[FN_COUNT]; // of labels and bits
  const StripCells *cells[NUMBERS];
  void (*count)(void *out, int64_t first, int64_t n); // first, first + 1, …
  void (*count_ints)(void *out, int64_t first, int64_t n);
  void (*noise)(bool normal, uint64_t seed, uint64_t step, uint64_t site, uint64_t first,
                uint64_t stride, int64_t n, void *out);
  void (*order)(const void *x, int64_t stride, int64_t n, int32_t *out, int32_t *work);
  // Places: start + i·step, or start + line[i] where there is a line; then step·label more.
  void (*places)(int64_t *at, int64_t start, int64_t step, const int64_t *line, int64_t n);
  void (*shift)(int64_t *at, const int32_t *label, int64_t step, int64_t n);
  void (*inside)(int32_t *mask, const int64_t *at, int64_t size,
                 int64_t n); // mask &= 0 ≤ at < size
  // to[at] = first + i·step where won[i]
  void (*mark)(int32_t *to, const int64_t *at, const int32_t *won, int64_t first, int64_t step,
               int64_t n);
  // Cells of 4 and of 8 bytes: all as the first one; v, or *other where the mask is 0.
  void (*spread[2])(void *cells, int64_t n);
  void (*choose[2])(void *out, const void *v, const int32_t *mask, const void *other, int64_t n);
} StripLoops;

// Of floats, of doubles.
extern const StripLoops strip_plain[2], strip_avx2[2], strip_avx512[2];

#endif
