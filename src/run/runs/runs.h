// runs: what a run leaves behind, and what every run has while it lasts: how it ends, where it
// speaks, the folder that it writes.
//
//   RunFolder f = {.arena = a, .lock = -1};
//   if (!folder_new(&f, NULL, "net.limn", "name another one", &why, &end)) …   // runs/net
//   note_write(a, f.dir, &note, &end);                                         // run.json
//
// A folder of runs is all the registry there is. Nothing here knows how a run is made.
#ifndef LIMN_RUN_RUNS_RUNS_H
#define LIMN_RUN_RUNS_RUNS_H

#include "io/bytes/bytes.h"
#include "lang/program/program.h"
#include "limn.h"

// The user's text or data is wrong; what is asked for makes no sense; disk, memory or GPU failed.
typedef enum { OUTCOME_GOOD, OUTCOME_WRONG, OUTCOME_USAGE, OUTCOME_SYSTEM } Outcome;

void tell_line(const LimnTell *, const char *text); // note.c: where a run speaks

// -- folder.c: found or made, and locked ----------------------------------------------------------
typedef struct {
  Arena *arena;
  const char *dir; // NULL: there is none
  int lock;        // -1: none
  int at; // the folder itself, open while it is locked: its path may lead elsewhere meanwhile
} RunFolder;
// All are false with *why, a sentence, and *end.
// A new one: `out`, which is locked then, or runs/NAME, NAME.2 … after the program. `instead`: what to
// do when a run is in it.
bool folder_new(RunFolder *, const char *out, const char *program, const char *instead,
                const char **why, Outcome *end);
bool folder_old(RunFolder *, const char *dir, const char **why, Outcome *end); // to go on with
bool folder_lock(RunFolder *, const char **why, Outcome *end); // what a killed run left is removed
// Is what has this name there still what was opened? A run may outlive its folder, and its files.
bool folder_has(const RunFolder *, const char *name, int fd);
const char *folder_is_gone(const RunFolder *); // a sentence; NULL: it is there, by its lock
void folder_unlock(RunFolder *);
// Into the folder that was locked, which may have been moved since. NULL, or what is wrong.
const char *folder_write(const RunFolder *, Arena *, const char *name, const void *bytes, size_t n);
const char *folder_path(const RunFolder *, const char *name);
// How a run ends that could not write this file of its folder: the folder is wrong, or the disk.
Outcome folder_blame(Arena *, const char *dir, const char *name);
// limn VERB FILE --set … --resume DIR; `settings`: NAME=VALUE, with spaces between.
void folder_go_on(const RunFolder *, const char *verb, const char *program, const char *settings,
                  Buf *);
// The model of a run folder, or the file itself.
const char *folder_weights(Arena *, const char *from);

// -- note.c: run.json. Members that are 0 or NULL are not written, but for those that say so. -----
typedef struct {
  const char *name, *on; // on: where it is measured
  bool up, known;        // more is better; known: or less, if not up
} NoteMeasure;
typedef struct {
  const char *name, *words, *file; // words: "to 100"; file: its numbers are FILE.csv
  double steps, moments, happened, seconds;
  double reached;    // where it was stopped: the time, or the tick
  const char *state; // finished, failed, stopped, not begun
} NoteRun;
typedef struct {
  const char *of, *text, *figure;
  bool done, holds;
  double within; // how far off it may be, where the program says it
} RunCheck;
typedef struct { // what can be changed while it goes on
  const char *name;
  double value;
  bool known; // otherwise it is computed, or not the same everywhere
} NoteSetting;
typedef struct { // made while the run went on: it holds behind so many steps
  double step, value;
  const char *what;
} NoteChange;
typedef struct {
  bool machine;                      // of `limn run`: it has runs and checks
  const char *program, *set, *state; // always there. state: running, finished, stopped …
  double seed, threads, steps, seconds;
  double batch, best, best_step; // of training
  bool has_best;
  const char *device, *device_is;        // what computes: "cuda:0", "NVIDIA H200"; "cpu", "the CPU"
  const char *precision, *engine, *hash; // of training; no hash while it lasts
  const char *dir, *message;             // of machines. message: why it failed
  VEC(NoteMeasure) measure;              // those columns of metrics.csv that are measures
  VEC(NoteSetting) setting;
  VEC(NoteChange) change;
  VEC(NoteRun) run;
  VEC(RunCheck) check;
  const Json *json; // all of it, where it was read
} RunNote;
void note_print(const RunNote *, Buf *); // with the machine it runs on, and today's date
// NULL, or a sentence and *end.
const char *note_write(Arena *, const char *dir, const RunNote *, Outcome *end);
bool note_read(Arena *, const char *dir, RunNote *, const char **error);
const char *note_text(const RunNote *, const char *key); // NULL: there is no such text
bool note_number(const RunNote *, const char *key, double *out);
void changes_print(const RunNote *, JsonOut *);             // as "changes", where there are some
const char *change_text(Arena *, const NoteChange *);       // "rate = 0.001 from step 121 on"
const char *claim_text(Arena *, const RunCheck *);          // with how far off it may be
void check_print(const RunCheck *, bool figure, JsonOut *); // an object; with what was found

