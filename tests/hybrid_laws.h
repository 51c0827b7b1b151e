// The laws of hybrid systems: each is true of a program, or says why not.
#ifndef LIMN_HYBRID_LAWS_H
#define LIMN_HYBRID_LAWS_H

#include "machine_help.h"
#include "random_hybrid.h"

typedef struct {
  const Hybrid *h;
  Arena *arena;
  Buf said; // "KIND: …"; "skipped: …" where the law says nothing of it
} HybridCase;
typedef bool HybridLaw(HybridCase *);

// The law does not hold: says why, with the program. Always false.
bool hybrid_differs(HybridCase *, const char *text, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

HybridLaw hybrid_order, hybrid_names, hybrid_nested, hybrid_checked, hybrid_again, hybrid_watched,
    hybrid_precise, hybrid_shifted, hybrid_compiled, hybrid_written, hybrid_balls, hybrid_swept,
    hybrid_pieces, hybrid_instants, hybrid_queues, hybrid_options, hybrid_tables, hybrid_flags;

#endif
