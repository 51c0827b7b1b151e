// Interval arithmetic: bounds of a diagram's results while some params range over intervals.
//
// Every wire that varies becomes two wires, its lower and upper bound, by one rule per scalar
// function (ops.def). The rules are sound, not tight: shorter intervals give better bounds. An unknown bound
// is NaN, which propagates; a condition on it may be either. If a label varies, or a varying wire
// reaches a box other than a loop or join, the whole result is unknown (NULL).
#include "core/pass/bounds.h"
#include "core/diagram/ops.h"
#include "core/diagram/print.h"
#include "core/pass/pass.h"
#include "core/pass/rewrite.h"

#include <assert.h>
#include <math.h>

typedef struct {
  World *w;
  const Diagram *from;
  Diagram *to;
  Id *low, *high; // [wire of from] wires of the bounds; equal: it is constant; 0: unknown
  bool lost;
} Bounding;

// -- scalars --------------------------------------------------------------------------------------
// The bounds of a function, as text: a A, b B, c C are the lower and upper bounds of the arguments.
// Bits: false < true.
typedef struct {
  const char *low, *high;
} BoundTexts;

static BoundTexts texts_of(Fn fn) {
  const FnRow *row = &fn_rows[fn];
  if (!row->least) return (BoundTexts){"log(-1)", "log(-1)"}; // not known
  return (BoundTexts){row->least, row->most};
}

// Tighter rules for a select of bits, a square, and a power with a constant whole exponent.
static BoundTexts texts_for(const Loop *l, const Scalar *s) {
  bool whole = s->fn == FN_pow && l->scalar[s->arg[1]].fn == FN_CONST &&
               l->scalar[s->arg[1]].k == floor(l->scalar[s->arg[1]].k) &&
               l->scalar[s->arg[1]].k > 0 && l->scalar[s->arg[1]].k < 1e9;
  if (s->fn == FN_select && s->base == BASE_BIT)
    return (BoundTexts){"select(a, b, select(A, and(b, c), c))",
                        "select(a, B, select(A, or(B, C), C))"};
  if (s->fn == FN_mul && s->arg[0] == s->arg[1])
    return (BoundTexts){"maximum(maximum(a, -A), 0)*maximum(maximum(a, -A), 0)",
                        "maximum(a*a, A*A)"};
  if (whole && fmod(l->scalar[s->arg[1]].k, 2) == 0)
    return (BoundTexts){"pow(maximum(maximum(a, -A), 0), b)", "maximum(pow(a, b), pow(A, b))"};
  if (whole) return (BoundTexts){"pow(a, b)", "pow(A, b)"};
  return texts_of((Fn)s->fn);
}

typedef struct {
  Draft draft;
  uint32_t *low, *high; // [scalar of the old loop] its bounds in this loop
} BoundLoop;

static uint32_t by_text(const Bounding *x, BoundLoop *l, const Scalar *s, const char *text) {
  static const char *const name[] = {"a", "A", "b", "B", "c", "C"};
  uint32_t value[COUNT(name)], n = fn_rows[s->fn].arity, out = 0;
  for (uint32_t k = 0; k < n; k++)
    value[2 * k] = l->low[s->arg[k]], value[2 * k + 1] = l->high[s->arg[k]];
  bool good = scalar_read(x->w, l->draft.loop, text, name, value, 2 * n, &out);
  assert(good);
  (void)good;
  return out;
}

static void bound_scalar(const Bounding *x, BoundLoop *l, const Loop *old, uint32_t i) {
  Scalar s = old->scalar[i];
  bool constant = true;
  for (uint32_t k = 0; k < fn_rows[s.fn].arity; k++) {
    constant &= l->low[s.arg[k]] == l->high[s.arg[k]];
    s.arg[k] = l->low[s.arg[k]];
  }
  if (constant) {
    l->low[i] = l->high[i] = scalar_push(x->w, l->draft.loop, s);
    return;
  }
  BoundTexts t = texts_for(old, &old->scalar[i]);
  l->low[i] = by_text(x, l, &old->scalar[i], t.low);
  l->high[i] = by_text(x, l, &old->scalar[i], t.high);
}

// -- boxes ----------------------------------------------------------------------------------------
static bool is_coordinate(const Access *a, uint32_t operand) {
  for (uint32_t i = 0; i < a->rank; i++)
    for (uint32_t k = 0; k < a->coord[i].n; k++)
      if (a->coord[i].term[k].operand && a->coord[i].term[k].var == operand) return true;
  return false;
}

bool operand_places(const Loop *l, uint32_t operand) {
  bool place = is_coordinate(&l->out, operand);
  for (uint32_t k = 0; k < l->nin && !place; k++) place = is_coordinate(&l->in[k], operand);
  return place;
}

