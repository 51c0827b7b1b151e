// Derivatives of loops.
//
//   y[A0(n)]    += body(x_1[A1(n)], …)         over the points n
//   dx_k[Ak(n)] += ∂body/∂x_k · dy[A0(n)]      over the same points
//
// Reverse mode exchanges the output's access with an operand's; forward mode keeps the output and
// reads a tangent next to each operand. Every primal operand stays, at least as a guard, so the
// live points are the same. The *place* at which the derivative is taken depends on the combine:
//
//   sum          the loop itself
//   max, min     the winning points only: the indices are those of the output; the argmax operand (a
//                label) replaces each reduced index
//   prod         the loop itself, times the product of the other factors, a wire over all points:
//                quadratic work, but correct where factors are zero. Over B, min is prod, and max is
//                the complement of the prod of complements.
//
// The body is differentiated symbolically with the texts of ops.def. A branch of `select` is
// differentiated as if it were taken, and selected last, so an infinite slope in the other branch
// does no harm. A derivative in terms of the body's value (as of exp) reads the loop's output
// instead of recomputing it.
#include "core/diagram/each.h"
#include "core/diagram/ops.h"
#include "core/diagram/print.h"
#include "core/pass/derive_own.h"

#include <assert.h>

#define NONE UINT32_MAX

typedef struct {
  Draft draft;     // the primal body, at the place
  uint32_t first;  // index of the first primal operand
  uint32_t factor; // operand that multiplies every derivative; NONE: none
} DerivePlace;

static uint32_t push_leaf(World *w, Loop *loop, Fn fn, uint8_t base, uint32_t ref, double k) {
  return scalar_push(w, loop, (Scalar){.fn = (uint8_t)fn, .base = base, .ref = ref, .k = k});
}

static uint32_t push_times(World *w, Loop *loop, uint32_t a, uint32_t b) {
  return scalar_fn(w, loop, loop->scalar[a].base == BASE_BIT ? FN_and : FN_mul, a, b, 0);
}

static uint32_t push_plus(World *w, Loop *loop, uint32_t a, uint32_t b) {
  return scalar_fn(w, loop, loop->scalar[a].base == BASE_BIT ? FN_xor : FN_add, a, b, 0);
}

static Ids mapped(const Derive *e, const Id *in, uint32_t n) {
  Ids ids = {0};
  for (uint32_t i = 0; i < n; i++) vec_push(e->w->arena, &ids, e->map[in[i]]);
  return ids;
}

// -- derivatives inside the body ------------------------------------------------------------------
static bool has_slope(const Scalar *s, uint32_t argument) {
  const char *d = argument < fn_rows[s->fn].arity ? fn_rows[s->fn].d[argument] : NULL;
  return d && strcmp(d, "0") != 0;
}

// The derivative of scalar `y` by an argument, times g.
static uint32_t push_slope(World *w, Loop *loop, uint32_t y, uint32_t argument, uint32_t g) {
  static const char *const name[] = {"a", "b", "c", "y", "g"};
  const Scalar *s = &loop->scalar[y];
  const char *text = fn_rows[s->fn].d[argument];
  uint32_t value[] = {s->arg[0], s->arg[1], s->arg[2], y, g}, out = 0;
  if (strcmp(text, "g") == 0) return g;
  bool ok = scalar_read(w, loop, text, name, value, COUNT(name), &out);
  assert(ok);
  (void)ok;
  return out;
}

typedef struct {
  uint32_t value; // NONE = zero
  uint32_t only;  // a mask: the flow is zero where this bit is 0; NONE: no mask
} GradientFlow;

static uint32_t flow_value(World *w, Loop *loop, GradientFlow f) {
  if (f.only == NONE) return f.value;
  uint32_t zero = push_leaf(w, loop, FN_CONST, loop->scalar[f.value].base, 0, 0);
  return scalar_fn(w, loop, FN_select, f.only, f.value, zero);
}

