// Private to simulate: a program whose runs are simulated, and helpers.
#ifndef LIMN_RUN_SIM_SIMULATE_OWN_H
#define LIMN_RUN_SIM_SIMULATE_OWN_H

#include "run/sim/simulate.h"

typedef struct Helpers Helpers;

typedef struct {
  Elab *in;
  Program *p;
  Results *results;
  World *w;
  const LimnRun *how;
  SimOptions time;
  Followed *followed;         // [run]
  uint32_t running;           // index of the present run
  double first, begun, drawn; // start of the first run, of this run; last redraw
  Arrays weights;
  const char *file;
  const char *before; // a folder of runs that these continue; or NULL
  uint64_t program;   // hash of the program
  Outcome end;        // outcome, if the program is not to blame
  Helpers *helpers;
  RunFolder *folder; // NULL: not made yet
} Simulation;

// simulate.c
bool simulation_run(Simulation *, uint32_t run, Followed *, double *seconds);
void simulation_redraw(Simulation *, double part);
bool simulation_stops(const Simulation *);     // interrupted, or out of time
void diags_separate(Diags *, uint32_t *since); // `since` must be restored

// result_names.c
void results_name_files(Results *);                        // gives each run its `file`
void results_file_names(const Results *, FolderNames *to); // all files that the runs may write

// helpers.c: runs in parallel
Helpers *helpers_new(Simulation *, const SimHelpers *); // helpers NULL: none
void helpers_start(Simulation *);                       // starts helpers if it is worthwhile
// Simulates it, or waits for its helper.
bool helpers_run(Simulation *, uint32_t run, Followed *, double *seconds);
void helpers_note_progress(Helpers *, uint32_t run, double part);
// Number of runs, 0: no helpers; how many are done, and the total progress.
uint32_t helpers_progress(const Helpers *, double *part, uint32_t *done);
void helpers_end(Helpers *);
void helpers_quit(Helpers *);
const volatile sig_atomic_t *helpers_stop(const Helpers *); // nonzero: stop

#endif
