// Functions: a box or learner made ready once. Their values and gradients are those of the
// interpreter, for samples in any number, labels and several results; weights are their own; they
// outlive their handle; thousands of calls and hundreds of shapes take no more memory.
#include "counted.h"
#include "host.h"

#include <math.h>
#include <pthread.h>

static const char text[] = "axis d = 3\n"
                           "box two(x: R[n], k: R[]) -> (R[n], R[]) = (k * x * x, sum(x) * k)\n"
                           "box pick(x: R[5], at: {5}) -> R[] = sum(one_hot(at) * x)\n"
                           "box kind(x: R[4]) -> {4} = argmax(x)\n"
                           "learn net : R[d] -> R[2] = dense[4] ; tanh ; dense[2]\n"
                           "learn norm : R[d] -> R[d] = dense[d] ; batch_norm\n";

static LimnFunction *opened(Limn *l, const char *name, LimnPrecision precision, bool training) {
  LimnFunction *f = NULL;
  LimnPrepare how = {
      .size = sizeof how, .precision = precision, .training = training, .threads = 1};
  GOOD(l, limn_function_open(l, name, &how, &f));
  return f;
}

static LimnStatus called(LimnFunction *f, const LimnInput *in, uint32_t n, const LimnArray *dy,
                         uint32_t ndy, LimnArrays *out, LimnArrays *grads) {
  LimnCall how = {.size = sizeof how, .in = in, .nin = n, .dy = dy, .ndy = ndy};
  return limn_function_call(f, &how, out, grads);
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-12 * (1 + fabs(b)); }

static bool same(const LimnArrays *a, const LimnArrays *b) {
  bool good = a->n == b->n;
  for (uint32_t i = 0; good && i < a->n; i++) {
    int64_t n = 1;
    good = a->at[i].array.rank == b->at[i].array.rank;
    for (uint32_t k = 0; good && k < a->at[i].array.rank; k++) {
      good = a->at[i].array.shape[k] == b->at[i].array.shape[k];
      n *= b->at[i].array.shape[k];
    }
    for (int64_t k = 0; good && k < n; k++)
      good = near(((double *)a->at[i].array.data)[k], ((double *)b->at[i].array.data)[k]);
  }
  return good;
}

#define GOOD_OF(f, call)                                                                           \
  do {                                                                                             \
    bool good = (call) == LIMN_GOOD;                                                               \
    if (!good) fputs(limn_function_messages(f, false), stdout);                                    \
    CHECK(good);                                                                                   \
  } while (0)

// As by the interpreter: values and gradients of inputs and weights.
static void as_evaluated(void) {
  Limn *l = loaded(text);
  LimnFunction *two = opened(l, "two", LIMN_PRECISION_64, false);
  LimnFunction *net = opened(l, "net", LIMN_PRECISION_64, false);
  double numbers[] = {1, -2, 3, 0.5, 4, 6}, factor = 0.5;
  LimnArray x = {LIMN_F64, 1, (int64_t[]){6}, NULL, numbers},
            k = {LIMN_F64, 0, NULL, NULL, &factor};
  LimnInput in[] = {{"k", NULL, &k}, {"x", NULL, &x}};
  LimnEval how = {.size = sizeof how, .in = in, .nin = 2};
  LimnArrays out, grads, out2, grads2;
  GOOD(l, limn_eval_arrays(l, "two", &how, &out, &grads));
  GOOD_OF(two, called(two, in, 2, NULL, 0, &out2, &grads2));
  CHECK(same(&out2, &out) && same(&grads2, &grads) && grads2.n == 2);
  LimnArray m = {LIMN_F64, 2, (int64_t[]){2, 3}, NULL, numbers};
  LimnInput one = {NULL, NULL, &m};
  how.in = &one, how.nin = 1;
  GOOD(l, limn_eval_arrays(l, "net", &how, &out, &grads));
  GOOD_OF(net, called(net, &one, 1, NULL, 0, &out2, &grads2));
  CHECK(same(&out2, &out) && same(&grads2, &grads) && grads2.n == 5);
  CHECK(limn_array(&grads2, "net/dense.1/linear/W"));
  // a cotangent of each; those of the wrong shape are told
  double dy[] = {0, 1, 0, 0, 0, 0}, two_dy[] = {10, 0};
  LimnArray d[] = {{LIMN_F64, 1, (int64_t[]){6}, NULL, dy}, {LIMN_F64, 0, NULL, NULL, two_dy}};
  GOOD_OF(two, called(two, in, 2, d, 2, &out2, &grads2));
  const double *dx = limn_array(&grads2, "x")->data;
  CHECK(near(dx[1], 2 * 0.5 * -2 + 5) && near(dx[0], 5));
  CHECK(called(two, in, 2, d, 1, &out2, &grads2) == LIMN_WRONG);
  CHECK(strstr(limn_function_messages(two, false),
               "`two` has 2 results, and 1 cotangents are given"));
  d[0].rank = 0;
  CHECK(called(two, in, 2, d, 2, &out2, &grads2) == LIMN_WRONG);
  CHECK(strstr(limn_function_messages(two, false), "the cotangent of result 1 is"));
  GOOD_OF(two, called(two, in, 2, NULL, 0, &out2, NULL)); // and the next is as if nothing had been
  CHECK(!*limn_function_messages(two, false));
  limn_function_close(two), limn_function_close(net);
  limn_free(l);
}

