// Eight threads with a handle each do all kinds of work at once, and get the same answers.
#include "host.h"

#include <pthread.h>
#include <time.h>

enum { THREADS = 8, ROUNDS = 6 };

typedef struct {
  uint64_t hash;
  const char *why;
} Answer;

static void add(Answer *a, const void *bytes, size_t n) {
  for (size_t i = 0; i < n; i++)
    a->hash = (a->hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
}

static void add_text(Answer *a, const char *text) {
  if (!text) a->why = "an answer is missing";
  if (text) add(a, text, strlen(text));
}

static void one_round(Limn *l, Answer *a) {
  const char *text = NULL;
  size_t n = 0;
  LimnArrays all = {0};
  LimnTrainer *t = NULL;
  LimnInput in = {"x", "2", NULL};
  LimnEval eval = {.size = sizeof eval, .in = &in, .nin = 1};
  LimnDraw draw = {.size = sizeof draw, .out = "a.svg"};
  LimnTrain train = {.size = sizeof train, .in_memory = true, .reference = true, .threads = 1};
  add_text(a, limn_print(l, NULL, "step", false));
  add_text(a, limn_cost(l, "net", true));
  if (limn_eval(l, "f", &eval, &text)) a->why = "eval";
  add_text(a, text);
  if (limn_draw_bytes(l, "net", &draw, &text, &n)) a->why = "draw";
  add(a, text, n);
  if (limn_load(l, "there is none")) add_text(a, limn_messages(l, false));
  if (limn_load_text(l, "host.limn", program, strlen(program))) a->why = "load";
  if (limn_trainer_open(l, &train, &t) || limn_trainer_step(t, 4, NULL) ||
      limn_trainer_weights(t, &all))
    a->why = "train";
  for (uint32_t i = 0; i < all.n; i++) add(a, all.at[i].array.data, 3 * sizeof(float));
  limn_trainer_close(t);
}

static void *work(void *what) {
  Answer *a = what;
  Limn *l = loaded(program);
  for (int i = 0; i < ROUNDS; i++) one_round(l, a);
  limn_free(l);
  return NULL;
}

// A run without an end, which another thread asks to stop.
typedef struct {
  volatile sig_atomic_t stop;
  LimnStatus status;
} Stopped;

static void *trains(void *what) {
  Stopped *s = what;
  Limn *l = loaded(program);
  LimnTrain how = {.size = sizeof how,
                   .in_memory = true,
                   .reference = true,
                   .quiet = true,
                   .steps = 1e12,
                   .stop = &s->stop};
  s->status = limn_train(l, &how);
  limn_free(l);
  return NULL;
}

static void stopped_by_another(void) {
  for (int i = 0; i < 4; i++) {
    Stopped s = {.status = LIMN_USAGE};
    pthread_t id;
    CHECK(pthread_create(&id, NULL, trains, &s) == 0);
    nanosleep(&(struct timespec){.tv_nsec = 30000000L * i}, NULL);
    limn_stop(&s.stop, i); // 0 stops too
    pthread_join(id, NULL);
    CHECK(s.status == LIMN_GOOD && s.stop == (i ? i : 1));
  }
  limn_stop(NULL, 1);
}

int main(void) {
  pthread_t id[THREADS];
  Answer answer[THREADS + 1] = {{0}};
  for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&id[i], NULL, work, &answer[i]) == 0);
  for (int i = 0; i < THREADS; i++) pthread_join(id[i], NULL);
  work(&answer[THREADS]); // alone
  for (int i = 0; i <= THREADS; i++) {
    if (answer[i].why) printf("thread %d: %s\n", i, answer[i].why);
    CHECK(!answer[i].why && answer[i].hash && answer[i].hash == answer[THREADS].hash);
  }
  stopped_by_another();
  return ended();
}
