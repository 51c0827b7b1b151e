// infer, continued: learning diagrams as they are read, for those who draw and list them.
//
//   for (i = 0; i < program->learning.n; i++) {
//     const Learning *g = program->learning.at[i];
//     g->graph->edge.at[k].name, g->edge.at[k].def, g->pairs.at[j].left …
#ifndef LIMN_GRAPHS_H
#define LIMN_GRAPHS_H

#include "core/graph/graph.h"
#include "lang/elab/elab.h"

// A learning diagram: a graph of spaces and maps, and what stands behind each of them.
typedef struct {
  Span span;                 // where it is declared
  const Def *def;            // its type and distance; NULL: an index, or in a pattern anything
  const Syntax *source;      // of an index: mnist, "t.csv", normal[64]
  Name task[EPISODE_FIELDS]; // of an index whose samples are small tasks: their fields, when known
  Scope *home;               // where the words of `source` are found
} GraphSpace;
typedef struct {
  Span span;
  const Syntax *node; // N_BOX or N_LEARNER
  Def *def;           // its map, a box or learner; NULL: it begins in an index, or has no body
  const Syntax *body; // as it is written; NULL: none
  Scope *home;        // where the words of `body` are found
  bool loose;         // what the map gives need only be comparable with points of its end
} GraphEdge;
typedef struct {
  Name name; // in the whole
  Learning *of;
  Inclusion in;
} GraphPart;
typedef struct { // what a `find` found
  const Syntax *node;
  const char *text; // student ; divide at image ; student
} GraphFound;
struct Learning {
  Name name;
  const Syntax *node;
  Def *def;
  Scope *inside; // its names: spaces, edges, learners; then those of the file
  Graph *graph;
  Table *vertex_of, *edge_of; // names to numbers + 1
  VEC(GraphSpace) space;      // [vertex]
  VEC(GraphEdge) edge;        // [edge]
  VEC(Span) order;            // [order]
  VEC(GraphPart) part;        // glued from these
  VEC(GraphFound) found;
  Ids frozen;   // learners that its goals do not move (DEF ids)
  bool counted; // .pairs is what it asks for
  bool pattern; // some spaces or edges may be anything: it is for `find`
  bool broken;  // already reported
  bool is_part; // of another one
  Pairs pairs;
};

// graph_show.c: the pairs of learning diagrams with their routes, distances, factors and learners;
// of one, or of all (NULL)
void elab_paths(Elab *, const Program *, const Learning *, Buf *);
void elab_paths_json(Elab *, const Program *, const Learning *, Buf *);
const char *learning_distance(Elab *, const Def *space); // as it is written
bool learning_freezes(Elab *, const Learning *, Id learner);
// What the goal of a pair is called; NULL: it has none
const char *learning_goal(Elab *, const Program *, const Learning *, uint32_t pair);
void edge_learners(Elab *, const GraphEdge *, Ids *); // graph_read.c: DEF ids, some twice

// graph_body.c: every place where a route of boxes is, in bodies and learning diagrams. False with
// a diagnostic.
bool elab_find(Elab *, const Program *, const char *pattern, bool json, Buf *);

#endif
