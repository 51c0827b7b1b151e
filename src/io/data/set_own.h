// Private to data: the representation of a set.
//
// A set consists of columns of numbers in memory, divided into splits. Most rows are in memory when
// the set is opened. Generated rows and the images of a folder are produced on first use (lazily).
#ifndef LIMN_IO_DATA_SET_OWN_H
#define LIMN_IO_DATA_SET_OWN_H

#include "io/data/data.h"

// The rows of one field: row r starts at at + r·step.
typedef struct {
  const uint8_t *at;
  int64_t step, count; // stride of rows in bytes; numbers per row
  ElementKind kind;
  bool big_endian;
  bool picture;            // bytes that represent 0 … 1
  const uint8_t *label_of; // of a text: the label of each byte; or NULL
  struct Drawn *drawn;     // rows generated on demand; or NULL
} Column;

// The rows of a split: rows of `block` from `first` on; if of > 0, the rows of each group of `of`
// rows that a hash assigns to this split.
typedef struct {
  uint32_t block;
  int64_t first, rows;
  uint32_t of, take; // `take` rows of each group of `of` rows
} SetPart;

// A field whose rows are read on demand by `read`.
typedef struct Lazy {
  bool (*read)(Set *, uint32_t block, int64_t row, Number, void *out, const char **why);
  void *state;
  uint64_t sum; // checksum of the files
} Lazy;

struct Set {
  Arena *arena;
  const char *name, *summary;
  SetOptions options;
  VEC(Field) field;           // shapes of one sample, with the window axis first
  VEC(Column) column[SPLITS]; // [block][field]
  SetPart part[SPLITS];
  int64_t window;       // 1 or more
  const int64_t *order; // [place in block 0] row of the file; NULL: identity
  bool table;
  VEC(Words) words;    // vocabularies of the fields, before labels became bits
  struct Tasks *tasks; // of a set of episodes; otherwise NULL
  uint32_t lazy_field; // the field with `lazy`
  Lazy lazy;           // read = NULL: no lazy field
};

// set.c: construction of sets
void set_add(Set *, const Field *, const Column block[SPLITS]);
void set_add_one(Set *, const Field *, Column); // all splits read from one column
extern const char *const split_word[SPLITS];    // "train" …
void set_cut_given(Set *, int64_t train, int64_t valid, int64_t test); // rows of each block
// Of each group of `of` rows, 1 is for testing and (valid) 1 for validation.
void set_cut_hash(Set *, int64_t rows, uint32_t of, bool valid);
// Consecutive shares of the rows.
void set_cut_shares(Set *, int64_t rows, double train, double valid);
// The rows of block 0 in the order of the splits; the caller must store the rows in this order.
int64_t *set_order(Set *, int64_t rows);

int64_t set_place(const Set *, Split, int64_t row); // position in the split's block

// vocabulary.c
const Words *words_for(const SetOptions *, const char *field); // NULL: none given
bool set_match_words(Set *, const char **why);

// binarise.c
bool set_to_bits(Set *, const char **why);

// episodes.c
bool set_to_episodes(Set *, const char **why);
bool episodes_precision_loss(const Set *, uint32_t field, PrecisionLoss *);
const Set *episodes_base(const Set *); // the set that the episodes are made of
bool episode_read(Set *, SetRows, Number, void *, const char **why);

// column.c
void column_read(const Column *, const int64_t *row, int64_t n, int64_t count, Number, void *out);
Column column_new(const void *at, int64_t count, ElementKind); // contiguous rows
Column column_of(const Raw *);
// The largest value of a column of natural numbers; -1: other values. *row: the row with the
// largest value, or the first that is no natural number.
int64_t column_largest(const Column *, int64_t rows, int64_t *row);

// sampling.c
enum { SHUFFLE_FEW = 4096 }; // up to this number of rows, a shuffle is a table
typedef struct {
  int64_t pass; // the pass that `place` belongs to; -1: none
  int16_t place[SHUFFLE_FEW];
} DrawTable;
uint64_t mix_bits(uint64_t);
int64_t draw_rows_with(const Draw *, DrawTable *, int64_t epoch, int64_t batch, int64_t *row);

// made/dice.c: random numbers for generated data. Only + - * / and square roots are used, so the
// results are equal on all machines.
typedef struct {
  uint64_t state;
} Dice;
Dice dice_for(uint64_t seed, const char *what, Split, int64_t row);
uint64_t dice_next(Dice *);
double dice_unit(Dice *); // 0 … 1
double dice_between(Dice *, double low, double high);
uint32_t dice_below(Dice *, uint32_t n);
bool dice_chance(Dice *, double);
double dice_normal(Dice *); // approximately normal: mean 0, deviation 1, at most 3.5
double turn_sin(double turns), turn_cos(double turns); // of an angle in turns

// made/lazy.c: rows generated on demand
typedef void DrawRow(uint64_t seed, Split, int64_t row, uint8_t *to);
void set_add_drawn(Set *, const Field *, const int64_t rows[SPLITS], DrawRow *);
// Generates the missing rows.
void column_draw(const Set *, const Column *, const int64_t *row, int64_t n);

// made/sprite.c: anti-aliased shapes on a small grey or RGB picture, for generated data
typedef struct {
  float *at;               // [size size channels], 0 … 1
  uint32_t size, channels; // size: 32 at most
  double a, b, x, y;       // (u, v) maps to x + a·u - b·v, y + b·u + a·v, in pixels
  double unit;             // pixels per unit length
} Sprite;
// Sets the coordinate system; `turn` is in full turns.
void canvas_place(Sprite *, double x, double y, double scale, double turn);
typedef struct {
  double u, v, ru, rv; // centre and radii
} Ellipse;
void canvas_ellipse(Sprite *, Ellipse, const double *paint, double alpha, double soft);
void canvas_stroke(Sprite *, const double (*point)[2], uint32_t n, double width,
                   const double *paint,
                   double alpha); // a polyline of n points
// A convex polygon of n points.
void canvas_polygon(Sprite *, const double (*point)[2], uint32_t n, const double *paint,
                    double alpha);
void canvas_noise(Sprite *, Dice *, double amount);
void canvas_bytes(const Sprite *, uint8_t *to);

// The generated sets: points.c digits.c faces.c scenes.c
void open_iris(Set *);
void open_points(Set *); // moons, spirals, blobs
void open_glyphs(Set *);
void open_faces(Set *);
void open_scenes(Set *);
enum { IRIS_WORDS = 3, SCENE_WORDS = 32, CIFAR_WORDS = 10 };
extern const char *const iris_words[], *const scene_words[], *const cifar_words[];

// named_sets.c
bool open_known(Set *, const char **why);
// The folder of a set on disk, or NULL. Then *why, if it cannot be determined whether a folder
// exists; otherwise NULL.
const char *find_folder(Arena *, const char *set, const char **why);
const char *get_advice(const char *set); // how to get it; NULL: a generated set
int64_t known_rows(const char *set, Split);

// named_set_files.c: named sets on disk
bool open_named(Set *, const char *folder, const char **why);

// file_rows.c: csv, idx, npy, npz. file_text.c. file_folder.c
bool open_file(Set *, const char *path, const char **why);
bool open_csv(Set *, const char *path, View, const char **why);
bool open_text(Set *, const char *path, View, const char **why);
bool open_folder(Set *, const char *path, const char **why);

#endif
