// Principal axes: the two directions of largest variance.
//
// Power iteration with two vectors. The covariance is not formed, since X'(X v) is cheaper for high
// dimensions. The vectors are orthogonalised after each step. Start and sign are fixed, so the
// result is deterministic.
// the same picture.
#include "show/report/plot_own.h"

#include <math.h>

enum { TURNS = 300, FIT_ROWS = 4096 };

typedef struct {
  const double *x; // [n z]
  int64_t n, z, step;
  const bool *good; // [n]
  double *mean;     // [z]
} Cloud;

static double dot(const double *a, const double *b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static bool normalise(double *v, int64_t n) {
  double length = sqrt(dot(v, v, n));
  if (!(length > 0) || !isfinite(length)) return false;
  for (int64_t i = 0; i < n; i++) v[i] /= length;
  return true;
}

static double along(const Cloud *c, int64_t row, const double *v) {
  double sum = 0;
  for (int64_t k = 0; k < c->z; k++) sum += (c->x[row * c->z + k] - c->mean[k]) * v[k];
  return sum;
}

// Applies the covariance matrix, up to a factor
static void apply(const Cloud *c, const double *v, double *out) {
  memset(out, 0, sizeof *out * (size_t)c->z);
  for (int64_t i = 0; i < c->n; i += c->step) {
    if (!c->good[i]) continue;
    double a = along(c, i, v);
    for (int64_t k = 0; k < c->z; k++) out[k] += a * (c->x[i * c->z + k] - c->mean[k]);
  }
}

static void take_off(double *v, const double *u, int64_t n) {
  double part = dot(u, v, n);
  for (int64_t i = 0; i < n; i++) v[i] -= part * u[i];
}

static void one_sign(double *v, int64_t n) {
  int64_t most = 0;
  for (int64_t i = 1; i < n; i++)
    if (fabs(v[i]) > fabs(v[most]) * (1 + 1e-9)) most = i;
  if (v[most] < 0)
    for (int64_t i = 0; i < n; i++) v[i] = -v[i];
}

// An axis orthogonal to `other` (NULL: any). In directions without variance it keeps its start.
static void find_axis(const Cloud *c, const double *other, double *v, double *next) {
  for (int64_t k = 0; k < c->z; k++) v[k] = 1 + 0.5 * sin(1.7 * (double)k + (other ? 2 : 1));
  if (other) take_off(v, other, c->z);
  normalise(v, c->z);
  for (int t = 0; t < TURNS; t++) {
    apply(c, v, next);
    if (other) take_off(next, other, c->z);
    if (!normalise(next, c->z)) break;
    double same = fabs(dot(v, next, c->z));
    memcpy(v, next, sizeof *v * (size_t)c->z);
    if (1 - same < 1e-12) break;
  }
  one_sign(v, c->z);
}

static void find_mean(Cloud *c, bool *good) {
  int64_t rows = 0;
  for (int64_t i = 0; i < c->n; i++) {
    good[i] = true;
    for (int64_t k = 0; k < c->z; k++) good[i] &= isfinite(c->x[i * c->z + k]);
    for (int64_t k = 0; good[i] && k < c->z; k++) c->mean[k] += c->x[i * c->z + k];
    rows += good[i];
  }
  for (int64_t k = 0; rows && k < c->z; k++) c->mean[k] /= (double)rows;
}

static double spread_along(const Cloud *c, const double *v) {
  double sum = 0;
  for (int64_t i = 0; i < c->n; i++)
    if (c->good[i]) sum += along(c, i, v) * along(c, i, v);
  return sum;
}

static double spread_all(const Cloud *c) {
  double sum = 0;
  for (int64_t i = 0; i < c->n; i++)
    for (int64_t k = 0; c->good[i] && k < c->z; k++) {
      double d = c->x[i * c->z + k] - c->mean[k];
      sum += d * d;
    }
  return sum;
}

void principal_axes(Arena *a, const double *x, int64_t n, int64_t z, double (*to)[2],
                    double share[2]) {
  bool *good = NEW_ARRAY(a, bool, n);
  Cloud c = {.x = x, .n = n, .z = z, .step = 1 + (n - 1) / FIT_ROWS, .good = good};
  c.mean = NEW_ARRAY(a, double, z);
  double *axis[2] = {NEW_ARRAY(a, double, z), NEW_ARRAY(a, double, z)};
  double *next = NEW_ARRAY(a, double, z);
  find_mean(&c, good);
  find_axis(&c, NULL, axis[0], next);
  find_axis(&c, axis[0], axis[1], next);
  double all = spread_all(&c);
  for (int d = 0; d < 2; d++) {
    share[d] = all > 0 ? spread_along(&c, axis[d]) / all : 0;
    for (int64_t i = 0; i < n; i++) to[i][d] = good[i] ? along(&c, i, axis[d]) : NAN;
  }
}
