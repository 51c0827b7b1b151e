// One-dimensional placement by network simplex. Input: gaps (a minimal distance) and pulls (two
// things want equal coordinates). Output: coordinates that satisfy all gaps and minimise the
// weighted sum of |distance|. Coordinates are integers, the result is exact and the same on every
// machine.
//
// A pull between a and b becomes a node n with edges n → a and n → b: n moves to the smaller of
// both, where the lengths of its edges add up to |a − b|. What remains is to minimise the weighted
// sum of edge lengths subject to minimal lengths: the network simplex of Gansner, Koutsofios, North
// and Vo (1993). It maintains a spanning tree of tight edges. A tree edge separates the subtree
// below it; if moving the subtree decreases the sum, it moves until another edge across the cut
// becomes tight, which replaces the first in the tree. The change of the sum is the weight of edges
// that leave the subtree minus that of edges that enter it (the cut value), which is a sum over its
// nodes.
//
// A step costs as much as the smaller side of the cut: both sides are traversed alternately until
// one is exhausted, and that one is searched and moved.
#include "show/layout/place.h"

typedef struct {
  uint32_t from, to;
  int64_t least, weight;
  bool tree;
} PlaceEdge;

typedef struct {
  uint32_t parent;            // index of the edge to the parent; 0 at the root
  uint32_t child, next, last; // first child; siblings; NONE at the ends
  uint32_t first, count;      // its edges, in Net.at
  uint32_t seen;              // number of the last traversal that visited it
  int64_t place;
  int64_t out; // cut value of its subtree: weight of leaving minus entering edges
} PlaceNode;

typedef struct {
  uint32_t nodes, edges;
  PlaceNode *node;
  PlaceEdge *edge;   // [edges + 1]; edge[0] is none
  uint32_t *at;      // edges of each node, contiguous
  uint32_t *walk[2]; // nodes below the leaving edge, and the others
  uint32_t seen;     // number of the last traversal
  uint32_t next;     // where the search for a leaving edge continues
  uint64_t steps;
} PlaceNet;

static const uint32_t NONE = UINT32_MAX; // no node

static uint32_t other_end(const PlaceNet *n, uint32_t e, uint32_t v) {
  return n->edge[e].from == v ? n->edge[e].to : n->edge[e].from;
}

static uint32_t parent_of(const PlaceNet *n, uint32_t v) {
  return other_end(n, n->node[v].parent, v);
}

static int64_t slack(const PlaceNet *n, uint32_t e) {
  const PlaceEdge *g = &n->edge[e];
  return n->node[g->to].place - n->node[g->from].place - g->least;
}

// -- the graph ------------------------------------------------------------------------------------
static void edge_add(PlaceNet *n, uint32_t from, uint32_t to, int64_t least, int64_t weight) {
  n->edge[++n->edges] = (PlaceEdge){.from = from, .to = to, .least = least, .weight = weight};
}

static void list_edges(PlaceNet *n) {
  uint32_t at = 0;
  for (uint32_t e = 1; e <= n->edges; e++)
    n->node[n->edge[e].from].count++, n->node[n->edge[e].to].count++;
  for (uint32_t v = 0; v < n->nodes; v++) {
    n->node[v].first = at;
    at += n->node[v].count;
    n->node[v].count = 0;
  }
  for (uint32_t e = 1; e <= n->edges; e++) {
    PlaceNode *from = &n->node[n->edge[e].from], *to = &n->node[n->edge[e].to];
    n->at[from->first + from->count++] = e;
    n->at[to->first + to->count++] = e;
  }
}

// Nodes: the things, one per pull, and a root that keeps the graph connected.
static PlaceNet net_new(Arena *a, const Places *p) {
  uint32_t root = p->n + p->pull.n;
  PlaceNet n = {.nodes = root + 1, .next = 1};
  n.node = NEW_ARRAY(a, PlaceNode, n.nodes);
  n.edge = NEW_ARRAY(a, PlaceEdge, p->gap.n + 2 * p->pull.n + root + 1);
  for (uint32_t i = 0; i < p->gap.n; i++)
    edge_add(&n, p->gap.at[i].above, p->gap.at[i].below, p->gap.at[i].least, 0);
  for (uint32_t i = 0; i < p->pull.n; i++) {
    const Pull *q = &p->pull.at[i];
    edge_add(&n, p->n + i, q->a, q->offset < 0 ? -q->offset : 0, q->weight);
    edge_add(&n, p->n + i, q->b, q->offset > 0 ? q->offset : 0, q->weight);
  }
  for (uint32_t v = 0; v < root; v++) edge_add(&n, root, v, 0, 0);
  n.at = NEW_ARRAY(a, uint32_t, 2 * n.edges + 1);
  n.walk[0] = NEW_ARRAY(a, uint32_t, n.nodes + 1);
  n.walk[1] = NEW_ARRAY(a, uint32_t, n.nodes + 1);
  list_edges(&n);
  return n;
}

