// Learning graphs against brute force: pairs of paths, gluing, matching, rewriting, on small random
// graphs; and large graphs.
#include "core/graph/graph.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

static uint64_t seed;
static uint32_t roll(uint32_t n) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 33) % n;
}

// -- random graphs --------------------------------------------------------------------------------
static const char *letter(Arena *a, const char *head, uint32_t i) {
  return arena_format(a, "%s%02u", head, i);
}

static Graph *random_graph(Arena *a, uint32_t vertices, uint32_t edges) {
  Graph *g = graph_new(a);
  for (uint32_t i = 0; i < vertices; i++)
    graph_vertex(g, (Vertex){.name = letter(a, "v", i),
                             .what = 1 + roll(2),
                             .index = i < 2,
                             .distance = i >= 2 && roll(2),
                             .symmetric = true});
  for (uint32_t i = 0; i < edges; i++) {
    uint32_t from = roll(vertices - 1), to = from + 1 + roll(vertices - 1 - from);
    graph_edge(g, (Edge){.name = letter(a, "e", i), .what = 1 + roll(3), .from = from, .to = to});
  }
  return g;
}

typedef VEC(Route) Routes;

static void paths_from(Arena *a, const Graph *g, Route *path, uint32_t at, Routes *out) {
  if (path->n) {
    Route copy = {0};
    for (uint32_t i = 0; i < path->n; i++) vec_push(a, &copy, path->at[i]);
    vec_push(a, out, copy);
  }
  for (uint32_t e = 0; e < g->edge.n; e++) {
    if (g->edge.at[e].from != at) continue;
    vec_push(a, path, e);
    paths_from(a, g, path, g->edge.at[e].to, out);
    path->n--;
  }
}

static Routes all_paths(Arena *a, const Graph *g) {
  Routes out = {0};
  for (uint32_t v = 0; v < g->vertex.n; v++) paths_from(a, g, &(Route){0}, v, &out);
  return out;
}

static uint32_t first_of(const Graph *g, const Route *r) { return g->edge.at[r->at[0]].from; }
static uint32_t last_of(const Graph *g, const Route *r) { return g->edge.at[r->at[r->n - 1]].to; }

static bool are_parallel(const Graph *g, const Route *a, const Route *b) {
  return first_of(g, a) == first_of(g, b) && last_of(g, a) == last_of(g, b) && !route_equal(a, b);
}

static void random_orders(Arena *a, Graph *g, uint32_t n) {
  Routes all = all_paths(a, g);
  for (uint32_t i = 0; all.n && i < n; i++)
    for (uint32_t tries = 0; tries < 50; tries++) {
      const Route *l = &all.at[roll(all.n)], *r = &all.at[roll(all.n)];
      if (!are_parallel(g, l, r)) continue;
      graph_order(g, (PathOrder){.left = *l, .right = *r, .times = 1 << roll(3)});
      break;
    }
}

// -- pairs ----------------------------------------------------------------------------------------
// Is `path` the route `from` with something before and behind, and `other` the same with `to`?
static bool is_step(const Route *path, const Route *other, const Route *from, const Route *to) {
  for (uint32_t at = 0; at + from->n <= path->n; at++) {
    if (memcmp(path->at + at, from->at, from->n * sizeof *from->at) != 0) continue;
    uint32_t rest = path->n - at - from->n;
    if (other->n != at + to->n + rest || memcmp(path->at, other->at, at * sizeof *path->at) != 0 ||
        memcmp(other->at + at, to->at, to->n * sizeof *to->at) != 0 ||
        memcmp(path->at + at + from->n, other->at + at + to->n, rest * sizeof *path->at) != 0)
      continue;
    return true;
  }
  return false;
}

typedef struct {
  Routes path;
  double *times;    // [left * n + right] 0: not ordered
  uint32_t *length; // of the shortest chain
} Brute;

// Chains of one step more, until nothing changes.
static void close_chains(Brute *b) {
  uint32_t n = b->path.n;
  for (uint32_t length = 2; length <= n; length++)
    for (uint32_t i = 0; i < n; i++)
      for (uint32_t k = 0; k < n; k++)
        for (uint32_t j = 0; j < n; j++) {
          if (b->length[i * n + j] != length - 1 || b->length[j * n + k] != 1 || i == k) continue;
          double times = b->times[i * n + j] * b->times[j * n + k];
          uint32_t at = i * n + k;
          if (b->length[at] && b->length[at] < length) continue;
          b->length[at] = length;
          if (times > b->times[at]) b->times[at] = times;
        }
}

static Brute brute_pairs(Arena *a, const Graph *g) {
  Brute b = {.path = all_paths(a, g)};
  uint32_t n = b.path.n;
  b.times = NEW_ARRAY(a, double, n *n + 1);
  b.length = NEW_ARRAY(a, uint32_t, n * n + 1);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < n; k++) {
      const Route *l = &b.path.at[i], *r = &b.path.at[k];
      if (!are_parallel(g, l, r)) continue;
      if (!g->order.n) b.times[i * n + k] = 1;
      for (uint32_t o = 0; o < g->order.n; o++) {
        const PathOrder *x = &g->order.at[o];
        if (!is_step(l, r, &x->left, &x->right)) continue;
        b.length[i * n + k] = 1;
        if (x->times > b.times[i * n + k]) b.times[i * n + k] = x->times;
      }
    }
  close_chains(&b);
  return b;
}

