// step: the goals of a program become one diagram and one gradient; a `train` statement becomes the
// diagrams of its steps.
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
  Ids fields;              // given field (DEF id) of each input
  const bool *const *mask; // mask[output][param]: the output may move that weight
} Loss;

// -- loss.c ---------------------------------------------------------------------------------------
Loss learn_loss(Elab *, const Program *);
// Does the goal move a state of a box (a running mean)?
bool goal_moves_state(Elab *, const Goal *, const Param *);

// exploitability.c: the exploitability of players that are points of a simplex; NULL: there are
// none
Diagram *learn_exploitability(Elab *, const Program *, Ids *fields);

// regime.c: a `train` statement as diagrams.
//
// A step is one diagram: forward, reverse, optimiser. Its params hold all persistent values:
// weights, buffers, optimiser states. Steps of one regime share params by path; a param that a step
// moves has a next value there. Weights with an element-wise optimiser are stored in one row,
// "weights/adam", which the step slices (flat_view.c); padding between them holds 0.
//
// A *round* is what `train 100 steps` counts: one step, or all turns and all batches that are
// accumulated. The clock `step` counts rounds from 0. It has a next value in the last step of a
// round, so it is an ordinary state. The caller sets the clock `steps`, the number of rounds to
// come. Neither clock is there if nothing reads it. The caller gives noise a new number for each
// run of a step.
typedef struct {
  const char *path; // f/dense.1/W
  Type type;
  Init init;
  int64_t offset; // in the row, a multiple of 16
} RowMember;
typedef struct {
  const char *path; // of the state that is the row
  Base base;
  int64_t count;
  VEC(RowMember) member;
} WeightRow;
typedef struct {
  Diagram *diagram; // in: given fields; out: what each goal of .goals shows (Goal.shown)
  Ids fields;       // given field (DEF id) of each input
  Ids goals;        // goals of the outputs, by number
} Step;
typedef struct {
  uint32_t step, times;
} Turn;
typedef struct {
  const char *path, *as; // a stale copy starts with the value of another state or member
} StaleStart;
// Weights with one optimiser, for exports that write the update themselves.
typedef struct {
  // In: p, grad. Out: the weights that the model sees, the next p. Params: its states, and clocks.
  const Diagram *optimiser;
  const char *name; // adam
  Base base;
  bool has_look; // the model sees other values than the weights
  // The optimiser takes each weight as a row of all its numbers, or as a matrix; otherwise as it
  // is.
  bool row, matrix;
  uint64_t turns;    // bits of the turns in which the weights are stepped; 0: all
  VEC(const char *); // their paths
} OptimisedWeights;
typedef struct {
  Param param; // path and initial value
  Type type;
  Name name;
  const char *of; // path of the weight that is copied
  // `every`: copied once in so many rounds. `by`: the share of the old value that a round keeps.
  double number;
  bool by;
} StaleCopy;
typedef struct {
  const Syntax *node;
  Training training; // the statement: goals, length, …
  VEC(Step) step;
  VEC(Turn) turn; // one round: each step so many times, in this order
  VEC(WeightRow) flat;
  VEC(StaleStart) start;
  VEC(OptimisedWeights) stepped;
  VEC(StaleCopy) followed;
  // Choices that the program leaves open, a line each; "": none.
  const char *says;
} Regime;
bool learn_regime(Elab *, Program *, const Syntax *train, Regime *out); // false with diagnostics

// setting_changes.c: settings that are changed during a run: `rate` of every optimiser with such a
// setting, `dis.rate` of those that `train` gives to dis, `fit.weight` of a goal. Later changes
// win.
typedef struct {
  // Applies after so many steps of the run. Functions that make a regime take the changes that
  // apply.
  uint64_t step;
  const char *what;
  double value;
} Change;
typedef VEC(Change) Changes;
Settings learn_settings(Elab *, Program *, const Changes *); // all settings, with present values
// The reason why a setting cannot have that value: it is outside its domain. NULL: it can.
const char *change_outside(Elab *, Program *, const char *what, double value);
void change_goals(World *, Program *, const Changes *); // gives goals other weights
bool learn_changed(Elab *, Program *, const Syntax *train, const Changes *, Regime *out);

// named_diagrams.c: the diagram of a name of the program. NULL with a diagnostic.
// Do different fields of the goals have different names? False with a diagnostic: where arrays are
// given by name, two fields would get the same one.
bool fields_are_distinct(Elab *, const Program *);
Diagram *diagram_named(Elab *, Program *, const char *name, const Instance *);
// The same, with sizes that goals and measures determine for its weights.
Diagram *diagram_trained(Elab *, Program *, const char *name);
// A goal for inference (`training` is 0): its shown value; nothing moves. NULL: it has none.
Diagram *goal_for_inference(Elab *, Program *, const Goal *);
// Is the name a machine with states? One call of its diagram is its start only.
bool is_stateful_machine(Elab *, Program *, const char *name);
// False with a diagnostic if inlining would give too many boxes.
bool diagram_is_small(World *, const Diagram *);
// The whole loss if the name is NULL.
Diagram *diagram_or_loss(Elab *, Program *, const char *name, Loss *);
// After these passes (pipeline.h); NULL: no passes.
Diagram *diagram_after(Elab *, Program *, const char *name, const char *pass);

// -- who.c ----------------------------------------------------------------------------------------
typedef enum { WHO_ABSENT, WHO_STOPPED, WHO_THROUGH, WHO_MOVES } Effect;
typedef struct {
  uint32_t goals, learners;
  const char **goal, **learner; // names; members of a family are listed one by one
  const Def **def;              // [learner]
  Effect *effect;               // [goal][learner]
} WhoTable;
WhoTable learn_who_table(Elab *, const Program *);
void learn_who(Elab *, const Program *, Buf *); // goals × learners, as a table
void learn_who_json(Elab *, const Program *, Buf *);

#endif
