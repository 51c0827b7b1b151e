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
  PRODUCT_TILE = 64,
  PRODUCT_DEEP = 256, // of a sum, at least, for each of its parts
};

// As in team.h.
typedef struct {
  int64_t at[8];
} CudaPlaces;
typedef struct {
  int64_t n;
  uint64_t seed, step;
  int64_t at[8];
  DeviceAddress scratch, parts;
  int32_t stop;
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
  DeviceAddress context, loss[LOSSES];
  int32_t n;
} CudaLosses;

typedef struct {
  CudaKernel k;
  CudaFunction fn;
  DeviceAddress *wire; // [slot]
  CudaProduct product;
  uint32_t end; // of a scan
} CudaCall;

typedef struct {
  Device *d;
  Plan *plan;
  CudaModule code;
  CudaFunction copy, look, product, gather;
  CudaCall *call;       // [kernel]
  DeviceAddress memory; // arena, inputs, clocks, context, scratch, parts, tables
  DeviceAddress arena, clocks, context, scratch, parts;
  DeviceAddress *in;    // [input]
  void *host;           // pinned: inputs, outputs, clocks, context
  double *clock;        // [param]
  CudaContextData *now; // what goes to the device before a step
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

// A number by itself is a double to the code; one that lies in a row of floats is brought and taken
// back.
static bool is_brought(const Engine *e, uint32_t i) {
  const State *s = e->state[i];
  return s && !s->rank && s->base == BASE_R && s->number != NUMBER_F64;
}

static bool lives_there(const Engine *e, uint32_t i) { return e->state[i] && !is_brought(e, i); }

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
  else if (lives_there(e, r->number_of))
    base = state_there(e->state[r->number_of]);
  else
    base = o->clocks + 8 * (uint64_t)r->number_of;
  return base + (uint64_t)(offset * (int64_t)number_bytes(p->wire.at[wire].number));
}

static size_t wire_bytes(const PlanWire *w) { return (size_t)w->count * number_bytes(w->number); }

