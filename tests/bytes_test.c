// Files of arrays: round trips, files written by NumPy, and hostile files with their messages.
#define _POSIX_C_SOURCE 200809L
#include "base/json_write.h"
#include "io/bytes/bytes.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define BYTES(literal) (const char *)literal, sizeof(literal) - 1

static int setup(void **state) {
  *state = arena_new();
  return *state ? 0 : -1;
}

static int teardown(void **state) {
  arena_free(*state);
  return 0;
}

static void same_bits(double a, double b) { assert_memory_equal(&a, &b, sizeof a); }

static void same_array(const Array *a, const Array *b) {
  assert_int_equal(a->kind, b->kind);
  assert_int_equal(a->rank, b->rank);
  assert_int_equal(a->count, b->count);
  for (uint32_t i = 0; i < a->rank; i++) assert_int_equal(a->shape[i], b->shape[i]);
  for (int64_t i = 0; i < a->count; i++) same_bits(a->data[i], b->data[i]);
}

// An npy file of version 1.0 with this header and `n` bytes of zeros.
static Bytes npy_file(Arena *a, const char *header, size_t n) {
  size_t length = strlen(header);
  Bytes f = {arena_alloc(a, 10 + length + n), 10 + length + n};
  memcpy(f.at, "\x93NUMPY\x01\x00", 8);
  f.at[8] = (uint8_t)length;
  f.at[9] = (uint8_t)(length >> 8);
  memcpy(f.at + 10, header, length);
  return f;
}

static Bytes safetensors_file(Arena *a, const char *header, size_t n) {
  size_t length = strlen(header);
  Bytes f = {arena_alloc(a, 8 + length + n), 8 + length + n};
  for (int i = 0; i < 8; i++) f.at[i] = (uint8_t)(length >> 8 * i);
  memcpy(f.at + 8, header, length);
  return f;
}

static void npy_refused(Arena *a, const void *bytes, size_t n, const char *message) {
  Array x;
  const char *error = NULL;
  assert_false(npy_read_bytes(a, bytes, n, &x, &error));
  assert_string_equal(error, message);
}

static void npy_header_refused(Arena *a, const char *header, size_t n, const char *message) {
  Bytes f = npy_file(a, header, n);
  npy_refused(a, f.at, f.n, message);
}

static void safetensors_refused(Arena *a, const char *header, size_t n, const char *message) {
  Bytes f = safetensors_file(a, header, n);
  Arrays x;
  const char *error = NULL;
  assert_false(safetensors_read_bytes(a, f.at, f.n, &x, &error));
  assert_string_equal(error, message);
}

static void json_refused(Arena *a, const char *text, const char *message) {
  const char *error = NULL;
  assert_null(json_read(a, text, strlen(text), &error));
  assert_string_equal(error, message);
}

static void parse_refused(Arena *a, const char *text, const char *message) {
  Array x;
  const char *error = NULL;
  assert_false(array_parse(a, text, &x, &error));
  assert_string_equal(error, message);
}

static Array array_of(Arena *a, const char *name, ElementKind kind, const char *text) {
  Array x;
  const char *error;
  if (!array_parse(a, text, &x, &error)) fail_msg("%s", error);
  x.kind = kind;
  x.name = name;
  return x;
}

// What each kind must bring back exactly.
static const char *const exact[EL_COUNT] = {
    [EL_F64] = "[0, -0, 0.1, -1.7976931348623157e308, 5e-324, inf, -inf, nan]",
    [EL_F32] = "[0, -0, 0.5, 3.4028234663852886e38, 1.401298464324817e-45, inf, -inf, nan]",
    [EL_F16] = "[0, -0, 0.5, 65504, -5.960464477539063e-08, inf, -inf, nan]",
    [EL_BF16] = "[0, -0, 0.5, 3.3895313892515355e38, 9.183549615799121e-41, inf, -inf, nan]",
    [EL_I64] = "[[0, -1, 9007199254740992], [-9007199254740992, -9223372036854775808, 42]]",
    [EL_I32] = "[[-2147483648, 2147483647], [1, -1]]",
    [EL_I16] = "[-32768, 32767, 0]",
    [EL_I8] = "[[[-128, 127, 0]]]",
    [EL_U64] = "[0, 18446744073709549568, 9223372036854775808]",
    [EL_U32] = "[0, 4294967295]",
    [EL_U16] = "[[65535], [0]]",
    [EL_U8] = "[255, 0, 7]",
    [EL_BOOL] = "[[1, 0], [0, 1]]",
};

static void npy_round_trip(void **state) {
  Arena *a = *state;
  for (uint32_t k = 0; k < EL_COUNT; k++) {
    Array x = array_of(a, "", (ElementKind)k, exact[k]), y;
    Bytes bytes;
    const char *error;
    if (!element_info[k].npy) continue;
    assert_true(npy_bytes(a, &x, &bytes, &error));
    assert_int_equal((bytes.n - (size_t)x.count * element_info[k].bytes) % 64, 0);
    assert_true(npy_read_bytes(a, bytes.at, bytes.n, &y, &error));
    same_array(&x, &y);
  }
}

static void safetensors_round_trip(void **state) {
  Arena *a = *state;
  Arrays all = {0}, back;
  Bytes bytes;
  const char *error;
  for (uint32_t k = EL_COUNT; k-- > 0;)
    vec_push(a, &all.array, array_of(a, element_info[k].name, (ElementKind)k, exact[k]));
  vec_push(a, &all.array, array_of(a, "layer.\"0\"\n\tß\x01", EL_F32, "-3.5"));
  vec_push(a, &all.array, array_of(a, "", EL_F64, "[[], []]"));
  vec_push(a, &all.metadata, (Metadata){"format", "limn"});
  vec_push(a, &all.metadata, (Metadata){"", "ü \\ \"\n"});
  assert_true(safetensors_bytes(a, &all, &bytes, &error));
  assert_int_equal(bytes.at[0] % 8, 0);
  assert_true(safetensors_read_bytes(a, bytes.at, bytes.n, &back, &error));
  assert_int_equal(back.array.n, all.array.n);
  for (uint32_t i = 0; i < all.array.n; i++) {
    assert_string_equal(all.array.at[i].name, back.array.at[i].name);
    same_array(&all.array.at[i], &back.array.at[i]);
  }
  assert_int_equal(back.metadata.n, 2);
  assert_string_equal(arrays_metadata(&back, "format"), "limn");
  assert_string_equal(arrays_metadata(&back, ""), "ü \\ \"\n");
  assert_null(arrays_metadata(&back, "absent"));
  assert_ptr_equal(arrays_find(&back, "int16"), &back.array.at[6]);
  assert_null(arrays_find(&back, "absent"));
}

