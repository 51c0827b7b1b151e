// The prelude compared with the interpreter: every scalar function at ordinary and special
// arguments, noise, sorting.
#include "core/diagram/interpret.h"
#include "core/diagram/ops.h"
#include "prelude_help.h"
#include "run/engine/kernel/prelude.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

static void rows_agree_with_the_interpreter(void **state) {
  (void)state;
  Arena *arena = arena_new();
  for (int fn = FN_SIZE + 1; fn < FN_COUNT; fn++) {
    Arguments f = row_arguments(arena, &kinds[0], (Fn)fn, 100000),
              d = row_arguments(arena, &kinds[1], (Fn)fn, 100000);
    const PreludeRow *row = &prelude_rows[fn];
    for (uint32_t i = 0; i < f.n; i++) {
      row_check(&kinds[0], (Fn)fn, &f, i,
                row->floats((float)f.x[0][i], (float)f.x[1][i], (float)f.x[2][i]));
      row_check(&kinds[1], (Fn)fn, &d, i, row->doubles(d.x[0][i], d.x[1][i], d.x[2][i]));
    }
  }
  arena_free(arena);
}

// A float row must not compute in doubles: it would still be right, but half as fast.
static void rows_of_floats_are_floats(void **state) {
  (void)state;
  uint64_t random = 2;
  int differ = 0;
  for (int n = 0; n < 1000; n++) {
    float a = (float)draw(&random, 0.5, 3), b = (float)draw(&random, 0.5, 3);
    double mod = a - b * floor((double)a / b);
    differ += prelude_rows[FN_mod].floats(a, b, 0) != (float)mod;
    assert_true(prelude_rows[FN_bit].floats(a / 3, 0, 0) == (a / 3 > 0.5f));
  }
  assert_true(differ > 0); // two roundings against one
}

// -- noise ----------------------------------------------------------------------------------------
static void noise_at(uint64_t seed, uint64_t step, uint64_t site, uint64_t element) {
  double u = noise_uniform(seed, step, site, element), z = noise_normal(seed, step, site, element);
  float uf = float_noise_uniform(seed, step, site, element),
        zf = float_noise_normal(seed, step, site, element);
  assert_true(double_noise_uniform(seed, step, site, element) == u);
  assert_true(fabs(double_noise_normal(seed, step, site, element) - z) <= 1e-14);
  assert_true(uf > 0 && uf < 1 && fabs(uf - u) <= 6e-8);
  assert_true(fabs(zf - z) <= 2e-6);
}

static void noise_is_that_of_the_interpreter(void **state) {
  (void)state;
  uint64_t random = 3;
  for (int i = 0; i < 100000; i++) {
    uint64_t seed = next_random(&random), step = next_random(&random) >> (i & 63),
             site = next_random(&random), element = next_random(&random);
    noise_at(seed, step, site, element >> (next_random(&random) & 63));
    noise_at((uint64_t)i & 3, (uint64_t)i, 0, (uint64_t)i);
    assert_true(noise_site(site, step) == site_step(site, step));
  }
}

// The words that chance hardly ever meets.
static void noise_at_the_ends(void **state) {
  (void)state;
  const uint32_t words[] = {0,          1,          2,          255,        0x7FFFFFFF, 0x80000000,
                            0x80000001, 0xFFFFFF7F, 0xFFFFFF80, 0xFFFFFFFE, 0xFFFFFFFF};
  for (uint32_t i = 0; i < COUNT(words); i++) {
    double u = (words[i] + 0.5) / 4294967296.0,
           radius = sqrt(-2 * (u < 0.5 ? log(u) : log1p(u - 1)));
    float uf = float_noise_unit(words[i]), s, c;
    double sd, cd;
    assert_true(uf > 0 && uf < 1 && fabs(uf - u) <= 6e-8);
    assert_true(double_noise_unit(words[i]) == u);
    for (uint32_t j = 0; j < COUNT(words); j++) {
      double angle = 6.283185307179586 * ((words[j] + 0.5) / 4294967296.0);
      c = float_noise_pair(words[i], words[j], &s);
      cd = double_noise_pair(words[i], words[j], &sd);
      assert_true(fabs(c - radius * cos(angle)) <= 2e-6 && fabs(s - radius * sin(angle)) <= 2e-6);
      assert_true(fabs(cd - radius * cos(angle)) <= 1e-14 &&
                  fabs(sd - radius * sin(angle)) <= 1e-14);
    }
  }
}

static void a_row_of_noise_is_its_elements(void **state) {
  (void)state;
  enum { LONG = 100 };
  float f[LONG + 1];
  double d[LONG + 1];
  for (uint64_t first = 0; first < 12; first++)
    for (long n = 0; n <= LONG; n += n < 20 ? 1 : 16) {
      uint64_t from = first < 8 ? first : (first << 32) - 5; // across what a word can hold
      f[n] = 77;
      d[n] = 77;
      float_noise_uniforms(5, 6, 7, from, n, f);
      double_noise_uniforms(5, 6, 7, from, n, d);
      for (long i = 0; i < n; i++) {
        assert_true(f[i] == float_noise_uniform(5, 6, 7, from + (uint64_t)i));
        assert_true(d[i] == double_noise_uniform(5, 6, 7, from + (uint64_t)i));
      }
      float_noise_normals(5, 6, 7, from, n, f);
      double_noise_normals(5, 6, 7, from, n, d);
      for (long i = 0; i < n; i++) {
        assert_true(f[i] == float_noise_normal(5, 6, 7, from + (uint64_t)i));
        assert_true(d[i] == double_noise_normal(5, 6, 7, from + (uint64_t)i));
      }
      assert_true(f[n] == 77 && d[n] == 77);
    }
}

// -- order ----------------------------------------------------------------------------------------
static bool before(double a, long i, double b, long j) { // whether a at i comes before b at j
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b) ? i < j : isnan(b);
  return a < b || (a == b && i < j);
}

static void check_order(const double *x, long stride, long n, const int *have) {
  for (long i = 0; i < n; i++) {
    long place = 0;
    for (long j = 0; j < n; j++) place += before(x[j * stride], j, x[i * stride], i);
    assert_int_equal(have[place], i);
  }
}

static void order_is_that_of_a_simple_sort(void **state) {
  (void)state;
  enum { LONG = 70 };
  uint64_t random = 4;
  double d[3 * LONG];
  float f[3 * LONG];
  int out[LONG], work[LONG];
  const double some[] = {NAN, INFINITY, -INFINITY, 0, -0.0, 1, 2, -1};
  for (long n = 0; n <= LONG; n++)
    for (long stride = 1; stride <= 3; stride++) {
      for (long i = 0; i < n * stride; i++) {
        d[i] = next_random(&random) & 1 ? some[next_random(&random) % COUNT(some)]
                                        : rounded(draw(&random, -3, 3));
        f[i] = (float)d[i];
      }
      double_order_row(d, stride, n, out, work);
      check_order(d, stride, n, out);
      float_order_row(f, stride, n, out, work);
      check_order(d, stride, n, out);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_agree_with_the_interpreter),
      cmocka_unit_test(rows_of_floats_are_floats),
      cmocka_unit_test(noise_is_that_of_the_interpreter),
      cmocka_unit_test(noise_at_the_ends),
      cmocka_unit_test(a_row_of_noise_is_its_elements),
      cmocka_unit_test(order_is_that_of_a_simple_sort),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
