// Rematerialisation of sums in the backward pass. A large element-wise sum of two terms (a residual
// connection) is stored as floats, and the backward pass reads it much later. Where both terms are
// in memory anyway, or are bfloat16 results of products (bf16_values.c), backward readers add the
// two terms again: the same numbers, so the same sum. Where the terms take no more bytes than the
// sum, the forward readers do so, too, and the sum is never stored.
#include "core/diagram/ops.h"
#include "run/plan/plan.h"

enum { LARGE_CELLS = 1 << 16 }; // cells of a sum that is considered

static int64_t bytes(const Plan *p, uint32_t wire) {
  return p->wire.at[wire].count * (int64_t)number_bytes(p->wire.at[wire].number);
}

// Which nodes read the sum itself: all, those of the forward pass, none. The others read its terms.
typedef enum { READ_ALWAYS, READ_FORWARD, READ_NEVER } ReadHow;

typedef struct {
  Plan *p;
  PlanUses u;
  uint32_t backward_start; // first node of the backward pass
  uint32_t *last;          // [wire] last node that reads it after the rewrite; PLAN_NONE: none
  ReadHow *how;            // [wire]
  int64_t *bytes_read;     // [wire] bytes to read its value: of the wire, or of its terms
} SumReads;

static bool is_read_backward(const SumReads *k, uint32_t wire) {
  return k->last[wire] != PLAN_NONE && k->last[wire] >= k->backward_start;
}

// Is a term stored whatever becomes of the sum?
static bool is_in_memory(const SumReads *k, uint32_t wire) {
  uint32_t maker = k->u.maker[wire];
  if (maker >= k->p->node.n || k->u.escapes[wire]) return false;
  return is_read_backward(k, wire) || (k->p->node.at[maker].kind == NODE_PRODUCT &&
                                       !epilogue_allowed(k->p, &k->p->node.at[maker]));
}

// May a node read the terms in place of the sum?
static bool may_read_terms(const Plan *p, const PlanNode *y, uint32_t wire) {
  if (y->kind != NODE_NEST || y->product || !node_is_plain(y) || !node_may_move(y)) return false;
  for (uint32_t i = 0; i < y->nin; i++)
    if (y->in[i].wire == wire && (y->in[i].padded || !operand_is_affine(p, &y->in[i])))
      return false;
  return true;
}

// Is the wire a large one of floats, which this node alone makes and the backward pass reads?
static bool is_large_and_kept(const SumReads *k, uint32_t wire, uint32_t node) {
  const PlanWire *w = &k->p->wire.at[wire];
  return w->number == NUMBER_F32 && w->alias_of == PLAN_NONE && w->count >= LARGE_CELLS &&
         k->u.maker[wire] == node && !k->u.escapes[wire] && is_read_backward(k, wire);
}

static bool is_sum_of_two(const SumReads *k, uint32_t node) {
  const Plan *p = k->p;
  const PlanNode *x = &p->node.at[node];
  if (!node_is_sum_of_two(x)) return false;
  return is_large_and_kept(k, x->out.wire, node) && operands_same_access(p, &x->in[0], &x->out) &&
         is_in_memory(k, x->in[0].wire) && operands_same_access(p, &x->in[1], &x->out) &&
         is_in_memory(k, x->in[1].wire);
}

// Bytes of terms that would have to live longer than they do now.
static int64_t bytes_prolonged(const SumReads *k, uint32_t wire, uint32_t until) {
  const PlanNode *x = &k->p->node.at[k->u.maker[wire]];
  if (k->how[wire] != READ_ALWAYS)
    return bytes_prolonged(k, x->in[0].wire, until) + bytes_prolonged(k, x->in[1].wire, until);
  return k->last[wire] >= until ? 0 : bytes(k->p, wire);
}

static void prolong(SumReads *k, uint32_t wire, uint32_t until) {
  const PlanNode *x = &k->p->node.at[k->u.maker[wire]];
  if (k->last[wire] < until) k->last[wire] = until;
  for (uint32_t i = 0; k->how[wire] != READ_ALWAYS && i < 2; i++) prolong(k, x->in[i].wire, until);
}

static bool readers_may_read_terms(const SumReads *k, uint32_t wire, uint32_t from) {
  const Ids *r = &k->u.reader[wire];
  for (uint32_t i = 0; i < r->n; i++)
    if (r->at[i] >= from && !may_read_terms(k->p, &k->p->node.at[r->at[i]], wire)) return false;
  return nodes_movable(k->p, k->u.maker[wire], r->at[r->n - 1]);
}

static void choose_readers(SumReads *k, uint32_t node) {
  const PlanNode *x = &k->p->node.at[node];
  uint32_t wire = x->out.wire, a = x->in[0].wire, b = x->in[1].wire, until = k->last[wire];
  int64_t size = bytes(k->p, wire), bytes_read = k->bytes_read[a] + k->bytes_read[b],
          more = bytes_prolonged(k, a, until) + bytes_prolonged(k, b, until);
  if (bytes_read <= size && more <= size && k->how[a] != READ_FORWARD &&
      k->how[b] != READ_FORWARD && readers_may_read_terms(k, wire, 0))
    k->how[wire] = READ_NEVER;
  else if (2 * bytes_read <= 3 * size && more < size &&
           readers_may_read_terms(k, wire, k->backward_start))
    k->how[wire] = READ_FORWARD;
  else
    return;
  k->bytes_read[wire] = bytes_read;
  prolong(k, wire, until);
}

// Operand i of y reads the sum x. It becomes the first term of x; the second term is appended as
// another operand.
static void add_terms(Plan *p, PlanNode *y, uint32_t i, const PlanNode *x) {
  uint32_t slot[2] = {i, y->nin}, rank = p->wire.at[x->out.wire].rank;
  Scalar sum[3];
  for (uint32_t s = 0; s < 3; s++) {
    sum[s] = x->scalar[s];
    if (sum[s].fn == FN_ARG) sum[s].ref = slot[sum[s].ref];
  }
  node_inline_scalars(p, y, i, sum, 3);
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

static SumReads find_sums(Plan *p) {
  uint32_t n = p->wire.n;
  SumReads k = {.p = p, .u = plan_uses(p), .last = plan_nones(p, n)};
  k.how = NEW_ARRAY(p->arena, ReadHow, n + 1);
  k.bytes_read = NEW_ARRAY(p->arena, int64_t, n + 1);
  while (k.backward_start < p->node.n &&
         !origin_is_reverse(p->w, p->node.at[k.backward_start].origin))
    k.backward_start++;
  for (uint32_t i = 0; i < n; i++) {
    k.bytes_read[i] = bytes(p, i);
    if (k.u.reader[i].n) k.last[i] = k.u.reader[i].at[k.u.reader[i].n - 1];
  }
  return k;
}

void plan_rematerialise_sums(Plan *p) {
  SumReads k = find_sums(p);
  for (uint32_t i = 0; i < k.backward_start; i++)
    if (is_sum_of_two(&k, i)) choose_readers(&k, i);
  // In reverse: a reader may be a sum whose terms are read
  for (uint32_t i = k.backward_start; i-- > 0;) {
    PlanNode *x = &p->node.at[i];
    ReadHow how =
        x->kind == NODE_NEST && k.u.maker[x->out.wire] == i ? k.how[x->out.wire] : READ_ALWAYS;
    if (how != READ_ALWAYS) read_terms(p, x, how == READ_NEVER ? i + 1 : k.backward_start);
    if (how == READ_NEVER) x->kind = NODE_GONE;
  }
}
