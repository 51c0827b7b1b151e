// The CPU engine: a plan, its kernels as compiled functions, one arena, and a loop over the kernels for
// each step. Without a compiler, kernels are strip programs of prebuilt loops (strip/). A step allocates
// nothing and makes no system call.
//
// The kernels that overwrite states come last and are skipped when a loss is not finite, so such a step
// changes no state.
#define _DEFAULT_SOURCE
#include "base/diag.h"
#include "base/files.h"
#include "core/pass/pipeline.h"
#include "run/engine/c/compile.h"

#include "run/engine/c/emit.h"
#include "run/engine/engine_own.h"
#include "run/engine/kernel/prelude_text.h"
#include "run/engine/prebuilt/gemm.h"
#include "run/engine/prebuilt/strip.h"

#include <math.h>
#include <stdlib.h>

enum { INLINE_WORK = 24 * 1000 };  // below this a kernel runs on one thread
enum { PIECE_BYTES = 128 * 1024 }; // a piece of this much text takes seconds to compile
enum { STRIP_SLOWER = 2 };         // as measured by bench/strip.c

typedef struct {
  KernelFn *fn;
  const Strip *strip; // replaces fn where there is no compiler; else NULL
  char **table;
  int64_t grain;  // points in one task
  int64_t points; // of the divided loops, for the current number of samples
  bool shared;    // worth more than one thread
  uint32_t end;   // KERNEL_SCAN: the kernel after its end
  GemmPlan gemm;  // KERNEL_PRODUCT
  const PlanNode *node;
} KernelCall;

typedef struct {
  KernelContext context; // first: copy_state casts it back to CompiledEngine
  Plan *plan;
  Compiled code;
  StepFn *step;            // of a tiny plan: the whole step on one thread; else NULL
  StepFn *step_full_batch; // the same for the largest number of samples
  KernelCall *call;        // [kernel]
  Pool *pool;
  char *memory, *arena; // the block to free; the arena is aligned inside it
  char *scratch;        // [thread]
  char *work;           // [thread] registers of strips
  size_t scratch_bytes, work_bytes, shared_at;
  void **state, **in, **out; // in and out are the engine's
  double *clock;             // one for each param
  VEC(GemmPlan) small;
  uint32_t first_write; // the first kernel that overwrites a state
  bool points_known;    // KernelCall.points are those of context.n samples
  bool prebuilt_first;  // prebuilt kernels run until Target.prebuilt_while ends
  double *seconds;      // [kernel] while profiling
  uint64_t runs;
} CompiledEngine;

// -- products -------------------------------------------------------------------------------------
static GemmAxis axis_of(const CompiledEngine *o, const PlanNode *x, const Operand *at,
                        const uint32_t *group, uint32_t n) {
  GemmAxis l = {0};
  l.at = product_offsets(o->plan, x, at, group, n, &l.step);
  return l;
}

static Gemm gemm_of(Engine *e, const CompiledEngine *o, const PlanNode *x) {
  const Product *q = x->product;
  const Operand *a = &x->in[q->a], *b = &x->in[q->b];
  Precision rounded = store_precision(e->store);
  return (Gemm){.m = product_length(x, q->m, q->nm, o->plan->samples),
                .n = product_length(x, q->n, q->nn, o->plan->samples),
                .k = product_length(x, q->k, q->nk, o->plan->samples),
                .am = axis_of(o, x, a, q->m, q->nm),
                .ak = axis_of(o, x, a, q->k, q->nk),
                .bk = axis_of(o, x, b, q->k, q->nk),
                .bn = axis_of(o, x, b, q->n, q->nn),
                .cm = axis_of(o, x, &x->out, q->m, q->nm),
                .cn = axis_of(o, x, &x->out, q->n, q->nn),
                .precision = rounded == PRECISION_TF32 ? PRECISION_32 : rounded};
}

