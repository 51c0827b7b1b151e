// Propagates an axis through the boxes of a cycle: from a loop's output to the index at that
// coordinate, from the index to the axes at which operands are read, and so on. Wires that cannot
// be cut stay whole.
#include "core/pass/cyclic.h"

bool in_cycle(const CyclicCut *c, Id wire) {
  Id box = c->k->d->wire.at[wire].box;
  return box && c->inside[box];
}

static bool coord_has_index(const Coord *c, uint32_t index) {
  for (uint32_t i = 0; i < c->n; i++)
    if (!c->term[i].operand && c->term[i].var == index) return true;
  return false;
}

int32_t access_axis(const Access *a, uint32_t index) {
  int32_t found = -1;
  for (uint32_t i = 0; i < a->rank; i++)
    if (coord_has_index(&a->coord[i], index)) found = found == -1 ? (int32_t)i : -2;
  return found;
}

// A join that only reassembles elements that were cut before: cutting it again makes no progress.
static bool is_of_pieces(const CyclicCut *c, const Box *join) {
  for (uint32_t i = 0; i < join->nin; i++) {
    const Type *t = &c->k->d->wire.at[join->in[i]].type;
    if (size_now(c->w, t->axis[join->axis].size) != size_of(c->w, 1)) return false;
  }
  return true;
}

// The index that alone makes up the output coordinate of this axis and runs over the whole axis;
// -1: none.
static int32_t index_at(const CyclicCut *c, const Box *b, uint32_t axis) {
  uint32_t index;
  const Type *t = &c->k->d->wire.at[b->out[0]].type;
  if (b->op == OP_order) return axis == b->axis ? -1 : (int32_t)axis;
  if (b->op == OP_join) return axis == b->axis && is_of_pieces(c, b) ? -1 : (int32_t)axis;
  if (b->op != OP_loop || !coord_is_plain(c->w, &b->loop->out.coord[axis], &index)) return -1;
  if (access_axis(&b->loop->out, index) != (int32_t)axis) return -1;
  bool all = size_now(c->w, b->loop->index[index].size) == size_now(c->w, t->axis[axis].size);
  return all ? (int32_t)index : -1;
}

static void cut_wire(CyclicCut *c, Id wire, uint32_t axis, Ids *todo) {
  Id box = c->k->d->wire.at[wire].box;
  const Box *b = &c->k->d->box.at[box];
  if (!in_cycle(c, wire) || c->index[box] >= 0) return;
  if (b->op == OP_scan)
    c->scan[box] = scan_cut(c->w, b->scan, c->k->d->wire.at[wire].port, (int32_t)axis);
  int32_t index = c->scan[box] ? 0 : index_at(c, b, axis);
  if (index < 0) return;
  c->index[box] = index;
  for (uint32_t i = 0; i < b->nout; i++)
    c->axis[b->out[i]] = c->scan[box] ? scan_cut_out(c->scan[box], i) : (int32_t)axis;
  vec_push(c->w->arena, todo, box);
}

int32_t operand_axis(const CyclicCut *c, Id box, uint32_t operand) {
  const Box *b = &c->k->d->box.at[box];
  if (b->op == OP_scan) return scan_cut_in(c->scan[box], operand);
  if (b->op != OP_loop) return c->index[box];
  return access_axis(&b->loop->in[operand], (uint32_t)c->index[box]);
}

static void cut_operands(CyclicCut *c, Id box, Ids *todo) {
  const Box *b = &c->k->d->box.at[box];
  for (uint32_t i = 0; i < b->nin; i++) {
    int32_t axis = operand_axis(c, box, i);
    if (axis >= 0) cut_wire(c, b->in[i], (uint32_t)axis, todo);
  }
}

CyclicCut cyclic_cut(World *w, const Cyclic *k, const Ids *box, Id wire, uint32_t axis) {
  CyclicCut c = {.w = w, .k = k, .box = box};
  c.inside = NEW_ARRAY(w->arena, bool, k->d->box.n);
  c.axis = NEW_ARRAY(w->arena, int32_t, k->d->wire.n);
  c.index = NEW_ARRAY(w->arena, int32_t, k->d->box.n);
  c.scan = NEW_ARRAY(w->arena, BodyCut *, k->d->box.n);
  for (uint32_t i = 0; i < box->n; i++) c.inside[box->at[i]] = true;
  for (Id i = 0; i < k->d->wire.n; i++) c.axis[i] = -1;
  for (Id i = 0; i < k->d->box.n; i++) c.index[i] = -1;
  Ids todo = {0};
  cut_wire(&c, wire, axis, &todo);
  for (uint32_t i = 0; i < todo.n; i++) cut_operands(&c, todo.at[i], &todo);
  return c;
}

void cut_remaining(CyclicCut *c) {
  for (uint32_t i = 0; i < c->box->n; i++) {
    Id box = c->box->at[i];
    const Box *b = &c->k->d->box.at[box];
    const Type *t = b->nout ? &c->k->d->wire.at[b->out[0]].type : NULL;
    for (uint32_t axis = 0; t && axis < t->rank && c->index[box] < 0; axis++) {
      Ids todo = {0};
      if (size_now(c->w, t->axis[axis].size) == size_of(c->w, 1)) continue;
      cut_wire(c, b->out[0], axis, &todo);
      for (uint32_t k = 0; k < todo.n; k++) cut_operands(c, todo.at[k], &todo);
    }
  }
}