// The smallest coordinates that satisfy the gaps. False: they form a cycle.
static bool first_places(PlaceNet *n, Arena *a) {
  uint32_t *waiting = NEW_ARRAY(a, uint32_t, n->nodes), top = 0, done = 0;
  for (uint32_t e = 1; e <= n->edges; e++) waiting[n->edge[e].to]++;
  for (uint32_t v = n->nodes; v-- > 0;)
    if (!waiting[v]) n->walk[0][top++] = v;
  for (; top; done++) {
    uint32_t v = n->walk[0][--top];
    for (uint32_t k = 0; k < n->node[v].count; k++) {
      uint32_t e = n->at[n->node[v].first + k], to = n->edge[e].to;
      if (to == v) continue;
      int64_t place = n->node[v].place + n->edge[e].least;
      if (place > n->node[to].place) n->node[to].place = place;
      if (!--waiting[to]) n->walk[0][top++] = to;
    }
  }
  return done == n->nodes;
}

// -- the tree -------------------------------------------------------------------------------------
// Attaches v below the other end of the edge.
static void attach_subtree(PlaceNet *n, uint32_t v, uint32_t edge) {
  uint32_t top = other_end(n, edge, v);
  PlaceNode *u = &n->node[v];
  u->parent = edge;
  u->last = NONE, u->next = n->node[top].child;
  if (u->next != NONE) n->node[u->next].last = v;
  n->node[top].child = v;
  n->edge[edge].tree = true;
}

static void take_off(PlaceNet *n, uint32_t v) {
  PlaceNode *u = &n->node[v];
  if (u->last == NONE)
    n->node[parent_of(n, v)].child = u->next;
  else
    n->node[u->last].next = u->next;
  if (u->next != NONE) n->node[u->next].last = u->last;
  n->edge[u->parent].tree = false;
}

// All coordinates are minimal, so each node is connected to the root by tight edges.
static void first_tree(PlaceNet *n) {
  uint32_t root = n->nodes - 1;
  for (uint32_t v = 0; v < n->nodes; v++) n->node[v].child = NONE;
  for (uint32_t v = 0; v < root; v++) {
    uint32_t e = n->node[v].first;
    while (n->edge[n->at[e]].to != v || slack(n, n->at[e])) e++;
    attach_subtree(n, v, n->at[e]);
  }
}

static void sum_subtrees(PlaceNet *n) {
  uint32_t *walk = n->walk[0], count = 0;
  for (uint32_t e = 1; e <= n->edges; e++) {
    n->node[n->edge[e].from].out += n->edge[e].weight;
    n->node[n->edge[e].to].out -= n->edge[e].weight;
  }
  walk[count++] = n->nodes - 1;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t v = n->node[walk[i]].child; v != NONE; v = n->node[v].next) walk[count++] = v;
  while (count-- > 1) n->node[parent_of(n, walk[count])].out += n->node[walk[count]].out;
}

// -- better trees ---------------------------------------------------------------------------------
// The child of a tree edge.
static uint32_t lower_end(const PlaceNet *n, uint32_t e) {
  uint32_t to = n->edge[e].to;
  return n->node[to].parent == e ? to : n->edge[e].from;
}

// Would moving the subtree below this edge decrease the sum?
static bool is_better_without(const PlaceNet *n, uint32_t e) {
  uint32_t v = lower_end(n, e);
  return n->edge[e].from == v ? n->node[v].out < 0 : n->node[v].out > 0;
}

static uint32_t leaving_edge(PlaceNet *n) {
  for (uint32_t k = 0; k < n->edges; k++) {
    uint32_t e = n->next;
    n->next = e == n->edges ? 1 : e + 1;
    if (n->edge[e].tree && is_better_without(n, e)) return e;
  }
  return 0;
}

// An incremental traversal of one side of a cut: nodes may have many children.
typedef struct {
  uint32_t *walk; // visited nodes
  uint32_t count, at;
  uint32_t child; // the next child of walk[at]
  uint32_t seen;  // its number
} PlaceWalk;

