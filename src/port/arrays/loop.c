// The general lowering of a loop: operands are broadcast to the iteration space, the body is
// computed elementwise, reduced indices are combined, and the result is stored in the layout of the
// output. known.c and window.c recognise loops that need fewer nodes.
#include "core/diagram/ops.h"
#include "port/arrays/arrays.h"

#include <math.h>

bool index_is_reduced(const LoopWork *l, uint32_t index) {
  for (uint32_t k = 0; k < l->kept; k++)
    if (l->order[k] == index) return false;
  return true;
}

static bool writes_by_label(const Loop *loop) {
  for (uint32_t k = 0; k < loop->out.rank; k++)
    for (uint32_t i = 0; i < loop->out.coord[k].n; i++)
      if (loop->out.coord[k].term[i].operand) return true;
  return false;
}

static void add_kept_index(LoopWork *l, uint32_t index) {
  bool there = arrays_is_one(l->o, l->loop->index[index].size);
  for (uint32_t k = 0; k < l->n; k++) there |= l->order[k] == index;
  if (!there) l->order[l->n++] = index;
}

// Orders the iteration space: kept indices in the order of the output, then reduced ones. If the
// output is written at labels (a scatter), nothing is reduced before it.
static void order_indices(LoopWork *l, const Type *out) {
  const Loop *loop = l->loop;
  uint32_t n, *index = NEW_ARRAY(l->o->a, uint32_t, loop->nindex + 1);
  l->order = NEW_ARRAY(l->o->a, uint32_t, loop->nindex + 1);
  for (uint32_t k = 0; k < loop->out.rank; k++) {
    const Coord *c = &loop->out.coord[k];
    bool counts = coord_counts(l, c, out->axis[k].size, &n, index);
    for (uint32_t i = 0; counts && i < n; i++) add_kept_index(l, index[i]);
    for (uint32_t i = 0; i < c->n; i++)
      if (!c->term[i].operand) add_kept_index(l, c->term[i].var);
  }
  l->kept = l->n;
  for (uint32_t i = 0; i < loop->nindex; i++) add_kept_index(l, i);
  if (writes_by_label(loop)) l->kept = l->n;
}

// -- points out of bounds -------------------------------------------------------------------------
static double identity_of(const Loop *loop, bool bits) {
  switch (loop->combine) {
  case SUM: return 0;
  case PROD: return 1;
  case MAX: return bits ? 0 : -INFINITY;
  default: return bits ? 1 : INFINITY;
  }
}

// Selects `value` where `live`, otherwise the number.
static Id select_where(ArrayGraph *o, Id live, Id value, double other) {
  OutType type = arrays_value(o, value)->type;
  if (!live) return value;
  if (type != OUT_BOOL)
    return arrays_each(o, "Where", type, 3,
                       (const Id[]){live, value, arrays_number(o, type, other)});
  if (other == 0) return arrays_each(o, "And", OUT_BOOL, 2, (const Id[]){live, value});
  Id dead = arrays_each(o, "Not", OUT_BOOL, 1, &live);
  return arrays_each(o, "Or", OUT_BOOL, 2, (const Id[]){dead, value});
}

static void place_operands(LoopWork *l) {
  for (uint32_t i = 0; i < l->loop->nin; i++) {
    Placed p;
    Id live;
    if (place_axes(l, i, &p)) {
      l->operand[i] = place_on_box(l, &p);
      live = p.live;
    } else {
      l->operand[i] = place_flat(l, i, &live);
    }
    if (l->loop->in[i].padded)
      l->operand[i] = select_where(l->o, live, l->operand[i], l->loop->in[i].pad);
    else
      mask_and(l, &l->live, live);
  }
}

// -- reducing -------------------------------------------------------------------------------------
// Makes a broadcast value as large as the last `n` indices of the iteration space.
static Id expand_to_space(LoopWork *l, Id value, uint32_t kept) {
  GraphValue v = *arrays_value(l->o, value);
  uint32_t reduced = l->n - kept, rank = v.rank > reduced ? v.rank : reduced;
  Size *dim = NEW_ARRAY(l->o->a, Size, rank + 1);
  for (uint32_t k = 0; k < rank; k++) {
    uint32_t at = l->n - rank + k; // in the iteration space
    dim[k] = at >= kept ? l->loop->index[l->order[at]].size : v.dim[k + v.rank - rank];
  }
  return arrays_expand(l->o, value, rank, dim);
}

