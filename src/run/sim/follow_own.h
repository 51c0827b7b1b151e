// Private to sim: a run in time that flows, while it is followed.
#ifndef LIMN_RUN_SIM_FOLLOW_OWN_H
#define LIMN_RUN_SIM_FOLLOW_OWN_H

#include "run/sim/flow_own.h"
#include "run/sim/saved_own.h"

typedef struct {
  Sim *m;
  Followed *f;
  Flow *flow;
  Solver *solver;
  Engine *look; // what is kept, shown and watched
  SightList see;
  uint32_t shows; // those that are kept or shown come first, then those that checks watch
  Watchers watchers;
  double *x, *row;
  VEC(double) rounds;     // [round][watcher] between two rounds of this moment
  double *before, *after; // what does not flow, around an event
  int64_t held;
  bool keeps;      // false: only the watchers are interested
  bool watches;    // some watcher wants more than ends of steps
  double *points;  // [deep][WATCH_POINTS + 1][watcher] in a piece of a step, the last at the probe
  bool *open;      // [deep][watcher] it has not seen the piece around that one
  double *longest; // [watcher] no piece may be longer
  uint64_t looks_most;  // of a watcher, at pieces that are not enough
  uint32_t number;      // of the run
  uint32_t errors;      // there were when it began: others' runs have failed before
  const SavedRun *from; // where it goes on; without arrays: it begins
  bool resumed;         // that is this very run
  const char *law;      // what says how the states move, as a hash; NULL: nobody asks
  bool changed;         // it was another one where this run goes on
  bool solved;          // there is a solver that goes on, in what is left of `carry`
  Carry carry;
  double time;     // the moment that it begins or goes on from
  double begun;    // 0, or where the run ended that this one goes on with: what was before has been
                   // seen by that one
  bool seen;       // it has come that far
  double reached;  // time so far
  uint64_t moment; // the next one that is kept
  uint64_t steps;  // fixed ones, compiled as a whole: made so far, from time 0 on
  bool limited;    // the end of the run had a say in how long a step is
  bool over;       // it has come to its end
  const char *note, *unsure; // of the solver
  Arena *shot;               // how all was before the step that the end may have a say in; or NULL
  Arrays shot_all;
  SaveClock clock;
} Following;

// edge_look.c: what is looked at, as it is at most a hair before this moment, where it is finite and
// comes to rest. False: it does not, or is finite nowhere there.
bool edge_look(Following *, double t, const double *x, double hair);

// follow.c: what is seen at a moment; false with a diagnostic. Then one of what watchers want.
bool follow_look(Following *, double t, const double *x);
double follow_watched(const Following *, uint32_t watcher);

// watching.c
void watching_open(Following *);
bool watching_step(Following *, double from, double to); // false with a diagnostic

// flow_state.c: everything that a run needs to go on, bit for bit. False with a diagnostic.
// This very run as it was saved, and one that it begins behind; without arrays: there is none.
bool follow_from(Sim *, uint32_t number, SavedRun *saved, SavedRun *before);
bool follow_saved_twice(Sim *, const SavedRun *saved); // was it saved in its second turn?
bool follow_usual_step(Sim *, const SavedRun *);       // of noise, as it was there
bool follow_restore(Following *);                      // all but the solver
bool follow_restore_solver(Following *);
void follow_shot(Following *); // keeps how it is now
bool follow_save(Following *);
bool follow_save_now(Following *); // now and then

#endif
