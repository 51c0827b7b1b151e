// LU factorization of a band matrix with partial pivoting.
//
// Row i holds columns i - below … i + above + below: rows are exchanged within the band, so the
// upper triangle gets as many additional diagonals as the band has below the main one.
#include "run/solve/solve_own.h"

#include <math.h>

size_t band_width(Band b) { return 2 * (size_t)b.below + b.above + 1; }

// a[n width]: row i, column j stands at i width + j - i + below
bool band_factor(uint32_t n, Band b, double *a, uint32_t *swap) {
  size_t width = band_width(b), below = b.below, reach = (size_t)b.above + b.below;
  for (size_t k = 0; k < n; k++) {
    size_t last = k + below < n ? k + below : n - 1, best = k;
    size_t wide = k + reach < n ? reach : n - 1 - k;
    double *top = a + k * width + below; // column k + j of row k is top[j]
    for (size_t i = k + 1; i <= last; i++)
      if (fabs(a[i * width + below + k - i]) > fabs(a[best * width + below + k - best])) best = i;
    swap[k] = (uint32_t)best;
    double *pivot = a + best * width + below + k - best;
    if (!(fabs(*pivot) > 0) || !isfinite(*pivot)) return false;
    for (size_t j = 0; best != k && j <= wide; j++) {
      double x = top[j];
      top[j] = pivot[j], pivot[j] = x;
    }
    double over = 1 / top[0];
    for (size_t i = k + 1; i <= last; i++) {
      double *restrict to = a + i * width + below + k - i;
      const double *restrict from = top;
      double f = to[0] *= over;
      if (f == 0) continue;
      for (size_t j = 1; j <= wide; j++) to[j] -= f * from[j];
    }
  }
  return true;
}

void band_solve(uint32_t n, Band b, const double *a, const uint32_t *swap, double *x) {
  size_t width = band_width(b), below = b.below, reach = (size_t)b.above + b.below;
  for (size_t k = 0; k < n; k++) {
    size_t last = k + below < n ? k + below : n - 1;
    double t = x[swap[k]];
    x[swap[k]] = x[k], x[k] = t;
    for (size_t i = k + 1; i <= last; i++) x[i] -= a[i * width + below + k - i] * t;
  }
  for (size_t k = n; k-- > 0;) {
    const double *row = a + k * width + below;
    size_t wide = k + reach < n ? reach : n - 1 - k;
    double sum = x[k];
    for (size_t j = 1; j <= wide; j++) sum -= row[j] * x[k + j];
    x[k] = sum / row[0];
  }
}
