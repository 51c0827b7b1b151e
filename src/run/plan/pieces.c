// Pieces that lie in the whole from the start. The gradient of something that was taken apart (queries, keys and values of
// one product) is a sum of pieces, each at its own place of an axis among zeros. Where the pieces are made by kernels of
// their own, and each place of the axis has one, nothing needs to be added: what makes a piece writes it there.
#include "run/plan/plan.h"

typedef struct {
  const Operand *source;
  uint32_t node, index; // where it is a piece, and the index that says at which place
  int64_t place;
} Piece;

static bool is_number(Plan *p, const Scalar *s, int64_t *number) {
  Extent size = s->fn == FN_SIZE ? plan_extent(p, s->ref) : (Extent){.c = (int64_t)s->k};
  *number = size.c;
  return (s->fn == FN_SIZE && !size.per && !size.part) ||
         (s->fn == FN_CONST && (double)size.c == s->k);
}

// at(index) = place, either way round
static bool is_place(Plan *p, const PlanNode *x, const Scalar *s, Piece *piece) {
  if (s->fn != FN_eq) return false;
  for (uint32_t k = 0; k < 2; k++) {
    const Scalar *at = &x->scalar[s->arg[k]], *number = &x->scalar[s->arg[1 - k]];
    piece->index = at->ref;
    if (at->fn == FN_AT && is_number(p, number, &piece->place)) return true;
  }
  return false;
}

// What it reads where the index has one value, and 0 elsewhere.
static bool is_piece(Plan *p, uint32_t node, Piece *piece) {
  const PlanNode *x = &p->node.at[node];
  if (!node_plain(x) || x->nin != 1 || !x->nscalar) return false;
  const Scalar *s = &x->scalar[x->nscalar - 1];
  if (s->fn != FN_select) return false;
  const Scalar *inside = &x->scalar[s->arg[1]], *outside = &x->scalar[s->arg[2]];
  piece->node = node;
  piece->source = &x->in[0];
  return inside->fn == FN_ARG && outside->fn == FN_CONST && outside->k == 0 &&
         is_place(p, x, &x->scalar[s->arg[0]], piece);
}

// All operands are added, each once.
static bool only_adds(const Plan *p, const PlanNode *x) {
  uint32_t args = 0, *uses = NEW_ARRAY(p->arena, uint32_t, x->nscalar + 1);
  for (uint32_t i = 0; i < x->nscalar; i++) {
    const Scalar *s = &x->scalar[i];
    if (s->fn != FN_ARG && s->fn != FN_add) return false;
    args += s->fn == FN_ARG;
    for (uint32_t k = 0; s->fn == FN_add && k < 2; k++) uses[s->arg[k]]++;
  }
  for (uint32_t i = 0; i + 1 < x->nscalar; i++)
    if (uses[i] != 1) return false;
  return args == x->nin && x->nin > 1;
}

// The axis of a wire that is this index of an operand; PLAN_NONE: none is.
static uint32_t axis_of(const Plan *p, const Operand *o, uint32_t index) {
  uint32_t at;
  for (uint32_t i = 0; i < p->wire.at[o->wire].rank; i++)
    if (operand_plain(p, o, i, &at) && at == index) return i;
  return PLAN_NONE;
}

// What a piece is made of is a wire by itself, in memory anyway, that has all axes but the one that says where it is.
static bool may_lie_inside(const Plan *p, const PlanUses *u, const Piece *piece, uint32_t whole) {
  const PlanNode *x = &p->node.at[piece->node];
  const PlanWire *w = &p->wire.at[piece->source->wire], *to = &p->wire.at[whole];
  uint32_t index[PLAN_AXES], maker = u->maker[piece->source->wire];
  if (w->place != AT_NOWHERE || w->of != PLAN_NONE || u->seen[piece->source->wire] ||
      w->number != to->number || w->rank + 1 != to->rank || maker >= p->node.n ||
      !uses_memory(p, u, piece->source->wire) || p->node.at[maker].depth ||
      p->node.at[maker].pinned || !operand_whole(p, piece->source, index))
    return false;
  for (uint32_t i = 0; i < w->rank; i++)
    if (index[i] == piece->index || axis_of(p, &x->out, index[i]) == PLAN_NONE ||
        !extent_same(w->shape[i], x->index[index[i]]))
      return false;
  return true;
}

