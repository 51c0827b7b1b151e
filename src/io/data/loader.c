// A prefetching batch loader.
//
// A batch is a function of its number, so any thread may fill it. Small batches, and batches whose
// filling is cheap compared to their use, are filled by the consumer, because a hand-over between
// threads would cost more. If filling takes more than a small share of the time, or reads files, a
// background thread (the filler) fills a ring buffer of slots: one slot is in use, the others are
// ready or being filled. The filler exits when filling becomes cheap, as when all pictures of a set
// have been generated.
//
//   claimed: number of batches that are filled or being filled; who increments it fills the batch
//   taken:   number of batches handed out; the last of them is in use
//   made:    of a slot: number of its batch + 1
//
// A batch is claimed only while claimed - taken < slots - 1, so never into the slot in use; no lock
// is needed. A filler without work sleeps for half of the time that the ring lasts at the
// consumer's pace. A consumer whose batch is not begun fills it itself; if it is being filled, the
// consumer spins for a while, then sleeps. While both are busy, the consumer makes no system call.
#define _POSIX_C_SOURCE 200809L
#include "base/files.h"
#include "io/data/set_own.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { SLOTS = 32, SLOTS_LEAST = 3, RING_BYTES = 4 << 20 };
enum { ALIGN = 64, SAMPLE = 64, WHOLE_BYTES = 256 << 10 };
enum { USER_SPINS = 2000 }; // about 100 microseconds
// Typical overshoot of a timed wait; longest sleep.
static const double sleep_overshoot = 100e-6, longest_sleep = 20e-3;
// A thread is started or stopped when filling takes more or less than these shares of the time, in
// this many consecutive batches.
static const double share_of_thread = 0.05, share_of_none = 0.04;
enum { VOTES_FOR = 8, VOTES_AGAINST = 64 };

typedef struct {
  Batch batch;
  const char *error; // the error, or NULL
  _Atomic int64_t made;
} Slot;

// Working memory of a thread that fills batches.
typedef struct {
  DrawTable *table; // [draw]
  int64_t *row;     // [batch] rows
} FillerState;

struct Loader {
  Arena *arena;
  LoaderPlan plan;
  uint8_t **whole;        // [source] all rows in the requested type, if they are small; or NULL
  size_t *bytes;          // [source] bytes of one row
  int64_t batches, first; // batches per epoch; number of the first batch over all epochs
  Slot slot[SLOTS];
  int64_t slots;
  size_t batch_bytes;
  FillerState user, filler;
  const char *error;
  double started, waited;
  double asked;   // without a filler: time of the last loader_next
  uint32_t votes; // consecutive batches that were slow to fill
  bool may_thread, threaded;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t change;
  _Atomic int64_t claimed, taken;
  _Atomic bool stop, retired, filler_sleeps, user_sleeps;
};

// -- filling --------------------------------------------------------------------------------------
static void copy_rows(const uint8_t *from, size_t bytes, const int64_t *row, int64_t n,
                      uint8_t *to) {
#define ROWS(size)                                                                                 \
  for (int64_t i = 0; i < n; i++) memcpy(to + i * size, from + row[i] * size, (size_t)(size))
  switch (bytes) { // copies of constant size are single instructions
  case 4: ROWS(4); break;
  case 8: ROWS(8); break;
  case 16: ROWS(16); break;
  default: ROWS((int64_t)bytes);
  }
#undef ROWS
}

static void fill_source(Loader *l, const FillerState *h, uint32_t i, Slot *slot) {
  const LoaderSource *s = &l->plan.source[i];
  Batch *b = &slot->batch;
  if (l->whole[i])
    copy_rows(l->whole[i], l->bytes[i], h->row, b->n, b->data[i]);
  else
    set_read(s->set, (SetRows){s->split, s->field, h->row, b->n}, s->number, b->data[i],
             &slot->error);
}

// Fills batch k, numbered from the loader's first batch.
static void fill(Loader *l, const FillerState *h, int64_t k, Slot *slot) {
  Batch *b = &slot->batch;
  const LoaderPlan *p = &l->plan;
  b->epoch = (l->first + k) / l->batches;
  b->batch = (l->first + k) % l->batches;
  slot->error = NULL;
  for (uint32_t d = 0; d < p->draws; d++) {
    b->n = draw_rows_with(&p->draw[d], &h->table[d], b->epoch, b->batch, h->row);
    for (uint32_t i = 0; i < p->sources && !slot->error; i++)
      if (p->source[i].draw == d) fill_source(l, h, i, slot);
  }
}

