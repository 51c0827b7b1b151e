// Agreement of `check` with the other commands on random programs: a program that `check` accepts
// can be trained, resumed, measured, shown and sampled; one that it refuses is refused by one of
// these. The lines of a program are chosen independently, so many programs have errors: views and
// shapes, measures and metrics, small files, missing runs, no trained learner.
//
//   ahead_test               a few programs
//   ahead_test FIRST RUNS    RUNS programs from seed FIRST; failing programs are reduced
#define _DEFAULT_SOURCE
#include "base/base.h"
#include "base/files.h"
#include "limn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#ifdef LIMN_GUARD
enum { FEW = 4 }; // the sanitizers are slow
#else
enum { FEW = 24 };
#endif
enum { LINES = 32 };

// -- lines ----------------------------------------------------------------------------------------
typedef struct {
  Arena *arena;
  uint64_t chance;
  uint32_t n;
  const char *line[LINES];
} Lines;

static uint32_t below(Lines *p, uint32_t n) {
  uint64_t x = p->chance += 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return (uint32_t)((x >> 32) * n >> 32);
}
static bool one_in(Lines *p, uint32_t n) { return below(p, n) == 0; }
#define PICK(p, list) ((list)[below(p, COUNT(list))])

__attribute__((format(printf, 2, 3))) static void add(Lines *p, const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (p->n < LINES) p->line[p->n++] = arena_vformat(p->arena, format, args);
  va_end(args);
}

static const char *text_of(const Lines *p) {
  Buf b = buf_new(p->arena);
  for (uint32_t i = 0; i < p->n; i++) buf_printf(&b, "%s\n", p->line[i]);
  return b.at;
}

// Data x, and y with labels: what x is.
static const char *some_data(Lines *p) {
  static const struct {
    const char *given, *type;
  } data[] = {{"given x, y from iris", "R[4]"},
              {"given x, y from blobs", "R[2]"},
              {"given x, y from glyphs", "R[28 28]"},
              {"given x from scenes.picture", "R[32 32 3]"},
              {"given x : R[3], y : {2} from \"one.csv\"", "R[3]"},
              {"given x : R[3], y : {2} from \"nine.csv\"", "R[3]"},
              {"given x : R[3], y : {2} from \"forty.csv\"", "R[3]"},
              {"given x : R[3], y from \"forty.csv\"", "R[3]"},
              {"given x : R[20 3] from \"forty.csv\"", "R[20 3]"},
              {"given x : R[3] from \"forty.csv\".valid", "R[3]"},
              {"given x from normal[4]", "R[4]"},
              {"given x, i from blobs.x, blobs.index", "R[2]"},
              {"given x, y from glyphs[way: 3, shot: 2, episodes: 20]", "R[6 28 28]"},
              {"given x, y from iris[way: 5, shot: 1]", "R[5 4]"}};
  uint32_t k = below(p, COUNT(data));
  add(p, "%s", data[k].given);
  if (one_in(p, 6)) add(p, "given s : {9}[4] from \"%s.txt\"", one_in(p, 3) ? "short" : "long");
  return data[k].type;
}

static const char *const shape[] = {"1",   "2",   "3",     "4",       "9",
                                    "2 2", "3 3", "2 3 3", "3 4 3 2", "10"};

static void some_learners(Lines *p, const char *x) {
  static const char *const how[] = {"", " = flatten ; dense[%s]",
                                    " = flatten ; dense[4] ; tanh ; dense[%s]",
                                    " = flatten ; batch_norm ; dense[%s]"};
  const char *out = PICK(p, shape);
  Buf body = buf_new(p->arena);
  buf_printf(&body, PICK(p, how), out);
  add(p, "learn f : %s -> R[%s]%s", x, out, body.n ? body.at : "");
  add(p, "learn e : %s -> R[2], R[3] = flatten ; dense[2] & dense[3]", x);
  add(p, "learn w : R[%s]", PICK(p, shape));
  add(p, "learn p : simplex[%u]", 1 + below(p, 4));
  static const char *const from[] = {"old", "old/model.safetensors", "nowhere", "forty.csv"};
  if (one_in(p, 3))
    add(p, "learn k : R[4] -> R[%d] = dense[%d] from \"%s\"", one_in(p, 3) ? 2 : 3,
        one_in(p, 4) ? 2 : 3, one_in(p, 3) ? PICK(p, from) : "old");
  if (one_in(p, 4)) add(p, "learn t : {9}[4] -> R[4 9] = embed[3] ; dense[9]");
}