static void small_product(const void *gemm, const void *a, const void *b, void *c, void *scratch,
                          int64_t m, int64_t n, int64_t k, int add) {
  gemm_small(gemm, (GemmRun){.a = a, .b = b, .c = c, .m = m, .n = n, .k = k, .add = add}, scratch);
}

// -- memory ---------------------------------------------------------------------------------------
// The address of a wire when its surrounding scans are at these positions.
static void *memory_at(const CompiledEngine *o, uint32_t wire, const int64_t *at) {
  const Plan *p = o->plan;
  uint32_t root;
  int64_t offset = wire_offset(p, wire, at, &root);
  const PlanWire *r = &p->wire.at[root];
  char *base = r->place == AT_STATE   ? o->state[r->number_of]
               : r->place == AT_INPUT ? o->in[r->number_of]
                                      : o->arena + r->at;
  return base + offset * (int64_t)number_bytes(p->wire.at[wire].number);
}

static void *wire_memory(const CompiledEngine *o, uint32_t wire) {
  return memory_at(o, wire, o->context.at);
}

static void run_copy(CompiledEngine *o, const Kernel *k) {
  for (uint32_t i = 0; i < k->to.n; i++) {
    const PlanWire *to = &o->plan->wire.at[k->to.at[i]];
    memcpy(wire_memory(o, k->to.at[i]), wire_memory(o, k->from.at[i]),
           (size_t)to->count * number_bytes(to->number));
  }
}

static void copy_state(KernelContext *c, uint32_t kernel) {
  CompiledEngine *o = (CompiledEngine *)c;
  run_copy(o, &o->plan->kernel.at[kernel]);
}

static size_t aligned(size_t n) { return (n + 63) / 64 * 64; }

static bool allocate_memory(Engine *e, CompiledEngine *o) {
  Plan *p = o->plan;
  size_t at = aligned((size_t)p->arena_bytes), shared = 0;
  uint32_t threads = pool_threads(o->pool);
  size_t *input = NEW_ARRAY(e->arena, size_t, p->in.n + 1);
  for (uint32_t i = 0; i < p->in.n; i++) {
    const PlanWire *w = &p->wire.at[p->in.at[i]];
    input[i] = at;
    at = aligned(at + (size_t)w->count * number_bytes(w->number));
  }
  for (uint32_t i = 0; i < p->kernel.n; i++)
    if (p->kernel.at[i].kind == KERNEL_PRODUCT && o->call[i].gemm.shared_bytes > shared)
      shared = o->call[i].gemm.shared_bytes;
  o->shared_at = at;
  at = aligned(at + shared);
  size_t scratch = at;
  e->bytes = (int64_t)(at + threads * o->scratch_bytes);
  o->memory = (double)e->bytes < os_memory() ? malloc((size_t)e->bytes + 4096) : NULL;
  if (!o->memory)
    return diag_machine(e->w->diags, "out of memory: this step needs %lld bytes",
                        (long long)e->bytes);
  memset(o->memory, 0xFF,
         (size_t)e->bytes + 4096); // NaN: makes a read before a write visible
  o->arena = (char *)(((uintptr_t)o->memory + 4095) / 4096 * 4096);
  o->scratch = o->arena + scratch;
  for (uint32_t i = 0; i < p->in.n; i++) o->in[i] = o->arena + input[i];
  for (uint32_t i = 0; i < p->param.n; i++)
    o->state[i] = e->state[i] && !engine_widens(e, i) ? e->state[i]->data : (void *)&o->clock[i];
  for (uint32_t i = 0; i < p->out.n; i++) o->out[i] = wire_memory(o, p->out.at[i]);
  return true;
}

// -- opening --------------------------------------------------------------------------------------
static void reserve_scratch(CompiledEngine *o, size_t bytes) {
  if (aligned(bytes) > o->scratch_bytes) o->scratch_bytes = aligned(bytes);
}

