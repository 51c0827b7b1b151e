// Private to pictures of goals.
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
  VEC(const char *) type; // types seen so far: each has a colour
  CircuitOptions strings; // how sides are drawn
} Goals;

// -- goal_messages.c: the messages of a goal ------------------------------------------------------
typedef struct {
  double x, y0, y1; // a position in the picture: centre, top and bottom
} GoalPlace;
typedef struct {
  const Goal *goal;
  BrokenGoal wrong; // both NULL: the sides have no errors
  Messages plate;
  double wide, high; // size of the plates
} Said;
bool said_wrong(Goals *, const Goal *, Said *); // false: it has no errors
void said_measure(Goals *, Said *, const Layout *left, const Layout *right);
void said_paint(Canvas *, Goals *, Said *, const Layout *left, const Layout *right,
                const GoalPlace *sign, PlateRoom);
// Messages about none of these goals.
void said_others(Goals *, Said *const *all, uint32_t n, Said *out);
// All messages as text, numbered if there are several; NULL: none.
const char *said_about(Goals *, Said *const *all, uint32_t n);

// -- equation.c -----------------------------------------------------------------------------------
void goals_tint(Goals *, Sketch *); // colours wires by type and names new types
const char *goals_distance(const Goals *, const Goal *); // "huber (2)"; NULL: none
void goals_freeze(const Goals *, Sketch *);              // boxes without trained weights are faint

#endif
