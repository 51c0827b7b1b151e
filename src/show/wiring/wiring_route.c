// The lines of cables. Places and tracks come in; lines, dots and the places of states go out.
//
// A cable that goes to an earlier layer runs in a lane below all that it passes, or above if that
// is much shorter; the shorter of two lanes lies inside. States of the wiring itself stand at the
// top, each above the first line that leads down from it. At last the pieces of a cable, level and
// upright, are put together: where three meet is a dot, between dots and ends are lines.
#include "show/wiring/wiring_own.h"

#include <math.h>
#include <stdlib.h>

enum { HEAD = 22, ROW = 20, FOOT = 12, BELOW = 40, JOG = 10, SIDE = 10 };

// -- lanes ----------------------------------------------------------------------------------------
typedef struct {
  uint32_t low, high; // layers: it runs on from low to high
} Course;

static Course course_of(const Panel *p, const Cable *k) {
  Course c = {UINT32_MAX, 0};
  for (uint32_t i = 0; i < k->end.n; i++) {
    uint32_t layer = p->unit.at[k->end.at[i].unit].layer;
    if (k->end.at[i].right && layer < c.low) c.low = layer;
    if (!k->end.at[i].right && layer > c.high) c.high = layer;
  }
  return c;
}

static void find_backward(Board *b) {
  Course *course = NEW_ARRAY(b->arena, Course, b->p->cable.n + 1);
  for (uint32_t i = 0; i < b->p->cable.n; i++) course[i] = course_of(b->p, &b->p->cable.at[i]);
  for (int mark = 0; mark < 2; mark++)
    for (uint32_t c = 0; c + 1 < b->layers; c++)
      for (uint32_t i = 0; i < b->channel[c].trunk.n; i++) {
        Trunk *t = &b->channel[c].trunk.at[i];
        const Course *k = &course[t->cable];
        Lane *lane = &b->lane[t->cable];
        bool away = k->low != UINT32_MAX && !b->p->cable.at[t->cable].turned && c != k->low &&
                    (c < k->low || c >= k->high);
        if (!mark && away) *lane = (Lane){.is = true, .first = UINT32_MAX};
        if (!mark) continue;
        t->lane = lane->is && (away || c == k->low);
        if (t->lane && c < lane->first) lane->first = c;
        if (t->lane && c > lane->last) lane->last = c;
      }
}

// How far the ends of a cable are from what its lane would pass below, and above
static void choose_side(Board *b, uint32_t cable, const double *top, const double *bottom) {
  Lane *lane = &b->lane[cable];
  double low = INFINITY, high = -INFINITY, up = 0, down = 0;
  for (uint32_t l = lane->first; l <= lane->last + 1; l++)
    low = fmin(low, top[l]), high = fmax(high, bottom[l]);
  for (uint32_t i = 0; i < b->p->cable.at[cable].end.n; i++) {
    double y = end_y(b->p, &b->p->cable.at[cable].end.at[i]);
    up += y - low, down += high - y;
  }
  lane->above = up + BELOW < down;
}

typedef struct {
  uint32_t cable, length, first;
} Length;

static int by_length(const void *a, const void *b) {
  const Length *x = a, *y = b;
  if (x->length != y->length) return x->length < y->length ? -1 : 1;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return x->cable < y->cable ? -1 : x->cable > y->cable;
}

static void place_lane(Board *b, Lane *lane, double *edge) {
  double most = -INFINITY, sign = lane->above ? -1 : 1;
  for (uint32_t l = lane->first; l <= lane->last + 1; l++) most = fmax(most, sign * edge[l]);
  lane->y = sign * (most + LANE);
  for (uint32_t l = lane->first; l <= lane->last + 1; l++) edge[l] = lane->y;
  b->top = fmin(b->top, lane->y), b->bottom = fmax(b->bottom, lane->y);
}

