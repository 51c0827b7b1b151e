// The lexer: text to tokens.
//
// Input: a file. Output: tokens, the last of them TK_END, with these guarantees:
//   * Brackets are balanced. A bracket that was left open is reported here and closed by a token of
//     length 0, so the parser need not check.
//   * TK_LINE stands only where a statement may end. A line break is dropped inside ( ) and [ ],
//     after a symbol that needs a right operand, and before one that needs a left operand.
//   * A word in column 1 always begins a new line and closes ( ) and [ ]; a word that begins a
//     declaration closes { } too.
//   * The symbol "?" stands for an error that is already reported: an unknown character, or a
//     closing bracket without an opening one.
// Operators of other languages are reported and replaced by limn's, so that one habit costs one
// message and not a statement.
//
// Only white space and comments stand between two tokens; format.c finds the comments there.
#include "base/diag.h"
#include "base/names.h"
#include "base/number.h"
#include "base/source.h"
#include "lang/syntax/letters.h"
#include "lang/syntax/parse_own.h"

#include <math.h>
#include <stdlib.h>

enum { ENOUGH = 20 }; // the most messages of one kind

typedef struct {
  uint32_t token;
  char symbol;
} OpenBracket;

typedef struct {
  const Front *front;
  const char *text;
  uint32_t n, file;
  uint32_t at;         // the next byte
  uint32_t line_start; // the start of the current line
  bool new_line;       // a line break precedes the next token
  uint32_t unknown;    // unknown characters reported
  uint32_t unclosed;   // unclosed brackets reported
  uint32_t orphans;    // the number of } still expected for { that a declaration has closed
  VEC(Token) out;
  VEC(OpenBracket) open;
  uint32_t open_count[128]; // of each kind of bracket
  bool begins_foreign[256]; // bytes with which an operator of another language may begin
  uint8_t symbols_at[256];  // the first of `symbols` that begins with this byte, or their number
  VEC(char) word_of;        // by name: 'w' a word of the language, 'n' none, 0 not looked up yet
} Lexer;

static const char *const reserved[] = {
    "use",    "axis",  "const", "space",    "box",       "learn",   "state",  "next",   "look",
    "refine", "given", "goal",  "measure",  "train",     "show",    "freeze", "stale",  "diagram",
    "along",  "find",  "set",   "in",       "optimiser", "machine", "share",  "wiring", "mode",
    "jump",   "when",  "else",  "for",      "as",        "return",  "over",   "by",     "trains",
    "times",  "on",    "from",  "every",    "run",       "check",   "within", "to",     "and",
    "or",     "not",   "pad",   "maximise", "minimise"};

const char *const declaration_words[] = {
    "use",  "axis",      "const",   "space", "box",    "learn", "refine",  "given",
    "goal", "measure",   "train",   "show",  "freeze", "stale", "diagram", "find",
    "set",  "optimiser", "machine", "share", "wiring", "run",   "check",   "for"};
const uint32_t declaration_word_count = COUNT(declaration_words);

// Those that begin with the same byte follow each other, the longest first.
static const char *const symbols[] = {
    "...", "..", ".", "->", "-", "=>", "=", "//", "/", "<=", "<", ">=", ">", "!=", "~",
    ";",   "&",  ",", ":",  "+", "*",  "^", "'",  "(", ")",  "[", "]",  "{", "}"};
static const char *const line_goes_on_after[] = {"=", "->", "=>", ";",  "&",  ",", "~",
                                                 "+", "-",  "*",  "/",  "//", "^", ":",
                                                 "<", "<=", ">",  ">=", "!=", ".", ".."};
static const char *const line_goes_on_before[] = {";", "&", "~", "->", "=>", "*",  "/",  "//", "+",
                                                  "^", "=", "<", "<=", ">",  ">=", "!=", ")",  "]"};

