// compile: C text to functions, by the machine's C compiler and a private cache. Private to the engine.
#ifndef LIMN_RUN_ENGINE_C_COMPILE_H
#define LIMN_RUN_ENGINE_C_COMPILE_H

#include "run/engine/kernel/kernel.h"

// A text in pieces that can be compiled separately: functions that do not call each other, after a common
// header (`front`).
typedef struct {
  const char *text;
  size_t n;
} CPiece;
typedef struct {
  const char *front;
  size_t front_n;
  CPiece *piece;
  uint32_t n, kernels;
} CText;

typedef struct {
  void *library; // a handle of dlopen
  int fd;        // the library's memory file, open as long as the library; -1: none
} CompiledPart;
typedef struct {
  CompiledPart *part; // [piece]
  uint32_t n;
  bool cached; // all pieces were in the cache
  const char *compiler;
  double seconds; // taken by compiling
  const char *error;
  bool stopped;        // by the user
  const char *warning; // for a success: why the code is not cached; NULL: it is
} Compiled;

enum { COMPILE_FLAGS = 24 };                           // the most that compile_flags gives
uint32_t compile_flags(const char **flag);             // the compiler flags for generated code
const char *compile_compiler(Arena *, const Target *); // its path; NULL: none is found
// False: there is no compiler, or it failed; .error says why.
bool compile_c(Arena *, const CText *, const Target *, Compiled *);
void compile_close(Compiled *);
void *compile_find(const Compiled *, const char *name);

#endif
