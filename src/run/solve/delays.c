// Delayed values: values as they were one lag ago.
//
// Each step stores an interpolation polynomial of the delayed expressions (through five of their
// values), or several if one is not accurate, in a ring buffer as long as the longest lag.
// Expressions are stored, not states: an expression that itself reads delayed values is looked up
// once, however long the chain is. A step is never longer than the shortest lag, so all values that
// it reads are stored.
//
// If the state or its rate is discontinuous (at the start, at events), delayed values are
// discontinuous one lag later, and what depends on them is one order smoother. Steps end exactly at
// these breaking points, until the discontinuity is too smooth to affect a method of order 5. A
// breaking point has two values: a step that ends there reads the left one, a step that begins
// there the right one.
#include "run/solve/solve_own.h"

#include <float.h>
#include <math.h>

static double near(double t) { return 8 * DBL_EPSILON * fabs(t); }

static Dense *stored_step(const History *y, uint64_t number) { return &y->ring[number % y->cap]; }

// The stored step that holds time u.
static const Dense *find_step(History *y, uint64_t *cursor, double u, double slack, Side side) {
  uint64_t last = y->head + y->n - 1, c = *cursor;
  if (c < y->head) c = y->head;
  if (c > last) c = last;
  if (side == SIDE_LEFT) {
    while (c > y->head && u <= stored_step(y, c)->from + slack) c--;
    while (c < last && u > stored_step(y, c + 1)->from + slack) c++;
  } else {
    while (c < last && u >= stored_step(y, c + 1)->from - slack) c++;
    while (c > y->head && u < stored_step(y, c)->from - slack) c--;
  }
  *cursor = c;
  return stored_step(y, c);
}

void delays_read(Solver *s, double t, Side side) {
  History *y = s->history;
  double slack = near(t) + near(y->start);
  if (t > s->t && t <= s->t + slack) side = SIDE_RIGHT; // the right limit, after the jumps at s->t
  for (uint32_t i = 0; i < s->problem.delayed; i++) {
    double u = t - s->problem.lag[i];
    bool before = side == SIDE_LEFT ? u <= y->start + slack : u < y->start - slack;
    s->delayed[i] = before || y->n == 0 ? y->first[i]
                                        : dense_one(find_step(y, &y->cursor[i], u, slack, side),
                                                    s->problem.delayed, i, u);
  }
}

// A step sees its start from the right, and its end from the left if that is a breaking point. A
// break where only the accuracy of two stored steps differs is seen from the right, as the next
// step sees it: a difference of rounding must not cross a threshold twice.
void delays_read_inside(Solver *s, double t) {
  uint32_t m = s->problem.delayed;
  double *left = s->history->sixth;
  bool start = t <= s->from + near(s->from), end = t >= s->t - near(s->t);
  delays_read(s, t, start || (end && !s->broke) ? SIDE_RIGHT : SIDE_LEFT);
  if (start || !end || !s->broke) return;
  memcpy(left, s->delayed, m * sizeof *left);
  delays_read(s, t, SIDE_RIGHT);
  for (uint32_t i = 0; i < m; i++)
    if (fabs(left[i] - s->delayed[i]) > solver_allowed(s, fabs(left[i]))) s->delayed[i] = left[i];
}

// Doubles the ring; the numbers of steps do not change.
static void grow_ring(Solver *s) {
  History *y = s->history;
  uint32_t cap = y->cap ? 2 * y->cap : 8;
  size_t row = 5 * (size_t)s->problem.delayed;
  Dense *ring = NEW_ARRAY(s->arena, Dense, cap);
  double *part = NEW_ARRAY(s->arena, double, cap *row);
  for (uint32_t i = 0; i < cap; i++) ring[i].part = part + i * row;
  for (uint64_t i = y->head; i < y->head + y->n; i++) {
    const Dense *old = stored_step(y, i);
    Dense *to = &ring[i % cap];
    to->from = old->from, to->h = old->h;
    memcpy(to->part, old->part, row * sizeof(double));
  }
  y->ring = ring, y->cap = cap;
}

static bool delayed_at(Solver *s, double t, Side side, double *value) {
  dense_at(&s->dense, s->n, t, s->look);
  delays_read(s, t, side);
  return s->problem.to_delay(s->problem.context, t, s->look, s->delayed, value) ||
         solver_fail(s, "a delayed value cannot be computed at t = %.10g", t);
}

