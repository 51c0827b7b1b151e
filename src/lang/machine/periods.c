// Periods of parts: `pid : Pid every 0.05`.
//
// A period counts ticks of the enclosing wiring; in continuous time these are one unit apart, so it
// is a time. A part with a period counts its own ticks, so nested periods multiply. Only discrete
// parts have periods, and nothing ticks between two ticks of what encloses it.
#include "base/diag.h"
#include "base/names.h"
#include "lang/machine/machine_own.h"

#include <math.h>

static bool is_whole(double x) { return x >= 1 && x == floor(x); }

static const char *with_dots(World *w, const char *path) {
  char *text = arena_text(w->arena, path, strlen(path));
  for (char *c = text; *c; c++)
    if (*c == '/') *c = '.';
  return text;
}

void read_period(MachineBuilder *m, const Syntax *part, Part *out) {
  const Syntax *every = part_every(part);
  out->every = 1;
  out->sampled = every;
  if (!every) return;
  bool known = static_number(m->b, m->env, every, &out->every);
  if (known && out->every > 0 && isfinite(out->every)) return;
  if (uses_broken(m->env, every))
    m->broken = true; // reported already
  else
    diag_error(m->w->diags, every->span, "`every` wants a number above 0");
  out->every = 1;
  out->sampled = false;
}

// In continuous time, conditional changes are events, not ticks.
static bool has_ticks(const System *s) {
  for (uint32_t i = 0; i < s->state.n; i++)
    if (s->state.at[i].next && !event_setting(s, i, true)) return true;
  return false;
}

bool period_fits(MachineBuilder *m, const Part *part) {
  World *w = m->w;
  const char *name = name_text(w->names, part->name);
  if (!part->sampled) return true;
  if (part->of->flows && !has_ticks(part->of)) {
    Id e = diag_error(w->diags, part->span, "`%s` flows, and `every` is for what ticks", name);
    return diag_help(w->diags, e, "what ticks in it can have an `every` of its own");
  }
  if (!part->of->state.n)
    return diag_refuse(w->diags, part->span, "`%s` has no state, and `every` is for what ticks",
                       name);
  for (uint32_t i = 0; i < part->of->state.n; i++) {
    const SystemState *x = &part->of->state.at[i];
    if (is_whole(x->every)) continue;
    Id e = diag_error(w->diags, part->span,
                      "what is in `%s` counts its ticks, and `%s` would step every %g of them",
                      name, with_dots(w, x->path), x->every);
    return diag_help(w->diags, e,
                     "inside of a part with a period, `every` is a whole number of its ticks");
  }
  return true;
}

static bool sleeps_and_dies(const SystemState *x) { return x->every != 1 && x->reborn; }

bool check_ticks(Elab *in, const System *s, Span span) {
  for (uint32_t i = 0; !s->flows && i < s->state.n; i++)
    if (sleeps_and_dies(&s->state.at[i]))
      return diag_refuse(in->w->diags, span,
                         "`%s` goes by ticks, and `%s` would be born between two ticks of its own: "
                         "`every` and `while` do not go together there",
                         name_text(in->w->names, s->name), with_dots(in->w, s->state.at[i].path));
  for (uint32_t i = 0; !s->flows && i < s->state.n; i++)
    if (!is_whole(s->state.at[i].every)) {
      Id e =
          diag_error(in->w->diags, span, "`%s` goes by ticks, and `%s` would step every %g of them",
                     name_text(in->w->names, s->name), with_dots(in->w, s->state.at[i].path),
                     s->state.at[i].every);
      return diag_help(in->w->diags, e,
                       "`every` is a time where something flows, else a number of ticks");
    }
  return true;
}
