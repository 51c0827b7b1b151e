// Encoding of arrays, and the npy format of NumPy.
//
//   \x93NUMPY | major minor | length of the header | header, ended by a newline | numbers
//     6 bytes        2        2, or 4 from 2.0 on    a Python dictionary:
//                             {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
//
// The header is parsed by a recursive-descent parser for this dictionary, with keys in any order.
// The header must agree exactly with the number of bytes that follow before memory is allocated.
// Numbers are decoded bytewise, independent of endianness and alignment. Reading is exact or fails;
// writing rounds to float kinds, and is exact or fails for other kinds.
#include "base/files.h"
#include "io/bytes/bytes.h"

#include <assert.h>
#include <math.h>

const ElementInfo element_info[EL_COUNT] = {
    [EL_F64] = {"float64", "F64", "f8", 8}, [EL_F32] = {"float32", "F32", "f4", 4},
    [EL_F16] = {"float16", "F16", "f2", 2}, [EL_BF16] = {"bfloat16", "BF16", NULL, 2},
    [EL_I64] = {"int64", "I64", "i8", 8},   [EL_I32] = {"int32", "I32", "i4", 4},
    [EL_I16] = {"int16", "I16", "i2", 2},   [EL_I8] = {"int8", "I8", "i1", 1},
    [EL_U64] = {"uint64", "U64", "u8", 8},  [EL_U32] = {"uint32", "U32", "u4", 4},
    [EL_U16] = {"uint16", "U16", "u2", 2},  [EL_U8] = {"uint8", "U8", "u1", 1},
    [EL_BOOL] = {"bool", "BOOL", "b1", 1},
};

bool file_error(Arena *a, const char **error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  *error = arena_vformat(a, format, args);
  va_end(args);
  return false;
}

bool file_put(Arena *a, const char *path, const void *bytes, size_t n, const char **error) {
  const char *why = file_write(a, path, bytes, n);
  return !why || file_error(a, error, "cannot write %s: %s", path, why);
}

bool file_put_in(Arena *a, const char *dir, const char *name, const Bytes *bytes,
                 const char **error) {
  const char *why = file_write_in(a, dir, name, bytes->at, bytes->n);
  return !why || file_error(a, error, "cannot write %s/%s: %s", dir, name, why);
}

// The size in bytes as doubles must not overflow. The other axes are checked even if one has length
// 0, so that strides do not overflow either.
bool array_count(uint32_t rank, const int64_t *shape, int64_t *count) {
  int64_t product = 1;
  bool empty = false;
  for (uint32_t i = 0; i < rank; i++) {
    if (shape[i] < 0) return false;
    if (shape[i] == 0)
      empty = true;
    else if (product > (int64_t)(PTRDIFF_MAX / 16) / shape[i])
      return false;
    else
      product *= shape[i];
  }
  *count = empty ? 0 : product;
  return true;
}

static const char *type_text(Arena *a, uint32_t rank, const int64_t *shape, ElementKind kind) {
  Buf b = buf_new(a);
  for (uint32_t i = 0; i < rank; i++) buf_printf(&b, "%s%lld", i ? "×" : "", (long long)shape[i]);
  buf_printf(&b, "%s %s", rank ? "" : "one", element_info[kind].name);
  return b.at;
}

const char *array_type(Arena *a, const Array *x) {
  return type_text(a, x->rank, x->shape, x->kind);
}

const char *raw_type(Arena *a, const Raw *x) { return type_text(a, x->rank, x->shape, x->kind); }

bool raw_fill(Arena *a, Raw *x, const uint8_t *from, size_t n, const char **error) {
  const char *type = raw_type(a, x);
  if (!array_count(x->rank, x->shape, &x->count))
    return file_error(a, error, "the header says %s, more than any memory holds", type);
  uint64_t size = (uint64_t)x->count * element_info[x->kind].bytes;
  x->bytes = from;
  return size == n || file_error(a, error, "the header says %s, %llu bytes, but %s%zu follow", type,
                                 (unsigned long long)size, n < size ? "only " : "", n);
}

