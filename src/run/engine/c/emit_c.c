// Prints kernels as C without headers: after the prelude (scalar functions, noise), one function for
// each kernel of loops:
//
//   void limn_k3(const Context *c, char **w, long low, long high, char *s) {
//     for (long q = low; q < high; q++) {              the divided parallel loops
//       long i0 = q / 64, i1 = q % 64;
//       for (long i2 = 0; i2 < 8; i2++) {              the other parallel loops
//         …                                            nest after nest
//
// Loop-invariant code motion places every load, bounds check and scalar in the outermost loop at which
// it is known. Memory is passed as a table of pointers, so kernels that do the same on other memory (the
// blocks of a deep network) share one function. The innermost loop is marked `omp simd`. Uniform scalars
// (rates, counters) are computed in double, before the loops.
#include "run/engine/c/emit_own.h"

#include <math.h>

static void open_range(Emit *e, uint32_t v, const char *from, const char *to) {
  emit_line(e, "for (long i%u = %s; i%u < %s; i%u++) {", v, from, v, to, v);
  e->indent++;
}

// -- pointers -------------------------------------------------------------------------------------
// A key of the wire's memory: equal for aliases.
static uint64_t memory_key(const Plan *p, uint32_t wire) {
  const PlanWire *r = &p->wire.at[wire_root(p, wire)];
  return (uint64_t)r->place << 56 |
         (r->place == AT_STATE || r->place == AT_INPUT ? r->number_of : (uint64_t)r->at);
}

// No other wire of the kernel is an alias of this one.
static bool has_no_alias(const Emit *e, uint32_t wire) {
  uint64_t own = memory_key(e->p, wire);
  for (uint32_t i = 0; i < e->k->node.n; i++) {
    const PlanNode *x = &e->p->node.at[e->k->node.at[i]];
    for (uint32_t k = 0; k < node_wires(x); k++) {
      uint32_t other = node_wire(x, k);
      if (other != PLAN_NONE && other != wire && memory_key(e->p, other) == own) return false;
    }
  }
  return true;
}

// -- rows of accumulators -------------------------------------------------------------------------
static void open_row(Emit *e, const NodeLevels *w, uint32_t last, int64_t n) {
  const PlanNode *x = w->x;
  emit_line(e, "%s s%u[%lld];", emit_sum_type(e, x), w->id, (long long)n);
  for (uint32_t k = 0; k < x->nwinner; k++)
    if (x->winner[k] != PLAN_NONE) emit_line(e, "int n%u_%u[%lld];", w->id, k, (long long)n);
  emit_line(e, "for (long i%u = 0; i%u < %lldL; i%u++) {", last, last, (long long)n, last);
  emit_line(e, "  s%u[i%u] = %s;", w->id, last, emit_identity(e, x));
  for (uint32_t k = 0; k < x->nwinner; k++)
    if (x->winner[k] != PLAN_NONE) emit_line(e, "  n%u_%u[i%u] = 0;", w->id, k, last);
  emit_line(e, "}");
}

static void close_row(Emit *e, const NodeLevels *w, uint32_t last, int64_t n) {
  const PlanNode *x = w->x;
  emit_line(e, "for (long i%u = 0; i%u < %lldL; i%u++) {", last, last, (long long)n, last);
  emit_line(e, "  %s = (%s)s%u[i%u];", emit_cell_at(e, w, &x->out),
            emit_number(e->p->wire.at[x->out.wire].number), w->id, last);
  for (uint32_t k = 0; k < x->nwinner; k++)
    if (x->winner[k] != PLAN_NONE)
      emit_line(e, "  %s = n%u_%u[i%u];", emit_winner(e, w, k), w->id, k, last);
  emit_line(e, "}");
}

