// Adjacency lists sorted by name, so that no result depends on the order of declarations.
// Traversals have an explicit stack, because a graph may be one long chain.
#include "core/graph/adjacency_own.h"

uint64_t count_add(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }
uint64_t count_mul(uint64_t a, uint64_t b) { return a && b > UINT64_MAX / a ? UINT64_MAX : a * b; }

// Counting sort of the edges, which are sorted by name, by their source or target.
static void bucket_edges(Adjacency *n, const uint32_t *sorted, bool in, uint32_t **first,
                         uint32_t **list) {
  const Graph *g = n->g;
  uint32_t *at = NEW_ARRAY(n->arena, uint32_t, g->vertex.n + 2);
  *list = NEW_ARRAY(n->arena, uint32_t, g->edge.n + 1);
  for (uint32_t e = 0; e < g->edge.n; e++) at[(in ? g->edge.at[e].to : g->edge.at[e].from) + 2]++;
  for (uint32_t v = 2; v < g->vertex.n + 2; v++) at[v] += at[v - 1];
  for (uint32_t i = 0; i < g->edge.n; i++) {
    const Edge *e = &g->edge.at[sorted[i]];
    (*list)[at[(in ? e->to : e->from) + 1]++] = sorted[i];
  }
  *first = at;
}

Adjacency adjacency_new(Arena *a, const Graph *g) {
  Adjacency n = {.arena = a, .g = g};
  const uint32_t *sorted = edges_by_name(a, g);
  bucket_edges(&n, sorted, false, &n.out_first, &n.out);
  bucket_edges(&n, sorted, true, &n.in_first, &n.in);
  return n;
}

bool *reachable(const Adjacency *n, const bool *from, bool back) {
  const Graph *g = n->g;
  bool *seen = NEW_ARRAY(n->arena, bool, g->vertex.n + 1);
  uint32_t *todo = NEW_ARRAY(n->arena, uint32_t, g->vertex.n + 1), count = 0;
  const uint32_t *first = back ? n->in_first : n->out_first, *list = back ? n->in : n->out;
  for (uint32_t v = 0; v < g->vertex.n; v++)
    if (from[v]) seen[v] = true, todo[count++] = v;
  while (count) {
    uint32_t v = todo[--count];
    for (uint32_t i = first[v]; i < first[v + 1]; i++) {
      const Edge *e = &g->edge.at[list[i]];
      uint32_t next = back ? e->from : e->to;
      if (!seen[next]) seen[next] = true, todo[count++] = next;
    }
  }
  return seen;
}

// -- cycles ---------------------------------------------------------------------------------------
// Depth-first search: the current path, and the next edge to try at each of its vertices.
typedef struct {
  const Adjacency *n;
  Route path;
  Ids next; // one entry more than the path has edges
} Depth;

static void enter(Depth *d, uint32_t vertex) {
  vec_push(d->n->arena, &d->next, d->n->out_first[vertex]);
}

static uint32_t tip(const Depth *d, uint32_t start) {
  return d->path.n ? d->n->g->edge.at[d->path.at[d->path.n - 1]].to : start;
}

// The next edge at the end of the path; false: backtrack.
static bool next_edge(Depth *d, uint32_t start, uint32_t *edge) {
  uint32_t v = tip(d, start), *at = &d->next.at[d->next.n - 1];
  if (*at == d->n->out_first[v + 1]) return false;
  *edge = d->n->out[(*at)++];
  return true;
}

static Route cycle_of(const Adjacency *n, const Route *path, uint32_t last) {
  const Edge *edge = n->g->edge.at;
  uint32_t i = path->n;
  Route cycle = {0};
  while (i && edge[path->at[i - 1]].from != edge[last].to) i--;
  if (edge[last].from == edge[last].to) i = path->n + 1; // a self-loop
  for (i = i ? i - 1 : 0; i < path->n; i++) vec_push(n->arena, &cycle, path->at[i]);
  vec_push(n->arena, &cycle, last);
  return cycle;
}

