// Sparsity patterns, and column colouring for compressed Jacobians (Curtis, Powell and Reid).
//
// Columns without a common row can be computed from one directional derivative: each row of the
// result belongs to one of them. Columns get the first free colour, in order; a band matrix needs
// as many directions as the band is wide, whatever its size.
#include "run/solve/solve_own.h"

// A dense pattern.
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

// The transposed pattern.
Pattern *pattern_transposed(Arena *a, const Pattern *p) {
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

uint32_t pattern_colours(Arena *a, const Pattern *p, uint32_t *group) {
  Arena *own = arena_child(a);
  const Pattern *rows = pattern_transposed(own, p);
  uint32_t n = p->n, groups = 0;
  // Last column + 1 with a neighbour of this colour.
  uint32_t *taken = NEW_ARRAY(own, uint32_t, (size_t)n + 1);
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
