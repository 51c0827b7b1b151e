// The idx format of MNIST and similar sets.
//
//   0 0 | type of a number | number of axes | length of each axis | numbers, row-major
//    2           1                 1               4 each           all big-endian
//
// The lengths must agree exactly with the number of bytes. The result points into the buffer.
#include "io/bytes/bytes.h"

static bool idx_kind(uint8_t code, ElementKind *kind) {
  switch (code) {
  case 0x08: *kind = EL_U8; return true;
  case 0x09: *kind = EL_I8; return true;
  case 0x0b: *kind = EL_I16; return true;
  case 0x0c: *kind = EL_I32; return true;
  case 0x0d: *kind = EL_F32; return true;
  case 0x0e: *kind = EL_F64; return true;
  default: return false;
  }
}

bool bytes_are_idx(const void *bytes, size_t n) {
  const uint8_t *p = bytes;
  ElementKind kind;
  return n >= 4 && !p[0] && !p[1] && idx_kind(p[2], &kind) && p[3] && p[3] <= IDX_RANK_LIMIT;
}

bool idx_look(Arena *a, const void *bytes, size_t n, Raw *out, const char **error) {
  const uint8_t *p = bytes;
  Raw x = {.name = "", .big_endian = true};
  if (n < 4 || p[0] || p[1])
    return file_error(a, error, "it begins with `%s`, where an idx file begins with two zeros",
                      text_shown(a, bytes, n < 4 ? n : 4));
  if (!idx_kind(p[2], &x.kind))
    return file_error(a, error,
                      "its numbers are of type 0x%02x, where one of 08 09 0b 0c 0d 0e was wanted",
                      p[2]);
  x.rank = p[3];
  if (!x.rank || x.rank > IDX_RANK_LIMIT)
    return file_error(a, error, "it has %u axes, where 1 to %d were wanted", x.rank,
                      IDX_RANK_LIMIT);
  size_t head = 4 + 4 * (size_t)x.rank;
  if (n < head) return file_error(a, error, "it has %zu bytes and ends inside its header", n);
  x.shape = NEW_ARRAY(a, int64_t, x.rank);
  for (uint32_t i = 0; i < x.rank; i++) x.shape[i] = (int64_t)bytes_load(p + 4 + 4 * i, 4, true);
  if (!raw_fill(a, &x, p + head, n - head, error)) return false;
  *out = x;
  return true;
}
