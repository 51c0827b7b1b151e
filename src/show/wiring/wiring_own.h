// Private to the pictures of wirings.
//
//   wiring.c        a system ─► a panel: units with pins, and cables between them; the whole
//   wiring_shared.c shared variables: on which side of its parts each is
//   wiring_text.c   expressions as text, texts that are cut, sentences
//   wiring_order.c  cables that run back, layers, the order in each layer
//   wiring_place.c  heights, widths of channels, tracks
//   wiring_sweep.c  heights of large panels
//   wiring_route.c  lanes, dials, the lines of each cable
//   wiring_paint.c  a panel on a canvas
//   wiring_unfold.c a network from left to right, and the same from inside to outside
//   wiring_times.c  a wiring at several moments, side by side or one after the other
#ifndef LIMN_SHOW_WIRING_WIRING_OWN_H
#define LIMN_SHOW_WIRING_WIRING_OWN_H

#include "lang/machine/machine.h"
#include "show/wiring/wiring.h"

enum {
  PIN_PITCH = 18,  // between pins of one side
  PORT_SIZE = 10,  // letters of the names of ports,
  TYPE_SIZE = 9,   // of types,
  KIND_SIZE = 12,  // of the names of machines,
  TITLE_SIZE = 13, // of wirings,
  WORD_SIZE = 11,  // of formulas, guards, modes
  LIFT = 6,        // how far a stack of sheets reaches up and to the right
  STUB = 22,       // what sticks out of the outermost panel
  LANE = 12,       // between lines that run side by side
};

typedef enum {
  UNIT_BOX,    // a part that is closed
  UNIT_PANEL,  // a part that is opened
  UNIT_PLATE,  // what a wire computes
  UNIT_GUARD,  // a wire with a label above it
  UNIT_CHOICE, // several guarded wires become one
  UNIT_SHARED, // a shared variable
  UNIT_IN,     // a port of the panel itself: at its left edge
  UNIT_OUT,    // at its right edge
  UNIT_PASS,   // a cable passes a layer
} UnitKind;

typedef struct {
  uint32_t cable; // + 1; 0: nothing is there
  double y;       // from the top of the unit
  const char *name, *type, *words;
  bool ring; // it is open in some modes only
  Ink ink;   // of what sticks out there; 0: the default
} Pin;
typedef VEC(Pin) Pins;

typedef struct Panel Panel;

typedef struct {
  UnitKind kind;
  const char *name, *of, *text; // of: its machine; text: a formula, a guard
  const char *count;            // × 3; NULL: it is not an array
  const char *words;            // for a reader
  VEC(const char *) mode;
  Pins in, out;   // at its left and its right side
  bool state;     // it has a state
  bool dashed;    // UNIT_GUARD: its line is; UNIT_BOX: it is there once more
  Ink ink;        // 0: the default
  Panel *inner;   // UNIT_PANEL
  uint32_t owner; // a plate, a guard or a choice: the unit that gets its value; otherwise itself
  uint32_t layer, rank; // out; rank: in its layer, from above
  double width, height; // in
  double x, y;          // out: the left upper corner in the panel
} Unit;

typedef struct {
  uint32_t unit, pin;
  bool right; // a pin of the right side: what is there comes from it
} CableEnd;

typedef struct {
  double x, y;
} PanelSpot;

typedef struct {     // a line without branches
  uint32_t first, n; // of Cable.spot
} CableLine;

typedef struct {
  VEC(CableEnd) end;
  uint32_t dial; // + 1: it comes from a state of the wiring itself
  bool dashed;
  bool peer;   // it says nothing about layers
  bool turned; // out: it stays in one layer, which it passes from right to left
  bool shared; // it has no direction, and its only dot is the variable itself
  Ink ink;     // 0: the default
  const char *words;
  // out
  VEC(PanelSpot) spot; // lines, one after the other
  VEC(CableLine) line;
  VEC(PanelSpot) dot;  // where it branches
  VEC(PanelSpot) back; // an arrowhead to the left
} Cable;

