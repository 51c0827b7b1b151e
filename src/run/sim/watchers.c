// Values of a whole run: extremes, averages, crossings. A piece of a step is sampled at five
// points; if the value is between two of them, it is located on the dense output.
#include "run/sim/watchers_own.h"

#include <math.h>

static bool is_watched(const Watch *x) {
  return x->kind != WATCH_FIXED && x->kind != WATCH_DIVERGENCE && x->kind != WATCH_EXPONENT;
}

void watchers_find(Sim *m, uint32_t number, Followed *f, Watchers *out) {
  const Program *p = m->p;
  f->watch = NEW_ARRAY(m->arena, double *, p->ran->check.n + 1);
  f->lost = NEW_ARRAY(m->arena, double *, p->ran->check.n + 1);
  for (uint32_t i = 0; i < p->ran->check.n; i++) {
    const Check *c = &p->ran->check.at[i];
    if (c->run != number + 1) continue;
    f->watch[i] = NEW_ARRAY(m->arena, double, c->watch.n + 1);
    f->lost[i] = NEW_ARRAY(m->arena, double, c->watch.n + 1);
    for (uint32_t k = 0; k < c->watch.n; k++)
      if (is_watched(&c->watch.at[k]))
        vec_push(m->arena, out,
                 (Watcher){.watch = &c->watch.at[k],
                           .out = &f->watch[i][k],
                           .out_lost = &f->lost[i][k],
                           .found = NAN});
  }
}

static double level_of(const Watcher *w) { return w->watch->kind == WATCH_PERIOD ? w->level : 0; }

// Counts a crossing, unless the run that this one continues has counted it.
static void count_crossing(Watcher *w, double t) {
  if (w->from > 0 && t <= w->from * (1 + 1e-12)) return;
  w->crossings++;
  if (w->watch->kind == WATCH_WHEN && (double)w->crossings == w->watch->number) w->found = t;
  if (t < w->half) return;
  if (w->cross_first > 0)
    w->periods++;
  else
    w->cross_first = t;
  w->cross_last = t;
}

// For periods, extremes of the first half do not matter.
static void update_extremes(Watcher *w, double t, double x) {
  if (w->watch->kind == WATCH_PERIOD && t < w->half) return;
  if (!w->moments) w->first = w->high = w->low = x, w->peak = t;
  if (x > w->high) w->high = x, w->peak = t;
  if (x < w->low) w->low = x;
  w->moments++;
}

void watcher_moment(Watcher *w, double t, double x) {
  bool first = !w->moments;
  if (!first && w->last <= level_of(w) && x > level_of(w)) count_crossing(w, t);
  if (!first && x != w->last) w->settled = t;
  update_extremes(w, t, x);
  if (first) w->from = t;
  double behind = t - w->watch->number; // up to rounding, it is this moment
  if (w->watch->kind == WATCH_AT && behind >= 0 && behind <= 1e-12 * t) w->found = x;
  w->last = x;
}

void watcher_tick(Watcher *w, double t, double x) {
  bool one = w->watch->kind == WATCH_LAST || (w->watch->kind == WATCH_AT && t == w->watch->number);
  if (w->watch->kind == WATCH_LAST) w->lost = 0; // only the last tick counts
  if (isnan(x) && !(w->lost < 0) && (one || w->watch->kind != WATCH_AT)) w->lost = -(t + 1);
  watcher_moment(w, t, x);
  w->area += x;
  w->to = t + 1;
}

// The maximum (sign 1) or minimum (-1) of f between a and b, by golden section.
static double golden(Glancing *f, void *context, double a, double b, double sign, double *best) {
  const double g = 0.6180339887498949;
  double c = b - g * (b - a), d = a + g * (b - a);
  double fc = sign * f(context, c), fd = sign * f(context, d);
  for (int i = 0; i < 60 && b - a > 1e-13 * (1 + fabs(a)); i++) {
    if (fc > fd) {
      b = d, d = c, fd = fc;
      c = b - g * (b - a), fc = sign * f(context, c);
    } else {
      a = c, c = d, fc = fd;
      d = a + g * (b - a), fd = sign * f(context, d);
    }
  }
  *best = sign * (fc > fd ? fc : fd);
  return fc > fd ? c : d;
}

static void refine(Watcher *w, const double *t, const double *x, double sign, Glancing *f,
                   void *context) {
  int best = 0;
  for (int k = 1; k < WATCH_POINTS; k++)
    if (sign * x[k] > sign * x[best]) best = k;
  double range = fabs(x[0] - x[WATCH_POINTS - 1]) + fabs(x[best]) * 1e-6;
  double now = sign > 0 ? w->high : w->low;
  if (sign * x[best] < sign * now - range) return;
  double low = t[best > 0 ? best - 1 : 0], high = t[best < WATCH_POINTS - 1 ? best + 1 : best],
         value;
  double at = golden(f, context, low, high, sign, &value);
  if (sign * value > sign * now) update_extremes(w, at, value);
}

