// The prebuilt loops for CPUs with AVX-512. The Makefile passes the flags for this file; without them the
// table is empty.
#if defined __AVX512F__ && defined __AVX512DQ__ && defined __AVX512BW__ && defined __AVX512VL__
#define TABLE strip_avx512
#define CPU "avx512"
#include "run/engine/prebuilt/strip_loops.inc"
#else
#include "run/engine/prebuilt/strip_loops.h"

const StripLoops strip_avx512[2];
#endif
