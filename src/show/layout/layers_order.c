// Units and cables come in; each unit has a layer and a rank in it when this is done, and a cable
// that passes a layer has a unit there.
//
// 1. Which cables run back: a walk from the units of the first layer finds loops, and the link that
//    closes one runs back. A unit that helps another goes with it.
// 2. Layers are such that all other cables run to the right and are short in sum.
// 3. The order in a layer follows the middle of what each unit is tied to, in sweeps to the right
//    and to the left; then neighbours change places where that saves crossings, or makes cables
//    shorter. Units of an edge keep the order in which they come.
#include "show/layout/layers.h"
#include "show/layout/place.h"

#include <math.h>
#include <stdlib.h>

enum { SWEEPS = 8, SWAPS = 300, ROUNDS = 8, CROSSING = 1000, EARLY = 1000 };

uint32_t layers_unit(Layers *l, LayerUnit u) {
  vec_push(l->arena, &l->unit, u);
  return l->unit.n - 1;
}

uint32_t layers_cable(Layers *l, LayerCable c) {
  vec_push(l->arena, &l->cable, c);
  return l->cable.n - 1;
}

uint32_t layers_pin(Layers *l, uint32_t unit, uint32_t cable, bool right, double y) {
  Ids *side = &l->unit.at[unit].side[right];
  LayerPin pin = {.unit = unit, .cable = cable, .right = right, .y = y, .rank = side->n};
  vec_push(l->arena, &l->pin, pin);
  vec_push(l->arena, side, l->pin.n - 1);
  vec_push(l->arena, &l->cable.at[cable].pin, l->pin.n - 1);
  return l->pin.n - 1;
}

uint32_t layers_wire(Layers *l, uint32_t from, uint32_t to) {
  uint32_t cable = layers_cable(l, (LayerCable){0});
  layers_pin(l, from, cable, true, 0), layers_pin(l, to, cable, false, 0);
  return cable;
}

// -- loops ----------------------------------------------------------------------------------------
typedef struct {
  uint32_t from, to; // units
  bool back;         // it closes a loop
  bool weak;
} UnitLink;

typedef struct {
  const Layers *l;
  Arena *arena;
  VEC(UnitLink) link;
  Ids *out;      // [unit] links that leave its group
  uint8_t *seen; // [unit] 1: on the way, 2: done
} LoopWalk;

typedef struct {
  uint32_t unit, next;
} Walked;

static uint32_t owner(const Layers *l, uint32_t unit) {
  return l->unit.at[unit].owner ? l->unit.at[unit].owner - 1 : unit;
}

static void find_links(LoopWalk *w) {
  const Layers *l = w->l;
  for (uint32_t c = 0; c < l->cable.n; c++) {
    const Ids *ids = &l->cable.at[c].pin;
    for (uint32_t i = 0; i < ids->n && !l->cable.at[c].peer; i++)
      for (uint32_t j = 0; j < ids->n; j++) {
        const LayerPin *from = &l->pin.at[ids->at[i]], *to = &l->pin.at[ids->at[j]];
        if (from->right && !to->right)
          vec_push(w->arena, &w->link, (UnitLink){from->unit, to->unit, to->weak, to->weak});
      }
  }
}

// A link to what is still being walked from closes a loop.
static void walk_from(LoopWalk *w, uint32_t unit) {
  VEC(Walked) way = {0};
  if (w->seen[unit] || owner(w->l, unit) != unit) return;
  w->seen[unit] = 1;
  vec_push(w->arena, &way, (Walked){unit, 0});
  while (way.n) {
    Walked *s = &way.at[way.n - 1];
    if (s->next == w->out[s->unit].n) {
      w->seen[s->unit] = 2;
      way.n--;
      continue;
    }
    UnitLink *k = &w->link.at[w->out[s->unit].at[s->next++]];
    uint32_t to = owner(w->l, k->to);
    if (k->weak) continue;
    if (to == s->unit)
      k->back = k->from == to; // a unit to itself; but a helper to its unit runs on
    else if (w->seen[to] == 1)
      k->back = true;
    else if (!w->seen[to]) {
      w->seen[to] = 1;
      vec_push(w->arena, &way, (Walked){to, 0});
    }
  }
}

