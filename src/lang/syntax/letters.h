// letters: what a name may be made of, for who makes names.
#ifndef LIMN_LANG_SYNTAX_LETTERS_H
#define LIMN_LANG_SYNTAX_LETTERS_H

#include "base/base.h"

// How many bytes the letter has that a text begins with, `_` being one; 0: it begins with none.
uint32_t letter_bytes(const char *text, size_t n);

#endif
