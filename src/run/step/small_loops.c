// Small loops that steps are built of: reshapes between tensors and matrices.
#include "core/diagram/each.h"
#include "core/diagram/ops.h"
#include "run/step/step_own.h"

// -- matrices -------------------------------------------------------------------------------------
Type type_as_matrix(World *w, const Type *t) {
  Axis axis[2] = {{.size = size_of(w, 1)}, t->axis[t->rank - 1]};
  for (uint32_t i = 0; i + 1 < t->rank; i++)
    axis[0].size = size_mul(w, axis[0].size, t->axis[i].size);
  return type_make(w, (Base)t->base, 2, axis);
}

// A loop over the cells of a tensor; *matrix: the access to the same cell in the matrix.
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
