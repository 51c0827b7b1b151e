// Numbers as text: reading compared with strtod on random decimals, including hard cases; printed
// numbers can be read back and are as short as possible; formats compared with printf.
#include "base/base.h"
#include "base/number.h"

#include <setjmp.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

static uint64_t seed = 1;

static uint64_t random_bits(void) { // xorshift64*
  seed ^= seed >> 12, seed ^= seed << 25, seed ^= seed >> 27;
  return seed * 0x2545F4914F6CDD1Du;
}

static uint64_t below(uint64_t n) { return random_bits() % n; }

static void reads_as_strtod(const char *text) {
  char *end;
  const char *own;
  double a = strtod(text, &end), b = number_read(text, &own);
  if (memcmp(&a, &b, sizeof a) != 0 && !(isnan(a) && isnan(b)))
    fail_msg("%s: %a, wanted %a", text, b, a);
  if (own != end) fail_msg("%s: ends at %td, wanted %td", text, own - text, end - text);
}

static double any_double(void) {
  uint64_t bits = random_bits();
  double x;
  memcpy(&x, &bits, sizeof x);
  return isfinite(x) ? x : 1;
}

static void test_random_decimals(void **state) {
  (void)state;
  char text[64];
  for (int i = 0; i < 200000; i++) { // digits, a point somewhere, a power
    size_t n = 0;
    if (below(4) == 0) text[n++] = below(2) ? '-' : '+';
    uint64_t digits = 1 + below(below(4) ? 19 : 30), point = below(digits + 1);
    for (uint64_t k = 0; k < digits; k++) {
      if (k == point) text[n++] = '.';
      text[n++] = (char)('0' + below(10));
    }
    text[n] = 0;
    if (below(2)) snprintf(text + n, sizeof text - n, "e%d", (int)below(700) - 350);
    reads_as_strtod(text);
  }
  for (int i = 0; i < 100000; i++) { // doubles of every size, by fewer and more digits
    snprintf(text, sizeof text, "%.*e", (int)below(22), any_double());
    reads_as_strtod(text);
  }
}

// Exactly between two doubles, just below, just above.
static void test_ties(void **state) {
  (void)state;
  static char text[1400];
  for (int i = 0; i < 600; i++) {
    double x = fabs(any_double());
    if (i % 3 == 0) x = ldexp((double)(1 + below(1u << 20)), -1074); // among the smallest
    double next = nextafter(x, INFINITY);
    if (isinf(next) || x > 1e300) continue;
    long double tie = ((long double)x + (long double)next) / 2; // exact where long is long enough
    int n = snprintf(text, sizeof text - 2, "%.*Le", 780, tie);
    reads_as_strtod(text);
    char *e = strchr(text, 'e');
    char power[16];
    snprintf(power, sizeof power, "%s", e);
    e[-1] = '1'; // beyond the last digit of any tie
    reads_as_strtod(text);
    snprintf(e, sizeof text - (size_t)(e - text), "00000000000000000000000000000000000001%s",
             power);
    reads_as_strtod(text);
    assert_true(n > 780);
  }
}

static void test_edges(void **state) {
  (void)state;
  static const char *const texts[] = {
      "0",
      "-0",
      "00012",
      ".5",
      "5.",
      ".",
      "",
      "-",
      "+",
      "e5",
      "1e",
      "1e+",
      "1e5x",
      "  7",
      "\t\n-7.25 ",
      "1..2",
      "1.2.3",
      "inf",
      "-Infinity",
      "INF",
      "nan",
      "-NaN",
      "infinit",
      "1e308",
      "1.7976931348623157e308",
      "1.7976931348623158e308",
      "1.7976931348623159e308",
      "1e309",
      "1e999999999999999999999",
      "1e-999999999999999999999",
      "0e999999999999999999999",
      "4.9e-324",
      "2.4703282292062327e-324",
      "2.4703282292062328e-324",
      "2.2250738585072011e-308",
      "2.2250738585072014e-308",
      "9007199254740993",
      "9007199254740992.9999999999999999999999999999999999999999999999999999999999999",
      "18446744073709551615",
      "18446744073709551616",
      "123456789012345678901234567890",
      "0x10",
      "0.1e-1",
      "1E2",
      "0.5,5",
      "1,5",
      "100000000000000000000000000000000000000000000000000e-50"};
  for (uint32_t i = 0; i < COUNT(texts); i++)
    if (strncmp(texts[i], "0x", 2) != 0) reads_as_strtod(texts[i]);
  const char *end;
  assert_true(number_read("0x10", &end) == 0 && *end == 'x'); // no hexadecimal
  static char zeros[4000];
  memset(zeros, '0', sizeof zeros - 1);
  reads_as_strtod(zeros);
  zeros[0] = '1', zeros[3000] = 0;
  strcpy(zeros + 3000, "e-3000");
  reads_as_strtod(zeros);
  memset(zeros, '0', 3000), zeros[1] = '.', zeros[2999] = '7';
  strcpy(zeros + 3000, "e3000");
  reads_as_strtod(zeros);
}

