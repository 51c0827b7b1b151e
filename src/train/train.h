// train: the loop around the engine: data in, steps, measures, checkpoints, a run folder.
//
//   train_run(in, program, &(LimnTrain){.epochs = 3, .out = "runs/net"});
//
// A run is a function of program, data and seed. A checkpoint holds all of it that changes, so a
// run that was stopped or killed anywhere goes on as if nothing had happened, bit for bit, whatever
// the number of threads.
#ifndef LIMN_TRAIN_H
#define LIMN_TRAIN_H

#include "learn/learn.h"
#include "limn.h" // what a caller may ask for
#include "target/target.h"

// train.c
LimnStatus train_run(Infer *, Program *, const LimnTrain *);

const char *train_weights(Arena *,
                          const char *from); // the model of a run folder, or the file itself

// What was trained, used; the answer goes to the Buf.
LimnStatus train_measure(Infer *, Program *, const LimnUse *, Buf *);                   // measure.c
LimnStatus train_predict(Infer *, Program *, const char *name, const LimnUse *, Buf *); // predict.c
LimnStatus train_sample(Infer *, Program *, const char *name, const LimnUse *, Buf *);  // sample.c

#endif
