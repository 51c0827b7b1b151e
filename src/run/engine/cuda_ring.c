// The ring buffer between host and GPU: one slot for each queued step, in pinned host memory that the
// device reads and writes. A step copies its small inputs from its slot and writes its losses back, so a
// step costs the host one launch. Large inputs are copied before the step, or gathered from a table on the
// device.
#define _POSIX_C_SOURCE 200809L
#include "run/engine/cuda_own.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum {
  RING_BYTES = 256 << 20,
  TABLE_SHARE = 4,        // a table takes at most a quarter of the free memory
  TABLE_PIECE = 16 << 20, // bytes that are read and sent at once
  SPINS = 50000, // before sleeping: some tenths of a millisecond, longer than small steps take
  NAP = 20000,   // nanoseconds of a sleep; the system adds about twice as many
  QUERY_EVERY = 256,
};

// -- layout ---------------------------------------------------------------------------------------
static uint64_t slots_for(const CudaEngine *o) {
  uint64_t n = o->scalar_outputs ? RING_BYTES / o->ring.slot_bytes : 1,
           most = o->fused.lanes ? QUEUE : QUEUE_LARGE;
  return n < 1 ? 1 : n > most ? most : n;
}

// The size of a slot is known when the first step is sent.
uint64_t ring_slots(const CudaEngine *o) { return o->ring.host ? o->ring.slots : 1; }

static size_t rows_bytes(const CudaEngine *o) {
  return (size_t)(ROWS_HEAD + o->plan->samples) * sizeof(int32_t);
}

// Small alignment: a fused step copies its slot into shared memory.
static size_t align_32(size_t n) { return (n + 31) / 32 * 32; }

void ring_lay_out(Engine *e, CudaEngine *o) {
  const Plan *p = o->plan;
  CudaRing *r = &o->ring;
  o->in = NEW_ARRAY(e->arena, CudaInput, p->in.n + 1);
  r->clock_at = align_32(sizeof(CudaContextData));
  size_t at = align_32(r->clock_at + 8 * (size_t)(p->param.n + 1));
  for (uint32_t i = 0; i < p->in.n; i++) {
    CudaInput *in = &o->in[i];
    in->bytes = cuda_bytes(&p->wire.at[p->in.at[i]]);
    in->small = in->bytes <= INPUT_SMALL;
    in->small_at = at;
    at = align_32(at + (in->small ? in->bytes : rows_bytes(o)));
    e->in[i] = arena_alloc(e->arena, in->bytes + 64);
    memset(e->in[i], 0, in->bytes);
  }
  r->small_bytes = align_32(at + sizeof(int64_t)); // the slot's sequence number comes last
  o->scalar_outputs = true;
  for (uint32_t i = 0; i < p->out.n; i++) o->scalar_outputs &= !p->wire.at[p->out.at[i]].rank;
}

size_t ring_output(const CudaEngine *o, uint32_t output) {
  const Plan *p = o->plan;
  size_t at = cuda_aligned(o->ring.small_bytes);
  for (uint32_t i = 0; i < output; i++) at += cuda_aligned(cuda_bytes(&p->wire.at[p->out.at[i]]));
  return at;
}

// Called when it is known which inputs have tables.
static bool allocate_ring(Engine *e, CudaEngine *o) {
  const Plan *p = o->plan;
  CudaRing *r = &o->ring;
  if (r->host) return true;
  size_t at = ring_output(o, p->out.n);
  for (uint32_t i = 0; i < p->in.n; i++) {
    if (o->in[i].small || o->in[i].table) continue;
    o->steps_per_launch = 1; // the input has one buffer on the device
    o->in[i].slot_at = at;
    at = cuda_aligned(at + o->in[i].bytes);
  }
  r->slot_bytes = at;
  r->slots = slots_for(o);
  void *host = NULL;
  size_t all = r->slots * r->slot_bytes + sizeof(int64_t);
  if (!cuda_check(e, o->d->call.cuMemAllocHost_v2(&host, all), "memory beside a step"))
    return false;
  memset(host, 0, all);
  r->host = host;
  return true;
}

