// A run of a system on a source as a wiring of both: ports of equal names are connected in both
// directions.
#include "base/names.h"
#include "show/wiring/wiring.h"

typedef struct {
  World *w;
  Arena *arena;
  System *both;
  const System *part[2]; // the source, the system
} Driven;

static uint32_t open_inputs(const System *s) { return s->in.n - s->quiet; }

static void add_wire(Driven *d, PortEnd from, PortEnd to) {
  WireRoute route = {.to = to, .plain = true};
  vec_push(d->arena, &route.from, from);
  vec_push(d->arena, &d->both->route, route);
}

// Connects each input to the other part, or to an outer port.
static void wire_inputs(Driven *d, uint32_t part) {
  const System *s = d->part[part], *other = d->part[!part];
  for (uint32_t i = 0; i < open_inputs(s); i++) {
    int k = port_named(other->out.at, other->out.n, s->in.at[i].name);
    PortEnd to = {part + 1, i}, from = {2 - part, (uint32_t)k};
    if (k < 0) from = (PortEnd){0, d->both->in.n};
    if (k < 0) vec_push(d->arena, &d->both->in, s->in.at[i]);
    add_wire(d, from, to);
  }
}

static void show_outputs(Driven *d) {
  const System *s = d->part[1];
  for (uint32_t i = 0; i < s->out.n; i++) {
    if (!strcmp(name_text(d->w->names, s->out.at[i].name), "mode")) continue;
    PortEnd from = {2, i}, to = {0, d->both->out.n};
    vec_push(d->arena, &d->both->out, s->out.at[i]);
    add_wire(d, from, to);
  }
}

System *system_driven(World *w, Arena *a, const System *s, const System *source) {
  if (s->shares || source->shares) return NULL;
  Driven d = {.w = w, .arena = a, .both = NEW(a, System), .part = {source, s}};
  const char *name =
      arena_format(a, "%s on %s", name_text(w->names, s->name), name_text(w->names, source->name));
  *d.both =
      (System){.name = name_of(w->names, name, strlen(name)), .span = s->span, .wiring = true};
  for (uint32_t i = 0; i < 2; i++) {
    Part part = {.name = d.part[i]->name, .of = arena_copy(a, d.part[i], sizeof *s), .every = 1};
    part.span = d.part[i]->span;
    vec_push(a, &d.both->part, part);
  }
  for (uint32_t i = 0; i < 2; i++) wire_inputs(&d, i);
  show_outputs(&d);
  return d.both;
}
