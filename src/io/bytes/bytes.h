// bytes: file formats: npy, npz, idx, safetensors, csv, png, gzip, TensorBoard events, JSON.
// Independent of diagrams.
//
//   Array x;
//   const char *error;
//   if (!npy_read(arena, "x.npy", &x, &error)) return complain(error);
//   Arrays weights = {0};
//   x.name = "x";
//   vec_push(arena, &weights.array, x);
//   if (!safetensors_write(arena, "x.safetensors", &weights, &error)) return complain(error);
//
// Readers accept untrusted input: every size is checked against the number of bytes before memory
// is allocated, and a reader of n bytes allocates at most 10 n plus a constant (64 MB if it
// decompresses). A function that returns false sets *error to a message with what was found and
// what was expected; a function that takes a path names the path there.
#ifndef LIMN_IO_BYTES_BYTES_H
#define LIMN_IO_BYTES_BYTES_H

#include "base/base.h"

// The storage type of a number on disk; in memory it is a double.
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
  const char *npy;         // "f8"; NULL: not representable in npy
  uint32_t bytes;
} ElementInfo;
extern const ElementInfo element_info[EL_COUNT];

enum { ARRAY_RANK_LIMIT = 64 };

typedef struct {
  const char *name; // "" if unnamed
  uint32_t rank;    // at most ARRAY_RANK_LIMIT; 0: a scalar
  int64_t *shape;   // [rank]
  int64_t count;    // the product of shape
  double *data;     // [count], row-major
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

// An array in its file encoding, not converted. `bytes` points into the parsed buffer, which must
// outlive it.
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
// Parses the header only.
bool npy_look(Arena *, const void *bytes, size_t n, Raw *out, const char **error);
bool npy_write(Arena *, const char *path, const Array *, const char **error);
bool npy_bytes(Arena *, const Array *, Bytes *out, const char **error); // EL_BF16 is not supported

// false: negative or too large.
bool array_count(uint32_t rank, const int64_t *shape, int64_t *count);
const char *array_type(Arena *, const Array *); // "3×4 float64"
const char *raw_type(Arena *, const Raw *);
// Completes an array whose numbers are the `n` bytes at `from`, no more and no fewer; counts them.
bool raw_fill(Arena *, Raw *, const uint8_t *from, size_t n, const char **error);
void raw_to_rows(Arena *,
                 Raw *); // from column-major to row-major order, so that rows are contiguous
bool raw_load(Arena *, const Raw *, Array *out, const char **error); // decodes it
// Whole numbers of n bytes; written little-endian.
uint64_t bytes_load(const uint8_t *from, uint32_t n, bool big_endian);
void bytes_store(uint64_t, uint8_t *to, uint32_t n);
// Decodes one number. False if a double cannot represent it, or a byte is no bool.
bool element_load(ElementKind, const uint8_t *from, bool big_endian, double *out);
// Decodes x->count numbers at `bytes` into x->data. The caller has checked the number of bytes.
bool array_load(Arena *, Array *x, const uint8_t *bytes, bool big_endian, bool fortran_order,
                const char **error);
// Encodes little-endian, row-major. Float kinds round; false if a number is out of range.
bool array_store(Arena *, const Array *, uint8_t *to, const char **error);
FileText array_file(Arena *, const char *path, const char **error); // reads a file of arrays
bool file_put(Arena *, const char *path, const void *bytes, size_t n, const char **error);
// The same below a folder of limn, without following links.
bool file_put_in(Arena *, const char *dir, const char *name, const Bytes *, const char **error);
bool file_error(Arena *, const char **error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// safetensors.c
typedef struct {
  const char *key, *value;
} Metadata;

typedef struct {
  VEC(Array) array;       // in header order
  VEC(Metadata) metadata; // the strings of `__metadata__`
} Arrays;

bool safetensors_read(Arena *, const char *path, Arrays *out, const char **error);
bool safetensors_read_bytes(Arena *, const void *bytes, size_t n, Arrays *out, const char **error);
bool safetensors_write(Arena *, const char *path, const Arrays *, const char **error);
bool safetensors_bytes(Arena *, const Arrays *, Bytes *out, const char **error);
// Writes the header and allocates the data: the caller stores the arrays one after the other,
// little-endian, at *data. Ignores Array.data.
bool safetensors_frame(Arena *, const Arrays *, Bytes *out, uint8_t **data, const char **error);
// A file with a checksum: call `sum_begin` before adding other metadata, `sum_end` after it, and
// `sum_put` when all bytes are written. Readers verify the checksum; a file without one is
// accepted.
void sum_begin(Arena *, Arrays *);
void sum_end(Arena *, Arrays *);
void sum_put(Bytes *);
const Array *arrays_find(const Arrays *, const char *name);   // NULL if absent
const char *arrays_metadata(const Arrays *, const char *key); // NULL if absent

// gzip.c: decompression of deflate streams
bool bytes_are_gzip(const void *bytes, size_t n);
uint32_t bytes_crc32(const uint8_t *, size_t n); // the checksum of gzip and zip
size_t unpack_limit(size_t n); // the largest size that n bytes may decompress to: 10 n + 64 MB
bool gzip_read_bytes(Arena *, const void *bytes, size_t n, size_t limit, View *out,
                     const char **error);
// Decompresses raw deflate to exactly `want` bytes.
bool inflate_bytes(Arena *, const void *bytes, size_t n, uint8_t *to, size_t want,
                   const char **error);
// Reads a file, decompressed if it is a gzip file. The view lives as long as the arena.
bool file_view(Arena *, const char *path, View *out, const char **error);

// idx.c
enum { IDX_RANK_LIMIT = 8 };
bool bytes_are_idx(const void *bytes, size_t n);
bool idx_look(Arena *, const void *bytes, size_t n, Raw *out, const char **error);

// npz.c: a zip archive of npy files. Stored entries are not copied.
bool bytes_are_zip(const void *bytes, size_t n);
bool npz_look(Arena *, const void *bytes, size_t n, Raws *out, const char **error);

// csv.c: tables of numbers and words
typedef struct {
  const char *name; // from the header row, or c1, c2, …
  bool twice;       // another column has the same header name; the second one is renamed here
  bool number;
  double *value;            // [rows] if number
  uint32_t *label;          // [rows] otherwise: indices into words
  uint32_t labels;          // number of words; 0: more than CSV_WORDS_LIMIT, and label is NULL
  const char *const *words; // sorted
  const char *first_word;   // a column with numbers and words: the first word; otherwise NULL
  int64_t first_word_line;  // the line of `odd`
} CsvColumn;
enum { CSV_COLUMNS_LIMIT = 1 << 16, CSV_WORDS_LIMIT = 1 << 16 };
typedef struct {
  CsvColumn *column;
  uint32_t columns;
  int64_t rows;
  bool header; // the first row has column names
  char separator;
} Csv;
bool csv_read_bytes(Arena *, const char *text, size_t n, Csv *out, const char **error);
// The same; words[column]: read the column as words even if all its cells are numbers.
bool csv_read_words(Arena *, const char *text, size_t n, const bool *words, Csv *out,
                    const char **error);
// The line of a row in the text.
int64_t csv_line_of(Arena *, const char *text, size_t n, const Csv *, int64_t row);

// The same cell by cell; cells may be empty, and rows may have any length.
//
//   CsvCursor c = csv_begin(arena, &view, &error);
//   while (csv_row(&c))
//     do
//       if (!csv_cell(&c, &cell)) return false;
//     while (csv_more(&c));
typedef struct {
  const char *at;
  size_t n;
  bool quoted; // quotes inside are doubled
} CsvCell;
typedef struct {
  Arena *arena;
  const char **error;
  const char *at, *end;
  char separator;
  int64_t line; // from 1
} CsvCursor;
CsvCursor csv_begin(Arena *, const View *text, const char **error); // separator: comma
bool csv_row(CsvCursor *);                     // false at the end; skips empty lines
bool csv_cell(CsvCursor *, CsvCell *);         // false: *error, with the line
bool csv_more(CsvCursor *);                    // after a cell: true if the row has another one
bool csv_number(const CsvCell *, double *out); // accepts nan and inf
const char *csv_text(Arena *, const CsvCell *, size_t *n);

typedef struct {
  Buf *out;
  bool any; // the current row is not empty
} CsvOut;
CsvOut csv_out(Buf *);
void csv_put(CsvOut *, const char *text); // quoted if necessary
void csv_put_number(CsvOut *, double);
void csv_next(CsvOut *); // starts a cell, which the caller may append to `out`
void csv_end_row(CsvOut *);

// png.c: 8 bits, grey or RGB; transparent pixels are composed over white
typedef struct {
  uint32_t height, width, channels; // 1 or 3
  uint8_t *at;                      // [height width channels]
} Picture;
bool bytes_are_png(const void *bytes, size_t n);
bool png_size(const void *bytes, size_t n, Picture *out); // size only; false: no png
bool png_read_bytes(Arena *, const void *bytes, size_t n, Picture *out, const char **error);
bool png_bytes(Arena *, const Picture *, Bytes *out, const char **error);
bool png_write(Arena *, const char *path, const Picture *, const char **error);

// tensorboard.c: scalar curves for TensorBoard
//
//   Events *e = events_open(arena, "runs/a/events.out.tfevents.1.limn", now, &error);
//   events_scalar(e, step, now, "loss", 0.5);
//   if (!events_flush(e, &error)) …
typedef struct Events Events;
// Appends to an existing file after its last complete record. The file is closed with the arena.
Events *events_open(Arena *, const char *path, double wall_time, const char **error);
void events_scalar(Events *, int64_t step, double wall_time, const char *tag, double value);
bool events_flush(Events *, const char **error); // writes buffered events to the file
uint32_t crc32c(const void *bytes, size_t n);

// json.c: a JSON parser, and arrays as typed on the command line
//
// A tree is one array of nodes in pre-order. The children of an object are key, value, key, value.
// To iterate over the items of a list:
//
//   for (const Json *item = json_items(list); item; item = json_after(list, item)) …
//
// and over the keys of an object, where the value is key + 1:
//
//   for (const Json *key = json_keys(object); key; key = json_after(object, key)) …
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
    const char *text; // UTF-8, terminated by 0, may contain 0
    uint32_t nodes;   // of a list or object: number of nodes of the subtree, with itself
  };
} Json;