static Id reduce_with(LoopWork *l, const char *op, Id value) {
  ArrayGraph *o = l->o;
  GraphValue v = *arrays_value(o, value);
  uint32_t n = l->n - l->kept;
  int64_t *axis = NEW_ARRAY(o->a, int64_t, n + 1);
  for (uint32_t i = 0; i < n; i++) axis[i] = (int64_t)i - n;
  v.rank -= n;
  Id made = arrays_node(o, op, 2, (const Id[]){value, arrays_list(o, n, axis)}, &v);
  arrays_attribute_number(o, made, "keepdims", 0);
  return made;
}

static Id reduced_bits(LoopWork *l, Id value) {
  ArrayGraph *o = l->o;
  static const char *const op[] = {
      [SUM] = "ReduceSum", [PROD] = "ReduceMin", [MAX] = "ReduceMax", [MIN] = "ReduceMin"};
  Id all = reduce_with(l, op[l->loop->combine], arrays_cast(o, value, OUT_INT64));
  if (l->loop->combine == SUM)
    all = arrays_each(o, "Mod", OUT_INT64, 2, (const Id[]){all, arrays_number(o, OUT_INT64, 2)});
  return arrays_cast(o, all, OUT_BOOL);
}

static Id combine_reduced(LoopWork *l, Id value) {
  static const char *const op[] = {
      [SUM] = "ReduceSum", [PROD] = "ReduceProd", [MAX] = "ReduceMax", [MIN] = "ReduceMin"};
  if (arrays_value(l->o, value)->type == OUT_BOOL) return reduced_bits(l, value);
  return reduce_with(l, op[l->loop->combine], value);
}

// -- argmax and argmin ----------------------------------------------------------------------------
// The flat index of the first extremum over all reduced indices.
static Id first_winner(LoopWork *l, Id value) {
  ArrayGraph *o = l->o;
  GraphValue v = *arrays_value(o, value);
  uint32_t n = l->n - l->kept, rank = v.rank - n + 1;
  Size *dim = NEW_ARRAY(o->a, Size, v.rank + 1);
  memcpy(dim, v.dim, v.rank * sizeof *dim);
  dim[rank - 1] = arrays_product(o, n, v.dim + rank - 1);
  Id row = arrays_reshape(o, arrays_cast(o, value, o->real), rank, dim);
  Id made = arrays_node(o, l->loop->combine == MAX ? "ArgMax" : "ArgMin", 1, &row,
                        &(GraphValue){.type = OUT_INT64, .rank = rank - 1, .dim = dim});
  arrays_attribute_number(o, made, "axis", -1);
  arrays_attribute_number(o, made, "keepdims", 0);
  return made;
}

static void put_winners(LoopWork *l, Id value, Id *of_wire) {
  ArrayGraph *o = l->o;
  uint32_t port = 1, at = l->kept, n = l->n;
  Id first = l->n > l->kept ? first_winner(l, value) : 0;
  for (uint32_t i = 0; i < l->loop->nindex; i++) {
    if (!loop_is_reduced(o->w, l->loop, i)) continue;
    Id winner = arrays_number(o, OUT_INT64, 0);
    if (first && at < n && l->order[at] == i) {
      Size behind = arrays_one(o);
      for (uint32_t k = at + 1; k < n; k++)
        behind = size_mul(o->w, behind, l->loop->index[l->order[k]].size);
      Id size = arrays_reshape(o, arrays_size(o, l->loop->index[i].size), 0, NULL);
      winner = first;
      if (!arrays_is_one(o, behind))
        winner = arrays_whole(o, "Div", winner, arrays_reshape(o, arrays_size(o, behind), 0, NULL));
      if (at > l->kept) winner = arrays_each(o, "Mod", OUT_INT64, 2, (const Id[]){winner, size});
      at++;
    }
    LoopWork small = *l;
    small.n = l->kept;
    of_wire[l->box->out[port++]] = put_output(&small, winner);
  }
}

// -- out ------------------------------------------------------------------------------------------
typedef struct {
  int64_t before, behind; // elements at both ends that no index writes
  uint32_t n, index[ARRAY_RANK_LIMIT];
} OutAxis;