// Decoding and encoding of numbers.

uint64_t bytes_load(const uint8_t *from, uint32_t n, bool big_endian) {
  uint64_t bits = 0;
  for (uint32_t i = 0; i < n; i++) bits |= (uint64_t)from[big_endian ? n - 1 - i : i] << 8 * i;
  return bits;
}

void bytes_store(uint64_t bits, uint8_t *to, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) to[i] = (uint8_t)(bits >> 8 * i);
}

// Decodes a float with 1 sign bit, e exponent bits and m fraction bits.
static double small_load(uint32_t bits, int e, int m) {
  uint32_t exponent = bits >> m & ((1u << e) - 1), fraction = bits & ((1u << m) - 1);
  int bias = (1 << (e - 1)) - 1;
  double x;
  if (exponent == (1u << e) - 1)
    x = fraction ? NAN : INFINITY;
  else if (exponent == 0)
    x = ldexp(fraction, 1 - bias - m);
  else
    x = ldexp(fraction + (1u << m), (int)exponent - bias - m);
  return bits >> (e + m) & 1 ? -x : x;
}

// Encodes such a float, rounding to nearest even. False if a finite number rounds to infinity.
static bool small_store(double x, int e, int m, uint64_t *bits) {
  uint32_t top = (1u << e) - 1, result;
  int bias = (1 << (e - 1)) - 1, exponent;
  bool fits = true;
  if (isnan(x)) {
    result = top << m | 1u << (m - 1);
  } else if (isinf(x)) {
    result = top << m;
  } else {
    frexp(x, &exponent);
    if (--exponent < 1 - bias || x == 0) exponent = 1 - bias;
    double steps = nearbyint(ldexp(fabs(x), m - exponent)); // at most 2^(m+1)
    if (exponent > bias) return false;
    // A carry increments the exponent.
    result = (uint32_t)steps + ((uint32_t)(exponent + bias - 1) << m);
    fits = result < top << m;
  }
  *bits = result | (signbit(x) ? 1u << (e + m) : 0);
  return fits;
}

static bool double_represents(uint64_t magnitude) {
  const uint64_t limit = (uint64_t)1 << 53;
  return magnitude < limit || magnitude / (magnitude & (~magnitude + 1)) < limit;
}

static bool signed_load(uint64_t bits, uint32_t bytes, double *out) {
  bool negative = bits >> (8 * bytes - 1) & 1;
  if (negative && bytes < 8) bits |= ~(uint64_t)0 << 8 * bytes;
  uint64_t magnitude = negative ? ~bits + 1 : bits;
  *out = negative ? -(double)magnitude : (double)magnitude;
  return double_represents(magnitude);
}

bool element_load(ElementKind kind, const uint8_t *from, bool big_endian, double *out) {
  uint32_t n = element_info[kind].bytes;
  uint64_t bits = bytes_load(from, n, big_endian);
  uint32_t word = (uint32_t)bits;
  float single;
  switch (kind) {
  case EL_F64: memcpy(out, &bits, 8); return true;
  case EL_F32: memcpy(&single, &word, 4), *out = single; return true;
  case EL_F16: *out = small_load(word, 5, 10); return true;
  case EL_BF16: *out = small_load(word, 8, 7); return true;
  case EL_I64:
  case EL_I32:
  case EL_I16:
  case EL_I8: return signed_load(bits, n, out);
  case EL_BOOL: *out = (double)bits; return bits < 2;
  default: *out = (double)bits; return double_represents(bits);
  }
}

// Encodes an integer with low <= x < high.
static bool whole_store(double x, double low, double high, uint64_t *bits) {
  if (!(x >= low && x < high) || x != floor(x)) return false;
  *bits = x < 0 ? ~(uint64_t)-x + 1 : (uint64_t)x;
  return true;
}

