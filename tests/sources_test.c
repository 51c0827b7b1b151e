// Random goals over several sources of data and noise: for all inputs of a side in any order, the
// picture exists and has no faults.
//
//   sources_test               the tests
//   sources_test FIRST RUNS    RUNS goals from seed FIRST
#define _POSIX_C_SOURCE 200809L
#include "base/base.h"
#include "limn.h"

#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

enum { GOALS = 300, MOST = 4 };

typedef struct {
  const char *name, *type;
} SourceField;
static const SourceField fields[] = {{"x", "R[4]"}, {"y", "{3}"},  {"n", "R[4]"},
                                     {"u", "R[2]"}, {"p", "R[2]"}, {"q", "{2}"}};
static const char given[] = "given x, y from iris\n"
                            "given n from normal[4]\n"
                            "given u from uniform[2]\n"
                            "given p, q from moons\n";

static uint32_t below(uint64_t *state, uint32_t n) {
  uint64_t x = *state += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return (uint32_t)((x ^ (x >> 31)) % n);
}

// A learner that takes some fields, perhaps through others; returns the call.
static const char *side_made(Arena *a, uint64_t *state, const char *name, Buf *program) {
  uint32_t n = 1 + below(state, MOST);
  Buf types = buf_new(a), args = buf_new(a);
  for (uint32_t i = 0; i < n; i++) {
    const SourceField *f = &fields[below(state, COUNT(fields))];
    bool changed = f->type[0] == 'R' && !below(state, 3);
    buf_printf(&types, "%s%s", i ? ", " : "", f->type);
    buf_printf(&args, changed ? "%srelu(%s)" : "%s%s", i ? ", " : "", f->name);
  }
  buf_printf(program, "learn %s : %s -> R[3]\n", name, types.at);
  return arena_format(a, "%s(%s)", name, args.at);
}

static const char *program_made(Arena *a, uint64_t seed) {
  uint64_t state = seed * 0x2545F4914F6CDD1Du;
  Buf b = buf_new(a);
  buf_text(&b, given);
  const char *left = side_made(a, &state, "f", &b), *right = side_made(a, &state, "g", &b);
  buf_printf(&b, "goal fit : %s ~ %s   by l2\n", left, right);
  return b.at;
}

static uint32_t try_goals(uint64_t first, uint64_t n) {
  uint32_t wrong = 0;
  for (uint64_t seed = first; seed < first + n; seed++) {
    Arena *a = arena_new();
    Limn *l = limn_new();
    const char *program = program_made(a, seed), *faults = "no picture";
    LimnDraw how = {.size = sizeof how};
    if (limn_load_text(l, "f.limn", program, strlen(program)) != LIMN_GOOD)
      fail_msg("%s\n%s", program, limn_messages(l, false));
    if (limn_draw_check(l, NULL, &how, &faults) != LIMN_GOOD || *faults)
      wrong++, printf("seed %llu: %s\n%s\n", (unsigned long long)seed, faults, program);
    limn_free(l);
    arena_free(a);
  }
  return wrong;
}

static void goals_are_drawn(void **state) {
  (void)state;
  assert_int_equal(try_goals(1, GOALS), 0);
}

int main(int argc, char **argv) {
  if (argc > 2) return try_goals(strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10)) > 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(goals_are_drawn)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