static void plan_products_of(Engine *e, CompiledEngine *o) {
  Plan *p = o->plan;
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    Kernel *k = &p->kernel.at[i];
    const PlanNode *first = k->node.n ? &p->node.at[k->node.at[0]] : NULL;
    reserve_scratch(o, (size_t)k->tile_bytes);
    if (k->kind == KERNEL_PRODUCT) {
      Gemm g = gemm_of(e, o, first);
      o->call[i].node = first;
      gemm_plan(&g, &o->call[i].gemm);
      reserve_scratch(o, o->call[i].gemm.thread_bytes);
    }
    if (k->kind == KERNEL_ORDER)
      reserve_scratch(
          o, 8 * (size_t)extent_most(p, p->wire.at[first->in[0].wire].shape[first->axis]) + 64);
    for (uint32_t s = 0; s < k->nest.n; s++)
      for (uint32_t j = 0; j < k->nest.at[s].node.n; j++) {
        const PlanNode *x = &p->node.at[k->nest.at[s].node.at[j]];
        if (x->kind != NODE_PRODUCT) continue;
        Gemm g = gemm_of(e, o, x);
        GemmPlan small;
        gemm_plan(&g, &small);
        reserve_scratch(o, (size_t)k->tile_bytes + gemm_small_bytes(&small));
        vec_push(e->arena, &o->small, small);
      }
  }
}

// A kernel's table of pointers. The kernel itself adds the offsets of scans and tiles, so the pointers
// are those of scan positions 0, whatever positions the last run has left.
static char **pointers_of(Engine *e, CompiledEngine *o, const Ids *slot) {
  static const int64_t beginnings[COUNT(((KernelContext *)0)->at)] = {0};
  char **table = NEW_ARRAY(e->arena, char *, slot->n + 1);
  for (uint32_t i = 0; i < slot->n; i++) {
    uint32_t wire = slot->at[i];
    if (wire >= o->plan->wire.n)
      table[i] = (char *)&o->small.at[wire - o->plan->wire.n];
    else if (o->plan->wire.at[wire].place != AT_TILE)
      table[i] = memory_at(o, wire, beginnings);
  }
  return table;
}

static const EngineKind compiled_kind;

// Cuts the text into pieces of at least PIECE_BYTES that are compiled in parallel. The cut does not depend
// on the number of cores. A tiny step is one function that calls all others, hence one piece.
static CText cut_text(Engine *e, const Plan *p, const EmitKernel *kernel, const Buf *text) {
  CText t = {.front = text->at, .front_n = text->n};
  uint32_t first = 0;
  for (uint32_t i = 0; i < p->kernel.n; i++)
    t.kernels += kernel_has_text(&p->kernel.at[i]) && kernel[i].fn == i;
  while (first < p->kernel.n && !kernel_has_text(&p->kernel.at[first])) first++;
  if (first == p->kernel.n && !p->tiny) return t;
  t.piece = NEW_ARRAY(e->arena, CPiece, text->n / PIECE_BYTES + 2);
  if (first < p->kernel.n) t.front_n = kernel[first].at;
  t.piece[t.n++] = (CPiece){text->at + t.front_n, text->n - t.front_n};
  for (uint32_t i = first + 1; i < p->kernel.n && !p->tiny; i++) {
    CPiece *last = &t.piece[t.n - 1];
    const char *at = text->at + kernel[i].at;
    if (!kernel_has_text(&p->kernel.at[i]) || kernel[i].fn != i || at - last->text < PIECE_BYTES)
      continue;
    t.piece[t.n++] = (CPiece){at, last->n - (size_t)(at - last->text)};
    last->n = (size_t)(at - last->text);
  }
  return t;
}

