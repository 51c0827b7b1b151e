// Events that follow each other ever faster, and where rounding takes over.
//
// A ball that comes to rest on a table that moves: from some height on, what is between them is rounding,
// and the condition comes true and false by chance. Each such event would throw the ball into the table,
// where it falls on for ever, since the condition does not come true again. So how far a guard is from a
// smooth curve is found once gaps have become very short; such a guard has to fall below that before its event
// can happen again, and where it rises instead, the run stops.
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

// The largest second difference of the guard over a few neighbours of this moment; of the others too.
static bool find_noise(Solver *s, uint32_t i, double *out) {
  enum { POINTS = 9, APART = 8 };
  double g[POINTS], by = APART * DBL_EPSILON * fabs(s->t);
  *out = 0;
  for (int k = 0; k < POINTS; k++) {
    if (!s->guard.at(s->guard.context, s->t - k * by, s->guard.row[1])) return false;
    g[k] = s->guard.row[1][i];
  }
  for (int k = 1; k + 1 < POINTS; k++) *out = fmax(*out, fabs(g[k - 1] - 2 * g[k] + g[k + 1]));
  return true;
}

bool zeno_happens(Solver *s, uint32_t i) {
  const double safe = 4, least = 1e-300; // it is looked after, also where nothing is to be seen
  EventPace *p = &s->pace[i];
  double gap = s->t - s->event_last[i], noise = 0;
  if (!(gap > 0) || !isfinite(gap)) return true;
  if (gap < p->gap && isfinite(p->gap)) {
    if (!p->shrinks) p->first = p->gap, p->since = s->event_last[i];
    p->shrinks++;
  } else {
    p->shrinks = 0;
  }
  p->gap = gap;
  if (is_fast(p) && !find_noise(s, i, &noise)) return false;
  noise = fmax(fmax(noise, fabs(s->guard_now[i])), least);
  s->guard.noise[i] = is_fast(p) ? safe * noise : 0;
  return true;
}

bool zeno_is_lost(const Solver *s, uint32_t i) {
  double noise = s->guard.noise[i];
  bool up = !s->armed[i] && s->guard_now[i] > noise && s->t > s->event_last[i];
  return noise > 0 && is_zeno(&s->pace[i]) && (up || s->guard.lost == i + 1);
}
