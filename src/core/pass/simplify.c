// Simplification that keeps every bit of the results.
//
// One pass over the boxes in order builds a new diagram. Each loop is rewritten first:
//   * copy propagation: an operand whose producer only renames axes (permutes, slices, broadcasts,
//     flips) is read at the producer's source, with composed accesses; one whose producer fills with
//     a constant becomes the constant;
//   * common subexpression elimination and constant folding of operands and scalars;
//   * dead operands that do not guard are removed.
// Then common boxes are merged by hash-consing (never noise), and dead boxes are pruned.
//
// Only identities that hold for every double are used: x*1 is x, but x*0 is not 0 and x+0 is not x.
// None changes a derivative either: `stop` and `through` stay, and over B `and(x, x)` is not x.
#include "base/table.h"
#include "core/diagram/ops.h"
#include "core/pass/pass.h"
#include "core/pass/rewrite.h"

#include <math.h>
#include <stdlib.h>

#define NONE UINT32_MAX

typedef struct {
  World *w;
  const Diagram *from;
  Diagram *to;
  Id *map;
  Table *known;   // key of a box to its first output
  Table *numbers; // key of a value to its number (value numbering)
  Table *bodies;  // scan bodies to their simplified bodies
  Buf key;
} Simplify;

static Diagram *simplify(World *, const Diagram *, Table *bodies);

// -- scalars --------------------------------------------------------------------------------------
static bool is_const(const Loop *loop, uint32_t i, double k) { // 0 and -0 differ
  const Scalar *s = &loop->scalar[i];
  return s->fn == FN_CONST && s->k == k && signbit(s->k) == signbit(k);
}

static bool all_const(const Loop *loop, const Scalar *s) {
  for (uint32_t k = 0; k < fn_rows[s->fn].arity; k++)
    if (loop->scalar[s->arg[k]].fn != FN_CONST) return false;
  return fn_rows[s->fn].arity > 0;
}

// An algebraic identity: the earlier scalar that s equals, or NONE.
static uint32_t identity_of(const Loop *loop, const Scalar *s) {
  uint32_t a = s->arg[0], b = s->arg[1], c = s->arg[2];
  switch (s->fn) {
  case FN_mul: return is_const(loop, b, 1) ? a : is_const(loop, a, 1) ? b : NONE;
  case FN_div: return is_const(loop, b, 1) ? a : NONE;
  case FN_add: return is_const(loop, b, -0.0) ? a : is_const(loop, a, -0.0) ? b : NONE;
  case FN_sub: return is_const(loop, b, 0) ? a : NONE;
  case FN_xor: return is_const(loop, b, 0) ? a : is_const(loop, a, 0) ? b : NONE;
  case FN_and:
    if (is_const(loop, a, 1) || is_const(loop, b, 0)) return b;
    return is_const(loop, b, 1) || is_const(loop, a, 0) ? a : NONE;
  case FN_or:
    if (is_const(loop, a, 0) || is_const(loop, b, 1)) return b;
    return is_const(loop, b, 0) || is_const(loop, a, 1) ? a : NONE;
  case FN_neg:
  case FN_not: return loop->scalar[a].fn == s->fn ? loop->scalar[a].arg[0] : NONE;
  case FN_select:
    if (loop->scalar[a].fn == FN_CONST) return loop->scalar[a].k != 0 ? b : c;
    return b == c ? b : NONE;
  default: return NONE;
  }
}

static void fold_leaf(World *w, Scalar *s) {
  double k;
  if (s->fn == FN_SIZE && size_number(w, s->ref, &k))
    *s = (Scalar){.fn = FN_CONST, .base = s->base, .k = k};
}

// True if exchanging the arguments keeps every bit of the value and of the derivatives. (Not max
// and min: of two equal arguments, one gets the slope.)
static bool commutes(Fn fn) {
  return fn == FN_add || fn == FN_mul || fn == FN_and || fn == FN_or || fn == FN_xor;
}

