// Warns about states that never change, usually because a line is missing; not about those whose
// initial value a run sets, which are parameters.
#include "base/diag.h"
#include "base/table.h"
#include "lang/program/claim_own.h"

static bool state_moves(const System *s, uint32_t state) {
  const SystemState *x = &s->state.at[state];
  const char *cut = strrchr(x->path, '/');
  if (x->rate || x->next || x->inner || !strcmp(cut ? cut + 1 : x->path, "mode")) return true;
  return event_setting(s, state, false);
}

static bool is_started(const Run *r, uint32_t state) {
  return state < r->shared || run_start(r, SEES_STATE, state);
}

static Span declared_at(const World *w, const System *s, uint32_t state) {
  const Diagram *d = s->d;
  return origin_span(w, d->wire.at[d->param.at[s->state.at[state].param].wire].origin);
}

typedef struct {
  World *w;
  Table *known; // reported positions
} Stills;

// True if the position was seen before.
static bool is_known(Stills *t, Span span) {
  uint32_t key[2] = {span.file, span.at};
  if (table_get(t->known, key, sizeof key)) return true;
  table_put(t->known, key, sizeof key, 1);
  return false;
}

static void warn_still(Stills *t, const System *s, uint32_t state, Span span) {
  const char *path = s->state.at[state].path, *cut = strrchr(path, '/'),
             *name = cut ? cut + 1 : path;
  Id e = diag_warning(t->w->diags, span, "the state `%s` never changes, and no run sets it", name);
  diag_help(t->w->diags, e,
            "is a line missing, `%s' = …` or `next %s = …`? What stays as it is may be a `const`",
            name, name);
}

void note_still(Elab *in, const Program *p) {
  Stills t = {.w = in->w, .known = table_new(in->w->arena)};
  const Machines *ran = p->ran;
  for (int told = 0; told < 2; told++)
    for (uint32_t i = 0; i < ran->run.n; i++) {
      const Run *r = &ran->run.at[i];
      for (uint32_t k = 0; r->system && k < r->system->state.n; k++) {
        if (told ? state_moves(r->system, k) : !state_moves(r->system, k) && !is_started(r, k))
          continue;
        Span span = declared_at(in->w, r->system, k);
        if (span.file && !is_known(&t, span) && told) warn_still(&t, r->system, k, span);
      }
    }
}
