// Another name for something. What is written anew is every place that was found to mean it. It is
// refused where that could change what the program means: where the new name stands already, or where
// the old one stands and nobody has found out what it means there. Whoever asks has the text that comes
// out of it looked at as well (edit_same_names).
#include "edit/edit_own.h"

typedef struct {
  EditAsk *q;
  const EditIndex *x;
  const EditUse *here;
  const EditSymbol *symbol;
  uint32_t now; // where it stands by now
  const char *old;
} Renamer;

static bool refuse(EditAsk *q, const char *why) {
  q->refused = why;
  return false;
}

// -- may it be renamed ----------------------------------------------------------------------------
static const char *file_path(const Renamer *r, uint32_t file) {
  return r->x->sources->file.at[file].path;
}

static bool find_symbol(Renamer *r) {
  EditAsk *q = r->q;
  const EditText *t = q->now;
  uint32_t at = place_offset(q, q->at), from, then;
  r->x = q->index;
  if (!place_checked(q, at, &then)) return refuse(q, "the text has changed since it was looked at");
  r->here = edit_use_at(r->x, r->x->file, then);
  if (r->here && !span_now(q, r->here->at, &r->now)) r->here = NULL;
  r->symbol = edit_symbol(r->x, r->here);
  if (!r->here) {
    uint32_t n = word_around(t, at, &from);
    const char *word = arena_text(q->arena, t->text + from, n);
    if (!n) return refuse(q, "there is no name here");
    if (known_word(word))
      return refuse(q, arena_format(q->arena, "`%s` is a word of the language", word));
    if (known_box(q->arena, word))
      return refuse(q, arena_format(q->arena, "`%s` belongs to the language", word));
    return refuse(q, arena_format(q->arena, "nobody knows yet what `%s` means here", word));
  }
  r->old = arena_text(q->arena, t->text + r->now, r->here->at.n);
  if (!r->symbol->first.file)
    return refuse(q, arena_format(q->arena, "`%s` is declared in no text", r->old));
  if (r->x->program->scope->library && r->symbol->first.file == r->x->program->scope->library->file)
    return refuse(q, arena_format(q->arena, "`%s` belongs to the library", r->old));
  if (r->symbol->first.file != r->x->file)
    return refuse(q, arena_format(q->arena, "`%s` is declared in %s: rename it there", r->old,
                                  file_path(r, r->symbol->first.file)));
  return true;
}

bool answer_prepare(EditAsk *q, JsonOut *j) {
  Renamer r = {.q = q};
  if (!find_symbol(&r)) return false;
  json_object(j, NULL);
  json_range_of(q, j, "range", r.now, r.here->at.n);
  json_text(j, "placeholder", r.old);
  json_bool(j, "ofFile", r.symbol->def != NULL && !r.symbol->inside);
  json_end(j);
  return true;
}

// -- the new name ---------------------------------------------------------------------------------
static Tokens tokens_in(Arena *a, const char *text, size_t n, Names **names) {
  Sources *sources = sources_new(a);
  Diags *diags = diags_new(a, sources);
  *names = names_new(a);
  Front front = {a, *names, diags, sources};
  Tokens t = lex(&front, source_add(sources, "", text, n));
  return diags->errors && n < 4096 ? (Tokens){NULL, 0} : t;
}

bool is_new_name(Arena *a, const char *text) {
  Names *names;
  Tokens t = tokens_in(a, text, strlen(text), &names);
  return t.n == 3 && t.at[0].kind == TK_NAME && t.at[0].span.n == strlen(text) &&
         strcmp(text, "R") && strcmp(text, "B");
}

static bool new_name_fits(Renamer *r) {
  EditAsk *q = r->q;
  const char *to = q->text ? q->text : "";
  if (!is_new_name(q->arena, to))
    return refuse(
        q,
        arena_format(q->arena,
                     known_word(to) ? "`%s` is a word of the language" : "`%s` is not a name", to));
  if (known_box(q->arena, to))
    return refuse(q, arena_format(q->arena, "`%s` means something in the language already", to));
  return true;
}

// -- every place ----------------------------------------------------------------------------------
// Where the name can be seen: in its declaration, or everywhere.
static bool is_seen(const Renamer *r, uint32_t at) {
  return !r->symbol->inside || edit_declaration_at(r->x, at) == r->symbol->inside;
}

