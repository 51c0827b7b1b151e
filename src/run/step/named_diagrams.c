// Diagrams by name, and what is left of them after a list of passes.
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "core/pass/pipeline.h"
#include "lang/value/value.h"
#include "run/step/step.h"

// Which member? Only a picture may be of any. What is asked without messages compares whole programs.
static bool says_which(Elab *in, Program *p, const char *name, const Instance *how) {
  Diags *diags = elab_world(in)->diags;
  int64_t n = (how && how->use) || diags->muted ? 0 : family_members(in, p, name);
  if (n < 2) return true;
  return diag_refuse(diags, (Span){0}, "`%s` is a family of %lld: say which, %s.0 … %s.%lld", name,
                     (long long)n, name, name, (long long)n - 1);
}

bool fields_are_distinct(Elab *in, const Program *p) {
  World *w = elab_world(in);
  Table *known = table_new(w->arena);
  for (uint32_t g = 0; g < p->goal.n; g++)
    for (uint32_t i = 0; i < p->goal.at[g].fields.n; i++) {
      const Def *d = def_of(in, p->goal.at[g].fields.at[i]);
      Id id = table_get(known, &d->name, sizeof d->name);
      if (!id) table_put(known, &d->name, sizeof d->name, d->id);
      if (!id || id == d->id) continue;
      Id e =
          diag_error(w->diags, d->span, "two fields are called `%s`, and arrays are given by name",
                     name_text(w->names, d->name));
      diag_note(w->diags, e, def_of(in, id)->span, "the other one");
      diag_help(w->diags, e, "rename one of them, with all its uses in its file");
      return false;
    }
  return true;
}

Diagram *diagram_named(Elab *in, Program *p, const char *name, const Instance *how) {
  Diags *diags = elab_world(in)->diags;
  uint32_t errors = diags->met;
  Diagram *d = says_which(in, p, name, how) ? elab_diagram(in, p, name, how) : NULL;
  if (d || diags->met > errors) return d;
  Id e = diag_error(diags, (Span){0},
                    "there is no box, learner, goal or measure `%s` in this program", name);
  diag_suggest(diags, e, elab_names(in, p, name));
  return NULL;
}

// A weight has the same shape in every use.
static void settle_weight(World *w, const Type *alone, const Type *used) {
  int64_t n;
  for (uint32_t k = 0; alone->rank == used->rank && k < alone->rank; k++)
    if (size_value(w, used->axis[k].size, &n) && !size_value(w, alone->axis[k].size, &n))
      size_equate(w, alone->axis[k].size, used->axis[k].size, false);
}

static void settle_weights(World *w, const Diagram *d, const Diagram *use) {
  for (uint32_t i = 0; i < d->param.n; i++)
    for (uint32_t k = 0; use && k < use->param.n; k++)
      if (strcmp(d->param.at[i].path, use->param.at[k].path) == 0)
        settle_weight(w, &d->wire.at[d->param.at[i].wire].type,
                      &use->wire.at[use->param.at[k].wire].type);
}

Diagram *diagram_trained(Elab *in, Program *p, const char *name) {
  World *w = elab_world(in);
  Diagram *d = diagram_named(in, p, name, NULL);
  for (uint32_t i = 0; d && i < p->goal.n; i++) settle_weights(w, d, p->goal.at[i].diagram);
  for (uint32_t i = 0; d && i < p->measure.n; i++) settle_weights(w, d, p->measure.at[i].diagram);
  if (d) diagram_resolve(w, d);
  return d;
}

Diagram *goal_for_inference(Elab *in, Program *p, const Goal *goal) {
  Goal plain = *goal;
  Measure used;
  plain.weight = plain.sign = 1;
  if (!elab_outside(in, p, &plain, &used)) return NULL;
  settle_weights(elab_world(in), used.diagram, goal->diagram);
  diagram_resolve(elab_world(in), used.diagram);
  return used.diagram;
}

bool is_stateful_machine(Elab *in, Program *p, const char *name) {
  World *w = elab_world(in);
  const Def *def = name ? scope_find(p->scope, name_from(w->names, name)) : NULL;
  if (!def || def->kind != DEF_MACHINE) return false;
  const Diagram *d = elab_diagram(in, p, name, NULL);
  for (uint32_t i = 0; d && i < d->param.n; i++)
    if (d->param.at[i].next) return true;
  return false;
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

// The first step of the program's first `train`.
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