static double brute_times(const Brute *b, const Route *l, const Route *r) {
  uint32_t i = 0, k = 0;
  while (!route_equal(&b->path.at[i], l)) i++;
  while (!route_equal(&b->path.at[k], r)) k++;
  return b->times[i * b->path.n + k];
}

static void pairs_are_all(void **state) {
  (void)state;
  uint32_t found = 0, chains = 0;
  for (seed = 1; seed < 1500; seed++) {
    uint64_t own = seed;
    Arena *a = arena_new();
    Graph *g = random_graph(a, 4 + roll(3), 3 + roll(6));
    random_orders(a, g, roll(4));
    Brute b = brute_pairs(a, g);
    Pairs pairs = {0};
    PairsFault fault;
    assert_true(graph_pairs(a, g, 100000, NULL, &pairs, &fault));
    uint32_t want = 0, n = 0;
    for (uint32_t i = 0; i < b.path.n; i++)
      for (uint32_t k = 0; k < b.path.n; k++) {
        bool counts = g->vertex.at[first_of(g, &b.path.at[i])].index &&
                      g->vertex.at[last_of(g, &b.path.at[i])].distance;
        want += counts && b.times[i * b.path.n + k] > 0;
        chains += counts && b.length[i * b.path.n + k] > 1;
      }
    for (uint32_t i = 0; i < pairs.n; i++) {
      const Pair *p = &pairs.at[i];
      double times = brute_times(&b, &p->left, &p->right);
      assert_true(g->vertex.at[p->from].index && g->vertex.at[p->to].distance && times > 0);
      if (p->both) times += brute_times(&b, &p->right, &p->left);
      assert_true(fabs(times - p->times) < 1e-12);
      n += p->both ? 2 : 1;
    }
    assert_int_equal(n, want);
    found += n;
    arena_free(a);
    seed = own;
  }
  assert_true(found > 1000 && chains > 30); // there was something to find
}

// The same graph with everything in another order.
// `only`: with something before it, and nothing behind.
static bool says(const PathOrder *o, const Route *l, const Route *r) {
  return is_step(l, r, &o->left, &o->right) &&
         (!o->only ||
          (l->n >= o->left.n && r->n >= o->right.n && l->n - o->left.n == r->n - o->right.n &&
           !memcmp(l->at + (l->n - o->left.n), o->left.at, o->left.n * sizeof *l->at) &&
           !memcmp(r->at + (r->n - o->right.n), o->right.at, o->right.n * sizeof *r->at)));
}

// The largest factor of the statements that give this pair without a chain, of those that move
// `whom`; 0: none does.
static double said_alone(const Graph *g, const Route *l, const Route *r, const char *whom) {
  double most = 0;
  for (uint32_t i = 0; i < g->order.n; i++) {
    const PathOrder *o = &g->order.at[i];
    bool alone = o->only || o->whom, same = o->whom ? whom && !strcmp(o->whom, whom) : !whom;
    if (alone && same && says(o, l, r) && o->times > most) most = o->times;
  }
  return most;
}

// Statements marked `only`, and those that say whom they move, give their own pairs, beside what
// follows from the others.
static void statements_alone(void **state) {
  (void)state;
  static const char *const moves[] = {NULL, "f", "g"};
  uint32_t found = 0;
  for (seed = 1; seed < 1500; seed++) {
    uint64_t own = seed;
    Arena *a = arena_new();
    Graph *g = random_graph(a, 4 + roll(3), 3 + roll(6)), plain = *g;
    random_orders(a, g, 1 + roll(4));
    for (uint32_t v = 0; v < g->vertex.n; v++) g->vertex.at[v].symmetric = false;
    for (uint32_t i = 0; i < g->order.n; i++)
      g->order.at[i].only = roll(2) == 0, g->order.at[i].whom = moves[roll(3)];
    plain.order.n = plain.order.cap = 0, plain.order.at = NULL;
    for (uint32_t i = 0; i < g->order.n; i++)
      if (!g->order.at[i].only && !g->order.at[i].whom) graph_order(&plain, g->order.at[i]);
    Brute b = brute_pairs(a, &plain);
    Pairs pairs = {0};
    PairsFault fault;
    uint32_t want = 0, n = b.path.n;
    if (g->order.n) assert_true(graph_pairs(a, g, 100000, NULL, &pairs, &fault));
    for (uint32_t i = 0; g->order.n && i < n * n; i++) {
      const Route *l = &b.path.at[i / n], *r = &b.path.at[i % n];
      if (!g->vertex.at[first_of(g, l)].index || !g->vertex.at[last_of(g, l)].distance) continue;
      for (uint32_t k = 0; k < 3; k++) {
        double times = are_parallel(g, l, r) ? said_alone(g, l, r, moves[k]) : 0;
        bool chained = !k && plain.order.n && b.length[i];
        if (chained && (b.length[i] == 1 ? b.times[i] > times : !times)) times = b.times[i];
        if (!times) continue;
        bool met = false;
        for (uint32_t j = 0; j < pairs.n; j++) {
          const Pair *p = &pairs.at[j];
          const char *whom = g->order.at[p->order - 1].whom;
          met |= route_equal(&p->left, l) && route_equal(&p->right, r) && p->times == times &&
                 (whom ? k && !strcmp(whom, moves[k]) : !k);
        }
        assert_true(met);
        want++;
      }
    }
    assert_int_equal(pairs.n, want);
    found += want;
    arena_free(a);
    seed = own;
  }
  assert_true(found > 500);
}

