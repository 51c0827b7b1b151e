// The CUDA engine: a plan, its kernels compiled by NVRTC, and one arena in the device's memory. Kernels
// read what changes from step to step (samples, step, clocks) from memory.
//
// States are stored on the device, too; the store fetches a state when the host asks for it. The kernels
// that overwrite states come last and do nothing after the test of the losses has found one that is not
// finite, so such a step changes no state.
#define _DEFAULT_SOURCE
#include "base/diag.h"
#include "base/files.h"
#include "core/pass/pipeline.h"
#include "run/engine/cuda/blas.h"
#include "run/engine/cuda_own.h"
#include "run/engine/kernel/prelude_text.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum {
  WAVES = 8,        // the most blocks for each multiprocessor: a block loops over several points
  WAVE_LANES = 256, // … of this many lanes; proportionally more smaller blocks
  SCRATCH_BLOCKS = 264,        // the most blocks of a kernel whose tiles are not in shared memory
  PROGRAMMATIC_DRIVER = 12030, // the first driver with programmatic launches in graphs
};

// -- errors ---------------------------------------------------------------------------------------
bool cuda_check(Engine *e, CudaResult r, const char *what) {
  CudaEngine *o = e->impl;
  if (!r) return true;
  if (!e->error) e->error = device_error(o->d, e->arena, r, what);
  return false;
}

// -- states ---------------------------------------------------------------------------------------
static size_t state_bytes(const State *s) { return (size_t)s->count * number_bytes(s->number); }

static void fetch_state(void *of, State *s) {
  Device *d = of;
  d->call.cuMemcpyDtoHAsync_v2(s->data, s->device_address, state_bytes(s), d->stream);
  d->call.cuStreamSynchronize(d->stream);
}

static void drop_state(void *of, State *s) {
  Device *d = of;
  d->call.cuMemFree_v2(s->device_address);
}

static State *whole_state(State *s) { return store_at(s->store, s->whole); }

static bool is_on_device(const Engine *e, uint32_t i) { return e->state[i] != NULL; }

// The device memory for states that have no copy there yet.
static size_t states_bytes(const Engine *e) {
  size_t all = 0;
  for (uint32_t i = 0; i < e->d->param.n; i++)
    if (is_on_device(e, i) && !whole_state(e->state[i])->device_address &&
        e->state[i] == whole_state(e->state[i]))
      all += state_bytes(e->state[i]);
  return all;
}

static bool allocate_states(Engine *e, CudaEngine *o) {
  for (uint32_t i = 0; i < e->d->param.n; i++) {
    if (!is_on_device(e, i)) continue;
    State *s = whole_state(e->state[i]);
    if (s->device_address) continue;
    DeviceAddress at = 0;
    if (!cuda_check(e, o->d->call.cuMemAlloc_v2(&at, state_bytes(s) + 64), "memory for weights"))
      return false;
    s->device_address = at;
    s->host_newer = true;
  }
  return true;
}

DeviceAddress cuda_state(const State *s) {
  return store_at(s->store, s->whole)->device_address +
         (uint64_t)s->offset * number_bytes(s->number);
}

static bool send_states(Engine *e, CudaEngine *o) {
  for (uint32_t i = 0; i < e->d->param.n; i++) {
    if (!is_on_device(e, i)) continue;
    State *s = whole_state(e->state[i]);
    if (!s->host_newer) continue;
    CudaResult r =
        o->d->call.cuMemcpyHtoDAsync_v2(s->device_address, s->data, state_bytes(s), o->d->stream);
    if (!cuda_check(e, r, "weights to the GPU")) return false;
    s->host_newer = false;
  }
  return true;
}

// -- memory ---------------------------------------------------------------------------------------
size_t cuda_aligned(size_t n) { return (n + 255) / 256 * 256; }

