// A diagram is valid when every wire has one producer that stands before its readers, every box has
// the inputs and outputs its operation wants, and every access has as many coordinates as its wire
// has axes. Sizes are compared only where both are constants: what is still symbolic was the
// checker's business.
#include "base/names.h"
#include "core/diagram/ops.h"
#include "diagram_help.h"

typedef struct {
  World *w;
  const Diagram *d;
  Buf *why;
} ValidCheck;

__attribute__((format(printf, 3, 4))) static bool fault(const ValidCheck *c, Id box,
                                                        const char *format, ...) {
  va_list args;
  buf_printf(c->why, "%s, box %u: ", name_text(c->w->names, c->d->name), box);
  va_start(args, format);
  buf_vprintf(c->why, format, args);
  va_end(args);
  return false;
}

static bool sizes_may_agree(World *w, Size a, Size b) {
  int64_t x, y;
  return !size_value(w, a, &x) || !size_value(w, b, &y) || x == y;
}

static bool types_may_agree(World *w, const Type *a, const Type *b) {
  if (a->base != b->base || a->rank != b->rank) return false;
  if (a->base == BASE_LABEL && !sizes_may_agree(w, a->count, b->count)) return false;
  for (uint32_t i = 0; i < a->rank; i++)
    if (!sizes_may_agree(w, a->axis[i].size, b->axis[i].size)) return false;
  return true;
}

static bool access_valid(const ValidCheck *c, Id box, const Access *a, const Loop *loop,
                         const Type *t, uint32_t before) {
  if (a->rank != t->rank)
    return fault(c, box, "an access of %u coordinates into %s", a->rank, type_text(c->w, t));
  for (uint32_t i = 0; i < a->rank; i++)
    for (uint32_t k = 0; k < a->coord[i].n; k++) {
      const Term *term = &a->coord[i].term[k];
      if (term->var >= (term->operand ? before : loop->nindex))
        return fault(c, box, "a coordinate of nothing");
    }
  return true;
}

static bool scalars_valid(const ValidCheck *c, Id id, const Box *b) {
  const Loop *loop = b->loop;
  for (uint32_t i = 0; i < loop->nscalar; i++) {
    const Scalar *s = &loop->scalar[i];
    if (s->fn == FN_ARG && s->ref >= loop->nin) return fault(c, id, "no operand %u", s->ref);
    if (s->fn == FN_ARG && s->base != c->d->wire.at[b->in[s->ref]].type.base)
      return fault(c, id, "operand %u is read with another base", s->ref);
    if (s->fn == FN_AT && s->ref >= loop->nindex) return fault(c, id, "no index %u", s->ref);
    if (s->fn <= FN_SIZE) continue;
    const FnRow *row = &fn_rows[s->fn];
    for (uint32_t k = 0; k < row->arity; k++) {
      if (s->arg[k] >= i) return fault(c, id, "%s reads what comes later", row->name);
      uint8_t base = loop->scalar[s->arg[k]].base;
      if ((row->sig[k] == 'R' && base != BASE_R) || (row->sig[k] == 'B' && base != BASE_BIT))
        return fault(c, id, "argument %u of %s has the wrong base", k, row->name);
    }
  }
  const Type *out = &c->d->wire.at[b->out[0]].type;
  if (!loop->nscalar || loop->scalar[loop->nscalar - 1].base != out->base)
    return fault(c, id, "the body has another base");
  return true;
}

static bool loop_valid(const ValidCheck *c, Id id, const Box *b) {
  const Loop *loop = b->loop;
  if (loop->nin != b->nin) return fault(c, id, "%u accesses for %u inputs", loop->nin, b->nin);
  for (uint32_t i = 0; i < b->nin; i++)
    if (!access_valid(c, id, &loop->in[i], loop, &c->d->wire.at[b->in[i]].type, i)) return false;
  if (!access_valid(c, id, &loop->out, loop, &c->d->wire.at[b->out[0]].type, b->nin)) return false;
  if (b->nout != 1 + loop_winners(c->w, loop)) return fault(c, id, "%u results", b->nout);
  if (loop->combine != SUM)
    for (uint32_t i = 0; i < loop->out.rank; i++)
      if (!coord_is_plain(c->w, &loop->out.coord[i], NULL))
        return fault(c, id, "only a sum may write anywhere");
  return scalars_valid(c, id, b);
}

static bool call_valid(const ValidCheck *c, Id id, const Box *b) {
  const Diagram *f = b->callee;
  if (b->nin != f->in.n + f->param.n || b->nout != call_outputs(f))
    return fault(c, id, "%u inputs and %u outputs for %s", b->nin, b->nout,
                 name_text(c->w->names, f->name));
  for (uint32_t i = 0; i < b->nin; i++) {
    Id inner = i < f->in.n ? f->in.at[i] : f->param.at[i - f->in.n].wire;
    const Type *want = &f->wire.at[inner].type, *have = &c->d->wire.at[b->in[i]].type;
    if (!types_may_agree(c->w, want, have))
      return fault(c, id, "%s wants %s, has %s", name_text(c->w->names, f->name),
                   type_text(c->w, want), type_text(c->w, have));
  }
  return true;
}

static bool scan_valid(const ValidCheck *c, Id id, const Box *b) {
  const Scan *s = b->scan;
  uint32_t own = s->slice + s->carry + s->hold;
  if (own != s->body->in.n || b->nin != own + s->body->param.n || b->nout != s->body->out.n ||
      s->carry > b->nout)
    return fault(c, id, "a scan with the wrong number of wires");
  for (uint32_t i = 0; i < own; i++) {
    Type have = c->d->wire.at[b->in[i]].type;
    if (i < s->slice && !have.rank) return fault(c, id, "a slice without an axis");
    if (i < s->slice) have.axis++, have.rank--;
    const Type *want = &s->body->wire.at[s->body->in.at[i]].type;
    if (!types_may_agree(c->w, want, &have))
      return fault(c, id, "the scan's body wants %s, has %s", type_text(c->w, want),
                   type_text(c->w, &have));
  }
  return true;
}

static bool box_valid(const ValidCheck *c, Id id) {
  const Box *b = &c->d->box.at[id];
  for (uint32_t i = 0; i < b->nin; i++) {
    if (!b->in[i] || b->in[i] >= c->d->wire.n) return fault(c, id, "input %u is not a wire", i);
    if (c->d->wire.at[b->in[i]].box >= id) return fault(c, id, "input %u is produced later", i);
  }
  for (uint32_t i = 0; i < b->nout; i++)
    if (c->d->wire.at[b->out[i]].box != id || c->d->wire.at[b->out[i]].port != i)
      return fault(c, id, "output %u has another producer", i);
  switch (b->op) {
  case OP_loop: return loop_valid(c, id, b);
  case OP_call: return call_valid(c, id, b);
  case OP_scan: return scan_valid(c, id, b);
  case OP_join:
  case OP_order:
    return b->nin > 0 && b->axis < c->d->wire.at[b->in[0]].type.rank ? true
                                                                     : fault(c, id, "no such axis");
  case OP_random: return b->nin == 0 ? true : fault(c, id, "noise takes no input");
  default: return fault(c, id, "no operation");
  }
}

bool diagram_valid(World *w, const Diagram *d, Buf *why) {
  ValidCheck c = {w, d, why};
  for (Id i = 1; i < d->box.n; i++)
    if (!box_valid(&c, i)) return false;
  for (uint32_t i = 0; i < d->out.n; i++)
    if (!d->out.at[i] || d->out.at[i] >= d->wire.n)
      return fault(&c, 0, "output %u is not a wire", i);
  return true;
}
