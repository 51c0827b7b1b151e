// Rename: replaces every use that the index has of a symbol. Refused where the meaning of the
// program could change: where the new name is already in use, or where the old one occurs and
// elaboration did not resolve it. The caller also elaborates the resulting text and compares
// (edit_same_names).
//
// A symbol may be used in other files. Each such file is asked, as a program of its own, for its
// changes (`renameIn`).
#include "base/diag.h"
#include "base/files.h"
#include "base/json_write.h"
#include "base/names.h"
#include "base/source.h"
#include "edit/edit_own.h"

typedef struct {
  EditQuestion *q;
  const EditIndex *x;
  const EditUse *here;
  const EditSymbol *symbol;
  uint32_t now; // its offset in the current text
  const char *old;
  bool other; // the text belongs to a file that uses the declaring one
} Renamer;

__attribute__((format(printf, 2, 3))) static bool refuse_rename(EditQuestion *q, const char *format,
                                                                ...) {
  va_list args;
  va_start(args, format);
  q->refused = arena_vformat(q->arena, format, args);
  va_end(args);
  return false;
}

// -- may it be renamed ----------------------------------------------------------------------------
static const char *file_path(const Renamer *r, uint32_t file) {
  return r->x->sources->file.at[file].path;
}

static bool find_symbol(Renamer *r) {
  EditQuestion *q = r->q;
  const EditText *t = q->now;
  uint32_t at = position_offset(q, q->at), from, then;
  r->x = q->index;
  if (!offset_when_checked(q, at, &then))
    return refuse_rename(q, "the text has changed since it was checked");
  r->here = edit_use_at(r->x, r->x->file, then);
  if (r->here && !span_offset_now(q, r->here->at, &r->now)) r->here = NULL;
  r->symbol = edit_symbol(r->x, r->here);
  if (!r->here) {
    uint32_t n = word_around(t, at, &from);
    const char *word = arena_text(q->arena, t->text + from, n);
    if (!n) return refuse_rename(q, "there is no name here");
    if (known_word(word)) return refuse_rename(q, "`%s` is a word of the language", word);
    if (known_box(q->arena, word)) return refuse_rename(q, "`%s` belongs to the language", word);
    return refuse_rename(q, "the meaning of `%s` is not known here yet", word);
  }
  r->old = arena_text(q->arena, t->text + r->now, r->here->at.n);
  if (!r->symbol->first.file) return refuse_rename(q, "`%s` is declared in no text", r->old);
  if (r->x->program->scope->library && r->symbol->first.file == r->x->program->scope->library->file)
    return refuse_rename(q, "`%s` belongs to the library", r->old);
  return true;
}

static bool is_declared_here(Renamer *r) {
  if (r->symbol->first.file == r->x->file) return true;
  return refuse_rename(r->q, "`%s` is declared in %s: rename it there", r->old,
                       file_path(r, r->symbol->first.file));
}

// Boxes and their wires are known by this name only. The name of an axis also labels axes
// elsewhere, and things in a machine are also addressed by path.
static bool is_plain(const Renamer *r) {
  const Def *d = r->symbol->def;
  if (d)
    return d->kind == DEF_BOX || d->kind == DEF_LEARNER || d->kind == DEF_CONST ||
           d->kind == DEF_SPACE;
  const Syntax *around =
      r->symbol->inside ? program_declarations(r->x->tree).at[r->symbol->inside - 1] : NULL;
  return r->symbol->kind == NAMED_WIRE && around && around->kind == N_BOX;
}

bool edit_is_plain(EditQuestion *q) {
  Renamer r = {.q = q};
  return find_symbol(&r) && is_plain(&r);
}

bool answer_prepare(EditQuestion *q, JsonOut *j) {
  Renamer r = {.q = q};
  if (!find_symbol(&r)) return false;
  bool plain = is_plain(&r);
  if (!plain && !is_declared_here(&r)) return false;
  json_object(j, NULL);
  json_range_now(q, j, "range", r.now, r.here->at.n);
  json_text(j, "placeholder", r.old);
  json_bool(j, "ofFile", r.symbol->def != NULL && !r.symbol->inside);
  json_bool(j, "plain", plain);
  json_bool(j, "here", r.symbol->first.file == r.x->file);
  json_location(q, j, "declared", r.symbol->first);
  json_end(j);
  return true;
}

// -- the new name ---------------------------------------------------------------------------------
typedef struct {
  Tokens token;
  Names *names;
  bool wrong; // it does not lex
} WordsRead;

static WordsRead read_words(Arena *a, const char *text, size_t n) {
  Sources *sources = sources_new(a);
  Diags *diags = diags_new(a, sources);
  Names *names = names_new(a);
  Tokens t = lex(&(Front){a, names, diags, sources}, source_add(sources, "", text, n));
  return (WordsRead){t, names, diags->errors};
}