static void safetensors_layout(void **state) {
  Arena *a = *state;
  Arrays all = {0}, none;
  Bytes bytes;
  const char *error;
  vec_push(a, &all.array, array_of(a, "b", EL_F32, "[1]"));
  vec_push(a, &all.array, array_of(a, "a", EL_U8, "[[1, 2]]"));
  vec_push(a, &all.metadata, (Metadata){"k", "v"});
  assert_true(safetensors_bytes(a, &all, &bytes, &error));
  static const char want[] =
      "\x88\0\0\0\0\0\0\0{\"__metadata__\":{\"k\":\"v\"},"
      "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
      "\"a\":{\"dtype\":\"U8\",\"shape\":[1,2],\"data_offsets\":[4,6]}}   \0\0\x80?\x01\x02";
  assert_int_equal(bytes.n, sizeof want - 1);
  assert_memory_equal(bytes.at, want, bytes.n);
  assert_true(safetensors_bytes(a, &(Arrays){0}, &bytes, &error));
  assert_int_equal(bytes.n, 16);
  assert_memory_equal(bytes.at, "\x08\0\0\0\0\0\0\0{}      ", 16);
  assert_true(safetensors_read_bytes(a, bytes.at, bytes.n, &none, &error));
  assert_int_equal(none.array.n, 0);
}

// Every half float and bfloat comes back to the same bits, and doubles between two are rounded to
// the nearer, to even in the middle.
static void half_floats(void **state) {
  Arena *a = *state;
  static const ElementKind kinds[] = {EL_F16, EL_BF16};
  for (uint32_t k = 0; k < 2; k++) {
    uint8_t *all = arena_alloc(a, 2 * 65536), *back = arena_alloc(a, 2 * 65536);
    int64_t shape = 65536;
    Array x = {.rank = 1, .shape = &shape, .count = shape, .kind = kinds[k]};
    const char *error;
    for (uint32_t i = 0; i < 65536; i++)
      all[2 * i] = (uint8_t)i, all[2 * i + 1] = (uint8_t)(i >> 8);
    assert_true(array_load(a, &x, all, false, false, &error));
    assert_true(array_store(a, &x, back, &error));
    for (uint32_t i = 0; i < 65536; i++)
      if (!isnan(x.data[i])) assert_memory_equal(all + 2 * i, back + 2 * i, 2);
    Array y = x;
    uint32_t top = k ? 0x7F80 : 0x7C00;
    y.data = NEW_ARRAY(a, double, shape);
    for (uint32_t i = 0; i + 1 < top; i++) y.data[i] = (x.data[i] + x.data[i + 1]) / 2;
    assert_true(array_store(a, &y, back, &error));
    for (uint32_t i = 0; i + 1 < top; i++)
      assert_int_equal(back[2 * i] | back[2 * i + 1] << 8, i + (i & 1));
    for (uint32_t i = 0; i + 1 < top; i++)
      y.data[i] = nextafter((x.data[i] + x.data[i + 1]) / 2, i & 1 ? 0 : INFINITY);
    assert_true(array_store(a, &y, back, &error));
    for (uint32_t i = 0; i + 1 < top; i++)
      assert_int_equal(back[2 * i] | back[2 * i + 1] << 8, i + !(i & 1));
  }
}

static void store_refused(void **state) {
  Arena *a = *state;
  static const struct {
    ElementKind kind;
    const char *text, *message;
  } cases[] = {
      {EL_I32, "[1, 2.5]", "element 1 is 2.5, which int32 cannot hold"},
      {EL_I32, "2147483648", "element 0 is 2147483648, which int32 cannot hold"},
      {EL_I64, "9223372036854775808",
       "element 0 is 9.223372036854776e+18, which int64 cannot hold"},
      {EL_U64, "18446744073709551616",
       "element 0 is 1.8446744073709552e+19, which uint64 cannot hold"},
      {EL_U8, "[0, -1]", "element 1 is -1, which uint8 cannot hold"},
      {EL_I8, "nan", "element 0 is nan, which int8 cannot hold"},
      {EL_U16, "inf", "element 0 is inf, which uint16 cannot hold"},
      {EL_BOOL, "2", "element 0 is 2, which bool cannot hold"},
      {EL_F32, "1e39", "element 0 is 1e+39, which float32 cannot hold"},
      {EL_F16, "65520", "element 0 is 65520, which float16 cannot hold"},
      {EL_F16, "1e300", "element 0 is 1e+300, which float16 cannot hold"},
      {EL_BF16, "1", "npy has no bfloat16; float32 holds the same numbers"},
  };
  for (uint32_t i = 0; i < COUNT(cases); i++) {
    Array x = array_of(a, "", cases[i].kind, cases[i].text);
    Bytes bytes;
    const char *error;
    assert_false(npy_bytes(a, &x, &bytes, &error));
    assert_string_equal(error, cases[i].message);
  }
}

