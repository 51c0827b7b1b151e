// graph: learning graphs. A directed multigraph of spaces and maps, with an order between routes;
// which pairs of paths it wants to be equal, how graphs are glued, found in one another and
// rewritten. Knows no language: what a space or a map is, is a number (`what`), and equal numbers
// are equal things.
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
  Id what;        // equal: the same type, distance or data; 0 in a pattern: anything
  bool index;     // it holds data: paths that count begin here
  bool distance;  // two points of it can be compared: paths that count end here
  bool symmetric; // … and it does not matter in which order
} Vertex;

typedef struct {
  const char *name;
  Id what;
  uint32_t from, to;
  uint32_t most; // a path runs along it at most this many times; 0: it is not given
} Edge;

typedef Ids Route; // edges, each beginning where the one before ends; at least one

typedef struct {
  Route left, right; // both from one space to another
  double times;
  bool only;        // nothing follows with something behind it, nor along chains
  const char *whom; // what it moves, in words; NULL: all. If it is said, no chain runs along it
  const char *name; // NULL: none
} PathOrder;

typedef struct {
  Arena *arena;
  VEC(Vertex) vertex; // numbered from 0, as edges are
  VEC(Edge) edge;
  VEC(PathOrder) order;
} Graph;

// -- graph.c --------------------------------------------------------------------------------------
Graph *graph_new(Arena *);
uint32_t graph_vertex(Graph *, Vertex);
uint32_t graph_edge(Graph *, Edge);
void graph_order(Graph *, PathOrder);
Route route_of(Arena *, uint32_t edge);
uint32_t *vertices_by_name(Arena *,
                           const Graph *); // their numbers: the text's order does not matter
uint32_t *edges_by_name(Arena *, const Graph *);
bool route_equal(const Route *, const Route *);
const char *route_text(Arena *, const Graph *, const Route *); // image ; small

// pairs.c: the ordered pairs of different paths from an index to a space with a distance.
//
// The order of paths is the least one that holds what is stated, is kept by composition and goes on
// along chains. If nothing is stated, all paths are ordered both ways. The factor of a pair is that
// of the statement it follows from, or the product along the shortest chain of them; of several,
// the first in the order of the text. What a statement says itself is its own pair, if it has a
// name. Statements that move different things give pairs of their own. Pairs that cannot be
// compared are left out.
typedef struct {
  Route left, right;
  uint32_t from, to; // vertices
  double times;
  bool both;      // the other way round as well; then it stands here once
  uint32_t order; // the statement it follows from + 1, of a chain the first; 0: nothing is stated
  Ids chain;      // all that it follows from, if they are several
} Pair;
typedef VEC(Pair) Pairs;

typedef enum {
  PAIRS_CYCLE,    // `route` is a cycle, on paths that would count
  PAIRS_MANY,     // `count` paths or pairs, over the limit (UINT64_MAX: more than can be counted)
  PAIRS_UNORDERED // `route` and `other` end in a space whose distance has a left and a right side
} PairsFaultKind;
typedef struct {
  PairsFaultKind kind;
  Route route, other;
  uint64_t count;
  uint32_t from, to;
} PairsFault;

// What ends with the first of two edges can stand on the left of what ends with the other one.
typedef struct {
  bool (*fits)(void *on, uint32_t left, uint32_t right);
  void *on;
  Pairs lost; // those that are left out, once they are known
} Comparing;

enum { PAIRS_LIMIT = 1000 };
// In a fixed order that depends on names, not on the order of declarations. False: fault says why.
// Without a Comparing, everything fits.
bool graph_pairs(Arena *, const Graph *, uint64_t limit, Comparing *, Pairs *, PairsFault *);
void graph_used(const Graph *, const Pairs *, bool *edge); // [edge] some pair runs along it

// -- glue.c: several graphs side by side, with some vertices and edges made one -------------------
typedef struct {
  uint32_t part, vertex;
} PartVertex;
typedef struct {
  uint32_t part, edge;
} PartEdge;
typedef struct {
  VEC(PartVertex) vertex; // [2k], [2k+1] become one
  VEC(PartEdge) edge;     // likewise; their ends become one too
} Along;
typedef struct {
  uint32_t *vertex, *edge; // [in the part] its number in the whole
} Inclusion;
typedef struct {
  bool edge; // two edges, or two vertices
  uint32_t part[2], at[2];
} GlueFault;
typedef struct {
  const Graph *const *graph;
  const char *const *name;
  uint32_t n;
} GlueParts;
// Names in the whole: those of the parts with "part." in front where they are not shared and there
// are several. False: two things that are to be one are not the same (`what`).
bool graph_glue(Arena *, const GlueParts *, const Along *, Graph **whole, Inclusion *in,
                GlueFault *);

// match.c: a pattern in a graph: a vertex for each vertex, an edge for each edge, with equal
// `what` (0: any) and ends that fit
typedef struct {
  uint32_t *vertex, *edge; // [of the pattern] where it is
} PatternMatch;
typedef VEC(PatternMatch) Matches;
// All of them in a fixed order; monic: different things go to different places. False: more than
// `limit`, which is how many there are then.
bool graph_find(Arena *, const Graph *pattern, const Graph *, bool monic, uint32_t limit,
                Matches *);

// rewrite.c: double pushout. `left` is found at `at`; what is not kept goes, what is new comes.
typedef struct {
  const Graph *left, *right;
  VEC(PartVertex) kept_vertex; // pairs: {0, in left}, {1, in right}
  VEC(PartEdge) kept_edge;
} RewriteRule;
typedef struct {
  bool shared;           // two things, one of which goes, were found at one place
  uint32_t vertex, edge; // `edge` would be left without its end `vertex`
} RewriteFault;
typedef struct {
  Graph *graph;
  Inclusion kept;    // .vertex, .edge: [of the old graph] its number in this one, or UINT32_MAX
  PatternMatch made; // where `right` is in it
} Rewritten;
bool graph_rewrite(Arena *, const RewriteRule *, const Graph *, const PatternMatch *at, Rewritten *,
                   RewriteFault *);

#endif
