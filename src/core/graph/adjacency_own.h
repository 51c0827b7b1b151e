// Private to graph: adjacency lists and traversals.
#ifndef LIMN_CORE_GRAPH_ADJACENCY_OWN_H
#define LIMN_CORE_GRAPH_ADJACENCY_OWN_H

#include "core/graph/graph.h"

typedef struct { // adjacency lists, edges sorted by name
  Arena *arena;
  const Graph *g;
  uint32_t *out_first, *out, *in_first, *in; // edges of v: list[first[v]] … list[first[v + 1] - 1]
} Adjacency;
Adjacency adjacency_new(Arena *, const Graph *);

// The vertices reachable from the marked ones (included), forwards or backwards.
bool *reachable(const Adjacency *, const bool *from, bool back);

// Finds a cycle among these vertices along edges without a bound (Edge.most). False: none.
bool find_unbounded_cycle(const Adjacency *, const bool *among, Route *);
// True if there is a cycle with edges that have a bound.
bool has_bounded_cycle(const Adjacency *, const bool *among);

// [vertex] the number of paths (the empty one too) from the marked vertices, along `among`, which
// must be acyclic; UINT64_MAX: overflow.
uint64_t *count_paths(const Adjacency *, const bool *from, const bool *among);

// Lists all paths from a vertex to the marked ones, sorted by names; false: more than `limit`.
typedef VEC(Route) Routes;
bool list_paths(const Adjacency *, uint32_t from, const bool *among, const bool *to, uint64_t limit,
                Routes *);

uint64_t count_add(uint64_t, uint64_t), count_mul(uint64_t, uint64_t); // saturating

#endif
