// Packing and storing for matrix products. In: an operand and the lines that say where its cells
// lie. Out: panels in the order in which a kernel reads them, zeros where the operand ends; or a
// finished tile, in its place in C.
//
// Three orders of memory have their own way (lines side by side, k side by side, C turned);
// anything else goes cell by cell. Nothing outside the operand is read or written.
#include "target/gemm_move.h"

#define NAME(x) f32_##x
#define CELL float
#define SQUARE 4
typedef CELL f32_Four __attribute__((vector_size(16), aligned(4), may_alias));
typedef struct {
  f32_Four row[SQUARE];
} f32_Square;
static inline void f32_turn(f32_Square *s) {
  f32_Four a = __builtin_shufflevector(s->row[0], s->row[1], 0, 4, 1, 5);
  f32_Four b = __builtin_shufflevector(s->row[0], s->row[1], 2, 6, 3, 7);
  f32_Four c = __builtin_shufflevector(s->row[2], s->row[3], 0, 4, 1, 5);
  f32_Four d = __builtin_shufflevector(s->row[2], s->row[3], 2, 6, 3, 7);
  s->row[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  s->row[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  s->row[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  s->row[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}
#include "target/gemm_move.inc"
#undef NAME
#undef CELL
#undef SQUARE

#define NAME(x) f64_##x
#define CELL double
#define SQUARE 2
typedef CELL f64_Four __attribute__((vector_size(16), aligned(8), may_alias));
typedef struct {
  f64_Four row[SQUARE];
} f64_Square;
static inline void f64_turn(f64_Square *s) {
  f64_Four a = __builtin_shufflevector(s->row[0], s->row[1], 0, 2);
  s->row[1] = __builtin_shufflevector(s->row[0], s->row[1], 1, 3);
  s->row[0] = a;
}
#include "target/gemm_move.inc"

// The nearest bf16, ties to even, in the upper half; what is not a number stays so.
static inline uint32_t bf16_of(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  if (x != x) return (u & 0xffff0000u) | 0x00400000u;
  return (u + 0x7fffu + (u >> 16 & 1u)) & 0xffff0000u;
}

void panel_pack(const Panel *p, Precision precision, void *to) {
  if (precision == PRECISION_64) {
    f64_pack(p, to);
    return;
  }
  f32_pack(p, to);
  if (precision != PRECISION_BF16) return;
  float *x = to;
  for (int64_t i = 0; i < p->k * p->width; i++) {
    uint32_t u = bf16_of(x[i]);
    memcpy(x + i, &u, sizeof u);
  }
}

// A few lines of k at a time go through a small buffer.
void panel_pair(const Panel *p, uint32_t *to) {
  enum { LINES = 16, WIDTH = 64 };
  float lines[(LINES + 1) * WIDTH];
  for (int64_t k = 0; k < p->k; k += LINES) {
    Panel some = *p;
    some.k0 += k;
    some.k = p->k - k < LINES ? p->k - k : LINES;
    f32_pack(&some, lines);
    memset(lines + some.k * p->width, 0, (size_t)p->width * sizeof *lines);
    for (int64_t i = 0; i < some.k; i += 2)
      for (int64_t j = 0; j < p->width; j++)
        *to++ = bf16_of(lines[i * p->width + j]) >> 16 | bf16_of(lines[(i + 1) * p->width + j]);
  }
}

void place_store(const Place *p, Precision precision, const void *from, int64_t step) {
  if (precision == PRECISION_64)
    f64_store(p, from, step);
  else
    f32_store(p, from, step);
}
