// Gluing of graphs: the disjoint union of the parts, with identified things merged by union–find.
// The first member represents its class, so numbers in the whole follow the order of the parts.
#include "core/graph/graph.h"

typedef struct {
  Arena *arena;
  const Graph *const *part;
  const char *const *name;
  uint32_t n;
  uint32_t *vertex_base, *edge_base; // [part] offset in the disjoint union
  uint32_t *vertex, *edge;           // [of the union] union–find parent
  bool *vertex_shared, *edge_shared; // [of the union] representative of several things
} Gluing;

static uint32_t representative(uint32_t *of, uint32_t x) {
  while (of[x] != x) x = of[x] = of[of[x]];
  return x;
}

static void unite(uint32_t *of, bool *shared, uint32_t a, uint32_t b) {
  a = representative(of, a), b = representative(of, b);
  uint32_t first = a < b ? a : b;
  if (a == b) return;
  of[a] = of[b] = first;
  shared[first] = true;
}

static uint32_t *numbers(Arena *a, uint32_t n) {
  uint32_t *of = NEW_ARRAY(a, uint32_t, n + 1);
  for (uint32_t i = 0; i < n; i++) of[i] = i;
  return of;
}

static void number_parts(Gluing *g) {
  uint32_t vertices = 0, edges = 0;
  g->vertex_base = NEW_ARRAY(g->arena, uint32_t, g->n + 1);
  g->edge_base = NEW_ARRAY(g->arena, uint32_t, g->n + 1);
  for (uint32_t i = 0; i < g->n; i++) {
    g->vertex_base[i] = vertices, g->edge_base[i] = edges;
    vertices += g->part[i]->vertex.n, edges += g->part[i]->edge.n;
  }
  g->vertex_base[g->n] = vertices, g->edge_base[g->n] = edges;
  g->vertex = numbers(g->arena, vertices), g->edge = numbers(g->arena, edges);
  g->vertex_shared = NEW_ARRAY(g->arena, bool, vertices + 1);
  g->edge_shared = NEW_ARRAY(g->arena, bool, edges + 1);
}

static void identify(Gluing *g, const Along *along) {
  for (uint32_t i = 0; i + 1 < along->vertex.n; i += 2) {
    const PartVertex *v = &along->vertex.at[i];
    unite(g->vertex, g->vertex_shared, g->vertex_base[v[0].part] + v[0].vertex,
          g->vertex_base[v[1].part] + v[1].vertex);
  }
  for (uint32_t i = 0; i + 1 < along->edge.n; i += 2) {
    const PartEdge *e = &along->edge.at[i];
    const Edge *a = &g->part[e[0].part]->edge.at[e[0].edge];
    const Edge *b = &g->part[e[1].part]->edge.at[e[1].edge];
    uint32_t u = g->vertex_base[e[0].part], v = g->vertex_base[e[1].part];
    unite(g->edge, g->edge_shared, g->edge_base[e[0].part] + e[0].edge,
          g->edge_base[e[1].part] + e[1].edge);
    unite(g->vertex, g->vertex_shared, u + a->from, v + b->from);
    unite(g->vertex, g->vertex_shared, u + a->to, v + b->to);
  }
}

static uint32_t part_of(const uint32_t *base, uint32_t x) {
  uint32_t i = 0;
  while (x >= base[i + 1]) i++;
  return i;
}

static Id what_of(const Gluing *g, bool edge, uint32_t part, uint32_t at) {
  return edge ? g->part[part]->edge.at[at].what : g->part[part]->vertex.at[at].what;
}

static bool are_same(Gluing *g, bool edge, GlueFault *fault) {
  const uint32_t *base = edge ? g->edge_base : g->vertex_base;
  uint32_t *of = edge ? g->edge : g->vertex;
  for (uint32_t x = 0; x < base[g->n]; x++) {
    uint32_t first = representative(of, x), p = part_of(base, first), q = part_of(base, x);
    if (what_of(g, edge, p, first - base[p]) == what_of(g, edge, q, x - base[q])) continue;
    *fault = (GlueFault){edge, {p, q}, {first - base[p], x - base[q]}};
    return false;
  }
  return true;
}

