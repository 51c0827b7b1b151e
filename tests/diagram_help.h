// Functions on diagrams for tests, fuzzers and benchmarks: read from text, validate, compare.
#ifndef LIMN_DIAGRAM_HELP_H
#define LIMN_DIAGRAM_HELP_H

#include "core/diagram/diagram.h"

Diagram *diagram_read(World *, uint32_t file); // the last one in the text; NULL with diagnostics
bool diagram_valid(World *, const Diagram *, Buf *why); // one producer, order, types, ranks, bases
// Up to origins, and to which size variables these are.
bool diagram_equal(World *, const Diagram *, const Diagram *);

#endif
