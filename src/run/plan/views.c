// Layout. Two rewrites, in one pass over the boxes:
//
//   * A view that merges axes in another order than that of memory (`F[y (h k)] = O[h y k]`) is
//     bypassed: its reader's index i of the merged axis becomes the digits i = 32·h + k, and the source
//     is read. A view that keeps the order is left to the memory plan, where it is an alias.
//   * The axes of an inner wire are ordered as in the first operand of its loop that has all of them, so
//     that element-wise chains are contiguous (`M[x y] = select(…, S[y x])` has the layout of S).
//
// Inputs and outputs of diagrams, and wires that joins, sorts and scans read, keep their layout.
#include "core/diagram/ops.h"
#include "run/plan/plan.h"

#include "core/pass/rewrite.h"

typedef struct {
  World *w;
  const Diagram *from;
  Diagram *to;
  Id *map;
  VEC(uint32_t *) order; // [wire of `to`] new axis i is old axis order[i]; NULL: unchanged
  bool *fixed;           // [wire of `from`] keeps its layout
} Views;

static bool is_zero(World *w, Size s) { return size_now(w, s) == size_of(w, 0); }

// -- mixed radix ----------------------------------------------------------------------------------
// The terms of a coordinate from the largest factor to the smallest, if they are the digits of a
// mixed radix: each factor is the product of the sizes below it, and all digits together fill an
// axis of `dim`.
static bool coord_digits(World *w, const Loop *loop, const Coord *c, Size dim, uint32_t *digit) {
  if (!is_zero(w, c->c) || !c->n) return false;
  Size below = size_of(w, 1);
  for (uint32_t k = c->n; k-- > 0;) {
    uint32_t found = PLAN_NONE;
    for (uint32_t i = 0; i < c->n; i++)
      if (!c->term[i].operand && size_now(w, c->term[i].coef) == below) found = c->term[i].var;
    if (found == PLAN_NONE) return false;
    digit[k] = found;
    below = size_now(w, size_mul(w, below, size_now(w, loop->index[found].size)));
  }
  return below == size_now(w, dim);
}

// Is the body one operand, without padding or reduction?
static bool is_move(const Box *b) {
  const Loop *loop = b->loop;
  return b->op == OP_loop && b->nin == 1 && b->nout == 1 && loop->combine == SUM &&
         loop->nscalar == 1 && loop->scalar[0].fn == FN_ARG && !loop->in[0].padded;
}

// Does the loop only merge axes? It has one operand, read at plain indices, each index once on both
// sides.
static bool is_merge(World *w, const Box *b, const Type *in, const Type *out) {
  const Loop *loop = b->loop;
  uint32_t digit[16], seen = 0, index;
  if (!is_move(b) || loop->nindex > 16 || in->rank != loop->nindex) return false;
  for (uint32_t i = 0; i < in->rank; i++)
    if (!coord_is_plain(w, &loop->in[0].coord[i], &index) ||
        size_now(w, loop->index[index].size) != size_now(w, in->axis[i].size))
      return false;
  for (uint32_t i = 0; i < out->rank; i++) {
    if (loop->out.coord[i].n > 16 ||
        !coord_digits(w, loop, &loop->out.coord[i], out->axis[i].size, digit))
      return false;
    for (uint32_t k = 0; k < loop->out.coord[i].n; k++) {
      if (seen & 1u << digit[k]) return false;
      seen |= 1u << digit[k];
    }
  }
  return seen == (1u << loop->nindex) - 1;
}

// Does the merge keep the order of memory? Then it is an alias of another shape.
static bool keeps_order(World *w, const Loop *loop, uint32_t rank_out) {
  uint32_t digit[16], next = 0, index;
  for (uint32_t i = 0; i < rank_out; i++) {
    Size dim = size_of(w, 1);
    for (uint32_t k = 0; k < loop->out.coord[i].n; k++)
      dim = size_mul(w, dim, size_now(w, loop->index[loop->out.coord[i].term[k].var].size));
    if (!coord_digits(w, loop, &loop->out.coord[i], dim, digit)) return false;
    for (uint32_t k = 0; k < loop->out.coord[i].n; k++)
      if (!coord_is_plain(w, &loop->in[0].coord[next++], &index) || index != digit[k]) return false;
  }
  return true;
}

uint32_t loop_push_index(World *w, Loop *loop, Index index) {
  Index *more = NEW_ARRAY(w->arena, Index, loop->nindex + 1);
  if (loop->nindex) memcpy(more, loop->index, loop->nindex * sizeof(Index));
  more[loop->nindex] = index;
  loop->index = more;
  return loop->nindex++;
}

