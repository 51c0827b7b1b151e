// Pictures of whole programs, many in one process: every example and every box of the library at
// every level, and random programs. No picture has a fault, the same program gives the same bytes,
// and the order of declarations does not matter.
//
//   pictures_test                     the tests
//   pictures_test random FIRST RUNS [STATEMENTS]   random programs: their faults and the number of faults
//   pictures_test program SEED [STATEMENTS]        prints one random program
//   pictures_test faults FILE…                     all faults of these programs
//   pictures_test limits                           prints the new faults.txt
//
// tests/draw/faults.txt says how many faults of a kind a set of pictures may have; what is not
// named there may have none.
#define _POSIX_C_SOURCE 200809L
#include "base/files.h"
#include "limn.h"
#include "random_program.h"

#include <glob.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

enum { STATEMENTS = 6, PROGRAMS = 120 };
static const char *const levels[] = {"learner", "model", "layer"};

// -- counting -------------------------------------------------------------------------------------
typedef struct {
  const char *set, *kind;
  uint32_t n;
  const char *first; // which picture, and the line
} Count;

typedef struct {
  Arena *arena;
  VEC(Count) count;
  uint32_t pictures;
  bool list; // print every fault
} Tally;

static Count *count_of(Tally *t, const char *set, const char *kind, size_t n) {
  for (uint32_t i = 0; i < t->count.n; i++) {
    Count *c = &t->count.at[i];
    if (!strcmp(c->set, set) && !strncmp(c->kind, kind, n) && !c->kind[n]) return c;
  }
  vec_push(t->arena, &t->count, (Count){.set = set, .kind = arena_text(t->arena, kind, n)});
  return &t->count.at[t->count.n - 1];
}

// The lines of a check, without the sum at its end.
static uint32_t add_faults(Tally *t, const char *set, const char *picture, const char *text) {
  uint32_t n = 0;
  for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
    const char *at = strstr(text, " at ");
    if (!at || at > end) continue;
    Count *c = count_of(t, set, text, (size_t)(at - text));
    if (!c->n++) c->first = arena_format(t->arena, "%s: %.*s", picture, (int)(end - text), text);
    if (t->list) printf("%s\t%s\t%.*s\n", set, picture, (int)(end - text), text);
    n++;
  }
  return n;
}

static uint32_t check_picture(Tally *t, Limn *l, const char *set, const char *file,
                              const char *name, const char *level) {
  const char *text = NULL;
  if (!name) level = NULL; // a picture of goals has none
  LimnStatus s =
      limn_draw_check(l, name, &(LimnDraw){.size = sizeof(LimnDraw), .level = level}, &text);
  const char *picture = arena_format(t->arena, "%s %s%s%s", file, name ? name : "goals",
                                     level ? " --level " : "", level ? level : "");
  t->pictures++;
  if (!text) fail_msg("%s: status %d: %s", picture, s, limn_messages(l, false));
  return add_faults(t, set, picture, text);
}

// -- files ----------------------------------------------------------------------------------------
static void names_in(Arena *a, const char *text, Texts *out) {
  for (const char *line = text; line; line = strchr(line, '\n'), line += line != NULL) {
    size_t skip = !strncmp(line, "box ", 4) ? 4 : !strncmp(line, "learn ", 6) ? 6 : 0;
    size_t n = skip ? strcspn(line + skip, " ([:\n,") : 0;
    bool seen = false;
    for (uint32_t i = 0; i < out->n; i++)
      seen |= strlen(out->at[i]) == n && !strncmp(out->at[i], line + skip, n);
    if (n && !seen) vec_push(a, out, arena_text(a, line + skip, n));
  }
}

static Limn *loaded(const char *file) {
  Limn *l = limn_new();
  if (limn_load(l, file) == LIMN_GOOD) return l;
  limn_free(l);
  return NULL;
}

// A box whose options have no defaults cannot be looked at for itself.
static bool can_be_drawn(const char *file, const char *name) {
  Limn *l = loaded(file);
  bool good = l && limn_print(l, name, NULL, false) != NULL;
  limn_free(l);
  return good;
}

