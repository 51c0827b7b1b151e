// Private to sim: Brownian paths, one for each cell.
//
//     Brownian *b = brownian_new(arena, seed, site, cells, 0.01);
//     brownian_between(b, 0.01, 0.02, out);   increments over the second step
//
// Halving the step refines the same path.
#ifndef LIMN_RUN_SIM_BROWNIAN_H
#define LIMN_RUN_SIM_BROWNIAN_H

#include "core/diagram/diagram.h"
#include "run/solve/solve.h"

typedef struct Brownian Brownian;
Brownian *brownian_new(Arena *, uint64_t seed, uint64_t site, int64_t cells, double step);
// Increments [cells] over step k, valid until the next call. Fast for steps in increasing order.
const double *brownian_step(Brownian *, uint64_t k);
// Increments [cells] between two times of the same step; times must increase.
void brownian_between(Brownian *, double from, double to, double *out);
void brownian_archive(Brownian *, Archive *); // the position; random numbers follow from the seed

#endif