// Whatever bit of a file with a check sum is turned, it is refused.
static void safetensors_sum(void **state) {
  Arena *a = *state;
  double value[] = {1, 2, 3};
  int64_t shape[] = {3};
  Arrays all = {0}, back = {0};
  Bytes bytes;
  const char *error;
  sum_begin(a, &all);
  vec_push(a, &all.metadata, (Metadata){"step", "12"});
  sum_end(a, &all);
  vec_push(
      a, &all.array,
      (Array){.name = "w", .rank = 1, .shape = shape, .count = 3, .data = value, .kind = EL_F32});
  assert_true(safetensors_bytes(a, &all, &bytes, &error));
  assert_false(safetensors_read_bytes(a, bytes.at, bytes.n, &back, &error));
  assert_string_equal(error, "its check sum is not that of its bytes: it is damaged");
  sum_put(&bytes);
  assert_true(safetensors_read_bytes(a, bytes.at, bytes.n, &back, &error));
  assert_string_equal(arrays_metadata(&back, "step"), "12");
  for (size_t i = 0; i < 8 * bytes.n; i++) {
    Arena *own = arena_child(a);
    bytes.at[i / 8] ^= (uint8_t)(1u << i % 8);
    assert_false(safetensors_read_bytes(own, bytes.at, bytes.n, &back, &error));
    bytes.at[i / 8] ^= (uint8_t)(1u << i % 8);
    arena_free(own);
  }
  for (size_t n = 0; n < bytes.n; n++)
    assert_false(safetensors_read_bytes(a, bytes.at, n, &back, &error));
}

static void safetensors_write_refused(void **state) {
  Arena *a = *state;
  static const struct {
    const char *first, *second, *message;
  } cases[] = {
      {"w", "w", "the name `w` stands for two things"},
      {"w", "\xff", "the name `\\xff` is not UTF-8"},
      {"w", "__metadata__", "the name `__metadata__` stands for two things"},
      {"w", "x", "tensor `x`: element 0 is 1.5, which int8 cannot hold"},
  };
  for (uint32_t i = 0; i < COUNT(cases); i++) {
    Arrays all = {0};
    Bytes bytes;
    const char *error;
    vec_push(a, &all.array, array_of(a, cases[i].first, EL_F32, "1"));
    vec_push(a, &all.array, array_of(a, cases[i].second, EL_I8, "1.5"));
    assert_false(safetensors_bytes(a, &all, &bytes, &error));
    assert_string_equal(error, cases[i].message);
  }
}

// Made by NumPy 1.24.
static const char numpy_f8[] =
    "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }       "
    "                                                   \n\x00\x00\x00\x00\x00\x00\xf8?\x00"
    "\x00\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\xf0\x7f\x9a\x99\x99\x99\x99\x99\xb9"
    "?\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80";
static const char numpy_big_fortran[] =
    "\x93NUMPY\x01\x00v\x00{'descr': '>i4', 'fortran_order': True, 'shape': (2, 3), }        "
    "                                                   \n\x00\x00\x00\x01\xff\xff\xff\xfc"
    "\x00\x00\x00\x02\x00\x00\x00\x05\x00\x00\x00\x03\x00\x01\x11p";
static const char numpy_half_2_0[] =
    "\x93NUMPY\x02\x00t\x00\x00\x00{'descr': '<f2', 'fortran_order': False, 'shape': (5,), } "
    "                                                         \n\x00<\x00\xb8\xff{\x01\x00"
    "\x00|";
static const char numpy_bool_3_0[] =
    "\x93NUMPY\x03\x00t\x00\x00\x00{'descr': '|b1', 'fortran_order': False, 'shape': (), }   "
    "                                                         \n\x01";
static const char numpy_fortran_232[] =
    "\x93NUMPY\x01\x00v\x00{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 2), }     "
    "                                                   \n\x00\x06\x02\x08\x04\n\x01\x07\x03"
    "\x09\x05\x0b";
static const char numpy_u8[] =
    "\x93NUMPY\x01\x00v\x00{'descr': '<u8', 'fortran_order': False, 'shape': (3,), }         "
    "                                                   \n\x00\x00\x00\x00\x00\x00\x00\x80"
    "\x02\x00\x00\x00\x00\x00 \x00\x00\x00\x00\x00\x00\x00\x00\x00";
static const char numpy_empty[] =
    "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }       "
    "                                                   \n";
static const char numpy_struct[] =
    "\x93NUMPY\x01\x00v\x00{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }"
    "                                                   \n\x00\x00\x00\x00";

static const struct {
  const char *bytes;
  size_t n;
  ElementKind kind;
  const char *text;
} numpy_files[] = {
    {BYTES(numpy_f8), EL_F64, "[[1.5, -2, inf], [0.1, 5e-324, -0]]"},
    {BYTES(numpy_big_fortran), EL_I32, "[[1, 2, 3], [-4, 5, 70000]]"},
    {BYTES(numpy_half_2_0), EL_F16, "[1, -0.5, 65504, 5.960464477539063e-08, inf]"},
    {BYTES(numpy_bool_3_0), EL_BOOL, "1"},
    {BYTES(numpy_fortran_232), EL_U8, "[[[0, 1], [2, 3], [4, 5]], [[6, 7], [8, 9], [10, 11]]]"},
    {BYTES(numpy_u8), EL_U64, "[9223372036854775808, 9007199254740994, 0]"},
};

static void npy_from_numpy(void **state) {
  Arena *a = *state;
  Array x;
  Bytes bytes;
  const char *error;
  for (uint32_t i = 0; i < COUNT(numpy_files); i++) {
    Array want = array_of(a, "", numpy_files[i].kind, numpy_files[i].text);
    assert_true(npy_read_bytes(a, numpy_files[i].bytes, numpy_files[i].n, &x, &error));
    same_array(&x, &want);
  }
  assert_true(npy_read_bytes(a, BYTES(numpy_f8), &x, &error));
  assert_true(npy_bytes(a, &x, &bytes, &error)); // what we write is what NumPy writes
  assert_int_equal(bytes.n, sizeof numpy_f8 - 1);
  assert_memory_equal(bytes.at, numpy_f8, bytes.n);
  assert_true(npy_read_bytes(a, BYTES(numpy_empty), &x, &error));
  assert_int_equal(x.count, 0);
  assert_int_equal(x.shape[1], 3);
  npy_refused(a, BYTES(numpy_struct),
              "the npy header has `[('a', '<f4')], 'fortran_order': False, …` where a simple type "
              "such as '<f8' was "
              "wanted");
}

