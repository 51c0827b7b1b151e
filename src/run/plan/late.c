// Made where it is read. Some numbers are as easily made as read: a bias added to a product, a piece put in its place
// among zeros. On a GPU, where kernels are bound by memory, such a nest is moved to the one that reads it, or copied to
// each of a few, so that its result stays in a register: what it is made of is in memory anyway.
#include "run/plan/plan.h"

enum { READERS_MOST = 3, SCALARS_MOST = 12, SMALL_SHARE = 16 };

// Is it summed up over all samples, as for their mean? That is a kernel of its own, for which it is in memory.
static bool is_summed_over_samples(const Plan *p, const PlanUses *u, uint32_t wire) {
  uint32_t index;
  if (!p->wire.at[wire].rank || !p->wire.at[wire].shape[0].per) return false;
  for (uint32_t i = 0; i < u->reader[wire].n; i++) {
    const PlanNode *y = &p->node.at[u->reader[wire].at[i]];
    if (node_copies(y) && operand_plain(p, &y->in[0], 0, &index) && y->reduced[index]) return true;
  }
  return false;
}

// Its large operands are in memory and, together, no larger than itself. *light: it has none.
static bool is_easily_made(const Plan *p, const PlanUses *u, const PlanNode *x, bool *light) {
  int64_t size = p->wire.at[x->out.wire].count, read = 0;
  if (!node_plain(x) || x->nscalar > SCALARS_MOST || u->seen[x->out.wire] ||
      u->maker[x->out.wire] == PLAN_SEVERAL)
    return false;
  for (uint32_t i = 0; i < x->nin; i++) {
    int64_t count = p->wire.at[wire_root(p, x->in[i].wire)].count;
    if (p->wire.at[x->in[i].wire].count <= size / SMALL_SHARE) continue;
    if (!uses_memory(p, u, x->in[i].wire) && !is_summed_over_samples(p, u, x->in[i].wire))
      return false;
    read += p->wire.at[x->in[i].wire].count < count ? p->wire.at[x->in[i].wire].count : count;
  }
  *light = !read;
  return x->nin > 0 && read <= size;
}

// All readers are nests of the same stretch of the step, in which nothing is overwritten.
static bool may_follow(const Plan *p, const PlanUses *u, uint32_t node) {
  const Ids *r = &u->reader[p->node.at[node].out.wire];
  if (!r->n || r->n > READERS_MOST) return false;
  for (uint32_t i = 0; i < r->n; i++) {
    const PlanNode *y = &p->node.at[r->at[i]];
    if (y->kind != NODE_NEST || y->depth || y->pinned || y->pairs || y->scatter) return false;
  }
  return nodes_movable(p, node, r->at[r->n - 1]);
}

typedef struct {
  Plan *p;
  const uint32_t *maker; // [wire]
  uint32_t n;
  const PlanNode *all;
  const bool *late, *light; // [node]
  bool *made;               // [node] under its own name
} LateWriting;

static void push_with(LateWriting *w, PlanNode x);

// What is made late for an operand, the first time under its own name: its wire.
static uint32_t push_late(LateWriting *w, uint32_t wire) {
  uint32_t maker = w->maker[wire];
  PlanNode y = plan_again(w->p, &w->all[maker]);
  if (w->made[maker]) y.out.wire = plan_wire_again(w->p, wire);
  w->made[maker] = true;
  push_with(w, y);
  return y.out.wire;
}

static bool is_late(const LateWriting *w, uint32_t wire) {
  return w->maker[wire] < w->n && w->late[w->maker[wire]];
}

// Does one stand in front of the other? The largest come last, whose loops are the node's own, so that nothing stands between
// their kernels; of these what is made of little, since it goes to the kernel of the others.
static bool comes_before(const LateWriting *w, uint32_t a, uint32_t b) {
  const PlanWire *x = &w->p->wire.at[a], *y = &w->p->wire.at[b];
  if (x->count != y->count) return x->count < y->count;
  return is_late(w, b) && w->light[w->maker[b]] && !(is_late(w, a) && w->light[w->maker[a]]);
}

