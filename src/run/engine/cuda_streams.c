// Concurrent kernels: list scheduling of a step's kernels on a few streams, which are captured as one CUDA
// graph. Independent kernels (the gradient of a weight, the gradient of the layer's input, sums of columns)
// then overlap. A kernel waits for earlier ones with a read/write or write/write conflict on its memory,
// including aliases and scratch. The order of sums does not change, so results stay bit-identical.
//
// Losses are tested on a side stream; only kernels that overwrite states wait for the test. All streams
// join around scans and at the end.
#include "run/engine/cuda_own.h"

#include <math.h>
#include <stdlib.h>

enum { KERNELS_LIMIT = 2000 };       // the comparison of all pairs takes too long for more
static const double LONG_KERNEL = 3; // microseconds, by kernel_microseconds
// Events after those of kernels: of streams, and of the tested losses.
enum { LOSSES_TESTED = ALL_STREAMS, EVENTS };

typedef struct {
  DeviceAddress from, to;
  bool written;
} MemoryAccess;
typedef VEC(MemoryAccess) MemoryAccesses;

typedef struct {
  Engine *e;
  CudaEngine *o;
  uint32_t n;
  MemoryAccesses *access; // [kernel]
  uint8_t *before;        // [kernel · n + earlier kernel] it depends on it, directly or not
  double *cost;           // [kernel] microseconds, estimated
  double *remaining;      // [kernel] the critical path from its start to the end of the step
  double *end;            // [kernel] when it ends, after the last join
  // [kernel] of the kernels that wait for it, the one with the longest remaining path.
  uint32_t *successor;
  uint32_t last[STREAMS];
} StreamSearch;

// -- memory accesses of a kernel ------------------------------------------------------------------
static void access(StreamSearch *s, uint32_t k, DeviceAddress from, size_t bytes, bool written) {
  if (bytes) vec_push(s->e->arena, &s->access[k], ((MemoryAccess){from, from + bytes, written}));
}

static void access_wire(StreamSearch *s, uint32_t k, uint32_t wire, bool written) {
  const Plan *p = s->o->plan;
  const PlanWire *w = &p->wire.at[wire], *root = &p->wire.at[wire_root(p, wire)];
  int64_t reach = 1;
  if (root->place == AT_NOWHERE || root->place == AT_TILE || root->place == AT_REGISTER) return;
  for (uint32_t i = 0; i < w->rank; i++) reach += (extent_most(p, w->shape[i]) - 1) * w->stride[i];
  access(s, k, cuda_wire(s->e, s->o, wire), (size_t)reach * number_bytes(w->number), written);
}

static void find_accesses(StreamSearch *s, uint32_t k) {
  const Plan *p = s->o->plan;
  const Kernel *kernel = &p->kernel.at[k];
  const CudaCall *call = &s->o->call[k];
  for (uint32_t i = 0; i < kernel->to.n; i++) {
    access_wire(s, k, kernel->to.at[i], true);
    access_wire(s, k, kernel->from.at[i], false);
  }
  for (uint32_t j = 0; j < kernel->node.n; j++) {
    const PlanNode *x = &p->node.at[kernel->node.at[j]];
    if (x->kind == NODE_GONE || x->kind == NODE_SCAN || x->kind == NODE_SCAN_END) continue;
    for (uint32_t i = 0; i < x->nin; i++) access_wire(s, k, x->in[i].wire, false);
    access_wire(s, k, x->out.wire, true);
    for (uint32_t i = 0; i < x->nwinner; i++)
      if (x->winner[i] != PLAN_NONE) access_wire(s, k, x->winner[i], true);
  }
  bool product = kernel->kind == KERNEL_PRODUCT; // even with cuBLASLt, which may refuse it
  if (product ? call->product.parts > 1 : call->k.slices > 0)
    access(s, k, s->o->parts, s->o->parts_bytes, true);
  if (!product && !call->k.shared && call->k.tile_bytes)
    access(s, k, s->o->scratch, s->o->scratch_bytes, true);
}

static bool conflict(const MemoryAccesses *a, const MemoryAccesses *b) {
  for (uint32_t i = 0; i < a->n; i++)
    for (uint32_t j = 0; j < b->n; j++) {
      const MemoryAccess *x = &a->at[i], *y = &b->at[j];
      if ((x->written || y->written) && x->from < y->to && y->from < x->to) return true;
    }
  return false;
}

// -- dependences ----------------------------------------------------------------------------------
// All streams join before this kernel: it is in a scan, begins or ends one, or follows one.
static bool is_join(const CudaEngine *o, uint32_t k) {
  const Kernel *kernel = &o->plan->kernel.at[k];
  return kernel_in_scan(kernel) || (k && o->plan->kernel.at[k - 1].kind == KERNEL_SCAN_END);
}

