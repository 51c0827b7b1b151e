// Sinking of cheap producers into their readers, for GPUs. Some values are as easily computed as
// read, such as a product plus a bias, or a slice placed among zeros. Kernels are bound by memory,
// so the node that makes such a value is moved to its reader, or cloned for each of a few readers.
// The value then stays in a register; its operands are in memory anyway.
#include "core/diagram/ops.h"
#include "run/plan/plan.h"

enum { MOST_READERS = 3, MOST_SCALARS = 12, SMALL_SHARE = 16 };

// Is the wire summed over all samples, as for a mean? That sum is a kernel of its own, which needs
// the wire in memory.
static bool is_summed_over_samples(const Plan *p, const PlanUses *u, uint32_t wire) {
  uint32_t index;
  if (!p->wire.at[wire].rank || !p->wire.at[wire].shape[0].per) return false;
  for (uint32_t i = 0; i < u->reader[wire].n; i++) {
    const PlanNode *y = &p->node.at[u->reader[wire].at[i]];
    if (node_is_copy(y) && operand_axis_is_index(p, &y->in[0], 0, &index) && y->reduced[index])
      return true;
  }
  return false;
}

// Are the node's large operands in memory, and together no larger than its output? *constant: there
// are no large operands.
static bool is_cheap(const Plan *p, const PlanUses *u, const PlanNode *x, bool *constant) {
  int64_t size = p->wire.at[x->out.wire].count, read = 0;
  if (!node_is_elementwise(x) || x->nscalar > MOST_SCALARS || u->escapes[x->out.wire] ||
      u->maker[x->out.wire] == PLAN_SEVERAL)
    return false;
  for (uint32_t i = 0; i < x->nin; i++) {
    int64_t count = p->wire.at[wire_root(p, x->in[i].wire)].count;
    if (p->wire.at[x->in[i].wire].count <= size / SMALL_SHARE) continue;
    if (!wire_is_materialised(p, u, x->in[i].wire) && !is_summed_over_samples(p, u, x->in[i].wire))
      return false;
    read += p->wire.at[x->in[i].wire].count < count ? p->wire.at[x->in[i].wire].count : count;
  }
  *constant = !read;
  return x->nin > 0 && read <= size;
}

// Are all readers nests that the node may be moved to? Nothing between may overwrite memory.
static bool readers_allow_sinking(const Plan *p, const PlanUses *u, uint32_t node) {
  const Ids *r = &u->reader[p->node.at[node].out.wire];
  if (!r->n || r->n > MOST_READERS) return false;
  for (uint32_t i = 0; i < r->n; i++) {
    const PlanNode *y = &p->node.at[r->at[i]];
    if (y->kind != NODE_NEST || y->scatter || !node_may_move(y)) return false;
  }
  return nodes_movable(p, node, r->at[r->n - 1]);
}

typedef struct {
  Plan *p;
  const uint32_t *maker; // [wire]
  uint32_t n;
  const PlanNode *all;
  const bool *sink, *constant; // [node]
  bool *written;               // [node] its own wire is written; further clones write new wires
} SinkWriter;

static void push_with_producers(SinkWriter *w, PlanNode x);

// Appends the producer of an operand. Gives the wire that it writes: the original one for the first
// reader, a new one for others.
static uint32_t push_producer(SinkWriter *w, uint32_t wire) {
  uint32_t maker = w->maker[wire];
  PlanNode y = node_clone(w->p, &w->all[maker]);
  if (w->written[maker]) y.out.wire = wire_clone(w->p, wire);
  w->written[maker] = true;
  push_with_producers(w, y);
  return y.out.wire;
}

static bool is_sunk(const SinkWriter *w, uint32_t wire) {
  return w->maker[wire] < w->n && w->sink[w->maker[wire]];
}

// The order in which producers of operands are appended. Larger outputs come later, since their
// loops are those of the reader and their kernels fuse with the reader's. Of equal size, producers
// without large operands come last, since they fuse with the kernel of the others.
static bool comes_before(const SinkWriter *w, uint32_t a, uint32_t b) {
  const PlanWire *x = &w->p->wire.at[a], *y = &w->p->wire.at[b];
  if (x->count != y->count) return x->count < y->count;
  return is_sunk(w, b) && w->constant[w->maker[b]] && !(is_sunk(w, a) && w->constant[w->maker[a]]);
}

