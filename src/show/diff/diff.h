// diff: compares two programs or models.
//
//   DiffSource source[2] = …;                        // their statements
//   DiffThings things = statements_pair(arena, source);
// the boxes of a learner
//   DiffBody *body = outlines_align(arena, a, b);
//   DiffAnswer answer = {…}; diff_text(&answer, &buf);
//
// Statements are compared as trees up to renaming (statements.c); what they compute, as outlines: a
// diagram as a list of boxes in text form, independent of its world. Two outlines are aligned by a
// longest common subsequence of boxes; boxes without a partner were added, removed or moved.
// Weights are paired through their boxes.
#ifndef LIMN_SHOW_DIFF_DIFF_H
#define LIMN_SHOW_DIFF_DIFF_H

#include "core/diagram/diagram.h"
#include "io/bytes/bytes.h"
#include "lang/syntax/syntax.h"

typedef enum { DIFF_SAME, DIFF_CHANGED, DIFF_ADDED, DIFF_GONE, DIFF_MOVED, DIFF_MARKS } DiffMark;
typedef struct {
  uint32_t of[DIFF_MARKS];
} DiffCount;

// -- outline.c ------------------------------------------------------------------------------------
typedef struct Outline Outline;
typedef struct {
  const char *name;    // dense.1, or what a loop computes
  const char *word;    // the same without its number: dense
  const char *kind;    // only boxes of equal kind are paired
  const char *type;    // type of the results
  const char *numbers; // constants in a loop: "2, 0.5"
  uint64_t hash;       // hash of everything except names
  uint64_t form;       // the same without sizes
  uint32_t nin;
  uint32_t args; // inputs from this one on are weights of the callee
  // Producer of each input: a box from 0; -1, -2, …: inputs of the diagram; NO_BOX: a weight.
  int64_t *in;
  int64_t *weight; // [nin] index of a weight of the outline; -1: none
  Outline *inside; // of a call; or NULL
} OutlineBox;
typedef struct {
  const char *path, *type;
  bool rooted;    // the path begins at a learner of the program
  uint64_t begin; // hash of its initialiser
} OutlineWeight;
struct Outline {
  const char *name;
  uint64_t whole; // hash of the computed function, independent of names and order
  bool words;     // boxes are statements, compared by source
  VEC(OutlineWeight) weight;
  VEC(OutlineBox) box;
  VEC(const char *) input;
  VEC(int64_t) out; // encoded as OutlineBox.in
};
enum { NO_BOX = INT32_MIN };
typedef struct { // names of a learner: on this side, and on the first side
  const char *here, *there;
} OutlineName;
typedef VEC(OutlineName) OutlineNames;
// The hash of what a diagram computes, independent of names and order: Outline.whole.
uint64_t outline_whole(Arena *, World *, const Diagram *, const OutlineNames *);
Outline *outline_of(Arena *, World *, const char *name, const Diagram *, const OutlineNames *);

// -- meet.c ---------------------------------------------------------------------------------------
typedef struct DiffBody DiffBody;
typedef struct {
  DiffMark mark;
  const OutlineBox *a, *b; // NULL: only on the other side. A moved box has both.
  const char *reads;       // "reads x instead of y"; or NULL
  DiffBody *inside;        // differences inside the callee, other than sizes; or NULL
} DiffBox;
struct DiffBody {
  const Outline *a, *b;
  VEC(DiffBox) box;      // in the order of both sides
  uint32_t *at_a, *at_b; // [box of the outline] where it is in .box
  DiffCount count;       // differences inside a box count once
  const char *otherwise; // all boxes have partners and yet something differs: what; or NULL
};
enum { MOST_BOXES = 4000 };
// NULL: there are more than MOST_BOXES in one body. One of the two may be NULL.
DiffBody *outlines_align(Arena *, const Outline *a, const Outline *b);

// -- statements.c ---------------------------------------------------------------------------------
typedef struct {
  Names *names;
  const Sources *sources;
  const Table *fixed;       // names that have a fixed meaning
  const Table *column;      // fields of data: Name to the Name in the data set
  VEC(const Syntax *) tree; // N_PROGRAM: all files except the library, used ones first
  const char *alias;        // `model` on this side is called so on the other; or NULL
} DiffSource;
typedef struct {
  uint32_t level;
  DiffMark mark;
  const char *text; // of a change: old → new, {+ added}, {- removed}
} DiffLine;
typedef struct {
  DiffMark mark;
  SyntaxKind kind;
  const char *word;    // "learner", "train"
  const char *name[2]; // NULL: unnamed, or missing on that side
  const Syntax *node[2];
  VEC(DiffLine) line; // differences of the source
  bool beside;        // … also outside of the body
  bool otherwise;     // the source differs, the function does not
  DiffBody *body;     // differences of what it computes, if both sides have outlines; or NULL
  // The sides have different boxes but equal results on test inputs: the largest relative
  // difference, and the number of boxes of each side.
  bool by_values;
  double apart;
  uint32_t boxes[2];
} DiffThing;
typedef VEC(DiffThing) DiffThings;
DiffThings statements_pair(Arena *, const DiffSource[2]);

// -- block.c --------------------------------------------------------------------------------------
// A machine, wiring or learning diagram as an outline of its statements; NULL: it has none.
Outline *outline_of_block(Arena *, const DiffSource *, const char *name, const Syntax *);

// -- weights.c ------------------------------------------------------------------------------------
typedef struct {
  DiffMark mark;
  const char *name[2]; // NULL: missing on that side
  const Array *array[2];
  double largest, mean; // of the absolute differences
  double relative;      // norm of the difference, relative to the norm of the first
} DiffWeight;
typedef VEC(DiffWeight) DiffWeights;
bool weight_fits(const DiffWeight *); // both sides have it with the same shape
typedef struct {                      // which weight of one side is which of the other
  Table *to;                          // path on one side to index + 1 in:
  VEC(const char *) path;
} DiffPairs;
const char **outline_paths(Arena *, const Outline *); // [weight] its path in the program
void weights_pair(Arena *, const DiffBody *, DiffPairs *);
// Pairs weights by boxes, names, values, and common suffixes of names.
DiffWeights weights_match(Arena *, const Arrays *a, const Arrays *b, const DiffPairs *);

// -- answer.c -------------------------------------------------------------------------------------
typedef struct {
  const char *name[2];
  double last[2];
  bool known[2];
} DiffFigure; // the last metrics of a run
typedef struct {
  const char *a, *b; // names of the two sides
  bool models;       // compare learners only
  DiffThings thing;
  const Arrays *weights[2]; // NULL: that side has none
  DiffWeights weight;
  VEC(DiffFigure) figure;
  VEC(DiffLine) run; // differences in the settings of the runs
} DiffAnswer;
bool diff_is_same(const DiffAnswer *); // up to names
void diff_text(Arena *, const DiffAnswer *, Buf *);
void diff_json(Arena *, const DiffAnswer *, Buf *);
char diff_sign(DiffMark);
// The difference of two texts: "64", or "64 -> 128".
const char *diff_change(Arena *, const char *a, const char *b, const char *arrow);

#endif
