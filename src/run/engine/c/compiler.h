// compiler: runs the machine's C compiler, several processes at once, with a time limit. Private to the
// engine.
#ifndef LIMN_RUN_ENGINE_C_COMPILER_H
#define LIMN_RUN_ENGINE_C_COMPILER_H

#include "base/base.h"

#include <signal.h>

enum { OUTPUT_BYTES = 1024 };

// One process.
typedef struct {
  const char *const *argument; // [0] is the program; ended by NULL
  bool succeeded;              // the process ended with status 0
  char output[OUTPUT_BYTES];   // the beginning of its standard output and error
  // Private:
  size_t output_bytes;
  long process; // 0: not started, or ended
  int output_fd;
} CompilerRun;

typedef struct {
  const char *folder; // the working folder, also for temporary files
  double seconds;     // the time limit; 0: none
  uint32_t parallel;  // the most processes at once
  double say_after;   // seconds after which `say` is called, once
  void (*say)(void *);
  void *say_to;
  const volatile sig_atomic_t *stop; // not 0: stop all processes; or NULL
} CompilerLimits;

typedef enum { COMPILER_DONE, COMPILER_SLOW, COMPILER_STOPPED, COMPILER_NOT_STARTED } CompilerEnd;
CompilerEnd compiler_run(Arena *, CompilerRun *, uint32_t n, const CompilerLimits *);

#endif