static void check_file(Tally *t, const char *set, const char *file, const char *names_from) {
  FileText text = file_read(t->arena, names_from, 10000000);
  Texts names = {0};
  assert_non_null(text.text);
  if (strncmp(text.text, "# With mistakes", 15) == 0) return;
  names_in(t->arena, text.text, &names);
  Limn *l = loaded(file);
  assert_non_null(l);
  for (uint32_t i = 0; i < names.n; i++) {
    if (!can_be_drawn(file, names.at[i])) continue;
    for (uint32_t k = 0; k < 3; k++)
      check_picture(t, l, arena_format(t->arena, "%s.%s", set, levels[k]), file, names.at[i],
                    levels[k]);
  }
  if (file == names_from && strstr(text.text, "\ngoal"))
    check_picture(t, l, arena_format(t->arena, "%s.goals", set), file, NULL, NULL);
  limn_free(l);
}

static void check_folder(Tally *t, const char *set, const char *pattern) {
  glob_t found;
  if (glob(pattern, 0, NULL, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc; i++)
      check_file(t, set, found.gl_pathv[i], found.gl_pathv[i]);
  globfree(&found);
}

// -- random programs ------------------------------------------------------------------------------
static Limn *chance_loaded(const char *text, uint64_t seed) {
  Limn *l = limn_new();
  if (limn_load_text(l, "chance.limn", text, strlen(text)) != LIMN_GOOD)
    fail_msg("seed %llu is refused:\n%s\n%s", (unsigned long long)seed, limn_messages(l, false),
             text);
  return l;
}

static bool is_well_typed(const char *text) {
  Limn *l = limn_new();
  bool good = limn_load_text(l, "chance.limn", text, strlen(text)) == LIMN_GOOD;
  limn_free(l);
  return good;
}

static bool same_bytes(Limn *a, Limn *b, const char *name, const char *level) {
  const char *x = "", *y = "";
  size_t n = 0, m = 0;
  LimnDraw how = {.size = sizeof how, .level = level, .out = "a.svg"};
  limn_draw_bytes(a, name, &how, &x, &n);
  limn_draw_bytes(b, name, &how, &y, &m);
  return n && n == m && memcmp(x, y, n) == 0;
}

// The faults of one program. `order`: compare with another order of its declarations.
static uint32_t check_chance(Tally *t, uint64_t seed, uint32_t statements, bool order) {
  RandomProgram *p = random_program(t->arena, seed, statements);
  if (t->list && !is_well_typed(random_program_text(t->arena, p, 0)))
    return add_faults(t, "random", arena_format(t->arena, "seed %llu", (unsigned long long)seed),
                      "not well typed at 0, 0\n");
  Limn *l = chance_loaded(random_program_text(t->arena, p, 0), seed);
  Limn *o = order ? chance_loaded(random_program_text(t->arena, p, seed), seed) : NULL;
  const char *file = arena_format(t->arena, "seed %llu", (unsigned long long)seed);
  uint32_t faults = 0;
  for (uint32_t i = 0; i <= p->drawn.n; i++)
    for (uint32_t k = 0; k < 3; k++) {
      const char *name = i < p->drawn.n ? p->drawn.at[i] : NULL;
      if (!name && (k || !p->goal.n)) continue;
      const char *set = arena_format(t->arena, "random.%s", name ? levels[k] : "goals");
      faults += check_picture(t, l, set, file, name, levels[k]);
      if (o && !same_bytes(l, o, name, name ? levels[k] : NULL))
        faults += add_faults(t, set, arena_format(t->arena, "%s %s", file, name ? name : "goals"),
                             "other bytes at 0, 0: the order of declarations is seen\n");
    }
  limn_free(l), limn_free(o);
  return faults;
}

// -- what may be wrong ----------------------------------------------------------------------------
// Lines "SET KIND…: N".
static uint32_t allowed(const char *text, const char *set, const char *kind) {
  char key[128];
  snprintf(key, sizeof key, "%s %s: ", set, kind);
  for (const char *at = text; at; at = strchr(at, '\n'), at += at != NULL)
    if (!strncmp(at, key, strlen(key))) return (uint32_t)strtoul(at + strlen(key), NULL, 10);
  return 0;
}

static void judge(Tally *t) {
  FileText text = file_read(t->arena, "tests/draw/faults.txt", 100000);
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < t->count.n; i++) {
    const Count *c = &t->count.at[i];
    uint32_t most = allowed(text.text ? text.text : "", c->set, c->kind);
    if (c->n > most)
      print_error("%s %s: %u, at most %u; %s\n", c->set, c->kind, c->n, most, c->first);
    wrong += c->n > most;
  }
  if (!t->pictures || wrong) fail();
}

