// A run in continuous time. The solver chooses its steps; recorded and observed values come from
// its dense output, so they do not affect the steps.
//
// Between two steps, events may change modes and states without rates: values inside the step are
// computed with the states before the events, values at its end with those after.
#include "base/diag.h"
#include "base/stop.h"
#include "run/sim/continuous_own.h"

#include <float.h>
#include <math.h>

static const double default_tolerance = 1e-10; // of the error of a step
static const double one_moment = 1e-12;        // relative to the time: two closer moments are one

// -- states without rates -------------------------------------------------------------------------
static bool is_held(const ContinuousRun *g, uint32_t i) { return !g->m->s->state.at[i].rate; }

static void move_held(const ContinuousRun *g, double *row, bool back) {
  for (uint32_t i = 0; i < g->m->s->state.n; i++) {
    if (!is_held(g, i)) continue;
    State *s = sim_state(g->m, i);
    if (back)
      state_set(s, row);
    else
      state_get(s, row);
    row += s->count;
  }
}

// -- observing ------------------------------------------------------------------------------------
// The name of an observed value that is not finite.
static const char *nonfinite_sight(const ContinuousRun *g) {
  const SimRecord *r = &g->f->record;
  for (uint32_t i = 0; i < g->shows; i++) {
    const SimChannel *c = &r->channel.at[sight_channel(&g->see, r, i)];
    engine_get(g->observer, i, g->row, c->cells);
    for (int64_t k = 0; k < c->cells; k++)
      if (!isfinite(g->row[k])) return arena_format(g->m->arena, "`%s`", c->name);
  }
  return "what a claim speaks of";
}

static void set_observed_point(ContinuousRun *g, double t, const double *x, Observing how) {
  const double *delayed = NULL;
  if (g->solver)
    delayed =
        how == OBSERVE_STEP ? solver_delayed_inside(g->solver, t) : solver_delayed(g->solver, t);
  flow_set_point(g->flow, t, x, delayed);
}

bool follow_observe(ContinuousRun *g, double t, const double *x, Observing how) {
  bool finite;
  set_observed_point(g, t, x, how);
  if (!sim_run_trial(g->m, g->observer, 0, &finite)) return false;
  if (finite || left_limit(g, t, x, one_moment * t)) return true;
  set_observed_point(g, t, x, how);
  if (!sim_run_trial(g->m, g->observer, 0, &finite)) return false;
  const char *what =
      arena_format(g->m->arena, "%s is not finite at t = %.10g", nonfinite_sight(g), t);
  return sim_report_nonfinite(g->m, g->observer, 0, what);
}

double follow_observed(const ContinuousRun *g, uint32_t i) {
  double x = 0;
  engine_get(g->observer, g->shows + i, &x, 1);
  return x;
}

static bool record_moment(ContinuousRun *g, double t, const double *x) {
  SimRecord *r = &g->f->record;
  if (!g->records || t < g->begun) return true;
  if (!follow_observe(g, t, x, OBSERVE_MOMENT)) return false;
  vec_push(g->m->arena, &r->time, t);
  for (uint32_t i = 0; i < g->shows; i++) {
    SimChannel *c = &r->channel.at[sight_channel(&g->see, r, i)];
    engine_get(g->observer, i, g->row, c->cells);
    for (int64_t k = 0; k < c->cells; k++) vec_push(g->m->arena, &c->value, g->row[k]);
  }
  return true;
}

static bool watch_moment(ContinuousRun *g, double t, const double *x) {
  if (!g->watchers.n || t < g->begun) return true;
  if (!follow_observe(g, t, x, OBSERVE_MOMENT)) return false;
  for (uint32_t i = 0; i < g->watchers.n; i++)
    watcher_moment(&g->watchers.at[i], t, follow_observed(g, i));
  return true;
}

// -- the loop -------------------------------------------------------------------------------------
static bool has_fixed_steps(const Run *r) {
  return r->follow != FOLLOW_USUAL && r->follow != FOLLOW_DORMAND && r->follow != FOLLOW_STIFF;
}

// The default interval between recorded moments; with fixed steps, a multiple of the step.
static double default_interval(const Run *r) {
  double usual = r->end > 0 ? r->end / 1000 : 1;
  if (r->every > 0) return r->every;
  return has_fixed_steps(r) ? fmax(round(usual / r->step), 1) * r->step : usual;
}