void ring_free(CudaEngine *o) {
  if (o->ring.host) o->d->call.cuMemFreeHost(o->ring.host);
  for (uint32_t i = 0; o->in && i < o->plan->in.n; i++)
    if (o->in[i].table) o->d->call.cuMemFree_v2(o->in[i].table);
}

static char *slot_of(const CudaRing *r, uint64_t step) {
  return r->host + step % r->slots * r->slot_bytes;
}

static void expose_outputs(Engine *e, const CudaEngine *o, uint64_t step) {
  for (uint32_t i = 0; i < o->plan->out.n; i++)
    e->out[i] = slot_of(&o->ring, step) + ring_output(o, i);
}

// -- tables ---------------------------------------------------------------------------------------
bool ring_by_sample(const CudaEngine *o, uint32_t input) {
  const PlanWire *w = &o->plan->wire.at[o->plan->in.at[input]];
  return w->rank && !w->shape[0].c && w->shape[0].per == 1 && o->plan->samples > 0;
}

bool ring_bypasses_table(const CudaEngine *o) {
  for (uint32_t i = 0; i < o->plan->in.n; i++)
    if (o->in[i].table && !o->in[i].rows[0]) return true;
  return false;
}

// The input can have a table: it is large, its first axis is the samples, and the table fits.
static bool can_have_table(const CudaEngine *o, uint32_t input, const EngineTable *t) {
  const CudaInput *in = &o->in[input];
  size_t left = 0, total = 0;
  if (in->small || in->table || o->ring.host || !ring_by_sample(o, input) || t->rows > INT32_MAX)
    return false;
  o->d->call.cuMemGetInfo_v2(&left, &total);
  return (size_t)t->rows <= left / TABLE_SHARE / (in->bytes / (size_t)o->plan->samples);
}

static bool send_rows(const CudaEngine *o, const EngineTable *t, DeviceAddress to, size_t row_bytes,
                      char *piece, int64_t each) {
  for (int64_t at = 0; at < t->rows; at += each) {
    int64_t n = at + each < t->rows ? each : t->rows - at;
    if (!t->read(t->of, at, n, piece) ||
        o->d->call.cuMemcpyHtoDAsync_v2(to + (uint64_t)at * row_bytes, piece, (size_t)n * row_bytes,
                                        o->d->stream) ||
        o->d->call.cuStreamSynchronize(o->d->stream))
      return false;
  }
  return true;
}

int32_t *cuda_table(Engine *e, uint32_t input, const EngineTable *t) {
  CudaEngine *o = e->impl;
  CudaInput *in = &o->in[input];
  o->d->call.cuCtxSetCurrent(o->d->context);
  if (!can_have_table(o, input, t)) return NULL;
  size_t row_bytes = in->bytes / (size_t)o->plan->samples;
  int64_t each = (int64_t)(TABLE_PIECE / row_bytes) + 1;
  DeviceAddress at = 0;
  char *piece = malloc((size_t)each * row_bytes);
  bool good = piece && !o->d->call.cuMemAlloc_v2(&at, (size_t)t->rows * row_bytes + 64) &&
              send_rows(o, t, at, row_bytes, piece, each);
  free(piece);
  if (!good) {
    if (at) o->d->call.cuMemFree_v2(at);
    return NULL;
  }
  in->table = at;
  in->row_bytes = row_bytes;
  in->rows = arena_alloc(e->arena, rows_bytes(o));
  memset(in->rows, 0, rows_bytes(o));
  return in->rows + ROWS_HEAD;
}

// -- to the device --------------------------------------------------------------------------------
// Copies row numbers into a slot. -1 marks missing rows: after the last sample, or all of them when the
// samples are sent themselves.
static void send_row_numbers(const CudaEngine *o, const CudaInput *in, int32_t *to) {
  int64_t n = o->ring.n[o->ring.queued % o->ring.slots];
  memcpy(to, in->rows, rows_bytes(o));
  for (int64_t k = in->rows[0] ? n : 0; k < o->plan->samples; k++) to[ROWS_HEAD + k] = -1;
}

