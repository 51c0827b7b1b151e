// Private to infer: the fields of named data sets.
#ifndef LIMN_DATA_H
#define LIMN_DATA_H
#include <stdbool.h>
#include <stdint.h>

bool data_is_set(const char *set);
const char *data_field(const char *set, uint32_t k,
                       const char **type); // the k-th field; NULL after the last
const char *data_nearest(const char *set);

#endif
