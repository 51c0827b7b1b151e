// Batches, prepared before they are asked for.
//
// A batch is a function of its number, so it does not matter who fills it. Small ones are filled by
// the one who asks: a hand-over between threads would cost more. Larger ones are filled by a thread
// of their own into a ring of three: one is in use, the others are ready or being filled.
//
//   made:  how many batches are filled         written by the thread
//   taken: how many were handed out            written by the user; the last of them is in use
//
// Both count up. The thread fills slot made mod 3 while made - taken < 2, so never the one in use,
// and no lock is needed. Whoever has nothing to do watches the other's count for a while, and
// sleeps when that was in vain; the other one wakes it only if it says that it sleeps. While both
// are busy, nobody enters the kernel.
#define _POSIX_C_SOURCE 200809L
#include "data/set.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { SLOTS = 3, ALIGN = 64, SAMPLE = 64, WHOLE_BYTES = 256 << 10 };
enum { FILLER_SPINS = 200, USER_SPINS = 2000 }; // some 10 and 100 microseconds

typedef struct {
  Batch batch;
  const char *error; // why it could not be filled
} Slot;

struct Loader {
  Arena *arena;
  LoaderPlan plan;
  DrawTable *table; // for each draw, of the one who fills
  int64_t *row;     // room for the rows of one batch, of the one who fills
  uint8_t **whole;  // for each source, all of its rows as they are wanted, if they are few; or NULL
  size_t *bytes;    // for each source, of one row
  int64_t batches;  // in an epoch
  int64_t epoch, next; // what is filled next
  Slot slot[SLOTS];
  const char *error;
  double started, waited;
  bool threaded;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t change;
  _Atomic int64_t made, taken;
  _Atomic bool stop, filler_sleeps, user_sleeps;
};

// -- filling --------------------------------------------------------------------------------------
static void gather(const uint8_t *from, size_t bytes, const int64_t *row, int64_t n, uint8_t *to) {
#define ROWS(size)                                                                                 \
  for (int64_t i = 0; i < n; i++) memcpy(to + i * size, from + row[i] * size, (size_t)(size))
  switch (bytes) { // a copy of a known size is one instruction
  case 4: ROWS(4); break;
  case 8: ROWS(8); break;
  case 16: ROWS(16); break;
  default: ROWS((int64_t)bytes);
  }
#undef ROWS
}

static void fill_source(Loader *l, uint32_t i, Slot *slot) {
  const LoaderSource *s = &l->plan.source[i];
  Batch *b = &slot->batch;
  if (l->whole[i])
    gather(l->whole[i], l->bytes[i], l->row, b->n, b->data[i]);
  else
    set_read(s->set, s->split, s->field, l->row, b->n, s->number, b->data[i], &slot->error);
}

static void fill(Loader *l, Slot *slot) {
  Batch *b = &slot->batch;
  const LoaderPlan *p = &l->plan;
  b->epoch = l->epoch;
  b->batch = l->next;
  slot->error = NULL;
  for (uint32_t d = 0; d < p->draws; d++) {
    b->n = draw_rows_with(&p->draw[d], &l->table[d], l->epoch, l->next, l->row);
    for (uint32_t i = 0; i < p->sources && !slot->error; i++)
      if (p->source[i].draw == d) fill_source(l, i, slot);
  }
  if (++l->next == l->batches) l->next = 0, l->epoch++;
}

// -- waiting --------------------------------------------------------------------------------------
static inline void pause_briefly(void) {
#if defined __x86_64__
  __builtin_ia32_pause();
#elif defined __aarch64__
  __asm__ volatile("yield");
#endif
}

static bool may_fill(Loader *l) {
  return atomic_load(&l->stop) || atomic_load(&l->made) - atomic_load(&l->taken) < SLOTS - 1;
}

static bool may_take(Loader *l) { return atomic_load(&l->made) > atomic_load(&l->taken); }

static void wait_until(Loader *l, bool (*ready)(Loader *), uint32_t spins, _Atomic bool *sleeps) {
  for (uint32_t turn = 0; turn < spins; turn++) {
    if (ready(l)) return;
    pause_briefly();
  }
  pthread_mutex_lock(&l->lock);
  atomic_store(sleeps, true);
  while (!ready(l)) pthread_cond_wait(&l->change, &l->lock);
  atomic_store(sleeps, false);
  pthread_mutex_unlock(&l->lock);
}

// The count was changed before: either the sleeper sees it, or it is seen here that it sleeps.
static void wake(Loader *l, _Atomic bool *sleeps) {
  if (!atomic_load(sleeps)) return;
  pthread_mutex_lock(&l->lock);
  pthread_cond_broadcast(&l->change);
  pthread_mutex_unlock(&l->lock);
}

static void *work(void *loader) {
  Loader *l = loader;
  for (;;) {
    wait_until(l, may_fill, FILLER_SPINS, &l->filler_sleeps);
    if (atomic_load(&l->stop)) return NULL;
    int64_t k = atomic_load(&l->made);
    fill(l, &l->slot[k % SLOTS]);
    atomic_store(&l->made, k + 1);
    wake(l, &l->user_sleeps);
  }
}

