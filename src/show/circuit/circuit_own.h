// Private to circuit: reading a diagram as a sketch.
//
//   circuit.c         the whole, inputs, sources, and boxes that are neither loops nor calls
//   readable.c        rewrites the diagram before: loops with short formulas
//   circuit_loop.c    loops, by their indices
//   formula.c         the bodies of loops as formulas
//   places.c          coordinates of loops, in string diagrams
//   circuit_call.c    calls: a glyph, a block, or opened
//   circuit_inset.c   boxes opened several times are laid out once
//   circuit_stop.c    gradient stops, in string diagrams
//   circuit_repeat.c  repeats are drawn once
//   words.c           names, and a description in words
//   circuit_same.c    equality of pictures of boxes
//   circuit_turn.c    sizes that vary between iterations
//   circuit_scan.c    scans
//   said.c            source positions
//   tandem.c          merges axes that are treated alike
#ifndef LIMN_SHOW_CIRCUIT_CIRCUIT_OWN_H
#define LIMN_SHOW_CIRCUIT_CIRCUIT_OWN_H

#include "show/circuit/circuit.h"
#include "show/layout/sketch.h"

typedef struct Same Same;

typedef struct {
  int64_t at;
  Size size;
} TurnSize;

typedef struct { // a size per iteration: o_1, o_2, …
  const char *base;
  const char *name;   // of the loop variable
  VEC(TurnSize) step; // sorted by `at`
} Series;

typedef struct {
  World *w;
  Sketch *s;
  const CircuitOptions *how;
  Table *compared; // results of comparing pairs of diagrams
  VEC(Series) series;
  Table *steps;    // diagram to the prepared diagram
  Table *pairs_of; // diagram to entries of `pairs`
  VEC(const uint32_t *) pairs;
  Same *same;
  const PartialDiagram *broken; // the whole has errors; otherwise NULL
} Circuit;

// Iterations of a loop drawn as one: their boxes are equal up to sizes.
typedef struct Fold Fold;
struct Fold {
  const Fold *outer;
  const char *name; // of the loop variable
  uint32_t n;       // number of iterations
  const int64_t *value;
  const Diagram *const *d; // [iteration] the diagram with its boxes
  const Ids *box;          // [iteration] in order; NULL: all boxes of each
  const Table *place;      // box of the first iteration to index + 1; NULL with `box`
};

typedef struct Repeat Repeat;
typedef struct { // a diagram being drawn, possibly inside another
  Circuit *c;
  const Diagram *d;
  uint32_t block;
  uint32_t *made; // [wire] its bundle
  uint32_t *read; // [wire] number of reads; NULL: not computed
  Id *reader;     // [wire] the last box that reads it; 0: none
  uint32_t reads; // number of wires for which this is computed
  const Fold *fold;
  const SaidAt *around; // the enclosing call; NULL: the whole
  // circuit_repeat.c:
  Diagram *own;         // a copy of d with additional wires for inputs of loops
  Id **in;              // [box] inputs
  bool *done;           // [box] has been drawn
  VEC(Repeat *) repeat; // repeats that were drawn
  Table *tried;         // loops that cannot be drawn as a repeat
} CircuitPart;

// -- circuit.c ------------------------------------------------------------------------------------
const char *axis_label(Circuit *, const Axis *);
const char *size_label(World *, Arena *, Size);
bool is_called(const char *label); // named by the program, unlike o_0 of a spread
const char *param_name(const CircuitPart *, Id wire);
uint32_t part_reads(CircuitPart *, Id wire);                // number of reads
void label_wire(CircuitPart *, Id wire);                    // sets name and labels of its bundle
const Diagram *part_diagram(Circuit *, const Diagram *);    // as prepared for drawing
bool is_string(const Circuit *);                            // string diagram: one line per wire
uint32_t part_make(CircuitPart *, uint32_t stage, Id wire); // a bundle for a wire
uint32_t bundle_of(CircuitPart *, Id wire);                 // a weight or constant begins here
const char *axis_value(Circuit *, const Axis *);            // its size, unless the label says it
// Adds a stage that reads wires; returns their uses.
uint32_t *part_uses(CircuitPart *, const Id *in, uint32_t n, const char *words, uint32_t *stage);
// Records the source position of the k-th read.
void say_use(CircuitPart *, const Id *in, uint32_t i, uint32_t use);
uint32_t param_number(const Diagram *, Id wire);  // index of a weight; the number of params: none
uint32_t source_number(const Diagram *, Id wire); // numbered as by diagram_source
// Length of the leading word: letters, digits and underscores.
size_t word_bytes(const char *);
// A glyph on all strands of the first inputs and outputs of a box.
Glyph *all_ports(CircuitPart *, const Box *, uint32_t nin, uint32_t nout, GlyphKind,
                 const char *text);
