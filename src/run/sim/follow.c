// A run in time that flows. The solver makes its steps; what is shown at round times, and what is
// watched, is found on its dense output, so neither changes the steps.
//
// Between two steps an event may have set modes and states that do not flow: the step before it is
// looked at with the values before, the moment itself with those after.
#include "run/sim/flow_own.h"
#include "run/sim/watch_own.h"

#include <float.h>
#include <math.h>

static const double usual_tolerance = 1e-10; // of a step's error

typedef struct {
  Sim *m;
  Followed *f;
  Flow *flow;
  Solver *solver;
  Engine *look; // what is kept, shown and watched
  SightList see;
  uint32_t shows; // those that are kept or shown come first, then those that checks watch
  Watchers watchers;
  double *x, *row;
  double *before, *after; // what does not flow, around an event
  int64_t held;
  bool keeps;     // false: only the watchers are interested
  double *points; // [WATCH_POINTS + 1][watcher] in a part of a step, the last at the probe
} Following;

// -- what does not flow ---------------------------------------------------------------------------
static bool is_held(const Following *g, uint32_t i) { return !g->m->s->state.at[i].rate; }

static void move_held(const Following *g, double *row, bool back) {
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

// -- looking --------------------------------------------------------------------------------------
static bool look(Following *g, double t, const double *x) {
  flow_put(g->flow, t, x, g->solver ? solver_late(g->solver, t) : NULL);
  return sim_run(g->m, g->look, 0);
}

static double watched(const Following *g, uint32_t i) {
  double x = 0;
  engine_get(g->look, g->shows + i, &x, 1);
  return x;
}

static bool keep_moment(Following *g, double t, const double *x) {
  SimRecord *r = &g->f->record;
  if (!g->keeps) return true;
  if (!look(g, t, x)) return false;
  vec_push(g->m->arena, &r->time, t);
  for (uint32_t i = 0; i < g->shows; i++) {
    SimChannel *c = &r->channel.at[sight_channel(&g->see, r, i)];
    engine_get(g->look, i, g->row, c->cells);
    for (int64_t k = 0; k < c->cells; k++) vec_push(g->m->arena, &c->value, g->row[k]);
  }
  return true;
}

// A watcher at some time inside the last step.
typedef struct {
  Following *g;
  uint32_t which;
} Glance;

static double glance(void *context, double t) {
  const Glance *at = context;
  solver_at(at->g->solver, t, at->g->x);
  return look(at->g, t, at->g->x) ? watched(at->g, at->which) : NAN;
}

// What the watchers see in a part of a step; do five points say enough of each?
static bool watch_points(void *following, double from, double to, bool *tame) {
  Following *g = following;
  double *all = g->points;
  for (uint32_t k = 0; k <= WATCH_POINTS; k++) {
    double t = from + (to - from) * (k < WATCH_POINTS ? k / (WATCH_POINTS - 1.0) : CURVE_PROBE);
    if (k == WATCH_POINTS - 1) t = to;
    solver_at(g->solver, t, g->x);
    if (!look(g, t, g->x)) return false;
    for (uint32_t i = 0; i < g->watchers.n; i++) all[k * g->watchers.n + i] = watched(g, i);
  }
  *tame = true;
  for (uint32_t i = 0; i < g->watchers.n && *tame; i++) {
    double value[WATCH_POINTS + 1];
    for (uint32_t k = 0; k <= WATCH_POINTS; k++) value[k] = all[k * g->watchers.n + i];
    *tame = curve_is_tame(value);
  }
  return true;
}

static void watch_all(Following *g, double from, double to, const double *all) {
  double value[WATCH_POINTS];
  for (uint32_t i = 0; i < g->watchers.n; i++) {
    for (uint32_t k = 0; k < WATCH_POINTS; k++) value[k] = all[k * g->watchers.n + i];
    watcher_step(&g->watchers.at[i], from, to, value, glance, &(Glance){g, i});
  }
}

static bool watch_part(Following *g, double from, double to, int deep) {
  double middle = from + (to - from) / 2;
  switch (halves_or_whole(&(Halves){g, watch_points}, from, to, deep)) {
  case HALVES_LOST: return false;
  case HALVES_WHOLE: watch_all(g, from, to, g->points); return true;
  case HALVES_SPLIT: break;
  }
  return watch_part(g, from, middle, deep + 1) && watch_part(g, middle, to, deep + 1);
}

static bool watch_step(Following *g, double from, double to) {
  return !g->watchers.n || watch_part(g, from, to, 0);
}

static bool watch_moment(Following *g, double t, const double *x) {
  if (!g->watchers.n) return true;
  if (!look(g, t, x)) return false;
  for (uint32_t i = 0; i < g->watchers.n; i++) watcher_moment(&g->watchers.at[i], t, watched(g, i));
  return true;
}

// -- the loop -------------------------------------------------------------------------------------
static double usual_every(const Run *r) { return r->every > 0 ? r->every : r->end / 1000; }

static bool fail_sliding(const Following *g, const char *why) {
  const SolverSlide *slide = solver_slide(g->solver);
  Diags *diags = g->m->w->diags;
  Span span = flow_slide_span(g->flow, slide, solver_late(g->solver, slide->t));
  Id e = diag_error(diags, span.file ? span : g->m->run->span, "%s", why);
  diag_help(diags, e,
            "let modes say it, one of which holds it there until something lets it go; or let it "
            "jump smoothly: `tanh(x / 0.01)` is like `sign(x)`");
  return true;
}

static bool failed(const Following *g) {
  const char *why = solver_error(g->solver);
  if (g->m->w->diags->errors) return true;
  if (!why) return false;
  if (g->flow->odd.e && solver_odd_end(g->solver)) return !flow_blame(g->flow, why);
  if (solver_slide(g->solver)) return fail_sliding(g, why);
  Id e = diag_error(g->m->w->diags, g->m->run->span, "%s", why);
  if (strstr(why, "stiff") && g->m->run->follow != FOLLOW_STIFF)
    diag_help(g->m->w->diags, e, "the stiff method is `by stiff`");
  return true;
}

// One step, and all that is seen on the way; `moment` counts those that are kept.
static bool follow_step(Following *g, double end, double every, uint64_t *moment) {
  bool events = g->flow->problem.events > 0;
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
  if (!watch_step(g, from, to)) return false;
  double last =
      to < g->m->run->end ? to : to * (1 + 1e-12); // the end is a moment, but for rounding
  for (; every * (double)*moment <= last; ++*moment) {
    double t = every * (double)*moment;
    solver_at(g->solver, t < to ? t : to, g->x);
    if (!keep_moment(g, t, g->x)) return false;
  }
  if (!happened) return true;
  move_held(g, g->after, true);
  return watch_moment(g, to, solver_state(g->solver)) &&
         keep_moment(g, to, solver_state(g->solver));
}

static bool has_fixed_steps(const Run *r) {
  return r->follow != FOLLOW_USUAL && r->follow != FOLLOW_DORMAND && r->follow != FOLLOW_STIFF;
}

// However easy the rates are, what depends on time alone must not be stepped over.
static double longest_step(const Run *r) {
  enum { STEPS_AT_LEAST = 50 };
  double longest = r->end / STEPS_AT_LEAST;
  if (r->every > 0) longest = fmin(longest, r->every);
  return r->step > 0 ? fmin(longest, r->step) : longest;
}

// Events of the moment come before its ticks, also those that rounding sets a few digits behind it.
static double tick_met(const Following *g, double tick) {
  return g->flow->problem.events ? tick * (1 + 64 * DBL_EPSILON) : tick;
}

// What ticks now; `kept` is the last moment that was kept, as it was before.
static bool do_tick(Following *g, double now, double kept) {
  const double *x = solver_state(g->solver);
  if (!flow_tick(g->flow, now, x)) return false;
  solver_disturb(g->solver);
  if (!watch_moment(g, now, x)) return false;
  return fabs(kept - now) > 1e-12 * now || keep_moment(g, now, x);
}

enum { LOOKS = 8192 }; // at the rates in a whole run, where steps see nothing

static bool follow_all(Following *g, double *start) {
  const Run *r = g->m->run;
  static const Method method[] = {SOLVE_DORMAND, SOLVE_DORMAND, SOLVE_RK4,  SOLVE_EULER,
                                  SOLVE_STIFF,   SOLVE_GIVEN,   SOLVE_GIVEN};
  double tolerance = r->tolerance > 0 ? r->tolerance : usual_tolerance;
  SolveOptions how = {.method = method[r->follow], .relative = tolerance};
  how.absolute = tolerance * 1e-3;
  if (has_fixed_steps(r))
    how.step = r->step;
  else
    how.largest = longest_step(r), how.look = r->end / LOOKS;
  g->solver = solver_new(g->m->arena, &g->flow->problem, &how, 0, start);
  if (failed(g)) return false;
  if (g->flow->problem.constrained)
    memcpy(start, solver_state(g->solver), g->flow->n * sizeof *start);
  double every = usual_every(r);
  uint64_t moment = 1;
  if (!watch_moment(g, 0, start) || !keep_moment(g, 0, start)) return false;
  while (solver_time(g->solver) < r->end && !flow_halted(g->flow)) {
    double row = flow_next_row(g->flow), tick = flow_next_tick(g->flow, r->end);
    double end = fmin(fmin(r->end, tick_met(g, tick)), row);
    if (!follow_step(g, end, every, &moment)) return false;
    if (solver_time(g->solver) >= tick && !do_tick(g, tick, every * (double)(moment - 1)))
      return false;
    if (solver_time(g->solver) >= row && row < r->end) {
      flow_row(g->flow, row);
      solver_disturb(g->solver);
      if (!watch_moment(g, row, solver_state(g->solver))) return false;
    }
    if (g->m->how->progress)
      g->m->how->progress(g->m->how->context, solver_time(g->solver) / r->end);
    if (g->m->how->stop && *g->m->how->stop) {
      g->f->stopped = true;
      break;
    }
  }
  g->f->record.halted = flow_halted(g->flow);
  g->f->record.steps = solver_count(g->solver, NULL, NULL);
  if (g->keeps && solver_note(g->solver)) {
    Id e = diag_warning(g->m->w->diags, r->span, "%s", solver_note(g->solver));
    diag_help(g->m->w->diags, e, "`by stiff` names it: then it is there from the start");
  }
  return true;
}

// -- fixed steps, compiled as a whole -------------------------------------------------------------
// Nothing may happen between two moments that are kept, and the end is the end of a step.
static bool is_plain(const Following *g) {
  const Run *r = g->m->run;
  for (uint32_t i = 0; i < g->watchers.n; i++)
    if (g->watchers.at[i].watch->kind != WATCH_LAST) return false;
  return has_fixed_steps(r) && !g->flow->driven && !g->flow->problem.events && !g->flow->lag.n &&
         !g->flow->nexts && fabs(round(r->end / r->step) * r->step - r->end) <= 1e-9 * r->end;
}

static Engine *steps_engine(const Following *g, int64_t steps) {
  const Run *r = g->m->run;
  Diagram *d = pick_steps(g->m->w, g->m->s, steps, r->step, flow_step_kind(r));
  return d ? sim_engine(g->m, d) : NULL;
}

static bool is_finite(const Following *g, double t) {
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
                "is for rates that pull back hard",
                g->m->run->step);
    return false;
  }
  return true;
}

