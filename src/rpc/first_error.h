// first_error: why a call of the library failed, as the text of a refusal.
//
// In a header, since the language server is inside of the library and the studio is not.
#ifndef LIMN_RPC_FIRST_ERROR_H
#define LIMN_RPC_FIRST_ERROR_H

#include "limn.h"

// NULL stands for exhausted memory.
static inline const char *first_error(Limn *l) {
  LimnMessage m = {.size = sizeof m};
  for (uint32_t i = 0; l && i < limn_message_count(l); i++)
    if (limn_message(l, i, &m) == LIMN_GOOD && m.severity == LIMN_ERROR) return m.text;
  return "memory is exhausted";
}

#endif
