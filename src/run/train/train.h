// train: the training loop: data, steps, measures, checkpoints, and the run folder.
//
//   train_run(in, program, &(LimnTrain){.epochs = 3, .out = "runs/net"}, NULL, NULL);
//
// A run is a function of program, data and seed. A checkpoint holds all state that changes, so a
// run that was stopped or killed at any time can be resumed and continues bit for bit, whatever the
// number of threads.
#ifndef LIMN_RUN_TRAIN_TRAIN_H
#define LIMN_RUN_TRAIN_TRAIN_H

#include "limn.h"
#include "run/feed/feed.h"

// changes.c: requests a change of the run in this folder. NULL, or a sentence.
const char *change_request(Arena *, const char *dir, const char *what, double value);
// NULL: `what` is a setting that can be changed; otherwise a sentence.
const char *change_unknown(Arena *, const Settings *, const char *what);

const char *device_worth(Arena *); // choose.c: the device of --device auto if there is a GPU

// *dir: the run folder, NULL if there is none yet; dir itself may be NULL
// set: initial weights by name; or NULL
Outcome train_run(Elab *, Program *, const LimnTrain *, const Arrays *set, const char **dir);

// Reports what a run would be refused for before its first step, as far as that is known without
// compiling or computing anything. Data sets need not be installed.
Outcome train_ahead(Elab *, Program *, const LimnTrain *);

// The steps of a program that trains in one phase, and their initial values, for exports.
typedef struct {
  const Regime *regime; // with noise computed inside the diagrams
  Store *store;         // initial values
  uint64_t seed, rounds;
  bool endless;   // the number of rounds is unknown: a set is not installed
  int64_t batch;  // 0: no samples
  uint32_t turns; // per round
  const uint32_t *turn;
} TrainSteps;
Outcome train_steps(Elab *, Program *, const LimnTrain *, const Arrays *set,
                    bool (*use)(void *context, const TrainSteps *), void *context);

// The number of rounds of each `train` statement, in order; 0: unknown, a set is not installed.
void train_lengths(Elab *, Program *, uint64_t *rounds);

// The same as train_run, step by step. The options must outlive the trainer.
typedef struct Trainer Trainer;
Trainer *train_open(Elab *, Program *, const LimnTrain *, const Arrays *set);
Outcome train_go(Trainer *, uint64_t steps); // so many more steps; nothing after the end
// One more step, on these arrays instead of the program's data. A refused batch changes nothing.
Outcome train_step_on(Trainer *, const LimnInput *, uint32_t n, Arena *scratch); // batch.c
Outcome train_close(Trainer *, const char **dir); // a run that is not at its end is saved first
bool train_ended(const Trainer *);                // there are no more steps
bool train_lives(const Trainer *);                // false: the weights were on a GPU that is lost
void train_metrics(const Trainer *, Arena *, LimnMetrics *); // of the last step
Store *train_store(Trainer *, const Table **model);          // paths of weights (1) and buffers (2)
// The number of labels of a label state; 0: no labels.
int64_t train_labels(const Trainer *, const char *state);

#endif
