// Unrolls a cycle: every element becomes a box of its own.
//
// The loop for element e is the loop with its index fixed at e. Its operands are single elements or
// whole wires; conditions on the position are folded, so only operands that are really read count
// as dependencies. The result is a cyclic diagram with more and smaller boxes, whose order is
// computed recursively.
#include "base/names.h"
#include "core/diagram/each.h"
#include "core/diagram/ops.h"
#include "core/pass/cyclic.h"

#include <math.h>

enum { PIECES_LIMIT = 20000, DEPTH_LIMIT = 8 };

typedef struct {
  CyclicRun *run;
  const CyclicCut *c;
  World *w;
  Cyclic to;
  Id *whole;  // [wire] the whole wire in the new diagram; 0: not needed yet
  Id **piece; // [wire][element]; NULL: not cut
  int64_t *n; // [wire] number of elements
  Ids known;  // wires from outside the cycle
} Unroll;

static bool count_pieces(Unroll *u) {
  const Diagram *d = u->c->k->d;
  for (uint32_t i = 0; i < u->c->box->n; i++) {
    const Box *b = &d->box.at[u->c->box->at[i]];
    int64_t n = 1;
    int32_t axis = b->nout ? u->c->axis[b->out[0]] : -1;
    if (axis >= 0 && !size_value(u->w, d->wire.at[b->out[0]].type.axis[axis].size, &n)) {
      u->run->answer = CONNECT_OPEN;
      return false;
    }
    for (uint32_t k = 0; k < b->nout; k++) u->n[b->out[k]] = n;
    if (n < 0 || n > PIECES_LIMIT - (int64_t)u->run->pieces) {
      u->run->answer = CONNECT_LARGE;
      return false;
    }
    u->run->pieces += (uint32_t)n;
  }
  return true;
}

static Type element_type(const Unroll *u, Id wire) {
  return type_of_one(u->w, u->c->k->d->wire.at[wire].type, u->c->axis[wire]);
}

// Iterates over the wires that the cycle produces; 0: end.
typedef struct {
  uint32_t box, out;
} MadeAt;

static Id next_made(const Unroll *u, MadeAt *at) {
  for (; at->box < u->c->box->n; at->box++, at->out = 0) {
    const Box *b = &u->c->k->d->box.at[u->c->box->at[at->box]];
    if (at->out < b->nout) return b->out[at->out++];
  }
  return 0;
}

static void make_wires(Unroll *u) {
  MadeAt at = {0};
  for (Id wire; (wire = next_made(u, &at));) {
    const Wire *x = &u->c->k->d->wire.at[wire];
    if (u->c->axis[wire] < 0) {
      u->whole[wire] = cyclic_wire(u->w, &u->to, &x->type, x->name, x->origin);
      continue;
    }
    Type t = element_type(u, wire);
    u->piece[wire] = NEW_ARRAY(u->w->arena, Id, u->n[wire] + 1);
    for (int64_t e = 0; e < u->n[wire]; e++)
      u->piece[wire][e] = cyclic_wire(u->w, &u->to, &t, x->name, x->origin);
  }
}

// The whole wire: from outside, produced by one box, or joined from its elements.
static Id whole(Unroll *u, Id wire) {
  const Wire *x = &u->c->k->d->wire.at[wire];
  if (u->whole[wire]) return u->whole[wire];
  u->whole[wire] = cyclic_wire(u->w, &u->to, &x->type, x->name, x->origin);
  if (!u->piece[wire]) {
    vec_push(u->w->arena, &u->known, wire);
    return u->whole[wire];
  }
  Box join = {
      .op = OP_join, .nin = (uint32_t)u->n[wire], .nout = 1, .axis = (uint32_t)u->c->axis[wire]};
  cyclic_box(u->w, &u->to, &join, u->piece[wire], &u->whole[wire], (ConnectPlace){0});
  return u->whole[wire];
}

static ConnectPlace place_of(const Unroll *u, Id box, int64_t e) {
  const Box *b = &u->c->k->d->box.at[box];
  return place_fixed(u->c->k->from.at[box], (uint32_t)u->c->axis[b->out[0]], e);
}

// -- a loop at one element ------------------------------------------------------------------------
typedef struct {
  Unroll *u;
  const Box *b;
  uint32_t index;
  int64_t e;
  Draft draft;
  bool *outside; // [operand] it is out of bounds at this element
  bool empty;    // an unpadded operand is out of bounds: the point is skipped
} Element;

