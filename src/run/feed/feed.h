// feed: data for engines, and the values that training and use compute with them: inputs from data,
// noise, initial values, measures, shows.
//
//   Data *d = data_new(elab, program, arena);
//   Feed f = {0};
//   if (!data_open_all(d) || !feed_add(d, &f, &fields, engine, &(DataOverride){0}, &inlets)) …
//   feed_start(d, &f, 64, 0, 0);
//   while ((n = feed_next(&f, &inlets, &why)) >= 0) engine_run(engine, n, step++);
#ifndef LIMN_RUN_FEED_FEED_H
#define LIMN_RUN_FEED_FEED_H

#include "run/engine/engine.h"
#include "run/runs/runs.h"
#include "run/step/step.h"

// -- inputs.c: data for the inputs of engines -----------------------------------------------------
typedef VEC(Words) WordsList;
typedef struct {
  const char *name; // of a known set, or a path
  const char *key;  // given_source_key
  bool bits;
  int64_t window;
  Episodes episodes;
  int64_t pieces;
  bool whole;
  WordsList words; // words that number its labels
  Set *set;
  uint32_t fields; // of the set as it was opened
  uint64_t sum;    // of them, once `summed`
  bool summed;
} OpenedSet;

typedef struct {
  // A set, or a file. Whole, split or in windows, its numbers are the same.
  const char *key;
  uint32_t field;
} RoundingCheck;

typedef struct { // words of a field of a set that were saved with weights
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
  bool valid;         // some training data are kept for validation
  bool dry_run;       // no engine is made, and a set need not be installed
  bool missing;       // dry run: some set is not installed
  bool exact;         // reals have 64 bits
  KeptWordsList kept; // words of the run whose weights are used
  bool knows_words;   // that run has saved its words, so there are no others
  // `kept` includes words of runs that learners come from, after own_words entries
  bool has_source_words;
  uint32_t own_words;
  VEC(OpenedSet) opened;
  Set **set;                  // [given] NULL: not opened
  VEC(RoundingCheck) checked; // fields for which a loss by rounding was checked
} Data;

// Which samples are read. `on mnist.test` replaces the split of every source of the set, or all
// sources by the set.
typedef struct {
  const OnData *on; // replaces sources of this set or file; NULL: none
  Split split;
  bool every;   // replaces all sources
  bool ordered; // each sample once, in order; otherwise shuffled
} DataOverride;

const char *data_sums_text(Data *, Arena *); // metadata for a checkpoint: checksums of the sets
// The name of an open set with another checksum than in this text; NULL: none.
const char *data_differs(Data *, Arena *, const char *sums);

typedef struct { // data for one or more engines, batch after batch
  VEC(uint32_t) given;
  VEC(Draw) draw; // [given]
  VEC(LoaderSource) source;
  int64_t samples; // samples of an epoch; 0: no source is finite
  bool unknown;    // dry run: some set is not installed
  Arena *arena;
  Loader *loader;
} Feed;

typedef struct {
  uint32_t source;
  size_t bytes; // of one sample
  void *to;     // [n …], in memory of the engine
  // Set to 1 when row numbers are written to `to`. NULL: the inlet takes samples.
  int32_t *by_rows;
} Inlet;
typedef VEC(Inlet) Inlets;

Data *data_new(Elab *, Program *, Arena *);
// Opens the sets of these fields. False with a diagnostic.
bool data_need(Data *, const Ids *fields);
bool data_open_all(Data *); // of goals, measures and shows
bool feed_draws(Data *, Feed *, const Ids *fields, const DataOverride *); // only sets .samples
// engine: NULL in a dry run
bool feed_add(Data *, Feed *, const Ids *fields, Engine *, const DataOverride *, Inlets *);
// number: first batch of that epoch
bool feed_start(Data *, Feed *, int64_t batch, int64_t epoch, int64_t number);
void feed_stop(Feed *);
int64_t feed_batches(const Feed *); // of an epoch
// Fills the inlets of one engine. Gives the number of samples; -1: failed, *why.
int64_t feed_next(Feed *, const Inlets *, const char **why);
DataOverride samples_on(World *, const OnData *); // each sample once, in order

