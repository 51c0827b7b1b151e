// Private to sim: the saved state that all runs share.
#ifndef LIMN_RUN_SIM_SAVED_OWN_H
#define LIMN_RUN_SIM_SAVED_OWN_H

#include "run/sim/watchers_own.h"

typedef VEC(double) SavedRow;

void saved_row(Arena *, Arrays *, const char *name, double *data, int64_t n);
void saved_states(Arena *, Arrays *, const Sim *);
void saved_seen(Arena *, Arrays *, SimRecord *, Watchers *);

uint64_t saved_number(const SavedRun *,
                      const char *key); // of the metadata; 0 where it is not there
// False with a diagnostic; saved_row_read without: the row is missing.
// moment: prefix of the names; or ""
bool saved_states_read(const Sim *, const SavedRun *, const char *moment);
void saved_starts(const Sim *, const SavedRun *); // warns if the run gives other initial values
bool saved_row_read(Arena *, const SavedRun *, const char *name, SavedRow *);
bool saved_seen_read(const Sim *, const SavedRun *, SimRecord *, Watchers *);
// Hashes all inputs: constants, ports, and n rows of a table; or NULL.
uint64_t saved_inputs(const Sim *, uint64_t hash, const bool *rows, double *const *table,
                      int64_t n);
// Reports that the inputs differ; the program does not, since that was checked before. Always
// false.
bool saved_refuse_inputs(const Sim *, const SavedRun *);
bool saved_refuse_other(const Sim *,
                        const SavedRun *); // reports that it belongs to another run; always false
bool saved_has_ended(const Sim *, const SavedRun *); // has it reached its end? With a diagnostic

// Saving takes at most a twentieth of the time.
typedef struct {
  double last, begun, took;
} SaveClock;
bool saved_due(SaveClock *); // the caller then saves and calls saved_done
void saved_done(SaveClock *);

#endif