// The coordinate with the index fixed at this element.
static Coord fixed_coord(const Element *x, const Coord *c) {
  World *w = x->u->w;
  Coord out = coord_const(w, c->c);
  for (uint32_t i = 0; i < c->n; i++) {
    const Term *t = &c->term[i];
    if (!t->operand && t->var == x->index)
      out.c = size_add(w, out.c, size_mul(w, t->coef, size_of(w, x->e)));
    else
      out = coord_add(w, out, t->coef, t->var, t->operand);
  }
  return out;
}

// Reading one position of a join reads one of its operands.
static Id read_through_join(const Unroll *u, Id wire, Access *a) {
  const Diagram *d = u->c->k->d;
  for (;;) {
    const Box *b = &d->box.at[d->wire.at[wire].box];
    int64_t at, n = 0;
    uint32_t i = 0;
    if (!in_cycle(u->c, wire) || b->op != OP_join) return wire;
    Coord *c = &a->coord[b->axis];
    if (c->n || !size_value(u->w, c->c, &at)) return wire;
    for (; i < b->nin; i++, at -= n)
      if (!size_value(u->w, d->wire.at[b->in[i]].type.axis[b->axis].size, &n) || at < n) break;
    if (i == b->nin || at >= n) return wire;
    *c = coord_const(u->w, size_of(u->w, at));
    wire = b->in[i];
  }
}

// True if the access is out of bounds at this element.
static bool is_out_of_bounds(const Unroll *u, Id wire, const Access *a) {
  const Type *t = &u->c->k->d->wire.at[wire].type;
  for (uint32_t i = 0; i < a->rank; i++) {
    int64_t at, n;
    if (a->coord[i].n || !size_value(u->w, a->coord[i].c, &at)) continue;
    if (at < 0 || (size_value(u->w, t->axis[i].size, &n) && at >= n)) return true;
  }
  return false;
}

static void fix_operand(Element *x, uint32_t k) {
  Unroll *u = x->u;
  World *w = u->w;
  Access *a = &x->draft.loop->in[k];
  int64_t at;
  for (uint32_t i = 0; i < a->rank; i++) a->coord[i] = fixed_coord(x, &a->coord[i]);
  x->outside[k] = is_out_of_bounds(u, x->b->in[k], a); // removed by draft_tidy below
  x->empty |= x->outside[k] && !a->padded;
  Id wire = x->outside[k] ? x->b->in[k] : read_through_join(u, x->b->in[k], a);
  Coord *c = u->piece[wire] ? &a->coord[u->c->axis[wire]] : NULL;
  if (!c || c->n || !size_value(w, c->c, &at)) {
    vec_push(w->arena, &x->draft.in, whole(u, wire));
    return;
  }
  *c = coord_const(w, size_of(w, 0));
  vec_push(w->arena, &x->draft.in, u->piece[wire][x->outside[k] ? 0 : at]);
}

static bool is_const(const Loop *l, uint32_t k, double *value) {
  *value = l->scalar[k].k;
  return l->scalar[k].fn == FN_CONST;
}

// Partial evaluation: the scalar that s equals if some arguments are known; UINT32_MAX: it must be
// computed.
static uint32_t fold_scalar(Loop *l, World *w, const Scalar *s) {
  double v[3] = {0};
  bool known[3] = {false};
  uint32_t n = fn_rows[s->fn].arity;
  bool all = n > 0;
  for (uint32_t i = 0; i < n; i++) all &= known[i] = is_const(l, s->arg[i], &v[i]);
  if (s->fn == FN_select && known[0]) return s->arg[v[0] != 0 ? 1 : 2];
  for (uint32_t i = 0; i < 2 && (s->fn == FN_and || s->fn == FN_or); i++)
    if (known[i]) return (v[i] != 0) == (s->fn == FN_and) ? s->arg[!i] : s->arg[i];
  if (!all || !fn_rows[s->fn].value) return UINT32_MAX;
  return scalar_push(
      w, l, (Scalar){.fn = FN_CONST, .base = s->base, .k = fn_rows[s->fn].value(v[0], v[1], v[2])});
}

