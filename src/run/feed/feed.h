// feed: what goes into engines, and what is measured and looked at with them, in training and
// after it: inputs from data, noise, first values, measures, shows.
//
//   Data *d = data_new(elab, program, arena);
//   Feed f = {0};
//   if (!data_open_all(d) || !feed_add(d, &f, &fields, engine, &(Instead){0}, &inlets)) …
//   feed_start(d, &f, 64, 0, 0);
//   while ((n = feed_next(&f, &inlets, &why)) >= 0) engine_run(engine, n, step++);
#ifndef LIMN_RUN_FEED_FEED_H
#define LIMN_RUN_FEED_FEED_H

#include "run/engine/engine.h"
#include "run/runs/runs.h"
#include "run/step/step.h"

// -- inputs.c: where the inputs of an engine come from --------------------------------------------
typedef VEC(Words) WordsList;
typedef struct {
  const char *name; // of a known set, or a path
  bool bits;
  int64_t window;
  Episodes episodes;
  int64_t pieces;
  bool whole;
  WordsList words; // by which its labels are numbered
  Set *set;
} Opened;

typedef struct {
  const char *name; // of a set, or a file: whole, cut or in windows, it has the same numbers
  uint32_t field;
} Looked;

typedef struct { // the words of a field of a set, as they were kept with weights
  const char *set;
  Words words;
} KeptWords;
typedef VEC(KeptWords) KeptWordsList;

typedef struct {
  Elab *in;
  World *w;
  Program *p;
  Arena *arena;
  uint64_t draw_seed; // of shuffles
  bool valid;         // validation data are wanted
  bool ahead;         // nothing is run: engines are not made, and a set need not be here
  bool missing;       // one of them is not
  bool exact;         // numbers are kept in 64 bits
  KeptWordsList kept; // of the run whose weights are used
  bool knows_words;   // there are no others in that run
  bool sources_kept;  // those of the runs that learners are from stand behind them
  uint32_t own_kept;
  VEC(Opened) opened;
  Set **set;          // [given] NULL while it is not needed
  VEC(Looked) looked; // fields of which it was looked whether rounding takes something away
} Data;

// Which samples: `on mnist.test` puts that split in the place of every source of the set, or the set
// in the place of all.
typedef struct {
  const OnData *on; // replace sources of this set, or file; NULL: none
  Split split;
  bool every;   // replace all of them
  bool ordered; // each sample once, in order; otherwise shuffled
} Instead;

typedef struct { // data for one or more engines, batch after batch
  VEC(uint32_t) given;
  VEC(Draw) draw; // for each given
  VEC(LoaderSource) source;
  int64_t samples; // in an epoch; 0: there is no finite source
  bool unknown;    // a set is not here, ahead of a run
  Arena *arena;
  Loader *loader;
} Feed;

typedef struct {
  uint32_t source;
  size_t bytes;     // of one sample
  void *to;         // [n …], memory of the engine
  int32_t *by_rows; // it takes numbers of rows: set when they are there; NULL: samples
} Inlet;
typedef VEC(Inlet) Inlets;

Data *data_new(Elab *, Program *, Arena *);
// Opens the sets behind these fields. False with a diagnostic.
bool data_need(Data *, const Ids *fields);
bool data_open_all(Data *);                                          // of goals and measures
bool feed_draws(Data *, Feed *, const Ids *fields, const Instead *); // so that .samples is known
bool feed_add(Data *, Feed *, const Ids *fields, Engine *, const Instead *,
              Inlets *); // engine: NULL ahead of a run
bool feed_start(Data *, Feed *, int64_t batch, int64_t epoch,
                int64_t number); // at this batch of it
void feed_stop(Feed *);
int64_t feed_batches(const Feed *); // in an epoch
// How many samples came, into the memory of one engine; -1: *why.
int64_t feed_next(Feed *, const Inlets *, const char **why);
Instead samples_on(World *, const OnData *); // each sample once and in order

// vocabulary.c: what labels are called
const char *given_name(const Data *, const Given *); // of the set, or its path
bool type_words(World *, const Type *, const char *field,
                Words *); // {ant, bee}; false: it has none
// The vocabularies by which the fields of a `given` are read. False with a diagnostic.
bool given_words(Data *, const Given *, WordsList *);
bool data_words_agree(Data *, const Type *, const char *field); // with the run's. False: it is said
bool data_keep(Data *, const Arrays *weights, const char *file); // before any set is opened
void data_words(Data *, Arena *, KeptWordsList *);
const char *data_words_text(Data *, Arena *); // to be kept with weights
// Those of sources that have so many labels, under this name (NULL: any). NULL: there are none; or
// several, which are not the same.
const Words *data_labels(Data *, int64_t count, const char *field, bool *several);
bool data_has_words(Data *, int64_t count, const char *field); // … under this name; nothing is said

// streams.c: tells the draws of a program apart
uint64_t given_stream(Elab *, const Program *, uint32_t given);
uint64_t program_seed(Elab *,
                      Program *); // the first that a `train` says is the run's; 0: none does
int64_t program_batch(Elab *, Program *); // the first that a `train` says; 0: none does

// noise_fields.c: the diagram with its noise inside. *fields become those that are left; 0 stands for an
// input that only says how many samples there are.
Diagram *compose_noise(Elab *, const Program *, Diagram *, Ids *fields);
bool is_sample_axis(World *, const Type *); // samples stand in front
// Does a sample meet others, or what is made of them? Then all are computed at once.
bool samples_meet(World *, const Diagram *);
// How many samples are computed at once where any number will do: as many as it takes to be fast, and
// fewer of those that want much memory or time. It is the same on every machine, and so are sums over
// samples.
int64_t samples_together(World *, const Diagram *, int64_t most);
double multiplications_of(World *, const Diagram *,
                          double samples); // in multiplications; 0: it cannot be said