static bool plain_steps(Following *g, int64_t steps, int64_t times) {
  const SimOptions *how = g->m->how;
  double t = 0;
  Engine *e = times ? steps_engine(g, steps) : NULL;
  if (times && !e) return false;
  bool good = true;
  for (int64_t i = 0; good && i < times && !g->f->stopped; i++) {
    flow_noise_rows(g->flow, e, g->f->record.steps, steps);
    if (!(good = sim_run(g->m, e, 0))) break;
    state_get(g->flow->time, &t);
    flow_start(g->flow, g->x);
    if (!(good = is_finite(g, t) && keep_moment(g, t, g->x))) break;
    if (how->progress) how->progress(how->context, t / g->m->run->end);
    g->f->stopped = how->stop && *how->stop;
    g->f->record.steps += (uint64_t)steps;
  }
  if (e) engine_free(e);
  return good;
}

static bool follow_plain(Following *g, double *start) {
  const Run *r = g->m->run;
  int64_t steps = (int64_t)llround(r->end / r->step);
  int64_t chunk = (int64_t)llround(usual_every(r) / r->step);
  if (chunk < 1) chunk = 1;
  if (chunk > steps) chunk = steps;
  flow_put(g->flow, 0, start, NULL);
  if (!watch_moment(g, 0, start) || !keep_moment(g, 0, start)) return false;
  bool good = plain_steps(g, chunk, steps / chunk);
  if (good && !g->f->stopped && steps % chunk) good = plain_steps(g, steps % chunk, 1);
  return good && watch_moment(g, r->end, g->x);
}

