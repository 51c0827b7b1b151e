// Heights for layouts that are too large for an exact solution.
//
// Layer by layer, to the right and back: each unit wants to be where the pins it is tied to are, and
// dummies want it most. In one layer the order is kept and the sum of squared distances to the wanted
// heights is least: an isotonic regression, by pooling adjacent violators. Units that would be too
// near become a cluster at their mean; clusters that meet become one. A sweep takes a time that grows
// with the units and cables.
#include "show/panel/layers.h"

#include <math.h>

enum { SWEEPS = 10 };

typedef struct {
  double want, weight; // mean of the desired heights, and weight
  uint32_t n;          // number of units
} UnitCluster;

// The height that makes a unit's cables on one side straight; its weight, if it has any
static double desired_height(const Layers *l, const LayerUnit *u, bool right, double *weight) {
  double sum = 0, n = 0;
  for (uint32_t i = 0; i < u->side[right].n; i++) {
    const LayerPin *p = &l->pin.at[u->side[right].at[i]];
    const Ids *to = layers_facing(l, p);
    for (uint32_t k = 0; k < to->n; k++) sum += layers_pin_y(l, to->at[k]) - p->y, n++;
  }
  *weight = n > 0 ? (u->kind == LAYER_DUMMY ? 8 : 1) : 0.01;
  return n > 0 ? sum / n : u->y;
}

// Minimal distance to the next unit.
static double least_step(const Layers *l, const Ids *ids, uint32_t i) {
  return i + 1 < ids->n ? layers_apart(l, ids->at[i], ids->at[i + 1]) : 0;
}

// Restores minimal distances after rounding.
static void separate_units(Layers *l, const Ids *ids) {
  for (uint32_t i = 1; i < ids->n; i++) {
    LayerUnit *above = &l->unit.at[ids->at[i - 1]], *u = &l->unit.at[ids->at[i]];
    u->y = fmax(u->y, above->y + least_step(l, ids, i - 1));
  }
}

static void place_layer(Layers *l, const Ids *ids, bool right, UnitCluster *stack) {
  uint32_t n = 0, at = 0;
  double down = 0;
  for (uint32_t i = 0; i < ids->n; down += least_step(l, ids, i++)) {
    double weight, want = desired_height(l, &l->unit.at[ids->at[i]], right, &weight) - down;
    stack[n++] = (UnitCluster){want, weight, 1};
    for (; n > 1 && stack[n - 2].want > stack[n - 1].want; n--) {
      UnitCluster *x = &stack[n - 2], *y = &stack[n - 1];
      x->want = (x->want * x->weight + y->want * y->weight) / (x->weight + y->weight);
      x->weight += y->weight, x->n += y->n;
    }
  }
  down = 0;
  for (uint32_t s = 0; s < n; s++)
    for (uint32_t i = 0; i < stack[s].n; i++, down += least_step(l, ids, at++))
      l->unit.at[ids->at[at]].y = round(stack[s].want + down);
  separate_units(l, ids);
}

void layers_sweep(Layers *l) {
  UnitCluster *stack = NEW_ARRAY(l->arena, UnitCluster, l->unit.n + 1);
  for (uint32_t k = 0; k < l->layers; k++) separate_units(l, &l->layer[k]);
  for (uint32_t round = 0; round < SWEEPS; round++)
    for (uint32_t i = 0; i < l->layers; i++)
      place_layer(l, &l->layer[round % 2 ? l->layers - 1 - i : i], round % 2, stack);
}
