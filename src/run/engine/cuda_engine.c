// The GPU's engine: a plan, its kernels as CUDA code, one arena in the device's memory, and the
// launches of a step captured as one graph, which is launched again for each step. What changes from
// step to step (samples, step, clocks) is written into memory that kernels read.
//
// States live in the device's memory, too; the store brings one here when somebody asks for it. A step
// whose losses are not finite changes no state: the kernels that overwrite states come last, and do
// nothing once the look at the losses has said so.
#include "core/pass/pipeline.h"
#include "run/engine/cuda/cuda.h"
#include "run/engine/engine_own.h"
#include "run/engine/prelude/prelude_text.h"

#include <math.h>
#include <stdlib.h>

enum {
  WAVES = 8,              // blocks for each multiprocessor, at most: others take turns
  SCRATCH_BLOCKS = 264,   // of kernels whose tiles are not shared
  GRAPH_MOST = 20 * 1000, // launches in a graph
  PRODUCT_DEEP = 128,     // of a sum, at least, for each of its parts
  QUEUE = 64,             // steps that wait at once
  QUEUE_BYTES = 256 << 20,
};

// As in team.h.
typedef struct {
  int64_t at[8];
} CudaPlaces;
typedef struct {
  int64_t n;
  uint64_t seed, step;
  int64_t at[8];
  DeviceAddress scratch, parts, stop;
} CudaContextData;
typedef struct {
  int64_t step;
  DeviceAddress at;
} CudaLine;
typedef struct {
  int64_t fixed, per;
} CudaLength;
typedef struct {
  DeviceAddress a, b, c;
  CudaLine am, ak, bk, bn, cm, cn, ta, tb, tc;
  CudaLength m, n, k, batch;
  int64_t part, parts;
} CudaProduct;
typedef struct {
  DeviceAddress to, from;
  int64_t bytes;
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

enum { PRODUCTS = 3 };
static const int64_t product_tile[PRODUCTS] = {128, 64, 32}; // of limn_product8, 4 and 2

typedef struct {
  CudaKernel k;
  CudaFunction fn, sum; // sum: of its slices
  uint32_t kind;        // of a product: by which tiles
  DeviceAddress *wire;  // [slot]
  CudaProduct product;
  uint32_t end; // of a scan
} CudaCall;

typedef struct {
  Device *d;
  Plan *plan;
  CudaModule code, common; // of this program, and of all
  CudaFunction copy, look, bring, gather, product[PRODUCTS];
  CudaCall *call;       // [kernel]
  DeviceAddress memory; // arena, inputs, clocks, context, scratch, parts, tables
  DeviceAddress arena, clocks, context, scratch, parts;
  DeviceAddress *in; // [input]
  // what goes to the device before a step and comes back behind it, for each step that is queued
  char *host;                                      // pinned: slots, one after the other
  size_t slot_bytes, out_at, clock_at, context_at; // of a slot; inputs come first
  uint64_t queued, done;                           // steps
  int64_t n[QUEUE];                                // [slot] samples
  bool small_out;                                  // all outputs are single numbers
  double
      *seconds; // [kernel] while profiling: then there is no graph, and each kernel is waited for
  uint64_t runs;
  int64_t place[8];
  size_t parts_bytes, scratch_bytes;
  CudaGraphExec graph;
  int64_t graph_n; // samples that the graph is for
  bool unrolls;    // how often a scan runs depends on the samples
  uint32_t first_write;
  bool checked;
} CudaEngine;

// -- errors ---------------------------------------------------------------------------------------
static bool good(Engine *e, CudaResult r, const char *what) {
  CudaEngine *o = e->own;
  if (!r) return true;
  if (!e->error) e->error = device_word(o->d, e->arena, r, what);
  return false;
}

// -- states ---------------------------------------------------------------------------------------
static size_t state_bytes(const State *s) { return (size_t)s->count * number_bytes(s->number); }

static void fetch_state(void *of, State *s) {
  Device *d = of;
  d->call.cuMemcpyDtoHAsync_v2(s->data, s->there, state_bytes(s), d->stream);
  d->call.cuStreamSynchronize(d->stream);
}

static void drop_state(void *of, State *s) {
  Device *d = of;
  d->call.cuMemFree_v2(s->there);
}

static State *whole_of(State *s) { return store_at(s->store, s->whole); }

static bool lives_there(const Engine *e, uint32_t i) { return e->state[i] != NULL; }

// What states that are not there yet will take.
static size_t states_bytes(const Engine *e) {
  size_t all = 0;
  for (uint32_t i = 0; i < e->d->param.n; i++)
    if (lives_there(e, i) && !whole_of(e->state[i])->there && e->state[i] == whole_of(e->state[i]))
      all += state_bytes(e->state[i]);
  return all;
}

static bool take_states(Engine *e, CudaEngine *o) {
  for (uint32_t i = 0; i < e->d->param.n; i++) {
    if (!lives_there(e, i)) continue;
    State *s = whole_of(e->state[i]);
    if (s->there) continue;
    DeviceAddress at = 0;
    if (!good(e, o->d->call.cuMemAlloc_v2(&at, state_bytes(s) + 64), "memory for weights"))
      return false;
    s->there = at;
    s->here_newer = true;
  }
  return true;
}

static DeviceAddress state_there(const State *s) {
  return store_at(s->store, s->whole)->there + (uint64_t)s->offset * number_bytes(s->number);
}

static bool send_states(Engine *e, CudaEngine *o) {
  for (uint32_t i = 0; i < e->d->param.n; i++) {
    if (!lives_there(e, i)) continue;
    State *s = whole_of(e->state[i]);
    if (!s->here_newer) continue;
    CudaResult r = o->d->call.cuMemcpyHtoDAsync_v2(s->there, s->data, state_bytes(s), o->d->stream);
    if (!good(e, r, "weights to the GPU")) return false;
    s->here_newer = false;
  }
  return true;
}

// -- memory ---------------------------------------------------------------------------------------
static size_t aligned(size_t n) { return (n + 255) / 256 * 256; }

static DeviceAddress wire_address(const Engine *e, const CudaEngine *o, uint32_t wire) {
  const Plan *p = o->plan;
  uint32_t root;
  int64_t offset = wire_offset(p, wire, o->place, &root);
  const PlanWire *r = &p->wire.at[root];
  DeviceAddress base = 0;
  if (r->place == AT_INPUT)
    base = o->in[r->number_of];
  else if (r->place != AT_STATE)
    base = o->arena + (uint64_t)r->at;
  else if (lives_there(e, r->number_of) && !engine_brings(e, r->number_of))
    base = state_there(e->state[r->number_of]);
  else
    base = o->clocks + 8 * (uint64_t)r->number_of;
  return base + (uint64_t)(offset * (int64_t)number_bytes(p->wire.at[wire].number));
}

static size_t wire_bytes(const PlanWire *w) { return (size_t)w->count * number_bytes(w->number); }

// The places of a slot's parts.
static void lay_slot(CudaEngine *o) {
  const Plan *p = o->plan;
  size_t at = 0;
  for (uint32_t i = 0; i < p->in.n; i++) at = aligned(at + wire_bytes(&p->wire.at[p->in.at[i]]));
  o->out_at = at;
  o->small_out = true;
  for (uint32_t i = 0; i < p->out.n; i++) {
    o->small_out &= !p->wire.at[p->out.at[i]].rank;
    at = aligned(at + wire_bytes(&p->wire.at[p->out.at[i]]));
  }
  o->clock_at = at;
  o->context_at = aligned(at + 8 * (size_t)(p->param.n + 1));
  o->slot_bytes = aligned(o->context_at + sizeof(CudaContextData));
}

static uint64_t queue_length(const CudaEngine *o) {
  uint64_t n = o->small_out ? QUEUE_BYTES / o->slot_bytes : 1;
  return n < 1 ? 1 : n > QUEUE ? QUEUE : n;
}

// The caller's side of a slot: where it writes inputs and reads outputs.
static void show_slot(Engine *e, const CudaEngine *o, uint64_t slot) {
  const Plan *p = o->plan;
  char *here = o->host + slot * o->slot_bytes + o->out_at;
  for (uint32_t i = 0; i < p->out.n; i++) {
    e->out[i] = here;
    here += aligned(wire_bytes(&p->wire.at[p->out.at[i]]));
  }
}

static bool take_memory(Engine *e, CudaEngine *o) {
  Plan *p = o->plan;
  size_t at = aligned((size_t)p->arena_bytes);
  o->in = NEW_ARRAY(e->arena, DeviceAddress, p->in.n + 1);
  for (uint32_t i = 0; i < p->in.n; i++) {
    o->in[i] = at;
    at = aligned(at + wire_bytes(&p->wire.at[p->in.at[i]]));
  }
  size_t clocks = at, context = aligned(clocks + 8 * (size_t)(p->param.n + 1)),
         scratch = aligned(context + sizeof(CudaContextData)),
         parts = aligned(scratch + o->scratch_bytes), all = aligned(parts + o->parts_bytes);
  e->bytes = (int64_t)all;
  size_t left = 0, total = 0, wanted = all + states_bytes(e);
  o->d->call.cuMemGetInfo_v2(&left, &total);
  if (wanted > left)
    return diag_refuse(e->w->diags, (Span){0},
                       "out of memory on %s: a step needs %.3f GB, and %.3f of its %.3f are free; "
                       "with a smaller --batch it needs less",
                       o->d->name, (double)wanted / 1e9, (double)left / 1e9, (double)total / 1e9);
  lay_slot(o);
  // one slot more: what the caller writes into while others wait
  size_t all_here = (queue_length(o) + 1) * o->slot_bytes;
  void *host = NULL;
  if (!good(e, o->d->call.cuMemAlloc_v2(&o->memory, all), "memory for a step") ||
      !good(e, o->d->call.cuMemAllocHost_v2(&host, all_here), "memory beside a step"))
    return false;
  o->host = host;
  memset(o->host, 0, all_here);
  o->d->call.cuMemsetD8Async(o->memory, 0xFF, all, o->d->stream); // a read before a write is seen
  o->arena = o->memory;
  o->clocks = o->memory + clocks;
  o->context = o->memory + context;
  o->scratch = o->memory + scratch;
  o->parts = o->memory + parts;
  char *here = o->host + queue_length(o) * o->slot_bytes;
  for (uint32_t i = 0; i < p->in.n; i++) {
    o->in[i] += o->memory;
    e->in[i] = here;
    here += aligned(wire_bytes(&p->wire.at[p->in.at[i]]));
  }
  show_slot(e, o, 0);
  return true;
}

// -- products -------------------------------------------------------------------------------------
static CudaLength length_of(const PlanNode *x, const uint32_t *group, uint32_t n) {
  CudaLength l = {1, 0};
  for (uint32_t i = 0; i < n; i++) {
    Extent d = x->index[group[i]];
    int64_t fixed = l.fixed * d.c, per = l.fixed * d.per + l.per * d.c;
    l = (CudaLength){fixed, per};
  }
  return l;
}

static int64_t length_most(const Plan *p, CudaLength l) { return l.fixed + l.per * p->samples; }

static int64_t tiles_of(const Plan *p, const CudaProduct *c, uint32_t kind) {
  int64_t tile = product_tile[kind], m = length_most(p, c->m), n = length_most(p, c->n);
  return (m + tile - 1) / tile * ((n + tile - 1) / tile) * length_most(p, c->batch);
}

// The largest tiles of which every multiprocessor has one. Where there are few even of the smallest,
// the sum is cut into parts.
static void cut_product(CudaEngine *o, CudaCall *call) {
  const Plan *p = o->plan;
  CudaProduct *c = &call->product;
  int64_t k = length_most(p, c->k),
          cells = length_most(p, c->m) * length_most(p, c->n) * length_most(p, c->batch);
  while (call->kind + 1 < PRODUCTS && tiles_of(p, c, call->kind) < o->d->processors) call->kind++;
  int64_t tiles = tiles_of(p, c, call->kind), wanted = tiles ? 2 * o->d->processors / tiles : 1,
          most = k / PRODUCT_DEEP, parts = wanted < most ? wanted : most;
  if (parts < 1) parts = 1;
  c->part = ((k + parts - 1) / parts + 15) / 16 * 16;
  if (c->part < 16) c->part = 16;
  c->parts = (k + c->part - 1) / c->part;
  if (c->parts < 1) c->parts = 1;
  size_t bytes = c->parts > 1 ? (size_t)(c->parts * cells) * (p->wide ? 8 : 4) : 0;
  if (bytes > o->parts_bytes) o->parts_bytes = bytes;
}

static bool send_table(Engine *e, CudaEngine *o, const int32_t *table, int64_t count,
                       DeviceAddress *to) {
  const CudaCalls *c = &o->d->call;
  size_t bytes = (size_t)count * sizeof *table;
  return good(e, c->cuMemAlloc_v2(to, bytes), "a table of a product") &&
         good(e, c->cuMemcpyHtoDAsync_v2(*to, table, bytes, o->d->stream), "a table of a product");
}

static bool line_of(Engine *e, CudaEngine *o, const PlanNode *x, const Operand *at,
                    const uint32_t *group, uint32_t n, CudaLine *line) {
  int64_t step;
  int32_t *table = product_line(o->plan, x, at, group, n, &step);
  line->step = step;
  return !table ||
         send_table(e, o, table, product_length(x, group, n, o->plan->samples), &line->at);
}

static bool prepare_product(Engine *e, CudaEngine *o, uint32_t i) {
  const PlanNode *x = &o->plan->node.at[o->plan->kernel.at[i].node.at[0]];
  const Product *q = x->product;
  const Operand *a = &x->in[q->a], *b = &x->in[q->b];
  CudaProduct *c = &o->call[i].product;
  c->m = length_of(x, q->m, q->nm);
  c->n = length_of(x, q->n, q->nn);
  c->k = length_of(x, q->k, q->nk);
  c->batch = length_of(x, q->batch, q->nbatch);
  cut_product(o, &o->call[i]);
  return line_of(e, o, x, a, q->m, q->nm, &c->am) && line_of(e, o, x, a, q->k, q->nk, &c->ak) &&
         line_of(e, o, x, b, q->k, q->nk, &c->bk) && line_of(e, o, x, b, q->n, q->nn, &c->bn) &&
         line_of(e, o, x, &x->out, q->m, q->nm, &c->cm) &&
         line_of(e, o, x, &x->out, q->n, q->nn, &c->cn) &&
         line_of(e, o, x, a, q->batch, q->nbatch, &c->ta) &&
         line_of(e, o, x, b, q->batch, q->nbatch, &c->tb) &&
         line_of(e, o, x, &x->out, q->batch, q->nbatch, &c->tc);
}

static void free_products(CudaEngine *o) {
  for (uint32_t i = 0; o->call && i < o->plan->kernel.n; i++) {
    CudaProduct *c = &o->call[i].product;
    CudaLine *line[] = {&c->am, &c->ak, &c->bk, &c->bn, &c->cm, &c->cn, &c->ta, &c->tb, &c->tc};
    for (uint32_t k = 0; k < COUNT(line); k++)
      if (line[k]->at) o->d->call.cuMemFree_v2(line[k]->at);
  }
}

// -- code -----------------------------------------------------------------------------------------
static bool find_function(Engine *e, CudaEngine *o, CudaModule code, const char *name,
                          CudaFunction *fn) {
  return good(e, o->d->call.cuModuleGetFunction(fn, code, name), name);
}

// What kernels stand behind.
static Buf text_front(Engine *e, bool common) {
  Buf text = buf_new(e->arena);
  if (store_precision(e->store) == PRECISION_BF16) buf_text(&text, "#define LIMN_BF16\n");
  if (common) buf_text(&text, "#define LIMN_COMMON\n");
  prelude_write(&text, store_precision(e->store));
  buf_text(&text, team_text);
  return text;
}

static CudaModule compile(Engine *e, CudaEngine *o, const char *text, const char **why) {
  return device_compile(o->d, e->arena, &(DeviceText){.text = text, .cache = e->how.cache}, why);
}

static bool open_common(Engine *e, CudaEngine *o, const char **why) {
  struct {
    const char *name;
    CudaFunction *fn;
  } all[] = {{"limn_copy", &o->copy},           {"limn_look", &o->look},
             {"limn_bring", &o->bring},         {"limn_gather", &o->gather},
             {"limn_product8", &o->product[0]}, {"limn_product4", &o->product[1]},
             {"limn_product2", &o->product[2]}};
  o->common = compile(e, o, text_front(e, true).at, why);
  for (uint32_t i = 0; i < COUNT(all); i++)
    if (!o->common || !find_function(e, o, o->common, all[i].name, all[i].fn)) return false;
  return true;
}

static bool open_code(Engine *e, CudaEngine *o, const char **why) {
  Plan *p = o->plan;
  Buf text = text_front(e, false);
  CudaKernel *kernel = NEW_ARRAY(e->arena, CudaKernel, p->kernel.n + 1);
  emit_cuda(p, kernel, &text);
  const char *dump = getenv("LIMN_DUMP");
  if (dump) file_write(e->arena, dump, text.at, text.n);
  bool all = open_common(e, o, why);
  if (all) o->code = compile(e, o, text.at, why);
  all = all && o->code;
  for (uint32_t i = 0; all && i < p->kernel.n; i++) {
    CudaCall *call = &o->call[i];
    call->k = kernel[i];
    if (!kernel_has_text(&p->kernel.at[i])) continue;
    char name[40];
    snprintf(name, sizeof name, "limn_k%u", kernel[i].emit.fn);
    all = find_function(e, o, o->code, name, &call->fn);
    snprintf(name, sizeof name, "limn_k%u_sum", kernel[i].emit.fn);
    if (all && kernel[i].slices) all = find_function(e, o, o->code, name, &call->sum);
    size_t sliced = kernel[i].slices * (size_t)kernel[i].slice_bytes;
    if (sliced > o->parts_bytes) o->parts_bytes = sliced;
    size_t tile = (size_t)(kernel[i].tile_bytes * kernel[i].teams);
    if (all && kernel[i].shared && tile > 48 * 1024)
      all = good(e, o->d->call.cuFuncSetAttribute(call->fn, CUDA_FUNCTION_SHARED, (int)tile),
                 "shared memory");
    if (!kernel[i].shared && tile * SCRATCH_BLOCKS > o->scratch_bytes)
      o->scratch_bytes = tile * SCRATCH_BLOCKS;
    call->wire = NEW_ARRAY(e->arena, DeviceAddress, kernel[i].emit.slot.n + 1);
  }
  if (!all && !*why) *why = e->error;
  return all;
}

// -- launching ------------------------------------------------------------------------------------
typedef struct {
  CudaFunction fn;
  int64_t blocks;
  uint32_t threads;
  size_t shared;
  void *wires;
} CudaLaunch;

static bool launch(Engine *e, CudaEngine *o, const CudaLaunch *l) {
  CudaPlaces places;
  memcpy(places.at, o->place, sizeof places.at);
  void *arguments[] = {&o->context, l->wires, &places};
  int64_t most = (int64_t)o->d->processors * WAVES, blocks = l->blocks < most ? l->blocks : most;
  if (blocks < 1) return true;
  return good(e,
              o->d->call.cuLaunchKernel(l->fn, (unsigned)blocks, 1, 1, l->threads, 1, 1,
                                        (unsigned)l->shared, o->d->stream, arguments, NULL),
              "a kernel cannot be launched");
}

// Slices become one.
static bool launch_sum(Engine *e, CudaEngine *o, uint32_t i) {
  const CudaCall *call = &o->call[i];
  const PlanNode *x = &o->plan->node.at[o->plan->kernel.at[i].node.at[0]];
  return launch(e, o,
                &(CudaLaunch){.fn = call->sum,
                              .blocks = (o->plan->wire.at[x->out.wire].count + 255) / 256,
                              .threads = 256,
                              .wires = call->wire});
}

static bool launch_loops(Engine *e, CudaEngine *o, uint32_t i) {
  CudaCall *call = &o->call[i];
  const CudaKernel *k = &call->k;
  for (uint32_t s = 0; s < k->emit.slot.n; s++) {
    uint32_t wire = k->emit.slot.at[s];
    // what scans move, kernels add themselves
    int64_t place[8];
    memcpy(place, o->place, sizeof place);
    memset(o->place, 0, sizeof o->place);
    call->wire[s] = o->plan->wire.at[wire].place == AT_TILE ? 0 : wire_address(e, o, wire);
    memcpy(o->place, place, sizeof place);
  }
  int64_t blocks = (k->points + k->teams - 1) / k->teams;
  if (!k->shared && k->tile_bytes && blocks > SCRATCH_BLOCKS) blocks = SCRATCH_BLOCKS;
  return launch(e, o,
                &(CudaLaunch){.fn = call->fn,
                              .blocks = blocks,
                              .threads = k->team * k->teams,
                              .shared = k->shared ? (size_t)(k->tile_bytes * k->teams) : 0,
                              .wires = call->wire}) &&
         (!k->slices || launch_sum(e, o, i));
}

static bool launch_product(Engine *e, CudaEngine *o, uint32_t i) {
  const Plan *p = o->plan;
  const PlanNode *x = &p->node.at[p->kernel.at[i].node.at[0]];
  const Product *q = x->product;
  CudaProduct *c = &o->call[i].product;
  uint64_t cell = number_bytes(p->wire.at[x->out.wire].number);
  c->a = wire_address(e, o, x->in[q->a].wire) + (uint64_t)operand_start(p, &x->in[q->a]) * cell;
  c->b = wire_address(e, o, x->in[q->b].wire) + (uint64_t)operand_start(p, &x->in[q->b]) * cell;
  c->c = wire_address(e, o, x->out.wire) + (uint64_t)operand_start(p, &x->out) * cell;
  uint32_t kind = o->call[i].kind;
  int64_t cells = length_most(p, c->m) * length_most(p, c->n) * length_most(p, c->batch);
  if (!launch(e, o,
              &(CudaLaunch){.fn = o->product[kind],
                            .blocks = tiles_of(p, c, kind) * c->parts,
                            .threads = 256,
                            .wires = c}))
    return false;
  return c->parts == 1 ||
         launch(e, o,
                &(CudaLaunch){
                    .fn = o->gather, .blocks = (cells + 255) / 256, .threads = 256, .wires = c});
}

static bool launch_copy(Engine *e, CudaEngine *o, const Kernel *k) {
  CudaCopy c = {.to = wire_address(e, o, k->to),
                .from = wire_address(e, o, k->from),
                .bytes = (int64_t)wire_bytes(&o->plan->wire.at[k->to])};
  return launch(
      e, o,
      &(CudaLaunch){.fn = o->copy, .blocks = (c.bytes + 255) / 256, .threads = 256, .wires = &c});
}

static bool launch_look(Engine *e, CudaEngine *o) {
  const Plan *p = o->plan;
  CudaLosses l = {0};
  for (uint32_t i = 0; i < p->out.n; i++) {
    const PlanWire *w = &p->wire.at[p->out.at[i]];
    if (w->rank || w->base != BASE_R) continue;
    l.loss[l.n++] = wire_address(e, o, p->out.at[i]);
    if (l.n < LOSSES) continue;
    if (!launch(e, o, &(CudaLaunch){.fn = o->look, .blocks = 1, .threads = 1, .wires = &l}))
      return false;
    l.n = 0;
  }
  return !l.n || launch(e, o, &(CudaLaunch){.fn = o->look, .blocks = 1, .threads = 1, .wires = &l});
}

// Those numbers that lie in rows of floats, in front of a step and behind it.
static bool launch_brought(Engine *e, CudaEngine *o, bool back) {
  CudaBrought b = {.back = back};
  bool all = true;
  for (uint32_t i = 0; all && i < e->d->param.n; i++) {
    if (!engine_brings(e, i) || (back && !e->d->param.at[i].next)) continue;
    b.wide[b.n] = o->clocks + 8 * (uint64_t)i;
    b.narrow[b.n++] = state_there(e->state[i]);
    if (b.n < BROUGHT) continue;
    all = launch(e, o, &(CudaLaunch){.fn = o->bring, .blocks = 1, .threads = 1, .wires = &b});
    b.n = 0;
  }
  return all &&
         (!b.n ||
          launch(e, o, &(CudaLaunch){.fn = o->bring, .blocks = 1, .threads = 1, .wires = &b}));
}

// While profiling: now, with everything done.
static double clock_of(const CudaEngine *o) {
  if (!o->seconds) return 0;
  o->d->call.cuStreamSynchronize(o->d->stream);
  return clock_seconds();
}

static bool launch_kernels(Engine *e, CudaEngine *o, int64_t n, uint32_t from, uint32_t to) {
  const Plan *p = o->plan;
  for (uint32_t i = from; i < to; i++) {
    uint32_t at = i;
    const Kernel *k = &p->kernel.at[i];
    bool all = true;
    if (i == o->first_write && o->checked && !launch_look(e, o)) return false;
    double start = clock_of(o);
    if (k->kind == KERNEL_SCAN) {
      const PlanNode *x = &p->node.at[k->node.at[0]];
      int64_t times = extent_at(x->times, n);
      for (int64_t t = 0; all && t < times; t++) {
        o->place[x->depth] = x->back ? times - 1 - t : t;
        all = launch_kernels(e, o, n, i + 1, o->call[i].end - 1);
      }
      o->place[x->depth] = 0;
      i = o->call[i].end - 1;
    } else if (k->kind == KERNEL_PRODUCT) {
      all = launch_product(e, o, i);
    } else if (k->kind == KERNEL_COPY) {
      all = launch_copy(e, o, k);
    } else if (kernel_has_text(k)) {
      all = launch_loops(e, o, i);
    }
    if (!all) return false;
    if (o->seconds) o->seconds[at] += clock_of(o) - start;
  }
  return true;
}

static bool launch_step(Engine *e, CudaEngine *o, int64_t n) {
  return launch_brought(e, o, false) && launch_kernels(e, o, n, 0, o->plan->kernel.n) &&
         (o->first_write < o->plan->kernel.n || !o->checked || launch_look(e, o)) &&
         launch_brought(e, o, true);
}

// How many launches a step has.
static double count_launches(CudaEngine *o, uint32_t from, uint32_t to, int64_t n) {
  double all = 0;
  for (uint32_t i = from; i < to; i++) {
    const Kernel *k = &o->plan->kernel.at[i];
    if (k->kind != KERNEL_SCAN) {
      all += 2;
      continue;
    }
    const PlanNode *x = &o->plan->node.at[k->node.at[0]];
    all += (double)extent_at(x->times, n) * count_launches(o, i + 1, o->call[i].end - 1, n);
    i = o->call[i].end - 1;
  }
  return all;
}

static bool capture(Engine *e, CudaEngine *o, int64_t n) {
  const CudaCalls *c = &o->d->call;
  CudaGraph graph = NULL;
  if (o->graph) c->cuGraphExecDestroy(o->graph);
  o->graph = NULL;
  o->graph_n = n;
  if (o->seconds || count_launches(o, 0, o->plan->kernel.n, n) > GRAPH_MOST) return true;
  if (!good(e, c->cuStreamBeginCapture_v2(o->d->stream, CUDA_CAPTURE_RELAXED), "a step's graph"))
    return false;
  bool all = launch_step(e, o, n);
  all = good(e, c->cuStreamEndCapture(o->d->stream, &graph), "a step's graph") && all;
  all = all && good(e, c->cuGraphInstantiateWithFlags(&o->graph, graph, 0), "a step's graph");
  if (graph) c->cuGraphDestroy(graph);
  return all;
}

// -- a step ---------------------------------------------------------------------------------------
// Inputs as the caller has written them, clocks and context go into a slot, and from there.
static bool send_step(Engine *e, CudaEngine *o, int64_t n, uint64_t step) {
  const CudaCalls *c = &o->d->call;
  const Plan *p = o->plan;
  char *slot = o->host + o->queued % queue_length(o) * o->slot_bytes, *in = slot;
  double *clock = (void *)(slot + o->clock_at);
  CudaContextData *context = (void *)(slot + o->context_at);
  engine_clocks(e, step, clock);
  *context = (CudaContextData){.n = n,
                               .seed = e->how.seed,
                               .step = step,
                               .scratch = o->scratch,
                               .parts = o->parts,
                               .stop = o->d->stop};
  o->n[o->queued % queue_length(o)] = n;
  CudaResult r = c->cuMemcpyHtoDAsync_v2(o->context, context, sizeof *context, o->d->stream);
  if (!r && p->param.n)
    r = c->cuMemcpyHtoDAsync_v2(o->clocks, clock, 8 * (size_t)p->param.n, o->d->stream);
  for (uint32_t i = 0; !r && i < p->in.n; i++) {
    size_t bytes = wire_bytes(&p->wire.at[p->in.at[i]]);
    memcpy(in, e->in[i], bytes);
    if (bytes) r = c->cuMemcpyHtoDAsync_v2(o->in[i], in, bytes, o->d->stream);
    in += aligned(bytes);
  }
  return good(e, r, "a batch to the GPU");
}

static bool bring_step(Engine *e, CudaEngine *o) {
  const CudaCalls *c = &o->d->call;
  const Plan *p = o->plan;
  CudaResult r = 0;
  show_slot(e, o, o->queued % queue_length(o));
  for (uint32_t i = 0; !r && i < p->out.n; i++)
    if (wire_bytes(&p->wire.at[p->out.at[i]]))
      r = c->cuMemcpyDtoHAsync_v2(e->out[i], wire_address(e, o, p->out.at[i]),
                                  wire_bytes(&p->wire.at[p->out.at[i]]), o->d->stream);
  return good(e, r, "a step on the GPU failed");
}

static void states_changed(Engine *e) {
  for (uint32_t i = 0; i < e->d->param.n; i++)
    if (e->d->param.at[i].next && lives_there(e, i)) whole_of(e->state[i])->there_newer = true;
}

static bool cuda_queue(Engine *e, int64_t n, uint64_t step) {
  CudaEngine *o = e->own;
  if (!engine_takes(e, n)) return false;
  o->d->call.cuCtxSetCurrent(o->d->context);
  if (!send_states(e, o) || !send_step(e, o, n, step)) return false;
  if ((o->graph_n < 0 || (o->unrolls && o->graph_n != n)) && !capture(e, o, n)) return false;
  bool ran = o->graph ? good(e, o->d->call.cuGraphLaunch(o->graph, o->d->stream), "a step")
                      : launch_step(e, o, n);
  if (!ran || !bring_step(e, o)) return false;
  o->queued++;
  o->runs++;
  states_changed(e);
  return true;
}

// The oldest step that waits is shown. What was queued behind one that is not finite did nothing.
static RunStatus cuda_next(Engine *e) {
  CudaEngine *o = e->own;
  const CudaCalls *c = &o->d->call;
  if (!good(e, c->cuStreamSynchronize(o->d->stream), "a step on the GPU failed")) return RUN_FAILED;
  uint64_t slot = o->done++ % queue_length(o);
  show_slot(e, o, slot);
  if (engine_finite(e)) return RUN_GOOD;
  const Plan *p = o->plan;
  const char *in = o->host + slot * o->slot_bytes;
  for (uint32_t i = 0; i < p->in.n; i++) { // as they were: somebody will ask why
    memcpy(e->in[i], in, wire_bytes(&p->wire.at[p->in.at[i]]));
    in += aligned(wire_bytes(&p->wire.at[p->in.at[i]]));
  }
  o->done = o->queued;
  c->cuMemsetD8Async(o->d->stop, 0, sizeof(int), o->d->stream);
  return RUN_NOT_FINITE;
}

static RunStatus cuda_run(Engine *e, int64_t n, uint64_t step) {
  return cuda_queue(e, n, step) ? cuda_next(e) : RUN_FAILED;
}

static uint32_t cuda_room(const Engine *e) { return (uint32_t)queue_length(e->own); }

static void cuda_plan(const Engine *e, Buf *b) {
  const CudaEngine *o = e->own;
  plan_print(o->plan, o->seconds, o->runs, b);
}

static void cuda_free(Engine *e) {
  CudaEngine *o = e->own;
  const CudaCalls *c = &o->d->call;
  c->cuCtxSetCurrent(o->d->context);
  free_products(o);
  if (o->graph) c->cuGraphExecDestroy(o->graph);
  if (o->code) c->cuModuleUnload(o->code);
  if (o->common) c->cuModuleUnload(o->common);
  if (o->memory) c->cuMemFree_v2(o->memory);
  if (o->host) c->cuMemFreeHost(o->host);
}

static const EngineKind cuda_kind = {.run = cuda_run,
                                     .queue = cuda_queue,
                                     .next = cuda_next,
                                     .room = cuda_room,
                                     .plan = cuda_plan,
                                     .free = cuda_free};

static void find_scans(CudaEngine *o) {
  const Plan *p = o->plan;
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    if (p->kernel.at[i].kind != KERNEL_SCAN) continue;
    o->unrolls |= p->node.at[p->kernel.at[i].node.at[0]].times.per != 0;
    uint32_t end = i + 1;
    for (uint32_t depth = 1; depth; end++) {
      depth += p->kernel.at[end].kind == KERNEL_SCAN;
      depth -= p->kernel.at[end].kind == KERNEL_SCAN_END;
    }
    o->call[i].end = end;
  }
}

