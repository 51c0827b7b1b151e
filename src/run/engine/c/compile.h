// compile: C text to functions, through the machine's compiler and a private cache. Private to
// the engine.
#ifndef LIMN_RUN_ENGINE_C_COMPILE_H
#define LIMN_RUN_ENGINE_C_COMPILE_H

#include "run/engine/kernel/kernel.h"

// A text that may be cut: functions that do not call each other, behind a front that all need.
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
  void *library; // of dlopen
  int fd;        // behind it; -1: none
} CompiledPart;
typedef struct {
  CompiledPart *part; // [piece]
  uint32_t n;
  bool cached; // all of it was there already
  const char *compiler;
  double seconds; // of compiling
  const char *error;
  bool stopped;     // by the user
  const char *word; // it went well, but
} Compiled;

enum { COMPILE_FLAGS = 24 };                           // at most
uint32_t compile_flags(const char **flag);             // what generated code is compiled with
const char *compile_compiler(Arena *, const Target *); // which one; NULL: there is none
// False: there is no compiler, or it failed; .error says why.
bool compile_c(Arena *, const CText *, const Target *, Compiled *);
void compile_close(Compiled *);
void *compile_find(const Compiled *, const char *name);

#endif
