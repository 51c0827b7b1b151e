// engine: diagrams made to run. The engine takes one diagram with concrete sizes (but for the
// number of samples) and runs it on memory that outlives the step.
//
//   Store *s = store_new(PRECISION_32);
//   store_add(s, "f/dense/W", BASE_R, 2, shape);
//   Engine *e = engine_new(world, diagram, s, 64, &(Target){.threads = 2});
//   float *x = engine_in(e, 0);                 // write 64 samples
//   engine_run(e, 64, step);
//   engine_out(e, 0);
//
// Params are found in the store by path; those with a next value are overwritten by the step.
// Several engines may share one store. Reals are float, or double under PRECISION_64; labels are
// int32_t, bits uint8_t. A real without axes is a double everywhere: losses, rates, counters.
#ifndef LIMN_RUN_ENGINE_ENGINE_H
#define LIMN_RUN_ENGINE_ENGINE_H

#include "run/engine/kernel/kernel.h"

// -- store.c: the memory of weights and states ----------------------------------------------------
typedef struct {
  const char *path;
  const char *of; // a machine's copy of a learner: what this is called there; or NULL. Not its own
  Base base;
  uint32_t rank;
  int64_t *shape, count;
  Number number;  // what a cell is
  void *room;     // of a whole entry: what was asked for
  void *data;     // aligned to 64 bytes unless it is a part; newest behind state_here
  uint32_t whole; // the entry that this is a part of; its own number if none
  int64_t offset; // in cells
  struct Store *store;
  // of a whole entry that has a copy in the memory of a device
  uint64_t there;   // 0: none
  bool there_newer; // a step has changed it there
  bool here_newer;  // it was changed here
  uint64_t changes; // so far, here or there
} State;
typedef struct Store Store;
// Who holds copies of entries elsewhere.
typedef struct {
  void *of;
  void (*fetch)(void *of, State *); // a whole entry that is newer there comes here
  void (*drop)(void *of, State *);  // its copy is given back
} StoreMirror;
#define STORE_NONE UINT32_MAX
#define STORE_MOST (PTRDIFF_MAX / 16) // numbers in one entry: no memory has room for more
Store *store_new(Precision);          // NULL when memory is exhausted
void store_free(Store *);
Precision store_precision(const Store *);
uint32_t store_threads(const Store *); // that draw first values; 0: as many as there are cores
void store_by(Store *, uint32_t threads);
void store_round(Store *, Precision); // its factors; neither this nor what it was is 64
// Zeroed; the number of it. STORE_NONE: memory is exhausted, the path is taken, or the part does
// not lie inside.
uint32_t store_add(Store *, const char *path, Base, uint32_t rank, const int64_t *shape);
uint32_t store_part(Store *, const char *path, uint32_t whole, int64_t offset, uint32_t rank,
                    const int64_t *shape);
uint32_t store_count(const Store *);
State *store_at(Store *, uint32_t);
State *store_find(Store *, const char *path); // NULL = none
void state_set(State *, const double *value); // count numbers
void state_get(const State *, double *value);
void *state_here(const State *); // its data, brought from a device where that has the newer one
void *state_changed(State *);    // the same, to be written to
void store_mirror(Store *, const StoreMirror *);
bool store_is_mirrored(const Store *);
uint64_t store_hash(const Store *); // of all bytes, in order

// -- fill.c: first values -------------------------------------------------------------------------
bool store_shape(World *, const Type *, int64_t *shape,
                 const char *path);                       // false with a diagnostic
bool store_full(World *, const char *path, const Type *); // says that memory is; always false
static inline Array tensor_array(const Tensor *t, const char *name) {
  return (Array){name, t->rank, t->shape, t->count, t->data, EL_F64};
}
static inline Tensor array_tensor(const Array *a) {
  return (Tensor){a->rank, a->shape, a->count, a->data};
}
bool state_from_array(World *, State *, const Array *, const char *file); // false with a diagnostic
// Of a copy, the same for all members.
bool state_from_learner(World *, State *, const Array *, const char *file);
// Those that are there, by path. False with a diagnostic.
bool store_put(World *, Store *, const Arrays *, const char *file);
bool state_begin(World *, State *, const Init *, const Type *, uint64_t seed);
// The same of one that was just added, and still is 0.
bool state_begin_added(World *, State *, const Init *, const Type *, uint64_t seed);
bool store_add_params(World *, Store *, const Diagram *, uint64_t seed); // those that are not there

// -- engine.c -------------------------------------------------------------------------------------
typedef struct Engine Engine;
typedef enum { RUN_GOOD, RUN_NOT_FINITE, RUN_FAILED } RunStatus;

