// A run on another machine, `run Team for 10 ticks on World`: ports of equal names are connected in
// both directions, and both become one system.
#include "base/diag.h"
#include "base/names.h"
#include "core/pass/pass.h"
#include "lang/program/claim_own.h"

// Two systems: 1 is driven, 2 its source, 0 the combined ports.
typedef struct {
  World *w;
  System *part[2], *both;
  ConnectEnd *ends[2]; // [part][its port] its source
  ConnectEnd *like;    // [open port] the port it comes from
  ConnectEnd *out;
  uint32_t open, outs;
  Span span;
} Driving;

static void leave_open(Driving *d, uint32_t part, uint32_t port) {
  vec_push(d->w->arena, &d->both->in, d->part[part]->in.at[port]);
  d->like[d->open] = (ConnectEnd){part + 1, port};
  d->ends[part][port] = (ConnectEnd){0, d->open++};
}

// Ports without a source of that name stay open.
static bool connect_driven(Driving *d) {
  World *w = d->w;
  const System *s = d->part[0], *source = d->part[1];
  uint32_t used = 0;
  for (uint32_t i = 0; i < s->in.n; i++) {
    int k = port_named(source->out.at, source->out.n, s->in.at[i].name);
    if (k < 0) {
      leave_open(d, 0, i);
      continue;
    }
    const Type *want = &s->d->wire.at[s->d->in.at[i]].type,
               *have = &source->d->wire.at[source->d->out.at[k]].type;
    if (!type_equal(w, want, have))
      return diag_refuse(w->diags, d->span, "`%s` shows `%s` as %s, but `%s` takes %s",
                         name_text(w->names, source->name), name_text(w->names, s->in.at[i].name),
                         own_text(w, have), name_text(w->names, s->name), own_text(w, want));
    d->ends[0][i] = (ConnectEnd){2, (uint32_t)k};
    used++;
  }
  if (!used)
    diag_error(w->diags, d->span, "`%s` shows nothing that `%s` takes",
               name_text(w->names, source->name), name_text(w->names, s->name));
  return true;
}

// Connects the inputs of the source.
static void connect_source(Driving *d) {
  const System *s = d->part[0], *source = d->part[1];
  for (uint32_t i = 0; i < source->in.n; i++) {
    int k = port_named(s->out.at, s->out.n, source->in.at[i].name);
    if (k < 0)
      leave_open(d, 1, i);
    else
      d->ends[1][i] = (ConnectEnd){1, (uint32_t)k};
  }
}

static void show_both(Driving *d) {
  const System *s = d->part[0];
  for (uint32_t p = 0; p < 2; p++)
    for (uint32_t i = 0; i < d->part[p]->out.n; i++) {
      const Port *port = &d->part[p]->out.at[i];
      if (p && port_named(s->out.at, s->out.n, port->name) >= 0) continue;
      vec_push(d->w->arena, &d->both->out, *port);
      d->out[d->outs++] = (ConnectEnd){p + 1, i};
    }
}

static System *weave_both(Driving *d) {
  World *w = d->w;
  System *s = d->part[0], *source = d->part[1], *both = d->both;
  const char *prefix = arena_format(w->arena, "%s/", name_text(w->names, source->name));
  ConnectPart part[2] = {{s->d, NULL, d->ends[0]}, {source->d, prefix, d->ends[1]}};
  Connect how = {
      .nparts = 2, .nin = d->open, .nout = d->outs, .part = part, .like = d->like, .out = d->out};
  Id **map;
  ConnectFault fault = {0};
  both->d = diagram_connect(w, s->name, &how, &map, &fault);
  if (!both->d) {
    diag_error(w->diags, d->span, "`%s` and `%s` need each other at the same moment",
               name_text(w->names, s->name), name_text(w->names, source->name));
    return NULL;
  }
  system_woven(w, both, s, source, map, prefix);
  return both;
}

System *system_on(Elab *in, System *s, System *source, Span span) {
  Arena *a = in->w->arena;
  Driving d = {.w = in->w, .part = {s, source}, .both = NEW(a, System), .span = span};
  *d.both = (System){.def = s->def, .name = s->name, .span = s->span, .wiring = s->wiring};
  d.ends[0] = NEW_ARRAY(a, ConnectEnd, s->in.n + 1);
  d.ends[1] = NEW_ARRAY(a, ConnectEnd, source->in.n + 1);
  d.like = NEW_ARRAY(a, ConnectEnd, s->in.n + source->in.n + 1);
  d.out = NEW_ARRAY(a, ConnectEnd, s->out.n + source->out.n + 1);
  if (!connect_driven(&d)) return NULL;
  connect_source(&d);
  show_both(&d);
  return weave_both(&d);
}
