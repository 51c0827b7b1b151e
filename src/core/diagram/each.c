// Builders of element-wise loops, and queries about the operands and indices that a loop uses.
#include "core/diagram/each.h"
#include "base/names.h"
#include "core/diagram/diagram.h"
#include "core/diagram/ops.h"

Access access_from(World *w, uint32_t first, uint32_t rank) {
  uint32_t *plain = NEW_ARRAY(w->arena, uint32_t, rank + 1);
  for (uint32_t i = 0; i < rank; i++) plain[i] = first + i;
  return access_plain(w, rank, plain);
}

Loop *loop_over(World *w, const Type *t) {
  Loop *loop = NEW(w->arena, Loop);
  loop->nindex = t->rank;
  loop->index = NEW_ARRAY(w->arena, Index, t->rank + 1);
  for (uint32_t i = 0; i < t->rank; i++)
    loop->index[i] = (Index){t->axis[i].label, t->axis[i].size};
  loop->out = access_from(w, 0, t->rank);
  return loop;
}

Id wire_filled(World *w, Diagram *d, const Type *t, double k, Name name, Id origin) {
  Loop *loop = loop_over(w, t);
  scalar_push(w, loop, (Scalar){.fn = FN_CONST, .base = t->base, .k = k});
  Id wire = box_loop(w, d, loop, NULL, 0, *t, origin);
  d->wire.at[wire].name = name;
  return wire;
}

Each each_of(World *w, Type t) {
  Each e = {.t = t, .loop = *loop_over(w, &t)};
  for (uint32_t i = 0; i < t.rank; i++)
    e.loop.index[i].name = name_from(w->names, arena_format(w->arena, "i%u", i));
  return e;
}

uint32_t each_read(World *w, Each *e, Id wire, Base base, uint32_t rank) {
  uint32_t k = e->loop.nin++;
  e->in[k] = access_from(w, 0, rank);
  e->wire[k] = wire;
  return scalar_push(w, &e->loop, (Scalar){.fn = FN_ARG, .base = (uint8_t)base, .ref = k});
}

uint32_t each_number(World *w, Each *e, double k) {
  return scalar_push(w, &e->loop, (Scalar){.fn = FN_CONST, .base = BASE_R, .k = k});
}

Id each_make(World *w, Diagram *d, Each *e) {
  e->loop.in = e->in;
  return box_loop(w, d, &e->loop, e->wire, e->loop.nin, e->t, e->origin);
}

// -- uses of indices and operands -----------------------------------------------------------------
bool loop_reads_index(const Loop *loop, uint32_t index) {
  for (uint32_t i = 0; i < loop->nscalar; i++)
    if (loop->scalar[i].fn == FN_AT && loop->scalar[i].ref == index) return true;
  return false;
}

bool loop_writes_index(const Loop *loop, uint32_t index) {
  for (uint32_t i = 0; i < loop->out.rank; i++)
    for (uint32_t k = 0; k < loop->out.coord[i].n; k++)
      if (!loop->out.coord[i].term[k].operand && loop->out.coord[i].term[k].var == index)
        return true;
  return false;
}

void access_mark_labels(const Access *a, bool *operand) {
  for (uint32_t i = 0; i < a->rank; i++)
    for (uint32_t k = 0; k < a->coord[i].n; k++)
      if (a->coord[i].term[k].operand) operand[a->coord[i].term[k].var] = true;
}

Id diagram_source(const Diagram *d, uint32_t i) {
  return i < d->in.n ? d->in.at[i] : d->param.at[i - d->in.n].wire;
}