// Copies an input into the slot; the transfer of a large input is started. An input that has a table but
// comes as samples has no part in the slot: it is sent from the caller's memory, synchronously.
static CudaResult send_input(Engine *e, CudaEngine *o, uint32_t i, char *slot) {
  const CudaCalls *c = &o->d->call;
  CudaInput *in = &o->in[i];
  CudaResult r = 0;
  if (in->small) return memcpy(slot + in->small_at, e->in[i], in->bytes), r;
  if (in->rows) send_row_numbers(o, in, (int32_t *)(void *)(slot + in->small_at));
  if (in->rows && in->rows[0]) return in->rows[0] = 0, r;
  if (in->table) {
    r = c->cuMemcpyHtoDAsync_v2(in->at, e->in[i], in->bytes, o->d->stream);
    return r ? r : c->cuStreamSynchronize(o->d->stream);
  }
  memcpy(slot + in->slot_at, e->in[i], in->bytes);
  return c->cuMemcpyHtoDAsync_v2(in->at, slot + in->slot_at, in->bytes, o->d->stream);
}

// Publishes the slot: the device may read it from here on.
static void publish_slot(const CudaRing *r, char *slot) {
  _Atomic int64_t *number = (void *)(slot + r->small_bytes - sizeof(int64_t));
  atomic_store_explicit(number, (int64_t)r->queued + 1, memory_order_release);
}

bool ring_send(Engine *e, CudaEngine *o, int64_t n, uint64_t step) {
  CudaRing *r = &o->ring;
  CudaResult result = 0;
  if (!allocate_ring(e, o)) return false;
  char *slot = slot_of(r, r->queued);
  engine_set_clocks(e, step, (double *)(void *)(slot + r->clock_at));
  *(CudaContextData *)(void *)slot = (CudaContextData){
      .n = n, .seed = e->target.seed, .step = step, .scratch = o->scratch, .parts = o->parts};
  r->n[r->queued % r->slots] = n;
  for (uint32_t i = 0; !result && i < o->plan->in.n; i++) result = send_input(e, o, i, slot);
  publish_slot(r, slot);
  return cuda_check(e, result, "a batch to the GPU");
}

static DeviceAddress ring_device_address(const CudaRing *r) {
  return (DeviceAddress)(uintptr_t)r->host;
}

DeviceAddress ring_done(const CudaEngine *o) {
  return ring_device_address(&o->ring) + o->ring.slots * o->ring.slot_bytes;
}

static bool launch_take(Engine *e, CudaEngine *o, CudaTake *take) {
  int64_t rows = take->tables ? o->plan->samples : 1;
  return cuda_launch(e, o,
                     &(CudaLaunch){.fn = o->take, .blocks = rows, .threads = 256, .wires = take});
}

// Copies the small part, and gathers up to TABLES tables for each launch.
bool ring_begin_step(Engine *e, CudaEngine *o, bool next) {
  const CudaRing *r = &o->ring;
  CudaTake take = {.ring = ring_device_address(r),
                   .ahead = r->ahead,
                   .here = r->small + o->buffer_offset,
                   .slot_bytes = (int64_t)r->slot_bytes,
                   .slots = (int64_t)r->slots,
                   .bytes = (int64_t)r->small_bytes,
                   .small = (int64_t)r->small_bytes,
                   .counter = r->counter,
                   .next = next};
  for (uint32_t i = 0; i < o->plan->in.n; i++) {
    const CudaInput *in = &o->in[i];
    if (!in->table) continue;
    if (take.tables == TABLES) {
      if (!launch_take(e, o, &take)) return false;
      take.tables = 0;
      take.bytes = 0;
    }
    take.table[take.tables++] = (CudaTable){.from = in->table,
                                            .to = in->at + o->buffer_offset,
                                            .bytes = (int64_t)in->row_bytes,
                                            .at = (int64_t)in->small_at,
                                            .most = o->plan->samples};
  }
  return launch_take(e, o, &take);
}

// -- to the host ----------------------------------------------------------------------------------
static bool launch_give(Engine *e, CudaEngine *o, CudaGive *g) {
  uint32_t threads = g->ahead ? 256 : 1;
  return cuda_launch(e, o,
                     &(CudaLaunch){.fn = o->give, .blocks = 1, .threads = threads, .wires = g});
}

