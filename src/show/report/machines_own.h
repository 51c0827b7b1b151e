// Private to `limn run`: what runs and checks gave, on its way from the machines to a folder and a
// page.
//
//   ran.c        runs are followed, checks are looked at, each gives a line
//   ran_note.c   run.json, written and read
//   ran_table.c  the numbers of a run as files, written and read
//   ran_shown.c  what is shown of a run, as numbers for plots
//   ran_page.c   report.html
//   ran_draw.c   which machine `limn draw` draws
#ifndef LIMN_SHOW_REPORT_MACHINES_OWN_H
#define LIMN_SHOW_REPORT_MACHINES_OWN_H

#include "run/sim/sim.h"
#include "show/report/report_own.h"
#include "show/wiring/wiring.h"

typedef struct {
  const char *name;           // as it is written, or the machine's
  const char *file;           // its numbers are FILE.csv and so on; no two runs have the same
  const char *words;          // "to 100", "for 6000 ticks"
  bool done, stopped, failed; // done: it has begun
  double seconds;
  const System *system; // as it is written: neither closed nor stood on another
  const System *on;     // what it stands on; or NULL
  SimRecord record;
} RanRun;

typedef struct {
  const char *of, *text, *figure;
  bool done, holds;
} RanCheck;

typedef struct {
  Elab *in;
  Program *p;
  World *w;
  Arena *arena;
  const char *dir, *path; // the folder, or NULL; the program
  const char *state;      // running, finished, stopped, failed
  const char *why;        // it failed, in words; or NULL
  double seed, threads, seconds;
  VEC(RanRun) run; // as many as the program has, in its order
  VEC(RanCheck) check;
} Results;

// All runs and checks of a program, nothing done yet.
void results_begin(Results *, Elab *, Program *);
uint32_t results_count(const Results *, bool holds); // claims
const char *one_line(Arena *, const char *text);     // spaces and line ends become one space

// machines_note.c
enum { NOTE_MOST = 1 << 24 };                         // bytes of run.json
void note_text(const Results *, Buf *);               // an object
bool note_write(const Results *, const char **error); // DIR/run.json
// False: *error. It is of this program if it has the same runs.
bool note_read(Results *, const char **error);

// machines_table.c: FILE.csv, FILE.safetensors where numbers are many, FILE.happened.csv
bool numbers_write(const Results *, const RanRun *, const char **error);
bool numbers_read(Results *, uint32_t run, const char **error);
const char *cell_name(Arena *, const SimChannel *, int64_t cell);  // x, x[0], g[0 1]
const char *label_name(World *, const SimChannel *, double value); // NULL: labels have no names

// machines_shown.c
typedef struct {
  Shown shown;
  const WiringTimes *strip, *moving; // a wiring over time, in the place of a plot; or NULL
  const char *why;                   // it cannot be shown; or NULL
} RanShown;
typedef VEC(RanShown) RanShows;
void ran_shows(const Results *, uint32_t run, RanShows *);

// machines_page.c: DIR/report.html, from run.json in the folder and what is in memory
bool ran_page(Results *, const char **error);

#endif