// The time of the k-th recorded moment. For a decimal interval, the exact decimal: the third of 0.1
// is 0.3.
static double round_time(const Run *r, uint64_t k) {
  double every = default_interval(r);
  for (double by = 1; by <= 1e9; by *= 10)
    if (round(every * by) / by == every) return (double)k * round(every * by) / by;
  return (double)k * every;
}

static bool fail_sliding(const ContinuousRun *g, const char *why) {
  const SolverSlide *slide = solver_slide(g->solver);
  Diags *diags = g->m->w->diags;
  Span span = flow_slide_span(g->flow, slide, solver_delayed(g->solver, slide->t));
  Id e = diag_error(diags, span.file ? span : g->m->run->span, "%s", why);
  diag_help(diags, e,
            "use modes, one of which keeps it there until a condition releases it; or smooth the "
            "jump: `tanh(x / 0.01)` is like `sign(x)`");
  return true;
}

static bool failed(const ContinuousRun *g) {
  const char *why = solver_error(g->solver);
  if (g->flow->broken || g->m->w->diags->errors > g->errors) return true;
  if (!why) return false;
  if (g->flow->nonfinite.e && solver_ended_nonfinite(g->solver))
    return !flow_report_nonfinite(g->flow, why);
  if (solver_slide(g->solver)) return fail_sliding(g, why);
  Id e = diag_error(g->m->w->diags, g->m->run->span, "%s", why);
  if (strstr(why, "stiff") && g->m->run->follow != FOLLOW_STIFF)
    diag_help(g->m->w->diags, e, "the stiff method is `by stiff`");
  return true;
}

// Observes the start of the run, or the end of the run that it continues.
static bool observe_start(ContinuousRun *g, const double *x) {
  double every = default_interval(g->m->run);
  g->seen = true;
  g->moment = (uint64_t)(g->begun / every * (1 + 1e-12)) + 1;
  return watch_moment(g, g->begun, x) && record_moment(g, g->begun, x);
}

// Will no further step begin within rounding of this one's end?
static bool ends_only(const ContinuousRun *g, double to) {
  return to >= g->m->run->end || (has_fixed_steps(g->m->run) && !g->flow->lag.n);
}

// Observes the inside of a step, before the events at its end. A recorded moment at the end itself
// is left to observe_events.
static bool observe_step(ContinuousRun *g, double from, double to, bool happened) {
  if (to < g->begun) return true;
  if (!g->seen) {
    solver_at(g->solver, g->begun, g->x);
    if (!observe_start(g, g->x)) return false;
  }
  if (!watching_step(g, fmax(from, g->begun), to)) return false;
  double before = to * (1 - one_moment), last = ends_only(g, to) ? to * (1 + one_moment) : to;
  if (happened) last = before;
  for (double t; (t = round_time(g->m->run, g->moment)) <= last; g->moment++) {
    solver_at(g->solver, t < before ? t : to, g->x);
    if (!record_moment(g, t, g->x)) return false;
  }
  return true;
}

// Notes the observed values between two rounds of events. Events are found before the inside of the
// step was observed, so the values are processed later.
static void note_round(void *following, double t, const double *x, const double *delayed) {
  ContinuousRun *g = following;
  bool finite;
  if (t < g->begun) return;
  flow_set_point(g->flow, t, x, delayed);
  if (!sim_run_trial(g->m, g->observer, 0, &finite)) return;
  for (uint32_t i = 0; i < g->watchers.n; i++)
    vec_push(g->m->arena, &g->rounds, follow_observed(g, i));
}

// Conditions (`when`, counts) that were true between two rounds count, even if they are false after
// the last round. Extremes and other numbers ignore these rounds. Values that are not finite are
// skipped.
static void watch_rounds(ContinuousRun *g, double t) {
  uint32_t n = g->watchers.n;
  for (uint32_t k = 0; k < g->rounds.n; k++) {
    Watcher *w = &g->watchers.at[k % n];
    bool counts = w->watch->kind == WATCH_WHEN || w->watch->kind == WATCH_COUNT;
    if (counts && isfinite(g->rounds.at[k])) watcher_moment(w, t, g->rounds.at[k]);
  }
  g->rounds.n = g->flow->rounds = 0;
}