typedef enum { NEW_HERE, ON_PATH, DONE } Visit;

static bool find_cycle(const Adjacency *n, const bool *among, bool bounded, Route *out) {
  const Graph *g = n->g;
  uint8_t *visit = NEW_ARRAY(n->arena, uint8_t, g->vertex.n + 1);
  for (uint32_t start = 0; start < g->vertex.n; start++) {
    if (!among[start] || visit[start]) continue;
    Depth d = {.n = n};
    uint32_t edge;
    enter(&d, start);
    visit[start] = ON_PATH;
    while (d.next.n) {
      if (!next_edge(&d, start, &edge)) {
        visit[tip(&d, start)] = DONE;
        d.next.n--;
        if (d.path.n) d.path.n--;
        continue;
      }
      const Edge *e = &g->edge.at[edge];
      if (!among[e->to] || (e->most && !bounded) || visit[e->to] == DONE) continue;
      if (visit[e->to] == ON_PATH) {
        if (out) *out = cycle_of(n, &d.path, edge);
        return true;
      }
      visit[e->to] = ON_PATH;
      vec_push(n->arena, &d.path, edge);
      enter(&d, e->to);
    }
  }
  return false;
}

bool find_unbounded_cycle(const Adjacency *n, const bool *among, Route *out) {
  return find_cycle(n, among, false, out);
}
bool has_bounded_cycle(const Adjacency *n, const bool *among) {
  return find_cycle(n, among, true, NULL);
}

// -- paths ----------------------------------------------------------------------------------------
// Topological order (Kahn's algorithm): a vertex is visited after all its incoming edges.
uint64_t *count_paths(const Adjacency *n, const bool *from, const bool *among) {
  const Graph *g = n->g;
  uint64_t *count = NEW_ARRAY(n->arena, uint64_t, g->vertex.n + 1);
  uint32_t *wait = NEW_ARRAY(n->arena, uint32_t, g->vertex.n + 1);
  uint32_t *todo = NEW_ARRAY(n->arena, uint32_t, g->vertex.n + 1), left = 0;
  for (uint32_t e = 0; e < g->edge.n; e++)
    if (among[g->edge.at[e].from]) wait[g->edge.at[e].to]++;
  for (uint32_t v = 0; v < g->vertex.n; v++) {
    count[v] = from[v];
    if (among[v] && !wait[v]) todo[left++] = v;
  }
  while (left) {
    uint32_t v = todo[--left];
    for (uint32_t i = n->out_first[v]; i < n->out_first[v + 1]; i++) {
      uint32_t to = g->edge.at[n->out[i]].to;
      count[to] = count_add(count[to], count[v]);
      if (among[to] && !--wait[to]) todo[left++] = to;
    }
  }
  return count;
}

bool list_paths(const Adjacency *n, uint32_t from, const bool *among, const bool *to,
                uint64_t limit, Routes *out) {
  const Graph *g = n->g;
  uint32_t *used = NEW_ARRAY(n->arena, uint32_t, g->edge.n + 1), edge, found = 0;
  Depth d = {.n = n};
  enter(&d, from);
  if (to[from]) vec_push(n->arena, out, (Route){0}), found++;
  while (d.next.n) {
    if (!next_edge(&d, from, &edge)) {
      d.next.n--;
      if (d.path.n) used[d.path.at[--d.path.n]]--;
      continue;
    }
    const Edge *e = &g->edge.at[edge];
    if (!among[e->to] || (e->most && used[edge] == e->most)) continue;
    used[edge]++;
    vec_push(n->arena, &d.path, edge);
    enter(&d, e->to);
    if (!to[e->to]) continue;
    if (++found > limit) return false;
    Route r = {.n = d.path.n, .cap = d.path.n};
    r.at = arena_copy(n->arena, d.path.at, d.path.n * sizeof *r.at);
    vec_push(n->arena, out, r);
  }
  return true;
}
