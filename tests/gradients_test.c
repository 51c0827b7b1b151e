// Gradients of goals on a batch of data, compared with finite differences of the losses and with
// each other.
#define _DEFAULT_SOURCE
#include "base/base.h"
#include "limn.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROWS = 6 };
static const double table[ROWS][3] = {{0.5, -1, 0.3}, {1.5, 0.2, -0.4}, {-0.7, 0.9, 1.1},
                                      {0.1, 0.4, 0},  {-1.2, -0.3, 2},  {0.8, 1.7, -1}};
// Rows lie in numbers.csv; h is wired twice, and `other` only goes through g.
static const char program[] = "given x1, x2, y from \"numbers.csv\"\n"
                              "learn f(a, b: R[]) -> R[4] {\n"
                              "  h = dense[4]([a, b])\n"
                              "  return h\n}\n"
                              "learn g : R[4] -> R[] = tanh ; dense[]\n"
                              "goal fit : g(f(x1, x2)) ~ y by l2\n"
                              "goal other : g(2 * f(x2, x1)) ~ 1 by l2 trains f times 3\n"
                              "train 8 steps, batch 6, gd(0.1)\n";

static int enter(void **state) {
  static char dir[] = "/tmp/limn.XXXXXX";
  FILE *f;
  setenv("LIMN_CC", "", 1);
  if (!mkdtemp(dir) || chdir(dir) || !(f = fopen("numbers.csv", "w"))) return -1;
  fputs("x1,x2,y\n", f);
  for (int i = 0; i < ROWS; i++)
    fprintf(f, "%.17g,%.17g,%.17g\n", table[i][0], table[i][1], table[i][2]);
  *state = dir;
  return fclose(f);
}

static int leave(void **state) {
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", (char *)*state);
  return chdir("/") | system(command);
}

static Limn *loaded(const char *text) {
  Limn *l = limn_new();
  if (limn_load_text(l, "p.limn", text, strlen(text))) fail_msg("%s", limn_messages(l, false));
  return l;
}

static LimnUse exact(void) {
  return (LimnUse){.size = sizeof(LimnUse), .precision = LIMN_PRECISION_64};
}

static void good(Limn *l, LimnStatus status) {
  if (status) fail_msg("%s", limn_messages(l, false));
}

static int64_t count(const LimnArray *x) {
  int64_t n = 1;
  for (uint32_t i = 0; i < x->rank; i++) n *= x->shape[i];
  return n;
}

static const double *numbers(const LimnArrays *all, const char *name) {
  const LimnArray *x = limn_array(all, name);
  if (!x) fail_msg("there is no %s", name);
  return x->data;
}

// What a goal is on all rows, as the interpreter has it.
static double loss(Limn *l, const char *goal) {
  double column[3][ROWS];
  LimnArray array[3];
  LimnInput in[3];
  static const char *const name[] = {"x1", "x2", "y"};
  static const int64_t shape[] = {ROWS};
  uint32_t n = strcmp(goal, "fit") ? 2 : 3;
  for (uint32_t k = 0; k < n; k++) {
    for (int i = 0; i < ROWS; i++) column[k][i] = table[i][k];
    array[k] = (LimnArray){LIMN_F64, 1, shape, NULL, column[k]};
    in[k] = (LimnInput){name[k], NULL, &array[k]};
  }
  LimnEval how = {.size = sizeof how, .in = in, .nin = n};
  LimnArrays out;
  good(l, limn_eval_arrays(l, goal, &how, &out, NULL));
  return *(double *)out.at[0].array.data;
}

static double slope(Limn *l, const char *goal, const char *weight, int64_t at) {
  const double step = 1e-5;
  LimnArray w;
  double side[2];
  for (int k = 0; k < 2; k++) {
    good(l, limn_weight_get(l, weight, &w));
    ((double *)w.data)[at] += k ? -step : step;
    LimnArray moved = w;
    good(l, limn_weight_set(l, weight, &moved));
    side[k] = loss(l, goal);
    ((double *)w.data)[at] -= k ? -step : step;
    good(l, limn_weight_set(l, weight, &moved));
  }
  return (side[0] - side[1]) / (2 * step);
}

