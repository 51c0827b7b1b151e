// Noise becomes part of the diagram. A field `given n from normal[64]` is an input of the step's
// diagram; here a call of the noise replaces the input, at a site of its own, so that the engine
// makes all noise, the same on every machine and after every resume. If no input with samples is
// left, an unused one is added: it gives the number of samples.
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "core/pass/rewrite.h"
#include "run/feed/feed.h"

bool is_sample_axis(World *w, const Type *t) {
  Id var;
  return t->rank && size_is_var(w, t->axis[0].size, &var) && size_var_kind(w, var) == VAR_SAMPLE;
}

bool any_sample_axis(World *w, const Diagram *d, const Id *wire, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (is_sample_axis(w, &d->wire.at[wire[i]].type)) return true;
  return false;
}

bool has_sample_axis(World *w, const Diagram *d) {
  return any_sample_axis(w, d, d->in.at, d->in.n);
}

static const Given *given_of(Elab *in, const Program *p, Id field) {
  return &p->given.at[def_of(in, field)->given];
}

static Id noise_wire(World *w, Diagram *d, const Given *g, uint64_t site, const Wire *like) {
  Id wire = box_call(w, d, g->noise, NULL, 0, like->origin);
  d->box.at[d->box.n - 1].site = site;
  d->wire.at[wire].name = like->name;
  if (type_equal(w, &d->wire.at[wire].type, &like->type)) return wire;
  diag_error(w->diags, g->node->span, "noise has the shape it is drawn in, %s, and is wanted as %s",
             type_text(w, &d->wire.at[wire].type), type_text(w, &like->type));
  return 0;
}

// Calls the old diagram in the new one, and passes its params and their next values on.
static void call_inner(World *w, Diagram *d, Diagram *inner, Ids in) {
  copy_params(w, d, inner, new_map(w, inner));
  for (uint32_t i = 0; i < d->param.n; i++) vec_push(w->arena, &in, d->param.at[i].wire);
  Id out = box_call(w, d, inner, in.at, in.n, inner->origin);
  for (uint32_t i = 0; i < inner->out.n; i++, out++) {
    d->wire.at[out].name = inner->wire.at[inner->out.at[i]].name;
    diagram_output(w, d, out);
  }
  for (uint32_t i = 0; i < inner->param.n; i++)
    if (inner->param.at[i].next) d->param.at[i].next = out++;
}

// Does any wire have a sample axis, here or in called diagrams?
static bool mentions_samples(World *w, const Diagram *d, Table *seen) {
  if (table_get(seen, &d->id, sizeof d->id)) return false;
  table_put(seen, &d->id, sizeof d->id, 1);
  for (Id i = 1; i < d->wire.n; i++)
    if (is_sample_axis(w, &d->wire.at[i].type)) return true;
  for (Id i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    if (b->op == OP_call && mentions_samples(w, b->callee, seen)) return true;
    if (b->op == OP_scan && mentions_samples(w, b->scan->body, seen)) return true;
  }
  return false;
}

static bool has_noise(Elab *in, const Program *p, const Ids *fields) {
  for (uint32_t i = 0; i < fields->n; i++)
    if (given_of(in, p, fields->at[i])->noise) return true;
  return false;
}

Diagram *compose_noise(Elab *in, const Program *p, Diagram *inner, Ids *fields) {
  World *w = elab_world(in);
  bool silent = !has_sample_axis(w, inner) && mentions_samples(w, inner, table_new(w->arena));
  if (!silent && !has_noise(in, p, fields)) return inner;
  Diagram *d = diagram_new(w, inner->name);
  Ids wires = {0}, left = {0};
  for (uint32_t i = 0; i < inner->in.n; i++) {
    const Given *g = given_of(in, p, fields->at[i]);
    const Wire *like = &inner->wire.at[inner->in.at[i]];
    if (!g->noise) vec_push(w->arena, &left, fields->at[i]);
    uint64_t site = given_stream(in, p, def_of(in, fields->at[i])->given);
    Id wire = g->noise ? noise_wire(w, d, g, site, like)
                       : diagram_input(w, d, like->type, like->name, like->origin);
    if (!wire) return NULL;
    vec_push(w->arena, &wires, wire);
  }
  if (!has_sample_axis(w, d)) {
    Axis axis = elab_samples(in);
    diagram_input(w, d, type_make(w, BASE_BIT, 1, &axis), name_from(w->names, "samples"), 0);
    vec_push(w->arena, &left, 0);
  }
  call_inner(w, d, inner, wires);
  *fields = left;
  return d;
}
