// A loss that is unrolled over the last ticks.
#ifndef LIMN_LANG_MACHINE_UNROLL_OWN_H
#define LIMN_LANG_MACHINE_UNROLL_OWN_H

#include "core/pass/rewrite.h"
#include "lang/machine/machine_own.h"

typedef struct {
  MachineBuilder *m;
  World *w;
  System *s;
  Diagram *d;
  const Learned *l;
  Ids state;          // indices of the states that are recomputed
  const bool *steps;  // [wire] needed by their next values
  const bool *rates;  // [wire] needed by their rates
  const bool *judges; // [wire] needed by the loss
  bool flows;         // some have rates: then all states with rates are included
  Ids kept;           // wires with recorded history: those of the states first
  Ids row;     // in the unrolled diagram: the history, with the present value where there is none
  Ids ended;   // those of `kept` that rates need at the next tick: `time`, then ports
  Ids end_row; // in the unrolled diagram
  Diagram *to, *body;
  Id *in_to, *in_body; // wires of the system to wires there
  Id *at_end;          // of `ended`, in the body
  Id there;            // which rows are valid, in `to`
} Unrolling;

bool unroll_reads(const Unrolling *,
                  Id wire); // does the loss, or a step before it, need this wire?

// unroll_flow.c
bool unroll_flows_well(Unrolling *); // can continuous time be unrolled? False with a diagnostic
void unroll_find_ended(Unrolling *);
// Advances from one tick to the next: after[state] in the body.
void unroll_flow(Unrolling *, Id *after);

#endif
