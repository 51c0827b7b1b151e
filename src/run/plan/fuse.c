// Fusion of nodes into kernels, by one rule. A kernel has parallel loops P; its nodes run one after
// the other at each point of P. A node joins the kernel that makes its operands if, at a fixed
// point of P, it reads of that kernel only what was made at the same point. Loops of P that violate
// this are dropped from P (they become inner loops), as long as enough parallel points are left,
// and what lives between the nodes at one point fits the cache, in blocks if need be
// (row_blocks.c). The rule fuses element-wise chains, rows of softmax and norms, reductions with
// their neighbours, and attention.
//
// Inside a kernel, nodes are fused once more into nests of common loops: a node joins a nest that
// has its loops if it reads of the nest only what is made at the same point. It may reduce the last
// loops. What one nest makes and reads needs no memory.
#include "core/diagram/ops.h"
#include "run/plan/plan.h"

#include <math.h>

enum { TINY_NODES = 1000, BLOCK = 64 };

typedef struct {
  Plan *p;
  uint32_t *written;   // [wire] of roots: the last kernel that writes into it, or PLAN_NONE
  uint32_t *maker;     // [wire] the node that makes all of it, or PLAN_NONE
  bool *made;          // [wire] some node makes it, or a part of it
  uint32_t first_open; // nodes may join kernels from this one on
} KernelGroups;

int64_t node_points(const Plan *p, const PlanNode *x) {
  int64_t n = 1;
  for (uint32_t i = 0; i < x->nindex; i++) n *= extent_most(p, x->index[i]);
  return n;
}

int64_t node_work(const Plan *p, const PlanNode *x) {
  int64_t flops = 1;
  for (uint32_t i = 0; i < x->nscalar; i++) flops += fn_rows[x->scalar[i].fn].flops;
  if (x->noise) flops = 30;
  return node_points(p, x) * flops;
}

// -- the parallel loops of one node ---------------------------------------------------------------
// The cost of an index as the innermost loop, in vector operations. An operand with stride 0 is
// nearly free, one with stride 1 costs one load, others cost one load for each lane. A reduction
// writes its output once; if it reduces the innermost loop, lanes are added up at the end.
static double loop_cost(const Plan *p, const PlanNode *x, uint32_t index) {
  enum { LANES = 16, ADD_UP = 8 };
  double points = 1, kept = 1, lanes = (double)extent_most(p, x->index[index]);
  for (uint32_t i = 0; i < x->nindex; i++) {
    points *= (double)extent_most(p, x->index[i]);
    if (!x->reduced[i]) kept *= (double)extent_most(p, x->index[i]);
  }
  if (points <= 0 || lanes <= 0) return 0;
  double turns = points / lanes * ceil(lanes / LANES), cost = 0;
  if (lanes > LANES) lanes = LANES;
  for (uint32_t k = 0; k < x->nin; k++) {
    int64_t step = operand_step(p, &x->in[k], index),
            packed = operand_packed_cells(p, x, &x->in[k], index);
    cost += turns * (step == 1 || packed ? 1 : step == 0 ? 0.2 : 0.7 * lanes) + (double)packed;
  }
  int64_t step = operand_step(p, &x->out, index);
  if (x->reduced[index]) return cost + kept * ADD_UP;
  return cost + turns * (x->scatter ? 1 : kept / points) * (step == 1 ? 1 : lanes);
}

static uint32_t fastest_index(const Plan *p, const PlanNode *x) {
  uint32_t best = PLAN_NONE;
  double least = 0;
  for (uint32_t i = 0; i < x->nindex; i++) {
    double cost = loop_cost(p, x, i);
    if (best == PLAN_NONE || cost < least) best = i, least = cost;
  }
  return best;
}

bool node_has_reduction(const PlanNode *x) {
  for (uint32_t i = 0; i < x->nindex; i++)
    if (x->reduced[i]) return true;
  return false;
}

static bool reads_position(const PlanNode *x, uint32_t index) {
  for (uint32_t i = 0; i < x->nscalar; i++)
    if (x->scalar[i].fn == FN_AT && x->scalar[i].ref == index) return true;
  return false;
}

static bool in_batch(const Product *q, uint32_t index) {
  for (uint32_t i = 0; i < q->nbatch; i++)
    if (q->batch[i] == index) return true;
  return false;
}

// May this index be a parallel loop of the node? It must be a whole axis of the output.
static bool may_be_parallel(const Plan *p, const PlanNode *x, uint32_t index) {
  if (x->reduced[index] || (x->scatter && !node_owns_slices(p, x, index))) return false;
  return x->kind != NODE_PRODUCT || in_batch(x->product, index);
}

// Splits the fastest axis of the output of a column sum or scatter into blocks that can run in
// parallel. Gives the index that counts the blocks; PLAN_NONE: the axis cannot be split.
static uint32_t split_fastest_axis(Plan *p, PlanNode *x, uint32_t index) {
  int64_t n = extent_most(p, x->index[index]), block = BLOCK;
  if (x->index[index].per || n < 2 * 16) return PLAN_NONE;
  // On a GPU neighbouring lanes coalesce, and the reduction is split as well, so few blocks are
  // enough.
  while (block > 16 && (n % block || (n / block < 4 && !p->target->lanes))) block /= 2;
  if (n % block) return PLAN_NONE;
  return reads_position(x, index) ? PLAN_NONE : node_split_index(p, x, index, block);
}

// The parallel loops that a node would have in a kernel of its own, slowest first: into `index`.
static uint32_t own_parallel(Plan *p, PlanNode *x, uint32_t *index) {
  if (p->tiny) return 0;
  uint32_t n = 0, rank = p->wire.at[x->out.wire].rank, at;
  if (x->kind != NODE_PRODUCT && (node_has_reduction(x) || x->scatter)) {
    uint32_t fast = fastest_index(p, x);
    while (n < rank && operand_axis_is_index(p, &x->out, n, &at) && at != fast &&
           may_be_parallel(p, x, at))
      index[n++] = at;
    if (n || fast == PLAN_NONE || x->reduced[fast] || !node_owns_slices(p, x, fast)) return n;
    index[0] = split_fastest_axis(p, x, fast); // the blocks are the slowest loop
    return index[0] != PLAN_NONE;
  }
  for (uint32_t i = 0; i < rank; i++)
    if (operand_axis_is_index(p, &x->out, i, &at) && may_be_parallel(p, x, at))
      index[n++] = at;
    else if (x->kind != NODE_PRODUCT)
      break;
  return n;
}

