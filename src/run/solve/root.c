// The first time at which one of several functions of time rises through 0.
//
// In: functions that are evaluated together, and an interval. Out: the first time at which one of
// them is above 0 after it was at or below, to the precision of a double, and all values there.
//
// The interval is sampled at quarters, and at quarters of its halves where some function is not
// smooth, that is, where interpolation does not predict further samples. A function that oscillates
// too fast to be resolved ends the walk. A function that rises and falls between two samples is
// found at the vertex of a parabola through three. Then one bracket is narrowed for all functions
// together: the next point is the earliest of their secants, weighted as in the Illinois method
// when the same end moves twice, and the midpoint if that does not halve the bracket in three
// steps. The result is the upper end of the bracket, where the function is above 0, so a later
// evaluation agrees that the event has happened. If bounds of the functions over an interval are
// known, intervals in which a function may cross 0 beyond its samples are halved.
#include "run/solve/solve_own.h"

#include <float.h>
#include <math.h>

enum { SPARE = 5 }; // the last row is a spare; the others are samples

static bool crossed(const Root *r, const double *low, const double *high, uint32_t i) {
  return r->live[i] && !(low[i] > 0) && high[i] > 0;
}

static bool any_crossed(const Root *r, const double *low, const double *high) {
  uint8_t any = 0; // without a branch: usually there are many functions, and none has crossed
  for (uint32_t i = 0; i < r->n; i++) any |= (uint8_t)(r->live[i] & !(low[i] > 0) & (high[i] > 0));
  return any;
}

// The earliest of the secants' roots, as a part of the bracket.
static double earliest(const Root *r, const double *low, const double *high, double weight) {
  double best = 1;
  for (uint32_t i = 0; i < r->n; i++)
    if (crossed(r, low, high, i)) {
      double part = weight * low[i] / (weight * low[i] - high[i]);
      if (part < best) best = part;
    }
  return best;
}

// Narrows a bracket (a, b] with values in row[low] and row[high]; row[spare] is free. Afterwards
// the values at the result are in row[0].
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

// The polynomial of degree 4 through five equidistant values, at the probe.
static double interpolated_at_probe(const double x[5]) {
  double sum = 0, q = 4 * CURVE_PROBE;
  for (int k = 0; k < 5; k++) {
    double part = x[k];
    for (int i = 0; i < 5; i++)
      if (i != k) part *= (q - i) / (k - i);
    sum += part;
  }
  return sum;
}

static const double curve_least = 1e-3, curve_rounding = 1e-8;

// (Two measures: each alone misses odd functions, or functions of a certain period.)
double interpolation_error(const double x[6]) {
  double off = fabs(x[0] - 4 * x[1] + 6 * x[2] - 4 * x[3] + x[4]);
  return fmax(off, fabs(x[5] - interpolated_at_probe(x)));
}

// May it come to 0 between the samples? Rounding errors are far smaller than the limit.
static bool may_cross(const Root *r, uint32_t i) {
  double x[6], low = r->row[0][i], high = low;
  for (int k = 0; k < 6; k++) {
    x[k] = r->row[k][i];
    low = fmin(low, x[k]), high = fmax(high, x[k]);
  }
  return interpolation_error(x) > curve_least * fmax(high - low, fmax(fabs(low), fabs(high)));
}

static bool some_may_cross(void *root) {
  const Root *r = root;
  for (uint32_t i = 0; i < r->n; i++)
    if (may_cross(r, i)) return true;
  return false;
}

// Are all functions smooth: is interpolation_error small relative to the variation? Written so that it
// vectorises.
static bool all_smooth(const Root *r) {
  double at[5];
  const double *const *x = (const double *const *)r->row;
  bool smooth = true;
  for (int k = 0; k < 5; k++)
    at[k] = interpolated_at_probe((double[5]){k == 0, k == 1, k == 2, k == 3, k == 4});
  for (uint32_t i = 0; i < r->n; i++) {
    double low = x[0][i], high = x[0][i];
    for (int k = 1; k < 6; k++) {
      low = x[k][i] < low ? x[k][i] : low;
      high = x[k][i] > high ? x[k][i] : high;
    }
    double off = fabs(x[0][i] - 4 * x[1][i] + 6 * x[2][i] - 4 * x[3][i] + x[4][i]);
    double there =
        at[0] * x[0][i] + at[1] * x[1][i] + at[2] * x[2][i] + at[3] * x[3][i] + at[4] * x[4][i];
    double second = fabs(x[5][i] - there), size = fabs(low) > fabs(high) ? fabs(low) : fabs(high);
    off = second > off ? second : off;
    smooth &= !(off > curve_least * (high - low)) | !(off > curve_rounding * size);
  }
  return smooth;
}

