// Contraction order: products of several operands, multiplied two at a time in the cheapest order.
//
//   y = sum p[i] U[i j] q[j] over i j : $0 * $1 * $2         2·i·j multiplications
//   t[j] = sum p[i] U[i j] over i j : $0 * $1                i·j
//   y = sum t[j] q[j] over j : $0 * $1                       and j
//
// A sum of products is split if every access is in bounds (no point is skipped), no label operand
// occurs, and all sizes are constant; the number of samples counts as 64. The intermediate result
// of a set of operands keeps the indices that the output or an operand outside the set needs.
// Dynamic programming over sets finds the cheapest binary split of each set. An index of only one
// operand is reduced first. An operand that is itself a product with no other reader is expanded
// into its factors if that is cheaper.
//
// Sums are reordered, so results differ by rounding: not used for simulation.
#include "core/diagram/ops.h"
#include "core/pass/pass.h"
#include "core/pass/rewrite.h"

#include <math.h>

enum { FACTORS = 8, INDICES = 64, SAMPLES = 64 };

typedef struct {
  Id wire;        // a wire of `from`
  Access access;  // in terms of the loop's indices
  uint64_t index; // set of its indices
} ProductFactor;

typedef struct {
  World *w;
  const Diagram *from;
  Diagram *to;
  const Box *b;
  Id *map;
  const uint32_t *reads; // [wire of from]
  double before;         // the cost of the unsplit loop
  uint32_t n_inner;      // multiplications of expanded inner products
  bool expanded;         // an inner product was expanded
  uint32_t n;
  ProductFactor factor[FACTORS];
  double by; // constant factor
  double size[INDICES];
  uint64_t out;                 // set of the output's indices
  uint64_t index[1 << FACTORS]; // [set of factors] indices of its intermediate result
  double cost[1 << FACTORS];
  uint32_t
      split_at[1 << FACTORS]; // [set of factors] one half of the best split; 0 for a single factor
} ContractProduct;

// -- reading a loop -------------------------------------------------------------------------------
static double points(const ContractProduct *p, uint64_t set) {
  double n = 1;
  for (uint32_t i = 0; i < INDICES; i++)
    if (set >> i & 1) n *= p->size[i];
  return n;
}

static bool access_indices(const ContractProduct *p, const Access *a, const Type *t,
                           uint64_t *out) {
  *out = 0;
  if (a->padded || !access_in_bounds(p->w, p->b->loop, a, t)) return false;
  for (uint32_t i = 0; i < a->rank; i++)
    for (uint32_t k = 0; k < a->coord[i].n; k++) *out |= (uint64_t)1 << a->coord[i].term[k].var;
  return true;
}

static bool number_of(World *w, Size s, double *out) {
  Ids vars = {0};
  s = size_now(w, s);
  if (size_number(w, s, out)) return true;
  size_vars(w, s, &vars);
  for (uint32_t i = 0; i < vars.n; i++) {
    if (size_var_kind(w, vars.at[i]) != VAR_SAMPLE) return false;
    s = size_subst(w, s, vars.at[i], size_of(w, SAMPLES));
  }
  return size_number(w, s, out);
}

static uint32_t bits_in(uint64_t set) {
  uint32_t n = 0;
  for (; set; set &= set - 1) n++;
  return n;
}

// True if every axis of the result is an index of its own, of the same size.
static bool has_plain_output(ContractProduct *p, const Access *a, const Type *t) {
  uint32_t index;
  for (uint32_t i = 0; i < t->rank; i++)
    if (!coord_is_plain(p->w, &a->coord[i], &index) ||
        size_now(p->w, p->b->loop->index[index].size) != size_now(p->w, t->axis[i].size))
      return false;
  return true;
}

static double loop_points(const ContractProduct *p, const Loop *loop) {
  double n = 1, k;
  for (uint32_t i = 0; i < loop->nindex; i++) n *= number_of(p->w, loop->index[i].size, &k) ? k : 1;
  return n;
}

// The operand's producer, if it is a product that only this loop reads; otherwise NULL.
static const Box *inner_product(const ContractProduct *p, Id wire) {
  const Wire *x = &p->from->wire.at[wire];
  const Box *b = &p->from->box.at[x->box];
  if (!x->box || b->op != OP_loop || b->nout != 1 || b->nin < 2 || p->reads[wire] != 1 ||
      !loop_fills(p->w, b->loop, &x->type))
    return NULL;
  for (uint32_t i = 0; i < b->loop->nscalar; i++) {
    Fn fn = (Fn)b->loop->scalar[i].fn;
    if (fn != FN_ARG && fn != FN_mul && fn != FN_and) return NULL;
  }
  return reads_plainly(p->w, p->from, b) ? b : NULL;
}

static bool add_factor(ContractProduct *p, Id wire, const Access *a) {
  ProductFactor f = {.wire = wire, .access = *a};
  if (p->n == FACTORS || !access_indices(p, a, &p->from->wire.at[wire].type, &f.index))
    return false;
  p->factor[p->n++] = f;
  return true;
}

