// Private to simulate: a program whose runs are simulated, and helpers.
#ifndef LIMN_RUN_SIM_SIMULATE_OWN_H
#define LIMN_RUN_SIM_SIMULATE_OWN_H

#include "run/sim/simulate.h"

typedef struct Crew Crew;

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
  Crew *crew;
  RunFolder *folder; // NULL: not made yet
} Ran;

// simulate.c
bool ran_follow(Ran *, uint32_t run, Followed *, double *seconds);
void ran_redraw(Ran *, double part);
bool ran_stops(const Ran *);                   // interrupted, or out of time
void diags_separate(Diags *, uint32_t *since); // `since` must be restored

// helpers.c: runs in parallel
Crew *crew_new(Ran *, const SimHelpers *); // helpers NULL: none
void crew_start_helpers(Ran *);            // starts helpers if it is worthwhile
// Simulates it, or waits for its helper.
bool crew_follow(Ran *, uint32_t run, Followed *, double *seconds);
void crew_at(Crew *, uint32_t run, double part);
// Number of runs, 0: no helpers; how many are done, and the total progress.
uint32_t crew_progress(const Crew *, double *part, uint32_t *done);
void crew_end(Crew *);
void crew_quit(Crew *);
const volatile sig_atomic_t *crew_stop(const Crew *); // nonzero: stop

#endif