bool parabola_vertex(const double t[3], const double x[3], double *top, double *height) {
  double left = (x[1] - x[0]) / (t[1] - t[0]), right = (x[2] - x[1]) / (t[2] - t[1]);
  double bend = (right - left) / (t[2] - t[0]);
  double slope = left + bend * (t[1] - t[0]); // at t[1]
  *top = t[1] - slope / (2 * bend);
  *height = x[1] - slope * slope / (4 * bend);
  return bend < 0 && *top > t[0] && *top < t[2] && *top != t[1];
}

// Looks for vertices above 0; three samples are in row[k], row[k + 1], row[k + 2], without a
// crossing.
static RootEnd find_vertices(Root *r, const double *t, int k, double *when) {
  double top, height;
  for (uint32_t i = 0; i < r->n; i++) {
    double x[3] = {r->row[k][i], r->row[k + 1][i], r->row[k + 2][i]};
    if (!r->live[i] || x[0] > 0 || x[1] > 0 || x[2] > 0) continue;
    bool bends = 4 * x[1] > 3 * x[0] + x[2] && 4 * x[1] > x[0] + 3 * x[2]; // concave
    if (!bends || !parabola_vertex(t, x, &top, &height) || !(height > 0)) continue;
    if (!r->at(r->context, top, r->row[SPARE])) return ROOT_LOST;
    int low = top < t[1] ? k : k + 1, free = low == k ? k + 1 : k;
    if (any_crossed(r, r->row[low], r->row[SPARE]))
      return narrow(r, t[low - k], top, low, SPARE, free, when);
  }
  return ROOT_NONE;
}

static void arm_beyond_errors(Root *r, const double *g) {
  for (uint32_t i = 0; i < r->n; i++) {
    if (g[i] > r->barely[i]) r->barely[i] = 0;
    if (!(g[i] > -fmax(r->noise[i], r->barely[i])))
      r->live[i] = 1;
    else if (r->falls[i] && !r->live[i] && g[i] > r->noise[i] && !r->lost)
      r->lost = i + 1;
  }
}

static void arm_fallen(Root *r, const double *g) {
  if (r->noisy || r->uncertain) {
    arm_beyond_errors(r, g);
    return;
  }
  for (uint32_t i = 0; i < r->n; i++)
    if (!(g[i] > 0)) r->live[i] = 1;
}

static void start_at_row(Root *r, int k, double t) {
  r->begin = t;
  double *row = r->row[0];
  r->row[0] = r->row[k], r->row[k] = row;
}

// Finds crossings between five known samples.
static RootEnd walk_quarters(Root *r, const double *t, double *when) {
  for (int k = 1; k < 5; k++) {
    if (any_crossed(r, r->row[k - 1], r->row[k]))
      return narrow(r, t[k - 1], t[k], k - 1, k, SPARE, when);
    arm_fallen(r, r->row[k]);
    RootEnd end = k > 1 ? find_vertices(r, t + k - 2, k - 2, when) : ROOT_NONE;
    if (end != ROOT_NONE) return end;
  }
  start_at_row(r, 4, t[4]);
  return ROOT_NONE;
}

static const double one_moment = 1e-12; // relative to the time: at a smaller distance, all bends
                                        // are rounding

// Decides if neither half is smooth: the function oscillates, unless it is as rough at scales too
// short for oscillation. Several lengths are tried, because at the shortest a slow function is only
// rounding noise, and several places, because near 0 values are rounded, too.
static HalvesEnd oscillates_or_rough(const Halves *h, double from, double to) {
  const double part[] = {0x1p-10, 0x1p-20, 0x1p-20, 0x1p-20, 0};
  enum { PARTS = sizeof part / sizeof *part };
  bool whole, smooth = false;
  if (!h->sample(h->context, from, to, &whole)) return HALVES_LOST;
  if (h->matters && !h->matters(h->context)) return HALVES_WHOLE;
  for (int k = 0; k < PARTS && !smooth; k++) {
    double wide = fmax(part[k] * (to - from), 4 * one_moment * fabs(to));
    double at = from + (to - from) * k / PARTS;
    if (wide < (to - from) / 8 && !h->sample(h->context, at, at + wide, &smooth))
      return HALVES_LOST;
  }
  if (smooth && *h->oscillations) return --*h->oscillations, HALVES_SPLIT;
  if (!h->sample(h->context, from, to, &whole)) return HALVES_LOST;
  return smooth ? HALVES_SPENT : HALVES_ROUGH;
}

