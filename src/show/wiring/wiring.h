// wiring: pictures of machines and of wirings, also over time.
#ifndef LIMN_SHOW_WIRING_WIRING_H
#define LIMN_SHOW_WIRING_WIRING_H

#include "lang/machine/machine.h"
#include "show/canvas/canvas.h"

// wiring.c: a machine, or a wiring with its parts
typedef struct {
  uint32_t depth; // levels that are opened; 1: its own; 0: as many as can be read
  double width;   // of a row; 0: the default; negative: everything is one row
  bool no_legend; // without what constants and options are
  bool unfold;    // as a network, and unfolded
  bool runs;      // as the last run has it: with its options, and what it stands on
} WiringOptions;
Canvas *wiring_draw(World *, Arena *, const System *, const WiringOptions *);
// A network from left to right, and the same from inside to outside. NULL: it is none, since parts
// hear each other in a cycle, or nothing leaves it.
Canvas *wiring_unfold_draw(World *, Arena *, const System *);

// wiring_driven.c: `run Student on World` as a wiring of both, for pictures. NULL: they share variables
System *system_driven(World *, Arena *, const System *, const System *source);

// wiring_times.c: which part hears which, and how much, at several moments
typedef struct {
  const char *title;
  uint32_t parts, moments;
  const char *const *name; // [parts]
  const char *const *when; // [moments] "t = 500"; NULL: they are numbered
  const double *weight;    // [moments parts parts] at i j: how much i hears j
  const double *value;     // [moments parts] shown in the parts; NULL: nothing is
  double least;            // a weight below this share of the largest is not a wire; 0: 0.02
} WiringTimes;
Canvas *wiring_strip_draw(Arena *, const WiringTimes *); // the moments side by side
// One SVG that goes through the moments, without script. Where nothing can move it is the last one.
void wiring_animated(Arena *, const WiringTimes *, const Look *, Buf *);

// first_run.c: a machine or a wiring of a program
Canvas *machine_draw(Elab *, Arena *, Program *, const char *name, const WiringOptions *);
bool machine_known(Elab *, const Program *, const char *name);
// Of the last run; without any, the last wiring, or machine. NULL: there is none.
const char *machine_last(World *, const Program *);

#endif