static Graph *shuffled(Arena *a, const Graph *g) {
  Graph *s = graph_new(a);
  uint32_t nv = g->vertex.n, ne = g->edge.n, *v = NEW_ARRAY(a, uint32_t, nv + 1),
           *e = NEW_ARRAY(a, uint32_t, ne + 1);
  uint32_t shift = roll(nv), turn = ne ? roll(ne) : 0;
  for (uint32_t i = 0; i < nv; i++) {
    uint32_t from = nv - 1 - (i + shift) % nv;
    v[from] = graph_vertex(s, g->vertex.at[from]);
  }
  for (uint32_t i = 0; i < ne; i++) {
    uint32_t from = ne - 1 - (i + turn) % ne;
    Edge x = g->edge.at[from];
    x.from = v[x.from], x.to = v[x.to];
    e[from] = graph_edge(s, x);
  }
  for (uint32_t i = g->order.n; i-- > 0;) {
    PathOrder o = g->order.at[i];
    Route l = {0}, r = {0};
    for (uint32_t k = 0; k < o.left.n; k++) vec_push(a, &l, e[o.left.at[k]]);
    for (uint32_t k = 0; k < o.right.n; k++) vec_push(a, &r, e[o.right.at[k]]);
    o.left = l, o.right = r;
    graph_order(s, o);
  }
  return s;
}

static const char *pairs_text(Arena *a, const Graph *g) {
  Pairs pairs = {0};
  PairsFault fault;
  Buf b = buf_new(a);
  assert_true(graph_pairs(a, g, 100000, NULL, &pairs, &fault));
  for (uint32_t i = 0; i < pairs.n; i++)
    buf_printf(&b, "%s <= %s %g %d\n", route_text(a, g, &pairs.at[i].left),
               route_text(a, g, &pairs.at[i].right), pairs.at[i].times, pairs.at[i].both);
  return b.n ? b.at : "";
}

static void order_of_text_is_nothing(void **state) {
  (void)state;
  for (seed = 1; seed < 300; seed++) {
    uint64_t own = seed;
    Arena *a = arena_new();
    Graph *g = random_graph(a, 5, 8);
    random_orders(a, g, roll(4));
    assert_string_equal(pairs_text(a, g), pairs_text(a, shuffled(a, g)));
    arena_free(a);
    seed = own;
  }
}

// Edges of the first kind cannot stand on the right, as scores cannot.
static bool not_on_the_right(void *on, uint32_t left, uint32_t right) {
  (void)left;
  return ((const Graph *)on)->edge.at[right].what != 1;
}

// What cannot be compared is left out, and nothing else is.
static void left_out(void **state) {
  (void)state;
  uint32_t lost = 0;
  for (seed = 1; seed < 300; seed++) {
    uint64_t own = seed;
    Arena *a = arena_new();
    Graph *g = random_graph(a, 5, 8);
    random_orders(a, g, 1 + roll(3));
    for (uint32_t v = 0; v < g->vertex.n; v++) g->vertex.at[v].symmetric = false;
    Comparing by = {.fits = not_on_the_right, .on = g};
    Pairs all = {0}, kept = {0};
    PairsFault fault;
    if (g->order.n) {
      assert_true(graph_pairs(a, g, 100000, NULL, &all, &fault));
      assert_true(graph_pairs(a, g, 100000, &by, &kept, &fault));
      uint32_t k = 0, l = 0;
      for (uint32_t i = 0; i < all.n; i++) {
        const Pair *p = &all.at[i];
        bool fits = not_on_the_right(g, 0, p->right.at[p->right.n - 1]);
        const Pair *there = fits ? &kept.at[k++] : &by.lost.at[l++];
        assert_true(route_equal(&p->left, &there->left) && route_equal(&p->right, &there->right));
        assert_true(p->times == there->times);
      }
      assert_true(k == kept.n && l == by.lost.n);
      lost += l;
    }
    arena_free(a);
    seed = own;
  }
  assert_true(lost > 100);
}