static const char *name_in(const Gluing *g, uint32_t part, const char *name, bool shared) {
  return shared || g->n == 1 ? name : arena_format(g->arena, "%s.%s", g->name[part], name);
}

static void put_vertices(Gluing *g, Graph *whole, Inclusion *in) {
  for (uint32_t p = 0; p < g->n; p++)
    for (uint32_t i = 0; i < g->part[p]->vertex.n; i++) {
      uint32_t x = g->vertex_base[p] + i, first = representative(g->vertex, x);
      Vertex v = g->part[p]->vertex.at[i];
      if (first == x) {
        v.name = name_in(g, p, v.name, g->vertex_shared[x]);
        in[p].vertex[i] = graph_vertex(whole, v);
      } else {
        uint32_t q = part_of(g->vertex_base, first);
        in[p].vertex[i] = in[q].vertex[first - g->vertex_base[q]];
      }
    }
}

static void put_edges(Gluing *g, Graph *whole, Inclusion *in) {
  for (uint32_t p = 0; p < g->n; p++)
    for (uint32_t i = 0; i < g->part[p]->edge.n; i++) {
      uint32_t x = g->edge_base[p] + i, first = representative(g->edge, x);
      Edge e = g->part[p]->edge.at[i];
      if (first == x) {
        e.name = name_in(g, p, e.name, g->edge_shared[x]);
        e.from = in[p].vertex[e.from], e.to = in[p].vertex[e.to];
        in[p].edge[i] = graph_edge(whole, e);
      } else {
        uint32_t q = part_of(g->edge_base, first);
        in[p].edge[i] = in[q].edge[first - g->edge_base[q]];
      }
    }
}

static Route route_in(Arena *a, const Route *r, const Inclusion *in) {
  Route made = {0};
  for (uint32_t i = 0; i < r->n; i++) vec_push(a, &made, in->edge[r->at[i]]);
  return made;
}

static bool text_same(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static bool is_stated(const Graph *g, const PathOrder *o) {
  for (uint32_t i = 0; i < g->order.n; i++) {
    const PathOrder *k = &g->order.at[i];
    if (k->times == o->times && k->only == o->only && text_same(k->whom, o->whom) &&
        route_equal(&k->left, &o->left) && route_equal(&k->right, &o->right))
      return true;
  }
  return false;
}

// A statement of several parts is added once.
static void put_orders(Gluing *g, Graph *whole, const Inclusion *in) {
  for (uint32_t p = 0; p < g->n; p++)
    for (uint32_t i = 0; i < g->part[p]->order.n; i++) {
      const PathOrder *own = &g->part[p]->order.at[i];
      PathOrder o = *own;
      o.left = route_in(g->arena, &own->left, &in[p]);
      o.right = route_in(g->arena, &own->right, &in[p]);
      if (o.name) o.name = name_in(g, p, o.name, false);
      if (!is_stated(whole, &o)) graph_order(whole, o);
    }
}

bool graph_glue(Arena *a, const GlueParts *parts, const Along *along, Graph **whole, Inclusion *in,
                GlueFault *fault) {
  Gluing g = {.arena = a, .part = parts->graph, .name = parts->name, .n = parts->n};
  number_parts(&g);
  identify(&g, along);
  if (!are_same(&g, false, fault) || !are_same(&g, true, fault)) return false;
  *whole = graph_new(a);
  for (uint32_t p = 0; p < g.n; p++) {
    in[p].vertex = NEW_ARRAY(a, uint32_t, g.part[p]->vertex.n + 1);
    in[p].edge = NEW_ARRAY(a, uint32_t, g.part[p]->edge.n + 1);
  }
  put_vertices(&g, *whole, in);
  put_edges(&g, *whole, in);
  put_orders(&g, *whole, in);
  return true;
}
