// The files that a call reads and writes: no result is written over what it is made from, nor over
// another result. All calls that write files named by the user ask here before they write.
#include "base/files.h"
#include "api/api_own.h"
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "lang/syntax/syntax.h"

// -- what is read: only files that exist matter ---------------------------------------------------
void files_read(CallFiles *f, const char *path) {
  if (path && path_is_file(path)) vec_push(f->arena, &f->in, path);
}

// x.npy, x.csv:a..d; or numbers
void files_read_value(CallFiles *f, const char *value) {
  const char *colon = value && !path_exists(value) ? strrchr(value, ':') : NULL;
  files_read(f, colon ? arena_text(f->arena, value, (size_t)(colon - value)) : value);
}

void files_read_inputs(CallFiles *f, const LimnInput *in, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (!in[i].array) files_read_value(f, in[i].value);
}

static void read_folder(CallFiles *f, const char *dir) {
  FolderNames names = {0};
  folder_names(f->arena, dir, &names);
  for (uint32_t i = 0; i < names.n; i++)
    files_read(f, arena_format(f->arena, "%s/%s", dir, names.at[i]));
}

// What limn has written into the folder of a run; or a file of weights.
void files_read_run(CallFiles *f, const char *from) {
  static const char *const names[] = {"run.json",         "program.limn",      "lock",
                                      "metrics.csv",      "changes.csv",       "state.safetensors",
                                      "best.safetensors", "model.safetensors", "report.html"};
  static const char *const ends[] = {".csv", ".happened.csv", ".safetensors", ".state.safetensors"};
  RunNote note;
  const char *error;
  files_read(f, from);
  if (!from || !path_is_folder(from)) return;
  for (uint32_t i = 0; i < COUNT(names); i++)
    files_read(f, arena_format(f->arena, "%s/%s", from, names[i]));
  read_folder(f, arena_format(f->arena, "%s/used", from));
  if (!note_read(f->arena, from, &note, &error)) return;
  for (uint32_t i = 0; i < note.run.n; i++)
    for (uint32_t k = 0; k < COUNT(ends); k++)
      files_read(f, arena_format(f->arena, "%s/%s%s", from, note.run.at[i].file, ends[k]));
}

// The files of the program, and those that it names: every text in it may name one.
void files_read_program(CallFiles *f, const Limn *l) {
  const Sources *s = l->diags->sources;
  if (!s || !l->path) return;
  uint32_t from = 1;
  while (from < s->file.n && strcmp(s->file.at[from].path, l->path) != 0) from++;
  for (uint32_t i = from; i < s->file.n; i++) {
    files_read(f, s->file.at[i].path);
    Names *names = names_new(f->arena);
    Diags *mute = diags_new(f->arena, NULL);
    Sources *own = sources_new(f->arena);
    mute->sources = own;
    uint32_t file = source_add(own, s->file.at[i].path, s->file.at[i].text, s->file.at[i].n);
    Tokens t = lex(&(Front){f->arena, names, mute, own}, file);
    for (uint32_t k = 0; k < t.n; k++) {
      if (t.at[k].kind != TK_STR) continue;
      const char *path = data_file(f->arena, s->file.at[i].path, name_text(names, t.at[k].name));
      files_read(f, path_is_folder(path) ? folder_weights(f->arena, path) : path);
    }
  }
}

// -- what is written ------------------------------------------------------------------------------
void files_write(CallFiles *f, const char *path) {
  if (path && *path) vec_push(f->arena, &f->out, path);
}

// Results of several outputs are numbered: y.npy, y.2.npy or y.0.npy, y.1.npy.
void files_write_numbered(CallFiles *f, const char *path) {
  files_write(f, path);
  if (!path || !text_ends(path, ".npy")) return;
  size_t n = strlen(path) - strlen("npy");
  for (uint32_t i = 0; i < f->in.n; i++) {
    const char *in = f->in.at[i], *digits = strncmp(in, path, n) ? NULL : in + n;
    size_t count = digits ? strspn(digits, "0123456789") : 0;
    if (count && strcmp(digits + count, ".npy") == 0) files_write(f, in);
  }
}

bool files_apart(ApiCall *c, const CallFiles *f) {
  const char *why = paths_clash(c->scratch, &f->in, &f->out);
  if (why) call_misuse(c, "%s", why);
  return !why;
}

CallFiles files_of(ApiCall *c) {
  CallFiles f = {.arena = c->scratch};
  files_read_program(&f, c->l);
  return f;
}