static void npy_other_headers(void **state) {
  Arena *a = *state;
  static const char *const good[] = {
      "{\"shape\":(2L,),\"descr\":\"<f4\",\"fortran_order\":True}",
      "  { 'fortran_order' : False , 'descr' : '>i2' , 'shape' : ( 2 , 2 , ) }  \n",
      "{'shape':(1,8),'descr':'>u1','fortran_order':False,}",
  };
  for (uint32_t i = 0; i < COUNT(good); i++) {
    Bytes f = npy_file(a, good[i], 8);
    Array x;
    const char *error;
    if (!npy_read_bytes(a, f.at, f.n, &x, &error)) fail_msg("%s", error);
  }
}

#define NPY(descr, shape) "{'descr': '" descr "', 'fortran_order': False, 'shape': " shape ", }"

static void npy_hostile(void **state) {
  Arena *a = *state;
  npy_header_refused(a, NPY("<f8", "(3, 4)"), 40,
                     "the header says 3×4 float64, 96 bytes, but only 40 follow");
  npy_header_refused(a, NPY("<f8", "()"), 9, "the header says one float64, 8 bytes, but 9 follow");
  npy_header_refused(a, NPY("<f4", "(4294967296, 4294967296)"), 0,
                     "the header says 4294967296×4294967296 float32, more than any memory holds");
  npy_header_refused(a, NPY("<f4", "(0, 4294967296, 4294967296)"), 0,
                     "the header says 0×4294967296×4294967296 float32, more than any memory holds");
  npy_header_refused(a, NPY("<f8", "(1152921504606846977,)"), 8,
                     "the header says 1152921504606846977 float64, more than any memory holds");
  npy_header_refused(a, NPY("|u1", "(100000000000,)"), 8,
                     "the header says 100000000000 uint8, 100000000000 bytes, but only 8 follow");
  npy_header_refused(a, NPY("<f8", "(-1, 3)"), 8,
                     "the npy header has `-1, 3), }` where a length of 0 or more was wanted");
  npy_header_refused(
      a, NPY("<f8", "(99999999999999999999,)"), 8,
      "the npy header has `99999999999999999999,), }` where a length that fits 64 bits "
      "was wanted");
  npy_header_refused(a, NPY("<f8", "(3)"), 24, "the shape is (3), where (3,) was wanted");
  npy_header_refused(a, NPY("<f8", "[3]"), 24,
                     "the npy header has `[3], }` where a shape such as (3, 4) was wanted");
  npy_header_refused(
      a, NPY("<c16", "(3,)"), 24,
      "the numbers are of type '<c16', where one of f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 "
      "was wanted, after < or >");
  npy_header_refused(
      a, NPY("|O", "(3,)"), 24,
      "the numbers are of type '|O', where one of f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 "
      "was wanted, after < or >");
  npy_header_refused(a, "{'descr': '<f8', 'descr': '<f8'}", 0,
                     "the npy header has the key `descr` twice");
  npy_header_refused(a, "{'descr': '<f8', 'fortran_order': False}", 0,
                     "the npy header has no key `shape`");
  npy_header_refused(a, "{'descr': '<f8', 'fortran_order': 0, 'shape': ()}", 8,
                     "the npy header has `0, 'shape': ()}` where True or False was wanted");
  npy_header_refused(
      a, "{'dtype': '<f8'}", 0,
      "the npy header has the key `dtype`, where only descr, fortran_order and shape are "
      "known");
  npy_header_refused(a, NPY("<f8", "()") " x", 8,
                     "the npy header has `x` where the end was wanted");
  npy_header_refused(a, "", 0, "the npy header ends where `{` was wanted");
  Buf deep = buf_new(a);
  buf_text(&deep, "{'descr': '<f8', 'fortran_order': False, 'shape': (");
  for (int i = 0; i < 65; i++) buf_text(&deep, "1, ");
  buf_text(&deep, ")}");
  npy_header_refused(a, deep.at, 8, "the shape has more than 64 axes");
}

static void npy_preamble(void **state) {
  Arena *a = *state;
  npy_refused(a, "", 0, "it begins with ``, where an npy file begins with `\\x93NUMPY`");
  npy_refused(a, BYTES("PK\x03\x04zip"),
              "it begins with `PK\\x03\\x04zi`, where an npy file begins with `\\x93NUMPY`");
  npy_refused(a, BYTES("\x93NUMPY\x01\x00\x76"),
              "it has 9 bytes, where an npy file has at least 10");
  npy_refused(a, BYTES("\x93NUMPY\x04\x00\x00\x00"),
              "it is npy version 4.0, where 1.0, 2.0 or 3.0 was wanted");
  npy_refused(a, BYTES("\x93NUMPY\x02\x00\x00\x00"), "it has 10 bytes and ends inside its header");
  npy_refused(a, BYTES("\x93NUMPY\x02\x00\xff\xff\xff\xff{}"),
              "it says its header has 4294967295 bytes, but only 2 follow");
}

static void npy_values(void **state) {
  Arena *a = *state;
  Bytes f = npy_file(a, NPY("<i8", "(2,)"), 16);
  memcpy(f.at + f.n - 8, "\x01\0\0\0\0\0\x20\0", 8);
  npy_refused(a, f.at, f.n,
              "element 1 is the int64 9007199254740993, which a double cannot hold exactly");
  memcpy(f.at + f.n - 8, "\xff\xff\xff\xff\xff\xff\xdf\xff", 8);
  npy_refused(a, f.at, f.n,
              "element 1 is the int64 -9007199254740993, which a double cannot hold exactly");
  f = npy_file(a, NPY(">u8", "()"), 8);
  memset(f.at + f.n - 8, 0xFF, 8);
  npy_refused(a, f.at, f.n,
              "element 0 is the uint64 18446744073709551615, which a double cannot hold exactly");
  f = npy_file(a, NPY("|b1", "()"), 1);
  f.at[f.n - 1] = 7;
  npy_refused(a, f.at, f.n, "element 0 is the byte 7, where a bool is 0 or 1");
}

#define TENSOR(dtype, shape, from, to)                                                             \
  "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" from "," to "]}"