bool any_sample_axis(World *, const Diagram *, const Id *wire, uint32_t n); // … of these wires
bool has_sample_axis(World *, const Diagram *);                             // of its inputs

// -- start_values.c: first values -----------------------------------------------------------------
bool store_add_flat(World *, Store *, const WeightRow *, uint64_t seed);
bool store_copy(World *, Store *, const char *path,
                const char *as); // starts with the value of another
bool store_add_shown(World *, Store *, const Program *, uint64_t seed); // weights of all shows
const Diagram *show_diagram(const Program *, const Show *);             // NULL: it is not known yet
// What `learn f … from "f.safetensors"` gives to those that are in the store; the values of
// `known` paths (NULL: none) come from elsewhere, and their file need not be there.
bool store_add_sources(Elab *, Program *, Store *, const Table *known);
bool store_only_sources(Elab *, Program *, Store *, const Diagram *,
                        const Table *known); // of its weights, only these
void paths_add(Table *, const Arrays *);     // the names of these; NULL: none
// Values by path; learners' weights must be there, unless the program says where they are from.
bool store_put_all(Elab *, const Program *, Store *, const Arrays *, const char *file);
bool sources_fit(Elab *, Program *);          // … to the weights of goals, measures and shows
const char *source_file(Elab *, const Def *); // with the weights of the learner; NULL: it has none
bool has_source(Elab *, const Program *, const char *path); // `learn f … from` gives this weight
// Values by path; what `to` lacks is added. Only those in `which`.
bool store_move(World *, Store *to, Store *from, const Table *which);
bool store_read(World *, Store *, const Arrays *,
                const char *path); // values by path, all of them wanted
// Of learners' weights (1) and buffers (2), and of their stale copies.
Table *model_paths(World *, Arena *, const Program *);
Table *weight_paths(Arena *, const Diagram *); // of a diagram's weights (1)

// -- measures.c: measures and the loss on validation data -----------------------------------------
typedef struct {
  const char *label; // a column of metrics.csv
  const char *where; // "mnist.test", "training data"
  int better;        // 1: more is, -1: less; 0: nothing says so
  bool moved;        // it reads something that is trained
  uint32_t parts;    // values that are added up: one, or one for each goal
  Engine **engine;
  Feed *feed;
  Inlets *inlet;
  Diagram **rest; // of a measure of a whole set: what is made of sums over samples; or NULL
  int64_t *batch;
  double value;
  bool known, fresh; // fresh: since it was last written down
  bool failed;       // it could not be measured once
} Gauge;
typedef struct {
  VEC(Gauge);
  Data *data;
  Store *store;
  Target target;
  int64_t batch; // of training; 0: there is none
  Ids goals;     // that are trained
  // Asked before each batch but the first, with how much of this one is measured; false: no more is
  // wanted. NULL: nobody asks.
  bool (*goes_on)(void *context, const Gauge *, double part);
  void *context;
  bool left; // the last time no more was wanted: all are as they were
} Gauges;
bool gauges_open(Gauges *);
bool gauges_try(Gauges *); // one batch of each
bool gauges_run(Gauges *); // false with a diagnostic: one has failed, and is left out from then on
void gauges_close(Gauges *);
// The one that says which weights are best; NULL: none, the loss does.
const Gauge *gauge_judge(const Gauges *);

// -- probe.c: a `show`, computed ------------------------------------------------------------------
typedef struct {
  const Show *show;
  const Diagram *d;
  Engine *engine;
  Feed feed;
  Inlets inlet;
  int64_t wanted, batch;
  bool samples; // values have samples in front
  bool at_once; // samples meet each other: all are one batch
  bool again;   // it is of noise alone: run as often as there are samples wanted
} Probe;
// n: how many samples, 0 as many as the view has room for. False with a diagnostic.
bool probe_open(Data *, Store *, const Show *, int64_t n, const Target *, Probe *);
bool probe_take(Data *, Probe *, Tensor *out); // [out of the diagram]
bool probe_take_some(Data *, Probe *, bool one_batch, Tensor *out);
void probe_close(Probe *);
// What is shown, as it is written, up to `as`; and each value by its own text.
const char *show_text(World *, Arena *, const Show *);
const char *shown_name(World *, Arena *, const Show *, uint32_t i, uint32_t values);
bool is_path(const Show *);
const char *frame_name(Arena *, uint32_t show, uint64_t step); // in the run folder

// -- memory_arrays.c: arrays of the caller ----------------------------------------------------------
ElementKind memory_element(LimnType);
bool array_from_memory(Arena *, const LimnArray *, Array *, const char **error);
void arrays_keep(Arena *, Arrays *, const Array *); // a copy that lives there
LimnType number_type(Number);
bool array_size(Arena *, const LimnArray *, int64_t *count, const char **error); // it makes sense
typedef struct {
  void *at;
  Number number;
  int64_t labels; // how many there are; 0: these are none
} CellsTo;
// Its numbers row by row. False: the number at *wrong is *value, which is no label.
bool cells_from_memory(const LimnArray *, int64_t count, CellsTo, int64_t *wrong, double *value);
int64_t array_row_bytes(const LimnArray *); // of one place of its first axis
int64_t labels_of(World *, const Type *); // how many labels or bits there are, at most; of reals 0

#endif
