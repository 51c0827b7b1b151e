// Made where it is read. Some numbers are as easily made as read: a bias added to a product, a piece put in its place
// among zeros. On a GPU, where kernels are bound by memory, such a nest is moved to the one that reads it, or copied to
// each of a few, so that its result stays in a register: what it is made of is in memory anyway.
#include "run/plan/plan.h"

enum { READERS_MOST = 3, SCALARS_MOST = 12, SMALL_SHARE = 16 };

// Its large operands are in memory and, together, no larger than itself.
static bool is_easily_made(const Plan *p, const PlanUses *u, const PlanNode *x) {
  int64_t size = p->wire.at[x->out.wire].count, read = 0;
  if (x->kind != NODE_NEST || node_sums(x) || x->scatter || x->noise || x->nwinner || x->depth ||
      x->pinned || x->pairs || x->nscalar > SCALARS_MOST || u->seen[x->out.wire] ||
      u->maker[x->out.wire] == PLAN_SEVERAL)
    return false;
  for (uint32_t i = 0; i < x->nin; i++) {
    int64_t count = p->wire.at[wire_root(p, x->in[i].wire)].count;
    if (p->wire.at[x->in[i].wire].count <= size / SMALL_SHARE) continue;
    if (!uses_memory(p, u, x->in[i].wire)) return false;
    read += p->wire.at[x->in[i].wire].count < count ? p->wire.at[x->in[i].wire].count : count;
  }
  return read > 0 && read <= size;
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

static uint32_t wire_again(Plan *p, uint32_t of) {
  vec_push(p->arena, &p->wire, p->wire.at[of]);
  return p->wire.n - 1;
}

typedef struct {
  Plan *p;
  const uint32_t *maker; // [wire]
  uint32_t n;
  const PlanNode *all;
  const bool *late; // [node]
  bool *made;       // [node] under its own name
} LateWriting;

// In front of a node, what it reads that is made late: the first time under its own name.
static void push_with(LateWriting *w, PlanNode x) {
  Plan *p = w->p;
  const Operand *in = x.in;
  if (x.nin) x.in = arena_copy(p->arena, in, x.nin * sizeof *x.in);
  for (uint32_t i = 0; x.kind != NODE_GONE && i < x.nin; i++) {
    uint32_t maker = w->maker[in[i].wire], before = 0;
    while (in[before].wire != in[i].wire) before++;
    x.in[i].wire = x.in[before].wire;
    if (before < i || maker >= w->n || !w->late[maker]) continue;
    PlanNode y = plan_again(p, &w->all[maker]);
    if (w->made[maker]) y.out.wire = wire_again(p, in[i].wire);
    w->made[maker] = true;
    x.in[i].wire = y.out.wire;
    push_with(w, y);
  }
  vec_push(p->arena, &p->node, x);
}

void plan_late(Plan *p) {
  uint32_t n = p->node.n;
  if (!n) return;
  PlanUses u = plan_uses(p);
  bool *late = NEW_ARRAY(p->arena, bool, n + 1);
  for (uint32_t i = 0; i < n; i++)
    late[i] = is_easily_made(p, &u, &p->node.at[i]) && may_follow(p, &u, i);
  LateWriting w = {.p = p,
                   .maker = u.maker,
                   .n = n,
                   .all = arena_copy(p->arena, p->node.at, n * sizeof *w.all),
                   .late = late,
                   .made = NEW_ARRAY(p->arena, bool, n + 1)};
  p->node.n = 0;
  for (uint32_t i = 0; i < n; i++)
    if (!late[i]) push_with(&w, w.all[i]);
}
