// The solver, for all methods.
//
// In: a problem, a start. Out: steps, each with a dense output. If the error of a step is too large
// it is repeated with a shorter length; the length of the next step follows from the errors of the
// last two (a PI controller). If an event is found on the dense output of a step, the step is
// repeated to end just after it, and the event is located again: so its time has the accuracy of
// the end of a step, not the lower one of the dense output.
//
// The error of a step is the maximum over all components, so independent parts are each as accurate
// as alone.
#include "run/solve/solve_own.h"

#include <float.h>
#include <math.h>

static const double defaults[] = {1e-9, 1e-12}; // relative, absolute

bool solver_fail(Solver *s, const char *format, ...) {
  va_list args;
  Buf b = buf_new(s->arena);
  va_start(args, format);
  buf_vprintf(&b, format, args);
  va_end(args);
  if (!s->message) s->message = b.at;
  return false;
}

const char *solver_name(const Solver *s, uint32_t i) {
  return s->problem.name ? s->problem.name(s->problem.context, i)
                         : arena_format(s->arena, "number %u", i);
}

bool solver_rates(Solver *s, double t, const double *x, Side side, double *dx) {
  const Problem *p = &s->problem;
  if (p->delayed) delays_read(s, t, side);
  s->rates++;
  return p->rates(p->context, t, x, s->delayed, dx) ||
         solver_fail(s, "the rates cannot be computed at t = %.10g", t);
}

double solver_allowed(const Solver *s, double size) {
  return s->how.absolute + s->how.relative * size;
}

void solver_norm(Solver *s, const double *e, const double *next) {
  double most = 0, sum = 0;
  uint32_t worst = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    double error = fabs(e[i]) / solver_allowed(s, fmax(fabs(s->x[i]), fabs(next[i])));
    sum += error;
    if (error > most) most = error, worst = i;
  }
  s->error = isfinite(sum) ? most : INFINITY; // a comparison with NAN is false
  s->worst = worst;
}

void solver_note_nonfinite(Solver *s, double t, const double *rate) {
  for (uint32_t i = 0; i < s->n && !s->nonfinite; i++)
    if (!isfinite(rate[i])) s->nonfinite = true, s->odd_number = i, s->odd_time = t;
}

static bool fail_nonfinite(Solver *s) {
  return solver_fail(s, "the rate of `%s` is not finite at t = %.10g%s",
                     solver_name(s, s->odd_number), s->odd_time,
                     s->stepper->fixed ? ": it may need a smaller step, or the stiff method" : "");
}

// -- beginning ------------------------------------------------------------------------------------

const SolverStepper *const solver_steppers[] = {[SOLVE_DORMAND] = &dormand_stepper,
                                                [SOLVE_RK4] = &rk4_stepper,
                                                [SOLVE_EULER] = &euler_stepper,
                                                [SOLVE_STIFF] = &stiff_stepper,
                                                [SOLVE_GIVEN] = &given_stepper};

static void fill_defaults(SolveOptions *how) {
  if (!(how->relative > 0)) how->relative = defaults[0];
  if (!(how->absolute > 0)) how->absolute = defaults[1];
  if (!(how->largest > 0)) how->largest = INFINITY;
  if (!how->steps) how->steps = 10000000;
  if (!how->storm) how->storm = 10000;
}

void solver_stages(Solver *s, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (!s->k[i]) s->k[i] = NEW_ARRAY(s->arena, double, s->n);
}

static void allocate_rows(Solver *s, Arena *arena) {
  size_t n = s->n;
  double **row[] = {&s->x, &s->rate, &s->next, &s->next_rate, &s->trial, &s->look, &s->before};
  for (uint32_t i = 0; i < COUNT(row); i++) *row[i] = NEW_ARRAY(arena, double, n);
  solver_stages(s, s->stepper->stages);
  s->dense.part = NEW_ARRAY(arena, double, 5 * n);
  s->delayed = NEW_ARRAY(arena, double, s->problem.delayed);
}

static bool accept_problem(Solver *s) {
  for (uint32_t i = 0; i < s->n; i++)
    if (!isfinite(s->x[i]))
      return solver_fail(s, "`%s` is not finite at the start", solver_name(s, i));
  if (s->stepper->fixed && !(s->how.step > 0 && isfinite(s->how.step)))
    return solver_fail(s, "%s needs a step above 0, but it is %g", s->stepper->name, s->how.step);
  return true;
}

