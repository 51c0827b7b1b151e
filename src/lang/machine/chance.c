// Noise in machines: the box `white`, and checks of where noise may be used.
//
// Random numbers are drawn at ticks and events. In continuous time `normal` and `uniform` may
// therefore influence only next values and what events set. Rates use white noise instead, whose
// integral is a Brownian path. Only rates may read it, and they must be affine in it, since white
// noise has no square; the simulator gives it a value for the length of a step.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/ops.h"
#include "core/pass/pass.h"
#include "core/pass/pipeline.h"
#include "core/pass/rewrite.h"
#include "lang/machine/machine_own.h"

// -- white ----------------------------------------------------------------------------------------
Value white_value(const BuiltinUse *u) {
  Body *b = u->b;
  World *w = b->w;
  MachineBuilder *m = b->maker;
  Axis own[RANK_LIMIT], axis[2 * RANK_LIMIT];
  if (!m) {
    Id e = diag_error(w->diags, u->span, "`white` is noise in the rates of machines");
    diag_help(w->diags, e, "`normal[]` is a number that is drawn");
    return value_error(b, u->span);
  }
  uint32_t n = u->config ? axes_eval(b, u->env, u->config, false, own) : UINT32_MAX;
  if (n == UINT32_MAX || u->args.n) {
    if (!u->config || u->args.n)
      diag_error(w->diags, u->span, "white noise has a size and no arguments: `white[]`");
    return value_error(b, u->span);
  }
  uint32_t each = draw_axes(b, own, n, axis);
  if (!rank_fits(w, (uint64_t)each + n, u->span)) return value_error(b, u->span);
  memcpy(axis + each, own, n * sizeof(Axis));
  Type t = type_make(w, BASE_R, each + n, axis);
  const char *path = arena_format(w->arena, "white.%u", ++m->whites);
  Param p = {.path = path, .role = ROLE_CLOCK, .init = {.kind = INIT_CONST}};
  uint32_t k =
      diagram_param(w, b->d, p, full_type(m, &t), name_from(w->names, path), origin_at(b, u->span));
  sync_sites(b);
  vec_push(w->arena, &m->s->white, (SystemWhite){.param = k, .span = u->span});
  return value_one(b, val_wire(b, b->d->param.at[k].wire, u->span));
}

// -- checks ---------------------------------------------------------------------------------------
typedef struct {
  World *w;
  const System *s;
  Span *drawn, *white; // [wire] the draw it depends on; no file: none
  bool good;
} NoiseCheck;

bool draws_noise(const Box *b) {
  const Diagram *d = b->op == OP_scan ? b->scan->body : b->op == OP_call ? b->callee : NULL;
  for (Id i = 1; d && i < d->box.n; i++)
    if (draws_noise(&d->box.at[i])) return true;
  return b->op == OP_random;
}

static void find_noise(NoiseCheck *c) {
  const Diagram *d = c->s->d;
  c->drawn = NEW_ARRAY(c->w->arena, Span, d->wire.n);
  c->white = NEW_ARRAY(c->w->arena, Span, d->wire.n);
  for (uint32_t i = 0; i < c->s->white.n; i++)
    c->white[d->param.at[c->s->white.at[i].param].wire] = c->s->white.at[i].span;
  for (Id i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    bool fresh = draws_noise(b);
    for (uint32_t o = 0; o < b->nout; o++) {
      Span *drawn = &c->drawn[b->out[o]], *white = &c->white[b->out[o]];
      if (fresh) *drawn = origin_span(c->w, b->origin);
      for (uint32_t k = 0; k < b->nin; k++) {
        if (c->drawn[b->in[k]].file) *drawn = c->drawn[b->in[k]];
        if (c->white[b->in[k]].file) *white = c->white[b->in[k]];
      }
    }
  }
}

static void refuse_drawn(NoiseCheck *c, Id wire, const char *what, const char *help) {
  if (!c->good || !c->drawn[wire].file) return;
  Id e = diag_error(c->w->diags, c->drawn[wire],
                    "%s needs this where time flows, but it is drawn "
                    "only at ticks and events",
                    what);
  diag_help(c->w->diags, e, "%s", help);
  c->good = false;
}

static void refuse_white(NoiseCheck *c, Id wire, const char *what) {
  if (!c->good || !c->white[wire].file) return;
  Id e =
      diag_error(c->w->diags, c->white[wire], "white noise is for rates, but %s needs this", what);
  diag_help(c->w->diags, e, "it has no value at a moment; `normal[]` is drawn at ticks and events");
  c->good = false;
}

static void not_affine(NoiseCheck *c, Span white) {
  Id e = diag_error(c->w->diags, white,
                    "a rate is not affine in this white noise, which has no square, no sine and no "
                    "sign");
  diag_help(c->w->diags, e, "it may be multiplied by what has no noise, and added");
  c->good = false;
}

// A derivative of 0 at a jump, or a missing one, hides how the value depends on noise.
static bool hides_slope(const Scalar *s, uint32_t arg) {
  const char *slope = fn_rows[s->fn].d[arg];
  return !slope || !strcmp(slope, "0") || s->fn == FN_mod;
}

