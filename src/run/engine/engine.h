// engine: execution of diagrams. An engine takes one diagram, whose sizes are concrete except for the
// number of samples, and runs it on the weights and states of a store, which outlive the step.
//
//   Store *s = store_new(PRECISION_32);
//   store_add(s, "f/dense/W", BASE_R, 2, shape);
//   Engine *e = engine_new(world, diagram, s, 64, &(Target){.threads = 2});
//   float *x = engine_in(e, 0);                 // write 64 samples
//   engine_run(e, 64, step);
//   engine_out(e, 0);
//
// Params are found in the store by path. A step overwrites each param that has a next value. Several
// engines may share one store. Reals are float, or double under PRECISION_64; labels are int32_t, bits
// uint8_t. A scalar real (a loss, a rate, a counter) is a double in every precision.
#ifndef LIMN_RUN_ENGINE_ENGINE_H
#define LIMN_RUN_ENGINE_ENGINE_H

#include "core/diagram/interpret.h"
#include "run/engine/kernel/kernel.h"

// -- store.c: the memory of weights and states ----------------------------------------------------
typedef struct {
  const char *path;
  // A machine's copy of a learner: the path of the same weight in that learner; or NULL. Borrowed.
  const char *of;
  const char *as; // a stale copy: the path of the weight that it follows; or NULL. Borrowed.
  Base base;
  uint32_t rank;
  int64_t *shape, count;
  Number number;    // the type of a cell
  void *allocation; // of a whole entry: the block to free
  // Aligned to 64 bytes unless it is a part. A device may hold newer values: use state_data.
  void *data;
  uint32_t whole; // the entry that this is a part of; its own number if it is no part
  int64_t offset; // in the whole entry, in cells
  struct Store *store;
  // Of a whole entry that has a copy on a device:
  uint64_t device_address; // 0: there is no copy
  bool device_newer;       // a step changed the copy on the device
  bool host_newer;         // the host changed `data`
  uint64_t changes;        // how often the entry was changed, by the host or by a device
} State;
typedef struct Store Store;
// The owner of the copies on a device. Both functions are called with whole entries.
typedef struct {
  void *of;
  void (*fetch)(void *of, State *); // copies the newer values of the device into `data`
  void (*drop)(void *of, State *);  // frees the copy on the device
} StoreMirror;
#define STORE_NONE UINT32_MAX
#define STORE_CELLS_LIMIT (PTRDIFF_MAX / 16) // numbers in one entry: no memory holds more
Store *store_new(Precision);                 // NULL when memory is exhausted
void store_free(Store *);
Precision store_precision(const Store *);
uint32_t store_threads(const Store *); // that draw initial values; 0: one for each core
void store_set_threads(Store *, uint32_t threads);
// Changes how factors of products are rounded. Neither the old nor the new precision is PRECISION_64.
void store_set_precision(Store *, Precision);
// Both give the number of the new entry, filled with 0. STORE_NONE: memory is exhausted, the path is
// taken, or the part is not inside the whole entry.
uint32_t store_add(Store *, const char *path, Base, uint32_t rank, const int64_t *shape);
uint32_t store_part(Store *, const char *path, uint32_t whole, int64_t offset, uint32_t rank,
                    const int64_t *shape);
uint32_t store_count(const Store *);
State *store_at(Store *, uint32_t);
State *store_find(Store *, const char *path); // NULL = none
void state_set(State *, const double *value); // `count` numbers
void state_get(const State *, double *value);
void *state_data(const State *);    // for reading; newer values are fetched from the device first
void *state_writable_data(State *); // for reading and writing; marks the host's values as newer
void store_mirror(Store *, const StoreMirror *);
bool store_is_mirrored(const Store *);
uint64_t store_hash(const Store *); // of the bytes of all whole entries, in order

// -- initial_values.c -----------------------------------------------------------------------------
// False with a diagnostic.
bool store_shape(World *, const Type *, int64_t *shape, const char *path);
// Reports that memory is exhausted; always false.
bool store_out_of_memory(World *, const char *path, const Type *);
static inline Array tensor_array(const Tensor *t, const char *name) {
  return (Array){name, t->rank, t->shape, t->count, t->data, EL_F64};
}
static inline Tensor array_tensor(const Array *a) {
  return (Tensor){a->rank, a->shape, a->count, a->data};
}
bool state_from_array(World *, State *, const Array *, const char *file); // false with a diagnostic
// The same for a copy of a learner: the array is repeated for each member of a family.
bool state_from_learner(World *, State *, const Array *, const char *file);
// Sets each entry for whose path there is an array. False with a diagnostic.
bool store_set_arrays(World *, Store *, const Arrays *, const char *file);
// The value of a state: under its own path, or else that of the weight which it copies. NULL: none
const Array *state_find(const Arrays *, const State *);
void state_note_origin(State *, const Init *); // which weight it copies
bool state_initialise(World *, State *, const Init *, const Type *, uint64_t seed);
// The same for an entry that was just added and still is 0: an initial value of 0 writes nothing.
bool state_initialise_new(World *, State *, const Init *, const Type *, uint64_t seed);
// Adds and initialises the params that the store does not have.
bool store_add_params(World *, Store *, const Diagram *, uint64_t seed);

