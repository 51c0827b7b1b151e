// The program as text: copied into the run folder so that it can be run again, and compared with
// the copy in a folder.
//
// The copy is `program.limn` and, in `used/`, every file it uses; the paths after `use` are
// rewritten. Two programs are equal if their tokens are, except the paths of used files and the
// length of training: layout and comments do not count, and a run may be made longer.
#include "base/diag.h"
#include "base/files.h"
#include "base/names.h"
#include "base/source.h"
#include "run/runs/runs.h"

typedef struct {
  uint32_t source;  // in World.sources
  const char *name; // in the run folder: program.limn, used/attention.limn
  Tokens token;
} ProgramText;
typedef VEC(ProgramText) ProgramTexts;

static Tokens tokens_of(World *w, uint32_t source) {
  Front front = {w->arena, w->names, w->diags, w->sources};
  w->diags->muted++;
  Tokens t = lex(&front, source);
  w->diags->muted--;
  return t;
}

static bool is_word(World *w, const Token *t, const char *word) {
  return t->kind == TK_WORD && strcmp(name_text(w->names, t->name), word) == 0;
}

// Is token i the path of a used file?
static bool is_use(World *w, const Tokens *t, uint32_t i) {
  return i > 0 && t->at[i].kind == TK_STR && is_word(w, &t->at[i - 1], "use");
}

// By its path as written, or else by its real path.
static uint32_t source_at(World *w, const char *path) {
  for (uint32_t i = w->sources->file.n; i-- > 1;)
    if (strcmp(w->sources->file.at[i].path, path) == 0) return i;
  const char *real = path_real(w->arena, path);
  for (uint32_t i = w->sources->file.n; real && i-- > 1;) {
    const char *other = path_real(w->arena, w->sources->file.at[i].path);
    if (other && strcmp(other, real) == 0) return i;
  }
  return 0;
}

// A program in a run folder may read files in that folder only.
static bool is_in(World *w, const char *root, const char *path) {
  size_t n = strlen(root);
  return strncmp(path, root, n) == 0 && path[n] == '/' && !strstr(path + n, "/../") &&
         !file_check_in(w->arena, root, path + n + 1);
}

static uint32_t source_read(World *w, const char *root, const char *path) {
  uint32_t known = source_at(w, path);
  if (known) return known;
  if (root ? !is_in(w, root, path) : rights_refuse(w->arena, w->sources->rights, path) != NULL)
    return 0;
  FileText f = file_read(w->arena, path, TEXT_LIMIT);
  return f.text ? source_add(w->sources, path, f.text, f.n) : 0;
}

static uint32_t text_of(const ProgramTexts *all, uint32_t source) {
  uint32_t i = 0;
  while (i < all->n && all->at[i].source != source) i++;
  return i;
}

static bool name_taken(World *w, const ProgramTexts *all, const char *name) {
  const char *folded = file_name_folded(w->arena, name);
  for (uint32_t i = 0; i < all->n; i++)
    if (strcmp(file_name_folded(w->arena, all->at[i].name), folded) == 0) return true;
  return false;
}

static const char *name_for(World *w, const ProgramTexts *all, const char *path) {
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
  const char *dot = strrchr(base, '.');
  int n = dot && dot > base ? (int)(dot - base) : (int)strlen(base);
  const char *name = arena_format(w->arena, "used/%s", base);
  for (uint32_t k = 2; name_taken(w, all, name); k++)
    name = arena_format(w->arena, "used/%.*s.%u%s", n, base, k, base + n);
  return name;
}

// Collects a program and all files it uses, in order of first use. root: the run folder, for the
// copy in a run folder. False: a file is missing.
static bool collect_texts(World *w, const char *root, uint32_t main, ProgramTexts *all) {
  vec_push(w->arena, all, (ProgramText){main, "program.limn", tokens_of(w, main)});
  for (uint32_t k = 0; k < all->n; k++) {
    const char *from = w->sources->file.at[all->at[k].source].path;
    Tokens t = all->at[k].token;
    for (uint32_t i = 0; i < t.n; i++) {
      if (!is_use(w, &t, i)) continue;
      const char *path = path_join(w->arena, from, name_text(w->names, t.at[i].name));
      uint32_t source = source_read(w, root, path);
      if (!source) return false;
      if (text_of(all, source) < all->n) continue;
      ProgramText text = {source, name_for(w, all, path), tokens_of(w, source)};
      vec_push(w->arena, all, text);
    }
  }
  return true;
}

// -- copying --------------------------------------------------------------------------------------
static void copy_text(World *w, const ProgramTexts *all, uint32_t k, Buf *b) {
  const Source *s = &w->sources->file.at[all->at[k].source];
  const Tokens *t = &all->at[k].token;
  uint32_t at = 0;
  for (uint32_t i = 0; i < t->n; i++) {
    if (!is_use(w, t, i)) continue;
    const char *path = path_join(w->arena, s->path, name_text(w->names, t->at[i].name));
    const char *name = all->at[text_of(all, source_at(w, path))].name;
    buf_add(b, s->text + at, t->at[i].span.at - at);
    if (k) name += strlen("used/"); // both are in used/
    buf_json(b, name, strlen(name));
    at = t->at[i].span.at + t->at[i].span.n;
  }
  buf_add(b, s->text + at, s->n - at);
}

