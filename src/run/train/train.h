// train: the loop around the engine: data in, steps, measures, checkpoints, a run folder.
//
//   train_run(in, program, &(LimnTrain){.epochs = 3, .out = "runs/net"}, NULL);
//
// A run is a function of program, data and seed. A checkpoint holds all of it that changes, so a
// run that was stopped or killed anywhere goes on as if nothing had happened, bit for bit, whatever
// the number of threads.
#ifndef LIMN_TRAIN_H
#define LIMN_TRAIN_H

#include "limn.h" // what a caller may ask for
#include "run/engine/engine.h"
#include "run/step/step.h"

// train.c
// *dir: the run folder, NULL if there was none yet; dir itself may be NULL
LimnStatus train_run(Elab *, Program *, const LimnTrain *, const Arrays *set, const char **dir);
// The same in pieces. The options live as long as the trainer.
typedef struct Trainer Trainer;
Trainer *train_open(Elab *, Program *, const LimnTrain *,
                    const Arrays *set);              // weights to begin with, by name; or NULL
LimnStatus train_go(Trainer *, uint64_t steps);      // so many more; nothing after the end
LimnStatus train_close(Trainer *, const char **dir); // a run that is not at its end is saved
bool train_ended(const Trainer *);                   // there are no more steps
void train_metrics(const Trainer *, Arena *, LimnMetrics *); // of the last step
Store *train_store(Trainer *, const Table **model);          // paths of weights (1) and buffers (2)

const char *train_weights(Arena *,
                          const char *from); // the model of a run folder, or the file itself

// folder.c, copy.c: what every run folder has. NULL, or what went wrong.
const char *folder_make(Arena *, const char *path);                      // with those around it
const char *folder_next(Arena *, const char *program, const char **dir); // runs/NAME, or NAME.2 …
bool folder_taken(Arena *, const char *dir);                             // there is a run in it
void note_machine(Buf *);                                                // pairs for run.json
const char *program_copy(World *, const Program *, const char *dir);

// What was trained, used: what is asked for, and where the answer goes.
typedef struct {
  const LimnUse *how;
  const Arrays *set; // weights that stand in for those of files, by name; NULL: none
  Buf *text;         // the answer in words; or
  Arrays *out;       // in numbers, in memory of `keep`, and then no files are written
  Arena *keep;
} UseCall;
LimnStatus train_measure(Elab *, Program *, const UseCall *);                   // measure.c
LimnStatus train_predict(Elab *, Program *, const char *name, const UseCall *); // predict.c
LimnStatus train_sample(Elab *, Program *, const char *name, const UseCall *);  // sample.c

// evaluate.c: by the interpreter
typedef struct {
  const LimnEval *how;
  const Arrays *set;
  Buf *text;           // NULL: no words
  Arrays *out, *grads; // NULL: not wanted
  Arena *keep;         // of these
} EvalCall;
LimnStatus train_evaluate(Elab *, Program *, const char *name, const EvalCall *);

// memory_arrays.c
bool array_from_memory(Arena *, const LimnArray *, Array *, const char **error);
void arrays_keep(Arena *, Arrays *, const Array *); // a copy that lives there

// metrics.c: metrics.csv of a run, read back
typedef struct {
  VEC(const char *) name; // of the columns: step, epoch, time, then goals, measures, p[0] of paths
  VEC(double) value;      // [rows columns]
  VEC(bool) known;        // [rows columns] false: the cell is empty
  int64_t rows;
} MetricRows;
bool rows_read(Arena *, const char *path, MetricRows *, const char **error);
bool rows_find(const MetricRows *, const char *name, uint32_t *column);

// runs.c: the runs in a folder, or the one that it is
typedef struct {
  const char *name, *on;
  double value; // the last one
  bool known;
} RunMeasure;
typedef struct {
  const char *of, *text, *figure;
  bool done, holds;
} RunCheck;
typedef struct {
  const char *dir, *program, *state, *date;
  double steps, seed;
  bool machine; // of `limn run`: it has checks in the place of measures
  VEC(RunCheck) check;
  VEC(RunMeasure) measure;
  VEC(const char *) learner; // by the names of its weights
} RunInfo;
typedef VEC(RunInfo) RunInfos;
bool runs_read(Arena *, const char *dir, RunInfos *,
               const char **why); // in the order of their names
bool run_has(const RunInfo *, const char *learner);
void runs_print(const RunInfos *, bool json, Buf *);

// show.c: what a `show` asked for, as numbers
typedef struct {
  const char *text; // as it stands in the program, without `show` and `as`
  const char *view; // "images", "strip", "paths" …; NULL: whatever suits the values
  uint32_t options;
  double option[4]; // of the view, as 8, 8 in `images[8, 8]`
  // One array for each expression, by its text. In front stands the axis of samples; or, for
  // `paths`, of moments in training. With `for t in …`, then comes one of values of t.
  Arrays value;
  bool samples;                   // there is such an axis in front
  const char *over;               // t
  uint32_t moments;               // how many values t has
  const double *moment;           // [moments]
  const char *const *const *name; // [array][label] names of labels, NULL where numbers; or NULL
  const int64_t *step;            // [axis 0] of paths; NULL otherwise
  bool whole;                     // values of t are whole numbers
  uint32_t marks;                 // moments at which something happened
  const double *mark;             // [marks]
  const char *const *mark_text;   // [marks] what
} Shown;
typedef VEC(Shown) Shows;
// All of a program, computed with what a run folder holds.
LimnStatus train_shows(Elab *, Program *, const LimnUse *, Shows *);

#endif
