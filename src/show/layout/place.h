// layout: where things stand along one direction.
#ifndef LIMN_SHOW_LAYOUT_PLACE_H
#define LIMN_SHOW_LAYOUT_PLACE_H

#include "base/base.h"

typedef struct {
  uint32_t above, below;
  int64_t least; // place[below] - place[above] is at least this
} Gap;

typedef struct {
  uint32_t a, b;
  int64_t offset, weight; // it costs weight * |place[b] - place[a] - offset|
} Pull;

typedef struct {
  uint32_t a, b;
  int64_t offset; // place[b] - place[a] is this
} Tie;

typedef struct {
  uint32_t n; // things
  VEC(Gap) gap;
  VEC(Pull) pull;
  VEC(Tie) tie;
  int64_t most; // 0: any. Where the gaps alone lead beyond it, nobody will look: pulls are left out
} Places;

// The highest thing stands at 0. False: the gaps form a cycle, or ties do not agree with
// them. The number of things that were looked at, if asked for, is added to *steps: it is the same
// on every machine, where time is not.
bool places_solve(Arena *, const Places *, int64_t *place, uint64_t *steps);

#endif
