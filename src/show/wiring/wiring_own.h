// Private to the pictures of wirings.
//
//   wiring.c        a system ─► a panel: units with pins, and cables between them; the whole
//   wiring_shared.c shared variables: on which side of its parts each is
//   wiring_text.c   expressions as text, texts that are cut, sentences
//   wiring_lines.c  what a machine says: its lines, its states
//   wiring_legend.c which constants and options its lines name
//   wiring_modes.c  a machine with modes: its modes, and the jumps between them
//   wiring_lay.c    a panel is laid out, in rows where it is wide (layers.h)
//   wiring_paint.c  a panel on a canvas
//   wiring_driven.c what runs and what it stands on, as one wiring
//   wiring_unfold.c a network from left to right, and the same from inside to outside
//   wiring_times.c  a wiring at several moments, side by side or one after the other
#ifndef LIMN_SHOW_WIRING_WIRING_OWN_H
#define LIMN_SHOW_WIRING_WIRING_OWN_H

#include "lang/machine/machine.h"
#include "show/layout/layers.h"
#include "show/wiring/wiring.h"

enum {
  PIN_PITCH = 18,   // between pins of one side
  PORT_SIZE = 10,   // letters of the names of ports,
  TYPE_SIZE = 9,    // of types,
  KIND_SIZE = 12,   // of the names of machines,
  TITLE_SIZE = 13,  // of wirings,
  WORD_SIZE = 11,   // of formulas, guards, modes
  LIFT = 6,         // how far a stack of sheets reaches up and to the right
  STUB = 22,        // what sticks out of the outermost panel
  MODE_INSET = 160, // about what stands beside a mode in another, or a panel,
  PANEL_INSET = 60, // and what does at least
};

typedef enum {
  UNIT_BOX,    // a part that is closed
  UNIT_PANEL,  // a part that is opened
  UNIT_PLATE,  // what a wire computes
  UNIT_GUARD,  // a wire with a label above it
  UNIT_CHOICE, // several guarded wires become one
  UNIT_SHARED, // a shared variable
  UNIT_STATE,  // a state of the wiring itself
  UNIT_IN,     // a port of the panel itself: at its left edge
  UNIT_OUT,    // at its right edge
  UNIT_LEAVES, // here a cable goes on in another row,
  UNIT_ENTERS, // here it comes from another
  UNIT_START,  // a dot that leads to the first mode
} UnitKind;

typedef struct {
  uint32_t cable; // + 1; 0: nothing is there
  double y;       // from the top of the unit
  const char *name, *type, *words;
  bool ring;           // it is open in some modes only
  bool weak;           // what it says about layers gives way to all else
  bool goes_on;        // of a mode: the arrow does, to a mode in it or from one
  Ink ink;             // of what sticks out there; 0: the default
  const GroupOf *said; // where the program says it, as of units, cables and panels; or NULL
} Pin;
typedef VEC(Pin) Pins;

typedef struct Panel Panel;
typedef VEC(const char *) TextLines;

typedef struct {
  UnitKind kind;
  const char *name, *of, *text; // of: its machine; text: a formula, a guard
  const char *count;            // × 3; NULL: it is not an array
  const char *words;            // for a reader
  VEC(const char *) mode;
  TextLines line;     // what it says, below everything else; of a plate: all of it
  Pins in, out;       // at its left and its right side
  bool state;         // it has a state
  bool unnamed;       // its name is in no text: what shares variables has none
  bool learns;        // UNIT_STATE
  bool dashed;        // UNIT_GUARD: its line is; UNIT_BOX: it is there once more
  bool graph;         // a mode: what comes in has arrowheads
  bool stops;         // a mode in which nothing changes any more
  bool behind;        // UNIT_GUARD: it belongs to the unit before it
  uint32_t shared[2]; // pins of its lines without direction, at the left and at the right, + 1
  Ink ink;            // 0: the default
  Panel *inner;       // UNIT_PANEL
  const GroupOf *said;
  uint32_t owner; // a plate, a guard or a choice: the unit that gets its value; otherwise itself
  double width, height; // in
  double x, y;          // out: the left upper corner in the panel,
  uint32_t layer;       // and the layer
} Unit;