// -- opening --------------------------------------------------------------------------------------
static bool open_look(Following *g, uint32_t number) {
  Sim *m = g->m;
  SimRecord *r = &g->f->record;
  g->see = record_sights(m, number, r, &g->watchers);
  g->shows = g->see.n + g->see.nseen - g->watchers.n;
  int64_t most = 1;
  for (uint32_t i = 0; i < r->channel.n; i++)
    if (r->channel.at[i].cells > most) most = r->channel.at[i].cells;
  g->row = NEW_ARRAY(m->arena, double, most);
  g->look = sim_engine(m, pick_seen(m->w, m->s, &g->see));
  return g->look != NULL;
}

static bool follow_once(Sim *m, uint32_t number, Followed *f, const Watchers *watchers,
                        bool keeps) {
  Following g = {.m = m, .f = f, .watchers = *watchers, .keeps = keeps};
  record_channels(m->w, m->p, number, &f->record);
  size_t points = (WATCH_POINTS + 1) * (size_t)watchers->n;
  g.points = NEW_ARRAY(m->arena, double, points + 1);
  g.flow = flow_open(m);
  if (!g.flow || !open_look(&g, number) || !flow_drive(g.flow)) return false;
  g.flow->look = g.look;
  if (g.flow->driven) flow_row(g.flow, 0);
  if (keeps) g.flow->record = &f->record;
  if (!flow_noise(g.flow, m->run)) return false;
  for (uint32_t i = 0; i < m->s->state.n; i++)
    if (is_held(&g, i)) g.held += sim_state(m, i)->count;
  g.before = NEW_ARRAY(m->arena, double, g.held + 1);
  g.after = NEW_ARRAY(m->arena, double, g.held + 1);
  g.x = NEW_ARRAY(m->arena, double, g.flow->n + 1);
  double *start = NEW_ARRAY(m->arena, double, g.flow->n + 1);
  flow_start(g.flow, start);
  return is_plain(&g) ? follow_plain(&g, start) : follow_all(&g, start);
}

// Periods want to know where the middle is, which a first run finds.
bool follow_flow(Sim *m, uint32_t number, Followed *f) {
  Watchers watchers = {0};
  if (!flow_usual_step(m)) return false;
  watchers_find(m, number, f, &watchers);
  bool twice = false;
  for (uint32_t i = 0; i < watchers.n; i++) twice |= watchers.at[i].watch->kind == WATCH_PERIOD;
  if (twice) {
    Sim first;
    Followed unused = {.watch = f->watch};
    bool good = sim_open(&first, m->in, m->p, m->s, m->run, m->how) &&
                follow_once(&first, number, &unused, &watchers, false);
    sim_close(&first);
    if (!good) return false;
    for (uint32_t i = 0; i < watchers.n; i++) watcher_again(&watchers.at[i], m->run->end);
  }
  if (!follow_once(m, number, f, &watchers, true)) return false;
  for (uint32_t i = 0; i < watchers.n; i++) watcher_end(&watchers.at[i]);
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