Solver *solver_new(Arena *arena, const Problem *p, const SolveOptions *how, double t,
                   const double *x) {
  Solver *s = NEW(arena, Solver);
  *s = (Solver){.arena = arena, .problem = *p, .how = *how, .n = p->n, .t = t, .from = t};
  s->stepper = solver_steppers[how->method];
  s->anchor = t;
  s->restarted = true;
  fill_defaults(&s->how);
  s->oscillations = HALVES_OSCILLATIONS;
  allocate_rows(s, arena);
  memcpy(s->x, x, s->n * sizeof(double));
  algebraic_before_jump(s);
  dense_constant(&s->dense, s->n, t, x);
  if (!accept_problem(s)) return s;
  if (s->stepper == &stiff_stepper) stiff_new(s);
  if (s->message) return s;
  if (p->events) events_new(s);
  bool begun = delays_begin(s),
       delayed = begun && s->history && s->how.largest > s->history->shortest;
  if (delayed && s->stepper->given && s->how.step > s->history->shortest)
    solver_fail(s, "a step of %g is longer than the delay of %g", s->how.step,
                s->history->shortest);
  else if (delayed)
    s->how.largest = s->history->shortest;
  if (begun && !how->goes_on && events_turn(s) && delays_settle(s))
    dense_constant(&s->dense, s->n, t, s->x);
  return s;
}

void solver_stiffen(Solver *s, const char *note) {
  solver_stages(s, stiff_stepper.stages);
  stiff_new(s);
  if (s->message)
    s->message = NULL; // not enough memory: the explicit method continues
  else
    s->next_stepper = &stiff_stepper, s->note = note;
}

// The shortest step that advances time.
static double least_step(const Solver *s) { return fmax(16 * DBL_EPSILON * fabs(s->t), DBL_MIN); }

// The length of the first step: an explicit step of order 1 would hardly differ from the curve.
static bool choose_first_length(Solver *s) {
  double state = 0, rate = 0, bend = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    state = fmax(state, fabs(s->x[i]) / solver_allowed(s, fabs(s->x[i])));
    rate = fmax(rate, fabs(s->rate[i]) / solver_allowed(s, fabs(s->x[i])));
  }
  double small = state < 1e-5 || rate < 1e-5 ? 1e-6 : 0.01 * state / rate;
  small = fmin(small, s->how.largest);
  for (uint32_t i = 0; i < s->n; i++) s->trial[i] = s->x[i] + small * s->rate[i];
  if (!solver_rates(s, s->t + small, s->trial, SIDE_LEFT, s->next_rate)) return false;
  for (uint32_t i = 0; i < s->n; i++) {
    double change = fabs(s->next_rate[i] - s->rate[i]) / solver_allowed(s, fabs(s->x[i])) / small;
    bend = isfinite(change) ? fmax(bend, change) : DBL_MAX;
  }
  double most = fmax(rate, bend);
  double h = most <= 1e-15 ? fmax(1e-6, small * 1e-3) : pow(0.01 / most, s->stepper->exponent);
  s->h = fmax(fmin(fmin(100 * small, h), s->how.largest), least_step(s));
  return true;
}

// After an event, a step as long as those before is tried, unless the rates contradict strongly.
static bool choose_length_after_event(Solver *s) {
  const double bold = 32;
  double before = s->h;
  if (!choose_first_length(s)) return false;
  s->h = fmax(s->h, fmin(before, bold * s->h));
  return true;
}

// Computes all that a step needs at its start.
static bool prepare_step(Solver *s) {
  s->nonfinite = false;
  if (!s->known && !s->stepper->given) {
    if (!solver_rates(s, s->t, s->x, SIDE_RIGHT, s->rate)) return false;
    solver_note_nonfinite(s, s->t, s->rate);
    if (s->nonfinite) return fail_nonfinite(s);
    s->known = true;
  }
  if (!s->stepper->fixed && !slide_watch(s)) return false;
  if (s->restarted && !s->stepper->fixed) {
    s->log_error = log(1e-4);
    s->rejected = false;
    if (!s->begun && s->how.step > 0)
      s->h = fmin(s->how.step, s->how.largest);
    else if (!choose_length_after_event(s))
      return false;
  }
  s->begun = true;
  return true;
}

// -- the size of steps ----------------------------------------------------------------------------

static double tick(const Solver *s) { return fmin(s->how.step, s->how.largest); }

static double next_tick(const Solver *s) { return s->anchor + (double)(s->ticks + 1) * tick(s); }

// The end of the next step: breaking points are met exactly, without a tiny last step.
static double step_target(Solver *s, double end) {
  double limit = delays_next_break(s, end), h = fmin(s->h, s->how.largest);
  if (s->stepper->fixed) {
    bool whole = next_tick(s) < limit - 1e-9 * tick(s);
    s->limited |= !whole && limit == end && next_tick(s) != end;
    return whole ? next_tick(s) : limit;
  }
  if (s->next_event < s->t + h && s->next_event < limit) return s->next_event;
  s->limited |= limit == end && s->t + 2 * h > limit;
  if (s->t + h >= limit) return limit;
  return s->t + 2 * h > limit ? s->t + (limit - s->t) / 2 : s->t + h;
}