// vocabulary.c: words of labels
const char *given_name(const Data *, const Given *); // name of its set, or path
// {ant, bee}; false: the type names none.
bool type_words(World *, const Type *, const char *field, Words *);
// The words that number the labels of a `given`. False with a diagnostic.
bool given_words(Data *, const Given *, WordsList *);
// Agrees with the words of the run. False with a diagnostic
bool data_words_agree(Data *, const Type *, const char *field);
// Reads the words of a weights file; before any set is opened
bool data_read_words(Data *, const Arrays *weights, const char *file);
const char *data_words_text(Data *, Arena *); // metadata for a weights file
// The words of a source with so many labels in the field of this name (NULL: any). NULL: there are
// none, or there are different ones, *several.
const Words *data_labels(Data *, int64_t count, const char *field, bool *several);
// Of the field of this name; without diagnostics
bool data_has_words(Data *, int64_t count, const char *field);

// random_streams.c: independent random streams of a program's draws
uint64_t given_stream(Elab *, const Program *, uint32_t given);
uint64_t program_seed(Elab *, Program *); // the first one that a `train` gives; 0: none
// The seed of the run that wrote these weights, which its constants were drawn with; or the program's.
uint64_t weights_seed(Elab *, Program *, const Arrays *);
int64_t program_batch(Elab *, Program *); // the first one that a `train` gives; 0: none

// noise_fields.c: the diagram with its noise inside. *fields: the remaining inputs. 0 stands for an
// input whose only meaning is the number of samples.
Diagram *compose_noise(Elab *, const Program *, Diagram *, Ids *fields);
bool is_sample_axis(World *, const Type *); // the first axis counts samples
// Does some value depend on several samples? Then all samples must be one batch.
bool samples_interact(World *, const Diagram *);
// A batch size, of at most `most`, if any will do: enough to be fast, fewer if samples need much
// memory or time. It is the same on every machine, and so are sums over samples.
int64_t samples_per_batch(World *, const Diagram *, int64_t most);
double multiplications_of(World *, const Diagram *, double samples);        // 0: unknown
bool any_sample_axis(World *, const Diagram *, const Id *wire, uint32_t n); // of one of these wires
bool has_sample_axis(World *, const Diagram *);                             // of one of its inputs

// -- initial_values.c: initial values of states ---------------------------------------------------
bool store_add_flat(World *, Store *, const WeightRow *, uint64_t seed);
bool store_start_as(World *, Store *, const char *path, const char *as); // copies the value of `as`
// Adds the weights of all measures and shows
bool store_add_used(World *, Store *, const Program *, uint64_t seed);
// A store in double precision that is freed with the arena, also if memory runs out; or NULL.
Store *store_in(Arena *);
// Loads the weights of `learn f … from "f.safetensors"` into states that the store has. Paths in
// `known` (NULL: none) have a value already, and their file need not exist.
bool store_load_sources(Elab *, Program *, Store *, const Table *known);
// Adds and loads only these of the diagram's weights.
bool store_load_sources_of(Elab *, Program *, Store *, const Diagram *, const Table *known);
void paths_add(Table *, const Arrays *); // adds the names of arrays; NULL: none
// Loads values by path. Every weight of a learner must be there, unless the program gives its
// source.
bool store_load_all(Elab *, const Program *, Store *, const Arrays *, const char *file);
// Do source files fit the weights of the program's diagrams?
bool sources_fit(Elab *, Program *);
const char *source_file(Elab *, const Def *); // the learner's weights file; NULL: it has none
// The path is a weight of `learn f … from`
bool has_source(Elab *, const Program *, const char *path);
// Copies the states in `which` by path, and adds those that `to` lacks.
bool store_copy_paths(World *, Store *to, Store *from, const Table *which);
// Loads values by path; all must be there.
bool store_load(World *, Store *, const Arrays *, const char *path);
// Paths of learners' weights (1), of their buffers (2), and of their stale copies.
Table *model_paths(World *, Arena *, const Program *);
// Does each weight have a known size? A diagram with an open size is never run.
bool sizes_known(World *, const Diagram *);
Table *weight_paths(Arena *, const Diagram *); // paths of a diagram's weights (1)

