// Lorenz by the classical method of Runge and Kutta, as one would write it by hand: what a run of
// examples/lorenz.limn by rk4 is compared with.
//   lorenz STEPS        steps of 0.001 from (1, 1, 1), and where they lead
#include <stdio.h>
#include <stdlib.h>

static void rates(const double *x, double *dx) {
  dx[0] = 10 * (x[1] - x[0]);
  dx[1] = x[0] * (28 - x[2]) - x[1];
  dx[2] = x[0] * x[1] - 8.0 / 3 * x[2];
}

static void step(double *x, double h) {
  double a[3], b[3], c[3], d[3], y[3];
  rates(x, a);
  for (int i = 0; i < 3; i++) y[i] = x[i] + h / 2 * a[i];
  rates(y, b);
  for (int i = 0; i < 3; i++) y[i] = x[i] + h / 2 * b[i];
  rates(y, c);
  for (int i = 0; i < 3; i++) y[i] = x[i] + h * c[i];
  rates(y, d);
  for (int i = 0; i < 3; i++) x[i] += h / 6 * (a[i] + 2 * (b[i] + c[i]) + d[i]);
}

int main(int argc, char **argv) {
  double x[] = {1, 1, 1};
  long steps = argc > 1 ? atol(argv[1]) : 0;
  for (long i = 0; i < steps; i++) step(x, 0.001);
  printf("%.6f %.6f %.6f\n", x[0], x[1], x[2]);
  return 0;
}
