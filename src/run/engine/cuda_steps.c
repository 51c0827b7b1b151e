// Steps on the GPU: their launches, captured as a graph that is launched again for each step, and steps that wait for a
// launch. Several that are short are one graph: it is launched when as many wait, and its steps are nearer to each other
// than those of two graphs. Inputs have two sides then, so that what a step takes is brought while the one before it runs.
#include "run/engine/cuda/blas.h"
#include "run/engine/cuda_own.h"

#include <stdlib.h>

enum {
  GRAPH_MOST = 20 * 1000, // launches in a graph
  TOGETHER = 8,           // steps in a graph, at most; they are 1, 2, 4 …
  TOGETHER_LAUNCHES = 512,
  TOGETHER_TAKE = 1000, // microseconds, about
  SIDE_BYTES = 1 << 20, // of inputs, of which there are two; more would hold up the step before
};

// -- losses ---------------------------------------------------------------------------------------
static bool look_at(Engine *e, CudaEngine *o, CudaLosses *l) {
  return cuda_launch(e, o, &(CudaLaunch){.fn = o->look, .blocks = 1, .threads = 1, .wires = l});
}

static bool launch_look(Engine *e, CudaEngine *o) {
  const Plan *p = o->plan;
  CudaLosses l = {0};
  for (uint32_t i = 0; i < p->out.n; i++) {
    const PlanWire *w = &p->wire.at[p->out.at[i]];
    if (w->rank || w->base != BASE_R) continue;
    l.loss[l.n++] = cuda_wire(e, o, p->out.at[i]);
    if (l.n < LOSSES) continue;
    if (!look_at(e, o, &l)) return false;
    l.n = 0;
  }
  return !l.n || look_at(e, o, &l);
}

// -- numbers in rows of floats --------------------------------------------------------------------
static bool bring(Engine *e, CudaEngine *o, CudaBrought *b) {
  return cuda_launch(e, o, &(CudaLaunch){.fn = o->bring, .blocks = 1, .threads = 1, .wires = b});
}

// Those numbers that lie in rows of floats, in front of a step and behind it.
static bool launch_brought(Engine *e, CudaEngine *o, bool back) {
  CudaBrought b = {.back = back};
  for (uint32_t i = 0; i < e->d->param.n; i++) {
    if (!engine_widens(e, i) || (back && !e->d->param.at[i].next)) continue;
    b.wide[b.n] = o->clocks + o->side + 8 * (uint64_t)i;
    b.narrow[b.n++] = cuda_state(e->state[i]);
    if (b.n < BROUGHT) continue;
    if (!bring(e, o, &b)) return false;
    b.n = 0;
  }
  return !b.n || bring(e, o, &b);
}

// -- the kernels of a step ------------------------------------------------------------------------
// While profiling: now, with everything done.
static double clock_of(const CudaEngine *o) {
  if (!o->seconds) return 0;
  o->d->call.cuStreamSynchronize(o->d->stream);
  return clock_seconds();
}

