// Where spaces stand and where arrows run. Spots with their layers and the sizes of their labels
// come in; places and paths go out.
//
// Arrows are level and upright lines. Each begins at a pin on the right side of its spot and ends
// at one on the left side of another; where it passes a layer there is a pin too. Heights of pins
// and spots are those of least cost (place.h): pieces of arrows want to be straight, and most of
// all those that pass layers. Between two layers lies a channel, from left to right: room for
// labels of arrows that come back to their spot, a track for each piece that is not straight, room
// for labels, above the lines of the pins on its right. So a label is met by nothing: pins keep so
// much distance that it lies between two of them, and no upright line is there.
//
// A line from a pin on the left ends at its track, and one to a pin on the right begins there. If
// two such lines have nearly the same height, the first one's track stands before the other's. If
// that is a cycle, the heights are found again with a gap between two of these pins.
#include "show/graph/graph_own.h"
#include "show/layout/place.h"

#include <math.h>
#include <stdlib.h>

enum {
  PAD = 16,    // from a corner of a spot to a pin
  LINE = 22,   // from a pin to the next one: a label lies between them
  SEP = 26,    // between spots of a layer
  LANES = 17,  // between lines that pass a layer
  BESIDE = 10, // between a spot and a line that passes
  BLOCKS = 34, // between parts
  STUB = 16,   // a line that leaves a spot, before anything can happen to it
  TRACK = 12,
  NEAR = 14,        // lines at such heights are in each other's way
  JOG = 18,         // a line that is not straight by less than this should be straight
  HARDER = 5,       // this many times it may pull harder,
  HARDEST = 100000, // up to this
  MANY = 400,       // pieces: once has to do
  AGAIN = 60,       // tries to part pins
  GROWTH = 6        // what it costs that a spot grows; a bend costs 12
};

typedef struct { // where an arrow meets a side of a spot, or passes a layer
  uint32_t cell, arrow;
  bool right;
  double key; // pins of a side by the place of what they go to
} SpotPin;

typedef struct {
  uint32_t piece;
  double y[2];   // of its ends; for a link both are on the left
  double from_x; // of its track
  bool link, bent;
} LineRun;

typedef struct {
  Scheme *s;
  Arena *arena;
  LayerCells cells;
  VEC(SpotPin) pin;
  uint32_t *left, *right; // [piece] its pins
  VEC(Ids) side;          // [2 * cell + right] pins from above
  Places places;
  uint32_t pieces;                 // the pull of the first piece; the others follow
  int64_t *y;                      // [variable]
  double *x, *width;               // [layer]
  double *loops, *labels, *tracks; // [layer] widths in the channel after it
} Placer;

static const LayerCell *cell_of(const Placer *p, uint32_t pin) {
  return &p->cells.cell.at[p->pin.at[pin].cell];
}
static double under(const Placer *p, uint32_t pin) {
  return p->s->arrow.at[p->pin.at[pin].arrow].under;
}
// Heights that are looked for: the upper side of each cell and the lower one, pins, and the places
// between blocks. An arrow that passes is its own pin.
static uint32_t low_var(const Placer *p, uint32_t cell) { return p->cells.cell.n + cell; }
static uint32_t pin_var(const Placer *p, uint32_t pin) {
  return cell_of(p, pin)->spot == NO_SPOT ? p->pin.at[pin].cell : 2 * p->cells.cell.n + pin;
}
static uint32_t block_var(const Placer *p, uint32_t b) {
  return 2 * p->cells.cell.n + p->pin.n + b;
}
static double pin_y(const Placer *p, uint32_t pin) { return (double)p->y[pin_var(p, pin)]; }
static bool is_link(const Placer *p, const GraphPiece *e) {
  return p->cells.cell.at[e->a].layer == p->cells.cell.at[e->b].layer;
}

// -- pins -----------------------------------------------------------------------------------------
static uint32_t pin_add(Placer *p, uint32_t cell, uint32_t arrow, bool right, double key) {
  Ids *side = &p->side.at[2 * cell + right];
  vec_push(p->arena, &p->pin, (SpotPin){cell, arrow, right, key});
  uint32_t own = p->pin.n - 1;
  vec_push(p->arena, side, own);
  for (uint32_t k = side->n - 1; k && p->pin.at[side->at[k - 1]].key > key; k--)
    side->at[k] = side->at[k - 1], side->at[k - 1] = own;
  return own;
}