// Samples in any number, and in parts.
static void samples(void) {
  enum { N = 2500 };
  static float x[N][3];
  Limn *l = loaded(text);
  LimnFunction *f = opened(l, "net", LIMN_PRECISION_32, false);
  for (int i = 0; i < N; i++)
    for (int k = 0; k < 3; k++) x[i][k] = (float)((i * 7 + k * 3) % 11) / 11;
  int64_t shape[] = {N, 3};
  LimnArray a = {LIMN_F32, 2, shape, NULL, x};
  LimnInput in = {NULL, NULL, &a};
  LimnArrays out;
  static float first[2 * N];
  GOOD_OF(f, called(f, &in, 1, NULL, 0, &out, NULL));
  CHECK(out.at[0].array.type == LIMN_F32 && out.at[0].array.shape[0] == N);
  memcpy(first, out.at[0].array.data, sizeof first);
  for (int64_t n = 1; n < 40; n += 6) {
    shape[0] = n, a.data = x[100];
    GOOD_OF(f, called(f, &in, 1, NULL, 0, &out, NULL));
    CHECK(!memcmp(out.at[0].array.data, first + 200, (size_t)n * 2 * sizeof(float)));
  }
  int64_t gaps[] = {-12, 4}; // backward
  shape[0] = 5, a.data = x[N - 1], a.strides = gaps;
  GOOD_OF(f, called(f, &in, 1, NULL, 0, &out, NULL));
  for (int i = 0; i < 5; i++)
    CHECK(!memcmp((float *)out.at[0].array.data + 2 * i, first + 2 * (N - 1 - i), 8));
  shape[1] = 4;
  CHECK(called(f, &in, 1, NULL, 0, &out, NULL) == LIMN_WRONG && !out.n);
  LimnInput more[] = {in, in};
  CHECK(called(f, more, 2, NULL, 0, &out, NULL) == LIMN_WRONG);
  limn_function_close(f);
  limn_free(l);
}

