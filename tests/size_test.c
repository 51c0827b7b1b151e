// Sizes: arithmetic in normal form, and unification.
#include "base/diag.h"
#include "base/names.h"
#include "lang/program/program.h"

#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct {
  Arena *arena;
  World *w;
  Size h, k, n;
} Setup;

static Setup setup(void) {
  Setup s = {.arena = arena_new()};
  s.w = world_new(s.arena);
  s.h = size_var(s.w, name_from(s.w->names, "h"), VAR_LOCAL, (Span){0});
  s.k = size_var(s.w, name_from(s.w->names, "k"), VAR_LOCAL, (Span){0});
  s.n = size_var(s.w, name_from(s.w->names, "n"), VAR_LOCAL, (Span){0});
  return s;
}

static Size number(Setup *s, int64_t v) { return size_of(s->w, v); }

static void equal_sizes_are_one(void **state) {
  (void)state;
  Setup s = setup();
  World *w = s.w;
  Size two = number(&s, 2), one = number(&s, 1);
  assert_int_equal(size_add(w, s.h, s.k), size_add(w, s.k, s.h));
  assert_int_equal(size_mul(w, size_quotient(w, s.h, two), two), s.h); // h/2*2
  assert_int_equal(size_sub(w, size_add(w, s.h, one), one), s.h);
  Size square = size_mul(w, size_add(w, s.h, one), size_add(w, s.h, one));
  Size spelled = size_add(w, size_add(w, size_mul(w, s.h, s.h), size_mul(w, two, s.h)), one);
  assert_int_equal(square, spelled);
  assert_int_equal(size_quotient(w, size_mul(w, s.h, s.k), s.k), s.h);
  assert_int_equal(size_floor(w, size_add(w, size_mul(w, two, s.h), one), two), s.h); // (2h+1)//2
  assert_int_equal(size_floor(w, number(&s, -3), two), number(&s, -2));
  assert_int_equal(size_power(w, two, number(&s, 10)), number(&s, 1024));
  assert_string_equal(size_text(w, spelled), "h^2+2*h+1");
  assert_string_equal(size_text(w, size_quotient(w, s.h, two)), "h/2");
  assert_int_equal(size_quotient(w, s.h, number(&s, 0)), 0);
  assert_true(size_too_large(w, size_mul(w, number(&s, INT64_MAX), two)));
  assert_true(size_too_large(w, size_power(w, number(&s, 10), number(&s, 30))));
  arena_free(s.arena);
}

static int64_t solved(Setup *s, Size v) {
  int64_t out = -1;
  assert_true(size_value(s->w, v, &out));
  return out;
}

static void what_must_be_solved(void **state) {
  (void)state;
  Setup s = setup();
  World *w = s.w;
  assert_int_equal(size_equate(w, size_mul(w, s.h, s.k), number(&s, 784), false),
                   SIZES_OPEN); // two unknowns
  assert_int_equal(size_equate(w, s.h, number(&s, 28), false), SIZES_SOLVED);
  assert_int_equal(size_equate(w, size_mul(w, s.h, s.k), number(&s, 784), false), SIZES_SOLVED);
  assert_int_equal(solved(&s, s.k), 28);
  Size odd = size_add(w, size_mul(w, number(&s, 2), s.n), number(&s, 1)); // 2*n+1 = 9
  assert_int_equal(size_equate(w, odd, number(&s, 9), false), SIZES_SOLVED);
  assert_int_equal(solved(&s, s.n), 4);
  assert_int_equal(size_equate(w, odd, number(&s, 9), false), SIZES_EQUAL);
  assert_int_equal(size_equate(w, odd, number(&s, 8), false), SIZES_CLASH);
  arena_free(s.arena);
}

static void what_must_be_refused(void **state) {
  (void)state;
  Setup s = setup();
  World *w = s.w;
  assert_int_equal(size_equate(w, size_mul(w, s.n, s.n), number(&s, 49), false),
                   SIZES_OPEN); // n*n = 49
  assert_int_equal(size_equate(w, size_floor(w, s.n, number(&s, 2)), number(&s, 3), false),
                   SIZES_OPEN); // n//2 = 3
  assert_int_equal(size_equate(w, size_power(w, number(&s, 2), s.n), number(&s, 8), false),
                   SIZES_OPEN); // 2^n = 8
  assert_int_equal(size_equate(w, size_mul(w, number(&s, 2), s.n), number(&s, 9), false),
                   SIZES_CLASH); // a fraction
  assert_int_equal(size_equate(w, size_add(w, s.n, number(&s, 5)), number(&s, 5), false),
                   SIZES_CLASH); // a size of 0
  assert_int_equal(size_equate(w, s.h, s.k, false), SIZES_OPEN);
  assert_int_equal(size_equate(w, s.h, s.k, true),
                   SIZES_SOLVED); // while a box is checked for itself
  assert_int_equal(size_now(w, s.h), size_now(w, s.k));
  arena_free(s.arena);
}

static const char *messages(const char *text) {
  static char out[4096];
  Arena *a = arena_new();
  World *w = world_new(a);
  elab_program(elab_new(w), "t.limn", text, strlen(text));
  Buf b = buf_new(a);
  diags_sort(w->diags);
  diags_print(w->diags, &b);
  snprintf(out, sizeof out, "%s", b.at);
  arena_free(a);
  return out;
}

static void axes_are_solved_in_programs(void **state) {
  (void)state;
  const char *solves = "axis h, w\n"
                       "given x : R[784] from mnist.image\n"
                       "learn view : R[784] -> R[h w] = split ; dense[w]\n"
                       "box split(x: R[n]) -> R[28 m] {\n"
                       "  return y[i:28 j] = x[(i j)]\n"
                       "}\n"
                       "goal same : view(x) ~ 0 by l2\n";
  const char *said = messages(solves);
  assert_non_null(
      strstr(said, "nothing settles size w of weight view/dense/b")); // it is said, not guessed
  assert_string_equal(messages("axis h, w = 28\n"
                               "given x : R[784] from mnist.image\n"
                               "learn view : R[784] -> R[h w] = split ; dense[w]\n"
                               "box split(x: R[n]) -> R[28 m] {\n"
                               "  return y[i:28 j] = x[(i j)]\n"
                               "}\n"
                               "goal same : view(x) ~ 0 by l2\n"),
                      "");
  assert_non_null(
      strstr(messages("box f(x: R[7]) -> R[3] {\n  return y[i j] = x[(i:2 j)]\n}\n"), "error"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_sizes_are_one), cmocka_unit_test(what_must_be_solved),
      cmocka_unit_test(what_must_be_refused), cmocka_unit_test(axes_are_solved_in_programs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
