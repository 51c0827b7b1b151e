// Lowering of boxes to nodes: the same loops, with numbers for sizes. Every size is c + per ·
// samples; strides and offsets are those of the largest number of samples, so one plan serves every
// smaller batch. A coordinate that interval arithmetic keeps inside its axis for every number of
// samples needs no bounds check.
//
// Joins become copies into slices of their result. Noise becomes a nest without operands. Scans
// become a bracket around the nodes of their body: a slice is an alias that moves with the
// position, and what the body emits is written to its row of the result.
#include "core/diagram/ops.h"
#include "run/plan/plan.h"

#include <math.h>

typedef struct {
  Plan *p;
  const Diagram *d;
  uint32_t *wire;    // [wire of the diagram] wire of the plan
  uint32_t depth;    // number of enclosing scans
  uint32_t *readers; // [wire of the diagram] number of readers
} Lowering;

static void fail(Plan *p, Id origin, const char *why) {
  if (p->error) return;
  p->error = why;
  p->error_at = origin_span(p->w, origin);
}

// -- sizes ----------------------------------------------------------------------------------------
static bool size_with(Plan *p, Size s, double samples, double *out) {
  World *w = p->w;
  uint32_t n = size_var_count(w);
  double *value = NEW_ARRAY(p->arena, double, n + 1);
  for (uint32_t i = 0; i < n; i++) value[i] = size_var_kind(w, i) == VAR_SAMPLE ? samples : NAN;
  return size_at(w, s, value, out) && *out == floor(*out) && fabs(*out) < 9e15;
}

static Extent extent_of(Plan *p, Size s, Id origin) {
  int64_t n;
  double at[3];
  s = size_now(p->w, s);
  if (size_value(p->w, s, &n)) return (Extent){.c = n};
  double x = (double)p->samples;
  if (!size_with(p, s, x, &at[0])) {
    fail(p, origin,
         arena_format(p->w->arena, "the size %s is not known when this is compiled",
                      size_text(p->w, s)));
    return (Extent){.c = 1};
  }
  if (size_with(p, s, 0, &at[1]) && size_with(p, s, 1, &at[2]) &&
      at[1] + (at[2] - at[1]) * x == at[0] && at[2] >= at[1])
    return (Extent){.c = (int64_t)at[1], .per = (int64_t)(at[2] - at[1])};
  p->full_batch_only = true;
  return (Extent){.c = (int64_t)at[0]};
}

Extent plan_extent(Plan *p, Size s) { return extent_of(p, s, 0); }

// A factor or an offset: the same for every number of samples.
static int64_t constant_of(Plan *p, Size s, Id origin) {
  Extent e = extent_of(p, s, origin);
  if (e.per) p->full_batch_only = true;
  return extent_most(p, e);
}

// -- wires ----------------------------------------------------------------------------------------
uint32_t *plan_nones(const Plan *p, uint32_t n) {
  uint32_t *none = NEW_ARRAY(p->arena, uint32_t, n + 1);
  for (uint32_t i = 0; i < n; i++) none[i] = PLAN_NONE;
  return none;
}

uint32_t node_wire(const PlanNode *x, uint32_t i) {
  return !i ? x->out.wire : i <= x->nin ? x->in[i - 1].wire : x->winner[i - x->nin - 1];
}

static Number number_of(const Plan *p, const Type *t) {
  if (t->base == BASE_LABEL) return NUMBER_I32;
  if (t->base == BASE_BIT) return NUMBER_U8;
  return p->wide || !t->rank ? NUMBER_F64 : NUMBER_F32;
}

static uint32_t new_wire(Plan *p, const Type *t, Name name, Id origin) {
  PlanWire x = {.origin = origin,
                .name = name,
                .base = t->base,
                .number = number_of(p, t),
                .rank = t->rank,
                .alias_of = PLAN_NONE,
                .count = 1};
  x.shape = NEW_ARRAY(p->arena, Extent, t->rank);
  x.stride = NEW_ARRAY(p->arena, int64_t, t->rank);
  for (uint32_t i = t->rank; i-- > 0;) {
    x.shape[i] = extent_of(p, t->axis[i].size, origin);
    x.stride[i] = x.count;
    if (__builtin_mul_overflow(x.count, extent_most(p, x.shape[i]), &x.count) ||
        x.count > PTRDIFF_MAX / 16)
      fail(p, origin, "a tensor here has more numbers than memory can hold");
  }
  if (t->base == BASE_LABEL) x.labels = extent_most(p, extent_of(p, t->count, origin));
  if (x.labels > INT32_MAX)
    fail(p, origin,
         arena_format(p->w->arena, "labels are integers of 32 bits, and here are %lld of them",
                      (long long)x.labels));
  if (p->error) x.count = 1;
  vec_push(p->arena, &p->wire, x);
  return p->wire.n - 1;
}

