// pipeline: the pass pipelines for training, simulation, code generation and printing.
#ifndef LIMN_CORE_PASS_PIPELINE_H
#define LIMN_CORE_PASS_PIPELINE_H

#include "core/pass/pass.h"

Diagram *passes_flat(World *, const Diagram *);         // for simulation and optimisers
Diagram *passes_shared(World *, const Diagram *);       // for losses, before differentiation
Diagram *passes_step(World *, const Diagram *);         // for training steps
const Diagram *passes_engine(World *, const Diagram *); // before planning kernels

// for `limn print --after` and limn_cost
Diagram *passes_view(World *, const Diagram *);
Diagram *passes_reverse(World *, const Diagram *);
Diagram *passes_forward(World *, const Diagram *);
Diagram *passes_gradient(World *, const Diagram *, const bool *const *mask);

typedef enum { AFTER_PASSES, AFTER_GRADIENT, AFTER_STEP } AfterKind;
typedef struct {
  const char *name; // value of --after
  // Which diagram is printed: of a box, the gradient of the loss, or a training step.
  AfterKind kind;
  Diagram *(*passes)(World *, const Diagram *); // NULL: no pass, or the pipeline of the kind
} After;
enum { AFTERS = 7 };
extern const After after_table[AFTERS];
const After *after_named(const char *name); // NULL if unknown

#endif
