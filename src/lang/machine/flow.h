// The box `flow[M](x, times)`: simulates a machine inside a diagram, differentiably.
#ifndef LIMN_LANG_MACHINE_FLOW_H
#define LIMN_LANG_MACHINE_FLOW_H

#include "lang/machine/machine.h"

void flow_builtins(Elab *); // registers the box `flow`

#endif
