// Laws of all programs, on random whole programs: a box applied to a stack of samples gives the
// stack of its results; renaming, naming subexpressions and reordering lines change nothing;
// accepted programs can be run.
//
//   whole_test                      the tests
//   whole_test LAW FIRST RUNS       a law (or `all`) on RUNS programs; failing programs are reduced (unless LARGE=1)
//   whole_test program SEED         prints one program in all its variants
//   whole_test coverage FIRST RUNS  counts the programs with each construct: at least 5 of 100
//   whole_test doors FIRST RUNS     every program, half of them mutated, through every export and engine: how many were
//                                   accepted, what failed at which door, and how long each door took. DOOR=onnx,c: these
//                                   alone; THIN=16: those that take longest for every 16th program, 0: for none; SECONDS=60: no new program after so many
//   whole_test varied SEED          the program as the doors have it
//   whole_test written SEED DIR     the same, with its files, in DIR (an absolute path)
//   JOBS=2                          by so many processes
//
// Every program is looked at by a process of its own, with a limit of memory and time: one that
// dies has failed.
#define _GNU_SOURCE // sched_setaffinity
#include "base/files.h"
#include "gpu_help.h"
#include "whole_laws.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#ifdef LIMN_GUARD
enum { SLOWER = 10, SANITIZED = true }; // the sanitizers are slow
#else
enum { SLOWER = 2, SANITIZED = false };
#endif
enum { TOO_LARGE = 4 };
static const long MEMORY = 2L << 30;

static const struct {
  const char *name;
  Law *law;
  uint32_t few; // programs in `make test FULL=1`; without it half
  enum { NO_DOOR, DOOR, DEAR_DOOR } door;
} laws[] = {{"batch", law_batch, 100, DOOR},
            {"names", law_names, 30, NO_DOOR},
            {"naming", law_naming, 12, NO_DOOR},
            {"order", law_order, 12, NO_DOOR},
            {"runs", law_runs, 30, DOOR},
            {"engines", law_engines, 40, DOOR},
            {"who", law_who, 20, DOOR},
            {"claims", law_claims, 100, NO_DOOR},
            {"diff", law_diff, 8, DEAR_DOOR},
            {"gpu", law_gpu, 12, DEAR_DOOR},
            {"onnx", law_onnx, 30, DOOR},
            {"json", law_json, 30, DOOR},
            {"finite", law_finite, 40, NO_DOOR},
            {"check", law_check, 0, DOOR},
            {"draw", law_draw, 0, DOOR},
            {"compiled", law_compiled, 0, DEAR_DOOR},
            {"c", law_c, 0, DEAR_DOOR},
            {"python", law_python, 0, DEAR_DOOR},
            {"misnamed", law_misnamed, 12, NO_DOOR},
            {"freeze", law_freeze, 100, NO_DOOR},
            {"pictures", law_pictures, 12, NO_DOOR},
            {"steps", law_steps, 0, DEAR_DOOR},
            {"draws", law_draws, 60, NO_DOOR}};
enum { LAWS = COUNT(laws), CHECK = 13 };

typedef struct {
  Arena *arena;
  char dir[64];
  double seconds; // of a core, by the processes that looked at programs
} Place;

static bool place_open(Place *at) {
  *at = (Place){.arena = arena_new()};
  snprintf(at->dir, sizeof at->dir, "/tmp/limn.XXXXXX");
  if (!mkdtemp(at->dir)) return false;
  if (!getenv("LIMN_CACHE")) setenv("LIMN_CACHE", at->dir, 1);
  return true;
}

static void place_close(Place *at) {
  python_close();
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", at->dir);
  if (system(command)) perror(command);
  arena_free(at->arena);
}

// A status of their own for what the sanitizers find: 1 says that a law does not hold.
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);
const char *__asan_default_options(void) { return "exitcode=9"; }
const char *__ubsan_default_options(void) { return "exitcode=9"; }

// -- one program ----------------------------------------------------------------------------------
// Under the sanitizers addresses are no memory: there it is looked at now and then.
static void look_at_memory(int signal) {
  struct rusage used;
  (void)signal;
  if (!getrusage(RUSAGE_SELF, &used) && used.ru_maxrss > MEMORY >> 10) _exit(TOO_LARGE);
}

