// data: sets of samples by name or by file, cut into splits, drawn in batches. Knows no diagrams.
//
//   const char *why;
//   Set *s = set_open(arena, "mnist", &(SetOptions){0}, &why);    // or a path: "t.csv", "faces/", "a.npz"
//   int64_t n = set_rows(s, SPLIT_TRAIN);
//   Draw *d = draw_new(arena, s, SPLIT_TRAIN, seed, stream, true);
//   draw_rows(d, k, row, 64);                                     // which samples batch k is made of
//   set_read(s, SPLIT_TRAIN, field, row, 64, NUMBER_F32, out);    // out: [64 …]
//
// A set is a table: rows are samples, fields are tensors of one shape. Reading a row never depends on
// what was read before, so a batch is a function of seed and step alone, and a run can go on anywhere.
#ifndef LIMN_DATA_H
#define LIMN_DATA_H

#include "bytes/bytes.h"

typedef enum { FIELD_REAL, FIELD_LABEL, FIELD_BIT } FieldKind;
typedef enum { SPLIT_TRAIN, SPLIT_VALID, SPLIT_TEST, SPLITS } Split;
typedef enum { NUMBER_F32, NUMBER_F64, NUMBER_I32, NUMBER_U8 } Number; // what memory holds

enum { FIELD_RANK_LIMIT = 8 };
typedef struct {
  const char *name;
  FieldKind kind;
  uint32_t rank;
  int64_t shape[FIELD_RANK_LIMIT]; // of one sample
  int64_t labels;                  // FIELD_LABEL: how many there are
  const char *const *label;        // their names, or NULL
} Field;

typedef struct {
  uint64_t seed;       // of what is generated
  bool bits;           // features against their mid-range, labels one-hot, all as bits
  int64_t window;      // a text or series: how many rows make one sample; 0 = one
  const char *beside;  // the file that a relative path is beside, or NULL
} SetOptions;

typedef struct Set Set;

// known.c: the names and types of fields, before any set is opened
bool set_is_known(const char *name);
bool set_known_field(const char *set, uint32_t k, Field *); // the k-th; false when there are fewer
const char *set_nearest(const char *name);
void set_list(Arena *, Buf *, bool json); // `limn data`: what is known, where it was found, how to get it

// set.c
Set *set_open(Arena *, const char *name_or_path, const SetOptions *, const char **why); // NULL = why
void set_close(Set *);
uint32_t set_fields(const Set *);
const Field *set_field(const Set *, uint32_t);
int64_t set_rows(const Set *, Split);
const char *set_says(const Set *); // one line: what was found and inferred, for the user
// Rows of one field as numbers of the kind wanted, one after the other. Safe from several threads.
bool set_read(Set *, Split, uint32_t field, const int64_t *row, int64_t n, Number, void *out, const char **why);

// draw.c: which rows a batch is made of: a shuffle by seed, stream and epoch, without a table of all rows
typedef struct {
  int64_t rows, batch;
  uint64_t seed, stream; // streams tell independent draws apart
  bool shuffle;
} Draw;
int64_t draw_batches(const Draw *);                                    // in one epoch, a short last one counted
int64_t draw_rows(const Draw *, int64_t epoch, int64_t batch, int64_t *row); // how many (≤ batch)
int64_t shuffle_place(uint64_t key, int64_t n, int64_t i);             // a permutation of 0 … n-1

#endif