// Operators of other languages: the text, the replacement, and the message (NULL: it is limn's
// own). Longest first. A trailing space must match but is not consumed.
static const struct {
  const char *text, *read_as, *message;
} foreign[] = {
    {"===", "=", "found `===`: a comparison is written `=`, and equality of diagrams `~`"},
    {"==", "=", "found `==`: a comparison is written `=`, and equality of diagrams `~`"},
    {"!==", "!=", "found `!==`, wanted `!=`"},
    {"**", "^", "found `**`: a power is written `^`"},
    {"&&", "and", "found `&&`, wanted `and`"},
    {"||", "or", "found `||`, wanted `or`"},
    {"|>", ";", "found `|>`: \"then\" is written `;`"},
    {"+=", "=", "found `+=`: write the whole equation, `x = x + …`; of a state, `next x = x + …`"},
    {"-=", "=", "found `-=`: write the whole equation, `x = x - …`; of a state, `next x = x - …`"},
    {"*=", "=", "found `*=`: write the whole equation, `x = x * …`"},
    {"/=", "=", "found `/=`: unequal is written `!=`, and a division `x = x / …`"},
    {":=", "=", "found `:=`, wanted `=`"},
    {"<>", "!=", "found `<>`: unequal is written `!=`"},
    {"<- ", "=",
     "found `<-`: an equation is written `=`, a wire `x -> p.a`, and a comparison `< -`"}, // `x <-1` is a comparison
    {"!=", "!=", NULL},
    {"≤", "<=", NULL},
    {"≥", ">=", NULL},
    {"≠", "!=", NULL},
    {"!", "not", "found `!`, wanted `not`"},
    {"%", "?", "found `%`: the remainder is `mod(a, b)`; in sizes `//` divides and rounds down"},
    {"@", "?", "found `@`: a product of matrices is written with indices, `a[i j] b[j k]`"},
};

// Characters that resemble limn's or are invisible.
static const struct {
  const char *text, *hint;
} lookalikes[] = {
    {"\u201c", "write `\"`"},          {"\u201d", "write `\"`"}, {"\u2018", "write `\"`"},
    {"\u2019", "write `'`"},           {"\u2212", "write `-`"},  {"\u2013", "write `-`"},
    {"\u2014", "write `-`"},           {"\u2192", "write `->`"}, {"\u00d7", "write `*`"},
    {"\u00b7", "write `*`"},           {"\u22c5", "write `*`"},  {"\u2264", "write `<=`"},
    {"\u2265", "write `>=`"},          {"\u2260", "write `!=`"}, {"\u2026", "write `...`"},
    {"\u2248", "write `~`"},           {"\u223c", "write `~`"},  {"\u00a0", "write a plain space"},
    {"\u3000", "write a plain space"}, {"\uff08", "write `(`"},  {"\uff09", "write `)`"},
    {"\uff0c", "write `,`"},           {"\uff1a", "write `:`"},
};

bool is_one(const char *word, const char *list) {
  size_t n = strlen(word);
  for (const char *at = list; n && (at = strstr(at, word)); at += n)
    if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n])) return true;
  return false;
}

static bool is_one_of(const char *text, const char *const *list, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (text[0] == list[i][0] && strcmp(text, list[i]) == 0) return true;
  return false;
}

bool is_reserved(const char *word) { return is_one_of(word, reserved, COUNT(reserved)); }

bool is_declaration_word(const char *word) {
  return is_one_of(word, declaration_words, COUNT(declaration_words));
}

// -- limits on messages

ErrorLimit error_limit(const Front *front) { return (ErrorLimit){.before = front->diags->errors}; }

void mute_after_many(const Front *front, ErrorLimit *limit) {
  enum { MANY = 100 };
  if (limit->muted || front->diags->errors - limit->before < MANY) return;
  front->diags->muted++;
  limit->muted = true;
}

void unmute(const Front *front, ErrorLimit *limit) {
  if (limit->muted) front->diags->muted--;
  limit->muted = false;
}

// -- characters

static const char *lookalike_hint(const char *text, uint32_t n) {
  for (uint32_t i = 0; i < COUNT(lookalikes); i++)
    if (strlen(lookalikes[i].text) == n && memcmp(lookalikes[i].text, text, n) == 0)
      return lookalikes[i].hint;
  return NULL;
}

