// simulate: `limn run`. Simulates the runs of a program and evaluates its checks, in program order;
// results go to a run folder, and can be read back.
//
//   Results r;
//   Outcome end = simulate_run(in, program, &(LimnRun){.out = "runs/a"}, &r);
//   results_read(in, program, "runs/a", &r, &error);      // the same, from the folder
#ifndef LIMN_RUN_SIM_SIMULATE_H
#define LIMN_RUN_SIM_SIMULATE_H

#include "run/runs/runs.h"
#include "run/sim/sim.h"

typedef struct {
  const char *name;           // name in the program, or the machine's
  const char *file;           // base of its files, FILE.csv …; unique
  const char *words;          // "to 100", "for 6000 ticks"
  const char *turn;           // iteration of a loop: "k = 0.5"; NULL: none
  const char *base;           // name without that
  uint32_t family;            // the first run made by the same line of a loop
  bool done, stopped, failed; // done: it has started
  double seconds;
  const System *system; // before closing, and without `on`
  const System *on;     // the machine of `on`; or NULL
  SimRecord record;
} SimResult;

typedef struct {
  Elab *in;
  Program *p;
  World *w;
  Arena *arena;
  const char *dir;           // run folder, or NULL
  RunNote note;              // with every check; .run is filled by results_note
  VEC(const char *) unshown; // why pictures are missing in the report
  VEC(SimResult) run;        // one for each run of the program, in order
} Results;

// Helpers that simulate runs of the same program in parallel, each in its own World.
typedef struct {
  void *context;
  // Starts one more thread, which calls simulate_helper with this job; false: none available.
  bool (*start)(void *context, void *job);
  void (*end)(void *context); // waits for all of them, after they were told to stop
} SimHelpers;

// -- helpers.c: for helpers -----------------------------------------------------------------------
// Simulates runs until none is left. `who`: any unique address.
void simulate_helper(Elab *, Program *, void *job, const void *who);
void simulate_helper_failed(void *job,
                            const void *who); // the helper failed: the caller takes over its run

// -- simulate.c -----------------------------------------------------------------------------------
bool simulate_ahead(Elab *, Program *); // false: a run would be refused, with diagnostics
Outcome simulate_run(Elab *, Program *, const LimnRun *, const SimHelpers *, Results *);

// -- results.c ------------------------------------------------------------------------------------
void results_begin(Results *, Elab *, Program *);    // nothing is done yet
void results_channels(Results *, uint32_t run);      // its channels, without moments
uint32_t results_count(const Results *, bool holds); // number of checks that hold, or do not
const RunNote *results_note(Results *);              // run.json in its present state
// Reads a folder; it belongs to the program if the runs are the same.
bool results_read(Elab *, Program *, const char *dir, Results *, const char **error);

// -- numbers.c: FILE.csv, FILE.safetensors for large values, FILE.happened.csv --------------------
bool numbers_write(const Results *, const SimResult *, const char **error);
// [{"name", "names", "held", "rows"}]: at most 2000 moments of each run, and 200 columns
void numbers_json(const Results *, Buf *);
bool numbers_read(Results *, uint32_t run, const char **error);
const char *one_line(Arena *, const char *text);                  // white space becomes one space
const char *cell_name(Arena *, const SimChannel *, int64_t cell); // x, x[0], g[0 1]
const char *record_clock(const SimRecord *); // time, time (s) if there are units, tick

// -- piecewise_constant.c -------------------------------------------------------------------------
const bool *channels_held(const Results *,
                          uint32_t run); // [channel] it changes at ticks and in events only

#endif