static void find_loops(LoopWalk *w) {
  uint32_t units = w->l->unit.n;
  bool *fed = NEW_ARRAY(w->arena, bool, units + 1);
  w->out = NEW_ARRAY(w->arena, Ids, units + 1);
  w->seen = NEW_ARRAY(w->arena, uint8_t, units + 1);
  for (uint32_t i = 0; i < w->link.n; i++) {
    uint32_t from = owner(w->l, w->link.at[i].from), to = owner(w->l, w->link.at[i].to);
    vec_push(w->arena, &w->out[from], i);
    if (from != to && !w->link.at[i].weak) fed[to] = true;
  }
  for (int round = 0; round < 3; round++)
    for (uint32_t i = 0; i < units; i++)
      if (round == 2 || (round ? !fed[i] : w->l->unit.at[i].edge == EDGE_FIRST)) walk_from(w, i);
}

// Is there a way that runs on, from group to group?
static bool leads_to(const LoopWalk *w, Arena *scratch, uint32_t from, uint32_t to) {
  uint8_t *been = NEW_ARRAY(scratch, uint8_t, w->l->unit.n + 1);
  Ids open = {0};
  vec_push(scratch, &open, from);
  been[from] = 1;
  while (open.n) {
    uint32_t unit = open.at[--open.n];
    if (unit == to) return true;
    for (uint32_t i = 0; i < w->out[unit].n; i++) {
      const UnitLink *k = &w->link.at[w->out[unit].at[i]];
      uint32_t next = owner(w->l, k->to);
      if (k->back || been[next]) continue;
      been[next] = 1;
      vec_push(scratch, &open, next);
    }
  }
  return false;
}

// Weak links run on where that closes no loop of all others.
static void find_weak_loops(LoopWalk *w) {
  for (uint32_t i = 0; i < w->link.n; i++) {
    UnitLink *k = &w->link.at[i];
    if (!k->weak) continue;
    uint32_t from = owner(w->l, k->from), to = owner(w->l, k->to);
    k->back = from == to ? k->from == to : leads_to(w, w->arena, to, from);
  }
}

// -- layers ---------------------------------------------------------------------------------------
bool layers_rank(Layers *l) {
  Arena *scratch = arena_child(l->arena);
  LoopWalk w = {.l = l, .arena = scratch};
  uint32_t n = l->unit.n, left = n, right = n + 1;
  Places p = {.n = n + 2};
  int64_t *at = NEW_ARRAY(scratch, int64_t, n + 2);
  bool loop = false;
  find_links(&w);
  find_loops(&w);
  find_weak_loops(&w);
  vec_push(scratch, &p.gap, (Gap){left, right, l->framed});
  for (uint32_t i = 0; i < n; i++) {
    const LayerUnit *u = &l->unit.at[i];
    if (u->edge) vec_push(scratch, &p.tie, (Tie){u->edge == EDGE_FIRST ? left : right, i, 0});
    if (u->edge) continue;
    vec_push(scratch, &p.gap, (Gap){left, i, l->framed});
    vec_push(scratch, &p.gap, (Gap){i, right, l->framed});
    vec_push(scratch, &p.pull, (Pull){left, i, l->framed, u->early ? EARLY : 1});
  }
  for (uint32_t i = 0; i < w.link.n; i++) {
    const UnitLink *k = &w.link.at[i];
    loop |= k->back;
    if (k->back || k->from == k->to) continue;
    int64_t far = l->unit.at[k->from].away ? 2 : 1;
    vec_push(scratch, &p.gap, (Gap){k->from, k->to, far});
    vec_push(scratch, &p.pull, (Pull){k->from, k->to, far, 8});
  }
  vec_push(scratch, &p.pull, (Pull){left, right, l->framed, 4});
  places_solve(scratch, &p, at, NULL);
  for (uint32_t i = 0; i < n; i++) l->unit.at[i].layer = (uint32_t)(at[i] - at[left]);
  l->layers = (uint32_t)(at[right] - at[left]) + 1;
  arena_free(scratch);
  return !loop;
}

static void pass_add(Layers *l, uint32_t cable, uint32_t layer) {
  const LayerCable *c = &l->cable.at[cable];
  uint32_t block = l->unit.at[l->pin.at[c->pin.at[0]].unit].block;
  LayerUnit pass = {.kind = LAYER_PASS, .layer = layer, .block = block, .height = c->below};
  uint32_t unit = layers_unit(l, pass);
  layers_pin(l, unit, cable, false, 0), layers_pin(l, unit, cable, true, 0);
}

