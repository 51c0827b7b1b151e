// Private to simulate: a program whose runs are followed, and others who follow some of them.
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
  uint32_t running;           // its number
  double first, begun, drawn; // the first run began, this one; when progress was told
  Arrays weights;
  const char *file;
  const char *before; // a folder of runs that these go on with; or NULL
  uint64_t program;   // its hash
  Outcome end;        // where it is not the program that is wrong
  Crew *crew;
  RunFolder *folder; // NULL: not yet
} Ran;

// simulate.c
bool ran_follow(Ran *, uint32_t run, Followed *, double *seconds);
void ran_redraw(Ran *, double part);
bool ran_stops(const Ran *);                   // somebody asks for it, or its time is over
void messages_apart(Diags *, uint32_t *since); // `since` is to be put back

// crew.c: runs side by side
Crew *crew_new(Ran *, const SimHelpers *); // helpers NULL: it is alone
void crew_ask(Ran *);                      // for helpers, once it is worth it
bool crew_follow(Ran *, uint32_t run, Followed *, double *seconds); // who ever does it
void crew_at(Crew *, uint32_t run, double part);
// How many runs there are, 0: nobody helps; how many are done, and the part of all that is.
uint32_t crew_progress(const Crew *, double *part, uint32_t *done);
void crew_end(Crew *);
void crew_quit(Crew *);
const volatile sig_atomic_t *crew_stop(const Crew *); // not 0: it quits

#endif
