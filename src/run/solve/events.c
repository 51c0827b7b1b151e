// Events: rising zero crossings of guards.
//
// In: the dense output of a step. Out: the first moment at which an event happens, and the state
// after all that happens then. An event is armed while its guard has been at or below 0 since it
// last happened, and at the start; only then can it happen.
//
// One moment is a loop of rounds, whether it starts with a zero crossing, at the start, at a tick,
// or with a new table row. In a round, all armed events whose guard is above 0 happen
// simultaneously and are disarmed; then all guards are recomputed, and a guard at or below 0 arms
// its event. The loop ends when no armed event has its guard above 0. So when time continues, the
// guard of each armed event is at or below 0, and its next zero crossing is found in the following
// step: no event is lost. Each event that happened was at or below 0 since it last happened: no
// event happens twice. There are finitely many events, so an endless loop repeats some of them: an
// event that happens MOST_ROUNDS times at one moment is an error, which names all events of the
// cycle.
//
// Events that accumulate (a bouncing ball that comes to rest) have a limit in time that no step can
// pass: Zeno behaviour. It is recognised by the number of events, or by intervals that become
// smaller than the resolution of a double.
#include "run/solve/solve_own.h"

#include <float.h>
#include <math.h>

// The number of events that set something; switches follow.
static uint32_t setting_events(const Solver *s) { return s->problem.events - s->problem.switches; }

static const char *event_name(const Solver *s, uint32_t i) {
  return s->problem.event_name ? s->problem.event_name(s->problem.context, i)
                               : arena_format(s->arena, "`event %u`", i);
}

bool events_guards(Solver *s, double t, const double *x, Side side, double *g) {
  const Problem *p = &s->problem;
  if (p->delayed) delays_read(s, t, side);
  return p->guards(p->context, t, x, s->delayed, g) ||
         solver_fail(s, "the guards cannot be computed at t = %.10g", t);
}

// At a point of the solution: a guard that is not a number is an error.
static bool guards(Solver *s, double t, const double *x, Side side, double *g) {
  if (!events_guards(s, t, x, side, g)) return false;
  for (uint32_t i = 0; i < setting_events(s); i++)
    if (isnan(g[i])) {
      s->nonfinite = true;
      return solver_fail(s, "the guard of %s is not a number at t = %.10g", event_name(s, i), t);
    }
  return true;
}

static bool guards_inside(void *context, double t, double *g) {
  Solver *s = context;
  for (uint32_t i = 0; i < s->problem.nguarded; i++)
    dense_part(&s->dense, s->n, s->problem.guarded[i], t, s->look);
  if (!s->problem.guarded) dense_at(&s->dense, s->n, t, s->look);
  return guards(s, t, s->look, SIDE_LEFT, g);
}

static bool guards_between(void *context, const double t[2], double *const g[2]) {
  Solver *s = context;
  const Problem *p = &s->problem;
  const NumberRange all = {0, s->n}, *some = p->guarded ? p->guarded : &all;
  const double *x[2] = {s->lowest, s->highest};
  for (uint32_t i = 0; i < (p->guarded ? p->nguarded : 1); i++)
    dense_range(&s->dense, s->n, some[i], t, s->lowest, s->highest);
  return p->between(p->context, t, x, g) ||
         solver_fail(s, "the guards cannot be computed at t = %.10g", t[0]);
}

static void open_bounds(Solver *s) {
  enum { LOOKS_IN_ALL = 1 << 20 };
  uint32_t m = s->problem.events;
  s->guard.between = guards_between;
  s->lowest = NEW_ARRAY(s->arena, double, s->n + 1);
  s->highest = NEW_ARRAY(s->arena, double, s->n + 1);
  s->guard.looks = LOOKS_IN_ALL;
  for (int i = 0; i < 2; i++) s->guard.bound[i] = NEW_ARRAY(s->arena, double, m);
  for (int i = 0; i < 3; i++) s->guard.side[i] = NEW_ARRAY(s->arena, double, m);
}