// Control characters, joiners, direction marks and look-alikes are not letters; every other
// character beyond ASCII is.
static bool is_strange(const char *text, uint32_t n) {
  const unsigned char *s = (const unsigned char *)text;
  if (n == 2 && s[0] == 0xC2 && s[1] < 0xA0) return true;
  if (n == 3 && s[0] == 0xE2 && (s[1] == 0x80 || (s[1] == 0x81 && s[2] <= 0xAF))) return true;
  if (n == 3 && s[0] == 0xEF && s[1] == 0xBB && s[2] == 0xBF) return true;
  return lookalike_hint(text, n) != NULL;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

uint32_t letter_bytes(const char *text, size_t n) {
  if (!n) return 0;
  if (char_is_letter(*text) || *text == '_') return 1;
  if ((unsigned char)*text < 0x80) return 0;
  uint32_t length = (uint32_t)character_length(text, n);
  return length && !is_strange(text, length) ? length : 0;
}

// The length in bytes of the letter at `at`, or 0 if there is none.
static uint32_t letter_length(const Lexer *x, uint32_t at) {
  return at >= x->n ? 0 : letter_bytes(x->text + at, x->n - at);
}

// -- tokens and lines

static Span span_from(const Lexer *x, uint32_t from) { return (Span){x->file, from, x->at - from}; }

static Token *last_token(Lexer *x) { return x->out.n ? &x->out.at[x->out.n - 1] : NULL; }

static void emit(Lexer *x, Token t) { vec_push(x->front->arena, &x->out, t); }

static void emit_line(Lexer *x) {
  Token *last = last_token(x);
  if (last && last->kind != TK_LINE)
    emit(x, (Token){.kind = TK_LINE, .span = {x->file, last->span.at + last->span.n, 0}});
}

static char closer_of(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }

static char innermost(const Lexer *x) { return x->open.n ? x->open.at[x->open.n - 1].symbol : 0; }

// Declarations that may also stand inside a loop.
static bool is_about_runs(const char *word) {
  return !strcmp(word, "run") || !strcmp(word, "check") || !strcmp(word, "show");
}

// Closes the innermost bracket with a token of length 0, because of a word in column 1 or, with
// NULL, the end of the file.
static void close_for_user(Lexer *x, const Token *before) {
  OpenBracket open = x->open.at[--x->open.n];
  x->open_count[(int)open.symbol]--;
  if (x->unclosed++ < ENOUGH) {
    Id e = diag_error(x->front->diags, x->out.at[open.token].span, "`%c` is never closed",
                      open.symbol);
    const char *word = before && open.symbol == '{' ? name_text(x->front->names, before->name) : "";
    if (is_about_runs(word))
      diag_note(x->front->diags, e, before->span,
                "in column 1, `%s` begins a declaration of its own: inside braces it stands "
                "further right",
                word);
  }
  Token *last = last_token(x);
  Token t = {.kind = TK_SYMBOL, .span = {x->file, last->span.at + last->span.n, 0}};
  t.symbol[0] = closer_of(open.symbol);
  emit(x, t);
}

// Closes the brackets that a word in column 1 ends.
static void close_before_word(Lexer *x, const Token *word) {
  bool declaration = is_declaration_word(name_text(x->front->names, word->name));
  while (x->open.n && (declaration || innermost(x) != '{')) {
    if (innermost(x) == '{') x->orphans++;
    close_for_user(x, word);
  }
}

// Emits a token, and before it TK_LINE if a line break counts here.
static void add_token(Lexer *x, Token t, uint32_t from, bool spaced) {
  t.span = span_from(x, from);
  t.spaced = spaced;
  t.first = from == x->line_start;
  bool word = t.kind == TK_NAME || t.kind == TK_WORD;
  Token *last = last_token(x);
  if (word && t.first) {
    close_before_word(x, &t);
    emit_line(x);
  } else if (x->new_line && innermost(x) != '(' && innermost(x) != '[') {
    bool goes_on = (last && last->kind == TK_SYMBOL &&
                    is_one_of(last->symbol, line_goes_on_after, COUNT(line_goes_on_after))) ||
                   (t.kind == TK_SYMBOL &&
                    is_one_of(t.symbol, line_goes_on_before, COUNT(line_goes_on_before)));
    if (!goes_on) emit_line(x);
  }
  x->new_line = false;
  emit(x, t);
}

static void lex_opening(Lexer *x, Token t, uint32_t from, bool spaced) {
  add_token(x, t, from, spaced);
  vec_push(x->front->arena, &x->open, (OpenBracket){x->out.n - 1, t.symbol[0]});
  x->open_count[(int)t.symbol[0]]++;
}

static void lex_closing(Lexer *x, Token t, uint32_t from, bool spaced) {
  char open = t.symbol[0] == ')' ? '(' : t.symbol[0] == ']' ? '[' : '{';
  if (!x->open_count[(int)open]) {
    if (open == '{' && x->orphans) {
      x->orphans--;
      return;
    }
    if (x->open.n && innermost(x) != '{') { // `[x)`: the wrong kind of closing bracket
      OpenBracket wrong = x->open.at[--x->open.n];
      x->open_count[(int)wrong.symbol]--;
      Id e = diag_error(x->front->diags, span_from(x, from), "found `%c`, wanted `%c`", t.symbol[0],
                        closer_of(wrong.symbol));
      diag_note(x->front->diags, e, x->out.at[wrong.token].span, "to close this");
      t.symbol[0] = closer_of(wrong.symbol);
      add_token(x, t, from, spaced);
      emit(x, (Token){.kind = TK_SYMBOL,
                      .symbol = "?",
                      .span = {x->file, x->at, 0}}); // it is unknown which bracket is right
      return;
    }
    diag_error(x->front->diags, span_from(x, from), "`%c` closes nothing", t.symbol[0]);
    add_token(x, (Token){.kind = TK_SYMBOL, .symbol = "?"}, from, spaced);
    return;
  }
  while (innermost(x) != open) close_for_user(x, NULL);
  x->open.n--;
  x->open_count[(int)open]--;
  add_token(x, t, from, spaced);
}

static void add_symbol(Lexer *x, const char *symbol, uint32_t from, bool spaced) {
  Token t = {.kind = TK_SYMBOL};
  if (strlen(symbol) < sizeof t.symbol) memcpy(t.symbol, symbol, strlen(symbol));
  if (char_is_letter(*symbol) && is_reserved(symbol))
    t = (Token){.kind = TK_WORD, .name = name_from(x->front->names, symbol)};
  switch (t.symbol[0]) {
  case '(':
  case '[':
  case '{': lex_opening(x, t, from, spaced); break;
  case ')':
  case ']':
  case '}': lex_closing(x, t, from, spaced); break;
  default: add_token(x, t, from, spaced);
  }
}

// -- the kinds of token

// `use` is a keyword at the start of a line or before a string; elsewhere it is a name.
static bool uses_file(const Lexer *x, uint32_t from) {
  uint32_t at = x->at;
  while (at < x->n && (x->text[at] == ' ' || x->text[at] == '\t')) at++;
  return from == x->line_start || (at < x->n && x->text[at] == '"');
}

// Names repeat: each is compared with the words of the language once.
static bool is_word(Lexer *x, Name name) {
  while (x->word_of.n <= name) vec_push(x->front->arena, &x->word_of, 0);
  char *word = &x->word_of.at[name];
  if (!*word) *word = is_reserved(name_text(x->front->names, name)) ? 'w' : 'n';
  return *word == 'w';
}

// NAME = letter or "_" , { letter | digit | "_" }
static void lex_name(Lexer *x, bool spaced) {
  enum { LONGEST = 1000 };
  uint32_t from = x->at, n;
  while ((n = letter_length(x, x->at)) || (x->at < x->n && is_digit(x->text[x->at])))
    x->at += n ? n : 1;
  if (x->at - from > LONGEST)
    diag_error(x->front->diags, span_from(x, from),
               "this name has %u bytes; the longest may have %d", x->at - from, LONGEST);
  Name name = name_of(x->front->names, x->text + from, x->at - from);
  bool word = is_word(x, name);
  if (word && strcmp(name_text(x->front->names, name), "use") == 0) word = uses_file(x, from);
  add_token(x, (Token){.kind = word ? TK_WORD : TK_NAME, .name = name}, from, spaced);
}

static void skip_digits(Lexer *x) {
  while (x->at < x->n && is_digit(x->text[x->at])) x->at++;
}

// NUMBER = digits [ "." digits ] [ ("e"|"E") ["+"|"-"] digits ]
static void lex_number(Lexer *x, bool spaced) {
  uint32_t from = x->at;
  skip_digits(x);
  if (x->at + 1 < x->n && x->text[x->at] == '.' && is_digit(x->text[x->at + 1])) {
    x->at++;
    skip_digits(x);
  }
  if (x->at < x->n && (x->text[x->at] == 'e' || x->text[x->at] == 'E')) {
    uint32_t sign = x->at + 1 < x->n && (x->text[x->at + 1] == '+' || x->text[x->at + 1] == '-');
    if (x->at + 1 + sign < x->n && is_digit(x->text[x->at + 1 + sign])) {
      x->at += 1 + sign;
      skip_digits(x);
    }
  }
  Name text = name_of(x->front->names, x->text + from, x->at - from);
  double num = number_read(name_text(x->front->names, text), NULL);
  if (isinf(num)) diag_error(x->front->diags, span_from(x, from), "this number is too large");
  uint32_t letter = letter_length(x, x->at);
  if (letter)
    diag_error(x->front->diags, (Span){x->file, from, x->at + letter - from},
               "a number and a name need something between them: `*`, or a space between indices");
  add_token(x, (Token){.kind = TK_NUM, .num = num, .name = text}, from, spaced);
  if (letter) emit(x, (Token){.kind = TK_SYMBOL, .symbol = "*", .span = {x->file, x->at, 0}});
}

// STRING = '"' { char | "\" char } '"', on one line
static void lex_string(Lexer *x, bool spaced) {
  uint32_t from = x->at++;
  Buf text = buf_new(x->front->arena);
  while (x->at < x->n && x->text[x->at] != '"' && x->text[x->at] != '\n') {
    char c = x->text[x->at];
    uint32_t n = (uint32_t)character_length(x->text + x->at, x->n - x->at), here = x->at;
    x->at += n ? n : 1;
    if (!n || !c)
      diag_error(x->front->diags, span_from(x, here), "this byte is not allowed in a string");
    else if (c != '\\' || x->at >= x->n || x->text[x->at] == '\n')
      buf_add(&text, x->text + here, n);
    else {
      char escape = x->text[x->at++];
      if (escape == 'n' || escape == 't' || escape == '"' || escape == '\\')
        buf_char(&text, escape == 'n' ? '\n' : escape == 't' ? '\t' : escape);
      else
        diag_error(x->front->diags, span_from(x, here),
                   "unknown escape in a string: there are \\n \\t \\\" \\\\");
    }
  }
  if (x->at < x->n && x->text[x->at] == '"') {
    x->at++;
    add_token(x, (Token){.kind = TK_STR, .name = name_of(x->front->names, text.at, text.n)}, from,
              spaced);
    return;
  }
  diag_error(x->front->diags, span_from(x, from), "this string is never closed");
  add_token(x, (Token){.kind = TK_SYMBOL, .symbol = "?"}, from, spaced);
}

static bool starts_with(const Lexer *x, const char *text) {
  if (x->at >= x->n || x->text[x->at] != text[0]) return false;
  size_t n = strlen(text);
  return x->n - x->at >= n && memcmp(x->text + x->at, text, n) == 0;
}

static bool lex_foreign(Lexer *x, bool spaced) {
  uint32_t from = x->at;
  if (!x->begins_foreign[(unsigned char)x->text[from]]) return false;
  for (uint32_t i = 0; i < COUNT(foreign); i++) {
    if (x->text[from] != foreign[i].text[0] || !starts_with(x, foreign[i].text)) continue;
    x->at += (uint32_t)strcspn(foreign[i].text, " ");
    if (foreign[i].message)
      diag_error(x->front->diags, span_from(x, from), "%s", foreign[i].message);
    add_symbol(x, foreign[i].read_as, from, spaced);
    return true;
  }
  return false;
}

static bool lex_symbol(Lexer *x, bool spaced) {
  uint32_t from = x->at;
  if (lex_foreign(x, spaced)) return true;
  for (uint32_t i = x->symbols_at[(unsigned char)x->text[from]];
       i < COUNT(symbols) && symbols[i][0] == x->text[from]; i++) {
    if (!starts_with(x, symbols[i])) continue;
    x->at += (uint32_t)strlen(symbols[i]);
    add_symbol(x, symbols[i], from, spaced);
    return true;
  }
  return false;
}

// A string in curly quotes: reported once and read as a string.
static bool lex_curly_string(Lexer *x, bool spaced) {
  uint32_t from = x->at, n = 3;
  if (!starts_with(x, "\u201c")) return false;
  for (x->at += n; x->at < x->n && x->text[x->at] != '\n'; x->at++) {
    if (!starts_with(x, "\u201d") && !starts_with(x, "\"")) continue;
    Name text = name_of(x->front->names, x->text + from + n, x->at - from - n);
    x->at += x->text[x->at] == '"' ? 1 : n;
    diag_error(x->front->diags, span_from(x, from),
               "found curly quotes: text goes in straight ones, `\"`");
    add_token(x, (Token){.kind = TK_STR, .name = text}, from, spaced);
    return true;
  }
  x->at = from;
  return false;
}

// Reports a run of unknown characters once.
static void lex_unknown(Lexer *x, bool spaced) {
  uint32_t from = x->at, n = (uint32_t)character_length(x->text + from, x->n - from);
  const char *hint = n ? lookalike_hint(x->text + from, n) : NULL;
  x->at += n ? n : 1;
  Token *last = last_token(x);
  if (last && last->symbol[0] == '?' && last->span.at + last->span.n == from) {
    last->span.n += x->at - from;
    return;
  }
  Diags *d = x->front->diags;
  unsigned char c = (unsigned char)x->text[from];
  if (x->unknown++ >= ENOUGH)
    n = 0;
  else if (!n)
    diag_error(d, span_from(x, from), "this byte (%02X) is not text: a file is UTF-8", c);
  else if (c < ' ' || c == 127 || (is_strange(x->text + from, n) && !hint))
    diag_error(d, span_from(x, from), "unknown character, an invisible one");
  else {
    Id id = diag_error(d, span_from(x, from), "unknown character `%.*s`", (int)n, x->text + from);
    if (hint) diag_help(d, id, "%s", hint);
  }
  add_token(x, (Token){.kind = TK_SYMBOL, .symbol = "?"}, from, spaced);
}

// Skips white space and comments; true if there were any.
static bool skip_space(Lexer *x) {
  uint32_t from = x->at;
  for (; x->at < x->n; x->at++) {
    char c = x->text[x->at];
    if (c == '#')
      while (x->at + 1 < x->n && x->text[x->at + 1] != '\n') x->at++;
    else if (c == '\n')
      x->new_line = true, x->line_start = x->at + 1;
    else if (c != ' ' && c != '\t' && c != '\r')
      break;
  }
  return x->at > from;
}

Tokens lex(const Front *front, uint32_t file) {
  const Source *source = &front->sources->file.at[file];
  Lexer x = {.front = front, .text = source->text, .n = source->n, .file = file};
  if (starts_with(&x, "\xEF\xBB\xBF")) x.at = x.line_start = 3;
  for (uint32_t i = 0; i < COUNT(foreign); i++)
    x.begins_foreign[(unsigned char)foreign[i].text[0]] = true;
  memset(x.symbols_at, COUNT(symbols), sizeof x.symbols_at);
  for (uint8_t i = COUNT(symbols); i-- > 0;) x.symbols_at[(unsigned char)symbols[i][0]] = i;
  x.out.cap = x.n / 4 + 16; // fewer are rare: without copies of the list as it grows
  x.out.at = NEW_ARRAY(front->arena, Token, x.out.cap);
  ErrorLimit limit = error_limit(front);
  for (;;) {
    bool spaced = skip_space(&x);
    if (x.at >= x.n) break;
    mute_after_many(front, &limit);
    char c = x.text[x.at];
    if (letter_length(&x, x.at))
      lex_name(&x, spaced);
    else if (is_digit(c))
      lex_number(&x, spaced);
    else if (c == '"')
      lex_string(&x, spaced);
    else if (!lex_symbol(&x, spaced) && !lex_curly_string(&x, spaced))
      lex_unknown(&x, spaced);
  }
  while (x.open.n) close_for_user(&x, NULL);
  unmute(front, &limit);
  emit_line(&x);
  emit(&x, (Token){.kind = TK_END, .spaced = true, .span = {file, x.n, 0}});
  return (Tokens){x.out.at, x.out.n};
}