// The length of the step to there. A whole step of fixed size has exactly that size, whatever the
// rounded difference of its times is.
static double step_length(const Solver *s, double to) {
  double h = to - s->t;
  return s->stepper->fixed && fabs(h - tick(s)) <= 1e-9 * tick(s) ? tick(s) : h;
}

static bool fail_small(Solver *s) {
  if (s->nonfinite) return fail_nonfinite(s);
  if (stiff_is_lost(s))
    return solver_fail(s,
                       "at t = %.10g the Jacobian of the rates, which the stiff method needs, is "
                       "not finite: a root, a power or a logarithm may be at 0 there",
                       s->t);
  if (s->problem.constrained && s->problem.constrained[s->worst])
    return solver_fail(
        s,
        "at t = %.10g no step is small enough: `%s`, which the equations `0 = …` determine, "
        "changes too fast there. It may grow without bound, or the equations "
        "hardly depend on it there (then they are not of index 1)",
        s->t, solver_name(s, s->worst));
  return solver_fail(
      s,
      "at t = %.10g no step is small enough: `%s` changes too fast there. It may grow "
      "without bound, or its rate may jump",
      s->t, solver_name(s, s->worst));
}

static bool shorten(Solver *s, double h) {
  s->rejections++;
  s->rejected = true;
  if (s->stepper->fixed) return s->nonfinite ? fail_nonfinite(s) : fail_small(s);
  double by = isfinite(s->error) ? fmax(0.2, 0.9 * pow(s->error, -s->stepper->exponent)) : 0.1;
  s->h = h * fmin(by, 0.9);
  return s->h > least_step(s) ? slide_rejected(s, h) : fail_small(s);
}

// A step that was shortened by a limit gives no reason to stay short.
static void lengthen(Solver *s, double h) {
  const double memory = 0.04;
  double now = log(fmax(s->error, 1e-10)), wanted = s->h;
  double by = 0.9 * exp(memory * s->log_error - (s->stepper->exponent - 0.75 * memory) * now);
  by = fmin(fmax(by, 0.2), s->rejected ? 1 : 10);
  s->log_error = fmax(now, log(1e-4));
  s->h = h < wanted && h * by < wanted && !s->rejected ? wanted : h * by;
  s->rejected = false;
}

static bool too_many(Solver *s, double end) {
  if (s->steps + s->rejections < s->how.steps) return false;
  return !solver_fail(s,
                      "%llu steps were made, and only t = %.6g of %.6g is reached: ask for less "
                      "precision%s",
                      (unsigned long long)s->how.steps, s->t, end,
                      s->stepper == &stiff_stepper ? "" : ", or use the stiff method");
}

// Estimates the time of the next event by linear extrapolation: a step to just after it need not be
// repeated.
static bool estimate_event(Solver *s) {
  const double beyond = 1.0 / 128; // of the distance
  s->next_event = INFINITY;
  if (!s->problem.events || !s->stepper->gives_rate) return true;
  double way = events_estimate(s, s->h);
  if (isfinite(way)) s->next_event = s->t + (1 + beyond) * way;
  return !s->message;
}

// Tries steps until one is accurate enough, and makes its dense output.
static bool make_step(Solver *s, double end, double *to) {
  for (;;) {
    if (too_many(s, end)) return false;
    *to = step_target(s, end);
    double h = *to - s->t;
    s->nonfinite = false;
    if (!s->stepper->try(s, step_length(s, *to))) return false;
    if (s->error <= 1) {
      if (s->stepper->accepted && !s->stepper->accepted(s, h, end)) return false;
      s->stepper->dense(s, h);
      if (!step_check_pulses(s, h)) return false;
    }
    if (s->error <= 1) {
      if (!s->stepper->fixed) lengthen(s, h);
      return true;
    }
    if (!shorten(s, h)) return false;
  }
}

// -- end of a step --------------------------------------------------------------------------------

static RootEnd repeat_step(Solver *s, double to, double *when) {
  if (!s->stepper->try(s, to - s->t)) return ROOT_LOST;
  if (!isfinite(s->error)) return ROOT_NONE;
  s->stepper->dense(s, to - s->t);
  return events_find(s, to, when);
}

// The step to `to` has an event at `when`: it is repeated to end just after it. Not if `when` is
// close before `to`: the dense output has the exact ends and slopes there, so its error falls with
// the square of the distance.
static RootEnd locate_event(Solver *s, double to, double *when) {
  const double close = 1.0 / 64; // of the step
  if (s->stepper->gives_rate && to - *when <= close * (to - s->t)) return ROOT_FOUND;
  for (double margin = 1e-7; margin < 1; margin *= 100) {
    double near = *when + fmax(margin * (*when - s->t), 256 * DBL_EPSILON * fabs(*when));
    if (near >= to) break;
    RootEnd end = repeat_step(s, near, when);
    if (end != ROOT_NONE) return end;
  }
  return repeat_step(s, to, when);
}