void events_new(Solver *s) {
  uint32_t m = s->problem.events;
  bool far = s->problem.guards_add || !(s->how.look > 0);
  s->guard = (Root){.n = m, .at = guards_inside, .context = s, .oscillations = &s->oscillations};
  s->guard.longest = far ? INFINITY : 8 * s->how.look;
  if (s->problem.between) open_bounds(s);
  s->guard.live = NEW_ARRAY(s->arena, uint8_t, m);
  s->guard.noise = NEW_ARRAY(s->arena, double, m);
  s->guard.barely = NEW_ARRAY(s->arena, double, m);
  s->guard.falls = NEW_ARRAY(s->arena, uint8_t, m);
  s->pace = NEW_ARRAY(s->arena, EventPace, m);
  for (int i = 0; i < 6; i++) s->guard.row[i] = NEW_ARRAY(s->arena, double, m);
  s->guard.beside = NEW_ARRAY(s->arena, double, m);
  s->guard_now = NEW_ARRAY(s->arena, double, m);
  s->armed = NEW_ARRAY(s->arena, uint8_t, m);
  s->fired = NEW_ARRAY(s->arena, uint8_t, m);
  s->event_last = NEW_ARRAY(s->arena, double, m);
  s->event_since = NEW_ARRAY(s->arena, double, m);
  s->event_quick = NEW_ARRAY(s->arena, uint32_t, m);
  s->event_count = NEW_ARRAY(s->arena, uint32_t, m);
  s->event_rounds = NEW_ARRAY(s->arena, uint32_t, m);
  memset(s->armed, 1, m);
  for (uint32_t i = 0; i < m; i++) {
    s->event_last[i] = s->event_since[i] = -INFINITY;
    s->pace[i].gap = INFINITY;
  }
}

// Finds the events that happen with guards g; disarmed events whose guard is down are armed. A
// guard within its rounding error of 0 arms its event only if it was up before the events of this
// moment.
static bool find_fired(Solver *s, const double *g, const double *before) {
  bool any = false;
  for (uint32_t i = s->problem.events; i-- > 0;) {
    bool up = g[i] > 0;
    s->fired[i] = up && s->armed[i];
    double error = fmax(s->guard.noise[i], s->guard.barely[i]);
    if (!(g[i] > -error) || (!up && before[i] > 0)) s->armed[i] = 1;
    any |= s->fired[i];
    if (s->fired[i]) s->first_event = i;
  }
  return any;
}

// Guards with the same cause may cross 0 a few digits apart because of rounding: they are one
// moment.
static bool merge_crossings(Solver *s, double to, double *when) {
  double later = *when + 64 * DBL_EPSILON * fabs(*when);
  Root *r = &s->guard;
  if (later > to) return true;
  if (!guards_inside(s, later, r->row[1])) return false;
  for (uint32_t i = 0; i < r->n; i++)
    if (r->live[i] && !(r->row[0][i] > 0) && r->row[1][i] > 0) {
      double *row = r->row[0];
      r->row[0] = r->row[1], r->row[1] = row;
      *when = later;
      break;
    }
  return true;
}

bool solver_fail_oscillation(Solver *s, const char *what, double from) {
  return solver_fail(s,
                     "after t = %.10g %s oscillates or jumps too often to be resolved: make the "
                     "run shorter, or make it a state with a rate",
                     from, what);
}

static const char *guard_name(const Solver *s, uint32_t i) {
  return i < setting_events(s) ? arena_format(s->arena, "the guard of %s", event_name(s, i))
                               : "what a rate compares or rounds";
}

const char *solver_unsure(const Solver *s) {
  const Root *r = &s->guard;
  if (!r->rough) return NULL;
  return arena_format(s->arena,
                      "after t = %.10g %s varies by rounding errors only, on every scale: whether "
                      "it crosses 0 there cannot be decided",
                      r->rough_from, guard_name(s, r->rough - 1));
}

RootEnd events_find(Solver *s, double to, double *when) {
  size_t m = s->problem.events;
  s->guard.lost = s->guard.oscillating = 0;
  memcpy(s->guard.live, s->armed, m);
  memcpy(s->guard.row[0], s->guard_now, m * sizeof(double));
  RootEnd end = root_walk(&s->guard, s->t, to, s->restarted, when);
  if (s->guard.oscillating)
    solver_fail_oscillation(s, guard_name(s, s->guard.oscillating - 1), s->guard.begin);
  if (end == ROOT_FOUND && !merge_crossings(s, to, when)) return ROOT_LOST;
  return end;
}