void draw_box(CircuitPart *, const Box *);
void inputs_from_left(CircuitPart *);

// -- partial_picture.c ----------------------------------------------------------------------------
bool draw_unknown(CircuitPart *, const Box *); // false: an ordinary box
void mark_inputs(CircuitPart *);               // marks faulty inputs
void mark_ends(CircuitPart *);                 // marks faulty results

// -- readable.c -----------------------------------------------------------------------------------
const Diagram *diagram_steps(World *, const Diagram *); // prepared for reading

// -- gradient.c -----------------------------------------------------------------------------------
uint32_t maker_of(const Sketch *, uint32_t bundle); // a stage; the number of stages: an input

// is it the number of reduced elements?
// Is it how many things are summed?
bool is_count(World *, const Loop *sum, const Loop *, uint32_t scalar);
bool loop_is_mask(const Loop *);
// The axis that it covers; rank: none.
uint32_t index_place(World *, const Access *, uint32_t index);
const char *body_text(CircuitPart *, const Box *); // its formula; NULL: wires are enough
const char *combine_text(Combine, bool place);     // Σ, Max; place: the position, ArgMax
void draw_loop(CircuitPart *, const Box *);

// circuit_stop.c
// Removes gradient stops from operands, drawing them as marks on wires. The pairs in `wires` (wire,
// previous bundle) have to be restored afterwards.
Box stop_operands(CircuitPart *, const Box *, Ids *wires);

// -- circuit_call.c -------------------------------------------------------------------------------
void draw_call(CircuitPart *, const Box *);

// -- circuit_inset.c ------------------------------------------------------------------------------
Same *same_new(Arena *);
void same_count(Same *, World *, const Diagram *callee); // counts an opening
bool same_counted(Same *);                               // ends counting; is any box opened twice?
bool draw_inset(CircuitPart *, const Box *);             // false: draw it as part of the whole

bool call_has_glyph(const char *name); // the library box has a glyph

// -- words.c --------------------------------------------------------------------------------------
// Names everything and describes the whole in a sentence; before tandem.c.
void sketch_words(Sketch *);
// circuit_same.c: equality up to sizes
bool same_boxes(Circuit *, const Diagram *, const Box *, const Diagram *, const Box *);
bool same_diagrams(Circuit *, const Diagram *, const Diagram *);

// -- circuit_turn.c -------------------------------------------------------------------------------
Fold *fold_inside(CircuitPart *, const Box *call);  // the same iterations inside a callee
bool fold_varies(Circuit *, const Fold *, Id wire); // its sizes differ between iterations
// Labels with an index for sizes that differ.
void turn_labels(CircuitPart *, uint32_t bundle, Id wire);
void turn_label(CircuitPart *, const Box *loop, uint32_t index, Strand *);
void turn_label_sizes(Circuit *, const Fold *, const Axis *each, Strand *); // [turn]
// One of its sizes.
const char *turn_option(CircuitPart *, const Box *call, uint32_t option, uint32_t i);
void series_rows(Circuit *); // for the legend

// -- circuit_scan.c -------------------------------------------------------------------------------
void draw_scan(CircuitPart *, const Box *);

// tandem.c
// For each input and then each output a mask: bit i says that windows move along axes i and i + 1.
bool is_moved(World *, const Coord *, const Coord *); // equal windows or views
const uint32_t *diagram_pairs(Circuit *, const Diagram *);
void sketch_tandem(Sketch *); // draws parallel axes as one line; before settling

// -- circuit_repeat.c -----------------------------------------------------------------------------
void draw_part(CircuitPart *);
uint32_t box_args(const Box *); // inputs that are drawn: without weights
// Passes a bundle into or out of a block.
uint32_t pass_stage(CircuitPart *, uint32_t block, uint32_t from, const char *words);
uint32_t kept_bundle(CircuitPart *, Id wire); // made in another loop's iteration; 0: no
const char *weight_label(CircuitPart *, const char *name);

#endif
