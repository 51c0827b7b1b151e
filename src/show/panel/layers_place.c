// Coordinate assignment. Layers and ranks come in; places of units and tracks of cables go out.
//
// Heights have the least weighted sum of distances (place.h): cables want to be straight, most of all
// where they pass layers. A free pin has a height of its own, and its unit grows with its pins; other
// pins are fixed in their unit.
// Between two layers lies a channel. A cable has at most one vertical line in it, its trunk, to which
// all its pins in the channel are tied. Channel routing gives each trunk a track: labels of cables
// that come back to their layer stand before the tracks, labels of cables that end there behind them.
// The order of tracks has few crossings, and no two horizontal lines lie one on the other: what comes
// from the left to a trunk at some height must end before another begins there. If these constraints
// form a cycle, heights are found again with a gap between two of the pins.
#include "show/layout/place.h"
#include "show/panel/layers.h"

#include <math.h>
#include <stdlib.h>

enum {
  PART = 3,         // additional distance of lines that are too close
  AGAIN = 16,       // rounds of separating lines
  MANY = 160,       // trunks of a channel: more are ordered by height
  HARDER = 4,       // how often a single pull may be strengthened,
  HARDEST = 8,      // and pulls in all
  MANY_PULLS = 600, // cables: with more, a single round
  LARGE = 2000,     // units: larger layouts are placed approximately
  OVER = 1000,      // cost of overlapping lines, in crossings
  LABEL = 16,       // beside a label
  ASIDE = 14        // cost of a cable that passes close to a unit
};

typedef struct {
  Layers *l;
  Places places;
  uint32_t first, cables; // pulls that belong to cables
  uint32_t harder;        // how often pulls were strengthened
  int64_t *at;            // [variable]
} Heights;

double layers_pin_y(const Layers *l, uint32_t pin) {
  return l->unit.at[l->pin.at[pin].unit].y + l->pin.at[pin].y;
}

double layers_apart(const Layers *l, uint32_t above, uint32_t below) {
  const LayerUnit *a = &l->unit.at[above], *b = &l->unit.at[below];
  return ceil(a->height) + l->rules->apart[a->kind][b->kind];
}

// -- heights --------------------------------------------------------------------------------------
typedef struct { // a height variable, with an offset
  uint32_t var;
  double more;
} Height;

static Height top_of(uint32_t unit) { return (Height){unit, 0}; }

static Height low_of(const Heights *h, uint32_t unit) {
  const LayerUnit *u = &h->l->unit.at[unit];
  return u->free ? (Height){u->low, 0} : (Height){unit, ceil(u->height)};
}

static Height pin_at(const Heights *h, uint32_t pin) {
  const LayerPin *p = &h->l->pin.at[pin];
  return h->l->unit.at[p->unit].free ? (Height){p->var, 0} : (Height){p->unit, p->y};
}

static void add_gap(Heights *h, Height a, Height b, double least) {
  Gap g = {a.var, b.var, (int64_t)ceil(least + a.more - b.more)};
  vec_push(h->l->arena, &h->places.gap, g);
}

static void add_pull(Heights *h, Height a, Height b, double offset, int64_t weight) {
  Pull p = {a.var, b.var, llround(offset + a.more - b.more), weight};
  vec_push(h->l->arena, &h->places.pull, p);
}

static double below(const Layers *l, uint32_t pin) {
  return l->cable.at[l->pin.at[pin].cable].below;
}

static uint32_t kind_of(const Layers *l, uint32_t pin) {
  return l->unit.at[l->pin.at[pin].unit].kind;
}

static void pull_cables(Heights *h) {
  Layers *l = h->l;
  h->first = h->places.pull.n;
  for (uint32_t c = 0; c < l->layers; c++)
    for (uint32_t i = 0; i < l->channel[c].trunk.n; i++) {
      const Ids *side = l->channel[c].trunk.at[i].side;
      for (uint32_t j = 0; j < side[0].n; j++)
        for (uint32_t k = 0; k < side[1].n; k++) {
          uint32_t a = side[0].at[j], b = side[1].at[k];
          int64_t weight = l->rules->pull[kind_of(l, a)][kind_of(l, b)];
          add_pull(h, pin_at(h, a), pin_at(h, b), 0, weight + (!j && !k ? l->rules->first : 0));
        }
    }
  h->cables = h->places.pull.n - h->first;
}

