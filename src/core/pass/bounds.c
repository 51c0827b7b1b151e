// Between which numbers the results of a diagram are while some of its params are between two numbers.
//
// Every wire that moves becomes two: what it is at least and at most, by interval
// arithmetic, whose texts are columns of ops.def. Rules are safe, not sharp: over short ranges they say more. What they do not
// know is not a number, and passes through all that reads it; a condition that reads it may be either.
// Where a label moves, or a box is no loop and no join, nothing is said of the whole.
#include "core/pass/bounds.h"
#include "core/pass/pass.h"
#include "core/pass/rewrite.h"

#include <assert.h>
#include <math.h>

typedef struct {
  World *w;
  const Diagram *from;
  Diagram *to;
  Id *low, *high; // [wire of from]; both the same: it stays; 0: it cannot be said
  bool lost;
} Bounding;

// -- scalars --------------------------------------------------------------------------------------
// a A, b B, c C: the least and the most of the arguments. Bits are less where they are false.
typedef struct {
  const char *low, *high;
} BoundTexts;

static BoundTexts texts_of(Fn fn) {
  const FnRow *row = &fn_rows[fn];
  if (!row->least) return (BoundTexts){"log(-1)", "log(-1)"}; // not known
  return (BoundTexts){row->least, row->most};
}

// A choice of bits, and a square or another whole power, are less wide than their arguments say.
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
  uint32_t *low, *high; // [scalar of the old loop] here
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
  bool stays = true;
  for (uint32_t k = 0; k < fn_rows[s.fn].arity; k++) {
    stays &= l->low[s.arg[k]] == l->high[s.arg[k]];
    s.arg[k] = l->low[s.arg[k]];
  }
  if (stays) {
    l->low[i] = l->high[i] = scalar_push(x->w, l->draft.loop, s);
    return;
  }
  BoundTexts t = texts_for(old, &old->scalar[i]);
  l->low[i] = by_text(x, l, &old->scalar[i], t.low);
  l->high[i] = by_text(x, l, &old->scalar[i], t.high);
}

// -- boxes ----------------------------------------------------------------------------------------
static bool reads_as_place(const Access *a, uint32_t operand) {
  for (uint32_t i = 0; i < a->rank; i++)
    for (uint32_t k = 0; k < a->coord[i].n; k++)
      if (a->coord[i].term[k].operand && a->coord[i].term[k].var == operand) return true;
  return false;
}

// What moves may not say which place is read or written.
static bool can_bound(const Bounding *x, const Box *b) {
  const Loop *l = b->loop;
  bool bits = x->from->wire.at[b->out[0]].type.base == BASE_BIT;
  if (x->from->wire.at[b->out[0]].type.base == BASE_LABEL) return false;
  if (bits ? l->combine == SUM && l->nindex > l->out.rank : l->combine == PROD) return false;
  for (uint32_t i = 0; i < b->nin; i++) {
    bool place = reads_as_place(&l->out, i), moves = x->low[b->in[i]] != x->high[b->in[i]];
    for (uint32_t k = 0; k < b->nin; k++) place |= reads_as_place(&l->in[k], i);
    if (place && moves) return false;
  }
  return true;
}

// Operands that move are read twice; the second reading comes behind all first ones.
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
  l.draft.loop->nscalar = 0, l.draft.loop->scalar = NULL; // as scalar_push wants it
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
    for (uint32_t i = 1; i < b->nout; i++) x->low[b->out[i]] = x->high[b->out[i]] = 0; // who wins
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
  return diagram_compose(w, diagram_simplify(w, diagram_prune(w, x.to)));
}
