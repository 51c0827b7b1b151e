// Restricts a scan to one position of an axis along which its body works independently.
//
// The members of a family of machines are one scan, whose body computes all members side by side.
// The axis is propagated through the body in both directions, between wires and the index at their
// coordinate, until a fixed point is reached. The scan can be cut if every box is uniform and
// independent along the axis: no reduction over it, no access to another position, no use of the
// position's value, and each carry has the same axis before and after a step. The result is the
// same scan with this axis of size 1.
#include "core/diagram/ops.h"
#include "core/pass/cyclic.h"

struct BodyCut {
  World *w;
  const Scan *scan;
  int32_t *axis;          // [wire of the body] the axis; -1: none
  struct BodyCut **scans; // [box of the body] for a nested scan
  bool changed, bad;
};

// -- propagation of the axis ----------------------------------------------------------------------
static void set_axis(BodyCut *c, Id wire, int32_t axis) {
  if (c->axis[wire] == axis) return;
  c->bad |= c->axis[wire] >= 0;
  c->axis[wire] = axis;
  c->changed = true;
}

// The index that alone makes up this coordinate and runs over the whole axis; -1: none.
static int32_t index_of(const BodyCut *c, const Loop *l, const Access *a, Id wire) {
  uint32_t index, axis = (uint32_t)c->axis[wire];
  const Type *t = &c->scan->body->wire.at[wire].type;
  if (!coord_is_plain(c->w, &a->coord[axis], &index) || access_axis(a, index) != (int32_t)axis)
    return -1;
  bool all = size_now(c->w, l->index[index].size) == size_now(c->w, t->axis[axis].size);
  return all ? (int32_t)index : -1;
}

// The index along which the loop is cut; -1: none, an error if one of its wires is cut.
static int32_t loop_index(BodyCut *c, const Box *b) {
  int32_t index = -1;
  bool cut = false;
  for (uint32_t i = 0; i < b->nout; i++)
    if (c->axis[b->out[i]] >= 0) cut = true, index = index_of(c, b->loop, &b->loop->out, b->out[i]);
  for (uint32_t i = 0; i < b->nin && index < 0; i++)
    if (c->axis[b->in[i]] >= 0) cut = true, index = index_of(c, b->loop, &b->loop->in[i], b->in[i]);
  c->bad |= cut && index < 0;
  return index;
}

static void follow_access(BodyCut *c, const Loop *l, const Access *a, Id wire, uint32_t index) {
  int32_t axis = access_axis(a, index);
  c->bad |= axis == -2 || (axis == -1 && c->axis[wire] >= 0);
  if (axis < 0 || c->bad) return;
  set_axis(c, wire, axis);
  c->bad |= index_of(c, l, a, wire) != (int32_t)index;
}

static void follow_loop(BodyCut *c, const Box *b) {
  const Loop *l = b->loop;
  int32_t index = loop_index(c, b);
  if (index < 0) return;
  c->bad |= access_axis(&l->out, (uint32_t)index) < 0;
  for (uint32_t i = 0; i < l->nscalar; i++)
    c->bad |= l->scalar[i].fn == FN_AT && l->scalar[i].ref == (uint32_t)index;
  for (uint32_t i = 0; i < b->nout; i++) follow_access(c, l, &l->out, b->out[i], (uint32_t)index);
  for (uint32_t i = 0; i < b->nin; i++) follow_access(c, l, &l->in[i], b->in[i], (uint32_t)index);
}

static Id a_cut_wire(const BodyCut *c, const Box *b) {
  for (uint32_t i = 0; i < b->nout; i++)
    if (c->axis[b->out[i]] >= 0) return b->out[i];
  for (uint32_t i = 0; i < b->nin; i++)
    if (c->axis[b->in[i]] >= 0) return b->in[i];
  return 0;
}

static void follow_join(BodyCut *c, const Box *b) {
  Id wire = a_cut_wire(c, b);
  if (!wire) return;
  int32_t axis = c->axis[wire];
  c->bad |= axis == (int32_t)b->axis;
  for (uint32_t i = 0; i < b->nout; i++) set_axis(c, b->out[i], axis);
  for (uint32_t i = 0; i < b->nin; i++) set_axis(c, b->in[i], axis);
}

static BodyCut *cut_body(World *, const Scan *, Id wire, int32_t axis);

static void follow_scan(BodyCut *c, Id box) {
  const Box *b = &c->scan->body->box.at[box];
  Id wire = a_cut_wire(c, b);
  if (!wire) return;
  for (uint32_t i = 0; i < b->nout && !c->scans[box]; i++)
    if (b->out[i] == wire) c->scans[box] = scan_cut(c->w, b->scan, i, c->axis[wire]);
  for (uint32_t i = 0; i < b->nin && !c->scans[box]; i++)
    if (b->in[i] == wire && i < b->scan->body->in.n)
      c->scans[box] =
          cut_body(c->w, b->scan, b->scan->body->in.at[i], c->axis[wire] - (i < b->scan->slice));
  c->bad |= !c->scans[box];
  for (uint32_t i = 0; i < b->nout && !c->bad; i++)
    set_axis(c, b->out[i], scan_cut_out(c->scans[box], i));
  for (uint32_t i = 0; i < b->nin && !c->bad; i++) {
    int32_t axis = scan_cut_in(c->scans[box], i);
    if (axis >= 0)
      set_axis(c, b->in[i], axis);
    else
      c->bad |= c->axis[b->in[i]] >= 0;
  }
}

