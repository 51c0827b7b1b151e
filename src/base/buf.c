// Text under construction.
#include "base.h"

#include <math.h>
#include <stdlib.h>

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

void buf_vprintf(Buf *b, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, args);
  if (n > 0) {
    buf_reserve(b, (size_t)n);
    vsnprintf(b->at + b->n, (size_t)n + 1, format, again);
    b->n += (size_t)n;
  }
  va_end(again);
}

void buf_printf(Buf *b, const char *format, ...) {
  va_list args;
  va_start(args, format);
  buf_vprintf(b, format, args);
  va_end(args);
}

void buf_number(Buf *b, double x) {
  char text[40];
  if (isnan(x)) {
    buf_text(b, "nan");
    return;
  }
  if (isinf(x)) {
    buf_text(b, x > 0 ? "inf" : "-inf");
    return;
  }
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, x);
    if (strtod(text, NULL) == x) break;
  }
  if (fabs(x) < 1e15 && x == floor(x)) snprintf(text, sizeof text, "%.0f", x);
  buf_text(b, text);
}

void buf_json(Buf *b, const char *text, size_t n) {
  buf_char(b, '"');
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c == '"' || c == '\\') {
      buf_char(b, '\\');
      buf_char(b, (char)c);
    } else if (c == '\n') {
      buf_text(b, "\\n");
    } else if (c < 0x20) {
      buf_printf(b, "\\u%04x", c);
    } else {
      buf_char(b, (char)c);
    }
  }
  buf_char(b, '"');
}
