// Exports weights by name as safetensors: those of a box or learner, or all of the program's goals,
// measures and learners.
#include "base/diag.h"
#include "base/names.h"
#include "port/export/export.h"

// Skips learners whose sizes depend on their use: goals have them already.
static bool add_learners(Export *e, Arrays *all) {
  for (uint32_t i = 0; i < e->p->learner.n; i++) {
    const char *name = name_text(e->w->names, e->p->learner.at[i]->name);
    e->w->diags->muted++;
    const Diagram *d = diagram_trained(e->in, e->p, name);
    e->w->diags->muted--;
    bool open = !d;
    int64_t n;
    for (uint32_t k = 0; d && k < d->param.n; k++)
      open |= !type_count(e->w, &d->wire.at[d->param.at[k].wire].type, &n);
    if (!open && !export_weights(e, d, all)) return false;
  }
  return true;
}

// Measures of the whole program, such as `exploitability`, have no diagram.
static bool add_program(Export *e, Arrays *all) {
  for (uint32_t i = 0; i < e->p->goal.n; i++)
    if (!export_weights(e, e->p->goal.at[i].diagram, all)) return false;
  for (uint32_t i = 0; i < e->p->measure.n; i++) {
    const Diagram *d = e->p->measure.at[i].diagram;
    if (d && !export_weights(e, d, all)) return false;
  }
  return add_learners(e, all);
}

bool export_safetensors(Export *e) {
  Arrays all = {0};
  Bytes bytes;
  const char *error;
  const Diagram *d = e->name ? export_diagram(e, false) : NULL;
  if (e->name ? !d || !export_weights(e, d, &all) : !add_program(e, &all)) return false;
  if (!safetensors_bytes(e->arena, &all, &bytes, &error))
    return export_error(e, OUTCOME_WRONG, "%s", error);
  return export_write_file(e, export_file(e), bytes.at, bytes.n);
}