// Partially evaluates the body at this element; returns the result.
static uint32_t fix_scalars(Element *x) {
  World *w = x->u->w;
  const Loop *old = x->b->loop;
  Loop *l = x->draft.loop;
  uint32_t *now = NEW_ARRAY(w->arena, uint32_t, old->nscalar + 1), last = 0;
  l->scalar = NULL, l->nscalar = 0;
  for (uint32_t i = 0; i < old->nscalar; i++) {
    Scalar s = old->scalar[i];
    bool at = s.fn == FN_AT && s.ref == x->index, pad = s.fn == FN_ARG && x->outside[s.ref];
    if (at || pad)
      s = (Scalar){.fn = FN_CONST, .base = s.base, .k = at ? (double)x->e : old->in[s.ref].pad};
    for (uint32_t k = 0; k < fn_rows[s.fn].arity; k++) s.arg[k] = now[s.arg[k]];
    uint32_t same = s.fn == FN_CONST ? UINT32_MAX : fold_scalar(l, w, &s);
    last = now[i] = same == UINT32_MAX ? scalar_push(w, l, s) : same;
  }
  return last;
}

static double identity_of(Combine c) {
  switch (c) {
  case SUM: return 0;
  case PROD: return 1;
  case MAX: return -INFINITY;
  case MIN: return INFINITY;
  }
  return 0;
}

// A loop that is not cut is emitted once, unchanged.
static void element_loop(Unroll *u, Id box, int64_t e) {
  World *w = u->w;
  const Box *b = &u->c->k->d->box.at[box];
  bool cut = u->c->index[box] >= 0;
  Element x = {.u = u, .b = b, .index = cut ? (uint32_t)u->c->index[box] : UINT32_MAX, .e = e};
  x.draft.loop = loop_copy(w, b->loop);
  x.outside = NEW_ARRAY(w->arena, bool, b->nin + 1);
  for (uint32_t k = 0; k < b->nin; k++) fix_operand(&x, k);
  if (cut) x.draft.loop->index[x.index].size = size_of(w, 1);
  Type t = cut ? element_type(u, b->out[0]) : u->c->k->d->wire.at[b->out[0]].type;
  uint32_t result = fix_scalars(&x);
  if (x.empty)
    result =
        scalar_push(w, x.draft.loop,
                    (Scalar){.fn = FN_CONST, .base = t.base, .k = identity_of(b->loop->combine)});
  draft_tidy(w, x.empty ? NULL : u->to.d, &x.draft, result, &t);
  Box copy = *b;
  copy.loop = x.draft.loop;
  copy.nin = x.draft.in.n;
  Id *out = NEW_ARRAY(w->arena, Id, b->nout + 1);
  for (uint32_t i = 0; i < b->nout; i++)
    out[i] = cut ? u->piece[b->out[i]][e] : u->whole[b->out[i]];
  cyclic_box(w, &u->to, &copy, x.draft.in.at, out,
             cut ? place_of(u, box, e) : u->c->k->from.at[box]);
}

// -- a join at one element ------------------------------------------------------------------------
// Position `at` of a wire along an axis, in a new wire, or in `out` if that is given.
static Id slice(Unroll *u, Id wire, uint32_t axis, int64_t at, Id out, ConnectPlace from) {
  World *w = u->w;
  if (u->piece[wire] && u->c->axis[wire] == (int32_t)axis && !out) return u->piece[wire][at];
  bool piece = u->piece[wire] && u->c->axis[wire] == (int32_t)axis;
  Id in = piece ? u->piece[wire][at] : whole(u, wire);
  Type t = u->c->k->d->wire.at[wire].type;
  t.axis = arena_copy(w->arena, t.axis, t.rank * sizeof(Axis));
  t.axis[axis].size = size_of(w, 1);
  Loop *loop = loop_over(w, &t);
  Access a = access_from(w, 0, t.rank);
  if (!piece) a.coord[axis].c = size_of(w, at);
  loop->nin = 1;
  loop->in = arena_copy(w->arena, &a, sizeof a);
  scalar_push(w, loop, (Scalar){.fn = FN_ARG, .base = t.base});
  if (!out) out = cyclic_wire(w, &u->to, &t, 0, 0);
  cyclic_box(w, &u->to, &(Box){.op = OP_loop, .nin = 1, .nout = 1, .loop = loop}, &in, &out, from);
  return out;
}

static bool element_join(Unroll *u, Id box, int64_t e) {
  World *w = u->w;
  const Diagram *d = u->c->k->d;
  const Box *b = &d->box.at[box];
  uint32_t axis = (uint32_t)u->c->index[box];
  Id *in = NEW_ARRAY(w->arena, Id, b->nin + 1), out = u->piece[b->out[0]][e];
  ConnectPlace from = place_of(u, box, e);
  if (axis != b->axis) {
    for (uint32_t k = 0; k < b->nin; k++) in[k] = slice(u, b->in[k], axis, e, 0, from);
    cyclic_box(w, &u->to, b, in, &out, from);
    return true;
  }
  for (uint32_t k = 0; k < b->nin; k++) {
    int64_t n;
    if (!size_value(w, d->wire.at[b->in[k]].type.axis[axis].size, &n)) return false;
    if (e < n) {
      slice(u, b->in[k], axis, e, out, from);
      return true;
    }
    e -= n;
  }
  return false;
}

