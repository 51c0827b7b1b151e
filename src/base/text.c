// Escaping of untrusted text for terminals, logs and messages.
//
// Programs, tables and names of files may contain any bytes. Bytes of characters that move the
// cursor, ring, colour, change the writing direction or end a line are written as \x1b, and so is
// invalid UTF-8. All other characters stay.
#include "base/base.h"

size_t character_write(uint32_t c, char to[4]) {
  if (c < 0x80) return to[0] = (char)c, 1;
  size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (size_t i = n; --i > 0; c >>= 6) to[i] = (char)(0x80 | (c & 0x3f));
  to[0] = (char)((0xf00u >> n & 0xff) | c);
  return n;
}

size_t character_length(const char *text, size_t n) {
  const unsigned char *p = (const unsigned char *)text;
  if (!n) return 0;
  if (p[0] < 0x80) return 1;
  size_t length = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
  if (p[0] < 0xC2 || p[0] > 0xF4 || length > n) return 0;
  for (size_t i = 1; i < length; i++)
    if ((p[i] & 0xC0) != 0x80) return 0;
  if (p[0] == 0xE0 && p[1] < 0xA0) return 0; // an overlong encoding
  if (p[0] == 0xED && p[1] > 0x9F) return 0; // a surrogate
  if (p[0] == 0xF0 && p[1] < 0x90) return 0;
  if (p[0] == 0xF4 && p[1] > 0x8F) return 0; // above U+10FFFF
  return length;
}

// C0 and C1 controls, direction marks, Unicode line and paragraph separators, zero-width
// characters, tags.
static bool is_unseen(const unsigned char *p, size_t length) {
  if (length == 1) return p[0] < 0x20 || p[0] == 0x7F;
  if (length == 2) return (p[0] == 0xC2 && p[1] < 0xA0) || (p[0] == 0xD8 && p[1] == 0x9C);
  if (length == 4) return p[0] == 0xF3 && p[1] == 0xA0 && p[2] < 0x82;
  if (p[0] == 0xEF)
    return (p[1] == 0xBB && p[2] == 0xBF) || (p[1] == 0xBF && p[2] >= 0xB9 && p[2] <= 0xBB);
  if (p[0] != 0xE2) return false;
  return (p[1] == 0x80 && ((p[2] >= 0x8B && p[2] <= 0x8F) || (p[2] >= 0xA8 && p[2] <= 0xAE))) ||
         (p[1] == 0x81 && p[2] >= 0xA0 && p[2] <= 0xAF);
}

size_t printable_length(const char *text, size_t n) {
  size_t length = character_length(text, n);
  return length && !is_unseen((const unsigned char *)text, length) ? length : 0;
}

void buf_escaped(Buf *b, const char *text, size_t n) {
  for (size_t at = 0, length; at < n; at += length) {
    length = printable_length(text + at, n - at);
    if (length)
      buf_add(b, text + at, length);
    else
      buf_printf(b, "\\x%02x", (unsigned char)text[at]), length = 1;
  }
}
