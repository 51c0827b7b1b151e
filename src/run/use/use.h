// use: what was trained, used: measured again, asked, sampled, shown; and a box on arrays.
//
//   UseOptions how = {.from = "runs/net", .in = &x, .nin = 1};
//   use_predict(in, program, "classify", &(UseCall){.how = &how, .text = &b});
#ifndef LIMN_RUN_USE_USE_H
#define LIMN_RUN_USE_USE_H

#include "run/feed/feed.h"

// Numbers in the caller's memory.
typedef struct {
  ElementKind kind; // EL_F64, EL_F32, EL_I64, EL_I32 or EL_U8
  uint32_t rank;
  const int64_t *shape;   // [rank]
  const int64_t *strides; // [rank] in bytes; NULL: row by row without gaps
  void *data;             // never written to
} MemoryArray;

typedef struct {
  const char *name;         // of an input, as "x"; "": by its place
  const char *value;        // x.npy, x.csv, x.csv:a..d, x.png, or numbers as '[1, 2, 3]'
  const MemoryArray *array; // in the place of `value`, if not NULL
} UseInput;

typedef struct {
  const char *from;   // a run folder (its model.safetensors), or a safetensors file
  const UseInput *in; // predict
  uint32_t nin;
  const char *out; // a file: npy, csv, json, png (pictures side by side), txt; NULL: the text
  uint64_t seed;   // of noise, with has_seed; otherwise the run's
  uint32_t threads;
  Precision precision; // with has_precision; otherwise the run's
  bool has_seed, has_precision, reference, json;
  int64_t n, length;  // sample: how many; of text, how long. 0: 64 (one of text), 500
  double temperature; // of text; 0: 1
  const char *prompt; // of text; NULL: as the program says, or a line's end
} UseOptions;

// What is asked for, and where the answer goes.
typedef struct {
  const UseOptions *how;
  const Arrays *set; // weights that stand in for those of files, by name; NULL: none
  Buf *text;         // the answer in words; or
  Arrays *out;       // in numbers, in memory of `keep`, and then no files are written
  Arena *keep;
} UseCall;
Outcome use_measure(Elab *, Program *, const UseCall *);                   // measure.c
Outcome use_predict(Elab *, Program *, const char *name, const UseCall *); // predict.c
Outcome use_sample(Elab *, Program *, const char *name, const UseCall *);  // sample.c
// -- show.c: all that a program shows, computed with what a run folder holds ----------------------
Outcome use_shows(Elab *, Program *, const UseOptions *, Shows *);

// evaluate.c: a box, learner, goal or measure by the interpreter
typedef struct {
  const UseInput *in;
  uint32_t nin;
  const char *weights;         // a safetensors file, or NULL: weights start as the program says
  const char *from;            // a run folder or a safetensors file, or NULL
  const char *out;             // an npy file for the result, or NULL
  const char *dy;              // a cotangent of the result (npy or numbers), or NULL
  const MemoryArray *dy_array; // the same in memory, or NULL
  const char *grads;           // a safetensors file for gradients of inputs and weights, or NULL
  const char *save;            // a safetensors file for the weights that were used, or NULL
  uint64_t seed;
  bool training; // batch statistics, dropout
  bool json;
  bool count; // multiplications are counted and told
} EvalOptions;
typedef struct {
  const EvalOptions *how;
  const Arrays *set;   // weights that stand in for those of files, by name; NULL: none
  Buf *text;           // NULL: no words
  Arrays *out, *grads; // NULL: not wanted
  Arena *keep;         // of these
} EvalCall;
Outcome use_evaluate(Elab *, Program *, const char *name, const EvalCall *);

// memory_arrays.c
bool array_from_memory(Arena *, const MemoryArray *, Array *, const char **error);
void arrays_keep(Arena *, Arrays *, const Array *); // a copy that lives there

#endif