static uint32_t wire_like(Lowering *n, Id wire) {
  const Wire *x = &n->d->wire.at[wire];
  return new_wire(n->p, &x->type, x->name, x->origin);
}

// -- accesses -------------------------------------------------------------------------------------
static PlanCoord coord_of(Lowering *n, const PlanNode *node, const uint32_t *in, const Coord *c,
                          Extent dim) {
  Plan *p = n->p;
  PlanCoord x = {.c = constant_of(p, c->c, node->origin),
                 .n = c->n,
                 .term = NEW_ARRAY(p->arena, PlanTerm, c->n)};
  int64_t low = x.c, high = x.c,
          per_high = 0; // bounds at the largest number of samples, and the growth of the upper one
  for (uint32_t i = 0; i < c->n; i++) {
    PlanTerm t = {constant_of(p, c->term[i].coef, node->origin), c->term[i].var,
                  c->term[i].operand};
    x.term[i] = t;
    int64_t reach =
        t.operand ? p->wire.at[in[t.var]].labels - 1 : extent_most(p, node->index[t.var]) - 1;
    *(t.coef < 0 ? &low : &high) += t.coef * reach;
    if (!t.operand && t.coef > 0) per_high += t.coef * node->index[t.var].per;
    if (!t.operand && t.coef < 0 && node->index[t.var].per) x.check = true;
  }
  // For fewer samples, too: the upper bound must shrink at least as fast as the axis.
  if (low < 0 || high >= extent_most(p, dim) || per_high < dim.per) x.check = true;
  return x;
}

static Operand operand_of(Lowering *n, const PlanNode *node, const uint32_t *in, uint32_t wire,
                          const Access *a) {
  Plan *p = n->p;
  Operand o = {.wire = wire,
               .padded = a->padded,
               .pad = a->pad,
               .coord = NEW_ARRAY(p->arena, PlanCoord, a->rank)};
  for (uint32_t i = 0; i < a->rank; i++)
    o.coord[i] = coord_of(n, node, in, &a->coord[i], p->wire.at[wire].shape[i]);
  return o;
}

// Is each output coordinate a plain index or the digits of a mixed radix, each index there once,
// and every cell written?
static bool output_is_simple(const Plan *p, const PlanNode *node) {
  const PlanWire *w = &p->wire.at[node->out.wire];
  bool *seen = NEW_ARRAY(p->arena, bool, node->nindex + 1);
  for (uint32_t i = 0; i < w->rank; i++) {
    const PlanCoord *c = &node->out.coord[i];
    int64_t below = 1;
    if (c->check || c->c || (!c->n && extent_most(p, w->shape[i]) != 1)) return false;
    for (uint32_t round = 0; round < c->n; round++) {
      uint32_t k = 0;
      while (k < c->n && (c->term[k].operand || c->term[k].coef != below || seen[c->term[k].var]))
        k++;
      if (k == c->n) return false;
      seen[c->term[k].var] = true;
      below *= extent_most(p, node->index[c->term[k].var]);
    }
    if (c->n && below != extent_most(p, w->shape[i])) return false;
    if (c->n > 1 && w->shape[i].per) { // the largest digit must be the one that grows
      for (uint32_t k = 0; k < c->n; k++)
        if (node->index[c->term[k].var].per &&
            c->term[k].coef * extent_most(p, node->index[c->term[k].var]) != below)
          return false;
    }
  }
  return true;
}

