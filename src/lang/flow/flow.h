// flow: the box `flow[M](x, times)`, which follows a machine inside a diagram, with its gradient.
#ifndef LIMN_LANG_FLOW_FLOW_H
#define LIMN_LANG_FLOW_FLOW_H

#include "lang/machine/machine.h"

void flow_builtins(Elab *); // the box `flow`

#endif
