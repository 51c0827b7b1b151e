// Crossing reduction. Units with layers come in; when this is done each unit has a rank in its layer, and
// a cable that passes a layer has a dummy unit there.
//
// The order in a layer follows the median, or the mean, of the units that its units are tied to, in
// sweeps to the right and to the left; then neighbours change places where that saves crossings, or
// makes cables shorter. Units of an edge keep the order in which they come.
#include "show/panel/layers.h"

#include <math.h>
#include <stdlib.h>

enum { SWEEPS = 8, SWAPS = 300, ROUNDS = 8, CROSSING = 1000 };

static void dummy_add(Layers *l, uint32_t cable, uint32_t layer) {
  const LayerCable *c = &l->cable.at[cable];
  uint32_t block = l->unit.at[l->pin.at[c->pin.at[0]].unit].block;
  LayerUnit dummy = {.kind = LAYER_DUMMY, .layer = layer, .block = block, .height = c->below};
  uint32_t unit = layers_unit(l, dummy);
  layers_pin(l, unit, cable, false, 0), layers_pin(l, unit, cable, true, 0);
}

// Adds dummy units from the layer after the first source pin to the layer before the last target
// pin. A cable inside one layer gets a dummy in it, for its way back.
static void add_dummies(Layers *l) {
  for (uint32_t c = 0; c < l->cable.n; c++) {
    LayerCable *k = &l->cable.at[c];
    uint32_t least = UINT32_MAX;
    k->low = UINT32_MAX;
    for (uint32_t i = 0; i < k->pin.n; i++) {
      const LayerPin *p = &l->pin.at[k->pin.at[i]];
      uint32_t layer = l->unit.at[p->unit].layer;
      if (p->right && layer < k->low) k->low = layer;
      if (!p->right && layer > k->high) k->high = layer;
      if (!p->right && layer < least) least = layer;
    }
    k->turned = k->low == k->high && k->low == least;
    if (k->turned) dummy_add(l, c, k->low);
    for (uint32_t layer = k->low; k->low < k->high && ++layer < k->high;) dummy_add(l, c, layer);
  }
}

// Cables are visited in order, so a trunk of this cable in a channel is the last one.
static void find_trunks(Layers *l) {
  l->channel = NEW_ARRAY(l->arena, Channel, l->layers + 1);
  for (uint32_t c = 0; c < l->cable.n; c++)
    for (uint32_t i = 0; i < l->cable.at[c].pin.n; i++) {
      LayerPin *p = &l->pin.at[l->cable.at[c].pin.at[i]];
      uint32_t layer = l->unit.at[p->unit].layer;
      if (!p->right && !layer) continue; // nothing is before the first layer
      Channel *k = &l->channel[p->right ? layer : layer - 1];
      if (!k->trunk.n || k->trunk.at[k->trunk.n - 1].cable != c)
        vec_push(l->arena, &k->trunk, (Trunk){.cable = c});
      p->trunk = k->trunk.n - 1;
      vec_push(l->arena, &k->trunk.at[p->trunk].side[!p->right], l->cable.at[c].pin.at[i]);
    }
}

// The pins of its trunk at one side of the channel
static const Ids *trunk_side(const Layers *l, const LayerPin *p, bool right) {
  static const Ids none;
  uint32_t layer = l->unit.at[p->unit].layer;
  if (!p->right && !layer) return &none;
  return &l->channel[p->right ? layer : layer - 1].trunk.at[p->trunk].side[right];
}

const Ids *layers_facing(const Layers *l, const LayerPin *p) { return trunk_side(l, p, p->right); }

// -- crossing reduction ---------------------------------------------------------------------------
static void number_layer(Layers *l, uint32_t layer) {
  for (uint32_t i = 0; i < l->layer[layer].n; i++) l->unit.at[l->layer[layer].at[i]].rank = i;
}

// In ranks; all free pins of a unit have the same position.
static double position_of(const Layers *l, uint32_t pin) {
  const LayerPin *p = &l->pin.at[pin];
  const LayerUnit *u = &l->unit.at[p->unit];
  return u->rank + (u->free ? 0.5 : (p->rank + 0.5) / u->side[p->right].n);
}

int layers_by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

// The median or mean position of what a side of a unit is connected to; negative: nothing.
static double barycentre(const Layers *l, const LayerUnit *u, bool right, bool mean,
                         Values *place) {
  double sum = 0;
  place->n = 0;
  for (uint32_t i = 0; i < u->side[right].n; i++) {
    const Ids *to = layers_facing(l, &l->pin.at[u->side[right].at[i]]);
    for (uint32_t k = 0; k < to->n; k++) {
      double at = position_of(l, to->at[k]);
      vec_push(l->arena, place, at);
      sum += at;
    }
  }
  if (!place->n) return -1;
  qsort(place->at, place->n, sizeof *place->at, layers_by_value);
  return mean ? sum / place->n : place->at[(place->n - 1) / 2];
}

