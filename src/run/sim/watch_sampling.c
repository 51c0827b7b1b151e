// Chooses where watchers sample a step.
//
// In: a step with its dense output. Out: each watcher has seen the step in consecutive pieces. Five
// samples and a sixth decide whether a piece is smooth: whether the polynomial through five
// predicts the sixth. If not, its halves are sampled, down to one moment, so bends and jumps are
// found, and the work is proportional to what there is to find. Each watcher has its own pieces, so
// other checks do not change its result; samples are shared. Values that are not sums and products
// of states may change where the states do not, so they are always sampled densely.
//
// Two cases have no smallest piece. Rounding noise is recognised by values a few digits apart, and
// accepted. A value that bends or jumps without end is lost, and its check says so.
#include "core/diagram/interpret.h"
#include "run/sim/continuous_own.h"

#include <float.h>
#include <math.h>

enum { DEEPEST = 40, LOOKS_LEAST = 4096, NOISE_FROM = 6, NOISE_EVERY = 4 };
static const double one_moment = 1e-12; // relative to the time: at a smaller distance, all bends
                                        // are rounding

typedef struct {
  double from, to;
  int deep; // number of halvings
} Piece;

// -- opening --------------------------------------------------------------------------------------
static bool sees_one_moment(const Watcher *w) {
  return w->watch->kind == WATCH_LAST || w->watch->kind == WATCH_AT;
}

static bool only_adds(const ContinuousRun *g, const Watcher *w) {
  const Seen *seen = &w->watch->seen;
  SightList one = {.sights = &g->m->sights, .seen = &seen, .nseen = 1};
  return structure_adds(pick_seen(g->m->w, g->m->s, &one), false);
}

void watching_open(ContinuousRun *g) {
  Arena *a = g->m->arena;
  uint32_t n = g->watchers.n;
  const uint64_t work = 1 << 29, of_a_look = 64, least = 4 * LOOKS_LEAST;
  uint64_t most = work / (of_a_look + (uint64_t)g->m->numbers);
  g->looks_most = most > least ? most : least;
  g->points = NEW_ARRAY(a, double, (DEEPEST + 1) * (WATCH_POINTS + 1) * (size_t)n + 1);
  g->open = NEW_ARRAY(a, bool, (DEEPEST + 1) * (size_t)n + 1);
  g->longest = NEW_ARRAY(a, double, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    const Watcher *w = &g->watchers.at[i];
    g->open[i] = true;
    bool easy = sees_one_moment(w) || only_adds(g, w);
    g->longest[i] = easy ? INFINITY : (WATCH_POINTS - 1) * g->m->run->end / LOOKS_LEAST;
    g->watches |= !sees_one_moment(w);
  }
}

// -- sampling -------------------------------------------------------------------------------------
typedef struct { // a watcher at some time inside the last step
  ContinuousRun *g;
  uint32_t which;
} Glance;

static double value_at(void *context, double t) {
  const Glance *at = context;
  solver_at(at->g->solver, t, at->g->x);
  return follow_observe(at->g, t, at->g->x, OBSERVE_STEP) ? follow_observed(at->g, at->which) : NAN;
}

static double *points_of(const ContinuousRun *g, int deep, uint32_t k) {
  return g->points + ((size_t)deep * (WATCH_POINTS + 1) + k) * g->watchers.n;
}

static double time_of_point(const Piece *p, uint32_t k) {
  if (k == WATCH_POINTS - 1) return p->to;
  double part = k < WATCH_POINTS ? k / (WATCH_POINTS - 1.0) : CURVE_PROBE;
  return p->from + (p->to - p->from) * part;
}

// Every second sample of a half is a sample of the whole.
static bool sample(ContinuousRun *g, const Piece *p) {
  for (uint32_t k = 0; k <= WATCH_POINTS; k++) {
    if (p->deep && k % 2 == 0) continue;
    double t = time_of_point(p, k), *row = points_of(g, p->deep, k);
    solver_at(g->solver, t, g->x);
    if (!follow_observe(g, t, g->x, OBSERVE_STEP)) return false;
    for (uint32_t i = 0; i < g->watchers.n; i++) row[i] = follow_observed(g, i);
  }
  return true;
}

static void pass_samples_down(const ContinuousRun *g, int deep, uint32_t half) {
  for (uint32_t k = 0; k < WATCH_POINTS; k += 2)
    memcpy(points_of(g, deep + 1, k), points_of(g, deep, 2 * half + k / 2),
           g->watchers.n * sizeof(double));
}

// -- is a piece fine enough? ----------------------------------------------------------------------
// An estimate of the rounding error of a watched value: its change if all its inputs are changed in
// their last digits. (The inputs are changed by more, and the result is scaled, so that the change
// is not rounded away.)
static double rounding_at(ContinuousRun *g, uint32_t i, double t, double value) {
  enum { TURNS = 3, DIGITS_LOST = 64 };
  const double small = 0x1p-26;
  double most = 0;
  for (uint32_t turn = 0; turn < TURNS; turn++) {
    bool finite = false;
    solver_at(g->solver, t, g->x);
    for (uint32_t k = 0; k < g->flow->n; k++)
      g->x[k] *= 1 + (noise_uniform(turn, k, i, 0) < 0.5 ? small : -small);
    flow_set_point(g->flow, t * (turn ? 1 : 1 - small), g->x, solver_delayed_inside(g->solver, t));
    if (!sim_run_trial(g->m, g->observer, 0, &finite) || !finite) return 0;
    most = fmax(most, fabs(follow_observed(g, i) - value));
  }
  return most / small * DBL_EPSILON * DIGITS_LOST;
}