// The kernels that this one waits for, transitively reduced. `since`: the first kernel after the last join.
static void find_waits(StreamSearch *s, uint32_t k, uint32_t since) {
  uint8_t *before = s->before + (size_t)k * s->n;
  Ids *wait = &s->o->call[k].wait;
  wait->n = 0;
  for (uint32_t i = k; i-- > since;) {
    if (before[i] || !conflict(&s->access[i], &s->access[k])) continue;
    vec_push(s->e->arena, wait, i);
    before[i] = 1;
    for (uint32_t j = since; j < i; j++) before[j] |= s->before[(size_t)i * s->n + j];
  }
}

double kernel_microseconds(const Plan *p, uint32_t k) {
  const Kernel *kernel = &p->kernel.at[k];
  return 2 + (double)kernel->work * (kernel->kind == KERNEL_PRODUCT ? 1e-8 : 1e-6);
}

static void find_remaining(StreamSearch *s) {
  const Plan *p = s->o->plan;
  for (uint32_t k = s->n; k-- > 0;) {
    s->cost[k] = kernel_microseconds(p, k);
    s->remaining[k] += s->cost[k];
    const Ids *wait = &s->o->call[k].wait;
    for (uint32_t i = 0; i < wait->n; i++) {
      uint32_t w = wait->at[i];
      if (s->remaining[k] < s->remaining[w]) continue;
      s->remaining[w] = s->remaining[k];
      s->successor[w] = k;
    }
  }
}

// The successor of this stream's last kernel has no stream yet.
static bool is_reserved(const StreamSearch *s, uint32_t stream, uint32_t k) {
  return s->last[stream] != PLAN_NONE && s->successor[s->last[stream]] > k;
}

// When all kernels that this one waits for have ended.
static double ready_at(const StreamSearch *s, uint32_t k) {
  const Ids *wait = &s->o->call[k].wait;
  double ready = 0;
  for (uint32_t i = 0; i < wait->n; i++)
    if (ready < s->end[wait->at[i]]) ready = s->end[wait->at[i]];
  return ready;
}

// The stream of the kernel whose successor it is. Otherwise a stream that is free when the kernel is ready
// and not reserved for a successor; of several, the one that has been idle for the shortest time.
static uint32_t choose_stream(const StreamSearch *s, uint32_t k, double ready) {
  static const double WANTED = 1e9, IDLE = 1e-6;
  uint32_t best = 0;
  double least = INFINITY;
  for (uint32_t l = 0; l < STREAMS; l++) {
    uint32_t last = s->last[l];
    if (last != PLAN_NONE && s->successor[last] == k) return l;
    double free = last == PLAN_NONE ? 0 : s->end[last],
           price = free > ready ? free - ready : IDLE * (ready - free);
    if (is_reserved(s, l, k)) price += WANTED;
    if (price < least) least = price, best = l;
  }
  return best;
}

static void assign_stream(StreamSearch *s, uint32_t k) {
  double ready = ready_at(s, k);
  uint32_t stream = choose_stream(s, k, ready), last = s->last[stream];
  double free = last == PLAN_NONE ? 0 : s->end[last];
  s->end[k] = (free > ready ? free : ready) + s->cost[k];
  s->last[stream] = k;
  s->o->call[k].stream_index = stream;
}

static void forget_streams(StreamSearch *s) {
  for (uint32_t l = 0; l < STREAMS; l++) s->last[l] = PLAN_NONE;
}

void streams_assign(Engine *e, CudaEngine *o) {
  uint32_t n = o->plan->kernel.n, since = 0;
  if (n > KERNELS_LIMIT || getenv("LIMN_CHAIN")) return;
  StreamSearch s = {.e = e,
                    .o = o,
                    .n = n,
                    .access = NEW_ARRAY(e->arena, MemoryAccesses, n + 1),
                    .before = NEW_ARRAY(e->arena, uint8_t, (size_t)n * n + 1),
                    .cost = NEW_ARRAY(e->arena, double, n + 1),
                    .remaining = NEW_ARRAY(e->arena, double, n + 1),
                    .end = NEW_ARRAY(e->arena, double, n + 1),
                    .successor = NEW_ARRAY(e->arena, uint32_t, n + 1)};
  for (uint32_t k = 0; k < n; k++) {
    find_accesses(&s, k);
    o->call[k].writes_state = kernel_writes_state(o->plan, &o->plan->kernel.at[k]);
    if (is_join(o, k)) since = k;
    find_waits(&s, k, since);
  }
  find_remaining(&s);
  forget_streams(&s);
  for (uint32_t k = 0; k < n; k++) {
    if (is_join(o, k)) forget_streams(&s);
    assign_stream(&s, k);
    const Ids *wait = &o->call[k].wait;
    for (uint32_t i = 0; i < wait->n; i++) o->call[wait->at[i]].has_waiters = true;
  }
  o->streams.on = true;
}

// -- while a step is captured ---------------------------------------------------------------------
bool streams_begin_capture(Engine *e, CudaEngine *o) {
  const CudaCalls *c = &o->d->call;
  uint32_t n = o->plan->kernel.n;
  o->streams.event = NEW_ARRAY(e->arena, CudaEvent, n + EVENTS);
  for (uint32_t i = 0; i < n + EVENTS; i++)
    if ((i >= n || o->call[i].has_waiters) &&
        !cuda_check(e, c->cuEventCreate(&o->streams.event[i], CUDA_EVENT_UNTIMED),
                    "a step's graph"))
      return false;
  o->streams.capturing = true;
  o->streams.next = 0;
  o->streams.tested_aside = false;
  return true;
}

