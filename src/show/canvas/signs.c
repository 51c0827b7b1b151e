// Names of characters in TeX's math mode and in ASCII. signs.def is sorted by code point;
// mathematical alphanumeric symbols are mapped by rule.
#include "show/canvas/marks.h"

#include <stdlib.h>

typedef struct {
  uint32_t rune;
  const char *tex, *ascii;
} Sign;

static const Sign signs[] = {
#define SIGN(rune, tex, ascii) {rune, tex, ascii},
#include "show/canvas/signs.def"
#undef SIGN
};

static const Sign *sign_find(uint32_t rune) {
  return bsearch(&rune, signs, COUNT(signs), sizeof *signs, by_rune);
}

// The plain letter of a mathematical alphanumeric symbol, and TeX's alphabet for it; 0: none
static uint32_t letter_of(uint32_t rune, const char **alphabet) {
  static const struct {
    uint32_t first;
    const char *alphabet;
  } rows[] = {{0x1d400, "\\mathbf"},  {0x1d434, "\\mathit"},   {0x1d468, "\\mathbf"},
              {0x1d49c, "\\mathcal"}, {0x1d4d0, "\\mathcal"},  {0x1d504, "\\mathfrak"},
              {0x1d538, "\\mathbb"},  {0x1d56c, "\\mathfrak"}, {0x1d5a0, "\\mathsf"},
              {0x1d5d4, "\\mathsf"},  {0x1d608, "\\mathsf"},   {0x1d63c, "\\mathsf"},
              {0x1d670, "\\mathtt"}};
  for (uint32_t i = 0; i < COUNT(rows); i++) {
    uint32_t k = rune - rows[i].first;
    if (k >= 52) continue;
    *alphabet = rows[i].alphabet;
    return k < 26 ? 'A' + k : 'a' + k - 26;
  }
  return 0;
}

bool sign_tex(Buf *b, uint32_t rune) {
  const Sign *s = sign_find(rune);
  const char *alphabet;
  uint32_t letter = s ? 0 : letter_of(rune, &alphabet);
  if (s) buf_printf(b, "\\ensuremath{%s}", s->tex);
  if (letter) buf_printf(b, "\\ensuremath{%s{%c}}", alphabet, (char)letter);
  return s || letter;
}

void sign_ascii(Buf *b, uint32_t rune) {
  const Sign *s = sign_find(rune);
  const char *alphabet;
  uint32_t letter = letter_of(rune, &alphabet);
  if (s)
    buf_text(b, s->ascii);
  else
    buf_char(b, rune < 0x7f ? (char)rune : letter ? (char)letter : '?');
}
