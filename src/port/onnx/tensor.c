// Decodes tensor data to doubles from any of the four storage forms and any element type. 64-bit
// integers that a double cannot represent are refused.
#define _POSIX_C_SOURCE 200809L
#include "base/files.h"
#include "port/onnx/onnx.h"

#include <math.h>

const OnnxTypeInfo onnx_type_info[ONNX_TYPES] = {
    [ONNX_UNDEFINED] = {"undefined", 0, '?', 0, 0, 0},
    [ONNX_FLOAT] = {"float", 32, 'f', 8, 23, 127},
    [ONNX_UINT8] = {"uint8", 8, 'u', 0, 0, 0},
    [ONNX_INT8] = {"int8", 8, 'i', 0, 0, 0},
    [ONNX_UINT16] = {"uint16", 16, 'u', 0, 0, 0},
    [ONNX_INT16] = {"int16", 16, 'i', 0, 0, 0},
    [ONNX_INT32] = {"int32", 32, 'i', 0, 0, 0},
    [ONNX_INT64] = {"int64", 64, 'i', 0, 0, 0},
    [ONNX_STRING] = {"string", 0, 's', 0, 0, 0},
    [ONNX_BOOL] = {"bool", 8, 'b', 0, 0, 0},
    [ONNX_FLOAT16] = {"float16", 16, 'f', 5, 10, 15},
    [ONNX_DOUBLE] = {"double", 64, 'f', 11, 52, 1023},
    [ONNX_UINT32] = {"uint32", 32, 'u', 0, 0, 0},
    [ONNX_UINT64] = {"uint64", 64, 'u', 0, 0, 0},
    [ONNX_COMPLEX64] = {"complex64", 64, 'c', 0, 0, 0},
    [ONNX_COMPLEX128] = {"complex128", 128, 'c', 0, 0, 0},
    [ONNX_BFLOAT16] = {"bfloat16", 16, 'f', 8, 7, 127},
    [ONNX_FLOAT8E4M3FN] = {"float8e4m3fn", 8, 'f', 4, 3, 7},
    [ONNX_FLOAT8E4M3FNUZ] = {"float8e4m3fnuz", 8, 'f', 4, 3, 8},
    [ONNX_FLOAT8E5M2] = {"float8e5m2", 8, 'f', 5, 2, 15},
    [ONNX_FLOAT8E5M2FNUZ] = {"float8e5m2fnuz", 8, 'f', 5, 2, 16},
    [ONNX_UINT4] = {"uint4", 4, 'u', 0, 0, 0},
    [ONNX_INT4] = {"int4", 4, 'i', 0, 0, 0},
    [ONNX_FLOAT4E2M1] = {"float4e2m1", 4, 'f', 2, 1, 1},
    [ONNX_FLOAT8E8M0] = {"float8e8m0", 8, 'f', 8, 0, 127},
    [ONNX_UINT2] = {"uint2", 2, 'u', 0, 0, 0},
    [ONNX_INT2] = {"int2", 2, 'i', 0, 0, 0},
};

// -- one number -----------------------------------------------------------------------------------
// Encodings of infinity and NaN differ between types.
static bool decode_special(OnnxType type, uint32_t bits, uint32_t exponent, uint32_t fraction,
                           double *x) {
  bool negative = bits >> (onnx_type_info[type].bits - 1) & 1;
  switch (type) {
  case ONNX_FLOAT16:
  case ONNX_BFLOAT16:
  case ONNX_FLOAT8E5M2:
    if (exponent + 1 != 1U << onnx_type_info[type].exponent) return false;
    *x = fraction ? (double)NAN : negative ? -(double)INFINITY : (double)INFINITY;
    return true;
  case ONNX_FLOAT8E4M3FN: *x = (double)NAN; return (bits & 0x7F) == 0x7F;
  case ONNX_FLOAT8E4M3FNUZ:
  case ONNX_FLOAT8E5M2FNUZ: *x = (double)NAN; return bits == 0x80;
  default: return false;
  }
}

