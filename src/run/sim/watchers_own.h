// Private to sim: values of a whole run, computed while it runs.
#ifndef LIMN_RUN_SIM_WATCHERS_OWN_H
#define LIMN_RUN_SIM_WATCHERS_OWN_H

#include "run/sim/sim_own.h"

enum { WATCH_POINTS = 5 }; // samples of a step, including its ends

typedef struct {
  const Watch *watch;
  double *out;                         // where the value is stored
  double *out_lost;                    // the time up to which it could be watched
  double first, last, high, low, peak; // so far
  double area, from, to;               // for averages
  double settled;                      // time of the last change
  double level, half;                  // for periods: the middle, and the time from which they
                                       // count
  double cross_first, cross_last;      // first and last crossing
  double found;
  // From this time on it could not be watched; 0: always; -(t + 1): at tick t it is not a number.
  double lost;
  uint64_t moments, crossings, periods, looks;
} Watcher;
typedef VEC(Watcher) Watchers;

// record.c: the observed values of a run: recorded, shown, and watched.
SightList record_sights(const Sim *, uint32_t number, const SimRecord *, const Watchers *);
// The channel of the i-th of these, without watched ones.
uint32_t sight_channel(const SightList *, const SimRecord *, uint32_t i);

typedef double Glancing(void *context, double t);
// The watchers of the checks that refer to this run; allocates their results.
void watchers_find(Sim *, uint32_t number, Followed *, Watchers *);
void watcher_moment(Watcher *, double t, double x); // the start, or the values after an event
void watcher_tick(Watcher *, double t, double x);   // a moment that counts as one tick
void watcher_step(Watcher *, double from, double to, const double *x, Glancing *, void *context);
// The end of a run, with a value that rounding may have moved slightly after it.
void watcher_end_of_run(Watcher *, double end, double x);
void watcher_second_pass(Watcher *, double half); // second pass, with the results of the first
void watcher_end(Watcher *);

#endif