static void flow_add(World *w, Loop *loop, GradientFlow *to, GradientFlow more) {
  if (to->value == NONE) {
    *to = more;
  } else if (to->only == more.only) {
    to->value = push_plus(w, loop, to->value, more.value);
  } else {
    uint32_t a = flow_value(w, loop, *to), b = flow_value(w, loop, more);
    *to = (GradientFlow){push_plus(w, loop, a, b), NONE};
  }
}

// The cotangent of an argument of `y`, given the cotangent of `y`.
static GradientFlow flow_back(World *w, Loop *loop, uint32_t y, uint32_t argument, GradientFlow g) {
  const Scalar s = loop->scalar[y];
  if (s.fn != FN_select) return (GradientFlow){push_slope(w, loop, y, argument, g.value), g.only};
  uint32_t taken = argument == 1 ? s.arg[0] : scalar_fn(w, loop, FN_not, s.arg[0], 0, 0);
  if (g.only != NONE) taken = scalar_fn(w, loop, FN_and, g.only, taken, 0);
  return (GradientFlow){g.value, taken};
}

// Marks which of the first n scalars depend on operand k differentiably.
static bool *scalars_dependent(World *w, const Loop *loop, uint32_t n, uint32_t k) {
  bool *moved = NEW_ARRAY(w->arena, bool, n);
  for (uint32_t i = 0; i < n; i++) {
    const Scalar *s = &loop->scalar[i];
    moved[i] = s->fn == FN_ARG && s->ref == k;
    for (uint32_t j = 0; j < fn_rows[s->fn].arity; j++)
      moved[i] |= has_slope(s, j) && moved[s->arg[j]];
  }
  return moved;
}

// The adjoint of the body (the first n scalars) by operand k, times `seed`; NONE: zero.
static uint32_t push_adjoint(World *w, Loop *loop, uint32_t n, uint32_t k, uint32_t seed) {
  const bool *moved = scalars_dependent(w, loop, n, k);
  GradientFlow *flow = NEW_ARRAY(w->arena, GradientFlow, n), total = {NONE, NONE};
  for (uint32_t i = 0; i < n; i++) flow[i] = (GradientFlow){NONE, NONE};
  flow[n - 1].value = seed;
  for (uint32_t i = n; i-- > 0;) {
    if (flow[i].value == NONE || !moved[i]) continue;
    if (loop->scalar[i].fn == FN_ARG) flow_add(w, loop, &total, flow[i]);
    for (uint32_t j = 0; j < fn_rows[loop->scalar[i].fn].arity; j++) {
      uint32_t to = loop->scalar[i].arg[j];
      if (has_slope(&loop->scalar[i], j) && moved[to])
        flow_add(w, loop, &flow[to], flow_back(w, loop, i, j, flow[i]));
    }
  }
  return total.value == NONE ? NONE : flow_value(w, loop, total);
}

// The tangent of the body; tangent[k] is the operand with the tangent of operand k, or NONE.
static uint32_t push_tangent(World *w, Loop *loop, uint32_t n, const uint32_t *tangent) {
  uint32_t *t = NEW_ARRAY(w->arena, uint32_t, n);
  for (uint32_t i = 0; i < n; i++) {
    const Scalar s = loop->scalar[i];
    t[i] = NONE;
    if (s.fn == FN_ARG && tangent[s.ref] != NONE)
      t[i] = push_leaf(w, loop, FN_ARG, s.base, tangent[s.ref], 0);
    for (uint32_t j = 0; j < fn_rows[s.fn].arity; j++) {
      if (!has_slope(&s, j) || t[s.arg[j]] == NONE) continue;
      uint32_t part = push_slope(w, loop, i, j, t[s.arg[j]]);
      t[i] = t[i] == NONE ? part : push_plus(w, loop, t[i], part);
    }
  }
  return t[n - 1];
}

// -- places ---------------------------------------------------------------------------------------
static DerivePlace place_plain(const Derive *e, const Box *b) {
  return (DerivePlace){{loop_copy(e->w, b->loop), mapped(e, b->in, b->nin)}, 0, NONE};
}

