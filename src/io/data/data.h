// data: data sets by name or file, divided into splits, sampled in batches. Independent of
// diagrams.
//
//   const char *why;
//   Set *s = set_open(arena, "mnist", &(SetOptions){0}, &why);    // or a path: "t.csv", "a.npz"
//   int64_t n = set_rows(s, SPLIT_TRAIN);
//   set_read(s, (SetRows){SPLIT_TRAIN, field, row, 64}, NUMBER_F32, out, &why); // out: [64 …]
//
//   Draw d = {.rows = n, .batch = 64, .seed = 1, .shuffle = true};
//   int64_t k = draw_rows(&d, epoch, batch, row);                     // the samples of a batch
//
// A set is a table: rows are samples, fields are tensors of one shape. Reading a row does not
// depend on earlier reads, and a batch is a function of seed, epoch and number only, so a run can
// resume anywhere.
#ifndef LIMN_IO_DATA_DATA_H
#define LIMN_IO_DATA_DATA_H

#include "io/bytes/bytes.h"

typedef enum { FIELD_REAL, FIELD_LABEL, FIELD_BIT } FieldKind;
typedef enum { SPLIT_TRAIN, SPLIT_VALID, SPLIT_TEST, SPLITS } Split;
// Element types in memory. BF16: bfloat16, in GPU memory only.
typedef enum { NUMBER_F32, NUMBER_F64, NUMBER_I32, NUMBER_U8, NUMBER_BF16 } Number;
size_t number_bytes(Number);

enum { FIELD_RANK_LIMIT = 8 };
typedef struct {
  const char *name;
  FieldKind kind;
  uint32_t rank;
  int64_t shape[FIELD_RANK_LIMIT]; // shape of one sample
  // FIELD_LABEL: the number of labels. FIELD_REAL: the largest value + 1 if all values are natural
  // numbers, so that they can be read as labels; otherwise 0.
  int64_t labels;
  const char *const *label; // their names, or NULL
  // FIELD_REAL: text that names the row with the largest value (or the first that is no label); or
  // NULL.
  const char *peak;
  const char *mixed; // a column of words and numbers: text that names the first word; or NULL
} Field;

// An episode is a few-shot task: `way` classes of a set, `shot` samples of each as the support set,
// `ask` others of each as queries. An episode is one sample, with the fields of the set for the
// support set, and the fields `query` and `answer` for the queries.
typedef struct {
  int64_t way, shot, ask; // way = 0: no episodes; way·shot and way·ask are at most EPISODE_LIMIT
  int64_t count;          // episodes in each split
} Episodes;
enum { EPISODE_FIELDS = 4, EPISODE_LIMIT = 1024 };

// The vocabulary of a field: word[label].
typedef struct {
  const char *field;
  int64_t n;
  const char *const *word; // [n]
} Words;

typedef struct {
  uint64_t seed;  // seed of generated data and of the division into splits
  bool file;      // the name is a path, even if a known set has this name
  bool bits;      // convert to bits: features by comparison with their mid-range, labels one-hot
  bool valid;     // a validation split is needed: see set_open
  bool whole;     // a file without splits is not divided: all rows are for training
  int64_t window; // rows per sample, as in text[t], series[t]; 0: one, -1: all rows
  const char *beside;       // a relative path is relative to this file's folder; or NULL
  const ReadRights *rights; // read permissions; NULL: all files
  Episodes episodes;
  int64_t pieces;     // of a text: size of the byte-pair vocabulary; 0: characters are the labels
  const Words *words; // [nwords] given vocabularies: words get their labels from there
  uint32_t nwords;
} SetOptions;

typedef struct Set Set;

