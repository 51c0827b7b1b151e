// Where things stand along one direction. Gaps come in (this is at least so far below that) and
// pulls (this wants to be level with that); places go out that keep every gap and make the weighted
// sum of |distance| least. Places are whole numbers of a grid, the answer is exact, and the same on
// every machine.
//
// A pull between a and b becomes a node n above both, with edges n → a and n → b: n may come down
// to the higher of the two, and then the edges' lengths add up to |a − b|. What is left is to
// choose places so that all edges are at least as long as they must be and the weighted sum of
// lengths is least: the network simplex of Gansner, Koutsofios, North and Vo (1993). It walks over
// spanning trees of tight edges. An edge of the tree cuts off the subtree below it; if the sum
// grows smaller when the subtree moves away, it moves until another edge across the cut is tight,
// which takes the place of the first. How the sum changes is the weight of the edges that leave the
// subtree less of those that enter it, and that is a sum over its nodes: edges inside cancel out.
#include "view/place.h"

typedef struct {
  uint32_t from, to;
  int64_t least, weight;
  bool tree;
} Edge;

typedef struct {
  uint32_t parent;   // the edge to it; 0 at the root
  uint32_t low, lim; // numbers of a walk over the tree, children first; low: least of the subtree
  uint32_t first, count; // its edges, in Net.at
  int64_t place;
  int64_t out; // weight of edges that leave its subtree, less of those that enter it
} Node;

typedef struct {
  uint32_t nodes, edges;
  Node *node;
  Edge *edge;      // [edges + 1]; edge[0] is none
  uint32_t *at;    // edges of each node, side by side
  uint32_t *order; // [lim] nodes in the order of the walk
  uint32_t *stack;
  uint32_t next; // where the search for an edge that leaves goes on
} Net;

static uint32_t other_end(const Net *n, uint32_t e, uint32_t v) {
  return n->edge[e].from == v ? n->edge[e].to : n->edge[e].from;
}

static int64_t slack(const Net *n, uint32_t e) {
  const Edge *g = &n->edge[e];
  return n->node[g->to].place - n->node[g->from].place - g->least;
}

static bool is_below(const Net *n, uint32_t v, uint32_t top) { // in the subtree of top?
  return n->node[top].low <= n->node[v].lim && n->node[v].lim <= n->node[top].lim;
}

// -- the graph ------------------------------------------------------------------------------------
static void edge_add(Net *n, uint32_t from, uint32_t to, int64_t least, int64_t weight) {
  n->edge[++n->edges] = (Edge){.from = from, .to = to, .least = least, .weight = weight};
}

static void list_edges(Net *n) {
  uint32_t at = 0;
  for (uint32_t e = 1; e <= n->edges; e++)
    n->node[n->edge[e].from].count++, n->node[n->edge[e].to].count++;
  for (uint32_t v = 0; v < n->nodes; v++) {
    n->node[v].first = at;
    at += n->node[v].count;
    n->node[v].count = 0;
  }
  for (uint32_t e = 1; e <= n->edges; e++) {
    Node *from = &n->node[n->edge[e].from], *to = &n->node[n->edge[e].to];
    n->at[from->first + from->count++] = e;
    n->at[to->first + to->count++] = e;
  }
}

// Nodes: the things, one for each pull, and a root above everything, so that the graph is whole.
static Net net_new(Arena *a, const Places *p) {
  uint32_t root = p->n + p->pull.n;
  Net n = {.nodes = root + 1, .next = 1};
  n.node = NEW_ARRAY(a, Node, n.nodes);
  n.edge = NEW_ARRAY(a, Edge, p->gap.n + 2 * p->pull.n + root + 1);
  for (uint32_t i = 0; i < p->gap.n; i++)
    edge_add(&n, p->gap.at[i].above, p->gap.at[i].below, p->gap.at[i].least, 0);
  for (uint32_t i = 0; i < p->pull.n; i++) {
    const Pull *q = &p->pull.at[i];
    edge_add(&n, p->n + i, q->a, q->offset < 0 ? -q->offset : 0, q->weight);
    edge_add(&n, p->n + i, q->b, q->offset > 0 ? q->offset : 0, q->weight);
  }
  for (uint32_t v = 0; v < root; v++) edge_add(&n, root, v, 0, 0);
  n.at = NEW_ARRAY(a, uint32_t, 2 * n.edges + 1);
  n.order = NEW_ARRAY(a, uint32_t, n.nodes + 1);
  n.stack = NEW_ARRAY(a, uint32_t, n.nodes + 1);
  list_edges(&n);
  return n;
}