// Up to GIVEN outputs for each launch; the last launch also counts the step as finished. On the side stream
// it also copies the next slot.
bool ring_end_step(Engine *e, CudaEngine *o) {
  const CudaRing *r = &o->ring;
  const Plan *p = o->plan;
  CudaGive give = {.ring = ring_device_address(r),
                   .slot_bytes = (int64_t)r->slot_bytes,
                   .slots = (int64_t)r->slots,
                   .small = (int64_t)r->small_bytes,
                   .counter = r->counter,
                   .done = ring_done(o)};
  for (uint32_t i = 0; o->scalar_outputs && i < p->out.n; i++) {
    const PlanWire *w = &p->wire.at[p->out.at[i]];
    if (give.n == GIVEN) {
      if (!launch_give(e, o, &give)) return false;
      give.n = 0;
    }
    give.from[give.n] = cuda_wire(e, o, p->out.at[i]);
    give.at[give.n] = (int32_t)ring_output(o, i);
    give.bytes[give.n++] = (int32_t)cuda_bytes(w);
  }
  give.last = 1;
  if (o->streams.prefetches && o->current_stream == SIDE_STREAM) give.ahead = r->ahead;
  return launch_give(e, o, &give);
}

bool ring_fetch_outputs(Engine *e, CudaEngine *o, uint64_t step) {
  const Plan *p = o->plan;
  CudaResult r = 0;
  if (o->scalar_outputs) return true;
  expose_outputs(e, o, step);
  for (uint32_t i = 0; !r && i < p->out.n; i++) {
    size_t bytes = cuda_bytes(&p->wire.at[p->out.at[i]]);
    if (bytes)
      r = o->d->call.cuMemcpyDtoHAsync_v2(e->out[i], cuda_wire(e, o, p->out.at[i]), bytes,
                                          o->d->stream);
  }
  return cuda_check(e, r, "a step on the GPU failed");
}

// The number of finished steps, as written by the device.
static uint64_t finished_steps(const CudaRing *r) {
  const volatile int64_t *done = (const void *)(r->host + r->slots * r->slot_bytes);
  uint64_t n = (uint64_t)*done;
  atomic_thread_fence(memory_order_acquire);
  return n;
}

bool ring_wait(Engine *e, CudaEngine *o) {
  CudaRing *r = &o->ring;
  CudaResult result = o->scalar_outputs ? CUDA_NOT_READY : 0;
  for (uint32_t turn = 0; result == CUDA_NOT_READY && finished_steps(r) <= r->done; turn++) {
    if (turn % QUERY_EVERY == QUERY_EVERY - 1) result = o->d->call.cuStreamQuery(o->d->stream);
    if (turn > SPINS) nanosleep(&(struct timespec){.tv_nsec = NAP}, NULL);
  }
  // the stream is idle, or a call failed
  if (result != CUDA_NOT_READY) result = o->d->call.cuStreamSynchronize(o->d->stream);
  if (result == CUDA_NOT_READY) result = 0;
  if (!cuda_check(e, result, "a step on the GPU failed")) return false;
  expose_outputs(e, o, r->done++);
  return true;
}

void ring_restore_inputs(Engine *e, CudaEngine *o) {
  const CudaRing *r = &o->ring;
  uint64_t step = r->done - 1;
  const char *slot = slot_of(r, step);
  for (uint32_t i = 0; i < o->plan->in.n; i++) {
    const CudaInput *in = &o->in[i];
    const int32_t *rows = (const void *)(slot + in->small_at);
    if (in->small)
      memcpy(e->in[i], slot + in->small_at, in->bytes);
    else if (!in->table)
      memcpy(e->in[i], slot + in->slot_at, in->bytes);
    else
      for (int64_t k = 0; rows[0] && k < r->n[step % r->slots]; k++)
        o->d->call.cuMemcpyDtoHAsync_v2((char *)e->in[i] + (size_t)k * in->row_bytes,
                                        in->table + (uint64_t)rows[ROWS_HEAD + k] * in->row_bytes,
                                        in->row_bytes, o->d->stream);
  }
}
