// The micro-kernel for AMX: tiles of 32 × 32 accumulators for products of bf16, and vectorised packing.
//
// The CPU has eight tile registers of 16 rows of 64 bytes. Four hold accumulators, two hold 16 rows of A
// by 32 of k each, two hold 32 of k by 16 columns of B. So A is packed in rows of pairs along k, and B in
// rows with one pair for each column. When C is small, packing takes as long as multiplying, so it uses
// AVX-512, which every CPU with AMX has.
#define _GNU_SOURCE
#include "base/files.h"
#include "run/engine/prebuilt/gemm_kernel.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ISA __attribute__((target("amx-tile,amx-bf16,avx512f,avx512bw,avx512bf16")))
#define INLINE static inline __attribute__((always_inline)) ISA

enum { SIDE = 16, K_STEP = 2 * SIDE, COLUMNS = 2 * SIDE }; // of a register: rows; of k

// Linux saves the tile registers only of processes that request them.
bool gemm_has_amx(void) {
  enum { ASK = 0x1023, TILE_DATA = 18, BF16 = 1 << 22, TILES = 1 << 24 };
  unsigned a, b, c, d;
  if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512bf16")) return false;
  __cpuid_count(7, 0, a, b, c, d);
  return (d & BF16) && (d & TILES) && syscall(SYS_arch_prctl, ASK, TILE_DATA) == 0;
}

// The tile configuration: eight registers of 16 rows of 64 bytes.
static const struct {
  uint8_t palette, first, unused[14];
  uint16_t bytes[16];
  uint8_t lines[16];
} registers = {.palette = 1,
               .bytes = {64, 64, 64, 64, 64, 64, 64, 64},
               .lines = {SIDE, SIDE, SIDE, SIDE, SIDE, SIDE, SIDE, SIDE}};
ISA static void begin(void) { _tile_loadconfig(&registers); }
ISA static void finish(void) { _tile_release(); }
INLINE void zero_sums(void) {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}

// Stores accumulators from a buffer to C, where rows are scattered, missing, or added to.
ISA static void store_rows(const Tile *t, const float *from) {
  for (int64_t i = 0; i < t->rows; i++) {
    float *to = t->to ? t->to[i] : (float *)t->c + i * t->cm;
    for (int64_t v = 0; v < t->vectors; v++) {
      __m512 x = _mm512_loadu_ps(from + i * COLUMNS + v * SIDE);
      if (t->add) x = _mm512_add_ps(x, _mm512_loadu_ps(to + v * SIDE));
      _mm512_storeu_ps(to + v * SIDE, x);
    }
  }
}

INLINE void store_sums(float *c, int64_t step, bool tall, bool wide) {
  float *low = c + SIDE * step;
  const size_t bytes = (size_t)step * sizeof *c;
  _tile_stored(0, c, bytes);
  if (wide) _tile_stored(1, c + SIDE, bytes);
  if (tall) _tile_stored(2, low, bytes);
  if (tall && wide) _tile_stored(3, low + SIDE, bytes);
}

ISA static void multiply(const Tile *t) {
  _Alignas(64) float sums[2 * SIDE * COLUMNS];
  const bool tall = t->rows > SIDE, wide = t->vectors > 1;
  const bool direct = !t->to && !t->add && t->rows % SIDE == 0;
  const uint32_t *a = t->a, *b = t->b;
  zero_sums();
  for (int64_t k = 0; k < t->k; k += SIDE, a += t->ak, b += SIDE * COLUMNS) {
    _tile_loadd(4, a, 4 * SIDE);
    _tile_loadd(6, b, 4 * COLUMNS);
    _tile_dpbf16ps(0, 4, 6);
    if (wide) {
      _tile_loadd(7, b + SIDE, 4 * COLUMNS);
      _tile_dpbf16ps(1, 4, 7);
    }
    if (tall) {
      _tile_loadd(5, a + SIDE * SIDE, 4 * SIDE);
      _tile_dpbf16ps(2, 5, 6);
      if (wide) _tile_dpbf16ps(3, 5, 7);
    }
  }
  store_sums(direct ? t->c : sums, direct ? t->cm : COLUMNS, tall, wide);
  if (!direct) store_rows(t, sums);
}

