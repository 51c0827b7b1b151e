// Cuts a diagram in two at given wires.
#include "core/pass/pass.h"
#include "core/pass/rewrite.h"

Diagram *diagram_up_to(World *w, const Diagram *d, const Ids *wires) {
  Diagram *to = diagram_new(w, d->name);
  Id *map = new_map(w, d);
  copy_inputs(w, to, d, map);
  copy_params(w, to, d, map);
  copy_boxes(w, to, d, map);
  to->noisy = d->noisy;
  for (uint32_t i = 0; i < wires->n; i++) diagram_output(w, to, map[wires->at[i]]);
  return to;
}

Ids diagram_drop_inputs(World *w, Diagram *d) {
  bool *read = NEW_ARRAY(w->arena, bool, d->wire.n);
  Ids kept = {0};
  for (Id i = 1; i < d->box.n; i++)
    for (uint32_t k = 0; k < d->box.at[i].nin; k++) read[d->box.at[i].in[k]] = true;
  for (uint32_t i = 0; i < d->out.n; i++) read[d->out.at[i]] = true;
  for (uint32_t i = 0; i < d->in.n; i++)
    if (read[d->in.at[i]]) {
      d->in.at[kept.n] = d->in.at[i];
      vec_push(w->arena, &kept, i);
    }
  d->in.n = kept.n;
  return kept;
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
  *before = diagram_simplify(w, diagram_up_to(w, d, wires));
  return true;
}
