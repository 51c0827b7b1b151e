// Gradient stops. A loop may stop the gradient of an operand before using it; in string diagrams
// that is a mark on the operand's wire, and the loop is drawn without it.
#include "core/diagram/ops.h"
#include "show/circuit/circuit_own.h"

static bool is_of_arg(const Loop *l, uint32_t i, uint32_t operand) {
  return l->scalar[i].fn == FN_ARG && l->scalar[i].ref == operand;
}

bool loop_is_stop(const Loop *l) {
  const Scalar *last = &l->scalar[l->nscalar - 1];
  return l->nin == 1 && last->fn == FN_stop && l->scalar[last->arg[0]].fn == FN_ARG;
}

bool loop_stops(const Loop *l, uint32_t operand) {
  bool any = false;
  for (uint32_t i = 0; i < l->nscalar; i++) {
    const Scalar *x = &l->scalar[i];
    for (uint32_t k = 0; x->fn > FN_SIZE && k < fn_rows[x->fn].arity; k++) {
      if (!is_of_arg(l, x->arg[k], operand)) continue;
      if (x->fn != FN_stop || i + 1 == l->nscalar) return false;
      any = true;
    }
  }
  return any;
}

void loop_skip_stops(Loop *l, uint32_t operand) {
  for (uint32_t i = 0; i < l->nscalar; i++)
    for (uint32_t k = 0; l->scalar[i].fn > FN_SIZE && k < fn_rows[l->scalar[i].fn].arity; k++) {
      const Scalar *from = &l->scalar[l->scalar[i].arg[k]];
      if (from->fn == FN_stop && is_of_arg(l, from->arg[0], operand))
        l->scalar[i].arg[k] = from->arg[0];
    }
}

static uint32_t put_stop(CircuitPart *p, Id wire) {
  Sketch *s = p->c->s;
  uint32_t stage, use = *part_uses(p, &wire, 1, "stop", &stage);
  uint32_t made = sketch_make(s, stage, NULL, 1);
  strand_of(s, made, 0)->type = strand_of(s, use, 0)->type;
  Glyph *g = stage_glyph(s, stage, GLYPH_STOP, "stop");
  vec_push(s->arena, &g->in, strand_at(s, use, 0));
  vec_push(s->arena, &g->out, strand_at(s, made, 0));
  return made;
}

Box stop_operands(CircuitPart *p, const Box *box, Ids *wires) {
  Box plain = *box;
  for (uint32_t i = 0; i < box->nin; i++) {
    if (!loop_stops(box->loop, i)) continue;
    if (plain.loop == box->loop) plain.loop = loop_copy(p->c->w, box->loop);
    loop_skip_stops(plain.loop, i);
    uint32_t made = put_stop(p, box->in[i]);
    vec_push(p->c->s->arena, wires, box->in[i]);
    vec_push(p->c->s->arena, wires, p->made[box->in[i]]);
    p->made[box->in[i]] = made;
  }
  return plain;
}