// Renumbers indices by `now`; an index with stands[index] becomes a term of the operand now[index].
static Access access_at(World *w, const Access *old, const uint32_t *now, const bool *replaced,
                        uint32_t first) {
  Access a = {.rank = old->rank, .padded = old->padded, .pad = old->pad};
  a.coord = NEW_ARRAY(w->arena, Coord, old->rank);
  for (uint32_t i = 0; i < old->rank; i++) {
    Coord c = old->coord[i];
    c.term = arena_copy(w->arena, c.term, c.n * sizeof(Term));
    for (uint32_t k = 0; k < c.n; k++) {
      Term *t = &c.term[k];
      if (t->operand)
        t->var += first;
      else
        t->operand = replaced && replaced[t->var], t->var = now[t->var];
    }
    a.coord[i] = c;
  }
  return a;
}

// Copies the body; at(index) with stands[index] becomes the operand's value.
static void copy_scalars_at(World *w, Loop *to, const Loop *old, const uint32_t *now,
                            const bool *replaced, uint32_t first) {
  uint32_t *number = NEW_ARRAY(w->arena, uint32_t, old->nscalar);
  for (uint32_t i = 0; i < old->nscalar; i++) {
    Scalar s = old->scalar[i];
    for (uint32_t k = 0; k < 3; k++) s.arg[k] = k < fn_rows[s.fn].arity ? number[s.arg[k]] : 0;
    if (s.fn == FN_ARG) s.ref += first;
    if (s.fn == FN_AT && replaced && replaced[s.ref]) {
      number[i] = push_leaf(w, to, FN_ARG, BASE_LABEL, now[s.ref], 0);
      if (s.base != BASE_LABEL) number[i] = scalar_fn(w, to, FN_number, number[i], 0, 0);
      continue;
    }
    if (s.fn == FN_AT) s.ref = now[s.ref];
    number[i] = scalar_push(w, to, s);
  }
}

static DerivePlace place_winner(const Derive *e, const Box *b) {
  World *w = e->w;
  const Loop *old = b->loop;
  uint32_t *now = NEW_ARRAY(w->arena, uint32_t, old->nindex), winners = 0;
  bool *replaced = NEW_ARRAY(w->arena, bool, old->nindex);
  DerivePlace p = {{NEW(w->arena, Loop), {0}}, loop_winners(w, old), NONE};
  Loop *loop = p.draft.loop;
  loop->index = NEW_ARRAY(w->arena, Index, old->nindex);
  for (uint32_t i = 0; i < old->nindex; i++) {
    replaced[i] = loop_is_reduced(w, old, i);
    now[i] = replaced[i] ? winners++ : loop->nindex;
    if (!replaced[i]) loop->index[loop->nindex++] = old->index[i];
  }
  loop->out = access_at(w, &old->out, now, replaced, p.first);
  for (uint32_t i = 0; i < winners; i++)
    draft_operand(w, &p.draft, e->map[b->out[1 + i]], loop->out);
  for (uint32_t i = 0; i < old->nin; i++)
    draft_operand(w, &p.draft, e->map[b->in[i]], access_at(w, &old->in[i], now, replaced, p.first));
  copy_scalars_at(w, loop, old, now, replaced, p.first);
  return p;
}

// A scalar: the second copies of all reduced indices equal the first copies.
static uint32_t push_same_point(World *w, Loop *loop, uint32_t old, const uint32_t *now) {
  uint32_t same = NONE;
  for (uint32_t i = 0; i < old; i++) {
    if (now[i] == i) continue;
    uint32_t a = push_leaf(w, loop, FN_AT, BASE_R, i, 0),
             b = push_leaf(w, loop, FN_AT, BASE_R, now[i], 0);
    uint32_t eq = scalar_fn(w, loop, FN_eq, a, b, 0);
    same = same == NONE ? eq : scalar_fn(w, loop, FN_and, same, eq, 0);
  }
  return same;
}

