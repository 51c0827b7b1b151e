// bounds: interval arithmetic on diagrams.
#ifndef LIMN_CORE_PASS_BOUNDS_H
#define LIMN_CORE_PASS_BOUNDS_H

#include "core/diagram/diagram.h"

// The result returns the lower bounds of all outputs, then the upper bounds, while each param with
// moves[param] ranges over an interval: the lower end keeps the param's path, the upper end has the
// path bounds_high. A bound is NaN if unknown. `from` must be flat. NULL: no bounds can be given
// (noise, a scan, a label that varies).
Diagram *diagram_bounds(World *, const Diagram *, const bool *moves);
const char *bounds_high(World *, const char *path);

#endif