// In front of a node, what it reads that is made late.
static void push_with(LateWriting *w, PlanNode x) {
  Plan *p = w->p;
  const Operand *in = x.in;
  bool *done = NEW_ARRAY(p->arena, bool, x.nin + 1);
  if (x.nin) x.in = arena_copy(p->arena, in, x.nin * sizeof *x.in);
  for (uint32_t turn = 0; x.kind != NODE_GONE && turn < x.nin; turn++) {
    uint32_t next = PLAN_NONE;
    for (uint32_t i = 0; i < x.nin; i++)
      if (!done[i] && (next == PLAN_NONE || comes_before(w, in[i].wire, in[next].wire))) next = i;
    done[next] = true;
    uint32_t wire = in[next].wire;
    if (x.in[next].wire != wire || !is_late(w, wire)) continue;
    uint32_t now = push_late(w, wire);
    for (uint32_t i = 0; i < x.nin; i++)
      if (in[i].wire == wire) x.in[i].wire = now;
  }
  vec_push(p->arena, &p->node, x);
}

// -- numbers of nothing ---------------------------------------------------------------------------
// A single number that is made of nothing, such as what one sample's share is of a mean, is written into those that read it.
static bool is_of_nothing(const Plan *p, const PlanUses *u, const PlanNode *x) {
  const PlanWire *w = &p->wire.at[x->out.wire];
  return node_plain(x) && !x->nin && !x->nindex && !w->rank && w->base == BASE_R &&
         w->of == PLAN_NONE && x->nscalar && x->nscalar <= SCALARS_MOST && !u->seen[x->out.wire] &&
         u->maker[x->out.wire] != PLAN_SEVERAL;
}

// Its value is not the number itself, behind others: scalars stand in the order in which they are made.
static bool may_have_inside(const PlanNode *y, uint32_t wire) {
  const Scalar *last = &y->scalar[y->nscalar - 1];
  bool itself = last->fn == FN_ARG && y->in[last->ref].wire == wire;
  return y->kind == NODE_NEST && !y->product && !y->pairs && !y->depth && !y->noise &&
         (!itself || y->nscalar == 1);
}

void node_put_scalars(Plan *p, PlanNode *y, uint32_t k, const Scalar *front, uint32_t nfront) {
  uint32_t n = nfront + y->nscalar;
  Scalar *scalar = NEW_ARRAY(p->arena, Scalar, n);
  uint32_t *at = NEW_ARRAY(p->arena, uint32_t, y->nscalar + 1);
  memcpy(scalar, front, nfront * sizeof *scalar);
  for (uint32_t i = 0; i < y->nscalar; i++) {
    Scalar s = y->scalar[i];
    bool it = s.fn == FN_ARG && s.ref == k;
    at[i] = it ? nfront - 1 : nfront + i;
    for (uint32_t a = 0; s.fn > FN_SIZE && a < fn_rows[s.fn].arity; a++) s.arg[a] = at[s.arg[a]];
    if (it) s = (Scalar){.fn = FN_CONST, .base = BASE_R}; // nobody reads it any more
    scalar[nfront + i] = s;
  }
  y->nscalar = at[y->nscalar - 1] < nfront ? nfront : n; // it was the value itself
  y->scalar = scalar;
}

// The scalars of x stand in front of those of y, and the last of them takes the place of operand k.
static void put_inside(Plan *p, PlanNode *y, uint32_t k, const PlanNode *x) {
  node_put_scalars(p, y, k, x->scalar, x->nscalar);
  node_drop(p, y, k);
}

static void put_numbers_inside(Plan *p) {
  PlanUses u = plan_uses(p);
  for (uint32_t i = 0; i < p->node.n; i++) {
    PlanNode *x = &p->node.at[i];
    if (!is_of_nothing(p, &u, x)) continue;
    const Ids *r = &u.reader[x->out.wire];
    bool all = r->n > 0;
    for (uint32_t j = 0; j < r->n; j++) all &= may_have_inside(&p->node.at[r->at[j]], x->out.wire);
    for (uint32_t j = 0; all && j < r->n; j++) {
      PlanNode *y = &p->node.at[r->at[j]];
      for (uint32_t k = y->nin; k-- > 0;)
        if (y->in[k].wire == x->out.wire) put_inside(p, y, k, x);
    }
    if (all) x->kind = NODE_GONE;
  }
}

// -- inside its only reader -----------------------------------------------------------------------
// What is made of numbers that another kernel makes would join that kernel, and go to memory from there: it becomes a part of
// the nest that reads it.
static bool joins_maker(const Plan *p, const PlanUses *u, const PlanNode *x) {
  int64_t size = p->wire.at[x->out.wire].count;
  for (uint32_t i = 0; i < x->nin; i++)
    if (p->wire.at[x->in[i].wire].count > size / SMALL_SHARE && uses_memory(p, u, x->in[i].wire))
      return false;
  return true;
}

