// How fast products are: GFLOP/s on one thread and on two, and the share of what the cores can do
// in registers.
//   bench/gemm [32|64|bf16] [PART [ROUNDS [THREADS]]]        only shapes whose name has PART
// Peak and products are measured in turn, since a shared machine does not keep its speed; the best
// of each counts.
#define _POSIX_C_SOURCE 200809L
#include "run/engine/prebuilt/gemm.h"
#include "base/files.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef enum { PLAIN, A_TURNED, B_TURNED, CONV, CONV_DW } Kind;
typedef struct {
  const char *name;
  Kind kind;
  int64_t m, n, k;
  int64_t wide, channels; // of a convolution: m = (sample i j), i and j run to `wide`; window 3 × 3
} Shape;

static const Shape shapes[] = {
    {"square", PLAIN, 512, 512, 512, 0, 0},
    {"square", PLAIN, 1024, 1024, 1024, 0, 0},
    {"mlp", PLAIN, 64, 512, 784, 0, 0},
    {"mlp", PLAIN, 512, 512, 784, 0, 0},
    {"mlp", PLAIN, 64, 512, 512, 0, 0},
    {"mlp", PLAIN, 64, 10, 512, 0, 0},
    {"mlp dw", A_TURNED, 784, 512, 64, 0, 0},
    {"mlp dw", A_TURNED, 784, 512, 512, 0, 0},
    {"mlp dw", A_TURNED, 512, 10, 64, 0, 0},
    {"mlp dx", B_TURNED, 64, 784, 512, 0, 0},
    {"mlp dx", B_TURNED, 64, 512, 512, 0, 0},
    {"mlp dx", B_TURNED, 512, 512, 512, 0, 0},
    {"mlp dx", B_TURNED, 64, 512, 10, 0, 0},
    {"gpt", PLAIN, 2048, 128, 128, 0, 0},
    {"gpt", PLAIN, 2048, 384, 128, 0, 0},
    {"gpt", PLAIN, 2048, 512, 128, 0, 0},
    {"gpt", PLAIN, 2048, 128, 512, 0, 0},
    {"gpt", PLAIN, 2048, 65, 128, 0, 0},
    {"gpt dw", A_TURNED, 128, 512, 2048, 0, 0},
    {"gpt dw", A_TURNED, 128, 65, 2048, 0, 0},
    {"gpt dx", B_TURNED, 2048, 128, 65, 0, 0},
    {"gpt dx", B_TURNED, 2048, 128, 512, 0, 0},
    {"gpt dx", B_TURNED, 2048, 512, 128, 0, 0},
    {"conv", CONV, 43264, 16, 9, 26, 1},
    {"conv", CONV, 7744, 32, 144, 11, 16},
    {"conv dx", CONV, 10816, 16, 288, 13, 32},
    {"conv dw", CONV_DW, 9, 16, 43264, 26, 1},
    {"conv dw", CONV_DW, 144, 32, 7744, 11, 16},
    {"head", PLAIN, 64, 64, 32, 0, 0},
    {"head", B_TURNED, 64, 64, 32, 0, 0},
    {"head", PLAIN, 64, 32, 64, 0, 0},
    {"head", A_TURNED, 64, 32, 64, 0, 0},
    {"head", PLAIN, 8, 8, 8, 0, 0},
    {"head", PLAIN, 16, 16, 16, 0, 0},
    {"head", PLAIN, 128, 128, 64, 0, 0},
    {"head", B_TURNED, 128, 128, 64, 0, 0},
    {"head", A_TURNED, 128, 64, 128, 0, 0},
    {"head", B_TURNED, 32, 32, 16, 0, 0},
    {"matrix, column", PLAIN, 128, 1, 256, 0, 0},
    {"wide", PLAIN, 512, 4096, 1024, 0, 0},
};

// Two threads: the other one waits, turning, for the next product. `arrived` only grows, so nobody
// misses it.
typedef struct {
  const GemmPlan *plan;
  GemmRun run[2];
  _Atomic int64_t next[3], arrived;
  _Atomic int started, stop;
} Team;

