// learn: the goals of a program become one diagram and one gradient; a `train` statement becomes
// the diagrams of its steps.
//
//   Loss loss = learn_loss(in, program);         // in: given fields; out: one number for each goal
//   Diagram *gradient = diagram_gradient(world, loss.diagram, loss.mask);
//
//   Regime r;
//   if (learn_regime(in, program, program->train.at[0], &r))
//     r.step.at[0].diagram;                      // forward, reverse, optimiser
#ifndef LIMN_RUN_STEP_STEP_H
#define LIMN_RUN_STEP_STEP_H

#include "lang/program/program.h"

typedef struct {
  Diagram *diagram;        // NULL when the program has no goals or has errors
  Ids fields;              // the given field (DEF id) behind each input
  const bool *const *mask; // mask[output][param]: may it move that weight?
} Loss;

// -- loss.c ---------------------------------------------------------------------------------------
Loss learn_loss(Elab *, const Program *);
Loss learn_loss_of(Elab *, const Program *, const Ids *goals); // some of them, as numbers from 0
// Does the goal move a state of a box (a running mean)?
bool goal_moves_state(Elab *, const Goal *, const Param *);

// exploit.c: what players that are points of a simplex could gain, each alone; NULL: there are none
Diagram *learn_exploitability(Elab *, const Program *, Ids *fields);

// regime.c: a `train` statement as diagrams.
//
// A step is one diagram: forward, reverse, optimiser. Its params hold everything that lasts:
// weights, buffers, what optimisers remember. Steps of one regime share them by path; a param that
// a step moves has a next value there. Weights that an optimiser steps number by number lie in one
// row, "weights/adam", which the step cuts into parts (flat_view.c); the places between them hold
// 0.
//
// A *round* is what `train 100 steps` counts: one step, or all turns and all batches that are
// accumulated. The clock `step` counts rounds from 0: it has a next value in the last step of a
// round, so it is a state like others; the clock `steps`, how many rounds there will be, is for
// the caller to say. Neither is there if nothing reads it. Noise wants another number for
// each run of a step, rounds or not.
typedef struct {
  const char *path; // f/dense.1/W
  Type type;
  Init init;
  int64_t offset; // in the row, a multiple of 16
} Member;
typedef struct {
  const char *path; // of the state that holds them, one after the other
  Base base;
  int64_t count;
  VEC(Member) member;
} Flat;
typedef struct {
  Diagram *diagram; // in: given fields; out: what each goal of .goals shows (Goal.shown)
  Ids fields;       // the given field (DEF id) behind each input
  Ids goals;        // which goals of the program the outputs are, as numbers from 0
} Step;
typedef struct {
  uint32_t step, times;
} Turn;
typedef struct {
  const char *path, *as; // starts with the value of another state or member: stale copies
} Start;
// Weights that one optimiser steps, and a copy that follows a weight: for who steps elsewhere.
typedef struct {
  const Diagram *optimiser; // in: p, grad; out: what the model sees, the next p; params: what it
                            // keeps, and clocks
  const char *name;         // adam
  Base base;
  bool looks;       // the model does not see the weights themselves
  bool row, matrix; // it works on all numbers of a weight as a row; as a matrix; otherwise as it is
  uint64_t turns;   // in which turns they are stepped; 0: in all
  VEC(const char *); // their paths
} Stepped;
typedef struct {
  Param param; // its path, how it begins
  Type type;
  Name name;
  const char *of; // the path that it follows
  double number;  // every so many rounds; or so much of it is kept in a round
  bool by;
} StaleCopy;
typedef struct {
  const Syntax *node;
  Training training; // what the statement says: its goals, how long, …
  VEC(Step) step;
  VEC(Turn) turn; // one round: these steps, in order, that often
  VEC(Flat) flat;
  VEC(Start) start;
  VEC(Stepped) stepped;
  VEC(StaleCopy) followed;
  const char *says; // what was chosen without being asked for, a line each; "" = nothing
} Regime;
bool learn_regime(Elab *, Program *, const Syntax *train, Regime *out); // false with diagnostics

// changed.c: what is changed while a run goes on: `rate` of every optimiser that has such a setting,
// `dis.rate` of those that `train` gives to dis, `fit.weight` of a goal, which is what `times` says.
// Later ones win.
typedef struct {
  uint64_t step; // after so many steps of the run; who makes a regime gives those that hold
  const char *what;
  double value;
} Change;
typedef VEC(Change) Changes;
Settings learn_settings(Elab *, Program *, const Changes *); // all that can be changed, as it is
// Why this cannot be changed to that value: it is not in the setting's domain. NULL: it can.
const char *change_outside(Elab *, Program *, const char *what, double value);
void change_goals(World *, Program *, const Changes *); // other weights of goals
bool learn_changed(Elab *, Program *, const Syntax *train, const Changes *, Regime *out);

// named.c: what a name of the program stands for. NULL with a diagnostic.
Diagram *diagram_named(Elab *, Program *, const char *name, const Instance *);
// The same, with those of its sizes that goals and measures have settled for its weights.
Diagram *diagram_trained(Elab *, Program *, const char *name);
// A goal as it is in use (`training` is 0): what it shows, and nothing moves. NULL: it has none.
Diagram *goal_in_use(Elab *, Program *, const Goal *);
// Is it a machine with states? Then it goes on through time, and one call of it is only its start.
bool goes_on(Elab *, Program *, const char *name);
// Boxes that call boxes may be too many to be written out; false with a diagnostic.
bool diagram_is_small(World *, const Diagram *);
// The whole loss if name is NULL.
Diagram *diagram_or_loss(Elab *, Program *, const char *name, Loss *);
// After these passes (pipeline.h); NULL: as it is.
Diagram *diagram_after(Elab *, Program *, const char *name, const char *pass);

// -- who.c ----------------------------------------------------------------------------------------
typedef enum { WHO_ABSENT, WHO_STOPPED, WHO_THROUGH, WHO_MOVES } Effect;
typedef struct {
  uint32_t goals, learners;
  const char **goal, **learner; // names; members of a family one by one
  const Def **def;              // [learner]
  Effect *effect;               // [goal][learner]
} WhoTable;
WhoTable learn_who_table(Elab *, const Program *);
void learn_who(Elab *, const Program *, Buf *); // goals × learners, as a table
void learn_who_json(Elab *, const Program *, Buf *);

#endif
