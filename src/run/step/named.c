// What a name stands for, as a diagram, and what is left of it after a list of passes.
#include "core/pass/pipeline.h"
#include "run/step/step.h"

Diagram *diagram_named(Elab *in, Program *p, const char *name, const Instance *how) {
  Diags *diags = elab_world(in)->diags;
  uint32_t errors = diags->errors;
  Diagram *d = elab_diagram(in, p, name, how);
  if (d || diags->errors > errors) return d;
  Id e = diag_error(diags, (Span){0},
                    "there is no box, learner, goal or measure `%s` in this program", name);
  diag_suggest(diags, e, elab_names(in, p, name));
  return NULL;
}

bool diagram_is_small(World *w, const Diagram *d) {
  if (diagram_boxes(w, d) <= BOXES_LIMIT) return true;
  return diag_refuse(w->diags, (Span){0},
                     "`%s` is more than %d boxes, written out: too many for this",
                     name_text(w->names, d->name), BOXES_LIMIT);
}

Diagram *diagram_or_loss(Elab *in, Program *p, const char *name, Loss *loss) {
  *loss = (Loss){0};
  if (name) return diagram_named(in, p, name, NULL);
  *loss = learn_loss(in, p);
  if (!loss->diagram)
    diag_error(elab_world(in)->diags, (Span){0},
               "this program has no goals: name a box or a learner");
  return loss->diagram;
}

// The first step of the first `train`.
static Diagram *first_step(Elab *in, Program *p) {
  Regime r;
  if (!p->train.n) {
    diag_error(elab_world(in)->diags, (Span){0},
               "`step` wants a `train`, and this program has none");
    return NULL;
  }
  return learn_regime(in, p, p->train.at[0], &r) ? r.step.at[0].diagram : NULL;
}

Diagram *diagram_after(Elab *in, Program *p, const char *name, const char *pass) {
  World *w = elab_world(in);
  Loss loss;
  Diagram *d = diagram_or_loss(in, p, name, &loss);
  const After *after = d && pass ? after_named(pass) : NULL;
  if (!d || (pass && !after)) return NULL;
  bool whole = after && after->kind != AFTER_PASSES;
  if (!after || (!whole && !after->passes)) return d;
  if (!diagram_is_small(w, d)) return NULL;
  if (!whole) return after->passes(w, d);
  if (name) {
    diag_error(w->diags, (Span){0}, "`%s` is of %s and takes no name", pass,
               after->kind == AFTER_STEP ? "all goals" : "the whole loss");
    return NULL;
  }
  return after->kind == AFTER_STEP ? first_step(in, p) : passes_gradient(w, d, loss.mask);
}
