// Growing texts, and printf without the locale.
#include "base/base.h"
#include "base/number.h"

Buf buf_new(Arena *a) {
  Buf b = {.arena = a, .cap = 32};
  b.at = arena_alloc(a, b.cap);
  return b;
}

static void buf_reserve(Buf *b, size_t more) {
  if (b->n + more + 1 <= b->cap) return;
  size_t cap = b->cap * 2 > b->n + more + 1 ? b->cap * 2 : b->n + more + 1;
  char *at = arena_alloc(b->arena, cap);
  memcpy(at, b->at, b->n);
  b->at = at;
  b->cap = cap;
}

void buf_add(Buf *b, const char *text, size_t n) {
  buf_reserve(b, n);
  if (n) memcpy(b->at + b->n, text, n);
  b->n += n;
  b->at[b->n] = 0;
}

void buf_text(Buf *b, const char *text) { buf_add(b, text, strlen(text)); }
void buf_char(Buf *b, char c) { buf_add(b, &c, 1); }

// -- formats --------------------------------------------------------------------------------------
// Each conversion is passed to printf alone; floating-point numbers go to number_format.
typedef struct {
  char flags[6];
  int width, precision; // -1: none
  char length[3];       // "", "l", "ll", "z" …
  char as;
} Conversion;

// Parses a conversion such as "-5.3lld" after the %; returns its end.
static const char *read_conversion(const char *at, Conversion *c, va_list *args) {
  *c = (Conversion){.width = -1, .precision = -1};
  for (size_t n = 0; *at && strchr("-+ #0", *at); at++)
    if (n + 1 < sizeof c->flags) c->flags[n++] = *at;
  if (*at == '*') c->width = va_arg(*args, int), at++;
  for (; *at >= '0' && *at <= '9'; at++)
    c->width = (c->width < 0 ? 0 : c->width) * 10 + (*at - '0');
  if (*at == '.') {
    c->precision = 0;
    if (*++at == '*') c->precision = va_arg(*args, int), at++;
    for (; *at >= '0' && *at <= '9'; at++) c->precision = c->precision * 10 + (*at - '0');
  }
  for (size_t n = 0; *at && strchr("hlzjt", *at); at++)
    if (n + 1 < sizeof c->length) c->length[n++] = *at;
  c->as = *at;
  return at + (*at != 0);
}

static void put_padded(Buf *b, const Conversion *c, const char *text, size_t n) {
  size_t width = c->width > 0 ? (size_t)c->width : 0;
  bool left = strchr(c->flags, '-') != NULL;
  for (size_t i = n; i < width && !left; i++) buf_char(b, ' ');
  buf_add(b, text, n);
  for (size_t i = n; i < width && left; i++) buf_char(b, ' ');
}

static void put_real(Buf *b, const Conversion *c, double x) {
  char room[512]; // enough for 1e308 with 17 decimals
  char flags[6] = "";
  for (size_t i = 0, n = 0; c->flags[i]; i++)
    if (c->flags[i] != '-') flags[n++] = c->flags[i];
  put_padded(b, c, room, number_format(room, sizeof room, flags, c->precision, c->as, x));
}

static void put_text(Buf *b, const Conversion *c, const char *text) {
  size_t most = c->precision < 0 ? SIZE_MAX : (size_t)c->precision;
  const char *end = most == SIZE_MAX ? NULL : memchr(text, 0, most);
  put_padded(b, c, text, end ? (size_t)(end - text) : most == SIZE_MAX ? strlen(text) : most);
}

static long long next_signed(const Conversion *c, va_list *args) {
  if (strcmp(c->length, "ll") == 0) return va_arg(*args, long long);
  if (c->length[0] == 'l') return va_arg(*args, long);
  if (c->length[0] == 'z' || c->length[0] == 't') return va_arg(*args, ptrdiff_t);
  if (c->length[0] == 'j') return va_arg(*args, intmax_t);
  return va_arg(*args, int);
}

static unsigned long long next_unsigned(const Conversion *c, va_list *args) {
  if (strcmp(c->length, "ll") == 0) return va_arg(*args, unsigned long long);
  if (c->length[0] == 'l') return va_arg(*args, unsigned long);
  if (c->length[0] == 'z' || c->length[0] == 't') return va_arg(*args, size_t);
  if (c->length[0] == 'j') return va_arg(*args, uintmax_t);
  return va_arg(*args, unsigned);
}

