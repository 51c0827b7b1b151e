// Private to train: what was trained, used. A model file and a diagram make an engine; arrays go in
// and out.
#ifndef LIMN_USE_H
#define LIMN_USE_H

#include "run/train/train_own.h"

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
  Arrays weight;
  uint64_t seed;
  Precision precision;
  Store *store;
  const Diagram *d;
  Engine *engine;
  Probe *sight;    // what is being shown
  int64_t samples; // the most in one run
  bool many;       // results have samples in front
  LimnStatus status;
  Guard guard;
} Use;

// use.c
bool use_read(Use *); // the weights, and what the run was
bool use_fill(Use *, Store *,
              const Table *model); // states that the file has; of `model` it must have all
bool use_engine(Use *, const Diagram *, int64_t samples); // the most in one run
bool use_run(Use *, const Tensor *in, int64_t n,
             Tensor *out); // in batches. Those with samples have n in front
void use_close(Use *);
bool use_wrong(Use *, LimnStatus, const char *format, ...) __attribute__((format(printf, 3, 4)));
LimnStatus use_guarded(Elab *, Program *, const UseCall *, bool (*work)(Use *, void *),
                       void *context);

// predict.c
// The diagram for such arrays: those with an axis more than the input have samples in front.
const Diagram *use_instance(Use *, const char *name, const Diagram *formal, Array *, int64_t *n);
void use_results(Use *, const Tensor *out, Arrays *);

// show.c: the values of a show; n: how many samples, 0 as the view wants
bool use_show(Use *, Data *, const Show *, int64_t n, Shown *);

// sample.c: generate[f, length: 500]("to")
bool sample_text(Use *, const Syntax *expr, Shown *);

// put.c
bool array_from(Use *, const char *value, const Type *,
                Array *);                  // an input, from a file or as typed
bool arrays_put(Use *, const Arrays *out); // results: into a file, as text, or into memory

#endif