static void hold_to_limits(void) {
  struct rlimit cpu = {120 * SLOWER, 120 * SLOWER + 1}, memory = {MEMORY, MEMORY};
  struct itimerval often = {{0, 100000}, {0, 100000}};
  setrlimit(RLIMIT_CPU, &cpu);
  alarm(480 * SLOWER); // others may have the cores
  if (!SANITIZED) {
    setrlimit(RLIMIT_AS, &memory);
    return;
  }
  signal(SIGPROF, look_at_memory);
  setitimer(ITIMER_PROF, &often, NULL);
}

static bool sparing; // there are very many programs

static int child(Law *law, const Whole *p, const char *dir) {
  Case c = {.p = p, .arena = arena_new(), .dir = dir, .sparing = sparing};
  c.said = buf_new(c.arena);
  hold_to_limits();
  if (chdir(dir)) return 2;
  bool holds = law(&c);
  if (!holds && file_write(c.arena, "said", c.said.at, c.said.n)) return 2;
  return holds ? 0 : 1;
}

static void ended(int status) {
#ifdef LIMN_COVERAGE
  void __gcov_dump(void);
  __gcov_dump();
#endif
  _exit(status);
}

static double seconds_of(const struct timeval *t) {
  return (double)t->tv_sec + 1e-6 * (double)t->tv_usec;
}

// What is wrong, or NULL.
static const char *try_law(Place *at, Law *law, const Whole *p) {
  fflush(NULL);
  pid_t id = fork();
  if (id == 0) ended(child(law, p, at->dir));
  int status = 0;
  struct rusage used;
  if (id < 0 || wait4(id, &status, 0, &used) != id) return "no process";
  at->seconds += seconds_of(&used.ru_utime) + seconds_of(&used.ru_stime);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return NULL;
  if (!WIFEXITED(status))
    return arena_format(at->arena, "died of %s: signal %d",
                        WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGALRM ? "time"
                                                                                   : "itself",
                        WTERMSIG(status));
  if (WEXITSTATUS(status) == TOO_LARGE) return "died of memory: more than 2 GB";
  if (WEXITSTATUS(status) == 9) return "died of what a sanitizer found: see above";
  if (WEXITSTATUS(status) != 1)
    return arena_format(at->arena, "died by exit: %d", WEXITSTATUS(status));
  FileText said = file_read(at->arena, arena_format(at->arena, "%s/said", at->dir), 10000000);
  return said.text ? said.text : "said nothing";
}

// Two faults are of one kind if what they say is the same up to the first colon.
static bool same_kind(const char *a, const char *b) {
  size_t n = strcspn(a, ":");
  return n == strcspn(b, ":") && !strncmp(a, b, n);
}

static const Whole *shrink(Place *at, Law *law, const Whole *p, const char **why) {
  for (uint32_t k = 0, tries = 0; tries < 400; tries++) {
    Whole *less = whole_copy(at->arena, p);
    if (!whole_smaller(less, k)) break;
    const char *said = try_law(at, law, less);
    if (said && same_kind(said, *why))
      p = less, *why = said;
    else
      k++;
  }
  return p;
}

// Of the faults that say the same, one is made small.
static bool is_new(uint32_t which, const char *why) {
  static char seen[64][80];
  static uint32_t n;
  char kind[80];
  snprintf(kind, sizeof kind, "%u %.*s", which, (int)strcspn(why, ":\n"), why);
  for (uint32_t i = 0; i < n; i++)
    if (!strcmp(seen[i], kind)) return false;
  if (n < COUNT(seen)) memcpy(seen[n++], kind, sizeof kind);
  return true;
}

static bool look_at_program(Place *at, uint32_t which, uint64_t seed, Whole *p, bool small) {
  if (laws[which].law == law_python) python_open();
  const char *why = try_law(at, laws[which].law, p);
  if (!why) return true;
  if (!strncmp(why, "died", 4)) python_close(); // an answer that nobody waits for any more
  if (!strncmp(why, "skipped", 7)) return true;
  const Whole *less = small && is_new(which, why) ? shrink(at, laws[which].law, p, &why) : p;
  printf("== %s %llu: %s\n%s\n", laws[which].name, (unsigned long long)seed, why,
         whole_text(at->arena, less, &(Printed){0}));
  fflush(stdout);
  return false;
}

