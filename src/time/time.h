// time: systems followed through time, and what is claimed of them looked at.
//
// A run is compiled like a step of training: ticks are a scan of the system's diagram, rates are a
// diagram that a solver asks. What it leaves behind is a Record: numbers for each moment.
#ifndef LIMN_TIME_H
#define LIMN_TIME_H

#include "infer/machines.h"
#include "target/target.h"
#include "time/solve.h"

typedef struct {
  const char *name; // a port, a state: rabbits, worker/w
  Base base;
  Id names; // of labels: World.label_names, or 0
  uint32_t rank;
  int64_t *shape, cells; // of one moment
  double *value;         // [moments cells]
} Channel;

typedef struct {
  double time;
  const char *path; // of the part
  const char *what; // the mode it jumps to, or the name of the first state that is set
} Happening;

typedef struct {
  const System *system;
  bool flows; // in continuous time; otherwise the times are ticks
  int64_t moments;
  double *time; // [moments]
  VEC(Channel) channel;
  VEC(Happening) happening;
} Record;

#endif
