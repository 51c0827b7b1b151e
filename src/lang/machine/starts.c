// Initial values of states: `state x : R[3] = 0`, and of elements, `x[0] = 1`, `x[i+1] = i`.
//
// Lines for elements are merged into one value: each is an index equation, and two may not assign
// one element. Without a value for the whole, the lines must cover every element.
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "core/diagram/each.h"
#include "core/pass/pipeline.h"
#include "core/pass/rewrite.h"
#include "lang/machine/machine_own.h"

// The initial value: a label by name, the centre of a simplex, otherwise as for weights.
static Init whole_start(MachineBuilder *m, Env *env, const Syntax *typed, const Type *own) {
  World *w = m->w;
  const Syntax *start = typed_value(typed), *type = typed_type(typed);
  int label = start && start->kind == N_NAME ? label_named(w, own, start->name) : -1;
  if (label >= 0) return (Init){.kind = INIT_CONST, .k = label};
  bool simplex = type && is_simplex_type(m, type);
  int64_t n = 1; // of unknown size only the type matters
  if (simplex && !start && own->rank && !size_value(w, own->axis[own->rank - 1].size, &n)) n = 1;
  if (simplex && !start) return (Init){.kind = INIT_CONST, .k = 1.0 / (double)n};
  if (!start) return (Init){.kind = INIT_CONST};
  return init_from(m->b, env, start, own);
}

// The initial value of one member: the result of its diagram, or a list.
static Id start_of_one(World *w, Diagram *d, const Init *init, const Type *own) {
  if (init->kind == INIT_DATA) {
    Param list = {.path = "list", .role = ROLE_CONST, .init = *init};
    uint32_t k = diagram_param(w, d, list, *own, name_from(w->names, "list"), 0);
    return d->param.at[k].wire;
  }
  const Diagram *from = init->diagram;
  Id *map = new_map(w, from);
  copy_params(w, d, from, map);
  copy_boxes(w, d, from, map);
  d->noisy |= from->noisy;
  return map[from->out.at[0]];
}

// Replicates the initial value for all members.
Init start_for_all(MachineBuilder *m, Init init, const Type *own) {
  World *w = m->w;
  if (!m->npass || (init.kind != INIT_DIAGRAM && init.kind != INIT_DATA)) return init;
  Diagram *d = diagram_new(w, name_from(w->names, "init"));
  Id one = start_of_one(w, d, &init, own);
  Type full = full_type(m, own);
  for (uint32_t i = 0; i < full.rank; i++) full.axis[i].pass = 0;
  Each e = each_of(w, full);
  each_read(w, &e, one, (Base)own->base, own->rank);
  e.in[0] = access_from(w, m->npass, own->rank); // its own axes come last
  diagram_output(w, d, each_make(w, d, &e));
  return (Init){.kind = INIT_DIAGRAM, .diagram = d};
}

// -- elements -------------------------------------------------------------------------------------
typedef VEC(const Syntax *) StartLines;

// All `state` lines of this name, in textual order.
static StartLines lines_of(MachineBuilder *m, Name name) {
  StartLines out = {0};
  Nodes line = block_statements(m->h.body);
  for (uint32_t i = 0; i < line.n; i++)
    for (uint32_t k = 0; line.at[i]->kind == N_STATES && k < states_in(line.at[i]).n; k++)
      if (states_in(line.at[i]).at[k]->name == name)
        vec_push(m->w->arena, &out, states_in(line.at[i]).at[k]);
  return out;
}

bool says_places(MachineBuilder *m, const Syntax *typed) {
  return typed_brackets(typed) && !typed_type(typed) && lines_of(m, typed->name).at[0] != typed;
}

bool start_is_clear(MachineBuilder *m, const Syntax *typed) {
  const char *name = name_text(m->w->names, typed->name);
  if (!typed_brackets(typed) || (typed_type(typed) && typed_value(typed))) return true;
  Id e = diag_error(m->w->diags, typed->span,
                    typed_type(typed) ? "`%s` has indices, which are for its start, and no start"
                                      : "`%s` has indices, and nothing says its type",
                    name);
  return diag_help(m->w->diags, e, "write `state %s : R[3] = 0`, or `state %s[i] : R[3] = i`", name,
                   name);
}

