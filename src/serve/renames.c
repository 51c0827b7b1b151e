// Rename across files: in the file that declares the symbol, which may be another one than the
// request is about, and in the files that use it. Each file is asked as a program of its own, in
// its open or saved form; if one refuses, the rename is refused.
//
// Programs can use files below their own folder only. So users of a file are searched in its folder
// and the folders above, and among open documents.
#include "base/files.h"
#include "base/json_write.h"
#include "serve/serve.h"

typedef struct {
  const ServeCall *c;
  Arena *arena;     // handles are freed with it
  const char *path; // of the declaring file
  const char *name; // the symbol's name there
  bool plain;       // it has no other form of reference, such as a path
  bool shared;      // other files can use it
  LimnAsk ask;      // its position there, and the new name
  VEC(const char *) seen;
  JsonOut changes; // {"file:///a.limn": […], …
} FileRename;

// -- texts ----------------------------------------------------------------------------------------
static void drop_handle(void *what) { limn_free(*(Limn **)what); }

// The canonical path.
static const char *canonical_path(const FileRename *r, const char *path) {
  const char *is = path_real(r->arena, path);
  return is ? is : path;
}

static ServedText *open_at(const FileRename *r, const char *path) {
  const LimnServer *s = r->c->s;
  const char *wanted = canonical_path(r, path);
  for (uint32_t i = 0; i < s->doc.n; i++)
    if (strcmp(canonical_path(r, s->doc.at[i]->path), wanted) == 0) return s->doc.at[i];
  return NULL;
}

static FileText text_at(const FileRename *r, const char *path) {
  const ServedText *d = open_at(r, path);
  if (d) return (FileText){.text = d->text, .n = d->n};
  return file_read(r->arena, path, SERVED_LIMIT);
}

// A checked handle for a file; NULL: refused.
static Limn *handle_at(FileRename *r, const char *path) {
  LimnServer *s = r->c->s;
  ServedText *d = open_at(r, path);
  if (d && served_ready(s, d, true)) return d->shown;
  Limn **l = NEW(r->arena, Limn *);
  FileText f = text_at(r, path);
  arena_on_free(r->arena, drop_handle, l);
  *l = f.text ? served_handle(s) : NULL;
  if (*l) limn_edit_load(*l, path, f.text, f.n, NULL); // errors are no obstacle
  if (!*l)
    serve_refuse(r->c, RPC_REQUEST_FAILED, "%s cannot be read: %s", path,
                 f.text ? "memory is exhausted" : f.error);
  return *l;
}

// Are the texts equal apart from line endings, which editors may convert?
static bool same_lines(FileText a, FileText b) {
  size_t i = 0, k = 0;
  for (; i < a.n && k < b.n; i++, k++) {
    if (a.text[i] == '\r' && i + 1 < a.n && a.text[i + 1] == '\n') i++;
    if (b.text[k] == '\r' && k + 1 < b.n && b.text[k + 1] == '\n') k++;
    if (a.text[i] != b.text[k]) return false;
  }
  return i == a.n && k == b.n;
}

// Other files use the saved text: it has to be equal to the open one.
static bool is_saved(const FileRename *r) {
  const ServedText *d = open_at(r, r->path);
  if (!d) return true;
  FileText f = file_read(r->arena, r->path, SERVED_LIMIT);
  if (f.text && same_lines(f, (FileText){.text = d->text, .n = d->n})) return true;
  serve_refuse(r->c, RPC_REQUEST_FAILED,
               "`%s` is also used in other files, which read %s as it is saved: save it first",
               r->name, r->path);
  return false;
}

// -- files that use it ----------------------------------------------------------------------------
// The string after `use` at this position; NULL: there is none.
static const char *used_file(Arena *a, const char *at) {
  at += strspn(at, " \t");
  const char *end = *at == '"' ? strpbrk(at + 1, "\"\n") : NULL;
  return end && *end == '"' ? arena_text(a, at + 1, (size_t)(end - at - 1)) : NULL;
}

// Matches use "net.limn", use "./net.limn" and other paths of the same file.
static bool uses_file(const FileRename *r, const char *path, const char *text) {
  for (const char *at = text; (at = strstr(at, "use")); at += strlen("use")) {
    const char *used = used_file(r->arena, at + strlen("use"));
    if (used &&
        strcmp(canonical_path(r, path_join(r->arena, path, used)), canonical_path(r, r->path)) == 0)
      return true;
  }
  return false;
}

static bool has_word(const char *text, const char *word) {
  size_t n = strlen(word);
  for (const char *at = text; (at = strstr(at, word)); at += n)
    if (!(at > text && (char_is_word(at[-1]) || at[-1] == '_')) && !char_is_word(at[n]) &&
        at[n] != '_')
      return true;
  return false;
}

static bool collect_changes(FileRename *r, Limn *l, const char *question, const LimnAsk *a) {
  const Json *j = serve_question(r->c->s, l, question, a);
  if (!j) {
    serve_refuse_said(r->c, l);
    return false;
  }
  const Json *all = json_get(j, "changes");
  const Json *uri = json_keys(all);
  if (uri && uri[1].kind == JSON_LIST && uri[1].n) json_copy(&r->changes, uri->text, uri + 1);
  return true;
}

