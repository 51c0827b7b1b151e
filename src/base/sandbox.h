// sandbox: what this process may still do, given away for good.
//
//   SandboxRules r = {.read = list, .write = other};
//   const char *error = sandbox_enter(a, &r);
//
// From then on this thread, those it makes and the programs it starts can open only what the rules
// name, with the folders that the C compiler needs; there is no network, nobody else's memory can be
// looked at, nothing is mounted. There is no way back. On Linux, for x86-64 and aarch64.
#ifndef LIMN_BASE_SANDBOX_H
#define LIMN_BASE_SANDBOX_H

#include "base/base.h"

typedef struct {
  const char *const *read;  // files, and folders with all that is in them; ended by NULL, or NULL
  const char *const *write; // folders that may be read and written in; ended by NULL, or NULL
  const char *compiler;     // its installation is readable, wherever that is; NULL: there is none
} SandboxRules;

// NULL, or in a sentence what this system has not.
const char *sandbox_lacks(void);
// NULL, or what went wrong. What a rule names and is not there is left out.
const char *sandbox_enter(Arena *, const SandboxRules *);
bool sandbox_inside(void); // it was entered

#endif