// False if a varying operand is used as a coordinate, or the combine has no rule.
static bool can_bound(const Bounding *x, const Box *b) {
  const Loop *l = b->loop;
  bool bits = x->from->wire.at[b->out[0]].type.base == BASE_BIT;
  if (x->from->wire.at[b->out[0]].type.base == BASE_LABEL) return false;
  if (bits ? l->combine == SUM && l->nindex > l->out.rank : l->combine == PROD) return false;
  for (uint32_t i = 0; i < b->nin; i++)
    if (x->low[b->in[i]] != x->high[b->in[i]] && operand_places(l, i)) return false;
  return true;
}

// A varying operand becomes two operands; the upper bounds follow all lower bounds.
static Id bounded_loop(Bounding *x, const Box *b, bool high) {
  World *w = x->w;
  const Loop *old = b->loop;
  BoundLoop l = {.draft.loop = loop_copy(w, old)};
  uint32_t *more = NEW_ARRAY(w->arena, uint32_t, b->nin + 1);
  Type type = x->from->wire.at[b->out[0]].type;
  l.low = NEW_ARRAY(w->arena, uint32_t, old->nscalar + 1);
  l.high = NEW_ARRAY(w->arena, uint32_t, old->nscalar + 1);
  for (uint32_t k = 0; k < b->nin; k++) vec_push(w->arena, &l.draft.in, x->low[b->in[k]]);
  for (uint32_t k = 0; k < b->nin; k++)
    if (x->low[b->in[k]] != x->high[b->in[k]])
      more[k] = draft_operand(w, &l.draft, x->high[b->in[k]], old->in[k]);
  l.draft.loop->nscalar = 0, l.draft.loop->scalar = NULL; // empty, as scalar_push expects
  for (uint32_t i = 0; i < old->nscalar; i++) {
    bound_scalar(x, &l, old, i);
    Scalar s = old->scalar[i];
    if (s.fn != FN_ARG || !more[s.ref]) continue;
    s.ref = more[s.ref];
    l.high[i] = scalar_push(w, l.draft.loop, s);
  }
  draft_tidy(w, x->to, &l.draft, (high ? l.high : l.low)[old->nscalar - 1], &type);
  return box_loop(w, x->to, l.draft.loop, l.draft.in.at, l.draft.in.n, type, b->origin);
}

static void bound_box(Bounding *x, const Box *b) {
  bool moves = false;
  for (uint32_t i = 0; i < b->nin; i++) {
    moves |= x->low[b->in[i]] != x->high[b->in[i]];
    x->lost |= !x->low[b->in[i]];
  }
  if (x->lost) return;
  if (moves && b->op == OP_loop && can_bound(x, b)) {
    x->low[b->out[0]] = bounded_loop(x, b, false);
    x->high[b->out[0]] = bounded_loop(x, b, true);
    // The argmax is unknown.
    for (uint32_t i = 1; i < b->nout; i++) x->low[b->out[i]] = x->high[b->out[i]] = 0;
    return;
  }
  x->lost |= (moves && b->op != OP_join) || b->op == OP_random;
  if (x->lost) return;
  copy_box(x->w, x->to, x->from, b, x->low, b->origin);
  if (moves) copy_box(x->w, x->to, x->from, b, x->high, b->origin);
  for (uint32_t i = 0; i < b->nout && !moves; i++) x->high[b->out[i]] = x->low[b->out[i]];
}

// -- the whole ------------------------------------------------------------------------------------
const char *bounds_high(World *w, const char *path) {
  return arena_format(w->arena, "%s/high", path);
}

static void bound_params(Bounding *x, const bool *moves) {
  for (uint32_t i = 0; i < x->from->param.n; i++) {
    Param p = x->from->param.at[i];
    const Wire *wire = &x->from->wire.at[p.wire];
    if (!moves[i]) continue;
    p = (Param){.path = bounds_high(x->w, p.path), .rooted = true, .role = ROLE_BUFFER};
    p.init.kind = INIT_CONST;
    uint32_t k = diagram_param(x->w, x->to, p, wire->type, 0, 0);
    x->high[x->from->param.at[i].wire] = x->to->param.at[k].wire;
  }
}

Diagram *diagram_bounds(World *w, const Diagram *from, const bool *moves) {
  Bounding x = {.w = w, .from = from, .to = diagram_new(w, from->name)};
  x.low = new_map(w, from);
  x.high = new_map(w, from);
  copy_inputs(w, x.to, from, x.low);
  copy_params(w, x.to, from, x.low);
  memcpy(x.high, x.low, from->wire.n * sizeof(Id));
  bound_params(&x, moves);
  for (Id i = 1; i < from->box.n && !x.lost; i++) bound_box(&x, &from->box.at[i]);
  if (x.lost) return NULL;
  for (uint32_t i = 0; i < from->out.n; i++)
    if (!x.low[from->out.at[i]]) return NULL;
  for (uint32_t i = 0; i < from->out.n; i++) diagram_output(w, x.to, x.low[from->out.at[i]]);
  for (uint32_t i = 0; i < from->out.n; i++) diagram_output(w, x.to, x.high[from->out.at[i]]);
  return diagram_fuse(w, diagram_simplify(w, diagram_prune(w, x.to)));
}