static void mark_reduced(Plan *p, PlanNode *node) {
  node->reduced = NEW_ARRAY(p->arena, bool, node->nindex + 1);
  for (uint32_t i = 0; i < node->nindex; i++) node->reduced[i] = true;
  for (uint32_t i = 0; i < p->wire.at[node->out.wire].rank; i++)
    for (uint32_t k = 0; k < node->out.coord[i].n; k++)
      if (!node->out.coord[i].term[k].operand)
        node->reduced[node->out.coord[i].term[k].var] = false;
}

static void push_node(Lowering *n, PlanNode node) {
  node.depth = n->depth;
  node.kernel = PLAN_NONE;
  vec_push(n->p->arena, &n->p->node, node);
}

// x^0.5 becomes a square root and x^-0.5 its reciprocal: cheaper and more exact than pow. As in C,
// the power of -inf is inf, and that of -0 is that of 0.
static bool is_root(const Scalar *s, uint32_t i, double power) {
  return s[i].fn == FN_pow && s[s[i].arg[1]].fn == FN_CONST && s[s[i].arg[1]].k == power;
}

enum { ROOT_SCALARS = 8 };

// Appends the root of scalar `of`. Gives the new number of scalars; the last one is the root.
static uint32_t put_root(Scalar *to, uint32_t n, uint32_t of, uint8_t base) {
  const uint32_t zero = n, sum = n + 1, root = n + 2, least = n + 3, is = n + 4, inf = n + 5;
  to[zero] = (Scalar){.fn = FN_CONST, .base = base, .k = 0};
  to[sum] = (Scalar){.fn = FN_add, .base = base, .arg = {of, zero}};
  to[root] = (Scalar){.fn = FN_sqrt, .base = base, .arg = {sum}};
  to[least] = (Scalar){.fn = FN_CONST, .base = base, .k = -INFINITY};
  to[is] = (Scalar){.fn = FN_eq, .base = BASE_BIT, .arg = {of, least}};
  to[inf] = (Scalar){.fn = FN_CONST, .base = base, .k = INFINITY};
  to[n + 6] = (Scalar){.fn = FN_select, .base = base, .arg = {is, inf, root}};
  return n + 7;
}

static void write_roots(Plan *p, PlanNode *x) {
  uint32_t n = 0, *now = NEW_ARRAY(p->arena, uint32_t, x->nscalar + 1);
  Scalar *to = NEW_ARRAY(p->arena, Scalar, (ROOT_SCALARS + 1) * x->nscalar + 1);
  for (uint32_t i = 0; i < x->nscalar; i++) {
    Scalar s = x->scalar[i];
    for (uint32_t k = 0; s.fn > FN_SIZE && k < fn_rows[s.fn].arity; k++) s.arg[k] = now[s.arg[k]];
    bool root = is_root(x->scalar, i, 0.5), inverse = is_root(x->scalar, i, -0.5);
    if (root || inverse)
      n = put_root(to, n, s.arg[0], s.base);
    else
      to[n++] = s;
    if (inverse) {
      to[n] = (Scalar){.fn = FN_CONST, .base = s.base, .k = 1};
      to[n + 1] = (Scalar){.fn = FN_div, .base = s.base, .arg = {n, n - 1}};
      n += 2;
    }
    now[i] = n - 1;
  }
  x->scalar = to;
  x->nscalar = n;
}

// -- unused operands ------------------------------------------------------------------------------
static void renumber_labels(Plan *p, Operand *o, uint32_t k) {
  uint32_t rank = p->wire.at[o->wire].rank;
  o->coord = rank ? arena_copy(p->arena, o->coord, rank * sizeof *o->coord) : NULL;
  for (uint32_t i = 0; i < rank; i++) {
    PlanCoord *c = &o->coord[i];
    if (c->n) c->term = arena_copy(p->arena, c->term, c->n * sizeof *c->term);
    for (uint32_t t = 0; t < c->n; t++)
      if (c->term[t].operand && c->term[t].var > k) c->term[t].var--;
  }
}

void node_drop(Plan *p, PlanNode *x, uint32_t k) {
  Operand *in = NEW_ARRAY(p->arena, Operand, x->nin);
  for (uint32_t i = 0, to = 0; i < x->nin; i++)
    if (i != k) in[to++] = x->in[i];
  x->in = in;
  x->nin--;
  for (uint32_t i = 0; i < x->nin; i++) renumber_labels(p, &x->in[i], k);
  renumber_labels(p, &x->out, k);
  for (uint32_t i = 0; i < x->nscalar; i++)
    if (x->scalar[i].fn == FN_ARG && x->scalar[i].ref > k) x->scalar[i].ref--;
}

