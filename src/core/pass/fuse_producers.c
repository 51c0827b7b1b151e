// Producer–consumer loop fusion: a loop that reads another loop's result at fewer points than it
// has recomputes the values at these points.
//
//   P[i j] = map a[i] b[j] over i j : $0 * $1
//   d[i] = map P[i i] over i : $0                  becomes   d[i] = map a[i] b[i] over i : $0 * $1
//
// The producer must write each element once, without a reduction, and have no other reader. Each
// value is computed as before, so results keep their bits; values that nothing reads are not
// computed.
#include "core/diagram/ops.h"
#include "core/pass/pass.h"
#include "core/pass/rewrite.h"

// -- composition of accesses ----------------------------------------------------------------------
bool access_permutes(World *w, const Loop *loop, const Access *a, const Type *t) {
  uint32_t index;
  if (loop->nindex != t->rank) return false;
  for (uint32_t i = 0; i < t->rank; i++) {
    if (!coord_is_plain(w, &a->coord[i], &index)) return false;
    if (size_now(w, loop->index[index].size) != size_now(w, t->axis[i].size)) return false;
    for (uint32_t k = 0; k < i; k++)
      if (a->coord[k].term[0].var == index) return false;
  }
  return true;
}

bool loop_fills(World *w, const Loop *loop, const Type *out) {
  return access_permutes(w, loop, &loop->out, out);
}

// coord + by · other
static void coord_add_times(World *w, Coord *to, Size by, const Coord *other) {
  to->c = size_add(w, size_now(w, to->c), size_mul(w, by, size_now(w, other->c)));
  for (uint32_t i = 0; i < other->n; i++) {
    Size coef = size_mul(w, by, size_now(w, other->term[i].coef));
    uint32_t k = 0;
    while (k < to->n &&
           (to->term[k].var != other->term[i].var || to->term[k].operand != other->term[i].operand))
      k++;
    if (k < to->n)
      to->term[k].coef = size_add(w, to->term[k].coef, coef);
    else
      *to = coord_add(w, *to, coef, other->term[i].var, other->term[i].operand);
  }
}

static void coord_drop_zeros(World *w, Coord *c) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->n; i++)
    if (c->term[i].coef != size_of(w, 0)) c->term[n++] = c->term[i];
  c->n = n;
}

Access access_composed(World *w, const Loop *producer, uint32_t operand, const Access *outer) {
  const Access *inner = &producer->in[operand];
  Access a = {.rank = inner->rank, .padded = outer->padded, .pad = outer->pad};
  uint32_t *axis_of = NEW_ARRAY(w->arena, uint32_t, producer->nindex);
  a.coord = NEW_ARRAY(w->arena, Coord, inner->rank);
  for (uint32_t i = 0; i < producer->out.rank; i++) axis_of[producer->out.coord[i].term[0].var] = i;
  for (uint32_t i = 0; i < inner->rank; i++) {
    Coord c = coord_const(w, size_now(w, inner->coord[i].c));
    for (uint32_t k = 0; k < inner->coord[i].n; k++) {
      const Term *t = &inner->coord[i].term[k];
      coord_add_times(w, &c, size_now(w, t->coef), &outer->coord[axis_of[t->var]]);
    }
    coord_drop_zeros(w, &c);
    a.coord[i] = c;
  }
  return a;
}

// -- candidates -----------------------------------------------------------------------------------
bool access_is_plain(World *w, const Loop *loop, const Access *a, const Type *t) {
  for (uint32_t i = 0; i < a->rank; i++)
    for (uint32_t k = 0; k < a->coord[i].n; k++)
      if (a->coord[i].term[k].operand) return false;
  return !a->padded && access_in_bounds(w, loop, a, t);
}

bool reads_plainly(World *w, const Diagram *d, const Box *b) {
  for (uint32_t i = 0; i < b->nin; i++)
    if (!access_is_plain(w, b->loop, &b->loop->in[i], &d->wire.at[b->in[i]].type)) return false;
  return true;
}