// Packing

// The first n lanes.
INLINE __mmask16 mask_of(int64_t n) {
  return (__mmask16)(n <= 0 ? 0 : 0xffffu >> (n < SIDE ? SIDE - n : 0));
}

// Loads up to SIDE cells of an axis from index k on, at most `n`; the rest are zeros.
INLINE __m512 load_line(const float *from, GemmAxis l, int64_t k, int64_t n) {
  const __mmask16 mask = mask_of(n);
  if (!mask) return _mm512_setzero_ps();
  if (!l.at && l.step == 1) return _mm512_maskz_loadu_ps(mask, from + k);
  if (!l.at && (l.step > INT32_MAX / 16 || l.step < -INT32_MAX / 16)) {
    float some[SIDE] = {0};
    for (int64_t i = 0; i < (n < SIDE ? n : SIDE); i++) some[i] = from[(k + i) * l.step];
    return _mm512_loadu_ps(some);
  }
  const __m512i iota = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  __m512i at = _mm512_mullo_epi32(iota, _mm512_set1_epi32((int)l.step));
  if (l.at) {
    at = _mm512_maskz_loadu_epi32(mask, l.at + k);
    from += l.at[k];
    at = _mm512_sub_epi32(at, _mm512_set1_epi32(l.at[k]));
    if (_mm512_mask_cmpneq_epi32_mask(mask, at, iota) == 0)
      return _mm512_maskz_loadu_ps(mask, from);
  } else {
    from += k * l.step;
  }
  return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), mask, at, from, 4);
}

// Pairs of neighbours along k, of 32 cells in two vectors.
INLINE __m512i pairs_along(__m512 first, __m512 second) {
  return (__m512i)_mm512_cvtne2ps_pbh(second, first);
}
// Pairs of the same lanes of two vectors.
INLINE __m512i pairs_across(__m512 even, __m512 odd) {
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24,
                                         8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return _mm512_permutexvar_epi16(order, (__m512i)_mm512_cvtne2ps_pbh(odd, even));
}

