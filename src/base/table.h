// table.h: a hash table from byte strings to ids, iterated in insertion order.
#ifndef LIMN_BASE_TABLE_H
#define LIMN_BASE_TABLE_H

#include "base/base.h"

Table *table_new(Arena *);
Id table_get(const Table *, const void *key, size_t n);       // 0 = absent
void table_put(Table *, const void *key, size_t n, Id value); // inserts or replaces
uint32_t table_count(const Table *);
const char *table_key(const Table *, uint32_t i, size_t *n); // the i-th inserted key
Id table_value(const Table *, uint32_t i);

#endif
