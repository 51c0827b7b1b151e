// Online softmax: the maximum of a long row and the sum of exponentials, in one pass over the row.
#include "core/diagram/ops.h"
#include "run/engine/cuda/emit_cuda_own.h"

// Three nests: M, the maximum of a row x; m = max(M, bound); the sum of exp(x - m). Each lane keeps a running
// maximum and rescales its sum when the maximum grows.
typedef struct {
  const NodeLevels *largest, *sum;
  double bound;
} SoftmaxNodes;

static const NodeLevels *only_node(const TeamNest *t) { return t->s->node.n == 1 ? t->w : NULL; }

// m = max(M, bound), perhaps inside a `stop` (stop gradient).
static bool is_bounded(const PlanNode *x, uint32_t of, double *bound) {
  uint32_t last = x->nscalar - 1;
  if (node_has_reduction(x) || x->scatter || x->nin != 1 || x->in[0].wire != of) return false;
  if (x->scalar[last].fn == FN_stop) last = x->scalar[last].arg[0];
  const Scalar *s = &x->scalar[last];
  if (s->fn != FN_maximum) return false;
  for (uint32_t k = 0; k < 2; k++) {
    const Scalar *c = &x->scalar[s->arg[k]];
    *bound = c->k;
    if (c->fn == FN_CONST && c->k - c->k == 0 && x->scalar[s->arg[1 - k]].fn == FN_ARG) return true;
  }
  return false;
}

// The sum of exp(x - m); *of: the operand that is x.
static bool sums_exp_less(const PlanNode *x, uint32_t m, uint32_t *of) {
  const Scalar *s = &x->scalar[x->nscalar - 1];
  if (x->combine != SUM || x->nin != 2 || x->nscalar != 4 || s->fn != FN_exp) return false;
  s = &x->scalar[s->arg[0]];
  const Scalar *a = &x->scalar[s->arg[0]], *b = &x->scalar[s->arg[1]];
  if (s->fn != FN_sub || a->fn != FN_ARG || b->fn != FN_ARG) return false;
  *of = a->ref;
  return a->ref != b->ref && x->in[b->ref].wire == m;
}

static bool shares_memory(const Plan *p, uint32_t a, uint32_t b) {
  const PlanWire *x = &p->wire.at[wire_root(p, a)], *y = &p->wire.at[wire_root(p, b)];
  return x == y || (x->place == y->place && x->at == y->at && x->number_of == y->number_of);
}

// All lanes of the team share the one cell of the nest.
static bool has_one_cell(const TeamNest *t) {
  return !t->cell_loops && !t->split_loop && !t->lanes_across_cells &&
         t->lanes_per_cell == t->lanes;
}

// The nest loops over a row with unrolled vector loads, outside of fused steps.
static bool streams_row(const TeamNest *t) {
  return t->vectorised && t->unrolled && !t->row_turns && !t->sliced && !t->e->wire_address;
}

static bool has_float_accumulator(const TeamNest *t, const NodeLevels *w) {
  return !t->e->p->wide && team_keeps_sum(t, w) && !node_wants_winner(w->x) &&
         strcmp(emit_sum_type(t->e, w->x), "real") == 0;
}

static bool can_fuse_passes(const TeamNest *t, const NodeLevels *w) {
  return streams_row(t) && has_one_cell(t) && has_float_accumulator(t, w);
}

static bool is_plain_maximum(const NodeLevels *w) {
  const PlanNode *x = w->x;
  return x->combine == MAX && x->nscalar == 1 && x->nin == 1 && !w->bounds_checked;
}

// The maximum and the sum preload the same cells of the row, by the same vectors.
static bool read_same_row(const TeamNest *t, const SoftmaxNodes *w, uint32_t of) {
  const PlanNode *largest = w->largest->x, *sum = w->sum->x;
  return t[0].vector == t[2].vector && preload_has(t, w->largest, 0) &&
         preload_has(t + 2, w->sum, of) &&
         same_cells_in_loops(t->e->p, largest, &largest->in[0], sum, &sum->in[of], t->e->k->np + 1);
}

static bool find_softmax(const TeamNest *all, uint32_t nest, SoftmaxNodes *walk) {
  const TeamNest *t = &all[nest];
  const Plan *p = t->e->p;
  uint32_t of;
  if (nest + 2 >= t->e->k->nest.n) return false;
  const NodeLevels *largest = only_node(t), *m = only_node(t + 1), *sum = only_node(t + 2);
  *walk = (SoftmaxNodes){largest, sum, 0};
  if (!largest || !m || !sum || t[1].s->ndim) return false;
  if (!is_plain_maximum(largest) || sum->bounds_checked) return false;
  if (!can_fuse_passes(t, largest) || !can_fuse_passes(t + 2, sum)) return false;
  return is_bounded(m->x, largest->x->out.wire, &walk->bound) &&
         sums_exp_less(sum->x, m->x->out.wire, &of) && read_same_row(t, walk, of) &&
         !shares_memory(p, sum->x->out.wire, m->x->out.wire) &&
         !shares_memory(p, sum->x->out.wire, largest->x->out.wire);
}

