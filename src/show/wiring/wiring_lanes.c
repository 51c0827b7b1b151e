// Arrows between rows of modes.
//
// An arrow from one row to another leaves its row at the right, runs back in a lane between rows, and
// enters the other at its left. Beside the rows it goes up or down on a track of its own: shorter
// ones are nearer to the rows, so that none crosses another that starts and ends in the same order.
#include "show/wiring/wiring_own.h"

#include <math.h>
#include <stdlib.h>

// The row below which its lane is: what goes up does so from a lane above its row.
static uint32_t gap_of(const RowLink *k) { return k->from < k->to ? k->from : k->from - 1; }

uint32_t lanes_below(const RowLinks *all, uint32_t row) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < all->n; i++) n += gap_of(&all->at[i]) == row;
  return n;
}

// Those that go down are above those that go up; of each, the lowest source is first.
static bool lane_before(const RowLink *a, const RowLink *b) {
  bool up = a->from > a->to;
  if (up != (b->from > b->to)) return !up;
  return a->source != b->source ? a->source > b->source : a->cable < b->cable;
}

static void place_lanes(RowLinks *all, const double *row_end) {
  for (uint32_t i = 0; i < all->n; i++) {
    RowLink *k = &all->at[i];
    uint32_t before = 0;
    for (uint32_t j = 0; j < all->n; j++)
      before += gap_of(&all->at[j]) == gap_of(k) && lane_before(&all->at[j], k);
    k->lane = row_end[gap_of(k)] + LANE * (before + 0.5);
  }
}

// -- tracks ---------------------------------------------------------------------------------------
typedef struct {
  double low, high;
  RowLink *of;
} TrackSpan;

static int by_span(const void *a, const void *b) {
  const TrackSpan *x = a, *y = b;
  double p = x->high - x->low, q = y->high - y->low;
  if (p != q) return p < q ? -1 : 1;
  return x->of->cable < y->of->cable ? -1 : x->of->cable > y->of->cable;
}

// Outside of all shorter ones beside it
static void place_tracks(Arena *a, RowLinks *all, bool right) {
  TrackSpan *span = NEW_ARRAY(a, TrackSpan, all->n + 1);
  for (uint32_t i = 0; i < all->n; i++) {
    RowLink *k = &all->at[i];
    double y = right ? k->source : k->target;
    span[i] = (TrackSpan){fmin(y, k->lane), fmax(y, k->lane), k};
  }
  qsort(span, all->n, sizeof *span, by_span);
  for (uint32_t i = 0; i < all->n; i++) {
    uint32_t track = 0;
    for (uint32_t j = 0; j < i; j++)
      if (span[j].low < span[i].high + LANE && span[i].low < span[j].high + LANE &&
          span[j].of->track[right] >= track)
        track = span[j].of->track[right] + 1;
    span[i].of->track[right] = track;
  }
}

void links_place(Arena *a, RowLinks *all, const double *row_end) {
  place_lanes(all, row_end);
  for (int right = 0; right < 2; right++) place_tracks(a, all, right);
}

Cable link_cable(Arena *a, const RowLink *k, const Cable *like, const double x[2],
                 const double side[2]) {
  double right = side[1] + LANE * k->track[1], left = side[0] - LANE * k->track[0];
  const Knee way[] = {{x[0], k->source}, {right, k->source}, {right, k->lane},
                      {left, k->lane},   {left, k->target},  {x[1], k->target}};
  Cable cable = *like;
  cable.way = (CableWay){0};
  for (uint32_t i = 0; i < COUNT(way); i++) vec_push(a, &cable.way.spot, way[i]);
  vec_push(a, &cable.way.line, ((CableLine){0, COUNT(way)}));
  vec_push(a, &cable.way.back, ((Knee){(left + right) / 2, k->lane}));
  return cable;
}
