// Fused steps: all kernels of a small step are one function that one thread block runs
// (cuda/emit_fused_step.c). Several queued steps run in one launch and share its cost.
#include "run/engine/cuda_own.h"

enum {
  ARGUMENT_BYTES = 4000,    // the most arguments of a launch
  OUTPUTS = 64,             // the most outputs of a fused step
  SHARED_OTHERS = 28 << 10, // static shared memory of functions in team.h
};

// -- states ---------------------------------------------------------------------------------------
// The whole entries (blocks of device memory) that contain the step's states, each once.
typedef VEC(State *) Pieces;

static State *piece_of(const Engine *e, uint32_t param) {
  const State *s = e->state[param];
  return s ? store_at(s->store, s->whole) : NULL;
}

static uint32_t piece_number(const Pieces *pieces, const State *piece) {
  uint32_t i = 0;
  while (i < pieces->n && pieces->at[i] != piece) i++;
  return i;
}

static Pieces pieces_of(const Engine *e) {
  Pieces all = {0};
  for (uint32_t i = 0; i < e->d->param.n; i++) {
    State *piece = piece_of(e, i);
    if (piece && piece_number(&all, piece) == all.n) vec_push(e->arena, &all, piece);
  }
  return all;
}

// Rounded up to 16 bytes, which are copied at once; allocate_states allocates some bytes more.
static size_t piece_bytes(const State *s) {
  return ((size_t)s->count * number_bytes(s->number) + 15) / 16 * 16;
}

// -- the layout of a slot -------------------------------------------------------------------------
static size_t argument_bytes(const Engine *e, const CudaEngine *o) {
  size_t bytes = sizeof(CudaSteps) + pieces_of(e).n * sizeof(DeviceAddress);
  const Ids *slot = kernel_slots(o->plan);
  for (uint32_t i = 0; i < o->plan->kernel.n; i++)
    bytes += (slot[i].n ? slot[i].n : 1) * sizeof(DeviceAddress);
  return bytes;
}

// All inputs and outputs are small, the launch's arguments fit, and kernels are not profiled.
static bool can_fuse(const Engine *e, const CudaEngine *o) {
  const Plan *p = o->plan;
  for (uint32_t i = 0; i < p->in.n; i++)
    if (!o->in[i].small) return false;
  return o->scalar_outputs && !o->seconds && p->out.n <= OUTPUTS &&
         argument_bytes(e, o) <= ARGUMENT_BYTES;
}

static void lay_params(const Engine *e, const Pieces *pieces, CudaParamAt *param) {
  for (uint32_t i = 0; i < e->d->param.n; i++) {
    const State *s = e->state[i];
    param[i] = (CudaParamAt){.of = PLAN_NONE};
    if (!s) continue;
    param[i] = (CudaParamAt){.of = piece_number(pieces, piece_of(e, i)),
                             .at = (size_t)s->offset * number_bytes(s->number),
                             .widens = engine_widens(e, i),
                             .back = e->d->param.at[i].next != 0};
  }
}

const CudaSlot *fused_slot(const Engine *e, const CudaEngine *o) {
  if (!can_fuse(e, o)) return NULL;
  const Plan *p = o->plan;
  Pieces pieces = pieces_of(e);
  CudaParamAt *param = NEW_ARRAY(e->arena, CudaParamAt, e->d->param.n + 1);
  size_t *input = NEW_ARRAY(e->arena, size_t, p->in.n + 1),
         *output = NEW_ARRAY(e->arena, size_t, p->out.n + 1),
         *bytes = NEW_ARRAY(e->arena, size_t, pieces.n + 1);
  for (uint32_t i = 0; i < p->in.n; i++) input[i] = o->in[i].small_at;
  for (uint32_t i = 0; i < p->out.n; i++) output[i] = ring_output(o, i);
  for (uint32_t i = 0; i < pieces.n; i++) bytes[i] = piece_bytes(pieces.at[i]);
  lay_params(e, &pieces, param);
  CudaSlot *slot = NEW(e->arena, CudaSlot);
  *slot = (CudaSlot){.shared_limit = o->d->shared_most > SHARED_OTHERS
                                         ? (size_t)(o->d->shared_most - SHARED_OTHERS)
                                         : 0,
                     .bytes = o->ring.small_bytes,
                     .clock_at = o->ring.clock_at,
                     .input_at = input,
                     .output_at = output,
                     .param = param,
                     .piece_bytes = bytes,
                     .params = e->d->param.n,
                     .pieces = pieces.n};
  for (uint32_t i = 0; i < slot->params; i++) slot->changes |= param[i].back;
  return slot;
}

// -- launching ------------------------------------------------------------------------------------
static void write_pointers(Engine *e, CudaEngine *o, DeviceAddress *to) {
  const Plan *p = o->plan;
  Pieces pieces = pieces_of(e);
  for (uint32_t i = 0; i < pieces.n; i++) *to++ = pieces.at[i]->device_address;
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    uint32_t n = o->call[i].k.emit.slot.n;
    if (!kernel_has_text(&p->kernel.at[i])) continue;
    cuda_fill_pointers(e, o, i);
    memcpy(to, o->call[i].wire, n * sizeof *to);
    to += n ? n : 1; // a struct of pointers has at least one
  }
}

static CudaSteps *make_arguments(Engine *e, CudaEngine *o) {
  const CudaRing *r = &o->ring;
  CudaSteps *to = o->fused_arguments;
  if (to) return to;
  o->fused_arguments = to = arena_alloc(e->arena, argument_bytes(e, o));
  memset(to, 0, argument_bytes(e, o));
  *to = (CudaSteps){.ring = (DeviceAddress)(uintptr_t)r->host,
                    .arena = o->arena,
                    .near = o->parts,
                    .slot_bytes = (int64_t)r->slot_bytes,
                    .slots = (int64_t)r->slots,
                    .done = ring_done(o),
                    .stop = o->d->stop};
  write_pointers(e, o, (DeviceAddress *)(to + 1));
  return to;
}

bool fused_launch(Engine *e, CudaEngine *o) {
  CudaSteps *to = make_arguments(e, o);
  to->first = (int64_t)((o->ring.queued - o->waiting) % o->ring.slots);
  to->steps = (int64_t)o->waiting;
  to->whole = (int64_t)o->ring.queued;
  steps_discard(e, o);
  return cuda_launch(e, o,
                     &(CudaLaunch){.fn = o->fused_fn,
                                   .blocks = 1,
                                   .threads = o->fused.threads,
                                   .shared = o->fused.shared,
                                   .wires = to});
}
