// What is kept for the way back. What is added up from layer to layer is in memory as floats, and the way back reads it once
// more, much later. Where its terms are in memory anyway, or take half of its bytes as results of products (narrow.c), they are
// kept in its place, and what reads it on the way back adds them again: the same two numbers, so the same sum. Where all of its
// terms take no more than it does, nobody reads it at all.
#include "run/plan/plan.h"

enum { KEPT_CELLS = 1 << 16 }; // of a wire that is worth it

static int64_t bytes(const Plan *p, uint32_t wire) {
  return p->wire.at[wire].count * (int64_t)number_bytes(p->wire.at[wire].number);
}

// Who reads a sum: everybody, only what is not on the way back, or nobody. The others read its terms.
typedef enum { READ_ITSELF, READ_FORTH, READ_NEVER } ReadHow;

typedef struct {
  Plan *p;
  PlanUses u;
  uint32_t turn;  // the first node of the way back
  uint32_t *last; // [wire] the last node that reads it, or will; PLAN_NONE: none
  ReadHow *how;   // [wire]
  int64_t *read;  // [wire] bytes that are read for it: its own, or its terms'
} Kept;

static bool is_back(const Kept *k, uint32_t wire) {
  return k->last[wire] != PLAN_NONE && k->last[wire] >= k->turn;
}

// Is a term in memory whatever becomes of the sum?
static bool is_in_memory(const Kept *k, uint32_t wire) {
  uint32_t maker = k->u.maker[wire];
  if (maker >= k->p->node.n || k->u.seen[wire]) return false;
  return is_back(k, wire) ||
         (k->p->node.at[maker].kind == NODE_PRODUCT && !finish_suits(k->p, &k->p->node.at[maker]));
}

// May a node read the terms where it reads the sum?
static bool may_add(const Plan *p, const PlanNode *y, uint32_t wire) {
  if (y->kind != NODE_NEST || y->product || y->pairs || y->depth || y->pinned || y->scatter ||
      y->noise || y->nwinner)
    return false;
  for (uint32_t i = 0; i < y->nin; i++)
    if (y->in[i].wire == wire && (y->in[i].padded || !operand_free(p, &y->in[i]))) return false;
  return true;
}

static bool is_sum_of_two(const Kept *k, uint32_t node) {
  const Plan *p = k->p;
  const PlanNode *x = &p->node.at[node];
  if (!node_adds_two(x)) return false;
  const PlanWire *w = &p->wire.at[x->out.wire];
  return w->number == NUMBER_F32 && w->of == PLAN_NONE && w->count >= KEPT_CELLS &&
         k->u.maker[x->out.wire] == node && !k->u.seen[x->out.wire] && is_back(k, x->out.wire) &&
         operands_alike(p, &x->in[0], &x->out) && operands_alike(p, &x->in[1], &x->out) &&
         is_in_memory(k, x->in[0].wire) && is_in_memory(k, x->in[1].wire);
}

// The bytes of terms that are not in memory as long as they are wanted now.
static int64_t bytes_more(const Kept *k, uint32_t wire, uint32_t until) {
  const PlanNode *x = &k->p->node.at[k->u.maker[wire]];
  if (k->how[wire] != READ_ITSELF)
    return bytes_more(k, x->in[0].wire, until) + bytes_more(k, x->in[1].wire, until);
  return k->last[wire] >= until ? 0 : bytes(k->p, wire);
}

static void last_until(Kept *k, uint32_t wire, uint32_t until) {
  const PlanNode *x = &k->p->node.at[k->u.maker[wire]];
  if (k->last[wire] < until) k->last[wire] = until;
  for (uint32_t i = 0; k->how[wire] != READ_ITSELF && i < 2; i++)
    last_until(k, x->in[i].wire, until);
}

