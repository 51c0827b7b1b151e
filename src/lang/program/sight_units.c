// The declared units of observable values.
#include "base/names.h"
#include "lang/machine/units.h"
#include "lang/program/claim_own.h"

static const System *inner_called(const World *w, const System *s, const char *name, size_t n) {
  for (uint32_t i = 0; i < s->inner.n; i++) {
    const SystemInner *x = &s->inner.at[i];
    const char *text = x->name ? name_text(w->names, x->name) : "";
    if (x->name && strlen(text) == n && !memcmp(text, name, n)) return x->of;
  }
  return NULL;
}

// Of the system itself, or of the one it was made of.
static const char *unit_of_name(World *w, const System *s, const char *name, size_t n) {
  size_t step = strcspn(name, ".[");
  const char *rest = name + step + (name[step] == '[' ? strcspn(name + step, "]") + 1 : 0);
  const System *part = n > (size_t)(rest - name) ? inner_called(w, s, name, step) : NULL;
  if (part && *rest == '.') return unit_of_name(w, part, rest + 1, n - (size_t)(rest + 1 - name));
  bool whole = rest == name + n && s->def && s->def->node && s->def->node->kind == N_MACHINE;
  const char *own = arena_text(w->arena, name, step);
  const char *unit = whole ? unit_declared(w, s->def->node, name_from(w->names, own)) : NULL;
  for (uint32_t i = 0; !unit && i < s->inner.n; i++)
    if (!s->inner.at[i].name) unit = unit_of_name(w, s->inner.at[i].of, name, n);
  return unit;
}

const char *sight_unit(World *w, const System *s, const char *name) {
  return unit_of_name(w, s, name, strlen(name));
}
