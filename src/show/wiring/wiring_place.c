// Where units of a panel stand. Layers and ranks come in; places and tracks go out.
//
// Heights are those of least cost (place.h): cables want to be straight, most of all where they
// pass layers. Between two layers lies a channel. A cable has at most one upright line in it, its
// trunk, to which all its ends in the channel are tied; trunks stand on tracks. The order of tracks
// is one of few crossings in which no two level lines lie one on the other: what comes from the
// left to a trunk at some height must end before another begins there. If that is a
// cycle, heights are found again with a gap between two of these ends.
#include "show/layout/place.h"
#include "show/wiring/wiring_own.h"

#include <math.h>
#include <stdlib.h>

enum {
  SEP = 18,         // between boxes of a layer
  BESIDE = 12,      // between a box and a cable that passes
  NEAR = 6,         // lines at such heights are in each other's way
  PART = 9,         // and so far they are put apart
  MARGIN = 12,      // between a unit and the first track
  AGAIN = 12,       // rounds of putting apart
  MANY = 160,       // trunks of a channel: their order is that of their heights
  JOG = 16,         // a line that is not straight by less than this should be straight
  HARDER = 4,       // this many times it may pull harder,
  HARDEST = 64,     // up to this
  LABELLED = 1024,  // a label can be anywhere on its wire: what leaves it is straight before others
  MANY_PULLS = 600, // cables: once has to do
  LARGE = 2000,     // units: they are not placed exactly
  OVER = 1000       // what it costs that lines lie one on the other, in crossings
};

typedef VEC(Gap) Gaps;

double end_y(const Panel *p, const CableEnd *e) { return p->unit.at[e->unit].y + end_pin(p, e)->y; }

double end_x(const Board *b, const CableEnd *e) {
  const Unit *u = &b->p->unit.at[e->unit];
  if (u->kind == UNIT_PASS) return b->x[u->layer] + (e->right ? b->width[u->layer] : 0);
  if (u->kind == UNIT_IN) return 0;
  if (u->kind == UNIT_SHARED) return u->x + floor(u->width / 2);
  if (u->kind == UNIT_OUT) return u->x + u->width;
  return u->x + (e->right ? u->width - (u->count ? LIFT : 0) : 0);
}

// -- heights --------------------------------------------------------------------------------------
// A label stands above its line, so that there is room over the line anyway: labels stand one above
// the other as near as pins do.
static int64_t label_gap(const Unit *above, const Unit *below) {
  if (above->kind != UNIT_GUARD) return above->kind == UNIT_PASS ? 3 : NEAR;
  return below->kind == UNIT_GUARD ? 0 : PART;
}

static bool is_low(UnitKind kind) { return kind == UNIT_PLATE || kind == UNIT_CHOICE; }

static int64_t least_gap(const Unit *above, const Unit *below, uint32_t depth) {
  if (above->kind == UNIT_GUARD || below->kind == UNIT_GUARD)
    return (int64_t)ceil(above->height) + label_gap(above, below);
  bool low = is_low(above->kind) || is_low(below->kind);
  bool passes = above->kind == UNIT_PASS || below->kind == UNIT_PASS;
  bool both = above->kind == UNIT_PASS && below->kind == UNIT_PASS;
  bool ports = above->kind == UNIT_IN || above->kind == UNIT_OUT;
  int64_t ports_apart = depth ? 0 : 4; // names of inner ports are part of them
  return (int64_t)ceil(above->height) + (both     ? LANE
                                         : passes ? (low ? NEAR : BESIDE)
                                         : ports  ? ports_apart
                                                  : SEP);
}

int64_t units_apart(const Panel *p, uint32_t above, uint32_t below) {
  return least_gap(&p->unit.at[above], &p->unit.at[below], p->depth);
}