static bool out_axis(LoopWork *l, const Coord *c, Size axis, OutAxis *to) {
  World *w = l->o->w;
  int64_t size, n, at;
  if (coord_counts(l, c, axis, &to->n, to->index)) return true;
  to->n = 0;
  if (!size_value(w, c->c, &at) || at < 0 || !size_value(w, axis, &size)) return false;
  for (uint32_t i = 0; i < c->n; i++) {
    if (c->term[i].operand || size_now(w, c->term[i].coef) != size_of(w, 1)) return false;
    if (!arrays_is_one(l->o, l->loop->index[c->term[i].var].size))
      to->index[to->n++] = c->term[i].var;
  }
  if (to->n > 1) return false;
  n = 1;
  if (to->n && !size_value(w, l->loop->index[to->index[0]].size, &n)) return false;
  to->before = at;
  to->behind = size - at - n;
  return to->behind >= 0;
}

// Each output axis has its own indices: merges their sizes and pads what is not written.
static Id put_axes(LoopWork *l, Id value, const Type *out) {
  ArrayGraph *o = l->o;
  OutAxis *axis = NEW_ARRAY(o->a, OutAxis, out->rank + 1);
  Size *dim = NEW_ARRAY(o->a, Size, out->rank + 1);
  bool *taken = NEW_ARRAY(o->a, bool, l->loop->nindex + 1);
  uint32_t at = 0;
  for (uint32_t k = 0; k < out->rank; k++) {
    if (!out_axis(l, &l->loop->out.coord[k], out->axis[k].size, &axis[k])) return 0;
    dim[k] = arrays_one(o);
    for (uint32_t i = 0; i < axis[k].n; i++) {
      uint32_t index = axis[k].index[i];
      if (taken[index] || at >= l->n || l->order[at++] != index) return 0;
      taken[index] = true;
      dim[k] = size_mul(o->w, dim[k], l->loop->index[index].size);
    }
  }
  if (at != l->n) return 0;
  value = arrays_reshape(o, value, out->rank, dim);
  double with = identity_of(l->loop, arrays_value(o, value)->type == OUT_BOOL);
  for (uint32_t k = 0; k < out->rank; k++)
    if (axis[k].before || axis[k].behind)
      value = arrays_pad(o, value, k, axis[k].before, axis[k].behind, with);
  return value;
}

// Scatter-add into a flat buffer by computed offsets; points out of bounds go to an extra cell at
// its end.
static Id put_row(LoopWork *l, Id value, const Type *out) {
  ArrayGraph *o = l->o;
  OutType type = arrays_value(o, value)->type;
  Size *dim = NEW_ARRAY(o->a, Size, out->rank + 1), *box = NEW_ARRAY(o->a, Size, l->n + 1);
  Id row = arrays_number(o, OUT_INT64, 0), live = 0;
  for (uint32_t k = 0; k < out->rank; k++) {
    const Coord *c = &l->loop->out.coord[k];
    dim[k] = out->axis[k].size;
    if (!coord_is_inside(l, c, dim[k])) mask_and(l, &live, coord_live(l, c, dim[k]));
    row = arrays_whole(o, "Mul", row, arrays_reshape(o, arrays_size(o, dim[k]), 0, NULL));
    row = arrays_whole(o, "Add", row, place_coord(l, c));
  }
  for (uint32_t k = 0; k < l->n; k++) box[k] = l->loop->index[l->order[k]].size;
  Size points = arrays_product(o, l->n, box), cells = arrays_product(o, out->rank, dim),
       more = size_add(o->w, cells, arrays_one(o));
  Id end = arrays_reshape(o, arrays_size(o, cells), 0, NULL);
  if (live) row = arrays_each(o, "Where", OUT_INT64, 3, (const Id[]){live, row, end});
  OutType sums = type == OUT_BOOL ? OUT_INT64 : type;
  Id at = arrays_reshape(o, arrays_expand(o, row, l->n, box), 1, &points);
  Id values = arrays_reshape(o, arrays_cast(o, value, sums), 1, &points);
  Id zeros = arrays_expand(o, arrays_number(o, sums, 0), 1, &more);
  Id all = arrays_node(o, "ScatterElements", 3, (const Id[]){zeros, at, values},
                       &(GraphValue){.type = sums, .rank = 1, .dim = &more});
  arrays_attribute_text(o, all, "reduction", "add");
  Id cut[] = {all, arrays_list(o, 1, (const int64_t[]){0}),
              arrays_list(o, 1, (const int64_t[]){-1})};
  all = arrays_node(o, "Slice", 3, cut, &(GraphValue){.type = sums, .rank = 1, .dim = &cells});
  if (type == OUT_BOOL)
    all = arrays_each(o, "Mod", OUT_INT64, 2, (const Id[]){all, arrays_number(o, OUT_INT64, 2)});
  return arrays_reshape(o, arrays_cast(o, all, type), out->rank, dim);
}

