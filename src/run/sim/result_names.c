// The bases of the file names of runs: `Spring, k = 0.5` gives Spring.k=0.5, without characters
// that are special in paths. No two runs of a program write one file, also where the file system
// does not distinguish upper and lower case. Of several runs that want one base, the first whose
// name is not numbered gets it, then the first of the others; the rest are numbered. A base that
// only one run wants is never changed.
#include "base/table.h"
#include "run/runs/runs.h"
#include "run/sim/simulate_own.h"

// No file name has more than 255 bytes.
enum { BASE_MOST = 255 - (int)sizeof(".state.safetensors") + 1 };

// Of the files that a run may write.
static const char *const ends[] = {".csv", ".happened.csv", ".safetensors", ".state.safetensors"};

typedef struct {
  Arena *arena;
  Table *files;      // the names of all files, folded
  Table *next;       // the next number for a base
  const char **base; // [run] without a number
  uint32_t *same;    // [run] how many runs up to this one have its name
} RunNames;

static const char *plain_base(Arena *a, const char *name) {
  Buf b = buf_new(a);
  for (; *name; name++) {
    unsigned char c = (unsigned char)*name;
    bool plain = c >= 0x80 || strchr("=+-._", c) || (c >= '0' && c <= '9') ||
                 (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (c == ',' && name[1] == ' ')
      buf_char(&b, '.');
    else if (plain || c != ' ')
      buf_char(&b, plain ? (char)c : '_');
  }
  return b.at;
}

// The base with a number, cut at a character so that it fits. 1: without a number.
static const char *numbered(Arena *a, const char *base, uint32_t number) {
  const char *end = number == 1 ? "" : arena_format(a, ".%u", number);
  size_t n = strlen(base), most = BASE_MOST - strlen(end);
  if (n > most)
    for (n = most; n && ((unsigned char)base[n] & 0xC0) == 0x80;) n--;
  return arena_format(a, "%.*s%s", (int)n, base, end);
}

// Takes the names of all files that a run of this base may write. False if one is taken.
static bool take(RunNames *r, const char *base) {
  const char *name[COUNT(ends)];
  for (uint32_t i = 0; i < COUNT(ends); i++) {
    name[i] = file_name_folded(r->arena, arena_format(r->arena, "%s%s", base, ends[i]));
    if (table_get(r->files, name[i], strlen(name[i]))) return false;
  }
  for (uint32_t i = 0; i < COUNT(ends); i++) table_put(r->files, name[i], strlen(name[i]), 1);
  return true;
}

static void take_for(RunNames *r, SimResult *run, uint32_t i, uint32_t number) {
  const char *file = numbered(r->arena, r->base[i], number);
  if (!run->file && take(r, file)) run->file = file;
}

static void take_next(RunNames *r, SimResult *run, uint32_t i) {
  const char *base = file_name_folded(r->arena, numbered(r->arena, r->base[i], 1));
  uint32_t number = table_get(r->next, base, strlen(base));
  for (number = number ? number : 2; !run->file; number++) take_for(r, run, i, number);
  table_put(r->next, base, strlen(base), number);
}

void results_name_files(Results *to) {
  Arena *a = to->arena;
  uint32_t n = to->run.n;
  RunNames r = {.arena = a,
                .files = table_new(a),
                .next = table_new(a),
                .base = NEW_ARRAY(a, const char *, n),
                .same = NEW_ARRAY(a, uint32_t, n)};
  Table *names = table_new(a);
  for (uint32_t i = 0; i < n; i++) {
    const char *name = to->run.at[i].name;
    r.same[i] = table_get(names, name, strlen(name)) + 1;
    table_put(names, name, strlen(name), r.same[i]);
    r.base[i] = plain_base(a, name);
  }
  for (uint32_t i = 0; i < n; i++)
    if (r.same[i] == 1) take_for(&r, &to->run.at[i], i, 1);
  for (uint32_t i = 0; i < n; i++)
    if (r.same[i] > 1) take_for(&r, &to->run.at[i], i, r.same[i]);
  for (uint32_t i = 0; i < n; i++)
    if (!to->run.at[i].file) take_next(&r, &to->run.at[i], i);
}

void results_file_names(const Results *r, FolderNames *to) {
  for (uint32_t i = 0; i < r->run.n; i++)
    for (uint32_t k = 0; k < COUNT(ends); k++)
      vec_push(r->arena, to, arena_format(r->arena, "%s%s", r->run.at[i].file, ends[k]));
}