// Fewer points: by number if all sizes are constant; otherwise fewer indices, each with the size of
// a different index of the producer.
static bool has_fewer_points(World *w, const Loop *outer, const Loop *inner) {
  double few = 1, many = 1, k;
  bool known = true;
  for (uint32_t i = 0; i < outer->nindex && known; i++)
    known = size_number(w, size_now(w, outer->index[i].size), &k), few *= known ? k : 1;
  for (uint32_t i = 0; i < inner->nindex && known; i++)
    known = size_number(w, size_now(w, inner->index[i].size), &k), many *= known ? k : 1;
  if (known) return few < many;
  if (outer->nindex >= inner->nindex) return false;
  uint64_t used = 0;
  for (uint32_t i = 0; i < outer->nindex; i++) {
    uint32_t at = 0;
    while (
        at < inner->nindex && at < 64 &&
        (used >> at & 1 || size_now(w, inner->index[at].size) != size_now(w, outer->index[i].size)))
      at++;
    if (at >= inner->nindex || at >= 64) return false;
    used |= (uint64_t)1 << at;
  }
  return true;
}

// The operand's producer, if it can be fused into the reader.
static const Box *fusible_producer(const Rewriting *c, const Box *reader, uint32_t operand,
                                   const Draft *f) {
  const Wire *x = &c->to->wire.at[f->in.at[operand]];
  const Box *b = &c->to->box.at[x->box];
  const Access *a = &f->loop->in[operand];
  if (!x->box || b->op != OP_loop || b->nout != 1 || c->reads[reader->in[operand]] != 1)
    return NULL;
  if (!loop_fills(c->w, b->loop, &x->type) || !has_fewer_points(c->w, f->loop, b->loop) ||
      !access_is_plain(c->w, f->loop, a, &x->type) || !reads_plainly(c->w, c->to, b))
    return NULL;
  for (uint32_t i = 0; i < b->loop->nscalar; i++) // index values differ between the two loops
    if (b->loop->scalar[i].fn == FN_AT) return NULL;
  return b;
}

// Appends the producer's operands to the reader's, and puts its scalars before the reader's.
static void fuse_operand(const Rewriting *c, Draft *f, uint32_t operand, const Box *b) {
  World *w = c->w;
  Loop *loop = f->loop;
  Scalar *old = loop->scalar;
  uint32_t n = loop->nscalar, *at = NEW_ARRAY(w->arena, uint32_t, b->nin + 1),
           *now = NEW_ARRAY(w->arena, uint32_t, n + b->loop->nscalar);
  Access outer = loop->in[operand];
  for (uint32_t i = 0; i < b->nin; i++)
    at[i] = draft_operand(w, f, b->in[i], access_composed(w, b->loop, i, &outer));
  loop->scalar = NULL;
  loop->nscalar = 0;
  for (uint32_t i = 0; i < b->loop->nscalar; i++) {
    Scalar s = b->loop->scalar[i];
    if (s.fn == FN_ARG) s.ref = at[s.ref];
    for (uint32_t k = 0; k < fn_rows[s.fn].arity; k++) s.arg[k] = now[s.arg[k]];
    now[i] = scalar_push(w, loop, s);
  }
  uint32_t result = now[b->loop->nscalar - 1];
  for (uint32_t i = 0; i < n; i++) {
    Scalar s = old[i];
    for (uint32_t k = 0; k < fn_rows[s.fn].arity; k++) s.arg[k] = now[s.arg[k]];
    bool here = s.fn == FN_ARG && s.ref == operand;
    now[i] = here ? result : scalar_push(w, loop, s);
  }
  if (now[n - 1] + 1 != loop->nscalar) // the value is the last scalar
    scalar_push(w, loop, loop->scalar[now[n - 1]]);
}

static bool fuse_loop(const Rewriting *c, const Box *b) {
  World *w = c->w;
  if (b->op != OP_loop || b->nout != 1) return false;
  Draft f = {loop_copy(w, b->loop), {0}};
  bool any = false;
  for (uint32_t i = 0; i < b->nin; i++) vec_push(w->arena, &f.in, c->map[b->in[i]]);
  for (uint32_t k = 0; k < b->nin; k++) {
    const Box *inner = fusible_producer(c, b, k, &f);
    if (inner) fuse_operand(c, &f, k, inner), any = true;
  }
  if (!any) return false;
  const Type *type = &c->from->wire.at[b->out[0]].type;
  draft_tidy(w, c->to, &f, f.loop->nscalar - 1, type);
  Id wire = box_loop_shared(w, c->to, f.loop, f.in.at, f.in.n, *type, b->origin);
  c->to->wire.at[wire].name = c->from->wire.at[b->out[0]].name;
  c->to->box.at[c->to->box.n - 1].turn = b->turn;
  c->map[b->out[0]] = wire;
  return true;
}

Diagram *diagram_fuse(World *w, const Diagram *d) {
  return diagram_prune(w, rewrite_boxes(w, d, fuse_loop));
}