// Collects the factors of a scalar. outer: the access with which the product is read by the outer
// loop; NULL: the loop itself.
static bool read_factors(ContractProduct *p, const Box *b, uint32_t scalar, const Access *outer,
                         bool expand) {
  const Scalar *s = &b->loop->scalar[scalar];
  switch (s->fn) {
  case FN_ARG: {
    Id wire = b->in[s->ref];
    Access a = outer ? access_composed(p->w, b->loop, s->ref, outer) : b->loop->in[s->ref];
    const Box *inner = expand ? inner_product(p, wire) : NULL;
    uint64_t index;
    if (!inner || !access_indices(p, &a, &p->from->wire.at[wire].type, &index))
      return add_factor(p, wire, &a);
    uint32_t had = p->n;
    p->expanded = true;
    if (!read_factors(p, inner, inner->loop->nscalar - 1, &a, true)) return false;
    p->before += (p->n - had - 1) * loop_points(p, inner->loop);
    p->n_inner += p->n - had - 1;
    return true;
  }
  case FN_CONST: p->by *= s->k; return s->base == BASE_R;
  case FN_neg: p->by = -p->by; return read_factors(p, b, s->arg[0], outer, expand);
  case FN_mul:
  case FN_and:
    return read_factors(p, b, s->arg[0], outer, expand) &&
           read_factors(p, b, s->arg[1], outer, expand);
  default: return false;
  }
}

static bool read_product(ContractProduct *p, bool expand) {
  const Loop *loop = p->b->loop;
  p->expanded = false;
  if (loop->combine != SUM || loop->nindex > INDICES || !loop->nin || p->b->nout != 1) return false;
  p->by = 1;
  p->n = p->n_inner = 0;
  p->before = 0;
  for (uint32_t i = 0; i < loop->nindex; i++)
    if (!number_of(p->w, loop->index[i].size, &p->size[i]) || p->size[i] < 1) return false;
  if (!read_factors(p, p->b, loop->nscalar - 1, NULL, expand) || p->n < 2) return false;
  const Type *t = &p->from->wire.at[p->b->out[0]].type;
  if (!has_plain_output(p, &loop->out, t) || !access_indices(p, &loop->out, t, &p->out) ||
      bits_in(p->out) != t->rank)
    return false;
  uint64_t all, used = p->out; // an index that no factor reads would repeat the sum
  // Operands that the body does not read must be redundant guards.
  for (uint32_t i = 0; i < loop->nin; i++)
    if (!access_indices(p, &loop->in[i], &p->from->wire.at[p->b->in[i]].type, &all)) return false;
  for (uint32_t k = 0; k < p->n; k++) used |= p->factor[k].index;
  for (uint32_t i = 0; i < loop->nindex; i++)
    if (!(used >> i & 1)) return false;
  uint64_t whole = loop->nindex == 64 ? ~(uint64_t)0 : ((uint64_t)1 << loop->nindex) - 1;
  p->before += (p->n - p->n_inner - 1) * points(p, whole);
  return true;
}

// -- the order ------------------------------------------------------------------------------------
static uint64_t indices_of(const ContractProduct *p, uint32_t set) {
  uint64_t all = 0;
  for (uint32_t k = 0; k < p->n; k++)
    if (set >> k & 1) all |= p->factor[k].index;
  return all;
}

// True if the cheapest order is cheaper than the unsplit loop.
static bool find_order(ContractProduct *p) {
  uint32_t whole = (1u << p->n) - 1;
  for (uint32_t set = 1; set <= whole; set++) {
    p->index[set] = indices_of(p, set) & (p->out | indices_of(p, whole & ~set));
    p->cost[set] = set & (set - 1) ? INFINITY : 0;
    p->split_at[set] = 0;
    for (uint32_t half = (set - 1) & set; half > (set & ~half); half = (half - 1) & set) {
      uint32_t rest = set & ~half;
      double cost = p->cost[half] + p->cost[rest] + points(p, p->index[half] | p->index[rest]);
      if (!(cost < p->cost[set])) continue;
      p->cost[set] = cost;
      p->split_at[set] = half;
    }
  }
  return p->cost[whole] < p->before;
}

// -- emitting loops -------------------------------------------------------------------------------
// A wire and its access in terms of the original loop's indices.
typedef struct {
  Id wire;
  Access access;
} MadeProduct;

static Axis axis_of(const ContractProduct *p, uint32_t index) {
  const Loop *loop = p->b->loop;
  Axis axis = {.label = loop->index[index].name, .size = loop->index[index].size};
  for (uint32_t k = 0; k < p->n; k++) { // takes the axis (with its batch mark) from a factor
    uint32_t found;
    const Type *t = &p->from->wire.at[p->factor[k].wire].type;
    for (uint32_t i = 0; i < t->rank; i++)
      if (coord_is_plain(p->w, &p->factor[k].access.coord[i], &found) && found == index &&
          t->axis[i].pass)
        axis = t->axis[i];
  }
  axis.size = loop->index[index].size;
  return axis;
}

