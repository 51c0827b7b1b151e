// What the solver itself costs: Lorenz to t = 1000 at 1e-9, in nanoseconds for each time that the
// rates are asked for, beyond what the rates take.
//   bench/ode [RUNS]        the best of RUNS counts
#include "base/files.h"
#include "run/solve/solve.h"

#include <math.h>
#include <stdlib.h>

static bool lorenz(void *c, double t, const double *x, const double *delayed, double *dx) {
  (void)c, (void)t, (void)delayed;
  dx[0] = 10 * (x[1] - x[0]);
  dx[1] = x[0] * (28 - x[2]) - x[1];
  dx[2] = x[0] * x[1] - 8.0 / 3 * x[2];
  return true;
}

// The rates alone, asked for through the same pointer, each on what the one before gave.
static double alone(const Problem *p, uint64_t times) {
  double x[] = {1, 1, 1}, dx[3], begin = clock_seconds();
  for (uint64_t i = 0; i < times; i++) {
    p->rates(p->context, 0, x, NULL, dx);
    for (int j = 0; j < 3; j++) x[j] += 1e-9 * dx[j];
  }
  return (clock_seconds() - begin) / (double)times + (x[0] == 0 ? 1 : 0);
}

static void measure(const char *name, SolveOptions how, double end, int runs) {
  Problem p = {.n = 3, .rates = lorenz};
  const double start[] = {1, 1, 1};
  double best = INFINITY, rate = INFINITY;
  uint64_t rejected = 0, rates = 0, steps = 0;
  for (int i = 0; i < runs; i++) {
    Arena *arena = arena_new();
    Solver *s = solver_new(arena, &p, &how, 0, start);
    double begin = clock_seconds();
    while (solver_step(s, end)) {
    }
    steps = solver_count(s, &rejected, &rates);
    best = fmin(best, (clock_seconds() - begin) / (double)rates);
    rate = fmin(rate, alone(&p, rates));
    arena_free(arena);
  }
  printf("%-16s %8llu steps %6llu rejected %9llu rates: %6.1f ns each, %5.1f of them the rates\n",
         name, (unsigned long long)steps, (unsigned long long)rejected, (unsigned long long)rates,
         1e9 * best, 1e9 * rate);
}

int main(int argc, char **argv) {
  int runs = argc > 1 ? atoi(argv[1]) : 5;
  measure("Dormand-Prince", (SolveOptions){.method = SOLVE_DORMAND}, 1000, runs);
  measure("Runge-Kutta 4", (SolveOptions){.method = SOLVE_RK4, .step = 1e-3}, 1000, runs);
  measure("stiff", (SolveOptions){.method = SOLVE_STIFF}, 100, runs);
  return 0;
}
