// Blocking of loops (strip mining). In: a kernel whose points are too large for the cache, because
// of a matrix product inside (attention scores), and a node that would join. Out: one loop that all
// these nodes can run in blocks of rows, so that only one block lives between them.
//
// Each node either makes its output row by row, or is a product that sums over the rows and
// accumulates block after block, in order. Nodes read from each other at the same row, so a block
// is complete when it is read; a sum over the rows must not be read inside the kernel. The blocked
// index of one node determines those of the nodes that it reads and that read it.
//
// When the kernel has all its nodes, the loop is split: the index counts the rows of a block, and a
// new one, the last parallel loop, counts the blocks. The last block may have fewer rows. If some
// node sums over the rows, all blocks of a point belong to one task.
#include "core/diagram/ops.h"
#include "run/plan/plan.h"

enum { FEWEST_ROWS = 8 };

// -- splitting one node ---------------------------------------------------------------------------
// The position along the index is block · (number of the block) + row.
static void split_positions(Plan *p, PlanNode *x, uint32_t index, uint32_t outer, int64_t block) {
  uint32_t *now = NEW_ARRAY(p->arena, uint32_t, x->nscalar + 1), n = 0;
  Scalar *scalar = NEW_ARRAY(p->arena, Scalar, 5 * (size_t)x->nscalar + 1);
  for (uint32_t i = 0; i < x->nscalar; i++) {
    Scalar s = x->scalar[i];
    for (uint32_t k = 0; s.fn > FN_SIZE && k < fn_rows[s.fn].arity; k++) s.arg[k] = now[s.arg[k]];
    scalar[n++] = s;
    if (s.fn == FN_AT && s.ref == index) {
      scalar[n++] = (Scalar){.fn = FN_AT, .base = BASE_R, .ref = outer};
      scalar[n++] = (Scalar){.fn = FN_CONST, .base = BASE_R, .k = (double)block};
      scalar[n] = (Scalar){.fn = FN_mul, .base = BASE_R, .arg = {n - 2, n - 1}}, n++;
      scalar[n] = (Scalar){.fn = FN_add, .base = BASE_R, .arg = {n - 1, n - 4}}, n++;
    }
    now[i] = n - 1;
  }
  x->scalar = scalar;
  x->nscalar = n;
}

static void split_operand(Plan *p, Operand *o, uint32_t index, uint32_t outer, int64_t block) {
  PlanCoord *coord = NEW_ARRAY(p->arena, PlanCoord, p->wire.at[o->wire].rank);
  for (uint32_t i = 0; i < p->wire.at[o->wire].rank; i++) {
    PlanCoord c = o->coord[i];
    PlanTerm *term = NEW_ARRAY(p->arena, PlanTerm, 2 * c.n + 1);
    uint32_t n = 0;
    for (uint32_t t = 0; t < c.n; t++) {
      term[n++] = c.term[t];
      if (!c.term[t].operand && c.term[t].var == index)
        term[n++] = (PlanTerm){c.term[t].coef * block, outer, false};
    }
    c.term = term;
    c.n = n;
    coord[i] = c;
  }
  o->coord = coord;
}

uint32_t node_split_index(Plan *p, PlanNode *x, uint32_t index, int64_t block) {
  int64_t n = x->index[index].c;
  Extent *more = NEW_ARRAY(p->arena, Extent, x->nindex + 1);
  bool *reduced = NEW_ARRAY(p->arena, bool, x->nindex + 2);
  memcpy(more, x->index, x->nindex * sizeof *more);
  memcpy(reduced, x->reduced, x->nindex * sizeof *reduced);
  uint32_t outer = x->nindex++;
  more[outer] = (Extent){.c = (n + block - 1) / block};
  more[index] = (Extent){.c = block, .part = n % block != 0};
  reduced[outer] = reduced[index];
  x->index = more;
  x->reduced = reduced;
  for (uint32_t i = 0; i < x->nin; i++) split_operand(p, &x->in[i], index, outer, block);
  split_operand(p, &x->out, index, outer, block);
  split_positions(p, x, index, outer, block);
  return outer;
}

bool node_owns_slices(const Plan *p, const PlanNode *x, uint32_t index) {
  uint32_t uses = 0, at;
  bool whole = false;
  for (uint32_t i = 0; i < p->wire.at[x->out.wire].rank; i++) {
    for (uint32_t k = 0; k < x->out.coord[i].n; k++)
      uses += !x->out.coord[i].term[k].operand && x->out.coord[i].term[k].var == index;
    whole |= operand_axis_is_index(p, &x->out, i, &at) && at == index &&
             extent_same(x->index[index], p->wire.at[x->out.wire].shape[i]);
  }
  return whole && uses == 1;
}

