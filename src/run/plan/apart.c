// An optimiser, piece by piece. All weights of a learner are one wire, and so is their gradient: what is made of it cell by
// cell, moments and new weights, would be one kernel that waits for the gradient's last piece. Here it is taken apart where
// pieces of the gradient meet, neighbours together until they are worth a kernel. Each part may then be made as soon as its
// gradient is there, beside the rest of the way back; and the gradient need not be kept until all of it is known (early.c).
#include "run/plan/plan.h"

// Neighbouring cells of the whole.
typedef struct {
  int64_t from, to;
} Part;

typedef struct {
  Plan *p;
  PlanUses u;
  uint32_t whole, wires; // the gradient; wires that `u` knows
  Ids piece;             // wires that lie in it, as they follow each other
  bool *member;          // [node] it is taken apart
  uint32_t first, last;  // members
  bool steps;            // … and makes the next value of a state
  bool others;           // something else reads the gradient as a whole
  uint32_t *next_of; // [wire] the param whose next value it is; PLAN_NONE: none's; or PLAN_SEVERAL
  bool *given;       // [wire] seen from outside, otherwise
  bool *holds;       // [wire] others lie in it
  VEC(Part) part;
} Apart;

// -- the whole and its pieces ---------------------------------------------------------------------
static void sort_pieces(const Plan *p, Ids *piece) {
  for (uint32_t i = 1; i < piece->n; i++) { // they nearly always are in order
    uint32_t wire = piece->at[i], k = i;
    for (; k && p->wire.at[piece->at[k - 1]].offset > p->wire.at[wire].offset; k--)
      piece->at[k] = piece->at[k - 1];
    piece->at[k] = wire;
  }
}

static bool is_known(const Apart *a, uint32_t wire) {
  return a->given[wire] || a->next_of[wire] != PLAN_NONE;
}

// Is it a row made of nothing but pieces that lie in it, each without gaps, one behind the other?
static bool find_pieces(Apart *a) {
  Plan *p = a->p;
  const PlanWire *whole = &p->wire.at[a->whole];
  int64_t end = 0;
  if (whole->of != PLAN_NONE || is_known(a, a->whole) || whole->shape[0].per ||
      whole->shape[0].part || a->u.maker[a->whole] != PLAN_NONE)
    return false;
  for (uint32_t w = 0; w < p->wire.n; w++)
    if (p->wire.at[w].of == a->whole) vec_push(p->arena, &a->piece, w);
  sort_pieces(p, &a->piece);
  for (uint32_t i = 0; i < a->piece.n; i++) {
    const PlanWire *w = &p->wire.at[a->piece.at[i]];
    if (w->moves || w->offset != end || w->number != whole->number || is_known(a, a->piece.at[i]) ||
        !wire_lies_plain(p, a->piece.at[i]))
      return false;
    for (uint32_t k = 0; k < w->rank; k++)
      if (w->shape[k].per || w->shape[k].part) return false;
    end += w->count;
  }
  return a->piece.n > 1 && end == whole->count;
}

// -- what is made of it, cell by cell -------------------------------------------------------------
// A number, or the cell at hand of a row as long as the whole.
static bool is_at_hand(const Apart *a, const Operand *o) {
  const Plan *p = a->p;
  const PlanWire *w = &p->wire.at[o->wire];
  uint32_t index;
  if (!w->rank) return !o->padded;
  return w->rank == 1 && w->count == p->wire.at[a->whole].count && w->stride[0] == 1 && !w->moves &&
         !o->padded && operand_plain(p, o, 0, &index);
}

static bool may_be_member(const Apart *a, const PlanNode *x) {
  const PlanWire *w = &a->p->wire.at[x->out.wire];
  if (!node_plain(x) || x->nindex != 1 || !w->rank || w->of != PLAN_NONE ||
      w->place != AT_NOWHERE || a->given[x->out.wire] || a->holds[x->out.wire] ||
      a->next_of[x->out.wire] == PLAN_SEVERAL ||
      a->u.maker[x->out.wire] != (uint32_t)(x - a->p->node.at) || !is_at_hand(a, &x->out) ||
      x->index[0].c != w->count || x->index[0].per)
    return false;
  for (uint32_t i = 0; i < x->nin; i++)
    if (!is_at_hand(a, &x->in[i])) return false;
  return !node_reads_position(x);
}

static void take_member(Apart *a, uint32_t node, Ids *open) {
  if (a->member[node]) return;
  a->member[node] = true;
  if (a->first == PLAN_NONE || node < a->first) a->first = node;
  if (a->last < node) a->last = node;
  a->steps |= a->next_of[a->p->node.at[node].out.wire] != PLAN_NONE;
  vec_push(a->p->arena, open, a->p->node.at[node].out.wire);
}

// All that reads what a member makes is one, too.
static bool take_readers(Apart *a, Ids *open) {
  while (open->n) {
    uint32_t wire = open->at[--open->n];
    for (uint32_t i = 0; i < a->u.reader[wire].n; i++) {
      uint32_t node = a->u.reader[wire].at[i];
      if (may_be_member(a, &a->p->node.at[node]))
        take_member(a, node, open);
      else if (wire != a->whole)
        return false;
      else
        a->others = true;
    }
  }
  return true;
}