// With nothing stated, a pair that can be compared one way only is compared that way, once.
static void one_way_only(void **state) {
  (void)state;
  Arena *a = arena_new();
  Graph *g = graph_new(a);
  uint32_t n = graph_vertex(g, (Vertex){.name = "N", .index = true}),
           y = graph_vertex(g, (Vertex){.name = "Y", .distance = true});
  graph_edge(g, (Edge){.name = "guess", .what = 1, .from = n, .to = y});
  graph_edge(g, (Edge){.name = "label", .what = 2, .from = n, .to = y});
  graph_edge(g, (Edge){.name = "more", .what = 1, .from = n, .to = y});
  Comparing by = {.fits = not_on_the_right, .on = g};
  Pairs pairs = {0};
  PairsFault fault;
  assert_true(graph_pairs(a, g, PAIRS_LIMIT, &by, &pairs, &fault));
  assert_int_equal(pairs.n, 2);
  assert_string_equal(route_text(a, g, &pairs.at[0].left), "guess");
  assert_string_equal(route_text(a, g, &pairs.at[0].right), "label");
  assert_string_equal(route_text(a, g, &pairs.at[1].left), "more");
  assert_true(pairs.at[0].times == 1 && !pairs.at[0].both);
  assert_int_equal(by.lost.n, 1);
  arena_free(a);
}

static Graph *chain_with_pair(Arena *a, uint32_t n) {
  Graph *g = graph_new(a);
  for (uint32_t i = 0; i <= n; i++)
    graph_vertex(g, (Vertex){.name = letter(a, "v", i), .index = !i, .distance = i == n});
  for (uint32_t i = 0; i < n; i++)
    graph_edge(g, (Edge){.name = letter(a, "e", i), .from = i, .to = i + 1});
  return g;
}

static void faults_are_named(void **state) {
  (void)state;
  Arena *a = arena_new();
  Pairs pairs = {0};
  PairsFault fault;
  Graph *g = chain_with_pair(a, 3); // v0 → v1 → v2 → v3, and back from v2 to v1
  uint32_t back = graph_edge(g, (Edge){.name = "back", .from = 2, .to = 1});
  assert_false(graph_pairs(a, g, PAIRS_LIMIT, NULL, &pairs, &fault));
  assert_int_equal(fault.kind, PAIRS_CYCLE);
  assert_string_equal(route_text(a, g, &fault.route), "e01 ; back");
  g->edge.at[back].most = 2;
  g->vertex.at[3].symmetric = true;
  assert_true(graph_pairs(a, g, PAIRS_LIMIT, NULL, &pairs, &fault));
  assert_int_equal(pairs.n, 3); // round 0, 1 or 2 times: three paths
  graph_edge(g, (Edge){.name = "self", .from = 1, .to = 1});
  assert_false(graph_pairs(a, g, PAIRS_LIMIT, NULL, &pairs, &fault));
  assert_string_equal(route_text(a, g, &fault.route), "self");

  g = chain_with_pair(a, 2);
  graph_edge(g, (Edge){.name = "other", .from = 0, .to = 2});
  assert_false(graph_pairs(a, g, PAIRS_LIMIT, NULL, &pairs, &fault));
  assert_int_equal(fault.kind, PAIRS_UNORDERED);
  assert_string_equal(route_text(a, g, &fault.route), "e00 ; e01");
  assert_string_equal(route_text(a, g, &fault.other), "other");

  g = chain_with_pair(a, 40); // each step two ways: 2^40 paths
  g->vertex.at[40].symmetric = true;
  for (uint32_t i = 0; i < 40; i++)
    graph_edge(g, (Edge){.name = letter(a, "f", i), .from = i, .to = i + 1});
  assert_false(graph_pairs(a, g, PAIRS_LIMIT, NULL, &pairs, &fault));
  assert_int_equal(fault.kind, PAIRS_MANY);
  uint64_t paths = (uint64_t)1 << 40;
  assert_true(fault.count == UINT64_MAX || fault.count == paths / 2 * (paths - 1));
  graph_order(g, (PathOrder){.left = route_of(a, 20),
                             .right = route_of(a, 60),
                             .times = 1}); // in the middle: 2^39 ways to stand
  assert_false(graph_pairs(a, g, PAIRS_LIMIT, NULL, &pairs, &fault));
  assert_true(fault.kind == PAIRS_MANY && fault.count == (uint64_t)1 << 20);
  arena_free(a);
}

// A thousand spaces and ten thousand edges, with a few pairs in them: what does not end in a pair
// is not walked.
static void large_graphs(void **state) {
  (void)state;
  Arena *a = arena_new();
  Graph *g = graph_new(a);
  seed = 5;
  for (uint32_t i = 0; i < 1000; i++)
    graph_vertex(g, (Vertex){.name = arena_format(a, "v%03u", i), .index = i == 0});
  for (uint32_t i = 0; i < 10000; i++) { // most lead away from everything that has a distance
    uint32_t from = roll(998), to = from + 1 + roll(998 - from);
    if (from < 10 && to >= 990) to = 500;
    graph_edge(g, (Edge){.name = arena_format(a, "e%05u", i), .from = from, .to = to});
  }
  uint32_t n = graph_vertex(g, (Vertex){.name = "N", .index = true});
  uint32_t y = graph_vertex(g, (Vertex){.name = "Y", .distance = true});
  uint32_t f = graph_edge(g, (Edge){.name = "f", .from = n, .to = y});
  uint32_t h = graph_edge(g, (Edge){.name = "h", .from = n, .to = y});
  graph_edge(g, (Edge){.name = "in", .from = n, .to = 0});
  graph_order(g, (PathOrder){.left = route_of(a, f), .right = route_of(a, h), .times = 1});
  Pairs pairs = {0};
  PairsFault fault;
  assert_true(graph_pairs(a, g, PAIRS_LIMIT, NULL, &pairs, &fault));
  assert_int_equal(pairs.n, 1);
  g->order.n = 0;
  g->vertex.at[y].symmetric = true;
  assert_true(graph_pairs(a, g, PAIRS_LIMIT, NULL, &pairs, &fault));
  assert_int_equal(pairs.n, 2); // the one from before stays in the list
  assert_true(arena_used(a) < 64 << 20);
  arena_free(a);
}