static const char *const values[] = {
    "f(x)",           "x",         "y",       "w",       "p",          "e(x)",
    "sum(f(x))",      "f(x), y",   "f(x), x", "x, f(x)", "w, p",       "argmax(f(x))",
    "mean[batch](x)", "normal[3]", "s",       "t(s)",    "f(x), x, y", "k(x)"};

static void some_goals(Lines *p) {
  static const char *const goal[] = {"f(x) ~ 0 by l2",       "f(x) ~ y by cross_entropy",
                                     "w ~ 1 by l1",          "maximise sum(p * p) trains p",
                                     "stop(f(x)) ~ 1 by l2", "f(x) ~ 0.5 by huber times 0.5",
                                     "k(x) ~ 0 by l2",       "t(s) ~ s by cross_entropy",
                                     "w ~ normal by l2",     "f(x) ~ 0 by mse trains w"};
  if (!one_in(p, 3)) add(p, "goal g : f(x) ~ 0 by l2");
  for (uint32_t k = below(p, 3); k; k--) add(p, "goal g%u : %s", k, PICK(p, goal));
  if (one_in(p, 4)) add(p, "freeze f");
  if (one_in(p, 5)) add(p, "freeze w");
  if (one_in(p, 8)) add(p, "freeze p, k");
  if (one_in(p, 6)) add(p, "stale o = f %s", one_in(p, 2) ? "every 1" : "by 0.5");
}

static const char *some_on(Lines *p) {
  static const char *const on[] = {" on iris.test",  " on \"nine.csv\"", " on \"one.csv\".test",
                                   " on blobs.test", " on glyphs.valid", " on \"forty.csv\".valid"};
  return one_in(p, 3) ? PICK(p, on) : "";
}

static void some_measures(Lines *p) {
  static const char *const by[] = {
      "l2",    "l1",   "mse",   "mae", "huber", "cross_entropy", "kl",       "bernoulli",
      "hinge", "hits", "never", "xor", "bleu",  "bce",           "gauss_kl", "soft_cross_entropy"};
  static const char *const right[] = {"y", "0", "x", "f(x)", "p", "s"};
  for (uint32_t k = below(p, 3); k; k--) {
    if (one_in(p, 6)) add(p, "measure exploitability");
    if (one_in(p, 3))
      add(p, "measure n%u : sum(mean[batch](%s))%s", k, PICK(p, values), some_on(p));
    if (one_in(p, 2))
      add(p, "measure m%u : %s ~ %s by %s%s", k, PICK(p, values), PICK(p, right), PICK(p, by),
          some_on(p));
  }
}

static void some_shows(Lines *p) {
  static const char *const view[] = {
      "images", "strip",  "scatter", "curves",    "paths", "table",        "text",     "phase",
      "wiring", "latent", "matrix",  "spacetime", "bands", "images[2, 2]", "table[3]", "strip[2]"};
  for (uint32_t k = 1 + below(p, 3); k; k--) {
    const char *as = one_in(p, 4) ? "" : arena_format(p->arena, " as %s", PICK(p, view));
    const char *over = one_in(p, 8) ? " for z in [0, 0.5]" : "";
    const char *what = PICK(p, values), *every = one_in(p, 8) ? " every 1" : "";
    if (*over) what = arena_format(p->arena, "sin(%s) + z", what);
    if (one_in(p, 8)) what = "confusion(f(x), y)", over = "";
    if (one_in(p, 10)) what = "generate[t, length: 3](\"a\")", over = every = "";
    add(p, "show %s%s%s%s%s", what, over, *over ? "" : some_on(p), every, as);
  }
}

static void some_training(Lines *p) {
  static const char *const length[] = {"2 steps", "2 steps", "2 steps", "0.001 epochs",
                                       "0.01 passes"};
  static const char *const more[] = {"",
                                     ", batch 3",
                                     ", batch 200",
                                     ", patience 1",
                                     ", decay 0.1",
                                     ", clip 1",
                                     ", accumulate 2",
                                     ", turns[f: 1, w: 2]",
                                     ", rda",
                                     ", lion(0.1)",
                                     ", average_mw",
                                     ", f: gd, adam(0.1)"};
  for (uint32_t k = one_in(p, 6) ? 2 : 1; k; k--)
    add(p, "train %s%s%s", PICK(p, length), PICK(p, more), one_in(p, 3) ? PICK(p, more) : "");
}