double onnx_small_float(OnnxType type, uint32_t bits) {
  const OnnxTypeInfo *t = &onnx_type_info[type];
  if (type == ONNX_FLOAT8E8M0) return bits == 0xFF ? (double)NAN : ldexp(1, (int)bits - 127);
  uint32_t fraction = bits & ((1U << t->fraction) - 1);
  uint32_t exponent = bits >> t->fraction & ((1U << t->exponent) - 1);
  double x;
  if (decode_special(type, bits, exponent, fraction, &x)) return x;
  int e = (exponent ? (int)exponent : 1) - t->bias - t->fraction;
  x = ldexp((double)(fraction + (exponent ? 1U << t->fraction : 0)), e);
  return bits >> (t->bits - 1) & 1 ? -x : x;
}

static double decode_integer(const OnnxTypeInfo *t, uint64_t bits) {
  if (t->kind == 'i' && t->bits < 64 && bits >> (t->bits - 1) & 1)
    return (double)(int64_t)bits - ldexp(1, (int)t->bits);
  return t->kind == 'i' ? (double)(int64_t)bits : (double)bits;
}

static bool is_exact(const OnnxTypeInfo *t, uint64_t bits, double x) {
  if (t->bits < 64 || t->kind == 'f') return true;
  // the extreme values mean "to the end" (Slice), so rounding is harmless
  if (t->kind == 'i' && (bits == INT64_MAX || bits == (uint64_t)-INT64_MAX)) return true;
  if (x >= 0x1p63) return x < 0x1p64 && (uint64_t)x == bits;
  return (t->kind == 'i' ? (uint64_t)(int64_t)x : (uint64_t)x) == bits;
}

// Decodes one number from its low bits.
static bool decode_number(Arena *a, OnnxType type, uint64_t bits, double *x, const char **error) {
  const OnnxTypeInfo *t = &onnx_type_info[type];
  if (t->bits < 64) bits &= ((uint64_t)1 << t->bits) - 1;
  if (type == ONNX_FLOAT) {
    float f;
    uint32_t low = (uint32_t)bits;
    memcpy(&f, &low, sizeof f);
    *x = (double)f;
  } else if (type == ONNX_DOUBLE) {
    memcpy(x, &bits, sizeof *x);
  } else if (t->kind == 'f') {
    *x = onnx_small_float(type, (uint32_t)bits);
  } else {
    *x = t->kind == 'b' ? bits != 0 : decode_integer(t, bits);
  }
  return is_exact(t, bits, *x) ||
         file_error(a, error,
                    "a whole number of a tensor is beyond 2^53, where not all have a place");
}

// -- many -----------------------------------------------------------------------------------------
static uint64_t bytes_at(const uint8_t *at, uint32_t n) {
  uint64_t x = 0;
  for (uint32_t i = 0; i < n; i++) x |= (uint64_t)at[i] << (8 * i);
  return x;
}

static const char *describe_tensor(Arena *a, const OnnxTensor *t) {
  return text_shown(a, t->name, strlen(t->name));
}

static bool too_few(Arena *a, const OnnxTensor *t, const char **error) {
  return file_error(a, error,
                    "tensor `%s` says that it has %lld numbers, but the file holds others",
                    describe_tensor(a, t), (long long)t->count);
}

static bool from_raw(Arena *a, const OnnxTensor *t, View v, double *out, const char **error) {
  uint32_t bits = onnx_type_info[t->type].bits;
  uint64_t want = ((uint64_t)t->count * bits + 7) / 8;
  if (v.n != want) return too_few(a, t, error);
  for (int64_t i = 0; i < t->count; i++) {
    uint64_t at = (uint64_t)i * bits;
    uint64_t x = bits < 8 ? (uint64_t)v.at[at / 8] >> at % 8 : bytes_at(v.at + at / 8, bits / 8);
    if (!decode_number(a, t->type, x, &out[i], error)) return false;
  }
  return true;
}

