// wiring: pictures of machines and wirings, also over time.
#ifndef LIMN_SHOW_WIRING_WIRING_H
#define LIMN_SHOW_WIRING_WIRING_H

#include "lang/machine/machine.h"
#include "show/canvas/canvas.h"

// wiring.c: a machine, or a wiring with its parts
typedef struct {
  uint32_t depth; // levels to open; 1: its own parts; 0: as many as stay readable
  double width;   // of a row; 0: the default; negative: a single row
  bool no_legend; // omit the legend
  bool unfold;    // as an unfolded network
  bool runs;      // as in the last run: with its options and source
} WiringOptions;
Canvas *wiring_draw(World *, Arena *, const System *, const WiringOptions *);
// A network from left to right, and the same nested. NULL: it is no network, since parts form a
// cycle or nothing leaves it.
Canvas *wiring_unfold_draw(World *, Arena *, const System *);

// wiring_driven.c: the wiring of `run Student on World`, for pictures. NULL: they share variables
System *system_driven(World *, Arena *, const System *, const System *source);

// wiring_times.c: the strength of connections at several moments
typedef struct {
  const char *title;
  uint32_t parts, moments;
  const char *const *name; // [parts]
  const char *const *when; // [moments] "t = 500"; NULL: numbered
  const double *weight;    // [moments parts parts] at i j: the weight of j's output for i
  const double *value;     // [moments parts] shown in the parts; NULL: nothing
  double least;            // weights below this share of the largest are omitted; 0: 0.02
} WiringTimes;
Canvas *wiring_strip_draw(Arena *, const WiringTimes *); // side by side
// An animated SVG without scripts. Readers without animation show the last moment.
void wiring_animated(Arena *, const WiringTimes *, const Look *, Buf *);

// first_run.c: a machine or a wiring of a program
Canvas *machine_draw(Elab *, Arena *, Program *, const char *name, const WiringOptions *);
bool machine_known(Elab *, const Program *, const char *name);
// Of the last run; without runs, the last wiring or machine. NULL: none.
const char *machine_last(World *, const Program *);

#endif
