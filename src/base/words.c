// Words in a text, by strchr from one possible beginning to the next.
#include "base/words.h"

static bool is_part(char c) { return char_is_word(c) || c == '_' || (unsigned char)c >= 0x80; }

bool text_has_part(const char *text, const char *word, size_t n) {
  for (const char *at = text; n && at && (at = strchr(at, *word)); at++)
    if ((at == text || !is_part(at[-1])) && !strncmp(at, word, n) && !is_part(at[n])) return true;
  return false;
}

bool text_has_word(const char *text, const char *word) {
  return text_has_part(text, word, strlen(word));
}