// What leaves a helper of a part is straight; the first of several ends rather than the others.
// Parts that share variables stand in a row, rather than ports with them.
static int64_t weight_of(const Panel *p, const CableEnd *a, const CableEnd *b, bool first) {
  UnitKind from = p->unit.at[a->unit].kind, to = p->unit.at[b->unit].kind;
  bool helps = from == UNIT_PLATE || from == UNIT_CHOICE;
  bool passes = from == UNIT_PASS || to == UNIT_PASS;
  if (from == UNIT_PASS && to == UNIT_PASS) return 64;
  if (from == UNIT_GUARD) return LABELLED;
  if (p->shares && (passes || from == UNIT_IN || to == UNIT_OUT)) return 6;
  return (passes || helps ? 32 : 12) + (first ? 3 : 0);
}

static void add_pulls(Board *b, Places *places) {
  for (uint32_t c = 0; c + 1 < b->layers; c++)
    for (uint32_t i = 0; i < b->channel[c].trunk.n; i++) {
      const Trunk *t = &b->channel[c].trunk.at[i];
      for (uint32_t j = 0; j < t->left.n; j++)
        for (uint32_t k = 0; k < t->right.n; k++) {
          const CableEnd *x = &t->left.at[j], *y = &t->right.at[k];
          int64_t offset = llround(end_pin(b->p, x)->y - end_pin(b->p, y)->y);
          Pull pull = {x->unit, y->unit, offset, weight_of(b->p, x, y, !j && !k)};
          if (places->pull.n >= b->harder.n) vec_push(b->arena, &b->harder, 1);
          pull.weight *= b->harder.at[places->pull.n];
          vec_push(b->arena, &places->pull, pull);
        }
    }
}

// A cable that is nearly straight should be straight. False: there is none.
static bool pull_harder(Board *b, Places *places, const int64_t *at, uint32_t n) {
  bool any = false;
  for (uint32_t i = 0; i < n; i++) {
    Pull *p = &places->pull.at[i];
    int64_t off = llabs(at[p->b] - at[p->a] - p->offset);
    if (!off || off >= JOG || b->harder.at[i] >= HARDEST) continue;
    p->weight *= 4, b->harder.at[i] *= 4;
    any = true;
  }
  return any;
}

// False: these gaps cannot be.
static bool find_heights(Board *b, const Gaps *apart) {
  Panel *p = b->p;
  Places places = {.n = p->unit.n};
  int64_t *at = NEW_ARRAY(b->arena, int64_t, p->unit.n + 1);
  for (uint32_t l = 0; l < b->layers; l++)
    for (uint32_t i = 0; i + 1 < b->layer.at[l].n; i++) {
      uint32_t x = b->layer.at[l].at[i], y = b->layer.at[l].at[i + 1];
      Gap gap = {x, y, units_apart(p, x, y)};
      vec_push(b->arena, &places.gap, gap);
    }
  for (uint32_t i = 0; i < apart->n; i++) vec_push(b->arena, &places.gap, apart->at[i]);
  add_pulls(b, &places);
  uint32_t cables = places.pull.n;
  for (uint32_t l = 0; l + 1 < b->layers; l++) // what is tied to nothing stands at the top
    if (b->layer.at[l].n && b->layer.at[l + 1].n)
      vec_push(b->arena, &places.pull,
               (Pull){b->layer.at[l].at[0], b->layer.at[l + 1].at[0], 0, 1});
  if (!places_solve(b->arena, &places, at, NULL)) return false;
  for (uint32_t i = 0; i < HARDER && cables < MANY_PULLS && pull_harder(b, &places, at, cables);
       i++)
    places_solve(b->arena, &places, at, NULL);
  for (uint32_t i = 0; i < p->unit.n; i++) p->unit.at[i].y = (double)at[i];
  return true;
}