static void open_kernel(KernelGroups *g, uint32_t node) {
  Plan *p = g->p;
  PlanNode *x = &p->node.at[node];
  Kernel k = {.kind = KERNEL_LOOPS, .depth = x->depth};
  uint32_t index[64], n = 0;
  if (x->nindex <= 62) n = own_parallel(p, x, index);
  k.np = n;
  k.p = NEW_ARRAY(p->arena, Extent, n + 1);
  x->var = plan_nones(p, x->nindex);
  for (uint32_t i = 0; i < n; i++) {
    k.p[i] = x->index[index[i]];
    x->var[index[i]] = i;
  }
  k.work = node_work(p, x);
  vec_push(p->arena, &k.node, node);
  x->kernel = p->kernel.n;
  vec_push(p->arena, &p->kernel, k);
}

// -- joining --------------------------------------------------------------------------------------
// For each parallel loop of the kernel, the index of x that runs with it, by what x reads of the
// kernel. PLAN_NONE: none, the loop must be dropped.
static bool match_loops(const KernelGroups *g, const Kernel *k, uint32_t kernel, const PlanNode *x,
                        uint32_t *with) {
  const Plan *p = g->p;
  bool *bad = NEW_ARRAY(p->arena, bool, k->np + 1);
  for (uint32_t i = 0; i < x->nin; i++) {
    uint32_t w = x->in[i].wire, root = wire_root(p, w), index, at;
    if (g->written[root] != kernel) continue;
    if (root != w || g->maker[w] == PLAN_NONE) return false; // an alias, or made by several nodes
    const PlanNode *y = &p->node.at[g->maker[w]];
    for (uint32_t axis = 0; axis < p->wire.at[w].rank; axis++) {
      if (!operand_axis_is_index(p, &y->out, axis, &index)) {
        for (uint32_t t = 0; t < y->out.coord[axis].n; t++) {
          uint32_t v = y->out.coord[axis].term[t].var;
          if (!y->out.coord[axis].term[t].operand && y->var[v] != PLAN_NONE) bad[y->var[v]] = true;
        }
        continue;
      }
      uint32_t d = y->var[index];
      if (d == PLAN_NONE) continue;
      bool fits = operand_axis_is_index(p, &x->in[i], axis, &at) && may_be_parallel(p, x, at) &&
                  extent_same(x->index[at], k->p[d]) && (with[d] == PLAN_NONE || with[d] == at) &&
                  !x->in[i].padded;
      if (fits)
        with[d] = at;
      else
        bad[d] = true;
    }
  }
  for (uint32_t d = 0; d < k->np; d++) {
    if (bad[d]) with[d] = PLAN_NONE;
    for (uint32_t e = 0; e < d; e++)
      if (with[d] != PLAN_NONE && with[e] == with[d]) with[d] = PLAN_NONE;
  }
  return true;
}

// The parallel axes of the output must be plain and precede the others, so that each point writes a
// contiguous range. Products write with any strides.
static bool parallel_axes_first(const Plan *p, const PlanNode *x, const uint32_t *loop_of,
                                const bool *kept) {
  uint32_t index, n = 0, want = 0;
  bool ended = false;
  for (uint32_t i = 0; i < x->nindex; i++) want += loop_of[i] != PLAN_NONE && kept[loop_of[i]];
  for (uint32_t axis = 0; axis < p->wire.at[x->out.wire].rank; axis++) {
    bool parallel = operand_axis_is_index(p, &x->out, axis, &index) &&
                    loop_of[index] != PLAN_NONE && kept[loop_of[index]];
    if (parallel && ended && x->kind != NODE_PRODUCT) return false;
    if (parallel) n++;
    ended |= !parallel;
  }
  return n == want;
}

static int64_t cells_per_point(const Plan *p, const PlanNode *x, const uint32_t *loop_of,
                               const bool *kept) {
  int64_t cells = p->wire.at[x->out.wire].count;
  for (uint32_t i = 0; i < x->nindex; i++)
    if (loop_of[i] != PLAN_NONE && kept[loop_of[i]])
      cells /= extent_most(p, x->index[i]) ? extent_most(p, x->index[i]) : 1;
  return cells;
}

// May the node join in blocks? Only products inside make points large: other nodes have all their
// loops in P.
static bool may_take_blocks(const KernelGroups *g, Kernel *k, uint32_t np, uint32_t node,
                            const uint32_t *loop_of) {
  bool products = false;
  for (uint32_t i = 0; i < k->node.n; i++)
    products |= g->p->node.at[k->node.at[i]].kind == NODE_PRODUCT;
  return products && np == k->np && kernel_find_blocked_loop(g->p, g->maker, k, node, loop_of);
}

// May x loop over long rows, at each of many points? Some node of the kernel makes the rows, or has
// just read x's operands, which a GPU then finds in its cache. So the gradient of a softmax over
// many classes is computed in the kernel of its sum.
static bool may_loop_over_rows(const Plan *p, const Kernel *k, const PlanNode *x,
                               const uint32_t *loop_of) {
  int64_t points = 1, length = node_points(p, x);
  if (!p->target->lanes || !node_is_elementwise(x)) return false;
  for (uint32_t d = 0; d < k->np; d++) points *= extent_most(p, k->p[d]);
  for (uint32_t i = 0; i < x->nindex; i++)
    if (loop_of[i] == PLAN_NONE && x->index[i].per) return false;
  if (points < 8 * p->target->enough_points) return false;
  for (uint32_t i = 0; i < k->node.n; i++) {
    const PlanNode *y = &p->node.at[k->node.at[i]];
    if (node_points(p, y) != length) continue;
    if (p->wire.at[y->out.wire].count == length) return true;
    for (uint32_t a = 0; a < y->nin; a++)
      for (uint32_t b = 0; b < x->nin; b++)
        if (y->in[a].wire == x->in[b].wire && p->wire.at[x->in[b].wire].count == length)
          return true;
  }
  return false;
}