// Each weight by those goals that may move it: g is none of `other`'s.
static void against_differences(void **state) {
  (void)state;
  Limn *l = loaded(program);
  LimnUse how = exact();
  LimnArrays values, grads;
  good(l, limn_gradients(l, NULL, NULL, &how, &values, &grads));
  assert_int_equal(grads.n, 4);
  assert_int_equal(values.n, 4);
  for (uint32_t i = 0; i < grads.n; i++) {
    const char *name = grads.at[i].name;
    const double *d = grads.at[i].array.data;
    LimnArray own;
    good(l, limn_weight_get(l, name, &own));
    assert_string_equal(values.at[i].name, name);
    assert_memory_equal(values.at[i].array.data, own.data, (size_t)count(&own) * sizeof(double));
    for (int64_t k = 0; k < count(&grads.at[i].array); k++) {
      double want = slope(l, "fit", name, k) + (*name == 'f' ? slope(l, "other", name, k) : 0);
      if (fabs(d[k] - want) > 1e-7) fail_msg("d %s[%d] is %g, not %g", name, (int)k, d[k], want);
    }
    good(l, limn_weight_set(l, name, NULL));
  }
  limn_free(l);
}

// A bias is added to each sample of h, so its gradient is the sum of theirs: the wires are those of the
// goals that were asked for, and each stands for itself.
static void of_wires(void **state) {
  (void)state;
  Limn *l = loaded(program);
  LimnUse how = exact();
  LimnArrays values, grads;
  double bias[3][4], sum[3][4] = {{0}};
  static const char *const goal[] = {"fit", "other", NULL};
  for (int g = 0; g < 3; g++) {
    good(l, limn_gradients(l, goal[g], "f/dense/b", &how, NULL, &grads));
    memcpy(bias[g], numbers(&grads, "f/dense/b"), sizeof bias[g]);
    good(l, limn_gradients(l, goal[g], "h", &how, &values, &grads));
    assert_int_equal(grads.n, goal[g] ? 1 : 2);
    assert_int_equal(values.n, grads.n);
    for (uint32_t i = 0; i < grads.n; i++) {
      const double *d = grads.at[i].array.data;
      assert_string_equal(grads.at[i].name, i || g == 1 ? "h.2" : "h.1"); // the same for all goals
      assert_int_equal(grads.at[i].array.rank, 2);
      assert_int_equal(grads.at[i].array.shape[0], ROWS);
      for (int k = 0; k < 4 * ROWS; k++) sum[g][k % 4] += d[k];
    }
    for (int k = 0; k < 4; k++) assert_true(fabs(sum[g][k] - bias[g][k]) < 1e-12);
  }
  for (int k = 0; k < 4; k++) {
    assert_true(fabs(bias[0][k]) > 1e-6 && fabs(bias[1][k]) > 1e-6);
    assert_true(fabs(bias[2][k] - bias[0][k] - bias[1][k]) < 1e-12);
  }
  good(l, limn_gradients(l, NULL, "h.2", &how, NULL, &grads));
  assert_int_equal(grads.n, 1);
  how.n = 2; // samples
  good(l, limn_gradients(l, NULL, "h.2", &how, &values, NULL));
  assert_int_equal(values.at[0].array.shape[0], 2);
  assert_string_equal(limn_wires(l, "fit"), "[\"h.1\"]");
  assert_string_equal(limn_wires(l, "other"), "[\"h.2\"]");
  assert_int_equal(limn_gradients(l, "other", "h.1", &how, NULL, &grads), LIMN_WRONG);
  assert_string_equal(limn_wires(l, NULL), "[\"h.1\", \"h.2\"]");
  limn_free(l);
}

