// Arrays in the caller's memory. Dense aligned doubles are used in place; all others are copied,
// number by number along their strides.
#include "run/feed/feed.h"

#include <math.h>

// 0: unknown type
static uint32_t type_bytes(LimnType t) {
  static const uint8_t bytes[] = {
      [LIMN_F64] = 8, [LIMN_F32] = 4, [LIMN_I64] = 8, [LIMN_I32] = 4, [LIMN_U8] = 1};
  return (size_t)t < COUNT(bytes) ? bytes[t] : 0;
}

static double number_at(const char *at, LimnType t) {
  union {
    double f64;
    float f32;
    int64_t i64;
    int32_t i32;
    uint8_t u8;
  } x;
  memcpy(&x, at, type_bytes(t)); // the pointer may be unaligned
  switch (t) {
  case LIMN_F64: return x.f64;
  case LIMN_F32: return (double)x.f32;
  case LIMN_I64: return (double)x.i64;
  case LIMN_I32: return x.i32;
  case LIMN_U8: return x.u8;
  }
  return 0;
}

static bool is_dense(const LimnArray *x) {
  int64_t each = type_bytes(x->type);
  for (uint32_t i = 0; i < x->rank; i++)
    if (!x->shape[i]) return true;
  for (uint32_t i = x->rank; x->strides && i-- > 0; each *= x->shape[i])
    if (x->shape[i] > 1 && x->strides[i] != each) return false;
  return true;
}

bool array_size(Arena *a, const LimnArray *x, int64_t *count, const char **error) {
  *count = 1;
  if (!type_bytes(x->type)) return file_error(a, error, "an array has a type that is not one");
  if (x->rank > ARRAY_RANK_LIMIT || (x->rank && !x->shape))
    return file_error(a, error, "an array has %u axes%s", x->rank,
                      x->rank > ARRAY_RANK_LIMIT ? "" : ", and no shape");
  for (uint32_t i = 0; i < x->rank; i++)
    if (x->shape[i] == 0) *count = 0; // empty, however long the other axes are
  for (uint32_t i = 0; i < x->rank; i++)
    if (x->shape[i] < 0 || __builtin_mul_overflow(*count, x->shape[i], count))
      return file_error(a, error, "an array has the size %lld along axis %u",
                        (long long)x->shape[i], i);
  if (*count > PTRDIFF_MAX / 16) return file_error(a, error, "an array is too large");
  return *count == 0 || x->data || file_error(a, error, "an array has no data");
}

LimnType number_type(Number n) {
  static const LimnType type[] = {[NUMBER_F32] = LIMN_F32,
                                  [NUMBER_F64] = LIMN_F64,
                                  [NUMBER_I32] = LIMN_I32,
                                  [NUMBER_U8] = LIMN_U8};
  return type[n];
}

int64_t array_row_bytes(const LimnArray *x) {
  int64_t bytes = type_bytes(x->type);
  for (uint32_t i = 1; i < x->rank; i++) bytes *= x->shape[i];
  return bytes;
}

// Row-major order: an odometer over the indices.
static void copy_numbers(const LimnArray *x, int64_t count, double *to) {
  int64_t index[ARRAY_RANK_LIMIT] = {0}, stride[ARRAY_RANK_LIMIT], each = type_bytes(x->type);
  if (!count) return;
  for (uint32_t i = x->rank; i-- > 0; each *= x->shape[i])
    stride[i] = x->strides ? x->strides[i] : each;
  const char *at = x->data;
  for (int64_t k = 0; k < count; k++) {
    to[k] = number_at(at, x->type);
    for (uint32_t i = x->rank; i-- > 0;) {
      at += stride[i];
      if (++index[i] < x->shape[i]) break;
      at -= stride[i] * x->shape[i];
      index[i] = 0;
    }
  }
}

