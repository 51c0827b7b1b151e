// Private to the four files that read a diagram as a sketch.
//
//   circuit.c         the whole, inputs and sources, boxes that are neither loops nor calls
//   circuit_loop.c    loops, by their indices
//   circuit_call.c    calls: a glyph, a block, or opened
//   circuit_repeat.c  what is done several times is drawn once
#ifndef LIMN_CIRCUIT_H
#define LIMN_CIRCUIT_H

#include "view/sketch.h"

typedef struct {
  World *w;
  Sketch *s;
  const CircuitHow *how;
  uint32_t frames;      // opened so far
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
bool is_string(const Circuit *);                     // a wire is one line
uint32_t part_make(Part *, uint32_t stage, Id wire); // a bundle for a wire
uint32_t bundle_of(Part *, Id wire);                 // of a weight or constant, it begins here
void all_ports(Part *, const Box *, GlyphKind, const char *text);
void draw_box(Part *, const Box *);
uint32_t reads(const Diagram *, Id wire); // how often it is read

// broken.c
bool draw_unknown(Part *, const Box *); // false: it is a box like any other
void mark_inputs(Part *);               // what comes in and is wrong
void mark_ends(Part *);                 // what comes out and should not

// circuit_loop.c
const char *body_text(Circuit *,
                      const Loop *); // what it does to numbers; NULL: the wires say it all
void draw_loop(Part *, const Box *);

// circuit_call.c
void draw_call(Part *, const Box *);

// circuit_repeat.c
void draw_part(Part *);

#endif
