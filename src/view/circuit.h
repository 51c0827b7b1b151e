// Private to the files that read a diagram as a sketch.
//
//   circuit.c         the whole, inputs and sources, boxes that are neither loops nor calls
//   steps.c           before: a diagram whose loops have short formulas
//   circuit_loop.c    loops, by their indices
//   formula.c         what a loop does to numbers
//   circuit_call.c    calls: a glyph, a block, or opened
//   circuit_repeat.c  what is done several times is drawn once
//   words.c           after: names, and a sentence
//   tandem.c          after: axes that run side by side everywhere are one line
#ifndef LIMN_CIRCUIT_H
#define LIMN_CIRCUIT_H

#include "view/sketch.h"

typedef struct {
  World *w;
  Sketch *s;
  const CircuitHow *how;
  Table *steps;    // diagrams to what is drawn of them
  Table *pairs_of; // diagrams to entries of `pairs`
  VEC(const uint32_t *) pairs;
  const Broken *broken; // the whole has errors; otherwise NULL
} Circuit;

typedef struct { // a diagram that is being drawn, perhaps inside another
  Circuit *c;
  const Diagram *d;
  uint32_t block;
  uint32_t *made; // [wire] its bundle
} Part;

// circuit.c
const char *axis_label(Circuit *, const Axis *);
const char *size_label(World *, Arena *, Size);
const char *param_name(const Part *, Id wire);
void label_wire(Part *, Id wire);                        // its bundle gets its name and labels
const Diagram *part_diagram(Circuit *, const Diagram *); // as it is drawn
bool is_string(const Circuit *);                         // a wire is one line
uint32_t part_make(Part *, uint32_t stage, Id wire);     // a bundle for a wire
uint32_t bundle_of(Part *, Id wire);                     // of a weight or constant, it begins here
void all_ports(Part *, const Box *, GlyphKind, const char *text);
void draw_box(Part *, const Box *);
uint32_t reads(const Diagram *, Id wire); // how often it is read

// broken.c
bool draw_unknown(Part *, const Box *); // false: it is a box like any other
void mark_inputs(Part *);               // what comes in and is wrong
void mark_ends(Part *);                 // what comes out and should not

// formula.c: what a loop does to numbers; NULL: the wires say it all
typedef struct {
  World *w;
  const Diagram *d; // whose wires are named; NULL: operands are x, y, z
  const Loop *l;
  const Id *in;
} FormulaOf;
const char *formula_text(const FormulaOf *, Arena *);
uint32_t formula_letters(const char *);
bool is_product(const Loop *, uint32_t scalar); // of operands

// steps.c
const Diagram *diagram_steps(World *, const Diagram *); // as it is read

// circuit_loop.c
bool is_count(World *, const Loop *sum, const Loop *,
              uint32_t scalar); // is it how many things are summed?
bool loop_is_mask(const Loop *);
const char *body_text(Part *, const Box *);        // its formula, if it is not too long
void make_winner(Part *, uint32_t stage, Id wire); // where the largest is: it begins there
void draw_loop(Part *, const Box *);

// circuit_call.c
const char *options_of(Circuit *, const Diagram *); // "8, 64"; NULL: none were written
const char *title_of(Circuit *, const Diagram *);   // "multihead (8, 64)"
void draw_call(Part *, const Box *);

// words.c
void sketch_words(Sketch *); // names for everything, and the whole as a sentence; before tandem.c

// tandem.c
// For each input and then each output a mask: bit i says that windows move along axes i and i + 1.
bool is_moved(World *, const Coord *, const Coord *); // by windows, or views, that are alike
const uint32_t *diagram_pairs(Circuit *, const Diagram *);
void sketch_tandem(Sketch *); // parallel axes as one line; before settling

// circuit_repeat.c
void draw_part(Part *);

#endif