static void work(Team *t, int who) {
  for (int phase = 0; phase < 3; phase++) {
    int64_t task;
    while ((task = atomic_fetch_add(&t->next[phase], 1)) < t->plan->tasks[phase])
      gemm_task(t->plan, &t->run[who], phase, task);
    int64_t all = (atomic_fetch_add(&t->arrived, 1) / 2 + 1) * 2;
    while (atomic_load(&t->arrived) < all) {
    }
  }
}
static void *helper(void *context) {
  Team *t = context;
  for (int turn = 1;; turn++) {
    while (atomic_load(&t->started) < turn)
      if (atomic_load(&t->stop)) return NULL;
    work(t, 1);
  }
}
static double time_together(Team *t) {
  for (int i = 0; i < 3; i++) atomic_store(&t->next[i], 0);
  double start = clock_seconds();
  atomic_fetch_add(&t->started, 1);
  work(t, 0);
  return clock_seconds() - start;
}
// One thread: the sum of the best times of the tasks, so that others on the machine count little.
enum { TASKS_KEPT = 4096 };
typedef struct {
  double task[3][TASKS_KEPT];
} Best;
static double time_alone(Team *t, Best *best) {
  double sum = 0, before = clock_seconds();
  for (int phase = 0; phase < 3; phase++)
    for (int64_t task = 0; task < t->plan->tasks[phase]; task++) {
      gemm_task(t->plan, &t->run[0], phase, task);
      double now = clock_seconds(), *kept = &best->task[phase][task % TASKS_KEPT];
      if (*kept == 0 || now - before < *kept) *kept = now - before;
      sum += *kept;
      before = now;
    }
  return sum;
}

static void *room(size_t bytes) {
  void *p = aligned_alloc(64, (bytes + 64) / 64 * 64);
  if (!p) exit(1);
  memset(p, 0, (bytes + 64) / 64 * 64);
  return p;
}
static void *numbers(int64_t cells, Precision p) {
  size_t cell = p == PRECISION_64 ? 8 : 4;
  char *memory = room((size_t)cells * cell);
  for (int64_t i = 0; i < cells; i++) {
    double x = (double)(i * 7919 % 2003) / 1001 - 1;
    float f = (float)x;
    memcpy(memory + (size_t)i * cell, p == PRECISION_64 ? (void *)&x : (void *)&f, cell);
  }
  return memory;
}

// Offsets of (sample i j) and of (p q channel) in an image with channels last.
static void lay_windows(const Shape *s, int32_t *place, int32_t *window, int64_t places) {
  int64_t side = s->wide + 2, c = s->channels;
  for (int64_t r = 0; r < places; r++) {
    int64_t sample = r / (s->wide * s->wide), i = r / s->wide % s->wide, j = r % s->wide;
    place[r] = (int32_t)(((sample * side + i) * side + j) * c);
  }
  for (int64_t r = 0; r < 9 * c; r++)
    window[r] = (int32_t)((r / (3 * c) * side + r / c % 3) * c + r % c);
}

typedef struct {
  double flops, alone, both, peak;
  GemmPlan plan;
} Figures;