// A builder for an initial value, without access to the lens.
static MachineBuilder builder_for_start(const MachineBuilder *m, Env *env) {
  MachineBuilder one = *m;
  one.b = body_new(m->in, name_from(m->w->names, "init"));
  one.b->generic = m->b && m->b->generic;
  one.b->env = one.env = env;
  one.npass = 0;
  one.changed = table_new(m->w->arena);
  one.change.at = NULL, one.change.n = one.change.cap = 0;
  return one;
}

// The initial value of the whole, in the body of the start; 0: none, or reported.
static Id base_of_start(MachineBuilder *one, const Init *init, const Type *own, Span span) {
  if (init->kind == INIT_DIAGRAM || init->kind == INIT_DATA)
    return start_of_one(one->w, one->b->d, init, own);
  if (init->kind == INIT_CONST) {
    Val v = val_fill(one->b, val_literal(one->b, init->k, span), *own);
    return val_to_wire(one->b, &v, 0);
  }
  if (init->kind != INIT_NONE)
    diag_error(one->w->diags, span, "a start that is drawn by its type is that of the whole state");
  return 0;
}

Init state_start(MachineBuilder *m, Env *env, const Syntax *typed, const Type *own) {
  World *w = m->w;
  StartLines line = lines_of(m, typed->name);
  const char *name = name_text(w->names, typed->name);
  bool whole = !typed_brackets(typed) && typed_value(typed), good = true;
  PlaceLines places = {0};
  for (uint32_t i = 0; i < line.n; i++) {
    const Syntax *n = line.at[i], *value = typed_value(n);
    if (!typed_brackets(n)) continue;
    if (!value)
      diag_error(w->diags, n->span, "nothing says where these places of `%s` start", name);
    good &= value && start_is_known(m->b, env, value);
    vec_push(w->arena, &places, ((PlaceLine){typed_brackets(n), value, NULL, n->span}));
  }
  if (!places.n) return whole_start(m, env, typed, own);
  Init init = whole ? whole_start(m, env, typed, own) : (Init){.kind = INIT_NONE};
  MachineBuilder one = builder_for_start(m, env);
  uint32_t errors = w->diags->met;
  const MachineText *machine = m->in->machine;
  m->in->machine = NULL;
  Id base = good ? base_of_start(&one, &init, own, typed->span) : 0;
  PlacesSaid said = {.line = places, .base = base, .own = own, .span = typed->span};
  said.what = arena_format(w->arena, "the start of `%s`", name);
  Id wire = good && w->diags->met == errors ? said_by_places(&one, &said) : 0;
  m->in->machine = machine;
  if (!wire) return (Init){.kind = INIT_CONST};
  diagram_output(w, one.b->d, wire);
  body_finish(one.b);
  return (Init){.kind = INIT_DIAGRAM, .diagram = one.b->d};
}

Diagram *value_by_places(Elab *in, Program *p, PlaceLines line, const Init *base, const Type *own,
                         const ValueWords *words) {
  System none = {0};
  MachineBuilder m = {.in = in, .w = in->w, .s = &none}, one = builder_for_start(&m, NULL);
  one.b->timed = words->timed;
  one.b->env = one.env = env_new(in, NULL, p->scope, one.b);
  PlacesSaid said = {.line = line, .own = own, .span = words->span, .what = words->what};
  uint32_t errors = in->w->diags->met;
  said.base = base_of_start(&one, base, own, words->span);
  Id wire = in->w->diags->met == errors ? said_by_places(&one, &said) : 0;
  if (!wire) return NULL;
  diagram_output(in->w, one.b->d, wire);
  body_finish(one.b);
  diagram_resolve(in->w, one.b->d);
  return passes_flat(in->w, one.b->d);
}
