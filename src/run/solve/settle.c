// Numbers that equations say: before the first step, and after everything that makes the others jump,
// they are moved until the equations hold (Newton's method, with steps that are halved while they do not
// help). The numbers that have rates stay where they are. Where that finds nothing, all that has jumped
// goes from what it was to what it is little by little, also what the equations are off by at what was,
// and the numbers follow.
//
// That this can be done, and only in one way close by, is what "index 1" means: how the equations
// change with these numbers is a matrix that can be inverted. Where it cannot, nothing says what they
// are, and the solver stops in words.
#include "run/solve/solve_own.h"

#include <math.h>

enum { TURNS = 60, HALVES = 100, PARTS = 1000 };

typedef struct { // the equations are to be off by this part of this row; NULL: by nothing
  const double *off;
  double part;
} SettleAim;

// How far the equations are from where they are to be; false: they cannot be computed.
static bool residual(Solver *s, const SettleAim *aim, const double *x, double *g, double *most) {
  if (!solver_rates(s, s->t, x, SIDE_RIGHT, g)) return false;
  *most = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    if (!s->problem.constrained[i])
      g[i] = 0;
    else if (aim->off)
      g[i] -= aim->part * aim->off[i];
    if (!isfinite(g[i]))
      *most = INFINITY;
    else
      *most = fmax(*most, fabs(g[i]));
  }
  return true;
}

static const char *unknowns(Solver *s) {
  enum { SHOWN = 4 };
  Buf b = buf_new(s->arena);
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->n; i++)
    if (s->problem.constrained[i] && n++ < SHOWN)
      buf_printf(&b, "%s`%s`", n > 1 ? ", " : "", solver_name(s, i));
  return n > SHOWN ? arena_format(s->arena, "%s and %u more", b.at, n - SHOWN) : b.at;
}

bool settle_singular(Solver *s) {
  return solver_fail(
      s,
      "not index 1: at t = %.10g the equations `0 = …` do not say what %s should be: "
      "they hardly depend on it there, or twice in the same way",
      s->t, unknowns(s));
}

// Is the matrix of the equations as good as singular? Its rows are made alike, and no answer to a
// question of size 1 may be huge.
static bool is_sound(Solver *s, double *x) {
  const double huge = 1e13;
  stiff_row_sizes(s, x);
  for (uint32_t i = 0; i < s->n; i++) x[i] = s->problem.constrained[i] ? (i % 2 ? -x[i] : x[i]) : 0;
  stiff_solve(s, x);
  for (uint32_t i = 0; i < s->n; i++)
    if (!(fabs(x[i]) < huge)) return false;
  return true;
}

// As far along `way` as helps; *off: what is left then. False: nowhere.
static bool go(Solver *s, const SettleAim *aim, const double *way, double *off) {
  double part = 1, left;
  for (int k = 0; k < HALVES; k++, part /= 2) {
    for (uint32_t i = 0; i < s->n; i++) s->next[i] = s->x[i] + part * way[i];
    if (!residual(s, aim, s->next, s->next_rate, &left)) return false;
    if (!(left < *off || (left == 0 && *off == 0))) continue;
    memcpy(s->x, s->next, s->n * sizeof(double));
    *off = left;
    return true;
  }
  return false;
}

static bool is_small(const Solver *s, const double *way) {
  const double share = 1e-3; // of the error that a step may have
  for (uint32_t i = 0; i < s->n; i++) {
    double allowed = s->how.absolute + s->how.relative * fabs(s->x[i]);
    if (fabs(way[i]) > fmax(share * allowed, 1e-15 * fabs(s->x[i]))) return false;
  }
  return true;
}

typedef enum { SETTLED, SETTLE_STUCK, SETTLE_LOST } SettleEnd; // LOST: with a message

static SettleEnd newton(Solver *s, const SettleAim *aim, double *off) {
  double *way = s->trial;
  if (!residual(s, aim, s->x, s->rate, off)) return SETTLE_LOST;
  for (int turn = 0; turn < TURNS && isfinite(*off); turn++) {
    if (!stiff_at_rest(s)) return s->message ? SETTLE_LOST : (settle_singular(s), SETTLE_LOST);
    if (turn == 0 && !is_sound(s, way)) return settle_singular(s), SETTLE_LOST;
    if (!residual(s, aim, s->x, way, off)) return SETTLE_LOST;
    stiff_solve(s, way);
    bool small = is_small(s, way);
    if (!go(s, aim, way, off) && !small) return s->message ? SETTLE_LOST : SETTLE_STUCK;
    if (small) return SETTLED;
  }
  return SETTLE_STUCK;
}

typedef struct {
  const double *before; // [n] where the equations are off by `off`
  double *off, *now, *from;
} SettleWay;

// The numbers that have rates, where this part of their way is left.
static void put_rated(Solver *s, const SettleWay *w, double part) {
  for (uint32_t i = 0; i < s->n; i++)
    if (!s->problem.constrained[i])
      s->x[i] = part > 0 ? w->now[i] + part * (w->before[i] - w->now[i]) : w->now[i];
}

static SettleEnd follow(Solver *s, const SettleWay *w) {
  size_t bytes = s->n * sizeof(double);
  double left = 1, by = 0.1, most;
  for (int k = 0; k < PARTS && left > 0 && by > 1e-7; k++) {
    SettleAim aim = {w->off, fmax(left - by, 0)};
    memcpy(w->from, s->x, bytes);
    put_rated(s, w, aim.part);
    SettleEnd end = newton(s, &aim, &most);
    if (end == SETTLE_LOST) return end;
    if (end == SETTLED)
      left = aim.part, by *= 2;
    else
      memcpy(s->x, w->from, bytes), by /= 4;
  }
  return left > 0 ? SETTLE_STUCK : SETTLED;
}

// `now`: as it jumped.
static SettleEnd little_by_little(Solver *s, const double *now) {
  size_t bytes = s->n * sizeof(double);
  Arena *own = arena_child(s->arena);
  double most;
  SettleWay w = {.before = s->before, .now = arena_copy(own, now, bytes)};
  w.off = NEW_ARRAY(own, double, s->n);
  w.from = NEW_ARRAY(own, double, s->n);
  memcpy(s->x, s->before, bytes);
  SettleEnd end = SETTLE_LOST;
  if (residual(s, &(SettleAim){0}, s->x, w.off, &most))
    end = isfinite(most) ? follow(s, &w) : SETTLE_STUCK;
  arena_free(own);
  return end;
}

void settle_before(Solver *s) {
  if (s->problem.constrained) memcpy(s->before, s->x, s->n * sizeof(double));
}

bool solver_settle(Solver *s) {
  double off = 0;
  if (!s->problem.constrained || s->message) return !s->message;
  s->known = false;
  SettleEnd end = newton(s, &(SettleAim){0}, &off);
  if (end == SETTLE_STUCK)
    end = little_by_little(s, s->x); // its numbers with rates are as they were
  if (end != SETTLE_STUCK) return end == SETTLED;
  return solver_fail(s,
                     "no values of %s were found that fit the equations `0 = …` at t = %.10g: they "
                     "are still off by %.3g. Start values that are closer may help",
                     unknowns(s), s->t, off);
}
