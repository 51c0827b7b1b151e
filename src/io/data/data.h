// data: sets of samples by name or by file, cut into splits, drawn in batches. Knows no diagrams.
//
//   const char *why;
//   Set *s = set_open(arena, "mnist", &(SetOptions){0}, &why);    // or a path: "t.csv", "a.npz"
//   int64_t n = set_rows(s, SPLIT_TRAIN);
//   set_read(s, (SetRows){SPLIT_TRAIN, field, row, 64}, NUMBER_F32, out, &why); // out: [64 …]
//
//   Draw d = {.rows = n, .batch = 64, .seed = 1, .shuffle = true};
//   int64_t k = draw_rows(&d, epoch, batch, row);                     // the samples of a batch
//
// A set is a table: rows are samples, fields are tensors of one shape. Reading a row never depends
// on what was read before, and a batch is a function of seed, epoch and number alone, so a run can
// go on anywhere.
#ifndef LIMN_IO_DATA_DATA_H
#define LIMN_IO_DATA_DATA_H

#include "io/bytes/bytes.h"

typedef enum { FIELD_REAL, FIELD_LABEL, FIELD_BIT } FieldKind;
typedef enum { SPLIT_TRAIN, SPLIT_VALID, SPLIT_TEST, SPLITS } Split;
// What memory holds. BF16: upper halves of floats, in the memory of a GPU alone.
typedef enum { NUMBER_F32, NUMBER_F64, NUMBER_I32, NUMBER_U8, NUMBER_BF16 } Number;
size_t number_bytes(Number);

enum { FIELD_RANK_LIMIT = 8 };
typedef struct {
  const char *name;
  FieldKind kind;
  uint32_t rank;
  int64_t shape[FIELD_RANK_LIMIT]; // of one sample
  // FIELD_LABEL: how many there are. FIELD_REAL: one more than the largest when all of them are
  // whole and none is negative, so that they can be read as labels; otherwise 0.
  int64_t labels;
  const char *const *label; // their names, or NULL
  const char *peak;         // of numbers: the row that decides how many labels there are; or NULL
  const char *mixed; // of words some of which are numbers: where one is that is none; or NULL
} Field;

// An episode is a small task: `way` classes of a set, `shot` samples of each to learn from, `ask`
// others that are asked for. It is one sample, with the fields of the set for what is learned from
// and `query`, `answer` for the others.
typedef struct {
  int64_t way, shot, ask; // way: 0 = none; way times either of the others: EPISODE_LIMIT at most
  int64_t count;          // episodes in each split
} Episodes;
enum { EPISODE_FIELDS = 4, EPISODE_LIMIT = 1024 };

// What the labels of a field are called, each in the place of its number.
typedef struct {
  const char *field;
  int64_t n;
  const char *const *word; // [n]
} Words;

typedef struct {
  uint64_t seed;  // of what is generated, and of how a file is cut into splits
  bool file;      // a path, even if a set is called so
  bool bits;      // features against their mid-range, labels one-hot, all as bits
  bool valid;     // a split for validation is wanted: see set_open
  bool whole;     // a file without splits is not cut: all its rows are for training
  int64_t window; // how many rows make one sample: text[t], series[t]; 0 = one, -1 = all there are
  const char *beside;       // the file that a relative path is beside, or NULL
  const ReadRights *rights; // which files may be read; NULL: all
  Episodes episodes;
  int64_t pieces;     // of a text: so many pieces are its labels, not its characters; 0: characters
  const Words *words; // [nwords] vocabularies of fields: a word has its number from there, if known
  uint32_t nwords;
} SetOptions;

typedef struct Set Set;

// known.c: the names and types of fields, before any set is opened
// A file that a program names: beside the program, else in one of the folders for data.
const char *data_file(Arena *, const char *beside, const char *path);
void data_rights(Arena *, ReadRights *); // these folders
bool set_is_known(const char *name);
const char *set_known(uint32_t k);                          // the k-th name; NULL after the last
bool set_known_field(const char *set, uint32_t k, Field *); // the k-th; false when there are fewer
const char *set_nearest(const char *name);
bool set_is_here(Arena *, const char *name_or_path,
                 const SetOptions *);           // its files, if it has some
int64_t field_count(const Field *);             // numbers in one sample
const char *field_type(Arena *, const Field *); // "R[28 28]", "{10}"

// episodes.c: the fields of episodes of a set with these fields; false: it has no samples with
// labels
bool episode_fields(const Episodes *, const Field *, uint32_t n, Field out[EPISODE_FIELDS]);

// set.c
//
// Splits never overlap. What brings a test split keeps it, and all the rest is for training; only
// when `valid` is asked for, the last twelfth of that is for validation instead. A file without
// splits is cut by a hash of seed and row: 8 of 10 for training, 1 for validation, 1 for testing;
// with a window, where neighbours belong together, in this order without a hash.
Set *set_open(Arena *, const char *name_or_path, const SetOptions *,
              const char **why); // NULL = why
