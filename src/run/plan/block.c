// Loops that are taken in blocks. In comes a kernel whose points are too large for the cache
// because of a product inside (the scores of attention), with a node that would join it; out goes
// the loop along which all its nodes can walk together, a block of rows at a time, so that what
// lives between them is one block.
//
// Every node of such a kernel walks: it makes its output row by row, or it is a product that sums
// over the rows, and then adds each block to what is there, in order. What one node makes another
// reads at the same row, so a block is whole when it is read; a sum over the rows is not read
// inside. Which index of each node is the walked one follows from one of them along what they read
// of each other.
//
// Once a kernel has all its nodes the loop is cut: its index counts the rows of a block, and a new
// one, the last parallel loop, counts the blocks. The last block may have fewer rows. Where some
// node sums over the rows, the blocks of a point belong to one task.
#include "run/plan/plan.h"

enum { FEWEST_ROWS = 8 };

// -- cutting one node -----------------------------------------------------------------------------
// Positions along the index are block · number of the block + row.
static void cut_positions(Plan *p, PlanNode *x, uint32_t index, uint32_t outer, int64_t block) {
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

static void cut_operand(Plan *p, Operand *o, uint32_t index, uint32_t outer, int64_t block) {
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

uint32_t node_cut(Plan *p, PlanNode *x, uint32_t index, int64_t block) {
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
  for (uint32_t i = 0; i < x->nin; i++) cut_operand(p, &x->in[i], index, outer, block);
  cut_operand(p, &x->out, index, outer, block);
  cut_positions(p, x, index, outer, block);
  return outer;
}

bool node_owns(const Plan *p, const PlanNode *x, uint32_t index) {
  uint32_t uses = 0, at;
  bool whole = false;
  for (uint32_t i = 0; i < p->wire.at[x->out.wire].rank; i++) {
    for (uint32_t k = 0; k < x->out.coord[i].n; k++)
      uses += !x->out.coord[i].term[k].operand && x->out.coord[i].term[k].var == index;
    whole |= operand_plain(p, &x->out, i, &at) && at == index &&
             extent_same(x->index[index], p->wire.at[x->out.wire].shape[i]);
  }
  return whole && uses == 1;
}

const PlanTerm *operand_block(const Plan *p, const Kernel *k, const PlanNode *x, const Operand *o,
                              uint32_t axis, Extent *rows) {
  const PlanCoord *c = &o->coord[axis];
  uint32_t index;
  for (uint32_t i = 0; i < c->n && !operand_plain(p, o, axis, &index); i++) {
    const PlanTerm *t = &c->term[i];
    if (t->operand || x->var[t->var] >= k->np) continue;
    bool walks = k->block && x->var[t->var] == k->np - 1;
    *rows = (Extent){.c = t->coef, .part = walks && k->walk.c % k->block};
    return t;
  }
  return NULL;
}

// -- walking together -----------------------------------------------------------------------------
// The nodes of a kernel and, last, the one that would join it.
typedef struct {
  const Plan *p;
  const uint32_t *maker; // of each wire
  uint32_t n;
  const uint32_t *id; // of each node
  const uint32_t **loop_of;
  uint32_t *walk; // of each node: its walked index, PLAN_NONE if nothing tells it yet
  Extent length;
  bool changed;
} BlockWalk;

static const PlanNode *node_of(const BlockWalk *w, uint32_t i) { return &w->p->node.at[w->id[i]]; }

// The slowest index of a group, but for those of length one: fewer of it means a shorter table.
static bool is_slowest(const Plan *p, const PlanNode *x, const uint32_t *group, uint32_t n,
                       uint32_t index) {
  uint32_t i = 0;
  while (i < n && extent_most(p, x->index[group[i]]) == 1) i++;
  return i < n && group[i] == index;
}

static bool may_walk(const BlockWalk *w, uint32_t i, uint32_t index) {
  const PlanNode *x = node_of(w, i);
  const Product *q = x->kind == NODE_PRODUCT ? x->product : NULL;
  if (w->loop_of[i][index] != PLAN_NONE || x->index[index].per || x->scatter || x->noise ||
      !extent_same(x->index[index], w->length))
    return false;
  for (uint32_t v = 0; v < x->nwinner; v++) // they would be addressed as the output is
    if (x->winner[v] != PLAN_NONE) return false;
  for (uint32_t s = 0; s < x->nscalar; s++)
    if (x->scalar[s].fn == FN_AT && x->scalar[s].ref == index && x->scalar[s].base != BASE_R)
      return false;
  if (x->reduced[index]) return q && is_slowest(w->p, x, q->k, q->nk, index);
  if (q && !is_slowest(w->p, x, q->m, q->nm, index) && !is_slowest(w->p, x, q->n, q->nn, index))
    return false;
  return node_owns(w->p, x, index);
}

static bool settle(BlockWalk *w, uint32_t i, uint32_t index) {
  if (w->walk[i] == index) return true;
  if (w->walk[i] != PLAN_NONE || !may_walk(w, i, index)) return false;
  w->walk[i] = index;
  w->changed = true;
  return true;
}

// Node i reads what node m makes: along the axis that one of them walks, both do.
static bool settle_both(BlockWalk *w, uint32_t m, uint32_t i, const Operand *o) {
  for (uint32_t axis = 0; axis < w->p->wire.at[o->wire].rank; axis++) {
    uint32_t made, read;
    bool a = operand_plain(w->p, &node_of(w, m)->out, axis, &made);
    bool b = operand_plain(w->p, o, axis, &read);
    if (a && w->walk[m] == made && !(b && settle(w, i, read))) return false;
    if (b && w->walk[i] == read && !(a && settle(w, m, made))) return false;
  }
  return true;
}

static uint32_t place_of(const BlockWalk *w, uint32_t node) {
  for (uint32_t i = 0; i < w->n; i++)
    if (w->id[i] == node) return i;
  return PLAN_NONE;
}

// Follows all reads inside the kernel until nothing changes.
static bool follow(BlockWalk *w) {
  do {
    w->changed = false;
    for (uint32_t i = 0; i < w->n; i++)
      for (uint32_t k = 0; k < node_of(w, i)->nin; k++) {
        const Operand *o = &node_of(w, i)->in[k];
        uint32_t m = w->maker[o->wire] == PLAN_NONE ? PLAN_NONE : place_of(w, w->maker[o->wire]);
        if (m != PLAN_NONE && !settle_both(w, m, i, o)) return false;
      }
  } while (w->changed);
  return true;
}

// What sums over the rows is whole only after the last block.
static bool sums_are_last(const BlockWalk *w) {
  for (uint32_t i = 0; i < w->n; i++)
    for (uint32_t k = 0; k < node_of(w, i)->nin; k++) {
      uint32_t maker = w->maker[node_of(w, i)->in[k].wire];
      uint32_t m = maker == PLAN_NONE ? PLAN_NONE : place_of(w, maker);
      if (m != PLAN_NONE && node_of(w, m)->reduced[w->walk[m]]) return false;
    }
  return true;
}

// Settles the first node that nothing tells about, one way or another, and then the others. Nodes
// that read nothing of each other are told apart from each other.
static bool settle_rest(BlockWalk *w) {
  uint32_t i = 0, *before = arena_copy(w->p->arena, w->walk, w->n * sizeof *before);
  while (i < w->n && w->walk[i] != PLAN_NONE) i++;
  if (i == w->n) return sums_are_last(w);
  Extent length = w->length;
  for (uint32_t index = 0; index < node_of(w, i)->nindex; index++) {
    if (!length.c) w->length = node_of(w, i)->index[index];
    if (!node_of(w, i)->reduced[index] && settle(w, i, index) && follow(w) && settle_rest(w))
      return true;
    memcpy(w->walk, before, w->n * sizeof *before);
  }
  w->length = length;
  return false;
}

bool kernel_walks(Plan *p, const uint32_t *maker, Kernel *k, uint32_t node,
                  const uint32_t *loop_of) {
  uint32_t n = k->node.n + 1, *id = NEW_ARRAY(p->arena, uint32_t, n);
  const uint32_t **loops = NEW_ARRAY(p->arena, const uint32_t *, n);
  BlockWalk w = {.p = p, .maker = maker, .n = n, .id = id, .loop_of = loops};
  w.walk = plan_nones(p, n);
  for (uint32_t i = 0; i < n; i++) {
    id[i] = i + 1 < n ? k->node.at[i] : node;
    loops[i] = i + 1 < n ? p->node.at[id[i]].var : loop_of;
  }
  if (!settle_rest(&w)) return false;
  for (uint32_t i = 0; i < n; i++) p->node.at[id[i]].walk = w.walk[i];
  k->walk = w.length;
  return true;
}

// -- cutting a kernel -----------------------------------------------------------------------------
// Cells of a row of what lives between the nodes.
static int64_t row_cells(const Plan *p, const Kernel *k) {
  int64_t most = 1;
  for (uint32_t i = 0; i < k->node.n; i++) {
    const PlanNode *x = &p->node.at[k->node.at[i]];
    int64_t cells = p->wire.at[x->out.wire].count / k->walk.c;
    if (x->reduced[x->walk]) continue;
    for (uint32_t v = 0; v < x->nindex; v++)
      if (x->var[v] != PLAN_NONE) cells /= extent_most(p, x->index[v]);
    if (cells > most) most = cells;
  }
  return most;
}

// As many rows as fit the cache; blocks of one size if there is such a size, else nearly so.
static int64_t block_rows(const Plan *p, const Kernel *k) {
  int64_t n = k->walk.c, unit = FEWEST_ROWS,
          most = p->target->tile_cells / row_cells(p, k) / unit * unit;
  if (most < unit) most = unit;
  for (int64_t rows = most; 2 * rows > most; rows -= unit)
    if (n % rows == 0) return rows;
  int64_t blocks = (n + most - 1) / most, each = (n + blocks - 1) / blocks;
  return (each + unit - 1) / unit * unit;
}

void kernel_cut(Plan *p, Kernel *k) {
  if (!k->walk.c) return;
  k->block = block_rows(p, k);
  for (uint32_t i = 0; i < k->node.n; i++) {
    PlanNode *x = &p->node.at[k->node.at[i]];
    uint32_t *var = NEW_ARRAY(p->arena, uint32_t, x->nindex + 2);
    k->ordered |= x->reduced[x->walk];
    memcpy(var, x->var, x->nindex * sizeof *var);
    var[node_cut(p, x, x->walk, k->block)] = k->np;
    x->var = var;
  }
  Extent *loop = NEW_ARRAY(p->arena, Extent, k->np + 1);
  memcpy(loop, k->p, k->np * sizeof *loop);
  loop[k->np++] = (Extent){.c = (k->walk.c + k->block - 1) / k->block};
  k->p = loop;
}