typedef struct { // a state of the wiring itself
  const char *name, *type, *words;
  bool learns;
  double width, x, y; // x, y: out
} Dial;

struct Panel {
  const char *name, *of, *count, *words;
  bool shares; // its ports have no direction
  bool bare;   // it has no frame
  uint32_t depth;
  Ink ink, edge; // 0: the default
  VEC(Unit) unit;
  VEC(Cable) cable;
  VEC(Dial) dial;
  uint32_t boxes;       // in it, at every depth
  double title;         // its width
  double width, height; // out
};

// wiring_text.c
const char *text_cut(Arena *, Face, double size, const char *text, double width);
// An expression of a wiring, as a program has it
const char *node_text(World *, Arena *, const System *, const Syntax *);
bool node_is_place(const Syntax *); // x, p.x, x[i]: nothing is computed
// [0]: numbers of a place; NULL: it has none
const char *node_index(World *, Arena *, const System *, const Syntax *);
const char *unit_words(Arena *, const Unit *);
const char *panel_about(Arena *, const Panel *);

// wiring.c
void panel_finish(Arena *, Panel *); // after its units and cables: it is measured and laid out

// wiring_shared.c
typedef struct {
  bool **right; // [part][port] it is at the right side of its part; NULL: the part does not share
  bool *out;    // [port] it is at the right edge of the panel
} Sides;
// asked: [port] the sides that what holds it wants; NULL: none
Sides shared_sides(Arena *, const System *, const bool *asked);

// wiring_order.c: layers of units, passes, and the order in each layer
void panel_order(Arena *, Panel *);

// wiring_place.c
typedef struct { // what a cable does in a channel
  uint32_t cable;
  VEC(CableEnd) left, right; // its ends at the two sides of the channel
  bool lane, dial;           // it goes to its lane, to its state
  bool bent;                 // it has an upright line
  double low, high;          // from where to where that goes
  uint32_t track;
  double x;
} Trunk;

typedef struct { // between a layer and the next one
  VEC(Trunk) trunk;
  uint32_t tracks;
  double x, width, span; // span: from the first track to the last
} Channel;

typedef struct { // of a cable that runs back
  bool is, above;
  uint32_t first, last; // channels
  double y;
} Lane;

typedef struct {
  Arena *arena; // scratch
  Panel *p;
  uint32_t layers;
  VEC(Ids) layer;      // units from above
  Channel *channel;    // [layer] after it
  Lane *lane;          // [cable]
  double *x, *width;   // [layer]
  double top, bottom;  // of all units and lanes
  VEC(int64_t) harder; // [pull] how much harder it pulls than at first
} Board;
double end_y(const Panel *, const CableEnd *);
double end_x(const Board *, const CableEnd *);
Pin *end_pin(const Panel *, const CableEnd *); // wiring_order.c
// The ends of a cable in a layer, side by side. It holds once there is an order.
uint32_t ends_in(const Panel *, uint32_t cable, uint32_t layer, const CableEnd **);
int64_t units_apart(const Panel *, uint32_t above, uint32_t below); // from top to top, at least
void panel_lay(Arena *, Panel *); // after panel_order: places and lines

// wiring_sweep.c
void heights_sweep(Board *); // for large panels

// wiring_route.c
void lanes_find(Board *); // which cables run back, and where
void cables_route(Board *, Arena *);

// wiring_paint.c
void panel_paint(Canvas *, Arena *, const Panel *, double x, double y, const char *path);
double panel_left(const Panel *), panel_right(const Panel *); // what stands outside of it
Canvas *panel_draw(Arena *, const Panel *, const char *title, const char *about);
void panel_title(Panel *); // how wide it is
void panel_stubs(Canvas *, const Panel *, double x, double y);
// Its width, its height and the heights of its pins; outside: names of ports are outside.
void unit_measure(Unit *, bool outside);

#endif