static void labels(void) {
  Limn *l = loaded(text);
  LimnFunction *f = opened(l, "pick", LIMN_PRECISION_64, false);
  LimnFunction *kind = opened(l, "kind", LIMN_PRECISION_DEFAULT, false);
  double x[] = {1, 2, 3, 4, 5};
  int64_t at[] = {4, 0, 2}, five[] = {5}, three[] = {3};
  LimnArray a = {LIMN_F64, 1, five, NULL, x}, b = {LIMN_I64, 1, three, NULL, at};
  LimnInput in[] = {{"x", NULL, &a}, {"at", NULL, &b}};
  LimnArrays out, grads;
  GOOD_OF(f, called(f, in, 2, NULL, 0, &out, &grads));
  const double *y = out.at[0].array.data;
  CHECK(y[0] == 5 && y[1] == 1 && y[2] == 3 && grads.n == 1);
  y = grads.at[0].array.data;
  CHECK(y[0] == 1 && y[1] == 0 && y[4] == 1);
  at[1] = 5;
  CHECK(called(f, in, 2, NULL, 0, &out, NULL) == LIMN_WRONG);
  CHECK(strstr(limn_function_messages(f, false), "input at holds 5 at [1]: a label here is"));
  int64_t four[] = {2, 4};
  float z[] = {0, 3, 1, 2, 5, 4, 3, 2};
  LimnArray c = {LIMN_F32, 2, four, NULL, z};
  LimnInput one = {"x", NULL, &c};
  GOOD_OF(kind, called(kind, &one, 1, NULL, 0, &out, NULL));
  CHECK(out.at[0].array.type == LIMN_I32);
  CHECK(((int32_t *)out.at[0].array.data)[0] == 1 && ((int32_t *)out.at[0].array.data)[1] == 0);
  CHECK(called(kind, &one, 1, NULL, 0, &out, &grads) == LIMN_WRONG);
  CHECK(strstr(limn_function_messages(kind, false), "labels have no gradient"));
  LimnPort p = {.size = sizeof p};
  CHECK(limn_function_in(f, 1, &p) == LIMN_GOOD && p.labels == 5 && p.rank == 0);
  CHECK(!strcmp(p.name, "at") && !strcmp(p.type, "{5}") && p.number == LIMN_I32);
  CHECK(limn_function_in(f, 2, &p) == LIMN_USAGE && limn_function_out(f, 0, &p) == LIMN_GOOD);
  limn_function_close(f), limn_function_close(kind);
  limn_free(l);
}

// Weights are those of the handle when it is opened, then its own; training has batch statistics and
// moves nothing.
static void weights(void) {
  Limn *l = loaded(text);
  double b[] = {1, 2}, x[] = {1, 2, 3, 4, 5, 7}, w[12] = {0}, zero[8] = {0};
  LimnArray bias = {LIMN_F64, 1, (int64_t[]){2}, NULL, b},
            none = {LIMN_F64, 2, (int64_t[]){4, 2}, NULL, zero},
            a = {LIMN_F64, 2, (int64_t[]){2, 3}, NULL, x};
  LimnInput in = {NULL, NULL, &a};
  LimnArrays out, all, before;
  GOOD(l, limn_weight_set(l, "net/dense.2/b", &bias));
  LimnFunction *f = opened(l, "net", LIMN_PRECISION_64, false);
  LimnFunction *norm = opened(l, "norm", LIMN_PRECISION_64, true);
  limn_free(l);
  GOOD_OF(f, limn_function_weight_set(f, "net/dense.2/linear/W", &none));
  GOOD_OF(f, called(f, &in, 1, NULL, 0, &out, NULL));
  const double *y = out.at[0].array.data;
  CHECK(y[0] == 1 && y[1] == 2 && y[2] == 1);
  b[0] = 9;
  GOOD_OF(f, limn_function_weight_set(f, "net/dense.2/b", &bias));
  GOOD_OF(f, called(f, &in, 1, NULL, 0, &out, NULL));
  CHECK(((double *)out.at[0].array.data)[0] == 9);
  CHECK(limn_function_weights(f, &all, NULL) == LIMN_GOOD && all.n == 4);
  CHECK(limn_array(&all, "net/dense.2/b")->type == LIMN_F64);
  CHECK(((double *)limn_array(&all, "net/dense.2/b")->data)[0] == 9);
  CHECK(limn_function_weight_set(f, "net/dense.2/b", &none) == LIMN_WRONG);
  CHECK(limn_function_weight_set(f, "net/dense.3/b", &none) == LIMN_WRONG);
  CHECK(strstr(limn_function_messages(f, false), "`net` has no weight `net/dense.3/b`"));
  // two samples, each number 1 or -1 when their mean and deviation are taken out
  CHECK(limn_function_weights(norm, &all, &before) == LIMN_GOOD && all.n == 4 && before.n == 2);
  GOOD_OF(norm, called(norm, &in, 1, NULL, 0, &out, NULL));
  y = out.at[0].array.data;
  CHECK(fabs(fabs(y[0]) - 1) < 1e-2 && near(y[0], -y[3]));
  for (uint32_t i = 0; i < before.n; i++)
    if (strstr(before.at[i].name, "mean")) CHECK(!memcmp(before.at[i].array.data, w, 24));
  limn_function_close(f), limn_function_close(norm);
}