// A node that would join a kernel, and the kernel's loops that both keep.
typedef struct {
  uint32_t *loop_of; // [index of the node] its loop, or PLAN_NONE
  bool *kept;        // [loop]
  uint32_t n;        // number of loops that are kept
} KernelJoining;

static void keep_loops(const Plan *p, const Kernel *k, const PlanNode *x, const uint32_t *with,
                       KernelJoining *j) {
  for (uint32_t d = 0; d < k->np; d++) {
    j->kept[d] = with[d] != PLAN_NONE;
    if (j->kept[d]) j->loop_of[with[d]] = d;
  }
  // The last loops are dropped until the kept axes precede the others in all outputs.
  for (uint32_t d = k->np; d-- > 0;) {
    bool good = parallel_axes_first(p, x, j->loop_of, j->kept);
    for (uint32_t i = 0; good && i < k->node.n; i++)
      good = parallel_axes_first(p, &p->node.at[k->node.at[i]], p->node.at[k->node.at[i]].var,
                                 j->kept);
    if (good) break;
    j->kept[d] = false;
  }
  for (uint32_t d = 0; d < k->np; d++) j->n += j->kept[d];
}

// Do tiles between the nodes fit, with these loops kept?
static bool tiles_fit(const Plan *p, const Kernel *k, const bool *kept) {
  int64_t cells = 0;
  for (uint32_t i = 0; i < k->node.n; i++) {
    const PlanNode *y = &p->node.at[k->node.at[i]];
    int64_t c = cells_per_point(p, y, y->var, kept);
    if (c > p->target->tile_cells) return false;
    cells += c;
  }
  return cells <= 4 * p->target->tile_cells;
}

static bool is_worth_joining(Plan *p, const Kernel *k, PlanNode *x, const KernelJoining *j,
                             int64_t work) {
  int64_t points = 1, before = 1;
  uint32_t own[64];
  for (uint32_t d = 0; d < k->np; d++) {
    before *= extent_most(p, k->p[d]);
    if (j->kept[d]) points *= extent_most(p, k->p[d]);
  }
  if (x->kind == NODE_PRODUCT && j->n < own_parallel(p, x, own))
    return false; // a product keeps its batch
  for (uint32_t i = 0; j->n < k->np && i < k->node.n; i++)
    if (p->node.at[k->node.at[i]].kind == NODE_PRODUCT) return false;
  if (!k->np && !p->tiny && k->work + work > p->target->small_work / 8)
    return false; // a single point: large nests would not run in parallel
  if (j->n == k->np) return true;
  if (!j->n || (points < p->target->enough_points && points < before &&
                k->work + work > p->target->small_work))
    return false;
  return tiles_fit(p, k, j->kept);
}

// Renumbers the kept loops.
static void renumber_loops(Plan *p, Kernel *k, const PlanNode *x, KernelJoining *j) {
  uint32_t *now = NEW_ARRAY(p->arena, uint32_t, k->np + 1), m = 0;
  Extent *loops = NEW_ARRAY(p->arena, Extent, j->n + 1);
  for (uint32_t d = 0; d < k->np; d++) {
    now[d] = j->kept[d] ? m : PLAN_NONE;
    if (j->kept[d]) loops[m++] = k->p[d];
  }
  for (uint32_t i = 0; i < k->node.n; i++) {
    PlanNode *y = &p->node.at[k->node.at[i]];
    for (uint32_t v = 0; v < y->nindex; v++)
      if (y->var[v] != PLAN_NONE) y->var[v] = now[y->var[v]];
  }
  for (uint32_t i = 0; i < x->nindex; i++)
    if (j->loop_of[i] != PLAN_NONE) j->loop_of[i] = now[j->loop_of[i]];
  k->np = j->n;
  k->p = loops;
}

// A kernel is one function, and compile time grows faster than its length: a long kernel is closed.
// A tiny step is one function anyway.
static bool is_full(const Plan *p, const Kernel *k) {
  uint32_t length = 0;
  for (uint32_t i = 0; i < k->node.n; i++) {
    const PlanNode *x = &p->node.at[k->node.at[i]];
    length += 4 + x->nin + x->nindex + x->nscalar;
  }
  return length > p->target->long_kernel && !p->tiny;
}

// A long reduction with few results. Lanes split it into slices, which are combined at the end of
// the kernel.
static bool wants_split_reduction(const Plan *p, const PlanNode *x, const Extent *loop,
                                  uint32_t loops) {
  int64_t points = 1;
  for (uint32_t d = 0; d < loops; d++) points *= extent_most(p, loop[d]);
  return p->target->lanes && x->kind == NODE_NEST && x->combine == SUM && !x->nwinner &&
         node_has_reduction(x) && points < 8 * p->target->enough_points &&
         node_work(p, x) > p->target->small_work;
}

