// What is done with a program that is right: some box or learner is printed after inlining and after
// the reverse derivative, its cost is counted, the gradient of the loss is taken, the steps of the
// first `train` are made. Machines are printed, and their short runs followed by the interpreter.
// Every diagram on the way is valid.
#ifndef LIMN_FUZZ_PASSES_H
#define LIMN_FUZZ_PASSES_H

#include "core/diagram/print.h"
#include "core/pass/pass.h"
#include "diagram_help.h"
#include "run/sim/sim.h"
#include "run/step/step.h"
#include "whole.h"

static bool is_small(const Diagram *d) { return d && diagram_boxes(world, d) < 400; }

static void look_at(const Diagram *d, Buf *out) {
  Buf why = buf_new(arena);
  if (!diagram_valid(world, d, &why)) {
    fputs(why.at, stderr);
    abort();
  }
  diagram_print(world, d, out, true);
}

static void passes(const Diagram *d, Buf *out) {
  look_at(d, out);
  Diagram *flat = diagram_simplify(world, diagram_inline(world, d));
  look_at(flat, out);
  diagram_cost(world, flat);
  for (uint32_t i = 0; i < d->out.n; i++)
    if (d->wire.at[d->out.at[i]].type.base == BASE_LABEL) return;
  Diagram *back = diagram_simplify(world, diagram_reverse(world, d, &(Wanted){0}));
  look_at(back, out);
  diagram_cost(world, back);
}

static bool is_short(const Run *r) {
  int64_t cells = 0, n;
  const Diagram *d = r->system ? r->system->d : NULL;
  if (!is_small(d) || r->end > (r->system->flows ? 1 : 8) || r->path || r->step || r->every)
    return false;
  for (Id i = 1; i < d->wire.n && cells < 1000; i++)
    if (!type_count(world, &d->wire.at[i].type, &n) || (cells += n) > 1000) return false;
  return cells < 1000;
}

static void runs(Program *p, Buf *out) {
  SimOptions how = {.threads = 1, .reference = true};
  for (uint32_t i = 0; i < p->ran->run.n && i < 4; i++) {
    const Run *r = &p->ran->run.at[i];
    Followed f;
    if (is_small(r->system ? r->system->d : NULL)) look_at(r->system->d, out);
    if (is_short(r)) follow_run(infer, p, i, &how, &f);
  }
}

static void all_passes(Program *p, Buf *out) {
  const char *name = some_name(p, 0);
  Diagram *d = name ? elab_diagram(infer, p, name, NULL) : NULL;
  if (is_small(d)) passes(d, out);
  Loss loss = learn_loss(infer, p);
  if (is_small(loss.diagram))
    look_at(diagram_simplify(world, diagram_gradient(world, loss.diagram, loss.mask)), out);
  Regime r;
  if (is_small(loss.diagram) && p->train.n && learn_regime(infer, p, p->train.at[0], &r))
    for (uint32_t i = 0; i < r.step.n && i < 4; i++) look_at(r.step.at[i].diagram, out);
  if (p->ran) runs(p, out);
}

#endif