void access_replace(World *w, Access *a, uint32_t index, const Coord *by) {
  for (uint32_t i = 0; i < a->rank; i++) {
    Coord was = a->coord[i], now = coord_const(w, size_now(w, was.c));
    for (uint32_t k = 0; k < was.n; k++) {
      Term t = was.term[k];
      if (t.operand || t.var != index) {
        now = coord_add(w, now, t.coef, t.var, t.operand);
        continue;
      }
      Size coef = size_now(w, t.coef);
      now.c = size_add(w, now.c, size_mul(w, coef, by->c));
      for (uint32_t j = 0; j < by->n; j++)
        now = coord_add(w, now, size_mul(w, coef, by->term[j].coef), by->term[j].var,
                        by->term[j].operand);
    }
    a->coord[i] = now;
  }
}

void loop_drop_index(Loop *loop, uint32_t index) {
  for (uint32_t i = index; i + 1 < loop->nindex; i++) loop->index[i] = loop->index[i + 1];
  loop->nindex--;
  for (uint32_t k = 0; k <= loop->nin; k++) {
    Access *a = k ? &loop->in[k - 1] : &loop->out;
    for (uint32_t i = 0; i < a->rank; i++)
      for (uint32_t j = 0; j < a->coord[i].n; j++)
        if (!a->coord[i].term[j].operand && a->coord[i].term[j].var > index)
          a->coord[i].term[j].var--;
  }
  for (uint32_t i = 0; i < loop->nscalar; i++)
    if (loop->scalar[i].fn == FN_AT && loop->scalar[i].ref > index) loop->scalar[i].ref--;
}

// A max must keep its indices: its argmax is a label of a whole index.
static bool may_split(const Loop *loop, uint32_t index) {
  return !loop_reads_index(loop, index) && loop->combine == SUM;
}

// Bypasses a merge that operand k reads.
static bool read_source_of_merge(Views *v, Draft *f, uint32_t k) {
  World *w = v->w;
  const Wire *x = &v->to->wire.at[f->in.at[k]];
  const Box *b = &v->to->box.at[x->box];
  if (!x->box || b->op != OP_loop || b->nin != 1) return false;
  const Type *in = &v->to->wire.at[b->in[0]].type;
  if (!is_merge(w, b, in, &x->type) || keeps_order(w, b->loop, x->type.rank)) return false;
  const Loop *merge = b->loop;
  Loop *loop = f->loop;
  uint32_t digit[16], index;
  // The reader must access every axis by an index that covers it
  for (uint32_t i = 0; i < x->type.rank; i++) {
    if (!coord_is_plain(w, &loop->in[k].coord[i], &index) ||
        size_now(w, loop->index[index].size) != size_now(w, x->type.axis[i].size))
      return false;
    if (merge->out.coord[i].n > 1 && !may_split(loop, index)) return false;
  }
  uint32_t *place =
      // Index of the reader for each index of the merge
      NEW_ARRAY(w->arena, uint32_t, merge->nindex);
  Ids dropped = {0};
  for (uint32_t i = 0; i < x->type.rank; i++) {
    coord_is_plain(w, &loop->in[k].coord[i], &index);
    coord_digits(w, merge, &merge->out.coord[i], x->type.axis[i].size, digit);
    if (merge->out.coord[i].n == 1) {
      place[digit[0]] = index;
      continue;
    }
    for (uint32_t j = 0; j < merge->out.coord[i].n; j++)
      place[digit[j]] = loop_push_index(w, loop, merge->index[digit[j]]);
    Coord by = coord_const(w, size_of(w, 0)); // Σ digit · (product of the sizes below it)
    Size below = size_of(w, 1);
    for (uint32_t j = merge->out.coord[i].n; j-- > 0;) {
      by = coord_add(w, by, below, place[digit[j]], false);
      below = size_mul(w, below, size_now(w, merge->index[digit[j]].size));
    }
    for (uint32_t j = 0; j < loop->nin; j++)
      if (j != k) access_replace(w, &loop->in[j], index, &by);
    access_replace(w, &loop->out, index, &by);
    vec_push(w->arena, &dropped, index);
  }
  uint32_t *plain = NEW_ARRAY(w->arena, uint32_t, in->rank);
  for (uint32_t i = 0; i < in->rank; i++) {
    coord_is_plain(w, &merge->in[0].coord[i], &index);
    plain[i] = place[index];
  }
  bool padded = loop->in[k].padded;
  loop->in[k] = access_plain(w, in->rank, plain);
  loop->in[k].padded = padded;
  f->in.at[k] = b->in[0];
  for (uint32_t i = loop->nindex; i-- > 0;) // from the last one, so that other numbers stay valid
    for (uint32_t j = 0; j < dropped.n; j++)
      if (dropped.at[j] == i) loop_drop_index(loop, i);
  return true;
}

// -- layout ---------------------------------------------------------------------------------------
static void permute_access(World *w, Access *a, const uint32_t *order) {
  Coord *now = NEW_ARRAY(w->arena, Coord, a->rank);
  for (uint32_t i = 0; i < a->rank; i++) now[i] = a->coord[order[i]];
  a->coord = now;
}

