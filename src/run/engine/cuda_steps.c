// Launches steps: a step is captured as a CUDA graph once and then launched again. Several short steps are
// one graph, launched when as many are queued, because steps follow each other faster inside a graph. Their
// inputs are double-buffered: the next step's inputs are copied while a step runs.
#include "base/files.h"
#include "run/engine/cuda/blas.h"
#include "run/engine/cuda_own.h"

#include <stdlib.h>

enum {
  GRAPH_LAUNCHES = 20 * 1000, // the most launches in a graph
  STEPS_PER_GRAPH = 8,        // the most steps in a graph; their number is a power of two
  STEPS_LAUNCHES = 512,       // the most launches in a graph of several steps
  STEPS_MICROSECONDS = 1000,  // the most microseconds that its steps take, estimated
  BUFFER_BYTES_LIMIT =
      1 << 20, // the most bytes of double-buffered inputs; more would delay the running step
};

// -- losses ---------------------------------------------------------------------------------------
static bool launch_loss_test(Engine *e, CudaEngine *o, CudaLosses *l) {
  return cuda_launch(e, o, &(CudaLaunch){.fn = o->look, .blocks = 1, .threads = 1, .wires = l});
}

static bool test_losses(Engine *e, CudaEngine *o) {
  const Plan *p = o->plan;
  CudaLosses l = {0};
  for (uint32_t i = 0; i < p->out.n; i++) {
    const PlanWire *w = &p->wire.at[p->out.at[i]];
    if (w->rank || w->base != BASE_R) continue;
    l.loss[l.n++] = cuda_wire(e, o, p->out.at[i]);
    if (l.n < LOSSES) continue;
    if (!launch_loss_test(e, o, &l)) return false;
    l.n = 0;
  }
  return !l.n || launch_loss_test(e, o, &l);
}

// -- scalar states stored as floats ---------------------------------------------------------------
static bool launch_bring(Engine *e, CudaEngine *o, CudaWidened *b) {
  return cuda_launch(e, o, &(CudaLaunch){.fn = o->bring, .blocks = 1, .threads = 1, .wires = b});
}

// Widens the scalar states that are stored as floats (engine_widens), before a step; or, `back`, rounds
// them after it.
static bool widen_scalars(Engine *e, CudaEngine *o, bool back) {
  CudaWidened b = {.back = back};
  for (uint32_t i = 0; i < e->d->param.n; i++) {
    if (!engine_widens(e, i) || (back && !e->d->param.at[i].next)) continue;
    b.wide[b.n] = o->clocks + o->buffer_offset + 8 * (uint64_t)i;
    b.narrow[b.n++] = cuda_state(e->state[i]);
    if (b.n < WIDENED) continue;
    if (!launch_bring(e, o, &b)) return false;
    b.n = 0;
  }
  return !b.n || launch_bring(e, o, &b);
}

// -- the kernels of a step ------------------------------------------------------------------------
// While profiling: the time when all launched work is done.
static double synchronised_clock(const CudaEngine *o) {
  if (!o->seconds) return 0;
  o->d->call.cuStreamSynchronize(o->d->stream);
  return clock_seconds();
}

// The one kernel that computes all outputs; PLAN_NONE: there is none. The outputs are then given back on the
// side stream, beside the kernels after it.
uint32_t find_output_kernel(const CudaEngine *o) {
  const Plan *p = o->plan;
  uint32_t by = PLAN_NONE;
  for (uint32_t i = 0; o->scalar_outputs && i < p->out.n; i++) {
    uint32_t root = wire_root(p, p->out.at[i]), maker = PLAN_NONE;
    for (uint32_t k = 0; k < p->node.n; k++)
      if (p->node.at[k].kind != NODE_GONE && wire_root(p, p->node.at[k].out.wire) == root)
        maker = p->node.at[k].kernel;
    if (maker == PLAN_NONE || (i && maker != by)) return PLAN_NONE;
    by = maker;
  }
  bool early = by != PLAN_NONE && by < o->first_write && !p->kernel.at[by].depth;
  return early ? by : PLAN_NONE;
}

static bool end_on_side_stream(Engine *e, CudaEngine *o) {
  uint32_t from = o->current_stream;
  if (!streams_fork_side(e, o, false) || !test_losses(e, o) || !streams_losses_tested(e, o) ||
      !ring_end_step(e, o))
    return false;
  streams_return(o, from);
  o->streams.tested_aside = true;
  return true;
}

static bool test_before_writes(Engine *e, CudaEngine *o) {
  uint32_t from = o->current_stream;
  if (o->streams.tested_aside) return true; // done by end_on_side_stream
  if (!o->streams.capturing) return test_losses(e, o);
  if (!streams_fork_side(e, o, true) || !test_losses(e, o) || !streams_losses_tested(e, o))
    return false;
  streams_return(o, from);
  return true;
}

