// Which paths a learning diagram makes equal.
//
// A statement l <= r, with a common prefix and suffix, is a step from one path to another; the
// order of paths is reachability by steps. Only paths that contain a stated route are enumerated,
// and they are counted first. Without statements, all parallel paths from an index to a space with
// a distance are compared.
//
// Steps are taken in order of names, so the result does not depend on the order of declarations.
#include "base/table.h"
#include "core/graph/adjacency_own.h"

#include <stdlib.h>

typedef struct {
  uint32_t to; // index of a path
  double times;
  uint32_t order;
  bool alone; // not used in chains
  bool named; // a named statement, not extended by a suffix
} Hop;

typedef struct {
  Route route;
  uint32_t from, to;
  VEC(Hop) hop;
  // The breadth-first search from another path: that path + 1, and the number of steps from it.
  uint32_t start, wave;
  double times;
  // The predecessor, and the statement of the last step.
  uint32_t last, order;
  bool named;
  uint32_t covered; // start + 1 if a direct pair replaces the pair of the chain
} EdgePath;

typedef struct {
  Arena *arena;
  const Graph *g;
  Adjacency net;
  uint64_t limit, steps;
  bool *index, *distance; // [vertex]
  Table *known;           // edges of a route to path + 1
  VEC(EdgePath) path;
  Comparing *by; // NULL: everything fits
  Pairs *out;
  PairsFault *fault;
} PairsWork;

static bool fail_too_many(PairsWork *w, uint64_t count) {
  *w->fault = (PairsFault){.kind = PAIRS_MANY, .count = count};
  return false;
}

static bool fail_cycle(PairsWork *w, const Route *cycle) {
  *w->fault = (PairsFault){.kind = PAIRS_CYCLE, .route = *cycle};
  return false;
}

// -- paths that contain a stated route ------------------------------------------------------------
static uint32_t route_from(const Graph *g, const Route *r) { return g->edge.at[r->at[0]].from; }
static uint32_t route_to(const Graph *g, const Route *r) { return g->edge.at[r->at[r->n - 1]].to; }

static bool *intersection(const PairsWork *w, const bool *a, const bool *b) {
  bool *all = NEW_ARRAY(w->arena, bool, w->g->vertex.n + 1);
  for (uint32_t v = 0; v < w->g->vertex.n; v++) all[v] = a[v] && b[v];
  return all;
}

static bool *singleton(const PairsWork *w, uint32_t vertex) {
  bool *one = NEW_ARRAY(w->arena, bool, w->g->vertex.n + 1);
  one[vertex] = true;
  return one;
}

// Lists all paths between two sets of vertices. They are counted first, to fail early.
static bool all_paths(PairsWork *w, const bool *from, const bool *to, Routes *out, Ids *starts) {
  const bool *among =
      intersection(w, reachable(&w->net, from, false), reachable(&w->net, to, true));
  Route cycle;
  if (find_unbounded_cycle(&w->net, among, &cycle)) return fail_cycle(w, &cycle);
  bool bounded_cycle = has_bounded_cycle(&w->net, among);
  uint64_t count = 0;
  const uint64_t *n = bounded_cycle ? NULL : count_paths(&w->net, from, among);
  for (uint32_t v = 0; n && v < w->g->vertex.n; v++)
    if (to[v] && among[v]) count = count_add(count, n[v]);
  if (count > w->limit) return fail_too_many(w, count);
  for (uint32_t v = 0; v < w->g->vertex.n; v++) {
    if (!from[v] || !among[v]) continue;
    uint32_t before = out->n;
    if (!list_paths(&w->net, v, among, to, w->limit, out)) return fail_too_many(w, UINT64_MAX);
    for (; before < out->n; before++) vec_push(w->arena, starts, v);
  }
  return true;
}