static void safetensors_order(void **state) {
  Arena *a = *state;
  Bytes f =
      safetensors_file(a,
                       "{\"b\":" TENSOR("U8", "[2]", "1", "3") ",\"z\":" TENSOR(
                           "F64", "[0, 4]", "1", "1") ", \"a\":" TENSOR("U8", "[]", "0", "1") "}\n",
                       3);
  Arrays x;
  const char *error;
  memcpy(f.at + f.n - 3, "\x01\x02\x03", 3);
  assert_true(safetensors_read_bytes(a, f.at, f.n, &x, &error));
  assert_string_equal(x.array.at[0].name, "b");
  assert_true(arrays_find(&x, "b")->data[1] == 3);
  assert_true(arrays_find(&x, "a")->data[0] == 1);
  assert_int_equal(arrays_find(&x, "z")->count, 0);
}

static void safetensors_hostile(void **state) {
  Arena *a = *state;
  safetensors_refused(a, "{\"a\":" TENSOR("F32", "[2]", "0", "4") "}", 4,
                      "tensor `a`: 2 float32 has 8 bytes, but its data_offsets span 4");
  safetensors_refused(a, "{\"a\":" TENSOR("F32", "[1]", "4", "0") "}", 4,
                      "tensor `a`: its data_offsets are 4 to 0, but there are 4 bytes of data");
  safetensors_refused(a, "{\"a\":" TENSOR("F32", "[2]", "0", "8") "}", 4,
                      "tensor `a`: its data_offsets are 0 to 8, but there are 4 bytes of data");
  safetensors_refused(
      a, "{\"a\":" TENSOR("F32", "[2]", "0", "8") ",\"b\":" TENSOR("F32", "[2]", "4", "12") "}", 12,
      "tensor `b` begins at byte 4 of the data, inside tensor `a`, which ends at 8");
  safetensors_refused(
      a, "{\"a\":" TENSOR("F32", "[1]", "0", "4") ",\"b\":" TENSOR("F32", "[1]", "0", "4") "}", 4,
      "tensor `b` begins at byte 0 of the data, inside tensor `a`, which ends at 4");
  safetensors_refused(
      a, "{\"a\":" TENSOR("F32", "[1]", "0", "4") ",\"b\":" TENSOR("F32", "[1]", "8", "12") "}", 12,
      "bytes 4 to 8 of the data belong to no tensor");
  safetensors_refused(a, "{\"a\":" TENSOR("F32", "[1]", "0", "4") "}", 6,
                      "the tensors end at byte 4 of the data, which ends at byte 6");
  safetensors_refused(a, "{}", 1, "the tensors end at byte 0 of the data, which ends at byte 1");
  safetensors_refused(
      a, "{\"a\":" TENSOR("U8", "[1]", "0", "1") ",\"a\":" TENSOR("U8", "[1]", "1", "2") "}", 2,
      "its header is not valid JSON: the key `a` is twice in one object");
  safetensors_refused(a, "{\"a\":" TENSOR("F32", "[4294967296, 4294967296]", "0", "0") "}", 0,
                      "tensor `a`: 4294967296×4294967296 float32 is more than any memory holds");
  safetensors_refused(a, "{\"a\":" TENSOR("U8", "[-1]", "0", "1") "}", 1,
                      "tensor `a`: its shape holds something that is not a length");
  safetensors_refused(a, "{\"a\":" TENSOR("U8", "[1.0]", "0", "1") "}", 1,
                      "tensor `a`: its shape holds something that is not a length");
  safetensors_refused(a, "{\"a\":" TENSOR("U8", "[9007199254740993]", "0", "1") "}", 1,
                      "tensor `a`: its shape holds something that is not a length");
  safetensors_refused(a, "{\"a\":" TENSOR("U8", "[1]", "0", "18446744073709551617") "}", 1,
                      "tensor `a`: it has no data_offsets of two whole numbers");
  safetensors_refused(
      a, "{\"a\":" TENSOR("U8", "[NaN]", "0", "1") "}", 1,
      "its header is not valid JSON: at byte 28: found `N`, where a value was wanted");
  safetensors_refused(
      a, "{\"a\":" TENSOR("F8_E4M3", "[1]", "0", "1") "}", 1,
      "tensor `a`: its dtype is F8_E4M3, where one of F64 F32 F16 BF16 I64 I32 I16 I8 "
      "U64 U32 U16 U8 BOOL was wanted");
  safetensors_refused(a, "{\"a\\u0000b\":" TENSOR("U8", "[1]", "0", "1") "}", 1,
                      "tensor `a`: its name holds a zero character");
  safetensors_refused(a, "{\"a\\u009b\\n\":1}", 0,
                      "tensor `a\\xc2\\x9b\\x0a`: it is not described in `{}`");
  safetensors_refused(
      a, "{\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1],\"path\":\"/\"}}", 1,
      "tensor `a`: it has keys other than dtype, shape and data_offsets");
  safetensors_refused(a, "{\"__metadata__\":{\"a\":1}}", 0,
                      "__metadata__: `a` is not a text without zero characters");
  safetensors_refused(a, "{\"__metadata__\":[]}", 0, "__metadata__ is not an object of texts");
  safetensors_refused(a, " {}", 0, "its header begins with ` `, where `{` was wanted");
  safetensors_refused(a, "", 0, "its header begins with ``, where `{` was wanted");
}

static void safetensors_lengths(void **state) {
  Arena *a = *state;
  Arrays x;
  const char *error;
  assert_false(safetensors_read_bytes(a, BYTES("\x02\0\0\0\0\0\0"), &x, &error));
  assert_string_equal(error, "it has 7 bytes, where a safetensors file has at least 10");
  assert_false(safetensors_read_bytes(a, BYTES("\xff\xff\xff\xff\xff\xff\xff\xff{}"), &x, &error));
  assert_string_equal(error,
                      "it says its header has 18446744073709551615 bytes, but only 2 follow");
  assert_false(safetensors_read_bytes(a, BYTES("\x03\0\0\0\0\0\0\0{}"), &x, &error));
  assert_string_equal(error, "it says its header has 3 bytes, but only 2 follow");
}

