// Clamps the step counter at the planned end of training, so that schedules keep their last value.
//
// Changes a newly built diagram with the clocks `step` and `steps` in place: its boxes then read
// min(step, steps - 1), in every engine. A diagram that reads only one of the clocks has no planned
// end, and stays as it is.
#include "core/diagram/each.h"
#include "core/diagram/ops.h"
#include "core/diagram/print.h"
#include "core/pass/pass.h"

static Id clock_wire(const Diagram *d, const char *path) {
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].role == ROLE_CLOCK && strcmp(d->param.at[i].path, path) == 0)
      return d->param.at[i].wire;
  return 0;
}

static Id clamped_step(World *w, Diagram *d, Id step, Id steps) {
  static const char *const name[] = {"step", "steps"};
  Type t = {.base = BASE_R};
  Loop *loop = loop_over(w, &t);
  uint32_t value[2], out = 0;
  loop->nin = 2;
  loop->in = NEW_ARRAY(w->arena, Access, 2);
  for (uint32_t i = 0; i < 2; i++)
    value[i] = scalar_push(w, loop, (Scalar){.fn = FN_ARG, .base = BASE_R, .ref = i});
  scalar_read(w, loop, "minimum(step, steps - 1)", name, value, 2, &out);
  return box_loop(w, d, loop, (Id[]){step, steps}, 2, t, d->wire.at[step].origin);
}

// Moves the last box to the front: its readers must come later.
static void bring_to_front(Diagram *d) {
  Id last = d->box.n - 1;
  Box box = d->box.at[last];
  memmove(&d->box.at[2], &d->box.at[1], (last - 1) * sizeof box);
  d->box.at[1] = box;
  for (uint32_t i = 1; i < d->wire.n; i++) {
    Wire *x = &d->wire.at[i];
    x->box = x->box == last ? 1 : x->box ? x->box + 1 : 0;
  }
}

void diagram_clamp_step(World *w, Diagram *d) {
  Id step = clock_wire(d, "step"), steps = clock_wire(d, "steps");
  if (!step || !steps) return;
  Id clamped = clamped_step(w, d, step, steps);
  bring_to_front(d);
  for (uint32_t i = 2; i < d->box.n; i++)
    for (uint32_t k = 0; k < d->box.at[i].nin; k++)
      if (d->box.at[i].in[k] == step) d->box.at[i].in[k] = clamped;
  for (uint32_t i = 0; i < d->out.n; i++)
    if (d->out.at[i] == step) d->out.at[i] = clamped;
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].next == step) d->param.at[i].next = clamped;
}