// Takes five samples; *smooth: the polynomial through them predicts a sixth.
static bool sample_delayed(void *solver, double from, double to, bool *smooth) {
  const double coarse = 100; // times the allowed error of a step
  Solver *s = solver;
  History *y = s->history;
  uint32_t m = s->problem.delayed;
  double h = to - from, probe = from + CURVE_PROBE * h;
  for (uint32_t j = 0; j < 5; j++) {
    double t = j == 4 ? to : from + h * j / 4;
    if (!delayed_at(s, t, t > s->t ? SIDE_LEFT : SIDE_RIGHT, y->five + j * (size_t)m)) return false;
  }
  if (!delayed_at(s, probe, SIDE_LEFT, y->sixth)) return false;
  dense_quartic(&y->trial, m, from, h, y->five);
  *smooth = true;
  for (uint32_t i = 0; i < m; i++) {
    double off = fabs(dense_one(&y->trial, m, i, probe) - y->sixth[i]);
    *smooth &= !(off > coarse * solver_allowed(s, fabs(y->sixth[i])));
  }
  return true;
}

static bool record_part(Solver *s, double from, double to, int deep) {
  History *y = s->history;
  double middle = from + (to - from) / 2;
  switch (halves_or_whole(&(Halves){s, sample_delayed, NULL, &s->oscillations}, from, to, deep)) {
  case HALVES_LOST: return false;
  case HALVES_SPENT: return solver_fail_oscillation(s, "a delayed value", from);
  case HALVES_SPLIT:
    return record_part(s, from, middle, deep + 1) && record_part(s, middle, to, deep + 1);
  case HALVES_ROUGH:
  case HALVES_WHOLE: break;
  }
  if (y->n == y->cap) grow_ring(s);
  dense_quartic(stored_step(y, y->head + y->n), s->problem.delayed, from, to - from, y->five);
  y->n++;
  return true;
}

bool delays_store(Solver *s, double to) {
  History *y = s->history;
  double oldest = s->t - y->longest - near(s->t);
  while (y->n > 1 && stored_step(y, y->head + 1)->from < oldest) y->head++, y->n--;
  return record_part(s, s->t, to, 0);
}

// Keeps breaking points sorted, the next one last, without duplicates.
static void add_break(Solver *s, double t, uint32_t order) {
  History *y = s->history;
  uint32_t i = y->breaks.n;
  while (i > 0 && y->breaks.at[i - 1].t < t - near(t)) i--;
  if (i > 0 && y->breaks.at[i - 1].t <= t + near(t)) {
    BreakPoint *b = &y->breaks.at[i - 1];
    if (order < b->order) b->order = order;
    return;
  }
  vec_push(s->arena, &y->breaks, (BreakPoint){0});
  memmove(y->breaks.at + i + 1, y->breaks.at + i, (y->breaks.n - 1 - i) * sizeof(BreakPoint));
  y->breaks.at[i] = (BreakPoint){t, order};
}

static void add_breaks(Solver *s, double t, uint32_t order) {
  History *y = s->history;
  if (order <= y->smooth)
    for (uint32_t i = 0; i < y->lag.n; i++) add_break(s, t + y->lag.at[i], order);
}

void delays_jump(Solver *s) {
  if (s->history) add_breaks(s, s->t, 0);
}

bool delays_at_break(Solver *s) {
  History *y = s->history;
  bool passed = false;
  while (y && y->breaks.n && y->breaks.at[y->breaks.n - 1].t <= s->t + near(s->t)) {
    BreakPoint b = y->breaks.at[--y->breaks.n];
    add_breaks(s, b.t, b.order + 1);
    passed = true;
  }
  return passed;
}

double delays_next_break(const Solver *s, double end) {
  const History *y = s->history;
  if (!y || !y->breaks.n) return end;
  double t = y->breaks.at[y->breaks.n - 1].t;
  return t < end ? t : end;
}

static void add_lag(Solver *s, double lag) {
  History *y = s->history;
  for (uint32_t i = 0; i < y->lag.n; i++)
    if (y->lag.at[i] == lag) return;
  vec_push(s->arena, &y->lag, lag);
  if (lag > y->longest) y->longest = lag;
  if (lag < y->shortest) y->shortest = lag;
}

// Delayed expressions at the start may read delayed values, which are values at the start, too:
// after as many iterations as there are expressions, every chain is settled.
static bool initial_values(Solver *s) {
  History *y = s->history;
  uint32_t m = s->problem.delayed;
  for (uint32_t round = 0; round < m + 1; round++) {
    memcpy(s->delayed, y->first, m * sizeof(double));
    if (s->problem.turn && !s->problem.turn(s->problem.context, s->t, s->x, s->delayed))
      return false;
    if (!s->problem.to_delay(s->problem.context, s->t, s->x, s->delayed, y->first))
      return solver_fail(s, "a delayed value cannot be computed at t = %.10g", s->t);
    if (memcmp(s->delayed, y->first, m * sizeof(double)) == 0) break;
  }
  return true;
}

