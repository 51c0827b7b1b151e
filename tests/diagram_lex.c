// The words of the text form, and the sizes written with them.
//
// A token is read when the one before it is eaten; there is one token of sight, and what needs
// more copies the Text, which is small. Words are slices of the source, except quoted ones with
// escapes. After the first error every token is the end, so that all loops over tokens come to rest
// and nothing is reported twice.
#include "base/diag.h"
#include "base/names.h"
#include "base/number.h"
#include "base/table.h"
#include "diagram_text.h"

#include <math.h>
#include <stdlib.h>

enum { DEPTH_LIMIT = 200 };

void text_error(DiagramText *t, const char *format, ...) {
  if (t->failed) return;
  t->failed = true;
  if (!t->quiet) {
    Buf b = buf_new(t->w->arena);
    va_list args;
    va_start(args, format);
    buf_vprintf(&b, format, args);
    va_end(args);
    diag_error(t->w->diags, t->tok.span, "%s", b.at);
  }
  t->tok.kind = T_END;
}

bool text_deeper(DiagramText *t) {
  if (++t->depth <= DEPTH_LIMIT) return true;
  text_error(t, "this is nested too deeply");
  return false;
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static char peek(const DiagramText *t, uint32_t ahead) {
  return t->at < t->n && t->n - t->at > ahead ? t->text[t->at + ahead] : 0;
}

// -- tokens ---------------------------------------------------------------------------------------
static void skip_space(DiagramText *t) {
  uint32_t before = t->at;
  for (; t->at < t->n; t->at++) {
    char c = t->text[t->at];
    if (c == '@')
      while (t->at + 1 < t->n && t->text[t->at + 1] != '\n') t->at++;
    else if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
      break;
  }
  t->tok.spaced = t->at > before;
}

static uint64_t lex_digits(DiagramText *t, bool *fits) {
  uint64_t x = 0;
  *fits = true;
  for (; is_digit(peek(t, 0)); t->at++)
    if (__builtin_mul_overflow(x, (uint64_t)10, &x) ||
        __builtin_add_overflow(x, (uint64_t)(peek(t, 0) - '0'), &x))
      *fits = false;
  return x;
}

static int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

static void lex_hex(DiagramText *t) {
  uint32_t digits = 0;
  t->at += 2;
  for (; hex_digit(peek(t, 0)) >= 0; t->at++, digits++)
    t->tok.whole = t->tok.whole << 4 | (uint64_t)hex_digit(peek(t, 0));
  t->tok.number = (double)t->tok.whole;
  t->tok.is_whole = true;
  if (!digits || digits > 16) text_error(t, "this is not a 64-bit number");
}

static void lex_number(DiagramText *t) {
  uint32_t first = t->at;
  t->tok.kind = T_NUMBER;
  if (peek(t, 0) == '0' && peek(t, 1) == 'x') {
    lex_hex(t);
    return;
  }
  t->tok.whole = lex_digits(t, &t->tok.is_whole);
  bool fits;
  if (peek(t, 0) == '.' && is_digit(peek(t, 1)))
    t->at++, lex_digits(t, &fits), t->tok.is_whole = false;
  uint32_t sign = peek(t, 1) == '-' || peek(t, 1) == '+';
  if ((peek(t, 0) == 'e' || peek(t, 0) == 'E') && is_digit(peek(t, 1 + sign)))
    t->at += 1 + sign, lex_digits(t, &fits), t->tok.is_whole = false;
  t->tok.number = number_read(arena_text(t->arena, t->text + first, t->at - first), NULL);
}

static void add_utf8(Buf *b, uint32_t code) {
  uint32_t more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static const uint32_t lead[] = {0, 0xC0, 0xE0, 0xF0};
  buf_char(b, (char)(lead[more] | code >> 6 * more));
  while (more-- > 0) buf_char(b, (char)(0x80 | (code >> 6 * more & 63)));
}

static uint32_t lex_four(DiagramText *t) { // up to four hex digits
  uint32_t code = 0;
  for (int i = 0; i < 4; i++) {
    int digit = hex_digit(peek(t, 0));
    if (digit >= 0) code = code << 4 | (uint32_t)digit, t->at++;
  }
  return code;
}

// A character by its number; one beyond 0xFFFF is written as two halves.
static void lex_rune(DiagramText *t, Buf *b) {
  uint32_t code = lex_four(t);
  if (code >= 0xD800 && code < 0xDC00 && peek(t, 0) == '\\' && peek(t, 1) == 'u') {
    t->at += 2;
    uint32_t low = lex_four(t);
    if (low >= 0xDC00 && low < 0xE000) code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  if (code && (code < 0xD800 || code > 0xDFFF))
    add_utf8(b, code);
  else
    text_error(t, "a name cannot hold this character");
}

static void lex_escape(DiagramText *t, Buf *b) {
  char c = peek(t, 0);
  t->at++;
  if (c == 'n')
    buf_char(b, '\n');
  else if (c == 'u')
    lex_rune(t, b);
  else if (c == '"' || c == '\\')
    buf_char(b, c);
  else
    text_error(t, "unknown escape after \\");
}

// A name is UTF-8, as all that limn reads: other bytes cannot be printed so that they read back.
static void lex_quoted(DiagramText *t) {
  Buf b = buf_new(t->arena);
  t->at++;
  t->tok.kind = T_NAME;
  t->tok.quoted = true;
  while (!t->failed && t->at < t->n && peek(t, 0) != '"') {
    const char *from = t->text + t->at;
    size_t length = *from ? character_length(from, t->n - t->at) : 0;
    t->at += length ? (uint32_t)length : 1;
    if (*from == '\\')
      lex_escape(t, &b);
    else if (length)
      buf_add(&b, from, length);
    else
      text_error(t, "a name cannot hold this character");
  }
  if (peek(t, 0) == '"')
    t->at++;
  else
    text_error(t, "this \" is not closed");
  t->tok.at = b.at;
  t->tok.n = (uint32_t)b.n;
}

static void lex_word(DiagramText *t) {
  uint32_t first = t->at;
  t->tok.kind = T_NAME;
  if (peek(t, 0) == '%') {
    t->at++;
    t->tok.at = "";
    return;
  }
  while (is_letter(peek(t, 0)) || is_digit(peek(t, 0)) || peek(t, 0) == '\'') t->at++;
  t->tok.at = t->text + first;
  t->tok.n = t->at - first;
}

static void lex_suffix(DiagramText *t) {
  bool fits;
  if (t->failed || peek(t, 0) != '.' || !is_digit(peek(t, 1))) return;
  t->at++;
  uint64_t k = lex_digits(t, &fits);
  if (!fits || k > UINT32_MAX) text_error(t, "this number is too large");
  t->tok.suffix = (uint32_t)k;
}

static void lex_symbol(DiagramText *t) {
  static const struct {
    char text[3], symbol;
  } pair[] = {{"//", SYM_FLOOR}, {"<=", SYM_LE},   {">=", SYM_GE},
              {"!=", SYM_NE},    {":=", SYM_BIND}, {"==", '='}};
  char c = peek(t, 0);
  t->tok.kind = T_SYMBOL;
  t->tok.symbol = c;
  for (uint32_t i = 0; i < COUNT(pair); i++)
    if (c == pair[i].text[0] && peek(t, 1) == pair[i].text[1]) {
      t->tok.symbol = pair[i].symbol;
      t->at += 2;
      return;
    }
  t->at++;
  if (!strchr("()[]{},;:=+-*/^<>~?", c) || !c) text_error(t, "this character has no meaning here");
}

void text_next(DiagramText *t) {
  if (t->failed) return;
  t->tok = (Tok){0};
  skip_space(t);
  uint32_t first = t->at;
  char c = peek(t, 0);
  t->tok.span = (Span){t->file, first, 1};
  if (t->at >= t->n) {
    t->tok.span.n = 0;
  } else if (is_digit(c)) {
    lex_number(t);
  } else if (c == '$') {
    t->at++;
    t->tok.kind = T_OPERAND;
    t->tok.whole = lex_digits(t, &t->tok.is_whole);
    if (t->at == first + 1 || !t->tok.is_whole)
      text_error(t, "$ is followed by the number of an operand");
  } else if (c == '"' || c == '%' || is_letter(c)) {
    if (c == '"')
      lex_quoted(t);
    else
      lex_word(t);
    lex_suffix(t);
  } else {
    lex_symbol(t);
  }
  t->tok.span.n = t->at - first;
}

void text_start(DiagramText *t) {
  t->at = 0;
  text_next(t);
}

// -- looking and eating ---------------------------------------------------------------------------
bool is_symbol(const DiagramText *t, char symbol) {
  return t->tok.kind == T_SYMBOL && t->tok.symbol == symbol;
}

bool is_word(const DiagramText *t, const char *word) {
  return t->tok.kind == T_NAME && !t->tok.quoted && !t->tok.suffix && t->tok.n == strlen(word) &&
         memcmp(t->tok.at, word, t->tok.n) == 0;
}

bool take_symbol(DiagramText *t, char symbol) {
  bool here = is_symbol(t, symbol);
  if (here) text_next(t);
  return here;
}

bool take_word(DiagramText *t, const char *word) {
  bool here = is_word(t, word);
  if (here) text_next(t);
  return here;
}

void want_symbol(DiagramText *t, char symbol) {
  const char *text = symbol == SYM_BIND ? ":=" : (char[]){symbol, 0};
  if (!take_symbol(t, symbol)) text_error(t, "a `%s` is wanted here", text);
}

void want_word(DiagramText *t, const char *word) {
  if (!take_word(t, word)) text_error(t, "`%s` is wanted here", word);
}

Name tok_name(const DiagramText *t) {
  return t->tok.n ? name_of(t->w->names, t->tok.at, t->tok.n) : 0;
}

const char *tok_key(const DiagramText *t, size_t *n) {
  uint32_t suffix = t->tok.suffix > 1 ? t->tok.suffix : 1;
  char *key = arena_alloc(t->arena, t->tok.n + sizeof suffix);
  if (t->tok.n) memcpy(key, t->tok.at, t->tok.n);
  memcpy(key + t->tok.n, &suffix, sizeof suffix);
  *n = t->tok.n + sizeof suffix;
  return key;
}

// -- sizes ----------------------------------------------------------------------------------------
static Size size_sum(DiagramText *t, bool glued);

static bool take_operator(DiagramText *t, char symbol, bool glued) {
  if (glued && t->tok.spaced) return false;
  return take_symbol(t, symbol);
}

static Size size_or_error(DiagramText *t, Size s) {
  if (!s) text_error(t, "this divides by zero");
  return s ? s : size_of(t->w, 1);
}

static Size size_name(DiagramText *t) {
  size_t n;
  const char *key = tok_key(t, &n);
  Size s = t->var ? table_get(t->var, key, n) : 0;
  if (is_word(t, "huge")) s = size_fraction(t->w, 1, 0);
  if (!s) text_error(t, "there is no size `%.*s`", (int)t->tok.n, t->tok.at);
  text_next(t);
  return s ? s : size_of(t->w, 1);
}

static Size size_primary(DiagramText *t) {
  Size s = 0;
  if (t->tok.kind == T_NAME) return size_name(t);
  if (t->tok.kind == T_NUMBER && t->tok.is_whole && t->tok.whole <= INT64_MAX) {
    s = size_of(t->w, (int64_t)t->tok.whole);
    text_next(t);
  } else if (take_symbol(t, '(')) {
    s = size_sum(t, false);
    want_symbol(t, ')');
  } else {
    text_error(t, "a size is wanted here");
  }
  return s ? s : size_of(t->w, 1);
}

static Size size_with_power(DiagramText *t, bool glued) {
  Size s = size_primary(t);
  while (take_operator(t, '^', glued)) s = size_or_error(t, size_power(t->w, s, size_primary(t)));
  return s;
}

static Size size_product(DiagramText *t, bool glued) {
  Size s = size_with_power(t, glued);
  for (;;) {
    if (take_operator(t, '*', glued))
      s = size_mul(t->w, s, size_with_power(t, glued));
    else if (take_operator(t, '/', glued))
      s = size_or_error(t, size_quotient(t->w, s, size_with_power(t, glued)));
    else if (take_operator(t, SYM_FLOOR, glued))
      s = size_or_error(t, size_floor(t->w, s, size_with_power(t, glued)));
    else
      return s;
  }
}

static Size size_sum(DiagramText *t, bool glued) {
  if (!text_deeper(t)) return size_of(t->w, 1);
  bool minus = take_symbol(t, '-');
  Size s = size_product(t, glued);
  if (minus) s = size_sub(t->w, size_of(t->w, 0), s);
  for (;;) {
    if (take_operator(t, '+', glued))
      s = size_add(t->w, s, size_product(t, glued));
    else if (take_operator(t, '-', glued))
      s = size_sub(t->w, s, size_product(t, glued));
    else
      break;
  }
  t->depth--;
  return s;
}

Size read_size(DiagramText *t, bool glued) { return size_sum(t, glued); }
