// strip_loops: prebuilt loops over a strip of up to STRIP elements, one for each operation, compiled for
// each kind of CPU. Private to strip.
//
// A register is an array of cells: REAL for reals (float or double, each with its own table), int32_t
// for labels and bits. A total is the accumulator of a reduction: float, double or int32_t.
#ifndef LIMN_RUN_ENGINE_PREBUILT_STRIP_LOOPS_H
#define LIMN_RUN_ENGINE_PREBUILT_STRIP_LOOPS_H

#include "core/diagram/diagram.h"
#include "core/diagram/ops.h"
#include "io/data/data.h"

#ifdef LIMN_GUARD
enum { STRIP = 8 }; // small tests have several strips, too
#else
enum { STRIP = 256 };
#endif
enum { NUMBERS = NUMBER_U8 + 1 };

typedef void StripOp(void *out, const void *a, const void *b, const void *c, int64_t n);

// Functions between registers and one cell type in memory. `at` lists offsets in cells. Elements with
// mask[i] == 0 are skipped; mask may be NULL.
typedef struct {
  void (*load)(void *out, const void *from, int64_t step, int64_t n);
  // Skipped elements become *other, a cell of a register.
  void (*gather)(void *out, const void *from, const int64_t *at, const int32_t *mask,
                 const void *other, int64_t n);
  void (*store)(void *to, int64_t step, const void *v, int64_t n);
  void (*scatter)(void *to, const int64_t *at, const void *v, int64_t n);
  void (*fill)(void *to, int64_t step, double value, int64_t n);
  // to[i·step] ⊕= v[i]; the cells are distinct
  void (*combine_strided)(Combine, void *to, int64_t step, const void *v, int64_t n);
  // to[at[i]] ⊕= v[i], sequentially: cells may repeat
  void (*combine)(Combine, void *to, const int64_t *at, const int32_t *mask, const void *v,
                  int64_t n);
  // The same for max and min, where NaN wins over any number. won[i]: v[i] replaced the cell. If `at` is
  // NULL, the cells are contiguous and mask is ignored.
  void (*best)(Combine, void *to, const int64_t *at, const int32_t *mask, const void *v, int64_t n,
               int32_t *won);
  void (*reduce)(Combine, void *total, const void *v, int64_t n); // total ⊕= all of v
  // The last element that replaced the total; -1: none.
  int64_t (*reduce_winner)(Combine, void *total, const void *v, int64_t n);
} StripCells;

typedef struct {
  const char *name;              // of the kind of CPU; NULL: not built
  StripOp *op[FN_COUNT];         // of reals; arguments that are bits are int32_t
  StripOp *op_of_ints[FN_COUNT]; // of labels and bits
  const StripCells *cells[NUMBERS];
  void (*count)(void *out, int64_t first, int64_t n); // first, first + 1, …
  void (*count_ints)(void *out, int64_t first, int64_t n);
  void (*noise)(bool normal, uint64_t seed, uint64_t step, uint64_t site, uint64_t first,
                uint64_t stride, int64_t n, void *out);
  void (*order)(const void *x, int64_t stride, int64_t n, int32_t *out, int32_t *work);
  // Offsets: start + line[i], or start + i·step if line is NULL. shift adds step·label[i].
  void (*places)(int64_t *at, int64_t start, int64_t step, const int64_t *line, int64_t n);
  void (*shift)(int64_t *at, const int32_t *label, int64_t step, int64_t n);
  // mask[i] &= 0 ≤ at[i] < size
  void (*inside)(int32_t *mask, const int64_t *at, int64_t size, int64_t n);
  // to[at[i]] = first + i·step where won[i]
  void (*store_winners)(int32_t *to, const int64_t *at, const int32_t *won, int64_t first,
                        int64_t step, int64_t n);
  // For cells of 4 and of 8 bytes. broadcast: copies the first cell to all. select: v[i], or *other where
  // mask[i] is 0.
  void (*broadcast[2])(void *cells, int64_t n);
  void (*select[2])(void *out, const void *v, const int32_t *mask, const void *other, int64_t n);
} StripLoops;

// [0]: reals are floats; [1]: doubles.
extern const StripLoops strip_plain[2], strip_avx2[2], strip_avx512[2];

#endif