static Route joined(PairsWork *w, const Route *a, const Route *b, const Route *c) {
  const Route *part[] = {a, b, c};
  Route r = {0};
  for (uint32_t k = 0; k < 3; k++)
    for (uint32_t i = 0; i < part[k]->n; i++) vec_push(w->arena, &r, part[k]->at[i]);
  return r;
}

static bool is_allowed(const PairsWork *w, const Route *r) {
  for (uint32_t i = 0; i < r->n; i++) {
    uint32_t most = w->g->edge.at[r->at[i]].most, n = 0;
    for (uint32_t k = 0; most && k < r->n; k++) n += r->at[k] == r->at[i];
    if (n > most) return false;
  }
  return true;
}

static uint32_t path_of(PairsWork *w, const Route *r, uint32_t from, uint32_t to) {
  Id id = table_get(w->known, r->at, r->n * sizeof *r->at);
  if (id) return id - 1;
  vec_push(w->arena, &w->path, (EdgePath){.route = *r, .from = from, .to = to});
  table_put(w->known, r->at, r->n * sizeof *r->at, w->path.n);
  return w->path.n - 1;
}

static bool suffixes_of(PairsWork *w, const PathOrder *o, Routes *out) {
  uint32_t end = route_to(w->g, &o->left);
  Ids ends = {0};
  if (!o->only) return all_paths(w, singleton(w, end), w->distance, out, &ends);
  if (w->distance[end]) vec_push(w->arena, out, (Route){0});
  return true;
}

// Adds the steps of a statement, with all prefixes and suffixes.
static bool add_steps(PairsWork *w, uint32_t order) {
  const PathOrder *o = &w->g->order.at[order];
  Routes prefix = {0}, suffix = {0};
  Ids starts = {0};
  if (!all_paths(w, w->index, singleton(w, route_from(w->g, &o->left)), &prefix, &starts))
    return false;
  if (!suffixes_of(w, o, &suffix)) return false;
  w->steps = count_add(w->steps, count_mul(prefix.n, suffix.n));
  if (w->steps > 2 * w->limit) return fail_too_many(w, w->steps);
  for (uint32_t i = 0; i < prefix.n; i++)
    for (uint32_t k = 0; k < suffix.n; k++) {
      Route l = joined(w, &prefix.at[i], &o->left, &suffix.at[k]);
      Route r = joined(w, &prefix.at[i], &o->right, &suffix.at[k]);
      if (route_equal(&l, &r) || !is_allowed(w, &l) || !is_allowed(w, &r)) continue;
      uint32_t a = route_from(w->g, &l), b = route_to(w->g, &l);
      uint32_t from = path_of(w, &l, a, b), to = path_of(w, &r, a, b);
      bool named = o->name && !suffix.at[k].n, alone = o->only || o->whom;
      vec_push(w->arena, &w->path.at[from].hop, (Hop){to, o->times, order, alone, named});
    }
  return true;
}

typedef struct {
  const char *left, *right;
  const PathOrder *is;
  uint32_t order;
} SortedStatement;

static int by_text(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : ""); }

static int by_words(const void *a, const void *b) {
  const SortedStatement *x = a, *y = b;
  int order = strcmp(x->left, y->left);
  if (!order) order = strcmp(x->right, y->right);
  if (!order) order = (x->is->times < y->is->times) - (x->is->times > y->is->times);
  if (!order) order = by_text(x->is->whom, y->is->whom);
  if (!order) order = by_text(x->is->name, y->is->name);
  return order ? order : x->is->only - y->is->only;
}

static SortedStatement *sorted_statements(PairsWork *w) {
  const Graph *g = w->g;
  SortedStatement *s = NEW_ARRAY(w->arena, SortedStatement, g->order.n + 1);
  for (uint32_t i = 0; i < g->order.n; i++)
    s[i] = (SortedStatement){route_text(w->arena, g, &g->order.at[i].left),
                             route_text(w->arena, g, &g->order.at[i].right), &g->order.at[i], i};
  qsort(s, g->order.n, sizeof *s, by_words);
  return s;
}

