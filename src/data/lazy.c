// Pictures that are drawn by code, each when it is first wanted.
//
// All of them have their place in memory from the start, untouched until they are drawn. A byte for
// each says whether it is not drawn, being drawn, or done; whoever finds one that another thread is
// drawing waits for it, which takes some microseconds.
#define _POSIX_C_SOURCE 200809L
#include "data/set.h"

#include <sched.h>
#include <stdatomic.h>

enum { NOT_YET, IN_WORK, DONE };

typedef struct {
  DrawRow *draw;
  uint8_t *store[SPLITS];
  _Atomic uint8_t *state[SPLITS];
} Drawn;

static void draw_row(Set *s, uint32_t block, int64_t row) {
  Drawn *d = s->lazy.state;
  _Atomic uint8_t *state = &d->state[block][row];
  uint8_t was = NOT_YET;
  if (atomic_compare_exchange_strong(state, &was, IN_WORK)) {
    int64_t step = s->column[block].at[s->late].step;
    d->draw(s->options.seed, (Split)block, row, d->store[block] + row * step);
    atomic_store_explicit(state, DONE, memory_order_release);
  }
  while (atomic_load_explicit(state, memory_order_acquire) != DONE) sched_yield();
}

static void draw_late(Set *s, uint32_t block, const int64_t *row, int64_t n) {
  const Drawn *d = s->lazy.state;
  for (int64_t i = 0; i < n; i++)
    for (int64_t r = row[i]; r < row[i] + s->window; r++)
      if (atomic_load_explicit(&d->state[block][r], memory_order_acquire) != DONE)
        draw_row(s, block, r);
}

void set_add_drawn(Set *s, const Field *f, const int64_t rows[SPLITS], DrawRow *draw) {
  Drawn *d = NEW(s->arena, Drawn);
  Column block[SPLITS];
  int64_t count = field_count(f);
  d->draw = draw;
  for (uint32_t b = 0; b < SPLITS; b++) {
    d->store[b] = arena_alloc(s->arena, (size_t)(count * rows[b]));
    d->state[b] = arena_alloc(s->arena, (size_t)rows[b]);
    block[b] = column_new(d->store[b], count, EL_U8);
    block[b].picture = true;
  }
  s->late = s->field.n;
  s->lazy = (Lazy){.make = draw_late, .state = d};
  set_add(s, f, block);
}