// Encodes a number. False if the kind cannot represent it.
static bool element_bits(ElementKind kind, double x, uint64_t *bits) {
  int width = (int)element_info[kind].bytes * 8;
  float single = (float)x;
  uint32_t word;
  switch (kind) {
  case EL_F64: memcpy(bits, &x, 8); return true;
  case EL_F32: memcpy(&word, &single, 4), *bits = word; return !isinf(single) || isinf(x);
  case EL_F16: return small_store(x, 5, 10, bits);
  case EL_BF16: return small_store(x, 8, 7, bits);
  case EL_I64:
  case EL_I32:
  case EL_I16:
  case EL_I8: return whole_store(x, -ldexp(1, width - 1), ldexp(1, width - 1), bits);
  case EL_BOOL: return whole_store(x, 0, 2, bits);
  default: return whole_store(x, 0, ldexp(1, width), bits);
  }
}

// Iterates in row-major order over an array that is stored in column-major (Fortran) order.
typedef struct {
  int64_t index[ARRAY_RANK_LIMIT], stride[ARRAY_RANK_LIMIT];
  size_t at;
} ArrayWalk;

static void walk_begin(ArrayWalk *w, uint32_t rank, const int64_t *shape) {
  int64_t stride = 1;
  *w = (ArrayWalk){0};
  for (uint32_t i = 0; i < rank; i++) {
    w->stride[i] = stride;
    stride *= shape[i];
  }
}

static void walk_next(ArrayWalk *w, uint32_t rank, const int64_t *shape) {
  for (uint32_t i = rank; i-- > 0;) {
    w->at += (size_t)w->stride[i];
    if (++w->index[i] < shape[i]) return;
    w->at -= (size_t)(w->stride[i] * shape[i]);
    w->index[i] = 0;
  }
}

void raw_to_rows(Arena *a, Raw *x) {
  size_t size = element_info[x->kind].bytes;
  uint8_t *to = arena_alloc(a, (size_t)x->count * size);
  ArrayWalk walk;
  walk_begin(&walk, x->rank, x->shape);
  for (int64_t i = 0; i < x->count; i++, walk_next(&walk, x->rank, x->shape))
    memcpy(to + (size_t)i * size, x->bytes + walk.at * size, size);
  x->bytes = to;
  x->fortran_order = false;
}

static bool load_error(Arena *a, const Array *x, int64_t i, const uint8_t *from, bool big_endian,
                       const char **error) {
  uint32_t n = element_info[x->kind].bytes;
  uint64_t bits = bytes_load(from, n, big_endian);
  if (x->kind == EL_BOOL)
    return file_error(a, error, "element %lld is the byte %u, where a bool is 0 or 1", (long long)i,
                      (unsigned)bits);
  bool negative = x->kind == EL_I64 && bits >> 63;
  return file_error(a, error, "element %lld is the %s %s%llu, which a double cannot hold exactly",
                    (long long)i, element_info[x->kind].name, negative ? "-" : "",
                    (unsigned long long)(negative ? ~bits + 1 : bits));
}

bool array_load(Arena *a, Array *x, const uint8_t *bytes, bool big_endian, bool fortran_order,
                const char **error) {
  ArrayWalk walk;
  size_t size = element_info[x->kind].bytes;
  walk_begin(&walk, x->rank, x->shape);
  x->data = NEW_ARRAY(a, double, x->count);
  for (int64_t i = 0; i < x->count; i++) {
    const uint8_t *from = bytes + (fortran_order ? walk.at : (size_t)i) * size;
    if (!element_load(x->kind, from, big_endian, &x->data[i]))
      return load_error(a, x, i, from, big_endian, error);
    if (fortran_order) walk_next(&walk, x->rank, x->shape);
  }
  return true;
}