static bool has_label(const Plan *p, const Operand *o, uint32_t k) {
  for (uint32_t i = 0; i < p->wire.at[o->wire].rank; i++)
    for (uint32_t t = 0; t < o->coord[i].n; t++)
      if (o->coord[i].term[t].operand && o->coord[i].term[t].var == k) return true;
  return false;
}

// The body does not read the operand, no coordinate is computed from it, and it is never out of
// bounds, so it guards nothing. A gather leaves such operands in its gradient.
static bool is_unused_operand(const Plan *p, const PlanNode *x, uint32_t k) {
  const Operand *o = &x->in[k];
  if (o->used || has_label(p, &x->out, k)) return false;
  for (uint32_t i = 0; i < x->nin; i++)
    if (has_label(p, &x->in[i], k)) return false;
  for (uint32_t i = 0; i < p->wire.at[o->wire].rank; i++)
    if (o->coord[i].check) return false;
  return true;
}

static void drop_unused_operands(Plan *p, PlanNode *x) {
  for (uint32_t k = 0; k < x->nin;)
    if (is_unused_operand(p, x, k)) {
      node_drop(p, x, k);
      k = 0; // the label that indexed it may be unused now
    } else {
      k++;
    }
}

// -- whole numbers --------------------------------------------------------------------------------
enum { WHOLE_LIMIT = 1 << 24 }; // floats hold whole numbers up to here

// A scalar that is whole and differs from point to point, with a bound of its size.
typedef struct {
  bool whole, varies;
  double most;
} WholeScalar;

static WholeScalar whole_leaf(Plan *p, const PlanNode *x, const Scalar *s) {
  if (s->fn == FN_AT)
    return (WholeScalar){true, true, (double)extent_most(p, x->index[s->ref]) - 1};
  if (s->fn == FN_SIZE)
    return (WholeScalar){true, false, (double)extent_most(p, plan_extent(p, s->ref))};
  if (s->fn == FN_CONST) return (WholeScalar){s->k == floor(s->k), false, fabs(s->k)};
  const PlanWire *w = &p->wire.at[x->in[s->ref].wire];
  return (WholeScalar){w->base != BASE_R, true, w->base == BASE_LABEL ? (double)w->labels - 1 : 1};
}

static WholeScalar whole_scalar(Plan *p, const PlanNode *x, const WholeScalar *known,
                                const Scalar *s) {
  if (s->fn <= FN_SIZE) return whole_leaf(p, x, s);
  WholeScalar a = known[s->arg[0]], b = fn_rows[s->fn].arity > 1 ? known[s->arg[1]] : a;
  WholeScalar y = {a.whole && b.whole, a.varies || b.varies, fmax(a.most, b.most)};
  switch (s->fn) {
  case FN_add:
  case FN_sub: y.most = a.most + b.most; return y;
  case FN_mul: y.most = a.most * b.most; return y;
  case FN_mod: y.most = b.most; return y;
  case FN_neg:
  case FN_abs:
  case FN_number:
  case FN_maximum:
  case FN_minimum: return y;
  default: return (WholeScalar){.varies = y.varies};
  }
}

// A function whose result is wrong if its arguments, whole numbers, are rounded to floats: a position, a
// remainder, a comparison of large numbers. Gives how large they may be.
static double whole_reach(const WholeScalar *known, const Scalar *s) {
  const WholeScalar *a = &known[s->arg[0]], *b = &known[s->arg[1]];
  switch (s->fn) {
  case FN_number: return a->most;
  case FN_mod: return a->whole && a->varies ? a->most : 0;
  case FN_lt:
  case FN_le:
  case FN_eq:
  case FN_ne: return a->whole && b->whole && (a->varies || b->varies) ? fmin(a->most, b->most) : 0;
  default: return 0;
  }
}