// Observes the values after events. If a recorded moment coincides up to rounding, it is recorded
// here.
static bool observe_events(ContinuousRun *g, double t) {
  double near = round_time(g->m->run, g->moment);
  bool is_round = fabs(near - t) <= one_moment * t;
  if (is_round) g->moment++;
  watch_rounds(g, t);
  return watch_moment(g, t, solver_state(g->solver)) &&
         record_moment(g, is_round ? near : t, solver_state(g->solver));
}

// Observes conditions that rounding alone puts after the end of the run.
static bool watch_end(ContinuousRun *g, double by) {
  const double *x = solver_state(g->solver);
  double end = g->m->run->end;
  bool finite = false;
  if (!g->watchers.n || !solver_extrapolate(g->solver, by, g->x)) return !failed(g);
  flow_set_point(g->flow, end + by, g->x, solver_delayed(g->solver, end));
  bool good = sim_run_trial(g->m, g->observer, 0, &finite);
  for (uint32_t i = 0; good && finite && i < g->watchers.n; i++)
    watcher_end_of_run(&g->watchers.at[i], end, follow_observed(g, i));
  flow_set_point(g->flow, end, x, solver_delayed(g->solver, end));
  return good;
}

// At the end of the run: events that rounding alone puts after it.
static bool events_at_end(ContinuousRun *g) {
  double end = g->m->run->end;
  if (flow_halted(g->flow)) return true;
  if (!watch_end(g, one_moment * end)) return false;
  if (!g->flow->events) return true;
  if (!g->limited) follow_take_snapshot(g);
  bool happened = solver_events_at_end(g->solver, one_moment * end);
  g->limited |= happened; // a longer run locates the event slightly later
  return !failed(g) && (!happened || observe_events(g, end));
}

// One step with all observations. Delayed values that jump at its end are observed there on both
// sides.
static bool follow_step(ContinuousRun *g, double end) {
  bool events = g->flow->events > 0;
  if (events) move_held(g, g->before, false);
  solver_step(g->solver, end);
  if (failed(g)) return false;
  double from = solver_from(g->solver), to = solver_time(g->solver);
  uint32_t which;
  bool happened = solver_happened(g->solver, &which);
  if (happened) {
    move_held(g, g->after, false);
    move_held(g, g->before, true);
  }
  if (!observe_step(g, from, to, happened)) return false;
  if (!happened) return !solver_broke(g->solver) || watch_moment(g, to, solver_state(g->solver));
  move_held(g, g->after, true);
  return observe_events(g, to);
}

// An upper limit of the step, so that pulses that depend on time alone are not stepped over.
static double longest_step(const Run *r) {
  enum { STEPS_AT_LEAST = 50 };
  double longest = r->end / STEPS_AT_LEAST;
  if (r->every > 0) longest = fmin(longest, r->every);
  return r->step > 0 ? fmin(longest, r->step) : longest;
}

// Events of a moment come before its ticks, also if rounding puts the event slightly later.
static double tick_met(const ContinuousRun *g, double tick) {
  return g->flow->events ? tick * (1 + 64 * DBL_EPSILON) : tick;
}

// Ticks at this moment; `kept`: the last recorded moment before.
static bool run_ticks_now(ContinuousRun *g, double now, double kept) {
  const double *x = solver_state(g->solver);
  if (!flow_tick(g->flow, now, x)) return false;
  solver_inputs_changed(g->solver);
  if (!watch_moment(g, now, x)) return false;
  return fabs(kept - now) > 1e-12 * now || record_moment(g, now, x);
}

enum {
  LOOKS = 8192
};  // additional evaluations of the rates in a whole run, to detect pulses
    // between stages

static SolveOptions solve_options(const ContinuousRun *g) {
  const Run *r = g->m->run;
  static const Method method[] = {SOLVE_DORMAND, SOLVE_DORMAND, SOLVE_RK4,  SOLVE_EULER,
                                  SOLVE_STIFF,   SOLVE_GIVEN,   SOLVE_GIVEN};
  double tolerance = r->tolerance > 0 ? r->tolerance : default_tolerance;
  SolveOptions how = {.method = method[r->follow], .relative = tolerance, .goes_on = g->solved};
  how.absolute = tolerance * 1e-3;
  if (has_fixed_steps(r))
    how.step = r->step;
  else
    how.largest = longest_step(r), how.look = r->end / LOOKS;
  return how;
}

