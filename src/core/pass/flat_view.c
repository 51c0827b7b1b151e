// Tensors stored in a flat buffer, row-major from an offset, and the flattening of a tensor.
//
//   W[i j] = map row[offset + 512*i + j]          a view of a flat buffer
//   row[512*i + j] = map W[i j]                   a flattened tensor
//
// Both may alias their operand: the engine can use one memory for both. simplify therefore leaves
// such a loop alone; it is recognised by its accesses.
#include "core/diagram/diagram.h"
#include "core/diagram/each.h"
#include "core/diagram/ops.h"
#include "core/pass/pass.h"

// [axis] the stride in elements; false if some size is not constant.
static bool strides_of(World *w, const Type *t, int64_t *stride, int64_t *count) {
  int64_t n = 1, size;
  for (uint32_t i = t->rank; i-- > 0;) {
    stride[i] = n;
    if (!size_value(w, t->axis[i].size, &size) || size < 0) return false;
    if (size && n > INT64_MAX / size) return false;
    n *= size;
  }
  *count = n;
  return true;
}

// An element-wise loop over a tensor; *row is the affine coordinate of each element in a flat
// buffer in which the tensor starts at `offset`.
static Loop *flat_loop(World *w, const Type *t, int64_t offset, Access *row) {
  Loop *loop = loop_over(w, t);
  int64_t *stride = NEW_ARRAY(w->arena, int64_t, t->rank), count;
  strides_of(w, t, stride, &count);
  Coord c = coord_const(w, size_of(w, offset));
  for (uint32_t i = 0; i < t->rank; i++) c = coord_add(w, c, size_of(w, stride[i]), i, false);
  *row = (Access){.rank = 1, .coord = arena_copy(w->arena, &c, sizeof c)};
  loop->nin = 1;
  loop->in = NEW(w->arena, Access);
  scalar_push(w, loop, (Scalar){.fn = FN_ARG, .base = t->base});
  return loop;
}

Id wire_view(World *w, Diagram *d, Id row, int64_t offset, Type t, Name name, Id origin) {
  Access at;
  Loop *loop = flat_loop(w, &t, offset, &at);
  loop->in[0] = at;
  Id wire = box_loop(w, d, loop, &row, 1, t, origin);
  d->wire.at[wire].name = name;
  return wire;
}

Id wire_flatten(World *w, Diagram *d, Id tensor, Id origin) {
  const Type t = d->wire.at[tensor].type;
  int64_t *stride = NEW_ARRAY(w->arena, int64_t, t.rank), count;
  if (t.rank == 1 || !strides_of(w, &t, stride, &count)) return tensor;
  Access at;
  Loop *loop = flat_loop(w, &t, 0, &at);
  loop->in[0] = loop->out;
  loop->out = at;
  Type row = type_make(w, (Base)t.base, 1, &(Axis){.size = size_of(w, count)});
  return box_loop(w, d, loop, &tensor, 1, row, origin);
}

// True if the loop copies between a tensor and a flat buffer of `length` elements, row-major from
// *offset.
static bool copies_flat(World *w, const Loop *loop, const Type *t, const Access *tensor,
                        const Access *row, int64_t length, int64_t *offset) {
  int64_t few[8], *stride = t->rank <= COUNT(few) ? few : NEW_ARRAY(w->arena, int64_t, t->rank);
  int64_t count, size, coef;
  uint32_t index, found = 0, wanted = 0;
  if (loop->nindex != t->rank || !strides_of(w, t, stride, &count)) return false;
  for (uint32_t i = 0; i < t->rank; i++) {
    if (!coord_is_plain(w, &tensor->coord[i], &index) || index != i ||
        size_now(w, loop->index[i].size) != size_now(w, t->axis[i].size))
      return false;
    wanted += size_value(w, t->axis[i].size, &size) && size != 1;
  }
  const Coord *c = &row->coord[0];
  if (!size_value(w, c->c, offset) || *offset < 0 || *offset > length - count) return false;
  for (uint32_t k = 0; k < c->n; k++) {
    const Term *term = &c->term[k];
    if (term->operand || !size_value(w, term->coef, &coef) || coef != stride[term->var])
      return false;
    found += size_value(w, t->axis[term->var].size, &size) && size != 1;
  }
  return found == wanted;
}

static bool only_copies(const Box *b) {
  const Loop *loop = b->loop;
  return b->op == OP_loop && b->nin == 1 && b->nout == 1 && loop->combine == SUM &&
         loop->nscalar == 1 && loop->scalar[0].fn == FN_ARG && !loop->in[0].padded;
}

bool box_is_view(World *w, const Diagram *d, const Box *b, int64_t *offset) {
  int64_t length;
  if (!only_copies(b)) return false;
  const Type *t = &d->wire.at[b->out[0]].type, *row = &d->wire.at[b->in[0]].type;
  return row->rank == 1 && size_value(w, row->axis[0].size, &length) &&
         copies_flat(w, b->loop, t, &b->loop->out, &b->loop->in[0], length, offset);
}
