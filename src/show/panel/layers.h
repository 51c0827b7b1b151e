// Layered layouts (Sugiyama's method): units in layers from left to right, with cables between pins.
//
// A unit is a node of a graph and a pin one of its ports. A cable is a net: an edge between two or more
// pins. Where a cable passes a layer it has a dummy unit. Ranks, order, coordinates and lines are found
// one after the other.
//
//   Layers l = {.arena = a, .rules = &rules};
//   layers_unit(&l, (LayerUnit){.kind = BOX, .width = 40, .height = 20});   and so on
//   layers_cable(&l, (LayerCable){0}), layers_pin(&l, unit, cable, right, y);
//   layers_rank(&l), layers_order(&l), layers_place(&l);   units have places, cables have lines
//
//   layers_rank.c   cycle breaking, rank assignment
//   layers_order.c  dummy units, crossing reduction
//   layers_place.c  coordinate assignment, channel routing between layers
//   layers_sweep.c  heights of large layouts
//   layers_route.c  edge routing: lanes of cables that run back, the lines of each cable
//   layers_rows.c   row breaking: a layout that is too wide becomes rows
#ifndef LIMN_SHOW_PANEL_LAYERS_H
#define LIMN_SHOW_PANEL_LAYERS_H

#include "show/canvas/strokes.h"

// -- inputs and results ---------------------------------------------------------------------------
typedef enum { EDGE_NONE, EDGE_FIRST, EDGE_LAST } LayerEdge;

enum { LAYER_KINDS = 7, LAYER_DUMMY = 0 }; // kinds of units; the first is where a cable passes

typedef struct {
  uint8_t apart[LAYER_KINDS][LAYER_KINDS]; // [above below] minimal gaps between units of a layer
  int16_t pull[LAYER_KINDS][LAYER_KINDS];  // [left right] weight of keeping a cable straight,
  // And additional weight towards the first of several ends.
  int16_t first;
  double near;        // horizontal lines within this distance are separated
  double jog;         // smaller jogs are straightened
  double nearer;      // minimal gap between a unit and a passing cable, used instead of a bend
  double margin;      // between a unit and the first track, or a label
  double least;       // the width of a channel without tracks
  double blocks;      // between blocks
  double over, under; // margins above and below everything
  // for units with free pins:
  double pad, pitch; // from a corner to a pin; between pins
  int64_t growth;    // cost of growing the unit
} LayerRules;

typedef struct { // where a cable meets a side of a unit
  uint32_t unit, cable;
  bool right; // at the right side: the cable starts here
  bool weak;  // reversed first, if a cycle has to be broken
  double y;   // relative to the top of the unit; output for free pins
  uint32_t rank, trunk, var;
} LayerPin;

typedef struct {
  uint32_t kind;
  LayerEdge edge;       // fixed to the first or last layer, in the given order
  bool early;           // as far left as possible
  bool away;            // one layer is left empty before its successors
  uint32_t owner;       // + 1: cycle breaking treats it as part of this unit
  uint32_t layer;       // output of layers_rank; input if that is not called
  uint32_t block;       // blocks are stacked in the order of their numbers
  bool free;            // its pins are placed freely
  double width, height; // height: output for free pins
  double left, right;   // x of cable ends, relative to its left side
  double x, y;          // output: the upper left corner
  Ids side[2];          // left and right pins, top to bottom
  uint32_t rank, low;   // rank: position in its layer, top to bottom
} LayerUnit;

typedef struct {     // a polyline
  uint32_t first, n; // of CableWay.spot
} CableLine;

typedef struct {
  VEC(Knee) spot; // points of all lines
  VEC(CableLine) line;
  VEC(Knee) dot;  // branching points
  VEC(Knee) back; // arrowheads to the left
} CableWay;

typedef struct {
  bool peer;                // it does not constrain layers
  double label, below;      // width of the label at its end; what lies below its lines
  uint32_t group;           // + 1: at ends of rows, cables of a group are merged; 0: not grouped
  CableWay way;             // out
  double label_x, label_y;  // output: centre of the label and height of its line
  Ids pin;                  // in the order of their creation, then dummies from left to right
  uint32_t low, high;       // first and last layer
  bool turned, lane, above; // it returns to its own layer; it runs back in a lane; above everything
  uint32_t first, last;     // channels that its lane spans
  double lane_y;
} LayerCable;

// -- shared options -------------------------------------------------------------------------------
typedef VEC(double) Values;

typedef struct { // a cable's segment in a channel
  uint32_t cable;
  Ids side[2];      // pins on both sides of the channel; [0]: right sides of units
  bool bent, lane;  // it needs a vertical line; it leads to the cable's lane
  double low, high; // vertical extent
  uint32_t track;
  double x;
} Trunk;

typedef struct { // the space between a layer and the next
  VEC(Trunk) trunk;
  Values track;                   // widths
  double before, after, x, width; // before, after: space beside the tracks
} Channel;

typedef struct {
  Arena *arena, *out; // scratch memory, and memory of the lines
  const LayerRules *rules;
  bool framed;  // only units with a fixed edge are in the first and last layer
  double title; // the width of a title at the top; 0: none
  VEC(LayerUnit) unit;
  VEC(LayerPin) pin;
  VEC(LayerCable) cable;
  double width, height; // output
  uint32_t layers;
  Ids *layer;       // units from above
  Channel *channel; // [layer] after it
  double *x, *wide; // [layer]
  double top, bottom;
} Layers;

// layers_rank.c
uint32_t layers_unit(Layers *, LayerUnit);
uint32_t layers_cable(Layers *, LayerCable);
uint32_t layers_pin(Layers *, uint32_t unit, uint32_t cable, bool right, double y);
uint32_t layers_wire(Layers *, uint32_t from, uint32_t to); // adds a cable between two units
// Assigns layers: all cables except those that close a cycle run to the right, with minimal total
// length. Cycles are found by a depth-first search in the order of creation. False: there was a
// cycle.
bool layers_rank(Layers *);

// layers_order.c
void layers_order(Layers *);
int layers_by_value(const void *, const void *); // for qsort of doubles
// The pins on the other side of the channel
const Ids *layers_facing(const Layers *, const LayerPin *);

// layers_place.c
void layers_place(Layers *);
double layers_pin_y(const Layers *, uint32_t pin);
// Minimal distance of their tops.
double layers_apart(const Layers *, uint32_t above, uint32_t below);

// layers_rows.c
typedef struct { // the end of a cable at the start or end of a row
  Ids cable;
  uint32_t row;
  bool leaves;
  LayerUnit unit;   // input: kind and size; output: position
  double pin;       // input: y of its pin in the unit
  const char *text; // input: its text
} LayerEnd;
typedef VEC(LayerEnd) LayerEnds;
typedef struct {
  double gap;  // between rows
  bool lanes;  // cables between rows run in lanes, and helper units stay beside their owners
  bool framed; // units with a fixed edge are on a frame around all rows
  // Fills in an end with a cable. cut: [cable] it crosses rows
  void (*measure)(const void *context, const bool *cut, LayerEnd *);
  const void *context;
} RowRules;
// Breaks a layout wider than `width` into rows. The input has layers and positions in one row only;
// the result has all positions. An empty result without lines: nothing was broken.
LayerEnds layers_rows(Layers *, const RowRules *, double width);

// layers_sweep.c
void layers_sweep(Layers *);

// layers_route.c
enum { LANE = 12 };          // distance of parallel lines
void layers_lanes(Layers *); // finds cables that run back, and their lanes
void layers_route(Layers *);

#endif