enum { JSON_DEPTH_LIMIT = 64 };
const Json *json_read(Arena *, const char *text, size_t n, const char **error); // NULL: invalid
const Json *json_first(const Json *list_or_object);
const Json *json_next(const Json *);
const Json *json_items(const Json *); // the first item; NULL: it is no list, or empty
const Json *json_keys(const Json *);  // the first key; NULL: it is no object, or empty
const Json *json_after(const Json *in, const Json *); // the next item or key; NULL after the last
// Members of an object. NULL: there is none, or it is in no object.
const Json *json_get(const Json *object, const char *key);
const char *json_get_text(const Json *object,
                          const char *key); // nor if it is no text, or has a 0 in it
double json_get_number(const Json *object, const char *key, double none);
bool json_get_true(const Json *object, const char *key); // whether the member is `true`

// Parses '3.5', '[1, 2, 3]', '[[1, 2], [3, inf]]'. The kind is EL_F64.
bool array_parse(Arena *, const char *text, Array *out, const char **error);
void array_print(Buf *, const Array *, bool json); // the inverse; json: quotes "inf" and "nan"
void json_copy(JsonOut *, const char *key, const Json *); // writes a value that was read
// Writes numbers in nested lists as array_parse reads them; false: they are not numbers.
bool json_as_array(Buf *, const Json *);
void json_array(JsonOut *, const char *key, const Array *);
void json_value(JsonOut *, const char *key, double); // a single number
bool text_is_utf8(const char *text, size_t n);
size_t text_utf8(const char *text, size_t n); // length of the valid UTF-8 prefix
// Value of a scanned decimal; false: overflow.
bool number_value(const char *text, size_t n, double *out);
const char *text_shown(Arena *, const char *text, size_t n); // shortened and escaped, for messages

#endif