static bool join_kernel(KernelGroups *g, uint32_t kernel, uint32_t node) {
  Plan *p = g->p;
  Kernel *k = &p->kernel.at[kernel];
  PlanNode *x = &p->node.at[node];
  if (k->kind != KERNEL_LOOPS || kernel < g->first_open || x->pinned || x->nindex > 60 ||
      is_full(p, k))
    return false;
  // Lanes split a scatter into slices, too.
  if (p->target->lanes && (x->scatter || p->node.at[k->node.at[0]].scatter)) return false;
  if (wants_split_reduction(p, x, k->p, k->np) ||
      wants_split_reduction(p, &p->node.at[k->node.at[0]], k->p, k->np))
    return false;
  uint32_t *with = plan_nones(p, k->np);
  KernelJoining j = {plan_nones(p, x->nindex), NEW_ARRAY(p->arena, bool, k->np + 1), 0};
  if (!match_loops(g, k, kernel, x, with)) return false;
  keep_loops(p, k, x, with, &j);
  int64_t work = node_work(p, x);
  if (!is_worth_joining(p, k, x, &j, work)) return false;
  bool large = cells_per_point(p, x, j.loop_of, j.kept) > p->target->tile_cells && j.n;
  bool rows = large && !k->blocked_loop.c && j.n == k->np && may_loop_over_rows(p, k, x, j.loop_of);
  if ((large || k->blocked_loop.c) && !rows && !may_take_blocks(g, k, j.n, node, j.loop_of))
    return false;
  renumber_loops(p, k, x, &j);
  k->work += work;
  x->var = j.loop_of;
  x->kernel = kernel;
  vec_push(p->arena, &k->node, node);
  return true;
}

static bool shares_input(const Plan *p, const Kernel *k, const PlanNode *x) {
  for (uint32_t i = 0; i < k->node.n; i++) {
    const PlanNode *y = &p->node.at[k->node.at[i]];
    for (uint32_t a = 0; a < y->nin; a++)
      for (uint32_t b = 0; b < x->nin; b++)
        if (y->in[a].wire == x->in[b].wire && p->wire.at[x->in[b].wire].rank) return true;
  }
  return false;
}

// Does some node read both x and the last node of the kernel?
static bool shares_reader(const Plan *p, const Kernel *k, const PlanNode *x) {
  uint32_t last = p->node.at[k->node.at[k->node.n - 1]].out.wire;
  for (uint32_t i = 0; i < p->node.n; i++) {
    bool both[2] = {false, false};
    for (uint32_t a = 0; a < p->node.at[i].nin; a++) {
      both[0] |= p->node.at[i].in[a].wire == last;
      both[1] |= p->node.at[i].in[a].wire == x->out.wire;
    }
    if (both[0] && both[1]) return true;
  }
  return false;
}

// Does the output at one point of a node's first n loops fit a tile?
static bool fits_tile(const Plan *p, const PlanNode *x, const uint32_t *index, uint32_t n) {
  int64_t cells = p->wire.at[x->out.wire].count;
  for (uint32_t d = 0; d < n; d++) {
    int64_t length = extent_most(p, x->index[index[d]]);
    cells /= length ? length : 1;
  }
  return cells <= p->target->tile_cells;
}

// Nodes over the same points are fused even though neither reads the other: the moments of an
// optimiser, which read one gradient; the terms of a sum; the products of attention heads,
// backward.
static bool may_be_sibling(const KernelGroups *g, uint32_t kernel, uint32_t latest,
                           const PlanNode *x) {
  const Plan *p = g->p;
  const Kernel *k = &p->kernel.at[kernel];
  bool product = x->kind == NODE_PRODUCT;
  if (x->nindex > 60 || x->pinned || kernel < g->first_open ||
      (latest != PLAN_NONE && kernel <= latest))
    return false;
  // A scalar has no points
  if (!product && (p->tiny || !p->wire.at[x->out.wire].rank)) return false;
  if (!product && (node_has_reduction(x) || x->scatter)) return false;
  return k->kind == KERNEL_LOOPS && !k->blocked_loop.c && !is_full(p, k) &&
         product == (p->node.at[k->node.at[0]].kind == NODE_PRODUCT);
}

static bool join_as_sibling(Plan *p, uint32_t kernel, uint32_t node) {
  Kernel *k = &p->kernel.at[kernel];
  PlanNode *x = &p->node.at[node];
  uint32_t index[64], n = own_parallel(p, x, index);
  uint32_t *loop_of = plan_nones(p, x->nindex);
  for (uint32_t d = 0; d < n && d < k->np; d++) loop_of[index[d]] = d;
  if (p->target->lanes && k->np && n > k->np &&
      (fits_tile(p, x, index, k->np) || may_loop_over_rows(p, k, x, loop_of)))
    n = k->np;
  if (n != k->np || !n) return false;
  for (uint32_t d = 0; d < n; d++) // in the order of the first node's output
    if (!extent_same(x->index[index[d]], k->p[d])) return false;
  x->var = loop_of;
  k->work += node_work(p, x);
  x->kernel = kernel;
  vec_push(p->arena, &k->node, node);
  return true;
}

// The last kernel that makes another operand of the next node, if that node reads `node`, too; else
// PLAN_NONE.
static uint32_t reader_kernel(const KernelGroups *g, uint32_t node) {
  const Plan *p = g->p;
  if (node + 1 >= p->node.n || p->node.at[node + 1].kind != NODE_NEST) return PLAN_NONE;
  const PlanNode *x = &p->node.at[node], *y = &p->node.at[node + 1];
  uint32_t last = PLAN_NONE;
  bool reads = false;
  for (uint32_t i = 0; i < y->nin; i++) {
    uint32_t k = g->written[wire_root(p, y->in[i].wire)];
    reads |= y->in[i].wire == x->out.wire;
    if (k != PLAN_NONE && (last == PLAN_NONE || k > last)) last = k;
  }
  return reads ? last : PLAN_NONE;
}

static bool join_sibling(KernelGroups *g, uint32_t latest, uint32_t node) {
  Plan *p = g->p;
  const PlanNode *x = &p->node.at[node];
  if (!p->kernel.n) return false;
  uint32_t last = p->kernel.n - 1, other = p->target->lanes ? reader_kernel(g, node) : PLAN_NONE;
  if (other != PLAN_NONE && may_be_sibling(g, other, latest, x) && join_as_sibling(p, other, node))
    return true;
  if (!may_be_sibling(g, last, latest, x)) return false;
  const Kernel *k = &p->kernel.at[last];
  if (x->kind != NODE_PRODUCT && !shares_input(p, k, x) && !shares_reader(p, k, x)) return false;
  return join_as_sibling(p, last, node);
}