static void json_values(void **state) {
  Arena *a = *state;
  const char *error;
  static const char text[] =
      " {\"a\": [1, -2.5e3, [], {}], \"\\u00df\\ud83d\\ude00ü\": \"\\\"\\\\\\/"
      "\\b\\f\\n\\r\\t\\u0000x\", \"t\": true, \"f\": false, \"n\": null} ";
  const Json *v = json_read(a, text, sizeof text - 1, &error);
  assert_non_null(v);
  assert_int_equal(v->kind, JSON_OBJECT);
  assert_int_equal(v->n, 5);
  const Json *list = json_get(v, "a"), *item = json_first(list);
  assert_int_equal(list->n, 4);
  assert_true(item->number == 1 && item->natural);
  item = json_next(item);
  assert_true(item->number == -2500 && !item->natural);
  item = json_next(item);
  assert_int_equal(item->kind, JSON_LIST);
  item = json_next(item);
  assert_int_equal(item->kind, JSON_OBJECT);
  assert_int_equal(item->n, 0);
  const Json *s = json_get(v, "ß😀ü");
  assert_int_equal(s->n, 10);
  assert_memory_equal(s->text, "\"\\/\b\f\n\r\t\0x", 11);
  assert_int_equal(json_get(v, "t")->kind, JSON_TRUE);
  assert_int_equal(json_get(v, "f")->kind, JSON_FALSE);
  assert_int_equal(json_get(v, "n")->kind, JSON_NULL);
  assert_null(json_get(v, "absent"));
  assert_null(json_get(s, "a"));
  assert_true(json_read(a, BYTES("0"), &error)->number == 0);
  assert_true(json_read(a, BYTES("1E-2"), &error)->number == 0.01);
}

static void json_hostile(void **state) {
  Arena *a = *state;
  json_refused(a, "", "the text ends after 0 bytes, where a value was wanted");
  json_refused(a, "[1,]", "at byte 3: found `]`, where a value was wanted");
  json_refused(a, "[1 2]", "at byte 3: found `2`, where `,` or `]` was wanted");
  json_refused(a, "{\"a\" 1}", "at byte 5: found `1`, where `:` was wanted");
  json_refused(a, "{\"a\":1,}", "at byte 7: found `}`, where a key in quotes was wanted");
  json_refused(a, "{\"a\":1 \"b\":2}", "at byte 7: found `\"`, where `,` or `}` was wanted");
  json_refused(a, "{\"a\":1,\"b\":2,\"\\u0061\":3}", "the key `a` is twice in one object");
  json_refused(a, "[{\"\":1,\"\":2}]", "the key `` is twice in one object");
  json_refused(a, "{} {}", "at byte 3: found `{`, where the end was wanted");
  json_refused(a, "NaN", "at byte 0: found `N`, where a value was wanted");
  json_refused(a, "-Infinity", "at byte 1: found `I`, where a digit was wanted");
  json_refused(a, "01", "at byte 1: found `1`, where the end was wanted");
  json_refused(a, "1.", "the text ends after 2 bytes, where a digit was wanted");
  json_refused(a, "1e+", "the text ends after 3 bytes, where a digit was wanted");
  json_refused(a, "+1", "at byte 0: found `+`, where a value was wanted");
  json_refused(a, "1e999", "at byte 0: the number 1e999 does not fit a double");
  json_refused(a, "nul", "at byte 0: found `n`, where a value was wanted");
  json_refused(a, "\"a", "the text ends after 2 bytes, where a closing quote was wanted");
  json_refused(a, "\"\\",
               "the text ends after 2 bytes, where an escape: one of \" \\ / b f n r t u was "
               "wanted");
  json_refused(a, "\"\\x",
               "at byte 2: found `x`, where an escape: one of \" \\ / b f n r t u was wanted");
  json_refused(a, "\"\n\"",
               "at byte 1: found `\\x0a`, where an escaped control character was wanted");
  json_refused(a, "\"\xff\"", "at byte 1: found `\\xff`, where a UTF-8 character was wanted");
  json_refused(a, "\"\xc0\x80\"", "at byte 1: found `\\xc0`, where a UTF-8 character was wanted");
  json_refused(a, "\"\xed\xa0\x80\"",
               "at byte 1: found `\\xed`, where a UTF-8 character was wanted");
  json_refused(a, "\"\\u12g4\"", "at byte 5: found `g`, where a hexadecimal digit was wanted");
  json_refused(a, "\"\\udc00\"", "at byte 1: half of a surrogate pair");
  json_refused(a, "\"\\ud800\\u0041\"", "at byte 1: half of a surrogate pair");
  json_refused(a, "\"\\ud800x\"",
               "at byte 7: found `x`, where the second half of a surrogate pair was wanted");
  json_refused(a, "'a'", "at byte 0: found `'`, where a value was wanted");
}

static void json_depth(void **state) {
  Arena *a = *state;
  enum { DEEP = 100000 };
  char *deep = arena_alloc(a, DEEP + 1);
  const char *error;
  memset(deep, '[', DEEP);
  size_t before = arena_used(a);
  json_refused(a, deep, "at byte 64: nested deeper than 64 levels");
  memset(deep + 64, ']', 64);
  assert_non_null(json_read(a, deep, 128, &error));
  for (int i = 0; i < DEEP; i++) deep[i] = "{\"\":"[i % 4];
  json_refused(a, deep, "at byte 256: nested deeper than 64 levels");
  memset(deep, '[', DEEP);
  parse_refused(a, deep, "an array of more than 64 axes");
  safetensors_refused(a, deep, 0, "its header begins with `[`, where `{` was wanted");
  deep[0] = '{', deep[1] = '"', deep[2] = '"', deep[3] = ':';
  assert_true(arena_used(a) - before < 2 * DEEP);
  safetensors_refused(a, deep, 0,
                      "its header is not valid JSON: at byte 67: nested deeper than 64 levels");
}

// A tree of many small values stays below ten times its text.
static void json_memory(void **state) {
  Arena *a = *state;
  static const char *const item[] = {"1,",   "[],", "\"\",", "{\"\":1},", "{\"a\":0,\"b\":1},",
                                     "null,"};
  for (uint32_t k = 0; k < COUNT(item); k++) {
    Buf b = buf_new(a);
    const char *error;
    buf_char(&b, '[');
    while (b.n < 500000) buf_text(&b, item[k]);
    b.at[b.n - 1] = ']';
    size_t before = arena_used(a);
    assert_non_null(json_read(a, b.at, b.n, &error));
    assert_true(arena_used(a) - before < 10 * b.n);
  }
}

