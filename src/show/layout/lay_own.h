// Private to the files that find places for a settled sketch.
//
//   lay.c          the whole
//   lay_items.c    what a stage does, from top to bottom
//   lay_heights.c  variables, and what pulls them together
//   lay_columns.c  what stands one above the other keeps its distance
//   lay_curves.c   how strands bend
//   lay_x.c        from left to right, and labels
//   lay_dividers.c where dividers begin and end
//   lay_frames.c   glyphs, frames
#ifndef LIMN_SHOW_LAYOUT_LAY_OWN_H
#define LIMN_SHOW_LAYOUT_LAY_OWN_H

#include "show/layout/place.h"
#include "show/layout/sketch.h"

enum { PITCH = 20, ABOVE_DIVIDER = 10, BELOW_DIVIDER = 20, NEAR = 6, PAD = 6, TITLE = 16 };
// How far a label reaches above its strand, and one with a power still more; around a frame.
enum { LETTERS = 13, POWER = 4, EDGE = 4 };
enum { MARGIN = 12, ROOM = 14, CURVE_LEAST = 30, CURVE_MOST = 90 };
enum { FRAME = 8, FRAME_END = 4 }; // how far a frame's edges are from what is in it

// What a stage does, as items from top to bottom: a strand that passes (with those that merge into
// it), a glyph with its ports, a cup, an end.
typedef struct {
  Ids in, out;
  const Glyph *glyph;
  uint32_t straight; // of several that merge: the one that goes straight on
} Item;
typedef VEC(Item) Items;

typedef struct { // a divider, while it lasts between two things
  uint32_t var;
  uint32_t first, last;  // sections in whose data it is
  uint32_t upper, lower; // bundles that it divides in the last one
  uint32_t next;         // how it goes on, with something else above or below, + 1; 0: it ends
  bool follows;          // it goes on from another
  bool within;           // and that through a stage that takes what is above and below it
} LayRule;

typedef struct {
  Arena *arena;
  const Sketch *s;
  const Order *o;
  Layout *l;
  Places p;
  Items *items;    // [stage]
  uint32_t *level; // [strand] variables
  uint32_t *mid_in, *mid_out;
  uint32_t *floats; // [stage] first variable of its glyphs that float
  uint32_t *where;  // [strand] scratch: its place in a row
  Table *gaps;
  VEC(LayRule) rule;
} Lay;

// -- lay_items.c ----------------------------------------------------------------------------------
void find_items(Lay *);
Ids strands_of(const Lay *, const Ids *bundles);
Ids find_where(Lay *, const Ids *bundles); // the same, in a row: their places are noted
bool is_merge(const Item *);

// -- lay_heights.c --------------------------------------------------------------------------------
uint32_t var_new(Lay *);
void pull(Lay *, uint32_t a, uint32_t b, double offset, int64_t weight);
void find_variables(Lay *);

// -- lay_columns.c --------------------------------------------------------------------------------
void constrain(Lay *);
double title_room(const Sketch *, uint32_t block), foot_room(const Sketch *, uint32_t block);
double label_reach(const char *label); // NULL: of letters alone

// -- lay_curves.c ---------------------------------------------------------------------------------
void find_curves(Lay *);

// -- lay_x.c --------------------------------------------------------------------------------------
void find_x(Lay *);

// -- lay_dividers.c: once glyphs have places ------------------------------------------------------
void place_dividers(Lay *, const int64_t *place);

// -- lay_frames.c ---------------------------------------------------------------------------------
void place_glyphs(Lay *, const int64_t *place);
void find_frames(Lay *);

#endif
