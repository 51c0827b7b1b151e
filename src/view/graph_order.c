// Layers of a graph, and the order of things in each layer.
//
// A space stands one layer to the right of the last space from which an edge comes. Edges that go
// back, in the order of a walk by names, do not count. Where an arrow passes a layer there is a
// cell for it, as for a space. The order of cells is the one with the fewest crossings, then with
// the shortest arrows: of all orders if these are few; otherwise the best that is seen while cells
// move to the middle of their neighbours, forth and back, and then change places with the next one.
// All begins with an order by names, so that it does not matter how the program is written.
#include "view/graph.h"

#include <math.h>
#include <stdlib.h>

enum { TRIED = 4000, SWEEPS = 24, CROSSING = 1000, MANY = 200 };

// -- layers ---------------------------------------------------------------------------------------
typedef struct {
  const Graph *g;
  const uint32_t *by_name; // edges
  bool *back;              // [edge]
  uint8_t *state;          // [vertex] 0: not seen, 1: on the way, 2: done
} Backs;

static void walk(Backs *b, uint32_t v) {
  b->state[v] = 1;
  for (uint32_t i = 0; i < b->g->edge.n; i++) {
    uint32_t e = b->by_name[i], to = b->g->edge.at[e].to;
    if (b->g->edge.at[e].from != v) continue;
    if (b->state[to] == 1) b->back[e] = true;
    if (b->state[to] == 0) walk(b, to);
  }
  b->state[v] = 2;
}

static uint32_t *vertices_by_name(Arena *a, const Graph *g) {
  uint32_t *at = NEW_ARRAY(a, uint32_t, g->vertex.n + 1);
  for (uint32_t i = 0; i < g->vertex.n; i++) {
    uint32_t k = i;
    for (; k && strcmp(g->vertex.at[at[k - 1]].name, g->vertex.at[i].name) > 0; k--)
      at[k] = at[k - 1];
    at[k] = i;
  }
  return at;
}

static uint32_t *edges_by_name(Arena *a, const Graph *g) {
  uint32_t *at = NEW_ARRAY(a, uint32_t, g->edge.n + 1);
  for (uint32_t i = 0; i < g->edge.n; i++) {
    uint32_t k = i;
    for (; k && strcmp(g->edge.at[at[k - 1]].name, g->edge.at[i].name) > 0; k--) at[k] = at[k - 1];
    at[k] = i;
  }
  return at;
}

static void longest_paths(const Graph *g, const bool *back, uint32_t *layer) {
  bool moved = true;
  while (moved) {
    moved = false;
    for (uint32_t e = 0; e < g->edge.n; e++) {
      const Edge *d = &g->edge.at[e];
      if (back[e] || layer[d->to] > layer[d->from]) continue;
      layer[d->to] = layer[d->from] + 1;
      moved = true;
    }
  }
}

// A space that is no index and to which no edge comes stands beside the first that it goes to.
static void draw_near(const Graph *g, const bool *back, uint32_t v, uint32_t *layer) {
  uint32_t next = UINT32_MAX;
  for (uint32_t e = 0; e < g->edge.n; e++) {
    const Edge *d = &g->edge.at[e];
    if (back[e]) continue;
    if (d->to == v) return;
    if (d->from == v && layer[d->to] < next) next = layer[d->to];
  }
  if (next != UINT32_MAX && next && !g->vertex.at[v].index) layer[v] = next - 1;
}

void graph_layers(Arena *a, const Graph *g, uint32_t *layer) {
  const uint32_t *by_name = vertices_by_name(a, g);
  Backs b = {.g = g,
             .by_name = edges_by_name(a, g),
             .back = NEW_ARRAY(a, bool, g->edge.n + 1),
             .state = NEW_ARRAY(a, uint8_t, g->vertex.n + 1)};
  for (int index = 1; index >= 0; index--)
    for (uint32_t i = 0; i < g->vertex.n; i++)
      if (g->vertex.at[by_name[i]].index == index && !b.state[by_name[i]]) walk(&b, by_name[i]);
  for (uint32_t v = 0; v < g->vertex.n; v++) layer[v] = 0;
  longest_paths(g, b.back, layer);
  for (uint32_t v = 0; v < g->vertex.n; v++) draw_near(g, b.back, v, layer);
}

