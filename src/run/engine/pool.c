// A thread pool with static shares and work stealing. The tasks of a job are cut into one contiguous
// share for each thread, so that a thread finds in its cache what it computed in the previous kernel; a
// thread that has finished its share takes tasks of the others. Between kernels threads spin, because a
// kernel lasts microseconds and waking a thread lasts longer; after a while without work they sleep.
//
// A job is announced by a new generation of the gate and is open until the caller finds no more tasks.
// Workers enter an open job; the caller returns when all workers that entered have left, so the job's
// data may be on the caller's stack. A worker that comes after the job is closed skips it.
#define _DEFAULT_SOURCE
#include "base/files.h"
#include "run/engine/engine.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { SPINS = 256, YIELDS = 4096, THREADS_LIMIT = 256 };
static const uint64_t OPEN = (uint64_t)1 << 31;

typedef struct {
  Pool *pool;
  uint32_t thread;
} Worker;

typedef struct {
  _Alignas(64) _Atomic(int64_t) next;
  int64_t end;
} Share;

struct Pool {
  uint32_t threads, started, wanted;
  pthread_t *id;
  Worker *worker;
  Task *task;
  void *context;
  Share *share;                        // [thread]
  _Alignas(64) _Atomic(uint64_t) gate; // generation << 32 | OPEN | number of workers in the job
  _Alignas(64) _Atomic(uint32_t) sleeping;
  _Atomic(bool) ending;
  pthread_mutex_t lock;
  pthread_cond_t wake;
};

static void pause_briefly(void) {
#if defined __x86_64__ || defined __i386__
  __builtin_ia32_pause();
#elif defined __aarch64__
  __asm__ volatile("yield");
#endif
}

// Arithmetic on denormal numbers is a hundred times slower, and their values are rounding noise.
uint64_t pool_flush_denormals(void) {
#if defined __x86_64__
  uint32_t before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040);
  return before;
#elif defined __aarch64__
  uint64_t before;
  __asm__ volatile("mrs %0, fpcr" : "=r"(before));
  __asm__ volatile("msr fpcr, %0" : : "r"(before | (uint64_t)1 << 24));
  return before;
#else
  return 0;
#endif
}

void pool_restore_denormals(uint64_t before) {
#if defined __x86_64__
  __builtin_ia32_ldmxcsr((uint32_t)before);
#elif defined __aarch64__
  __asm__ volatile("msr fpcr, %0" : : "r"(before));
#else
  (void)before;
#endif
}

static void run_tasks(Pool *p, uint32_t thread) {
  for (uint32_t i = 0; i < p->threads; i++) {
    Share *s = &p->share[(thread + i) % p->threads];
    for (;;) {
      if (atomic_load_explicit(&s->next, memory_order_relaxed) >= s->end) break;
      int64_t task = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
      if (task >= s->end) break;
      p->task(p->context, task, thread);
    }
  }
}

static uint32_t generation_of(uint64_t gate) { return (uint32_t)(gate >> 32); }

static void sleep_until(Pool *p, uint32_t seen) {
  pthread_mutex_lock(&p->lock);
  atomic_fetch_add(&p->sleeping, 1);
  while (generation_of(atomic_load(&p->gate)) == seen && !atomic_load(&p->ending))
    pthread_cond_wait(&p->wake, &p->lock);
  atomic_fetch_sub(&p->sleeping, 1);
  pthread_mutex_unlock(&p->lock);
}

// Enters the job of this generation; false: the job is closed.
static bool enter_job(Pool *p, uint32_t generation) {
  uint64_t gate = atomic_load_explicit(&p->gate, memory_order_acquire);
  while (generation_of(gate) == generation && (gate & OPEN))
    if (atomic_compare_exchange_weak_explicit(&p->gate, &gate, gate + 1, memory_order_acquire,
                                              memory_order_acquire))
      return true;
  return false;
}

static void *worker_main(void *argument) {
  const Worker *w = argument;
  Pool *p = w->pool;
  uint32_t seen = 0;
  pool_flush_denormals();
  for (;;) {
    uint64_t gate;
    for (uint32_t spin = 0;
         generation_of(gate = atomic_load_explicit(&p->gate, memory_order_acquire)) == seen;
         spin++) {
      if (atomic_load_explicit(&p->ending, memory_order_relaxed)) return NULL;
      if (spin < SPINS)
        pause_briefly();
      else if (spin < SPINS + YIELDS)
        sched_yield();
      else
        sleep_until(p, seen);
    }
    seen = generation_of(gate);
    if (!enter_job(p, seen)) continue;
    run_tasks(p, w->thread);
    atomic_fetch_sub_explicit(&p->gate, 1, memory_order_release);
  }
}

Pool *pool_new(uint32_t threads) {
  if (!threads) threads = os_cores();
  if (threads > THREADS_LIMIT) threads = THREADS_LIMIT;
  Pool *p = aligned_alloc(64, (sizeof *p + 63) / 64 * 64);
  if (!p) return NULL;
  memset(p, 0, sizeof *p);
  p->wanted = threads;
  p->id = calloc(threads, sizeof *p->id);
  p->worker = calloc(threads, sizeof *p->worker);
  p->share = aligned_alloc(64, threads * sizeof *p->share);
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->wake, NULL);
  for (uint32_t i = 1; p->id && p->worker && p->share && i < threads; i++) {
    p->worker[i] = (Worker){p, i};
    if (pthread_create(&p->id[i], NULL, worker_main, &p->worker[i])) break;
    p->started = i;
  }
  p->threads = p->started + 1; // threads that could not be started get no share
  if (p->id && p->worker && p->share) return p;
  pool_free(p);
  return NULL;
}

void pool_free(Pool *p) {
  if (!p) return;
  pthread_mutex_lock(&p->lock);
  atomic_store(&p->ending, true);
  pthread_cond_broadcast(&p->wake);
  pthread_mutex_unlock(&p->lock);
  for (uint32_t i = 1; i <= p->started; i++) pthread_join(p->id[i], NULL);
  pthread_mutex_destroy(&p->lock);
  pthread_cond_destroy(&p->wake);
  free(p->id);
  free(p->worker);
  free(p->share);
  free(p);
}

uint32_t pool_threads(const Pool *p) { return p->threads; }

uint32_t pool_wanted(const Pool *p) { return p->wanted; }

void pool_run(Pool *p, Task *task, void *context, int64_t tasks) {
  if (p->threads == 1 || tasks <= 1) {
    for (int64_t i = 0; i < tasks; i++) task(context, i, 0);
    return;
  }
  p->task = task;
  p->context = context;
  for (uint32_t i = 0; i < p->threads; i++) {
    atomic_store_explicit(&p->share[i].next, tasks * i / p->threads, memory_order_relaxed);
    p->share[i].end = tasks * (i + 1) / p->threads;
  }
  uint64_t generation = generation_of(atomic_load(&p->gate)) + UINT64_C(1);
  atomic_store(&p->gate, generation << 32 | OPEN);
  if (atomic_load(&p->sleeping)) {
    pthread_mutex_lock(&p->lock);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
  }
  run_tasks(p, 0);
  uint64_t gate = atomic_fetch_and(&p->gate, ~OPEN);
  for (uint32_t spin = 0; gate & (OPEN - 1); spin++) {
    if (spin < SPINS)
      pause_briefly();
    else
      sched_yield(); // a worker may be waiting for this core
    gate = atomic_load_explicit(&p->gate, memory_order_acquire);
  }
}
