// bytes: arrays, tables and pictures as bytes on disk, and JSON. No diagrams here.
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
// and a reader of n bytes takes at most 10 n and a little (64 MB where something is unpacked). A
// false result comes with a message in *error that says what was found and what was wanted;
// functions that take a path name it there.
#ifndef LIMN_IO_BYTES_BYTES_H
#define LIMN_IO_BYTES_BYTES_H

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

typedef struct {
  const uint8_t *at;
  size_t n;
} View; // bytes owned elsewhere

// Numbers as a file holds them, not converted. `bytes` points into what was looked at, which must
// live as long.
typedef struct {
  const char *name;
  uint32_t rank;
  int64_t *shape; // [rank]
  int64_t count;
  ElementKind kind;
  bool big_endian, fortran_order;
  const uint8_t *bytes; // count × element_info[kind].bytes
} Raw;
typedef VEC(Raw) Raws;

// npy.c: arrays, and the npy form
bool npy_read(Arena *, const char *path, Array *out, const char **error);
bool npy_read_bytes(Arena *, const void *bytes, size_t n, Array *out, const char **error);
bool npy_look(Arena *, const void *bytes, size_t n, Raw *out, const char **error); // header only
bool npy_write(Arena *, const char *path, const Array *, const char **error);
bool npy_bytes(Arena *, const Array *, Bytes *out, const char **error); // not for EL_BF16

bool array_count(uint32_t rank, const int64_t *shape, int64_t *count); // false: negative, too large
const char *array_type(Arena *, const Array *);                        // "3×4 float64"
const char *raw_type(Arena *, const Raw *);
// One number. False when a double cannot hold it, or a byte is not a bool.
bool element_load(ElementKind, const uint8_t *from, bool big_endian, double *out);
// Fills x->data from x->count numbers at `bytes`. The caller has checked that they are all there.
bool array_load(Arena *, Array *x, const uint8_t *bytes, bool big_endian, bool fortran_order,
                const char **error);
// Little-endian, the last axis fastest. Float kinds round; false when a number does not fit.
bool array_store(Arena *, const Array *, uint8_t *to, const char **error);
FileText array_file(Arena *, const char *path, const char **error); // the bytes of a file of arrays
bool file_put(Arena *, const char *path, const void *bytes, size_t n, const char **error);
// The same below a folder of our own, where no link is followed.
bool file_put_in(Arena *, const char *dir, const char *name, const Bytes *, const char **error);
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
// All but the numbers: they are for the caller to put, little-endian, one array after the other at
// *data. Array.data is not looked at.
bool safetensors_frame(Arena *, const Arrays *, Bytes *out, uint8_t **data, const char **error);
// A file with a check sum: `sum_begin` before any other metadata, `sum_end` after them, and when all
// bytes are there, `sum_put`. Whoever reads it compares the sum; a file without one is read too.
void sum_begin(Arena *, Arrays *);
void sum_end(Arena *, Arrays *);
void sum_put(Bytes *);
const Array *arrays_find(const Arrays *, const char *name);   // NULL = absent
const char *arrays_metadata(const Arrays *, const char *key); // NULL = absent

// gzip.c: what was packed with deflate
bool bytes_are_gzip(const void *bytes, size_t n);
size_t unpack_limit(size_t n); // how much n packed bytes may come to: 10 n and 64 MB
bool gzip_read_bytes(Arena *, const void *bytes, size_t n, size_t limit, View *out,
                     const char **error);
bool inflate_bytes(Arena *, const void *bytes, size_t n, uint8_t *to, size_t want,
                   const char **error); // raw deflate, to just `want` bytes
// A file, read; one that is packed by gzip, unpacked. It lives as long as the arena.
bool file_view(Arena *, const char *path, View *out, const char **error);

// idx.c
enum { IDX_RANK_LIMIT = 8 };
bool bytes_are_idx(const void *bytes, size_t n);
bool idx_look(Arena *, const void *bytes, size_t n, Raw *out, const char **error);

// npz.c: a zip archive of npy files. Entries that are not packed are looked at where they are.
bool bytes_are_zip(const void *bytes, size_t n);
bool npz_look(Arena *, const void *bytes, size_t n, Raws *out, const char **error);