// From the layer after the first pin that gives to the one before the last that takes. A cable
// between units of one layer passes it too, on its way back.
static void add_passes(Layers *l) {
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
    if (k->turned) pass_add(l, c, k->low);
    for (uint32_t layer = k->low; k->low < k->high && ++layer < k->high;) pass_add(l, c, layer);
  }
}

// Cables come one after the other: if a channel has a trunk of this one, it is the last.
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

// -- the order ------------------------------------------------------------------------------------
static void rank_again(Layers *l, uint32_t layer) {
  for (uint32_t i = 0; i < l->layer[layer].n; i++) l->unit.at[l->layer[layer].at[i]].rank = i;
}

// In ranks; free pins are all at one place.
static double place_of(const Layers *l, uint32_t pin) {
  const LayerPin *p = &l->pin.at[pin];
  const LayerUnit *u = &l->unit.at[p->unit];
  return u->rank + (u->free ? 0.5 : (p->rank + 0.5) / u->side[p->right].n);
}

int layers_by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

// The middle of what a side of a unit is tied to: the median, or the mean; negative: nothing is
// there.
static double middle(const Layers *l, const LayerUnit *u, bool right, bool mean, Values *place) {
  double sum = 0;
  place->n = 0;
  for (uint32_t i = 0; i < u->side[right].n; i++) {
    const Ids *to = layers_facing(l, &l->pin.at[u->side[right].at[i]]);
    for (uint32_t k = 0; k < to->n; k++) {
      double at = place_of(l, to->at[k]);
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

// Units that are tied to nothing on this side stay where they are.
static void sweep_layer(Layers *l, uint32_t layer, bool right, bool mean, KeyedUnit *key,
                        Values *place) {
  Ids *ids = &l->layer[layer];
  uint32_t n = 0;
  for (uint32_t i = 0; i < ids->n; i++) {
    const LayerUnit *u = &l->unit.at[ids->at[i]];
    if (u->edge) return;
    double m = middle(l, u, right, mean, place);
    if (m >= 0) key[n++] = (KeyedUnit){m, ids->at[i], i, u->block};
  }
  uint32_t *to = NEW_ARRAY(l->arena, uint32_t, n + 1);
  for (uint32_t i = 0; i < n; i++) to[i] = key[i].rank;
  qsort(key, n, sizeof *key, by_key);
  for (uint32_t i = 0; i < n; i++) ids->at[to[i]] = key[i].unit;
  rank_again(l, layer);
}

// How often cables of one side cross if a unit stands above another, or with each other
static uint64_t crossed(const Layers *l, uint32_t above, uint32_t below, bool right) {
  const Ids *a = &l->unit.at[above].side[right], *b = &l->unit.at[below].side[right];
  uint64_t n = 0;
  for (uint32_t i = 0; i < a->n && !(above == below && l->unit.at[above].free); i++) {
    const Ids *from = layers_facing(l, &l->pin.at[a->at[i]]);
    for (uint32_t j = above == below ? i + 1 : 0; j < b->n; j++) {
      const Ids *to = layers_facing(l, &l->pin.at[b->at[j]]);
      for (uint32_t x = 0; x < from->n; x++)
        for (uint32_t y = 0; y < to->n; y++)
          n += place_of(l, from->at[x]) > place_of(l, to->at[y]) + 1e-9;
    }
  }
  return n;
}

static double height_of(const Layers *l, uint32_t unit) {
  const LayerUnit *u = &l->unit.at[unit];
  return u->rank - (l->layer[u->layer].n - 1) / 2.0;
}

// How far up and down the cables of one side go, in ranks; also those that stay in the layer
static double climb(const Layers *l, uint32_t unit, bool right) {
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
      cost += climb(l, u, true);
      for (uint32_t j = i; j < l->layer[k].n; j++)
        cost += CROSSING * (double)crossed(l, u, l->layer[k].at[j], true);
    }
  return cost;
}

static void swap(Layers *l, uint32_t layer, uint32_t i) {
  uint32_t *at = l->layer[layer].at, x = at[i];
  at[i] = at[i + 1], at[i + 1] = x;
  l->unit.at[at[i]].rank = i, l->unit.at[x].rank = i + 1;
}

// What it costs that two neighbours stand as they do
static double cost_beside(const Layers *l, uint32_t a, uint32_t b) {
  double cost = 0;
  for (int right = 0; right < 2; right++)
    cost += climb(l, a, right) + climb(l, b, right) + CROSSING * (double)crossed(l, a, b, right);
  return cost;
}

static bool swap_in_layer(Layers *l, uint32_t layer) {
  const Ids *ids = &l->layer[layer];
  bool any = false;
  for (uint32_t i = 0; i + 1 < ids->n; i++) {
    uint32_t a = ids->at[i], b = ids->at[i + 1];
    if (l->unit.at[a].edge) return false;
    if (l->unit.at[a].block != l->unit.at[b].block) continue;
    double now = cost_beside(l, a, b);
    swap(l, layer, i);
    if (cost_beside(l, b, a) < now - 1e-9)
      any = true;
    else
      swap(l, layer, i);
  }
  return any;
}

static void swap_all(Layers *l) {
  for (uint32_t again = 0, moved = 1; moved && again < ROUNDS; again++) {
    moved = 0;
    for (uint32_t i = 0; i < l->layers; i++) moved += swap_in_layer(l, i);
  }
}

static void keep(const Layers *l, uint32_t *rank) {
  for (uint32_t i = 0; i < l->unit.n; i++) rank[i] = l->unit.at[i].rank;
}

static void put_back(Layers *l, const uint32_t *rank) {
  for (uint32_t i = 0; i < l->unit.n; i++) {
    l->unit.at[i].rank = rank[i];
    l->layer[l->unit.at[i].layer].at[rank[i]] = i;
  }
}

// By blocks, and in a block as units come. over: every other block is turned over, so that what two
// blocks share may come to stand side by side.
static void first_order(Layers *l, bool over) {
  uint32_t blocks = 1, n = l->unit.n;
  for (uint32_t i = 0; i < l->layers; i++) l->layer[i].n = 0;
  for (uint32_t i = 0; i < n; i++)
    if (l->unit.at[i].block >= blocks) blocks = l->unit.at[i].block + 1;
  for (uint32_t b = 0; b < blocks; b++)
    for (uint32_t i = 0; i < 2 * n; i++) { // those of an edge, then the others
      bool edge = i < n, turn = !edge && over && b % 2 == 0;
      uint32_t at = turn ? 2 * n - 1 - i : i % n;
      const LayerUnit *u = &l->unit.at[at];
      if (u->block == b && (u->edge != EDGE_NONE) == edge)
        vec_push(l->arena, &l->layer[u->layer], at);
    }
  for (uint32_t i = 0; i < l->layers; i++) rank_again(l, i);
}

// By medians and by means, from the order in which units come and from the opposite one; the best
// of all is kept.
static void find_order(Layers *l) {
  uint32_t n = l->unit.n, *best = NEW_ARRAY(l->arena, uint32_t, n + 1);
  KeyedUnit *key = NEW_ARRAY(l->arena, KeyedUnit, n + 1);
  Values place = {0};
  bool small = n <= SWAPS;
  double least = INFINITY;
  for (uint32_t round = 0; round < (small ? 4 * SWEEPS : 4); round++) {
    uint32_t way = round / SWEEPS;
    bool mean = way % 2, right = round % 2;
    if (round % SWEEPS == 0) first_order(l, way > 1);
    for (uint32_t i = 0; i < l->layers; i++)
      sweep_layer(l, right ? l->layers - 1 - i : i, right, mean, key, &place);
    if (!small) continue;
    swap_all(l);
    double now = cost_of(l);
    if (now < least - 1e-9) least = now, keep(l, best);
  }
  if (small) put_back(l, best);
}

// The pass of a cable that turns stands beside the unit it comes from, on the side of those it goes
// to.
static void place_turned(Layers *l, const LayerCable *k) {
  uint32_t pass = l->pin.at[k->pin.at[k->pin.n - 1]].unit, source = 0, at = 0;
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
    if (old[i] == source && !below) ids->at[at++] = pass;
    if (old[i] != pass) ids->at[at++] = old[i];
    if (old[i] == source && below) ids->at[at++] = pass;
  }
  rank_again(l, k->low);
}

void layers_order(Layers *l) {
  for (uint32_t i = 0; i < l->unit.n; i++)
    if (l->unit.at[i].layer >= l->layers) l->layers = l->unit.at[i].layer + 1;
  add_passes(l);
  find_trunks(l);
  l->layer = NEW_ARRAY(l->arena, Ids, l->layers + 1);
  find_order(l);
  for (uint32_t i = 0; i < l->cable.n; i++)
    if (l->cable.at[i].turned) place_turned(l, &l->cable.at[i]);
}
