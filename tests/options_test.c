// Domains of options: random boxes with random domains are called with random values, directly and
// through boxes that pass an option on. A program is accepted if and only if every value is in its
// domain, and the message is at the place where the user wrote the value.
//
//   options_test                 the tests
//   options_test FIRST RUNS      RUNS programs from seed FIRST
#include "limn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

static uint64_t seed;

static uint32_t below(uint32_t n) { // xorshift64*
  seed ^= seed >> 12, seed ^= seed << 25, seed ^= seed >> 27;
  return (uint32_t)((seed * 0x2545F4914F6CDD1Du) >> 33) % n;
}

static const struct {
  const char *text;
  double value;
} numbers[] = {{"-2", -2},       {"-0.5", -0.5}, {"0", 0},
               {"0.25", 0.25},   {"1", 1},       {"1.5", 1.5},
               {"2", 2},         {"3", 3},       {"(1 / 0)", INFINITY},
               {"(0 / 0)", NAN}, {"1e39", 1e39}, {"(1 - 0.75)", 0.25}};
static const char *const signs[] = {"<", "<=", ">", ">=", "!=", "≤", "≥"};

static bool holds(double a, uint32_t sign, double b) {
  if (!(fabs(a) < 1e38 && fabs(b) < 1e38)) return false;
  switch (sign) {
  case 0: return a < b;
  case 1:
  case 5: return a <= b;
  case 2: return a > b;
  case 3:
  case 6: return a >= b;
  default: return a != b;
  }
}

typedef struct {
  char text[64];
  uint32_t n, sign[2], bound[2]; // bound sign p [sign bound], or p sign bound
  bool in_front;
} Domain;

static Domain any_domain(void) {
  Domain d = {.n = 1 + below(2), .in_front = below(2)};
  for (uint32_t i = 0; i < 2; i++) d.sign[i] = below(7), d.bound[i] = below(8);
  if (d.n == 2)
    snprintf(d.text, sizeof d.text, "%s %s p %s %s", numbers[d.bound[0]].text, signs[d.sign[0]],
             signs[d.sign[1]], numbers[d.bound[1]].text);
  else if (d.in_front)
    snprintf(d.text, sizeof d.text, "%s %s p", numbers[d.bound[0]].text, signs[d.sign[0]]);
  else
    snprintf(d.text, sizeof d.text, "p %s %s", signs[d.sign[0]], numbers[d.bound[0]].text);
  return d;
}

static bool is_inside(const Domain *d, double p) {
  double a = numbers[d->bound[0]].value, b = numbers[d->bound[1]].value;
  if (d->n == 2) return holds(a, d->sign[0], p) && holds(p, d->sign[1], b);
  return d->in_front ? holds(a, d->sign[0], p) : holds(p, d->sign[0], a);
}

// A box with a domain, so many boxes around it, a call of the outermost, and perhaps a call of a box of the
// library, which passes its option on as well.
static void one_program(uint64_t number) {
  char text[1024];
  seed = number * 0x9E3779B97F4A7C15u + 1;
  Domain d = any_domain();
  uint32_t depth = below(4), value = below(sizeof numbers / sizeof *numbers), as = below(3);
  int n = snprintf(text, sizeof text, "box b0[p, %s](x: R[n]) -> R[n] = x * p\n", d.text);
  for (uint32_t i = 1; i <= depth; i++)
    n += snprintf(text + n, sizeof text - (size_t)n, "box b%u[q](x: R[n]) -> R[n] = b%u[%s](x)\n",
                  i, i - 1, below(2) || i > 1 ? "q" : "p: q");
  const char *name = as == 1 ? "c" : numbers[value].text;
  if (as == 1)
    n += snprintf(text + n, sizeof text - (size_t)n, "const c = %s\n", numbers[value].text);
  uint32_t line = depth + 2 + (as == 1);
  snprintf(text + n, sizeof text - (size_t)n, "box f(x: R[3]) -> R[3] = %sb%u[%s]%s\n",
           as == 2 ? "(relu ; " : "", depth, name, as == 2 ? ")(x)" : "(x)");
  Limn *l = limn_new();
  bool good = limn_load_text(l, "p.limn", text, strlen(text)) == LIMN_GOOD;
  if (good != is_inside(&d, numbers[value].value))
    fail_msg("program %llu is %s:\n%s%s", (unsigned long long)number, good ? "accepted" : "refused",
             text, limn_messages(l, false));
  char place[32];
  snprintf(place, sizeof place, "p.limn:%u:", line);
  if (!good && strncmp(limn_messages(l, false), place, strlen(place)) != 0)
    fail_msg("program %llu is refused elsewhere:\n%s%s", (unsigned long long)number, text,
             limn_messages(l, false));
  limn_free(l);
}

static void test_programs(void **state) {
  (void)state;
  for (uint64_t i = 1; i <= 200; i++) one_program(i);
}

int main(int argc, char **argv) {
  if (argc == 3) {
    uint64_t first = strtoull(argv[1], NULL, 10), runs = strtoull(argv[2], NULL, 10);
    for (uint64_t i = 0; i < runs; i++) one_program(first + i);
    return 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
