// train: the loop around the engine: data in, steps, measures, checkpoints, a run folder.
//
//   train_run(in, program, &(LimnTrain){.epochs = 3, .out = "runs/net"}, NULL, NULL);
//
// A run is a function of program, data and seed. A checkpoint holds all of it that changes, so a
// run that was stopped or killed anywhere goes on as if nothing had happened, bit for bit, whatever
// the number of threads.
#ifndef LIMN_RUN_TRAIN_TRAIN_H
#define LIMN_RUN_TRAIN_TRAIN_H

#include "limn.h"
#include "run/feed/feed.h"

// changes.c: a change that a run is asked for. NULL, or a sentence.
const char *change_ask(Arena *, const char *dir, const char *what, double value);
// NULL: it is one of these; or a sentence.
const char *change_unknown(Arena *, const Settings *, const char *what);

const char *device_worth(Arena *); // choose.c: what --device auto is where there is a GPU

// *dir: the run folder, NULL if there was none yet; dir itself may be NULL
// set: weights to begin with, by name; or NULL
Outcome train_run(Elab *, Program *, const LimnTrain *, const Arrays *set, const char **dir);

// What a run would be refused for before its first step, as far as it can be said without compiling or
// computing anything. A set that is not here is not missed.
Outcome train_ahead(Elab *, Program *, const LimnTrain *);

// The steps of a program that trains in one phase, and how they begin, for who runs them elsewhere.
typedef struct {
  const Regime *regime; // with its noise inside the diagrams of its steps
  Store *store;         // first values
  uint64_t seed, rounds;
  bool endless;   // how many rounds there are is not known: a set is not here
  int64_t batch;  // 0: there are no samples
  uint32_t turns; // of a round
  const uint32_t *turn;
} TrainSteps;
Outcome train_steps(Elab *, Program *, const LimnTrain *, const Arrays *set,
                    bool (*use)(void *context, const TrainSteps *), void *context);

// How many rounds each `train` of the program has, in their order; 0: a set that says so is not here.
void train_lengths(Elab *, Program *, uint64_t *rounds);

// The same in pieces. The options live as long as the trainer.
typedef struct Trainer Trainer;
Trainer *train_open(Elab *, Program *, const LimnTrain *, const Arrays *set);
Outcome train_go(Trainer *, uint64_t steps); // so many more; nothing after the end
// One more, on these arrays in the place of data. A batch that is refused changes nothing.
Outcome train_step_on(Trainer *, const LimnInput *, uint32_t n, Arena *scratch); // batch.c
Outcome train_close(Trainer *, const char **dir); // a run that is not at its end is saved
bool train_ended(const Trainer *);                // there are no more steps
bool train_lives(const Trainer *);                // false: its weights were on a GPU that is lost
void train_metrics(const Trainer *, Arena *, LimnMetrics *); // of the last step
Store *train_store(Trainer *, const Table **model);          // paths of weights (1) and buffers (2)
// How many labels a state can hold; 0: it is none.
int64_t train_labels(const Trainer *, const char *state);

#endif
