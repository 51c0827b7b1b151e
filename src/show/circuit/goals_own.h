// Private to the pictures of goals.
//
//   equation.c  goals as equations between string diagrams
//   lens.c      goals and learners as parametric lenses
#ifndef LIMN_SHOW_CIRCUIT_GOALS_OWN_H
#define LIMN_SHOW_CIRCUIT_GOALS_OWN_H

#include "show/circuit/goals.h"
#include "show/layout/sketch.h"

typedef struct {
  Elab *in;
  World *w;
  Arena *arena;
  Program *p;
  VEC(const char *) type; // those that were met, in order: each has an ink
  CircuitOptions strings; // how sides are drawn
} Goals;

// -- goal_messages.c: the messages of a goal ------------------------------------------------------
typedef struct {
  double x, y0, y1; // a place in the picture: its middle, its top and its bottom
} GoalPlace;
typedef struct {
  const Goal *goal;
  BrokenGoal wrong; // both NULL: its sides are well
  Messages plate;
  double wide, high; // of the plates
} Said;
bool said_wrong(Goals *, const Goal *, Said *); // false: it is well
void said_measure(Goals *, Said *, const Layout *left, const Layout *right);
void said_paint(Canvas *, Goals *, Said *, const Layout *left, const Layout *right,
                const GoalPlace *sign, PlateRoom);
void said_others(Goals *, Said *const *all, uint32_t n, Said *out); // what is about none of them
// All of it in words, and numbered if there is more than one; NULL: nothing was said.
const char *said_about(Goals *, Said *const *all, uint32_t n);

// -- equation.c -----------------------------------------------------------------------------------
void goals_tint(Goals *, Sketch *); // wires get the inks of their types; new types get a name
const char *goals_distance(const Goals *, const Goal *); // "huber (2)"; NULL: none
void goals_freeze(const Goals *, Sketch *);              // boxes that nothing trains are faint

#endif