// -- measures.c: measures, and the loss on validation data ----------------------------------------
typedef struct {
  const char *label; // column of metrics.csv
  const char *where; // "mnist.test", "training data"
  int better;        // 1: larger is better, -1: smaller is; 0: unknown
  bool moved;        // depends on a weight that is trained
  uint32_t parts;    // number of values that are added: one, or one for each goal
  Engine **engine;
  Feed *feed;
  Inlets *inlet;
  // [part] the function of sums over samples; NULL: the value is a mean over samples
  Diagram **rest;
  int64_t *batch;
  double value;
  bool known, fresh; // fresh: not written to metrics.csv yet
  bool failed;       // has failed; not measured any more
} Gauge;
typedef struct {
  VEC(Gauge);
  Data *data;
  Store *store;
  Target target;
  int64_t batch; // batch size of training; 0: there is none
  Ids goals;     // goals that are trained
  // Called before each batch but the first, with the part of this measure that is done. False:
  // stop. NULL: never stop.
  bool (*may_continue)(void *context, const Gauge *, double part);
  void *context;
  bool stopped; // the last run was stopped, and all values are as before
} Gauges;
bool gauges_open(Gauges *);
bool gauges_run_one_batch(Gauges *); // runs one batch of each
bool gauges_run(Gauges *); // false with a diagnostic: one failed, and is skipped from now on
void gauges_close(Gauges *);
// The measure by which the best weights are chosen; NULL: the loss.
const Gauge *gauge_for_best(const Gauges *);

// -- probe.c: the values of a `show` --------------------------------------------------------------
typedef struct {
  const Show *show;
  const Diagram *d;
  Engine *engine;
  Feed feed;
  Inlets inlet;
  int64_t wanted, batch;
  bool samples;   // values have samples as the first axis
  bool one_batch; // values depend on several samples: all are one batch
  bool repeated;  // made of noise alone: run once for each sample
} Probe;
// n: number of samples; 0: as many as the view takes. False with a diagnostic.
bool probe_open(Data *, Store *, const Show *, int64_t n, const Target *, Probe *);
bool probe_evaluate(Data *, Probe *, Tensor *out); // [outputs of the diagram]
bool probe_evaluate_some(Data *, Probe *, bool one_batch, Tensor *out);
void probe_close(Probe *);
// The text of a `show`, up to `as`; the text of each value.
const char *show_text(World *, Arena *, const Show *);
const char *shown_name(World *, Arena *, const Show *, uint32_t i, uint32_t values);
bool is_path(const Show *);
const char *frame_name(Arena *, uint32_t show, uint64_t step); // file in the run folder

// -- caller_arrays.c: arrays in the caller's memory -----------------------------------------------
ElementKind memory_element(LimnType);
bool array_from_memory(Arena *, const LimnArray *, Array *, const char **error);
void arrays_keep(Arena *, Arrays *, const Array *); // a copy in that arena
LimnType number_type(Number);
// Is the array valid?
bool array_size(Arena *, const LimnArray *, int64_t *count, const char **error);
typedef struct {
  void *at;
  Number number;
  int64_t labels; // number of labels; 0: no labels
} CellsTo;
// Copies cells in row-major order. False: the number at *wrong is *value, which is no label.
bool cells_from_memory(const LimnArray *, int64_t count, CellsTo, int64_t *wrong, double *value);
int64_t array_row_bytes(const LimnArray *); // of one position of the first axis
int64_t labels_of(World *, const Type *);   // number of labels or bits, at most; 0 for reals

#endif
