// Private to sim: paths of Brown's motion, as many side by side as there are cells.
//
//   Brownian *b = brownian_new(arena, seed, site, cells, 0.01);
//   brownian_between(b, 0.01, 0.02, out);   how far each path goes in the second step
//
// With half the step it is the same path, looked at more closely.
#ifndef LIMN_RUN_SIM_BROWNIAN_H
#define LIMN_RUN_SIM_BROWNIAN_H

#include "core/diagram/diagram.h"
#include "run/solve/solve.h"

typedef struct Brownian Brownian;
Brownian *brownian_new(Arena *, uint64_t seed, uint64_t site, int64_t cells, double step);
// [cells] in step k, until the next call. Steps in their order are quick.
const double *brownian_step(Brownian *, uint64_t k);
// From one moment to a later one of the same step, [cells]; the moments come in their order.
void brownian_between(Brownian *, double from, double to, double *out);
void brownian_carry(Brownian *, Carry *); // where it is: what is drawn follows from the seed

#endif
