// Laws of random hybrid systems: the order of lines and parts, names, and nesting of parts change
// no bit; step sizes and methods change only the last digits; conserved quantities are conserved.
//
//   laws_hybrid_test                     the tests
//   laws_hybrid_test LAW FIRST RUNS      a law (or `hybrid`: all) on RUNS systems; failing systems are reduced
//   laws_hybrid_test program SEED        prints one system
//   JOBS=2                               number of processes
//
// Every system is tested in a process of its own, so that a crash is a failure of one system.
#define _DEFAULT_SOURCE
#include "hybrid_laws.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef LIMN_GUARD
enum { SLOWER = 8 }; // the sanitizers are slow
#else
enum { SLOWER = 6 };
#endif

static const struct {
  const char *name;
  HybridLaw *law;
  uint32_t few; // systems in `make test FULL=1`; without it a third
} laws[] = {{"order", hybrid_order, 6},       {"names", hybrid_names, 5},
            {"nested", hybrid_nested, 6},     {"checked", hybrid_checked, 10},
            {"again", hybrid_again, 2},       {"watched", hybrid_watched, 2},
            {"precise", hybrid_precise, 2},   {"shifted", hybrid_shifted, 5},
            {"compiled", hybrid_compiled, 1}, {"written", hybrid_written, 5},
            {"balls", hybrid_balls, 8},       {"swept", hybrid_swept, 2},
            {"pieces", hybrid_pieces, 10},    {"instants", hybrid_instants, 240},
            {"queues", hybrid_queues, 12},    {"options", hybrid_options, 60},
            {"tables", hybrid_tables, 24},    {"flags", hybrid_flags, 40}};

// -- one system -----------------------------------------------------------------------------------
enum { SAID = 20000 };

// In a process of its own; what it says comes through a pipe.
static int child(HybridLaw *law, const Hybrid *h, int to) {
  HybridCase c = {.h = h, .arena = arena_new()};
  c.said = buf_new(c.arena);
  alarm(60);
  if (law(&c)) return 0;
  size_t n = c.said.n < SAID - 1 ? c.said.n : SAID - 1;
  return write(to, c.said.at, n) == (ssize_t)n ? 1 : 2;
}

// What is wrong, or NULL.
static const char *try_law(Arena *a, HybridLaw *law, const Hybrid *h) {
  int ends[2], status = 0;
  if (pipe(ends)) return "no pipe";
  fflush(NULL);
  pid_t id = fork();
  if (id == 0) {
    close(ends[0]);
    _exit(child(law, h, ends[1]));
  }
  close(ends[1]);
  char *said = arena_alloc(a, SAID);
  size_t n = 0;
  for (ssize_t got; n < SAID - 1 && (got = read(ends[0], said + n, SAID - 1 - n)) > 0;)
    n += (size_t)got;
  close(ends[0]);
  if (id < 0 || waitpid(id, &status, 0) != id) return "no process";
  if (WIFEXITED(status) && !WEXITSTATUS(status)) return NULL;
  if (h->jumps && WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return "skipped: it slides along a jump of its rates";
  return WIFEXITED(status) ? said : arena_format(a, "died: signal %d", WTERMSIG(status));
}

// Two faults are of one kind if what they say is the same up to the first colon.
static bool same_kind(const char *x, const char *y) {
  size_t n = strcspn(x, ":");
  return n == strcspn(y, ":") && !strncmp(x, y, n);
}

static const char *shrink(Arena *a, HybridLaw *law, const Hybrid *h, const char *why) {
  for (uint32_t k = 0, tries = 0; tries < 1500; tries++) {
    Hybrid *less = hybrid_copy(a, h);
    if (!hybrid_smaller(less, k)) break;
    const char *said = try_law(a, law, less);
    if (said && same_kind(said, why))
      h = less, why = said;
    else
      k++;
  }
  return arena_format(
      a, "%s\n%s", why,
      hybrid_text(a, h, &(HybridPrint){.more = hybrid_run(a, h, "", &(HybridPrint){0})}));
}

typedef struct {
  uint64_t tried, skipped, bad;
} Tally;

static void look_at(uint32_t which, uint64_t seed, Tally *t) {
  Arena *a = arena_new();
  const Hybrid *h = hybrid_random(a, seed);
  const char *why = try_law(a, laws[which].law, h);
  t->tried++;
  if (why && same_kind(why, "skipped:")) {
    t->skipped++;
  } else if (why) {
    t->bad++;
    printf("== %s %llu: %s\n", laws[which].name, (unsigned long long)seed,
           getenv("LARGE") ? why : shrink(a, laws[which].law, h, why));
    fflush(stdout);
  }
  arena_free(a);
}

// -- many systems ---------------------------------------------------------------------------------
static int tried_by_many(const char *law, uint64_t first, uint64_t n) {
  const char *set = getenv("JOBS");
  uint64_t jobs = set ? strtoull(set, NULL, 10) : 1;
  if (jobs < 1 || jobs > 64) jobs = 1;
  int ends[2];
  if (pipe(ends)) return 2;
  for (uint64_t k = 0; k < jobs; k++) {
    if (fork()) continue;
    Tally t = {0};
    for (uint32_t i = 0; i < COUNT(laws); i++)
      for (uint64_t seed = first + k; seed < first + n; seed += jobs)
        if (!strcmp(law, "hybrid") || !strcmp(law, laws[i].name)) look_at(i, seed, &t);
    _exit(write(ends[1], &t, sizeof t) == sizeof t ? 0 : 2);
  }
  close(ends[1]);
  Tally all = {0}, one;
  while (read(ends[0], &one, sizeof one) == sizeof one)
    all.tried += one.tried, all.skipped += one.skipped, all.bad += one.bad;
  while (wait(NULL) > 0) {
  }
  fprintf(stderr, "%llu of %llu fail, %llu are skipped\n", (unsigned long long)all.bad,
          (unsigned long long)all.tried, (unsigned long long)all.skipped);
  return all.bad || !all.tried;
}

// -- tests ----------------------------------------------------------------------------------------
static void laws_hold(void **state) {
  (void)state;
  uint64_t bad = 0, slower = getenv("FULL") ? 1 : SLOWER;
  for (uint32_t i = 0; i < COUNT(laws); i++) {
    Tally t = {0};
    for (uint64_t seed = 1; seed <= (laws[i].few + slower - 1) / slower; seed++)
      look_at(i, seed, &t);
    print_message("%s: %llu systems, %llu skipped\n", laws[i].name, (unsigned long long)t.tried,
                  (unsigned long long)t.skipped);
    bad += t.bad;
  }
  assert_int_equal(bad, 0);
}

int main(int argc, char **argv) {
  if (argc > 2 && !strcmp(argv[1], "program")) {
    Arena *a = arena_new();
    const Hybrid *h = hybrid_random(a, strtoull(argv[2], NULL, 10));
    puts(hybrid_text(a, h, &(HybridPrint){.more = hybrid_run(a, h, "", &(HybridPrint){0})}));
    if (argc > 3)
      puts(hybrid_text(a, h,
                       &(HybridPrint){.grouped = h->seed + 1, .order = 1, .renamed = argc > 4}));
    arena_free(a);
    return 0;
  }
  if (argc > 1)
    return tried_by_many(argv[1], argc > 2 ? strtoull(argv[2], NULL, 10) : 1,
                         argc > 3 ? strtoull(argv[3], NULL, 10) : 100);
  const struct CMUnitTest tests[] = {cmocka_unit_test(laws_hold)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