// The axis of an access whose coordinate is this index; PLAN_NONE: none is.
static uint32_t position_of(World *w, const Access *a, uint32_t index) {
  uint32_t k;
  for (uint32_t i = 0; i < a->rank; i++)
    if (coord_is_plain(w, &a->coord[i], &k) && k == index) return i;
  return PLAN_NONE;
}

// The order of the output's axes that follows the first operand with all of them; NULL: they
// already have it.
static uint32_t *wanted_order(World *w, const Loop *loop) {
  uint32_t rank = loop->out.rank, index[16], place[16];
  if (rank < 2 || rank > 16 || loop->nindex != rank || loop->combine != SUM) return NULL;
  for (uint32_t i = 0; i < rank; i++)
    if (!coord_is_plain(w, &loop->out.coord[i], &index[i])) return NULL;
  for (uint32_t k = 0; k < loop->nin; k++) {
    bool all = true, sorted = true;
    for (uint32_t i = 0; i < rank; i++) {
      place[i] = position_of(w, &loop->in[k], index[i]);
      all &= place[i] != PLAN_NONE;
      if (i && place[i] < place[i - 1]) sorted = false;
    }
    if (!all) continue;
    if (sorted) return NULL;
    uint32_t *order = NEW_ARRAY(w->arena, uint32_t, rank), n = 0;
    for (uint32_t at = 0; at < loop->in[k].rank; at++)
      for (uint32_t i = 0; i < rank; i++)
        if (place[i] == at) order[n++] = i;
    return n == rank ? order : NULL;
  }
  return NULL;
}

static Type permute_type(World *w, Type t, const uint32_t *order) {
  Axis *axis = NEW_ARRAY(w->arena, Axis, t.rank);
  for (uint32_t i = 0; i < t.rank; i++) axis[i] = t.axis[order[i]];
  t.axis = axis;
  return t;
}

// -- the rewrite ----------------------------------------------------------------------------------
static void grow_order(Views *v) {
  while (v->order.n < v->to->wire.n) vec_push(v->w->arena, &v->order, NULL);
}

static void view_loop(Views *v, const Box *b) {
  World *w = v->w;
  Draft f = {loop_copy(w, b->loop), {0}};
  Type type = v->from->wire.at[b->out[0]].type;
  for (uint32_t i = 0; i < b->nin; i++) {
    Id in = v->map[b->in[i]];
    vec_push(w->arena, &f.in, in);
    if (v->order.at[in]) permute_access(w, &f.loop->in[i], v->order.at[in]);
  }
  for (uint32_t k = 0; k < f.loop->nin; k++) read_source_of_merge(v, &f, k);
  uint32_t *order = b->nout == 1 && !v->fixed[b->out[0]] ? wanted_order(w, f.loop) : NULL;
  if (order) {
    permute_access(w, &f.loop->out, order);
    type = permute_type(w, type, order);
  }
  Id first = box_loop_shared(w, v->to, f.loop, f.in.at, f.in.n, type, b->origin);
  grow_order(v);
  v->order.at[first] = order;
  for (uint32_t i = 0; i < b->nout; i++) {
    Wire *x = &v->to->wire.at[first + i];
    x->name = v->from->wire.at[b->out[i]].name;
    if (!order) x->type = v->from->wire.at[b->out[i]].type;
    v->map[b->out[i]] = first + i;
  }
}

static void mark_fixed(Views *v) {
  const Diagram *d = v->from;
  for (uint32_t i = 0; i < d->out.n; i++) v->fixed[d->out.at[i]] = true;
  for (uint32_t i = 0; i < d->param.n; i++) v->fixed[d->param.at[i].next] = true;
  for (Id i = 1; i < d->box.n; i++)
    for (uint32_t k = 0; d->box.at[i].op != OP_loop && k < d->box.at[i].nin; k++)
      v->fixed[d->box.at[i].in[k]] = true;
}

Diagram *plan_views(World *w, const Diagram *d) {
  Views v = {.w = w, .from = d};
  v.fixed = NEW_ARRAY(w->arena, bool, d->wire.n);
  v.to = copy_begin(w, d, &v.map);
  mark_fixed(&v);
  grow_order(&v);
  for (Id i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    if (b->op == OP_loop) {
      view_loop(&v, b);
      continue;
    }
    Box copy = *b;
    Scan scan;
    if (b->op == OP_scan) {
      scan = *b->scan;
      scan.body = plan_views(w, scan.body);
      copy.scan = &scan;
    }
    copy_box(w, v.to, d, &copy, v.map, b->origin);
    grow_order(&v);
  }
  return diagram_prune(w, copy_end(w, v.to, d, v.map));
}
