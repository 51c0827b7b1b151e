// Private to the GPU's engine: what its files share.
#ifndef LIMN_RUN_ENGINE_CUDA_OWN_H
#define LIMN_RUN_ENGINE_CUDA_OWN_H

#include "run/engine/cuda/cuda.h"
#include "run/engine/engine_own.h"

enum {
  QUEUE =
      128, // steps that wait at once: of small ones, several launches, so that a nap leaves enough to do
  QUEUE_LARGE = 64, // … and of those with launches of their own
  INPUT_SMALL = 16 << 10,
  STEPS = 8, // graphs of them, captured at once
};

// As in team.h.
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
} CudaLine;
typedef struct {
  int64_t fixed, per;
} CudaLength;
typedef struct {
  DeviceAddress a, b, c, row; // row: bfloat16, added to each row of C, or 0
  CudaLine am, ak, bk, bn, cm, cn, ta, tb, tc;
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
enum { BROUGHT = 15 };
typedef struct {
  DeviceAddress wide[BROUGHT], narrow[BROUGHT];
  int32_t n, back;
} CudaBrought;

typedef struct {
  DeviceAddress from, to;
  int64_t n;
} CudaRound;

// What whole steps in one launch are given, in front of pieces of states and the pointers of their kernels.
typedef struct {
  DeviceAddress ring, arena, near; // near: where slots are brought
  int64_t slot_bytes, slots, first, steps, whole;
  DeviceAddress done, stop;
} CudaSteps;

// A product by stripes (stripes.h): slots of its factors, warps, and how things lie.
enum { LIES_ALONG_SUM, LIES_ALONG_SLOTS, LIES_ANYHOW };
typedef struct {
  uint32_t a, b, warps; // 0: not by stripes
  uint32_t parts;       // of the sum
  uint32_t lies_a, lies_b;
  bool tables, whole;
} CudaStripes;

typedef struct {
  CudaKernel k;
  CudaFunction fn, sum;            // sum: of its slices
  uint32_t kind;                   // of a product: by which tiles
  CudaStripes stripes;             // … or by stripes
  uint32_t text;                   // … of which module of tiles
  bool blas;                       // … or by cuBLASLt
  bool twos;                       // its result lies two by two
  const struct BlasChoice *choice; // … in which way; NULL: in its first
  DeviceAddress *wire;             // [slot]
  void *given;                     // of a product that finishes: itself and what is in these slots
  CudaProduct product;
  uint32_t end;   // of a scan
  uint32_t track; // in a graph
  Ids wait;       // kernels that it waits for, as far as its track does not
  bool awaited;   // by one on another track
  bool writes;    // over a state: behind the look at the losses
} CudaCall;

// Kernels that run side by side (cuda_tracks.c), while a step is captured.
typedef struct {
  bool on, capturing;
  CudaEvent *event; // [kernel], then [track], the one aside too, then when losses are looked at
  bool open[TRACKS], looked[TRACKS]; // looked: it waited for the look at the losses
  uint32_t next, since; // the kernel that is launched next; the first one behind the last meeting
  bool aside;           // the losses are looked at and given back beside the kernels that follow
  bool peeks;           // … by who looks at the next slot, too
} CudaTracks;

// What comes in. A small input is part of what a step takes from its slot; a large one is copied in
// front of the step, or is rows of a table on the device, by their numbers.
typedef struct {
  DeviceAddress at;
  size_t bytes;
  size_t small_at; // in the small part of a slot: itself, or whether by rows and which
  size_t slot_at;  // of a large one: in a slot
  bool small;
  DeviceAddress table;
  size_t row_bytes;
  int32_t *rows; // the caller's numbers, behind four; NULL: there is no table
} CudaInput;

// Weights as bfloat16: how often the weights were changed when they were the same.
typedef struct {
  DeviceAddress at;
  uint64_t changes;
} CudaRounded;

// What goes to the device before a step and comes back behind it, for each step that waits. A slot is
// its small part, outputs, large inputs.
typedef struct {
  char *host; // pinned: slots, one behind the other, then how many steps are whole; NULL: not yet
  DeviceAddress small, ahead, counter;
  size_t small_bytes, clock_at, slot_bytes;
  uint64_t slots, queued, done;
  int64_t n[QUEUE]; // [slot] samples
} CudaRing;

// Steps as one graph. Where what is launched depends on how many samples there are, one for each number.
typedef struct {
  CudaGraphExec graph; // NULL: it is launched kernel by kernel
  int64_t n;           // samples
  uint32_t steps;      // 0: nothing is captured yet
} CudaStep;

// Modules: what all programs have; then some with the kinds of tiles that this one wants, some with its kernels.
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
  DeviceAddress side; // of inputs, clocks and context, from the first one: 0, or side_bytes
  size_t side_bytes;
  CudaInput *in;        // [input]
  CudaRounded *rounded; // as in the plan
  CudaRing ring;
  bool small_out; // all outputs are single numbers
  double
      *seconds; // [kernel] while profiling: then there is no graph, and each kernel is waited for
  uint64_t runs;
  int64_t place[8];
  size_t parts_bytes, scratch_bytes;
  CudaTracks tracks;
  uint32_t now;          // the track that launches go to
  bool dependent_launch; // a launch may be sent to its place while the one before it still runs
  CudaStep step[STEPS];  // captured ones
  CudaWhole whole;       // of one launch for several steps
  CudaFunction whole_fn;
  void *whole_given;  // a CudaSteps and pointers; NULL: not yet
  uint32_t together;  // steps in a graph, if so many wait
  uint64_t waiting;   // steps that are not launched yet
  uint32_t next_step; // the one that makes room for another
  bool lines_sent;    // tables of products are on the device
  bool sized;         // what is launched depends on the number of samples
  uint32_t first_write;
  uint32_t given_by; // the one kernel that makes all outputs, which are numbers; PLAN_NONE: none
} CudaEngine;