// The rank of a pin's partner; first or last for one in the same layer
static double pin_key(const Layers *l, uint32_t pin) {
  const LayerPin *p = &l->pin.at[pin], *other = p;
  const Ids *to = layers_facing(l, p), *both = &l->cable.at[p->cable].pin;
  if (to->n) return l->unit.at[l->pin.at[to->at[0]].unit].rank;
  for (uint32_t i = 0; i < both->n; i++)
    if (both->at[i] != pin) other = &l->pin.at[both->at[i]];
  return l->unit.at[other->unit].rank < l->unit.at[p->unit].rank ? -1 : INFINITY;
}

static void sort_pins(const Layers *l, Ids *side) {
  for (uint32_t i = 1; i < side->n; i++)
    for (uint32_t k = i; k && pin_key(l, side->at[k - 1]) > pin_key(l, side->at[k]); k--) {
      uint32_t pin = side->at[k];
      side->at[k] = side->at[k - 1], side->at[k - 1] = pin;
    }
}

// At least its minimal height; growing costs.
static void free_unit(Heights *h, uint32_t unit) {
  LayerUnit *u = &h->l->unit.at[unit];
  const LayerRules *r = h->l->rules;
  u->low = h->places.n++;
  add_gap(h, top_of(unit), low_of(h, unit), u->height);
  add_pull(h, top_of(unit), low_of(h, unit), u->height, r->growth);
  for (int right = 0; right < 2; right++) {
    Ids *side = &u->side[right];
    sort_pins(h->l, side);
    for (uint32_t i = 0; i < side->n; i++) {
      Height at = {h->l->pin.at[side->at[i]].var = h->places.n++, 0};
      add_gap(h, top_of(unit), at, r->pad);
      add_gap(h, at, low_of(h, unit), r->pad + below(h->l, side->at[i]));
      if (i) add_gap(h, pin_at(h, side->at[i - 1]), at, r->pitch + below(h->l, side->at[i - 1]));
      add_pull(h, top_of(unit), at, floor(u->height / 2), 1);
    }
  }
}

// A passing cable prefers to come closer over bending.
static void separate_units(Heights *h, uint32_t above, uint32_t below) {
  uint32_t a = h->l->unit.at[above].kind, b = h->l->unit.at[below].kind;
  double least = h->l->rules->apart[a][b], nearer = h->l->rules->nearer;
  bool few = h->cables < MANY_PULLS, passes = (a == LAYER_DUMMY) != (b == LAYER_DUMMY);
  bool nearer_too = few && passes && nearer < least;
  add_gap(h, low_of(h, above), top_of(below), nearer_too ? nearer : least);
  if (!nearer_too) return;
  Height far = {h->places.n++, 0};
  add_gap(h, low_of(h, above), far, least);
  add_gap(h, top_of(below), far, 0);
  add_pull(h, top_of(below), far, 0, ASIDE);
}

static void separate_all(Heights *h) {
  Layers *l = h->l;
  uint32_t blocks = 0, first = h->places.n;
  for (uint32_t i = 0; i < l->unit.n; i++)
    if (l->unit.at[i].block > blocks) blocks = l->unit.at[i].block;
  h->places.n += blocks;
  for (uint32_t k = 0; k < l->layers; k++)
    for (uint32_t i = 0; i < l->layer[k].n; i++) {
      uint32_t u = l->layer[k].at[i], block = l->unit.at[u].block;
      if (i) separate_units(h, l->layer[k].at[i - 1], u);
      if (block) add_gap(h, (Height){first + block - 1, 0}, top_of(u), l->rules->blocks);
      if (block < blocks) add_gap(h, low_of(h, u), (Height){first + block, 0}, 0);
    }
}

