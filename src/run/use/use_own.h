// Private to use: a model file and a diagram make an engine; arrays go in and out.
#ifndef LIMN_RUN_USE_USE_OWN_H
#define LIMN_RUN_USE_USE_OWN_H

#include "run/use/use.h"

typedef struct {
  Elab *in;
  World *w;
  Program *p;
  Arena *arena; // where things are made
  Arena *own;   // goes with the use
  const UseCall *call;
  const LimnUse *how; // of it
  const char *file;   // with the weights; NULL: the program says where they are from
  bool begins;        // weights that are nowhere are as they begin
  bool one_batch;     // a show is only tried
  bool ahead;         // … without computing it
  Arrays weight;
  uint64_t seed;
  Precision precision;
  struct Device *device; // that computes; NULL: the CPU
  Store *store;
  const Diagram *d;
  Engine *engine;
  Probe *probe;    // what is being shown
  Gauges *gauges;  // what is being measured
  int64_t samples; // the most in one run
  bool many;       // results have samples in front
  bool training;   // boxes are as in training: batch statistics, dropout
  Outcome status;
  Guard guard;
} Use;

// -- use.c ----------------------------------------------------------------------------------------
bool use_read(Use *);  // the weights, and what the run was
Data *use_data(Use *); // of the program, with the words of the run. NULL with a diagnostic
bool use_fill(Use *, Store *,
              const Table *model); // states that the file has; of `model` it must have all
bool use_fill_from(Use *, Store *, uint32_t first, const Table *model); // those from this one on
Target use_target(const Use *);
bool use_store(Use *);                                    // a new one
bool use_engine(Use *, const Diagram *, int64_t samples); // the most in one run
bool use_run(Use *, const Tensor *in, int64_t n,
             Tensor *out); // in batches. Those with samples have n in front
void use_close(Use *);
bool use_wrong(Use *, Outcome, const char *format, ...) __attribute__((format(printf, 3, 4)));
Outcome use_guarded(Elab *, Program *, const UseCall *, bool (*work)(Use *, void *), void *context);

// weights.c: [of the diagram]. False with a diagnostic.
bool use_weights(Use *, const Diagram *, const WeightsAsked *, Tensor *param);

// predict.c: an array without places would be read outside of it.
bool input_has_places(Use *, const Diagram *, uint32_t input, const Array *);
// Says that the k-th number of an input is none of its labels; always false. file: or NULL
bool label_refuse(Use *, const Diagram *, uint32_t input, const char *file, const Array *,
                  int64_t k, double value);

// -- inputs_match.c -------------------------------------------------------------------------------
// to: [inputs of the diagram]. False with a diagnostic.
bool inputs_match(World *, const Diagram *, const LimnInput *given, uint32_t n,
                  const LimnInput **to);

// -- predict.c ------------------------------------------------------------------------------------
// The diagram for such arrays: those with an axis more than the input have samples in front.
const Diagram *use_instance(Use *, const char *name, const Diagram *formal, Array *, int64_t *n);
bool use_results(Use *, const Tensor *out);         // named, and put where they are wanted
bool use_arrays(Use *, const Array *in, int64_t n); // through the engine, and so put

// -- show.c: the values of a show; n: how many samples, 0 as the view wants -----------------------
bool show_values(Use *, Data *, const Show *, int64_t n, Shown *);

// -- sample.c: generate[f, length: 500]("to") -----------------------------------------------------
bool sample_text(Use *, const Syntax *expr, Shown *);
// A text as an input of labels: their numbers, the last ones that the input has room for; where it has
// more room, label 0 follows.
bool labels_of_text(Use *, const Diagram *, uint32_t input, const char *text, Array *out);

// -- array_files.c --------------------------------------------------------------------------------
bool array_from(Use *, const char *value, const Type *,
                Array *);                              // an input, from a file or as typed
bool array_from_npy(Use *, const char *path, Array *); // whose numbers are all finite
bool arrays_put(Use *, const Arrays *out); // results: into a file, as text, or into memory

#endif