static bool shares_row(const Apart *a, const PlanNode *x) {
  const Plan *p = a->p;
  for (uint32_t i = 0; i < x->nin; i++)
    for (uint32_t k = 0; p->wire.at[x->in[i].wire].rank && k < a->u.reader[x->in[i].wire].n; k++)
      if (a->member[a->u.reader[x->in[i].wire].at[k]]) return true;
  return false;
}

// So is what makes another next value out of states that members read: whichever is written first, the other reads it
// before.
static bool take_beside(Apart *a, Ids *open) {
  const Plan *p = a->p;
  uint32_t n = open->n;
  for (uint32_t i = 0; i < p->next.n; i++) {
    uint32_t maker = p->next.at[i] == PLAN_NONE ? PLAN_NONE : a->u.maker[p->next.at[i]];
    if (maker < p->node.n && !a->member[maker] && may_be_member(a, &p->node.at[maker]) &&
        shares_row(a, &p->node.at[maker]))
      take_member(a, maker, open);
  }
  return open->n > n;
}

static bool find_members(Apart *a) {
  Plan *p = a->p;
  Ids open = {0};
  a->member = NEW_ARRAY(p->arena, bool, p->node.n + 1);
  a->first = PLAN_NONE;
  vec_push(p->arena, &open, a->whole);
  do
    if (!take_readers(a, &open)) return false;
  while (take_beside(a, &open));
  return a->steps && nodes_movable(p, a->first, a->last);
}

// Does a part need nothing of the other parts? A norm of the whole gradient would be such a thing.
static bool stand_alone(const Apart *a) {
  const Plan *p = a->p;
  bool *needs = NEW_ARRAY(p->arena, bool, p->wire.n + 1);
  needs[a->whole] = true;
  for (uint32_t i = 0; i < p->node.n; i++) {
    const PlanNode *x = &p->node.at[i];
    if (x->kind == NODE_GONE || x->kind == NODE_SCAN || x->kind == NODE_SCAN_END) continue;
    bool any = false;
    for (uint32_t k = 0; k < x->nin; k++) {
      bool these = needs[wire_root(p, x->in[k].wire)];
      if (a->member[i] && these && x->in[k].wire != a->whole &&
          !(a->u.maker[x->in[k].wire] < p->node.n && a->member[a->u.maker[x->in[k].wire]]))
        return false;
      any |= these;
    }
    if (!any) continue;
    needs[wire_root(p, x->out.wire)] = true;
    for (uint32_t k = 0; k < x->nwinner; k++)
      if (x->winner[k] != PLAN_NONE) needs[x->winner[k]] = true;
  }
  return true;
}

// -- parts ----------------------------------------------------------------------------------------
static void find_parts(Apart *a) {
  enum { ALONG = 8 }; // cells that are read at once begin at a multiple of so many
  const Plan *p = a->p;
  int64_t from = 0, end = 0;
  for (uint32_t i = 0; i < a->piece.n; i++) {
    end += p->wire.at[a->piece.at[i]].count;
    bool last = i + 1 == a->piece.n;
    if (!last && (end - from < p->target->part_cells || end % ALONG)) continue;
    vec_push(p->arena, &a->part, ((Part){from, end}));
    from = end;
  }
}

// A wire as long as the part: cells of another one, or its own.
static uint32_t part_wire(Apart *a, const Part *part, uint32_t like, uint32_t of) {
  Plan *p = a->p;
  uint32_t wire = plan_wire_again(p, like);
  PlanWire *w = &p->wire.at[wire];
  w->rank = 1;
  w->shape = NEW(p->arena, Extent);
  w->shape[0] = (Extent){.c = part->to - part->from};
  w->place = AT_NOWHERE;
  w->of = of;
  w->offset = of == PLAN_NONE ? 0 : part->from;
  w->kept = of != PLAN_NONE;
  plan_lay_plain(p, wire);
  return wire;
}

// The part of the gradient, where its pieces lie from now on.
static uint32_t part_of_gradient(Apart *a, const Part *part) {
  Plan *p = a->p;
  if (a->others) return part_wire(a, part, a->whole, a->whole);
  uint32_t row = part_wire(a, part, a->whole, PLAN_NONE);
  p->wire.at[row].kept = true; // made in pieces
  for (uint32_t i = 0; i < a->piece.n; i++) {
    PlanWire *w = &p->wire.at[a->piece.at[i]];
    if (w->of != a->whole || w->offset < part->from || w->offset >= part->to) continue;
    w->of = row;
    w->offset -= part->from;
  }
  return row;
}

static Operand cell_at_hand(const Plan *p, const Operand *o, uint32_t wire) {
  Operand cell = *o;
  PlanTerm *term = NEW(p->arena, PlanTerm);
  *term = (PlanTerm){.coef = 1};
  cell.wire = wire;
  cell.coord = NEW(p->arena, PlanCoord);
  cell.coord[0] = (PlanCoord){.n = 1, .term = term};
  return cell;
}