// -- the loss is contractive ----------------------------------------------------------------------
// Theorem 4.3 of seed 001, for the loss of a whole graph.
//
// A world gives each vertex v a finite set of points with a Lawvere distance d_v (d(y, y) = 0, the
// triangle inequality, neither symmetric nor separating) and each edge a function; a path is the
// composite of its edges. The loss of a world is what graph_pairs asks for,
//
//   loss = sum over the pairs f <= g, x in X of times * d_Y(f(x), g(x))     (f, g : X -> Y)
//
// Let `fine` and `coarse` be two worlds on one graph, and let p_v : fine_v -> coarse_v be
// surjective and 1-Lipschitz at every vertex, and commute with the maps of every edge. Then
// loss(fine) >= loss(coarse), which is checked on random graphs and random such worlds, for the
// whole loss and for each of its pairs. With p_v bijective and an isometry the two are equal.
//
// That the premises are needed is checked as well: if p is not onto the points of an index, or if
// it stretches distances, some of the same worlds break the inequality.
enum { POINTS = 12 };
typedef struct {
  uint32_t n[8];                  // [vertex] how many points
  uint32_t map[16][POINTS];       // [edge][point]
  double far[8][POINTS][POINTS];  // [vertex] d
} World;                          // on one graph
typedef uint32_t Onto[8][POINTS]; // [vertex][fine point] the coarse one

static double chance(void) { return roll(1000) / 1000.0; }

// The largest distance that is at most this one and keeps the triangle inequality.
static void close_distance(World *w, uint32_t v) {
  for (uint32_t k = 0; k < w->n[v]; k++)
    for (uint32_t i = 0; i < w->n[v]; i++)
      for (uint32_t j = 0; j < w->n[v]; j++)
        w->far[v][i][j] = fmin(w->far[v][i][j], w->far[v][i][k] + w->far[v][k][j]);
}

static void random_coarse(const Graph *g, World *w) {
  for (uint32_t v = 0; v < g->vertex.n; v++) {
    w->n[v] = 2 + roll(3);
    for (uint32_t i = 0; i < w->n[v]; i++)
      for (uint32_t j = 0; j < w->n[v]; j++) w->far[v][i][j] = i == j ? 0 : roll(3) * chance();
    close_distance(w, v);
  }
  for (uint32_t e = 0; e < g->edge.n; e++)
    for (uint32_t i = 0; i < POINTS; i++) w->map[e][i] = roll(w->n[g->edge.at[e].to]);
}

// Some points over each coarse one, but none over the last of vertex 0, an index, if it is
// `missed`; maps that agree with the
// coarse ones; distances that are at least `stretch` times the coarse ones.
static void random_fine(const Graph *g, const World *coarse, bool single, bool missed,
                        double stretch, World *w, Onto onto) {
  for (uint32_t v = 0; v < g->vertex.n; v++) {
    w->n[v] = 0;
    for (uint32_t i = 0; i < coarse->n[v]; i++) {
      bool none = missed && v == 0 && i + 1 == coarse->n[v];
      for (uint32_t k = none ? 0 : single ? 1 : 1 + roll(3); k > 0; k--) onto[v][w->n[v]++] = i;
    }
    for (uint32_t i = 0; i < w->n[v]; i++)
      for (uint32_t j = 0; j < w->n[v]; j++) {
        double least = stretch * coarse->far[v][onto[v][i]][onto[v][j]];
        w->far[v][i][j] = i == j ? 0 : least + (single ? 0 : roll(2) * chance());
      }
    close_distance(w, v);
  }
  for (uint32_t e = 0; e < g->edge.n; e++) {
    uint32_t from = g->edge.at[e].from, to = g->edge.at[e].to;
    for (uint32_t i = 0; i < w->n[from]; i++) {
      uint32_t want = coarse->map[e][onto[from][i]];
      do w->map[e][i] = roll(w->n[to]);
      while (onto[to][w->map[e][i]] != want);
    }
  }
}

static uint32_t along(const World *w, const Route *r, uint32_t x) {
  for (uint32_t i = 0; i < r->n; i++) x = w->map[r->at[i]][x];
  return x;
}

static double pair_loss(const World *w, const Pair *p) {
  double sum = 0;
  for (uint32_t x = 0; x < w->n[p->from]; x++) {
    uint32_t l = along(w, &p->left, x), r = along(w, &p->right, x);
    sum += p->times *
           (p->both ? (w->far[p->to][l][r] + w->far[p->to][r][l]) / 2 : w->far[p->to][l][r]);
  }
  return sum;
}

