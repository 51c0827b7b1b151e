// What goes to the GPU and comes back. Steps wait in a ring of slots in the caller's memory, which the
// device can read and write: a step takes its small inputs from there by itself and gives its losses
// back, so that one launch is all that a step costs here. Large inputs are copied in front of it, unless
// they are rows of a table that the device has.
#define _POSIX_C_SOURCE 200809L
#include "run/engine/cuda_own.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum {
  RING_BYTES = 256 << 20,
  TABLE_SHARE = 4,        // of the memory that is free, at most, for a table
  TABLE_PIECE = 16 << 20, // that is read and sent at once
  SPINS = 50000, // before a nap: some tenths of a millisecond, longer than a launch of small steps
  NAP = 20000,   // its nanoseconds; those of the system come on top, which are twice as many
  QUERY_EVERY = 256,
};

// -- layout ---------------------------------------------------------------------------------------
static uint64_t slots_for(const CudaEngine *o) {
  uint64_t n = o->small_out ? RING_BYTES / o->ring.slot_bytes : 1,
           most = o->whole.lanes ? QUEUE : QUEUE_LARGE;
  return n < 1 ? 1 : n > most ? most : n;
}

// Before the first step it is not known yet how large a slot is.
uint64_t ring_room(const CudaEngine *o) { return o->ring.host ? o->ring.slots : 1; }

static size_t rows_bytes(const CudaEngine *o) {
  return (size_t)(ROWS_HEAD + o->plan->samples) * sizeof(int32_t);
}

// A step that is one launch brings its slot into memory of which there is little.
static size_t close_by(size_t n) { return (n + 31) / 32 * 32; }

void ring_lay(Engine *e, CudaEngine *o) {
  const Plan *p = o->plan;
  CudaRing *r = &o->ring;
  o->in = NEW_ARRAY(e->arena, CudaInput, p->in.n + 1);
  r->clock_at = close_by(sizeof(CudaContextData));
  size_t at = close_by(r->clock_at + 8 * (size_t)(p->param.n + 1));
  for (uint32_t i = 0; i < p->in.n; i++) {
    CudaInput *in = &o->in[i];
    in->bytes = cuda_bytes(&p->wire.at[p->in.at[i]]);
    in->small = in->bytes <= INPUT_SMALL;
    in->small_at = at;
    at = close_by(at + (in->small ? in->bytes : rows_bytes(o)));
    e->in[i] = arena_alloc(e->arena, in->bytes + 64);
    memset(e->in[i], 0, in->bytes);
  }
  r->small_bytes = close_by(at + sizeof(int64_t)); // the slot's number is the last of them
  o->small_out = true;
  for (uint32_t i = 0; i < p->out.n; i++) o->small_out &= !p->wire.at[p->out.at[i]].rank;
}

size_t ring_output(const CudaEngine *o, uint32_t output) {
  const Plan *p = o->plan;
  size_t at = cuda_aligned(o->ring.small_bytes);
  for (uint32_t i = 0; i < output; i++) at += cuda_aligned(cuda_bytes(&p->wire.at[p->out.at[i]]));
  return at;
}

