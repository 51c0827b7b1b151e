// Sliding: a rate that jumps at a surface, and on both sides points towards it.
//
// Steps short enough to resolve the jump do not leave the surface, so time hardly advances. It
// shows in many steps that are rejected, or over which a rate changes by a large part of itself.
// Then the jump is located on the step by bisection, and both sides are integrated for a moment.
// Only if each side leads to the other, it is sliding; otherwise the solver continues.
//
// If several jumps meet, one side may lead to the other only around a corner. Then sliding is
// detected because time does not advance over thousands of steps with jumps.
#include "run/solve/solve_own.h"

#include <math.h>

struct SlideWatch {
  SolverSlide found;
  bool known;            // the start of the step before
  double t;              // there
  double *x, *f;         // [n] there, and the rates
  double *xs[3];         // [n] states on both sides, and between
  double *fs[3];         // [n] the rates there
  double often;          // number of steps with a jump, with exponential decay
  uint32_t looks, jumps; // steps since `since`, and those with a jump
  double since;
};

static void allocate_rows(Solver *s, SlideWatch *w) {
  double **row[] = {&w->x, &w->f, w->xs, w->xs + 1, w->xs + 2, w->fs, w->fs + 1, w->fs + 2};
  for (uint32_t i = 0; i < COUNT(row); i++) *row[i] = NEW_ARRAY(s->arena, double, s->n + 1);
}

static void remember(const Solver *s, SlideWatch *w) {
  w->known = true;
  w->t = s->t;
  memcpy(w->x, s->x, s->n * sizeof(double));
  memcpy(w->f, s->rate, s->n * sizeof(double));
}

static void swap_rows(double **a, double **b) {
  double *c = *a;
  *a = *b;
  *b = c;
}

typedef struct {
  double t;
  const double *x, *f; // the rates there
} SlideEnd;

static bool has_rate(const Solver *s, uint32_t i) {
  return i < s->n && !(s->problem.constrained && s->problem.constrained[i]);
}

// An Euler step from x.
static void euler_step(const Solver *s, const double *x, const double *f, double h, double *to) {
  for (uint32_t j = 0; j < s->n; j++) to[j] = x[j] + (has_rate(s, j) ? h * f[j] : 0);
}

static bool much(double a, double b) { return fabs(a - b) > 0.5 * fmax(fabs(a), fabs(b)); }

// Bisects between two points, keeping the half with the larger change of rate i: is it a jump?
static bool bisect_jump(Solver *s, SlideWatch *w, uint32_t i, const SlideEnd end[2]) {
  enum { HALVES = 48 };
  double t[3] = {end[0].t, end[1].t}, jump = fabs(end[1].f[i] - end[0].f[i]);
  for (int k = 0; k < 2; k++) {
    memmove(w->xs[k], end[k].x, s->n * sizeof(double));
    memmove(w->fs[k], end[k].f, s->n * sizeof(double));
  }
  for (int k = 0; k < HALVES; k++) {
    t[2] = t[0] + (t[1] - t[0]) / 2;
    for (uint32_t j = 0; j < s->n; j++) w->xs[2][j] = w->xs[0][j] + (w->xs[1][j] - w->xs[0][j]) / 2;
    if (!solver_rates(s, t[2], w->xs[2], SIDE_LEFT, w->fs[2])) return false;
    int side = fabs(w->fs[2][i] - w->fs[0][i]) > fabs(w->fs[1][i] - w->fs[2][i]);
    t[side] = t[2];
    swap_rows(&w->xs[side], &w->xs[2]);
    swap_rows(&w->fs[side], &w->fs[2]);
  }
  w->found.t = t[1];
  return fabs(w->fs[1][i] - w->fs[0][i]) > jump / 2;
}

// Does this side, integrated for the length of a step, reach the other?
static bool leads_over(Solver *s, const SlideWatch *w, uint32_t i, int side, double h) {
  double *x = w->xs[2], *f = w->fs[2];
  euler_step(s, w->xs[side], w->fs[side], h, x);
  if (!solver_rates(s, w->found.t + h, x, SIDE_LEFT, f)) return false;
  return fabs(f[i] - w->fs[!side][i]) < fabs(f[i] - w->fs[side][i]);
}

static void record_slide(Solver *s, SlideWatch *w, uint32_t i) {
  w->found.number = i;
  for (int side = 0; side < 2; side++) w->found.side[side] = w->xs[side];
  s->slide = &w->found;
}

