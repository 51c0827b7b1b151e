// Coordinate assignment by the network simplex: every minimum distance is kept, and the cost is
// minimal. Small problems are compared with an exhaustive search on a grid, large ones with a known
// minimum.
#include "show/layout/place.h"

#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

static int64_t cost(const Places *p, const int64_t *place) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < p->pull.n; i++) {
    const Pull *q = &p->pull.at[i];
    sum += q->weight * llabs(place[q->b] - place[q->a] - q->offset);
  }
  return sum;
}

static bool keeps_gaps(const Places *p, const int64_t *place) {
  for (uint32_t i = 0; i < p->gap.n; i++)
    if (place[p->gap.at[i].below] - place[p->gap.at[i].above] < p->gap.at[i].least) return false;
  return true;
}

static uint32_t next(uint64_t *s, uint32_t n) {
  *s = *s * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*s >> 33) % n;
}

static int64_t best_of_all(const Places *p, int64_t top) {
  int64_t place[8] = {0}, best = INT64_MAX;
  for (;;) {
    if (keeps_gaps(p, place) && cost(p, place) < best) best = cost(p, place);
    uint32_t i = 0;
    while (i < p->n && ++place[i] > top) place[i++] = 0;
    if (i == p->n) return best;
  }
}

static void as_good_as_any(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 400; seed++) {
    Arena *a = arena_new();
    uint64_t s = seed;
    Places p = {.n = 2 + next(&s, 4)};
    int64_t place[8];
    for (uint32_t i = 0, k = next(&s, 6); i < k; i++) {
      uint32_t above = next(&s, p.n - 1), below = above + 1 + next(&s, p.n - above - 1);
      vec_push(a, &p.gap, (Gap){above, below, next(&s, 3)});
    }
    for (uint32_t i = 0, k = next(&s, 8); i < k; i++) {
      uint32_t x = next(&s, p.n), y = next(&s, p.n);
      if (x != y) vec_push(a, &p.pull, (Pull){x, y, (int64_t)next(&s, 3) - 1, 1 + next(&s, 5)});
    }
    assert_true(places_solve(a, &p, place, NULL));
    assert_true(keeps_gaps(&p, place));
    assert_int_equal(cost(&p, place), best_of_all(&p, 9));
    arena_free(a);
  }
}

// Tied things are as good as two gaps that leave no choice; ties that do not agree are refused.
static void ties_hold(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    Arena *a = arena_new();
    uint64_t s = seed;
    Places p = {.n = 5}, free;
    int64_t place[8], least = INT64_MAX, at[8] = {0};
    for (uint32_t i = 0; i < 3; i++)
      vec_push(a, &p.gap, (Gap){next(&s, 2), 2 + next(&s, 3), next(&s, 3)});
    for (uint32_t i = 0; i < 6; i++) {
      uint32_t x = next(&s, 5), y = next(&s, 5);
      if (x != y) vec_push(a, &p.pull, (Pull){x, y, (int64_t)next(&s, 3) - 1, 1 + next(&s, 5)});
    }
    free = p;
    vec_push(a, &p.tie, (Tie){0, 1, 2});
    vec_push(a, &p.tie, (Tie){3, 4, -1});
    assert_true(places_solve(a, &p, place, NULL));
    assert_true(keeps_gaps(&p, place));
    assert_int_equal(place[1] - place[0], 2);
    assert_int_equal(place[4] - place[3], -1);
    for (uint32_t i = 0; i < 8 * 8 * 8; i++) { // where 0, 2 and 3 are says it all
      at[0] = i % 8, at[1] = at[0] + 2, at[2] = i / 8 % 8, at[3] = i / 64, at[4] = at[3] - 1;
      if (keeps_gaps(&free, at) && cost(&free, at) < least) least = cost(&free, at);
    }
    assert_int_equal(cost(&p, place), least);
    vec_push(a, &p.tie, (Tie){1, 0, 2});
    assert_false(places_solve(a, &p, place, NULL));
    arena_free(a);
  }
}

static void circles_are_refused(void **state) {
  (void)state;
  Arena *a = arena_new();
  Places p = {.n = 2};
  int64_t place[2];
  vec_push(a, &p.gap, (Gap){0, 1, 1});
  vec_push(a, &p.gap, (Gap){1, 0, 1});
  assert_false(places_solve(a, &p, place, NULL));
  arena_free(a);
}

// Rows of wires that pass through many sections: all straight.
static void long_wires_are_straight(void **state) {
  (void)state;
  enum { ROWS = 6, SECTIONS = 400 };
  Arena *a = arena_new();
  Places p = {.n = ROWS * SECTIONS};
  int64_t *place = NEW_ARRAY(a, int64_t, p.n);
  for (uint32_t k = 0; k < SECTIONS; k++)
    for (uint32_t r = 0; r < ROWS; r++) {
      uint32_t v = k * ROWS + r;
      if (r) vec_push(a, &p.gap, (Gap){v - 1, v, 20 + (k * 7 + r) % 3 * 10});
      if (k) vec_push(a, &p.pull, (Pull){v - ROWS, v, 0, 3});
    }
  assert_true(places_solve(a, &p, place, NULL));
  assert_true(keeps_gaps(&p, place));
  assert_int_equal(cost(&p, place), 0);
  arena_free(a);
}

// Each group is solved by itself, though all of them hang on one root: work grows as their number.
static void as_many_steps_as_things(void **state) {
  (void)state;
  enum { GROUPS = 3000 };
  Arena *a = arena_new();
  Places p = {.n = 3 * GROUPS};
  int64_t *place = NEW_ARRAY(a, int64_t, p.n);
  uint64_t steps = 0;
  for (uint32_t i = 0; i < GROUPS; i++) {
    vec_push(a, &p.gap, (Gap){3 * i, 3 * i + 1, 3});
    vec_push(a, &p.pull, (Pull){3 * i + 2, 3 * i + 1, 0, 1});
  }
  assert_true(places_solve(a, &p, place, &steps));
  assert_true(keeps_gaps(&p, place));
  assert_int_equal(cost(&p, place), 0);
  assert_in_range(steps, GROUPS, 30 * GROUPS);
  arena_free(a);
}

static void what_is_too_high_is_left_as_it_is(void **state) {
  (void)state;
  Arena *a = arena_new();
  Places p = {.n = 3, .most = 50};
  int64_t place[3];
  uint64_t steps = 0;
  vec_push(a, &p.gap, (Gap){0, 1, 51});
  vec_push(a, &p.pull, (Pull){2, 1, 0, 1});
  assert_true(places_solve(a, &p, place, &steps));
  assert_true(keeps_gaps(&p, place));
  assert_int_equal(steps, 0);
  p.most = 51;
  assert_true(places_solve(a, &p, place, &steps));
  assert_int_equal(cost(&p, place), 0);
  arena_free(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_good_as_any),
      cmocka_unit_test(ties_hold),
      cmocka_unit_test(circles_are_refused),
      cmocka_unit_test(long_wires_are_straight),
      cmocka_unit_test(as_many_steps_as_things),
      cmocka_unit_test(what_is_too_high_is_left_as_it_is),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