static void test_print(void **state) {
  (void)state;
  char text[NUMBER_ROOM], other[NUMBER_ROOM];
  for (int i = 0; i < 100000; i++) {
    double x = any_double();
    if (i % 4 == 1) x = (double)(int64_t)below(2000000) / 1000;
    if (i % 4 == 2) x = ldexp((double)below(1u << 30), -1074);
    if (i % 4 == 3) x = (double)below(UINT64_C(1) << 52);
    size_t n = number_print(text, x);
    assert_true(n == strlen(text) && number_read(text, NULL) == x);
    int digits = 1; // the fewest that read back
    for (; digits < 17; digits++) {
      snprintf(other, sizeof other, "%.*g", digits, x);
      if (strtod(other, NULL) == x) break;
    }
    snprintf(other, sizeof other, "%.*g", digits, x);
    if (fabs(x) < 1e15 && x == floor(x)) snprintf(other, sizeof other, "%.0f", x);
    assert_string_equal(text, other);
  }
  assert_int_equal(number_print(text, -INFINITY), 4);
  assert_string_equal(text, "-inf");
  number_print(text, NAN);
  assert_string_equal(text, "nan");
}

#define SAME(...)                                                                                  \
  do {                                                                                             \
    char wanted[600];                                                                              \
    snprintf(wanted, sizeof wanted, __VA_ARGS__);                                                  \
    assert_string_equal(arena_format(a, __VA_ARGS__), wanted);                                     \
  } while (0)

static void test_formats(void **state) {
  (void)state;
  Arena *a = arena_new();
  SAME("plain");
  SAME("100%% of %s", "it");
  SAME("[%5d|%-5d|%05d|%+d|%.3d|%0*lld]", 42, 42, 42, 42, 7, 6, 5ll);
  SAME("[%u %x %X %o %08x %016llx %zu %010zu]", 7u, 255u, 255u, 8u, 48879u, 1ull << 60, sizeof a,
       sizeof a);
  SAME("[%ld %lu %lld %llu %jd %td]", -1l, 1ul, INT64_MIN + 0ll, UINT64_MAX + 0ull, (intmax_t)-3,
       (ptrdiff_t)-4);
  SAME("[%s|%10s|%-10s|%.2s|%.*s|%.60s]", "abc", "abc", "abc", "abc", 1, "abc", "abc");
  SAME("[%c%c|%5c|%-5c]", 'a', 'b', 'c', 'd');
  SAME("[%g %g %g %.0f %.3f %.17g %.*f %3.0f|%-8.2g|%8.2e]", 0.5, 1e20, -1e-7, 2.5, 1.0 / 3, 0.1, 2,
       3.14159, 7.0, 0.25, 12345.678);
  SAME("[%a %a %f %e %+.2f % .1f]", 0.5, 1.0 / 3, 1e300, 1e-300, 2.0, 3.0);
  SAME("[%g %g %g]", (double)INFINITY, (double)-INFINITY, (double)NAN);
  arena_free(a);
}

static void test_indices(void **state) {
  (void)state;
  Arena *a = arena_new();
  Buf b = buf_new(a);
  buf_indices(&b, 0, NULL, 0);
  buf_indices(&b, 1, (int64_t[]){5}, 4);
  buf_indices(&b, 3, (int64_t[]){2, 3, 4}, 23);
  buf_indices(&b, 2, (int64_t[]){3, 4}, 6);
  assert_string_equal(b.at, "[4][1 2 3][1 2]");
  arena_free(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_decimals), cmocka_unit_test(test_ties),
      cmocka_unit_test(test_edges),           cmocka_unit_test(test_print),
      cmocka_unit_test(test_formats),         cmocka_unit_test(test_indices)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