static bool same_args(const Scalar *x, const Scalar *s) {
  if (x->arg[2] != s->arg[2]) return false;
  if (x->arg[0] == s->arg[0] && x->arg[1] == s->arg[1]) return true;
  return commutes((Fn)s->fn) && x->arg[0] == s->arg[1] && x->arg[1] == s->arg[0];
}

// A scalar equal to s among the last 64; NONE if there is none.
static uint32_t find_scalar(const Loop *loop, const Scalar *s) {
  enum { BACK = 64 };
  for (uint32_t i = loop->nscalar; i-- > 0 && loop->nscalar - i <= BACK;) {
    const Scalar *x = &loop->scalar[i];
    if (x->fn == s->fn && x->base == s->base && same_args(x, s) && x->ref == s->ref &&
        memcmp(&x->k, &s->k, sizeof s->k) == 0)
      return i;
  }
  return NONE;
}

// Folds constants and common subexpressions; returns the result's scalar.
static uint32_t fold_scalars(World *w, Loop *loop) {
  Scalar *old = loop->scalar;
  uint32_t n = loop->nscalar, *now = NEW_ARRAY(w->arena, uint32_t, n);
  loop->scalar = NULL;
  loop->nscalar = 0;
  for (uint32_t i = 0; i < n; i++) {
    Scalar s = old[i];
    const FnRow *row = &fn_rows[s.fn];
    for (uint32_t k = 0; k < 3; k++) s.arg[k] = k < row->arity ? now[s.arg[k]] : 0;
    fold_leaf(w, &s);
    if (s.fn > FN_SIZE && all_const(loop, &s)) {
      const Scalar *v = loop->scalar;
      double k = row->value(v[s.arg[0]].k, v[s.arg[1]].k, v[s.arg[2]].k);
      s = (Scalar){.fn = FN_CONST, .base = s.base, .k = k};
    }
    now[i] = s.fn > FN_SIZE ? identity_of(loop, &s) : NONE;
    if (now[i] != NONE) continue;
    now[i] = find_scalar(loop, &s);
    if (now[i] == NONE) now[i] = scalar_push(w, loop, s);
  }
  return now[n - 1];
}

// -- operands -------------------------------------------------------------------------------------
static const Box *plain_producer(const Simplify *s, Id wire) {
  const Wire *x = &s->to->wire.at[wire];
  const Box *b = &s->to->box.at[x->box];
  if (!x->box || b->op != OP_loop || b->nout != 1 || b->loop->nscalar != 1) return NULL;
  return loop_fills(s->w, b->loop, &x->type) ? b : NULL;
}

// A view of a param, or of a flat buffer as a tensor, is kept: it needs no memory of its own, and
// has the tensor's axes.
static bool is_kept_view(const Simplify *s, const Box *b) {
  int64_t offset;
  const Type *row = &s->to->wire.at[b->in[0]].type, *out = &s->to->wire.at[b->out[0]].type;
  if (!box_is_view(s->w, s->to, b, &offset) || type_equal(s->w, row, out)) return false;
  bool param = false;
  for (uint32_t i = 0; i < s->to->param.n; i++) param |= s->to->param.at[i].wire == b->in[0];
  return param || out->rank > 1;
}

static const Box *renaming_producer(const Simplify *s, Id wire) {
  const Box *b = plain_producer(s, wire);
  if (!b || b->nin != 1 || b->loop->scalar[0].fn != FN_ARG || b->loop->in[0].padded) return NULL;
  if (is_kept_view(s, b)) return NULL;
  return access_in_bounds(s->w, b->loop, &b->loop->in[0], &s->to->wire.at[b->in[0]].type) ? b
                                                                                          : NULL;
}

static bool propagate_copy(Simplify *s, Draft *f, uint32_t k) {
  const Box *b = renaming_producer(s, f->in.at[k]);
  const Access *a = &f->loop->in[k];
  if (!b) return false;
  if (!access_in_bounds(s->w, f->loop, a, &s->to->wire.at[f->in.at[k]].type) &&
      !access_permutes(s->w, b->loop, &b->loop->in[0], &s->to->wire.at[b->in[0]].type))
    return false;
  f->loop->in[k] = access_composed(s->w, b->loop, 0, a);
  f->in.at[k] = b->in[0];
  return true;
}

