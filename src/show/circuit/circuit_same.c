// Equality of pictures. Sizes and labels may differ; operations, wiring, order and names must
// agree. Two diagrams are equal if their boxes are, pairwise, and are wired alike.
#include "base/table.h"
#include "core/diagram/ops.h"
#include "show/circuit/circuit_own.h"

static bool same_types(const Type *a, const Type *b) {
  if (a->base != b->base || a->rank != b->rank) return false;
  for (uint32_t i = 0; i < a->rank; i++)
    if (a->axis[i].pass != b->axis[i].pass) return false;
  return true;
}

// Equal factors of coordinates: the same number, or the size of the same index in both loops.
static bool same_factor(Circuit *c, const Loop *a, const Loop *b, Size x, Size y) {
  World *w = c->w;
  x = size_now(w, x), y = size_now(w, y);
  if (x == y) return true;
  for (uint32_t i = 0; i < a->nindex; i++)
    if (size_now(w, a->index[i].size) == x && size_now(w, b->index[i].size) == y) return true;
  return false;
}

static bool same_coord(Circuit *c, const Loop *a, const Loop *b, const Coord *x, const Coord *y) {
  if (x->n != y->n || size_now(c->w, x->c) != size_now(c->w, y->c)) return false;
  for (uint32_t i = 0; i < x->n; i++) {
    const Term *s = &x->term[i], *t = &y->term[i];
    if (s->var != t->var || s->operand != t->operand || !same_factor(c, a, b, s->coef, t->coef))
      return false;
  }
  return true;
}

static bool same_access(Circuit *c, const Loop *a, const Loop *b, const Access *x,
                        const Access *y) {
  if (x->rank != y->rank || x->padded != y->padded) return false;
  if (x->padded && memcmp(&x->pad, &y->pad, sizeof x->pad) != 0) return false;
  for (uint32_t i = 0; i < x->rank; i++)
    if (!same_coord(c, a, b, &x->coord[i], &y->coord[i])) return false;
  return true;
}

static bool same_scalar(const Scalar *x, const Scalar *y) {
  if (x->fn != y->fn) return false;
  if (x->fn == FN_SIZE) return true;
  if (x->fn == FN_CONST) return memcmp(&x->k, &y->k, sizeof x->k) == 0;
  if (x->fn == FN_ARG || x->fn == FN_AT) return x->ref == y->ref;
  for (uint32_t k = 0; k < fn_rows[x->fn].arity; k++)
    if (x->arg[k] != y->arg[k]) return false;
  return true;
}

static bool same_loops(Circuit *c, const Loop *a, const Loop *b) {
  if (a->combine != b->combine || a->nindex != b->nindex || a->nin != b->nin ||
      a->nscalar != b->nscalar || !same_access(c, a, b, &a->out, &b->out))
    return false;
  for (uint32_t i = 0; i < a->nin; i++)
    if (!same_access(c, a, b, &a->in[i], &b->in[i])) return false;
  for (uint32_t i = 0; i < a->nscalar; i++)
    if (!same_scalar(&a->scalar[i], &b->scalar[i])) return false;
  return true;
}

static bool compare(Circuit *, const Diagram *, const Diagram *);

static bool same_scans(Circuit *c, const Scan *a, const Scan *b) {
  return a->slice == b->slice && a->carry == b->carry && a->hold == b->hold && a->back == b->back &&
         a->axis.name == b->axis.name && compare(c, a->body, b->body);
}

bool same_boxes(Circuit *c, const Diagram *d, const Box *a, const Diagram *e, const Box *b) {
  if (a->op != b->op || a->nin != b->nin || a->nout != b->nout) return false;
  for (uint32_t i = 0; i < a->nout; i++)
    if (!same_types(&d->wire.at[a->out[i]].type, &e->wire.at[b->out[i]].type)) return false;
  switch (a->op) {
  case OP_loop: return same_loops(c, a->loop, b->loop);
  case OP_call: return same_diagrams(c, a->callee, b->callee);
  case OP_scan: return same_scans(c, a->scan, b->scan);
  case OP_random: return a->random->noise == b->random->noise;
  default: return a->axis == b->axis;
  }
}

static bool same_wires(const Diagram *d, Id x, const Diagram *e, Id y) {
  const Wire *a = &d->wire.at[x], *b = &e->wire.at[y];
  if (a->box != b->box || a->port != b->port) return false;
  return a->box || source_number(d, x) == source_number(e, y);
}

// Options other than sizes are part of the written form.
static bool same_options(const Diagram *d, const Diagram *e) {
  if (d->option.n != e->option.n) return false;
  for (uint32_t i = 0; i < d->option.n; i++) {
    const Option *a = &d->option.at[i], *b = &e->option.at[i];
    if (a->by_default != b->by_default || a->nsize != b->nsize || !a->text != !b->text)
      return false;
    if (a->text && strcmp(a->text, b->text) != 0) return false;
  }
  return true;
}

static bool compare(Circuit *c, const Diagram *d, const Diagram *e) {
  if (!same_options(d, e)) return false;
  if (d->name != e->name || d->in.n != e->in.n || d->out.n != e->out.n ||
      d->param.n != e->param.n || d->box.n != e->box.n)
    return false;
  for (uint32_t i = 0; i < d->in.n; i++)
    if (!same_types(&d->wire.at[d->in.at[i]].type, &e->wire.at[e->in.at[i]].type)) return false;
  for (Id i = 1; i < d->box.n; i++) {
    const Box *a = &d->box.at[i], *b = &e->box.at[i];
    if (!same_boxes(c, d, a, e, b)) return false;
    for (uint32_t k = 0; k < a->nin; k++)
      if (!same_wires(d, a->in[k], e, b->in[k])) return false;
  }
  for (uint32_t i = 0; i < d->out.n; i++)
    if (!same_wires(d, d->out.at[i], e, e->out.at[i])) return false;
  return true;
}

bool same_diagrams(Circuit *c, const Diagram *d, const Diagram *e) {
  enum { DIFFERENT = 1, SAME };
  Id key[2] = {d->id, e->id};
  if (d == e) return true;
  if (!c->compared) c->compared = table_new(c->s->arena);
  Id known = table_get(c->compared, key, sizeof key);
  if (!known) {
    known = compare(c, part_diagram(c, d), part_diagram(c, e)) ? SAME : DIFFERENT;
    table_put(c->compared, key, sizeof key, known);
  }
  return known == SAME;
}