// A passing arrow has one pin for both sides.
static uint32_t pin_at(Placer *p, uint32_t cell, uint32_t arrow, bool right, double key) {
  const Ids *side = &p->side.at[2 * cell];
  if (p->cells.cell.at[cell].spot != NO_SPOT) return pin_add(p, cell, arrow, right, key);
  return side->n ? side->at[0] : pin_add(p, cell, arrow, false, key);
}

static void find_pins(Placer *p) {
  uint32_t n = p->cells.piece.n;
  p->left = NEW_ARRAY(p->arena, uint32_t, n + 1);
  p->right = NEW_ARRAY(p->arena, uint32_t, n + 1);
  for (uint32_t i = 0; i < 2 * p->cells.cell.n; i++) vec_push(p->arena, &p->side, (Ids){0});
  for (uint32_t i = 0; i < n; i++) {
    const GraphPiece *e = &p->cells.piece.at[i];
    const LayerCell *a = &p->cells.cell.at[e->a], *b = &p->cells.cell.at[e->b];
    bool link = is_link(p, e), down = a->rank <= b->rank;
    p->left[i] = pin_at(p, e->a, e->arrow, true, link ? down ? 1e6 : -1 : b->rank);
    p->right[i] =
        pin_at(p, e->b, e->arrow, link, link ? e->a == e->b || !down ? 1e6 : -1 : a->rank);
  }
}

// -- heights --------------------------------------------------------------------------------------
static void gap(Placer *p, uint32_t above, uint32_t below, double least) {
  vec_push(p->arena, &p->places.gap, (Gap){above, below, (int64_t)ceil(least)});
}

static void pull(Placer *p, uint32_t a, uint32_t b, double offset, int64_t weight) {
  vec_push(p->arena, &p->places.pull, (Pull){a, b, (int64_t)offset, weight});
}

static void pins_in_spot(Placer *p, uint32_t cell) {
  const Spot *s = &p->s->spot.at[p->cells.cell.at[cell].spot];
  for (uint32_t right = 0; right < 2; right++) {
    const Ids *side = &p->side.at[2 * cell + right];
    for (uint32_t i = 0; i < side->n; i++) {
      uint32_t v = pin_var(p, side->at[i]);
      gap(p, cell, v, PAD);
      gap(p, v, low_var(p, cell), PAD + under(p, side->at[i]));
      if (i) gap(p, pin_var(p, side->at[i - 1]), v, LINE + under(p, side->at[i - 1]));
      pull(p, cell, v, floor(s->height / 2), 1);
    }
  }
}

// At least as high as it must be, and only for good reasons higher.
static void cell_height(Placer *p, uint32_t cell) {
  const LayerCell *c = &p->cells.cell.at[cell];
  double least =
      ceil(c->spot == NO_SPOT ? p->s->arrow.at[c->arrow].under : p->s->spot.at[c->spot].height);
  gap(p, cell, low_var(p, cell), least);
  pull(p, cell, low_var(p, cell), least, c->spot == NO_SPOT ? 999 : GROWTH);
}

// Labels stand only where arrows end, so lines that pass may be nearer to what is above and below.
static double apart(const Placer *p, uint32_t above, uint32_t below) {
  const LayerCell *a = &p->cells.cell.at[above], *b = &p->cells.cell.at[below];
  bool passes[2] = {a->spot == NO_SPOT, b->spot == NO_SPOT};
  double sheets = !passes[0] && p->s->spot.at[a->spot].index ? 6 : 0;
  return sheets + (passes[0] && passes[1] ? LANES : passes[0] || passes[1] ? BESIDE : SEP);
}

