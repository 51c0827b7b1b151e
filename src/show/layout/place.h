// layout: coordinates in one dimension.
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
  // 0: unlimited. If the gaps alone exceed it, pulls are ignored: the picture is refused anyway.
  int64_t most;
} Places;

// The smallest coordinate is 0. False: the gaps form a cycle, or contradict the ties. Adds the
// number of visited nodes to *steps unless it is NULL: a measure of time that is the same on every
// machine.
bool places_solve(Arena *, const Places *, int64_t *place, uint64_t *steps);

#endif
