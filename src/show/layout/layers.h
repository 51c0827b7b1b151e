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
#ifndef LIMN_SHOW_LAYOUT_LAYERS_H
#define LIMN_SHOW_LAYOUT_LAYERS_H

#include "show/layout/strokes.h"

// -- what comes in, what goes out -----------------------------------------------------------------
typedef enum { EDGE_NONE, EDGE_FIRST, EDGE_LAST } LayerEdge;

enum { LAYER_KINDS = 7, LAYER_DUMMY = 0 }; // kinds of units; the first is where a cable passes

typedef struct {
  uint8_t apart[LAYER_KINDS][LAYER_KINDS]; // [above below] between units of a layer
  int16_t pull[LAYER_KINDS][LAYER_KINDS];  // [left right] how hard a cable wants to be straight,
  int16_t first;                           // and how much harder to the first of several ends
  double near;                             // lines at such heights are in each other's way
  double jog;         // a line that is not straight by less than this should be straight
  double nearer;      // between a unit and a cable that passes, so that it need not bend
  double margin;      // between a unit and the first track, or a label
  double least;       // the width of a channel without tracks
  double blocks;      // between blocks
  double over, under; // above and below everything
  // of units whose pins are free
  double pad, pitch; // from a corner to a pin, from a pin to the next
  int64_t growth;    // what it costs that the unit grows
} LayerRules;

typedef struct { // where a cable meets a side of a unit
  uint32_t unit, cable;
  bool right; // at the right side: the cable comes from it
  bool weak;  // it closes no cycle: it runs back wherever others would have to
  double y;   // from the top of the unit; of a free pin: out
  uint32_t rank, trunk, var;
} LayerPin;

typedef struct {
  uint32_t kind;
  LayerEdge edge;       // it is in the first layer or in the last, and these keep their order
  bool early;           // it is in the first layer that it can be in
  bool away;            // one layer is kept free between it and what it leads to
  uint32_t owner;       // + 1: it is one with this unit where cycles are looked for
  uint32_t layer;       // out; in, where layers_rank is not asked
  uint32_t block;       // what is in a block with a lower number stands above
  bool free;            // its pins stand where it is best for cables
  double width, height; // height: out where pins are free
  double left, right;   // where cables end, from its left side
  double x, y;          // out: the left upper corner
  Ids side[2];          // pins at the left and at the right, from above
  uint32_t rank, low;   // rank: in its layer, from above
} LayerUnit;

typedef struct {     // a line without branches
  uint32_t first, n; // of CableWay.spot
} CableLine;

typedef struct {
  VEC(Knee) spot; // lines, one after the other
  VEC(CableLine) line;
  VEC(Knee) dot;  // where it branches
  VEC(Knee) back; // an arrowhead to the left
} CableWay;

typedef struct {
  bool peer;                // it says nothing about layers
  double label, below;      // the width of a label where it ends; what lies below its lines
  uint32_t group;           // + 1: where rows end, cables of a group are one; 0: it is alone
  CableWay way;             // out
  double label_x, label_y;  // out: the middle of the label, and the height of its line
  Ids pin;                  // as they were tied, then those of dummies, from the left
  uint32_t low, high;       // layers: it runs on from low to high
  bool turned, lane, above; // it passes its only layer to the left; it runs back, above all
  uint32_t first, last;     // channels of its lane
  double lane_y;
} LayerCable;

// -- what the files share -------------------------------------------------------------------------
typedef VEC(double) Values;

typedef struct { // what a cable does in a channel
  uint32_t cable;
  Ids side[2];      // its pins at the two sides of the channel; [0]: at the right of a unit
  bool bent, lane;  // it has an upright line; it goes to the lane of its cable
  double low, high; // from where to where that goes
  uint32_t track;
  double x;
} Trunk;

typedef struct { // between a layer and the next one
  VEC(Trunk) trunk;
  Values track;                   // widths
  double before, after, x, width; // before, after: beside the tracks
} Channel;

typedef struct {
  Arena *arena, *out; // for all but lines; for lines
  const LayerRules *rules;
  bool framed;  // only units of an edge are in the first layer and the last
  double title; // the width of a title at the top; 0: none
  VEC(LayerUnit) unit;
  VEC(LayerPin) pin;
  VEC(LayerCable) cable;
  double width, height; // out
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
uint32_t layers_wire(Layers *, uint32_t from, uint32_t to); // a cable between two units
// All cables that do not close a cycle run to the right and are short in sum. A walk along cables, in the
// order in which units and cables come, finds cycles. False: there is one.
bool layers_rank(Layers *);

// layers_order.c
void layers_order(Layers *);
int layers_by_value(const void *, const void *); // of qsort: of two numbers
// The pins that face this one across the channel
const Ids *layers_facing(const Layers *, const LayerPin *);

// layers_place.c
void layers_place(Layers *);
double layers_pin_y(const Layers *, uint32_t pin);
double layers_apart(const Layers *, uint32_t above, uint32_t below); // from top to top, at least

// layers_rows.c
typedef struct { // where cables leave a row, or enter one
  Ids cable;
  uint32_t row;
  bool leaves;
  LayerUnit unit;   // in: its kind and its size; out: its place
  double pin;       // in: from the top of the unit
  const char *text; // in: what is written there
} LayerEnd;
typedef VEC(LayerEnd) LayerEnds;
typedef struct {
  double gap;  // between rows
  bool lanes;  // cables run on between rows, and what helps a unit stays beside it
  bool framed; // units of an edge stand on a frame around all rows
  // Of an end that has a cable: what is to be filled in. cut: [cable] it goes from row to row
  void (*measure)(const void *context, const bool *cut, LayerEnd *);
  const void *context;
} RowRules;
// Breaks a layout that is wider than this into rows. Units have their layers and places in one row,
// and nothing else is known; then units, cables and ends have places. No ends and no ways: it stays
// as it is.
LayerEnds layers_rows(Layers *, const RowRules *, double width);

// layers_sweep.c
void layers_sweep(Layers *);

// layers_route.c
enum { LANE = 12 };          // between lines that run side by side
void layers_lanes(Layers *); // which cables run back, and where
void layers_route(Layers *);

#endif