typedef struct {
  double key;
  uint32_t unit, rank, block;
} KeyedUnit;

static int by_key(const void *a, const void *b) {
  const KeyedUnit *x = a, *y = b;
  if (x->block != y->block) return x->block < y->block ? -1 : 1;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->rank < y->rank ? -1 : x->rank > y->rank;
}

// Units without connections on this side keep their position.
static void sweep_layer(Layers *l, uint32_t layer, bool right, bool mean, KeyedUnit *key,
                        Values *place) {
  Ids *ids = &l->layer[layer];
  uint32_t n = 0;
  for (uint32_t i = 0; i < ids->n; i++) {
    const LayerUnit *u = &l->unit.at[ids->at[i]];
    if (u->edge) return;
    double m = barycentre(l, u, right, mean, place);
    if (m >= 0) key[n++] = (KeyedUnit){m, ids->at[i], i, u->block};
  }
  uint32_t *to = NEW_ARRAY(l->arena, uint32_t, n + 1);
  for (uint32_t i = 0; i < n; i++) to[i] = key[i].rank;
  qsort(key, n, sizeof *key, by_key);
  for (uint32_t i = 0; i < n; i++) ids->at[to[i]] = key[i].unit;
  number_layer(l, layer);
}

// The number of crossings of one side's cables if a unit is above another
static uint64_t crossings(const Layers *l, uint32_t above, uint32_t below, bool right) {
  const Ids *a = &l->unit.at[above].side[right], *b = &l->unit.at[below].side[right];
  uint64_t n = 0;
  for (uint32_t i = 0; i < a->n && !(above == below && l->unit.at[above].free); i++) {
    const Ids *from = layers_facing(l, &l->pin.at[a->at[i]]);
    for (uint32_t j = above == below ? i + 1 : 0; j < b->n; j++) {
      const Ids *to = layers_facing(l, &l->pin.at[b->at[j]]);
      for (uint32_t x = 0; x < from->n; x++)
        for (uint32_t y = 0; y < to->n; y++)
          n += position_of(l, from->at[x]) > position_of(l, to->at[y]) + 1e-9;
    }
  }
  return n;
}

static double height_of(const Layers *l, uint32_t unit) {
  const LayerUnit *u = &l->unit.at[unit];
  return u->rank - (l->layer[u->layer].n - 1) / 2.0;
}

// The total vertical extent of one side's cables, in ranks
static double vertical_length(const Layers *l, uint32_t unit, bool right) {
  const Ids *side = &l->unit.at[unit].side[right];
  double sum = 0;
  for (uint32_t i = 0; i < side->n; i++) {
    const LayerPin *p = &l->pin.at[side->at[i]];
    const Ids *to = layers_facing(l, p);
    if (!to->n && !l->cable.at[p->cable].turned) to = trunk_side(l, p, !p->right);
    for (uint32_t k = 0; k < to->n; k++)
      sum += fabs(height_of(l, unit) - height_of(l, l->pin.at[to->at[k]].unit));
  }
  return sum;
}

static double cost_of(const Layers *l) {
  double cost = 0;
  for (uint32_t k = 0; k < l->layers; k++)
    for (uint32_t i = 0; i < l->layer[k].n; i++) {
      uint32_t u = l->layer[k].at[i];
      cost += vertical_length(l, u, true);
      for (uint32_t j = i; j < l->layer[k].n; j++)
        cost += CROSSING * (double)crossings(l, u, l->layer[k].at[j], true);
    }
  return cost;
}

static void swap_units(Layers *l, uint32_t layer, uint32_t i) {
  uint32_t *at = l->layer[layer].at, x = at[i];
  at[i] = at[i + 1], at[i + 1] = x;
  l->unit.at[at[i]].rank = i, l->unit.at[x].rank = i + 1;
}

// The cost of the present order of two neighbours
static double cost_beside(const Layers *l, uint32_t a, uint32_t b) {
  double cost = 0;
  for (int right = 0; right < 2; right++)
    cost += vertical_length(l, a, right) + vertical_length(l, b, right) +
            CROSSING * (double)crossings(l, a, b, right);
  return cost;
}