// The axis of a wire at this position, when axes are ordered from the slowest in memory.
static uint32_t axis_at(const PlanWire *w, uint32_t at) {
  bool turned = w->rank == 2 && w->stride[0] < w->stride[1];
  return turned ? 1 - at : at;
}

// Moves reduced loops after the others, and keeps the order otherwise.
static void reductions_last(const PlanNode *x, uint32_t *order, uint32_t n) {
  uint32_t sorted[64], m = 0;
  for (int summed = 0; summed < 2; summed++)
    for (uint32_t i = 0; i < n; i++)
      if (x->reduced[order[i]] == summed) sorted[m++] = order[i];
  memcpy(order, sorted, n * sizeof *order);
}

// The loops of a node inside its kernel, slowest first.
static uint32_t inner_order(const Plan *p, const PlanNode *x, uint32_t *order) {
  uint32_t n = 0, fast = PLAN_NONE;
  bool *taken = NEW_ARRAY(p->arena, bool, x->nindex + 1);
  if (node_has_reduction(x) && !x->scatter) {
    fast = fastest_index(p, x);
    if (fast != PLAN_NONE && x->var[fast] != PLAN_NONE) fast = PLAN_NONE;
  }
  for (uint32_t at = 0; !x->scatter && at < p->wire.at[x->out.wire].rank; at++) {
    const PlanCoord *c = &x->out.coord[axis_at(&p->wire.at[x->out.wire], at)];
    // Digits of a merged axis: the largest factor first
    for (uint32_t round = 0; round < c->n; round++) {
      uint32_t best = PLAN_NONE;
      int64_t coef = -1;
      for (uint32_t t = 0; t < c->n; t++)
        if (!c->term[t].operand && !taken[c->term[t].var] && c->term[t].coef > coef)
          best = c->term[t].var, coef = c->term[t].coef;
      if (best == PLAN_NONE) break;
      taken[best] = true;
      if (x->var[best] == PLAN_NONE && best != fast) order[n++] = best;
    }
  }
  for (uint32_t i = 0; i < x->nindex; i++)
    if (!taken[i] && x->var[i] == PLAN_NONE && i != fast) order[n++] = i;
  if (fast != PLAN_NONE) order[n++] = fast;
  if (p->target->lanes && !x->scatter) reductions_last(x, order, n);
  return n;
}

// Do both reductions traverse a large operand that they share with the same strides?
static bool same_traversal(const Plan *p, const PlanNode *x, const PlanNode *y) {
  uint32_t a[64], b[64], n = inner_order(p, x, a);
  bool together = false;
  if (n != inner_order(p, y, b)) return false;
  for (uint32_t d = 0; d < n; d++)
    if (!extent_same(x->index[a[d]], y->index[b[d]]) || x->reduced[a[d]] != y->reduced[b[d]])
      return false;
  for (uint32_t i = 0; i < x->nin; i++)
    for (uint32_t j = 0; j < y->nin; j++) {
      if (x->in[i].wire != y->in[j].wire || p->wire.at[x->in[i].wire].count < node_points(p, x))
        continue;
      together = true;
      for (uint32_t d = 0; d < n; d++)
        if (operand_step(p, &x->in[i], a[d]) != operand_step(p, &y->in[j], b[d])) return false;
    }
  return together;
}

// A long reduction with few results joins another one over the same numbers, such as the gradients
// of a norm's scale and shift. Its operands must be made before the other's kernel.
static bool join_reduction(KernelGroups *g, uint32_t latest, uint32_t node) {
  enum { LOOK_BACK = 16 };
  Plan *p = g->p;
  PlanNode *x = &p->node.at[node];
  if (!p->target->lanes || x->kind != NODE_NEST || x->pinned || x->scatter || x->nindex > 60 ||
      x->noise || !node_has_reduction(x))
    return false;
  for (uint32_t i = p->kernel.n, least = i < LOOK_BACK ? 0 : i - LOOK_BACK; i-- > least;) {
    Kernel *k = &p->kernel.at[i];
    if (i < g->first_open || (latest != PLAN_NONE && i <= latest)) return false;
    const PlanNode *y = k->node.n ? &p->node.at[k->node.at[0]] : NULL;
    if (k->kind != KERNEL_LOOPS || k->blocked_loop.c || is_full(p, k) || k->depth != x->depth ||
        y->pinned || y->scatter || !wants_split_reduction(p, y, k->p, k->np))
      continue;
    PlanNode now = node_clone(p, x);
    uint32_t index[64], n = own_parallel(p, &now, index);
    bool same = n == k->np && n;
    for (uint32_t d = 0; same && d < n; d++) same = extent_same(now.index[index[d]], k->p[d]);
    if (!same) continue;
    now.var = plan_nones(p, now.nindex);
    for (uint32_t d = 0; d < n; d++) now.var[index[d]] = d;
    if (!wants_split_reduction(p, &now, k->p, k->np) || !same_traversal(p, &now, y)) continue;
    *x = now;
    k->work += node_work(p, x);
    x->kernel = i;
    vec_push(p->arena, &k->node, node);
    return true;
  }
  return false;
}

// Nodes of one attention group follow each other.
static void place_attention(Plan *p, uint32_t node) {
  PlanNode *x = &p->node.at[node];
  Kernel *last = p->kernel.n ? &p->kernel.at[p->kernel.n - 1] : NULL;
  if (!last || last->kind != KERNEL_ATTENTION ||
      p->node.at[last->node.at[0]].attention != x->attention)
    vec_push(p->arena, &p->kernel, (Kernel){.kind = KERNEL_ATTENTION});
  x->kernel = p->kernel.n - 1;
  p->kernel.at[x->kernel].work += node_work(p, x);
  vec_push(p->arena, &p->kernel.at[x->kernel].node, node);
}