static bool look_at(Place *at, uint32_t which, uint64_t seed, bool small) {
  return look_at_program(at, which, seed, whole_random(at->arena, seed), small);
}

// -- many programs --------------------------------------------------------------------------------
typedef struct {
  uint64_t tried, bad;
  uint64_t refused, through[LAWS], wrong[LAWS]; // of the doors
  double seconds[LAWS];
} Tally;

static Whole *varied(Place *at, uint64_t seed) {
  Whole *p = whole_random(at->arena, seed);
  if (seed % 2) whole_vary(p, seed);
  return p;
}

static uint64_t number_set(const char *name, uint64_t otherwise) {
  const char *set = getenv(name);
  return set && *set ? strtoull(set, NULL, 10) : otherwise;
}

// Is it one of "a,b,c"? Without a list, all are.
static bool is_listed(const char *list, const char *name) {
  size_t n = strlen(name);
  for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',')
    if (!strncmp(at, name, n) && (!at[n] || at[n] == ',')) return true;
  return !list || !*list;
}

// Most programs that are compiled run for a moment: a compiler that optimises them takes ten times as long as all the rest. Its
// work is looked at for every eighth.
enum { AS_USERS_DO = 8 };
static void set_compiler(Place *at, bool as_users_do) {
  const char *path = arena_format(at->arena, "%s/cc", at->dir);
  static const char text[] = "#!/bin/sh\nexec cc \"$@\" -O0\n";
  unsetenv("WHOLE_CC");
  if (as_users_do || file_write(at->arena, path, text, sizeof text - 1) || chmod(path, 0700))
    return;
  setenv("WHOLE_CC", path, 1);
}

// What is accepted goes through every door.
static void through_doors(Place *at, uint64_t seed, Tally *t) {
  const char *one = getenv("DOOR");
  uint64_t thin = number_set("THIN", 1);
  Whole *p = varied(at, seed);
  const char *why = try_law(at, laws[CHECK].law, p);
  t->refused += why && !strncmp(why, "refused", 7) && seed % 2;
  if (why && !strncmp(why, "refused", 7) && seed % 2) return;
  for (uint32_t k = 0; k < LAWS; k++) {
    if (!laws[k].door || !is_listed(one, laws[k].name)) continue;
    if (laws[k].door == DEAR_DOOR && (!thin || seed / 2 % thin)) continue;
    double before = at->seconds;
    set_compiler(at, thin && seed / 2 / thin % AS_USERS_DO == 0);
    bool good = look_at_program(at, k, seed, p, !getenv("LARGE"));
    t->seconds[k] += at->seconds - before;
    t->through[k]++, t->wrong[k] += !good, t->bad += !good;
  }
}

static Tally doors_share(uint64_t first, uint64_t end, uint64_t jobs) {
  Tally t = {0};
  Place at;
  uint64_t seconds = number_set("SECONDS", 0);
  time_t begun = time(NULL);
  if (!place_open(&at)) return t;
  sparing = true;
  for (uint64_t seed = first; seed < end; seed += jobs, t.tried++) {
    if (seconds && (uint64_t)(time(NULL) - begun) >= seconds) break;
    Arena *outer = at.arena;
    at.arena = arena_child(outer);
    through_doors(&at, seed, &t);
    arena_free(at.arena);
    at.arena = outer;
  }
  place_close(&at);
  return t;
}

static void tally_add(Tally *to, const Tally *t) {
  to->tried += t->tried, to->bad += t->bad, to->refused += t->refused;
  for (uint32_t k = 0; k < LAWS; k++) {
    to->through[k] += t->through[k], to->wrong[k] += t->wrong[k];
    to->seconds[k] += t->seconds[k];
  }
}