// NULL with a diagnostic. `samples` is the largest number of samples in one run; 0 when the diagram
// has none.
Engine *engine_new(World *, const Diagram *, Store *, int64_t samples, const Target *);
// The same. Where a device has no room: for fewer *samples, if these may come in parts, or else on the CPU, if that may be.
Engine *engine_with_room(World *, const Diagram *, Store *, int64_t *samples, bool parts,
                         const Target *);
void engine_free(Engine *);
void *engine_in(Engine *, uint32_t input);
const void *engine_out(const Engine *, uint32_t output);
// All that an input may be, row after row. A device may take it to itself, so that a run needs only the
// numbers of its rows: then there is memory for the numbers, and the first of ROWS_HEAD numbers in front
// of them is not 0 when the next run is by rows. NULL: an input is the samples themselves.
typedef struct {
  int64_t rows;
  void *of;
  bool (*read)(void *of, int64_t first, int64_t n, void *to);
} EngineTable;
enum { ROWS_HEAD = 4 };
int32_t *engine_table(Engine *, uint32_t input, const EngineTable *);
Number engine_in_number(const Engine *, uint32_t input);
Number engine_out_number(const Engine *, uint32_t output);
void engine_set(Engine *, uint32_t input, const double *from, int64_t n); // the first n cells
void engine_get(const Engine *, uint32_t output, double *to, int64_t n);
bool engine_shape(World *, const Type *, int64_t samples,
                  int64_t *shape); // false: a size is not known
// One step on n samples. RUN_NOT_FINITE: an output without axes is NaN or Inf; states were not
// changed.
RunStatus engine_run(Engine *, int64_t n, uint64_t step);
// The same, but runs wait for each other and are asked for later, in their order, so that a device
// is never idle; no more than engine_room of them. Outputs are those of the run last asked for. After
// RUN_NOT_FINITE nothing waits any more, and nothing behind that run was done.
uint32_t engine_room(const Engine *);
bool engine_queue(Engine *, int64_t n, uint64_t step); // false: engine_error
RunStatus engine_next(Engine *);
// The same diagram and memory through the interpreter: the first box whose result is not finite, as
// its place in the source and a sentence. For after RUN_NOT_FINITE.
const char *engine_blame(Engine *, int64_t n, uint64_t step, Span *);
const char *engine_error(const Engine *); // after RUN_FAILED
void engine_plan(const Engine *, Buf *);  // kernels, memory, peak: `--plan`
const char *engine_says(const Engine *);  // one line: compiler, threads, cached or not
bool engine_prebuilt(const Engine *);     // by kernels that were not compiled for it
bool engine_is_whole(const Engine *);     // it runs on exactly as many samples as it was made for
int64_t engine_bytes(const Engine *);     // of its arena

// -- device.c ----------------------------------------------------------------------------------------
// What computes, by its name: NULL is the CPU. It goes with the world. False: why there is none here.
struct Device;
bool engine_device(World *, const char *text, struct Device **, const char **why);
// It is started while the caller goes on: engines wait for it, and say why it does not start. The same for who has another
// way then: it has started, or there is none.
bool engine_device_ready(World *, const char *text, struct Device **, const char **why);
// Why nothing is called so on any machine, or NULL.
const char *engine_device_misnamed(Arena *, const char *text);
bool engine_has_gpu(
    Arena *); // one is there, or a driver that does not work: auto would say why not
bool engine_device_lives(struct Device *); // false: what it had is lost, and it does nothing more
const char *engine_device_is(const struct Device *);            // "NVIDIA H200", or "the CPU"
const char *engine_device_name(Arena *, const struct Device *); // "cuda:0", or "cpu"
// All there are, the CPU first; why there is no GPU, or one that cannot be used.
typedef struct {
  const char *name, *is;
  Precision precision; // what auto is on it
} DeviceInfo;
const DeviceInfo *engine_devices(Arena *, uint32_t *n, const char **why);
// What --precision auto is where this computes; *why says it in a sentence.
Precision engine_precision(Arena *, const struct Device *, const char **why);
// What a precision is on this device, where that is not what it is called after; NULL: just that.
const char *engine_precision_there(const struct Device *, Precision);

// -- pool.c: one pool of threads for everything ---------------------------------------------------
typedef struct Pool Pool;
typedef void Task(void *context, int64_t task, uint32_t thread);
Pool *pool_new(uint32_t threads); // 0: as many as there are cores; NULL: memory is exhausted
void pool_free(Pool *);
uint32_t pool_threads(const Pool *); // as many as could be started
uint32_t pool_wanted(const Pool *);
uint64_t pool_flush_tiny(void); // denormal numbers count as 0 on this thread; gives what was before
void pool_keep_tiny(uint64_t before); // as it was
void pool_run(Pool *, Task *, void *context,
              int64_t tasks); // back when all are done; task order is free

#endif
