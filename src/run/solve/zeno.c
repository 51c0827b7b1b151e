// Events that turn their own guard back, and where rounding takes over.
//
// In: the state after all events of one moment. Out: for each guard near 0, whether its event has turned it back,
// and a bound of its rounding error.
//
// Example: a ball on a table. Its guard falls to 0; the event reverses the speed, and the guard is below 0 again. Rounding
// may then put the guard below 0 and above it once more, and the event would happen twice. If instead the guard falls by less
// than the rounding error before it rises, no zero crossing is found, and the ball falls through the table. The rule:
//   * a guard near 0 whose slope is negative must fall below its rounding error before its event can happen again;
//   * if it rises above the rounding error without having fallen, an event was missed, and the run stops;
//   * a guard near 0 that rises or is constant was not turned back: its condition stays true;
//   * a guard far from 0 has jumped there, and its rounding error does not matter.
#include "run/solve/solve_own.h"

#include <float.h>
#include <math.h>

// -- intervals between events ---------------------------------------------------------------------
// Are the intervals so short that rounding may matter?
static bool is_fast(const EventPace *p) { return p->shrinks >= 2 && p->gap < 1e-2 * p->first; }

// Geometric shrinking. A frequency that increases, as of sin(t^2), is no Zeno behaviour.
static bool is_zeno(const EventPace *p) {
  return (p->shrinks >= 4 && p->gap < 1e-4 * p->first) ||
         (p->shrinks >= 2 && p->gap < 1e-9 * p->first);
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

void zeno_happens(Solver *s, uint32_t i, bool crossed) {
  EventPace *p = &s->pace[i];
  double gap = s->t - s->event_last[i];
  if (!crossed) p->shrinks = 0;
  if (!(gap > 0) || !isfinite(gap)) return;
  if (crossed)
    note_gap(p, gap, s->event_last[i]);
  else
    p->gap = gap;
}

// -- rounding error of guards ---------------------------------------------------------------------
struct GuardLook { // [events] of each guard
  double *rough;   // its rounding error
  double *way;     // its change close before the moment
  double *slope, *error;
  double *one, *two;
};

static GuardLook *guard_look(Solver *s) {
  if (s->guard_look) return s->guard_look;
  GuardLook *l = s->guard_look = NEW(s->arena, GuardLook);
  double **row[] = {&l->rough, &l->way, &l->slope, &l->error, &l->one, &l->two};
  for (uint32_t i = 0; i < COUNT(row); i++)
    *row[i] = NEW_ARRAY(s->arena, double, s->problem.events);
  return l;
}

// Estimates rounding errors by the largest second difference of neighbouring values. (Not at the
// moment itself, where the guard may have jumped.)
static bool estimate_rounding(Solver *s, GuardLook *l) {
  enum { POINTS = 8, APART = 8 };
  uint32_t m = s->problem.events;
  double by = APART * DBL_EPSILON * fabs(s->t), *now = s->guard.row[1];
  for (uint32_t i = 0; i < m; i++) l->rough[i] = l->way[i] = 0, l->one[i] = l->two[i] = NAN;
  for (int k = POINTS; k > 0; k--) {
    dense_at(&s->dense, s->n, s->t - k * by, s->look);
    if (!events_guards(s, s->t - k * by, s->look, SIDE_LEFT, now)) return false;
    for (uint32_t i = 0; i < m; i++) {
      l->rough[i] = fmax(l->rough[i], fabs(now[i] - 2 * l->one[i] + l->two[i]));
      l->way[i] = fmax(l->way[i], POINTS * fabs(now[i] - l->one[i]));
      l->two[i] = l->one[i], l->one[i] = now[i];
    }
  }
  return true;
}

// Estimates rounding errors by the sensitivity of the guard to the last digits of states and time:
// neighbouring values may be rounded alike. (More digits are changed, and the result is scaled, so
// that the change is not rounded away.)
static bool estimate_sensitivity(Solver *s, GuardLook *l) {
  enum { TURNS = 4 };
  const double small = 0x1p-26, digits = 2 * DBL_EPSILON;
  double *now = s->guard.row[1];
  for (uint32_t turn = 0; turn < TURNS; turn++) {
    for (uint32_t k = 0; k < s->n; k++) {
      bool up = (k + 1) * 2654435761u >> (7 + turn) & 1;
      s->look[k] = s->x[k] * (1 + (up ? small : -small));
    }
    double t = s->t * (1 + (turn % 2 ? small : -small));
    if (!s->problem.guards(s->problem.context, t, s->look, s->delayed, now))
      return solver_fail(s, "the guards cannot be computed at t = %.10g", s->t);
    for (uint32_t i = 0; i < s->problem.events; i++)
      l->rough[i] = fmax(l->rough[i], fabs(now[i] - s->guard_now[i]) * (digits / small));
  }
  return true;
}

// -- slopes of guards -----------------------------------------------------------------------------
static bool guards_along(Solver *s, double by, double *g) {
  for (uint32_t i = 0; i < s->n; i++) s->look[i] = s->x[i] + by * s->rate[i];
  return events_guards(s, s->t + by, s->look, SIDE_RIGHT, g);
}

// The slopes of guards along the line given by the rates, to both sides, so that curvature cancels.
// From near to far, since rounding matters less at a distance, as long as the results agree with
// those nearer.
static bool find_slopes(Solver *s, GuardLook *l) {
  enum { LENGTHS = 7, WIDER = 32 };
  uint32_t m = s->problem.events;
  double by = fmin(s->h > 0 ? s->h : 1e-3, s->how.largest) / 8;
  for (int k = 1; k < LENGTHS; k++) by /= WIDER;
  for (uint32_t i = 0; i < m; i++) l->slope[i] = 0, l->error[i] = INFINITY, l->two[i] = 0;
  if (s->problem.constrained) return true; // algebraic variables do not follow that line
  if (!solver_rates(s, s->t, s->x, SIDE_RIGHT, s->rate)) return false;
  for (int k = 0; k < LENGTHS; k++, by *= WIDER) {
    double *ahead = s->guard.row[1], *behind = s->guard.row[2];
    if (!guards_along(s, by, ahead) || !guards_along(s, -by, behind)) return false;
    for (uint32_t i = 0; i < m; i++) {
      double slope = (ahead[i] - behind[i]) / (2 * by), noise = 4 * l->rough[i] / by;
      double error = noise + (k ? fabs(slope - l->one[i]) : 0);
      bool fits = l->two[i] == k && (!k || fabs(slope - l->slope[i]) <= l->error[i] + noise);
      l->one[i] = slope, l->two[i] = k + fits;
      if (fits && error < l->error[i]) l->slope[i] = slope, l->error[i] = error;
    }
  }
  return true;
}

// -- arming ---------------------------------------------------------------------------------------
// May the guard be at 0? Its event happened at this moment and is still true, or it fell to 0.
static bool may_be_near(const Solver *s, uint32_t i) {
  const double down = 1e-9;
  return s->event_rounds[i] && (!s->armed[i] || s->guard_now[i] > -down);
}

// If the slope is lost in rounding, the decision of the previous event is kept.
static void decide_falls(Solver *s, const GuardLook *l, uint32_t i, bool fell) {
  const double safe = 4, far = 1e4, least = 1e-300;
  double g = s->guard_now[i], slope = l->slope[i], error = 4 * l->error[i];
  double moves = DBL_EPSILON * fabs(s->t * slope), noise = safe * (l->rough[i] + moves);
  bool falls = slope < -error || (fell && slope <= error), fast = is_fast(&s->pace[i]);
  if (s->armed[i] && (g < -noise || !falls)) return;
  if (g > least + far * (l->rough[i] + l->way[i] + 64 * moves) || (!falls && !fast)) return;
  if (falls) s->armed[i] = 0;
  s->guard.falls[i] = falls || is_zeno(&s->pace[i]);
  s->guard.noise[i] = noise + safe * fmax(fabs(g), least);
  s->guard.noisy = true;
}

// -- errors of the states -------------------------------------------------------------------------
// How far a part of the error that a step may have moves each guard.
static bool estimate_error(Solver *s, double part, double *moved) {
  enum { TURNS = 2 };
  double *now = s->guard.row[1];
  memset(moved, 0, s->problem.events * sizeof *moved);
  for (uint32_t turn = 0; turn < TURNS; turn++) {
    for (uint32_t k = 0; k < s->n; k++) {
      bool up = (k + 1) * 2654435761u >> (7 + turn) & 1;
      double error = part * solver_allowed(s, fabs(s->x[k]));
      s->look[k] = s->x[k] + (up ? error : -error);
    }
    if (!events_guards(s, s->t, s->look, SIDE_RIGHT, now)) return false;
    for (uint32_t i = 0; i < s->problem.events; i++)
      moved[i] = fmax(moved[i], fabs(now[i] - s->guard_now[i]));
  }
  return true;
}

// A guard that was 0 and does not rise yet, as a state that begins to move where a rate bends, is above
// 0 by less than the error of a step: its dense output may go below 0 once more, and the event would
// happen twice. (A guard that jumps is moved as far by a small error as by a large one.)
static bool note_barely_risen(Solver *s, GuardLook *l) {
  const double part = 1.0 / 16, safe = 100; // dense output is not as exact as its ends
  if (!estimate_error(s, 1, l->one) || !estimate_error(s, part, l->two)) return false;
  for (uint32_t i = 0; i < s->problem.events; i++) {
    double error = safe * l->one[i], g = s->guard_now[i];
    bool moves = l->two[i] <= 2 * part * l->one[i];
    bool rises = l->slope[i] > 4 * l->error[i];
    bool up = s->event_rounds[i] && !s->armed[i] && !s->guard.falls[i] && !rises;
    if (!up || !moves || !(g > 0 && g <= error)) continue;
    s->guard.barely[i] = error;
    s->guard.uncertain = true;
  }
  return true;
}

bool zeno_settled(Solver *s) {
  GuardLook *l = guard_look(s);
  bool near = false;
  for (uint32_t i = 0; i < s->problem.events; i++) near |= may_be_near(s, i);
  near &= !s->stepper->given;
  if (near && !(estimate_rounding(s, l) && estimate_sensitivity(s, l) && find_slopes(s, l)))
    return false;
  for (uint32_t i = 0; i < s->problem.events; i++) {
    bool fell = s->guard.falls[i];
    if (!s->event_rounds[i]) continue;
    s->guard.noise[i] = 0, s->guard.falls[i] = 0, s->guard.barely[i] = 0;
    if (near && may_be_near(s, i)) decide_falls(s, l, i, fell);
  }
  return !near || note_barely_risen(s, l);
}

bool zeno_is_lost(const Solver *s, uint32_t i) {
  bool up = !s->armed[i] && s->guard_now[i] > s->guard.noise[i] && s->t > s->event_last[i];
  return s->guard.falls[i] && (up || s->guard.lost == i + 1);
}

bool zeno_shrinks(const Solver *s, uint32_t i) { return is_zeno(&s->pace[i]); }
