// Private to train: one run, and what its files share.
#ifndef LIMN_RUN_TRAIN_TRAIN_OWN_H
#define LIMN_RUN_TRAIN_TRAIN_OWN_H

#include "run/train/train.h"

// One run of an engine.
#define STEPS_BEYOND 1e14 // more than anybody makes: a trainer that goes on after its plan

typedef struct {
  uint32_t engine;
  int64_t n; // samples
  uint64_t run;
} BegunRun;

typedef struct {        // a mean over samples, for each goal
  double *sum, *weight; // one behind the other
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
  bool values; // they are computed; otherwise only the names are good
} TraceCells;
bool traces_open(Trainer *);
void traces_close(Trainer *);
bool traces_cells(Trainer *, const TraceCells *); // columns of metrics.csv
uint64_t traces_due(const Trainer *);             // the next step of the phase that has a frame
void traces_frames(Trainer *);                    // files for what is due

// metrics_log.c: what is appended: metrics.csv and TensorBoard's events. A checkpoint knows how long
// they were.
typedef struct {
  int fd;        // of metrics.csv
  int64_t bytes; // of it, on disk
  Buf waiting;   // rows that are not there yet
  CsvOut row;    // the last of them
  Events *events;
  const char *events_path;
  const char *failed; // the file whose rows wait since; said already
} MetricsLog;
bool record_open(Trainer *, const Arrays *state); // NULL: a new run
void record_close(Trainer *);
void record_row(Trainer *);
void record_flush(Trainer *);
int64_t record_events_bytes(const Trainer *);

// save.c
typedef struct Saver Saver;
void save_open(Trainer *);
void save_close(Trainer *);
bool save_begin(Trainer *);          // false: a weight is not finite, and nothing is saved
bool save_can_begin(Trainer *);      // all weights are finite. False with a message
void save_first(Trainer *);          // how the run begins
void save_reported(Trainer *);       // waits for that: it is there before anything is reported
bool save_busy(Trainer *);           // what the last one met is reported when it has ended
bool save_end(Trainer *);            // waits. False: it failed
uint64_t save_kept(const Trainer *); // the step of the last checkpoint that is on disk
void save_best(Trainer *);           // the weights as they are; written with the next checkpoint
void save_remains(Trainer *);        // of a run that failed: what is good and not on disk yet

// choose.c
void choose_device(Trainer *, bool resumed);
void choose_precision(Trainer *);
void tell_moved(Trainer *); // a run that goes on elsewhere than it was

// resume.c
bool resume_read(Trainer *, Arena *, Arrays *, bool *found); // false with a diagnostic
bool resume_options(Trainer *, const Arrays *);  // what the run was asked for holds, or is refused
bool resume_position(Trainer *, const Arrays *); // the store and where it is

// changes.c: what is changed while it goes on
bool changes_open(Trainer *);             // those that are written down
bool changes_keep(Trainer *);             // in the folder of a new run
bool changes_take(Trainer *, bool first); // those that are asked for; first: as it is opened
Changes changes_now(const Trainer *);     // those that hold
uint64_t changes_due(const Trainer *);    // the step of the phase with the next one

