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

static Dense *kept(const History *y, uint64_t number) { return &y->ring[number % y->cap]; }

// The stored step that holds time u.
static const Dense *find(History *y, uint64_t *cursor, double u, double slack, Side side) {
  uint64_t last = y->head + y->n - 1, c = *cursor;
  if (c < y->head) c = y->head;
  if (c > last) c = last;
  if (side == SIDE_LEFT) {
    while (c > y->head && u <= kept(y, c)->from + slack) c--;
    while (c < last && u > kept(y, c + 1)->from + slack) c++;
  } else {
    while (c < last && u >= kept(y, c + 1)->from - slack) c++;
    while (c > y->head && u < kept(y, c)->from - slack) c--;
  }
  *cursor = c;
  return kept(y, c);
}

void late_at(Solver *s, double t, Side side) {
  History *y = s->history;
  double slack = near(t) + near(y->start);
  if (t > s->t && t <= s->t + slack) side = SIDE_RIGHT; // the right limit, after the jumps at s->t
  for (uint32_t i = 0; i < s->problem.late; i++) {
    double u = t - s->problem.lag[i];
    bool before = side == SIDE_LEFT ? u <= y->start + slack : u < y->start - slack;
    s->late[i] = before || y->n == 0
                     ? y->first[i]
                     : dense_one(find(y, &y->cursor[i], u, slack, side), s->problem.late, i, u);
  }
}

// Doubles the ring; the numbers of steps do not change.
static void grow(Solver *s) {
  History *y = s->history;
  uint32_t cap = y->cap ? 2 * y->cap : 8;
  size_t row = 5 * (size_t)s->problem.late;
  Dense *ring = NEW_ARRAY(s->arena, Dense, cap);
  double *part = NEW_ARRAY(s->arena, double, cap *row);
  for (uint32_t i = 0; i < cap; i++) ring[i].part = part + i * row;
  for (uint64_t i = y->head; i < y->head + y->n; i++) {
    const Dense *old = kept(y, i);
    Dense *to = &ring[i % cap];
    to->from = old->from, to->h = old->h;
    memcpy(to->part, old->part, row * sizeof(double));
  }
  y->ring = ring, y->cap = cap;
}

static bool values_at(Solver *s, double t, Side side, double *value) {
  dense_at(&s->dense, s->n, t, s->look);
  late_at(s, t, side);
  return s->problem.lates(s->problem.context, t, s->look, s->late, value) ||
         solver_fail(s, "a delayed value cannot be computed at t = %.10g", t);
}

// Takes five samples; *tame: the polynomial through them predicts a sixth.
static bool sample(void *solver, double from, double to, bool *tame) {
  const double coarse = 100; // times the allowed error of a step
  Solver *s = solver;
  History *y = s->history;
  uint32_t m = s->problem.late;
  double h = to - from, probe = from + CURVE_PROBE * h;
  for (uint32_t j = 0; j < 5; j++) {
    double t = j == 4 ? to : from + h * j / 4;
    if (!values_at(s, t, t > s->t ? SIDE_LEFT : SIDE_RIGHT, y->five + j * (size_t)m)) return false;
  }
  if (!values_at(s, probe, SIDE_LEFT, y->sixth)) return false;
  dense_five(&y->trial, m, from, h, y->five);
  *tame = true;
  for (uint32_t i = 0; i < m; i++) {
    double off = fabs(dense_one(&y->trial, m, i, probe) - y->sixth[i]);
    *tame &= !(off > coarse * solver_allowed(s, fabs(y->sixth[i])));
  }
  return true;
}

static bool record_part(Solver *s, double from, double to, int deep) {
  History *y = s->history;
  double middle = from + (to - from) / 2;
  switch (halves_or_whole(&(Halves){s, sample, NULL, &s->swings}, from, to, deep)) {
  case HALVES_LOST: return false;
  case HALVES_SPENT: return solver_swings(s, "a delayed value", from);
  case HALVES_SPLIT:
    return record_part(s, from, middle, deep + 1) && record_part(s, middle, to, deep + 1);
  case HALVES_ROUGH:
  case HALVES_WHOLE: break;
  }
  if (y->n == y->cap) grow(s);
  dense_five(kept(y, y->head + y->n), s->problem.late, from, to - from, y->five);
  y->n++;
  return true;
}

bool late_record(Solver *s, double to) {
  History *y = s->history;
  double oldest = s->t - y->longest - near(s->t);
  while (y->n > 1 && kept(y, y->head + 1)->from < oldest) y->head++, y->n--;
  return record_part(s, s->t, to, 0);
}

