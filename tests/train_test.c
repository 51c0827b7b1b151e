// Training through the public interface: resuming after every step gives the same run as one
// without interruption. Internals: a measure is the mean over all samples for every batch size;
// noise is the engine's; random numbers do not depend on the order of declarations.
#define _DEFAULT_SOURCE
#include "base/diag.h"
#include "folder_help.h"
#include "limn.h"
#include "run/feed/feed.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static const char noisy[] =
    "given x, label from iris\n"
    "given n from normal[3]\n"
    "learn net : R[4] -> R[3] = dense[5] ; batch_norm ; tanh ; dropout[0.2] ; dense[3]\n"
    "learn gen : R[3] -> R[4] = dense[4]\n"
    "stale old = net by 0.9\n"
    "goal fit  : net(x) ~ label              by cross_entropy   trains net\n"
    "goal near : net(gen(n)) ~ old(gen(n))   by l2              trains gen   times 0.1\n"
    "measure fit by hits on iris.test\n"
    "train 2 epochs, batch 30, net: adam(0.01), gen: momentum(0.01, 0.8), turns[net: 2, gen: 1]\n"
    "train 5 steps, batch 40, adamw(cosine(0.01), decay: 0.1), clip 1\n";

typedef struct {
  char hash[32];
  int64_t step;
} Ended;

// The last line says how it ended.
static void hear(void *context, const char *text) {
  Ended *e = context;
  const char *hash = strstr(text, "\"hash\": \""), *step = strstr(text, "\"step\": ");
  if (!strstr(text, "\"event\": \"end\"")) return;
  assert_non_null(hash);
  snprintf(e->hash, sizeof e->hash, "%.16s", hash + 9);
  e->step = strtoll(step + 8, NULL, 10);
}

static Ended train(const char *text, LimnTrain how) {
  Ended e = {"", 0};
  Limn *l = limn_new();
  how.json = true;
  how.reference = true;
  how.tell = (LimnTell){.context = &e, .line = hear};
  LimnStatus s = limn_load_text(l, "noisy.limn", text, strlen(text));
  how.size = sizeof how;
  if (!s) s = limn_train(l, &how);
  if (s) fail_msg("%s", limn_messages(l, false));
  limn_free(l);
  return e;
}

static void resume_at_every_step(void **state) {
  (void)state;
  Ended whole = train(noisy, (LimnTrain){.out = "whole"});
  assert_true(whole.step > 8);
  for (uint64_t k = 1; k < (uint64_t)whole.step; k++) {
    char name[16];
    snprintf(name, sizeof name, "part%d", (int)k);
    Ended part = train(noisy, (LimnTrain){.out = name, .pause = k, .threads = 1});
    assert_int_equal(part.step, k);
    Ended rest = train(
        noisy,
        (LimnTrain){.resume = name, .threads = (uint32_t)(1 + k % 4), .every = k % 2 ? "1" : NULL});
    assert_string_equal(rest.hash, whole.hash);
    assert_int_equal(rest.step, whole.step);
  }
}

static void resume_step_by_step(void **state) {
  (void)state;
  Ended whole = train(noisy, (LimnTrain){.out = "once"}),
        part = train(noisy, (LimnTrain){.out = "often", .pause = 1});
  while (part.step < whole.step) part = train(noisy, (LimnTrain){.resume = "often", .pause = 1});
  assert_string_equal(part.hash, whole.hash);
}

// -- stopped while it measures --------------------------------------------------------------------
static const char measured[] = "given x, label from moons.test\n"
                               "learn net : R[2] -> R[2] = dense[5] ; tanh ; dense[2]\n"
                               "goal fit : net(x) ~ label by cross_entropy\n"
                               "measure fit by hits on moons.train\n"
                               "measure fit on moons.train\n"
                               "train 4 epochs, batch 1000, adam(0.01)\n"
                               "train 3 steps, batch 1000, adam(0.01)\n";

typedef struct {
  volatile sig_atomic_t stop;
  bool stops; // when it measures
} Impatient;

static void draw(void *context, const char *text) {
  Impatient *i = context;
  if (i->stops && strstr(text, "measuring fit")) i->stop = 1;
}

static uint32_t draw_width(void *context) {
  (void)context;
  return 200;
}

// True: it was stopped while it measured.
static bool train_drawn(LimnTrain how, bool stops) {
  Impatient i = {.stops = stops};
  Limn *l = limn_new();
  how.size = sizeof how, how.reference = true, how.stop = &i.stop;
  how.tell = (LimnTell){.context = &i, .redraw = draw, .width = draw_width};
  LimnStatus s = limn_load_text(l, "measured.limn", measured, strlen(measured));
  if (!s) s = limn_train(l, &how);
  if (s) fail_msg("%s", limn_messages(l, false));
  limn_free(l);
  return i.stop;
}

// The columns of metrics.csv without the time.
static void rows_of(const char *dir, char *out, size_t room) {
  char path[64], line[256];
  snprintf(path, sizeof path, "%s/metrics.csv", dir);
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  *out = 0;
  while (fgets(line, sizeof line, f)) {
    char *time = strchr(strchr(line, ',') + 1, ','), *rest = strchr(time + 1, ',');
    size_t n = strlen(out);
    *time = 0;
    snprintf(out + n, room - n, "%s%s", line, rest);
  }
  fclose(f);
}

