// The largest number of a long row, and the sum of exponentials made smaller by it, in one walk.
#include "run/engine/cuda/emit_cuda_own.h"

// Three nests: M, the largest number of a long row; m, which is M but no less than a bound; the sum of exp(x - m). Instead of
// walking over the row twice, each lane has the largest number so far, and makes its sum smaller when that grows.
typedef struct {
  const NodeLevels *largest, *sum;
  double bound;
} RowWalk;

static const NodeLevels *only_node(const TeamNest *t) { return t->s->node.n == 1 ? t->w : NULL; }

// m = max(M, bound), which may be under a `stop`
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

// The sum of exp(x - m); *of: which operand is x.
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

static bool walks_alone(const TeamNest *t, const NodeLevels *w) {
  return t->vectorised && t->ahead && !t->trips && !t->sliced && !t->e->wire_address && !t->kept &&
         !t->summed && !t->across && t->turns == t->lanes && !t->e->p->wide &&
         team_keeps_sum(t, w) && !node_wants_winner(w->x) &&
         strcmp(emit_sum_type(t->e, w->x), "real") == 0;
}

static bool find_walk(const TeamNest *all, uint32_t nest, RowWalk *walk) {
  const TeamNest *t = &all[nest];
  const Plan *p = t->e->p;
  uint32_t of;
  if (nest + 2 >= t->e->k->nest.n) return false;
  const NodeLevels *largest = only_node(t), *m = only_node(t + 1), *sum = only_node(t + 2);
  *walk = (RowWalk){largest, sum, 0};
  if (!largest || !m || !sum || t[1].s->ndim || largest->x->combine != MAX ||
      largest->x->nscalar != 1 || largest->x->nin != 1 || largest->bounds_checked ||
      sum->bounds_checked || !walks_alone(t, largest) || !walks_alone(t + 2, sum))
    return false;
  return is_bounded(m->x, largest->x->out.wire, &walk->bound) &&
         sums_exp_less(sum->x, m->x->out.wire, &of) && t[0].lot == t[2].lot &&
         ahead_has(t, largest, 0) && ahead_has(t + 2, sum, of) &&
         lot_same_cells(p, largest->x, &largest->x->in[0], sum->x, &sum->x->in[of],
                        t->e->k->np + 1) &&
         !shares_memory(p, sum->x->out.wire, m->x->out.wire) &&
         !shares_memory(p, sum->x->out.wire, largest->x->out.wire);
}

bool team_walks(const TeamNest *all, uint32_t nest) {
  RowWalk walk;
  return find_walk(all, nest, &walk);
}

static void emit_walk_joins(const TeamNest *t, const RowWalk *w, const char *bound, uint32_t to) {
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

// A lot: its largest number, and then its exponentials.
static void emit_walk_lot(const TeamNest *t, const RowWalk *w, const char *bound) {
  Emit *e = t->e;
  uint32_t a = w->largest->id, b = w->sum->id, loop = e->k->np;
  emit_line(e, "const long four%u = i%u * %u;", loop, loop, t->lot);
  emit_open(e);
  emit_line(e, "const long i%u = four%u;", loop, loop);
  emit_line(e, "(void)i%u;", loop);
  lots_load(t);
  emit_line(e, "real top = s%u, sum = 0;", a);
  emit_line(e, "UNROLL for (int u = 0; u < %u; u++) top = limn_top(p%u_0[u], top);", t->lot, a);
  emit_line(e, "UNROLL for (int u = 0; u < %u; u++) sum += limn_exp_of(p%u_0[u], top, %s);", t->lot,
            a, bound);
  emit_line(e, "sum += s%u * limn_exp_fall(s%u, top, %s);", b, a, bound);
  emit_line(e, t->even ? "s%u = sum;" : "s%u = there ? sum : s%u;", b, b);
  emit_line(e, "s%u = top;", a);
  emit_close(e);
}

static void emit_walk_turns(const TeamNest *t, const RowWalk *w, const char *bound) {
  Emit *e = t->e;
  const Extent *dim = team_loops(t);
  emit_line(e, "const long turns = %s;", cuda_length(e, dim, 0, t->s->ndim));
  team_open_turns(t, "first", t->ahead * t->turns);
  team_loads_ahead(t, 0, "last", t->turns);
  ahead_open_row(t, "first", "last", t->turns);
  cuda_digits(e, "m", e->k->np, dim, 0, t->s->ndim);
  emit_walk_lot(t, w, bound);
  emit_close(e);
  emit_close(e);
}

void team_emit_walk(const TeamNest *all, uint32_t nest) {
  const TeamNest *t = &all[nest];
  Emit *e = t->e;
  RowWalk w;
  find_walk(all, nest, &w);
  uint32_t a = w.largest->id, b = w.sum->id, warps = t->turns / WARP;
  const char *bound = emit_constant(e, w.bound, false);
  emit_open(e);
  emit_line(e, "const int turn = LANE;");
  emit_open_sum(e, w.largest);
  emit_open_sum(e, w.sum);
  emit_walk_turns(t, &w, bound);
  emit_walk_joins(t, &w, bound, t->turns < WARP ? t->turns : WARP);
  if (warps > 1) {
    emit_open(e);
    emit_line(e, "const int other = LANE %% %u * %u;", warps, WARP);
    emit_line(e, "s%u = far_real(s%u, other);", a, a);
    emit_line(e, "s%u = far_real(s%u, other);", b, b);
    emit_close(e);
    emit_walk_joins(t, &w, bound, warps);
  }
  emit_line(e, "if (turn == 0) {");
  e->indent++;
  if (w.largest->x->nwinner) emit_line(e, "bad%u = s%u != s%u;", a, a, a);
  emit_close_sum(e, w.largest);
  emit_close_sum(e, w.sum);
  emit_close(e);
  emit_close(e);
}
