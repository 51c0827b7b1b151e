// Arrays in memory, in and out; weights by name; a step of training at a time.
#include "host.h"

#include <math.h>

static const double *doubles(const LimnArray *x) { return x ? x->data : NULL; }

static void eval_in_memory(void) {
  Limn *l = loaded("box f(x: R[2 3]) -> R[3 2] {\n  return T[j i] = x[i j]\n}\nbox g(x: R[n]) -> "
                   "R[n] = x * x\n");
  int64_t shape[] = {2, 3}, flipped[] = {8, 16}; // column by column
  double rows[] = {1, 2, 3, 4, 5, 6}, columns[] = {1, 4, 2, 5, 3, 6};
  LimnArray x = {LIMN_F64, 2, shape, NULL, rows};
  LimnInput in = {"x", NULL, &x};
  LimnEval how = {.size = sizeof how, .in = &in, .nin = 1};
  LimnArrays out, grads;
  for (int turn = 0; turn < 2; turn++) {
    GOOD(l, limn_eval_arrays(l, "f", &how, &out, NULL));
    CHECK(out.n == 1 && out.at[0].array.rank == 2 && out.at[0].array.type == LIMN_F64);
    CHECK(out.at[0].array.shape[0] == 3 && out.at[0].array.shape[1] == 2);
    CHECK(!memcmp(out.at[0].array.data, columns, sizeof columns));
    x.data = columns, x.strides = flipped; // the same numbers, lying otherwise
  }
  uint8_t bytes[] = {0, 1, 2, 255};
  int32_t whole[] = {-1, 0, 1, 7};
  int64_t wide[] = {-3, 3, 1 << 20, 5}, four[] = {4}, every[] = {2 * sizeof(float)};
  float singles[] = {0.5f, 9, 1.5f, 9, -2, 9, 4, 9};
  struct {
    LimnArray x;
    double first, last;
  } row[] = {{{LIMN_U8, 1, four, NULL, bytes}, 0, 65025},
             {{LIMN_I32, 1, four, NULL, whole}, 1, 49},
             {{LIMN_I64, 1, four, NULL, wide}, 9, 25},
             {{LIMN_F32, 1, four, every, singles}, 0.25, 16}};
  for (size_t i = 0; i < 4; i++) {
    in.array = &row[i].x;
    GOOD(l, limn_eval_arrays(l, "g", &how, &out, &grads));
    CHECK(doubles(&out.at[0].array)[0] == row[i].first);
    CHECK(doubles(limn_array(&out, "out"))[3] == row[i].last);
    CHECK(fabs(doubles(limn_array(&grads, "x"))[3] - 2 * sqrt(row[i].last)) < 1e-12);
  }
  double dy[] = {1, 0, 0, 10};
  LimnArray cotangent = {LIMN_F64, 1, four, NULL, dy};
  how.dy_array = &cotangent;
  GOOD(l, limn_eval_arrays(l, "g", &how, &out, &grads));
  CHECK(doubles(limn_array(&grads, "x"))[3] == 80 && doubles(limn_array(&grads, "x"))[1] == 0);
  LimnArray bad[] = {{LIMN_F64, 1, four, NULL, NULL},
                     {(LimnType)77, 1, four, NULL, dy},
                     {LIMN_F64, 1, NULL, NULL, dy},
                     {LIMN_F64, 1, (int64_t[]){-1}, NULL, dy},
                     {LIMN_F64, 2, (int64_t[]){INT64_MAX, 8}, NULL, dy},
                     {LIMN_F64, 1000, four, NULL, dy}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    in.array = &bad[i];
    CHECK(limn_eval_arrays(l, "g", &how, &out, NULL) == LIMN_WRONG && limn_errors(l) == 1);
    limn_forget(l);
  }
  limn_free(l);
}