// Is the variation rounding noise? It is, if values a few digits apart differ as much as the
// samples of the piece, or if it is no more than the rounding of numbers of this size.
static bool is_rounding(ContinuousRun *g, uint32_t i, const Piece *p, const double *x) {
  enum { BESIDE = 3 };
  if (interpolation_error(x) <= rounding_at(g, i, p->from, x[0])) return true;
  double wide = p->to - p->from, apart = fmax(64 * DBL_EPSILON * fabs(p->to), 1e-8 * wide);
  double low = x[0], high = x[0];
  uint32_t rough = 0;
  for (uint32_t k = 1; k <= WATCH_POINTS; k++) low = fmin(low, x[k]), high = fmax(high, x[k]);
  for (uint32_t k = 0; k + 1 < WATCH_POINTS; k++) {
    double most = 0; // equal rounding may be a coincidence
    for (uint32_t j = 1; j <= BESIDE; j++) {
      double beside = value_at(&(Glance){g, i}, time_of_point(p, k) + j * apart);
      most = fmax(most, fabs(beside - x[k]));
    }
    rough += most > (high - low) / 16;
  }
  return rough >= 2;
}

// For integrals: the polynomial is far closer to the integral than to each value, and integrals are
// over the whole run.
static bool is_tame(const Watcher *w, const double *x) {
  const double smooth = 1e-3, tame_sum = 1e-5, rounding = 1e-8;
  bool sums = w->watch->kind == WATCH_AVERAGE;
  double low = x[0], high = x[0], off = interpolation_error(x);
  for (uint32_t k = 1; k <= WATCH_POINTS; k++) low = fmin(low, x[k]), high = fmax(high, x[k]);
  if (!(off > rounding * fmax(fabs(low), fabs(high)))) return true;
  if (!sums) return !(off > smooth * (high - low));
  return !(off > tame_sum * (fmax(high, w->high) - fmin(low, w->low)));
}

static bool is_enough(ContinuousRun *g, uint32_t i, const Piece *p, const double *x) {
  Watcher *w = &g->watchers.at[i];
  double wide = p->to - p->from;
  bool least = p->deep == DEEPEST || wide <= one_moment * fabs(p->to);
  if (sees_one_moment(w) || least) return true;
  if (wide <= g->longest[i]) {
    if (is_tame(w, x)) return true;
    bool tries = p->deep >= NOISE_FROM && (p->deep - NOISE_FROM) % NOISE_EVERY == 0;
    if (tries && is_rounding(g, i, p, x)) return true;
  }
  if (w->lost > 0) return true;
  w->looks += WATCH_POINTS + 1;
  if (w->looks > g->looks_most) w->lost = p->from > 0 ? p->from : p->to;
  return false;
}

// Watchers that have seen enough take the piece; do others remain?
static bool need_halves(ContinuousRun *g, const Piece *p) {
  uint32_t n = g->watchers.n;
  const bool *open = g->open + (size_t)p->deep * n;
  bool any = false;
  for (uint32_t i = 0; i < n; i++) {
    double x[WATCH_POINTS + 1];
    for (uint32_t k = 0; k <= WATCH_POINTS; k++) x[k] = points_of(g, p->deep, k)[i];
    bool enough = !open[i] || is_enough(g, i, p, x);
    if (open[i] && enough)
      watcher_step(&g->watchers.at[i], p->from, p->to, x, value_at, &(Glance){g, i});
    if (p->deep < DEEPEST) g->open[(size_t)(p->deep + 1) * n + i] = !enough;
    any |= !enough;
  }
  return any;
}

static bool watch_piece(ContinuousRun *g, Piece p) {
  double middle = p.from + (p.to - p.from) / 2;
  if (!sample(g, &p)) return false;
  if (!need_halves(g, &p)) return true;
  pass_samples_down(g, p.deep, 0);
  if (!watch_piece(g, (Piece){p.from, middle, p.deep + 1})) return false;
  pass_samples_down(g, p.deep, 1);
  return watch_piece(g, (Piece){middle, p.to, p.deep + 1});
}

// If only the end counts, nothing else is sampled.
static bool watch_end(ContinuousRun *g, double from, double to) {
  solver_at(g->solver, to, g->x);
  if (!follow_observe(g, to, g->x, OBSERVE_STEP)) return false;
  for (uint32_t i = 0; i < g->watchers.n; i++) g->points[i] = follow_observed(g, i);
  for (uint32_t i = 0; i < g->watchers.n; i++) {
    double end = g->points[i], x[WATCH_POINTS] = {end, end, end, end, end};
    watcher_step(&g->watchers.at[i], from, to, x, value_at, &(Glance){g, i});
  }
  return true;
}

bool watching_step(ContinuousRun *g, double from, double to) {
  if (!g->watchers.n) return true;
  return g->watches ? watch_piece(g, (Piece){from, to, 0}) : watch_end(g, from, to);
}
