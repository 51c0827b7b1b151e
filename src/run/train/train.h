// train: the loop around the engine: data in, steps, measures, checkpoints, a run folder.
//
//   train_run(in, program, &(TrainOptions){.epochs = 3, .out = "runs/net"}, NULL, NULL);
//
// A run is a function of program, data and seed. A checkpoint holds all of it that changes, so a
// run that was stopped or killed anywhere goes on as if nothing had happened, bit for bit, whatever
// the number of threads.
#ifndef LIMN_RUN_TRAIN_TRAIN_H
#define LIMN_RUN_TRAIN_TRAIN_H

#include "run/feed/feed.h"

// Where a run is. Losses are means, each under its goal's name; measures come with reports.
typedef struct {
  uint64_t step, steps; // made, and in all; of all `train` statements up to this one
  double epoch;         // 0 without data that end
  double seconds;
  bool reported; // measures are new
  uint32_t n;
  const char *const *name; // [n] of goals and measures
  const double *value;     // [n]
} TrainMetrics;

typedef struct {
  const char *out;      // the run folder; NULL: runs/NAME, or the next free runs/NAME.2 …
  const char *resume;   // a run folder to go on with, or NULL
  double epochs, steps; // 0: as the program says
  int64_t batch;        // 0: as the program says
  uint64_t seed;        // with has_seed; otherwise as the program says, or 0
  uint64_t pause;       // stop after so many steps as if *stop were set; 0: do not
  uint32_t threads;     // 0: as many as there are cores
  Precision precision;  // with has_precision; otherwise 32
  const char *device;   // "cpu", or NULL
  const char *every;    // a checkpoint each "100" steps or "30s"; NULL: each epoch and each 60 s
  bool has_seed, has_precision, reference, plan, json, quiet;
  bool in_memory;                    // no run folder: nothing is written
  const volatile sig_atomic_t *stop; // not 0: finish the step, save, come back; or NULL
  RunTell tell;
  void (*metrics)(void *context, const TrainMetrics *); // a row; or NULL
  void *metrics_context;
} TrainOptions;

// *dir: the run folder, NULL if there was none yet; dir itself may be NULL
// set: weights to begin with, by name; or NULL
Outcome train_run(Elab *, Program *, const TrainOptions *, const Arrays *set, const char **dir);

// The same in pieces. The options live as long as the trainer.
typedef struct Trainer Trainer;
Trainer *train_open(Elab *, Program *, const TrainOptions *, const Arrays *set);
Outcome train_go(Trainer *, uint64_t steps);      // so many more; nothing after the end
Outcome train_close(Trainer *, const char **dir); // a run that is not at its end is saved
bool train_ended(const Trainer *);                // there are no more steps
void train_metrics(const Trainer *, Arena *, TrainMetrics *); // of the last step
Store *train_store(Trainer *, const Table **model); // paths of weights (1) and buffers (2)

#endif