static void place_node(KernelGroups *g, uint32_t node) {
  Plan *p = g->p;
  PlanNode *x = &p->node.at[node];
  uint32_t latest = PLAN_NONE;
  for (uint32_t i = 0; i < x->nin; i++) {
    uint32_t k = g->written[wire_root(p, x->in[i].wire)];
    if (k != PLAN_NONE && (latest == PLAN_NONE || k > latest)) latest = k;
  }
  bool alone = x->kind == NODE_PRODUCT && (!x->product->nbatch || p->target->lanes);
  if (x->attention) {
    place_attention(p, node);
  } else if (x->kind == NODE_ORDER || alone) {
    Kernel k = {
        .kind = alone ? KERNEL_PRODUCT : KERNEL_ORDER, .depth = x->depth, .work = node_work(p, x)};
    if (!alone) k.work = 16 * p->wire.at[x->out.wire].count;
    vec_push(p->arena, &k.node, node);
    x->kernel = p->kernel.n;
    vec_push(p->arena, &p->kernel, k);
  } else if (!p->fuse || ((latest == PLAN_NONE || !join_kernel(g, latest, node)) &&
                          !join_sibling(g, latest, node) && !join_reduction(g, latest, node))) {
    open_kernel(g, node);
  }
  x = &p->node.at[node];
  uint32_t *written = &g->written[wire_root(p, x->out.wire)];
  // Several kernels may make parts of it
  if (*written == PLAN_NONE || *written < x->kernel) *written = x->kernel;
  g->maker[x->out.wire] = g->made[x->out.wire] ? PLAN_NONE : node;
  g->made[x->out.wire] = true;
  for (uint32_t i = 0; i < x->nwinner; i++)
    if (x->winner[i] != PLAN_NONE) {
      g->written[x->winner[i]] = x->kernel;
      g->maker[x->winner[i]] = node;
    }
}

static void place_scan_bracket(KernelGroups *g, uint32_t node) {
  Plan *p = g->p;
  PlanNode *x = &p->node.at[node];
  Kernel k = {.kind = x->kind == NODE_SCAN ? KERNEL_SCAN : KERNEL_SCAN_END, .depth = x->depth};
  vec_push(p->arena, &k.node, node);
  x->kernel = p->kernel.n;
  vec_push(p->arena, &p->kernel, k);
  g->first_open = p->kernel.n;
}

// -- nests ----------------------------------------------------------------------------------------
bool node_wants_winner(const PlanNode *x) {
  for (uint32_t i = 0; i < x->nwinner; i++)
    if (x->winner[i] != PLAN_NONE) return true;
  return false;
}

// Can these reductions be kept in registers while the nest runs? They reduce the last loops, or do
// not reduce the innermost one.
static bool reductions_fit(const Plan *p, const PlanNode *x, const uint32_t *index_of,
                           uint32_t ndim) {
  uint32_t first = ndim;
  if (!ndim) return true;
  while (first > 0 && x->reduced[index_of[first - 1]]) first--;
  if (first == ndim && !p->target->lanes) return true;
  for (uint32_t d = 0; d < first; d++)
    if (x->reduced[index_of[d]]) return false;
  return !node_wants_winner(x);
}

// On a GPU a reduction joins another one if both reduce the same loops, and x keeps the order of its
// own loops.
static bool may_reduce_beside(const Plan *p, const Kernel *k, const Nest *s, const PlanNode *x,
                              const uint32_t *index_of, const uint32_t *order) {
  if (!p->target->lanes || node_wants_winner(x)) return false;
  for (uint32_t d = 0; d < s->ndim; d++)
    if (index_of[d] != order[d]) return false;
  for (uint32_t i = 0; i < s->node.n; i++) {
    const PlanNode *y = &p->node.at[s->node.at[i]];
    bool alike = node_has_reduction(y) && !node_wants_winner(y);
    for (uint32_t v = 0; alike && v < y->nindex; v++)
      alike = y->var[v] < k->np || y->reduced[v] == x->reduced[index_of[y->var[v] - k->np]];
    if (alike) return true;
  }
  return false;
}

// The index of a coordinate: a plain index, or the row of the current block.
static bool inner_index(const Plan *p, const Kernel *k, const PlanNode *x, const Operand *o,
                        uint32_t axis, uint32_t *index) {
  const PlanCoord *c = &o->coord[axis];
  if (operand_axis_is_index(p, o, axis, index)) return true;
  if (!k->block || c->n != 2 || c->c || c->check) return false;
  for (uint32_t i = 0; i < 2; i++) {
    const PlanTerm *block = &c->term[i], *row = &c->term[1 - i];
    if (block->operand || row->operand || row->coef != 1 || x->var[block->var] != k->np - 1)
      continue;
    *index = row->var;
    return true;
  }
  return false;
}

// For each loop of the nest, the index of x that runs with it; false: x cannot join.
static bool match_nest(const KernelGroups *g, const Kernel *k, uint32_t nest, const PlanNode *x,
                       uint32_t *index_of) {
  const Plan *p = g->p;
  const Nest *s = &k->nest.at[nest];
  uint32_t order[64], n = inner_order(p, x, order), at, index;
  if (n != s->ndim || x->scatter || x->kind != NODE_NEST) return false;
  bool *taken = NEW_ARRAY(p->arena, bool, x->nindex + 1), reads = false;
  for (uint32_t d = 0; d < n; d++) index_of[d] = PLAN_NONE;
  for (uint32_t i = 0; i < x->nin; i++) {
    uint32_t w = x->in[i].wire;
    if (wire_root(p, w) != w || g->maker[w] == PLAN_NONE) continue;
    const PlanNode *y = &p->node.at[g->maker[w]];
    if (y->kernel != x->kernel || y->nest != nest) continue;
    if (node_has_reduction(y) || y->scatter || y->kind != NODE_NEST || x->in[i].padded)
      return false;
    reads = true;
    for (uint32_t axis = 0; axis < p->wire.at[w].rank; axis++) {
      if (!inner_index(p, k, y, &y->out, axis, &index) ||
          !inner_index(p, k, x, &x->in[i], axis, &at))
        return false;
      uint32_t d = y->var[index] - k->np;
      if (y->var[index] < k->np) continue; // a parallel loop: matched already
      if (x->var[at] != PLAN_NONE || !extent_same(x->index[at], s->dim[d]) ||
          (index_of[d] != PLAN_NONE && index_of[d] != at))
        return false;
      if (index_of[d] == PLAN_NONE && taken[at]) return false;
      index_of[d] = at;
      taken[at] = true;
    }
  }
  for (uint32_t d = 0; d < n; d++) { // the other loops in x's own order
    for (uint32_t i = 0; index_of[d] == PLAN_NONE && i < n; i++)
      if (!taken[order[i]] && extent_same(x->index[order[i]], s->dim[d])) {
        index_of[d] = order[i];
        taken[order[i]] = true;
        break;
      }
    if (index_of[d] == PLAN_NONE) return false;
  }
  if (!n && !k->np && reads) return false; // scalars alone are doubles, as in memory
  if (!reads && n &&
      (node_has_reduction(x) ? !may_reduce_beside(p, k, s, x, index_of, order)
                             : index_of[n - 1] != order[n - 1]))
    return false; // x would be strided in memory
  return reductions_fit(p, x, index_of, n);
}

