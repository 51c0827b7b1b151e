// Dense output: the solution inside a step.
//
// Every method gives a polynomial of degree 4, in a form whose first two parts are the ends. At q =
// 0 and q = 1 the other parts vanish, so consecutive steps are continuous, whatever the accuracy
// inside is. Delayed expressions are stored in the same form, through five values.
#include "run/solve/solve_own.h"

#include <math.h>

static double dense_value(const double *part, uint32_t n, uint32_t i, double q) {
  double p = 1 - q;
  const double *c = part + i;
  size_t m = n;
  return c[0] + q * (c[m] + p * (c[2 * m] + q * (c[3 * m] + p * c[4 * m])));
}

static double unit_position(const Dense *d, double t) {
  double q = (t - d->from) / d->h;
  return q < 0 ? 0 : q > 1 ? 1 : q;
}

void dense_part(const Dense *d, uint32_t n, NumberRange some, double t, double *x) {
  double q = unit_position(d, t), p = 1 - q;
  size_t m = n;
  const double *restrict a = d->part, *restrict b = a + m, *restrict c = b + m;
  const double *restrict e = c + m, *restrict f = e + m;
  double *restrict to = x;
  for (size_t i = some.from; i < some.to; i++)
    to[i] = a[i] + q * (b[i] + p * (c[i] + q * (e[i] + p * f[i])));
}

void dense_at(const Dense *d, uint32_t n, double t, double *x) {
  dense_part(d, n, (NumberRange){0, n}, t, x);
}

// Bounds over an interval, by the control points of the Bézier form, whose convex hull contains the
// curve; widened slightly for rounding.
void dense_range(const Dense *d, uint32_t n, NumberRange some, const double t[2], double *low,
                 double *high) {
  const double rounding = 1e-14;
  double q[5], start = unit_position(d, t[0]), end = unit_position(d, t[1]);
  for (int k = 0; k < 5; k++) q[k] = start + (end - start) * k / 4;
  for (uint32_t i = some.from; i < some.to; i++) {
    double v[5], size = 0;
    for (int k = 0; k < 5; k++) v[k] = dense_value(d->part, n, i, q[k]), size += fabs(v[k]);
    double b[] = {v[0], (-13 * v[0] + 48 * v[1] - 36 * v[2] + 16 * v[3] - 3 * v[4]) / 12,
                  (13 * v[0] - 64 * v[1] + 120 * v[2] - 64 * v[3] + 13 * v[4]) / 18,
                  (-3 * v[0] + 16 * v[1] - 36 * v[2] + 48 * v[3] - 13 * v[4]) / 12, v[4]};
    low[i] = high[i] = b[0];
    for (int k = 1; k < 5; k++) low[i] = fmin(low[i], b[k]), high[i] = fmax(high[i], b[k]);
    low[i] -= rounding * size, high[i] += rounding * size;
  }
}

double dense_one(const Dense *d, uint32_t n, uint32_t i, double t) {
  return dense_value(d->part, n, i, unit_position(d, t));
}

void dense_constant(Dense *d, uint32_t n, double t, const double *x) {
  memset(d->part, 0, 5 * (size_t)n * sizeof(double));
  memcpy(d->part, x, n * sizeof(double));
  d->from = t, d->h = 1;
}

void dense_hermite(Dense *d, uint32_t n, double t, double h, StepEnds e) {
  double *c = d->part;
  size_t m = n;
  d->from = t, d->h = h;
  for (uint32_t i = 0; i < n; i++) {
    double whole = e.next[i] - e.x[i], bend = h * e.slope[i] - whole;
    c[i] = e.x[i];
    c[m + i] = whole;
    c[2 * m + i] = bend;
    c[3 * m + i] = whole - h * e.slope_next[i] - bend;
    c[4 * m + i] = 0;
  }
}

// Subtracting the line between the ends, and dividing by q p, leaves part2 + q part3 + q p part4,
// which is known at q = 1/4, 1/2, 3/4.
void dense_quartic(Dense *d, uint32_t n, double t, double h, const double *five) {
  double *c = d->part;
  size_t m = n;
  d->from = t, d->h = h;
  for (uint32_t i = 0; i < n; i++) {
    const double *v = five + i;
    double whole = v[4 * m] - v[0];
    double a = (v[m] - v[0] - whole / 4) * (16.0 / 3);
    double b = (v[2 * m] - v[0] - whole / 2) * 4;
    double e = (v[3 * m] - v[0] - whole * 3 / 4) * (16.0 / 3);
    c[i] = v[0];
    c[m + i] = whole;
    c[3 * m + i] = 2 * (e - a);
    c[4 * m + i] = 16 * b - 8 * (a + e);
    c[2 * m + i] = b - c[3 * m + i] / 2 - c[4 * m + i] / 4;
  }
}