DeviceAddress cuda_wire(const Engine *e, const CudaEngine *o, uint32_t wire) {
  const Plan *p = o->plan;
  uint32_t root;
  int64_t offset = wire_offset(p, wire, o->scan_at, &root);
  const PlanWire *r = &p->wire.at[root];
  DeviceAddress base = 0;
  if (r->place == AT_INPUT)
    base = o->in[r->number_of].at + o->buffer_offset;
  else if (r->place != AT_STATE)
    base = o->arena + (uint64_t)r->at;
  else if (r->number_of >= e->d->param.n)
    base = o->rounded[r->number_of - e->d->param.n].at;
  else if (is_on_device(e, r->number_of) && !engine_widens(e, r->number_of))
    base = cuda_state(e->state[r->number_of]);
  else
    base = o->clocks + o->buffer_offset + 8 * (uint64_t)r->number_of;
  return base + (uint64_t)(offset * (int64_t)number_bytes(p->wire.at[wire].number));
}

// Lays out the bfloat16 copies of weights from offset `at` on. Gives the offset after them.
static size_t lay_out_rounded(Engine *e, CudaEngine *o, size_t at) {
  const Plan *p = o->plan;
  o->rounded = NEW_ARRAY(e->arena, CudaRounded, p->bf16_copy.n + 1);
  for (uint32_t i = 0; i < p->bf16_copy.n; i++) {
    o->rounded[i] = (CudaRounded){.at = at, .changes = UINT64_MAX};
    at = cuda_aligned(at + cuda_bytes(&p->wire.at[p->param.at[p->bf16_copy.at[i].copy]]));
  }
  return at;
}

size_t cuda_bytes(const PlanWire *w) { return (size_t)w->count * number_bytes(w->number); }

static bool allocate_memory(Engine *e, CudaEngine *o) {
  Plan *p = o->plan;
  size_t at = cuda_aligned((size_t)p->arena_bytes), small_bytes = o->ring.small_bytes;
  if (o->fused.lanes)
    o->parts_bytes = o->fused.steps_per_launch * small_bytes; // slots are copied there
  size_t small = at;
  at = cuda_aligned(small + small_bytes);
  for (uint32_t i = 0; i < p->in.n; i++) {
    CudaInput *in = &o->in[i];
    in->at = in->small ? small + in->small_at : at;
    if (!in->small) at = cuda_aligned(at + in->bytes);
  }
  o->buffer_bytes = at - small;
  if (o->steps_per_launch > 1) at += o->buffer_bytes;
  size_t ahead = at, counter = cuda_aligned(ahead + small_bytes);
  at = cuda_aligned(counter + sizeof(int64_t));
  size_t scratch = lay_out_rounded(e, o, at), parts = cuda_aligned(scratch + o->scratch_bytes),
         all = cuda_aligned(parts + o->parts_bytes);
  e->bytes = (int64_t)all;
  size_t left = 0, total = 0, wanted = all + states_bytes(e);
  o->d->call.cuMemGetInfo_v2(&left, &total);
  double unit = wanted < 100 * 1000 * 1000 ? 1e6 : 1e9;
  e->w->device_full = wanted > left;
  if (e->w->device_full)
    return diag_refuse(e->w->diags, (Span){0},
                       "out of memory on %s: a step needs %.3f %s, and %.3f of its %.3f are free; "
                       "for fewer samples at once it needs less",
                       o->d->name, (double)wanted / unit, unit < 1e9 ? "MB" : "GB",
                       (double)left / unit, (double)total / unit);
  if (!cuda_check(e, o->d->call.cuMemAlloc_v2(&o->memory, all), "memory for a step")) return false;
  // NaN: makes a read before a write visible
  o->d->call.cuMemsetD8Async(o->memory, 0xFF, all, o->d->stream);
  o->d->call.cuMemsetD8Async(o->memory + small, 0, at - small, o->d->stream);
  o->arena = o->memory;
  o->ring.small = o->context = o->memory + small;
  o->clocks = o->ring.small + o->ring.clock_at;
  o->ring.ahead = o->memory + ahead;
  o->ring.counter = o->memory + counter;
  o->scratch = o->memory + scratch;
  o->parts = o->memory + parts;
  for (uint32_t i = 0; i < p->in.n; i++) o->in[i].at += o->memory;
  for (uint32_t i = 0; i < p->bf16_copy.n; i++) o->rounded[i].at += o->memory;
  return true;
}