static bool launch_kernels(Engine *e, CudaEngine *o, int64_t n, uint32_t from, uint32_t to) {
  const Plan *p = o->plan;
  for (uint32_t i = from; i < to; i++) {
    uint32_t at = i;
    const Kernel *k = &p->kernel.at[i];
    bool all = true;
    if (i == o->first_write && !test_before_writes(e, o)) return false;
    double start = synchronised_clock(o);
    if (k->kind == KERNEL_SCAN) {
      const PlanNode *x = &p->node.at[k->node.at[0]];
      int64_t times = extent_at(x->times, n);
      all = streams_join(e, o);
      for (int64_t t = 0; all && t < times; t++) {
        o->scan_at[x->depth] = x->back ? times - 1 - t : t;
        all = launch_kernels(e, o, n, i + 1, o->call[i].end - 1);
      }
      o->scan_at[x->depth] = 0;
      i = o->call[i].end - 1;
      o->streams.next = i + 1;
      all = all && streams_fork(e, o);
    } else if (k->kind == KERNEL_PRODUCT || k->kind == KERNEL_COPY || kernel_has_text(k)) {
      all = stream_enter(e, o, i) && kernel_launch(e, o, i, n) && stream_leave(e, o, i);
    }
    if (all && at == o->output_kernel && o->streams.capturing) all = end_on_side_stream(e, o);
    if (!all) return false;
    if (o->seconds && o->runs)
      o->seconds[at] +=
          synchronised_clock(o) - start; // not in the first run, in which libraries load code
  }
  return true;
}

static DeviceAddress other_buffer(const CudaEngine *o) {
  return o->buffer_bytes - o->buffer_offset;
}

// Copies the inputs of the graph's next step to the other buffer, on the side stream. The step that read
// that buffer has ended.
static bool prefetch_next_step(Engine *e, CudaEngine *o) {
  DeviceAddress here = o->buffer_offset;
  if (!streams_fork_side(e, o, false)) return false;
  o->buffer_offset = other_buffer(o);
  bool all = ring_begin_step(e, o, true);
  o->buffer_offset = here;
  streams_return(o, 0);
  return all;
}

// If outputs were given back on the side stream, the first stream waits for it at the end; otherwise before
// it gives them back itself.
static bool end_step(Engine *e, CudaEngine *o, bool next) {
  if (!widen_scalars(e, o, true)) return false;
  if (o->streams.tested_aside) return streams_join_side(e, o);
  return (!next || streams_join_side(e, o)) && ring_end_step(e, o);
}

static bool launch_step(Engine *e, CudaEngine *o, int64_t n, bool next) {
  o->streams.next = 0;
  o->streams.tested_aside = false;
  o->streams.prefetches = !next;
  return widen_scalars(e, o, false) && streams_fork(e, o) && (!next || prefetch_next_step(e, o)) &&
         launch_kernels(e, o, n, 0, o->plan->kernel.n) && streams_join(e, o) &&
         (o->first_write < o->plan->kernel.n || o->streams.tested_aside || test_losses(e, o)) &&
         end_step(e, o, next);
}

static bool launch_steps(Engine *e, CudaEngine *o, int64_t n, uint32_t steps) {
  bool all = ring_begin_step(e, o, false);
  for (uint32_t k = 0; all && k < steps; k++) {
    bool next = k + 1 < steps;
    all = launch_step(e, o, n, next);
    if (next) o->buffer_offset = other_buffer(o);
  }
  o->buffer_offset = 0;
  return all;
}

// -- graphs ---------------------------------------------------------------------------------------
// The number of launches of a step, about two for each kernel.
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

static bool capture(Engine *e, CudaEngine *o, CudaStep *step) {
  const CudaCalls *c = &o->d->call;
  CudaGraph graph = NULL;
  if (o->seconds || count_launches(o, 0, o->plan->kernel.n, step->n) > GRAPH_LAUNCHES) return true;
  if (!cuda_check(e, c->cuStreamBeginCapture_v2(o->d->stream, CUDA_CAPTURE_RELAXED),
                  "a step's graph"))
    return false;
  if (!o->streams.on) streams_assign(e, o);
  e->bytes -= blas_bytes(o->d->blas);
  bool all =
      (!o->streams.on || streams_begin_capture(e, o)) && launch_steps(e, o, step->n, step->steps);
  streams_end_capture(o);
  e->bytes += blas_bytes(o->d->blas);
  all = cuda_check(e, c->cuStreamEndCapture(o->d->stream, &graph), "a step's graph") && all;
  all = all &&
        cuda_check(e, c->cuGraphInstantiateWithFlags(&step->graph, graph, 0), "a step's graph");
  if (graph) c->cuGraphDestroy(graph);
  return all;
}

