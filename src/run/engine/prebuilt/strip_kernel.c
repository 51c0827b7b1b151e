// Compiles a kernel to a strip program: chooses the loops that become strips, the instructions of each
// level, and the memory of registers.
//
// Loop collapsing makes strips longer: the last loops of a nest are collapsed if all accesses stay affine;
// or, if the innermost loop is short, into a strip of all their points or of some rows, with offset tables
// for accesses that are not affine. For that, the loops of a reduction alone in its nest may be
// interchanged. Registers of the strip are reused after their last use (linear scan), so that a strip's
// data stays in the L1 cache.
#include "core/diagram/ops.h"
#include "run/engine/prebuilt/strip_own.h"

#include <stdlib.h>

enum {
  SHORT = 64, // shorter strips are lengthened, with offset tables
  NEAR = 8192 // numbers that stay in the L1 cache
};

// -- the strip's loops ----------------------------------------------------------------------------
static int64_t coord_step(const PlanNode *x, const PlanCoord *c, uint32_t var) {
  int64_t step = 0;
  for (uint32_t i = 0; i < c->n; i++)
    if (!c->term[i].operand && x->var[c->term[i].var] == var) step += c->term[i].coef;
  return step;
}

// Loops `var` and var + 1 can be collapsed for this access: one step of `var` equals n steps of var + 1,
// both in memory and in every bounds-checked coordinate.
static bool continues_linearly(const Plan *p, const PlanNode *x, const Operand *o, uint32_t var,
                               int64_t n) {
  const PlanWire *w = &p->wire.at[o->wire];
  int64_t slow = 0, fast = 0;
  for (uint32_t i = 0; i < w->rank; i++) {
    int64_t s = coord_step(x, &o->coord[i], var), t = coord_step(x, &o->coord[i], var + 1);
    if (o->coord[i].check && s != t * n) return false;
    slow += s * w->stride[i];
    fast += t * w->stride[i];
  }
  return slow == fast * n;
}

static bool is_linear(const Plan *p, const PlanNode *x, uint32_t var, int64_t n) {
  for (uint32_t i = 0; i < x->nscalar; i++) // a loop index is not affine in the collapsed loop
    if (x->scalar[i].fn == FN_AT && x->var[x->scalar[i].ref] - var <= 1) return false;
  for (uint32_t i = 0; i < x->nin; i++)
    if (!continues_linearly(p, x, &x->in[i], var, n)) return false;
  return continues_linearly(p, x, &x->out, var, n);
}

static bool sums_over(const PlanNode *x, uint32_t var) {
  for (uint32_t i = 0; i < x->nindex; i++)
    if (x->var[i] == var && x->reduced[i]) return true;
  return false;
}

// Loop d of the nest may be collapsed with the loops inside it.
static bool may_collapse(const StripBuild *b, const NodeLevels *w, uint32_t d) {
  const PlanNode *x = w->x;
  uint32_t var = b->k->np + d;
  if (node_wants_winner(x) && (sums_over(x, var) || sums_over(x, var + 1))) return false;
  if (sums_in_variable(b->k, w) && d < w->sum_loop) return false;
  if (!x->noise) return true;
  for (uint32_t i = 0; i + 1 < b->p->wire.at[x->out.wire].rank;
       i++) // linear indices are consecutive
    if (x->var[i] == var && x->var[i + 1] == var + 1) return true;
  return false;
}

static bool uses_position(const Plan *p, const Nest *s, uint32_t var) {
  for (uint32_t k = 0; k < s->node.n; k++) {
    const PlanNode *x = &p->node.at[s->node.at[k]];
    for (uint32_t i = 0; i < x->nscalar; i++)
      if (x->scalar[i].fn == FN_AT && x->var[x->scalar[i].ref] == var) return true;
  }
  return false;
}

// The strip of a nest: the number of its last loops that are collapsed, and their length together; with
// rows > 0, a strip is `rows` iterations of the first of them (length: its length), each of `row` elements.
typedef struct {
  uint32_t n;
  Extent length;
  int64_t rows, row;
} Shape;

static Shape strip_shape(const StripBuild *b, const NodeLevels *w) {
  const Nest *s = &b->k->nest.at[b->number];
  Shape shape = {.n = s->ndim ? 1 : 0, .length = {.c = 1}};
  bool straight = true;
  if (shape.n) shape.length = s->dim[s->ndim - 1];
  for (uint32_t d = s->ndim; d-- > 1; shape.n++) { // collapse loop d - 1 with d?
    Extent before = s->dim[d - 1];
    int64_t length = shape.length.c;
    bool goes = straight, may = !s->dim[d].per && !s->dim[d].part && !before.part;
    for (uint32_t i = 0; may && i < s->node.n; i++) {
      may = may_collapse(b, &w[i], d - 1);
      goes &= is_linear(b->p, w[i].x, b->k->np + d - 1, s->dim[d].c);
    }
    if (!may || (!goes && length >= SHORT)) break;
    if (!goes && (before.per || before.c * length > STRIP)) {
      if (uses_position(b->p, s, b->k->np + d - 1) || length > STRIP / 2) break;
      return (Shape){shape.n + 1, before, STRIP / length, length};
    }
    straight = goes;
    shape.length = (Extent){.c = before.c * length, .per = before.per * length};
  }
  return shape;
}

