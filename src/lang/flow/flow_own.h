// Private to flow: steps through which events go.
#ifndef LIMN_LANG_FLOW_FLOW_OWN_H
#define LIMN_LANG_FLOW_FLOW_OWN_H

#include "lang/declare/statements.h"
#include "lang/elab/body.h"
#include "lang/elab/builtin.h"
#include "lang/flow/flow.h"

// flow_events.c: inputs: ports, states that flow, the others, how each event is armed (1 at the
// beginning), the length. Outputs: states that flow, the others, how each event is armed.
Diagram *system_event_step(World *, const System *, const Type *length);

#endif