// Is every p_v surjective, 1-Lipschitz and natural? The premises, said once more and plainly.
static bool is_morphism(const Graph *g, const World *fine, const World *coarse, Onto onto) {
  for (uint32_t v = 0; v < g->vertex.n; v++) {
    uint32_t hit = 0;
    for (uint32_t i = 0; i < fine->n[v]; i++) {
      hit |= 1u << onto[v][i];
      for (uint32_t j = 0; j < fine->n[v]; j++)
        if (coarse->far[v][onto[v][i]][onto[v][j]] > fine->far[v][i][j] + 1e-12) return false;
    }
    if (hit != (1u << coarse->n[v]) - 1) return false;
  }
  for (uint32_t e = 0; e < g->edge.n; e++)
    for (uint32_t i = 0; i < fine->n[g->edge.at[e].from]; i++)
      if (onto[g->edge.at[e].to][fine->map[e][i]] != coarse->map[e][onto[g->edge.at[e].from][i]])
        return false;
  return true;
}

// How many worlds of so many break the inequality, of those whose pairs have something to lose.
static uint32_t broken_worlds(bool single, bool missed, double stretch, uint32_t *tried) {
  static World fine, coarse; // large
  static Onto onto;
  uint32_t broken = 0;
  *tried = 0;
  for (seed = 1; seed < 1500; seed++) {
    uint64_t own = seed;
    Arena *a = arena_new();
    Graph *g = random_graph(a, 4 + roll(3), 3 + roll(6));
    Pairs pairs = {0};
    PairsFault fault;
    random_orders(a, g, roll(4));
    for (uint32_t v = 0; v < g->vertex.n; v++) g->vertex.at[v].symmetric = !g->order.n;
    assert_true(graph_pairs(a, g, 100000, NULL, &pairs, &fault));
    random_coarse(g, &coarse);
    random_fine(g, &coarse, single, missed, stretch, &fine, onto);
    bool premises = !missed && stretch >= 1;
    assert_true(!premises || is_morphism(g, &fine, &coarse, onto));
    double sum[2] = {0};
    for (uint32_t i = 0; i < pairs.n; i++) {
      double one[2] = {pair_loss(&fine, &pairs.at[i]), pair_loss(&coarse, &pairs.at[i])};
      if (premises) assert_true(one[0] >= one[1] - 1e-9);
      if (single && stretch == 1) assert_true(fabs(one[0] - one[1]) < 1e-9);
      sum[0] += one[0], sum[1] += one[1];
    }
    *tried += sum[1] > 0;
    broken += sum[0] < sum[1] - 1e-9;
    arena_free(a);
    seed = own;
  }
  return broken;
}

static void loss_is_contractive(void **state) {
  (void)state;
  uint32_t tried;
  assert_int_equal(broken_worlds(false, false, 1, &tried), 0);
  assert_true(tried > 200);                                   // there was something to lose
  assert_int_equal(broken_worlds(true, false, 1, &tried), 0); // bijective: equal
  assert_true(broken_worlds(false, true, 1, &tried) > 10);    // not onto
  assert_true(broken_worlds(true, false, 0.5, &tried) > 100); // p doubles distances
}

// -- gluing ---------------------------------------------------------------------------------------
static bool is_same_shape(Arena *a, const Graph *g, const Graph *h) {
  Matches m = {0};
  if (g->vertex.n != h->vertex.n || g->edge.n != h->edge.n || g->order.n != h->order.n)
    return false;
  graph_find(a, g, h, true, 1, &m);
  return m.n == 1;
}

static uint32_t count_pairs(Arena *a, const Graph *g) {
  Pairs pairs = {0};
  PairsFault fault;
  assert_true(graph_pairs(a, g, 100000, NULL, &pairs, &fault));
  return pairs.n;
}

static Graph *glue(Arena *a, const Graph *x, const Graph *y, const Along *along) {
  const Graph *part[] = {x, y};
  const char *name[] = {"one", "two"};
  GlueParts parts = {part, name, 2};
  Inclusion in[2];
  GlueFault fault;
  Graph *whole;
  assert_true(graph_glue(a, &parts, along, &whole, in, &fault));
  return whole;
}

static void gluing(void **state) {
  (void)state;
  for (seed = 1; seed < 300; seed++) {
    uint64_t own = seed;
    Arena *a = arena_new();
    Graph *x = random_graph(a, 4, 5), *y = random_graph(a, 4, 5), *z = random_graph(a, 4, 4);
    random_orders(a, x, 1), random_orders(a, y, 1), random_orders(a, z, 1);
    Along none = {0}, one = {0}, turned = {0};
    // with nothing stated in one of them, all its pairs count only as long as it stands alone
    if (x->order.n && y->order.n)
      assert_int_equal(count_pairs(a, glue(a, x, y, &none)), count_pairs(a, x) + count_pairs(a, y));
    for (uint32_t i = 0; i < 4; i++) {
      y->vertex.at[i].what = x->vertex.at[i].what;
      vec_push(a, &one.vertex, (PartVertex){0, i}), vec_push(a, &one.vertex, (PartVertex){1, i});
      vec_push(a, &turned.vertex, (PartVertex){1, i});
      vec_push(a, &turned.vertex, (PartVertex){0, i});
    }
    Graph *xy = glue(a, x, y, &one), *yx = glue(a, y, x, &turned);
    assert_int_equal(xy->vertex.n, 4);
    assert_true(is_same_shape(a, xy, yx));
    assert_true(is_same_shape(a, glue(a, glue(a, x, y, &none), z, &none),
                              glue(a, x, glue(a, y, z, &none), &none)));
    arena_free(a);
    seed = own;
  }
}