// Opens the solver at the start, or restores it.
static bool open_solver(ContinuousRun *g, double *start) {
  SolveOptions how = solve_options(g);
  g->solver = solver_new(g->m->arena, &g->flow->problem, &how, g->time, start);
  if (failed(g) || !follow_restore_solver(g) || failed(g)) return false;
  if (g->flow->problem.constrained)
    memcpy(start, solver_state(g->solver), g->flow->n * sizeof *start);
  return true;
}

// May the end of the run shorten a step from here? Usually it is too far away.
static bool may_be_cut(const ContinuousRun *g, double t) {
  const Run *r = g->m->run;
  return t + 2 * (has_fixed_steps(r) ? r->step : longest_step(r)) >= r->end;
}

// Handles events at the present moment without advancing time: if a run ends where it starts, and
// after ticks at its end.
static bool events_now(ContinuousRun *g) {
  double now = solver_time(g->solver);
  while (solver_events_now(g->solver))
    if (failed(g) || !observe_events(g, now)) return false;
  return !failed(g);
}

// A step, with ticks and table rows at its end.
static bool advance(ContinuousRun *g) {
  const Run *r = g->m->run;
  double now = solver_time(g->solver);
  double row = flow_next_row(g->flow, now), tick = flow_next_tick(g->flow, r->end);
  double other = fmin(tick_met(g, tick), row), end = fmin(r->end, other);
  bool last = r->end < other && !g->limited;
  if (last && may_be_cut(g, now)) follow_take_snapshot(g);
  if (!follow_step(g, end)) return false;
  if (last && solver_limited(g->solver)) g->limited = true;
  if (solver_time(g->solver) >= r->end && !events_at_end(g)) return false;
  bool ticks = solver_time(g->solver) >= tick;
  if (ticks && !run_ticks_now(g, tick, round_time(r, g->moment - 1))) return false;
  if (ticks && solver_time(g->solver) >= r->end && !events_now(g)) return false;
  if (solver_time(g->solver) < row || row >= r->end) return true;
  flow_select_row(g->flow, row);
  solver_inputs_changed(g->solver);
  return watch_moment(g, row, solver_state(g->solver));
}

// The first steps use prebuilt kernels: a short run ends before a compiler would. The number of
// these steps is fixed, so a resumed run gives the same bits.
static void note_steps(ContinuousRun *g, uint64_t steps) {
  *g->m->prebuilt = steps < sim_prebuilt_runs(g->m);
}

static void note_solver(ContinuousRun *g, uint64_t before) {
  SimRecord *r = &g->f->record;
  g->reached = r->reached = solver_time(g->solver);
  g->note = solver_note(g->solver);
  g->unsure = solver_unsure(g->solver);
  r->halted = flow_halted(g->flow);
  r->steps = solver_count(g->solver, NULL, NULL) - before;
  note_steps(g, solver_count(g->solver, NULL, NULL));
}

// Records the last moment, also if it is no multiple of `every`.
static bool record_last(ContinuousRun *g) {
  const SimRecord *r = &g->f->record;
  double end = g->reached, last = r->time.n ? r->time.at[r->time.n - 1] : -1;
  return last >= end * (1 - one_moment) || record_moment(g, end, solver_state(g->solver));
}

static bool follow_all(ContinuousRun *g, double *start) {
  const Run *r = g->m->run;
  const SimOptions *how = g->m->how;
  uint64_t done = g->f->record.steps;
  if (!open_solver(g, start)) return false;
  uint64_t before = solver_count(g->solver, NULL, NULL) - done;
  note_steps(g, solver_count(g->solver, NULL, NULL));
  if (!g->seen && g->time >= g->begun && !observe_start(g, start)) return false;
  note_solver(g, before);
  if (!g->resumed && !follow_save(g)) return false; // the initial state
  if (r->end == 0 && !events_now(g)) return false;
  if (r->end == 0) note_solver(g, before);
  while (solver_time(g->solver) < r->end && !flow_halted(g->flow)) {
    if (!advance(g)) return false;
    note_solver(g, before);
    if (how->progress) how->progress(how->context, (g->reached - g->begun) / (r->end - g->begun));
    if (!follow_save_now(g)) return false;
    g->f->stopped = stop_asked(how->stop) && !g->limited && g->reached < r->end;
    if (g->f->stopped) break;
  }
  g->over = !g->f->stopped;
  return g->f->stopped || record_last(g);
}

