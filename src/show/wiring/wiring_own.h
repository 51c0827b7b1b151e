// Private to wiring: systems as panels.
//
//   wiring.c        a system ─► a panel: units with pins, and cables between them; the whole
//   wiring_shared.c shared variables: the sides of their ports
//   wiring_text.c   expressions as text, truncated texts, descriptions
//   wiring_lines.c  the lines and states of a machine as text
//   wiring_legend.c constants and options named in lines
//   wiring_modes.c  a machine with modes, and the jumps between them
//   wiring_driven.c a system and its source as one wiring
//   wiring_unfold.c a network from left to right, and the same nested
//   wiring_times.c  a wiring at several moments, side by side or one after the other
#ifndef LIMN_SHOW_WIRING_WIRING_OWN_H
#define LIMN_SHOW_WIRING_WIRING_OWN_H

#include "lang/machine/machine.h"
#include "show/panel/panel.h"
#include "show/wiring/wiring.h"

// wiring_text.c
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

#endif