static void walk_meet(PlaceNet *n, PlaceWalk *w, uint32_t v) {
  if (n->node[v].seen == w->seen) return;
  w->walk[w->count++] = v;
  n->node[v].seen = w->seen;
}

static PlaceWalk walk_from(PlaceNet *n, uint32_t *walk, uint32_t v, uint32_t seen) {
  PlaceWalk w = {.walk = walk, .child = n->node[v].child, .seen = seen};
  walk_meet(n, &w, v);
  return w;
}

// Visits one more tree neighbour, not crossing the cut. False: finished.
static bool walk_on(PlaceNet *n, PlaceWalk *w, uint32_t cut, bool up) {
  if (w->child != NONE) {
    if (w->child != cut) walk_meet(n, w, w->child);
    w->child = n->node[w->child].next;
    return true;
  }
  uint32_t u = w->walk[w->at];
  if (up && n->node[u].parent) walk_meet(n, w, parent_of(n, u));
  if (++w->at == w->count) return false;
  w->child = n->node[w->walk[w->at]].child;
  return true;
}

// The smaller side of the cut above v: which one, and its size.
static uint32_t smaller_side(PlaceNet *n, uint32_t v, uint32_t *count) {
  PlaceWalk side[2] = {walk_from(n, n->walk[0], v, n->seen + 1),
                       walk_from(n, n->walk[1], parent_of(n, v), n->seen + 2)};
  n->seen += 2;
  uint32_t k = 0;
  for (; walk_on(n, &side[k], v, k); k = !k) n->steps++;
  *count = side[k].count;
  return k;
}

// The edge with minimal slack that limits the move: entering edges if the subtree moves up, leaving
// ones if it moves down. `below`: the traversal is of the subtree.
static uint32_t entering_edge(const PlaceNet *n, const uint32_t *walk, uint32_t count, bool below,
                              bool up) {
  uint32_t best = 0, seen = n->node[walk[0]].seen;
  for (uint32_t i = 0; i < count; i++) {
    const PlaceNode *u = &n->node[walk[i]];
    for (uint32_t k = 0; k < u->count; k++) {
      uint32_t e = n->at[u->first + k];
      const PlaceEdge *g = &n->edge[e];
      bool to = (n->node[g->to].seen == seen) == below;
      if (g->tree || to != up || n->node[other_end(n, e, walk[i])].seen == seen) continue;
      int64_t more = best ? slack(n, e) - slack(n, best) : -1;
      if (more < 0 || (more == 0 && e < best)) best = e;
    }
  }
  return best;
}

// Re-attaches the subtree of v at its node `in`, reversing parents and cut values on the path.
static void pivot(PlaceNet *n, uint32_t v, uint32_t in, uint32_t entering) {
  int64_t whole = n->node[v].out, child = 0;
  for (uint32_t u = in, edge = entering;;) {
    uint32_t up = parent_of(n, u), old = n->node[u].parent;
    int64_t own = n->node[u].out;
    n->node[u].out = whole - child;
    child = own;
    take_off(n, u);
    attach_subtree(n, u, edge);
    if (u == v) return;
    u = up, edge = old;
  }
}

// Updates cut values from the old parent to the common ancestor, and down to the new one.
static void move_sum(PlaceNet *n, uint32_t old, uint32_t new, int64_t out) {
  uint32_t seen = n->seen += 2, u = old, w = new, root = n->nodes - 1;
  while (u != w) { // both climb alternately until the paths meet
    n->node[u].seen = seen, n->node[w].seen = seen + 1;
    if (u != root) u = parent_of(n, u);
    if (n->node[u].seen == seen + 1) break;
    n->node[u].seen = seen;
    if (w != root) w = parent_of(n, w);
    if (n->node[w].seen == seen) break;
  }
  uint32_t top = n->node[u].seen == seen + 1 ? u : w;
  n->seen++;
  for (u = old; u != top; u = parent_of(n, u)) n->node[u].out -= out;
  for (w = new; w != top; w = parent_of(n, w)) n->node[w].out += out;
}

static bool improve(PlaceNet *n) {
  uint32_t leaving = leaving_edge(n), count;
  if (!leaving) return false;
  uint32_t v = lower_end(n, leaving), old = parent_of(n, v);
  bool up = n->edge[leaving].from == v; // away from what is below it
  uint32_t side = smaller_side(n, v, &count);
  const uint32_t *walk = n->walk[side];
  uint32_t entering = entering_edge(n, walk, count, side == 0, up), from = n->edge[entering].from;
  int64_t by = up == (side == 0) ? -slack(n, entering) : slack(n, entering);
  bool is_inside = (n->node[from].seen == n->node[walk[0]].seen) == (side == 0);
  uint32_t in = is_inside ? from : n->edge[entering].to;
  for (uint32_t i = 0; i < count; i++) n->node[walk[i]].place += by;
  int64_t out = n->node[v].out;
  move_sum(n, old, other_end(n, entering, in), out);
  pivot(n, v, in, entering);
  return true;
}

