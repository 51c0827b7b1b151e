// Shared by the tests of the ODE solver: runs and expected results.
#ifndef LIMN_SOLVE_HELP_H
#define LIMN_SOLVE_HELP_H

#include "run/solve/solve.h"

typedef struct {
  Arena *arena;
  Solver *s;
} Run;
Run begin(Problem, SolveOptions, const double *x); // at 0
void end_run(Run *);
void run_to(Solver *, double end);           // without an error
void said(const Solver *, const char *part); // the error has this part
void near_at(double found, double wanted, double by, int line);
#define near(found, wanted, by) near_at(found, wanted, by, __LINE__)
bool itself(void *, double t, const double *x, const double *late, double *value); // x[0] is late
double some(uint32_t *seed);                                                       // in 0 … 1
extern const double one_;                                                          // 1

#endif