HalvesEnd halves_or_whole(const Halves *h, double from, double to, int deep) {
  enum { FREE = 6, DEEPEST = 40 };
  bool smooth, left, right;
  double middle = from + (to - from) / 2;
  if (!h->sample(h->context, from, to, &smooth)) return HALVES_LOST;
  if (smooth || deep == DEEPEST || to - from <= one_moment * fabs(to)) return HALVES_WHOLE;
  if (deep < FREE) return HALVES_SPLIT;
  if (!h->sample(h->context, middle, to, &right) || !h->sample(h->context, from, middle, &left))
    return HALVES_LOST;
  return left || right ? HALVES_SPLIT : oscillates_or_rough(h, from, to);
}

// The times of the samples of an interval.
static void quarters(double from, double to, double t[5]) {
  t[0] = from, t[4] = to;
  for (int k = 1; k < 5; k++) {
    if (k < 4) t[k] = from + (to - from) * k / 4;
    if (!(t[k] > t[k - 1])) t[k] = t[k - 1]; // no double lies between
  }
}

static bool sample(void *root, double from, double to, bool *smooth) {
  Root *r = root;
  double t[5];
  if (from != r->begin && !r->at(r->context, from, r->row[0])) return false;
  r->begin = from;
  quarters(from, to, t);
  for (int k = 1; k < 5; k++)
    if (!r->at(r->context, t[k], r->row[k])) return false;
  if (!r->at(r->context, from + CURVE_PROBE * (to - from), r->row[SPARE])) return false;
  *smooth = all_smooth(r);
  return true;
}

// The first function that oscillates or is rough: its index + 1.
static uint32_t first_unsmooth(const Root *r) {
  uint32_t i = 0;
  while (i + 1 < r->n && !may_cross(r, i)) i++;
  return i + 1;
}

// -- rounding -------------------------------------------------------------------------------------
// The sign of a function beside an interval in which it is at most `most`: by the first value that
// is much larger, or that stays the same (a boolean condition does not grow). 0: none is inside the
// walk.
static int sign_beside(Root *r, uint32_t i, const double piece[2], bool behind, double most) {
  enum { FARTHER = 4, MUCH = 8 };
  double before = NAN;
  for (double by = piece[1] - piece[0];; by *= FARTHER) {
    double t = behind ? piece[1] + by : piece[0] - by;
    if (!(t > r->first && t < r->last) || !r->at(r->context, t, r->beside)) return 0;
    double x = r->beside[i];
    if (fabs(x) > MUCH * most || x == before) return x > 0 ? 1 : -1;
    before = x;
  }
}

// Notes the first function that is rough in an interval. Not one that is negative on one side of it
// and positive on the other: it certainly crosses 0 there.
static void note_rough(Root *r, double from, double to) {
  const double piece[2] = {from, to};
  for (uint32_t i = 0; i < r->n && !r->rough; i++) {
    double most = 0;
    if (!may_cross(r, i)) continue;
    for (int k = 0; k < 6; k++) most = fmax(most, fabs(r->row[k][i]));
    if (sign_beside(r, i, piece, false, most) * sign_beside(r, i, piece, true, most) < 0) continue;
    r->rough = i + 1, r->rough_from = from;
  }
}

static RootEnd fail_oscillation(Root *r, double from) {
  r->oscillating = first_unsmooth(r), r->begin = from;
  return ROOT_LOST;
}

// -- between the samples: bounds ------------------------------------------------------------------
// By its bounds, may a function cross 0 in an interval without its samples showing it? Unknown
// bounds count as no.
static bool may_hide(const Root *r, uint32_t i, double *const *value, int n) {
  double least = r->bound[0][i], most = r->bound[1][i], low = value[0][i], high = low;
  if (!(most > 0 && least <= 0)) return false;
  for (int k = 1; k < n; k++) low = fmin(low, value[k][i]), high = fmax(high, value[k][i]);
  return most > high + (high - low) || least < low - (high - low);
}

static bool any_may_hide(const Root *r, double *const *value, int n) {
  for (uint32_t i = 0; i < r->n; i++)
    if (may_hide(r, i, value, n)) return true;
  return false;
}

static bool sample_interval(Root *r, const double t[3]) {
  const double ends[2] = {t[0], t[2]};
  for (int k = 0; k < 3; k++)
    if (!r->at(r->context, t[k], r->side[k])) return false;
  arm_fallen(r, r->side[0]);
  return r->between(r->context, ends, r->bound);
}

