// The boxes of a diagram in their order. What is done several times is drawn once, between
// parentheses.
#include "view/circuit.h"

// -- repeats --------------------------------------------------------------------------------------
// Does this call only go on with what the one before made, in the same way?
static bool goes_on(const Diagram *d, const Box *before, const Box *box) {
  return box->op == OP_call && box->callee == before->callee && box->callee->out.n == 1 &&
         box->callee->in.n == 1 && box->in[0] == before->out[0] && reads(d, before->out[0]) == 1;
}

// A call that is repeated is drawn once, between parentheses.
void draw_part(Part *p) {
  for (Id i = 1; i < p->d->box.n; i++) {
    const Box *box = &p->d->box.at[i];
    uint32_t times = 1, block = p->block;
    while (box->op == OP_call && i + 1 < p->d->box.n &&
           goes_on(p->d, &p->d->box.at[i], &p->d->box.at[i + 1]))
      i++, times++;
    if (times > 1) {
      p->block = sketch_block(p->c->s, block, NULL, INK_NONE);
      p->c->s->block.at[p->block].times = arena_format(p->c->s->arena, "%u", times);
    }
    draw_box(p, box);
    p->block = block;
    p->made[p->d->box.at[i].out[0]] = p->made[box->out[0]];
  }
}