Id put_output(LoopWork *l, Id value) {
  ArrayGraph *o = l->o;
  const Type *out = &l->d->wire.at[l->box->out[0]].type;
  Size *box = NEW_ARRAY(o->a, Size, l->n + 1);
  for (uint32_t k = 0; k < l->n; k++) box[k] = l->loop->index[l->order[k]].size;
  value = arrays_expand(o, value, l->n, box);
  Id made = put_axes(l, value, out);
  return made ? made : put_row(l, value, out);
}

// -- the whole ------------------------------------------------------------------------------------
static bool winners_are_read(const Diagram *d, const Box *box) {
  for (uint32_t k = 1; k < box->nout; k++) {
    for (uint32_t i = 0; i < d->out.n; i++)
      if (d->out.at[i] == box->out[k]) return true;
    for (Id b = 1; b < d->box.n; b++)
      for (uint32_t i = 0; i < d->box.at[b].nin; i++)
        if (d->box.at[b].in[i] == box->out[k]) return true;
  }
  return false;
}

static Id lower_general(LoopWork *l, bool winners, Id *of_wire) {
  place_operands(l);
  for (uint32_t i = 0; l->n > l->kept && i < l->loop->out.rank; i++) {
    const Type *out = &l->d->wire.at[l->box->out[0]].type;
    const Coord *c = &l->loop->out.coord[i];
    if (!coord_is_inside(l, c, out->axis[i].size))
      mask_and(l, &l->live, coord_live(l, c, out->axis[i].size));
  }
  Id value = body_value(l);
  bool bits = arrays_value(l->o, value)->type == OUT_BOOL;
  value = select_where(l->o, l->live, value, identity_of(l->loop, bits));
  if (l->n > l->kept || winners) value = expand_to_space(l, value, l->kept);
  if (winners) put_winners(l, value, of_wire);
  if (l->n > l->kept) value = combine_reduced(l, value);
  l->n = l->kept;
  return put_output(l, value);
}

// Exporters with calls keep gradients: a loop that stops one must not become a plain product.
static bool has_stop(const Loop *loop) {
  for (uint32_t i = 0; i < loop->nscalar; i++)
    if (loop->scalar[i].fn == FN_stop || loop->scalar[i].fn == FN_through) return true;
  return false;
}

// Replaces bound size variables, so that sizes compare equal.
static const Loop *loop_now(ArrayGraph *o, const Loop *from) {
  Loop *loop = arena_copy(o->a, from, sizeof *from);
  loop->index = arena_copy(o->a, from->index, from->nindex * sizeof *from->index);
  for (uint32_t i = 0; i < loop->nindex; i++)
    loop->index[i].size = size_now(o->w, loop->index[i].size);
  return loop;
}

void arrays_loop(ArrayGraph *o, const Diagram *d, const Box *box, Id *of_wire) {
  const Loop *loop = loop_now(o, box->loop);
  const Type *out = &d->wire.at[box->out[0]].type;
  LoopWork l = {.o = o, .d = d, .box = box, .loop = loop};
  l.operand = NEW_ARRAY(o->a, Id, loop->nin + 1);
  l.in = NEW_ARRAY(o->a, Id, loop->nin + 1);
  for (uint32_t i = 0; i < loop->nin; i++) l.in[i] = of_wire[box->in[i]];
  order_indices(&l, out);
  bool winners = winners_are_read(d, box);
  bool as_is = winners || (o->calls && has_stop(loop));
  Id value = as_is ? 0 : known_window(&l);
  if (!value && !as_is) value = known_product(&l);
  if (!value) value = lower_general(&l, winners, of_wire);
  of_wire[box->out[0]] = value;
}
