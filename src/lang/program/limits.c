// Refuses watches that a system cannot answer, and runs that would record too much.
#include "base/diag.h"
#include "base/names.h"
#include "lang/program/claim_own.h"

#include <math.h>

// The first state that changes at ticks, or NULL. In continuous time, conditional changes are events.
static const SystemState *first_stepping(const System *s) {
  for (uint32_t i = 0; i < s->state.n; i++)
    if (s->state.at[i].next && !(s->flows && event_setting(s, i, true))) return &s->state.at[i];
  return NULL;
}

// -- points ---------------------------------------------------------------------------------------
static bool point_names(const Watch *x, SightKind kind, uint32_t at) {
  for (uint32_t i = 0; i < x->point.n; i++)
    if (x->point.at[i].kind == kind && x->point.at[i].at == at) return true;
  return false;
}

// Unnamed inputs of a point have their values at the start of the run; a table has no single value.
static void check_point_given(Elab *in, const Run *run, const System *s, const Watch *x) {
  World *w = in->w;
  for (uint32_t i = 0; i < s->in.n; i++) {
    if (point_names(x, SEES_IN, i) || (run && run_start(run, SEES_IN, i))) continue;
    const char *port = name_text(w->names, s->in.at[i].name);
    Id e = diag_error(w->diags, x->node->span, "a point of `%s` wants a value for its input `%s`",
                      name_text(w->names, s->name), port);
    diag_help(w->diags, e, "`%s: 1` beside the states says it%s", port,
              run ? "" : ", and so does a run before it");
    return;
  }
}

static void check_point(Elab *in, const System *s, const Watch *x) {
  Diags *d = in->w->diags;
  const char *name = name_text(in->w->names, s->name);
  const SystemState *steps = first_stepping(s);
  Span span = x->node->span;
  if (x->kind == WATCH_DIVERGENCE && !s->flows)
    diag_error(d, span, "`divergence` is of rates, and `%s` goes by ticks", name);
  else if (s->flows && steps)
    diag_error(d, span, "a point of `%s` has no one speed: there are rates, and `%s` goes by ticks",
               name, steps->path);
  else if (!s->flows && s->d->noisy)
    diag_error(d, span, "`%s` has noise in it: no point of it stays where it is", name);
}

// -- exponents ------------------------------------------------------------------------------------
static const SystemState *first_without_change(const System *s) {
  for (uint32_t i = 0; i < s->state.n; i++) {
    const SystemState *x = &s->state.at[i];
    if (!x->next) continue;
    if (s->d->wire.at[s->d->param.at[x->param].wire].type.base != BASE_R || x->every != 1) return x;
  }
  return NULL;
}

// Perturbations exist only for real states, without sleeping parts.
static void check_exponent(Elab *in, const Run *run, const System *s, Span span) {
  Diags *d = in->w->diags;
  const SystemState *other = s->flows ? NULL : first_without_change(s);
  if (other)
    diag_error(d, span,
               "`exponent` is for states of numbers that step at each tick, and `%s` is another",
               other->path);
  else if (run->path || run->set || s->d->noisy || s->white.n || (!s->flows && s->lag.n))
    diag_error(d, span, "`exponent` is for machines without noise, delays and tables");
  else if (s->flows && (s->event.n || s->lag.n || first_stepping(s)))
    diag_error(d, span, "`exponent` is for systems without events, ticks and delays");
  else if (run->end == 0)
    diag_error(d, span, "`exponent` says how fast changes grow in time, and this run is `to 0`");
}

// With algebraic equations, perturbations of the states are not independent.
static void check_constrained_watch(Elab *in, const System *s, const Watch *x) {
  if ((x->kind != WATCH_DIVERGENCE && x->kind != WATCH_EXPONENT) || !first_constrained(s)) return;
  diag_error(in->w->diags, x->node->span,
             "`%s` has equations `0 = …`: `divergence` and `exponent` are for rates alone",
             name_text(in->w->names, s->name));
}

void check_watch(Elab *in, const Run *run, const System *s, const Watch *x) {
  check_constrained_watch(in, s, x);
  if (x->kind == WATCH_FIXED || x->kind == WATCH_DIVERGENCE) {
    check_point(in, s, x);
    check_point_given(in, run, s, x);
  }
  if (x->kind == WATCH_EXPONENT && run && !call_args(x->node).n)
    check_exponent(in, run, s, x->node->span);
}

// -- sizes of runs --------------------------------------------------------------------------------
static const double most_moments = 1e7, most_steps = 1e12;

static void check_steps(Elab *in, const Run *r, Span span) {
  bool ticks = !r->system->flows;
  double steps = ticks ? r->end : r->step > 0 ? r->end / r->step : 0;
  const Syntax *by = clause(r->node, N_BY);
  if (!(steps > most_steps) || !(ticks || by)) return;
  diag_error(in->w->diags, ticks ? span : by->span,
             "this run makes %.3g %s, and at most %g are made", steps, ticks ? "ticks" : "steps",
             most_steps);
}

void check_run_size(Elab *in, const Run *r, Span span) {
  Diags *d = in->w->diags;
  double moments = r->every > 0 ? r->end / r->every : 0, lag = INFINITY;
  for (uint32_t i = 0; i < r->system->lag.n; i++) lag = fmin(lag, r->system->lag.at[i].time);
  const Syntax *every = clause(r->node, N_EVERY);
  check_steps(in, r, span);
  if (moments > most_moments && every) {
    Id e = diag_error(d, every->span, "this run keeps %.3g moments, and at most %g are kept",
                      floor(moments) + 1, most_moments);
    diag_help(d, e, "`every %g` keeps 1000", r->end / 1000);
  }
  if (r->end / lag > most_moments)
    diag_error(d, span,
               "a delay of %g makes at least %.3g steps of a run to %g, and at most %g are made",
               lag, ceil(r->end / lag), r->end, most_moments);
}
