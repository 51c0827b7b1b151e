// Edge routing: all lines are horizontal or vertical. Places and tracks come in; lines and dots go out.
//
// A cable that goes to an earlier layer runs in a lane below all that it passes, or above if that is
// much shorter; the shorter of two lanes lies inside. Arrowheads of lanes point to the left. At last the
// segments of a cable are joined: where three meet is a dot, between dots and ends are polylines.
#include "base/table.h"
#include "show/panel/layers.h"

#include <math.h>
#include <stdlib.h>

enum { TITLE = 22, ROW = 20, BELOW = 40, JOG = 10, SIDE = 10 };

// -- lanes ----------------------------------------------------------------------------------------
static void find_backward(Layers *l) {
  for (uint32_t i = 0; i < l->cable.n; i++) l->cable.at[i].lane = false;
  for (int mark = 0; mark < 2; mark++)
    for (uint32_t c = 0; c < l->layers; c++)
      for (uint32_t i = 0; i < l->channel[c].trunk.n; i++) {
        Trunk *t = &l->channel[c].trunk.at[i];
        LayerCable *k = &l->cable.at[t->cable];
        bool away =
            k->low != UINT32_MAX && !k->turned && c != k->low && (c < k->low || c >= k->high);
        if (!mark && away) k->lane = true, k->first = UINT32_MAX, k->last = 0;
        t->lane = mark && k->lane && (away || c == k->low);
        if (t->lane && c < k->first) k->first = c;
        if (t->lane && c > k->last) k->last = c;
      }
}

// How far the ends of a cable are from what its lane would pass below, and above
static void choose_side(const Layers *l, LayerCable *k, const double *top, const double *bottom) {
  double low = INFINITY, high = -INFINITY, up = 0, down = 0;
  for (uint32_t i = k->first; i <= k->last + 1; i++)
    low = fmin(low, top[i]), high = fmax(high, bottom[i]);
  for (uint32_t i = 0; i < k->pin.n; i++) {
    double y = layers_pin_y(l, k->pin.at[i]);
    up += y - low, down += high - y;
  }
  k->above = up + BELOW < down;
}

static int by_length(const void *a, const void *b) {
  const LayerCable *x = *(LayerCable *const *)a, *y = *(LayerCable *const *)b;
  uint32_t p = x->last - x->first, q = y->last - y->first;
  if (p != q) return p < q ? -1 : 1;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return x < y ? -1 : x > y; // both point into one array
}

static void place_lane(Layers *l, LayerCable *k, double *edge) {
  double most = -INFINITY, sign = k->above ? -1 : 1;
  for (uint32_t i = k->first; i <= k->last + 1; i++) most = fmax(most, sign * edge[i]);
  k->lane_y = sign * (most + LANE);
  for (uint32_t i = k->first; i <= k->last + 1; i++) edge[i] = k->lane_y;
  l->top = fmin(l->top, k->lane_y), l->bottom = fmax(l->bottom, k->lane_y);
}

void layers_lanes(Layers *l) {
  double *top = NEW_ARRAY(l->arena, double, l->layers + 1);
  double *bottom = NEW_ARRAY(l->arena, double, l->layers + 1);
  LayerCable **all = NEW_ARRAY(l->arena, LayerCable *, l->cable.n + 1);
  uint32_t n = 0;
  for (uint32_t i = 0; i <= l->layers; i++) top[i] = INFINITY, bottom[i] = -INFINITY;
  for (uint32_t i = 0; i < l->unit.n; i++) {
    const LayerUnit *u = &l->unit.at[i];
    top[u->layer] = fmin(top[u->layer], u->y);
    bottom[u->layer] = fmax(bottom[u->layer], u->y + u->height);
    l->top = i ? fmin(l->top, u->y) : u->y;
    l->bottom = i ? fmax(l->bottom, u->y + u->height) : u->y + u->height;
  }
  find_backward(l);
  for (uint32_t i = 0; i < l->cable.n; i++)
    if (l->cable.at[i].lane) all[n++] = &l->cable.at[i];
  for (uint32_t i = 0; i < n; i++) choose_side(l, all[i], top, bottom);
  qsort(all, n, sizeof *all, by_length);
  for (uint32_t i = 0; i < n; i++) place_lane(l, all[i], all[i]->above ? top : bottom);
}

