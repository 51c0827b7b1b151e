// Packing of operands and storing of tiles for matrix products. Takes an operand and the offsets of its
// axes; gives panels in the order in which a kernel reads them, padded with zeros; or stores a finished
// tile in C.
//
// Three layouts have fast paths (contiguous rows, contiguous k, transposed C); all others are copied cell
// by cell. Nothing outside the operand is read or written.
#include "run/engine/prebuilt/gemm_move.h"

enum { PANEL_WIDTH = 64 }; // at most

typedef float Float4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef struct {
  Float4 a, b, c, d;
} f32_Square;
static inline f32_Square f32_square_transposed(const float *x, const float *y, const float *z,
                                               const float *w) {
  Float4 a = *(const Float4 *)x, b = *(const Float4 *)y;
  Float4 c = *(const Float4 *)z, d = *(const Float4 *)w;
  Float4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  Float4 cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  Float4 AB = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  Float4 CD = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  return (f32_Square){
      __builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
      __builtin_shufflevector(AB, CD, 0, 1, 4, 5), __builtin_shufflevector(AB, CD, 2, 3, 6, 7)};
}
static inline void f32_square_add(f32_Square *s, const float *x, const float *y, const float *z,
                                  const float *w) {
  s->a += *(const Float4 *)x, s->b += *(const Float4 *)y;
  s->c += *(const Float4 *)z, s->d += *(const Float4 *)w;
}
static inline void f32_square_put(f32_Square s, float *x, float *y, float *z, float *w) {
  *(Float4 *)x = s.a, *(Float4 *)y = s.b, *(Float4 *)z = s.c, *(Float4 *)w = s.d;
}
#define NAME(x) f32_##x
#define CELL float
#include "run/engine/prebuilt/gemm_move.inc"
#undef NAME
#undef CELL

typedef struct {
  double at[4][4];
} f64_Square;
static inline f64_Square f64_square_transposed(const double *x, const double *y, const double *z,
                                               const double *w) {
  return (f64_Square){{{x[0], y[0], z[0], w[0]},
                       {x[1], y[1], z[1], w[1]},
                       {x[2], y[2], z[2], w[2]},
                       {x[3], y[3], z[3], w[3]}}};
}
static inline void f64_square_add(f64_Square *s, const double *x, const double *y, const double *z,
                                  const double *w) {
  for (int i = 0; i < 4; i++)
    s->at[0][i] += x[i], s->at[1][i] += y[i], s->at[2][i] += z[i], s->at[3][i] += w[i];
}
static inline void f64_square_put(f64_Square s, double *x, double *y, double *z, double *w) {
  memcpy(x, s.at[0], sizeof s.at[0]);
  memcpy(y, s.at[1], sizeof s.at[1]);
  memcpy(z, s.at[2], sizeof s.at[2]);
  memcpy(w, s.at[3], sizeof s.at[3]);
}
#define NAME(x) f64_##x
#define CELL double
#include "run/engine/prebuilt/gemm_move.inc"

// Rounds to the nearest bf16, ties to even, in the upper half of the word. NaN stays NaN.
typedef uint32_t Word __attribute__((may_alias));
typedef uint32_t Word4 __attribute__((vector_size(16), aligned(4), may_alias));
static inline Word4 bf16_of(Float4 x) {
  Word4 u = (Word4)x, number = (Word4)(x == x);
  Word4 near = u + 0x7fffu + (u >> 16 & 1u), quiet = u | 0x00400000u;
  return ((near & number) | (quiet & ~number)) & 0xffff0000u;
}

static void round_cells(float *x, int64_t n) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) *(Word4 *)(x + i) = bf16_of(*(Float4 *)(x + i));
  if (i == n) return;
  Float4 rest = {0};
  memcpy(&rest, x + i, (size_t)(n - i) * sizeof *x);
  Word4 rounded = bf16_of(rest);
  memcpy(x + i, &rounded, (size_t)(n - i) * sizeof *x);
}

void panel_pack(const GemmPanel *p, Precision precision, void *to) {
  if (precision == PRECISION_64)
    f64_pack(p, to);
  else
    f32_pack(p, to);
  if (precision == PRECISION_BF16) round_cells(to, p->k * p->width);
}

// Packs a few rows of k at a time into a small buffer, and interleaves two rows into pairs.
void panel_pack_pairs(const GemmPanel *p, uint32_t *to) {
  enum { LINES = 16 };
  float lines[LINES * PANEL_WIDTH];
  for (int64_t k = 0; k < p->k; k += LINES) {
    GemmPanel some = *p;
    some.k0 += k;
    some.k = p->k - k < LINES ? p->k - k : LINES;
    panel_pack(&some, PRECISION_BF16, lines);
    int64_t w = p->width, cells = some.k * w;
    if (some.k % 2) memset(lines + cells, 0, (size_t)w * sizeof *lines);
    const Word *words = (const Word *)lines;
    for (int64_t i = 0; i < cells; i += 2 * w)
      for (int64_t j = 0; j < w; j++) *to++ = words[i + j] >> 16 | words[i + w + j];
  }
}

void tile_store(const TileTarget *p, Precision precision, const void *from, int64_t step) {
  if (precision == PRECISION_64)
    f64_store(p, from, step);
  else
    f32_store(p, from, step);
}