static void cells_apart(Placer *p) {
  for (uint32_t l = 0; l < p->cells.layers; l++) {
    const Ids *at = &p->cells.layer.at[l];
    for (uint32_t i = 0; i < at->n; i++) {
      uint32_t b = p->cells.cell.at[at->at[i]].block;
      if (i) gap(p, low_var(p, at->at[i - 1]), at->at[i], apart(p, at->at[i - 1], at->at[i]));
      if (b) gap(p, block_var(p, b - 1), at->at[i], BLOCKS);
      gap(p, low_var(p, at->at[i]), block_var(p, b), 0);
    }
  }
}

static int64_t weight_of(const Placer *p, const GraphPiece *e) {
  int passes = (p->cells.cell.at[e->a].spot == NO_SPOT) + (p->cells.cell.at[e->b].spot == NO_SPOT);
  return passes == 2 ? 96 : passes ? 24 : 12;
}

static void find_forces(Placer *p) {
  uint32_t blocks = 1;
  for (uint32_t i = 0; i < p->cells.cell.n; i++) {
    if (p->cells.cell.at[i].block >= blocks) blocks = p->cells.cell.at[i].block + 1;
    cell_height(p, i);
    if (p->cells.cell.at[i].spot != NO_SPOT) pins_in_spot(p, i);
  }
  cells_apart(p);
  p->pieces = p->places.pull.n;
  for (uint32_t i = 0; i < p->cells.piece.n; i++)
    pull(p, pin_var(p, p->left[i]), pin_var(p, p->right[i]), 0,
         weight_of(p, &p->cells.piece.at[i]));
  p->places.n = block_var(p, blocks);
  p->y = NEW_ARRAY(p->arena, int64_t, p->places.n + 1);
}

// -- channels -------------------------------------------------------------------------------------
typedef VEC(LineRun) Runs;

static Runs runs_of(const Placer *p, uint32_t layer) {
  Runs runs = {0};
  for (uint32_t i = 0; i < p->cells.piece.n; i++) {
    const GraphPiece *e = &p->cells.piece.at[i];
    if (p->cells.cell.at[e->a].layer != layer) continue;
    LineRun r = {
        .piece = i, .y = {pin_y(p, p->left[i]), pin_y(p, p->right[i])}, .link = is_link(p, e)};
    r.bent = r.link || fabs(r.y[0] - r.y[1]) > 0.5;
    if (r.bent) vec_push(p->arena, &runs, r);
  }
  return runs;
}

static double reach(const Placer *p, const LineRun *r) {
  return p->s->arrow.at[p->cells.piece.at[r->piece].arrow].under;
}

// Must the track of a stand before that of b?
static bool is_before(const Placer *p, const LineRun *a, const LineRun *b) {
  double near = NEAR + fmax(reach(p, a), reach(p, b));
  if (a->piece == b->piece || b->link) return false;
  return fabs(a->y[0] - b->y[1]) < near || (a->link && fabs(a->y[1] - b->y[1]) < near);
}

static bool is_between(double y, const LineRun *r) {
  return y > fmin(r->y[0], r->y[1]) && y < fmax(r->y[0], r->y[1]);
}

// How often two runs cross if the track of a stands before that of b.
static uint32_t crossings(const LineRun *a, const LineRun *b) {
  return (uint32_t)is_between(b->y[0], a) + (b->link && is_between(b->y[1], a)) +
         (!a->link && is_between(a->y[1], b));
}

// One that nothing left must stand before; UINT32_MAX: they go round.
static uint32_t next_run(const Placer *p, const Runs *r, const bool *done) {
  for (uint32_t i = 0; i < r->n; i++) {
    bool free = !done[i];
    for (uint32_t k = 0; k < r->n && free; k++)
      free = done[k] || !is_before(p, &r->at[k], &r->at[i]);
    if (free) return i;
  }
  return UINT32_MAX;
}

static void fewer_crossings(const Placer *p, Runs *r) {
  for (uint32_t round = 0; round < r->n; round++)
    for (uint32_t i = 0; i + 1 < r->n; i++) {
      LineRun a = r->at[i], b = r->at[i + 1];
      if (is_before(p, &a, &b) || crossings(&b, &a) >= crossings(&a, &b)) continue;
      r->at[i] = b, r->at[i + 1] = a;
    }
}