static bool improve_layer(Layers *l, uint32_t layer) {
  const Ids *ids = &l->layer[layer];
  bool any = false;
  for (uint32_t i = 0; i + 1 < ids->n; i++) {
    uint32_t a = ids->at[i], b = ids->at[i + 1];
    if (l->unit.at[a].edge) return false;
    if (l->unit.at[a].block != l->unit.at[b].block) continue;
    double now = cost_beside(l, a, b);
    swap_units(l, layer, i);
    if (cost_beside(l, b, a) < now - 1e-9)
      any = true;
    else
      swap_units(l, layer, i);
  }
  return any;
}

static void improve_all(Layers *l) {
  for (uint32_t again = 0, moved = 1; moved && again < ROUNDS; again++) {
    moved = 0;
    for (uint32_t i = 0; i < l->layers; i++) moved += improve_layer(l, i);
  }
}

static void save_order(const Layers *l, uint32_t *rank) {
  for (uint32_t i = 0; i < l->unit.n; i++) rank[i] = l->unit.at[i].rank;
}

static void restore_order(Layers *l, const uint32_t *rank) {
  for (uint32_t i = 0; i < l->unit.n; i++) {
    l->unit.at[i].rank = rank[i];
    l->layer[l->unit.at[i].layer].at[rank[i]] = i;
  }
}

// Orders by block and creation. over: reverses every other block, so that shared neighbours may
// become adjacent.
static void initial_order(Layers *l, bool over) {
  uint32_t blocks = 1, n = l->unit.n;
  for (uint32_t i = 0; i < l->layers; i++) l->layer[i].n = 0;
  for (uint32_t i = 0; i < n; i++)
    if (l->unit.at[i].block >= blocks) blocks = l->unit.at[i].block + 1;
  for (uint32_t b = 0; b < blocks; b++)
    for (uint32_t i = 0; i < 2 * n; i++) { // units with a fixed edge first
      bool edge = i < n, turn = !edge && over && b % 2 == 0;
      uint32_t at = turn ? 2 * n - 1 - i : i % n;
      const LayerUnit *u = &l->unit.at[at];
      if (u->block == b && (u->edge != EDGE_NONE) == edge)
        vec_push(l->arena, &l->layer[u->layer], at);
    }
  for (uint32_t i = 0; i < l->layers; i++) number_layer(l, i);
}

// Tries medians and means from the order of creation and its reverse, and keeps the best.
static void reduce_crossings(Layers *l) {
  uint32_t n = l->unit.n, *best = NEW_ARRAY(l->arena, uint32_t, n + 1);
  KeyedUnit *key = NEW_ARRAY(l->arena, KeyedUnit, n + 1);
  Values place = {0};
  bool small = n <= SWAPS;
  double least = INFINITY;
  for (uint32_t round = 0; round < (small ? 4 * SWEEPS : 4); round++) {
    uint32_t way = round / SWEEPS;
    bool mean = way % 2, right = round % 2;
    if (round % SWEEPS == 0) initial_order(l, way > 1);
    for (uint32_t i = 0; i < l->layers; i++)
      sweep_layer(l, right ? l->layers - 1 - i : i, right, mean, key, &place);
    if (!small) continue;
    improve_all(l);
    double now = cost_of(l);
    if (now < least - 1e-9) least = now, save_order(l, best);
  }
  if (small) restore_order(l, best);
}

// Places the dummy of a returning cable next to its source, on the side of its targets.
static void place_turned(Layers *l, const LayerCable *k) {
  uint32_t dummy = l->pin.at[k->pin.at[k->pin.n - 1]].unit, source = 0, at = 0;
  double rank = 0, n = 0;
  for (uint32_t i = 0; i + 2 < k->pin.n; i++) {
    const LayerPin *p = &l->pin.at[k->pin.at[i]];
    if (p->right) source = p->unit;
    if (!p->right) rank += l->unit.at[p->unit].rank, n++;
  }
  Ids *ids = &l->layer[k->low];
  bool below = rank / n >= l->unit.at[source].rank;
  const uint32_t *old = arena_copy(l->arena, ids->at, ids->n * sizeof *old);
  for (uint32_t i = 0; i < ids->n; i++) {
    if (old[i] == source && !below) ids->at[at++] = dummy;
    if (old[i] != dummy) ids->at[at++] = old[i];
    if (old[i] == source && below) ids->at[at++] = dummy;
  }
  number_layer(l, k->low);
}

void layers_order(Layers *l) {
  for (uint32_t i = 0; i < l->unit.n; i++)
    if (l->unit.at[i].layer >= l->layers) l->layers = l->unit.at[i].layer + 1;
  add_dummies(l);
  find_trunks(l);
  l->layer = NEW_ARRAY(l->arena, Ids, l->layers + 1);
  reduce_crossings(l);
  for (uint32_t i = 0; i < l->cable.n; i++)
    if (l->cable.at[i].turned) place_turned(l, &l->cable.at[i]);
}