// -- cells ----------------------------------------------------------------------------------------
static uint32_t cell_add(Cells *c, Cell cell) {
  vec_push(c->arena, &c->cell, cell);
  return c->cell.n - 1;
}

static void arrow_cells(Cells *c, const Scheme *s, uint32_t arrow) {
  const Arrow *w = &s->arrow.at[arrow];
  bool back = s->spot.at[w->to].layer < s->spot.at[w->from].layer;
  uint32_t at = back ? w->to : w->from, end = back ? w->from : w->to;
  uint32_t last = s->spot.at[end].layer, block = s->spot.at[at].block;
  for (uint32_t l = s->spot.at[at].layer + 1; l < last; l++) {
    uint32_t pass =
        cell_add(c, (Cell){.layer = l, .block = block, .spot = NO_SPOT, .arrow = arrow});
    vec_push(c->arena, &c->piece, (Piece){at, pass, arrow});
    at = pass;
  }
  vec_push(c->arena, &c->piece, (Piece){at, end, arrow});
}

static void set_ranks(Cells *c, uint32_t layer) {
  const Ids *l = &c->layer.at[layer];
  for (uint32_t i = 0; i < l->n; i++) c->cell.at[l->at[i]].rank = i;
}

static void first_order(Cells *c) {
  for (uint32_t i = 0; i < c->layers; i++) vec_push(c->arena, &c->layer, (Ids){0});
  for (uint32_t i = 0; i < c->cell.n; i++) {
    Ids *l = &c->layer.at[c->cell.at[i].layer];
    vec_push(c->arena, l, i);
    for (uint32_t k = l->n - 1; k && c->cell.at[l->at[k - 1]].block > c->cell.at[i].block; k--)
      l->at[k] = l->at[k - 1], l->at[k - 1] = i;
  }
  for (uint32_t i = 0; i < c->layers; i++) set_ranks(c, i);
}

// -- cost -----------------------------------------------------------------------------------------
static double height_of(const Cells *c, const Cell *x) {
  return x->rank - (c->layer.at[x->layer].n - 1) / 2.0;
}

static double cost_of(const Cells *c) {
  double cost = 0;
  for (uint32_t i = 0; i < c->piece.n; i++) {
    const Cell *a = &c->cell.at[c->piece.at[i].a], *b = &c->cell.at[c->piece.at[i].b];
    cost += fabs(height_of(c, a) - height_of(c, b));
    if (a->layer == b->layer) continue;
    for (uint32_t k = i + 1; k < c->piece.n; k++) {
      const Cell *p = &c->cell.at[c->piece.at[k].a], *q = &c->cell.at[c->piece.at[k].b];
      if (p->layer != a->layer || q->layer != b->layer) continue;
      if ((a->rank < p->rank && b->rank > q->rank) || (a->rank > p->rank && b->rank < q->rank))
        cost += CROSSING;
    }
  }
  return cost;
}

typedef struct {
  double cost;
  uint32_t *rank; // [cell]
} Best;

static void keep_best(const Cells *c, Best *best) {
  double cost = cost_of(c);
  if (cost >= best->cost - 1e-9) return;
  best->cost = cost;
  for (uint32_t i = 0; i < c->cell.n; i++) best->rank[i] = c->cell.at[i].rank;
}

static void go_to_best(Cells *c, const Best *best) {
  for (uint32_t i = 0; i < c->cell.n; i++) {
    c->cell.at[i].rank = best->rank[i];
    c->layer.at[c->cell.at[i].layer].at[best->rank[i]] = i;
  }
}

// -- all orders -----------------------------------------------------------------------------------
static double count_orders(const Cells *c) {
  double n = 1;
  for (uint32_t l = 0; l < c->layers; l++)
    for (uint32_t i = 0, run = 0; i < c->layer.at[l].n; i++) {
      const uint32_t *at = c->layer.at[l].at;
      run = i && c->cell.at[at[i]].block == c->cell.at[at[i - 1]].block ? run + 1 : 1;
      n *= run;
    }
  return n;
}

