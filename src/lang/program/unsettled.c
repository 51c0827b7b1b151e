// Reports undetermined sizes. Whatever runs (goals, measures, shows) must have numeric sizes; only
// the number of samples is open, and sizes found in a file that does not exist yet. Boxes and
// learners that nothing runs may be polymorphic.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/print.h"
#include "core/diagram/subst.h"
#include "lang/program/program_own.h"

static void unsettled_note(World *w, Id e, Id var) {
  diag_note(w->diags, e, size_var_span(w, var), "%s must be given, or follow from something",
            name_text(w->names, size_var_name(w, var)));
}

// Reports a weight whose size depends on an unknown.
static bool unsettled_weight(World *w, const Diagram *d, const Ids *known, Span span) {
  for (uint32_t i = 0; i < d->param.n; i++) {
    const Type *t = &d->wire.at[d->param.at[i].wire].type;
    for (uint32_t k = 0; k < t->rank; k++) {
      Ids vars = {0};
      size_vars(w, t->axis[k].size, &vars);
      for (uint32_t v = 0; v < vars.n; v++) {
        if (names_have(known, vars.at[v])) continue;
        Id e = diag_error(w->diags, span, "nothing settles size %s of weight %s",
                          size_text(w, t->axis[k].size), d->param.at[i].path);
        unsettled_note(w, e, vars.at[v]);
        return true; // others follow from it
      }
    }
  }
  return false;
}

// -- what runs ------------------------------------------------------------------------------------
typedef struct {
  const Diagram *diagram;
  Span span;
  const char *what;
} Asked;
typedef VEC(Asked) AskedFor;

static void asked_add(World *w, AskedFor *all, const Diagram *d, const Syntax *n, const char *kind,
                      Name name) {
  if (!d) return; // it has errors, or is made later
  const char *what = name ? arena_format(w->arena, "%s %s", kind, name_text(w->names, name)) : kind;
  vec_push(w->arena, all, (Asked){d, n->name ? n->name_span : n->span, what});
}

static AskedFor asked_for(World *w, const Program *p) {
  AskedFor all = {0};
  for (uint32_t i = 0; i < p->goal.n; i++) {
    const Goal *g = &p->goal.at[i];
    asked_add(w, &all, g->diagram, g->node, "goal", g->name);
  }
  for (uint32_t i = 0; i < p->measure.n; i++) {
    const Measure *m = &p->measure.at[i];
    asked_add(w, &all, m->diagram, m->node, "measure", m->name);
  }
  for (uint32_t i = 0; i < p->show.n; i++)
    asked_add(w, &all, p->show.at[i].diagram, p->show.at[i].node, "this `show`", 0);
  return all;
}

// Dimensions of open spaces; `train` reports these.
static void open_spaces(Elab *in, Ids *known) {
  for (Id i = 1; i < in->def.n; i++)
    if (in->def.at[i]->kind == DEF_SPACE && in->def.at[i]->size)
      size_vars(in->w, in->def.at[i]->size, known);
}

// Sizes that are open until the program runs: the number of samples, and those in absent files.
static Ids sizes_found_later(Elab *in, const Program *p) {
  World *w = in->w;
  Ids known = {0};
  open_spaces(in, &known);
  size_vars(w, in->sample, &known);
  for (uint32_t i = 0; i < p->given.n; i++) {
    const Given *g = &p->given.at[i];
    for (uint32_t k = 0; g->absent && k < g->type.n; k++) type_vars(w, &g->type.at[k], &known);
  }
  return known;
}

static bool is_unsettled(World *w, const Asked *a, const Ids *known) {
  if (unsettled_weight(w, a->diagram, known, a->span)) return true;
  Ids vars = diagrams_sizes(w, 1, &a->diagram);
  for (uint32_t i = 0; i < vars.n; i++) {
    if (names_have(known, vars.at[i])) continue;
    Id e = diag_error(w->diags, a->span, "nothing settles size %s, which %s needs",
                      name_text(w->names, size_var_name(w, vars.at[i])), a->what);
    unsettled_note(w, e, vars.at[i]);
    return true;
  }
  return false;
}

// Tests all diagrams at once; only if that fails are they searched one by one.
static bool all_settled(World *w, const AskedFor *all, const Ids *known) {
  const Diagram **root = NEW_ARRAY(w->arena, const Diagram *, all->n + 1);
  for (uint32_t i = 0; i < all->n; i++) root[i] = all->at[i].diagram;
  Ids vars = diagrams_sizes(w, all->n, root);
  for (uint32_t i = 0; i < vars.n; i++)
    if (!names_have(known, vars.at[i])) return false;
  return true;
}

void unsolved_sizes(Elab *in, const Program *p) {
  World *w = in->w;
  AskedFor all = asked_for(w, p);
  Ids known = sizes_found_later(in, p);
  bool settled = all_settled(w, &all, &known);
  for (uint32_t i = 0; i < all.n && !settled; i++)
    if (is_unsettled(w, &all.at[i], &known)) return;
  Ids own = {0};
  open_spaces(in, &own);
  for (uint32_t i = 0, open = own.n; i < p->learner.n; i++) {
    const Def *d = p->learner.at[i];
    if (!d->made) continue;
    own.n = open; // and the sizes of its own inputs
    for (uint32_t k = 0; k < d->made->in.n; k++)
      type_vars(w, &d->made->wire.at[d->made->in.at[k]].type, &own);
    if (unsettled_weight(w, d->made, &own, d->span)) return;
  }
}
