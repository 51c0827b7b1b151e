// `time` is the clock, in machines and in runs and checks of them; nothing else may have this name.
#include "base/diag.h"
#include "base/names.h"
#include "lang/machine/units.h"

// -- the clock ------------------------------------------------------------------------------------
typedef struct {
  const World *w;
  Span span;
} TimeNamed;

static bool names_time(void *named, const Syntax *n) {
  TimeNamed *t = named;
  bool names = n->kind == N_PARAM || n->kind == N_LHS || n->kind == N_TYPED ||
               n->kind == N_CFGPAR || n->kind == N_FOR || n->kind == N_MODE;
  if (!names || !n->name || strcmp(name_text(t->w->names, n->name), "time")) return false;
  t->span = n->name_span;
  return true;
}

bool time_is_free(World *w, const Syntax *n) {
  TimeNamed t = {.w = w};
  return !syntax_any(n, names_time, &t) ||
         diag_refuse(w->diags, t.span, "`time` is the clock: another name is wanted here");
}
