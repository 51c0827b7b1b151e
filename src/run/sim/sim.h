// sim: simulates systems, and evaluates checks of them.
//
//   Followed f;
//   if (follow_run(in, program, run, &how, &f)) … f.record, f.watch …
//   verify_check(in, program, check, &f, &how, &verdict);
//
// A run is compiled like a training step: ticks are a scan of the system's diagram; rates are a
// diagram that a solver evaluates. The result is a SimRecord: values for each moment.
#ifndef LIMN_RUN_SIM_SIM_H
#define LIMN_RUN_SIM_SIM_H

#include "lang/program/claim.h"
#include "run/engine/engine.h"
#include "run/solve/solve.h"

#include <signal.h>

typedef struct {
  const char *name; // a port, a state, or a shown expression
  Base base;
  Id names;         // of labels: World.label_names, or 0
  const char *unit; // m/s; or NULL
  uint32_t rank;
  int64_t *shape, cells; // of one moment
  VEC(double) value;     // [moments cells]
} SimChannel;

typedef struct {
  double time;
  const char *path; // path of the part: row[0].ball[2]; "" for the system itself
  const char *what; // the mode it jumps to, the state that is set, `born`, `died`
  uint32_t which;   // index among all guards; not set if it was read from a file
  uint32_t place;   // the only element set in the part's state, + 1; 0: all, or several
} LoggedEvent;

typedef struct {
  const System *system;
  bool flows;              // in continuous time; otherwise times are ticks
  VEC(double) time;        // [moments]
  VEC(SimChannel) channel; // observables in the order of system_sights; then shown expressions
  uint32_t sights;         // number of observables; too large ones have no values
  VEC(LoggedEvent) events_logged;
  uint64_t steps; // ticks, or steps of the solver
  double reached; // the last time or tick; after the last recorded moment if the run was
                  // interrupted
  bool halted;    // the system stopped at the last moment
} SimRecord;

// Does the table of the run exist with all columns? True if the run has none.
bool run_has_table(Elab *, Program *, uint32_t run);

// The channels of a run's record, without moments.
void record_channels(World *, const Program *, uint32_t run, SimRecord *);

typedef struct {
  const Arrays *arrays; // NULL: none
  const char *file;     // for messages
} SavedRun;

typedef struct {
  uint64_t seed;         // of noise
  uint64_t initial_seed; // of initial weights and constants
  uint32_t threads;
  bool reference;
  struct Device *device; // GPU for systems in discrete time; NULL: the CPU
  // Saved runs, by index. save: stores the state of a run; saved: gives the stored state of this
  // run; before: gives the final state of the run that this one continues. Or NULL.
  bool (*save)(void *context, uint32_t run, const Arrays *);
  bool (*saved)(void *context, uint32_t run, SavedRun *);
  bool (*before)(void *context, uint32_t run, SavedRun *);
  bool (*begin)(void *context, Store *); // sets states that another run left; or NULL
  bool (*fill)(void *context, Store *);  // then sets trained weights; or NULL
  void *context;
  void (*progress)(void *context, double part); // 0 to 1; or NULL
  void (*say)(void *context, const char *text); // reports a long operation; or NULL
  const volatile sig_atomic_t *stop;            // nonzero: stop soon; or NULL
} SimOptions;

typedef struct {
  SimRecord record;
  double **watch; // [check][watch] values, for the checks that refer to this run
  double **lost;  // [check][watch] above 0: the time after which the value could not be watched,
                  // because it bends or jumps too often
  bool stopped;
} Followed;

// False with a diagnostic. `number`: index of the run in the program.
bool follow_run(Elab *, Program *, uint32_t number, const SimOptions *, Followed *);
// Copies the results of the same run in another world.
void followed_copy(World *, const Program *, uint32_t run, const Followed *from, Followed *to);

typedef struct {
  bool holds;
  const char *figure; // the result in words: "20.9146048 (off by 3e-10)"
} Verdict;
// `followed`: [run], for checks that refer to a run. False with a diagnostic.
bool verify_check(Elab *, Program *, uint32_t number, const Followed *followed, const SimOptions *,
                  Verdict *);

#endif
