// Private to the pictures of goals.
//
//   equation.c  goals as equations between string diagrams
//   lens.c      goals and learners as parametric lenses
#ifndef LIMN_EQUATION_H
#define LIMN_EQUATION_H

#include "view/sketch.h"

typedef struct {
  Infer *in;
  World *w;
  Arena *arena;
  Program *p;
  VEC(const char *) type; // those that were met, in order: each has an ink
} Goals;

// equation.c
void goals_tint(Goals *, Sketch *); // wires get the inks of their types; new types get a name
void goals_freeze(const Goals *, Sketch *); // boxes that nothing trains are faint

#endif