// One part of what a member makes. now[wire]: that part of a wire, PLAN_NONE: there is none yet.
static PlanNode part_node(Apart *a, const Part *part, const PlanNode *x, uint32_t *now) {
  Plan *p = a->p;
  PlanNode y = *x;
  uint32_t param = a->next_of[x->out.wire], to = part_wire(a, part, x->out.wire, PLAN_NONE);
  y.index = p->wire.at[to].shape;
  y.reduced = NEW(p->arena, bool);
  y.in = NEW_ARRAY(p->arena, Operand, x->nin + 1);
  for (uint32_t i = 0; i < x->nin; i++) {
    uint32_t from = x->in[i].wire;
    y.in[i] = x->in[i];
    if (!p->wire.at[from].rank) continue;
    if (now[from] == PLAN_NONE) now[from] = part_wire(a, part, from, from);
    y.in[i] = cell_at_hand(p, &x->in[i], now[from]);
  }
  y.out = cell_at_hand(p, &x->out, to);
  y.early = true;
  now[x->out.wire] = to;
  if (param == PLAN_NONE) return y;
  p->wire.at[to].kept = true;
  vec_push(p->arena, &p->part, ((PlanPart){.wire = to, .param = param, .offset = part->from}));
  return y;
}

// Numbers that members read, and what those are made of, are wanted early as well.
static void want_early(Apart *a, uint32_t wire) {
  if (wire >= a->wires || a->u.maker[wire] >= a->p->node.n) return;
  PlanNode *x = &a->p->node.at[a->u.maker[wire]];
  if (x->early || x->kind != NODE_NEST || x->depth || x->pinned || a->p->wire.at[wire].rank) return;
  x->early = true;
  for (uint32_t i = 0; i < x->nin; i++) want_early(a, x->in[i].wire);
}

static void take_apart(Apart *a) {
  Plan *p = a->p;
  uint32_t n = p->node.n, *now = NEW_ARRAY(p->arena, uint32_t, a->wires + 1);
  for (uint32_t i = a->first; i <= a->last; i++)
    for (uint32_t k = 0; a->member[i] && k < p->node.at[i].nin; k++)
      want_early(a, p->node.at[i].in[k].wire);
  for (uint32_t i = 0; i < a->piece.n; i++) { // zeros behind the weights
    uint32_t maker = a->u.maker[a->piece.at[i]];
    if (maker < n && node_plain(&p->node.at[maker]) && !p->node.at[maker].nin)
      p->node.at[maker].early = true;
  }
  const PlanNode *all = arena_copy(p->arena, p->node.at, n * sizeof *all);
  p->node.n = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (!a->member[i]) vec_push(p->arena, &p->node, all[i]);
    for (uint32_t s = 0; i == a->last && s < a->part.n; s++) {
      for (uint32_t w = 0; w < a->wires; w++) now[w] = PLAN_NONE;
      now[a->whole] = part_of_gradient(a, &a->part.at[s]);
      for (uint32_t k = a->first; k <= a->last; k++)
        if (a->member[k]) vec_push(p->arena, &p->node, part_node(a, &a->part.at[s], &all[k], now));
    }
  }
}

// -- all wholes -----------------------------------------------------------------------------------
static void see_outside(Apart *a) {
  const Plan *p = a->p;
  const Ids *outside[] = {&p->in, &p->out, &p->param};
  a->next_of = plan_nones(p, p->wire.n);
  a->given = NEW_ARRAY(p->arena, bool, p->wire.n + 1);
  a->holds = NEW_ARRAY(p->arena, bool, p->wire.n + 1);
  for (uint32_t k = 0; k < COUNT(outside); k++)
    for (uint32_t i = 0; i < outside[k]->n; i++) a->given[outside[k]->at[i]] = true;
  for (uint32_t i = 0; i < p->wire.n; i++)
    if (p->wire.at[i].of != PLAN_NONE) a->holds[p->wire.at[i].of] = true;
  for (uint32_t i = 0; i < p->next.n; i++) {
    uint32_t w = p->next.at[i];
    if (w != PLAN_NONE) a->next_of[w] = a->next_of[w] == PLAN_NONE ? i : PLAN_SEVERAL;
  }
}

void plan_apart(Plan *p) {
  uint32_t wires = p->wire.n;
  bool *has_pieces = NEW_ARRAY(p->arena, bool, wires + 1);
  for (uint32_t i = 0; i < wires; i++)
    if (p->wire.at[i].of != PLAN_NONE) has_pieces[p->wire.at[i].of] = true;
  for (uint32_t i = 0; i < wires; i++) {
    if (!has_pieces[i] || p->wire.at[i].place != AT_NOWHERE || p->wire.at[i].rank != 1) continue;
    Apart a = {.p = p, .whole = i, .wires = p->wire.n, .u = plan_uses(p)};
    see_outside(&a);
    if (!find_pieces(&a) || !find_members(&a) || !stand_alone(&a)) continue;
    find_parts(&a);
    if (a.part.n > 1) take_apart(&a);
  }
}