static void doors_show(const Tally *t) {
  fprintf(stderr, "%llu programs, %.1f %% accepted\n", (unsigned long long)t->tried,
          t->tried ? 100 - 100 * (double)t->refused / (double)t->tried : 0);
  for (uint32_t k = 0; k < LAWS; k++)
    if (t->through[k])
      fprintf(stderr, "%-10s %8llu through, %llu wrong, %.1f s of a core\n", laws[k].name,
              (unsigned long long)t->through[k], (unsigned long long)t->wrong[k], t->seconds[k]);
}

// A law, or all of them, on every `jobs`-th program.
static Tally try_share(const char *law, uint64_t first, uint64_t end, uint64_t jobs) {
  Tally t = {0};
  Place at;
  if (!place_open(&at)) return t;
  for (uint32_t k = 0; k < COUNT(laws); k++) {
    if (strcmp(law, "all") && strcmp(law, laws[k].name)) continue;
    for (uint64_t seed = first; seed < end; seed += jobs, t.tried++) {
      Arena *outer = at.arena;
      at.arena = arena_child(outer);
      t.bad += !look_at(&at, k, seed, !getenv("LARGE"));
      arena_free(at.arena);
      at.arena = outer;
    }
  }
  place_close(&at);
  return t;
}

// One process for each core: more threads than cores would wait for each other.
static void keep_to_core(uint32_t k) {
  cpu_set_t all, one;
  if (sched_getaffinity(0, sizeof all, &all)) return;
  uint32_t n = (uint32_t)CPU_COUNT(&all), at = k % n;
  CPU_ZERO(&one);
  for (size_t core = 0; core < CPU_SETSIZE; core++)
    if (CPU_ISSET(core, &all) && at-- == 0) CPU_SET(core, &one);
  sched_setaffinity(0, sizeof one, &one);
}

static int tried_by_many(const char *law, uint64_t first, uint64_t n) {
  uint64_t jobs = number_set("JOBS", 1);
  if (jobs < 1 || jobs > 1024) jobs = 1;
  int ends[2];
  if (pipe(ends)) return 2;
  for (uint64_t k = 0; k < jobs; k++) {
    pid_t id = fork();
    if (id < 0) return 2;
    if (id > 0) continue;
    keep_to_core((uint32_t)k);
    Tally t = strcmp(law, "doors") ? try_share(law, first + k, first + n, jobs)
                                   : doors_share(first + k, first + n, jobs);
    _exit(write(ends[1], &t, sizeof t) == sizeof t ? 0 : 2);
  }
  close(ends[1]);
  Tally all = {0}, one;
  while (read(ends[0], &one, sizeof one) == sizeof one) tally_add(&all, &one);
  bool whole = true;
  for (int status; wait(&status) > 0;) whole &= WIFEXITED(status) && !WEXITSTATUS(status);
  if (!strcmp(law, "doors")) doors_show(&all);
  fprintf(stderr, "%llu of %llu fail%s\n", (unsigned long long)all.bad,
          (unsigned long long)all.tried, whole ? "" : ", and a process died");
  return all.bad || !all.tried || !whole;
}

// -- coverage -------------------------------------------------------------------------------------
// What a construct is known by in the text of a program.
static const struct {
  const char *name, *mark, *too;
} constructs[] = {{"fwd", "fwd[", ""},
                  {"rev", "rev[", ""},
                  {"scan", "scan[", ""},
                  {"refit", "refit[", ""},
                  {"flow", "flow[", ""},
                  {"state", "  state ", ""},
                  {"stop", "stop(", ""},
                  {"through", "through(", ""},
                  {"noise", "normal[", ""},
                  {"bits", "bit(", ""},
                  {"over", " over ", ""},
                  {"pad", " pad 0", ""},
                  {"scatter", "]] = 1 +", ""},
                  {"softmax by label", "softmax[", ""},
                  {"list of wires", " = [w", ""},
                  {"options", "[op", ""},
                  {"loop", "for i", ""},
                  {"loop over a family", "[1, 0, 1] {", ""},
                  {"kept wires", " down { w", ""},
                  {"weight in a box", "  learn W", ""},
                  {"weight as a wire", "] = [0.5, -0.25]\n", "learn net"},
                  {"learner with a body", " -> R[2] {\n  learn", ""},
                  {"family", "[2] : R[", ""},
                  {"use", "use ", ""},
                  {"stale", "stale ", ""},
                  {"freeze", "freeze ", ""},
                  {"trains", " trains ", ""},
                  {"trains a member", " trains net", "[i"},
                  {"times", " times ", ""},
                  {"own distance", " by f", ""},
                  {"csv", "table.csv\"", ""},
                  {"csv.gz", "table.csv.gz", ""},
                  {"npy", "table.npy", ""},
                  {"npz", "table.npz", ""},
                  {"idx", "table.idx", ""},
                  {"measure", "measure ", ""},
                  {"show", "show ", ""},
                  {"diagram", "diagram ", ""},
                  {"gluing", " along ", ""},
                  {"set", "\nset ", ""},
                  {"find", "\nfind ", ""},
                  {"machine", "machine ", ""},
                  {"wiring", "wiring ", ""}};