// Looks up the functions of all kernels. False: the compiled code lacks one.
static bool find_functions(Engine *e, CompiledEngine *o, const EmitKernel *kernel) {
  const Plan *p = o->plan;
  bool all = true;
  o->context.table = NEW_ARRAY(e->arena, char **, p->kernel.n + 1);
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    char name[32];
    snprintf(name, sizeof name, "limn_k%u", kernel[i].fn);
    o->context.table[i] = o->call[i].table = pointers_of(e, o, &kernel[i].slot);
    if (!kernel_has_text(&p->kernel.at[i])) continue;
    void *fn = compile_find(&o->code, name);
    memcpy(&o->call[i].fn, &fn, sizeof fn);
    all &= fn != NULL;
  }
  if (!p->tiny) return all;
  void *fn = compile_find(&o->code, "limn_step"), *full = compile_find(&o->code, "limn_full");
  memcpy(&o->step, &fn, sizeof fn);
  memcpy(&o->step_full_batch, &full, sizeof full);
  return all && fn && full;
}

static const char *threads_text(const Engine *e, uint32_t n) {
  return arena_format(e->arena, "%u thread%s", n, n == 1 ? "" : "s");
}

// Compiles the kernels. False: use prebuilt ones.
static bool open_code(Engine *e, CompiledEngine *o) {
  Plan *p = o->plan;
  Buf text = buf_new(e->arena);
  prelude_write(&text, store_precision(e->store));
  EmitKernel *kernel = NEW_ARRAY(e->arena, EmitKernel, p->kernel.n + 1);
  emit_c(p, p->tiny, o->first_write, kernel, &text);
  const char *dump = getenv("LIMN_DUMP");
  if (dump) file_write(e->arena, dump, text.at, text.n);
  CText cut = cut_text(e, p, kernel, &text);
  bool good = compile_c(e->arena, &cut, &e->target, &o->code);
  if (good && !find_functions(e, o, kernel)) {
    good = false;
    o->code.error = arena_format(e->arena, "%s gave code without the functions that were asked for",
                                 o->code.compiler);
  }
  if (!good) {
    compile_close(&o->code);
    o->step = o->step_full_batch = NULL;
    if (o->code.stopped) return false;
    e->w->cc_failed = true;
    diag_warning(e->w->diags, (Span){0}, "%s: prebuilt kernels do its work", o->code.error);
    return false;
  }
  engine_warn_cache(e, o->code.warning);
  e->description = o->code.cached
                       ? arena_format(e->arena, "compiled step from the cache, %s",
                                      threads_text(e, pool_threads(o->pool)))
                       : arena_format(e->arena, "compiled by %s in %.2f s, %s", o->code.compiler,
                                      o->code.seconds, threads_text(e, pool_threads(o->pool)));
  return true;
}

// Builds each kernel as a program of prebuilt loops.
static bool open_strips(Engine *e, CompiledEngine *o) {
  Plan *p = o->plan;
  const Ids *slot = kernel_slots(p);
  uint32_t threads = pool_threads(o->pool);
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    if (!kernel_has_text(&p->kernel.at[i])) continue;
    Strip *s = strip_new(e->arena, p, i, &slot[i]);
    o->call[i].strip = s;
    o->call[i].table = pointers_of(e, o, &slot[i]);
    if (strip_bytes(s) > o->work_bytes) o->work_bytes = strip_bytes(s);
  }
  o->work = aligned_alloc(64, aligned(threads * o->work_bytes + 1));
  if (!o->work) return diag_machine(e->w->diags, "out of memory for prebuilt kernels");
  e->bytes += (int64_t)(threads * o->work_bytes);
  e->prebuilt = true;
  e->description = e->target.no_compiler || compile_compiler(e->arena, &e->target)
                       ? arena_format(e->arena, "prebuilt kernels (%s), %s", strip_cpu(),
                                      threads_text(e, threads))
                       : arena_format(e->arena,
                                      "no C compiler found: prebuilt kernels (%s), %s, about %d "
                                      "times slower than compiled code; install gcc",
                                      strip_cpu(), threads_text(e, threads), STRIP_SLOWER);
  return true;
}

static bool stops_opening(const Engine *e, const CompiledEngine *o) {
  return o->code.stopped && !e->target.caller_stops;
}

