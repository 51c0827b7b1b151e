// Generated pictures, produced on first use.
//
// Memory for all rows is allocated at the start. One byte per row is its state: not generated, in
// work, or done. A thread that needs a row in work waits, which takes microseconds.
#define _POSIX_C_SOURCE 200809L
#include "io/data/set_own.h"

#include <sched.h>
#include <stdatomic.h>

enum { NOT_YET, IN_WORK, DONE };

typedef struct Drawn {
  DrawRow *draw;
  Split split;
  uint8_t *store;         // [rows count]
  _Atomic uint8_t *state; // [rows]
} Drawn;

static void draw_row(const Set *s, const Column *c, int64_t row) {
  Drawn *d = c->drawn;
  uint8_t was = NOT_YET;
  if (atomic_compare_exchange_strong(&d->state[row], &was, IN_WORK)) {
    d->draw(s->options.seed, d->split, row, d->store + row * c->step);
    atomic_store_explicit(&d->state[row], DONE, memory_order_release);
  }
  while (atomic_load_explicit(&d->state[row], memory_order_acquire) != DONE) sched_yield();
}

void column_draw(const Set *s, const Column *c, const int64_t *row, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t r = row[i]; r < row[i] + s->window; r++)
      if (atomic_load_explicit(&c->drawn->state[r], memory_order_acquire) != DONE)
        draw_row(s, c, r);
}

void set_add_drawn(Set *s, const Field *f, const int64_t rows[SPLITS], DrawRow *draw) {
  Column block[SPLITS];
  int64_t count = field_count(f);
  for (Split b = 0; b < SPLITS; b++) {
    Drawn *d = NEW(s->arena, Drawn);
    *d = (Drawn){.draw = draw,
                 .split = b,
                 .store = arena_alloc(s->arena, (size_t)(count * rows[b])),
                 .state = arena_alloc(s->arena, (size_t)rows[b])};
    block[b] = column_new(d->store, count, EL_U8);
    block[b].picture = true;
    block[b].drawn = d;
  }
  set_add(s, f, block);
}