static bool reads_files(const LoaderPlan *p) {
  for (uint32_t i = 0; i < p->sources; i++)
    if (p->source[i].set->lazy.read) return true;
  return false;
}

static bool claim(Loader *l, int64_t k) {
  return atomic_compare_exchange_strong(&l->claimed, &k, k + 1);
}

// -- waiting --------------------------------------------------------------------------------------
static inline void pause_briefly(void) {
#if defined __x86_64__
  __builtin_ia32_pause();
#elif defined __aarch64__
  __asm__ volatile("yield");
#endif
}

static bool is_made(Slot *slot, int64_t k) { return atomic_load(&slot->made) == k + 1; }

static bool is_full(Loader *l) {
  return atomic_load(&l->claimed) - atomic_load(&l->taken) >= l->slots - 1;
}

// Wakes a sleeper. The awaited value was stored before: either the sleeper reads it, or this thread
// sees that it sleeps.
static void wake(Loader *l, _Atomic bool *sleeps) {
  if (!atomic_load(sleeps)) return;
  pthread_mutex_lock(&l->lock);
  pthread_cond_broadcast(&l->change);
  pthread_mutex_unlock(&l->lock);
}

static void wait_for(Loader *l, Slot *slot, int64_t k) {
  for (uint32_t turn = 0; turn < USER_SPINS; turn++) {
    if (is_made(slot, k)) return;
    pause_briefly();
  }
  pthread_mutex_lock(&l->lock);
  atomic_store(&l->user_sleeps, true);
  while (!is_made(slot, k)) pthread_cond_wait(&l->change, &l->lock);
  atomic_store(&l->user_sleeps, false);
  pthread_mutex_unlock(&l->lock);
}

static void sleep_briefly(Loader *l, double seconds) {
  struct timespec until;
  if (seconds <= sleep_overshoot) { // too short for a timed wait
    for (uint32_t turn = 0; turn < 100; turn++) pause_briefly();
    return;
  }
  clock_gettime(CLOCK_MONOTONIC, &until);
  int64_t ns = until.tv_nsec + (int64_t)((seconds - sleep_overshoot) * 1e9);
  until.tv_sec += (time_t)(ns / 1000000000);
  until.tv_nsec = (long)(ns % 1000000000);
  pthread_mutex_lock(&l->lock);
  atomic_store(&l->filler_sleeps, true);
  if (!atomic_load(&l->stop)) pthread_cond_timedwait(&l->change, &l->lock, &until);
  atomic_store(&l->filler_sleeps, false);
  pthread_mutex_unlock(&l->lock);
}

typedef struct {
  double since;   // time at which `taken` was last seen to change
  int64_t seen;   // `taken` at that time
  double step;    // seconds per batch of the consumer
  double nap;     // seconds for half of the ring
  uint32_t light; // consecutive batches that were cheap to fill
} Pace;

static void wait_for_room(Loader *l, Pace *p) {
  while (is_full(l) && !atomic_load(&l->stop)) {
    int64_t went = atomic_load(&l->taken) - p->seen;
    double now = clock_seconds();
    if (went) {
      p->step = (now - p->since) / (double)went;
      p->nap = p->step * (double)(l->slots / 2);
      p->since = now;
      p->seen += went;
    } else if (now - p->since > p->nap) {
      p->nap *= 2;
    }
    if (p->nap > longest_sleep) p->nap = longest_sleep;
    sleep_briefly(l, p->nap);
  }
}

static void fill_ahead(Loader *l, int64_t k, Pace *p) {
  Slot *slot = &l->slot[k % l->slots];
  double start = clock_seconds();
  fill(l, &l->filler, k, slot);
  p->light = clock_seconds() - start < share_of_none * p->step ? p->light + 1 : 0;
  atomic_store(&slot->made, k + 1);
  wake(l, &l->user_sleeps);
}

