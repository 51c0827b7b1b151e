// sandbox: irrevocably restricts what this process may do.
//
//   SandboxRules r = {.read = list, .write = other};
//   const char *error = sandbox_enter(a, &r);
//
// Afterwards this thread, its new threads and child processes can open only what the rules name,
// and the folders that the C compiler needs. Network, access to other processes' memory and
// mounting are forbidden. Linux on x86-64 and aarch64.
#ifndef LIMN_BASE_SANDBOX_H
#define LIMN_BASE_SANDBOX_H

#include "base/base.h"

typedef struct {
  // Readable files, and folders with everything below; terminated by NULL, or NULL.
  const char *const *read;
  // Readable and writable folders; terminated by NULL, or NULL.
  const char *const *write;
  // The compiler, whose installation is readable; NULL: none.
  const char *compiler;
} SandboxRules;

// NULL, or a sentence that says what this system lacks.
const char *sandbox_lacks(void);
// NULL, or an error. Missing files and folders of a rule are ignored.
const char *sandbox_enter(Arena *, const SandboxRules *);
bool sandbox_inside(void); // the sandbox was entered

#endif
