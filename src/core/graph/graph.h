// graph: learning diagrams as graphs. A directed multigraph of spaces (vertices) and maps (edges)
// with an order between paths (routes): which pairs of paths shall be equal; gluing, matching and
// rewriting of graphs. Independent of the language: `what` identifies a space or a map, and equal
// numbers mean equal things.
//
//   Graph *g = graph_new(arena);
//   uint32_t n = graph_vertex(g, (Vertex){.name = "N", .index = true});
//   uint32_t y = graph_vertex(g, (Vertex){.name = "Y", .distance = true});
//   uint32_t f = graph_edge(g, (Edge){.name = "f", .from = n, .to = y});
//   uint32_t h = graph_edge(g, (Edge){.name = "h", .from = n, .to = y});
//   graph_order(g, (PathOrder){route_of(arena, f), route_of(arena, h), .times = 1});
//   Pairs pairs = {0};
//   PairsFault fault;
//   if (graph_pairs(arena, g, PAIRS_LIMIT, NULL, &pairs, &fault)) …
#ifndef LIMN_CORE_GRAPH_GRAPH_H
#define LIMN_CORE_GRAPH_GRAPH_H

#include "base/base.h"

typedef struct {
  const char *name;
  Id what;        // equal numbers: the same type, distance or data; 0 in a pattern: any
  bool index;     // has data: pairs of paths start here
  bool distance;  // has a distance between two points: pairs of paths end here
  bool symmetric; // the distance is symmetric
} Vertex;

typedef struct {
  const char *name;
  Id what;
  uint32_t from, to;
  uint32_t most; // a path uses the edge at most this often; 0: no bound
} Edge;

typedef Ids Route; // composable edges, at least one

typedef struct {
  Route left, right; // parallel paths
  double times;
  bool only; // is neither extended by maps after it nor used in chains
  // The learners that it trains, as text; NULL: all. If given, it is not used in chains.
  const char *whom;
  const char *name; // may be NULL
} PathOrder;

typedef struct {
  Arena *arena;
  VEC(Vertex) vertex; // numbered from 0, like edges
  VEC(Edge) edge;
  VEC(PathOrder) order;
} Graph;

// -- graph.c --------------------------------------------------------------------------------------
Graph *graph_new(Arena *);
uint32_t graph_vertex(Graph *, Vertex);
uint32_t graph_edge(Graph *, Edge);
void graph_order(Graph *, PathOrder);
Route route_of(Arena *, uint32_t edge);
// Vertices sorted by name, so that results do not depend on the order of declarations.
uint32_t *vertices_by_name(Arena *, const Graph *);
uint32_t *edges_by_name(Arena *, const Graph *);
bool route_equal(const Route *, const Route *);
const char *route_text(Arena *, const Graph *, const Route *); // as in "image ; small"

// path_pairs.c: the ordered pairs of different paths from an index to a space with a distance.
//
// The order of paths is the smallest preorder that contains the statements and is closed under
// composition and chains (transitivity). Without statements, all parallel paths are ordered both
// ways. The factor of a pair is that of its statement, or the product along the shortest chain of
// statements; among several, the first in order of names. A named statement makes a pair of its
// own, and so do statements that train different learners. Pairs that cannot be compared are left
// out.
typedef struct {
  Route left, right;
  uint32_t from, to; // their common ends
  double times;
  bool both;      // holds in both directions; listed once
  uint32_t order; // the (first) statement that it follows from + 1; 0: there are no statements
  Ids chain;      // the whole chain, if it has more than one statement
} Pair;
typedef VEC(Pair) Pairs;

typedef enum {
  PAIRS_CYCLE,    // `route` is a cycle on such paths
  PAIRS_MANY,     // `count` paths or pairs exceed the limit (UINT64_MAX: overflow)
  PAIRS_UNORDERED // `route` and `other` end in a space with an asymmetric distance
} PairsFaultKind;
typedef struct {
  PairsFaultKind kind;
  Route route, other;
  uint64_t count;
  uint32_t from, to;
} PairsFault;

// fits: a path that ends with edge `left` can be compared, as the left side, with one that ends
// with edge `right`.
typedef struct {
  bool (*fits)(void *on, uint32_t left, uint32_t right);
  void *on;
  Pairs lost; // result: the pairs that were left out
} Comparing;

enum { PAIRS_LIMIT = 1000 };
// Sorted by names, independent of the order of declarations. False: see fault. by = NULL: all paths
// can be compared.
bool graph_pairs(Arena *, const Graph *, uint64_t limit, Comparing *, Pairs *, PairsFault *);
void graph_used(const Graph *, const Pairs *, bool *edge); // sets [edge]: some pair uses it

// -- glue.c: the colimit (pushout) of several graphs along identified vertices and edges ----------
typedef struct {
  uint32_t part, vertex;
} PartVertex;
typedef struct {
  uint32_t part, edge;
} PartEdge;
typedef struct {
  VEC(PartVertex) vertex; // [2k] and [2k+1] are identified
  VEC(PartEdge) edge;     // likewise; their ends are identified too
} Along;
typedef struct {
  uint32_t *vertex, *edge; // [in the part] number in the whole
} Inclusion;
typedef struct {
  bool edge; // two edges; false: two vertices
  uint32_t part[2], at[2];
} GlueFault;
typedef struct {
  const Graph *const *graph;
  const char *const *name;
  uint32_t n;
} GlueParts;
// Names in the whole are those of the parts, prefixed by "part." if not shared and there are
// several parts. False: identified things have different `what`.
bool graph_glue(Arena *, const GlueParts *, const Along *, Graph **whole, Inclusion *in,
                GlueFault *);

// match.c: graph homomorphisms from a pattern: `what` must agree (0: any), ends must be preserved
typedef struct {
  uint32_t *vertex, *edge; // [of the pattern] its image
} PatternMatch;
typedef VEC(PatternMatch) Matches;
// All matches, in a fixed order; monic: injective only. False: more than `limit`; then `limit`
// matches are listed.
bool graph_find(Arena *, const Graph *pattern, const Graph *, bool monic, uint32_t limit,
                Matches *);

// rewrite.c: double-pushout rewriting. `left` is matched at `at`; what the rule does not keep is
// deleted, what is new on the right is added.
typedef struct {
  const Graph *left, *right;
  VEC(PartVertex) kept_vertex; // pairs: {0, in left}, {1, in right}
  VEC(PartEdge) kept_edge;
} RewriteRule;
typedef struct {
  bool shared;           // the match identifies a deleted thing with another one
  uint32_t vertex, edge; // otherwise: `edge` would dangle, its end `vertex` is deleted
} RewriteFault;
typedef struct {
  Graph *graph;
  Inclusion kept;    // [of the old graph] its number in this graph, or UINT32_MAX
  PatternMatch made; // the image of `right`
} Rewritten;
bool graph_rewrite(Arena *, const RewriteRule *, const Graph *, const PatternMatch *at, Rewritten *,
                   RewriteFault *);

#endif
