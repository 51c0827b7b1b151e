// bytes: arrays of numbers as bytes on disk, and JSON. No diagrams here.
//
//   Array x;
//   const char *error;
//   if (!npy_read(arena, "x.npy", &x, &error)) return complain(error);
//   Arrays weights = {0};
//   x.name = "x";
//   vec_push(arena, &weights.array, x);
//   if (!safetensors_write(arena, "x.safetensors", &weights, &error)) return complain(error);
//
// Readers trust nothing: a size is checked against the bytes that are there before memory is taken,
// and a reader of n bytes takes at most 10 n and a little. A false result comes with a message in
// *error that says what was found and what was wanted; functions that take a path name it there.
#ifndef LIMN_BYTES_H
#define LIMN_BYTES_H

#include "base/base.h"

// How one number is stored on disk; in memory it is a double.
typedef enum {
  EL_F64,
  EL_F32,
  EL_F16,
  EL_BF16,
  EL_I64,
  EL_I32,
  EL_I16,
  EL_I8,
  EL_U64,
  EL_U32,
  EL_U16,
  EL_U8,
  EL_BOOL,
  EL_COUNT
} ElementKind;

typedef struct {
  const char *name;        // "float64"
  const char *safetensors; // "F64"
  const char *npy;         // "f8", or NULL when npy has no such kind
  uint32_t bytes;
} ElementInfo;
extern const ElementInfo element_info[EL_COUNT];

enum { ARRAY_RANK_LIMIT = 64 };

typedef struct {
  const char *name; // "" when it has none
  uint32_t rank;    // at most ARRAY_RANK_LIMIT; 0 is a single number
  int64_t *shape;   // [rank]
  int64_t count;    // the product of shape
  double *data;     // [count], the last axis runs fastest
  ElementKind kind;
} Array;

typedef struct {
  uint8_t *at;
  size_t n;
} Bytes;

// npy.c: arrays, and the npy form
bool npy_read(Arena *, const char *path, Array *out, const char **error);
bool npy_read_bytes(Arena *, const void *bytes, size_t n, Array *out, const char **error);
bool npy_write(Arena *, const char *path, const Array *, const char **error);
bool npy_bytes(Arena *, const Array *, Bytes *out, const char **error); // not for EL_BF16

bool array_count(uint32_t rank, const int64_t *shape, int64_t *count); // false: negative, too large
const char *array_type(Arena *, const Array *);                        // "3×4 float64"
// Fills x->data from x->count numbers at `bytes`. The caller has checked that they are all there.
bool array_load(Arena *, Array *x, const uint8_t *bytes, bool big_endian, bool fortran_order,
                const char **error);
// Little-endian, the last axis fastest. Float kinds round; false when a number does not fit.
bool array_store(Arena *, const Array *, uint8_t *to, const char **error);
FileText array_file(Arena *, const char *path, const char **error); // the bytes of a file of arrays
bool file_error(Arena *, const char **error, const char *format, ...) // sets *error; always false
    __attribute__((format(printf, 3, 4)));

// safetensors.c
typedef struct {
  const char *key, *value;
} Metadata;

typedef struct {
  VEC(Array) array;       // in the order of the header
  VEC(Metadata) metadata; // the strings of `__metadata__`
} Arrays;

bool safetensors_read(Arena *, const char *path, Arrays *out, const char **error);
bool safetensors_read_bytes(Arena *, const void *bytes, size_t n, Arrays *out, const char **error);
bool safetensors_write(Arena *, const char *path, const Arrays *, const char **error);
bool safetensors_bytes(Arena *, const Arrays *, Bytes *out, const char **error);
const Array *arrays_find(const Arrays *, const char *name);   // NULL = absent
const char *arrays_metadata(const Arrays *, const char *key); // NULL = absent

// json.c: JSON, and arrays as typed on the command line
//
// A tree is one array of nodes, a parent before its children. An object's children are key, value,
// key, value. To walk a list:
//
//   const Json *item = json_first(list);
//   for (uint32_t i = 0; i < list->n; i++, item = json_next(item)) …
//
// and an object, where the value is key + 1:
//
//   const Json *key = json_first(object);
//   for (uint32_t i = 0; i < object->n; i++, key = json_next(key + 1)) …
typedef enum {
  JSON_NULL,
  JSON_FALSE,
  JSON_TRUE,
  JSON_NUMBER,
  JSON_TEXT,
  JSON_LIST,
  JSON_OBJECT
} JsonKind;

typedef struct {
  uint8_t kind; // JsonKind
  bool natural; // a number written with digits only
  uint32_t n;   // bytes of text, items of a list, pairs of an object
  union {
    double number;
    const char *text; // UTF-8, ended by 0, may hold a 0
    uint32_t nodes;   // of a list or an object: itself and all below it
  };
} Json;

enum { JSON_DEPTH_LIMIT = 64 };
const Json *json_read(Arena *, const char *text, size_t n, const char **error); // NULL = refused
const Json *json_first(const Json *list_or_object);
const Json *json_next(const Json *);
const Json *json_get(const Json *object, const char *key); // NULL = absent

// '3.5', '[1, 2, 3]', '[[1, 2], [3, inf]]'. The kind is EL_F64.
bool array_parse(Arena *, const char *text, Array *out, const char **error);
bool text_is_utf8(const char *text, size_t n);
const char *text_shown(Arena *, const char *text, size_t n); // short and printable, for messages

#endif