// Numbers of 32 bits do not hold large whole numbers: positions, labels, and what is computed of them.
static void check_whole_numbers(Plan *p, const PlanNode *x) {
  WholeScalar *known = NEW_ARRAY(p->arena, WholeScalar, x->nscalar + 1);
  for (uint32_t i = 0; i < x->nscalar && !p->wide; i++) {
    const Scalar *s = &x->scalar[i];
    known[i] = whole_scalar(p, x, known, s);
    double reach = s->fn == FN_AT && s->base == BASE_R ? known[i].most : 0;
    if (s->fn > FN_SIZE) reach = whole_reach(known, s);
    if (reach > WHOLE_LIMIT)
      fail(p, x->origin,
           arena_format(p->w->arena,
                        "whole numbers up to %.0f occur here, but 32-bit numbers are exact only up "
                        "to 2^24 = %d; use --precision 64",
                        reach, WHOLE_LIMIT));
  }
}

static void node_loop(Lowering *n, const Box *b) {
  Plan *p = n->p;
  const Loop *loop = b->loop;
  PlanNode x = {.kind = NODE_NEST,
                .origin = b->origin,
                .combine = loop->combine,
                .nindex = loop->nindex,
                .nin = loop->nin,
                .nscalar = loop->nscalar,
                .scalar = loop->scalar};
  x.index = NEW_ARRAY(p->arena, Extent, loop->nindex);
  x.in = NEW_ARRAY(p->arena, Operand, loop->nin);
  uint32_t *in = NEW_ARRAY(p->arena, uint32_t, loop->nin + 1);
  for (uint32_t i = 0; i < loop->nindex; i++)
    x.index[i] = extent_of(p, loop->index[i].size, b->origin);
  for (uint32_t i = 0; i < loop->nin; i++) {
    in[i] = n->wire[b->in[i]];
    x.in[i] = operand_of(n, &x, in, in[i], &loop->in[i]);
  }
  for (uint32_t i = 0; i < loop->nscalar; i++)
    if (loop->scalar[i].fn == FN_ARG) x.in[loop->scalar[i].ref].used = true;
  for (uint32_t i = 0; i < b->nout; i++) n->wire[b->out[i]] = wire_like(n, b->out[i]);
  x.out = operand_of(n, &x, in, n->wire[b->out[0]], &loop->out);
  mark_reduced(p, &x);
  write_roots(p, &x);
  drop_unused_operands(p, &x);
  x.nwinner = b->nout - 1;
  x.winner = NEW_ARRAY(p->arena, uint32_t, x.nwinner);
  for (uint32_t i = 0; i < x.nwinner; i++)
    x.winner[i] = n->readers[b->out[i + 1]] ? n->wire[b->out[i + 1]] : PLAN_NONE;
  x.scatter = !output_is_simple(p, &x);
  check_whole_numbers(p, &x);
  push_node(n, x);
}

static PlanCoord plain_coord(Plan *p, uint32_t index) {
  PlanTerm *t = NEW(p->arena, PlanTerm);
  *t = (PlanTerm){1, index, false};
  return (PlanCoord){.n = 1, .term = t};
}

PlanNode node_for_copy(Plan *p, uint32_t from, uint32_t to, Id origin) {
  uint32_t rank = p->wire.at[from].rank;
  PlanNode x = {.kind = NODE_NEST, .origin = origin, .nindex = rank, .nin = 1, .nscalar = 1};
  x.index = NEW_ARRAY(p->arena, Extent, rank);
  x.in = NEW_ARRAY(p->arena, Operand, 1);
  x.in[0] = (Operand){.wire = from, .used = true, .coord = NEW_ARRAY(p->arena, PlanCoord, rank)};
  x.out = (Operand){.wire = to, .coord = NEW_ARRAY(p->arena, PlanCoord, rank)};
  x.scalar = NEW(p->arena, Scalar);
  *x.scalar = (Scalar){.fn = FN_ARG, .base = (uint8_t)p->wire.at[from].base};
  for (uint32_t i = 0; i < rank; i++) {
    x.index[i] = p->wire.at[from].shape[i];
    x.in[0].coord[i] = x.out.coord[i] = plain_coord(p, i);
  }
  mark_reduced(p, &x);
  x.kernel = PLAN_NONE;
  return x;
}

// Copies a wire into another one, at an offset along one axis of the result.
static PlanNode *node_copy(Lowering *n, uint32_t from, uint32_t to, uint32_t axis, int64_t offset,
                           Id origin) {
  PlanNode x = node_for_copy(n->p, from, to, origin);
  if (axis < x.nindex) x.out.coord[axis].c = offset;
  push_node(n, x);
  return &n->p->node.at[n->p->node.n - 1];
}