// -- trunks ---------------------------------------------------------------------------------------
// Cables come one after the other: if a channel has a trunk of this one, it is the last.
static void find_trunks(Board *b) {
  for (uint32_t k = 0; k < b->p->cable.n; k++) {
    const Cable *cable = &b->p->cable.at[k];
    for (uint32_t i = 0; i < cable->end.n; i++) {
      const CableEnd *e = &cable->end.at[i];
      uint32_t layer = b->p->unit.at[e->unit].layer;
      if (!e->right && !layer) continue; // nothing is before the first layer
      Channel *c = &b->channel[e->right ? layer : layer - 1];
      if (!c->trunk.n || c->trunk.at[c->trunk.n - 1].cable != k)
        vec_push(b->arena, &c->trunk, (Trunk){.cable = k});
      Trunk *t = &c->trunk.at[c->trunk.n - 1];
      if (e->right)
        vec_push(b->arena, &t->left, *e);
      else
        vec_push(b->arena, &t->right, *e);
      t->dial = cable->dial != 0;
    }
  }
}

static void reach(Trunk *t, double y) { t->low = fmin(t->low, y), t->high = fmax(t->high, y); }

static void measure_trunk(const Board *b, Trunk *t) {
  const Lane *lane = &b->lane[t->cable];
  t->low = INFINITY, t->high = -INFINITY;
  for (uint32_t i = 0; i < t->left.n; i++) reach(t, end_y(b->p, &t->left.at[i]));
  for (uint32_t i = 0; i < t->right.n; i++) reach(t, end_y(b->p, &t->right.at[i]));
  if (t->lane) reach(t, lane->y);
  if (t->dial) reach(t, b->top - 1000);
  t->bent = t->high - t->low > 0.5;
}

// -- the order of tracks --------------------------------------------------------------------------
static bool is_within(const Trunk *t, double y) { return y > t->low && y < t->high; }

// What it costs that a stands before b
static uint32_t cost_before(const Board *b, const Trunk *x, const Trunk *y) {
  uint32_t cost = 0;
  for (uint32_t i = 0; i < x->right.n; i++) {
    double at = end_y(b->p, &x->right.at[i]);
    cost += is_within(y, at);
    for (uint32_t j = 0; j < y->left.n; j++)
      if (fabs(at - end_y(b->p, &y->left.at[j])) < NEAR) cost += OVER;
  }
  for (uint32_t j = 0; j < y->left.n; j++) cost += is_within(x, end_y(b->p, &y->left.at[j]));
  return cost;
}

static int by_height(const void *a, const void *b) {
  const Trunk *x = a, *y = b;
  double p = x->low + x->high, q = y->low + y->high;
  if (p != q) return p < q ? -1 : 1;
  return x->cable < y->cable ? -1 : x->cable > y->cable;
}

// Each trunk in turn goes where it costs least, until nothing changes.
static void sort_trunks(const Board *b, Trunk *t, uint32_t n) {
  if (n < 2) return;
  if (n > MANY) {
    qsort(t, n, sizeof *t, by_height);
    return;
  }
  int64_t *gain = NEW_ARRAY(b->arena, int64_t, (size_t)n * n); // [a b] of a before b
  uint32_t *order = NEW_ARRAY(b->arena, uint32_t, n);
  for (uint32_t i = 0; i < n; i++) {
    order[i] = i;
    for (uint32_t j = 0; j < n; j++)
      if (i != j)
        gain[i * n + j] =
            (int64_t)cost_before(b, &t[j], &t[i]) - (int64_t)cost_before(b, &t[i], &t[j]);
  }
  for (uint32_t round = 0, moved = 1; moved && round < 20; round++) {
    moved = 0;
    for (uint32_t i = 0; i < n; i++) {
      uint32_t me = order[i], best = i;
      int64_t sum = 0, most = 0;
      for (uint32_t j = i; j-- > 0;) // before order[j]
        if ((sum += gain[me * n + order[j]]) > most) most = sum, best = j;
      sum = 0;
      for (uint32_t j = i + 1; j < n; j++) // after order[j]
        if ((sum += gain[order[j] * n + me]) > most) most = sum, best = j;
      for (uint32_t j = i; j > best; j--) order[j] = order[j - 1];
      for (uint32_t j = i; j < best; j++) order[j] = order[j + 1];
      order[best] = me;
      moved += best != i;
    }
  }
  Trunk *old = arena_copy(b->arena, t, n * sizeof *t);
  for (uint32_t i = 0; i < n; i++) t[i] = old[order[i]];
}

