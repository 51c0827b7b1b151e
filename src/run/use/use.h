// use: trained weights in use: measured again, predictions, samples, shows; and boxes on arrays.
//
//   LimnUse how = {.from = "runs/net", .in = &x, .nin = 1};
//   use_predict(in, program, "classify", &(UseCall){.how = &how, .text = &b});
#ifndef LIMN_RUN_USE_USE_H
#define LIMN_RUN_USE_USE_H

#include "limn.h"
#include "run/feed/feed.h"

// A request, and where its result is written.
typedef struct {
  const LimnUse *how;
  const Arrays *set; // weights that replace those of files, by name; NULL: none
  Buf *text;         // the result as text; or
  Arrays *out;       // the result as arrays in memory of `keep`; then no files are written
  Arena *keep;
} UseCall;
Outcome use_measure(Elab *, Program *, const UseCall *);                   // measure.c
Outcome use_predict(Elab *, Program *, const char *name, const UseCall *); // predict.c
Outcome use_sample(Elab *, Program *, const char *name, const UseCall *);  // sample.c
// -- show.c: all shows of a program, with the files of a run folder -------------------------------
// A show that fails is in the result with its reason; the outcome says that some failed.
Outcome use_shows(Elab *, Program *, const LimnUse *, Shows *);
// One batch of each show, before training.
typedef struct {
  bool dry_run; // nothing is computed: zeros of the right shapes
  Shows shown;
  VEC(Span) span; // [shown] its place in the program
} ShowsTried;
Outcome use_try_shows(Elab *, Program *, const LimnUse *, ShowsTried *);

// evaluate.c: a box, learner, goal or measure by the reference interpreter
typedef struct {
  const LimnEval *how;
  const Arrays *set;   // weights that replace those of files, by name; NULL: none
  Buf *text;           // NULL: no text
  Arrays *out, *grads; // NULL: not wanted
  Arena *keep;         // memory of out and grads
} EvalCall;
Outcome use_evaluate(Elab *, Program *, const char *name, const EvalCall *);

// -- gradients.c: gradients of one batch of the program's data ------------------------------------
typedef struct {
  const char *goal; // NULL: all goals
  const char *name; // a weight, or wires inside the goals; NULL: all weights
  Arrays *grads;    // in memory of `keep`; or NULL
} GradientsAsked;
// UseCall.out: the values of these weights or wires.
Outcome use_gradients(Elab *, Program *, const UseCall *, const GradientsAsked *);
Outcome use_wires(Elab *, Program *, const char *goal, Buf *); // names of wires, as JSON
// Wires of an inlined diagram by name: `h` is all with that name, `h.2` the second of these.
Ids wires_called(World *, Arena *, const Diagram *flat, const char *name);

// weights.c: weights of a diagram from the sources that the program names. False with a diagnostic.
bool use_sources(Elab *, Program *, const Diagram *, const Table *known, Arena *, Arrays *out);
typedef struct {
  const char *weights, *from; // a safetensors file; a run folder or such a file; or NULL
  const Arrays *set;          // these replace those of files; NULL: none
  uint64_t seed;              // of initial values, with has_seed; otherwise the program's
  bool has_seed;
  bool part; // the file may have other weights, without a warning
} WeightsAsked;
// param: [params of the diagram], in memory of the world.
Outcome use_params(Elab *, Program *, const Diagram *, const WeightsAsked *, Tensor *param);

// -- callable.c: a box or learner prepared for many calls -----------------------------------------
// Engines are compiled for the sizes of the arrays. Their diagrams are in the arena of the world:
// callable_forget frees all of these, and must be called before the world is reset.
typedef struct Callable Callable;
typedef struct {
  const LimnInput *in; // arrays in memory
  uint32_t nin;
  uint64_t step;  // of the noise
  uint32_t order; // order of the derivative; 0: values
  // [ndy] cotangents of the results; ndy = 0: all ones
  const LimnArray *dy;
  uint32_t ndy;
  LimnArrays *out, *grads; // in memory of the engines, or of `keep`; grads may be NULL
  Arena *scratch, *keep;
} CallOf;
// Allocated in this arena, which outlives that of the world. *out is set before memory can run out, so
// that the caller can close it whatever happens. Diagnostics if it failed.
Outcome callable_open(Elab *, Program *, Arena *, const char *name, const LimnPrepare *,
                      const Arrays *set, Callable **out);
void callable_close(Callable *);
Precision callable_precision(const Callable *);
bool callable_is_full(const Callable *); // callable_forget is due
void callable_forget(Callable *);
Outcome callable_call(Callable *, const CallOf *);
const Diagram *callable_diagram(Callable *); // with open sizes. NULL with a diagnostic
void callable_weights(Callable *, Arena *, bool buffers, LimnArrays *); // buffers, or weights
Outcome callable_weight_set(Callable *, const char *path, const LimnArray *);

#endif