static void propagate_constant(Simplify *s, Draft *f, uint32_t k) {
  const Box *b = plain_producer(s, f->in.at[k]);
  Loop *loop = f->loop;
  if (!b || b->nin || b->loop->scalar[0].fn != FN_CONST) return;
  if (!access_in_bounds(s->w, loop, &loop->in[k], &s->to->wire.at[f->in.at[k]].type) ||
      operand_places(loop, k))
    return;
  for (uint32_t i = 0; i < loop->nscalar; i++)
    if (loop->scalar[i].fn == FN_ARG && loop->scalar[i].ref == k)
      loop->scalar[i] = b->loop->scalar[0];
}

static void merge_operands(World *w, Draft *f) {
  enum { FEW = 32 };
  Loop *loop = f->loop;
  if (loop->nin > FEW) return;
  for (uint32_t k = 1; k < loop->nin; k++)
    for (uint32_t i = 0; i < k; i++) {
      const Access *a = &loop->in[i], *b = &loop->in[k];
      if (f->in.at[i] != f->in.at[k] || a->padded != b->padded ||
          memcmp(&a->pad, &b->pad, sizeof a->pad) || !access_same(w, a, b))
        continue;
      for (uint32_t j = 0; j < loop->nscalar; j++)
        if (loop->scalar[j].fn == FN_ARG && loop->scalar[j].ref == k) loop->scalar[j].ref = i;
      break;
    }
}

// -- boxes ----------------------------------------------------------------------------------------
static void key_number(Simplify *s, uint64_t n) { buf_add(&s->key, (const char *)&n, sizeof n); }

static void key_type(Simplify *s, const Type *t) {
  key_number(s, t->base);
  key_number(s, size_now(s->w, t->count));
  key_number(s, t->names);
  key_number(s, t->rank);
  for (uint32_t i = 0; i < t->rank; i++) {
    key_number(s, size_now(s->w, t->axis[i].size));
    key_number(s, (uint64_t)t->axis[i].label << 32 | t->axis[i].pass);
  }
}

static void key_access(Simplify *s, const Access *a) {
  uint64_t pad = 0;
  memcpy(&pad, &a->pad, sizeof pad);
  key_number(s, (uint64_t)a->rank << 1 | a->padded);
  key_number(s, a->padded ? pad : 0);
  for (uint32_t i = 0; i < a->rank; i++) {
    key_number(s, (uint64_t)size_now(s->w, a->coord[i].c) << 32 | a->coord[i].n);
    for (uint32_t k = 0; k < a->coord[i].n; k++) {
      const Term *t = &a->coord[i].term[k];
      key_number(s, (uint64_t)size_now(s->w, t->coef) << 33 | (uint64_t)t->var << 1 | t->operand);
    }
  }
}

static void key_start(Simplify *s, uint8_t op, const Id *in, uint32_t nin) {
  s->key.n = 0;
  key_number(s, (uint64_t)op << 32 | nin);
  for (uint32_t i = 0; i < nin; i++) key_number(s, in[i]);
}

// The value number of the current key.
static Id number_of_key(Simplify *s) {
  Id n = table_get(s->numbers, s->key.at, s->key.n);
  if (!n) table_put(s->numbers, s->key.at, s->key.n, n = table_count(s->numbers) + 1);
  return n;
}