static void *filler_main(void *loader) {
  Loader *l = loader;
  Pace pace = {.since = clock_seconds(), .seen = atomic_load(&l->taken), .nap = sleep_overshoot};
  while (pace.light < VOTES_AGAINST || reads_files(&l->plan)) {
    wait_for_room(l, &pace);
    if (atomic_load(&l->stop)) return NULL;
    int64_t k = atomic_load(&l->claimed);
    if (!is_full(l) && claim(l, k)) fill_ahead(l, k, &pace);
  }
  atomic_store(&l->retired, true);
  return NULL;
}

// -- the thread -----------------------------------------------------------------------------------
static void *aligned(Arena *a, size_t bytes) {
  uintptr_t at = (uintptr_t)arena_alloc(a, bytes + ALIGN);
  return (void *)((at + ALIGN - 1) / ALIGN * ALIGN);
}

static FillerState filler_state_new(Arena *a, const LoaderPlan *p) {
  FillerState h = {NEW_ARRAY(a, DrawTable, p->draws), NEW_ARRAY(a, int64_t, p->draw[0].batch)};
  for (uint32_t d = 0; d < p->draws; d++) h.table[d].pass = -1;
  return h;
}

static void slots_new(Loader *l, int64_t n) {
  const LoaderPlan *p = &l->plan;
  for (; l->slots < n; l->slots++) {
    void **data = NEW_ARRAY(l->arena, void *, p->sources + 1);
    for (uint32_t i = 0; i < p->sources; i++)
      data[i] = aligned(l->arena, (size_t)p->draw[0].batch * l->bytes[i]);
    l->slot[l->slots].batch.data = data;
  }
}

// Called between two batches: no slot is in use, and the next batch is not begun.
static void start_thread(Loader *l) {
  int64_t slots = RING_BYTES / (int64_t)l->batch_bytes;
  slots_new(l, slots < SLOTS_LEAST ? SLOTS_LEAST : slots > SLOTS ? SLOTS : slots);
  if (!l->filler.table) l->filler = filler_state_new(l->arena, &l->plan);
  atomic_store(&l->claimed, atomic_load(&l->taken));
  l->threaded = pthread_create(&l->thread, NULL, filler_main, l) == 0;
  l->votes = 0;
  l->may_thread = l->threaded; // if no thread can be created, batches are filled on demand
}

// Called after the last batch of the filler.
static void end_thread(Loader *l) {
  pthread_join(l->thread, NULL);
  l->threaded = false;
  atomic_store(&l->retired, false);
}

// -- loader_next ----------------------------------------------------------------------------------
// The clock is read only if there is something to measure: for each large batch that is not ready,
// and for every 64th small batch.
static Slot *next_small(Loader *l, int64_t k) {
  bool measured = k % SAMPLE == 0;
  double start = measured ? clock_seconds() : 0;
  fill(l, &l->user, k, &l->slot[0]);
  if (measured) l->waited += SAMPLE * (clock_seconds() - start);
  return &l->slot[0];
}

// Several consecutive slow batches are required, because a single one may have been preempted.
static Slot *next_large(Loader *l, int64_t k) {
  double start = clock_seconds();
  fill(l, &l->user, k, &l->slot[0]);
  double end = clock_seconds();
  l->votes = k > 0 && end - start > share_of_thread * (end - l->asked) ? l->votes + 1 : 0;
  l->waited += end - start;
  l->asked = end;
  return &l->slot[0];
}

static Slot *next_threaded(Loader *l, int64_t k) {
  Slot *slot = &l->slot[k % l->slots];
  if (is_made(slot, k)) return slot;
  double start = clock_seconds();
  if (claim(l, k)) {
    fill(l, &l->user, k, slot);
    atomic_store(&slot->made, k + 1);
  } else {
    wait_for(l, slot, k);
  }
  l->waited += clock_seconds() - start;
  return slot;
}

const Batch *loader_next(Loader *l) {
  if (l->error) return NULL;
  int64_t k = atomic_load_explicit(&l->taken, memory_order_relaxed); // written by this thread only
  if (atomic_load_explicit(&l->retired, memory_order_relaxed) && atomic_load(&l->claimed) == k)
    end_thread(l);
  if (l->votes == VOTES_FOR) start_thread(l);
  Slot *slot = l->threaded     ? next_threaded(l, k)
               : l->may_thread ? next_large(l, k)
                               : next_small(l, k);
  atomic_store(&l->taken, k + 1);
  l->error = slot->error;
  return l->error ? NULL : &slot->batch;
}

