// Kernels side by side. A graph need not be a chain: the gradient of a weight is made beside the gradient that goes on to the
// next layer, sums of columns beside both, and small kernels leave most of a device free. Kernels are dealt out to a few
// tracks (streams, while a step is captured; lanes are the threads of a kernel). One waits for those before it that wrote what it touches, or touched what it
// writes: memory that wires share, and what kernels put down for themselves, count, too. Sums keep their order, so
// that the same seed gives the same bytes.
//
// Losses are looked at aside, and only what writes over states waits for that. Everything meets around scans, and at the end.
#include "run/engine/cuda_own.h"

#include <math.h>
#include <stdlib.h>

enum { KERNELS_MOST_TRACKED = 2000 }; // more would take long to compare
static const double takes_long = 3;   // microseconds, by tracks_takes
enum {
  LOOKED = TRACKS_ALL,
  EVENTS
}; // behind those of kernels: of tracks, and of what is seen aside

typedef struct {
  DeviceAddress from, to;
  bool written;
} Touch;
typedef VEC(Touch) Touches;

typedef struct {
  Engine *e;
  CudaEngine *o;
  uint32_t n;
  Touches *touch;  // [kernel]
  uint8_t *before; // [kernel · n + earlier kernel] it has to wait for it, one way or another
  double *takes;   // [kernel] about how long, in microseconds
  double *left;    // … and how long the step takes from here on
  double *end;     // … and when it is done, from where all met last
  uint32_t *heir;  // [kernel] of those that wait for it, the one from which most is left
  uint32_t last[TRACKS];
} TrackSearch;

// -- what a kernel touches ------------------------------------------------------------------------
static void touch(TrackSearch *s, uint32_t k, DeviceAddress from, size_t bytes, bool written) {
  if (bytes) vec_push(s->e->arena, &s->touch[k], ((Touch){from, from + bytes, written}));
}

static void touch_wire(TrackSearch *s, uint32_t k, uint32_t wire, bool written) {
  const Plan *p = s->o->plan;
  const PlanWire *w = &p->wire.at[wire], *root = &p->wire.at[wire_root(p, wire)];
  int64_t reach = 1;
  if (root->place == AT_NOWHERE || root->place == AT_TILE || root->place == AT_REGISTER) return;
  for (uint32_t i = 0; i < w->rank; i++) reach += (extent_most(p, w->shape[i]) - 1) * w->stride[i];
  touch(s, k, cuda_wire(s->e, s->o, wire), (size_t)reach * number_bytes(w->number), written);
}

static void touch_all(TrackSearch *s, uint32_t k) {
  const Plan *p = s->o->plan;
  const Kernel *kernel = &p->kernel.at[k];
  const CudaCall *call = &s->o->call[k];
  for (uint32_t i = 0; i < kernel->to.n; i++) {
    touch_wire(s, k, kernel->to.at[i], true);
    touch_wire(s, k, kernel->from.at[i], false);
  }
  for (uint32_t j = 0; j < kernel->node.n; j++) {
    const PlanNode *x = &p->node.at[kernel->node.at[j]];
    if (x->kind == NODE_GONE || x->kind == NODE_SCAN || x->kind == NODE_SCAN_END) continue;
    for (uint32_t i = 0; i < x->nin; i++) touch_wire(s, k, x->in[i].wire, false);
    touch_wire(s, k, x->out.wire, true);
    for (uint32_t i = 0; i < x->nwinner; i++)
      if (x->winner[i] != PLAN_NONE) touch_wire(s, k, x->winner[i], true);
  }
  bool product = kernel->kind == KERNEL_PRODUCT; // what cuBLASLt refuses is made in parts
  if (product ? call->product.parts > 1 : call->k.slices > 0)
    touch(s, k, s->o->parts, s->o->parts_bytes, true);
  if (!product && !call->k.shared && call->k.tile_bytes)
    touch(s, k, s->o->scratch, s->o->scratch_bytes, true);
}

static bool conflict(const Touches *a, const Touches *b) {
  for (uint32_t i = 0; i < a->n; i++)
    for (uint32_t j = 0; j < b->n; j++) {
      const Touch *x = &a->at[i], *y = &b->at[j];
      if ((x->written || y->written) && x->from < y->to && y->from < x->to) return true;
    }
  return false;
}

// -- who waits for whom ---------------------------------------------------------------------------
// Is something done in front of this kernel that all others wait for, or is it that itself?
static bool all_meet(const CudaEngine *o, uint32_t k) {
  const Kernel *kernel = &o->plan->kernel.at[k];
  return kernel_in_scan(kernel) || (k && o->plan->kernel.at[k - 1].kind == KERNEL_SCAN_END);
}