// Keeps breaking points sorted, the next one last, without duplicates.
static void add_kink(Solver *s, double t, uint32_t order) {
  History *y = s->history;
  uint32_t i = y->kink.n;
  while (i > 0 && y->kink.at[i - 1].t < t - near(t)) i--;
  if (i > 0 && y->kink.at[i - 1].t <= t + near(t)) {
    Kink *b = &y->kink.at[i - 1];
    if (order < b->order) b->order = order;
    return;
  }
  vec_push(s->arena, &y->kink, (Kink){0});
  memmove(y->kink.at + i + 1, y->kink.at + i, (y->kink.n - 1 - i) * sizeof(Kink));
  y->kink.at[i] = (Kink){t, order};
}

static void add_kinks(Solver *s, double t, uint32_t order) {
  History *y = s->history;
  if (order <= y->smooth)
    for (uint32_t i = 0; i < y->lag.n; i++) add_kink(s, t + y->lag.at[i], order);
}

void late_jump(Solver *s) {
  if (s->history) add_kinks(s, s->t, 0);
}

bool late_passed(Solver *s) {
  History *y = s->history;
  bool passed = false;
  while (y && y->kink.n && y->kink.at[y->kink.n - 1].t <= s->t + near(s->t)) {
    Kink b = y->kink.at[--y->kink.n];
    add_kinks(s, b.t, b.order + 1);
    passed = true;
  }
  return passed;
}

double late_limit(const Solver *s, double end) {
  const History *y = s->history;
  if (!y || !y->kink.n) return end;
  double t = y->kink.at[y->kink.n - 1].t;
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
static bool first_values(Solver *s) {
  History *y = s->history;
  uint32_t m = s->problem.late;
  for (uint32_t round = 0; round < m + 1; round++) {
    memcpy(s->late, y->first, m * sizeof(double));
    if (s->problem.turn && !s->problem.turn(s->problem.context, s->t, s->x, s->late)) return false;
    if (!s->problem.lates(s->problem.context, s->t, s->x, s->late, y->first))
      return solver_fail(s, "a delayed value cannot be computed at t = %.10g", s->t);
    if (memcmp(s->late, y->first, m * sizeof(double)) == 0) break;
  }
  return true;
}

// Solves the algebraic equations and computes delayed values at the start; each may depend on the
// other.
bool late_settle(Solver *s) {
  enum { TURNS = 100 };
  uint32_t m = s->problem.late;
  double *before = NEW_ARRAY(s->arena, double, m + 1);
  for (int turn = 0; turn < TURNS; turn++) {
    if (!solver_settle(s)) return false;
    if (!m || !s->problem.constrained) return true;
    memcpy(before, s->history->first, m * sizeof(double));
    if (!first_values(s)) return false;
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
static uint32_t forgotten_after(uint32_t lags) {
  uint32_t order = 1, moments = lags;
  while (order < 6 && moments * lags <= 1000) order++, moments *= lags;
  return lags > 64 ? 0 : order;
}

bool late_begin(Solver *s) {
  uint32_t m = s->problem.late;
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
  y->smooth = forgotten_after(y->lag.n);
  if (!s->how.goes_on && !first_values(s)) return false;
  grow(s);
  add_kinks(s, s->t, 1);
  return true;
}

// A lag that was increased reads times that are no longer stored.
static void reach_back(Solver *s) {
  const History *y = s->history;
  double known = kept(y, y->head)->from, wanted = s->t - y->longest;
  if (known > y->start + near(known) && known > wanted + near(s->t))
    solver_fail(s,
                "a delay of %.10g asks at t = %.10g for what was at t = %.10g, and what was before "
                "t = %.10g is not known any more",
                y->longest, s->t, wanted, known);
}

void late_carry(Solver *s, Carry *c) {
  History *y = s->history;
  uint64_t kinks = y->kink.n, steps = y->n, row = 5 * (uint64_t)s->problem.late;
  carry_reals(c, &y->start, 1);
  carry_reals(c, y->first, s->problem.late);
  carry_counts(c, y->cursor, s->problem.late);
  carry_counts(c, &y->head, 1);
  carry_counts(c, &steps, 1);
  if (c->put) y->n = 0;
  for (uint64_t i = 0; i < steps && !c->wrong; i++) {
    if (c->put && y->n == y->cap) grow(s);
    Dense *d = kept(y, y->head + i);
    carry_reals(c, &d->from, 1);
    carry_reals(c, &d->h, 1);
    carry_reals(c, d->part, row);
    if (c->put) y->n++;
  }
  if (c->put && !c->wrong && y->n) reach_back(s);
  carry_counts(c, &kinks, 1);
  if (c->put) y->kink.n = 0;
  for (uint64_t i = 0; i < kinks && !c->wrong; i++) {
    if (c->put) vec_push(s->arena, &y->kink, (Kink){0});
    carry_reals(c, &y->kink.at[i].t, 1);
    carry_counts32(c, &y->kink.at[i].order, 1);
  }
}