// P[n]: the product of the body over the points with the same output element as n, except n.
static Id wire_of_others(const Derive *e, const Box *b) {
  World *w = e->w;
  const Loop *old = b->loop;
  uint32_t *now = NEW_ARRAY(w->arena, uint32_t, old->nindex);
  Axis *axis = NEW_ARRAY(w->arena, Axis, old->nindex);
  Draft f = {NEW(w->arena, Loop), {0}};
  Loop *loop = f.loop;
  loop->combine = PROD;
  loop->index = NEW_ARRAY(w->arena, Index, old->nindex * 2);
  memcpy(loop->index, old->index, old->nindex * sizeof(Index));
  loop->nindex = old->nindex;
  for (uint32_t i = 0; i < old->nindex; i++) {
    axis[i] = (Axis){.label = old->index[i].name, .size = old->index[i].size};
    now[i] = i;
    if (!loop_is_reduced(w, old, i)) continue;
    now[i] = loop->nindex;
    loop->index[loop->nindex++] = old->index[i];
  }
  loop->out = access_from(w, 0, old->nindex);
  for (uint32_t i = 0; i < old->nin; i++)
    draft_operand(w, &f, e->map[b->in[i]], access_at(w, &old->in[i], now, NULL, 0));
  copy_scalars_at(w, loop, old, now, NULL, 0);
  uint32_t body = loop->nscalar - 1;
  uint8_t base = loop->scalar[body].base;
  if (old->combine == MAX) body = scalar_fn(w, loop, FN_not, body, 0, 0);
  uint32_t one = push_leaf(w, loop, FN_CONST, base, 0, 1);
  uint32_t same = push_same_point(w, loop, old->nindex, now);
  uint32_t result = scalar_fn(w, loop, FN_select, same, one, body);
  Type type = type_make(w, base, old->nindex, axis);
  draft_tidy(w, e->to, &f, result, &type);
  return box_loop_shared(w, e->to, f.loop, f.in.at, f.in.n, type, origin_of_derived(e, b->origin));
}

static DerivePlace place_of(const Derive *e, const Box *b) {
  const Loop *loop = b->loop;
  uint32_t reduced = 0;
  for (uint32_t i = 0; i < loop->nindex; i++) reduced += loop_is_reduced(e->w, loop, i);
  if (loop->combine == SUM || !reduced) return place_plain(e, b);
  bool bits = loop->scalar[loop->nscalar - 1].base == BASE_BIT;
  if (!bits && loop->combine != PROD) return place_winner(e, b);
  DerivePlace p = place_plain(e, b);
  p.factor =
      draft_operand(e->w, &p.draft, wire_of_others(e, b), access_from(e->w, 0, loop->nindex));
  return p;
}

// -- reusing the loop's output --------------------------------------------------------------------
// True if every index is an output coordinate of its own: an element holds the value of one point.
static bool writes_once(World *w, const Loop *loop) {
  uint32_t index;
  for (uint32_t i = 0; i < loop->out.rank; i++)
    if (!coord_is_plain(w, &loop->out.coord[i], &index)) return false;
  for (uint32_t i = 0; i < loop->nindex; i++)
    if (loop_is_reduced(w, loop, i)) return false;
  return loop->nindex == loop->out.rank;
}

// The loop's output as an operand in place of the body's value, if that saves a costly function;
// otherwise NONE.
static uint32_t push_written(const Derive *e, const Box *b, Draft *f) {
  enum { COSTLY = 4 };
  const Scalar last = f->loop->scalar[f->loop->nscalar - 1];
  if (fn_rows[last.fn].flops < COSTLY || !writes_once(e->w, b->loop)) return NONE;
  uint32_t operand = draft_operand(e->w, f, e->map[b->out[0]], f->loop->out);
  return push_leaf(e->w, f->loop, FN_ARG, last.base, operand, 0);
}

// Replaces the body's value by `written` in the scalars after the body.
static void use_written(Loop *loop, uint32_t body, uint32_t written) {
  for (uint32_t i = body; written != NONE && i < loop->nscalar; i++)
    for (uint32_t k = 0; k < fn_rows[loop->scalar[i].fn].arity; k++)
      if (loop->scalar[i].arg[k] == body - 1) loop->scalar[i].arg[k] = written;
}

// -- the rules ------------------------------------------------------------------------------------
static Draft draft_copy(World *w, const Draft *f) {
  Draft copy = {loop_copy(w, f->loop), {0}};
  for (uint32_t i = 0; i < f->in.n; i++) vec_push(w->arena, &copy.in, f->in.at[i]);
  copy.loop->combine = SUM;
  return copy;
}