static bool take_memory(Engine *e, CudaEngine *o) {
  Plan *p = o->plan;
  size_t at = aligned((size_t)p->arena_bytes), host = 0;
  o->in = NEW_ARRAY(e->arena, DeviceAddress, p->in.n + 1);
  for (uint32_t i = 0; i < p->in.n; i++) {
    o->in[i] = at;
    at = aligned(at + wire_bytes(&p->wire.at[p->in.at[i]]));
    host = aligned(host + wire_bytes(&p->wire.at[p->in.at[i]]));
  }
  for (uint32_t i = 0; i < p->out.n; i++)
    host = aligned(host + wire_bytes(&p->wire.at[p->out.at[i]]));
  size_t clocks = at, context = aligned(clocks + 8 * (size_t)(p->param.n + 1)),
         scratch = aligned(context + sizeof(CudaContextData)),
         parts = aligned(scratch + o->scratch_bytes), all = aligned(parts + o->parts_bytes);
  e->bytes = (int64_t)all;
  size_t clocks_here = host, context_here = aligned(clocks_here + 8 * (size_t)(p->param.n + 1));
  size_t all_here = context_here + sizeof(CudaContextData);
  size_t left = 0, total = 0, wanted = all + states_bytes(e);
  o->d->call.cuMemGetInfo_v2(&left, &total);
  if (wanted > left)
    return diag_refuse(e->w->diags, (Span){0},
                       "out of memory on %s: a step needs %.3f GB, and %.3f of its %.3f are free; "
                       "with a smaller --batch it needs less",
                       o->d->name, (double)wanted / 1e9, (double)left / 1e9, (double)total / 1e9);
  if (!good(e, o->d->call.cuMemAlloc_v2(&o->memory, all), "memory for a step") ||
      !good(e, o->d->call.cuMemAllocHost_v2(&o->host, all_here), "memory beside a step"))
    return false;
  o->d->call.cuMemsetD8Async(o->memory, 0xFF, all, o->d->stream); // a read before a write is seen
  o->arena = o->memory;
  for (uint32_t i = 0; i < p->in.n; i++) o->in[i] += o->memory;
  o->clocks = o->memory + clocks;
  o->context = o->memory + context;
  o->scratch = o->memory + scratch;
  o->parts = o->memory + parts;
  char *here = o->host;
  memset(here, 0, all_here);
  for (uint32_t i = 0; i < p->in.n; i++) {
    e->in[i] = here;
    here += aligned(wire_bytes(&p->wire.at[p->in.at[i]]));
  }
  for (uint32_t i = 0; i < p->out.n; i++) {
    e->out[i] = here;
    here += aligned(wire_bytes(&p->wire.at[p->out.at[i]]));
  }
  o->clock = (void *)((char *)o->host + clocks_here);
  o->now = (void *)((char *)o->host + context_here);
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

// Few tiles: the sum is cut into parts, so that all multiprocessors have some.
static void cut_product(CudaEngine *o, CudaProduct *c) {
  const Plan *p = o->plan;
  int64_t m = length_most(p, c->m), n = length_most(p, c->n), k = length_most(p, c->k),
          batch = length_most(p, c->batch);
  int64_t tiles = ((m + PRODUCT_TILE - 1) / PRODUCT_TILE) *
                  ((n + PRODUCT_TILE - 1) / PRODUCT_TILE) * batch,
          wanted = tiles ? 2 * o->d->processors / tiles : 1, most = k / PRODUCT_DEEP;
  int64_t parts = wanted < most ? wanted : most;
  if (parts < 1) parts = 1;
  c->part = ((k + parts - 1) / parts + 15) / 16 * 16;
  if (c->part < 16) c->part = 16;
  c->parts = (k + c->part - 1) / c->part;
  if (c->parts < 1) c->parts = 1;
  size_t bytes = c->parts > 1 ? (size_t)(c->parts * m * n * batch) * (p->wide ? 8 : 4) : 0;
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
  cut_product(o, c);
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
static bool is_nest(const Kernel *k) { return k->kind == KERNEL_LOOPS || k->kind == KERNEL_ORDER; }

static bool find_function(Engine *e, CudaEngine *o, const char *name, CudaFunction *fn) {
  return good(e, o->d->call.cuModuleGetFunction(fn, o->code, name), name);
}

static bool open_code(Engine *e, CudaEngine *o, const char **why) {
  Plan *p = o->plan;
  Buf text = buf_new(e->arena);
  CudaKernel *kernel = NEW_ARRAY(e->arena, CudaKernel, p->kernel.n + 1);
  if (store_precision(e->store) == PRECISION_BF16) buf_text(&text, "#define LIMN_BF16\n");
  prelude_write(&text, store_precision(e->store));
  buf_text(&text, team_text);
  emit_cuda(p, kernel, &text);
  const char *dump = getenv("LIMN_DUMP");
  if (dump) file_write(e->arena, dump, text.at, text.n);
  o->code =
      device_compile(o->d, e->arena, &(DeviceText){.text = text.at, .cache = e->how.cache}, why);
  if (!o->code) return false;
  bool all = find_function(e, o, "limn_copy", &o->copy) &&
             find_function(e, o, "limn_look", &o->look) &&
             find_function(e, o, "limn_product", &o->product) &&
             find_function(e, o, "limn_gather", &o->gather);
  for (uint32_t i = 0; all && i < p->kernel.n; i++) {
    CudaCall *call = &o->call[i];
    call->k = kernel[i];
    if (!is_nest(&p->kernel.at[i])) continue;
    char name[32];
    snprintf(name, sizeof name, "limn_k%u", kernel[i].emit.fn);
    all = find_function(e, o, name, &call->fn);
    size_t tile = (size_t)(kernel[i].tile_bytes * kernel[i].teams);
    if (all && kernel[i].shared && tile > 48 * 1024)
      all = good(e, o->d->call.cuFuncSetAttribute(call->fn, CUDA_FUNCTION_SHARED, (int)tile),
                 "shared memory");
    if (!kernel[i].shared && tile * SCRATCH_BLOCKS > o->scratch_bytes)
      o->scratch_bytes = tile * SCRATCH_BLOCKS;
    call->wire = NEW_ARRAY(e->arena, DeviceAddress, kernel[i].emit.slot.n + 1);
  }
  if (!all) *why = e->error;
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
                              .wires = call->wire});
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
  int64_t m = length_most(p, c->m), n = length_most(p, c->n), batch = length_most(p, c->batch);
  int64_t tiles =
      ((m + PRODUCT_TILE - 1) / PRODUCT_TILE) * ((n + PRODUCT_TILE - 1) / PRODUCT_TILE) * batch;
  if (!launch(
          e, o,
          &(CudaLaunch){.fn = o->product, .blocks = tiles * c->parts, .threads = 256, .wires = c}))
    return false;
  return c->parts == 1 || launch(e, o,
                                 &(CudaLaunch){.fn = o->gather,
                                               .blocks = (m * n * batch + 255) / 256,
                                               .threads = 256,
                                               .wires = c});
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
  CudaLosses l = {.context = o->context};
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

static bool launch_kernels(Engine *e, CudaEngine *o, uint32_t from, uint32_t to) {
  const Plan *p = o->plan;
  for (uint32_t i = from; i < to; i++) {
    const Kernel *k = &p->kernel.at[i];
    bool all = true;
    if (i == o->first_write && o->checked && !launch_look(e, o)) return false;
    if (k->kind == KERNEL_SCAN) {
      const PlanNode *x = &p->node.at[k->node.at[0]];
      int64_t times = extent_at(x->times, o->now->n);
      for (int64_t t = 0; all && t < times; t++) {
        o->place[x->depth] = x->back ? times - 1 - t : t;
        all = launch_kernels(e, o, i + 1, o->call[i].end - 1);
      }
      o->place[x->depth] = 0;
      i = o->call[i].end - 1;
    } else if (k->kind == KERNEL_PRODUCT) {
      all = launch_product(e, o, i);
    } else if (k->kind == KERNEL_COPY) {
      all = launch_copy(e, o, k);
    } else if (is_nest(k)) {
      all = launch_loops(e, o, i);
    }
    if (!all) return false;
  }
  return true;
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
  if (count_launches(o, 0, o->plan->kernel.n, n) > GRAPH_MOST) return true;
  if (!good(e, c->cuStreamBeginCapture_v2(o->d->stream, CUDA_CAPTURE_RELAXED), "a step's graph"))
    return false;
  bool all = launch_kernels(e, o, 0, o->plan->kernel.n);
  all = good(e, c->cuStreamEndCapture(o->d->stream, &graph), "a step's graph") && all;
  all = all && good(e, c->cuGraphInstantiateWithFlags(&o->graph, graph, 0), "a step's graph");
  if (graph) c->cuGraphDestroy(graph);
  return all;
}

// -- a step ---------------------------------------------------------------------------------------
static void set_clocks(Engine *e, CudaEngine *o, uint64_t step) {
  for (uint32_t i = 0; i < e->d->param.n; i++) {
    const Param *p = &e->d->param.at[i];
    if (is_brought(e, i)) state_get(e->state[i], &o->clock[i]);
    if (p->role != ROLE_CLOCK || e->state[i]) continue;
    size_t n = strlen(p->path);
    o->clock[i] = n >= 5 && !strcmp(p->path + n - 5, "steps") ? e->how.steps : (double)step;
  }
}

static bool send_step(Engine *e, CudaEngine *o, int64_t n, uint64_t step) {
  const CudaCalls *c = &o->d->call;
  const Plan *p = o->plan;
  set_clocks(e, o, step);
  *o->now = (CudaContextData){
      .n = n, .seed = e->how.seed, .step = step, .scratch = o->scratch, .parts = o->parts};
  CudaResult r = c->cuMemcpyHtoDAsync_v2(o->context, o->now, sizeof *o->now, o->d->stream);
  if (!r && p->param.n)
    r = c->cuMemcpyHtoDAsync_v2(o->clocks, o->clock, 8 * (size_t)p->param.n, o->d->stream);
  for (uint32_t i = 0; !r && i < p->in.n; i++)
    if (wire_bytes(&p->wire.at[p->in.at[i]]))
      r = c->cuMemcpyHtoDAsync_v2(o->in[i], e->in[i], wire_bytes(&p->wire.at[p->in.at[i]]),
                                  o->d->stream);
  return good(e, r, "a batch to the GPU");
}

static bool bring_step(Engine *e, CudaEngine *o) {
  const CudaCalls *c = &o->d->call;
  const Plan *p = o->plan;
  CudaResult r = 0;
  for (uint32_t i = 0; !r && i < p->out.n; i++)
    if (wire_bytes(&p->wire.at[p->out.at[i]]))
      r = c->cuMemcpyDtoHAsync_v2(e->out[i], wire_address(e, o, p->out.at[i]),
                                  wire_bytes(&p->wire.at[p->out.at[i]]), o->d->stream);
  if (!r && p->param.n)
    r = c->cuMemcpyDtoHAsync_v2(o->clock, o->clocks, 8 * (size_t)p->param.n, o->d->stream);
  if (!r) r = c->cuStreamSynchronize(o->d->stream);
  return good(e, r, "a step on the GPU failed");
}

static void states_changed(Engine *e, const CudaEngine *o) {
  for (uint32_t i = 0; i < e->d->param.n; i++) {
    if (!e->d->param.at[i].next) continue;
    if (lives_there(e, i))
      whole_of(e->state[i])->there_newer = true;
    else if (e->state[i])
      state_set(e->state[i], &o->clock[i]);
  }
}

static bool is_finite(const Engine *e, const CudaEngine *o) {
  for (uint32_t i = 0; i < o->plan->out.n; i++) {
    const PlanWire *w = &o->plan->wire.at[o->plan->out.at[i]];
    if (!w->rank && w->base == BASE_R && !isfinite(*(const double *)e->out[i])) return false;
  }
  return true;
}

static RunStatus cuda_run(Engine *e, int64_t n, uint64_t step) {
  CudaEngine *o = e->own;
  if (e->whole && n != e->samples) {
    e->error = arena_format(e->arena,
                            "this program is compiled for %lld samples at once, not for %lld: a "
                            "size in it is not a multiple of their number",
                            (long long)e->samples, (long long)n);
    return RUN_FAILED;
  }
  o->d->call.cuCtxSetCurrent(o->d->context);
  if (!send_states(e, o) || !send_step(e, o, n, step)) return RUN_FAILED;
  if ((o->graph_n < 0 || (o->unrolls && o->graph_n != n)) && !capture(e, o, n)) return RUN_FAILED;
  bool ran = o->graph ? good(e, o->d->call.cuGraphLaunch(o->graph, o->d->stream), "a step")
                      : launch_kernels(e, o, 0, o->plan->kernel.n);
  if (!ran || !bring_step(e, o)) return RUN_FAILED;
  bool whole = is_finite(e, o);
  if (whole || !o->checked) states_changed(e, o);
  return whole ? RUN_GOOD : RUN_NOT_FINITE;
}

static void cuda_plan(const Engine *e, Buf *b) {
  const CudaEngine *o = e->own;
  plan_print(o->plan, NULL, 0, b);
}

static void cuda_free(Engine *e) {
  CudaEngine *o = e->own;
  const CudaCalls *c = &o->d->call;
  c->cuCtxSetCurrent(o->d->context);
  free_products(o);
  if (o->graph) c->cuGraphExecDestroy(o->graph);
  if (o->code) c->cuModuleUnload(o->code);
  if (o->memory) c->cuMemFree_v2(o->memory);
  if (o->host) c->cuMemFreeHost(o->host);
}

static const EngineKind cuda_kind = {cuda_run, cuda_plan, cuda_free};

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
