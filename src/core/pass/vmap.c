// Vectorisation (vmap): one more axis in front of some inputs and of everything that depends on
// them. Other values, and noise, are computed once and shared by the batch.
//
//   loop          one more index, a coordinate of the output and of each batched operand
//   join, order   all operands batched, the axis moved by one
//   scan          the body vectorised. A carry is batched if its initial or its next value is (a fixed
//                 point); a slice has the batch axis after the position, an emitted wire is transposed
//                 back
//   call          inlined if an argument is batched
#include "core/diagram/each.h"
#include "core/diagram/ops.h"
#include "core/pass/pass.h"
#include "core/pass/rewrite.h"

typedef struct {
  World *w;
  const Diagram *from;
  Diagram *to;
  Id *map;
  bool *batched; // [wire of from]
  Index axis;
} Vmap;

// Transposes a wire of `to`: axis i of the result is axis order[i] of the wire, or new if order[i]
// >= rank.
static Id transposed(const Vmap *k, Id wire, Type t, const uint32_t *order, uint32_t rank) {
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

// The batched wire; an unbatched one is broadcast.
static Id batched_wire(const Vmap *k, Id wire) {
  if (k->batched[wire]) return k->map[wire];
  const Type *t = &k->from->wire.at[wire].type;
  uint32_t *order = NEW_ARRAY(k->w->arena, uint32_t, t->rank + 1);
  order[0] = UINT32_MAX;
  for (uint32_t i = 0; i < t->rank; i++) order[i + 1] = i;
  return transposed(k, k->map[wire], type_along(k->w, *t, &k->axis), order, t->rank);
}

// Exchanges the first two axes.
static Id swap_first_axes(const Vmap *k, Id wire) {
  Type t = k->to->wire.at[wire].type;
  uint32_t *order = NEW_ARRAY(k->w->arena, uint32_t, t.rank);
  t.axis = arena_copy(k->w->arena, t.axis, t.rank * sizeof(Axis));
  for (uint32_t i = 0; i < t.rank; i++) order[i] = i < 2 ? 1 - i : i;
  Axis first = t.axis[0];
  t.axis[0] = t.axis[1], t.axis[1] = first;
  return transposed(k, wire, t, order, t.rank);
}

static Access with_batch_index(World *w, const Access *old, uint32_t index) {
  Access a = *old;
  a.rank++;
  a.coord = NEW_ARRAY(w->arena, Coord, a.rank);
  a.coord[0] = coord_index(w, index);
  if (old->rank) memcpy(a.coord + 1, old->coord, old->rank * sizeof(Coord));
  return a;
}

// The batch index is the last one, so values are still combined in the same order.
static Id vmap_loop(const Vmap *k, const Box *b, const Id *in) {
  Loop *loop = loop_copy(k->w, b->loop);
  uint32_t index = loop->nindex++;
  loop->index = NEW_ARRAY(k->w->arena, Index, loop->nindex);
  if (index) memcpy(loop->index, b->loop->index, index * sizeof(Index));
  loop->index[index] = k->axis;
  for (uint32_t i = 0; i < loop->nin; i++)
    if (k->batched[b->in[i]]) loop->in[i] = with_batch_index(k->w, &loop->in[i], index);
  loop->out = with_batch_index(k->w, &loop->out, index);
  Type t = type_along(k->w, k->from->wire.at[b->out[0]].type, &k->axis);
  return box_loop_shared(k->w, k->to, loop, in, b->nin, t, b->origin);
}

static Diagram *vmap_diagram(World *, const Diagram *, const bool *given, const bool *wanted, Index,
                             bool *batched_out);

// Finds the batched carries as a fixed point, and vectorises the body.
static Diagram *vmap_body(const Vmap *k, const Box *b, bool *given, bool *out) {
  const Scan *s = b->scan;
  Diagram *body = NULL;
  bool *wanted = NEW_ARRAY(k->w->arena, bool, b->nout);
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < s->carry; i++) wanted[i] = given[s->slice + i];
    body = vmap_diagram(k->w, s->body, given, wanted, k->axis, out);
    for (uint32_t i = 0; i < s->carry; i++)
      if (out[i] && !wanted[i]) given[s->slice + i] = more = true;
  }
  return body;
}

