// use: what was trained, used: measured again, asked, sampled, shown.
//
//   use_predict(in, program, "classify", &(UseOptions){.from = "runs/net", .in = &x, .nin = 1}, &b);
#ifndef LIMN_RUN_USE_USE_H
#define LIMN_RUN_USE_USE_H

#include "run/feed/feed.h"

typedef struct {
  const char *name;  // of an input, as "x"; "": by its place
  const char *value; // x.npy, x.csv, x.csv:a..d, x.png, or numbers as '[1, 2, 3]'
} UseInput;

typedef struct {
  const char *from;   // a run folder (its model.safetensors), or a safetensors file
  const UseInput *in; // predict
  uint32_t nin;
  const char *out; // a file: npy, csv, json, png (pictures side by side), txt; NULL: the Buf
  uint64_t seed;   // of noise, with has_seed; otherwise the run's
  uint32_t threads;
  const char *precision; // NULL: the run's
  bool has_seed, reference, json;
  int64_t n, length;  // sample: how many; of text, how long. 0: 64 (one of text), 500
  double temperature; // of text; 0: 1
  const char *prompt; // of text; NULL: as the program says, or a line's end
} UseOptions;

// The answer goes to the Buf.
Outcome use_measure(Elab *, Program *, const UseOptions *, Buf *);                   // measure.c
Outcome use_predict(Elab *, Program *, const char *name, const UseOptions *, Buf *); // predict.c
Outcome use_sample(Elab *, Program *, const char *name, const UseOptions *, Buf *);  // sample.c
// -- show.c: all that a program shows, computed with what a run folder holds ----------------------
Outcome use_shows(Elab *, Program *, const UseOptions *, Shows *);

#endif