// -- a scan at one element ------------------------------------------------------------------------
static bool element_scan(Unroll *u, Id box, int64_t e) {
  World *w = u->w;
  const Box *b = &u->c->k->d->box.at[box];
  Id *in = NEW_ARRAY(w->arena, Id, b->nin + 1), *out = NEW_ARRAY(w->arena, Id, b->nout + 1);
  ConnectPlace from = place_of(u, box, e);
  for (uint32_t k = 0; k < b->nin; k++) {
    int32_t axis = operand_axis(u->c, box, k);
    in[k] = axis < 0 ? whole(u, b->in[k]) : slice(u, b->in[k], (uint32_t)axis, e, 0, from);
  }
  for (uint32_t k = 0; k < b->nout; k++) out[k] = u->piece[b->out[k]][e];
  Box copy = *b;
  copy.scan = scan_of_one(u->c->scan[box]);
  cyclic_box(w, &u->to, &copy, in, out, from);
  return true;
}

// -- the whole ------------------------------------------------------------------------------------
static bool make_boxes(Unroll *u) {
  const Diagram *d = u->c->k->d;
  for (uint32_t i = 0; i < u->c->box->n; i++) {
    Id box = u->c->box->at[i];
    const Box *b = &d->box.at[box];
    if (u->c->index[box] < 0 && b->op != OP_loop) {
      Id *in = NEW_ARRAY(u->w->arena, Id, b->nin + 1),
         *out = NEW_ARRAY(u->w->arena, Id, b->nout + 1);
      for (uint32_t k = 0; k < b->nin; k++) in[k] = whole(u, b->in[k]);
      for (uint32_t k = 0; k < b->nout; k++) out[k] = u->whole[b->out[k]];
      cyclic_box(u->w, &u->to, b, in, out, u->c->k->from.at[box]);
      continue;
    }
    for (int64_t e = 0; e < u->n[b->out[0]]; e++) {
      if (b->op == OP_loop)
        element_loop(u, box, e);
      else if (!(b->op == OP_scan ? element_scan : element_join)(u, box, e))
        return false;
    }
  }
  return true;
}

// Joins the elements for readers outside the cycle.
static void join_elements(Unroll *u, Diagram *to, Id *around, const Id *map) {
  MadeAt at = {0};
  for (Id wire; (wire = next_made(u, &at));) {
    const Wire *x = &u->c->k->d->wire.at[wire];
    if (u->whole[wire]) {
      around[wire] = map[u->whole[wire]];
      continue;
    }
    Ids in = {0};
    for (int64_t e = 0; e < u->n[wire]; e++) vec_push(u->w->arena, &in, map[u->piece[wire][e]]);
    around[wire] = box_join(u->w, to, (uint32_t)u->c->axis[wire], in.at, in.n, x->origin);
    to->wire.at[around[wire]].type = x->type;
    to->wire.at[around[wire]].name = x->name;
  }
}

bool cyclic_unroll(CyclicRun *run, CyclicCut *c, Diagram *to, Id *around, bool *good) {
  World *w = run->w;
  Unroll u = {.run = run, .c = c, .w = w};
  if (run->depth == DEPTH_LIMIT) return false; // would recur without progress
  cut_remaining(c);
  u.whole = NEW_ARRAY(w->arena, Id, c->k->d->wire.n);
  u.piece = NEW_ARRAY(w->arena, Id *, c->k->d->wire.n);
  u.n = NEW_ARRAY(w->arena, int64_t, c->k->d->wire.n);
  cyclic_begin(w, &u.to, name_from(w->names, "pieces"));
  if (!count_pieces(&u)) return false;
  make_wires(&u);
  if (!make_boxes(&u)) {
    run->answer = CONNECT_OPEN;
    return false;
  }
  Id *map = new_map(w, u.to.d);
  for (uint32_t i = 0; i < u.known.n; i++) map[u.whole[u.known.at[i]]] = around[u.known.at[i]];
  run->depth++;
  *good = cyclic_emit(run, &u.to, to, map);
  run->depth--;
  if (*good) join_elements(&u, to, around, map);
  return true;
}
