// The functions of compiled code: nanoseconds for each element in a loop that stays in the first
// cache, and the largest error in units of the last place, against the C library at a higher
// precision. `make bench-prelude` runs it for each compiler.
#include "run/engine/kernel/prelude.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N = 1024, ROUNDS = 2000, TRIES = 7, DRAWS = 400000 };

static long double sigmoid_exact(long double x) { return 1 / (1 + expl(-x)); }
static long double softplus_exact(long double x) {
  return (x < 0 ? 0 : x) + log1pl(expl(-fabsl(x)));
}

// name, exact, low, high: arguments are drawn evenly, or, where low > 0, evenly in their logarithm
#define FUNCTIONS(F)                                                                               \
  F(exp, expl, -87, 88)                                                                            \
  F(log, logl, 1e-30, 1e30)                                                                        \
  F(log1p, log1pl, -0.99, 50)                                                                      \
  F(expm1, expm1l, -10, 80)                                                                        \
  F(sqrt, sqrtl, 1e-30, 1e30)                                                                      \
  F(sin, sinl, -1e5, 1e5)                                                                          \
  F(cos, cosl, -1e5, 1e5)                                                                          \
  F(tan, tanl, -1000, 1000)                                                                        \
  F(tanh, tanhl, -9, 9)                                                                            \
  F(atan, atanl, -20, 20)                                                                          \
  F(erf, erfl, -4, 4)                                                                              \
  F(sigmoid, sigmoid_exact, -80, 80)                                                               \
  F(softplus, softplus_exact, -80, 80)

typedef struct {
  const char *name;
  long double (*exact)(long double);
  double low, high;
  void (*floats)(const float *restrict, float *restrict);
  void (*doubles)(const double *restrict, double *restrict);
} Function;

#define LOOPS(f, ...)                                                                              \
  static __attribute__((noinline)) void floats_##f(const float *restrict x, float *restrict y) {   \
    for (int i = 0; i < N; i++) y[i] = float_##f(x[i]);                                            \
  }                                                                                                \
  static                                                                                           \
      __attribute__((noinline)) void doubles_##f(const double *restrict x, double *restrict y) {   \
    for (int i = 0; i < N; i++) y[i] = double_##f(x[i]);                                           \
  }
FUNCTIONS(LOOPS)
#define ROW(f, exact, low, high) {#f, exact, low, high, floats_##f, doubles_##f},
static const Function functions[] = {FUNCTIONS(ROW)};

static float float_exponent_of[N];
static double double_exponent_of[N];
static __attribute__((noinline)) void floats_pow(const float *restrict x, float *restrict y) {
  for (int i = 0; i < N; i++) y[i] = float_pow(x[i], float_exponent_of[i]);
}
static __attribute__((noinline)) void doubles_pow(const double *restrict x, double *restrict y) {
  for (int i = 0; i < N; i++) y[i] = double_pow(x[i], double_exponent_of[i]);
}
static __attribute__((noinline)) void floats_uniform(const float *restrict x, float *restrict y) {
  float_noise_uniforms(1, 2, 3, (Bits64)x[0], N, y);
}
static __attribute__((noinline)) void doubles_uniform(const double *restrict x,
                                                      double *restrict y) {
  double_noise_uniforms(1, 2, 3, (Bits64)x[0], N, y);
}
static __attribute__((noinline)) void floats_normal(const float *restrict x, float *restrict y) {
  float_noise_normals(1, 2, 3, (Bits64)x[0], N, y);
}
static __attribute__((noinline)) void doubles_normal(const double *restrict x, double *restrict y) {
  double_noise_normals(1, 2, 3, (Bits64)x[0], N, y);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double draw(double low, double high) {
  double u = (double)random() / 2147483648.0;
  return low > 0 ? exp(log(low) + u * (log(high) - log(low))) : low + u * (high - low);
}

static float xf[N], yf[N];
static double xd[N], yd[N];

static double best(const Function *f, int wide) { // nanoseconds for each element
  double least = 1e30;
  for (int i = 0; i < TRIES; i++) {
    double start = now();
    for (int k = 0; k < ROUNDS; k++) {
      if (wide)
        f->doubles(xd, yd);
      else
        f->floats(xf, yf);
    }
    double t = (now() - start) / N / ROUNDS;
    least = t < least ? t : least;
  }
  return least;
}

static void fill(const Function *f) {
  for (int i = 0; i < N; i++) {
    xd[i] = draw(f->low, f->high);
    xf[i] = (float)xd[i];
    xd[i] += (double)random() / 2147483648.0 * 1e-9 * xd[i]; // more digits
  }
}

static double error(double have, long double want, int digits) { // in units of the last place
  int e;
  frexpl(want, &e);
  return (double)(fabsl((long double)have - want) / ldexpl(1, e - digits));
}

static double worst(const Function *f, int wide) {
  double most = 0;
  for (int k = 0; k < DRAWS / N; k++) {
    fill(f);
    if (wide)
      f->doubles(xd, yd);
    else
      f->floats(xf, yf);
    for (int i = 0; i < N; i++) {
      double e = wide ? error(yd[i], f->exact(xd[i]), 53) : error(yf[i], f->exact(xf[i]), 24);
      most = e > most ? e : most;
    }
  }
  return most;
}

static void time_row(const Function *f, const char *errors) {
  double small = best(f, 0), large = best(f, 1);
  printf("%-10s %8.2f %8.2f   %s\n", f->name, small, large, errors);
}

static void power_row(void) {
  double most[2] = {0, 0};
  char errors[64];
  Function f = {"pow", NULL, 1e-5, 1e5, floats_pow, doubles_pow};
  for (int k = 0; k < DRAWS / N; k++) {
    fill(&f);
    for (int i = 0; i < N; i++) float_exponent_of[i] = (float)(double_exponent_of[i] = draw(-7, 7));
    floats_pow(xf, yf);
    doubles_pow(xd, yd);
    for (int i = 0; i < N; i++) {
      double a = error(yf[i], powl(xf[i], float_exponent_of[i]), 24);
      double b = error(yd[i], powl(xd[i], double_exponent_of[i]), 53);
      most[0] = a > most[0] ? a : most[0];
      most[1] = b > most[1] ? b : most[1];
    }
  }
  snprintf(errors, sizeof errors, "%8.2f %8.2f", most[0], most[1]);
  time_row(&f, errors);
}

int main(void) {
  char errors[64];
  printf("%-10s %8s %8s   %8s %8s\n", "", "float ns", "double", "ulp", "ulp");
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    const Function *f = &functions[i];
    double a = worst(f, 0), b = worst(f, 1);
    snprintf(errors, sizeof errors, "%8.2f %8.2f", a, b);
    time_row(f, errors);
  }
  power_row();
  xf[0] = 0;
  xd[0] = 0;
  time_row(&(Function){"uniform", NULL, 0, 0, floats_uniform, doubles_uniform}, "");
  time_row(&(Function){"normal", NULL, 0, 0, floats_normal, doubles_normal}, "");
}