bool raw_load(Arena *a, const Raw *x, Array *out, const char **error) {
  Array own = {.name = "", .rank = x->rank, .shape = x->shape, .count = x->count, .kind = x->kind};
  if (!array_load(a, &own, x->bytes, x->big_endian, x->fortran_order, error)) return false;
  *out = own;
  return true;
}

bool array_store(Arena *a, const Array *x, uint8_t *to, const char **error) {
  uint32_t size = element_info[x->kind].bytes;
  for (int64_t i = 0; i < x->count; i++) {
    uint64_t bits;
    if (!element_bits(x->kind, x->data[i], &bits)) {
      Buf value = buf_new(a);
      buf_number(&value, x->data[i]);
      return file_error(a, error, "element %lld is %s, which %s cannot hold", (long long)i,
                        value.at, element_info[x->kind].name);
    }
    bytes_store(bits, to + (size_t)i * size, size);
  }
  return true;
}

// The header parser.

typedef struct {
  Arena *arena;
  const char *at, *end;
  const char **error;
} NpyHeader;

typedef struct {
  ElementKind kind;
  bool big_endian, fortran_order;
  uint32_t rank;
  int64_t shape[ARRAY_RANK_LIMIT];
} NpyLayout;

static bool header_expected(NpyHeader *h, const char *what) {
  size_t left = (size_t)(h->end - h->at);
  if (!left) return file_error(h->arena, h->error, "the npy header ends where %s was wanted", what);
  return file_error(h->arena, h->error, "the npy header has `%s` where %s was wanted",
                    text_shown(h->arena, h->at, left), what);
}

static void header_space(NpyHeader *h) {
  while (h->at < h->end && (*h->at == ' ' || *h->at == '\n' || *h->at == '\t' || *h->at == '\r'))
    h->at++;
}

static bool header_accept(NpyHeader *h, char c) {
  header_space(h);
  if (h->at == h->end || *h->at != c) return false;
  h->at++;
  return true;
}

static bool header_word(NpyHeader *h, const char *word) {
  size_t n = strlen(word);
  header_space(h);
  if ((size_t)(h->end - h->at) < n || memcmp(h->at, word, n) != 0) return false;
  h->at += n;
  return true;
}

// text = "'" … "'", or in double quotes; escapes are not supported
static bool read_text(NpyHeader *h, const char **text, size_t *n, const char *what) {
  header_space(h);
  if (h->at == h->end || (*h->at != '\'' && *h->at != '"')) return header_expected(h, what);
  const char *from = h->at + 1, *close = memchr(from, *h->at, (size_t)(h->end - from));
  if (!close) return header_expected(h, "a closed text");
  *text = from;
  *n = (size_t)(close - from);
  h->at = close + 1;
  return true;
}

// descr = order kind size, as in '<f8'
static bool read_descr(NpyHeader *h, NpyLayout *l) {
  const char *text;
  size_t n;
  if (!read_text(h, &text, &n, "a simple type such as '<f8'")) return false;
  for (uint32_t k = 0; k < EL_COUNT; k++) {
    const ElementInfo *info = &element_info[k];
    if (!info->npy || n != 3 || memcmp(text + 1, info->npy, 2) != 0) continue;
    if (!strchr(info->bytes == 1 ? "|<>" : "<>", text[0]) || !text[0]) continue;
    l->kind = (ElementKind)k;
    l->big_endian = text[0] == '>';
    return true;
  }
  return file_error(
      h->arena, h->error,
      "the numbers are of type '%s', where one of f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 "
      "was wanted, after < or >",
      text_shown(h->arena, text, n));
}

static bool read_order(NpyHeader *h, NpyLayout *l) {
  l->fortran_order = header_word(h, "True");
  return l->fortran_order || header_word(h, "False") || header_expected(h, "True or False");
}

