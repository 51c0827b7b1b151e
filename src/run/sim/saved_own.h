// Private to sim: what every run leaves for those that go on with it.
#ifndef LIMN_RUN_SIM_SAVED_OWN_H
#define LIMN_RUN_SIM_SAVED_OWN_H

#include "run/sim/watch_own.h"

typedef VEC(double) SavedRow;

void saved_row(Arena *, Arrays *, const char *name, double *data, int64_t n);
void saved_states(Arena *, Arrays *, const Sim *);
void saved_seen(Arena *, Arrays *, SimRecord *, Watchers *);

uint64_t saved_number(const SavedRun *,
                      const char *key); // of the metadata; 0 where it is not there
// False: with a diagnostic; saved_row_read: it is not there.
// moment: in front of all names; or ""
bool saved_states_read(const Sim *, const SavedRun *, const char *moment);
void saved_starts(const Sim *, const SavedRun *); // a warning where the run says other ones
bool saved_row_read(Arena *, const SavedRun *, const char *name, SavedRow *);
bool saved_seen_read(const Sim *, const SavedRun *, SimRecord *, Watchers *);
// Of all that comes from outside: constants, ports, and n rows of those that a table moves; or NULL.
uint64_t saved_inputs(const Sim *, uint64_t hash, const bool *rows, double *const *table,
                      int64_t n);
// They are others, and the program is the same, or that would have been said before: always false.
bool saved_elsewhere(const Sim *, const SavedRun *);
bool saved_strange(const Sim *, const SavedRun *); // it is of another run: always false
bool saved_stopped(const Sim *, const SavedRun *); // it has come to its end, and that was said

// Now and then what is done is saved; never for more than a twentieth of the time.
typedef struct {
  double last, begun, took;
} SaveClock;
bool saved_due(SaveClock *); // then it is saved, and saved_done is called
void saved_done(SaveClock *);

#endif
