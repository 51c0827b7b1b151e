// Private to sim: a run by ticks, while it is followed.
#ifndef LIMN_RUN_SIM_TICKS_OWN_H
#define LIMN_RUN_SIM_TICKS_OWN_H

#include "run/sim/saved_own.h"

typedef struct {
  Sim *m;
  Followed *f;
  bool *rows; // [in-port] it has a row of values
  double **table;
  const char *inputs; // what comes from outside, as a hash
  SightList see;
  uint32_t shows; // those that are kept or shown come first, then those that checks watch
  uint64_t begun; // ticks of the run that this one goes on with
  uint64_t done, ticks, every; // done, ticks: those are counted too
  Watchers watchers;
  SavedRow *history; // [watcher] what it saw, for periods
  uint64_t clash;    // the tick at which two lines set one place to different values
  bool bad;          // a number that was looked at is not finite
} Ticking;

// tick_state.c: everything that a run by ticks needs to go on, bit for bit
bool ticks_save(const Ticking *, uint32_t number); // false with a diagnostic
bool ticks_begin(Ticking *, uint32_t number); // where it begins: anew, or where another one ended
bool ticks_go_on(Ticking *, uint32_t number); // where it was saved, if it was

#endif