// Two squares along their encoder, as in the figure of seed 001.
static void squares_along_an_encoder(void **state) {
  (void)state;
  Arena *a = arena_new();
  Graph *square[2];
  for (uint32_t k = 0; k < 2; k++) {
    Graph *g = square[k] = graph_new(a);
    uint32_t n = graph_vertex(g, (Vertex){.name = "N", .what = 10 + k, .index = true});
    uint32_t x = graph_vertex(g, (Vertex){.name = "X", .what = 1});
    uint32_t f = graph_vertex(g, (Vertex){.name = "F", .what = 2});
    uint32_t y = graph_vertex(g, (Vertex){.name = "Y", .what = 20 + k, .distance = true});
    uint32_t ex = graph_edge(g, (Edge){.name = "x", .what = 30 + k, .from = n, .to = x});
    uint32_t m = graph_edge(g, (Edge){.name = "m", .what = 5, .from = x, .to = f});
    uint32_t h = graph_edge(g, (Edge){.name = "h", .what = 40 + k, .from = f, .to = y});
    uint32_t ey = graph_edge(g, (Edge){.name = "y", .what = 50 + k, .from = n, .to = y});
    Route guess = route_of(a, ex);
    vec_push(a, &guess, m), vec_push(a, &guess, h);
    graph_order(g, (PathOrder){.left = guess, .right = route_of(a, ey), .times = 1});
  }
  Along along = {0};
  vec_push(a, &along.edge, (PartEdge){0, 1}), vec_push(a, &along.edge, (PartEdge){1, 1});
  Graph *whole = glue(a, square[0], square[1], &along);
  assert_int_equal(whole->vertex.n, 6);
  assert_int_equal(whole->edge.n, 7);
  assert_string_equal(pairs_text(a, whole), "one.x ; m ; one.h <= one.y 1 0\n"
                                            "two.x ; m ; two.h <= two.y 1 0\n");
  const Graph *part[] = {square[0], square[1]};
  const char *name[] = {"one", "two"};
  GlueParts parts = {part, name, 2};
  Inclusion in[2];
  GlueFault fault;
  square[1]->vertex.at[2].what = 3; // another F
  assert_false(graph_glue(a, &parts, &along, &whole, in, &fault));
  assert_true(!fault.edge && fault.at[0] == 2 && fault.at[1] == 2 && fault.part[1] == 1);
  square[1]->vertex.at[2].what = 2, square[1]->edge.at[1].what = 6; // another m
  assert_false(graph_glue(a, &parts, &along, &whole, in, &fault));
  assert_true(fault.edge && fault.at[0] == 1);
  arena_free(a);
}

// -- finding --------------------------------------------------------------------------------------
static uint32_t brute_matches(const Graph *p, const Graph *g, bool monic) {
  uint32_t v[4], e[4], found = 0, nv = 1, ne = 1;
  for (uint32_t i = 0; i < p->vertex.n; i++) nv *= g->vertex.n;
  for (uint32_t i = 0; i < p->edge.n; i++) ne *= g->edge.n;
  for (uint32_t x = 0; x < nv; x++)
    for (uint32_t y = 0; y < ne; y++) {
      bool good = true;
      uint32_t rest = x;
      for (uint32_t i = 0; i < p->vertex.n; i++, rest /= g->vertex.n) v[i] = rest % g->vertex.n;
      rest = y;
      for (uint32_t i = 0; i < p->edge.n; i++, rest /= g->edge.n) e[i] = rest % g->edge.n;
      for (uint32_t i = 0; i < p->vertex.n; i++) {
        Id what = p->vertex.at[i].what;
        good &= !what || what == g->vertex.at[v[i]].what;
        for (uint32_t k = 0; monic && k < i; k++) good &= v[i] != v[k];
      }
      for (uint32_t i = 0; i < p->edge.n; i++) {
        const Edge *own = &p->edge.at[i], *at = &g->edge.at[e[i]];
        good &= (!own->what || own->what == at->what) && v[own->from] == at->from &&
                v[own->to] == at->to;
        for (uint32_t k = 0; monic && k < i; k++) good &= e[i] != e[k];
      }
      found += good;
    }
  return found;
}