// -- code -----------------------------------------------------------------------------------------
bool cuda_function(Engine *e, CudaEngine *o, CudaModule code, const char *name, CudaFunction *fn) {
  return cuda_check(e, o->d->call.cuModuleGetFunction(fn, code, name), name);
}

// Up to 48 KB of shared memory need no attribute.
bool cuda_shared(Engine *e, CudaEngine *o, CudaFunction fn, size_t bytes) {
  return bytes <= 48 * 1024 ||
         cuda_check(e, o->d->call.cuFuncSetAttribute(fn, CUDA_FUNCTION_SHARED, (int)bytes),
                    "shared memory");
}

// The beginning of each module's text.
static Buf text_header(Engine *e, bool common) {
  Buf text = buf_new(e->arena);
  if (store_precision(e->store) == PRECISION_BF16) buf_text(&text, "#define LIMN_BF16\n");
  if (store_precision(e->store) == PRECISION_TF32) buf_text(&text, "#define LIMN_TF32\n");
  if (common) buf_text(&text, "#define LIMN_COMMON\n");
  prelude_write(&text, store_precision(e->store));
  buf_text(&text, team_text);
  if (store_precision(e->store) == PRECISION_BF16) buf_text(&text, units_text);
  return text;
}

// A program's kernels are split into several modules, which are compiled in parallel, one on each core.
uint32_t cuda_modules(uint32_t wanted) {
  if (wanted > os_cores()) wanted = os_cores();
  if (wanted > TEXTS_MOST) wanted = TEXTS_MOST;
  return wanted ? wanted : 1;
}

// Writes the program's own text to $LIMN_DUMP: of each module what differs from the others' beginning. All
// engines of a process append to one file.
static void dump_text(const Buf *text, const size_t *from, uint32_t n) {
  static bool begun;
  const char *dump = getenv("LIMN_DUMP");
  FILE *to = dump ? fopen(dump, begun ? "a" : "w") : NULL;
  if (!to) return;
  begun = true;
  for (uint32_t i = 0; i < n; i++) fwrite(text[i].at + from[i], 1, text[i].n - from[i], to);
  fclose(to);
}

typedef struct {
  DeviceText all[MODULES];
  uint32_t n;
} CudaTexts;

static void write_texts(Engine *e, CudaEngine *o, CudaKernel *kernel, CudaTexts *t) {
  Buf text[MODULES], front = text_header(e, false);
  size_t from[MODULES] = {0}, same;
  text[COMMON] = text_header(e, true);
  o->fused.slot = fused_slot(e, o);
  o->kernels = TILES + products_text(e, o, kernel, front, text + TILES, &same);
  enum { KERNELS_EACH = 8 };
  bool one = o->plan->tiny && o->fused.slot;
  uint32_t parts = cuda_modules(one ? 1 : 1 + o->plan->kernel.n / KERNELS_EACH),
           n = o->kernels + parts;
  for (uint32_t i = o->kernels; i < n; i++) text[i] = text_header(e, false);
  emit_cuda(o->plan, kernel, &o->fused, text + o->kernels, parts);
  for (uint32_t i = TILES + 1; i < n; i++) from[i] = i < o->kernels ? same : front.n;
  dump_text(text + TILES, from + TILES, n - TILES);
  for (uint32_t i = 0; i < n; i++)
    t->all[i] = (DeviceText){.text = text[i].at,
                             .cache = e->target.cache,
                             .quick = store_precision(e->store) == PRECISION_BF16};
  t->n = n;
}

static bool compile_all(Engine *e, CudaEngine *o, const CudaTexts *t, const char **why) {
  const char *word = NULL;
  bool good = device_compile(o->d, e->arena, t->all, t->n, o->module, &word, why);
  engine_warn_cache(e, word);
  return good;
}