static void weights_by_name(void) {
  Limn *l = loaded(program);
  LimnArrays all, out;
  LimnArray w;
  GOOD(l, limn_weights(l, NULL, &all));
  CHECK(all.n == 4);
  const LimnArray *first = limn_array(&all, "net/dense.1/linear/W");
  CHECK(first && first->rank == 2 && first->shape[0] * first->shape[1] == 16);
  GOOD(l, limn_weights(l, "net", &all));
  CHECK(all.n == 4);
  GOOD(l, limn_weight_get(l, "net/dense.2/b", &w));
  CHECK(w.rank == 1 && w.shape[0] == 3 && doubles(&w)[0] == 0);

  double b[] = {1, 2, 4}, zero[12] = {0};
  int64_t three[] = {3}, twelve[] = {12};
  LimnArray bias = {LIMN_F64, 1, three, NULL, b}, odd = {LIMN_F64, 1, twelve, NULL, zero};
  CHECK(limn_weight_set(l, "net/dense.2/c", &bias) == LIMN_WRONG);
  CHECK(strstr(limn_messages(l, false), "did you mean"));
  CHECK(limn_weight_set(l, "net/dense.2/b", &odd) == LIMN_WRONG);
  limn_forget(l);
  GOOD(l, limn_weight_set(l, "net/dense.2/b", &bias));
  GOOD(l, limn_weight_get(l, "net/dense.2/linear/W", &w));
  LimnArray none = {LIMN_F64, w.rank, w.shape, NULL, zero};
  GOOD(l, limn_weight_set(l, "net/dense.2/linear/W", &none));
  GOOD(l, limn_weight_get(l, "net/dense.2/b", &w));
  CHECK(doubles(&w)[2] == 4);

  // the interpreter and the engine both use them: with W = 0 the bias is the answer
  double x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  int64_t rows[] = {2, 4};
  LimnArray input = {LIMN_F64, 2, rows, NULL, x};
  LimnInput in = {"", NULL, &input};
  LimnEval eval = {.size = sizeof eval, .in = &in, .nin = 1};
  GOOD(l, limn_eval_arrays(l, "net", &eval, &out, NULL));
  CHECK(out.at[0].array.shape[0] == 2 && doubles(&out.at[0].array)[5] == 4);
  LimnUse use = {.size = sizeof use, .in = &in, .nin = 1, .reference = true};
  CHECK(limn_predict_arrays(l, "net", &use, &out) == LIMN_USAGE); // two of four are nowhere
  limn_forget(l);
  for (uint32_t i = 0; i < 2; i++) {
    const char *name = i ? "net/dense.1/b" : "net/dense.1/linear/W";
    GOOD(l, limn_weight_get(l, name, &w));
    GOOD(l, limn_weight_set(l, name, &w));
  }
  GOOD(l, limn_predict_arrays(l, "net", &use, &out));
  CHECK(out.n == 1 && out.at[0].array.rank == 2 && doubles(&out.at[0].array)[2] == 4);
  GOOD(l, limn_measure_arrays(l, &use, &out));
  CHECK(out.n == 1 && !strcmp(out.at[0].name, "fit.hits") && doubles(&out.at[0].array)[0] < 0.6);
  GOOD(l, limn_weight_set(l, "net/dense.2/b", NULL));
  GOOD(l, limn_weight_get(l, "net/dense.2/b", &w));
  CHECK(doubles(&w)[2] == 0);
  limn_free(l);
}

typedef struct {
  uint64_t rows, last;
  bool reported;
  double loss;
} Seen;

static void on_metrics(void *context, const LimnMetrics *m) {
  Seen *s = context;
  s->rows++;
  s->reported |= m->reported;
  s->last = m->step;
  if (m->n && !strcmp(m->name[0], "fit")) s->loss = m->value[0];
}

// All at once, and one by one: the same weights, bit for bit.
static void a_step_at_a_time(bool reference) {
  Limn *l = loaded(program);
  LimnTrainer *t = NULL;
  LimnArrays all, model;
  Seen whole = {0}, parts = {0};
  LimnTrain how = {
      .size = sizeof how, .reference = reference, .out = reference ? "whole.r" : "whole"};
  how.plain = true;
  how.tell.context = &whole, how.tell.metrics = on_metrics;
  GOOD(l, limn_train(l, &how));
  CHECK(whole.last == 20 && whole.reported && whole.loss > 0);

  how.out = NULL, how.in_memory = true, how.tell.context = &parts;
  GOOD(l, limn_trainer_open(l, &how, &t));
  bool done = false;
  uint64_t steps = 0;
  for (; !done && steps < 100; steps++) {
    GOOD(l, limn_trainer_step(t, 1, &done));
    LimnMetrics m = {.size = sizeof m};
    GOOD(l, limn_trainer_metrics(t, &m));
    CHECK(m.step == steps + 1 && m.steps == 20 && m.n >= 1 && m.value[0] > 0);
    CHECK(limn_print(l, "f", NULL, false)); // the handle goes on answering
  }
  CHECK(steps == 20 && parts.last == 20 && parts.loss == whole.loss && parts.rows == whole.rows);
  CHECK(limn_trainer_step(t, 1, &done) == LIMN_GOOD && done); // nothing more
  GOOD(l, limn_trainer_weights(t, &all));
  GOOD(l, limn_weights_read(l, reference ? "whole.r" : "whole"));
  GOOD(l, limn_weights(l, "net", &model));
  CHECK(all.n == 4 && model.n == 4);
  for (uint32_t i = 0; i < all.n; i++) {
    const LimnArray *x = &all.at[i].array, *y = limn_array(&model, all.at[i].name);
    CHECK(x->type == LIMN_F32 && y);
    for (int64_t k = 0; y && k < x->shape[0]; k++)
      CHECK((double)((float *)x->data)[k] == doubles(y)[k]);
  }
  GOOD(l, limn_trainer_close(t));
  limn_free(l);
}

