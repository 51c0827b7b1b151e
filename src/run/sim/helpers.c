// Runs in parallel. The calling thread simulates the runs in program order; if that takes long,
// helpers are started, each with the same program in its own World, and take the runs that nobody
// has started. Their results and diagnostics are copied in program order, so only the time differs
// from a sequential execution.
//
// Shared are the list of runs, guarded by a lock, and data that do not change during runs.
#define _DEFAULT_SOURCE
#include "base/diag.h"
#include "base/files.h"
#include "base/stop.h"
#include "run/sim/simulate_own.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static const double worth_it = 0.25; // seconds before helpers are started

typedef struct {
  bool taken, done, good;
  const void *by; // the thread that simulates it
  Followed followed;
  double seconds;
  Outcome end;
  const Diag *said; // [n] its diagnostics, in the world of the helper
  uint32_t n;
  _Atomic uint32_t part; // progress, in thousandths
} SharedRun;

struct Helpers {
  pthread_mutex_t lock;
  pthread_cond_t change;
  const SimHelpers *helpers;
  Simulation shared; // the caller's state when helpers were started
  uint32_t n;
  SharedRun *run;
  bool asked;
  volatile sig_atomic_t quit;
};

static uint32_t cores(uint32_t wanted) {
  enum { MOST = 64 };
  uint32_t n = wanted ? wanted : os_cores();
  return n > MOST ? MOST : n;
}

// Also called if memory runs out.
static void free_helpers(void *helpers) {
  Helpers *c = helpers;
  helpers_end(c);
  pthread_mutex_destroy(&c->lock);
  pthread_cond_destroy(&c->change);
}

Helpers *helpers_new(Simulation *r, const SimHelpers *helpers) {
  Arena *a = arena_child(r->w->arena);
  Helpers *c = NEW(a, Helpers);
  c->helpers = helpers;
  c->n = r->p->ran->run.n;
  c->run = NEW_ARRAY(a, SharedRun, c->n + 1);
  pthread_mutex_init(&c->lock, NULL);
  pthread_cond_init(&c->change, NULL);
  arena_on_free(a, free_helpers, c);
  return c;
}

void helpers_end(Helpers *c) {
  if (!c->asked) return;
  stop_ask(&c->quit, 1);
  c->helpers->end(c->helpers->context);
  c->asked = false;
}

// -- assignment of runs ---------------------------------------------------------------------------
// The next run that is not taken; UINT32_MAX: none.
static uint32_t claim_next(Helpers *c, const void *by) {
  uint32_t found = UINT32_MAX;
  pthread_mutex_lock(&c->lock);
  for (uint32_t i = 0; i < c->n && found == UINT32_MAX && !stop_asked(&c->quit); i++)
    if (!c->run[i].taken) found = i, c->run[i].taken = true, c->run[i].by = by;
  pthread_mutex_unlock(&c->lock);
  return found;
}

static bool claim_run(Helpers *c, uint32_t i) {
  pthread_mutex_lock(&c->lock);
  bool free = !c->run[i].taken;
  c->run[i].taken = true;
  pthread_mutex_unlock(&c->lock);
  return free;
}

void helpers_start(Simulation *r) {
  Helpers *c = r->helpers;
  uint32_t left = 0, many = cores(r->how->threads);
  if (c->asked || !c->helpers || many < 2 || clock_seconds() - r->first < worth_it) return;
  for (uint32_t i = 0; i < c->n; i++) left += !c->run[i].taken;
  if (!left) return;
  c->asked = true;
  c->shared = *r;
  for (uint32_t i = 0; i < many && i < left; i++)
    if (!c->helpers->start(c->helpers->context, c)) break;
}

void helpers_quit(Helpers *c) { stop_ask(&c->quit, 1); }

const volatile sig_atomic_t *helpers_stop(const Helpers *c) { return &c->quit; }

void helpers_note_progress(Helpers *c, uint32_t run, double part) {
  atomic_store_explicit(&c->run[run].part, (uint32_t)(1000 * (part < 1 ? part : 1)),
                        memory_order_relaxed);
}

