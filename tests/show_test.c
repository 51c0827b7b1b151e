// Results of `show` as numbers: shapes, the right samples, the trained weights; paths and frames of
// the training; and that shows do not change the run.
#define _DEFAULT_SOURCE
#include "base/diag.h"
#include "base/files.h"
#include "folder_help.h"
#include "run/train/train.h"
#include "run/use/use.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct {
  Arena *arena;
  World *w;
  Elab *in;
  Program *p;
} Loaded;

static Loaded load(const char *text) {
  Loaded l = {.arena = arena_new()};
  l.w = world_new(l.arena);
  l.in = elab_new(l.w);
  l.p = elab_program(l.in, "shown.limn", text, strlen(text));
  return l;
}

static const char *said(const Loaded *l) {
  Buf b = buf_new(l->arena);
  diags_print(l->w->diags, &b);
  return b.at;
}

static void train(const Loaded *l, const char *dir) {
  if (l->w->diags->errors) fail_msg("%s", said(l));
  LimnTrain how = {.out = dir, .reference = true, .quiet = true};
  if (train_run(l->in, l->p, &how, NULL, NULL)) fail_msg("%s", said(l));
}

static Shows shows(const Loaded *l, const char *dir) {
  Shows out = {0};
  LimnUse how = {.from = dir, .reference = true};
  if (use_shows(l->in, l->p, &how, &out)) fail_msg("%s", said(l));
  return out;
}

static void has_shape(const Array *a, uint32_t rank, const int64_t *shape) {
  assert_int_equal(a->rank, rank);
  for (uint32_t i = 0; i < rank; i++) assert_int_equal(a->shape[i], shape[i]);
}

static const char flowers[] = "given x, y from iris\n"
                              "learn f : R[4] -> R[3] = linear[3]\n"
                              "learn b : R[3] = zero\n"
                              "goal fit : f(x) + b ~ y by cross_entropy\n"
                              "measure fit by hits on iris.test\n"
                              "train 6 steps, batch 20, adam(0.01)\n"
                              "show confusion(f(x) + b, y) on iris.test\n"
                              "show x, x * t for t in [0, 0.5, 2] on iris.test as strip[5]\n"
                              "show x, y every 2 as table\n"
                              "show b as paths\n";

// Every row of the test data is counted once, and the diagonal is the share of hits.
static void confusion_counts(void **state) {
  (void)state;
  Loaded l = load(flowers);
  train(&l, "run");
  Shows all = shows(&l, "run");
  const Array *m = &all.at[0].value.array.at[0];
  double sum = 0, hits = 0;
  Buf text = buf_new(l.arena);
  has_shape(m, 2, (int64_t[]){3, 3});
  assert_string_equal(all.at[0].view, "matrix");
  assert_string_equal(all.at[0].name[0][0], "setosa");
  for (int i = 0; i < 9; i++) sum += m->data[i], hits += i % 4 ? 0 : m->data[i];
  assert_true(sum == 50);
  LimnUse how = {.from = "run", .reference = true};
  assert_int_equal(use_measure(l.in, l.p, &(UseCall){.how = &how, .text = &text}), OUTCOME_GOOD);
  assert_true(fabs(strtod(strchr(text.at, ' '), NULL) - hits / sum) < 1e-6);
  arena_free(l.arena);
}

// Everything passes over the numbers of `for`, and samples come in the order of the split.
static void moments_pass_over(void **state) {
  (void)state;
  Loaded l = load(flowers);
  train(&l, "moments");
  Shows all = shows(&l, "moments");
  const Shown *s = &all.at[1];
  const Array *x = &s->value.array.at[0], *y = &s->value.array.at[1];
  has_shape(x, 2, (int64_t[]){5, 4});
  has_shape(y, 3, (int64_t[]){5, 3, 4});
  assert_int_equal(s->moments, 3);
  assert_true(s->moment[1] == 0.5);
  assert_string_equal(s->over, "t");
  assert_string_equal(y->name, "x * t");
  for (int i = 0; i < 5; i++)
    for (int k = 0; k < 3; k++)
      for (int j = 0; j < 4; j++)
        assert_true(fabs(y->data[(i * 3 + k) * 4 + j] - x->data[i * 4 + j] * s->moment[k]) < 1e-6);
  arena_free(l.arena);
}

// Values at each second step, and those at the end.
static void frames_of_training(void **state) {
  (void)state;
  Loaded l = load(flowers);
  train(&l, "frames");
  Shows all = shows(&l, "frames");
  assert_int_equal(all.n, 2 + 4 + 1);
  assert_string_equal(all.at[2].text, "x, y, after 2 steps");
  assert_string_equal(all.at[5].text, "x, y");
  assert_int_equal(all.at[3].value.array.n, 2);
  has_shape(&all.at[3].value.array.at[0], 2, (int64_t[]){20, 4});
  const Shown *path = &all.at[6];
  has_shape(&path->value.array.at[0], 2, (int64_t[]){6, 3});
  assert_int_equal(path->step[5], 6);
  const double *b = path->value.array.at[0].data;
  assert_true(fabs(fabs(b[0]) - 0.01) < 1e-6); // Adam's first step is the rate
  arena_free(l.arena);
}

static const char dream[] = "learn g : R[3] -> R[2] = dense[2]\n"
                            "given n from normal[3]\n"
                            "goal small : g(n) ~ 1 by l2\n"
                            "train 2 steps, batch 4\n"
                            "show g(normal[3]) as images[2, 3]\n"
                            "show g(n) as scatter[7]\n"
                            "show g(0) as table\n";

// Of noise alone there are as many as the view has room for, all different.
static void noise_is_made_again(void **state) {
  (void)state;
  Loaded l = load(dream);
  train(&l, "dream");
  Shows all = shows(&l, "dream");
  const Array *g = &all.at[0].value.array.at[0];
  has_shape(g, 2, (int64_t[]){6, 2});
  has_shape(&all.at[1].value.array.at[0], 2, (int64_t[]){7, 2});
  has_shape(&all.at[2].value.array.at[0], 1, (int64_t[]){2});
  assert_false(all.at[2].samples);
  for (int i = 1; i < 6; i++) assert_true(g->data[2 * i] != g->data[0]);
  arena_free(l.arena);
}

// A cell may be empty, a name in quotes; what is no row is refused.
static void metrics_are_read(void **state) {
  (void)state;
  Arena *a = arena_new();
  MetricRows m;
  const char *error = NULL;
  const char good[] = "step,epoch,time,\"f(x, y)[0]\",hits\n1,0,0,2.5,\n2,0,0,nan,0.5\n3,0,1",
             bad[] = "step,epoch,time,a\n1,0,0,x\n";
  assert_null(file_write(a, "good.csv", good, strlen(good)));
  assert_null(file_write(a, "bad.csv", bad, strlen(bad)));
  assert_true(rows_read(a, "good.csv", &m, &error));
  assert_int_equal(m.rows, 2);
  uint32_t c;
  assert_true(rows_find(&m, "f(x, y)[0]", &c) && c == 3);
  assert_true(m.value.at[3] == 2.5 && !m.known.at[4] && isnan(m.value.at[8]) && m.known.at[8]);
  assert_false(rows_read(a, "bad.csv", &m, &error));
  assert_string_equal(error, "bad.csv:2: found x, wanted a number");
  assert_false(rows_read(a, "none.csv", &m, &error));
  arena_free(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(confusion_counts),   cmocka_unit_test(moments_pass_over),
      cmocka_unit_test(frames_of_training), cmocka_unit_test(noise_is_made_again),
      cmocka_unit_test(metrics_are_read),
  };
  return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