// -- fixed steps, compiled as one scan ------------------------------------------------------------
static bool ends_a_step(const Run *r, double t) {
  return fabs(round(t / r->step) * r->step - t) <= 1e-9 * r->end;
}

// Compiled steps are possible if nothing happens between recorded moments, and the end is the end
// of a step.
static bool can_compile_steps(const ContinuousRun *g) {
  const Run *r = g->m->run;
  for (uint32_t i = 0; i < g->watchers.n; i++)
    if (g->watchers.at[i].watch->kind != WATCH_LAST) return false;
  return has_fixed_steps(r) && !g->flow->table_inputs && !g->flow->events && !g->flow->lag.n &&
         !g->flow->nexts && ends_a_step(r, r->end) && ends_a_step(r, g->time) &&
         ends_a_step(r, default_interval(r)) && g->time >= g->begun && !(g->resumed && g->solved);
}

static Engine *steps_engine(const ContinuousRun *g, int64_t steps) {
  const Run *r = g->m->run;
  Diagram *d = pick_steps(g->m->w, g->m->s, steps, r->step, flow_step_kind(r));
  return d ? sim_engine(g->m, d) : NULL;
}

static bool is_finite(const ContinuousRun *g, double t) {
  for (uint32_t i = 0; i < g->flow->n; i++) {
    if (isfinite(g->x[i])) continue;
    Id e = diag_error(g->m->w->diags, g->m->run->span, "`%s` is not finite any more at t = %.6g",
                      flow_name(g->flow, i), t);
    if (g->flow->step)
      diag_help(g->m->w->diags, e, "steps of %g may be too long for it: try shorter ones",
                g->m->run->step);
    else
      diag_help(g->m->w->diags, e,
                "steps of %g may be too long for it: without `by` they are chosen, and `by stiff` "
                "is for stiff rates",
                g->m->run->step);
    return false;
  }
  return true;
}

// The clock has accumulated rounding; gives the exact time.
static double compiled_time(const ContinuousRun *g, int64_t chunk, int64_t all, double clock) {
  const Run *r = g->m->run;
  int64_t done = (int64_t)g->steps;
  double t = done == all         ? r->end
             : done % chunk == 0 ? round_time(r, (uint64_t)(done / chunk))
                                 : clock;
  return fabs(t - clock) <= 1e-9 * r->end ? t : clock;
}

static bool run_compiled_steps(ContinuousRun *g, Engine *e, int64_t steps, const int64_t of[2]) {
  double t = 0;
  flow_noise_rows(g->flow, e, g->steps, steps);
  if (!sim_run(g->m, e, 0)) return false;
  state_get(g->flow->time, &t);
  flow_start(g->flow, g->x);
  g->steps += (uint64_t)steps;
  g->f->record.steps += (uint64_t)steps;
  g->reached = g->f->record.reached = t = compiled_time(g, of[0], of[1], t);
  bool kept = (int64_t)g->steps % of[0] == 0 || (int64_t)g->steps == of[1];
  return is_finite(g, t) && (!kept || record_moment(g, t, g->x));
}

// Engines for two numbers of steps: most calls run the full number, the last one before a recorded
// moment runs fewer.
typedef struct {
  Engine *e;
  int64_t steps;
} StepsEngine;

static Engine *engine_for(const ContinuousRun *g, StepsEngine made[2], int64_t steps,
                          int64_t most) {
  StepsEngine *m = &made[steps < most];
  if (m->e && m->steps == steps) return m->e;
  if (m->e) engine_free(m->e);
  *m = (StepsEngine){steps_engine(g, steps), steps};
  return m->e;
}

