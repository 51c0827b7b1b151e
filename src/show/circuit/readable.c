// Prepares a diagram for drawing by rewriting it to an equivalent one:
//   * guards against rounding are removed: max(x, 1e-300) of what is never negative;
//   * a loop that only permutes axes is fused into its producer;
//   * a loop with a long formula is split by function, so that wires show which operand goes where;
//     so is a mean inside a formula.
// Values agree for ordinary numbers only, so the result is used for pictures alone.
#include "core/diagram/ops.h"
#include "core/pass/pass.h"
#include "show/circuit/circuit_own.h"

#include "core/pass/rewrite.h"

#include <assert.h>
#include <math.h>

enum { LONG = 18, MANY = 2 }; // length of a formula, operands of one

// -- guards ---------------------------------------------------------------------------------------
typedef struct {
  const Diagram *d;
  const Box *box;
} GuardSeen;

static bool is_wire_positive(const Diagram *d, Id wire, uint32_t depth);

// Is it evidently never negative?
static bool is_positive(const GuardSeen *g, uint32_t i, uint32_t depth) {
  const Loop *l = g->box->loop;
  const Scalar *x = &l->scalar[i];
  switch (x->fn) {
  case FN_exp:
  case FN_abs:
  case FN_sqrt:
  case FN_relu:
  case FN_sigmoid:
  case FN_softplus: return true;
  case FN_CONST: return x->k >= 0;
  case FN_ARG: return is_wire_positive(g->d, g->box->in[x->ref], depth);
  case FN_add:
  case FN_mul:
  case FN_div: return is_positive(g, x->arg[0], depth) && is_positive(g, x->arg[1], depth);
  default: return false;
  }
}

static bool is_wire_positive(const Diagram *d, Id wire, uint32_t depth) {
  Id made = d->wire.at[wire].box;
  if (!made || !depth || d->box.at[made].op != OP_loop || d->wire.at[wire].port) return false;
  GuardSeen g = {d, &d->box.at[made]};
  return g.box->loop->nscalar < 16 && is_positive(&g, g.box->loop->nscalar - 1, depth - 1);
}

// Such large or small constants guard against overflow or division by 0.
static bool is_guard(const GuardSeen *g, const Scalar *x) {
  const Loop *l = g->box->loop;
  if (x->fn != FN_maximum && x->fn != FN_minimum) return false;
  const Scalar *by = &l->scalar[x->arg[1]];
  if (by->fn != FN_CONST) return false;
  if (x->fn == FN_minimum) return by->k >= 1e30;
  return by->k <= -1e30 || (by->k > 0 && by->k <= 1e-30 && is_positive(g, x->arg[0], 4));
}

static Loop *without_guards(World *w, const GuardSeen *g, uint32_t *root) {
  const Loop *old = g->box->loop;
  Loop *l = loop_copy(w, old);
  uint32_t *now = NEW_ARRAY(w->arena, uint32_t, l->nscalar + 1);
  for (uint32_t i = 0; i < l->nscalar; i++) {
    Scalar *x = &l->scalar[i];
    now[i] = i;
    for (uint32_t k = 0; x->fn > FN_SIZE && k < fn_rows[x->fn].arity; k++)
      x->arg[k] = now[x->arg[k]];
    if (x->fn > FN_SIZE && is_guard(g, &old->scalar[i])) now[i] = x->arg[0];
  }
  *root = now[l->nscalar - 1];
  return l;
}

// -- parts of a loop ------------------------------------------------------------------------------
typedef struct {
  World *w;
  Diagram *to;
  Id origin;
} Steps;

// A loop that computes one of the scalars, with the operands that it needs.
static Draft extract_scalar(World *w, const Draft *old, uint32_t root) {
  Draft f = {.loop = loop_copy(w, old->loop)};
  for (uint32_t i = 0; i < old->in.n; i++) vec_push(w->arena, &f.in, old->in.at[i]);
  draft_tidy(w, NULL, &f, root, NULL);
  return f;
}

static void mark_access(const Access *a, bool *met) {
  for (uint32_t i = 0; i < a->rank; i++)
    for (uint32_t k = 0; k < a->coord[i].n; k++)
      if (!a->coord[i].term[k].operand) met[a->coord[i].term[k].var] = true;
}

// The indices that a part depends on, those of the result first.
static Ids indices_of(World *w, const Loop *whole, const Loop *l) {
  bool *met = NEW_ARRAY(w->arena, bool, l->nindex + 1);
  Ids all = {0};
  uint32_t index;
  for (uint32_t i = 0; i < l->nin; i++) mark_access(&l->in[i], met);
  for (uint32_t i = 0; i < l->nscalar; i++)
    if (l->scalar[i].fn == FN_AT) met[l->scalar[i].ref] = true;
  for (uint32_t i = 0; i < whole->out.rank; i++)
    if (coord_is_plain(w, &whole->out.coord[i], &index) && met[index]) {
      vec_push(w->arena, &all, index);
      met[index] = false;
    }
  for (uint32_t i = 0; i < l->nindex; i++)
    if (met[i]) vec_push(w->arena, &all, i);
  return all;
}