// Sizes of scratch memory: slices of reductions, and tiles that are too large for shared memory.
static void find_scratch(CudaEngine *o, const CudaKernel *kernel) {
  for (uint32_t i = 0; i < o->plan->kernel.n; i++) {
    if (!kernel_has_text(&o->plan->kernel.at[i]) || o->fused.lanes) continue;
    size_t sliced = kernel[i].slices * (size_t)kernel[i].slice_bytes,
           tiles = (size_t)(kernel[i].tile_bytes * kernel[i].teams) * SCRATCH_BLOCKS;
    if (sliced > o->parts_bytes) o->parts_bytes = sliced;
    if (!kernel[i].shared && tiles > o->scratch_bytes) o->scratch_bytes = tiles;
  }
  if (o->fused.scratch) o->scratch_bytes = o->fused.scratch_bytes;
}

static bool open_common(Engine *e, CudaEngine *o) {
  struct {
    const char *name;
    CudaFunction *fn;
  } all[] = {{"limn_copy", &o->copy},   {"limn_look", &o->look}, {"limn_bring", &o->bring},
             {"limn_round", &o->round}, {"limn_take", &o->take}, {"limn_give", &o->give}};
  for (uint32_t i = 0; i < COUNT(all); i++)
    if (!cuda_function(e, o, o->module[COMMON], all[i].name, all[i].fn)) return false;
  return true;
}

// [param] The state does not begin at a multiple of four cells (Plan.odd).
static const bool *misaligned_states(const Engine *e, const Plan *p) {
  bool *odd = NEW_ARRAY(e->arena, bool, p->param.n + 1);
  for (uint32_t i = 0; i < e->d->param.n; i++)
    odd[i] = !is_on_device(e, i) || e->state[i]->offset % 4 != 0;
  return odd;
}

static bool open_code(Engine *e, CudaEngine *o, const char **why) {
  Plan *p = o->plan;
  p->misaligned = misaligned_states(e, p);
  CudaKernel *kernel = NEW_ARRAY(e->arena, CudaKernel, p->kernel.n + 1);
  CudaTexts texts;
  products_prepare(e, o);
  write_texts(e, o, kernel, &texts);
  find_scratch(o, kernel);
  // memory first: compiling takes far longer
  bool all = device_ready(o->d, e->arena, why) && allocate_memory(e, o) &&
             compile_all(e, o, &texts, why) && open_common(e, o) && products_open(e, o);
  for (uint32_t i = 0; all && i < p->kernel.n; i++) {
    CudaCall *call = &o->call[i];
    call->k = kernel[i];
    call->wire = NEW_ARRAY(e->arena, DeviceAddress, kernel[i].emit.slot.n + 1);
    if (!kernel_has_text(&p->kernel.at[i]) || o->fused.lanes) continue;
    CudaModule code = o->module[o->kernels + kernel[i].part];
    char name[40];
    snprintf(name, sizeof name, "limn_k%u", kernel[i].emit.fn);
    all = cuda_function(e, o, code, name, &call->fn);
    snprintf(name, sizeof name, "limn_k%u_sum", kernel[i].emit.fn);
    if (all && kernel[i].slices) all = cuda_function(e, o, code, name, &call->sum);
    if (all && kernel[i].shared)
      all = cuda_shared(e, o, call->fn, (size_t)(kernel[i].tile_bytes * kernel[i].teams));
  }
  if (all && o->fused.lanes)
    all = cuda_function(e, o, o->module[o->kernels], "limn_step", &o->fused_fn) &&
          cuda_shared(e, o, o->fused_fn, o->fused.shared);
  if (!all && !*why) *why = e->error;
  return all;
}