// The first nest after those that make the operands of x, as far as they precede `node` in the
// kernel.
static uint32_t first_nest_after_operands(const KernelGroups *g, const Kernel *k, const PlanNode *x,
                                          uint32_t node) {
  const Plan *p = g->p;
  uint32_t first = 0;
  for (uint32_t i = 0; i < x->nin; i++) {
    uint32_t w = x->in[i].wire, root = wire_root(p, w);
    for (uint32_t j = 0; j < k->node.n && k->node.at[j] != node; j++) {
      const PlanNode *y = &p->node.at[k->node.at[j]];
      bool makes = wire_root(p, y->out.wire) == root;
      for (uint32_t v = 0; v < y->nwinner; v++) makes |= y->winner[v] == w;
      uint32_t from = y->nest + (g->maker[w] == PLAN_NONE); // made in parts: after the last part
      if (makes && from > first) first = from;
    }
  }
  return first;
}

// On a GPU a node with small operands is computed in the nest of its reader, so that its value
// stays in a register.
static uint32_t nest_of_reader(const KernelGroups *g, const Kernel *k, uint32_t node) {
  const Plan *p = g->p;
  const PlanNode *x = &p->node.at[node];
  if (!p->target->lanes || !node_is_elementwise(x)) return 0;
  for (uint32_t i = 0; i < x->nin; i++)
    if (p->wire.at[x->in[i].wire].count >= node_points(p, x)) return 0;
  for (uint32_t j = k->node.n; j-- > 0 && k->node.at[j] != node;) {
    const PlanNode *y = &p->node.at[k->node.at[j]];
    for (uint32_t i = 0; i < y->nin; i++)
      if (y->in[i].wire == x->out.wire) return first_nest_after_operands(g, k, y, node);
  }
  return 0;
}

static void place_in_nest(const KernelGroups *g, Kernel *k, uint32_t node) {
  Plan *p = g->p;
  PlanNode *x = &p->node.at[node];
  uint32_t first = first_nest_after_operands(g, k, x, node), later = nest_of_reader(g, k, node),
           index_of[64];
  if (first < later) first = later;
  for (uint32_t s = first; p->fuse && s < k->nest.n; s++) {
    if (!match_nest(g, k, s, x, index_of)) continue;
    for (uint32_t d = 0; d < k->nest.at[s].ndim; d++) x->var[index_of[d]] = k->np + d;
    x->nest = s;
    vec_push(p->arena, &k->nest.at[s].node, node);
    return;
  }
  uint32_t order[64], n = inner_order(p, x, order);
  Nest s = {.ndim = n, .dim = NEW_ARRAY(p->arena, Extent, n + 1)};
  for (uint32_t d = 0; d < n; d++) {
    s.dim[d] = x->index[order[d]];
    x->var[order[d]] = k->np + d;
  }
  vec_push(p->arena, &s.node, node);
  x->nest = k->nest.n;
  vec_push(p->arena, &k->nest, s);
}

// -- tasks ----------------------------------------------------------------------------------------
// A kernel of one nest without inner loops: the last parallel loop becomes the nest's, so that it
// is the innermost.
static void move_loop_to_nest(Plan *p, Kernel *k) {
  if (k->nest.n != 1 || k->nest.at[0].ndim || !k->np ||
      p->node.at[k->nest.at[0].node.at[0]].kind == NODE_PRODUCT)
    return;
  Nest *s = &k->nest.at[0];
  s->ndim = 1;
  s->dim = &k->p[--k->np]; // loop numbers stay: the nest's loops follow the parallel ones
  k->ranged = !k->np;
}

static void split_into_tasks(Plan *p, Kernel *k) {
  int64_t points = 1;
  move_loop_to_nest(p, k);
  k->split = 0;
  while (k->split < k->np - k->ordered && (points < 64 || k->split == 0))
    points *= extent_most(p, k->p[k->split++]);
  if (k->ranged) points = extent_most(p, k->nest.at[0].dim[0]);
  int64_t each = k->work / (points ? points : 1) + 1;
  k->grain = 16384 / each;
  if (k->grain < 1) k->grain = 1;
  if (k->ranged) k->grain = (k->grain + 63) / 64 * 64;
}

// -- collapsed loops ------------------------------------------------------------------------------
static uint32_t index_at(const PlanNode *x, uint32_t var) {
  for (uint32_t i = 0; i < x->nindex; i++)
    if (x->var[i] == var) return i;
  return PLAN_NONE;
}

// Is the stride of the outer loop the length of the inner one times its stride?
static bool is_contiguous_across(const Plan *p, const Operand *o, uint32_t outer, uint32_t inner,
                                 int64_t length) {
  for (uint32_t i = 0; i < p->wire.at[o->wire].rank; i++)
    for (uint32_t k = 0; k < o->coord[i].n; k++) {
      const PlanTerm *t = &o->coord[i].term[k];
      if (o->coord[i].check && !t->operand && (t->var == outer || t->var == inner)) return false;
    }
  return operand_step(p, o, outer) == operand_step(p, o, inner) * length;
}