static bool may_compare(const PairsWork *w, const Route *left, const Route *right) {
  return !w->by || w->by->fits(w->by->on, left->at[left->n - 1], right->at[right->n - 1]);
}

static bool add_pair(PairsWork *w, Pair pair) {
  vec_push(w->arena, may_compare(w, &pair.left, &pair.right) ? w->out : &w->by->lost, pair);
  return w->out->n + (w->by ? w->by->lost.n : 0) <= 2 * w->limit || fail_too_many(w, UINT64_MAX);
}

// The statements of the chain to a path, last first; empty if there is only one.
static Ids chain_to(PairsWork *w, uint32_t path) {
  Ids chain = {0};
  const EdgePath *p = &w->path.at[path];
  for (bool several = p->wave > 1; several && p->wave; p = &w->path.at[p->last])
    vec_push(w->arena, &chain, p->order);
  return chain;
}

// A named statement wins, then the larger factor.
static bool is_better(bool named, double times, bool than_named, double than_times) {
  return named != than_named ? named : times > than_times;
}

static bool is_beaten(const PairsWork *w, const EdgePath *from, uint32_t hop) {
  const Hop *h = &from->hop.at[hop];
  for (uint32_t k = 0; k < from->hop.n; k++) {
    const Hop *o = &from->hop.at[k];
    if (k == hop || !o->alone || o->to != h->to) continue;
    if (by_text(w->g->order.at[o->order].whom, w->g->order.at[h->order].whom) != 0) continue;
    bool worse = is_better(o->named, o->times, h->named, h->times),
         better = is_better(h->named, h->times, o->named, o->times);
    if (worse || (!better && k < hop)) return true;
  }
  return false;
}

// Adds the pairs of statements that are not used in chains. One that trains everything replaces the
// pair of a longer chain.
static bool add_direct_pairs(PairsWork *w, uint32_t start) {
  const EdgePath *l = &w->path.at[start];
  for (uint32_t k = 0; k < l->hop.n; k++) {
    const Hop *h = &l->hop.at[k];
    EdgePath *r = &w->path.at[h->to];
    if (!h->alone || is_beaten(w, l, k)) continue;
    if (!w->g->order.at[h->order].whom && r->start == start + 1) {
      if (r->wave == 1 && !is_better(h->named, h->times, r->named, r->times)) continue;
      r->covered = start + 1;
    }
    Pair pair = {l->route, r->route, l->from, l->to, h->times, .order = h->order + 1};
    if (!add_pair(w, pair)) return false;
  }
  return true;
}

// Breadth-first search: the first wave that reaches a path determines the factor, the largest
// within the wave.
static void search_from(PairsWork *w, uint32_t start, Ids *todo) {
  EdgePath *path = w->path.at;
  vec_push(w->arena, todo, start);
  path[start].start = start + 1, path[start].wave = 0, path[start].times = 1;
  for (uint32_t i = 0; i < todo->n; i++) {
    const EdgePath *from = &path[todo->at[i]];
    for (uint32_t k = 0; k < from->hop.n; k++) {
      const Hop *h = &from->hop.at[k];
      EdgePath *to = &path[h->to];
      double times = from->times * h->times;
      bool first = to->start != start + 1, named = h->named && !i;
      if (h->alone) continue;
      if (!first && (to->wave != from->wave + 1 || !is_better(named, times, to->named, to->times)))
        continue;
      if (first) vec_push(w->arena, todo, h->to);
      to->start = start + 1, to->wave = from->wave + 1, to->times = times;
      to->last = todo->at[i], to->order = h->order, to->named = named;
    }
  }
}