double events_estimate(Solver *s, double h) {
  const double small = 1e-3;
  double soonest = INFINITY, part = small * fmin(h, s->how.largest), *later = s->guard.row[1];
  if (!(s->t + part > s->t)) return soonest;
  for (uint32_t i = 0; i < s->n; i++) s->look[i] = s->x[i] + part * s->rate[i];
  if (!events_guards(s, s->t + part, s->look, SIDE_LEFT, later)) return soonest;
  for (uint32_t i = 0; i < s->problem.events; i++) {
    double now = s->guard_now[i], rise = later[i] - now;
    if (s->armed[i] && now < 0 && rise > 0 && -now * part < soonest * rise)
      soonest = -now * part / rise;
  }
  return soonest <= h && soonest > 64 * DBL_EPSILON * fabs(s->t) ? soonest : INFINITY;
}

bool events_at_end(Solver *s, double to) {
  memcpy(s->guard.live, s->armed, s->problem.events);
  return guards_inside(s, to, s->guard.row[0]);
}

static bool fail_storm(Solver *s, uint32_t i, uint32_t count, double span, double until) {
  return solver_fail(s,
                     "too many events: %s happened %u times within %.3g, up to t = %.10g. Let it "
                     "change the state so that it does not happen again at once: a mode of rest, "
                     "or two thresholds instead of one",
                     event_name(s, i), count, span, until);
}

// Reports an event that turned its guard back, and whose guard rises again.
static bool fail_lost(Solver *s, uint32_t i) {
  double last = s->event_last[i];
  if (zeno_shrinks(s, i))
    return fail_storm(s, i, s->pace[i].shrinks + 1, last - s->pace[i].since, last);
  return solver_fail(
      s,
      "too many events: %s makes its condition false at t = %.10g by less than the rounding error, "
      "so it would stay true from then on. Let it change the state so that it does "
      "not happen again at once: a mode of rest, or two thresholds instead of one",
      event_name(s, i), last);
}

// Reports the cycle of events that make each other true at one moment: those that happened about as
// often as this one.
static bool fail_cycle(Solver *s, uint32_t i) {
  enum { NAMED = 4 };
  const char *name[NAMED];
  uint32_t often = s->event_rounds[i], n = 0, more = 0;
  Buf b = buf_new(s->arena);
  for (uint32_t k = 0; k < setting_events(s); k++) {
    if (s->event_rounds[k] < often / 2) continue;
    const char *one = event_name(s, k);
    uint32_t same = 0; // several lines of one state have the same name
    while (same < n && strcmp(name[same], one)) same++;
    if (same < n) continue;
    if (n == NAMED) {
      more++;
      continue;
    }
    buf_printf(&b, "%s%s", n ? ", " : "", one);
    name[n++] = one;
  }
  if (more) buf_printf(&b, " and %u more", more);
  return solver_fail(
      s,
      "too many events: at t = %.10g %s happen%s again and again, and no time goes by: %s. Let a "
      "condition become false by what happens, and stay so",
      s->t, b.at, n + more > 1 ? "" : "s",
      n + more > 1 ? "each makes another one true" : "what it sets makes it true again");
}

static bool happens_too_often(Solver *s, uint32_t i) {
  enum { QUICK = 5, MOST_ROUNDS = 1000 };
  double gap = s->t - s->event_last[i];
  if (gap != 0) s->event_quick[i] = gap <= 1e-12 * fabs(s->t) ? s->event_quick[i] + 1 : 0;
  if (s->t - s->event_since[i] >= 1) s->event_since[i] = s->t, s->event_count[i] = 0;
  s->event_last[i] = s->t;
  if (++s->event_rounds[i] > MOST_ROUNDS) return !fail_cycle(s, i);
  if (++s->event_count[i] > s->how.storm)
    return !fail_storm(s, i, s->event_count[i], s->t - s->event_since[i], s->t);
  if (s->event_quick[i] >= QUICK)
    return !fail_storm(s, i, QUICK + 1, QUICK * 1e-12 * fabs(s->t), s->t);
  return false;
}

// Does a switch turn back immediately, or more often than steps can resolve?
static bool turns_too_often(Solver *s, uint32_t i) {
  enum { QUICK = 5, OFTEN = 256 };
  double longest = isfinite(s->how.largest) ? s->how.largest : 0, gap = s->t - s->event_last[i];
  s->event_quick[i] = gap <= 1e-12 * fmax(fabs(s->t), longest) ? s->event_quick[i] + 1 : 0;
  if (s->t - s->event_since[i] > longest / OFTEN) s->event_since[i] = s->t, s->event_count[i] = 0;
  s->event_last[i] = s->t;
  return ++s->event_count[i] > OFTEN || s->event_quick[i] >= QUICK;
}

static void release_switch(Solver *s, uint32_t i) {
  s->problem.release(s->problem.context, i - setting_events(s));
  s->released = true;
}

