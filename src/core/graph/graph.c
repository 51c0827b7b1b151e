// Construction of graphs. Vertices and edges are numbered from 0 in order of insertion; names give
// an order that does not depend on the program's text.
#include "core/graph/graph.h"

#include <assert.h>
#include <stdlib.h>

Graph *graph_new(Arena *a) {
  Graph *g = NEW(a, Graph);
  g->arena = a;
  return g;
}

uint32_t graph_vertex(Graph *g, Vertex v) {
  vec_push(g->arena, &g->vertex, v);
  return g->vertex.n - 1;
}

uint32_t graph_edge(Graph *g, Edge e) {
  assert(e.from < g->vertex.n && e.to < g->vertex.n);
  vec_push(g->arena, &g->edge, e);
  return g->edge.n - 1;
}

void graph_order(Graph *g, PathOrder o) { vec_push(g->arena, &g->order, o); }

typedef struct {
  const char *name;
  uint32_t at;
} NamedVertex;

static int by_name(const void *a, const void *b) {
  const NamedVertex *x = a, *y = b;
  int order = strcmp(x->name, y->name);
  return order ? order : (x->at > y->at) - (x->at < y->at);
}

static uint32_t *in_order(Arena *a, NamedVertex *all, uint32_t n) {
  uint32_t *at = NEW_ARRAY(a, uint32_t, n + 1);
  if (n) qsort(all, n, sizeof *all, by_name);
  for (uint32_t i = 0; i < n; i++) at[i] = all[i].at;
  return at;
}

uint32_t *vertices_by_name(Arena *a, const Graph *g) {
  NamedVertex *all = NEW_ARRAY(a, NamedVertex, g->vertex.n + 1);
  for (uint32_t i = 0; i < g->vertex.n; i++) all[i] = (NamedVertex){g->vertex.at[i].name, i};
  return in_order(a, all, g->vertex.n);
}

uint32_t *edges_by_name(Arena *a, const Graph *g) {
  NamedVertex *all = NEW_ARRAY(a, NamedVertex, g->edge.n + 1);
  for (uint32_t i = 0; i < g->edge.n; i++) all[i] = (NamedVertex){g->edge.at[i].name, i};
  return in_order(a, all, g->edge.n);
}

Route route_of(Arena *a, uint32_t edge) {
  Route r = {0};
  vec_push(a, &r, edge);
  return r;
}

bool route_equal(const Route *a, const Route *b) {
  return a->n == b->n && (!a->n || memcmp(a->at, b->at, a->n * sizeof *a->at) == 0);
}

const char *route_text(Arena *a, const Graph *g, const Route *r) {
  Buf b = buf_new(a);
  for (uint32_t i = 0; i < r->n; i++)
    buf_printf(&b, "%s%s", i ? " ; " : "", g->edge.at[r->at[i]].name);
  return b.n ? b.at : "";
}
