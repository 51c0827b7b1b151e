// compile: C text to functions, through the machine's compiler and a private cache. Private to
// the engine.
#ifndef LIMN_RUN_ENGINE_C_COMPILE_H
#define LIMN_RUN_ENGINE_C_COMPILE_H

#include "run/engine/kernel/kernel.h"

typedef struct {
  void *library; // of dlopen
  bool cached;   // it was there already
  const char *compiler;
  double seconds; // of compiling
  const char *error;
} Compiled;

enum { COMPILE_FLAGS = 24 };                           // at most
uint32_t compile_flags(const char **flag);             // what generated code is compiled with
const char *compile_compiler(Arena *, const Target *); // which one; NULL: there is none
// False: there is no compiler, or it failed; .error says why.
bool compile_c(Arena *, const char *text, size_t n, const Target *, Compiled *);
void compile_close(Compiled *);
void *compile_find(const Compiled *, const char *name);

#endif
