// Cost model: work and memory as polynomials in the sizes.
//
// Work: a loop costs the number of points of its iteration domain times the functions of its body;
// combining n values costs n - 1 operations. Joins, orders and noise cost nothing. A scan costs its
// body times its length, a call costs its callee, both in the caller's sizes.
//
// Memory: elements of wires. A *section* lies between two boxes and holds the live wires; at a box,
// its inputs and outputs are live together. The peak is the largest section. Unknown sizes:
// sections are compared by degree, then by value with every variable 16.
#include "base/table.h"
#include "core/diagram/ops.h"
#include "core/diagram/subst.h"
#include "core/pass/pass.h"
#include "core/pass/rewrite.h"

#include <math.h>

typedef struct {
  World *w;
  Table *known; // diagram id to index of its cost + 1
  VEC(Cost) cost;
  double *small, *large, *twice; // [variable] 16, 2^20, 2^21
} Costing;

static Cost cost_of(Costing *, const Diagram *);

static Cost cost_zero(World *w) {
  Size zero = size_of(w, 0);
  return (Cost){zero, zero, zero, zero, zero};
}

static Size elements(World *w, const Type *t) {
  Size n = size_of(w, 1);
  for (uint32_t i = 0; i < t->rank; i++) n = size_mul(w, n, size_now(w, t->axis[i].size));
  return n;
}

// -- work -----------------------------------------------------------------------------------------
static void add_times(World *w, Size *sum, Size n, int64_t times) {
  if (times) *sum = size_add(w, *sum, size_mul(w, n, size_of(w, times)));
}

static void add_loop(World *w, Cost *c, const Loop *loop) {
  enum { FUNCTION_FLOPS = 4 };
  Size points = size_of(w, 1), cells = points;
  int64_t multiplications = 0, additions = 0, functions = 0;
  bool reduced = false;
  for (uint32_t i = 0; i < loop->nindex; i++) {
    bool here = loop_is_reduced(w, loop, i);
    points = size_mul(w, points, size_now(w, loop->index[i].size));
    if (!here) cells = size_mul(w, cells, size_now(w, loop->index[i].size));
    reduced |= here;
  }
  for (uint32_t i = 0; i < loop->nscalar; i++) {
    Fn fn = (Fn)loop->scalar[i].fn;
    if (fn == FN_mul)
      multiplications++;
    else if (fn == FN_add || fn == FN_sub)
      additions++;
    else if (fn_rows[fn].flops >= FUNCTION_FLOPS)
      functions++;
  }
  add_times(w, &c->multiplications, points, multiplications);
  add_times(w, &c->additions, points, additions);
  add_times(w, &c->functions, points, functions);
  if (reduced) c->additions = size_add(w, c->additions, size_sub(w, points, cells));
}

static void add_inner(World *w, Cost *c, const Cost *inner, const Subst *s, Size times) {
  Size one[] = {inner->multiplications, inner->additions, inner->functions};
  Size *sum[] = {&c->multiplications, &c->additions, &c->functions};
  for (uint32_t i = 0; i < COUNT(one); i++)
    *sum[i] = size_add(w, *sum[i], size_mul(w, subst_size(w, s, one[i]), times));
}

// -- memory ---------------------------------------------------------------------------------------
static double value_at(const Costing *k, Size s, const double *var) {
  double x = 0;
  return size_at(k->w, s, var, &x) ? x : 0;
}

static double degree(const Costing *k, Size s) {
  double a = value_at(k, s, k->large), b = value_at(k, s, k->twice);
  return a > 0 && b > 0 ? round(log2(b / a)) : 0;
}

static bool is_larger(const Costing *k, Size a, Size b) {
  if (a == b) return false;
  double da = degree(k, a), db = degree(k, b);
  return da != db ? da > db : value_at(k, a, k->small) > value_at(k, b, k->small);
}

// [wire] The last box that reads it (end of its live range); d->box.n for outputs.
static Id *last_reads(World *w, const Diagram *d) {
  Id *last = NEW_ARRAY(w->arena, Id, d->wire.n);
  for (Id i = 1; i < d->box.n; i++)
    for (uint32_t k = 0; k < d->box.at[i].nin; k++) last[d->box.at[i].in[k]] = i;
  for (uint32_t i = 0; i < d->out.n; i++) last[d->out.at[i]] = d->box.n;
  for (uint32_t i = 0; i < d->param.n; i++) last[d->param.at[i].next] = d->box.n;
  return last;
}