static void vmap_scan(Vmap *k, const Box *b) {
  World *w = k->w;
  Scan scan = *b->scan;
  bool *given = NEW_ARRAY(w->arena, bool, b->nin), *out = NEW_ARRAY(w->arena, bool, b->nout);
  Id *in = NEW_ARRAY(w->arena, Id, b->nin);
  for (uint32_t i = 0; i < b->nin; i++) given[i] = k->batched[b->in[i]];
  scan.body = vmap_body(k, b, given, out);
  for (uint32_t i = 0; i < b->nin; i++) {
    in[i] = given[i] ? batched_wire(k, b->in[i]) : k->map[b->in[i]];
    if (given[i] && i < scan.slice) in[i] = swap_first_axes(k, in[i]);
  }
  Id first = box_scan(w, k->to, &scan, in, b->nin, b->origin);
  for (uint32_t i = 0; i < b->nout; i++) {
    k->batched[b->out[i]] = out[i];
    k->map[b->out[i]] = out[i] && i >= scan.carry ? swap_first_axes(k, first + i) : first + i;
  }
}

static void vmap_box(Vmap *k, const Box *b) {
  bool any = false;
  for (uint32_t i = 0; i < b->nin; i++) any |= k->batched[b->in[i]];
  if (!any) {
    copy_box(k->w, k->to, k->from, b, k->map, b->origin);
    return;
  }
  if (b->op == OP_scan) {
    vmap_scan(k, b);
    return;
  }
  Id *in = NEW_ARRAY(k->w->arena, Id, b->nin);
  for (uint32_t i = 0; i < b->nin; i++)
    in[i] = b->op == OP_loop ? k->map[b->in[i]] : batched_wire(k, b->in[i]);
  Id first = b->op == OP_loop   ? vmap_loop(k, b, in)
             : b->op == OP_join ? box_join(k->w, k->to, b->axis + 1, in, b->nin, b->origin)
                                : box_order(k->w, k->to, b->axis + 1, in[0], b->origin);
  for (uint32_t i = 0; i < b->nout; i++) {
    const Wire *x = &k->from->wire.at[b->out[i]];
    k->map[b->out[i]] = first + i;
    k->batched[b->out[i]] = true;
    k->to->wire.at[first + i].type = type_along(k->w, x->type, &k->axis);
    k->to->wire.at[first + i].name = x->name;
  }
}

// given: [input, then param] batched; wanted: [output] must be batched; batched_out: [output] is
// batched.
static Diagram *vmap_diagram(World *w, const Diagram *d, const bool *given, const bool *wanted,
                             Index axis, bool *batched_out) {
  Vmap k = {.w = w, .from = d, .axis = axis, .batched = NEW_ARRAY(w->arena, bool, d->wire.n + 1)};
  k.to = copy_begin(w, d, &k.map);
  k.to->noisy = d->noisy;
  for (uint32_t i = 0; i < d->in.n + d->param.n; i++) {
    Id wire = diagram_source(d, i);
    if (!given[i]) continue;
    k.batched[wire] = true;
    k.to->wire.at[k.map[wire]].type = type_along(w, d->wire.at[wire].type, &axis);
  }
  for (Id i = 1; i < d->box.n; i++) vmap_box(&k, &d->box.at[i]);
  for (uint32_t i = 0; i < d->out.n; i++) {
    batched_out[i] = wanted[i] || k.batched[d->out.at[i]];
    Id wire = batched_out[i] ? batched_wire(&k, d->out.at[i]) : k.map[d->out.at[i]];
    diagram_output_as(w, k.to, wire, diagram_output_name(d, i));
  }
  copy_nexts(k.to, d, k.map);
  return k.to;
}

bool has_calls(const Diagram *d) {
  for (Id i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    if (b->op == OP_call || (b->op == OP_scan && has_calls(b->scan->body))) return true;
  }
  return false;
}

Diagram *diagram_vmap(World *w, const Diagram *d, const bool *given, Index axis) {
  if (has_calls(d)) d = diagram_inline_all(w, d);
  bool *source = NEW_ARRAY(w->arena, bool, d->in.n + d->param.n + 1),
       *wanted = NEW_ARRAY(w->arena, bool, d->out.n + 1),
       *out = NEW_ARRAY(w->arena, bool, d->out.n + 1);
  memcpy(source, given, d->in.n * sizeof(bool));
  for (uint32_t i = 0; i < d->out.n; i++) wanted[i] = true;
  return vmap_diagram(w, d, source, wanted, axis, out);
}
