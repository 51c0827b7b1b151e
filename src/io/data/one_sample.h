// one_sample: one row of a set, to be looked at.
#ifndef LIMN_IO_DATA_ONE_SAMPLE_H
#define LIMN_IO_DATA_ONE_SAMPLE_H

#include "io/data/data.h"

// describe.c: an array for each field, by its name: of the test split, where there is one. `at` goes round.
bool data_sample(Arena *, const char *set, uint64_t at, Arrays *, const char **why);

#endif