// Appends a node, and before that the producers that are sunk to it.
static void push_with_producers(SinkWriter *w, PlanNode x) {
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
    if (x.in[next].wire != wire || !is_sunk(w, wire)) continue;
    uint32_t now = push_producer(w, wire);
    for (uint32_t i = 0; i < x.nin; i++)
      if (in[i].wire == wire) x.in[i].wire = now;
  }
  vec_push(p->arena, &p->node, x);
}

// -- constant scalars -----------------------------------------------------------------------------
// A scalar constant, such as the share of one sample in a mean, is inlined into its readers.
static bool is_constant_scalar(const Plan *p, const PlanUses *u, const PlanNode *x) {
  const PlanWire *w = &p->wire.at[x->out.wire];
  if (!node_is_elementwise(x) || x->nin || x->nindex || !x->nscalar || x->nscalar > MOST_SCALARS)
    return false;
  return !w->rank && w->base == BASE_R && w->alias_of == PLAN_NONE && !u->escapes[x->out.wire] &&
         u->maker[x->out.wire] != PLAN_SEVERAL;
}

// May the scalar be inlined? The body must not be the scalar itself with other scalars before:
// scalars are stored in evaluation order.
static bool may_inline_scalar(const PlanNode *y, uint32_t wire) {
  const Scalar *last = &y->scalar[y->nscalar - 1];
  bool itself = last->fn == FN_ARG && y->in[last->ref].wire == wire;
  return y->kind == NODE_NEST && !y->product && !y->attention && !y->depth && !y->noise &&
         (!itself || y->nscalar == 1);
}

void node_inline_scalars(Plan *p, PlanNode *y, uint32_t k, const Scalar *front, uint32_t nfront) {
  uint32_t n = nfront + y->nscalar;
  Scalar *scalar = NEW_ARRAY(p->arena, Scalar, n);
  uint32_t *at = NEW_ARRAY(p->arena, uint32_t, y->nscalar + 1);
  memcpy(scalar, front, nfront * sizeof *scalar);
  for (uint32_t i = 0; i < y->nscalar; i++) {
    Scalar s = y->scalar[i];
    bool it = s.fn == FN_ARG && s.ref == k;
    at[i] = it ? nfront - 1 : nfront + i;
    for (uint32_t a = 0; s.fn > FN_SIZE && a < fn_rows[s.fn].arity; a++) s.arg[a] = at[s.arg[a]];
    if (it) s = (Scalar){.fn = FN_CONST, .base = BASE_R}; // unused now
    scalar[nfront + i] = s;
  }
  y->nscalar = at[y->nscalar - 1] < nfront ? nfront : n; // the body was the operand itself
  y->scalar = scalar;
}

// The scalars of x precede those of y; the last one replaces operand k, which is dropped.
static void inline_scalar(Plan *p, PlanNode *y, uint32_t k, const PlanNode *x) {
  node_inline_scalars(p, y, k, x->scalar, x->nscalar);
  node_drop(p, y, k);
}

static void inline_constant_scalars(Plan *p) {
  PlanUses u = plan_uses(p);
  for (uint32_t i = 0; i < p->node.n; i++) {
    PlanNode *x = &p->node.at[i];
    if (!is_constant_scalar(p, &u, x)) continue;
    const Ids *r = &u.reader[x->out.wire];
    bool all = r->n > 0;
    for (uint32_t j = 0; j < r->n; j++)
      all &= may_inline_scalar(&p->node.at[r->at[j]], x->out.wire);
    for (uint32_t j = 0; all && j < r->n; j++) {
      PlanNode *y = &p->node.at[r->at[j]];
      for (uint32_t k = y->nin; k-- > 0;)
        if (y->in[k].wire == x->out.wire) inline_scalar(p, y, k, x);
    }
    if (all) x->kind = NODE_GONE;
  }
}