// -- launching ------------------------------------------------------------------------------------
bool cuda_launch(Engine *e, CudaEngine *o, const CudaLaunch *l) {
  CudaPlaces places = {.stop = o->d->stop};
  DeviceAddress context = o->context + o->buffer_offset;
  memcpy(places.at, o->scan_at, sizeof places.at);
  void *arguments[] = {&context, l->wires, &places};
  int64_t small = l->threads < WAVE_LANES ? WAVE_LANES / l->threads : 1,
          most = (int64_t)o->d->processors * WAVES * small,
          blocks = l->blocks < most ? l->blocks : most;
  if (blocks < 1) return true;
  CudaLaunchAttribute early = {.id = CUDA_LAUNCH_PROGRAMMATIC, .value.on = 1};
  CudaLaunchConfig how = {.blocks = {(unsigned)blocks, 1, 1},
                          .threads = {l->threads, 1, 1},
                          .shared = (unsigned)l->shared,
                          .stream = o->d->streams[o->current_stream],
                          .attribute = &early,
                          .attributes = o->dependent_launch && o->d->major >= 9 &&
                                        o->d->driver_version >= PROGRAMMATIC_DRIVER};
  o->dependent_launch = true; // the next launch depends on this one
  return cuda_check(e, o->d->call.cuLaunchKernelEx(&how, l->fn, arguments, NULL),
                    "a kernel cannot be launched");
}

// Adds the slices of a reduction.
static bool launch_slice_sum(Engine *e, CudaEngine *o, uint32_t i) {
  const CudaCall *call = &o->call[i];
  const Kernel *k = &o->plan->kernel.at[i];
  int64_t most = 0;
  for (uint32_t n = 0; n < k->node.n; n++) {
    int64_t count = o->plan->wire.at[o->plan->node.at[k->node.at[n]].out.wire].count;
    if (count > most) most = count;
  }
  return cuda_launch(
      e, o,
      &(CudaLaunch){
          .fn = call->sum, .blocks = (most + 255) / 256, .threads = 256, .wires = call->wire});
}

static bool clear_output(Engine *e, CudaEngine *o, uint32_t i) {
  const PlanNode *x = &o->plan->node.at[o->plan->kernel.at[i].node.at[0]];
  size_t bytes = cuda_bytes(&o->plan->wire.at[x->out.wire]);
  if (x->accumulate) return true;
  return cuda_check(e,
                    o->d->call.cuMemsetD8Async(cuda_wire(e, o, x->out.wire), 0, bytes,
                                               o->d->streams[o->current_stream]),
                    "a kernel cannot be launched");
}

void cuda_fill_pointers(Engine *e, CudaEngine *o, uint32_t i) {
  CudaCall *call = &o->call[i];
  const CudaKernel *k = &call->k;
  for (uint32_t s = 0; s < k->emit.slot.n; s++) {
    uint32_t wire = k->emit.slot.at[s];
    // kernels add the offsets of scans themselves
    int64_t place[8];
    memcpy(place, o->scan_at, sizeof place);
    memset(o->scan_at, 0, sizeof o->scan_at);
    call->wire[s] = o->plan->wire.at[wire].place == AT_TILE ? 0 : cuda_wire(e, o, wire);
    memcpy(o->scan_at, place, sizeof place);
  }
}

static bool launch_loops(Engine *e, CudaEngine *o, uint32_t i) {
  CudaCall *call = &o->call[i];
  const CudaKernel *k = &call->k;
  cuda_fill_pointers(e, o, i);
  if (k->buckets && !clear_output(e, o, i)) return false;
  int64_t blocks = (k->points + k->teams - 1) / k->teams;
  if (!k->shared && k->tile_bytes && blocks > SCRATCH_BLOCKS) blocks = SCRATCH_BLOCKS;
  if (k->max_blocks && blocks > (int64_t)k->max_blocks * o->d->processors)
    blocks = (int64_t)k->max_blocks * o->d->processors;
  return cuda_launch(e, o,
                     &(CudaLaunch){.fn = call->fn,
                                   .blocks = blocks,
                                   .threads = k->team * k->teams,
                                   .shared = k->shared ? (size_t)(k->tile_bytes * k->teams) : 0,
                                   .wires = call->wire}) &&
         (!k->slices || launch_slice_sum(e, o, i));
}