// An integer, formatted by snprintf with the conversion's flags, width and precision.
static void put_whole(Buf *b, const Conversion *c, va_list *args) {
  char room[80], format[16];
  int width = c->width < 0 ? 0 : c->width < 64 ? c->width : 64;
  bool is_signed = c->as == 'd' || c->as == 'i';
  snprintf(format, sizeof format, "%%%s*.*ll%c", c->flags, c->as);
  int n = is_signed
              ? snprintf(room, sizeof room, format, width, c->precision, next_signed(c, args))
              : snprintf(room, sizeof room, format, width, c->precision, next_unsigned(c, args));
  if (n > 0) buf_add(b, room, (size_t)n < sizeof room ? (size_t)n : sizeof room - 1);
}

static void put_conversion(Buf *b, const Conversion *c, va_list *args) {
  char one[2] = {0};
  switch (c->as) {
  case 'd':
  case 'i':
  case 'u':
  case 'x':
  case 'X':
  case 'o': put_whole(b, c, args); return;
  case 'a':
  case 'e':
  case 'f':
  case 'g': put_real(b, c, va_arg(*args, double)); return;
  case 'p': buf_printf(b, "0x%llx", (unsigned long long)(uintptr_t)va_arg(*args, void *)); return;
  case 's': put_text(b, c, va_arg(*args, const char *)); return;
  case 'c':
    one[0] = (char)va_arg(*args, int);
    put_padded(b, c, one, 1);
    return;
  default: buf_char(b, c->as); // %%
  }
}

void buf_vprintf(Buf *b, const char *format, va_list args) {
  va_list rest;
  va_copy(rest, args);
  while (*format) {
    size_t plain = strcspn(format, "%");
    buf_add(b, format, plain);
    format += plain;
    if (!*format) break;
    Conversion c;
    format = read_conversion(format + 1, &c, &rest);
    put_conversion(b, &c, &rest);
  }
  va_end(rest);
}

void buf_printf(Buf *b, const char *format, ...) {
  va_list args;
  va_start(args, format);
  buf_vprintf(b, format, args);
  va_end(args);
}

void buf_number(Buf *b, double x) {
  char text[NUMBER_ROOM];
  buf_add(b, text, number_print(text, x));
}

void buf_indices(Buf *b, uint32_t rank, const int64_t *shape, int64_t element) {
  int64_t below = 1;
  for (uint32_t i = 0; i < rank; i++) below *= shape[i] > 0 ? shape[i] : 1;
  for (uint32_t i = 0; i < rank; i++) {
    below /= shape[i] > 0 ? shape[i] : 1;
    buf_printf(b, "%s%lld", i ? " " : "[", (long long)(element / below));
    element %= below;
  }
  if (rank) buf_char(b, ']');
}

bool text_ends(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

// Writes the first character as a JSON escape, \u and four hexadecimal digits, so that a terminal does not interpret it; invalid UTF-8
// becomes U+FFFD. Returns the number of bytes read.
static size_t json_escape(Buf *b, const char *text, size_t n) {
  const unsigned char *p = (const unsigned char *)text;
  size_t length = character_length(text, n);
  uint32_t rune = p[0];
  if (length > 1) rune &= 0xFFu >> (length + 1);
  for (size_t i = 1; i < length; i++) rune = rune << 6 | (p[i] & 0x3F);
  if (rune == '\n')
    buf_text(b, "\\n");
  else if (!length)
    buf_text(b, "\\ufffd");
  else if (rune > 0xFFFF)
    buf_printf(b, "\\u%04x\\u%04x", 0xD7C0 + (rune >> 10), 0xDC00 + (rune & 0x3FF));
  else
    buf_printf(b, "\\u%04x", rune);
  return length ? length : 1;
}

void buf_json(Buf *b, const char *text, size_t n) {
  buf_char(b, '"');
  for (size_t i = 0, length; i < n; i += length) {
    length = printable_length(text + i, n - i);
    if (length == 1 && (text[i] == '"' || text[i] == '\\')) buf_char(b, '\\');
    if (length)
      buf_add(b, text + i, length);
    else
      length = json_escape(b, text + i, n - i);
  }
  buf_char(b, '"');
}
