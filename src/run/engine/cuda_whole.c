// Small steps on the GPU: a whole step is one function that one block runs (emit_cuda.c), and several steps that
// wait in the ring are one launch: what a launch costs is shared by all of them.
#include "run/engine/cuda_own.h"

enum { GIVEN_BYTES = 4000 }; // that a launch may be given

static size_t given_bytes(const CudaEngine *o) {
  size_t bytes = sizeof(CudaStepHead);
  const Ids *slot = kernel_slots(o->plan);
  for (uint32_t i = 0; i < o->plan->kernel.n; i++)
    bytes += (slot[i].n > 2 ? slot[i].n : 2) * sizeof(DeviceAddress);
  return bytes;
}

// Everything that a step takes from its slot and gives back is small, and nobody asks how long each kernel takes.
bool whole_fits(const Engine *e, const CudaEngine *o) {
  const Plan *p = o->plan;
  uint32_t brought = 0;
  for (uint32_t i = 0; i < e->d->param.n; i++) brought += engine_brings(e, i);
  for (uint32_t i = 0; i < p->in.n; i++)
    if (cuda_bytes(&p->wire.at[p->in.at[i]]) > INPUT_SMALL) return false;
  for (uint32_t i = 0; i < p->out.n; i++)
    if (p->wire.at[p->out.at[i]].rank) return false;
  return !o->seconds && p->out.n < GIVEN && brought < BROUGHT && given_bytes(o) <= GIVEN_BYTES;
}

static CudaStepHead *head_of(CudaEngine *o) { return o->whole_given; }
static bool put_give(Engine *e, CudaEngine *o, CudaGive *g) {
  (void)e;
  head_of(o)->give = *g;
  return true;
}
static bool put_look(Engine *e, CudaEngine *o, CudaLosses *l) {
  (void)e;
  head_of(o)->look = *l;
  return true;
}
static bool put_brought(Engine *e, CudaEngine *o, CudaBrought *b) {
  (void)e;
  *(b->back ? &head_of(o)->back : &head_of(o)->brought) = *b;
  return true;
}

static void put_wires(Engine *e, CudaEngine *o) {
  const Plan *p = o->plan;
  DeviceAddress *to = (DeviceAddress *)(head_of(o) + 1);
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    const Kernel *k = &p->kernel.at[i];
    uint32_t n = o->call[i].k.emit.slot.n;
    if (k->kind == KERNEL_COPY) {
      *to++ = cuda_wire(e, o, k->to);
      *to++ = cuda_wire(e, o, k->from);
    }
    if (!kernel_has_text(k)) continue;
    cuda_fill_wires(e, o, i);
    memcpy(to, o->call[i].wire, n * sizeof *to);
    to += n ? n : 1; // a kernel without pointers has room for one
  }
}

static void fill_given(Engine *e, CudaEngine *o) {
  if (o->whole_given) return;
  o->whole_given = arena_alloc(e->arena, given_bytes(o));
  memset(o->whole_given, 0, given_bytes(o));
  head_of(o)->take = ring_takes(o);
  head_of(o)->near = o->parts;
  ring_gives(e, o, put_give);
  cuda_losses(e, o, put_look);
  cuda_brought(e, o, false, put_brought);
  cuda_brought(e, o, true, put_brought);
  put_wires(e, o);
}

bool whole_launch(Engine *e, CudaEngine *o) {
  if (!o->waiting) return true;
  fill_given(e, o);
  head_of(o)->steps = (int64_t)o->waiting;
  o->waiting = 0;
  return cuda_launch(e, o,
                     &(CudaLaunch){.fn = o->whole_fn,
                                   .blocks = 1,
                                   .threads = o->whole.lanes,
                                   .shared = o->whole.shared,
                                   .wires = o->whole_given});
}