// Replaces prebuilt kernels by compiled ones between two runs. If compiling fails, the prebuilt ones stay.
static RunStatus switch_to_compiled(Engine *e, CompiledEngine *o) {
  uint32_t n = o->plan->kernel.n;
  KernelCall *before = NEW_ARRAY(e->arena, KernelCall, n + 1);
  memcpy(before, o->call, n * sizeof *before);
  o->prebuilt_first = false;
  bool good = open_code(e, o);
  if (!good) memcpy(o->call, before, n * sizeof *before);
  for (uint32_t i = 0; good && i < n; i++) o->call[i].strip = NULL;
  e->prebuilt = !good;
  if (good || !stops_opening(e, o)) return RUN_GOOD;
  e->error = o->code.error;
  return RUN_FAILED;
}

static int64_t kernel_points(const Kernel *k, int64_t n) {
  int64_t points = 1;
  if (k->ranged) return extent_at(k->nest.at[0].dim[0], n);
  for (uint32_t d = 0; d < k->split; d++) points *= extent_at(k->p[d], n);
  return points;
}

static bool is_parallel(const Kernel *k, const KernelCall *call) {
  const int64_t *tasks = call->gemm.tasks;
  if (k->kind == KERNEL_PRODUCT) return tasks[0] > 1 || tasks[1] > 1 || tasks[2] > 1;
  return k->kind == KERNEL_LOOPS && k->work >= INLINE_WORK;
}

static uint32_t scan_end(const Plan *p, uint32_t i) {
  uint32_t end = i + 1;
  for (uint32_t depth = 1; depth; end++) {
    depth += p->kernel.at[end].kind == KERNEL_SCAN;
    depth -= p->kernel.at[end].kind == KERNEL_SCAN_END;
  }
  return end;
}

// Computes once what every call of a kernel needs. True: some kernel is worth more than one thread;
// otherwise no threads are started.
static bool prepare_calls(CompiledEngine *o) {
  const Plan *p = o->plan;
  bool any = false;
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    KernelCall *call = &o->call[i];
    const Kernel *k = &p->kernel.at[i];
    if (k->kind == KERNEL_SCAN) call->end = scan_end(p, i);
    call->shared = is_parallel(k, call);
    any |= call->shared;
  }
  return any && !p->tiny;
}

// Takes the pool of the target or makes one. Results do not depend on how many threads could be started.
static bool open_pool(Engine *e, CompiledEngine *o) {
  uint32_t wanted = prepare_calls(o) ? e->target.threads : 1;
  o->pool = e->target.pool ? e->target.pool : pool_new(wanted);
  if (!o->pool) return diag_machine(e->w->diags, "out of memory for threads");
  if (pool_threads(o->pool) == pool_wanted(o->pool) || e->w->threads_warned) return true;
  diag_warning(e->w->diags, (Span){0},
               "only %u of %u threads could be started: the work is done by %s",
               pool_threads(o->pool), pool_wanted(o->pool),
               pool_threads(o->pool) > 1 ? "these" : "this one");
  e->w->threads_warned = !e->w->diags->muted;
  return true;
}