static Id draft_emit(const Derive *e, const Box *b, Draft *f, uint32_t result, const Type *type) {
  draft_tidy(e->w, e->to, f, result, type);
  return box_loop_shared(e->w, e->to, f->loop, f->in.at, f->in.n, *type,
                         origin_of_derived(e, b->origin));
}

static Id reverse_operand(const Derive *e, const Box *b, const DerivePlace *p, uint32_t k, Id g) {
  World *w = e->w;
  Draft f = draft_copy(w, &p->draft);
  Loop *loop = f.loop;
  uint32_t body = loop->nscalar, written = push_written(e, b, &f);
  uint32_t seed = push_leaf(w, loop, FN_ARG, e->to->wire.at[g].type.base,
                            draft_operand(w, &f, g, loop->out), 0);
  if (p->factor != NONE) {
    uint32_t factor = push_leaf(w, loop, FN_ARG, loop->scalar[seed].base, p->factor, 0);
    seed = push_times(w, loop, seed, factor);
  }
  uint32_t result = push_adjoint(w, loop, body, p->first + k, seed);
  if (result == NONE) return 0;
  use_written(loop, body, written);
  loop->out = loop->in[p->first + k];
  loop->out.padded = false;
  loop->out.pad = 0;
  return draft_emit(e, b, &f, result, &e->f->wire.at[b->in[k]].type);
}

// Marks the operands on which the loop's value depends differentiably.
bool *loop_dependence(World *w, const Loop *loop) {
  bool *moved = NEW_ARRAY(w->arena, bool, loop->nin),
       *reached = NEW_ARRAY(w->arena, bool, loop->nscalar);
  reached[loop->nscalar - 1] = true;
  for (uint32_t i = loop->nscalar; i-- > 0;) {
    const Scalar *s = &loop->scalar[i];
    if (!reached[i]) continue;
    if (s->fn == FN_ARG) moved[s->ref] = s->base == BASE_R || s->base == BASE_BIT;
    for (uint32_t j = 0; j < fn_rows[s->fn].arity; j++) reached[s->arg[j]] |= has_slope(s, j);
  }
  return moved;
}

void reverse_loop(const Derive *e, const Box *b, Id g, const bool *want, Id *d_in) {
  DerivePlace p = {{0}, 0, NONE};
  const bool *moving = loop_dependence(e->w, b->loop);
  for (uint32_t k = 0; k < b->nin; k++) {
    d_in[k] = 0;
    if (!want[k] || !moving[k]) continue;
    if (!p.draft.loop) p = place_of(e, b);
    d_in[k] = reverse_operand(e, b, &p, k, g);
  }
}

Id forward_loop(const Derive *e, const Box *b, const Id *d_in) {
  World *w = e->w;
  const bool *moving = loop_dependence(w, b->loop);
  bool any = false;
  for (uint32_t k = 0; k < b->nin; k++) any |= d_in[k] && moving[k];
  if (!any) return 0;
  DerivePlace p = place_of(e, b);
  Draft f = draft_copy(w, &p.draft);
  uint32_t body = f.loop->nscalar, old = f.loop->nin, written = push_written(e, b, &f);
  uint32_t *tangent = NEW_ARRAY(w->arena, uint32_t, old);
  for (uint32_t i = 0; i < old; i++) tangent[i] = NONE;
  for (uint32_t k = 0; k < b->nin; k++) {
    if (!d_in[k] || !moving[k]) continue;
    Access a = f.loop->in[p.first + k];
    a.pad = 0;
    tangent[p.first + k] = draft_operand(w, &f, d_in[k], a);
  }
  uint32_t result = push_tangent(w, f.loop, body, tangent);
  use_written(f.loop, body, written);
  if (p.factor != NONE) {
    uint32_t factor = push_leaf(w, f.loop, FN_ARG, f.loop->scalar[result].base, p.factor, 0);
    result = push_times(w, f.loop, factor, result);
  }
  return draft_emit(e, b, &f, result, &e->f->wire.at[b->out[0]].type);
}
