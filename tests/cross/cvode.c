// The solver against SUNDIALS' CVODE, on Robertson's reactions and on a thermostat.
//   tests/cross/test.sh        builds and runs it where libsundials-dev is installed
// Both are asked for far more than is compared.
#include "run/solve/solve.h"

#include <cvode/cvode.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

enum { EVENTS = 12, LONGEST = 3 };

typedef struct {
  uint32_t n;
  bool (*rates)(void *, double t, const double *x, const double *delayed, double *dx);
  bool (*guards)(void *, double t, const double *x, const double *delayed,
                 double *g); // NULL: no events
  double x[LONGEST];         // at the start, then at the end
  double absolute;
  double moment[EVENTS];
  int events;
} System;

static bool robertson(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)t, (void)delayed;
  dx[0] = -0.04 * x[0] + 1e4 * x[1] * x[2];
  dx[2] = 3e7 * x[1] * x[1];
  dx[1] = -dx[0] - dx[2];
  return true;
}

static bool room(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)t, (void)delayed;
  dx[0] = -0.1 * (x[0] - 5) + 2.5 * x[1];
  dx[1] = 0;
  return true;
}

static bool room_guard(void *c, double t, const double *x, const double *delayed, double *g) {
  (void)c, (void)t, (void)delayed;
  g[0] = x[1] > 0.5 ? x[0] - 21 : 19 - x[0];
  return true;
}

static bool room_switches(void *c, double t, uint32_t which, const double *delayed, double *x) {
  System *s = c;
  (void)which, (void)delayed;
  x[1] = 1 - x[1];
  s->moment[s->events++] = t;
  return s->events < EVENTS;
}

static bool with_limn(System *s, Method method, double end) {
  Arena *arena = arena_new();
  Problem p = {.context = s, .n = s->n, .rates = s->rates};
  if (s->guards) p.events = 1, p.guards = s->guards, p.happen = room_switches;
  SolveOptions how = {.method = method, .relative = 1e-11, .absolute = s->absolute};
  Solver *r = solver_new(arena, &p, &how, 0, s->x);
  while (solver_step(r, end)) {
  }
  if (solver_error(r)) printf("not ok limn: %s\n", solver_error(r));
  bool good = !solver_error(r);
  for (uint32_t i = 0; i < s->n; i++) s->x[i] = solver_state(r)[i];
  arena_free(arena);
  return good;
}

static int cvode_rates(realtype t, N_Vector x, N_Vector dx, void *context) {
  System *s = context;
  return !s->rates(s, t, N_VGetArrayPointer(x), NULL, N_VGetArrayPointer(dx));
}

static int cvode_guards(realtype t, N_Vector x, realtype *g, void *context) {
  System *s = context;
  return !s->guards(s, t, N_VGetArrayPointer(x), NULL, g);
}

static bool with_cvode(System *s, double end) {
  SUNContext sun;
  if (SUNContext_Create(NULL, &sun)) return false;
  N_Vector x = N_VMake_Serial(s->n, s->x, sun);
  SUNMatrix matrix = SUNDenseMatrix(s->n, s->n, sun);
  SUNLinearSolver linear = SUNLinSol_Dense(x, matrix, sun);
  void *cv = CVodeCreate(CV_BDF, sun);
  realtype t = 0;
  int end_of = CVodeInit(cv, cvode_rates, 0, x) | CVodeSStolerances(cv, 1e-12, s->absolute) |
               CVodeSetUserData(cv, s) | CVodeSetLinearSolver(cv, linear, matrix) |
               CVodeSetMaxNumSteps(cv, 1000000) | CVodeSetStopTime(cv, end);
  if (s->guards) end_of |= CVodeRootInit(cv, 1, cvode_guards);
  while (end_of >= 0 && s->events < EVENTS) {
    end_of = CVode(cv, end, x, &t, CV_NORMAL);
    if (end_of != CV_ROOT_RETURN) break;
    room_switches(s, t, 0, NULL, s->x);
    end_of = CVodeReInit(cv, t, x);
  }
  CVodeFree(&cv);
  SUNLinSolFree(linear);
  SUNMatDestroy(matrix);
  N_VDestroy(x);
  SUNContext_Free(&sun);
  return end_of >= 0;
}

static bool compare(const char *what, double ours, double theirs, double by) {
  bool good = fabs(ours - theirs) <= by * fmax(1e-5, fabs(theirs));
  printf("%s %s: %.13g here, %.13g by CVODE\n", good ? "ok" : "not ok", what, ours, theirs);
  return good;
}

int main(void) {
  System ours = {.n = 3, .rates = robertson, .x = {1, 0, 0}, .absolute = 1e-15}, theirs = ours;
  bool good = with_limn(&ours, SOLVE_STIFF, 40) && with_cvode(&theirs, 40);
  for (int i = 0; good && i < 3; i++)
    good = compare("robertson at 40", ours.x[i], theirs.x[i], 1e-9);
  ours = theirs =
      (System){.n = 2, .rates = room, .guards = room_guard, .x = {19, 1}, .absolute = 1e-13};
  good = good && with_limn(&ours, SOLVE_DORMAND, 100) && with_cvode(&theirs, 100);
  for (int i = 0; good && i < EVENTS; i++)
    good = compare("thermostat switches", ours.moment[i], theirs.moment[i], 1e-9);
  if (!good) printf("not ok CVODE\n");
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
