// Private to train: one run, and what its files share.
#ifndef LIMN_TRAINER_H
#define LIMN_TRAINER_H

#include "run/train/train.h"

// source.c: where the inputs of an engine come from
// ---------------------------------------------------
typedef struct {
  const char *name; // of a known set, or a path
  bool bits;
  int64_t window;
  Episodes episodes;
  Set *set;
} Opened;

typedef struct {
  Elab *in;
  World *w;
  Program *p;
  Arena *arena;
  uint64_t seed;      // of what is generated
  uint64_t draw_seed; // of shuffles
  bool valid;         // validation data are wanted
  VEC(Opened) opened;
  Set **set; // [given] NULL while nobody needs it
} Data;

// Which samples: `on mnist.test` puts that split in the place of every source of the set.
typedef struct {
  Name set;
  const char *path;
  Split split;
  bool on;      // replace sources of this set, or file
  bool every;   // replace all of them
  bool ordered; // each sample once, in order; otherwise shuffled
} Instead;

typedef struct { // data for one or more engines, batch after batch
  VEC(uint32_t) given;
  VEC(Draw) draw; // for each given
  VEC(LoaderSource) source;
  int64_t samples; // in an epoch; 0: there is no finite source
  Arena *arena;
  Loader *loader;
} Feed;

typedef struct {
  uint32_t source;
  size_t bytes; // of one sample
  void *to;     // [n …], memory of the engine
} Inlet;
typedef VEC(Inlet) Inlets;

Data *data_new(Elab *, Program *, Arena *);
// Opens the sets behind these fields. False with a diagnostic.
bool data_need(Data *, const Ids *fields);
bool data_open_all(Data *);                                          // of goals and measures
bool feed_draws(Data *, Feed *, const Ids *fields, const Instead *); // so that .samples is known
bool feed_add(Data *, Feed *, const Ids *fields, Engine *, const Instead *, Inlets *);
bool feed_start(Data *, Feed *, int64_t batch, int64_t epoch,
                int64_t number); // at this batch of it
void feed_stop(Feed *);
int64_t feed_batches(const Feed *); // in an epoch
// How many samples came, into the memory of one engine; -1: *why.
int64_t feed_next(Feed *, const Inlets *, const char **why);
// What the labels of a source with so many are called; NULL: nobody says.
const char *const *data_labels(Data *, Size count);
bool split_from(const char *name, Split *);

// compose.c: the diagram with its noise inside. *fields become those that are left; 0 stands for an
// input that only says how many samples there are.
Diagram *compose_noise(Elab *, const Program *, Diagram *, Ids *fields);
bool is_sample_axis(World *, const Type *); // samples stand in front
bool has_sample_axis(World *, const Diagram *);

// store_fill.c: first values
// --------------------------------------------------------------------------
bool store_add_flat(World *, Store *, const Flat *, uint64_t seed);
bool store_copy(World *, Store *, const char *path,
                const char *as);                            // starts with the value of another
bool store_add_sources(Elab *, Program *, Store *);         // `learn f … from "f.safetensors"`
bool has_source(Elab *, const Program *, const char *path); // `learn f … from` gives this weight
// Values by path; what `to` lacks is added. Only those in `which`.
bool store_move(World *, Store *to, Store *from, const Table *which);
bool state_from_array(World *, State *, const Array *, const char *file); // false with a diagnostic
bool store_read(World *, Store *, const Arrays *,
                const char *path); // values by path, all of them wanted

// copy.c: the program in the run folder
// ---------------------------------------------------------------
uint64_t program_hash(World *, const Program *); // of all that matters to a run
const char *program_differs(World *, const Program *, const char *dir); // in words

// The run
// ---------------------------------------------------------------------------------------------
typedef struct { // a mean over samples, for each goal
  double *sum, *weight;
} Mean;

// gauge.c: measures and the loss on validation data
typedef struct {
  const char *label; // a column of metrics.csv
  const char *where; // "mnist.test", "training data"
  bool up;           // more is better
  bool moved;        // it reads something that this phase trains
  uint32_t parts;    // values that are added up: one, or one for each goal
  Engine **engine;
  Feed *feed;
  Inlets *inlet;
  Diagram **rest; // of a measure of a whole set: what is made of sums over samples; or NULL
  int64_t batch;
  double value;
  bool known, fresh; // fresh: since the last row
} Gauge;
typedef VEC(Gauge) Gauges;
const Gauge *gauge_judge(const Trainer *); // the one that says which weights are best; NULL: none
bool gauges_open(Trainer *);
bool gauges_run(Trainer *);
void gauges_close(Trainer *);

// whole.c: a measure of a whole set. False: it is a mean over batches.
bool whole_split(World *, const Diagram *, Diagram **each, Diagram **rest);
void whole_add_count(Elab *, Diagram *rest);
// sum: one for each input, and room for the last
bool whole_value(World *, Arena *, const Diagram *rest, Tensor *sum, int64_t samples, double *value,
                 const char **why);

// sight.c: a `show`, computed
typedef struct {
  const Show *show;
  const Diagram *d;
  Engine *engine;
  Feed feed;
  Inlets inlet;
  int64_t wanted, batch;
  bool samples; // values have samples in front
  bool again;   // it is of noise alone: run as often as there are samples wanted
} Probe;
// n: how many samples, 0 as many as the view has room for. False with a diagnostic.
bool sight_open(Data *, Store *, const Show *, int64_t n, const Target *, Probe *);
bool sight_take(Data *, Probe *, Tensor *out); // [out of the diagram]
void sight_close(Probe *);

