// Private to train: one run, and what its files share.
#ifndef LIMN_TRAINER_H
#define LIMN_TRAINER_H

#include "train/train.h"

// source.c: where the inputs of an engine come from
// ---------------------------------------------------
typedef struct {
  const char *name; // of a known set, or a path
  bool bits;
  int64_t window;
  Set *set;
} Opened;

typedef struct {
  Infer *in;
  World *w;
  Program *p;
  Arena *arena;
  const char *beside; // the program: data files are named from there
  uint64_t seed;
  VEC(Opened) opened;
  Set **set; // [given] NULL while nobody needs it
} Data;

typedef struct { // one `given`, drawn sample after sample
  uint32_t given;
  Set *set;
  Split split;
  int64_t rows;
  uint64_t key;
  bool shuffle;
} Stream;

typedef struct {
  uint32_t stream, field;
  bool index; // the number of the sample itself
  Number number;
  void *to; // [n …], memory of the engine
} Inlet;

typedef struct {
  VEC(Stream) stream;
  VEC(Inlet) inlet;
  int64_t rows; // of the largest stream; 0: none
  int64_t *row; // [batch] scratch
} Feed;

// `on mnist.test`: sources of this set are replaced by that split, whole and in order.
typedef struct {
  Name set;
  const char *path;
  Split split;
  bool on, every, whole; // every: of all sets; whole: nothing is replaced, but read in order
} Instead;

Data *data_new(Infer *, Program *, Arena *);
void data_close(Data *);
// Opens the sets behind these fields; sizes that a file settles are settled. False with a
// diagnostic.
bool data_need(Data *, const Ids *fields);
bool feed_open(Data *, const Ids *fields, Engine *, int64_t batch, const Instead *, Feed *);
bool feed_fill(Feed *, int64_t first, int64_t n, const char **why);
bool split_from(const char *name, Split *);

// compose.c: the diagram with its noise inside. *fields become those that are left; 0 stands for an
// input that only says how many samples there are.
Diagram *compose_noise(Infer *, const Program *, Diagram *, Ids *fields);
bool has_sample_axis(World *, const Diagram *);

// store_fill.c: first values
// --------------------------------------------------------------------------
bool store_add_flat(Infer *, Program *, Store *, const Flat *, uint64_t seed);
bool store_add_params(Infer *, Program *, Store *, const Diagram *, uint64_t seed);
bool store_add_sources(Infer *, Program *, Store *); // `learn f … from "f.safetensors"`
// Values by path; what `to` lacks is added. Only those in `which`.
bool store_move(World *, Store *to, Store *from, const Table *which);
bool store_read(World *, Store *, const Arrays *,
                const char *path); // values by path, all of them wanted

// copy.c: the program in the run folder
// ---------------------------------------------------------------
const char *program_copy(World *, const Program *, const char *dir); // NULL, or what went wrong
uint64_t program_hash(World *, const Program *);                     // of all that matters to a run
const char *program_differs(World *, const Program *, const char *dir); // in words

// The run
// ---------------------------------------------------------------------------------------------
typedef struct Trainer Trainer;

typedef struct { // a mean over samples, for each goal
  double *sum, *weight;
} Mean;

// gauge.c: measures and the loss on validation data
typedef struct {
  const char *label; // a column of metrics.csv
  const char *where; // "mnist.test", "training data"
  bool up;           // more is better
  uint32_t parts;    // values that are added up: one, or one for each goal
  Engine **engine;
  Feed *feed;
  int64_t batch;
  double value;
  bool known; // it was measured since the last row
} Gauge;
typedef VEC(Gauge) Gauges;
bool gauges_open(Trainer *);
bool gauges_run(Trainer *);

// folder.c
const char *folder_make(Arena *,
                        const char *path); // with those around it. NULL, or what went wrong
bool folder_open(Trainer *);
void folder_close(Trainer *);
const char *folder_path(const Trainer *, const char *name);
void folder_note(Trainer *, const char *how_it_ended); // run.json

// record.c: what is appended: metrics.csv and TensorBoard's events
typedef struct {
  int fd;
  int64_t bytes; // on disk
  Buf waiting;   // not yet
  bool failed;   // said already
} Appended;
bool record_open(Trainer *, int64_t csv_bytes, int64_t events_bytes);
void record_close(Trainer *);
void record_row(Trainer *);
void record_flush(Trainer *);

// save.c
typedef struct Saver Saver;
Saver *saver_new(Arena *);
void saver_free(Saver *);
bool save_begin(Trainer *); // false: a weight is not finite, and nothing was saved
bool save_busy(Trainer *);
bool save_end(Trainer *); // waits. False: the last one failed
bool save_best(
    Trainer *); // keeps the weights as they are; they are written with the next checkpoint
bool resume_read(Trainer *, Arrays *);           // false with a diagnostic
bool resume_position(Trainer *, const Arrays *); // which phase, which step, which options
bool resume_states(Trainer *, const Arrays *);

// tell.c: what the user sees
void tell_start(Trainer *);
void tell_progress(Trainer *, double now);
void tell_report(Trainer *);
void tell_end(Trainer *, const char *how);
void tell(Trainer *, const char *format, ...) __attribute__((format(printf, 2, 3)));

// loop.c
typedef enum { LOOP_DONE, LOOP_STOPPED, LOOP_PATIENT, LOOP_NOT_FINITE, LOOP_FAILED } LoopEnd;
LoopEnd loop_run(Trainer *);

struct Trainer {
  Infer *in;
  World *w;
  Program *p;
  const LimnTrain *o;
  Arena *arena;

  // as asked for, or as the run that is resumed was
  Precision precision;
  uint64_t seed;
  int64_t batch_asked, every_steps;
  double every_seconds, epochs_asked, steps_asked;

  // what is trained
  Data *data;
  Table *model;   // path of every weight and buffer of the program's learners; 1 weight, 2 buffer
  uint32_t phase; // which `train` statement
  Regime regime;
  Store *store;
  Engine **engine; // [step of the regime]
  Feed *feed;
  uint32_t *turn, turns; // one round: which steps
  Gauges gauge;
  int64_t batch, rows, epoch_steps; // rows and epoch_steps are 0 without finite data
  uint64_t total, row_every, report_every;

  // where it is: this, the store and what was appended make a checkpoint
  uint64_t step, base; // done in this phase, and in those before
  Mean row, report;    // since the last of each
  double best;
  bool has_best;
  uint64_t best_step;
  uint32_t waited; // reports without anything better
  double seconds;  // before this call

  // this call
  double started, saved, save_took, looked, drawn, said, rate, feeding;
  uint64_t first, looked_step, look_every;
  Mean shown; // the window before `row`, so that what is shown is steady
  const char *dir;
  int lock;
  Appended csv, events;
  Saver *saver;
  LimnStatus status;
};

static inline double trainer_seconds(const Trainer *t) { // of training, all calls together
  return t->seconds + clock_seconds() - t->started;
}

#endif