// -- memory of registers --------------------------------------------------------------------------
typedef VEC(size_t) Free;

static size_t allocate(StripBuild *b, Free *pool, RegKind kind, size_t *end) {
  if (pool[kind].n) return pool[kind].at[--pool[kind].n];
  size_t at = *end;
  *end += reg_is_8_bytes(b, kind) ? 8 * STRIP : 4 * STRIP;
  return at;
}

static bool is_temporary(const StripBuild *b, uint32_t reg, uint32_t first) {
  if (reg == PLAN_NONE || reg < first) return false;
  const Reg *r = &b->reg.at[reg];
  return r->level == b->inner && !r->pinned && !r->in_memory;
}

// Allocates the registers that are live for the whole nest. Registers of outer levels that are not
// broadcast have one cell.
static size_t allocate_pinned(StripBuild *b, uint32_t first) {
  size_t end = 0;
  for (uint32_t i = first; i < b->reg.n; i++) {
    Reg *r = &b->reg.at[i];
    if (r->in_memory || is_temporary(b, i, first)) continue;
    r->at = end;
    end += r->level < b->inner && !r->broadcast ? 64u
           : reg_is_8_bytes(b, r->kind)         ? 8u * STRIP
                                                : 4u * STRIP;
  }
  return end;
}

// Register allocation for the current nest, whose registers begin at `first`. A result may reuse the
// memory of an argument of the same kind, because instructions work element by element.
static void allocate_registers(StripBuild *b, uint32_t first) {
  const StripCode *code = &b->nest->code[b->inner];
  uint32_t *last =
      NEW_ARRAY(b->arena, uint32_t, b->reg.n + 1); // the instruction of its last use, plus 1
  Free pool[3] = {0};
  size_t end = allocate_pinned(b, first);
  for (uint32_t i = 0; i < code->n; i++) {
    const StripInstr *s = &code->at[i];
    const uint32_t reg[] = {s->out, s->what == DO_COUNT ? PLAN_NONE : s->a, s->b, s->c};
    for (uint32_t k = 0; k < COUNT(reg); k++)
      if (is_temporary(b, reg[k], first)) last[reg[k]] = i + 1;
  }
  for (uint32_t i = 0; i < code->n; i++) {
    const StripInstr *s = &code->at[i];
    const uint32_t reg[] = {s->what == DO_COUNT ? PLAN_NONE : s->a, s->b, s->c, s->out};
    for (uint32_t k = 0; k < COUNT(reg); k++) {
      if (!is_temporary(b, reg[k], first)) continue;
      Reg *r = &b->reg.at[reg[k]];
      if (reg[k] == s->out) r->at = allocate(b, pool, r->kind, &end);
      if (last[reg[k]] != i + 1) continue;
      vec_push(b->arena, &pool[r->kind], r->at);
      last[reg[k]] = 0; // free it once
    }
  }
  if (end > b->registers) b->registers = end;
}

// -- nests ----------------------------------------------------------------------------------------
static void build_nest(StripBuild *b, const NodeLevels *w, const Shape *shape) {
  const Nest *s = &b->k->nest.at[b->number];
  StripNest nest = {.nloop = s->ndim - shape->n,
                    .loop = s->dim,
                    .has_strip = shape->n,
                    .length = shape->length,
                    .rows = shape->rows,
                    .row = shape->row};
  uint32_t registers = b->reg.n;
  b->nest = &nest;
  b->dim = s->dim;
  b->dims = shape->n;
  b->rows = shape->rows;
  b->first = nest.nloop;
  b->inner = nest.nloop + nest.has_strip;
  b->nnodes = s->node.n;
  b->nodes = NEW_ARRAY(b->arena, StripNode, b->nnodes);
  nest.var = NEW_ARRAY(b->arena, uint32_t, s->ndim + 1);
  nest.code = NEW_ARRAY(b->arena, StripCode, b->inner + 1);
  for (uint32_t d = 0; d < s->ndim; d++) nest.var[d] = b->k->np + d;
  for (uint32_t i = 0; i < b->nnodes; i++) b->nodes[i] = strip_node(b, &w[i]);
  for (uint32_t i = 0; i < b->nnodes; i++) node_prologue(b, &b->nodes[i]);
  for (uint32_t d = 0; d <= b->inner; d++)
    for (uint32_t i = 0; i < b->nnodes; i++) node_level(b, &b->nodes[i], d);
  allocate_registers(b, registers);
  vec_push(b->arena, &b->s->nest, nest);
}

