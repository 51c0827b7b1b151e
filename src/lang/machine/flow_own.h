// Steps with events.
#ifndef LIMN_LANG_MACHINE_FLOW_OWN_H
#define LIMN_LANG_MACHINE_FLOW_OWN_H

#include "lang/declare/statements.h"
#include "lang/elab/body.h"
#include "lang/elab/builtin.h"
#include "lang/machine/flow.h"

// flow_events.c. Inputs: ports, continuous states, other states, the arming of each event
// (initially 1), the length. Outputs: continuous states, other states, arming.
Diagram *system_event_step(World *, const System *, const Type *length);

#endif
