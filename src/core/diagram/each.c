// Builders of element-wise loops, and queries about the operands and indices that a loop uses.
#include "core/diagram/each.h"
#include "base/names.h"
#include "core/diagram/diagram.h"
#include "core/diagram/ops.h"
#include "core/diagram/print.h"

#include <assert.h>

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

// -- loops given as text --------------------------------------------------------------------------
static Loop *loop_of_text(World *w, const Diagram *d, const Type *t, const char *text, const Id *in,
                          uint32_t n) {
  static const char *const name[] = {"a", "b", "c", "d"};
  Loop *loop = loop_over(w, t);
  uint32_t value[COUNT(name)], out = 0;
  assert(n <= COUNT(name));
  loop->nin = n;
  loop->in = NEW_ARRAY(w->arena, Access, n);
  for (uint32_t i = 0; i < n; i++) {
    const Type *x = &d->wire.at[in[i]].type;
    loop->in[i] = access_from(w, 0, x->rank);
    value[i] = scalar_push(w, loop, (Scalar){.fn = FN_ARG, .base = x->base, .ref = i});
  }
  bool good = scalar_read(w, loop, text, name, value, n, &out);
  assert(good && out + 1 == loop->nscalar);
  (void)good;
  return loop;
}

Id map_text(World *w, Diagram *d, Type t, const char *text, const Id *in, uint32_t n, Id origin) {
  return box_loop(w, d, loop_of_text(w, d, &t, text, in, n), in, n, t, origin);
}

Id fold_text(World *w, Diagram *d, Combine combine, const char *text, const Id *in, uint32_t n,
             Id origin) {
  Loop *loop = loop_of_text(w, d, &d->wire.at[in[0]].type, text, in, n);
  loop->combine = combine;
  loop->out = (Access){0};
  return box_loop(w, d, loop, in, n, (Type){.base = BASE_R}, origin);
}

Id wire_choice(World *w, Diagram *d, Id bit, Id yes, Id no) {
  return map_text(w, d, d->wire.at[no].type, "select(a, b, c)", (Id[]){bit, yes, no}, 3, 0);
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
