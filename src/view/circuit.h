// Private to the files that read a diagram as a sketch.
//
//   circuit.c         the whole, inputs and sources, boxes that are neither loops nor calls
//   circuit_loop.c    loops, by their indices
//   circuit_call.c    calls: a glyph, a block, or opened
//   circuit_repeat.c  what is done several times is drawn once
//   circuit_same.c    are two boxes the same picture?
//   circuit_turn.c    sizes that differ from turn to turn
//   circuit_scan.c    scans: repeated along an axis
#ifndef LIMN_CIRCUIT_H
#define LIMN_CIRCUIT_H

#include "view/sketch.h"

typedef struct {
  int64_t at;
  Size size;
} TurnSize;

typedef struct { // a size for each turn: o_1, o_2, …
  const char *base;
  const char *name;   // of the loop's variable
  VEC(TurnSize) step; // by `at`
} Series;

typedef struct {
  World *w;
  Sketch *s;
  const CircuitHow *how;
  uint32_t frames; // opened so far
  Table *compared; // pairs of diagrams
  VEC(Series) series;
} Circuit;

// Turns of a loop that are drawn as one: in all of them the boxes are the same, but for sizes.
typedef struct Fold Fold;
struct Fold {
  const Fold *outer;
  const char *name; // of the loop's variable
  uint32_t n;       // turns
  const int64_t *value;
  const Diagram *const *d; // [turn] whose boxes they are
  const Ids *box;          // [turn] in order; NULL: all boxes of each
  const Table *place;      // of a box of the first turn, + 1; NULL with `box`
};

typedef struct Repeat Repeat;
typedef struct { // a diagram that is being drawn, perhaps inside another
  Circuit *c;
  const Diagram *d;
  uint32_t block;
  uint32_t *made; // [wire] its bundle
  const Fold *fold;
  // circuit_repeat.c:
  Id **in;              // [box] what it takes: wires, or numbers beyond them, for what comes in
  Id wires;             // wires and such numbers
  bool *done;           // [box] it is drawn
  VEC(Repeat *) repeat; // those that are drawn
  Table *tried;         // loops that cannot be drawn as one
} Part;

// circuit.c
const char *axis_label(Circuit *, const Axis *);
const char *axis_value(Circuit *, const Axis *);     // its size, if the label does not say it
bool is_string(const Circuit *);                     // a wire is one line
uint32_t part_make(Part *, uint32_t stage, Id wire); // a bundle for a wire
uint32_t bundle_of(Part *, Id wire);                 // of a weight or constant, it begins here
void all_ports(Part *, const Box *, GlyphKind, const char *text);
void draw_box(Part *, const Box *);
uint32_t reads(const Diagram *, Id wire); // how often it is read

// circuit_loop.c
const char *body_text(Circuit *,
                      const Loop *); // what it does to numbers; NULL: the wires say it all
void draw_loop(Part *, const Box *);

// circuit_call.c
void draw_call(Part *, const Box *);

// circuit_same.c: up to sizes
bool same_boxes(Circuit *, const Diagram *, const Box *, const Diagram *, const Box *);
bool same_diagrams(Circuit *, const Diagram *, const Diagram *);

// circuit_turn.c
Fold *fold_inside(Part *, const Box *call);         // the same turns in what it calls
bool fold_varies(Circuit *, const Fold *, Id wire); // its sizes differ
void turn_labels(Part *, uint32_t bundle, Id wire); // the index for those that differ
void turn_label(Part *, const Box *loop, uint32_t index, Strand *);
void turn_label_sizes(Circuit *, const Fold *, const Axis *each, Strand *); // [turn]
void series_rows(Circuit *);                                                // for the legend

// circuit_scan.c
void draw_scan(Part *, const Box *);

// circuit_repeat.c
void draw_part(Part *);
uint32_t box_args(const Box *); // what it takes that is drawn: without weights
uint32_t pass_stage(Part *, uint32_t block, uint32_t from, const char *words); // a bundle goes on
uint32_t kept_bundle(Part *, Id wire); // made in a turn that is not drawn; 0: it is not
const char *weight_label(Part *, const char *name);

#endif