static Id put_loop(Steps *s, Draft f, Type out);

// Drops indices that a part does not depend on: its value is broadcast over them later.
static void leave_indices(World *w, Loop *l, const Ids *kept) {
  for (uint32_t i = 0; i < l->nindex; i++) {
    bool has = false;
    for (uint32_t k = 0; k < kept->n; k++) has |= kept->at[k] == i;
    if (!has) l->index[i].size = size_of(w, 1);
  }
}

// Computes a scalar of a loop in a loop of its own and reads its result instead.
static void take_out(Steps *s, Draft *f, uint32_t scalar) {
  World *w = s->w;
  Loop *l = f->loop;
  Draft inner = extract_scalar(w, f, scalar);
  Ids index = indices_of(w, l, inner.loop);
  Axis *axis = NEW_ARRAY(w->arena, Axis, index.n + 1);
  for (uint32_t i = 0; i < index.n; i++)
    axis[i] = (Axis){.label = l->index[index.at[i]].name, .size = l->index[index.at[i]].size};
  inner.loop->combine = SUM;
  inner.loop->out = access_plain(w, index.n, index.at);
  leave_indices(w, inner.loop, &index);
  uint8_t base = l->scalar[scalar].base;
  Id wire = put_loop(s, inner, type_make(w, (Base)base, index.n, axis));
  uint32_t operand = draft_operand(w, f, wire, access_plain(w, index.n, index.at));
  l->scalar[scalar] = (Scalar){.fn = FN_ARG, .base = base, .ref = operand};
}

static bool reads_something(World *w, const Draft *f, uint32_t root) {
  const Loop *l = extract_scalar(w, f, root).loop;
  for (uint32_t i = 0; i < l->nscalar; i++)
    if (l->scalar[i].fn == FN_ARG) return true;
  return false;
}

// -- means ----------------------------------------------------------------------------------------
// Is this scalar a sum from a previous loop, divided by the number of its terms?
static bool is_mean(const Steps *s, const Loop *l, const Ids *in, uint32_t i) {
  const Scalar *x = &l->scalar[i];
  if (x->fn != FN_div || l->scalar[x->arg[0]].fn != FN_ARG) return false;
  Id wire = in->at[l->scalar[x->arg[0]].ref], box = s->to->wire.at[wire].box;
  return box && s->to->box.at[box].op == OP_loop &&
         is_count(s->w, s->to->box.at[box].loop, l, x->arg[1]);
}

static bool is_bare_mean(const Loop *l) { return l->nin == 1 && l->nscalar == 3; }

static bool is_long(const Steps *s, const Loop *l, const Ids *in) {
  FormulaOf of = {s->w, NULL, l, in->at};
  const char *text = formula_text(&of, s->w->arena);
  uint32_t mentioned = 0;
  for (uint32_t i = 0; i < l->nscalar; i++) mentioned += l->scalar[i].fn == FN_ARG;
  return text && (formula_letters(text) > LONG || mentioned > MANY);
}

// -- reductions of several things -----------------------------------------------------------------
static bool is_plain_loop(World *w, const Loop *l) {
  uint32_t index;
  for (uint32_t i = 0; i <= l->nin; i++) {
    const Access *a = i < l->nin ? &l->in[i] : &l->out;
    for (uint32_t k = 0; k < a->rank; k++)
      if (!coord_is_plain(w, &a->coord[k], &index)) return false;
  }
  return true;
}

static uint32_t operands_with(World *w, const Loop *l, uint32_t index) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < l->nin; i++) n += index_place(w, &l->in[i], index) < l->in[i].rank;
  return n;
}

// Is an index of several operands reduced, other than in a cup? Then they are combined first, and
// the reduction is a loop of its own.
// then one line ends in the sum.
static bool reduces_several(World *w, const Loop *l) {
  bool product = l->combine == SUM && is_product(l, l->nscalar - 1), several = false;
  for (uint32_t i = 0; i < l->nindex; i++) {
    uint32_t n = loop_is_reduced(w, l, i) ? operands_with(w, l, i) : 0;
    several |= n > 1 && !(product && n == 2);
  }
  return several && is_plain_loop(w, l);
}

// A maximum has positions, each for an index that must be kept.
static bool keeps_places(World *w, const Loop *l) {
  for (uint32_t i = 0; i < l->nindex; i++)
    if (loop_is_reduced(w, l, i) && !operands_with(w, l, i)) return false;
  return is_plain_loop(w, l);
}

