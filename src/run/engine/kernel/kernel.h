// kernel: what every way to run a kernel shares: kinds of numbers, what is asked of an engine, and
// what a kernel sees when it runs.
#ifndef LIMN_RUN_ENGINE_KERNEL_KERNEL_H
#define LIMN_RUN_ENGINE_KERNEL_KERNEL_H

#include "core/diagram/diagram.h"
#include "io/data/data.h"
#include "limn.h"

// Factors of products are rounded to bfloat16 under BF16, to 19 bits under TF32 by a GPU that does.
typedef enum { PRECISION_32, PRECISION_64, PRECISION_BF16, PRECISION_TF32, PRECISIONS } Precision;
bool precision_from(const char *text, Precision *); // "32", "64", "bf16", "tf32"
const char *precision_text(Precision);
const char *precision_words(Precision);           // "32 bits", "bf16"
bool precision_asked(LimnPrecision, Precision *); // false: for the default, and for auto

// -- numbers.c ------------------------------------------------------------------------------------
Number number_of(Precision, Base, uint32_t rank); // what a cell of such a tensor is
void numbers_set(Number, void *to, const double *from, int64_t n);
void numbers_get(Number, const void *from, double *to, int64_t n);

typedef struct {
  uint32_t threads;      // 0: as many as there are cores
  struct Pool *pool;     // that several engines share, one at a time; NULL: its own
  struct Device *device; // a GPU that does the work, shared by engines; NULL: the CPU
  bool or_cpu;           // what stands beside the step, and has no room there, goes to the CPU
  bool reference;        // by the interpreter
  bool no_compiler;      // prebuilt kernels, even if there is a compiler
  const bool *early; // prebuilt kernels as long as this holds, compiled ones from then on; or NULL
  bool profile;      // engine_plan shows how long each kernel took
  bool unfused;      // one kernel for each box: slow, for tests
  const char *cc;    // the compiler; NULL: $LIMN_CC, cc, gcc, clang
  const char
      *cache;    // folder of compiled steps; NULL: $LIMN_CACHE, $XDG_CACHE_HOME/limn, ~/.cache/limn
  uint64_t seed; // of noise
  bool ticks;    // a step is the first tick of a row: noise in the outermost scan counts from there
  double steps;  // what the clock `steps` shows
  void (*say)(void *to, const char *text); // what takes long, while it does; or NULL
  void *say_to;
  const volatile sig_atomic_t
      *stop; // not 0: a compiler at work is given up, and the engine with it
  // Asked to stop while kernels are compiled: prebuilt ones are opened, and the caller's own look at `stop`
  // ends the work. Otherwise the engine is not opened.
  bool caller_stops;
} Target;

// What a kernel sees. The generated text declares the same struct.
typedef struct KernelContext {
  int64_t n; // samples in this run
  uint64_t seed, step;
  int64_t at[8]; // positions of the scans around
  char ***table; // of each kernel: its table of pointers
  void **out;    // of each output: its memory
  void (*small)(const void *gemm, const void *a, const void *b, void *c, void *scratch, int64_t m,
                int64_t n, int64_t k, int add);
  void (*copy)(struct KernelContext *, uint32_t kernel); // a state's next value put in its place
} KernelContext;
typedef void KernelFn(const KernelContext *, char **table, int64_t low, int64_t high,
                      char *scratch);
typedef int StepFn(KernelContext *, char *scratch); // 1: stopped, because a loss is not finite

#endif
