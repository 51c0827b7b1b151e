// Parts of a row: a tensor that lies in a longer row of numbers, cell after cell, and the way back.
//
//   W[i j] = map row[offset + 512*i + j]          part of a row
//   row[512*i + j] = map W[i j]                   a tensor as a row
//
// Both move nothing: the engine may let one memory serve as both. So a part has its own
// loop, which simplify leaves alone, and is recognised by what it does.
#include "core/diagram/diagram.h"
#include "core/pass/pass.h"

// [axis] how far apart neighbours along it are; false when some size is not a number
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

// A loop over all cells of a tensor, which it writes; *row is the coordinate of each in a row that
// it begins at `offset`.
static Loop *loop_of_cells(World *w, const Type *t, int64_t offset, Access *row) {
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

Id wire_part(World *w, Diagram *d, Id row, int64_t offset, Type t, Name name, Id origin) {
  Access at;
  Loop *loop = loop_of_cells(w, &t, offset, &at);
  loop->in[0] = at;
  Id wire = box_loop(w, d, loop, &row, 1, t, origin);
  d->wire.at[wire].name = name;
  return wire;
}

Id wire_row(World *w, Diagram *d, Id tensor, Id origin) {
  const Type t = d->wire.at[tensor].type;
  int64_t *stride = NEW_ARRAY(w->arena, int64_t, t.rank), count;
  if (t.rank == 1 || !strides_of(w, &t, stride, &count)) return tensor;
  Access at;
  Loop *loop = loop_of_cells(w, &t, 0, &at);
  loop->in[0] = loop->out;
  loop->out = at;
  Type row = type_make(w, (Base)t.base, 1, &(Axis){.size = size_of(w, count)});
  return box_loop(w, d, loop, &tensor, 1, row, origin);
}

// Whether a loop goes over all cells of a tensor, and takes each to its place in a row of `length`.
static bool goes_by_cells(World *w, const Loop *loop, const Type *t, const Access *tensor,
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

bool box_is_part(World *w, const Diagram *d, const Box *b, int64_t *offset) {
  int64_t length;
  if (!only_copies(b)) return false;
  const Type *t = &d->wire.at[b->out[0]].type, *row = &d->wire.at[b->in[0]].type;
  return row->rank == 1 && size_value(w, row->axis[0].size, &length) &&
         goes_by_cells(w, b->loop, t, &b->loop->out, &b->loop->in[0], length, offset);
}
