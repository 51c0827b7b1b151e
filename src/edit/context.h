// Private to edit: what surrounds the place where somebody types.
#ifndef LIMN_EDIT_CONTEXT_H
#define LIMN_EDIT_CONTEXT_H

#include "edit/edit_own.h"

typedef struct {
  uint32_t at, word;  // the place; where the word begins that is being typed there
  const char *prefix; // what is there of it
  uint32_t begin;     // of the declaration
  const char *first;  // its first word, or NULL
  bool no_code;       // in a comment, or in quotes
  Tokens token;       // before the word
  Names *names;
  char open;         // the bracket around it: ( [ { or 0
  const char *owner; // f of f( and of f[3](; NULL: none
  uint32_t owner_at;
  uint32_t commas; // before it in that bracket
} TypingContext;
TypingContext context_at(Arena *, const EditText *, uint32_t at);
const char *context_before(const TypingContext *,
                           uint32_t back); // the last token, the one before it …

#endif
