// The neurons of neurons.limn by hand: the method of Dormand and Prince with the same tolerance, the
// moment of a spike on a cubic through both ends, the step to it made again.
//   neurons END TOLERANCE: seconds of the processor, spikes, and the sum of s at the end
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 1000, K = 100, ALL = 2 * N };

static void rates(const double *restrict x, double *restrict dx) {
  static double wide[N + K + 1];
  const double *v = x, *s = x + N;
  memcpy(wide, s, N * sizeof *s);
  double heard[N] = {0};
  for (int j = 0; j < K; j++)
    for (int i = 0; i < N; i++) heard[i] += 0.0001 * wide[i + j + 1];
  for (int i = 0; i < N; i++) {
    dx[i] = (1.1 + 0.2 * i / N + heard[i] - v[i]) / 20;
    dx[N + i] = -s[i] / 5;
  }
}

static double k[7][ALL], x[ALL], next[ALL], y[ALL];

// From x with k[0] known; gives the error, and leaves next and k[6].
static double try(double h, double tolerance) {
  static const double a[6][6] = {
      {1.0 / 5},
      {3.0 / 40, 9.0 / 40},
      {44.0 / 45, -56.0 / 15, 32.0 / 9},
      {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
      {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
      {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
  static const double e[7] = {71.0 / 57600,      0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200,
                              22.0 / 525, -1.0 / 40};
  for (int stage = 0; stage < 6; stage++) {
    double *to = stage == 5 ? next : y;
    memcpy(to, x, sizeof x);
    for (int j = 0; j <= stage; j++)
      for (int i = 0; i < ALL; i++) to[i] += h * a[stage][j] * k[j][i];
    rates(to, k[stage + 1]);
  }
  double most = 0;
  for (int i = 0; i < ALL; i++) {
    double sum = 0, size = fmax(fabs(x[i]), fabs(next[i]));
    for (int j = 0; j < 7; j++) sum += e[j] * k[j][i];
    most = fmax(most, fabs(h * sum) / (1e-3 * tolerance + tolerance * size));
  }
  return most;
}

// When the first neuron is above 1 in the step just tried, as a part of it; 2: none.
static double first_spike(double h, int *who) {
  double first = 2;
  for (int i = 0; i < N; i++) {
    if (next[i] < 1) continue;
    double low = 0, high = 1, d = next[i] - x[i], a = h * k[0][i] - d, b = d - h * k[6][i] - a;
    for (int n = 0; n < 50; n++) {
      double q = (low + high) / 2;
      if (x[i] + q * (d + (1 - q) * (a + q * b)) < 1)
        low = q;
      else
        high = q;
    }
    if (high < first) first = high, *who = i;
  }
  return first;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  double end = atof(argv[1]), tolerance = atof(argv[2]), t = 0, h = 0.01, sum = 0;
  long spikes = 0;
  clock_t begun = clock();
  for (int i = 0; i < N; i++) x[i] = (double)i / N;
  rates(x, k[0]);
  while (t < end) {
    int who = 0;
    double step = fmin(h, end - t), error = try(step, tolerance);
    if (error > 1) {
      h = step * fmax(0.2, 0.9 * pow(error, -0.2));
      continue;
    }
    double at = first_spike(step, &who), grown = step * fmin(10, 0.9 * pow(fmax(error, 1e-10), -0.2));
    if (at <= 1) try(at * step, tolerance), step *= at;
    t += step;
    memcpy(x, next, sizeof x);
    if (at <= 1) {
      x[who] = 0, x[N + who] += 1, spikes++;
      rates(x, k[0]);
    } else {
      memcpy(k[0], k[6], sizeof k[0]);
      h = grown;
    }
  }
  for (int i = 0; i < N; i++) sum += x[N + i];
  printf("%.3f %ld %.9f\n", (double)(clock() - begun) / CLOCKS_PER_SEC, spikes, sum);
  return 0;
}
