// train: the loop around the engine: data in, steps, measures, checkpoints, a run folder.
//
//   train_run(in, program, &(TrainOptions){.epochs = 3, .out = "runs/net"}, NULL);
//
// A run is a function of program, data and seed. A checkpoint holds all of it that changes, so a
// run that was stopped or killed anywhere goes on as if nothing had happened, bit for bit, whatever
// the number of threads.
#ifndef LIMN_RUN_TRAIN_TRAIN_H
#define LIMN_RUN_TRAIN_TRAIN_H

#include "run/feed/feed.h"

typedef struct {
  const char *out;       // the run folder; NULL: runs/NAME, or the next free runs/NAME.2 …
  const char *resume;    // a run folder to go on with, or NULL
  double epochs, steps;  // 0: as the program says
  int64_t batch;         // 0: as the program says
  uint64_t seed;         // with has_seed; otherwise as the program says, or 0
  uint64_t pause;        // stop after so many steps as if *stop were set; 0: do not
  uint32_t threads;      // 0: as many as there are cores
  const char *precision; // "32", "64", "bf16"; NULL: 32
  const char *device;    // "cpu", or NULL
  const char *every;     // a checkpoint each "100" steps or "30s"; NULL: each epoch and each 60 s
  bool has_seed, reference, plan, json, quiet;
  const volatile sig_atomic_t *stop; // not 0: finish the step, save, come back; or NULL
  RunTell tell;
} TrainOptions;

// *dir: the run folder, NULL if there was none yet; dir itself may be NULL
Outcome train_run(Elab *, Program *, const TrainOptions *, const char **dir);

#endif
