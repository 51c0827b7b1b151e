// Aliases: copies that move no data are dropped, and one wire becomes an alias of the other.
//   * A reshaped or sliced view is an alias into its source.
//   * A part of a concatenation, or a row that a scan emits, is an alias into the whole: its maker
//     writes there.
//   * A part that depends on nothing, such as zeros between weights, is made again at each place.
#include "run/plan/plan.h"

uint32_t wire_root(const Plan *p, uint32_t wire) {
  while (p->wire.at[wire].alias_of != PLAN_NONE) wire = p->wire.at[wire].alias_of;
  return wire;
}

// Is the operand read with affine coordinates, and in the type of the output?
static bool is_moved_operand(const Plan *p, const PlanNode *x, const Operand *o) {
  return !o->padded && p->wire.at[o->wire].number == p->wire.at[x->out.wire].number &&
         operand_is_affine(p, o);
}

// Does the node move data to where the data already are, in the same order?
static bool is_plain_copy(const Plan *p, const PlanNode *x) {
  if (!node_is_copy(x) || x->combine != SUM || x->noise || x->pinned || x->scatter) return false;
  if (!is_moved_operand(p, x, &x->in[0]) || !operand_is_affine(p, &x->out)) return false;
  for (uint32_t i = 0; i < x->nindex; i++)
    if (x->reduced[i] || (extent_most(p, x->index[i]) > 1 &&
                          operand_step(p, &x->in[0], i) != operand_step(p, &x->out, i)))
      return false;
  return true;
}

// A wire that a node makes and that may be moved anywhere in memory.
static bool is_free_wire(const Plan *p, uint32_t wire, const uint32_t *maker, const bool *pinned) {
  return wire_is_unplaced(p, wire) && maker[wire] != PLAN_NONE && !pinned[wire];
}

static bool is_constant_fill(const Plan *p, uint32_t wire, const uint32_t *maker) {
  return maker[wire] != PLAN_NONE && node_is_elementwise(&p->node.at[maker[wire]]) &&
         !p->node.at[maker[wire]].nin && wire_is_row_major(p, wire);
}

// In place of the copy, the maker is cloned to write from this cell of the whole on.
static void make_in_place(Plan *p, PlanNode *copy, const PlanNode *maker, int64_t cell) {
  uint32_t piece = wire_new_like(p, maker->out.wire), whole = copy->out.wire;
  p->wire.at[piece].alias_of = whole;
  p->wire.at[piece].offset = cell;
  p->wire.at[piece].needs_memory = p->wire.at[whole].needs_memory = true;
  *copy = node_clone(p, maker);
  copy->out.wire = piece;
}

void plan_aliases(Plan *p) {
  uint32_t *maker = plan_nones(p, p->wire.n);
  bool *pinned = NEW_ARRAY(p->arena, bool, p->wire.n + 1),
       *next = NEW_ARRAY(p->arena, bool, p->wire.n + 1);
  for (uint32_t i = 0; i < p->node.n; i++) {
    PlanNode *x = &p->node.at[i];
    if (x->kind == NODE_SCAN || x->kind == NODE_SCAN_END) continue;
    if (x->pinned) pinned[x->out.wire] = true;
    maker[x->out.wire] = i;
  }
  for (uint32_t i = 0; i < p->next.n; i++)
    if (p->next.at[i] != PLAN_NONE) next[p->next.at[i]] = true;
  for (uint32_t i = 0; i < p->out.n; i++) next[p->out.at[i]] = true;
  for (uint32_t i = 0; i < p->node.n; i++) {
    PlanNode *x = &p->node.at[i];
    if (!is_plain_copy(p, x)) continue;
    uint32_t from = x->in[0].wire, to = x->out.wire, root = wire_root(p, from);
    int64_t start = operand_start(p, &x->in[0]), end = operand_start(p, &x->out);
    bool whole = node_points(p, x) == p->wire.at[to].count && !end &&
                 p->wire.at[to].alias_of == PLAN_NONE && maker[to] == i;
    bool outside = p->wire.at[root].place != AT_NOWHERE;
    if (whole && is_free_wire(p, to, maker, pinned) &&
        !(next[to] && (outside || p->wire.at[from].alias_of != PLAN_NONE)) && !pinned[root]) {
      p->wire.at[to].alias_of = from;
      p->wire.at[to].offset = start;
      p->wire.at[from].needs_memory = true; // aliases read it
      if (next[to]) next[root] = true;
      x->kind = NODE_GONE;
      continue;
    }
    bool same = root == from || (p->wire.at[from].offset == 0 && !p->wire.at[from].scan_moves &&
                                 p->wire.at[from].alias_of == root &&
                                 p->wire.at[root].count == p->wire.at[from].count);
    if (!start && same && node_points(p, x) == p->wire.at[from].count &&
        is_free_wire(p, root, maker, pinned) && root != wire_root(p, to) &&
        p->node.at[maker[root]].depth == x->depth && !next[root]) {
      p->wire.at[root].alias_of = to;
      p->wire.at[root].offset = end;
      p->wire.at[root].needs_memory = p->wire.at[to].needs_memory = true;
      x->kind = NODE_GONE;
    } else if (!start && node_points(p, x) == p->wire.at[from].count && !x->depth &&
               is_constant_fill(p, from, maker) && p->wire.at[to].place == AT_NOWHERE) {
      make_in_place(p, x, &p->node.at[maker[from]], end);
    }
  }
}

int64_t wire_offset(const Plan *p, uint32_t wire, const int64_t *at, uint32_t *root) {
  int64_t offset = 0;
  for (*root = wire; p->wire.at[*root].alias_of != PLAN_NONE; *root = p->wire.at[*root].alias_of) {
    const PlanWire *w = &p->wire.at[*root];
    offset += w->offset + (w->scan_moves ? w->scan_stride * at[w->depth] : 0);
  }
  return offset;
}

bool wire_is_aligned(const Plan *p, uint32_t wire, int64_t cells) {
  static const int64_t nowhere[8] = {0};
  uint32_t root;
  if (wire_offset(p, wire, nowhere, &root) % cells) return false;
  for (uint32_t w = wire; w != PLAN_NONE; w = p->wire.at[w].alias_of)
    if (p->wire.at[w].scan_moves && p->wire.at[w].scan_stride % cells) return false;
  const PlanWire *r = &p->wire.at[root];
  return r->place != AT_STATE || (p->misaligned && !p->misaligned[r->number_of]);
}