// Weights can be put into a run, and a run can begin with weights.
static void own_weights(void) {
  Limn *l = loaded(program);
  LimnTrainer *t = NULL;
  LimnArrays all;
  double b[] = {1, 2, 4};
  int64_t three[] = {3};
  LimnArray bias = {LIMN_F64, 1, three, NULL, b};
  LimnTrain how = {.size = sizeof how, .reference = true, .in_memory = true};
  GOOD(l, limn_weight_set(l, "net/dense.2/b", &bias));
  GOOD(l, limn_trainer_open(l, &how, &t));
  GOOD(l, limn_trainer_weights(t, &all));
  CHECK(((float *)limn_array(&all, "net/dense.2/b")->data)[2] == 4);
  b[2] = -8;
  GOOD(l, limn_trainer_weight_set(t, "net/dense.2/b", &bias));
  CHECK(((float *)limn_array(&all, "net/dense.2/b")->data)[2] == -8); // it is the memory itself
  CHECK(limn_trainer_weight_set(t, "net/dense.2/x", &bias) == LIMN_WRONG);
  CHECK(limn_trainer_weight_set(t, "net/dense.1/linear/W", &bias) == LIMN_WRONG);
  GOOD(l, limn_trainer_step(t, 3, NULL));
  GOOD(l, limn_trainer_close(t));
  // one in a folder that is closed early can be resumed
  LimnTrain folder = {.size = sizeof folder, .reference = true, .out = "early", .plain = true};
  GOOD(l, limn_trainer_open(l, &folder, &t));
  GOOD(l, limn_trainer_step(t, 5, NULL));
  GOOD(l, limn_trainer_close(t));
  folder.out = NULL, folder.resume = "early";
  GOOD(l, limn_trainer_open(l, &folder, &t));
  LimnMetrics m = {.size = sizeof m};
  GOOD(l, limn_trainer_metrics(t, &m));
  CHECK(m.step == 5);
  GOOD(l, limn_trainer_close(t));
  LimnTrain both = {.size = sizeof both, .in_memory = true, .out = "both"};
  CHECK(limn_trainer_open(l, &both, &t) == LIMN_USAGE && !t && limn_errors(l) > 0);
  limn_free(l);
}

// A label that is none is refused, in every type that could hold it and in every call.
static void labels_in_memory(void) {
  Limn *l = loaded("learn e : {3} -> R[2] = embed[2]\n"
                   "box last(x: R[n]) -> R[n] {\n  learn v : R[n] = normal\n  state s : {n} = 0\n"
                   "  next s = argmax[n](v)\n  return y[i] = x[i] * v[s]\n}\n"
                   "learn f : R[4] -> R[4] = last\ngiven x from normal[4]\n"
                   "goal fit : f(x) ~ 1 by l2\ntrain 3 steps\n");
  const double odd[] = {3, -1, 0.5, 1e300, NAN, INFINITY};
  const float single[] = {3, -1, 0.5f, NAN};
  const int64_t wide[] = {3, -1, INT64_MIN, INT64_MAX};
  const int32_t whole[] = {3, -1, INT32_MIN, INT32_MAX};
  const uint8_t byte[] = {3, 4, 128, 255};
  const struct {
    LimnType type;
    size_t each, n;
    const void *at;
  } row[] = {{LIMN_F64, 8, 6, odd},
             {LIMN_F32, 4, 4, single},
             {LIMN_I64, 8, 4, wide},
             {LIMN_I32, 4, 4, whole},
             {LIMN_U8, 1, 4, byte}};
  LimnArrays out;
  LimnTrainer *t = NULL;
  LimnTrain train = {.size = sizeof train, .reference = true, .in_memory = true};
  GOOD(l, limn_trainer_open(l, &train, &t));
  for (size_t i = 0; i < sizeof row / sizeof *row; i++)
    for (size_t k = 0; k < row[i].n; k++) {
      LimnArray x = {row[i].type, 0, NULL, NULL,
                     (void *)(uintptr_t)((const char *)row[i].at + k * row[i].each)};
      LimnInput in = {"", NULL, &x};
      LimnEval eval = {.size = sizeof eval, .in = &in, .nin = 1};
      LimnUse use = {.size = sizeof use, .in = &in, .nin = 1, .reference = true};
      CHECK(limn_eval_arrays(l, "e", &eval, &out, NULL) == LIMN_WRONG && !out.n);
      CHECK(limn_predict_arrays(l, "e", &use, &out) == LIMN_WRONG && !out.n);
      // of four labels, 3 is one
      bool one = k == 0;
      CHECK(limn_trainer_weight_set(t, "f/last/s", &x) == (one ? LIMN_GOOD : LIMN_WRONG));
    }
  GOOD(l, (limn_forget(l), limn_trainer_close(t)));
  limn_free(l);
}

int main(void) {
  eval_in_memory();
  labels_in_memory();
  weights_by_name();
  a_step_at_a_time(true);
  a_step_at_a_time(false);
  own_weights();
  return ended();
}