bool is_new_name(Arena *a, const char *text) {
  WordsRead w = read_words(a, text, strlen(text));
  const Token *t = w.token.at;
  return !w.wrong && w.token.n == 3 && t->kind == TK_NAME && t->span.n == strlen(text) &&
         strcmp(text, "R") && strcmp(text, "B");
}

static bool new_name_fits(Renamer *r) {
  EditQuestion *q = r->q;
  const char *to = q->text ? q->text : "";
  if (!is_new_name(q->arena, to))
    return refuse_rename(
        q, known_word(to) ? "`%s` is a word of the language" : "`%s` is not a name", to);
  if (known_box(q->arena, to))
    return refuse_rename(q, "`%s` means something in the language already", to);
  return true;
}

// -- every place ----------------------------------------------------------------------------------
// Can the symbol be named at this offset? Local symbols: only inside their declaration.
static bool is_in_scope(const Renamer *r, uint32_t at) {
  return !r->symbol || !r->symbol->inside || edit_declaration_at(r->x, at) == r->symbol->inside;
}

// The name after a dot, as in task.f and mnist.image, is resolved in what is before the dot.
static bool follows_dot(const Token *t, uint32_t i) {
  return i && strcmp(t[i - 1].symbol, ".") == 0;
}

static const char *line_words(const Renamer *r, uint32_t at) {
  uint32_t line = source_line(r->q->now->line, r->q->now->nline, at) + 1;
  if (!r->other) return arena_format(r->q->arena, "line %u", line);
  return arena_format(r->q->arena, "line %u of %s", line, file_path(r, r->x->file));
}

// `path`: the token follows the name of the enclosing declaration.
static bool token_is_clear(Renamer *r, const Token *t, uint32_t i, const char *text, bool path) {
  EditQuestion *q = r->q;
  const EditUse *u = edit_use_at(r->x, r->x->file, t[i].span.at);
  if (u && u->at.at != t[i].span.at) u = NULL;
  if (strcmp(text, q->text) == 0)
    return refuse_rename(q, "`%s` is already used in %s", text, line_words(r, t[i].span.at));
  if (strcmp(text, r->old) || u || (follows_dot(t, i) && !path)) return true;
  return refuse_rename(q, "`%s` is also used in %s, where its meaning is not known yet", text,
                       line_words(r, t[i].span.at));
}

// A part of a learning diagram is addressed by path from outside: teach.Y is this Y.
static bool is_path_to(const Renamer *r, const Names *names, const Token *t, uint32_t i) {
  const EditSymbol *s = r->symbol;
  if (!s || !s->inside || (s->kind != NAMED_MAP && s->kind != NAMED_SPACE)) return false;
  const Syntax *around = program_declarations(r->x->tree).at[s->inside - 1];
  return i > 1 && follows_dot(t, i) && t[i - 2].kind == TK_NAME && around->name &&
         strcmp(name_text(names, t[i - 2].name), name_text(r->x->w->names, around->name)) == 0;
}

static bool contains_word(const char *text, size_t n, const char *word) {
  size_t length = strlen(word);
  for (const char *at = text; n >= length && (at = memchr(at, *word, n - length + 1));) {
    if (memcmp(at, word, length) == 0) return true;
    n -= (size_t)(++at - text), text = at;
  }
  return false;
}

static bool declaration_is_clear(Renamer *r, uint32_t from, uint32_t n) {
  const char *text = r->q->now->text + from;
  if (!contains_word(text, n, r->old) && !contains_word(text, n, r->q->text)) return true;
  WordsRead w = read_words(r->q->arena, text, n);
  Tokens t = w.token;
  for (uint32_t i = 0; i < t.n; i++) t.at[i].span.at += from;
  for (uint32_t i = 0; i < t.n; i++) {
    bool path = t.at[i].kind == TK_NAME && is_path_to(r, w.names, t.at, i);
    if (t.at[i].kind != TK_NAME || !(path || is_in_scope(r, t.at[i].span.at))) continue;
    const char *name = name_text(w.names, t.at[i].name);
    if (strcmp(name, r->old) && strcmp(name, r->q->text)) continue;
    if (!token_is_clear(r, t.at, i, name, path)) return false;
  }
  return true;
}

// Scans declaration by declaration: strings and comments do not cross lines, so each can be lexed
// alone, and most contain neither name.
static bool places_are_clear(Renamer *r) {
  uint32_t from = 0, all = r->x->declaration.n;
  for (uint32_t i = 0; i <= all; i++) {
    uint32_t to = i < all ? r->x->declaration.at[i].at : (uint32_t)r->q->now->n;
    if (to > from && !declaration_is_clear(r, from, to - from)) return false;
    from = to;
  }
  return true;
}

static bool is_as_checked(EditQuestion *q) {
  const EditText *t = q->now;
  return (!t->shift && t->same_before == t->n) ||
         refuse_rename(q, "the text has changed since it was checked");
}