void set_close(Set *);           // its arena does it at the latest
uint32_t set_fields(const Set *);
const Field *set_field(const Set *, uint32_t);
// By name. "a..b" is a new field: the numbers from column a to column b of a table. "index" is
// FIELD_INDEX. FIELD_NONE when there is none.
uint32_t set_find(Set *, const char *name);
// The same where a run of columns is that of another table: column by column, by their names.
uint32_t set_find_as(Set *, const Set *like, const char *name);
enum { FIELD_INDEX = 0x7ffffffe, FIELD_NONE = 0x7fffffff }; // of a row, its number in its split
int64_t set_rows(const Set *, Split);
// Is a field in memory: no row of it is read, drawn or put together when it is wanted?
bool set_is_whole(const Set *, Split, uint32_t field);
bool set_is_table(const Set *);  // of columns, neighbours of which can be read as one field "a..b"
int64_t set_stride(const Set *); // of a Draw: the window, so that a pass sees each row about once
const char *set_says(const Set *); // one line: what was found and inferred, for the user
typedef struct {
  Split split;
  uint32_t field;
  const int64_t *row;
  int64_t n;
} SetRows;
// Rows of one field as numbers of the kind wanted, one after the other. Safe from several threads.
// False: a file of a folder could not be read, or a row is not there.
bool set_read(Set *, SetRows, Number, void *out, const char **why);
// The same for rows that follow each other, from `first` on; .row is not looked at.
bool set_read_from(Set *, int64_t first, SetRows, Number, void *out, const char **why);

// rounded.c: what 32 bits do not hold
typedef struct {
  const char *column; // the field, or the column of it
  int64_t row;        // of the file: the first where a number changes
  double was, is;     // there
  double most;        // the largest change in the column
} Rounded;
// Does a field of numbers lose what tells them apart when they are rounded to float?
bool set_rounded(Set *, uint32_t field, Rounded *);
bool numbers_rounded(Arena *, const double *, int64_t rows, int64_t each, Rounded *); // [rows each]
const char *rounded_text(Arena *, const Rounded *); // "rounded to 32 bits: …"

// words.c
const Words *set_words(const Set *, const char *field); // also of one read as bits; NULL: no words
bool words_equal(const Words *, const Words *);
const char *words_text(Arena *, const Words *); // "ant, bee, cat", the first dozen
// The words of a column under the numbers of a vocabulary, row by row; label may be the column's
// own. NULL; or a sentence about the first that is not there.
const char *column_labels(Arena *, const View *text, const Csv *, uint32_t column,
                          const Words *known, uint32_t *label);

// pieces.c
//
// A text in the pieces of a vocabulary, which has the characters of the text, and to which pieces
// are added until there are n, if they are to be learned; what is missing is "".
typedef struct {
  int64_t n, nfirst;
  const char *const *first; // [nfirst]
  bool learn;
} PiecesWanted;
typedef struct {
  int64_t n, different; // pieces of the text; and how many of those in the vocabulary are not ""
  int32_t *label;       // [n]
  Words words;
  const char *wrong; // where a character is that the vocabulary lacks
} TextPieces;
bool text_in_pieces(Arena *, View text, const PiecesWanted *, TextPieces *); // false: wrong
bool words_are_pieces(Arena *, const Words *); // each character of them is one of them

// sampling.c: which rows a batch is made of: a shuffle by seed, stream and pass, without a table of all
// rows. Samples are drawn without end, pass after pass; an epoch is so many of them.
typedef struct {
  int64_t rows, batch;
  int64_t stride; // 0 or 1: a pass has every row; w: every w-th, beginning elsewhere in each pass
  int64_t epoch;  // samples in an epoch; 0: one pass. Of several draws, the longest pass
  uint64_t seed, stream; // streams tell independent draws apart
  bool shuffle;
} Draw;
int64_t draw_samples(const Draw *); // in one pass
int64_t draw_batches(const Draw *); // in one epoch, a short last one counted
int64_t draw_rows(const Draw *, int64_t epoch, int64_t batch, int64_t *row); // how many (≤ batch)
int64_t shuffle_place(uint64_t key, int64_t n, int64_t i); // a permutation of 0 … n-1

// loader.c: batches prepared while others are used
//
//   Loader *l = loader_new(arena, &(LoaderPlan){draws, draw, sources, source}, epoch, batch, &why);
//   const Batch *b = loader_next(l);      // NULL: loader_error(l)
//   … b->n samples; b->data[0]: [n …] of source 0 …
//   loader_free(l);
//
// Every draw has the same batch and epoch. Batches are filled when they are asked for; if they are
// of INLINE_BYTES at least and filling them takes a share of the time that matters, by a thread
// that keeps ahead. Either way the numbers are those of set_read.
enum { INLINE_BYTES = 64 << 10 };
typedef struct {
  Set *set;
  Split split;
  uint32_t field;
  Number number;
  uint32_t draw; // which of the draws chooses its rows
} LoaderSource;
typedef struct {
  uint32_t draws;
  const Draw *draw;
  uint32_t sources;
  const LoaderSource *source;
} LoaderPlan;
typedef struct {
  int64_t epoch, batch; // which one this is
  int64_t n;            // samples in it
  void **data;          // for each source, aligned to 64 bytes; stays until the next call
} Batch;
typedef struct Loader Loader;
Loader *loader_new(Arena *, const LoaderPlan *, int64_t epoch, int64_t batch, const char **why);
const Batch *loader_next(Loader *);
const char *loader_error(const Loader *);
double loader_waited(const Loader *); // the share of time spent in loader_next since the start
void loader_free(Loader *);           // its arena does it at the latest

// describe.c: `limn data`
// Can it be told whether the set (NULL: each that is known) is on this machine?
bool data_look(Arena *, const char *name, const char **why);
void data_list(Arena *, Buf *, bool json); // what is known, where it was found, how to get it
// One set: its fields, with some figures. `picture`, unless NULL: its first images, or its points.
bool data_show(Arena *, Buf *, const char *name_or_path, bool json, Picture *picture,
               const char **why);
// Every field of every split, as an array "image_train".
bool data_arrays(Arena *, const char *name_or_path, Arrays *, const char **why);

// array_file.c: one array, by its name where a file has several
bool array_from_file(Arena *, const char *path, const char *name, Array *out, const char **why);

#endif
