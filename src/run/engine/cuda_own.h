// Private to the CUDA engine: what its files share.
#ifndef LIMN_RUN_ENGINE_CUDA_OWN_H
#define LIMN_RUN_ENGINE_CUDA_OWN_H

#include "run/engine/cuda/cuda.h"
#include "run/engine/engine_own.h"

enum {
  QUEUE = 128, // slots for fused steps: several launches, so the GPU is busy while the host sleeps
  QUEUE_LARGE = 64,       // slots for other steps
  INPUT_SMALL = 16 << 10, // bytes: a larger input is not passed in the slot's small part
  STEPS = 8,              // captured graphs that are kept
};

// Arguments of kernels; the same structs are declared in team.h and tiles.h.
typedef struct {
  int64_t at[8];
  DeviceAddress stop;
} CudaPlaces;
typedef struct {
  int64_t n;
  uint64_t seed, step;
  int64_t at[8];
  DeviceAddress scratch, parts;
} CudaContextData;
typedef struct {
  int64_t step;
  DeviceAddress at;
} CudaAxis;
typedef struct {
  int64_t fixed, per;
} CudaLength;
typedef struct {
  DeviceAddress a, b, c, row; // row: bfloat16, added to each row of C, or 0
  CudaAxis am, ak, bk, bn, cm, cn, ta, tb, tc;
  CudaLength m, n, k, batch;
  int64_t part, parts, samples;
  int32_t along_a, along_b, narrow, narrow_c, twos;
} CudaProduct;
typedef struct {
  DeviceAddress from, to;
  int64_t bytes, at, most;
} CudaTable;
enum { TABLES = 8 };
typedef struct {
  DeviceAddress ring, ahead, here;
  int64_t slot_bytes, slots, bytes, small;
  DeviceAddress counter;
  CudaTable table[TABLES];
  int32_t tables, next;
} CudaTake;
enum { GIVEN = 20 };
typedef struct {
  DeviceAddress from[GIVEN];
  int32_t at[GIVEN], bytes[GIVEN];
  DeviceAddress ring, ahead; // ahead: 0: nothing is
  int64_t slot_bytes, slots, small;
  DeviceAddress counter, done;
  int32_t n, last;
} CudaGive;
enum { COPIES = 32 };
typedef struct {
  struct {
    DeviceAddress to, from;
    int64_t bytes;
  } each[COPIES];
  int32_t n;
} CudaCopy;
enum { LOSSES = 30 };
typedef struct {
  DeviceAddress loss[LOSSES];
  int32_t n;
} CudaLosses;
enum { WIDENED = 15 };
typedef struct {
  DeviceAddress wide[WIDENED], narrow[WIDENED];
  int32_t n, back;
} CudaWidened;

typedef struct {
  DeviceAddress from, to;
  int64_t n;
} CudaRound;

// The arguments of a launch of fused steps; the addresses of states and the pointers of kernels follow.
typedef struct {
  DeviceAddress ring, arena, near; // near: device memory to which slots are copied
  int64_t slot_bytes, slots, first, steps, whole;
  DeviceAddress done, stop;
} CudaSteps;

// A slice-K product (stripes.h): each warp of a block computes the whole tile over a stripe of the sum.
// Tiles have 8·a rows and 8·b columns. Layouts of the factors; the values are those of stripes.h.
enum { CONTIGUOUS_K, CONTIGUOUS_SLOTS, NOT_CONTIGUOUS };
typedef struct {
  uint32_t a, b, warps; // warps 0: the product is not by stripes
  uint32_t parts;       // split-K: blocks for each tile
  uint32_t layout_a, layout_b;
  bool tables, whole; // some axis is a table of offsets; the sum is whole chunks of 16
} CudaStripes;

typedef struct {
  CudaKernel k;
  CudaFunction fn, sum; // sum: adds the slices of a reduction
  // Of a product:
  uint32_t kind;                   // the kind of its tiles
  CudaStripes stripes;             // or by stripes
  uint32_t text;                   // the module of tiles that has its function
  bool blas;                       // call cuBLASLt first
  bool twos;                       // cells of the result can be stored in pairs
  const struct BlasChoice *choice; // cuBLASLt's algorithm; NULL: its first one
  DeviceAddress *wire;             // [slot] the kernel's table of pointers
  void *arguments; // with an epilogue: the product, then the pointers of the epilogue
  CudaProduct product;
  uint32_t end;          // of a scan: the kernel after it
  uint32_t stream_index; // in a graph
  Ids wait;              // kernels that it waits for, without those implied by others
  bool has_waiters;      // a kernel waits for it
  bool writes_state;     // hence launched after the test of the losses
} CudaCall;