static Heights find_heights(Layers *l) {
  Heights h = {.l = l, .places = {.n = l->unit.n}};
  for (uint32_t i = 0; i < l->unit.n; i++)
    if (l->unit.at[i].free) free_unit(&h, i);
  pull_cables(&h);
  separate_all(&h);
  for (uint32_t k = 0; k + 1 < l->layers; k++) // unconnected units are at the top
    if (l->layer[k].n && l->layer[k + 1].n)
      add_pull(&h, top_of(l->layer[k].at[0]), top_of(l->layer[k + 1].at[0]), 0, 1);
  h.at = NEW_ARRAY(l->arena, int64_t, h.places.n + 1);
  return h;
}

static void read_heights(const Heights *h) {
  Layers *l = h->l;
  for (uint32_t i = 0; i < l->unit.n; i++) {
    LayerUnit *u = &l->unit.at[i];
    u->y = (double)h->at[i];
    if (u->free) u->height = (double)(h->at[u->low] - h->at[i]);
  }
  for (uint32_t i = 0; i < l->pin.n; i++) {
    LayerPin *p = &l->pin.at[i];
    if (l->unit.at[p->unit].free) p->y = (double)(h->at[p->var] - h->at[p->unit]);
  }
}

// Strengthens the pulls of nearly straight cables until they are straight. False: the gaps are
// contradictory.
static bool solve(Heights *h) {
  bool few = h->cables < MANY_PULLS;
  for (uint32_t round = 0, again = 1; again; round++) {
    if (!places_solve(h->l->arena, &h->places, h->at, NULL)) return false;
    again = 0;
    for (uint32_t i = 0; i < h->cables && few && round < HARDER && h->harder < HARDEST; i++) {
      Pull *p = &h->places.pull.at[h->first + i];
      int64_t off = llabs(h->at[p->b] - h->at[p->a] - p->offset);
      if (off && (double)off < h->l->rules->jog) p->weight *= 4, again = 1;
    }
    h->harder += again;
  }
  read_heights(h);
  return true;
}

// -- the order of tracks --------------------------------------------------------------------------
static void extend_trunk(Trunk *t, double y) {
  t->low = fmin(t->low, y), t->high = fmax(t->high, y);
}

static void measure_trunk(const Layers *l, Trunk *t) {
  const LayerCable *c = &l->cable.at[t->cable];
  t->low = INFINITY, t->high = -INFINITY;
  for (int right = 0; right < 2; right++)
    for (uint32_t i = 0; i < t->side[right].n; i++)
      extend_trunk(t, layers_pin_y(l, t->side[right].at[i]));
  if (t->lane) extend_trunk(t, c->lane_y);
  t->bent = t->high - t->low > 0.5;
}

static bool is_within(const Trunk *t, double y) { return y > t->low && y < t->high; }

static double line_distance(const Layers *l, const Trunk *x, const Trunk *y) {
  return l->rules->near + fmax(l->cable.at[x->cable].below, l->cable.at[y->cable].below);
}

// The cost of placing trunk x before y
static int64_t cost_before(const Layers *l, const Trunk *x, const Trunk *y) {
  int64_t cost = 0;
  for (uint32_t i = 0; i < x->side[1].n; i++) {
    double at = layers_pin_y(l, x->side[1].at[i]);
    cost += is_within(y, at);
    for (uint32_t j = 0; j < y->side[0].n; j++)
      if (fabs(at - layers_pin_y(l, y->side[0].at[j])) < line_distance(l, x, y)) cost += OVER;
  }
  for (uint32_t j = 0; j < y->side[0].n; j++)
    cost += is_within(x, layers_pin_y(l, y->side[0].at[j]));
  return cost;
}

// The next trunk in the order: the one with the largest gain if placed before all others
static Trunk *choose_trunk(const int64_t *gain, Trunk **bent, uint32_t n, int64_t *sum) {
  uint32_t best = 0;
  for (uint32_t i = 0; i < n; i++)
    if (bent[i]->track == UINT32_MAX && (bent[best]->track != UINT32_MAX || sum[i] > sum[best]))
      best = i;
  for (uint32_t i = 0; i < n && n <= MANY; i++) sum[i] -= gain[i * n + best];
  return bent[best];
}

