// The syntactic context of the cursor: the tokens of the declaration up to it, the innermost open
// bracket, and its owner. The current text need not parse; only words and brackets are used.
#include "edit/context.h"
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"

static bool begins_line(const EditText *t, uint32_t at) { return !at || t->text[at - 1] == '\n'; }

// The last line before `at` that begins with a word in column 1.
static uint32_t declaration_begin(const EditText *t, uint32_t at) {
  for (;; at--) {
    while (at && !begins_line(t, at)) at--;
    if (!at || is_word_byte(t->text[at])) return at;
  }
}

static Tokens tokens_of(Arena *a, const char *text, uint32_t n, Names **names) {
  Sources *sources = sources_new(a);
  Diags *diags = diags_new(a, sources);
  *names = names_new(a);
  diags->muted = 1;
  Front front = {a, *names, diags, sources};
  return lex(&front, source_add(sources, "", text, n));
}

static const char *text_of(const TypingContext *c, uint32_t i) {
  const Token *t = &c->token.at[i];
  if (t->kind == TK_SYMBOL) return t->symbol;
  return t->kind == TK_NAME || t->kind == TK_WORD ? name_text(c->names, t->name) : "";
}

const char *context_before(const TypingContext *c, uint32_t back) {
  return back < c->token.n ? text_of(c, c->token.n - 1 - back) : "";
}

// The owner of a bracket: the name before it, skipping brackets in between, as in f[3](.
static void find_owner(TypingContext *c, uint32_t open) {
  uint32_t i = open;
  if (i && strcmp(text_of(c, i - 1), "]") == 0) {
    uint32_t depth = 0;
    do {
      i--;
      if (strcmp(text_of(c, i), "]") == 0) depth++;
      if (strcmp(text_of(c, i), "[") == 0) depth--;
    } while (i && depth);
  }
  if (i && c->token.at[i - 1].kind == TK_NAME) c->owner = text_of(c, i - 1);
}

static void find_open(TypingContext *c) {
  uint32_t depth = 0;
  for (uint32_t i = c->token.n; i-- > 0;) {
    const char *s = c->token.at[i].kind == TK_SYMBOL ? text_of(c, i) : "";
    if (strchr(")]}", *s) && *s) depth++;
    if (strcmp(s, ",") == 0 && !depth) c->commas++;
    if (!(strchr("([{", *s) && *s)) continue;
    if (depth) {
      depth--;
      continue;
    }
    c->open = *s;
    find_owner(c, i);
    return;
  }
}

// Is the offset in a comment or a string of its line?
static bool is_no_code(const EditText *t, uint32_t at) {
  uint32_t begin = at;
  bool string = false;
  while (!begins_line(t, begin)) begin--;
  for (uint32_t i = begin; i < at; i++) {
    if (t->text[i] == '"') string = !string;
    if (t->text[i] == '#' && !string) return true;
    if (t->text[i] == '\\' && string) i++;
  }
  return string;
}

TypingContext context_at(Arena *a, const EditText *t, uint32_t at) {
  TypingContext c = {.at = at, .word = at};
  while (c.word && is_word_byte(t->text[c.word - 1])) c.word--;
  c.prefix = arena_text(a, t->text + c.word, at - c.word);
  c.no_code = is_no_code(t, at);
  c.begin = declaration_begin(t, c.word);
  if (c.begin == c.word || c.no_code) return c;
  c.token = tokens_of(a, t->text + c.begin, c.word - c.begin, &c.names);
  while (c.token.n &&
         (!c.token.at[c.token.n - 1].span.n || c.token.at[c.token.n - 1].kind == TK_END))
    c.token.n--; // drops the end token and the brackets that the lexer closed for the user
  if (c.token.n) c.first = text_of(&c, 0);
  find_open(&c);
  return c;
}
