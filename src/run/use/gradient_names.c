// Names of gradients: an input without a name is in.1, in.2 …
#include "base/names.h"
#include "run/use/use_own.h"

GradientNames gradient_names(World *w, Arena *a, const Diagram *d) {
  GradientNames out = {0};
  for (uint32_t i = 0; i < d->in.n; i++) {
    const Wire *wire = &d->wire.at[d->in.at[i]];
    const char *name = name_text(w->names, wire->name);
    if (wire->type.base == BASE_LABEL) continue;
    vec_push(a, &out, *name ? name : arena_format(a, "in.%u", i + 1));
  }
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].role == ROLE_WEIGHT) vec_push(a, &out, d->param.at[i].path);
  return out;
}
