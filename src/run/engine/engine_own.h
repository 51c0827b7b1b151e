// Private to run/engine: an engine is a diagram, a store, and a table of functions of its kind
// (reference, compiled, CUDA).
#ifndef LIMN_RUN_ENGINE_ENGINE_OWN_H
#define LIMN_RUN_ENGINE_ENGINE_OWN_H

#include "core/diagram/interpret.h"
#include "run/engine/engine.h"

typedef struct {
  RunStatus (*run)(Engine *, int64_t n, uint64_t step);
  // The next four are NULL where runs are synchronous.
  bool (*queue)(Engine *, int64_t n, uint64_t step); // false: e->error
  RunStatus (*next)(Engine *);
  uint32_t (*queue_limit)(const Engine *);
  int32_t *(*table)(Engine *, uint32_t input, const EngineTable *);
  void (*plan)(const Engine *, Buf *);
  void (*free)(Engine *); // frees what is not in the engine's arena; or NULL
} EngineKind;

struct Engine {
  const EngineKind *kind;
  Arena *arena; // the engine's own
  World *w;
  const Diagram *d;
  Store *store;
  State **state;   // [param] NULL: a clock that is not in the store
  int64_t samples; // the largest number of samples in one run
  Target target;
  void **in, **out; // host memory of inputs and outputs, set by the kind
  int64_t bytes;
  bool states_checked;     // labels in states are in range
  bool input_refused;      // e->error is about the caller's data, not a failure of the machine
  RunStatus queued_status; // of the last queued run, where runs are synchronous
  bool prebuilt, full_batches_only;
  const char *description, *error;
  void *impl; // the kind's own struct
};

// -- engine.c -------------------------------------------------------------------------------------
Number engine_number(const Engine *, Id wire);
// Kernels see a scalar real as a double. A scalar state that is stored as a float, because it is part of
// an entry of an optimiser, is widened before a step and rounded back after it.
bool engine_widens(const Engine *, uint32_t param);
// clock[param]: the values of the clocks that are not in the store.
void engine_set_clocks(const Engine *, uint64_t step, double *clock);
// Warns once why compiled code is not cached; NULL: it is cached.
void engine_warn_cache(const Engine *, const char *word);
bool engine_finite(const Engine *);             // all losses of the last run
bool engine_accepts(Engine *, int64_t samples); // false: e->error

// -- reference.c ----------------------------------------------------------------------------------
bool reference_open(Engine *);
Tensor reference_input(Engine *, Arena *, uint32_t input, int64_t n); // its current value
Tensor reference_param(Engine *, Arena *, uint32_t param, uint64_t step);
// One run in doubles that changes no state. The results are allocated in `arena`. NULL, or an error.
const char *reference_eval(Engine *, Arena *, int64_t n, uint64_t step, const Diagram *,
                           Tensor *out, Tensor *next);

// -- compiled.c, cuda_engine.c: false with a diagnostic, or with a reason in *why -----------------
bool compiled_open(Engine *, const char **why);
bool cuda_open(Engine *, const char **why);

// -- device.c: NULL, or why the device has no tensor cores for this precision (bf16 or tf32) ------
const char *device_lacks_tensor_cores(Arena *, const struct Device *, Precision);

#endif