static bool launch_copies(Engine *e, CudaEngine *o, const Kernel *k) {
  for (uint32_t from = 0; from < k->to.n; from += COPIES) {
    CudaCopy c = {0};
    int64_t most = 0;
    for (uint32_t i = from; i < k->to.n && c.n < COPIES; i++, c.n++) {
      c.each[c.n].to = cuda_wire(e, o, k->to.at[i]);
      c.each[c.n].from = cuda_wire(e, o, k->from.at[i]);
      c.each[c.n].bytes = (int64_t)cuda_bytes(&o->plan->wire.at[k->to.at[i]]);
      if (most < c.each[c.n].bytes) most = c.each[c.n].bytes;
    }
    if (!cuda_launch(e, o,
                     &(CudaLaunch){
                         .fn = o->copy, .blocks = (most + 255) / 256, .threads = 256, .wires = &c}))
      return false;
  }
  return true;
}

bool kernel_launch(Engine *e, CudaEngine *o, uint32_t i, int64_t n) {
  const Kernel *k = &o->plan->kernel.at[i];
  if (k->kind == KERNEL_PRODUCT) return product_launch(e, o, i, n);
  if (k->kind == KERNEL_COPY) return launch_copies(e, o, k);
  return launch_loops(e, o, i);
}

// -- a step ---------------------------------------------------------------------------------------
// After a step: the device has the newer values of overwritten states, and of their bfloat16 copies.
static void mark_states_changed(Engine *e, CudaEngine *o) {
  const Plan *p = o->plan;
  for (uint32_t i = 0; i < e->d->param.n; i++) {
    if (!e->d->param.at[i].next || !is_on_device(e, i)) continue;
    whole_state(e->state[i])->device_newer = true;
    whole_state(e->state[i])->changes++;
  }
  for (uint32_t i = 0; i < p->bf16_copy.n; i++)
    if (p->next.at[p->bf16_copy.at[i].copy] != PLAN_NONE)
      o->rounded[i].changes = whole_state(e->state[p->bf16_copy.at[i].param])->changes;
}

// Updates the bfloat16 copies of weights that others have changed since this engine's last step. Waiting
// steps are launched first.
static bool round_states(Engine *e, CudaEngine *o) {
  const Plan *p = o->plan;
  for (uint32_t i = 0; i < p->bf16_copy.n; i++) {
    State *s = e->state[p->bf16_copy.at[i].param];
    uint64_t changes = whole_state(s)->changes;
    if (o->rounded[i].changes == changes) continue;
    CudaRound round = {.from = cuda_state(s), .to = o->rounded[i].at, .n = s->count};
    o->dependent_launch = false;
    if (!steps_launch(e, o) || !cuda_launch(e, o,
                                            &(CudaLaunch){.fn = o->round,
                                                          .blocks = (s->count + 255) / 256,
                                                          .threads = 256,
                                                          .wires = &round}))
      return false;
    o->rounded[i].changes = changes;
  }
  return true;
}

static bool cuda_queue(Engine *e, int64_t n, uint64_t step) {
  CudaEngine *o = e->impl;
  if (!engine_accepts(e, n)) return false;
  o->d->call.cuCtxSetCurrent(o->d->context);
  if (!steps_launch_other_engine(e, o) || !send_states(e, o) || !round_states(e, o)) return false;
  if (ring_bypasses_table(o) && !steps_launch(e, o))
    return false; // waiting steps still read the input's only buffer
  if (!ring_send(e, o, n, step)) return false;
  o->runs++;
  mark_states_changed(e, o);
  return steps_queue(e, o);
}

// Waits for the oldest step. After a loss that is not finite, all queued steps, of any engine, must do
// nothing: they are launched while the device's stop flag is set, then the flag is cleared.
static RunStatus cuda_next(Engine *e) {
  CudaEngine *o = e->impl;
  const CudaCalls *c = &o->d->call;
  bool launched = o->ring.done < o->ring.queued - o->waiting;
  if ((!launched && !steps_launch(e, o)) || !ring_wait(e, o)) return RUN_FAILED;
  if (engine_finite(e)) return RUN_GOOD;
  ring_restore_inputs(e, o); // for engine_trace_nonfinite
  if (!steps_launch_other_engine(e, o) || !steps_launch(e, o) ||
      !cuda_check(e, c->cuStreamSynchronize(o->d->stream), "a step on the GPU failed"))
    return RUN_FAILED;
  o->ring.done = o->ring.queued;
  c->cuMemsetD8Async(o->d->stop, 0, sizeof(int), o->d->stream);
  return RUN_NOT_FINITE;
}