// A sum of products of several operands: the product gets a formula only inside the sum.
static Id put_loop(Steps *s, Draft f, Type out) {
  World *w = s->w;
  Loop *l = f.loop;
  uint32_t root = l->nscalar - 1;
  for (uint32_t i = 0; i < root; i++)
    if (!is_bare_mean(l) && is_mean(s, l, &f.in, i)) take_out(s, &f, i);
  if (reduces_several(w, l)) take_out(s, &f, root);
  if (is_long(s, l, &f.in) && !loop_is_mask(l))
    for (uint32_t k = 0; k < fn_rows[l->scalar[root].fn].arity; k++) {
      uint32_t arg = l->scalar[root].arg[k];
      if (l->scalar[arg].fn > FN_SIZE && reads_something(w, &f, arg)) take_out(s, &f, arg);
    }
  Draft apart = extract_scalar(w, &f, root); // the split loop may have to be fused again
  if (reduces_several(w, apart.loop)) take_out(s, &f, root);
  Draft rest = extract_scalar(w, &f, root);
  return box_loop(w, s->to, rest.loop, rest.in.at, rest.in.n, out, s->origin);
}

// -- all ------------------------------------------------------------------------------------------
static bool keeps_guards(const Loop *l) { // an unmentioned operand limits an index
  bool mentioned[64] = {false};
  if (l->nin > 64) return true;
  for (uint32_t i = 0; i < l->nscalar; i++)
    if (l->scalar[i].fn == FN_ARG) mentioned[l->scalar[i].ref] = true;
  for (uint32_t i = 0; i < l->nin; i++) access_mark_labels(&l->in[i], mentioned);
  for (uint32_t i = 0; i < l->nin; i++)
    if (!mentioned[i]) return true;
  return false;
}

// Fuses a permutation into the loop that makes its only operand.
static bool reordered(const Rewriting *r, const Box *box) {
  World *w = r->w;
  const Diagram *from = r->from;
  Diagram *to = r->to;
  const Loop *l = box->loop;
  uint32_t n = l->out.rank, x;
  if (l->nin != 1 || l->nscalar != 1 || l->scalar[0].fn != FN_ARG || l->in[0].rank != n || !n ||
      r->reads[box->in[0]] != 1)
    return false;
  Id wire = r->map[box->in[0]], made = to->wire.at[wire].box;
  Box *maker = made ? &to->box.at[made] : NULL;
  if (!maker || maker->op != OP_loop || maker->nout != 1) return false;
  Loop *other = loop_copy(w, maker->loop);
  for (uint32_t i = 0; i < n; i++) {
    if (!coord_is_plain(w, &l->out.coord[i], &x)) return false;
    uint32_t k = index_place(w, &l->in[0], x);
    if (k == n || size_now(w, from->wire.at[box->in[0]].type.axis[k].size) !=
                      size_now(w, from->wire.at[box->out[0]].type.axis[i].size))
      return false;
    other->out.coord[i] = maker->loop->out.coord[k];
  }
  maker->loop = other;
  to->wire.at[wire].type = from->wire.at[box->out[0]].type;
  if (from->wire.at[box->out[0]].name) to->wire.at[wire].name = from->wire.at[box->out[0]].name;
  r->map[box->out[0]] = wire;
  return true;
}

static bool rewrite(const Rewriting *r, const Box *box) {
  World *w = r->w;
  Diagram *to = r->to;
  Id *map = r->map;
  if (box->op != OP_loop || keeps_guards(box->loop)) return false;
  if (formula_is_endless(box->loop, w->arena)) return false;
  if (box->nout > 1 && !keeps_places(w, box->loop)) return false;
  if (reordered(r, box)) return true;
  uint32_t root;
  Draft f = {.loop = without_guards(w, &(GuardSeen){r->from, box}, &root)};
  Steps s = {w, to, box->origin};
  for (uint32_t i = 0; i < box->nin; i++) vec_push(w->arena, &f.in, map[box->in[i]]);
  const Wire *old = &r->from->wire.at[box->out[0]];
  to->turn = box->turn;
  Id wire = put_loop(&s, extract_scalar(w, &f, root), old->type);
  to->turn = 0;
  const Box *made = &to->box.at[to->wire.at[wire].box];
  assert(made->nout == box->nout);
  for (uint32_t i = 0; i < box->nout; i++) {
    Wire *x = &to->wire.at[made->out[i]];
    old = &r->from->wire.at[box->out[i]];
    x->name = old->name, x->kept = old->kept, x->type = old->type;
    map[box->out[i]] = made->out[i];
  }
  return true;
}

const Diagram *diagram_steps(World *w, const Diagram *d) {
  Diagram *to = rewrite_boxes(w, diagram_simplify(w, d), rewrite);
  to->option = d->option;
  return to;
}
