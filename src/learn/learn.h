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

// who.c
void learn_who(Infer *, const Program *, Buf *); // goals × learners, as a table
void learn_who_json(Infer *, const Program *, Buf *);

#endif