// Each report is stopped in its middle, once, and made when the run goes on.
static void stopped_while_it_measures(void **state) {
  (void)state;
  char whole[2048], cut[2048];
  uint32_t stopped = train_drawn((LimnTrain){.out = "cut"}, true);
  train_drawn((LimnTrain){.out = "uncut"}, false);
  rows_of("uncut", whole, sizeof whole);
  assert_true(stopped);
  for (uint32_t i = 0; i < 20; i++) {
    train_drawn((LimnTrain){.resume = "cut", .pause = 1}, false);
    stopped += train_drawn((LimnTrain){.resume = "cut"}, true);
  }
  rows_of("cut", cut, sizeof cut);
  assert_string_equal(cut, whole);
  assert_true(stopped > 2);
}

static void precisions_differ(void **state) {
  (void)state;
  Ended a = train(noisy, (LimnTrain){.out = "p32"}),
        b = train(noisy, (LimnTrain){.out = "p64", .precision = LIMN_PRECISION_64});
  assert_string_not_equal(a.hash, b.hash);
  train(noisy, (LimnTrain){.out = "p64half", .precision = LIMN_PRECISION_64, .pause = 5});
  assert_string_equal(train(noisy, (LimnTrain){.resume = "p64half"}).hash, b.hash);
}

// Streams are told apart by names, so declarations may stand in any order.
static void order_does_not_matter(void **state) {
  (void)state;
  const char *one = "given x from moons.x\ngiven y from moons.x\n"
                    "learn f : R[2] -> R[2] = dense[2]\n"
                    "goal a : f(x) ~ y by l2\ntrain 5 steps, batch 7, gd(0.1)\n";
  const char *two = "given y from moons.x\ngiven x from moons.x\n"
                    "learn f : R[2] -> R[2] = dense[2]\n"
                    "goal a : f(x) ~ y by l2\ntrain 5 steps, batch 7, gd(0.1)\n";
  const char *same = "given x from moons.x\n"
                     "learn f : R[2] -> R[2] = dense[2]\n"
                     "goal a : f(x) ~ x by l2\ntrain 5 steps, batch 7, gd(0.1)\n";
  Ended a = train(one, (LimnTrain){.out = "one"}), b = train(two, (LimnTrain){.out = "two"});
  assert_string_equal(a.hash, b.hash);
  assert_string_not_equal(a.hash, train(same, (LimnTrain){.out = "same"}).hash);
}

// -- checkpoints that were damaged ----------------------------------------------------------------
static size_t read_bytes(const char *path, unsigned char *to, size_t room) {
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  size_t n = fread(to, 1, room, f);
  fclose(f);
  return n;
}

static void write_bytes(const char *path, const unsigned char *from, size_t n) {
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(from, 1, n, f), n);
  fclose(f);
}

static LimnStatus resume_quietly(const char *text, const char *dir) {
  Limn *l = limn_new();
  LimnStatus s = limn_load_text(l, "noisy.limn", text, strlen(text));
  if (!s)
    s = limn_train(
        l, &(LimnTrain){.size = sizeof(LimnTrain), .resume = dir, .pause = 1, .reference = true});
  if (s) assert_true(limn_errors(l) > 0);
  limn_free(l);
  return s;
}

static void damaged_states_are_refused_or_run(void **state) {
  (void)state;
  const char *path = "damaged/state.safetensors";
  static unsigned char good[1 << 16], bad[1 << 16];
  train(noisy, (LimnTrain){.out = "damaged", .pause = 3});
  size_t n = read_bytes(path, good, sizeof good), header = 8 + good[0] + 256u * good[1];
  uint32_t seed = 5, refused = 0;
  for (int i = 0; i < 120; i++) {
    seed = seed * 1664525u + 1013904223u;
    size_t at = (seed >> 8) % (i % 4 ? header : n), cut = i < 100 ? n : at;
    memcpy(bad, good, n);
    if (i < 100) bad[at] ^= (unsigned char)(1u << (seed >> 5 & 7));
    write_bytes(path, bad, cut);
    LimnStatus s = resume_quietly(noisy, "damaged");
    assert_true(s == LIMN_GOOD || s == LIMN_WRONG);
    if (cut < n) assert_int_equal(s, LIMN_WRONG);
    refused += s == LIMN_WRONG;
  }
  assert_true(refused > 60);
  write_bytes(path, good, n);
  assert_int_equal(resume_quietly(noisy, "damaged"), LIMN_GOOD);
}

// -- inside ---------------------------------------------------------------------------------------
typedef struct {
  Arena *arena;
  Gauges g;
} Inside;

static void inside(Inside *s, const char *text) {
  *s = (Inside){.arena = arena_new(), .g.target.reference = true};
  World *w = world_new(s->arena);
  Elab *in = elab_new(w);
  Program *p = elab_program(in, "test.limn", text, strlen(text));
  s->g.data = data_new(in, p, s->arena);
  s->g.store = store_new(PRECISION_64);
  bool good = !w->diags->errors && data_open_all(s->g.data);
  Buf b = buf_new(s->arena);
  diags_print(w->diags, &b);
  if (!good) fail_msg("%s", b.at);
}