// A small product: the addresses of its operands.
static void build_product(StripBuild *b, const PlanNode *x, uint32_t slot) {
  const Product *q = x->product;
  const Operand *o[3] = {&x->in[q->a], &x->in[q->b], &x->out};
  StripNest nest = {.product = x, .slot = slot};
  nest.var = NEW_ARRAY(b->arena, uint32_t, q->nbatch + 1);
  nest.loop = NEW_ARRAY(b->arena, Extent, q->nbatch + 1);
  for (uint32_t i = 0; i < q->nbatch; i++) {
    if (x->var[q->batch[i]] < b->k->np) continue;
    nest.var[nest.nloop] = x->var[q->batch[i]];
    nest.loop[nest.nloop++] = x->index[q->batch[i]];
  }
  for (uint32_t k = 0; k < 3; k++) {
    StripMemory *m = &nest.to[k];
    *m = memory_without_address(b, o[k]->wire);
    m->at.start = operand_start(b->p, o[k]);
    for (uint32_t i = 0; i < x->nindex; i++) {
      bool batch = x->var[i] < b->k->np;
      for (uint32_t d = 0; d < nest.nloop; d++) batch |= nest.var[d] == x->var[i];
      int64_t step = operand_step(b->p, o[k], i);
      if (batch && step) address_term(b, &m->at.loop, &m->at.nloop, x->var[i], step);
    }
  }
  vec_push(b->arena, &b->s->nest, nest);
}

static void build_order(StripBuild *b, const PlanNode *x) {
  StripNest nest = {
      .to = {memory_without_address(b, x->in[0].wire), memory_without_address(b, x->out.wire)}};
  vec_push(b->arena, &b->s->nest, nest);
}

// -- kernels --------------------------------------------------------------------------------------
// A copy of a kernel of one nest with `np` parallel loops; the other ones become loops of the nest.
static Kernel *with_parallel(StripBuild *b, const Kernel *k, uint32_t np) {
  Kernel *more = NEW(b->arena, Kernel);
  Nest *s = NEW(b->arena, Nest);
  const Nest *old = &k->nest.at[0];
  *more = *k;
  *s = *old;
  s->ndim = old->ndim + k->np - np;
  s->dim = NEW_ARRAY(b->arena, Extent, s->ndim + 1);
  for (uint32_t d = np; d < k->np; d++) s->dim[d - np] = k->p[d];
  for (uint32_t d = 0; d < old->ndim; d++) s->dim[k->np - np + d] = old->dim[d];
  more->np = np;
  more->nest.at = s;
  return more;
}

// Parallel loops that are not divided into tasks may become loops of the nest: the kernel has one nest and
// no scratch memory for each point.
static bool may_move_inside(const StripBuild *b, const Kernel *k) {
  if (k->nest.n != 1 || k->ranged || k->nest.at[0].ndim + k->np > 62) return false;
  if (b->p->node.at[k->nest.at[0].node.at[0]].kind == NODE_PRODUCT) return false;
  for (uint32_t i = 0; i < b->s->slot->n; i++)
    if (b->p->wire.at[b->s->slot->at[i]].place == AT_TILE) return false;
  return true;
}

// Loop interchange for a reduction that is alone in its nest and has short innermost loops: reduced loops
// move outside, so that a strip is many output cells, which accumulate in memory. The order of each cell's
// sum does not change. Gives the node's old `var`, for the caller to restore.
static uint32_t *interchange_loops(StripBuild *b, const Kernel *k, Nest *s) {
  PlanNode *x = &b->p->node.at[s->node.at[0]];
  uint32_t of_dim[64], order[64], n = 0, *before = x->var;
  int64_t cells = 1, last = 1;
  bool run = true;
  if (s->node.n != 1 || x->scatter || s->ndim < 2) return before;
  node_dims(k, x, of_dim);
  for (uint32_t d = s->ndim; d-- > 0;) {
    bool summed = x->reduced[of_dim[d]];
    run &= summed == x->reduced[of_dim[s->ndim - 1]];
    if (run) last *= extent_most(b->p, s->dim[d]);
    if (!summed) cells *= extent_most(b->p, s->dim[d]);
  }
  if (run || last >= SHORT || cells < SHORT || cells > NEAR) return before;
  for (int kept = 0; kept < 2; kept++)
    for (uint32_t d = 0; d < s->ndim; d++)
      if (x->reduced[of_dim[d]] == !kept) order[n++] = d;
  Extent *dim = NEW_ARRAY(b->arena, Extent, n);
  x->var = arena_copy(b->arena, before, x->nindex * sizeof *before);
  for (uint32_t d = 0; d < n; d++) {
    dim[d] = s->dim[order[d]];
    x->var[of_dim[order[d]]] = k->np + d;
  }
  s->dim = dim;
  return before;
}