// The kernels that this one waits for, without those that others of them wait for. `since`: where all met last.
static void find_waits(TrackSearch *s, uint32_t k, uint32_t since) {
  uint8_t *before = s->before + (size_t)k * s->n;
  Ids *wait = &s->o->call[k].wait;
  wait->n = 0;
  for (uint32_t i = k; i-- > since;) {
    if (before[i] || !conflict(&s->touch[i], &s->touch[k])) continue;
    vec_push(s->e->arena, wait, i);
    before[i] = 1;
    for (uint32_t j = since; j < i; j++) before[j] |= s->before[(size_t)i * s->n + j];
  }
}

double tracks_takes(const Plan *p, uint32_t k) {
  const Kernel *kernel = &p->kernel.at[k];
  return 2 + (double)kernel->work * (kernel->kind == KERNEL_PRODUCT ? 1e-8 : 1e-6);
}

static void find_left(TrackSearch *s) {
  const Plan *p = s->o->plan;
  for (uint32_t k = s->n; k-- > 0;) {
    s->takes[k] = tracks_takes(p, k);
    s->left[k] += s->takes[k];
    const Ids *wait = &s->o->call[k].wait;
    for (uint32_t i = 0; i < wait->n; i++) {
      uint32_t w = wait->at[i];
      if (s->left[k] < s->left[w]) continue;
      s->left[w] = s->left[k];
      s->heir[w] = k;
    }
  }
}

// Does somebody want to go on behind this track's last kernel who has no track yet?
static bool is_wanted(const TrackSearch *s, uint32_t track, uint32_t k) {
  return s->last[track] != PLAN_NONE && s->heir[s->last[track]] > k;
}

// When the kernels are done that this one waits for.
static double ready_at(const TrackSearch *s, uint32_t k) {
  const Ids *wait = &s->o->call[k].wait;
  double ready = 0;
  for (uint32_t i = 0; i < wait->n; i++)
    if (ready < s->end[wait->at[i]]) ready = s->end[wait->at[i]];
  return ready;
}

// Behind the kernel whose heir it is. Otherwise where it need not wait for others, in whose place nobody else should go on; of
// several such tracks the one that was idle for the shortest time.
static uint32_t choose_track(const TrackSearch *s, uint32_t k, double ready) {
  static const double WANTED = 1e9, IDLE = 1e-6;
  uint32_t best = 0;
  double least = INFINITY;
  for (uint32_t l = 0; l < TRACKS; l++) {
    uint32_t last = s->last[l];
    if (last != PLAN_NONE && s->heir[last] == k) return l;
    double free = last == PLAN_NONE ? 0 : s->end[last],
           price = free > ready ? free - ready : IDLE * (ready - free);
    if (is_wanted(s, l, k)) price += WANTED;
    if (price < least) least = price, best = l;
  }
  return best;
}

static void enter_track(TrackSearch *s, uint32_t k) {
  double ready = ready_at(s, k);
  uint32_t track = choose_track(s, k, ready), last = s->last[track];
  double free = last == PLAN_NONE ? 0 : s->end[last];
  s->end[k] = (free > ready ? free : ready) + s->takes[k];
  s->last[track] = k;
  s->o->call[k].track = track;
}

static void forget_tracks(TrackSearch *s) {
  for (uint32_t l = 0; l < TRACKS; l++) s->last[l] = PLAN_NONE;
}

void tracks_find(Engine *e, CudaEngine *o) {
  uint32_t n = o->plan->kernel.n, since = 0;
  if (n > KERNELS_MOST_TRACKED || getenv("LIMN_CHAIN")) return;
  TrackSearch s = {.e = e,
                   .o = o,
                   .n = n,
                   .touch = NEW_ARRAY(e->arena, Touches, n + 1),
                   .before = NEW_ARRAY(e->arena, uint8_t, (size_t)n * n + 1),
                   .takes = NEW_ARRAY(e->arena, double, n + 1),
                   .left = NEW_ARRAY(e->arena, double, n + 1),
                   .end = NEW_ARRAY(e->arena, double, n + 1),
                   .heir = NEW_ARRAY(e->arena, uint32_t, n + 1)};
  for (uint32_t k = 0; k < n; k++) {
    touch_all(&s, k);
    o->call[k].writes = kernel_writes_state(o->plan, &o->plan->kernel.at[k]);
    if (all_meet(o, k)) since = k;
    find_waits(&s, k, since);
  }
  find_left(&s);
  forget_tracks(&s);
  for (uint32_t k = 0; k < n; k++) {
    if (all_meet(o, k)) forget_tracks(&s);
    enter_track(&s, k);
    const Ids *wait = &o->call[k].wait;
    for (uint32_t i = 0; i < wait->n; i++) o->call[wait->at[i]].awaited = true;
  }
  o->tracks.on = true;
}

