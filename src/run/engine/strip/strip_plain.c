// The prebuilt loops for every CPU of this architecture.
#define TABLE strip_plain
#define CPU "plain"
#include "run/engine/strip/strip_loops.inc"
