// Algebraic equations of an index-1 DAE. Before the first step, and after every discontinuity, the
// algebraic variables are solved for by Newton's method with step halving; variables with rates
// stay fixed. If Newton's method fails after a jump, homotopy is used: the differential variables,
// and the residual at the old values, are moved to their new values in small parts, and the
// algebraic variables follow.
//
// Index 1 means that the Jacobian of the equations by the algebraic variables is regular, so the
// solution exists and is locally unique. If it is singular, the solver stops with a message.
#include "run/solve/solve_own.h"

#include <math.h>

enum { TURNS = 60, HALVES = 100, PARTS = 1000 };

typedef struct { // the wanted residual is this part of the row; NULL: 0
  const double *off;
  double part;
} ResidualAim;

// The residual, and its largest component; false: it cannot be computed.
static bool residual(Solver *s, const ResidualAim *aim, const double *x, double *g, double *most) {
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

static bool algebraic_fail_singular(Solver *s) {
  return solver_fail(s,
                     "not index 1: at t = %.10g the equations `0 = …` do not determine %s: their "
                     "Jacobian is singular there",
                     s->t, unknowns(s));
}

// Is the matrix of the equations well conditioned? Its rows are scaled alike, and no solution for a
// right-hand side of size 1 may be huge.
static bool is_well_conditioned(Solver *s, double *x) {
  const double huge = 1e13;
  stiff_row_sizes(s, x);
  for (uint32_t i = 0; i < s->n; i++) x[i] = s->problem.constrained[i] ? (i % 2 ? -x[i] : x[i]) : 0;
  stiff_solve(s, x);
  for (uint32_t i = 0; i < s->n; i++)
    if (!(fabs(x[i]) < huge)) return false;
  return true;
}

// A damped Newton step: as far along `way` as the residual decreases; *off: the residual then.
// False: no decrease.
static bool damped_step(Solver *s, const ResidualAim *aim, const double *way, double *off) {
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

// Is the step small relative to a share of the error tolerance?
static bool is_small(const Solver *s, const double *way, double share) {
  for (uint32_t i = 0; i < s->n; i++) {
    double allowed = s->how.absolute + s->how.relative * fabs(s->x[i]);
    if (fabs(way[i]) > fmax(share * allowed, 1e-15 * fabs(s->x[i]))) return false;
  }
  return true;
}

typedef enum { NEWTON_DONE, NEWTON_STUCK, NEWTON_FAILED } NewtonEnd; // LOST: with a message

static NewtonEnd newton(Solver *s, const ResidualAim *aim, double *off) {
  double *way = s->trial;
  if (!residual(s, aim, s->x, s->rate, off)) return NEWTON_FAILED;
  for (int turn = 0; turn < TURNS && isfinite(*off); turn++) {
    if (!stiff_factor_algebraic(s))
      return s->message ? NEWTON_FAILED : (algebraic_fail_singular(s), NEWTON_FAILED);
    if (turn == 0 && !is_well_conditioned(s, way)) return algebraic_fail_singular(s), NEWTON_FAILED;
    if (!residual(s, aim, s->x, way, off)) return NEWTON_FAILED;
    stiff_solve(s, way);
    bool small = is_small(s, way, 1e-3);
    if (!damped_step(s, aim, way, off) && !small) {
      if (s->message) return NEWTON_FAILED;
      return is_small(s, way, 1) ? NEWTON_DONE : NEWTON_STUCK; // the rest is rounding
    }
    if (small) return NEWTON_DONE;
  }
  return NEWTON_STUCK;
}

typedef struct {
  const double *before; // [n] the start of the homotopy, with residual `off`
  double *off, *now, *from;
} Homotopy;

// Moves the differential variables, with this part of their way left.
static void move_differential(Solver *s, const Homotopy *w, double part) {
  for (uint32_t i = 0; i < s->n; i++)
    if (!s->problem.constrained[i])
      s->x[i] = part > 0 ? w->now[i] + part * (w->before[i] - w->now[i]) : w->now[i];
}

static NewtonEnd follow_homotopy(Solver *s, const Homotopy *w) {
  size_t bytes = s->n * sizeof(double);
  double left = 1, by = 0.1, most;
  for (int k = 0; k < PARTS && left > 0 && by > 1e-7; k++) {
    ResidualAim aim = {w->off, fmax(left - by, 0)};
    memcpy(w->from, s->x, bytes);
    move_differential(s, w, aim.part);
    NewtonEnd end = newton(s, &aim, &most);
    if (end == NEWTON_FAILED) return end;
    if (end == NEWTON_DONE)
      left = aim.part, by *= 2;
    else
      memcpy(s->x, w->from, bytes), by /= 4;
  }
  return left > 0 ? NEWTON_STUCK : NEWTON_DONE;
}

// Homotopy from the values before the jump to `now`.
static NewtonEnd solve_by_homotopy(Solver *s, const double *now) {
  size_t bytes = s->n * sizeof(double);
  Arena *own = arena_child(s->arena);
  double most;
  Homotopy w = {.before = s->before, .now = arena_copy(own, now, bytes)};
  w.off = NEW_ARRAY(own, double, s->n);
  w.from = NEW_ARRAY(own, double, s->n);
  memcpy(s->x, s->before, bytes);
  NewtonEnd end = NEWTON_FAILED;
  if (residual(s, &(ResidualAim){0}, s->x, w.off, &most))
    end = isfinite(most) ? follow_homotopy(s, &w) : NEWTON_STUCK;
  arena_free(own);
  return end;
}

void algebraic_before_jump(Solver *s) {
  if (s->problem.constrained) memcpy(s->before, s->x, s->n * sizeof(double));
}

bool solver_solve_algebraic(Solver *s) {
  double off = 0;
  if (!s->problem.constrained || s->message) return !s->message;
  s->known = false;
  NewtonEnd end = newton(s, &(ResidualAim){0}, &off);
  if (end == NEWTON_STUCK)
    end = solve_by_homotopy(s, s->x); // the differential variables are restored
  if (end != NEWTON_STUCK) return end == NEWTON_DONE;
  return solver_fail(s,
                     "no values of %s were found that fit the equations `0 = …` at t = %.10g: they "
                     "are still off by %.3g. Start values that are closer may help",
                     unknowns(s), s->t, off);
}
