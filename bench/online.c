// The network of bench/online.limn by hand: 2, 64 and 1, tanh, Adam, a sample at a time, in double.
//   online TICKS
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { H = 64, N = 4 * H + 1 }; // V [2 H], c [H], U [H], d

static double w[N], m[N], s[N], g[N];

static void step(double t) {
  double rate = 0.001 / (1 - pow(0.9, t)), scale = pow(1 - pow(0.999, t), -0.5);
  for (int i = 0; i < N; i++) {
    m[i] = 0.9 * m[i] + (1 - 0.9) * g[i];
    s[i] = 0.999 * s[i] + (1 - 0.999) * g[i] * g[i];
    w[i] -= rate * m[i] / (sqrt(s[i]) * scale + 1e-8);
  }
}

static double learn(double x, double y, double truth) {
  double h[H], *V = w, *c = w + 2 * H, *U = w + 3 * H, guess = w[4 * H];
  for (int i = 0; i < H; i++) h[i] = tanh(x * V[i] + y * V[H + i] + c[i]);
  for (int i = 0; i < H; i++) guess += h[i] * U[i];
  double err = guess - truth, back = 2 * err;
  for (int i = 0; i < H; i++) {
    double a = back * U[i] * (1 - h[i] * h[i]);
    g[i] = x * a, g[H + i] = y * a, g[2 * H + i] = a, g[3 * H + i] = back * h[i];
  }
  g[4 * H] = back;
  return err * err;
}

int main(int argc, char **argv) {
  long ticks = argc > 1 ? atol(argv[1]) : 1000000;
  double err = 0;
  for (int i = 0; i < 4 * H; i++) w[i] = (i < 2 * H || i >= 3 * H) * 0.3 * sin(1.7 * i);
  for (long t = 0; t < ticks; t++) {
    double x = sin(0.7 * (double)t), y = cos(1.3 * (double)t);
    err = learn(x, y, x * y);
    step((double)(t + 1));
  }
  printf("%g\n", err);
  return 0;
}