static void node_join(Lowering *n, const Box *b) {
  Plan *p = n->p;
  uint32_t to = n->wire[b->out[0]] = wire_like(n, b->out[0]);
  int64_t offset = 0;
  for (uint32_t i = 0; i < b->nin; i++) {
    uint32_t from = n->wire[b->in[i]];
    Extent e = p->wire.at[from].shape[b->axis];
    if (e.per) p->full_batch_only = true;
    node_copy(n, from, to, b->axis, offset, b->origin);
    offset += extent_most(p, e);
  }
}

static void node_random(Lowering *n, const Box *b) {
  Plan *p = n->p;
  uint32_t to = n->wire[b->out[0]] = wire_like(n, b->out[0]), rank = p->wire.at[to].rank;
  PlanNode x = {.kind = NODE_NEST, .origin = b->origin, .nindex = rank, .noise = b->random};
  x.index = NEW_ARRAY(p->arena, Extent, rank);
  x.out = (Operand){.wire = to, .coord = NEW_ARRAY(p->arena, PlanCoord, rank)};
  for (uint32_t i = 0; i < rank; i++) {
    x.index[i] = p->wire.at[to].shape[i];
    x.out.coord[i] = plain_coord(p, i);
  }
  mark_reduced(p, &x);
  push_node(n, x);
}

static void node_order(Lowering *n, const Box *b) {
  uint32_t to = n->wire[b->out[0]] = wire_like(n, b->out[0]), from = n->wire[b->in[0]];
  PlanNode x = {.kind = NODE_ORDER, .origin = b->origin, .nin = 1, .axis = b->axis};
  x.in = NEW_ARRAY(n->p->arena, Operand, 1);
  x.in[0].wire = from;
  x.out.wire = to;
  n->p->wire.at[from].needs_memory = n->p->wire.at[to].needs_memory = true;
  push_node(n, x);
}

// -- addresses ------------------------------------------------------------------------------------
int64_t operand_step(const Plan *p, const Operand *o, uint32_t index) {
  int64_t step = 0;
  const PlanWire *w = &p->wire.at[o->wire];
  for (uint32_t i = 0; i < w->rank; i++)
    for (uint32_t k = 0; k < o->coord[i].n; k++)
      if (!o->coord[i].term[k].operand && o->coord[i].term[k].var == index)
        step += w->stride[i] * o->coord[i].term[k].coef;
  return step;
}

int64_t operand_start(const Plan *p, const Operand *o) {
  int64_t start = 0;
  const PlanWire *w = &p->wire.at[o->wire];
  for (uint32_t i = 0; i < w->rank; i++) start += w->stride[i] * o->coord[i].c;
  return start;
}

bool operand_uses_index(const Plan *p, const Operand *o, uint32_t index) {
  for (uint32_t i = 0; i < p->wire.at[o->wire].rank; i++)
    for (uint32_t k = 0; k < o->coord[i].n; k++)
      if (!o->coord[i].term[k].operand && o->coord[i].term[k].var == index) return true;
  return false;
}

static Operand operand_again(Plan *p, const Operand *o) {
  Operand again = *o;
  uint32_t rank = p->wire.at[o->wire].rank;
  again.coord = NEW_ARRAY(p->arena, PlanCoord, rank + 1);
  for (uint32_t i = 0; i < rank; i++) again.coord[i] = o->coord[i];
  return again;
}

PlanNode node_clone(Plan *p, const PlanNode *x) {
  PlanNode y = *x;
  y.index = NEW_ARRAY(p->arena, Extent, x->nindex + 1);
  y.reduced = NEW_ARRAY(p->arena, bool, x->nindex + 1);
  y.in = NEW_ARRAY(p->arena, Operand, x->nin + 1);
  for (uint32_t i = 0; i < x->nindex; i++) y.index[i] = x->index[i], y.reduced[i] = x->reduced[i];
  for (uint32_t i = 0; i < x->nin; i++) y.in[i] = operand_again(p, &x->in[i]);
  y.out = operand_again(p, &x->out);
  return y;
}