static bool from_varints(Arena *a, const OnnxTensor *t, double *out, const char **error) {
  uint32_t bits = onnx_type_info[t->type].bits, each = bits < 8 ? 8 / bits : 1;
  int64_t n = 0;
  for (uint32_t p = 0; p < t->part.n; p++) {
    const uint8_t *at = t->part.at[p].at, *end = at + t->part.at[p].n;
    while (at < end) {
      uint64_t x = 0;
      uint32_t shift = 0;
      do x |= (uint64_t)(*at & 0x7F) << shift, shift += 7;
      while (*at++ & 0x80 && at < end && shift < 64);
      for (uint32_t k = 0; k < each && (n < t->count || !k); k++) {
        if (n == t->count) return too_few(a, t, error);
        if (!decode_number(a, t->type, x >> k * bits, &out[n++], error)) return false;
      }
    }
  }
  return n == t->count || too_few(a, t, error);
}

static bool from_floats(Arena *a, const OnnxTensor *t, double *out, const char **error) {
  OnnxType as = t->where == ONNX_FLOATS ? ONNX_FLOAT : ONNX_DOUBLE;
  uint32_t each = as == ONNX_FLOAT ? 4 : 8;
  int64_t n = 0;
  for (uint32_t p = 0; p < t->part.n; p++)
    for (size_t at = 0; at + each <= t->part.at[p].n; at += each) {
      if (n == t->count) return too_few(a, t, error);
      if (!decode_number(a, as, bytes_at(t->part.at[p].at + at, each), &out[n++], error))
        return false;
    }
  return n == t->count || too_few(a, t, error);
}

// Opens an external file: it must be below the model's folder, also after resolving links.
static bool open_external(Arena *a, const OnnxTensor *t, const char *folder, View *out,
                          const char **error) {
  const char *name = text_shown(a, t->location, strlen(t->location));
  if (!folder)
    return file_error(a, error, "tensor `%s` is in a file beside the model", describe_tensor(a, t));
  const char *path = arena_format(a, "%s/%s", folder, t->location);
  const char *real = path_real(a, path), *home = path_real(a, folder);
  if (*t->location == '/' || strstr(t->location, "..") ||
      (real && home && !path_is_below(home, real)))
    return file_error(a, error, "tensor `%s` is in `%s`, which is not in the model's folder",
                      describe_tensor(a, t), name);
  const char *why = file_check_in(a, folder, t->location);
  FileText file = {0};
  if (!why) file = file_bytes(a, path), why = file.text ? NULL : file.error;
  if (why)
    return file_error(a, error, "cannot read `%s`, where tensor `%s` is: %s", name,
                      describe_tensor(a, t), why);
  if (t->offset > file.n || (t->length && t->length > file.n - t->offset))
    return too_few(a, t, error);
  uint64_t want = ((uint64_t)t->count * onnx_type_info[t->type].bits + 7) / 8;
  *out = (View){(const uint8_t *)file.text + t->offset,
                t->length ? (size_t)t->length : file.n - (size_t)t->offset};
  if (!t->length && out->n > want) out->n = (size_t)want;
  return true;
}

// Can the data hold this many numbers? Checked before allocating.
static bool has_enough_bytes(const OnnxTensor *t, View v) {
  uint64_t bytes = v.n, count = (uint64_t)t->count;
  uint32_t bits = onnx_type_info[t->type].bits;
  for (uint32_t p = 0; p < t->part.n && t->where != ONNX_RAW; p++) bytes += t->part.at[p].n;
  return count <= bytes * (bits < 8 ? 8 / bits : 1);
}

bool onnx_numbers(Arena *a, const OnnxTensor *t, const char *folder, double **out,
                  const char **error) {
  View v = {0};
  const OnnxTypeInfo *info = &onnx_type_info[t->type];
  *out = NULL;
  if (!info->bits || info->kind == 'c')
    return file_error(a, error, "tensor `%s` has elements of type %s, which are no real numbers",
                      describe_tensor(a, t), info->name);
  if (t->where == ONNX_EXTERNAL && !open_external(a, t, folder, &v, error)) return false;
  if (t->where == ONNX_RAW && t->part.n) v = t->part.at[t->part.n - 1];
  if (!has_enough_bytes(t, v)) return too_few(a, t, error);
  *out = NEW_ARRAY(a, double, t->count ? t->count : 1);
  switch (t->where) {
  case ONNX_FLOATS:
  case ONNX_DOUBLES: return from_floats(a, t, *out, error);
  case ONNX_VARINTS: return from_varints(a, t, *out, error);
  default: return from_raw(a, t, v, *out, error);
  }
}