// As far up as the gaps allow. False: they go round in a circle.
static bool first_places(Net *n, Arena *a) {
  uint32_t *waiting = NEW_ARRAY(a, uint32_t, n->nodes), top = 0, done = 0;
  for (uint32_t e = 1; e <= n->edges; e++) waiting[n->edge[e].to]++;
  for (uint32_t v = n->nodes; v-- > 0;)
    if (!waiting[v]) n->stack[top++] = v;
  for (; top; done++) {
    uint32_t v = n->stack[--top];
    for (uint32_t k = 0; k < n->node[v].count; k++) {
      uint32_t e = n->at[n->node[v].first + k], to = n->edge[e].to;
      if (to == v) continue;
      int64_t place = n->node[v].place + n->edge[e].least;
      if (place > n->node[to].place) n->node[to].place = place;
      if (!--waiting[to]) n->stack[top++] = to;
    }
  }
  return done == n->nodes;
}

// -- the first tree -------------------------------------------------------------------------------
// Everything stands as far up as it can, so from each node tight edges lead up to the root.
static void first_tree(Net *n) {
  uint32_t root = n->nodes - 1;
  for (uint32_t v = 0; v < root; v++) {
    uint32_t e = n->node[v].first;
    while (n->edge[n->at[e]].to != v || slack(n, n->at[e])) e++;
    n->node[v].parent = n->at[e];
    n->edge[n->at[e]].tree = true;
  }
}

// A walk over the subtree of `top`, children first, that gives numbers from `low` on.
static void number(Net *n, uint32_t top, uint32_t low) {
  uint32_t depth = 0, next = low;
  n->stack[depth++] = top;
  n->node[top].low = low;
  n->node[top].lim = 0; // on the way down it counts the edges that were looked at
  while (depth) {
    uint32_t v = n->stack[depth - 1];
    Node *u = &n->node[v];
    if (u->lim == u->count) {
      n->order[next] = v;
      u->lim = next++;
      depth--;
      continue;
    }
    uint32_t e = n->at[u->first + u->lim++];
    if (!n->edge[e].tree || e == u->parent) continue;
    uint32_t child = other_end(n, e, v);
    n->node[child].parent = e;
    n->node[child].low = next;
    n->node[child].lim = 0;
    n->stack[depth++] = child;
  }
}

static void sum_subtrees(Net *n) {
  for (uint32_t e = 1; e <= n->edges; e++) {
    n->node[n->edge[e].from].out += n->edge[e].weight;
    n->node[n->edge[e].to].out -= n->edge[e].weight;
  }
  for (uint32_t i = 0; i + 1 < n->nodes; i++) {
    uint32_t v = n->order[i];
    n->node[other_end(n, n->node[v].parent, v)].out += n->node[v].out;
  }
}

// -- better trees ---------------------------------------------------------------------------------
// The lower end of an edge of the tree.
static uint32_t lower_end(const Net *n, uint32_t e) {
  uint32_t to = n->edge[e].to;
  return n->node[to].parent == e ? to : n->edge[e].from;
}

// Does the sum grow smaller when what hangs below this edge moves away from the other side?
static bool is_better_without(const Net *n, uint32_t e) {
  uint32_t v = lower_end(n, e);
  return n->edge[e].from == v ? n->node[v].out < 0 : n->node[v].out > 0;
}

