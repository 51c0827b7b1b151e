// words.h: words in a text. A word consists of letters, digits, _ and bytes that are not ASCII.
#ifndef LIMN_BASE_WORDS_H
#define LIMN_BASE_WORDS_H

#include "base/base.h"

// Does the text, which may be NULL, contain this word as a whole? A list of words is such a text.
bool text_has_word(const char *text, const char *word);
bool text_has_part(const char *text, const char *word, size_t n); // n: the length of the word

#endif