const PlanTerm *operand_block(const Plan *p, const Kernel *k, const PlanNode *x, const Operand *o,
                              uint32_t axis, Extent *rows) {
  const PlanCoord *c = &o->coord[axis];
  uint32_t index;
  for (uint32_t i = 0; i < c->n && !operand_axis_is_index(p, o, axis, &index); i++) {
    const PlanTerm *t = &c->term[i];
    if (t->operand || x->var[t->var] >= k->np) continue;
    bool walks = k->block && x->var[t->var] == k->np - 1;
    *rows = (Extent){.c = t->coef, .part = walks && k->blocked_loop.c % k->block};
    return t;
  }
  return NULL;
}

// -- the blocked loop -----------------------------------------------------------------------------
// The nodes of a kernel, and the node that would join as the last one.
typedef struct {
  const Plan *p;
  const uint32_t *maker; // [wire]
  uint32_t n;
  const uint32_t *id; // [node]
  const uint32_t **loop_of;
  uint32_t *blocked; // [node] its blocked index; PLAN_NONE: not determined yet
  Extent length;
  bool changed;
} LoopSearch;

static const PlanNode *node_of(const LoopSearch *w, uint32_t i) { return &w->p->node.at[w->id[i]]; }

// Is the index the slowest of its group, apart from those of length 1? Fewer iterations of such an
// index are a prefix of the table of offsets.
static bool is_slowest(const Plan *p, const PlanNode *x, const uint32_t *group, uint32_t n,
                       uint32_t index) {
  uint32_t i = 0;
  while (i < n && extent_most(p, x->index[group[i]]) == 1) i++;
  return i < n && group[i] == index;
}

static bool may_block(const LoopSearch *w, uint32_t i, uint32_t index) {
  const PlanNode *x = node_of(w, i);
  const Product *q = x->kind == NODE_PRODUCT ? x->product : NULL;
  if (w->loop_of[i][index] != PLAN_NONE || x->index[index].per || x->scatter || x->noise ||
      !extent_same(x->index[index], w->length))
    return false;
  for (uint32_t v = 0; v < x->nwinner; v++) // winners are addressed as the output is
    if (x->winner[v] != PLAN_NONE) return false;
  for (uint32_t s = 0; s < x->nscalar; s++)
    if (x->scalar[s].fn == FN_AT && x->scalar[s].ref == index && x->scalar[s].base != BASE_R)
      return false;
  if (x->reduced[index]) return q && is_slowest(w->p, x, q->k, q->nk, index);
  if (q && !is_slowest(w->p, x, q->m, q->nm, index) && !is_slowest(w->p, x, q->n, q->nn, index))
    return false;
  return node_owns_slices(w->p, x, index);
}

static bool choose_index(LoopSearch *w, uint32_t i, uint32_t index) {
  if (w->blocked[i] == index) return true;
  if (w->blocked[i] != PLAN_NONE || !may_block(w, i, index)) return false;
  w->blocked[i] = index;
  w->changed = true;
  return true;
}

// Node i reads what node m makes. An axis that is the blocked index of one is that of the other.
static bool choose_both(LoopSearch *w, uint32_t m, uint32_t i, const Operand *o) {
  for (uint32_t axis = 0; axis < w->p->wire.at[o->wire].rank; axis++) {
    uint32_t made, read;
    bool a = operand_axis_is_index(w->p, &node_of(w, m)->out, axis, &made);
    bool b = operand_axis_is_index(w->p, o, axis, &read);
    if (a && w->blocked[m] == made && !(b && choose_index(w, i, read))) return false;
    if (b && w->blocked[i] == read && !(a && choose_index(w, m, made))) return false;
  }
  return true;
}

static uint32_t position_of(const LoopSearch *w, uint32_t node) {
  for (uint32_t i = 0; i < w->n; i++)
    if (w->id[i] == node) return i;
  return PLAN_NONE;
}

// Propagates along all reads inside the kernel until nothing changes.
static bool propagate(LoopSearch *w) {
  do {
    w->changed = false;
    for (uint32_t i = 0; i < w->n; i++)
      for (uint32_t k = 0; k < node_of(w, i)->nin; k++) {
        const Operand *o = &node_of(w, i)->in[k];
        uint32_t m = w->maker[o->wire] == PLAN_NONE ? PLAN_NONE : position_of(w, w->maker[o->wire]);
        if (m != PLAN_NONE && !choose_both(w, m, i, o)) return false;
      }
  } while (w->changed);
  return true;
}

