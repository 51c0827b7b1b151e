// Private to data: what a set is made of, and what its makers share.
//
// A set is a few columns of numbers in memory, cut into parts. Most rows are
// there when the set is opened. Those that are drawn by code are drawn, and the images of a folder
// are read, when they are first wanted (lazy).
#ifndef LIMN_IO_DATA_SET_OWN_H
#define LIMN_IO_DATA_SET_OWN_H

#include "io/data/data.h"

// The rows of one field: row r begins at at + r·step.
typedef struct {
  const uint8_t *at;
  int64_t step, count; // bytes from row to row; numbers in one
  ElementKind kind;
  bool big_endian;
  bool picture;            // bytes that stand for 0 … 1
  const uint8_t *label_of; // text: the label of each byte, or NULL
  struct Drawn *drawn;     // rows that are drawn when they are wanted, or NULL
} Column;

// Where the rows of a split are: rows of `block` from `first` on; or, if `of` is not 0, those of
// each `of` rows that a hash leaves to this split.
typedef struct {
  uint32_t block;
  int64_t first, rows;
  uint32_t of, take; // take of `of`
} SetPart;

// One field may have rows that lie nowhere: `read` gets one when it is wanted.
typedef struct Lazy {
  bool (*read)(Set *, uint32_t block, int64_t row, Number, void *out, const char **why);
  void *state;
} Lazy;

struct Set {
  Arena *arena;
  const char *name, *says;
  SetOptions options;
  VEC(Field) field;           // of one sample: a window stands in front
  VEC(Column) column[SPLITS]; // [block][field]
  SetPart part[SPLITS];
  int64_t window;       // 1 or more
  const int64_t *order; // the row of the file at each place of block 0; NULL: as they lie
  bool table;
  VEC(Words) words;    // of its fields, as they were before labels became bits
  struct Tasks *tasks; // a set of episodes, or NULL
  uint32_t late;       // the field that is read late
  Lazy lazy;           // read is NULL when everything is there
};

// set.c: putting a set together
void set_add(Set *, const Field *, const Column block[SPLITS]);
void set_cut_given(Set *, int64_t train, int64_t valid, int64_t test); // the rows of each block
void set_cut_hash(Set *, int64_t rows, uint32_t of,
                  bool valid); // of each `of` rows 1 to test, 1 to validate
void set_cut_shares(Set *, int64_t rows, double train, double valid); // one after the other
// The rows of block 0 in the order of the splits; from here on they are said to lie so.
int64_t *set_order(Set *, int64_t rows);

int64_t set_place(const Set *, Split, int64_t row); // in the block that the split reads from

// words.c
const Words *words_for(const SetOptions *, const char *field); // NULL: none are given
bool set_match_words(Set *, const char **why);

// bits.c
bool set_to_bits(Set *, const char **why);

// episodes.c
bool set_to_episodes(Set *, const char **why);
bool episodes_rounded(const Set *, uint32_t field, Rounded *);
bool episode_read(Set *, SetRows, Number, void *, const char **why);

// column.c
void column_read(const Column *, const int64_t *row, int64_t n, int64_t count, Number, void *out);
Column column_new(const void *at, int64_t count, ElementKind); // rows without gaps
Column column_of(const Raw *);
// Of whole numbers from 0 on; -1: they are not that. *row: the largest, or the first that is none.
int64_t column_largest(const Column *, int64_t rows, int64_t *row);

// sampling.c
enum { SHUFFLE_FEW = 4096 }; // rows, for which there is a table
typedef struct {
  int64_t pass; // of which this is the order; -1 = of none
  int16_t place[SHUFFLE_FEW];
} DrawTable;
uint64_t mix_bits(uint64_t);
int64_t draw_rows_with(const Draw *, DrawTable *, int64_t epoch, int64_t batch, int64_t *row);

// made/dice.c: chance for what is drawn by code. Only + - * / and roots are used, so every machine draws
// the same.
typedef struct {
  uint64_t state;
} Dice;
Dice dice_for(uint64_t seed, const char *what, Split, int64_t row);
uint64_t dice_next(Dice *);
double dice_unit(Dice *); // 0 … 1
double dice_between(Dice *, double low, double high);
uint32_t dice_below(Dice *, uint32_t n);
bool dice_chance(Dice *, double);
double dice_normal(Dice *); // nearly: mean 0, deviation 1, never beyond 3.5
double turn_sin(double turns), turn_cos(double turns); // of parts of a full turn

// made/lazy.c: rows drawn when they are wanted
typedef void DrawRow(uint64_t seed, Split, int64_t row, uint8_t *to);
void set_add_drawn(Set *, const Field *, const int64_t rows[SPLITS], DrawRow *);
void column_draw(const Set *, const Column *, const int64_t *row, int64_t n); // those not yet there

// made/sprite.c: shapes with soft edges on a small grey or coloured picture, for sets that are drawn by
// code
typedef struct {
  float *at;               // [size size channels], 0 … 1
  uint32_t size, channels; // size: 32 at most
  double a, b, x, y; // where (u, v) of the drawing is: x + a·u - b·v, y + b·u + a·v, in pixels
  double unit;       // pixels to a length of 1
} Sprite;
// Cover of a pixel at distance d from an edge (inside is negative): 1 inside, 0 outside, soft
// between.
void canvas_place(Sprite *, double x, double y, double scale, double turn); // turn: of a full one
typedef struct {
  double u, v, ru, rv; // its middle and its radii
} Ellipse;
void canvas_ellipse(Sprite *, Ellipse, const double *paint, double alpha, double soft);
void canvas_stroke(Sprite *, const double (*point)[2], uint32_t n, double width,
                   const double *paint,
                   double alpha); // n points
void canvas_polygon(Sprite *, const double (*point)[2], uint32_t n, const double *paint,
                    double alpha); // convex, n points
void canvas_noise(Sprite *, Dice *, double amount);
void canvas_bytes(const Sprite *, uint8_t *to);

// The sets that are made by code: points.c glyphs.c faces.c scenes.c
void open_iris(Set *);
void open_points(Set *); // moons, spirals, blobs
void open_glyphs(Set *);
void open_faces(Set *);
void open_scenes(Set *);
enum { IRIS_WORDS = 3, SCENE_WORDS = 32, CIFAR_WORDS = 10 };
extern const char *const iris_words[], *const scene_words[], *const cifar_words[];

// known.c
bool open_known(Set *, const char **why);
// Where a set on disk is, or NULL; then, if nobody can tell, why.
const char *find_folder(Arena *, const char *set, const char **why);
const char *get_advice(const char *set); // how to get it; NULL: it is made by code
int64_t known_rows(const char *set, Split);

// known_files.c: sets on disk
bool open_named(Set *, const char *folder, const char **why);

// file_rows.c: csv, idx, npy, npz.  text.c.  folder.c
bool open_file(Set *, const char *path, const char **why);
bool open_csv(Set *, const char *path, View, const char **why);
bool open_text(Set *, const char *path, View, const char **why);
bool open_folder(Set *, const char *path, const char **why);

#endif
