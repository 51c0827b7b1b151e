// simulate: `limn run`. Every run of a program is followed, every check looked at, in the order of
// the text; numbers and words go to a run folder, and can be read back from it.
//
//   Results r;
//   Outcome end = simulate_run(in, program, &(LimnRun){.out = "runs/a"}, &r);
//   results_read(in, program, "runs/a", &r, &error);      // the same, from the folder
#ifndef LIMN_RUN_SIM_SIMULATE_H
#define LIMN_RUN_SIM_SIMULATE_H

#include "run/runs/runs.h"
#include "run/sim/sim.h"

typedef struct {
  const char *name;           // as it is written, or the machine's
  const char *file;           // its numbers are FILE.csv and so on; no two runs have the same
  const char *words;          // "to 100", "for 6000 ticks"
  const char *turn;           // of a loop: "k = 0.5"; NULL: it is in none
  const char *base;           // its name without that
  uint32_t family;            // the first of those that the same line of a loop runs
  bool done, stopped, failed; // done: it has begun
  double seconds;
  const System *system; // as it is written: neither closed nor stood on another
  const System *on;     // what it stands on; or NULL
  SimRecord record;
} SimResult;

typedef struct {
  Elab *in;
  Program *p;
  World *w;
  Arena *arena;
  const char *dir;           // the folder, or NULL
  RunNote note;              // with every check; .run is filled by results_note
  VEC(const char *) unshown; // why pictures are missing on the page
  VEC(SimResult) run;        // as many as the program has, in its order
} Results;

// Others who follow runs of the same program, each in a world of its own.
typedef struct {
  void *context;
  // One more, in a thread of its own, who calls simulate_help with this; false: nobody is there.
  bool (*start)(void *context, void *job);
  void (*end)(void *context); // once they have been told: waits for all of them
} SimHelpers;

// -- crew.c: for a helper -------------------------------------------------------------------------
// Follows runs until there is none left. `who`: any address that is its own.
void simulate_help(Elab *, Program *, void *job, const void *who);
void simulate_lost(void *job, const void *who); // it ended on the way: who called does its run

// -- simulate.c -----------------------------------------------------------------------------------
bool simulate_ahead(Elab *, Program *); // false: a run would be refused, and that was said
Outcome simulate_run(Elab *, Program *, const LimnRun *, const SimHelpers *, Results *);

// -- results.c: all runs and checks of a program --------------------------------------------------
void results_begin(Results *, Elab *, Program *);    // nothing done yet
void results_channels(Results *, uint32_t run);      // what it will keep, without any moment
uint32_t results_count(const Results *, bool holds); // claims
const RunNote *results_note(Results *);              // run.json, as it is now
// From a folder; it is of this program if it has the same runs.
bool results_read(Elab *, Program *, const char *dir, Results *, const char **error);

// -- numbers.c: FILE.csv, FILE.safetensors where numbers are many, FILE.happened.csv --------------
bool numbers_write(const Results *, const SimResult *, const char **error);
// [{"name", "names", "held", "rows"}]: at most 2000 moments of each run, and 200 columns
void numbers_json(const Results *, Buf *);
bool numbers_read(Results *, uint32_t run, const char **error);
const char *one_line(Arena *, const char *text); // spaces and line ends become one space
const char *cell_name(Arena *, const SimChannel *, int64_t cell); // x, x[0], g[0 1]
const char *record_clock(const SimRecord *); // time, time (s) where there are units, tick
const char *label_name(World *, const SimChannel *, double value); // NULL: labels have no names

// -- held.c ---------------------------------------------------------------------------------------
const bool *channels_held(const Results *,
                          uint32_t run); // [channel] it changes at ticks and in events only

#endif
