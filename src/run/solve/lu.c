// LU factorization of a dense matrix with partial pivoting.
#include "run/solve/solve_own.h"

#include <math.h>

bool lu_factor(uint32_t n, double *a, uint32_t *swap) {
  for (size_t k = 0; k < n; k++) {
    size_t best = k;
    for (size_t i = k + 1; i < n; i++)
      if (fabs(a[i * n + k]) > fabs(a[best * n + k])) best = i;
    swap[k] = (uint32_t)best;
    if (!(fabs(a[best * n + k]) > 0) || !isfinite(a[best * n + k])) return false;
    for (size_t j = 0; best != k && j < n; j++) {
      double t = a[k * n + j];
      a[k * n + j] = a[best * n + j], a[best * n + j] = t;
    }
    for (size_t i = k + 1; i < n; i++) {
      double f = a[i * n + k] /= a[k * n + k];
      if (f == 0) continue;
      double *restrict to = a + i * n;
      const double *restrict from = a + k * n;
      for (size_t j = k + 1; j < n; j++) to[j] -= f * from[j];
    }
  }
  return true;
}

void lu_solve(uint32_t n, const double *a, const uint32_t *swap, double *b) {
  for (size_t k = 0; k < n; k++) {
    double t = b[swap[k]];
    b[swap[k]] = b[k], b[k] = t;
  }
  for (size_t i = 1; i < n; i++)
    for (size_t j = 0; j < i; j++) b[i] -= a[i * n + j] * b[j];
  for (size_t i = n; i-- > 0;) {
    for (size_t j = i + 1; j < n; j++) b[i] -= a[i * n + j] * b[j];
    b[i] /= a[i * n + i];
  }
}
