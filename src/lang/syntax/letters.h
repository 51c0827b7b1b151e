// Which characters may form a name; for code that makes names.
#ifndef LIMN_LANG_SYNTAX_LETTERS_H
#define LIMN_LANG_SYNTAX_LETTERS_H

#include "base/base.h"

// The length in bytes of the letter at the start of `text` (`_` is a letter), or 0.
uint32_t letter_bytes(const char *text, size_t n);

#endif
