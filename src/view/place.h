// Private to view: where things stand along one direction.
#ifndef LIMN_PLACE_H
#define LIMN_PLACE_H

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
  uint32_t n; // things
  VEC(Gap) gap;
  VEC(Pull) pull;
} Places;

// The first thing that is free stands at 0 or below it. False: the gaps go round in a circle.
bool places_solve(Arena *, const Places *, int64_t *place);

#endif