bool operand_is_affine(const Plan *p, const Operand *o) {
  for (uint32_t i = 0; i < p->wire.at[o->wire].rank; i++) {
    if (o->coord[i].check) return false;
    for (uint32_t k = 0; k < o->coord[i].n; k++)
      if (o->coord[i].term[k].operand) return false;
  }
  return true;
}

int64_t operand_packed_cells(const Plan *p, const PlanNode *x, const Operand *o, uint32_t index) {
  enum { CELLS = 512, TIMES = 4 };
  int64_t step = operand_step(p, o, index), cells = 1;
  bool again = false;
  if (!p->tiny || step == 0 || step == 1 || o->padded || !operand_is_affine(p, o)) return 0;
  for (uint32_t i = 0; i < x->nindex; i++) {
    if (!operand_uses_index(p, o, i)) {
      again |= extent_most(p, x->index[i]) >= TIMES;
      continue;
    }
    cells *= extent_most(p, x->index[i]);
    if (x->index[i].per || cells > CELLS) return 0;
  }
  return again ? cells : 0;
}

bool operand_axis_is_index(const Plan *p, const Operand *o, uint32_t axis, uint32_t *index) {
  const PlanCoord *c = &o->coord[axis];
  if (axis >= p->wire.at[o->wire].rank || c->n != 1 || c->c || c->check || c->term[0].operand ||
      c->term[0].coef != 1)
    return false;
  *index = c->term[0].var;
  return true;
}

// -- scans ----------------------------------------------------------------------------------------
static void node_boxes(Lowering *n);

// An alias of a row of `whole` at the position of a scan. The first axis is dropped.
static uint32_t moving_part(Lowering *n, uint32_t whole, Id inner, uint32_t depth) {
  Plan *p = n->p;
  uint32_t part = wire_like(n, inner);
  PlanWire *x = &p->wire.at[part], *w = &p->wire.at[whole];
  w->needs_memory = x->needs_memory = true;
  x->alias_of = whole;
  x->scan_moves = true;
  x->depth = depth;
  x->scan_stride = w->stride[0];
  x->number = w->number; // rows that are scalars have the number type of the table
  return part;
}

static void node_scan(Lowering *n, const Box *b) {
  Plan *p = n->p;
  const Scan *s = b->scan;
  const Diagram *body = s->body;
  Lowering inner = {.p = p, .d = body, .depth = n->depth + 1};
  inner.wire = NEW_ARRAY(p->arena, uint32_t, body->wire.n);
  inner.readers = NEW_ARRAY(p->arena, uint32_t, body->wire.n);
  uint32_t *carry = NEW_ARRAY(p->arena, uint32_t, s->carry + 1), first_hold = s->slice + s->carry;
  // The carry's own memory, which holds the box's result at last
  for (uint32_t i = 0; i < s->carry; i++) {
    uint32_t c = carry[i] = n->wire[b->out[i]] = wire_like(n, b->out[i]);
    p->wire.at[c].needs_memory = true;
    node_copy(n, n->wire[b->in[s->slice + i]], c, PLAN_NONE, 0, b->origin)->pinned = true;
    inner.wire[body->in.at[s->slice + i]] = c;
  }
  for (uint32_t i = s->carry; i < b->nout; i++) {
    n->wire[b->out[i]] = wire_like(n, b->out[i]);
    p->wire.at[n->wire[b->out[i]]].needs_memory = true;
  }
  Extent times = extent_of(p, s->axis.size, b->origin);
  push_node(n, (PlanNode){.kind = NODE_SCAN, .origin = b->origin, .times = times, .back = s->back});
  for (uint32_t i = 0; i < s->slice; i++)
    inner.wire[body->in.at[i]] = moving_part(&inner, n->wire[b->in[i]], body->in.at[i], n->depth);
  for (uint32_t i = first_hold; i < body->in.n; i++) inner.wire[body->in.at[i]] = n->wire[b->in[i]];
  for (uint32_t i = 0; i < body->param.n; i++)
    inner.wire[body->param.at[i].wire] = n->wire[b->in[body->in.n + i]];
  node_boxes(&inner);
  for (uint32_t i = s->carry; i < b->nout; i++) {
    Id out = body->out.at[i];
    node_copy(&inner, inner.wire[out], moving_part(&inner, n->wire[b->out[i]], out, n->depth),
              PLAN_NONE, 0, b->origin);
  }
  // All carries are read before the first is written. A new value that is shared with another wire
  // is copied first.
  uint32_t *now = NEW_ARRAY(p->arena, uint32_t, s->carry + 1);
  bool *shared = NEW_ARRAY(p->arena, bool, p->wire.n + 1);
  for (uint32_t i = 0; i < s->carry; i++) shared[carry[i]] = true;
  for (uint32_t i = 0; i < body->in.n; i++) shared[inner.wire[body->in.at[i]]] = true;
  for (uint32_t i = 0; i < s->carry; i++) {
    now[i] = inner.wire[body->out.at[i]];
    if (!shared[now[i]]) continue;
    uint32_t copy = wire_like(&inner, body->out.at[i]);
    node_copy(&inner, now[i], copy, PLAN_NONE, 0, b->origin);
    now[i] = copy;
  }
  for (uint32_t i = 0; i < s->carry; i++) {
    p->wire.at[now[i]].needs_memory = true;
    node_copy(&inner, now[i], carry[i], PLAN_NONE, 0, b->origin)->pinned = true;
  }
  push_node(n, (PlanNode){.kind = NODE_SCAN_END, .origin = b->origin});
}