// -- program_copy.c: the program in the run folder ------------------------------------------------
// NULL, or a sentence and *end.
const char *program_copy(World *, const Program *, const char *dir, Outcome *end);
// In what a program is another than that of a run folder, but for what it shows; NULL: in nothing.
const char *program_is_other(World *, const Program *, const char *dir);
uint64_t program_hash(World *, const Program *); // of all that matters to a run
const char *program_differs(World *, const Program *, const char *dir); // in words

// -- metrics.c: metrics.csv of a run, read back ---------------------------------------------------
typedef struct {
  VEC(const char *) name; // of the columns: step, epoch, time, then goals, measures, p[0] of paths
  VEC(double) value;      // [rows columns]
  VEC(bool) known;        // [rows columns] false: the cell is empty
  int64_t rows;
} MetricRows;
enum { METRICS_FIXED = 3 }; // step, epoch, time
bool rows_read(Arena *, const char *path, MetricRows *, const char **error);
bool rows_find(const MetricRows *, const char *name, uint32_t *column);

// -- list.c: the runs in a folder, or the one that it is ------------------------------------------
typedef struct {
  double value; // the last one
  bool known;
} RunMeasure;
typedef struct {
  const char *dir, *date;
  RunNote note;
  RunMeasure *value;         // [measure]
  VEC(const char *) learner; // by the names of its weights
  const char *wrong;         // what of it cannot be read, and why; NULL: nothing
  bool unknown;              // … which is run.json: there is nothing else
} RunInfo;
typedef VEC(RunInfo) RunInfos;
bool runs_read(Arena *, const char *dir, RunInfos *,
               const char **why); // in the order of their names
bool run_has(const RunInfo *, const char *learner);
void runs_print(const RunInfos *, bool json, Buf *);

// What a `show` asked for, as numbers
typedef struct {
  const char *text; // as it stands in the program, without `show` and `as`
  const char *view; // "images", "strip", "paths" …; NULL: whatever suits the values
  uint32_t options;
  double option[4]; // of the view, as 8, 8 in `images[8, 8]`
  // One array for each expression, by its text. In front stands the axis of samples; or, for
  // `paths`, of moments in training. With `for t in …`, then comes one of values of t.
  Arrays value;
  const char *wrong;              // why there are no values; NULL: there are
  bool samples;                   // there is such an axis in front
  const char *over;               // t
  uint32_t moments;               // how many values t has
  const double *moment;           // [moments]
  const char *const *unit;        // [array] what it is measured in, NULL: not said; or NULL
  const char *const *const *name; // [array][label] names of labels, NULL where numbers; or NULL
  const int64_t *step;            // [axis 0] of paths; NULL otherwise
  bool whole;                     // values of t are whole numbers
  const bool *held;               // [array] it changes at moments only, as stairs do; or NULL
  uint32_t marks;                 // moments at which something happened
  const double *mark;             // [marks]
  const char *const *mark_text;   // [marks] what
} Shown;
typedef VEC(Shown) Shows;

#endif