// In how many of these programs each construct is; how many are in too few of them.
static uint32_t coverage(uint64_t first, uint64_t n, bool shown) {
  uint64_t *in = calloc(COUNT(constructs), sizeof *in);
  uint32_t few = 0;
  for (uint64_t seed = first; in && seed < first + n; seed++) {
    Arena *a = arena_new();
    const char *text = whole_text(a, whole_random(a, seed), &(Printed){0});
    for (uint32_t k = 0; k < COUNT(constructs); k++)
      in[k] += strstr(text, constructs[k].mark) && strstr(text, constructs[k].too);
    arena_free(a);
  }
  for (uint32_t k = 0; in && k < COUNT(constructs); k++) {
    few += in[k] * 20 < n;
    if (shown || in[k] * 20 < n)
      printf("%-20s %5.1f %%\n", constructs[k].name, 100 * (double)in[k] / (double)n);
  }
  free(in);
  return few;
}

// -- tests ----------------------------------------------------------------------------------------
static void holds(uint32_t which) {
  Place at;
  uint32_t bad = 0;
  assert_true(place_open(&at));
  for (uint64_t seed = 1; seed <= laws[which].few / (getenv("FULL") ? 1 : SLOWER); seed++)
    bad += !look_at(&at, which, seed, true);
  place_close(&at);
  assert_int_equal(bad, 0);
}
static void batch(void **state) { (void)state, holds(0); }
static void names(void **state) { (void)state, holds(1); }
static void naming(void **state) { (void)state, holds(2); }
static void order(void **state) { (void)state, holds(3); }
static void runs(void **state) { (void)state, holds(4); }
static void engines(void **state) { (void)state, holds(5); }
static void who(void **state) { (void)state, holds(6); }
static void claims(void **state) { (void)state, holds(7); }
static void diff(void **state) { (void)state, holds(8); }
static void through_onnx(void **state) { (void)state, holds(10); }
static void misnamed(void **state) { (void)state, holds(18); }
static void freeze(void **state) { (void)state, holds(19); }
static void through_json(void **state) { (void)state, holds(11); }
static void pictures(void **state) { (void)state, holds(20); }
static void draws(void **state) { (void)state, holds(21); }
// Plain programs go through the doors of the other tests; here are varied ones.
static void every_door(void **state) {
  (void)state;
  Place at;
  Tally t = {0};
  bool full = getenv("FULL") != NULL;
  assert_true(place_open(&at));
  setenv("THIN", full ? "4" : "0", 1);
  for (uint64_t seed = 1; seed < (full ? 24 : 8); seed += 2, t.tried++)
    through_doors(&at, seed, &t);
  place_close(&at);
  assert_int_equal(t.bad, 0);
}
static void finite(void **state) {
  (void)state;
#ifdef __SANITIZE_ADDRESS__
  if (!getenv("LIMN_GPU")) skip();
#endif
  holds(12);
}
static void gpu(void **state) {
  (void)state;
#ifdef __SANITIZE_ADDRESS__
  if (!getenv("LIMN_GPU")) skip(); // it does not know the stacks of fibers
#endif
  holds(9);
}