// Streams for kernels that run concurrently (cuda_streams.c), while a step is captured.
typedef struct {
  bool on, capturing;
  // [kernel], then [stream] with the side stream, then the event after the test of the losses.
  CudaEvent *event;
  bool active[STREAMS], tested[STREAMS]; // tested: it has waited for the test of the losses
  uint32_t next, forked_at; // the next kernel to launch; the first one after the last fork
  bool tested_aside; // losses are tested and given back on the side stream, beside later kernels
  bool prefetches;   // limn_give also copies the next slot to the device
} CudaStreams;

// An input. A small input is in the small part of a slot. A large one is copied before the step, or
// gathered from a table on the device by row numbers.
typedef struct {
  DeviceAddress at;
  size_t bytes;
  size_t small_at; // in the small part of a slot: the input, or its row numbers with their head
  size_t slot_at;  // of a large input: in a slot
  bool small;
  DeviceAddress table;
  size_t row_bytes;
  int32_t *rows; // row numbers for the caller, after ROWS_HEAD numbers; NULL: there is no table
} CudaInput;

// A bfloat16 copy of weights, and the weights' count of changes when the copy was made.
typedef struct {
  DeviceAddress at;
  uint64_t changes;
} CudaRounded;

// A ring buffer of slots, one for each queued step. A slot has a small part, then outputs, then large
// inputs.
typedef struct {
  // Pinned memory: the slots, then the number of finished steps; NULL: not allocated yet.
  char *host;
  DeviceAddress small, ahead, counter;
  size_t small_bytes, clock_at, slot_bytes;
  uint64_t slots, queued, done;
  int64_t n[QUEUE]; // [slot] samples
} CudaRing;

// Steps captured as one CUDA graph; one graph for each number of samples if launches depend on it.
typedef struct {
  CudaGraphExec graph; // NULL: launch kernel by kernel
  int64_t n;           // samples
  uint32_t steps;      // 0: nothing is captured
} CudaStep;

// Modules: the functions of every program; the kinds of product tiles of this program; its kernels.
enum { COMMON, TILES, TEXTS_MOST = 16, MODULES = TILES + 2 * TEXTS_MOST };

typedef struct {
  Device *d;
  Plan *plan;
  CudaModule module[MODULES];
  uint32_t kernels; // the first module of kernels
  CudaFunction copy, look, bring, round, gather, take, give;
  CudaCall *call;       // [kernel]
  DeviceAddress memory; // arena, inputs, clocks, context, scratch, parts, tables
  DeviceAddress arena, clocks, context, scratch, parts;
  // Inputs, clocks and context are double-buffered in a graph of several steps.
  DeviceAddress buffer_offset; // of the current buffer: 0 or buffer_bytes
  size_t buffer_bytes;
  CudaInput *in;        // [input]
  CudaRounded *rounded; // [Plan.rounded]
  CudaRing ring;
  bool scalar_outputs; // all outputs are scalars
  double *seconds;     // [kernel] while profiling: no graphs, and every kernel is synchronised
  uint64_t runs;
  int64_t scan_at[8]; // positions of scans
  size_t parts_bytes, scratch_bytes;
  CudaStreams streams;
  uint32_t current_stream; // the stream that launches use
  // Programmatic dependent launch: a kernel may start before the previous one in its stream has ended.
  bool dependent_launch;
  CudaStep step[STEPS]; // captured graphs
  CudaFusedStep fused;  // lanes > 0: a launch runs several whole steps
  CudaFunction fused_fn;
  void *fused_arguments;     // a CudaSteps and pointers; NULL: not made yet
  uint32_t steps_per_launch; // the most steps in a graph
  uint64_t waiting;          // queued steps that are not launched yet
  uint32_t next_step;        // the next graph to replace
  bool axes_sent;            // tables of offsets of products are on the device
  bool depends_on_samples;   // the launches depend on the number of samples
  uint32_t first_write;
  // The one kernel that computes all outputs, which are scalars; PLAN_NONE: none.
  uint32_t output_kernel;
} CudaEngine;

// -- cuda_engine.c --------------------------------------------------------------------------------
bool cuda_check(Engine *, CudaResult, const char *what); // false: a call failed, e->error is set
DeviceAddress cuda_wire(const Engine *, const CudaEngine *, uint32_t wire);
typedef struct {
  CudaFunction fn;
  int64_t blocks;
  uint32_t threads;
  size_t shared;
  void *wires;
} CudaLaunch;
bool cuda_launch(Engine *, CudaEngine *, const CudaLaunch *);
bool kernel_launch(Engine *, CudaEngine *, uint32_t kernel, int64_t n);
DeviceAddress cuda_state(const State *); // its address on the device
bool cuda_function(Engine *, CudaEngine *, CudaModule, const char *name, CudaFunction *);
// Allows a function to use so many bytes of shared memory.
bool cuda_shared(Engine *, CudaEngine *, CudaFunction, size_t bytes);
uint32_t cuda_modules(uint32_t wanted); // limited by the number of cores that compile them
size_t cuda_aligned(size_t);
size_t cuda_bytes(const PlanWire *);

