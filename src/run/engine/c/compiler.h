// compiler: starts the machine's C compiler, several times at once, and waits within a limit.
// Private to the engine.
#ifndef LIMN_RUN_ENGINE_C_COMPILER_H
#define LIMN_RUN_ENGINE_C_COMPILER_H

#include "base/base.h"

#include <signal.h>

enum { SAID_BYTES = 1024 };

// One start of it.
typedef struct {
  const char *const *argument; // [0] is the program; ended by NULL
  bool good;                   // it ended with status 0
  char said[SAID_BYTES];       // how what it said begins
  // private
  size_t nsaid;
  long process;
  int from; // what it says comes from here
} CompilerRun;

typedef struct {
  const char *folder; // where it works, and puts what passes
  double seconds;     // longer than this it does not take; 0: it may
  uint32_t at_once;
  double say_after; // seconds; then `say` is called, once
  void (*say)(void *);
  void *say_to;
  const volatile sig_atomic_t *stop; // not 0: it is given up; or NULL
} CompilerLimits;

typedef enum { COMPILER_DONE, COMPILER_SLOW, COMPILER_STOPPED, COMPILER_NOT_STARTED } CompilerEnd;
CompilerEnd compiler_run(Arena *, CompilerRun *, uint32_t n, const CompilerLimits *);

#endif