bool softmax_matches(const TeamNest *all, uint32_t nest) {
  SoftmaxNodes walk;
  return find_softmax(all, nest, &walk);
}

static void emit_softmax_joins(const TeamNest *t, const SoftmaxNodes *w, const char *bound,
                               uint32_t to) {
  Emit *e = t->e;
  uint32_t a = w->largest->id, b = w->sum->id;
  emit_line(e, "for (int far = 1; far < %u; far *= 2) {", to);
  e->indent++;
  emit_line(e, "const int other = (int)threadIdx.x ^ far;");
  emit_line(e, "const real v = near_real(s%u, other), sum = near_real(s%u, other);", a, b);
  emit_line(e, "const real top = limn_top(v, s%u);", a);
  emit_line(e, "s%u = s%u * limn_exp_fall(s%u, top, %s) + sum * limn_exp_fall(v, top, %s);", b, b,
            a, bound, bound);
  emit_line(e, "s%u = top;", a);
  emit_close(e);
}

// One vector: its maximum, then its exponentials.
static void emit_softmax_vector(const TeamNest *t, const SoftmaxNodes *w, const char *bound) {
  Emit *e = t->e;
  uint32_t a = w->largest->id, b = w->sum->id, loop = e->k->np;
  emit_line(e, "const long four%u = i%u * %u;", loop, loop, t->vector);
  emit_open(e);
  emit_line(e, "const long i%u = four%u;", loop, loop);
  emit_line(e, "(void)i%u;", loop);
  emit_vector_loads(t);
  emit_line(e, "real top = s%u, sum = 0;", a);
  emit_line(e, "UNROLL for (int u = 0; u < %u; u++) top = limn_top(p%u_0[u], top);", t->vector, a);
  emit_line(e, "UNROLL for (int u = 0; u < %u; u++) sum += limn_exp_of(p%u_0[u], top, %s);",
            t->vector, a, bound);
  emit_line(e, "sum += s%u * limn_exp_fall(s%u, top, %s);", b, a, bound);
  emit_line(e, t->no_remainder ? "s%u = sum;" : "s%u = there ? sum : s%u;", b, b);
  emit_line(e, "s%u = top;", a);
  emit_close(e);
}

static void emit_softmax_turns(const TeamNest *t, const SoftmaxNodes *w, const char *bound) {
  Emit *e = t->e;
  const Extent *dim = team_loops(t);
  emit_line(e, "const long turns = %s;", cuda_length(e, dim, 0, t->s->ndim));
  team_open_turns(t, "first", t->unrolled * t->lanes_per_cell);
  team_preloads(t, 0, "last", t->lanes_per_cell);
  preload_open_row(t, "first", "last", t->lanes_per_cell);
  cuda_digits(e, "m", e->k->np, dim, 0, t->s->ndim);
  emit_softmax_vector(t, w, bound);
  emit_close(e);
  emit_close(e);
}

void softmax_emit(const TeamNest *all, uint32_t nest) {
  const TeamNest *t = &all[nest];
  Emit *e = t->e;
  SoftmaxNodes w;
  find_softmax(all, nest, &w);
  uint32_t a = w.largest->id, b = w.sum->id, warps = t->lanes_per_cell / WARP;
  const char *bound = emit_constant(e, w.bound, false);
  emit_open(e);
  emit_line(e, "const int turn = LANE;");
  emit_open_sum(e, w.largest);
  emit_open_sum(e, w.sum);
  emit_softmax_turns(t, &w, bound);
  emit_softmax_joins(t, &w, bound, t->lanes_per_cell < WARP ? t->lanes_per_cell : WARP);
  if (warps > 1) {
    emit_open(e);
    emit_line(e, "const int other = LANE %% %u * %u;", warps, WARP);
    emit_line(e, "s%u = far_real(s%u, other);", a, a);
    emit_line(e, "s%u = far_real(s%u, other);", b, b);
    emit_close(e);
    emit_softmax_joins(t, &w, bound, warps);
  }
  emit_line(e, "if (turn == 0) {");
  e->indent++;
  if (w.largest->x->nwinner) emit_line(e, "bad%u = s%u != s%u;", a, a, a);
  emit_close_sum(e, w.largest);
  emit_close_sum(e, w.sum);
  emit_close(e);
  emit_close(e);
}