// trace.c: shows during training
typedef struct {
  uint32_t show; // of the program
  Probe sight;
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

// show.c
const char *shown_name(World *, Arena *, const Show *, uint32_t i, uint32_t values);
bool is_path(const Show *);
const char *frame_name(Arena *, uint32_t show, uint64_t step); // in the run folder

// folder.c
bool folder_open(Trainer *);
void folder_close(Trainer *);
const char *folder_path(const Trainer *, const char *name);
void folder_note(Trainer *, const char *how_it_ended); // run.json

// record.c: what is appended: metrics.csv and TensorBoard's events. A checkpoint knows how long
// they were.
typedef struct {
  int fd;        // of metrics.csv
  int64_t bytes; // of it, on disk
  Buf waiting;   // rows that are not there yet
  Events *events;
  const char *events_path;
  bool failed; // said already
} MetricsLog;
bool record_open(Trainer *, const Arrays *state); // NULL: a new run
void record_close(Trainer *);
void record_row(Trainer *);
void record_flush(Trainer *);
int64_t record_events_bytes(const Trainer *);

// save.c
typedef struct Saver Saver;
bool save_open(Trainer *);
void save_close(Trainer *);
bool save_begin(Trainer *);   // false: a weight is not finite, and nothing is saved
bool save_busy(Trainer *);    // what the last one met is told when it has ended
bool save_end(Trainer *);     // waits. False: it failed
void save_best(Trainer *);    // the weights as they are; written with the next checkpoint
void save_remains(Trainer *); // of a run that failed: what is good and not on disk yet

// resume.c
bool resume_read(Trainer *, Arena *, Arrays *, bool *found); // false with a diagnostic
bool resume_options(Trainer *, const Arrays *);  // what the run was asked for holds, or is refused
bool resume_position(Trainer *, const Arrays *); // the store and where it is

// tell.c: what the user sees
void tell_start(Trainer *);
void metrics_make(const Trainer *, Arena *, const Mean *, LimnMetrics *);
void tell_progress(Trainer *, double now);
void tell_report(Trainer *);
void tell_metrics(Trainer *, bool reported); // to who wants numbers: a row
void tell_end(Trainer *, const char *how);
void tell(Trainer *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tell_wrong(Trainer *, const char *format, ...) // also to who wants it quiet
    __attribute__((format(printf, 2, 3)));

// train.c
bool train_refuse(Trainer *, LimnStatus, const char *format, ...) // a diagnostic; always false
    __attribute__((format(printf, 3, 4)));
bool precision_from(const char *text, Precision *);
bool precision_asked(LimnPrecision, Precision *); // not the default
Table *model_paths(Arena *, const Program *);     // of learners' weights (1) and buffers (2)

// loop.c
typedef enum {
  LOOP_DONE,
  LOOP_STOPPED,
  LOOP_PATIENT,
  LOOP_NOT_FINITE,
  LOOP_FAILED,
  LOOP_PART // as many steps as were asked for; there are more
} LoopEnd;
void loop_start(Trainer *);  // before the first step of a phase
LoopEnd loop_run(Trainer *); // on from where it is

struct Trainer {
  Elab *in;
  World *w;
  Program *p;
  const LimnTrain *o;
  const Arrays *set; // weights to begin with; or NULL
  Arena *arena;

  // as asked for, or as the run that is resumed was
  Precision precision;
  uint64_t seed;
  int64_t batch_asked, every_steps;
  double every_seconds, epochs_asked, steps_asked;

  // what is trained
  Data *data;
  const char *path; // of the program
  uint64_t program; // its hash
  Table *model;     // path of every weight and buffer of the program's learners; 1 weight, 2 buffer
  uint32_t phase;   // which `train` statement
  Regime regime;
  Store *store, *before; // of this phase, and while it is made of the one before
  Engine **engine;       // [step of the regime]
  Inlets *inlet;
  Feed feed; // for all of them
  uint32_t at_turn;
  uint32_t *turn, turns; // one round, which is what the user calls a step: these steps in order
  Gauges gauge;
  Traces trace;
  int64_t batch;
  int64_t epoch_runs, epoch_steps; // batches and rounds in an epoch; 0 without finite data
  uint64_t total, row_every, report_every;

  // where it is: this, the store and what was appended make a checkpoint
  uint64_t step, base; // done in this phase, and in those before
  Mean row, report;    // since the last of each
  Mean last;           // of the last step alone
  double best;
  bool has_best;
  uint64_t best_step;
  uint32_t waited; // reports without anything better
  double seconds;  // before this call

  // this call
  double started, saved, save_took, looked, drawn, said, rate, feeding;
  uint64_t pause_at, looked_step, look_every; // pause_at: in steps of all phases; 0 = never
  uint64_t until;                             // come back then; in steps of all phases
  bool begun, ended;                          // there is a first step, a last one
  Mean shown; // the window before `row`, so that what is shown is steady
  const char *dir;
  int lock;
  MetricsLog record;
  Saver *saver;
  LimnStatus status;
  Guard guard;
};

static inline double trainer_seconds(const Trainer *t) { // of training, all calls together
  return t->seconds + clock_seconds() - t->started;
}

#endif