static bool may_rename(Renamer *r) {
  return is_as_checked(r->q) && find_symbol(r) && is_declared_here(r) && new_name_fits(r) &&
         (strcmp(r->old, r->q->text) == 0 || places_are_clear(r));
}

// The spans of all uses in this text.
static void find_uses(const Renamer *r, Spans *out) {
  for (uint32_t i = 0; i < r->x->use.n; i++) {
    const EditUse *u = &r->x->use.at[i];
    if (edit_symbol(r->x, u) == r->symbol && u->at.file == r->x->file)
      vec_push(r->q->arena, out, u->at);
  }
}

bool rename_places(EditQuestion *q, Spans *out) {
  Renamer r = {.q = q};
  if (!may_rename(&r)) return false;
  find_uses(&r, out);
  return true;
}

static void json_changes(const EditQuestion *q, JsonOut *j, const Spans *places) {
  json_object(j, NULL);
  json_object(j, "changes");
  json_list(j, edit_uri(q, q->index->file));
  for (uint32_t i = 0; i < places->n; i++)
    json_edit(q, j, places->at[i].at, places->at[i].n, q->text);
  json_end(j);
  json_end(j);
  json_end(j);
}

bool answer_rename(EditQuestion *q, JsonOut *j) {
  Spans places = {0};
  if (!rename_places(q, &places)) return false;
  json_changes(q, j, &places);
  return true;
}

// -- in a file that uses the declaring one --------------------------------------------------------
// The number of the program's file with this path; 0: none.
static uint32_t file_at(const Renamer *r, const char *path) {
  const char *real = path_real(r->q->arena, path);
  for (uint32_t i = 1; real && i < r->x->sources->file.n; i++) {
    const char *own = path_real(r->q->arena, file_path(r, i));
    if (own && strcmp(own, real) == 0) return i;
  }
  return 0;
}

// Finds the symbol that another file declares at `at`; this text need not use it.
static void find_declared(Renamer *r, uint32_t file) {
  const Source *f = &r->x->sources->file.at[file];
  EditText t = {.text = f->text, .n = f->n, .nline = f->nline, .line = f->line};
  EditQuestion there = *r->q;
  there.now = &t;
  uint32_t at = position_offset(&there, r->q->at), from, n = word_around(&t, at, &from);
  r->old = arena_text(r->q->arena, t.text + from, n);
  for (uint32_t i = 0; i < r->x->symbol.n; i++) {
    const EditSymbol *s = &r->x->symbol.at[i];
    if (s->first.file == file && s->first.at == from) r->symbol = s;
  }
}

// `text` is: the new name, a space, the path of the file that `at` is in.
bool answer_rename_in(EditQuestion *q, JsonOut *j) {
  Renamer r = {.q = q, .x = q->index, .other = true};
  Spans places = {0};
  const char *path = q->text ? strchr(q->text, ' ') : NULL;
  if (!path) return refuse_rename(q, "a new name, a space and the path of a file are wanted");
  q->text = arena_text(q->arena, q->text, (size_t)(path - q->text));
  uint32_t file = file_at(&r, path + 1);
  if (file && file != r.x->file) {
    find_declared(&r, file);
    const Def *taken = edit_def_named(r.x, q->text, strlen(q->text));
    const Scope *library = r.x->program->scope->library;
    if (taken && !(library && taken->span.file == library->file))
      return refuse_rename(q, "`%s` means something in %s already", q->text,
                           file_path(&r, r.x->file));
    if (!is_as_checked(q) || !places_are_clear(&r)) return false;
    if (r.symbol) find_uses(&r, &places);
  }
  json_changes(q, j, &places);
  return true;
}

// -- the resulting text ---------------------------------------------------------------------------
const char *edit_renamed(EditQuestion *q, size_t *n) {
  Spans places = {0};
  TextChanges change = {0};
  if (!rename_places(q, &places)) return NULL;
  for (uint32_t i = 0; i < places.n; i++)
    vec_push(q->arena, &change, (TextChange){places.at[i].at, places.at[i].n, q->text});
  return text_with_changes(q, &change, n);
}

// Counts the uses in the program's own file, for a comparison in order.
static uint32_t own_uses(const EditIndex *x, uint32_t *first) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < x->use.n; i++)
    if (x->use.at[i].at.file == x->file && !n++) *first = i;
  return n;
}

bool edit_same_names(const EditIndex *a, const EditIndex *b, Arena *scratch) {
  uint32_t from_a = 0, from_b = 0, n = own_uses(a, &from_a);
  if (own_uses(b, &from_b) != n) return false;
  uint32_t *to = NEW_ARRAY(scratch, uint32_t, a->symbol.n + 1),
           *back = NEW_ARRAY(scratch, uint32_t, b->symbol.n + 1);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t p = a->use.at[from_a + i].symbol, s = b->use.at[from_b + i].symbol;
    if (!to[p] && !back[s]) to[p] = s + 1, back[s] = p + 1;
    if (to[p] != s + 1 || back[s] != p + 1) return false;
  }
  return true;
}
