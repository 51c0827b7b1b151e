// diff: two programs, or two models, side by side.
//
//   DiffSource source[2] = …;                        // their statements
//   DiffThings things = statements_meet(arena, source);
//   Outline *a = outline_of(arena, world, "f", d, &none), *b = …;  // what a learner is, in boxes
//   DiffBody *body = outlines_meet(arena, a, b);
//   DiffAnswer answer = {…}; diff_text(&answer, &buf);
//
// Statements are compared as trees in which names may be others (statements.c), what they compute
// as outlines: a diagram as a list of boxes in texts, with no tie to the world it comes from. Two of
// them are laid beside each other so that as many boxes as possible meet one of their kind; what
// meets nobody was added or is gone, or has moved. Weights meet as boxes do.
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
  const char *kind;    // boxes that may meet have the same
  const char *type;    // of its results
  const char *numbers; // that a loop has in it: "2, 0.5"
  uint64_t hash;       // of all that it is, without names
  uint64_t form;       // the same without sizes
  uint32_t nin;
  uint32_t args; // inputs before this one are no weights of what is called
  int64_t *in; // what it reads: a box from 0 on; -1, -2, … inputs of the diagram; NO_BOX: a weight
  int64_t *weight; // [nin] of the outline; -1: it is none
  Outline *inside; // of a call; or NULL
} OutlineBox;
typedef struct {
  const char *path, *type;
  bool rooted;    // the path begins at a learner of the program
  uint64_t begin; // how it begins
} OutlineWeight;
struct Outline {
  const char *name;
  uint64_t whole; // of all that it computes, names and order apart
  bool words;     // its boxes are statements, by their words
  VEC(OutlineWeight) weight;
  VEC(OutlineBox) box;
  VEC(const char *) input;
  VEC(int64_t) out; // as OutlineBox.in
};
enum { NO_BOX = INT32_MIN };
typedef struct { // what a learner is called here, and on the first side
  const char *here, *there;
} OutlineName;
typedef VEC(OutlineName) OutlineNames;
// All that a diagram computes, names and order apart: Outline.whole of it.
uint64_t outline_whole(Arena *, World *, const Diagram *, const OutlineNames *);
Outline *outline_of(Arena *, World *, const char *name, const Diagram *, const OutlineNames *);

// -- meet.c ---------------------------------------------------------------------------------------
typedef struct DiffBody DiffBody;
typedef struct {
  DiffMark mark;
  const OutlineBox *a, *b; // NULL: that side has none. One that has moved has both
  const char *reads;       // "reads x instead of y"; or NULL
  DiffBody *inside;        // what it calls, where it is not only of other sizes; or NULL
} DiffBox;
struct DiffBody {
  const Outline *a, *b;
  VEC(DiffBox) box;      // in the order of both
  uint32_t *at_a, *at_b; // [box of the outline] where it is in .box
  DiffCount count;       // what is inside of a box counts as one
  const char *otherwise; // boxes meet, and still it is another thing: why; or NULL
};
enum { MOST_BOXES = 4000 };
// NULL: there are more than MOST_BOXES in one body. One of the two may be NULL.
DiffBody *outlines_meet(Arena *, const Outline *a, const Outline *b);

// -- statements.c ---------------------------------------------------------------------------------
typedef struct {
  Names *names;
  const Sources *sources;
  const Table *fixed;       // names that mean something by themselves
  const Table *column;      // of fields of data: Name to Name of what they are in the data
  VEC(const Syntax *) tree; // N_PROGRAM: all files but the library, used ones first
  const char *alias;        // `model` of this side is what is called so on the other; or NULL
} DiffSource;
typedef struct {
  uint32_t level;
  DiffMark mark;
  const char *text; // of a change: old → new where they differ, {+ added}, {- gone}
} DiffLine;
typedef struct {
  DiffMark mark;
  SyntaxKind kind;
  const char *word;    // "learner", "train"
  const char *name[2]; // NULL: it has none, or that side has no such thing
  const Syntax *node[2];
  VEC(DiffLine) line; // how it is written otherwise
  bool beside;        // … outside of a body too
  bool otherwise;     // it is written otherwise, and computes the same
  DiffBody *body;     // what it computes, where both can be said; or NULL
  // It is made of other boxes, and gives the same numbers where that was looked at: how far they are
  // from each other at most, and how many boxes each side has.
  bool by_values;
  double apart;
  uint32_t boxes[2];
} DiffThing;
typedef VEC(DiffThing) DiffThings;
DiffThings statements_meet(Arena *, const DiffSource[2]);

// -- block.c --------------------------------------------------------------------------------------
// A machine, a wiring or a learning diagram by its words; NULL: it has no statements.
Outline *outline_of_block(Arena *, const DiffSource *, const char *name, const Syntax *);

// -- weights.c ------------------------------------------------------------------------------------
typedef struct {
  DiffMark mark;
  const char *name[2]; // NULL: that side has none
  const Array *array[2];
  double largest, mean; // of the differences, without their signs
  double relative;      // the length of the difference, of that of the first
} DiffWeight;
typedef VEC(DiffWeight) DiffWeights;
bool weight_fits(const DiffWeight *); // both have it, of one shape
typedef struct {                      // which weight of the one is which of the other
  Table *to;                          // the path of the one to a number + 1 of:
  VEC(const char *) path;
} DiffPairs;
const char **outline_paths(Arena *, const Outline *); // [weight of it] in the program
void weights_pair(Arena *, const DiffBody *, DiffPairs *);
// By pairs, by name, by their numbers, by what their names end in.
DiffWeights weights_meet(Arena *, const Arrays *a, const Arrays *b, const DiffPairs *);

// -- answer.c -------------------------------------------------------------------------------------
typedef struct {
  const char *name[2];
  double last[2];
  bool known[2];
} DiffFigure; // what a run has come to
typedef struct {
  const char *a, *b; // what the two are called
  bool models;       // only what is learned is compared
  DiffThings thing;
  const Arrays *weights[2]; // NULL: that side has none
  DiffWeights weight;
  VEC(DiffFigure) figure;
  VEC(DiffLine) run; // how the runs were asked for
} DiffAnswer;
bool diff_is_same(const DiffAnswer *); // names apart
void diff_text(Arena *, const DiffAnswer *, Buf *);
void diff_json(Arena *, const DiffAnswer *, Buf *);
char diff_sign(DiffMark);
// What has become of a text: "64", "64 -> 128".
const char *diff_change(Arena *, const char *a, const char *b, const char *arrow);

#endif
