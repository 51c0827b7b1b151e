// Inputs and initial values of a run, `run A(u: 2, x: 1, lamp: red)`. Each is given once.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/interpret.h"
#include "core/pass/pipeline.h"
#include "lang/program/claim_own.h"

#include <math.h>

// A label by name, resolved by the expected type.
static Value label_value(Body *b, const Syntax *n, const Type *own) {
  World *w = b->w;
  const char *name = path_text(b->in, n);
  int label = label_named(w, own, name_from(w->names, name));
  if (label >= 0) return value_one(b, val_fill(b, val_literal(b, label, n->span), *own));
  return value_refuse(b, n->span, n->span, "`%s` is not a label of %s", name, own_text(w, own));
}

static Diagram *value_alone(Elab *in, Program *p, const Syntax *n, const Type *want, bool timed) {
  World *w = in->w;
  Body *b = body_new(in, name_from(w->names, "start"));
  b->timed = timed;
  b->env = env_new(in, NULL, p->scope, b);
  Type own = without_pass(w, *want);
  bool label = own.base == BASE_LABEL && own.names && path_text(in, n);
  Value v = label               ? label_value(b, n, &own)
            : n->kind == N_LIST ? list_value(b, b->env, n, NULL, false, &own, n->span)
                                : eval_equation(b, b->env, NULL, n, NULL, &own, n->span);
  Val one = value_single(b, v, n->span);
  if (one.error) return NULL;
  one = val_fill(b, one, own);
  val_settle(b, &one);
  bool fits = one.type.rank == own.rank && one.type.base == own.base;
  if (one.type.base == own.base && !one.type.rank && own.rank) { // broadcast
    Axis axis[RANK_LIMIT];
    for (uint32_t i = 0; i < own.rank; i++) axis[i] = own.axis[i], axis[i].pass = i + 1;
    one = broadcast_to(b, one, axis, own.rank, n->span);
    fits = true;
  }
  if (fits && own.base == BASE_LABEL)
    fits = sizes_agree(b, own.count, one.type.count, n->span, n->span, "a start");
  for (uint32_t i = 0; fits && i < own.rank; i++)
    fits = sizes_agree(b, own.axis[i].size, one.type.axis[i].size, n->span, n->span, "a start");
  if (!fits) {
    diag_error(w->diags, n->span, "this is %s, but %s is wanted", own_text(w, &one.type),
               own_text(w, &own));
    return NULL;
  }
  diagram_output(w, b->d, val_to_wire(b, &one, 0));
  body_finish(b);
  diagram_resolve(w, b->d);
  return passes_flat(w, b->d);
}

static bool can_be_given(const Sight *x) { return x->kind == SEES_IN || x->kind == SEES_STATE; }

bool report_no_sight(const Looker *l, Name name, Span span) {
  World *w = l->in->w;
  Nearest near = nearest_to(name_text(w->names, name));
  bool made = false;
  for (uint32_t i = 0; i < l->sights.n; i++) {
    made |= l->sights.at[i].name == name;
    if (can_be_given(&l->sights.at[i]))
      nearest_try(&near, name_text(w->names, l->sights.at[i].name));
  }
  Id e = diag_error(w->diags, span,
                    made ? "`%s` is what says `%s`, so nothing else can"
                         : "`%s` has no port or state `%s`",
                    name_text(w->names, l->s->name), near.text);
  if (!made && diag_suggest(w->diags, e, near.best)) return false;
  enum { NAMES_TOLD = 8 };
  Buf names = buf_new(w->arena);
  for (uint32_t i = 0, n = 0; i < l->sights.n && n < NAMES_TOLD; i++) {
    const Sight *x = &l->sights.at[i];
    if (!can_be_given(x)) continue;
    buf_printf(&names, "%s`%s`", n++ ? ", " : "", name_text(w->names, x->name));
  }
  if (names.n) diag_help(w->diags, e, "what a run can give is %s", names.at);
  return false;
}

bool read_start(const Looker *l, const Syntax *arg, uint32_t number, RunStart *out) {
  World *w = l->in->w;
  Name name = arg->kind == N_ARG ? arg->name : 0;
  const Syntax *value = arg_given(arg);
  int found = -1;
  for (uint32_t i = 0; i < l->sights.n; i++) {
    const Sight *x = &l->sights.at[i];
    bool here = name ? x->name == name && can_be_given(x) : x->kind == SEES_IN && x->at == number;
    if (here && found < 0) found = (int)i;
  }
  if (found < 0 && name) return report_no_sight(l, name, arg->name_span);
  if (found < 0) {
    Id e = diag_error(w->diags, arg->span, "this has no name, and there is no input left for it");
    return diag_help(w->diags, e, "say which port or state it is for: `x: 1`");
  }
  const Sight *x = &l->sights.at[found];
  bool timed = l->runs && x->kind == SEES_IN;
  *out = (RunStart){x->name, x->kind, x->at, value_alone(l->in, l->p, value, &x->type, timed)};
  return out->value != NULL;
}

const RunStart *run_start(const Run *r, SightKind kind, uint32_t at) {
  for (uint32_t i = 0; i < r->start.n; i++)
    if (r->start.at[i].kind == kind && r->start.at[i].at == at) return &r->start.at[i];
  return NULL;
}

