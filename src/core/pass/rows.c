// A diagram on rows: the same on many values of some inputs at once. These get one more axis in
// front, and so does everything that follows from them; the rest is computed once for all rows, and
// so is noise. No row sees another.
//
//   loop          one more index, which is a coordinate of the output and of each operand with rows
//   join, order   all operands with rows, one axis further on
//   scan          a body on rows. A carry has rows if it starts with them or becomes so; a slice has
//                 its rows behind the position, and what is emitted is turned back
//   call          is inlined if it is given rows
#include "core/pass/pass.h"
#include "core/pass/rewrite.h"

typedef struct {
  World *w;
  const Diagram *from;
  Diagram *to;
  Id *map;
  bool *rows; // [wire of from]
  Index axis;
} Rowing;

static Type type_with(World *w, Type t, const Index *first) {
  Axis *axis = NEW_ARRAY(w->arena, Axis, t.rank + 1);
  axis[0] = (Axis){.label = first->name, .size = first->size};
  if (t.rank) memcpy(axis + 1, t.axis, t.rank * sizeof(Axis));
  t.axis = axis;
  t.rank++;
  return t;
}

// A wire of `to` with its axes in another order: axis i of the result is axis order[i], or is new.
static Id turned(const Rowing *k, Id wire, Type t, const uint32_t *order, uint32_t rank) {
  Loop *loop = loop_over(k->w, &t);
  uint32_t *index = NEW_ARRAY(k->w->arena, uint32_t, rank + 1);
  for (uint32_t i = 0; i < t.rank; i++)
    if (order[i] < rank) index[order[i]] = i;
  loop->nin = 1;
  loop->in = NEW(k->w->arena, Access);
  loop->in[0] = access_plain(k->w, rank, index);
  scalar_push(k->w, loop, (Scalar){.fn = FN_ARG, .base = t.base});
  return box_loop_shared(k->w, k->to, loop, &wire, 1, t, k->to->wire.at[wire].origin);
}

// The wire with rows, whether or not they differ.
static Id in_rows(const Rowing *k, Id wire) {
  if (k->rows[wire]) return k->map[wire];
  const Type *t = &k->from->wire.at[wire].type;
  uint32_t *order = NEW_ARRAY(k->w->arena, uint32_t, t->rank + 1);
  order[0] = UINT32_MAX;
  for (uint32_t i = 0; i < t->rank; i++) order[i + 1] = i;
  return turned(k, k->map[wire], type_with(k->w, *t, &k->axis), order, t->rank);
}

// [t r …] from [r t …], and back
static Id exchanged(const Rowing *k, Id wire) {
  Type t = k->to->wire.at[wire].type;
  uint32_t *order = NEW_ARRAY(k->w->arena, uint32_t, t.rank);
  t.axis = arena_copy(k->w->arena, t.axis, t.rank * sizeof(Axis));
  for (uint32_t i = 0; i < t.rank; i++) order[i] = i < 2 ? 1 - i : i;
  Axis first = t.axis[0];
  t.axis[0] = t.axis[1], t.axis[1] = first;
  return turned(k, wire, t, order, t.rank);
}

static Access with_row(World *w, const Access *old, uint32_t index) {
  Access a = *old;
  a.rank++;
  a.coord = NEW_ARRAY(w->arena, Coord, a.rank);
  a.coord[0] = coord_index(w, index);
  if (old->rank) memcpy(a.coord + 1, old->coord, old->rank * sizeof(Coord));
  return a;
}

// The index of the rows is the last one: cells are still combined in the order they were.
static Id rows_loop(const Rowing *k, const Box *b, const Id *in) {
  Loop *loop = loop_copy(k->w, b->loop);
  uint32_t index = loop->nindex++;
  loop->index = NEW_ARRAY(k->w->arena, Index, loop->nindex);
  if (index) memcpy(loop->index, b->loop->index, index * sizeof(Index));
  loop->index[index] = k->axis;
  for (uint32_t i = 0; i < loop->nin; i++)
    if (k->rows[b->in[i]]) loop->in[i] = with_row(k->w, &loop->in[i], index);
  loop->out = with_row(k->w, &loop->out, index);
  Type t = type_with(k->w, k->from->wire.at[b->out[0]].type, &k->axis);
  return box_loop_shared(k->w, k->to, loop, in, b->nin, t, b->origin);
}

static Diagram *rows_of(World *, const Diagram *, const bool *given, const bool *wanted, Index,
                        bool *rows_out);

// Which carries have rows, given that the inputs of the scan do.
static Diagram *rows_body(const Rowing *k, const Box *b, bool *given, bool *out) {
  const Scan *s = b->scan;
  Diagram *body = NULL;
  bool *wanted = NEW_ARRAY(k->w->arena, bool, b->nout);
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < s->carry; i++) wanted[i] = given[s->slice + i];
    body = rows_of(k->w, s->body, given, wanted, k->axis, out);
    for (uint32_t i = 0; i < s->carry; i++)
      if (out[i] && !wanted[i]) given[s->slice + i] = more = true;
  }
  return body;
}