static bool may_all_add(const Kept *k, uint32_t wire, uint32_t from) {
  const Ids *r = &k->u.reader[wire];
  for (uint32_t i = 0; i < r->n; i++)
    if (r->at[i] >= from && !may_add(k->p, &k->p->node.at[r->at[i]], wire)) return false;
  return nodes_movable(k->p, k->u.maker[wire], r->at[r->n - 1]);
}

static void choose(Kept *k, uint32_t node) {
  const PlanNode *x = &k->p->node.at[node];
  uint32_t wire = x->out.wire, a = x->in[0].wire, b = x->in[1].wire, until = k->last[wire];
  int64_t size = bytes(k->p, wire), read = k->read[a] + k->read[b],
          more = bytes_more(k, a, until) + bytes_more(k, b, until);
  if (read <= size && more <= size && k->how[a] != READ_FORTH && k->how[b] != READ_FORTH &&
      may_all_add(k, wire, 0))
    k->how[wire] = READ_NEVER;
  else if (2 * read <= 3 * size && more < size && may_all_add(k, wire, k->turn))
    k->how[wire] = READ_FORTH;
  else
    return;
  k->read[wire] = read;
  last_until(k, wire, until);
}

// Where y reads operand i, which is the sum x, it reads x's first term, and its second one as another operand.
static void add_terms(Plan *p, PlanNode *y, uint32_t i, const PlanNode *x) {
  uint32_t slot[2] = {i, y->nin}, rank = p->wire.at[x->out.wire].rank;
  Scalar sum[3];
  for (uint32_t s = 0; s < 3; s++) {
    sum[s] = x->scalar[s];
    if (sum[s].fn == FN_ARG) sum[s].ref = slot[sum[s].ref];
  }
  node_put_scalars(p, y, i, sum, 3);
  Operand *in = NEW_ARRAY(p->arena, Operand, y->nin + 1);
  memcpy(in, y->in, y->nin * sizeof *in);
  in[y->nin] = in[i];
  in[y->nin].coord = rank ? arena_copy(p->arena, in[i].coord, rank * sizeof *in[i].coord) : NULL;
  in[i].wire = x->in[0].wire;
  in[y->nin++].wire = x->in[1].wire;
  y->in = in;
  y->as_floats = true;
}

static void read_terms(Plan *p, PlanNode *x, uint32_t from) {
  uint32_t wire = x->out.wire;
  for (uint32_t j = from; j < p->node.n; j++) {
    PlanNode *y = &p->node.at[j];
    for (uint32_t i = 0, n = y->kind == NODE_NEST ? y->nin : 0; i < n; i++)
      if (y->in[i].wire == wire) add_terms(p, y, i, x);
  }
}

static Kept find_kept(Plan *p) {
  uint32_t n = p->wire.n;
  Kept k = {.p = p, .u = plan_uses(p), .last = plan_nones(p, n)};
  k.how = NEW_ARRAY(p->arena, ReadHow, n + 1);
  k.read = NEW_ARRAY(p->arena, int64_t, n + 1);
  while (k.turn < p->node.n && !origin_is_reverse(p->w, p->node.at[k.turn].origin)) k.turn++;
  for (uint32_t i = 0; i < n; i++) {
    k.read[i] = bytes(p, i);
    if (k.u.reader[i].n) k.last[i] = k.u.reader[i].at[k.u.reader[i].n - 1];
  }
  return k;
}

void plan_kept(Plan *p) {
  Kept k = find_kept(p);
  for (uint32_t i = 0; i < k.turn; i++)
    if (is_sum_of_two(&k, i)) choose(&k, i);
  for (uint32_t i = k.turn; i-- > 0;) { // what reads a sum may be a sum whose terms are read
    PlanNode *x = &p->node.at[i];
    ReadHow how =
        x->kind == NODE_NEST && k.u.maker[x->out.wire] == i ? k.how[x->out.wire] : READ_ITSELF;
    if (how != READ_ITSELF) read_terms(p, x, how == READ_NEVER ? i + 1 : k.turn);
    if (how == READ_NEVER) x->kind = NODE_GONE;
  }
}