typedef struct {
  LimnFunction *f;
  double sum;
} Thread;

static void *many_calls(void *what) {
  Thread *t = what;
  double x[] = {1, 2, 3};
  LimnArray a = {LIMN_F64, 1, (int64_t[]){3}, NULL, x};
  LimnInput in = {NULL, NULL, &a};
  LimnArrays out;
  for (int i = 0; i < 300; i++) {
    x[0] = i;
    if (called(t->f, &in, 1, NULL, 0, &out, NULL)) return NULL;
    t->sum += ((double *)out.at[0].array.data)[0];
  }
  return NULL;
}

static void in_threads(void) {
  enum { THREADS = 8 };
  Limn *l = loaded(text);
  pthread_t id[THREADS];
  Thread t[THREADS] = {0};
  for (int i = 0; i < THREADS; i++) t[i].f = opened(l, "net", LIMN_PRECISION_64, false);
  for (int i = 0; i < THREADS; i++) CHECK(!pthread_create(&id[i], NULL, many_calls, &t[i]));
  for (int i = 0; i < THREADS; i++) pthread_join(id[i], NULL);
  for (int i = 0; i < THREADS; i++) CHECK(t[i].sum != 0 && t[i].sum == t[0].sum);
  for (int i = 0; i < THREADS; i++) limn_function_close(t[i].f);
  limn_free(l);
}

// Hundreds of shapes, and refusals.
static void steadily(void) {
  static double x[1000];
  double k = 1;
  Limn *l = loaded(text);
  LimnPrepare how = {.size = sizeof how, .reference = true, .precision = LIMN_PRECISION_64};
  LimnFunction *f;
  GOOD(l, limn_function_open(l, "two", &how, &f));
  int64_t shape[] = {1};
  LimnArray a = {LIMN_F64, 1, shape, NULL, x}, b = {LIMN_F64, 0, NULL, NULL, &k};
  LimnInput in[] = {{"x", NULL, &a}, {"k", NULL, &b}};
  LimnArrays out;
  long first = 0;
  for (int i = 0; i < 65 * 12; i++) {
    shape[0] = 1 + i % 500;
    GOOD_OF(f, called(f, in, 2, NULL, 0, &out, NULL));
    CHECK(out.at[0].array.shape[0] == shape[0]);
    if (i == 65 * 6 - 1) first = blocks;
  }
  CHECK(blocks <= first + first / 20);
  in[0].name = "y";
  for (int i = 0; i < 200; i++) CHECK(called(f, in, 2, NULL, 0, &out, NULL) == LIMN_WRONG);
  CHECK(strstr(limn_function_messages(f, false), "there is no input `y`"));
  limn_function_close(f);
  limn_free(l);
}

static void no_field(void) {
  Limn *l =
      loaded("learn w : R[2] = [0.5, -0.25]\ngoal g : w ~ 0 by mse\ntrain 2 steps, gd(0.1)\n");
  LimnTrain how = {.size = sizeof how, .in_memory = true, .reference = true};
  LimnTrainer *t;
  GOOD(l, limn_trainer_open(l, &how, &t));
  CHECK(limn_trainer_step_on(t, NULL, 0, NULL) == LIMN_WRONG);
  CHECK(strstr(limn_messages(l, false), "no goal reads a field: a step takes no batch"));
  limn_free(l);
}

