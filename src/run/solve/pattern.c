// Where a matrix can be other than 0, and the columns of it that can be asked for together.
//
// Two columns that have no row in common can be had from one direction: each row of the answer
// belongs to one of them. Columns are given the first group that is free, in their order; a matrix
// of a band is then asked for in as many directions as the band is wide, however long it is.
#include "run/solve/solve_own.h"

// Every place.
Pattern *pattern_full(Arena *a, uint32_t n) {
  Pattern *p = NEW(a, Pattern);
  uint32_t *start = NEW_ARRAY(a, uint32_t, (size_t)n + 1),
           *row = NEW_ARRAY(a, uint32_t, (size_t)n * n + 1);
  for (uint32_t c = 0; c <= n; c++) start[c] = c * n;
  for (uint32_t c = 0; c < n; c++)
    for (uint32_t r = 0; r < n; r++) row[(size_t)c * n + r] = r;
  *p = (Pattern){n, start, row};
  return p;
}

// Rows by columns of one that is columns by rows.
Pattern *pattern_turned(Arena *a, const Pattern *p) {
  Pattern *q = NEW(a, Pattern);
  uint32_t n = p->n, *start = NEW_ARRAY(a, uint32_t, (size_t)n + 2),
           *row = NEW_ARRAY(a, uint32_t, p->start[n] + 1);
  for (uint32_t k = 0; k < p->start[n]; k++) start[p->row[k] + 2]++;
  for (uint32_t r = 0; r < n; r++) start[r + 2] += start[r + 1];
  for (uint32_t c = 0; c < n; c++)
    for (uint32_t k = p->start[c]; k < p->start[c + 1]; k++) row[start[p->row[k] + 1]++] = c;
  *q = (Pattern){n, start, row};
  return q;
}

uint32_t pattern_groups(Arena *a, const Pattern *p, uint32_t *group) {
  Arena *own = arena_child(a);
  const Pattern *rows = pattern_turned(own, p);
  uint32_t n = p->n, groups = 0;
  uint32_t *taken = NEW_ARRAY(own, uint32_t, (size_t)n + 1); // by a neighbour of this column + 1
  for (uint32_t c = 0; c < n; c++) {
    for (uint32_t k = p->start[c]; k < p->start[c + 1]; k++) {
      uint32_t r = p->row[k];
      for (uint32_t j = rows->start[r]; j < rows->start[r + 1] && rows->row[j] < c; j++)
        taken[group[rows->row[j]]] = c + 1;
    }
    uint32_t g = 0;
    while (taken[g] == c + 1) g++;
    group[c] = g;
    if (g + 1 > groups) groups = g + 1;
  }
  arena_free(own);
  return groups;
}