// progress.c: what the user sees
void tell_start(Trainer *);
void tell_plan(Trainer *, const char *kernels);
void metrics_make(const Trainer *, Arena *, const Mean *, LimnMetrics *);
void tell_progress(Trainer *, double now);
void tell_report(Trainer *);
void tell_metrics(Trainer *, bool reported); // to who wants numbers: a row
void tell_end(Trainer *, const char *how);
void tell(Trainer *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tell_wrong(Trainer *, const char *format, ...) // also to who wants it quiet
    __attribute__((format(printf, 2, 3)));

// train.c
bool train_refuse(Trainer *, Outcome, const char *format, ...) // a diagnostic; always false
    __attribute__((format(printf, 3, 4)));
Target target_of(Trainer *);            // of what is run beside the steps
const char *hash_text(const Trainer *); // progress.c: of all states

// loop.c
typedef enum {
  LOOP_DONE,
  LOOP_STOPPED,
  LOOP_PATIENT,
  LOOP_NOT_FINITE,
  LOOP_FAILED,
  LOOP_PART,   // as many steps as were asked for; there are more
  LOOP_CHANGED // the steps are others from here on
} LoopEnd;
const char *judged_by(const Trainer *); // by what the best weights are chosen now
void loop_start(Trainer *);             // before the first step of a phase
bool loop_measures(void *trainer, const Gauge *,
                   double part); // it is to go on; Gauges.may_continue
LoopEnd loop_run(Trainer *);     // on from where it is

// batch.c: a batch of the caller's, which was looked at
typedef struct {
  const LimnInput *in;
  uint32_t n;
  int64_t samples;
} OwnBatch;
void own_batch_put(Trainer *, uint32_t step);

struct Trainer {
  Elab *in;
  World *w;
  Program *p;
  const LimnTrain *o;
  const Arrays *set; // weights to begin with; or NULL
  Arena *arena;

  // as asked for, or as the run that is resumed was
  Precision precision;
  bool precision_open; // nobody has said which, and none is chosen yet: it depends on the device
  const char *precision_says;  // what was chosen, until it is told; or NULL
  bool prebuilt, was_compiled; // kernels: sums of both kinds differ in their last bits
  uint64_t seed;
  int64_t batch_asked, every_steps;
  double every_seconds, epochs_asked, steps_asked;

  Changes change; // in order of their steps
  uint32_t held;  // how many of them the steps were made with

  // what is trained
  Data *data;
  const char *path; // of the program
  uint64_t program; // its hash
  Table *model;     // path of every weight and buffer of the program's learners; 1 weight, 2 buffer
  uint32_t phase;   // which `train` statement
  Regime regime;
  struct Device *device;       // that computes; NULL: the CPU
  bool device_open;            // nobody says which: it depends on the work
  const char *was_on, *was_is; // before it was resumed: "cuda:0", "NVIDIA H200"; NULL: it was not
  const char *moved_since;     // why it does not go on there; or NULL
  Store *store, *before;       // of this phase, and while it is made of the one before
  Engine **engine;             // [step of the regime]
  Inlets *inlet;
  Feed feed;           // for all of them
  const OwnBatch *own; // in the place of the feed; or NULL
  uint32_t at_turn;
  double asked;          // when it was looked whether something is asked of the run
  VEC(BegunRun) waiting; // runs that were begun and are not looked at yet
  uint32_t *turn, turns; // one round, which is what the user calls a step: these steps in order
  Gauges gauge;
  Traces trace;
  int64_t batch;
  int64_t epoch_runs, epoch_steps; // batches and rounds in an epoch; 0 without finite data
  uint64_t total, row_every, report_every;
  double planned;    // what schedules are told: total, or less where steps go on beyond the plan
  uint64_t *lengths; // [phase] of what is only asked how long it is; or NULL

  // where it is: this, the store and what was appended make a checkpoint
  uint64_t step, base; // done in this phase, and in those before
  Mean row, report;    // since the last of each
  Mean last;           // of the last step alone
  double best;         // of all phases that the same measure judges
  bool has_best;
  uint64_t best_step;
  const char *judged; // what `best` is a value of: the label of a measure, or the loss
  double best_here;   // of this phase, for patience; NAN: none
  uint32_t waited;    // reports of this phase without anything better
  double seconds;     // before this call
  bool owes;          // the report of this step: it was stopped while it measured

  // this call
  double started, saved, save_took, looked, drawn, said, rate;
  double rowed, reported, report_took; // when there was a row, and a report; how long that took
  uint64_t pause_at, looked_step, look_every; // pause_at: in steps of all phases; 0 = never
  uint64_t until;                             // come back then; in steps of all phases
  bool begun, ended;                          // there is a first step, a last one
  Mean shown; // the window before `row`, so that what is shown is steady
  const char
      *measuring; // the label of what is being measured, and how much of it is; NULL: nothing
  double measured;
  RunFolder folder;
  MetricsLog record;
  Saver *saver;
  Outcome lost;    // why something that was shown is not in the folder
  const char *how; // it ended
  Outcome status;
  Guard guard;
};

static inline double trainer_seconds(const Trainer *t) { // of training, all calls together
  return t->seconds + clock_seconds() - t->started;
}

#endif