// Trunks that do not reach the same heights share a track.
static void find_tracks(Board *b, Channel *c) {
  uint32_t n = 0;
  c->tracks = 0;
  for (uint32_t i = 0; i < c->trunk.n; i++) { // bent ones first
    measure_trunk(b, &c->trunk.at[i]);
    Trunk t = c->trunk.at[i];
    if (t.bent) c->trunk.at[i] = c->trunk.at[n], c->trunk.at[n++] = t;
  }
  sort_trunks(b, c->trunk.at, n);
  for (uint32_t i = 0; i < n; i++) {
    Trunk *t = &c->trunk.at[i];
    t->track = 0;
    for (uint32_t j = 0; j < i; j++) {
      const Trunk *o = &c->trunk.at[j];
      bool meet = t->low < o->high + LANE && o->low < t->high + LANE;
      if (meet && o->track >= t->track) t->track = o->track + 1;
    }
    if (t->track + 1 > c->tracks) c->tracks = t->track + 1;
  }
}

// Ends that lie one on the other are put apart: the one at the left goes up if its cable does.
static void find_clashes(const Board *b, const Channel *c, Gaps *apart) {
  const Panel *p = b->p;
  for (uint32_t i = 0; i < c->trunk.n; i++)
    for (uint32_t j = 0; j < c->trunk.n; j++) {
      const Trunk *x = &c->trunk.at[i], *y = &c->trunk.at[j]; // x comes from the left
      if (i == j || !x->bent || !y->bent || x->track < y->track) continue;
      for (uint32_t k = 0; k < x->left.n; k++)
        for (uint32_t m = 0; m < y->right.n; m++) {
          const CableEnd *e = &x->left.at[k], *f = &y->right.at[m];
          double above = end_y(p, e), below = end_y(p, f);
          if (fabs(above - below) >= NEAR) continue;
          bool up = above < below || (above == below && x->low < above);
          int64_t pins = llround(end_pin(p, e)->y - end_pin(p, f)->y);
          Gap gap =
              up ? (Gap){e->unit, f->unit, PART + pins} : (Gap){f->unit, e->unit, PART - pins};
          vec_push(b->arena, apart, gap);
        }
    }
}

static void find_extent(Board *b) {
  b->top = INFINITY, b->bottom = -INFINITY;
  for (uint32_t i = 0; i < b->p->unit.n; i++) {
    const Unit *u = &b->p->unit.at[i];
    b->top = fmin(b->top, u->y), b->bottom = fmax(b->bottom, u->y + u->height);
  }
  if (!b->p->unit.n) b->top = b->bottom = 0;
}

static void find_all_tracks(Board *b) {
  find_extent(b);
  lanes_find(b);
  for (uint32_t c = 0; c + 1 < b->layers; c++) find_tracks(b, &b->channel[c]);
}

static void place_heights(Board *b) {
  Gaps apart = {0};
  if (b->p->unit.n > LARGE) {
    heights_sweep(b);
    find_all_tracks(b);
    return;
  }
  find_heights(b, &apart);
  for (uint32_t round = 0; round < AGAIN; round++) {
    uint32_t had = apart.n;
    find_all_tracks(b);
    for (uint32_t c = 0; c + 1 < b->layers; c++)
      if (b->channel[c].trunk.n <= MANY) find_clashes(b, &b->channel[c], &apart);
    if (apart.n == had) return;
    if (find_heights(b, &apart)) continue;
    apart.n = had + 1; // one of them may be possible where all are not
    if (!find_heights(b, &apart)) apart.n = had, find_heights(b, &apart);
  }
  find_all_tracks(b);
}

