// Numbers of pairs: a product whose sum is short and whose result is large (the scores of attention, one for
// each pair of places) and what is made of it point by point. They are never in memory: whatever is
// summed of them, over one place or the other, makes the pairs it needs once more, tile by tile, in the
// matrix units' own registers.
//
// In comes a plan whose products are known and narrow. Pairs are found: seeds (products), points (nests of the
// same loops) and results: sums over one of both places, and products that contract one. A wire of pairs
// that anything else reads stays in memory. Each result, or several that do not need each other, becomes a
// group of nodes of its own: copies of the pairs that it needs, then the results. A group is one kernel.
#include "run/plan/plan.h"

enum { PLACES_LEAST = 64, PLACES_MOST = 1 << 24 }; // numbers of places are ints in the text

typedef enum { NOT_PAIRS, SEED, POINT, RESULT, WALK_ROW } PairKind;

typedef struct {
  uint32_t low, high; // the wire's axes that are places; equal: it is no wire of pairs
} PairAxes;

typedef struct {
  Plan *p;
  uint32_t n;            // nodes
  PairKind *kind;        // [node]
  uint32_t *over;        // [node] of a result: the axis that it sums over
  PairAxes *axes;        // [wire]
  bool *stored;          // [wire] it must be in memory
  uint32_t *maker;       // [wire] the node that makes it, of wires of pairs
  uint32_t *group;       // [node] of a result: the last node of its group
  const PairWalk **walk; // [node] of a result: the walk that it is of, or NULL
} Pairs;

static bool is_pairs(const Pairs *g, uint32_t wire) {
  return g->axes[wire].low != g->axes[wire].high && !g->stored[wire];
}

// -- what may be pairs ----------------------------------------------------------------------------
static bool is_place(Extent e) {
  return !e.per && !e.part && e.c >= PLACES_LEAST && e.c <= PLACES_MOST;
}
static bool is_short(Extent e) {
  return !e.per && !e.part && (e.c == 32 || e.c == 64 || e.c == 128);
}

// Bfloat16 that lie along this index, and everything else at multiples of eight.
static bool is_row_factor(const Plan *p, const PlanNode *x, const Operand *o, uint32_t along) {
  enum { EIGHT = 8 };
  if (p->wire.at[o->wire].number != NUMBER_BF16 || operand_step(p, o, along) != 1 ||
      operand_start(p, o) % EIGHT)
    return false;
  for (uint32_t i = 0; i < x->nindex; i++)
    if (i != along && operand_step(p, o, i) % EIGHT) return false;
  return true;
}

static uint32_t axis_of(const uint32_t *index, uint32_t rank, uint32_t wanted) {
  uint32_t i = 0;
  while (i < rank && index[i] != wanted) i++;
  return i;
}

static bool is_lone(const PlanNode *x) {
  return !x->depth && !x->pinned && !x->scatter && !x->noise && !node_wants_winner(x);
}

static bool is_seed(const Plan *p, const PlanNode *x, PairAxes *axes) {
  const Product *q = x->product;
  uint32_t index[PLAN_AXES], rank = p->wire.at[x->out.wire].rank;
  if (x->kind != NODE_PRODUCT || !is_lone(x) || q->nm != 1 || q->nn != 1 || q->nk != 1 ||
      p->wire.at[x->out.wire].of != PLAN_NONE || !is_place(x->index[q->m[0]]) ||
      !is_place(x->index[q->n[0]]) || !is_short(x->index[q->k[0]]) ||
      !operand_whole(p, &x->out, index) || !is_row_factor(p, x, &x->in[q->a], q->k[0]) ||
      !is_row_factor(p, x, &x->in[q->b], q->k[0]))
    return false;
  uint32_t m = axis_of(index, rank, q->m[0]), n = axis_of(index, rank, q->n[0]);
  *axes = (PairAxes){m < n ? m : n, m < n ? n : m};
  return true;
}

// All pairs that a nest reads are read at the same point, whose indices go to `index`; all have the same two
// places.
static bool reads_pairs(const Pairs *g, const PlanNode *x, uint32_t *index, PairAxes *axes) {
  const Plan *p = g->p;
  uint32_t found = 0, rank = 0;
  for (uint32_t i = 0; i < x->nin; i++) {
    uint32_t now[PLAN_AXES], w = x->in[i].wire;
    if (!is_pairs(g, w)) continue;
    if (!operand_whole(p, &x->in[i], now)) return false;
    if (found++ && (p->wire.at[w].rank != rank || memcmp(now, index, rank * sizeof *now) ||
                    axes->low != g->axes[w].low || axes->high != g->axes[w].high))
      return false;
    rank = p->wire.at[w].rank;
    memcpy(index, now, rank * sizeof *now);
    *axes = g->axes[w];
  }
  return found && x->nindex == rank;
}

