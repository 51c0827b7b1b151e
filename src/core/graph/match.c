// Graph matching by backtracking, edge by edge. The next edge shares a vertex with an edge that is
// placed, so only the edges at that vertex are candidates; isolated vertices come last. Candidates
// are tried in order of names, so the order of matches does not depend on the program's text.
#include "core/graph/adjacency_own.h"

#define NOWHERE UINT32_MAX

typedef struct {
  Arena *arena;
  const Graph *pattern, *g;
  Adjacency net;
  bool monic;
  uint32_t limit;
  uint32_t *vertex_by_name, *edge_by_name;
  uint32_t *step; // edges of the pattern in placement order
  PatternMatch now;
  uint32_t *vertex_taken, *edge_taken; // [of the graph] how often it is an image
  Matches *out;
} MatchSearch;

// -- order ----------------------------------------------------------------------------------------
// Placement order: each edge shares a vertex with an earlier one, if possible.
static void plan_steps(MatchSearch *s) {
  const Graph *p = s->pattern;
  bool *placed = NEW_ARRAY(s->arena, bool, p->edge.n + 1);
  bool *known = NEW_ARRAY(s->arena, bool, p->vertex.n + 1);
  s->step = NEW_ARRAY(s->arena, uint32_t, p->edge.n + 1);
  for (uint32_t k = 0; k < p->edge.n; k++) {
    uint32_t best = NOWHERE;
    for (uint32_t e = 0; e < p->edge.n; e++) {
      bool touches = known[p->edge.at[e].from] || known[p->edge.at[e].to];
      if (placed[e]) continue;
      if (best == NOWHERE) best = e;
      if (touches) {
        best = e;
        break;
      }
    }
    placed[best] = known[p->edge.at[best].from] = known[p->edge.at[best].to] = true;
    s->step[k] = best;
  }
}

// -- search ---------------------------------------------------------------------------------------
static bool fits(Id wanted, Id what) { return !wanted || wanted == what; }

static bool vertex_fits(const MatchSearch *s, uint32_t own, uint32_t place) {
  if (s->now.vertex[own] != NOWHERE) return s->now.vertex[own] == place;
  if (s->monic && s->vertex_taken[place]) return false;
  return fits(s->pattern->vertex.at[own].what, s->g->vertex.at[place].what);
}

static void add_match(MatchSearch *s) {
  PatternMatch m = {
      arena_copy(s->arena, s->now.vertex, (s->pattern->vertex.n + 1) * sizeof(uint32_t)),
      arena_copy(s->arena, s->now.edge, (s->pattern->edge.n + 1) * sizeof(uint32_t))};
  vec_push(s->arena, s->out, m);
}

// Maps a vertex to `place`; false: it was mapped already.
static bool map_vertex(MatchSearch *s, uint32_t own, uint32_t place) {
  if (s->now.vertex[own] != NOWHERE) return false;
  s->now.vertex[own] = place;
  s->vertex_taken[place]++;
  return true;
}

static void unmap_vertex(MatchSearch *s, uint32_t own, bool was_put) {
  if (!was_put) return;
  s->vertex_taken[s->now.vertex[own]]--;
  s->now.vertex[own] = NOWHERE;
}

static bool place_vertices(MatchSearch *s, uint32_t own) {
  while (own < s->pattern->vertex.n && s->now.vertex[own] != NOWHERE) own++;
  if (own == s->pattern->vertex.n) {
    if (s->out->n == s->limit) return false;
    add_match(s);
    return true;
  }
  bool all = true;
  for (uint32_t i = 0; i < s->g->vertex.n && all; i++) {
    uint32_t place = s->vertex_by_name[i];
    if (!vertex_fits(s, own, place)) continue;
    map_vertex(s, own, place);
    all = place_vertices(s, own + 1);
    unmap_vertex(s, own, true);
  }
  return all;
}

static bool place_edges(MatchSearch *s, uint32_t step);

static bool try_edge(MatchSearch *s, uint32_t step, uint32_t place) {
  uint32_t own = s->step[step];
  const Edge *e = &s->pattern->edge.at[own], *f = &s->g->edge.at[place];
  if ((s->monic && s->edge_taken[place]) || !fits(e->what, f->what)) return true;
  if (!vertex_fits(s, e->from, f->from)) return true;
  bool from = map_vertex(s, e->from, f->from), all = true;
  if (vertex_fits(s, e->to, f->to)) {
    bool to = map_vertex(s, e->to, f->to);
    s->now.edge[own] = place;
    s->edge_taken[place]++;
    all = place_edges(s, step + 1);
    s->edge_taken[place]--;
    unmap_vertex(s, e->to, to);
  }
  unmap_vertex(s, e->from, from);
  return all;
}

static bool place_edges(MatchSearch *s, uint32_t step) {
  if (step == s->pattern->edge.n) return place_vertices(s, 0);
  const Edge *e = &s->pattern->edge.at[s->step[step]];
  uint32_t from = s->now.vertex[e->from], to = s->now.vertex[e->to];
  const uint32_t *list = s->edge_by_name;
  uint32_t first = 0, last = s->g->edge.n;
  if (from != NOWHERE)
    list = s->net.out, first = s->net.out_first[from], last = s->net.out_first[from + 1];
  else if (to != NOWHERE)
    list = s->net.in, first = s->net.in_first[to], last = s->net.in_first[to + 1];
  for (uint32_t i = first; i < last; i++)
    if (!try_edge(s, step, list[i])) return false;
  return true;
}

bool graph_find(Arena *a, const Graph *pattern, const Graph *g, bool monic, uint32_t limit,
                Matches *out) {
  MatchSearch s = {
      .arena = a, .pattern = pattern, .g = g, .monic = monic, .limit = limit, .out = out};
  s.net = adjacency_new(a, g);
  s.now.vertex = NEW_ARRAY(a, uint32_t, pattern->vertex.n + 1);
  s.now.edge = NEW_ARRAY(a, uint32_t, pattern->edge.n + 1);
  for (uint32_t i = 0; i < pattern->vertex.n; i++) s.now.vertex[i] = NOWHERE;
  s.vertex_taken = NEW_ARRAY(a, uint32_t, g->vertex.n + 1);
  s.edge_taken = NEW_ARRAY(a, uint32_t, g->edge.n + 1);
  s.vertex_by_name = vertices_by_name(a, g), s.edge_by_name = edges_by_name(a, g);
  plan_steps(&s);
  return place_edges(&s, 0);
}