static bool add_chain_pairs(PairsWork *w, uint32_t start) {
  Ids todo = {0};
  search_from(w, start, &todo);
  if (!add_direct_pairs(w, start)) return false;
  for (uint32_t i = 1; i < todo.n; i++) {
    const EdgePath *l = &w->path.at[start], *r = &w->path.at[todo.at[i]];
    if (r->covered == start + 1) continue;
    Ids chain = chain_to(w, todo.at[i]);
    uint32_t order = chain.n ? chain.at[chain.n - 1] : r->order;
    Pair pair = {l->route, r->route, l->from, l->to, r->times, .order = order + 1, .chain = chain};
    if (!add_pair(w, pair)) return false;
  }
  return true;
}

static bool pairs_of_statements(PairsWork *w) {
  const SortedStatement *s = sorted_statements(w);
  for (uint32_t i = 0; i < w->g->order.n; i++)
    if (!add_steps(w, s[i].order)) return false;
  for (uint32_t p = 0; p < w->path.n; p++)
    if (!add_chain_pairs(w, p)) return false;
  return true;
}

// -- without statements ---------------------------------------------------------------------------
// Adds a pair of unordered paths: both ways if the distance is symmetric; one way if only that way
// can be compared.
static bool add_unordered(PairsWork *w, const Route *l, const Route *r, uint32_t from,
                          uint32_t to) {
  bool there = may_compare(w, l, r), back = may_compare(w, r, l);
  Pair pair = {*l, *r, from, to, 2, .both = true};
  if (there && back && !w->g->vertex.at[to].symmetric) {
    *w->fault =
        (PairsFault){.kind = PAIRS_UNORDERED, .route = *l, .other = *r, .from = from, .to = to};
    return false;
  }
  if (there != back) pair = (Pair){there ? *l : *r, there ? *r : *l, from, to, .times = 1};
  vec_push(w->arena, there || back ? w->out : &w->by->lost, pair);
  return true;
}

static bool pairs_between(PairsWork *w, uint32_t from, uint32_t to) {
  Routes r = {0};
  const bool *among = reachable(&w->net, singleton(w, to), true);
  if (!list_paths(&w->net, from, among, singleton(w, to), w->limit, &r))
    return fail_too_many(w, UINT64_MAX);
  if (r.n < 2) return true;
  for (uint32_t i = 0; i < r.n; i++)
    for (uint32_t k = i + 1; k < r.n; k++)
      if (!add_unordered(w, &r.at[i], &r.at[k], from, to)) return false;
  return w->out->n > w->limit ? fail_too_many(w, w->out->n) : true;
}

static bool all_pairs(PairsWork *w) {
  const bool *among =
      intersection(w, reachable(&w->net, w->index, false), reachable(&w->net, w->distance, true));
  Route cycle;
  uint64_t sum = 0;
  if (find_unbounded_cycle(&w->net, among, &cycle)) return fail_cycle(w, &cycle);
  bool bounded_cycle = has_bounded_cycle(&w->net, among);
  Ids ends = {0}; // from, to
  for (uint32_t v = 0; v < w->g->vertex.n; v++) {
    if (!w->index[v] || !among[v]) continue;
    const uint64_t *n = bounded_cycle ? NULL : count_paths(&w->net, singleton(w, v), among);
    for (uint32_t k = 0; k < w->g->vertex.n; k++) {
      if (!w->distance[k] || !among[k] || (n && n[k] < 2)) continue;
      if (n)
        sum = count_add(sum, n[k] & 1 ? count_mul(n[k], n[k] / 2) : count_mul(n[k] / 2, n[k] - 1));
      vec_push(w->arena, &ends, v), vec_push(w->arena, &ends, k);
    }
  }
  if (sum > w->limit) return fail_too_many(w, sum);
  for (uint32_t i = 0; i < ends.n; i += 2)
    if (!pairs_between(w, ends.at[i], ends.at[i + 1])) return false;
  return true;
}

// -- all ------------------------------------------------------------------------------------------
typedef struct {
  const char *from, *to, *left, *right, *whom;
  Pair pair;
} SortedPaths;

