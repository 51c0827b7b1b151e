// Events that follow each other ever faster, and where rounding takes over.
//
// A ball that comes to rest on a table that moves: from some height on, what is between them is rounding,
// and the condition comes true and false by chance. Each such event would throw the ball into the table,
// where it falls on for ever, since the condition does not come true again. So how far a guard is from a
// smooth curve is found once gaps have become very short; such a guard has to fall below that before its event
// can happen again, and where it rises instead, the run stops. This is about guards that come to 0 while time
// flows: what another event lifts above 0, or what jumps there, is above 0 by what it is and not by chance.
#include "run/solve/solve_own.h"

#include <float.h>
#include <math.h>

// So that rounding may have a say.
static bool is_fast(const EventPace *p) { return p->shrinks >= 2 && p->gap < 1e-2 * p->first; }

// Not what only becomes faster and faster, as sin(t^2) does.
static bool is_zeno(const EventPace *p) {
  return (p->shrinks >= 4 && p->gap < 1e-4 * p->first) ||
         (p->shrinks >= 2 && p->gap < 1e-9 * p->first);
}

// What rounding does to a guard that is a smooth curve close before this moment.
typedef struct {
  double rough;     // the largest second difference over a few neighbours
  double way;       // how far it moves over them
  double sensitive; // and when all that it reads moves by a few digits
} GuardNoise;

// All states and the time by a few digits of each.
static bool find_sensitive(Solver *s, uint32_t i, double t, double *out) {
  const double digits = 4 * DBL_EPSILON;
  double *g = s->guard.row[1], here;
  *out = 0;
  if (!s->guard.at(s->guard.context, t, g)) return false;
  here = g[i];
  for (int side = -1; side <= 1; side += 2) {
    dense_at(&s->dense, s->n, t, s->look);
    for (uint32_t k = 0; k < s->n; k++) s->look[k] *= 1 + (k % 2 ? -side : side) * digits;
    if (!s->problem.guards(s->problem.context, t * (1 + side * digits), s->look, s->late, g))
      return solver_fail(s, "the guards cannot be computed at t = %.10g", t);
    *out = fmax(*out, fabs(g[i] - here));
  }
  return true;
}

// (Not at this moment itself, where the guard may have jumped.)
static bool find_noise(Solver *s, uint32_t i, GuardNoise *out) {
  enum { POINTS = 8, APART = 8 };
  double g[POINTS], by = APART * DBL_EPSILON * fabs(s->t), low = INFINITY, high = -INFINITY;
  *out = (GuardNoise){0};
  for (int k = 0; k < POINTS; k++) {
    if (!s->guard.at(s->guard.context, s->t - (k + 1) * by, s->guard.row[1])) return false;
    g[k] = s->guard.row[1][i];
    low = fmin(low, g[k]), high = fmax(high, g[k]);
  }
  for (int k = 1; k + 1 < POINTS; k++)
    out->rough = fmax(out->rough, fabs(g[k - 1] - 2 * g[k] + g[k + 1]));
  out->way = high - low;
  return find_sensitive(s, i, s->t - by, &out->sensitive);
}

// A guard that is a curve is hardly above 0 where it was found to pass it. What is far above, has
// jumped there: rounding had no say in it.
static bool has_jumped(const GuardNoise *n, double guard) {
  const double far = 1e4;
  return guard > far * (n->rough + n->way + n->sensitive);
}

static void note_gap(EventPace *p, double gap, double last) {
  if (gap < p->gap && isfinite(p->gap)) {
    if (!p->shrinks) p->first = p->gap, p->since = last;
    p->shrinks++;
  } else {
    p->shrinks = 0;
  }
  p->gap = gap;
}

bool zeno_happens(Solver *s, uint32_t i) {
  const double safe = 4, least = 1e-300; // it is looked after, also where nothing is to be seen
  EventPace *p = &s->pace[i];
  GuardNoise found;
  double gap = s->t - s->event_last[i];
  if (!(gap > 0) || !isfinite(gap)) return true;
  note_gap(p, gap, s->event_last[i]);
  s->guard.noise[i] = 0;
  if (!is_fast(p)) return true;
  if (!find_noise(s, i, &found)) return false;
  if (has_jumped(&found, s->guard_now[i])) return true;
  s->guard.noise[i] = safe * fmax(fmax(found.rough, fabs(s->guard_now[i])), least);
  s->guard.noisy = true;
  return true;
}

void zeno_lifted(Solver *s, uint32_t i) {
  double gap = s->t - s->event_last[i];
  s->pace[i].shrinks = 0;
  if (gap > 0 && isfinite(gap)) s->pace[i].gap = gap;
  s->guard.noise[i] = 0;
}

bool zeno_is_lost(const Solver *s, uint32_t i) {
  double noise = s->guard.noise[i];
  bool up = !s->armed[i] && s->guard_now[i] > noise && s->t > s->event_last[i];
  return noise > 0 && is_zeno(&s->pace[i]) && (up || s->guard.lost == i + 1);
}
