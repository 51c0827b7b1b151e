// What a run leaves behind: a row of moments for each thing that can be seen, as long as that is
// not too much, and for each expression that is shown.
#include "run/sim/sim_own.h"

enum { CELLS_KEPT = 1024 }; // of one thing at one moment, unless it is shown

void run_shows(const Program *p, uint32_t number, SeenList *out) {
  for (uint32_t i = 0; i < p->ran->show.n; i++) {
    const RunShow *show = &p->ran->show.at[i];
    for (uint32_t k = 0; show->run == number && k < show->seen.n; k++)
      out->at[out->n++] = &show->seen.at[k];
  }
}

static SimChannel channel_of(World *w, const char *name, const Type *t) {
  SimChannel c = {
      .name = name, .base = (Base)t->base, .names = t->names, .rank = t->rank, .cells = 1};
  c.shape = NEW_ARRAY(w->arena, int64_t, t->rank + 1);
  if (!type_count(w, t, &c.cells)) c.cells = 1;
  for (uint32_t i = 0; i < t->rank; i++) size_value(w, t->axis[i].size, &c.shape[i]);
  return c;
}

void record_channels(World *w, const Program *p, uint32_t number, SimRecord *r) {
  const System *s = p->ran->run.at[number].system;
  Sights sights = {0};
  system_sights(w, s, &sights);
  *r = (SimRecord){.system = s, .flows = s->flows, .sights = sights.n};
  for (uint32_t i = 0; i < sights.n; i++)
    vec_push(w->arena, &r->channel,
             channel_of(w, name_text(w->names, sights.at[i].name), &sights.at[i].type));
  for (uint32_t i = 0; i < p->ran->show.n; i++) {
    const RunShow *show = &p->ran->show.at[i];
    for (uint32_t k = 0; show->run == number && k < show->seen.n; k++) {
      const Diagram *d = show->seen.at[k].diagram;
      vec_push(w->arena, &r->channel,
               channel_of(w, show->text.at[k], &d->wire.at[d->out.at[0]].type));
    }
  }
}

uint32_t record_wanted(const SimRecord *r, uint32_t *sight) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < r->sights; i++)
    if (r->channel.at[i].cells <= CELLS_KEPT) sight[n++] = i;
  return n;
}
