// The first place where one of several functions of time rises through 0.
//
// In: functions that are asked all at once, and an interval. Out: the first moment at which one of
// them is above 0 after it was at or below, to the last digits of a double, and their values there.
// The interval is walked in quarters; a function that rises and falls between two quarters is met
// at the top of a parabola through three of them. Then one bracket is narrowed for all functions
// together: the next point is the earliest of their secants, weighted as in the Illinois method
// when the same end moves twice, and the middle when that does not halve the bracket in three
// steps. What is found is the upper end of the bracket: there the function is above 0, so that
// what looks again sees that it has happened.
#include "run/solve/solve_own.h"

#include <float.h>
#include <math.h>

static bool crossed(const Root *r, const double *low, const double *high, uint32_t i) {
  return r->live[i] && !(low[i] > 0) && high[i] > 0;
}

static bool any_crossed(const Root *r, const double *low, const double *high) {
  for (uint32_t i = 0; i < r->n; i++)
    if (crossed(r, low, high, i)) return true;
  return false;
}

// The earliest of the secants, as a part of the bracket.
static double earliest(const Root *r, const double *low, const double *high, double weight) {
  double best = 1;
  for (uint32_t i = 0; i < r->n; i++)
    if (crossed(r, low, high, i)) {
      double part = weight * low[i] / (weight * low[i] - high[i]);
      if (part < best) best = part;
    }
  return best;
}

// From a bracket (a, b] with values in row[low] and row[high]; row[spare] is free. The values at
// the place found are in row[0] afterwards.
static RootEnd narrow(Root *r, double a, double b, int low, int high, int spare, double *when) {
  double least = DBL_EPSILON * fmax(fmax(fabs(a), fabs(b)), (b - a) / 64);
  double weight = 1, wide = b - a;
  int side = 0, slow = 0;
  while (b - a > least) {
    double t = a + (b - a) * earliest(r, r->row[low], r->row[high], weight);
    if (slow == 3) t = a + (b - a) / 2, slow = 0;
    if (t < a + least / 2) t = a + least / 2;
    if (t > b - least / 2) t = b - least / 2;
    if (!(t > a && t < b)) break;
    if (!r->at(r->context, t, r->row[spare])) return ROOT_LOST;
    bool left = any_crossed(r, r->row[low], r->row[spare]);
    int *end = left ? &high : &low, old = *end;
    *end = spare, spare = old;
    if (left)
      b = t;
    else
      a = t;
    weight = side != (left ? 1 : 2) ? 1 : left ? weight / 2 : weight * 2;
    side = left ? 1 : 2;
    if (b - a < wide / 2)
      wide = b - a, slow = 0;
    else
      slow++;
  }
  double *row = r->row[0];
  r->row[0] = r->row[high], r->row[high] = row;
  *when = b;
  return ROOT_FOUND;
}

// The top of a parabola through (t[0], a), (t[1], b), (t[2], c), where that is above 0.
static bool top_above(const double *t, double a, double b, double c, double *top) {
  if (!(b > a && b >= c && b <= 0)) return false;
  double left = (b - a) / (t[1] - t[0]), right = (c - b) / (t[2] - t[1]);
  double bend = (right - left) / (t[2] - t[0]); // below 0
  double slope = left + bend * (t[1] - t[0]);   // at t[1]
  *top = t[1] - slope / (2 * bend);
  return b - slope * slope / (4 * bend) > 0 && *top > t[0] && *top < t[2] && *top != t[1];
}

// Three samples are in row[0], row[1], row[2], and nothing has crossed in them.
static RootEnd look_at_tops(Root *r, const double *t, double *when) {
  double top;
  for (uint32_t i = 0; i < r->n; i++) {
    if (!r->live[i] || !top_above(t, r->row[0][i], r->row[1][i], r->row[2][i], &top)) continue;
    if (!r->at(r->context, top, r->row[3])) return ROOT_LOST;
    int low = top < t[1] ? 0 : 1;
    if (any_crossed(r, r->row[low], r->row[3])) return narrow(r, t[low], top, low, 3, 2, when);
  }
  return ROOT_NONE;
}

static void shift(Root *r, double *t) {
  double *row = r->row[0];
  r->row[0] = r->row[1], r->row[1] = r->row[2], r->row[2] = row;
  t[0] = t[1], t[1] = t[2];
}

static void put_live(Root *r, const double *g) {
  for (uint32_t i = 0; i < r->n; i++)
    if (!(g[i] > 0)) r->live[i] = 1;
}

RootEnd root_walk(Root *r, double from, double to, bool close, double *when) {
  enum { CLOSE = 12 }; // samples at 8^-12 … 8^-1 of the interval
  double t[3] = {from, from, from};
  int known = 1; // samples; the last one is in row[known - 1]
  put_live(r, r->row[0]);
  for (int j = close ? -CLOSE : 0; j < 4; j++) {
    double q = j < 0 ? ldexp(1, 3 * j) : (j + 1) / 4.0;
    if (known == 3) shift(r, t), known = 2;
    t[known] = j == 3 ? to : from + q * (to - from);
    if (!(t[known] > t[known - 1]) || (j < 3 && t[known] >= to)) continue;
    if (!r->at(r->context, t[known], r->row[known])) return ROOT_LOST;
    if (any_crossed(r, r->row[known - 1], r->row[known]))
      return narrow(r, t[known - 1], t[known], known - 1, known, 3, when);
    put_live(r, r->row[known]);
    RootEnd end = ++known == 3 ? look_at_tops(r, t, when) : ROOT_NONE;
    if (end != ROOT_NONE) return end;
  }
  double *row = r->row[0];
  r->row[0] = r->row[known - 1], r->row[known - 1] = row;
  return ROOT_NONE;
}