// Steps per call, between two checks whether to stop.
static int64_t steps_at_once(const ContinuousRun *g) {
  enum { NUMBERS_AT_ONCE = 1 << 20 };
  return NUMBERS_AT_ONCE / (g->m->numbers + 1) + 1;
}

// Recorded moments are `chunk` steps apart, from time 0.
static bool run_compiled_rows(ContinuousRun *g, int64_t chunk, int64_t all) {
  const SimOptions *how = g->m->how;
  int64_t once = steps_at_once(g), most = once < chunk ? once : chunk;
  StepsEngine made[2] = {{0}};
  bool good = true;
  while (good && (int64_t)g->steps < all && !g->f->stopped) {
    int64_t done = (int64_t)g->steps, steps = chunk - done % chunk;
    if (steps > all - done) steps = all - done;
    if (steps > most) steps = most;
    note_steps(g, (uint64_t)(done - done % chunk % most));
    Engine *e = engine_for(g, made, steps, most);
    if (!(good = e && run_compiled_steps(g, e, steps, (int64_t[]){chunk, all}))) break;
    if (how->progress)
      how->progress(how->context, (g->reached - g->begun) / (g->m->run->end - g->begun));
    good = follow_save_now(g);
    g->f->stopped = stop_asked(how->stop) && (int64_t)g->steps < all;
  }
  for (int i = 0; i < 2; i++)
    if (made[i].e) engine_free(made[i].e);
  return good;
}

static bool follow_compiled(ContinuousRun *g, double *start) {
  const Run *r = g->m->run;
  int64_t steps = (int64_t)llround(r->end / r->step);
  int64_t chunk = (int64_t)llround(default_interval(r) / r->step);
  if (chunk < 1) chunk = 1;
  if (chunk > steps) chunk = steps;
  memcpy(g->x, start, g->flow->n * sizeof *start);
  if (!g->resumed) {
    g->reached = g->time;
    g->steps = (uint64_t)llround(g->time / r->step);
    flow_set_point(g->flow, g->time, start, NULL);
    if (!observe_start(g, start) || !follow_save(g)) return false;
  }
  if (!run_compiled_rows(g, chunk, steps)) return false;
  g->over = !g->f->stopped;
  return !g->over || watch_moment(g, r->end, g->x);
}

// -- opening --------------------------------------------------------------------------------------
static bool open_look(ContinuousRun *g, uint32_t number) {
  Sim *m = g->m;
  SimRecord *r = &g->f->record;
  g->see = record_sights(m, number, r, &g->watchers);
  g->shows = g->see.n + g->see.nseen - g->watchers.n;
  int64_t most = 1;
  for (uint32_t i = 0; i < r->channel.n; i++)
    if (r->channel.at[i].cells > most) most = r->channel.at[i].cells;
  g->row = NEW_ARRAY(m->arena, double, most);
  g->observer = sim_engine(m, pick_seen(m->w, m->s, &g->see));
  return g->observer != NULL;
}

static void allocate_rows(ContinuousRun *g) {
  Sim *m = g->m;
  watching_open(g);
  for (uint32_t i = 0; i < m->s->state.n; i++)
    if (is_held(g, i)) g->held += sim_state(m, i)->count;
  g->before = NEW_ARRAY(m->arena, double, g->held + 1);
  g->after = NEW_ARRAY(m->arena, double, g->held + 1);
  g->x = NEW_ARRAY(m->arena, double, g->flow->n + 1);
}

static void report_notes(const ContinuousRun *g) {
  Diags *to = g->m->w->diags;
  if (!g->records) return;
  if (g->unsure) diag_warning(to, g->m->run->span, "%s", g->unsure);
  if (!g->note) return;
  Id e = diag_warning(to, g->m->run->span, "%s", g->note);
  diag_help(to, e, "`by stiff` uses it from the start");
}

