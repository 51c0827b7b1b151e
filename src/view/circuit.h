// Private to the five files that read a diagram as a sketch.
//
//   circuit.c         the whole, inputs and sources, boxes that are neither loops nor calls
//   circuit_loop.c    loops, by their indices
//   circuit_call.c    calls: a glyph, a block, or opened
//   circuit_stop.c    as strings: where no gradient goes back
//   circuit_repeat.c  what is done several times is drawn once
#ifndef LIMN_CIRCUIT_H
#define LIMN_CIRCUIT_H

#include "view/sketch.h"

typedef struct {
  World *w;
  Sketch *s;
  const CircuitHow *how;
  uint32_t frames; // opened so far
} Circuit;

typedef struct { // a diagram that is being drawn, perhaps inside another
  Circuit *c;
  const Diagram *d;
  uint32_t block;
  uint32_t *made; // [wire] its bundle
} Part;

// circuit.c
const char *axis_label(Circuit *, const Axis *);
const char *string_type(World *, Arena *, const Type *); // of a whole tensor, in words
bool is_string(const Circuit *);                         // a wire is one line
uint32_t part_make(Part *, uint32_t stage, Id wire);     // a bundle for a wire
uint32_t bundle_of(Part *, Id wire);                     // of a weight or constant, it begins here
void all_ports(Part *, const Box *, GlyphKind, const char *text);
void draw_box(Part *, const Box *);
uint32_t reads(const Diagram *, Id wire);  // how often it is read
const Diagram *unwrapped(const Diagram *); // what a learner that is looked at for itself calls

// circuit_loop.c
const char *body_text(Circuit *,
                      const Loop *); // what it does to numbers; NULL: the wires say it all
void draw_loop(Part *, const Box *);

// circuit_stop.c
bool loop_is_stop(const Loop *);                 // does nothing else
bool loop_stops(const Loop *, uint32_t operand); // which is read in no other way
void loop_skip_stops(Loop *, uint32_t operand);  // as if it were not
// The box without the stops of its operands, which are marks on their wires: these have other
// bundles until the pairs in `wires` (wire, its bundle) are put back.
Box stop_operands(Part *, const Box *, Ids *wires);

// circuit_call.c
void draw_call(Part *, const Box *);
bool call_is_open(const CircuitHow *, const char *name);
bool call_has_glyph(const char *name); // the library's box has one

// circuit_repeat.c
void draw_part(Part *);

#endif