// The derivative of order 2, by hand: of k x x (and k sum x) with the cotangents c and e it is
// dx = 2 k c x + e k, dk = c x x + e sum x; and of these with u and v it is below.
static void of_order_two(void) {
  Limn *l = loaded(text);
  LimnFunction *f = opened(l, "two", LIMN_PRECISION_64, false);
  double x = 3, k = 5, c = 2, e = 7, u = 11, v = 13;
  LimnArray row[] = {{LIMN_F64, 1, (int64_t[]){1}, NULL, &x},
                     {LIMN_F64, 1, (int64_t[]){1}, NULL, &c},
                     {LIMN_F64, 1, (int64_t[]){1}, NULL, &u}},
            one[] = {{LIMN_F64, 0, NULL, NULL, &k},
                     {LIMN_F64, 0, NULL, NULL, &e},
                     {LIMN_F64, 0, NULL, NULL, &v}};
  LimnInput in[] = {{"k", NULL, &one[0]},  {"x", NULL, &row[0]},  {NULL, NULL, &row[1]},
                    {NULL, NULL, &one[1]}, {NULL, NULL, &row[2]}, {NULL, NULL, &one[2]}};
  LimnCall how = {.size = sizeof how, .in = in, .nin = 4, .order = 1};
  LimnArrays out, grads;
  GOOD_OF(f, limn_function_call(f, &how, &out, NULL));
  CHECK(out.n == 2 && strcmp(out.at[0].name, "x") == 0 && strcmp(out.at[1].name, "k") == 0);
  CHECK(near(*(double *)out.at[0].array.data, 2 * k * c * x + e * k));
  CHECK(near(*(double *)out.at[1].array.data, c * x * x + e * x));
  double second[] = {u * 2 * k * c + v * (2 * c * x + e), u * (2 * c * x + e),
                     u * 2 * k * x + v * x * x, u * k + v * x}; // to x, k, c, e
  how.nin = 6, how.order = 2;
  GOOD_OF(f, limn_function_call(f, &how, &out, NULL));
  for (uint32_t i = 0; i < 4; i++)
    CHECK(out.n == 4 && near(*(double *)out.at[i].array.data, second[i]));
  LimnArray dy[] = {row[2], one[2]}; // the same as the gradient of a call of order 1
  how = (LimnCall){.size = sizeof how, .in = in, .nin = 4, .order = 1, .dy = dy, .ndy = 2};
  GOOD_OF(f, limn_function_call(f, &how, &out, &grads));
  for (uint32_t i = 0; i < 4; i++)
    CHECK(grads.n == 4 && near(*(double *)grads.at[i].array.data, second[i]));
  how.nin = 3;
  CHECK(limn_function_call(f, &how, &out, NULL) == LIMN_WRONG);
  CHECK(strstr(limn_function_messages(f, false),
               "the derivative of order 1 of `two` takes 4 arrays, and 3 are given"));
  how.nin = 4, in[2].array = &one[1];
  CHECK(limn_function_call(f, &how, &out, NULL) == LIMN_WRONG);
  CHECK(strstr(limn_function_messages(f, false), "the cotangent of result 1 is"));
  how.order = 9;
  CHECK(limn_function_call(f, &how, &out, NULL) == LIMN_USAGE);
  CHECK(strstr(limn_function_messages(f, false), "a derivative is of order 8 at most, not 9"));
  limn_function_close(f);
  limn_free(l);
}

static void misused(void) {
  Limn *l = loaded(text);
  LimnFunction *f = (LimnFunction *)1;
  LimnArrays out;
  CHECK(limn_function_open(l, "nothing", NULL, &f) == LIMN_WRONG && !f);
  CHECK(strstr(limn_messages(l, false), "there is no box"));
  CHECK(limn_function_open(l, NULL, NULL, &f) == LIMN_USAGE);
  CHECK(limn_function_open(l, "net", NULL, NULL) == LIMN_USAGE);
  CHECK(limn_function_open(NULL, "net", NULL, &f) == LIMN_USAGE);
  LimnPrepare how = {.size = sizeof how, .from = "nowhere"};
  CHECK(limn_function_open(l, "net", &how, &f) == LIMN_WRONG && !f);
  CHECK(limn_function_call(NULL, NULL, &out, NULL) == LIMN_USAGE);
  CHECK(limn_function_weights(NULL, &out, NULL) == LIMN_USAGE);
  CHECK(!*limn_function_messages(NULL, false));
  limn_function_close(NULL);
  f = opened(l, "net", LIMN_PRECISION_32, false);
  LimnInput typed = {NULL, "[1, 2, 3]", NULL};
  CHECK(called(f, &typed, 1, NULL, 0, &out, NULL) == LIMN_USAGE);
  CHECK(strstr(limn_function_messages(f, false), "is an array in memory"));
  CHECK(called(f, &typed, 1, NULL, 0, NULL, NULL) == LIMN_USAGE);
  CHECK(strstr(limn_function_messages(f, false), "wants a place for its answer"));
  LimnCall none = {.size = sizeof none, .in = &typed, .nin = 1, .ndy = 3};
  CHECK(limn_function_call(f, &none, &out, NULL) == LIMN_USAGE);
  CHECK(strstr(limn_function_messages(f, false), "there are no cotangents where 3 are said to be"));
  CHECK(limn_function_weight_set(f, NULL, NULL) == LIMN_USAGE);
  CHECK(strstr(limn_function_messages(f, false), "wants a name and an array"));
  limn_function_close(f);
  limn_free(l);
}