static int setup(void **state) {
  Tally *t = calloc(1, sizeof *t);
  *state = t;
  return (t->arena = arena_new()) ? 0 : -1;
}

static int teardown(void **state) {
  arena_free(((Tally *)*state)->arena);
  free(*state);
  return 0;
}

static void check_library(Tally *t) {
  glob_t found;
  assert_int_equal(glob("lib/*.limn", 0, NULL, &found), 0);
  for (size_t i = 0; i < found.gl_pathc; i++)
    check_file(t, "library", "examples/attention.limn", found.gl_pathv[i]);
  globfree(&found);
}

static void check_programs(Tally *t) {
  for (uint64_t seed = 1; seed <= (getenv("FULL") ? PROGRAMS : PROGRAMS / 6); seed++)
    check_chance(t, seed, STATEMENTS, true);
}

static void examples(void **state) {
  check_folder(*state, "examples", "examples/*.limn");
  judge(*state);
}

static void figures(void **state) {
  Tally *t = *state;
  check_folder(t, "figures", "docs/figures/*.limn");
  if (t->pictures) judge(t);
}

static void library(void **state) {
  check_library(*state);
  judge(*state);
}

static void programs_by_chance(void **state) {
  check_programs(*state);
  judge(*state);
}

// -- by hand --------------------------------------------------------------------------------------
static int by_hand_files(Tally *t, int argc, char **argv) {
  t->list = true;
  for (int i = 2; i < argc; i++) check_file(t, "files", argv[i], argv[i]);
  return 0;
}

static int by_hand_random(Tally *t, uint64_t first, uint64_t runs, uint32_t statements) {
  t->list = true;
  for (uint64_t seed = first; seed < first + runs; seed++) check_chance(t, seed, statements, true);
  for (uint32_t i = 0; i < t->count.n; i++)
    fprintf(stderr, "%s %s: %u\n", t->count.at[i].set, t->count.at[i].kind, t->count.at[i].n);
  fprintf(stderr, "%u pictures of %llu programs\n", t->pictures, (unsigned long long)runs);
  return t->count.n > 0;
}

static int by_hand_limits(Tally *t) {
  check_folder(t, "examples", "examples/*.limn");
  check_folder(t, "figures", "docs/figures/*.limn");
  check_library(t);
  check_programs(t);
  for (uint32_t i = 0; i < t->count.n; i++)
    printf("%s %s: %u\n", t->count.at[i].set, t->count.at[i].kind, t->count.at[i].n);
  return 0;
}

static int by_hand(Tally *t, int argc, char **argv) {
  uint64_t number[3] = {0, 0, STATEMENTS};
  bool program = !strcmp(argv[1], "program");
  for (int i = 2; i < argc && i < 5; i++)
    number[i - 2 + (program && i > 2)] = strtoull(argv[i], NULL, 10);
  if (program) {
    RandomProgram *p = random_program(t->arena, number[0], (uint32_t)number[2]);
    fputs(random_program_text(t->arena, p, 0), stdout);
    return 0;
  }
  if (!strcmp(argv[1], "random"))
    return by_hand_random(t, number[0], number[1], (uint32_t)number[2]);
  if (!strcmp(argv[1], "faults")) return by_hand_files(t, argc, argv);
  return !strcmp(argv[1], "limits") ? by_hand_limits(t) : 2;
}

int main(int argc, char **argv) {
  if (argc > 1) {
    Tally t = {.arena = arena_new()};
    int status = by_hand(&t, argc, argv);
    arena_free(t.arena);
    return status;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(examples, setup, teardown),
      cmocka_unit_test_setup_teardown(figures, setup, teardown),
      cmocka_unit_test_setup_teardown(library, setup, teardown),
      cmocka_unit_test_setup_teardown(programs_by_chance, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
