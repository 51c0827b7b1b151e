// panel: pictures of units and cables in layers. Learning diagrams, machines, wirings and
// differences are panels.
//
//   Panel p = {.arena = a, .kind = &kind};
//   uint32_t from = panel_add(&p, (Unit){.kind = UNIT_CARD, .card = …}), to = …;
//   panel_join(&p, from, to, (Cable){.words = "from to to"});
//   panel_finish(&p), panel_rows(&p, 1000), panel_paint(canvas, &p, x, y, "");
//
//   panel.c          units, pins and cables are added
//   panel_lay.c      positions of units and lines of cables, in rows if it is wide (layers.h)
//   panel_units.c    sizes of units, and their marks
//   card.c           lines of text in an outline
//   panel_lines.c    cables with their bands, arrowheads and labels
//   panel_paint.c    the whole
#ifndef LIMN_SHOW_PANEL_PANEL_H
#define LIMN_SHOW_PANEL_PANEL_H

#include "show/panel/layers.h"

enum {
  PIN_PITCH = 18,   // between pins of one side
  PORT_SIZE = 10,   // letters of the names of ports,
  TYPE_SIZE = 9,    // of types,
  KIND_SIZE = 12,   // of the names of machines,
  TITLE_SIZE = 13,  // of wirings,
  WORD_SIZE = 11,   // of formulas, guards, modes
  LIFT = 6,         // offset of a stack of sheets, up and to the right
  STUB = 22,        // length of wires outside of the outermost panel
  MODE_INSET = 160, // assumed width beside a nested mode or panel,
  PANEL_INSET = 60, // and the minimum
};

typedef enum {
  UNIT_BOX,    // a closed part
  UNIT_PANEL,  // an opened part
  UNIT_PLATE,  // a computed value
  UNIT_GUARD,  // a guard: a label on a wire
  UNIT_CHOICE, // joins several guarded wires
  UNIT_SHARED, // a shared variable
  UNIT_STATE,  // a state of the wiring itself
  UNIT_IN,     // an input port, on the left border
  UNIT_OUT,    // an output port, on the right border
  UNIT_LEAVES, // a cable continues in another row
  UNIT_ENTERS, // or comes from there
  UNIT_START,  // a dot that leads to the initial mode
  UNIT_CARD,   // lines of text in an outline; its pins are anywhere at its sides
} UnitKind;

typedef struct {
  uint32_t cable; // + 1; 0: none
  double y;       // relative to the top of the unit
  const char *name, *type, *words;
  bool ring;           // open in some modes only
  bool weak;           // ignored by cycle breaking if necessary
  bool goes_on;        // of a mode: the arrow continues to or from a nested mode
  Ink ink;             // of the wire outside; 0: the default
  const GroupOf *said; // its source position, as for units, cables and panels; or NULL
} Pin;
typedef VEC(Pin) Pins;

typedef struct Panel Panel;

enum { CARD_LINES = 4 };
typedef struct {
  const char *text; // NULL: no more lines
  Text how;
  double drop; // from the line before to its baseline
} CardLine;
typedef struct {
  CardLine line[CARD_LINES];
  double least, side, below; // the least width; beside the text; below its last baseline
  bool math;                 // the text has the markup of math.c
  bool bare;                 // no outline: the end of a cable
  Paint outline;
  double corner, inner; // radii; inner: of a second outline; 0: none
  uint32_t sheets;      // more outlines behind it
  bool alarm;           // marked as faulty
  Ink tie;              // bare: of the line at which several cables meet
} Card;

typedef struct {
  UnitKind kind;
  const char *name, *of, *text; // of: its machine; text: a formula or guard
  const char *count;            // × 3; NULL: no array
  const char *words;            // description
  VEC(const char *) mode;
  TextLines line;     // lines at the bottom; of a plate: its text
  Pins in, out;       // at its left and its right side
  bool state;         // it has a state
  bool unnamed;       // it has no name in the text, as an anonymous state
  bool learns;        // UNIT_STATE
  bool dashed;        // UNIT_GUARD: of its line; UNIT_BOX: a repeated occurrence
  bool graph;         // a mode: inputs have arrowheads
  bool stops;         // a terminal mode
  bool behind;        // UNIT_GUARD: it belongs to the preceding unit
  uint32_t shared[2]; // left and right pin of an undirected line, + 1
  Ink ink;            // 0: the default
  Panel *inner;       // UNIT_PANEL
  Card *card;         // UNIT_CARD
  LayerEdge edge;     // UNIT_CARD: it is in the first or the last layer
  uint32_t rule;      // UNIT_CARD: its kind in the rules of the layout
  uint32_t block;     // blocks are stacked in the order of their numbers
  uint32_t own;       // its number in what is drawn
  const GroupOf *said;
  uint32_t owner;       // + 1: the unit that reads it; 0: itself. Of plates, guards and choices
  double width, height; // input; of a card also output
  double x, y;          // output: the upper left corner in the panel
  uint32_t layer;       // output, or input if the panel has layers
} Unit;

