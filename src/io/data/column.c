// Columns: numbers in the encoding of a file or generator, converted to a requested element type.
//
// Every training step reads columns, so common pairs of types have their own vectorisable loops;
// other pairs are converted through doubles.
//
// A byte x of a picture becomes x / 255, correctly rounded, without a division: 1/255 = 2⁻⁸ + 2⁻¹⁶
// + 2⁻²⁴ + …, and the sum of two products rounds to the quotient for all 256 values (checked by a
// test).
#include "io/data/set_own.h"

#include <math.h>

enum { FETCH = 4096 };

size_t number_bytes(Number n) {
  static const size_t bytes[] = {
      [NUMBER_F32] = 4, [NUMBER_F64] = 8, [NUMBER_I32] = 4, [NUMBER_U8] = 1, [NUMBER_BF16] = 2};
  return bytes[n];
}

typedef struct {
  const uint8_t *at;
  int64_t step;
  const int64_t *row;
  int64_t n, count;
} ColumnCells;

// Prefetches the next row, which a shuffle places anywhere in memory.
static inline void fetch_row(const ColumnCells *c, int64_t row) {
  const uint8_t *from = c->at + row * c->step;
  if (c->step < 128) return;
  for (int64_t k = 0; k < c->step && k < FETCH; k += 64) __builtin_prefetch(from + k);
}

// A loop that converts every number x of the rows to the expression `becomes`.
#define LOOP(Function, From, To, becomes)                                                          \
  static void Function(const ColumnCells *c, To *restrict out) {                                   \
    for (int64_t i = 0; i < c->n; i++, out += c->count) {                                          \
      const uint8_t *restrict from = c->at + c->row[i] * c->step;                                  \
      if (i + 1 < c->n) fetch_row(c, c->row[i + 1]);                                               \
      for (int64_t k = 0; k < c->count; k++) {                                                     \
        From x;                                                                                    \
        memcpy(&x, from + (size_t)k * sizeof x, sizeof x);                                         \
        out[k] = becomes;                                                                          \
      }                                                                                            \
    }                                                                                              \
  }

#define PICTURE ((float)x * 0x1.0101p-8f + (float)x * 0x1.01p-32f)
LOOP(picture_plain, uint8_t, float, PICTURE)
#ifdef __x86_64__ // twice as fast with AVX2
__attribute__((target("avx2")))
LOOP(picture_wide, uint8_t, float, PICTURE) static void picture_f32(const ColumnCells *c,
                                                                    float *out) {
  (__builtin_cpu_supports("avx2") ? picture_wide : picture_plain)(c, out);
}
#else
static void picture_f32(const ColumnCells *c, float *out) { picture_plain(c, out); }
#endif
LOOP(picture_f64, uint8_t, double, (double)x / 255)
LOOP(u8_f32, uint8_t, float, (float)x)
LOOP(u8_f64, uint8_t, double, (double)x)
LOOP(u8_i32, uint8_t, int32_t, (int32_t)x)
LOOP(u8_u8, uint8_t, uint8_t, x)
LOOP(i32_i32, int32_t, int32_t, x)
LOOP(f32_f32, float, float, x)
LOOP(f32_f64, float, double, (double)x)
LOOP(f64_f32, double, float, (float)x)
LOOP(f64_f64, double, double, x)

static void label_i32(const ColumnCells *c, const uint8_t *label_of, int32_t *out) {
  for (int64_t i = 0; i < c->n; i++, out += c->count) {
    const uint8_t *from = c->at + c->row[i] * c->step;
    for (int64_t k = 0; k < c->count; k++) out[k] = label_of[from[k]];
  }
}

static double plain_number(const Column *c, const uint8_t *from) {
  double x = 0;
  if (c->label_of) return c->label_of[*from];
  element_load(c->kind, from, c->big_endian, &x);
  return c->picture ? x / 255 : x;
}

static double column_number(const Column *c, int64_t row, int64_t k) {
  return plain_number(c, c->at + row * c->step + k * element_info[c->kind].bytes);
}

static void store(Number number, void *out, int64_t at, double x) {
  switch (number) {
  case NUMBER_F32: ((float *)out)[at] = (float)x; break;
  case NUMBER_F64: ((double *)out)[at] = x; break;
  case NUMBER_I32: ((int32_t *)out)[at] = (int32_t)x; break;
  case NUMBER_U8: ((uint8_t *)out)[at] = (uint8_t)x; break;
  case NUMBER_BF16: break;
  }
}

static void any_any(const Column *c, const ColumnCells *cells, Number number, void *out) {
  int64_t at = 0;
  for (int64_t i = 0; i < cells->n; i++) {
    const uint8_t *from = cells->at + cells->row[i] * cells->step;
    for (int64_t k = 0; k < cells->count; k++, from += element_info[c->kind].bytes)
      store(number, out, at++, plain_number(c, from));
  }
}

void column_read(const Column *c, const int64_t *row, int64_t n, int64_t count, Number number,
                 void *out) {
  ColumnCells cells = {c->at, c->step, row, n, count};
  bool swapped = c->big_endian && element_info[c->kind].bytes > 1;
  bool rare = swapped || (c->label_of && number != NUMBER_I32);
#define PAIR(kind, number) ((int)(kind)*8 + (int)(number))
  switch (rare ? -1 : PAIR(c->kind, number)) {
  case PAIR(EL_U8, NUMBER_F32): (c->picture ? picture_f32 : u8_f32)(&cells, out); break;
  case PAIR(EL_U8, NUMBER_F64): (c->picture ? picture_f64 : u8_f64)(&cells, out); break;
  case PAIR(EL_U8, NUMBER_I32):
    if (c->label_of)
      label_i32(&cells, c->label_of, out);
    else
      u8_i32(&cells, out);
    break;
  case PAIR(EL_U8, NUMBER_U8): u8_u8(&cells, out); break;
  case PAIR(EL_I32, NUMBER_I32): i32_i32(&cells, out); break;
  case PAIR(EL_F32, NUMBER_F32): f32_f32(&cells, out); break;
  case PAIR(EL_F32, NUMBER_F64): f32_f64(&cells, out); break;
  case PAIR(EL_F64, NUMBER_F32): f64_f32(&cells, out); break;
  case PAIR(EL_F64, NUMBER_F64): f64_f64(&cells, out); break;
  default: any_any(c, &cells, number, out);
  }
#undef PAIR
}

Column column_new(const void *at, int64_t count, ElementKind kind) {
  return (Column){.at = at, .step = count * element_info[kind].bytes, .count = count, .kind = kind};
}

Column column_of(const Raw *x) {
  int64_t count = 1;
  for (uint32_t i = 1; i < x->rank; i++) count *= x->shape[i];
  Column c = column_new(x->bytes, count, x->kind);
  c.big_endian = x->big_endian;
  return c;
}

int64_t column_largest(const Column *c, int64_t rows, int64_t *row) {
  double most = 0;
  *row = 0;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t k = 0; k < c->count; k++) {
      double x = column_number(c, r, k);
      if (!(x >= 0 && x < INT32_MAX) || x != floor(x)) return *row = r, -1;
      if (x > most) most = x, *row = r;
    }
  return (int64_t)most;
}