// -- while a step is captured ---------------------------------------------------------------------
bool tracks_open(Engine *e, CudaEngine *o) {
  const CudaCalls *c = &o->d->call;
  uint32_t n = o->plan->kernel.n;
  o->tracks.event = NEW_ARRAY(e->arena, CudaEvent, n + EVENTS);
  for (uint32_t i = 0; i < n + EVENTS; i++)
    if ((i >= n || o->call[i].awaited) &&
        !cuda_good(e, c->cuEventCreate(&o->tracks.event[i], CUDA_EVENT_UNTIMED), "a step's graph"))
      return false;
  o->tracks.capturing = true;
  o->tracks.next = 0;
  o->tracks.aside = false;
  return true;
}

void tracks_close(CudaEngine *o) {
  for (uint32_t i = 0; o->tracks.event && i < o->plan->kernel.n + EVENTS; i++)
    if (o->tracks.event[i]) o->d->call.cuEventDestroy_v2(o->tracks.event[i]);
  o->tracks.event = NULL;
  o->tracks.capturing = o->tracks.aside = false;
  o->now = 0;
}

static CudaEvent track_event(const CudaEngine *o, uint32_t track) {
  return o->tracks.event[o->plan->kernel.n + track];
}

static bool show(Engine *e, CudaEngine *o, CudaEvent event, uint32_t track) {
  return cuda_good(e, o->d->call.cuEventRecord(event, o->d->track[track]), "a step's graph");
}
static bool await(Engine *e, CudaEngine *o, CudaEvent event, uint32_t track) {
  return cuda_good(e, o->d->call.cuStreamWaitEvent(o->d->track[track], event, 0), "a step's graph");
}

bool tracks_part(Engine *e, CudaEngine *o) {
  if (!o->tracks.capturing) return true;
  memset(o->tracks.open, 0, sizeof o->tracks.open);
  memset(o->tracks.looked, 0, sizeof o->tracks.looked);
  o->tracks.open[0] = true;
  o->tracks.since = o->tracks.next;
  return show(e, o, track_event(o, 0), 0);
}

bool tracks_meet(Engine *e, CudaEngine *o) {
  o->now = 0;
  for (uint32_t l = 1; o->tracks.capturing && l < TRACKS; l++) {
    if (!o->tracks.open[l]) continue;
    o->tracks.open[l] = false;
    if (!show(e, o, track_event(o, l), l) || !await(e, o, track_event(o, l), 0)) return false;
  }
  return true;
}

// -- aside ----------------------------------------------------------------------------------------
static bool go_aside(Engine *e, CudaEngine *o, uint32_t from) {
  CudaEvent here = track_event(o, ASIDE);
  return show(e, o, here, from) && await(e, o, here, ASIDE);
}

bool tracks_aside(Engine *e, CudaEngine *o, bool all) {
  for (uint32_t l = 0; l < TRACKS; l++)
    if ((all ? o->tracks.open[l] : l == o->now) && !go_aside(e, o, l)) return false;
  o->now = ASIDE;
  o->dependent_launch = false;
  return true;
}

bool tracks_looked(Engine *e, CudaEngine *o) { return show(e, o, track_event(o, LOOKED), ASIDE); }

void tracks_back(CudaEngine *o, uint32_t to) { o->now = to; }

bool tracks_end(Engine *e, CudaEngine *o) {
  CudaEvent end = track_event(o, ASIDE);
  return show(e, o, end, ASIDE) && await(e, o, end, 0);
}

static bool await_look(Engine *e, CudaEngine *o, uint32_t track) {
  if (o->tracks.looked[track]) return true;
  o->tracks.looked[track] = true;
  return await(e, o, track_event(o, LOOKED), track);
}

// The track of this kernel, behind all that it waits for. Launched early, it waits for each of them itself, and takes room on
// the device meanwhile: not beside one that takes long.
bool track_enter(Engine *e, CudaEngine *o, uint32_t k) {
  const CudaCall *call = &o->call[k];
  o->tracks.next = k + 1;
  o->dependent_launch = true;
  if (!o->tracks.capturing) return true;
  if (o->plan->kernel.at[k].depth) return !call->writes || await_look(e, o, o->now);
  o->now = call->track;
  if (!o->tracks.open[o->now]) {
    o->tracks.open[o->now] = true;
    o->dependent_launch = false;
    if (!await(e, o, track_event(o, 0), o->now)) return false;
  }
  if (call->writes && !await_look(e, o, o->now)) return false;
  for (uint32_t i = 0; i < call->wait.n; i++) {
    uint32_t w = call->wait.at[i];
    if (w < o->tracks.since || o->call[w].track == o->now) continue;
    if (tracks_takes(o->plan, w) > takes_long) o->dependent_launch = false;
    if (!await(e, o, o->tracks.event[w], o->now)) return false;
  }
  return true;
}

bool track_leave(Engine *e, CudaEngine *o, uint32_t k) {
  if (!o->tracks.capturing || o->plan->kernel.at[k].depth || !o->call[k].awaited) return true;
  return show(e, o, o->tracks.event[k], o->now);
}