static const char *copy_all(World *w, const Program *p, const char *dir, Outcome *end) {
  ProgramTexts all = {0};
  *end = OUTCOME_SYSTEM;
  if (!collect_texts(w, NULL, p->tree->span.file, &all)) return "a file it uses is gone";
  if (all.n > 1) {
    const char *why = folder_make_in(w->arena, dir, "used");
    if (why) return *end = folder_outcome(w->arena, dir, "used/"), why;
  }
  for (uint32_t k = 0; k < all.n; k++) {
    Buf b = buf_new(w->arena);
    copy_text(w, &all, k, &b);
    const char *why = file_write_in(w->arena, dir, all.at[k].name, b.at, b.n);
    if (why) return *end = folder_outcome(w->arena, dir, all.at[k].name), why;
  }
  return NULL;
}

void program_copy_names(World *w, const Program *p, FolderNames *to) {
  ProgramTexts all = {0};
  collect_texts(w, NULL, p->tree->span.file, &all);
  for (uint32_t k = 1; k < all.n; k++) vec_push(w->arena, to, all.at[k].name);
}

const char *program_copy(World *w, const Program *p, const char *dir, Outcome *end) {
  const char *why = copy_all(w, p, dir, end);
  return why ? arena_format(w->arena, "cannot copy the program into %s: %s", dir, why) : NULL;
}

// -- comparing ------------------------------------------------------------------------------------
// The text of a token for comparison: "" for paths of used files and the length of training.
static const char *token_text(World *w, const Tokens *t, uint32_t i, bool *length) {
  const Token *x = &t->at[i];
  if (is_word(w, x, "train")) *length = true;
  if (x->kind == TK_LINE) return *length = false, "\n";
  if (is_use(w, t, i)) return "\"\"";
  if (x->kind == TK_NUM && *length) return *length = false, "0";
  if (x->kind == TK_END) return "";
  return x->kind == TK_SYMBOL ? x->symbol : name_text(w->names, x->name);
}

uint64_t program_hash(World *w, const Program *p) {
  ProgramTexts all = {0};
  collect_texts(w, NULL, p->tree->span.file, &all);
  uint64_t h = 0;
  for (uint32_t k = 0; k < all.n; k++) {
    bool length = false;
    for (uint32_t i = 0; i < all.at[k].token.n; i++) {
      char kind[2] = {(char)('a' + all.at[k].token.at[i].kind), 0};
      h = site_hash(h, token_text(w, &all.at[k].token, i, &length));
      h = site_hash(h, kind);
    }
  }
  return h;
}

static const char *line_text(World *w, const Tokens *t, uint32_t i) {
  const Source *s = &w->sources->file.at[t->at[i].span.file];
  uint32_t line, column;
  source_place(w->sources, t->at[i].span, &line, &column);
  if (!line || line > s->nline) return "its end";
  const char *text = s->text + s->line[line - 1];
  return arena_format(w->arena, "`%.*s`", (int)strcspn(text, "\r\n"), text);
}

static const char *tokens_differ(World *w, const Tokens *old, const Tokens *now) {
  bool a = false, b = false;
  for (uint32_t i = 0; i < old->n && i < now->n; i++) {
    const char *was = token_text(w, old, i, &a), *is = token_text(w, now, i, &b);
    if (strcmp(was, is) == 0 && old->at[i].kind == now->at[i].kind) continue;
    uint32_t line, column;
    source_place(w->sources, now->at[i].span, &line, &column);
    return arena_format(w->arena, "line %u is %s, and was %s", line, line_text(w, now, i),
                        line_text(w, old, i));
  }
  return NULL;
}

// Shows may be added and changed after the run.
static Tokens without_shows(World *w, const Tokens *t) {
  Token *kept = NEW_ARRAY(w->arena, Token, t->n + 1);
  uint32_t n = 0;
  bool shows = false;
  for (uint32_t i = 0; i < t->n; i++) {
    if (!i || t->at[i - 1].kind == TK_LINE) shows = is_word(w, &t->at[i], "show");
    if (!shows || t->at[i].kind == TK_END) kept[n++] = t->at[i];
  }
  return (Tokens){kept, n};
}

// The first token that differs; NULL: none. *readable: the copy could be read; *files: both have
// equally many files.
static const char *first_difference(World *w, const Program *p, const char *dir, bool shows,
                                    bool *readable, bool *files) {
  ProgramTexts now = {0}, old = {0};
  uint32_t main = source_read(w, dir, arena_format(w->arena, "%s/program.limn", dir));
  *readable =
      main && collect_texts(w, dir, main, &old) && collect_texts(w, NULL, p->tree->span.file, &now);
  *files = now.n == old.n;
  for (uint32_t k = 0; *readable && k < now.n && k < old.n; k++) {
    Tokens was = old.at[k].token, is = now.at[k].token;
    if (!shows) was = without_shows(w, &was), is = without_shows(w, &is);
    const char *what = tokens_differ(w, &was, &is);
    if (what)
      return arena_format(w->arena, "in %s, %s", w->sources->file.at[now.at[k].source].path, what);
  }
  return NULL;
}

const char *program_difference_but_shows(World *w, const Program *p, const char *dir) {
  bool readable, files;
  const char *what = first_difference(w, p, dir, false, &readable, &files);
  return what || !readable || files ? what : "it uses other files";
}

const char *program_difference(World *w, const Program *p, const char *dir) {
  bool readable, files;
  const char *what = first_difference(w, p, dir, true, &readable, &files);
  if (!readable) return "its copy in the folder cannot be read";
  return what ? what : "it uses other files";
}