static void rows_scan(Rowing *k, const Box *b) {
  World *w = k->w;
  Scan scan = *b->scan;
  bool *given = NEW_ARRAY(w->arena, bool, b->nin), *out = NEW_ARRAY(w->arena, bool, b->nout);
  Id *in = NEW_ARRAY(w->arena, Id, b->nin);
  for (uint32_t i = 0; i < b->nin; i++) given[i] = k->rows[b->in[i]];
  scan.body = rows_body(k, b, given, out);
  for (uint32_t i = 0; i < b->nin; i++) {
    in[i] = given[i] ? in_rows(k, b->in[i]) : k->map[b->in[i]];
    if (given[i] && i < scan.slice) in[i] = exchanged(k, in[i]);
  }
  Id first = box_scan(w, k->to, &scan, in, b->nin, b->origin);
  for (uint32_t i = 0; i < b->nout; i++) {
    k->rows[b->out[i]] = out[i];
    k->map[b->out[i]] = out[i] && i >= scan.carry ? exchanged(k, first + i) : first + i;
  }
}

static void rows_box(Rowing *k, const Box *b) {
  bool any = false;
  for (uint32_t i = 0; i < b->nin; i++) any |= k->rows[b->in[i]];
  if (!any) {
    copy_box(k->w, k->to, k->from, b, k->map, b->origin);
    return;
  }
  if (b->op == OP_scan) {
    rows_scan(k, b);
    return;
  }
  Id *in = NEW_ARRAY(k->w->arena, Id, b->nin);
  for (uint32_t i = 0; i < b->nin; i++)
    in[i] = b->op == OP_loop ? k->map[b->in[i]] : in_rows(k, b->in[i]);
  Id first = b->op == OP_loop   ? rows_loop(k, b, in)
             : b->op == OP_join ? box_join(k->w, k->to, b->axis + 1, in, b->nin, b->origin)
                                : box_order(k->w, k->to, b->axis + 1, in[0], b->origin);
  for (uint32_t i = 0; i < b->nout; i++) {
    const Wire *x = &k->from->wire.at[b->out[i]];
    k->map[b->out[i]] = first + i;
    k->rows[b->out[i]] = true;
    k->to->wire.at[first + i].type = type_with(k->w, x->type, &k->axis);
    k->to->wire.at[first + i].name = x->name;
  }
}

// given: [input, then param] has rows; wanted: [output] shall have them; rows_out: has them.
static Diagram *rows_of(World *w, const Diagram *d, const bool *given, const bool *wanted,
                        Index axis, bool *rows_out) {
  Rowing k = {
      w, d, diagram_new(w, d->name), new_map(w, d), NEW_ARRAY(w->arena, bool, d->wire.n + 1), axis};
  k.to->origin = d->origin;
  k.to->noisy = d->noisy;
  copy_inputs(w, k.to, d, k.map);
  copy_params(w, k.to, d, k.map);
  for (uint32_t i = 0; i < d->in.n + d->param.n; i++) {
    Id wire = diagram_source(d, i);
    if (!given[i]) continue;
    k.rows[wire] = true;
    k.to->wire.at[k.map[wire]].type = type_with(w, d->wire.at[wire].type, &axis);
  }
  for (Id i = 1; i < d->box.n; i++) rows_box(&k, &d->box.at[i]);
  for (uint32_t i = 0; i < d->out.n; i++) {
    rows_out[i] = wanted[i] || k.rows[d->out.at[i]];
    Id wire = rows_out[i] ? in_rows(&k, d->out.at[i]) : k.map[d->out.at[i]];
    diagram_output_as(w, k.to, wire, diagram_output_name(d, i));
  }
  copy_nexts(k.to, d, k.map);
  return k.to;
}

static bool calls_something(const Diagram *d) {
  for (Id i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    if (b->op == OP_call || (b->op == OP_scan && calls_something(b->scan->body))) return true;
  }
  return false;
}

Diagram *diagram_rows(World *w, const Diagram *d, const bool *given, Index axis) {
  if (calls_something(d)) d = diagram_inline_all(w, d);
  bool *source = NEW_ARRAY(w->arena, bool, d->in.n + d->param.n + 1),
       *wanted = NEW_ARRAY(w->arena, bool, d->out.n + 1),
       *out = NEW_ARRAY(w->arena, bool, d->out.n + 1);
  memcpy(source, given, d->in.n * sizeof(bool));
  for (uint32_t i = 0; i < d->out.n; i++) wanted[i] = true;
  return rows_of(w, d, source, wanted, axis, out);
}