// -- pieces ---------------------------------------------------------------------------------------
typedef struct {
  Knee a, b;
} CablePiece;
typedef VEC(CablePiece) Pieces;

typedef struct {
  Layers *l;
  Pieces *pieces; // [cable]
  Values *x;      // [cable] of its upright lines, if it has a lane
} Router;

static void piece_add(Router *r, uint32_t cable, double ax, double ay, double bx, double by) {
  if (ax == bx && ay == by) return;
  vec_push(r->l->arena, &r->pieces[cable], (CablePiece){{ax, ay}, {bx, by}});
}

static double pin_x(const Layers *l, uint32_t pin) {
  const LayerPin *p = &l->pin.at[pin];
  const LayerUnit *u = &l->unit.at[p->unit];
  if (u->kind == LAYER_DUMMY) return l->x[u->layer] + (p->right ? l->wide[u->layer] : 0);
  return u->x + (p->right ? u->right : u->left);
}

static void trunk_pieces(Router *r, const Trunk *t) {
  const Layers *l = r->l;
  const LayerCable *c = &l->cable.at[t->cable];
  const Ids *side = t->side;
  uint32_t n = 0;
  double *y = NEW_ARRAY(l->arena, double, side[0].n + side[1].n + 2);
  if (!t->bent && side[0].n && side[1].n) {
    double at = layers_pin_y(l, side[0].at[0]);
    piece_add(r, t->cable, pin_x(l, side[0].at[0]), at, pin_x(l, side[1].at[0]), at);
    return;
  }
  for (int right = 0; right < 2; right++)
    for (uint32_t i = 0; i < side[right].n; i++) {
      double at = y[n++] = layers_pin_y(l, side[right].at[i]);
      piece_add(r, t->cable, pin_x(l, side[right].at[i]), at, t->x, at);
    }
  if (t->lane) y[n++] = c->lane_y;
  qsort(y, n, sizeof *y, layers_by_value);
  for (uint32_t i = 0; i + 1 < n; i++) piece_add(r, t->cable, t->x, y[i], t->x, y[i + 1]);
}

// A level line through the upright ones, with an arrowhead to the left on its longest piece
static void level_pieces(Router *r, uint32_t cable, double y) {
  double most = 0, at = 0, *x = r->x[cable].at;
  qsort(x, r->x[cable].n, sizeof *x, layers_by_value);
  for (uint32_t i = 0; i + 1 < r->x[cable].n; i++) {
    piece_add(r, cable, x[i], y, x[i + 1], y);
    if (x[i + 1] - x[i] > most) most = x[i + 1] - x[i], at = (x[i] + x[i + 1]) / 2;
  }
  if (most > 24) vec_push(r->l->out, &r->l->cable.at[cable].way.back, (Knee){at, y});
}

static void dummy_pieces(Router *r) {
  const Layers *l = r->l;
  for (uint32_t i = 0; i < l->unit.n; i++) {
    const LayerUnit *u = &l->unit.at[i];
    double x = l->x[u->layer];
    if (u->kind == LAYER_DUMMY)
      piece_add(r, l->pin.at[u->side[0].at[0]].cable, x, u->y, x + l->wide[u->layer], u->y);
  }
}

// -- lines ----------------------------------------------------------------------------------------
typedef struct {
  Knee at;
  uint32_t n;
  uint32_t piece[4];
} Knot;

typedef struct {
  Arena *arena;
  Table *found;
  VEC(Knot) knot;
  uint32_t (*of)[2]; // [piece] its end knots
} Knots;