static Access access_by(World *w, const Access *old, const uint32_t *now) {
  Access a = {.rank = old->rank, .coord = NEW_ARRAY(w->arena, Coord, old->rank)};
  for (uint32_t i = 0; i < a.rank; i++) {
    a.coord[i] = old->coord[i];
    a.coord[i].term = arena_copy(w->arena, old->coord[i].term, old->coord[i].n * sizeof(Term));
    for (uint32_t k = 0; k < a.coord[i].n; k++)
      a.coord[i].term[k].var = now[a.coord[i].term[k].var];
  }
  return a;
}

// Emits the product of one or two wires over a set of indices, reduced to the indices of `out`.
static Id emit(const ContractProduct *p, const MadeProduct *in, uint32_t n, uint64_t over,
               const Access *out, Type type, double by) {
  World *w = p->w;
  const Loop *old = p->b->loop;
  uint32_t now[INDICES] = {0}, body = 0;
  Id wire[2];
  Loop *loop = NEW(w->arena, Loop);
  loop->index = NEW_ARRAY(w->arena, Index, old->nindex);
  for (uint32_t i = 0; i < old->nindex; i++)
    if (over >> i & 1) now[i] = loop->nindex, loop->index[loop->nindex++] = old->index[i];
  loop->nin = n;
  loop->in = NEW_ARRAY(w->arena, Access, n);
  for (uint32_t i = 0; i < n; i++) {
    wire[i] = in[i].wire;
    loop->in[i] = access_by(w, &in[i].access, now);
    uint32_t x = scalar_push(w, loop, (Scalar){.fn = FN_ARG, .base = type.base, .ref = i});
    body = i ? scalar_fn(w, loop, type.base == BASE_BIT ? FN_and : FN_mul, body, x, 0) : x;
  }
  if (by != 1) {
    uint32_t k = scalar_push(w, loop, (Scalar){.fn = FN_CONST, .base = BASE_R, .k = by});
    scalar_fn(w, loop, FN_mul, body, k, 0);
  }
  loop->out = access_by(w, out, now);
  return box_loop_shared(w, p->to, loop, wire, n, type, p->b->origin);
}

// The type and plain access of an intermediate result with these indices as axes.
static Access plain_with(const ContractProduct *p, uint64_t index, Type *type) {
  uint32_t plain[INDICES], n = 0;
  Axis axis[INDICES];
  for (uint32_t i = 0; i < p->b->loop->nindex; i++)
    if (index >> i & 1) axis[n] = axis_of(p, i), plain[n++] = i;
  *type = type_make(p->w, (Base)p->from->wire.at[p->b->out[0]].type.base, n, axis);
  return access_plain(p->w, n, plain);
}

static MadeProduct make_single(const ContractProduct *p, uint32_t set) {
  uint32_t k = 0;
  Type type;
  while (!(set >> k & 1)) k++;
  MadeProduct have = {p->map[p->factor[k].wire], p->factor[k].access};
  if (p->index[set] == p->factor[k].index) return have;
  MadeProduct sum = {.access = plain_with(p, p->index[set], &type)};
  sum.wire = emit(p, &have, 1, p->factor[k].index, &sum.access, type, 1);
  return sum;
}

static MadeProduct make_set(const ContractProduct *p, uint32_t set) {
  if (!p->split_at[set]) return make_single(p, set);
  Type type;
  uint32_t half = p->split_at[set], rest = set & ~half;
  bool whole = set == (1u << p->n) - 1; // the last product writes the loop's own output
  MadeProduct in[2] = {make_set(p, half), make_set(p, rest)},
              out = {.access = plain_with(p, p->index[set], &type)};
  if (whole) out.access = p->b->loop->out, type = p->from->wire.at[p->b->out[0]].type;
  uint64_t over = p->index[half] | p->index[rest] | (whole ? p->out : 0);
  out.wire = emit(p, in, 2, over, &out.access, type, whole ? p->by : 1);
  return out;
}

static bool split_loop(ContractProduct *p) {
  bool cheaper = read_product(p, true) && find_order(p);
  if (!cheaper && p->expanded) // without expanding inner products
    cheaper = read_product(p, false) && find_order(p);
  if (!cheaper) return false;
  Id wire = make_set(p, (1u << p->n) - 1).wire;
  p->to->wire.at[wire].name = p->from->wire.at[p->b->out[0]].name;
  p->map[p->b->out[0]] = wire;
  return true;
}

static bool contract_box(const Rewriting *r, const Box *b) {
  ContractProduct p; // kilobytes: not cleared as a whole, and one for all boxes
  if (b->op != OP_loop) return false;
  p.w = r->w, p.from = r->from, p.to = r->to, p.b = b, p.map = r->map, p.reads = r->reads;
  return split_loop(&p);
}

Diagram *diagram_contract(World *w, const Diagram *d) {
  return diagram_prune(w, rewrite_boxes(w, d, contract_box));
}