// Narrows a crossing between the ends and the middle of the interval sampled last.
static RootEnd narrow_sides(Root *r, const double t[3], double *when) {
  for (int k = 0; k < 2; k++) {
    arm_fallen(r, r->side[k]);
    if (!any_crossed(r, r->side[k], r->side[k + 1])) continue;
    memcpy(r->row[0], r->side[k], r->n * sizeof(double));
    memcpy(r->row[1], r->side[k + 1], r->n * sizeof(double));
    return narrow(r, t[k], t[k + 1], 0, 1, 2, when);
  }
  return ROOT_NONE;
}

// Halves an interval in which a crossing may be hidden, until it is found or excluded, or the looks
// are spent.
static RootEnd search_halves(Root *r, double from, double to, uint32_t *looks, double *when) {
  double middle = from + (to - from) / 2;
  const double t[3] = {from, middle, to};
  if (!sample_interval(r, t)) return ROOT_LOST;
  *looks -= *looks > 0;
  bool spent = !*looks || !(middle > from && middle < to);
  if (spent || !any_may_hide(r, r->side, 3)) return narrow_sides(r, t, when);
  RootEnd end = search_halves(r, from, middle, looks, when);
  return end == ROOT_NONE ? search_halves(r, middle, to, looks, when) : end;
}

// Searches for crossings that the samples do not show.
static RootEnd find_hidden(Root *r, double from, double to, double *when) {
  const double t[2] = {from, to};
  uint32_t most = 400,
           // Enough for ten pulses with forty halvings each.
      looks = most < r->looks ? most : r->looks;
  if (!r->between || !looks) return ROOT_NONE;
  if (!r->between(r->context, t, r->bound)) return ROOT_LOST;
  if (!any_may_hide(r, r->row, 6)) return ROOT_NONE;
  r->looks -= looks;
  RootEnd end = search_halves(r, from, to, &looks, when);
  r->looks += looks;
  return end;
}

// An interval whose samples are known, and smooth.
static RootEnd walk_whole(Root *r, double from, double to, double *when) {
  double t[5];
  RootEnd end = find_hidden(r, from, to, when);
  quarters(from, to, t);
  return end == ROOT_NONE ? walk_quarters(r, t, when) : end;
}

static RootEnd walk(Root *r, double from, double to, int deep, double *when) {
  double middle = from + (to - from) / 2;
  bool halves = to - from > r->longest;
  const Halves own = {r, sample, some_may_cross, r->oscillations};
  switch (halves ? HALVES_SPLIT : halves_or_whole(&own, from, to, deep)) {
  case HALVES_LOST: return ROOT_LOST;
  case HALVES_SPENT: return fail_oscillation(r, from);
  case HALVES_ROUGH: note_rough(r, from, to); return walk_whole(r, from, to, when);
  case HALVES_WHOLE: return walk_whole(r, from, to, when);
  case HALVES_SPLIT: break;
  }
  deep += !halves;
  RootEnd end = walk(r, from, middle, deep, when);
  return end == ROOT_NONE ? walk(r, middle, to, deep, when) : end;
}

// Are all functions smooth, and none near 0 at the start relative to its variation?
static bool starts_away_from_zero(const Root *r) {
  const double near = 1.0 / 16;
  const double *const *x = (const double *const *)r->row;
  bool apart = true;
  for (uint32_t i = 0; i < r->n; i++) {
    double low = x[0][i], high = x[0][i];
    for (int k = 1; k < 6; k++) {
      low = x[k][i] < low ? x[k][i] : low;
      high = x[k][i] > high ? x[k][i] : high;
    }
    apart &= fabs(x[0][i]) > near * (high - low);
  }
  return apart;
}

RootEnd root_walk(Root *r, double from, double to, bool close, double *when) {
  enum { CLOSE = 12 }; // samples at 8^-12 … 8^-1 of the interval
  arm_fallen(r, r->row[0]);
  double start = r->begin = r->first = from;
  r->last = to;
  if (close && to - from <= r->longest) {
    bool smooth;
    if (!sample(r, from, to, &smooth)) return ROOT_LOST;
    if (smooth && starts_away_from_zero(r)) return walk_whole(r, from, to, when);
  }
  for (int j = close ? -CLOSE : 0; j < 0; j++) {
    double t = start + ldexp(1, 3 * j) * (to - start);
    if (!(t > from) || t >= to) continue;
    if (!r->at(r->context, t, r->row[1])) return ROOT_LOST;
    if (any_crossed(r, r->row[0], r->row[1])) return narrow(r, from, t, 0, 1, SPARE, when);
    arm_fallen(r, r->row[1]);
    start_at_row(r, 1, t);
    from = t;
  }
  return walk(r, from, to, 0, when);
}
