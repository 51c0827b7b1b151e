// Shared by the tests of the solver.
#include "solve_help.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

const double one_ = 1;

void near_at(double found, double wanted, double by, int line) {
  if (fabs(found - wanted) <= by) return;
  print_error("line %d: found %.15g, wanted %.15g within %g\n", line, found, wanted, by);
  fail();
}

void said(const Solver *s, const char *part) {
  if (solver_error(s) && strstr(solver_error(s), part)) return;
  print_error("wanted `%s` in: %s\n", part, solver_error(s) ? solver_error(s) : "(no error)");
  fail();
}

void run_to(Solver *s, double end) {
  while (solver_step(s, end)) {
  }
  if (solver_error(s)) print_error("%s\n", solver_error(s));
  assert_null(solver_error(s));
  assert_true(solver_time(s) == end);
}

Run begin(Problem p, SolveOptions how, const double *x) {
  Arena *arena = arena_new();
  return (Run){arena, solver_new(arena, &p, &how, 0, x)};
}

void end_run(Run *r) { arena_free(r->arena); }

bool itself(void *c, double t, const double *x, const double *delayed, double *value) {
  (void)c, (void)t, (void)delayed;
  value[0] = x[0];
  return true;
}

double some(uint32_t *seed) { // in 0 … 1
  *seed = *seed * 1664525 + 1013904223;
  return (*seed >> 8) / 16777216.0;
}
