// kernel: what every back end shares: the number formats of memory, the options of an engine, and the
// arguments of a running kernel.
#ifndef LIMN_RUN_ENGINE_KERNEL_KERNEL_H
#define LIMN_RUN_ENGINE_KERNEL_KERNEL_H

#include "core/diagram/diagram.h"
#include "io/data/data.h"
#include "limn.h"

// The factors of matrix products are rounded to bfloat16 under BF16, and by a GPU to tf32 (19 bits) under
// TF32.
typedef enum { PRECISION_32, PRECISION_64, PRECISION_BF16, PRECISION_TF32, PRECISIONS } Precision;
bool precision_from(const char *text, Precision *); // "32", "64", "bf16", "tf32"
const char *precision_text(Precision);
const char *precision_label(Precision); // for messages: "32 bits", "bf16"
// False: the option is the default or `auto`; the caller chooses the precision.
bool precision_from_option(LimnPrecision, Precision *);

// -- numbers.c ------------------------------------------------------------------------------------
Number number_of(Precision, Base, uint32_t rank); // the cell type of a tensor of this base and rank
void numbers_set(Number, void *to, const double *from, int64_t n);
void numbers_get(Number, const void *from, double *to, int64_t n);

typedef struct {
  uint32_t threads;      // 0: one for each core
  struct Pool *pool;     // several engines may share one, in turn; NULL: the engine owns its pool
  struct Device *device; // the GPU, shared by engines; NULL: the CPU
  bool cpu_fallback;     // run on the CPU what does not fit the device beside the step
  bool reference;        // use the interpreter
  bool no_compiler;      // use prebuilt kernels, even if there is a compiler
  // Prebuilt kernels run while *prebuilt_while is true, compiled ones afterwards; or NULL.
  const bool *prebuilt_while;
  bool profile;   // engine_plan shows how long each kernel took
  bool unfused;   // one kernel for each box: slow, for tests
  const char *cc; // the compiler; NULL: $LIMN_CC, cc, gcc, clang
  // The folder of compiled steps; NULL: $LIMN_CACHE, $XDG_CACHE_HOME/limn, ~/.cache/limn.
  const char *cache;
  uint64_t seed; // of noise
  bool ticks;    // a step is the first tick of a row: noise in the outermost scan counts from there
  double steps;  // the value of the clock `steps`
  void (*say)(void *to, const char *text); // called while slow work runs; or NULL
  void *say_to;
  // Not 0: a running compiler is stopped, and the engine is not opened.
  const volatile sig_atomic_t *stop;
  // A stop while kernels are compiled opens the engine with prebuilt kernels instead; the caller checks
  // `stop` and ends the work.
  bool caller_stops;
} Target;

// The arguments of a kernel. The generated text declares the same struct.
typedef struct KernelContext {
  int64_t n; // samples in this run
  uint64_t seed, step;
  int64_t at[8]; // positions of the surrounding scans
  char ***table; // [kernel] its table of pointers
  void **out;    // [output] its memory
  void (*small)(const void *gemm, const void *a, const void *b, void *c, void *scratch, int64_t m,
                int64_t n, int64_t k, int add);
  // Runs a KERNEL_COPY: copies the next value of a state into the state.
  void (*copy)(struct KernelContext *, uint32_t kernel);
} KernelContext;
typedef void KernelFn(const KernelContext *, char **table, int64_t low, int64_t high,
                      char *scratch);
typedef int StepFn(KernelContext *, char *scratch); // 1: stopped, because a loss is not finite

#endif
