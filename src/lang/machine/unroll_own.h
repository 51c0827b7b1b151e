// Private to machine: a loss while it is unrolled over the last ticks.
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
  Ids state;          // numbers of states that are gone through
  const bool *steps;  // [wire] needed by the next values of those
  const bool *rates;  // [wire] needed by the rates of those
  const bool *judges; // [wire] needed by the loss
  bool flows;         // some of them have a rate: then all that have one are among them
  Ids kept;           // wires whose rows are kept: those of the states come first
  Ids row;            // in the unrolled diagram: what was kept, with `now` where nothing was
  Ids ended;          // of what is kept, that which rates want to know as it is at the next tick:
                      // `time`, then ports
  Ids end_row;        // in the unrolled diagram
  Diagram *to, *body;
  Id *in_to, *in_body; // wires of the system there
  Id *at_end;          // of `ended`: in the body
  Id there;            // which rows were ticks, in `to`
} Unrolling;

// a where the bit holds, else b; the bit has the first axes of both.
Id unroll_chosen(World *, Diagram *, Id bit, Id a, Id b);

// unroll_flow.c
bool unroll_flows_well(Unrolling *); // can what flows be gone through? False with a diagnostic
void unroll_find_ended(Unrolling *);
// From behind a tick to the next: after[state] in the body.
void unroll_flow(Unrolling *, Id *after);

#endif
