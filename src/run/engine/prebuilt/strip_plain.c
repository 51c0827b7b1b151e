// The prebuilt loops for every CPU of this architecture.
#define TABLE strip_plain
#define CPU "plain"
#include "run/engine/prebuilt/strip_loops.inc"