const char *loader_error(const Loader *l) { return l->error; }

double loader_waited(const Loader *l) {
  double since = clock_seconds() - l->started;
  return since > 0 && l->waited < since ? l->waited / since : since > 0;
}

// -- construction and destruction -----------------------------------------------------------------
static void stop(void *loader) {
  Loader *l = loader;
  if (l->threaded) {
    atomic_store(&l->stop, true);
    wake(l, &l->filler_sleeps);
    pthread_join(l->thread, NULL);
  }
  pthread_cond_destroy(&l->change);
  pthread_mutex_destroy(&l->lock);
}

static size_t row_bytes(const LoaderSource *s) {
  int64_t count = s->field == FIELD_INDEX ? 1 : field_count(set_field(s->set, s->field));
  return (size_t)count * number_bytes(s->number);
}

static bool plan_is_good(const LoaderPlan *p, int64_t epoch, int64_t batch, const char **why) {
  if (!p->draws || p->draw[0].batch <= 0 || epoch < 0 || batch < 0)
    return *why = "there is nothing to draw", false;
  for (uint32_t d = 0; d < p->draws; d++) {
    if (p->draw[d].rows <= 0) return *why = "a split has no rows", false;
    if (p->draw[d].batch != p->draw[0].batch ||
        draw_batches(&p->draw[d]) != draw_batches(&p->draw[0]))
      return *why = "draws have different batches or epochs", false;
  }
  return true;
}

// Converts all rows of a small source once, so that a batch is only copied.
static uint8_t *read_whole(Loader *l, uint32_t i) {
  const LoaderSource *s = &l->plan.source[i];
  int64_t rows = set_rows(s->set, s->split);
  const char *why;
  if (s->set->lazy.read || (size_t)rows > WHOLE_BYTES / l->bytes[i]) return NULL;
  uint8_t *to = aligned(l->arena, (size_t)rows * l->bytes[i]);
  SetRows all = {.split = s->split, .field = s->field, .n = rows};
  return set_read_from(s->set, 0, all, s->number, to, &why) ? to : NULL;
}

static void allocate_buffers(Loader *l) {
  const LoaderPlan *p = &l->plan;
  l->user = filler_state_new(l->arena, p);
  l->whole = NEW_ARRAY(l->arena, uint8_t *, p->sources + 1);
  l->bytes = NEW_ARRAY(l->arena, size_t, p->sources + 1);
  for (uint32_t i = 0; i < p->sources; i++) {
    l->bytes[i] = row_bytes(&p->source[i]);
    l->whole[i] = read_whole(l, i);
    l->batch_bytes += (size_t)p->draw[0].batch * l->bytes[i];
  }
  l->may_thread = l->batch_bytes >= INLINE_BYTES;
  slots_new(l, 1);
}

static void locks_new(Loader *l) {
  pthread_condattr_t clock;
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_mutex_init(&l->lock, NULL);
  pthread_cond_init(&l->change, &clock);
  pthread_condattr_destroy(&clock);
}

Loader *loader_new(Arena *a, const LoaderPlan *p, int64_t epoch, int64_t batch, const char **why) {
  if (!plan_is_good(p, epoch, batch, why)) return NULL;
  Arena *own = arena_child(a);
  Loader *l = NEW(own, Loader);
  l->arena = own;
  l->plan = *p;
  l->plan.draw = arena_copy(own, p->draw, p->draws * sizeof *p->draw);
  l->plan.source = arena_copy(own, p->source, p->sources * sizeof *p->source);
  l->batches = draw_batches(p->draw);
  l->first = epoch * l->batches + batch;
  allocate_buffers(l);
  locks_new(l);
  arena_on_free(own, stop, l);
  l->started = clock_seconds();
  if (l->may_thread && reads_files(p)) start_thread(l);
  return l;
}

void loader_free(Loader *l) {
  if (l) arena_free(l->arena);
}
