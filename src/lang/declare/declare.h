// declare: what statements of a program say, for those who train and draw it.
#ifndef LIMN_LANG_DECLARE_DECLARE_H
#define LIMN_LANG_DECLARE_DECLARE_H

#include "lang/value/declared.h"

// optimiser.c
// An optimiser for weights of one type. Inputs: p, grad. Outputs: what the model sees of p (look),
// and the next p. Its states are params with their next values; `step` and `steps` are clocks.
// `call` has its settings, as in `adam(0.1, b1: 0.8)`; NULL: the defaults. With `quiet` nothing
// is said when it cannot be made for this type.
Diagram *elab_optimiser(Elab *, Program *, const char *name, const Syntax *call, Type, bool quiet);
// What steps the weights that an optimiser of matrices cannot: `adam` with a twentieth of its rate.
// NULL: with its default.
const Syntax *elab_stand_in(Elab *, Program *, const char *name, const Syntax *call);
// Its settings: their names, and where it is written as a number what each is.
typedef struct {
  const char *name;
  double value;
  bool known;
} Setting;
typedef VEC(Setting) Settings;
Settings optimiser_has(Elab *, Program *, const char *name, const Syntax *call);
// Why a setting cannot have this value: it is not in its domain. NULL: it can.
const char *setting_outside(Elab *, Program *, const char *name, const Syntax *call, Setting);
// The call with one more setting, or another value of it.
const Syntax *elab_call_with(Elab *, Program *, const char *name, const Syntax *call, Setting);

// train.c
bool elab_training(Elab *, Program *, const Syntax *train, Training *); // false with diagnostics
// In every step of so many the settings that are schedules are in their domains; false with a
// diagnostic.
bool schedules_hold(Elab *, Program *, const Training *, double steps);
// What steps this weight: the optimiser of its learner, else of a learner that has it inside, else
// the one for all.
const Stepper *training_stepper(Elab *, const Training *, const Param *); // NULL = none
bool learner_holds(Elab *, Def *, const Param *); // is it the learner's, or of one inside it?

// on.c
bool on_source_of(World *, const OnData *, const Given *); // is it the same set, or file?

// goal.c
// Does this param belong to the learner, or to this member (".2") of the family?
bool def_owns(World *, const Param *, const Def *, const char *member);
void def_closure(Elab *, Def *, Ids *); // a learner, and every learner in its body or refinement

#endif
