// Private to edit: the syntactic context of the cursor, for completion and signatures.
#ifndef LIMN_EDIT_CONTEXT_H
#define LIMN_EDIT_CONTEXT_H

#include "edit/edit_own.h"

typedef struct {
  uint32_t at, word;  // offset of the cursor; offset at which the word under it begins
  const char *prefix; // the part of that word before the cursor
  uint32_t begin;     // offset of the enclosing declaration
  const char *first;  // the declaration's first word, or NULL
  bool no_code;       // the cursor is in a comment or a string
  Tokens token;       // the tokens of the declaration before the word
  Names *names;
  char open;         // the innermost open bracket: ( [ { or 0
  const char *owner; // what the bracket belongs to: f for f( and for f[3](; NULL: nothing
  uint32_t commas;   // commas in that bracket before the cursor
} TypingContext;
TypingContext context_at(Arena *, const EditText *, uint32_t at);
// Back = 0: the last token before the word; 1: the token before that …
const char *context_before(const TypingContext *, uint32_t back);

#endif
