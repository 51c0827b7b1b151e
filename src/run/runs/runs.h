// runs: the run folder, and what all kinds of runs share: outcomes, messages, and files.
//   RunFolder f = {.arena = a, .lock = -1};
//   if (!folder_new(&f, NULL, "net.limn", "name another one", &why, &end)) …   // runs/net
//   note_write(a, f.dir, &note, &end);                                         // run.json
//
// The registry of runs is the folder that holds their folders. This room does not know how runs are
// made.
#ifndef LIMN_RUN_RUNS_RUNS_H
#define LIMN_RUN_RUNS_RUNS_H

#include "base/files.h"
#include "io/bytes/bytes.h"
#include "lang/program/program.h"
#include "limn.h"

// WRONG: an error in the user's text or data; USAGE: the request makes no sense; SYSTEM: disk,
// memory or GPU failed.
typedef enum { OUTCOME_GOOD, OUTCOME_WRONG, OUTCOME_USAGE, OUTCOME_SYSTEM } Outcome;

void tell_line(const LimnTell *, const char *text); // note.c: sends a message to the caller

// -- folder.c -------------------------------------------------------------------------------------
typedef struct {
  Arena *arena;
  const char *dir;    // NULL: there is none
  int lock;           // -1: none
  int at;             // descriptor of the folder while it is locked: its path may change meanwhile
  FolderNames writes; // files that this run will write, besides those of every run
} RunFolder;
// If false, *why is a sentence.
// Makes a folder: `out`, which is then locked, or runs/NAME, NAME.2 … by the name of the program.
// `instead`: advice if the folder already holds a run.
bool folder_new(RunFolder *, const char *out, const char *program, const char *instead,
                const char **why, Outcome *end);
bool folder_resume(RunFolder *, const char *dir, const char **why, Outcome *end); // to resume
bool folder_lock(RunFolder *, const char **why,
                 Outcome *end); // also removes temporary files of killed processes
// Is the open file fd still the file of this name? The folder, or files in it, may be deleted
// during the run.
bool folder_has(const RunFolder *, const char *name, int fd);
const char *folder_is_gone(const RunFolder *); // a sentence; NULL: the folder exists
void folder_unlock(RunFolder *);
// Writes a file into the locked folder, which may have been moved. NULL, or a sentence.
const char *folder_write(const RunFolder *, Arena *, const char *name, const void *bytes, size_t n);
const char *folder_path(const RunFolder *, const char *name);
// The name in lower case: names that are equal then are one file on some file systems.
const char *file_name_folded(Arena *, const char *name);
// The outcome of a run that could not write this file: the user's choice of folder, or the disk.
Outcome folder_outcome(Arena *, const char *dir, const char *name);
// The command that resumes: limn VERB FILE --set … --resume DIR. `settings`: NAME=VALUE, separated
// by spaces.
void folder_resume_command(const RunFolder *, const char *verb, const char *program,
                           const char *settings, Buf *);
// The path of the model in a run folder, or `from` itself if it is a file.
const char *folder_weights(Arena *, const char *from);

// -- note.c: run.json. Members that are 0 or NULL are omitted, unless the comment says otherwise.
// --
typedef struct {
  const char *name, *on; // on: the data it is measured on
  bool up, known;        // larger is better; known: otherwise smaller is
} NoteMeasure;
typedef struct {
  const char *name, *words, *file; // words: "to 100"; file: its values are in FILE.csv
  double steps, moments, happened, seconds;
  double reached;    // the time or tick at which it was stopped
  const char *state; // finished, failed, stopped, not begun
} NoteRun;
typedef struct {
  const char *of, *text, *figure;
  bool done, holds;
  double within; // tolerance in the program; 0: none
} RunCheck;
typedef struct { // a setting that can be changed during a run
  const char *name;
  double value;
  bool known; // false: it is computed, or has several values
} NoteSetting;
typedef struct { // a change during a run; applies after this step
  double step, value;
  const char *what;
} NoteChange;
typedef struct {
  bool machine;                      // a run of machines, with runs and checks
  const char *program, *set, *state; // always written. state: running, finished, stopped …
  double seed, threads, steps, seconds;
  double batch, best, best_step; // of training
  bool has_best;
  const char *device, *device_is;        // "cuda:0", "NVIDIA H200"; "cpu", "the CPU"
  const char *precision, *engine, *hash; // of training; hash: only after the end
  const char *dir, *message;             // of machines. message: why it failed
  VEC(NoteMeasure) measure;              // the columns of metrics.csv that are measures
  VEC(NoteSetting) setting;
  VEC(NoteChange) change;
  VEC(NoteRun) run;
  VEC(RunCheck) check;
  const Json *json; // the whole file, after reading
} RunNote;
void note_print(const RunNote *, Buf *); // adds the computer and today's date
// NULL, or a sentence and *end.
const char *note_write(Arena *, const char *dir, const RunNote *, Outcome *end);
bool note_read(Arena *, const char *dir, RunNote *, const char **error);
const char *note_text(const RunNote *, const char *key); // NULL: no text of this key
bool note_number(const RunNote *, const char *key, double *out);
void changes_print(const RunNote *, JsonOut *);             // as "changes", if any
const char *change_text(Arena *, const NoteChange *);       // "rate = 0.001 from step 121 on"
const char *claim_text(Arena *, const RunCheck *);          // with its tolerance
void check_print(const RunCheck *, bool figure, JsonOut *); // an object; figure: with the result