// Value numbering of a loop, independent of the order of operands and of commuting arguments.
// number: first the operands, then the scalars.
static void number_values(Simplify *s, const Draft *f, Id *number) {
  const Loop *loop = f->loop;
  for (uint32_t i = 0; i < loop->nin; i++) {
    s->key.n = 0;
    key_number(s, UINT64_MAX); // distinguishes operands from scalars
    key_number(s, f->in.at[i]);
    key_access(s, &loop->in[i]);
    number[i] = number_of_key(s);
  }
  for (uint32_t i = 0; i < loop->nscalar; i++) {
    const Scalar *x = &loop->scalar[i];
    Id arg[3] = {0};
    uint64_t k = 0;
    for (uint32_t j = 0; j < fn_rows[x->fn].arity; j++) arg[j] = number[loop->nin + x->arg[j]];
    if (commutes((Fn)x->fn) && arg[0] > arg[1]) {
      Id swap = arg[0];
      arg[0] = arg[1], arg[1] = swap;
    }
    memcpy(&k, &x->k, sizeof k);
    s->key.n = 0;
    key_number(s, (uint64_t)x->fn << 40 | (uint64_t)x->base << 32 |
                      (x->fn == FN_ARG ? number[x->ref] : x->ref));
    key_number(s, (uint64_t)arg[0] << 32 | arg[1]);
    key_number(s, arg[2]);
    key_number(s, k);
    number[loop->nin + i] = number_of_key(s);
  }
}

static bool reads_labels(const Loop *loop) {
  for (uint32_t i = 0; i < loop->nin; i++)
    if (operand_places(loop, i)) return true;
  return false;
}

static int by_number(const void *a, const void *b) {
  Id x = *(const Id *)a, y = *(const Id *)b;
  return (x > y) - (x < y);
}

// If accesses use label operands, they refer to operands by index, so the order of operands is part
// of the key.
static void key_loop(Simplify *s, const Draft *f, const Type *type) {
  const Loop *loop = f->loop;
  bool placed = reads_labels(loop);
  Id *number = NEW_ARRAY(s->w->arena, Id, loop->nin + loop->nscalar + 1);
  if (!placed) {
    number_values(s, f, number);
    qsort(number, loop->nin, sizeof(Id), by_number);
  }
  key_start(s, OP_loop, f->in.at, placed ? f->in.n : 0);
  key_type(s, type);
  key_number(s, (uint64_t)loop->combine << 32 | loop->nindex);
  for (uint32_t i = 0; i < loop->nindex; i++) key_number(s, size_now(s->w, loop->index[i].size));
  key_access(s, &loop->out);
  if (!placed) {
    for (uint32_t i = 0; i < loop->nin; i++) key_number(s, number[i]);
    key_number(s, number[loop->nin + loop->nscalar - 1]);
    return;
  }
  for (uint32_t i = 0; i < loop->nin; i++) key_access(s, &loop->in[i]);
  for (uint32_t i = 0; i < loop->nscalar; i++) {
    const Scalar *x = &loop->scalar[i];
    uint64_t k = 0;
    memcpy(&k, &x->k, sizeof k);
    key_number(s, (uint64_t)x->fn << 40 | (uint64_t)x->base << 32 | x->ref);
    key_number(s, (uint64_t)x->arg[0] << 32 | x->arg[1]);
    key_number(s, x->arg[2]);
    key_number(s, k);
  }
}

static void map_outputs(Simplify *s, const Box *b, Id first) {
  for (uint32_t i = 0; i < b->nout; i++) {
    Wire *x = &s->to->wire.at[first + i];
    if (!x->name) x->name = s->from->wire.at[b->out[i]].name;
    if (!x->kept) x->kept = s->from->wire.at[b->out[i]].kept;
    s->map[b->out[i]] = first + i;
  }
}

// If a box with the current key exists, it replaces b.
static bool reuse_known_box(Simplify *s, const Box *b) {
  Id first = table_get(s->known, s->key.at, s->key.n);
  if (!first) return false;
  Box *other = &s->to->box.at[s->to->wire.at[first].box];
  other->turn = turn_common(s->w, other->turn, b->turn);
  map_outputs(s, b, first);
  return true;
}

static bool same_labels(const Type *a, const Type *b) {
  for (uint32_t i = 0; i < a->rank; i++)
    if (a->axis[i].label != b->axis[i].label || a->axis[i].pass != b->axis[i].pass) return false;
  return a->names == b->names;
}

