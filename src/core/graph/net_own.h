// Private to graph: walking along the edges.
#ifndef LIMN_CORE_GRAPH_NET_OWN_H
#define LIMN_CORE_GRAPH_NET_OWN_H

#include "core/graph/graph.h"

typedef struct { // the edges at each vertex, by name
  Arena *arena;
  const Graph *g;
  uint32_t *out_first, *out, *in_first, *in; // [vertex], [vertex + 1]: where its edges begin, end
} Net;
Net net_new(Arena *, const Graph *);

// Which vertices can be reached from those marked, forwards or backwards; they are in it.
bool *net_reach(const Net *, const bool *from, bool back);

// A round trip among these vertices along edges that may be used without bound; false: none.
bool net_cycle(const Net *, const bool *among, Route *);
// Does some edge that may be used several times lie on a round trip there?
bool net_turns(const Net *, const bool *among);

// How many paths lead from those marked to each, along these vertices, which hold no round trip;
// UINT64_MAX: more than can be counted. The path without edges counts.
uint64_t *net_count(const Net *, const bool *from, const bool *among);

// All paths from a vertex to those marked, in the order of names; false: there are more than limit.
typedef VEC(Route) Routes;
bool net_walk(const Net *, uint32_t from, const bool *among, const bool *to, uint64_t limit,
              Routes *);

uint64_t count_add(uint64_t, uint64_t), count_mul(uint64_t, uint64_t); // never beyond UINT64_MAX

#endif
