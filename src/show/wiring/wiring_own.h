// Private to wiring: panels, units, pins and cables.
//
//   wiring.c        a system ─► a panel: units with pins, and cables between them; the whole
//   wiring_shared.c shared variables: the sides of their ports
//   wiring_text.c   expressions as text, truncated texts, descriptions
//   wiring_lines.c  the lines and states of a machine as text
//   wiring_legend.c constants and options named in lines
//   wiring_modes.c  a machine with modes, and the jumps between them
//   wiring_lay.c    lays out a panel, in rows if it is wide (layers.h)
//   wiring_paint.c  draws a panel
//   wiring_driven.c a system and its source as one wiring
//   wiring_unfold.c a network from left to right, and the same nested
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
typedef VEC(const char *) TextLines;

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
  const GroupOf *said;
  uint32_t owner;       // of plates, guards and choices: the unit that reads it; otherwise itself
  double width, height; // input
  double x, y;          // output: the upper left corner in the panel
  uint32_t layer;       // and the layer
} Unit;

typedef struct {
  bool dashed;
  bool peer;         // it does not constrain layers
  bool shared;       // undirected; its only dot is the variable
  Ink ink;           // 0: the default
  const char *label; // its name where a row is broken; NULL: none
  const char *words;
  const GroupOf *said;
  bool routed;  // its source position is that of a route
  CableWay way; // output
} Cable;

struct Panel {
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

// wiring_text.c
const char *text_cut(Arena *, Face, double size, const char *text, double width);
typedef struct {
  Face face;
  double size, width;
  uint32_t most; // lines
} PlateText;
// Wraps a text; the last line is truncated if there are too many.
void text_lines(Arena *, const PlateText *, const char *text, TextLines *);
// an expression as written in the program
const char *node_text(World *, Arena *, const System *, const Syntax *);
bool node_is_place(const Syntax *); // x, p.x, x[i]: a plain reference
// [0]: constant indices of a reference; NULL: none
const char *node_index(World *, Arena *, const System *, const Syntax *);
const char *unit_words(Arena *, const Unit *);
const char *panel_about(Arena *, const Panel *);

// wiring_lines.c
const char *short_numbers(Arena *, const char *);           // 1000000000 as 1e9
const char *system_title(World *, Arena *, const System *); // "Gain (2)"
Nodes system_statements(const System *);                    // empty: its source is unknown
void system_lines(World *, Arena *, const System *, TextLines *);
// The initial value and update of a state, "= 0.1, by gd(0.05)"; whole: also its loss, and `next`
const char *state_text(World *, Arena *, const System *, Name, bool whole);
const char *unrolls_text(World *, Arena *, const System *); // unroll 4; NULL: none

// wiring_legend.c: of opened systems; lines: with lines of machines
void wiring_legend(Canvas *, World *, Arena *, const System *, uint32_t levels, bool lines);

// wiring.c
void panel_finish(Arena *, Panel *); // measures and lays out a panel with all units and cables

// wiring_modes.c
// Wider modes are broken into rows; 0: never. NULL: there are no modes
Panel *modes_panel(World *, Arena *, const System *, double width, const char **about);
// Modes of a wiring, inside its picture, with ports on both sides
Panel *modes_inside(World *, Arena *, const System *, uint32_t depth, const uint32_t ports[2]);

// wiring_shared.c
typedef struct {
  bool **right; // [part][port] it is on the right side of its part; NULL: the part shares nothing
  bool *out;    // [port] it is on the right border of the panel
} Sides;
// asked: [port] sides preferred by the container; NULL: none
Sides shared_sides(Arena *, const System *, const bool *asked);

// wiring_lay.c
void panel_lay(Arena *, Panel *); // positions and lines
// Breaks a laid out panel into rows if it is wider.
void panel_rows(Arena *, Panel *, double width);
// Connects a cable to a pin; right: on the right side, as its source
void panel_tie(Panel *, uint32_t cable, uint32_t unit, uint32_t pin, bool right);

// wiring_paint.c
void panel_paint(Canvas *, Arena *, const Panel *, double x, double y, const char *path);
double panel_left(const Panel *), panel_right(const Panel *); // space needed outside of it
double panel_outside(const Panel *);                          // both sides, and the margins
Canvas *panel_draw(Arena *, const Panel *, const char *title, const char *about);
void panel_title(Panel *); // measures the title
void panel_stubs(Canvas *, const Panel *, double x, double y);
void small_head(Canvas *, double x, double y, double dx, double dy, Ink); // an arrowhead
// Computes width, height and heights of pins; outside: port names are outside.
void unit_measure(Unit *, bool outside);

#endif
