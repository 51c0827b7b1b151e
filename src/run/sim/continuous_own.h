// Private to sim: a run in continuous time.
#ifndef LIMN_RUN_SIM_CONTINUOUS_OWN_H
#define LIMN_RUN_SIM_CONTINUOUS_OWN_H

#include "run/sim/rates_own.h"
#include "run/sim/saved_own.h"

typedef struct {
  Sim *m;
  Followed *f;
  Flow *flow;
  Solver *solver;
  Engine *observer; // computes recorded, shown and watched values
  SightList see;
  uint32_t shows; // recorded and shown values come first, then those of checks
  Watchers watchers;
  double *x, *row;
  VEC(double) rounds;     // [round][watcher] values between rounds of events of this moment
  double *before, *after; // states without rates, before and after an event
  int64_t held;
  bool records;    // false: values are watched but not recorded
  bool watches;    // some watcher needs more than the ends of steps
  double *points;  // [depth][WATCH_POINTS + 1][watcher] samples of a piece of a step, the last at
                   // the probe
  bool *open;      // [depth][watcher] needs halves of the piece at this depth
  double *longest; // [watcher] longest piece that may be judged by its samples
  uint64_t looks_most;  // of a watcher, most halvings
  uint32_t number;      // index of the run
  uint32_t errors;      // number of errors when the run began: earlier runs may have failed
  const SavedRun *from; // the saved run that it continues; without arrays: none
  bool resumed;         // `from` is this run itself
  const char *dynamics; // hash of the dynamics; NULL: not needed
  bool changed;         // the dynamics differ from those of `from`
  bool solved;          // a solver is to be restored from the rest of the archive
  Archive archive;
  double time;     // the time at which it starts or continues
  double begun;    // 0, or the end of the run that it continues, which has observed all before
  bool seen;       // `begun` was observed
  double reached;  // present time
  uint64_t moment; // index of the next recorded moment
  uint64_t steps;  // compiled fixed steps so far, from time 0
  bool limited;    // the end of the run has shortened a step
  bool over;       // the end was reached
  const char *note, *unsure; // messages of the solver
  Arena *snapshot;           // snapshot before the first step that the end may shorten; or NULL
  Arrays snapshot_arrays;
  SaveClock clock;
} ContinuousRun;

// left_limit.c: observed values at most `hair` before this moment, if they are finite and converge.
// False: they do not.
bool left_limit(ContinuousRun *, double t, const double *x, double hair);

// continuous.c: evaluates observed values at a moment; false with a diagnostic. Then the value of one
// watcher. At the end of the last step, delayed values are those before a break there
// (OBSERVE_STEP) or those from it on (OBSERVE_MOMENT).
typedef enum { OBSERVE_STEP, OBSERVE_MOMENT } Observing;
bool follow_observe(ContinuousRun *, double t, const double *x, Observing);
double follow_observed(const ContinuousRun *, uint32_t watcher);

// watch_sampling.c
void watching_open(ContinuousRun *);
bool watching_step(ContinuousRun *, double from, double to); // false with a diagnostic

// continuous_state.c: saves and restores, bit for bit. False with a diagnostic.
// The saved state of this run, and that of the run it continues; without arrays: none.
bool follow_from(Sim *, uint32_t number, SavedRun *saved, SavedRun *before);
bool follow_saved_in_second_pass(Sim *, const SavedRun *saved); // was it saved in its second pass?
bool follow_saved_step(Sim *, const SavedRun *); // the step of noise, as in the saved run
bool follow_restore(ContinuousRun *);            // all but the solver
bool follow_restore_solver(ContinuousRun *);
void follow_take_snapshot(ContinuousRun *); // takes the snapshot
bool follow_save(ContinuousRun *);
bool follow_save_now(ContinuousRun *); // saves if it is due

#endif
