// Double-pushout rewriting: what matches the rule's left side but is not kept is deleted, then what
// is new on the right side is added. The pushout complement must exist: no edge may dangle, and a
// deleted thing may not be identified with another one by the match.
#include "core/graph/graph.h"

#define GONE UINT32_MAX

typedef struct {
  Arena *arena;
  const RewriteRule *rule;
  const Graph *g;
  const PatternMatch *at;
  bool *vertex_deleted, *edge_deleted; // [of the graph]
  uint32_t *vertex_right,
      *edge_right; // [of the right side] its number in the graph; GONE: new
} Rewriting;

static bool is_kept(const RewriteRule *r, bool edge, uint32_t left) {
  for (uint32_t i = 0; !edge && i + 1 < r->kept_vertex.n; i += 2)
    if (r->kept_vertex.at[i].vertex == left) return true;
  for (uint32_t i = 0; edge && i + 1 < r->kept_edge.n; i += 2)
    if (r->kept_edge.at[i].edge == left) return true;
  return false;
}

// The identification condition: two things of the left side with one image are both kept.
static bool places_differ(const RewriteRule *r, bool edge, const uint32_t *place, uint32_t n,
                          RewriteFault *fault) {
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = i + 1; k < n; k++) {
      if (place[i] != place[k] || (is_kept(r, edge, i) && is_kept(r, edge, k))) continue;
      *fault = (RewriteFault){true, edge ? GONE : place[i], edge ? place[i] : GONE};
      return false;
    }
  return true;
}

static bool nothing_dangles(Rewriting *w, RewriteFault *fault) {
  for (uint32_t e = 0; e < w->g->edge.n; e++) {
    const Edge *x = &w->g->edge.at[e];
    if (w->edge_deleted[e] || !(w->vertex_deleted[x->from] || w->vertex_deleted[x->to])) continue;
    *fault = (RewriteFault){false, w->vertex_deleted[x->from] ? x->from : x->to, e};
    return false;
  }
  return true;
}

static bool mark_deleted(Rewriting *w, RewriteFault *fault) {
  const Graph *left = w->rule->left;
  if (!places_differ(w->rule, false, w->at->vertex, left->vertex.n, fault)) return false;
  if (!places_differ(w->rule, true, w->at->edge, left->edge.n, fault)) return false;
  for (uint32_t i = 0; i < left->vertex.n; i++)
    if (!is_kept(w->rule, false, i)) w->vertex_deleted[w->at->vertex[i]] = true;
  for (uint32_t i = 0; i < left->edge.n; i++)
    if (!is_kept(w->rule, true, i)) w->edge_deleted[w->at->edge[i]] = true;
  return nothing_dangles(w, fault);
}

// Numbers in the graph of the kept things of the right side.
static void find_right(Rewriting *w) {
  const Graph *right = w->rule->right;
  w->vertex_right = NEW_ARRAY(w->arena, uint32_t, right->vertex.n + 1);
  w->edge_right = NEW_ARRAY(w->arena, uint32_t, right->edge.n + 1);
  for (uint32_t i = 0; i < right->vertex.n; i++) w->vertex_right[i] = GONE;
  for (uint32_t i = 0; i < right->edge.n; i++) w->edge_right[i] = GONE;
  for (uint32_t i = 0; i + 1 < w->rule->kept_vertex.n; i += 2) {
    const PartVertex *v = &w->rule->kept_vertex.at[i];
    w->vertex_right[v[1].vertex] = w->at->vertex[v[0].vertex];
  }
  for (uint32_t i = 0; i + 1 < w->rule->kept_edge.n; i += 2) {
    const PartEdge *e = &w->rule->kept_edge.at[i];
    w->edge_right[e[1].edge] = w->at->edge[e[0].edge];
  }
}

static void copy_rest(Rewriting *w, Graph *out, Inclusion *kept) {
  for (uint32_t v = 0; v < w->g->vertex.n; v++)
    kept->vertex[v] = w->vertex_deleted[v] ? GONE : graph_vertex(out, w->g->vertex.at[v]);
  for (uint32_t e = 0; e < w->g->edge.n; e++) {
    Edge x = w->g->edge.at[e];
    kept->edge[e] = GONE;
    if (w->edge_deleted[e]) continue;
    x.from = kept->vertex[x.from], x.to = kept->vertex[x.to];
    kept->edge[e] = graph_edge(out, x);
  }
}

static void put_right(Rewriting *w, Graph *out, const Inclusion *kept, PatternMatch *made) {
  const Graph *right = w->rule->right;
  for (uint32_t v = 0; v < right->vertex.n; v++)
    made->vertex[v] = w->vertex_right[v] == GONE ? graph_vertex(out, right->vertex.at[v])
                                                 : kept->vertex[w->vertex_right[v]];
  for (uint32_t e = 0; e < right->edge.n; e++) {
    Edge x = right->edge.at[e];
    x.from = made->vertex[x.from], x.to = made->vertex[x.to];
    made->edge[e] = w->edge_right[e] == GONE ? graph_edge(out, x) : kept->edge[w->edge_right[e]];
  }
}

// A statement is kept if all its edges are.
static bool route_kept(Arena *a, const Route *r, const uint32_t *edge, Route *out) {
  *out = (Route){0};
  for (uint32_t i = 0; i < r->n; i++) {
    if (edge[r->at[i]] == GONE) return false;
    vec_push(a, out, edge[r->at[i]]);
  }
  return true;
}

static void copy_orders(Arena *a, const Graph *from, const uint32_t *edge, Graph *out) {
  for (uint32_t i = 0; i < from->order.n; i++) {
    PathOrder o = from->order.at[i];
    if (route_kept(a, &from->order.at[i].left, edge, &o.left) &&
        route_kept(a, &from->order.at[i].right, edge, &o.right))
      graph_order(out, o);
  }
}

bool graph_rewrite(Arena *a, const RewriteRule *rule, const Graph *g, const PatternMatch *at,
                   Rewritten *out, RewriteFault *fault) {
  Rewriting w = {.arena = a, .rule = rule, .g = g, .at = at};
  w.vertex_deleted = NEW_ARRAY(a, bool, g->vertex.n + 1);
  w.edge_deleted = NEW_ARRAY(a, bool, g->edge.n + 1);
  if (!mark_deleted(&w, fault)) return false;
  find_right(&w);
  out->graph = graph_new(a);
  out->kept =
      (Inclusion){NEW_ARRAY(a, uint32_t, g->vertex.n + 1), NEW_ARRAY(a, uint32_t, g->edge.n + 1)};
  out->made = (PatternMatch){NEW_ARRAY(a, uint32_t, rule->right->vertex.n + 1),
                             NEW_ARRAY(a, uint32_t, rule->right->edge.n + 1)};
  copy_rest(&w, out->graph, &out->kept);
  put_right(&w, out->graph, &out->kept, &out->made);
  copy_orders(a, g, out->kept.edge, out->graph);
  copy_orders(a, rule->right, out->made.edge, out->graph);
  return true;
}
