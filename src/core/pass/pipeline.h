// The lists of passes: what is done to a diagram on its way to training, to time, to a compiler, to
// the eye. Each takes a diagram and gives a new one.
#ifndef LIMN_CORE_PASS_PIPELINE_H
#define LIMN_CORE_PASS_PIPELINE_H

#include "core/pass/pass.h"

Diagram *passes_flat(World *, const Diagram *);         // for simulation, for optimisers
Diagram *passes_shared(World *, const Diagram *);       // of goals, before their gradient is taken
Diagram *passes_step(World *, const Diagram *);         // of a step of training
const Diagram *passes_engine(World *, const Diagram *); // before kernels are planned

// `limn print --after`, and what limn_cost counts
Diagram *passes_view(World *, const Diagram *);
Diagram *passes_reverse(World *, const Diagram *);
Diagram *passes_forward(World *, const Diagram *);
Diagram *passes_gradient(World *, const Diagram *, const bool *const *mask);

typedef enum { AFTER_PASSES, AFTER_GRADIENT, AFTER_STEP } AfterKind;
typedef struct {
  const char *name; // of --after
  AfterKind kind;   // the gradient is of the whole loss, the step of a `train`
  Diagram *(*passes)(World *, const Diagram *); // NULL: none, or those of its kind
} After;
enum { AFTERS = 7 };
extern const After after_table[AFTERS];
const After *after_named(const char *name); // NULL: there is none

#endif
