// The sandbox for programs by others: the files it may read and write are those of the loaded
// program, the folders of limn itself, and what the caller adds.
#define _XOPEN_SOURCE 700
#include "base/sandbox.h"
#include "api/api_own.h"
#include "base/diag.h"
#include "base/files.h"
#include "base/source.h"
#include "run/engine/c/compile.h"

#include <stdlib.h>

typedef VEC(const char *) SandboxPaths;

static const char *folder_of(Arena *a, const char *path) {
  const char *name;
  return path_folder(a, path, &name);
}

// -- untrusted programs ---------------------------------------------------------------------------
static uint32_t main_source(const Limn *l) {
  uint32_t i = 1;
  while (i < l->w->sources->file.n && strcmp(l->w->sources->file.at[i].path, l->path)) i++;
  return i;
}

// Sources after the program itself are the files that it uses.
static const char *foreign(const Limn *l, Arena *a) {
  const char *home = path_real(a, folder_of(a, l->path));
  for (uint32_t i = main_source(l) + 1; i < l->w->sources->file.n; i++) {
    const char *path = l->w->sources->file.at[i].path, *real = path_real(a, path);
    if (home && real && !path_is_below(home, real)) return path;
  }
  return NULL;
}

const char *limn_foreign(Limn *l) {
  ENTER(c, l, ANSWER_FOREIGN, NEEDS_READING, NULL, NULL);
  const char *path = foreign(l, c->scratch);
  return call_text(c, path ? arena_format(c->answer, "%s", path) : NULL);
}

// -- rules ----------------------------------------------------------------------------------------
static void add_all(Arena *a, SandboxPaths *to, const char *const *from) {
  for (; from && *from; from++) vec_push(a, to, *from);
}

// An input may name columns after the file: x.csv:a..d.
static void add_inputs(Arena *a, SandboxPaths *to, const char *const *from) {
  for (; from && *from; from++) {
    const char *colon = path_exists(*from) ? NULL : strrchr(*from, ':');
    vec_push(a, to, colon ? arena_format(a, "%.*s", (int)(colon - *from), *from) : *from);
  }
}

// The folders that the program may read, and each file that it uses.
static void add_reading(const Limn *l, Arena *a, const char *program, SandboxPaths *to) {
  const ReadRights *r = read_rights_of(l, a, program ? program : l->path);
  for (uint32_t i = 0; i < r->folder.n; i++) vec_push(a, to, r->folder.at[i]);
  if (!program)
    for (uint32_t i = main_source(l) + 1; i < l->w->sources->file.n; i++)
      vec_push(a, to, l->w->sources->file.at[i].path);
}

// The cache, which also holds the compiler's temporary files: the shared temporary folder stays
// closed. (A compiler with its own cache, such as ccache, would fail to write there.)
static void add_writing(Arena *a, SandboxPaths *to) {
  const char *error, *cache = cache_folder(a, NULL, &error);
  setenv("CCACHE_DISABLE", "1", 1);
  if (!cache) return;
  setenv("TMPDIR", cache, 1);
  vec_push(a, to, cache);
}

static const char *enter_sandbox(const Limn *l, Arena *a, const LimnSandbox *how) {
  SandboxPaths read = {0}, write = {0};
  add_reading(l, a, how->program, &read), add_inputs(a, &read, how->read), vec_push(a, &read, NULL);
  add_writing(a, &write), add_all(a, &write, how->write);
  for (const char *const *f = how->files; f && *f; f++) vec_push(a, &write, folder_of(a, *f));
  vec_push(a, &write, NULL);
  return sandbox_enter(a, &(SandboxRules){.read = read.at,
                                          .write = write.at,
                                          .compiler = compile_compiler(a, &(Target){0})});
}

LimnStatus limn_sandbox(Limn *l, const LimnSandbox *how) {
  ENTER(c, l, ANSWER_NONE, NEEDS_NOTHING, LIMN_USAGE, LIMN_SYSTEM);
  LimnSandbox own;
  if (!OPTIONS(c, &own, how)) return call_end(c, LIMN_USAGE);
  if (!own.program && !l->w) return call_end(c, call_misuse(c, "a sandbox wants a program"));
  const char *error = enter_sandbox(l, c->scratch, &own);
  if (!error) return call_end(c, LIMN_GOOD);
  return call_end(c, call_fail(c, LIMN_SYSTEM, "there is no sandbox here: %s", error));
}

// -- the folder of a run --------------------------------------------------------------------------
// Creates a folder named by the user; whether it is empty is checked by the code that writes there.
static bool make_folder(RunFolder *f, const char *program, const char *out, const char **why,
                        Outcome *end) {
  if (!out) return folder_new(f, NULL, program, "", why, end);
  const char *error = folder_make(f->arena, out, 0777);
  *end = OUTCOME_SYSTEM;
  f->dir = arena_text(f->arena, out, strlen(out));
  return !error || file_error(f->arena, why, "cannot make the folder %s: %s", out, error);
}

LimnStatus limn_run_folder(Limn *l, const char *program, const char *out, const char **dir) {
  if (dir) *dir = NULL;
  ENTER(c, l, ANSWER_FOLDER, NEEDS_NOTHING, LIMN_USAGE, LIMN_SYSTEM);
  if (!dir) return call_end(c, call_misuse(c, "limn_run_folder wants a place for its text"));
  if (!program && !l->w) return call_end(c, call_misuse(c, "a run folder wants a program"));
  RunFolder f = {.arena = c->answer, .lock = -1};
  const char *why = "";
  Outcome end = OUTCOME_GOOD;
  if (make_folder(&f, program ? program : l->path, out, &why, &end)) {
    *dir = f.dir;
    return call_end(c, LIMN_GOOD);
  }
  return call_end(c, call_fail(c, status_of(end), "%s", why));
}