static bool read_length(NpyHeader *h, int64_t *out) {
  header_space(h);
  const char *from = h->at;
  if (h->at < h->end && *h->at == '-') return header_expected(h, "a length of 0 or more");
  for (*out = 0; h->at < h->end && *h->at >= '0' && *h->at <= '9'; h->at++) {
    int digit = *h->at - '0';
    if (*out > (INT64_MAX - digit) / 10) {
      h->at = from;
      return header_expected(h, "a length that fits 64 bits");
    }
    *out = *out * 10 + digit;
  }
  if (h->at == from) return header_expected(h, "a length or `)`");
  if (h->at < h->end && *h->at == 'L') h->at++; // Python 2 wrote 3L
  return true;
}

// shape = "(" (length ("," length)* ","?)? ")"
static bool read_shape(NpyHeader *h, NpyLayout *l) {
  if (!header_accept(h, '(')) return header_expected(h, "a shape such as (3, 4)");
  bool comma = false;
  for (l->rank = 0; !header_accept(h, ')'); l->rank++) {
    if (l->rank && !comma) return header_expected(h, "`,` or `)`");
    if (l->rank == ARRAY_RANK_LIMIT)
      return file_error(h->arena, h->error, "the shape has more than %d axes", ARRAY_RANK_LIMIT);
    if (!read_length(h, &l->shape[l->rank])) return false;
    comma = header_accept(h, ',');
  }
  if (l->rank != 1 || comma) return true;
  long long length = l->shape[0];
  return file_error(h->arena, h->error, "the shape is (%lld), where (%lld,) was wanted", length,
                    length);
}

static bool read_entry(NpyHeader *h, NpyLayout *l, bool seen[3]) {
  static const char *const keys[] = {"descr", "fortran_order", "shape"};
  const char *text;
  size_t n;
  uint32_t k = 0;
  if (!read_text(h, &text, &n, "a key or `}`")) return false;
  while (k < 3 && (n != strlen(keys[k]) || memcmp(text, keys[k], n) != 0)) k++;
  if (k == 3 || seen[k])
    return file_error(h->arena, h->error,
                      k < 3
                          ? "the npy header has the key `%s` twice"
                          : "the npy header has the key `%s`, where only descr, fortran_order and "
                            "shape are known",
                      text_shown(h->arena, text, n));
  seen[k] = true;
  if (!header_accept(h, ':')) return header_expected(h, "`:`");
  return k == 0 ? read_descr(h, l) : k == 1 ? read_order(h, l) : read_shape(h, l);
}

// header = "{" (entry ("," entry)* ","?)? "}"
static bool read_header(NpyHeader *h, NpyLayout *l) {
  bool seen[3] = {0}, comma = true;
  if (!header_accept(h, '{')) return header_expected(h, "`{`");
  while (!header_accept(h, '}')) {
    if (!comma) return header_expected(h, "`,` or `}`");
    if (!read_entry(h, l, seen)) return false;
    comma = header_accept(h, ',');
  }
  header_space(h);
  if (h->at != h->end) return header_expected(h, "the end");
  if (seen[0] && seen[1] && seen[2]) return true;
  return file_error(h->arena, h->error, "the npy header has no key `%s`",
                    !seen[0]   ? "descr"
                    : !seen[1] ? "fortran_order"
                               : "shape");
}

// Parses the bytes before the header, which starts at *from.
static bool read_preamble(Arena *a, const uint8_t *bytes, size_t n, size_t *from, size_t *length,
                          const char **error) {
  if (n < 6 || memcmp(bytes, "\x93NUMPY", 6) != 0)
    return file_error(a, error, "it begins with `%s`, where an npy file begins with `\\x93NUMPY`",
                      text_shown(a, (const char *)bytes, n < 6 ? n : 6));
  if (n < 10) return file_error(a, error, "it has %zu bytes, where an npy file has at least 10", n);
  if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
    return file_error(a, error, "it is npy version %u.%u, where 1.0, 2.0 or 3.0 was wanted",
                      bytes[6], bytes[7]);
  uint32_t size = bytes[6] == 1 ? 2 : 4;
  *from = 8 + size;
  if (n < *from) return file_error(a, error, "it has %zu bytes and ends inside its header", n);
  *length = (size_t)bytes_load(bytes + 8, size, false);
  if (*length > n - *from)
    return file_error(a, error, "it says its header has %zu bytes, but only %zu follow", *length,
                      n - *from);
  return true;
}

