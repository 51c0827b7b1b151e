// Private to the two files that draw lenses.
//
//   lens.c        diagrams become a sketch whose bundles are pairs: a value, and its change
//   lens_paint.c  the sketch with what stands above it: weights, optimisers, labels
#ifndef LIMN_SHOW_CIRCUIT_LENS_OWN_H
#define LIMN_SHOW_CIRCUIT_LENS_OWN_H

#include "show/circuit/goals_own.h"

typedef struct { // a box with weights
  uint32_t stage;
  Ids weights;           // their numbers
  const char *optimiser; // what steps them; NULL: they stay
  const char *words;     // the same with its settings
  const GroupOf *of;     // where the program says so; or NULL
  const GroupOf *wire;   // and where it says the box
} Weighted;

typedef struct { // the boxes of a learner
  uint32_t block;
  const char *name;
} LensGroup;

typedef struct { // one picture of lenses
  Goals *g;
  Sketch *s;
  Layout *l;
  Level level;
  const CircuitOptions *how;
  const Goal *goal; // NULL: a learner for itself
  const Training *training;
  const char *name;
  Table *weight; // by path
  VEC(Weighted) weighted;
  VEC(LensGroup) group;
  VEC(const char *) label; // what comes into the loss from above
  uint32_t loss;           // its stage + 1; 0: none
  const char *rate;        // of all that move; "": they differ; NULL: none moves
} Lens;

// -- lens_paint.c ---------------------------------------------------------------------------------
double lens_above(const Lens *), lens_below(const Lens *); // room around the layout
void lens_marks(Canvas *, const Lens *, double top);       // top: of the picture

#endif
