// Private to the pictures of differences.
//
//   units.c    a body ─► units and wires, repeats and what is the same folded
//   lay.c      units and wires have places, in rows (layers.h)
//   paint.c    units and wires on a canvas
//   picture.c  all of it: the key, bodies, statements, weights, curves
#ifndef LIMN_SHOW_DIFF_PICTURE_OWN_H
#define LIMN_SHOW_DIFF_PICTURE_OWN_H

#include "show/diff/picture.h"
#include "show/layout/layers.h"

enum { SIDE_FIRST = 1, SIDE_SECOND = 2, SIDE_BOTH = 3, UNIT_LINES = 4 };

typedef struct {
  uint8_t sides;
  bool changed; // of both, and not the same
  bool port;    // an input, an output, or where a wire goes on
  bool soft;    // it stands for several
  LayerEdge edge;
  const char *line[UNIT_LINES]; // what is written in it; NULL: the end
  const char *words;            // the same, for a reader
  const char *word;             // its name without a number
  uint64_t look;                // equal for those that look alike
  uint32_t times;               // it stands for so many turns; 0: one
  bool opens, within, closes;   // of several boxes that come again together
  uint32_t stands;              // + 1: another unit stands for it
  double width, height, x, y;   // out, as what follows
  uint32_t layer, wires;
} DiffUnit;
typedef struct {
  uint32_t from, to; // units
  uint8_t sides;
  CableWay way; // out
} DiffWire;
typedef struct {
  Arena *arena;
  VEC(DiffUnit) unit;
  VEC(DiffWire) wire;
  double width, height; // out
} DiffScheme;

// What is known of the weights of a box: how far they are apart, or -1.
typedef double BoxDistance(const void *context, const char *box);
typedef struct {
  BoxDistance *distance;
  const void *context;
} DiffDistances;

// units.c
DiffScheme scheme_of(Arena *, const DiffBody *, const DiffDistances *);
// lay.c
void scheme_lay(DiffScheme *);
// paint.c
Paint side_paint(uint8_t sides, bool changed);
Ink side_ink(uint8_t sides);
double unit_width(const DiffUnit *);
double unit_height(const DiffUnit *);
void unit_paint(Canvas *, const DiffUnit *, double x, double y);
void scheme_draw(Canvas *, const DiffScheme *, double x, double y);

#endif