// A sum over the rows is complete only after the last block, so no node of the kernel may read it.
static bool reductions_are_last(const LoopSearch *w) {
  for (uint32_t i = 0; i < w->n; i++)
    for (uint32_t k = 0; k < node_of(w, i)->nin; k++) {
      uint32_t maker = w->maker[node_of(w, i)->in[k].wire];
      uint32_t m = maker == PLAN_NONE ? PLAN_NONE : position_of(w, maker);
      if (m != PLAN_NONE && node_of(w, m)->reduced[w->blocked[m]]) return false;
    }
  return true;
}

// Tries each index of the first undetermined node, propagates, and goes on with the rest.
// Backtracks if that fails. Nodes that do not read each other are determined independently.
static bool choose_rest(LoopSearch *w) {
  uint32_t i = 0, *before = arena_copy(w->p->arena, w->blocked, w->n * sizeof *before);
  while (i < w->n && w->blocked[i] != PLAN_NONE) i++;
  if (i == w->n) return reductions_are_last(w);
  Extent length = w->length;
  for (uint32_t index = 0; index < node_of(w, i)->nindex; index++) {
    if (!length.c) w->length = node_of(w, i)->index[index];
    if (!node_of(w, i)->reduced[index] && choose_index(w, i, index) && propagate(w) &&
        choose_rest(w))
      return true;
    memcpy(w->blocked, before, w->n * sizeof *before);
  }
  w->length = length;
  return false;
}

bool kernel_find_blocked_loop(Plan *p, const uint32_t *maker, Kernel *k, uint32_t node,
                              const uint32_t *loop_of) {
  uint32_t n = k->node.n + 1, *id = NEW_ARRAY(p->arena, uint32_t, n);
  const uint32_t **loops = NEW_ARRAY(p->arena, const uint32_t *, n);
  LoopSearch w = {.p = p, .maker = maker, .n = n, .id = id, .loop_of = loops};
  w.blocked = plan_nones(p, n);
  for (uint32_t i = 0; i < n; i++) {
    id[i] = i + 1 < n ? k->node.at[i] : node;
    loops[i] = i + 1 < n ? p->node.at[id[i]].var : loop_of;
  }
  if (!choose_rest(&w)) return false;
  for (uint32_t i = 0; i < n; i++) p->node.at[id[i]].blocked_index = w.blocked[i];
  k->blocked_loop = w.length;
  return true;
}

// -- splitting a kernel ---------------------------------------------------------------------------
// The largest number of cells per row that live between the nodes, at one point.
static int64_t row_cells(const Plan *p, const Kernel *k) {
  int64_t most = 1;
  for (uint32_t i = 0; i < k->node.n; i++) {
    const PlanNode *x = &p->node.at[k->node.at[i]];
    int64_t cells = p->wire.at[x->out.wire].count / k->blocked_loop.c;
    if (x->reduced[x->blocked_index]) continue;
    for (uint32_t v = 0; v < x->nindex; v++)
      if (x->var[v] != PLAN_NONE) cells /= extent_most(p, x->index[v]);
    if (cells > most) most = cells;
  }
  return most;
}

// As many rows as fit the cache: blocks of equal size if there is such a size, else nearly so.
static int64_t block_rows(const Plan *p, const Kernel *k) {
  int64_t n = k->blocked_loop.c, unit = FEWEST_ROWS,
          most = p->target->tile_cells / row_cells(p, k) / unit * unit;
  if (most < unit) most = unit;
  for (int64_t rows = most; 2 * rows > most; rows -= unit)
    if (n % rows == 0) return rows;
  int64_t blocks = (n + most - 1) / most, each = (n + blocks - 1) / blocks;
  return (each + unit - 1) / unit * unit;
}

void kernel_block_loop(Plan *p, Kernel *k) {
  if (!k->blocked_loop.c) return;
  k->block = block_rows(p, k);
  for (uint32_t i = 0; i < k->node.n; i++) {
    PlanNode *x = &p->node.at[k->node.at[i]];
    uint32_t *var = NEW_ARRAY(p->arena, uint32_t, x->nindex + 2);
    k->ordered |= x->reduced[x->blocked_index];
    memcpy(var, x->var, x->nindex * sizeof *var);
    var[node_split_index(p, x, x->blocked_index, k->block)] = k->np;
    x->var = var;
  }
  Extent *loop = NEW_ARRAY(p->arena, Extent, k->np + 1);
  memcpy(loop, k->p, k->np * sizeof *loop);
  loop[k->np++] = (Extent){.c = (k->blocked_loop.c + k->block - 1) / k->block};
  k->p = loop;
}