// named_sets.c: fields of the named sets, before any is opened
// A file that a program names: relative to the program, otherwise in one of the data folders.
const char *data_file(Arena *, const char *beside, const char *path);
void data_rights(Arena *, ReadRights *); // permits reading the data folders
bool set_is_known(const char *name);
const char *set_known(uint32_t k);                          // the k-th name; NULL at the end
bool set_known_field(const char *set, uint32_t k, Field *); // false at the end
const char *set_nearest(const char *name);
// True if the set is generated, or its files are on this machine.
bool set_is_here(Arena *, const char *name_or_path, const SetOptions *);
int64_t field_count(const Field *);             // number of elements of one sample
const char *field_type(Arena *, const Field *); // "R[28 28]", "{10}"

// episodes.c: the fields of episodes of a set with these fields; false: no field has labels
bool episode_fields(const Episodes *, const Field *, uint32_t n, Field out[EPISODE_FIELDS]);

// set.c
// Splits are disjoint. A set with a test split keeps it, and the rest is for training; if `valid`,
// the last twelfth of the rest is for validation. A file without splits is divided by a hash of
// seed and row: 8 of 10 rows for training, 1 for validation, 1 for testing; with a window, whose
// rows are consecutive, in this order without a hash.
// NULL on failure: see *why.
Set *set_open(Arena *, const char *name_or_path, const SetOptions *, const char **why);
void set_close(Set *); // closed with its arena at the latest
uint32_t set_fields(const Set *);
const Field *set_field(const Set *, uint32_t);
// Finds a field by name. "a..b" adds a field of the numbers from column a to column b of a table.
// "index" gives FIELD_INDEX. FIELD_NONE if not found.
uint32_t set_find(Set *, const char *name);
// The same, where the columns of a range a..b are those of another table, found by name.
uint32_t set_find_as(Set *, const Set *like, const char *name);
// FIELD_INDEX: the row's number in its split.
enum { FIELD_INDEX = 0x7ffffffe, FIELD_NONE = 0x7fffffff };
int64_t set_rows(const Set *, Split);
// True if all rows of a field are in memory: none is read, generated or assembled on demand.
bool set_is_whole(const Set *, Split, uint32_t field);
bool set_is_table(const Set *); // true for a table, whose columns can be read as a range "a..b"
// A checksum of the file contents of the first fields. For a folder of pictures: of their names,
// sizes and last bytes, since a png ends with a checksum.
uint64_t set_sum(const Set *, uint32_t fields);
// The stride for a Draw: the window, so that an epoch sees each row about once.
int64_t set_stride(const Set *);
const char *set_summary(const Set *); // one line for the user: what was found and inferred
typedef struct {
  Split split;
  uint32_t field;
  const int64_t *row;
  int64_t n;
} SetRows;
// Reads rows of one field, converted to the element type. Thread-safe. False: a file of a folder
// cannot be read, or a row does not exist.
bool set_read(Set *, SetRows, Number, void *out, const char **why);
// The same for consecutive rows from `first` on; .row is ignored.
bool set_read_from(Set *, int64_t first, SetRows, Number, void *out, const char **why);

// precision_loss.c: values that single precision cannot distinguish
typedef struct {
  const char *column; // the field, or its column
  int64_t row;        // the first row of the file with a changed value
  double was, is;     // the value and its rounded value there
  double most;        // largest change in the column
} PrecisionLoss;
// True if rounding a field to float loses the differences between its values.
bool set_precision_loss(Set *, uint32_t field, PrecisionLoss *);
bool numbers_precision_loss(Arena *, const double *, int64_t rows, int64_t each,
                            PrecisionLoss *);                    // [rows each]
const char *precision_loss_text(Arena *, const PrecisionLoss *); // as in "rounded to 32 bits: …"

// vocabulary.c
// Also if the field was converted to bits; NULL: no vocabulary.
const Words *set_words(const Set *, const char *field);
bool words_equal(const Words *, const Words *);
const char *words_text(Arena *, const Words *); // "ant, bee, cat": the first dozen
// Maps the words of a column to the labels of a vocabulary, row by row; `label` may be the column's
// own array. NULL, or an error about the first unknown word.
const char *column_labels(Arena *, const View *text, const Csv *, uint32_t column,
                          const Words *known, uint32_t *label);

