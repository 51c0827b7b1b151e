// The statements of a program, for training and pictures.
#ifndef LIMN_LANG_DECLARE_DECLARE_H
#define LIMN_LANG_DECLARE_DECLARE_H

#include "lang/value/declared.h"

// optimiser.c
// An optimiser for weights of one type. Inputs: p, grad. Outputs: the value of p that the model
// sees (look), and the next p. States are params with next values; `step` and `steps` are clocks.
// `call` has the settings, as in `adam(0.1, b1: 0.8)`; NULL: the defaults. `quiet`: no diagnostics
// if it does not exist for this type.
Diagram *elab_optimiser(Elab *, Program *, const char *name, const Syntax *call, Type, bool quiet);
// The optimiser of weights of this base for which no `train` names one, with its default settings.
const char *default_optimiser(Base);
// The optimiser of weights that are no matrices, for an optimiser of matrices: `adam` with a
// twentieth of its rate. NULL: `adam` with its default rate.
const Syntax *elab_stand_in(Elab *, Program *, const char *name, const Syntax *call);
// A setting, with its value if that is a literal.
typedef struct {
  const char *name;
  double value;
  bool known;
} Setting;
typedef VEC(Setting) Settings;
Settings optimiser_has(Elab *, Program *, const char *name, const Syntax *call);
// Why a setting cannot have this value (its domain), or NULL.
const char *setting_outside(Elab *, Program *, const char *name, const Syntax *call, Setting);
// The call with one setting added or replaced.
const Syntax *elab_call_with(Elab *, Program *, const char *name, const Syntax *call, Setting);

// train.c
bool elab_training(Elab *, Program *, const Syntax *train, Training *); // false with diagnostics
// Checks that schedules stay in the domains of their settings in every step; false with a
// diagnostic.
bool schedules_hold(Elab *, Program *, const Training *, double steps);
// The optimiser of a weight: that of its learner, else of a learner that contains it, else the
// default.
const Stepper *training_stepper(Elab *, const Training *, const Param *); // NULL = none
bool learner_holds(Elab *, Def *,
                   const Param *); // does the weight belong to the learner, or to one inside it?

// on.c
bool on_source_of(World *, const OnData *, const Given *); // is it the same data set or file?
// The identity of the data: the name of the set, or the real path of the file; NULL for noise.
const char *given_source_key(World *, const Given *);

// goal.c
// Does this param belong to the learner, or to this member (".2") of the family?
bool def_owns(World *, const Param *, const Def *, const char *member);
void def_closure(Elab *, Def *, Ids *); // a learner, and every learner reachable from its body

#endif