static bool is_point(const Pairs *g, const PlanNode *x, const uint32_t *index) {
  const Plan *p = g->p;
  uint32_t out[PLAN_AXES];
  return !node_sums(x) && p->wire.at[x->out.wire].of == PLAN_NONE &&
         p->wire.at[x->out.wire].rank == x->nindex && operand_whole(p, &x->out, out) &&
         !memcmp(out, index, x->nindex * sizeof *out);
}

// A nest that sums over one of the places; `over`: that axis of the pairs.
static bool is_sum(const Pairs *g, const PlanNode *x, const uint32_t *index, PairAxes axes,
                   uint32_t *over) {
  uint32_t out[PLAN_AXES], reduced = 0;
  for (uint32_t i = 0; i < x->nindex; i++) reduced += x->reduced[i];
  *over = x->reduced[index[axes.low]] ? axes.low : axes.high;
  return reduced == 1 && x->reduced[index[*over]] && x->combine != PROD &&
         g->p->wire.at[x->out.wire].base == BASE_R && operand_whole(g->p, &x->out, out);
}

// A product that contracts one of the places with rows of another factor.
static bool is_weighing(const Pairs *g, const PlanNode *x, uint32_t *over) {
  const Plan *p = g->p;
  const Product *q = x->product;
  bool a = is_pairs(g, x->in[q->a].wire), b = is_pairs(g, x->in[q->b].wire);
  if (x->kind != NODE_PRODUCT || !is_lone(x) || a == b || q->nm != 1 || q->nn != 1 || q->nk != 1)
    return false;
  const Operand *o = &x->in[a ? q->a : q->b], *rows = &x->in[a ? q->b : q->a];
  uint32_t index[PLAN_AXES], rank = p->wire.at[o->wire].rank, stays = a ? q->m[0] : q->n[0],
                             along = a ? q->n[0] : q->m[0];
  PairAxes axes = g->axes[o->wire];
  if (!operand_whole(p, o, index)) return false;
  *over = axis_of(index, rank, q->k[0]);
  uint32_t other = axis_of(index, rank, stays);
  return (*over == axes.low || *over == axes.high) && (other == axes.low || other == axes.high) &&
         is_short(x->index[along]) && is_row_factor(p, x, rows, along) && operand_free(p, &x->out);
}

static void classify(Pairs *g, uint32_t i) {
  const PlanNode *x = &g->p->node.at[i];
  uint32_t index[PLAN_AXES];
  PairAxes axes = {0, 0};
  g->kind[i] = NOT_PAIRS;
  if (x->kind == NODE_PRODUCT && is_seed(g->p, x, &axes)) {
    g->kind[i] = SEED;
  } else if (x->kind == NODE_PRODUCT) {
    if (is_weighing(g, x, &g->over[i])) g->kind[i] = RESULT;
    return;
  } else if (x->kind != NODE_NEST || !is_lone(x) || !reads_pairs(g, x, index, &axes)) {
    return;
  } else if (is_point(g, x, index)) {
    g->kind[i] = POINT;
  } else {
    if (is_sum(g, x, index, axes, &g->over[i])) g->kind[i] = RESULT;
    return;
  }
  g->axes[x->out.wire] = axes;
  g->maker[x->out.wire] = i;
}

// Pairs that somebody else reads, or that are made of none, are in memory. False: nothing new was found.
static bool store_read(Pairs *g) {
  const Plan *p = g->p;
  bool found = false;
  for (uint32_t i = 0; i < g->n; i++) {
    const PlanNode *x = &p->node.at[i];
    if (x->kind == NODE_GONE) continue;
    bool inside = g->kind[i] == RESULT || (g->kind[i] == POINT && is_pairs(g, x->out.wire)),
         any = false;
    for (uint32_t k = 0; k < x->nin; k++) {
      uint32_t w = x->in[k].wire;
      any |= is_pairs(g, w);
      if (inside || !is_pairs(g, w)) continue;
      g->stored[w] = found = true;
    }
    if (g->kind[i] == RESULT && !any) g->kind[i] = NOT_PAIRS;
    if (g->kind[i] == POINT && is_pairs(g, x->out.wire) && !any)
      g->stored[x->out.wire] = found = true;
  }
  return found;
}