static bool fail_slide(Solver *s, SlideWatch *w, uint32_t i) {
  record_slide(s, w, i);
  return solver_fail(s,
                     "at t = %.10g `%s` slides: its rate jumps between %.4g and %.4g there, and "
                     "both values lead back to the jump, so no step can leave it",
                     w->found.t, solver_name(s, i), fmin(w->fs[0][i], w->fs[1][i]),
                     fmax(w->fs[0][i], w->fs[1][i]));
}

static bool slides(Solver *s, SlideWatch *w, uint32_t i, const SlideEnd end[2]) {
  double h = end[1].t - end[0].t, jump = fabs(end[1].f[i] - end[0].f[i]);
  bool matters = h * jump > 0.1 * solver_allowed(s, fabs(s->x[i])); // larger than rounding
  w->often = 0;
  return matters && much(end[0].f[i], end[1].f[i]) && bisect_jump(s, w, i, end) &&
         leads_over(s, w, i, 0, h) && leads_over(s, w, i, 1, h);
}

static SlideWatch *slide_watch_of(Solver *s) {
  if (!s->slides) allocate_rows(s, s->slides = NEW(s->arena, SlideWatch));
  return s->slides;
}

// Are steps so short that the run would need a billion of them, and do most have a jump?
static bool is_stuck(const Solver *s, SlideWatch *w, bool jump) {
  enum { LOOKS = 4096 };
  const double least = 1e-9 * LOOKS;
  w->jumps += jump;
  if (++w->looks < LOOKS) return false;
  bool stuck =
      isfinite(s->how.largest) && s->t - w->since < least * s->how.largest && 4 * w->jumps > LOOKS;
  w->looks = w->jumps = 0;
  w->since = s->t;
  return stuck;
}

static bool fail_stuck(Solver *s, SlideWatch *w, uint32_t i) {
  w->found.t = s->t;
  record_slide(s, w, i);
  return solver_fail(s,
                     "at t = %.10g `%s` comes to rest where several jumps meet: its rate jumps "
                     "between %.4g and %.4g there, again and again, so no step can leave it",
                     s->t, solver_name(s, i), fmin(w->fs[0][i], w->fs[1][i]),
                     fmax(w->fs[0][i], w->fs[1][i]));
}

static bool jumps_too_often(SlideWatch *w, bool now) {
  w->often = (1 - 1.0 / 64) * w->often + now;
  return now && w->often > 64 * 0.3;
}

bool slide_watch(Solver *s) {
  SlideWatch *w = slide_watch_of(s);
  uint32_t i = s->worst;
  bool jumps = w->known && !s->restarted && has_rate(s, i) && much(s->rate[i], w->f[i]);
  const SlideEnd end[] = {{w->t, w->x, w->f}, {s->t, s->x, s->rate}};
  if (jumps_too_often(w, jumps) && slides(s, w, i, end)) return fail_slide(s, w, i);
  if (is_stuck(s, w, jumps) && jumps && bisect_jump(s, w, i, end)) return fail_stuck(s, w, i);
  remember(s, w);
  return !s->message;
}

// An Euler step from here, as long as the rejected step.
bool slide_rejected(Solver *s, double h) {
  SlideWatch *w = slide_watch_of(s);
  if (!jumps_too_often(w, has_rate(s, s->worst))) return true;
  euler_step(s, s->x, s->rate, h, w->xs[1]);
  if (!solver_rates(s, s->t + h, w->xs[1], SIDE_LEFT, w->fs[1])) return false;
  const SlideEnd end[] = {{s->t, s->x, s->rate}, {s->t + h, w->xs[1], w->fs[1]}};
  if (slides(s, w, s->worst, end)) return fail_slide(s, w, s->worst);
  return !s->message;
}

void slide_archive(Solver *s, Archive *c) {
  SlideWatch *w = slide_watch_of(s);
  archive_bytes(c, &w->known, 1);
  archive_reals(c, &w->t, 1);
  archive_reals(c, &w->often, 1);
  archive_counts32(c, &w->looks, 1);
  archive_counts32(c, &w->jumps, 1);
  archive_reals(c, &w->since, 1);
  archive_reals(c, w->x, s->n);
  archive_reals(c, w->f, s->n);
}

const SolverSlide *solver_slide(const Solver *s) { return s->slide; }
