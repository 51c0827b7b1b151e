// Private to diff: pictures of differences.
//
//   units.c    a body ─► units and wires, repeats and what is the same folded
//   look.c     units and wires ─► a panel, with what each side has in its own look
//   picture.c  all of it: the key, bodies, statements, weights, curves
#ifndef LIMN_SHOW_DIFF_PICTURE_OWN_H
#define LIMN_SHOW_DIFF_PICTURE_OWN_H

#include "show/diff/picture.h"
#include "show/panel/panel.h"

enum { SIDE_FIRST = 1, SIDE_SECOND = 2, SIDE_BOTH = 3, UNIT_LINES = 4 };

typedef struct {
  uint8_t sides;
  bool changed; // on both sides, but different
  bool port;    // an input, a result, or the end of a wire between rows
  bool soft;    // a folded unit
  LayerEdge edge;
  const char *line[UNIT_LINES]; // lines of text; terminated by NULL
  const char *words;            // description
  const char *word;             // its name without a number
  uint64_t look;                // equal for units that look alike
  uint32_t times;               // number of repetitions; 0: one
  bool opens, within, closes;   // of several boxes that are repeated together
  uint32_t stands;              // + 1: the unit that replaces it
} DiffUnit;
typedef struct {
  uint32_t from, to; // units
  uint8_t sides;
} DiffWire;
typedef struct {
  Arena *arena;
  VEC(DiffUnit) unit;
  VEC(DiffWire) wire;
} DiffScheme;

// The relative difference of a box's weights; -1: unknown.
typedef double BoxDistance(const void *context, const char *box);
typedef struct {
  BoxDistance *distance;
  const void *context;
} DiffDistances;

// units.c
DiffScheme scheme_of(Arena *, const DiffBody *, const DiffDistances *);
// look.c
Ink side_ink(uint8_t sides);
Unit unit_card(Arena *, const DiffUnit *); // measured
// Without folded units; laid out, in rows if it is wide.
Panel scheme_panel(const DiffScheme *);

#endif
