// Rematerialisation of attention scores. Scores and their softmax are larger than the queries and
// keys they are made of. The reverse derivative gets copies of the boxes that make them, so that
// scores live only inside a kernel, forward and backward. A wire is rematerialised if it is a product of two
// wires that depend on the sample, with a result larger than either, or an element-wise function of
// such a product. Reductions of scores (the maximum and the sum of a row) are small and are stored.
#include "run/plan/plan.h"

#include "core/pass/rewrite.h"

typedef struct {
  World *w;
  const Diagram *from;
  Diagram *to;
  Id *map, *copy; // [wire of `from`] its wire in `to`; the rematerialised copy
  bool *wanted;   // [wire of `from`] to be rematerialised
  Id origin;
} Rematerialising;

// Numbers of a wire, for one sample.
static double cells(World *w, const Type *t) {
  double n = 1;
  int64_t k;
  for (uint32_t i = 0; i < t->rank; i++)
    if (size_value(w, size_now(w, t->axis[i].size), &k)) n *= (double)k;
  return n;
}

// Numbers that a loop reads, for one sample: an operand may be a slice of a larger wire.
static double cells_read(World *w, const Loop *loop, const Access *a) {
  double n = 1;
  int64_t size;
  for (uint32_t index = 0; index < loop->nindex; index++) {
    bool found = false;
    for (uint32_t i = 0; i < a->rank; i++)
      for (uint32_t k = 0; k < a->coord[i].n; k++)
        found |= !a->coord[i].term[k].operand && a->coord[i].term[k].var == index;
    if (found && size_value(w, size_now(w, loop->index[index].size), &size)) n *= (double)size;
  }
  return n;
}

static bool has_samples(const Type *t) {
  for (uint32_t i = 0; i < t->rank; i++)
    if (t->axis[i].pass == PASS_SAMPLE) return true;
  return false;
}

static bool is_score_product(World *w, const Diagram *d, const Box *b) {
  const Loop *loop = b->loop;
  if (!is_product_body(loop->combine, loop->scalar, loop->nscalar, b->nin)) return false;
  const Type *out = &d->wire.at[b->out[0]].type, *x = &d->wire.at[b->in[0]].type,
             *y = &d->wire.at[b->in[1]].type;
  return loop_sums(w, loop) && has_samples(x) && has_samples(y) &&
         cells(w, out) > cells_read(w, loop, &loop->in[0]) &&
         cells(w, out) > cells_read(w, loop, &loop->in[1]);
}

// An element-wise loop, of the shape of an operand that is rematerialised.
static bool is_elementwise_of_wanted(World *w, const Diagram *d, const Box *b, const bool *wanted) {
  bool reads = false;
  if (b->nout != 1 || b->loop->combine != SUM || loop_sums(w, b->loop)) return false;
  for (uint32_t i = 0; i < b->nin; i++)
    reads |= wanted[b->in[i]] &&
             cells(w, &d->wire.at[b->in[i]].type) == cells(w, &d->wire.at[b->out[0]].type);
  return reads;
}

static void find_wanted(Rematerialising *a) {
  const Diagram *d = a->from;
  for (Id i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    if (b->op != OP_loop || origin_is_reverse(a->w, b->origin)) continue;
    if (is_score_product(a->w, d, b) || is_elementwise_of_wanted(a->w, d, b, a->wanted))
      a->wanted[b->out[0]] = true;
  }
}

static Id rematerialise(Rematerialising *a, Id wire) {
  if (!a->wanted[wire]) return a->map[wire];
  if (a->copy[wire]) return a->copy[wire];
  const Box *b = &a->from->box.at[a->from->wire.at[wire].box];
  Ids in = {0};
  for (uint32_t i = 0; i < b->nin; i++) vec_push(a->w->arena, &in, rematerialise(a, b->in[i]));
  a->copy[wire] =
      box_loop_shared(a->w, a->to, b->loop, in.at, in.n, a->from->wire.at[wire].type, a->origin);
  return a->copy[wire];
}

Diagram *plan_rematerialise(World *w, const Diagram *d) {
  Rematerialising a = {.w = w, .from = d};
  a.copy = NEW_ARRAY(w->arena, Id, d->wire.n);
  a.wanted = NEW_ARRAY(w->arena, bool, d->wire.n);
  a.to = copy_begin(w, d, &a.map);
  find_wanted(&a);
  Id *reverse_map = new_map(w, d); // wires as the boxes of the reverse derivative read them
  for (Id i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    bool reverse = origin_is_reverse(w, b->origin);
    a.origin = b->origin;
    if (!reverse) {
      copy_box(w, a.to, d, b, a.map, b->origin);
      continue;
    }
    for (uint32_t k = 0; k < b->nin; k++) reverse_map[b->in[k]] = rematerialise(&a, b->in[k]);
    copy_box(w, a.to, d, b, reverse_map, b->origin);
    for (uint32_t k = 0; k < b->nout; k++) a.map[b->out[k]] = reverse_map[b->out[k]];
  }
  return copy_end(w, a.to, d, a.map);
}
