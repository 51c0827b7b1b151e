// Pictures of a program, whether it is right or not: which one, of what and how, a number decides.
#ifndef LIMN_FUZZ_PICTURES_H
#define LIMN_FUZZ_PICTURES_H

#include "core/pass/pass.h"
#include "show/canvas/lint.h"
#include "show/circuit/circuit.h"
#include "show/circuit/goals.h"
#include "show/wiring/graph.h"
#include "show/wiring/wiring.h"
#include "whole.h"

enum { DRAWN_BOXES = 60, DRAWN_GOALS = 5 };

// Takes a choice among n out of the number.
static uint32_t one_of(uint64_t *how, uint32_t n) {
  uint32_t k = (uint32_t)(*how % n);
  *how /= n;
  return k;
}

static void look(Canvas *c, uint64_t how, Buf *out) {
  Faults faults = {0};
  Look as = {.theme = (Theme)one_of(&how, 4), .ascii = one_of(&how, 2)};
  if (!c) return;
  canvas_check(arena, c, &faults);
  switch (one_of(&how, 4)) {
  case 0: canvas_svg(c, &as, out); break;
  case 1: canvas_tikz(c, &as, out); break;
  case 2: canvas_pdf(c, &as, out); break;
  default: canvas_art(c, &as, out);
  }
}

static Canvas *broken_picture(Program *p, const CircuitOptions *circuit, uint64_t how) {
  const char *name = elab_first_broken(infer, p);
  if (one_of(&how, 2) || !name)
    return p->goal.n < DRAWN_GOALS ? goals_draw(infer, arena, p, how & 1) : NULL;
  PartialDiagram *k = elab_broken(infer, p, name);
  bool small = k && diagram_boxes(world, k->diagram) < DRAWN_BOXES;
  return small ? broken_draw(world, arena, k, circuit) : NULL;
}

static Canvas *box_picture(Program *p, const CircuitOptions *circuit, uint64_t how) {
  bool grad = one_of(&how, 2);
  const char *name = some_name(p, (uint32_t)how);
  Span use = {0};
  Diagram *d = name ? elab_diagram(infer, p, name, &(Instance){.use = &use}) : NULL;
  if (!d || diagram_boxes(world, d) >= DRAWN_BOXES) return NULL;
  return grad ? grad_draw(world, arena, d, circuit) : circuit_draw(world, arena, d, circuit);
}

static Canvas *learning_picture(Program *p, uint64_t how) {
  bool parts = one_of(&how, 2);
  if (!p->learning.n) return NULL;
  return learning_draw(infer, arena, p, p->learning.at[how % p->learning.n], parts);
}

static Canvas *machine_picture(Program *p, uint64_t how) {
  const char *name = machine_last(world, p);
  WiringOptions options = {.depth = one_of(&how, 4), .unfold = one_of(&how, 2)};
  return name ? machine_draw(infer, arena, p, name, &options) : NULL;
}

// Of what the program has: what it does not have is not asked for.
static void picture(Program *p, uint64_t how, Buf *out) {
  static const double widths[] = {0, -1, 100, 400};
  uint64_t form = how >> 32;
  CircuitOptions circuit = {.level = (Level)one_of(&how, 3),
                            .no_legend = one_of(&how, 2),
                            .notes = one_of(&how, 2),
                            .width = widths[one_of(&how, 4)]};
  bool goals = p->goal.n && p->goal.n < DRAWN_GOALS;
  if (world->diags->errors) {
    look(broken_picture(p, &circuit, how), form, out);
    return;
  }
  look(box_picture(p, &circuit, how), form, out);
  look(learning_picture(p, how), form, out);
  look(machine_picture(p, how), form, out);
  if (!goals) return;
  uint32_t kind = one_of(&how, 3);
  look(kind == 0   ? goals_draw(infer, arena, p, true)
       : kind == 1 ? lens_draw(infer, arena, p, NULL, &circuit)
                   : who_draw(infer, arena, p),
       form, out);
}

#endif