// Reports an argument for a port that the source of the run provides.
static bool comes_from_source(const Looker *l, const Run *r, const Syntax *arg) {
  World *w = l->in->w;
  const Syntax *on = clause(r->node, N_ON);
  if (!on || arg->kind != N_ARG || r->own == r->system) return false;
  if (port_named(r->own->in.at, r->own->in.n, arg->name) < 0 ||
      port_named(r->system->in.at, r->system->in.n, arg->name) >= 0)
    return false;
  Id e = diag_error(w->diags, arg->span, "`%s` is given here, and what the run is on shows it too",
                    name_text(w->names, arg->name));
  diag_note(w->diags, e, on_source(on)->span, "this shows it");
  return true;
}

void read_starts(const Looker *l, const Syntax *call, Run *r) {
  uint32_t plain = 0;
  for (uint32_t i = 0; i < call_args(call).n; i++) {
    RunStart s;
    const Syntax *arg = call_args(call).at[i];
    if (arg->kind == N_STEPPED || comes_from_source(l, r, arg)) continue;
    if (!read_start(l, arg, arg->kind == N_ARG ? 0 : plain++, &s)) continue;
    if (run_start(r, s.kind, s.at))
      diag_error(l->in->w->diags, arg->span, "`%s` is given twice",
                 name_text(l->in->w->names, s.name));
    vec_push(l->in->w->arena, &r->start, s);
  }
  read_place_starts(l, call_args(call), r);
}

// Every input has a value, or a table that may have its column.
void check_given(Elab *in, const Run *r) {
  World *w = in->w;
  const System *s = r->system;
  for (uint32_t i = 0; !r->path && !r->set && i < s->in.n; i++) {
    if (run_start(r, SEES_IN, i)) continue;
    const char *port = name_text(w->names, s->in.at[i].name), *name = name_text(w->names, s->name);
    Id e = diag_error(w->diags, r->span, "port `%s` of `%s` has no source", port, name);
    diag_help(w->diags, e, "give it a value, `run %s(%s: 1)`, or a machine, `on World`", name,
              port);
    return;
  }
}

// Shared variables need an initial value.
void check_shared(Elab *in, const Run *r) {
  World *w = in->w;
  for (uint32_t i = 0; i < r->shared; i++) {
    if (run_start(r, SEES_STATE, i)) continue;
    const char *path = r->system->state.at[i].path, *name = name_text(w->names, r->system->name);
    Id e = diag_error(w->diags, r->span, "nothing says where `%s` starts, which `%s` shares", path,
                      name);
    diag_help(w->diags, e, "`run %s(%s: 0)` says it", name, path);
    return;
  }
}

// -- starts that are not finite -------------------------------------------------------------------
enum { START_LIMIT = 1 << 16 }; // larger starts are left to the run

// The start of a state, given by the run or as declared. False: it is drawn, is made of weights, is too large,
// or has a size that is not known.
static bool start_value(Elab *in, Arena *a, const Run *r, uint32_t state, Tensor *out) {
  World *w = in->w;
  const System *s = r->system;
  const Param *p = &s->d->param.at[s->state.at[state].param];
  const RunStart *given = run_start(r, SEES_STATE, state);
  const Type *t = &s->d->wire.at[p->wire].type;
  const Diagram *d = given ? given->value : p->init.kind == INIT_DIAGRAM ? p->init.diagram : NULL;
  int64_t count;
  if (!type_count(w, t, &count) || count > START_LIMIT || (d && (d->noisy || d->param.n)))
    return false;
  if (!given) return init_eval(w, a, &p->init, t, 0, 0, out);
  Eval e = {.arena = a, .out = out};
  return diagram_eval(w, d, &e);
}

static const char *start_name(World *w, const char *path, const Tensor *x, int64_t cell) {
  Buf b = buf_new(w->arena);
  for (const char *c = path; *c; c++) buf_char(&b, *c == '/' ? '.' : *c);
  buf_indices(&b, x->rank, x->shape, cell);
  return b.at;
}

// Reports a start that the run would refuse.
void check_starts_finite(Elab *in, const Run *r) {
  World *w = in->w;
  const System *s = r->system;
  for (uint32_t i = 0; i < s->state.n; i++) {
    const Param *p = &s->d->param.at[s->state.at[i].param];
    Span declared = origin_span(w, s->d->wire.at[p->wire].origin);
    Arena *a = arena_child(w->arena);
    Tensor x = {0};
    bool known = start_value(in, a, r, i, &x);
    int64_t cell = 0;
    while (known && cell < x.count && isfinite(x.data[cell])) cell++;
    if (known && cell < x.count) {
      bool undefined = isnan(x.data[cell]);
      Id e =
          diag_error(w->diags, run_start(r, SEES_STATE, i) || !declared.file ? r->span : declared,
                     "`%s` is not finite at the start", start_name(w, p->path, &x, cell));
      if (!undefined)
        diag_help(w->diags, e,
                  "a moment that is never reached counts as one after the end of the run");
    }
    arena_free(a);
    if (known && cell < x.count) return;
  }
}