void cuda_fill_pointers(Engine *, CudaEngine *, uint32_t kernel); // the kernel's table of pointers

// -- cuda_fused_step.c ----------------------------------------------------------------------------
// The layout of a slot for the text of a fused step; NULL: the step cannot be fused.
const CudaSlot *fused_slot(const Engine *, const CudaEngine *);
bool fused_launch(Engine *, CudaEngine *); // all waiting steps

// -- cuda_steps.c ---------------------------------------------------------------------------------
uint32_t find_output_kernel(const CudaEngine *);
uint32_t choose_steps_per_graph(CudaEngine *);
bool steps_queue(Engine *, CudaEngine *);  // one more step, which may wait for others
bool steps_launch(Engine *, CudaEngine *); // all waiting steps
// Launches the waiting steps of another engine on this device: steps run in the order of their queueing.
bool steps_launch_other_engine(Engine *, CudaEngine *);
void steps_discard(Engine *, CudaEngine *); // forgets the waiting steps
void steps_free(CudaEngine *);

// -- cuda_tiles.c ---------------------------------------------------------------------------------
static inline int64_t length_most(const Plan *p, CudaLength l) {
  return l.fixed + l.per * p->samples;
}
void tile_choose(const Engine *, const CudaEngine *, const PlanNode *, CudaCall *);
bool products_have_epilogues(const Engine *); // small products may have epilogues
CudaLaunch tile_launch(const CudaEngine *, CudaCall *);
size_t tile_shared(const CudaCall *);
const char *tile_name(Engine *, const CudaCall *);
void tile_write(Engine *, const CudaCall *, Buf *); // prints its function

// -- cuda_products.c ------------------------------------------------------------------------------
void products_prepare(Engine *, CudaEngine *); // chooses how to compute each product
// Prints the functions of products as several texts and gives their number. All texts have the same first
// `same` bytes after `front`.
uint32_t products_text(Engine *, CudaEngine *, CudaKernel *, Buf front, Buf *, size_t *same);
bool products_open(Engine *, CudaEngine *);     // after compiling
void products_autotune(Engine *, CudaEngine *); // autotunes cuBLASLt's algorithms
bool product_launch(Engine *, CudaEngine *, uint32_t kernel, int64_t n);
void products_free(CudaEngine *);

// -- cuda_streams.c -------------------------------------------------------------------------------
void streams_assign(Engine *, CudaEngine *);               // chooses a stream for each kernel
double kernel_microseconds(const Plan *, uint32_t kernel); // an estimate
bool streams_begin_capture(Engine *, CudaEngine *);
void streams_end_capture(CudaEngine *);
bool streams_fork(Engine *, CudaEngine *); // kernels from here on use their streams
bool streams_join(Engine *, CudaEngine *); // the first stream waits for the others
// Launches from here on use the side stream, after the current stream's work or (all) after all work.
bool streams_fork_side(Engine *, CudaEngine *, bool all);
bool streams_losses_tested(Engine *, CudaEngine *); // records the event on the side stream
void streams_return(CudaEngine *, uint32_t to);     // launches use stream `to` again
bool streams_join_side(Engine *, CudaEngine *);     // the first stream waits for the side stream
bool stream_enter(Engine *, CudaEngine *, uint32_t kernel); // before a kernel's launch
bool stream_leave(Engine *, CudaEngine *, uint32_t kernel); // after it

// -- cuda_ring.c ----------------------------------------------------------------------------------
void ring_lay_out(Engine *, CudaEngine *);               // the small part of a slot
size_t ring_output(const CudaEngine *, uint32_t output); // its offset in a slot
DeviceAddress
ring_done(const CudaEngine *); // of the number of finished steps, which the host polls
bool ring_send(Engine *, CudaEngine *, int64_t n, uint64_t step);
// Launches limn_take, which begins a step: it copies the small part of the slot and gathers rows of
// tables. next: for the step after this one.
bool ring_begin_step(Engine *, CudaEngine *, bool next);
bool ring_end_step(
    Engine *,
    CudaEngine *); // launches limn_give, which ends a step: it returns scalar outputs
bool ring_fetch_outputs(Engine *, CudaEngine *,
                        uint64_t step);                  // copies outputs that are no scalars
bool ring_by_sample(const CudaEngine *, uint32_t input); // its first axis is the samples
bool ring_bypasses_table(const CudaEngine *);     // an input that has a table comes as samples
bool ring_wait(Engine *, CudaEngine *);           // for the oldest step; e->out becomes its outputs
void ring_restore_inputs(Engine *, CudaEngine *); // of that step, into e->in
void ring_free(CudaEngine *);
uint64_t ring_slots(const CudaEngine *);
int32_t *cuda_table(Engine *, uint32_t input, const EngineTable *);

#endif