bool cuda_open(Engine *e, const char **why) {
  CudaEngine *o = NEW(e->arena, CudaEngine);
  o->d = e->how.device;
  o->graph_n = -1;
  e->own = o;
  e->kind = &cuda_kind;
  o->d->call.cuCtxSetCurrent(o->d->context);
  const Diagram *d = passes_engine(e->w, e->d);
  o->plan = plan_make(e->w, d,
                      &(PlanOptions){.samples = e->samples,
                                     .fuse = !e->how.unfused,
                                     .wide = store_precision(e->store) == PRECISION_64,
                                     .ticks = e->how.ticks,
                                     .target = &plan_gpu});
  Plan *p = o->plan;
  if (p->error) return diag_refuse(e->w->diags, p->error_at, "%s", p->error);
  e->whole = p->whole;
  o->call = NEW_ARRAY(e->arena, CudaCall, p->kernel.n + 1);
  find_scans(o);
  o->first_write = plan_first_write(p, &o->checked);
  if (e->how.profile) o->seconds = NEW_ARRAY(e->arena, double, p->kernel.n + 1);
  store_mirror(e->store, &(StoreMirror){o->d, fetch_state, drop_state});
  bool all = open_code(e, o, why);
  for (uint32_t i = 0; all && i < p->kernel.n; i++)
    if (p->kernel.at[i].kind == KERNEL_PRODUCT) all = prepare_product(e, o, i);
  all = all && take_memory(e, o) && take_states(e, o);
  if (!all && !*why) *why = e->error;
  e->says = arena_format(e->arena, "%s, CUDA %d.%d", o->d->name, o->d->compiler_version / 1000,
                         o->d->compiler_version % 1000 / 10);
  return all;
}