// Where the sum ends: in its own wire, or in the copy that alone reads it.
static uint32_t whole_of(const Plan *p, const PlanUses *u, uint32_t sum, uint32_t *copy) {
  const PlanNode *x = &p->node.at[sum];
  const Ids *r = &u->reader[x->out.wire];
  *copy = PLAN_NONE;
  if (r->n != 1 || u->seen[x->out.wire]) return x->out.wire;
  const PlanNode *y = &p->node.at[r->at[0]];
  if (!node_plain(y) || !node_copies(y) || !operands_alike(p, &y->in[0], &y->out))
    return x->out.wire;
  *copy = r->at[0];
  return y->out.wire;
}

static void lie_inside(Plan *p, const Piece *piece, uint32_t whole, uint32_t axis) {
  const PlanNode *x = &p->node.at[piece->node];
  PlanWire *w = &p->wire.at[piece->source->wire], *to = &p->wire.at[whole];
  uint32_t index[PLAN_AXES];
  operand_whole(p, piece->source, index);
  w->stride = NEW_ARRAY(p->arena, int64_t, w->rank + 1);
  for (uint32_t i = 0; i < w->rank; i++) w->stride[i] = to->stride[axis_of(p, &x->out, index[i])];
  w->of = whole;
  w->offset = piece->place * to->stride[axis];
  w->kept = to->kept = true;
}

// The pieces that a node adds, into `piece`: one for each place of an axis.
static bool find_pieces(Plan *p, const PlanUses *u, const PlanNode *x, uint32_t whole, Piece *piece,
                        uint32_t *axis) {
  const PlanWire *to = &p->wire.at[whole];
  *axis = PLAN_NONE;
  for (uint32_t i = 0; i < x->nin; i++) {
    uint32_t wire = x->in[i].wire, maker = u->maker[wire];
    if (maker >= p->node.n || u->reader[wire].n != 1 || u->seen[wire] ||
        !operands_alike(p, &x->in[i], &x->out) || !is_piece(p, maker, &piece[i]) ||
        !may_lie_inside(p, u, &piece[i], whole))
      return false;
    uint32_t at = axis_of(p, &p->node.at[maker].out, piece[i].index);
    if (at == PLAN_NONE || (*axis != PLAN_NONE && at != *axis)) return false;
    *axis = at;
    if (piece[i].place < 0 || piece[i].place >= to->shape[at].c) return false;
    for (uint32_t k = 0; k < i; k++)
      if (piece[k].place == piece[i].place || piece[k].source->wire == piece[i].source->wire)
        return false;
  }
  return !to->shape[*axis].per && to->shape[*axis].c == x->nin;
}

void plan_pieces(Plan *p) {
  PlanUses u = plan_uses(p);
  for (uint32_t n = 0; n < p->node.n; n++) {
    PlanNode *x = &p->node.at[n];
    uint32_t axis, copy;
    if (!node_plain(x) || !only_adds(p, x)) continue;
    uint32_t whole = whole_of(p, &u, n, &copy);
    const PlanWire *to = &p->wire.at[whole];
    Piece *piece = NEW_ARRAY(p->arena, Piece, x->nin);
    if (to->place != AT_NOWHERE || to->of != PLAN_NONE || u.seen[whole] ||
        u.maker[whole] >= p->node.n || !find_pieces(p, &u, x, whole, piece, &axis))
      continue;
    for (uint32_t i = 0; i < x->nin; i++) {
      lie_inside(p, &piece[i], whole, axis);
      p->node.at[piece[i].node].kind = NODE_GONE;
      u.seen[piece[i].source->wire] = true;
    }
    u.seen[whole] = true;
    x->kind = NODE_GONE;
    if (copy != PLAN_NONE) p->node.at[copy].kind = NODE_GONE;
  }
}
