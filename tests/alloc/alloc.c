// Memory runs out at the k-th allocation, for many k: every call comes back with NULL, an empty
// text or LIMN_SYSTEM, and what was taken is given back. Each k is a process of its own, because
// arena.c counts once per process.
#include "limn.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char program[] = "axis n = 4\n"
                              "box f(x: R[n]) -> R[n] = (dense[n] ; relu ; residual[dense[n]])(x)\n"
                              "box g(x: R[m]) -> R[m] { return y[i] = x[i] * x[i] + nothing(x) }\n"
                              "given x, y from mnist\n"
                              "given numbers, species from \"tests/programs/plants.csv\"\n"
                              "learn h : R[28 28] -> R[10] = flatten ; dense[10]\n"
                              "goal h(x) ~ y by cross_entropy\n";

enum { GOOD = 0, FAILED = 3, LEAKED = 4, WRONG = 5 };

// -Wl,--wrap: what the library takes and gives back is counted.
void *__real_calloc(size_t, size_t);
void *__real_malloc(size_t);
void __real_free(void *);
void *__real_aligned_alloc(size_t, size_t);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);
void __wrap_free(void *);
static atomic_long blocks;

void *__wrap_calloc(size_t n, size_t bytes) {
  void *p = __real_calloc(n, bytes);
  blocks += p != NULL;
  return p;
}

void *__wrap_malloc(size_t bytes) {
  void *p = __real_malloc(bytes);
  blocks += p != NULL;
  return p;
}

void *__wrap_aligned_alloc(size_t align, size_t bytes) {
  void *p = __real_aligned_alloc(align, bytes);
  blocks += p != NULL;
  return p;
}

void __wrap_free(void *p) {
  blocks -= p != NULL;
  __real_free(p);
}

static long taken(void) { return blocks; }

static bool bad(const char *text) { return !text || !*text; }

static int work(bool right) {
  Limn *l = limn_new();
  if (!l) return FAILED;
  if (limn_allow(l, "tests") != LIMN_GOOD) return limn_free(l), FAILED; // it is a link
  const char *cut = strstr(program, "box g"), *rest = strstr(program, "given");
  char text[1024];
  int n = snprintf(text, sizeof text, "%.*s%s", (int)(cut - program), program,
                   rest); // without the wrong box
  LimnStatus s =
      limn_load_text(l, "p.limn", right ? text : program, right ? (size_t)n : strlen(program));
  int result = s == LIMN_SYSTEM ? FAILED : s == (right ? LIMN_GOOD : LIMN_WRONG) ? GOOD : WRONG;
  bool failed = s == LIMN_SYSTEM;
  if (!right && result == GOOD) failed |= bad(limn_messages(l, false));
  if (right && result == GOOD) {
    failed |= bad(limn_summary(l, true)) | bad(limn_who(l, false)) |
              bad(limn_print(l, "f", "reverse", true));
    failed |= bad(limn_cost(l, "h", false)) | bad(limn_print(l, NULL, "gradient", false));
    const char *out = "";
    LimnInput in = {"x", "[1, 2, 3, 4]", NULL};
    failed |= limn_data(l, "iris", NULL, true, &out) != LIMN_GOOD;
    failed |= limn_data(l, "tests/programs/plants.csv", NULL, false, &out) != LIMN_GOOD;
    failed |= limn_data(l, "tests/data/packed.npz", NULL, false, &out) != LIMN_GOOD;
    failed |= limn_eval(l, "f", &(LimnEval){.size = sizeof(LimnEval), .in = &in, .nin = 1}, &out) !=
              LIMN_GOOD;
  }
  limn_messages(l, true);
  limn_free(l);
  return failed ? FAILED : result;
}

// A run of three steps, with its checkpoints.
static int train(long k) {
  static const char text[] =
      "given x, label from iris\n"
      "learn net : R[4] -> R[3] = dense[4] ; tanh ; dropout[0.1] ; dense[3]\n"
      "goal fit : net(x) ~ label by cross_entropy\n"
      "measure fit by hits on iris.test\n"
      "train 3 steps, batch 16, adam(0.01)\n"
      "show confusion(net(x), label) on iris.test\n";
  char out[32];
  snprintf(out, sizeof out, "run%ld", k);
  Limn *l = limn_new();
  if (!l) return FAILED;
  LimnStatus s = limn_load_text(l, "p.limn", text, strlen(text));
  if (!s) s = limn_train(l, &(LimnTrain){.size = sizeof(LimnTrain), .out = out, .reference = true});
  const char *measures = "";
  if (!s)
    s = limn_measure(l, &(LimnUse){.size = sizeof(LimnUse), .from = out, .reference = true},
                     &measures);
  limn_messages(l, true);
  limn_free(l);
  return s == LIMN_GOOD ? GOOD : s == LIMN_SYSTEM ? FAILED : WRONG;
}

static int child(long k, bool trains) {
  char text[32];
  snprintf(text, sizeof text, "%ld", k);
  setenv("LIMN_FAIL_ALLOC", text, 1);
  long before = taken();
  if (trains) {
    int trained = train(k);
    return taken() != before ? LEAKED : trained;
  }
  int result = work(true);
  if (taken() != before) return LEAKED;
  if (k % 2) { // the counter has run out: everything fails from here on, or nothing does
    int again = work(false);
    if (taken() != before) return LEAKED;
    if (result == GOOD) result = again;
  }
  return result;
}

int main(void) {
  uint32_t seed = 1, failed = 0, wrong = 0;
  long most = 200000;
  for (int i = 1; i <= 300; i++) {
    seed = seed * 1664525u + 1013904223u;
    long k = i <= 200  ? i
             : i < 300 ? 201 + (long)(seed >> 8) % (i < 250 ? 20000 : most)
                       : 1000000000;
    bool trains = i % 8 == 0; // checking takes some 13000, training 10000 more
    if (trains && i > 50) k = 13000 + (long)(seed >> 8) % 12000;
    int status = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) return 3;
    if (pid == 0) exit(child(k, trains));
    waitpid(pid, &status, 0);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == FAILED) failed++;
    if (code == GOOD || code == FAILED) continue;
    wrong++;
    printf("allocation %ld: %s %d\n", k, code < 0 ? "signal" : "exit status",
           code < 0 ? WTERMSIG(status) : code);
  }
  printf("%u runs failed as they should, %u did not\n", failed, wrong);
  return wrong > 0 || failed < 200;
}
