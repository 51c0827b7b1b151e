// Private to train: the state of one run, shared by the files of this room.
#ifndef LIMN_RUN_TRAIN_TRAIN_OWN_H
#define LIMN_RUN_TRAIN_TRAIN_OWN_H

#include "base/files.h"
#include "run/train/train.h"

#define ENDLESS_STEPS 1e14 // length of a trainer that may continue after its plan

typedef struct {
  uint32_t engine;
  int64_t n; // number of samples
  uint64_t run;
} BegunRun;

typedef struct {        // a mean over samples, for each goal
  double *sum, *weight; // consecutive in memory
} Mean;
static inline size_t mean_bytes(uint32_t goals) { return 2 * (size_t)goals * sizeof(double); }

// show_log.c: shows during training
typedef struct {
  uint32_t show; // of the program
  Probe probe;
} ShowLog;
typedef VEC(ShowLog) Traces;
typedef struct {
  void (*cell)(Trainer *, const char *name, double value);
  bool values; // values are computed; otherwise only the names are used
} TraceCells;
bool traces_open(Trainer *);
void traces_close(Trainer *);
bool traces_cells(Trainer *, const TraceCells *); // columns of metrics.csv
uint64_t traces_due(const Trainer *);             // the next step of this phase that writes a frame
void traces_frames(Trainer *);                    // writes the frames that are due

// metrics_log.c: appends to metrics.csv and TensorBoard's events. Checkpoints record both lengths.
typedef struct {
  int fd;        // of metrics.csv
  int64_t bytes; // its length on disk
  Buf waiting;   // rows that are not written yet
  CsvOut row;    // the last of these rows
  Events *events;
  const char *events_path;
  const char *failed; // the file that cannot be written; reported once
} MetricsLog;
bool record_open(Trainer *, const Arrays *state); // state: of a checkpoint; NULL: a new run
void record_close(Trainer *);
void record_row(Trainer *);
void record_flush(Trainer *);
int64_t record_events_bytes(const Trainer *);

// save.c
typedef struct Saver Saver;
void save_open(Trainer *);
void save_close(Trainer *);
bool save_begin(Trainer *);         // false: a weight is not finite, and nothing is saved
bool save_can_begin(Trainer *);     // all weights are finite. False with a message
void save_initial(Trainer *);       // the initial state
void save_await_initial(Trainer *); // waits for the initial checkpoint, which must be on disk
                                    // before the first report
bool save_busy(Trainer *);          // also reports the result of the last save if that has ended
bool save_end(Trainer *);           // waits; false: saving failed
uint64_t save_step_on_disk(const Trainer *); // the step of the last checkpoint on disk
void save_best(Trainer *);                   // copies the weights; written with the next checkpoint
void save_after_failure(Trainer *); // after a failed step: saves what is valid and not on disk yet

// choose.c
void choose_device(Trainer *, bool resumed);
void choose_precision(Trainer *);
void tell_moved(Trainer *); // reports that a resumed run is on another device

// resume.c
bool resume_read(Trainer *, Arena *, Arrays *, bool *found); // false with a diagnostic
bool resume_options(Trainer *, const Arrays *);  // options as in the run; a difference is refused
bool resume_position(Trainer *, const Arrays *); // restores the store and the position

// changes.c: settings that are changed during the run
bool changes_open(Trainer *); // reads changes.csv
bool changes_copy(Trainer *); // writes changes.csv into the folder of a new run
bool changes_read_requests(Trainer *,
                           bool first);   // reads changes.asked; first: when the run is opened
Changes changes_applied(const Trainer *); // those that apply at this step
uint64_t
changes_next_step(const Trainer *); // the step of this phase after which the next one applies