// w - rate * d loss/d w, by hand; and batches that are refused leave the run as it was.
static void own_batches(void) {
  Limn *l = loaded("given x, kind from iris\n"
                   "learn line : R[4] -> R[1] = linear[1]\n"
                   "learn guess : R[4] -> R[3] = dense[3]\n"
                   "goal small : line(x) ~ 0 by mse\n"
                   "goal fit : guess(x) ~ kind by cross_entropy\n"
                   "train 9 steps, batch 8, gd(0.5)\n");
  LimnTrain how = {.size = sizeof how, .in_memory = true, .precision = LIMN_PRECISION_64};
  LimnTrainer *t;
  GOOD(l, limn_trainer_open(l, &how, &t));
  double w[] = {1, 2, 3, 4}, x[] = {1, 0, 0, 0, 0, 2, 0, 0};
  int64_t kind[] = {2, 0}, two[] = {2, 4}, four[] = {4, 1};
  LimnArray weight = {LIMN_F64, 2, four, NULL, w}, a = {LIMN_F64, 2, two, NULL, x},
            b = {LIMN_I64, 1, two, NULL, kind};
  LimnInput in[] = {{"kind", NULL, &b}, {"x", NULL, &a}};
  LimnArrays all;
  LimnMetrics m = {.size = sizeof m};
  bool done;
  GOOD(l, limn_trainer_weight_set(t, "line/linear/W", &weight));
  CHECK(limn_trainer_step_on(t, in, 1, &done) == LIMN_WRONG && !done);
  CHECK(strstr(limn_messages(l, false), "the batch has no array for the field x"));
  kind[1] = 3;
  CHECK(limn_trainer_step_on(t, in, 2, &done) == LIMN_WRONG);
  CHECK(strstr(limn_messages(l, false), "field kind of the batch holds 3: a label here is"));
  kind[1] = 0, two[1] = 3;
  CHECK(limn_trainer_step_on(t, in, 2, &done) == LIMN_WRONG);
  CHECK(strstr(limn_messages(l, false), "samples in front"));
  two[1] = 4;
  GOOD(l, limn_trainer_step_on(t, in, 2, &done));
  GOOD(l, limn_trainer_metrics(t, &m));
  CHECK(m.step == 1 && !done && near(m.value[0], (1 * 1 + 4 * 4) / 2.0));
  GOOD(l, limn_trainer_weights(t, &all));
  const double *now = limn_array(&all, "line/linear/W")->data; // d = mean of 2 (w x) x
  CHECK(near(now[0], 1 - 0.5 * 1) && near(now[1], 2 - 0.5 * 8) && now[2] == 3 && now[3] == 4);
  static double many[9 * 4];
  int64_t nine[] = {9, 4}, kinds[9] = {0};
  a.shape = nine, a.data = many, b.shape = nine, b.data = kinds;
  CHECK(limn_trainer_step_on(t, in, 2, NULL) == LIMN_WRONG);
  CHECK(strstr(limn_messages(l, false),
               "the batch has 9 samples, and a step is made for 8 at most: `batch` says how many"));
  nine[0] = 8;
  for (int i = 0; i < 8; i++) GOOD(l, limn_trainer_step_on(t, in, 2, &done));
  CHECK(done);
  limn_trainer_close(t);
  const char *names = limn_names(l);
  CHECK(names && strstr(names, "\"learners\": [\"line\", \"guess\"]") &&
        strstr(names, "\"given\": [\"x\", \"kind\"]") &&
        strstr(names, "\"goals\": [\"small\", \"fit\"]"));
  limn_free(l);
}

int main(void) {
  long before = blocks;
  as_evaluated();
  samples();
  labels();
  weights();
  in_threads();
  steadily();
  of_order_two();
  misused();
  own_batches();
  no_field();
  CHECK(blocks == before);
  return ended();
}