// Transposes 16 × 16 words in four rounds.
INLINE void transpose_16(__m512i x[SIDE]) {
  __m512i y[SIDE];
  for (int i = 0; i < SIDE; i += 2) {
    y[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
    y[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
  }
  for (int i = 0; i < SIDE; i += 4) {
    x[i] = _mm512_unpacklo_epi64(y[i], y[i + 2]);
    x[i + 1] = _mm512_unpackhi_epi64(y[i], y[i + 2]);
    x[i + 2] = _mm512_unpacklo_epi64(y[i + 1], y[i + 3]);
    x[i + 3] = _mm512_unpackhi_epi64(y[i + 1], y[i + 3]);
  }
  for (int i = 0; i < SIDE; i += 8)
    for (int j = 0; j < 4; j++) {
      y[i + j] = _mm512_shuffle_i32x4(x[i + j], x[i + j + 4], 0x88);
      y[i + j + 4] = _mm512_shuffle_i32x4(x[i + j], x[i + j + 4], 0xdd);
    }
  for (int j = 0; j < 8; j++) {
    x[j] = _mm512_shuffle_i32x4(y[j], y[j + 8], 0x88);
    x[j + 8] = _mm512_shuffle_i32x4(y[j], y[j + 8], 0xdd);
  }
}

INLINE const float *row_of(const GemmPanel *p, int64_t i) {
  return (const float *)p->from + axis_offset(p->outer, p->outer0 + i);
}

// 16 pairs of row i, from index k on.
INLINE __m512i load_pairs_along(const GemmPanel *p, int64_t i, int64_t k) {
  if (i >= p->count) return _mm512_setzero_si512();
  const float *line = row_of(p, i);
  return pairs_along(load_line(line, p->inner, p->k0 + k, p->k - k),
                     load_line(line, p->inner, p->k0 + k + SIDE, p->k - k - SIDE));
}

// The pairs at k and k + 1 of 16 contiguous rows from i on.
INLINE __m512i load_pairs_across(const GemmPanel *p, int64_t i, int64_t k) {
  const float *first = (const float *)p->from + p->outer0 + i;
  const __mmask16 mask = mask_of(p->count - i);
  __m512 even = _mm512_setzero_ps(), odd = even;
  if (mask && k < p->k)
    even = _mm512_maskz_loadu_ps(mask, first + axis_offset(p->inner, p->k0 + k));
  if (mask && k + 1 < p->k)
    odd = _mm512_maskz_loadu_ps(mask, first + axis_offset(p->inner, p->k0 + k + 1));
  return pairs_across(even, odd);
}

// Packs A: for each 32 of k, 16 pairs of each row. Missing rows of the last 16 are zeros.
ISA static void pack_a(const GemmPanel *p, int64_t step, void *to) {
  const bool across = axis_has_stride(p->outer, 1) && !axis_has_stride(p->inner, 1);
  for (int64_t i = 0; i < p->count; i += SIDE)
    for (int64_t k = 0; k < p->k; k += K_STEP) {
      uint32_t *rows = (uint32_t *)to + k / K_STEP * step + i * SIDE;
      __m512i x[SIDE];
      if (across) {
        for (int j = 0; j < SIDE; j++) x[j] = load_pairs_across(p, i, k + 2 * j);
        transpose_16(x);
      } else {
        for (int j = 0; j < SIDE; j++) x[j] = load_pairs_along(p, i + j, k);
      }
      for (int j = 0; j < SIDE; j++) _mm512_storeu_si512(rows + j * SIDE, x[j]);
    }
}

// Packs B: rows of 32 pairs, one for each column.
ISA static void pack_b(const GemmPanel *p, void *to) {
  const bool across = axis_has_stride(p->outer, 1);
  for (int64_t k = 0; k < p->k; k += K_STEP)
    for (int64_t i = 0; i < COLUMNS; i += SIDE) {
      uint32_t *lines = (uint32_t *)to + k / 2 * COLUMNS + i;
      __m512i x[SIDE];
      if (across) {
        for (int j = 0; j < SIDE; j++) x[j] = load_pairs_across(p, i, k + 2 * j);
      } else {
        for (int j = 0; j < SIDE; j++) x[j] = load_pairs_along(p, i + j, k);
        transpose_16(x);
      }
      for (int j = 0; j < SIDE; j++) _mm512_storeu_si512(lines + j * COLUMNS, x[j]);
    }
}

ISA static void sum(void *to, const void *from, int64_t step, int64_t splits, int64_t n, bool add) {
  const float *x = from;
  float *c = to;
  for (int64_t i = 0; i < n; i += SIDE) {
    const __mmask16 mask = mask_of(n - i);
    __m512 s = add ? _mm512_maskz_loadu_ps(mask, c + i) : _mm512_setzero_ps();
    for (int64_t p = 0; p < splits; p++)
      s = _mm512_add_ps(s, _mm512_maskz_loadu_ps(mask, x + p * step + i));
    _mm512_mask_storeu_ps(c + i, mask, s);
  }
}

ISA static double peak(void) {
  enum { TURNS = 1000 };
  begin();
  zero_sums();
  _tile_zero(4);
  _tile_zero(5);
  _tile_zero(6);
  _tile_zero(7);
  double start = clock_seconds();
  for (int i = 0; i < TURNS; i++) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  double seconds = clock_seconds() - start;
  finish();
  return 2.0 * 4 * TURNS * SIDE * SIDE * K_STEP / seconds;
}

const GemmKernel gemm_amx_kernel = {.name = "amx",
                                    .rows = 2 * SIDE,
                                    .vectors = 2,
                                    .lanes = SIDE,
                                    .grain = K_STEP,
                                    .pairs = true,
                                    .speed = 8,
                                    .tile = multiply,
                                    .begin = begin,
                                    .finish = finish,
                                    .pack_a = pack_a,
                                    .pack_b = pack_b,
                                    .sum = sum,
                                    .peak = peak};
#else
bool gemm_has_amx(void) { return false; }
#endif