void lanes_find(Board *b) {
  double *top = NEW_ARRAY(b->arena, double, b->layers + 1);
  double *bottom = NEW_ARRAY(b->arena, double, b->layers + 1);
  VEC(Length) all = {0};
  for (uint32_t l = 0; l <= b->layers; l++) top[l] = INFINITY, bottom[l] = -INFINITY;
  for (uint32_t i = 0; i < b->p->unit.n; i++) {
    const Unit *u = &b->p->unit.at[i];
    top[u->layer] = fmin(top[u->layer], u->y);
    bottom[u->layer] = fmax(bottom[u->layer], u->y + u->height);
  }
  memset(b->lane, 0, b->p->cable.n * sizeof *b->lane);
  find_backward(b);
  for (uint32_t i = 0; i < b->p->cable.n; i++) {
    const Lane *lane = &b->lane[i];
    if (!lane->is) continue;
    choose_side(b, i, top, bottom);
    vec_push(b->arena, &all, (Length){i, lane->last - lane->first, lane->first});
  }
  if (all.n) qsort(all.at, all.n, sizeof *all.at, by_length);
  for (uint32_t i = 0; i < all.n; i++) {
    Lane *lane = &b->lane[all.at[i].cable];
    place_lane(b, lane, lane->above ? top : bottom);
  }
}

// -- pieces ---------------------------------------------------------------------------------------
typedef struct {
  PanelSpot a, b;
} CablePiece;
typedef VEC(CablePiece) Pieces;

typedef struct {
  Board *b;
  Arena *arena;   // of what stays
  Pieces *pieces; // [cable]
  double *down;   // [dial] the height at which its line turns or arrives; NAN: it is straight
} Router;

