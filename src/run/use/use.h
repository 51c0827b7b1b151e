// use: what was trained, used: measured again, asked, sampled, shown; and a box on arrays.
//
//   LimnUse how = {.from = "runs/net", .in = &x, .nin = 1};
//   use_predict(in, program, "classify", &(UseCall){.how = &how, .text = &b});
#ifndef LIMN_RUN_USE_USE_H
#define LIMN_RUN_USE_USE_H

#include "limn.h"
#include "run/feed/feed.h"

// What is asked for, and where the answer goes.
typedef struct {
  const LimnUse *how;
  const Arrays *set; // weights that stand in for those of files, by name; NULL: none
  Buf *text;         // the answer in words; or
  Arrays *out;       // in numbers, in memory of `keep`, and then no files are written
  Arena *keep;
} UseCall;
Outcome use_measure(Elab *, Program *, const UseCall *);                   // measure.c
Outcome use_predict(Elab *, Program *, const char *name, const UseCall *); // predict.c
Outcome use_sample(Elab *, Program *, const char *name, const UseCall *);  // sample.c
// -- show.c: all that a program shows, computed with what a run folder holds ----------------------
// What fails is in the answer too, with its reason; the outcome says so.
Outcome use_shows(Elab *, Program *, const LimnUse *, Shows *);
// One batch of each, before anything is trained.
typedef struct {
  bool ahead; // nothing is computed: zeros of the right shapes
  Shows shown;
  VEC(Span) span; // of each, in the program
} ShowsTried;
Outcome use_try_shows(Elab *, Program *, const LimnUse *, ShowsTried *);

// evaluate.c: a box, learner, goal or measure by the interpreter
typedef struct {
  const LimnEval *how;
  const Arrays *set;   // weights that stand in for those of files, by name; NULL: none
  Buf *text;           // NULL: no words
  Arrays *out, *grads; // NULL: not wanted
  Arena *keep;         // of these
} EvalCall;
Outcome use_evaluate(Elab *, Program *, const char *name, const EvalCall *);

// -- gradients.c: one batch of the program's data through its goals --------------------------------
typedef struct {
  const char *goal; // NULL: all
  const char *name; // a weight, or wires inside; NULL: all weights
  Arrays *grads;    // in memory of `keep`; or NULL
} GradientsAsked;
// UseCall.out: what they are
Outcome use_gradients(Elab *, Program *, const UseCall *, const GradientsAsked *);
Outcome use_wires(Elab *, Program *, const char *goal, Buf *); // what there is inside, as JSON
// Of a flat diagram: `h` is all that are called so, `h.2` the second of them.
Ids wires_called(World *, Arena *, const Diagram *flat, const char *name);

// weights.c
// The weights of a diagram that the program says where to find. False with a diagnostic.
bool use_sources(Elab *, Program *, const Diagram *, const Table *known, Arena *, Arrays *out);
typedef struct {
  const char *weights, *from; // a safetensors file; a run folder or such a file; or NULL
  const Arrays *set;          // these stand in for those of files; NULL: none
  uint64_t seed;              // of first values, with has_seed; otherwise the program's
  bool has_seed;
  bool part; // the file has more than this diagram's, and nothing is said of that
} WeightsAsked;
// param: [of the diagram]; in memory of the world.
Outcome use_params(Elab *, Program *, const Diagram *, const WeightsAsked *, Tensor *param);

// -- callable.c: a box or learner made ready to be called again and again ---------------------------
// It is compiled for the sizes that it meets. What it makes for them is in the arena of the world:
// callable_forget gives up all of it, before the world is put back.
typedef struct Callable Callable;
typedef struct {
  const LimnInput *in; // arrays in memory
  uint32_t nin;
  uint64_t step;       // of noise
  uint32_t order;      // of the derivative; 0: values
  const LimnArray *dy; // [ndy] one for each result; none: 1 for each number
  uint32_t ndy;
  LimnArrays *out, *grads; // in memory of engines, or of `keep`; grads: or NULL
  Arena *scratch, *keep;
} CallOf;
// In this arena, which outlives that of the world. The outcome of what was refused is in *end.
Callable *callable_open(Elab *, Program *, Arena *, const char *name, const LimnPrepare *,
                        const Arrays *set, Outcome *end);
void callable_close(Callable *);
Precision callable_precision(const Callable *);
bool callable_is_full(const Callable *); // it is time to forget
void callable_forget(Callable *);
Outcome callable_call(Callable *, const CallOf *);
const Diagram *callable_diagram(Callable *); // as it is declared. NULL with a diagnostic
void callable_weights(Callable *, Arena *, bool buffers, LimnArrays *); // or else weights
Outcome callable_weight_set(Callable *, const char *path, const LimnArray *);

#endif
