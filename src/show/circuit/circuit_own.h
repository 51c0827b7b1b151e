// Private to the files that read a diagram as a sketch.
//
//   circuit.c         the whole, inputs and sources, boxes that are neither loops nor calls
//   readable.c        before: a diagram whose loops have short formulas
//   circuit_loop.c    loops, by their indices
//   formula.c         what a loop does to numbers
//   places.c          where it reads them
//   circuit_call.c    calls: a glyph, a block, or opened
//   circuit_inset.c   boxes that are opened several times are laid out once
//   circuit_stop.c    as strings: where no gradient goes back
//   circuit_repeat.c  what is done several times is drawn once
//   words.c           after: names, and a sentence
//   circuit_same.c    are two boxes the same picture?
//   circuit_turn.c    sizes that differ from turn to turn
//   circuit_scan.c    scans: repeated along an axis
//   said.c            where the program says it
//   tandem.c          after: axes that run side by side everywhere are one line
#ifndef LIMN_SHOW_CIRCUIT_CIRCUIT_OWN_H
#define LIMN_SHOW_CIRCUIT_CIRCUIT_OWN_H

#include "show/circuit/circuit.h"
#include "show/layout/sketch.h"

typedef struct Same Same;

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
  const CircuitOptions *how;
  Table *compared; // pairs of diagrams
  VEC(Series) series;
  Table *steps;    // diagrams to what is drawn of them
  Table *pairs_of; // diagrams to entries of `pairs`
  VEC(const uint32_t *) pairs;
  Same *same;
  const PartialDiagram *broken; // the whole has errors; otherwise NULL
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
  uint32_t *read; // [wire] how often it is read; NULL: nobody has asked
  Id *reader;     // [wire] the last box that reads it; 0: none does
  uint32_t reads; // how many wires that is known of
  const Fold *fold;
  const SaidAt *around; // the call that it is; NULL: it is the whole
  // circuit_repeat.c:
  Diagram *own;         // d, with more wires: what comes into a loop
  Id **in;              // [box] what it takes
  bool *done;           // [box] it is drawn
  VEC(Repeat *) repeat; // those that are drawn
  Table *tried;         // loops that cannot be drawn as one
} CircuitPart;

// -- circuit.c ------------------------------------------------------------------------------------
const char *axis_label(Circuit *, const Axis *);
const char *size_label(World *, Arena *, Size);
bool is_called(const char *label); // by the program: o_0 of a row of axes is not
const char *param_name(const CircuitPart *, Id wire);
uint32_t part_reads(CircuitPart *, Id wire);                // how often a wire is read
void label_wire(CircuitPart *, Id wire);                    // its bundle gets its name and labels
const Diagram *part_diagram(Circuit *, const Diagram *);    // as it is drawn
bool is_string(const Circuit *);                            // a wire is one line
uint32_t part_make(CircuitPart *, uint32_t stage, Id wire); // a bundle for a wire
uint32_t bundle_of(CircuitPart *, Id wire);      // of a weight or constant, it begins here
const char *axis_value(Circuit *, const Axis *); // its size, if the label does not say it
// A stage that takes wires, and their uses there.
uint32_t *part_uses(CircuitPart *, const Id *in, uint32_t n, const char *words, uint32_t *stage);
void say_use(CircuitPart *, const Id *in, uint32_t i, uint32_t use); // where the text reads in[i]
void add_ports(Sketch *, Ids *to, uint32_t bundle);                  // all its strands
uint32_t param_number(const Diagram *, Id wire);  // of a weight; their number: it is none
uint32_t source_number(const Diagram *, Id wire); // as diagram_source counts
size_t word_bytes(const char *);                  // letters, digits and lines that it begins with
// A glyph on all strands of so many of a box's inputs and outputs.
Glyph *all_ports(CircuitPart *, const Box *, uint32_t nin, uint32_t nout, GlyphKind,
                 const char *text);