bool compiled_open(Engine *e, const char **why) {
  CompiledEngine *o = NEW(e->arena, CompiledEngine);
  bool wide = store_precision(e->store) == PRECISION_64;
  const Diagram *d = passes_engine(e->w, e->d);
  o->plan = plan_make(e->w, d,
                      &(PlanOptions){.samples = e->samples,
                                     .fuse = !e->target.unfused,
                                     .wide = wide,
                                     .ticks = e->target.ticks});
  Plan *p = o->plan;
  if (p->error) return diag_refuse(e->w->diags, p->error_at, "%s", p->error);
  o->call = NEW_ARRAY(e->arena, KernelCall, p->kernel.n + 1);
  for (uint32_t i = 0; i < p->kernel.n; i++) o->call[i].grain = p->kernel.at[i].grain;
  plan_products_of(e, o);
  if (!open_pool(e, o)) return false;
  e->impl = o;
  e->kind = &compiled_kind;
  e->full_batches_only = p->full_batch_only;
  o->state = NEW_ARRAY(e->arena, void *, p->param.n + 1);
  o->in = e->in;
  o->out = e->out;
  o->clock = NEW_ARRAY(e->arena, double, p->param.n + 1);
  if (!allocate_memory(e, o)) return false;
  o->context = (KernelContext){
      .seed = e->target.seed, .small = small_product, .copy = copy_state, .out = o->out};
  if (e->target.profile) o->seconds = NEW_ARRAY(e->arena, double, p->kernel.n + 1);
  o->first_write = plan_first_state_write(p);
  bool ask = !e->w->cc_failed && compile_compiler(e->arena, &e->target);
  o->prebuilt_first = ask && e->target.prebuilt_while && *e->target.prebuilt_while;
  if (ask && !o->prebuilt_first && open_code(e, o)) return true;
  if (!stops_opening(e, o)) return open_strips(e, o);
  *why = o->code.error;
  return false;
}

// Computes the points of each kernel when the number of samples changes.
static void set_samples(CompiledEngine *o, int64_t n) {
  if (o->points_known && o->context.n == n) return;
  o->context.n = n;
  o->points_known = true;
  for (uint32_t i = 0; i < o->plan->kernel.n; i++)
    if (kernel_has_text(&o->plan->kernel.at[i]))
      o->call[i].points = kernel_points(&o->plan->kernel.at[i], n);
}

// -- running --------------------------------------------------------------------------------------
typedef struct {
  const CompiledEngine *o;
  const KernelCall *call;
  int64_t points;
  const GemmRun *run;
  int phase;
} KernelJob;

static void run_points(const CompiledEngine *o, const KernelCall *call, int64_t low, int64_t high,
                       uint32_t thread) {
  char *scratch = o->scratch + thread * o->scratch_bytes;
  if (call->strip)
    strip_run(call->strip, &o->context, call->table, low, high, scratch,
              o->work + thread * o->work_bytes);
  else
    call->fn(&o->context, call->table, low, high, scratch);
}

static void loops_task(void *context, int64_t task, uint32_t thread) {
  const KernelJob *j = context;
  int64_t low = task * j->call->grain, high = low + j->call->grain;
  run_points(j->o, j->call, low, high > j->points ? j->points : high, thread);
}

static void product_task(void *context, int64_t task, uint32_t thread) {
  const KernelJob *j = context;
  GemmRun run = *j->run;
  run.thread = j->o->scratch + thread * j->o->scratch_bytes;
  gemm_task(&j->call->gemm, &run, j->phase, task);
}

static void run_loops(CompiledEngine *o, uint32_t i) {
  const KernelCall *call = &o->call[i];
  int64_t points = call->points;
  if (!call->shared || pool_threads(o->pool) == 1) {
    run_points(o, call, 0, points, 0);
    return;
  }
  KernelJob j = {.o = o, .call = call, .points = points};
  pool_run(o->pool, loops_task, &j, (points + call->grain - 1) / call->grain);
}

static void run_product(CompiledEngine *o, uint32_t i) {
  const KernelCall *call = &o->call[i];
  const PlanNode *x = call->node;
  const Product *q = x->product;
  int64_t n = o->context.n;
  const Plan *p = o->plan;
  size_t cell = number_bytes(p->wire.at[x->out.wire].number);
  GemmRun run = {
      .a =
          (char *)wire_memory(o, x->in[q->a].wire) + operand_start(p, &x->in[q->a]) * (int64_t)cell,
      .b =
          (char *)wire_memory(o, x->in[q->b].wire) + operand_start(p, &x->in[q->b]) * (int64_t)cell,
      .c = (char *)wire_memory(o, x->out.wire) + operand_start(p, &x->out) * (int64_t)cell,
      .m = product_length(x, q->m, q->nm, n),
      .n = product_length(x, q->n, q->nn, n),
      .k = product_length(x, q->k, q->nk, n),
      .shared = o->arena + o->shared_at};
  KernelJob j = {.o = o, .call = call, .run = &run};
  for (j.phase = 0; j.phase < 3; j.phase++)
    if (call->gemm.tasks[j.phase]) pool_run(o->pool, product_task, &j, call->gemm.tasks[j.phase]);
}