typedef struct { // the label at the end of a cable
  const char *name, *inner;
  bool frozen; // with a snowflake
  Ink ink;
  double width, x, y; // width: 0: no label; output: its centre, and the height of its line
} CableLabel;

typedef struct {
  bool dashed;
  bool peer;   // it does not constrain layers
  bool shared; // undirected; its only dot is the variable
  Ink ink;     // 0: the default
  Paint paint; // its line, otherwise by the three above
  VEC(Paint) band;
  double less;       // its line ends this far from its units
  uint32_t head;     // + 1: the unit at which it has an arrowhead
  bool turned;       // it runs from its target to its source
  uint32_t group;    // + 1: at ends of rows, cables of a group are one
  uint32_t own;      // its number in what is drawn
  const char *label; // its name where a row is broken; NULL: none
  CableLabel tag;
  const char *words;
  const GroupOf *said;
  bool routed;  // its source position is that of a route
  CableWay way; // output
} Cable;

typedef struct { // a kind of panels
  const LayerRules *rules;
  double nearer; // instead of that of the rules; 0: none
  double corner; // radius of the corners of cables
  bool framed;   // the first and the last layer are its border, also in rows
  bool layered;  // the layers of its units are given
  bool lanes;    // cables between rows run in lanes
  double gap;    // between rows
  bool loose;    // in rows, units of the border are not on a common frame
  // The unit at which cables leave or enter a row; NULL: lanes
  Unit (*end)(const Panel *, const LayerEnd *);
} PanelKind;

struct Panel {
  Arena *arena;
  const PanelKind *kind;
  const char *name, *of, *count, *words;
  bool shares; // its ports are undirected
  bool bare;   // without frame
  bool graph;  // of modes: its ports are not connected
  uint32_t depth;
  Ink ink, edge; // 0: the default
  const GroupOf *said;
  VEC(Unit) unit;
  VEC(Cable) cable;
  double title;         // its width
  double width, height; // out
};

extern const PanelKind wiring_kind, modes_kind; // panel_lay.c

// panel.c
uint32_t panel_add(Panel *, Unit);
uint32_t panel_cable(Panel *, Cable);
// Connects a cable to a pin; right: on the right side, as its source
void panel_tie(Panel *, uint32_t cable, uint32_t unit, uint32_t pin, bool right);
// The same with a new pin.
void panel_plug(Panel *, uint32_t cable, uint32_t unit, bool right);
// A cable between two units, with new pins.
uint32_t panel_join(Panel *, uint32_t from, uint32_t to, Cable);
void panel_finish(Panel *); // measures and lays out a panel with all units and cables

// panel_units.c
// Computes width, height and heights of pins; outside: port names are outside.
void unit_measure(Unit *, bool outside);

// panel_lay.c
void panel_lay(Panel *); // positions and lines
// Breaks a laid out panel into rows if it is wider.
void panel_rows(Panel *, double width);

// panel_paint.c
void panel_title(Panel *); // measures the title
void panel_paint(Canvas *, const Panel *, double x, double y, const char *path);
double panel_left(const Panel *), panel_right(const Panel *); // space needed outside of it
double panel_outside(const Panel *);                          // both sides, and the margins
Canvas *panel_draw(Arena *, const Panel *, const char *title, const char *about);
void panel_stubs(Canvas *, const Panel *, double x, double y);

// panel_lines.c
void small_head(Canvas *, double x, double y, double dx, double dy, Ink); // an arrowhead

// card.c
void card_measure(Unit *);
void card_paint(Canvas *, const Unit *, double x, double y);

#endif
