// time: systems followed through time, and what is claimed of them looked at.
//
//   Followed f;
//   if (follow_run(in, program, run, &how, &f)) … f.record, f.watch …
//   verify_check(in, program, check, &f, &how, &verdict);
//
// A run is compiled like a step of training: ticks are a scan of the system's diagram, rates are a
// diagram that a solver asks. What it leaves behind is a Record: numbers for each moment.
#ifndef LIMN_RUN_SIM_SIM_H
#define LIMN_RUN_SIM_SIM_H

#include "lang/program/claim.h"
#include "run/engine/engine.h"
#include "run/solve/solve.h"

#include <signal.h>

typedef struct {
  const char *name; // a port, a state, or an expression that is shown
  Base base;
  Id names;         // of labels: World.label_names, or 0
  const char *unit; // m/s; or NULL
  uint32_t rank;
  int64_t *shape, cells; // of one moment
  VEC(double) value;     // [moments cells]
} SimChannel;

typedef struct {
  double time;
  const char *path; // of the part: row[0].ball[2]; "" for the system itself
  const char *what; // the mode it jumps to, the state that is set, `born`, `died`
  uint32_t which;   // of all guards; not where it is read from a table
  uint32_t place;   // the only place of the part's state that is set, + 1; 0: all, or several
} Happening;

typedef struct {
  const System *system;
  bool flows;              // in continuous time; otherwise the times are ticks
  VEC(double) time;        // [moments]
  VEC(SimChannel) channel; // what can be seen, in the order of system_sights; then what is shown
  uint32_t sights;         // how many are the former; those that are too large have no values
  VEC(Happening) happening;
  uint64_t steps; // ticks, or steps of the solver
  double reached; // time, or the tick, that it came to: more than what is kept where it was stopped
  bool halted;    // the system stopped, at the last moment
} SimRecord;

// Is the table that a run stands on there, and all that is wanted of it? True where there is none.
bool run_has_table(Elab *, Program *, uint32_t run);

// What a run of the program would keep, without any moment yet.
void record_channels(World *, const Program *, uint32_t run, SimRecord *);

typedef struct {
  const Arrays *arrays; // NULL: there is none
  const char *file;     // for messages
} SavedRun;

typedef struct {
  uint64_t seed;
  uint32_t threads;
  bool reference;
  struct Device *device; // a GPU that follows what goes by ticks; NULL: the CPU
  // Runs, by their numbers: puts away what a run needs to go on; gives what was put away of
  // this very run; gives how another run ended, whose time and states it takes over. Or NULL.
  bool (*save)(void *context, uint32_t run, const Arrays *);
  bool (*saved)(void *context, uint32_t run, SavedRun *);
  bool (*before)(void *context, uint32_t run, SavedRun *);
  bool (*begin)(void *context, Store *); // puts in what begins as another run left it; or NULL
  bool (*fill)(void *context, Store *);  // then puts trained weights in; or NULL
  void *context;
  void (*progress)(void *context, double part); // 0 to 1; or NULL
  void (*say)(void *context, const char *text); // what takes long, while it does; or NULL
  const volatile sig_atomic_t *stop;            // not 0: come back; or NULL
} SimOptions;

typedef struct {
  SimRecord record;
  double **watch; // [check][watch] the numbers, for the checks that refer to this run
  double **lost;  // [check][watch] above 0: from then on it bends or jumps too often to be followed
  bool stopped;
} Followed;

// False with a diagnostic. `number` is the run's, among those of the program.
bool follow_run(Elab *, Program *, uint32_t number, const SimOptions *, Followed *);
// What another world found of the same program's run.
void followed_copy(World *, const Program *, uint32_t run, const Followed *from, Followed *to);

typedef struct {
  bool holds;
  const char *figure; // what was found, in words: "20.9146048 (off by 3e-10)"
} Verdict;
// `followed`: [run], for those that refer to a run. False with a diagnostic.
bool verify_check(Elab *, Program *, uint32_t number, const Followed *followed, const SimOptions *,
                  Verdict *);

#endif
