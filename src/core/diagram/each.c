// Loops over every element of tensors of one type, put together piece by piece.
#include "core/diagram/diagram.h"

Each each_of(World *w, Type t) {
  Each e = {.t = t, .loop = {.combine = SUM, .nindex = t.rank}};
  e.loop.index = NEW_ARRAY(w->arena, Index, t.rank + 1);
  uint32_t *all = NEW_ARRAY(w->arena, uint32_t, t.rank + 1);
  for (uint32_t i = 0; i < t.rank; i++) {
    all[i] = i;
    Name name = name_from(w->names, arena_format(w->arena, "i%u", i));
    e.loop.index[i] = (Index){name, t.axis[i].size};
  }
  e.loop.out = access_plain(w, t.rank, all);
  return e;
}

uint32_t each_read(World *w, Each *e, Id wire, Base base, uint32_t rank) {
  uint32_t *all = NEW_ARRAY(w->arena, uint32_t, rank + 1), k = e->loop.nin++;
  for (uint32_t i = 0; i < rank; i++) all[i] = i;
  e->in[k] = access_plain(w, rank, all);
  e->wire[k] = wire;
  return scalar_push(w, &e->loop, (Scalar){.fn = FN_ARG, .base = (uint8_t)base, .ref = k});
}

uint32_t each_number(World *w, Each *e, double k) {
  return scalar_push(w, &e->loop, (Scalar){.fn = FN_CONST, .base = BASE_R, .k = k});
}

Id each_make(World *w, Diagram *d, Each *e) {
  e->loop.in = e->in;
  return box_loop(w, d, &e->loop, e->wire, e->loop.nin, e->t, 0);
}
