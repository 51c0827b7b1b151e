// Inputs of a run that depend on time: run D(u: sin(time)) to 3.
//
// They become the outputs of a stateless system, which the run is connected to like any source. So
// rates, guards, delays and ticks read them at their own time.
#include "base/names.h"
#include "core/pass/rewrite.h"
#include "lang/program/claim_own.h"

static bool depends_on_time(const RunStart *x) {
  const Diagram *d = x->value;
  for (uint32_t i = 0; x->kind == SEES_IN && i < d->param.n; i++)
    if (d->param.at[i].role == ROLE_CLOCK) return true;
  return false;
}

// Adds a value; its constants get paths of their own.
static void add_moved(World *w, System *source, const RunStart *x) {
  const Diagram *from = x->value;
  Diagram *to = source->d;
  Id *map = new_map(w, from);
  for (uint32_t i = 0; i < from->param.n; i++) {
    Param p = from->param.at[i];
    const Wire *wire = &from->wire.at[p.wire];
    if (!p.rooted) p.path = arena_format(w->arena, "%s/%s", name_text(w->names, x->name), p.path);
    uint32_t k = diagram_param(w, to, p, wire->type, wire->name, wire->origin);
    map[from->param.at[i].wire] = to->param.at[k].wire;
  }
  copy_boxes(w, to, from, map);
  to->noisy |= from->noisy;
  diagram_output(w, to, map[from->out.at[0]]);
  Port port = {.name = x->name, .modes = ~(uint64_t)0};
  port.type = from->wire.at[from->out.at[0]].type;
  vec_push(w->arena, &source->out, port);
}

System *system_moved(Elab *in, Run *r) {
  World *w = in->w;
  System *source = NEW(w->arena, System);
  source->name = name_from(w->names, "given");
  source->d = diagram_new(w, source->name);
  for (uint32_t i = 0; i < r->start.n; i++)
    if (depends_on_time(&r->start.at[i])) add_moved(w, source, &r->start.at[i]);
  if (!source->out.n) return r->system;
  System *moved = system_on(in, r->system, source, r->span);
  uint32_t n = 0;
  for (uint32_t i = 0; moved && i < r->start.n; i++) {
    RunStart x = r->start.at[i];
    if (depends_on_time(&x)) continue;
    if (x.kind == SEES_IN) x.at = (uint32_t)port_named(moved->in.at, moved->in.n, x.name);
    r->start.at[n++] = x;
  }
  r->start.n = n;
  return moved;
}