// Puts runs in the order of their tracks. False: they go round; *stuck is one of those.
static bool sort_runs(const Placer *p, Runs *r, uint32_t *stuck) {
  bool *done = NEW_ARRAY(p->arena, bool, r->n + 1);
  Runs sorted = {0};
  while (sorted.n < r->n) {
    uint32_t i = next_run(p, r, done);
    if (i == UINT32_MAX) {
      for (i = 0; done[i];) i++;
      *stuck = i;
      return false;
    }
    done[i] = true;
    vec_push(p->arena, &sorted, r->at[i]);
  }
  fewer_crossings(p, &sorted);
  *r = sorted;
  return true;
}

// A line that is nearly straight should be straight: it pulls harder.
static bool straighten(Placer *p) {
  uint32_t rounds = p->cells.piece.n < MANY ? HARDER : 1;
  bool good = places_solve(p->arena, &p->places, p->y, NULL), again = true;
  for (uint32_t round = 0; good && again && round < rounds; round++) {
    again = false;
    for (uint32_t i = 0; i < p->cells.piece.n; i++) {
      double off = fabs(pin_y(p, p->left[i]) - pin_y(p, p->right[i]));
      if (is_link(p, &p->cells.piece.at[i]) || off < 0.5 || off > JOG) continue;
      Pull *q = &p->places.pull.at[p->pieces + i];
      if (q->weight > HARDEST) continue;
      q->weight *= 6;
      again = true;
    }
    good = !again || places_solve(p->arena, &p->places, p->y, NULL);
  }
  return good;
}

// Moves an end of a run and that of another, which it is near to, away from each other.
static bool part_pins(Placer *p, const Runs *r, uint32_t stuck) {
  for (uint32_t i = 0; i < r->n; i++) {
    const LineRun *a = &r->at[(stuck + i) % r->n];
    for (uint32_t k = 0; k < r->n; k++) {
      const LineRun *b = &r->at[k];
      if (!is_before(p, a, b) || a->link) continue;
      uint32_t pin[2] = {pin_var(p, p->left[a->piece]), pin_var(p, p->right[b->piece])};
      double least = NEAR + fmax(reach(p, a), reach(p, b)) + 1;
      bool down = a->y[0] <= b->y[1];
      for (uint32_t turn = 0; turn < 2; turn++, down = !down) {
        gap(p, pin[!down], pin[down], least);
        if (straighten(p)) return true;
        p->places.gap.n--;
      }
    }
  }
  return false;
}

static bool find_heights(Placer *p) {
  if (!straighten(p)) return false;
  for (uint32_t round = 0; round < AGAIN; round++) {
    bool good = true;
    for (uint32_t l = 0; l < p->cells.layers && good; l++) {
      Runs r = runs_of(p, l);
      uint32_t stuck = 0;
      good = sort_runs(p, &r, &stuck);
      if (!good && !part_pins(p, &r, stuck)) return false;
    }
    if (good) return true;
  }
  return false;
}

// -- across ---------------------------------------------------------------------------------------
static void channel_widths(Placer *p) {
  for (uint32_t i = 0; i < p->s->spot.n; i++) {
    const Spot *s = &p->s->spot.at[i];
    p->width[s->layer] = fmax(p->width[s->layer], s->width);
  }
  for (uint32_t i = 0; i < p->cells.piece.n; i++) {
    const GraphPiece *e = &p->cells.piece.at[i];
    const LayerCell *a = &p->cells.cell.at[e->a], *b = &p->cells.cell.at[e->b];
    double label = p->s->arrow.at[e->arrow].label;
    double *room = is_link(p, e) ? &p->loops[a->layer] : &p->labels[a->layer];
    if (b->spot != NO_SPOT && label > 0) *room = fmax(*room, label + 12);
  }
  for (uint32_t l = 0; l < p->cells.layers; l++) {
    Runs r = runs_of(p, l);
    for (uint32_t i = 0; i < r.n; i++) p->tracks[l] += TRACK + 2 * reach(p, &r.at[i]);
  }
}

static double track_zone(const Placer *p, uint32_t l) {
  return p->x[l] + p->width[l] + STUB + p->loops[l];
}
static double label_zone(const Placer *p, uint32_t l) {
  return track_zone(p, l) + p->tracks[l] + 4;
}