// Once it is known which inputs are rows.
static bool make_ring(Engine *e, CudaEngine *o) {
  const Plan *p = o->plan;
  CudaRing *r = &o->ring;
  if (r->host) return true;
  size_t at = ring_output(o, p->out.n);
  for (uint32_t i = 0; i < p->in.n; i++) {
    if (o->in[i].small || o->in[i].table) continue;
    o->together = 1; // it has one place
    o->in[i].slot_at = at;
    at = cuda_aligned(at + o->in[i].bytes);
  }
  r->slot_bytes = at;
  r->slots = slots_for(o);
  void *host = NULL;
  size_t all = r->slots * r->slot_bytes + sizeof(int64_t);
  if (!cuda_good(e, o->d->call.cuMemAllocHost_v2(&host, all), "memory beside a step")) return false;
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

static void show_slot(Engine *e, const CudaEngine *o, uint64_t step) {
  for (uint32_t i = 0; i < o->plan->out.n; i++)
    e->out[i] = slot_of(&o->ring, step) + ring_output(o, i);
}

// -- tables ---------------------------------------------------------------------------------------
bool ring_by_sample(const CudaEngine *o, uint32_t input) {
  const PlanWire *w = &o->plan->wire.at[o->plan->in.at[input]];
  return w->rank && !w->shape[0].c && w->shape[0].per == 1 && o->plan->samples > 0;
}

bool ring_comes_whole(const CudaEngine *o) {
  for (uint32_t i = 0; i < o->plan->in.n; i++)
    if (o->in[i].table && !o->in[i].rows[0]) return true;
  return false;
}

// A large input whose first axis is the samples, and room for the table.
static bool takes_table(const CudaEngine *o, uint32_t input, const EngineTable *t) {
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
  if (!takes_table(o, input, t)) return NULL;
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
// The numbers of rows; behind the last one, and where samples come by themselves, there are none.
static void send_numbers(const CudaEngine *o, const CudaInput *in, int32_t *to) {
  int64_t n = o->ring.n[o->ring.queued % o->ring.slots];
  memcpy(to, in->rows, rows_bytes(o));
  for (int64_t k = in->rows[0] ? n : 0; k < o->plan->samples; k++) to[ROWS_HEAD + k] = -1;
}

// What the caller wrote, into the slot; a large input is on its way then. One that has a table but came
// as samples has no place in a slot: it is sent from where it is, and waited for.
static CudaResult send_input(Engine *e, CudaEngine *o, uint32_t i, char *slot) {
  const CudaCalls *c = &o->d->call;
  CudaInput *in = &o->in[i];
  CudaResult r = 0;
  if (in->small) return memcpy(slot + in->small_at, e->in[i], in->bytes), r;
  if (in->rows) send_numbers(o, in, (int32_t *)(void *)(slot + in->small_at));
  if (in->rows && in->rows[0]) return in->rows[0] = 0, r;
  if (in->table) {
    r = c->cuMemcpyHtoDAsync_v2(in->at, e->in[i], in->bytes, o->d->stream);
    return r ? r : c->cuStreamSynchronize(o->d->stream);
  }
  memcpy(slot + in->slot_at, e->in[i], in->bytes);
  return c->cuMemcpyHtoDAsync_v2(in->at, slot + in->slot_at, in->bytes, o->d->stream);
}

// From here on the device may read it.
static void number_slot(const CudaRing *r, char *slot) {
  _Atomic int64_t *number = (void *)(slot + r->small_bytes - sizeof(int64_t));
  atomic_store_explicit(number, (int64_t)r->queued + 1, memory_order_release);
}

bool ring_send(Engine *e, CudaEngine *o, int64_t n, uint64_t step) {
  CudaRing *r = &o->ring;
  CudaResult result = 0;
  if (!make_ring(e, o)) return false;
  char *slot = slot_of(r, r->queued);
  engine_set_clocks(e, step, (double *)(void *)(slot + r->clock_at));
  *(CudaContextData *)(void *)slot = (CudaContextData){
      .n = n, .seed = e->target.seed, .step = step, .scratch = o->scratch, .parts = o->parts};
  r->n[r->queued % r->slots] = n;
  for (uint32_t i = 0; !result && i < o->plan->in.n; i++) result = send_input(e, o, i, slot);
  number_slot(r, slot);
  return cuda_good(e, result, "a batch to the GPU");
}

static DeviceAddress ring_there(const CudaRing *r) { return (DeviceAddress)(uintptr_t)r->host; }

DeviceAddress ring_done(const CudaEngine *o) {
  return ring_there(&o->ring) + o->ring.slots * o->ring.slot_bytes;
}

static bool launch_take(Engine *e, CudaEngine *o, CudaTake *take) {
  int64_t rows = take->tables ? o->plan->samples : 1;
  return cuda_launch(e, o,
                     &(CudaLaunch){.fn = o->take, .blocks = rows, .threads = 256, .wires = take});
}

// What is small, and some tables at a time.
bool ring_take(Engine *e, CudaEngine *o, bool next) {
  const CudaRing *r = &o->ring;
  CudaTake take = {.ring = ring_there(r),
                   .ahead = r->ahead,
                   .here = r->small + o->side,
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
                                            .to = in->at + o->side,
                                            .bytes = (int64_t)in->row_bytes,
                                            .at = (int64_t)in->small_at,
                                            .most = o->plan->samples};
  }
  return launch_take(e, o, &take);
}

// -- and back -------------------------------------------------------------------------------------
static bool launch_give(Engine *e, CudaEngine *o, CudaGive *g) {
  uint32_t threads = g->ahead ? 256 : 1;
  return cuda_launch(e, o,
                     &(CudaLaunch){.fn = o->give, .blocks = 1, .threads = threads, .wires = g});
}

// Some outputs at a time; the last time with the word that the step is whole. Who gives aside has the time to look ahead.
bool ring_give(Engine *e, CudaEngine *o) {
  const CudaRing *r = &o->ring;
  const Plan *p = o->plan;
  CudaGive give = {.ring = ring_there(r),
                   .slot_bytes = (int64_t)r->slot_bytes,
                   .slots = (int64_t)r->slots,
                   .small = (int64_t)r->small_bytes,
                   .counter = r->counter,
                   .done = ring_done(o)};
  for (uint32_t i = 0; o->small_out && i < p->out.n; i++) {
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
  if (o->tracks.peeks && o->now == ASIDE) give.ahead = r->ahead;
  return launch_give(e, o, &give);
}

bool ring_bring(Engine *e, CudaEngine *o, uint64_t step) {
  const Plan *p = o->plan;
  CudaResult r = 0;
  if (o->small_out) return true;
  show_slot(e, o, step);
  for (uint32_t i = 0; !r && i < p->out.n; i++) {
    size_t bytes = cuda_bytes(&p->wire.at[p->out.at[i]]);
    if (bytes)
      r = o->d->call.cuMemcpyDtoHAsync_v2(e->out[i], cuda_wire(e, o, p->out.at[i]), bytes,
                                          o->d->stream);
  }
  return cuda_good(e, r, "a step on the GPU failed");
}

// How many steps are whole, as the device has written it.
static uint64_t whole_steps(const CudaRing *r) {
  const volatile int64_t *done = (const void *)(r->host + r->slots * r->slot_bytes);
  uint64_t n = (uint64_t)*done;
  atomic_thread_fence(memory_order_acquire);
  return n;
}

bool ring_wait(Engine *e, CudaEngine *o) {
  CudaRing *r = &o->ring;
  CudaResult result = o->small_out ? CUDA_NOT_READY : 0;
  for (uint32_t turn = 0; result == CUDA_NOT_READY && whole_steps(r) <= r->done; turn++) {
    if (turn % QUERY_EVERY == QUERY_EVERY - 1) result = o->d->call.cuStreamQuery(o->d->stream);
    if (turn > SPINS) nanosleep(&(struct timespec){.tv_nsec = NAP}, NULL);
  }
  // all that was queued is done, or something went wrong
  if (result != CUDA_NOT_READY) result = o->d->call.cuStreamSynchronize(o->d->stream);
  if (result == CUDA_NOT_READY) result = 0;
  if (!cuda_good(e, result, "a step on the GPU failed")) return false;
  show_slot(e, o, r->done++);
  return true;
}

void ring_recall(Engine *e, CudaEngine *o) {
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
