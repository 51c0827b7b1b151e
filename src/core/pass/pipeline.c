// The pass pipelines: each function applies its passes in order.
#include "core/pass/pipeline.h"

#include "core/pass/rewrite.h"

Diagram *passes_flat(World *w, const Diagram *from) {
  Diagram *d = diagram_inline_all(w, from);
  d = diagram_simplify(w, d);
  d = diagram_fuse(w, d);
  return d;
}

// Common subexpressions of several losses become one wire before differentiation, so that their
// reverse pass runs once.
Diagram *passes_shared(World *w, const Diagram *from) {
  Diagram *d = diagram_inline(w, from);
  d = diagram_simplify(w, d);
  d = diagram_fuse(w, d);
  d = diagram_hoist_scans(w, d);
  d = diagram_contract(w, d);
  return d;
}

Diagram *passes_step(World *w, const Diagram *from) {
  Diagram *d = diagram_inline_all(w, from);
  d = diagram_simplify(w, d);
  d = diagram_fuse(w, d);
  d = diagram_hoist_scans(w, d);
  d = diagram_simplify(w, d);
  d = diagram_contract(w, d);
  d = diagram_hoist_loops(w, d);
  d = diagram_simplify(w, d);
  return d;
}

// A training step has no calls left.
const Diagram *passes_engine(World *w, const Diagram *from) {
  if (!has_calls(from)) return from;
  Diagram *d = inline_calls(w, from, false);
  d = diagram_simplify(w, d);
  d = diagram_fuse(w, d);
  return d;
}

Diagram *passes_view(World *w, const Diagram *from) {
  Diagram *d = diagram_inline(w, from);
  d = diagram_simplify(w, d);
  d = diagram_fuse(w, d);
  return d;
}

Diagram *passes_reverse(World *w, const Diagram *from) {
  Diagram *d = diagram_reverse(w, from, &(Wanted){0});
  d = diagram_simplify(w, d);
  return d;
}

Diagram *passes_forward(World *w, const Diagram *from) {
  Diagram *d = diagram_forward(w, from, &(Wanted){0});
  d = diagram_simplify(w, d);
  return d;
}

Diagram *passes_gradient(World *w, const Diagram *from, const bool *const *mask) {
  Diagram *d = diagram_gradient(w, from, mask);
  d = diagram_simplify(w, d);
  return d;
}

// -- by name --------------------------------------------------------------------------------------
const After after_table[AFTERS] = {
    {"check", AFTER_PASSES, NULL},
    {"inline", AFTER_PASSES, diagram_inline},
    {"simplify", AFTER_PASSES, passes_view},
    {"reverse", AFTER_PASSES, passes_reverse},
    {"forward", AFTER_PASSES, passes_forward},
    {"gradient", AFTER_GRADIENT, NULL},
    {"step", AFTER_STEP, NULL},
};

const After *after_named(const char *name) {
  for (uint32_t i = 0; i < AFTERS; i++)
    if (strcmp(after_table[i].name, name) == 0) return &after_table[i];
  return NULL;
}