static void find_columns(Placer *p) {
  double x = 0, right = 0;
  for (uint32_t l = 0; l < p->cells.layers; l++) {
    p->x[l] = x;
    x = label_zone(p, l) + p->labels[l] + STUB;
    right =
        l + 1 == p->cells.layers ? p->tracks[l] + p->loops[l] > 0 ? x : p->x[l] + p->width[l] : 0;
  }
  p->s->width = right;
  double low = INFINITY, high = 0;
  for (uint32_t i = 0; i < p->cells.cell.n; i++) {
    low = fmin(low, (double)p->y[i]);
    high = fmax(high, (double)p->y[low_var(p, i)]);
  }
  for (uint32_t i = 0; i < p->places.n; i++) p->y[i] -= (int64_t)low;
  p->s->height = high - low;
  for (uint32_t i = 0; i < p->s->spot.n; i++) {
    Spot *s = &p->s->spot.at[i];
    s->x = round(p->x[s->layer] + (p->width[s->layer] - s->width) / 2);
    s->y = (double)p->y[i];
    s->height = (double)(p->y[low_var(p, i)] - p->y[i]);
  }
}

// -- paths ----------------------------------------------------------------------------------------
static void knee(Placer *p, Arrow *w, double x, double y) {
  vec_push(p->arena, &w->path, (Knee){x, y});
}

static void find_tracks(Placer *p, double *track) {
  for (uint32_t l = 0; l < p->cells.layers; l++) {
    Runs r = runs_of(p, l);
    uint32_t stuck;
    double x = track_zone(p, l);
    sort_runs(p, &r, &stuck);
    for (uint32_t i = 0; i < r.n; i++) {
      track[r.at[i].piece] = x + TRACK / 2.0 + reach(p, &r.at[i]);
      x += TRACK + 2 * reach(p, &r.at[i]);
    }
  }
}

static void piece_path(Placer *p, uint32_t i, double track) {
  const GraphPiece *e = &p->cells.piece.at[i];
  Arrow *w = &p->s->arrow.at[e->arrow];
  const LayerCell *a = &p->cells.cell.at[e->a], *b = &p->cells.cell.at[e->b];
  double from = pin_y(p, p->left[i]), to = pin_y(p, p->right[i]);
  bool link = is_link(p, e);
  if (a->spot != NO_SPOT) knee(p, w, p->s->spot.at[a->spot].x + p->s->spot.at[a->spot].width, from);
  if (link || fabs(from - to) > 0.5) knee(p, w, track, from), knee(p, w, track, to);
  if (b->spot == NO_SPOT) return;
  const Spot *end = &p->s->spot.at[b->spot];
  knee(p, w, link ? end->x + end->width : end->x, to);
  w->label_y = link ? from : to;
  w->label_x = link ? p->x[a->layer] + p->width[a->layer] + 4 + p->loops[a->layer] / 2
                    : label_zone(p, a->layer) + p->labels[a->layer] / 2;
}

static void mark_back(Scheme *s) {
  for (uint32_t i = 0; i < s->arrow.n; i++) {
    Arrow *w = &s->arrow.at[i];
    w->back = s->spot.at[w->to].layer < s->spot.at[w->from].layer;
  }
}

bool scheme_place(Scheme *s) {
  Placer p = {.s = s, .arena = s->arena, .cells = {.arena = s->arena}};
  if (!s->spot.n) return true;
  cells_of(&p.cells, s);
  find_pins(&p);
  find_forces(&p);
  if (!find_heights(&p)) return false;
  double **list[] = {&p.x, &p.width, &p.loops, &p.labels, &p.tracks};
  for (uint32_t i = 0; i < COUNT(list); i++)
    *list[i] = NEW_ARRAY(s->arena, double, p.cells.layers + 1);
  channel_widths(&p);
  find_columns(&p);
  double *track = NEW_ARRAY(s->arena, double, p.cells.piece.n + 1);
  find_tracks(&p, track);
  for (uint32_t i = 0; i < p.cells.piece.n; i++) piece_path(&p, i, track[i]);
  mark_back(s);
  return true;
}
