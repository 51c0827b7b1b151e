// Partial diagrams of a goal with errors: each side as far as it is known, and errors about both.
#include "base/diag.h"
#include "base/names.h"
#include "lang/elab/partial.h"
#include "lang/program/program_own.h"

static PartialDiagram *broken_side(Elab *in, Program *p, const Syntax *expr, Ids *fields) {
  TraceAside aside;
  PartialTrace *t = trace_new(in, &aside);
  Body *b = goal_body(in, p, name_from(in->w->names, "side"));
  b->trace = t;
  Value v = eval_alone(b, b->env, expr);
  goal_outputs(b, v, fields);
  trace_results(b, v, false);
  PartialDiagram *k = trace_end(in, t, b, &aside);
  for (uint32_t i = 0; i < b->d->out.n; i++) {
    const Type *type = &b->d->wire.at[b->d->out.at[i]].type;
    vec_push(in->w->arena, &k->end, type->base ? own_text(in->w, type) : "?");
  }
  return k;
}

BrokenGoal elab_broken_goal(Elab *in, Program *p, const Goal *goal) {
  const Diags *d = in->w->diags;
  const Syntax *claim = goal_claim(goal->node);
  bool two = claim->kind == N_EQUAL;
  BrokenGoal g = {0};
  g.left = broken_side(in, p, claim_left(claim), &g.fields[0]);
  if (two) g.right = broken_side(in, p, equal_right(claim), &g.fields[1]);
  for (uint32_t i = 1; i < d->list.n; i++) {
    const Diag *e = &d->list.at[i];
    if (e->kind != DIAG_ERROR || !spans_meet(e->span, goal->node->span) ||
        has_error_mark(g.left, e->span) || (two && has_error_mark(g.right, e->span)))
      continue;
    vec_push(in->w->arena, &g.slip, (ErrorMark){.span = e->span, .text = e->text});
    if (!spans_meet(e->span, claim->span)) continue;
    g.left->ends = true;
    if (two) g.right->ends = true;
  }
  return g;
}