// Checks also the states without rates.
static bool starts_finite(const ContinuousRun *g) {
  const Sim *m = g->m;
  for (uint32_t i = 0; i < m->s->state.n; i++) {
    const State *s = sim_state(m, i);
    double *x = NEW_ARRAY(m->arena, double, s->count + 1);
    state_get(s, x);
    for (int64_t k = 0; k < s->count; k++) {
      if (isfinite(x[k])) continue;
      const Diagram *d = m->s->d;
      Span at = origin_span(m->w, d->wire.at[d->param.at[m->s->state.at[i].param].wire].origin);
      Id e = diag_error(m->w->diags, at.file ? at : m->run->span, "`%s` is not finite at the start",
                        sim_place(m, i, k));
      if (!isnan(x[k]))
        diag_help(m->w->diags, e,
                  "a moment that is never reached counts as one after the end of the run");
      return false;
    }
  }
  return true;
}

static bool follow_once(ContinuousRun *g) {
  Sim *m = g->m;
  record_channels(m->w, m->p, g->number, &g->f->record);
  g->errors = m->w->diags->errors;
  if (!starts_finite(g)) return false;
  g->flow = flow_open(m, !has_fixed_steps(m->run));
  if (!g->flow || !open_look(g, g->number) || !flow_open_table(g->flow)) return false;
  g->flow->observer = g->observer;
  if (g->flow->table_inputs) flow_select_row(g->flow, 0);
  if (g->records) g->flow->record = &g->f->record;
  if (!flow_noise(g->flow, m->run)) return false;
  allocate_rows(g);
  if (g->watchers.n) g->flow->between = note_round, g->flow->follower = g;
  if (!follow_restore(g)) return false;
  for (uint32_t i = 0; i < g->watchers.n; i++) // periods are measured in the second half
    g->watchers.at[i].half = (g->begun + m->run->end) / 2;
  double *start = NEW_ARRAY(m->arena, double, g->flow->n + 1);
  flow_start(g->flow, start);
  bool done = g->over; // it was finished earlier
  if (!done && !(can_compile_steps(g) ? follow_compiled(g, start) : follow_all(g, start)))
    return false;
  report_notes(g);
  return done || !g->records || follow_save(g);
}

// First pass of a run with periods: finds the middle of each watched value. It is saved, too.
static bool find_middles(Sim *m, ContinuousRun *g, const SavedRun *from) {
  Sim first;
  Followed unused = {.watch = g->f->watch};
  ContinuousRun once = {.m = &first, .f = &unused, .number = g->number, .watchers = g->watchers};
  once.from = from;
  once.resumed = g->resumed;
  bool good = sim_open(&first, m->in, m->p, m->s, m->run, m->how) && follow_once(&once);
  g->begun = once.begun;
  g->f->stopped = unused.stopped;
  if (good && unused.stopped) good = follow_save(&once);
  sim_close(&first);
  for (uint32_t i = 0; good && i < g->watchers.n; i++)
    watcher_second_pass(&g->watchers.at[i], (g->begun + m->run->end) / 2);
  return good;
}

// Periods need the middle of the watched value, so such a run is made twice.
static bool follow_flow(Sim *m, uint32_t number, Followed *f) {
  SavedRun saved, before;
  ContinuousRun g = {.m = m, .f = f, .number = number, .records = true};
  bool twice = false;
  if (!follow_from(m, number, &saved, &before)) return false;
  if (!follow_saved_step(m, saved.arrays ? &saved : &before)) return false;
  watchers_find(m, number, f, &g.watchers);
  for (uint32_t i = 0; i < g.watchers.n; i++) twice |= g.watchers.at[i].watch->kind == WATCH_PERIOD;
  g.resumed = saved.arrays;
  g.from = saved.arrays ? &saved : &before;
  if (twice && !follow_saved_in_second_pass(m, &saved)) {
    if (!find_middles(m, &g, g.from)) return false;
    if (f->stopped) return record_channels(m->w, m->p, number, &f->record), true;
    g.resumed = false;
    g.from = &before;
  }
  if (!follow_once(&g)) return false;
  for (uint32_t i = 0; i < g.watchers.n; i++) watcher_end(&g.watchers.at[i]);
  return true;
}

bool follow_run(Elab *in, Program *p, uint32_t number, const SimOptions *how, Followed *f) {
  const Run *run = &p->ran->run.at[number];
  Sim m;
  *f = (Followed){0};
  bool good = sim_open(&m, in, p, run->system, run, how) &&
              (run->system->flows ? follow_flow(&m, number, f) : follow_ticks(&m, number, f));
  sim_close(&m);
  return good;
}