static RunStatus cuda_run(Engine *e, int64_t n, uint64_t step) {
  return cuda_queue(e, n, step) ? cuda_next(e) : RUN_FAILED;
}

static uint32_t cuda_queue_limit(const Engine *e) { return (uint32_t)ring_slots(e->impl); }

static void cuda_plan(const Engine *e, Buf *b) {
  const CudaEngine *o = e->impl;
  plan_print(o->plan, o->seconds, o->runs ? o->runs - 1 : 0, b);
}

static void cuda_free(Engine *e) {
  CudaEngine *o = e->impl;
  const CudaCalls *c = &o->d->call;
  c->cuCtxSetCurrent(o->d->context);
  steps_discard(e, o);
  products_free(o);
  steps_free(o);
  for (uint32_t i = 0; i < MODULES; i++)
    if (o->module[i]) c->cuModuleUnload(o->module[i]);
  if (o->memory) c->cuMemFree_v2(o->memory);
  ring_free(o);
}

static const EngineKind cuda_kind = {.run = cuda_run,
                                     .queue = cuda_queue,
                                     .next = cuda_next,
                                     .queue_limit = cuda_queue_limit,
                                     .table = cuda_table,
                                     .plan = cuda_plan,
                                     .free = cuda_free};

static void find_scans(CudaEngine *o) {
  const Plan *p = o->plan;
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    if (p->kernel.at[i].kind != KERNEL_SCAN) continue;
    o->depends_on_samples |= p->node.at[p->kernel.at[i].node.at[0]].times.per != 0;
    uint32_t end = i + 1;
    for (uint32_t depth = 1; depth; end++) {
      depth += p->kernel.at[end].kind == KERNEL_SCAN;
      depth -= p->kernel.at[end].kind == KERNEL_SCAN_END;
    }
    o->call[i].end = end;
  }
}

static const PlanTarget *plan_target(void) {
  const char *launches = getenv("LIMN_LAUNCHES"); // for tests
  return !launches ? &plan_gpu : !strcmp(launches, "narrow") ? &plan_gpu_bf16 : &plan_gpu_launches;
}

bool cuda_open(Engine *e, const char **why) {
  CudaEngine *o = NEW(e->arena, CudaEngine);
  o->d = e->target.device;
  e->impl = o;
  e->kind = &cuda_kind;
  const Diagram *d = passes_engine(e->w, e->d);
  o->plan = plan_make(e->w, d,
                      &(PlanOptions){.samples = e->samples,
                                     .fuse = !e->target.unfused,
                                     .wide = store_precision(e->store) == PRECISION_64,
                                     .ticks = e->target.ticks,
                                     .bf16 = store_precision(e->store) == PRECISION_BF16,
                                     .epilogues = products_have_epilogues(e),
                                     .target = plan_target()});
  Plan *p = o->plan;
  if (p->error) return diag_refuse(e->w->diags, p->error_at, "%s", p->error);
  e->full_batches_only = p->full_batch_only;
  o->call = NEW_ARRAY(e->arena, CudaCall, p->kernel.n + 1);
  find_scans(o);
  o->first_write = plan_first_state_write(p);
  if (e->target.profile) o->seconds = NEW_ARRAY(e->arena, double, p->kernel.n + 1);
  store_mirror(e->store, &(StoreMirror){o->d, fetch_state, drop_state});
  ring_lay_out(e, o);
  o->output_kernel = find_output_kernel(o);
  o->steps_per_launch = choose_steps_per_graph(o);
  bool all = open_code(e, o, why) && allocate_states(e, o);
  if (all) products_autotune(e, o);
  if (!all && !*why) *why = e->error;
  e->description = arena_format(e->arena, "%s, CUDA %d.%d", o->d->name,
                                o->d->compiler_version / 1000, o->d->compiler_version % 1000 / 10);
  return all;
}