static void finding(void **state) {
  (void)state;
  uint32_t sum = 0;
  for (seed = 1; seed < 200; seed++) {
    uint64_t own = seed;
    Arena *a = arena_new();
    Graph *p = random_graph(a, 2 + roll(2), 1 + roll(3)), *g = random_graph(a, 4, 6);
    if (roll(2)) graph_edge(g, (Edge){.name = "loop", .what = 1, .from = 1, .to = 1});
    for (uint32_t i = 0; i < p->vertex.n; i++)
      if (roll(2)) p->vertex.at[i].what = 0;
    for (uint32_t i = 0; i < p->edge.n; i++)
      if (roll(2)) p->edge.at[i].what = 0;
    for (uint32_t monic = 0; monic < 2; monic++) {
      Matches m = {0};
      assert_true(graph_find(a, p, g, monic, 100000, &m));
      assert_int_equal(m.n, brute_matches(p, g, monic));
      sum += m.n;
      Matches few = {0};
      assert_int_equal(graph_find(a, p, g, monic, 1, &few), m.n <= 1);
    }
    arena_free(a);
    seed = own;
  }
  assert_true(sum > 300);
}

// -- rewriting ------------------------------------------------------------------------------------
// a → b becomes a → new → b, and back again.
static void rewriting(void **state) {
  (void)state;
  uint32_t done = 0;
  for (seed = 1; seed < 200; seed++) {
    uint64_t own = seed;
    Arena *a = arena_new();
    Graph *g = random_graph(a, 4, 6), *l = graph_new(a), *r = graph_new(a);
    random_orders(a, g, 0);
    for (uint32_t k = 0; k < 2; k++) {
      Graph *side = k ? r : l;
      graph_vertex(side, (Vertex){.name = "a"}), graph_vertex(side, (Vertex){.name = "b"});
    }
    uint32_t new = graph_vertex(r, (Vertex){.name = "new", .what = 9});
    graph_edge(l, (Edge){.name = "old", .what = 1, .from = 0, .to = 1});
    graph_edge(r, (Edge){.name = "in", .what = 7, .from = 0, .to = new});
    graph_edge(r, (Edge){.name = "out", .what = 8, .from = new, .to = 1});
    RewriteRule there = {.left = l, .right = r}, back = {.left = r, .right = l};
    for (uint32_t i = 0; i < 2; i++) {
      vec_push(a, &there.kept_vertex, (PartVertex){0, i});
      vec_push(a, &there.kept_vertex, (PartVertex){1, i});
    }
    back.kept_vertex.at = there.kept_vertex.at, back.kept_vertex.n = 4;
    Matches m = {0};
    graph_find(a, l, g, true, 100, &m);
    for (uint32_t i = 0; i < m.n; i++) {
      Rewritten out, again;
      RewriteFault fault;
      assert_true(graph_rewrite(a, &there, g, &m.at[i], &out, &fault));
      assert_int_equal(out.graph->vertex.n, g->vertex.n + 1);
      assert_int_equal(out.graph->edge.n, g->edge.n + 1);
      assert_true(graph_rewrite(a, &back, out.graph, &out.made, &again, &fault));
      assert_true(is_same_shape(a, again.graph, g) && is_same_shape(a, g, again.graph));
      done++;
    }
    arena_free(a);
    seed = own;
  }
  assert_true(done > 100);
}

static void conditions_of_rewriting(void **state) {
  (void)state;
  Arena *a = arena_new();
  Graph *g = chain_with_pair(a, 2), *l = graph_new(a), *r = graph_new(a);
  graph_vertex(l, (Vertex){.name = "a"}), graph_vertex(l, (Vertex){.name = "b"});
  graph_edge(l, (Edge){.name = "old", .from = 0, .to = 1});
  graph_vertex(r, (Vertex){.name = "a"});
  RewriteRule rule = {.left = l, .right = r}; // b goes
  vec_push(a, &rule.kept_vertex, (PartVertex){0, 0});
  vec_push(a, &rule.kept_vertex, (PartVertex){1, 0});
  PatternMatch at = {(uint32_t[]){0, 1}, (uint32_t[]){0}};
  Rewritten out;
  RewriteFault fault;
  assert_false(graph_rewrite(a, &rule, g, &at, &out, &fault));
  assert_true(!fault.shared && fault.vertex == 1 && fault.edge == 1); // v1 → v2 would dangle
  at = (PatternMatch){(uint32_t[]){1, 2}, (uint32_t[]){1}};
  assert_true(graph_rewrite(a, &rule, g, &at, &out, &fault));
  assert_int_equal(out.graph->vertex.n, 2);
  graph_edge(g, (Edge){.name = "loop", .from = 0, .to = 0});
  at = (PatternMatch){(uint32_t[]){0, 0}, (uint32_t[]){2}};
  assert_false(graph_rewrite(a, &rule, g, &at, &out, &fault));
  assert_true(fault.shared && fault.vertex == 0);
  arena_free(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pairs_are_all),
      cmocka_unit_test(order_of_text_is_nothing),
      cmocka_unit_test(statements_alone),
      cmocka_unit_test(left_out),
      cmocka_unit_test(one_way_only),
      cmocka_unit_test(faults_are_named),
      cmocka_unit_test(large_graphs),
      cmocka_unit_test(loss_is_contractive),
      cmocka_unit_test(gluing),
      cmocka_unit_test(squares_along_an_encoder),
      cmocka_unit_test(finding),
      cmocka_unit_test(rewriting),
      cmocka_unit_test(conditions_of_rewriting),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