static uint32_t run_kernels(CompiledEngine *o, uint32_t from, uint32_t to);

// Runs the body of a scan once for each position. Gives the kernel after its end.
static uint32_t run_scan(CompiledEngine *o, uint32_t i) {
  const Plan *p = o->plan;
  const PlanNode *x = &p->node.at[p->kernel.at[i].node.at[0]];
  int64_t times = extent_at(x->times, o->context.n);
  uint32_t end = o->call[i].end;
  for (int64_t t = 0; t < times; t++) {
    o->context.at[x->depth] = x->back ? times - 1 - t : t;
    run_kernels(o, i + 1, end - 1);
  }
  return end;
}

static uint32_t run_kernels(CompiledEngine *o, uint32_t from, uint32_t to) {
  double start = o->seconds ? clock_seconds() : 0;
  for (uint32_t i = from; i < to;) {
    const Kernel *k = &o->plan->kernel.at[i];
    switch (k->kind) {
    case KERNEL_SCAN: i = run_scan(o, i); continue;
    case KERNEL_PRODUCT: run_product(o, i); break;
    case KERNEL_COPY: run_copy(o, k); break;
    case KERNEL_SCAN_END: break;
    default: run_loops(o, i); break;
    }
    if (o->seconds) {
      double now = clock_seconds();
      o->seconds[i] += now - start;
      start = now;
    }
    i++;
  }
  return to;
}

static void set_clocks(Engine *e, CompiledEngine *o, uint64_t step) {
  for (uint32_t i = 0; i < e->d->param.n; i++)
    if (engine_widens(e, i)) state_get(e->state[i], &o->clock[i]);
  engine_set_clocks(e, step, o->clock);
}

static void store_widened(Engine *e, const CompiledEngine *o) {
  for (uint32_t i = 0; i < e->d->param.n; i++)
    if (e->d->param.at[i].next && engine_widens(e, i)) state_set(e->state[i], &o->clock[i]);
}

static RunStatus run_step(const Engine *e, CompiledEngine *o) {
  StepFn *step = o->context.n == o->plan->samples ? o->step_full_batch : o->step;
  if (step && !o->seconds) return step(&o->context, o->scratch) ? RUN_NOT_FINITE : RUN_GOOD;
  run_kernels(o, 0, o->first_write);
  if (!engine_finite(e)) return RUN_NOT_FINITE;
  run_kernels(o, o->first_write, o->plan->kernel.n);
  return engine_finite(e) ? RUN_GOOD : RUN_NOT_FINITE;
}

static RunStatus compiled_run(Engine *e, int64_t n, uint64_t step) {
  CompiledEngine *o = e->impl;
  if (!engine_accepts(e, n)) return RUN_FAILED;
  if (o->prebuilt_first && !*e->target.prebuilt_while && switch_to_compiled(e, o))
    return RUN_FAILED;
  set_samples(o, n);
  o->context.step = step;
  o->runs++;
  set_clocks(e, o, step);
  uint64_t before = pool_flush_denormals();
  RunStatus status = run_step(e, o);
  pool_restore_denormals(before);
  store_widened(e, o);
  return status;
}

static void compiled_plan(const Engine *e, Buf *b) {
  const CompiledEngine *o = e->impl;
  plan_print(o->plan, o->seconds, o->runs, b);
}

static void compiled_free(Engine *e) {
  CompiledEngine *o = e->impl;
  compile_close(&o->code);
  if (!e->target.pool) pool_free(o->pool);
  free(o->memory);
  free(o->work);
}

static const EngineKind compiled_kind = {
    .run = compiled_run, .plan = compiled_plan, .free = compiled_free};