// -- asking ---------------------------------------------------------------------------------------
// The clock is looked at only when there is something to measure: always when a batch is not ready,
// and for every 64th of those that are filled here.
static Slot *next_inline(Loader *l) {
  int64_t k = atomic_load_explicit(&l->taken, memory_order_relaxed);
  atomic_store_explicit(&l->taken, k + 1, memory_order_relaxed);
  bool measured = k % SAMPLE == 0;
  double start = measured ? clock_seconds() : 0;
  fill(l, &l->slot[0]);
  if (measured) l->waited += SAMPLE * (clock_seconds() - start);
  return &l->slot[0];
}

static Slot *next_threaded(Loader *l) {
  if (!may_take(l)) {
    double start = clock_seconds();
    wait_until(l, may_take, USER_SPINS, &l->user_sleeps);
    l->waited += clock_seconds() - start;
  }
  int64_t k = atomic_load(&l->taken);
  atomic_store(&l->taken, k + 1);
  wake(l, &l->filler_sleeps);
  return &l->slot[k % SLOTS];
}

const Batch *loader_next(Loader *l) {
  if (l->error) return NULL;
  Slot *slot = l->threaded ? next_threaded(l) : next_inline(l);
  l->error = slot->error;
  return l->error ? NULL : &slot->batch;
}

const char *loader_error(const Loader *l) { return l->error; }

double loader_waited(const Loader *l) {
  double since = clock_seconds() - l->started;
  return since > 0 && l->waited < since ? l->waited / since : since > 0;
}

// -- beginning and ending -------------------------------------------------------------------------
static void stop(void *loader) {
  Loader *l = loader;
  if (!l->threaded) return;
  atomic_store(&l->stop, true);
  wake(l, &l->filler_sleeps);
  pthread_join(l->thread, NULL);
  pthread_cond_destroy(&l->change);
  pthread_mutex_destroy(&l->lock);
}

static size_t row_bytes(const LoaderSource *s) {
  int64_t count = s->field == FIELD_INDEX ? 1 : field_count(set_field(s->set, s->field));
  return (size_t)count * number_size(s->number);
}

static void *aligned(Arena *a, size_t bytes) {
  uintptr_t at = (uintptr_t)arena_alloc(a, bytes + ALIGN);
  return (void *)((at + ALIGN - 1) / ALIGN * ALIGN);
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

// All rows of a small source, so that a batch is copied and not converted.
static uint8_t *read_whole(Loader *l, uint32_t i) {
  const LoaderSource *s = &l->plan.source[i];
  int64_t rows = set_rows(s->set, s->split);
  const char *why;
  if (s->set->lazy.read || (size_t)rows > WHOLE_BYTES / l->bytes[i]) return NULL;
  uint8_t *to = aligned(l->arena, (size_t)rows * l->bytes[i]);
  for (int64_t r = 0; r < rows; r++)
    if (!set_read(s->set, s->split, s->field, &r, 1, s->number, to + (size_t)r * l->bytes[i], &why))
      return NULL;
  return to;
}

static void take_room(Loader *l) {
  const LoaderPlan *p = &l->plan;
  size_t all = 0, batch = (size_t)p->draw[0].batch;
  l->table = NEW_ARRAY(l->arena, DrawTable, p->draws);
  for (uint32_t d = 0; d < p->draws; d++) l->table[d].pass = -1;
  l->row = NEW_ARRAY(l->arena, int64_t, batch);
  l->whole = NEW_ARRAY(l->arena, uint8_t *, p->sources + 1);
  l->bytes = NEW_ARRAY(l->arena, size_t, p->sources + 1);
  for (uint32_t i = 0; i < p->sources; i++) {
    l->bytes[i] = row_bytes(&p->source[i]);
    l->whole[i] = read_whole(l, i);
    all += batch * l->bytes[i];
  }
  l->threaded = all >= INLINE_BYTES;
  for (uint32_t k = 0; k < (l->threaded ? SLOTS : 1); k++) {
    l->slot[k].batch.data = NEW_ARRAY(l->arena, void *, p->sources + 1);
    for (uint32_t i = 0; i < p->sources; i++)
      l->slot[k].batch.data[i] = aligned(l->arena, batch * l->bytes[i]);
  }
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
  l->epoch = epoch + batch / l->batches;
  l->next = batch % l->batches;
  take_room(l);
  arena_on_free(own, stop, l);
  l->started = clock_seconds();
  if (!l->threaded) return l;
  pthread_mutex_init(&l->lock, NULL);
  pthread_cond_init(&l->change, NULL);
  if (pthread_create(&l->thread, NULL, work, l) == 0) return l;
  pthread_cond_destroy(&l->change);
  pthread_mutex_destroy(&l->lock);
  l->threaded = false; // no thread is to be had: batches are filled when they are asked for
  return l;
}

void loader_free(Loader *l) {
  if (l) arena_free(l->arena);
}
