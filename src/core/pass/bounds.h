// bounds: between which numbers the results of a diagram are.
#ifndef LIMN_CORE_PASS_BOUNDS_H
#define LIMN_CORE_PASS_BOUNDS_H

#include "core/diagram/diagram.h"

// What each output is at least, then what each is at most, while params that move are between two
// values: the least has their path, the most the path of bounds_high. Not a number: not known. Of a
// flat diagram; NULL: it cannot be said.
Diagram *diagram_bounds(World *, const Diagram *, const bool *moves);
const char *bounds_high(World *, const char *path);

#endif