// Trunks with disjoint vertical extents share a track.
static void find_tracks(const Layers *l, Channel *c) {
  Trunk **bent = NEW_ARRAY(l->arena, Trunk *, c->trunk.n + 1);
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->trunk.n; i++) {
    measure_trunk(l, &c->trunk.at[i]);
    c->trunk.at[i].track = UINT32_MAX;
    if (c->trunk.at[i].bent) bent[n++] = &c->trunk.at[i];
  }
  int64_t *sum = NEW_ARRAY(l->arena, int64_t, n + 1), *gain = NULL;
  if (n <= MANY) gain = NEW_ARRAY(l->arena, int64_t, (size_t)n * n + 1); // [a b] gain of a before b
  for (uint32_t i = 0; i < n && gain; i++)
    for (uint32_t j = 0; j < n; j++)
      if (i != j) {
        gain[i * n + j] = cost_before(l, bent[j], bent[i]) - cost_before(l, bent[i], bent[j]);
        sum[i] += gain[i * n + j];
      }
  c->track.n = 0;
  for (uint32_t i = 0; i < n; i++) {
    Trunk *t = choose_trunk(gain, bent, n, sum);
    uint32_t track = 0;
    for (uint32_t j = 0; j < n; j++) {
      double far = fmax(LANE, line_distance(l, t, bent[j]));
      bool meet = t->low < bent[j]->high + far && bent[j]->low < t->high + far;
      if (meet && bent[j]->track != UINT32_MAX && bent[j]->track >= track)
        track = bent[j]->track + 1;
    }
    t->track = track;
    if (track == c->track.n) vec_push(l->arena, &c->track, 0);
    c->track.at[track] = fmax(c->track.at[track], LANE + 2 * l->cable.at[t->cable].below);
  }
}

static void find_all_tracks(Layers *l) {
  layers_lanes(l);
  for (uint32_t c = 0; c < l->layers; c++) find_tracks(l, &l->channel[c]);
}

// -- lines that lie one on the other --------------------------------------------------------------
typedef struct {
  uint32_t above, below; // pins
  double least;
} LineOverlap;
typedef VEC(LineOverlap) LineOverlaps;

// A pin at the left moves up if its cable goes up.
static void find_overlaps(const Layers *l, const Channel *c, LineOverlaps *out) {
  for (uint32_t i = 0; i < c->trunk.n && c->trunk.n <= MANY; i++)
    for (uint32_t j = 0; j < c->trunk.n; j++) {
      const Trunk *x = &c->trunk.at[i], *y = &c->trunk.at[j]; // x comes from the left
      if (i == j || !x->bent || !y->bent || x->track < y->track) continue;
      for (uint32_t k = 0; k < x->side[0].n; k++)
        for (uint32_t m = 0; m < y->side[1].n; m++) {
          uint32_t a = x->side[0].at[k], b = y->side[1].at[m];
          double from = layers_pin_y(l, a), to = layers_pin_y(l, b), least = line_distance(l, x, y);
          if (fabs(from - to) >= least) continue;
          bool up = from < to || (from == to && x->low < from);
          vec_push(l->arena, out, (LineOverlap){up ? a : b, up ? b : a, least + PART});
        }
    }
}

// Adds all separations at once; if contradictory, one by one, in either direction.
static void separate_lines(Heights *h, const LineOverlaps *all) {
  uint32_t had = h->places.gap.n;
  for (uint32_t i = 0; i < all->n; i++)
    add_gap(h, pin_at(h, all->at[i].above), pin_at(h, all->at[i].below), all->at[i].least);
  if (solve(h)) return;
  h->places.gap.n = had;
  for (uint32_t i = 0; i < all->n; i++)
    for (int turn = 0; turn < 2; turn++) {
      uint32_t a = all->at[i].above, b = all->at[i].below;
      add_gap(h, pin_at(h, turn ? b : a), pin_at(h, turn ? a : b), all->at[i].least);
      if (places_solve(h->l->arena, &h->places, h->at, NULL)) break;
      h->places.gap.n--;
    }
  solve(h);
}

