// Private to sim: a run in discrete time.
#ifndef LIMN_RUN_SIM_DISCRETE_OWN_H
#define LIMN_RUN_SIM_DISCRETE_OWN_H

#include "run/sim/saved_own.h"

typedef struct {
  Sim *m;
  Followed *f;
  bool *rows; // [in-port] has it a value for each tick?
  double **table;
  const char *inputs; // hash of the inputs
  SightList see;
  uint32_t shows;              // recorded and shown values come first, then those of checks
  uint64_t begun;              // ticks of the run that this one continues
  uint64_t done, ticks, every; // done, ticks: including `begun`
  Watchers watchers;
  SavedRow *history; // [watcher] its values, for periods
  uint64_t conflict; // the tick at which two lines conflict
  bool bad;          // an observed value is not finite
} DiscreteRun;

// discrete_state.c: saves and restores a run in discrete time, bit for bit
bool ticks_save(const DiscreteRun *, uint32_t number); // false with a diagnostic
bool ticks_begin(DiscreteRun *,
                 uint32_t number); // the start, or the end of the run that it continues
bool ticks_go_on(DiscreteRun *, uint32_t number); // the saved state of this run, if any

#endif