// Solves the algebraic equations and computes delayed values at the start; each may depend on the
// other.
bool delays_settle(Solver *s) {
  enum { TURNS = 100 };
  uint32_t m = s->problem.delayed;
  double *before = NEW_ARRAY(s->arena, double, m + 1);
  for (int turn = 0; turn < TURNS; turn++) {
    if (!solver_solve_algebraic(s)) return false;
    if (!m || !s->problem.constrained) return true;
    memcpy(before, s->history->first, m * sizeof(double));
    if (!initial_values(s)) return false;
    bool same = true;
    for (uint32_t i = 0; i < m; i++) {
      double size = fmax(fabs(before[i]), 1e-3 * s->how.relative);
      same &= fabs(s->history->first[i] - before[i]) <= 1e-14 * size;
    }
    if (same) return true;
  }
  return solver_fail(s, "a delayed value cannot be computed at t = %.10g", s->t);
}

// A discontinuity is forgotten after six orders of one delay. With many delays the sums are too
// many points to meet; the remaining ones are left to step size control.
static uint32_t orders_to_track(uint32_t lags) {
  uint32_t order = 1, moments = lags;
  while (order < 6 && moments * lags <= 1000) order++, moments *= lags;
  return lags > 64 ? 0 : order;
}

bool delays_begin(Solver *s) {
  uint32_t m = s->problem.delayed;
  if (m == 0) return true;
  History *y = s->history = NEW(s->arena, History);
  y->start = s->t;
  y->shortest = INFINITY;
  y->first = NEW_ARRAY(s->arena, double, m);
  y->five = NEW_ARRAY(s->arena, double, 5 * (size_t)m);
  y->sixth = NEW_ARRAY(s->arena, double, m);
  y->trial.part = NEW_ARRAY(s->arena, double, 5 * (size_t)m);
  y->cursor = NEW_ARRAY(s->arena, uint64_t, m);
  for (uint32_t i = 0; i < m; i++) {
    double lag = s->problem.lag[i];
    if (!(lag > 0 && isfinite(lag)))
      return solver_fail(s, "found a delay of %g, wanted one above 0", lag);
    add_lag(s, lag);
  }
  y->smooth = orders_to_track(y->lag.n);
  if (!s->how.goes_on && !initial_values(s)) return false;
  grow_ring(s);
  add_breaks(s, s->t, 1);
  return true;
}

// A lag that was increased reads times that are no longer stored.
static void reach_back(Solver *s) {
  const History *y = s->history;
  double known = stored_step(y, y->head)->from, wanted = s->t - y->longest;
  if (known > y->start + near(known) && known > wanted + near(s->t))
    solver_fail(s,
                "a delay of %.10g needs, at t = %.10g, the value at t = %.10g, but values before t "
                "= %.10g are no longer stored",
                y->longest, s->t, wanted, known);
}

void delays_archive(Solver *s, Archive *c) {
  History *y = s->history;
  uint64_t kinks = y->breaks.n, steps = y->n, row = 5 * (uint64_t)s->problem.delayed;
  archive_reals(c, &y->start, 1);
  archive_reals(c, y->first, s->problem.delayed);
  archive_counts(c, y->cursor, s->problem.delayed);
  archive_counts(c, &y->head, 1);
  archive_counts(c, &steps, 1);
  if (c->reading) y->n = 0;
  for (uint64_t i = 0; i < steps && !c->wrong; i++) {
    if (c->reading && y->n == y->cap) grow_ring(s);
    Dense *d = stored_step(y, y->head + i);
    archive_reals(c, &d->from, 1);
    archive_reals(c, &d->h, 1);
    archive_reals(c, d->part, row);
    if (c->reading) y->n++;
  }
  if (c->reading && !c->wrong && y->n) reach_back(s);
  archive_counts(c, &kinks, 1);
  if (c->reading) y->breaks.n = 0;
  for (uint64_t i = 0; i < kinks && !c->wrong; i++) {
    if (c->reading) vec_push(s->arena, &y->breaks, (BreakPoint){0});
    archive_reals(c, &y->breaks.at[i].t, 1);
    archive_counts32(c, &y->breaks.at[i].order, 1);
  }
}