// Without height optimisation, free pins are distributed evenly.
static void spread_pins(Layers *l, LayerUnit *u) {
  for (int right = 0; right < 2; right++) {
    double y = l->rules->pad;
    sort_pins(l, &u->side[right]);
    for (uint32_t i = 0; i < u->side[right].n; i++) {
      l->pin.at[u->side[right].at[i]].y = y;
      y += l->rules->pitch + below(l, u->side[right].at[i]);
    }
    u->height = fmax(u->height, y - l->rules->pitch + l->rules->pad);
  }
}

static void place_heights(Layers *l) {
  if (l->unit.n > LARGE) {
    for (uint32_t i = 0; i < l->unit.n; i++)
      if (l->unit.at[i].free) spread_pins(l, &l->unit.at[i]);
    layers_sweep(l);
    find_all_tracks(l);
    return;
  }
  Heights h = find_heights(l);
  solve(&h);
  find_all_tracks(l);
  for (uint32_t round = 0; round < AGAIN; round++) {
    LineOverlaps all = {0};
    for (uint32_t c = 0; c < l->layers; c++) find_overlaps(l, &l->channel[c], &all);
    if (!all.n) return;
    separate_lines(&h, &all);
    find_all_tracks(l);
  }
}

// -- widths ---------------------------------------------------------------------------------------
// A label is at the end of its cable; for a cable that returns to its layer, beside its source.
static void label_rooms(Layers *l) {
  for (uint32_t i = 0; i < l->cable.n; i++) {
    const LayerCable *c = &l->cable.at[i];
    if (c->label <= 0) continue;
    double *room = c->high ? &l->channel[c->high - 1].after : &l->channel[c->low].before;
    *room = fmax(*room, c->label + LABEL);
  }
}

static void place_columns(Layers *l) {
  const LayerRules *r = l->rules;
  double x = 0;
  for (uint32_t k = 0; k < l->layers; k++) {
    Channel *c = &l->channel[k];
    l->x[k] = x, l->width = c->x = x + l->wide[k];
    double first = c->x + r->margin + c->before, at = first;
    for (uint32_t t = 0; t < c->track.n; at += c->track.at[t++])
      for (uint32_t i = 0; i < c->trunk.n; i++)
        if (c->trunk.at[i].track == t) c->trunk.at[i].x = at + c->track.at[t] / 2;
    x = fmax(at, first + r->least) + c->after + r->margin;
    c->width = x - c->x;
    if (k + 1 == l->layers && c->track.n) l->width = x;
  }
}

// Reserves space for the title.
static double least_width(const Layers *l) { return l->framed ? l->title + 28 : 0; }

static void place_widths(Layers *l) {
  l->x = NEW_ARRAY(l->arena, double, l->layers + 1);
  l->wide = NEW_ARRAY(l->arena, double, l->layers + 1);
  for (uint32_t i = 0; i < l->unit.n; i++) {
    double *wide = &l->wide[l->unit.at[i].layer];
    *wide = fmax(*wide, l->unit.at[i].width);
  }
  label_rooms(l);
  place_columns(l);
  double more = ceil(least_width(l) - l->width);
  if (more > 0) {
    l->channel[0].before += floor(more / 2);
    l->channel[l->layers - 2].after += more - floor(more / 2);
    place_columns(l);
  }
  for (uint32_t i = 0; i < l->unit.n; i++) {
    LayerUnit *u = &l->unit.at[i];
    double rest = l->wide[u->layer] - u->width;
    u->x = l->x[u->layer] + (u->edge == EDGE_FIRST  ? 0
                             : u->edge == EDGE_LAST ? rest
                                                    : floor(rest / 2));
  }
}

void layers_place(Layers *l) {
  place_heights(l);
  place_widths(l);
  layers_route(l);
}