// task.f and mnist.image: what stands behind a dot is looked for in what stands before it.
static bool is_part(const Token *t, uint32_t i) { return i && strcmp(t[i - 1].symbol, ".") == 0; }

static bool place_is_clear(Renamer *r, const Token *t, uint32_t i, const char *text,
                           uint32_t line) {
  EditAsk *q = r->q;
  const EditUse *u = edit_use_at(r->x, r->x->file, t[i].span.at);
  if (u && u->at.at != t[i].span.at) u = NULL;
  if (strcmp(text, q->text) == 0)
    return refuse(q, arena_format(q->arena, "`%s` stands in line %u already", text, line));
  if (strcmp(text, r->old) || u || is_part(t, i)) return true;
  return refuse(q,
                arena_format(q->arena,
                             "`%s` stands in line %u too, and nobody knows yet what it means there",
                             text, line));
}

static uint32_t line_number(const EditText *t, uint32_t at) {
  uint32_t line = 0;
  while (line + 1 < t->nline && t->line[line + 1] <= at) line++;
  return line + 1;
}

static bool places_are_clear(Renamer *r) {
  Names *names;
  Tokens t = tokens_in(r->q->arena, r->q->now->text, r->q->now->n, &names);
  for (uint32_t i = 0; i < t.n; i++) {
    if (t.at[i].kind != TK_NAME || !is_seen(r, t.at[i].span.at)) continue;
    const char *text = name_text(names, t.at[i].name);
    if (strcmp(text, r->old) && strcmp(text, r->q->text)) continue;
    if (!place_is_clear(r, t.at, i, text, line_number(r->q->now, t.at[i].span.at))) return false;
  }
  return true;
}

static bool may_rename(Renamer *r) {
  const EditText *t = r->q->now;
  if (t->moved || t->before != t->n)
    return refuse(r->q, "the text has changed since it was looked at");
  return find_symbol(r) && new_name_fits(r) &&
         (strcmp(r->old, r->q->text) == 0 || places_are_clear(r));
}

bool rename_places(EditAsk *q, Spans *out) {
  Renamer r = {.q = q};
  if (!may_rename(&r)) return false;
  for (uint32_t i = 0; i < r.x->use.n; i++) {
    const EditUse *u = &r.x->use.at[i];
    if (u->symbol == r.here->symbol && u->at.file == r.x->file) vec_push(q->arena, out, u->at);
  }
  return true;
}

bool answer_rename(EditAsk *q, JsonOut *j) {
  Spans places = {0};
  if (!rename_places(q, &places)) return false;
  json_object(j, NULL);
  json_object(j, "changes");
  json_list(j, edit_uri(q, q->index->file));
  for (uint32_t i = 0; i < places.n; i++) json_edit(q, j, places.at[i].at, places.at[i].n, q->text);
  json_end(j);
  json_end(j);
  json_end(j);
  return true;
}

// A box or a wire of one is known by this name alone. An axis labels what flows elsewhere, and what is in
// a machine is asked for by its path.
bool edit_is_plain(EditAsk *q) {
  Renamer r = {.q = q};
  if (!find_symbol(&r)) return false;
  const Def *d = r.symbol->def;
  if (d)
    return d->kind == DEF_BOX || d->kind == DEF_LEARNER || d->kind == DEF_CONST ||
           d->kind == DEF_SPACE;
  const Syntax *around =
      r.symbol->inside ? program_declarations(r.x->tree).at[r.symbol->inside - 1] : NULL;
  return r.symbol->kind == NAMED_WIRE && around && around->kind == N_BOX;
}

// -- the text that comes out of it ----------------------------------------------------------------
const char *edit_renamed(EditAsk *q, size_t *n) {
  Spans places = {0};
  Buf b = buf_new(q->arena);
  uint32_t done = 0;
  if (!rename_places(q, &places)) return NULL;
  for (uint32_t i = 0; i < places.n; i++) {
    buf_add(&b, q->now->text + done, places.at[i].at - done);
    buf_text(&b, q->text);
    done = places.at[i].at + places.at[i].n;
  }
  buf_add(&b, q->now->text + done, q->now->n - done);
  *n = b.n;
  return b.at;
}

// The uses of the program's own file, the k-th of one and the k-th of the other.
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
