// Goals to one loss. Each goal is a diagram of its own; here they are called side by side over the
// union of their sources and of their weights. Which goal may move which weight stays beside the
// diagram, as masks: the gradient pass reads them.
#include "learn.h"

static Id field_wire(World *w, Diagram *d, Ids *fields, Id field, const Wire *like) {
  for (uint32_t i = 0; i < fields->n; i++)
    if (fields->at[i] == field) return d->in.at[i];
  vec_push(w->arena, fields, field);
  return diagram_input(w, d, like->type, like->name, like->origin);
}

typedef VEC(uint32_t) Numbers;

static void call_goal(World *w, Diagram *d, const Goal *g, Ids *fields, Numbers *number) {
  const Diagram *f = g->diagram;
  Ids in = {0};
  for (uint32_t i = 0; i < f->in.n; i++)
    vec_push(w->arena, &in, field_wire(w, d, fields, g->fields.at[i], &f->wire.at[f->in.at[i]]));
  for (uint32_t i = 0; i < f->param.n; i++) {
    Param p = f->param.at[i];
    const Wire *inner = &f->wire.at[p.wire];
    p.next = 0;
    uint32_t k = diagram_param(w, d, p, inner->type, inner->name, inner->origin);
    vec_push(w->arena, number, k);
    vec_push(w->arena, &in, d->param.at[k].wire);
  }
  Id out = box_call(w, d, g->diagram, in.at, in.n, origin_new(w, g->span, 0, WHY_SOURCE));
  d->wire.at[out].name = g->name;
  if (f->noisy) d->box.at[d->box.n - 1].site = site_hash(0, name_text(w->names, g->name));
  diagram_output(w, d, out);
  for (uint32_t i = 0, next = out + 1; i < f->param.n; i++)
    if (f->param.at[i].next) d->param.at[number->at[i]].next = next++;
}

Loss learn_loss(Infer *in, const Program *p) {
  World *w = infer_world(in);
  Loss loss = {0};
  if (!p->goal.n) return loss;
  Diagram *d = diagram_new(w, name_from(w->names, "loss"));
  Numbers *number = NEW_ARRAY(w->arena, Numbers, p->goal.n);
  for (uint32_t g = 0; g < p->goal.n; g++) {
    if (!p->goal.at[g].diagram) return loss;
    call_goal(w, d, &p->goal.at[g], &loss.fields, &number[g]);
  }
  const bool **mask = NEW_ARRAY(w->arena, const bool *, p->goal.n);
  for (uint32_t g = 0; g < p->goal.n; g++) {
    bool *row = NEW_ARRAY(w->arena, bool, d->param.n + 1);
    for (uint32_t i = 0; i < number[g].n; i++) row[number[g].at[i]] = p->goal.at[g].trains[i];
    mask[g] = row;
  }
  loss.diagram = d;
  loss.mask = mask;
  return loss;
}
