// Random programs, as text: well typed, with every construct that a picture may show.
#ifndef LIMN_RANDOM_PROGRAM_H
#define LIMN_RANDOM_PROGRAM_H

#include "base/base.h"

typedef VEC(const char *) Texts;

typedef struct {
  Texts part;  // declarations that may stand in any order
  Texts goal;  // and those whose order is theirs
  Texts drawn; // names of boxes and learners
} RandomProgram;

// The same seed, the same program. `statements`: the most that a body has.
RandomProgram *random_program(Arena *, uint64_t seed, uint32_t statements);
// The text, with its parts in an order of its own for each number; 0: as they were made.
const char *random_program_text(Arena *, const RandomProgram *, uint64_t order);

#endif
