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

static bool read_drawn(Set *s, uint32_t block, int64_t row, Number number, void *out,
                       const char **why) {
  Drawn *d = s->lazy.state;
  const Column *c = &s->column[block].at[s->late];
  _Atomic uint8_t *state = &d->state[block][row];
  uint8_t was = NOT_YET;
  (void)why;
  if (atomic_load_explicit(state, memory_order_acquire) != DONE) {
    if (atomic_compare_exchange_strong(state, &was, IN_WORK)) {
      d->draw(s->options.seed, (Split)block, row, d->store[block] + row * c->step);
      atomic_store_explicit(state, DONE, memory_order_release);
    }
    while (atomic_load_explicit(state, memory_order_acquire) != DONE) sched_yield();
  }
  column_read(c, &row, 1, c->count, number, out);
  return true;
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
    block[b].divide = 255;
  }
  s->late = s->field.n;
  s->lazy = (Lazy){read_drawn, d};
  set_add(s, f, block);
}