// The white noise whose derivative is hidden in a loop; no file: none.
static Span hidden_in(World *w, const Box *b, const Span *white) {
  const Loop *l = b->loop;
  Span *of = NEW_ARRAY(w->arena, Span, l->nscalar + 1);
  for (uint32_t i = 0; i < l->nscalar; i++) {
    const Scalar *s = &l->scalar[i];
    if (s->fn == FN_ARG) of[i] = white[b->in[s->ref]];
    for (uint32_t k = 0; s->fn > FN_SIZE && k < fn_rows[s->fn].arity; k++) {
      if (!of[s->arg[k]].file) continue;
      if (hides_slope(s, k)) return of[s->arg[k]];
      of[i] = of[s->arg[k]];
    }
  }
  return (Span){0};
}

static void check_slopes(NoiseCheck *c, const Diagram *f, uint32_t first) {
  Span *white = NEW_ARRAY(c->w->arena, Span, f->wire.n);
  for (uint32_t i = 0; i < c->s->white.n; i++) white[f->in.at[first + i]] = c->s->white.at[i].span;
  for (Id i = 1; i < f->box.n && c->good; i++) {
    const Box *b = &f->box.at[i];
    Span any = {0}, hidden = {0};
    for (uint32_t k = 0; k < b->nin; k++)
      if (white[b->in[k]].file) any = white[b->in[k]];
    if (!any.file) continue;
    if (b->op == OP_loop) hidden = hidden_in(c->w, b, white);
    for (uint32_t k = 0; k < b->nout; k++) {
      white[b->out[k]] = any;
      if (f->wire.at[b->out[k]].type.base != BASE_R)
        hidden = any; // labels and bits have no derivative
    }
    if (hidden.file) not_affine(c, hidden);
  }
}

// Checks that the tangent of the rates along the noise does not depend on it.
static void check_affine(NoiseCheck *c) {
  World *w = c->w;
  const System *s = c->s;
  Diagram *f = system_noisy_rates(w, s);
  uint32_t first = f->in.n - s->white.n, outs = f->out.n;
  check_slopes(c, passes_flat(w, f), first);
  bool *want = NEW_ARRAY(w->arena, bool, f->in.n + 1),
       *none = NEW_ARRAY(w->arena, bool, f->param.n + 1);
  for (uint32_t i = first; i < f->in.n; i++) want[i] = true;
  Diagram *g = diagram_forward(w, f, &(Wanted){.want_in = want, .want_param = none});
  for (uint32_t i = 0; i < outs; i++) g->out.at[i] = g->out.at[g->out.n - outs + i];
  g->out.n = outs;
  g = passes_flat(w, g);
  for (uint32_t i = 0; i < s->white.n && c->good; i++) {
    bool *needs = NEW_ARRAY(w->arena, bool, g->wire.n);
    needs[g->in.at[first + i]] = true;
    mark_dependent(g, needs);
    for (uint32_t o = 0; o < outs && c->good; o++)
      if (needs[g->out.at[o]]) not_affine(c, s->white.at[i].span);
  }
}

static void check_flow(NoiseCheck *c) {
  const System *s = c->s;
  for (uint32_t i = 0; i < s->state.n; i++)
    if (s->state.at[i].rate)
      refuse_drawn(c, s->state.at[i].rate,
                   arena_format(c->w->arena, "the rate of `%s`", s->state.at[i].path),
                   "`white[]` is noise for rates");
  for (uint32_t i = 0; i < s->event.n; i++) {
    refuse_drawn(c, s->event.at[i].guard, "a condition",
                 "a state can hold it: `next n = normal[]`");
    refuse_white(c, s->event.at[i].guard, "a condition");
    for (uint32_t k = 0; k < s->event.at[i].value.n; k++)
      refuse_white(c, s->event.at[i].value.at[k], "an event");
  }
  for (uint32_t i = 0; i < s->lag.n; i++) {
    refuse_drawn(c, s->lag.at[i].value, "a delay", "a state can hold it: `next n = normal[]`");
    refuse_white(c, s->lag.at[i].value, "a delay");
  }
}

static void check_shown(NoiseCheck *c, Id wire, const char *name) {
  const char *what = arena_format(c->w->arena, "port `%s`", name);
  refuse_drawn(c, wire, what, "a state can hold it: `next n = normal[]`");
  refuse_white(c, wire, what);
}

bool noise_has_value(World *w, const System *s, Id wire, const char *name) {
  NoiseCheck c = {.w = w, .s = s, .good = true};
  if (!s->white.n && !s->d->noisy) return true;
  find_noise(&c);
  check_shown(&c, wire, name);
  return c.good;
}

bool noise_has_place(World *w, const System *s, bool alone) {
  NoiseCheck c = {.w = w, .s = s, .good = true};
  bool flows = s->flows || (s->timeless && alone);
  if (!s->white.n && !s->d->noisy) return true;
  find_noise(&c);
  for (uint32_t i = 0; i < s->state.n; i++)
    if (s->state.at[i].next)
      refuse_white(&c, s->state.at[i].next,
                   arena_format(w->arena, "`next %s`", s->state.at[i].path));
  if (flows) check_flow(&c);
  for (uint32_t i = 0; !alone && (s->flows || s->white.n) && i < s->out.n; i++)
    check_shown(&c, s->d->out.at[i], name_text(w->names, s->out.at[i].name));
  if (c.good && s->flows && s->white.n) check_affine(&c);
  return c.good;
}