static void piece_add(Router *r, uint32_t cable, double ax, double ay, double bx, double by) {
  if (ax == bx && ay == by) return;
  vec_push(r->b->arena, &r->pieces[cable], (CablePiece){{ax, ay}, {bx, by}});
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static void end_pieces(Router *r, const Trunk *t, const CableEnd *e, double *y, uint32_t *n) {
  y[*n] = end_y(r->b->p, e);
  piece_add(r, t->cable, end_x(r->b, e), y[*n], t->x, y[*n]);
  ++*n;
}

static void trunk_pieces(Router *r, const Trunk *t) {
  Board *b = r->b;
  uint32_t n = 0, dial = b->p->cable.at[t->cable].dial;
  double *y = NEW_ARRAY(b->arena, double, t->left.n + t->right.n + 2);
  if (!t->bent && t->left.n && t->right.n) {
    double at = end_y(b->p, &t->left.at[0]);
    piece_add(r, t->cable, end_x(b, &t->left.at[0]), at, end_x(b, &t->right.at[0]), at);
    return;
  }
  for (uint32_t i = 0; i < t->left.n; i++) end_pieces(r, t, &t->left.at[i], y, &n);
  for (uint32_t i = 0; i < t->right.n; i++) end_pieces(r, t, &t->right.at[i], y, &n);
  if (t->lane) y[n++] = b->lane[t->cable].y;
  if (dial) y[n++] = r->down[dial - 1];
  qsort(y, n, sizeof *y, by_value);
  for (uint32_t i = 0; i + 1 < n; i++) piece_add(r, t->cable, t->x, y[i], t->x, y[i + 1]);
}

// A level line through places, with an arrowhead to the left on its longest piece
static void level_pieces(Router *r, uint32_t cable, double *x, uint32_t n, double y, bool arrow) {
  double most = 0, at = 0;
  qsort(x, n, sizeof *x, by_value);
  for (uint32_t i = 0; i + 1 < n; i++) {
    piece_add(r, cable, x[i], y, x[i + 1], y);
    if (x[i + 1] - x[i] > most) most = x[i + 1] - x[i], at = (x[i] + x[i + 1]) / 2;
  }
  if (arrow && most > 24) vec_push(r->arena, &r->b->p->cable.at[cable].back, (PanelSpot){at, y});
}

static void lane_pieces(Router *r) {
  Board *b = r->b;
  VEC(double) *x = arena_alloc(b->arena, (b->p->cable.n + 1) * sizeof *x);
  for (uint32_t c = 0; c + 1 < b->layers; c++)
    for (uint32_t i = 0; i < b->channel[c].trunk.n; i++) {
      const Trunk *t = &b->channel[c].trunk.at[i];
      if (t->lane) vec_push(b->arena, &x[t->cable], t->x);
    }
  for (uint32_t k = 0; k < b->p->cable.n; k++)
    if (x[k].n) level_pieces(r, k, x[k].at, x[k].n, b->lane[k].y, true);
}

static void pass_pieces(Router *r) {
  Board *b = r->b;
  for (uint32_t i = 0; i < b->p->unit.n; i++) {
    const Unit *u = &b->p->unit.at[i];
    double x = b->x[u->layer];
    if (u->kind == UNIT_PASS)
      piece_add(r, u->in.at[0].cable - 1, x, u->y, x + b->width[u->layer], u->y);
  }
}

// -- states ---------------------------------------------------------------------------------------
typedef struct {
  uint32_t dial, cable; // cable: + 1
  double first;         // x of its first line
  VEC(double) x;
} Fall;

static int by_first(const void *a, const void *b) {
  const Fall *x = a, *y = b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return x->dial < y->dial ? -1 : x->dial > y->dial;
}

static Fall *find_falls(Board *b) {
  Fall *fall = NEW_ARRAY(b->arena, Fall, b->p->dial.n + 1);
  for (uint32_t i = 0; i < b->p->dial.n; i++) fall[i] = (Fall){.dial = i, .first = INFINITY};
  for (uint32_t c = 0; c + 1 < b->layers; c++)
    for (uint32_t i = 0; i < b->channel[c].trunk.n; i++) {
      const Trunk *t = &b->channel[c].trunk.at[i];
      uint32_t dial = b->p->cable.at[t->cable].dial;
      if (!dial) continue;
      fall[dial - 1].cable = t->cable + 1;
      fall[dial - 1].first = fmin(fall[dial - 1].first, t->x);
      vec_push(b->arena, &fall[dial - 1].x, t->x);
    }
  qsort(fall, b->p->dial.n, sizeof *fall, by_first);
  return fall;
}

// Side by side, each above its first line as far as there is room.
static void place_dials(Board *b, const Fall *fall) {
  Panel *p = b->p;
  double x = SIDE;
  for (uint32_t i = 0; i < p->dial.n; i++) {
    Dial *d = &p->dial.at[fall[i].dial];
    d->x = fmax(x, isfinite(fall[i].first) ? floor(fall[i].first - d->width / 2) : x);
    x = d->x + d->width + 10;
  }
  x = p->width - SIDE;
  for (uint32_t i = p->dial.n; i-- > 0;) {
    Dial *d = &p->dial.at[fall[i].dial];
    d->x = fmin(d->x, x - d->width);
    x = d->x - 10;
  }
}

static bool falls_straight(const Dial *d, const Fall *f) {
  return f->x.n == 1 && f->first > d->x + 6 && f->first < d->x + d->width - 6;
}

// Lines that are not straight have a lane below the row of states. What is above all is the title,
// beside the states if there is room.
static double states_row(Router *r) {
  Board *b = r->b;
  Panel *p = b->p;
  Fall *fall = find_falls(b);
  uint32_t jogs = 0;
  double y = b->top - JOG, left = INFINITY;
  place_dials(b, fall);
  for (uint32_t i = 0; i < p->dial.n; i++)
    jogs += fall[i].cable && !falls_straight(&p->dial.at[fall[i].dial], &fall[i]);
  double row = y - LANE * jogs - ROW;
  for (uint32_t i = 0; i < p->dial.n; i++) {
    Dial *d = &p->dial.at[fall[i].dial];
    double out = d->x + floor(d->width / 2);
    d->y = row, left = fmin(left, d->x);
    r->down[fall[i].dial] = row + ROW;
    if (!fall[i].cable || falls_straight(d, &fall[i])) continue;
    r->down[fall[i].dial] = y;
    vec_push(b->arena, &fall[i].x, out);
    piece_add(r, fall[i].cable - 1, out, row + ROW, out, y);
    level_pieces(r, fall[i].cable - 1, fall[i].x.at, fall[i].x.n, y, false);
    y -= LANE;
  }
  if (p->title <= 0) return row - 8;
  return left > p->title + 24 ? row - 6 : row - HEAD;
}

// -- lines ----------------------------------------------------------------------------------------
typedef struct {
  PanelSpot at;
  uint32_t n;
  uint32_t piece[4];
} Knot;

typedef struct {
  Arena *arena;
  Table *found;
  VEC(Knot) knot;
  uint32_t (*of)[2]; // [piece] its knots
} Knots;

static uint32_t knot_at(Knots *k, PanelSpot s) {
  int64_t key[2] = {llround(s.x * 16), llround(s.y * 16)};
  uint32_t at = table_get(k->found, key, sizeof key);
  if (at) return at - 1;
  vec_push(k->arena, &k->knot, (Knot){.at = s});
  table_put(k->found, key, sizeof key, k->knot.n);
  return k->knot.n - 1;
}

static void find_knots(Knots *k, const Pieces *all) {
  k->found = table_new(k->arena);
  k->of = arena_alloc(k->arena, (all->n + 1) * sizeof *k->of);
  for (uint32_t i = 0; i < all->n; i++)
    for (int e = 0; e < 2; e++) {
      uint32_t at = k->of[i][e] = knot_at(k, e ? all->at[i].b : all->at[i].a);
      Knot *knot = &k->knot.at[at];
      if (knot->n < 4) knot->piece[knot->n++] = i;
    }
}

// From a knot along a piece to the next end or dot
static void walk_line(Arena *a, const Knots *k, uint32_t from, uint32_t piece, bool *done,
                      Cable *out) {
  CableLine line = {out->spot.n, 1};
  vec_push(a, &out->spot, k->knot.at[from].at);
  while (!done[piece]) {
    done[piece] = true;
    from = k->of[piece][0] == from ? k->of[piece][1] : k->of[piece][0];
    const Knot *knot = &k->knot.at[from];
    vec_push(a, &out->spot, knot->at);
    line.n++;
    if (knot->n != 2) break;
    piece = knot->piece[0] == piece ? knot->piece[1] : knot->piece[0];
  }
  vec_push(a, &out->line, line);
}

static void walk_all(Router *r, const Knots *k, uint32_t from, bool *done, Cable *out) {
  const Knot *knot = &k->knot.at[from];
  for (uint32_t e = 0; knot->n != 2 && e < knot->n; e++)
    if (!done[knot->piece[e]]) walk_line(r->arena, k, from, knot->piece[e], done, out);
}

// Lines begin where the cable does.
static void tie_pieces(Router *r, uint32_t cable) {
  Pieces *all = &r->pieces[cable];
  Cable *out = &r->b->p->cable.at[cable];
  Knots k = {.arena = r->b->arena};
  bool *done = NEW_ARRAY(r->b->arena, bool, all->n + 1);
  find_knots(&k, all);
  for (uint32_t i = 0; i < out->end.n; i++) {
    const CableEnd *e = &out->end.at[i];
    if (!e->right || r->b->p->unit.at[e->unit].kind == UNIT_PASS) continue;
    walk_all(r, &k, knot_at(&k, (PanelSpot){end_x(r->b, e), end_y(r->b->p, e)}), done, out);
  }
  for (uint32_t i = 0; i < k.knot.n; i++) {
    if (k.knot.at[i].n > 2) vec_push(r->arena, &out->dot, k.knot.at[i].at);
    walk_all(r, &k, i, done, out);
  }
}

static void shift_down(Panel *p, double by) {
  for (uint32_t i = 0; i < p->unit.n; i++) p->unit.at[i].y += by;
  for (uint32_t i = 0; i < p->dial.n; i++) p->dial.at[i].y += by;
  for (uint32_t i = 0; i < p->cable.n; i++) {
    Cable *k = &p->cable.at[i];
    for (uint32_t j = 0; j < k->spot.n; j++) k->spot.at[j].y += by;
    for (uint32_t j = 0; j < k->dot.n; j++) k->dot.at[j].y += by;
    for (uint32_t j = 0; j < k->back.n; j++) k->back.at[j].y += by;
  }
}

void cables_route(Board *b, Arena *a) {
  Panel *p = b->p;
  Router r = {.b = b, .arena = a};
  r.pieces = NEW_ARRAY(b->arena, Pieces, p->cable.n + 1);
  r.down = NEW_ARRAY(b->arena, double, p->dial.n + 1);
  double top = p->dial.n ? states_row(&r) : b->top - (p->title > 0 ? HEAD + 4 : 8);
  for (uint32_t c = 0; c + 1 < b->layers; c++)
    for (uint32_t i = 0; i < b->channel[c].trunk.n; i++)
      trunk_pieces(&r, &b->channel[c].trunk.at[i]);
  lane_pieces(&r);
  pass_pieces(&r);
  for (uint32_t i = 0; i < p->cable.n; i++) tie_pieces(&r, i);
  shift_down(p, -top);
  p->height = b->bottom - top + FOOT;
}