bool events_turn(Solver *s) {
  const Problem *p = &s->problem;
  if (!p->switches) return true;
  if (p->delayed) delays_read(s, s->t, SIDE_RIGHT);
  return p->turn(p->context, s->t, s->x, s->delayed) ||
         solver_fail(s, "the rates cannot be computed at t = %.10g", s->t);
}

// Applies the events of a round that set something. False: too many. `crossed`: the guard crossed 0
// in continuous time.
static bool apply_fired(Solver *s, uint32_t *first, bool crossed) {
  const Problem *p = &s->problem;
  uint32_t some = setting_events(s);
  bool any = false;
  for (uint32_t i = 0; i < p->events; i++) {
    if (!s->fired[i]) continue;
    if (i >= some) {
      if (turns_too_often(s, i)) release_switch(s, i);
      continue;
    }
    any = true;
    zeno_happens(s, i, crossed);
    if (happens_too_often(s, i)) return false;
  }
  if (!any) return true;
  if (!s->happened) *first = s->first_event;
  s->happened = true;
  s->stopped = !p->happen(p->context, s->t, s->fired, s->delayed, s->x);
  return true;
}

// Runs all rounds of this moment; `fired` holds the first.
static bool events_happen(Solver *s, bool crossed) {
  const Problem *p = &s->problem;
  uint32_t first = s->first_event;
  double *before = s->guard.row[2];
  s->turned = true;
  memset(s->event_rounds, 0, p->events * sizeof *s->event_rounds);
  do {
    if (p->delayed) delays_read(s, s->t, SIDE_RIGHT);
    algebraic_before_jump(s);
    memcpy(before, s->guard_now, p->events * sizeof *before);
    if (!apply_fired(s, &first, crossed)) return false;
    for (uint32_t i = 0; i < setting_events(s); i++)
      if (s->fired[i]) s->armed[i] = 0;
    if (s->stopped) break;
    if (!events_turn(s) || !solver_solve_algebraic(s)) return false;
    if (!guards(s, s->t, s->x, SIDE_RIGHT, s->guard_now)) return false;
    crossed = false;
  } while (find_fired(s, s->guard_now, before));
  s->first_event = first;
  return s->stopped || zeno_settled(s);
}

// Moves the guards to the end of the last walk; events that crossed 0 on it happen.
bool events_advance(Solver *s) {
  size_t m = s->problem.events;
  memcpy(s->armed, s->guard.live, m);
  memcpy(s->guard_now, s->guard.row[0], m * sizeof(double));
  for (uint32_t i = 0; s->guard.noisy && i < setting_events(s); i++)
    if (zeno_is_lost(s, i)) return fail_lost(s, i);
  return !find_fired(s, s->guard_now, s->guard_now) || events_happen(s, true);
}

bool events_check(Solver *s) {
  double *before = s->guard.row[2];
  if (s->problem.events == 0) return true;
  memcpy(before, s->guard_now, s->problem.events * sizeof *before);
  if (!guards(s, s->t, s->x, SIDE_RIGHT, s->guard_now)) return false;
  return !find_fired(s, s->guard_now, before) || events_happen(s, false);
}

bool solver_extrapolate(Solver *s, double by, double *x) {
  if (s->message || s->stopped || !solver_rates(s, s->t, s->x, SIDE_RIGHT, s->rate)) return false;
  for (uint32_t i = 0; i < s->n; i++) {
    bool flows = !(s->problem.constrained && s->problem.constrained[i]) && isfinite(s->rate[i]);
    x[i] = s->x[i] + (flows ? by * s->rate[i] : 0);
  }
  return true;
}

// Extrapolates linearly to shortly after t.
bool events_shortly_after(Solver *s, double by) {
  uint32_t some = setting_events(s);
  bool any = false;
  double *later = s->guard.row[1];
  if (!some || s->message || s->stopped) return !s->message;
  if (!solver_extrapolate(s, by, s->look)) return false;
  if (!guards(s, s->t, s->x, SIDE_RIGHT, s->guard_now)) return false;
  if (!events_guards(s, s->t + by, s->look, SIDE_RIGHT, later)) return false;
  for (uint32_t i = s->problem.events; i-- > 0;) {
    s->fired[i] = i < some && s->armed[i] && !(s->guard_now[i] > 0) && later[i] > 0;
    any |= s->fired[i];
    if (s->fired[i]) s->first_event = i;
  }
  return !any || events_happen(s, false);
}