static uint32_t knot_at(Knots *k, Knee s) {
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

static bool is_straight(const Knee *a, const Knee *b, const Knee *c) {
  return (a->x == b->x && b->x == c->x) || (a->y == b->y && b->y == c->y);
}

// Follows pieces from a knot to the next end or branching point
static void walk_line(Arena *a, const Knots *k, uint32_t from, uint32_t piece, bool *done,
                      CableWay *out) {
  CableLine line = {out->spot.n, 1};
  vec_push(a, &out->spot, k->knot.at[from].at);
  while (!done[piece]) {
    done[piece] = true;
    from = k->of[piece][0] == from ? k->of[piece][1] : k->of[piece][0];
    const Knot *knot = &k->knot.at[from];
    Knee *last = &out->spot.at[out->spot.n - 1];
    if (line.n > 1 && is_straight(last - 1, last, &knot->at))
      *last = knot->at;
    else
      vec_push(a, &out->spot, knot->at), line.n++;
    if (knot->n != 2) break;
    piece = knot->piece[0] == piece ? knot->piece[1] : knot->piece[0];
  }
  vec_push(a, &out->line, line);
}

static void walk_all(Router *r, const Knots *k, uint32_t from, bool *done, CableWay *out) {
  const Knot *knot = &k->knot.at[from];
  for (uint32_t e = 0; knot->n != 2 && e < knot->n; e++)
    if (!done[knot->piece[e]]) walk_line(r->l->out, k, from, knot->piece[e], done, out);
}

// Extends pieces to where the cable starts.
static void tie_pieces(Router *r, uint32_t cable) {
  const Layers *l = r->l;
  Pieces *all = &r->pieces[cable];
  LayerCable *c = &l->cable.at[cable];
  Knots k = {.arena = l->arena};
  bool *done = NEW_ARRAY(l->arena, bool, all->n + 1);
  find_knots(&k, all);
  for (uint32_t i = 0; i < c->pin.n; i++) {
    const LayerPin *p = &l->pin.at[c->pin.at[i]];
    if (!p->right || l->unit.at[p->unit].kind == LAYER_DUMMY) continue;
    Knee at = {pin_x(l, c->pin.at[i]), layers_pin_y(l, c->pin.at[i])};
    walk_all(r, &k, knot_at(&k, at), done, &c->way);
  }
  for (uint32_t i = 0; i < k.knot.n; i++) {
    if (k.knot.at[i].n > 2) vec_push(l->out, &c->way.dot, k.knot.at[i].at);
    walk_all(r, &k, i, done, &c->way);
  }
}

// -- the whole ------------------------------------------------------------------------------------
static void place_label(const Layers *l, LayerCable *c) {
  uint32_t end = c->pin.at[0];
  for (uint32_t i = 0; i < c->pin.n; i++)
    if (!l->pin.at[c->pin.at[i]].right && l->unit.at[l->pin.at[c->pin.at[i]].unit].layer == c->high)
      end = c->pin.at[i];
  const Channel *k = &l->channel[c->high ? c->high - 1 : c->low];
  c->label_y = layers_pin_y(l, end);
  c->label_x = c->high ? k->x + k->width - l->rules->margin - k->after / 2
                       : k->x + (l->rules->margin + k->before) / 2;
}

static void shift_all(Layers *l, double by) {
  for (uint32_t i = 0; i < l->unit.n; i++) l->unit.at[i].y += by;
  for (uint32_t i = 0; i < l->cable.n; i++) {
    CableWay *w = &l->cable.at[i].way;
    l->cable.at[i].label_y += by;
    for (uint32_t j = 0; j < w->spot.n; j++) w->spot.at[j].y += by;
    for (uint32_t j = 0; j < w->dot.n; j++) w->dot.at[j].y += by;
    for (uint32_t j = 0; j < w->back.n; j++) w->back.at[j].y += by;
  }
}

void layers_route(Layers *l) {
  Router r = {.l = l};
  r.pieces = NEW_ARRAY(l->arena, Pieces, l->cable.n + 1);
  r.x = NEW_ARRAY(l->arena, Values, l->cable.n + 1);
  for (uint32_t c = 0; c < l->layers; c++)
    for (uint32_t i = 0; i < l->channel[c].trunk.n; i++) {
      const Trunk *t = &l->channel[c].trunk.at[i];
      if (t->lane) vec_push(l->arena, &r.x[t->cable], t->x);
    }
  double top = l->top - (l->title > 0 ? TITLE + 4 : l->rules->over);
  for (uint32_t c = 0; c < l->layers; c++)
    for (uint32_t i = 0; i < l->channel[c].trunk.n; i++)
      trunk_pieces(&r, &l->channel[c].trunk.at[i]);
  dummy_pieces(&r);
  for (uint32_t i = 0; i < l->cable.n; i++) {
    if (l->cable.at[i].lane) level_pieces(&r, i, l->cable.at[i].lane_y);
    tie_pieces(&r, i);
    if (l->cable.at[i].label > 0) place_label(l, &l->cable.at[i]);
  }
  shift_all(l, -top);
  l->height = l->bottom - top + l->rules->under;
}