// csv.c: a table of numbers and words
typedef struct {
  const char *name; // from the header row, or c1, c2, …
  bool twice;       // the header has this name at two columns; the second has another one here
  bool number;
  double *value;            // number: [rows]
  uint32_t *label;          // otherwise: [rows], which of the words
  uint32_t labels;          // how many words; 0: more than CSV_WORDS_LIMIT, and label is NULL
  const char *const *words; // sorted
  const char *odd;          // of words some of which are numbers: the first that is none; or NULL
  int64_t odd_line;         // where it is
} CsvColumn;
enum { CSV_COLUMNS_LIMIT = 1 << 16, CSV_WORDS_LIMIT = 1 << 16 };
typedef struct {
  CsvColumn *column;
  uint32_t columns;
  int64_t rows;
  bool header; // the first row was names
  char separator;
} Csv;
bool csv_read_bytes(Arena *, const char *text, size_t n, Csv *out, const char **error);
// The same, where some columns are of words, even if all of them look like numbers.
bool csv_read_words(Arena *, const char *text, size_t n, const bool *words, Csv *out,
                    const char **error); // words: [columns]
int64_t csv_line_of(Arena *, const char *text, size_t n, const Csv *, int64_t row); // in the text

// The same cell by cell; cells may be empty, and rows of any length.
//
//   CsvCursor c = csv_begin(arena, &view, &error);
//   while (csv_row(&c))
//     do
//       if (!csv_cell(&c, &cell)) return false;
//     while (csv_more(&c));
typedef struct {
  const char *at;
  size_t n;
  bool quoted; // its quotes are doubled
} CsvCell;
typedef struct {
  Arena *arena;
  const char **error;
  const char *at, *end;
  char separator;
  int64_t line; // from 1
} CsvCursor;
CsvCursor csv_begin(Arena *, const View *text, const char **error); // commas between cells
bool csv_row(CsvCursor *);                     // false at the end. Empty lines are passed over
bool csv_cell(CsvCursor *, CsvCell *);         // false: *error, with its line
bool csv_more(CsvCursor *);                    // after a cell: another one is in this row
bool csv_number(const CsvCell *, double *out); // nan and inf too
const char *csv_text(Arena *, const CsvCell *, size_t *n);

typedef struct {
  Buf *out;
  bool any; // there was a cell in this row
} CsvOut;
CsvOut csv_out(Buf *);
void csv_put(CsvOut *, const char *text); // in quotes where it must be
void csv_put_number(CsvOut *, double);
void csv_next(CsvOut *); // an empty cell, or one that the caller writes
void csv_end_row(CsvOut *);

// png.c: 8 bits, grey or RGB; what is transparent stands on white
typedef struct {
  uint32_t height, width, channels; // 1 or 3
  uint8_t *at;                      // [height width channels]
} Picture;
bool bytes_are_png(const void *bytes, size_t n);
bool png_size(const void *bytes, size_t n, Picture *out); // without the pixels; false: no png
bool png_read_bytes(Arena *, const void *bytes, size_t n, Picture *out, const char **error);
bool png_bytes(Arena *, const Picture *, Bytes *out, const char **error);
bool png_write(Arena *, const char *path, const Picture *, const char **error);

// tensorboard.c: curves for TensorBoard
//
//   Events *e = events_open(arena, "runs/a/events.out.tfevents.1.limn", now, &error);
//   events_scalar(e, step, now, "loss", 0.5);
//   if (!events_flush(e, &error)) …
typedef struct Events Events;
// A file that is there is continued, after its last whole record. It is closed with the arena.
Events *events_open(Arena *, const char *path, double wall_time, const char **error);
void events_scalar(Events *, int64_t step, double wall_time, const char *tag, double value);
bool events_flush(Events *, const char **error); // what was added so far is in the file
uint32_t crc32c(const void *bytes, size_t n);

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
void array_print(Buf *, const Array *, bool json); // the same; json: "inf" and "nan" in quotes
void json_array(JsonOut *, const char *key, const Array *);
void json_value(JsonOut *, const char *key, double); // the same for one number
bool text_is_utf8(const char *text, size_t n);
size_t text_utf8(const char *text, size_t n); // how many bytes from its start on are UTF-8
bool number_value(const char *text, size_t n, double *out);  // of a decimal that has been scanned
const char *text_shown(Arena *, const char *text, size_t n); // short and printable, for messages

#endif