static uint32_t leaving_edge(Net *n) {
  for (uint32_t k = 0; k < n->edges; k++) {
    uint32_t e = n->next;
    n->next = e == n->edges ? 1 : e + 1;
    if (n->edge[e].tree && is_better_without(n, e)) return e;
  }
  return 0;
}

// The edge with the least slack that holds the subtree of v where it is going: those that enter it
// if it moves up, those that leave it if it moves down. One side of the cut is looked at.
static uint32_t entering_edge(const Net *n, uint32_t v, bool up) {
  uint32_t best = 0, low = n->node[v].low, lim = n->node[v].lim;
  bool inside = lim - low < n->nodes / 2;
  for (uint32_t i = inside ? low : 0; i <= (inside ? lim : n->nodes - 1); i++) {
    if (!inside && i >= low && i <= lim) continue;
    const Node *u = &n->node[n->order[i]];
    for (uint32_t k = 0; k < u->count; k++) {
      uint32_t e = n->at[u->first + k];
      const Edge *g = &n->edge[e];
      bool from = is_below(n, g->from, v), to = is_below(n, g->to, v);
      if (g->tree || from == to || to != up) continue;
      if (!best || slack(n, e) < slack(n, best)) best = e;
    }
  }
  return best;
}

static void move_subtree(Net *n, uint32_t v, int64_t by) {
  for (uint32_t i = n->node[v].low; i <= n->node[v].lim; i++) n->node[n->order[i]].place += by;
}

static uint32_t parent_of(const Net *n, uint32_t v) { return other_end(n, n->node[v].parent, v); }

// The subtree of v hangs on `in`, which is inside it, instead: sums on the way are turned round.
static void turn(Net *n, uint32_t v, uint32_t in) {
  int64_t whole = n->node[v].out, child = 0;
  for (uint32_t u = in;; u = parent_of(n, u)) {
    int64_t own = n->node[u].out;
    n->node[u].out = whole - child;
    child = own;
    if (u == v) return;
  }
}

// A node above both ends of the new edge, as near as there is; on the way to it sums change.
static uint32_t join(Net *n, uint32_t old, uint32_t new, int64_t out) {
  while (!is_below(n, new, old)) n->node[old].out -= out, old = parent_of(n, old);
  for (; new != old; new = parent_of(n, new)) n->node[new].out += out;
  return old;
}

static void exchange(Net *n, uint32_t leaving, uint32_t entering, uint32_t v) {
  uint32_t old = parent_of(n, v), from = n->edge[entering].from;
  uint32_t in = is_below(n, from, v) ? from : n->edge[entering].to;
  int64_t out = n->node[v].out;
  uint32_t top = join(n, old, other_end(n, entering, in), out);
  turn(n, v, in);
  n->edge[leaving].tree = false;
  n->edge[entering].tree = true;
  number(n, top, n->node[top].low);
}

static bool improve(Net *n) {
  uint32_t leaving = leaving_edge(n);
  if (!leaving) return false;
  uint32_t v = lower_end(n, leaving);
  bool up = n->edge[leaving].from == v; // away from what is below it
  uint32_t entering = entering_edge(n, v, up);
  int64_t by = slack(n, entering);
  move_subtree(n, v, up ? -by : by);
  exchange(n, leaving, entering, v);
  return true;
}

bool places_solve(Arena *a, const Places *p, int64_t *place) {
  Arena *scratch = arena_child(a);
  Net n = net_new(scratch, p);
  bool good = first_places(&n, scratch);
  if (good) {
    first_tree(&n);
    number(&n, n.nodes - 1, 0);
    sum_subtrees(&n);
    // Ties may send the walk round in circles; so far it never took as many steps.
    for (uint64_t k = 0; k < 64 * (uint64_t)n.edges && improve(&n);) k++;
    int64_t least = p->n ? n.node[0].place : 0;
    for (uint32_t v = 0; v < p->n; v++)
      if (n.node[v].place < least) least = n.node[v].place;
    for (uint32_t v = 0; v < p->n; v++) place[v] = n.node[v].place - least;
  }
  arena_free(scratch);
  return good;
}