static void follow_boxes(BodyCut *c) {
  const Diagram *d = c->scan->body;
  for (Id box = d->box.n; box-- > 1 && !c->bad;) {
    const Box *b = &d->box.at[box];
    switch (b->op) {
    case OP_loop: follow_loop(c, b); break;
    case OP_join:
    case OP_order: follow_join(c, b); break;
    case OP_scan: follow_scan(c, box); break;
    default: c->bad |= a_cut_wire(c, b) != 0; break;
    }
  }
}

static void follow_carries(BodyCut *c) {
  const Diagram *d = c->scan->body;
  for (uint32_t i = 0; i < c->scan->carry; i++) {
    Id in = d->in.at[c->scan->slice + i], out = d->out.at[i];
    if (c->axis[in] >= 0) set_axis(c, out, c->axis[in]);
    if (c->axis[out] >= 0) set_axis(c, in, c->axis[out]);
  }
}

// Starts at one wire of the body; NULL: the positions are not independent.
static BodyCut *cut_body(World *w, const Scan *scan, Id wire, int32_t axis) {
  const Diagram *d = scan->body;
  BodyCut *c = NEW(w->arena, BodyCut);
  if (axis < 0) return NULL;
  *c = (BodyCut){.w = w, .scan = scan};
  c->axis = NEW_ARRAY(w->arena, int32_t, d->wire.n);
  c->scans = NEW_ARRAY(w->arena, BodyCut *, d->box.n + 1);
  for (Id i = 0; i < d->wire.n; i++) c->axis[i] = -1;
  set_axis(c, wire, axis);
  while (c->changed && !c->bad) {
    c->changed = false;
    follow_boxes(c);
    follow_carries(c);
  }
  for (uint32_t i = 0; i < d->param.n; i++) c->bad |= c->axis[d->param.at[i].wire] >= 0;
  for (uint32_t i = 0; i < d->out.n; i++) c->bad |= c->axis[d->out.at[i]] < 0;
  return c->bad ? NULL : c;
}

BodyCut *scan_cut(World *w, const Scan *scan, uint32_t port, int32_t axis) {
  return cut_body(w, scan, scan->body->out.at[port], axis - (port >= scan->carry));
}

int32_t scan_cut_out(const BodyCut *c, uint32_t port) {
  return c->axis[c->scan->body->out.at[port]] + (port >= c->scan->carry);
}

int32_t scan_cut_in(const BodyCut *c, uint32_t port) {
  const Diagram *d = c->scan->body;
  if (port >= d->in.n || c->axis[d->in.at[port]] < 0) return -1;
  return c->axis[d->in.at[port]] + (port < c->scan->slice);
}

// -- one element ----------------------------------------------------------------------------------
Type type_of_one(World *w, Type t, int32_t axis) {
  if (axis < 0) return t;
  t.axis = arena_copy(w->arena, t.axis, t.rank * sizeof(Axis));
  t.axis[axis].size = size_of(w, 1);
  return t;
}

static void one_box(BodyCut *c, Diagram *to, Id box, Id *map) {
  World *w = c->w;
  const Diagram *from = c->scan->body;
  Box b = from->box.at[box];
  if (b.op == OP_loop) {
    int32_t index = loop_index(c, &b);
    b.loop = loop_copy(w, b.loop);
    if (index >= 0) b.loop->index[index].size = size_of(w, 1);
  }
  if (b.op == OP_scan && c->scans[box]) b.scan = scan_of_one(c->scans[box]);
  copy_box(w, to, from, &b, map, b.origin);
  for (uint32_t i = 0; i < b.nout; i++) {
    Wire *x = &to->wire.at[map[b.out[i]]];
    x->type = type_of_one(w, from->wire.at[b.out[i]].type, c->axis[b.out[i]]);
  }
}

Scan *scan_of_one(BodyCut *c) {
  World *w = c->w;
  const Diagram *from = c->scan->body;
  Id *map;
  Diagram *to = copy_begin(w, from, &map);
  Scan *out = arena_copy(w->arena, c->scan, sizeof *out);
  for (uint32_t i = 0; i < from->in.n; i++) {
    Id wire = from->in.at[i];
    to->wire.at[map[wire]].type = type_of_one(w, from->wire.at[wire].type, c->axis[wire]);
  }
  for (Id box = 1; box < from->box.n; box++) one_box(c, to, box, map);
  out->body = copy_end(w, to, from, map);
  return out;
}
