// Private to engine: an engine is a diagram, a store, and a table of what its kind can do.
#ifndef LIMN_RUN_ENGINE_ENGINE_OWN_H
#define LIMN_RUN_ENGINE_ENGINE_OWN_H

#include "run/engine/engine.h"

typedef struct {
  RunStatus (*run)(Engine *, int64_t n, uint64_t step);
  // where runs may wait: or NULL
  bool (*queue)(Engine *, int64_t n, uint64_t step); // false: e->error
  RunStatus (*next)(Engine *);
  uint32_t (*room)(const Engine *);
  int32_t *(*table)(Engine *, uint32_t input, const EngineTable *); // or NULL
  void (*plan)(const Engine *, Buf *);
  void (*free)(Engine *); // what it took beside its arena; or NULL
} EngineKind;

struct Engine {
  const EngineKind *kind;
  Arena *arena; // goes with the engine
  World *w;
  const Diagram *d;
  Store *store;
  State **state;   // [param] NULL: a clock that is not in the store
  int64_t samples; // the largest number
  Target how;
  void **in, **out; // the memory of inputs and outputs, as the kind has it
  int64_t bytes;
  bool ran;        // states were looked at
  bool refused;    // e->error is about what was given, not about what computes
  RunStatus waits; // what a run that was queued has come to
  bool prebuilt, whole;
  const char *says, *error;
  void *own; // of the kind
};

// -- engine.c -------------------------------------------------------------------------------------
Number engine_number(const Engine *, Id wire);
// A number by itself is a double to the code; one that lies in a row of floats, among the weights of
// an optimiser, is brought in front of a step and taken back behind it.
bool engine_brings(const Engine *, uint32_t param);
void engine_clocks(const Engine *, uint64_t step, double *clock); // [param] those that no store has
void engine_cache_word(const Engine *,
                       const char *word);     // why code is not kept, said once; NULL: it is
bool engine_finite(const Engine *);           // all losses of the last run
bool engine_takes(Engine *, int64_t samples); // false: e->error

// -- reference.c ----------------------------------------------------------------------------------
bool reference_open(Engine *);
Tensor reference_input(Engine *, Arena *, uint32_t input, int64_t n); // as it lies in memory
Tensor reference_param(Engine *, Arena *, uint32_t param, uint64_t step);
// One run in doubles, states untouched. The results live in `arena`. NULL, or what went wrong.
const char *reference_eval(Engine *, Arena *, int64_t n, uint64_t step, const Diagram *,
                           Tensor *out, Tensor *next);

// -- compiled.c: false with a diagnostic, or with the reason why there is no compiled code --------
bool compiled_open(Engine *, const char **why);
bool cuda_open(Engine *, const char **why); // cuda_engine.c, the same

// -- device.c: a sentence, or NULL: it has matrix units for these numbers, bf16 or tf32 -----------
const char *device_lacks_units(Arena *, const struct Device *, Precision);

#endif