// The time of an upward crossing of the level: false position with bisection, on the dense output.
static double crossing(Glancing *f, void *context, double a, double fa, double b, double fb,
                       double level) {
  int side = 0;
  fa -= level, fb -= level;
  for (int i = 0; i < 80 && b - a > 4e-16 * (fabs(a) + fabs(b)); i++) {
    double c = (fa * b - fb * a) / (fa - fb);
    if (!(c > a && c < b)) c = (a + b) / 2;
    double fc = f(context, c) - level;
    if (fc > 0) {
      b = c, fb = fc;
      if (side == 1) fa /= 2;
      side = 1;
    } else {
      a = c, fa = fc;
      if (side == -1) fb /= 2;
      side = -1;
    }
    if (fc == 0) return c;
  }
  return b;
}

static bool counts_crossings(const Watcher *w) {
  WatchKind kind = w->watch->kind;
  return kind == WATCH_PERIOD || kind == WATCH_WHEN || kind == WATCH_COUNT;
}

// Looks for a double crossing between two samples, at the vertex of a parabola through three.
static void find_double_crossing(Watcher *w, const double *t, const double *x, Glancing *f,
                                 void *context) {
  double level = level_of(w), top, height;
  if (x[0] > level || x[1] > level || x[2] > level) return;
  if (!parabola_vertex(t, x, &top, &height) || !(height > level)) return;
  int low = top < t[1] ? 0 : 1;
  double value = f(context, top);
  if (value > level) count_crossing(w, crossing(f, context, t[low], x[low], top, value, level));
}

void watcher_step(Watcher *w, double from, double to, const double *x, Glancing *f, void *context) {
  static const double boole[WATCH_POINTS] = {7 / 90.0, 32 / 90.0, 12 / 90.0, 32 / 90.0, 7 / 90.0};
  double t[WATCH_POINTS], level = level_of(w);
  for (int k = 0; k < WATCH_POINTS; k++) t[k] = from + (to - from) * k / (WATCH_POINTS - 1);
  t[WATCH_POINTS - 1] = to;
  WatchKind kind = w->watch->kind;
  for (int k = 1; k < WATCH_POINTS; k++) {
    update_extremes(w, t[k], x[k]);
    if (!counts_crossings(w)) continue;
    if (x[k - 1] <= level && x[k] > level)
      count_crossing(w, crossing(f, context, t[k - 1], x[k - 1], t[k], x[k], level));
    if (k > 1) find_double_crossing(w, t + k - 2, x + k - 2, f, context);
  }
  if (kind == WATCH_HIGHEST || kind == WATCH_PEAK || kind == WATCH_PERIOD)
    refine(w, t, x, 1, f, context);
  if (kind == WATCH_LOWEST || kind == WATCH_PERIOD) refine(w, t, x, -1, f, context);
  double a = w->watch->number;
  if (kind == WATCH_AT && from < a && a <= to) w->found = f(context, a);
  double sum = 0;
  for (int k = 0; k < WATCH_POINTS; k++) sum += boole[k] * x[k];
  w->area += sum * (to - from);
  if (w->last != x[WATCH_POINTS - 1] && kind == WATCH_SETTLED) w->settled = to;
  w->last = x[WATCH_POINTS - 1];
  w->to = to;
}

void watcher_end_of_run(Watcher *w, double end, double x) {
  if (!counts_crossings(w) || !(w->last <= level_of(w) && x > level_of(w))) return;
  count_crossing(w, end);
  w->last = x;
}

// The level is the middle of the extremes; periods count from the second half on.
void watcher_second_pass(Watcher *w, double half) {
  double level = (w->high + w->low) / 2;
  *w = (Watcher){.watch = w->watch,
                 .out = w->out,
                 .out_lost = w->out_lost,
                 .lost = w->lost,
                 .found = NAN,
                 .level = level,
                 .half = half};
}

void watcher_end(Watcher *w) {
  double value = w->found;
  switch (w->watch->kind) {
  case WATCH_LAST: value = w->last; break;
  case WATCH_HIGHEST: value = w->high; break;
  case WATCH_LOWEST: value = w->low; break;
  case WATCH_PEAK: value = w->peak; break;
  case WATCH_AVERAGE: value = w->to > w->from ? w->area / (w->to - w->from) : w->last; break;
  case WATCH_DRIFT: value = fmax(w->high - w->first, w->first - w->low); break;
  case WATCH_COUNT: value = (double)w->crossings; break;
  case WATCH_SETTLED: value = w->settled; break;
  case WATCH_PERIOD:
    value = w->periods ? (w->cross_last - w->cross_first) / (double)w->periods : NAN;
    break;
  default: break;
  }
  *w->out = value;
  *w->out_lost = w->lost;
}