static bool solve(Arena *a, const Places *p, int64_t *place, uint64_t *steps) {
  PlaceNet n = net_new(a, p);
  if (!first_places(&n, a)) return false;
  bool seen = true;
  for (uint32_t v = 0; v < p->n; v++) seen &= !p->most || n.node[v].place <= p->most;
  first_tree(&n);
  sum_subtrees(&n);
  // degenerate steps could cycle; this limit was never reached
  for (uint64_t k = 0; seen && k < 64 * (uint64_t)n.edges && improve(&n);) k++;
  for (uint32_t v = 0; v < p->n; v++) place[v] = n.node[v].place;
  if (steps) *steps += n.steps;
  return true;
}

// -- ties -----------------------------------------------------------------------------------------
// Things that are tied are one thing: each is at a known distance from the one that stands for all.
typedef struct {
  uint32_t *up;    // [thing] its parent in a union-find forest
  int64_t *offset; // [thing] from that one
} TiedNode;

static uint32_t head(const TiedNode *t, uint32_t v) {
  uint32_t top = v;
  int64_t sum = 0;
  while (t->up[top] != top) sum += t->offset[top], top = t->up[top];
  while (t->up[v] != top && v != top) {
    uint32_t next = t->up[v];
    int64_t own = t->offset[v];
    t->up[v] = top, t->offset[v] = sum;
    sum -= own, v = next;
  }
  return top;
}

static bool tie_all(const TiedNode *t, const Places *p) {
  for (uint32_t v = 0; v < p->n; v++) t->up[v] = v;
  for (uint32_t i = 0; i < p->tie.n; i++) {
    const Tie *k = &p->tie.at[i];
    uint32_t a = head(t, k->a), b = head(t, k->b);
    int64_t off = t->offset[k->a] + k->offset - t->offset[k->b]; // of b's head from a's
    if (a == b && off) return false;
    if (a != b) t->up[b] = a, t->offset[b] = off;
  }
  return true;
}

// The same problem with one thing for all that are tied. False: ties do not agree with gaps.
static bool contract(Arena *a, const Places *p, const TiedNode *t, uint32_t *number, Places *out) {
  for (uint32_t v = 0; v < p->n; v++)
    if (head(t, v) == v) number[v] = out->n++;
  for (uint32_t i = 0; i < p->gap.n; i++) {
    const Gap *g = &p->gap.at[i];
    uint32_t u = head(t, g->above), w = head(t, g->below);
    int64_t least = g->least + t->offset[g->above] - t->offset[g->below];
    if (u == w && least > 0) return false;
    if (u != w) vec_push(a, &out->gap, (Gap){number[u], number[w], least});
  }
  for (uint32_t i = 0; i < p->pull.n; i++) {
    const Pull *q = &p->pull.at[i];
    uint32_t u = head(t, q->a), w = head(t, q->b);
    int64_t offset = q->offset + t->offset[q->a] - t->offset[q->b];
    if (u != w) vec_push(a, &out->pull, (Pull){number[u], number[w], offset, q->weight});
  }
  return true;
}

bool places_solve(Arena *a, const Places *p, int64_t *place, uint64_t *steps) {
  Arena *scratch = arena_child(a);
  TiedNode t = {NEW_ARRAY(scratch, uint32_t, p->n + 1), NEW_ARRAY(scratch, int64_t, p->n + 1)};
  uint32_t *number = NEW_ARRAY(scratch, uint32_t, p->n + 1);
  Places small = {.most = p->most};
  bool good = tie_all(&t, p) && contract(scratch, p, &t, number, &small);
  int64_t *at = NEW_ARRAY(scratch, int64_t, small.n + 1), least = INT64_MAX;
  good = good && solve(scratch, &small, at, steps);
  for (uint32_t v = 0; good && v < p->n; v++) {
    uint32_t top = head(&t, v);
    place[v] = at[number[top]] + t.offset[v];
    if (place[v] < least) least = place[v];
  }
  for (uint32_t v = 0; good && v < p->n; v++) place[v] -= least;
  arena_free(scratch);
  return good;
}