// -- nests ----------------------------------------------------------------------------------------
// Initialises the cells of a wire of the output's shape to which this kernel's point adds.
static void emit_initialise_wire(Emit *e, const NodeLevels *w, uint32_t wire, const char *value) {
  const PlanNode *x = w->x;
  const PlanWire *to = &e->p->wire.at[wire];
  Buf at = buf_new(e->p->arena);
  uint32_t loops = 0, index;
  buf_char(&at, '0');
  for (uint32_t i = 0; i < to->rank; i++) {
    if (operand_axis_is_index(e->p, &x->out, i, &index) && x->var[index] < e->k->np) {
      buf_printf(&at, " + %lldL * i%u", (long long)to->stride[i], x->var[index]);
      continue;
    }
    Extent dim = to->shape[i];
    const PlanTerm *block = operand_block(e->p, e->k, x, &x->out, i, &dim);
    if (block)
      buf_printf(&at, " + %lldL * i%u", (long long)(to->stride[i] * block->coef),
                 x->var[block->var]);
    emit_open_loop(e, 'f', i, emit_extent(e, dim));
    loops++;
    buf_printf(&at, " + %lldL * f%u", (long long)to->stride[i], i);
  }
  emit_line(e, "w%u[%s] = %s;", e->slot[wire], at.at, value);
  emit_close_all(e, loops);
}

static void emit_initialise(Emit *e, const NodeLevels *w) {
  emit_initialise_wire(e, w, w->x->out.wire, emit_identity(e, w->x));
  for (uint32_t k = 0; k < w->x->nwinner; k++)
    if (w->x->winner[k] != PLAN_NONE) emit_initialise_wire(e, w, w->x->winner[k], "0");
}

static void emit_pragma(Emit *e, const NodeLevels *w, uint32_t n, uint32_t ndim) {
  Buf b = buf_new(e->p->arena);
  for (uint32_t i = 0; i < n; i++) {
    const PlanNode *x = w[i].x;
    if (x->scatter) { // write conflicts, unless an axis of the output is the innermost loop
      uint32_t index, last = PLAN_NONE;
      for (uint32_t k = 0; k < x->nindex; k++)
        if (x->var[k] == e->k->np + ndim - 1) last = k;
      bool plain = false;
      for (uint32_t a = 0; a < e->p->wire.at[x->out.wire].rank; a++)
        plain |= operand_axis_is_index(e->p, &x->out, a, &index) && index == last;
      if (!plain) return;
    }
    if (w[i].sum_loop == PLAN_NONE || w[i].sum_loop >= ndim) continue;
    if (node_wants_winner(x)) return;
    bool bit = e->p->wire.at[x->out.wire].base == BASE_BIT;
    buf_printf(&b, " reduction(%s:s%u)", emit_combine_text[bit][x->combine], w[i].id);
    if (x->nwinner) buf_printf(&b, " reduction(|:bad%u)", w[i].id);
  }
  emit_line(e, "#pragma omp simd%s", b.at);
}

// Index-set splitting of the innermost loop. A checked coordinate that the loop moves by ±1 is in bounds
// in one contiguous range of the loop. The loop is split there: the middle part has no checks and is
// vectorised.
typedef struct {
  Emit *e;
  const Nest *s;
  const NodeLevels *w; // [node]
  const char *from, *to;
} InnerLoop;

static bool moves_by_one(const Emit *e, const NodeLevels *w, const PlanCoord *c) {
  const PlanTerm *inner = emit_inner_term(e, w, c);
  for (uint32_t k = 0; k < c->n; k++)
    if (c->term[k].operand || (&c->term[k] != inner && c->term[k].var == inner->var)) return false;
  return inner->coef == 1 || inner->coef == -1;
}

// Iterates over the coordinates that depend on the innermost loop and are bounds-checked.
typedef struct {
  uint32_t node, operand, axis;
} CheckedAt;

static const PlanCoord *next_checked(const InnerLoop *l, CheckedAt *at) {
  for (; at->node < l->s->node.n; at->node++, at->operand = 0) {
    const NodeLevels *w = &l->w[at->node];
    for (; at->operand < w->x->nin; at->operand++, at->axis = 0) {
      const Operand *o = &w->x->in[at->operand];
      while (at->axis < l->e->p->wire.at[o->wire].rank) {
        const PlanCoord *c = &o->coord[at->axis++];
        if (c->check && emit_inner_term(l->e, w, c)) return c;
      }
    }
  }
  return NULL;
}