void draw_box(CircuitPart *, const Box *);
void inputs_from_left(CircuitPart *);

// -- partial_picture.c ----------------------------------------------------------------------------
bool draw_unknown(CircuitPart *, const Box *); // false: it is a box like any other
void mark_inputs(CircuitPart *);               // what comes in and is wrong
void mark_ends(CircuitPart *);                 // what comes out and should not

// -- readable.c -----------------------------------------------------------------------------------
const Diagram *diagram_steps(World *, const Diagram *); // as it is read

// -- gradient.c -----------------------------------------------------------------------------------
uint32_t maker_of(const Sketch *, uint32_t bundle); // a stage; their number: it comes in

// -- circuit_loop.c -------------------------------------------------------------------------------
bool is_count(World *, const Loop *sum, const Loop *,
              uint32_t scalar); // is it how many things are summed?
bool loop_is_mask(const Loop *);
uint32_t index_place(World *, const Access *,
                     uint32_t index);              // the axis that it counts; rank: none
const char *body_text(CircuitPart *, const Box *); // its formula; NULL: wires say it
const char *combine_text(Combine, bool place);     // Σ, Max; place: where it is, ArgMax
void draw_loop(CircuitPart *, const Box *);

// circuit_stop.c
// The box without the stops of its operands, which are marks on their wires: these have other
// bundles until the pairs in `wires` (wire, its bundle) are put back.
Box stop_operands(CircuitPart *, const Box *, Ids *wires);

// -- circuit_call.c -------------------------------------------------------------------------------
void draw_call(CircuitPart *, const Box *);

// -- circuit_inset.c ------------------------------------------------------------------------------
Same *same_new(Arena *);
void same_count(Same *, World *, const Diagram *callee); // it is opened
bool same_counted(Same *);                               // all are; is any opened twice?
bool draw_inset(CircuitPart *, const Box *); // false: it is to be drawn as part of the whole

bool call_has_glyph(const char *name); // the library's box has one

// -- words.c --------------------------------------------------------------------------------------
void sketch_words(Sketch *); // names for everything, and the whole as a sentence; before tandem.c
// circuit_same.c: up to sizes
bool same_boxes(Circuit *, const Diagram *, const Box *, const Diagram *, const Box *);
bool same_diagrams(Circuit *, const Diagram *, const Diagram *);

// -- circuit_turn.c -------------------------------------------------------------------------------
Fold *fold_inside(CircuitPart *, const Box *call);         // the same turns in what it calls
bool fold_varies(Circuit *, const Fold *, Id wire);        // its sizes differ
void turn_labels(CircuitPart *, uint32_t bundle, Id wire); // the index for those that differ
void turn_label(CircuitPart *, const Box *loop, uint32_t index, Strand *);
void turn_label_sizes(Circuit *, const Fold *, const Axis *each, Strand *); // [turn]
const char *turn_option(CircuitPart *, const Box *call, uint32_t option,
                        uint32_t i); // one of its sizes
void series_rows(Circuit *);         // for the legend

// -- circuit_scan.c -------------------------------------------------------------------------------
void draw_scan(CircuitPart *, const Box *);

// tandem.c
// For each input and then each output a mask: bit i says that windows move along axes i and i + 1.
bool is_moved(World *, const Coord *, const Coord *); // by windows, or views, that are alike
const uint32_t *diagram_pairs(Circuit *, const Diagram *);
void sketch_tandem(Sketch *); // parallel axes as one line; before settling

// -- circuit_repeat.c -----------------------------------------------------------------------------
void draw_part(CircuitPart *);
uint32_t box_args(const Box *); // what it takes that is drawn: without weights
uint32_t pass_stage(CircuitPart *, uint32_t block, uint32_t from,
                    const char *words);       // a bundle goes on
uint32_t kept_bundle(CircuitPart *, Id wire); // made in a turn that is not drawn; 0: it is not
const char *weight_label(CircuitPart *, const char *name);

#endif
