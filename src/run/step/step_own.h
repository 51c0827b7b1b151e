// Private to step: shared by the files about a training regime.
#ifndef LIMN_RUN_STEP_STEP_OWN_H
#define LIMN_RUN_STEP_STEP_OWN_H

#include "run/step/step.h"

// loss.c: some goals. Outputs: a loss for each goal, then its shown value, which moves nothing.
Loss loss_with_shown(Elab *, const Program *, const Ids *goals);
// The input of `d` for a given field; added with the type of this wire if it is not there.
Id field_input(World *, Diagram *d, Ids *fields, Id field, const Wire *like);

// small_loops.c
Id wire_as_matrix(World *, Diagram *, Id tensor, Id origin); // all axes but the last are merged
Id wire_from_matrix(World *, Diagram *, Id matrix, Type, Id origin);
Type type_as_matrix(World *, const Type *);

// -- weight_groups.c: weights that are stepped together -------------------------------------------
typedef struct {
  const char *path;
  bool rooted;
  Name name;
  Type type;
  Init init;
  Id origin;
  uint32_t group;
  int64_t offset; // in the row of its group
} Weight;
typedef struct {
  const char *optimiser;  // adam
  const Syntax *call;     // its call with settings; NULL: the defaults
  const Stepper *stepper; // entry of `train`; NULL: none
  Base base;
  uint64_t turns;     // bits of the turns in which it is stepped
  bool flat;          // its weights are in one row
  bool matrix;        // its one weight is stepped as a matrix
  Diagram *diagram;   // on a type with size variables
  bool has_look;      // the model sees other values than the weights
  const char *path;   // of the param with the weights
  const char *states; // prefix of the paths of its states
  Type type;          // of the param with the weights
  int64_t count;
  VEC(uint32_t) weight;
} WeightGroup;
typedef struct {
  const char *path, *of; // the param of a stale copy, and the path that it follows
  const Def *def;
  bool rooted;
  Name name;
  Type type;
  Init init;
  Id origin;
} Copy;

typedef struct {
  Elab *in;
  World *w;
  Program *p;
  const Syntax *node;
  Id origin;                // of the statement
  const Training *training; // &out->training
  Regime *out;
  const Changes *change;
  // [stepper] call with its changes; the last one is for weights that default to adam
  const Syntax **call;
  Table *paths; // paths in use
  Table *made;  // key of `optimiser_for` to number in `optimiser` + 1
  VEC(Diagram *) optimiser;
  VEC(Weight) weight;
  Table *weight_of; // path to number + 1
  VEC(WeightGroup) group;
  VEC(Copy) copy;
  bool counts_rounds; // something reads the clock `step`
  Ids defaulted;      // names of learners with a default optimiser
  Buf says;
} RegimeBuilder;
bool regime_group_weights(RegimeBuilder *);                        // false with diagnostics
const Weight *regime_weight(const RegimeBuilder *, const Param *); // NULL: the param is not trained
const char *regime_unique_path(RegimeBuilder *,
                               const char *wanted); // a path that no other param has

// -- setting_changes.c ----------------------------------------------------------------------------
void change_calls(RegimeBuilder *);

// -- step.c ---------------------------------------------------------------------------------------
enum { ALL_TURNS = 0 };
typedef enum {
  STEP_PLAIN,
  STEP_GATHERS,
  STEP_ENDS
} TurnStep; // STEP_GATHERS accumulates the gradient; STEP_ENDS accumulates and updates
typedef struct {
  uint64_t turn; // bit of the turn; 0: all
  TurnStep kind;
  bool last; // of the round
} StepOptions;
Step regime_step(RegimeBuilder *, const StepOptions *);

#endif