// The number of such coordinates; 0: there are none, or the loop cannot or need not be split.
static uint32_t count_split_checks(const InnerLoop *l) {
  enum { SHORT = 32 };
  CheckedAt at = {0};
  uint32_t n = 0;
  if (extent_most(l->e->p, l->s->dim[l->s->ndim - 1]) < SHORT) return 0;
  for (uint32_t i = 0; i < l->s->node.n; i++)
    if (l->w[i].x->scatter || sums_in_variable(l->e->k, &l->w[i])) return 0;
  for (const PlanCoord *c; (c = next_checked(l, &at)); n++)
    if (!moves_by_one(l->e, &l->w[at.node], c)) return 0;
  return n;
}

// Intersects [lo, hi) with the range of the loop in which a coordinate is in bounds.
static void emit_split_bound(Emit *e, const NodeLevels *w, const PlanCoord *c, Extent size) {
  const PlanTerm *inner = emit_inner_term(e, w, c);
  PlanCoord rest = *c;
  rest.term = NEW_ARRAY(e->p->arena, PlanTerm, c->n + 1);
  rest.n = 0;
  for (uint32_t k = 0; k < c->n; k++)
    if (&c->term[k] != inner) rest.term[rest.n++] = c->term[k];
  Buf b = buf_new(e->p->arena);
  emit_coord(e, w, &rest, &b);
  const char *n = emit_extent(e, size);
  emit_open(e);
  emit_line(e, "const long x = %s;", b.at);
  if (inner->coef > 0)
    emit_line(e, "const long l = -x, h = %s - x;", n);
  else
    emit_line(e, "const long l = x - %s + 1, h = x + 1;", n);
  emit_line(e, "lo = l > lo ? l : lo; hi = h < hi ? h : hi;");
  emit_close(e);
}

static void emit_split_bounds(const InnerLoop *l) {
  Emit *e = l->e;
  CheckedAt at = {0};
  emit_line(e, "long lo = %s, hi = %s;", l->from, l->to);
  for (const PlanCoord *c; (c = next_checked(l, &at));) {
    const NodeLevels *w = &l->w[at.node];
    const PlanWire *x = &e->p->wire.at[w->x->in[at.operand].wire];
    emit_split_bound(e, w, c, x->shape[at.axis - 1]);
  }
  emit_line(e, "lo = lo < %s ? lo : %s; hi = hi > lo ? hi : lo;", l->to, l->to);
}

static void emit_inner_loop(const InnerLoop *l, const char *from, const char *to,
                            BoundsState known) {
  Emit *e = l->e;
  uint32_t n = l->s->node.n, ndim = l->s->ndim;
  e->bounds = known;
  emit_pragma(e, l->w, n, ndim);
  open_range(e, e->k->np + ndim - 1, from, to);
  emit_level(e, l->w, n, ndim, ndim);
  emit_close(e);
  e->bounds = BOUNDS_UNKNOWN;
}

static void emit_inner(const InnerLoop *l) {
  uint32_t asked = count_split_checks(l);
  if (!asked) {
    emit_inner_loop(l, l->from, l->to, BOUNDS_UNKNOWN);
    return;
  }
  BoundsState outer = asked == 1 ? BOUNDS_OUTSIDE : BOUNDS_UNKNOWN;
  emit_split_bounds(l);
  emit_inner_loop(l, l->from, "lo", outer);
  emit_inner_loop(l, "lo", "hi", BOUNDS_INSIDE);
  emit_inner_loop(l, "hi", l->to, outer);
}