static void try_orders(Cells *c, uint32_t layer, uint32_t from, Best *best) {
  if (layer == c->layers) {
    keep_best(c, best);
    return;
  }
  Ids *l = &c->layer.at[layer];
  if (from >= l->n) {
    set_ranks(c, layer);
    try_orders(c, layer + 1, 0, best);
    return;
  }
  for (uint32_t i = from; i < l->n; i++) {
    uint32_t x = l->at[i], y = l->at[from];
    if (c->cell.at[x].block != c->cell.at[y].block) break;
    l->at[from] = x, l->at[i] = y;
    try_orders(c, layer, from + 1, best);
    l->at[from] = y, l->at[i] = x;
  }
}

// -- sweeps ---------------------------------------------------------------------------------------
// The mean height of what a cell is joined to, in the layer before it or after it.
static double middle_of(const Cells *c, uint32_t x, bool forth) {
  double sum = 0, n = 0;
  for (uint32_t i = 0; i < c->piece.n; i++) {
    const Piece *p = &c->piece.at[i];
    if ((forth ? p->b : p->a) != x || c->cell.at[p->a].layer == c->cell.at[p->b].layer) continue;
    sum += height_of(c, &c->cell.at[forth ? p->a : p->b]), n++;
  }
  return n > 0 ? sum / n : height_of(c, &c->cell.at[x]);
}

static void sort_layer(Cells *c, uint32_t layer, bool forth, double *middle) {
  Ids *l = &c->layer.at[layer];
  for (uint32_t i = 0; i < l->n; i++) middle[l->at[i]] = middle_of(c, l->at[i], forth);
  for (uint32_t i = 1; i < l->n; i++) {
    uint32_t x = l->at[i], k = i;
    for (; k; k--) {
      uint32_t y = l->at[k - 1];
      if (c->cell.at[y].block != c->cell.at[x].block || middle[y] <= middle[x] + 1e-9) break;
      l->at[k] = y;
    }
    l->at[k] = x;
  }
  set_ranks(c, layer);
}

static void swap_ranks(Cells *c, uint32_t layer, uint32_t i) {
  Ids *l = &c->layer.at[layer];
  uint32_t x = l->at[i], y = l->at[i + 1];
  l->at[i] = y, l->at[i + 1] = x;
  c->cell.at[y].rank = i, c->cell.at[x].rank = i + 1;
}

static void exchange(Cells *c, Best *best) {
  bool better = true;
  for (uint32_t round = 0; better && round < SWEEPS; round++) {
    better = false;
    for (uint32_t l = 0; l < c->layers; l++)
      for (uint32_t i = 0; i + 1 < c->layer.at[l].n; i++) {
        const uint32_t *at = c->layer.at[l].at;
        if (c->cell.at[at[i]].block != c->cell.at[at[i + 1]].block) continue;
        double before = best->cost;
        swap_ranks(c, l, i);
        keep_best(c, best);
        if (best->cost < before)
          better = true;
        else
          swap_ranks(c, l, i);
      }
  }
}

static void sweep(Cells *c, Best *best) {
  double *middle = NEW_ARRAY(c->arena, double, c->cell.n + 1);
  for (uint32_t round = 0; round < SWEEPS; round++) {
    for (uint32_t l = 1; l < c->layers; l++) sort_layer(c, l, true, middle);
    keep_best(c, best);
    for (uint32_t l = c->layers; l-- > 0;) sort_layer(c, l, false, middle);
    keep_best(c, best);
  }
  go_to_best(c, best);
  if (c->piece.n < MANY) exchange(c, best);
}

void cells_of(Cells *c, const Scheme *s) {
  for (uint32_t i = 0; i < s->spot.n; i++) {
    const Spot *p = &s->spot.at[i];
    cell_add(c, (Cell){.layer = p->layer, .block = p->block, .spot = i});
    if (p->layer >= c->layers) c->layers = p->layer + 1;
  }
  for (uint32_t i = 0; i < s->arrow.n; i++) arrow_cells(c, s, i);
  first_order(c);
  Best best = {INFINITY, NEW_ARRAY(c->arena, uint32_t, c->cell.n + 1)};
  keep_best(c, &best);
  if (count_orders(c) <= TRIED)
    try_orders(c, 0, 0, &best);
  else
    sweep(c, &best);
  go_to_best(c, &best);
}
