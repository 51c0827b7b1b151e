// The prebuilt loops for CPUs with AVX2. The Makefile passes the flags for this file; without them the
// table is empty.
#if defined __AVX2__ && defined __FMA__
#define TABLE strip_avx2
#define CPU "avx2"
#include "run/engine/prebuilt/strip_loops.inc"
#else
#include "run/engine/prebuilt/strip_loops.h"

const StripLoops strip_avx2[2];
#endif
