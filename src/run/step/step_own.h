// Private to step: what the files about a training regime share.
#ifndef LIMN_RUN_STEP_STEP_OWN_H
#define LIMN_RUN_STEP_STEP_OWN_H

#include "run/step/step.h"

// loss.c: some of the goals. Outputs: a loss for each, then what each shows, which moves nothing.
Loss loss_of(Elab *, const Program *, const Ids *goals);
// The input of `d` for a given field, made like this wire if it is not there.
Id field_input(World *, Diagram *d, Ids *fields, Id field, const Wire *like);

// small_loops.c: small loops
// Number by number, `a` being the first operand, `b` the second, …; operands without axes are the
// same for all.
Id map_text(World *, Diagram *, Type, const char *text, const Id *in, uint32_t n, Id origin);
// The same text, combined over all numbers of operands of one type.
Id fold_text(World *, Diagram *, Combine, const char *text, const Id *in, uint32_t n, Id origin);
Id wire_as_matrix(World *, Diagram *, Id tensor, Id origin); // all axes but the last as one
Id wire_from_matrix(World *, Diagram *, Id matrix, Type, Id origin);
Type type_as_matrix(World *, const Type *);

// -- weight_groups.c: which weights are stepped together ------------------------------------------
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
  const Syntax *call;     // its settings; NULL: the defaults
  const Stepper *stepper; // what `train` says; NULL: nothing
  Base base;
  uint64_t turns;     // in which turns it is stepped
  bool flat;          // its weights lie in a row
  bool matrix;        // its one weight is stepped as a matrix
  Diagram *diagram;   // on a type with symbols for sizes
  bool looks;         // the model does not see the weights themselves
  const char *path;   // of the param that holds the weights
  const char *states; // what the paths of its states begin with
  Type type;          // of that param
  int64_t count;
  VEC(uint32_t) weight;
} WeightGroup;
typedef struct {
  const char *path, *of; // a param of a stale copy, and what it follows
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
  Id origin;                // of what the statement asks for
  const Training *training; // of out
  Regime *out;
  const Changes *change;
  const Syntax **call; // [stepper] with what is changed; the last is for those that have none
  Table *paths;        // in use
  Table *made;         // optimisers, by what they are for
  VEC(Diagram *) optimiser;
  VEC(Weight) weight;
  Table *weight_of; // path to number + 1
  VEC(WeightGroup) group;
  VEC(Copy) copy;
  bool counts; // something reads the clock `step`
  Ids unasked; // names of learners that were given an optimiser
  Buf says;
} Regimen;
bool plan_groups(Regimen *);                               // false with diagnostics
const Weight *plan_weight(const Regimen *, const Param *); // NULL: it is not trained
const char *plan_path(Regimen *, const char *wanted);      // nobody else's

// -- changed.c ------------------------------------------------------------------------------------
void change_calls(Regimen *);

// -- step.c ---------------------------------------------------------------------------------------
enum { ALL_TURNS = 0 };
typedef enum {
  STEP_PLAIN,
  STEP_GATHERS,
  STEP_ENDS
} TurnStep; // the last two of those that accumulate
typedef struct {
  uint64_t turn; // a bit; all if 0
  TurnStep kind;
  bool last; // of the round
} StepOptions;
Step plan_step(Regimen *, const StepOptions *);

#endif