static void outside(Inside *s) {
  store_free(s->g.store);
  arena_free(s->arena);
}

static double direct_mean(Inside *s, Split split) {
  Set *set = s->g.data->set[0];
  int64_t n = set_rows(set, split), *row = NEW_ARRAY(s->arena, int64_t, n);
  double *x = NEW_ARRAY(s->arena, double, 2 * n), sum = 0;
  const char *why;
  for (int64_t i = 0; i < n; i++) row[i] = i;
  assert_true(set_read(set, (SetRows){split, set_find(set, "x"), row, n}, NUMBER_F64, x, &why));
  for (int64_t i = 0; i < n; i++) sum += exp(x[2 * i]) * x[2 * i + 1];
  return sum / (double)n;
}

static void measures_are_means(void **state) {
  (void)state;
  Inside s;
  inside(&s, "given x from moons\n"
             "box f(v: R[2]) -> R[] = exp(v[0]) * v[1]\n"
             "measure here : f(x)\n"
             "measure there : f(x) on moons.test\n");
  for (int64_t batch = 0; batch < 2000; batch += 777) {
    s.g.batch = batch;
    assert_true(gauges_open(&s.g));
    assert_int_equal(s.g.n, 2);
    assert_true(gauges_run(&s.g));
    assert_true(fabs(s.g.at[0].value - direct_mean(&s, SPLIT_TRAIN)) < 1e-12);
    assert_true(fabs(s.g.at[1].value - direct_mean(&s, SPLIT_TEST)) < 1e-12);
    assert_true(fabs(s.g.at[0].value - s.g.at[1].value) > 1e-6);
  }
  outside(&s);
}

// `given n from normal[…]` is one draw for each sample, shared by its uses; `normal[…]` is fresh at
// each.
static void noise_is_inside(void **state) {
  (void)state;
  Inside s;
  inside(&s, "given n from normal[3]\n"
             "measure shared : sum((n - n)^2)\n"
             "measure spread : sum(n^2)\n"
             "measure fresh : sum((normal[3] - n)^2)\n");
  s.g.batch = 4000;
  assert_true(gauges_open(&s.g));
  assert_true(gauges_run(&s.g));
  assert_true(s.g.at[0].value == 0);
  assert_true(fabs(s.g.at[1].value - 3) < 0.2);
  assert_true(fabs(s.g.at[2].value - 6) < 0.4);
  outside(&s);
}

// What each player would gain by its best answer, worked out by hand.
static void exploitability_is_what_players_could_gain(void **state) {
  (void)state;
  Inside s;
  inside(&s, "axis a = 2, b = 3\n"
             "const U : R[a b] = [[3, 0, 2], [5, 1, -1]]\n"
             "const V : R[a b] = [[3, 5, -2], [0, 1, 4]]\n"
             "learn p : simplex[a]\n"
             "learn q : simplex[b]\n"
             "goal one : maximise p[i] U[i j] q[j]   trains p\n"
             "goal two : minimise p[i] V[i j] q[j]   trains q   times 2\n"
             "measure exploitability\n");
  assert_true(gauges_open(&s.g));
  assert_true(gauges_run(&s.g));
  static const double U[2][3] = {{3, 0, 2}, {5, 1, -1}}, V[2][3] = {{3, 5, -2}, {0, 1, 4}};
  const double *x = store_find(s.g.store, "p")->data, *y = store_find(s.g.store, "q")->data;
  double p[2], q[3], u = 0, v = 0, best = -INFINITY, least = INFINITY;
  for (int i = 0; i < 2; i++) p[i] = exp(x[i]) / (exp(x[0]) + exp(x[1]));
  for (int j = 0; j < 3; j++) q[j] = exp(y[j]) / (exp(y[0]) + exp(y[1]) + exp(y[2]));
  for (int i = 0; i < 2; i++) {
    double answer = 0;
    for (int j = 0; j < 3; j++) answer += U[i][j] * q[j], u += p[i] * U[i][j] * q[j];
    best = fmax(best, answer);
  }
  for (int j = 0; j < 3; j++) {
    double answer = 0;
    for (int i = 0; i < 2; i++) answer += p[i] * V[i][j], v += p[i] * V[i][j] * q[j];
    least = fmin(least, answer);
  }
  assert_true(fabs(s.g.at[0].value - (best - u + v - least)) < 1e-12);
  outside(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(resume_at_every_step),
      cmocka_unit_test(resume_step_by_step),
      cmocka_unit_test(stopped_while_it_measures),
      cmocka_unit_test(damaged_states_are_refused_or_run),
      cmocka_unit_test(precisions_differ),
      cmocka_unit_test(order_does_not_matter),
      cmocka_unit_test(measures_are_means),
      cmocka_unit_test(noise_is_inside),
      cmocka_unit_test(exploitability_is_what_players_could_gain),
  };
  return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