static void parse_arrays(void **state) {
  Arena *a = *state;
  Array x = array_of(a, "", EL_F64, " 3.5 ");
  assert_int_equal(x.rank, 0);
  assert_int_equal(x.count, 1);
  assert_true(x.data[0] == 3.5);
  x = array_of(a, "", EL_F64, "[[1, 2], [3, 4],[+5,-.6e1]]");
  assert_string_equal(array_type(a, &x), "3×2 float64");
  for (int i = 0; i < 6; i++) assert_true(x.data[i] == (i == 5 ? -6 : i + 1));
  x = array_of(a, "", EL_F64, "[inf, -inf, +inf, nan]");
  assert_true(isinf(x.data[0]) && x.data[1] < 0 && x.data[2] > 0 && isnan(x.data[3]));
  x = array_of(a, "", EL_F64, "[]");
  assert_string_equal(array_type(a, &x), "0 float64");
  x = array_of(a, "", EL_F64, "[[[]], [[]]]");
  assert_string_equal(array_type(a, &x), "2×1×0 float64");
}

static void parse_hostile(void **state) {
  Arena *a = *state;
  parse_refused(a, "[[1, 2], [3]]", "row 2 has length 1, but row 1 has length 2");
  parse_refused(a, "[[[1], [2]], [[1], [2, 3]]]", "row 2.2 has length 2, but row 1.1 has length 1");
  parse_refused(a, "[[[1], [2]], [[1]]]", "row 2 has length 1, but row 1 has length 2");
  parse_refused(a, "[[1], []]", "row 2 has length 0, but row 1 has length 1");
  parse_refused(a, "[[], [1]]", "row 2 has length 1, but row 1 has length 0");
  parse_refused(a, "[[[]], []]", "row 2 has length 0, but row 1 has length 1");
  parse_refused(a, "[[], [[]]]",
                "at character 7 of the array: found `[`, where a number was wanted");
  parse_refused(a, "[1, [2]]", "at character 5 of the array: found `[`, where a number was wanted");
  parse_refused(a, "[[1], 2]", "at character 7 of the array: found `2`, where `[` was wanted");
  parse_refused(a, "[1, 2", "the array ends where `,` or `]` was wanted");
  parse_refused(a, "[1, ]", "at character 5 of the array: found `]`, where a number was wanted");
  parse_refused(a, "", "the array ends where a number was wanted");
  parse_refused(a, "[1] 2", "at character 5 of the array: found `2`, where the end was wanted");
  parse_refused(a, "1, 2",
                "at character 2 of the array: found `,`, where the end (several numbers are "
                "written [1, 2]) was wanted");
  parse_refused(a, "[0x10]",
                "at character 2 of the array: found `0x10`, where a number was wanted");
  parse_refused(a, "[1e999]",
                "at character 2 of the array: found `1e999`, where a number was wanted");
  parse_refused(a, "[infinity]",
                "at character 2 of the array: found `infinity`, where a number was wanted");
  parse_refused(a, "[1 2]", "at character 4 of the array: found `2`, where `,` or `]` was wanted");
}

// Reads hostile bytes from a block of just their size: no crash, little memory; what is read is
// written and read again without change.
static void attack_npy(const uint8_t *bytes, size_t n) {
  Arena *a = arena_new();
  Array x, y;
  const char *error = NULL;
  uint8_t *copy = malloc(n + !n);
  assert_true(a && copy);
  memcpy(copy, bytes, n);
  bool good = npy_read_bytes(a, copy, n, &x, &error);
  assert_true(arena_used(a) <= 10 * n + (64 << 10));
  assert_true(good || error);
  if (good) {
    Bytes again;
    assert_true(npy_bytes(a, &x, &again, &error));
    assert_true(npy_read_bytes(a, again.at, again.n, &y, &error));
    assert_int_equal(x.count, y.count);
  }
  free(copy);
  arena_free(a);
}

static void attack_safetensors(const uint8_t *bytes, size_t n) {
  Arena *a = arena_new();
  Arrays x, y;
  const char *error = NULL;
  uint8_t *copy = malloc(n + !n);
  assert_true(a && copy);
  memcpy(copy, bytes, n);
  bool good = safetensors_read_bytes(a, copy, n, &x, &error);
  assert_true(arena_used(a) <= 10 * n + (64 << 10));
  assert_true(good || error);
  if (good) {
    Bytes again;
    assert_true(safetensors_bytes(a, &x, &again, &error));
    assert_true(safetensors_read_bytes(a, again.at, again.n, &y, &error));
    assert_int_equal(x.array.n, y.array.n);
  }
  free(copy);
  arena_free(a);
}

static void attack(Bytes f, void (*one)(const uint8_t *, size_t)) {
  static const uint8_t masks[] = {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xFF};
  for (size_t n = 0; n <= f.n; n++) one(f.at, n);
  for (size_t i = 0; i < f.n; i++) {
    for (uint32_t m = 0; m < COUNT(masks); m++) {
      f.at[i] ^= masks[m];
      one(f.at, f.n);
      f.at[i] ^= masks[m];
    }
  }
}

static void npy_flips(void **state) {
  Arena *a = *state;
  for (uint32_t i = 0; i < COUNT(numpy_files); i++)
    attack((Bytes){arena_copy(a, numpy_files[i].bytes, numpy_files[i].n), numpy_files[i].n},
           attack_npy);
}

static void safetensors_flips(void **state) {
  Arena *a = *state;
  Arrays all = {0};
  Bytes bytes;
  const char *error;
  vec_push(a, &all.metadata, (Metadata){"step", "12\n\"ü\""});
  vec_push(a, &all.array, array_of(a, "w", EL_F32, "[[1, 2, 3], [4, 5, 6]]"));
  vec_push(a, &all.array, array_of(a, "b", EL_F64, "[0.5, nan]"));
  vec_push(a, &all.array, array_of(a, "n", EL_I64, "[]"));
  vec_push(a, &all.array, array_of(a, "on", EL_BOOL, "1"));
  assert_true(safetensors_bytes(a, &all, &bytes, &error));
  attack(bytes, attack_safetensors);
}