static Lines program(Arena *a, uint64_t seed) {
  Lines p = {.arena = a, .chance = seed};
  const char *x = some_data(&p);
  some_learners(&p, x);
  some_goals(&p);
  some_measures(&p);
  some_shows(&p);
  some_training(&p);
  return p;
}

// Lines that do not fit those before them go, and of most programs what `check` refuses: so that many
// are left that run.
static void keep_what_fits(Lines *p) {
  Limn *l = limn_new();
  Lines kept = {.arena = p->arena};
  bool all = one_in(p, 4);
  for (uint32_t i = 0; i < p->n; i++) {
    kept.line[kept.n++] = p->line[i];
    const char *text = text_of(&kept);
    bool good = limn_load_text(l, "p.limn", text, strlen(text)) == LIMN_GOOD;
    kept.n -= !good || (!all && limn_check(l));
  }
  limn_free(l);
  p->n = kept.n;
  memcpy(p->line, kept.line, sizeof p->line);
}

// -- the law --------------------------------------------------------------------------------------
static const char *said(Arena *a, Limn *l, const char *verb) {
  return arena_format(a, "%s: %s", verb, limn_messages(l, false));
}

// What does not run, or NULL.
static const char *ran(Arena *a, Limn *l) {
  const char *text = NULL;
  LimnTrain how = {.size = sizeof how, .threads = 1, .quiet = true, .out = "run", .pause = 1};
  LimnUse use = {.size = sizeof use, .from = "run", .threads = 1, .n = 2};
  if (system("rm -rf run")) return "no folder";
  if (limn_train(l, &how)) return said(a, l, "train");
  how.out = NULL, how.pause = 0, how.resume = "run";
  if (limn_train(l, &how)) return said(a, l, "resume");
  if (limn_report(l, &use, &text)) return said(a, l, "report");
  FileText page = file_read(a, "run/report.html", 100000000);
  if (!page.text || strstr(page.text, "class=\"alarm\"")) return "page: something is not shown";
  return NULL;
}

typedef enum { RUNS, REFUSED, FAILS } Verdict;

static bool has(const Lines *p, const char *word) {
  for (uint32_t i = 0; i < p->n; i++)
    if (!strncmp(p->line[i], word, strlen(word))) return true;
  return false;
}

// *why: what is wrong.
static Verdict agrees(Arena *a, const Lines *p, const char **why) {
  Limn *l = limn_new();
  const char *text = text_of(p), *answer = NULL;
  LimnUse use = {.size = sizeof use, .from = "run", .threads = 1};
  *why = NULL;
  if (limn_load_text(l, "p.limn", text, strlen(text))) return limn_free(l), REFUSED;
  const char *refused = limn_check(l) ? said(a, l, "check") : NULL;
  limn_forget(l);
  *why = has(p, "train") ? ran(a, l) : NULL;
  if (!refused && !*why && has(p, "measure") && has(p, "train") && limn_measure(l, &use, &answer))
    *why = said(a, l, "measure");
  limn_free(l);
  if (!refused) return *why ? FAILS : RUNS;
  if (*why || !has(p, "train")) return REFUSED;
  *why = arena_format(a, "too strict: it runs all the same, but %s", refused);
  return FAILS;
}

static int child(const Lines *p) {
  Arena *a = arena_new();
  const char *why;
  alarm(60);
  Verdict v = agrees(a, p, &why);
  if (v == FAILS && file_write(a, "said", why, strlen(why))) return FAILS + 1;
  return v;
}

static Verdict attempt(const Lines *p, const char **why) {
  fflush(NULL);
  pid_t id = fork();
  if (id == 0) _exit(child(p));
  int status = 0;
  *why = "no process";
  if (id < 0 || waitpid(id, &status, 0) != id) return FAILS;
  if (WIFEXITED(status) && WEXITSTATUS(status) < FAILS) return WEXITSTATUS(status);
  *why = arena_format(p->arena, "died: signal %d", WTERMSIG(status));
  if (!WIFEXITED(status)) return FAILS;
  FileText f = file_read(p->arena, "said", 1000000);
  *why = f.text ? f.text : "said nothing";
  return FAILS;
}

