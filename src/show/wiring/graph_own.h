// Private to pictures of learning diagrams.
//
//   graph.c        a learning diagram ─► spots with layers, arrows; parts, `=`, the whole
//   graph_lay.c    positions of spots and paths of arrows (layers.h)
//   graph_paint.c  draws spots, arrows, bands and the key
#ifndef LIMN_SHOW_WIRING_GRAPH_OWN_H
#define LIMN_SHOW_WIRING_GRAPH_OWN_H

#include "show/layout/layers.h"
#include "show/wiring/graph.h"

#define NO_SPOT UINT32_MAX

typedef struct { // a band along an arrow, for one side of a pair
  uint32_t pair;
  bool dashed; // of the right side
} Band;

typedef struct {         // a space
  uint32_t layer, block; // blocks are stacked in the order of their numbers
  double width, height;  // input: minimal; output: including the space of incoming arrows
  double x, y;           // output: upper left corner
  const char *name, *type, *by, *words;
  bool index, joined;  // joined: identified with others
  bool alarm;          // marked as faulty
  uint32_t own;        // its number in the diagram
  const GroupOf *said; // its source position; or NULL
} Spot;

typedef struct {
  uint32_t from, to; // spots
  bool link;         // joins identified spots of one layer
  bool learned, frozen;
  bool alarm;                       // marked as faulty
  uint32_t own;                     // its number in the diagram
  const char *name, *inner, *words; // inner: its learners
  VEC(Band) band;
  double label, under; // the width of its label; the space of its bands
  const Knee *path;    // output: a rectilinear path, horizontal first
  uint32_t knees;      // output: number of its points
  const GroupOf *said;
  bool back;               // output: the path starts at `to`
  double label_x, label_y; // output: centre of the label, and height of its line
} Arrow;

typedef struct {
  Arena *arena;
  VEC(Spot) spot;
  VEC(Arrow) arrow;
  double width, height; // output
} Scheme;

// graph_lay.c
void scheme_place(Scheme *);

// graph_paint.c
enum { BANDS = 8 };          // pairs with a colour
void spot_measure(Spot *);   // computes width and height
void arrow_measure(Arrow *); // the width of its label and the space of its bands
void scheme_paint(Canvas *, const Scheme *, double x, double y);
void band_key(Canvas *, uint32_t pair, double x, double y); // two short strokes, 44 wide

#endif