static Size boundary(World *w, const Diagram *d) {
  Size sum = size_of(w, 0);
  for (uint32_t i = 0; i < d->in.n; i++)
    sum = size_add(w, sum, elements(w, &d->wire.at[d->in.at[i]].type));
  for (uint32_t i = 0; i < d->param.n; i++)
    sum = size_add(w, sum, elements(w, &d->wire.at[d->param.at[i].wire].type));
  return sum;
}

// The memory inside a box beyond its inputs. Adds its work to c.
static Size add_box(Costing *k, Cost *c, const Diagram *d, const Box *b) {
  World *w = k->w;
  Size one = size_of(w, 1), zero = size_of(w, 0);
  const Diagram *inner = b->op == OP_call ? b->callee : b->op == OP_scan ? b->scan->body : NULL;
  if (b->op == OP_loop) add_loop(w, c, b->loop);
  if (!inner) return zero;
  Subst s = {0};
  Cost cost = cost_of(k, inner);
  subst_call(w, &s, inner, d, b->in, b->op == OP_scan ? b->scan->slice : 0);
  add_inner(w, c, &cost, &s, b->op == OP_scan ? size_now(w, b->scan->axis.size) : one);
  c->memory_all = size_add(w, c->memory_all,
                           subst_size(w, &s, size_sub(w, cost.memory_all, boundary(w, inner))));
  return subst_size(w, &s, size_sub(w, cost.memory_peak, boundary(w, inner)));
}

static Size dead_after(World *w, const Diagram *d, Id box, Id *last) {
  const Box *b = &d->box.at[box];
  Size dead = size_of(w, 0);
  for (uint32_t i = 0; i < b->nin; i++) {
    if (last[b->in[i]] != box) continue;
    dead = size_add(w, dead, elements(w, &d->wire.at[b->in[i]].type));
    last[b->in[i]] = 0; // an operand that is read twice is freed once
  }
  for (uint32_t i = 0; i < b->nout; i++)
    if (!last[b->out[i]]) dead = size_add(w, dead, elements(w, &d->wire.at[b->out[i]].type));
  return dead;
}

static Cost cost_of(Costing *k, const Diagram *d) {
  World *w = k->w;
  Id known = table_get(k->known, &d->id, sizeof(Id));
  if (known) return k->cost.at[known - 1];
  Cost c = cost_zero(w);
  Id *last = last_reads(w, d);
  Size alive = boundary(w, d);
  c.memory_all = c.memory_peak = alive;
  for (Id i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    Size out = size_of(w, 0), inside = add_box(k, &c, d, b);
    for (uint32_t j = 0; j < b->nout; j++)
      out = size_add(w, out, elements(w, &d->wire.at[b->out[j]].type));
    c.memory_all = size_add(w, c.memory_all, out);
    inside = size_add(w, alive, inside);
    alive = size_add(w, alive, out);
    if (is_larger(k, inside, c.memory_peak)) c.memory_peak = inside;
    if (is_larger(k, alive, c.memory_peak)) c.memory_peak = alive;
    alive = size_sub(w, alive, dead_after(w, d, i, last));
  }
  vec_push(w->arena, &k->cost, c);
  table_put(k->known, &d->id, sizeof(Id), k->cost.n);
  return c;
}

static double *all_vars(World *w, double x) {
  double *var = NEW_ARRAY(w->arena, double, size_var_count(w));
  for (uint32_t i = 0; i < size_var_count(w); i++) var[i] = x;
  return var;
}

Cost diagram_cost(World *w, const Diagram *d) {
  Costing k = {.w = w, .known = table_new(w->arena)};
  k.small = all_vars(w, 16);
  k.large = all_vars(w, 0x1p20);
  k.twice = all_vars(w, 0x1p21);
  return cost_of(&k, d);
}

Cost diagram_cost_forward_mode(World *w, const Diagram *d) {
  const Diagram *forward = diagram_forward(w, d, NULL);
  Size times = size_of(w, 0);
  for (uint32_t i = d->in.n; i < forward->in.n; i++) // the tangents
    times = size_add(w, times, elements(w, &forward->wire.at[forward->in.at[i]].type));
  Cost c = diagram_cost(w, forward);
  Size *part[] = {&c.multiplications, &c.additions, &c.functions, &c.memory_all, &c.memory_peak};
  for (uint32_t i = 0; i < COUNT(part); i++) *part[i] = size_mul(w, *part[i], times);
  return c;
}
