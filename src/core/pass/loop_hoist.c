// Loop-invariant code motion.
//
//   p[i] = map m[i] t over i:n : $0 / (1 - 0.9^$1)      %    = map t over : 1 - 0.9^$0
//                                                       p[i] = map m[i] % over i:n : $0 / $1
//
// A scalar of a loop's body is invariant if it depends only on scalar operands, sizes and
// constants. The largest invariant scalars that cost at least COSTLY flops become loops without
// indices. Results keep their bits.
#include "core/diagram/ops.h"
#include "core/pass/pass.h"
#include "core/pass/rewrite.h"

enum { COSTLY = 4 }; // in flops; a separate loop for cheaper scalars costs more than it saves

typedef struct {
  World *w;
  const Diagram *from;
  Diagram *to;
  Id *map;
} Hoist;

static bool *fixed_scalars(const Hoist *h, const Box *b) {
  const Loop *loop = b->loop;
  bool *fixed = NEW_ARRAY(h->w->arena, bool, loop->nscalar);
  for (uint32_t i = 0; i < loop->nscalar; i++) {
    const Scalar *s = &loop->scalar[i];
    fixed[i] = s->fn != FN_AT;
    if (s->fn == FN_ARG) fixed[i] = h->from->wire.at[b->in[s->ref]].type.rank == 0;
    for (uint32_t k = 0; k < fn_rows[s->fn].arity; k++) fixed[i] &= fixed[s->arg[k]];
  }
  return fixed;
}

// The flops of a scalar with its operands; 0 if it depends on no operand.
static uint32_t cost_of(const Hoist *h, const Loop *loop, uint32_t scalar) {
  bool *need = NEW_ARRAY(h->w->arena, bool, scalar + 1), reads = false;
  uint32_t flops = 0;
  need[scalar] = true;
  for (uint32_t i = scalar + 1; i-- > 0;) {
    const Scalar *s = &loop->scalar[i];
    if (!need[i]) continue;
    reads |= s->fn == FN_ARG;
    flops += fn_rows[s->fn].flops;
    for (uint32_t k = 0; k < fn_rows[s->fn].arity; k++) need[s->arg[k]] = true;
  }
  return reads ? flops : 0;
}

// Marks the invariant scalars to hoist: read by a varying scalar, or the result.
static bool *hoisted_scalars(const Hoist *h, const Box *b) {
  const Loop *loop = b->loop;
  const bool *fixed = fixed_scalars(h, b);
  bool *out = NEW_ARRAY(h->w->arena, bool, loop->nscalar), any = false;
  for (uint32_t i = 0; i < loop->nscalar; i++)
    for (uint32_t k = 0; !fixed[i] && k < fn_rows[loop->scalar[i].fn].arity; k++)
      out[loop->scalar[i].arg[k]] |= fixed[loop->scalar[i].arg[k]];
  out[loop->nscalar - 1] |= fixed[loop->nscalar - 1];
  for (uint32_t i = 0; i < loop->nscalar; i++)
    any |= out[i] = out[i] && loop->scalar[i].fn > FN_SIZE && cost_of(h, loop, i) >= COSTLY;
  return any ? out : NULL;
}

static Id scalar_wire(const Hoist *h, const Box *b, uint32_t scalar) {
  Draft f = {loop_copy(h->w, b->loop), {0}};
  Loop *loop = f.loop;
  Ids in = {0};
  uint32_t *now = NEW_ARRAY(h->w->arena, uint32_t, loop->nin);
  Type t = {.base = loop->scalar[scalar].base};
  loop->combine = SUM;
  loop->nindex = 0;
  loop->out = (Access){0};
  for (uint32_t i = 0; i < loop->nin; i++) {
    if (h->from->wire.at[b->in[i]].type.rank) continue;
    now[i] = in.n;
    loop->in[in.n] = (Access){0};
    vec_push(h->w->arena, &in, h->map[b->in[i]]);
  }
  loop->nin = in.n;
  f.in = in;
  for (uint32_t i = 0; i < loop->nscalar; i++) {
    Scalar *s = &loop->scalar[i];
    if (s->fn == FN_ARG) s->ref = now[s->ref]; // `scalar` reads no operand with axes
  }
  draft_tidy(h->w, h->to, &f, scalar, &t);
  return box_loop_shared(h->w, h->to, f.loop, f.in.at, f.in.n, t, b->origin);
}

static void hoist_loop(const Hoist *h, const Box *b) {
  World *w = h->w;
  const bool *out = b->loop->nindex ? hoisted_scalars(h, b) : NULL;
  if (!out) {
    copy_box(w, h->to, h->from, b, h->map, b->origin);
    return;
  }
  const Type *type = &h->from->wire.at[b->out[0]].type;
  Draft f = {loop_copy(w, b->loop), {0}};
  for (uint32_t i = 0; i < b->nin; i++) vec_push(w->arena, &f.in, h->map[b->in[i]]);
  for (uint32_t i = 0; i < b->loop->nscalar; i++) {
    if (!out[i]) continue;
    uint32_t operand = draft_operand(w, &f, scalar_wire(h, b, i), (Access){0});
    f.loop->scalar[i] = (Scalar){.fn = FN_ARG, .base = b->loop->scalar[i].base, .ref = operand};
  }
  draft_tidy(w, h->to, &f, f.loop->nscalar - 1, type);
  Id first = box_loop_shared(w, h->to, f.loop, f.in.at, f.in.n, *type, b->origin);
  for (uint32_t i = 0; i < b->nout; i++) {
    Wire *x = &h->to->wire.at[first + i];
    x->name = h->from->wire.at[b->out[i]].name;
    x->type = h->from->wire.at[b->out[i]].type;
    h->map[b->out[i]] = first + i;
  }
}

Diagram *diagram_hoist_loops(World *w, const Diagram *d) {
  Hoist h = {.w = w, .from = d};
  h.to = copy_begin(w, d, &h.map);
  h.to->reverse = d->reverse;
  for (Id i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    if (b->op == OP_loop)
      hoist_loop(&h, b);
    else
      copy_box(w, h.to, d, b, h.map, b->origin);
  }
  return copy_end(w, h.to, d, h.map);
}