// True if the loop is the identity.
static bool is_copy(Simplify *s, const Box *b, const Draft *f) {
  const Loop *loop = f->loop;
  if (loop->nin != 1 || b->nout != 1 || loop->nscalar != 1 || loop->scalar[0].fn != FN_ARG ||
      loop->in[0].padded)
    return false;
  const Type *in = &s->to->wire.at[f->in.at[0]].type, *out = &s->from->wire.at[b->out[0]].type;
  return type_equal(s->w, in, out) && same_labels(in, out) && loop_fills(s->w, loop, out) &&
         access_same(s->w, &loop->in[0], &loop->out);
}

static void simplify_loop(Simplify *s, const Box *b) {
  World *w = s->w;
  Draft f = {loop_copy(w, b->loop), {0}};
  const Type *type = &s->from->wire.at[b->out[0]].type;
  for (uint32_t i = 0; i < b->nin; i++) vec_push(w->arena, &f.in, s->map[b->in[i]]);
  for (uint32_t k = 0; k < f.loop->nin; k++) {
    propagate_copy(s, &f, k); // sources are simplified already, so one step is enough
    propagate_constant(s, &f, k);
  }
  merge_operands(w, &f);
  draft_tidy(w, s->to, &f, fold_scalars(w, f.loop), type);
  if (is_copy(s, b, &f)) {
    s->map[b->out[0]] = f.in.at[0];
    return;
  }
  key_loop(s, &f, type);
  if (reuse_known_box(s, b)) return;
  Id first = box_loop_shared(w, s->to, f.loop, f.in.at, f.in.n, *type, b->origin);
  for (uint32_t i = 0; i < b->nout; i++)
    s->to->wire.at[first + i].type = s->from->wire.at[b->out[i]].type;
  s->to->box.at[s->to->box.n - 1].turn = b->turn;
  map_outputs(s, b, first);
  table_put(s->known, s->key.at, s->key.n, first);
}

static void simplify_scan(Simplify *s, const Box *b) {
  Box copy = *b;
  Scan scan = *b->scan;
  Id id = table_get(s->bodies, &scan.body->id, sizeof(Id));
  if (!id) {
    id = simplify(s->w, scan.body, s->bodies)->id;
    table_put(s->bodies, &scan.body->id, sizeof(Id), id);
  }
  scan.body = s->w->diagram.at[id];
  copy.scan = &scan;
  copy_box(s->w, s->to, s->from, &copy, s->map, b->origin);
}

// Joins, orders and calls: merged unless they are noisy.
static void simplify_other(Simplify *s, const Box *b) {
  Id *in = NEW_ARRAY(s->w->arena, Id, b->nin);
  for (uint32_t i = 0; i < b->nin; i++) in[i] = s->map[b->in[i]];
  bool pure = b->op != OP_random && !(b->op == OP_call && b->callee->noisy);
  key_start(s, b->op, in, b->nin);
  key_number(s, b->op == OP_call ? b->callee->id : b->op == OP_random ? 0 : b->axis);
  for (uint32_t i = 0; i < b->nout; i++) key_type(s, &s->from->wire.at[b->out[i]].type);
  if (pure && reuse_known_box(s, b)) return;
  copy_box(s->w, s->to, s->from, b, s->map, b->origin);
  if (pure && b->nout) table_put(s->known, s->key.at, s->key.n, s->map[b->out[0]]);
}

static Diagram *simplify(World *w, const Diagram *d, Table *bodies) {
  Simplify s = {.w = w, .from = d, .bodies = bodies, .key = buf_new(w->arena)};
  s.known = table_new(w->arena), s.numbers = table_new(w->arena);
  s.to = copy_begin(w, d, &s.map);
  s.to->reverse = d->reverse;
  s.to->option = d->option;
  for (Id i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    if (b->op == OP_loop)
      simplify_loop(&s, b);
    else if (b->op == OP_scan)
      simplify_scan(&s, b);
    else
      simplify_other(&s, b);
  }
  return copy_end(w, s.to, d, s.map);
}

Diagram *diagram_simplify(World *w, const Diagram *d) {
  return diagram_prune(w, simplify(w, d, table_new(w->arena)));
}