static void find_pairs(Pairs *g) {
  for (uint32_t i = 0; i < g->n; i++) classify(g, i);
  while (store_read(g)) {
  }
}

// -- groups ---------------------------------------------------------------------------------------
// The nodes behind `from` that need what it makes, one way or another, up to `to`.
static bool *find_needing(const Pairs *g, uint32_t from, uint32_t to) {
  const Plan *p = g->p;
  bool *wire = NEW_ARRAY(p->arena, bool, p->wire.n + 1),
       *needs = NEW_ARRAY(p->arena, bool, g->n + 1);
  wire[wire_root(p, p->node.at[from].out.wire)] = true;
  for (uint32_t i = from + 1; i <= to; i++) {
    const PlanNode *x = &p->node.at[i];
    for (uint32_t k = 0; x->kind != NODE_GONE && k < x->nin; k++)
      needs[i] |= wire[wire_root(p, x->in[k].wire)];
    for (uint32_t k = 0; needs[i] && k <= x->nwinner; k++) {
      uint32_t w = k ? x->winner[k - 1] : x->out.wire;
      if (w != PLAN_NONE) wire[wire_root(p, w)] = true;
    }
  }
  return needs;
}

static const Operand *pairs_of(const Pairs *g, const PlanNode *x) {
  for (uint32_t i = 0; i < x->nin; i++)
    if (is_pairs(g, x->in[i].wire)) return &x->in[i];
  return NULL;
}

// Do two wires have the same places, and the same batch?
static bool is_alike_wire(const Pairs *g, uint32_t a, uint32_t b) {
  const PlanWire *x = &g->p->wire.at[a], *y = &g->p->wire.at[b];
  if (x->rank != y->rank) return false;
  for (uint32_t k = 0; k < x->rank; k++)
    if (!extent_same(x->shape[k], y->shape[k])) return false;
  return g->axes[a].low == g->axes[b].low && g->axes[a].high == g->axes[b].high;
}

// Do two results walk over the same pairs the same way?
static bool is_alike(const Pairs *g, uint32_t i, uint32_t j) {
  const Operand *a = pairs_of(g, &g->p->node.at[i]), *b = pairs_of(g, &g->p->node.at[j]);
  return g->over[i] == g->over[j] && is_alike_wire(g, a->wire, b->wire);
}

// A result is made with a later one that walks the same way and does not need it, if what stands between
// may follow both.
static bool may_wait(const Pairs *g, uint32_t i, uint32_t last) {
  const bool *needs = find_needing(g, i, last);
  for (uint32_t k = i + 1; k <= last; k++)
    if (needs[k] && g->kind[k] == RESULT) return false;
  return nodes_movable(g->p, i + 1, last);
}

// Does a walk read this wire besides the numbers that it makes itself?
static bool walk_reads(const Pairs *g, const PairWalk *w, uint32_t from, uint32_t wire) {
  const PlanNode *x = &g->p->node.at[from];
  for (uint32_t i = 0; i < x->nin; i++) {
    uint32_t in = x->in[i].wire;
    bool own = in == g->p->node.at[w->row].out.wire || in == g->p->node.at[w->sum].out.wire;
    if (!own && wire_root(g->p, in) == wire_root(g->p, wire)) return true;
    if (is_pairs(g, in) && walk_reads(g, w, g->maker[in], wire)) return true;
  }
  return false;
}

// In one walk the largest number is known at the end: nothing else of the walk may need it, and no result
// that comes before.
static bool may_walk(const Pairs *g, const PairWalk *w) {
  uint32_t last = w->weighing == PLAN_NONE ? w->sum : w->weighing;
  const bool *needs = find_needing(g, w->max, last);
  for (uint32_t k = w->max + 1; k < last; k++) {
    if (!needs[k] || k == w->sum) continue;
    if (g->kind[k] == RESULT) return false;
    if (g->kind[k] == NOT_PAIRS && k != w->row &&
        (walk_reads(g, w, w->sum, g->p->node.at[k].out.wire) ||
         walk_reads(g, w, last, g->p->node.at[k].out.wire)))
      return false;
  }
  return nodes_movable(g->p, w->max + 1, last);
}