ElementKind memory_element(LimnType t) {
  static const ElementKind kind[] = {[LIMN_F64] = EL_F64,
                                     [LIMN_F32] = EL_F32,
                                     [LIMN_I64] = EL_I64,
                                     [LIMN_I32] = EL_I32,
                                     [LIMN_U8] = EL_U8};
  return (uint32_t)t < COUNT(kind) ? kind[t] : EL_F64;
}

bool array_from_memory(Arena *a, const LimnArray *x, Array *out, const char **error) {
  int64_t count;
  if (!array_size(a, x, &count, error)) return false;
  bool same = x->type == LIMN_F64 && is_dense(x) && (uintptr_t)x->data % _Alignof(double) == 0;
  *out = (Array){.name = "",
                 .rank = x->rank,
                 .shape = arena_copy(a, x->shape, x->rank * sizeof(int64_t)),
                 .count = count,
                 .data = same && x->data ? x->data : NEW_ARRAY(a, double, count),
                 .kind = memory_element(x->type)};
  if (out->data != x->data) copy_numbers(x, count, out->data);
  return true;
}

void arrays_keep(Arena *keep, Arrays *to, const Array *x) {
  Array own = *x;
  own.name = arena_text(keep, x->name, strlen(x->name));
  own.shape = arena_copy(keep, x->shape, x->rank * sizeof(int64_t));
  own.data = arena_copy(keep, x->data, (size_t)x->count * sizeof(double));
  vec_push(keep, &to->array, own);
}

// -- into the memory of an engine -----------------------------------------------------------------
enum { AT_ONCE = 256 };

// Converts n numbers of one row, `step` bytes apart.
static void convert_row(LimnType t, const char *at, int64_t step, int64_t n, double *to) {
  switch (t) {
  case LIMN_F32:
    for (int64_t i = 0; i < n; i++) {
      float x;
      memcpy(&x, at + i * step, sizeof x);
      to[i] = (double)x;
    }
    break;
  default:
    for (int64_t i = 0; i < n; i++) to[i] = number_at(at + i * step, t);
  }
}

static int64_t first_unfit(const double *x, int64_t n, int64_t labels) {
  for (int64_t i = 0; labels && i < n; i++)
    if (!(x[i] >= 0 && x[i] < (double)labels && x[i] == floor(x[i]))) return i;
  return n;
}

// Where the row that contains the k-th number begins; *step: bytes between its numbers.
static const char *row_of(const LimnArray *x, int64_t k, int64_t *step) {
  int64_t each = type_bytes(x->type), offset = 0;
  *step = x->rank && x->strides ? x->strides[x->rank - 1] : each;
  for (uint32_t i = x->rank; i-- > 0; each *= x->shape[i]) {
    offset += k % x->shape[i] * (x->strides ? x->strides[i] : each);
    k /= x->shape[i];
  }
  return (const char *)x->data + offset;
}

bool cells_from_memory(const LimnArray *x, int64_t count, CellsTo to, int64_t *wrong,
                       double *value) {
  size_t cell = number_bytes(to.number);
  bool same = x->type == number_type(to.number);
  int64_t last = x->rank ? x->shape[x->rank - 1] : 1;
  if (same && !to.labels && is_dense(x)) return memcpy(to.at, x->data, (size_t)count * cell), true;
  for (int64_t k = 0; k < count;) {
    double part[AT_ONCE];
    int64_t step, n = last - k % last;
    const char *from = row_of(x, k, &step);
    if (n > AT_ONCE) n = AT_ONCE;
    convert_row(x->type, from, step, n, part);
    int64_t good = first_unfit(part, n, to.labels);
    if (good < n) return *wrong = k + good, *value = part[good], false;
    numbers_set(to.number, (char *)to.at + (size_t)k * cell, part, n);
    k += n;
  }
  return true;
}

// Labels of unknown number: all non-negative integers.
int64_t labels_of(World *w, const Type *t) {
  int64_t count = 2;
  if (t->base == BASE_R) return 0;
  return t->base == BASE_LABEL && !size_value(w, t->count, &count) ? INT32_MAX : count;
}
