// one_sample: reads one row of a set for inspection.
#ifndef LIMN_IO_DATA_ONE_SAMPLE_H
#define LIMN_IO_DATA_ONE_SAMPLE_H

#include "io/data/data.h"

// describe.c: an array for each field, named after it: of the test split, if there is one. `at`
// wraps around.
bool data_sample(Arena *, const char *set, uint64_t at, Arrays *, const char **why);

#endif