static void find_walks(Pairs *g) {
  for (uint32_t i = 0; i < g->n; i++) {
    PairWalk *w = NEW(g->p->arena, PairWalk);
    if (g->kind[i] != RESULT || !pairs_walk(g->p, g->maker, g->over, i, w) || !may_walk(g, w))
      continue;
    uint32_t last = w->weighing == PLAN_NONE ? w->sum : w->weighing;
    g->walk[i] = g->walk[w->sum] = g->walk[last] = w;
    g->group[i] = g->group[w->sum] = g->group[last] = last;
    g->kind[w->row] = WALK_ROW;
  }
}

static void find_groups(Pairs *g) {
  for (uint32_t i = g->n; i-- > 0;) {
    uint32_t j = i + 1;
    if (g->walk[i]) continue;
    g->group[i] = i;
    if (g->kind[i] != RESULT) continue;
    while (j < g->n && !(g->kind[j] == RESULT && !g->walk[j] && is_alike(g, i, j))) j++;
    if (j < g->n && may_wait(g, i, g->group[j])) g->group[i] = g->group[j];
  }
}

// -- writing --------------------------------------------------------------------------------------
static uint32_t wire_copy(Plan *p, uint32_t of) {
  uint32_t copy = plan_wire_again(p, of);
  PlanWire *w = &p->wire.at[copy];
  if (w->number == NUMBER_BF16) w->number = NUMBER_F32; // in registers
  return copy;
}

// A group while it is written.
typedef struct {
  Pairs *g;
  PlanNode *all;
  uint32_t id, *copy;      // [wire] its own, of this group
  uint32_t *swap;          // [wire] read instead of it
  uint32_t var[PLAN_AXES]; // [axis of pairs] which loop it is: those of the batch, the place that
                           // stays, the place that is summed over
} PairGroup;

// Which loop each index is: by the pairs that a node reads, or makes.
static void lay_loops(const PairGroup *w, PlanNode *x, const Operand *pairs) {
  const Plan *p = w->g->p;
  uint32_t index[PLAN_AXES];
  x->var = plan_nones(p, x->nindex);
  operand_whole(p, pairs, index);
  for (uint32_t i = 0; i < p->wire.at[pairs->wire].rank; i++) x->var[index[i]] = w->var[i];
}

// The pairs that a node needs are made anew.
static void push_needed(PairGroup *w, PlanNode x, PairKind kind) {
  Plan *p = w->g->p;
  lay_loops(w, &x, kind == RESULT ? pairs_of(w->g, &x) : &x.out);
  x.in = arena_copy(p->arena, x.in, x.nin * sizeof *x.in);
  for (uint32_t i = 0; i < x.nin; i++) {
    uint32_t of = x.in[i].wire;
    if (w->swap[of] != PLAN_NONE) x.in[i].wire = w->swap[of];
    if (!is_pairs(w->g, of)) continue;
    if (w->copy[of] == PLAN_NONE) {
      PlanNode y = plan_again(p, &w->all[w->g->maker[of]]);
      y.out.wire = w->copy[of] = wire_copy(p, of);
      push_needed(w, y, w->g->kind[w->g->maker[of]]);
    }
    x.in[i].wire = w->copy[of];
  }
  x.pairs = w->id;
  vec_push(p->arena, &p->node, x);
}

// Is the loop that is summed over the outer one of both? What is known at the outer one is made once for several
// points: so it is the place of which more is read. But sums of points want the summed loop last.
static bool summed_first(const Pairs *g, uint32_t last, const PlanNode *all, const Operand *pairs) {
  const Plan *p = g->p;
  PairAxes axes = g->axes[pairs->wire];
  int more = 0;
  for (uint32_t i = 0; i < g->n; i++) {
    const PlanNode *x = &all[i];
    if (g->kind[i] == RESULT && g->group[i] == last && x->kind == NODE_NEST) return false;
    if (g->kind[i] != POINT || !pairs_of(g, x) || !is_alike_wire(g, x->out.wire, pairs->wire))
      continue;
    uint32_t index[PLAN_AXES];
    operand_whole(p, &x->out, index);
    for (uint32_t k = 0; k < x->nin; k++) {
      bool low = operand_has(p, &x->in[k], index[axes.low]),
           high = operand_has(p, &x->in[k], index[axes.high]);
      if (low != high) more += (g->over[last] == axes.low) == low ? 1 : -1;
    }
  }
  return more > 0;
}