static Figures measure(const Shape *s, Precision precision, int rounds, int threads) {
  Gemm g = {.m = s->m, .n = s->n, .k = s->k, .precision = precision};
  int64_t cells = s->m * s->k, places = s->kind == CONV ? s->m : s->k;
  int32_t *place = room((size_t)places * 4), *window = room((size_t)(9 * s->channels) * 4);
  g.am.step = s->kind == A_TURNED ? 1 : s->k, g.ak.step = s->kind == A_TURNED ? s->m : 1;
  g.bk.step = s->kind == B_TURNED ? 1 : s->n, g.bn.step = s->kind == B_TURNED ? s->k : 1;
  g.cm.step = s->n, g.cn.step = 1;
  if (s->kind == CONV || s->kind == CONV_DW) {
    lay_windows(s, place, window, places);
    g.am.at = s->kind == CONV ? place : window, g.ak.at = s->kind == CONV ? window : place;
    cells = (places / (s->wide * s->wide) + 1) * (s->wide + 2) * (s->wide + 2) * s->channels;
  }
  Figures f = {.flops = 2.0 * (double)(s->m * s->n) * (double)s->k};
  gemm_plan(&g, &f.plan);
  Team t = {.plan = &f.plan};
  void *a = numbers(cells, precision), *b = numbers(s->k * s->n, precision);
  void *c = numbers(s->m * s->n, precision), *shared = room(gemm_small_bytes(&f.plan));
  void *thread[2] = {room(f.plan.thread_bytes), room(f.plan.thread_bytes)};
  for (int i = 0; i < 2; i++)
    t.run[i] = (GemmRun){.a = a,
                         .b = b,
                         .c = c,
                         .m = s->m,
                         .n = s->n,
                         .k = s->k,
                         .shared = shared,
                         .thread = thread[i]};
  pthread_t other;
  const bool small = strcmp(s->name, "head") == 0;
  Best *best = room(sizeof *best);
  for (int i = 0; i < rounds; i++) {
    double peak = gemm_peak(precision);
    if (peak > f.peak) f.peak = peak;
    int turns = (int)(1e8 / f.flops);
    turns = turns < 2 ? 2 : turns > 400 ? 400 : turns;
    for (int j = 0; j < turns; j++) {
      double start = clock_seconds();
      for (int x = 0; x < 20 && small; x++) gemm_small(&f.plan, t.run[0], shared);
      double x = small ? (clock_seconds() - start) / 20 : time_alone(&t, best);
      if (f.flops / x > f.alone) f.alone = f.flops / x;
    }
    if (small || threads < 2) continue;
    atomic_store(&t.stop, 0), atomic_store(&t.started, 0);
    if (pthread_create(&other, NULL, helper, &t) != 0) exit(1);
    for (int j = 0; j < turns; j++) {
      double x = time_together(&t);
      if (f.flops / x > f.both) f.both = f.flops / x;
    }
    atomic_store(&t.stop, 1);
    pthread_join(other, NULL);
  }
  free(place), free(window), free(a), free(b), free(c), free(shared), free(thread[0]),
      free(thread[1]);
  return f;
}

int main(int argc, char **argv) {
  const char *kind = argc > 1 ? argv[1] : "32", *part = argc > 2 ? argv[2] : "";
  Precision p = strcmp(kind, "64") == 0     ? PRECISION_64
                : strcmp(kind, "bf16") == 0 ? PRECISION_BF16
                                            : PRECISION_32;
  int rounds = argc > 3 ? atoi(argv[3]) : 20, threads = argc > 4 ? atoi(argv[4]) : 2;
  printf("%s, %s\n%-16s %6s %6s %6s %9s %7s %6s %9s %6s   %s\n", gemm_kernel_name(), kind,
         "product", "m", "n", "k", "1 thread", "peak", "share", "2 threads", "share",
         "tasks, block, turned, packed");
  for (uint32_t i = 0; i < COUNT(shapes); i++) {
    const Shape *s = shapes + i;
    if (!strstr(s->name, part)) continue;
    Figures f = measure(s, p, rounds, threads);
    const GemmPlan *q = &f.plan;
    printf("%-16s %6d %6d %6d %9.1f %7.1f %5.0f%% %9.1f %5.0f%%   %d+%d+%d, %dx%dx%d%s%s%s\n",
           s->name, (int)s->m, (int)s->n, (int)s->k, f.alone / 1e9, f.peak / 1e9,
           100 * f.alone / f.peak, f.both / 1e9, 50 * f.both / f.peak, (int)q->tasks[0],
           (int)q->tasks[1], (int)q->tasks[2], (int)q->mb, (int)q->nb, (int)q->kb,
           q->transposed ? ", turned" : "", q->pack_b ? ", B" : "", q->pack_a ? ", A" : "");
    fflush(stdout);
  }
  return 0;
}