// progress.c: what the user sees
void tell_start(Trainer *);
void tell_plan(Trainer *, const char *kernels);
void metrics_make(const Trainer *, Arena *, const Mean *, LimnMetrics *);
void tell_progress(Trainer *, double now);
void tell_report(Trainer *);
void tell_metrics(Trainer *, bool reported); // calls the callback for metrics
void tell_end(Trainer *, const char *how);
void tell(Trainer *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tell_wrong(Trainer *, const char *format, ...) // also with --quiet
    __attribute__((format(printf, 2, 3)));

// train.c
bool train_refuse(Trainer *, Outcome, const char *format, ...) // reports a diagnostic; always false
    __attribute__((format(printf, 3, 4)));
Target target_of(Trainer *);            // for engines other than those of the steps
const char *hash_text(const Trainer *); // progress.c: hash of all states

// loop.c
typedef enum {
  LOOP_DONE,
  LOOP_STOPPED,
  LOOP_PATIENT,
  LOOP_NOT_FINITE,
  LOOP_FAILED,
  LOOP_PART,   // the requested number of steps is done; more remain
  LOOP_CHANGED // a change applies from here on: the steps must be rebuilt
} LoopEnd;
const char *judged_by(const Trainer *); // the measure or loss that selects the best weights
void loop_start(Trainer *);             // before the first step of a phase
// Gauges.may_continue: draws progress; false if the run should stop.
bool loop_measures(void *trainer, const Gauge *, double part);
LoopEnd loop_run(Trainer *); // continues

// batch.c: a batch of the caller's, after it was checked
typedef struct {
  const LimnInput *in;
  uint32_t n;
  int64_t samples;
} CallerBatch;
void caller_batch_write(Trainer *, uint32_t step);

struct Trainer {
  Elab *in;
  World *w;
  Program *p;
  const LimnTrain *o;
  const Arrays *set; // initial weights; or NULL
  Arena *arena;

  // options, as given or as in the resumed run
  Precision precision;
  bool precision_open;         // not given and not chosen yet: depends on the device
  const char *precision_says;  // the choice, until it is reported; or NULL
  bool prebuilt, was_compiled; // kind of kernels: results of both kinds differ in their last bits
  uint64_t seed;
  int64_t batch_asked, every_steps;
  double every_seconds, epochs_asked, steps_asked;

  Changes change;         // sorted by step
  uint32_t changes_built; // number of changes that the present steps were built with

  // -- what is trained
  Data *data;
  const char *path; // program file
  uint64_t program; // its hash
  Table *model;     // path of every weight and buffer of the program's learners; 1 weight, 2 buffer
  uint32_t phase;   // index of the `train` statement
  Regime regime;
  struct Device *device;       // NULL: the CPU
  bool device_open;            // not given: chosen by the work
  const char *was_on, *was_is; // device and model before resuming: "cuda:0", "NVIDIA H200"; NULL:
                               // not resumed
  const char *moved_since;     // why a resumed run is on another device; or NULL
  Store *store, *before;       // of this phase; of the previous one, while values are copied
  Engine **engine;             // [step of the regime]
  Inlets *inlet;
  Feed feed;                       // of all engines
  const CallerBatch *caller_batch; // replaces the feed; or NULL
  uint32_t at_turn;
  double polled;         // when changes.asked was last polled
  VEC(BegunRun) waiting; // queued runs whose results were not collected yet
  uint32_t *turn, turns; // one round (a step, for the user): indices of its steps in the regime
  uint32_t *uses;        // [step of the regime] how often it is in a round
  Gauges gauge;
  Traces trace;
  int64_t batch;
  int64_t epoch_runs, epoch_steps; // batches and rounds in an epoch; 0 without finite data
  uint64_t total, row_every, report_every;
  double planned;    // length for schedules: total, or less if steps continue after the plan
  uint64_t *lengths; // [phase] if only the lengths are wanted; or NULL

  // -- the position: with the store and the logs, a checkpoint
  uint64_t step, base; // rounds done in this phase, and in those before
  Mean row, report;    // means since the last row, and since the last report
  Mean last;           // mean of the last round
  double best;         // over all phases with the same measure
  bool has_best;
  uint64_t best_step;
  const char *judged;    // the measure that `best` is a value of: its label, or the loss
  double best_here;      // of this phase, for patience; NAN: none
  uint32_t idle_reports; // reports of this phase without improvement
  double seconds;        // of training in earlier calls
  bool owes_report;      // the report of this step is due: measuring was interrupted

  // -- this call
  double started, saved, save_took, looked, drawn, said, rate;
  double rowed, reported, report_took; // times of the last row and report; duration of that report
  uint64_t pause_at, looked_step, look_every; // pause_at: in steps of all phases; 0 = never
  uint64_t until;                             // return then; in steps of all phases
  bool begun, ended;                          // the first step can start; the last step is done
  Mean shown;            // the means before `row`, added to it to show steady values
  const char *measuring; // label of the measure that runs now; NULL: none
  double measured;       // part of it that is done
  RunFolder folder;
  MetricsLog record;
  Saver *saver;
  Outcome lost;    // why a file of a show could not be written
  const char *how; // how the run ended
  Outcome status;
  Guard guard;
};

static inline double trainer_seconds(const Trainer *t) { // of training in all calls
  return t->seconds + clock_seconds() - t->started;
}

#endif