// One cell, that the text of a kernel has at hand.
static uint32_t wire_at_hand(Plan *p, uint32_t of) {
  uint32_t copy = wire_copy(p, of);
  PlanWire *w = &p->wire.at[copy];
  w->place = AT_TILE;
  w->count = 1;
  w->of = PLAN_NONE;
  w->kept = false;
  memset(w->stride, 0, w->rank * sizeof *w->stride);
  return copy;
}

// Behind the largest number so far stands what is made of it, once for a row: the node itself, which is made nowhere
// else.
static void push_row(PairGroup *w, const PairWalk *of) {
  Plan *p = w->g->p;
  const PlanNode *max = &w->all[of->max], *sum = &w->all[of->sum];
  PlanNode x = plan_again(p, &w->all[of->row]);
  uint32_t in[PLAN_AXES], out[PLAN_AXES], row[PLAN_AXES], rank = p->wire.at[max->in[0].wire].rank;
  operand_whole(p, &max->in[0], in);
  operand_whole(p, &max->out, out);
  operand_whole(p, &x.in[0], row);
  x.var = plan_nones(p, x.nindex);
  for (uint32_t i = 0; i < rank; i++)
    for (uint32_t k = 0; k + 1 < rank; k++)
      if (in[i] == out[k]) x.var[row[k]] = w->var[i];
  x.in = arena_copy(p->arena, x.in, sizeof *x.in);
  x.in[0].wire = wire_at_hand(p, max->out.wire);
  w->swap[sum->out.wire] = wire_at_hand(p, sum->out.wire);
  x.pairs = w->id;
  vec_push(p->arena, &p->node, x);
}

static void push_group(Pairs *g, uint32_t last, PlanNode *all) {
  PairGroup w = {.g = g,
                 .all = all,
                 .id = last + 1,
                 .copy = plan_nones(g->p, g->p->wire.n),
                 .swap = plan_nones(g->p, g->p->wire.n)};
  const Operand *pairs = pairs_of(g, &all[last]);
  PairAxes axes = g->axes[pairs->wire];
  uint32_t rank = g->p->wire.at[pairs->wire].rank, batch = 0;
  bool turned = summed_first(g, last, all, pairs);
  for (uint32_t i = 0; i < rank; i++)
    w.var[i] = i == g->over[last]                ? rank - 1 - turned
               : i == axes.low || i == axes.high ? rank - 2 + turned
                                                 : batch++;
  for (uint32_t i = 0; i <= last; i++) {
    if (g->kind[i] != RESULT || g->group[i] != last) continue;
    push_needed(&w, all[i], RESULT);
    if (g->walk[i] && g->walk[i]->max == i) push_row(&w, g->walk[i]);
  }
}

// For each node, the group that it has to follow, because it needs one of its results; PLAN_NONE: none.
static uint32_t *find_waiting(const Pairs *g) {
  uint32_t *behind = plan_nones(g->p, g->n);
  for (uint32_t i = 0; i < g->n; i++) {
    if (g->kind[i] != RESULT || g->group[i] == i) continue;
    const bool *needs = find_needing(g, i, g->group[i]);
    for (uint32_t j = i + 1; j < g->group[i]; j++)
      if (needs[j] && (behind[j] == PLAN_NONE || behind[j] < g->group[i])) behind[j] = g->group[i];
  }
  return behind;
}

static void write_nodes(Pairs *g) {
  Plan *p = g->p;
  PlanNode *all = arena_copy(p->arena, p->node.at, g->n * sizeof *all);
  const uint32_t *behind = find_waiting(g);
  p->node.n = 0;
  for (uint32_t i = 0; i < g->n; i++) {
    if (g->kind[i] == NOT_PAIRS && behind[i] == PLAN_NONE) vec_push(p->arena, &p->node, all[i]);
    if (g->kind[i] != RESULT || g->group[i] != i) continue;
    push_group(g, i, all);
    for (uint32_t j = 0; j < i; j++)
      if (g->kind[j] == NOT_PAIRS && behind[j] == i) vec_push(p->arena, &p->node, all[j]);
  }
}

