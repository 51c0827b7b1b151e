// Private to sim: numbers that a whole run gives, found while it runs.
#ifndef LIMN_RUN_SIM_WATCH_OWN_H
#define LIMN_RUN_SIM_WATCH_OWN_H

#include "run/sim/sim_own.h"

enum { WATCH_POINTS = 5 }; // looked at in a step, its ends included

typedef struct {
  const Watch *watch;
  double *out;                         // where its number goes
  double *out_lost;                    // and until when it was followed
  double first, last, high, low, peak; // so far
  double area, from, to;               // for averages
  double settled;                      // when it changed for the last time
  double level, half;                  // periods: the middle; from when on they count
  double cross_first, cross_last;      // the times between which they are counted
  double found;
  double lost; // from then on it could not be followed; 0: it could
  uint64_t moments, crossings, periods, looks;
} Watcher;
typedef VEC(Watcher) Watchers;

// record.c: what is looked at in a run: what is kept, what is shown of it, what is watched.
SightList record_sights(const Sim *, uint32_t number, const SimRecord *, const Watchers *);
// The channel of the i-th of them, watchers aside.
uint32_t sight_channel(const SightList *, const SimRecord *, uint32_t i);

typedef double Glancing(void *context, double t);
// Those of the checks that refer to this run; makes room for their numbers.
void watchers_find(Sim *, uint32_t number, Followed *, Watchers *);
void watcher_moment(Watcher *, double t, double x); // the start, or what an event has made of it
void watcher_tick(Watcher *, double t, double x);   // a moment that counts for one tick
void watcher_step(Watcher *, double from, double to, const double *x, Glancing *, void *context);
// The end of a run, with the value that rounding may have set a few digits behind it.
void watcher_behind(Watcher *, double end, double x);
void watcher_again(Watcher *, double half); // once more, knowing what the first run found
void watcher_end(Watcher *);

#endif