static void files(void **state) {
  Arena *a = *state;
  char folder[] = "/tmp/limn_file_test_XXXXXX";
  assert_non_null(mkdtemp(folder));
  const char *npy = arena_format(a, "%s/x.npy", folder);
  const char *tensors = arena_format(a, "%s/x.safetensors", folder), *error;
  Array x = array_of(a, "x", EL_F32, "[[1, 2], [3, 4]]"), y;
  Arrays all = {0}, back;
  vec_push(a, &all.array, x);
  assert_true(npy_write(a, npy, &x, &error));
  assert_true(npy_read(a, npy, &y, &error));
  same_array(&x, &y);
  assert_true(safetensors_write(a, tensors, &all, &error));
  assert_true(safetensors_read(a, tensors, &back, &error));
  same_array(&x, arrays_find(&back, "x"));
  assert_false(safetensors_read(a, npy, &back, &error));
  assert_string_equal(error, arena_format(a,
                                          "%s: it says its header has 379676406402707 bytes, but "
                                          "only 136 follow",
                                          npy));
  assert_false(npy_read(a, tensors, &y, &error));
  x.data[0] = 1e300; // a refused write leaves the old file
  assert_false(npy_write(a, npy, &x, &error));
  assert_string_equal(error,
                      arena_format(a, "%s: element 0 is 1e+300, which float32 cannot hold", npy));
  assert_true(npy_read(a, npy, &y, &error));
  assert_int_equal(unlink(npy) + unlink(tensors) + rmdir(folder), 0); // and nothing beside it
  assert_false(npy_read(a, npy, &y, &error));
  assert_string_equal(error, arena_format(a, "cannot read %s: No such file or directory", npy));
  x.data[0] = 1;
  assert_false(npy_write(a, npy, &x, &error));
  assert_string_equal(error, arena_format(a, "cannot write %s: No such file or directory", npy));
}

// -- writers --------------------------------------------------------------------------------------
static void json_written(void **state) {
  Arena *a = *state;
  Buf b = buf_new(a);
  JsonOut j = json_out(&b);
  const char *error;
  json_object_lines(&j, NULL);
  json_text(&j, "say \"a\"", "x\n");
  json_list(&j, "list");
  json_number(&j, NULL, 0.5);
  json_number(&j, NULL, (double)NAN);
  json_bool(&j, NULL, true);
  json_object(&j, NULL);
  json_end(&j);
  json_end(&j);
  json_list_lines(&j, "none");
  json_end(&j);
  json_list_lines(&j, "rows");
  json_value(&j, NULL, (double)INFINITY);
  json_text_or_null(&j, NULL, NULL);
  json_end(&j);
  json_end(&j);
  assert_string_equal(b.at,
                      "{\n  \"say \\\"a\\\"\": \"x\\n\",\n  \"list\": [0.5, null, true, {}],\n"
                      "  \"none\": [],\n  \"rows\": [\n    \"inf\",\n    null\n  ]\n}");
  const Json *read = json_read(a, b.at, b.n, &error);
  assert_true(read && read->n == 4 && json_get(read, "list")->n == 4);
  Buf tight = buf_new(a);
  j = json_out(&tight);
  j.tight = true;
  json_list(&j, NULL);
  json_number(&j, NULL, 1);
  json_object(&j, NULL);
  json_print(&j, "a", "[%d,%d]", 2, 3);
  json_end(&j);
  json_end(&j);
  assert_string_equal(tight.at, "[1,{\"a\":[2,3]}]");
}

// What is written is what is read, cell by cell.
static void csv_written(void **state) {
  Arena *a = *state;
  static const char *const word[] = {"plain",      "a,b", "say \"oak\"", " led",
                                     "two\nlines", "",    "x;y"};
  static const double number[] = {0.1, -1e300, (double)INFINITY, 3};
  Buf b = buf_new(a);
  CsvOut out = csv_out(&b);
  const char *error = "";
  CsvCell cell;
  size_t n;
  for (uint32_t i = 0; i < COUNT(word); i++) csv_put(&out, word[i]);
  csv_end_row(&out);
  for (uint32_t i = 0; i < COUNT(number); i++) csv_put_number(&out, number[i]);
  csv_next(&out);
  csv_end_row(&out);
  CsvCursor c = csv_begin(a, &(View){(const uint8_t *)b.at, b.n}, &error);
  assert_true(csv_row(&c));
  for (uint32_t i = 0; i < COUNT(word); i++) {
    if (!csv_cell(&c, &cell)) fail_msg("%s", error);
    assert_string_equal(csv_text(a, &cell, &n), word[i]);
    assert_int_equal(csv_more(&c), i + 1 < COUNT(word));
  }
  assert_true(csv_row(&c));
  for (uint32_t i = 0; i < COUNT(number); i++) {
    double x = 0;
    assert_true(csv_cell(&c, &cell) && csv_number(&cell, &x) && x == number[i] && csv_more(&c));
  }
  assert_true(csv_cell(&c, &cell) && cell.n == 0 && !csv_more(&c) && !csv_row(&c));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(npy_round_trip),
      TEST(safetensors_round_trip),
      TEST(safetensors_layout),
      TEST(half_floats),
      TEST(store_refused),
      TEST(safetensors_sum),
      TEST(safetensors_write_refused),
      TEST(npy_from_numpy),
      TEST(npy_other_headers),
      TEST(npy_hostile),
      TEST(npy_preamble),
      TEST(npy_values),
      TEST(safetensors_order),
      TEST(safetensors_hostile),
      TEST(safetensors_lengths),
      TEST(json_values),
      TEST(json_hostile),
      TEST(json_depth),
      TEST(json_memory),
      TEST(parse_arrays),
      TEST(parse_hostile),
      TEST(npy_flips),
      TEST(safetensors_flips),
      TEST(files),
      TEST(json_written),
      TEST(csv_written),
  };
  return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