// -- a diagram ------------------------------------------------------------------------------------
static void count_readers(Lowering *n) {
  const Diagram *d = n->d;
  for (Id i = 1; i < d->box.n; i++)
    for (uint32_t k = 0; k < d->box.at[i].nin; k++) n->readers[d->box.at[i].in[k]]++;
  for (uint32_t i = 0; i < d->out.n; i++) n->readers[d->out.at[i]]++;
  for (uint32_t i = 0; i < d->param.n; i++) n->readers[d->param.at[i].next]++;
}

static void node_boxes(Lowering *n) {
  count_readers(n);
  for (Id i = 1; i < n->d->box.n && !n->p->error; i++) {
    const Box *b = &n->d->box.at[i];
    switch (b->op) {
    case OP_loop: node_loop(n, b); break;
    case OP_join: node_join(n, b); break;
    case OP_random: node_random(n, b); break;
    case OP_order: node_order(n, b); break;
    case OP_scan: node_scan(n, b); break;
    default: fail(n->p, b->origin, "a call is left in a diagram to be compiled"); break;
    }
  }
}

// An output has memory of its own: an input or state that is passed through is copied.
static uint32_t own_result(Lowering *n, Id wire) {
  uint32_t x = n->wire[wire];
  if (n->p->wire.at[x].place != AT_NOWHERE) {
    uint32_t copy = wire_like(n, wire);
    node_copy(n, x, copy, PLAN_NONE, 0, n->d->wire.at[wire].origin);
    x = copy;
  }
  n->p->wire.at[x].needs_memory = true;
  return x;
}

void plan_nodes(Plan *p, const Diagram *d) {
  Lowering n = {.p = p, .d = d};
  n.wire = NEW_ARRAY(p->arena, uint32_t, d->wire.n);
  n.readers = NEW_ARRAY(p->arena, uint32_t, d->wire.n);
  for (uint32_t i = 0; i < d->in.n; i++) {
    uint32_t x = n.wire[d->in.at[i]] = wire_like(&n, d->in.at[i]);
    p->wire.at[x].place = AT_INPUT;
    p->wire.at[x].number_of = i;
    vec_push(p->arena, &p->in, x);
  }
  for (uint32_t i = 0; i < d->param.n; i++) {
    uint32_t x = n.wire[d->param.at[i].wire] = wire_like(&n, d->param.at[i].wire);
    p->wire.at[x].place = AT_STATE;
    p->wire.at[x].number_of = i;
    vec_push(p->arena, &p->param, x);
  }
  node_boxes(&n);
  if (p->error) return;
  for (uint32_t i = 0; i < d->out.n; i++) vec_push(p->arena, &p->out, own_result(&n, d->out.at[i]));
  for (uint32_t i = 0; i < d->param.n; i++) {
    Id next = d->param.at[i].next;
    vec_push(p->arena, &p->next, next ? own_result(&n, next) : PLAN_NONE);
  }
}