// The kernel that all outputs are of. They need not wait for what follows it, and what follows need not wait until they are
// given: states are read behind the step, whatever the caller has seen of it.
uint32_t steps_given_by(const CudaEngine *o) {
  const Plan *p = o->plan;
  uint32_t by = PLAN_NONE;
  for (uint32_t i = 0; o->small_out && i < p->out.n; i++) {
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

static bool end_aside(Engine *e, CudaEngine *o) {
  uint32_t from = o->now;
  if (!tracks_aside(e, o, false) || !launch_look(e, o) || !tracks_looked(e, o) || !ring_give(e, o))
    return false;
  tracks_back(o, from);
  o->tracks.aside = true;
  return true;
}

static bool look_before_writes(Engine *e, CudaEngine *o) {
  uint32_t from = o->now;
  if (o->tracks.aside) return true; // done
  if (!o->tracks.capturing) return launch_look(e, o);
  if (!tracks_aside(e, o, true) || !launch_look(e, o) || !tracks_looked(e, o)) return false;
  tracks_back(o, from);
  return true;
}

static bool launch_kernels(Engine *e, CudaEngine *o, int64_t n, uint32_t from, uint32_t to) {
  const Plan *p = o->plan;
  for (uint32_t i = from; i < to; i++) {
    uint32_t at = i;
    const Kernel *k = &p->kernel.at[i];
    bool all = true;
    if (i == o->first_write && !look_before_writes(e, o)) return false;
    double start = clock_of(o);
    if (k->kind == KERNEL_SCAN) {
      const PlanNode *x = &p->node.at[k->node.at[0]];
      int64_t times = extent_at(x->times, n);
      all = tracks_meet(e, o);
      for (int64_t t = 0; all && t < times; t++) {
        o->place[x->depth] = x->back ? times - 1 - t : t;
        all = launch_kernels(e, o, n, i + 1, o->call[i].end - 1);
      }
      o->place[x->depth] = 0;
      i = o->call[i].end - 1;
      o->tracks.next = i + 1;
      all = all && tracks_part(e, o);
    } else if (k->kind == KERNEL_PRODUCT || k->kind == KERNEL_COPY || kernel_has_text(k)) {
      all = track_enter(e, o, i) && kernel_launch(e, o, i, n) && track_leave(e, o, i);
    }
    if (all && at == o->given_by && o->tracks.capturing) all = end_aside(e, o);
    if (!all) return false;
    if (o->seconds && o->runs)
      o->seconds[at] += clock_of(o) - start; // libraries load what they need in the first run
  }
  return true;
}

static DeviceAddress other_side(const CudaEngine *o) { return o->side_bytes - o->side; }

// What the next step of a graph takes is brought to the other side, beside this one: whoever read what is there is done.
static bool take_next(Engine *e, CudaEngine *o) {
  DeviceAddress here = o->side;
  if (!tracks_aside(e, o, false)) return false;
  o->side = other_side(o);
  bool all = ring_take(e, o, true);
  o->side = here;
  tracks_back(o, 0);
  return all;
}

// With outputs that are given back aside, all that is aside is waited for behind them; otherwise in front of them.
static bool end_step(Engine *e, CudaEngine *o, bool next) {
  if (!launch_brought(e, o, true)) return false;
  if (o->tracks.aside) return tracks_end(e, o);
  return (!next || tracks_end(e, o)) && ring_give(e, o);
}

static bool launch_step(Engine *e, CudaEngine *o, int64_t n, bool next) {
  o->tracks.next = 0;
  o->tracks.aside = false;
  o->tracks.peeks = !next;
  return launch_brought(e, o, false) && tracks_part(e, o) && (!next || take_next(e, o)) &&
         launch_kernels(e, o, n, 0, o->plan->kernel.n) && tracks_meet(e, o) &&
         (o->first_write < o->plan->kernel.n || o->tracks.aside || launch_look(e, o)) &&
         end_step(e, o, next);
}

static bool launch_steps(Engine *e, CudaEngine *o, int64_t n, uint32_t steps) {
  bool all = ring_take(e, o, false);
  for (uint32_t k = 0; all && k < steps; k++) {
    bool next = k + 1 < steps;
    all = launch_step(e, o, n, next);
    if (next) o->side = other_side(o);
  }
  o->side = 0;
  return all;
}

// -- graphs ---------------------------------------------------------------------------------------
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

static bool capture(Engine *e, CudaEngine *o, CudaStep *step) {
  const CudaCalls *c = &o->d->call;
  CudaGraph graph = NULL;
  if (o->seconds || count_launches(o, 0, o->plan->kernel.n, step->n) > GRAPH_MOST) return true;
  if (!cuda_good(e, c->cuStreamBeginCapture_v2(o->d->stream, CUDA_CAPTURE_RELAXED),
                 "a step's graph"))
    return false;
  if (!o->tracks.on) tracks_find(e, o);
  e->bytes -= blas_bytes(o->d->blas);
  bool all = (!o->tracks.on || tracks_open(e, o)) && launch_steps(e, o, step->n, step->steps);
  tracks_close(o);
  e->bytes += blas_bytes(o->d->blas);
  all = cuda_good(e, c->cuStreamEndCapture(o->d->stream, &graph), "a step's graph") && all;
  all =
      all && cuda_good(e, c->cuGraphInstantiateWithFlags(&step->graph, graph, 0), "a step's graph");
  if (graph) c->cuGraphDestroy(graph);
  return all;
}

// So many steps for so many samples, captured if they are not yet.
static CudaStep *step_for(Engine *e, CudaEngine *o, int64_t n, uint32_t steps) {
  for (uint32_t i = 0; i < STEPS; i++) {
    CudaStep *s = &o->step[i];
    if (s->steps == steps && (s->n == n || !o->sized)) return s;
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
  CudaStep *s = step_for(e, o, n, steps);
  if (!s) return false;
  if (!s->graph) return launch_steps(e, o, n, steps);
  return cuda_good(e, o->d->call.cuGraphLaunch(s->graph, o->d->stream), "a step");
}

// -- several at once ------------------------------------------------------------------------------
// Everything comes through slots, nobody asks how long each kernel takes, and a few steps take no time that anybody would
// notice. Whether large inputs are rows of a table is known later (ring_send).
uint32_t steps_together(CudaEngine *o) {
  const Plan *p = o->plan;
  double launches = count_launches(o, 0, p->kernel.n, p->samples), takes = launches;
  size_t bytes = 0;
  for (uint32_t i = 0; i < p->kernel.n; i++) takes += tracks_takes(p, i);
  for (uint32_t i = 0; i < p->in.n; i++) {
    bytes += o->in[i].bytes;
    if (!o->in[i].small && !ring_by_sample(o, i)) return 1;
  }
  if (o->seconds || !o->small_out || bytes > SIDE_BYTES || getenv("LIMN_CHAIN")) return 1;
  double most = TOGETHER;
  if (most > TOGETHER_LAUNCHES / launches) most = TOGETHER_LAUNCHES / launches;
  if (most > TOGETHER_TAKE / takes) most = TOGETHER_TAKE / takes;
  uint32_t together = 1;
  while (2 * together <= most) together *= 2;
  return together;
}

// How many of those that wait, from this one on, are one graph: as many as there is one of, for as many samples each as far as
// that matters.
static uint32_t alike(const CudaEngine *o, uint64_t first) {
  const CudaRing *r = &o->ring;
  uint32_t n = 1, steps = 1;
  while (first + n < r->queued && n < o->together &&
         (!o->sized || r->n[(first + n) % r->slots] == r->n[first % r->slots]))
    n++;
  while (2 * steps <= n) steps *= 2;
  return steps;
}

static bool launch_graphs(Engine *e, CudaEngine *o) {
  const CudaRing *r = &o->ring;
  uint64_t k = r->queued - o->waiting;
  bool all = true;
  steps_forget(e, o);
  while (all && k < r->queued) {
    uint32_t steps = alike(o, k);
    all = launch_graph(e, o, r->n[k % r->slots], steps) && ring_bring(e, o, k);
    k += steps;
  }
  return all;
}

bool steps_launch(Engine *e, CudaEngine *o) {
  if (!o->waiting) return true;
  return o->whole.lanes ? whole_launch(e, o) : launch_graphs(e, o);
}

bool steps_queue(Engine *e, CudaEngine *o) {
  uint64_t together = o->whole.lanes ? o->whole.together : o->together;
  o->d->late = e;
  o->ring.queued++;
  return ++o->waiting < together || steps_launch(e, o);
}

bool steps_others(Engine *e, CudaEngine *o) {
  Engine *late = o->d->late;
  if (!late || late == e || steps_launch(late, late->impl)) return true;
  e->error = late->error;
  return false;
}

void steps_forget(Engine *e, CudaEngine *o) {
  o->waiting = 0;
  if (o->d->late == e) o->d->late = NULL;
}