static int by_names(const void *a, const void *b) {
  const SortedPaths *x = a, *y = b;
  int order = strcmp(x->from, y->from);
  if (!order) order = strcmp(x->to, y->to);
  if (!order) order = strcmp(x->left, y->left);
  if (!order) order = strcmp(x->right, y->right);
  return order ? order : by_text(x->whom, y->whom);
}

static const PathOrder *order_of(const PairsWork *w, const Pair *p) {
  return p->order ? &w->g->order.at[p->order - 1] : NULL;
}

static const char *whom(const PairsWork *w, const Pair *p) {
  return p->order ? order_of(w, p)->whom : NULL;
}

static SortedPaths sorted_of(PairsWork *w, const Pair *p) {
  return (SortedPaths){w->g->vertex.at[p->from].name,
                       w->g->vertex.at[p->to].name,
                       route_text(w->arena, w->g, &p->left),
                       route_text(w->arena, w->g, &p->right),
                       whom(w, p),
                       *p};
}

// True if the pair must not be merged with its reverse: it is named, or trains only some learners.
static bool stays_itself(const PairsWork *w, const Pair *p) {
  const PathOrder *o = order_of(w, p);
  return o && !p->chain.n && (o->name || o->whom);
}

// Merges a pair with its reverse where the distance is symmetric.
static void merge_reversed(PairsWork *w) {
  Pairs once = {0};
  Table *seen = table_new(w->arena);
  for (uint32_t i = 0; i < w->out->n; i++) {
    Pair p = w->out->at[i];
    uint32_t l = path_of(w, &p.left, p.from, p.to), r = path_of(w, &p.right, p.from, p.to);
    uint32_t key[2] = {r, l}, own[2] = {l, r};
    bool reversible = w->g->vertex.at[p.to].symmetric && !stays_itself(w, &p);
    Id other = reversible ? table_get(seen, key, sizeof key) : 0;
    if (other) {
      once.at[other - 1].both = true;
      once.at[other - 1].times += p.times;
      continue;
    }
    vec_push(w->arena, &once, p);
    if (reversible) table_put(seen, own, sizeof own, once.n);
  }
  *w->out = once;
}

static void sort(PairsWork *w, Pairs *all) {
  SortedPaths *s = NEW_ARRAY(w->arena, SortedPaths, all->n + 1);
  for (uint32_t i = 0; i < all->n; i++) s[i] = sorted_of(w, &all->at[i]);
  if (all->n) qsort(s, all->n, sizeof *s, by_names);
  for (uint32_t i = 0; i < all->n; i++) all->at[i] = s[i].pair;
}

bool graph_pairs(Arena *a, const Graph *g, uint64_t limit, Comparing *by, Pairs *out,
                 PairsFault *fault) {
  PairsWork w = {.arena = a,
                 .g = g,
                 .net = adjacency_new(a, g),
                 .limit = limit,
                 .by = by,
                 .out = out,
                 .fault = fault};
  w.known = table_new(a);
  w.index = NEW_ARRAY(a, bool, g->vertex.n + 1);
  w.distance = NEW_ARRAY(a, bool, g->vertex.n + 1);
  for (uint32_t v = 0; v < g->vertex.n; v++)
    w.index[v] = g->vertex.at[v].index, w.distance[v] = g->vertex.at[v].distance;
  if (!(g->order.n ? pairs_of_statements(&w) : all_pairs(&w))) return false;
  sort(&w, out);
  if (by) sort(&w, &by->lost);
  merge_reversed(&w);
  if (out->n > limit) return fail_too_many(&w, out->n);
  return true;
}

void graph_used(const Graph *g, const Pairs *pairs, bool *edge) {
  memset(edge, 0, g->edge.n * sizeof *edge);
  for (uint32_t i = 0; i < pairs->n; i++) {
    const Route *side[] = {&pairs->at[i].left, &pairs->at[i].right};
    for (uint32_t k = 0; k < 2; k++)
      for (uint32_t j = 0; j < side[k]->n; j++) edge[side[k]->at[j]] = true;
  }
}
