// Private to layout: coordinates of a settled sketch.
//
//   lay.c          the whole
//   lay_items.c    the items of a stage, from top to bottom
//   lay_heights.c  variables for heights, and their pulls
//   lay_columns.c  gaps between things one above the other
//   lay_curves.c   curves of strands
//   lay_x.c        widths and labels
//   lay_dividers.c ends of dividers
//   lay_frames.c   glyphs and frames
#ifndef LIMN_SHOW_LAYOUT_LAY_OWN_H
#define LIMN_SHOW_LAYOUT_LAY_OWN_H

#include "show/layout/place.h"
#include "show/layout/sketch.h"

enum { PITCH = 20, ABOVE_DIVIDER = 10, BELOW_DIVIDER = 20, NEAR = 6, PAD = 6, TITLE = 16 };
// Extents of labels above their strand, of powers in them, and around frames.
enum { LETTERS = 13, POWER = 4, EDGE = 4 };
enum { MARGIN = 12, ROOM = 14, CURVE_LEAST = 30, CURVE_MOST = 90 };
enum { FRAME = 8, FRAME_END = 4 }; // distance between a frame and its contents

// An item of a stage: a passing strand (with those that merge into it), a glyph with its ports, a
// cup, or an end.
typedef struct {
  Ids in, out;
  const Glyph *glyph;
  uint32_t straight; // the merged strand that continues straight
} Item;
typedef VEC(Item) Items;

typedef struct { // a divider between two neighbours
  uint32_t var;
  uint32_t first, last;  // sections at whose labels it is
  uint32_t upper, lower; // the bundles that it divides in the last one
  uint32_t next;         // its continuation between other neighbours + 1; 0: it ends
  bool follows;          // it continues another one
  bool within;           // through a stage that reads both neighbours
} LayRule;

typedef struct {
  Arena *arena;
  const Sketch *s;
  const Order *o;
  Layout *l;
  Places p;
  Items *items;    // [stage]
  uint32_t *level; // [strand] its height variable
  uint32_t *mid_in, *mid_out;
  uint32_t *floats; // [stage] first variable of its floating glyphs
  uint32_t *where;  // [strand] scratch: its index in a row
  Table *gaps;
  VEC(LayRule) rule;
} Lay;

// -- lay_items.c ----------------------------------------------------------------------------------
void find_items(Lay *);
Ids strands_of(const Lay *, const Ids *bundles);
Ids find_where(Lay *, const Ids *bundles); // the same for a row; records indices
bool is_merge(const Item *);

// -- lay_heights.c --------------------------------------------------------------------------------
uint32_t var_new(Lay *);
void add_pull(Lay *, uint32_t a, uint32_t b, double offset, int64_t weight);
void find_variables(Lay *);

// -- lay_columns.c --------------------------------------------------------------------------------
void constrain(Lay *);
double title_room(const Sketch *, uint32_t block), foot_room(const Sketch *, uint32_t block);
double label_reach(const char *label); // NULL: of plain letters

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
