// Private to the files of the public interface: what a Limn has inside.
#ifndef LIMN_API_API_OWN_H
#define LIMN_API_API_OWN_H

#include "lang/program/program.h"
#include "limn.h"
#include "run/train/train.h"
#include "run/use/use.h"
#include "show/circuit/circuit.h"
#include "show/goals/goals.h"
#include "show/graph/graph.h"
#include "show/lint/lint.h"
#include "show/report/report.h"
#include "show/wiring/wiring.h"

struct Limn {
  Arena *arena;
  World *w;
  Elab *in;
  Program *program;
  bool drawn; // the last picture was made
  jmp_buf failure;
};

// Every entry comes back here when memory runs out.
#define GUARDED(l, failed)                                                                         \
  do {                                                                                             \
    arena_on_failure((l)->arena, &(l)->failure);                                                   \
    if (setjmp((l)->failure)) return failed;                                                       \
  } while (0)

// limn.c: a box, learner, goal or measure as a diagram; NULL with a message
Diagram *find_diagram(Limn *, const char *name, const Instance *);
bool is_small(Limn *, const Diagram *); // small enough to be written out; false with a message

#endif
