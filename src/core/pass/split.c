// Cuts a diagram in two at given wires.
#include "core/pass/pass.h"
#include "core/pass/rewrite.h"

static Diagram *diagram_before(World *w, const Diagram *d, const Ids *wires) {
  Diagram *to = diagram_new(w, d->name);
  Id *map = new_map(w, d);
  copy_inputs(w, to, d, map);
  copy_params(w, to, d, map);
  copy_boxes(w, to, d, map);
  for (uint32_t i = 0; i < wires->n; i++) diagram_output(w, to, map[wires->at[i]]);
  return diagram_simplify(w, to);
}

static bool has_all(const Box *b, const Id *map) {
  for (uint32_t i = 0; i < b->nin; i++)
    if (!map[b->in[i]]) return false;
  return true;
}

// Boxes that depend on anything else are left out.
static Diagram *diagram_after(World *w, const Diagram *d, const Ids *wires) {
  Diagram *to = diagram_new(w, d->name);
  Id *map = new_map(w, d);
  for (uint32_t i = 0; i < wires->n; i++) {
    const Wire *x = &d->wire.at[wires->at[i]];
    map[wires->at[i]] = diagram_input(w, to, x->type, x->name, x->origin);
  }
  for (Id i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    bool made = b->nout && map[b->out[0]];
    if (!made && b->op != OP_random && has_all(b, map)) copy_box(w, to, d, b, map, b->origin);
  }
  for (uint32_t i = 0; i < d->out.n; i++)
    if (!map[d->out.at[i]]) return NULL;
  diagram_outputs(w, to, d, map);
  return diagram_simplify(w, to);
}

bool diagram_split(World *w, const Diagram *d, const Ids *wires, Diagram **before,
                   Diagram **after) {
  *after = diagram_after(w, d, wires);
  if (!*after) return false;
  *before = diagram_before(w, d, wires);
  return true;
}