// -- engine.c -------------------------------------------------------------------------------------
typedef struct Engine Engine;
typedef enum { RUN_GOOD, RUN_NOT_FINITE, RUN_FAILED } RunStatus;

// NULL with a diagnostic. `samples` is the largest number of samples in one run; 0 when the diagram
// has no samples.
Engine *engine_new(World *, const Diagram *, Store *, int64_t samples, const Target *);
// The same, with a fallback when the device's memory is too small: `parts` halves *samples until the
// engine fits; after that, Target.cpu_fallback opens the engine on the CPU.
Engine *engine_new_fitting(World *, const Diagram *, Store *, int64_t *samples, bool parts,
                           const Target *);
void engine_free(Engine *);
void *engine_in(Engine *, uint32_t input);
const void *engine_out(const Engine *, uint32_t output);
// A table of all rows that an input may take. A device may hold a copy of the table; a run then gathers
// its samples by row number. engine_table gives the memory for the row numbers, with ROWS_HEAD numbers
// before it: the first of them is not 0 when the next run takes rows of the table. NULL: the device
// holds no table; write the samples themselves to engine_in.
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
// False: a size is unknown.
bool engine_shape(World *, const Type *, int64_t samples, int64_t *shape);
// Runs one step on n samples. RUN_NOT_FINITE: a scalar output is NaN or Inf; no state was changed.
RunStatus engine_run(Engine *, int64_t n, uint64_t step);
// The asynchronous form: engine_queue queues a step, at most engine_queue_limit at once, and engine_next
// waits for the oldest one; engine_out then gives that step's outputs. RUN_NOT_FINITE empties the queue;
// no later step was run.
uint32_t engine_queue_limit(const Engine *);
bool engine_queue(Engine *, int64_t n, uint64_t step); // false: engine_error
RunStatus engine_next(Engine *);
// After RUN_NOT_FINITE: runs the step again by the interpreter and finds the first box whose result is
// not finite. Gives the box's place in the source and a sentence.
const char *engine_trace_nonfinite(Engine *, int64_t n, uint64_t step, Span *);
const char *engine_error(const Engine *);       // after RUN_FAILED
void engine_plan(const Engine *, Buf *);        // kernels, memory, peak: `--plan`
const char *engine_description(const Engine *); // one line: compiler, threads, cached or not
bool engine_prebuilt(const Engine *);           // its kernels are prebuilt, not compiled
// Every run takes exactly the number of samples that the engine was opened with.
bool engine_full_batches_only(const Engine *);
int64_t engine_bytes(const Engine *); // of its arena

// -- device.c -------------------------------------------------------------------------------------
// Opens a device by its name; *device is NULL for the CPU. The world owns the device. False: *why says
// why the device cannot be opened.
struct Device;
bool engine_device(World *, const char *text, struct Device **, const char **why);
// engine_device starts a device in a thread of its own; engines wait for the start and report its
// failure. engine_device_ready waits itself, for callers that can do without a device.
bool engine_device_ready(World *, const char *text, struct Device **, const char **why);
// NULL, or why no machine has a device of this name.
const char *engine_device_name_error(Arena *, const char *text);
// There is a GPU or a driver, perhaps a broken one; `auto` then says why it takes no GPU.
bool engine_has_gpu(Arena *);
// False: a call failed for good. The device's memory is lost, and all later calls fail.
bool engine_device_alive(struct Device *);
const char *engine_device_model(const struct Device *);         // "NVIDIA H200", or "the CPU"
const char *engine_device_name(Arena *, const struct Device *); // "cuda:0", or "cpu"
// All devices, the CPU first. *why: why there is no GPU, or why one cannot be used.
typedef struct {
  const char *name, *is;
  Precision precision; // that `auto` takes on this device
} DeviceInfo;
const DeviceInfo *engine_devices(Arena *, uint32_t *n, const char **why);
// The precision that --precision auto takes on this device; *why says why, in a sentence.
Precision engine_precision(Arena *, const struct Device *, const char **why);
// How this device deviates from the precision, in a sentence; NULL: not at all.
const char *engine_precision_note(const struct Device *, Precision);

// -- pool.c: the thread pool ----------------------------------------------------------------------
typedef struct Pool Pool;
typedef void Task(void *context, int64_t task, uint32_t thread);
Pool *pool_new(uint32_t threads); // 0: one for each core; NULL: memory is exhausted
void pool_free(Pool *);
uint32_t pool_threads(const Pool *); // that could be started
uint32_t pool_wanted(const Pool *);  // that were asked for
// Flushes denormal numbers to 0 on the calling thread; gives the mode to restore.
uint64_t pool_flush_denormals(void);
void pool_restore_denormals(uint64_t before);
// Runs tasks 0 … tasks - 1 in any order; returns when all are done.
void pool_run(Pool *, Task *, void *context, int64_t tasks);

#endif