static void emit_nest(Emit *e, uint32_t nest) {
  const Nest *s = &e->k->nest.at[nest];
  uint32_t n = s->node.n;
  const NodeLevels *w = nest_levels(e->p, e->k, nest);
  uint32_t last = e->k->np + s->ndim - 1; // the innermost loop
  emit_open(e);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < w[i].x->nscalar; k++)
      if (w[i].uniform[k]) emit_scalar(e, &w[i], k);
  for (uint32_t i = 0; i < n; i++) emit_packed_copies(e, &w[i]);
  for (uint32_t i = 0; i < n; i++)
    if (w[i].x->scatter || (w[i].sum_loop == s->ndim + 1 && w[i].row_loop == PLAN_NONE))
      emit_initialise(e, &w[i]);
  for (uint32_t d = 0; d == 0 || d < s->ndim; d++) {
    for (uint32_t i = 0; i < n; i++)
      if (w[i].sum_loop == d && w[i].sum_loop <= s->ndim)
        emit_open_sum(e, &w[i]);
      else if (w[i].row_loop == d)
        open_row(e, &w[i], last, s->dim[s->ndim - 1].c);
    emit_level(e, w, n, d, s->ndim);
    if (d == s->ndim) break;
    bool ranged = e->k->ranged && d == 0;
    if (d + 1 == s->ndim)
      emit_inner(
          &(InnerLoop){e, s, w, ranged ? "low" : "0", ranged ? "high" : emit_extent(e, s->dim[d])});
    else if (ranged)
      open_range(e, e->k->np, "low", "high");
    else
      emit_open_loop(e, 'i', e->k->np + d, emit_extent(e, s->dim[d]));
  }
  for (uint32_t d = s->ndim; d-- > 0;) {
    if (d + 1 < s->ndim) emit_close(e);
    for (uint32_t i = 0; i < n; i++)
      if (w[i].sum_loop == d)
        emit_close_sum(e, &w[i]);
      else if (w[i].row_loop == d)
        close_row(e, &w[i], last, s->dim[s->ndim - 1].c);
  }
  if (!s->ndim)
    for (uint32_t i = 0; i < n; i++)
      if (w[i].sum_loop == 0) emit_close_sum(e, &w[i]);
  emit_close(e);
}

// The address of an operand of a small product when all indices of the product are 0.
static const char *base_address(Emit *e, const PlanNode *x, const Operand *o) {
  Buf b = buf_new(e->p->arena);
  buf_printf(&b, "w%u + %lldL", e->slot[o->wire], (long long)operand_start(e->p, o));
  for (uint32_t i = 0; i < x->nindex; i++)
    if (x->var[i] < e->k->np && operand_step(e->p, o, i))
      buf_printf(&b, " + %lldL * i%u", (long long)operand_step(e->p, o, i), x->var[i]);
  return b.at;
}

// The number of points of a group of indices.
static const char *length_text(Emit *e, const PlanNode *x, const uint32_t *group, uint32_t n) {
  Buf b = buf_new(e->p->arena);
  int64_t known = 1;
  for (uint32_t i = 0; i < n; i++) {
    Extent length = x->index[group[i]];
    if (length.per || length.part)
      buf_printf(&b, "%s * ", emit_extent(e, length));
    else
      known *= length.c;
  }
  buf_printf(&b, "%lldL", (long long)known);
  return b.at;
}

static void emit_small_product(Emit *e, const PlanNode *x) {
  const Product *q = x->product;
  uint32_t extra = 0;
  for (uint32_t i = 0; i < q->nbatch;
       i++) { // batch indices that are no parallel loops of the kernel
    uint32_t v = x->var[q->batch[i]];
    if (v < e->k->np) continue;
    emit_open_loop(e, 'i', v, emit_extent(e, x->index[q->batch[i]]));
    extra++;
  }
  Buf at[3];
  const Operand *o[3] = {&x->in[q->a], &x->in[q->b], &x->out};
  for (int s = 0; s < 3; s++) {
    at[s] = buf_new(e->p->arena);
    buf_text(&at[s], base_address(e, x, o[s]));
    for (uint32_t i = 0; i < q->nbatch; i++)
      if (x->var[q->batch[i]] >= e->k->np)
        buf_printf(&at[s], " + %lldL * i%u", (long long)operand_step(e->p, o[s], q->batch[i]),
                   x->var[q->batch[i]]);
  }
  const char *add = "0";
  if (e->k->ordered && x->reduced[x->blocked_index])
    add = arena_format(e->p->arena, "i%u > 0", e->k->np - 1);
  emit_line(e, "c->small(w[%u], %s, %s, %s, s + %lldL, %s, %s, %s, %s);", e->small_slot++, at[0].at,
            at[1].at, at[2].at, (long long)e->k->tile_bytes, length_text(e, x, q->m, q->nm),
            length_text(e, x, q->n, q->nn), length_text(e, x, q->k, q->nk), add);
  emit_close_all(e, extra);
}