// Collapses all loops of a kernel into one, if all accesses stay affine: a task is a range of it.
static bool build_collapsed(StripBuild *b, const Kernel *k) {
  b->k = with_parallel(b, k, 0);
  b->number = 0;
  const NodeLevels *w = nest_levels(b->p, b->k, 0);
  const Nest *s = &b->k->nest.at[0];
  for (uint32_t i = 0; i < s->node.n; i++)
    if (w[i].sum_loop != PLAN_NONE || w[i].x->scatter) return false;
  Shape shape = strip_shape(b, w);
  if (!k->split || shape.n != s->ndim || shape.rows) return false;
  int64_t unit = 1;
  for (uint32_t d = k->split; d < s->ndim; d++) unit *= s->dim[d].c;
  for (uint32_t d = 1; d < s->ndim; d++)
    for (uint32_t i = 0; i < s->node.n; i++)
      if (!is_linear(b->p, w[i].x, d - 1, s->dim[d].c)) return false;
  b->s->np = b->s->split = 0;
  build_nest(b, w, &shape);
  b->s->nest.at[0].unit = unit;
  return true;
}

static void build_nests(StripBuild *b, const Kernel *k) {
  Kernel own = *k;
  uint32_t small = 0;
  own.nest.at = arena_copy(b->arena, k->nest.at, k->nest.n * sizeof *k->nest.at);
  b->k = &own;
  b->s->np = k->np;
  while (small < b->s->slot->n && b->s->slot->at[small] < b->p->wire.n) small++;
  for (b->number = 0; b->number < k->nest.n; b->number++) {
    PlanNode *x = &b->p->node.at[k->nest.at[b->number].node.at[0]];
    if (x->kind == NODE_PRODUCT) {
      build_product(b, x, small++);
      continue;
    }
    uint32_t *var = interchange_loops(b, k, &own.nest.at[b->number]);
    const NodeLevels *w = nest_levels(b->p, &own, b->number);
    Shape shape = strip_shape(b, w);
    build_nest(b, w, &shape);
    b->s->nest.at[b->number].unit = k->ranged;
    x->var = var;
  }
}

static void build_loops(StripBuild *b, const Kernel *k) {
  b->s->split = k->ranged ? 0 : k->split;
  if (!may_move_inside(b, k))
    build_nests(b, k);
  else if (!build_collapsed(b, k))
    build_nests(b, with_parallel(b, k, k->split));
}

// -- the CPU --------------------------------------------------------------------------------------
static const StripLoops *best_loops(void) {
  const StripLoops *kinds[3] = {strip_plain};
  uint32_t n = 1;
#if defined __x86_64__
  if (strip_avx2[0].name && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    kinds[n++] = strip_avx2;
  if (strip_avx512[0].name && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && n == 2)
    kinds[n++] = strip_avx512;
#endif
  const char *wanted = getenv("LIMN_CPU");
  for (uint32_t i = 0; wanted && i < n; i++)
    if (!strcmp(wanted, kinds[i][0].name)) return kinds[i];
  return kinds[n - 1];
}

const char *strip_cpu(void) { return best_loops()[0].name; }

Strip *strip_new(Arena *arena, Plan *p, uint32_t kernel, const Ids *slot) {
  Strip *s = NEW(arena, Strip);
  const Kernel *k = &p->kernel.at[kernel];
  const StripLoops *loops = best_loops();
  *s = (Strip){.p = p, .k = k, .slot = slot, .real = &loops[p->wide], .wide = &loops[1]};
  StripBuild b = {.s = s, .arena = arena, .p = p, .k = k};
  for (uint32_t i = 0; i < k->node.n; i++) {
    const PlanNode *x = &p->node.at[k->node.at[i]];
    for (uint32_t j = 0; x->kind != NODE_ORDER && j < x->nindex; j++)
      if (x->var[j] >= s->nvar) s->nvar = x->var[j] + 1;
  }
  if (k->kind == KERNEL_ORDER)
    build_order(&b, &p->node.at[k->node.at[0]]);
  else
    build_loops(&b, k);
  s->nregister = b.reg.n;
  s->reg = NEW_ARRAY(arena, StripRegister, b.reg.n + 1);
  for (uint32_t i = 0; i < b.reg.n; i++)
    s->reg[i] = (StripRegister){b.reg.at[i].constant, b.reg.at[i].at};
  strip_lay_out(s, b.registers);
  return s;
}
