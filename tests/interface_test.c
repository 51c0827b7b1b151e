// Functions of the public interface that no command uses.
#define _DEFAULT_SOURCE
#include "base/base.h"
#include "limn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static Limn *loaded(const char *text) {
  Limn *l = limn_new();
  if (limn_load_text(l, "p.limn", text, strlen(text))) fail_msg("%s", limn_messages(l, false));
  return l;
}

static bool same_numbers(const LimnArray *a, const LimnArray *b) {
  return a && b && a->rank == 1 && b->rank == 1 && a->shape[0] == b->shape[0] &&
         !memcmp(a->data, b->data, (size_t)a->shape[0] * sizeof(double));
}

// Weights of `learn … from` are those of the run, one by one and all together.
static void weights_of_runs(void **state) {
  (void)state;
  char dir[] = "/tmp/limn.XXXXXX", command[64];
  assert_non_null(mkdtemp(dir));
  assert_int_equal(chdir(dir), 0);
  setenv("LIMN_CC", "", 1);
  Limn *l = loaded("learn w : R[3] = normal\ngoal g : w ~ 1 by l2\ntrain 3 steps, gd(0.1)\n");
  LimnTrain how = {.size = sizeof how, .quiet = true, .plain = true, .out = "run", .threads = 1};
  assert_int_equal(limn_train(l, &how), LIMN_GOOD);
  Limn *again = loaded("learn w : R[3] = normal from \"run\"\nbox f(x: R[]) -> R[3] = x * w\n");
  LimnArrays all = {0};
  LimnArray kept = {0}, one = {0};
  assert_int_equal(limn_weights_read(l, "run"), LIMN_GOOD);
  assert_int_equal(limn_weight_get(l, "w", &kept), LIMN_GOOD);
  assert_int_equal(limn_weights(again, "f", &all), LIMN_GOOD);
  assert_true(same_numbers(&kept, limn_array(&all, "w")));
  assert_int_equal(limn_weight_get(again, "w", &one), LIMN_GOOD);
  assert_true(same_numbers(&kept, &one));
  limn_free(again);
  limn_free(l);
  snprintf(command, sizeof command, "rm -rf %s", dir);
  assert_int_equal(chdir("/") | system(command), 0);
}

// A text is laid out up to the length at which it is loaded.
static void format_has_a_limit(void **state) {
  (void)state;
  size_t n = (8 << 20) + 1;
  char *text = malloc(n + 1);
  assert_non_null(text);
  memset(text, '\n', n);
  text[n] = 0;
  Limn *l = limn_new();
  assert_null(limn_format(l, "long.limn", text, n));
  assert_non_null(strstr(limn_messages(l, false), "it is larger than"));
  limn_forget(l);
  assert_non_null(limn_format(l, "long.limn", text, n - 1));
  limn_free(l);
  free(text);
}

// What is refused ahead of a run leaves the program as it was.
static void checked_twice(void **state) {
  (void)state;
  Limn *l = loaded("given x from iris.x\nlearn f : R[4] -> R[3] = dense[3]\n"
                   "goal g : f(x) ~ 0 by l2\ntrain 1 step\nshow f(x) as images\n");
  assert_int_equal(limn_check(NULL), LIMN_USAGE);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(limn_check(l), LIMN_WRONG);
    assert_int_equal(limn_errors(l), 1);
    limn_forget(l);
  }
  assert_non_null(limn_summary(l, false));
  limn_free(l);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(weights_of_runs),
                                     cmocka_unit_test(format_has_a_limit),
                                     cmocka_unit_test(checked_twice)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