// -- cuda_engine.c --------------------------------------------------------------------------------
bool cuda_good(Engine *, CudaResult, const char *what); // false: e->error
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
DeviceAddress cuda_state(const State *); // where it is
bool cuda_function(Engine *, CudaEngine *, CudaModule, const char *name, CudaFunction *);
bool cuda_shared(Engine *, CudaEngine *, CudaFunction, size_t bytes); // it may have so much
uint32_t cuda_texts(uint32_t wanted);                                 // how many it will be
size_t cuda_aligned(size_t);
size_t cuda_bytes(const PlanWire *);

void cuda_fill_wires(Engine *, CudaEngine *, uint32_t kernel); // its table of pointers

// -- cuda_whole.c ---------------------------------------------------------------------------------
// A step may be one launch, as far as what it is given goes: then what its text needs to know.
const CudaSlot *whole_slot(const Engine *, const CudaEngine *);
bool whole_launch(Engine *, CudaEngine *); // all steps that wait for it

// -- cuda_steps.c ---------------------------------------------------------------------------------
uint32_t steps_given_by(const CudaEngine *);
uint32_t steps_together(CudaEngine *);
bool steps_queue(Engine *, CudaEngine *);  // one more, which may wait for others
bool steps_launch(Engine *, CudaEngine *); // all that wait
bool steps_others(Engine *, CudaEngine *); // those of another engine: they come first
void steps_forget(Engine *, CudaEngine *); // what waits is not done any more
void steps_free(CudaEngine *);

// -- cuda_tiles.c ---------------------------------------------------------------------------------
static inline int64_t length_most(const Plan *p, CudaLength l) {
  return l.fixed + l.per * p->samples;
}
void tile_choose(const Engine *, const CudaEngine *, const PlanNode *, CudaCall *);
bool stripes_finish(const Engine *); // may products finish what is made of their cells?
CudaLaunch tile_launch(const CudaEngine *, CudaCall *);
size_t tile_shared(const CudaCall *);
const char *tile_name(Engine *, const CudaCall *);
void tile_write(Engine *, const CudaCall *, Buf *); // its function

// -- cuda_products.c ------------------------------------------------------------------------------
void products_prepare(Engine *, CudaEngine *); // all that the plan has
// Their functions, behind this, as so many texts; the first of them has all of what the others begin with, up to `same`.
uint32_t products_text(Engine *, CudaEngine *, CudaKernel *, Buf front, Buf *, size_t *same);
bool products_open(Engine *, CudaEngine *);   // … compiled
void products_search(Engine *, CudaEngine *); // the fastest ways of cuBLASLt
bool product_launch(Engine *, CudaEngine *, uint32_t kernel, int64_t n);
void products_free(CudaEngine *);

// -- cuda_tracks.c ---------------------------------------------------------------------------------
void tracks_find(Engine *, CudaEngine *);           // which kernel goes where
double tracks_takes(const Plan *, uint32_t kernel); // about how long, in microseconds
bool tracks_open(Engine *, CudaEngine *);           // when a step begins to be captured
void tracks_close(CudaEngine *);
bool tracks_part(Engine *, CudaEngine *); // from here on kernels go to their tracks
bool tracks_meet(Engine *, CudaEngine *); // from here on the first track is alone
// What follows is beside kernels, behind the one before, or behind all until now.
bool tracks_aside(Engine *, CudaEngine *, bool all);
bool tracks_looked(Engine *, CudaEngine *);  // … the losses have been looked at there
void tracks_back(CudaEngine *, uint32_t to); // … and that was all
bool tracks_end(Engine *, CudaEngine *);     // the first track waits for what is aside
bool track_enter(Engine *, CudaEngine *, uint32_t kernel);
bool track_leave(Engine *, CudaEngine *, uint32_t kernel);

// -- cuda_ring.c ----------------------------------------------------------------------------------
void ring_lay(Engine *, CudaEngine *);                   // what its small part has where
size_t ring_output(const CudaEngine *, uint32_t output); // where it lies in a slot
DeviceAddress ring_done(const CudaEngine *); // what the caller watches: how many steps are whole
bool ring_send(Engine *, CudaEngine *, int64_t n, uint64_t step);
// Launches what a step begins with; next: not this one, but the one behind it.
bool ring_take(Engine *, CudaEngine *, bool next);
bool ring_give(Engine *, CudaEngine *);                  // … and ends with
bool ring_bring(Engine *, CudaEngine *, uint64_t step);  // outputs that are large
bool ring_by_sample(const CudaEngine *, uint32_t input); // its first axis is the samples
bool ring_comes_whole(const CudaEngine *); // an input that has a table comes as samples
bool ring_wait(Engine *, CudaEngine *);    // for the oldest step, whose outputs are shown then
void ring_recall(Engine *, CudaEngine *);  // the inputs of that step, as the caller wrote them
void ring_free(CudaEngine *);
uint64_t ring_room(const CudaEngine *);
int32_t *cuda_table(Engine *, uint32_t input, const EngineTable *);

#endif