// -- kernels --------------------------------------------------------------------------------------
static void emit_pointers(Emit *e) {
  const Ids *slot = &e->entry->slot;
  for (e->small_slot = 0; e->small_slot < slot->n && slot->at[e->small_slot] < e->p->wire.n;
       e->small_slot++) {
    uint32_t i = e->small_slot;
    const PlanWire *w = &e->p->wire.at[slot->at[i]];
    const char *number = emit_cell(e, w->number);
    const char *mark = has_no_alias(e, slot->at[i]) ? "restrict " : "";
    e->slot[slot->at[i]] = i;
    if (e->held && e->held[slot->at[i]])
      emit_line(e, "%s *w%u = &m%u;", number, i, slot->at[i]);
    else if (w->place == AT_TILE)
      emit_line(e, "%s *%sw%u = (%s *)(s + %lldL);", number, mark, i, number, (long long)w->at);
    else
      emit_line(e, "%s *%sw%u = (%s *)w[%u]%s;", number, mark, i, number, i,
                emit_scan_offset(e, slot->at[i]));
    if (e->export_prefix)
      emit_line(e, "(void)w%u;", i); // unused if only the wire's bounds are checked
  }
}

static void emit_divided(Emit *e) {
  const Kernel *k = e->k;
  emit_line(e, "for (long q = low; q < high; q++) {");
  e->indent++;
  emit_line(e, "long r = q;");
  for (uint32_t d = k->split; d-- > 0;) {
    if (d)
      emit_line(e, "const long i%u = r %% %s; r /= %s;", d, emit_extent(e, k->p[d]),
                emit_extent(e, k->p[d]));
    else
      emit_line(e, "const long i0 = r;");
  }
}

void emit_loops(Emit *e) {
  const Kernel *k = e->k;
  bool divided = !k->ranged && k->split;
  emit_pointers(e);
  if (divided) emit_divided(e);
  for (uint32_t d = k->split; d < k->np; d++) emit_open_loop(e, 'i', d, emit_extent(e, k->p[d]));
  if (k->block && k->blocked_loop.c % k->block)
    emit_line(e, "const long rows = i%u < %lldL ? %lldL : %lldL;", k->np - 1,
              (long long)(k->blocked_loop.c / k->block), (long long)k->block,
              (long long)(k->blocked_loop.c % k->block));
  for (uint32_t i = 0; i < k->nest.n; i++) {
    const PlanNode *x = &e->p->node.at[k->nest.at[i].node.at[0]];
    if (x->kind == NODE_PRODUCT)
      emit_small_product(e, x);
    else
      emit_nest(e, i);
  }
  emit_close_all(e, divided + k->np - k->split);
}

void emit_order(Emit *e) {
  const PlanNode *x = &e->p->node.at[e->k->node.at[0]];
  const PlanWire *in = &e->p->wire.at[x->in[0].wire];
  Buf at = buf_new(e->p->arena);
  emit_pointers(e);
  buf_char(&at, '0');
  for (uint32_t i = 0; i < in->rank; i++) {
    if (i == x->axis) continue;
    emit_open_loop(e, 'i', i, emit_extent(e, in->shape[i]));
    buf_printf(&at, " + %lldL * i%u", (long long)in->stride[i], i);
  }
  const char *n = emit_extent(e, in->shape[x->axis]);
  int64_t most = extent_most(e->p, in->shape[x->axis]), step = in->stride[x->axis];
  emit_line(e, "int *o = (int *)s;");
  emit_line(e, "order_row(w%u + %s, %lldL, %s, o, o + %lldL);", e->slot[x->in[0].wire], at.at,
            (long long)step, n, (long long)most);
  emit_line(e, "for (long k = 0; k < %s; k++) w%u[%s + %lldL * k] = o[k];", n, e->slot[x->out.wire],
            at.at, (long long)step);
  emit_close_all(e, in->rank - 1);
}