// -- widths ---------------------------------------------------------------------------------------
static void place_columns(Board *b) {
  double x = 0;
  for (uint32_t l = 0; l < b->layers; l++) {
    b->x[l] = x;
    if (l + 1 == b->layers) break;
    Channel *c = &b->channel[l];
    c->x = b->x[l] + b->width[l];
    x = c->x + c->width;
    for (uint32_t i = 0; i < c->trunk.n; i++)
      c->trunk.at[i].x = c->x + floor((c->width - c->span) / 2) + c->trunk.at[i].track * LANE;
  }
  b->p->width = b->x[b->layers - 1] + b->width[b->layers - 1];
}

// Its title, and its states side by side, have room at the top.
static double least_width(const Panel *p) {
  double states = 0;
  for (uint32_t i = 0; i < p->dial.n; i++) states += p->dial.at[i].width + 14;
  return fmax(p->title + 28, states + 28);
}

static void place_widths(Board *b) {
  for (uint32_t l = 0; l < b->layers; l++) {
    Channel *c = &b->channel[l];
    for (uint32_t i = 0; i < b->layer.at[l].n; i++)
      b->width[l] = fmax(b->width[l], b->p->unit.at[b->layer.at[l].at[i]].width);
    c->span = c->tracks > 1 ? (c->tracks - 1) * LANE : 0;
    c->width = 2 * MARGIN + c->span;
  }
  place_columns(b);
  double more = ceil(least_width(b->p) - b->p->width);
  if (more > 0) {
    b->channel[0].width += floor(more / 2);
    b->channel[b->layers - 2].width += more - floor(more / 2);
    place_columns(b);
  }
  for (uint32_t i = 0; i < b->p->unit.n; i++) {
    Unit *u = &b->p->unit.at[i];
    double rest = b->width[u->layer] - u->width;
    u->x = b->x[u->layer] + (u->kind == UNIT_IN ? 0 : u->kind == UNIT_OUT ? rest : floor(rest / 2));
  }
}

static int by_rank(const void *a, const void *b) {
  const uint32_t *x = a, *y = b;
  return x[0] < y[0] ? -1 : x[0] > y[0];
}

static void find_layers(Board *b) {
  const Panel *p = b->p;
  for (uint32_t i = 0; i < p->unit.n; i++)
    if (p->unit.at[i].layer + 1 > b->layers) b->layers = p->unit.at[i].layer + 1;
  bool out = false;
  for (uint32_t i = 0; i < p->unit.n; i++) out |= p->unit.at[i].kind == UNIT_OUT;
  if (!out) b->layers++; // cables may run back from the last units
  if (b->layers < 2) b->layers = 2;
  for (uint32_t l = 0; l < b->layers; l++) vec_push(b->arena, &b->layer, (Ids){0});
  uint32_t(*at)[2] = arena_alloc(b->arena, (p->unit.n + 1) * sizeof *at);
  for (uint32_t i = 0; i < p->unit.n; i++) at[i][0] = p->unit.at[i].rank, at[i][1] = i;
  qsort(at, p->unit.n, sizeof *at, by_rank);
  for (uint32_t i = 0; i < p->unit.n; i++)
    vec_push(b->arena, &b->layer.at[p->unit.at[at[i][1]].layer], at[i][1]);
}

void panel_lay(Arena *a, Panel *p) {
  Board b = {.arena = arena_child(a), .p = p};
  find_layers(&b);
  b.channel = NEW_ARRAY(b.arena, Channel, b.layers);
  b.lane = NEW_ARRAY(b.arena, Lane, p->cable.n + 1);
  b.x = NEW_ARRAY(b.arena, double, b.layers);
  b.width = NEW_ARRAY(b.arena, double, b.layers);
  find_trunks(&b);
  place_heights(&b);
  place_widths(&b);
  cables_route(&b, a);
  arena_free(b.arena);
}