uint32_t helpers_progress(const Helpers *c, double *part, uint32_t *done) {
  *part = 0, *done = 0;
  if (!c->asked) return 0;
  for (uint32_t i = 0; i < c->n; i++) {
    uint32_t here = atomic_load_explicit(&c->run[i].part, memory_order_relaxed);
    *part += here / 1000.0 / c->n;
    *done += here >= 1000;
  }
  return c->n;
}

// -- helpers --------------------------------------------------------------------------------------
static void helper_progress(void *context, double part) {
  Simulation *r = context;
  helpers_note_progress(r->helpers, r->running, part);
  if (simulation_stops(r)) stop_ask(&r->helpers->quit, 1);
}

static void publish_result(Helpers *c, uint32_t i, const SharedRun *found) {
  pthread_mutex_lock(&c->lock);
  SharedRun *to = &c->run[i];
  to->followed = found->followed, to->seconds = found->seconds, to->good = found->good;
  to->end = found->end, to->said = found->said, to->n = found->n;
  to->done = true;
  pthread_cond_broadcast(&c->change);
  pthread_mutex_unlock(&c->lock);
  helpers_note_progress(c, i, 1);
}

void simulate_helper(Elab *in, Program *p, void *job, const void *who) {
  Helpers *c = job;
  Simulation own = c->shared;
  own.in = in, own.p = p, own.w = elab_world(in);
  own.end = OUTCOME_WRONG;
  own.time.context = &own;
  own.time.progress = helper_progress;
  own.time.say = NULL; // only the caller reports
  own.time.stop = &c->quit;
  own.time.threads = 1;
  Diags *d = own.w->diags;
  for (uint32_t i; (i = claim_next(c, who)) != UINT32_MAX;) {
    SharedRun found = {0};
    uint32_t before = d->list.n;
    found.good = simulation_run(&own, i, &found.followed, &found.seconds);
    found.end = own.end;
    found.said = d->list.at + before, found.n = d->list.n - before;
    publish_result(c, i, &found);
  }
}

void simulate_helper_failed(void *job, const void *who) {
  Helpers *c = job;
  pthread_mutex_lock(&c->lock);
  for (uint32_t i = 0; i < c->n; i++)
    if (c->run[i].taken && !c->run[i].done && c->run[i].by == who) c->run[i].taken = false;
  pthread_cond_broadcast(&c->change);
  pthread_mutex_unlock(&c->lock);
}

// -- the caller -----------------------------------------------------------------------------------
// Repeats diagnostics of a helper; spans are equal in both worlds, since the text is.
static void repeat_messages(Simulation *r, const SharedRun *run) {
  Diags *d = r->w->diags;
  uint32_t since;
  diags_separate(d, &since);
  for (uint32_t i = 0; i < run->n; i++) {
    const Diag *x = &run->said[i];
    Id e = x->kind == DIAG_ERROR ? diag_error(d, x->span, "%s", x->text)
                                 : diag_warning(d, x->span, "%s", x->text);
    if (x->note) diag_note(d, e, x->note_span, "%s", x->note);
    if (x->help) diag_help(d, e, "%s", x->help);
  }
  d->since = since;
}

// Waits at most a tenth of a second. Is the run finished, or has its helper failed?
static bool wait_for(Helpers *c, uint32_t i) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 100000000;
  if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
  pthread_mutex_lock(&c->lock);
  if (!c->run[i].done && c->run[i].taken) pthread_cond_timedwait(&c->change, &c->lock, &until);
  bool over = c->run[i].done || !c->run[i].taken;
  pthread_mutex_unlock(&c->lock);
  return over;
}

bool helpers_run(Simulation *r, uint32_t i, Followed *to, double *seconds) {
  Helpers *c = r->helpers;
  while (!claim_run(c, i)) {
    while (!wait_for(c, i)) {
      if (simulation_stops(r)) stop_ask(&c->quit, 1);
      simulation_redraw(r, 0);
    }
    SharedRun *found = &c->run[i];
    if (!found->done) continue;
    followed_copy(r->w, r->p, i, &found->followed, to);
    repeat_messages(r, found);
    if (found->end == OUTCOME_SYSTEM) r->end = found->end;
    *seconds = found->seconds;
    return found->good;
  }
  bool good = simulation_run(r, i, to, seconds);
  helpers_note_progress(c, i, 1);
  return good;
}