// Adds the changes of one file that uses it. False: refused.
static bool collect_user_changes(FileRename *r, const char *path) {
  const char *is = canonical_path(r, path);
  for (uint32_t i = 0; i < r->seen.n; i++)
    if (strcmp(r->seen.at[i], is) == 0) return true;
  vec_push(r->arena, &r->seen, is);
  FileText f = text_at(r, path);
  if (!f.text || !uses_file(r, path, f.text)) return true;
  bool named = has_word(f.text, r->name);
  if (!named && !has_word(f.text, r->ask.text)) return true;
  if (named && !r->plain) {
    serve_refuse(r->c, RPC_REQUEST_FAILED, "`%s` is also in %s, which uses this file", r->name,
                 path);
    return false;
  }
  Limn *l = is_saved(r) ? handle_at(r, path) : NULL;
  LimnAsk a = r->ask;
  a.text = arena_format(r->arena, "%s %s", r->ask.text, r->path);
  return l && collect_changes(r, l, "renameIn", &a);
}

static bool collect_all_users(FileRename *r) {
  LimnServer *s = r->c->s;
  const char *name, *folder = path_folder(r->arena, r->path, &name);
  vec_push(r->arena, &r->seen, canonical_path(r, r->path));
  for (uint32_t i = 0; i < s->doc.n; i++) // open documents, which may have no file yet
    if (!collect_user_changes(r, s->doc.at[i]->path)) return false;
  while (*folder == '/' && (!s->how.root || path_is_below(s->how.root, folder))) {
    FolderNames files = {0};
    if (folder_names(r->arena, folder, &files)) break;
    for (uint32_t i = 0; i < files.n; i++)
      if (text_ends(files.at[i], ".limn") &&
          !collect_user_changes(r, arena_format(r->arena, "%s%s", folder, files.at[i])))
        return false;
    if (!folder[1]) break;
    folder = path_folder(r->arena, arena_text(r->arena, folder, strlen(folder) - 1), &name);
  }
  return true;
}

// -- all of them ----------------------------------------------------------------------------------
// Finds the declaring file and position of the symbol in the request. False: refused.
static bool find_declared(FileRename *r, ServedText *d, Limn *l) {
  const ServeCall *c = r->c;
  const Json *j = serve_question(c->s, l, "prepareRename", &r->ask);
  const Json *other = json_get(j, "declared");
  if (!j) {
    serve_refuse_said(c, l);
    return false;
  }
  const char *uri = json_get_text(other, "uri");
  r->name = json_get_text(j, "placeholder");
  r->plain = json_get_true(j, "plain");
  r->shared = json_get_true(j, "ofFile");
  serve_place(json_get(json_get(other, "range"), "start"), &r->ask.line, &r->ask.character);
  bool here = json_get_true(j, "here");
  const char *path = here ? d->path : uri ? served_file_path(c->s, r->arena, uri) : NULL;
  if (!path || !(here || path_exists(path))) {
    serve_refuse(c, RPC_REQUEST_FAILED, "`%s` is declared outside of the folder that is open",
                 r->name);
    return false;
  }
  const ServedText *open = open_at(r, path);
  r->path = open ? open->path : canonical_path(r, path);
  return open == d || is_saved(r);
}

static bool is_word_byte(char c) { return char_is_word(c) || c == '_' || (unsigned char)c >= 0x80; }

// A large text that has changed: elaborates only boxes that contain the old or the new name. NULL:
// the symbol is not local to these or the rename is refused there; a complete check may still
// succeed.
static Limn *check_words_only(FileRename *r, const ServedText *d) {
  LimnServer *s = r->c->s;
  size_t from = served_offset(s, d, r->ask.line, r->ask.character), to = from;
  while (from && is_word_byte(d->text[from - 1])) from--;
  while (to < d->n && is_word_byte(d->text[to])) to++;
  const char *words[] = {arena_text(r->arena, d->text + from, to - from), r->ask.text, NULL};
  if (from == to || !*r->ask.text) return NULL;
  Limn **l = NEW(r->arena, Limn *);
  arena_on_free(r->arena, drop_handle, l);
  *l = served_handle(s);
  if (!*l) return NULL;
  limn_edit_load_words(*l, d->path, d->text, d->n, words);
  const Json *j = serve_question(s, *l, "prepareRename", &r->ask);
  return json_get_true(j, "plain") && json_get_true(j, "here") &&
                 limn_edit_ask(*l, "rename", &r->ask)
             ? *l
             : NULL;
}

static Limn *check_document(FileRename *r, ServedText *d) {
  Limn *l = d->stale ? check_words_only(r, d) : NULL;
  if (l) return l;
  return served_ready(r->c->s, d, true) ? d->shown : NULL;
}

void serve_rename(const ServeCall *c, ServedText *d, const LimnAsk *asked) {
  FileRename r = {.c = c, .arena = arena_child(c->s->scratch), .ask = *asked};
  if (!r.ask.text) r.ask.text = "";
  Limn *shown = check_document(&r, d);
  if (!shown) serve_refuse(c, RPC_REQUEST_FAILED, "memory is exhausted");
  bool good = shown && find_declared(&r, d, shown);
  Limn *l = good ? strcmp(r.path, d->path) ? handle_at(&r, r.path) : shown : NULL;
  if (l) {
    r.changes = serve_result(c);
    json_object(&r.changes, NULL);
    json_object(&r.changes, "changes");
  }
  if (l && collect_changes(&r, l, "rename", &r.ask) && (!r.shared || collect_all_users(&r))) {
    json_end(&r.changes);
    json_end(&r.changes);
    serve_done(c);
  }
  arena_free(r.arena);
}
