// Layers of a panel. Units and cables come in; each unit has a layer and a rank in it when this is
// done, and a cable that passes a layer has a unit there.
//
// 1. Which cables run back: a walk from the ports on the left finds loops, and the cable that
// closes
//    one runs back. What a wire computes goes with the part that gets it.
// 2. Layers are such that all other cables run to the right and are short in sum.
// 3. The order in a layer follows the middle of what each unit is tied to, in sweeps to the right
//    and to the left; then neighbours change places where that saves crossings. Ports of the panel
//    keep the order in which they are declared.
#include "show/layout/place.h"
#include "show/wiring/wiring_own.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
  uint32_t from, to; // units
  bool back;
} UnitLink;

typedef struct {
  Arena *arena;
  Panel *p;
  VEC(UnitLink) link;
  uint32_t *first, *out; // [unit] links that leave its group, side by side
  uint32_t layers;
  VEC(Ids) layer;
  VEC(double) place; // scratch of one search
} LayerOrder;

enum { SWEEPS = 12, SWAPS = 300, ROUNDS = 8 };

Pin *end_pin(const Panel *p, const CableEnd *e) {
  Unit *u = &p->unit.at[e->unit];
  return &(e->right ? &u->out : &u->in)->at[e->pin];
}

// The first end that is in this layer or after it
static uint32_t first_in(const Panel *p, const Cable *k, uint32_t layer) {
  uint32_t low = 0, high = k->end.n;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (p->unit.at[k->end.at[middle].unit].layer < layer)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

uint32_t ends_in(const Panel *p, uint32_t cable, uint32_t layer, const CableEnd **out) {
  const Cable *k = &p->cable.at[cable];
  uint32_t first = first_in(p, k, layer), last = first;
  while (last < k->end.n && p->unit.at[k->end.at[last].unit].layer == layer) last++;
  *out = k->end.at + first;
  return last - first;
}

static bool is_port(const Unit *u) { return u->kind == UNIT_IN || u->kind == UNIT_OUT; }

// -- loops ----------------------------------------------------------------------------------------
static void find_links(LayerOrder *o) {
  for (uint32_t c = 0; c < o->p->cable.n; c++) {
    const Cable *k = &o->p->cable.at[c];
    for (uint32_t i = 0; i < k->end.n && !k->peer; i++)
      for (uint32_t j = 0; k->end.at[i].right && j < k->end.n; j++)
        if (!k->end.at[j].right)
          vec_push(o->arena, &o->link, (UnitLink){k->end.at[i].unit, k->end.at[j].unit, false});
  }
}

static uint32_t owner(const LayerOrder *o, uint32_t unit) { return o->p->unit.at[unit].owner; }

// Links by the group they leave, in two rounds: how many, and which.
static void index_links(LayerOrder *o) {
  uint32_t n = o->p->unit.n, sum = 0;
  o->first = NEW_ARRAY(o->arena, uint32_t, n + 2);
  o->out = NEW_ARRAY(o->arena, uint32_t, o->link.n + 1);
  for (uint32_t i = 0; i < o->link.n; i++) o->first[owner(o, o->link.at[i].from) + 1]++;
  for (uint32_t i = 0; i <= n; i++) {
    uint32_t own = o->first[i];
    o->first[i] = sum += own;
  }
  uint32_t *at = NEW_ARRAY(o->arena, uint32_t, n + 1);
  for (uint32_t i = 0; i < o->link.n; i++) {
    uint32_t g = owner(o, o->link.at[i].from);
    o->out[o->first[g] + at[g]++] = i;
  }
}

typedef struct {
  uint32_t unit, next;
} Walked;

// A link to what is still being walked from closes a loop.
static void walk_from(LayerOrder *o, uint32_t unit, uint8_t *seen) {
  VEC(Walked) way = {0};
  if (seen[unit]) return;
  seen[unit] = 1;
  vec_push(o->arena, &way, (Walked){unit, o->first[unit]});
  while (way.n) {
    Walked *s = &way.at[way.n - 1];
    if (s->next == o->first[s->unit + 1]) {
      seen[s->unit] = 2;
      way.n--;
      continue;
    }
    UnitLink *l = &o->link.at[o->out[s->next++]];
    uint32_t to = owner(o, l->to);
    if (to == s->unit)
      l->back = l->from == to; // a part to itself; but a plate to its part runs on
    else if (seen[to] == 1)
      l->back = true;
    else if (!seen[to]) {
      seen[to] = 1;
      vec_push(o->arena, &way, (Walked){to, o->first[to]});
    }
  }
}

static void find_loops(LayerOrder *o) {
  uint32_t n = o->p->unit.n;
  uint8_t *seen = NEW_ARRAY(o->arena, uint8_t, n + 1);
  bool *fed = NEW_ARRAY(o->arena, bool, n + 1);
  for (uint32_t i = 0; i < o->link.n; i++)
    if (owner(o, o->link.at[i].from) != owner(o, o->link.at[i].to))
      fed[owner(o, o->link.at[i].to)] = true;
  for (uint32_t i = 0; i < n; i++)
    if (o->p->unit.at[i].kind == UNIT_IN) walk_from(o, i, seen);
  for (uint32_t i = 0; i < n; i++)
    if (!fed[i] && owner(o, i) == i) walk_from(o, i, seen);
  for (uint32_t i = 0; i < n; i++)
    if (owner(o, i) == i) walk_from(o, i, seen);
}

// -- layers ---------------------------------------------------------------------------------------
static void find_layers(LayerOrder *o) {
  Panel *p = o->p;
  uint32_t n = p->unit.n, left = n, right = n + 1;
  Places places = {.n = n + 2};
  int64_t *at = NEW_ARRAY(o->arena, int64_t, n + 2);
  vec_push(o->arena, &places.gap, (Gap){left, right, 1});
  for (uint32_t i = 0; i < n; i++) {
    UnitKind kind = p->unit.at[i].kind;
    if (kind == UNIT_IN) vec_push(o->arena, &places.tie, (Tie){left, i, 0});
    if (kind == UNIT_OUT) vec_push(o->arena, &places.tie, (Tie){right, i, 0});
    if (is_port(&p->unit.at[i])) continue;
    vec_push(o->arena, &places.gap, (Gap){left, i, 1});
    vec_push(o->arena, &places.gap, (Gap){i, right, 1});
    vec_push(o->arena, &places.pull, (Pull){left, i, 1, 1});
  }
  for (uint32_t i = 0; i < o->link.n; i++) {
    const UnitLink *l = &o->link.at[i];
    if (l->back || l->from == l->to) continue;
    vec_push(o->arena, &places.gap, (Gap){l->from, l->to, 1});
    vec_push(o->arena, &places.pull, (Pull){l->from, l->to, 1, 8});
  }
  vec_push(o->arena, &places.pull, (Pull){left, right, 1, 4});
  places_solve(o->arena, &places, at, NULL);
  for (uint32_t i = 0; i < n; i++) p->unit.at[i].layer = (uint32_t)(at[i] - at[left]);
  o->layers = (uint32_t)(at[right] - at[left]) + 1;
}

static void pass_add(LayerOrder *o, uint32_t cable, uint32_t layer) {
  Panel *p = o->p;
  Unit u = {.kind = UNIT_PASS, .layer = layer, .owner = p->unit.n};
  vec_push(o->arena, &u.in, (Pin){.cable = cable + 1});
  vec_push(o->arena, &u.out, (Pin){.cable = cable + 1});
  vec_push(o->arena, &p->cable.at[cable].end, (CableEnd){p->unit.n, 0, false});
  vec_push(o->arena, &p->cable.at[cable].end, (CableEnd){p->unit.n, 0, true});
  vec_push(o->arena, &p->unit, u);
}

// From the layer after the first end that gives to the one before the last that takes. A cable
// between units of one layer passes it too, on its way back.
static void add_passes(LayerOrder *o) {
  Panel *p = o->p;
  for (uint32_t c = 0; c < p->cable.n; c++) {
    Cable *k = &p->cable.at[c];
    uint32_t low = UINT32_MAX, high = 0, least = UINT32_MAX;
    for (uint32_t i = 0; i < k->end.n; i++) {
      uint32_t layer = p->unit.at[k->end.at[i].unit].layer;
      if (k->end.at[i].right && layer < low) low = layer;
      if (!k->end.at[i].right && layer > high) high = layer;
      if (!k->end.at[i].right && layer < least) least = layer;
    }
    k->turned = low == high && low == least;
    if (k->turned) pass_add(o, c, low);
    for (uint32_t layer = low; low < high && ++layer < high;) pass_add(o, c, layer);
  }
}

typedef struct {
  CableEnd end;
  uint32_t layer, at;
} SortedUnits;

static int by_layer(const void *a, const void *b) {
  const SortedUnits *x = a, *y = b;
  if (x->layer != y->layer) return x->layer < y->layer ? -1 : 1;
  return x->at < y->at ? -1 : x->at > y->at;
}

// The ends of each cable by layer, so that those of one layer are found at once
static void sort_ends(LayerOrder *o) {
  for (uint32_t c = 0; c < o->p->cable.n; c++) {
    Cable *k = &o->p->cable.at[c];
    SortedUnits *all = NEW_ARRAY(o->arena, SortedUnits, k->end.n + 1);
    for (uint32_t i = 0; i < k->end.n; i++)
      all[i] = (SortedUnits){k->end.at[i], o->p->unit.at[k->end.at[i].unit].layer, i};
    qsort(all, k->end.n, sizeof *all, by_layer);
    for (uint32_t i = 0; i < k->end.n; i++) k->end.at[i] = all[i].end;
  }
}

// -- the order ------------------------------------------------------------------------------------
static void rank_again(LayerOrder *o, uint32_t layer) {
  for (uint32_t i = 0; i < o->layer.at[layer].n; i++)
    o->p->unit.at[o->layer.at[layer].at[i]].rank = i;
}

static double end_place(const Panel *p, const CableEnd *e) {
  const Unit *u = &p->unit.at[e->unit];
  uint32_t n = e->right ? u->out.n : u->in.n;
  return u->rank + (e->pin + 0.5) / n;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

// The middle of what a side of a unit is tied to: the median, or the mean; negative: nothing is
// there.
static double middle(LayerOrder *o, uint32_t unit, bool right, bool mean) {
  const Unit *u = &o->p->unit.at[unit];
  const Pins *pins = right ? &u->out : &u->in;
  double sum = 0;
  o->place.n = 0;
  for (uint32_t i = 0; i < pins->n; i++) {
    if (!pins->at[i].cable) continue;
    const CableEnd *end;
    uint32_t layer = right ? u->layer + 1 : u->layer - 1; // before the first: no layer at all
    uint32_t n = ends_in(o->p, pins->at[i].cable - 1, layer, &end);
    for (uint32_t e = 0; e < n; e++) {
      if (end[e].right == right) continue;
      double at = end_place(o->p, &end[e]);
      vec_push(o->arena, &o->place, at);
      sum += at;
    }
  }
  if (!o->place.n) return -1;
  qsort(o->place.at, o->place.n, sizeof *o->place.at, by_value);
  return mean ? sum / o->place.n : o->place.at[(o->place.n - 1) / 2];
}

typedef struct {
  double key;
  uint32_t unit, rank;
} KeyedUnit;

static int by_key(const void *a, const void *b) {
  const KeyedUnit *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->rank < y->rank ? -1 : x->rank > y->rank;
}

// Units that are tied to nothing on this side stay where they are.
static void sweep_layer(LayerOrder *o, uint32_t layer, bool right, bool mean, KeyedUnit *key) {
  Ids *ids = &o->layer.at[layer];
  uint32_t n = 0, at = 0;
  for (uint32_t i = 0; i < ids->n; i++) {
    double m = middle(o, ids->at[i], right, mean);
    if (is_port(&o->p->unit.at[ids->at[i]])) return;
    if (m >= 0) key[n++] = (KeyedUnit){m, ids->at[i], i};
  }
  qsort(key, n, sizeof *key, by_key);
  bool *moves = NEW_ARRAY(o->arena, bool, ids->n + 1);
  for (uint32_t i = 0; i < n; i++) moves[key[i].rank] = true;
  for (uint32_t i = 0; i < ids->n; i++)
    if (moves[i]) ids->at[i] = key[at++].unit;
  rank_again(o, layer);
}

typedef struct {
  double left, right;
} TiedUnit;

static int by_left(const void *a, const void *b) {
  const TiedUnit *x = a, *y = b;
  if (x->left != y->left) return x->left < y->left ? -1 : 1;
  return x->right < y->right ? -1 : x->right > y->right;
}

typedef VEC(TiedUnit) Ties;

// Pairs of ends that face each other in the channel after a layer
static void find_ties(const LayerOrder *o, uint32_t layer, Ties *out) {
  const Ids *ids = &o->layer.at[layer];
  out->n = 0;
  for (uint32_t i = 0; i < ids->n; i++) {
    const Unit *u = &o->p->unit.at[ids->at[i]];
    for (uint32_t j = 0; j < u->out.n; j++) {
      if (!u->out.at[j].cable) continue;
      const CableEnd *end;
      double left = end_place(o->p, &(CableEnd){ids->at[i], j, true});
      uint32_t n = ends_in(o->p, u->out.at[j].cable - 1, layer + 1, &end);
      for (uint32_t e = 0; e < n; e++)
        if (!end[e].right) vec_push(o->arena, out, (TiedUnit){left, end_place(o->p, &end[e])});
    }
  }
}

static uint64_t crossings_after(const LayerOrder *o, uint32_t layer, Ties *ties) {
  uint64_t n = 0;
  if (layer + 1 >= o->layers) return 0;
  find_ties(o, layer, ties);
  if (ties->n) qsort(ties->at, ties->n, sizeof *ties->at, by_left);
  for (uint32_t i = 0; i < ties->n; i++)
    for (uint32_t j = i + 1; j < ties->n; j++)
      n += ties->at[i].left < ties->at[j].left && ties->at[i].right > ties->at[j].right;
  return n;
}

static uint64_t crossings_beside(const LayerOrder *o, uint32_t layer, Ties *ties) {
  return (layer ? crossings_after(o, layer - 1, ties) : 0) + crossings_after(o, layer, ties);
}

static bool swap_in_layer(LayerOrder *o, uint32_t layer, Ties *ties) {
  Ids *ids = &o->layer.at[layer];
  uint64_t now = crossings_beside(o, layer, ties);
  bool any = false;
  for (uint32_t i = 0; now && i + 1 < ids->n; i++) {
    uint32_t a = ids->at[i], b = ids->at[i + 1];
    if (is_port(&o->p->unit.at[a])) return false;
    ids->at[i] = b, ids->at[i + 1] = a;
    rank_again(o, layer);
    uint64_t then = crossings_beside(o, layer, ties);
    if (then < now) {
      now = then, any = true;
      continue;
    }
    ids->at[i] = a, ids->at[i + 1] = b;
    rank_again(o, layer);
  }
  return any;
}

static uint64_t crossings(const LayerOrder *o, Ties *ties) {
  uint64_t n = 0;
  for (uint32_t i = 0; i + 1 < o->layers; i++) n += crossings_after(o, i, ties);
  return n;
}

static void keep(const LayerOrder *o, uint32_t *rank) {
  for (uint32_t i = 0; i < o->p->unit.n; i++) rank[i] = o->p->unit.at[i].rank;
}

static void put_back(LayerOrder *o, const uint32_t *rank) {
  for (uint32_t i = 0; i < o->p->unit.n; i++) {
    o->p->unit.at[i].rank = rank[i];
    o->layer.at[o->p->unit.at[i].layer].at[rank[i]] = i;
  }
}

static void swap_all(LayerOrder *o, Ties *ties) {
  for (uint32_t again = 0, moved = 1; moved && again < ROUNDS; again++) {
    moved = 0;
    for (uint32_t i = 0; i < o->layers; i++) moved += swap_in_layer(o, i, ties);
  }
}

// Once by medians and once by means, each from the order of the program; the best of all is kept.
static void find_order(LayerOrder *o) {
  Ties ties = {0};
  uint32_t n = o->p->unit.n, *best = NEW_ARRAY(o->arena, uint32_t, n + 1);
  uint32_t *start = NEW_ARRAY(o->arena, uint32_t, n + 1);
  KeyedUnit *key = NEW_ARRAY(o->arena, KeyedUnit, n + 1);
  bool small = n <= SWAPS;
  uint64_t least = UINT64_MAX;
  keep(o, start);
  for (uint32_t round = 0; round < (small ? 2 * SWEEPS : 4); round++) {
    bool mean = round >= SWEEPS, right = round % 2;
    if (round == SWEEPS) put_back(o, start);
    for (uint32_t i = 0; i < o->layers; i++)
      sweep_layer(o, right ? o->layers - 1 - i : i, right, mean, key);
    if (!small) continue;
    swap_all(o, &ties);
    uint64_t now = crossings(o, &ties);
    if (now < least) least = now, keep(o, best);
  }
  if (small) put_back(o, best);
}

// The pass of a cable that turns stands beside the unit it comes from, on the side of those it goes
// to.
static void place_turned(LayerOrder *o, const Cable *k) {
  uint32_t pass = 0, source = 0, at = 0;
  for (uint32_t i = 0; i < k->end.n; i++) {
    const CableEnd *e = &k->end.at[i];
    if (o->p->unit.at[e->unit].kind == UNIT_PASS)
      pass = e->unit;
    else if (e->right)
      source = e->unit;
  }
  const Unit *from = &o->p->unit.at[source];
  double rank = 0, n = 0;
  Ids *ids = &o->layer.at[from->layer];
  for (uint32_t i = 0; i < k->end.n; i++)
    if (!k->end.at[i].right && k->end.at[i].unit != pass)
      rank += o->p->unit.at[k->end.at[i].unit].rank, n++;
  bool below = rank / n >= from->rank;
  for (uint32_t i = 0; i < ids->n; i++)
    if (ids->at[i] != pass) ids->at[at++] = ids->at[i];
  ids->n = at;
  rank_again(o, from->layer);
  uint32_t to = from->rank + below;
  vec_push(o->arena, ids, pass);
  for (uint32_t i = ids->n - 1; i > to; i--) ids->at[i] = ids->at[i - 1];
  ids->at[to] = pass;
  rank_again(o, from->layer);
}

void panel_order(Arena *a, Panel *p) {
  Arena *scratch = arena_child(a);
  LayerOrder o = {.arena = scratch, .p = p};
  find_links(&o);
  index_links(&o);
  find_loops(&o);
  find_layers(&o);
  o.arena = a; // passes stay
  add_passes(&o);
  o.arena = scratch;
  sort_ends(&o);
  for (uint32_t i = 0; i < o.layers; i++) vec_push(scratch, &o.layer, (Ids){0});
  for (uint32_t i = 0; i < p->unit.n; i++) {
    Ids *ids = &o.layer.at[p->unit.at[i].layer];
    p->unit.at[i].rank = ids->n;
    vec_push(scratch, ids, i);
  }
  find_order(&o);
  for (uint32_t i = 0; i < p->cable.n; i++)
    if (p->cable.at[i].turned) place_turned(&o, &p->cable.at[i]);
  arena_free(scratch);
}
