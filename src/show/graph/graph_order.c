// The order of things in each layer of a learning diagram.
//
// Where an arrow passes a layer there is a cell for it, as for a space. The order of cells is the
// one with the fewest crossings, then with the shortest arrows: of all orders if these are few;
// otherwise the best that is seen while cells move to the middle of their neighbours, forth and
// back, and then change places with the next one. All begins with an order by names, so that it
// does not matter how the program is written.
#include "show/graph/graph_own.h"

#include <math.h>
#include <stdlib.h>

enum { TRIED = 4000, SWEEPS = 24, CROSSING = 1000, MANY = 200 };

// -- cells ----------------------------------------------------------------------------------------
static uint32_t cell_add(LayerCells *c, LayerCell cell) {
  vec_push(c->arena, &c->cell, cell);
  return c->cell.n - 1;
}

static void arrow_cells(LayerCells *c, const Scheme *s, uint32_t arrow) {
  const Arrow *w = &s->arrow.at[arrow];
  bool back = s->spot.at[w->to].layer < s->spot.at[w->from].layer;
  uint32_t at = back ? w->to : w->from, end = back ? w->from : w->to;
  uint32_t last = s->spot.at[end].layer, block = s->spot.at[at].block;
  for (uint32_t l = s->spot.at[at].layer + 1; l < last; l++) {
    uint32_t pass =
        cell_add(c, (LayerCell){.layer = l, .block = block, .spot = NO_SPOT, .arrow = arrow});
    vec_push(c->arena, &c->piece, (GraphPiece){at, pass, arrow});
    at = pass;
  }
  vec_push(c->arena, &c->piece, (GraphPiece){at, end, arrow});
}

static void set_ranks(LayerCells *c, uint32_t layer) {
  const Ids *l = &c->layer.at[layer];
  for (uint32_t i = 0; i < l->n; i++) c->cell.at[l->at[i]].rank = i;
}

static void first_order(LayerCells *c) {
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
static double height_of(const LayerCells *c, const LayerCell *x) {
  return x->rank - (c->layer.at[x->layer].n - 1) / 2.0;
}

static double cost_of(const LayerCells *c) {
  double cost = 0;
  for (uint32_t i = 0; i < c->piece.n; i++) {
    const LayerCell *a = &c->cell.at[c->piece.at[i].a], *b = &c->cell.at[c->piece.at[i].b];
    cost += fabs(height_of(c, a) - height_of(c, b));
    if (a->layer == b->layer) continue;
    for (uint32_t k = i + 1; k < c->piece.n; k++) {
      const LayerCell *p = &c->cell.at[c->piece.at[k].a], *q = &c->cell.at[c->piece.at[k].b];
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

static void keep_best(const LayerCells *c, Best *best) {
  double cost = cost_of(c);
  if (cost >= best->cost - 1e-9) return;
  best->cost = cost;
  for (uint32_t i = 0; i < c->cell.n; i++) best->rank[i] = c->cell.at[i].rank;
}

static void go_to_best(LayerCells *c, const Best *best) {
  for (uint32_t i = 0; i < c->cell.n; i++) {
    c->cell.at[i].rank = best->rank[i];
    c->layer.at[c->cell.at[i].layer].at[best->rank[i]] = i;
  }
}

// -- all orders -----------------------------------------------------------------------------------
static double count_orders(const LayerCells *c) {
  double n = 1;
  for (uint32_t l = 0; l < c->layers; l++)
    for (uint32_t i = 0, run = 0; i < c->layer.at[l].n; i++) {
      const uint32_t *at = c->layer.at[l].at;
      run = i && c->cell.at[at[i]].block == c->cell.at[at[i - 1]].block ? run + 1 : 1;
      n *= run;
    }
  return n;
}

static void try_orders(LayerCells *c, uint32_t layer, uint32_t from, Best *best) {
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
static double middle_of(const LayerCells *c, uint32_t x, bool forth) {
  double sum = 0, n = 0;
  for (uint32_t i = 0; i < c->piece.n; i++) {
    const GraphPiece *p = &c->piece.at[i];
    if ((forth ? p->b : p->a) != x || c->cell.at[p->a].layer == c->cell.at[p->b].layer) continue;
    sum += height_of(c, &c->cell.at[forth ? p->a : p->b]), n++;
  }
  return n > 0 ? sum / n : height_of(c, &c->cell.at[x]);
}

static void sort_layer(LayerCells *c, uint32_t layer, bool forth, double *middle) {
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

static void swap_ranks(LayerCells *c, uint32_t layer, uint32_t i) {
  Ids *l = &c->layer.at[layer];
  uint32_t x = l->at[i], y = l->at[i + 1];
  l->at[i] = y, l->at[i + 1] = x;
  c->cell.at[y].rank = i, c->cell.at[x].rank = i + 1;
}

static void exchange(LayerCells *c, Best *best) {
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

static void sweep(LayerCells *c, Best *best) {
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

void cells_of(LayerCells *c, const Scheme *s) {
  for (uint32_t i = 0; i < s->spot.n; i++) {
    const Spot *p = &s->spot.at[i];
    cell_add(c, (LayerCell){.layer = p->layer, .block = p->block, .spot = i});
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