// The graph of `steps` steps on n samples; captures it if needed.
static CudaStep *find_or_capture(Engine *e, CudaEngine *o, int64_t n, uint32_t steps) {
  for (uint32_t i = 0; i < STEPS; i++) {
    CudaStep *s = &o->step[i];
    if (s->steps == steps && (s->n == n || !o->depends_on_samples)) return s;
  }
  CudaStep *step = &o->step[o->next_step++ % STEPS];
  if (step->graph) o->d->call.cuGraphExecDestroy(step->graph);
  *step = (CudaStep){.n = n, .steps = steps};
  if (capture(e, o, step)) return step;
  *step = (CudaStep){0};
  return NULL;
}

void steps_free(CudaEngine *o) {
  for (uint32_t i = 0; i < STEPS; i++)
    if (o->step[i].graph) o->d->call.cuGraphExecDestroy(o->step[i].graph);
}

static bool launch_graph(Engine *e, CudaEngine *o, int64_t n, uint32_t steps) {
  CudaStep *s = find_or_capture(e, o, n, steps);
  if (!s) return false;
  if (!s->graph) return launch_steps(e, o, n, steps);
  return cuda_check(e, o->d->call.cuGraphLaunch(s->graph, o->d->stream), "a step");
}

// -- several at once ------------------------------------------------------------------------------
// The number of steps in a graph: several only if all data pass through slots, kernels are not profiled,
// and the steps are short. allocate_ring resets it to 1 if a large input turns out to have no table.
uint32_t choose_steps_per_graph(CudaEngine *o) {
  const Plan *p = o->plan;
  double launches = count_launches(o, 0, p->kernel.n, p->samples), takes = launches;
  size_t bytes = 0;
  for (uint32_t i = 0; i < p->kernel.n; i++) takes += kernel_microseconds(p, i);
  for (uint32_t i = 0; i < p->in.n; i++) {
    bytes += o->in[i].bytes;
    if (!o->in[i].small && !ring_by_sample(o, i)) return 1;
  }
  if (o->seconds || !o->scalar_outputs || bytes > BUFFER_BYTES_LIMIT || getenv("LIMN_CHAIN"))
    return 1;
  double most = STEPS_PER_GRAPH;
  if (most > STEPS_LAUNCHES / launches) most = STEPS_LAUNCHES / launches;
  if (most > STEPS_MICROSECONDS / takes) most = STEPS_MICROSECONDS / takes;
  uint32_t together = 1;
  while (2 * together <= most) together *= 2;
  return together;
}

// The length of the graph for the queued steps from `first` on: a power of two of steps that have the same
// number of samples, if launches depend on it.
static uint32_t graph_length(const CudaEngine *o, uint64_t first) {
  const CudaRing *r = &o->ring;
  uint32_t n = 1, steps = 1;
  while (first + n < r->queued && n < o->steps_per_launch &&
         (!o->depends_on_samples || r->n[(first + n) % r->slots] == r->n[first % r->slots]))
    n++;
  while (2 * steps <= n) steps *= 2;
  return steps;
}

static bool launch_graphs(Engine *e, CudaEngine *o) {
  const CudaRing *r = &o->ring;
  uint64_t k = r->queued - o->waiting;
  bool all = true;
  steps_discard(e, o);
  while (all && k < r->queued) {
    uint32_t steps = graph_length(o, k);
    all = launch_graph(e, o, r->n[k % r->slots], steps) && ring_fetch_outputs(e, o, k);
    k += steps;
  }
  return all;
}

bool steps_launch(Engine *e, CudaEngine *o) {
  if (!o->waiting) return true;
  return o->fused.lanes ? fused_launch(e, o) : launch_graphs(e, o);
}

bool steps_queue(Engine *e, CudaEngine *o) {
  uint64_t together = o->fused.lanes ? o->fused.steps_per_launch : o->steps_per_launch;
  o->d->pending = e;
  o->ring.queued++;
  return ++o->waiting < together || steps_launch(e, o);
}

bool steps_launch_other_engine(Engine *e, CudaEngine *o) {
  Engine *late = o->d->pending;
  if (!late || late == e || steps_launch(late, late->impl)) return true;
  e->error = late->error;
  return false;
}

void steps_discard(Engine *e, CudaEngine *o) {
  o->waiting = 0;
  if (o->d->pending == e) o->d->pending = NULL;
}