bool npy_look(Arena *a, const void *bytes, size_t n, Raw *out, const char **error) {
  const uint8_t *file = bytes;
  size_t from = 0, length = 0;
  NpyLayout l = {0};
  if (!read_preamble(a, file, n, &from, &length, error)) return false;
  const char *text = (const char *)file + from;
  if (!read_header(&(NpyHeader){a, text, text + length, error}, &l)) return false;
  Raw x = {.name = "", .rank = l.rank, .kind = l.kind};
  x.big_endian = l.big_endian;
  x.fortran_order = l.fortran_order;
  x.shape = arena_copy(a, l.shape, l.rank * sizeof *l.shape);
  if (!raw_fill(a, &x, file + from + length, n - from - length, error)) return false;
  *out = x;
  return true;
}

bool npy_read_bytes(Arena *a, const void *bytes, size_t n, Array *out, const char **error) {
  Raw r;
  return npy_look(a, bytes, n, &r, error) && raw_load(a, &r, out, error);
}

FileText array_file(Arena *a, const char *path, const char **error) {
  const size_t limit = (size_t)1 << (sizeof(size_t) > 4 ? 36 : 28);
  FileText file = file_read(a, path, limit);
  if (!file.text) file_error(a, error, "cannot read %s: %s", path, file.error);
  return file;
}

bool npy_read(Arena *a, const char *path, Array *out, const char **error) {
  FileText file = array_file(a, path, error);
  if (!file.text) return false;
  if (npy_read_bytes(a, file.text, file.n, out, error)) return true;
  return file_error(a, error, "%s: %s", path, *error);
}

static void header_write(Buf *b, const Array *x) {
  const ElementInfo *info = &element_info[x->kind];
  buf_printf(b, "{'descr': '%s%s', 'fortran_order': False, 'shape': (",
             info->bytes == 1 ? "|" : "<", info->npy);
  for (uint32_t i = 0; i < x->rank; i++)
    buf_printf(b, "%s%lld", i ? ", " : "", (long long)x->shape[i]);
  buf_text(b, x->rank == 1 ? ",), }" : "), }");
  while ((10 + b->n + 1) % 64) buf_char(b, ' ');
  buf_char(b, '\n');
}

bool npy_bytes(Arena *a, const Array *x, Bytes *out, const char **error) {
  int64_t count;
  Buf header = buf_new(a);
  if (!element_info[x->kind].npy)
    return file_error(a, error, "npy has no %s; float32 holds the same numbers",
                      element_info[x->kind].name);
  bool good =
      x->rank <= ARRAY_RANK_LIMIT && array_count(x->rank, x->shape, &count) && count == x->count;
  assert(good), (void)good;
  header_write(&header, x); // always below the 65535 bytes of version 1.0
  out->n = 10 + header.n + (size_t)x->count * element_info[x->kind].bytes;
  out->at = arena_alloc(a, out->n);
  memcpy(out->at, "\x93NUMPY\x01\x00", 8);
  bytes_store(header.n, out->at + 8, 2);
  memcpy(out->at + 10, header.at, header.n);
  return array_store(a, x, out->at + 10 + header.n, error);
}

bool npy_write(Arena *a, const char *path, const Array *x, const char **error) {
  Bytes bytes;
  if (!npy_bytes(a, x, &bytes, error)) return file_error(a, error, "%s: %s", path, *error);
  return file_put(a, path, bytes.at, bytes.n, error);
}
