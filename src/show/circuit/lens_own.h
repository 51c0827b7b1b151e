// Private to the pictures of lenses.
//
//   lens.c        diagrams as a sketch whose bundles are pairs: a value and its change
//   lens_paint.c  draws the sketch, and weights, optimisers and labels above it
#ifndef LIMN_SHOW_CIRCUIT_LENS_OWN_H
#define LIMN_SHOW_CIRCUIT_LENS_OWN_H

#include "show/circuit/goals_own.h"

typedef struct { // a box with weights
  uint32_t stage;
  Ids weights;           // indices of its weights
  const char *optimiser; // its optimiser; NULL: not trained
  const char *words;     // with its settings
  const GroupOf *of;     // source position of the optimiser; or NULL
  const GroupOf *wire;   // and of the box
} Weighted;

typedef struct { // the boxes of a learner
  uint32_t block;
  const char *name;
} LensGroup;

typedef struct { // a picture of lenses
  Goals *g;
  Sketch *s;
  Layout *l;
  Level level;
  const CircuitOptions *how;
  const Goal *goal; // NULL: a learner on its own
  const Training *training;
  const char *name;
  Table *weight; // by path
  VEC(Weighted) weighted;
  VEC(LensGroup) group;
  VEC(const char *) label; // names of what enters the loss from above
  uint32_t loss;           // the stage of the loss + 1; 0: none
  const char *rate;        // common learning rate; "": they differ; NULL: nothing is trained
} Lens;

// -- lens_paint.c ---------------------------------------------------------------------------------
double lens_above(const Lens *), lens_below(const Lens *); // space around the layout
void lens_marks(Canvas *, const Lens *, double top);       // top: of the picture

#endif
