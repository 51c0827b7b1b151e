// learn: the goals of a program become one diagram and one gradient.
//
//   Loss loss = learn_loss(in, program);                       // inputs: given fields; outputs:
//   one number for each goal Diagram *step = diagram_gradient(world, loss.diagram, loss.mask);
#ifndef LIMN_LEARN_H
#define LIMN_LEARN_H

#include "infer/infer.h"

typedef struct {
  Diagram *diagram;        // NULL when the program has no goals or has errors
  Ids fields;              // the given field (DEF id) behind each input
  const bool *const *mask; // mask[goal][param]: may this goal move that weight?
} Loss;

// loss.c
Loss learn_loss(Infer *, const Program *);

// regime.c: a `train` statement as diagrams. A step is one diagram: forward, reverse, optimiser. Its states hold
// everything that lasts: weights, buffers, what optimisers remember.
typedef struct {
  const char *path; // f/dense.1/W
  Type type;
  Init init;
  int64_t offset; // in the flat state
} Member;
typedef struct {
  const char *path; // of the one state that holds them, one after the other
  int64_t count;
  VEC(Member) member;
} Flat;
typedef struct {
  Diagram *diagram; // in: given fields; out: one number for each goal of .goals; next: every state that moves
  Ids fields;       // the given field (DEF id) behind each input
  Ids goals;        // which goals of the program the outputs are, as numbers from 0
} Step;
typedef struct {
  uint32_t step, times;
} Turn;
typedef struct {
  const Node *node;
  VEC(Step) step;
  VEC(Turn) turn; // one round: these steps, in order, that often
  VEC(Flat) flat; // weights that are stepped together by one optimiser that works on each number alone
  double epochs, steps; // how long; one of them is 0
  int64_t batch, patience; // 0 = not said
  uint64_t seed;
  bool has_seed;
} Regime;
bool learn_regime(Infer *, Program *, const Node *train, Regime *out); // false with diagnostics

// who.c
void learn_who(Infer *, const Program *, Buf *); // goals × learners, as a table
void learn_who_json(Infer *, const Program *, Buf *);

#endif
