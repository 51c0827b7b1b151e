// Small loops that steps are put together from.
#include "run/step/step_own.h"

#include <assert.h>

Id map_text(World *w, Diagram *d, Type t, const char *text, const Id *in, uint32_t n, Id origin) {
  static const char *const name[] = {"a", "b", "c", "d"};
  Loop *loop = loop_over(w, &t);
  uint32_t value[COUNT(name)], out = 0;
  assert(n <= COUNT(name));
  loop->nin = n;
  loop->in = NEW_ARRAY(w->arena, Access, n);
  for (uint32_t i = 0; i < n; i++) {
    const Type *x = &d->wire.at[in[i]].type;
    if (x->rank) loop->in[i] = loop->out;
    value[i] = scalar_push(w, loop, (Scalar){.fn = FN_ARG, .base = x->base, .ref = i});
  }
  bool good = scalar_read(w, loop, text, name, value, n, &out);
  assert(good && out + 1 == loop->nscalar);
  (void)good;
  return box_loop(w, d, loop, in, n, t, origin);
}

Id wire_of_squares(World *w, Diagram *d, Id wire, Id origin) {
  Loop *loop = loop_over(w, &d->wire.at[wire].type);
  loop->nin = 1;
  loop->in = arena_copy(w->arena, &loop->out, sizeof loop->out);
  loop->out = (Access){0};
  uint32_t x = scalar_push(w, loop, (Scalar){.fn = FN_ARG, .base = BASE_R});
  scalar_fn(w, loop, FN_mul, x, x, 0);
  return box_loop(w, d, loop, &wire, 1, (Type){.base = BASE_R}, origin);
}

// -- matrices -------------------------------------------------------------------------------------
Type type_as_matrix(World *w, const Type *t) {
  Axis axis[2] = {{.size = size_of(w, 1)}, t->axis[t->rank - 1]};
  for (uint32_t i = 0; i + 1 < t->rank; i++)
    axis[0].size = size_mul(w, axis[0].size, t->axis[i].size);
  return type_make(w, (Base)t->base, 2, axis);
}

// A loop that writes the tensor, and where its cells are in the matrix.
static Loop *loop_of_matrix(World *w, const Type *t, Access *matrix) {
  Loop *loop = loop_over(w, t);
  Size stride = size_of(w, 1);
  Coord row = coord_const(w, size_of(w, 0));
  for (uint32_t i = t->rank - 1; i-- > 0;) {
    row = coord_add(w, row, stride, i, false);
    stride = size_mul(w, stride, t->axis[i].size);
  }
  Coord both[2] = {row, coord_index(w, t->rank - 1)};
  *matrix = (Access){.rank = 2, .coord = arena_copy(w->arena, both, sizeof both)};
  loop->nin = 1;
  loop->in = NEW(w->arena, Access);
  scalar_push(w, loop, (Scalar){.fn = FN_ARG, .base = t->base});
  return loop;
}

Id wire_as_matrix(World *w, Diagram *d, Id tensor, Id origin) {
  Access at;
  Type t = d->wire.at[tensor].type;
  Loop *loop = loop_of_matrix(w, &t, &at);
  loop->in[0] = loop->out;
  loop->out = at;
  return box_loop(w, d, loop, &tensor, 1, type_as_matrix(w, &t), origin);
}

Id wire_from_matrix(World *w, Diagram *d, Id matrix, Type t, Id origin) {
  Access at;
  Loop *loop = loop_of_matrix(w, &t, &at);
  loop->in[0] = at;
  return box_loop(w, d, loop, &matrix, 1, t, origin);
}