// Of a run: with its weights, and with what its goals weigh by now; the program may not be another one.
static void of_a_run(void **state) {
  (void)state;
  Limn *l = loaded(program);
  LimnTrain how = {.size = sizeof how, .quiet = true, .plain = true, .out = "run", .threads = 1};
  LimnArrays values, grads;
  LimnArray w;
  how.precision = LIMN_PRECISION_64, how.pause = 4;
  good(l, limn_train(l, &how));
  LimnUse use = exact();
  good(l, limn_gradients(l, "other", "f/dense/b", &use, NULL, &grads));
  double began = *numbers(&grads, "f/dense/b");
  use.from = "run";
  good(l, limn_gradients(l, "other", "f/dense/b", &use, &values, &grads));
  double ended = *numbers(&grads, "f/dense/b"), bias = *numbers(&values, "f/dense/b");
  assert_true(fabs(began - ended) > 1e-4);
  Limn *again = loaded(program);
  good(again, limn_weights_read(again, "run"));
  good(again, limn_weight_get(again, "f/dense/b", &w));
  assert_true(bias == *(double *)w.data &&
              fabs(ended - slope(again, "other", "f/dense/b", 0)) < 1e-7);
  good(l, limn_change(l, "run", "other.weight", 6));
  how.resume = "run", how.out = NULL, how.pause = 6;
  good(l, limn_train(l, &how));
  good(l, limn_gradients(l, "other", "f/dense/b", &use, NULL, &grads));
  double doubled = *numbers(&grads, "f/dense/b");
  good(again, limn_weights_read(again, "run"));
  assert_true(fabs(doubled - 2 * slope(again, "other", "f/dense/b", 0)) < 1e-7);
  good(l, limn_gradients(l, "other", "f/dense/b", &use, NULL, &grads));
  assert_true(doubled == *numbers(&grads, "f/dense/b")); // once more: the program is as it was
  limn_free(again);
  limn_free(l);

  char text[sizeof program];
  memcpy(text, program, sizeof program);
  strstr(text, "~ 1 by")[2] = '2';
  l = loaded(text);
  assert_int_equal(limn_gradients(l, NULL, NULL, &use, NULL, &grads), LIMN_WRONG);
  assert_non_null(strstr(limn_messages(l, false), "the program is another one than that of run"));
  limn_free(l);
}

static void refused(void **state) {
  (void)state;
  static const struct {
    const char *goal, *name, *says;
  } wrong[] = {{"fitt", NULL, "did you mean `fit`"},
               {NULL, "f/dense/c", "there is no weight and no wire `f/dense/c` in the goals"},
               {NULL, "h.3", "there is no weight and no wire `h.3`"},
               {"other", "g/dense/b", "there is no weight and no wire `g/dense/b`"}};
  Limn *l = loaded(program);
  LimnArrays grads;
  for (uint32_t i = 0; i < COUNT(wrong); i++) {
    grads.n = 7;
    assert_int_equal(limn_gradients(l, wrong[i].goal, wrong[i].name, NULL, NULL, &grads),
                     LIMN_WRONG);
    if (grads.n || !strstr(limn_messages(l, false), wrong[i].says))
      fail_msg("%s: %s", wrong[i].says, limn_messages(l, false));
    limn_forget(l);
  }
  assert_null(limn_wires(l, "nothing"));
  limn_free(l);
  l = loaded("box f(x: R[2]) -> R[2] = 2 * x\n");
  assert_int_equal(limn_gradients(l, NULL, NULL, NULL, NULL, &grads), LIMN_WRONG);
  assert_non_null(strstr(limn_messages(l, false), "this program has no goals"));
  limn_free(l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(against_differences),
      cmocka_unit_test(of_wires),
      cmocka_unit_test(of_a_run),
      cmocka_unit_test(refused),
  };
  return cmocka_run_group_tests_name("gradients", tests, enter, leave);
}