// -- a single reader ------------------------------------------------------------------------------
// Does the node read no large wire from memory? It would fuse with the kernel that makes its
// operands, and its output would be stored. So it is inlined into its reader's body.
static bool reads_no_memory(const Plan *p, const PlanUses *u, const PlanNode *x) {
  int64_t size = p->wire.at[x->out.wire].count;
  for (uint32_t i = 0; i < x->nin; i++)
    if (p->wire.at[x->in[i].wire].count > size / SMALL_SHARE &&
        wire_is_materialised(p, u, x->in[i].wire))
      return false;
  return true;
}

// The only operand of y that reads x, if its access is a permutation; else PLAN_NONE.
static uint32_t operand_of(const Plan *p, const PlanNode *y, const PlanNode *x) {
  uint32_t found = PLAN_NONE, index[PLAN_AXES];
  for (uint32_t k = 0; k < y->nin; k++) {
    if (y->in[k].wire != x->out.wire) continue;
    if (found != PLAN_NONE || !operand_is_permutation(p, &y->in[k], index)) return PLAN_NONE;
    found = k;
  }
  return found;
}

static bool may_inline(const Plan *p, const PlanNode *x, const PlanNode *y) {
  uint32_t index[PLAN_AXES];
  if (!node_is_elementwise(y) || y->product || node_reads_position(x) ||
      !operand_is_permutation(p, &x->out, index) || p->wire.at[x->out.wire].number == NUMBER_BF16 ||
      operand_of(p, y, x) == PLAN_NONE)
    return false;
  for (uint32_t i = 0; i < x->nin; i++)
    if (x->in[i].padded || !operand_is_affine(p, &x->in[i])) return false;
  return true;
}

// An operand of x as y reads it. to[index of x]: the index of y.
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

// Inlines x into y. The first operand of x replaces y's operand x; the others are appended.
static void inline_node(Plan *p, PlanNode *x, PlanNode *y) {
  uint32_t k = operand_of(p, y, x), of[PLAN_AXES], at[PLAN_AXES],
           *to = plan_nones(p, x->nindex + 1);
  operand_is_permutation(p, &x->out, of);
  operand_is_permutation(p, &y->in[k], at);
  for (uint32_t i = 0; i < p->wire.at[x->out.wire].rank; i++) to[of[i]] = at[i];
  Scalar *scalar = arena_copy(p->arena, x->scalar, x->nscalar * sizeof *scalar);
  for (uint32_t i = 0; i < x->nscalar; i++)
    if (scalar[i].fn == FN_ARG) scalar[i].ref = scalar[i].ref ? y->nin + scalar[i].ref - 1 : k;
  node_inline_scalars(p, y, k, scalar, x->nscalar);
  Operand *in = NEW_ARRAY(p->arena, Operand, y->nin + x->nin);
  memcpy(in, y->in, y->nin * sizeof *in);
  for (uint32_t i = 0; i < x->nin; i++) in[i ? y->nin + i - 1 : k] = operand_for(p, &x->in[i], to);
  y->in = in;
  y->nin += x->nin - 1;
  x->kind = NODE_GONE;
}

void plan_sink_producers(Plan *p) {
  uint32_t n = p->node.n;
  if (!n) return;
  inline_constant_scalars(p);
  PlanUses u = plan_uses(p);
  bool *sink = NEW_ARRAY(p->arena, bool, n + 1), *constant = NEW_ARRAY(p->arena, bool, n + 1);
  for (uint32_t i = 0; i < n; i++)
    sink[i] = is_cheap(p, &u, &p->node.at[i], &constant[i]) && readers_allow_sinking(p, &u, i);
  for (uint32_t i = 0; i < n; i++) {
    PlanNode *x = &p->node.at[i];
    const Ids *r = &u.reader[x->out.wire];
    if (sink[i] && r->n == 1 && reads_no_memory(p, &u, x) &&
        may_inline(p, x, &p->node.at[r->at[0]]))
      inline_node(p, x, &p->node.at[r->at[0]]);
  }
  SinkWriter w = {.p = p,
                  .maker = u.maker,
                  .n = n,
                  .all = arena_copy(p->arena, p->node.at, n * sizeof *w.all),
                  .sink = sink,
                  .constant = constant,
                  .written = NEW_ARRAY(p->arena, bool, n + 1)};
  p->node.n = 0;
  for (uint32_t i = 0; i < n; i++)
    if (!sink[i]) push_with_producers(&w, w.all[i]);
}