void streams_end_capture(CudaEngine *o) {
  for (uint32_t i = 0; o->streams.event && i < o->plan->kernel.n + EVENTS; i++)
    if (o->streams.event[i]) o->d->call.cuEventDestroy_v2(o->streams.event[i]);
  o->streams.event = NULL;
  o->streams.capturing = o->streams.tested_aside = false;
  o->current_stream = 0;
}

static CudaEvent stream_event(const CudaEngine *o, uint32_t stream) {
  return o->streams.event[o->plan->kernel.n + stream];
}

static bool record_event(Engine *e, CudaEngine *o, CudaEvent event, uint32_t stream) {
  return cuda_check(e, o->d->call.cuEventRecord(event, o->d->streams[stream]), "a step's graph");
}
static bool wait_event(Engine *e, CudaEngine *o, CudaEvent event, uint32_t stream) {
  return cuda_check(e, o->d->call.cuStreamWaitEvent(o->d->streams[stream], event, 0),
                    "a step's graph");
}

bool streams_fork(Engine *e, CudaEngine *o) {
  if (!o->streams.capturing) return true;
  memset(o->streams.active, 0, sizeof o->streams.active);
  memset(o->streams.tested, 0, sizeof o->streams.tested);
  o->streams.active[0] = true;
  o->streams.forked_at = o->streams.next;
  return record_event(e, o, stream_event(o, 0), 0);
}

bool streams_join(Engine *e, CudaEngine *o) {
  o->current_stream = 0;
  for (uint32_t l = 1; o->streams.capturing && l < STREAMS; l++) {
    if (!o->streams.active[l]) continue;
    o->streams.active[l] = false;
    if (!record_event(e, o, stream_event(o, l), l) || !wait_event(e, o, stream_event(o, l), 0))
      return false;
  }
  return true;
}

// -- aside ----------------------------------------------------------------------------------------
static bool fork_side(Engine *e, CudaEngine *o, uint32_t from) {
  CudaEvent here = stream_event(o, SIDE_STREAM);
  return record_event(e, o, here, from) && wait_event(e, o, here, SIDE_STREAM);
}

bool streams_fork_side(Engine *e, CudaEngine *o, bool all) {
  for (uint32_t l = 0; l < STREAMS; l++)
    if ((all ? o->streams.active[l] : l == o->current_stream) && !fork_side(e, o, l)) return false;
  o->current_stream = SIDE_STREAM;
  o->dependent_launch = false;
  return true;
}

bool streams_losses_tested(Engine *e, CudaEngine *o) {
  return record_event(e, o, stream_event(o, LOSSES_TESTED), SIDE_STREAM);
}

void streams_return(CudaEngine *o, uint32_t to) { o->current_stream = to; }

bool streams_join_side(Engine *e, CudaEngine *o) {
  CudaEvent end = stream_event(o, SIDE_STREAM);
  return record_event(e, o, end, SIDE_STREAM) && wait_event(e, o, end, 0);
}

static bool wait_for_test(Engine *e, CudaEngine *o, uint32_t stream) {
  if (o->streams.tested[stream]) return true;
  o->streams.tested[stream] = true;
  return wait_event(e, o, stream_event(o, LOSSES_TESTED), stream);
}

// Selects the kernel's stream and waits for its dependences. A programmatic launch occupies the device
// while it waits, so it is not used after a long kernel of another stream.
bool stream_enter(Engine *e, CudaEngine *o, uint32_t k) {
  const CudaCall *call = &o->call[k];
  o->streams.next = k + 1;
  o->dependent_launch = true;
  if (!o->streams.capturing) return true;
  if (o->plan->kernel.at[k].depth)
    return !call->writes_state || wait_for_test(e, o, o->current_stream);
  o->current_stream = call->stream_index;
  if (!o->streams.active[o->current_stream]) {
    o->streams.active[o->current_stream] = true;
    o->dependent_launch = false;
    if (!wait_event(e, o, stream_event(o, 0), o->current_stream)) return false;
  }
  if (call->writes_state && !wait_for_test(e, o, o->current_stream)) return false;
  for (uint32_t i = 0; i < call->wait.n; i++) {
    uint32_t w = call->wait.at[i];
    if (w < o->streams.forked_at || o->call[w].stream_index == o->current_stream) continue;
    if (kernel_microseconds(o->plan, w) > LONG_KERNEL) o->dependent_launch = false;
    if (!wait_event(e, o, o->streams.event[w], o->current_stream)) return false;
  }
  return true;
}

bool stream_leave(Engine *e, CudaEngine *o, uint32_t k) {
  if (!o->streams.capturing || o->plan->kernel.at[k].depth || !o->call[k].has_waiters) return true;
  return record_event(e, o, o->streams.event[k], o->current_stream);
}