// What the laws themselves once got wrong: a sum of calls in the place of its name, and the numbers
// of derivatives in the paths of weights.
static void fair(void **state) {
  static const struct {
    uint32_t law;
    uint64_t seed;
  } once[] = {{2, 2155}, {2, 2387}, {2, 3302}, {3, 2288}};
  (void)state;
  Place at;
  uint32_t bad = 0;
  assert_true(place_open(&at));
  for (uint32_t i = 0; i < COUNT(once); i++) bad += !look_at(&at, once[i].law, once[i].seed, true);
  place_close(&at);
  assert_int_equal(bad, 0);
}
static void covered(void **state) { (void)state, assert_int_equal(coverage(1, 300, false), 0); }

// The program and its files in a folder whose path is absolute.
static void write_varied(Place *at, uint64_t seed, const char *dir) {
  Whole *p = varied(at, seed);
  const char *text = whole_text(at->arena, p, &(Printed){0});
  file_write(at->arena, arena_format(at->arena, "%s/program.limn", dir), text, strlen(text));
  for (uint32_t i = 0; i < p->file.n; i++)
    file_write(at->arena, arena_format(at->arena, "%s/%s", dir, p->file.at[i].path),
               p->file.at[i].bytes, p->file.at[i].n);
}

static int by_hand(int argc, char **argv) {
  Place at;
  if (!place_open(&at)) return 3;
  if (!strcmp(argv[1], "coverage")) {
    place_close(&at);
    return coverage(argc > 2 ? strtoull(argv[2], NULL, 10) : 1,
                    argc > 3 ? strtoull(argv[3], NULL, 10) : 300, true) > 0;
  }
  uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  uint64_t n = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
  bool known = !strcmp(argv[1], "program");
  if (known) {
    Whole *p = whole_random(at.arena, first);
    puts(whole_text(at.arena, p, &(Printed){0}));
    if (argc > 3) puts(whole_text(at.arena, p, &(Printed){.renamed = true}));
    if (argc > 3) puts(whole_text(at.arena, p, &(Printed){.naming = 7, .order = 7}));
  }
  if (!strcmp(argv[1], "varied")) {
    known = true;
    puts(whole_text(at.arena, varied(&at, first), &(Printed){0}));
  }
  if (!strcmp(argv[1], "written") && argc > 3) {
    known = true;
    write_varied(&at, first, argv[3]);
  }
  place_close(&at);
  return known ? 0 : tried_by_many(argv[1], first, n);
}

// The scripts of the doors to Python and to training in C, from whatever folder they are looked for later.
static void have_scripts(void) {
  char at[1024], path[5 * 1024];
  if (!getcwd(at, sizeof at)) return;
  snprintf(path, sizeof path, "%s/tests/python_out/doors.py", at);
  if (!access(path, R_OK)) setenv("WHOLE_PYTHON", path, 1);
  snprintf(path, sizeof path, "%s/" FAKE_CUDA "/../c-steps", at);
  if (access(path, X_OK)) return; // who needs it builds it
  snprintf(path, sizeof path,
           "/usr/bin/python3 %s/tests/c_out/steps.py %s/" FAKE_CUDA "/../limn %s/" FAKE_CUDA
           "/../c-steps",
           at, at, at);
  setenv("WHOLE_STEPS", path, 1);
}

int main(int argc, char **argv) {
  have_gpu();
  setenv("FAKE_CUDA_LEVEL", "-O0", 0); // kernels run for a moment
  have_scripts();
  if (argc > 1) return by_hand(argc, argv);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(batch),        cmocka_unit_test(names),  cmocka_unit_test(naming),
      cmocka_unit_test(order),        cmocka_unit_test(runs),   cmocka_unit_test(engines),
      cmocka_unit_test(who),          cmocka_unit_test(claims), cmocka_unit_test(fair),
      cmocka_unit_test(covered),      cmocka_unit_test(gpu),    cmocka_unit_test(through_onnx),
      cmocka_unit_test(through_json), cmocka_unit_test(finite), cmocka_unit_test(every_door),
      cmocka_unit_test(misnamed),     cmocka_unit_test(freeze), cmocka_unit_test(pictures),
      cmocka_unit_test(diff),         cmocka_unit_test(draws)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
