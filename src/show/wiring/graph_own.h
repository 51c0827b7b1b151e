// Private to the pictures of learning diagrams.
//
//   graph.c        what a learning diagram says ─► spots with layers, arrows; parts, `=`, the whole
//   graph_lay.c    where spots stand and where arrows run (layers.h)
//   graph_paint.c  spots, arrows, bands and the key on a canvas
#ifndef LIMN_SHOW_WIRING_GRAPH_OWN_H
#define LIMN_SHOW_WIRING_GRAPH_OWN_H

#include "show/layout/layers.h"
#include "show/wiring/graph.h"

#define NO_SPOT UINT32_MAX

typedef struct { // a band beside an arrow: it belongs to one side of a pair
  uint32_t pair;
  bool dashed; // the right side
} Band;

typedef struct {         // a space
  uint32_t layer, block; // what is in a block with a lower number stands above
  double width, height;  // in: at least; out: as it is, with room for what ends there
  double x, y;           // out: the left upper corner
  const char *name, *type, *by, *words;
  bool index, joined;  // joined: it is made one with others
  bool alarm;          // something is wrong with it
  uint32_t own;        // its number in the diagram
  const GroupOf *said; // where the program says it; or NULL
} Spot;

typedef struct {
  uint32_t from, to; // spots
  bool link;         // only joins two spots of one layer that are made one
  bool learned, frozen;
  bool alarm;                       // something is wrong with it
  uint32_t own;                     // its number in the diagram
  const char *name, *inner, *words; // inner: its learners
  VEC(Band) band;
  double label, under; // the width of its label; the room that bands take
  const Knee *path;    // out: level and upright by turns, to the right at first
  uint32_t knees;      // out: of the path
  const GroupOf *said;
  bool back;               // out: the path begins at `to`
  double label_x, label_y; // out: the middle of the label, and the height of the line below it
} Arrow;

typedef struct {
  Arena *arena;
  VEC(Spot) spot;
  VEC(Arrow) arrow;
  double width, height; // out
} Scheme;

// graph_lay.c
void scheme_place(Scheme *);

// graph_paint.c
enum { BANDS = 8 };          // pairs that have an ink
void spot_measure(Spot *);   // its width and height
void arrow_measure(Arrow *); // the width of its label, the room of its bands
void scheme_paint(Canvas *, const Scheme *, double x, double y);
void band_key(Canvas *, uint32_t pair, double x, double y); // two short strokes, 44 wide

#endif