// -- program_copy.c: the program in the run folder ------------------------------------------------
// The names of the files that it copies besides program.limn.
void program_copy_names(World *, const Program *, FolderNames *);
// NULL, or a sentence and *end.
const char *program_copy(World *, const Program *, const char *dir, Outcome *end);
// The first difference from the program in a run folder, ignoring shows; NULL: none.
const char *program_difference_but_shows(World *, const Program *, const char *dir);
uint64_t program_hash(World *, const Program *); // of all that affects a run
const char *program_difference(World *, const Program *,
                               const char *dir); // a sentence

// -- metrics.c: reads the metrics.csv of a run ----------------------------------------------------
typedef struct {
  VEC(const char *) name; // columns: step, epoch, time, then goals, measures, p[0] of paths
  VEC(double) value;      // [rows columns]
  VEC(bool) known;        // [rows columns] false: the cell is empty
  int64_t rows;
} MetricRows;
enum { METRICS_FIXED = 3 }; // step, epoch, time
bool rows_read(Arena *, const char *path, MetricRows *, const char **error);
bool rows_find(const MetricRows *, const char *name, uint32_t *column);

// -- list.c: the runs in a folder, or the run in it -----------------------------------------------
typedef struct {
  double value; // the last value
  bool known;
} RunMeasure;
typedef struct {
  const char *dir, *date;
  RunNote note;
  RunMeasure *value;         // [measure]
  VEC(const char *) learner; // names of learners
  const char *wrong;         // which file cannot be read, and why; NULL: none
  bool unknown;              // run.json cannot be read: nothing is known
} RunInfo;
typedef VEC(RunInfo) RunInfos;
bool runs_read(Arena *, const char *dir, RunInfos *, const char **why); // sorted by name
bool run_has(const RunInfo *, const char *learner);
void runs_print(const RunInfos *, bool json, Buf *);

// The values of a `show`
typedef struct {
  const char *text; // its text in the program, without `show` and `as`
  const char *view; // "images", "strip", "paths" …; NULL: chosen by the values
  uint32_t options;
  double option[4]; // of the view: 8, 8 in `images[8, 8]`
  // One array for each expression, named by its text. The first axis is the sample axis; for
  // `paths`, the steps of training. With `for t in …`, the next axis is that of the values of t.
  Arrays value;
  const char *wrong;              // why there are no values; NULL: there are values
  bool samples;                   // the first axis is the sample axis
  const char *over;               // the name t
  uint32_t moments;               // number of values of t
  const double *moment;           // [moments]
  const char *const *unit;        // [array] its unit, NULL: unknown; or NULL
  const char *const *const *name; // [array][label] names of labels, NULL: numbers; or NULL
  const int64_t *step;            // [axis 0] of paths; NULL otherwise
  bool whole;                     // values of t are whole numbers
  const bool *held;               // [array] is it piecewise constant? or NULL
  uint32_t marks;                 // moments of events
  const double *mark;             // [marks]
  const char *const *mark_text;   // [marks] names of the events
} Shown;
typedef VEC(Shown) Shows;

#endif