static bool same_kind(const char *a, const char *b) {
  size_t n = strcspn(a, ":");
  return n == strcspn(b, ":") && !strncmp(a, b, n);
}

static Verdict look_at(uint64_t seed) {
  Arena *a = arena_new();
  Lines p = program(a, seed);
  const char *why, *now;
  keep_what_fits(&p);
  Verdict v = attempt(&p, &why);
  for (uint32_t i = p.n; v == FAILS && i-- > 0;) {
    Lines less = p;
    memmove(less.line + i, less.line + i + 1, (--less.n - i) * sizeof *less.line);
    if (attempt(&less, &now) == FAILS && same_kind(now, why)) p = less, why = now;
  }
  if (v == FAILS) printf("== %llu: %s\n%s\n", (unsigned long long)seed, why, text_of(&p));
  arena_free(a);
  return v;
}

// -- files ----------------------------------------------------------------------------------------
static void write_text(Arena *a, const char *path, const Buf *b) {
  const char *why = file_write(a, path, b->at, b->n);
  if (why) fail_msg("%s: %s", path, why);
}

static void write_rows(Arena *a, const char *path, uint32_t rows) {
  Buf b = buf_new(a);
  buf_text(&b, "a,b,c,kind\n");
  for (uint32_t i = 0; i < rows; i++)
    buf_printf(&b, "%u.5,%u,%u.25,%s\n", i % 7, i % 5, i % 3, i % 2 ? "ant" : "bee");
  write_text(a, path, &b);
}

static void write_letters(Arena *a, const char *path, uint32_t n) {
  Buf b = buf_new(a);
  for (uint32_t i = 0; i < n; i++) buf_char(&b, "abcdefghi"[(i + i / 9) % 9]);
  write_text(a, path, &b);
}

static void train_old(void) {
  static const char text[] = "given x from iris.x\nlearn k : R[4] -> R[3] = dense[3]\n"
                             "goal g : k(x) ~ 0 by l2\ntrain 1 step\n";
  LimnTrain how = {.size = sizeof how, .threads = 1, .quiet = true, .plain = true, .out = "old"};
  Limn *l = limn_new();
  assert_int_equal(limn_load_text(l, "old.limn", text, strlen(text)), LIMN_GOOD);
  assert_int_equal(limn_train(l, &how), LIMN_GOOD);
  limn_free(l);
}

static char place[] = "/tmp/limn.XXXXXX";

static int open_place(void **state) {
  (void)state;
  Arena *a = arena_new();
  if (!mkdtemp(place) || chdir(place)) return -1;
  setenv("LIMN_CC", "", 1); // prebuilt kernels: compiling takes longer than all the rest
  write_rows(a, "one.csv", 1);
  write_rows(a, "nine.csv", 9);
  write_rows(a, "forty.csv", 40);
  write_letters(a, "short.txt", 10);
  write_letters(a, "long.txt", 400);
  train_old();
  arena_free(a);
  return 0;
}

static int close_place(void **state) {
  (void)state;
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", place);
  return chdir("/") || system(command) ? -1 : 0;
}

// Enough of them run, and enough are refused.
static void some(void **state) {
  (void)state;
  uint32_t count[FAILS + 1] = {0};
  for (uint64_t seed = 1; seed <= FEW; seed++) count[look_at(seed)]++;
  assert_int_equal(count[FAILS], 0);
  if (FEW >= 24) assert_true(count[RUNS] * 4 > FEW && count[REFUSED] * 8 > FEW);
}

static int by_hand(uint64_t first, uint64_t n) {
  unsigned count[FAILS + 1] = {0};
  if (open_place(NULL)) return 3;
  for (uint64_t seed = first; seed < first + n; seed++) count[look_at(seed)]++;
  fprintf(stderr, "%u run, %u are refused, %u fail\n", count[RUNS], count[REFUSED], count[FAILS]);
  return close_place(NULL) || count[FAILS];
}

int main(int argc, char **argv) {
  if (argc > 2) return by_hand(strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10));
  const struct CMUnitTest tests[] = {cmocka_unit_test(some)};
  return cmocka_run_group_tests(tests, open_place, close_place);
}