typedef struct {
  bool dashed;
  bool peer;         // it says nothing about layers
  bool shared;       // it has no direction, and its only dot is the variable itself
  Ink ink;           // 0: the default
  const char *label; // what it is called where it is cut; NULL: it has no name
  const char *words;
  const GroupOf *said;
  bool routed;  // it is said where a route has it
  CableWay way; // out
} Cable;

struct Panel {
  const char *name, *of, *count, *words;
  bool shares; // its ports have no direction
  bool bare;   // it has no frame
  bool graph;  // of modes: its ports are wired to nothing
  uint32_t depth;
  Ink ink, edge; // 0: the default
  const GroupOf *said;
  VEC(Unit) unit;
  VEC(Cable) cable;
  double title;         // its width
  double width, height; // out
};

// wiring_text.c
const char *text_cut(Arena *, Face, double size, const char *text, double width);
typedef struct {
  Face face;
  double size, width;
  uint32_t most; // lines
} PlateText;
// A text in lines that are narrow enough; the last one is cut where there would be too many.
void text_lines(Arena *, const PlateText *, const char *text, TextLines *);
// An expression of a wiring, as a program has it
const char *node_text(World *, Arena *, const System *, const Syntax *);
bool node_is_place(const Syntax *); // x, p.x, x[i]: nothing is computed
// [0]: numbers of a place; NULL: it has none
const char *node_index(World *, Arena *, const System *, const Syntax *);
const char *unit_words(Arena *, const Unit *);
const char *panel_about(Arena *, const Panel *);

// wiring_lines.c
const char *short_numbers(Arena *, const char *); // 1000000000 as 1e9: nobody counts so many zeros
const char *system_title(World *, Arena *, const System *); // "Gain (2)"
Nodes system_statements(const System *);                    // none: its text is not known
void system_lines(World *, Arena *, const System *, TextLines *);
// How a state of its own begins and goes on, "= 0.1, by gd(0.05)"; whole: also on what, and `next`
const char *state_text(World *, Arena *, const System *, Name, bool whole);
const char *unrolls_text(World *, Arena *, const System *); // unroll 4; NULL: it does not

// wiring_legend.c: of what is opened; lines: machines in it show theirs too
void wiring_legend(Canvas *, World *, Arena *, const System *, uint32_t levels, bool lines);

// wiring.c
void panel_finish(Arena *, Panel *); // after its units and cables: it is measured and laid out

// wiring_modes.c
// Modes in it that are wider are cut into rows; 0: none are. NULL: it has no modes
Panel *modes_panel(World *, Arena *, const System *, double width, const char **about);
// Those of a wiring, in its picture, with so many ports at its sides
Panel *modes_inside(World *, Arena *, const System *, uint32_t depth, const uint32_t ports[2]);

// wiring_shared.c
typedef struct {
  bool **right; // [part][port] it is at the right side of its part; NULL: the part does not share
  bool *out;    // [port] it is at the right edge of the panel
} Sides;
// asked: [port] the sides that what holds it wants; NULL: none
Sides shared_sides(Arena *, const System *, const bool *asked);

// wiring_lay.c
void panel_lay(Arena *, Panel *); // places and lines
void panel_rows(Arena *, Panel *,
                double width); // of one that has places: where it is wider than that
// Ties a cable to a pin; right: at the right side, so that it comes from there
void panel_tie(Panel *, uint32_t cable, uint32_t unit, uint32_t pin, bool right);

// wiring_paint.c
void panel_paint(Canvas *, Arena *, const Panel *, double x, double y, const char *path);
double panel_left(const Panel *), panel_right(const Panel *); // what stands outside of it
double panel_outside(const Panel *);                          // of both sides, and the margins
Canvas *panel_draw(Arena *, const Panel *, const char *title, const char *about);
void panel_title(Panel *); // how wide it is
void panel_stubs(Canvas *, const Panel *, double x, double y);
void small_head(Canvas *, double x, double y, double dx, double dy, Ink); // of an arrow
// Its width, its height and the heights of its pins; outside: names of ports are outside.
void unit_measure(Unit *, bool outside);

#endif