static void advance(Solver *s, double to, bool cut) {
  double *row = s->x;
  if (cut)
    dense_at(&s->dense, s->n, to, s->x);
  else
    s->x = s->next, s->next = row;
  s->known = s->stepper->gives_rate && !cut;
  if (s->known) row = s->rate, s->rate = s->next_rate, s->next_rate = row;
  if (!cut && s->stepper->fixed && to >= next_tick(s) - 1e-9 * tick(s)) s->ticks++;
  s->from = s->t;
  s->t = to;
  s->restarted = false;
  s->steps++;
}

static void note_jump(Solver *s) {
  s->known = false;
  s->restarted = true;
  if (!s->stepper->given) s->anchor = s->t, s->ticks = 0;
  delays_jump(s);
}

static bool finish_step(Solver *s, double to) {
  RootEnd found = ROOT_NONE;
  double when = to;
  if (s->problem.events && s->stepper->given) {
    if (!events_at_end(s, to)) return false;
  } else if (s->problem.events) {
    found = events_find(s, to, &when);
  }
  if (found == ROOT_FOUND) found = locate_event(s, to, &when);
  if (found == ROOT_LOST) return false;
  bool cut = found == ROOT_FOUND;
  if (cut) to = when;
  if (s->history && !delays_store(s, to)) return false;
  advance(s, to, cut);
  s->broke = delays_at_break(s);
  if (s->broke) s->known = false;
  if (s->problem.events && !events_advance(s)) return false;
  if (s->broke && !cut && !events_check(s)) return false;
  if (s->turned) note_jump(s);
  return true;
}

// Handles events at the start of a step.
static bool events_at_start(Solver *s) {
  s->events_done = true;
  if (!events_check(s)) return false;
  if (s->turned) note_jump(s);
  if (s->happened) s->from = s->t;
  return true;
}

bool solver_step(Solver *s, double end) {
  double to;
  s->happened = s->turned = s->broke = s->limited = false;
  if (s->message || s->stopped || !(end > s->t)) return false;
  if (s->next_stepper) s->stepper = s->next_stepper, s->next_stepper = NULL;
  if (!s->events_done && !events_at_start(s)) return false;
  return s->happened ||
         (prepare_step(s) && estimate_event(s) && make_step(s, end, &to) && finish_step(s, to));
}

bool solver_events_now(Solver *s) {
  s->happened = s->turned = s->broke = s->limited = false;
  if (s->message || s->stopped || s->events_done) return false;
  return events_at_start(s) && s->happened;
}

bool solver_events_at_end(Solver *s, double by) {
  s->happened = s->turned = s->broke = false;
  if (s->message || !events_shortly_after(s, by) || !s->happened) return false;
  s->from = s->t;
  dense_constant(&s->dense, s->n, s->t, s->x);
  note_jump(s);
  return true;
}

void solver_inputs_changed(Solver *s) {
  note_jump(s);
  s->events_done = false;
  algebraic_before_jump(s);
  if (events_turn(s)) solver_solve_algebraic(s);
  dense_constant(&s->dense, s->n, s->t, s->x);
}

// -- results --------------------------------------------------------------------------------------

double solver_time(const Solver *s) { return s->t; }
const double *solver_state(const Solver *s) { return s->x; }
double solver_from(const Solver *s) { return s->from; }
const char *solver_error(const Solver *s) { return s->message; }
bool solver_ended_nonfinite(const Solver *s) { return s->message && s->nonfinite; }
const char *solver_note(const Solver *s) { return s->note; }

// At the end of the step its exact state is used, since dense output adds rounding.
void solver_at(const Solver *s, double t, double *x) {
  bool end = t >= s->t && !s->happened && !s->turned;
  if (end)
    memcpy(x, s->x, s->n * sizeof *x);
  else
    dense_at(&s->dense, s->n, fmin(t, s->t), x);
}

const double *solver_delayed(Solver *s, double t) {
  if (s->problem.delayed && t >= s->t)
    delays_read(s, s->t, SIDE_RIGHT);
  else if (s->problem.delayed)
    delays_read_inside(s, t);
  return s->delayed;
}

const double *solver_delayed_inside(Solver *s, double t) {
  if (s->problem.delayed) delays_read_inside(s, fmin(t, s->t));
  return s->delayed;
}

bool solver_broke(const Solver *s) { return s->broke; }

bool solver_happened(const Solver *s, uint32_t *which) {
  if (s->happened && which) *which = s->first_event;
  return s->happened;
}

bool solver_limited(const Solver *s) { return s->limited; }

uint64_t solver_count(const Solver *s, uint64_t *rejected, uint64_t *rates) {
  if (rejected) *rejected = s->rejections;
  if (rates) *rates = s->rates;
  return s->steps;
}