// The operand as which y reads x, cell by cell; PLAN_NONE: it does so in another way.
static uint32_t operand_of(const Plan *p, const PlanNode *y, const PlanNode *x) {
  uint32_t found = PLAN_NONE, index[PLAN_AXES];
  for (uint32_t k = 0; k < y->nin; k++) {
    if (y->in[k].wire != x->out.wire) continue;
    if (found != PLAN_NONE || !operand_whole(p, &y->in[k], index)) return PLAN_NONE;
    found = k;
  }
  return found;
}

static bool may_be_part(const Plan *p, const PlanNode *x, const PlanNode *y) {
  uint32_t index[PLAN_AXES];
  if (!node_plain(y) || y->product || node_reads_position(x) || !operand_whole(p, &x->out, index) ||
      p->wire.at[x->out.wire].number == NUMBER_BF16 || operand_of(p, y, x) == PLAN_NONE)
    return false;
  for (uint32_t i = 0; i < x->nin; i++)
    if (x->in[i].padded || !operand_free(p, &x->in[i])) return false;
  return true;
}

// An operand of x as y reads it: to[index of x] is the index of y.
static Operand operand_for(Plan *p, const Operand *o, const uint32_t *to) {
  Operand in = *o;
  uint32_t rank = p->wire.at[o->wire].rank;
  in.coord = NEW_ARRAY(p->arena, PlanCoord, rank + 1);
  for (uint32_t i = 0; i < rank; i++) {
    PlanCoord c = o->coord[i];
    if (c.n) c.term = arena_copy(p->arena, c.term, c.n * sizeof *c.term);
    for (uint32_t t = 0; t < c.n; t++) c.term[t].var = to[c.term[t].var];
    in.coord[i] = c;
  }
  return in;
}

// The first operand of x takes the place of x itself, the others stand behind those of y.
static void make_part(Plan *p, PlanNode *x, PlanNode *y) {
  uint32_t k = operand_of(p, y, x), of[PLAN_AXES], at[PLAN_AXES],
           *to = plan_nones(p, x->nindex + 1);
  operand_whole(p, &x->out, of);
  operand_whole(p, &y->in[k], at);
  for (uint32_t i = 0; i < p->wire.at[x->out.wire].rank; i++) to[of[i]] = at[i];
  Scalar *scalar = arena_copy(p->arena, x->scalar, x->nscalar * sizeof *scalar);
  for (uint32_t i = 0; i < x->nscalar; i++)
    if (scalar[i].fn == FN_ARG) scalar[i].ref = scalar[i].ref ? y->nin + scalar[i].ref - 1 : k;
  node_put_scalars(p, y, k, scalar, x->nscalar);
  Operand *in = NEW_ARRAY(p->arena, Operand, y->nin + x->nin);
  memcpy(in, y->in, y->nin * sizeof *in);
  for (uint32_t i = 0; i < x->nin; i++) in[i ? y->nin + i - 1 : k] = operand_for(p, &x->in[i], to);
  y->in = in;
  y->nin += x->nin - 1;
  x->kind = NODE_GONE;
}

void plan_late(Plan *p) {
  uint32_t n = p->node.n;
  if (!n) return;
  put_numbers_inside(p);
  PlanUses u = plan_uses(p);
  bool *late = NEW_ARRAY(p->arena, bool, n + 1), *light = NEW_ARRAY(p->arena, bool, n + 1);
  for (uint32_t i = 0; i < n; i++)
    late[i] = is_easily_made(p, &u, &p->node.at[i], &light[i]) && may_follow(p, &u, i);
  for (uint32_t i = 0; i < n; i++) {
    PlanNode *x = &p->node.at[i];
    const Ids *r = &u.reader[x->out.wire];
    if (late[i] && r->n == 1 && joins_maker(p, &u, x) && may_be_part(p, x, &p->node.at[r->at[0]]))
      make_part(p, x, &p->node.at[r->at[0]]);
  }
  LateWriting w = {.p = p,
                   .maker = u.maker,
                   .n = n,
                   .all = arena_copy(p->arena, p->node.at, n * sizeof *w.all),
                   .late = late,
                   .light = light,
                   .made = NEW_ARRAY(p->arena, bool, n + 1)};
  p->node.n = 0;
  for (uint32_t i = 0; i < n; i++)
    if (!late[i]) push_with(&w, w.all[i]);
}