static bool may_merge(const Plan *p, const Kernel *k, const Nest *s, uint32_t d) {
  if (s->dim[d + 1].per || s->dim[d].part || s->dim[d + 1].part) return false;
  for (uint32_t j = 0; j < s->node.n; j++) {
    const PlanNode *x = &p->node.at[s->node.at[j]];
    uint32_t outer = index_at(x, k->np + d), inner = index_at(x, k->np + d + 1);
    if (x->kind != NODE_NEST || x->noise || x->nwinner || outer == PLAN_NONE ||
        inner == PLAN_NONE || x->reduced[outer] != x->reduced[inner] || reads_position(x, outer) ||
        reads_position(x, inner))
      return false;
    for (uint32_t i = 0; i < x->nin; i++)
      if (!is_contiguous_across(p, &x->in[i], outer, inner, s->dim[d + 1].c)) return false;
    if (!x->reduced[outer] && !is_contiguous_across(p, &x->out, outer, inner, s->dim[d + 1].c))
      return false;
  }
  return true;
}

static void drop_terms(Plan *p, Operand *o, uint32_t index) {
  for (uint32_t i = 0; i < p->wire.at[o->wire].rank; i++) {
    PlanCoord *c = &o->coord[i];
    PlanTerm *term = NEW_ARRAY(p->arena, PlanTerm, c->n + 1);
    uint32_t n = 0;
    for (uint32_t k = 0; k < c->n; k++) {
      PlanTerm t = c->term[k];
      if (!t.operand && t.var == index) continue;
      if (!t.operand && t.var > index) t.var--;
      term[n++] = t;
    }
    c->term = term;
    c->n = n;
  }
}

static void drop_index(Plan *p, PlanNode *x, uint32_t index) {
  Scalar *scalar = arena_copy(p->arena, x->scalar, x->nscalar * sizeof *scalar);
  for (uint32_t i = 0; i < x->nscalar; i++)
    if (scalar[i].fn == FN_AT && scalar[i].ref > index) scalar[i].ref--;
  x->scalar = scalar;
  for (uint32_t i = 0; i < x->nin; i++) drop_terms(p, &x->in[i], index);
  drop_terms(p, &x->out, index);
  x->nindex--;
  for (uint32_t i = index; i < x->nindex; i++) {
    x->index[i] = x->index[i + 1];
    x->reduced[i] = x->reduced[i + 1];
    x->var[i] = x->var[i + 1];
  }
}

// Collapses two loops that are contiguous in all operands: the inner index takes the whole range,
// the outer one is dropped.
static void merge_loops(Plan *p, Kernel *k, Nest *s, uint32_t d) {
  int64_t length = s->dim[d + 1].c;
  Extent both = {.c = s->dim[d].c * length, .per = s->dim[d].per * length};
  for (uint32_t j = 0; j < s->node.n; j++) {
    PlanNode *x = &p->node.at[s->node.at[j]];
    uint32_t outer = index_at(x, k->np + d);
    x->index[index_at(x, k->np + d + 1)] = both;
    for (uint32_t i = 0; i < x->nindex; i++)
      if (x->var[i] > k->np + d) x->var[i]--;
    drop_index(p, x, outer);
  }
  s->dim[d] = both;
  for (uint32_t i = d + 1; i + 1 < s->ndim; i++) s->dim[i] = s->dim[i + 1];
  s->ndim--;
}

static void merge_nest(Plan *p, Kernel *k, Nest *s) {
  for (uint32_t d = 0; s->ndim > 1 && d + 1 < s->ndim;)
    if (may_merge(p, k, s, d))
      merge_loops(p, k, s, d);
    else
      d++;
}

// Many nodes would be one function that takes long to compile.
bool plan_is_tiny(const Plan *p) {
  int64_t work = 0;
  if (p->node.n > TINY_NODES) return false;
  for (uint32_t i = 0; i < p->node.n; i++) {
    const PlanNode *x = &p->node.at[i];
    if (x->kind == NODE_PRODUCT && !x->product->nbatch) return false;
    if (x->kind == NODE_NEST || x->kind == NODE_PRODUCT)
      work += node_work(p, x) * (x->depth ? 64 : 1);
  }
  return work < p->target->tiny_work;
}

void plan_kernels(Plan *p) {
  KernelGroups g = {.p = p,
                    .written = plan_nones(p, p->wire.n),
                    .maker = plan_nones(p, p->wire.n),
                    .made = NEW_ARRAY(p->arena, bool, p->wire.n + 1)};
  p->tiny = p->fuse && plan_is_tiny(p);
  if (p->tiny && !p->target->lanes) plan_transpose_short_rows(p);
  for (uint32_t i = 0; i < p->node.n; i++) {
    PlanNodeKind kind = p->node.at[i].kind;
    if (kind == NODE_SCAN || kind == NODE_SCAN_END)
      place_scan_bracket(&g, i);
    else if (kind != NODE_GONE)
      place_node(&g, i);
  }
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    Kernel *k = &p->kernel.at[i];
    if (k->kind == KERNEL_ATTENTION) attention_kernel(p, k);
    if (k->kind != KERNEL_LOOPS) continue;
    kernel_block_loop(p, k);
    for (uint32_t j = 0; j < k->node.n; j++) place_in_nest(&g, k, k->node.at[j]);
  }
  plan_hoist_kernels(p);
  if (p->epilogues && !p->tiny) plan_product_epilogues(p);
  if (p->target->lanes && p->fuse && !p->tiny) plan_pad_in_place(p); // before loops are collapsed
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    Kernel *k = &p->kernel.at[i];
    if (k->kind != KERNEL_LOOPS) continue;
    for (uint32_t j = 0; j < k->nest.n; j++) merge_nest(p, k, &k->nest.at[j]);
    split_into_tasks(p, k);
  }
}