// bpe.c: byte-pair encoding of texts
// Encodes a text by a vocabulary of pieces. `first` is the initial vocabulary, which contains all
// characters; if `learn`, merged pieces are added until there are n. Missing pieces are "".
typedef struct {
  int64_t n, nfirst;
  const char *const *first; // [nfirst]
  bool learn;
} PiecesWanted;
typedef struct {
  int64_t n, different; // length of the encoded text; number of pieces that are not ""
  int32_t *label;       // [n]
  Words words;
  const char *wrong; // position of a character that is not in the vocabulary
} TextPieces;
bool text_in_pieces(Arena *, View text, const PiecesWanted *, TextPieces *); // false: see .wrong
bool words_are_pieces(Arena *, const Words *); // every character of a piece is a piece

// sampling.c: the rows of each batch, a shuffle by seed, stream and pass, without a table of all
// rows. Samples form an endless sequence of passes; an epoch is a fixed number of them.
typedef struct {
  int64_t rows, batch;
  // 0 or 1: a pass has every row; w: every w-th row, from a different start in each pass.
  int64_t stride;
  int64_t epoch;         // samples per epoch; 0: one pass. With several draws: the longest pass
  uint64_t seed, stream; // different streams are independent
  bool shuffle;
} Draw;
int64_t draw_samples(const Draw *); // samples per pass
int64_t draw_batches(const Draw *); // batches per epoch, with a short last one
// Returns the number of rows (≤ batch).
int64_t draw_rows(const Draw *, int64_t epoch, int64_t batch, int64_t *row);
int64_t shuffle_place(uint64_t key, int64_t n, int64_t i); // a permutation of 0 … n-1

// loader.c: a prefetching batch loader
//
//   Loader *l = loader_new(arena, &(LoaderPlan){draws, draw, sources, source}, epoch, batch, &why);
//   const Batch *b = loader_next(l);      // NULL: loader_error(l)
//   … b->n samples; b->data[0]: [n …] of source 0 …
//   loader_free(l);
//
// All draws must have the same batch size and epoch. Batches are filled on demand; if a batch has
// at least INLINE_BYTES and filling takes a significant share of the time, a background thread
// prefetches them. The numbers are those of set_read in both cases.
enum { INLINE_BYTES = 64 << 10 };
typedef struct {
  Set *set;
  Split split;
  uint32_t field;
  Number number;
  uint32_t draw; // index of the draw that chooses its rows
} LoaderSource;
typedef struct {
  uint32_t draws;
  const Draw *draw;
  uint32_t sources;
  const LoaderSource *source;
} LoaderPlan;
typedef struct {
  int64_t epoch, batch; // its position
  int64_t n;            // number of samples
  void **data;          // [source], aligned to 64 bytes; valid until the next call
} Batch;
typedef struct Loader Loader;
Loader *loader_new(Arena *, const LoaderPlan *, int64_t epoch, int64_t batch, const char **why);
const Batch *loader_next(Loader *);
const char *loader_error(const Loader *);
// Share of the time since the start that was spent in loader_next.
double loader_waited(const Loader *);
void loader_free(Loader *); // closed with its arena at the latest

// describe.c: the command `limn data`
// Checks whether it can be determined if the set (NULL: every named set) is on this machine.
bool data_look(Arena *, const char *name, const char **why);
void data_list(Arena *, Buf *, bool json); // the named sets, with their folders and how to get them
// Describes a set: its fields, with statistics. picture (may be NULL): its first images, or a
// scatter plot.
bool data_show(Arena *, Buf *, const char *name_or_path, bool json, Picture *picture,
               const char **why);
// Reads every field of every split as an array, named as in "image_train".
bool data_arrays(Arena *, const char *name_or_path, Arrays *, const char **why);

// array_file.c: one array of a file, by name if the file has several
bool array_from_file(Arena *, const char *path, const char *name, Array *out, const char **why);

#endif