static Pairs pairs_of_plan(Plan *p) {
  uint32_t n = p->node.n, wires = p->wire.n;
  Pairs g = {.p = p,
             .n = n,
             .kind = NEW_ARRAY(p->arena, PairKind, n + 1),
             .over = plan_nones(p, n),
             .axes = NEW_ARRAY(p->arena, PairAxes, wires + 1),
             .stored = plan_uses(p).seen,
             .maker = plan_nones(p, wires),
             .group = plan_nones(p, n),
             .walk = NEW_ARRAY(p->arena, const PairWalk *, n + 1)};
  find_pairs(&g);
  for (uint32_t i = 0; i < n; i++) {
    bool made = g.kind[i] == SEED || g.kind[i] == POINT;
    if (g.kind[i] != RESULT) g.over[i] = PLAN_NONE;
    if (!made || is_pairs(&g, p->node.at[i].out.wire)) continue;
    g.kind[i] = NOT_PAIRS;
    g.maker[p->node.at[i].out.wire] = PLAN_NONE;
  }
  return g;
}

// Sums of pairs that are known without them are sums of something else. False: there are none.
static bool replace_sums(const Pairs *g) {
  Plan *p = g->p;
  PlanNode to[2], *all = arena_copy(p->arena, p->node.at, g->n * sizeof *all);
  VEC(PlanNode) node = {0};
  for (uint32_t i = 0; i < g->n; i++)
    if (g->kind[i] == RESULT && pairs_weighed(p, g->maker, i, to)) {
      vec_push(p->arena, &node, to[0]);
      vec_push(p->arena, &node, to[1]);
    } else {
      vec_push(p->arena, &node, all[i]);
    }
  if (node.n == g->n) return false;
  p->node.n = 0;
  for (uint32_t i = 0; i < node.n; i++) vec_push(p->arena, &p->node, node.at[i]);
  return true;
}

void plan_pairs(Plan *p) {
  Pairs g = pairs_of_plan(p);
  if (replace_sums(&g)) g = pairs_of_plan(p);
  bool any = false;
  for (uint32_t i = 0; i < g.n; i++) any |= g.kind[i] == RESULT;
  if (!any) return;
  find_walks(&g);
  find_groups(&g);
  write_nodes(&g);
}

// -- as a kernel ----------------------------------------------------------------------------------
bool node_seeds(const PlanNode *x) {
  return x->kind == NODE_PRODUCT && x->var[x->product->k[0]] == PLAN_NONE;
}

uint32_t pairs_summed(const Plan *p, const Kernel *k) {
  const PlanNode *x = &p->node.at[k->node.at[k->node.n - 1]];
  if (x->kind == NODE_PRODUCT) return x->var[x->product->k[0]];
  uint32_t i = 0;
  while (!x->reduced[i]) i++;
  return x->var[i];
}

uint32_t pairs_row_node(const Plan *p, const Kernel *k) {
  const Nest *s = &k->nest.at[0];
  uint32_t summed = pairs_summed(p, k);
  for (uint32_t i = 0; i < s->node.n; i++) {
    const PlanNode *x = &p->node.at[s->node.at[i]];
    uint32_t v = 0;
    while (v < x->nindex && x->var[v] != summed) v++;
    if (v == x->nindex) return i;
  }
  return PLAN_NONE;
}

void pairs_kernel(Plan *p, Kernel *k) {
  Extent loop[PLAN_AXES];
  Nest s = {.ndim = 2, .dim = NEW_ARRAY(p->arena, Extent, 2)};
  k->np = 0;
  for (uint32_t i = 0; i < k->node.n; i++) {
    PlanNode *x = &p->node.at[k->node.at[i]];
    PlanWire *out = &p->wire.at[x->out.wire];
    for (uint32_t v = 0; v < x->nindex; v++) {
      if (x->var[v] == PLAN_NONE) continue;
      loop[x->var[v]] = x->index[v];
      if (x->var[v] > k->np + 1) k->np = x->var[v] - 1;
    }
    x->nest = 0;
    if (x->kind == NODE_NEST) vec_push(p->arena, &s.node, k->node.at[i]);
    if (x->kind == NODE_NEST && !node_sums(x) && x->nindex == k->np + 2) out->place = AT_REGISTER;
    if (x->kind != NODE_PRODUCT || !node_seeds(x)) continue;
    out->place = AT_TILE; // of one cell: a number is at hand where it is read
    out->count = 1;
    memset(out->stride, 0, out->rank * sizeof *out->stride);
  }
  k->p = arena_copy(p->arena, loop, (k->np + 1) * sizeof *loop);
  memcpy(s.dim, loop + k->np, 2 * sizeof *loop);
  vec_push(p->arena, &k->nest, s);
}
